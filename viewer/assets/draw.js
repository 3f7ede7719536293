// draw.js - the timeline itself: intervals into a pixel buffer, then text over it; a strip of rows for each track (strips.js).

import {drawCounter} from "./counters.js";
import {drawBeyond} from "./cut.js";
import {head, text} from "./data.js";
import {fiberLabel} from "./fibers.js";
import {byId, count, duration, upperBound} from "./format.js";
import {groupToPixels} from "./groups.js";
import {laneEnd, laneRange, laneStart} from "./levels.js";
import {laneCounts, laneLonger, lanePaint, paintMake} from "./lod.js";
import {drawMapWindow} from "./minimap.js";
import {drawOverlay, drawRuler} from "./overlay.js";
import {ACTIVE, stateName, theme} from "./palette.js";
import {cpuText, procsToPixels} from "./procs.js";
import {MARK_TRIGGER, setText, stackSteps, taskId, trace, waitName} from "./rows.js";
import {sampleColour} from "./samples.js";
import {MERGED, PARKED, RUNNING, refOf} from "./states.js";
import {FRAME_BUDGET_MS, strips, stripsDrawAll, stripsDrawSome} from "./strips.js";
import {waitInPage} from "./tops.js";
import {REGION_HEIGHT, SAMPLE_HEIGHT, TRACK_PAD, labelsDraw, logY, samplesY, trackLanes, tracks,
	tracksPlace, tracksVisible} from "./tracks.js";
import {timeAt, view, xOf} from "./view.js";

export const screen = {
	width: 0, height: 0, // of the tracks, CSS pixels
	ratio: 1,
	scrollY: 0,
	image: null, pixels: null,
	hatch: /** @type {CanvasPattern | null} */ (null), // of gaps
	arrows: 0, // that are drawn, for tests
	paint: null, line: null, share: null, // of one lane: what is in each column, its colours, and how much of the column is in use
	isWatched: false, // whether it follows the window's size
	scheduled: false,
	stale: /** @type {"" | "moved" | "all"} */ ("all"), // "": no more than what follows the pointer; moved: the range, the scrolled height, or what lies beside the lanes
	pathDrawn: 0, // pieces of a critical path, for tests
	bases: 0, // in how many frames lanes were drawn, for tests
	gaps: [], // [from, until], merged, in order
	gapBoxes: {t0: NaN, t1: NaN, width: 0, boxes: /** @type {number[][]} */ ([])}, // those that are visible: [x, width]
	frameTimes: [], // milliseconds; of the last frames, for measurements
};

// The least height of waits for locks in a column with other things, in pixels; of one that is alone, which
// means that there is none so many columns to the left and right: it would be overlooked.
const LOCK_LEAST = 1, LOCK_ALONE = 4, LOCK_NEAR = 2;
export const FONT = "11px system-ui, sans-serif", TEXT_HEIGHT = 12;
const MORE_PIECES = 4096; // so many pieces of a lane that tasks share have one text
const TWO_LINES = 30; // so high a lane has room for two lines above its stripes

/** @param {HTMLCanvasElement} canvas @param {number} width @param {number} height */
export function canvasSize(canvas, width, height, ratio) {
	const w = Math.max(1, Math.round(width * ratio)), h = Math.max(1, Math.round(height * ratio));

	if (canvas.width !== w || canvas.height !== h) {
		canvas.width = w;
		canvas.height = h;
	}
	canvasStyle(canvas, width, height);
}

/** @param {HTMLCanvasElement} canvas @param {number} width @param {number} height */
function canvasStyle(canvas, width, height) {
	for (const [name, value] of [["width", `${width}px`], ["height", `${height}px`]])
		if (canvas.style[name] !== value)
			canvas.style[name] = value;
}

// Sizes of everything, after the window changed.
export function screenResize() {
	const box = byId("canvases").getBoundingClientRect();

	screen.ratio = window.devicePixelRatio || 1;
	screen.width = Math.max(50, Math.floor(box.width));
	screen.height = Math.max(20, Math.floor(box.height));
	view.width = screen.width;
	canvasSize(byId("base"), screen.width, screen.height, screen.ratio);
	canvasStyle(byId("moved"), screen.width, screen.height); // its pixels are there while it is shown
	canvasSize(byId("over"), screen.width, screen.height, screen.ratio);
	const w = byId("base").width, h = byId("base").height;
	if (screen.image?.width !== w || screen.image.height !== h) {
		screen.image = new ImageData(w, h);
		screen.pixels = new Uint32Array(screen.image.data.buffer);
		screen.paint = paintMake(w);
		screen.line = new Uint32Array(w);
		screen.share = new Float32Array(w);
	}
	tracksPlace();
	byId("spacer").style.height = `${Math.max(0, tracks.height - screen.height)}px`;
}

export function gapsLoad() {
	const order = Array.from({length: trace.gap.n}, (_, i) => i)
		.sort((a, b) => trace.gap.start[a] - trace.gap.start[b]);

	for (const i of order) {
		const last = screen.gaps[screen.gaps.length - 1];
		if (last && trace.gap.start[i] <= last[1])
			last[1] = Math.max(last[1], trace.gap.end[i]);
		else
			screen.gaps.push([trace.gap.start[i], trace.gap.end[i]]);
	}
}

// Whether there is no wait for a lock in the columns beside x.
/** @param {number} x */
function lockAlone(lockRow, x) {
	for (let d = 1; d <= LOCK_NEAR; d++)
		if (lockRow[x - d] || lockRow[x + d])
			return false;
	return true;
}

// Columns with waits for locks among other things: as much of their height as these have of the time.
function locksToPixels(palette, y0, y1, bottom) {
	const {paint: {lockRow, lockShare}, pixels} = screen, w = screen.image.width;
	const whole = tracks.stateHeight * screen.ratio;

	for (let x = 0; x < w; x++) {
		if (!lockRow[x] || lockShare[x] >= 1)
			continue;
		const colour = palette[lockRow[x]];
		const least = (lockAlone(lockRow, x) ? LOCK_ALONE : LOCK_LEAST) * screen.ratio;
		const height = Math.min(Math.max(lockShare[x] * whole, least), whole - 1);
		for (let y = Math.max(y0, bottom - Math.round(height)) | 0; y < y1; y++)
			pixels[y * w + x] = colour;
	}
}

// Stripes at the lower edge of waits for locks, below the text: so that they are told apart without colours.
const HATCH_HEIGHT = 5, HATCH_STEP = 6, HATCH_WIDE = 2;

function hatchToPixels(bottom, y0, y1) {
	const {paint: {lockRow, lockShare}, pixels, ratio} = screen, w = screen.image.width;
	const step = Math.round(HATCH_STEP * ratio) | 0, wide = Math.round(HATCH_WIDE * ratio);

	for (let y = Math.max(y0, bottom - Math.round(HATCH_HEIGHT * ratio)) | 0; y < y1; y++)
		for (let x = 0; x < w; x++)
			if (lockShare[x] >= 1 && (x + bottom - y) % step < wide)
				pixels[y * w + x] = theme.stripe[lockRow[x]];
}

// One lane into the pixel buffer; returns the intervals wide enough for text.
/** @param {LaneItem} item */
function laneToPixels(item, top, wide) {
	const {lane, h, kind} = item;
	const w = screen.image.width, ratio = screen.ratio;
	const y0 = Math.max(0, Math.round(top * ratio)) | 0;
	const y1 = Math.min(screen.image.height, Math.round((top + h) * ratio)) | 0;
	const palette = kind === "state" ? theme.state : kind === "task" ? theme.latency : theme.type;
	const {paint, line} = screen, {row, lockRow, lockShare} = paint;

	if (y0 >= y1)
		return;
	lanePaint(lane, view.t0, view.t1, w, paint);
	for (let x = 0; x < w; x++)
		line[x] = palette[lockShare[x] < 1 ? row[x] : lockRow[x]];
	for (let y = y0; y < y1; y++)
		screen.pixels.set(line, y * w);
	if (lane.locks) {
		hatchToPixels(Math.round((top + h) * ratio), y0, y1);
		locksToPixels(palette, y0, y1, Math.round((top + h) * ratio));
	}
	if (kind === "cpu")
		sharesToPixels(lane, y0, y1, Math.round((top + h) * ratio) - Math.round(top * ratio));
	if (wide && !lane.more)
		wideIntervals(item, top, wide);
}

export const ONE_VALUE = new Uint8Array(128); // all values count as one

// Of a lane with holes, as a proc's is: columns that are in use for a part of their time only have as much of the height.
/** @param {Lane} lane @param {number} y0 @param {number} y1 @param {number} whole */
function sharesToPixels(lane, y0, y1, whole) {
	const w = screen.image.width, {pixels, share, paint: {row}} = screen;

	share.fill(0);
	laneCounts(lane, view.t0, view.t1, w, ONE_VALUE, share);
	for (let x = 0; x < w; x++) {
		const free = row[x] && share[x] < 0.999 ? whole - Math.max(1, Math.round(share[x] * whole)) : 0;
		for (let y = y0; y < Math.min(y1, y0 + free); y++)
			pixels[y * w + x] = theme.background;
	}
}

// Intervals of a lane that are wide enough to carry text.
/** @param {LaneItem} item */
function wideIntervals(item, top, wide) {
	const {lane} = item;
	const least = (view.t1 - view.t0) / view.width * 26;

	for (const i of laneLonger(lane, view.t0, view.t1, least))
		if (lane.v[i] & 127)
			wide.push({item, top, i});
}

// `lines`: where a thread waits is a line of its own.  `place`: its words; else they are the shortest.
/** @param {LaneItem} item @param {number} i */
function intervalLabel(item, i, lines = false, place = "") {
	const value = item.lane.v[i];

	if (item.kind === "region")
		return text(trace.region.type[item.lane.order[i]]);
	if (item.kind === "fiberrun")
		return fiberLabel(trace.frun.fiber[item.lane.order[i]]);
	if (item.kind === "cpu")
		return cpuText(item.lane.order[i]);
	if (item.kind === "labels")
		return setText(trace.under.set[item.lane.order[i]]);
	if (item.kind === "task") {
		const k = item.lane.order[i];
		return `${text(trace.task.type[k])} ${taskId(k + 1)}`;
	}
	if (value & MERGED)
		return `${count(refOf(trace.states, i))} short ones, mostly ${stateName[value]}`;
	const length = duration(laneEnd(item.lane, i) - laneStart(item.lane, i));
	if (value >= PARKED) {
		// The details and the tables say how long the whole wait was: with the time without a proc, or woken.
		const p = refOf(trace.states, i) - 1, stack = trace.park.stack[p], whole = duration(waitInPage(p)), of = whole === length ? "" : ` of ${whole}`;
		return `${waitName(p + 1)} ${length}${of}${stack ? `${lines ? "\n" : " "}in ${place || stackSteps(stack)[0]}` : ""}`;
	}
	return value === ACTIVE || value === RUNNING ? length : `${stateName[value]} ${length}`;
}

// How wide a text is in the font that is set; measured once.
const measured = new Map();

/** @param {CanvasRenderingContext2D} ctx @param {string} string */
export function textWidth(ctx, string) {
	const key = `${ctx.font}\n${string}`;
	let width = measured.get(key);

	if (width === undefined) {
		if (measured.size > 5000)
			measured.clear();
		width = ctx.measureText(string).width;
		measured.set(key, width);
	}
	return width;
}

// As much of the text as fits, with a mark where it is cut: what is left must be worth reading, and half a
// number is not.
const CUT_LEAST = 6, UNCUT_MOST = 10; // characters before the mark

/** @param {CanvasRenderingContext2D} ctx @param {string} string @param {number} width */
export function fitText(ctx, string, width) {
	const whole = textWidth(ctx, string);
	let keep = Math.floor(string.length * width / whole);

	if (whole <= width)
		return string;
	if (string.length <= UNCUT_MOST)
		return "";
	for (; keep >= CUT_LEAST; keep--) {
		const half = (string.charCodeAt(keep - 1) & 0xfc00) === 0xd800; // of a character outside the BMP
		const number = /^[\d.]/.test(string.slice(keep)) ? /[\d.]+$/ : /$/; // the beginning of a number is another one
		const cut = `${string.slice(0, half ? keep - 1 : keep).replace(number, "").trimEnd()}…`;
		if (cut.length > CUT_LEAST && textWidth(ctx, cut) <= width) // without half a number, too
			return cut;
	}
	return "";
}

// The lines of an interval that fit: where a thread waits with as many callers as there is room for.
/** @param {CanvasRenderingContext2D} ctx @param {LaneItem} item @param {number} i @param {number} width */
function labelLines(ctx, item, i, high, width) {
	const value = item.kind === "state" ? item.lane.v[i] : 0, isWait = value >= PARKED && !(value & MERGED);
	const stack = isWait ? trace.park.stack[refOf(trace.states, i) - 1] : 0;

	for (const place of stack ? stackSteps(stack).slice(1).reverse() : []) {
		const lines = intervalLabel(item, i, high, place).split("\n");
		if (textWidth(ctx, lines.at(-1)) <= width)
			return lines.map((line) => fitText(ctx, line, width));
	}
	return intervalLabel(item, i, high).split("\n").map((line) => fitText(ctx, line, width));
}

/** @param {CanvasRenderingContext2D} ctx */
function drawTexts(ctx, wide) {
	ctx.font = FONT;
	ctx.textBaseline = "middle";
	for (const {item, top, i} of wide) {
		const x0 = Math.max(0, xOf(laneStart(item.lane, i)));
		const x1 = Math.min(view.width, xOf(laneEnd(item.lane, i)));
		if (x1 - x0 < 24)
			continue;
		const state = item.kind === "state", high = state && item.h >= TWO_LINES;
		if (item.h < REGION_HEIGHT - 1)
			continue;
		ctx.fillStyle = state ? theme.stateText[item.lane.v[i]] : item.kind === "task" ? theme.latencyText[item.lane.v[i]] : theme.style.text;
		const shown = labelLines(ctx, item, i, high, x1 - x0 - 6);
		const y = top + (shown.length > 1 ? (item.h - HATCH_HEIGHT) / 2 - TEXT_HEIGHT / 2 : item.h / 2 + 0.5);
		if (shown[0]) // what comes second says nothing alone
			shown.forEach((line, k) => ctx.fillText(line, x0 + 3, y + k * TEXT_HEIGHT));
	}
}

// Thin lines where intervals of a type lane begin, so that neighbours can be told apart.
/** @param {CanvasRenderingContext2D} ctx */
function drawEdges(ctx, wide) {
	ctx.fillStyle = theme.style.bg;
	for (const {item, top, i} of wide)
		if (item.kind !== "state")
			ctx.fillRect(Math.round(xOf(laneStart(item.lane, i))), top, 1, item.h);
}

/** @param {CanvasRenderingContext2D} ctx @param {Track} track */
function drawLogs(ctx, track, top) {
	const logs = trace.log, y = top + logY(track), t = track.thread.idx + 1;
	let i = upperBound(logs.at, logs.first[t], logs.first[t + 1], view.t0);
	let lastX = -9;

	ctx.fillStyle = theme.style.dim;
	for (; i < logs.first[t + 1] && logs.at[i] <= view.t1; i++) {
		const x = Math.round(xOf(logs.at[i]));
		if (x === lastX)
			continue;
		lastX = x;
		ctx.beginPath();
		ctx.moveTo(x, y);
		ctx.lineTo(x + 3, y + 5);
		ctx.lineTo(x - 3, y + 5);
		ctx.fill();
	}
}

// How many tasks lie in the lane that they share: a text for each stretch without a pause, of as much of the stretch as is seen.
/** @param {CanvasRenderingContext2D} ctx @param {LaneItem} item @param {number} top */
function drawMore(ctx, {lane, h}, top) {
	const [first, last] = laneRange(lane, view.t0, view.t1);

	ctx.font = FONT;
	ctx.textBaseline = "middle";
	for (let i = first, from = first; i < last; i++) {
		if (i + 1 < last && i - from < MORE_PIECES && laneStart(lane, i + 1) === laneEnd(lane, i))
			continue;
		const most = lane.more.subarray(from, i + 1).reduce((a, b) => Math.max(a, b));
		const x0 = Math.max(0, xOf(laneStart(lane, from))), x1 = Math.min(view.width, xOf(laneEnd(lane, i)));
		const string = `${i > from ? "up to " : ""}${count(most)} more`, width = textWidth(ctx, string);
		from = i + 1;
		if (width + 6 > x1 - x0)
			continue;
		ctx.fillStyle = theme.style.bg; // the pieces have several colours
		ctx.fillRect(x0 + 1, top, width + 5, h);
		ctx.fillStyle = theme.style.text;
		ctx.fillText(string, x0 + 3, top + h / 2 + 0.5);
	}
}

// A tick per sample; where several share a pixel, a stronger one.
/** @param {CanvasRenderingContext2D} ctx @param {Track} track */
function drawSamples(ctx, track, top) {
	const rows = trace.sample, t = track.thread.idx + 1, hi = rows.first[t + 1];
	const y = top + samplesY(track);
	let i = upperBound(rows.at, rows.first[t], hi, view.t0);

	while (i < hi && rows.at[i] <= view.t1) {
		const x = Math.floor(xOf(rows.at[i]));
		const next = Math.max(i + 1, upperBound(rows.at, i, hi, timeAt(x + 1)));
		ctx.fillStyle = sampleColour(rows.event[rows.order[i]]);
		ctx.globalAlpha = Math.min(1, 0.6 + 0.2 * (next - i));
		ctx.fillRect(x, y, 1, SAMPLE_HEIGHT - 1);
		i = next;
	}
	ctx.globalAlpha = 1;
}

// Where gaps are in the visible range: one a pixel at most.
function gapBoxes() {
	const {gaps, gapBoxes: kept} = screen, boxes = /** @type {number[][]} */ ([]);
	let lastX = -1, lo = 0, hi = gaps.length;

	if (kept.t0 === view.t0 && kept.t1 === view.t1 && kept.width === view.width)
		return kept.boxes;
	while (lo < hi) {
		const mid = (lo + hi) >>> 1;
		if (gaps[mid][1] >= view.t0)
			hi = mid;
		else
			lo = mid + 1;
	}
	for (; lo < gaps.length && gaps[lo][0] <= view.t1; lo++) {
		const x0 = Math.max(0, xOf(gaps[lo][0])), x1 = Math.min(view.width, xOf(gaps[lo][1]));
		if (x1 < lastX + 1 && x1 - x0 < 1)
			continue;
		lastX = Math.max(x1, x0 + 2);
		boxes.push([x0, Math.max(2, x1 - x0)]);
	}
	screen.gapBoxes = {t0: view.t0, t1: view.t1, width: view.width, boxes};
	return boxes;
}

// Stretches in which events were lost.
/** @param {CanvasRenderingContext2D} ctx @param {number} height */
function drawGaps(ctx, height) {
	ctx.fillStyle = screen.hatch || theme.style.gap;
	ctx.globalAlpha = 0.55;
	for (const [x, width] of gapBoxes())
		ctx.fillRect(x, 0, width, height);
	ctx.globalAlpha = 1;
}

// What lies before the window: some streams are not there yet.
/** @param {CanvasRenderingContext2D} ctx @param {number} height */
function drawWindow(ctx, height) {
	const x = Math.min(view.width, xOf(head.window_ns));

	if (!head.window_ns || x <= 0)
		return;
	ctx.fillStyle = theme.style.dim;
	ctx.globalAlpha = 0.16;
	ctx.fillRect(0, 0, x, height);
	ctx.globalAlpha = 1;
	ctx.fillRect(Math.round(x), 0, 1, height);
	const label = "before the window: in part";
	ctx.font = FONT;
	if (ctx.measureText(label).width + 10 < x) {
		ctx.textBaseline = "bottom";
		ctx.fillText(label, 5, height - 4);
	}
}

// The colour of a mark.
/** @param {number} kind */
export function markColour(kind) {
	return kind === MARK_TRIGGER ? theme.style.accent : theme.style.gap;
}

// Signals and conditions that were met: a flag on the thread's lane; of a signal its name where there
// is room.  The rest, and what the condition was, is in tooltip and details: it would hide the wait that
// it is about.
/** @param {CanvasRenderingContext2D} ctx @param {Track} track */
function drawMarks(ctx, track, top) {
	const marks = trace.mark, t = track.thread.idx + 1, hi = marks.first[t + 1];
	const slack = (view.t1 - view.t0) / view.width * 9;
	let i = upperBound(marks.at, marks.first[t], hi, view.t0 - slack);
	let lastX = -99;

	ctx.font = FONT;
	ctx.textBaseline = "middle";
	for (; i < hi && marks.at[i] <= view.t1 + slack; i++) {
		const row = marks.order[i], x = Math.round(xOf(marks.at[i])), y = top + 1;
		if (x - lastX < 2)
			continue;
		const next = i + 1 < hi ? xOf(marks.at[i + 1]) : view.width;
		const right = x < view.width - 120; // else it points to the left
		const room = right ? Math.min(next, view.width) - x - 14 : x - Math.max(0, lastX) - 14;
		lastX = x;
		const name = marks.kind[row] === MARK_TRIGGER ? "" : text(marks.text[row]).split(": ")[0];
		const string = room > 30 ? fitText(ctx, name, Math.min(room, 260)) : "";
		ctx.fillStyle = markColour(marks.kind[row]);
		ctx.fillRect(x - 1, y, 2, tracks.stateHeight + TRACK_PAD);
		ctx.beginPath();
		ctx.moveTo(x, y);
		ctx.lineTo(x + (right ? 8 : -8), y + 4.5);
		ctx.lineTo(x, y + 9);
		ctx.fill();
		if (!string)
			continue;
		const width = ctx.measureText(string).width;
		const left = right ? x + 9 : x - 14 - width;
		ctx.fillStyle = theme.style.bg;
		ctx.fillRect(left, top + TRACK_PAD, width + 5, tracks.stateHeight); // no half of what it covers
		ctx.fillStyle = markColour(marks.kind[row]);
		ctx.fillText(string, left + 2, top + TRACK_PAD + tracks.stateHeight / 2);
	}
}

// Diagonal lines in the colour of gaps.
/** @param {CanvasRenderingContext2D} ctx */
export function hatchMake(ctx) {
	const tile = document.createElement("canvas");
	tile.width = tile.height = 8;
	const t = tile.getContext("2d");
	t.strokeStyle = theme.style.gap;
	t.lineWidth = 2;
	for (const d of [-8, 0, 8]) {
		t.beginPath();
		t.moveTo(d, 8);
		t.lineTo(d + 8, 0);
		t.stroke();
	}
	screen.hatch = ctx.createPattern(tile, "repeat");
}

// A strip's pixels, lane by lane, and then all that is drawn over them.
/** @param {Strip} strip @returns {Generator<undefined, void>} */
export function* stripSteps({track, top, bottom}) {
	const {image, pixels} = screen, ctx = byId("base").getContext("2d"), y = track ? track.y - screen.scrollY : 0;
	const wide = /** @type {{item: LaneItem, top: number, i: number}[]} */ ([]);

	pixels.fill(theme.background, top * image.width, bottom * image.width);
	if (track?.kind === "group")
		yield* groupToPixels(track, y);
	else if (track?.kind === "procs")
		yield* procsToPixels(y);
	for (const item of track ? trackLanes(track) : []) {
		laneToPixels(item, y + item.y, wide);
		yield;
	}
	ctx.putImageData(image, 0, 0, 0, top, image.width, bottom - top);
	ctx.save();
	ctx.setTransform(1, 0, 0, 1, 0, 0);
	ctx.beginPath();
	ctx.rect(0, top, image.width, bottom - top);
	ctx.clip();
	ctx.setTransform(screen.ratio, 0, 0, screen.ratio, 0, 0);
	stripOver(ctx, track, y, wide);
	ctx.restore();
}

/** @param {CanvasRenderingContext2D} ctx @param {Track | null} track @param {number} top */
function stripOver(ctx, track, top, wide) {
	if (track) {
		ctx.fillStyle = theme.style.line;
		ctx.fillRect(0, top + track.h - 1, screen.width, 1);
		drawEdges(ctx, wide);
		if (trace.states) // a sketch has none: its cells are no waits that could be named
			drawTexts(ctx, wide);
	}
	for (const item of track?.crowded?.length ? trackLanes(track).slice(-1) : [])
		drawMore(ctx, item, top + item.y);
	if (track?.kind === "counter")
		drawCounter(ctx, track, top);
	if (track?.hasLogs)
		drawLogs(ctx, track, top);
	if (track?.hasSamples)
		drawSamples(ctx, track, top);
	drawWindow(ctx, screen.height);
	if (track?.hasMarks)
		drawMarks(ctx, track, top);
	if (track?.thread?.beyond)
		drawBeyond(ctx, track, top);
	drawGaps(ctx, screen.height);
}

/** @param {number} start */
function frameDone(start) {
	screen.frameTimes.push(performance.now() - start);
	if (screen.frameTimes.length > 500)
		screen.frameTimes.shift();
	if (!strips.areExact || !byId("moved").hidden)
		drawOverlaySoon(); // goes on with the lanes; then hides what stood in for them
}

// All at once, and exactly.
export function drawAll() {
	const start = performance.now();

	screen.scheduled = false;
	screen.stale = "";
	screen.scrollY = byId("scroll").scrollTop;
	stripsDrawAll();
	labelsDraw(tracksVisible(screen.scrollY, screen.height), screen.scrollY);
	drawOverlay();
	drawRuler();
	drawMapWindow();
	frameDone(start);
}

// One frame: the lanes as far as its budget lasts.
function drawScheduled() {
	const start = performance.now(), {stale} = screen;

	if (stale === "all") {
		drawAll();
		return;
	}
	screen.scheduled = false;
	screen.stale = "";
	if (stale === "moved")
		screen.scrollY = byId("scroll").scrollTop;
	if (stale === "moved" || !strips.areExact || !byId("moved").hidden)
		stripsDrawSome(start + FRAME_BUDGET_MS, stale === "moved");
	drawOverlay();
	drawRuler();
	if (stale === "moved") {
		labelsDraw(tracksVisible(screen.scrollY, screen.height), screen.scrollY);
		drawMapWindow();
	}
	frameDone(start);
}

// What lies over the timeline, after the pointer moved.
export function drawOverlaySoon() {
	if (!screen.scheduled) {
		screen.scheduled = true;
		requestAnimationFrame(drawScheduled);
	}
}

// Another range, another height, another selection: lanes are as they were, but elsewhere.
export function drawMoved() {
	screen.stale ||= "moved";
	drawOverlaySoon();
}

// All changes between two frames are drawn once.
export function drawSoon() {
	screen.stale = "all";
	drawOverlaySoon();
}
