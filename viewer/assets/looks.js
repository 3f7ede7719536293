// looks.js - a lane in parts that are no longer than some width: what a picture of the lane looks at.  A part is a look: an interval, or the
// node of a level (levels.js) that stands for many.  Frames of a view that moves look at the same parts again, so looks are kept.
//
//   looks:L1  Which looks a lane has follows from the lane and the width alone: the largest nodes that are no longer than the width, and
//             intervals where there are none.  So a picture is the same whichever frames were drawn before it.
//   L2        The width is at most that which is asked for, and more than half of it: it changes once for each doubling of the scale, and at
//             another scale for each lane.  So a zoom makes the looks of a few lanes anew in each frame.

import {LOCKED_WHOLE, laneRange, levelAt, levelShift} from "./levels.js";
import {timeOf} from "./times.js";

const LOOKS_MOST = 256; // lanes of which looks are kept
const LOOKS_BEGIN = 1024; // looks that there is room for at first

/** @returns {Looks} */
export function looksMake() {
	return {lane: null, width: 0, from: 0, until: 0, n: 0, start: new Float64Array(LOOKS_BEGIN), end: new Float64Array(LOOKS_BEGIN),
		value: new Uint8Array(LOOKS_BEGIN), lock: new Uint8Array(LOOKS_BEGIN), locked: new Float32Array(LOOKS_BEGIN), busy: new Float32Array(LOOKS_BEGIN)};
}

/** By lane, those that were made last at the end. @type {{fine: Map<Lane, Looks>, coarse: Map<Lane, Looks>}} */
const looksKept = {fine: new Map(), coarse: new Map()};

// The lanes are others now.
export function looksForget() {
	looksKept.fine.clear();
	looksKept.coarse.clear();
}

/** @template {Float64Array | Float32Array | Uint8Array} A @param {A} array @returns {A} */
function looksRoom(array) {
	const wide = new /** @type {any} */ (array.constructor)(2 * array.length);

	wide.set(array);
	return wide;
}

/** @param {Looks} looks */
function looksGrow(looks) {
	looks.start = looksRoom(looks.start);
	looks.end = looksRoom(looks.end);
	looks.value = looksRoom(looks.value);
	looks.lock = looksRoom(looks.lock);
	looks.locked = looksRoom(looks.locked);
	looks.busy = looksRoom(looks.busy);
}

// A number of 0 to 1 for each lane, by which lanes differ in when their looks are made anew.
/** @param {Lane} lane */
function laneTurn(lane) {
	return lane.lo * 0.6180339887 % 1;
}

/** @param {Lane} lane @param {number} width */
function lookWidth(lane, width) {
	const turn = laneTurn(lane);

	return Math.pow(2, Math.floor(Math.log2(width) - turn) + turn);
}

// The first interval of the largest node around interval lo + i that is no longer than `width` (L1).
/** @param {Lane} lane @param {number} i @param {number} width */
function lookBegin(lane, i, width) {
	const {s, lo, levels, nodes} = lane;

	for (let k = levels.length - 1; k >= 0; k--) {
		const at = i >> levelShift(k), begin = at << levelShift(k);
		if (timeOf(nodes.end, levels[k] + at) - timeOf(s, lo + begin) <= width)
			return begin;
	}
	return i;
}

// All looks that touch [from, until).
/** @param {Looks} looks @param {Lane} lane @param {number} from @param {number} until @param {number} width */
export function looksFill(looks, lane, from, until, width) {
	const {s, e, v, lo, locks, levels, nodes} = lane, [first, last] = laneRange(lane, from, until);
	let n = 0;

	Object.assign(looks, {lane, width, from, until});
	for (let i = first < last ? lookBegin(lane, first - lo, width) : last - lo, k = levels.length - 1, start = timeOf(s, lo + i); i < last - lo;) {
		let end, lock = 0, locked = 0, busy = 1;
		if (n === looks.end.length)
			looksGrow(looks);
		k = levelAt(levels, nodes.end, i, start, width, k);
		if (k < 0) {
			looks.value[n] = v[lo + i] & 127;
			end = e ? e[lo + i] : timeOf(s, lo + i + 1);
			i++;
		} else {
			const node = levels[k] + (i >> levelShift(k));
			looks.value[n] = nodes.value[node];
			end = timeOf(nodes.end, node);
			if (locks && nodes.locked[node] !== 0) {
				lock = nodes.lock[node];
				locked = nodes.locked[node] / LOCKED_WHOLE;
			}
			if (e && end > start)
				busy = Math.min(1, nodes.busy[node] / (end - start));
			i += 1 << levelShift(k);
		}
		looks.start[n] = start;
		looks.end[n] = end;
		looks.lock[n] = lock;
		looks.locked[n] = locked;
		looks.busy[n] = busy;
		n++;
		start = e && lo + i < lane.hi ? timeOf(s, lo + i) : end;
	}
	looks.n = n;
	return looks;
}

// Those of a lane that touch [t0, t1), and maybe others.  coarse: of a sum of many lanes, which is kept apart from the lane's own picture.
/** @param {Lane} lane @param {number} t0 @param {number} t1 @param {number} wanted @param {boolean} coarse @returns {Looks} */
export function looksOf(lane, t0, t1, wanted, coarse) {
	const kept = coarse ? looksKept.coarse : looksKept.fine, width = lookWidth(lane, wanted);
	let looks = kept.get(lane);

	if (looks && looks.width === width && looks.from <= t0 && looks.until >= t1)
		return looks;
	// The view moves at one scale: then it goes on to do so.
	const more = looks && looks.width === width ? (t1 - t0) * (0.3 + 0.4 * laneTurn(lane)) : 0;
	if (!looks && kept.size >= LOOKS_MOST) {
		const [[oldest, its]] = kept;
		kept.delete(oldest);
		looks = its;
	}
	kept.delete(lane);
	looks ||= looksMake();
	kept.set(lane, looks);
	return looksFill(looks, lane, t0 - more, t1 + more, width);
}

// The first that ends after t; n if none does.
/** @param {Looks} looks @param {number} t */
export function lookAfter(looks, t) {
	const {end} = looks;
	let lo = 0, hi = looks.n;

	while (lo < hi) {
		const mid = (lo + hi) >>> 1;
		if (end[mid] > t)
			hi = mid;
		else
			lo = mid + 1;
	}
	return lo;
}
