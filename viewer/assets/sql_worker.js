// sql_worker.js - the worker of the SQL box: SQLite, the tables, and the answer to a query.
//
// It runs behind sql.js and sql_values.js in one script (embed.sh).  SQLite's own functions are called, not sql.js's classes: rows come
// from arrays, millions of them, and a result goes out as arrays.
//
// Values of a result are those of sql_values.js.

import {SQL_BIG, SQL_BLOB, SQL_INTEGER, SQL_NULL, SQL_REAL, SQL_TEXT, answerAbout, answerCsv,
	answerOrder} from "./sql_values.js";

const ROW = 100, STATIC = 0, TRANSIENT = -1;
const EXACT_MAX = 2 ** 53;

let sqlite = null; // SQLite's functions
let memory = null; // of WebAssembly
let heap = null; // all of it; another when it has grown
let db = 0, scratch = 0; // pointers; scratch: 16 bytes
let result = null; // the last one

// ---- memory ----

function bytesAt(pointer, length) {
	if (!heap || heap.buffer !== memory.buffer)
		heap = new Uint8Array(memory.buffer);
	return heap.subarray(pointer, pointer + length);
}

function wordAt(pointer) {
	return new DataView(memory.buffer).getInt32(pointer, true);
}

function bytesPut(bytes) {
	const pointer = sqlite._malloc(bytes.length + 1);

	if (!pointer)
		throw new Error("out of memory");
	bytesAt(pointer, bytes.length).set(bytes);
	bytesAt(pointer + bytes.length, 1)[0] = 0;
	return pointer;
}

function stringPut(string) {
	return bytesPut(new TextEncoder().encode(string));
}

const decoder = new TextDecoder("utf-8");

// ---- SQLite ----

function message() {
	const pointer = sqlite._sqlite3_errmsg(db);

	return sqlite.UTF8ToString(pointer);
}

// A statement of the text at `sql`, and where what follows begins; 0 = there was only a comment.
function prepare(sql) {
	if (sqlite._sqlite3_prepare_v2(db, sql, -1, scratch, scratch + 4))
		throw new Error(message());
	return {stmt: wordAt(scratch), tail: wordAt(scratch + 4)};
}

function statement(text) {
	const sql = stringPut(text), {stmt} = prepare(sql);

	sqlite._free(sql);
	return stmt;
}

function run(text) {
	const stmt = statement(text), rc = sqlite._sqlite3_step(stmt);

	sqlite._sqlite3_finalize(stmt);
	if (rc !== 101 && rc !== ROW)
		throw new Error(message());
}

function quoted(name) {
	return `"${name.replaceAll('"', '""')}"`;
}

// ---- columns of the page that are read here only ----

// Varints of zigzag numbers; exact up to 2^53.
function numbers(bytes, n, delta) {
	const out = new Float64Array(n);
	let at = 0, sum = 0;

	for (let i = 0; i < n; i++) {
		let byte = bytes[at++], value = byte & 127, scale = 128;
		for (; byte > 127; scale *= 128) {
			byte = bytes[at++];
			value += (byte & 127) * scale;
		}
		value = value % 2 ? -(value + 1) / 2 : value / 2;
		sum = delta ? sum + value : value;
		out[i] = sum;
	}
	return out;
}

function bigNumbers(bytes, n, delta) {
	const out = new BigInt64Array(n);
	let at = 0, sum = 0n;

	for (let i = 0; i < n; i++) {
		let byte = bytes[at++], value = BigInt(byte & 127), shift = 7n;
		for (; byte > 127; shift += 7n) {
			byte = bytes[at++];
			value |= BigInt(byte & 127) << shift;
		}
		value = BigInt.asIntN(64, value & 1n ? -(value >> 1n) - 1n : value >> 1n);
		sum = delta ? BigInt.asIntN(64, sum + value) : value;
		out[i] = sum;
	}
	return out;
}

function varints(bytes, n) {
	const out = new Float64Array(n);
	let at = 0;

	for (let i = 0; i < n; i++) {
		let byte = bytes[at++], value = byte & 127;
		for (let scale = 128; byte > 127; scale *= 128) {
			byte = bytes[at++];
			value += (byte & 127) * scale;
		}
		out[i] = value;
	}
	return out;
}

// Texts in SQLite's memory: {at, length} by id.
function textsPut(lengths, data) {
	const at = new Float64Array(lengths.length), base = bytesPut(data);
	let from = base;

	for (let i = 0; i < lengths.length; i++) {
		at[i] = from;
		from += lengths[i];
	}
	return {at, length: lengths};
}

// n values as the page's head tells them: {kind or 0, kinds, integer, real, text}, each by row.
function valuesOf(page, [kind, kinds, integers, wide, reals, texts], n) {
	const all = {kind, kinds: kinds < 0 ? null : page.own[kinds].bytes, integer: null, real: null, text: null};
	const each = (wanted, compact, dense) => {
		for (let i = 0, from = 0; i < n; i++)
			if ((all.kinds ? all.kinds[i] : kind) === wanted)
				dense[i] = compact[from++];
		return dense;
	};

	if (integers >= 0) {
		const {type, bytes, n: many} = page.own[integers];
		all.integer = wide ? each(SQL_INTEGER, bigNumbers(bytes, many, type === "delta"), new BigInt64Array(n))
			: each(SQL_INTEGER, numbers(bytes, many, type === "delta"), new Float64Array(n));
	}
	if (reals >= 0) {
		const {bytes} = page.own[reals];
		all.real = each(SQL_REAL, new Float64Array(bytes.slice().buffer), new Float64Array(n));
	}
	if (texts >= 0)
		all.text = each(SQL_TEXT, varints(page.own[texts].bytes, page.own[texts].n), new Uint32Array(n));
	return all;
}

// ---- binding: each of these makes a function (statement, parameter, row) ----

function bindNull(stmt, parameter) {
	sqlite._sqlite3_bind_text(stmt, parameter, 0, 0, STATIC);
}

function bindNumber(stmt, parameter, number) {
	if (number === (number | 0))
		sqlite._sqlite3_bind_int(stmt, parameter, number);
	else
		sqlite._sqlite3_bind_double(stmt, parameter, number);
}

function bindDecimal(stmt, parameter, string) {
	const pointer = stringPut(string);

	sqlite._sqlite3_bind_text(stmt, parameter, pointer, string.length, TRANSIENT);
	sqlite._free(pointer);
}

// A column's type INTEGER makes an integer of a decimal number.
function bindBig(stmt, parameter, big) {
	if (big >= -EXACT_MAX && big <= EXACT_MAX)
		bindNumber(stmt, parameter, Number(big));
	else
		bindDecimal(stmt, parameter, big.toString());
}

function bindHalves(stmt, parameter, low, high) {
	if (high < 0x200000)
		bindNumber(stmt, parameter, high * 4294967296 + low);
	else
		bindBig(stmt, parameter, BigInt.asIntN(64, BigInt(high) << 32n | BigInt(low)));
}

function bindsOwn(page, values) {
	const {kind, kinds, integer, real, text} = values, {at, length} = page.ownTexts;
	const wide = integer instanceof BigInt64Array;

	return (stmt, parameter, i) => {
		switch (kinds ? kinds[i] : kind) {
		case SQL_INTEGER:
			if (wide)
				bindBig(stmt, parameter, integer[i]);
			else
				bindNumber(stmt, parameter, integer[i]);
			break;
		case SQL_REAL:
			sqlite._sqlite3_bind_double(stmt, parameter, real[i]);
			break;
		case SQL_TEXT:
			sqlite._sqlite3_bind_text(stmt, parameter, at[text[i]], length[text[i]], STATIC);
			break;
		default:
			bindNull(stmt, parameter);
		}
	};
}

// Of a column without a type: integers come as texts, and the parameter behind all others says so.
function bindsUntyped(page, values, n) {
	const bind = bindsOwn(page, values);

	return (stmt, parameter, i) => {
		const whole = (values.kinds ? values.kinds[i] : values.kind) === SQL_INTEGER;
		sqlite._sqlite3_bind_int(stmt, parameter + n, whole ? 1 : 0);
		if (whole)
			bindDecimal(stmt, parameter, values.integer[i].toString());
		else
			bind(stmt, parameter, i);
	};
}

// The number that a row's number refers to: table[number - 1]; 0 = NULL.
function bindsThrough(column, table) {
	return (stmt, parameter, i) => {
		if (column[i])
			bindNumber(stmt, parameter, table[column[i] - 1]);
		else
			bindNull(stmt, parameter);
	};
}

function bindsText(column, {at, length}, nullable) {
	return (stmt, parameter, i) => {
		if (column[i] || !nullable)
			sqlite._sqlite3_bind_text(stmt, parameter, at[column[i]], length[column[i]], STATIC);
		else
			bindNull(stmt, parameter);
	};
}

function unzigzag(value) {
	return value % 2 ? -(value + 1) / 2 : value / 2;
}

// For each frame of all stacks one after the other, its stack or its depth there.
function framePlaces(counts, wanted) {
	const out = [];

	for (let stack = 0; stack < counts.length; stack++)
		for (let depth = 0; depth < counts[stack]; depth++)
			out.push(wanted === "stack" ? stack : depth);
	return out;
}

// How the timeline's columns become values (sqlbox.h).
const makers = {
	value: (page, c) => (stmt, parameter, i) => bindNumber(stmt, parameter, c[i]),
	id: (page, c) => (stmt, parameter, i) => c[i] ? bindNumber(stmt, parameter, c[i]) : bindNull(stmt, parameter),
	next: (page, c) => (stmt, parameter, i) => c[i] ? bindNumber(stmt, parameter, c[i] - 1) : bindNull(stmt, parameter),
	signed: (page, c) => (stmt, parameter, i) => bindNumber(stmt, parameter, unzigzag(c[i])),
	wide: (page, low, high) => (stmt, parameter, i) => bindHalves(stmt, parameter, low[i], high[i]),
	thread: (page, c) => bindsThrough(c, page.columns["thread.serial"]),
	unlock: (page, c) => bindsThrough(c, page.columns["unlock.id"]),
	sampled: (page, c) => bindsThrough(c, page.columns["sampled.event"]),
	fiber: (page, c) => {
		const low = page.columns["fiber.low"], high = page.columns["fiber.high"];
		return (stmt, parameter, i) => c[i] ? bindHalves(stmt, parameter, low[c[i] - 1], high[c[i] - 1])
			: bindNull(stmt, parameter);
	},
	object: (page, c) => {
		const low = page.columns["object.low"], high = page.columns["object.high"];
		return (stmt, parameter, i) => c[i] ? bindHalves(stmt, parameter, low[c[i] - 1], high[c[i] - 1])
			: bindNumber(stmt, parameter, 0);
	},
	reason: (page, c) => bindsText(c, page.reasons, true),
	text: (page, c) => bindsText(c, page.texts, true),
	string: (page, c) => bindsText(c, page.texts, false),
	time: (page, c) => (stmt, parameter, i) => bindNumber(stmt, parameter, page.start + c[i]),
	maybe: (page, c) => (stmt, parameter, i) => c[i] ? bindNumber(stmt, parameter, page.start + c[i] - 1)
		: bindNull(stmt, parameter),
	end: (page, start, length) => (stmt, parameter, i) => bindNumber(stmt, parameter, page.start + start[i] + length[i]),
	wake: (page, start, c) => (stmt, parameter, i) => c[i]
		? bindNumber(stmt, parameter, page.start + start[i] + unzigzag(c[i] - 1)) : bindNull(stmt, parameter),
	stack: (page, counts) => makers.value(page, framePlaces(counts, "stack")),
	depth: (page, counts) => makers.value(page, framePlaces(counts, "depth")),
};

// ---- tables ----

// By column a Map from the row to the index among the exceptions.
function exceptionsOf(page, told) {
	const byColumn = new Map();

	if (!told)
		return {byColumn, bind: null};
	const [n, rows, columns, values] = told;
	const row = valuesOf(page, rows, n).integer, column = valuesOf(page, columns, n).integer;
	for (let i = 0; i < n; i++) {
		if (!byColumn.has(column[i]))
			byColumn.set(column[i], new Map());
		byColumn.get(column[i]).set(row[i], i);
	}
	return {byColumn, bind: bindsOwn(page, valuesOf(page, values, n))};
}

function withExceptions(bind, rows, bindException) {
	return (stmt, parameter, i) => {
		const exception = rows.get(i);
		if (exception === undefined)
			bind(stmt, parameter, i);
		else
			bindException(stmt, parameter, exception);
	};
}

function columnText([name, type, key, how, source], end) {
	const text = `${quoted(name)} ${type}${key ? " PRIMARY KEY" : ""}`;

	return how === "formula" ? `${text} AS (${source.replace("TRACE_END_NS", end)}) VIRTUAL` : text;
}

// By row of a table its row in the timeline's columns; null = the same.
function drawnRows(page, n, extra) {
	if (!extra)
		return null;
	const rows = new Uint32Array(n), missing = new Set(valuesOf(page, extra[1], extra[0]).integer);
	for (let i = 0, drawn = 0; i < n; i++)
		rows[i] = missing.has(i) ? 0 : drawn++;
	return rows;
}

function binders(page, n, columns, exceptions, extra) {
	const stored = columns.filter(([, , , how]) => how !== "formula");
	const {byColumn, bind: bindException} = exceptionsOf(page, exceptions), rows = drawnRows(page, n, extra);

	return stored.map((column) => {
		const [, type, , how, ...sources] = column, at = columns.indexOf(column);
		if (how === "own") {
			const values = valuesOf(page, sources[0], n);
			return type ? bindsOwn(page, values) : bindsUntyped(page, values, stored.length);
		}
		const make = makers[how](page, ...sources.map((name) => page.columns[name]));
		const bind = rows ? (stmt, parameter, i) => make(stmt, parameter, rows[i]) : make;
		return byColumn.has(at) ? withExceptions(bind, byColumn.get(at), bindException) : bind;
	});
}

function tableMake(page, [name, n, columns, exceptions, extra]) {
	const stored = columns.filter(([, , , how]) => how !== "formula");
	const bind = binders(page, n, columns, exceptions, extra);

	run(`CREATE TABLE ${quoted(name)}(${columns.map((c) => columnText(c, page.end)).join(", ")})`);
	const parameters = stored.map(([, type], i) => type ? `?${i + 1}`
		: `CASE WHEN ?${i + 1 + stored.length} THEN CAST(?${i + 1} AS INTEGER) ELSE ?${i + 1} END`);
	const stmt = statement(`INSERT INTO ${quoted(name)}(${stored.map(([column]) => quoted(column)).join(", ")}) ` +
		`VALUES(${parameters.join(", ")})`);
	for (let i = 0; i < n; i++) {
		for (let c = 0; c < bind.length; c++)
			bind[c](stmt, c + 1, i);
		if (sqlite._sqlite3_step(stmt) !== 101)
			throw new Error(`${name}: ${message()}`);
		sqlite._sqlite3_reset(stmt);
	}
	sqlite._sqlite3_finalize(stmt);
}

// What the page does not have, as a table.
function missingMake(missing) {
	run("CREATE TABLE page_missing(table_name TEXT, rows INTEGER, why TEXT)");
	for (const [table, rows, why] of missing)
		run(`INSERT INTO page_missing VALUES('${table.replaceAll("'", "''")}', ${rows}, '${why}')`);
}

// place(stack) or chain(stack).
function functionMake(page, name) {
	const n = page.sql.stacks, {kind, kinds, text} = valuesOf(page, page.sql[name], n), {at, length} = page.ownTexts;
	const call = sqlite.addFunction((context, count, values) => {
		const value = wordAt(values);
		const stack = sqlite._sqlite3_value_type(value) === SQL_NULL ? 0 : Math.trunc(sqlite._sqlite3_value_double(value));
		if (stack >= 1 && stack <= n && (kinds ? kinds[stack - 1] : kind) === SQL_TEXT)
			sqlite._sqlite3_result_text(context, at[text[stack - 1]], length[text[stack - 1]], STATIC);
		else
			sqlite._sqlite3_result_null(context);
	}, "viii");
	const pointer = stringPut(name), utf8Deterministic = 1 | 0x800;

	if (sqlite._sqlite3_create_function_v2(db, pointer, 1, utf8Deterministic, 0, call, 0, 0, 0))
		throw new Error(message());
}

function reasonsPut(reasons) {
	const names = reasons.map((reason) => new TextEncoder().encode(reason ? reason[0] : ""));
	const data = new Uint8Array(names.reduce((sum, name) => sum + name.length, 0));
	let at = 0;

	for (const name of names) {
		data.set(name, at);
		at += name.length;
	}
	return textsPut(names.map((name) => name.length), data);
}

async function engineOpen(wasm) {
	sqlite = await initSqlJs({instantiateWasm: (imports, done) => {
		WebAssembly.instantiate(wasm, imports).then(({instance}) => {
			memory = Object.values(instance.exports).find((e) => e instanceof WebAssembly.Memory);
			done(instance);
		}).catch((error) => self.postMessage({kind: "failed", text: error.message}));
		return {};
	}});
	scratch = sqlite._malloc(16);
	const name = stringPut(":memory:");
	if (sqlite._sqlite3_open(name, scratch))
		throw new Error("SQLite does not open");
	db = wordAt(scratch);
}

async function open(page) {
	const begun = performance.now();

	await engineOpen(page.wasm);
	page.texts = textsPut(page.columns["text.bytes"], page.columns["text.data"]);
	const [lengths, data] = page.sql.texts;
	page.ownTexts = textsPut(varints(page.own[lengths].bytes, page.own[lengths].n), page.own[data].bytes);
	page.reasons = reasonsPut(page.reasonNames);
	run("PRAGMA journal_mode=OFF");
	run("BEGIN");
	let done = 0;
	for (const table of page.sql.tables) {
		tableMake(page, table);
		done += table[1];
		self.postMessage({kind: "progress", done});
	}
	missingMake(page.sql.missing);
	run("COMMIT");
	functionMake(page, "place");
	functionMake(page, "chain");
	self.postMessage({kind: "ready", ms: performance.now() - begun});
}

// ---- queries ----

const WORD_SLOTS = 1024, WORD_SHORT = 64; // of words seen lately; bytes

class Column {
	constructor(name) {
		this.name = name;
		this.kind = new Uint8Array(256);
		this.number = new Float64Array(256);
		this.words = [];
		this.known = new Map();
		this.lately = []; // by hash: {bytes, index}
	}

	add(row, kind, number) {
		if (row === this.kind.length) {
			const kinds = new Uint8Array(row * 2), values = new Float64Array(row * 2);
			kinds.set(this.kind);
			values.set(this.number);
			this.kind = kinds;
			this.number = values;
		}
		this.kind[row] = kind;
		this.number[row] = number;
	}

	word(string) {
		let index = this.known.get(string);
		if (index === undefined) {
			index = this.words.push(string) - 1;
			this.known.set(string, index);
		}
		return index;
	}

	// The same, of a text in memory: most texts are a few that come again and again.
	wordAt(bytes) {
		if (bytes.length > WORD_SHORT)
			return this.word(decoder.decode(bytes));
		let hash = bytes.length;
		for (let i = 0; i < bytes.length; i++)
			hash = Math.imul(hash, 31) + bytes[i] | 0;
		hash = (hash >>> 10 ^ hash) & WORD_SLOTS - 1;
		const entry = this.lately[hash];
		if (entry && entry.bytes.length === bytes.length && entry.bytes.every((byte, i) => byte === bytes[i]))
			return entry.index;
		const index = this.word(decoder.decode(bytes));
		this.lately[hash] = {bytes: bytes.slice(), index};
		return index;
	}

	end(rows) {
		this.kind = this.kind.slice(0, rows);
		this.number = this.number.slice(0, rows);
		this.known = null;
		return {name: this.name, kind: this.kind, number: this.number, words: this.words};
	}
}

function valueBytes(stmt, c) {
	const pointer = sqlite._sqlite3_column_text(stmt, c);

	return bytesAt(pointer, sqlite._sqlite3_column_bytes(stmt, c));
}

function valueAdd(column, row, stmt, c) {
	const kind = sqlite._sqlite3_column_type(stmt, c);

	if (kind === SQL_INTEGER || kind === SQL_REAL) {
		const number = sqlite._sqlite3_column_double(stmt, c);
		if (kind === SQL_INTEGER && Math.abs(number) >= EXACT_MAX)
			column.add(row, SQL_BIG, column.wordAt(valueBytes(stmt, c)));
		else
			column.add(row, kind, number);
	} else if (kind === SQL_TEXT) {
		column.add(row, SQL_TEXT, column.wordAt(valueBytes(stmt, c)));
	} else if (kind === SQL_BLOB) {
		const pointer = sqlite._sqlite3_column_blob(stmt, c);
		const bytes = bytesAt(pointer, sqlite._sqlite3_column_bytes(stmt, c));
		column.add(row, SQL_BLOB, column.word(Array.from(bytes, (b) => b.toString(16).padStart(2, "0")).join("").toUpperCase()));
	} else {
		column.add(row, SQL_NULL, 0);
	}
}

const REFUSED = "query refused: it may only read the trace's tables"; // as trace-analyze says

function rowsOf(stmt, limit) {
	const columns = [];
	let n = 0, rc = 0;

	for (let c = 0; c < sqlite._sqlite3_column_count(stmt); c++)
		columns.push(new Column(sqlite.UTF8ToString(sqlite._sqlite3_column_name(stmt, c))));
	while ((rc = sqlite._sqlite3_step(stmt)) === ROW && n < limit) {
		for (let c = 0; c < columns.length; c++)
			valueAdd(columns[c], n, stmt, c);
		n++;
	}
	if (rc !== ROW && rc !== 101)
		throw new Error(/readonly/.test(message()) ? REFUSED : message());
	return {n, more: rc === ROW, columns: columns.map((column) => column.end(n))};
}

// ---- what a query may do: what analyzer/sql/sql.c allows ----

const TOKENS = /\s+|--[^\n]*|\/\*[^]*?(?:\*\/|$)|'(?:[^']|'')*'|"(?:[^"]|"")*"|`(?:[^`]|``)*`|\[[^\]]*\]|[\w$\u0080-\uffff]+|./gs;
const READERS = ["table_info", "table_xinfo", "table_list", "function_list", "module_list", "pragma_list", "database_list", "collation_list",
	"compile_options"]; // pragmas

// The first statement of a text, as tokens without blanks and comments; names are unquoted, keywords in capitals.
/** @param {string} text */
function statementTokens(text) {
	const tokens = /** @type {{keyword: string, name: string}[]} */ ([]);

	for (const [token] of text.matchAll(TOKENS)) {
		if (token === ";")
			break;
		if (/^(?:\s|--|\/\*)/.test(token))
			continue;
		const isQuoted = /^["'`[]/.test(token) && token.length > 1;
		tokens.push({keyword: isQuoted ? "" : token.toUpperCase(), name: isQuoted ? token.slice(1, -1) : token});
	}
	return tokens;
}

// Whether a statement only reads, so far as its words tell it: a pragma does by its name, alone or as a table; and what is explained is not run, but
// asked for.
/** @param {string} text */
function mayRead(text) {
	const tokens = statementTokens(text), explained = tokens[0]?.keyword === "EXPLAIN" ? tokens[1]?.keyword === "QUERY" ? 3 : 1 : 0;
	const [verb, ...rest] = tokens.slice(explained), isReader = (name) => READERS.includes(name.toLowerCase());

	if (verb?.keyword === "PRAGMA")
		return isReader((rest[1]?.keyword === "." ? rest[2] : rest[0])?.name ?? "");
	if (rest.some(({name}) => /^pragma_/i.test(name) && !isReader(name.slice("pragma_".length))))
		return false;
	return !explained || (["SELECT", "VALUES", "WITH"].includes(verb?.keyword) && !rest.some(({keyword}, i) =>
		["INSERT", "DELETE", "UPDATE"].includes(keyword) || (keyword === "REPLACE" && rest[i + 1]?.keyword === "INTO")));
}

const TOLD_BYTES = 250; // of an error: analyzer/sql/no_column.c has as many

// The columns of the first table that a query names, if one that it asks for is not there: as trace-analyze tells it.
/** @param {string} why @param {string} sql */
function columnsTold(why, sql) {
	for (const [table] of why.startsWith("no such column: ") ? sql.matchAll(/[a-z_0-9]+/gi) : []) {
		const stmt = statement(`SELECT name FROM pragma_table_xinfo('${table}') WHERE hidden <> 1`), {columns: [{kind, number, words}], n} = rowsOf(stmt, 1000);
		let told = why;

		sqlite._sqlite3_finalize(stmt);
		for (let i = 0; i < n && kind[i] === SQL_TEXT; i++) {
			const more = `${i ? ", " : `; of ${table} there are `}${words[number[i]]}`;
			if (new TextEncoder().encode(told + more).length > TOLD_BYTES)
				return `${told}, ...`;
			told += more;
		}
		if (n)
			return told;
	}
	return why;
}

// All statements; the last one that has columns is the result.
function ask({id, sql, limit}) {
	const begun = performance.now(), text = stringPut(sql);
	let at = text, last = {n: 0, more: false, columns: []}, answers = 0;

	try {
		while (bytesAt(at, 1)[0]) {
			run("PRAGMA query_only=1");
			if (!mayRead(sqlite.UTF8ToString(at))) // some pragmas act when they are prepared
				throw new Error(REFUSED);
			const {stmt, tail} = prepare(at);
			at = tail;
			if (!stmt)
				continue;
			try {
				// query_only lets ATTACH, BEGIN and the like through.
				if (!sqlite._sqlite3_column_count(stmt))
					throw new Error(REFUSED);
				last = rowsOf(stmt, limit);
				answers++;
			} finally {
				sqlite._sqlite3_finalize(stmt);
			}
		}
	} catch (error) {
		throw error instanceof Error ? new Error(columnsTold(error.message, sql)) : error;
	} finally {
		sqlite._free(text);
	}
	result = {...last, id};
	self.postMessage({kind: "result", id, ms: performance.now() - begun, answers, ...last});
}

// ---- the result: its order, and as CSV ----

function sort({id, of, column, descending}) {
	answerAbout(result, of);
	self.postMessage({kind: "order", id, order: answerOrder(result, column, descending)});
}

function csv({id, of, order}) {
	answerAbout(result, of);
	self.postMessage({kind: "csv", id, blob: answerCsv(result, order)});
}

const answers = {ask, sort, csv};

self.onmessage = ({data}) => {
	if (data.kind === "open") {
		open(data).catch((error) => self.postMessage({kind: "failed", text: error.message}));
		return;
	}
	try {
		answers[data.kind](data);
	} catch (error) {
		self.postMessage({kind: "error", id: data.id, text: error instanceof Error ? error.message : String(error)});
	}
};
