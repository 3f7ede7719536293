// sql.js - the SQL box: a tab of the panel with an editor, example queries, and the answer.
//
// SQLite runs in a worker (sql_worker.js), so that the page stays quick and a query can be stopped.
// The worker is started, and the tables are made, when the tab is opened first; stopping a query ends the
// worker, and the next query starts another.
//
// A page of trace-view's may have no tables, as that of a part of a trace: then trace-view answers (sql_served.js).

import {addressWrite} from "./address.js";
import {column, head, inflate, visible} from "./data.js";
import {base64Bytes} from "./decode.js";
import {quoted, traceFile} from "./export.js";
import {byId, count, duration, el, plural} from "./format.js";
import {orderOf} from "./matches.js";
import {panelShow} from "./panel.js";
import {trace} from "./rows.js";
import {result, resultAsCsv, resultClear, resultCsv, resultEnter, resultFit, resultInit,
	resultShow} from "./sql_result.js";
import {servedAsk, servedWorker} from "./sql_served.js";
import {waitStarts, waitWake} from "./states.js";

const SQL_ROWS_MAX = 1000000, SQL_HISTORY_MAX = 50;

export const sql = {
	worker: null,
	ready: false,
	asked: 0, // the number of the query whose answer is awaited; 0 = none
	last: 0, // the number given last
	queued: "", // runs when the tables are there
	answers: new Map(), // of other questions: by number, who wants the answer
	text: "", // what the editor has, also before there is one
	history: [], saved: [], // queries, newest first
	drawn: null, // the elements
	starting: /** @type {Promise<void> | null} */ (null), openMs: 0, // while the worker is made; how long its tables took
	told: /** @type {((why: string) => void) | null} */ (null), // whoever waits for the answer
};

const SQL_TABLES = "SELECT name, sql FROM sqlite_schema WHERE type = 'table' ORDER BY name";

const sqlExamples = [
	["Waits by reason", "SELECT reason, count(*) AS waits, sum(waited_ns) AS waited_ns, max(waited_ns) AS longest_ns\n" +
		"FROM parks GROUP BY reason ORDER BY waited_ns DESC"],
	["Longest waits", "SELECT id, thread, reason, start_ns, waited_ns, chain(stack) AS place\n" +
		"FROM parks ORDER BY waited_ns DESC LIMIT 100"],
	["Where threads wait", "SELECT place(stack) AS place, reason, count(*) AS waits, sum(waited_ns) AS waited_ns\n" +
		"FROM parks WHERE stack IS NOT NULL GROUP BY 1, 2 ORDER BY waited_ns DESC"],
	["Locks by name", "SELECT o.name, p.reason, count(*) AS waits, count(DISTINCT p.thread) AS threads,\n" +
		"       sum(p.waited_ns) AS waited_ns, max(p.waited_ns) AS longest_ns\n" +
		"FROM parks AS p JOIN objects AS o ON o.address = p.object\n" +
		"WHERE p.reason IN ('mutex', 'rwlock_read', 'rwlock_write', 'spin')\nGROUP BY 1, 2 ORDER BY waited_ns DESC"],
	["Who made others wait", "SELECT place(stack) AS released_at, count(*) AS sections, sum(caused_waits) AS waits,\n" +
		"       sum(caused_ns) AS caused_ns\nFROM unlocks GROUP BY 1 ORDER BY caused_ns DESC"],
	["Slowest tasks", "SELECT id, type, start_ns, end_ns, duration_ns, start_thread\n" +
		"FROM tasks ORDER BY duration_ns DESC LIMIT 100"],
	["Threads", "SELECT id, tid, name, start_ns, end_ns, parked_ns, on_cpu_ns, parks FROM threads ORDER BY parked_ns DESC"],
	["All tables", SQL_TABLES],
];

// ---- what the worker needs ----

async function unzipped(id) {
	const packed = new Blob([base64Bytes(byId(id).textContent)]);

	return new Response(packed.stream().pipeThrough(new DecompressionStream("gzip"))).arrayBuffer();
}

// The timeline's columns that tables are made of; waits in the order of their ids.
function sqlColumns() {
	const names = new Set(["text.bytes", "text.data", "thread.serial", "unlock.id", "sampled.event", "fiber.low", "fiber.high",
		"object.low", "object.high"]);
	const columns = {}, order = orderOf(trace.park.id, trace.park.n), {when} = trace.park;
	const made = {"park.id": () => trace.park.id, "park.start": () => waitStarts(when),
		"park.wake": () => Float64Array.from({length: when.n}, (_, i) => waitWake(when, i))};

	for (const [, , list] of head.sql.tables)
		for (const [, , , how, ...sources] of list)
			if (how !== "own" && how !== "formula")
				sources.forEach((name) => names.add(name));
	for (const name of names) {
		const values = Object.hasOwn(made, name) ? made[name]() : column(name);
		columns[name] = name.startsWith("park.") ? values.map((_, i) => values[order[i]]) : values;
	}
	return columns;
}

async function sqlOwnColumns() {
	const own = {};

	await Promise.all(head.columns.map(async ([name, type, n, , bytes, chunks], number) => {
		if (!name)
			own[number] = {type, n, bytes: bytes ? await inflate(number, chunks, bytes) : new Uint8Array(0)};
	}));
	return own;
}

export function sqlIsThere() {
	return Boolean(head.sql || servedAsk());
}

function sqlStartServed() {
	const worker = servedWorker(servedAsk(), (data) => worker === sql.worker && sqlTold[data.kind](data));

	sql.worker = worker;
	sqlTold.ready({ms: 0});
}

async function sqlStart() {
	const [wasm, script, own] = await Promise.all([unzipped("sql-wasm"), unzipped("sql-worker"), sqlOwnColumns()]);
	const url = URL.createObjectURL(new Blob([script], {type: "text/javascript"}));
	const worker = new Worker(url);

	URL.revokeObjectURL(url);
	worker.onmessage = ({data}) => worker === sql.worker && sqlTold[data.kind](data);
	worker.onerror = (event) => worker === sql.worker && sqlTold.failed({text: event.message || "the worker does not start"});
	sql.worker = worker;
	worker.postMessage({kind: "open", wasm, own, sql: head.sql, columns: sqlColumns(), reasonNames: head.reasons,
		start: head.start_ns, end: head.start_ns + head.span_ns}, [wasm, ...Object.values(own).map(({bytes}) => bytes.buffer)]);
}

// Starts the worker if there is none.
function sqlNeed() {
	if (sql.starting || sql.worker)
		return;
	if (!head.sql) {
		sqlStartServed();
		return;
	}
	sql.starting = sqlStart().catch((error) => sqlTold.failed({text: error.message})).finally(() => { sql.starting = null; });
}

function sqlEnd() {
	if (sql.worker)
		sql.worker.terminate();
	Object.assign(sql, {worker: null, ready: false, asked: 0, queued: ""});
	sql.answers.clear();
}

// What the worker says.
const sqlTold = {
	progress: ({done}) => sqlState(`Making the tables: ${count(done)} of ${count(sqlRowsInAll())} rows`, "busy"),
	ready: ({ms}) => {
		sql.ready = true;
		sql.openMs = ms;
		sqlState("");
		if (sql.queued)
			sqlAsk(sql.queued);
	},
	failed: ({text: why}) => {
		sqlEnd();
		sqlState(`The SQL box does not start: ${why}`, "error");
		sqlAnsweredNow();
	},
	error: ({id, text: why}) => {
		if (sql.answers.has(id)) {
			sqlAnswer({id, error: why});
			return;
		}
		if (id !== sql.asked)
			return;
		sql.asked = 0;
		resultClear();
		sqlState(why + sqlLack(why), "error");
		sqlAnsweredNow();
	},
	result: (told) => {
		if (told.id !== sql.asked)
			return;
		sql.asked = 0;
		const {n, more, ms, columns, answers} = told, rows = columns.length ? plural(n, "row") : "No result";
		sqlState((more ? `The first ${count(n)} rows, there are more` : `${rows} in ${duration(ms * 1e6)}`) +
			(answers > 1 ? `: the last of ${count(answers)} answers. The others are not shown; trace-analyze --sql prints all` : ""), more ? "warn" : "");
		resultShow(told);
		sqlAnsweredNow();
	},
	order: (told) => sqlAnswer(told),
	csv: (told) => sqlAnswer(told),
};

// Answers a question, and gives the place of whoever waits for it free.
function sqlAnswer(told) {
	const wants = sql.answers.get(told.id);

	sql.answers.delete(told.id);
	if (wants)
		wants(told);
}

// Why a table that a query wants is not there.
function sqlLack(why) {
	const [, table] = /^no such table: (?:main\.)?(\w+)/.exec(why) || [];
	const lack = head.sql?.missing.find(([name]) => name === table);

	if (table === "waits")
		return ": waits are the rows of parks";
	return lack ? `, it is not in the page: ${lack[2]}; trace-analyze --sql has it, and the SQL box of trace-view` : "";
}

// `why`: there is no answer; "" = what is shown is the answer, or says why there is none.
function sqlAnsweredNow(why = "") {
	if (sql.told)
		sql.told(why);
	sql.told = null;
}

// A question about the result that is shown; null after an error was said.
/** @param {string} kind */
export async function sqlQuestion(kind, what, question) {
	const answer = await new Promise((done) => {
		const id = ++sql.last;
		sql.answers.set(id, done);
		sql.worker.postMessage({kind, id, of: result.told.id, ...question});
	});

	if (!answer.error)
		return answer;
	sqlState(`${what}: ${answer.error}`, "error");
	return null;
}

function sqlRowsInAll() {
	return head.sql.tables.reduce((sum, [, n]) => sum + n, 0);
}

// ---- queries ----

/** @param {string} query */
function sqlAsk(query) {
	if (!query.trim())
		return;
	if (sql.asked)
		sqlStop();
	sqlNeed();
	sqlRemember(query);
	if (!sql.ready) {
		sql.queued = query;
		return;
	}
	sql.queued = "";
	sql.asked = ++sql.last;
	sqlState("Running…", "busy");
	sql.worker.postMessage({kind: "ask", id: sql.asked, sql: query, limit: SQL_ROWS_MAX});
}

function sqlStop() {
	sqlEnd();
	resultClear();
	sqlState(head.sql ? "Stopped. The next query makes the tables again." : "Stopped.", "warn");
}

function sqlStopped() {
	sqlStop();
	sqlAnsweredNow("stopped");
}

// A query into the editor, and its answer into view; for buttons elsewhere.
/** @param {string} query */
export function sqlOpen(query) {
	sql.text = query;
	panelShow(sqlTab);
	sql.drawn.editor.value = query;
	addressWrite();
	sqlAsk(query);
}

// Asks, and waits: {error} or {rows, more, csv}; for tests.  If another query replaces it, or it is stopped, that is the error.
/** @param {string} query */
export async function sqlAnswered(query) {
	sqlAnsweredNow("another query was asked");
	sqlOpen(query);
	if (!query.trim()) // answered by nothing, as trace-analyze --sql does
		return {rows: 0, more: false, ms: 0, openMs: sql.openMs, csv: ""};
	const why = await new Promise((done) => { sql.told = done; });
	if (why || sql.drawn.state.classList.contains("error"))
		return {error: why || sql.drawn.state.textContent};
	const {n, more, ms} = result.told;
	return {rows: n, more, ms, openMs: sql.openMs, csv: await (await resultAsCsv())?.text()};
}

// ---- queries that are kept ----

/** @param {string} name */
function sqlStored(name) {
	try {
		const list = JSON.parse(localStorage.getItem(`trc-sql-${name}`) || "[]");
		return Array.isArray(list) ? list.filter((query) => typeof query === "string") : [];
	} catch {
		return []; // some browsers refuse storage to files
	}
}

/** @param {string} name */
function sqlStore(name) {
	try {
		localStorage.setItem(`trc-sql-${name}`, JSON.stringify(sql[name]));
	} catch {
		// It lasts as long as the page.
	}
}

/** @param {string} query */
function sqlRemember(query) {
	sql.history = [query, ...sql.history.filter((each) => each !== query)].slice(0, SQL_HISTORY_MAX);
	sqlStore("history");
	sqlListsDraw();
}

function sqlSave() {
	const query = sql.drawn.editor.value.trim();

	if (!query)
		return;
	sql.saved = [query, ...sql.saved.filter((each) => each !== query)];
	sqlStore("saved");
	sqlListsDraw();
	sqlState("Saved, for all pages of trc in this browser.");
}

function sqlForget() {
	const query = sql.drawn.editor.value.trim(), n = sql.saved.length;

	sql.saved = sql.saved.filter((each) => each !== query);
	sqlStore("saved");
	sqlListsDraw();
	sqlState(sql.saved.length < n ? "No longer saved." : "This query is not saved.");
}

/** @param {string} name */
export function download(name, blob) {
	const url = URL.createObjectURL(blob);

	el("a", {href: url, download: name}).click();
	setTimeout(() => URL.revokeObjectURL(url), 10000);
}

// Saved queries, or else the one in the editor, as a file for sqlite3 or --shell.
function sqlExport() {
	const queries = sql.saved.length ? sql.saved : [sql.drawn.editor.value];

	download("queries.sql", new Blob([queries.map((query) => query.replace(/;?\s*$/, ";\n")).join("\n")], {type: "text/plain"}));
}

// ---- the tab ----

/** @param {string} string @param {string} [kind] */
export function sqlState(string, kind = "") {
	const box = sql.drawn && sql.drawn.state;

	if (!box)
		return;
	box.textContent = visible(string);
	box.className = `sql-state ${kind}`;
	sql.drawn.stop.disabled = kind !== "busy";
}

const LACKS_TOLD = 4; // tables, of those that lack rows

// What a table that is in the page lacks, in words: [name, words].
/** @param {[string, number, string]} lack @returns {[string, string]} */
function sqlLackWords([name, rows, why]) {
	const [, has] = head.sql.tables.find(([table]) => table === name);

	return [name, rows ? `${count(has)} of ${count(has + rows)} rows are here: ${why}` : why];
}

// What the tables are, and what they lack: the panel's first lines.
function sqlScope() {
	if (!head.sql)
		return el("p", {class: "sql-scope"}, head.cut ? "All tables, of the part of the trace that the page shows: trace-view answers, as trace-analyze --sql --window would."
			: "All tables of the whole trace: trace-view answers, as trace-analyze --sql would.");
	const isHere = (name) => head.sql.tables.some(([table]) => table === name);
	const lacking = head.sql.missing.filter(([name]) => isHere(name)).map(sqlLackWords), names = head.sql.missing.map(([name]) => name).filter((name) => !isHere(name));
	const more = names.length > 4 ? [...names.slice(0, 3), `${count(names.length - 3)} more`] : names, parts = [];

	for (const [name, words] of lacking.slice(0, LACKS_TOLD))
		parts.push(el("p", {class: "incomplete"}, "Table ", el("b", {}, visible(name)), `: ${visible(words)}.`));
	if (lacking.length > LACKS_TOLD)
		parts.push(el("p", {class: "incomplete"}, `${plural(lacking.length - LACKS_TOLD, "more table")} lack rows, too.`));
	parts.push(el("p", {}, "The page has ", el("button", {type: "button", class: "link", title: "Their names and columns", onclick: () => sqlOpen(SQL_TABLES)},
		`${head.sql.tables.length} of ${plural(head.sql.tables.length + names.length, "table")}`), names.length ? `, not ${visible(more.join(", "))}. ` : ". ", el("button", {type: "button", class: "link",
			onclick: () => sqlOpen("SELECT * FROM page_missing")}, "What is not here, and why"), ...head.sql.missing.length ? [". All rows of all: ",
			el("code", {}, `trace-view ${quoted(traceFile())}`), ", or ", el("code", {}, `trace-analyze --sql '…' ${quoted(traceFile())}`)] : []));
	return el("div", {class: "sql-scope"}, ...parts);
}

/** @param {string} query */
function sqlTitle(query) {
	const line = query.trim().replace(/\s+/g, " ");

	return visible(line.length > 70 ? line.slice(0, 69) + "…" : line);
}

// A list to choose a query from; it shows its name again at once.
function sqlList(label, entries) {
	const list = el("select", {"aria-label": label}, el("option", {value: ""}, label),
		...entries.map(([name], i) => el("option", {value: i}, name)));

	list.disabled = !entries.length;
	list.addEventListener("change", () => {
		const entry = entries[Number(list.value)];
		list.value = "";
		if (entry)
			sqlOpen(entry[1]);
	});
	return list;
}

function sqlListsDraw() {
	const examples = head.sql ? [...sqlExamples, ["What is not in the page", "SELECT * FROM page_missing"]] : sqlExamples;
	const findings = head.findings.filter((f) => f.sql).map((f) => [visible(`${f.kind}: ${f.text}`).slice(0, 90), f.sql]);
	const named = (queries) => queries.map((query) => [sqlTitle(query), query]);

	if (sql.drawn)
		sql.drawn.lists.replaceChildren(sqlList("Examples", examples), sqlList("Findings", findings),
			sqlList("Saved", named(sql.saved)), sqlList("History", named(sql.history)));
}

function sqlButton(label, title, action) {
	return el("button", {type: "button", title, onclick: action}, label);
}

function sqlDraw(box) {
	const editor = el("textarea", {spellcheck: "false", autocomplete: "off", "aria-label": "SQL query",
		placeholder: "SELECT …   Ctrl+Enter runs it, Escape leads to the answer"});
	const state = el("p", {class: "sql-state", role: "status"}), lists = el("div", {class: "sql-lists"});
	const stop = sqlButton("Stop", "Stop the query", sqlStopped), table = el("div", {class: "sql-result"});
	const csv = el("span", {class: "group", hidden: true}, sqlButton("CSV", "Download the result as CSV", () => resultCsv(false)),
		sqlButton("Copy", "Copy the result as CSV", () => resultCsv(true)));

	editor.value = sql.text;
	editor.addEventListener("input", () => {
		sql.text = editor.value;
		addressWrite();
	});
	editor.addEventListener("keydown", (event) => {
		if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
			event.preventDefault();
			sqlAsk(editor.value);
		} else if (event.key === "Escape") {
			event.preventDefault();
			event.stopPropagation();
			resultEnter();
		}
	});
	stop.disabled = true;
	sql.drawn = {editor, state, lists, stop, csv, table};
	sql.history = sqlStored("history");
	sql.saved = sqlStored("saved");
	box.classList.add("sql");
	box.append(el("div", {class: "sql-ask"}, sqlScope(), editor, el("div", {class: "sql-buttons"},
		sqlButton("Run", "Run the query (Ctrl+Enter)", () => sqlAsk(editor.value)), stop,
		sqlButton("Save", "Keep this query in this browser", sqlSave),
		sqlButton("Forget", "Keep this query no longer", sqlForget),
		sqlButton("Export", "Download the saved queries, or this one, as a file", sqlExport)), lists),
	el("div", {class: "sql-told"}, el("div", {class: "sql-head"}, state, csv), table));
	sqlListsDraw();
	resultInit(table);
	if (head.sql)
		sqlState("Making the tables…", "busy");
	sqlNeed();
	sqlAsk(sql.text); // of the address
}

/** @type {PanelTab} */
export const sqlTab = {
	id: "sql", label: "SQL", key: "q", about: "ask SQL",
	isThere: sqlIsThere,
	draw: sqlDraw,
	first: () => sql.drawn.editor,
	shown: () => resultFit(),
	state: () => sql.text,
	stateSet: (string) => {
		sql.text = string;
		if (sql.drawn)
			sql.drawn.editor.value = string;
	},
};
