// paths.js - the critical path of a task: what it was waiting for at each time, through all threads.  It is drawn over the timeline,
// and listed in the details; the page has those of the slowest tasks of each type (viewer/rows_paths.c).

import {head} from "./data.js";
import {screen} from "./draw.js";
import {copyButton, isServed, quoted, traceFile, traceFileHint} from "./export.js";
import {count, duration, el, exactTime, percent, plural} from "./format.js";
import {theme} from "./palette.js";
import {joinedName, reasonName, stackPath, table, taskId, trace, variableName, waitObject,
	waitedFor} from "./rows.js";
import {select, selectAt, selectionSpan, selectionThread} from "./select.js";
import {sourcePlaces} from "./source.js";
import {TRACK_PAD, tracks} from "./tracks.js";
import {view, xOf} from "./view.js";

const PATH_SHOWN = 12, PATH_SUMS = 6; // pieces at first, the longest; sums
const STACK_OF_END = 3; // what path.stack_of says of a stack of what ended the piece

const paths = {rows: null, first: null, cached: null}; // first: by task, its first row; cached: {task, pieces}

function pathsTell() {
	paths.rows = table("path", "task", "length", "thread", "kind", "times", "stack", "stack_of", "park", "reason", "object", "unlock", "instead",
		"instead_ns");
	paths.first = new Map();
	for (let i = 0; i < paths.rows.n; i++)
		if (!paths.first.has(paths.rows.task[i]))
			paths.first.set(paths.rows.task[i], i);
}

// The pieces of a task's path, by time; none if the page does not have it.
/** @param {number} task @returns {PathPiece[]} */
function pathOf(task) {
	if (!paths.rows)
		pathsTell();
	if (paths.cached && paths.cached.task === task)
		return paths.cached.pieces;
	const {rows, first} = paths, pieces = [];
	let from = Math.max(trace.task.start[task - 1], trace.begin);
	for (let i = first.get(task) ?? rows.n; i < rows.n && rows.task[i] === task; from += rows.length[i++])
		pieces.push({row: i, idx: rows.thread[i] - 1, from, until: from + rows.length[i]});
	paths.cached = {task, pieces};
	return pieces;
}

// The path that is drawn: of the selected task, or of the one that has led to the selection.
function pathShown() {
	const way = view.selection ? [...view.trail, view.selection] : [], task = way.findLast((sel) => sel.kind === "task");

	return task ? pathOf(task.id) : [];
}

// Whether what was picked lies in the path that is drawn.
/** @param {Chosen | null} sel */
export function pathHas(sel) {
	const idx = sel ? selectionThread(sel) : -1, span = idx >= 0 ? selectionSpan(sel) : null;

	return span !== null && pathShown().some((piece) => piece.idx === idx && piece.from < span.until && piece.until > span.from);
}

// ---- in words, those of --critical-path and --why ----

// `of` is the table of the row, here and below: paths.rows, or causes.rows (causes.js).
// In the call, but it did not wait then: it waited for a proc, or was on the way to or from the wait.
/** @param {CauseRows} of @param {number} i */
function pathIsInCall(of, i) {
	const kind = head.cause_kinds[of.kind[i]], reason = reasonName(of.reason[i]);

	return kind === "preempted" ||
		((reason === "barrier" || reason === "cond") && (kind === "running" || kind === "active" || kind === "off_cpu"));
}

// What the wait was for; `times`: of how many waits that is told.
/** @param {CauseRows} of @param {number} i @param {number} times */
function pathObject(of, i, times) {
	const {park, reason, object: number} = of, name = reasonName(reason[i]);

	if (name === "join")
		return times === 1 && park[i] ? joinedName(park[i]) : "";
	if (park[i] && trace.park.descriptor[park[i] - 1])
		return waitedFor(park[i]);
	return waitObject(name, number[i]) ?? variableName(number[i]);
}

/** @param {CauseRows} of @param {number} i @param {number} times */
function pathWaited(of, i, times) {
	return ` ${pathIsInCall(of, i) ? "in" : "for"} ${reasonName(of.reason[i])} ${pathObject(of, i, times)}`.trimEnd();
}

/** @param {CauseRows} of @param {number} i @param {number} times */
function pathState(of, i, times) {
	const {kind, reason} = of, name = head.cause_kinds[kind[i]], words = head.cause_words[kind[i]];
	const waited = reason[i] ? pathWaited(of, i, times) : "", isOfLock = reason[i] > 0 && head.reasons[reason[i]][2];

	if (name === "sleeping")
		return reasonName(reason[i]) === "sleep" ? " slept" : ` waited up to a time limit${waited}`;
	if (name === "unknown" || name === "events_lost")
		return waited ? ` waited${waited}; who ${name === "events_lost" && isOfLock ? "held it" : "ended that"} ${words}` : ` did what ${words}`;
	if (name === "active" && waited && reasonName(reason[i]) === "futex") // it was in a call that waits
		return ` ${words}${waited}: it had changed already`;
	return ` ${words}${waited}`;
}

// Who did what, as analyzer/why/words.c has it.  `threads`: of how many threads that is told, `times`: of how many rows.
/** @param {CauseRows} of @param {number} i */
export function pathWords(of, i, {threads = 1, times = 1} = {}) {
	const {kind, thread, unlock, reason} = of, name = head.cause_kinds[kind[i]];
	const whose = threads > 1 ? `${count(threads)} threads` : thread[i] ? trace.threads[thread[i] - 1].label : "an unknown thread";
	const spins = reason[i] && reasonName(reason[i]) === "spin"; // who spins is not woken

	if (name === "lock_free")
		return `nobody held the lock: who ${spins ? "spun for it" : "had been woken"} had not taken it yet`;
	if (name === "waking")
		return spins ? `${whose} spun, and had not taken the free lock yet` : `${whose} had been woken, and did not run yet`;
	if (name === "events_lost" && !thread[i] && threads < 2)
		return `who held the lock ${head.cause_words[kind[i]]}`;
	return whose + (unlock[i] ? " held the lock and" : "") + pathState(of, i, times);
}

/** @returns {Instead} */
export function insteadMake() {
	return {rows: 0, whole: 0, known: 0, ns: new Map()};
}

// Adds a row of a thread that could run; `whole`: its length.
/** @param {Instead} sum @param {CauseRows} of @param {number} i @param {number} whole */
export function insteadAdd(sum, of, i, whole) {
	if (head.cause_kinds[of.kind[i]] !== "preempted")
		return;
	sum.rows++;
	sum.whole += whole;
	sum.known += Number(of.instead_ns[i] > 0);
	if (of.instead[i])
		sum.ns.set(of.instead[i], (sum.ns.get(of.instead[i]) || 0) + of.instead_ns[i] - 1);
}

// Who had the proc meanwhile, behind the words and how often: "; bob ran instead".
/** @param {Instead} sum */
export function insteadWords({rows, whole, known, ns}) {
	const [[thread, most], ...others] = ns.size ? [...ns].sort((a, b) => b[1] - a[1]) : [[0, 0]];

	if (!rows)
		return "";
	if (!thread)
		return rows === 1 && known ? "; no thread of the program ran there" : "";
	if (most < Math.floor(Math.floor(whole / 100) / ns.size))
		return "; the program's threads ran there for less than 1 % of it";
	return `; ${trace.threads[thread - 1].label}${others.length ? ` and ${plural(others.length, "other")}` : ""} ran instead` +
		(most < Math.floor(whole / 2) ? `${others.length ? ", the first" : ""} for ${percent(most, whole)} of it` : "");
}

// Where that was, if there is a place that says more than the words.
/** @param {CauseRows} of @param {number} i */
export function pathPlace(of, i) {
	const {kind, stack, stack_of: from} = of, name = head.cause_kinds[kind[i]];

	if (!stack[i] || name === "lock_free" || name === "waking")
		return "";
	return (from[i] === STACK_OF_END ? "up to " : "") + stackPath(stack[i]);
}

// The same as elements, with files and lines.
/** @param {CauseRows} of @param {number} i */
export function pathPlaceView(of, i) {
	return pathPlace(of, i) ? el("div", {class: "places", title: stackPath(of.stack[i], Infinity)},
		of.stack_of[i] === STACK_OF_END ? "up to " : "", ...sourcePlaces(of.stack[i])) : null;
}

// ---- beside the timeline ----

// What a piece is in the timeline: its wait, or what its thread did.
/** @param {PathPiece} piece */
function pathGo(piece) {
	const park = paths.rows.park[piece.row];

	if (park)
		select({kind: "park", id: park}, {how: "led"});
	else if (piece.idx >= 0)
		selectAt(piece.idx, (piece.from + piece.until) / 2, "led");
}

/** @param {number} row */
function pathRowWords(row) {
	return pathWords(paths.rows, row, {times: paths.rows.times[row]});
}

/** @param {number} row */
function pathRowInstead(row) {
	const sum = insteadMake();

	insteadAdd(sum, paths.rows, row, paths.rows.length[row]);
	sum.rows = sum.rows && paths.rows.times[row];
	return insteadWords(sum);
}

/** @param {PathPiece} piece */
function pathRow(piece, start, whole) {
	const words = pathRowWords(piece.row) + pathRowInstead(piece.row), length = piece.until - piece.from, times = paths.rows.times[piece.row];
	const name = el("button", {type: "button", class: "link", title: "Show it in the timeline", onclick: () => pathGo(piece)}, words);

	return el("tr", {}, el("td", {class: "n", title: exactTime(piece.from)}, duration(piece.from - start)), el("td", {class: "n"}, duration(length)),
		el("td", {class: "n"}, percent(length, whole)), el("td", {class: "wide"}, name,
			pathPlaceView(paths.rows, piece.row),
			times > 1 ? el("div", {class: "dim"}, `${count(times)} that follow each other`) : null));
}

function pathSkipped(n, from, length, start, whole) {
	return n ? [el("tr", {class: "dim"}, el("td", {class: "n"}, duration(from - start)), el("td", {class: "n"}, duration(length)),
		el("td", {class: "n"}, percent(length, whole)), el("td", {class: "wide"}, `in ${plural(n, "shorter piece")}`))] : [];
}

// The longest pieces, by time; what lies between them is summed.
/** @param {PathPiece[]} pieces @param {number} most */
function pathTable(pieces, most) {
	const start = pieces[0].from, whole = pieces[pieces.length - 1].until - start;
	const longest = new Set([...pieces].sort((a, b) => b.until - b.from - a.until + a.from).slice(0, most)), rows = [];
	let n = 0, from = start, until = start;

	for (const piece of pieces) {
		if (longest.has(piece)) {
			rows.push(...pathSkipped(n, from, until - from, start, whole), pathRow(piece, start, whole));
			n = 0;
		} else {
			from = n ? from : piece.from;
			until = piece.until;
			n++;
		}
	}
	rows.push(...pathSkipped(n, from, until - from, start, whole));
	return el("table", {class: "path pieces"}, el("thead", {}, el("tr", {}, ...[["after", "n"], ["for", "n"], ["", "n"], ["due to", "wide"]]
		.map(([name, kind]) => el("th", {scope: "col", class: kind}, name)))), el("tbody", {}, ...rows));
}

// Pieces that are told in the same words, summed, those with most time first.
/** @param {PathPiece[]} pieces @returns {PathSum[]} */
function pathSums(pieces) {
	const sums = new Map();

	for (const piece of pieces) {
		const words = pathRowWords(piece.row), ns = piece.until - piece.from;
		const one = sums.get(words) || {words, ns: 0, times: 0, longest: piece, instead: insteadMake()};
		one.ns += ns;
		one.times += paths.rows.times[piece.row];
		insteadAdd(one.instead, paths.rows, piece.row, ns);
		if (ns > one.longest.until - one.longest.from)
			one.longest = piece;
		sums.set(words, one);
	}
	return [...sums.values()].sort((a, b) => b.ns - a.ns);
}

/** @param {PathSum} sum @param {number} whole */
function pathSumRow({words, ns, times, longest, instead}, whole) {
	return el("tr", {}, el("td", {class: "n"}, duration(ns)), el("td", {class: "n"}, percent(ns, whole)), el("td", {class: "wide"},
		el("button", {type: "button", class: "link", title: `Show the longest in the timeline: ${duration(longest.until - longest.from)}`,
			onclick: () => pathGo(longest)}, words + (times > 1 ? `, ${count(times)} times` : "") + insteadWords({...instead, rows: instead.rows && times})),
		pathPlaceView(paths.rows, longest.row)));
}

// What took how long, and due to whom: before the pieces one by one.
/** @param {PathPiece[]} pieces */
function pathSumsView(pieces) {
	const sums = pathSums(pieces), whole = pieces[pieces.length - 1].until - pieces[0].from, shown = sums.slice(0, PATH_SUMS), rest = sums.slice(PATH_SUMS);
	const left = rest.length ? el("tr", {class: "dim"}, el("td", {class: "n"}, duration(rest.reduce((ns, one) => ns + one.ns, 0))),
		el("td", {class: "n"}, percent(rest.reduce((ns, one) => ns + one.ns, 0), whole)), el("td", {class: "wide"}, `in ${count(rest.length)} more`)) : null;

	return el("table", {class: "path sums"}, el("thead", {}, el("tr", {}, ...[["in all", "n"], ["", "n"], ["due to", "wide"]]
		.map(([name, kind]) => el("th", {scope: "col", class: kind}, name)))), el("tbody", {}, ...shown.map((one) => pathSumRow(one, whole)), left));
}

// trace-view has the path of any task in the page of the task's time.
/** @param {number} task */
function pathServed(task) {
	const {from, until} = selectionSpan({kind: "task", id: task});

	return el("p", {}, el("a", {class: "button", target: "_blank", href: `page?from=${Math.floor(from)}&to=${Math.ceil(until)}#sel=task:${taskId(task)}`,
		title: "A page of this task's time only, with all threads"}, "Open a page that has it"));
}

// For a task that has none in the page.
/** @param {number} task */
function pathMissing(task) {
	const command = `trace-analyze --critical-path task:${taskId(task)} ${quoted(traceFile())}`;

	return el("div", {}, el("h3", {}, "Critical path"), el("p", {class: "dim"}, `The page has those of the slowest ${count(head.paths)} tasks of each type, ` +
		"where they are not too long. For this task: "), el("p", {}, el("code", {}, command), " ",
	copyButton("Copy command", traceFileHint(), () => command)), isServed() ? pathServed(task) : null);
}

// For the details of a task.
/** @param {number} task */
export function pathView(task) {
	const pieces = pathOf(task);

	if (!pieces.length)
		return trace.task.length[task - 1] > 0 ? [pathMissing(task)] : [];
	const box = el("div"), draw = (most) => {
		const shown = Math.min(most, pieces.length);
		box.replaceChildren(pathTable(pieces, most), ...shown < pieces.length ? [el("button", {type: "button", class: "more",
			onclick: () => draw(most * 4)}, `and ${plural(pieces.length - shown, "shorter piece")}`)] : []);
	};
	draw(PATH_SHOWN);
	return [el("h3", {}, "Critical path: what it was waiting for"), el("p", {class: "dim"}, "It is drawn as a line over the timeline."),
	trace.fiber.n ? el("p", {class: "dim"}, "The program has fibers: here threads are followed, whatever fibers they run.") : null,
	pathSumsView(pieces), pieces.length > 1 ? el("h3", {}, `Its ${plural(pieces.length, "piece")}, in order of time`) : null,
	pieces.length > 1 ? box : null];
}

// ---- over the timeline ----

// The lower edge of a thread's lane on the screen, or of the line that it is folded into; null if neither is shown.
/** @param {number} idx */
function pathY(idx) {
	const track = idx >= 0 ? tracks.byThread[idx] || tracks.foldedInto[idx] : undefined;

	return track ? track.y - screen.scrollY + TRACK_PAD + tracks.stateHeight + 1 : null;
}

// The pieces of it that are to be seen as one line: along lanes, and from one to the other.
/** @param {PathPiece[]} pieces */
function pathLine(pieces) {
	const line = new Path2D();
	let drawn = 0, lastX = -Infinity, lastY = null;

	for (const {idx, from, until} of pieces) {
		const x0 = Math.max(xOf(from), -10), x1 = Math.min(xOf(until), view.width + 10), y = pathY(idx);
		if (until < view.t0 || from > view.t1 || x1 - lastX < 0.5)
			continue;
		if (y === null) {
			lastY = null;
			continue;
		}
		if (lastY === null)
			line.moveTo(x0, y);
		else
			line.lineTo(x0, y);
		line.lineTo(x1, y);
		lastX = x1;
		lastY = y;
		drawn++;
	}
	screen.pathDrawn = drawn;
	return line;
}

/** @param {CanvasRenderingContext2D} ctx */
export function drawPath(ctx) {
	const pieces = pathShown();

	screen.pathDrawn = 0;
	if (!pieces.length)
		return;
	const line = pathLine(pieces);
	ctx.save();
	ctx.lineJoin = "round";
	for (const [colour, width] of /** @type {[string, number][]} */ ([[theme.style.bg, 6], [theme.style.accent, 3]])) {
		ctx.strokeStyle = colour;
		ctx.lineWidth = width;
		ctx.stroke(line);
	}
	ctx.restore();
}

// ---- for tests ----

// Of the path that is drawn.
export function pathTold() {
	return {drawn: screen.pathDrawn, pieces: pathShown().map(({row, idx, from, until}) => ({thread: idx >= 0 ? trace.threads[idx].serial : 0, from, until,
		words: pathRowWords(row), instead: pathRowInstead(row), place: pathPlace(paths.rows, row), times: paths.rows.times[row]})),
	sums: pathShown().length ? pathSums(pathShown()).map(({words, ns, times}) => ({words, ns, times})) : []};
}
