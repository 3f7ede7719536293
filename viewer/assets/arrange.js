// arrange.js - which tracks are hidden, and which were moved to other places: by dragging a name, by keys, and by the address.
//
// A row's key is its thread's serial, its group's key, or the kind and name of a track of tasks, a counter or a proc ("tasks:request", "counter:queue
// length", "proc:proc 1"; all procs: "procs").  tracks.hidden has keys: that of a group hides all of its threads.  tracks.moved has
// [key, key of the row that it was put before; "" = the end], in the order in which rows were moved.  Both are replaced, never changed,
// so that undo can keep them.

import {decoded} from "./address.js";
import {counterPlace, isCounterKind} from "./counters.js";
import {text} from "./data.js";
import {drawAll, screen} from "./draw.js";
import {byId, el} from "./format.js";
import {namePattern} from "./groups.js";
import {trace} from "./rows.js";
import {labelsMatching} from "./search.js";
import {selectionThread} from "./select.js";
import {stepAdd} from "./steps.js";
import {labelPool, pinToggle, threadMatches, tracks, tracksLayout} from "./tracks.js";
import {view, viewChanged} from "./view.js";

export const MOVES_MAX = 200, HIDDEN_KEY = "hidden"; // the group of what is hidden
const DROP_AFTER = 6; // CSS pixels that the pointer must go for a drag

/** @param {Thread} thread */
export function threadKey(thread) {
	return String(thread.serial);
}

/** @param {TrackRow} row */
function rowKey({thread, group, track}) {
	return thread ? threadKey(thread) : track ? trackKey(track) : group.key;
}

// The keys that hide a thread: its own, and those of the groups that it would be in.
/** @param {Thread} thread */
function hidingKeys(thread) {
	const group = thread.idle && tracks.idleFolds ? "idle" : `name:${namePattern(thread)}`;

	return [threadKey(thread), ...tracks.pinned.has(thread.idx) ? [] : [group]].filter((key) => tracks.hidden.has(key));
}

/** @param {Thread} thread */
export function isHidden(thread) {
	return tracks.hidden.size > 0 && hidingKeys(thread).length > 0;
}

// Of a track that is of no thread: whether it is hidden.
/** @param {Track} track */
export function isTrackHidden(track) {
	return tracks.hidden.has(trackKey(track));
}

// The track of what is selected, where it is of no thread: of tasks, or a counter's; null = it is of a thread, or in no track.
/** @param {Chosen | null} sel @returns {Track | null} */
export function selectionTrack(sel) {
	if (sel && (sel.kind === "task" || sel.kind === "tasktype")) {
		const type = sel.kind === "task" ? trace.task.type[sel.id - 1] : sel.id;
		return trace.taskTracks.find((track) => track.type === type) || null;
	}
	return sel && isCounterKind(sel.kind) ? counterPlace(sel)?.track || null : null;
}

// ---- the filter: words that are looked for, and -words that leave out; a word with blanks stands in quotes ----

/** @param {string} string @returns {{wanted: string, without: string[]}} */
export function filterRead(string) {
	const without = [];
	const wanted = string.toLowerCase().replace(/(^|\s)-(?:"([^"]+)"?|([^\s"]+))/g, (_, before, quoted, plain) => {
		without.push(quoted || plain);
		return before;
	});

	return {wanted: wanted.replace(/(^|\s)-"?(?=\s|$)/g, "").replace(/\s+/g, " ").trim(), without}; // a dash alone is yet to be a word
}

// Which threads a filter leaves.
/** @returns {(thread: Thread) => boolean} */
export function filterMake({wanted, without}) {
	const labels = wanted ? labelsMatching(wanted) : null, others = without.map((word) => [word, labelsMatching(word)]);

	return (thread) => threadMatches(thread, wanted, labels) && !others.some(([word, had]) => threadMatches(thread, word, had));
}

// ---- places ----

// Puts an item before another one, or at the end; whether both are there.
/** @param {string} key @param {string} before */
function putBefore(items, keyOf, key, before) {
	const from = items.findIndex((item) => keyOf(item) === key);

	if (from < 0 || before === key || (before && !items.some((item) => keyOf(item) === before)))
		return false;
	const [item] = items.splice(from, 1);
	items.splice(before ? items.findIndex((each) => keyOf(each) === before) : items.length, 0, item);
	return true;
}

// Within its group; if it is in one.
/** @param {TrackRow[]} rows @param {string} key @param {string} before */
function putInGroup(rows, key, before) {
	const home = rows.find(({group, inside}) => (group && group.threads.some((thread) => threadKey(thread) === key)) ||
		(inside && inside.some((track) => trackKey(track) === key)));

	if (home && home.group)
		putBefore(home.group.threads, threadKey, key, before);
	else if (home)
		putBefore(home.inside, trackKey, key, before);
}

// Rows where they were moved to: among all, or within their group.  Tracks of no thread that are kept at the top are above all
// others, threads that are kept there above the other threads.
/** @param {TrackRow[]} rows */
export function rowsMoved(rows) {
	for (const [key, before] of tracks.moved)
		if (!putBefore(rows, rowKey, key, before))
			putInGroup(rows, key, before);
	const pinned = /** @type {(row: TrackRow) => number} */ (({thread}) => Number(Boolean(thread && tracks.pinned.has(thread.idx))));
	const places = tracks.moved.length ? rows.flatMap(({track}, i) => track ? [] : [i]) : [];
	const threads = places.map((i) => rows[i]).sort((a, b) => pinned(b) - pinned(a));
	const isKept = /** @type {(row: TrackRow) => number} */ (({track}) => Number(Boolean(track && tracks.pinned.has(trackKey(track)))));
	places.forEach((i, k) => { rows[i] = threads[k]; });
	return rows.sort((a, b) => isKept(b) - isKept(a));
}

// ---- what is done ----

// Shows the order, the filter and the rest as they have become, also in what they are chosen by.
export function arrangedShow() {
	byId("sort").value = tracks.sort;
	byId("filter").value = tracks.filter;
	byId("annotations").checked = tracks.annotations;
	tracksLayout();
	viewChanged("tracks");
}

// Changes the hidden, moved or pinned ones; can be undone.
/** @param {Partial<Pick<Tracks, "hidden" | "moved" | "pinned">>} what */
export function arrange(what) {
	const name = labelFocused(), guest = typeof tracks.guest === "number" ? trace.threads[tracks.guest] : null, was = guest && isHidden(guest);
	const other = typeof tracks.guest === "number" ? null : tracks.guest;
	const hides = Boolean(other && what.hidden && what.hidden.has(trackKey(other)) && !isTrackHidden(other));

	stepAdd("choice");
	Object.assign(tracks, what);
	if ((guest && !was && isHidden(guest)) || hides) // who hides it does not want to see it
		tracks.guest = null;
	tracksLayout();
	viewChanged("tracks");
	drawAll(); // so that names have their places
	labelFocus(name);
}

// The key of a track; "" = there is none.
/** @param {Track | null | undefined} track */
export function trackKey(track) {
	if (!track)
		return "";
	if (track.thread)
		return threadKey(track.thread);
	return track.key || `${track.hitKind || track.kind}:${track.hitKind === "counter" ? text(track.type) || track.name : track.name}`;
}

// What a track is kept at the top by: a thread's index, a key; null = it cannot be.
/** @param {Track} track */
export function pinOf(track) {
	if (track.thread)
		return track.thread.idx;
	return track.kind === "group" || track.inGroup ? null : trackKey(track);
}

/** @param {Track} track */
function hideTrack(track) {
	const key = trackKey(track), before = tracks.hidden;

	if (!key || key === HIDDEN_KEY)
		return;
	tracks.hidden = new Set([...before, key]);
	// Idle threads are in other groups where all of the others are hidden.
	const rest = (track.threads || []).filter((thread) => !isHidden(thread)).map(threadKey), hidden = new Set([...tracks.hidden, ...rest]);
	tracks.hidden = before;
	arrange({hidden});
}

// A thread again; the others of a group that was hidden stay so.
/** @param {Thread} thread */
function showThread(thread) {
	const keys = hidingKeys(thread), groups = keys.filter((key) => key !== threadKey(thread)), hidden = new Set(tracks.hidden);
	const others = groups.length ? trace.threads.filter((other) => other !== thread && isHidden(other)) : [];

	for (const key of keys)
		hidden.delete(key);
	for (const other of others)
		if (hidingKeys(other).some((key) => groups.includes(key)))
			hidden.add(threadKey(other));
	arrange({hidden});
}

// A track of no thread again.
/** @param {Track} track */
function showTrack(track) {
	arrange({hidden: new Set([...tracks.hidden].filter((key) => key !== trackKey(track)))});
}

function showAllHidden() {
	arrange({hidden: new Set()});
}

// Hides a row, or shows again what is hidden.
/** @param {Track} track */
export function hideToggle(track) {
	if (track.key === HIDDEN_KEY)
		showAllHidden();
	else if (track.thread && isHidden(track.thread))
		showThread(track.thread);
	else if (!track.thread && isTrackHidden(track))
		showTrack(track);
	else
		hideTrack(track);
}

// The rows among which a row can be moved: those of its group, or all that are in none.
/** @param {Track} track @returns {Track[]} */
function rowsBeside(track) {
	const isRow = (each) => each.key !== HIDDEN_KEY && (each.thread ? !isHidden(each.thread) && each.thread.idx !== tracks.guest : !isTrackHidden(each) && each !== tracks.guest);
	if (track.inGroup && !track.thread)
		return tracks.all.filter((each) => isRow(each) && each.inGroup && !each.thread);
	const inGroup = track.inGroup ? tracks.all.find((each) => each.kind === "group" && each.isOpen && each.threads.includes(track.thread)) : null;

	return tracks.all.filter((each) => isRow(each) && (inGroup ? each.thread && inGroup.threads.includes(each.thread) : !each.inGroup));
}

/** @param {string} key @param {string} before */
function moveRow(key, before) {
	const last = tracks.moved[tracks.moved.length - 1], kept = last && last[0] === key ? tracks.moved.slice(0, -1) : tracks.moved;

	arrange({moved: [...kept, /** @type {[string, string]} */ ([key, before])].slice(-MOVES_MAX)});
}

// Up or down by one.
/** @param {Track} track @param {number} by */
function moveBy(track, by) {
	const beside = rowsBeside(track), at = beside.indexOf(track), to = at + by;

	if (at >= 0 && to >= 0 && to < beside.length)
		moveRow(trackKey(track), trackKey(by < 0 ? beside[to] : beside[to + 1]));
}

// ---- keys ----

// The track whose name has the focus; undefined = none has it.
/** @returns {Track | undefined} */
function focusedTrack() {
	return labelPool.find(({row}) => !row.hidden && row.contains(document.activeElement))?.track;
}

// The same, or that of what is selected.
/** @returns {Track | undefined} */
function keyTrack() {
	const track = selectionTrack(view.selection), idx = view.selection ? selectionThread(view.selection) : -1;

	return focusedTrack() || (track && tracks.all.includes(track) ? track : idx >= 0 ? tracks.byThread[idx] || tracks.foldedInto[idx] : undefined);
}

export function pinChosen() {
	const focused = focusedTrack(), idx = view.selection ? selectionThread(view.selection) : -1, track = selectionTrack(view.selection);
	const pin = focused ? pinOf(focused) : track ? pinOf(track) : idx >= 0 ? idx : null;

	if (pin !== null)
		pinToggle(pin);
}

export function hideChosen() {
	const track = keyTrack();

	if (track)
		hideToggle(track);
}

/** @param {number} by */
export function moveChosen(by) {
	const track = keyTrack();

	if (track)
		moveBy(track, by);
}

// Which name has the focus: {key, at: which of its buttons}; null = none.  Its element is another one after a change of order.
function labelFocused() {
	const label = labelPool.find(({row}) => row.contains(document.activeElement));

	return label && trackKey(label.track) ? {key: trackKey(label.track), at: [...label.row.children].indexOf(document.activeElement)} : null;
}

function labelFocus(was) {
	const label = was && labelPool.find(({row, track}) => !row.hidden && trackKey(track) === was.key);

	if (label)
		/** @type {HTMLElement} */ (label.row.children[was.at])?.focus({preventScroll: true});
	else if (was)
		byId("canvases").focus({preventScroll: true});
}

// ---- dragging a name ----

/** @type {{track: Track | null, y: number, moves: boolean, before: Track | null}} */
const carried = {track: null, y: 0, moves: false, before: null};

// Where a row would lie that is dropped at a height of all tracks: {before, y}, before null: at the end.
/** @param {Track} track @param {number} y */
function dropPlace(track, y) {
	const beside = rowsBeside(track), before = beside.find((each) => y < each.y + each.h / 2) || null;
	const isInside = (each, group) => group.kind === "procs" ? each.inGroup && !each.thread && !isTrackHidden(each) : each.thread && group.threads.includes(each.thread);
	const last = beside[beside.length - 1], end = last.isOpen ? tracks.all.findLast((each) => isInside(each, last)) || last : last;

	return {before, y: before ? before.y : end.y + end.h};
}

function dropEnd() {
	carried.track = null;
	carried.moves = false;
	byId("drop").hidden = true;
}

/** @param {PointerEvent} event */
function dropMove(event) {
	const box = byId("labels").getBoundingClientRect(), y = event.clientY - box.top;

	if (!carried.track || (!carried.moves && Math.abs(event.clientY - carried.y) < DROP_AFTER))
		return;
	if (!carried.moves)
		byId("labels").setPointerCapture(event.pointerId);
	carried.moves = true;
	if (y < 20 || y > box.height - 20)
		byId("scroll").scrollBy(0, y < 20 ? -20 : 20);
	const place = dropPlace(carried.track, y + screen.scrollY), drop = byId("drop");
	carried.before = place.before;
	drop.hidden = false;
	drop.style.transform = `translateY(${place.y - screen.scrollY - 2}px)`;
	event.preventDefault();
}

export function dragNames() {
	const box = byId("labels");

	box.addEventListener("pointerdown", (event) => {
		const label = labelPool.find(({row}) => row.contains(/** @type {Node} */ (event.target)));
		const {track} = label || {};
		if (event.button === 0 && event.pointerType !== "touch" && trackKey(track) && rowsBeside(track).includes(track))
			Object.assign(carried, {track, y: event.clientY, moves: false});
	});
	box.addEventListener("pointermove", dropMove);
	box.addEventListener("pointerup", () => {
		const {track, moves, before} = carried;
		if (moves) // what follows is no click on the name
			box.addEventListener("click", (click) => click.stopPropagation(), {capture: true, once: true});
		dropEnd();
		if (moves && before !== track)
			moveRow(trackKey(track), trackKey(before));
	});
	box.addEventListener("pointercancel", dropEnd);
}

// ---- the address: hide=3,idle,name%3Aio_*&move=17:3,5:&open=idle,procs ----

export function arrangedAddress() {
	const parts = [];

	if (tracks.hidden.size)
		parts.push(`hide=${[...tracks.hidden].map(encodeURIComponent).join(",")}`);
	if (tracks.moved.length)
		parts.push(`move=${tracks.moved.map((pair) => pair.map(encodeURIComponent).join(":")).join(",")}`);
	if (tracks.opened.size)
		parts.push(`open=${[...tracks.opened].map(encodeURIComponent).join(",")}`);
	return parts;
}

/** @param {Map<string, string>} asked @returns {Pick<Tracks, "hidden" | "moved" | "opened">} */
export function arrangedRead(asked) {
	const hidden = (asked.get("hide") || "").split(",").map(decoded).filter((key) => key && key !== HIDDEN_KEY);
	const moved = (asked.get("move") || "").split(",").map((pair) => pair.split(":").map(decoded)).filter((pair) => pair.length === 2 && pair[0]);
	const opened = (asked.get("open") || "").split(",").map(decoded).filter((key) => key);

	return {hidden: new Set(hidden), opened: new Set(opened), moved: /** @type {[string, string][]} */ (moved.slice(-MOVES_MAX))};
}

// What is said of a selection whose thread is hidden; "" of others.
/** @param {Chosen | null} sel */
export function hiddenText(sel) {
	const track = selectionTrack(sel), idx = sel && !track ? selectionThread(sel) : -1;

	if (track && isTrackHidden(track))
		return `Its track is hidden${tracks.guest === track ? ", and shown as long as this is selected" : ""}.`;
	if (idx < 0 || !isHidden(trace.threads[idx]))
		return "";
	return `Its thread is hidden${tracks.guest === idx ? ", and shown as long as this is selected" : ""}.`;
}

/** @param {Chosen | null} sel */
export function hiddenView(sel) {
	const said = hiddenText(sel), track = selectionTrack(sel);

	return said ? el("p", {class: "dim"}, `${said} `, el("button", {type: "button", onclick: () => track ? showTrack(track) : showThread(trace.threads[selectionThread(sel)])},
		"Show it again")) : null;
}
