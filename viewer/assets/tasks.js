// tasks.js - the tab with tasks and regions: each type's durations, their histogram, and from a bucket of it to
// single ones in the timeline; and what threads did for one task.

import {addressWrite} from "./address.js";
import {head, text} from "./data.js";
import {mixView, taskName, threadLink} from "./details.js";
import {csvOfList, csvTables} from "./export.js";
import {spansJoin, spansTime, taskSpans} from "./flame_select.js";
import {count, duration, el, percent, plural, timePoint} from "./format.js";
import {heatColumn, heatMake, heatView} from "./heat.js";
import {laneSums} from "./lod.js";
import {stateName} from "./palette.js";
import {panelShow} from "./panel.js";
import {trace} from "./rows.js";
import {select} from "./select.js";
import {bucketText, drawnAgain, histogramView, listRow, rovingKeys, rowClick, sortedTable, spreadAt,
	spreadBuckets, spreadCount, spreadMake} from "./spread.js";
import {view} from "./view.js";

const SPANS_LISTED = 200, TYPES_LISTED = 500, SPANS_ABOVE = 68; // CSS pixels above the picture, and around it

// kind -> its rows, which of them began in the trace, and words.
export const spanKinds = {
	task: {rows: () => trace.task, began: (k, i) => k.thread[i] > 0, heading: "Tasks", one: "task", name: (id) => taskName(id)},
	// One that began before the trace has no type, and begins where what is known of its thread does.
	region: {rows: () => trace.region, began: (g, i) => g.type[i] > 0 || (g.start[i] > 0 && g.start[i] !== head.window_ns), heading: "Regions",
		one: "region", name: (id) => trace.threads[trace.region.thread[id - 1] - 1]?.label ?? ""},
};

export const spans = {
	box: null, parts: /** @type {Record<string, HTMLElement>} */ ({}), told: null, // told: kind -> its types and their durations, once the tab is open
	kind: "", group: -1, bucket: -1, // what is chosen
	heat: false, cell: null, // durations over time; of which {bucket, column, columns} is chosen
	wanted: "", // by the address, before the tab was drawn
};

// Types in the order of the time that they took: {types: [{type, name, n, total}], spread}.
/** @param {string} kind */
function spansTell(kind) {
	const {rows, began} = spanKinds[kind], table = rows(), whole = (i) => !table.open[i] && began(table, i), byType = new Map(), types = [];

	for (let i = 0; i < table.n; i++) {
		let one = byType.get(table.type[i]);
		if (!one) {
			one = {type: table.type[i], name: text(table.type[i]) || "(no type)", n: 0, total: 0};
			byType.set(one.type, one);
			types.push(one);
		}
		one.n++;
		if (whole(i))
			one.total += table.length[i];
	}
	types.sort((a, b) => b.total - a.total);
	const number = new Map(types.map((one, g) => [one.type, g]));
	return {types, spread: spreadMake(table.length, table.n, types.length,
		(i) => whole(i) ? number.get(table.type[i]) : -1)};
}

// ---- what threads did for one task ----

// Stretches of threads that worked for the task in this row: {thread, from, until}.
function taskStretches(row) {
	const stretches = [];

	for (const [thread, joined] of taskSpans([row]).threads)
		for (let n = 0; n < joined.length; n += 2)
			stretches.push({thread: trace.threads[thread - 1], from: joined[n], until: joined[n + 1]});
	return stretches.sort((a, b) => a.from - b.from || a.thread.idx - b.thread.idx);
}

// How much of the task's time no thread worked for it.
/** @param {Stretch[]} stretches */
function taskUnworked(row, stretches) {
	const joined = spansJoin(stretches.map(({from, until}) => [from, until]));

	return trace.task.length[row] - spansTime(joined, trace.task.start[row], trace.task.start[row] + trace.task.length[row]);
}

// For the details of a task: [facts, table].
/** @param {number} row @returns {[any[], HTMLElement | null]} */
export function taskSplit(row) {
	const stretches = taskStretches(row), threads = [...new Set(stretches.map(({thread}) => thread))];
	const unworked = taskUnworked(row, stretches), links = [];

	for (const thread of threads.slice(0, 6))
		links.push(links.length ? ", " : "", threadLink(thread.idx + 1, stretches.find((s) => s.thread === thread).from));
	if (threads.length > 6)
		links.push(` and ${count(threads.length - 6)} more`);
	return [[["Worked for it", links], ["Nobody did", unworked > 0 ? [`${duration(unworked)} (${percent(unworked, trace.task.length[row])})`,
		el("span", {class: "dim"}, " queued, or for what is not traced")] : null]], mixView("Its threads' time", stretches)];
}

// ---- the tab ----

/** @param {string} kind */
function spanType(kind, g) {
	const {types, spread} = spans.told[kind], one = types[g], chosen = kind === spans.kind && g === spans.group;

	return el("tr", {class: chosen ? "chosen" : "", onclick: rowClick}, el("td", {class: "wide"}, el("button", {type: "button", class: "link line", title: one.name,
		"aria-pressed": String(chosen), onclick: () => spansChoose(kind, g)}, one.name)),
	...[count(one.n), ...[50, 99, 100].map((part) => duration(spreadAt(spread, g, part))), duration(one.total)]
		.map((cell) => el("td", {class: "n"}, cell)));
}

/** @param {string} kind @returns {TableColumn[]} */
function spanColumns(kind) {
	const {types, spread} = spans.told[kind], at = (part) => (g) => spreadCount(spread, g) ? spreadAt(spread, g, part) : null;

	return [{id: "name", name: spanKinds[kind].heading, key: (g) => types[g].name}, {id: "n", name: "count", n: true, key: (g) => types[g].n},
		{id: "p50", name: "p50", n: true, key: at(50)}, {id: "p99", name: "p99", n: true, key: at(99)}, {id: "max", name: "max", n: true, key: at(100)},
		{id: "total", name: "total", n: true, key: (g) => types[g].total}];
}

/** @param {string} kind */
function spanTypes(kind) {
	const {types} = spans.told[kind];

	if (!types.length)
		return null;
	const draw = () => {
		spansDraw();
		return spans.parts.types;
	};
	return el("div", {}, sortedTable(`${kind}s`, types.map((_, g) => g), spanColumns(kind), (g) => spanType(kind, g), draw, TYPES_LISTED),
		types.length > TYPES_LISTED ? el("p", {class: "dim"}, `${count(types.length - TYPES_LISTED)} more types, with less time: search finds them.`) : null);
}

// What the figures lack.
function spansNote() {
	const lacking = [["without_tasks", "shorter tasks"], ["without_regions", "shorter regions"]].filter(([key]) => head[key] > 0)
		.map(([key, what]) => `${count(head[key])} ${what}`);

	return lacking.length ? el("p", {class: "incomplete"}, el("b", {}, "Incomplete: "), `this page lacks ${lacking.join(" and ")}. ` +
		"Counts and percentiles are of the others.") : null;
}

/** @param {string} kind */
function spanRow(kind, row) {
	const selected = view.selection && view.selection.kind === kind && view.selection.id === row + 1;
	const rows = spanKinds[kind].rows();

	return listRow(selected, duration(rows.length[row]), `${spanKinds[kind].name(row + 1)} at ${timePoint(rows.start[row], 1e4)}`,
		() => select({kind, id: row + 1}));
}

// What is chosen: a bucket, or null = all of the type; and the rows of it, or of one of its cells, the longest first.
function spansChosen() {
	const {kind, group} = spans, {spread} = spans.told[kind], bucket = spreadBuckets(spread, group)[spans.bucket] || null;
	const {lo, hi} = bucket || {lo: spread.first[group], hi: spread.first[group + 1]}, cell = spans.heat ? spans.cell : null;
	const table = spanKinds[kind].rows(), rows = spread.order.slice(lo, hi).reverse();

	return {bucket, rows: cell ? rows.filter((row) => heatColumn(table, row, cell.columns) === cell.column) : rows};
}

// Their list.
function spansList() {
	const {kind} = spans, {bucket, rows} = spansChosen(), {one} = spanKinds[kind], n = rows.length, list = el("ol", {class: "spans"});

	for (const row of rows.subarray(0, SPANS_LISTED))
		list.append(spanRow(kind, row));
	return [rovingKeys(list, "ArrowUp", "ArrowDown"), el("p", {class: "dim above"}, `${bucket ? `${bucketText(bucket)}: ` : ""}${plural(n, one)}, ${
		n > SPANS_LISTED ? `the longest ${count(SPANS_LISTED)}` : "longest first"} `,
	n ? csvOfList(`${kind}s`, `Download all ${count(n)}, the longest first`, () => Array.from(spansChosen().rows, csvTables[`${kind}s`].cells)) : null)];
}

function spansPicture() {
	const {kind, group, bucket} = spans, {types, spread} = spans.told[kind], one = types[group], ended = spreadCount(spread, group);
	const buckets = spreadBuckets(spread, group), open = one.n - ended;

	// As high as the tab leaves room below what stands above the picture: all its rows are seen at once.
	const room = () => ({width: Math.max(200, spans.parts.picture.clientWidth - 4), height: Math.max(60, Math.min(spans.box.clientHeight - SPANS_ABOVE, 300))});
	const drawn = () => spans.heat ? heatView(spanKinds[kind].rows(), spread, buckets, spans.cell, room(), (cell) => {
		Object.assign(spans, {cell, bucket: cell.bucket});
		drawnAgain(spans.box, spansDraw);
		addressWrite();
	}) : histogramView(spread, group, buckets, bucket, (k) => spansChoose(kind, group, k));

	return [el("h3", {}, one.name), el("p", {class: "dim"}, `${plural(ended, spanKinds[kind].one)} by duration` +
		(open ? `; ${count(open)} more began before the trace, or did not end in it` : ""), " ",
	ended ? el("button", {type: "button", class: "link", "aria-pressed": String(spans.heat), onclick: () => {
		Object.assign(spans, {heat: !spans.heat, cell: null});
		drawnAgain(spans.box, spansDraw);
		addressWrite();
	}}, spans.heat ? "as a histogram" : "over time") : null), ended ? drawn() : null];
}

export function spansDraw() {
	const {types, picture, list} = spans.parts;

	types.replaceChildren(...[spansNote(), spanTypes("task"), spanTypes("region")].filter((part) => part));
	if (spans.group < 0)
		return;
	picture.replaceChildren(...spansPicture().filter((part) => part));
	list.replaceChildren(...spansList());
}

// After another row was selected.
function spansSelected() {
	if (spans.group >= 0)
		drawnAgain(spans.box, () => spans.parts.list.replaceChildren(...spansList()));
}

/** @param {string} kind */
function spansChoose(kind, group, bucket = -1) {
	Object.assign(spans, {kind, group, cell: null, bucket: bucket === spans.bucket && group === spans.group ? -1 : bucket});
	drawnAgain(spans.box, spansDraw);
	addressWrite();
}

// The chosen cell in the address: "column/columns"; null = none, or not one.
/** @param {string} string */
function cellRead(string, bucket) {
	const [column, columns] = (/^(\d{1,4})\/(\d{1,4})$/.exec(string) || []).slice(1).map(Number);

	return bucket >= 0 && column < columns ? {bucket, column, columns} : null;
}

// What the address asks for: {kind, type: its name, from: of the bucket, over: time, cell}.
function spansWanted() {
	const asked = new URLSearchParams(spans.wanted), kind = asked.get("of");

	spans.wanted = "";
	if (!Object.hasOwn(spanKinds, kind))
		return;
	const {types, spread} = spans.told[kind], group = types.findIndex((one) => one.name === asked.get("type"));
	if (group < 0)
		return;
	const bucket = spreadBuckets(spread, group).findIndex((b) => String(b.from) === asked.get("from"));
	const heat = asked.get("over") === "time";
	Object.assign(spans, {kind, group, bucket, heat, cell: heat ? cellRead(asked.get("cell"), bucket) : null});
}

function spansState() {
	if (!spans.told || spans.group < 0)
		return spans.wanted;
	const {types, spread} = spans.told[spans.kind], bucket = spreadBuckets(spread, spans.group)[spans.bucket];

	return new URLSearchParams({of: spans.kind, type: types[spans.group].name, ...bucket && {from: bucket.from}, ...spans.heat && {over: "time"},
		...spans.heat && spans.cell && {cell: `${spans.cell.column}/${spans.cell.columns}`}}).toString();
}

function spansOpen(box) {
	const first = (kind) => spans.told[kind].types.length ? kind : "";

	spans.box = box;
	spans.told = {task: spansTell("task"), region: spansTell("region")};
	box.classList.add("columns-3");
	if (!first("task") && !first("region")) {
		box.append(el("p", {class: "empty"}, "This trace has no tasks and no regions. A program that marks its operations with " +
			"trace_task_begin() and trace_region_begin() (<trc/trace.h>) has a histogram of each type here."));
		return;
	}
	for (const name of ["types", "picture", "list"]) {
		spans.parts[name] = el("div", {class: `spans-${name}`});
		box.append(spans.parts[name]);
	}
	rovingKeys(spans.parts.types, "ArrowUp", "ArrowDown");
	spansWanted();
	if (spans.group < 0)
		Object.assign(spans, {kind: first("task") || first("region"), group: 0, bucket: -1});
	spansDraw();
}

// Opens the tab with a type of tasks.
/** @param {string} kind */
export function spansShow(kind, type) {
	spans.wanted = new URLSearchParams({of: kind, type}).toString();
	if (spans.told) {
		spansWanted();
		spansDraw();
	}
	panelShow(tasksTab);
}

/** @type {PanelTab} */
export const tasksTab = {
	id: "spans", label: "Tasks", key: "t", about: "latencies of tasks and regions",
	draw: spansOpen,
	shown: () => spans.heat && spans.group >= 0 && drawnAgain(spans.box, spansDraw), // as wide as there is room
	changed: (what) => what === "selection" ? spansSelected() : what === "theme" && spans.heat && spans.group >= 0 && drawnAgain(spans.box, spansDraw),
	state: spansState,
	stateSet: (string) => {
		spans.wanted = string;
		if (!spans.told || !string)
			return;
		spansWanted();
		if (spans.group >= 0)
			spansDraw();
	},
};

// ---- for tests ----

export function spansApi() {
	const figures = (kind) => spans.told[kind].types.map((one, g) => ({name: one.name, n: one.n, ended: spreadCount(spans.told[kind].spread, g),
		total: one.total, p50: spreadAt(spans.told[kind].spread, g, 50), p99: spreadAt(spans.told[kind].spread, g, 99),
		max: spreadAt(spans.told[kind].spread, g, 100)}));

	return Object.freeze({
		open: () => panelShow(tasksTab),
		types: figures,
		buckets: () => spreadBuckets(spans.told[spans.kind].spread, spans.group).map(({from, until, lo, hi}) => ({from, until, n: hi - lo})),
		// How many of the chosen type are in each cell: those of the shortest bucket first.
		heat: (columns) => {
			const {spread} = spans.told[spans.kind];
			return Array.from(heatMake(spanKinds[spans.kind].rows(), spread, spreadBuckets(spread, spans.group), columns).counts);
		},
		// Of the selected task: time by state of the threads that worked for it, and when none did.
		split: () => {
			const row = view.selection.id - 1, stretches = taskStretches(row), sums = new Float64Array(128);
			for (const {thread, from, until} of stretches)
				laneSums(thread.lane, from, until, sums);
			return {unworked: taskUnworked(row, stretches), stretches: stretches.map(({thread, from, until}) => [thread.serial, from, until]),
				states: Object.fromEntries([...sums.keys()].filter((s) => sums[s]).map((s) => [stateName[s], sums[s]]))};
		},
	});
}
