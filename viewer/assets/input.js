// input.js - mouse, wheel and keyboard.

import {addressWrite} from "./address.js";
import {dragNames, hideChosen, moveChosen, pinChosen} from "./arrange.js";
import {drawMoved, drawOverlaySoon, screen} from "./draw.js";
import {copyText, viewLink} from "./export.js";
import {byId, el, upperBound} from "./format.js";
import {groupToggle} from "./groups.js";
import {laneEnd, laneStart} from "./levels.js";
import {hover} from "./overlay.js";
import {panelCommands} from "./panel.js";
import {pathHas} from "./paths.js";
import {procsToggle} from "./procs.js";
import {trace} from "./rows.js";
import {searchWalk} from "./search.js";
import {pick, pickNext, select, selectCause, selectEffect, selectNeighbour, selectThread,
	selectionSpan, selectionThread} from "./select.js";
import {redo, stepAdd, stepEnd, trailBack, undo} from "./steps.js";
import {timeAbove} from "./times.js";
import {tipDraw, tipHide, tipLeaves} from "./tip.js";
import {highlight} from "./tops.js";
import {isFold, trackIndexAt, trackLanes, tracks, tracksLayout} from "./tracks.js";
import {MIN_SPAN, timeAt, view, viewAll, viewChanged, viewPan, viewSet, viewZoom} from "./view.js";
import {whenInit} from "./when.js";

export const drag = {mode: null, x: 0, y: 0, t0: 0, t1: 0, scroll: 0, moved: false, at: 0, zooms: false}; // zooms: a range that is dragged is shown, and not selected

/** @param {TimeRange | null} range */
export function rangeSet(range, remember = true) {
	if (remember)
		stepAdd("choice");
	view.range = range && {t0: Math.round(range.t0), t1: Math.round(range.t1)}; // whole nanoseconds, as all that is summed in it
	viewChanged("range-selection");
}

// F: the range or the selection fills the view; pressed again, to the edges.
export function zoomToSelection() {
	const span = view.range ? {from: view.range.t0, until: view.range.t1}
		: view.selection && selectionSpan(view.selection);

	if (!span)
		return;
	const length = Math.max(span.until - span.from, MIN_SPAN);
	const margin = length * 0.25;
	const t0 = Math.max(trace.begin, span.from - margin), t1 = Math.min(trace.span, span.from + length + margin);
	if (Math.abs(view.t0 - t0) + Math.abs(view.t1 - t1) < length / 1000)
		viewSet(span.from, span.from + length);
	else
		viewSet(t0, t1);
}

function localX(event) {
	return event.clientX - byId("canvases").getBoundingClientRect().left;
}

function localY(event) {
	return event.clientY - byId("canvases").getBoundingClientRect().top;
}

function hoverAt(event) {
	hover.x = localX(event);
	hover.y = localY(event);
	hover.hit = pick(hover.x, hover.y);
	tipDraw(hover.hit, event.clientX, event.clientY);
	byId("canvases").classList.toggle("hit", Boolean(hover.hit || foldAt(hover.x, hover.y)));
	drawOverlaySoon();
}

function hoverEnd() {
	hover.x = -1;
	hover.hit = null;
	tipDraw(null);
	drawOverlaySoon();
}

// ---- the wheel ----

function wheelZoom(event) {
	const lines = event.deltaMode === 1 ? 33 : event.deltaMode === 2 ? 400 : 1;
	const delta = Math.max(-400, Math.min(400, (event.deltaY || event.deltaX) * lines));

	// A pinch comes as many small steps with ctrlKey set.  Beside the timeline there is no time at the pointer.
	const x = localX(event);
	viewZoom(Math.pow(2, delta / (event.ctrlKey && Math.abs(delta) < 40 ? 60 : 240)), x <= view.width ? Math.max(0, x) : undefined);
}

// Over the panel and the details Ctrl zooms the timeline, too: not the browser's page.
function onWheelElsewhere(event) {
	if (!(event.ctrlKey || event.metaKey) || event.defaultPrevented || event.target.closest("dialog"))
		return;
	wheelZoom(event);
	event.preventDefault();
}

// Ctrl (or Meta) zooms, Shift pans.  Without them the wheel scrolls the threads, or zooms where
// there is nothing to scroll.
function onWheel(event) {
	const scrolls = tracks.height > screen.height + 1 && byId("scroll").contains(event.target);
	const sideways = Math.abs(event.deltaX) > Math.abs(event.deltaY);

	if (event.ctrlKey || event.metaKey) {
		wheelZoom(event);
	} else if (event.shiftKey || sideways) {
		viewPan((event.deltaX || event.deltaY) / view.width * (event.deltaMode ? 33 : 1));
	} else if (!scrolls) {
		wheelZoom(event);
	} else {
		return; // the browser scrolls
	}
	event.preventDefault();
}

// ---- edges that a range snaps to ----

const SNAP = 6; // CSS pixels

// The edges of a lane's intervals beside a time.
/** @param {Lane} lane @param {number} time */
function laneEdges(lane, time) {
	const i = timeAbove(lane.s, lane.lo, lane.hi, time), edges = [];

	for (let k = Math.max(lane.lo, i - 2); k < Math.min(lane.hi, i + 1); k++)
		edges.push(laneStart(lane, k), laneEnd(lane, k));
	return edges;
}

// Times at a point of the tracks' area that something begins or ends at.
/** @param {number} x @param {number} y */
function edgesAt(x, y) {
	const track = y >= 0 && tracks.all[trackIndexAt(y + screen.scrollY)], time = timeAt(x);
	const span = view.selection && selectionSpan(view.selection), edges = [trace.begin, trace.span];

	if (span)
		edges.push(span.from, span.until);
	if (!track)
		return edges;
	const inside = y + screen.scrollY - track.y;
	for (const {lane, y: top, h} of trackLanes(track))
		if (inside >= top && inside <= top + h)
			edges.push(...laneEdges(lane, time));
	if (track.kind === "counter") {
		const i = upperBound(track.at, 0, track.at.length, time);
		edges.push(...track.at.slice(Math.max(0, i - 1), i + 1));
	}
	return edges;
}

// The nearest of them, if it is near; else the time at the pointer.
function snapped(event) {
	const x = localX(event), time = timeAt(x), slack = (view.t1 - view.t0) / view.width * SNAP;
	const off = (edge) => Math.abs(edge - time);
	const edge = event.altKey ? time : edgesAt(x, localY(event)).reduce((a, b) => off(b) < off(a) ? b : a);

	return Math.min(Math.max(off(edge) <= slack ? edge : time, trace.begin), trace.span);
}

// ---- dragging ----

function dragStart(event, mode) {
	if (event.button !== 0 && event.button !== 1)
		return;
	Object.assign(drag, {mode, x: event.clientX, y: event.clientY, t0: view.t0, t1: view.t1,
		scroll: byId("scroll").scrollTop, moved: false, at: mode === "range" ? snapped(event) : timeAt(localX(event))});
	event.currentTarget.setPointerCapture(event.pointerId);
	byId("canvases").focus({preventScroll: true});
	stepAdd("choice");
}

function dragMove(event) {
	const dx = event.clientX - drag.x, dy = event.clientY - drag.y;

	if (!drag.mode)
		return false;
	if (Math.abs(dx) + Math.abs(dy) > 4)
		drag.moved = true;
	if (!drag.moved)
		return true;
	if (drag.mode === "pan") {
		const by = dx / view.width * (drag.t1 - drag.t0);
		viewSet(drag.t0 - by, drag.t1 - by, false);
		byId("scroll").scrollTop = drag.scroll - dy;
	} else if (drag.mode === "range") {
		const now = snapped(event);
		rangeSet({t0: Math.min(drag.at, now), t1: Math.max(drag.at, now)}, false);
	}
	return true;
}

function dragEnd(event) {
	const mode = drag.mode;

	drag.mode = null;
	if (mode === "pan" && !drag.moved) {
		view.range = null;
		const hit = pickNext(pick(localX(event), localY(event)));
		const fold = foldAt(localX(event), localY(event));
		if (fold) {
			groupToggle(fold);
			return;
		}
		const gap = hit ? null : gapAt(timeAt(localX(event)));
		select(hit || gap, {show: false, how: pathHas(hit) ? "led" : "new"});
	} else if (mode === "range" && drag.moved && drag.zooms) {
		const range = view.range;
		rangeSet(null, false);
		viewSet(range.t0, range.t1, false);
	}
}

// The line that other tracks are folded into, at a point of the tracks' area; or null.
/** @param {number} x @param {number} y */
function foldAt(x, y) {
	const track = tracks.all[trackIndexAt(y + screen.scrollY)];

	return track && isFold(track) && y >= 0 && x >= 0 && x <= view.width ? track : null;
}

// A gap at a time where nothing else is, as a selection.
/** @param {number} time */
function gapAt(time) {
	const slack = (view.t1 - view.t0) / view.width * 2;

	for (let i = 0; i < Math.min(trace.gap.n, 100000); i++)
		if (trace.gap.start[i] - slack <= time && trace.gap.end[i] + slack >= time)
			return {kind: "gap", id: i + 1};
	return null;
}

// ---- two fingers: {id -> x} of each, and the view when the second came ----

export const pinch = {at: new Map(), t0: 0, t1: 0, from: null};

function pinchBegin(event) {
	pinch.at.set(event.pointerId, localX(event));
	if (pinch.at.size !== 2)
		return false;
	drag.mode = null;
	Object.assign(pinch, {t0: view.t0, t1: view.t1, from: [...pinch.at.values()]});
	return true;
}

// The times that were under the fingers stay there.
function pinchMove(event) {
	if (!pinch.at.has(event.pointerId))
		return false;
	pinch.at.set(event.pointerId, localX(event));
	if (!pinch.from || pinch.at.size !== 2)
		return false;
	const [a, b] = [...pinch.at.values()], [from, to] = pinch.from;
	const per = (pinch.t1 - pinch.t0) / view.width;
	if (Math.abs(a - b) < 10 || (a < b) !== (from < to))
		return true;
	const scale = per * (to - from) / (b - a), t0 = pinch.t0 + from * per - a * scale;
	viewSet(t0, t0 + scale * view.width, false);
	return true;
}

function pinchEnd(event) {
	const ended = pinch.from !== null;

	pinch.at.delete(event.pointerId);
	if (!pinch.at.size)
		pinch.from = null;
	return ended;
}

function tracksPointer() {
	const box = byId("canvases");

	// Else the drag would select text, too, where some is selected beside the timeline.
	box.addEventListener("mousedown", (event) => event.preventDefault());
	box.addEventListener("pointerdown", (event) => {
		drag.zooms = false;
		if (event.pointerType === "touch" && pinchBegin(event))
			return;
		dragStart(event, event.shiftKey ? "range" : "pan");
	});
	box.addEventListener("pointermove", (event) => {
		if (pinchMove(event) || (dragMove(event) && drag.moved))
			tipDraw(null);
		else
			hoverAt(event);
	});
	box.addEventListener("pointerup", (event) => pinchEnd(event) || dragEnd(event));
	box.addEventListener("pointercancel", (event) => {
		pinchEnd(event);
		drag.mode = null;
	});
	box.addEventListener("pointerleave", hoverEnd);
	box.addEventListener("dblclick", () => zoomToSelection());
}

// On the ruler a drag zooms to what was dragged over.
function rulerPointer() {
	const ruler = byId("ruler");

	ruler.addEventListener("mousedown", (event) => event.preventDefault());
	ruler.addEventListener("pointerdown", (event) => {
		drag.zooms = !event.shiftKey;
		dragStart(event, "range");
	});
	ruler.addEventListener("pointermove", (event) => {
		if (!dragMove(event)) {
			hover.x = localX(event);
			drawOverlaySoon();
		}
	});
	ruler.addEventListener("pointerup", dragEnd);
	ruler.addEventListener("pointerleave", hoverEnd);
}

// Pixels beside an edge of the overview's window in which the edge can be dragged; the least width, to either
// side of its middle, in which the window moves as a whole.
const MAP_EDGE = 5, MAP_HOLD = 2;
const mapCursors = {left: "ew-resize", right: "ew-resize", move: "grab", choose: "crosshair"};

// What a drag on the overview does that begins at a time: "left" and "right" move an edge of the window,
// "move" all of it; outside of the window a new one is chosen.
/** @param {number} time */
function mapMode(time) {
	const pixel = (trace.span - trace.begin) / screen.width, half = (view.t1 - view.t0) / 2;
	const off = time - view.t0 - half, hold = Math.max(half - MAP_EDGE * pixel, half / 2, MAP_HOLD * pixel);

	if (half * 2 > (trace.span - trace.begin) * 0.98 || Math.abs(off) > Math.max(half, hold) + MAP_EDGE * pixel)
		return "choose";
	if (Math.abs(off) <= hold)
		return "move";
	return off < 0 ? "left" : "right";
}

function mapPointer() {
	const canvas = byId("map");
	const at = (event) => trace.begin + (event.clientX - canvas.getBoundingClientRect().left) / screen.width *
		(trace.span - trace.begin);
	let from = null, t0 = 0, t1 = 0, mode = null;

	canvas.addEventListener("mousedown", (event) => event.preventDefault());
	canvas.addEventListener("pointerdown", (event) => {
		canvas.setPointerCapture(event.pointerId);
		byId("canvases").focus({preventScroll: true});
		stepAdd("choice");
		from = at(event);
		({t0, t1} = view);
		mode = mapMode(from);
	});
	canvas.addEventListener("pointermove", (event) => {
		const now = at(event), by = now - from;
		if (from === null)
			canvas.style.cursor = mapCursors[mapMode(now)];
		else if (mode === "move")
			viewSet(t0 + by, t1 + by, false);
		else if (mode === "left")
			viewSet(Math.min(Math.max(trace.begin, t0 + by), t1 - MIN_SPAN), t1, false);
		else if (mode === "right")
			viewSet(t0, Math.min(Math.max(t1 + by, t0 + MIN_SPAN), trace.span), false);
		else if (Math.abs(by) > (trace.span - trace.begin) / screen.width * 3)
			viewSet(Math.min(from, now), Math.max(from, now), false);
	});
	canvas.addEventListener("pointerup", (event) => {
		const now = at(event), span = view.t1 - view.t0;
		if (mode === "choose" && Math.abs(now - from) <= (trace.span - trace.begin) / screen.width * 3)
			viewSet(now - span / 2, now + span / 2);
		from = null;
	});
	canvas.addEventListener("pointercancel", () => { from = null; });
}

// ---- the details' width ----

const SIDE_MIN = 200, SIDE_STEP = 20;

/** @param {number} width */
function sideSet(width) {
	const most = window.innerWidth - SIDE_MIN - 200;

	byId("main").style.setProperty("--side", width === null ? "" : `${Math.max(SIDE_MIN, Math.min(width, most))}px`);
	try {
		localStorage.setItem("trc-side", width === null ? "" : String(width));
	} catch {
		// It lasts as long as the page.
	}
}

function dividerInit() {
	const divider = byId("divider");
	let dragged = false;

	try {
		const stored = Number(localStorage.getItem("trc-side"));
		if (stored > 0)
			sideSet(stored);
	} catch {
		// As it is.
	}
	const drags = (on) => {
		dragged = on;
		divider.classList.toggle("dragged", on);
	};
	divider.addEventListener("pointerdown", (event) => {
		divider.setPointerCapture(event.pointerId);
		drags(true);
		event.preventDefault();
	});
	divider.addEventListener("pointermove", (event) => dragged && sideSet(window.innerWidth - event.clientX));
	divider.addEventListener("pointerup", () => drags(false));
	divider.addEventListener("pointercancel", () => drags(false));
	divider.addEventListener("dblclick", () => sideSet(null));
	divider.addEventListener("keydown", (event) => {
		const by = {ArrowLeft: SIDE_STEP, ArrowRight: -SIDE_STEP}[event.key];
		if (!by)
			return;
		sideSet(byId("side").getBoundingClientRect().width + by);
		event.preventDefault();
		event.stopPropagation();
	});
}

// ---- keys: [keys, what it does, action] ----

const PAN = 0.15, ZOOM = 0.7;

/** @type {Command[]} */
const commands = [
	["w", "zoom in at the pointer", () => viewZoom(ZOOM, hover.x >= 0 ? hover.x : undefined)],
	["s", "zoom out", () => viewZoom(1 / ZOOM, hover.x >= 0 ? hover.x : undefined)],
	["a ArrowLeft", "move left", () => viewPan(-PAN)],
	["d ArrowRight", "move right", () => viewPan(PAN)],
	["ArrowUp", "scroll up", () => byId("scroll").scrollBy(0, -60)],
	["ArrowDown", "scroll down", () => byId("scroll").scrollBy(0, 60)],
	["PageUp", "scroll up a page", () => byId("scroll").scrollBy(0, -screen.height * 0.9)],
	["PageDown", "scroll down a page", () => byId("scroll").scrollBy(0, screen.height * 0.9)],
	["0 Home", "show the whole trace", viewAll],
	["f", "zoom to the selection; again: to its edges", zoomToSelection],
	["r", "the selected event's time as a range; of none what is visible", rangeOfSelection],
	[", .", "previous and next event of the thread", null],
	[",", null, () => selectNeighbour(-1)],
	[".", null, () => selectNeighbour(1)],
	["j k", "the next and the previous thread, at that time", null],
	["j", null, () => selectThread(1)],
	["k", null, () => selectThread(-1)],
	["[", "against the arrow: what the waker waited for; of a fiber, its previous run", selectCause],
	["]", "along the arrow: what this thread woke next; of a fiber, its next run", selectEffect],
	["o", "unfold or fold the procs: who ran where, the run queue", procsToggle],
	["p", "keep the track whose name has the focus, or that of the selection, at the top", pinChosen],
	["Delete", "hide the track or group whose name has the focus, or that of the selection; show it again if it is hidden", hideChosen],
	["Ctrl+ArrowUp Ctrl+ArrowDown", "move it up and down", null],
	["Ctrl+ArrowUp", null, () => moveChosen(-1)],
	["Ctrl+ArrowDown", null, () => moveChosen(1)],
	["i", "what is known of the selected thread", selectWholeThread],
	["e", "into the details: arrows lead from button to button", detailsEnter],
	["u", "choose the order of threads", () => byId("sort").focus()],
	["x", "filter the threads", () => byId("filter").select()],
	["/", "search; @1.25s: what each thread did then", () => byId("search").select()],
	["m", "type a range of time: 1.2s..1.35s, 1.2s..+80ms, 11:47:52.2..+300ms", () => byId("when").select()],
	["n", "next match (Shift: previous)", () => searchWalk(1)],
	["N", null, () => searchWalk(-1)],
	["Backspace", "back to what led to the selection", () => trailBack()],
	["Ctrl+z", "undo a change of what is seen, selected, sorted, filtered or folded", undo],
	["Ctrl+Z Ctrl+y", "redo it", redo],
	["Escape", "clear the range, then the selection", clear],
];

// With those of the panel, whose tabs are known when the head is there.
/** @returns {Command[]} */
function commandsAll() {
	return [...commands, ...panelCommands(), ["?", "this help", helpOpen]];
}

function rangeOfSelection() {
	const span = view.selection ? selectionSpan(view.selection) : {from: view.t0, until: view.t1};

	if (span && span.until > span.from)
		rangeSet({t0: span.from, t1: span.until});
}

function selectWholeThread() {
	const idx = view.selection ? selectionThread(view.selection) : -1;

	if (idx >= 0)
		select({kind: "thread", id: idx + 1}, {show: false});
}

// To the first button of the details, or of the tables below.
function detailsEnter() {
	byId("side").querySelector("button")?.focus();
}

// Arrows lead from button to button beside the timeline, as Tab does.
function sideKeys() {
	byId("side").addEventListener("keydown", (event) => {
		const all = [...byId("side").querySelectorAll("button")].filter((each) => each.checkVisibility() && !each.matches(".icon"));
		const at = all.findIndex((each) => each === document.activeElement), to = {ArrowUp: at - 1, ArrowDown: at + 1}[event.key];
		if (at < 0 || to === undefined || event.ctrlKey || event.altKey || event.metaKey)
			return;
		event.preventDefault();
		event.stopPropagation();
		all[to]?.focus();
	});
}

// From the order and the filter of threads back to the timeline.
function cornerKeys() {
	byId("corner").addEventListener("keydown", (event) => {
		const clears = event.target === byId("filter") && byId("filter").value !== ""; // the browser's Escape
		if (event.key !== "Enter" && (event.key !== "Escape" || clears))
			return;
		byId("canvases").focus({preventScroll: true});
		event.preventDefault();
		event.stopPropagation();
	});
}

function clear() {
	if (view.range)
		rangeSet(null);
	else if (view.highlighted !== null)
		highlight(null);
	else
		select(null);
}

function onKey(event) {
	const target = event.target;

	if (event.altKey || target.closest("input, select, textarea, dialog"))
		return;
	const ctrl = event.ctrlKey || event.metaKey;
	const name = (ctrl ? "Ctrl+" : "") + event.key;
	const find = (wanted) => commandsAll().find(([keys, , action]) =>
		action && keys.split(" ").includes(wanted));
	// Letters work in both cases unless Shift gives them another meaning.
	const command = find(name) || (ctrl ? undefined : find(event.key.toLowerCase()));
	if (!command)
		return;
	event.preventDefault();
	tipHide(); // what it is of may be elsewhere now
	command[2]();
}

const mouseHelp = [
	["Wheel", "scroll threads; zoom when all of them are visible, or over ruler and overview"],
	["Ctrl+wheel, pinch", "zoom at the pointer; over the details in the middle"],
	["Shift+wheel", "move left and right"],
	["Drag", "move; on the ruler: zoom to what is dragged over; on the overview: move the window or its edges"],
	["Shift+drag", "select a range and sum its states; its ends snap to edges, with Alt they do not"],
	["Click, double click", "details; zoom to it"],
	["Click on a folded line", "show the threads or procs in it, or fold them again"],
	["Click on a thread's name", "what is known of the thread"],
	["Drag a thread's name", "move it, or a group, to another place"],
	["Click on the legend", "highlight a state"],
	["In the flame graph", "a click shows a function in full width; a double click its callers and callees"],
];

// A key as it stands on the keyboard.
export function keyName(key) {
	const named = {ArrowLeft: "←", ArrowRight: "→", ArrowUp: "↑", ArrowDown: "↓",
		"Ctrl+Z": "Ctrl+Shift+Z", "Ctrl+ArrowUp": "Ctrl+↑", "Ctrl+ArrowDown": "Ctrl+↓"}[key];

	return named || key.replace(/(^|\+)([a-z])$/, (_, plus, letter) => plus + letter.toUpperCase());
}

function helpOpen() {
	const keys = el("tbody"), mouse = el("tbody");
	const dialog = byId("help");

	for (const [names, what] of commandsAll())
		if (what)
			keys.append(el("tr", {}, el("th", {scope: "row"},
				...names.split(" ").flatMap((k) => [el("kbd", {}, keyName(k)), " "])), el("td", {}, what)));
	for (const [how, what] of mouseHelp)
		mouse.append(el("tr", {}, el("th", {scope: "row"}, how), el("td", {}, what)));
	dialog.replaceChildren(el("h2", {}, "Keyboard and mouse"),
		el("div", {class: "columns"}, el("table", {}, keys), el("div", {}, el("table", {}, mouse),
			el("p", {}, "Arrows lead from the thread that ended a wait to the one that waited; a dashed " +
				"line leads to the thread that held the lock."),
			el("p", {}, "Red at the lower edge of a track: waits for locks that are too short to be seen " +
				"at this zoom; the more of the time, the higher."),
			el("p", {}, "The address holds what is shown and selected: copy it to share it."))),
		el("button", {type: "button", onclick: () => dialog.close()}, "Close"));
	dialog.showModal();
	dialog.scrollTop = 0;
}

export function inputInit() {
	byId("timeline").addEventListener("wheel", onWheel, {passive: false});
	byId("app").addEventListener("wheel", onWheelElsewhere, {passive: false});
	byId("scroll").addEventListener("scroll", () => {
		addressWrite();
		tipHide();
		drawMoved();
	});
	tipLeaves();
	tracksPointer();
	rulerPointer();
	mapPointer();
	dividerInit();
	dragNames();
	sideKeys();
	cornerKeys();
	whenInit();
	document.addEventListener("keydown", onKey);
	byId("zoom-in").addEventListener("click", () => viewZoom(0.5));
	byId("zoom-out").addEventListener("click", () => viewZoom(2));
	byId("zoom-fit").addEventListener("click", viewAll);
	byId("link-copy").addEventListener("click", () => copyText(viewLink(), byId("link-copy")));
	byId("help-open").addEventListener("click", helpOpen);
	byId("undo").addEventListener("click", undo);
	byId("redo").addEventListener("click", redo);
	byId("sort").addEventListener("change", () => {
		stepAdd("choice");
		tracks.sort = byId("sort").value;
		tracksLayout();
		viewChanged("tracks");
	});
	byId("annotations").addEventListener("change", () => {
		stepAdd("choice");
		tracks.annotations = byId("annotations").checked;
		tracksLayout();
		viewChanged("tracks");
	});
	/** @param {string} string @param {"filter" | "choice"} step */
	const filter = (string, step) => {
		stepAdd(step);
		tracks.filter = string;
		tracks.guest = null;
		tracksLayout();
		viewChanged("tracks");
	};
	byId("filter").addEventListener("input", () => filter(byId("filter").value, "filter"));
	byId("filter").addEventListener("change", stepEnd); // it is left
	byId("nothing-all").addEventListener("pointerdown", (event) => event.stopPropagation()); // no drag
	byId("nothing-all").addEventListener("click", () => {
		byId("filter").value = "";
		filter("", "choice"); // neither of what was typed before nor of what is typed then
	});
}
