// modules_test.mjs - run by modules.sh.

import assert from "node:assert/strict";
import {test} from "node:test";
import {bitsNext, deltaAt, keysMake, laneCounts, laneLonger, lanePaint, lanesMake, lengthNext, matchBeside, matchParts, matchSelection, matchesBefore, orderOf,
	paintMake, pieceBytes, placeOfRow, rank, refOf, refSet, refsMake, setMake, sourceMake, sourceOfList, stepsOf, streamsJoin, streamsPlace, taskSpans, timedRows, trace} from "./modules.mjs";

let state = 12345;

function random(below) {
	state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
	return Math.floor(state / 4294967296 * below);
}

const numbers = (Type, n, below) => Type.from({length: n}, () => random(below));

const DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789!#$%'()*+,-./:;=>?@[\\]^_`{|}~";

// By the rule of page:P4, on a string of bits.
function base91(bytes) {
	const bits = Array.from(bytes, (byte) => Array.from({length: 8}, (_, k) => byte >> k & 1)).flat(), digits = [];

	for (let at = 0; at < bits.length; at += 13) {
		const own = bits.slice(at, at + 13), value = own.reduce((sum, bit, k) => sum + bit * 2 ** k, 0);
		if (own.length > 6)
			digits.push(Math.floor(value / 91));
		digits.push(value % 91);
	}
	return digits.map((digit) => DIGITS[digit]).join("");
}

test("bytes come back from their text, however many there are", () => {
	for (const n of [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 1000]) {
		for (const bytes of [numbers(Uint8Array, n, 256), new Uint8Array(n).fill(255), new Uint8Array(n)]) {
			const text = base91(bytes);
			assert.deepEqual(pieceBytes(new TextEncoder().encode(text)), bytes);
			assert.ok(text.length <= Math.ceil(n * 16 / 13), `${n} bytes take ${text.length} characters`);
		}
	}
});

test("values come back in order from streams", () => {
	const n = 500, of = numbers(Uint8Array, n, 7), wanted = numbers(Uint16Array, n, 60000);
	const streams = Uint16Array.from([0, 1, 2, 3, 4, 5, 6].flatMap((stream) => [...wanted].filter((_, i) => of[i] === stream)));

	assert.deepEqual(streamsJoin(streams, streamsPlace(n, 7, (i) => of[i])), wanted);
	assert.deepEqual(streamsJoin(new Uint8Array(0), streamsPlace(0, 1, () => 0)), new Uint8Array(0));
});

// The lengths around each power of two, by the rules of intervals:I2 and I3.
test("lengths come back, to the nanosecond", () => {
	const lengths = [1, 2, 3], tops = [], bits = [];
	for (let power = 4; power < 2 ** 53; power *= 2)
		lengths.push(power - 1, power, power + 1, power + Math.floor(power / 3), 2 * power - 1);
	for (const length of lengths) {
		const string = length.toString(2), e = string.length - 1, high = Math.min(e, 2);
		tops.push(4 * e + parseInt(string.slice(1, 1 + high) || "0", 2));
		bits.push(...[...string.slice(1 + high)].reverse().map(Number));
	}
	const bytes = Uint8Array.from({length: Math.ceil(bits.length / 8)}, (_, i) =>
		bits.slice(8 * i, 8 * i + 8).reduce((sum, bit, k) => sum + bit * 2 ** k, 0));
	const low = {bytes, at: 0, value: 0, n: 0}, ones = {bytes: new Uint8Array(20).fill(255), at: 0, value: 0, n: 0};

	assert.deepEqual(tops.map((top) => lengthNext(top, low)), lengths);
	for (const n of [0, 1, 24, 25, 31, 53])
		assert.equal(bitsNext(ones, n), 2 ** n - 1);
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
	assert.deepEqual(values.map((_, i) => deltaAt(Uint8Array.from(bytes), i)), values);
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

// Rows by thread, by time, and in no order; of one kind all, of one some.
function setOfAll() {
	const n = 3000, byThread = new Float64Array(n), key = numbers(Uint8Array, n, 40);

	for (let t = 0; t < 10; t++)
		byThread.set(numbers(Float64Array, n / 10, 1000).sort(), t * n / 10);
	const keys = keysMake(n, [key], null), wanted = Uint8Array.from(keys.counts, (_, k) => k % 13 === 5);
	const shuffled = numbers(Float64Array, 40000, 1000), few = keysMake(40000, [numbers(Uint16Array, 40000, 500)], null);
	const list = numbers(Float64Array, 20, 1000);

	return setMake([
		sourceMake("park", timedRows(byThread, n), {keys, wanted}),
		sourceMake("log", timedRows(shuffled, 40000), {keys: few, wanted: Uint8Array.from(few.counts, (_, k) => k === 7)}),
		sourceOfList("thread", list.map((_, i) => 20 - i), list),
		sourceMake("none", timedRows(new Float64Array(0), 0)),
	]);
}

// Every match as [time, source, row + 1, kind], in order, by looking at all rows.
function listOf({sources}) {
	return sources.flatMap(({kind, rows, key, wanted, ids}, source) => Array.from({length: rows.n}, (_, i) => i)
		.filter((i) => !wanted || wanted[key[i]])
		.map((i) => ({time: rows.time[i], source, i, id: ids ? ids[i] : i + 1, kind})))
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
	return lanesMake({s, e, v}, bounds, withHoles ? null : locks);
}

const endOf = (lane, i) => lane.e ? lane.e[i] : lane.s[i + 1];

// Time by value of each of w parts of [t0, t1): exactly.
function timesOf(lane, t0, t1, w) {
	const times = Array.from({length: w}, () => new Float64Array(128)), part = (t1 - t0) / w;

	for (let i = lane.lo; i < lane.hi; i++)
		for (let c = Math.max(0, Math.floor((lane.s[i] - t0) / part)); c < w && t0 + c * part < endOf(lane, i); c++)
			times[c][lane.v[i]] += Math.max(0, Math.min(endOf(lane, i), t0 + (c + 1) * part) - Math.max(lane.s[i], t0 + c * part)) / part;
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
	const [lane] = lanesMake(arrays, [[0, n]], null);
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
				if (endOf(lane, i) - lane.s[i] > least && endOf(lane, i) > 1000 && lane.s[i] < 50000)
					wanted.push(i);
			assert.deepEqual(laneLonger(lane, 1000, 50000, least), wanted);
		}
});

test("of longer intervals that overlap no more are told than there is room for", () => {
	const n = 20000, s = numbers(Float64Array, n, 100000).sort(), e = s.map((at) => at + 100 + random(900)), v = new Uint8Array(n).fill(1);
	const [lane] = lanesMake({s, e, v}, [[0, n]], null);

	for (const [t0, t1, least] of [[0, 100000, 400], [50000, 52000, 200], [30000, 30010, 1]]) {
		const found = laneLonger(lane, t0, t1, least);
		assert.ok(found.length > 0 && found.length <= (t1 - t0) / least + 2, `${found.length} of them`);
		found.forEach((i, k) => assert.ok(e[i] - s[i] > least && (k === 0 || s[i] >= e[found[k - 1]])));
	}
});

test("a row is ranked among those of its kind", () => {
	for (const [Key, Length] of [[Uint8Array, Float64Array], [Uint8Array, Uint32Array], [Uint16Array, Uint8Array], [Uint32Array, Uint32Array]]) {
		const n = 9000, rows = {n, type: numbers(Key, n, 5), length: numbers(Length, n, 200)};
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
