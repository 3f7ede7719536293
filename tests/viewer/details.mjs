// details.mjs - whether the page says of single rows what SQL says of the same trace.
//
//   node details.mjs TRACE-ANALYZE TRACE PAGE...
//
// Rows are drawn at random among those of SQL, looked for in the timeline at their time with the
// pointer, and their details compared.  TRC_SEED repeats a run.

import {execFileSync} from "node:child_process";
import * as analyzer from "./analyzer.mjs";
import {amount, check, draw, openPage, results, same, seed, settle, withBrowser} from "./browser_lib.mjs";

const [analyze, ...files] = process.argv.slice(2);
const ROWS = amount(200, 64); // of each trace

function one(rows) {
	return rows[draw(rows.length)];
}

function sql(trace, query) {
	return analyzer.rowsOf(analyze, trace, query);
}

function byId(rows) {
	return new Map(rows.map((row) => [row.id, row]));
}

// What there is of a trace, as SQL tells it.
function tellBySql(trace) {
	const t = {trace};

	for (const name of ["parks", "unlocks", "threads", "on_cpu", "regions", "tasks", "logs", "counters"])
		t[name] = sql(trace, `SELECT * FROM ${name}`);
	t.fiberRuns = sql(trace, "SELECT * FROM fiber_runs WHERE end_ns IS NOT NULL AND NOT cut AND state <> 'lost'");
	t.thread = byId(t.threads);
	t.unlock = byId(t.unlocks);
	t.descriptor = new Map(sql(trace, "SELECT DISTINCT descriptor, kind, name FROM descriptors")
		.map((row) => [row.descriptor, row]));
	t.stack = new Map();
	for (const f of sql(trace, "SELECT stack, function FROM stack_frames LEFT JOIN frames ON " +
		"frames.id = frame ORDER BY stack, depth"))
		t.stack.set(f.stack, [...(t.stack.get(f.stack) || []), f.function]);
	return t;
}

// ---- how the page writes things ----

function exact(ns) {
	const rest = String(ns % 1e9).padStart(9, "0");

	return `${Math.floor(ns / 1e9)}.${rest.slice(0, 3)} ${rest.slice(3, 6)} ${rest.slice(6)} s`;
}

function nanoseconds(ns) {
	return `(${ns.toLocaleString("en-US")} ns)`;
}

// With what tells it apart from others of its name, and, after an exec, of its id.
function threadName(t, id) {
	const thread = t.thread.get(id), plain = (one) => one.name || `thread ${one.tid}`;
	const alike = [...t.thread.values()].filter((one) => plain(one) === plain(thread));

	if (alike.length < 2)
		return plain(thread);
	return `${plain(thread)} (${thread.tid}${alike.filter((one) => one.tid === thread.tid).length > 1 ? `, #${thread.id}` : ""})`;
}

// ---- what the page says, from within it ----

// Opens the lines that threads are folded into, from top to bottom, until each thread has a lane.
async function unfoldThreads(page, threads, file) {
	const folded = page.locator(".label.group:not([hidden]) .open[aria-expanded=false][title*=' thread']").first();
	const lanes = () => page.evaluate(() => window.trc.shownThreads().length);
	const scrolls = () => page.evaluate(() => {
		const scroll = document.getElementById("scroll"), before = scroll.scrollTop;
		scroll.scrollBy(0, 100);
		return scroll.scrollTop > before;
	});

	for (let goesOn = true; goesOn && await lanes() < threads; await settle(page))
		if (await folded.count())
			await folded.click();
		else
			goesOn = await scrolls();
	same(await lanes(), threads, `${file}: each thread has a lane`);
}

// What the pointer meets in a column of pixels, or on a thread's lane of states, at a time that takes
// the middle of the view; with the details of each.
function meet(page, wanted) {
	return page.evaluate(({from, until, at, serial, kind}) => {
		const box = document.getElementById("canvases").getBoundingClientRect();
		const scroll = document.getElementById("scroll");
		const thread = window.trc.threads().find((t) => t.serial === serial);
		const met = new Map();
		const look = () => {
			scroll.scrollTop = 0;
			window.trc.setView(from, until);
			window.trc.redraw();
		};
		look();
		const {t0, t1} = window.trc.view, x = box.left + (at - t0) / (t1 - t0) * box.width;
		const point = thread && window.trc.pointOf(thread.idx, at);
		const ys = kind === "state" ? [point.y] : [];
		for (let y = 1; kind !== "state" && y < scroll.scrollHeight; y += 3)
			ys.push(box.top + y);
		for (const y of ys) {
			const hit = window.trc.hover(x, y);
			if (hit && (kind === "state" || (hit.kind === kind && (!thread || hit.thread === thread.idx))))
				met.set(`${hit.kind}:${hit.id}`, hit);
		}
		return [...met.values()].map((hit) => {
			window.trc.select(hit.kind, hit.id);
			return {...hit, ...window.trc.told()};
		});
	}, wanted);
}

// What is selected by its number says of itself.
function tell(page, kind, id) {
	return page.evaluate(([k, i]) => {
		window.trc.select(k, i);
		return window.trc.told();
	}, [kind, id]);
}

// ---- comparisons: each draws a row ----

function starts(told, key, wanted, what) {
	const seen = told.facts[key] || "";

	check(seen.startsWith(wanted), `${what}: ${key}: wanted ${wanted}`, seen || told);
}

function stackIs(t, told, heading, stack, what) {
	const wanted = (t.stack.get(stack) || []).map((f) => f || "");
	const seen = told.stacks[heading] || [];

	same(seen.map((f, i) => wanted[i] ? f : ""), wanted, `${what}: ${heading}`);
}

// Of a row that ends, its time; `told` is the page's.
function spanIs(told, row, what) {
	starts(told, "Began", exact(row.start_ns), what);
	if (row.end_ns === null)
		return starts(told, "Ended", "not before", what);
	starts(told, "Ended", exact(row.end_ns), what);
	check((told.facts.Duration || "").endsWith(nanoseconds(row.end_ns - row.start_ns)),
		`${what}: its length, ${nanoseconds(row.end_ns - row.start_ns)}`, told.facts.Duration);
}

function parkIs(t, told, park) {
	const what = `wait ${park.id}`, wake = park.wake_ns;

	same(told.facts.SQL, `SELECT * FROM parks WHERE id=${park.id}`, "the wait");
	if (told.facts.SQL !== `SELECT * FROM parks WHERE id=${park.id}`)
		return;
	check(told.title.startsWith(`${park.reason}: waited`), `${what}: its reason, ${park.reason}`, told.title);
	starts(told, "Thread", threadName(t, park.thread), what);
	spanIs(told, park, what);
	if (park.descriptor) {
		const {kind, name} = t.descriptor.get(park.descriptor);
		same(told.facts.Object, kind === park.reason ? `fd ${park.object}` : `${name} (fd ${park.object})`,
			`${what}: what the descriptor was`);
	}
	same(told.facts[park.reason === "join" ? "Joins" : "Held by"], park.holder_thread ? threadName(t, park.holder_thread) : undefined,
		`${what}: who held it`);
	same(told.facts["Woken by"], park.waker_thread ? threadName(t, park.waker_thread) +
		(wake === null ? "" : ` at ${exact(wake)}`) : undefined, `${what}: who woke it`);
	same(/made/.test(told.facts["Ended by"] || ""), park.unlock !== null, `${what}: what caused it`);
	if (park.unlock !== null && t.unlock.get(park.unlock).caused_waits > 1)
		check(told.facts["Ended by"].includes(`${t.unlock.get(park.unlock).caused_waits} threads`),
			`${what}: how many that made wait`, told.facts["Ended by"]);
	if (park.reason === "mutex")
		same(/^busy_/.test(told.facts.Object), t.own, `${what}: the name of the lock`);
	if (park.reason === "mutex")
		check(told.facts.Object.includes(`0x${park.object.toString(16)}`), `${what}: the lock`, told.facts);
	stackIs(t, told, "Waits at", park.stack, what);
	stackIs(t, told, "Woken from", park.waker_stack, what);
}

// In a call that reads or writes it had no proc.
function preemptedIs(t, told, park, at, what) {
	const rows = sql(t.trace, `SELECT reason FROM causes WHERE wait = ${park.id} AND cause = 'preempted' AND from_ns <= ${at} AND to_ns > ${at}`);

	same(rows.map((row) => row.reason), [park.reason], `${what}: it could run, says SQL`);
	check((told.facts["In the call"] || "").includes(park.reason), `${what}: the page tells the call`, told.facts);
}

// What a thread was doing at a time.
async function stateIs(page, t, thread, at) {
	const end = (row) => row.end_ns === null ? Infinity : row.end_ns;
	const covers = (row) => row.thread === thread.id && row.start_ns <= at && at < end(row);
	const parks = t.parks.filter(covers), cpu = t.on_cpu.filter(covers);
	const [told, ...more] = await meet(page, {from: at - 100, until: at + 100, at, serial: thread.id, kind: "state"});
	const what = `thread ${thread.id} at ${at} ns`;

	same(more.length, 0, `${what} does one thing`);
	if (at < (thread.start_ns || 0) || at >= end(thread))
		return check(!told, `${what} is not there`, told);
	if (!told)
		return check(false, `${what} does something`);
	if (parks.length) {
		const park = parks.reduce((a, b) => b.start_ns >= a.start_ns ? b : a);
		return told.title.startsWith("runnable") ? preemptedIs(t, told, park, at, what) : parkIs(t, told, park);
	}
	const state = told.title.split(" ")[0];
	starts(told, "Thread", threadName(t, thread.id), what);
	if (cpu.length) {
		same(state, "running", `${what}: what SQL has in on_cpu`);
		same(told.facts["On proc"], String(cpu[0].proc), `${what}: on which proc`);
	} else {
		// What it did before the kernel's first record of it is not known.
		const known = t.on_cpu.some((row) => row.thread === thread.id && row.start_ns <= at);
		check((known ? ["off", "runnable"] : ["active", "runnable"]).includes(state), `${what}: on no proc`, told.title);
	}
}

async function parkShown(page, t) {
	const park = one(t.parks);

	await stateIs(page, t, t.thread.get(park.thread), park.start_ns + draw((park.end_ns || park.start_ns + 1) - park.start_ns));
}

async function anyTime(page, t, span) {
	await stateIs(page, t, one(t.threads), draw(span));
}

function covering(rows, at) {
	return rows.filter((r) => (r.start_ns || 0) <= at && at < (r.end_ns === null ? Infinity : r.end_ns));
}

// The regions of a thread at a time, from the outermost in.
async function regionShown(page, t) {
	const region = one(t.regions), runs = t.fiberRuns.filter((r) => r.fiber === region.fiber &&
		r.start_ns < region.end_ns && r.end_ns > region.start_ns);
	// That of a fiber is where and when the fiber runs.
	const {thread, start_ns, end_ns} = region.fiber && runs.length ? one(runs) : region;
	const from = Math.max(start_ns, region.start_ns), at = from + draw(Math.min(end_ns, region.end_ns) - from);
	const wanted = covering(t.regions.filter((r) => region.fiber ? r.fiber === region.fiber : r.thread === thread), at)
		.sort((a, b) => a.depth - b.depth);
	const met = await meet(page, {from: at - 100, until: at + 100, at, serial: thread, kind: "region"});

	// One of a root fiber has holes where its thread runs others.
	if (region.fiber ? !runs.length : covering(t.fiberRuns.filter((r) => r.thread === thread), at).length)
		return;
	same(met.map((m) => m.title.split(": ")[0]), wanted.map((r) => `region ${r.type}`),
		`regions of thread ${thread} at ${at}`);
	for (const [i, row] of wanted.entries()) {
		const what = `region ${row.id}, ${row.type}`;
		if (!met[i])
			continue;
		same(met[i].facts.Depth, String(row.depth), `${what}: its depth`);
		starts(met[i], "Thread", threadName(t, row.thread), what);
		spanIs(met[i], row, what);
		same((met[i].facts.Task || "").split(" ").pop(), row.task ? String(row.task) : "", `${what}: its task`);
		check(met[i].tip.startsWith(`${row.type} `), `${what}: its tooltip`, met[i].tip);
	}
}

async function taskShown(page, t) {
	const task = one(t.tasks), at = task.start_ns + draw(task.end_ns - task.start_ns);
	const wanted = covering(t.tasks, at).sort((a, b) => a.id - b.id);
	const met = await meet(page, {from: at - 100, until: at + 100, at, kind: "task"});
	const number = (m) => Number(/ (\d+): /.exec(m.title)[1]);

	met.sort((a, b) => number(a) - number(b));
	same(met.map((m) => m.title.split(": ")[0]), wanted.map((r) => `task ${r.type} ${r.id}`), `tasks at ${at}`);
	for (const [i, row] of wanted.entries()) {
		const what = `task ${row.id}`;
		if (!met[i])
			continue;
		starts(met[i], "Began", `${exact(row.start_ns)} on ${threadName(t, row.start_thread)}`, what);
		starts(met[i], "Ended", `${exact(row.end_ns)} on ${threadName(t, row.end_thread)}`, what);
		check(met[i].facts.Duration.endsWith(nanoseconds(row.duration_ns)), `${what}: its length`, met[i].facts);
	}
}

async function logShown(page, t) {
	const log = one(t.logs), at = log.ts_ns;
	const met = await meet(page, {from: at - 100, until: at + 100, at, serial: log.thread, kind: "log"});
	const told = met.find((m) => m.message === log.message);

	check(told, `log ${log.message} is where it was written`, met);
	if (!told)
		return;
	same(told.title, `log ${log.category}`, `log ${log.message}: its category`);
	starts(told, "Time", exact(at), `log ${log.message}`);
	starts(told, "Thread", threadName(t, log.thread), `log ${log.message}`);
	same((told.facts.Task || "").split(" ").pop(), log.task ? String(log.task) : "", `log ${log.message}: its task`);
}

async function unlockShown(page, t) {
	const told = await tell(page, "unlock", 1 + draw(t.unlocks.length));
	const row = t.unlock.get(Number(/id=(\d+)/.exec(told.facts.SQL)[1])), what = `unlock ${row.id}`;

	starts(told, "Time", exact(row.ts_ns), what);
	starts(told, "Thread", threadName(t, row.thread), what);
	check(told.facts.Object.includes(`0x${row.object.toString(16)}`), `${what}: the lock`, told.facts);
	same(told.facts["Threads that waited"], String(row.caused_waits), `${what}: how many waited`);
	stackIs(t, told, "Released at", row.stack, what);
}

// Which part of [start, end) lies in none of some rows of a thread.
function outside(rows, start, end) {
	let at = start, sum = 0;

	for (const row of rows.filter((r) => r.start_ns < end && (r.end_ns ?? Infinity) > start)) {
		sum += Math.max(0, row.start_ns - at);
		at = Math.max(at, row.end_ns ?? Infinity);
	}
	return sum + Math.max(0, end - at);
}

// A run of a fiber: how long, and how long of it its thread was on a proc.
async function fiberRunShown(page, t) {
	const run = one(t.fiberRuns), end = run.end_ns, at = run.start_ns + draw(end - run.start_ns);
	const [told] = await meet(page, {from: at - 50, until: at + 50, at, serial: run.thread, kind: "fiberrun"});
	const what = `run ${run.id} of fiber ${run.fiber}`, mine = (rows) => rows.filter((r) => r.thread === run.thread);
	const cpu = mine(t.on_cpu), parks = mine(t.parks);

	if (!told)
		return check(false, `${what} is where it ran`);
	starts(told, "Thread", threadName(t, run.thread), what);
	spanIs(told, run, what);
	if (!cpu.some((r) => r.start_ns <= run.start_ns))
		return; // before the kernel's first record of the thread
	const on = cpu.filter((r) => r.start_ns < end && (r.end_ns ?? Infinity) > run.start_ns).reduce((sum, r) =>
		sum + outside(parks, Math.max(r.start_ns, run.start_ns), Math.min(r.end_ns ?? Infinity, end)), 0);
	check((told.facts["On a proc"] || "").endsWith(nanoseconds(on)), `${what}: on a proc for ${on} ns`, told.facts);
	same(told.title.includes(" of it on a proc"), on <= 0.99 * (end - run.start_ns), `${what}: so does its title`);
}

// How many critical sections had others wait, by place, as SQL has it and the table beside the timeline.
async function sectionsCounted(page, trace) {
	const seen = await page.evaluate(() => {
		const table = [...document.querySelectorAll("#tops details")].find((d) =>
			d.querySelector("summary").textContent === "Who made others wait");
		return table ? [...table.querySelectorAll("tbody tr")].map((r) => Number(r.cells[1].textContent.replace(/,/g, "")))
			: [];
	});

	// What the report tells in the same words, which are those of six functions, is one row.
	const places = groupedBy(sql(trace, "SELECT reason, chain(stack) AS place, count(*) AS n, sum(caused_ns) AS ns FROM unlocks " +
		"WHERE caused_waits > 0 GROUP BY reason, chain(stack), stack IS NULL"),
		({reason, place}) => `${reason} ${place === null ? "no stack" : place.split(" < ").slice(0, 6).join(" < ")}`);
	const sum = (rows, key) => rows.reduce((all, row) => all + row[key], 0);
	const wanted = [...places.values()].sort((a, b) => sum(b, "ns") - sum(a, "ns")).slice(0, 15).map((rows) => sum(rows, "n"));
	const inOrder = (numbers) => numbers.toSorted((a, b) => a - b); // of equal times any may be first
	same(inOrder(seen), inOrder(wanted), "critical sections are counted, not their waiters");
}

// ---- tables beside the timeline ----

// A length of time as the page has it.
function short(ns) {
	const [unit, size] = [["s", 1e9], ["ms", 1e6], ["µs", 1e3], ["ns", 1]].find(([, s]) => ns / s >= 0.9995 || s === 1), value = ns / size;

	return `${value.toFixed(value >= 99.95 || size === 1 ? 0 : value >= 9.995 ? 1 : 2)} ${unit}`;
}

// The rows of one, as texts; null = there is none.
function topRows(page, heading) {
	return page.evaluate((text) => {
		const table = [...document.querySelectorAll("#tops details")].find((d) => d.querySelector("summary").textContent === text);
		return table && [...table.querySelectorAll("tbody tr")].map((row) => [...row.cells].map((cell) => cell.textContent));
	}, heading);
}

function groupedBy(rows, keyOf) {
	const groups = new Map();

	for (const row of rows)
		groups.set(keyOf(row), [...groups.get(keyOf(row)) || [], row]);
	return groups;
}

// Scheduling latencies: threads whose names differ in digits only, and that one thread made, are one row.
async function latenciesAre(page, trace, t) {
	const rows = sql(trace, "SELECT thread, latency_ns FROM sched_latency"), seen = await topRows(page, "Could run, had no proc");
	const groups = groupedBy(rows, ({thread}) => `${t.thread.get(thread).creator} ${(t.thread.get(thread).name || "").replace(/\d+/g, "#")}`);
	const wanted = [...groups.values()].map((group) => {
		const ns = group.map((row) => row.latency_ns).sort((a, b) => a - b), total = ns.reduce((a, b) => a + b, 0);
		const others = new Set(group.map((row) => row.thread)).size - 1;
		return {total, others, cells: [ns.length.toLocaleString("en-US"), short(total), short(ns[Math.ceil(ns.length * 0.99) - 1]), short(ns.at(-1))]};
	}).filter(({total}) => total > 0).sort((a, b) => b.total - a.total).slice(0, 8);

	same((seen || []).map((cells) => cells.slice(1)), wanted.map(({cells}) => cells), `${trace}: who had no proc, as SQL has it`);
	same((seen || []).map(([name]) => Number(/ and (\d+) others?$/.exec(name)?.[1] || 0)), wanted.map(({others}) => others), `${trace}: of how many threads`);
	return wanted.length;
}

const waitClasses = {locks: /^(mutex|cond_mutex|rwlock_read|rwlock_write|spin|once|flock|futex_lock)$/};

// Threads' time under each label, and how much of it they waited: each moment once.
async function labelsAre(page, trace, t) {
	const sets = groupedBy(sql(trace, "SELECT labels, key || '=' || value AS label FROM labels"), (row) => row.labels), sums = new Map();
	const [{begin, end}] = sql(trace, "SELECT (SELECT value FROM trace_info WHERE key = 'trace_start_ns') AS begin, " +
		"(SELECT value FROM trace_info WHERE key = 'trace_end_ns') AS end");
	const add = (set, key, ns) => {
		for (const {label} of sets.get(set) || []) {
			const sum = sums.get(label) || {time: 0, locks: 0, others: 0};
			sum[key] += ns;
			sums.set(label, sum);
		}
	};
	const classOf = ({reason}) => waitClasses.locks.test(reason) ? "locks" : "others", until = (row) => row.end_ns ?? end, open = new Map();

	for (const span of sql(trace, "SELECT * FROM label_spans WHERE labels IS NOT NULL")) {
		const {start_ns: from, end_ns: to} = t.thread.get(span.thread);
		add(span.labels, "time", Math.max(0, Math.min(until(span), to ?? end) - Math.max(span.start_ns ?? begin, from ?? begin)));
	}
	for (const park of t.parks.toSorted((a, b) => a.start_ns - b.start_ns || a.id - b.id)) {
		const around = (open.get(park.thread) || []).filter((outer) => until(outer) > park.start_ns), outer = around.at(-1);
		open.set(park.thread, [...around, park]);
		add(park.labels, classOf(park), until(park) - park.start_ns);
		if (outer)
			add(outer.labels, classOf(outer), -(Math.min(until(park), until(outer)) - park.start_ns));
	}
	const wanted = [...sums].filter(([, {time}]) => time > 0).map(([label, {time, locks, others}]) => [label, short(time), short(Math.max(0, time - locks - others)),
		locks > 0 ? short(locks) : "", others > 0 ? short(others) : ""]);
	same((await topRows(page, "By label") || []).map((cells) => cells.join()).sort(), wanted.map((cells) => cells.join()).sort(), `${trace}: time by label, as SQL has it`);
	return wanted.length;
}

// Sampled allocations by place.
async function memoryIs(page, trace) {
	const [{half}] = sql(trace, "SELECT (SELECT value FROM trace_info WHERE key = 'trace_start_ns') / 2 + " +
		"(SELECT value FROM trace_info WHERE key = 'trace_end_ns') / 2 AS half"), bytes = "bytes * objects";
	const live = "state = 'live'", then = `ts_ns <= ${half} AND (${live} OR freed_ns > ${half})`;
	const places = groupedBy(sql(trace, `SELECT chain(stack) AS place, sum(iif(${live}, ${bytes}, 0)) AS inuse, ` +
		`sum(iif(${live}, ${bytes}, 0) - iif(${then}, ${bytes}, 0)) AS growth, sum(${bytes}) AS allocated FROM allocs GROUP BY 1`),
	({place}) => place.replace(/ \S*:\d+(?= < |$)/g, "")), sum = (list, key) => list.reduce((all, row) => all + row[key], 0); // without lines
	const rows = [...places].map(([place, list]) => ({place, inuse: sum(list, "inuse"), growth: sum(list, "growth"), allocated: sum(list, "allocated")}))
		.sort((a, b) => b.inuse - a.inuse || b.allocated - a.allocated);
	const amount = (text) => {
		const [, sign, number, unit] = /^([+−]?)([\d.]+) (\w+)( ±.*)?$/.exec(text) || [null, "", "0", "byte"];
		return (sign === "−" ? -1 : 1) * Number(number) * {byte: 1, bytes: 1, kB: 1e3, MB: 1e6, GB: 1e9}[unit];
	};
	const near = (text, ns) => Math.abs(amount(text) - ns) <= 0.01 * Math.abs(ns) + 500; // three digits, and rounded samples
	const seen = await topRows(page, "Memory") || [];

	same(seen.length, Math.min(10, rows.length), `${trace}: places that allocate`);
	for (const [i, [place, inUse, growth, allocated]] of seen.entries())
		check(rows[i].place.startsWith(place) && near(inUse, rows[i].inuse) && near(growth, rows[i].growth) && near(allocated, rows[i].allocated),
			`${trace}: memory of ${rows[i].place} is ${rows[i].inuse}, ${rows[i].growth}, ${rows[i].allocated}`, seen[i]);
	return seen.length;
}

// Headings of the page's tables, and where the report tells the same.
const headings = [[/^Where it ran \(/, /^(CPU time|Samples of) /m], [/^Memory$/, /^Memory /m], [/^(Waiting for .*)$/, null], [/^Who made others wait$/, /^Critical sections /m],
	[/^(Longest single waits, for .*)$/, null], [/^Could run, had no proc$/, /^Scheduling latency /m], [/^Fibers/, /^Fibers/m],
	[/^By label$/, /^Labels /m]];

// The tables are in the report's order.  What is idle comes after what may be a problem, and is folded.  Where in the program is two functions
// or more: "a < b".
async function inReportsOrder(page, trace, report) {
	const seen = await page.evaluate(() => [...document.querySelectorAll("#tops details")].map((d) => [d.querySelector("summary").textContent, d.open]));
	const places = seen.map(([heading]) => {
		const [own, its] = headings.find(([pattern]) => pattern.test(heading)) || [];
		return own ? [heading, report.search(its || new RegExp(`^${heading}( |$)`, "m"))] : null;
	}).filter((place) => place && place[1] >= 0);

	same(places.map(([heading]) => heading), places.toSorted((a, b) => a[1] - b[1]).map(([heading]) => heading), `${trace}: tables in the report's order`);
	const waits = seen.filter(([heading]) => heading.startsWith("Waiting for ")), idle = waits.findIndex(([heading]) => /requests, timers/.test(heading));
	check(idle < 0 || (idle === waits.length - 1 && !waits[idle][1]), `${trace}: idle waits come last, and are folded`, waits);
	check(waits.every(([, open], i) => i === idle || open), `${trace}: other waits are not`, waits);
	return {tables: places.length, idle};
}

// Where threads waited, as SQL has it: "a file.c:12 < b < c" of the program's own functions.
async function placesAre(page, trace, heading, reasons) {
	const seen = (await topRows(page, heading) || []).map(([cell]) => cell), own = sql(trace, `SELECT DISTINCT chain(stack) AS chain FROM parks WHERE reason IN (${
		reasons.map((reason) => `'${reason}'`).join()}) AND stack IS NOT NULL`).map(({chain}) => chain.split(" < ").slice(0, 3)
		.map((place, i) => i ? place.replace(/ \S*:\d+$/, "") : place).join(" < "));

	check(seen.length > 0 && seen.every((cell) => own.some((place) => cell.includes(place))), `${trace}: ${heading}: places as SQL has them`, [seen, own]);
	check(seen.some((cell) => cell.includes(" < ")), `${trace}: ${heading}: two functions a row`, seen);
}

// With names as real programs have them the tables can be read, and threads are in sight.
async function readable(page, file) {
	const seen = await page.evaluate(() => {
		const side = document.getElementById("side"), canvases = document.getElementById("canvases");
		// The first thread's lane, or the line that all threads are folded into.
		const idx = window.trc.shownThreads()[0], fold = document.querySelector(".label.group:not([hidden]) .open[title*=' thread']");
		const y = idx === undefined ? fold.getBoundingClientRect().y : window.trc.pointOf(idx, 0).y, lines = [...document.querySelectorAll("#tops tr")]
			.map((tr) => tr.getBoundingClientRect().height / Math.max(1, tr.querySelectorAll(".line").length / 2));
		// Of a type more than 28 tasks at once, as on a busy machine, take 3 pixels each beyond what lanes have else.
		const crowd = [...document.querySelectorAll(".label.annotation")].reduce((sum, label) => sum + Math.max(0, label.getBoundingClientRect().height - 88), 0);
		return {cut: side.scrollWidth - side.clientWidth, highest: Math.max(0, ...lines), crowd,
			first: y - canvases.getBoundingClientRect().top};
	});

	check(seen.cut <= 0 && seen.highest < 60, `${file}: no table is cut, or a letter wide`, seen);
	check(seen.first - seen.crowd < 350, `${file}: threads are in sight`, seen);
	if (/folded\.html$/.test(file))
		same(await page.evaluate(() => window.trc.shownThreads()), [], `${file}: all threads are folded`);
}

async function threadShown(page, t) {
	const row = one(t.threads), what = `thread ${row.id}`;
	const idx = await page.evaluate((serial) => window.trc.threads().findIndex((o) => o.serial === serial), row.id);
	const told = await tell(page, "thread", idx + 1);

	same(told.title, threadName(t, row.id), what);
	same(told.facts["Thread id"], String(row.tid), `${what}: its id`);
	starts(told, "Started", row.start_ns === null ? "before the trace" : exact(row.start_ns), what);
	starts(told, "Ended", row.end_ns === null ? "not before" : exact(row.end_ns), what);
	same(told.facts.Waits, row.parks.toLocaleString("en-US"), `${what}: its waits`);
	same(told.facts["Created by"], row.creator ? threadName(t, row.creator) : undefined, `${what}: its creator`);
	stackIs(t, told, "Created at", row.creator_stack, what);
}

// The locks of busy_program, as the report tells them; what is found by their names are their waits.
async function locksNamed(page, trace, t) {
	const report = execFileSync(analyze, [trace], {encoding: "utf8", stdio: ["ignore", "pipe", "ignore"]});

	// What cost little may be among the others of the report; the table has all.
	const inReport = new Set(report.match(/(?<=mutex )busy_[\w.]+/g));
	const names = sql(trace, "SELECT DISTINCT name FROM locks WHERE name LIKE 'busy%' ORDER BY 1").map((row) => row.name);

	same(names, ["busy_lock", "busy_table.lock"], `${trace}: the table's locks`);
	check(inReport.size > 0 && [...inReport].every((name) => names.includes(name)), `${trace}: the report's locks`, [...inReport]);
	for (const name of names) {
		const waits = await page.evaluate((query) => {
			const box = document.getElementById("search"), found = [];
			box.value = query;
			box.dispatchEvent(new KeyboardEvent("keydown", {key: "Enter"}));
			for (let i = 0; i < window.trc.matches; i++) {
				const told = window.trc.told();
				if (told.facts.SQL?.includes("parks"))
					found.push(told.facts);
				document.getElementById("search-next").click();
			}
			return found;
		}, name);
		const objects = new Set(waits.map((facts) => facts.Object.split(" (")[1].slice(0, -1)));
		same([...new Set(waits.map((facts) => facts.Object.split(" ")[0]))], [name], "what is found has that name");
		same(waits.length, t.parks.filter((p) => objects.has(`0x${p.object.toString(16)}`)).length,
			`${name}: all its waits are found`);
		check(await page.evaluate((n) => document.getElementById("tops").innerText.includes(`mutex ${n}`), name),
			`${name} is in the tables`);
		const counted = await page.evaluate((n) => [...document.querySelectorAll("#tops details")]
			.filter((d) => d.querySelector("summary").textContent === "Waiting for locks")
			.flatMap((d) => [...d.querySelectorAll("tbody tr")])
			.filter((r) => r.cells[0].querySelector(".line").textContent.endsWith(`mutex ${n}`))
			.map((r) => Number(r.cells[1].textContent.replace(/,/g, ""))), name);
		same(counted, [t.parks.filter((p) => /mutex$/.test(p.reason) && objects.has(`0x${p.object.toString(16)}`)).length],
			`${name} is one row, wherever it is waited for`);
	}
}

// The report's findings in its order, each a list of its sentence, its why and what helps: what is wrong,
// then the lost events of its head.
function findingsOf(report) {
	const section = /^Findings\n((?: +.*\n)+)/m.exec(report), found = [];

	for (const line of section ? section[1].trimEnd().replace(/\n {6}/g, " ").split("\n") : [])
		if (line.startsWith("    "))
			found.at(-1).push(line.trim());
		else
			found.push([line.trim()]);
	return [...found, ...(report.split("\n\n")[0].match(/^lost: .* between .*/mg) || []).map((line) => [line])];
}

// The page says what the report says; a click on a sentence selects what it is about, and shows it.
async function findingsLead(page, trace, report) {
	const items = page.locator("#details .findings li"), n = await items.count();
	const found = await page.evaluate(() => JSON.parse(document.getElementById("head").textContent).findings);

	// Crashes and deadlocks have sections of their own in the report.
	const shown = await items.evaluateAll((list) => list.map((item) => [...item.children]
		.filter((part) => !part.matches(".about")).map((part) => part.textContent)));
	same(shown.filter((parts, i) => !["crash", "deadlock", "killed"].includes(found[i].kind)), findingsOf(report), `${trace}: the report's findings`);
	for (let i = 0; i < n; i++) {
		const f = found[i], what = `${trace}: ${f.text}`;

		if (f.start === undefined) {
			same(await items.nth(i).locator("button.said").count(), 0, `${what}: leads nowhere`);
			continue;
		}
		await items.nth(i).locator("button.said").click();
		const {view, selection, range, told} = await page.evaluate(() => ({view: window.trc.view,
			selection: window.trc.selection, range: window.trc.range, told: window.trc.told()}));
		same(selection?.kind ?? "range", f.kind === "crash" ? "mark" : f.park ? "park" : "range", `${what}: what is selected`);
		if (f.park)
			same(selection?.id, f.park, `${what}: which wait`);
		if (range)
			check(range.t0 === f.start && range.t1 >= f.end, `${what}: its range`, range);
		check(view.t0 <= f.start && f.end <= view.t1, `${what}: it is seen`, view);
		check(told.title !== "Findings", `${what}: its details are told`, told.title);
		await page.keyboard.press("Escape");
		same(await items.count(), n, `${what}: and back`);
	}
	await page.evaluate(() => window.trc.setView(0, window.trc.span));
}

// What the report leads with is what the page leads with, while nothing is selected.
async function leads(page, trace, t) {
	const report = execFileSync(analyze, [trace], {encoding: "utf8", stdio: ["ignore", "pipe", "ignore"]});
	const ended = sql(trace, "SELECT value FROM trace_info WHERE key = 'ended'")[0]?.value || "";
	const fatal = sql(trace, "SELECT * FROM event_signal WHERE fatal = 1");
	const told = await page.evaluate(() => window.trc.told());
	const banners = await page.evaluate(() => document.getElementById("banners").innerText);

	const {tables, idle} = await inReportsOrder(page, trace, report);
	if (/\/busy\.trc$/.test(trace)) {
		check(tables > 4 && idle > 0, `${trace}: there are tables, idle waits among them`, [tables, idle]);
		await placesAre(page, trace, "Waiting for locks", ["mutex", "cond_mutex"]);
	}
	check(report.includes("its end is missing") === banners.includes("end is missing"), `${trace}: whether it is whole`, banners);
	await findingsLead(page, trace, report);
	if (fatal.length) {
		const signal = /SIG\w+, \w+: [^(\n]+/.exec(report)[0].trim();
		const first = await page.locator("#details .findings li").first().textContent();
		check(first.startsWith(`CRASH: ${signal}`), `${trace}: the page leads with ${signal}`, first);
		check(banners.startsWith(`CRASH: ${signal}`), `${trace}: so do the banners`, banners);
		same(told.facts.Thread, threadName(t, fatal[0].thread), `${trace}: in which thread`);
		stackIs(t, told, "The thread was at", fatal[0].stack, `${trace}: the crash`);
		await page.evaluate(() => document.querySelector("#banners .alarm button").click());
		same((await page.evaluate(() => window.trc.selection)).kind, "mark", `${trace}: the banner leads there`);
		await page.evaluate(() => window.trc.select(null));
	} else if (ended.startsWith("killed by")) {
		const asked = /SIGTERM/.test(ended), said = page.locator("#details .findings .said");
		const one = asked ? said.last() : said.first();
		same(await one.textContent(), `${asked ? "ended" : "ENDED"}: ${ended}`, `${trace}: how it ended is told`);
		same(banners.includes("ENDED"), !asked, `${trace}: above the timeline, if nobody asked for it`);
		const red = await page.evaluate(() => document.querySelectorAll("#banners .alarm, .findings .alarm").length);
		same(red, 0, `${trace}: red is for a crash`);
	} else if (/^ {2}nothing stands out/m.test(report)) {
		check(told.title === "Findings", `${trace}: all went well`, told.title);
	}
}

// Where every acquire is recorded, waits for locks have wakers as they have without: whoever gave the lock back.
async function wakersAreKnown(page, trace, t) {
	const waits = t.parks.filter((p) => /mutex$/.test(p.reason) && p.end_ns !== null), known = waits.filter((p) => p.waker_thread !== null);

	check(sql(trace, "SELECT count(*) AS n FROM events WHERE kind = 'acquire'")[0].n > waits.length, `${trace}: acquires are recorded`);
	check(waits.length > 20 && known.length >= 0.9 * waits.length, `${trace}: who ended waits for locks`, [waits.length, known.length]);
	const longest = known.reduce((a, b) => b.waited_ns > a.waited_ns ? b : a);
	await page.evaluate((text) => { location.hash = text; }, `#sel=park:${longest.id}`);
	await page.waitForFunction((id) => window.trc.told().facts.SQL?.endsWith(`=${id}`), longest.id);
	check(await page.evaluate(() => window.trc.redraw() || window.trc.arrows) > 0, `${trace}: an arrow leads from who ended a wait`);
}

// The page counts threads as the report does: the first thread once, whichever programs it executed.
async function threadsCounted(page, trace) {
	const report = execFileSync(analyze, [trace], {encoding: "utf8", stdio: ["ignore", "pipe", "ignore"]}), facts = await page.locator("#facts").textContent();
	const [, said] = /^([\d,]+ threads?(?: \(and [\d,]+ of the programs before it\))?), /m.exec(report);

	same(facts.split(" · ")[1], said, `${trace}: threads in the head`);
}

// ---- a trace ----

async function comparePage(context, trace, file) {
	const page = await openPage(context, file), t = tellBySql(trace);
	const span = await page.evaluate(() => window.trc.span);
	const kinds = [[t.parks, parkShown], [t.threads, anyTime], [t.regions, regionShown], [t.tasks, taskShown],
		[t.logs, logShown], [t.unlocks, unlockShown], [t.threads, threadShown], [t.fiberRuns, fiberRunShown]]
		.filter(([rows]) => rows.length).map(([, show]) => show);
	const counts = await page.evaluate(() => window.trc.counts);

	same([counts.regions, counts.tasks, counts.logs, await page.evaluate(() => window.trc.counterTracks)], [t.regions.length, t.tasks.length,
		t.logs.length, new Set(t.counters.map((c) => c.name)).size + Number(sql(trace, "SELECT 1 FROM allocs LIMIT 1").length)], `${file}: regions, tasks, logs, counters`);
	await threadsCounted(page, trace);
	await leads(page, trace, t);
	await sectionsCounted(page, trace);
	const rowsOfTables = [await latenciesAre(page, trace, t), await labelsAre(page, trace, t), await memoryIs(page, trace)];
	if (/labelled/.test(file))
		check(rowsOfTables[1] > 1 && rowsOfTables[2] > 0 && (rowsOfTables[0] > 0 || !t.on_cpu.length), `${file}: there are such rows`, rowsOfTables);
	await readable(page, file);
	t.own = /busy|crashed|all_locks/.test(file);
	if (t.own)
		await locksNamed(page, trace, t);
	if (/all_locks/.test(file))
		await wakersAreKnown(page, trace, t);
	const rows = /cut|labelled/.test(file) ? 0 : /busy|pigz|execs|redis|memcached/.test(file) ? ROWS : ROWS / 10;
	await unfoldThreads(page, t.threads.length, file);
	for (let i = 0; i < rows; i++)
		await kinds[i % kinds.length](page, t, span);
	same(page.troubles, [], `${file}: no errors`);
	await page.close();
}

console.log(`seed ${seed}`);
await withBrowser("light", async (context) => {
	for (let i = 0; i + 1 < files.length; i += 2)
		await comparePage(context, files[i], files[i + 1]);
});
console.log(`${results.passed} passed, ${results.failed} failed; TRC_SEED=${seed} repeats it`);
process.exit(results.failed ? 1 : 0);
