// window.mjs - pages of parts of traces: whether SQL, sums and states in them are those of the analyzer with the
// same options.
//
//   node window.mjs TRACE-ANALYZE DIRECTORY
//
// TRC_SEED repeats a run.

import {execFileSync, spawnSync} from "node:child_process";
import {statSync} from "node:fs";
import path from "node:path";
import * as analyzer from "./analyzer.mjs";
import {check, draw, openPage, results, same, seed, someOf, withBrowser} from "./browser_lib.mjs";
import {readPprof} from "./pprof.mjs";

const [analyze, directory] = process.argv.slice(2);
const pages = path.resolve(directory);

const told = {maxBuffer: 1 << 30, encoding: "utf8", stdio: ["ignore", "pipe", "ignore"]};

function csvOf(trace, query, options) {
	return analyzer.csvOf(analyze, trace, query, options);
}

function sql(trace, query, options) {
	return analyzer.rowsOf(analyze, trace, query, options);
}

function ask(page, query) {
	return page.evaluate((text) => window.trc.sql(text), query);
}

const OUTSIDE = "the others lie outside of the part of the trace that the page shows";

const columnsOf = new Map(); // of each table, as the first page that has it says

async function columnsAre(page, table) {
	if (!columnsOf.has(table))
		columnsOf.set(table, (await ask(page, `SELECT * FROM "${table}" LIMIT 0`)).csv.trim().split(","));
	return columnsOf.get(table);
}

// SQL has these of all tasks and regions, and the page of those that it has.  "+": in the order of the table, not of the ids.
const OWNED = {
	causes: "WHERE +wait IN (SELECT id FROM parks)",
	task_path: "WHERE +task IN (SELECT id FROM tasks)",
	task_spans: "WHERE +task IN (SELECT id FROM tasks)",
	task_times: "WHERE +task IN (SELECT id FROM tasks)",
	region_times: "WHERE +region IN (SELECT id FROM regions)",
};
// The page has these by the waits and tasks that it chose.
const OTHERWISE_ORDERED = ["causes", "task_path"];

// Of narrowed tables the page has the rows that SQL has with the same options: all in one query, as texts that are
// the same if the values are.  sql.mjs compares what single tables look like.
async function tablesAre(page, {trace, name, options}) {
	const {csv} = await ask(page, "SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name");
	const tables = csv.trim().split("\n").slice(1).filter((table) => table !== "page_missing");
	const lacking = (await ask(page, `SELECT table_name FROM page_missing WHERE why <> '${OUTSIDE}'`)).csv.trim().split("\n").slice(1);
	const whole = tables.filter((table) => !lacking.includes(table)), parts = [];

	// Versions of SQLite quote real numbers in different ways.  A view has its rowid beside its columns.
	const quoted = (column) => `iif(typeof("${column}") = 'real', printf('%!.15g', "${column}"), quote("${column}"))`;
	for (const table of whole) {
		const all = `SELECT '${table}' AS name, ${(await columnsAre(page, table)).map(quoted).join(" || ',' || ")} AS row FROM "${table}"`, owned = OWNED[table] ?? "";
		parts.push(OTHERWISE_ORDERED.includes(table) ? [`SELECT * FROM (${all} ORDER BY row)`, `SELECT * FROM (${all} ${owned} ORDER BY row)`] : [all, `${all} ${owned}`]);
	}
	const seen = await ask(page, parts.map(([all]) => all).join(" UNION ALL ")), ours = (seen.csv ?? seen.error).split("\n");
	const wanted = csvOf(trace, parts.map(([, narrowed]) => narrowed).join(" UNION ALL "), options).split("\n");
	const at = wanted.findIndex((line, i) => line !== ours[i]);

	check(at < 0 && ours.length === wanted.length, `${name}: line ${at + 1} of ${wanted.length} of all tables is ${wanted[at]}`, ours[at]);
	check(whole.length > 20, `${name}: tables are compared`, whole.length);
	for (const table of ["parks", "tasks", "logs", "samples"])
		check(!lacking.includes(table), `${name}: ${table} is there`);
	// Of the part, what is missing is counted, too.
	for (const [table, of] of [["causes", "parks"], ["task_path", "tasks"]]) {
		const [{n}] = sql(trace, `SELECT count(*) AS n FROM ${of}`, options), why = (await ask(page, "SELECT why FROM page_missing WHERE " +
			`table_name = '${table}' AND why LIKE '% are here: %'`)).csv.trim().split("\n")[1];
		const [, here, all] = /^"?the \w+ of (\d+) of (\d+) \w+ are here: /.exec(why ?? "") || [null, n, n];
		check(Number(all) === n && Number(here) <= n, `${name}: ${table}: of ${n} ${of}`, why);
	}
}

// How long threads were in waits for each reason, and were there at all: lanes against SQL.
async function statesAre(page, {trace, name, options, nested}) {
	const threads = await page.evaluate(() => window.trc.threads());
	const {begin, span} = await page.evaluate(() => ({begin: window.trc.begin, span: window.trc.span}));
	const waits = sql(trace, "SELECT thread, sum(waited_ns) AS ns FROM parks WHERE reason <> 'spin' GROUP BY thread", options);
	// A thread without a proc in a call that reads or writes is runnable meanwhile.
	const without = sql(trace, "SELECT thread, sum(latency_ns) AS ns FROM sched_latency WHERE kind = 'preempted' GROUP BY thread");
	const lives = sql(trace, "SELECT id, ns FROM selected WHERE kind = 'threads'", options);
	const reasons = sql(trace, "SELECT DISTINCT reason FROM parks").map((row) => row.reason);
	const shares = (names) => page.evaluate(([list, t0, t1]) => {
		window.trc.setView(t0, t1);
		return window.trc.threads().map((t) => Math.round(window.trc.share(t.idx, list) * (window.trc.view.t1 - window.trc.view.t0)));
	}, [names, begin, span]);
	const waited = await shares([...reasons.filter((r) => r !== "spin"), "woken"]);
	const lived = await shares([...reasons, "woken", "running", "runnable", "active", "off proc"]);

	for (const {idx, serial} of threads) {
		const there = lives.find((row) => row.id === serial)?.ns ?? 0;
		check(Math.abs(lived[idx] - there) <= 1, `${name}: thread ${serial} is there for ${there}`, lived[idx]);
		if (!nested) {
			const ns = waits.find((row) => row.thread === serial)?.ns ?? 0;
			const most = without.find((row) => row.thread === serial)?.ns ?? 0;
			check(waited[idx] <= ns + 1 && waited[idx] >= ns - most - 1, `${name}: thread ${serial} waits ${ns}, without a proc up to ${most}`, waited[idx]);
		}
	}
	const shown = await page.evaluate(() => window.trc.shownThreads().length);
	check(shown <= lives.length + 1, `${name}: threads that are left out have no track`, shown);
}

const kinds = {cpu: ["cpu", 1, {}], blame: ["blame", 0, {}], inuse: ["heap", 3, {}], alloc: ["allocs", 1, {}]};

// How long threads were in any wait between two times: a wait within a wait counts once.  Of tasks the traces have none.
function inWaits(trace, from, until, options) {
	if (options.includes("--task"))
		return sql(trace, "SELECT coalesce(sum(waited_ns), 0) AS ns FROM parks", options)[0].ns;
	const end = sql(trace, "SELECT value FROM trace_info WHERE key = 'trace_end_ns'")[0].value;
	const rows = sql(trace, `SELECT thread, max(start_ns, ${from}) AS start, min(coalesce(end_ns, ${end}), ${until}) AS end
		FROM parks ORDER BY thread, 2`, options);
	let sum = 0, thread = 0, at = 0;

	for (const row of rows) {
		at = row.thread === thread ? Math.max(at, row.start) : row.start;
		({thread} = row);
		sum += Math.max(0, row.end - at);
		at = Math.max(at, row.end);
	}
	return sum;
}

async function flameIs(page, {trace, name, options}, zero) {
	await page.keyboard.press("g");
	const {sum, begin, span} = await page.evaluate(async () => {
		await window.trc.flame.set("of=wait&idle=1");
		return {sum: window.trc.flame.result.sum, begin: window.trc.begin, span: window.trc.span};
	});
	const ns = inWaits(trace, zero + begin, zero + span, options);
	check(Math.abs(sum - ns) <= 1, `${name}: flame graph of waits is ${ns}`, sum);
	const profiles = analyzer.profilesOf(analyze, trace, Object.values(kinds).map(([profile]) => profile), options);
	for (const [kind, [profile, value, more]] of Object.entries(kinds)) {
		const state = new URLSearchParams({of: kind, ...more}).toString();
		const result = await page.evaluate(async (text) => {
			await window.trc.flame.set(text);
			return window.trc.flame.result;
		}, state);
		if (!profiles.has(profile))
			continue;
		const wanted = readPprof(profiles.get(profile), value).sum;
		check(Math.abs(result.sum - wanted) <= 200, `${name}: flame graph ${kind} is ${wanted}`, result.sum);
	}
}

// What the tab says of the waits for a lock, in sum and one by one, is what SQL says of the part.
async function locksAre(page, {trace, name, options}) {
	const locks = sql(trace, "SELECT kind, name, waits, waited_ns, wait_p50_ns, wait_p99_ns, wait_max_ns FROM locks", options);

	await page.evaluate(() => window.trc.locks.open());
	for (const [i, lock] of locks.slice(0, 4).entries()) {
		if (!lock.waits)
			continue;
		await page.locator("#panel-locks .locks-types tbody button").nth(i).click();
		const [holders, percentiles] = await page.evaluate(() => [window.trc.locks.holders(), window.trc.locks.percentiles()]);
		const sum = (column) => holders.reduce((all, row) => all + row[column], 0);
		same([sum(1), sum(2), ...percentiles], [lock.waits, lock.waited_ns, lock.wait_p50_ns, lock.wait_p99_ns, lock.wait_max_ns],
			`${name}: waits for ${lock.kind} ${lock.name}`);
	}
	return locks.filter((lock) => lock.waits).length;
}

// Below the table of waits for locks stands how many there are in all, also beyond the table's rows: as SQL counts them.
async function sumsAre(page, {trace, name, options}) {
	const [{n, ns}] = sql(trace, `SELECT count(*) AS n, coalesce(sum(waited_ns), 0) AS ns FROM parks WHERE reason IN ('mutex', 'cond_mutex', 'rwlock_read',
		'rwlock_write', 'spin', 'once', 'futex_lock', 'sem_lock')`, options);
	const seen = await page.evaluate(() => {
		const box = [...document.querySelectorAll("#tops details")].find((d) => d.querySelector("summary").textContent === "Waiting for locks");
		const waits = (row) => Number(row.cells[1].textContent.replaceAll(",", ""));

		return box && {all: waits(box.querySelector("tfoot tr")), said: box.querySelector("tfoot td").textContent,
			rows: [...box.querySelectorAll("tbody tr")].reduce((sum, row) => sum + waits(row), 0)};
	});

	same(seen ? seen.all : 0, ns ? n : 0, `${name}: waits for locks in all`);
	if (seen)
		same(seen.said, seen.rows < seen.all ? "all, also what has no row above" : "all", `${name}: whether the rows have all`);
	return seen ? seen.all - seen.rows : 0;
}

// A wait that reaches over an edge keeps its times, and the details say so.
async function edgesAre(page, {trace, name, options}, from, to, zero) {
	const over = sql(trace, `SELECT id, start_ns, end_ns FROM parks WHERE start_ns < ${zero + from} AND end_ns > ${zero + from}
		OR start_ns < ${zero + to} AND end_ns > ${zero + to} ORDER BY id`, options);

	for (const {id, start_ns, end_ns} of over.slice(0, 8)) {
		await page.evaluate((text) => { location.hash = text; }, `#sel=park:${id}`);
		await page.waitForFunction((wanted) => (window.trc.told().facts.SQL || "").endsWith(`=${wanted}`), id)
			.catch(() => check(false, `${name}: wait ${id} is selected`));
		const {facts} = await page.evaluate(() => window.trc.told());
		same([facts.Began.includes("before this page"), facts.Ended.includes("after this page")],
			[start_ns < zero + from, end_ns > zero + to], `${name}: wait ${id} says that it reaches beyond`);
	}
	return over.length;
}

async function pageIs(context, part, from, to) {
	const {trace, name, options, file} = part, page = await openPage(context, file);
	const zero = Number(sql(trace, "SELECT value FROM trace_info WHERE key = 'trace_start_ns'")[0].value);
	const banner = await page.locator("#banners p >> nth=0").innerText();

	check(banner.includes("shows a part of the trace"), `${name}: the first line says so`, banner);
	const {begin, span, view} = await page.evaluate(() => ({begin: window.trc.begin, span: window.trc.span, view: window.trc.view}));
	same([view.t0, view.t1], [begin, span], `${name}: the view is the part`);
	if (from !== null)
		same([begin, span], [from, to], `${name}: its edges`);
	await page.evaluate(() => window.trc.setView(0, 1e15));
	same(await page.evaluate(() => [window.trc.view.t0, window.trc.view.t1]), [begin, span], `${name}: there is nothing beyond`);
	await tablesAre(page, part);
	await statesAre(page, part);
	await flameIs(page, part, zero);
	await sumsAre(page, part);
	part.locks = await locksAre(page, part);
	if (from !== null)
		part.edges = await edgesAre(page, part, from, to, zero);
	await page.close();
	same(page.troubles, [], `${name}: no error, no warning, no request`);
}

function makePage(name, trace, options, more = {}) {
	const file = path.join(pages, `${name}.html`);

	execFileSync(analyze, [...options, "--html", file, trace], told);
	return {name, trace, options, file, ...more};
}

// Windows at random, the last of so many ends where the trace does; in a run with a seed `part` of them.
async function windowsAre(context, name, windows, part, more) {
	const trace = path.join(pages, `${name}.trc`);
	const info = Object.fromEntries(sql(trace, "SELECT key, value FROM trace_info").map((row) => [row.key, row.value]));
	const length = Number(info.trace_end_ns) - Number(info.trace_start_ns);
	let edges = 0, locks = 0;

	for (const i of someOf(Array(windows).keys(), part)) {
		const last = i === windows - 1;
		const from = draw(length * 0.8), to = last ? length : Math.min(length - 1, from + 1 + draw(length * 0.4));
		const page = makePage(`${name}${i}`, trace, ["--window", `${from}ns..${last ? "" : `${to}ns`}`], more);
		await pageIs(context, page, from, to);
		edges += page.edges;
		locks += page.locks;
	}
	if (name === "demo")
		check(locks > 0, "locks are waited for", locks);
	return edges;
}

async function threadsAre(context) {
	const trace = path.join(pages, "demo.trc");
	const part = makePage("threads", trace, ["--thread", "worker*", "--window", "300ms..900ms"]);
	const all = sql(trace, "SELECT name FROM threads"), workers = all.filter((row) => row.name.startsWith("worker"));
	const page = await openPage(context, part.file);
	const banner = await page.locator("#banners p >> nth=0").innerText();

	check(banner.includes(`${workers.length} of ${all.length} threads`), "threads that are left out are counted", banner);
	same(await page.evaluate(() => window.trc.shownThreads().length), workers.length, "the others have tracks");
	await page.close();
	await pageIs(context, part, 300e6, 900e6);
}

// What was done for tasks: the slowest of a type, one by its id, in a part of the time, and by threads that hand tasks on.
async function tasksAre(context) {
	const trace = path.join(pages, "demo.trc"), slowest = ["--slowest", "5%", "--task", "request"];
	const [{id}] = sql(trace, "SELECT id FROM tasks WHERE duration_ns IS NOT NULL ORDER BY duration_ns DESC LIMIT 1");
	const kinds = [["tasks", slowest, [null, null]], ["task", ["--task", String(id)], [null, null]],
		["tasks-part", [...slowest, "--window", "300000000ns..1500000000ns"], [300e6, 1500e6]],
		["tasks-threads", ["--task", "request", "--thread", "worker*"], [null, null]]];

	for (const [name, options, edges] of someOf(kinds, 2))
		await pageIs(context, makePage(name, trace, options), ...edges);
	const page = await openPage(context, makePage("tasks-said", trace, slowest).file, "#panel=flame");
	const banner = await page.locator("#banners p >> nth=0").innerText();
	const n = sql(trace, "SELECT count(*) AS n FROM tasks", slowest)[0].n;

	check(banner.includes("the slowest 5% of task request") && banner.includes(`(${n} of `), "the first line says which tasks", banner);
	// The flame graph asks for tasks among those: what lies in both.
	const {sum} = await page.evaluate(async (type) => {
		await window.trc.flame.set(`of=wait&idle=1&task=${type}`);
		return window.trc.flame.result;
	}, encodeURIComponent("request"));
	same(sum, inWaits(trace, 0, 0, slowest), "the flame graph of these tasks is that of the page");
	same(page.troubles, [], "tasks: no error, no warning, no request");
	await page.close();
}

// What was done under a label, of the whole trace and of a part of it.
async function labelsAre(context) {
	const trace = path.join(pages, "flame.trc"), filter = ["--label-filter", "tenant=acme"];
	const info = Object.fromEntries(sql(trace, "SELECT key, value FROM trace_info").map((row) => [row.key, row.value]));
	const length = Number(info.trace_end_ns) - Number(info.trace_start_ns), from = Math.floor(length * 0.3), to = Math.floor(length * 0.8);

	for (const [name, options, edges] of someOf([["labels", [], [null, null]],
		["labels-part", ["--window", `${from}ns..${to}ns`], [from, to]]], 1))
		await pageIs(context, makePage(name, trace, [...filter, ...options]), ...edges);
}

// A wait has the labels of its OpenTelemetry context in the page, too: in SQL, in its details, and for the flame graph.
async function contextsAre(context) {
	const trace = path.join(pages, "contexts.trc"), labels = sql(trace, "SELECT DISTINCT key, value FROM labels");
	const page = await openPage(context, makePage("contexts", trace, []).file, "#panel=flame");

	check(labels.length >= 4, "there are contexts", labels);
	for (const {key, value} of labels) {
		const {sum} = await page.evaluate(async (text) => {
			await window.trc.flame.set(text);
			return window.trc.flame.result;
		}, new URLSearchParams({of: "lock", label: `${key}=${value}`}).toString());
		const [{ns}] = sql(trace, "SELECT sum(waited_ns) AS ns FROM parks", ["--label-filter", `${key}=${value}`]);
		same(sum, ns, `flame graph of waits under ${key}=${value}`);
	}
	same((await ask(page, "SELECT id, labels FROM parks")).csv, csvOf(trace, "SELECT id, labels FROM parks", []), "sets of waits");
	await page.evaluate(() => { location.hash = "#sel=park:1"; });
	await page.waitForFunction(() => window.trc.told().facts.Labels);
	check((await page.evaluate(() => window.trc.told().facts.Labels)).includes("trace_id=0"), "the details have them");
	await page.close();
}

// How samples were taken stands below their table; above the timeline only what limits what they tell.
async function notesAre(context) {
	const page = await openPage(context, makePage("noted", path.join(pages, "noted.trc"), []).file);
	const banners = await page.locator("#banners").innerText(), [below] = await page.locator("#tops details > p").allInnerTexts();

	check(banners.includes("cpu-clock: user mode only: perf_event_paranoid is 2"), "a limit stands above the timeline", banners);
	check(!banners.includes("samples a second"), "the usual way to take samples does not", banners);
	same(below, "How samples were taken: user mode only: perf_event_paranoid is 2; counters for each thread's first 400 ms, then timers: at most 250 samples a second.",
		"both stand below the table");
	await page.close();
}

// A row for each thread, with what it waited for as SQL sums it up, most for locks first; a click leads to the thread.
async function threadsTold(context) {
	const trace = path.join(pages, "demo.trc"), page = await openPage(context, makePage("threads-told", trace, []).file);
	const box = page.locator("#tops details", {has: page.locator("summary", {hasText: /^Threads: which waited most/})});
	const ofLocks = "reason IN ('mutex', 'cond_mutex', 'rwlock_read', 'rwlock_write', 'spin', 'once', 'futex_lock', 'sem_lock')";
	const wanted = sql(trace, `SELECT tid, name, (SELECT coalesce(sum(waited_ns), 0) FROM parks WHERE thread = threads.id AND ${ofLocks}) AS ns FROM threads ORDER BY ns DESC, id`);
	const inMs = (text) => text && parseFloat(text) * ({s: 1000, ms: 1, µs: 1e-3, ns: 1e-6})[text.split(" ")[1]];

	check(!await box.evaluate((details) => details.open), "the table of threads is folded");
	await box.locator("summary").click();
	await box.locator("tbody tr").first().waitFor();
	const rows = await box.locator("tbody tr").evaluateAll((all) => all.map((row) => [row.querySelector(".line").title, row.cells[1].textContent]));
	same(rows.length, wanted.length, "each thread has a row");
	for (const [i, {tid, ns}] of wanted.filter((row) => row.ns > 0).entries()) {
		check(rows[i][0].includes(`thread id ${tid}:`), `row ${i} is of thread ${tid}`, rows[i]);
		check(Math.abs(inMs(rows[i][1]) * 1e6 - ns) <= 0.006 * ns, `it waited ${ns} for locks`, rows[i]);
	}
	const most = sql(trace, `SELECT object, sum(waited_ns) AS ns, count(*) AS n FROM parks WHERE thread = (SELECT id FROM threads WHERE tid = ${wanted[0].tid}) AND ${ofLocks} GROUP BY object ORDER BY ns DESC`)[0];
	const lines = await box.locator("tbody tr .line:nth-child(2)").evaluateAll((all) => all.map((one) => one.getClientRects()[0].height / parseFloat(getComputedStyle(one).fontSize)));
	check(lines.length > 1 && lines.every((height) => height < 2), "what a thread waited for longest stands in one line", lines);
	const line = await box.locator("tbody tr").first().locator(".line").nth(1).innerText();
	if (line.includes("mutex"))
		check(line.endsWith(` in ${most.n} wait${most.n === 1 ? "" : "s"}`) && Math.abs(inMs(line) * 1e6 - most.ns) <= 0.006 * most.ns, "what it waited for longest", [line, most]);
	await box.locator("tbody tr button").first().click();
	same((await page.evaluate(() => window.trc.told())).facts["Thread id"], String(wanted[0].tid), "a click selects the thread");
	for (const [order, valueOf] of [["lock", /^(0 ns|[\d.]+ (s|ms|µs|ns))$/], ["events", /^[\d,]+$/], ["name", /^$/], ["first", /^$/]]) {
		await page.locator("#sort").selectOption(order);
		const values = await page.locator("#labels .label:visible").evaluateAll((all) => all.filter((label) => / thread id |, thread id /.test(label.querySelector(".open").title))
			.map((label) => [label.querySelector(".value").hidden ? "" : label.querySelector(".value").textContent, label.querySelector(".open").title]));
		check(values.length > 2 && values.every(([value, title]) => valueOf.test(value) && (!value || title.includes(value))), `sorted by ${order}: beside each name stands by what`, values);
	}
	same(page.troubles, [], "threads: no error, no warning, no request");
	await page.close();
}

// A semaphore has no owner: its waits say so, and who posted it last, if that is known.
async function semaphoresAre(context) {
	const trace = path.join(pages, "semaphores.trc"), page = await openPage(context, makePage("semaphores", trace, []).file);
	const waits = sql(trace, "SELECT id, object, waker_thread, end_ns FROM parks ORDER BY id"), zero = sql(trace, "SELECT value FROM trace_info WHERE key = 'trace_start_ns'")[0].value;
	const [{waker, wake}] = sql(trace, `SELECT name AS waker, wake_ns - ${zero} AS wake FROM parks JOIN threads ON threads.id = waker_thread`);

	same(waits.map((row) => row.end_ns === null), [false, true, true], "one wait has ended");
	for (const {id, object, waker_thread} of waits) {
		await page.evaluate((text) => { location.hash = text; }, `#sel=park:${id}`);
		await page.waitForFunction((n) => window.trc.told().facts.SQL?.endsWith(`=${n}`), id);
		const {facts} = await page.evaluate(() => window.trc.told());
		same(facts.Holder, "none: a semaphore has no owner, any thread may post it", `wait ${id} for a semaphore: it has no owner`);
		same(facts["Posted last by"], waker_thread ? undefined : object === 0x100 ? `${waker} at 0.000 00${Math.floor(wake / 1000)} 000 s`
			: "not recorded: only posts that end a wait are", `wait ${id} for a semaphore: who posted it last`);
	}
	await page.keyboard.press("h");
	await page.waitForSelector("#panel-now:not([hidden])");
	check((await page.locator("#panel-now").innerText()).includes("2 threads wait for a semaphore: a semaphore has no owner"), "threads now: why there is no arrow");
	await page.keyboard.press("l");
	await page.waitForSelector("#panel-locks:not([hidden])");
	const note = await page.locator("#panel-locks").innerText(), all = await page.locator("#tops details", {hasText: "Waiting for other threads"}).locator("tfoot td").allInnerTexts();
	check(note.startsWith("No thread waited for a lock") && note.includes(`Not here: ${all[1]} waits for semaphores, ${all[2]} in all, the longest of them ${all[3]}.`),
		"locks: waits for semaphores are counted, as in the table of waits", [note, all]);
	await page.locator("#panel-locks .semaphores button").click();
	const [{longest}] = sql(trace, "SELECT id AS longest FROM parks ORDER BY waited_ns DESC LIMIT 1");
	await page.waitForFunction((n) => window.trc.told().facts.SQL?.endsWith(`=${n}`), longest);
	same(page.troubles, [], "semaphores: no error, no warning, no request");
	await page.close();
}

async function placesAre(context) {
	for (const [name, options, left] of [["places", [], 65], ["places-part", ["--window", "20150ns..245150ns"], 0]]) {
		const part = makePage(name, path.join(pages, "places.trc"), options), page = await openPage(context, part.file);
		check(await sumsAre(page, part) >= left, `${name}: waits are in no row`);
		same(page.troubles, [], `${name}: no error, no warning, no request`);
		await page.close();
	}
}

function refused(options, pattern, what) {
	const {status, stderr} = spawnSync(analyze, [...options, "--html", path.join(pages, "none.html"), path.join(pages, "demo.trc")],
		{encoding: "utf8"});

	check(status !== 0 && pattern.test(stderr) && stderr.trim().split("\n").length === 1, what, [status, stderr]);
}

function refusals() {
	refused(["--window", "5s..1s"], /ends before it begins/, "a window the wrong way round");
	refused(["--window", "900s.."], /the trace lasts/, "a window behind the trace");
	refused(["--thread", "nobody"], /no thread has this/, "a thread that is not there");
	refused(["--task", "nothing"], /no task has|has this id or type/, "tasks that are not there");
	refused(["--slowest", "1%"], /--task/, "the slowest of nothing");
}

// Less is in it, so that it is smaller; the SQL box has the same size in both.
function smaller() {
	const trace = path.join(pages, "demo.trc"), file = (name) => path.join(pages, `${name}.html`);

	execFileSync(analyze, ["--without-sql", "--html", file("whole"), trace], told);
	execFileSync(analyze, ["--without-sql", "--window", "300ms..350ms", "--html", file("small"), trace], told);
	check(statSync(file("small")).size < statSync(file("whole")).size, "a page of 50 ms is smaller");
}

console.log(`seed ${seed}`);
await withBrowser("light", async (context) => {
	refusals();
	smaller();
	const edges = await windowsAre(context, "demo", 3, 2);
	check(edges > 0, "some waits reach over an edge", edges);
	await windowsAre(context, "fibers", 2, 1);
	await windowsAre(context, "busy", 2, 1, {nested: true});
	await windowsAre(context, "cut", 2, 1, {nested: true}); // waits whose ends are lost last into later ones
	await threadsAre(context);
	await contextsAre(context);
	await placesAre(context);
	await notesAre(context);
	await semaphoresAre(context);
	await threadsTold(context);
	await labelsAre(context);
	await tasksAre(context);
	for (const [from, to] of someOf([[10000, 20000], [1, 29000], [2500, 17000]], 1))
		await pageIs(context, makePage(`nested${from}`, path.join(pages, "nested.trc"), ["--window", `${from}ns..${to}ns`], {nested: true}),
			from, to);
	const hostile = makePage("hostile", path.join(pages, "hostile.trc"), ["--window", "1ns.."], {nested: true});
	await pageIs(context, hostile, null, null);
});
console.log(`${results.passed} checks passed, ${results.failed} failed`);
process.exit(results.failed ? 1 : 0);
