// levels.js - lanes of intervals, and levels above them, for drawing millions of intervals into a few pixels.
//
// A lane is a run lo..hi of intervals in arrays shared by all lanes: s has their starts (times.js), v[i] the value of one (a state, or a
// colour + 1); its end is the next one's start, or e[i] where intervals have holes between them.  locks[value] says which values are waits
// for locks; it is null where none are.
//
// Node j of level k covers 8 * 4^k intervals, from lo + j * 8 * 4^k on.  It says when the last of them ends, which value has
// most time in it, waits for locks apart, and of these which has most, and which part of the node's time they have, of LOCKED_WHOLE; where
// there are holes, how much time the intervals have.  The nodes of all lanes lie in arrays that they share, too: those of level k of a lane from
// levels[k] on.

import {release} from "./decode.js";
import {timeAbove, timeOf, timeSet, timesDone, timesMake} from "./times.js";

export const NODE_SHIFT = 3, FAN_SHIFT = 2, LOCKED_WHOLE = 65535;

export const levelShift = (k) => NODE_SHIFT + k * FAN_SHIFT;

// How many nodes each level above n intervals has.
function levelSizes(n) {
	const sizes = [];

	for (let k = 0, nodes = n; nodes > 2 << (k ? 0 : NODE_SHIFT); k++) {
		nodes = Math.ceil(n / 2 ** levelShift(k));
		sizes.push(nodes);
	}
	return sizes;
}

/** @param {Lane} lane @param {number} i */
export function laneStart(lane, i) {
	return timeOf(lane.s, i);
}

/** @param {Lane} lane @param {number} i */
export function laneEnd(lane, i) {
	return lane.e ? lane.e[i] : timeOf(lane.s, i + 1);
}

// Lanes [lo, hi] of these arrays, over nodes that are there; how many nodes they have.
export function lanesOver({s, e, v}, bounds, locks, nodes) {
	let base = 0;

	const lanes = bounds.map(([lo, hi]) => {
		const levels = [];
		for (const size of levelSizes(hi - lo)) {
			levels.push(base);
			base += size;
		}
		return {s, e, v, lo, hi, locks, levels, nodes};
	});
	return {lanes, n: base};
}

// The same with nodes made from the intervals.
export function lanesMake(arrays, bounds, locks) {
	const nodes = {end: null, value: null, lock: null, locked: null, busy: null}, {lanes, n} = lanesOver(arrays, bounds, locks, nodes);
	// Times for the level above: of the value with most, and of all waits for locks.
	const sums = {most: new Float64Array(n), locks: new Float32Array(locks ? n : 0)};

	nodes.end = timesMake(n);
	nodes.value = new Uint8Array(n);
	nodes.lock = new Uint8Array(locks ? n : 0);
	nodes.locked = new Uint16Array(locks ? n : 0);
	nodes.busy = new Float64Array(arrays.e ? n : 0);
	for (const lane of lanes)
		lane.levels.forEach((_, k) => k ? levelAbove(lane, k, sums) : levelLowest(lane, sums));
	timesDone(nodes.end);
	release(sums.most, sums.locks);
	return lanes;
}

// Time by value.  seen: the values that have some, in the order in which they came.
const tallyMake = () => ({times: new Float64Array(128), seen: new Uint8Array(256), n: 0, best: 0, most: 0, sum: 0});

const others = tallyMake(), waits = tallyMake();

/** @param {number} time */
function tallyAdd(tally, value, time) {
	if (tally.times[value] === 0)
		tally.seen[tally.n++] = value;
	tally.times[value] += time;
}

// Which value has most, and how much; all together.  Empties it.
function tallyTake(tally) {
	const {times, seen} = tally;

	tally.best = tally.n ? seen[0] : 0;
	tally.most = tally.n ? times[seen[0]] : 0;
	tally.sum = 0;
	for (let k = 0; k < tally.n; k++) {
		const time = times[seen[k]];
		tally.sum += time;
		if (time > tally.most) {
			tally.most = time;
			tally.best = seen[k];
		}
		times[seen[k]] = 0;
	}
	tally.n = 0;
}

// A node that is `length` long, from what was added.  Some time, however little it is, is not none.
/** @param {Lane} lane @param {number} node @param {number} length */
function nodeSet(lane, node, length, sums) {
	const {value, lock, locked} = lane.nodes;

	tallyTake(others);
	value[node] = others.best;
	sums.most[node] = others.most;
	if (!lane.locks)
		return;
	tallyTake(waits);
	lock[node] = waits.best;
	sums.locks[node] = waits.sum;
	locked[node] = waits.sum > 0 ? Math.max(1, Math.round(Math.min(waits.sum / length, 1) * LOCKED_WHOLE)) : 0;
}

/** @param {Lane} lane */
function levelLowest(lane, sums) {
	const {s, e, v, lo, hi, locks, nodes} = lane;

	for (let node = lane.levels[0], i = lo; i < hi; node++) {
		const until = Math.min(i + (1 << NODE_SHIFT), hi), start = timeOf(s, i);
		for (; i < until; i++) {
			const value = v[i] & 127, time = (e ? e[i] : timeOf(s, i + 1)) - timeOf(s, i);
			tallyAdd(locks && locks[value] ? waits : others, value, time);
			if (e)
				nodes.busy[node] += time;
		}
		const end = laneEnd(lane, i - 1);
		timeSet(nodes.end, node, end);
		nodeSet(lane, node, end - start, sums);
	}
}

// Of four nodes, or fewer at the end, one.
/** @param {Lane} lane @param {number} k */
function levelAbove(lane, k, sums) {
	const {end, value, lock, busy} = lane.nodes, n = Math.ceil((lane.hi - lane.lo) / 2 ** levelShift(k - 1));

	for (let j = 0, node = lane.levels[k]; j < n; node++) {
		const until = Math.min(j + (1 << FAN_SHIFT), n), start = laneStart(lane, lane.lo + (j << levelShift(k - 1))), below = lane.levels[k - 1];
		for (; j < until; j++) {
			if (value[below + j])
				tallyAdd(others, value[below + j], sums.most[below + j]);
			if (lane.locks && sums.locks[below + j])
				tallyAdd(waits, lock[below + j], sums.locks[below + j]);
			if (lane.e)
				busy[node] += busy[below + j];
		}
		const last = timeOf(end, below + j - 1);
		timeSet(end, node, last);
		nodeSet(lane, node, last - start, sums);
	}
}

// The level of the largest node that begins at interval lo + i, at time `start`, and lasts no longer than `width`; -1 is the
// interval itself.  k: where the search begins; best is the answer for the interval before.
/** @param {number} i @param {number} width @param {number} k */
export function levelAt(levels, end, i, start, width, k) {
	while (k + 1 < levels.length) {
		const shift = levelShift(k + 1);
		if ((i & (1 << shift) - 1) !== 0 || timeOf(end, levels[k + 1] + (i >> shift)) - start > width)
			break;
		k++;
	}
	while (k >= 0) {
		const shift = levelShift(k);
		if ((i & (1 << shift) - 1) === 0 && timeOf(end, levels[k] + (i >> shift)) - start <= width)
			break;
		k--;
	}
	return k;
}

// The intervals that touch [t0, t1): indices [first, last).
/** @param {Lane} lane @param {number} t0 @param {number} t1 */
export function laneRange(lane, t0, t1) {
	let first = timeAbove(lane.s, lane.lo, lane.hi, t0) - 1;

	if (first < lane.lo || laneEnd(lane, first) <= t0)
		first++;
	let last = timeAbove(lane.s, first, lane.hi, t1);
	while (last > first && laneStart(lane, last - 1) >= t1)
		last--;
	return [first, last];
}
