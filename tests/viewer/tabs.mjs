// tabs.mjs - the tabs below the timeline against SQL of the same traces.
//
//   node tabs.mjs TRACE-ANALYZE DIRECTORY
//
// TRC_SEED repeats a run.

import path from "node:path";
import * as analyzer from "./analyzer.mjs";
import {check, holds, openPage, results, same, settle, withBrowser} from "./browser_lib.mjs";

const [analyze, directory] = process.argv.slice(2);
const pages = path.resolve(directory);
const seed = Number(process.env.TRC_SEED || Date.now() % 1000000007);

let random = seed;
function draw(n) {
	random = (Math.imul(random, 1664525) + 1013904223) >>> 0;
	return Math.floor(random / 4294967296 * n);
}

function sql(trace, query, ...options) {
	return (options.length ? analyzer.rowsOnce : analyzer.rowsOf)(analyze, `${pages}/${trace}.trc`, query, options);
}

// The smallest of sorted values that so many percent do not exceed.
function percentile(sorted, part) {
	return sorted.length ? sorted[Math.max(1, Math.ceil(sorted.length * part / 100)) - 1] : 0;
}

function sorted(values) {
	return Float64Array.from(values).sort();
}

function sum(values) {
	return values.reduce((a, b) => a + b, 0);
}

// A name as the page writes it.
function shown(name) {
	return name ? name.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu,
		(c) => `\\u${c.codePointAt(0).toString(16).padStart(4, "0")}`) : "(no type)";
}

async function opened(context, trace, use, fragment = "") {
	const page = await openPage(context, `${pages}/${trace}.html`, fragment);

	await use(page, trace);
	same(page.troubles, [], `${trace}: nothing went wrong`);
	await page.close();
}

// ---- tasks and regions ----

function groupBy(rows, key) {
	const groups = new Map();

	for (const row of rows)
		groups.set(row[key], [...groups.get(row[key]) || [], row]);
	return groups;
}

async function histogramIs(page, tab, durations, what) {
	const buckets = await page.evaluate((name) => window.trc[name].buckets(), tab);

	same(sum(buckets.map((b) => b.n)), durations.length, `${what}: all are in buckets`);
	for (const {from, until, n} of buckets)
		same(n, durations.filter((ns) => ns >= from && ns < until).length, `${what}: from ${from} to ${until} ns`);
	same(await page.locator(".tab:not([hidden]) .bucket").count(), buckets.length, `${what}: each has a button`);
}

async function typesAre(page, trace, kind, table) {
	const rows = sql(trace, `SELECT type, duration_ns FROM ${table}`), groups = groupBy(rows, "type");
	const seen = await page.evaluate((of) => window.trc.tasks.types(of), kind);

	same(seen.length, groups.size, `${trace}: as many types of ${table}`);
	for (const [type, all] of groups) {
		const one = seen.find((each) => each.name === shown(type)), what = `${trace}: ${kind} ${type}`;
		const durations = sorted(all.map((row) => row.duration_ns).filter((ns) => ns !== null));
		same(one && [one.n, one.ended, one.total, one.p50, one.p99, one.max], [all.length, durations.length, sum([...durations]),
			percentile(durations, 50), percentile(durations, 99), percentile(durations, 100)], what);
	}
	for (let n = 0; n < Math.min(5, seen.length); n++) {
		const g = draw(Math.min(seen.length, 40)), of = page.locator(`#panel-spans .plain:has(th:text-is("${kind === "task" ? "Tasks" : "Regions"}")) tbody button`);
		await of.nth(g).click();
		const type = [...groups.keys()].find((name) => shown(name) === seen[g].name);
		await histogramIs(page, "tasks", groups.get(type).map((row) => row.duration_ns).filter((ns) => ns !== null), `${trace}: ${kind} ${type}`);
	}
	return seen;
}

// ---- what threads did for a task ----

function clip(rows, from, until) {
	return rows.map(([a, b, ...more]) => [Math.max(a, from), Math.min(b, until), ...more]).filter(([a, b]) => a < b);
}

// How long any of these lasts.
function union(rows) {
	let sum = 0, end = -Infinity;

	for (const [a, b] of [...rows].sort((x, y) => x[0] - y[0])) {
		sum += Math.max(0, b - Math.max(a, end));
		end = Math.max(end, b);
	}
	return sum;
}

function both(a, b) {
	return union(a) + union(b) - union([...a, ...b]);
}

// A thread's waits and stretches on a proc, from the trace's begin on.
function tellThreads(trace) {
	const [{zero, end}] = sql(trace, "SELECT (SELECT value FROM trace_info WHERE key = 'trace_start_ns') AS zero, " +
		"(SELECT value FROM trace_info WHERE key = 'trace_end_ns') AS end");
	const of = new Map(), told = (thread) => of.get(thread) || of.set(thread, {waits: [], on: []}).get(thread);

	for (const p of sql(trace, "SELECT thread, reason, start_ns, coalesce(end_ns, " + end + ") AS end_ns, wake_ns FROM parks"))
		told(p.thread).waits.push([p.start_ns - zero, p.end_ns - zero, p.reason, p.wake_ns === null ? Infinity : p.wake_ns - zero]);
	for (const c of sql(trace, `SELECT thread, coalesce(start_ns, ${zero}) AS a, coalesce(end_ns, ${end}) AS b FROM on_cpu`))
		told(c.thread).on.push([c.a - zero, c.b - zero]);
	return {told, zero, end};
}

// Time in waits by reason, and on a proc outside of waits, in these stretches; null if waits lie within each other there.
function splitOf(told, stretches) {
	const states = {}, add = (name, ns) => { states[name] = (states[name] || 0) + ns; };

	for (const [thread, from, until] of stretches) {
		const waits = clip(told(thread).waits, from, until), on = clip(told(thread).on, from, until);
		if (sum(waits.map(([a, b]) => b - a)) !== union(waits))
			return null;
		for (const [a, b, reason, wake] of waits) {
			const woken = Math.min(Math.max(wake, a), b);
			add(reason, woken - a);
			add("woken", b - woken);
		}
		add("running", union(on) - both(on, waits));
	}
	return states;
}

async function splitIs(page, trace, told, task) {
	const what = `${trace}: task ${task.id} of type ${task.type}`;
	await page.evaluate((id) => {
		window.trc.select(null);
		window.location.hash = `#sel=task:${id}`;
	}, task.id);
	check(await holds(page, () => window.trc.selection?.kind === "task"), `${what}: its address selects it`);
	const seen = await page.evaluate(() => window.trc.tasks.split());
	const [asked] = sql(trace, "SELECT (SELECT sum(waited_ns) FROM parks) AS waited, (SELECT sum(duration_ns) FROM on_cpu) AS ran",
		"--task", task.id);
	const {states, stretches, unworked} = seen, wanted = splitOf(told, stretches);
	const on = sum(stretches.map(([thread, a, b]) => union(clip(told(thread).on, a, b))));
	const waited = sum(stretches.map(([thread, a, b]) => sum(clip(told(thread).waits, a, b).map(([x, y]) => y - x))));

	same([waited, on], [asked.waited || 0, asked.ran || 0], `${what}: threads work for it as --task has it`);
	same(unworked, task.duration_ns - union(stretches.map(([, a, b]) => [a, b])), `${what}: when none did`);
	for (const [state, ns] of Object.entries(wanted || {}))
		same(Math.round(states[state] || 0), ns, `${what}: ${state}`);
	const told2 = await page.locator("#details table.mix").first().innerText();
	check(Object.keys(states).filter((state) => state !== "absent").every((state) => told2.includes(state)), `${what}: the details say so`, told2);
	return wanted !== null;
}

async function splitsAre(page, trace) {
	const tasks = sql(trace, "SELECT CAST(id AS TEXT) AS id, type, start_ns, duration_ns FROM tasks WHERE duration_ns > 0");
	const {told} = tellThreads(trace);
	let compared = 0;

	for (let n = 0; n < Math.min(6, tasks.length); n++)
		compared += await splitIs(page, trace, told, tasks[draw(tasks.length)]);
	return compared;
}

async function tasksAre(page, trace) {
	await page.evaluate(() => window.trc.tasks.open());
	const types = await typesAre(page, trace, "task", "tasks");
	await typesAre(page, trace, "region", "regions");
	const compared = await splitsAre(page, trace);
	check(compared || !types.length || trace === "hostile", `${trace}: splits of tasks were compared`, compared);
}

// From the tab to a bucket, to an instance, by keys alone; and back by the address.
async function tasksByKeys(page) {
	const seen = () => page.evaluate(() => [document.activeElement.className, document.activeElement.getAttribute("aria-label") || ""]);

	await page.keyboard.press("t");
	same(await page.evaluate(() => document.activeElement.id), "panel-tab-spans", "T opens the tab");
	await page.keyboard.press("Tab"); // close
	for (let n = 0; n < 40 && !(await seen())[0].includes("bucket"); n++)
		await page.keyboard.press("Tab");
	const {t0, t1} = await page.evaluate(() => window.trc.view);
	await page.keyboard.press("End");
	await page.keyboard.press("ArrowLeft");
	same(await page.evaluate(() => [window.trc.view.t0, window.trc.view.t1]), [t0, t1], "arrows in the histogram move nothing else");
	const [, bucket] = await seen();
	await page.keyboard.press("Enter");
	await settle(page);
	same((await seen())[1], bucket, "the focus stays at the bucket");
	const wanted = Number(/: ([\d,]+) of/.exec(bucket)[1].replace(",", ""));
	same(await page.locator("#panel-spans .spans li").count(), Math.min(wanted, 200), "the list has the bucket's tasks");
	await page.keyboard.press("Tab");
	await page.keyboard.press("Enter");
	await settle(page);
	const [longest, address] = await page.evaluate(() => [window.trc.told().title, window.trc.address()]);
	check(/^task request \d+: /.test(longest), "Enter selects the longest", longest);
	check(await page.locator("#panel-spans .spans li.chosen").count() === 1, "the list marks it");
	return address;
}

async function tasksByAddress(context, address) {
	await opened(context, "demo", async (page) => {
		same(await page.locator("#panel-spans .bucket[aria-pressed=true]").count(), 1, "the address opens the tab with its bucket");
		same(await page.evaluate(() => window.trc.address().includes("from%3D")), true, "and keeps it");
	}, address);
}

// Latencies over time.
async function heatIs(page, trace) {
	const COLUMNS = 17, span = await page.evaluate(() => window.trc.span);
	const rows = sql(trace, "SELECT start_ns - (SELECT value FROM trace_info WHERE key = 'trace_start_ns') AS at, duration_ns AS ns FROM tasks " +
		"WHERE type = 'request' AND duration_ns IS NOT NULL");
	const last = () => page.evaluate(() => document.activeElement.getAttribute("aria-label"));

	await page.keyboard.press("t");
	await page.locator("#panel-spans .plain button", {hasText: "request"}).first().click();
	const buckets = await page.evaluate(() => window.trc.tasks.buckets()), seen = await page.evaluate((n) => window.trc.tasks.heat(n), COLUMNS);
	buckets.forEach(({from, until}, b) => {
		for (let c = 0; c < COLUMNS; c++)
			same(seen[b * COLUMNS + c], rows.filter(({at, ns}) => ns >= from && ns < until && Math.floor(at / span * COLUMNS) === c).length,
				`${trace}: begun in part ${c} of ${COLUMNS}, from ${from} ns`);
	});
	await page.locator("#panel-spans button", {hasText: "over time"}).click();
	await page.locator("#panel-spans canvas").focus();
	await page.keyboard.press("ArrowDown");
	for (let n = 0; n < 200 && !/^[1-9]/.test(await last()); n++)
		await page.keyboard.press(n % 40 === 39 ? "ArrowDown" : "ArrowRight");
	const [wanted] = /^\d+/.exec(await last());
	await page.keyboard.press("Enter");
	await settle(page);
	same(await page.locator("#panel-spans .spans li").count(), Number(wanted), `${trace}: Enter lists what is in the cell`);
	same(await page.evaluate(() => document.activeElement.tagName), "CANVAS", `${trace}: the focus stays`);
	const address = await page.evaluate(() => window.trc.address());
	check(/over%3Dtime.*cell%3D\d+%252F\d+/.test(address), `${trace}: the address keeps it, and the cell`, address);
	return [address, await last()];
}

// In a window of another width the cell that is marked is the one that is listed.
async function heatByAddress(context, address, cell) {
	await opened(context, "demo", async (page) => {
		const label = () => page.locator("#panel-spans canvas").getAttribute("aria-label");
		same(await label(), cell, "the address marks the cell");
		await page.setViewportSize({width: 900, height: 800});
		await settle(page);
		await page.evaluate(() => window.trc.flame.idle());
		await page.locator("#theme").click();
		await settle(page);
		same([await label(), await page.locator("#panel-spans .spans li").count()], [cell, Number(/^\d+/.exec(cell)[0])],
			"a narrower window marks it, too");
	}, address);
}

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
	const rows = sql(trace, `SELECT thread, name, proc, coalesce(on_cpu.start_ns, ${zero}) AS a, coalesce(on_cpu.end_ns, ${end}) AS b ` +
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

async function crowdIs(page) {
	same(await page.locator(".now-box button").count(), 13, "of a crowd a few are drawn");
	same(await page.locator(".now-box.more").innerText(), "and 288 threads more", "and the others counted");
	const names = await page.locator(".now-list tbody tr", {hasText: "296 more"}).locator("button").allInnerTexts();
	same(names, [301, 300, 299, 298].map((n) => `pool ${n}`), "in a row the one that waits longest is first, and the row says how long");
	check(/13 of 301 threads are drawn/.test(await page.locator("#panel-now").innerText()), "it says so first");
	await page.locator(".now-box button").first().focus();
	await page.keyboard.press("ArrowDown");
	await page.keyboard.press("Enter");
	same(await page.evaluate(() => window.trc.selection.kind), "park", "keys lead from box to box");
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
		const labels = await drawnBy(page, "", () => page.locator("#panel-spans button", {hasText: "over time"}).click());
		check(labels.length > 3, "latencies over time have labels", labels);
		check(labels.every(({y, height}) => y >= 5 && y <= height - 5), "which are whole", labels);
	});
}

// ---- all of it ----

await withBrowser("light", async (context) => {
	let address;

	for (const trace of ["demo", "bare", "busy", "fibers", "cut", "hostile"])
		await opened(context, trace, tasksAre);
	let cell = "";
	await opened(context, "demo", async (page, trace) => { [address, cell] = await heatIs(page, trace); });
	await heatByAddress(context, address, cell);
	await opened(context, "demo", async (page) => same(await page.locator("#panel-spans canvas").count(), 1, "the address shows latencies over time"),
		address);
	for (const trace of ["demo", "locks", "bare", "busy", "cut", "hostile", "plain"])
		await opened(context, trace, locksAre);
	for (const trace of ["demo", "locks", "bare", "fibers", "cut", "hostile"])
		await opened(context, trace, procsAre);
	await idleOfMadeUp(context);
	await opened(context, "demo", async (page) => { address = await foldsByClick(page); });
	await opened(context, "demo", async (page) => same(await page.evaluate(() => window.trc.selection), {kind: "cpu", id: 7},
		"the address selects the stretch again"), address);
	for (const trace of ["deadlock", "snapshot", "hostile", "cut", "demo"])
		await opened(context, trace, nowIs);
	await opened(context, "crowd", async (page, trace) => {
		await nowIs(page, trace);
		await crowdIs(page);
	});
	await procsOfMany(context);
	await procsOfPart(context);
	await opened(context, "plain", async (page) => {
		await page.evaluate(() => window.trc.tasks.open());
		check(/no tasks and no regions/.test(await page.locator("#panel-spans").innerText()), "a trace without tasks says so");
	});
	await opened(context, "demo", async (page) => { address = await tasksByKeys(page); });
	await tasksByAddress(context, address);
	await labelsAreWhole(context);
});
console.log(`tabs.mjs: ${results.passed} passed, ${results.failed} failed; TRC_SEED=${seed}`);
process.exit(results.failed ? 1 : 0);
