// cut.js - what a page says of itself that shows a part of a trace (trace-analyze --html with --window, --thread, --task or
// --label-filter).
//
// Rows keep their times of begin and end, also where these lie outside of the page; lanes of states end at its edges.

import {head, visible} from "./data.js";
import {count, el, exactTime, plural} from "./format.js";
import {theme} from "./palette.js";
import {BEYOND_END, BEYOND_START, threadsCount, trace} from "./rows.js";
import {bannerAdd} from "./tops.js";
import {TRACK_PAD, tracks} from "./tracks.js";
import {view} from "./view.js";

// "1.2 s to 1.5 s of 3.4 s; 2 of 40 threads"; of tasks what was asked for before this; "" = the page shows everything.
function cutShown() {
	const {cut} = head, parts = [];

	if (cut && cut.tasks)
		parts.push(visible(cut.text));
	if (cut && cut.window)
		parts.push(`${exactTime(trace.begin)} to ${exactTime(trace.span)} of ${exactTime(head.span_ns)}`);
	if (cut && cut.threads_out)
		parts.push(`${count(threadsCount(trace.threads.filter((thread) => !thread.out)))} of ${plural(threadsCount(trace.threads), "thread")}`);
	return parts.join("; ");
}

export function cutBanner() {
	const {cut} = head;

	if (!cut)
		return;
	bannerAdd("cut", el("b", {}, `This page shows a part of the trace: ${cutShown() || visible(cut.text)}. `),
		cut.tasks ? "Lanes are blank where a thread did not work for these tasks. " : `Asked for: ${visible(cut.text)}. `,
		"Sums are of this part; what began before it or ends after it has its own times in the details.");
}

// Behind a time in the details: that the page does not reach as far.
/** @param {number} time */
export function beyondText(time) {
	return time < trace.begin ? " (before this page)" : time > trace.span ? " (after this page)" : "";
}

// When a state of a thread began or ended, where the page only knows that it did so beyond its edge; "" = it knows.
/** @param {number} idx @param {number} time @param {number} edge */
export function beyondEdge(idx, time, edge) {
	const at = edge === BEYOND_START ? trace.begin : trace.span;

	if (!head.cut || time !== at || !(trace.threads[idx].beyond & edge))
		return "";
	return edge === BEYOND_START ? `before this page, which begins at ${exactTime(at)}`
		: `after this page, which ends at ${exactTime(at)}`;
}

// Marks on the lanes of those threads whose states go on beyond the page: triangles that point outwards.
/** @param {CanvasRenderingContext2D} ctx @param {Track} track @param {number} top */
export function drawBeyond(ctx, track, top) {
	const {beyond} = track.thread, y = top + TRACK_PAD + tracks.stateHeight - 4; // below the text
	const mark = (/** @type {number} */ x, /** @type {number} */ by) => {
		ctx.beginPath();
		ctx.moveTo(x, y);
		ctx.lineTo(x + by, y - 3);
		ctx.lineTo(x + by, y + 3);
		ctx.fill();
	};

	ctx.fillStyle = theme.style.text;
	if (beyond & BEYOND_START && view.t0 <= trace.begin)
		mark(0, 5);
	if (beyond & BEYOND_END && view.t1 >= trace.span)
		mark(view.width, -5);
}
