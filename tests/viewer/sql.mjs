// sql.mjs - whether the page's SQL box answers as trace-analyze --sql does for the same trace.
//
//   node sql.mjs TRACE-ANALYZE TRACE PAGE...
//
// All rows and columns of all tables that a page has are compared, as CSV; then the rows of each finding, and
// functions, sums and errors.  The first page's box is then used.  few.trc is of a page with low limits, without.trc
// of one without the box.

import {readFileSync} from "node:fs";
import * as analyzer from "./analyzer.mjs";
import {check, openPage, results, same, seed, someOf, withBrowser} from "./browser_lib.mjs";

const [analyze, ...files] = process.argv.slice(2);

function native(trace, query) {
	return analyzer.csvOf(analyze, trace, query);
}

function rowsOf(trace, query) {
	return analyzer.rowsOf(analyze, trace, query);
}

function ask(page, query) {
	return page.evaluate((text) => window.trc.sql(text), query);
}

// One after the other.
function askAll(page, queries) {
	return page.evaluate(async (texts) => {
		const told = [];
		for (const text of texts)
			told.push(await window.trc.sql(text));
		return told;
	}, queries);
}

// Two versions of SQLite print what lies between two numbers of 15 digits (5338604.833984375) as one or as the other.
function sameNumber(a, b) {
	const whole = /^-?(\d+)\.(\d+)$/, [one, other] = [whole.exec(a), whole.exec(b)];
	const digits = (parts) => (parts[1] + parts[2]).replace(/^0+/, "").length;

	return one && other && one[2].length === other[2].length && digits(one) === 15 && digits(other) === 15 &&
		Math.abs(a - b) < 1.5 * 10 ** -one[2].length;
}

function sameLine(a, b) {
	const ours = (a ?? "").split(","), theirs = b.split(",");

	return a === b || (ours.length === theirs.length && theirs.every((field, i) => field === ours[i] || sameNumber(field, ours[i])));
}

// Texts are the same, or the first line that differs is told.
function sameText(seen, wanted, what) {
	if (seen === wanted)
		return check(true, what);
	const ours = (seen ?? "").split("\n"), theirs = wanted.split("\n");
	const at = theirs.findIndex((line, i) => !sameLine(ours[i], line));
	if (at < 0 && ours.length === theirs.length)
		return check(true, what);
	return check(false, `${what}: line ${at + 1} of ${theirs.length}: wanted ${theirs[at]}`, ours[at] ?? seen);
}

// Bytes that are no UTF-8 are U+FFFD in the page.  `whats` says what the answers are to.
async function sameAnswers(page, trace, queries, whats) {
	for (const [i, {error, csv}] of (await askAll(page, queries)).entries()) {
		if (error)
			check(false, whats[i], error);
		else
			sameText(csv, native(trace, queries[i]), whats[i]);
	}
}

// Of the longest waits of each place, and of them all.
async function causesAre(page, trace, name, lacking) {
	const waits = (await ask(page, "SELECT DISTINCT wait FROM causes ORDER BY 1")).csv.trim().split("\n").slice(1);

	await sameAnswers(page, trace, [`SELECT * FROM causes WHERE wait IN (${waits.join()}) ORDER BY wait, id`], [`${name}: causes of ${waits.length} waits`]);
	if (waits.length < rowsOf(trace, "SELECT count(*) AS n FROM parks")[0].n)
		check(lacking.has("causes"), `${name}: that others are missing is said`);
	if (name !== "demo")
		return;
	check(waits.length > 50, `${name}: it has causes`, waits.length);
	same((await ask(page, "SELECT why FROM page_missing WHERE table_name = 'causes'")).csv.split("\n")[1],
		`the causes of ${waits.length} of ${rowsOf(trace, "SELECT count(*) AS n FROM parks")[0].n} waits are here: of waits for locks and threads the 100 longest of each place`,
		`${name}: of which`);
	const scope = await page.locator(".sql-scope").innerText();
	check(/^Table causes: the causes of \d+ of \d+ waits are here: [^.]*\.$/m.test(scope), `${name}: the first lines say so`, scope);
	check(/All rows of all: trace-view demo\.trc, or trace-analyze --sql '…' demo\.trc$/m.test(scope), `${name}: and where the others are`, scope);
	const longest = rowsOf(trace, "SELECT CAST(id AS TEXT) AS id FROM (SELECT id, row_number() OVER (PARTITION BY reason, stack ORDER BY waited_ns DESC) AS k " +
		"FROM parks WHERE reason IN ('mutex', 'sem', 'cond') AND waited_ns > 0) WHERE k <= 50");
	same(longest.filter(({id}) => !waits.includes(id)), [], `${name}: the longest of each place are there`);
}

// Of the slowest tasks of each type.
async function pathsAre(page, trace, name, lacking) {
	const tasks = (await ask(page, "SELECT DISTINCT task FROM task_path ORDER BY 1")).csv.trim().split("\n").slice(1), [{n}] = rowsOf(trace, "SELECT count(*) AS n FROM tasks");

	await sameAnswers(page, trace, [`SELECT * FROM task_path WHERE task IN (${tasks.join()}) ORDER BY task, id`], [`${name}: critical paths of ${tasks.length} tasks`]);
	if (tasks.length < n)
		check(lacking.has("task_path"), `${name}: that others are missing is said`);
	if (name !== "demo")
		return;
	const slowest = rowsOf(trace, "SELECT CAST(id AS TEXT) AS id FROM (SELECT id, row_number() OVER (PARTITION BY type ORDER BY duration_ns DESC, id) AS k FROM tasks) WHERE k <= 100 ORDER BY CAST(id AS INTEGER)");
	same(tasks, slowest.map(({id}) => id), `${name}: the slowest of each type have their paths`);
	same((await ask(page, "SELECT why FROM page_missing WHERE table_name = 'task_path'")).csv.split("\n")[1],
		`the paths of ${tasks.length} of ${n} tasks are here: of each type the 100 slowest`, `${name}: of which`);
	check((await ask(page, "SELECT * FROM region_path")).error.includes("it is derived for each region that is asked for; trace-analyze --sql has it, and the SQL box of trace-view"),
		`${name}: why paths of regions are not there, and who has them`);
}

async function tablesAre(page, trace, name) {
	const {csv} = await ask(page, "SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name");
	const tables = csv.trim().split("\n").slice(1).filter((table) => table !== "page_missing");
	const lacking = new Set((await ask(page, "SELECT DISTINCT table_name FROM page_missing")).csv.trim().split("\n").slice(1));

	const whole = tables.filter((table) => !["causes", "task_path"].includes(table)); // it has those of some waits and tasks
	for (const table of whole)
		check(!lacking.has(table), `${name}: ${table} is whole`);
	await sameAnswers(page, trace, whole.map((table) => `SELECT * FROM "${table}"`), whole.map((table) => `${name}: ${table}`));
	await causesAre(page, trace, name, lacking);
	await pathsAre(page, trace, name, lacking);
	// What is neither here nor said to be missing would be lost.
	const all = native(trace, "SELECT 'events' AS name UNION SELECT 'event_' || name FROM kinds").trim().split("\n").slice(1);
	for (const table of [...all, "parks", "causes", "allocs", "on_cpu", "selected"])
		check(tables.includes(table) || lacking.has(table), `${name}: ${table} is here, or said to be missing`);
	return tables.length;
}

const queries = [
	"SELECT place(stack), chain(stack), count(*), sum(waited_ns) FROM parks GROUP BY 1, 2 ORDER BY 1, 2",
	"SELECT place(NULL), place(0), place(-1), place(999999), chain('1'), typeof(place(1))",
	"SELECT reason, count(*), avg(duration_ns), max(waited_ns) / 3.0, min(stack) FROM parks GROUP BY reason ORDER BY reason",
	"SELECT p.id, t.name, u.id, f.function FROM parks AS p JOIN threads AS t ON t.id = p.thread LEFT JOIN unlocks AS u " +
		"ON u.id = p.unlock LEFT JOIN stack_frames AS s ON s.stack = p.stack AND s.depth = 0 LEFT JOIN frames AS f " +
		"ON f.id = s.frame ORDER BY p.id",
	"SELECT key, value, typeof(value) FROM trace_info",
	"SELECT 1.0, 1e15, 1e14, 0.1, 1.0 / 3, 1e-4, 1e-5, -2.5e300, 9007199254740993, -9223372036854775808, 'a,b', '', NULL, " +
		"'say \"x\"', x'00ff'",
	"SELECT thread, start_ns, lead(start_ns) OVER (PARTITION BY thread ORDER BY start_ns) - end_ns FROM parks ORDER BY id",
];

async function answersAre(page, trace, name) {
	const found = rowsOf(trace, "SELECT kind, sql FROM findings WHERE sql IS NOT NULL");

	await sameAnswers(page, trace, [...queries, ...found.map(({sql}) => sql)],
		[...queries.map((query) => `${name}: ${query}`), ...found.map(({kind, sql}) => `${name}: finding ${kind}: ${sql}`)]);
	const refused = ["DELETE FROM parks", "CREATE TABLE a(b)", "DROP TABLE parks", "PRAGMA query_only=0; DELETE FROM parks",
		"ATTACH 'x' AS y", "BEGIN", "SAVEPOINT a", "PRAGMA cache_size=3", "VACUUM", "CREATE TEMP VIEW v AS SELECT 1", "PRAGMA cache_size",
		"/* a */ pragma -- b\n main . \"page_size\"", "EXPLAIN PRAGMA encoding", "SELECT * FROM pragma_page_size", "EXPLAIN DELETE FROM parks",
		"EXPLAIN QUERY PLAN WITH a AS (SELECT 1) UPDATE parks SET id = 1", "SELECT 1; PRAGMA synchronous"];
	const told = trace === files[0] ? (query) => analyzer.errorOf(analyze, trace, query) : null; // one trace tells for all
	for (const query of told ? refused : [])
		check(told(query) !== "", `${name}: --sql refuses: ${query}`);
	const unknown = ["SELECT no_such FROM parks", "SELECT time FROM gaps", "SELECT no_such", "SELECT p.no_such FROM parks AS p JOIN threads"];
	const errors = await askAll(page, [...unknown, ...refused]);
	errors.splice(0, unknown.length).forEach(({error}, i) => {
		check(error.startsWith("no such column: ") && error.includes("; of ") === /FROM/.test(unknown[i]), `${name}: an error tells what columns there are`, error);
		if (told)
			same(error, told(unknown[i]).trim().split("\n").at(-1).replace(/^trace-analyze: [^:]*: /, ""), `${name}: an error: ${unknown[i]}`);
	});
	for (const query of ["PRAGMA database_list; SELECT 1 AS n", "SELECT name FROM pragma_table_info('parks') WHERE cid = 0",
		"SELECT 'PRAGMA cache_size; DELETE' AS n -- PRAGMA cache_size", "EXPLAIN QUERY PLAN SELECT 1", "WITH a(n) AS (VALUES (1)) SELECT replace('a', 'a', 'b') AS x FROM a"])
		same([(await ask(page, query)).error, told ? told(query) : ""], [undefined, ""], `${name}: both answer: ${query}`);
	errors.forEach(({error}, i) => same(error, "query refused: it may only read the trace's tables", `${name}: ${refused[i]}`));
}

// ---- the box itself, on a page of trc-demo ----

function stateOf(page) {
	return page.locator(".sql-state").innerText();
}

async function told(page, pattern) {
	await page.waitForFunction((text) => new RegExp(text).test(document.querySelector(".sql-state").textContent), pattern);
}

async function runsByKeys(page) {
	const before = await page.evaluate(() => ({...window.trc.view}));

	await page.keyboard.press("q");
	await page.locator(".sql textarea").fill("");
	await page.locator(".sql textarea").pressSequentially("SELECT id, thread, start_ns, waited_ns FROM parks WHERE id >= 10 ORDER BY id");
	same(await page.evaluate(() => ({...window.trc.view})), before, "what is typed moves nothing");
	await page.keyboard.press("Control+Enter");
	await told(page, "rows? in");
	const park = rowsOf(files[0], "SELECT id, start_ns, (SELECT value FROM trace_info WHERE key = 'trace_start_ns') AS zero " +
		"FROM parks WHERE id = 10")[0];
	await page.locator(".sql-row >> nth=0").locator("div >> nth=0").locator("button").click();
	same(await page.evaluate(() => window.trc.told().facts.SQL), "SELECT * FROM parks WHERE id=10", "an id selects its row");
	await page.evaluate(() => { window.trc.select(null); window.trc.setView(0, window.trc.span); });
	await page.locator(".sql-row >> nth=0").locator("div >> nth=2").locator("button").click();
	same(await page.evaluate(() => window.trc.told().facts.SQL), "SELECT * FROM parks WHERE id=10", "so does its time");
	const view = await page.evaluate(() => ({...window.trc.view})), at = park.start_ns - park.zero;
	check(view.t0 <= at && at <= view.t1 && view.t1 - view.t0 < 1e9, "the timeline shows it", view);
	await page.locator(".sql-row >> nth=0").locator("div >> nth=1").locator("button").click();
	same(await page.evaluate(() => window.trc.selection.kind), "thread", "a thread is selected");
}

async function sorts(page) {
	await ask(page, "SELECT id, reason, waited_ns FROM parks");
	await page.locator(".sql-names button", {hasText: "waited_ns"}).click();
	await page.waitForSelector('[aria-sort="ascending"]');
	await page.locator(".sql-names button", {hasText: "waited_ns"}).click();
	await page.waitForSelector('[aria-sort="descending"]');
	const first = await page.locator(".sql-row >> nth=0").locator("div >> nth=2").innerText();
	same(first, String(rowsOf(files[0], "SELECT max(waited_ns) AS most FROM parks")[0].most), "the longest comes first");
	const [file] = await Promise.all([page.waitForEvent("download"), page.locator(".sql button", {hasText: "CSV"}).click()]);
	const csv = readFileSync(await file.path(), "utf8").split("\n");
	same(csv[0], "id,reason,waited_ns", "the file has names");
	check(csv[1].endsWith(`,${first}`), "and the order that is seen", csv[1]);
}

async function holdsMillions(page) {
	const upTo = (n) => `WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < ${n}) SELECT n, -n FROM c`;
	const {rows, more} = await ask(page, upTo(1000005));

	same([rows, more], [1000000, true], "a million rows");
	check(/there are more/.test(await stateOf(page)), "and that there are more", await stateOf(page));
	check(await page.locator(".sql-row").count() < 200, "of which a few are elements", await page.locator(".sql-row").count());
	await page.evaluate(() => { document.querySelector(".sql-result").scrollTop = 1e9; });
	await page.waitForFunction(() => /^1000000/.test([...document.querySelectorAll(".sql-row")].at(-1).textContent));
	await page.locator(".sql-names button", {hasText: "-n"}).click();
	await page.waitForSelector('[aria-sort="ascending"]');
	await page.evaluate(() => { document.querySelector(".sql-result").scrollTop = 0; });
	await page.waitForFunction(() => /^1000000/.test(document.querySelector(".sql-row").textContent));
}

// While the next query runs, its answer is not taken for that of the one before.
async function asksOfOldAnswer(page) {
	await ask(page, "SELECT 'old' AS name");
	await page.locator(".sql textarea").fill("WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < 3000000) " +
		"SELECT count(*), 'new' FROM c");
	await page.keyboard.press("Control+Enter");
	await told(page, "Running");
	const downloads = [];
	page.on("download", (file) => downloads.push(file));
	await page.locator(".sql button", {hasText: "CSV"}).click();
	await told(page, "There is no CSV: another query has been answered since");
	same(downloads.length, 0, "no file of another answer");
	check((await page.locator(".sql-row").innerText()).includes("new"), "the new answer is there");
}

async function stops(page) {
	await page.locator(".sql textarea").fill("WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c) SELECT count(*) FROM c");
	await page.keyboard.press("Control+Enter");
	await told(page, "Running");
	await page.evaluate(() => window.trc.setView(1e6, 2e6));
	same(await page.evaluate(() => [window.trc.view.t0, window.trc.view.t1]), [1e6, 2e6], "the page goes on meanwhile");
	await page.locator(".sql button", {hasText: "Stop"}).click();
	await told(page, "Stopped");
	same((await ask(page, "SELECT count(*) FROM threads")).csv,
		native(files[0], "SELECT count(*) FROM threads"), "the next query is answered");
}

// Of several statements the last answer is shown, which is said; nothing is answered by nothing; who asks twice is answered twice.
async function oneAnswer(page) {
	same((await ask(page, "SELECT 1 AS one; SELECT 2 AS two;")).csv, "two\n2\n", "the last of two answers");
	check(/^1 row in .*: the last of 2 answers\. The others are not shown; trace-analyze --sql prints all$/.test(await stateOf(page)), "which is said", await stateOf(page));
	await ask(page, "SELECT 1 AS one; -- and no more");
	check(/^1 row in [^:]*$/.test(await stateOf(page)), "of one there is nothing to say", await stateOf(page));
	same(analyzer.errorOf(analyze, files[0], ""), "", "trace-analyze --sql '' is no error");
	for (const query of ["", " \n"])
		same(await page.evaluate((text) => Promise.race([window.trc.sql(text), new Promise((done) => { setTimeout(done, 5000, "none"); })])
			.then((answer) => answer.csv ?? answer), query), "", `nothing is answered by nothing: ${JSON.stringify(query)}`);
	const [first, second] = await page.evaluate(() => Promise.all(["SELECT 1 AS n", "SELECT 2 AS n"].map((query) =>
		Promise.race([window.trc.sql(query), new Promise((done) => { setTimeout(done, 20000, "none"); })]))));
	same([first.error, second.csv], ["another query was asked", "n\n2\n"], "a query that another one replaces");
}

async function keepsQueries(context, page, file) {
	await page.locator(".sql textarea").fill("SELECT 'kept'");
	await page.locator(".sql button", {hasText: "Save"}).click();
	const address = await page.evaluate(() => window.trc.address());
	check(address.includes("panel=sql") && address.includes("sql=SELECT"), "the address has the query", address);
	const again = await openPage(context, file, address);
	await told(again, "1 row in");
	same(await again.locator(".sql-row").innerText(), "kept", "which another page answers at once");
	await again.locator("select[aria-label=Saved]").selectOption({label: "SELECT 'kept'"});
	check(await again.locator("select[aria-label=History] option").count() > 3, "queries of before are in its history");
	const [queries] = await Promise.all([again.waitForEvent("download"), again.locator(".sql button", {hasText: "Export"}).click()]);
	same(readFileSync(await queries.path(), "utf8"), "SELECT 'kept';\n", "saved queries as a file");
	await again.locator(".sql button", {hasText: "Forget"}).click();
	check(await again.locator("select[aria-label=Saved]").isDisabled(), "and no longer saved");
	same(again.troubles, [], "no error, no warning, no request");
	await again.close();
}

async function findingsAsk(page) {
	await page.evaluate(() => window.trc.select(null));
	await page.locator(".findings button.rows >> nth=0").click();
	await told(page, "rows? in");
	const [{sql}] = rowsOf(files[0], "SELECT sql FROM findings WHERE sql IS NOT NULL LIMIT 1");
	same(await page.locator(".sql textarea").inputValue(), sql, "a finding's query is in the editor");
	check(await page.locator(".sql-row").count() > 0, "and has rows");
}

// What the page lacks it says, and in its first line.
async function saysWhatItLacks(page) {
	const all = native(files[0], "SELECT count(*) FROM events").trim().split("\n")[1];

	check((await page.locator(".sql-scope").innerText()).includes("events"), "the first line says what is not here");
	same((await ask(page, "SELECT rows FROM page_missing WHERE table_name = 'events'")).csv, `rows\n${all}\n`, "how many events");
	same((await ask(page, "SELECT * FROM events")).error, "no such table: events, it is not in the page: it would make the page " +
		"several times as large; trace-analyze --sql has it, and the SQL box of trace-view", "and why");
}

function policyOf(page) {
	return page.evaluate(() => document.querySelector("meta[http-equiv]").content);
}

async function boxWorks(context, file) {
	const page = await openPage(context, file);

	check(/^default-src 'none'; script-src 'sha256-[^ ]+' 'wasm-unsafe-eval'; worker-src blob:; style-src 'sha256-[^ ]+'; base-uri 'none'; form-action 'none'$/
		.test(await policyOf(page)), "the policy allows one script, one style, and a worker of the page's own", await policyOf(page));
	await runsByKeys(page);
	await sorts(page);
	await holdsMillions(page);
	await stops(page);
	await oneAnswer(page);
	await keepsQueries(context, page, file);
	await findingsAsk(page);
	await saysWhatItLacks(page);
	same(page.troubles, [], "no error, no warning, no request");
	await page.close();
}

// Text of a trace is shown as text.
async function showsHostile(page) {
	await ask(page, "SELECT name FROM threads UNION ALL SELECT message FROM logs");
	const shown = await page.locator(".sql-rows").innerText();
	check(shown.includes("</script><b>\ufffd\\u202e"), "markup is text, and what would not be seen is", shown);
	same(await page.evaluate(() => window.owned), undefined, "nothing of it ran");
}

async function withoutBox(context, file) {
	const page = await openPage(context, file);

	check(!/wasm/.test(await policyOf(page)), "without the box the policy allows no WebAssembly", await policyOf(page));
	same(await page.locator("#panel-tab-sql").count(), 0, "and there is no tab");
	same(await page.locator(".findings button.rows").count(), 0, "nor a button for it");
	same(page.troubles, [], "no error, no warning, no request");
	await page.close();
}

// Of a page with few rows of each table: what it has is right, and what it lacks is counted.
async function fewAreSaid(context, trace, file) {
	const page = await openPage(context, file);

	for (const table of ["parks", "unlocks", "tasks", "regions", "logs", "counters"]) {
		const {csv} = await ask(page, `SELECT * FROM ${table}`), all = native(trace, `SELECT * FROM ${table}`).split("\n");
		const lines = csv.split("\n"), known = new Set(all);
		check(lines.every((line) => known.has(line)), `rows of ${table} are the trace's`, lines.find((line) => !known.has(line)));
		const [, lacks = "0"] = (await ask(page, `SELECT rows FROM page_missing WHERE table_name = '${table}'`)).csv.split("\n");
		same(lines.length + Number(lacks), all.length, `what ${table} lacks is counted`);
	}
	const crowded = (await ask(page, "SELECT table_name FROM page_missing WHERE why LIKE '%no room%'")).csv.trim().split("\n").slice(1);
	check(crowded.length > 0, "tables for which the page has no room are named");
	for (const table of crowded)
		check(/^no such table/.test((await ask(page, `SELECT * FROM "${table}"`)).error || ""), `${table} is not there`);
	const first = await page.locator(".sql-scope").innerText();
	const [{n: regions}] = rowsOf(trace, "SELECT count(*) AS n FROM regions"), {csv: ours} = await ask(page, "SELECT count(*) FROM regions");
	const words = `Table regions: ${Number(ours.split("\n")[1]).toLocaleString("en-US")} of ${regions.toLocaleString("en-US")} rows are here: the page has a limit.`;
	check(first.split("\n").includes(words), `the first lines say so: ${words}`, first);
	await page.close();
}

// The first pair of a trace and its page always; of the others some, and those that are like no other.
const [first, ...more] = files.flatMap((trace, i) => i % 2 ? [] : [[trace, files[i + 1], trace.replace(/^.*\//, "")]]);
const isAlone = ({2: name}) => /^(few|without|aligned)\.trc$/.test(name);
const pairs = [first, ...someOf(more.filter((pair) => !isAlone(pair)), 4), ...more.filter(isAlone)];

await withBrowser("light", async (context) => {
	for (const [trace, file, name] of pairs) {
		if (name === "few.trc") {
			await fewAreSaid(context, trace, file);
			continue;
		}
		if (name === "without.trc") {
			await withoutBox(context, file);
			continue;
		}
		const page = await openPage(context, file);
		const tables = await tablesAre(page, trace, name);
		await answersAre(page, trace, name);
		if (name === "hostile.trc")
			await showsHostile(page);
		same(page.troubles, [], `${name}: no error, no warning, no request`);
		console.log(`sql: ${name}: ${tables} tables`);
		await page.close();
		if (trace === first[0])
			await boxWorks(context, file);
	}
});
console.log(`sql: ${results.passed} passed, ${results.failed} failed; TRC_SEED=${seed}`);
process.exit(results.failed || !results.passed ? 1 : 0);
