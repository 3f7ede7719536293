// tracks.js - which tracks there are, in which order, and where each one lies.

import {HIDDEN_KEY, arrange, filterMake, filterRead, hideToggle, isHidden, isTrackHidden, pinOf,
	rowsMoved, selectionTrack} from "./arrange.js";
import {counterChosen, counterSums} from "./counters.js";
import {visible} from "./data.js";
import {screen} from "./draw.js";
import {byId, count, duration, el, plural} from "./format.js";
import {groupMake, groupRows, groupToggle, idleFold} from "./groups.js";
import {CLASS, stateClass} from "./palette.js";
import {PROC_HEIGHT, procRows} from "./procs.js";
import {setRange, threadsCount, trace} from "./rows.js";
import {select, selectionThread} from "./select.js";
import {view} from "./view.js";

export const STATE_LEAST = 18, STATE_MOST = 40; // height of lanes of states: they share what room there is
export const REGION_HEIGHT = 14, LOG_HEIGHT = 7, SAMPLE_HEIGHT = 7, COUNTER_HEIGHT = 28;
const NOTHING_HEIGHT = 96;
const TASK_HEIGHT = 14, TASK_LOW_HEIGHT = 7, TASK_LEAST = 3, TASKS_MOST = 84; // TASKS_MOST: of a track, but for lanes of TASK_LEAST
export const TRACK_PAD = 5;
const ABOVE_MAX = 6; // tracks of tasks and counters above the threads; of more, most are below them
const ABOVE_HEIGHT = 400; // of all of these but a first one that is higher

/** @type {Tracks} */
export const tracks = {
	all: [], // in order, filtered
	byThread: [], // thread index -> track, or undefined while it is filtered out
	foldedInto: [], // thread index -> the group that it is folded into, if any
	height: 0,
	stateHeight: STATE_LEAST,
	threads: [], // those that the filter leaves, also of groups that are closed
	sort: "first",
	opened: new Set(), // keys of groups
	filter: "",
	annotations: true, // whether tasks and counters are shown
	pinned: new Set(), hidden: new Set(), moved: [], // see arrange.js
	idleFolds: false, // whether idle threads are a group of their own
	layouts: 0, // how often they were laid out
	guest: null, // a thread's index, or a track of tasks, that is shown only since it is selected
};

/** @param {Thread} thread */
function classTime(thread, cls) {
	let sum = 0;

	for (let s = 1; s < 128; s++)
		if (stateClass[s] === cls)
			sum += thread.time[s];
	return sum;
}

/** @param {Thread} thread */
export function lifeTime(thread) {
	let sum = 0;

	for (let s = 1; s < 128; s++)
		sum += thread.time[s];
	return sum;
}

// id -> [label, key: larger first, or a comparison]
// The third is what a thread's place in the order comes from, in words; none where its name says it.
export const threadOrders = {
	first: ["interest", (a, b) => a.idle - b.idle || b.interest - a.interest, (t) => duration(t.interest)],
	start: ["start", (a, b) => a.firstSeen - b.firstSeen || a.serial - b.serial, (t) => duration(Math.max(0, t.firstSeen))],
	name: ["name", (a, b) => a.name.localeCompare(b.name, "en", {numeric: true}) ||
		a.serial - b.serial],
	lock: ["waiting for locks", (a, b) => b.lockTime - a.lockTime, (t) => duration(t.lockTime)],
	ready: ["without a proc", (a, b) => b.readyTime - a.readyTime, (t) => duration(t.readyTime)],
	parked: ["in waits", (a, b) => b.waitTime - a.waitTime, (t) => duration(t.waitTime)],
	busy: ["running", (a, b) => b.runTime - a.runTime, (t) => duration(t.runTime)],
	events: ["number of waits", (a, b) => b.parks - a.parks, (t) => count(t.parks)],
};

export function threadKeys() {
	for (const thread of trace.threads) {
		thread.lockTime = classTime(thread, CLASS.LOCK);
		thread.runTime = classTime(thread, CLASS.RUN);
		thread.waitTime = thread.lockTime + classTime(thread, CLASS.SYNC) +
			classTime(thread, CLASS.IO) + classTime(thread, CLASS.IDLE);
		thread.readyTime = classTime(thread, CLASS.READY);
		thread.interest = thread.lockTime + thread.runTime + thread.readyTime;
	}
}

// Whether a thread ever had one of these labels: by row of trace.label; null = none.
/** @param {Thread} thread */
function threadHadLabel(thread, labels) {
	const lane = labels && thread.labels;

	for (let i = lane ? lane.lo : 0; lane && i < lane.hi; i++)
		for (let [l, last] = setRange(trace.under.set[lane.order[i]]); l < last; l++)
			if (labels[l])
				return true;
	return false;
}

/** @param {Thread} thread */
export function threadMatches(thread, wanted, labels) {
	return !wanted || thread.label.toLowerCase().includes(wanted) ||
		String(thread.tid).includes(wanted) || String(thread.serial) === wanted ||
		threadHadLabel(thread, labels);
}

// How many rows of a table of instants are the thread's.
/** @param {Thread} thread */
function threadRows(rows, thread) {
	return rows.first[thread.idx + 2] - rows.first[thread.idx + 1];
}

// Whether it is a line that other tracks are folded into.
/** @param {Track} track */
export function isFold(track) {
	return track.kind === "group" || track.kind === "procs";
}

// Many lanes get less height each: then they are a picture, not text.
/** @param {Track} track */
function taskHeight(track) {
	return track.lanes.length <= 3 ? TASK_HEIGHT : Math.max(TASK_LEAST, Math.min(TASK_LOW_HEIGHT, Math.floor(TASKS_MOST / track.lanes.length)));
}

// The lane that tasks share has room for text.
/** @param {Track} track @param {Lane} lane */
function taskLaneHeight(track, lane) {
	return lane.more ? TASK_HEIGHT : taskHeight(track);
}

// What lies between the states and the regions of a thread: its fibers, then its labels.
/** @param {Track} track */
function fibersHeight(track) {
	return track.thread.fibers ? REGION_HEIGHT : 0;
}

/** @param {Track} track */
function labelsHeight(track) {
	return track.thread.labels ? REGION_HEIGHT : 0;
}

// Where each of them begins.
export function fibersY() {
	return TRACK_PAD + tracks.stateHeight + 1;
}

/** @param {Track} track */
export function labelsY(track) {
	return fibersY() + fibersHeight(track);
}

/** @param {Track} track */
export function regionsY(track) {
	return labelsY(track) + labelsHeight(track);
}

/** @param {Track} track */
function trackHeight(track) {
	if (track.kind === "tasks")
		return track.lanes.reduce((sum, lane) => sum + taskLaneHeight(track, lane), 2 * TRACK_PAD);
	if (track.kind === "counter")
		return COUNTER_HEIGHT + 2 * TRACK_PAD;
	if (isFold(track))
		return (hasStates(track) ? tracks.stateHeight : STATE_LEAST) + 2 * TRACK_PAD;
	if (track.kind === "proc")
		return PROC_HEIGHT + 2 * TRACK_PAD;
	return tracks.stateHeight + fibersHeight(track) + labelsHeight(track) + track.thread.regions.length * REGION_HEIGHT +
		(track.hasLogs ? LOG_HEIGHT : 0) + (track.hasSamples ? SAMPLE_HEIGHT : 0) + 2 * TRACK_PAD;
}

// What would be shown for a selection, but is not: a thread's index or a track of tasks; null = nothing.
/** @param {Chosen} sel */
export function hiddenOf(sel) {
	const idx = sel ? selectionThread(sel) : -1;

	if (sel && ["task", "tasktype", "counter"].includes(sel.kind)) {
		const track = selectionTrack(sel);
		return (trace.taskTracks.includes(track) || trace.counterTracks.includes(track)) && (tracks.guest === track || !tracks.all.includes(track)) ? track : null;
	}
	return idx >= 0 && (tracks.guest === idx || !tracks.byThread[idx]) ? idx : null;
}

// Rows of tracks of no thread: tasks, then counters, then procs.  Of many tasks and counters, or high ones, most lie below the threads.
/** @param {Track[][]} notes @param {Track[]} ofProcs @returns {{above: TrackRow[], below: TrackRow[]}} */
function tracksOfNone(notes, ofProcs) {
	const many = notes[0].length + notes[1].length > ABOVE_MAX, above = /** @type {Track[]} */ ([]);
	let height = 0;

	for (const track of notes.map((list) => many ? list.slice(0, ABOVE_MAX / 2) : list).flat()) {
		if (above.length && height + trackHeight(track) > ABOVE_HEIGHT)
			continue;
		height += trackHeight(track);
		above.push(track);
	}
	const [fold, ...inside] = ofProcs, row = (/** @type {Track} */ track) => ({track});

	return {above: [...above.map(row), ...fold ? [{track: fold, inside}] : []], below: notes.flat().filter((track) => !above.includes(track)).map(row)};
}

// Rebuilds the order; called when the sorting, the filter or the pins change.
export function tracksLayout() {
	const filter = filterRead(tracks.filter), {wanted} = filter;
	tracks.idleFolds = idleFold(trace.threads.filter((t) => !t.out));
	const left = trace.threads.filter((t) => !t.out).filter(filterMake(filter)), matching = left.filter((t) => !isHidden(t));
	const inOrder = (threads) => threads.sort(threadOrders[tracks.sort][1])
		.sort((a, b) => Number(tracks.pinned.has(b.idx)) - Number(tracks.pinned.has(a.idx)));
	const grouped = tracks.sort === "first" && !wanted;
	const rowsOf = /** @type {(threads: Thread[]) => TrackRow[]} */ ((threads) => grouped ? groupRows(threads) : threads.map((thread) => ({thread})));
	const shows = /** @type {(row: TrackRow, idx: number | Track | null) => boolean} */ (({thread, group}, idx) => thread ? thread.idx === idx
		: group.isOpen && group.threads.some((t) => t.idx === idx));

	tracks.threads = inOrder(matching);
	let rows = rowsOf(tracks.threads);
	if (rows.some((row) => shows(row, tracks.guest)))
		tracks.guest = null;
	const guest = typeof tracks.guest === "number" ? trace.threads[tracks.guest] : null;
	const guestTasks = typeof tracks.guest === "number" ? null : tracks.guest;
	if (guest) // alone, above a group that has it
		rows = grouped ? [{thread: guest}, ...rows] : rowsOf(inOrder([...matching, guest]));
	const hidden = inOrder(left.filter((t) => isHidden(t) && t !== guest));
	tracks.layouts++;
	tracks.all = [];
	tracks.byThread = new Array(trace.threads.length);
	tracks.foldedInto = new Array(trace.threads.length);
	const whole = !wanted && tracks.annotations, every = whole ? [trace.taskTracks, trace.counterTracks] : [[], []], ofProcs = whole ? procRows() : [];
	const notes = every.map((list) => list.filter((track) => !isTrackHidden(track) || track === guestTasks));
	const out = [...every.flat().filter((track) => isTrackHidden(track) && track !== guestTasks), ...ofProcs.length && isTrackHidden(ofProcs[0]) ? ofProcs : ofProcs.filter(isTrackHidden)];
	for (const track of every.flat())
		track.inGroup = out.includes(track);
	const rest = tracksOfNone(notes, ofProcs.filter((track) => !out.includes(track)));
	if ((trace.taskTracks.includes(guestTasks) || trace.counterTracks.includes(guestTasks)) && !notes.flat().includes(guestTasks))
		tracks.all.push(guestTasks);
	const allRows = rowsMoved([...rest.above, ...rows, ...rest.below]);
	if (hidden.length || out.length)
		allRows.push({group: groupMake(HIDDEN_KEY, [hidden.length ? plural(threadsCount(hidden), "hidden thread") : "", out.length ? plural(out.length, "hidden track") : ""]
			.filter((part) => part).join(", "), hidden), inside: out});
	for (const {thread, group, track: ofNone, inside} of allRows) {
		if (ofNone) {
			tracks.all.push(ofNone, ...inside || []);
			continue;
		}
		if (group)
			tracks.all.push(group);
		for (const one of group && !group.isOpen ? group.threads : [])
			tracks.foldedInto[one.idx] = group;
		for (const one of group ? group.isOpen ? group.threads : [] : [thread]) {
			/** @type {Track} */
			const track = {kind: "thread", thread: one, inGroup: Boolean(group),
				hasLogs: threadRows(trace.log, one) > 0, hasMarks: threadRows(trace.mark, one) > 0,
				hasSamples: threadRows(trace.sample, one) > 0};
			tracks.byThread[one.idx] = track;
			tracks.all.push(track);
		}
		if (group && group.isOpen && inside)
			tracks.all.push(...inside);
	}
	tracksPlace();
	byId("filter").classList.toggle("nothing", tracks.filter.trim() !== "" && matching.length === 0);
	byId("nothing").hidden = tracks.all.length > 0;
	byId("nothing-text").textContent = filter.without.length ? `The filter “${visible(tracks.filter.trim())}” leaves no thread.`
		: `No thread has “${visible(tracks.filter.trim())}” in its name, id or labels.`;
}

/** @param {number} stateHeight */
function tracksStack(stateHeight) {
	let y = 0;

	tracks.stateHeight = stateHeight;
	for (const track of tracks.all) {
		track.y = y;
		track.h = trackHeight(track);
		y += track.h;
	}
	tracks.height = y;
}

// Of all tracks, with lanes of states so high; without any, of the words that say so, and lead back.
/** @param {number} stateHeight */
export function tracksHeight(stateHeight) {
	if (!tracks.all.length)
		return NOTHING_HEIGHT;
	return tracks.all.reduce((sum, track) => sum + trackHeight(track) + (hasStates(track) ? stateHeight - tracks.stateHeight : 0), 0);
}

/** @param {Track} track */
function hasStates(track) {
	return track.kind === "thread" || (isFold(track) && track.key !== HIDDEN_KEY);
}

// Where each track lies.  Lanes of states share what room the screen has left.
export function tracksPlace() {
	const lanes = tracks.all.filter(hasStates).length;

	tracksStack(STATE_LEAST);
	const more = lanes ? Math.floor((screen.height - tracks.height) / lanes) : 0;
	if (more > 0)
		tracksStack(Math.min(STATE_LEAST + more, STATE_MOST));
}

// Index of the track at height y of the whole list.
/** @param {number} y */
export function trackIndexAt(y) {
	let lo = 0, hi = tracks.all.length;

	while (lo < hi) {
		const mid = (lo + hi) >>> 1;
		if (tracks.all[mid].y + tracks.all[mid].h > y)
			hi = mid;
		else
			lo = mid + 1;
	}
	return lo;
}

// Tracks that lie, at least in part, in [y, y + height).
/** @param {number} y @param {number} height */
export function tracksVisible(y, height) {
	const found = [];

	for (let i = trackIndexAt(y); i < tracks.all.length && tracks.all[i].y < y + height; i++)
		found.push(tracks.all[i]);
	return found;
}

// The lanes of a track: [{lane, y, h, kind, depth}], y from the track's top.
/** @param {Track} track */
export function trackLanes(track) {
	const lanes = [];
	const y = TRACK_PAD;

	if (track.kind === "tasks")
		track.lanes.forEach((lane, i) => lanes.push(
			{lane, y: y + i * taskHeight(track), h: taskLaneHeight(track, lane) - 1, kind: "task", depth: i}));
	if (track.kind === "proc")
		lanes.push({lane: track.lane, y, h: PROC_HEIGHT, kind: "cpu", depth: 0});
	if (track.kind !== "thread")
		return lanes;
	lanes.push({lane: track.thread.lane, y, h: tracks.stateHeight, kind: "state", depth: 0});
	if (track.thread.fibers)
		lanes.push({lane: track.thread.fibers, y: fibersY(), h: REGION_HEIGHT - 1, kind: "fiberrun",
			depth: 0});
	if (track.thread.labels)
		lanes.push({lane: track.thread.labels, y: labelsY(track), h: REGION_HEIGHT - 1,
			kind: "labels", depth: 0});
	track.thread.regions.forEach((lane, i) => lanes.push(
		{lane, y: regionsY(track) + i * REGION_HEIGHT, h: REGION_HEIGHT - 1, kind: "region", depth: i}));
	return lanes;
}

/** @param {Track} track */
export function logY(track) {
	return regionsY(track) + track.thread.regions.length * REGION_HEIGHT;
}

// Samples lie below everything else.
/** @param {Track} track */
export function samplesY(track) {
	return logY(track) + (track.hasLogs ? LOG_HEIGHT : 0);
}

// ---- labels: elements for the visible tracks only, taken from a pool ----

/** `drawn`: what it says was told of; y: where it is. */
/** @type {{row: HTMLElement, name: HTMLElement, value: HTMLElement, tid: HTMLElement, pin: HTMLButtonElement, hide: HTMLButtonElement, open: HTMLButtonElement, track: Track | null, drawn: any[], y: number}[]} */
export const labelPool = [];

function labelMake() {
	const name = el("span", {class: "name"}), tid = el("span", {class: "tid"});
	const value = el("span", {class: "value"});
	const pin = el("button", {type: "button", class: "pin", title: "Keep at the top (P)"}, "⚲");
	const hide = el("button", {type: "button", class: "pin hide"});
	const open = el("button", {type: "button", class: "open"}, name, value, tid);
	const label = {row: el("div", {class: "label", role: "listitem"}, open, hide, pin), name, value, tid, pin, hide, open, track: /** @type {Track | null} */ (null), drawn: [], y: NaN};

	open.addEventListener("click", () => {
		const {track} = label;
		if (track.kind === "thread")
			select({kind: "thread", id: track.thread.idx + 1}, {show: false});
		else if (isFold(track))
			groupToggle(track);
		else if (track.kind === "tasks")
			select({kind: "tasktype", id: track.type}, {show: false});
		else if (track.kind === "counter") // the largest in sight
			select(counterChosen(track, counterSums(track, view.t0, view.t1)?.most ?? 0), {show: false});
	});
	hide.addEventListener("click", () => hideToggle(label.track));
	pin.addEventListener("click", () => pinToggle(pinOf(label.track)));
	return label;
}

// What a thread is in its place of the order for; "" = its name.
/** @param {Thread} thread */
function orderValue(thread) {
	const [, , valueOf] = threadOrders[tracks.sort];

	return valueOf ? valueOf(thread) : "";
}

// Of a folded line, which of its threads waited longest for locks.
/** @param {Track} track */
function mostWaited(track) {
	const most = (track.threads || []).reduce((best, thread) => !best || thread.lockTime > best.lockTime ? thread : best, /** @type {Thread | null} */ (null));

	return most?.lockTime ? `; most for locks: ${most.label}, ${duration(most.lockTime)}` : "";
}

/** @param {Track} track */
function labelFill(label, track) {
	const {row, name, tid, open} = label;
	const thread = track.thread;
	const selected = view.selection && thread && selectionThread(view.selection) === thread.idx;
	const drawn = [track, track.h, Boolean(selected), tracks.layouts]; // what else it says is of the layout
	if (drawn.every((value, k) => value === label.drawn[k]))
		return;
	const guest = tracks.guest !== null && tracks.guest === (thread ? thread.idx : track);

	label.drawn = drawn;
	label.track = track;
	row.style.height = `${track.h}px`;
	row.classList.toggle("selected", Boolean(selected));
	row.classList.toggle("annotation", !thread);
	row.classList.toggle("guest", guest);
	row.classList.toggle("group", isFold(track));
	row.classList.toggle("in-group", Boolean(track.inGroup));
	pinFill(label.pin, track);
	hideFill(label.hide, track);
	const byOrder = thread ? orderValue(thread) : "";
	label.value.textContent = byOrder;
	label.value.hidden = tracks.sort === "first" || !byOrder; // the order as it is at first would fill all rows with figures
	if (isFold(track)) {
		const what = track.threads ? plural(threadsCount(track.threads), "thread") : track.share;
		open.setAttribute("aria-expanded", String(track.isOpen));
		name.textContent = `${track.isOpen ? "▾" : "▸"} ${track.name}`;
		tid.textContent = track.key === "idle" || track.key === HIDDEN_KEY ? "" : what;
		open.title = `${track.name}${what ? `: ${what}` : ""}${track.threads ? "" : " by this program"}${mostWaited(track)}; click to ` + (track.isOpen ? "fold" : "unfold");
		return;
	}
	open.removeAttribute("aria-expanded");
	if (!thread) {
		name.textContent = track.name;
		tid.textContent = track.kind === "tasks" ? `task ×${count(track.count)}` : track.kind === "proc" ? track.share : track.unit || (track.inGroup ? "" : "counter");
		open.title = track.crowded?.length
			? `${track.name}: ${count(track.crowded.length)} of them share the last lane` : track.title || track.name;
		return;
	}
	// What tells threads of one name apart stands in the second column: a long name would hide it.
	name.textContent = thread.name;
	tid.textContent = thread.label !== thread.name ? thread.label.slice(thread.name.length + 2, -1) :
		thread.named && thread.tid ? String(thread.tid) : "";
	open.title = `${thread.name}, thread id ${thread.tid}${byOrder && `; ${threadOrders[tracks.sort][0]}: ${byOrder}`}` +
		(thread.out ? "; left out of this page" : guest ? `; ${isHidden(thread) ? "hidden" : "not in the filter"}: shown since it is selected` : "");
}

// The button that keeps a row at the top.
/** @param {HTMLButtonElement} pin @param {Track} track */
function pinFill(pin, track) {
	const by = pinOf(track), pinned = by !== null && tracks.pinned.has(by);

	pin.disabled = by === null;
	pin.classList.toggle("on", pinned);
	pin.setAttribute("aria-pressed", String(pinned));
	pin.setAttribute("aria-label", `Keep ${track.thread ? track.thread.label : track.name} at the top`);
}

// The button that hides a row, or shows it again.
/** @param {HTMLButtonElement} hide @param {Track} track */
function hideFill(hide, track) {
	const again = track.key === HIDDEN_KEY || (track.thread ? isHidden(track.thread) : isTrackHidden(track)), name = track.thread ? track.thread.label : track.name;

	hide.textContent = again ? "+" : "×";
	hide.title = again ? "Show again (Delete)" : "Hide (Delete)";
	hide.setAttribute("aria-label", track.key === HIDDEN_KEY ? "Show all again" : `${again ? "Show" : "Hide"} ${name}${again ? " again" : ""}`);
}

export function labelsDraw(visibleTracks, scrollY) {
	const box = byId("labels");

	while (labelPool.length < visibleTracks.length) {
		const label = labelMake();
		labelPool.push(label);
		box.append(label.row);
	}
	labelPool.forEach((label, i) => {
		const {row} = label;
		row.hidden = i >= visibleTracks.length;
		if (row.hidden)
			return;
		labelFill(label, visibleTracks[i]);
		if (label.y !== visibleTracks[i].y - scrollY)
			row.style.transform = `translateY(${label.y = visibleTracks[i].y - scrollY}px)`;
	});
}

/** @param {number | string} by */
export function pinToggle(by) {
	const pinned = new Set(tracks.pinned);

	if (!pinned.delete(by))
		pinned.add(by);
	arrange({pinned});
}
