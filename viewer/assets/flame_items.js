// flame_items.js - what flame graphs are made of: items with a thread, a time, a value and a stack.
//
// Items with one stack, and one lead, are of one combination ("combo").  A lead is a frame of words below
// the innermost function: "mutex settings.lock", "(preempted)".  Values are summed by combo first; a
// combo's chain of functions is then walked once (flame_fold.js).
//
// A kind of items is {id, name, unit, sum(fold)}: sum() is a generator that hands items to a fold and yields
// now and then, so that frames can be drawn meanwhile.

import {column, head, text} from "./data.js";
import {duration} from "./format.js";
import {laneRange} from "./levels.js";
import {partAdd} from "./margins.js";
import {OFF_PROC, RUNNABLE, stateName} from "./palette.js";
import {procRowsBy, procs, schedTell} from "./procs.js";
import {parkAround, parkEnd, parkStart, reasonAndName, reasonName, table, trace} from "./rows.js";
import {isCounted, sampleEventName} from "./samples.js";
import {MERGED, PARKED, WOKEN, refIsWait, refOf, waitStart} from "./states.js";
import {timeOf} from "./times.js";

const SLICE_ITEMS = 20000; // between two yields
const NEAR_NS = 1e8; // a stack of a sample that is at most so old tells where a thread is

// How the frames of a combo are chosen: of samples all; of waits and allocations without the innermost
// frames of trc and the C library, as in pprof's profiles.
export const FRAMES_ALL = 0, FRAMES_OWN = 1;

export const combos = {stack: [], lead: [], frames: [], byKey: new Map(), leads: [], leadNumbers: new Map(),
	parks: null, parkNames: null, parkBase: null};

// The number of a lead, from 1: `state` is of the wait that it names, 0 = none.
/** @param {string} name */
function leadNumber(name, state = 0) {
	const key = `${state}\n${name}`;
	let number = combos.leadNumbers.get(key);

	if (!number) {
		number = combos.leads.push({name, state});
		combos.leadNumbers.set(key, number);
	}
	return number;
}

/** @param {number} stack */
function comboNumber(stack, lead, frames) {
	const key = (lead * 2 + frames) * 4294967296 + stack;
	let number = combos.byKey.get(key);

	if (number === undefined) {
		number = combos.stack.push(stack) - 1;
		combos.lead.push(lead);
		combos.frames.push(frames);
		combos.byKey.set(key, number);
	}
	return number;
}

// The combo of each wait, by row: made when a kind asks for it first.
function* parkCombos() {
	const p = trace.park, leads = new Map(), objects = column("object.low").length + 1;

	if (combos.parks)
		return;
	const numbers = new Uint32Array(p.n);
	for (let i = 0; i < p.n; i++) {
		const key = p.reason[i] * objects + p.object[i];
		let lead = leads.get(key);
		if (lead === undefined) {
			lead = leadNumber(reasonAndName(p.reason[i], p.object[i]), PARKED + p.reason[i]);
			leads.set(key, lead);
		}
		numbers[i] = comboNumber(p.stack[i], lead, FRAMES_OWN);
		if (i % SLICE_ITEMS === 0)
			yield;
	}
	combos.parks = numbers;
}

// What ends a wait for a reason, as the analyzer classes it: a lock, another thread, data, or whatever comes.
const WAIT_LOCKS = 0, WAIT_OUTSIDE = 3;

export function waitClass(reason) {
	return head.reasons[reason] ? head.reasons[reason][3] : WAIT_OUTSIDE;
}

// ---- samples ----

// Of clocks that sampled a thread at the same time only the first counts: [event's row][thread] = 1 is left out.
function clocksDropped(events) {
	const s = trace.sample, stays = events.map(() => ({first: new Map(), last: new Map()}));
	const dropped = events.map(() => new Set());

	if (events.length < 2)
		return dropped;
	for (let i = 0; i < s.n; i++) {
		const e = events.indexOf(s.event[i]);
		if (e < 0)
			continue;
		if (!stays[e].first.has(s.thread[i]))
			stays[e].first.set(s.thread[i], s.time[i]);
		stays[e].last.set(s.thread[i], s.time[i]);
	}
	for (let e = 1; e < events.length; e++)
		for (const [thread, first] of stays[e].first)
			for (let other = 0; other < e; other++)
				if (stays[other].first.has(thread) && stays[other].first.get(thread) <= stays[e].last.get(thread) &&
						first <= stays[other].last.get(thread))
					dropped[e].add(thread);
	return dropped;
}

// What a sample stands for, lost ones that are made up for included.
/** @param {number} i */
export function sampleWorth(i) {
	return (trace.sample.value[i] + (trace.sample.made_up[i] || 0)) * (head.sample_step || 1);
}

// `events`: numbers of events.
/** @param {Fold} fold */
function* samplesSum(events, fold) {
	const s = trace.sample, dropped = clocksDropped(events), ofStack = new Uint32Array(trace.stack.n + 1); // combo + 1
	let unseen = 0;

	for (let i = 0; i < s.n; i++) {
		const e = events.indexOf(s.event[i]);
		if (e >= 0 && !dropped[e].has(s.thread[i]) && fold.hasLabels(s.set[i]) && fold.hasTime(s.thread[i], s.time[i])) {
			const stack = s.stack[i] < trace.stack.n ? s.stack[i] : 0;
			if (!ofStack[stack])
				ofStack[stack] = comboNumber(stack, 0, FRAMES_ALL) + 1;
			fold.add(ofStack[stack] - 1, sampleWorth(i), "sample", i + 1, s.thread[i], s.time[i], 0);
			if (!isCounted(s.event[i]))
				partAdd(fold.samples, sampleWorth(i));
		}
		if (i % SLICE_ITEMS === 0)
			yield;
	}
	for (const event of events)
		unseen += trace.sampled.unseen[event - 1];
	if (!unseen)
		return;
	if (fold.whole)
		fold.add(comboNumber(0, leadNumber("(not sampled)"), FRAMES_ALL), unseen);
	fold.unseen = unseen;
}

// ---- waits ----

// The waits lo..hi of a thread, those first that others may lie within: by start, of one start the longest first.  They
// mostly stand so; null = they do.
function nestingOrder(lo, hi) {
	const {when, length} = trace.park;
	const isBehind = (i, k) => waitStart(when, i) - waitStart(when, k) || length[k] - length[i];
	let inOrder = true;

	for (let i = lo + 1; i < hi && inOrder; i++)
		inOrder = isBehind(i, i - 1) >= 0;
	return inOrder ? null : Uint32Array.from({length: hi - lo}, (_, k) => lo + k).sort((i, k) => isBehind(i, k) || i - k);
}

// By row of park: the number of the wait in its thread that was going on when it began; 0 = none.
function parksNesting() {
	const p = trace.park, outer = new Uint32Array(p.n);

	for (let t = 0; t < trace.threads.length; t++) {
		const lo = trace.parkFirst[t], hi = trace.parkFirst[t + 1], order = nestingOrder(lo, hi);
		for (let k = lo, top = 0; k < hi; k++) {
			const i = order ? order[k - lo] : k;
			while (top && parkEnd(top) <= waitStart(p.when, i))
				top = outer[top - 1];
			outer[i] = top;
			top = i + 1;
		}
	}
	return outer;
}

// Time counts once: a wait within a wait is taken off the outer one, if both are wanted.
/** @param {Fold} fold */
function* waitsSum(wanted, fold) {
	const p = trace.park, outer = parksNesting(), chosen = head.reasons.map((r, reason) => wanted(reason));

	yield* parkCombos();
	for (let i = 0; i < p.n; i++) {
		if (i % SLICE_ITEMS === 0)
			yield;
		if (!chosen[p.reason[i]])
			continue;
		const thread = p.thread[i], start = parkStart(i + 1), until = start + p.length[i];
		if (!fold.hasThread(thread) || !fold.hasLabels(p.set[i]))
			continue;
		fold.add(combos.parks[i], fold.timeIn(thread, start, until), "park", i + 1, thread, start, p.length[i]);
		let within = outer[i];
		while (within && !chosen[p.reason[within - 1]])
			within = outer[within - 1];
		if (within && fold.hasLabels(p.set[within - 1]))
			fold.add(combos.parks[within - 1], -fold.timeIn(thread, start, Math.min(until, parkEnd(within))));
	}
}

/** @param {Fold} fold */
function* fiberWaitsSum(fold) {
	const w = trace.fwait;

	for (let i = 0; i < w.n; i++) {
		const lead = leadNumber(w.reason[i] ? reasonAndName(w.reason[i], w.object[i]) : "(reason not known)", PARKED + w.reason[i]);
		if (fold.idle || waitClass(w.reason[i]) !== WAIT_OUTSIDE)
			if (fold.isChosen(w.thread[i]) && fold.hasLabels(w.set[i]))
				fold.add(comboNumber(w.stack[i], lead, FRAMES_OWN),
					fold.fiberTimeIn(w.fiber[i], w.start[i], w.start[i] + w.length[i]), "fiberwait", i + 1,
					w.thread[i], w.start[i], w.length[i]);
		if (i % SLICE_ITEMS === 0)
			yield;
	}
}

// ---- who caused waits ----

const causeWords = {running: "(ran)", active: "(in no recorded wait)", preempted: "(preempted)", off_cpu: "(off CPU)",
	lock_free: "(the lock was free)", waking: "(woken, did not run yet)", unwoken: "(nobody had ended the wait)",
	starting: "(thread was starting)", thread_ended: "(thread had ended)", deadlock: "(deadlock)", cycle: "(in a cycle)",
	events_lost: "(events were lost)", unknown: "(not known: not traced)", too_deep: "(chain too long)"};

/** @param {number} kind @param {number} reason */
function causeLead(kind, reason) {
	const name = head.cause_kinds[kind];

	if (!causeWords[name] && reason)
		return leadNumber(`(${name === "sleeping" ? "slept" : "waited"}: ${reasonName(reason)})`, PARKED + reason);
	return leadNumber(causeWords[name] || `(${name})`);
}

// What the page does not tell is a frame of its own.
/** @param {Fold} fold */
function* blameSum(fold) {
	const b = table("blame", "park", "gap", "length", "stack", "kind", "reason"), p = trace.park;
	const short = leadNumber(head.without_blame ? "(not in this page)" : `(waits shorter than ${duration(head.blame_from_ns)}: not in this page)`);
	const outer = parksNesting();
	let last = 0, at = 0;

	for (let i = 0; i < b.n; i++) {
		const park = b.park[i], thread = p.thread[park - 1], end = parkEnd(park);
		const from = (park === last ? at : parkStart(park)) + b.gap[i], until = b.length[i] ? from + b.length[i] : end;
		last = park;
		at = until;
		if (fold.hasThread(thread) && fold.hasLabels(p.set[park - 1]))
			fold.add(comboNumber(b.stack[i], causeLead(b.kind[i], b.reason[i]), FRAMES_OWN), fold.timeIn(thread, from, until),
				"park", park, thread, from, until - from);
		if (i % SLICE_ITEMS === 0)
			yield;
	}
	for (let i = 0; (head.blame_from_ns || head.without_blame) && i < p.n; i++) {
		const own = waitClass(p.reason[i]) < 2 && (head.without_blame || p.length[i] < head.blame_from_ns) && !outer[i];
		if (own && fold.hasThread(p.thread[i]) && fold.hasLabels(p.set[i])) {
			const start = parkStart(i + 1);
			fold.add(comboNumber(0, short, FRAMES_OWN), fold.timeIn(p.thread[i], start, start + p.length[i]), "park", i + 1,
				p.thread[i], start, p.length[i]);
		}
		if (i % SLICE_ITEMS === 0)
			yield;
	}
}

// ---- time off a proc ----

// Where a thread was when it was sampled last: by rows of samples with a stack, of clocks, in order of time.
function samplesBefore(thread) {
	const s = trace.sample, hi = s.first[thread.idx + 2];
	let at = s.first[thread.idx + 1], last = -1;

	return (time) => {
		for (; at < hi && s.at[at] <= time; at++) {
			const row = s.order[at];
			if (s.stack[row])
				last = row;
		}
		return last;
	};
}

// A thread that is off its proc in no recorded wait is where its last sample was.
function borrowedCombo(before, state, from) {
	const words = state === RUNNABLE ? "preempted" : "off CPU, in no recorded wait", row = before(from);

	if (row < 0)
		return comboNumber(0, leadNumber(`(${words})`, state), FRAMES_ALL);
	const age = from - trace.sample.time[row] <= NEAR_NS ? "sampled before" : "sampled over 100 ms before";
	return comboNumber(trace.sample.stack[row], leadNumber(`(${words}; ${age})`, state), FRAMES_ALL);
}

// By state, whether it is off a proc: by itself, or only as far as the rows of on_cpu do not say otherwise.  Idle waits are only if
// they are wanted.
const OFF_NEVER = 0, OFF_BY_ROWS = 1, OFF_ALWAYS = 2;

function offStates(idle) {
	const off = new Uint8Array(256);

	for (let s = 1; s < 128; s++)
		if (s < PARKED)
			off[s] = s === RUNNABLE || s === OFF_PROC || s === WOKEN ? OFF_ALWAYS : OFF_BY_ROWS;
		else if (idle || waitClass(s - PARKED) !== WAIT_OUTSIDE)
			off[s] = stateName[s] === "spin" ? OFF_BY_ROWS : OFF_ALWAYS;
	return off;
}

// When a thread was on a proc, in order of time: of a damaged trace rows overlap, and are one stretch.
/** @param {Thread} thread */
function stretchesOf(thread) {
	const begins = [], ends = [], {start, length} = trace.cpu, {first, order} = procRowsBy();

	for (let k = first[thread.idx + 1]; k < first[thread.idx + 2]; k++) {
		const from = start[order[k]], until = from + length[order[k]], last = ends.length - 1;
		if (last >= 0 && from <= ends[last])
			ends[last] = Math.max(ends[last], until);
		else {
			begins.push(from);
			ends.push(until);
		}
	}
	return {begins, ends};
}

// How much of from..until, of what is asked for, a thread was on a proc; asked in order of time.  null: no rows of on_cpu say so.
/** @param {Thread} thread @param {Fold} fold */
export function onProcOf(thread, fold) {
	const {begins, ends} = procs.exact ? stretchesOf(thread) : {begins: [], ends: []}, n = begins.length;
	let at = 0;

	if (!n)
		return null;
	return (from, until) => {
		let ns = 0;
		while (at < n && ends[at] <= from)
			at++;
		for (let k = at; k < n && begins[k] < until; k++)
			ns += fold.timeIn(thread.idx + 1, Math.max(from, begins[k]), Math.min(until, ends[k]));
		return ns;
	};
}

// How much of an interval the thread was off its proc: since there are switch records, whenever these do not have it on one.
export function offTime(fold, number, off, onProc, start, end) {
	const known = onProc ? Math.max(start, Math.min(end, head.switches_ns)) : end;

	return (off === OFF_ALWAYS ? fold.timeIn(number, start, known) : 0) +
		(known < end ? Math.max(0, fold.timeIn(number, known, end) - onProc(known, end)) : 0);
}

/** @param {Fold} fold */
function* offSum(fold) {
	const {s, v} = trace.states, off = offStates(fold.idle);

	yield* parkCombos();
	schedTell();
	for (const thread of trace.threads) {
		const number = thread.idx + 1;
		if (!fold.hasThread(number))
			continue;
		const before = samplesBefore(thread), onProc = onProcOf(thread, fold);
		const [first, last] = laneRange(thread.lane, fold.t0, fold.t1);
		for (let i = first; i < last; i++) {
			const state = v[i] & 127, short = v[i] & MERGED, start = timeOf(s, i), end = timeOf(s, i + 1);
			if (i % SLICE_ITEMS === 0)
				yield;
			const wait = refIsWait(v[i]) ? refOf(trace.states, i) : 0, around = parkAround(i);
			if (off[state] === OFF_NEVER || !fold.hasLabels(wait || around ? trace.park.set[(wait || around) - 1]
				: fold.labelsAt(number, start)))
				continue;
			if (state === WOKEN && wait && !fold.idle && waitClass(trace.park.reason[wait - 1]) === WAIT_OUTSIDE)
				continue;
			const ns = offTime(fold, number, off[state], onProc, start, end);
			if (!ns)
				continue;
			const combo = wait ? combos.parks[wait - 1]
				: around ? comboNumber(trace.park.stack[around - 1], leadNumber("(preempted)", RUNNABLE), FRAMES_OWN)
					: short ? comboNumber(0, leadNumber(`(short ones, merged: mostly ${stateName[state]})`, state), FRAMES_ALL)
						: borrowedCombo(before, state, start);
			fold.add(combo, ns, wait ? "park" : "iv", wait || i + 1, number, start, end - start);
		}
	}
}

// ---- memory ----

/** @param {Fold} fold */
function* heapSum(inUse, fold) {
	const a = trace.alloc;

	for (let i = 0; i < a.n; i++) {
		if ((a.lives[i] || !inUse) && fold.hasLabels(a.set[i]) && fold.hasTime(a.thread[i], a.time[i]))
			fold.add(comboNumber(a.stack[i], 0, FRAMES_OWN), a.space[i] * (head.alloc_step || 1), "alloc", i + 1, a.thread[i],
				a.time[i], 0);
		if (i % SLICE_ITEMS === 0)
			yield;
	}
}

// ---- all kinds that a trace may have ----

// `idle`: there is a choice to have waits for whatever comes next, too.  `empty`: how to get some.
/** @returns {FlameKind[]} */
export function flameKinds() {
	const e = trace.sampled, clocks = [], kinds = /** @type {FlameKind[]} */ ([]);

	for (let i = 1; i <= e.n; i++)
		if (text(e.unit[i - 1]) === "nanoseconds")
			clocks.push(i);
	kinds.push({id: "cpu", name: "CPU samples", unit: "nanoseconds", of: "CPU time", n: clocks.length,
		sum: (fold) => samplesSum(clocks, fold),
		empty: "No CPU time was sampled. Record with trace-record -F 100: 100 samples a second of each thread's CPU time."});
	for (let i = 1; i <= e.n; i++)
		if (!clocks.includes(i))
			kinds.push({id: `event-${e.event[i - 1]}`, name: sampleEventName(i), unit: text(e.unit[i - 1]), of: sampleEventName(i), n: 1,
				sum: (fold) => samplesSum([i], fold), empty: ""});
	kinds.push(
		{id: "off", name: "Off-CPU time", unit: "nanoseconds", of: "off-CPU time", n: 1, idle: true, sum: offSum,
			empty: "No thread was off its processor."},
		{id: "lock", name: "Lock waits", unit: "nanoseconds", of: "waiting for locks", n: trace.park.n,
			sum: (fold) => waitsSum((reason) => waitClass(reason) === WAIT_LOCKS, fold), empty: "No thread waited for a lock."},
		{id: "wait", name: "All waits", unit: "nanoseconds", of: "waiting", n: trace.park.n, idle: true,
			sum: (fold) => waitsSum((reason) => fold.idle || waitClass(reason) !== WAIT_OUTSIDE, fold), empty: "No waits were recorded."});
	if (trace.fwait.n)
		kinds.push({id: "fiber", name: "Waits of fibers", unit: "nanoseconds", of: "fibers' waiting", n: trace.fwait.n, idle: true,
			sum: fiberWaitsSum, empty: ""});
	kinds.push({id: "blame", name: "Blame: who caused waits", unit: "nanoseconds", of: "waiting for locks and threads", n: trace.park.n,
		sum: blameSum, empty: "No thread waited for a lock or for another thread."});
	for (const id of ["inuse", "alloc"])
		kinds.push({id, name: id === "inuse" ? "Memory in use at the end" : "Memory allocated", unit: "bytes",
			of: id === "inuse" ? "memory in use" : "memory allocated", n: trace.alloc.n, sum: (fold) => heapSum(id === "inuse", fold),
			empty: "No allocations were sampled. Record with trace-record --heap."});
	return kinds;
}
