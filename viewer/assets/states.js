// states.js - the intervals of all threads, and what they say of waits; made from columns in the worker.

const RUNNING = 1, WOKEN = 5, PARKED = 32, MERGED = 128; // states (tracks.h)

// Of each interval what it refers to: its wait, its proc, or how many it stands for.  A byte each, since the waits of a thread follow
// each other: near[i] is how far a wait is from the first one of its block, or else the number itself; REF_FAR is one that has no
// room, and stands in `far`, beside the interval's index in `farAt`.
const REF_BLOCK_SHIFT = 5, REF_MIDDLE = 128, REF_FAR = 255;

const refIsWait = (value) => (value & MERGED) === 0 && (value >= PARKED || value === WOKEN);

function refsMake(total) {
	return {near: new Uint8Array(total), base: new Uint32Array((total >> REF_BLOCK_SHIFT) + 1), farAt: [], far: []};
}

/** @param {Refs} refs @param {number} i */
function refSet(refs, i, value, number) {
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
function refOf({v, refs}, i) {
	const near = refs.near[i];

	if (near !== REF_FAR)
		return refIsWait(v[i]) ? refs.base[i >> REF_BLOCK_SHIFT] + near - REF_MIDDLE : near;
	let lo = 0, hi = refs.farAt.length;
	while (hi - lo > 1) {
		const mid = (lo + hi) >>> 1;
		if (refs.farAt[mid] > i)
			hi = mid;
		else
			lo = mid;
	}
	return refs.far[lo];
}

const POWERS = Float64Array.from({length: 64}, (_, e) => 2 ** e);

// The next length of a state, of which the first bits are `top` (viewer/intervals.h, I2 and I3).
function lengthNext(top, low) {
	const e = top >> 2;

	if (e < 2)
		return e ? 2 + (top & 1) : 1;
	return e === 2 ? 4 + (top & 3) : (4 + (top & 3)) * POWERS[e - 2] + bitsNext(low, e - 2);
}

// One lane of states per thread; they share arrays, with one value more per thread, its end.  s: when an interval begins; v: its
// state; refs: what it refers to.  bounds: where each thread's begin and end.
//
// Fills, of each wait, what its intervals say: when it began, how long it lasted, for what, and when its waker acted.  Waits have
// their numbers in the order of their first intervals.
function statesMake(counts, {after, state, duration, low}, {parks, procs, merged}, {start, length, reason, wake}, atEnd) {
	const total = state.length + counts.length, s = new Float64Array(total), v = new Uint8Array(total);
	const refs = refsMake(total), bounds = [];
	const nextState = streamsBegin(after), nextLength = streamsBegin(valuesCount(state, 256));
	let to = 0, park = 0, seen = 0;

	for (const count of counts) {
		const lo = to;
		let at = 0, value = 0; // the state before: of the first ABSENT
		for (const until = to + count; to < until; to++) {
			value = state[nextState[value]++];
			const end = at + lengthNext(duration[nextLength[value]++], low);
			s[to] = at;
			v[to] = value;
			if (value & MERGED) {
				refSet(refs, to, value, varintNext(merged));
			} else if (value >= PARKED || value === WOKEN) {
				park = (value === WOKEN ? park : seen + 1) + unzigzag(varintNext(parks));
				refSet(refs, to, value, park);
				if (park > seen) {
					seen = park;
					start[park - 1] = at;
				}
				const lasted = end - start[park - 1];
				length[park - 1] = lasted;
				if (value === WOKEN) {
					wake[park - 1] = 2 * (at - start[park - 1]) + 1;
				} else {
					wake[park - 1] = atEnd[park - 1] ? 2 * lasted + 1 : 0;
					reason[park - 1] = value - PARKED;
				}
			} else if (value === RUNNING) {
				refSet(refs, to, value, varintNext(procs));
			}
			at = end;
		}
		s[to++] = at;
		bounds.push([lo, to - 1]);
	}
	Object.assign(refs, {farAt: Uint32Array.from(refs.farAt), far: Uint32Array.from(refs.far)});
	return {s, v, refs, bounds};
}

// Waits of which it is otherwise.
function parksCorrect({start, length, reason, wake}, other) {
	for (let k = 0; k < other.park.length; k++) {
		const p = other.park[k];
		start[p] = other.start[k];
		length[p] = other.length[k];
		reason[p] = other.reason[k];
		wake[p] = other.wake[k];
	}
}

// By thread index: where its waits begin; and whether those of each thread stand in the order of their starts.
function parksByThread(threads, start, n) {
	const first = new Uint32Array(n + 1);
	let descents = 0;

	for (let p = 0; p < threads.length; p++)
		first[threads[p]]++;
	for (let p = 1; p < threads.length; p++)
		descents += Number(start[p] < start[p - 1] && threads[p] === threads[p - 1]);
	for (let t = 0; t < n; t++)
		first[t + 1] += first[t];
	return {first, inOrder: descents === 0};
}
