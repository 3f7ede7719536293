// zoom.js - a large trace is shown as a whole first, with what is short merged.  Who zooms in is led into a part of it that has every
// event; who zooms out of a part, or moves past its edge, is led into another one, or back into the whole.
//
// What is seen and chosen is carried over, as it is to a newer snapshot (viewer/assets/carry.js).

import {eventsIn, headOf, load, part, partAgain, shown, timeText, waiting, whole} from "./frame.js";

const ZOOM_PARTS = 2; // a part is loaded where no more is visible than so many times what a part has

const zoom = {seen: ""};

export const isLarge = () => whole.to > 0;

/** @param {number[]} view */
function fitsPart(view) {
	return eventsIn(view) <= ZOOM_PARTS * eventsIn([0, whole.to]);
}

// A part around a view, with room to move on both sides.
/** @param {number[]} view */
function partAround([from, to]) {
	const room = (to - from) / 2;

	return [Math.max(0, Math.floor(from - room)), Math.min(whole.span, Math.ceil(to + room))];
}

// Shows this view in a page of the part; of the whole if that is null.
/** @param {number[] | null} next @param {number[]} view */
export function zoomTo(next, view) {
	const {start_ns: start} = headOf(shown), {trc} = shown.contentWindow;

	history.pushState(null, "", next ? `?from=${next[0]}&to=${next[1]}` : location.pathname);
	partAgain();
	load("", {...trc.carry.out(), isAll: false, isTail: false, span: view.map((time) => time + start)});
}

// Looks whether the view of the whole has come to rest where a part can show it.
export function zoomFollow() {
	const trc = shown && shown.contentWindow.trc;

	if (!isLarge() || part || waiting || !trc)
		return;
	const view = [trc.view.t0, trc.view.t1], isAtRest = String(view) === zoom.seen;
	zoom.seen = String(view);
	if (isAtRest && !trc.carry.isBusy() && fitsPart(view))
		zoomTo(partAround(view), view);
}

// Somebody wants to see what the page of a part does not have.
function zoomBeyond({detail: {t0, t1}}) {
	const view = [Math.max(0, Math.min(t0, whole.span)), Math.max(0, Math.min(t1, whole.span))];

	if (!part || waiting || view[0] >= view[1] || view[0] >= part[0] && view[1] <= part[1])
		return;
	zoomTo(fitsPart(view) ? partAround(view) : null, view);
}

export function zoomWatch(frame) {
	frame.contentWindow.addEventListener("trc-beyond", zoomBeyond);
}

export function wholeText() {
	return `The whole trace, ${timeText(whole.span)}, ${whole.events.toLocaleString("en")} events: short intervals are merged. ` +
		"Zoom in to see every event.";
}
