// first.js - the first picture of a large trace: a sketch of its threads' states (viewer/first.h), by the same functions that draw
// the timeline.  It is there before the rest of the page has been read, and can only be looked at.

import {base64Bytes, inflater} from "./decode.js";
import {drawAll, screenResize} from "./draw.js";
import {byId} from "./format.js";
import {lanesMake} from "./levels.js";
import {stateIsLock} from "./palette.js";
import {BEYOND_ALL, threadsName, trace} from "./rows.js";
import {timeSet, timesDone, timesMake} from "./times.js";
import {legendDraw} from "./tops.js";
import {threadKeys, tracksLayout} from "./tracks.js";
import {view} from "./view.js";

// A lane of a thread's cells: of each step the state with most time, then what part of it was a wait for a lock.  Adds them up in `time`, by
// state.
function firstLane(cells, {s, v}, {steps, from_ns: begin, to_ns: end}, thread, time) {
	const lo = thread * (2 * steps + 1), length = (end - begin) / steps;

	for (let i = 0, cell = thread * steps * 3, start = Math.round(begin); i < steps; i++, cell += 3) {
		const state = cells[cell], lock = cells[cell + 1], from = Math.round(begin + (i + 1 - cells[cell + 2] / 255) * length);
		const next = i + 1 < steps ? Math.round(begin + (i + 1) * length) : end;
		timeSet(s, lo + 2 * i, start);
		timeSet(s, lo + 2 * i + 1, from);
		v[lo + 2 * i] = state;
		v[lo + 2 * i + 1] = lock;
		time[state & 127] += from - start;
		time[lock & 127] += next - from;
		start = next;
	}
	timeSet(s, lo + 2 * steps, end);
	return [lo, lo + 2 * steps];
}

function firstThreads(first, cells) {
	const {threads, steps} = first, n = threads.length * (2 * steps + 1);
	const arrays = {s: timesMake(n), e: null, v: new Uint8Array(n)}, times = threads.map(() => new Float64Array(128));
	const bounds = threads.map((_, t) => firstLane(cells, arrays, first, t, times[t]));
	timesDone(arrays.s);
	// Cells are about as wide as pixels: no levels are needed above them.
	const [{nodes}] = lanesMake({...arrays, v: new Uint8Array(0)}, [[0, 0]], stateIsLock);
	const lanes = bounds.map(([lo, hi]) => ({...arrays, lo, hi, locks: stateIsLock, levels: [], nodes}));

	const made = threads.map(([name, serial, tid, idle, beyond, counts], idx) => {
		return {idx, serial, tid, name: name || `thread ${tid || serial}`, label: "", named: name !== "", idle: idle !== 0,
			counts, beyond, out: (beyond & BEYOND_ALL) !== 0, time: times[idx], lane: lanes[idx], fibers: null, labels: null, regions: [],
			parks: 0, firstSeen: 0};
	});
	threadsName(made);
	return made;
}

function firstShow(first, cells) {
	const none = {n: 0, first: new Uint32Array(first.threads.length + 2)};
	Object.assign(trace, {begin: first.from_ns, span: Math.max(first.to_ns, first.from_ns + 1),
		threads: firstThreads(first, cells), log: none, mark: none, sample: none});
	view.t0 = trace.begin;
	view.t1 = trace.span;
	byId("app").hidden = false;
	byId("app").inert = true;
	byId("loading").classList.add("over");
	threadKeys();
	tracksLayout();
	legendDraw();
	screenResize();
	drawAll();
}

// No sketch, whatever is in it, keeps the rest of the page from being read.
/** @param {() => void} drawn it is there */
export async function firstDraw(drawn) {
	const element = byId("first");

	if (!element)
		return;
	try {
		const first = JSON.parse(element.textContent), cells = inflater("first", first.threads.length * first.steps * 3);
		element.remove();
		cells.put(base64Bytes(first.cells));
		firstShow(first, await cells.done());
		drawn();
	} catch {
		byId("app").hidden = true;
		byId("loading").classList.remove("over");
		element.remove();
	}
}
