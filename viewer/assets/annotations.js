// annotations.js - tasks, regions and logs: columns that follow from others, their lanes, and rows by thread.  Made in the worker; the
// page makes lanes itself of what it cuts (fibers.js) or joins (procs.js).

import {numberArray, unzigzag} from "./decode.js";
import {lanesMake, lanesOver} from "./levels.js";
import {timeSet, timesDone, timesMake} from "./times.js";

export const TYPE_COLOURS = 12;

/** @param {number} textId */
export function typeColour(textId) {
	return (Math.imul(textId, 0x9e3779b1) >>> 16) % TYPE_COLOURS;
}

// ---- columns (viewer/rows.h) ----

// What a column is made from that has no bytes of its own: by name, given get(name), other columns, and entryOf(name), {n, max}.
/** @param {(name: string) => Numbers} get @param {(name: string) => {n: number, max: number}} entryOf */
export function columnsMade(get, entryOf) {
	// Threads that are mostly another column's (V4): mostly(i) of row i.
	/** @param {string} name @param {(i: number) => number} mostly */
	const threadsBeside = (name, mostly) => {
		const beside = get(name), threads = numberArray(beside.length, entryOf("thread.serial").n);
		for (let i = 0; i < threads.length; i++)
			threads[i] = beside[i] === 0 ? mostly(i) : beside[i] - 1;
		return threads;
	};
	/** @param {string} rows */
	const threadsByTask = (rows) => {
		const task = get(`${rows}.task`), thread = get("task.thread");
		return threadsBeside(`${rows}.thread_beside`, (i) => task[i] === 0 ? 0 : thread[task[i] - 1]);
	};
	/** @param {string} name */
	const numbersMade = (name) => numberArray(entryOf(name).n, entryOf(name).max);
	// Times of rows, from their differences to when the rows' tasks begin, or, without a task, to the row before (V5).
	/** @param {string} rows @param {string} name */
	const timesInTask = (rows, name) => {
		const times = numbersMade(`${rows}.${name}`), beside = get(`${rows}.${name}_in_task`), task = get(`${rows}.task`), start = get("task.start");
		for (let i = 0; i < times.length; i++)
			times[i] = (task[i] > 0 ? start[task[i] - 1] : i > 0 ? times[i - 1] : 0) + unzigzag(beside[i]);
		return times;
	};
	// Lengths of regions, from the differences of their ends to their tasks'.
	const lengthsInTask = () => {
		const lengths = numbersMade("region.length"), beside = get("region.end_in_task"), task = get("region.task");
		const begin = get("region.start"), start = get("task.start"), length = get("task.length");
		for (let i = 0; i < lengths.length; i++) {
			const k = task[i] - 1;
			lengths[i] = (k >= 0 ? start[k] + length[k] - begin[i] : 0) + unzigzag(beside[i]);
		}
		return lengths;
	};

	return new Map([
		["task.end_thread", () => {
			const thread = get("task.thread");
			return threadsBeside("task.end_beside", (i) => thread[i]);
		}],
		["region.thread", () => threadsByTask("region")],
		["log.thread", () => threadsByTask("log")],
		["region.start", () => timesInTask("region", "start")],
		["region.length", lengthsInTask],
		["log.time", () => timesInTask("log", "time")],
	]);
}

// Rows by a column of numbers 0..n: those of k are order[first[k]..first[k + 1]).
/** @param {Numbers} numbers @param {number} n */
export function rowsBy(numbers, n) {
	const first = new Uint32Array(n + 2), order = new Uint32Array(numbers.length);

	for (let i = 0; i < numbers.length; i++) // not `of`, which is slow until the engine has compiled it
		first[numbers[i] + 1]++;
	for (let k = 0; k <= n; k++)
		first[k + 1] += first[k];
	const next = first.slice();
	for (let i = 0; i < numbers.length; i++)
		order[next[numbers[i]]++] = i;
	return {first, order};
}

// Rows that are instants by thread, and their times in that order.
/** @param {Numbers} thread @param {Numbers} time @param {number} nThreads */
export function instantsBy(thread, time, nThreads) {
	const {first, order} = rowsBy(thread, nThreads), at = new Float64Array(order.length);

	for (let i = 0; i < at.length; i++) // not by from(), which makes an array of objects first
		at[i] = time[order[i]];
	return {first, order, at};
}

// ---- lanes ----

// Rows sorted by lane, as lanes; laneOf(i) < n, or -1 for a row that is not drawn.  Coloured by `colour`,
// or else by `type`.
/** @param {{n: number, start: Numbers, length: Numbers, colour?: Numbers, type?: Numbers}} rows @param {number} nLanes @param {(i: number) => number} laneOf */
export function lanesOf(rows, nLanes, laneOf) {
	const first = new Uint32Array(nLanes + 1), order = new Uint32Array(rows.n);
	const s = timesMake(rows.n), e = new Float64Array(rows.n), v = new Uint8Array(rows.n);

	for (let i = 0; i < rows.n; i++)
		if (laneOf(i) >= 0)
			first[laneOf(i) + 1]++;
	for (let l = 0; l < nLanes; l++)
		first[l + 1] += first[l];
	const next = first.slice();
	for (let i = 0; i < rows.n; i++) {
		const l = laneOf(i);
		if (l < 0)
			continue;
		const at = next[l]++;
		order[at] = i;
		timeSet(s, at, rows.start[i]);
		e[at] = rows.start[i] + rows.length[i];
		v[at] = (rows.colour ? rows.colour[i] : typeColour(rows.type[i])) + 1;
	}
	timesDone(s);
	const lanes = lanesMake({s, e, v}, Array.from({length: nLanes}, (_, l) => [first[l], first[l + 1]]), null);
	for (const lane of lanes)
		lane.order = order;
	return lanes;
}

// Lanes that share arrays, on their way from the worker to the page.
/** @param {Lane[]} lanes @returns {LanesPacked} */
export function lanesPack(lanes) {
	const {s, e, v, nodes, order} = lanes[0] || {};

	return {s, e, v, nodes, order, bounds: lanes.map(({lo, hi}) => [lo, hi])};
}

/** @param {LanesPacked} packed @returns {Lane[]} */
export function lanesUnpack({s, e, v, nodes, order, bounds}) {
	return lanesOver({s, e, v}, bounds, null, nodes).lanes.map((/** @type {Lane} */ lane) => ({...lane, order}));
}

export const REGION_LANES_MAX = 64, TASK_LANES_MAX = 64, TASK_TRACKS_MAX = 200;

// Regions, or pieces of them: a lane for each depth of each thread, those of thread index t from base[t] on, depths[t] of them.
/** @param {RegionRows} g @param {number} nThreads */
export function regionLanes(g, nThreads) {
	const depths = new Uint8Array(nThreads), base = /** @type {number[]} */ ([]);
	let nLanes = 0;

	for (let i = 0; i < g.n; i++)
		if (g.thread[i])
			depths[g.thread[i] - 1] = Math.max(depths[g.thread[i] - 1],
				Math.min(g.depth[i] + 1, REGION_LANES_MAX));
	for (let t = 0; t < depths.length; t++) {
		base.push(nLanes);
		nLanes += depths[t];
	}
	const lanes = lanesOf(g, nLanes, (i) => !g.thread[i] || g.depth[i] >= REGION_LANES_MAX ? -1
		: base[g.thread[i] - 1] + g.depth[i]);
	if (g.region && nLanes)
		for (const [at, piece] of lanes[0].order.entries())
			lanes[0].order[at] = g.region[piece];
	return {lanes, depths, base};
}

// Tasks, by how long they took beside half of the tasks of their type: up to as long, up to twice, ... as long, and longer.
export const LATENCY_FACTORS = [1, 2, 4, 8, 16];

// The median of values, which get another order; of an even number the lower one of the middle.  Not by sorting: of a million
// values that takes half a second.
/** @param {Float64Array} values */
export function medianOf(values) {
	const k = Math.floor((values.length - 1) / 2);

	for (let lo = 0, hi = values.length - 1; lo < hi;) {
		const pivot = values[lo + Math.floor(Math.random() * (hi - lo + 1))];
		let i = lo, j = hi;
		while (i <= j) {
			while (values[i] < pivot)
				i++;
			while (values[j] > pivot)
				j--;
			if (i <= j) {
				const value = values[i];
				values[i++] = values[j];
				values[j--] = value;
			}
		}
		if (k <= j)
			hi = j;
		else if (k >= i)
			lo = i;
		else
			break;
	}
	return values[k];
}

// Of each row which factor of the median of its type it does not exceed; the medians by type.  What did not end is in no median.
/** @param {{n: number, type: Numbers, length: Numbers, open: Numbers}} rows */
export function latencySteps(rows) {
	const steps = new Uint8Array(rows.n), medians = new Map();
	let last = 0;

	for (const type of rows.type)
		last = Math.max(last, type);
	const {first, order} = rowsBy(rows.type, last);
	for (let type = 0; type + 1 < first.length; type++) {
		const own = order.subarray(first[type], first[type + 1]);
		const median = medianOf(Float64Array.from(own.filter((i) => !rows.open[i]), (i) => rows.length[i]));
		medians.set(type, median);
		for (const i of own)
			while (steps[i] < LATENCY_FACTORS.length && rows.length[i] > LATENCY_FACTORS[steps[i]] * median)
				steps[i]++;
	}
	return {steps, medians};
}

// When a task ends in a lane that others share: one without a duration takes a nanosecond there.
/** @param {{start: Numbers, length: Numbers}} k @param {number} i */
export function sharedUntil(k, i) {
	return k.start[i] + Math.max(k.length[i], 1);
}

// A lane for tasks that have none of their own, `rows` in order of their begins: a piece for each stretch with the same tasks, which says
// how many these are (more) and refers to the earliest of them (order).  Its colour is that of the slowest.
/** @param {{start: Numbers, length: Numbers}} k @param {Numbers} steps @param {number[]} rows */
function sharedLane(k, steps, rows) {
	const ends = rows.toSorted((a, b) => sharedUntil(k, a) - sharedUntil(k, b)), under = new Set();
	const start = /** @type {number[]} */ ([]), length = /** @type {number[]} */ ([]), colour = /** @type {number[]} */ ([]);
	const more = /** @type {number[]} */ ([]), first = /** @type {number[]} */ ([]), bySteps = new Uint32Array(LATENCY_FACTORS.length + 1);

	for (let begun = 0, ended = 0; ended < rows.length;) {
		const at = Math.min(begun < rows.length ? k.start[rows[begun]] : Infinity, sharedUntil(k, ends[ended]));
		for (; begun < rows.length && k.start[rows[begun]] === at; begun++) {
			under.add(rows[begun]);
			bySteps[steps[rows[begun]]]++;
		}
		for (; ended < rows.length && sharedUntil(k, ends[ended]) === at; ended++) {
			under.delete(ends[ended]);
			bySteps[steps[ends[ended]]]--;
		}
		if (!under.size)
			continue;
		start.push(at);
		length.push(Math.min(begun < rows.length ? k.start[rows[begun]] : Infinity, sharedUntil(k, ends[ended])) - at);
		colour.push(bySteps.findLastIndex((n) => n > 0));
		more.push(under.size);
		first.push(under.values().next().value);
	}
	const lanes = lanesOf({n: start.length, start: Float64Array.from(start), length: Float64Array.from(length), colour: Uint8Array.from(colour)}, 1, () => 0);
	return {...lanesPack(lanes), order: Uint32Array.from(first), more: Uint32Array.from(more)};
}

// Types of tasks, those with most time first, of which the first TASK_TRACKS_MAX have lanes, `depth` of them from `base` on: tasks at the
// same time lie in lanes below each other.  Those for which there is no lane left, `crowded`, share one more (sharedLane()).
/** @param {{n: number, type: Numbers, start: Numbers, length: Numbers, open: Numbers}} k */
export function taskLanes(k) {
	const byType = new Map(), laneNumber = new Int32Array(k.n).fill(-1), {steps, medians} = latencySteps(k);
	let nLanes = 0;

	for (let i = 0; i < k.n; i++) {
		let type = byType.get(k.type[i]);
		if (!type) {
			type = {type: k.type[i], total: 0, count: 0, crowded: [], median: medians.get(k.type[i]), base: 0, ends: []};
			byType.set(k.type[i], type);
		}
		type.total += k.length[i];
		type.count++;
	}
	const types = [...byType.values()].sort((a, b) => b.total - a.total), shown = new Set(types.slice(0, TASK_TRACKS_MAX));
	for (let i = 0; i < k.n; i++) {
		const type = byType.get(k.type[i]), {ends} = type;
		if (!shown.has(type))
			continue;
		let l = 0;
		while (l < ends.length && ends[l] > k.start[i])
			l++;
		if (l >= TASK_LANES_MAX - 1) { // the last one is for all others
			type.crowded.push(i);
			continue;
		}
		ends[l] = k.start[i] + k.length[i];
		laneNumber[i] = l;
	}
	for (const type of types) {
		type.base = nLanes;
		nLanes += type.ends.length;
	}
	const lanes = lanesOf({n: k.n, start: k.start, length: k.length, colour: steps}, nLanes,
		(i) => laneNumber[i] < 0 ? -1 : byType.get(k.type[i]).base + laneNumber[i]);
	return {lanes, steps, types: types.map(({ends, crowded, ...type}) => ({...type, depth: ends.length, crowded: Uint32Array.from(crowded),
		shared: crowded.length ? sharedLane(k, steps, crowded) : null}))};
}
