// keys.mjs - the ten questions of docs/viewer.md, "A tour", by keys alone: no mouse, no call of the page's own functions but to read
// what is seen.  The answers are SQL's of the same traces.
//
//   node keys.mjs TRACE-ANALYZE DIRECTORY VIEWER.md

import {execFileSync} from "node:child_process";
import {readFileSync} from "node:fs";
import path from "node:path";
import {check, openPage, results, same, settle, withBrowser} from "./browser_lib.mjs";

const [analyze, directory, document_] = process.argv.slice(2);
const pages = path.resolve(directory);
const LOCKS = "('mutex', 'rwlock_read', 'rwlock_write', 'spin', 'cond_mutex')";
const ZERO = "(SELECT value FROM trace_info WHERE key = 'trace_start_ns')";

function sql(trace, query, ...options) {
	return JSON.parse(execFileSync(analyze, ["--output", "json", ...options, "--sql", query, `${pages}/${trace}.trc`],
		{maxBuffer: 1 << 30, encoding: "utf8", stdio: ["ignore", "pipe", "ignore"]}));
}

// ---- what a hand does, and what an eye sees ----

async function press(page, ...keys) {
	for (const key of keys)
		await page.keyboard.press(key);
	await settle(page);
}

async function type(page, string) {
	await page.keyboard.type(string);
	await settle(page);
}

// Presses a key until what has the focus is as wanted.
async function pressUntil(page, key, wanted, what) {
	for (let n = 0; n < 60; n++) {
		if (await page.evaluate(wanted))
			return;
		await press(page, key);
	}
	check(false, `${what}: ${key} leads there`, await page.evaluate(() => document.activeElement.outerHTML.slice(0, 200)));
}

function selection(page) {
	return page.evaluate(() => {
		const told = window.trc.told();
		return {...window.trc.selection, sql: Number(/WHERE id=(\d+)/.exec(told.facts.SQL || "")?.[1]), title: told.title, facts: told.facts,
			stacks: told.stacks};
	});
}

function flame(page) {
	return page.evaluate(async () => {
		await window.trc.flame.idle();
		return window.trc.flame.result;
	});
}

// To a kind of flame graph, in the picture.
async function flameOf(page, id) {
	await press(page, "g", "ArrowDown");
	for (let n = 0; n < 20 && (await flame(page)).kind !== id; n++)
		await press(page, "e");
	same((await flame(page)).kind, id, `E leads to the flame graph of ${id}`);
}

async function opened(context, trace, use) {
	const page = await openPage(context, `${pages}/${trace}.html`);

	await use(page);
	same(page.troubles, [], `${trace}: nothing went wrong`);
	await page.close();
}

// ---- the questions, by their numbers in the document ----

const questions = [
	["Which lock costs most?", "demo", async (page) => {
		const [lock] = sql("demo", "SELECT name, object, waits FROM locks ORDER BY waited_ns DESC LIMIT 1");
		const [wait] = sql("demo", `SELECT id, holder_thread FROM parks WHERE object = ${lock.object} AND reason IN ${LOCKS} ORDER BY waited_ns DESC LIMIT 1`);
		await press(page, "l", "ArrowDown");
		check((await page.evaluate(() => document.activeElement.textContent)).includes(lock.name), "L, down: the first row is the lock", lock);
		await press(page, "Enter");
		await pressUntil(page, "Tab", () => Boolean(document.activeElement.closest("ol.spans")), "the list of its waits");
		await press(page, "Enter");
		same((await selection(page)).sql, wait.id, "Enter in the list selects its longest wait");
	}],
	["Who caused the slowest request?", "program", async (page) => {
		const [slowest] = sql("program", "SELECT id FROM tasks WHERE type = 'request' ORDER BY duration_ns DESC LIMIT 1");
		const slow = ["--task", "request", "--slowest", "0.1"], [{waited}] = sql("program",
			`SELECT coalesce(sum(waited_ns), 0) AS waited FROM parks WHERE reason IN ${LOCKS}`, ...slow);
		await press(page, "t", "ArrowDown");
		await pressUntil(page, "Tab", () => Boolean(document.activeElement.closest("ol.spans")), "the list of requests");
		await press(page, "Enter");
		same((await selection(page)).sql, slowest.id, "T, Tab to the list, Enter selects the slowest request");
		await flameOf(page, "lock");
		await pressUntil(page, "Shift+Tab", () => document.activeElement.getAttribute("aria-label") === "Tasks", "the choice of tasks");
		await type(page, "req");
		await press(page, "Tab");
		await type(page, "0.1");
		same((await flame(page)).sum, waited, "what the slowest request waited for locks is SQL's");
		if (!waited)
			return; // another request took longer, for another reason: this machine had no time for it
		await pressUntil(page, "Tab", () => document.activeElement.getAttribute("role") === "application" &&
			Boolean(document.activeElement.closest(".flame")), "the picture");
		await pressUntil(page, "e", () => window.trc.flame.state().includes("of=blame"), "blame");
		await flame(page);
		await press(page, "Home", "v");
		await flame(page);
		await press(page, "ArrowDown", "v");
		await flame(page);
		await press(page, "n");
		const found = await selection(page), rows = sql("program", "SELECT id FROM parks", ...slow);
		same(found.kind, "park", "V and N lead to a wait");
		check(rows.some(({id}) => id === found.sql), "which is one that the slowest request had", found);
	}],
	["Where does the CPU time go?", "demo", async (page) => {
		const [most] = sql("demo", "SELECT f.function, sum(s.scaled_value) AS ns FROM samples AS s JOIN stack_frames AS sf ON sf.stack = s.stack AND sf.depth = 0 " +
			"JOIN frames AS f ON f.id = sf.frame " +
			"GROUP BY 1 ORDER BY 2 DESC LIMIT 1");
		await flameOf(page, "cpu");
		const {functions} = await flame(page), seen = functions.find((fn) => fn.name === most.function);
		same(seen && seen.self, most.ns, `CPU time of ${most.function} itself`);
		await press(page, "i");
		await flame(page);
		await press(page, "Home", "ArrowDown");
		for (let n = 0; n < 40 && await page.evaluate(() => window.trc.flame.current) !== most.function; n++)
			await press(page, "ArrowRight");
		await press(page, "Enter");
		same(await page.evaluate(() => window.trc.flame.focus), [most.function], "inverted, arrows, Enter: it has the full width");
	}],
	["Is a thread starved?", "program", async (page) => {
		const [most] = sql("program", "SELECT t.name, sum(latency_ns) AS ns FROM sched_latency AS s JOIN threads AS t ON t.id = s.thread " +
			"GROUP BY s.thread ORDER BY 2 DESC LIMIT 1");
		if (!most)
			return; // scheduling is not recorded here
		await press(page, "u");
		await pressUntil(page, "ArrowDown", () => document.activeElement.value === "ready", "the order by time runnable");
		await press(page, "Enter", "j", "i");
		const seen = await selection(page);
		same([seen.kind, seen.title], ["thread", most.name], "U, Enter, J, I: the first thread by time runnable, and all about it");
		check(/runnable/.test(await page.locator("#details .mix tr").first().innerText()), "it was runnable most of the time");
		await press(page, "o");
		check((await page.evaluate(() => window.trc.procs.tracks())).some(({name}) => name === "run queue"), "O shows the run queue");
	}],
	["What did a thread do at a time?", "demo", async (page) => {
		const [row] = sql("demo", "SELECT p.id, t.name, (p.start_ns + p.end_ns) / 2 - " + ZERO + " AS at FROM parks AS p JOIN threads AS t ON t.id = p.thread " +
			"WHERE t.name LIKE 'worker%' AND p.waited_ns > 2000000 ORDER BY p.start_ns LIMIT 1 OFFSET 5");
		await press(page, "/");
		await type(page, row.name);
		await press(page, "Enter", "Escape");
		await press(page, "/");
		await type(page, `@${(row.at / 1e6).toFixed(6)}ms`);
		await press(page, "Enter");
		same((await selection(page)).sql, row.id, "the name, then @time: what the thread did then");
		const {t0, t1} = await page.evaluate(() => window.trc.view);
		check(t0 <= row.at && row.at <= t1, "the timeline shows the time", [t0, row.at, t1]);
		await press(page, "Escape", "k");
		if ((await selection(page)).sql === row.id) // it is the first thread
			await press(page, "j");
		check((await selection(page)).sql !== row.id, "K or J: what the thread beside it did then");
	}],
	["Where is a function in the stacks?", "demo", async (page) => {
		const [{waits}] = sql("demo", "SELECT count(*) AS waits FROM parks WHERE stack IN (SELECT sf.stack FROM stack_frames AS sf JOIN frames AS f ON f.id = sf.frame " +
			"WHERE f.function = 'settings_reload')");
		await press(page, "/");
		await type(page, "settings_reload");
		await press(page, "Enter");
		const first = await selection(page);
		check(Object.values(first.stacks).flat().includes("settings_reload"), "the first match has it in its stack", first);
		check(await page.evaluate(() => window.trc.matches) >= waits, "all are found", waits);
		await press(page, "Escape", "/");
		await type(page, "settings_reload");
		await press(page, "Enter", "Enter");
		const next = await selection(page);
		check(Object.values(next.stacks).flat().includes("settings_reload") && next.sql !== first.sql, "Enter again: the next", next);
	}],
	["What differs between two times?", "demo", async (page) => {
		const ranges = [];
		const rangeOf = async () => {
			const {t0, t1} = await page.evaluate(() => window.trc.range);
			ranges.push([Math.round(t0), Math.round(t1)]);
		};
		await press(page, "w", "w", "a", "r");
		await rangeOf();
		await flameOf(page, "lock");
		await press(page, "x");
		await flame(page);
		await press(page, "Escape", "d", "d", "d", "r");
		await rangeOf();
		const {sums} = await flame(page);
		const wanted = ranges.map(([from, to]) => sql("demo", `SELECT coalesce(sum(waited_ns), 0) AS ns FROM parks WHERE reason IN ${LOCKS}`, "--window",
			`${from}ns..${to}ns`)[0].ns);
		check(ranges[0][0] !== ranges[1][0], "R makes a range of what is visible; after a move another one", ranges);
		same(sums, wanted, "X compares the lock waits of both");
	}],
	["How do I hand on what is in a range?", "demo", async (page) => {
		await press(page, "w", "r");
		const {t0, t1} = await page.evaluate(() => window.trc.range);
		await press(page, "e");
		await pressUntil(page, "ArrowDown", () => document.activeElement.textContent === "Waits as CSV", "the button");
		const [file] = await Promise.all([page.waitForEvent("download"), page.keyboard.press("Enter")]);
		const lines = readFileSync(await file.path(), "utf8").trimEnd().split("\n");
		const [{n, ns}] = sql("demo", "SELECT count(*) AS n, sum(waited_ns) AS ns FROM parks", "--window", `${Math.round(t0)}ns..${Math.round(t1)}ns`);
		check(Math.abs(lines.length - 1 - n) <= 2, "E, down, Enter: a file with the waits in the range", [lines.length - 1, n]);
		check(ns > 0 && lines[0].startsWith("id,thread,"), "with names of columns", lines[0]);
	}],
	["What does SQL know, and where is it?", "demo", async (page) => {
		const query = "SELECT id, thread, start_ns, waited_ns FROM parks ORDER BY waited_ns DESC LIMIT 50";
		const rows = sql("demo", query);
		await press(page, "q", "ArrowDown");
		await page.keyboard.press("Control+a");
		await type(page, query);
		await press(page, "Control+Enter");
		await page.waitForFunction(() => /rows in/.test(document.querySelector(".sql-state").textContent), null, {timeout: 120000});
		await press(page, "Escape", "ArrowDown", "ArrowDown", "Enter");
		same((await selection(page)).sql, rows[2].id, "Escape leads into the answer, arrows to a row, Enter into the timeline");
		await press(page, "End", "ArrowRight", "ArrowRight", "Enter");
		same((await selection(page)).sql, rows[49].id, "End to the last row; its time selects it, too");
		await press(page, "Escape");
		same(await page.evaluate(() => document.activeElement.tagName), "TEXTAREA", "Escape leads back to the query");
	}],
	["Why does it hang?", "deadlock", async (page) => {
		const ring = sql("deadlock", "SELECT thread, holder FROM deadlocks WHERE role = 'cycle'");
		const threads = new Map(sql("deadlock", "SELECT id, name FROM threads").map(({id, name}) => [id, name]));
		await press(page, "h", "ArrowDown", "Enter");
		const seen = await selection(page), {thread} = sql("deadlock", `SELECT thread FROM parks WHERE id = ${seen.sql}`)[0];
		const own = ring.find((row) => row.thread === thread);
		check(own, "H, down, Enter: a wait that is in the circle", seen);
		check(own && /in the circle/.test(seen.facts.Deadlock), "the details say so", seen.facts);
		check(own && threads.get(own.holder) && seen.facts["Held by"], "and who holds the lock", seen.facts);
	}],
];

// The document's list is this one.
const listed = [...readFileSync(document_, "utf8").matchAll(/^\| \d+ \| \*\*(.+?)\*\* /gm)].map(([, question]) => question);
same(listed, questions.map(([question]) => question), "docs/viewer.md lists the questions in this order");

await withBrowser("light", async (context) => {
	for (const [question, trace, answer] of questions) {
		const before = results.failed;
		await opened(context, trace, answer);
		console.log(`${results.failed === before ? "ok" : "not ok"} - ${question}`);
	}
});

console.log(`keys.mjs: ${results.passed} passed, ${results.failed} failed`);
process.exit(results.failed ? 1 : 0);
