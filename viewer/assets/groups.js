// groups.js - threads that belong together: idle ones, and those whose names differ only in numbers.  A group is a track
// with a summary; its threads have tracks while it is open.

import {HIDDEN_KEY} from "./arrange.js";
import {screen} from "./draw.js";
import {plural} from "./format.js";
import {laneCounts} from "./lod.js";
import {MAP_CLASSES, classState} from "./minimap.js";
import {CLASS_COUNT, stateClass, theme} from "./palette.js";
import {threadsCount} from "./rows.js";
import {stepAdd} from "./steps.js";
import {TRACK_PAD, tracks, tracksLayout} from "./tracks.js";
import {view, viewChanged} from "./view.js";

const GROUP_LEAST = 4; // fewer threads are no group by their names
const GROUPS_FROM = 24; // so many threads fit without groups
const GROUP_LANES_MAX = 64; // of more threads at once some stand for all
const GROUP_THREADS_MAX = 4096; // as many are looked at, however few of them there are at once
const COARSE_LANES = 32; // of so many and more, intervals narrower than two columns or three are drawn as one

/** @param {Thread} thread */
export function namePattern(thread) {
	return thread.name.replace(/\d+/g, "*");
}

// Whether those of these threads that are idle are a group.
/** @param {Thread[]} threads */
export function idleFold(threads) {
	const idle = threads.filter((thread) => thread.idle).length;

	return idle > 1 && idle < threads.length;
}

// Rows for these threads, in their order: [{group}] and [{thread}].  Pinned threads are in no group.
/** @param {Thread[]} threads @returns {TrackRow[]} */
export function groupRows(threads) {
	const isFree = (/** @type {Thread} */ thread) => !tracks.pinned.has(thread.idx);
	const idle = threads.filter((thread) => thread.idle && isFree(thread));
	const folds = idle.length > 1 && idle.length < threads.length;
	const rest = folds ? threads.filter((thread) => !(thread.idle && isFree(thread))) : threads;
	/** @type {TrackRow[]} */
	const rows = rest.length > GROUPS_FROM ? rowsByPattern(rest, isFree) : rest.map((thread) => ({thread}));

	if (folds)
		rows.push({group: groupMake("idle", plural(threadsCount(idle), "idle thread"), idle)});
	return rows.length === 1 && rows[0].group ? [{group: {...rows[0].group, isOpen: true}}] : rows;
}

/** @param {string} key @param {string} name @param {Thread[]} threads @returns {Track} */
export function groupMake(key, name, threads) {
	return {kind: "group", key, name, threads, isOpen: tracks.opened.has(key)};
}

// What their names have in common.
/** @param {Thread[]} threads */
function kindName(threads) {
	const [{name}] = threads;

	return threads.every((thread) => thread.name === name) ? name : namePattern(threads[0]);
}

// A group stands where the first of its threads does.
/** @param {Thread[]} threads @param {(thread: Thread) => boolean} isFree @returns {TrackRow[]} */
function rowsByPattern(threads, isFree) {
	const byPattern = new Map(), rows = [];

	for (const thread of threads.filter(isFree)) {
		const pattern = namePattern(thread);
		if (byPattern.has(pattern))
			byPattern.get(pattern).push(thread);
		else
			byPattern.set(pattern, [thread]);
	}
	for (const thread of threads) {
		const pattern = namePattern(thread), members = isFree(thread) ? byPattern.get(pattern) : [];
		if (members.length < GROUP_LEAST)
			rows.push({thread});
		else if (members[0] === thread)
			rows.push({group: groupMake(`name:${pattern}`, kindName(members), members)});
	}
	return rows;
}

/** @param {Pick<Track, "key">} group */
export function groupToggle(group) {
	const opened = new Set(tracks.opened);

	if (!opened.delete(group.key))
		opened.add(group.key);
	stepAdd("choice");
	tracks.opened = opened;
	tracksLayout();
	viewChanged("tracks");
}

// How many of these threads there were at once, at most: a server with a thread for each connection has thousands, one after the other.
/** @param {Pick<Thread, "start" | "end">[]} threads */
export function threadsAtOnce(threads) {
	const starts = Float64Array.from(threads, ({start}) => start).sort(); // one of which it is not known is -1: from the begin on
	const ends = Float64Array.from(threads, ({end}) => end >= 0 ? end : Infinity).sort();
	let most = 0;

	for (let i = 0, gone = 0; i < starts.length; i++) {
		while (ends[gone] <= starts[i])
			gone++;
		most = Math.max(most, i + 1 - gone);
	}
	return most;
}

/** @param {Track} group */
function groupMost(group) {
	return group.most ??= threadsAtOnce(group.threads);
}

// One of so many threads is looked at.
/** @param {Track} group */
function groupStride(group) {
	return Math.ceil(Math.max(groupMost(group) / GROUP_LANES_MAX, group.threads.length / GROUP_THREADS_MAX));
}

// Time by class and column of the visible range, of all its threads, a thread in each step; kept while the range is, also of a part of the threads.
/** @param {Track} group @param {number} w @returns {Generator<undefined, void>} */
function* groupCounts(group, w) {
	const key = `${view.t0} ${view.t1} ${w}`, {t0, t1} = view;
	const stride = groupStride(group), looked = Math.ceil(groupMost(group) / stride);
	const coarse = looked < COARSE_LANES ? 1 : Math.SQRT2 * Math.min(4, 1 + Math.floor(looked / COARSE_LANES)); // among many lanes it is not seen

	if (group.countsOf !== key) {
		if (group.counts?.length === CLASS_COUNT * w)
			group.counts.fill(0);
		else
			group.counts = new Float32Array(CLASS_COUNT * w);
		group.countsOf = key;
		group.counted = 0;
	}
	while (group.counted < group.threads.length) {
		const {lane, start, end} = group.threads[group.counted];
		if (start < t1 && (end < 0 || end > t0))
			laneCounts(lane, t0, t1, w, stateClass, group.counts, coarse);
		group.counted += stride;
		yield;
	}
}

// The summary: the classes of the overview, one upon the other; as many threads as there were at once fill the height.
/** @param {Track} group @param {number} groupTop @returns {Generator<undefined, void>} */
export function* groupToPixels(group, groupTop) {
	if (group.key === HIDDEN_KEY)
		return;
	const w = screen.image.width, {pixels} = screen, ratio = screen.ratio;
	const y0 = Math.round((groupTop + TRACK_PAD) * ratio), y1 = Math.round((groupTop + TRACK_PAD + tracks.stateHeight) * ratio);
	yield* groupCounts(group, w);
	const n = groupMost(group) / groupStride(group);
	const bottoms = new Int32Array(w).fill(y1), highest = Math.max(y0, 0), lowest = screen.image.height;

	for (const cls of MAP_CLASSES) {
		const count = group.counts.subarray(cls * w, (cls + 1) * w), colour = theme.state[classState(cls)];
		for (let x = 0; x < w; x++) {
			const share = count[x] / n, bottom = bottoms[x];
			if (!(share > 0))
				continue;
			// Where some threads stand for all, more than there were may seem to be there.
			const top = Math.max(y0, bottom - Math.max(1, Math.round(share * (y1 - y0)))) | 0; // a whole number, as the engine has them, makes the loop quick
			for (let y = Math.max(highest, top) | 0; y < bottom && y < lowest; y++)
				pixels[y * w + x] = colour;
			bottoms[x] = top;
		}
	}
}
