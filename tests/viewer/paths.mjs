// paths.mjs ANALYZER PAGES - critical paths of tasks in the pages that paths.sh made: those of --critical-path, drawn across threads,
// with a way back to the task; and why waits lasted, as --why has it.

import {execFileSync} from "node:child_process";
import path from "node:path";
import * as analyzer from "./analyzer.mjs";
import {check, detailsOf, openPage, results, same, settle, viewOf, withBrowser} from "./browser_lib.mjs";

const [analyze, pages] = process.argv.slice(2);
const PIECES_SHOWN = 50; // of the report; of the page's details a dozen at first
const PATHS_OF_TYPE = 100;
const UNNAMED = / \(?0x[0-9a-f]+\)?/; // what has no name: the page leaves its address out

// Words as both have them: without the ids of threads, and without addresses.  Shares are compared apart.
const plain = (words) => words.replace(/ \(\d+\)/g, "").replace(UNNAMED, "").replace(/[\d.]+ ?% of it/, "# of it");
const shareIn = (words) => Number(/([\d.]+) ?% of it/.exec(words)?.[1] ?? NaN);

function sameWords(told, wanted, what) {
	same(told.map(plain), wanted.map(plain), what);
	wanted.forEach((words, i) => {
		const share = shareIn(words);
		check(Number.isNaN(share) || Math.abs(shareIn(told[i] || "") - share) <= 1, `${what}: ${words}`, told[i]);
	});
}

const traceOf = (trace) => path.join(pages, `${trace}.trc`);
const sql = (trace, query) => analyzer.rowsOf(analyze, traceOf(trace), query);
const sum = (list) => list.reduce((all, one) => all + one, 0);

// As the report tells it: {ns, after, words, place} of each piece.
function reported(trace, id) {
	const told = execFileSync(analyze, ["--critical-path", `task:${id}`, traceOf(trace)]).toString();
	const pieces = [];

	for (const line of told.slice(told.indexOf("Critical path of")).split("\n\n")[0].split("\n").slice(2)) {
		const [, after, length, words] = /^ +([\d.]+ \S+) +([\d.]+ \S+) +[\d.]+% +(\S.*)$/.exec(line) || [];
		if (words)
			pieces.push({after, length, words, place: ""});
		else
			pieces[pieces.length - 1].place = line.trim();
	}
	return pieces;
}

// A length as the report writes it: three digits, cut where the page rounds.
function isLength(ns, told) {
	const [number, unit] = told.split(" "), scale = {s: 1e9, ms: 1e6, "µs": 1e3, us: 1e3, ns: 1}[unit];

	return Math.abs(ns / scale - Number(number)) <= Math.max(Number(number) * 0.006, 0.006);
}

// The page's functions of a place, as the report names them with files and lines.
const functionsOf = (place) => place.replace(/^up to /, "").split(" < ").map((each) => each.trim().split(" ")[0]);

// Pieces that are told in the same words follow each other where the page tells more stacks apart.
function joined(pieces) {
	const list = [];

	for (const piece of pieces) {
		const last = list[list.length - 1];
		if (last && plain(last.words) === plain(piece.words) && last.place === piece.place)
			last.until = piece.until;
		else
			list.push({...piece});
	}
	return list;
}

async function choose(page, id) {
	await page.evaluate((task) => { location.hash = `#sel=task:${task}`; }, id);
	await page.waitForFunction((task) => window.trc.address().includes(`sel=task:${task}&`) || window.trc.address().endsWith(`sel=task:${task}`), id);
	await settle(page);
	return page.evaluate(() => window.trc.path());
}

// What stands before the pieces: those in the same words, summed, the most first.
function summaryIs(sums, pieces, what) {
	const wanted = new Map();

	for (const {words, from, until} of pieces)
		wanted.set(words, (wanted.get(words) || 0) + until - from);
	same(sums.map(({words, ns}) => [words, ns]).sort(), [...wanted].sort(), `${what}: the summary has the time of each cause`);
	same(sums.map(({ns}) => ns), [...wanted.values()].sort((a, b) => b - a), `${what}: the most first`);
}

async function pathIs(page, trace, {id, from, duration_ns: ns}) {
	const what = `${trace}: task ${id}`, {pieces, drawn} = await choose(page, id), wanted = reported(trace, id);
	const told = joined(pieces.map((piece) => ({...piece, words: piece.words + piece.instead})));

	same(sum(pieces.map((piece) => piece.until - piece.from)), ns, `${what}: its pieces add up to its duration`);
	summaryIs(await page.evaluate(() => window.trc.path().sums), pieces, what);
	same(pieces.map((piece, i) => piece.from - (i ? pieces[i - 1].until : from)).filter((gap) => gap), [], `${what}: without a hole`);
	check(drawn > 0, `${what}: it is drawn`, drawn);
	if (wanted.length > PIECES_SHOWN || wanted.some(({words}) => /shorter piece/.test(words)))
		return 0;
	sameWords(told.map(({words}) => words), joined(wanted).map(({words}) => words), `${what}: in the words of the report`);
	for (const [i, piece] of joined(wanted).entries()) {
		check(isLength(told[i].from - from, piece.after), `${what}: piece ${i} begins after ${piece.after}`, told[i]);
		same(functionsOf(told[i].place)[0], functionsOf(piece.place)[0], `${what}: piece ${i} is at the same place`);
	}
	return 1;
}

async function pathsAre(page, trace) {
	const tasks = sql(trace, "SELECT CAST(id AS TEXT) AS id, type, start_ns - (SELECT value FROM trace_info WHERE key = 'trace_start_ns') AS \"from\", " +
		"duration_ns FROM tasks WHERE duration_ns > 0 ORDER BY duration_ns DESC");
	const types = new Map();
	let compared = 0;

	for (const task of tasks)
		types.set(task.type, [...types.get(task.type) || [], task]);
	for (const all of [...types.values()].slice(0, 4))
		for (const at of [0, 1, 7, 50, PATHS_OF_TYPE - 1])
			compared += all[at] ? await pathIs(page, trace, all[at]) : 0;
	for (const all of types.values()) // of a busy machine the slowest may all have more pieces than are told
		for (let at = 2; !compared && at < Math.min(all.length, PATHS_OF_TYPE); at++)
			compared += await pathIs(page, trace, all[at]);
	return {tasks: [...types.values()][0], compared};
}

// A task beyond the slowest says how its path is found.
async function othersSayHow(page, trace, tasks) {
	check(tasks.length > PATHS_OF_TYPE + 10, "a type with many tasks", tasks.length);
	const {id} = tasks[tasks.length - 1], {pieces, drawn} = await choose(page, id);

	same([pieces, drawn], [[], 0], "the fastest has no path in the page");
	check((await detailsOf(page)).includes(`trace-analyze --critical-path task:${id} ${trace}.trc`), "but a command that has it, with the trace's name", await detailsOf(page));
}

// From the path to its longest piece, and back.
async function leadsThere(page, task) {
	const {pieces} = await choose(page, task.id);
	const longest = [...pieces].sort((a, b) => b.until - b.from - a.until + a.from)[0];
	const rows = page.locator("#details .pieces").locator("tbody tr"), shown = await rows.count();

	check(shown > 2 && shown <= 26, "the details list the longest pieces", shown);
	const parts = await page.evaluate(() => [...document.querySelectorAll("#details .sums, #details .pieces")].map((part) => [part.className,
		[...part.querySelectorAll(".places")].map((place) => place.textContent)]));
	same(parts.map(([name]) => name), ["path sums", "path pieces"], "what it comes down to stands before the pieces");
	check(parts.every(([, places]) => places.some((place) => /^(up to )?\w+ trc-demo\.c:\d+( < \w+ trc-demo\.c:\d+)?$/.test(place))),
		"both say the functions' files and lines", parts);
	if (await page.locator("#details .more").count()) {
		/* What is left out is summed in rows, too: each may be of one piece. */
		const pieces = page.locator("#details .pieces").locator("tbody tr:not(.dim)"), told = await pieces.count();
		await page.locator("#details .more").first().click();
		check(await pieces.count() > told, "and more when asked", await pieces.count());
	}
	await page.locator("#details .pieces").getByText(longest.words + longest.instead, {exact: true}).first().click();
	await settle(page);
	const {selection, trail} = await page.evaluate(() => ({selection: window.trc.selection, trail: window.trc.trail}));
	check(["park", "iv"].includes(selection.kind), "a piece leads to what its thread did then", selection);
	same(trail.map(({kind}) => kind), ["task"], "which the task has led to");
	same((await page.evaluate(() => window.trc.path())).pieces.length, pieces.length, "the path stays");
	check((await page.locator("#trail button").first().innerText()).startsWith("task request"), "a breadcrumb leads back");
	await page.locator("#trail button").first().click();
	await settle(page);
	same((await page.evaluate(() => window.trc.selection)).kind, "task", "to the task");

	// By the pointer, from the drawn path.
	await page.evaluate(({from, until}) => window.trc.setView(from, until), longest);
	await settle(page);
	const idx = await page.evaluate((serial) => window.trc.threads().find((thread) => thread.serial === serial).idx, longest.thread);
	const at = await page.evaluate(([thread, time]) => window.trc.pointOf(thread, time), [idx, (longest.from + longest.until) / 2]);
	await page.mouse.click(at.x, at.y);
	await settle(page);
	same((await page.evaluate(() => window.trc.trail)).map(({kind}) => kind), ["task"], "a click on the path in the timeline keeps the way back");
	await page.keyboard.press("Backspace");
	await settle(page);
	same((await page.evaluate(() => window.trc.selection)).kind, "task", "Backspace leads back");
	await page.keyboard.press("Escape");
	await settle(page);
	same((await page.evaluate(() => window.trc.path())).drawn, 0, "without the task there is no path");
}

// Of a page of a part the path has what lies in it.
async function partIs(page) {
	const {t0, t1} = await viewOf(page), seen = [];

	for (const {id, start, end} of sql("demo", "SELECT CAST(id AS TEXT) AS id, start_ns - t.value AS start, end_ns - t.value AS \"end\" FROM tasks, trace_info t " +
		"WHERE t.key = 'trace_start_ns' AND duration_ns > 1000000")) {
		const from = Math.max(start, t0), until = Math.min(end, t1);
		if (from >= until || seen.length > 12 && start >= t0 && end <= t1)
			continue;
		const {pieces} = await choose(page, id);
		if (pieces.length)
			seen.push(start < t0 || end > t1);
		same(pieces.length ? [pieces[0].from, pieces[pieces.length - 1].until] : [from, until], [from, until], `part: task ${id} within the part`);
	}
	check(seen.length > 4, "part: paths were looked at", seen);
}

// ---- why waits lasted ----

// As --why tells it: {depth, length, words, place} of each line.
function whyReported(trace, id) {
	const told = execFileSync(analyze, ["--why", `wait:${id}`, traceOf(trace)]).toString(), lines = [];

	for (const line of told.slice(told.indexOf("\nWhy wait:") + 1).split("\n\n")[0].split("\n").slice(1)) {
		const [, length, indent, words] = /^ +([\d.]+ \S+) +[\d.]+%   ( *)(\S.*)$/.exec(line) || [];
		if (words)
			lines.push({depth: indent.length / 2, length, words, place: ""});
		else if (line.trim())
			lines[lines.length - 1].place = functionsOf(line.trim())[0];
	}
	return lines;
}

async function whyIs(page, trace, id) {
	await page.evaluate((park) => { location.hash = `#sel=park:${park}`; }, id);
	await page.waitForFunction((park) => window.trc.address().includes(`sel=park:${park}`), id);
	await settle(page);
	const lines = await page.evaluate(() => window.trc.why()), wanted = whyReported(trace, id), what = `${trace}: why wait ${id}`;

	same(lines.map(({depth}) => depth), wanted.map(({depth}) => depth), `${what}: the lines of the report`);
	sameWords(lines.map(({words}) => words), wanted.map(({words}) => words), `${what}: in its words`);
	for (const [i, line] of wanted.entries()) {
		check(lines[i] && isLength(lines[i].ns, line.length), `${what}: line ${i} is ${line.length}`, lines[i]);
		same(lines[i]?.place ? functionsOf(lines[i].place)[0] : "", line.place, `${what}: line ${i} is at the same place`);
	}
	return lines;
}

async function whysAre(page, trace) {
	const waits = sql(trace, "SELECT CAST(id AS TEXT) AS id FROM (SELECT id, waited_ns, row_number() OVER (PARTITION BY reason, stack ORDER BY waited_ns DESC) " +
		"AS k FROM parks WHERE reason IN ('mutex', 'cond', 'sem', 'join', 'barrier', 'rwlock_read') AND waited_ns > 0) WHERE k IN (1, 5, 40) " +
		"ORDER BY waited_ns DESC LIMIT 12");
	let deep = 0;

	check(waits.length > 3, `${trace}: waits were looked at`, waits.length);
	for (const {id} of waits)
		deep += (await whyIs(page, trace, id)).some(({depth}) => depth > 0);
	check(trace !== "demo" || deep > 2, `${trace}: some waited for who waited`, deep);
	return waits[0].id;
}

// Of each kind of cause, and of each way in which it is told.
async function allKinds(page) {
	const waits = sql("causes", "SELECT DISTINCT wait FROM causes WHERE wait IS NOT NULL"), told = [];

	for (const {wait} of sql("causes", "SELECT id AS wait FROM parks WHERE reason IN ('mutex', 'cond', 'sem', 'join', 'spin', 'futex') AND waited_ns > 0"))
		told.push(...await whyIs(page, "causes", wait));
	check(waits.length > 10, "causes: waits", waits.length);
	const kinds = sql("causes", "SELECT DISTINCT cause FROM causes WHERE wait > 0").map(({cause}) => cause);
	const missing = ["waiting", "running", "active", "preempted", "off_cpu", "lock_free", "waking", "sleeping", "io", "outside", "unwoken", "starting",
		"deadlock", "cycle", "events_lost", "unknown"].filter((kind) => !kinds.includes(kind));
	same(missing, [], "causes: all kinds but those of threads that have ended, and of chains that are too long");
	for (const words of [/who held it is not known: events were lost/, /for sem; who ended that is not known: events were lost/, /for sem; who ended that is not known$/,
		/for join late/, /for read fd 5/, /for recv 10.0.0.1:80 \(fd 7\)/, /for child 4711/, /for child of group 42/, /in write fd 5; eleven ran instead for 25 % of it/,
		/; eleven ran instead$/, /; the program's threads ran there for less than 1 % of it/, /; no thread of the program ran there/, /2 threads held the lock and/])
		check(told.some((line) => words.test(line.words)), `causes: ${words}`, told.map((line) => line.words));
}

// A line leads to what it tells of, and the way back to the wait; what belongs to the wait itself (it was woken, its lock was free) leads to the wait.
async function whyLeads(page, id) {
	await whyIs(page, "demo", id);
	const lines = page.locator("#details .why button.link"), n = await lines.count();
	let led = false;

	check(n > 1, "the details list the causes", n);
	for (let i = 0; i < n && !led; i++) {
		await lines.nth(i).click();
		await settle(page);
		const {selection, trail} = await page.evaluate(() => ({selection: window.trc.selection, trail: window.trc.trail}));
		check(["park", "iv"].includes(selection.kind), "a line leads to what a thread did then", selection);
		const isElsewhere = !(await page.evaluate((park) => window.trc.address().includes(`sel=park:${park}`), id));
		same(trail.map(({kind}) => kind), isElsewhere ? ["park"] : [], "from the wait");
		led ||= isElsewhere && i > 0;
		if (isElsewhere && !led)
			await whyIs(page, "demo", id);
	}
	check(led, "a line leads elsewhere", n);
}

// A short wait among many says how its causes are found.
async function whyMissing(page) {
	const {csv} = await page.evaluate(() => window.trc.sql("SELECT id FROM parks WHERE reason IN ('mutex', 'cond', 'sem') AND waited_ns > 0 AND " +
		"id NOT IN (SELECT wait FROM causes) LIMIT 1"));
	const id = csv.trim().split("\n")[1];

	if (!sql("demo", "SELECT 1 FROM parks WHERE reason IN ('mutex', 'cond', 'sem') AND waited_ns > 0 GROUP BY reason, stack HAVING count(*) > 100 LIMIT 1").length)
		return; // a machine that was too busy for so many
	check(id !== undefined, "some wait has no causes in the page", csv);
	await page.evaluate((park) => { location.hash = `#sel=park:${park}`; }, id);
	await settle(page);
	check((await detailsOf(page)).includes(`trace-analyze --why wait:${id} demo.trc`), "a command that has them", await detailsOf(page));
}

await withBrowser("light", async (context) => {
	let all = 0; // paths that were compared: on a busy machine a trace may have none that the report tells as a whole

	for (const trace of ["demo", "bare", "busy"]) {
		const page = await openPage(context, path.join(pages, `${trace}.html`));
		const {tasks, compared} = await pathsAre(page, trace);
		all += compared;
		const longest = await whysAre(page, trace);
		if (trace === "demo") {
			await whyLeads(page, longest);
			await whyMissing(page);
			await othersSayHow(page, trace, tasks);
			await leadsThere(page, tasks[0]);
		}
		same(page.troubles, [], `${trace}: no error, no warning, no request`);
		await page.close();
	}
	check(all > 0, "paths were compared", all);
	for (const [name, use] of [["part", partIs], ["causes", allKinds]]) {
		const page = await openPage(context, path.join(pages, `${name}.html`));
		await use(page);
		same(page.troubles, [], `${name}: no error`);
		await page.close();
	}
});
console.log(`paths.mjs: ${results.passed} passed, ${results.failed} failed`);
process.exit(results.failed ? 1 : 0);
