// procs.js - tracks of procs: who ran on each, how many were busy, and how many threads could run but had none.
//
// The page has the rows of SQL's on_cpu and sched_latency, or, if they are many, none: then the same comes from
// the states of threads, which count the moments at a wait's begin and end as the wait's.  Nothing of this is made
// before it is shown.

import {TYPE_COLOURS, lanesOf, rowsBy} from "./annotations.js";
import {counterMake} from "./counters.js";
import {head} from "./data.js";
import {actions, during, facts, labelsAt, link, threadLink, title} from "./details.js";
import {ONE_VALUE, screen} from "./draw.js";
import {sqlText} from "./export.js";
import {fiberAt} from "./fibers_details.js";
import {pageTasks, timeInPage} from "./flame_select.js";
import {count, duration, exactTime, percent, plural} from "./format.js";
import {groupToggle} from "./groups.js";
import {laneCounts} from "./lod.js";
import {orderOf} from "./matches.js";
import {RUNNABLE, theme} from "./palette.js";
import {table, trace} from "./rows.js";
import {samplesView} from "./samples.js";
import {RUNNING, WOKEN, refOf} from "./states.js";
import {timeOf} from "./times.js";
import {TRACK_PAD, tracks} from "./tracks.js";
import {view} from "./view.js";

export const PROC_HEIGHT = 16;

export const procs = {
	told: false, exact: false, // exact: the page has the rows of SQL
	numbers: [], // of procs, in order
	share: "", used: new Map(), // which part of their time the program had them; by number for how long
	byThread: null, // the rows of trace.cpu by thread, once asked for
	pieces: null, lanes: null, queue: null, busy: null, // made when the tracks are unfolded
	tracks: [], summary: null, summaryOf: "", summed: 0, // summed: so many procs are in the summary
};

export function schedKnown() {
	return head.has_sched > 0;
}

// Rows of states of threads: {thread, start, length, and what the state refers to}, in order of start.
function rowsInStates(isIn) {
	const {s, v} = trace.states;
	let n = 0;

	for (const {lane} of trace.threads)
		for (let i = lane.lo; i < lane.hi; i++)
			n += isIn(v[i]);
	const all = {n, thread: new Uint32Array(n), start: new Float64Array(n), length: new Float64Array(n), proc: new Uint32Array(n)};
	let at = 0;
	for (const {lane, idx} of trace.threads)
		for (let i = lane.lo; i < lane.hi; i++) {
			if (!isIn(v[i]))
				continue;
			all.thread[at] = idx + 1;
			all.start[at] = timeOf(s, i);
			all.length[at] = timeOf(s, i + 1) - all.start[at];
			all.proc[at++] = refOf(trace.states, i);
		}
	const order = orderOf(all.start, n);
	for (const key of ["thread", "start", "length", "proc"])
		all[key] = all[key].map((_, i, values) => values[order[i]]);
	return all;
}

// trace.cpu: the stretches of threads on procs, by start.
export function schedTell() {
	if (procs.told)
		return;
	procs.told = true;
	const rows = table("cpu", "thread", "proc", "start", "length", "preempted", "open");
	procs.exact = rows.n > 0;
	trace.cpu = rows.n || !schedKnown() ? rows : rowsInStates((state) => state === RUNNING);
	procs.numbers = [...new Set(trace.cpu.n ? trace.cpu.proc : [])].sort((a, b) => a - b);
	let sum = 0;
	for (let i = 0; i < trace.cpu.n; i++) {
		const ns = timeInPage(trace.cpu.thread[i], trace.cpu.start[i], trace.cpu.start[i] + trace.cpu.length[i]);
		sum += ns;
		procs.used.set(trace.cpu.proc[i], (procs.used.get(trace.cpu.proc[i]) || 0) + ns);
	}
	procs.share = `${percent(sum, procs.numbers.length * (trace.span - trace.begin))} in use` +
		(head.cut?.tasks ? " for these tasks" : head.cut?.threads_out ? " by these threads" : "");
}

// Those of thread number t are order[first[t]..first[t + 1]), by start.
export function procRowsBy() {
	procs.byThread ||= rowsBy(trace.cpu.thread, trace.threads.length);
	return procs.byThread;
}

// Rows as steps of how many there are at a time: {at, value}, one step for each time.
export function stepsOf({start, length, n}) {
	const ends = new Float64Array(n), at = new Float64Array(2 * n + 1), value = new Int32Array(2 * n + 1);

	for (let i = 0; i < n; i++)
		ends[i] = start[i] + length[i];
	const order = orderOf(ends, n);
	let steps = 1, now = 0; // at[0] = 0
	for (let i = 0, k = 0; i < n || k < n;) {
		const begins = i < n && (k === n || start[i] < ends[order[k]]), time = begins ? start[i++] : ends[order[k++]];
		now += begins ? 1 : -1;
		if (at[steps - 1] !== time)
			at[steps++] = time;
		value[steps - 1] = now;
	}
	return {at: at.slice(0, steps), value: value.slice(0, steps)};
}

// Rows of no length begin and end at once: they would end before they begin.
function rowsWithLength(rows) {
	const kept = [];

	for (let i = 0; i < rows.n; i++)
		if (rows.length[i] > 0)
			kept.push(i);
	return kept.length === rows.n ? rows
		: {n: kept.length, start: Float64Array.from(kept, (i) => rows.start[i]), length: Float64Array.from(kept, (i) => rows.length[i])};
}

// Threads that could run: those of sched_latency, or else in the states runnable and woken.
function queueRows() {
	const rows = table("ready", "thread", "start", "length");

	return procs.exact ? rows : rowsInStates((state) => state === RUNNABLE || state === WOKEN);
}

// On a page of tasks, what their threads ran for these: pieces of stretches, by start, with the row that each is of.
function procPieces() {
	const {cpu} = trace, tasks = pageTasks.spans, next = new Map(), start = [], length = [], row = [];

	for (let i = 0; i < cpu.n; i++) {
		const from = cpu.start[i], until = from + cpu.length[i], spans = tasks.threads.get(cpu.thread[i]) || [];
		let n = next.get(cpu.thread[i]) || 0; // a thread's stretches follow each other, as the spans do
		while (n < spans.length && spans[n + 1] <= from)
			n += 2;
		next.set(cpu.thread[i], n);
		for (; n < spans.length && spans[n] < until; n += 2) {
			const at = Math.max(from, spans[n]);
			start.push(at);
			length.push(Math.min(until, spans[n + 1]) - at);
			row.push(i);
		}
	}
	const order = orderOf(Float64Array.from(start), start.length), sorted = (values) => Float64Array.from(order, (i) => values[i]);
	return {n: start.length, start: sorted(start), length: sorted(length), row: Uint32Array.from(order, (i) => row[i])};
}

function procsMake() {
	const lane = new Map(procs.numbers.map((proc, i) => [proc, i])), {cpu} = trace;

	if (procs.lanes)
		return;
	const {n, start, length, row} = procs.pieces = pageTasks.spans ? procPieces()
		: {n: cpu.n, start: cpu.start, length: cpu.length, row: Uint32Array.from({length: cpu.n}, (_, i) => i)};
	const colour = Uint8Array.from(row, (i) => (cpu.thread[i] + TYPE_COLOURS - 1) % TYPE_COLOURS);
	procs.lanes = lanesOf({n, start, length, colour}, procs.numbers.length, (i) => lane.get(cpu.proc[row[i]]));
	if (n)
		procs.lanes[0].order.forEach((piece, at, order) => { order[at] = row[piece]; }); // one list of all lanes
}

export function procTracks() {
	procsMake();
	if (procs.tracks.length)
		return procs.tracks;
	const less = procs.exact ? "" : "; from the states of threads: moments at a wait's begin and end are the wait's";
	const make = (kind, name, about, units, rows) => {
		const {at, value} = stepsOf(rowsWithLength(rows)), [unitOne, unit] = units;
		return {...counterMake(name, kind, at, value), title: about, unit, unitOne, min: 0, max: value.reduce((a, b) => Math.max(a, b), 1), inGroup: true};
	};
	procs.busy = make("busy", "procs in use", `how many procs ran threads of the program${less}`, ["proc", "procs"], procs.pieces);
	procs.queue = make("queue", "run queue", `how many threads could run, and had no proc${less}`, ["thread", "threads"], queueRows());
	procs.tracks = [procs.queue, procs.busy, ...procs.numbers.map((proc, i) =>
		({kind: "proc", name: `proc ${proc}`, share: percent(procs.used.get(proc), trace.span - trace.begin),
			title: `who ran on proc ${proc}: threads of this program, for ${percent(procs.used.get(proc), trace.span - trace.begin)} of the time` +
				`${head.cut?.tasks ? " for these tasks" : ""}. ` +
				"Where they had it for a part of the time only, the bar has as much of the height", lane: procs.lanes[i], inGroup: true}))];
	return procs.tracks;
}

// The tracks of procs, folded or not; none without switch records.
export function procRows() {
	const isOpen = tracks.opened.has("procs");

	if (!schedKnown())
		return [];
	if (isOpen || table("cpu", "thread").n)
		schedTell();
	const name = procs.numbers.length ? plural(procs.numbers.length, "proc") : "procs";
	return [{kind: "procs", key: "procs", name, share: procs.share, isOpen}, ...isOpen ? procTracks() : []];
}

export function procsToggle() {
	if (schedKnown())
		groupToggle({key: "procs"});
}

// Time in use by column of the visible range, of all procs, one in each step; kept while the range is.
/** @param {number} w @returns {Generator<undefined, void>} */
function* procCounts(w) {
	const key = `${view.t0} ${view.t1} ${w}`, {t0, t1} = view;

	if (procs.summaryOf !== key) {
		procs.summary = new Float32Array(w);
		procs.summaryOf = key;
		procs.summed = 0;
	}
	while (procs.summed < procs.lanes.length) {
		laneCounts(procs.lanes[procs.summed++], t0, t1, w, ONE_VALUE, procs.summary);
		yield;
	}
}

// The summary: its full height is all procs in use.  Drawn if its rows are there, or are few enough.
/** @param {number} top @returns {Generator<undefined, void>} */
export function* procsToPixels(top) {
	const w = screen.image.width, {pixels, ratio} = screen;

	if (!procs.exact && !procs.lanes)
		return;
	procsMake();
	yield* procCounts(w);
	const y0 = Math.round((top + TRACK_PAD) * ratio), y1 = Math.round((top + TRACK_PAD + tracks.stateHeight) * ratio);
	for (let x = 0; x < w; x++) {
		const share = Math.min(procs.summary[x] / procs.numbers.length, 1), height = share > 0 ? Math.max(1, Math.round(share * (y1 - y0))) : 0;
		for (let y = Math.max(y0, 0, y1 - height); y < Math.min(y1, screen.image.height); y++)
			pixels[y * w + x] = theme.state[RUNNING];
	}
}

// ---- a stretch on a proc that is selected: its row + 1 ----

function cpuTrack(row) {
	return procs.tracks.find((track) => track.kind === "proc" && track.name === `proc ${trace.cpu.proc[row]}`);
}

export function cpuPlace(row) {
	const track = cpuTrack(row);

	return track && tracks.all.includes(track) ? {track, y: TRACK_PAD, h: PROC_HEIGHT} : null;
}

export function cpuText(row) {
	const thread = trace.threads[trace.cpu.thread[row] - 1];

	return thread ? thread.label : "a thread that is not known";
}

// The stretch before (-1) or after (1) it, of the same proc or thread; its row + 1, 0 = none.
/** @param {number} step */
function cpuNext(row, step, key) {
	const {cpu} = trace;

	for (let i = row + step; i >= 0 && i < cpu.n; i += step)
		if (cpu[key][i] === cpu[key][row])
			return i + 1;
	return 0;
}

function cpuLink(number) {
	return number ? [link(cpuText(number - 1), {kind: "cpu", id: number}), ` for ${duration(trace.cpu.length[number - 1])}`] : null;
}

// Who ran meanwhile on the proc that a thread was taken off, longest first: as SQL's instead_thread tells the first of them.
/** @param {number} idx @param {number} from @param {number} until */
function ranInstead(idx, from, until) {
	const {cpu} = trace, {first, order} = procRowsBy(), ran = new Map();
	let off = -1;

	for (let k = first[idx + 1]; k < first[idx + 2] && cpu.start[order[k]] < from; k++)
		off = order[k];
	for (let i = 0; off >= 0 && i < cpu.n && cpu.start[i] < until; i++) {
		const ns = Math.min(until, cpu.start[i] + cpu.length[i]) - Math.max(from, cpu.start[i]);
		if (ns > 0 && cpu.proc[i] === cpu.proc[off])
			ran.set(cpu.thread[i], (ran.get(cpu.thread[i]) || 0) + ns);
	}
	return off < 0 ? null : {proc: cpu.proc[off], ran: [...ran].sort((a, b) => b[1] - a[1])};
}

// Why a thread that could run did not: who had its proc.
/** @param {number} idx @param {number} from @param {number} until */
export function noProcText(idx, from, until) {
	const most = 3;

	schedTell();
	const instead = ranInstead(idx, from, until);
	if (!instead)
		return null;
	const {proc, ran} = instead, others = until - from - ran.reduce((sum, [, ns]) => sum + ns, 0);
	const parts = ran.slice(0, most).flatMap(([thread, ns], k) => [k ? ", " : "", threadLink(thread, from), ` for ${duration(ns)}`]);
	if (ran.length > most)
		parts.push(`, and ${plural(ran.length - most, "other thread")}`);
	return ran.length ? [...parts, ` on proc ${proc}`, others > (until - from) / 20 ? `; for ${duration(others)} none of this program` : ""]
		: `no thread of this program, on proc ${proc}`;
}

/** @param {Chosen} sel */
export function cpuDetails(sel) {
	const {cpu} = trace, i = sel.id - 1, from = cpu.start[i], until = from + cpu.length[i], next = cpuNext(i, 1, "thread");
	const thread = trace.threads[cpu.thread[i] - 1];

	return [
		title(`${cpuText(i)} on proc ${cpu.proc[i]}: ${duration(cpu.length[i])}`, RUNNING),
		actions(sel),
		facts([
			["Thread", threadLink(cpu.thread[i], from)],
			["Fiber", fiberAt(cpu.thread[i], from)],
			["Labels", labelsAt(cpu.thread[i], from)],
			["Duration", `${duration(cpu.length[i])} (${count(cpu.length[i])} ns)`],
			["Began", exactTime(from)],
			["Ended", procs.exact && cpu.open[i] ? "not before the end of the trace" : exactTime(until)],
			["Then", procs.exact && !cpu.open[i] ? cpu.preempted[i] ? "it could have gone on, but was taken off" : "it waited" : null],
			["Ran again", next ? [link(`${duration(cpu.start[next - 1] - until)} later`, {kind: "cpu", id: next}),
				` on proc ${cpu.proc[next - 1]}`] : null],
			["Before, here", cpuLink(cpuNext(i, -1, "proc"))],
			["After, here", cpuLink(cpuNext(i, 1, "proc"))],
			["SQL", procs.exact && thread ? sqlText(`SELECT * FROM on_cpu WHERE thread=${thread.serial} AND start_ns=${
				BigInt(head.start_ns) + BigInt(from)}`) : null],
		]),
		thread ? samplesView("Sampled meanwhile", during([thread], from, until)) : null,
	];
}

// ---- for tests ----

export function procsApi() {
	return Object.freeze({
		toggle: procsToggle,
		tracks: () => tracks.all.filter((track) => track.inGroup && !track.thread).map((track) => ({kind: track.kind, name: track.name,
			y: track.y - screen.scrollY, h: track.h})),
		exact: () => procs.exact,
		steps: (name) => {
			const track = procs.tracks.find((each) => each.name === name);
			return [Array.from(track.at), Array.from(track.value)];
		},
		stretches: () => Array.from({length: trace.cpu.n}, (_, i) => [trace.threads[trace.cpu.thread[i] - 1]?.serial ?? 0, trace.cpu.proc[i],
			trace.cpu.start[i], trace.cpu.length[i]]),
	});
}
