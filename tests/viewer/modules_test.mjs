// modules_test.mjs - run by modules.sh.

import assert from "node:assert/strict";
import {test} from "node:test";
import "./page_stub.mjs";
import {columnsMade, lanesOf, lanesPack, lanesUnpack, latencySteps, medianOf} from "../../viewer/assets/annotations.js";
import {head, texts} from "../../viewer/assets/data.js";
import {bitsNext, columnDecode, decodeDeltas, deltaAt, deltaMarks, pieceBytes, streamsJoin, streamsPlace} from "../../viewer/assets/decode.js";
import {offTime, onProcOf} from "../../viewer/assets/flame_items.js";
import {taskSpans} from "../../viewer/assets/flame_select.js";
import {count} from "../../viewer/assets/format.js";
import {lanesMake} from "../../viewer/assets/levels.js";
import {laneCounts, laneLonger, lanePaint, paintMake} from "../../viewer/assets/lod.js";
import {looksForget} from "../../viewer/assets/looks.js";
import {heapMargin, heapMarginAdd, heapMarginValue, isWithinChance, marginOf, marginPart, marginPooled, marginShare, marginText, partAdd, partJoin, samplesWorth} from "../../viewer/assets/margins.js";
import {keysMake, matchBeside, matchParts, matchSelection, matchesBefore, orderOf, placeOfRow, setMake, sourceMake, sourceOfList, timedRows} from "../../viewer/assets/matches.js";
import {procs, stepsOf} from "../../viewer/assets/procs.js";
import {rank, threadsCount, threadsTold, trace} from "../../viewer/assets/rows.js";
import {lengthNext, refOf, refSet, refsMake, statesMake, waitAbove, waitStart, waitStarts, waitWake, waitsMake, waitsOther} from "../../viewer/assets/states.js";
import {timeAbove, timeOf, timeSet, timesDone, timesMake} from "../../viewer/assets/times.js";
import {heapPlaces, longestParks} from "../../viewer/assets/tops.js";

let state = 12345;

function random(below) {
	state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
	return Math.floor(state / 4294967296 * below);
}

const numbers = (Type, n, below) => Type.from({length: n}, () => random(below));

function timesFrom(values) {
	const times = timesMake(values.length);

	values.forEach((value, i) => timeSet(times, i, value));
	timesDone(times);
	return times;
}

const timesAll = (times) => Float64Array.from(times.near, (_, i) => timeOf(times, i));

const DIGITS = Array.from({length: 127}, (_, i) => i + 1).filter((code) => ![13, 26, 27, 60].includes(code));

// By the rule of page:P4, on whole numbers.
function base123(bytes) {
	const codes = [];

	for (let at = 0; at < bytes.length; at += 13) {
		const own = bytes.subarray(at, at + 13), digits = [];
		let value = own.reduceRight((sum, byte) => sum * 256n + BigInt(byte), 0n);
		for (let most = 256n ** BigInt(own.length) - 1n; most > 0n; most /= 123n, value /= 123n)
			digits.unshift(DIGITS[Number(value % 123n)]);
		codes.push(...digits);
	}
	return Uint8Array.from(codes);
}

test("bytes come back from their text, however many there are", () => {
	assert.equal(DIGITS.length, 123);
	for (const n of [...Array(40).keys(), 1000, 4096]) {
		for (const bytes of [numbers(Uint8Array, n, 256), new Uint8Array(n).fill(255), new Uint8Array(n), numbers(Uint8Array, n, 2).map((bit) => 255 * bit)]) {
			const codes = base123(bytes);
			assert.deepEqual(pieceBytes(codes), bytes);
			assert.ok(codes.length <= Math.ceil(n * 15 / 13), `${n} bytes take ${codes.length} characters`);
		}
	}
});

test("a text that is none gives some bytes", () => {
	for (let n = 0; n < 40; n++)
		for (const codes of [numbers(Uint8Array, n, 256), new Uint8Array(n).fill(127), new Uint8Array(n).fill(60)])
			assert.ok(pieceBytes(codes).length <= n);
});

test("values come back in order from streams", () => {
	const n = 500, of = numbers(Uint8Array, n, 7), wanted = numbers(Uint16Array, n, 60000);
	const streams = Uint16Array.from([0, 1, 2, 3, 4, 5, 6].flatMap((stream) => [...wanted].filter((_, i) => of[i] === stream)));

	assert.deepEqual(streamsJoin(streams, streamsPlace(n, 7, (i) => of[i])), wanted);
	assert.deepEqual(streamsJoin(new Uint8Array(0), streamsPlace(0, 1, () => 0)), new Uint8Array(0));
});

// The lengths around each power of two, by the rules of intervals:I2 and I3: {top, byte: -1 = none, bits}.
function lengthParts(length) {
	const string = length.toString(2), e = string.length - 1, high = Math.min(e, 2), below = e >= 10 ? 8 : 0;

	return {top: 4 * e + parseInt(string.slice(1, 1 + high) || "0", 2), byte: below ? length % 256 : -1,
		bits: [...string.slice(1 + high, string.length - below)].reverse().map(Number)};
}

const bytesOfBits = (bits) => Uint8Array.from({length: Math.ceil(bits.length / 8)}, (_, i) => bits.slice(8 * i, 8 * i + 8).reduce((sum, bit, k) => sum + bit * 2 ** k, 0));

test("lengths come back, to the nanosecond", () => {
	const lengths = [1, 2, 3], STATE = 77;
	for (let power = 4; power < 2 ** 53; power *= 2)
		lengths.push(power - 1, power, power + 1, power + Math.floor(power / 3), 2 * power - 1);
	const parts = lengths.map(lengthParts), next = new Uint32Array(65536), tops = [...Array(256).keys()];
	// In the order of lengths within each stream.
	const streams = tops.map((top) => parts.filter((part) => part.byte >= 0 && part.top === top).map((part) => part.byte));
	tops.reduce((at, top) => {
		next[STATE * 256 + top] = at;
		return at + streams[top].length;
	}, 0);
	const bytes = Uint8Array.from(streams.flat());
	const low = {bytes: bytesOfBits(parts.flatMap(({bits}) => bits)), at: 0, value: 0, n: 0}, ones = {bytes: new Uint8Array(20).fill(255), at: 0, value: 0, n: 0};

	assert.deepEqual(parts.map(({top}) => lengthNext(top, STATE, {bytes, next}, low)), lengths);
	for (const n of [0, 1, 24, 25, 31, 53])
		assert.equal(bitsNext(ones, n), 2 ** n - 1);
});

// By the rules of magnitudes:M1 and M2.
function magnitudes(values) {
	const parts = values.map((value) => {
		const string = value.toString(2), e = string.length - 1;
		return value < 8 ? {byte: value, bits: []} : {byte: 4 * (e - 1) + parseInt(string.slice(1, 3), 2), bits: [...string.slice(3)].reverse().map(Number)};
	});

	return Uint8Array.from([...parts.map(({byte}) => byte), ...bytesOfBits(parts.flatMap(({bits}) => bits))]);
}

test("numbers come back from magnitudes and bits, to the last bit", () => {
	const values = [0, 1, 2, 3, 4, 5, 6, 7];
	for (let power = 8; power < 2 ** 53; power *= 2)
		values.push(power - 1, power, power + 1, power + Math.floor(power / 3), 2 * power - 1);
	const decode = (type, of, max, bytes = magnitudes(of)) => columnDecode({type, n: of.length, max, bytes});

	assert.deepEqual([...decode("split", values, 2 ** 53)], values);
	assert.deepEqual(decode("split", [300, 8, 65535], 65535), Uint16Array.of(300, 8, 65535));
	assert.deepEqual(decode("split", [], 0), new Uint8Array(0));
	// As differences: 1000, 990, 5000000000.
	assert.deepEqual([...decode("splitdelta", [2000, 19, 2 * (5000000000 - 990)], 5000000000)], [1000, 990, 5000000000]);
	// What is cut off, or no number's byte, ends, and gives as many numbers.
	for (const length of [0, 3, values.length, values.length + 10])
		assert.equal(decode("split", values, 2 ** 53, magnitudes(values).subarray(0, length)).length, values.length);
	assert.equal(decode("splitdelta", values, 2 ** 53, new Uint8Array(400).fill(255)).length, values.length);
});

test("one of many differences' sums is told without the others", () => {
	// 1, 2, 1, 300, 4000000, 0: zigzag, seven bits a byte
	const bytes = [], values = [1, 2, 1, 300, 4000000, 0];
	values.forEach((value, i) => {
		const step = value - (i ? values[i - 1] : 0);
		let zigzag = step < 0 ? -2 * step - 1 : 2 * step;
		for (; zigzag > 127; zigzag = Math.floor(zigzag / 128))
			bytes.push(zigzag % 128 + 128);
		bytes.push(zigzag);
	});
	assert.deepEqual(values.map((_, i) => deltaAt(Uint8Array.from(bytes), deltaMarks(bytes, values.length), i)), values);
	// Of many, with marks between them; bytes that end too early do no harm.
	const many = Uint8Array.from({length: 5000}, () => random(128)), marks = deltaMarks(many, 5000);
	const sums = decodeDeltas(many, new Float64Array(5000));
	for (const i of [0, 1, 1023, 1024, 1025, 4095, 4096, 4999])
		assert.equal(deltaAt(many, marks, i), sums[i]);
	assert.equal(deltaMarks(many.subarray(0, 10), 5000).at.length, 5);
});

test("what an interval refers to comes back, however far it is from its neighbours", () => {
	const RUNNING = 1, WOKEN = 5, MUTEX = 33, MERGED = 128, n = 3000, v = new Uint8Array(n), refs = refsMake(n), wanted = new Uint32Array(n);

	for (let i = 0; i < n; i++) {
		v[i] = [0, RUNNING, WOKEN, MUTEX, MUTEX, MUTEX | MERGED][random(6)];
		const near = 1 + Math.floor(i / 3), far = 1 + random(4000000);
		wanted[i] = [near, near, near, far][random(4)];
		if (v[i] === RUNNING)
			wanted[i] = [0, 3, 254, 255, 100000][random(5)];
		if (v[i])
			refSet(refs, i, v[i], wanted[i]);
		else
			wanted[i] = 0;
	}
	const states = {v, refs: {...refs, farAt: Uint32Array.from(refs.farAt), far: Uint32Array.from(refs.far)}};
	assert.deepEqual(Uint32Array.from(v, (_, i) => refOf(states, i)), wanted);
	assert.ok(refs.far.length > 0 && refs.far.length < n);
});

test("times come back, however far they are from each other, and in whatever order they are set", () => {
	const n = 5000, wanted = new Float64Array(n), times = timesMake(n);

	for (let i = 0; i < n; i++)
		wanted[i] = [random(100), i * 1000, i * 400000000, 2 ** 52 - random(9)][i < 1000 ? 0 : random(4)];
	for (const i of [...wanted.keys()].sort((a, b) => a % 7 - b % 7)) {
		timeSet(times, i, random(2 ** 31)); // the later one holds
		timeSet(times, i, wanted[i]);
	}
	timesDone(times);
	assert.ok(times.far.length > 1000 && times.far.length < 2 * n);
	assert.deepEqual(timesAll(times), wanted);
	assert.deepEqual(timesAll(timesFrom(wanted)), wanted);
});

test("the first time above another is found, also where those before it have no room", () => {
	const sorted = numbers(Float64Array, 3000, 2 ** 31).map((time, i) => time * (i < 2000 ? 1 : 5000)).sort(), times = timesFrom(sorted);

	assert.ok(times.far.length > 100);
	for (const limit of [-1, 0, ...sorted.filter((_, i) => i % 100 === 50), Infinity])
		for (const [lo, hi] of [[0, 3000], [100, 2500], [7, 7]]) {
			const at = sorted.findIndex((time, i) => i >= lo && time > limit);
			assert.equal(timeAbove(times, lo, hi, limit), at < 0 || at > hi ? hi : at);
		}
});

// ---- waits, by their intervals ----

const WOKEN = 5, PARKED = 32, MERGED = 128;

const zigzag = (value) => value < 0 ? -2 * value - 1 : 2 * value;

function varints(values) {
	const bytes = [];

	for (let value of values) {
		for (; value > 127; value = Math.floor(value / 128))
			bytes.push(value % 128 + 128);
		bytes.push(value);
	}
	return {bytes: Uint8Array.from([...bytes, 0, 0]), at: 0};
}

// Intervals as the page has them, of which each is {value, length, number: of its wait, or what else it refers to}: intervals:I1 to I4.
function packedOf(threads) {
	const after = new Map(), of = new Map(), parks = [], procs = [], merged = [], low = [], bytes = new Map();
	const put = (streams, key, value) => streams.set(key, [...(streams.get(key) || []), value]);
	let park = 0, seen = 0;

	for (const intervals of threads) {
		let before = 0, last = 0;
		for (const {value, length, number} of intervals) {
			const {top, byte, bits} = lengthParts(length);
			put(after, before, value);
			put(of, value * 256 + last, top);
			if (byte >= 0)
				put(bytes, value * 256 + top, byte);
			low.push(...bits);
			before = value;
			last = top;
			if (value & MERGED) {
				merged.push(number);
			} else if (value >= PARKED || value === WOKEN) {
				parks.push(zigzag(number - (value === WOKEN ? park : seen + 1)));
				park = number;
				seen = Math.max(seen, park);
			} else if (value === 1) {
				procs.push(number);
			}
		}
	}
	const lengths = (map, n) => Array.from({length: n}, (_, k) => (map.get(k) || []).length);
	const streams = (map) => Uint8Array.from([...map.keys()].sort((a, b) => a - b).flatMap((k) => map.get(k)));
	return [threads.map((intervals) => intervals.length),
		{after: lengths(after, 256), state: streams(after), durationAfter: lengths(of, 65536), duration: streams(of), bytes: streams(bytes),
			low: {bytes: Uint8Array.from([...bytesOfBits(low), 0]), at: 0, value: 0, n: 0}},
		{parks: varints(parks), procs: varints(procs), merged: varints(merged)}];
}

// Waits in one piece, in several, within each other, woken at once, and far from each other; and what is told of each by plain rules.
function waitsRandom() {
	const threads = [], waits = [];
	const add = (list, value, number) => list.push({value, length: 1 + random([5, 300, 1e6][random(3)]), number});
	const parkedBy = (list, number, reason) => add(list, PARKED + reason, number);

	for (let t = 0; t < 5; t++) {
		const list = [];
		for (let i = 0; i < [400, 0, 1, 90, 300][t]; i++) {
			const number = waits.push({reason: 0}), reason = 1 + random(7), kind = random(12);
			for (let k = random(40) ? random(3) : 400; k > 0; k--)
				add(list, [1, 3, 2, 3 | MERGED][random(4)], 1 + random(300));
			if (kind > 0) // else it was woken all the time
				parkedBy(list, number, reason);
			if (kind === 1) {
				parkedBy(list, waits.push({reason: 0}), 3); // a wait within it
				parkedBy(list, number, reason);
			}
			if (kind < 6)
				add(list, WOKEN, number);
			if (kind === 2) {
				add(list, 3, 0);
				parkedBy(list, number, reason);
			}
		}
		add(list, 3, 0);
		threads.push(list);
	}
	const atEnd = numbers(Uint8Array, waits.length, 2);
	for (const list of threads) {
		let at = 0;
		for (const {value, length, number} of list) {
			const wait = value & MERGED || (value < PARKED && value !== WOKEN) ? null : waits[number - 1];
			if (wait) {
				wait.start ??= at;
				wait.length = at + length - wait.start;
				wait.wake = value === WOKEN ? 2 * (at - wait.start) + 1 : atEnd[number - 1] ? 2 * wait.length + 1 : 0;
				wait.reason = value === WOKEN ? wait.reason : value - PARKED;
			}
			at += length;
		}
	}
	return {threads, waits, atEnd};
}

test("waits are as their intervals say, and as it is said of others", () => {
	const {threads, waits, atEnd} = waitsRandom(), n = waits.length, park = {length: new Uint32Array(n), reason: new Uint8Array(n)};
	const other = {park: [3, 4, n - 1], start: [17, 2 ** 40, 5], length: [1, 2, 3], reason: [4, 5, 6], wake: [0, 3, 9]};
	const made = statesMake(...packedOf(threads), park, atEnd, other);

	other.park.forEach((i, k) => Object.assign(waits[i], {start: other.start[k], length: other.length[k], reason: other.reason[k], wake: other.wake[k]}));
	assert.deepEqual([...waitStarts(made.waits)], waits.map(({start}) => start));
	assert.deepEqual([...park.length], waits.map(({length}) => length));
	assert.deepEqual([...park.reason], waits.map(({reason}) => reason));
	assert.deepEqual(waits.map((_, i) => waitWake(made.waits, i)), waits.map(({wake}) => wake));
	assert.ok(made.waits.other.wait.length > 20 && made.waits.other.wait.length < n / 2, `${made.waits.other.wait.length} of ${n} are told apart`);
	const own = [...Array(90).keys()], limit = waits[45].start;
	assert.equal(waitAbove(made.waits, 10, 10, limit), 10);
	assert.equal(waitAbove(waitsAt(own.map((i) => 10 * i)), 3, 80, 455), 46);
});

test("waits that follow each other are counted, and nothing is kept of each interval", () => {
	let number = 0;
	const threads = [700, 0, 1, 33, 900].map((n) => Array.from({length: n}, () => {
		const value = [1, 2, 3, WOKEN, PARKED + 1, PARKED + 9][number ? random(6) : 4];
		number += Number(value >= PARKED);
		return {value, length: 1 + random(1000), number: value === WOKEN || value >= PARKED ? number : 0};
	}));
	const none = {park: [], start: [], length: [], reason: [], wake: []}, atEnd = new Uint8Array(number);
	const [counted, kept] = [true, false].map((areCounted) =>
		statesMake(...packedOf(threads), {length: new Uint32Array(number), reason: new Uint8Array(number)}, atEnd, none, areCounted));

	assert.equal(counted.refs.near, null);
	assert.ok(kept.refs.near.length > number);
	assert.deepEqual(Array.from(counted.v, (_, i) => refOf(counted, i)), threads.flatMap((list) => [...list.map((interval) => interval.number), 0]));
	assert.deepEqual(Array.from(counted.v, (_, i) => refOf(counted, i)), Array.from(kept.v, (_, i) => refOf(kept, i)));
	assert.deepEqual(Array.from({length: number}, (_, i) => waitWake(counted.waits, i)), Array.from({length: number}, (_, i) => waitWake(kept.waits, i)));
});

test("a wait is where it was, however far it is behind the first of its block", () => {
	for (const distance of [253, 254, 255, 256, 257]) {
		const between = Array.from({length: distance - 1}, (_, k) => ({value: k % 2 ? 3 : 1, length: 2, number: 1}));
		const list = [{value: PARKED + 1, length: 7, number: 1}, ...between, {value: PARKED + 2, length: 9, number: 2}, {value: WOKEN, length: 4, number: 2}];
		const park = {length: new Uint32Array(2), reason: new Uint8Array(2)}, none = {park: [], start: [], length: [], reason: [], wake: []};
		const {waits} = statesMake(...packedOf([list]), park, [0, 0], none), start = 7 + 2 * (distance - 1);
		assert.deepEqual([...waitStarts(waits)], [0, start], `${distance} intervals`);
		assert.equal(waitWake(waits, 1), 2 * 9 + 1, `${distance} intervals`);
	}
});

test("numbers of waits that cannot be are no waits, and stop nothing", () => {
	const {threads, waits, atEnd} = waitsRandom(), n = waits.length;
	for (let round = 0; round < 20; round++) {
		const [counts, packed, refer] = packedOf(threads), park = {length: new Uint32Array(n), reason: new Uint8Array(n)};
		refer.parks.bytes = numbers(Uint8Array, refer.parks.bytes.length, round % 2 ? 256 : 128);
		const made = statesMake(counts, packed, refer, park, atEnd, {park: [5, 2 * n, 4294967295], start: [1, 2, 3], length: [1, 2, 3], reason: [1, 2, 3], wake: [1, 2, 3]});
		assert.equal(waitStart(made.waits, 5), 1);
		assert.equal(waitStarts(made.waits).length, n);
		for (let i = 0; i < n; i++)
			assert.equal(typeof waitWake(made.waits, i), "number");
	}
});

test("lengths of streams that cannot be stop nothing", () => {
	const {threads, waits, atEnd} = waitsRandom(), none = {park: [], start: [], length: [], reason: [], wake: []};
	for (const damage of [(packed) => packed.durationAfter.fill(4294967295), (packed) => packed.durationAfter.fill(0), (packed) => packed.durationAfter.length = 3,
		(packed) => packed.duration.fill(255), (packed) => { packed.bytes = new Uint8Array(0); }, (packed) => { packed.low.bytes = new Uint8Array(1); },
		(packed) => packed.after.fill(1e9), (packed) => packed.state.fill(255)]) {
		const [counts, packed, refer] = packedOf(threads), park = {length: new Uint32Array(waits.length), reason: new Uint8Array(waits.length)};
		damage(packed);
		assert.equal(statesMake(counts, packed, refer, park, atEnd, none).bounds.length, threads.length);
	}
});

test("the median is the middle one of the sorted values", () => {
	for (const n of [1, 2, 3, 10, 999, 1000])
		for (const values of [numbers(Float64Array, n, 1e9), numbers(Float64Array, n, 3), new Float64Array(n)])
			assert.equal(medianOf(values.slice()), values.toSorted()[Math.floor((n - 1) / 2)]);
	assert.equal(medianOf(new Float64Array(0)), undefined);
});

test("a task's colour says how many times the median of its type it took", () => {
	const length = [10, 20, 21, 40, 41, 10, 10, 10, 160, 161, 81, 500, 7, 9999], type = [...new Array(12).fill(3), 1, 1];
	const open = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1], {steps, medians} = latencySteps({n: 14, length, type, open});

	assert.deepEqual([...medians].filter(([, median]) => median), [[3, 21]]); // 10 10 10 10 20 21 40 41 81 160 161
	assert.deepEqual([...steps], [0, 0, 0, 1, 1, 0, 0, 0, 3, 3, 2, 5, 0, 0]);
});

test("times are put in order, equal ones stay in theirs", () => {
	for (const n of [0, 1, 2, 1000]) {
		const time = numbers(Float64Array, n, 300);
		const wanted = [...time.keys()].sort((a, b) => time[a] - time[b] || a - b);
		assert.deepEqual([...orderOf(time, n)], wanted);
	}
});

test("rows are counted by their values", () => {
	for (const [Type, below] of [[Uint8Array, 3], [Uint16Array, 300], [Uint32Array, 70000]]) {
		const n = 70000, columns = [numbers(Uint8Array, n, 2), new Uint8Array(0), numbers(Type, n, below), numbers(Type, n, 3)];
		const length = numbers(Float64Array, n, 50), {key, counts, first, longest} = keysMake(n, columns, length);
		const rows = new Map();

		for (let i = 0; i < n; i++) {
			const name = `${columns[0][i]} ${columns[2][i]} ${columns[3][i]}`;
			if (!rows.has(name))
				rows.set(name, []);
			rows.get(name).push(i);
		}
		assert.equal(rows.size, counts.length);
		for (const own of rows.values()) {
			const most = own.reduce((best, i) => length[i] > length[best] ? i : best);
			assert.ok(own.every((i) => key[i] === key[own[0]]));
			assert.deepEqual([counts[key[own[0]]], first[key[own[0]]], longest[key[own[0]]]], [own.length, own[0], most]);
		}
	}
});

test("columns that follow from others are made from them", () => {
	const zigzag = (n) => n < 0 ? -2 * n - 1 : 2 * n;
	const given = {"task.thread": [3, 1], "task.end_beside": [0, 5], "task.start": [100, 50], "task.length": [40, 20], "region.task": [0, 2, 1],
		"region.thread_beside": [3, 0, 0], "region.start_in_task": [zigzag(7), zigzag(5), zigzag(-10)], "region.end_in_task": [zigzag(9), zigzag(0), zigzag(-1)],
		"log.task": [1, 0, 0], "log.thread_beside": [0, 2, 0], "log.time_in_task": [zigzag(1), zigzag(4), zigzag(-5)]};
	const made = columnsMade((name) => given[name] ||= made.get(name)(), (name) => ({n: name === "thread.serial" ? 9 : 3, max: 1000}));
	const wanted = {"task.end_thread": [3, 4], "region.thread": [2, 1, 3], "region.start": [7, 55, 90], "region.length": [9, 15, 49],
		"log.thread": [3, 1, 0], "log.time": [101, 105, 100]};

	for (const [name, values] of Object.entries(wanted))
		assert.deepEqual(Array.from(made.get(name)()), values, name);
});

test("lanes come out of a message as they went into it", () => {
	const n = 500, rows = {n, start: numbers(Float64Array, n, 1e6).sort(), length: numbers(Float64Array, n, 50), type: numbers(Uint8Array, n, 9)};
	const lanes = lanesOf(rows, 4, (i) => i % 5 - 1);

	assert.deepEqual(lanesUnpack(structuredClone(lanesPack(lanes))), lanes);
	assert.deepEqual(lanesUnpack(structuredClone(lanesPack(lanesOf({n: 0}, 0, () => -1)))), []);
});

test("whole numbers are told in groups of three digits", () => {
	for (const [n, text] of [[0, "0"], [999, "999"], [1000, "1,000"], [-1234567.4, "-1,234,567"], [9007199254740991, "9,007,199,254,740,991"]])
		assert.equal(count(n), text);
});

// Waits that begin then.
function waitsAt(starts) {
	const waits = waitsMake({s: timesFrom([]), v: [], refs: refsMake(0)}, new Uint32Array(starts.length), []);

	waitsOther(waits, new Map(Array.from(starts, (start, i) => [i, {start, wake: 0}])));
	return waits;
}

// Rows by thread, by time, and in no order; of one kind all, of one some.
function setOfAll() {
	const n = 3000, byThread = new Float64Array(n), key = numbers(Uint8Array, n, 40);

	for (let t = 0; t < 10; t++)
		byThread.set(numbers(Float64Array, n / 10, 1000).sort(), t * n / 10);
	const keys = keysMake(n, [key], null), wanted = Uint8Array.from(keys.counts, (_, k) => k % 13 === 5);
	const shuffled = numbers(Float64Array, 40000, 1000), few = keysMake(40000, [numbers(Uint16Array, 40000, 500)], null);
	const list = numbers(Float64Array, 20, 1000);

	return setMake([
		sourceMake("park", {...timedRows(byThread, n), time: waitsAt(byThread)}, {keys, wanted}),
		sourceMake("log", timedRows(shuffled, 40000), {keys: few, wanted: Uint8Array.from(few.counts, (_, k) => k === 7)}),
		sourceOfList("thread", list.map((_, i) => 20 - i), list),
		sourceMake("none", timedRows(new Float64Array(0), 0)),
	]);
}

// Every match as [time, source, row + 1, kind], in order, by looking at all rows.
function listOf({sources}) {
	return sources.flatMap(({kind, rows, key, wanted, ids}, source) => Array.from({length: rows.n}, (_, i) => i)
		.filter((i) => !wanted || wanted[key[i]])
		.map((i) => ({time: rows.time.near ? waitStart(rows.time, i) : rows.time[i], source, i, id: ids ? ids[i] : i + 1, kind})))
		.sort((a, b) => a.time - b.time || a.source - b.source || a.i - b.i);
}

test("matches are walked through in order of time, both ways", () => {
	const set = setOfAll(), all = listOf(set);

	assert.equal(set.n, all.length);
	assert.ok(set.sources[1].rows.order, "one kind is in no order");
	for (const step of [1, -1]) {
		const wanted = step > 0 ? all : all.toReversed();
		let place = matchBeside(set, {time: -step * Infinity, source: -1, k: -1}, step);
		for (const [i, {id, kind}] of wanted.entries()) {
			assert.deepEqual(matchSelection(set, place), {kind, id});
			assert.equal(matchesBefore(set, place), step > 0 ? i : all.length - 1 - i);
			place = matchBeside(set, place, step);
		}
		assert.equal(place, null);
	}
});

test("the first match from a time on, and the last before it", () => {
	const set = setOfAll(), all = listOf(set);

	for (let time = -1; time < 1002; time++) {
		const around = {time, source: -1, k: -1};
		const next = all.find((m) => m.time >= time), last = all.findLast((m) => m.time < time);
		for (const [step, match] of [[1, next], [-1, last]]) {
			const found = matchBeside(set, around, step);
			assert.deepEqual(found && matchSelection(set, found), match ? {kind: match.kind, id: match.id} : null);
		}
	}
});

test("a row is found again", () => {
	const set = setOfAll();

	for (const {source, i} of listOf(set)) {
		const {kind, ids} = set.sources[source];
		assert.deepEqual(matchSelection(set, placeOfRow(set, source, i)), {kind, id: ids ? ids[i] : i + 1});
	}
});

test("parts of the time that have matches", () => {
	const set = setOfAll(), parts = new Uint8Array(37), wanted = new Uint8Array(37);

	set.sources.forEach((source) => matchParts(source, 100, 950, parts));
	for (const {time} of listOf(set))
		wanted[Math.max(0, Math.min(Math.floor((time - 100) / 850 * 37), 36))] = 1;
	assert.deepEqual(parts, wanted);
});

// ---- lanes: three, of which one has a few intervals, and one none ----

const LOCK = 9, locks = new Uint8Array(256).fill(1, LOCK, LOCK + 2);

// Lengths of 1 to 8, now and then 1,000 times as long; values 1..8, and waits for locks.
function lanesRandom(withHoles) {
	const counts = [20000, 5, 0], n = counts.reduce((sum, k) => sum + k + 1, 0), bounds = [];
	const s = new Float64Array(n), e = withHoles ? new Float64Array(n) : null, v = new Uint8Array(n);
	let i = 0;

	for (const own of counts) {
		const lo = i;
		for (let at = 0; i <= lo + own; i++) {
			const length = (1 + random(8)) * (random(200) ? 1 : 1000);
			s[i] = at;
			v[i] = 1 + random(10);
			if (e)
				e[i] = at + length;
			at += length + (e ? random(3) : 0);
		}
		bounds.push([lo, i - 1]);
	}
	return lanesMake({s: timesFrom(s), e, v}, bounds, withHoles ? null : locks);
}

const startOf = (lane, i) => timeOf(lane.s, i);
const endOf = (lane, i) => lane.e ? lane.e[i] : startOf(lane, i + 1);

// Time by value of each of w parts of [t0, t1): exactly.
function timesOf(lane, t0, t1, w) {
	const times = Array.from({length: w}, () => new Float64Array(128)), part = (t1 - t0) / w;

	for (let i = lane.lo; i < lane.hi; i++)
		for (let c = Math.max(0, Math.floor((startOf(lane, i) - t0) / part)); c < w && t0 + c * part < endOf(lane, i); c++)
			times[c][lane.v[i]] += Math.max(0, Math.min(endOf(lane, i), t0 + (c + 1) * part) - Math.max(startOf(lane, i), t0 + c * part)) / part;
	return times;
}

test("where intervals are wider than a pixel, a lane is drawn exactly", () => {
	for (const lane of [...lanesRandom(false), ...lanesRandom(true)])
		for (const [t0, t1] of [[0, 400], [333, 777.5], [5000, 5100]]) {
			const w = 500, paint = paintMake(w), counts = new Float32Array(128 * w), times = timesOf(lane, t0, t1, w);
			lanePaint(lane, t0, t1, w, paint);
			laneCounts(lane, t0, t1, w, Uint8Array.from({length: 128}, (_, i) => i), counts);
			for (let c = 0; c < w; c++) {
				const isLock = (value) => lane.locks && lane.locks[value];
				const best = Math.max(0, ...times[c].filter((_, value) => !isLock(value)));
				const all = times[c].reduce((sum, t) => sum + t, 0), locked = times[c].filter((_, value) => isLock(value)).reduce((a, t) => a + t, 0);
				assert.ok(Math.abs(times[c][paint.row[c]] - best) < 1e-6, `column ${c}: ${paint.row[c]}`);
				assert.ok(Math.abs(paint.lockShare[c] - (locked ? locked / all : 0)) < 1e-6, `column ${c}: locks`);
				times[c].forEach((time, value) => assert.ok(Math.abs(counts[value * w + c] - time) < 1e-4));
			}
		}
});

test("where they are narrower, time is drawn no farther than a pixel from where it is", () => {
	for (const lane of [...lanesRandom(false), ...lanesRandom(true)]) {
		const end = lane.hi > lane.lo ? endOf(lane, lane.hi - 1) : 1, w = 300, paint = paintMake(w);
		for (const [t0, t1] of [[0, end], [end / 3, end / 2], [end / 7, end / 7 + end / 40]]) {
			const counts = new Float32Array(2 * w), classes = Uint8Array.from({length: 128}, (_, i) => i === LOCK || i === LOCK + 1);
			const times = timesOf(lane, t0, t1, w);
			let drawn = 0, exact = 0;
			lanePaint(lane, t0, t1, w, paint);
			laneCounts(lane, t0, t1, w, classes, counts);
			for (let c = 0; c < w && lane.locks; c++) {
				drawn += counts[w + c];
				exact += times[c][LOCK] + times[c][LOCK + 1];
				assert.ok(Math.abs(drawn - exact) < 1.01, `column ${c}: ${drawn} of locks, ${exact}`);
				assert.ok(Math.abs(counts[c] + counts[w + c] - times[c].reduce((a, t) => a + t, 0)) < 1e-3);
				assert.ok((paint.lockShare[c] > 0) === (paint.lockRow[c] > 0));
			}
		}
	}
});

test("holes between intervals are no time of theirs, however narrow a pixel makes them", () => {
	const n = 5000, arrays = {s: new Float64Array(n + 1), e: new Float64Array(n + 1), v: new Uint8Array(n + 1).fill(3)}, w = 500;

	for (let i = 0; i < n; i++) { // 10 of each 1,000
		arrays.s[i] = i * 1000;
		arrays.e[i] = i * 1000 + 10;
	}
	const [lane] = lanesMake({...arrays, s: timesFrom(arrays.s)}, [[0, n]], null);
	for (const part of [1, 0.5, 0.1]) {
		const counts = new Float32Array(w);
		laneCounts(lane, 0, n * 1000 * part, w, new Uint8Array(128), counts);
		const sum = counts.reduce((a, c) => a + c, 0);
		assert.ok(Math.abs(sum / w - 0.01) < 0.001, `${sum / w} of the time`);
		if (part === 1)
			assert.ok(counts.every((c) => Math.abs(c - 0.01) < 0.005), "everywhere");
	}
	for (const own of lanesRandom(true)) {
		const end = own.hi > own.lo ? endOf(own, own.hi - 1) : 1, counts = new Float32Array(300), times = timesOf(own, 0, end, 300);
		let drawn = 0, exact = 0;
		laneCounts(own, 0, end, 300, new Uint8Array(128), counts);
		for (let c = 0; c < 300; c++) {
			drawn += counts[c];
			exact += times[c].reduce((a, time) => a + time, 0);
			assert.ok(Math.abs(drawn - exact) < 1.01, `column ${c}: ${drawn}, ${exact}`);
		}
	}
});

test("a picture is the same whichever were drawn before it", () => {
	const lanes = [...lanesRandom(false), ...lanesRandom(true)], w = 200, classes = Uint8Array.from({length: 128}, (_, i) => i % 8);
	const picture = (lane, t0, t1) => {
		const paint = paintMake(w), counts = new Float32Array(8 * w);
		lanePaint(lane, t0, t1, w, paint);
		laneCounts(lane, t0, t1, w, classes, counts, 2.8);
		return {paint, counts};
	};
	const end = endOf(lanes[0], lanes[0].hi - 1), views = [];

	for (let i = 0, t0 = end / 3, length = end / 2; i < 150; i++) {
		views.push([t0, t0 + length]);
		t0 += i % 3 ? length / 37 : 0;
		length *= i % 3 ? 1 : 0.93;
		if (i % 40 === 39)
			[t0, length] = [random(end), random(end / 2) + 1];
	}
	for (const lane of lanes) {
		const inTurn = views.map(([t0, t1]) => picture(lane, t0, t1));
		views.forEach(([t0, t1], i) => {
			looksForget();
			assert.deepEqual(inTurn[i], picture(lane, t0, t1), `view ${i}: ${t0} to ${t1}`);
		});
	}
});

test("how many rows there are at a time", () => {
	const steps = ([start, length]) => {
		const {at, value} = stepsOf({n: start.length, start: Float64Array.from(start), length: Float64Array.from(length)});
		return [[...at], [...value]];
	};

	assert.deepEqual(steps([[], []]), [[0], [0]]);
	assert.deepEqual(steps([[10, 20], [30, 5]]), [[0, 10, 20, 25, 40], [0, 1, 2, 1, 0]]);
	assert.deepEqual(steps([[10, 40], [30, 5]]), [[0, 10, 40, 45], [0, 1, 1, 0]]);
	assert.deepEqual(steps([[10, 50], [30, 0]]), [[0, 10, 40, 50], [0, 1, 0, 0]], "the last has no length");
});

test("the longer intervals of a lane", () => {
	for (const lane of [...lanesRandom(false), ...lanesRandom(true)])
		for (const least of [5, 500, 3000]) {
			const wanted = [];
			for (let i = lane.lo; i < lane.hi; i++)
				if (endOf(lane, i) - startOf(lane, i) > least && endOf(lane, i) > 1000 && startOf(lane, i) < 50000)
					wanted.push(i);
			assert.deepEqual(laneLonger(lane, 1000, 50000, least), wanted);
		}
});

test("of longer intervals that overlap no more are told than there is room for", () => {
	const n = 20000, s = numbers(Float64Array, n, 100000).sort(), e = s.map((at) => at + 100 + random(900)), v = new Uint8Array(n).fill(1);
	const [lane] = lanesMake({s: timesFrom(s), e, v}, [[0, n]], null);

	for (const [t0, t1, least] of [[0, 100000, 400], [50000, 52000, 200], [30000, 30010, 1]]) {
		const found = laneLonger(lane, t0, t1, least);
		assert.ok(found.length > 0 && found.length <= (t1 - t0) / least + 2, `${found.length} of them`);
		found.forEach((i, k) => assert.ok(e[i] - s[i] > least && (k === 0 || s[i] >= e[found[k - 1]])));
	}
});

test("a row is ranked among those of its kind", () => {
	for (const [Key, Length, most] of [[Uint8Array, Float64Array, 200], [Uint8Array, Uint32Array, 200], [Uint8Array, Uint32Array, 2 ** 31],
		[Uint8Array, Uint32Array, 2 ** 32], [Uint16Array, Uint8Array, 200], [Uint32Array, Uint32Array, 200]]) {
		const n = 9000, rows = {n, type: numbers(Key, n, 5), length: numbers(Length, n, most)};
		for (const i of [0, 4095, 4096, 8999]) {
			const own = [...rows.type.keys()].filter((j) => rows.type[j] === rows.type[i]);
			assert.deepEqual(rank(rows, "type", i), {n: own.length, longer: own.filter((j) => rows.length[j] > rows.length[i]).length});
		}
	}
});

// ---- tasks: with parts, some of them handed from thread to thread ----

// Which picked task each task is, or is a part of: the nearest one above it; -1 = none.
function pickedAbove(parent, picked, row) {
	const seen = new Set();

	for (let at = row; at >= 0 && !seen.has(at); at = parent[at] - 1) {
		if (picked.includes(at))
			return at;
		seen.add(at);
	}
	return -1;
}

// When the thread that ended a task had ended the one before of another picked task.
function endedBeforeIt(task, of, row) {
	const end = (i) => task.start[i] + task.length[i];
	const others = [...of.keys()].filter((i) => task.end_thread[i] === task.end_thread[row])
		.sort((a, b) => end(a) - end(b) || a - b);
	let k = others.indexOf(row);

	while (k >= 0 && of[others[k]] === of[row])
		k--;
	return k < 0 ? -1 : end(others[k]);
}

// The spans of threads by plain rules: a task's own from its begin to its end, and its regions.
function spansByRules(task, region, picked) {
	const of = Array.from(task.start, (_, row) => pickedAbove(task.parent, picked, row)), threads = new Map();
	const put = (row, thread, from, until) => {
		for (const i of [row, of[row]]) {
			from = Math.max(from, task.start[i]);
			until = Math.min(until, task.start[i] + task.length[i]);
		}
		if (!thread || from >= until)
			return;
		if (!threads.has(thread))
			threads.set(thread, new Set());
		for (let at = from; at < until; at++)
			threads.get(thread).add(at);
	};

	of.forEach((root, row) => {
		const {start, length, thread, end_thread: ender} = task;
		if (root >= 0)
			put(row, ender[row] || thread[row], ender[row] && ender[row] !== thread[row] ? Math.max(start[row], endedBeforeIt(task, of, row))
				: start[row], start[row] + length[row]);
	});
	region.task.forEach((number, i) => {
		if (number && of[number - 1] >= 0)
			put(number - 1, region.thread[i], region.start[i], region.start[i] + region.length[i]);
	});
	return threads;
}

test("threads work for a task, for its parts, and in their regions", () => {
	const n = 60, task = {n, parent: numbers(Uint32Array, n, n + 1).map((p) => random(3) ? 0 : p), start: numbers(Float64Array, n, 900),
		length: numbers(Float64Array, n, 90), open: new Uint8Array(n), thread: numbers(Uint8Array, n, 4), end_thread: numbers(Uint8Array, n, 4)};
	const region = {n: 2 * n, task: numbers(Uint32Array, 2 * n, n + 1), start: numbers(Float64Array, 2 * n, 900), length: numbers(Float64Array, 2 * n, 90),
		thread: numbers(Uint8Array, 2 * n, 4), fiber: new Uint8Array(2 * n), open: new Uint8Array(2 * n)};

	Object.assign(trace, {task, region, frun: {n: 0}, threads: Array.from({length: 4}, () => ({fibers: null}))});
	assert.ok(task.parent.some((p) => p), "some are parts");
	for (const picked of [...Array.from({length: n}, (_, row) => [row]), [], [3, 4, 50], [...Array(n).keys()]]) {
		const seen = new Map();
		for (const [thread, joined] of taskSpans(picked).threads) {
			seen.set(thread, new Set());
			for (let k = 0; k < joined.length; k += 2)
				for (let at = joined[k]; at < joined[k + 1]; at++)
					seen.get(thread).add(at);
		}
		const wanted = spansByRules(task, region, picked), sorted = (map) => [...map].map(([t, at]) => [t, [...at].sort((a, b) => a - b)])
			.sort(([a], [b]) => a - b);
		assert.deepEqual(sorted(seen), sorted(wanted), `tasks ${picked}`);
	}
});

test("time off a proc is what no row has the thread on one, also where rows overlap", () => {
	const n = 300, rows = {n, thread: numbers(Uint8Array, n, 3).map((t) => t + 1), start: numbers(Float64Array, n, 3000).sort(), length: numbers(Float64Array, n, 40)};
	const fold = {timeIn: (_, from, until) => Math.max(0, until - from)};

	trace.cpu = rows;
	trace.threads = Array.from({length: 3}, (_, idx) => ({idx}));
	head.switches_ns = 500;
	Object.assign(procs, {exact: true, byThread: null});
	for (const thread of trace.threads) {
		const on = new Set(), onProc = onProcOf(thread, fold);
		for (let i = 0; i < n; i++)
			for (let at = rows.start[i]; rows.thread[i] === thread.idx + 1 && at < rows.start[i] + rows.length[i]; at++)
				on.add(at);
		assert.ok(on.size, "there are rows");
		for (let from = 0; from < 3000; from += 17) {
			let off = 0;
			for (let at = Math.max(from, 500); at < from + 17; at++)
				off += on.has(at) ? 0 : 1;
			assert.equal(offTime(fold, thread.idx + 1, 0, onProc, from, from + 17), off, `thread ${thread.idx}, from ${from}`);
		}
	}
	assert.equal(offTime(fold, 1, 0, () => 30, 600, 610), 0, "never less than none");
});

// As trc_margin_share() and trc_heap_margin(), which tests/analyzer/model/margin_test holds against programs, and the report has it.
test("margins are those of the analyzer", () => {
	const of = (...values) => {
		const part = marginPart();
		values.forEach((value) => partAdd(part, value));
		return part;
	};
	// Two threads: of four samples three are in the group, of two none; and a thread with a single sample that is.
	const whole = new Map([["a", of(1, 1, 1, 1)], ["b", of(2, 2)], ["c", of(3)]]), all = marginOf(whole, whole);
	const group = marginOf(new Map([["a", of(1, 1, 1)], ["c", of(3)]]), whole), share = 6 / 11;
	const within = 4 / 3 * (3 * 0.25 ** 2 + 0.75 ** 2), ends = [[1 / 4, 0.75], [4 / 4, 0], [9, 1]];
	const variance = within + ends.reduce((sum, [end, p]) => sum + end * (p - share) ** 2, 0) + 2 * ((3 + 9) / 6) ** 2;
	assert.ok(Math.abs(marginShare(group, all) - 1.959964 * Math.sqrt(variance)) < 1e-9);
	const alone = new Map([["a", of(1, 1, 1, 1)]]);
	const known = {...marginOf(new Map([["a", of(1)]]), alone)};
	known.variance -= 1 / 4 * 0.25 ** 2; // without the thread's end
	assert.ok(Math.abs(marginPooled(of(1, 1, 1, 1), 0.25) - marginShare(known, marginOf(new Map(), alone))) < 1e-9);
	const joined = of(1, 2);
	partJoin(joined, of(3));
	assert.deepEqual(joined, of(1, 2, 3));
	assert.equal(marginShare(marginOf(new Map(), whole), marginOf(new Map(), new Map())), 0);
	// One stands for 512.5 of 1,024 bytes; another was sure to be drawn.
	const heap = heapMargin();
	heapMarginAdd(heap, 1, 4096);
	assert.equal(heapMarginValue(heap), 0);
	heapMarginAdd(heap, 512.5, 1024);
	assert.ok(Math.abs(heapMarginValue(heap) - 1.959964 * Math.sqrt(3 * 512.5 * 511.5) * 1024) < 1e-3);
	assert.deepEqual([[1.24, 100], [0.04, 100], [99.96, 100], [3, 0]].map(([margin, of100]) => marginText(margin, of100)), ["±1.2", "", "±100", ""]);
});

test("where allocations are is looked up once for each stack, not for each of them", () => {
	const n = 10000, {stack, stackFirst, stackFrames, frame} = trace;
	let asked = 0;

	// Of stack s the one frame is that of its function: "odd" or "even".
	texts.cache = ["", "odd", "even"];
	trace.frame = {n: 2, function: [1, 2], file: [0, 0], module: [0, 0], line: [0, 0], low: [0, 0], high: [0, 0], owner: [0, 0], inlined: [0, 0]};
	trace.stack = {n: 8, skip: new Uint8Array(8)};
	trace.stackFrames = Uint32Array.from({length: 8}, (_, s) => s % 2 ? 1 : 2);
	trace.stackFirst = new Proxy(Uint32Array.from({length: 9}, (_, s) => s), {get: (all, key) => {
		asked++;
		return all[key];
	}});
	head.span_ns = 100;
	trace.alloc = {n, stack: numbers(Uint8Array, n, 6).map((s) => s + 1), space: numbers(Float64Array, n, 100), bytes: numbers(Float64Array, n, 100), time: numbers(Float64Array, n, 100),
		lives: numbers(Uint8Array, n, 2), freed: new Float64Array(n).fill(100)};
	const rows = heapPlaces();
	assert.deepEqual(rows.map((row) => row.where).sort(), ["even", "odd"]);
	for (const {where, allocated, inUse} of rows) {
		const of = [...Array(n).keys()].filter((i) => trace.alloc.stack[i] % 2 === (where === "odd" ? 1 : 0));
		assert.equal(allocated, of.reduce((sum, i) => sum + trace.alloc.space[i], 0), where);
		assert.equal(inUse, of.reduce((sum, i) => sum + trace.alloc.lives[i] * trace.alloc.space[i], 0), where);
	}
	assert.ok(asked > 0 && asked <= 60, `asked ${asked} times`);
	Object.assign(trace, {stack, stackFirst, stackFrames, frame});
});

// Waits at random; flag 2 = it had not ended when the trace did.
function parksRandom(n) {
	const start = numbers(Float64Array, n, 500).sort(), when = waitsMake({s: null, v: [], refs: null}, new Uint32Array(n), []);

	waitsOther(when, new Map(Array.from(start, (ns, i) => [i, {start: ns, wake: 0}])));
	return {n, start, when, length: numbers(Float64Array, n, 900), thread: new Uint32Array(n).fill(1),
		flags: numbers(Uint8Array, n, 2).map((bit) => 2 * bit)};
}

test("the longest waits, first those of which nobody knows how long, as far as they lie in the page", () => {
	const n = 2000, all = [...Array(n).keys()];

	for (const isRecovered of [false, true])
		for (const cut of [undefined, {text: ""}]) {
			const p = trace.park = parksRandom(n);
			Object.assign(head, {cut, info: isRecovered ? [["snapshot", "recovered"]] : []});
			Object.assign(trace, {begin: 300, span: 700});
			const ns = (i) => cut ? Math.max(0, Math.min(p.start[i] + p.length[i], 700) - Math.max(p.start[i], 300)) : p.length[i];
			const longer = (i) => isRecovered ? p.flags[i] : 0;
			const wanted = all.filter((i) => i % 3).sort((a, b) => longer(b) - longer(a) || ns(b) - ns(a) || a - b).slice(0, 20);
			assert.deepEqual(longestParks(0, n, 20, (i) => i % 3 > 0), wanted);
		}
	delete head.cut;
});

test("a process's first thread is one thread, whichever programs it executes", () => {
	const rows = (...list) => list.map(([tid, counts]) => ({tid, counts}));
	const before = [101, 1], ended = [102, 2], first = [101, 0], other = [103, 0];

	for (const [list, n, told] of [[[first, other], 2, "2 threads"], [[before, first], 1, "1 thread"], [[before, [101, 1], first, other], 2, "2 threads"],
		[[before, ended, first], 2, "1 thread (and 1 of the programs before it)"], [[before, ended], 2, "1 thread (and 1 of the programs before it)"],
		[[ended, other], 2, "1 thread (and 1 of the programs before it)"], [[], 0, "0 threads"]]) {
		assert.equal(threadsCount(rows(...list)), n);
		assert.equal(threadsTold(rows(...list)), told);
	}
});

test("a change of a share is beyond chance where two shares of one kind seldom differ so", () => {
	const drawn = (p, n) => Array.from({length: n}, () => random(1000000) < p * 1000000 ? 1 : 0).reduce((sum, hit) => sum + hit, 0) / n;

	for (const [p, n, m] of [[0.5, 9, 9], [0.1, 9, 9], [0.05, 12, 300], [0.5, 200, 100], [0.02, 500, 500], [0.9, 40, 40]]) {
		let beyond = 0;
		for (let i = 0; i < 2000; i++)
			beyond += isWithinChance(drawn(p, n), drawn(p, m), n, m) ? 0 : 1;
		assert.ok(beyond <= 0.07 * 2000, `${p} of ${n} and ${m}: ${beyond} of 2,000 seem to have changed`);
	}
	for (const [before, after, n, m, within] of [[0.5, 0.65, 200, 200, false], [0, 1, 9, 9, false], [0, 1 / 3, 9, 9, true], [1 / 9, 0, 9, 1000, true],
		[0.5, 0.55, 200, 200, true], [0.5, 0.55, 20000, 20000, false], [0, 0, 0, 5, true]])
		assert.equal(isWithinChance(before, after, n, m), within, `${before} of ${n}, ${after} of ${m}`);
});

test("samples that count for less make for fewer", () => {
	const part = marginPart();

	assert.equal(samplesWorth(part), 0);
	for (let i = 0; i < 10; i++)
		partAdd(part, 5);
	assert.equal(samplesWorth(part), 10);
	partAdd(part, 500);
	assert.ok(samplesWorth(part) < 1.3);
});
