// flame.js - the tab with the flame graph: what it is of, how it is computed beside the drawing of frames, and what
// one can do with a function in it.

import {isHidden} from "./arrange.js";
import {head, moduleName, text} from "./data.js";
import {chainOf, foldMake, functionTotals, functions, treeMake, treeOf} from "./flame_fold.js";
import {profileCount, profileSum, profileValue} from "./flame_profile.js";
import {selectionMake} from "./flame_select.js";
import {flameControls, flameShow} from "./flame_ui.js";
import {duration, plural} from "./format.js";
import {isWithinChance, samplesWorth} from "./margins.js";
import {labelText, trace} from "./rows.js";
import {selectionThread} from "./select.js";
import {tracks} from "./tracks.js";
import {view} from "./view.js";

const FLAME_SLICE_MS = 6; // of each frame
/** @type {Flame} */
export const flame = {
	kinds: [], kind: null,
	time: "range", // "range": the selected one, or else all; "view": what is visible
	threads: "all", // or "filter", "pinned", "selected"
	label: 0, task: 0, slowest: 0,
	view: "down", // "up": inverted; "sandwich": callers and callees of the function `fn`
	fn: "", idle: false, search: "", focus: [],
	before: null, // of a comparison, what A is: as flameAsked() tells
	file: null, // or A is the profile in a file: {name, profile}
	trouble: "", // with the file that was chosen last
	result: null, asked: "", // what the result is of
	found: null, foundShare: 0, // by function: whether it matches the search; their part of all
	token: 0, timer: 0, working: false, seen: false, waiting: [],
	lit: null, // by thread index: what is marked in the timeline: flame_marks.js
	box: null, parts: {},
	stateText: "", // of the address, before the tab is drawn
};

// ---- work that leaves time for frames ----

// Those who wait until nothing is to be done any more.
function flameWake() {
	for (const wake of flame.waiting.splice(0))
		wake();
}

// Runs a generator in slices; done() gets what it returns, unless another run has begun since.
export function flameRun(work, done) {
	const token = ++flame.token, channel = new MessageChannel();

	flame.working = true;
	channel.port1.onmessage = () => {
		const until = performance.now() + FLAME_SLICE_MS;
		let step = /** @type {{done?: boolean, value?: unknown}} */ ({done: false});
		if (token !== flame.token)
			return;
		while (!step.done && performance.now() < until)
			step = work.next();
		if (!step.done) {
			channel.port2.postMessage(0);
			return;
		}
		flame.working = false;
		done(step.value);
		if (!flame.working) // done() may have begun another run
			flameWake();
	};
	channel.port2.postMessage(0);
}

// ---- what is asked for ----

function flameThreads() {
	const sel = view.selection ? selectionThread(view.selection) : -1;

	switch (flame.threads) {
	case "filter": return tracks.filter.trim() || trace.threads.some(isHidden) ? tracks.threads.map((t) => t.idx) : null;
	case "pinned": return [...tracks.pinned].filter((by) => typeof by === "number");
	case "selected": return sel >= 0 ? [sel] : [];
	default: return null;
	}
}

export function flameAsked() {
	const range = flame.time === "view" ? view : view.range || {t0: trace.begin, t1: trace.span};

	return {t0: Math.round(range.t0), t1: Math.round(range.t1), threads: flameThreads(), label: flame.label, task: flame.task,
		slowest: flame.task ? flame.slowest : 0};
}

// In words: "1.20 s to 1.50 s, 3 threads, tenant=acme".
/** @param {Asked} asked */
export function askedText(asked) {
	const whole = asked.t0 <= trace.begin && asked.t1 >= trace.span;
	const of = asked.task ? trace.taskTypes.find((t) => t.type === asked.task) : null;

	return [whole ? head.cut ? "whole page" : "whole trace" : `${duration(asked.t0)} to ${duration(asked.t1)}`,
		asked.threads && (asked.threads.length === 1 ? trace.threads[asked.threads[0]].label : plural(asked.threads.length, "thread")),
		asked.label && labelText(asked.label - 1),
		of && (asked.slowest ? `the slowest ${asked.slowest} % of tasks ${of.name}` : `tasks ${of.name}`)].filter((t) => t).join(", ");
}

// ---- computing ----

/** @param {FlameKind} kind @param {Asked} asked @param {Fold["add"]} [visit] @returns {Generator<void, Fold, void>} */
export function* flameSum(kind, asked, visit) {
	const fold = foldMake(selectionMake(asked), {idle: flame.idle, visit});

	yield* kind.sum(fold);
	return fold;
}

function sumOf(values) {
	return values.reduce((sum, value) => sum + Math.max(0, value), 0);
}

// The largest change that is drawn in a colour.
/** @param {FlameTree} tree @param {number[] | null} counts */
function mostChange(tree, counts) {
	let most = 0;

	for (let node = 1; node < tree.n; node++) {
		const after = tree.value[1][node] / (tree.value[1][0] || 1), before = tree.value[0][node] / (tree.value[0][0] || 1);
		if (!counts || !isWithinChance(before, after, counts[0], counts[1]))
			most = Math.max(most, Math.abs(after - before));
	}
	return most;
}

// Of how many samples each side of a comparison is; null where nothing is left to chance, or a profile does not say of how many it is.
/** @param {Fold[]} folds @param {Flame["file"]} file */
function sampleCounts(folds, file) {
	const last = folds[folds.length - 1].samples, inFile = file ? profileCount(file.profile) : 0;

	if (file ? !last.n || !inFile : !last.n && !folds[0].samples.n)
		return null;
	const here = folds.map((fold) => samplesWorth(fold.samples));
	return file ? [inFile, here[0]] : here;
}

/** @param {Asked} asked */
function* flameWork(asked) {
	const {kind, before, file} = flame, folds = []; // they may be others when the work is done

	if (before)
		folds.push(yield* flameSum(kind, before));
	folds.push(yield* flameSum(kind, asked));
	const sides = folds.map((fold) => fold.values), last = folds[folds.length - 1];
	/** @type {FlameResult} */
	const result = {kind, asked, before, file, sides, sums: [], unseen: last.unseen, samples: last.samples, whole: last.whole, tree: null, callers: null, callees: null};
	for (const side of sides) // makes all chains
		for (let combo = 0; combo < side.length; combo++) {
			if (side[combo] > 0)
				chainOf(combo);
			if (combo % 512 === 0)
				yield;
		}
	if (file)
		sides.unshift(yield* profileSum(file.profile, kind));
	result.sums = sides.map(sumOf);
	result.totals = sides.map(functionTotals);
	const fn = functions.list.findIndex((f) => functionId(f) === flame.fn);
	if (flame.view !== "sandwich") {
		result.tree = yield* treeOf(sides, flame.view);
	} else if (fn >= 0) {
		result.fn = fn;
		result.callers = yield* treeOf(sides, "callers", fn);
		result.callees = yield* treeOf(sides, "callees", fn);
	}
	if (sides.length > 1)
		result.counts = sampleCounts(folds, file);
	if (sides.length > 1)
		result.mostChange = mostChange(result.tree || result.callees || treeMake(2), result.counts);
	return result;
}

// How the address names a function.
export function functionId(fn) {
	return fn.module ? `${fn.name}@${moduleName(fn.module)}` : fn.name;
}

/** @param {Asked} asked */
function flameKey(asked) {
	return JSON.stringify([asked, flame.before, flame.file && flame.file.number, flame.kind.id, flame.view, flame.view === "sandwich" && flame.fn, flame.idle]);
}

export function flameRefresh() {
	const asked = flameAsked(), key = flameKey(asked);

	clearTimeout(flame.timer);
	flame.timer = 0;
	if (key === flame.asked && (flame.result || flame.working)) {
		flameWake();
		return;
	}
	flame.asked = key;
	flame.box.classList.add("working");
	flameRun(flameWork(asked), (result) => {
		flame.result = {...result, key};
		flame.box.classList.remove("working");
		flameFind();
		flameShow();
	});
}

// After a change; many of them, as while a range is dragged, are one.
export function flameSoon(ms = 60) {
	if (!flame.seen)
		return;
	clearTimeout(flame.timer);
	flame.timer = setTimeout(flameRefresh, ms);
}

// ---- search ----

export function flameFind() {
	const query = flame.search.trim().toLowerCase(), {result} = flame;

	flame.found = null;
	flame.foundShare = 0;
	if (!query || !result)
		return;
	flame.found = Uint8Array.from(functions.list, (fn) => fn.name.toLowerCase().includes(query) ||
		fn.file.toLowerCase().includes(query) || moduleName(fn.module).toLowerCase().includes(query) ? 1 : 0);
	const values = result.sides[result.sides.length - 1];
	let sum = 0;
	for (let combo = 0; combo < values.length; combo++)
		if (values[combo] > 0 && chainOf(combo).fns.some((fn) => flame.found[fn]))
			sum += values[combo];
	flame.foundShare = sum / (result.sums[result.sums.length - 1] || 1);
}

// ---- the address ----

/** @param {Asked} asked */
function askedState(asked) {
	return [`${asked.t0},${asked.t1 - asked.t0}`, asked.threads ? asked.threads.map((idx) => trace.threads[idx].serial).join(",") : "",
		asked.label ? labelText(asked.label - 1) : "", asked.task ? text(asked.task) : "", asked.slowest || ""].join("\n");
}

/** @param {string} name */
export function labelNamed(name) {
	for (let l = 0; l < trace.label.n; l++)
		if (name && labelText(l) === name)
			return l + 1;
	return 0;
}

/** @param {string} name */
function taskNamed(name) {
	const type = trace.taskTypes.find((t) => name && text(t.type) === name);

	return type ? type.type : 0;
}

function askedRead(state) {
	const [span, threads, label, task, slowest] = (state || "").split("\n"), found = /^(\d+),(\d+)$/.exec(span);

	if (!found)
		return null;
	return {t0: Number(found[1]), t1: Number(found[1]) + Number(found[2]),
		threads: threads ? threads.split(",").map((serial) => trace.threads.findIndex((t) => String(t.serial) === serial))
			.filter((idx) => idx >= 0) : null,
		label: labelNamed(label), task: taskNamed(task), slowest: slowestRead(slowest)};
}

export function slowestRead(value) {
	const percent = Number(value);

	return percent > 0 && percent <= 100 ? percent : 0;
}

export function flameState() {
	const state = new URLSearchParams();
	const put = (key, value, normal) => value !== normal && state.set(key, value);

	if (!flame.kind)
		return flame.stateText || "";
	put("of", flame.kind.id, flameDefault().id);
	put("time", flame.time, "range");
	put("threads", flame.threads, "all");
	put("label", flame.label ? labelText(flame.label - 1) : "", "");
	put("task", flame.task ? text(flame.task) : "", "");
	put("slowest", String(flame.slowest || ""), "");
	put("view", flame.view, "down");
	put("fn", flame.view === "sandwich" ? flame.fn : "", "");
	put("idle", flame.idle ? "1" : "", "");
	put("search", flame.search, "");
	put("a", flame.before ? askedState(flame.before) : "", "");
	return state.toString();
}

// The first kind that there is something of: what cost most is asked before anything else.
export function flameDefault() {
	return flame.kinds.find((kind) => kind.n > 0) || flame.kinds[0];
}

/** @param {string} string */
export function flameStateSet(string) {
	const state = new URLSearchParams(string), one = (key, allowed) => allowed.includes(state.get(key)) ? state.get(key) : allowed[0];

	flame.stateText = string;
	if (!flame.kinds.length)
		return;
	flame.kind = flame.kinds.find((kind) => kind.id === state.get("of")) || flameDefault();
	Object.assign(flame, {time: one("time", ["range", "view"]), threads: one("threads", ["all", "filter", "pinned", "selected"]),
		label: labelNamed(state.get("label")), task: taskNamed(state.get("task")), slowest: slowestRead(state.get("slowest")),
		view: one("view", ["down", "up", "sandwich"]), fn: state.get("fn") || "", idle: state.get("idle") === "1",
		search: state.get("search") || "", before: askedRead(state.get("a")), file: state.get("a") ? null : flame.file, focus: []});
	if (flame.file && profileValue(flame.file.profile, flame.kind) < 0)
		flame.file = null;
	flameControls();
	flameFind();
	flameSoon(0);
}
