// fibers_details.js - what the page says and draws of the fiber that is selected, and of its runs and waits.
//
// `f`, `r` and `w` as in fibers.js.

import {REGION_LANES_MAX} from "./annotations.js";
import {head, text} from "./data.js";
import {actions, during, facts, labelsDuring, link, mixView, notBeforeEnd, rankText, stackView,
	threadLink, title} from "./details.js";
import {screen} from "./draw.js";
import {sqlText} from "./export.js";
import {RUN_CUT, RUN_ENDED, RUN_LOST, RUN_OPEN, fiberCss, fiberLabel, fiberNumber, fiberReady,
	fiberRunAfter, fiberRunAt, fiberRunBefore, fiberRunBeside, fiberStates, fiberTitle,
	fiberWaitAfter, fiberWaitBefore, fibersOnProc, onProcText, rowEnd, runOnProc,
	selectionFiber} from "./fibers.js";
import {count, duration, el, exactTime, percent, plural, upperBound} from "./format.js";
import {arrowBetween, drawBox} from "./overlay.js";
import {stateName, theme} from "./palette.js";
import {objectName, reasonName, recovered, setText, stackTop, stackWords, trace} from "./rows.js";
import {samplesView} from "./samples.js";
import {select, selectionSpan} from "./select.js";
import {PARKED} from "./states.js";
import {cellLine, topRows, topTable, waitCell, waitColumns, waitKey, whereCell} from "./tops.js";
import {REGION_HEIGHT, TRACK_PAD, fibersY, regionsY, tracks} from "./tracks.js";
import {view, xOf} from "./view.js";

const FIBER_ROWS = 12, FIBER_NAMES = 15;
const FIBER_END_NS = 100000; // a scheduler tells of a fiber's end soon after it left it for good
const OUTLINES_MAX = 400; // runs of the selected fiber that are outlined at a time

/** @param {number} f */
export function fiberLink(f) {
	return f ? link(fiberLabel(f), {kind: "fiber", id: f}, {show: false}) : null;
}

// The fiber that thread number t was in, as a link to its run.
/** @param {number} t @param {number} time */
export function fiberAt(t, time) {
	const r = fiberRunAt(t - 1, time);

	return r ? link(fiberLabel(trace.frun.fiber[r - 1]), {kind: "fiberrun", id: r}, {show: false}) : null;
}

// Why it waited; not known if it did since before the window.
/** @param {number} w */
function fiberReason(w) {
	return stateName[PARKED + trace.fwait.reason[w - 1]];
}

// Whether a wait may have lasted longer than is known.
/** @param {number} w */
function fiberWaitLonger(w) {
	const flags = trace.fwait.flags[w - 1];

	return Boolean(flags & (RUN_CUT | RUN_LOST)) || (Boolean(flags & RUN_OPEN) && recovered());
}

/** @param {number} w */
function fiberWaitLabel(w) {
	const i = w - 1, more = fiberWaitLonger(w) ? "> " : "";

	return `${fiberReason(w)} ${more}${duration(trace.fwait.length[i])}`;
}

// Who readied it: thread, and the fiber that this was in.
/** @param {number} w */
function fiberWaker(w) {
	const waits = trace.fwait, i = w - 1, ready = fiberReady(w);

	if (!waits.waker[i] && !waits.waker_fiber[i])
		return [];
	const f = waits.waker_fiber[i], r = f && waits.waker[i] ? fiberRunAt(waits.waker[i] - 1, ready) : 0;
	const fiber = r && trace.frun.fiber[r - 1] === f
		? link(fiberLabel(f), {kind: "fiberrun", id: r}) : fiberLink(f);
	return [fiber, fiber ? " on " : "", threadLink(waits.waker[i], ready >= 0 ? ready : undefined),
		ready >= 0 ? ` at ${exactTime(ready)}` : null];
}

// How long after a run its fiber ended without running again, 0 if in it; -1 = it did not.
/** @param {number} r */
function fiberEndAfter(r) {
	const runs = trace.frun, ended = trace.fiber.ended[runs.fiber[r - 1] - 1] - 1;

	return runs.flags[r - 1] & RUN_ENDED && ended >= 0 ? Math.max(0, ended - rowEnd(runs, r)) : -1;
}

// Why a run ended.
/** @param {number} r */
function fiberLeft(r) {
	const runs = trace.frun, i = r - 1, w = fiberWaitAfter(r);

	if (runs.flags[i] & RUN_OPEN)
		return "it still ran at the end of the trace";
	if (runs.flags[i] & RUN_LOST)
		return "not known: events were lost then";
	const ended = fiberEndAfter(r);
	if (runs.reason[i])
		return ["to wait: ", w ? link(fiberWaitLabel(w), {kind: "fiberwait", id: w}, {show: false})
			: reasonName(runs.reason[i]), ended >= 0 ? "; it ended without running again" : ""];
	if (ended < 0)
		return "another took its turn; it could have gone on";
	return ended <= FIBER_END_NS ? "it ended"
		: `it could go on; it did not run again, and ended ${duration(ended)} later`;
}

// A neighbouring run: how far away, and where.
/** @param {number} r */
function fiberBeside(r, gap, thread) {
	if (!r)
		return null;
	const where = trace.frun.thread[r - 1];

	return [link(duration(trace.frun.length[r - 1]), {kind: "fiberrun", id: r}),
		gap > 0 ? `, ${duration(gap)} apart` : "", where && where !== thread ? ", on " : "",
		where !== thread ? threadLink(where, trace.frun.start[r - 1]) : null];
}

// What is known of a fiber as a whole.
/** @param {number} f */
function fiberTotals(f) {
	const b = trace.fiber, i = f - 1, whole = b.run[i] + b.runnable[i] + b.waited[i];
	const share = (ns) => ns ? `${duration(ns)} (${percent(ns, whole)})` : null;

	return facts([
		["Number", fiberNumber(f)],
		["Runs", count(b.runs[i])],
		["Running", share(b.run[i]), b.run[i] ? onProcText(fibersOnProc()[i], b.run[i]) : null],
		["Ran on", fiberThreads(f)],
		["Runnable", share(b.runnable[i])],
		["Waiting", share(b.waited[i]), b.waits[i] ? `, in ${plural(b.waits[i], "wait")}` : null],
		["Created", b.created[i] ? exactTime(b.created[i] - 1) : "before the trace"],
		["Created by", b.creator[i] ? [fiberLink(b.creator[i]), b.thread[i] ? " on " : ""] : null,
			threadLink(b.thread[i])],
		["Ended", b.ended[i] ? exactTime(b.ended[i] - 1) : null],
		["At the end", b.ended[i] ? null : fiberStates[b.state[i]]],
		["SQL", sqlText(`SELECT * FROM fibers WHERE id=${fiberNumber(f)}`)],
	]);
}

// On which threads it ran for how long.
/** @param {number} f */
function fiberThreads(f) {
	const runs = trace.frun, sums = new Map();

	for (let k = runs.first[f]; k < runs.first[f + 1]; k++) {
		const i = runs.order[k];
		sums.set(runs.thread[i], (sums.get(runs.thread[i]) || 0) + runs.length[i]);
	}
	const parts = [...sums].sort((a, b) => b[1] - a[1]).slice(0, 4).flatMap(([t, ns], k) =>
		[k ? ", " : "", threadLink(t), ` ${duration(ns)}`]);
	return sums.size > 4 ? [...parts, `, and ${count(sums.size - 4)} more`] : parts;
}

/** @param {number} f */
function fiberWaitsView(f) {
	const waits = trace.fwait, lo = waits.first[f], hi = waits.first[f + 1];
	const longest = Array.from(waits.order.subarray(lo, hi)).sort((a, b) => waits.length[b] - waits.length[a]);
	const list = el("ol", {class: "chain"});

	if (lo === hi)
		return null;
	for (const i of longest.slice(0, FIBER_ROWS))
		list.append(el("li", {}, link(fiberWaitLabel(i + 1), {kind: "fiberwait", id: i + 1}),
			el("span", {class: "dim"}, ` ${stackTop(waits.stack[i])}`)));
	return el("div", {}, el("h3", {}, hi - lo > FIBER_ROWS
		? `Its longest ${FIBER_ROWS} of ${count(hi - lo)} waits` : "Its waits, the longest first"), list);
}

/** @param {string} string @param {number} f */
function fiberHeading(string, f) {
	const box = el("span", {class: "swatch", "aria-hidden": "true"});

	box.style.background = fiberCss(f);
	return el("h2", {}, box, string);
}

/** @param {Chosen} sel */
export function fiberDetails(sel) {
	const f = sel.id;

	return [
		fiberHeading(fiberTitle(f), f),
		actions(sel),
		fiberTotals(f),
		fiberWaitsView(f),
		stackView("Created at", trace.fiber.stack[f - 1]),
	];
}

/** @param {Chosen} sel */
export function fiberRunDetails(sel) {
	const runs = trace.frun, r = sel.id, i = r - 1, f = runs.fiber[i], t = runs.thread[i];
	const before = fiberRunBeside(r, -1), next = fiberRunBeside(r, 1);
	const after = fiberWaitAfter(r), ended = fiberWaitBefore(r);
	const onProc = runOnProc(r);
	const cut = runs.flags[i] & RUN_CUT, end = rowEnd(runs, r), part = cut || runs.flags[i] & RUN_LOST;

	return [
		fiberHeading(`${fiberTitle(f)}: ran ${part ? "more than " : ""}${duration(runs.length[i])}` +
			onProcText(onProc, runs.length[i]), f),
		actions(sel),
		facts([
			["Fiber", fiberLink(f)],
			["Thread", threadLink(t, runs.start[i])],
			["Labels", t ? labelsDuring(t, runs.start[i], end) : null],
			["Duration", `${duration(runs.length[i])} (${count(runs.length[i])} ns)`],
			["On a proc", onProc < 0 ? null : `${duration(onProc)} (${count(onProc)} ns)`],
			["Began", cut ? `before ${exactTime(runs.start[i])}, unseen` : exactTime(runs.start[i])],
			["After", ended ? ["waiting: ", link(fiberWaitLabel(ended), {kind: "fiberwait", id: ended},
				{show: false})] : null],
			["Readied by", ended ? fiberWaker(ended) : null],
			["Ended", runs.flags[i] & RUN_OPEN ? "not before the end of the trace"
				: runs.flags[i] & RUN_LOST ? `after ${exactTime(end)}, unseen` : exactTime(end)],
			["Left", fiberLeft(r)],
			["Object", after ? objectName(trace.fwait.object[after - 1]) : null],
			["Run before", before ? fiberBeside(before, runs.start[i] - rowEnd(runs, before), t) : null],
			["Next run", next ? fiberBeside(next, runs.start[next - 1] - end, t) : null],
		]),
		after ? stackView("Left at", trace.fwait.stack[after - 1]) : null,
		ended ? stackView("Readied from", trace.fwait.waker_stack[ended - 1]) : null,
		readiedView(),
		mixView("This thread meanwhile", during([trace.threads[t - 1]], runs.start[i], end)),
		samplesView("Sampled meanwhile", during([trace.threads[t - 1]], runs.start[i], end)),
		el("h3", {}, "The fiber, whole trace"),
		fiberTotals(f),
		fiberWaitsView(f),
	];
}

// Whom the fiber readied in its selected run.
function readiedView() {
	const found = view.selection.readied || [], list = el("ol", {class: "chain"});

	if (!found.length)
		return null;
	for (const w of found.slice(0, 20))
		list.append(el("li", {}, fiberLink(trace.fwait.fiber[w - 1]), " ",
			link(fiberWaitLabel(w), {kind: "fiberwait", id: w})));
	return el("div", {}, el("h3", {}, "Readied"), list);
}

/** @param {Chosen} sel */
export function fiberWaitDetails(sel) {
	const waits = trace.fwait, w = sel.id, i = w - 1, f = waits.fiber[i], ready = fiberReady(w);
	const cut = waits.flags[i] & RUN_CUT, lost = waits.flags[i] & RUN_LOST, end = rowEnd(waits, w);
	const open = waits.flags[i] & RUN_OPEN, gone = waits.flags[i] & RUN_ENDED;
	const reason = head.reasons[waits.reason[i]], ran = !open && !gone && !lost;

	return [
		title(`${fiberReason(w)}: ${fiberTitle(f)} waited ` +
			`${fiberWaitLonger(w) ? "more than " : ""}${duration(waits.length[i])}` +
			(open && !recovered() ? " and still does" : ""), PARKED + waits.reason[i]),
		el("p", {class: "dim"}, reason ? reason[1] : ""),
		actions(sel),
		facts([
			["Fiber", fiberLink(f)],
			["Labels", setText(waits.set[i])],
			["Duration", `${duration(waits.length[i])} (${count(waits.length[i])} ns)`],
			["Left", cut ? "before the window, unseen" : exactTime(waits.start[i]), waits.thread[i] ? " on " : "",
				threadLink(waits.thread[i], waits.start[i])],
			["Readied by", fiberWaker(w)],
			["Readied → ran", ready >= 0 && ran ? duration(Math.max(0, end - ready)) : null],
			["Ran again", open ? notBeforeEnd(recovered()) : gone ? `never: it ended at ${exactTime(end)}`
				: lost ? `after ${exactTime(end)}, unseen` : exactTime(end),
			waits.end_thread[i] ? " on " : "", threadLink(waits.end_thread[i], end)],
			["Object", objectName(waits.object[i])],
			["Rank", rankText(waits, "reason", i, `waits of fibers for ${fiberReason(w)}`)],
			["SQL", sqlText(`SELECT * FROM fiber_waits WHERE id=${waits.id[i]}`)],
		]),
		stackView("Waits at", waits.stack[i]),
		stackView("Readied from", waits.waker_stack[i]),
	];
}

/** @param {number} i */
export function fiberTip(i, more) {
	const runs = trace.frun, ended = fiberWaitBefore(i + 1), after = fiberWaitAfter(i + 1);
	const endAfter = fiberEndAfter(i + 1);

	return [`${fiberTitle(runs.fiber[i])} ran ${duration(runs.length[i])}${onProcText(runOnProc(i + 1), runs.length[i])}${more}`,
		ended ? `after ${fiberWaitLabel(ended)}` : "",
		runs.reason[i] ? `left: ${reasonName(runs.reason[i])}`
			: endAfter >= 0 && endAfter <= FIBER_END_NS ? "ended" : "",
		after ? stackWords(trace.fwait.stack[after - 1]) : ""];
}

// ---- the tables beside the timeline ----

// Fibers by kind, those that ran longest first; null without any.
export function topFibers() {
	const b = trace.fiber, byKind = new Map();

	for (let i = 0; i < b.n; i++) {
		let row = byKind.get(b.kind[i]);
		if (!row) {
			row = {name: text(b.name[i]), fibers: 0, runs: 0, run: 0, runnable: 0, waited: 0, most: i};
			byKind.set(b.kind[i], row);
		}
		if (b.name[i] !== b.name[b.kind[i]])
			row.name = text(b.name[i]).replace(/\d+/g, "#");
		row.fibers++;
		row.runs += b.runs[i];
		row.run += b.run[i];
		row.runnable += b.runnable[i];
		row.waited += b.waited[i];
		if (b.run[i] > b.run[row.most])
			row.most = i;
	}
	const rows = [...byKind.values()].sort((x, y) => y.run - x.run || y.waited - x.waited);
	return topTable("fibers", rows.length > FIBER_NAMES
		? `Fibers (the first ${FIBER_NAMES} of ${count(rows.length)} names)` : "Fibers", rows, [
		{id: "name", name: "name", wide: true, key: (r) => r.name, cell: (r) => cellLine([el("button", {type: "button", class: "link",
			onclick: () => select({kind: "fiber", id: r.most + 1})}, r.name || "(no name)")],
		`${r.name}\nGo to the one that ran longest`)},
		{id: "fibers", name: "fibers", n: true, key: (r) => r.fibers, cell: (r) => count(r.fibers)},
		{id: "runs", name: "runs", n: true, key: (r) => r.runs, cell: (r) => count(r.runs)},
		{id: "running", name: "running", n: true, key: (r) => r.run, cell: (r) => duration(r.run)},
		{id: "runnable", name: "runnable", n: true, key: (r) => r.runnable, cell: (r) => duration(r.runnable)},
		{id: "waiting", name: "waiting", n: true, key: (r) => r.waited, cell: (r) => duration(r.waited)},
	], {most: FIBER_NAMES});
}

export function topFiberWaits() {
	return topTable("fiberwaits", "Top waits of fibers", topRows("fiberwait", "wait"), [
		{id: "for", name: "for, in", wide: true, key: waitKey, cell: (r) => waitCell(r.state, "", whereCell(r, "fiberwait"))},
		...waitColumns("waits", "total"),
	]);
}

// ---- over the timeline ----

// Where the fibers of a thread lie on the screen, or null if it is filtered out.
function fiberLane(thread) {
	const track = thread ? tracks.byThread[thread - 1] : undefined;

	if (!track)
		return null;
	const top = track.y - screen.scrollY;
	return track.thread.fibers ? {y: top + fibersY(), h: REGION_HEIGHT - 1}
		: {y: top + TRACK_PAD, h: tracks.stateHeight};
}

// From who readied a fiber, when it did so, to where the fiber ran again.
/** @param {CanvasRenderingContext2D} ctx @param {number} w @param {string} colour @param {number} width */
function drawReadied(ctx, w, colour, width) {
	const waits = trace.fwait, ready = fiberReady(w), i = w - 1;

	if (ready < 0 || !waits.end_thread[i])
		return false;
	return arrowBetween(ctx, fiberLane(waits.waker[i]), fiberLane(waits.end_thread[i]), ready, rowEnd(waits, w),
		colour, width);
}

// A dashed line from where a fiber was left to where it ran next.
/** @param {CanvasRenderingContext2D} ctx */
function drawAbsence(ctx, from, to) {
	const runs = trace.frun, a = fiberLane(runs.thread[from - 1]), b = fiberLane(runs.thread[to - 1]);

	if (!a || !b)
		return;
	ctx.save();
	ctx.setLineDash([4, 3]);
	ctx.strokeStyle = theme.style.text;
	ctx.lineWidth = 1.2;
	ctx.beginPath();
	const below = a.y === b.y ? a.h : a.h / 2; // what lies between is to be read
	ctx.moveTo(xOf(rowEnd(runs, from)), a.y + below);
	ctx.lineTo(xOf(runs.start[to - 1]), b.y + below);
	ctx.stroke();
	ctx.restore();
}

// The boxes on the screen, h high and y below the tracks' tops by `yOf`, of what lies in the runs of a fiber
// within a stretch of time.
/** @param {number} f */
function fiberBoxes(f, span, yOf) {
	const runs = trace.frun, hi = runs.first[f + 1], boxes = [];
	const from = Math.max(span.from, view.t0), until = Math.min(span.until, view.t1);
	let lastX = -Infinity;

	for (let i = Math.max(runs.first[f], upperBound(runs.at, runs.first[f], hi, from) - 1);
		i < hi && runs.at[i] <= until && boxes.length < OUTLINES_MAX; i++) {
		const r = runs.order[i] + 1, track = tracks.byThread[runs.thread[r - 1] - 1];
		const x0 = xOf(Math.max(runs.at[i], span.from)), x1 = xOf(Math.min(rowEnd(runs, r), span.until));
		if (!track || x1 < x0 || x1 < lastX + 2)
			continue;
		lastX = x1;
		boxes.push({x: x0, y: track.y - screen.scrollY + yOf(track), w: Math.max(x1 - x0, 1),
			h: REGION_HEIGHT - 1});
	}
	return boxes;
}

// A region lies where its fiber ran; null if it is in none.
/** @param {Chosen} sel */
export function regionBoxes(sel) {
	const g = trace.region, i = sel.id - 1;

	if (sel.kind !== "region" || !g.fiber[i])
		return null;
	return g.depth[i] >= REGION_LANES_MAX ? [] : fiberBoxes(g.fiber[i], selectionSpan(sel),
		(track) => regionsY(track) + g.depth[i] * REGION_HEIGHT);
}

// What leads to and from the selected fiber; returns how many arrows it drew.
/** @param {CanvasRenderingContext2D} ctx @param {Chosen} sel */
export function drawFiber(ctx, sel) {
	const f = selectionFiber(sel);
	let before = 0, next = 0, drawn = 0;

	for (const box of fiberBoxes(f, {from: trace.begin, until: trace.span}, fibersY))
		drawBox(ctx, box, theme.style.accent, 1);
	if (sel.kind === "fiberrun") {
		const ended = fiberWaitBefore(sel.id);
		before = fiberRunBeside(sel.id, -1);
		next = fiberRunBeside(sel.id, 1);
		for (const w of view.selection.readied || [])
			drawn += Number(drawReadied(ctx, w, theme.style.dim, 1.2));
		drawn += ended ? Number(drawReadied(ctx, ended, theme.style.accent, 2)) : 0;
		if (before)
			drawAbsence(ctx, before, sel.id);
		if (next)
			drawAbsence(ctx, sel.id, next);
	} else if (sel.kind === "fiberwait") {
		before = fiberRunBefore(sel.id);
		next = fiberRunAfter(sel.id);
		if (before && next)
			drawAbsence(ctx, before, next);
		drawn += Number(drawReadied(ctx, sel.id, theme.style.accent, 2));
	}
	return drawn;
}
