// margins.js - how far what is summed over samples may be off: half the width of its 95 % interval, by the rules of
// analyzer/model/margin.h, which has the reasons.

import {el} from "./format.js";

const MARGIN_DEVIATIONS = 1.959964, MARGIN_MORE_SAMPLES = 2;

// Samples of one event and thread: all, or those in a group.
/** @returns {MarginPart} */
export function marginPart() {
	return {value: 0, squares: 0, n: 0};
}

/** @param {MarginPart} part @param {number} value */
export function partAdd(part, value) {
	part.value += value;
	part.squares += value * value;
	part.n++;
}

/** @param {MarginPart} part @param {MarginPart} more */
export function partJoin(part, more) {
	part.value += more.value;
	part.squares += more.squares;
	part.n += more.n;
}

// A sample's value, squared: of the mean sample where they differ.
/** @param {{value: number, squares: number}} of */
function sampleSquared({value, squares}) {
	return value > 0 ? (squares / value) ** 2 : 0;
}

// A group of samples of any threads: `parts` by thread, of `whole` by thread.
/** @param {Map<any, MarginPart>} parts @param {Map<any, MarginPart>} whole @returns {Margin} */
export function marginOf(parts, whole) {
	const sum = {value: 0, squares: 0, variance: 0, ends: 0};

	for (const [key, part] of parts) {
		const thread = whole.get(key) || part, p = thread.value > 0 ? part.value / thread.value : 0;
		const end = sampleSquared(thread) / (thread.n > 1 ? 4 : 1);
		const within = thread.n < 2 ? 0 : part.squares * (1 - 2 * p) + thread.squares * p * p;
		sum.value += part.value;
		sum.squares += part.squares;
		sum.variance += Math.max(0, within) * thread.n / Math.max(1, thread.n - 1) + end * p * p;
		sum.ends += end * p;
	}
	return sum;
}

// Of a group's share of all, as an amount.
/** @param {Margin} group @param {Margin} all */
export function marginShare(group, all) {
	const p = all.value > 0 ? group.value / all.value : 0;
	const variance = group.variance - 2 * p * group.ends + p * p * all.ends + MARGIN_MORE_SAMPLES * sampleSquared(group);

	return MARGIN_DEVIATIONS * Math.sqrt(Math.max(0, variance));
}

// Of a share of all samples, as an amount: as if one thread had taken them, whose total is known.
/** @param {MarginPart} all @param {number} share */
export function marginPooled(all, share) {
	const within = all.n < 2 ? 0 : (share * all.squares * (1 - 2 * share) + all.squares * share * share) * all.n / (all.n - 1);

	return MARGIN_DEVIATIONS * Math.sqrt(Math.max(0, within) + MARGIN_MORE_SAMPLES * sampleSquared(all));
}

// How many samples of equal worth tell as much as these (L. Kish, "Survey Sampling", 1965).
/** @param {MarginPart} all */
export function samplesWorth({value, squares}) {
	return squares > 0 ? value * value / squares : 0;
}

const CHANCE_ERRORS = 2;

// Whether two shares, each of so many samples, differ by no more than two standard errors.  With one sample more in the share and one more
// besides, on both sides, as A. Agresti and B. Caffo ("Simple and effective confidence intervals for proportions and differences of
// proportions", The American Statistician 54, 2000): else few samples, of which a share has none, would seem to be certain.
/** @param {number} before @param {number} after @param {number} nBefore @param {number} nAfter */
export function isWithinChance(before, after, nBefore, nAfter) {
	const p = (before * nBefore + 1) / (nBefore + 2), q = (after * nAfter + 1) / (nAfter + 2);

	return Math.abs(q - p) <= CHANCE_ERRORS * Math.sqrt(p * (1 - p) / (nBefore + 2) + q * (1 - q) / (nAfter + 2));
}

// Of memory: the variance of what sampled allocations stand for, and the sum of their variances' squares.
/** @returns {HeapMargin} */
export function heapMargin() {
	return {variance: 0, fourths: 0};
}

/** @param {HeapMargin} sum @param {number} objects @param {number} amount of one of these objects */
export function heapMarginAdd(sum, objects, amount) {
	const variance = Math.max(0, objects * (objects - 1)) * amount * amount;

	sum.variance += variance;
	sum.fourths += variance * variance;
}

/** @param {HeapMargin} sum */
export function heapMarginValue({variance, fourths}) {
	return variance > 0 ? MARGIN_DEVIATIONS * Math.sqrt(variance + MARGIN_MORE_SAMPLES * fourths / variance) : 0;
}

// In percentage points, as the report has it: "" of what would be ±0.0.
/** @param {number} margin @param {number} whole */
export function marginText(margin, whole) {
	const points = whole > 0 ? 100 * margin / whole : 0;

	return points >= 99.95 ? "±100" : points >= 0.05 ? `±${points.toFixed(1)}` : "";
}

// Behind a figure of a table.
/** @param {string} text */
export function marginSpan(text) {
	return text ? el("span", {class: "dim margin", title: "how far it may be off: half of its 95 % interval"}, ` ${text}`) : "";
}
