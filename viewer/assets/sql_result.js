// sql_result.js - the answer to a query as a table of which only the visible rows are elements, and the
// ways from it into the timeline.
//
// A result has of each column {name, kind, number, words}, as in sql_values.js.

import {selectionNamed} from "./address.js";
import {head, visible} from "./data.js";
import {byId, duration, el, exactTime, plural} from "./format.js";
import {rangeSet, zoomToSelection} from "./input.js";
import {stackPath, trace} from "./rows.js";
import {select, selectionAt, selectionSpan} from "./select.js";
import {download, sql, sqlQuestion, sqlState} from "./sql.js";
import {SQL_NULL} from "./sql_values.js";
import {view, viewSet} from "./view.js";

const RESULT_ROW = 20, RESULT_SPARE = 20, RESULT_WIDEST = 60; // CSS pixels; rows; characters

export const result = {
	box: null, rows: null, spacer: null, // elements
	told: null, // the answer; null = none
	order: null, // which rows in which order; null = as they came
	sorted: -1, descending: false, // by this column
	links: [], // by column: what it leads to; null = nothing
	widths: "",
};

// Columns with times, by the words of docs/schema.md; all other ..._ns are durations.
const TIME_NAME = /(?:^|[^a-z])(?:\w+_)?(?:start|begin|began|end|ended|ts|time|wake|since|first|last|created|ready|freed|held|from|to|stack|next)_ns\b/i;
const DURATION_NAME = /^(?:on_cpu|run|runnable|parked|waited|caused|lifetime|duration|\w*latency)_ns$/i;

const linkedByName = {
	thread: "thread", holder: "thread", holder_thread: "thread", waker: "thread", waker_thread: "thread", start_thread: "thread",
	end_thread: "thread", creator_thread: "thread", park: "park", unlock: "unlock", task: "task", region: "region", fiber: "fiber",
	waker_fiber: "fiber",
};
const linkedById = {
	threads: "thread", parks: "park", unlocks: "unlock", tasks: "task", regions: "region", fibers: "fiber",
	fiber_runs: "fiberrun", fiber_waits: "fiberwait",
};

// What `id` names in the answer to a query: rows of its table, if there is only one.
/** @param {string} query */
function idKind(query) {
	const tables = [...query.matchAll(/\b(?:from|join)\s+"?(\w+)/gi)].map(([, name]) => name.toLowerCase());
	const kinds = new Set(tables.map((name) => linkedById[name]));

	return kinds.size === 1 ? [...kinds][0] : undefined;
}

/** @param {string} name */
function isTimeName(name) {
	return TIME_NAME.test(name) && !DURATION_NAME.test(name);
}

/** @param {string} name @param {string} query */
function columnLink(name, query) {
	if (isTimeName(name))
		return "time";
	return (name === "id" ? idKind(query) : linkedByName[name]) || null;
}

// ---- values ----

/** @param {number} i */
function valueShown(column, i) {
	const value = column.number[i];

	switch (column.kind[i]) {
	case 1: return String(value);
	case 2: return String(value);
	case SQL_NULL: return "NULL";
	default: return visible(column.words[value].slice(0, 1000));
	}
}

/** @param {number} i */
function resultTitle(c, i) {
	const column = result.told.columns[c], string = valueShown(column, i);

	if (column.kind[i] === 1 && result.links[c] === "time")
		return `${exactTime(column.number[i])}: show it in the timeline`;
	if (column.kind[i] === 1 && /_ns\b/.test(column.name))
		return duration(column.number[i]);
	if (column.kind[i] === 1 && /^(?:\w+_)?stack$/.test(column.name))
		return stackPath(column.number[i], 8);
	return string.length > 12 ? string : undefined;
}

// ---- into the timeline ----

/** @param {number} i @param {string} name */
function resultNumber(i, name) {
	const column = result.told.columns.find((each) => each.name === name);

	return column && column.kind[i] === 1 ? column.number[i] : null;
}

// The row that a value names, or null.
/** @param {number} i */
function resultSelection(c, i) {
	const column = result.told.columns[c], kind = result.links[c];

	if (!kind || kind === "time" || column.kind[i] === SQL_NULL || column.kind[i] === 2)
		return null;
	return selectionNamed(kind, column.kind[i] === 1 ? String(column.number[i]) : column.words[column.number[i]]);
}

// The row of the table that this row of the answer is of; null if it is of none.
/** @param {number} i */
function resultOwn(i) {
	const id = result.told.columns.findIndex((column, c) => column.name === "id" && result.links[c]);

	return id < 0 ? null : resultSelection(id, i);
}

// Shows a time, all of the row's if it has a start and an end; and selects what it is, or its thread then.
/** @param {number} i */
function resultJumpTime(c, i) {
	const at = result.told.columns[c].number[i] - head.start_ns, own = resultOwn(i);
	const from = resultNumber(i, "start_ns"), until = resultNumber(i, "end_ns"), thread = resultNumber(i, "thread");
	const idx = trace.threads.findIndex((t) => t.serial === thread);
	const span = view.t1 - view.t0;

	if (own) {
		select(own);
		zoomToSelection();
		return;
	}
	if (from !== null && until !== null && until > from) {
		rangeSet({t0: Math.max(from - head.start_ns, trace.begin), t1: Math.min(until - head.start_ns, trace.span)});
		zoomToSelection();
	} else {
		viewSet(Math.max(trace.begin, at - span / 20), Math.min(trace.span, at + span / 20));
	}
	if (idx >= 0)
		select(selectionAt(idx, Math.min(Math.max(at, trace.begin), trace.span - 1)));
}

/** @param {number} i */
function resultJump(c, i) {
	const sel = resultSelection(c, i);

	if (result.links[c] === "time")
		resultJumpTime(c, i);
	else if (sel) {
		select(sel);
		if (selectionSpan(sel))
			zoomToSelection();
	} else
		sqlState(`This ${result.links[c]} is not drawn in the timeline.`, "warn");
}

// ---- the table ----

/** @param {number} i */
function resultCell(c, i) {
	const column = result.told.columns[c], kind = column.kind[i], string = valueShown(column, i);
	const linked = result.links[c] && kind !== SQL_NULL && kind !== 2;
	const name = kind === SQL_NULL ? "null" : kind < 3 || kind === 6 ? "number" : "";

	return el("div", {role: "cell", class: name, title: resultTitle(c, i)}, linked
		? el("button", {type: "button", class: "link", onclick: () => resultJump(c, i)}, string) : string);
}

// Where the keyboard is among the cells: {at: a row of the answer as it is sorted, c: a column}; null = elsewhere.
function resultPlace() {
	const cell = document.activeElement.closest(".sql-row > div");

	return cell ? {at: Number(cell.parentElement.getAttribute("aria-rowindex")) - 2, c: [...cell.parentElement.children].indexOf(cell)} : null;
}

// The way into the timeline in a cell that is an element now.
/** @param {number} at @param {number} c @returns {HTMLElement | null} */
function resultButton(at, c) {
	return result.rows.querySelector(`[aria-rowindex="${at + 2}"] > :nth-child(${c + 1}) > button`);
}

// Leads the keyboard to a cell; its row is scrolled to.
/** @param {number} at @param {number} c */
function resultGo(at, c) {
	const {box} = result, top = at * RESULT_ROW, names = /** @type {HTMLElement} */ (box.querySelector(".sql-names")).offsetHeight;
	const room = box.clientHeight - names - RESULT_ROW;

	if (top < box.scrollTop || top > box.scrollTop + room) {
		box.scrollTop = top < box.scrollTop ? top : top - room;
		resultDraw();
	}
	resultButton(at, c)?.focus({preventScroll: true});
}

// From the editor to the first way into the timeline, or where the answer has none to the tab's button.
export function resultEnter() {
	const button = /** @type {HTMLElement} */ (result.box.querySelector(".sql-row button")) || byId("panel-tab-sql");

	button.focus();
}

// Arrows lead from one way into the timeline to the next, Escape back to the editor.
/** @param {KeyboardEvent} event */
function resultKey(event) {
	const place = resultPlace();

	if (!place || event.ctrlKey || event.altKey || event.metaKey)
		return;
	const {at, c} = place, last = result.told.n - 1, page = Math.max(1, Math.floor(result.box.clientHeight / RESULT_ROW) - 2);
	const row = {ArrowUp: at - 1, ArrowDown: at + 1, PageUp: at - page, PageDown: at + page, Home: 0, End: last}[event.key];
	const step = {ArrowLeft: -1, ArrowRight: 1}[event.key];
	if (row !== undefined)
		resultGo(Math.max(0, Math.min(last, row)), c);
	else if (event.key === "Escape")
		sql.drawn.editor.focus();
	else if (!step)
		return;
	let to = c + step;
	while (step && result.links[to] === null)
		to += step;
	if (step && result.links[to])
		resultGo(at, to);
	event.preventDefault();
	event.stopPropagation();
}

function resultDraw() {
	if (!result.told || !result.box.isConnected)
		return;
	const place = resultPlace();
	const n = result.told.n, columns = result.told.columns, rows = [];
	const first = Math.max(0, Math.floor(result.box.scrollTop / RESULT_ROW) - RESULT_SPARE);
	const last = Math.min(n, first + Math.ceil(result.box.clientHeight / RESULT_ROW) + 2 * RESULT_SPARE);

	for (let at = first; at < last; at++) {
		const i = result.order ? result.order[at] : at;
		rows.push(el("div", {role: "row", class: "sql-row", "aria-rowindex": at + 2}, columns.map((_, c) => resultCell(c, i))));
	}
	result.rows.replaceChildren(...rows);
	result.rows.style.top = `${first * RESULT_ROW}px`;
	for (const row of rows)
		row.style.gridTemplateColumns = result.widths;
	if (place) // its element is another one now
		resultButton(place.at, place.c)?.focus({preventScroll: true});
}

// By the first rows and the names.
function resultWidths() {
	const width = (column) => {
		let most = column.name.length + 2;
		for (let i = 0; i < Math.min(column.kind.length, 200); i++)
			most = Math.max(most, valueShown(column, i).length);
		return `${Math.min(most, RESULT_WIDEST) * 7.4 + 18}px`;
	};

	return result.told.columns.map(width).join(" ");
}

function resultHead() {
	const button = ({name}, c) => el("div", {role: "columnheader",
		"aria-sort": result.sorted === c ? (result.descending ? "descending" : "ascending") : "none"},
	el("button", {type: "button", title: `Sort by ${visible(name)}`, onclick: () => resultSort(c)},
		visible(name) + (result.sorted === c ? (result.descending ? " ▼" : " ▲") : "")));
	const row = el("div", {role: "row", class: "sql-names"}, result.told.columns.map(button));

	row.style.gridTemplateColumns = result.widths;
	return row;
}

function resultLayout() {
	result.box.replaceChildren(resultHead(), el("div", {class: "sql-space", role: "rowgroup"}, result.rows));
	result.box.querySelector(".sql-space").style.height = `${result.told.n * RESULT_ROW}px`;
	result.box.setAttribute("aria-rowcount", result.told.n + 1);
	resultDraw();
}

export function resultShow(told) {
	const query = sql.drawn.editor.value;

	Object.assign(result, {told, order: null, sorted: -1, descending: false});
	result.links = told.columns.map(({name}) => columnLink(name, query));
	result.widths = resultWidths();
	result.box.scrollTop = 0;
	sql.drawn.csv.hidden = !told.columns.length;
	resultLayout();
}

export function resultClear() {
	result.told = null;
	result.box.replaceChildren();
	sql.drawn.csv.hidden = true;
}

// By one more click the other way, then as it came.
async function resultSort(c) {
	const same = result.sorted === c, told = result.told;
	const sorted = same && result.descending ? -1 : c;
	const answer = await sqlQuestion("sort", "The result is not sorted", {column: sorted, descending: same && !result.descending});

	if (!answer || told !== result.told)
		return;
	Object.assign(result, {order: answer.order, sorted, descending: same && sorted >= 0});
	resultLayout();
}

// As --output csv has it, in the order that is seen.
export async function resultAsCsv() {
	const order = result.order || Uint32Array.from({length: result.told.n}, (_, i) => i);

	return (await sqlQuestion("csv", "There is no CSV", {order}))?.blob;
}

export async function resultCsv(copy) {
	const told = result.told, blob = await resultAsCsv();

	if (!blob)
		return;
	if (!copy) {
		download("result.csv", blob);
		return;
	}
	try {
		await navigator.clipboard.writeText(await blob.text());
		sqlState(`${plural(told.n, "row")} copied${told.more ? "; there are more" : ""}`);
	} catch {
		sqlState("The browser does not let this page copy; the CSV button downloads it.", "error");
	}
}

export function resultInit(box) {
	result.box = box;
	result.rows = el("div", {class: "sql-rows"});
	box.setAttribute("role", "table");
	box.setAttribute("aria-label", "Result");
	box.addEventListener("scroll", () => requestAnimationFrame(resultDraw));
	box.addEventListener("keydown", resultKey);
}

export function resultFit() {
	resultDraw();
}
