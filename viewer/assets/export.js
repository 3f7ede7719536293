// export.js - what is selected, to go on with elsewhere: a stack as text, the rows of a range or of a list as CSV, a flame
// graph as a profile for pprof, and the command that makes a page of a range.

import {addressText} from "./address.js";
import {head, text} from "./data.js";
import {unzigzag} from "./decode.js";
import {fiberNumber} from "./fibers.js";
import {flame} from "./flame.js";
import {chainOf, functions} from "./flame_fold.js";
import {sampleWorth} from "./flame_items.js";
import {timeInPage} from "./flame_select.js";
import {cutText, el, plural} from "./format.js";
import {parkEnd, parkStart, reasonName, stackFrames, stackPath, taskId, trace,
	waitedFor} from "./rows.js";
import {sampleEventName} from "./samples.js";
import {selectionThread} from "./select.js";
import {download} from "./sql.js";
import {spanKinds} from "./tasks.js";
import {tracks} from "./tracks.js";
import {view} from "./view.js";
import {whenText} from "./when.js";

// Copies, and says so in the place of a button's words for a while.
/** @param {string} string */
export async function copyText(string, button) {
	const words = button.dataset.words ??= button.textContent;

	button.style.minWidth = `${button.getBoundingClientRect().width}px`; // with fewer words it would move what is beside it
	try {
		await navigator.clipboard.writeText(string);
		button.textContent = "Copied";
	} catch {
		button.textContent = "Failed";
		button.title = "The browser does not let this page copy";
	}
	clearTimeout(Number(button.dataset.timer));
	button.dataset.timer = setTimeout(() => { button.textContent = words; }, 1500);
}

export function copyButton(words, title, make) {
	const button = el("button", {type: "button", class: "copy", title, onclick: () => copyText(make(), button)}, words);

	return button;
}

// The same beside a text, as a sign.
export function copyIcon(title, make) {
	const button = el("button", {type: "button", class: "copy icon", title, "aria-label": title, onclick: () => copyText(make(), button)});

	return button;
}

// An address of what is seen now, by which others see the same.  In trace-view that of the window around this page.
export function viewLink() {
	let {href} = window.location;

	try {
		({href} = window.parent.location);
	} catch {
		// Somebody else's page is around this one.
	}
	return href.split("#")[0] + addressText();
}

// A query of SQL, and a way to take it along.
/** @param {string} query */
export function sqlText(query) {
	return [el("code", {}, query), copyIcon("Copy the query", () => query)];
}

// One frame a line, innermost first: "function file:line", or its module.
/** @param {number} stack */
export function stackText(stack) {
	return stackFrames(stack).map((f) => [f.function || f.address, f.file ? f.file + (f.line ? `:${f.line}` : "") : f.module]
		.filter((part) => part).join(" ")).join("\n") + "\n";
}

// ---- rows as CSV ----

function csvCell(value) {
	const string = value === null || value === undefined ? "" : String(value);

	return /[",\r\n]/.test(string) ? `"${string.replaceAll('"', '""')}"` : string;
}

// In parts: one string may not hold all.
function csvBlob(names, rows) {
	const parts = [];
	let lines = [names.join(",")];

	for (const row of rows) {
		lines.push(row.map(csvCell).join(","));
		if (lines.length === 10000) {
			parts.push(lines.join("\n") + "\n");
			lines = [];
		}
	}
	parts.push(lines.length ? lines.join("\n") + "\n" : "");
	return new Blob(parts, {type: "text/csv"});
}

/** @param {Thread[]} threads */
function isShownThread(threads) {
	const shown = new Uint8Array(trace.threads.length + 1);

	for (const thread of threads)
		shown[thread.idx + 1] = 1;
	return shown;
}

// Whether what lasts from..until is in [t0, t1), by the rules of --window.
/** @param {number} until @param {number} t0 @param {number} t1 */
function isBetween(from, until, t0, t1) {
	return until > from ? from < t1 && until > t0 : from >= t0 && from < t1;
}

// SQL's id, the kernel's id and the name of thread number t.
/** @param {number} t */
function threadCells(t) {
	const thread = trace.threads[t - 1];

	return thread ? [thread.serial, thread.tid, thread.name] : [null, null, null];
}

// When a row of tasks or regions began and ended, and how long it took; what is not known is null.
/** @param {string} kind @param {number} i */
function spanCells(kind, i) {
	const rows = spanKinds[kind].rows(), start = spanKinds[kind].began(rows, i) ? head.start_ns + rows.start[i] : null;
	const end = rows.open[i] ? null : head.start_ns + rows.start[i] + rows.length[i];

	return [start, end, start === null || end === null ? null : end - start];
}

/** @param {number} i @param {number} waited */
export function waitCells(i, waited) {
	const p = trace.park, start = head.start_ns + parkStart(i + 1), open = (p.flags[i] & 2) !== 0;

	return [p.id[i], ...threadCells(p.thread[i]), reasonName(p.reason[i]), waitedFor(i + 1), start, open ? null : start + p.length[i], waited,
		p.stack[i] || null, stackPath(p.stack[i], Infinity)];
}

function regionCells(i) {
	const g = trace.region;

	return [g.row[i], ...threadCells(g.thread[i]), g.fiber[i] ? fiberNumber(g.fiber[i]) : null, g.task[i] ? taskId(g.task[i]) : null,
		g.type[i] ? text(g.type[i]) : null, g.depth[i], ...spanCells("region", i)];
}

function taskCells(i) {
	const k = trace.task, [began, , beganName] = threadCells(k.thread[i]), [ended, , endedName] = threadCells(k.end_thread[i]);

	return [taskId(i + 1), k.parent[i] ? taskId(k.parent[i]) : null, k.type[i] ? text(k.type[i]) : null, ...spanCells("task", i), began, beganName,
		ended, endedName];
}

// Tables with the columns of SQL's, and names beside ids.  rows(): the table; isIn(i, t0, t1, shown): whether row i is of a range and of
// threads that are shown; cells(i, t0, t1): its values.  Times are SQL's; waited_ns is what lies in the range.
export const csvTables = {
	waits: {rows: () => trace.park, isIn: (i, t0, t1, shown) => shown[trace.park.thread[i]] && isBetween(parkStart(i + 1), parkEnd(i + 1), t0, t1),
		columns: ["id", "thread", "tid", "thread_name", "reason", "object", "start_ns", "end_ns", "waited_ns", "stack", "place"],
		cells: (i, t0, t1) => waitCells(i, timeInPage(trace.park.thread[i], Math.max(parkStart(i + 1), t0),
			Math.min(parkEnd(i + 1), t1)))},
	samples: {rows: () => trace.sample, isIn: (i, t0, t1, shown) => shown[trace.sample.thread[i]] && trace.sample.time[i] >= t0 && trace.sample.time[i] < t1,
		columns: ["ts_ns", "thread", "tid", "thread_name", "event", "value", "stack", "place"],
		cells: (i) => {
			const s = trace.sample;
			return [head.start_ns + s.time[i], ...threadCells(s.thread[i]), sampleEventName(s.event[i]), sampleWorth(i), s.stack[i] || null,
				stackPath(s.stack[i], Infinity)];
		}},
	regions: {rows: () => trace.region, isIn: (i, t0, t1, shown) => {
		const g = trace.region;
		return shown[g.thread[i]] && isBetween(g.start[i], g.start[i] + g.length[i], t0, t1);
	}, columns: ["id", "thread", "tid", "thread_name", "fiber", "task", "type", "depth", "start_ns", "end_ns", "duration_ns"], cells: regionCells},
	tasks: {rows: () => trace.task, isIn: (i, t0, t1, shown) => {
		const k = trace.task;
		return (shown[k.thread[i]] || shown[k.end_thread[i]]) && isBetween(k.start[i], k.start[i] + k.length[i], t0, t1);
	}, columns: ["id", "parent", "type", "start_ns", "end_ns", "duration_ns", "start_thread", "start_thread_name", "end_thread", "end_thread_name"],
	cells: taskCells},
	logs: {rows: () => trace.log, isIn: (i, t0, t1, shown) => shown[trace.log.thread[i]] && trace.log.time[i] >= t0 && trace.log.time[i] < t1,
		columns: ["ts_ns", "thread", "tid", "thread_name", "task", "category", "message"],
		cells: (i) => {
			const l = trace.log;
			return [head.start_ns + l.time[i], ...threadCells(l.thread[i]), l.task[i] ? taskId(l.task[i]) : null,
				l.category[i] ? text(l.category[i]) : null, text(l.message[i])];
		}},
	counters: {rows: () => trace.counter, isIn: (i, t0, t1, shown) => shown[trace.counter.thread[i]] && trace.counter.time[i] >= t0 &&
		trace.counter.time[i] < t1, columns: ["ts_ns", "thread", "tid", "thread_name", "name", "value"],
	cells: (i) => {
		const c = trace.counter;
		return [head.start_ns + c.time[i], ...threadCells(c.thread[i]), text(c.name[i]), unzigzag(c.value[i])];
	}},
};

/** @param {string} name @param {Thread[]} threads @param {TimeRange} range */
function* csvRowsIn(name, threads, {t0, t1}) {
	const {rows, isIn, cells} = csvTables[name], shown = isShownThread(threads), {n} = rows();

	for (let i = 0; i < n; i++)
		if (isIn(i, t0, t1, shown))
			yield cells(i, t0, t1);
}

// The rows of a list of the panel as a file: rows() are their cells.
/** @param {string} name @param {string} title @param {() => Iterable<any[]>} rows */
export function csvOfList(name, title, rows) {
	return el("button", {type: "button", class: "copy", title, onclick: () =>
		download(`${name}.csv`, csvBlob(csvTables[name].columns, rows()))}, "CSV");
}

// In a shell.
export function quoted(word) {
	return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

// Where the trace lies the page does not know, only what its file is called.
export function traceFile() {
	return (head.trace || "dump.trc").replace(/^-/, "./-");
}

// Of a command with this name.
export function traceFileHint() {
	return head.trace ? "Where the trace is in another directory, put that before its name." : "Put the trace's name in the place of dump.trc.";
}

// For the range, what the page is of: its threads, tasks and labels.
/** @param {number} t0 @param {number} t1 */
function rangeCommand(t0, t1) {
	return `trace-analyze --window ${quoted(`${Math.floor(t0)}ns..${Math.ceil(t1)}ns`)}${head.cut?.options || ""} --html part.html ${quoted(traceFile())}`;
}

// Whether trace-view shows a trace in the frame around this page: then it makes the page of any part.
export function isServed() {
	try {
		return JSON.parse(window.parent.document.getElementById("about").textContent).pid === 0;
	} catch {
		return false; // no frame, or somebody else's
	}
}

// A file's name that says what its rows are of: "waits, worker 2 (123), 1.2s..1.35s.csv".
/** @param {string} name @param {Thread[]} threads @param {TimeRange | null} range */
function csvName(name, threads, range) {
	const [thread] = threads, all = trace.threads.filter((each) => !each.out).length;
	const who = threads.length === all ? "" : threads.length === 1 ? `${thread.name} (${thread.tid || thread.serial})` : plural(threads.length, "thread");
	const parts = [name, cutText(who, 60), range ? whenText(range) : ""];

	return `${parts.filter((part) => part).join(", ").replace(/[^\p{L}\p{N} ,.()+_-]/gu, "_")}.csv`;
}

// Buttons that download rows of some threads, in a range or all.
/** @param {Thread[]} threads @param {TimeRange | null} range */
function csvButtons(threads, range) {
	const whole = range || {t0: trace.begin, t1: trace.span + 1}, of = threads.length === 1 ? threads[0].label : plural(threads.length, "thread");

	return Object.entries(csvTables).filter(([, {rows}]) => rows().n).map(([name, {columns}]) => el("button", {type: "button",
		title: `Download the ${name} of ${of}${range ? " in the range" : ""}`, onclick: () =>
			download(csvName(name, threads, range), csvBlob(columns, csvRowsIn(name, threads, whole)))}, `${name[0].toUpperCase()}${name.slice(1)} as CSV`));
}

// Whether only the selected thread's rows are exported: null = as a thread is selected or not.
const exported = {onlyThread: /** @type {boolean | null} */ (null), of: -1};

// A choice between the thread of what is selected and all; if it is a thread that is selected, it alone at first.
/** @param {number} idx @param {() => void} draw */
function exportChoice(idx, draw) {
	if (exported.of !== idx)
		Object.assign(exported, {of: idx, onlyThread: null});
	const isOn = exported.onlyThread ?? view.selection.kind === "thread";
	const box = el("input", {type: "checkbox", checked: isOn, onchange: () => {
		exported.onlyThread = box.checked;
		draw();
	}});

	return {isOn: () => box.checked, view: el("label", {class: "choice"}, box, ` only ${trace.threads[idx].label}, the selected thread`)};
}

// For the details of a range: of the selected thread, or of those that the filter leaves.
/** @param {TimeRange} range */
export function rangeExports(range) {
	const bar = el("p", {class: "actions"}), idx = view.selection ? selectionThread(view.selection) : -1;
	const draw = () => {
		const {t0, t1} = range;
		bar.replaceChildren(...csvButtons(choice?.isOn() ? [trace.threads[idx]] : tracks.threads, range));
		if (isServed())
			bar.append(el("a", {class: "button", href: `page?from=${Math.floor(t0)}&to=${Math.ceil(t1)}&save=1`, download: "",
				title: "Download a page of this range of time only, with all threads"}, "Download a page of it"));
		bar.append(copyButton("Copy command for a page of it", `${rangeCommand(t0, t1)}\n${traceFileHint()}`, () => rangeCommand(t0, t1)));
	};
	const choice = idx >= 0 ? exportChoice(idx, draw) : null; // it stays, and with it the focus

	draw();
	return el("div", {}, choice && choice.view, bar);
}

// For the details of a thread: all that the page has of it.
/** @param {Thread} thread */
export function threadExports(thread) {
	return el("p", {class: "actions"}, ...csvButtons([thread], null));
}

// ---- a flame graph as profile.proto ----

// Bytes of a protobuf message.
function protoMake() {
	const message = {bytes: new Uint8Array(1024), n: 0};
	const byte = (value) => {
		if (message.n === message.bytes.length) {
			const larger = new Uint8Array(message.n * 2);
			larger.set(message.bytes);
			message.bytes = larger;
		}
		message.bytes[message.n++] = value;
	};
	const varint = (value) => { // exact up to 2^53
		for (; value >= 128; value = Math.floor(value / 128))
			byte(value % 128 + 128);
		byte(value);
	};

	return {
		number: (field, value) => {
			if (value) {
				varint(field * 8);
				varint(value);
			}
		},
		bytes: (field, bytes) => {
			varint(field * 8 + 2);
			varint(bytes.length);
			for (const value of bytes)
				byte(value);
		},
		packed: (field, values) => {
			const inner = protoMake();
			for (const value of values)
				inner.varint(value);
			if (values.length) {
				varint(field * 8 + 2);
				varint(inner.done().length);
				for (const value of inner.done())
					byte(value);
			}
		},
		varint,
		done: () => message.bytes.subarray(0, message.n),
	};
}

// What the values of a kind of flame graph are: [name, unit].
/** @param {FlameKind} kind */
function profileType(kind) {
	if (kind.unit === "nanoseconds")
		return [kind.id === "cpu" ? "cpu" : "delay", "nanoseconds"];
	return kind.unit === "bytes" ? ["space", "bytes"] : [kind.of, kind.unit || "count"];
}

// A profile of values by combo, as it is shown: leads are functions, too.
/** @param {FlameKind} kind @param {Float64Array} values */
function profileMake(kind, values) {
	const profile = protoMake(), strings = new Map([["", 0]]), fns = new Map(), locations = new Map();
	const string = (value) => {
		if (!strings.has(value))
			strings.set(value, strings.size);
		return strings.get(value);
	};
	const message = (field, fill) => {
		const inner = protoMake();
		fill(inner);
		profile.bytes(field, inner.done());
	};
	const fnId = (number) => {
		if (!fns.has(number)) {
			const fn = functions.list[number], id = fns.size + 1;
			fns.set(number, id);
			message(5, (m) => {
				m.number(1, id);
				m.number(2, string(fn.name));
				m.number(3, string(fn.name));
				m.number(4, string(fn.file));
			});
		}
		return fns.get(number);
	};
	const locationId = (number, frame) => {
		const line = frame ? trace.frame.line[frame - 1] : 0, key = `${number} ${line}`, fn = fnId(number);
		if (!locations.has(key)) {
			const id = locations.size + 1, inner = protoMake();
			locations.set(key, id);
			inner.number(1, fn);
			inner.number(2, line);
			message(4, (m) => {
				m.number(1, id);
				m.bytes(4, inner.done());
			});
		}
		return locations.get(key);
	};
	const [type, unit] = profileType(kind).map(string);
	message(1, (m) => {
		m.number(1, type);
		m.number(2, unit);
	});
	for (let combo = 0; combo < values.length; combo++) {
		const value = Math.round(values[combo]);
		if (!(value > 0))
			continue;
		const {fns: chain, frames} = chainOf(combo), ids = chain.map((fn, i) => locationId(fn, frames[i])).reverse();
		message(2, (m) => {
			m.packed(1, ids);
			m.packed(2, [value]);
		});
	}
	for (const value of strings.keys())
		profile.bytes(6, new TextEncoder().encode(value));
	return profile.done();
}

// Of what is shown, of a comparison of B; compressed where the browser can.
export async function profileDownload() {
	const {result} = flame, bytes = profileMake(result.kind, result.sides[result.sides.length - 1]);
	const blob = new Blob([bytes]);

	download(`${result.kind.id}.pb.gz`, await new Response(blob.stream().pipeThrough(new CompressionStream("gzip"))).blob());
}
