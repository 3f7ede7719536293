// tabs.mjs - the tabs below the timeline against SQL of the same traces.
//
//   node tabs.mjs TRACE-ANALYZE DIRECTORY
//
// TRC_SEED repeats a run.

import {execFileSync} from "node:child_process";
import {check, draw, holds, openPage, results, same, seed, settle, textsDrawn, withBrowser} from "./browser_lib.mjs";
import {analyze, histogramIs, opened, pages, shown, sorted, sql, sum} from "./tabs_lib.mjs";
import {heatByAddress, heatIs, tasksAre, tasksByAddress, tasksByKeys, withoutTasks} from "./tabs_tasks.mjs";

// ---- locks ----

const lockFigures = ["kind", "name", "waits", "threads", "waited_ns", "wait_p50_ns", "wait_p99_ns", "wait_max_ns", "timed_out", "holds", "held_ns",
	"hold_p50_ns", "hold_p99_ns", "hold_max_ns", "holds_preempted_ns", "sections", "caused_waits", "caused_ns", "preempted_waits_ns", "convoys"];
const lockReasons = {mutex: "'mutex', 'cond_mutex'", rwlock: "'rwlock_read', 'rwlock_write'", spin: "'spin'", once: "'once'", flock: "'flock'"};

function ordered(rows) {
	return rows.map((row) => JSON.stringify(row)).sort();
}

async function lockIs(page, trace, lock, i) {
	const what = `${trace}: ${lock.kind} ${lock.name}`, ofLock = `object = ${lock.object} AND reason IN (${lockReasons[lock.kind]})`;
	const [{end}] = sql(trace, "SELECT value AS end FROM trace_info WHERE key = 'trace_end_ns'");
	// A wait that begins at the trace's end has no width: the page counts it, and lists it nowhere.
	const where = `${ofLock} AND (waited_ns > 0 OR start_ns < ${end})`;

	await page.locator("#panel-locks .locks-types tbody button").nth(i).click();
	await histogramIs(page, "locks", sql(trace, `SELECT waited_ns FROM parks WHERE ${where}`).map((row) => row.waited_ns), what);
	const seen = await page.evaluate(() => [window.trc.locks.holders(), window.trc.locks.sections()]);
	same(ordered(seen[0]), ordered(sql(trace, "SELECT holder_thread AS t, count(*) AS n, sum(waited_ns) AS ns FROM parks WHERE " +
		`${where} GROUP BY 1`).map(({t, n, ns}) => [t, n, ns])), `${what}: who held it`);
	same(ordered(seen[1]), ordered(sql(trace, "SELECT coalesce(stack, 0) AS s, count(*) AS n, sum(caused_ns) AS ns FROM unlocks WHERE " +
		`${ofLock} AND caused_waits > 0 GROUP BY 1`).map(({s, n, ns}) => [s, n, ns])), `${what}: where it was given back`);
	const [longest] = sql(trace, `SELECT id, waited_ns FROM parks WHERE ${where} ORDER BY waited_ns DESC, id LIMIT 1`);
	if (!longest || !longest.waited_ns)
		return;
	await page.locator("#panel-locks .spans button").first().click();
	const sel = await page.evaluate(() => window.trc.told().facts.SQL);
	same(sql(trace, `SELECT waited_ns FROM parks WHERE id = ${Number(/id=(\d+)/.exec(sel)[1])}`)[0].waited_ns, longest.waited_ns,
		`${what}: its longest wait is selected, of those that end by ${end}`);
}

async function locksAre(page, trace) {
	const wanted = sql(trace, `SELECT CAST(object AS TEXT) AS object, ${lockFigures.join(", ")} FROM locks`);

	await page.evaluate(() => window.trc.locks.open());
	if (!wanted.length) {
		check(/No thread waited for a lock/.test(await page.locator("#panel-locks").innerText()), `${trace}: a trace without locks says so`);
		return;
	}
	const seen = await page.evaluate(() => window.trc.locks.rows());
	same(seen.length, wanted.length, `${trace}: as many locks`);
	for (const [i, {object, ...lock}] of wanted.entries())
		same(seen[i], {...lock, name: shown(lock.name)}, `${trace}: lock ${i}`);
	for (const [i, lock] of wanted.slice(0, 4).entries())
		await lockIs(page, trace, lock, i);
}

// The order in which locks are taken: SQL's rows, its circles, and both stacks of each edge.
async function orderIs(context) {
	let address = "";
	const hex = (number) => `0x${BigInt.asUintN(64, BigInt(number)).toString(16)}`;
	const rows = sql("order", "SELECT CAST(held AS TEXT) AS held, held_reason, held_stack, CAST(taken AS TEXT) AS taken, taken_reason, taken_stack, thread, threads, " +
		"times, deadlock FROM lock_order");
	const place = (stack) => stack ? sql("order", `SELECT chain(${stack}) AS at`)[0].at.split(" < ") : [];

	await opened(context, "order", async (page) => {
		await page.evaluate(() => window.trc.locks.open());
		const seen = await page.evaluate(() => window.trc.locks.order()), at = (value) => Number(value) < 65536 ? value : hex(value);
		same(ordered(seen.edges), ordered(rows.map((row) => [at(row.held), row.held_reason, row.held_stack, at(row.taken), row.taken_reason, row.taken_stack, row.thread,
			row.threads, row.times, row.deadlock])), "order: the rows of lock_order");
		const numbers = new Set(rows.filter((row) => row.deadlock).map((row) => row.deadlock));
		const circles = new Map([...numbers].map((number) => [number, rows.filter((row) => row.deadlock === number)])), buttons = page.locator("#panel-locks .circles button");
		same([circles.size, await buttons.count()], [3, 3], "order: three circles are listed");
		same((await buttons.allInnerTexts())[1], "rwlock 0x7f0000001000 → rwlock 0x7f0000002000 → rwlock 0x7f0000003000 → rwlock 0x7f0000001000", "order: of three locks");
		check((await buttons.allInnerTexts())[2].includes("the end of one"), "order: one by the end of a thread", await buttons.allInnerTexts());
		for (const [number, edges] of circles) {
			await buttons.nth(number - 1).focus();
			await page.keyboard.press("Enter");
			await settle(page);
			const told = await page.evaluate(() => [...document.querySelectorAll("#panel-locks .edge")].map((edge) => [edge.querySelector("p").textContent,
				...[...edge.querySelectorAll(".both > div")].map((part) => [...part.querySelectorAll(".fn")].map((fn) => fn.textContent))]));
			same(ordered(told.map(([, held, taken]) => [held, taken])), ordered(edges.map((edge) => [place(edge.held_stack), place(edge.taken_stack)])),
				`order: circle ${number}: both stacks of every edge`);
			same(await page.locator("#panel-locks code").innerText(), `SELECT * FROM lock_order WHERE deadlock = ${number}`, "order: and the way to it in SQL");
			same(await page.evaluate(() => document.activeElement.closest(".circles") !== null), true, "order: the focus stays");
		}
		await buttons.first().click();
		const [words] = await page.locator("#panel-locks .edge p").allInnerTexts();
		same(words, "one and others take mutex 0x7f000000b000 while they hold mutex 0x7f000000a000, 2 times", "order: in the words of the report");
		address = await page.evaluate(() => window.trc.address());
		await page.locator("#panel-locks .locks-types tbody button", {hasText: "spin 0x7f0000004000"}).click();
		await page.locator("#panel-locks .locks-picture button", {hasText: "spin 0x7f0000005000"}).click();
		same(await page.locator("#panel-locks .edge p").innerText(), "one takes spin 0x7f0000005000 while it holds spin 0x7f0000004000, 1 time",
			"order: of a lock what is taken meanwhile");
		await page.locator("#panel-locks button", {hasText: "Back to spin"}).click();
		same(await page.locator("#panel-locks .edge").count(), 0, "order: and back");
	});
	await opened(context, "order", async (page) => same(await page.locator("#panel-locks .edge").count(), 2, "order: the address shows the circle"), address);
	await opened(context, "demo", async (page) => {
		await page.evaluate(() => window.trc.locks.open());
		check(/In which order threads take locks is not known: record with --locks=all\./.test(await page.locator("#panel-locks").innerText()),
			"order: it is not known by default");
	});
}

// ---- procs ----

function bySteps([at, value], time) {
	let now = 0;

	for (let i = 0; i < at.length && at[i] <= time; i++)
		now = value[i];
	return now;
}

async function stepsAre(page, name, rows, span, what) {
	const steps = await page.evaluate((of) => window.trc.procs.steps(of), name);

	for (let n = 0; n < 60; n++) {
		const time = n % 2 && rows.length ? rows[draw(rows.length)][draw(2)] : draw(span);
		same(bySteps(steps, time), rows.filter(([a, b]) => a <= time && time < b).length, `${what}: ${name} at ${time} ns`);
	}
	check(steps[0].every((time, i) => !i || time > steps[0][i - 1]), `${what}: ${name} has a step for each time`);
}

// The pointer on a stretch in the track of its proc.
async function stretchIs(page, {serial, name, proc, from, until}, what) {
	const hit = await page.evaluate(({n, a, b}) => {
		window.trc.setView(a - (b - a), b + (b - a));
		window.trc.redraw();
		const box = document.getElementById("canvases").getBoundingClientRect(), track = window.trc.procs.tracks().find((t) => t.name === n);
		const {t0, t1} = window.trc.view, at = window.trc.hover(box.left + ((a + b) / 2 - t0) / (t1 - t0) * box.width, box.top + track.y + 10);
		window.trc.select(at.kind, at.id);
		return {tip: at.tip, kind: at.kind, ...window.trc.told()};
	}, {n: `proc ${proc}`, a: from, b: until});

	same(hit.kind, "cpu", `${what}: a stretch is met`);
	check(hit.title.startsWith(`${name} on proc ${proc}: `) && hit.tip.startsWith(name), `${what}: by its thread ${serial}`, hit);
	check(hit.facts.Duration.endsWith(`(${(until - from).toLocaleString("en-US")} ns)`), `${what}: duration ${until - from}`, hit.facts);
}

async function procsAre(page, trace) {
	const [{zero, end}] = sql(trace, "SELECT (SELECT value FROM trace_info WHERE key = 'trace_start_ns') AS zero, " +
		"(SELECT value FROM trace_info WHERE key = 'trace_end_ns') AS end");
	// Of a trace that is cut off the kernel's records may go on behind its end, which is that of the page.
	const rows = sql(trace, `SELECT thread, name, proc, coalesce(on_cpu.start_ns, ${zero}) AS a, min(coalesce(on_cpu.end_ns, ${end}), ${end}) AS b ` +
		"FROM on_cpu LEFT JOIN threads ON threads.id = thread");
	const line = page.locator(".label.group:not([hidden]) .name", {hasText: /procs?$/});

	if (!rows.length) {
		same(await line.count(), 0, `${trace}: no procs without switch records`);
		check(/Scheduling was not recorded.*no tracks of procs/.test(await page.locator("#banners").innerText()), `${trace}: and it says so`);
		return;
	}
	const numbers = [...new Set(rows.map((row) => row.proc))].sort((a, b) => a - b);
	same(await line.innerText(), `▸ ${numbers.length} proc${numbers.length === 1 ? "" : "s"}`, `${trace}: procs are folded`);
	await page.keyboard.press("o");
	await settle(page);
	same((await page.evaluate(() => window.trc.procs.tracks())).map((track) => track.name), ["run queue", "procs in use",
		...numbers.map((proc) => `proc ${proc}`)], `${trace}: O unfolds them`);
	same(await page.evaluate(() => window.trc.procs.exact()), true, `${trace}: the page has SQL's rows`);
	same(await page.evaluate(() => window.trc.procs.stretches()), rows.map((row) => [row.thread, row.proc, row.a - zero, row.b - row.a]),
		`${trace}: stretches on procs`);
	await stepsAre(page, "procs in use", rows.map((row) => [row.a - zero, row.b - zero]), end - zero, trace);
	await stepsAre(page, "run queue", sql(trace, "SELECT woken_ns AS a, running_ns AS b FROM sched_latency")
		.map(({a, b}) => [a - zero, b - zero]), end - zero, trace);
	for (let n = 0; n < 12; n++) {
		const row = rows[draw(rows.length)];
		if (row.b - row.a > 200)
			await stretchIs(page, {serial: row.thread, name: row.name, proc: row.proc, from: row.a - zero, until: row.b - zero}, `${trace}: row ${n}`);
	}
}

// A click on the lane of a folded line does what one on its name does.
async function unfoldsByClick(page, text) {
	const line = page.locator(".label.group:not([hidden])", {hasText: text});
	const isOpen = () => line.locator(".open").getAttribute("aria-expanded");
	const click = async () => {
		const box = await line.boundingBox(), lane = await page.locator("#canvases").boundingBox();
		await page.mouse.click(lane.x + 100, box.y + 12);
		await settle(page);
	};

	same(await isOpen(), "false", `${text} are folded`);
	await click();
	same(await isOpen(), "true", `a click on the lane unfolds ${text}`);
	await click();
	same(await isOpen(), "false", `another folds ${text}`);
}

// Whether threads of a real program were idle depends on how the machine was: those of a made-up one are.
async function idleOfMadeUp(context) {
	const page = await openPage(context, `${pages}/idle.html`);

	await unfoldsByClick(page, "idle threads");
	same(page.troubles, [], "idle: nothing went wrong");
	await page.close();
}

async function foldsByClick(page) {
	await unfoldsByClick(page, /\d procs?/);
	same(await page.evaluate(() => window.trc.selection), null, "nothing is selected by that");
	const address = await page.evaluate(() => {
		window.trc.procs.toggle();
		window.trc.select("cpu", 7);
		return window.trc.address();
	});
	check(/sel=cpu:\d+@\d+/.test(address), "a stretch has an address", address);
	return address;
}

// Of a page with more switch records than it keeps the tracks come from the states of threads.
async function procsOfMany(context) {
	const page = await openPage(context, `${pages}/many.html`);

	await page.keyboard.press("o");
	await settle(page);
	const [exact, states, stretches, tracks] = await page.evaluate(() => [window.trc.procs.exact(), window.trc.threads().map((t) =>
		window.trc.share(t.idx, ["running"]) * window.trc.span), window.trc.procs.stretches(), window.trc.procs.tracks()]);
	same(exact, false, "many: not the rows of SQL");
	check(Math.abs(sum(states) - sum(stretches.map((row) => row[3]))) < 10 * states.length, "many: all that threads ran", sum(states));
	same(tracks.map((track) => track.kind), ["counter", "counter", ...new Set(stretches.map((row) => row[1]))].map((kind) =>
		kind === "counter" ? kind : "proc"), "many: a track for each proc");
	same(page.troubles, [], "many: nothing went wrong");
	await page.close();
}

// A page of 0.5 to 0.7 s of demo.trc has the rows that SQL has of this part, and their sums.
async function procsOfPart(context) {
	const page = await openPage(context, `${pages}/part.html`), part = ["--window", "0.5s..0.7s"];
	const rows = sql("demo", "SELECT thread, proc, start_ns, end_ns, duration_ns FROM on_cpu", ...part);
	const [{zero}] = sql("demo", "SELECT value AS zero FROM trace_info WHERE key = 'trace_start_ns'");

	await page.keyboard.press("o");
	await settle(page);
	same(await page.evaluate(() => window.trc.procs.stretches()), rows.map((row) => [row.thread, row.proc, row.start_ns - zero,
		row.end_ns - row.start_ns]), "part: stretches on procs");
	const {csv} = await page.evaluate(() => window.trc.sql("SELECT count(*), sum(start_ns), sum(end_ns), sum(duration_ns) FROM on_cpu"));
	same(csv.split("\n")[1], [rows.length, ...["start_ns", "end_ns", "duration_ns"].map((key) => sum(rows.map((row) => row[key])))].join(","),
		"part: SQL's rows of them");
	const procs = new Set(rows.map((row) => row.proc)).size, share = 100 * sum(rows.map((row) => row.duration_ns)) / procs / 0.2e9;
	const told = await page.locator(".label.group:not([hidden]) .tid", {hasText: "in use"}).innerText();
	check(Math.abs(parseFloat(told) - share) < 0.6, `part: ${share} % in use`, told);
	same(page.troubles, [], "part: nothing went wrong");
	await page.close();
}

// ---- threads now ----

async function nowIs(page, trace) {
	const [{zero}] = sql(trace, "SELECT value AS zero FROM trace_info WHERE key = 'trace_start_ns'");
	const rows = sql(trace, "SELECT thread, state, reason, since_ns, holder, stack, deadlock, park FROM threads_now");
	const ring = new Set(sql(trace, "SELECT thread FROM deadlocks WHERE role = 'cycle'").map((row) => row.thread));

	await page.keyboard.press("h");
	await settle(page);
	if (!rows.length) {
		check(/All threads had ended/.test(await page.locator("#panel-now").innerText()), `${trace}: it says that no thread is left`);
		return;
	}
	const seen = await page.evaluate(() => window.trc.now.rows());
	same(seen.length, rows.length, `${trace}: as many threads`);
	for (const [i, row] of rows.entries())
		same(seen[i], [row.thread, row.state, row.reason, row.since_ns === null ? null : Math.max(row.since_ns - zero, 0), row.holder, row.stack,
			row.deadlock], `${trace}: thread ${row.thread} now`);
	const drawn = await page.evaluate(() => window.trc.now.drawn()), waiting = rows.filter((row) => row.holder !== null);
	const holders = new Map(rows.map((row) => [row.thread, row.holder]));
	for (const [thread, holder, inRing] of drawn) {
		same(holder, holders.get(thread) ?? null, `${trace}: whom thread ${thread} waits for`);
		same(inRing, ring.has(thread), `${trace}: whether thread ${thread} is in a deadlock`);
	}
	const wanted = new Set(waiting.flatMap((row) => [row.thread, row.holder]));
	if (wanted.size < 12)
		same(drawn.map(([thread]) => thread).sort(), [...wanted].sort(), `${trace}: those are drawn who wait, or are waited for`);
	same(await page.locator(".now-box button").count(), drawn.length, `${trace}: each has a box`);
	same(await page.locator("#panel-now svg .wait.tip").count(), drawn.filter(([, holder]) => holder !== null).length +
		await page.locator(".now-box.more").count(), `${trace}: and an arrow`);
	same(await page.locator("#panel-now svg .ring.tip").count(), ring.size, `${trace}: those of deadlocks are red`);
	for (const [n, [thread]] of drawn.slice(0, 12).entries()) {
		const row = rows.find((each) => each.thread === thread);
		await page.locator(".now-box button").nth(n).click();
		// A thread that others wait for may have ended: without giving the lock back, or that is cut off.
		if (!row)
			same(await page.evaluate(() => window.trc.selection.kind), "thread", `${trace}: the box of thread ${thread}, which has ended`);
		// A wait that begins with the trace's last event has no width: what came before it is selected.
		if (row?.park && sql(trace, `SELECT waited_ns AS ns FROM parks WHERE id = ${row.park}`)[0].ns > 0)
			same(await page.evaluate(() => window.trc.told().facts.SQL), `SELECT * FROM parks WHERE id=${row.park}`, `${trace}: the box of thread ${thread}`);
		const held = sql(trace, `SELECT printf('0x%x', object) AS at FROM locks_held WHERE thread = ${thread}`), told = await page.locator(".now-box button")
			.nth(n).getAttribute("title");
		check(held.every(({at}) => told.includes(at)), `${trace}: the box names what thread ${thread} holds`, told);
	}
	same(sum((await page.locator(".now-list tbody td:first-child").allInnerTexts()).map(Number)), rows.length, `${trace}: all threads are in the list`);
}

// A text without threads' ids, with single blanks.
function plain(string) {
	return string.replace(/ \(\d+\)/g, "").replace(/\s+/g, " ").trim().toLowerCase();
}

// Beside the picture stands what the report says of the deadlock: every line of it, and where each lock was taken.
async function deadlockToldIs(page, trace) {
	const report = execFileSync(analyze, [`${pages}/${trace}.trc`], {encoding: "utf8"}).split("\n");
	const from = report.findIndex((line) => line.startsWith("DEADLOCK: ")), section = report.slice(from, report.indexOf("", from));
	const box = (name) => page.locator(".now-box button", {hasText: name}), told = async () => plain(await page.locator(".now-told").innerText());

	check(section.length > 8, `${trace}: the report has a deadlock`, section);
	for (const name of ["bob", "alice"]) {
		await box(name).first().click();
		const seen = await told();
		for (const line of section)
			check(seen.includes(plain(line)), `${trace}: it says of ${name} what the report does: ${line}`, seen);
	}
	const lines = (await box("alice").first().innerText()).split("\n");
	check(/^take deadlock\.c:\d+ < a_then_b$/.test(lines[2]), `${trace}: the box says where, and from where`, lines);
	check((trace === "hang" ? /^where it was taken: not recorded$/ : /^taken at take deadlock\.c:\d+ < a_then_b$/).test(lines[4]),
		`${trace}: and where it took the lock`, lines);
	// Who is behind it, by keys: who holds what that thread waits for follows it.
	await box("carol").focus();
	check(/^carol has waited .* held by alice waits at take deadlock\.c:\d+ queue_for_a .* alice has waited .* bob has waited/.test(await told()),
		`${trace}: the focus on a box tells of its chain`, await told());
	check(/^carol .*\n {4}take deadlock\.c:\d+\n {4}queue_for_a /.test(plain(await box("carol").getAttribute("title")).replace(/ (?=take|queue)/g, "\n    ")),
		`${trace}: and so does the tooltip`, await box("carol").getAttribute("title"));
}

// Which of some elements are seen whole, without scrolling, in all that scrolls around them.
function seenWhole(page, selector) {
	return page.evaluate((wanted) => [...document.querySelectorAll(wanted)].map((element) => {
		const {top, bottom, height} = element.getBoundingClientRect();
		let from = 0, until = innerHeight;
		for (let around = element.parentElement; around; around = around.parentElement)
			if (getComputedStyle(around).overflowY !== "visible") {
				const edge = around.getBoundingClientRect().top + around.clientTop;
				[from, until] = [Math.max(from, edge), Math.min(until, edge + around.clientHeight)];
			}
		return {whole: height > 0 && top >= from && bottom <= until, top, bottom, from, until};
	}), selector);
}

// The circle of a deadlock is seen whole, however many threads wait behind each thread of it.
async function ringIsSeen(page, trace) {
	for (const [width, height] of [[1600, 900], [1280, 680]]) {
		await page.setViewportSize({width, height});
		await page.evaluate(() => window.trc.now.open());
		await settle(page);
		const seen = await seenWhole(page, ".now-box button.ring");
		check(seen.length === 2 && seen.every(({whole}) => whole), `${trace}, ${width}x${height} pixels: both of the circle are seen`, seen);
	}
}

async function crowdIs(page) {
	same(await page.locator(".now-box button").count(), 13, "of a crowd a few are drawn");
	same(await page.locator(".now-box.more").innerText(), "and 288 threads more", "and the others counted");
	const names = await page.locator(".now-list tbody tr", {hasText: "296 more"}).locator("button").allInnerTexts();
	same(names, [301, 300, 299, 298].map((n) => `pool ${n}`), "in a row the one that waits longest is first, and the row says how long");
	check(/13 of 301 threads are drawn/.test(await page.locator("#panel-now").innerText()), "it says so");
	await page.locator(".now-box button").first().focus();
	await page.keyboard.press("ArrowDown");
	await page.keyboard.press("Enter");
	same(await page.evaluate(() => window.trc.selection.kind), "park", "keys lead from box to box");
}

// ---- the tables beside the timeline ----

// A wait for a thread's end names the thread: in the tables, in its details and in the lane.
async function joinsAreNamed(page, trace) {
	const joins = sql(trace, "SELECT p.id, t.name, p.start_ns - (SELECT value FROM trace_info WHERE key = 'trace_start_ns') AS start, duration_ns FROM parks AS p JOIN threads AS t ON t.id = p.holder_thread WHERE reason = 'join' ORDER BY waited_ns DESC LIMIT 2");
	const seen = await page.locator("#tops").innerText();

	check(joins.length > 0, `${trace}: threads were joined`);
	for (const [n, {id, name, start, duration_ns}] of joins.entries()) {
		const hasRow = n === 0 || seen.includes(`join ${name}`); // the longest has one: others may be too short
		if (hasRow) {
			check(seen.split(`join ${name}`).length - 1 >= (n ? 1 : 2), `${trace}: the sums of waits, and the longest waits, name ${name}`, seen);
			await page.locator("#tops .cell, #tops td", {hasText: `join ${name}`}).first().locator("button").first().click();
		} else {
			await page.evaluate((park) => window.trc.select("park", park), id);
		}
		const {facts} = await page.evaluate(() => window.trc.told());
		same([facts.SQL, facts.Joins], [`SELECT * FROM parks WHERE id=${id}`, name], `${trace}: and so do its details`);
		// In a picture of the whole trace a text has no room in a short join: how long it takes is the machine's.
		await page.evaluate(([from, to]) => window.trc.setView(from, to), [start, start + duration_ns]);
		const drawn = await textsDrawn(page);
		check(drawn.some(({text}) => text.startsWith(`join ${name} `)), `${trace}: the lane says so of ${name}, too`, drawn.map(({text}) => text));
	}
}

// ---- labels in pictures ----

// Remembers of each text that is drawn where it lies in its canvas.
async function textsKept(context) {
	await context.addInitScript(() => {
		const {fillText} = CanvasRenderingContext2D.prototype;
		window.drawnTexts = [];
		CanvasRenderingContext2D.prototype.fillText = function keep(string, x, y) {
			window.drawnTexts.push({of: this.canvas.id, string, x, y, right: x + this.measureText(string).width,
				width: parseFloat(this.canvas.style.width), height: parseFloat(this.canvas.style.height)});
			fillText.call(this, string, x, y);
		};
	});
}

async function drawnBy(page, of, draw) {
	await page.evaluate(() => { window.drawnTexts.length = 0; });
	await draw();
	await settle(page);
	return (await page.evaluate(() => window.drawnTexts)).filter((text) => text.of === of);
}

// A label that is cut at an edge of its canvas reads as another number.
async function labelsAreWhole(context) {
	await textsKept(context);
	await opened(context, "demo", async (page) => {
		const {begin, span} = await page.evaluate(() => window.trc);
		for (let n = 0; n < 20; n++) {
			const t0 = begin + draw(span - begin), t1 = t0 + 1000 + draw(span - t0);
			const labels = await drawnBy(page, "ruler", () => page.evaluate(([from, to]) => window.trc.setView(from, to), [t0, t1]));
			check(labels.length > 1, "the ruler has labels", [t0, t1]);
			check(labels.every(({x, right, width}) => x >= 0 && right <= width), `the ruler's labels are whole from ${t0} to ${t1}`, labels);
		}
		for (const tab of ["locks", "tasks"]) {
			const cut = await page.evaluate((name) => {
				window.trc[name].open();
				const right = document.querySelector(".tab:not([hidden]) .histogram").parentElement.getBoundingClientRect().right;
				return [...document.querySelectorAll(".tab:not([hidden]) .edge")].filter((each) => {
					const range = document.createRange();
					range.selectNodeContents(each);
					return range.getBoundingClientRect().right > right;
				}).map((each) => each.textContent);
			}, tab);
			same(cut, [], `${tab}: edges of the histogram are whole`);
			const marks = await page.evaluate((name) => {
				window.trc[name].open();
				const edge = document.querySelector(".tab:not([hidden]) .histogram").getBoundingClientRect().right;
				return [...document.querySelectorAll(".tab:not([hidden]) .mark")].map((mark) => {
					const range = document.createRange();
					range.selectNodeContents(mark);
					return [mark.textContent, range.getBoundingClientRect().right, edge];
				});
			}, tab);
			check(marks.length > 0 && marks.every(([, right, edge]) => right <= edge), `${tab}: percentiles in the histogram are whole`, marks);
		}
		await page.evaluate(() => window.trc.tasks.open());
		await page.locator("#panel-spans .plain button", {hasText: "settings"}).click();
		// Narrow, and low: edges do not touch each other, and all rows of the heat map are seen.
		for (const width of [1400, 1000, 760]) {
			await page.setViewportSize({width, height: 420});
			await settle(page);
			const edges = await page.evaluate(() => [...document.querySelectorAll(".tab:not([hidden]) .edge")].filter((each) => each.textContent && getComputedStyle(each).visibility === "visible").map((each) => {
				const range = document.createRange();
				range.selectNodeContents(each);
				const {left, right} = range.getBoundingClientRect();
				return [each.textContent, left, right];
			}));
			check(edges.length > 1 && edges.every(([, left], i) => !i || left >= edges[i - 1][2] + 3), `edges of a histogram in a window of ${width} pixels are apart`, edges);
		}
		await page.setViewportSize({width: 1400, height: 420});
		await settle(page);
		const labels = await drawnBy(page, "", () => page.locator("#panel-spans button", {hasText: "over time"}).click());
		const ofRows = labels.filter(({x}) => x === 0).map(({y}) => y);
		check(ofRows.length > 2 && ofRows.every((y, i) => !i || ofRows[i - 1] - y >= 11), "labels of a low heat map are apart", ofRows);
		const [bottom, room] = await page.evaluate(() => [document.querySelector("#panel-spans canvas"), document.getElementById("panel-body")]
			.map((each) => each.getBoundingClientRect().bottom));
		check(bottom <= room, "all its rows are seen", [bottom, room]);
		check(labels.length > 3, "latencies over time have labels", labels);
		check(labels.every(({y, height}) => y >= 5 && y <= height - 5), "which are whole", labels);
	});
}

// ---- tables that are sorted ----

// The rows of a table: what is in a column, in the order that is seen.
function cellsOf(page, table, column) {
	return page.evaluate(([name, at]) => [...document.querySelectorAll(`[data-table="${name}"] + tbody > tr`)].map((row) => row.children[at].textContent),
		[table, column]);
}

const sortedBy = (page, table) => page.evaluate((name) => [...document.querySelectorAll(`[data-table="${name}"] th[aria-sort]`)]
	.filter((th) => th.getAttribute("aria-sort") !== "none").map((th) => [th.dataset.column, th.getAttribute("aria-sort")]), table);

// Each click on a column sorts in another way; keys do the same; the address holds it.
async function locksSort(page, trace) {
	const rows = sql(trace, "SELECT kind, name, waits, wait_p99_ns AS p99 FROM locks"), P99 = 4;
	const names = (list) => list.map(({kind, name}) => `${kind} ${shown(name)}`);
	const seen = () => cellsOf(page, "locks", 0);
	const down = [...rows].sort((a, b) => (a.p99 === null) - (b.p99 === null) || b.p99 - a.p99);
	const up = [...rows].sort((a, b) => (a.p99 === null) - (b.p99 === null) || a.p99 - b.p99);

	await page.evaluate(() => window.trc.locks.open());
	check(rows.length > 2 && new Set(rows.map(({p99}) => p99)).size > 2, `${trace}: locks that differ`, rows);
	same(await seen(), names(rows), `${trace}: at first locks stand in the order of SQL`);
	const click = () => page.locator("[data-table=locks] [data-column=p99] button").click();
	await click();
	same([await seen(), await sortedBy(page, "locks")], [names(down), [["p99", "descending"]]], `${trace}: by p99, the largest first`);
	same(await page.evaluate(() => document.activeElement.textContent), "p99 ▾", "the focus stays at the column");
	await click();
	same([await seen(), await sortedBy(page, "locks")], [names(up), [["p99", "ascending"]]], "then the smallest first");
	await click();
	same([await seen(), await sortedBy(page, "locks")], [names(rows), []], "then as before");

	// From the first row up to the head, and beside.
	await page.locator("[data-table=locks] + tbody button").first().focus();
	await page.keyboard.press("ArrowUp");
	for (let n = 0; n < P99; n++)
		await page.keyboard.press("ArrowRight");
	await page.keyboard.press("Enter");
	same(await seen(), names(down), `${trace}: keys sort, too`);
	await page.keyboard.press("ArrowDown");
	check((await page.evaluate(() => document.activeElement.textContent)) === names(down)[0], "and lead back into the rows");
	return page.evaluate(() => window.trc.address());
}

// The tables beside the timeline have the first rows by any column, not the first ones sorted.
async function topsSort(page, trace) {
	const table = await page.evaluate(() => document.querySelector("#tops [data-table^=waits]").dataset.table), all = [];
	const number = (cell) => Number(cell.replaceAll(",", ""));

	for (const clicks of [1, 2]) {
		await page.locator(`#tops [data-table=${table}] [data-column=n] button`).click();
		const cells = (await cellsOf(page, table, 1)).map(number);
		same(cells, [...cells].sort((a, b) => clicks === 1 ? b - a : a - b), `${trace}: ${table} by number, click ${clicks}`);
		all.push(cells);
	}
	check(all[0].length > 1, `${trace}: a table with rows`, all);
	same(await sortedBy(page, table), [["n", "ascending"]], "which is told to those who do not see it");
}

// Where all holds are known the table of locks has a column more, and room for it; a picture has room in any window.
async function tabsFit(page, trace) {
	for (const [width, isWide] of [[1600, true], [1280, true], [1024, false], [820, false]]) {
		await page.setViewportSize({width, height: 900});
		await page.evaluate(() => window.trc.locks.open());
		await settle(page);
		same((await page.locator("[data-table=locks] th").allTextContents()).at(-1), "held", `${trace}: for how long locks were held`);
		const [is, has] = await page.locator("#panel-locks .locks-types").evaluate((box) => [box.scrollWidth, box.clientWidth]);
		check(!isWide || is <= has, `${trace}, ${width} pixels: no figure of the table of locks is cut`, [is, has]);
		const widths = [await page.locator("#panel-locks .histogram").evaluate((box) => box.clientWidth)];
		await page.evaluate(() => window.trc.tasks.open());
		await settle(page);
		widths.push(await page.locator("#panel-spans .histogram").evaluate((box) => box.clientWidth));
		check(Math.min(...widths) >= 140, `${trace}, ${width} pixels: the histograms of locks and of tasks have room`, widths);
	}
	for (const [width, height] of [[1600, 900], [1280, 680]]) {
		await page.setViewportSize({width, height});
		await page.evaluate(() => window.trc.locks.open());
		await histogramIsSeen(page, "locks", `${trace}, ${width}x${height} pixels: of the first lock`);
		// From the end of what is told of one lock to another one.
		await page.evaluate(() => document.querySelector(".locks-picture").scrollBy(0, 10000));
		await page.locator("[data-table=locks] + tbody button").nth(1).click();
		await histogramIsSeen(page, "locks", `${trace}, ${width}x${height} pixels: of the next one`);
		await page.locator("[data-table=locks] + tbody button").first().click();
		await page.evaluate(() => window.trc.tasks.open());
		await histogramIsSeen(page, "spans", `${trace}, ${width}x${height} pixels: of tasks`);
	}
}

async function histogramIsSeen(page, tab, what) {
	await settle(page);
	const seen = await seenWhole(page, `#panel-${tab} .histogram`);

	check(seen.length === 1 && seen[0].whole && seen[0].bottom - seen[0].top >= 90, `${what}: the histogram is seen, and high enough`, seen);
}

async function tablesSort(context) {
	let address;

	await opened(context, "locks", async (page, trace) => {
		address = await locksSort(page, trace);
		await topsSort(page, trace);
	});
	check(/tables=locks\.-p99(&|$)/.test(address), "the address holds how tables are sorted", address);
	await opened(context, "locks", async (page, trace) => same([await sortedBy(page, "locks"), (await cellsOf(page, "locks", 0))[0]],
		[[["p99", "descending"]], await page.locator("[data-table=locks] + tbody button").first().textContent()], `${trace}: the address sorts`), address);
	await opened(context, "busy", async (page, trace) => {
		await page.evaluate(() => window.trc.tasks.open());
		await page.locator("[data-table=tasks] [data-column=name] button").click();
		const names = await cellsOf(page, "tasks", 0);
		same(names, [...names].sort((a, b) => a.localeCompare(b, "en", {numeric: true})), `${trace}: types by name, from A on`);
		same(names.length, new Set(names).size, "each once");
		await page.locator("[data-table=tasks] + tbody button").nth(3).click();
		same(await page.locator("#panel-spans h3").first().textContent(), names[3], "a row of them is still that row");
	});
}

// ---- all of it ----

await withBrowser("light", async (context) => {
	let address, cell = "";

	// A page of each trace, and on it all that is compared.
	for (const [trace, ...tabs] of [["demo", procsAre, nowIs, locksAre, tasksAre], ["bare", procsAre, locksAre, tasksAre],
		["locks", procsAre, locksAre], ["order", locksAre], ["busy", locksAre, tasksAre], ["fibers", procsAre, tasksAre], ["plain", locksAre, withoutTasks],
		["cut", procsAre, nowIs, locksAre, tasksAre], ["hostile", procsAre, nowIs, locksAre, tasksAre], ["deadlock", nowIs],
		["hang", nowIs, deadlockToldIs], ["hang_all", nowIs, deadlockToldIs],
		["snapshot", nowIs]])
		await opened(context, trace, async (page) => {
			for (const tab of tabs)
				await tab(page, trace);
		});
	await opened(context, "demo", joinsAreNamed);
	await opened(context, "demo", async (page, trace) => { [address, cell] = await heatIs(page, trace); });
	await heatByAddress(context, address, cell);
	await opened(context, "demo", async (page) => same(await page.locator("#panel-spans canvas").count(), 1, "the address shows latencies over time"),
		address);
	await idleOfMadeUp(context);
	await opened(context, "demo", async (page) => { address = await foldsByClick(page); });
	await opened(context, "demo", async (page) => same(await page.evaluate(() => window.trc.selection), {kind: "cpu", id: 7},
		"the address selects the stretch again"), address);
	for (const trace of ["ring", "hang"])
		await opened(context, trace, ringIsSeen);
	await opened(context, "ring", nowIs);
	await opened(context, "crowd", async (page, trace) => {
		await nowIs(page, trace);
		await crowdIs(page);
	});
	await procsOfMany(context);
	await procsOfPart(context);
	await opened(context, "apart", tasksByKeys);
	await opened(context, "demo", async (page, trace) => { address = await tasksByKeys(page, trace); });
	await tasksByAddress(context, address);
	await labelsAreWhole(context);
	await opened(context, "locks", tabsFit);
	await tablesSort(context);
	await orderIs(context);
});
console.log(`tabs.mjs: ${results.passed} passed, ${results.failed} failed; TRC_SEED=${seed}`);
process.exit(results.failed ? 1 : 0);
