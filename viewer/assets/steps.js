// steps.js - what was seen and chosen before: undo and redo, and the way from one selection to the next.
//
// A step is what there was before a change: the visible time, the range, the selection and its trail, and how threads are arranged: their
// order, the filter, what is hidden, moved, kept at the top or unfolded.  The trail has the
// selections that led to the present one, by `[`, `]` and the links in the details: what is chosen otherwise has none.

import {arrangedShow} from "./arrange.js";
import {text} from "./data.js";
import {taskName} from "./details.js";
import {fiberLabel} from "./fibers.js";
import {byId, cutText, duration, el} from "./format.js";
import {stateName} from "./palette.js";
import {parkLabel, setText, trace} from "./rows.js";
import {scrollToSelection, select, selectionSet, selectionThread} from "./select.js";
import {timeOf} from "./times.js";
import {tracks} from "./tracks.js";
import {view, viewChanged, viewSet} from "./view.js";

export const UNDO_MAX = 200, TRAIL_MAX = 20;
const STEP_JOINS_MS = {move: 500, filter: Infinity, choice: 0}; // those of a kind that follow each other so fast are one step

const stepLast = {kind: "", at: 0, inTurn: false};

/** @returns {Step} */
function stepNow() {
	const {hidden, moved, pinned, opened, sort, filter, annotations} = tracks;

	return {t0: view.t0, t1: view.t1, range: view.range, selection: view.selection, trail: view.trail,
		arranged: {hidden, moved, pinned, opened, sort, filter, annotations}};
}

/** @param {Chosen | null | undefined} a @param {Chosen | null} b */
function isSameChosen(a, b) {
	return a === undefined || a === b || Boolean(a && b && a.kind === b.kind && a.id === b.id);
}

/** @param {Arranged | undefined} a @param {Arranged} b */
function isSameArranged(a, b) {
	return !a || /** @type {(keyof Arranged)[]} */ (Object.keys(a)).every((key) => a[key] === b[key]);
}

/** @param {Step} a @param {Step} b */
function isSameStep(a, b) {
	return isSameArranged(a.arranged, b.arranged) && a.t0 === b.t0 && a.t1 === b.t1 && isSameChosen(a.selection, b.selection) &&
		(a.range && a.range.t0) === (b.range && b.range.t0) && (a.range && a.range.t1) === (b.range && b.range.t1);
}

// Before a change.  All that one key or click does is one step; so are moves that follow each other fast, and what is typed into the filter
// until it is left.  "choice" is a step of its own.
/** @param {"move" | "filter" | "choice"} kind */
export function stepAdd(kind = "move") {
	const now = performance.now(), goesOn = kind !== "choice" && stepLast.kind === kind && now - stepLast.at <= STEP_JOINS_MS[kind];

	if (!stepLast.inTurn && !goesOn) {
		view.before.push(stepNow());
		if (view.before.length > UNDO_MAX)
			view.before.shift();
		view.after = [];
	}
	if (!stepLast.inTurn) {
		stepLast.kind = kind;
		stepLast.inTurn = true;
		queueMicrotask(() => { stepLast.inTurn = false; });
	}
	stepLast.at = now;
}

/** @param {Step} was */
function stepShow(was) {
	view.range = was.range;
	viewSet(was.t0, was.t1, false);
	if (!isSameArranged(was.arranged, tracks)) {
		Object.assign(tracks, was.arranged);
		arrangedShow();
	}
	if (was.selection !== undefined && !isSameChosen(was.selection, view.selection)) {
		selectionSet(was.selection, true);
		if (view.selection)
			scrollToSelection();
	}
	view.trail = was.trail || [];
	viewChanged("selection");
}

// Takes a step back, or forth again.
/** @param {Step[]} from @param {Step[]} to */
function stepTake(from, to) {
	const now = stepNow();
	let was = from.pop();

	// A press that changed nothing left no step.
	while (was && isSameStep(was, now))
		was = from.pop();
	if (!was)
		return;
	to.push(now);
	stepLast.kind = "";
	stepShow(was);
}

export function undo() {
	stepTake(view.before, view.after);
}

export function redo() {
	stepTake(view.after, view.before);
}

// What is typed from now on is another step.
export function stepEnd() {
	stepLast.kind = "";
}

// The buttons that do so; each is off where there is nothing to take back, or to do again.
export function stepsDraw() {
	const now = stepNow(), differs = (/** @type {Step | undefined} */ was) => !isSameStep(was, now);

	for (const [id, steps] of /** @type {const} */ ([["undo", view.before], ["redo", view.after]])) {
		const button = /** @type {HTMLButtonElement} */ (byId(id)), off = steps.findLast(differs) === undefined;
		if (off && document.activeElement === button)
			byId("canvases").focus({preventScroll: true}); // a button that is off keeps no keys
		button.disabled = off;
	}
}

// ---- the way to the selection ----

// What led to a selection that is chosen now: "new", "kept" as what led to the one before, or the one before has "led" to it.
/** @param {Chosen | null} sel @param {"new" | "kept" | "led"} how */
export function trailTo(sel, how) {
	const {selection, trail} = view;

	if (!sel || (how === "new" && !isSameChosen(sel, selection)))
		return [];
	if (how !== "led" || !selection || isSameChosen(sel, selection))
		return trail;
	const way = [...trail, {kind: selection.kind, id: selection.id}], at = way.findIndex((each) => isSameChosen(sel, each));
	return at >= 0 ? way.slice(0, at) : way.slice(-TRAIL_MAX);
}

// Back to where one came from.
/** @param {number} [at] */
export function trailBack(at = view.trail.length - 1) {
	if (view.trail[at])
		select(view.trail[at], {how: "led"});
}

// What a thread did: its wait or another state, and how long.
/** @param {Chosen} sel */
export function chosenState(sel) {
	const i = sel.id - 1;

	return sel.kind === "park" ? parkLabel(sel.id) : `${stateName[trace.states.v[i] & 127]} ${duration(timeOf(trace.states.s, i + 1) - timeOf(trace.states.s, i))}`;
}

// A selection in a few words.
/** @param {Chosen} sel */
function chosenName(sel) {
	const i = sel.id - 1, idx = selectionThread(sel), thread = idx >= 0 ? trace.threads[idx].label : "";

	switch (sel.kind) {
	case "park": case "iv": return `${thread}: ${chosenState(sel)}`;
	case "task": return `task ${taskName(sel.id)}`;
	case "tasktype": return `tasks ${text(sel.id)}`;
	case "region": return `${thread}: region ${text(trace.region.type[i]) || "(no type)"}`;
	case "labels": return `${thread}: ${setText(trace.under.set[i])}`;
	case "fiber": return fiberLabel(sel.id);
	case "fiberrun": return `run of ${fiberLabel(trace.frun.fiber[i])}`;
	case "fiberwait": return `wait of ${fiberLabel(trace.fwait.fiber[i])}`;
	case "thread": return thread;
	case "unlock": return `${thread}: unlock`;
	case "cpu": return `${thread} on a proc`;
	default: return thread ? `${thread}: ${sel.kind}` : sel.kind;
	}
}

const TRAIL_SHOWN = 5, TRAIL_CHARACTERS = 28;

export function trailDraw() {
	const box = byId("trail"), {trail} = view, first = Math.max(1, trail.length - TRAIL_SHOWN + 1), parts = /** @type {(string | HTMLElement)[]} */ ([]);

	box.hidden = !trail.length || !view.selection || Boolean(view.range);
	if (box.hidden)
		return;
	trail.forEach((sel, at) => {
		const name = chosenName(sel);
		if (at && at < first)
			return;
		parts.push(at ? " › " : "", at === first && first > 1 ? "… › " : "", el("button", {type: "button", class: "link",
			title: `Back to ${name}${at === trail.length - 1 ? " (Backspace)" : ""}`, onclick: () => trailBack(at)}, cutText(name, TRAIL_CHARACTERS)));
	});
	box.replaceChildren(...parts.filter((part) => part), " › ", el("b", {}, cutText(chosenName(view.selection), TRAIL_CHARACTERS)));
}
