// times.js - many times, four bytes each: how far each is from the first that was set of its block of 32.  One that is too far from it
// has no room, and stands in `far`, beside its index in `farAt`.

const TIME_BLOCK_SHIFT = 5, TIME_FAR = -2147483648;

/** @param {number} n @returns {Times} */
export function timesMake(n) {
	return {near: new Int32Array(n), base: new Float64Array((n >> TIME_BLOCK_SHIFT) + 1), farAt: [], far: []};
}

// Times that are set are not 0: a base is one more than its time.
/** @param {Times} times @param {number} i @param {number} time */
export function timeSet(times, i, time) {
	const offset = time - (times.base[i >> TIME_BLOCK_SHIFT] ||= time + 1);

	if (offset > TIME_FAR && offset < -TIME_FAR) {
		times.near[i] = offset;
		return;
	}
	times.near[i] = TIME_FAR;
	times.farAt.push(i);
	times.far.push(time);
}

// After all were set, in any order; of one that was set twice the later holds.
/** @param {Times} times */
export function timesDone(times) {
	const {farAt, far} = times, order = [...farAt.keys()];

	if (order.some((k) => k > 0 && farAt[k] <= farAt[k - 1]))
		order.sort((a, b) => farAt[a] - farAt[b] || a - b);
	times.farAt = Uint32Array.from(order, (k) => farAt[k]);
	times.far = Float64Array.from(order, (k) => far[k]);
}

// The last place in `at` that holds no more than i.
/** @param {ArrayLike<number>} at @param {number} i */
export function lastUpTo(at, i) {
	let lo = 0, hi = at.length;

	while (hi - lo > 1) {
		const mid = (lo + hi) >>> 1;
		if (at[mid] > i)
			hi = mid;
		else
			lo = mid;
	}
	return lo;
}

/** @param {Times} times @param {number} i */
export function timeOf(times, i) {
	const near = times.near[i];

	return near === TIME_FAR ? times.far[lastUpTo(times.farAt, i)] : times.base[i >> TIME_BLOCK_SHIFT] + near;
}

// First index in [lo, hi) whose time is above `limit`; hi if there is none.
/** @param {Times} times @param {number} lo @param {number} hi @param {number} limit */
export function timeAbove(times, lo, hi, limit) {
	while (lo < hi) {
		const mid = (lo + hi) >>> 1;
		if (timeOf(times, mid) > limit)
			hi = mid;
		else
			lo = mid + 1;
	}
	return lo;
}

