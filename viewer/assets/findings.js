// findings.js - what the report leads with: how the process ended, deadlocks, and what is not in the
// trace.  It stands above the timeline, and, while nothing is selected, in the place of details.

import {head, infoOf, text, visible} from "./data.js";
import {actions, facts, link, stackView, threadLink, title} from "./details.js";
import {copyIcon} from "./export.js";
import {duration, el, exactTime, plural} from "./format.js";
import {rangeSet, zoomToSelection} from "./input.js";
import {MARK_FATAL, recovered, trace} from "./rows.js";
import {select} from "./select.js";
import {sqlIsThere, sqlOpen} from "./sql.js";
import {bannerAdd} from "./tops.js";
import {MIN_SPAN, view} from "./view.js";

// Rows of trace.mark of signals that ended the process.
function fatalMarks() {
	return Array.from({length: trace.mark.n}, (_, i) => i).filter((i) => trace.mark.kind[i] === MARK_FATAL);
}

// What ended the process, if that was not its own will.
function killedBy() {
	return infoOf("ended").startsWith("killed by") ? infoOf("ended") : "";
}

function endText() {
	if (head.complete)
		return "";
	return head.cut_off ? "The trace's end is missing: the file was cut off."
		: "What follows damage in the file is missing.";
}

function recoveredText() {
	const gone = Number(infoOf("recovered_ns") || 0) - (head.start_ns + head.span_ns);

	return recovered() ? `Recovered after the process had gone: it may have lived ${gone > 0
		? `up to ${duration(gone)} ` : ""}longer, and its last waits lasted longer.` : "";
}

// The circle of threads, each a link to its wait: a list of {parts, certain}.
function deadlocks() {
	const d = trace.dead, found = [];

	for (let i = 0; i < d.n;) {
		const number = d.number[i], circle = [];
		let behind = 0, certain = true;
		for (; i < d.n && d.number[i] === number; i++) {
			if (!d.cycle[i]) {
				behind++;
				continue;
			}
			certain = certain && d.certain[i] !== 0;
			const name = trace.threads[d.thread[i] - 1].label;
			circle.push(d.park[i] ? link(name, {kind: "park", id: d.park[i]}) : name, " → ");
		}
		const first = trace.threads[d.thread[d.number.indexOf(number)] - 1].label;
		found.push({certain, parts: [...circle, first, behind ? `; ${plural(behind, "thread")} behind it` : ""]});
	}
	return found;
}

// ---- above the timeline ----

export function endBanners() {
	for (const i of fatalMarks()) {
		const thread = trace.threads[trace.mark.thread[i] - 1];
		bannerAdd("alarm", el("b", {}, "CRASH: "), link(text(trace.mark.text[i]), {kind: "mark", id: i + 1}),
			thread ? ` in ${thread.label}` : "");
	}
	for (const finding of head.findings)
		if (!fatalMarks().length && finding.severity === "alarm" && ["crash", "killed"].includes(finding.kind))
			bannerAdd(finding.kind === "crash" ? "alarm" : "warn", finding.text);
	for (const {certain, parts} of deadlocks())
		bannerAdd("alarm", el("b", {}, `${certain ? "" : "Perhaps a "}DEADLOCK: `), ...parts);
	for (const string of [endText(), recoveredText()])
		if (string)
			bannerAdd("warn", string);
	if (head.table_full > 0)
		bannerAdd("warn", `${plural(head.table_full, "time")} there was no room for a stack, name, thread or module.`);
}

// ---- beside it ----

function crashViews() {
	return fatalMarks().flatMap((i) => [
		title(`Crashed: ${text(trace.mark.text[i])}`),
		actions({kind: "mark", id: i + 1}),
		facts([
			["Thread", threadLink(trace.mark.thread[i], trace.mark.time[i])],
			["Time", link(exactTime(trace.mark.time[i]), {kind: "mark", id: i + 1})],
			["Ended", killedBy()],
		]),
		stackView("The thread was at", trace.mark.stack[i], {whole: true}),
	]);
}

// Where a finding points: its signal, or its longest wait; what is not in the page is a range of time.
/** @param {Finding} f */
function findingJump(f) {
	const mark = f.kind === "crash" ? fatalMarks().find((i) => trace.mark.time[i] === f.start &&
		trace.mark.thread[i] === f.thread) : undefined;

	if (mark !== undefined)
		select({kind: "mark", id: mark + 1});
	else if (f.park)
		select({kind: "park", id: f.park});
	else
		rangeSet({t0: f.start, t1: Math.max(f.end, f.start + MIN_SPAN)});
	zoomToSelection();
}

// Which finding led to the selection, or to the range: a line above its details.
export function findingNote() {
	const {range, selection} = view;
	const found = head.findings.find((f) => range ? f.start !== undefined && !f.park && range.t0 === f.start && range.t1 === Math.max(f.end, f.start + MIN_SPAN)
		: selection && selection.kind === "park" && selection.id === f.park);

	return found ? el("p", {class: "of-finding"}, el("span", {class: "dim"}, range ? "Where this finding is: " : "The longest wait of a finding: "), found.text) : null;
}

// The report's sentences, each a way into the timeline if it has a place there; below it what it was due
// to, and what helps.
function findingsList() {
	const said = (f) => f.start === undefined ? el("span", {class: "said"}, f.text)
		: el("button", {type: "button", class: "link said", title: "Show it in the timeline",
			onclick: () => findingJump(f)}, f.text);
	const rows = (f) => f.sql && sqlIsThere() ? el("button", {type: "button", class: "link rows", title: f.sql,
		onclick: () => sqlOpen(f.sql)}, "its rows (SQL)") : null;
	// Red is for what failed, and not for what somebody ended.
	const item = (f) => el("li", {class: f.kind === "killed" && f.severity === "alarm" ? "killed" : f.severity}, said(f), " ",
		el("span", {class: "about"}, rows(f), " ", copyIcon("Copy the finding", () => [f.text, f.why, f.remedy && `helps: ${f.remedy}`].filter((part) => part).join("\n"))), f.why ? el("p", {class: "why"}, f.why) : null,
		f.remedy ? el("p", {class: "helps"}, `helps: ${f.remedy}`) : null);

	return head.findings.length ? [title("Findings"), el("ul", {class: "findings"}, ...head.findings.map(item))] : [];
}

// In the report's order; nothing if all went well.
export function findingsView() {
	const parts = [...findingsList(), ...crashViews()];

	for (const {certain, parts: circle} of deadlocks())
		parts.push(title(certain ? "Deadlock" : "Perhaps a deadlock"), el("p", {}, ...circle));
	const missing = [endText(), recoveredText(), head.warning ? visible(head.warning) : ""].filter((s) => s)
		.map((string) => el("p", {}, string));
	if (missing.length)
		parts.push(title("What is not in the trace"), ...missing);
	return parts;
}
