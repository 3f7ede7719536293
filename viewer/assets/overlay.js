// overlay.js - what lies over the timeline: selection, hover, arrows, the ruler.

import {drawCounterValue, isCounterKind} from "./counters.js";
import {FONT, canvasSize, screen, textWidth} from "./draw.js";
import {selectionFiber} from "./fibers.js";
import {drawFiber, regionBoxes} from "./fibers_details.js";
import {drawLit} from "./flame_marks.js";
import {byId, duration, timePoint} from "./format.js";
import {laneEnd, laneStart} from "./levels.js";
import {theme} from "./palette.js";
import {drawPath} from "./paths.js";
import {parkEnd, parkStart, parkWake, trace} from "./rows.js";
import {selectionPlace, selectionSpan} from "./select.js";
import {TRACK_PAD, tracks} from "./tracks.js";
import {timeAt, view, xOf} from "./view.js";

export const hover = {x: -1, y: -1, hit: null};

// Where the state lane of a thread is on the screen: its top, or null if it is filtered out.
/** @param {number} idx */
export function threadTop(idx) {
	const track = tracks.byThread[idx];

	return track ? track.y - screen.scrollY + TRACK_PAD : null;
}

// The box of a selection on the screen, or null.
function boxOf(selection) {
	const span = selectionSpan(selection);
	const place = selectionPlace(selection);

	if (!span || !place || isCounterKind(selection.kind)) // which have a line
		return null;
	const x0 = xOf(span.from), x1 = xOf(span.until);
	return {x: x0, y: place.track.y - screen.scrollY + place.y, w: Math.max(x1 - x0, 1), h: place.h};
}

// The box of what was picked in a lane.
function intervalBox({item, index, track}) {
	const x = xOf(laneStart(item.lane, index));

	return {x, y: track.y - screen.scrollY + item.y, h: item.h,
		w: Math.max(xOf(laneEnd(item.lane, index)) - x, 1)};
}

/** @param {CanvasRenderingContext2D} ctx @param {string} colour @param {number} width */
export function drawBox(ctx, box, colour, width) {
	const x0 = Math.max(box.x, -4), x1 = Math.min(box.x + box.w, view.width + 4);

	if (x1 < 0 || x0 > view.width)
		return;
	ctx.strokeStyle = colour;
	ctx.lineWidth = width;
	ctx.strokeRect(x0 - width / 2, box.y - width / 2, x1 - x0 + width, box.h + width);
}

// From waker to waiter: leaves the waker's lane where it acted, arrives where the waiter runs.
/** @param {CanvasRenderingContext2D} ctx @param {number} park @param {string} colour @param {number} width */
function drawArrow(ctx, park, colour, width) {
	const waker = trace.park.waker[park - 1], wake = parkWake(park);
	const from = waker ? threadTop(waker - 1) : null, to = threadTop(trace.park.thread[park - 1] - 1);

	if (from === null || to === null || wake < 0)
		return false;
	return arrowBetween(ctx, {y: from, h: tracks.stateHeight}, {y: to, h: tracks.stateHeight}, wake, parkEnd(park),
		colour, width);
}

// From one lane at a time to another one at a later time: {y, h} of each, or null if it is not shown.
/** @param {CanvasRenderingContext2D} ctx @param {string} colour @param {number} width */
export function arrowBetween(ctx, from, to, leaves, arrives, colour, width) {
	if (!from || !to)
		return false;
	const same = from.y === to.y, down = to.y > from.y || same;
	const x0 = xOf(leaves), x1 = xOf(arrives);
	const y0 = from.y + (down && !same ? from.h : 0), y1 = to.y + (down ? 0 : to.h);
	const bend = Math.max(12, Math.min(40, Math.abs(y1 - y0) / 2)) * (down ? 1 : -1);
	ctx.strokeStyle = ctx.fillStyle = colour;
	ctx.lineWidth = width;
	ctx.beginPath();
	ctx.arc(x0, y0, width + 1.5, 0, 7);
	ctx.fill();
	ctx.beginPath();
	ctx.moveTo(x0, y0);
	if (same) // woke itself: a timer, a signal handler
		ctx.quadraticCurveTo((x0 + x1) / 2, y0 - 24, x1, y1);
	else
		ctx.bezierCurveTo(x0, y0 + bend, x1, y1 - bend, x1, y1 - (down ? 5 : -5));
	ctx.stroke();
	ctx.beginPath();
	ctx.moveTo(x1, y1);
	ctx.lineTo(x1 - 4, y1 + (down ? -7 : 7));
	ctx.lineTo(x1 + 4, y1 + (down ? -7 : 7));
	ctx.fill();
	return true;
}

// Who held the lock when the wait began: a dashed line to it.
/** @param {CanvasRenderingContext2D} ctx @param {number} park */
function drawHolder(ctx, park) {
	const holder = trace.park.holder[park - 1];
	const from = threadTop(trace.park.thread[park - 1] - 1);
	const to = holder ? threadTop(holder - 1) : null;

	if (from === null || to === null || from === to)
		return;
	const x = xOf(parkStart(park)), down = to > from;
	ctx.save();
	ctx.setLineDash([4, 3]);
	ctx.strokeStyle = theme.style.text;
	ctx.lineWidth = 1.2;
	ctx.beginPath();
	ctx.moveTo(x, from + (down ? tracks.stateHeight : 0));
	ctx.lineTo(x, to + (down ? 0 : tracks.stateHeight));
	ctx.stroke();
	ctx.setLineDash([]);
	ctx.beginPath();
	ctx.arc(x, to + (down ? 0 : tracks.stateHeight), 2.5, 0, 7);
	ctx.stroke();
	ctx.restore();
}

// The arrows of the selection; counts what it drew, for tests.
/** @param {CanvasRenderingContext2D} ctx */
function drawArrows(ctx) {
	const selection = view.selection;
	let drawn = 0;

	screen.arrows = 0;
	if (!selection)
		return;
	if (selection.kind === "park") {
		drawHolder(ctx, selection.id);
		for (const p of selection.behind.list.toReversed())
			drawn += Number(drawArrow(ctx, p, theme.style.dim, 1.2));
		drawn += Number(drawArrow(ctx, selection.id, theme.style.accent, 2));
	} else if (selection.kind === "iv" || selection.kind === "unlock") {
		for (const p of selection.woke.list)
			drawn += Number(drawArrow(ctx, p, theme.style.accent, 1.6));
	}
	if (selectionFiber(selection))
		drawn += drawFiber(ctx, selection);
	screen.arrows = drawn;
}

/** @param {CanvasRenderingContext2D} ctx */
function drawRange(ctx) {
	const range = view.range;

	if (!range)
		return;
	const x0 = xOf(range.t0), x1 = xOf(range.t1);
	ctx.fillStyle = theme.style.accent;
	ctx.globalAlpha = 0.13;
	ctx.fillRect(x0, 0, x1 - x0, screen.height);
	ctx.globalAlpha = 1;
	ctx.fillRect(Math.round(x0), 0, 1, screen.height);
	ctx.fillRect(Math.round(x1), 0, 1, screen.height);
}

export function drawOverlay() {
	const ctx = byId("over").getContext("2d");

	ctx.setTransform(screen.ratio, 0, 0, screen.ratio, 0, 0);
	ctx.clearRect(0, 0, screen.width, screen.height);
	drawRange(ctx);
	drawLit(ctx);
	if (hover.x >= 0) {
		ctx.fillStyle = theme.style.dim;
		ctx.globalAlpha = 0.5;
		ctx.fillRect(Math.round(hover.x), 0, 1, screen.height);
		ctx.globalAlpha = 1;
	}
	if (hover.hit && isCounterKind(hover.hit.kind))
		drawCounterValue(ctx, hover.hit, theme.style.text, 2);
	if (view.selection && isCounterKind(view.selection.kind))
		drawCounterValue(ctx, view.selection, theme.style.accent, 3);
	const over = hover.hit && (hover.hit.kind === "region" || hover.hit.tasks ? intervalBox(hover.hit) : boxOf(hover.hit));
	if (over)
		drawBox(ctx, over, theme.style.text, 1);
	for (const box of view.selection ? regionBoxes(view.selection) || [boxOf(view.selection)] : [])
		if (box)
			drawBox(ctx, box, theme.style.accent, 2.5);
	drawPath(ctx);
	drawArrows(ctx);
}

// ---- the ruler ----

// A step of 1, 2 or 5 times a power of ten, at least `least` nanoseconds.
function niceStep(least) {
	const power = Math.pow(10, Math.floor(Math.log10(Math.max(least, 1))));

	for (const m of [1, 2, 5, 10])
		if (m * power >= least)
			return m * power;
	return 10 * power;
}

export function drawRuler() {
	const canvas = byId("ruler"), height = 22;
	canvasSize(canvas, screen.width, height, screen.ratio);
	const ctx = canvas.getContext("2d");
	const step = niceStep((view.t1 - view.t0) / view.width * 96);

	ctx.setTransform(screen.ratio, 0, 0, screen.ratio, 0, 0);
	ctx.clearRect(0, 0, screen.width, height);
	ctx.font = FONT;
	ctx.textBaseline = "middle";
	for (let t = Math.floor(view.t0 / step) * step; t <= view.t1; t += step) {
		const x = Math.round(xOf(t));
		ctx.fillStyle = theme.style.line;
		for (let i = 1; i < 5; i++)
			ctx.fillRect(Math.round(xOf(t + step * i / 5)), height - 4, 1, 4);
		ctx.fillStyle = theme.style.dim;
		ctx.fillRect(x, height - 9, 1, 9);
		const string = timePoint(t, step);
		if (x >= -4 && x + 4 + textWidth(ctx, string) <= screen.width) // no half of it
			ctx.fillText(string, x + 4, height / 2 - 1);
	}
	if (hover.x >= 0)
		drawRulerMark(ctx, hover.x, timePoint(timeAt(hover.x), step / 50), height);
	if (view.range) {
		const middle = xOf((view.range.t0 + view.range.t1) / 2);
		drawRulerMark(ctx, Math.min(Math.max(middle, 40), view.width - 40),
			duration(view.range.t1 - view.range.t0), height);
	}
}

/** @param {CanvasRenderingContext2D} ctx @param {number} x @param {string} string @param {number} height */
function drawRulerMark(ctx, x, string, height) {
	const w = ctx.measureText(string).width + 10;
	const left = Math.min(Math.max(0, x - w / 2), view.width - w);

	ctx.fillStyle = theme.style.text;
	ctx.fillRect(left, 2, w, height - 6);
	ctx.fillStyle = theme.style.bg;
	ctx.fillText(string, left + 5, height / 2 - 1);
}
