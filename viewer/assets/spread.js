// spread.js - durations of rows by group: percentiles, buckets of a histogram, its picture, and lists of rows.
//
// A spread has rows in groups, those of each group from the shortest on: the rows of group g are
// order[first[g]..first[g + 1]).  Percentiles are the smallest value that so many percent do not exceed,
// as in SQL.

import {rowsBy} from "./annotations.js";
import {UNITS, count, el, percent} from "./format.js";
import {orderOf} from "./matches.js";
import {sortHead, sortedRows} from "./sorting.js";

const BUCKETS_COARSE = [1, 2, 5], BUCKETS_FINE = [1, 1.25, 1.6, 2, 2.5, 3.2, 4, 5, 6.3, 8]; // times powers of ten
const FINE_DECADES = 2.5, BUCKET_LABELS = 8, EDGE_APART = 6; // CSS pixels between two edges' texts

// `length` by row; groupOf(row) is -1 for rows that do not count.
export function spreadMake(length, n, groups, groupOf) {
	const of = new Int32Array(n);
	let kept = 0;

	for (let i = 0; i < n; i++) {
		of[i] = groupOf(i);
		kept += Number(of[i] >= 0);
	}
	const rows = new Uint32Array(kept), key = new Float64Array(kept);
	for (let i = 0, at = 0; i < n; i++)
		if (of[i] >= 0) {
			rows[at] = i;
			key[at++] = Math.log2(1 + length[i]); // as evenly as can be, for orderOf()
		}
	const byLength = orderOf(key, kept);
	const {first, order} = rowsBy(byLength.map((k) => of[rows[k]] + 1), groups);
	return {first: first.subarray(1), order: order.map((k) => rows[byLength[k]]), length};
}

/** @param {Spread} spread */
export function spreadCount(spread, g) {
	return spread.first[g + 1] - spread.first[g];
}

// How long the row is that so many percent do not exceed; 0 if there are none.
/** @param {Spread} spread */
export function spreadAt(spread, g, part) {
	const n = spreadCount(spread, g), rank = Math.max(1, Math.ceil(n * part / 100));

	return n ? spread.length[spread.order[spread.first[g] + rank - 1]] : 0;
}

// The first place of a group at which rows are no shorter than that.
/** @param {Spread} spread */
function spreadFrom(spread, g, least) {
	let lo = spread.first[g], hi = spread.first[g + 1];

	while (lo < hi) {
		const mid = (lo + hi) >>> 1;
		if (spread.length[spread.order[mid]] >= least)
			hi = mid;
		else
			lo = mid + 1;
	}
	return lo;
}

// Edges of buckets, in whole nanoseconds, from one that is no more than `least` to one that is more than `most`.
function bucketEdges(least, most) {
	const series = Math.log10(Math.max(most, 1) / Math.max(least, 1)) > FINE_DECADES ? BUCKETS_COARSE : BUCKETS_FINE;
	const edges = least < 1 ? [0] : [];

	for (let power = 1; ; power *= 10)
		for (const times of series) {
			const edge = Math.round(times * power);
			if (edge <= least)
				edges.length = 0;
			if (edge > (edges[edges.length - 1] ?? -1))
				edges.push(edge);
			if (edge > most && edges.length > 1)
				return edges;
		}
}

// Of one group: {from, until, lo, hi}: rows from..until nanoseconds long are order[lo..hi).
/** @param {Spread} spread */
export function spreadBuckets(spread, g) {
	const lo = spread.first[g], hi = spread.first[g + 1], buckets = [];

	if (lo === hi)
		return buckets;
	const edges = bucketEdges(spread.length[spread.order[lo]], spread.length[spread.order[hi - 1]]);
	for (let k = 0; k + 1 < edges.length; k++)
		buckets.push({from: edges[k], until: edges[k + 1],
			lo: spreadFrom(spread, g, edges[k]), hi: spreadFrom(spread, g, edges[k + 1])});
	return buckets;
}

// An edge in a few characters: "2 ms".
/** @param {number} ns */
export function edgeText(ns) {
	const [unit, size] = UNITS.find(([, s]) => ns >= s) || UNITS[UNITS.length - 1];

	return `${Number((ns / size).toPrecision(3))} ${unit}`;
}

export function bucketText({from, until}) {
	return `${edgeText(from)} – ${edgeText(until)}`;
}

// The browser seeks what comes next only after the key's event: meanwhile none of these is to be found.
/** @param {HTMLElement[]} elements */
function tabPasses(elements) {
	const were = elements.map((each) => each.tabIndex);

	for (const each of elements)
		each.tabIndex = -1;
	setTimeout(() => elements.forEach((each, i) => { each.tabIndex = were[i]; }), 0);
}

// Of a table's head one button is among those of its rows: the one that has the focus, by which the table is sorted, or the first.
/** @param {HTMLElement} thead */
function isHeadStop(thead, button) {
	const has = thead.contains(document.activeElement) ? document.activeElement : null;

	return button === (has || thead.querySelector('[aria-sort$="scending"] button') || thead.querySelector("button"));
}

// Arrows and Home, End lead from one to the next of the buttons in a box; `back` and `on` are keys.  Tab leads out of it.
export function rovingKeys(box, back, on) {
	box.addEventListener("keydown", (event) => {
		const every = [...box.querySelectorAll("button")];
		const all = every.filter((each) => !each.closest("thead") || isHeadStop(each.closest("thead"), each)), at = all.indexOf(document.activeElement);
		const to = {[back]: at - 1, [on]: at + 1, Home: 0, End: all.length - 1}[event.key];
		if (event.key === "Tab")
			tabPasses(every);
		if (to === undefined || event.ctrlKey || event.altKey || event.metaKey)
			return;
		event.preventDefault();
		event.stopPropagation();
		if (at >= 0 && all[to])
			all[to].focus();
	});
	return box;
}

// Draws what is in a box; the focus stays at the place that has it, though its element is another one then.
export function drawnAgain(box, draw) {
	const all = () => [...box.querySelectorAll("button, canvas")], at = all().indexOf(document.activeElement);

	draw();
	if (at >= 0)
		all()[at]?.focus();
}

// A row leads where the link in it leads; not if text was chosen with the mouse.
/** @param {MouseEvent & {currentTarget: HTMLElement}} event */
export function rowClick(event) {
	const target = /** @type {HTMLElement} */ (event.target);

	if (!target.closest("button, a, summary") && document.getSelection().isCollapsed)
		/** @type {HTMLElement | null} */ (event.currentTarget.querySelector("button, a"))?.click();
}

// A row of a list: what leads somewhere, and what else is known.
/** @param {string} string */
export function listRow(chosen, string, more, go) {
	return el("li", {class: chosen ? "chosen" : "", title: more, onclick: rowClick}, el("button", {type: "button", class: "link", onclick: go}, string),
		el("span", {class: "dim"}, more));
}

// A table's head and body; a cell is text or an element.
export function plainTable(names, rows) {
	return el("table", {class: "plain"}, el("thead", {}, el("tr", {}, ...names.map((name, c) =>
		el("th", {scope: "col", class: c ? "n" : ""}, name)))), el("tbody", {}, ...rows));
}

// The same, sorted by what is chosen; rowOf(row) makes its element, of the first so many.
/** @param {string} id @param {any[]} rows @param {TableColumn[]} columns @param {() => HTMLElement} draw */
export function sortedTable(id, rows, columns, rowOf, draw, most = Infinity) {
	return el("table", {class: "plain"}, sortHead(id, columns, draw), el("tbody", {}, ...sortedRows(id, rows, columns).slice(0, most).map(rowOf)));
}

// Which percentiles lie in a bucket, in words.
function bucketMarks(spread, g, {from, until}) {
	return [50, 99].filter((part) => spreadAt(spread, g, part) >= from && spreadAt(spread, g, part) < until)
		.map((part) => `p${part}`).join(" ");
}

// A button for each bucket, as high as many rows it has; choose(its index).
/** @param {Spread} spread */
export function histogramView(spread, g, buckets, chosen, choose) {
	const whole = spreadCount(spread, g), most = Math.max(...buckets.map((b) => b.hi - b.lo));
	const step = Math.ceil(buckets.length / BUCKET_LABELS);
	const box = el("div", {class: "histogram", role: "group",
		"aria-label": "Histogram of durations: arrows lead from bucket to bucket"});

	buckets.forEach((bucket, k) => {
		const n = bucket.hi - bucket.lo, bar = el("span", {class: "bar"}), marks = bucketMarks(spread, g, bucket);
		const title = `${bucketText(bucket)}: ${count(n)} of ${count(whole)} (${percent(n, whole)})${marks && `, ${marks}`}`;
		bar.style.height = n ? `max(2px, ${100 * n / most}%)` : "0";
		box.append(el("button", {type: "button", class: "bucket", title, "aria-label": title,
			"aria-pressed": String(k === chosen), tabindex: k === Math.max(chosen, 0) ? 0 : -1, onclick: () => choose(k)},
		el("span", {class: "room"}, marks ? el("span", {class: "mark"}, marks) : null, bar),
		el("span", {class: "edge"}, edgeText(bucket.from))));
	});
	new ResizeObserver(() => edgesFit(box, step)).observe(box);
	return rovingKeys(box, "ArrowLeft", "ArrowRight");
}

// Of the edges below a histogram every so many is shown, fewer where they would touch each other.
/** @param {HTMLElement} box @param {number} least */
function edgesFit(box, least) {
	const edges = [...box.querySelectorAll(".edge")], width = edges[1] ? edges[1].getBoundingClientRect().left - edges[0].getBoundingClientRect().left : 0;
	const widest = Math.max(...edges.map((each) => each.scrollWidth)), step = width > 0 ? Math.max(least, Math.ceil((widest + EDGE_APART) / width)) : least;

	edges.forEach((each, k) => each.classList.toggle("out", k % step !== 0));
}
