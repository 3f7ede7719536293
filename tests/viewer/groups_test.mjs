// groups_test.mjs - run by modules.sh: how high the lane of a folded line is.

import assert from "node:assert/strict";
import {test} from "node:test";
import "./page_stub.mjs";
import {head} from "../../viewer/assets/data.js";
import {screen} from "../../viewer/assets/draw.js";
import {onProcText, runOnProc} from "../../viewer/assets/fibers.js";
import {groupToPixels, threadsAtOnce} from "../../viewer/assets/groups.js";
import {lanesMake} from "../../viewer/assets/levels.js";
import {ACTIVE, OFF_PROC, RUNNABLE, statesInit, theme} from "../../viewer/assets/palette.js";
import {trace} from "../../viewer/assets/rows.js";
import {RUNNING} from "../../viewer/assets/states.js";
import {timeSet, timesDone, timesMake} from "../../viewer/assets/times.js";
import {TRACK_PAD, tracks} from "../../viewer/assets/tracks.js";
import {view} from "../../viewer/assets/view.js";

const W = 100, SPAN = 100000;

const threadOf = ([start, end]) => ({start, end});

test("as many threads as there were at once", () => {
	for (const [times, most] of [
		[[], 0], [[[0, 5]], 1], [[[0, 5], [5, 9]], 1], [[[0, 6], [5, 9]], 2], [[[5, 9], [0, 6], [5, 7]], 3],
		[[[-1, 5], [-1, 6], [7, -1]], 2], [[[3, -1], [-1, -1], [9, 10]], 3],
	])
		assert.equal(threadsAtOnce(times.map(threadOf)), most, JSON.stringify(times));
});

// Threads that run from begin to end, each with a lane.
function threadsRunning(times) {
	const s = timesMake(times.length), e = Float64Array.from(times, ([, end]) => end), v = new Uint8Array(times.length).fill(RUNNING);

	times.forEach(([start], i) => timeSet(s, i, start));
	timesDone(s);
	const lanes = lanesMake({s, e, v}, times.map((_, i) => [i, i + 1]), null);
	return times.map(([start, end], i) => ({start, end, lane: lanes[i]}));
}

// How many pixels of each column its lane has, of `tracks.stateHeight`.
function heights(threads) {
	const group = {kind: "group", key: "name:x", name: "x", threads};

	head.reasons = [];
	statesInit();
	tracks.stateHeight = 20;
	Object.assign(view, {t0: 0, t1: SPAN});
	theme.state.fill(7);
	Object.assign(screen, {ratio: 1, image: {width: W, height: 40}, pixels: new Uint32Array(W * 40)});
	for (const _ of groupToPixels(group, 0))
		;
	assert.ok(screen.pixels.every((pixel, i) => !pixel || (i >= W * TRACK_PAD && i < W * (TRACK_PAD + 20))), "nothing is drawn beside the lane");
	return Array.from({length: W}, (_, x) => screen.pixels.filter((pixel, i) => pixel && i % W === x).length);
}

test("threads that follow each other fill the lane of their line, each while it is there", () => {
	const one = heights(threadsRunning(Array.from({length: 200}, (_, i) => [i * SPAN / 200, (i + 1) * SPAN / 200])));
	assert.ok(one.every((h) => h === 20), `one at a time: ${one}`);
	const two = heights(threadsRunning(Array.from({length: 200}, (_, i) => i < 199 ? [i * SPAN / 200, (i + 1) * SPAN / 200] : [0, SPAN / 2])));
	assert.deepEqual([two[10], two[80]], [20, 10], "two at once in the first half");
});

test("where a part of the threads stands for all, the lane is as high", () => {
	const all = heights(threadsRunning(Array.from({length: 300}, () => [0, SPAN])));
	assert.ok(all.every((h) => h === 20), `300 at once: ${all}`);
	const many = heights(threadsRunning(Array.from({length: 10000}, (_, i) => [i * SPAN / 10000, (i + 1) * SPAN / 10000])));
	assert.ok(many.every((h) => h > 10 && h <= 20), `10,000 one after the other: ${many}`);
});

// A thread's lane: what it did from 0 on, [state, until].
function laneOf(states) {
	const s = timesMake(states.length + 1), v = Uint8Array.from([...states.map(([state]) => state), 0]);
	let at = 0;

	states.forEach(([, until], i) => {
		timeSet(s, i, at);
		at = until;
	});
	timeSet(s, states.length, at);
	timesDone(s);
	return lanesMake({s, e: null, v}, [[0, states.length]], null)[0];
}

test("a fiber's run was on a proc for as long as its thread ran meanwhile", () => {
	const lane = laneOf([[RUNNING, 100], [RUNNABLE, 300], [RUNNING, 350], [OFF_PROC, 400], [RUNNING, 900], [ACTIVE, 1000]]);
	const runs = [[0, 400], [50, 300], [100, 200], [320, 20], [400, 500], [300, 650]], wanted = [150, 100, 0, 20, 500, -1];

	trace.threads = [/** @type {Thread} */ ({lane})];
	trace.frun = {n: runs.length, thread: runs.map(() => 1), start: runs.map(([start]) => start), length: runs.map(([, length]) => length)};
	head.has_sched = true;
	assert.deepEqual(runs.map((_, i) => runOnProc(i + 1)), wanted, "of the last it is not known all the time");
	assert.deepEqual(runs.map(([, length], i) => onProcText(wanted[i], length)), [", 150 ns of it on a proc", ", 100 ns of it on a proc", ", 0 ns of it on a proc", "", "", ""]);
	head.has_sched = false;
	assert.deepEqual(runs.map((_, i) => runOnProc(i + 1)), runs.map(() => -1), "without switch records nothing is known");
});
