// flame_marks.js - from a function of the flame graph to the timeline: what it is made of is marked above the lanes of its
// threads, and is what the keys of a search step through.
//
// Millions of items are numbers in arrays, not objects.

import {drawOverlaySoon, screen} from "./draw.js";
import {flame, flameRefresh, flameRun, flameSum} from "./flame.js";
import {boxName} from "./flame_draw.js";
import {combosThrough, treePath} from "./flame_fold.js";
import {flameInfo} from "./flame_ui.js";
import {orderOf} from "./matches.js";
import {threadTop} from "./overlay.js";
import {theme} from "./palette.js";
import {trace} from "./rows.js";
import {matchesAdd, matchesMake, searchShow} from "./search.js";
import {selectionAt} from "./select.js";
import {TRACK_PAD, tracks} from "./tracks.js";
import {view, xOf} from "./view.js";

function itemsMake() {
	return {n: 0, kinds: [], kind: new Uint8Array(256), id: new Uint32Array(256), thread: new Uint32Array(256),
		start: new Float64Array(256), length: new Float64Array(256)};
}

/** @param {string} kind */
function itemsAdd(items, kind, id, thread, start, length) {
	const {n} = items;

	if (n === items.id.length)
		for (const name of ["kind", "id", "thread", "start", "length"]) {
			const larger = new items[name].constructor(n * 2);
			larger.set(items[name]);
			items[name] = larger;
		}
	let number = items.kinds.indexOf(kind);
	if (number < 0)
		number = items.kinds.push(kind) - 1;
	items.kind[n] = number;
	items.id[n] = id;
	items.thread[n] = thread;
	items.start[n] = start;
	items.length[n] = length;
	items.n++;
}

// By index of thread: [from, until, from, until, ...], in order of time.
function flameMark(items) {
	const sizes = new Uint32Array(trace.threads.length + 1), lit = new Map(), at = new Uint32Array(trace.threads.length + 1);

	for (let i = 0; i < items.n; i++)
		sizes[items.thread[i]] += 2;
	for (let t = 1; t < sizes.length; t++)
		if (sizes[t])
			lit.set(t - 1, new Float64Array(sizes[t]));
	for (const i of orderOf(items.start, items.n)) {
		const t = items.thread[i];
		if (!t)
			continue;
		const spans = lit.get(t - 1);
		spans[at[t]++] = items.start[i];
		spans[at[t]++] = items.start[i] + items.length[i];
	}
	flame.lit = lit;
}

// What is selected for item i: of memory, what its thread did then.
/** @param {number} i */
function itemSelection(items, i) {
	const kind = items.kinds[items.kind[i]];

	return kind === "alloc" ? selectionAt(items.thread[i] - 1, items.start[i]) : {kind, id: items.id[i]};
}

// Whether a row was not seen before; rows are bits by kind.
function firstTime(seen, {kind, id}) {
	let bits = seen.get(kind);

	if (!bits || bits.length <= id >> 3) {
		const larger = new Uint8Array(Math.max((id >> 3) + 1, bits ? bits.length * 2 : 1024));
		if (bits)
			larger.set(bits);
		bits = larger;
		seen.set(kind, bits);
	}
	const first = !(bits[id >> 3] >> (id & 7) & 1);
	bits[id >> 3] |= 1 << (id & 7);
	return first;
}

// One wait in several pieces is one match.
function itemMatches(items) {
	const matches = matchesMake(), seen = new Map();

	for (let i = 0; i < items.n; i++) {
		const sel = itemSelection(items, i);
		if (!firstTime(seen, sel))
			continue;
		let number = matches.kinds.indexOf(sel.kind);
		if (number < 0)
			number = matches.kinds.push(sel.kind) - 1;
		matchesAdd(matches, number, sel.id, 0, items.start[i]);
	}
	return matches;
}

// The items of a node are the matches of a search.
export function flameToTimeline(box) {
	const {result} = flame, order = box.tree === result.callers ? "callers" : box.tree === result.callees ? "callees" : flame.view;
	const through = combosThrough(treePath(box.tree, box.node), order, result.fn), items = itemsMake();
	const visit = (combo, value, kind, id, thread, start, length) => {
		if (kind && value > 0 && through[combo])
			itemsAdd(items, kind, id, thread, start, length);
	};

	flame.box.classList.add("working");
	flameRun(flameSum(result.kind, result.asked, visit), () => {
		flame.box.classList.remove("working");
		flameMark(items);
		searchShow(itemMatches(items), `${boxName(box)}: ${result.kind.name}`);
		flameInfo();
		if (result.key !== flame.asked) { // it took the place of a run that made another graph
			flame.asked = "";
			flameRefresh();
		}
	});
}

// Where the marks of a thread are: above its lane, or above that of the group that it is folded into.
/** @param {number} idx */
function litTop(idx) {
	const group = tracks.byThread[idx] ? null : tracks.foldedInto[idx];

	return group ? group.y - screen.scrollY + TRACK_PAD : threadTop(idx);
}

// Marks above the lanes of threads; those of one pixel are one.
/** @param {CanvasRenderingContext2D} ctx */
export function drawLit(ctx) {
	if (!flame.lit)
		return;
	ctx.fillStyle = theme.style.accent;
	for (const [idx, spans] of flame.lit) {
		const top = litTop(idx);
		if (top === null || top < -TRACK_PAD || top > screen.height)
			continue;
		let right = -1;
		for (let i = 0; i < spans.length && spans[i] <= view.t1; i += 2) {
			const from = spans[i], until = spans[i + 1];
			const x0 = Math.max(xOf(from), right), x1 = Math.min(Math.max(xOf(until), xOf(from) + 1), view.width);
			if (x1 <= x0 || until < view.t0)
				continue;
			ctx.fillRect(Math.max(x0, 0), top - 4, x1 - Math.max(x0, 0), 3);
			right = x1;
		}
	}
}

export function flameUnmark() {
	flame.lit = null;
	drawOverlaySoon();
}
