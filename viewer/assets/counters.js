// counters.js - counters: their tracks, their values in units, and what is known of one value.
//
// A selected value is {kind, id}: of a counter of the program's (kind "counter") its row of trace.counter + 1, of those that are
// made of rows of procs (kinds "queue" and "busy", procs.js) the number of its step + 1.

import {rowsBy} from "./annotations.js";
import {head, text, textCount} from "./data.js";
import {unzigzag} from "./decode.js";
import {actions, facts, labelsAt, link, threadLink, title} from "./details.js";
import {FONT, TEXT_HEIGHT, screen, textWidth} from "./draw.js";
import {sqlText} from "./export.js";
import {fiberAt} from "./fibers_details.js";
import {amount, count, duration, el, exactTime, percent, upperBound} from "./format.js";
import {theme} from "./palette.js";
import {procTracks, schedKnown} from "./procs.js";
import {COUNTER_TRACKS_MAX, trace} from "./rows.js";
import {select} from "./select.js";
import {COUNTER_HEIGHT, TRACK_PAD, tracks} from "./tracks.js";
import {timeAt, view, xOf} from "./view.js";

const MEMORY_NAME = "memory in use, estimated"; // of samples of allocations (viewer/rows_user.c): no rows of SQL's counters
const COUNTER_RANGE_MAX = 20; // counters that are told of a range

// A name may end in the unit of its values: "sent [bytes]".
/** @param {string} string */
export function counterName(string) {
	const parts = /^(.*\S)\s*\[([^[\]]+)\]$/su.exec(string);

	return parts ? {name: parts[1], unit: parts[2].trim()} : {name: string, unit: ""};
}

/** @param {string} string @returns {Track} */
export function counterMake(string, kind, at, value) {
	const track = {...counterName(string), kind: /** @type {Track["kind"]} */ ("counter"), hitKind: kind, at, value, min: Infinity, max: -Infinity};

	for (const v of value) {
		track.min = Math.min(track.min, v);
		track.max = Math.max(track.max, v);
	}
	return track;
}

export function countersLoad() {
	const c = trace.counter, {first, order} = rowsBy(c.name, textCount());
	const all = [];

	for (let name = 0; name + 1 < first.length; name++) {
		const rows = order.subarray(first[name], first[name + 1]);
		if (!rows.length)
			continue;
		all.push({...counterMake(text(name) || "(no name)", "counter", Float64Array.from(rows, (i) => c.time[i]),
			Float64Array.from(rows, (i) => unzigzag(c.value[i]))), type: name, rows});
	}
	all.sort((a, b) => a.rows[0] - b.rows[0]);
	trace.counters = all;
	trace.counterTracks = all.slice(0, COUNTER_TRACKS_MAX);
}

/** @param {Track} track @param {number} v */
function counterAmount(track, v) {
	return amount(v, v === 1 && track.unitOne || track.unit);
}

// ---- which value ----

/** @param {string} kind */
export function isCounterKind(kind) {
	return kind === "counter" || kind === "queue" || kind === "busy";
}

// The counter of a selection, drawn or not, and the number of its value there; null = there is none.
/** @param {Chosen} sel @returns {{track: Track, i: number} | null} */
export function counterPlace(sel) {
	if (sel.kind !== "counter") {
		const track = schedKnown() && procTracks().find((one) => one.hitKind === sel.kind);
		return track && sel.id >= 1 && sel.id <= track.at.length ? {track, i: sel.id - 1} : null;
	}
	const track = trace.counters.find((one) => one.type === trace.counter.name[sel.id - 1]);
	return track ? {track, i: upperBound(track.rows, 0, track.rows.length, sel.id - 1) - 1} : null;
}

// The selection for value i of a track.
/** @param {Track} track @param {number} i @returns {Chosen} */
export function counterChosen(track, i) {
	return {kind: track.hitKind, id: track.rows ? track.rows[i] + 1 : i + 1};
}

// A value holds until the next one.
/** @param {Track} track @param {number} i */
function counterUntil(track, i) {
	return i + 1 < track.at.length ? track.at[i + 1] : trace.span;
}

/** @param {Chosen} sel */
export function counterSpan(sel) {
	const place = counterPlace(sel);

	return place && {from: place.track.at[place.i], until: counterUntil(place.track, place.i)};
}

// What a counter was at the end of the column of pixels at x.  `among`: how many values it was given there.
/** @param {Track} track @param {number} x @returns {Hit | null} */
export function counterPick(track, x) {
	const {at} = track, column = Math.floor(x), i = upperBound(at, 0, at.length, timeAt(column + 1)) - 1;

	return i < 0 ? null : {...counterChosen(track, i), among: i + 1 - upperBound(at, 0, at.length, timeAt(column)), track, index: i};
}

// The value before (-1) or after (1) the selected one.
/** @param {Chosen} sel @param {number} step */
export function counterStep(sel, step) {
	const {track, i} = counterPlace(sel);

	if (i + step >= 0 && i + step < track.at.length)
		select(counterChosen(track, i + step));
}

// ---- the picture ----

/** @param {Track} track @param {number} v */
function counterY(track, v) {
	const {min, max} = track;

	return TRACK_PAD + (max > min ? COUNTER_HEIGHT - 2 - (v - min) / (max - min) * (COUNTER_HEIGHT - 3) : COUNTER_HEIGHT / 2);
}

// A step line; where many values share a pixel, a vertical stroke over all of them.
/** @param {CanvasRenderingContext2D} ctx @param {Track} track */
export function drawCounter(ctx, track, top) {
	const {at, value, min, max} = track, yOf = (v) => top + counterY(track, v);
	const last = upperBound(at, 0, at.length, view.t1);
	let i = Math.max(0, upperBound(at, 0, at.length, view.t0) - 1);
	let y = yOf(value[i]);

	ctx.strokeStyle = theme.style.accent;
	ctx.lineWidth = 1;
	ctx.beginPath();
	ctx.moveTo(xOf(at[i]), y);
	while (++i < last) {
		const x = xOf(at[i]);
		let low = y, high = y;
		ctx.lineTo(x, y);
		for (; i < last && xOf(at[i]) < x + 0.7; i++) {
			y = yOf(value[i]);
			low = Math.min(low, y);
			high = Math.max(high, y);
		}
		i--;
		ctx.lineTo(x, low);
		ctx.lineTo(x, high);
		ctx.lineTo(x, y);
	}
	ctx.lineTo(Math.min(view.width, xOf(trace.span)), y);
	ctx.stroke();
	ctx.font = FONT;
	drawLimit(ctx, counterAmount(track, max), top + 8);
	if (max > min)
		drawLimit(ctx, counterAmount(track, min), top + TRACK_PAD + COUNTER_HEIGHT - 3);
}

// A counter's largest or least value, at the left, over its line; y: of its middle.
/** @param {CanvasRenderingContext2D} ctx @param {string} string @param {number} y */
function drawLimit(ctx, string, y) {
	ctx.textBaseline = "middle";
	ctx.fillStyle = theme.style.bg;
	ctx.fillRect(0, y - TEXT_HEIGHT / 2, textWidth(ctx, string) + 6, TEXT_HEIGHT);
	ctx.fillStyle = theme.style.dim;
	ctx.fillText(string, 3, y);
}

// One value over the line, for as long as it held: selected, or under the pointer.
/** @param {CanvasRenderingContext2D} ctx @param {Chosen} sel @param {string} colour @param {number} width */
export function drawCounterValue(ctx, sel, colour, width) {
	const place = counterPlace(sel);

	if (!place || !tracks.all.includes(place.track))
		return;
	const {track, i} = place, y = track.y - screen.scrollY + counterY(track, track.value[i]);
	const x0 = Math.max(xOf(track.at[i]), -9), x1 = Math.min(xOf(counterUntil(track, i)), view.width + 9);
	if (x1 < 0 || x0 > view.width)
		return;
	ctx.fillStyle = colour;
	ctx.fillRect(x0, y - width / 2, Math.max(x1 - x0, 1), width);
	ctx.beginPath();
	ctx.arc(x0, y, width + 1, 0, 7);
	ctx.fill();
}

// ---- in words ----

/** @param {Hit} hit */
export function counterTip({track, index, among}) {
	const {value} = track, from = Math.min(Math.max(0, index - among + 1), index);
	let low = value[index], high = low;

	for (let i = from; i < index; i++) {
		low = Math.min(low, value[i]);
		high = Math.max(high, value[i]);
	}
	return [`${track.name} ${counterAmount(track, value[index])}`,
		from < index ? `the last of ${count(index - from + 1)} values here, ${counterAmount(track, low)} to ${counterAmount(track, high)}`
			: `for ${duration(counterUntil(track, index) - track.at[index])}`];
}

// Over [t0, t1): {least, most} with the numbers of values, of equal ones of that which lasted longest, and the mean by time; null = it had no
// value yet.
/** @param {Track} track @param {number} t0 @param {number} t1 */
export function counterSums(track, t0, t1) {
	const {at, value} = track, first = Math.max(0, upperBound(at, 0, at.length, t0) - 1);
	let least = first, most = first, sum = 0, time = 0, leastFor = 0, mostFor = 0;

	if (!at.length || at[first] >= t1)
		return null;
	for (let i = first; i < at.length && at[i] < t1; i++) {
		const lasted = Math.min(counterUntil(track, i), t1) - Math.max(at[i], t0);
		sum += value[i] * lasted;
		time += lasted;
		if (value[i] < value[least] || (value[i] === value[least] && lasted > leastFor))
			[least, leastFor] = [i, lasted];
		if (value[i] > value[most] || (value[i] === value[most] && lasted > mostFor))
			[most, mostFor] = [i, lasted];
	}
	return {least, most, mean: time > 0 ? sum / time : value[first]};
}

// For how long a counter was each of its values, the largest first: [value, time, the number of the one that lasted longest].  Of more values
// than `most` none is told: they would tell nobody anything, and take long to sort.
/** @param {Track} track @param {number} t0 @param {number} t1 @param {number} most @returns {[number, number, number][]} */
export function counterTimes(track, t0, t1, most) {
	const {at, value} = track, times = new Map(), lasted = (i) => Math.min(counterUntil(track, i), t1) - Math.max(at[i], t0);

	for (let i = Math.max(0, upperBound(at, 0, at.length, t0) - 1); i < at.length && at[i] < t1; i++) {
		if (lasted(i) <= 0)
			continue;
		const [ns, longest] = times.get(value[i]) || [0, i];
		times.set(value[i], [ns + lasted(i), lasted(i) > lasted(longest) ? i : longest]);
		if (times.size > most)
			return [];
	}
	return [...times].map(([v, [ns, longest]]) => /** @type {[number, number, number]} */ ([v, ns, longest])).sort((a, b) => b[0] - a[0]);
}

const COUNTER_TIMES_MAX = 12;

// Of a counter of a few values, as the run queue, how long it was each of them: a value that lasted says more than the largest.
/** @param {Track} track @param {number} t0 @param {number} t1 */
function counterTimesView(track, t0, t1) {
	const times = counterTimes(track, t0, t1, 4 * COUNTER_TIMES_MAX), body = el("tbody");

	if (times.length < 2)
		return null;
	for (const [, ns, longest] of times.slice(0, COUNTER_TIMES_MAX))
		body.append(el("tr", {}, el("td", {}, counterLink(track, longest)), el("td", {class: "n"}, duration(ns)), el("td", {class: "n"}, percent(ns, t1 - t0)),
			el("td", {class: "n"}, duration(counterUntil(track, longest) - track.at[longest]))));
	const names = el("tr", {}, el("th", {scope: "col"}, "value"), ...["for", "of the time", "longest"].map((name) => el("th", {class: "n", scope: "col"}, name)));
	return el("div", {}, el("h3", {}, times.length > COUNTER_TIMES_MAX ? `Its ${COUNTER_TIMES_MAX} largest values` : "Its values"),
		el("table", {}, el("thead", {}, names), body));
}

// A value as a link to when it was; of several times the longest.
/** @param {Track} track @param {number} i */
function counterExtreme(track, i) {
	return [counterLink(track, i), `, for ${duration(counterUntil(track, i) - track.at[i])} at the longest`];
}

// A value as a link to when it was.
/** @param {Track} track @param {number} i */
function counterLink(track, i) {
	return link(counterAmount(track, track.value[i]), counterChosen(track, i));
}

// With the exact number where the words have less.
/** @param {Track} track @param {number} v */
function exactAmount(track, v) {
	const words = counterAmount(track, v), exact = amount(v, "");

	return words.startsWith(exact) ? words : `${words} (${exact}${track.unit === "bytes" ? " bytes" : ` ${track.unit}`})`;
}

// Who set it; of what follows from rows of procs nobody did.
/** @param {Chosen} sel */
function counterSetBy({kind, id}) {
	const {time, thread} = trace.counter, i = id - 1;

	return kind !== "counter" || !thread[i] ? [] : [
		["Set by", threadLink(thread[i], time[i])],
		["Fiber", fiberAt(thread[i], time[i])],
		["Labels", labelsAt(thread[i], time[i])]];
}

/** @param {Chosen} sel */
export function counterDetails(sel) {
	const {track, i} = counterPlace(sel), {at, value} = track, until = counterUntil(track, i);
	const sums = counterSums(track, trace.begin, trace.span), by = i > 0 ? value[i] - value[i - 1] : 0;
	const thread = sel.kind === "counter" && track.name !== MEMORY_NAME ? trace.threads[trace.counter.thread[sel.id - 1] - 1] : null;

	return [
		title(`${track.name}: ${counterAmount(track, value[i])}`),
		track.title ? el("p", {class: "dim"}, track.title) : null,
		actions(sel),
		facts([
			["Value", exactAmount(track, value[i])],
			["Before", i > 0 ? [counterLink(track, i - 1), `, ${by < 0 ? "" : "+"}${counterAmount(track, by)}`] : "not known"],
			["From", exactTime(at[i])],
			["Until", i + 1 < at.length ? [exactTime(until), ", then ", counterLink(track, i + 1)] : "not before the end of the trace"],
			["Lasted", duration(until - at[i])],
			...counterSetBy(sel),
			["Least", counterExtreme(track, sums.least)],
			["Mean over time", counterAmount(track, sums.mean)],
			["Largest", counterExtreme(track, sums.most)],
			["Values", count(at.length)],
			["SQL", thread ? sqlText(`SELECT * FROM counters WHERE thread=${thread.serial} AND ts_ns=${
				BigInt(head.start_ns) + BigInt(at[i])}`) : null],
		]),
		counterTimesView(track, trace.begin, trace.span),
	];
}

// What counters were in a range.
/** @param {TimeRange} range */
export function countersView({t0, t1}) {
	const body = el("tbody"), all = trace.counterTracks.slice(0, COUNTER_RANGE_MAX);

	for (const track of all) {
		const sums = counterSums(track, t0, t1);
		if (sums)
			body.append(el("tr", {}, el("td", {class: "wide"}, el("div", {class: "line", title: track.name}, track.name)),
				el("td", {class: "n"}, counterLink(track, sums.least)), el("td", {class: "n"}, counterAmount(track, sums.mean)),
				el("td", {class: "n"}, counterLink(track, sums.most))));
	}
	if (!body.childElementCount)
		return null;
	const names = el("tr", {}, el("th", {scope: "col"}, "counter"), ...["least", "mean", "largest"].map((name) =>
		el("th", {class: "n", scope: "col"}, name)));
	return el("div", {}, el("h3", {}, all.length < trace.counterTracks.length ? `The first ${count(all.length)} of ${
		count(trace.counterTracks.length)} counters in this range` : "Counters in this range"),
	el("table", {}, el("thead", {}, names), body));
}
