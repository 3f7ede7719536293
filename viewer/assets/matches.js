// matches.js - sets of rows of the trace, walked through in order of time without a list of them all.
//
// Rows have a time each, in an array or, of waits, as states.js has them.  They lie in runs in which the times do not fall (waits: one run a thread),
// or `order` says how they follow each other: then there is one run.  A set has sources: rows of one kind, of which those are in the
// set whose key is wanted; or all, if there are no keys.  A place in a set is {time, source, k}: a source's number, and a
// position in its order; places are ordered by these three.  So the next match is found by binary search in each run, and
// by looking on from there.

import {columnLimit} from "./data.js";
import {release} from "./decode.js";
import {waitStart} from "./states.js";

const RUNS_MAX = 1 << 14; // rows that lie in more are sorted

// The indices of n times, by time; those at the same time stay in their order.  Buckets first, of which each is then put
// in order by itself: most have a few, which are nearly in order.
/** @param {Numbers} time */
export function orderOf(time, n) {
	const buckets = Math.min(2 ** Math.ceil(Math.log2(n + 2)), 1 << 20), next = new Uint32Array(buckets + 1);
	const bucket = new Uint32Array(n), order = new Uint32Array(n);
	let least = Infinity, most = -Infinity;

	for (let i = 0; i < n; i++) {
		least = time[i] < least ? time[i] : least;
		most = time[i] > most ? time[i] : most;
	}
	const scale = (buckets - 1) / Math.max(most - least, 1);
	for (let i = 0; i < n; i++) {
		bucket[i] = (time[i] - least) * scale;
		next[bucket[i] + 1]++;
	}
	for (let k = 0; k < buckets; k++)
		next[k + 1] += next[k];
	for (let i = 0; i < n; i++)
		order[next[bucket[i]]++] = i;
	for (let k = 0; k < buckets; k++) // next[k] is the end of bucket k now
		bucketSort(order, time, k ? next[k - 1] : 0, next[k]);
	return order;
}

/** @param {Numbers} time @param {number} until */
function bucketSort(order, time, from, until) {
	if (until - from > 64) {
		order.subarray(from, until).sort((a, b) => time[a] - time[b] || a - b);
		return;
	}
	for (let i = from + 1; i < until; i++) {
		const moved = order[i], at = time[moved];
		let k = i;
		for (; k > from && time[order[k - 1]] > at; k--)
			order[k] = order[k - 1];
		order[k] = moved;
	}
}

// Where the runs of n times begin; behind them n.
/** @param {Numbers} time */
function runsOf(time, n) {
	const runs = [0];

	for (let i = 1; i < n && runs.length <= RUNS_MAX; i++)
		if (time[i] < time[i - 1])
			runs.push(i);
	runs.push(n);
	return runs;
}

/** @param {Numbers} time */
export function timedRows(time, n) {
	const runs = n ? runsOf(time, n) : [0];

	return runs.length > RUNS_MAX ? {n, time, runs: [0, n], order: orderOf(time, n)} : {n, time, runs, order: null};
}

// ---- keys: rows that are called the same have one number ----

// Less than this are the values of an array.
export function valuesLimit(array) {
	let most = 0;

	for (let i = 0; i < array.length; i++)
		most = array[i] > most ? array[i] : most;
	return most + 1;
}

// A number for each pair that occurs, by hash.
function pairNumbers(limitB) {
	let pairs = new Float64Array(1 << 12).fill(-1), numbers = new Uint32Array(1 << 12);
	const slotOf = (pair) => {
		let slot = Math.imul(pair % 4294967296 ^ pair / 4294967296, 0x9e3779b1) >>> 8 & pairs.length - 1;
		while (pairs[slot] !== -1 && pairs[slot] !== pair)
			slot = slot + 1 & pairs.length - 1;
		return slot;
	};
	const grow = () => {
		const were = pairs, had = numbers;
		pairs = new Float64Array(were.length * 2).fill(-1);
		numbers = new Uint32Array(were.length * 2);
		were.forEach((pair, i) => {
			if (pair === -1)
				return;
			const slot = slotOf(pair);
			pairs[slot] = pair;
			numbers[slot] = had[i];
		});
	};
	return {n: 0, of(a, b) {
		const pair = a * limitB + b;
		let slot = slotOf(pair);
		if (pairs[slot] === pair)
			return numbers[slot];
		if (this.n * 2 >= pairs.length) {
			grow();
			slot = slotOf(pair);
		}
		pairs[slot] = pair;
		numbers[slot] = this.n;
		return this.n++;
	}};
}

// The same keys with room for larger ones: `room` have been given.
function keysWider(key, room) {
	const wide = room < 65536 ? new Uint16Array(key) : new Uint32Array(key);

	release(key);
	return wide;
}

// With room for so many numbers.
/** @param {number} room */
function keysRoom(of, room) {
	for (const name of ["counts", "first", "longest", "most"]) {
		const wide = new of[name].constructor(room);
		wide.set(of[name]);
		of[name] = wide;
	}
}

const KEY_BLOCK = 4096; // rows

// Rows are taken by blocks, for arrays of one type make the loops quick: the columns differ in theirs.
const keyBlock = {one: new Uint32Array(KEY_BLOCK), two: new Uint32Array(KEY_BLOCK), three: new Uint32Array(KEY_BLOCK), number: new Uint32Array(KEY_BLOCK), length: new Float64Array(KEY_BLOCK)};

/** @param {Uint32Array | Float64Array} block @param {Numbers} array */
function blockFill(block, array, from, until) {
	block.set(/** @type {Uint32Array} */ (array.subarray(from, until)));
}

// Of rows from..from + n of a block, the numbers: `table` has those that were given.  Counts them, and tells the first row of each and the longest.
function blockNumber(from, n, table, of, {ofOne, ofTwo, ofThree}) {
	const {one, two, three, number, length} = keyBlock, {counts, first, longest, most} = of;

	for (let k = 0; k < n; k++) {
		const at = one[k] * ofOne + two[k] * ofTwo + three[k] * ofThree;
		let its = table[at];
		if (its === 0) {
			its = table[at] = ++of.given;
			first[its - 1] = longest[its - 1] = from + k;
			most[its - 1] = length[k];
		} else if (length[k] > most[its - 1]) {
			most[its - 1] = length[k];
			longest[its - 1] = from + k;
		}
		number[k] = its - 1;
		counts[its - 1]++;
	}
}

// The same of rows whose numbers are in the block already.
function blockCount(from, n, {counts, first, longest, most}) {
	const {one, length} = keyBlock;

	for (let k = 0; k < n; k++) {
		const its = one[k];
		if (counts[its]++ === 0)
			first[its] = longest[its] = from + k;
		else if (length[k] <= most[its])
			continue;
		else
			longest[its] = from + k;
		most[its] = length[k];
	}
}

// Of two or three arrays one: a number for each combination, counted in order of their first rows; by number how many rows have it, the
// first of them, and the longest.  By a table with room for all combinations.
function keysByTable([one, two, three], n, length) {
	const limitC = three ? three.limit : 1, table = new Uint32Array(one.limit * two.limit * limitC), steps = {ofOne: two.limit * limitC, ofTwo: limitC, ofThree: three ? 1 : 0};
	/** @type {Numbers} */
	let key = new Uint8Array(n);
	let room = 256;
	const of = {given: 0, counts: new Uint32Array(0), first: new Uint32Array(0), longest: new Uint32Array(0), most: new Float64Array(0)};

	keyBlock.length.fill(0);
	for (let i = 0; i < n; i += KEY_BLOCK) {
		const until = Math.min(i + KEY_BLOCK, n);
		if (of.counts.length < of.given + KEY_BLOCK)
			keysRoom(of, 2 * of.given + KEY_BLOCK);
		blockFill(keyBlock.one, one.key, i, until);
		blockFill(keyBlock.two, two.key, i, until);
		if (three)
			blockFill(keyBlock.three, three.key, i, until);
		if (length)
			blockFill(keyBlock.length, length, i, until);
		blockNumber(i, until - i, table, of, steps);
		for (; of.given > room; room *= room)
			key = keysWider(key, room);
		key.set(keyBlock.number.subarray(0, until - i), i);
	}
	return {key, counts: of.counts.slice(0, of.given), first: of.first.slice(0, of.given), longest: of.longest.slice(0, of.given)};
}

// Of two arrays, where a table would be too large.
function keysByHash(one, other, n) {
	const numbers = pairNumbers(other.limit), a = one.key, b = other.key;
	/** @type {Numbers} */
	let key = new Uint8Array(n);
	let room = 256;

	for (let i = 0; i < n; i++) {
		const number = numbers.of(a[i], b[i]);
		if (number === room) {
			key = keysWider(key, room);
			room *= room;
		}
		key[i] = number;
	}
	return {key, limit: numbers.n, isOwn: true};
}

const KEY_TABLE_MAX = 1 << 22;

const fitTable = (parts) => parts.reduce((product, {limit}) => product * limit, 1) <= KEY_TABLE_MAX;

// The first few of these arrays as one, the others.
function keysJoin(parts, n) {
	const few = fitTable(parts.slice(0, 3)) ? parts.slice(0, 3) : parts.slice(0, 2);
	const byTable = fitTable(few) ? keysByTable(few, n, null) : null;
	const joined = byTable ? {key: byTable.key, limit: byTable.counts.length, isOwn: true} : keysByHash(few[0], few[1], n);

	keysRelease(few);
	return [joined, ...parts.slice(few.length)];
}

function keysRelease(parts) {
	for (const {key, isOwn} of parts)
		if (isOwn)
			release(key);
}

// Rows by the values of some columns: key[i] of row i; by key how many rows have it, which of them is the longest, and
// the first of them.
export function keysMake(n, columns, length) {
	let parts = columns.map((key) => ({key, limit: columnLimit(key) || valuesLimit(key), isOwn: false})).filter(({limit}) => limit > 1);

	while (parts.length > 3 || (parts.length > 1 && !fitTable(parts)))
		parts = keysJoin(parts, n);
	if (parts.length > 1) {
		const keys = keysByTable(parts, n, length);
		keysRelease(parts);
		return keys;
	}
	const {key, limit} = parts.length ? parts[0] : {key: new Uint8Array(n), limit: 1};
	const counts = new Uint32Array(limit), first = new Uint32Array(limit), longest = new Uint32Array(limit), most = new Float64Array(limit);

	keyBlock.length.fill(0);
	for (let i = 0; i < n; i += KEY_BLOCK) {
		const until = Math.min(i + KEY_BLOCK, n);
		blockFill(keyBlock.one, key, i, until);
		if (length)
			blockFill(keyBlock.length, length, i, until);
		blockCount(i, until - i, {counts, first, longest, most});
	}
	return {key, counts, first, longest};
}

// ---- sets ----

// The rows of a source that are in the set: `wanted` by key, or all.  ids: the rows' numbers, if not their position + 1.
export function sourceMake(kind, rows, {keys = null, wanted = null, ids = null} = {}) {
	let n = rows.n;

	if (wanted) {
		n = 0;
		for (let k = 0; k < wanted.length; k++)
			n += wanted[k] ? keys.counts[k] : 0;
	}
	return {kind, rows, key: keys && keys.key, wanted, ids, n};
}

export const setMake = (sources) => ({sources, n: sources.reduce((sum, {n}) => sum + n, 0)});

// A list in any order, of numbers of rows and of times.
/** @param {string} kind @param {Numbers} time */
export function sourceOfList(kind, ids, time) {
	const order = orderOf(time, ids.length);

	return sourceMake(kind, {n: ids.length, time: Float64Array.from(order, (i) => time[i]), runs: [0, ids.length], order: null},
		{ids: Uint32Array.from(order, (i) => ids[i])});
}

/** @param {Numbers | WaitTimes} time @param {number} row */
function timeOfRow(time, row) {
	return "states" in time ? waitStart(time, row) : time[row];
}

// How many of the rows at lo..hi in the order are before `time`, or at it if `through`.
function rowsBefore({time, order}, lo, hi, limit, through) {
	const from = lo;

	while (lo < hi) {
		const mid = (lo + hi) >>> 1, t = timeOfRow(time, order ? order[mid] : mid);
		if (t < limit || (through && t === limit))
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo - from;
}

// The first position of a run that is not before a place.
function runFrom({rows}, number, lo, hi, place) {
	if (number === place.source && lo <= place.k && place.k < hi)
		return place.k;
	const through = number < place.source || (number === place.source && hi <= place.k);
	return lo + rowsBefore(rows, lo, hi, place.time, through);
}

const rowAt = ({rows: {order}}, k) => order ? order[k] : k;

// From position k on by `step` up to (not including) `end`: the first that is in the set and no farther in time than
// `limit`; `end` if there is none.
function runSeek({rows, key, wanted}, k, end, step, limit) {
	const {order} = rows;
	let until = end;

	if (Number.isFinite(limit))
		until = step > 0 ? k + rowsBefore(rows, k, end, limit, true) : end + rowsBefore(rows, end + 1, k + 1, limit, false);
	if (!wanted)
		return k === until ? end : k;
	for (; k !== until; k += step)
		if (wanted[key[order ? order[k] : k]])
			return k;
	return end;
}

function placeIsBefore(a, b) {
	return a.time < b.time || (a.time === b.time && (a.source < b.source || (a.source === b.source && a.k < b.k)));
}

// The match nearest to a place, behind (1) or before it (-1); null = none.
/** @param {MatchSet} set @param {Place} place @param {number} step */
export function matchBeside(set, place, step) {
	let best = null;

	set.sources.forEach((source, number) => {
		const {runs, time} = source.rows;
		if (!source.n)
			return;
		for (let r = 0; r + 1 < runs.length; r++) {
			const lo = runs[r], hi = runs[r + 1], from = runFrom(source, number, lo, hi, place);
			const isPlace = number === place.source && lo <= place.k && place.k < hi;
			const end = step > 0 ? hi : lo - 1;
			const k = runSeek(source, step > 0 ? from + isPlace : from - 1, end, step, best ? best.time : step * Infinity);
			if (k === end)
				continue;
			const found = {time: timeOfRow(time, rowAt(source, k)), source: number, k};
			if (!best || (step > 0 ? placeIsBefore(found, best) : placeIsBefore(best, found)))
				best = found;
		}
	});
	return best;
}

// Where a row of a source is.
/** @param {MatchSet} set */
export function placeOfRow(set, number, row) {
	const source = set.sources[number], {rows} = source, time = timeOfRow(rows.time, row);
	let k = row;

	if (rows.order)
		for (k = rowsBefore(rows, 0, rows.n, time, false); rows.order[k] !== row;)
			k++;
	return {time, source: number, k};
}

// How many matches are before a place.
/** @param {MatchSet} set @param {Place} place */
export function matchesBefore(set, place) {
	let n = 0;

	set.sources.forEach((source, number) => {
		const {rows: {runs, order}, key, wanted} = source;
		for (let r = 0; source.n && r + 1 < runs.length; r++) {
			const until = runFrom(source, number, runs[r], runs[r + 1], place);
			if (!wanted)
				n += until - runs[r];
			for (let k = runs[r]; wanted && k < until; k++)
				n += wanted[key[order ? order[k] : k]];
		}
	});
	return n;
}

// A match as a selection.
export function matchSelection(set, {source, k}) {
	const {kind, ids} = set.sources[source], row = rowAt(set.sources[source], k);

	return {kind, id: ids ? ids[row] : row + 1};
}

// Which of the equal parts of the time from begin to end have matches; those beyond are in the first and the last.  Of parts that are
// known to have some no more is asked.
/** @param {MatchSource} source */
export function matchParts(source, begin, end, parts) {
	const {rows} = source, {runs, time} = rows, last = parts.length - 1, length = (end - begin) / parts.length;
	const rowsUntil = (k, hi, part) => part > last ? hi - k : rowsBefore(rows, k, hi, begin + part * length, false);

	for (let r = 0; source.n && r + 1 < runs.length; r++) {
		const hi = runs[r + 1];
		for (let k = runs[r]; k < hi;) {
			const part = Math.min(Math.max(Math.floor((timeOfRow(time, rowAt(source, k)) - begin) / length), 0), last);
			if (parts[part]) {
				let next = part + 1;
				while (next <= last && parts[next])
					next++;
				k += Math.max(rowsUntil(k, hi, next), 1);
				continue;
			}
			const k1 = k + rowsUntil(k, hi, part + 1);
			parts[part] = Number(runSeek(source, k, k1, 1, Infinity) < k1);
			k = Math.max(k1, k + 1);
		}
	}
}
