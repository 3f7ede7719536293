// when.js - a range of time that is typed, in the forms of --window (analyzer/model/selection_window.c): 1.2s..1.35s, 350ms..,
// 1.2s..+80ms, of the clock in UTC 11:47:52.2..+300ms or 2026-11-24T11:47:52Z.., and task:ID.

import {selectionNamed} from "./address.js";
import {head, visible} from "./data.js";
import {UNITS, byId, cutText, duration} from "./format.js";
import {rangeSet} from "./input.js";
import {trace} from "./rows.js";
import {selectionSpan} from "./select.js";
import {view, viewBeyond, viewSet} from "./view.js";

/** @type {[string, number][]} */
const WHEN_UNITS = [["ns", 1], ["us", 1e3], ["µs", 1e3], ["ms", 1e6], ["min", 60e9], ["s", 1e9]];
const WHEN_DAY_NS = 86400e9, WHEN_FORMS = "1.2s..1.35s, 1.2s..+80ms, 350ms.. or, of the clock in UTC, 11:47:52.2..+300ms";

// "1.2s", "2 min 05 s" in nanoseconds, up to four numbers with units; null = it is none.
/** @param {string} string */
function whenDuration(string) {
	let rest = string.trim(), ns = 0;

	if (/^(0+\.?0*|\.0+)$/.test(rest))
		return 0; // nought is nought in any unit
	for (let terms = 0; rest && terms < 4; terms++) {
		const [all, number, unit] = /^(\d+\.?\d*|\.\d+) *(ns|us|µs|ms|min|s) */.exec(rest) || [];
		if (!all)
			return null;
		ns += Math.round(Number(number) * new Map(WHEN_UNITS).get(unit));
		rest = rest.slice(all.length);
	}
	return rest || !string.trim() || ns > 2 ** 61 ? null : ns;
}

// "11:47:52.25", with a date or without, in nanoseconds since a midnight: {ns, day: that of the date, or null}; null = it is none.
/** @param {string} string */
function whenClock(string) {
	const [all, date, hour, minute, second, part = ""] = /^ *(?:(\d{4}-\d\d-\d\d)[T ])?(\d\d):(\d\d):(\d\d)(?:[.,](\d+))? *(?:Z|UTC)? *$/.exec(string) || [];
	const day = date ? Date.parse(`${date}T00:00:00Z`) : null;

	if (!all || Number(hour) > 23 || Number(minute) > 59 || Number(second) > 60)
		return null;
	if (date && (Number.isNaN(day) || new Date(day).toISOString().slice(0, 10) !== date))
		return null; // no 31st of February
	return {ns: ((Number(hour) * 60 + Number(minute)) * 60 + Number(second)) * 1e9 + Number(part.slice(0, 9).padEnd(9, "0")), day};
}

// One end of a range: {open}, {since: nanoseconds since the begin}, {after: nanoseconds after the other end} or {clock}; null = it is none.
/** @param {string} string @returns {WhenEnd | null} */
function whenEnd(string) {
	const text = string.trim(), after = text.startsWith("+");

	if (!text)
		return {open: true};
	if (text.includes(":")) {
		const clock = whenClock(text);
		return clock && {clock};
	}
	const ns = whenDuration(after ? text.slice(1) : text);
	return ns === null ? null : after ? {after: ns} : {since: ns};
}

// A time of the clock as one since the trace's begin.  One without a date is on that day which brings it nearest to the trace.
/** @param {{ns: number, day: number | null}} clock @param {WhenTrace} about */
function whenSince({ns, day}, {unixMs, unixRest, lasts}) {
	const midnightMs = unixMs - unixMs % (WHEN_DAY_NS / 1e6), since = (/** @type {number} */ dayMs) => (dayMs - unixMs) * 1e6 + ns - unixRest;
	const off = (/** @type {number} */ at) => at < 0 ? -at : Math.max(0, at - lasts);

	if (day !== null)
		return since(day);
	return [-1, 0, 1].map((days) => since(midnightMs + days * WHEN_DAY_NS / 1e6)).reduce((best, at) => off(at) < off(best) ? at : best);
}

// A time since the begin by the clock as it went there, as one by the trace: the clock may have been set, and goes at another rate.  The last
// step at which the clock read no more is the one, as in --window.
/** @param {number} since @param {[number, number][]} [steps] */
function whenByTrace(since, steps = []) {
	const [byClock, at] = steps.findLast(([read]) => read <= since) || [0, 0];

	return at + since - byClock;
}

/** @param {WhenTrace} about @param {boolean} byClock */
function whenSpanText({unixMs, unixRest, lasts}, byClock) {
	const at = (/** @type {number} */ ms) => new Date(ms).toISOString().replace("T", " ").replace("Z", "");

	return byClock ? `is of ${at(unixMs)} to ${at(unixMs + (unixRest + lasts) / 1e6).slice(11)} UTC` : `lasts ${duration(lasts)}`;
}

// What is typed as {t0, t1}, or {error: in one line}.  unixMs and unixRest: the clock at the trace's begin, whole
// milliseconds and nanoseconds after them; 0 = not known.
/** @param {string} string @param {WhenTrace} about @returns {{t0?: number, t1?: number, error?: string}} */
export function whenRead(string, about) {
	const typed = `“${cutText(visible(string.trim()), 60)}”`, dots = string.indexOf("..");
	const from = dots < 0 ? null : whenEnd(string.slice(0, dots)), to = dots < 0 ? null : whenEnd(string.slice(dots + 2));

	if (!from || !to || from.after !== undefined)
		return {error: `${typed} is no range of time: write ${WHEN_FORMS}`};
	const byClock = Boolean(from.clock || to.clock), at = (/** @type {NonNullable<ReturnType<typeof whenEnd>>} */ end, /** @type {number} */ otherwise) => end.open ? otherwise : end.clock ? whenByTrace(whenSince(end.clock, about), about.clock) : end.since;
	if (byClock && !about.unixMs)
		return {error: `${typed}: the trace does not say what time it was`};
	const t0 = at(from, 0), t1 = to.after !== undefined ? t0 + to.after : at(to, Infinity);
	if (t0 >= t1)
		return {error: t0 === t1 ? `${typed} is empty` : `${typed} ends before it begins`};
	if (t0 > about.lasts || t1 <= 0)
		return {error: `${typed}: the trace ${whenSpanText(about, byClock)}`};
	return {t0: Math.max(t0, 0), t1: Math.min(t1, about.lasts)};
}

// ---- the field ----

// A range as it is typed: to the nanosecond.
/** @param {TimeRange} range */
export function whenText({t0, t1}) {
	const time = (/** @type {number} */ ns) => {
		const [unit, size] = UNITS.find(([, s]) => ns >= s) || UNITS[UNITS.length - 1];
		return `${Number((ns / size).toFixed(Math.log10(size)))}${unit}`;
	};

	return `${time(Math.round(t0))}..${time(Math.round(t1))}`;
}

// The field has the range that is selected, unless somebody types.
function whenDraw() {
	const field = byId("when");

	if (document.activeElement === field && !field.readOnly)
		return;
	field.value = view.range ? whenText(view.range) : "";
	whenSay("");
}

/** @param {string} error */
function whenSay(error) {
	const box = byId("when-error");

	box.textContent = error;
	box.hidden = !error;
	byId("when").setAttribute("aria-invalid", String(Boolean(error)));
}

// Where a task is, by its id; as --window has it.
/** @param {string} string */
function whenTask(string) {
	const [, id] = /^\s*task:(\d+)\s*$/.exec(string) || [], sel = id && selectionNamed("task", id), span = sel && selectionSpan(sel);

	if (id === undefined)
		return null;
	return span && span.until > span.from ? {t0: span.from, t1: span.until} : {error: `the page has no task ${id} that took time`};
}

// Selects and shows what was typed; nothing typed clears the range.
/** @param {string} string */
function whenGo(string) {
	const asked = string.trim() ? whenTask(string) || whenRead(string, {unixMs: head.start_unix_ms || 0,
		unixRest: head.start_unix_rest_ns || 0, lasts: head.span_ns, clock: head.clock}) : {};

	if (asked.t0 !== undefined && (asked.t1 <= trace.begin || asked.t0 >= trace.span)) {
		viewBeyond(asked.t0, asked.t1);
		asked.error = `this page shows ${duration(trace.begin)} to ${duration(trace.span)} of the trace`;
	}
	whenSay(asked.error || "");
	if (asked.error)
		return;
	byId("canvases").focus({preventScroll: true});
	if (asked.t0 === undefined) {
		if (view.range)
			rangeSet(null);
		return;
	}
	const t0 = Math.max(asked.t0, trace.begin), t1 = Math.min(asked.t1, trace.span), margin = (t1 - t0) * 0.05;
	rangeSet({t0, t1});
	viewSet(t0 - margin, t1 + margin);
}

export function whenInit() {
	const field = byId("when");

	field.placeholder = "1.2s..1.35s";
	field.title = `A range of time, typed (M): ${WHEN_FORMS}`;
	field.addEventListener("keydown", (event) => {
		if (event.key !== "Enter" && event.key !== "Escape")
			return;
		event.preventDefault();
		event.stopPropagation();
		if (event.key === "Enter") {
			whenGo(field.value);
			return;
		}
		byId("canvases").focus({preventScroll: true});
		whenDraw();
	});
	field.addEventListener("input", () => whenSay(""));
	field.addEventListener("blur", () => byId("when-error").hidden && whenDraw());
	view.listeners.push((what) => what === "range-selection" || what === "selection" ? whenDraw() : undefined);
}
