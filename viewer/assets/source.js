// source.js - the lines of source files around frames, in a page that has them (trace-analyze --html --source).
//
// A file is named by its number, from 1; its lines are those of trace.source.number and text, one after the other.

import {column, head, moduleName, text} from "./data.js";
import {sampleWorth} from "./flame_items.js";
import {byId, duration, el, plural, upperBound} from "./format.js";
import {OWNER_PROGRAM, stackOwn, table, trace} from "./rows.js";
import {bannerAdd} from "./tops.js";

/** @type {{made: boolean, first: Uint32Array | null, self: Map<string, number> | null, total: Map<string, number> | null, files?: Table<"path" | "lines" | "newer">,
 *	number?: Numbers, text?: Numbers, of?: Numbers}} */
const sources = {made: false, first: null, self: null, total: null};

// Where each file's lines begin, and what clocks sampled at each line: by "file:line".
function sourceLinesMake() {
	const s = table("source", "path", "lines", "newer"), first = new Uint32Array(s.n + 1);

	if (sources.made)
		return;
	sources.made = true;
	for (let i = 0; i < s.n; i++)
		first[i + 1] = first[i] + s.lines[i];
	Object.assign(sources, {files: s, first, number: column("source.number"), text: column("source.text"), of: column("frame.source"),
		self: new Map(), total: new Map()});
	sourceSums();
}

// Samples of clocks: at their innermost frame, and in any.
function sourceSums() {
	const s = trace.sample, byStack = new Map();

	for (let i = 0; i < s.n; i++)
		if (s.event[i] && text(trace.sampled.unit[s.event[i] - 1]) === "nanoseconds")
			byStack.set(s.stack[i], (byStack.get(s.stack[i]) || 0) + sampleWorth(i));
	for (const [stack, value] of byStack) {
		const seen = new Set();
		if (!stack || stack >= trace.stack.n)
			continue;
		for (let i = trace.stackFirst[stack]; i < trace.stackFirst[stack + 1]; i++) {
			const frame = trace.stackFrames[i] - 1, key = `${sources.of[frame]}:${trace.frame.line[frame]}`;
			if (i === trace.stackFirst[stack])
				sources.self.set(key, (sources.self.get(key) || 0) + value);
			if (!seen.has(key))
				sources.total.set(key, (sources.total.get(key) || 0) + value);
			seen.add(key);
		}
	}
}

// Whether the page has the line of a frame, by its row.
/** @param {number} frame */
export function sourceHas(frame) {
	if (!head.source || frame < 0)
		return false;
	sourceLinesMake();
	return sources.of[frame] > 0 && sourceIndex(sources.of[frame], trace.frame.line[frame]) >= 0;
}

// The index of a line of a file; -1 = the page lacks it.
function sourceIndex(file, line) {
	const hi = sources.first[file], i = upperBound(sources.number, sources.first[file - 1], hi, line - 1);

	return i < hi && sources.number[i] === line ? i : -1;
}

// Rows of the file's lines; where some are left out, a row says so.
function sourceRows(file, line) {
	const rows = [], amount = (map, number) => {
		const value = map.get(`${file}:${number}`);
		return el("td", {class: "n"}, value ? duration(value) : "");
	};

	for (let i = sources.first[file - 1], last = 0; i < sources.first[file]; i++) {
		const number = sources.number[i];
		if (last && number !== last + 1)
			rows.push(el("tr", {class: "skip"}, el("td", {class: "n", colspan: "4"}, "⋯")));
		last = number;
		rows.push(el("tr", {class: number === line ? "marked" : undefined, "aria-current": number === line ? "true" : undefined},
			amount(sources.self, number), amount(sources.total, number), el("td", {class: "n"}, String(number)),
			el("td", {class: "code"}, text(sources.text[i]))));
	}
	return rows;
}

// A window over the page with the lines of the frame's file, its line marked.
/** @param {number} frame */
export function sourceOpen(frame) {
	const dialog = byId("source"), line = trace.frame.line[frame];

	sourceLinesMake();
	const file = sources.of[frame], {path, newer} = sources.files;
	const heads = ["self", "total", "line", ""].map((name) => el("th", {scope: "col", class: name ? "n" : undefined}, name));
	dialog.replaceChildren(
		el("h2", {}, `${text(path[file - 1])}:${line}`),
		newer[file - 1] ? el("p", {class: "warn"}, "This file was changed after the trace was recorded: lines may be others.") : "",
		el("p", {class: "dim"}, sources.self.size ? "CPU time that was sampled at a line, and in calls from it, of the whole page."
			: "No CPU time was sampled."),
		el("div", {class: "lines", tabindex: "0"}, el("table", {}, el("thead", {}, el("tr", {}, ...heads)), el("tbody", {}, ...sourceRows(file, line)))),
		el("button", {type: "button", onclick: () => dialog.close()}, "Close"));
	dialog.showModal();
	dialog.querySelector(".marked")?.scrollIntoView({block: "center"});
}

// The place of a frame in a stack: a way to its line, if the page has it.
/** @param {Frame} f */
export function sourcePlace(f) {
	const attributes = {class: "place", title: f.file};

	return sourceHas(f.row) ? el("button", {...attributes, type: "button", class: "place link", onclick: () => sourceOpen(f.row)}, f.place)
		: el("span", attributes, f.place);
}

const PLACES_SHOWN = 2;

// The innermost functions of a stack that are the program's own: "inner inner.c:12 < outer outer.c:7".  Without lines a library is named.
/** @param {number} stack @returns {(string | HTMLElement)[]} */
export function sourcePlaces(stack) {
	return stackOwn(stack).slice(0, PLACES_SHOWN).flatMap((f, i) => [i ? " < " : "", f.function || f.address,
		...f.place ? [" ", sourcePlace(f)] : f.function && f.module && f.owner !== OWNER_PROGRAM ? [" ", el("span", {class: "place"}, moduleName(f.module))] : []]);
}

export function sourceBanner() {
	const {source} = head;

	if (!source)
		return;
	const parts = [source.missing ? `${plural(source.missing, "file")} not found` : "",
		source.refused ? `${plural(source.refused, "file")} too large, or no text` : "",
		source.newer ? `${plural(source.newer, "file")} changed since the trace was recorded` : "",
		source.lines_out ? `${plural(source.lines_out, "line")} left out: there are too many` : ""].filter((t) => t);
	bannerAdd("note", `This page holds source code of ${plural(source.files, "file")}${parts.length ? ` (${parts.join("; ")})` : ""}.`);
}

// For tests: the self time and text of a line of a file whose path ends so.
export function sourceTold(file, line) {
	if (!head.source)
		return null;
	sourceLinesMake();
	const number = Array.from({length: sources.files.n}, (_, i) => text(sources.files.path[i])).findIndex((p) => p.endsWith(file)) + 1;
	const i = number ? sourceIndex(number, line) : -1;
	return i < 0 ? null : {text: text(sources.text[i]), self: sources.self.get(`${number}:${line}`) || 0,
		total: sources.total.get(`${number}:${line}`) || 0};
}
