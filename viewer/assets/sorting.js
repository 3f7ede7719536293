// sorting.js - tables whose rows are sorted by a click on a column's name, by keys, and by the page's address.
//
// A column is {id, name, key(row), cell(row), n: a number, wide: takes the room that is left}.  One without an id does not sort.  A key
// is a number, text, or null where nothing is known, which comes last.  Numbers begin with the largest; the third click is as it came.

import {addressWrite} from "./address.js";
import {detailsDraw} from "./details.js";
import {el} from "./format.js";
import {locks, locksDraw} from "./locks.js";
import {spans, spansDraw} from "./tasks.js";
import {topsDraw} from "./tops.js";

/** By table: how it was chosen to be sorted.  @type {Map<string, {column: string, descending: boolean}>} */
const sorted = new Map();

/** @param {string} table @param {any[]} rows @param {TableColumn[]} columns */
export function sortedRows(table, rows, columns) {
	const by = sorted.get(table), column = by && columns.find((each) => each.id === by.column);

	if (!column)
		return rows;
	const sign = by.descending ? -1 : 1, keys = new Map(rows.map((row) => [row, column.key(row)]));
	return [...rows].sort((a, b) => {
		const x = keys.get(a), y = keys.get(b);
		if (x === null || y === null)
			return Number(x === null) - Number(y === null);
		return sign * (typeof x === "string" ? x.localeCompare(String(y), "en", {numeric: true}) : x - Number(y));
	});
}

/** @param {string} table @param {TableColumn} column */
function sortNext(table, {id, n}) {
	const by = sorted.get(table), first = Boolean(n);

	if (!by || by.column !== id)
		sorted.set(table, {column: id, descending: first});
	else if (by.descending === first)
		sorted.set(table, {column: id, descending: !first});
	else
		sorted.delete(table);
	addressWrite();
}

// A table's head.  draw() draws the table anew when it is to be sorted in another way; the focus stays at the column.
/** @param {string} table @param {TableColumn[]} columns @param {() => HTMLElement} draw @returns {HTMLElement} draw() returns what has the table */
export function sortHead(table, columns, draw) {
	const by = sorted.get(table), row = el("tr");

	for (const column of columns) {
		const isBy = Boolean(by && by.column === column.id), mark = isBy ? by.descending ? " ▾" : " ▴" : "";
		const again = () => {
			sortNext(table, column);
			/** @type {HTMLElement} */ (draw().querySelector(`[data-table="${table}"] [data-column="${column.id}"] button`))?.focus();
		};
		row.append(el("th", {scope: "col", class: column.n ? "n" : column.wide ? "wide" : "", "data-column": column.id,
			"aria-sort": column.id ? isBy ? by.descending ? "descending" : "ascending" : "none" : undefined},
		column.id ? el("button", {type: "button", class: "sorts", title: `Sort by ${column.name}`, onclick: again}, column.name + mark) : column.name));
	}
	return rovingAcross(el("thead", {"data-table": table}, row));
}

// Arrows lead from one button to the next beside it.
/** @param {HTMLElement} box */
function rovingAcross(box) {
	box.addEventListener("keydown", (/** @type {KeyboardEvent} */ event) => {
		const all = [...box.querySelectorAll("button")], by = /** @type {Record<string, number>} */ ({ArrowLeft: -1, ArrowRight: 1})[event.key];
		const to = by && all[all.indexOf(/** @type {HTMLButtonElement} */ (document.activeElement)) + by];
		if (!by || event.ctrlKey || event.altKey || event.metaKey)
			return;
		event.preventDefault();
		event.stopPropagation();
		to?.focus();
	});
	return box;
}

// ---- the address: tables=<table>.<column>,<table>.-<column>: the latter descending ----

export function sortedAddress() {
	const parts = [...sorted].map(([table, {column, descending}]) => `${table}.${descending ? "-" : ""}${column}`);

	return parts.length ? [`tables=${parts.join(",")}`] : [];
}

/** @param {string} string */
export function sortedApply(string) {
	const before = sortedAddress().join();

	sorted.clear();
	for (const part of string.split(",")) {
		const [, table, sign, column] = /^(\w+)\.(-?)(\w+)$/.exec(part) || [];
		if (table)
			sorted.set(table, {column, descending: sign === "-"});
	}
	if (before !== sortedAddress().join())
		sortedDraw();
}

// All tables that are drawn, anew.
function sortedDraw() {
	topsDraw();
	detailsDraw();
	if (locks.chosen >= 0)
		locksDraw();
	if (spans.group >= 0)
		spansDraw();
}
