// samples.js - samples: what one says, and which functions many of them are in.

import {head, moduleName, text} from "./data.js";
import {during, facts, labelLinks, stackView, threadLink, title} from "./details.js";
import {fiberAt} from "./fibers_details.js";
import {sampleWorth} from "./flame_items.js";
import {amount, count, el, exactTime, percent, plural, upperBound} from "./format.js";
import {marginOf, marginPart, marginShare, marginSpan, marginText, partAdd,
	partJoin} from "./margins.js";
import {reasonColours, theme} from "./palette.js";
import {OWNER_TRC, frameFunction, setText, stackFrames, trace, underAt} from "./rows.js";
import {bannerAdd, cellLine, topTable} from "./tops.js";

const SAMPLE_ROWS = 12, NOT_SAMPLED = "(not sampled)";
export const TRC_ITSELF = "trc, recording";
const sampleHues = ["flock", "read", "mutex", "barrier", "connect", "user"];

export function sampleEventName(event) {
	return event ? text(trace.sampled.name[event - 1]) || `event ${trace.sampled.event[event - 1]}` : "?";
}

// A quantity of an event in its unit; event 0 = not known.
export function sampleAmount(event, value) {
	return amount(value, event ? text(trace.sampled.unit[event - 1]) : "");
}

// Each occurrence of the event has a sample in the page: sums of these are exact, and have no margin.
export function isCounted(event) {
	return Boolean(event && trace.sampled.counted[event - 1] && !(head.sample_step > 1));
}

// Clocks in the colour of running, other events in colours of their own.
export function sampleColour(event) {
	if (!event || text(trace.sampled.unit[event - 1]) === "nanoseconds")
		return theme.style.text;
	return reasonColours[sampleHues[event % sampleHues.length]][theme.dark ? 2 : 1];
}

function frameName(frame) {
	return frame.function || frame.address;
}

// The function that the sample hit, whichever library it is in.
/** @param {number} stack */
export function sampleTop(stack) {
	const [frame] = stackFrames(stack);

	if (!frame)
		return "(no stack)";
	return frame.owner === OWNER_TRC ? `${frameName(frame)} (${TRC_ITSELF})` : frameName(frame);
}

/** @param {number} i */
export function sampleText(i) {
	const s = trace.sample;

	return `sample of ${sampleEventName(s.event[i])}: ${sampleAmount(s.event[i], s.value[i])}`;
}

/** @param {Chosen} sel */
export function sampleDetails(sel) {
	const s = trace.sample, i = sel.id - 1, event = s.event[i], e = trace.sampled;

	return [
		title(sampleText(i)),
		facts([
			["In", sampleTop(s.stack[i])],
			["Thread", threadLink(s.thread[i], s.time[i])],
			["Fiber", fiberAt(s.thread[i], s.time[i])],
			["Labels", sampleLabels(i)],
			["Time", exactTime(s.time[i])],
			["Taken by", event ? text(e.how[event - 1]) : null],
			["Period", event && e.period[event - 1] ? sampleAmount(event, e.period[event - 1]) : null],
			["Rate", event && e.rate[event - 1] ? `${count(e.rate[event - 1])} Hz` : null],
		]),
		stackView("The thread was at", s.stack[i], {whole: true}),
	];
}

// A sample tells its own labels; where the page has the time under them, they lead there.
/** @param {number} i */
function sampleLabels(i) {
	const s = trace.sample, under = underAt(s.thread[i] - 1, s.time[i]);

	return under && trace.under.set[under - 1] === s.set[i] ? labelLinks(under) : setText(s.set[i]);
}

// By stack and thread, the samples of each event in these stretches of threads.
/** @param {Stretch[]} stretches */
function samplesByStack(stretches) {
	const s = trace.sample, events = new Map();

	for (const {thread, from, until} of stretches) {
		const hi = thread ? s.first[thread.idx + 2] : 0;
		let i = thread ? upperBound(s.at, s.first[thread.idx + 1], hi, from - 1) : 0;
		for (; i < hi && s.at[i] < until; i++) {
			const row = s.order[i], event = s.event[row];
			if (!events.has(event))
				events.set(event, new Map());
			const sums = events.get(event);
			if (!sums.has(s.stack[row]))
				sums.set(s.stack[row], new Map());
			const parts = sums.get(s.stack[row]);
			if (!parts.has(thread))
				parts.set(thread, marginPart());
			partAdd(parts.get(thread), sampleWorth(row));
		}
	}
	return events;
}

// Adds parts by thread to others.
function partsJoin(to, parts) {
	for (const [thread, part] of parts) {
		if (!to.has(thread))
			to.set(thread, marginPart());
		partJoin(to.get(thread), part);
	}
}

// From samples by stack: {rows: [{name, module, self, total}], whole, seen}, those with most of their own first.  A row has the
// stacks of both, for its margins, and `margin(stacks)` says what these are.
// Shares are of `whole`: what no sample stands for is a row of its own, above all.
// What was sampled in trc's own code, which the program would not run without trc, is one row.  That trc
// is somewhere in a stack means nothing: it begins the threads.
function functionSums(byStack, unseen) {
	const rows = new Map(), threads = new Map();
	let seen = 0;

	for (const [stack, parts] of byStack) {
		const frames = stackFrames(stack), counted = new Set();
		const value = [...parts.values()].reduce((sum, part) => sum + part.value, 0);
		seen += value;
		partsJoin(threads, parts);
		for (const [depth, frame] of (frames.length ? frames : [{row: -1}]).entries()) {
			const own = frame.owner === OWNER_TRC, name = own ? TRC_ITSELF : frame.row < 0 ? "(no stack)" : frameFunction(frame.row);
			const module = frame.owner && !own ? moduleName(frame.module) : "", key = `${name}\n${module}`;
			if (own && depth)
				continue;
			if (!rows.has(key))
				rows.set(key, {name, module, own, self: 0, total: 0, selfStacks: [], totalStacks: []});
			const row = rows.get(key);
			if (!depth) {
				row.self += value;
				row.selfStacks.push(stack);
			}
			if (!counted.has(key)) { // one that calls itself counts once
				row.total += value;
				row.totalStacks.push(stack);
			}
			counted.add(key);
		}
	}
	// Of what the C library calls threads with, and the like, nothing is to be learnt.
	const inOrder = [...rows.values()].filter((r) => r.self || (!r.module && r.name !== "_start")).sort((a, b) => b.self - a.self || b.total - a.total);
	const above = unseen ? [{name: NOT_SAMPLED, module: "", own: true, self: unseen, total: unseen, selfStacks: [], totalStacks: []}] : [];
	const all = marginOf(threads, threads);
	const margin = (stacks) => {
		const parts = new Map();
		for (const stack of stacks)
			partsJoin(parts, byStack.get(stack));
		return marginShare(marginOf(parts, threads), all);
	};
	return {rows: [...above, ...inOrder], whole: seen + unseen, seen, margin};
}

function functionColumns(event, whole, margin) {
	const share = (value, stacks) => [percent(value, whole), marginSpan(marginText(margin(stacks), whole))];

	return [
		{id: "function", name: "function", wide: true, key: (r) => r.name, cell: (r) => cellLine([el("span", {class: r.own ? "dim" : undefined}, r.name),
			r.module ? el("span", {class: "dim"}, ` ${r.module}`) : null])},
		{id: "self", name: "self", n: true, key: (r) => r.self, cell: (r) => r.self ? sampleAmount(event, r.self) : ""},
		{name: "", n: true, cell: (r) => r.self ? el("span", {}, ...share(r.self, r.selfStacks)) : ""},
		{id: "total", name: "total", n: true, key: (r) => r.total, cell: (r) => el("span", {}, ...share(r.total, r.totalStacks))},
	];
}

// Notes of the recorder (recorder/shared/cpu_event_settle.c).  Those on the rate are about how samples are taken as a rule, and change
// nothing of what they tell: they stand below the table, as in the report, and not above the timeline.
/** @param {number} event */
function notesOf(event) {
	const notes = trace.sampled.note[event - 1] ? text(trace.sampled.note[event - 1]).split("; ") : [];
	const isOfRate = (/** @type {string} */ note) => /^(counters for each thread's first|at most) /.test(note);

	return {all: notes.join("; "), limits: notes.filter((note) => !isOfRate(note)).join("; ")};
}

// One table an event: which functions the samples are in.
function samplesTables(events, headingOf, unseenOf) {
	return [...events.keys()].sort((a, b) => a - b).map((event) => {
		const {rows, whole, seen, margin} = functionSums(events.get(event), unseenOf(event));

		return topTable(`samples${event}`, headingOf(event, seen), rows, functionColumns(event, whole, isCounted(event) ? () => 0 : margin),
			{most: SAMPLE_ROWS + Number(rows[0]?.name === NOT_SAMPLED)});
	});
}

// The samples of some stretches of threads, for the details; null without any.
/** @param {string} heading @param {Stretch[]} stretches */
export function samplesView(heading, stretches) {
	const events = samplesByStack(stretches);

	if (!events.size)
		return null;
	return el("div", {}, el("h3", {}, heading), ...samplesTables(events,
		(event, seen) => `${sampleEventName(event)}: ${sampleAmount(event, seen)}`, () => 0));
}

export function topFunctions() {
	const events = samplesByStack(during(trace.threads, trace.begin, trace.span + 1));
	const tables = samplesTables(events, (event, seen) => `Where it ran (${sampleEventName(event)}: ${sampleAmount(event, seen)})`,
		(event) => event && !head.cut ? trace.sampled.unseen[event - 1] : 0); // of a part nobody knows them

	for (const [i, event] of [...events.keys()].sort((a, b) => a - b).entries()) {
		const {all} = event ? notesOf(event) : {all: ""};
		if (all)
			tables[i]?.append(el("p", {class: "dim"}, `How samples were taken: ${all}.`));
	}
	return tables;
}

// Fewer lost samples than that change no share that one would notice.
const FEW_LOST = 0.02;

// What is to be known of samples that are not there.
export function sampleBanners() {
	const e = trace.sampled, inTrace = head.cut ? ", in the whole trace" : "";

	for (let i = 0; i < e.n; i++) {
		if (e.lost[i])
			bannerAdd(e.lost[i] > FEW_LOST * (e.lost[i] + e.count[i]) ? "warn" : "note", `${plural(e.lost[i], "sample")} of ${sampleEventName(i + 1)} lost, beside ` +
				`${count(e.count[i])} taken${inTrace}.`);
		if (e.missing[i])
			bannerAdd("warn", `${plural(e.missing[i], "thread")} not sampled by ${sampleEventName(i + 1)}${inTrace}.`);
		if (notesOf(i + 1).limits)
			bannerAdd("note", `${sampleEventName(i + 1)}: ${notesOf(i + 1).limits}`);
	}
	if (head.sample_step > 1)
		bannerAdd("note", `One of ${count(head.sample_step)} samples is in this page; sums are estimated from them.`);
}
