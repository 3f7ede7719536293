// states.js - the intervals of all threads, and what they say of waits; made from columns in the worker.

import {POWERS, bitsNext, streamsBegin, unzigzag, varintNext} from "./decode.js";
import {lastUpTo, timeOf, timeSet, timesDone, timesMake} from "./times.js";

export const RUNNING = 1, WOKEN = 5, PARKED = 32, MERGED = 128; // states (tracks.h)

// Of each interval what it refers to: its wait, its proc, or how many it stands for.  A byte each, since the waits of a thread follow
// each other: near[i] is how far a wait is from the first one of its block, or else the number itself; REF_FAR is one that has no
// room, and stands in `far`, beside the interval's index in `farAt`.
//
// In most pages all intervals of waits refer to the wait that began last, in order of intervals, and others to nothing.  Then `near` is null, and base
// is how many waits began before the block.
const REF_BLOCK_SHIFT = 5, REF_MIDDLE = 128, REF_FAR = 255;

export const refIsWait = (value) => (value & MERGED) === 0 && (value >= PARKED || value === WOKEN);

/** @param {number} total @returns {Refs} */
export function refsMake(total) {
	return {near: new Uint8Array(total), base: new Uint32Array((total >> REF_BLOCK_SHIFT) + 1), farAt: [], far: []};
}

const waitBegins = (/** @type {number} */ value) => value >= PARKED && value < MERGED;

// The same of intervals that refer to the waits that began last.
/** @param {Numbers} v @returns {Refs} */
function refsCounted(v) {
	const base = new Uint32Array((v.length >> REF_BLOCK_SHIFT) + 1);

	for (let i = 0, n = 0; i < v.length; i++) {
		if ((i & (1 << REF_BLOCK_SHIFT) - 1) === 0)
			base[i >> REF_BLOCK_SHIFT] = n;
		n += Number(waitBegins(v[i]));
	}
	return {near: null, base, farAt: [], far: []};
}

/** @param {Refs} refs @param {number} i */
export function refSet(refs, i, value, number) {
	if (!refs.near)
		return;
	const block = i >> REF_BLOCK_SHIFT, offset = refIsWait(value) ? number - (refs.base[block] ||= number) + REF_MIDDLE : number;

	if (offset >= 0 && offset < REF_FAR) {
		refs.near[i] = offset;
		return;
	}
	refs.near[i] = REF_FAR;
	refs.farAt.push(i);
	refs.far.push(number);
}

/** @param {{v: Numbers, refs: Refs}} states @param {number} i */
export function refOf({v, refs}, i) {
	if (!refs.near) {
		let number = refs.base[i >> REF_BLOCK_SHIFT];
		if (!refIsWait(v[i]))
			return 0;
		for (let k = i & -(1 << REF_BLOCK_SHIFT); k <= i; k++)
			number += Number(waitBegins(v[k]));
		return number;
	}
	const near = refs.near[i];

	if (near !== REF_FAR)
		return refIsWait(v[i]) ? refs.base[i >> REF_BLOCK_SHIFT] + near - REF_MIDDLE : near;
	return refs.far[lastUpTo(refs.farAt, i)];
}

// When waits were.  Most are one interval, or two of which the second is what it took to run after being woken: of such a wait is kept
// where its first interval is, by blocks of waits, near[i] places behind base - 1.  WAIT_OTHER is any other, of which `other` says it, in
// the order of waits: its start, and when its waker acted, as the page's column has it (viewer/rows_parks.c).  atEnd[i]: the waker acted at the
// wait's end.
const WAIT_BLOCK_SHIFT = 4, WAIT_OTHER = 255;

/** @param {{s: Times, v: Numbers, refs: Refs}} states @param {Numbers} length @param {Numbers} atEnd @returns {WaitTimes} */
export function waitsMake(states, length, atEnd) {
	const {length: n} = length;

	return {n, near: new Uint8Array(n).fill(WAIT_OTHER), base: new Uint32Array((n >> WAIT_BLOCK_SHIFT) + 1), states, length, atEnd,
		other: {wait: new Uint32Array(0), start: new Float64Array(0), wake: new Float64Array(0)}};
}

// That the first interval of wait i is the interval `at`; whether there is room to say so.
/** @param {WaitTimes} waits @param {number} i @param {number} at */
function waitSet(waits, i, at) {
	const near = at + 1 - (waits.base[i >> WAIT_BLOCK_SHIFT] ||= at + 1);

	if (near < 0 || near >= WAIT_OTHER)
		return false;
	waits.near[i] = near;
	return waits.near[i] === near; // else a damaged page's number, of no wait
}

/** @param {WaitTimes} waits @param {number} i */
function waitInterval(waits, i) {
	return waits.base[i >> WAIT_BLOCK_SHIFT] - 1 + waits.near[i];
}

// Where `other` has wait i; -1 where no interval says anything of it, as in a damaged page.
function otherAt({wait}, i) {
	const at = lastUpTo(wait, i);

	return wait[at] === i ? at : -1;
}

/** @param {WaitTimes} waits @param {number} i */
export function waitStart(waits, i) {
	if (waits.near[i] !== WAIT_OTHER)
		return timeOf(waits.states.s, waitInterval(waits, i));
	const at = otherAt(waits.other, i);
	return at < 0 ? 0 : waits.other.start[at];
}

// When the waker of wait i acted, less the wait's start, in zigzag code and plus 1; 0 = not known.
/** @param {WaitTimes} waits @param {number} i */
export function waitWake(waits, i) {
	if (waits.near[i] === WAIT_OTHER) {
		const at = otherAt(waits.other, i);
		return at < 0 ? 0 : waits.other.wake[at];
	}
	const {s, v} = waits.states, own = waitInterval(waits, i), next = own + 1;
	if (v[own] === WOKEN)
		return 1;
	if (v[next] === WOKEN && refOf(waits.states, next) === i + 1)
		return 2 * (timeOf(s, next) - timeOf(s, own)) + 1;
	return waits.atEnd[i] ? 2 * waits.length[i] + 1 : 0;
}

// First wait in [lo, hi) that begins after `limit`; hi if there is none.
/** @param {WaitTimes} waits @param {number} lo @param {number} hi @param {number} limit */
export function waitAbove(waits, lo, hi, limit) {
	while (lo < hi) {
		const mid = (lo + hi) >>> 1;
		if (waitStart(waits, mid) > limit)
			hi = mid;
		else
			lo = mid + 1;
	}
	return lo;
}

/** @param {WaitTimes} waits */
export function waitStarts(waits) {
	return Float64Array.from({length: waits.n}, (_, i) => waitStart(waits, i));
}

// The waits of which it is otherwise than their intervals say, in the order of waits; of one that is told twice the later holds.
/** @param {WaitTimes} waits @param {Map<number, {start: number, wake: number}>} odd */
export function waitsOther(waits, odd) {
	const wait = Uint32Array.from([...odd.keys()].filter((i) => i >= 0 && i < waits.n)).sort(); // a damaged page may have any number

	for (const i of wait)
		waits.near[i] = WAIT_OTHER;
	waits.other = {wait, start: Float64Array.from(wait, (i) => odd.get(i).start), wake: Float64Array.from(wait, (i) => odd.get(i).wake)};
}

const BYTE_FROM_EXPONENT = 10; // viewer/intervals.h, I3

// Where the streams of lowest bytes begin: how many a state has of each length's first byte, these bytes say.
function bytesBegin(durationAfter, duration) {
	const n = new Uint32Array(durationAfter.length);

	for (let stream = 0, at = 0; stream < durationAfter.length; stream++)
		for (const end = Math.min(at + durationAfter[stream], duration.length); at < end; at++)
			if (duration[at] >> 2 >= BYTE_FROM_EXPONENT)
				n[(stream & ~255) + duration[at]]++;
	return streamsBegin(n);
}

// The next length of a state, of which the first bits are `top` (viewer/intervals.h, I2 and I3).  next: where each stream of `bytes` goes on.
export function lengthNext(top, state, {bytes, next}, low) {
	const e = top >> 2;

	if (e < 2)
		return e ? 2 + (top & 1) : 1;
	if (e < BYTE_FROM_EXPONENT)
		return e === 2 ? 4 + (top & 3) : (4 + (top & 3)) * POWERS[e - 2] + bitsNext(low, e - 2);
	return ((4 + (top & 3)) * POWERS[e - BYTE_FROM_EXPONENT] + bitsNext(low, e - BYTE_FROM_EXPONENT)) * 256 + bytes[next[state * 256 + top]++];
}

// One lane of states per thread; they share arrays, with one value more per thread, its end.  s: when intervals begin (times.js); v: an
// interval's state; refs: what it refers to.  bounds: where each thread's begin and end.
//
// Of each wait fills in how long it lasted, and for what, and tells when it was.  Waits have their numbers in the order of their first
// intervals.  `other` has those of which it is otherwise.  areCounted: all waits have the numbers that refsCounted() tells.
export function statesMake(counts, {after, state, durationAfter, duration, bytes, low}, {parks, procs, merged}, {length, reason}, atEnd, other, areCounted = false) {
	const total = state.length + counts.length, s = timesMake(total), v = new Uint8Array(total);
	const refs = areCounted ? refsCounted(v) : refsMake(total), bounds = [], waits = waitsMake({s, v, refs}, length, atEnd), odd = new Map();
	const nextState = streamsBegin(after), nextLength = streamsBegin(durationAfter), lowest = {bytes, next: bytesBegin(durationAfter, duration)};
	let to = 0, park = 0, seen = 0, first = 0, began = 0; // of the latest wait its first interval, and its start

	for (const count of counts) {
		const lo = to;
		let at = 0, value = 0, top = 0; // the state before, and the first byte of its length: of the first ABSENT
		for (const until = to + count; to < until; to++) {
			value = state[nextState[value]++];
			top = duration[nextLength[value * 256 + top]++];
			const end = at + lengthNext(top, value, lowest, low);
			timeSet(s, to, at);
			v[to] = value;
			if (value & MERGED) {
				refSet(refs, to, value, varintNext(merged));
			} else if (value >= PARKED || value === WOKEN) {
				park = (value === WOKEN ? park : seen + 1) + unzigzag(varintNext(parks));
				refSet(refs, to, value, park);
				let isOdd = false;
				if (park > seen) {
					seen = park;
					first = to;
					began = at;
					isOdd = !waitSet(waits, park - 1, to);
				} else {
					isOdd = park !== seen || value !== WOKEN || to !== first + 1;
				}
				const start = park === seen ? began : odd.has(park - 1) ? odd.get(park - 1).start : waitStart(waits, park - 1);
				length[park - 1] = end - start;
				if (value !== WOKEN)
					reason[park - 1] = value - PARKED;
				if (isOdd || odd.has(park - 1))
					odd.set(park - 1, {start, wake: value === WOKEN ? 2 * (at - start) + 1 : atEnd[park - 1] ? 2 * (end - start) + 1 : 0});
			} else if (value === RUNNING) {
				refSet(refs, to, value, varintNext(procs));
			}
			at = end;
		}
		timeSet(s, to++, at);
		bounds.push([lo, to - 1]);
	}
	timesDone(s);
	Object.assign(refs, areCounted ? refsCounted(v) : {}, {farAt: Uint32Array.from(refs.farAt), far: Uint32Array.from(refs.far)});
	for (let k = 0; k < other.park.length; k++) {
		const i = other.park[k];
		length[i] = other.length[k];
		reason[i] = other.reason[k];
		odd.set(i, {start: other.start[k], wake: other.wake[k]});
	}
	waitsOther(waits, odd);
	return {s, v, refs, bounds, waits};
}

// By thread index: where its waits begin; and whether those of each thread stand in the order of their starts.
export function parksByThread(threads, waits, n) {
	const first = new Uint32Array(n + 1);
	let descents = 0;

	for (let p = 0; p < threads.length; p++)
		first[threads[p]]++;
	for (let p = 1; p < threads.length; p++)
		descents += Number(waitStart(waits, p) < waitStart(waits, p - 1) && threads[p] === threads[p - 1]);
	for (let t = 0; t < n; t++)
		first[t + 1] += first[t];
	return {first, inOrder: descents === 0};
}
