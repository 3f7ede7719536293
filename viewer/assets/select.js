// select.js - what can be selected, where it lies, and moving from one to the next.
//
// A selection is {kind, id}, id from 1:
//   park, region, task, log, unlock, gap, mark, sample   a row of that table
//   fiber, fiberrun, fiberwait   a fiber, one of its runs, one of its waits
//   labels     a time under one label set: a row of `under`
//   iv         an interval of a thread that is no wait: its index in the states' arrays + 1
//   cpu        a stretch of a thread on a proc: see procs.js
//   counter, queue, busy   a value of a counter: see counters.js
//   thread     a thread; tasktype: a type of tasks, by text id

import {sharedUntil} from "./annotations.js";
import {counterPick, counterPlace, counterSpan, counterStep, isCounterKind} from "./counters.js";
import {screen} from "./draw.js";
import {fiberReadied, fiberRunOf, fiberSpan, fiberThread, selectionFiber} from "./fibers.js";
import {byId, upperBound} from "./format.js";
import {laneRange, laneStart} from "./levels.js";
import {lanePick} from "./lod.js";
import {cpuPlace} from "./procs.js";
import {parkEnd, parkStart, parkWake, parkWokenFirst, parksBehind, parksOfUnlock, parksWokenBy,
	trace} from "./rows.js";
import {MERGED, PARKED, WOKEN, refOf} from "./states.js";
import {stepAdd, trailTo} from "./steps.js";
import {timeAbove, timeOf} from "./times.js";
import {COUNTER_HEIGHT, LOG_HEIGHT, REGION_HEIGHT, SAMPLE_HEIGHT, TRACK_PAD, fibersY, hiddenOf,
	labelsY, logY, regionsY, samplesY, trackIndexAt, trackLanes, tracks,
	tracksLayout} from "./tracks.js";
import {timeAt, view, viewChanged, viewShow} from "./view.js";

const WOKEN_SHOWN = 20, BEHIND_SHOWN = 12; // at first: waits that a thread ended, waits that led to one; with arrows

// Thread index of a selection; -1 = none.
/** @param {Chosen} sel */
export function selectionThread(sel) {
	const i = sel.id - 1;

	switch (sel.kind) {
	case "park": return trace.park.thread[i] - 1;
	case "region": return trace.region.thread[i] - 1;
	case "labels": return trace.under.thread[i] - 1;
	case "log": return trace.log.thread[i] - 1;
	case "mark": return trace.mark.thread[i] - 1;
	case "sample": return trace.sample.thread[i] - 1;
	case "unlock": return trace.unlock.thread[i] - 1;
	case "thread": return i;
	case "iv": return threadOfInterval(i);
	case "cpu": return trace.cpu.thread[i] - 1;
	case "fiber": return fiberThread(sel.id) - 1;
	case "fiberrun": return trace.frun.thread[i] - 1;
	case "fiberwait": return trace.fwait.thread[i] - 1;
	default: return -1;
	}
}

/** @param {number} i */
export function threadOfInterval(i) {
	let lo = 0, hi = trace.threads.length - 1;

	while (lo < hi) {
		const mid = (lo + hi + 1) >>> 1;
		if (trace.threads[mid].lane.lo <= i)
			lo = mid;
		else
			hi = mid - 1;
	}
	return lo;
}

// Whether there is such a row.
/** @param {Chosen} sel */
export function selectionValid(sel) {
	if (isCounterKind(sel.kind))
		return Number.isInteger(sel.id) && sel.id >= 1 && counterPlace(sel) !== null;
	if (sel.kind === "tasktype")
		return trace.taskTypes.some((track) => track.type === sel.id);
	const n = {park: trace.park.n, region: trace.region.n, task: trace.task.n, log: trace.log.n,
		unlock: trace.unlock.n, gap: trace.gap.n, mark: trace.mark.n, labels: trace.under.n,
		sample: trace.sample.n, thread: trace.threads.length, fiber: trace.fiber.n,
		cpu: trace.cpu.n, fiberrun: trace.frun.n, fiberwait: trace.fwait.n,
		iv: trace.states.v.length}[sel.kind];

	return Number.isInteger(sel.id) && sel.id >= 1 && sel.id <= n;
}

// {from, until} in time, or null.
/** @param {Chosen} sel */
export function selectionSpan(sel) {
	const i = sel.id - 1;
	const rows = {region: trace.region, task: trace.task,
		labels: trace.under, cpu: trace.cpu, fiberrun: trace.frun, fiberwait: trace.fwait}[sel.kind];

	if (sel.kind === "park")
		return {from: parkStart(sel.id), until: parkEnd(sel.id)};
	if (rows)
		return {from: rows.start[i], until: rows.start[i] + rows.length[i]};
	if (isCounterKind(sel.kind))
		return counterSpan(sel);
	if (sel.kind === "iv")
		return {from: timeOf(trace.states.s, i), until: timeOf(trace.states.s, i + 1)};
	if (sel.kind === "fiber")
		return fiberSpan(sel.id);
	if (sel.kind === "log")
		return {from: trace.log.time[i], until: trace.log.time[i]};
	if (sel.kind === "mark")
		return {from: trace.mark.time[i], until: trace.mark.time[i]};
	if (sel.kind === "sample")
		return {from: trace.sample.time[i], until: trace.sample.time[i]};
	if (sel.kind === "unlock")
		return {from: trace.unlock.time[i], until: trace.unlock.time[i]};
	if (sel.kind === "gap")
		return {from: trace.gap.start[i], until: trace.gap.end[i]};
	return null;
}

// The track and the part of it where a selection is drawn, or null.
/** @param {Chosen} sel */
export function selectionPlace(sel) {
	if (sel.kind === "task")
		return taskPlace(sel.id - 1);
	if (sel.kind === "cpu" && cpuPlace(sel.id - 1))
		return cpuPlace(sel.id - 1);
	if (isCounterKind(sel.kind)) {
		const {track: own} = counterPlace(sel);
		return tracks.all.includes(own) ? {track: own, y: TRACK_PAD, h: COUNTER_HEIGHT} : null;
	}
	const idx = selectionThread(sel);
	const track = idx >= 0 ? tracks.byThread[idx] : undefined;
	if (!track || sel.kind === "fiber" || sel.kind === "fiberwait")
		return null;
	if (sel.kind === "fiberrun")
		return {track, y: fibersY(), h: REGION_HEIGHT - 1};
	if (sel.kind === "region") {
		const depth = trace.region.depth[sel.id - 1];
		return depth < track.thread.regions.length
			? {track, y: regionsY(track) + depth * REGION_HEIGHT, h: REGION_HEIGHT - 1} : null;
	}
	if (sel.kind === "labels")
		return {track, y: labelsY(track), h: REGION_HEIGHT - 1};
	if (sel.kind === "log")
		return {track, y: logY(track) - 1, h: LOG_HEIGHT};
	if (sel.kind === "sample")
		return {track, y: samplesY(track) - 1, h: SAMPLE_HEIGHT};
	return {track, y: TRACK_PAD, h: tracks.stateHeight};
}

/** @param {number} k */
function taskPlace(k) {
	const track = trace.taskTracks.find((t) => t.type === trace.task.type[k]);

	if (!track || !tracks.all.includes(track))
		return null;
	for (const item of trackLanes(track)) {
		if (item.lane.more) // it is in no lane before
			return {track, y: item.y, h: item.h};
		const [first, last] = laneRange(item.lane, trace.task.start[k] - 1, trace.task.start[k] + 1);
		for (let i = first; i < last; i++)
			if (item.lane.order[i] === k)
				return {track, y: item.y, h: item.h};
	}
	return null;
}

// Tasks that lie in interval i of a lane that tasks share; undefined: one alone.
/** @param {Track} track @param {Lane} lane @param {number} i */
function tasksSharing(track, lane, i) {
	if (!lane.more || lane.more[i] < 2)
		return undefined;
	const from = laneStart(lane, i), tasks = [];
	for (const k of track.crowded) {
		if (trace.task.start[k] > from)
			break;
		if (sharedUntil(trace.task, k) > from)
			tasks.push(k);
	}
	return tasks;
}

// Where several tasks lie at a point, each click leads to the next of them.
/** @param {Hit | null} hit @returns {Hit | null} */
export function pickNext(hit) {
	const at = hit?.tasks && view.selection?.kind === "task" ? hit.tasks.indexOf(view.selection.id - 1) : -1;

	return at < 0 ? hit : {...hit, id: hit.tasks[(at + 1) % hit.tasks.length] + 1};
}

// The selection for interval i of a lane of this kind.
/** @param {string} kind @param {Lane} lane @param {number} i */
function selectionOf(kind, lane, i) {
	if (kind === "region" || kind === "task" || kind === "labels" || kind === "fiberrun" || kind === "cpu")
		return {kind, id: lane.order[i] + 1};
	const value = lane.v[i];
	if (value >= PARKED && !(value & MERGED) || value === WOKEN)
		return {kind: "park", id: refOf(trace.states, i)};
	return {kind: "iv", id: i + 1};
}

// What lies at a point of the tracks' area: a selection with what the tooltip needs, or null.
/** @param {number} x @param {number} y */
export function pick(x, y) {
	const track = tracks.all[trackIndexAt(y + screen.scrollY)];

	if (!track || y < 0 || x < 0 || x > view.width)
		return null;
	if (track.kind === "counter")
		return counterPick(track, x);
	const inside = y + screen.scrollY - track.y;
	const slack = (view.t1 - view.t0) / view.width * 1.5;
	if (track.hasSamples && inside >= samplesY(track) - 1) {
		const sample = pickInstant(trace.sample, track.thread.idx, timeAt(x), slack * 2);
		return sample ? {kind: "sample", id: sample, among: 1, track} : null;
	}
	if (track.hasLogs && inside >= logY(track) - 1) {
		const log = pickInstant(trace.log, track.thread.idx, timeAt(x), slack * 3);
		return log ? {kind: "log", id: log, among: 1, track} : null;
	}
	if (track.hasMarks && inside < TRACK_PAD + 6) {
		const mark = pickInstant(trace.mark, track.thread.idx, timeAt(x - 3), slack * 4);
		if (mark)
			return {kind: "mark", id: mark, among: 1, track};
	}
	for (const item of trackLanes(track)) {
		if (inside < item.y || inside >= item.y + item.h + 1)
			continue;
		const found = lanePick(item.lane, timeAt(x), slack);
		if (found.index < 0)
			return null;
		return {...selectionOf(item.kind, item.lane, found.index), among: found.among, track, item,
			index: found.index, tasks: item.kind === "task" ? tasksSharing(track, item.lane, found.index) : undefined};
	}
	return null;
}

// The row + 1 of a table of instants that thread index idx has there; 0 = none.
/** @param {Partial<ByThread>} rows @param {number} idx @param {number} time @param {number} slack */
function pickInstant(rows, idx, time, slack) {
	const hi = rows.first[idx + 2];
	const i = upperBound(rows.at, rows.first[idx + 1], hi, time - slack);

	return i < hi && rows.at[i] <= time + slack ? rows.order[i] + 1 : 0;
}

// Scrolls so that all of a track can be seen, or, if it is too high, its part [y, y + h) and what is above.
/** @param {Track} track */
export function scrollToTrack(track, {y, h} = {y: 0, h: track.h}) {
	const box = byId("scroll"), bottom = track.y + Math.max(Math.min(track.h, screen.height), y + h);

	if (track.y + y < box.scrollTop)
		box.scrollTop = track.y + y + h > screen.height + track.y ? track.y + y : track.y;
	else if (bottom > box.scrollTop + screen.height)
		box.scrollTop = bottom - screen.height;
}

// The parks that the selection ended: by an unlock, or in a stretch that is no wait; the first so many.
/** @param {Chosen} sel @param {number} most @returns {Waits} */
export function selectionWoke(sel, most) {
	const span = selectionSpan(sel);

	if (sel.kind === "unlock")
		return parksOfUnlock(sel.id, most);
	return sel.kind === "iv" ? parksWokenBy(selectionThread(sel), span.from, span.until, most) : {list: [], n: 0};
}

// The parks that led to the selected one, the nearest so many; n is one more if there are more.
/** @param {Chosen} sel @param {number} most @returns {Waits} */
export function selectionBehind(sel, most) {
	const behind = sel.kind === "park" ? parksBehind(sel.id, most + 1) : [];

	return {list: behind.slice(0, most), n: behind.length};
}

// Scrolls to the track of the selection, if it has one.
export function scrollToSelection() {
	const place = selectionPlace(view.selection), idx = selectionThread(view.selection);
	const track = place ? place.track : idx >= 0 ? tracks.byThread[idx] : undefined;

	if (track)
		scrollToTrack(track, place || {y: 0, h: TRACK_PAD + tracks.stateHeight});
}

// Makes it the selection, which the caller tells of when it is in view.  `reveals`: a track is shown for it, too, that is not shown otherwise.
/** @param {Chosen | null} sel @param {boolean} reveals */
export function selectionSet(sel, reveals) {
	view.selection = sel ? {kind: sel.kind, id: sel.id} : null;
	if (sel) {
		view.selection.woke = selectionWoke(sel, WOKEN_SHOWN);
		view.selection.behind = selectionBehind(sel, BEHIND_SHOWN);
	}
	if (sel && sel.kind === "fiberrun")
		view.selection.readied = fiberReadied(sel.id);
	const hidden = hiddenOf(view.selection);
	if (hidden !== tracks.guest && (reveals || tracks.guest !== null)) {
		tracks.guest = reveals ? hidden : null;
		tracksLayout();
		viewChanged("guest");
	}
}

// Selects; sel null clears.  {show: false} leaves the visible range as it is; how: see trailTo(); {remember: false} is no step to undo.
/** @param {Chosen | null} sel @param {{show?: boolean, how?: "new" | "kept" | "led", remember?: boolean}} [options] */
export function select(sel, {show = true, how = "new", remember = true} = {}) {
	if (sel && !selectionValid(sel))
		return;
	if (remember)
		stepAdd("choice");
	view.trail = trailTo(sel, how);
	selectionSet(sel, show);
	if (sel && show) {
		const span = selectionSpan(sel);
		if (span)
			viewShow(span.from, span.until);
		scrollToSelection();
	}
	viewChanged("selection");
}

// What a thread was doing at a time, as a selection.
/** @param {number} idx @param {number} time */
export function selectionAt(idx, time) {
	const lane = trace.threads[idx].lane;
	const i = Math.min(Math.max(timeAbove(lane.s, lane.lo, lane.hi, time) - 1, lane.lo), lane.hi - 1);

	return selectionOf("state", lane, i);
}

/** @param {number} idx @param {number} time @param {"new" | "kept" | "led"} [how] */
export function selectAt(idx, time, how = "new") {
	select(selectionAt(idx, time), {how});
}

// The next (1) or previous (-1) interval of the selected thread.
/** @param {number} step */
export function selectNeighbour(step) {
	const sel = view.selection;
	const idx = sel ? selectionThread(sel) : -1;

	if (sel && isCounterKind(sel.kind)) {
		counterStep(sel, step);
		return;
	}
	if (idx < 0) {
		selectThread(step);
		return;
	}
	const kind = sel.kind === "fiberrun" ? sel.kind : "state"; // runs of fibers lead to runs
	const lane = kind === "state" ? trace.threads[idx].lane : trace.threads[idx].fibers;
	const span = selectionSpan(sel) || {from: view.t0, until: view.t0};
	const from = step > 0 ? Math.max(span.until - 1, span.from) : span.from;
	let i = timeAbove(lane.s, lane.lo, lane.hi, from) - 1;
	for (i += step; i >= lane.lo && i < lane.hi; i += step) {
		const next = selectionOf(kind, lane, i);
		if ((lane.v[i] & 127) && (next.kind !== sel.kind || next.id !== sel.id)) {
			select(next, {how: "kept"});
			return;
		}
	}
}

// What the next (1) or previous (-1) shown thread did at the selected time; without a selection
// the first visible thread.
/** @param {number} step */
export function selectThread(step) {
	const shown = tracks.all.filter((t) => t.kind === "thread");
	const sel = view.selection, span = sel && selectionSpan(sel);
	let at = sel ? shown.findIndex((t) => t.thread.idx === selectionThread(sel)) : -1;

	if (!shown.length)
		return;
	if (at < 0)
		at = shown.findIndex((t) => t.y + t.h > screen.scrollY);
	else
		at = Math.min(Math.max(at + step, 0), shown.length - 1);
	const time = span ? (span.from + span.until) / 2 : (view.t0 + view.t1) / 2;
	selectAt(shown[Math.max(at, 0)].thread.idx, Math.min(Math.max(time, view.t0), view.t1), "kept");
}

// Against the arrow: what the waker of the selected wait did, its own last wait first.
export function selectCause() {
	const sel = view.selection;

	if (sel && selectionFiber(sel)) {
		selectFiberRun(-1);
		return;
	}
	if (!sel || sel.kind !== "park" || !trace.park.waker[sel.id - 1])
		return;
	const [before] = sel.behind.list;
	if (before)
		select({kind: "park", id: before}, {how: "led"});
	else if (parkWake(sel.id) >= 0)
		selectAt(trace.park.waker[sel.id - 1] - 1, parkWake(sel.id), "led");
}

// Along the arrow: the first wait that the selected thread ended, from then on.
export function selectEffect() {
	const sel = view.selection, span = sel && selectionSpan(sel);
	const idx = sel ? selectionThread(sel) : -1;

	if (sel && selectionFiber(sel)) {
		selectFiberRun(1);
		return;
	}
	if (!span || idx < 0)
		return;
	const from = sel.kind === "park" ? span.until : span.from;
	const woken = parkWokenFirst(idx, from);
	if (woken)
		select({kind: "park", id: woken}, {how: "led"});
}

// The run of the selected fiber before or after the one that is selected.
/** @param {number} step */
function selectFiberRun(step) {
	const r = fiberRunOf(view.selection, step);

	if (r)
		select({kind: "fiberrun", id: r}, {how: "led"});
}
