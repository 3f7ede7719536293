// strips.js - the tracks that are seen, each a strip of rows of the base canvas with its picture.  While the view moves, a frame draws strips for
// as long as its budget lasts; those that are left are shown from their last pictures, moved and scaled, on a canvas above.
//
//   strips:S1  A strip is exact if its picture was drawn where it is now, for the range that is visible now.  It is then as drawAll() draws it,
//              since both draw it by the same steps, and no step draws outside of its strip.
//   S2         A frame takes one step at least, and begins none after its budget.
//   S3         The first strip of a frame is the one that has not been drawn for most frames; then those nearest to the pointer, or to the selection,
//              come first.  So each strip is drawn within as many frames as there are strips, times what the longest takes.
//   S4         What was begun is finished for the range with which it began: the view may move in each frame.
//   S5         If nothing moves any more, frames go on until all strips are exact.

import {selectionTrack} from "./arrange.js";
import {head} from "./data.js";
import {screen, stripSteps} from "./draw.js";
import {byId} from "./format.js";
import {hover} from "./overlay.js";
import {theme} from "./palette.js";
import {selectionThread} from "./select.js";
import {tracks, tracksVisible} from "./tracks.js";
import {view} from "./view.js";

export const FRAME_BUDGET_MS = 8; // of the lanes' part of a frame; 60 a second leave 16 for all

export const strips = {
	all: /** @type {Strip[]} */ ([]), // from the top down
	job: /** @type {{strip: Strip, steps: Generator<undefined, void>, t0: number, t1: number} | null} */ (null), // what was begun
	frame: 0, // counts
	scrollY: 0, // with which they were placed
	areExact: false,
};

// The row of pixels at a height of the whole list of tracks.
/** @param {number} y */
function pixelRow(y) {
	return Math.max(0, Math.min(Math.round((y - screen.scrollY) * screen.ratio), screen.image.height));
}

// Strips for what is visible: those that were there keep their pictures.
function stripsPlace() {
	const known = new Map(strips.all.map((strip) => [strip.track, strip])), shown = tracksVisible(screen.scrollY, screen.height);
	/** @type {(track: Track | null, top: number, bottom: number) => Strip} */
	const strip = (track, top, bottom) => {
		const its = known.get(track) || {track, top, bottom, t0: 0, t1: 0, at: 0, until: 0, drawn: -1, isPlaced: false};
		return Object.assign(its, {top, bottom});
	};

	strips.all = shown.map((track) => strip(track, pixelRow(track.y), pixelRow(track.y + track.h)));
	const end = strips.all.length ? strips.all[strips.all.length - 1].bottom : 0;
	if (end < screen.image.height)
		strips.all.push(strip(null, end, screen.image.height));
	strips.scrollY = screen.scrollY;
	strips.job = null; // its rows are elsewhere now
}

// After scrolling: the pictures move with the tracks, as far as they are still seen.  What is not as it would be drawn there is drawn anew: what was cut
// off, and what has its place on the screen, as the hatch of gaps.
function stripsScroll() {
	const {ratio, image: {height}} = screen, was = strips.scrollY, by = Math.round(screen.scrollY * ratio) - Math.round(was * ratio);
	const keeps = Number.isInteger((screen.scrollY - was) * ratio) && !screen.gaps.length && !head.window_ns;
	const canvas = byId("base"), ctx = canvas.getContext("2d");

	for (const strip of strips.all) {
		const isWhole = strip.track !== null && strip.track.y >= was && strip.track.y + strip.track.h <= was + screen.height;
		strip.isPlaced &&= keeps && isWhole;
		strip.at = Math.max(0, Math.min(strip.at - by, height));
		strip.until = Math.max(0, Math.min(strip.until - by, height));
	}
	ctx.setTransform(1, 0, 0, 1, 0, 0);
	ctx.globalCompositeOperation = "copy";
	ctx.drawImage(canvas, 0, -by);
	ctx.globalCompositeOperation = "source-over";
	stripsPlace();
}

/** @param {Strip} strip */
function stripIsExact({t0, t1, at, until, top, bottom, isPlaced}) {
	return isPlaced && t0 === view.t0 && t1 === view.t1 && at === top && until === bottom;
}

// Where who looks is thought to look: a row.
function stripsFocus() {
	const sel = view.selection, track = hover.x < 0 && sel ? selectionTrack(sel) || tracks.byThread[selectionThread(sel)] : null;

	return track ? pixelRow(track.y + track.h / 2) : hover.x >= 0 ? hover.y * screen.ratio : 0;
}

// Which of the strips that are not exact is next (S3); isFirst: of the frame.
/** @param {number} focus @param {boolean} isFirst */
function stripNext(focus, isFirst) {
	const far = (/** @type {Strip} */ strip) => Math.max(strip.top - focus, focus - strip.bottom, 0);
	let best = /** @type {Strip | null} */ (null);

	for (const strip of strips.all)
		if (!stripIsExact(strip) && (!best || (isFirst && strip.drawn !== best.drawn ? strip.drawn < best.drawn : far(strip) < far(best))))
			best = strip;
	return best;
}

/** @param {number} focus @param {boolean} isFirst */
function jobBegin(focus, isFirst) {
	const strip = stripNext(focus, isFirst);

	strips.job = strip && {strip, steps: stripSteps(strip), t0: view.t0, t1: view.t1};
	return strips.job;
}

// One step of what was begun, with the range of then (S4); true when it is done.
function stripStep() {
	const {job} = strips, {t0, t1} = view;

	view.t0 = job.t0;
	view.t1 = job.t1;
	try {
		if (!job.steps.next().done)
			return false;
	} finally {
		view.t0 = t0;
		view.t1 = t1;
	}
	Object.assign(job.strip, {t0: job.t0, t1: job.t1, at: job.strip.top, until: job.strip.bottom, drawn: strips.frame, isPlaced: true});
	strips.job = null;
	return true;
}

// Draws strips until a time (performance.now()), or until all are exact.
/** @param {number} until */
function stripsDraw(until) {
	const focus = stripsFocus();
	let isFirst = true, steps = 0;

	strips.frame++;
	for (; steps === 0 || performance.now() < until; steps++) {
		if (!strips.job) {
			if (!jobBegin(focus, isFirst))
				break;
			isFirst = false;
		}
		stripStep();
	}
	screen.bases += Number(steps > 0);
	strips.areExact = strips.all.every(stripIsExact);
}

// At rest the canvas has no pixels, for which the browser would keep memory.
function movedHide() {
	const canvas = byId("moved");

	if (!canvas.hidden)
		canvas.width = canvas.height = 1;
	canvas.hidden = true;
}

// The strips that are not exact, from the pictures they have: of the range that they are of the part that is visible.  While the view moves the canvas
// stays, if it is empty, too: each time that it comes or goes the browser lays out and paints.
/** @param {boolean} moves */
function stripsStandIn(moves) {
	const base = byId("base"), canvas = byId("moved"), ctx = canvas.getContext("2d"), w = base.width, scale = w / (view.t1 - view.t0);

	if (strips.areExact && (canvas.hidden || !moves)) {
		movedHide();
		return;
	}
	if (canvas.hidden || canvas.width !== w || canvas.height !== base.height) {
		canvas.width = w;
		canvas.height = base.height;
		canvas.hidden = false;
	}
	ctx.clearRect(0, 0, w, base.height);
	ctx.imageSmoothingEnabled = false;
	ctx.fillStyle = theme.style.bg;
	for (const strip of strips.all) {
		if (stripIsExact(strip))
			continue;
		const {t0, t1, at, until, top, bottom} = strip, from = Math.max(t0, view.t0), to = Math.min(t1, view.t1);
		ctx.fillRect(0, top, w, bottom - top);
		if (from < to && at < until)
			ctx.drawImage(base, (from - t0) / (t1 - t0) * w, at, (to - from) / (t1 - t0) * w, until - at, (from - view.t0) * scale, at, (to - from) * scale, until - at);
	}
}

// All of them, at once.
export function stripsDrawAll() {
	strips.all = [];
	stripsPlace();
	stripsDraw(Infinity);
	movedHide();
}

// As much as there is time for.
/** @param {number} until @param {boolean} moves */
export function stripsDrawSome(until, moves) {
	if (screen.scrollY !== strips.scrollY)
		stripsScroll();
	stripsDraw(until);
	stripsStandIn(moves);
}
