// flame_ui.js - the flame graph's controls, what it says of a function, and what mouse and keys do.

import {addressWrite} from "./address.js";
import {head, moduleName, text} from "./data.js";
import {profileDownload} from "./export.js";
import {askedText, flame, flameAsked, flameDefault, flameFind, flameRefresh, flameSoon, flameState,
	flameStateSet, functionId, labelNamed, slowestRead} from "./flame.js";
import {FLAME_ROW, boxAt, boxColour, boxName, boxOfNode, changeText, nodeChange, nodeIsChance,
	picture, pictureLay, pictureShow, pictureSoon, rowOfBox} from "./flame_draw.js";
import {functions, treeFind, treePath} from "./flame_fold.js";
import {flameKinds} from "./flame_items.js";
import {flameToTimeline, flameUnmark} from "./flame_marks.js";
import {profileOpen, profileValue} from "./flame_profile.js";
import {amount, baseName, byId, count, cutText, duration, el, percent, plural} from "./format.js";
import {isWithinChance, marginPooled, marginText} from "./margins.js";
import {textOn} from "./palette.js";
import {labelText, trace} from "./rows.js";
import {sampleAmount} from "./samples.js";
import {sourceHas, sourceOpen} from "./source.js";
import {tipPlace} from "./tip.js";
import {cellLine} from "./tops.js";
import {view} from "./view.js";

const FLAME_TABLE_ROWS = 300;
const SLOWEST_LEAST = 0.01, SLOWEST_OFFERED = [0.1, 1, 5, 10, 25, 50]; // percent of tasks

// ---- controls ----

function choice(label, title, onchange) {
	const select = el("select", {"aria-label": label, title, onchange: () => onchange(select.value)});

	return select;
}

// options: [value, text], or [value, text, disabled].
function choiceFill(select, options, value) {
	select.replaceChildren(...options.map(([of, name, disabled]) => el("option", {value: of, disabled: Boolean(disabled)}, name)));
	select.value = value;
}

export function flameSet(change) {
	Object.assign(flame, change);
	if (flame.file && profileValue(flame.file.profile, flame.kind) < 0)
		flame.file = null; // it is of another kind
	flameControls();
	flameRefresh();
	addressWrite();
}

// What is shown is A from now on; or it is compared no longer.
function flameCompare() {
	flameSet({before: flame.before || flame.file ? null : flameAsked(), file: null});
}

// Labels that are many, as a request's number, are found by the search of the page instead.
function labelChoices() {
	const l = trace.label, seen = new Map();

	for (let i = 0; i < l.n && seen.size < 200; i++)
		if (!seen.has(labelText(i)))
			seen.set(labelText(i), i + 1);
	return [...seen].sort((a, b) => a[0].localeCompare(b[0], "en", {numeric: true})).map(([name, i]) => [String(i), cutText(name, 40)]);
}

// The row of the first label of that key and value.
function labelFirst(label) {
	return label ? labelNamed(labelText(label - 1)) : 0;
}

export function flameControls() {
	const {parts} = flame, named = trace.taskTypes.filter((t) => t.type); // of a task that began before the trace no type is known

	if (!parts.kind)
		return;
	choiceFill(parts.kind, flame.kinds.map((kind) => [kind.id, kind.n ? kind.name : `${kind.name} (none)`]), flame.kind.id);
	choiceFill(parts.view, [["down", "Flame graph"], ["up", "Inverted: innermost first"], ["sandwich", "Callers and callees"]], flame.view);
	choiceFill(parts.time, [["range", view.range ? "Selected range" : "Whole trace"], ["view", "Visible time"]], flame.time);
	choiceFill(parts.threads, [["all", "All threads"], ["filter", "Threads of the filter"], ["pinned", "Threads kept at the top"],
		["selected", "The selected thread"]], flame.threads);
	choiceFill(parts.label, [["0", "Any labels"], ...labelChoices()], String(labelFirst(flame.label)));
	choiceFill(parts.task, [["0", "Any tasks"], ...named.map((t) => [String(t.type), cutText(t.name, 40)])], String(flame.task));
	parts.label.hidden = !trace.label.n;
	parts.task.hidden = !named.length;
	parts.slowest.parentElement.hidden = !flame.task;
	if (document.activeElement !== parts.slowest || slowestRead(parts.slowest.value) !== flame.slowest)
		parts.slowest.value = flame.slowest ? String(flame.slowest) : "";
	parts.idle.parentElement.hidden = !flame.kind.idle;
	parts.idle.checked = flame.idle;
	if (parts.search.value !== flame.search)
		parts.search.value = flame.search;
	const compares = Boolean(flame.before || flame.file);
	parts.before.textContent = compares ? "End comparison" : "Compare: keep as A";
	parts.before.title = compares ? "Show one part of the trace again"
		: "Keep what is shown as A; then choose another range, thread, label or task as B (key in the graph: X)";
	parts.before.setAttribute("aria-pressed", String(compares));
	parts.open.hidden = compares;
}

function flameTools() {
	const {parts} = flame;

	parts.kind = choice("What is summed", "What is summed (E: the next)", (id) =>
		flameSet({kind: flame.kinds.find((kind) => kind.id === id), focus: []}));
	parts.view = choice("View", "How it is drawn (I: inverted)", (of) => flameSet({view: of, focus: []}));
	parts.time = choice("Time", "Of which time; Shift+drag in the timeline selects a range", (time) => flameSet({time}));
	parts.threads = choice("Threads", "Of which threads", (threads) => flameSet({threads}));
	parts.label = choice("Label", "Only under this label", (label) => flameSet({label: Number(label)}));
	parts.task = choice("Tasks", "Only what was done for tasks of this type", (task) => flameSet({task: Number(task)}));
	parts.slowest = el("input", {type: "number", min: SLOWEST_LEAST, max: 100, step: "any", placeholder: "100", list: "slowest-percents",
		"aria-label": "Slowest tasks, percent", title: "Of the tasks only so many percent, those that took longest; empty: all of them",
		oninput: () => parts.slowest.validity.valid && flameSet({slowest: slowestRead(parts.slowest.value)})});
	parts.idle = el("input", {type: "checkbox", onchange: () => flameSet({idle: parts.idle.checked})});
	parts.before = el("button", {type: "button", onclick: flameCompare});
	parts.file = el("input", {type: "file", accept: ".gz,.pb,.pprof", hidden: true, onchange: () => {
		profileOpen(parts.file.files[0]);
		parts.file.value = ""; // so that the same file can be chosen again
	}});
	parts.open = el("button", {type: "button", title: "Compare with another recording: A is a profile that the button pprof of its page made, or " +
		"trace-analyze --pprof", onclick: () => parts.file.click()}, "Compare with a profile…");
	parts.search = el("input", {type: "search", placeholder: "Find functions", "aria-label": "Find functions in the flame graph",
		autocomplete: "off", spellcheck: "false", oninput: () => {
			flame.search = parts.search.value;
			flameFind();
			flameShow();
			addressWrite();
		}});
	parts.search.addEventListener("keydown", (event) => {
		if (event.key !== "Escape")
			return;
		flameSet({search: ""});
		flameFind();
		flameShow();
		flame.parts.canvas.focus();
		event.preventDefault();
	});
	return el("div", {class: "flame-tools"}, parts.kind, parts.view, parts.time, parts.threads, parts.label, parts.task,
		el("label", {}, "the slowest ", parts.slowest, " %", el("datalist", {id: "slowest-percents"}, ...SLOWEST_OFFERED.map((n) => el("option", {value: n})))),
		el("label", {title: "Waits for requests, timers, signals and children"}, parts.idle, " idle waits, too"), parts.before, parts.open, parts.file,
		el("button", {type: "button", title: "Download what is shown as a profile: go tool pprof reads it", onclick: () => flame.result && profileDownload()},
			"pprof"), parts.search);
}

// ---- what it says ----

/** @param {number} value @param {FlameKind} [kind] */
function flameAmount(value, kind = flame.result.kind) {
	return amount(kind.unit === "nanoseconds" ? value : Math.round(value), kind.unit);
}

// "trc-demo.c:191", or of several lines "trc-demo.c:150-191"; the library where there are no lines.
/** @param {FlameTree} tree @param {number} node */
function nodePlace(tree, node) {
	const fn = functions.list[tree.fn[node]], low = tree.low[node], high = tree.high[node];

	if (fn.file)
		return baseName(fn.file) + (low ? `:${low}${high > low ? `-${high}` : ""}` : "");
	return fn.module && !fn.lead ? moduleName(fn.module) : "";
}

// How far a sum of samples may be off, in points; "" of what is not sampled.
/** @param {number} value */
function flameMargin(value) {
	const {samples, sums} = flame.result;

	return samples.n && value > 0 ? marginText(marginPooled(samples, Math.min(1, value / samples.value)), sums[sums.length - 1]) : "";
}

// "13 % ±2.1"
/** @param {number} value @param {number} whole */
function flameShare(value, whole) {
	return `${percent(value, whole)} ${flameMargin(value)}`.trim();
}

// Self and total of a function, of all its nodes: it may be in many.
function functionText(fn) {
	const {result} = flame, side = result.sides.length - 1, {self, total} = result.totals[side], whole = result.sums[side];

	return `whole function: self ${flameAmount(self[fn] || 0)} (${flameShare(self[fn] || 0, whole)}), total ${flameAmount(total[fn] || 0)} ` +
		`(${flameShare(total[fn] || 0, whole)})`;
}

// A node's own part: what no function below it has; leads are a part of their function.
/** @param {FlameTree} tree @param {number} node @param {number} side */
function nodeSelf(tree, node, side) {
	let self = tree.value[side][node];

	for (let c = tree.first[node]; c >= 0; c = tree.next[c])
		if (!functions.list[tree.fn[c]].lead)
			self -= tree.value[side][c];
	return Math.max(0, self);
}

// What is known of a box, in lines.
function boxLines(box) {
	const {result} = flame, {tree, node} = box;

	if (node < 0)
		return [boxName(box), "too narrow to be drawn: click what is above, or find them"];
	const side = tree.value.length - 1, here = tree.value[side][node], whole = result.sums[side];
	const of = result.kind.of + (result.kind.idle && !flame.idle ? " but idle waits" : "");
	const lines = [boxName(box), node ? nodePlace(tree, node) : ""];
	if (side) {
		lines.push(`A: ${flameAmount(tree.value[0][node])} (${percent(tree.value[0][node], result.sums[0])})`,
			`B: ${flameAmount(here)} (${percent(here, whole)}), ${changeText(nodeChange(tree, node))} of ${of}`,
			nodeIsChance(tree, node) ? "a change that chance alone may make: it is within 2 standard errors" : "");
		return lines;
	}
	const self = node && tree === result.tree && flame.view === "down" ? `self ${flameAmount(nodeSelf(tree, node, 0))} (` +
		`${flameShare(nodeSelf(tree, node, 0), whole)}), ` : "";
	lines.push(`here: ${self}total ${flameAmount(here)} (${percent(here, whole)} of ${of}) ${flameMargin(here)}`.trim());
	const fn = node ? functions.list[tree.fn[node]] : null;
	if (fn && !fn.lead)
		lines.push(functionText(tree.fn[node]));
	return lines;
}

/** @param {FlameBox | null} box @param {number} [clientX] @param {number} [clientY] */
function flameTip(box, clientX, clientY) {
	const tip = byId("tip");

	tip.hidden = !box;
	if (!box)
		return;
	const [first, ...rest] = boxLines(box).filter((line) => line);
	tip.replaceChildren(el("b", {}, first), ...rest.map((line) => el("div", {}, line)));
	tipPlace(clientX, clientY);
}

// What the picture is of, and what is missing in it.
function flameSummary() {
	const {result} = flame, {kind, before, file} = result, side = result.sums.length - 1, sum = result.sums[side], parts = [];

	if (side && !file && askedText(before) === askedText(result.asked))
		return `A: ${flameAmount(result.sums[0])}, ${askedText(before)}. Now choose B: another range, other threads, labels or tasks`;
	if (side)
		return `A: ${flameAmount(result.sums[0])}, ${file ? file.name : askedText(before)}. B: ${flameAmount(sum)}, ${askedText(result.asked)}. ` +
			`+ and red: a greater part of B than of A; − and blue: a smaller one${result.counts
				? `; grey: what chance alone may make of ${count(Math.round(result.counts[0]))} and ${plural(Math.round(result.counts[1]), "sample")}` : ""}${
				file && !result.counts && result.samples.n ? `; what chance alone may make is not told: ${file.name} does not say of how many samples it is` : ""}`;
	parts.push(`${flameAmount(sum)} of ${kind.of}, ${askedText(result.asked)}`);
	if (result.unseen && result.whole)
		parts.push(`${percent(result.unseen, sum)} of it was not sampled`);
	else if (result.unseen)
		parts.push("of the whole trace some was not sampled: it is left out, as nobody knows whose it was");
	if (result.samples.n)
		parts.push(`an estimate: half of it is known to ${flameMargin(result.samples.value / 2) || "±0.0"} points, a twentieth to ` +
			`${flameMargin(result.samples.value / 20) || "±0.0"}`);
	if (kind.idle && !flame.idle)
		parts.push("without idle waits");
	if ((kind.id === "cpu" || kind.id.startsWith("event-")) && head.sample_step > 1)
		parts.push(`estimated from one of ${count(head.sample_step)} samples`);
	if (kind.unit === "bytes")
		parts.push("estimated from samples");
	if (kind.id === "off" && !head.has_sched)
		parts.push("only recorded waits: scheduling was not recorded");
	if (kind.id === "off" && head.merged_below_ns)
		parts.push(`intervals shorter than ${duration(head.merged_below_ns)} are merged in this page`);
	if (kind.id === "blame" && head.blame_summed && (result.asked.task || result.asked.t0 > trace.begin || result.asked.t1 < trace.span))
		parts.push("estimated for waits that lie in it in part: so many waits depend on each other that the page has the sum of each cause of a wait");
	if (kind.id === "blame" && head.without_blame)
		parts.push("too many waits depend on each other: the page does not tell who caused them; trace-analyze --pprof blame does");
	return parts.join("; ");
}

// Back to what was in focus before, step by step.
function flameCrumbs() {
	const {result} = flame, crumbs = [];

	if (flame.view === "sandwich") {
		crumbs.push(el("button", {type: "button", class: "link", onclick: () => flameSet({fn: ""})}, "all functions"));
		return result.fn === undefined ? [] : crumbs;
	}
	if (!flame.focus.length || !result.tree)
		return crumbs;
	const path = treePath(result.tree, treeFind(result.tree, flame.focus));
	const step = (name, depth) => el("button", {type: "button", class: "link", title: "Back to here (Backspace: one step)",
		onclick: () => flameFocus(path.slice(0, depth))}, cutText(name, 32));
	crumbs.push(step("all", 0));
	const shown = path.length > 6 ? [0, ...[5, 4, 3, 2].map((n) => path.length - n), path.length - 1] : path.map((_, i) => i);
	shown.forEach((at, i) => {
		crumbs.push(i && shown[i - 1] + 1 < at ? " › … › " : " › ", at === path.length - 1
			? el("b", {}, cutText(functions.list[path[at]].name, 40)) : step(functions.list[path[at]].name, at + 1));
	});
	return crumbs;
}

function flameActions() {
	const box = picture.current, {result} = flame;

	if (!box || box.node <= 0)
		return [];
	const fn = functions.list[box.tree.fn[box.node]];
	return [el("button", {type: "button", title: "Mark what this is made of in the timeline, and step through it with N (key: V)",
		onclick: () => flameToTimeline(box)}, "Show in timeline"),
	sourceHas(box.tree.frame[box.node] - 1) ? el("button", {type: "button", title: "The lines of its source file, with the time sampled at each",
		onclick: () => sourceOpen(box.tree.frame[box.node] - 1)}, "Source") : null,
	fn.lead || result.fn === box.tree.fn[box.node] ? null : el("button", {type: "button", title: "Who calls it, and what it calls (key: C)",
		onclick: () => flameSandwich(box)}, "Callers and callees")];
}

export function flameInfo() {
	const {parts, result} = flame;

	if (!result)
		return;
	const box = picture.current, found = flame.found ? `${percent(flame.foundShare, 1)} of ${result.kind.of} is in what was found. ` : "";
	const about = box && box.node >= 0 ? boxLines(box).filter((line) => line).join(" · ") : "";
	parts.summary.textContent = flame.trouble + found + flameSummary();
	parts.crumbs.replaceChildren(...flameCrumbs());
	parts.about.replaceChildren(...flameActions().filter((b) => b), el("span", {class: "dim", title: about}, about));
	if (flame.lit)
		parts.about.append(el("button", {type: "button", onclick: () => {
			flameUnmark();
			flameInfo();
		}}, "Unmark"));
	parts.crumbs.hidden = !parts.crumbs.childNodes.length;
	parts.about.hidden = !parts.about.textContent;
}

// ---- functions as a table: where callers and callees are chosen ----

const flameOrder = {key: ""}; // as it was chosen; "" = by change, or else by self

// By function how much more of all it is in B, itself and in all.
function functionChange(fn) {
	const {totals, sums} = flame.result;

	return (totals[1].total[fn] || 0) / (sums[1] || 1) - (totals[0].total[fn] || 0) / (sums[0] || 1);
}

function functionIsChance(fn) {
	const {totals, sums, counts} = flame.result, share = (side) => (totals[side].total[fn] || 0) / (sums[side] || 1);

	return Boolean(counts) && isWithinChance(share(0), share(1), counts[0], counts[1]);
}

// What functions can be ordered by: the larger first.
function flameOrders() {
	const {result} = flame, {self, total} = result.totals[result.sides.length - 1], isIn = (values, fn) => values[fn] || 0;

	return {
		self: (a, b) => isIn(self, b) - isIn(self, a) || isIn(total, b) - isIn(total, a),
		total: (a, b) => isIn(total, b) - isIn(total, a) || isIn(self, b) - isIn(self, a),
		...result.sides.length > 1 && {change: (a, b) => Math.abs(functionChange(b)) - Math.abs(functionChange(a))},
	};
}

// Of a comparison, self and total are B's; behind them stand the total of A, and the change.
function flameTable() {
	const {result} = flame, side = result.sides.length - 1, {self, total} = result.totals[side], whole = result.sums[side];
	const orders = flameOrders(), key = orders[flameOrder.key] ? flameOrder.key : side ? "change" : "self", before = side ? result.totals[0].total : [];
	const rows = functions.list.map((fn, i) => i).filter((i) => (total[i] > 0 || before[i] > 0) && (!flame.found || flame.found[i]) &&
		!functions.list[i].lead);
	const sorts = (name, words = name) => el("button", {type: "button", class: "link", "aria-pressed": String(key === name), onclick: () => {
		flameOrder.key = name;
		flameShow();
	}}, words + (key === name ? " ▾" : ""));
	const cells = (value = 0, of = whole) => [el("td", {class: "n"}, flameAmount(value)), el("td", {class: "n"}, percent(value, of))];
	const heads = [el("th", {scope: "col", colspan: "2", class: "n"}, sorts("self", side ? "self in B" : "self")),
		el("th", {scope: "col", colspan: "2", class: "n"}, sorts("total", side ? "total in B" : "total"))];
	if (side)
		heads.push(el("th", {scope: "col", colspan: "2", class: "n"}, "total in A"), el("th", {scope: "col", class: "n"}, sorts("change")));

	rows.sort(orders[key]);
	const body = el("tbody");
	for (const i of rows.slice(0, FLAME_TABLE_ROWS)) {
		const fn = functions.list[i];
		body.append(el("tr", {}, ...cells(self[i]), ...cells(total[i]), ...side ? [...cells(before[i], result.sums[0]),
			el("td", {class: functionIsChance(i) ? "n dim" : "n"}, changeText(functionChange(i)))] : [], el("td", {class: "wide"}, cellLine([el("button", {type: "button",
			class: "link", onclick: () => flameSet({fn: functionId(fn)})}, fn.name),
		el("span", {class: "dim"}, ` ${fn.file ? baseName(fn.file) : moduleName(fn.module)}`)]))));
	}
	return el("div", {}, el("table", {class: "flame-table"}, el("thead", {}, el("tr", {}, ...heads,
		el("th", {scope: "col"}, "function: click for its callers and callees"))), body),
	rows.length > FLAME_TABLE_ROWS ? el("p", {class: "dim"}, `and ${plural(rows.length - FLAME_TABLE_ROWS, "more function")}: find them above`) : null);
}

// ---- shows the result ----

// Of a kind that is made of samples, how much of it stands between two of a thread's: "1.00 ms of a thread's CPU time".
/** @param {FlameKind} kind */
function sampledEach(kind) {
	const e = trace.sampled, isClock = kind.id === "cpu";
	const i = Array.from({length: e.n}, (_, k) => k).find((k) => isClock ? text(e.unit[k]) === "nanoseconds" : kind.id === `event-${e.event[k]}`);

	if (i === undefined || !(e.period[i] || (isClock && e.rate[i])))
		return "";
	return isClock ? `${duration(e.period[i] || 1e9 / e.rate[i])} of a thread's CPU time` : `${sampleAmount(i + 1, e.period[i])} of a thread's`;
}

// Why there is nothing.
function flameEmpty() {
	const {kind} = flame.result;

	if (!kind.n)
		return kind.empty;
	const narrowed = flame.result.whole ? "" : ` in ${askedText(flame.result.asked).replace(/^whole (trace|page), /, "")}`, often = narrowed && sampledEach(kind);
	if (often)
		return `No samples${narrowed}. One was taken each ${often}: what took less may have none.`;
	return flame.result.whole ? kind.empty || `No ${kind.of}.` : `No ${kind.of}${narrowed}.`;
}

export function flameShow() {
	const {parts, result} = flame;

	if (!result || !parts.canvas)
		return;
	const any = result.sums.some((sum) => sum > 0), asTable = any && flame.view === "sandwich" && result.fn === undefined;
	parts.empty.hidden = any;
	parts.empty.textContent = any ? "" : flameEmpty();
	parts.scroll.hidden = !any || asTable;
	parts.table.hidden = !asTable;
	parts.table.replaceChildren(...asTable ? [flameTable()] : []);
	const kept = picture.current && picture.current.node >= 0 ? treePath(picture.current.tree, picture.current.node) : null;
	const side = picture.current && result.callers && picture.current.tree !== result.callees ? "callers" : "callees";
	pictureLay();
	const tree = result.tree || result[side];
	picture.current = kept && tree ? boxOfNode(tree, treeFind(tree, kept)) : null;
	if (result.callees && !picture.current) // the function whose callers and callees these are
		picture.current = boxOfNode(result.callees, result.callees.first[0]);
	flameInfo();
	// The lines above may have changed the room.
	if (picture.scroll.clientWidth !== picture.width)
		pictureLay();
	if (result.callees && picture.current && picture.rows.length * FLAME_ROW > picture.scroll.clientHeight)
		pictureShow(picture.current);
	pictureSoon();
}

function flameFocus(path) {
	flame.focus = path;
	pictureLay();
	const {tree} = flame.result;
	picture.current = tree ? boxOfNode(tree, treeFind(tree, path)) : null;
	if (picture.current)
		pictureShow(picture.current);
	flameInfo();
	pictureSoon();
}

function flameSandwich(box) {
	if (box.node > 0 && !functions.list[box.tree.fn[box.node]].lead)
		flameSet({view: "sandwich", fn: functionId(functions.list[box.tree.fn[box.node]]), focus: []});
}

// ---- mouse and keys ----

function flameClick(box) {
	if (!box || box.node < 0)
		return;
	picture.current = box;
	if (flame.result.tree)
		flameFocus(treePath(box.tree, box.node));
	else
		flameInfo();
	pictureSoon();
}

function flamePointer() {
	const {canvas, scroll} = flame.parts, at = ({clientX, clientY}) => {
		const box = canvas.getBoundingClientRect();
		return boxAt(clientX - box.left, clientY - box.top);
	};
	let pointer = null;

	const point = () => {
		const box = at(pointer);
		if (box !== picture.hover) {
			picture.hover = box;
			pictureSoon();
		}
		canvas.classList.toggle("hit", Boolean(box));
		flameTip(box, pointer.clientX, pointer.clientY);
	};
	canvas.addEventListener("pointermove", ({clientX, clientY}) => {
		pointer = {clientX, clientY};
		point();
	});
	scroll.addEventListener("scroll", () => {
		if (pointer)
			point();
	});
	canvas.addEventListener("pointerleave", () => {
		pointer = picture.hover = null;
		flameTip(null);
		pictureSoon();
	});
	canvas.addEventListener("click", (event) => {
		canvas.focus({preventScroll: true});
		flameClick(at(event));
	});
	canvas.addEventListener("dblclick", (event) => {
		const box = at(event);
		if (box)
			flameSandwich(box);
	});
}

// The box beside, above or below the current one.
function boxNext(key) {
	const box = picture.current, row = box ? rowOfBox(box) : -1, rows = picture.rows;

	if (row < 0)
		return rows[picture.middle] && rows[picture.middle][0];
	const by = {ArrowLeft: -1, ArrowRight: 1}[key];
	if (by)
		return rows[row][rows[row].indexOf(box) + by] || box;
	const beside = rows[row + (key === "ArrowUp" ? -1 : 1)] || [];
	const inside = beside.filter((b) => b.x1 > box.x0 + 1e-9 && b.x0 < box.x1 - 1e-9);
	return inside.find((b) => b.x0 >= box.x0 - 1e-9) || inside[0] || box;
}

const flameKeys = {
	Enter: () => picture.current && flameClick(picture.current),
	Backspace: () => flame.view === "sandwich" ? flameSet({fn: ""}) : flameFocus(flame.focus.slice(0, -1)),
	Home: () => flame.view === "sandwich" ? flameSet({fn: ""}) : flameFocus([]),
	v: () => picture.current && picture.current.node > 0 && flameToTimeline(picture.current),
	c: () => picture.current && flameSandwich(picture.current),
	x: flameCompare,
	i: () => flameSet({view: flame.view === "up" ? "down" : "up", focus: []}),
	e: () => {
		const some = flame.kinds.filter((kind) => kind.n);
		if (some.length)
			flameSet({kind: some[(some.indexOf(flame.kind) + 1) % some.length], focus: []});
	},
};

function flameKeyDown(event) {
	const action = flameKeys[event.key];

	if (event.ctrlKey || event.altKey || event.metaKey)
		return;
	if (event.key === "Escape" && flame.focus.length) {
		flameFocus([]);
	} else if (event.key.startsWith("Arrow")) {
		const box = boxNext(event.key);
		if (box) {
			picture.current = box;
			pictureShow(box);
			flameInfo();
			flame.parts.said.textContent = boxLines(box).filter((line) => line).join(", ");
			pictureSoon();
		}
	} else if (action) {
		action();
	} else {
		return;
	}
	event.preventDefault();
	event.stopPropagation();
}

// ---- the tab ----

function flameDraw(box) {
	const {parts} = flame;

	flame.box = box;
	box.classList.add("flame");
	flame.kinds = flameKinds();
	flame.kind = flameDefault();
	parts.summary = el("p", {class: "flame-summary"});
	parts.crumbs = el("nav", {class: "flame-crumbs", "aria-label": "What is in focus"});
	parts.about = el("p", {class: "flame-about"});
	parts.said = el("p", {class: "said", role: "status"});
	parts.empty = el("p", {class: "flame-empty", hidden: true});
	parts.canvas = el("canvas", {tabindex: "0", role: "application",
		"aria-label": "Flame graph. Arrows move between functions, Enter shows one in full width, Backspace leads back, V shows it in the timeline."});
	parts.spacer = el("div");
	parts.scroll = el("div", {class: "flame-scroll"}, parts.canvas, parts.spacer);
	parts.table = el("div", {class: "flame-scroll", hidden: true});
	box.append(flameTools(), parts.summary, parts.crumbs, parts.about, parts.empty, parts.scroll, parts.table, parts.said);
	Object.assign(picture, {canvas: parts.canvas, scroll: parts.scroll, spacer: parts.spacer});
	parts.scroll.addEventListener("scroll", pictureSoon);
	parts.canvas.addEventListener("keydown", flameKeyDown);
	flamePointer();
	flameStateSet(flame.stateText || "");
}

function flameChanged(what) {
	if (what === "theme") {
		pictureSoon();
		return;
	}
	if (what === "range-selection")
		flameControls();
	if (what === "range" && flame.time !== "view" || what === "selection" && flame.threads !== "selected")
		return;
	flameSoon(what === "range" || what === "range-selection" ? 120 : 0);
}

/** @type {PanelTab} */
export const flameTab = {
	id: "flame", label: "Flame graph", key: "g", about: "open or close the flame graph",
	draw: flameDraw,
	first: () => flame.parts.scroll.hidden ? flame.parts.table.querySelector("button") || flame.parts.kind : flame.parts.canvas,
	shown: () => {
		flame.seen = true;
		flameRefresh();
		flameShow();
	},
	hidden: () => {
		flame.seen = false;
		flameTip(null);
	},
	changed: flameChanged,
	state: flameState,
	stateSet: flameStateSet,
};

// ---- for tests ----

function flameIdle() {
	return flame.working || flame.timer ? new Promise((done) => flame.waiting.push(done)).then(flameIdle) : Promise.resolve();
}

export function flameApi() {
	return Object.freeze({
		state: flameState,
		set: (state) => {
			flameStateSet(state);
			return flameIdle();
		},
		idle: flameIdle,
		get counts() { return flame.result.counts || null; },
		get result() {
			const {result} = flame, side = result.sums.length - 1, {self, total} = result.totals[side];
			return {kind: result.kind.id, sum: result.sums[side], sums: result.sums, unseen: result.unseen, found: flame.foundShare,
				functions: functions.list.map((fn, i) => ({name: fn.name, file: fn.file, lead: Boolean(fn.lead), self: self[i] || 0,
					total: total[i] || 0, before: side ? result.totals[0].total[i] || 0 : 0})).filter((fn) => fn.total > 0 || fn.before > 0)};
		},
		get kinds() { return flame.kinds.map((kind) => ({id: kind.id, n: kind.n})); },
		get boxes() {
			const at = picture.canvas.getBoundingClientRect();
			return picture.rows.flatMap((row, i) => row.map((box) => ({name: boxName(box), row: i, node: box.node,
				x: at.left + (box.x0 + box.x1) / 2 * picture.width, y: at.top + (i + 0.5) * FLAME_ROW - picture.scroll.scrollTop,
				width: (box.x1 - box.x0) * picture.width, colour: boxColour(box),
				change: box.tree.value.length > 1 && box.node > 0 ? nodeChange(box.tree, box.node) : null,
				isChance: box.tree.value.length > 1 && box.node > 0 && nodeIsChance(box.tree, box.node)})));
		},
		get current() { return picture.current && boxName(picture.current); },
		get focus() { return flame.focus.map((fn) => functions.list[fn].name); },
		get marked() { return flame.lit ? [...flame.lit.values()].reduce((n, spans) => n + spans.length / 2, 0) : 0; },
		textOn,
	});
}
