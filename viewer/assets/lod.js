// lod.js - draws lanes of intervals (levels.js) into a few pixels, and picks from them: level of detail.

import {laneEnd, laneRange, laneStart, levelAt, levelShift} from "./levels.js";
import {lookAfter, looksOf} from "./looks.js";
import {timeAbove, timeOf} from "./times.js";

// What lanePaint() fills.
/** @param {number} w */
export function paintMake(w) {
	return {row: new Uint8Array(w), lockRow: new Uint8Array(w), lockShare: new Float32Array(w)};
}

// What lies in one pixel column, of which one is filled at a time: values compete, and the one with most time takes it, waits
// for locks apart.  time: by value; seen: those that have some.
const competing = {time: new Float64Array(128), seen: new Uint8Array(256), n: 0};

// The outcome, into the column; begins anew.
/** @param {number} w */
function competeEnd(paint, locks, column, w) {
	const {time, seen, n} = competing;
	let best = -1, value = 0, most = -1, lock = 0, locked = 0, all = 0;

	for (let k = 0; k < n; k++) {
		const v = seen[k], part = time[v];
		time[v] = 0;
		all += part;
		if (locks !== null && locks[v] !== 0) {
			locked += part;
			if (part > most) {
				most = part;
				lock = v;
			}
		} else if (part > best) {
			best = part;
			value = v;
		}
	}
	competing.n = 0;
	if (column < 0 || column >= w)
		return;
	paint.row[column] = value;
	if (lock) {
		paint.lockRow[column] = lock;
		paint.lockShare[column] = locked / all;
	}
}

/** @param {number} until */
function paintWhole(paint, locks, from, until, value) {
	const isLock = locks && locks[value];

	(isLock ? paint.lockRow : paint.row).fill(value, from, until);
	if (isLock)
		paint.lockShare.fill(1, from, until);
}

// Fills, of `paint`, row[0..w) with the value of each pixel column (0 where there is nothing), lockRow[0..w) with
// the lock that was waited for (0: none) and lockShare[0..w) with the part of the column's time in
// which one was.
/** @param {Lane} lane @param {number} t0 @param {number} t1 @param {number} w */
export function lanePaint(lane, t0, t1, w, paint) {
	const scale = w / (t1 - t0), {locks} = lane, looks = looksOf(lane, t0, t1, 1 / scale, false), {n, start, end, value, lock, locked} = looks;
	const {time, seen} = competing;
	let column = -1;

	paint.row.fill(0, 0, w);
	paint.lockRow.fill(0, 0, w);
	paint.lockShare.fill(0, 0, w);
	// No call in the loop is given a number that is not whole: the engine would make an object of it.
	for (let i = lookAfter(looks, t0); i < n && start[i] < t1; i++) {
		const x0 = start[i] > t0 ? (start[i] - t0) * scale : 0, x1 = end[i] < t1 ? (end[i] - t0) * scale : w;
		const c0 = x0 | 0, c1 = x1 | 0, its = value[i], ofLock = lock[i], part = locked[i];
		for (let c = c0, x = x0; c <= c1; c++) {
			const length = (c === c1 ? x1 : c + 1) - x;
			if (c !== column) {
				competeEnd(paint, locks, column, w);
				column = c;
			}
			if (c === c0 || length > 0) {
				if (part < 1) {
					if (time[its] === 0)
						seen[competing.n++] = its;
					time[its] += length * (1 - part) + 1e-12;
				}
				if (part > 0) {
					if (time[ofLock] === 0)
						seen[competing.n++] = ofLock;
					time[ofLock] += length * part + 1e-12;
				}
			}
			x = c + 1;
			if (c === c0 && c1 - c0 > 1) {
				competeEnd(paint, locks, column, w);
				paintWhole(paint, locks, c0 + 1, c1, its);
				column = x = c1;
				c = c1 - 1;
			}
		}
	}
	competeEnd(paint, locks, column, w);
}

// counts[classes[value] * w + column] grows by the share of each column with that value.  Of a node with holes the time of its
// intervals counts, as if it were spread evenly.  Intervals within `coarse` columns may be counted as one.
/** @param {Lane} lane @param {number} t0 @param {number} t1 @param {number} w @param {number} [coarse] @param {Looks} [looks] */
export function laneCounts(lane, t0, t1, w, classes, counts, coarse = 1, looks = looksOf(lane, t0, t1, coarse * (t1 - t0) / w, true)) {
	const scale = w / (t1 - t0), {n, start, end, value, lock, locked, busy} = looks;

	for (let i = lookAfter(looks, t0); i < n && start[i] < t1; i++) {
		const x0 = start[i] > t0 ? (start[i] - t0) * scale : 0, x1 = end[i] < t1 ? (end[i] - t0) * scale : w;
		const c0 = x0 | 0, c1 = x1 | 0, ofLock = busy[i] * locked[i], rest = busy[i] - ofLock, at = classes[value[i]] * w, atLock = classes[lock[i]] * w;
		if (c0 === c1) { // as most do, lies in one column
			counts[at + c0] += (x1 - x0) * rest;
			if (ofLock > 0)
				counts[atLock + c0] += (x1 - x0) * ofLock;
			continue;
		}
		counts[at + c0] += (c0 + 1 - x0) * rest;
		for (let c = c0 + 1; c < c1; c++)
			counts[at + c] += rest;
		if (x1 > c1)
			counts[at + c1] += (x1 - c1) * rest;
		if (!(ofLock > 0))
			continue;
		counts[atLock + c0] += (c0 + 1 - x0) * ofLock;
		for (let c = c0 + 1; c < c1; c++)
			counts[atLock + c] += ofLock;
		if (x1 > c1)
			counts[atLock + c1] += (x1 - c1) * ofLock;
	}
}

// The intervals of [t0, t1) that last longer than `least`, in order; of those that overlap the first.
/** @param {Lane} lane @param {number} t0 @param {number} t1 */
export function laneLonger(lane, t0, t1, least) {
	const {s, lo, levels} = lane, [first, last] = laneRange(lane, t0, t1), found = [];

	for (let i = first - lo, k = levels.length - 1; i < last - lo;) {
		const start = timeOf(s, lo + i);
		k = levelAt(levels, lane.nodes.end, i, start, least, k);
		if (k >= 0) {
			i += 1 << levelShift(k);
			continue;
		}
		const end = laneEnd(lane, lo + i), isLonger = end - start > least;
		if (isLonger)
			found.push(lo + i);
		i++;
		if (isLonger && lo + i < last && timeOf(s, lo + i) < end)
			i = timeAbove(s, lo + i, last, end - 1) - lo;
	}
	return found;
}

// Exact time by value in [t0, t1), into sums[value].
/** @param {Lane} lane @param {number} t0 @param {number} t1 */
export function laneSums(lane, t0, t1, sums) {
	const [first, last] = laneRange(lane, t0, t1);

	for (let i = first; i < last; i++)
		sums[lane.v[i] & 127] += Math.min(laneEnd(lane, i), t1) - Math.max(laneStart(lane, i), t0);
}

// The interval at time t, or the longest within `slack` of it; -1 if there is none.  Looks at
// no more than 4,096 of them.
/** @param {Lane} lane @param {number} t */
export function lanePick(lane, t, slack) {
	const [first, last] = laneRange(lane, t - slack, t + slack);
	let best = -1, bestScore = -1;

	for (let i = first; i < Math.min(last, first + 4096); i++) {
		const start = laneStart(lane, i), end = laneEnd(lane, i);
		const wide = end - start >= 2 * slack;
		if (!(lane.v[i] & 127))
			continue;
		if (wide && (t < start || t >= end))
			continue;
		const weight = lane.locks && lane.locks[lane.v[i] & 127] ? 2 : 1;
		const score = weight * Math.min(end - start, 2 * slack);
		if (score > bestScore) {
			best = i;
			bestScore = score;
		}
	}
	return {index: best, among: last - first};
}
