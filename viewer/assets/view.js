// view.js - what is visible: the range of time, and its history.

const MIN_SPAN = 100; // nanoseconds

/** @type {View} */
const view = {
	t0: 0, t1: 1, // visible range
	width: 1, // of the tracks, in CSS pixels
	selection: null, // {kind, id}: see select.js
	range: null, // {t0, t1}: chosen with Shift+drag
	highlighted: null, // state, from the legend
	listeners: [],
	history: [], future: [],
	historyAt: 0,
};

function viewChanged(what) {
	for (const listener of view.listeners)
		listener(what);
}

/** @param {number} time */
function xOf(time) {
	return (time - view.t0) / (view.t1 - view.t0) * view.width;
}

/** @param {number} x */
function timeAt(x) {
	return view.t0 + x / view.width * (view.t1 - view.t0);
}

// Sets the range, moved and shortened so as to lie within the part of the trace that the page shows.
/** @param {number} t0 @param {number} t1 */
function viewSet(t0, t1, remember = true) {
	const span = Math.min(Math.max(t1 - t0, MIN_SPAN), trace.span - trace.begin);
	let from = t1 - t0 < span ? (t0 + t1 - span) / 2 : t0;

	from = Math.max(trace.begin, Math.min(from, trace.span - span));
	if (from === view.t0 && from + span === view.t1)
		return;
	if (remember)
		historyAdd();
	view.t0 = from;
	view.t1 = from + span;
	viewChanged("range");
}

// Steps that follow each other within half a second are one in the history, unless they are
// of another kind.
function historyAdd(separate = false) {
	const now = performance.now();

	if (separate || now - view.historyAt > 500) {
		view.history.push([view.t0, view.t1]);
		if (view.history.length > 200)
			view.history.shift();
		view.future = [];
	}
	view.historyAt = now;
}

function viewUndo(from, to) {
	let range = from.pop();

	// A press that moved nothing left no step.
	while (range && range[0] === view.t0 && range[1] === view.t1)
		range = from.pop();
	if (!range)
		return;
	to.push([view.t0, view.t1]);
	view.historyAt = 0;
	viewSet(range[0], range[1], false);
}

// factor < 1 zooms in; the time at x stays where it is.
/** @param {number} factor @param {number} [x] */
function viewZoom(factor, x) {
	const at = timeAt(x === undefined ? view.width / 2 : x);
	const span = Math.min(Math.max((view.t1 - view.t0) * factor, MIN_SPAN), trace.span - trace.begin);
	const share = (at - view.t0) / (view.t1 - view.t0);

	viewSet(at - span * share, at + span * (1 - share));
}

function viewPan(share) {
	const by = (view.t1 - view.t0) * share;

	viewSet(view.t0 + by, view.t1 + by);
}

function viewAll() {
	viewSet(trace.begin, trace.span);
}

// Makes [from, until] visible: as it is if it fits well, else zoomed to be a third of the width.
/** @param {number} until */
function viewShow(from, until) {
	const span = view.t1 - view.t0, length = until - from;

	if (length > span * 0.8 || length < span / 400)
		viewSet(from - length - 50, until + length + 50);
	else if (from < view.t0 + span * 0.02 || until > view.t1 - span * 0.02)
		viewSet((from + until - span) / 2, (from + until + span) / 2);
}
