// tabs_tasks.mjs - tasks and regions against SQL: their types, what threads did for them, latencies over time.

import {check, draw, holds, same, settle} from "./browser_lib.mjs";
import {histogramIs, opened, percentile, shown, sorted, sql, sum} from "./tabs_lib.mjs";

function groupBy(rows, key) {
	const groups = new Map();

	for (const row of rows)
		groups.set(row[key], [...groups.get(row[key]) || [], row]);
	return groups;
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
		const g = draw(Math.min(seen.length, 40)), of = page.locator(`#panel-spans .plain:has([data-table="${kind}s"]) tbody button`);
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

// A thread that has no proc in such a call, which no other thread ended, is runnable meanwhile.
const fileReasons = ["fsync", "read", "write", "recv", "send", "connect", "open", "aio"];

// A thread's waits, stretches on a proc, and when it had none by force, from the trace's begin on.
function tellThreads(trace) {
	const [{zero, end}] = sql(trace, "SELECT (SELECT value FROM trace_info WHERE key = 'trace_start_ns') AS zero, " +
		"(SELECT value FROM trace_info WHERE key = 'trace_end_ns') AS end");
	const of = new Map(), told = (thread) => of.get(thread) || of.set(thread, {waits: [], on: [], without: []}).get(thread);

	for (const p of sql(trace, "SELECT thread, reason, start_ns, coalesce(end_ns, " + end + ") AS end_ns, wake_ns, waker_thread FROM parks"))
		told(p.thread).waits.push([p.start_ns - zero, p.end_ns - zero, p.reason, p.wake_ns === null ? Infinity : p.wake_ns - zero,
			p.waker_thread === null && fileReasons.includes(p.reason)]);
	for (const l of sql(trace, "SELECT thread, woken_ns AS a, running_ns AS b FROM sched_latency WHERE kind = 'preempted'"))
		told(l.thread).without.push([l.a - zero, l.b - zero]);
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
		for (const [a, b, reason, wake, ofFile] of waits) {
			const woken = Math.min(Math.max(wake, a), b);
			add(reason, woken - a - (ofFile ? union(clip(told(thread).without, a, woken)) : 0));
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
		window.location.hash = ""; // the same task may be drawn twice: an address that is there already brings nothing
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
	const split = sql(trace, "SELECT CASE state WHEN 'waiting' THEN coalesce(reason, 'not known') WHEN 'off_cpu' THEN 'off proc' ELSE state END " +
		"AS state, sum(ns) AS ns FROM task_times WHERE task = " + task.id + " AND state NOT IN ('absent', 'unworked') GROUP BY 1");
	same(Object.fromEntries(Object.entries(states).filter(([state]) => state !== "absent").map(([state, ns]) => [state, Math.round(ns)]).sort()),
		Object.fromEntries(split.map(({state, ns}) => [state, ns]).sort()), `${what}: the table task_times has the same`);
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

export async function tasksAre(page, trace) {
	await page.evaluate(() => window.trc.tasks.open());
	const types = await typesAre(page, trace, "task", "tasks");
	await typesAre(page, trace, "region", "regions");
	const compared = await splitsAre(page, trace);
	check(compared || !types.length || trace === "hostile", `${trace}: splits of tasks were compared`, compared);
}

export async function withoutTasks(page) {
	await page.evaluate(() => window.trc.tasks.open());
	check(/no tasks and no regions/.test(await page.locator("#panel-spans").innerText()), "a trace without tasks says so");
}

// From the tab to a bucket, to an instance, by keys alone; and back by the address.
export async function tasksByKeys(page, trace) {
	const seen = () => page.evaluate(() => [document.activeElement.className, document.activeElement.getAttribute("aria-label") || ""]);
	const inBucket = async () => Number(/: ([\d,]+) of/.exec((await seen())[1])[1].replace(",", ""));

	await page.keyboard.press("t");
	same(await page.evaluate(() => document.activeElement.id), "panel-tab-spans", "T opens the tab");
	await page.keyboard.press("Tab"); // close
	for (let n = 0; n < 40 && !(await seen())[0].includes("bucket"); n++)
		await page.keyboard.press("Tab");
	const {t0, t1} = await page.evaluate(() => window.trc.view);
	await page.keyboard.press("End");
	// One task that took much longer than the others has empty buckets before its own: a busy machine is enough for that.
	do
		await page.keyboard.press("ArrowLeft");
	while (!await inBucket());
	same(await page.evaluate(() => [window.trc.view.t0, window.trc.view.t1]), [t0, t1], "arrows in the histogram move nothing else");
	const [, bucket] = await seen(), wanted = await inBucket();
	await page.keyboard.press("Enter");
	await settle(page);
	same((await seen())[1], bucket, "the focus stays at the bucket");
	same(await page.locator("#panel-spans .spans li").count(), Math.min(wanted, 200), `${trace}: the list has the bucket's tasks`);
	await page.keyboard.press("Tab");
	await page.keyboard.press("Enter");
	await settle(page);
	const [longest, address] = await page.evaluate(() => [window.trc.told().title, window.trc.address()]);
	check(/^task request \d+: /.test(longest), `${trace}: Enter selects the longest`, longest);
	check(await page.locator("#panel-spans .spans li.chosen").count() === 1, `${trace}: the list marks it`);
	return address;
}

export async function tasksByAddress(context, address) {
	await opened(context, "demo", async (page) => {
		same(await page.locator("#panel-spans .bucket[aria-pressed=true]").count(), 1, "the address opens the tab with its bucket");
		same(await page.evaluate(() => window.trc.address().includes("from%3D")), true, "and keeps it");
	}, address);
}

// Latencies over time.
export async function heatIs(page, trace) {
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
export async function heatByAddress(context, address, cell) {
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
