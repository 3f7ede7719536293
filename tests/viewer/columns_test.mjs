// columns_test.mjs - run by modules.sh: a column that viewer/*.c write is read by the page's program or by its SQL box, and what these
// read is written.  A column that is missing from a page is empty, so that a name with a mistake in it would show nothing at all.

import assert from "node:assert/strict";
import {readFileSync, readdirSync} from "node:fs";
import {test} from "node:test";

const viewer = new URL("../../viewer/", import.meta.url);
const filesOf = (folder, ending) => readdirSync(new URL(folder, viewer)).filter((name) => name.endsWith(ending)).sort()
	.map((name) => ({name, text: readFileSync(new URL(folder + name, viewer), "utf8")}));
const all = (text, pattern) => Array.from(text.matchAll(pattern), (match) => match.slice(1));
const COLUMN = /"([a-z]+\.[a-z][a-z0-9_]*)"/g;

// Names as literals, and as lists of a macro: {LOCK_COLUMNS(COLUMN_NAME)} where COLUMN_NAME is "lock." #name.
function namesWritten({text}) {
	const names = all(text, COLUMN).map(([name]) => name).filter((name) => !/\.(?:c|h|js|css|html)$/.test(name));

	for (const [prefix, list] of all(text, /define COLUMN_NAME\(name, value\) "([a-z]+\.)" #name,\n.*\{([A-Z_]+)\(COLUMN_NAME\)\}/g)) {
		const [lines] = new RegExp(`define ${list}\\(C\\)(?:.*\\\\\\n)*.*`).exec(text);
		names.push(...all(lines, /\bC\(([a-z0-9_]+),/g).map(([name]) => prefix + name));
	}
	return names;
}

// What a source reads: names; where the table's name is told at run time, what a name ends with; tables of which the column's name is
// told at run time.
function namesRead({text}) {
	const code = text.replace(/^\s*\/\/.*$/gm, "");
	const names = all(code, /["`]([a-z]+\.[a-z][a-z0-9_]*)["`]/g).map(([name]) => name);
	const ends = all(code, /`\$\{[^}]*\}(?:\.[a-z]+\b)?\$?\{?[^`]*?((?:\.|_)[a-z][a-z0-9_]*)`/g).map(([end]) => end);

	for (const [owner, prefix, columns] of all(code, /([.\w]*)\btable\(\s*(?:"([a-z]+)"|[a-z]+),([^()]*)\)/g))
		if (!owner.endsWith("."))
			for (const [column] of all(columns, /"([a-z][a-z0-9_]*)"/g))
				prefix ? names.push(`${prefix}.${column}`) : ends.push(`.${column}`);
	return {names, ends, whole: all(code, /`([a-z]+)\.\$\{[^}]*\}`/g).map(([name]) => name)};
}

// The decoder makes these of other columns (columnsMade() in annotations.js, waits in rows.js).
const MADE = ["log.thread", "park.id", "region.thread", "task.end_thread"];
// tops.js gives table() the name of the column that leads to a row of another table.
const KEYS = ["fiberwait.wait", "hold.unlock", "wait.park"];

const sources = filesOf("", ".c").filter(({name}) => !/^sqlbox(?!_map)/.test(name));
const isMap = ({name}) => name === "sqlbox_map.c"; // from which columns of the page the SQL box makes its tables
const written = new Set(sources.filter((source) => !isMap(source)).flatMap(namesWritten));
const tables = new Set(Array.from(written, (name) => name.split(".")[0]));
const isColumn = (name) => tables.has(name.split(".")[0]);
const read = filesOf("assets/", ".js").map(namesRead);
const readByName = new Set([...read.flatMap(({names}) => names), ...sources.filter(isMap).flatMap(namesWritten)].filter(isColumn));
const readWhole = new Set(read.flatMap(({whole}) => whole));
const readByEnd = new Set(read.flatMap(({ends}) => ends));

test("the names are found where they are", () => {
	assert.ok(written.size > 300 && written.has("lock.convoys") && written.has("order.deadlock") && written.has("now.region"));
	assert.ok(readByName.size > 300 && readByName.has("lock.convoys") && readByName.has("cause.instead_ns"));
});

test("each column that is read is written", () => {
	assert.deepEqual(Array.from(readByName).filter((name) => !written.has(name) && !MADE.includes(name)), []);
});

test("each column that is written is read", () => {
	const isRead = (name) => readByName.has(name) || readWhole.has(name.split(".")[0]) || KEYS.includes(name) ||
		Array.from(readByEnd).some((end) => name.endsWith(end));

	assert.deepEqual(Array.from(written).filter((name) => !isRead(name)), []);
});
