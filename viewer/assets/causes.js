// causes.js - why a wait lasted: the causes of a wait as a tree in its details, in the words of --why.  The page has those of the longest
// waits of each place (viewer/rows_causes.c).

import {head} from "./data.js";
import {copyButton, quoted, traceFile, traceFileHint} from "./export.js";
import {waitClass} from "./flame_items.js";
import {count, duration, el, percent} from "./format.js";
import {insteadAdd, insteadMake, insteadWords, pathPlace, pathPlaceView,
	pathWords} from "./paths.js";
import {parkId, stackAlike, table, trace} from "./rows.js";
import {select, selectAt} from "./select.js";
import {view} from "./view.js";

const CAUSE_PARTS = 100, CAUSE_DEPTH = 20; // what is less than one part in so many is summed up; so deep is told

/** @type {{rows: CauseRows & Table<"wait" | "id" | "parent" | "depth" | "start" | "length"> | null, first: Map<number, number> | null}} */
const causes = {rows: null, first: null}; // first: by SQL's id of a wait, its first row

function causesTell() {
	causes.rows = table("cause", "wait", "id", "parent", "depth", "kind", "thread", "start", "length", "reason", "object", "park", "unlock", "stack",
		"stack_of", "instead", "instead_ns");
	causes.first = new Map();
	for (let i = 0; i < causes.rows.n; i++)
		if (!causes.first.has(causes.rows.wait[i]))
			causes.first.set(causes.rows.wait[i], i);
}

// What is alike below the same line is one line (analyzer/why/tree.c).
/** @param {number} i */
function causeKey(i) {
	const {kind, reason, object: number, unlock, stack, stack_of: from, thread, park} = causes.rows;

	return [kind[i], reason[i], from[i], stack[i] ? stackAlike(stack[i]) : `thread ${thread[i]}`, number[i],
		park[i] ? trace.park.descriptor[park[i] - 1] : 0, unlock[i] ? 1 : 0].join("\n");
}

// The lines of a wait: none if the page does not have its causes.
/** @param {number} park @returns {CauseNode | null} */
function causesOf(park) {
	if (!causes.rows)
		causesTell();
	const {rows, first} = causes, wait = parkId(park), from = first.get(wait);
	if (from === undefined)
		return null;
	const root = causeNode(0), nodes = [root]; // by id within the wait
	for (let i = from; i < rows.n && rows.wait[i] === wait; i++) {
		const above = nodes[rows.parent[i]], key = causeKey(i), node = above.below.get(key) || causeNode(i);
		above.below.set(key, node);
		nodes[rows.id[i]] = node;
		node.ns += rows.length[i];
		node.times++;
		node.threads.add(rows.thread[i]);
		insteadAdd(node.instead, rows, i, rows.length[i]);
		if (rows.length[i] > rows.length[node.longest])
			node.longest = i;
		if (above === root)
			root.ns += rows.length[i];
	}
	return root;
}

/** @param {number} row @returns {CauseNode} */
function causeNode(row) {
	return {row, longest: row, ns: 0, times: 0, threads: new Set(), instead: insteadMake(), below: new Map()};
}

/** @param {CauseNode} node */
function causeLineWords({row, times, threads, instead}) {
	return pathWords(causes.rows, row, {threads: threads.size, times}) + (times > 1 ? `, ${count(times)} times` : "") + insteadWords(instead);
}

// The lines in the order of --why: [{node, depth, rest: of so many that are not told, their time}].
/** @param {CauseNode} above @param {number} whole @returns {CauseLine[]} */
function causeLines(above, whole, depth = 0) {
	const list = [...above.below.values()].sort((a, b) => b.ns - a.ns), lines = [];
	const told = depth < CAUSE_DEPTH ? list.filter((node) => node.ns >= Math.floor(whole / CAUSE_PARTS)) : [], n = list.length - told.length;
	const rest = list.reduce((ns, node) => ns + (told.includes(node) ? 0 : node.ns), 0);

	for (const node of told)
		lines.push({node, depth, words: causeLineWords(node), place: pathPlace(causes.rows, node.row), ns: node.ns}, ...causeLines(node, whole, depth + 1));
	if (rest && rest >= Math.floor(whole / CAUSE_PARTS))
		lines.push({node: null, depth, words: `in ${count(n)} ${told.length ? "" : "or "}more of less than 1 % each`, place: "", ns: rest});
	return lines;
}

// Where the longest piece of a line is in the timeline.
/** @param {CauseNode} node */
function causeGo(node) {
	const {park, thread, start, length} = causes.rows, i = node.longest;

	if (park[i])
		select({kind: "park", id: park[i]}, {how: "led"});
	else if (thread[i])
		selectAt(thread[i] - 1, start[i] + length[i] / 2, "led");
}

/** @param {CauseLine} line @param {number} whole */
function causeRow({node, depth, words, place, ns}, whole) {
	const name = node ? el("button", {type: "button", class: "link", title: "Show the longest of it in the timeline", onclick: () => causeGo(node)}, words)
		: el("span", {class: "dim"}, words);
	const cell = el("td", {class: "wide"}, name, node && place ? pathPlaceView(causes.rows, node.row) : null);

	cell.style.paddingLeft = `${depth}em`;
	return el("tr", {}, el("td", {class: "n"}, duration(ns)), el("td", {class: "n"}, percent(ns, whole)), cell);
}

// Whether a wait is among the longest of its place, whose causes the page has as far as there is room.
/** @param {number} park */
function causesAreMeant(park) {
	const {stack, reason, length, n} = trace.park, own = park - 1;
	let longer = 0;

	for (let i = 0; i < n && longer < head.caused; i++)
		if (length[i] > length[own] && stack[i] === stack[own] && reason[i] === reason[own])
			longer++;
	return longer < head.caused;
}

// For the details of a wait.
/** @param {number} park */
export function causesView(park) {
	const p = trace.park, root = causesOf(park);

	if (root && root.ns > 0)
		return [el("h3", {}, "Why"), el("table", {class: "path why"}, el("tbody", {}, ...causeLines(root, root.ns).map((line) => causeRow(line, root.ns))))];
	if (waitClass(p.reason[park - 1]) >= 2 || !p.length[park - 1])
		return [];
	const command = `trace-analyze --why wait:${parkId(park)} ${quoted(traceFile())}`;
	return [el("h3", {}, "Why"), el("p", {class: "dim"}, causesAreMeant(park) ? "The causes of this wait have too many rows for a page. To see them:"
		: `The page has the causes of the ${count(head.caused)} longest waits of each place. For this wait:`), el("p", {}, el("code", {}, command), " ",
	copyButton("Copy command", traceFileHint(), () => command))];
}

// ---- for tests ----

// Of the selected wait.
export function causesTold() {
	const sel = view.selection, root = sel && sel.kind === "park" ? causesOf(sel.id) : null;

	return root ? causeLines(root, root.ns).map(({depth, words, place, ns}) => ({depth, words, place, ns})) : [];
}
