// flame_select.js - which part of the trace a flame graph is of, by the rules of the analyzer's options --window,
// --thread, --task, --slowest and --label-filter (analyzer/model/selection.h).
//
// What is asked for: {t0, t1, threads: a list of indices or null, label: a row of trace.label + 1 or 0, task: a text
// id or 0, slowest: percent or 0}.

import {rowsBy} from "./annotations.js";
import {head} from "./data.js";
import {orderOf} from "./matches.js";
import {laneAt, lazily, trace, underAt} from "./rows.js";

// The tasks of a type, those that took longest first; the slowest are whole.
function tasksPicked(type, slowest) {
	const k = trace.task, rows = [];

	for (let i = 0; i < k.n; i++)
		if (k.type[i] === type && !(slowest && k.open[i]))
			rows.push(i);
	rows.sort((a, b) => k.length[b] - k.length[a] || a - b);
	return slowest ? rows.slice(0, Math.max(1, Math.ceil(rows.length * slowest / 100))) : rows;
}

// What is asked of tasks, made once: tasks by parent and regions by task, each by its number; and tasks by who ended them, then
// by when, with the place of each row among them.
/** @type {{parts?: ReturnType<typeof rowsBy>, regions?: ReturnType<typeof rowsBy>, ends?: {rows: Uint32Array, place: Uint32Array}}} */
const taskIndex = {};
lazily(taskIndex, "parts", () => trace.members?.parts || rowsBy(trace.task.parent, trace.task.n));
lazily(taskIndex, "regions", () => trace.members?.regions || rowsBy(trace.region.task, trace.task.n));
lazily(taskIndex, "ends", () => {
	const k = trace.task, end = new Float64Array(k.n), place = new Uint32Array(k.n);

	for (let i = 0; i < k.n; i++)
		end[i] = k.start[i] + k.length[i];
	const byTime = orderOf(end, k.n);
	const {order} = rowsBy(byTime.map((row) => k.end_thread[row]), trace.threads.length), rows = order.map((n) => byTime[n]);
	rows.forEach((row, n) => { place[row] = n; });
	return {rows, place};
});

// The picked tasks and their parts: {rows: of them, root: by row of task the row + 1 of the picked task that it is, or is a part
// of; 0 = none}.
function taskMembers(picked) {
	const {first, order} = taskIndex.parts, root = new Uint32Array(trace.task.n), rows = [];

	for (const row of picked) {
		root[row] = row + 1;
		rows.push(row);
	}
	for (let n = 0; n < rows.length; n++)
		for (let i = first[rows[n] + 1]; i < first[rows[n] + 2]; i++)
			if (!root[order[i]]) {
				root[order[i]] = root[rows[n]];
				rows.push(order[i]);
			}
	return {rows, root};
}

// When the thread that ended a member had ended the task before, of another root: by row; -1 = none.
function endedBefore({rows: members, root}) {
	const k = trace.task, {rows, place} = taskIndex.ends, before = new Map();

	for (const n of Uint32Array.from(members, (row) => place[row]).sort()) {
		const row = rows[n], last = n ? rows[n - 1] : -1;
		if (last < 0 || !k.end_thread[row] || k.end_thread[row] !== k.end_thread[last])
			before.set(row, -1);
		else
			before.set(row, root[last] === root[row] ? before.get(last) : k.start[last] + k.length[last]);
	}
	return before;
}

// Disjoint and in order, as [from, until, from, until, ...].
export function spansJoin(spans) {
	const joined = [];

	spans.sort((a, b) => a[0] - b[0] || a[1] - b[1]);
	for (const [from, until] of spans)
		if (joined.length && from <= joined[joined.length - 1])
			joined[joined.length - 1] = Math.max(joined[joined.length - 1], until);
		else
			joined.push(from, until);
	return Float64Array.from(joined);
}

// Rows of the regions of a task, in order.
export function taskRegions(row) {
	const {first, order} = taskIndex.regions;

	return order.subarray(first[row + 1], first[row + 2]);
}

// When threads (by number) and fibers worked for the tasks in these rows: {threads, fibers}, Maps to spans.  What is open
// lasts until openEnd.
/** @param {number} openEnd */
export function taskSpans(picked, openEnd = head.span_ns) {
	const k = trace.task, g = trace.region, members = taskMembers(picked), {rows, root} = members;
	const isHandedOver = (i) => k.end_thread[i] > 0 && k.end_thread[i] !== k.thread[i];
	const before = rows.some(isHandedOver) ? endedBefore(members) : null;
	const threads = new Map(), fibers = new Map();
	const put = (map, track, from, until) => {
		if (!track || from >= until)
			return;
		if (!map.has(track))
			map.set(track, []);
		map.get(track).push([from, until]);
	};
	// As long as the task lasts, and its root.
	const add = (row, map, track, from, until) => {
		for (const i of [row, root[row] - 1]) {
			from = Math.max(from, k.start[i]);
			if (!k.open[i])
				until = Math.min(until, k.start[i] + k.length[i]);
		}
		put(map, track, from, until);
	};

	for (const i of rows) {
		const until = k.open[i] ? openEnd : k.start[i] + k.length[i], run = fiberRunIn(k.thread[i], k.start[i]);
		if (run)
			add(i, fibers, trace.frun.fiber[run - 1], k.start[i], until);
		else if (isHandedOver(i))
			add(i, threads, k.end_thread[i], Math.max(k.start[i], before.get(i)), until);
		else
			add(i, threads, k.end_thread[i] || k.thread[i], k.start[i], until);
	}
	for (const row of rows)
		for (const i of taskRegions(row))
			add(row, g.fiber[i] ? fibers : threads, g.fiber[i] || g.thread[i], g.start[i],
				g.open[i] ? openEnd : g.start[i] + g.length[i]);
	for (const [fiber, spans] of fibers)
		fibers.set(fiber, spansJoin(spans));
	for (let i = 0; fibers.size && i < trace.frun.n; i++) {
		const spans = fibers.get(trace.frun.fiber[i]), from = trace.frun.start[i], until = from + trace.frun.length[i];
		for (let n = 0; spans && n < spans.length; n += 2)
			put(threads, trace.frun.thread[i], Math.max(from, spans[n]), Math.min(until, spans[n + 1]));
	}
	for (const [thread, spans] of threads)
		threads.set(thread, spansJoin(spans));
	return {threads, fibers};
}

// The run of a fiber that thread number t was in: its row + 1; 0 = none.
/** @param {number} t @param {number} time */
function fiberRunIn(t, time) {
	return t ? laneAt(trace.threads[t - 1].fibers, time) : 0;
}

// How much of from..until lies in spans.
/** @param {number} until */
export function spansTime(spans, from, until) {
	let lo = 0, hi = spans.length / 2, sum = 0;

	while (lo < hi) { // the first that ends behind `from`
		const mid = (lo + hi) >>> 1;
		if (spans[mid * 2 + 1] > from)
			hi = mid;
		else
			lo = mid + 1;
	}
	for (let n = lo * 2; n < spans.length && spans[n] < until; n += 2)
		sum += Math.min(until, spans[n + 1]) - Math.max(from, spans[n]);
	return sum;
}

// What lies in both.
function spansMeet(a, b) {
	const met = [];

	for (let i = 0, k = 0; i < a.length && k < b.length;) {
		const from = Math.max(a[i], b[k]), until = Math.min(a[i + 1], b[k + 1]);
		if (from < until)
			met.push(from, until);
		if (a[i + 1] < b[k + 1])
			i += 2;
		else
			k += 2;
	}
	return Float64Array.from(met);
}

// Tracks that both have, with what lies in both.
function tracksMeet(a, b) {
	const met = new Map();

	for (const [track, spans] of a) {
		const both = b.has(track) ? spansMeet(spans, b.get(track)) : [];
		if (both.length)
			met.set(track, both);
	}
	return met;
}

// When threads and fibers worked for the tasks that the page is of, as taskSpans() has it; null: it is of no tasks.
/** @type {{spans?: {threads: Map<number, number[]>, fibers: Map<number, number[]>} | null}} */
export const pageTasks = {};
lazily(pageTasks, "spans", () => {
	const s = trace.selected, tracks = [new Map(), new Map()];

	if (!head.cut?.tasks)
		return null;
	for (let i = 0; i < s.n; i++) {
		const map = tracks[s.fiber[i]], list = map.get(s.track[i]) || [];
		list.push([s.start[i], s.start[i] + s.length[i]]);
		map.set(s.track[i], list);
	}
	for (const map of tracks)
		for (const [track, spans] of map)
			map.set(track, spansJoin(spans));
	return {threads: tracks[0], fibers: tracks[1]};
});

// Of a wait, or whatever a thread did, what the page is of.
/** @param {number} thread @param {number} from @param {number} until */
export function timeInPage(thread, from, until) {
	const a = Math.max(from, trace.begin), b = Math.min(until, trace.span), tasks = pageTasks.spans;

	if (a >= b)
		return 0;
	return !tasks ? b - a : tasks.threads.has(thread) ? spansTime(tasks.threads.get(thread), a, b) : 0;
}

// What is asked for of the tasks that the page is of.
function tasksAsked(asked) {
	const of = pageTasks.spans;

	if (!asked.task)
		return of;
	const own = taskSpans(tasksPicked(asked.task, asked.slowest), head.span_ns + 1);
	return of ? {threads: tracksMeet(own.threads, of.threads), fibers: tracksMeet(own.fibers, of.fibers)} : own;
}

// The sets that have a label: by number of set; null = all.
function setsWith(label) {
	if (!label)
		return null;
	const l = trace.label, sets = new Uint8Array(trace.setFirst.length);
	for (let i = 0; i < l.n; i++)
		if (l.key[i] === l.key[label - 1] && l.value[i] === l.value[label - 1])
			sets[l.set[i]] = 1;
	return sets;
}

// Answers what is inside.  `whole`: everything is.
/** @param {Asked} asked */
export function selectionMake(asked) {
	const {t0, t1} = asked, sets = setsWith(asked.label), open = t1 >= trace.span;
	// A sample may lie at the very end of the trace.
	const tasks = tasksAsked(asked);
	const threads = asked.threads && new Uint8Array(trace.threads.length + 1);
	for (const idx of asked.threads || [])
		threads[idx + 1] = 1;
	const isChosen = (thread) => !threads || threads[thread] === 1;
	const hasThread = (thread) => isChosen(thread) && (!tasks || tasks.threads.has(thread));
	const timeOf = (spans, from, until) => {
		const a = from > t0 ? from : t0, b = until < t1 ? until : t1;
		return a >= b ? 0 : spans ? spansTime(spans, a, b) : b - a;
	};

	return {
		t0, t1, hasThread, isChosen, whole: !head.cut && t0 <= 0 && open && !sets && !threads && !tasks,
		hasLabels: (set) => !sets || sets[set] === 1,
		labelsAt: (thread, time) => {
			const under = sets ? underAt(thread - 1, time) : 0;
			return under ? trace.under.set[under - 1] : 0;
		},
		hasTime: (thread, time) => time >= t0 && (time < t1 || open) && hasThread(thread) &&
			(!tasks || spansTime(tasks.threads.get(thread), time, time + 1) > 0),
		timeIn: (thread, from, until) => hasThread(thread) ? timeOf(tasks && tasks.threads.get(thread), from, until) : 0,
		fiberTimeIn: (fiber, from, until) => !tasks ? timeOf(null, from, until)
			: tasks.fibers.has(fiber) ? timeOf(tasks.fibers.get(fiber), from, until) : 0,
	};
}
