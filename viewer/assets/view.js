// view.js - what is visible: the range of time.

import {head} from "./data.js";
import {trace} from "./rows.js";
import {stepAdd} from "./steps.js";

export const MIN_SPAN = 100; // nanoseconds

/** @type {View} */
export const view = {
	t0: 0, t1: 1, // visible range
	width: 1, // of the tracks, in CSS pixels
	selection: null, // {kind, id}: see select.js
	range: null, // {t0, t1}: chosen with Shift+drag
	highlighted: null, // state, from the legend
	listeners: [],
	trail: [], before: [], after: [], // see steps.js
};

/** @param {"range" | "selection" | "range-selection" | "tracks" | "guest"} what */
export function viewChanged(what) {
	for (const listener of view.listeners)
		listener(what);
}

/** @param {number} time */
export function xOf(time) {
	return (time - view.t0) / (view.t1 - view.t0) * view.width;
}

/** @param {number} x */
export function timeAt(x) {
	return view.t0 + x / view.width * (view.t1 - view.t0);
}

// Sets the range, moved and shortened so as to lie within the part of the trace that the page shows.
/** @param {number} t0 @param {number} t1 */
export function viewSet(t0, t1, remember = true) {
	const span = Math.min(Math.max(t1 - t0, MIN_SPAN), trace.span - trace.begin);
	let from = t1 - t0 < span ? (t0 + t1 - span) / 2 : t0;

	from = Math.max(trace.begin, Math.min(from, trace.span - span));
	if (from === view.t0 && from + span === view.t1)
		return;
	if (remember)
		stepAdd();
	view.t0 = from;
	view.t1 = from + span;
	viewChanged("range");
}

// Somebody wants to see more than this page of a part has: trace-view then shows another one (viewer/serve/zoom.js).
/** @param {number} t0 @param {number} t1 */
export function viewBeyond(t0, t1) {
	if (head.cut?.window)
		window.dispatchEvent(new CustomEvent("trc-beyond", {detail: {t0, t1}}));
}

// factor < 1 zooms in; the time at x stays where it is.
/** @param {number} factor @param {number} [x] */
export function viewZoom(factor, x) {
	const at = timeAt(x === undefined ? view.width / 2 : x), wanted = (view.t1 - view.t0) * factor;
	const span = Math.min(Math.max(wanted, MIN_SPAN), trace.span - trace.begin);
	const share = (at - view.t0) / (view.t1 - view.t0);

	if (factor > 1 && view.t0 <= trace.begin && view.t1 >= trace.span)
		viewBeyond(at - wanted * share, at + wanted * (1 - share));
	viewSet(at - span * share, at + span * (1 - share));
}

/** @param {number} share */
export function viewPan(share) {
	const by = (view.t1 - view.t0) * share;

	if (by < 0 ? view.t0 <= trace.begin : view.t1 >= trace.span)
		viewBeyond(view.t0 + by, view.t1 + by);
	viewSet(view.t0 + by, view.t1 + by);
}

export function viewAll() {
	viewSet(trace.begin, trace.span);
}

const AROUND_INSTANT_NS = 5e6;

// Makes [from, until] visible: as it is if it fits well, else zoomed to be a third of the width.  What has no length keeps the
// zoom, or has some milliseconds around it.
/** @param {number} from @param {number} until */
export function viewShow(from, until) {
	const span = view.t1 - view.t0, length = until - from;

	if (!length) {
		const around = Math.min(span / 2, AROUND_INSTANT_NS);
		if (span > 2 * around || from < view.t0 + span * 0.02 || from > view.t1 - span * 0.02)
			viewSet(from - around, from + around);
	} else if (length > span * 0.8 || length < span / 400)
		viewSet(from - length - 50, until + length + 50);
	else if (from < view.t0 + span * 0.02 || until > view.t1 - span * 0.02)
		viewSet((from + until - span) / 2, (from + until + span) / 2);
}
