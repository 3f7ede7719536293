// fibers.js - fibers: when each ran where, what it waited for, and who readied it.
//
// `f` is a fiber's number in the page, `r` a run's, `w` a wait's: its index + 1, 0 = none.

import {REGION_LANES_MAX, TYPE_COLOURS, lanesOf, rowsBy} from "./annotations.js";
import {head, text} from "./data.js";
import {duration, upperBound} from "./format.js";
import {laneEnd, laneStart} from "./levels.js";
import {laneSums} from "./lod.js";
import {ACTIVE, theme, typeColours} from "./palette.js";
import {laneAt, trace} from "./rows.js";
import {RUNNING} from "./states.js";

// Flags of a run and of a wait: its fiber ended then; it lasts; it began, or ended, unseen.
export const RUN_ENDED = 1, RUN_OPEN = 2, RUN_CUT = 4, RUN_LOST = 8;
export const fiberStates = ["not known", "did not run yet", "running", "runnable", "waiting", "ended"];
const ALL_OF_IT = 0.99;
const PIECES_MAX = 2000000; // of regions that lie in several runs
const STEPS_MAX = 20000000; // through runs, to find them

// By fiber its kind: the first of those whose names differ only in their numbers, as "conn 1" and "conn 2".
function fiberKinds() {
	const byName = new Map(), first = new Map();

	return Uint32Array.from(trace.fiber.name, (name, i) => {
		if (!byName.has(name)) {
			const kind = text(name).replace(/\d+/g, "#");
			if (!first.has(kind))
				first.set(kind, i);
			byName.set(name, first.get(kind));
		}
		return byName.get(name);
	});
}

// Fibers take turns at the colours: by kind where there are several, else one by one.
function fiberColours() {
	const b = trace.fiber, numbers = new Map(), several = new Set(b.kind).size > 1;
	const colours = new Uint8Array(b.n);

	for (let i = 0; i < b.n; i++) {
		const key = several ? b.kind[i] : i;
		if (!numbers.has(key))
			numbers.set(key, numbers.size);
		colours[i] = numbers.get(key) % TYPE_COLOURS;
	}
	return colours;
}

// A lane per thread that ran fibers; nothing without any.
export function fibersLoad() {
	const b = trace.fiber, runs = trace.frun, waits = trace.fwait;

	if (!b.n)
		return;
	b.kind = fiberKinds();
	b.colour = fiberColours();
	b.alike = new Map(); // name -> how many have it
	for (const name of b.name)
		b.alike.set(name, (b.alike.get(name) || 0) + 1);
	runs.colour = Uint8Array.from(runs.fiber, (f) => b.colour[f - 1]);
	const lanes = lanesOf(runs, trace.threads.length, (i) => runs.thread[i] - 1);
	for (const thread of trace.threads)
		if (lanes[thread.idx].hi > lanes[thread.idx].lo)
			thread.fibers = lanes[thread.idx];
	for (const rows of [runs, waits]) {
		Object.assign(rows, rowsBy(rows.fiber, b.n));
		rows.at = Float64Array.from(rows.order, (i) => rows.start[i]);
	}
}

// The stretches of a thread in which it ran fibers without a break, as starts and ends.
/** @param {Lane} lane */
function fibersBusy(lane) {
	if (lane.busy)
		return lane.busy;
	const busy = lane.busy = {s: [], e: []};
	for (let k = lane.lo; k < lane.hi; k++) {
		const last = busy.e.length - 1;
		if (last >= 0 && laneStart(lane, k) <= busy.e[last]) {
			busy.e[last] = Math.max(busy.e[last], laneEnd(lane, k));
		} else {
			busy.s.push(laneStart(lane, k));
			busy.e.push(laneEnd(lane, k));
		}
	}
	return busy;
}

// A region belongs to its fiber, and is drawn where that ran: one of a root fiber where its thread ran
// no other.  Calls put(start, end) for each piece.
/** @param {number} i */
function regionCut(i, put) {
	const g = trace.region, f = g.fiber[i], start = g.start[i], end = start + g.length[i];
	const runs = trace.frun, lane = trace.threads[g.thread[i] - 1].fibers;
	let at = start;

	if (f) {
		const lo = runs.first[f], hi = runs.first[f + 1];
		for (let k = Math.max(lo, upperBound(runs.at, lo, hi, start) - 1); k < hi && runs.at[k] <= end; k++)
			put(Math.max(start, runs.at[k]), Math.min(end, rowEnd(runs, runs.order[k] + 1)),
				runs.thread[runs.order[k]]);
		return;
	}
	const busy = lane ? fibersBusy(lane) : {s: [], e: []}, n = busy.s.length;
	for (let k = Math.max(0, upperBound(busy.s, 0, n, start) - 1); k < n && busy.s[k] < end; k++) {
		put(at, busy.s[k], g.thread[i]);
		at = Math.max(at, busy.e[k]);
	}
	put(at, end, g.thread[i]);
}

// When and where a region was in force: [{thread, from, until}].
/** @param {number} i */
export function regionStretches(i) {
	const found = [];

	regionCut(i, (from, until, thread) => until > from &&
		found.push({thread: trace.threads[thread - 1], from, until}));
	return found;
}

// The pieces of all regions as rows for lanesOf(), by time; `region` is the index of each piece's.
/** @returns {RegionRows} */
export function regionPieces() {
	const g = trace.region, cut = {region: [], start: [], length: [], thread: []};
	let steps = 0, full = false;

	for (let i = 0; i < g.n && !trace.regionsUncut; i++) {
		if (!g.thread[i] || g.depth[i] >= REGION_LANES_MAX)
			continue;
		regionCut(i, (from, until, thread) => {
			steps++;
			if (until < from || (until === from && g.length[i]) || !thread)
				return;
			full = cut.region.length >= PIECES_MAX;
			if (full)
				return;
			cut.region.push(i);
			cut.start.push(from);
			cut.length.push(until - from);
			cut.thread.push(thread);
		});
		if (full || steps >= STEPS_MAX)
			trace.regionsUncut = g.n - i - (full ? 0 : 1);
	}
	const order = Uint32Array.from(cut.region.keys()).sort((a, b) => cut.start[a] - cut.start[b]);
	const pieces = /** @type {RegionRows} */ ({n: order.length, region: Uint32Array.from(order, (k) => cut.region[k])});
	for (const key of ["start", "length", "thread"])
		pieces[key] = Float64Array.from(order, (k) => cut[key][k]);
	for (const key of ["depth", "type"])
		pieces[key] = Uint32Array.from(pieces.region, (i) => g[key][i]);
	return pieces;
}

// ---- answers about single rows ----

/** @param {number} f */
export function fiberNumber(f) {
	return (BigInt(trace.fiber.high[f - 1]) << 32n | BigInt(trace.fiber.low[f - 1])).toString();
}

// Its name, with its number if others have the same.
/** @param {number} f */
export function fiberLabel(f) {
	const name = trace.fiber.name[f - 1];

	if (!name)
		return `fiber ${fiberNumber(f)}`;
	return trace.fiber.alike.get(name) > 1 ? `${text(name)} #${fiberNumber(f)}` : text(name);
}

/** @param {number} f */
export function fiberTitle(f) {
	return trace.fiber.name[f - 1] ? `fiber ${fiberLabel(f)}` : fiberLabel(f);
}

/** @param {number} f */
export function fiberCss(f) {
	return typeColours[theme.dark ? "dark" : "light"][trace.fiber.colour[f - 1]];
}

export function rowEnd(rows, number) {
	return rows.start[number - 1] + rows.length[number - 1];
}

// In which run thread index t was at a time; 0 = in its root fiber.
/** @param {number} t @param {number} time */
export function fiberRunAt(t, time) {
	return t >= 0 ? laneAt(trace.threads[t].fibers, time) : 0;
}

// The row of a fiber's that begins at or after a time; 0 = none.
/** @param {number} f @param {number} time */
function fiberRowFrom(rows, f, time) {
	const hi = rows.first[f + 1];
	const i = upperBound(rows.at, rows.first[f], hi, time - 0.5);

	return i < hi ? rows.order[i] + 1 : 0;
}

// Its next (1) or previous (-1) run, seen from one of its runs.
/** @param {number} r @param {number} step */
export function fiberRunBeside(r, step) {
	const runs = trace.frun, f = runs.fiber[r - 1];
	let i = upperBound(runs.at, runs.first[f], runs.first[f + 1], runs.start[r - 1]) - 1;

	while (i > runs.first[f] && runs.order[i] !== r - 1 && runs.at[i - 1] === runs.start[r - 1])
		i--;
	i += step;
	return i >= runs.first[f] && i < runs.first[f + 1] ? runs.order[i] + 1 : 0;
}

// The wait that begins where a run ends; 0 = none, or left out.
/** @param {number} r */
export function fiberWaitAfter(r) {
	const end = rowEnd(trace.frun, r), w = fiberRowFrom(trace.fwait, trace.frun.fiber[r - 1], end);

	return w && trace.fwait.start[w - 1] === end && trace.frun.reason[r - 1] ? w : 0;
}

// The run that ends a wait; 0 = none, or left out.
/** @param {number} w */
export function fiberRunAfter(w) {
	const end = rowEnd(trace.fwait, w), r = fiberRowFrom(trace.frun, trace.fwait.fiber[w - 1], end);

	return r && trace.frun.start[r - 1] === end && trace.fwait.end_thread[w - 1] ? r : 0;
}

// The run that a wait follows; 0 = none, or left out.
/** @param {number} w */
export function fiberRunBefore(w) {
	const runs = trace.frun, f = trace.fwait.fiber[w - 1], start = trace.fwait.start[w - 1];
	const i = upperBound(runs.at, runs.first[f], runs.first[f + 1], start - 0.5) - 1;

	if (i < runs.first[f])
		return 0;
	return rowEnd(runs, runs.order[i] + 1) === start ? runs.order[i] + 1 : 0;
}

// The wait that a run ended; 0 = none, or left out.
/** @param {number} r */
export function fiberWaitBefore(r) {
	const before = fiberRunBeside(r, -1);

	const w = before ? fiberWaitAfter(before)
		: fiberRowFrom(trace.fwait, trace.frun.fiber[r - 1], 0);
	return w && fiberRunAfter(w) === r ? w : 0;
}

// When it was readied; -1 = not known.
/** @param {number} w */
export function fiberReady(w) {
	return trace.fwait.ready[w - 1] - 1;
}

const READIED_MAX = 40; // of one run

// Waits that a run ended by readying who waited; the first of them.
/** @param {number} r */
export function fiberReadied(r) {
	const waits = trace.fwait, runs = trace.frun, i = r - 1, found = [];

	for (let w = 1; w <= waits.n && found.length < READIED_MAX; w++)
		if (waits.waker_fiber[w - 1] === runs.fiber[i] && waits.waker[w - 1] === runs.thread[i] &&
			fiberReady(w) >= runs.start[i] && fiberReady(w) <= rowEnd(runs, r))
			found.push(w);
	return found.sort((a, b) => fiberReady(a) - fiberReady(b));
}

// From the first of its runs to the end of the last, or null.
/** @param {number} f */
export function fiberSpan(f) {
	const runs = trace.frun, lo = runs.first[f], hi = runs.first[f + 1];

	return lo < hi ? {from: runs.at[lo], until: rowEnd(runs, runs.order[hi - 1] + 1)} : null;
}

// The fiber that a selection is about; 0 = none.
/** @param {Chosen} sel */
export function selectionFiber(sel) {
	switch (sel.kind) {
	case "fiber": return sel.id;
	case "fiberrun": return trace.frun.fiber[sel.id - 1];
	case "fiberwait": return trace.fwait.fiber[sel.id - 1];
	default: return 0;
	}
}

// The thread number where a fiber first ran; 0 = none.
/** @param {number} f */
export function fiberThread(f) {
	const runs = trace.frun, lo = runs.first[f];

	return lo < runs.first[f + 1] ? runs.thread[runs.order[lo]] : 0;
}

// The next (1) or previous (-1) run, seen from a run or a wait; of a fiber the first or the last; 0 = none.
/** @param {Chosen} sel @param {number} step */
export function fiberRunOf(sel, step) {
	const {first, order} = trace.frun, lo = first[sel.id], hi = first[sel.id + 1];

	if (sel.kind === "fiberrun")
		return fiberRunBeside(sel.id, step);
	if (sel.kind === "fiberwait")
		return step > 0 ? fiberRunAfter(sel.id) : fiberRunBefore(sel.id);
	return lo < hi ? order[step > 0 ? lo : hi - 1] + 1 : 0;
}

// How long it was on a proc in its runs, by fiber; -1 = not known.  Its thread may be taken off its proc in
// the middle of a run, and is, if there are more threads than procs.
export function fibersOnProc() {
	const b = trace.fiber, runs = trace.frun;

	if (b.onProc)
		return b.onProc;
	b.onProc = new Float64Array(b.n).fill(head.has_sched ? 0 : -1);
	for (let i = 0; head.has_sched && i < runs.n; i++) {
		const f = runs.fiber[i] - 1, ns = runOnProc(i + 1);
		b.onProc[f] = ns < 0 || b.onProc[f] < 0 ? -1 : b.onProc[f] + ns;
	}
	return b.onProc;
}

// The same of one run.
/** @param {number} r */
export function runOnProc(r) {
	const runs = trace.frun, i = r - 1, sums = new Float64Array(128);

	if (!head.has_sched || !runs.thread[i])
		return -1;
	laneSums(trace.threads[runs.thread[i] - 1].lane, runs.start[i], rowEnd(runs, r), sums);
	return sums[ACTIVE] > 0 ? -1 : sums[RUNNING];
}

// In words, unless it was on a proc all the time.
/** @param {number} ns */
export function onProcText(ns, length) {
	return ns < 0 || ns > length * ALL_OF_IT ? "" : `, ${duration(ns)} of it on a proc`;
}
