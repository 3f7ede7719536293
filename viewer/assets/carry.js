// carry.js - what is seen and chosen, carried over to a newer page of the same process: trace-view follows one, with a new page
// each second (viewer/serve/frame.js).
//
// Carried times are those of the recording, since each page has another begin.  A row has another id in each page.  It is known
// again by its thread and its time, to some microseconds: each snapshot reads the clocks anew.

import {addressApply, addressText, selectionName, selectionNamed} from "./address.js";
import {counterChosen, counterPlace, isCounterKind} from "./counters.js";
import {head} from "./data.js";
import {drawAll} from "./draw.js";
import {byId, upperBound} from "./format.js";
import {drag, pinch} from "./input.js";
import {procTracks, schedKnown, schedTell} from "./procs.js";
import {trace} from "./rows.js";
import {resultsShow, search, searchSet} from "./search.js";
import {select, selectionAt, selectionSpan, selectionThread} from "./select.js";
import {waitStarts} from "./states.js";
import {stepsDraw, trailDraw} from "./steps.js";
import {highlight} from "./tops.js";
import {threadOrders, tracks} from "./tracks.js";
import {view, viewSet} from "./view.js";

const CARRY_SLACK = 50000; // nanoseconds
const CARRY_BUSY_MS = 700; // after the last key or click the page is not replaced

const carry = {pressed: false, at: -CARRY_BUSY_MS};

// Somebody is about to do something, which a new page would interrupt.
export function carryIsBusy() {
	const typing = document.activeElement && document.activeElement.closest("textarea");

	return carry.pressed || drag.mode !== null || pinch.at.size > 0 || Boolean(typing) || Boolean(document.querySelector("dialog[open]")) ||
		performance.now() - carry.at < CARRY_BUSY_MS;
}

export function carryInit() {
	const seen = (pressed) => {
		carry.pressed = pressed;
		carry.at = performance.now();
	};

	for (const type of ["pointerdown", "pointerup", "pointercancel", "keydown", "input", "wheel"])
		document.addEventListener(type, (event) => seen(type === "pointerdown" && /** @type {PointerEvent} */ (event).button === 0),
			{capture: true, passive: true});
	// A menu may have taken the release.
	document.addEventListener("pointermove", ({buttons}) => {
		if (!buttons)
			carry.pressed = false;
	}, {capture: true, passive: true});
}

// ---- rows ---------------------------------------------------------------------------------

// Of these the name in the address is the same in each page.
const carriedByName = ["thread", "task", "tasktype", "fiber"];

// kind -> its rows, and whose each is.
function carriedRows(kind) {
	if (kind === "cpu")
		schedTell();
	const rows = {park: trace.park, unlock: trace.unlock, region: trace.region, labels: trace.under, cpu: trace.cpu, log: trace.log,
		mark: trace.mark, sample: trace.sample, fiberrun: trace.frun, fiberwait: trace.fwait, gap: trace.gap}[kind];

	return rows && {n: rows.n, start: kind === "park" ? waitStarts(trace.park.when) : rows.start || rows.time, length: rows.length, end: rows.end,
		owner: kind === "gap" ? rows.proc : rows.thread};
}

function carriedEnd(rows, i) {
	return rows.end ? rows.end[i] : rows.start[i] + (rows.length ? rows.length[i] : 0);
}

// What is selected, without an id of this page's; `open`: it may go on behind the page's end.
function selectionOut(sel) {
	const span = selectionSpan(sel);

	if (carriedByName.includes(sel.kind))
		return {kind: sel.kind, name: selectionName(sel)};
	if (isCounterKind(sel.kind))
		return {kind: sel.kind, owner: counterPlace(sel).track.name, from: span.from + head.start_ns, until: span.until + head.start_ns,
			open: span.until >= trace.span};
	const idx = selectionThread(sel);
	const owner = sel.kind === "gap" ? trace.gap.proc[sel.id - 1] : idx >= 0 ? trace.threads[idx].serial : 0;
	return {kind: sel.kind, owner, from: span.from + head.start_ns, until: span.until + head.start_ns,
		open: span.until >= trace.span};
}

// The row that is nearest to what was selected, in begin and end; what began before this page is as long as the page has it.
function rowNear(kind, was, owner) {
	const rows = carriedRows(kind), from = Math.max(was.from - head.start_ns, trace.begin), until = was.until - head.start_ns;
	let best = 0, least = 2 * CARRY_SLACK;

	for (let i = 0; rows && i < rows.n; i++) {
		if (rows.owner[i] !== owner)
			continue;
		const off = Math.abs(Math.max(rows.start[i], trace.begin) - from) +
			(was.open ? 0 : Math.abs(carriedEnd(rows, i) - until));
		if (off < least) {
			best = i + 1;
			least = off;
		}
	}
	return best;
}

// The value that a counter of that name has when the one before began.
function counterIn(was) {
	const all = was.kind === "counter" ? trace.counters : schedKnown() ? procTracks() : [];
	const track = all.find((one) => one.hitKind === was.kind && one.name === was.owner);
	const i = track ? upperBound(track.at, 0, track.at.length, Math.max(was.from - head.start_ns, trace.begin) + CARRY_SLACK) - 1 : -1;

	return i >= 0 ? counterChosen(track, i) : null;
}

// The selection in this page; null = it has no such thing.
function selectionIn(was) {
	if (was.name !== undefined)
		return selectionNamed(was.kind, was.name);
	if (isCounterKind(was.kind))
		return counterIn(was);
	const idx = trace.threads.findIndex((t) => t.serial === was.owner);
	if (was.kind !== "gap" && idx < 0)
		return null;
	if (was.kind === "iv") {
		const from = Math.max(was.from - head.start_ns, trace.begin), until = Math.min(was.until - head.start_ns, trace.span);
		return trace.threads[idx].lane.hi > trace.threads[idx].lane.lo ? selectionAt(idx, (from + until) / 2) : null;
	}
	const id = rowNear(was.kind, was, was.kind === "gap" ? was.owner : idx + 1);
	return id ? {kind: was.kind, id} : null;
}

// ---- the page ------------------------------------------------------------------------------

function spanOut([from, until]) {
	return [from + head.start_ns, until + head.start_ns];
}

function spanIn([from, until]) {
	return [from - head.start_ns, until - head.start_ns];
}

// Without what was selected then: to know it again costs too much for each step.
/** @param {Step} was */
function stepOut({t0, t1, range, arranged}) {
	return {span: spanOut([t0, t1]), range: range && spanOut([range.t0, range.t1]), arranged: arranged && arrangedOut(arranged)};
}

/** @param {Arranged} arranged @returns {ArrangedOut} */
function arrangedOut({hidden, moved, pinned, opened, sort, filter, annotations}) {
	return {hidden: [...hidden], moved, pinned: Array.from(pinned, (by) => typeof by === "number" ? trace.threads[by].serial : by), opened: [...opened], sort, filter, annotations};
}

// How threads were arranged.  What is as in `like` is the same object: steps are told from each other by that.
/** @param {ArrangedOut} out @param {Arranged} like @returns {Arranged} */
function arrangedIn({hidden, moved, pinned, opened, sort, filter, annotations}, like) {
	const pins = pinned.map((by) => typeof by === "number" ? trace.threads.findIndex((t) => t.serial === by) : by).filter((by) => by !== -1);
	const was = {hidden: new Set(hidden), moved, pinned: new Set(pins), opened: new Set(opened), sort, filter, annotations};
	const same = (key) => JSON.stringify(was[key] instanceof Set ? [...was[key]] : was[key]) ===
		JSON.stringify(like[key] instanceof Set ? [...like[key]] : like[key]);

	return {...was, ...Object.fromEntries(Object.keys(was).filter(same).map((key) => [key, like[key]]))};
}

// Steps of another page, the last one next to what is seen.
/** @returns {Step[]} */
function stepsIn(list) {
	/** @type {Arranged} */
	let like = tracks;

	return [...list].reverse().map(({span, range, arranged}) => {
		const [t0, t1] = spanIn(span), [from, until] = range ? spanIn(range) : [0, 0];
		like = arranged ? arrangedIn(arranged, like) : like;
		return {t0, t1, range: until > from ? {t0: from, t1: until} : null, ...arranged && {arranged: like}};
	}).reverse();
}

// Up to when a newer page may begin without losing anything of this; Infinity = whenever.
function carryNeeds(isTail, selected) {
	return Math.min(isTail ? Infinity : view.t0 + head.start_ns, view.range ? view.range.t0 + head.start_ns : Infinity,
		selected && selected.until !== undefined && !selected.open ? selected.until : Infinity);
}

function focusOut() {
	const element = /** @type {HTMLInputElement} */ (document.activeElement), typed = element && element.matches("input:not([type=checkbox])");

	return element && element.id ? {id: element.id, caret: typed ? [element.selectionStart, element.selectionEnd] : null,
		typed: element.id === "when" ? element.value : null} : null; // once it is left the field has the range
}

export function carryOut() {
	const slack = (trace.span - trace.begin) * 1e-6, isTail = trace.span - view.t1 <= slack;
	const selected = view.selection && selectionOut(view.selection),
		guest = typeof tracks.guest === "number" ? trace.threads[tracks.guest] : null;
	const isPlace = (part) => /^(t|range|sel|trail)=/.test(part);

	return {
		isTail, isAll: isTail && view.t0 - trace.begin <= slack, needs: carryNeeds(isTail, selected),
		span: spanOut([view.t0, view.t1]), range: view.range && spanOut([view.range.t0, view.range.t1]), selected,
		rest: "#" + addressText().slice(1).split("&").filter((part) => !isPlace(part)).join("&"),
		trail: view.trail.map(selectionOut), before: view.before.map(stepOut), after: view.after.map(stepOut), highlighted: view.highlighted,
		guest: guest ? guest.serial : 0,
		order: [...trace.threads].sort(/** @type {(a: Thread, b: Thread) => number} */ (threadOrders.first[1])).map((thread) => [thread.serial, thread.idle]),
		scroll: byId("scroll").scrollTop, side: byId("side").scrollTop, query: byId("search").value.trim() ? search.query : "",
		only: search.only, typed: byId("search").value, focus: focusOut(),
	};
}

// Threads stay where they were, so that the eye finds them.  One that was idle and is no longer moves to the others.
function orderIn(order) {
	const rank = new Map(order.map(([serial], i) => [serial, i])), idle = new Map(order);

	for (const thread of trace.threads) {
		if (!rank.has(thread.serial))
			continue;
		const woke = idle.get(thread.serial) && !thread.idle;
		thread.idle = idle.get(thread.serial) && thread.idle;
		if (!woke)
			thread.interest = Number.MAX_SAFE_INTEGER - rank.get(thread.serial);
	}
}

// `anew`: somebody wants to see what is now, not what they had looked at.
function viewIn(was, anew) {
	const [from, until] = spanIn(was.span), length = until - from;

	if (was.isAll || anew && !was.isTail)
		viewSet(trace.begin, trace.span, false);
	else if (was.isTail)
		viewSet(trace.span - length, trace.span, false);
	else
		viewSet(from, until, false);
	view.before = stepsIn(was.before);
	view.after = stepsIn(was.after);
	const range = !anew && was.range && spanIn(was.range);
	view.range = range && range[1] > trace.begin ? {t0: Math.max(range[0], trace.begin), t1: Math.min(range[1], trace.span)} : null;
}

export function focusIn(was) {
	const element = was && byId(was.id);

	if (!element)
		return;
	element.focus({preventScroll: true});
	if (was.typed !== null)
		element.value = was.typed;
	if (was.caret)
		element.setSelectionRange(...was.caret);
	resultsShow(was.id === "search" && Boolean(search.query));
}

// Shows in this page what carryOut() has said of another one; `anew`: but for what was at a time, and in a new order.  Whether what
// was selected is here.
export function carryIn(was, anew = false) {
	if (!anew)
		orderIn(was.order);
	const guest = trace.threads.findIndex((t) => t.serial === was.guest);
	tracks.guest = guest >= 0 ? guest : null;
	addressApply(was.rest);
	viewIn(was, anew);
	const stays = was.selected && !(anew && was.selected.until !== undefined && !was.selected.open);
	const selection = stays ? selectionIn(was.selected) : null;
	select(selection, {show: false, remember: false});
	view.trail = selection ? was.trail.map(selectionIn).filter((sel) => sel) : [];
	trailDraw();
	if (was.highlighted !== null)
		highlight(was.highlighted);
	byId("search").value = was.typed;
	if (was.query)
		searchSet(was.query, was.only);
	resultsShow(false);
	byId("scroll").scrollTop = was.scroll;
	byId("side").scrollTop = was.side;
	stepsDraw();
	drawAll();
	return Boolean(selection) === Boolean(was.selected);
}
