// rows.js - the trace: threads and their lanes, waits, regions, tasks, logs, stacks.
//
// Numbers that refer to a row are its index + 1; 0 is none.  Times are nanoseconds since
// the start of the trace.

import {TASK_TRACKS_MAX, TYPE_COLOURS, instantsBy, lanesOf, lanesUnpack,
	regionLanes} from "./annotations.js";
import {arrived, column, columnAt, head, moduleName, text} from "./data.js";
import {unzigzag, valuesCount} from "./decode.js";
import {baseName, count, duration, object, plural} from "./format.js";
import {laneEnd, lanesOver} from "./levels.js";
import {orderOf, valuesLimit} from "./matches.js";
import {RUNNABLE, stateIsLock} from "./palette.js";
import {refIsWait, refOf, waitAbove, waitStart, waitStarts, waitWake} from "./states.js";
import {timeAbove, timeOf} from "./times.js";
import {objectKinds} from "./tops.js";

export const OWNER_PROGRAM = 0, OWNER_TRC = 2; // of a frame
export const MARK_FATAL = 2, MARK_TRIGGER = 3; // kinds of marks; 1: a signal that was handled
export const PARK_IDLE = 16; // in park.flags: the report calls the wait idle (viewer/rows_parks.c)
export const BEYOND_START = 1, BEYOND_END = 2, BEYOND_ALL = 4; // bits of thread.beyond
export const COUNTER_TRACKS_MAX = 200;

export const trace = /** @type {Trace} */ ({
	begin: 0, span: 1, // when the part that the page shows begins, and when it ends
	threads: [],
	states: null, // the lanes' shared arrays: {s, v, refs}
	park: {}, unlock: {}, region: {}, task: {}, log: {}, gap: {}, counter: {},
	mark: {}, cover: {}, dead: {},
	cpu: {n: 0}, // who ran on which proc: see procs.js
	fiber: {}, frun: {}, fwait: {}, // fibers, their runs, their waits: see fibers.js
	label: {}, under: {}, // what label sets consist of; when threads had which
	alloc: {}, // sampled allocations
	sample: {}, sampled: {}, // samples, and the events that were sampled
	setFirst: null, // by label set: where its labels begin
	parkFirst: null, // by thread index: where its parks begin
	members: null, // tasks by parent and regions by task, as the decoder made them
	taskTracks: [], counters: [], counterTracks: [], // counters: all; of too many some have no track
	regionsUncut: 0, // regions that are not drawn, or in part: they are in too many pieces
	stackFirst: null,
});

// A property that is computed when it is first asked for.
/** @param {string} name */
export function lazily(owner, name, make) {
	Object.defineProperty(owner, name, {configurable: true, enumerable: true, get: () => {
		const value = make();
		Object.defineProperty(owner, name, {value, writable: true});
		return value;
	}});
}

// Columns "<table>.<name>" as one object.
/** @template {string} K @param {string} prefix @param {...K} names @returns {Table<K>} */
export function table(prefix, ...names) {
	const rows = /** @type {Table<K>} */ ({});

	for (const name of names)
		lazily(rows, name, () => column(`${prefix}.${name}`));
	rows.n = head.columns.find(([name]) => name === `${prefix}.${names[0]}`)?.[2] || 0;
	return rows;
}

export function tablesLoad() {
	trace.begin = head.from_ns || 0;
	trace.span = Math.max(head.to_ns ?? head.span_ns, trace.begin + 1);
	trace.park = table("park", "thread", "length", "reason", "flags", "object",
		"stack", "holder", "waker", "waker_stack", "unlock", "proc", "result",
		"descriptor", "set");
	trace.unlock = table("unlock", "id", "time", "thread", "reason", "object", "stack", "waiters",
		"caused", "caused_ns");
	trace.region = table("region", "row", "thread", "depth", "type", "task", "start", "length",
		"open", "fiber");
	trace.task = table("task", "row", "low", "high", "parent", "type", "start", "length", "open",
		"thread", "end_thread");
	trace.log = table("log", "time", "thread", "task", "category", "message");
	trace.gap = table("gap", "start", "end", "lost", "proc", "cause");
	trace.counter = table("counter", "time", "thread", "name", "value");
	trace.mark = table("mark", "time", "thread", "kind", "text", "stack");
	trace.cover = table("cover", "proc", "source", "since");
	trace.dead = table("dead", "number", "thread", "holder", "cycle", "certain", "park");
	trace.label = table("label", "set", "key", "value");
	trace.under = table("under", "thread", "start", "length", "set");
	trace.selected = table("selected", "fiber", "track", "start", "length");
	trace.fiber = table("fiber", "low", "high", "name", "thread", "creator", "stack", "created", "ended",
		"run", "runnable", "waited", "runs", "waits", "state");
	trace.frun = table("frun", "id", "thread", "start", "length", "fiber", "reason", "flags");
	trace.fwait = table("fwait", "id", "start", "length", "ready", "fiber", "reason", "flags", "object",
		"thread", "end_thread", "stack", "set", "waker", "waker_fiber", "waker_stack");
	trace.sample = table("sample", "time", "thread", "event", "value", "made_up", "stack", "set");
	trace.alloc = table("alloc", "time", "thread", "freed", "lives", "bytes", "space", "stack", "set");
	trace.sampled = table("sampled", "event", "name", "unit", "how", "note", "period", "rate",
		"count", "lost", "missing", "unseen", "counted");
	trace.frame = table("frame", "low", "high", "inside", "function", "file", "line", "module", "inlined",
		"owner");
	trace.stack = table("stack", "count", "skip");
	trace.stackFrames = column("stack.frame");
	trace.stackFirst = new Uint32Array(trace.stack.n + 1);
	for (let i = 0; i < trace.stack.n; i++)
		trace.stackFirst[i + 1] = trace.stackFirst[i] + trace.stack.count[i];
}

export function threadsLoad() {
	trace.threads = []; // no sketch of them any more
	const t = table("thread", "serial", "tid", "name", "creator", "stack", "start", "end",
		"events", "parks", "idle", "counts");
	const beyond = column("thread.beyond");

	for (let i = 0; i < t.n; i++)
		trace.threads.push({
			idx: i, serial: t.serial[i], tid: t.tid[i],
			name: t.name[i] ? text(t.name[i]) : `thread ${t.tid[i] || t.serial[i]}`,
			label: "", // threadsName()
			named: t.name[i] !== 0,
			creator: t.creator[i], stack: t.stack[i],
			start: t.start[i] - 1, end: t.end[i] - 1, // -1: not known
			events: t.events[i], parks: t.parks[i], idle: t.idle[i] !== 0, counts: t.counts[i],
			beyond: beyond[i] || 0, // bits: its first state goes on before the page, its last one behind it
			out: (beyond[i] & BEYOND_ALL) !== 0, // left out
			time: new Float64Array(128), // by state, over all that the page shows
			lane: null, fibers: null, labels: null, regions: [], firstSeen: 0,
		});
	threadsName(trace.threads);
	const time = table("time", "thread", "state", "ns");
	for (let i = 0; i < time.n; i++)
		trace.threads[time.thread[i]].time[time.state[i]] = time.ns[i];
}

// What threads are called: their name, with the thread id if others have it too, as "worker (102)"; with the number in SQL if
// these share an id as well, as of a program that was executed in its place.
/** @param {Thread[]} threads */
export function threadsName(threads) {
	const label = [(thread) => thread.name, ({name, tid}) => tid ? `${name} (${tid})` : name, ({name, tid, serial}) => `${name} (${tid ? `${tid}, ` : ""}#${serial})`];

	for (let left = threads, k = 0; left.length && k < label.length; k++) {
		const seen = new Map();
		for (const thread of left) {
			thread.label = label[k](thread);
			seen.set(thread.label, (seen.get(thread.label) || 0) + Number(!thread.out));
		}
		left = left.filter((thread) => seen.get(thread.label) > 1);
	}
}

const COUNTS_GOES_ON = 1, COUNTS_FORMER = 2; // else 0: enum trc_thread_counts of analyzer/model/model.h

// How many threads these are: the first thread of a process is one, whichever programs it executes, if its row before is among them, too.
/** @param {Thread[]} threads */
export function threadsCount(threads) {
	const goOn = threads.filter((thread) => thread.counts === COUNTS_GOES_ON);
	const isAlone = goOn.length && !threads.some((thread) => thread.counts !== COUNTS_GOES_ON && thread.tid === goOn[0].tid);

	return threads.length - goOn.length + Number(isAlone);
}

// As in the report: those of programs that the process was before it executed another one are told apart.
/** @param {Thread[]} threads */
export function threadsTold(threads) {
	const former = threads.filter((thread) => thread.counts === COUNTS_FORMER).length;

	return plural(threadsCount(threads) - former, "thread") + (former ? ` (and ${count(former)} of the programs before it)` : "");
}

// SQL's ids of all waits: they stand in the order of starts (rows.h, V2).
function parkIds() {
	const byStart = column("park.id_by_start"), order = orderOf(waitStarts(trace.park.when), trace.park.n);
	const ids = byStart.slice(); // an array of the same kind

	for (let k = 0; k < order.length; k++)
		ids[order[k]] = byStart[k];
	return ids;
}

// SQL's id of one wait: as many waits stand before it as began earlier on each thread, or when it did on threads before
// its own.  That is quick where the waits of each thread stand in the order of their starts.
/** @param {number} p */
export function parkId(p) {
	const {when, thread} = trace.park, first = trace.parkFirst, own = thread[p - 1] - 1;
	let before = 0;

	if (!trace.parksInOrder || own < 0)
		return trace.park.id[p - 1];
	for (let t = 0; t + 1 < first.length; t++)
		before += t === own ? p - 1 - first[t]
			: waitAbove(when, first[t], first[t + 1], parkStart(p) - (t < own ? 0 : 1)) - first[t];
	return columnAt("park.id_by_start", before);
}

// What the decoder made of the intervals (states.js): one lane per thread, and waits.
export function statesLoad() {
	const {s, v, refs, bounds, nodes} = arrived.states, {lanes} = lanesOver({s, e: null, v}, bounds, stateIsLock, nodes);

	trace.states = {s, v, refs};
	trace.threads.forEach((thread, idx) => {
		thread.lane = lanes[idx];
		thread.firstSeen = thread.start >= 0 ? thread.start : 0;
	});
	const {near, base, atEnd, other, first, inOrder, reasons, areSmall} = arrived.parks;
	trace.park.when = {n: trace.park.n, near, base, states: trace.states, length: trace.park.length, atEnd, other};
	trace.parkFirst = first;
	trace.parksInOrder = inOrder;
	rankTotals.set(trace.park.reason, {n: reasons, isSmall: areSmall});
	lazily(trace.park, "id", parkIds);
}

// Of the decoder, but where there are fibers, to whose runs they are cut: pieces() gives these.
/** @param {() => any} pieces */
export function regionsLoad(pieces) {
	const given = arrived.annotations.regions, {lanes, depths, base} = trace.fiber.n ? regionLanes(pieces(), trace.threads.length)
		: {...given, lanes: lanesUnpack(given.lanes)};

	trace.threads.forEach((thread, t) => {
		thread.regions = lanes.slice(base[t], base[t] + depths[t]);
	});
}

// The key by whose values labels are coloured: of those with a few values the one under which most
// time was spent; 0 = none.  A key whose values are all different would only make a pattern.
function colourKey() {
	const l = trace.label, values = new Map(), time = new Map();
	let best = 0;

	for (let i = 0; i < l.n; i++) {
		if (!values.has(l.key[i]))
			values.set(l.key[i], new Set());
		values.get(l.key[i]).add(l.value[i]);
	}
	for (let i = 0; i < trace.under.n; i++)
		for (let [j, last] = setRange(trace.under.set[i]); j < last; j++)
			time.set(l.key[j], (time.get(l.key[j]) || 0) + trace.under.length[i]);
	for (const [key, seen] of values)
		if (seen.size > 1 && seen.size <= TYPE_COLOURS && time.get(key) > (time.get(best) || 0))
			best = key;
	return best;
}

// What a time under labels is coloured by: the value of that key, or else the set.
function labelColours() {
	const key = colourKey(), types = new Uint32Array(trace.under.n);

	for (let i = 0; i < types.length; i++) {
		let [j, last] = setRange(trace.under.set[i]);
		while (j < last && trace.label.key[j] !== key)
			j++;
		types[i] = j < last ? trace.label.value[j] : trace.under.set[i];
	}
	return types;
}

export function setsLoad() {
	const l = trace.label, sets = l.n ? l.set[l.n - 1] + 2 : 2;

	trace.setFirst = new Uint32Array(sets);
	for (let i = 0, set = 0; set < sets; set++) {
		while (i < l.n && l.set[i] < set)
			i++;
		trace.setFirst[set] = i;
	}
}

// A lane per thread that ever had labels.
export function labelsLoad() {
	setsLoad();
	trace.under.type = labelColours();
	const lanes = lanesOf(trace.under, trace.threads.length, (i) => trace.under.thread[i] - 1);

	for (const thread of trace.threads)
		if (lanes[thread.idx].hi > lanes[thread.idx].lo)
			thread.labels = lanes[thread.idx];
}

// A track per type of tasks, as the decoder put them in lanes.
export function tasksLoad() {
	const {types, steps, lanes: packed} = arrived.annotations.tasks, lanes = lanesUnpack(packed);

	trace.task.colour = steps;
	trace.members = arrived.annotations.members;
	trace.taskTypes = types.map(({type, base, depth, shared, ...sums}) => ({kind: "tasks", type, name: text(type) || "(no type)", ...sums,
		lanes: [...lanes.slice(base, base + depth), ...shared ? lanesUnpack(shared).map((/** @type {Lane} */ lane) => ({...lane, more: shared.more})) : []]}));
	trace.taskTracks = trace.taskTypes.slice(0, TASK_TRACKS_MAX);
}

// Rows of a table with times and a `thread`, by thread (instantsBy()): logs and samples as the decoder made them; others when somebody first
// asks: of marks what draws them, of critical sections who steps through them.
export function instantsLoad() {
	const {instants} = arrived.annotations;

	Object.assign(trace.log, instants.log);
	Object.assign(trace.sample, instants.sample);
	for (const rows of [trace.unlock, trace.mark]) {
		let by = null;
		const made = () => by ||= instantsBy(rows.thread, rows.time, trace.threads.length);

		lazily(rows, "first", () => made().first);
		lazily(rows, "order", () => made().order);
		lazily(rows, "at", () => made().at);
	}
}

// ---- answers about single rows; `p` is a park's index + 1 ----

/** @param {number} p */
export function parkStart(p) {
	return waitStart(trace.park.when, p - 1);
}

/** @param {number} p */
export function parkEnd(p) {
	return parkStart(p) + trace.park.length[p - 1];
}

// The wait that a thread is in although its interval i names none: it could go on in that call, and had no proc (timeline:P1 of
// analyzer/model).  0 = it is in none.
/** @param {number} i */
export function parkAround(i) {
	const {s, v} = trace.states;

	for (const k of v[i] === RUNNABLE ? [i - 1, i + 1] : []) {
		const p = refIsWait(v[k]) ? refOf(trace.states, k) : 0; // between threads there is none
		if (p && parkStart(p) <= timeOf(s, i) && parkEnd(p) >= timeOf(s, i + 1))
			return p;
	}
	return 0;
}

// When its waker acted; -1 = not known.
/** @param {number} p */
export function parkWake(p) {
	const wake = waitWake(trace.park.when, p - 1);

	return wake ? parkStart(p) + unzigzag(wake - 1) : -1;
}

// The park that thread index t left last before `time`; 0 = none.
/** @param {number} t @param {number} time */
function parkBefore(t, time) {
	const lo = trace.parkFirst[t], hi = trace.parkFirst[t + 1];
	let i = waitAbove(trace.park.when, lo, hi, time) - 1;

	for (let tries = 0; i >= lo && tries < 64; i--, tries++)
		if (parkEnd(i + 1) <= time)
			return i + 1;
	return 0;
}

// The waits that led to this one, nearest first: its waker's own wait, if that ended while
// this one lasted, and so on; at most so many.
/** @param {number} p @param {number} most */
export function parksBehind(p, most) {
	const behind = [], seen = new Set([p]);

	for (let cur = p; behind.length < most; cur = behind[behind.length - 1]) {
		const waker = trace.park.waker[cur - 1], wake = parkWake(cur);
		const before = waker && wake >= 0 ? parkBefore(waker - 1, wake) : 0;
		if (!before || parkEnd(before) <= parkStart(cur) || seen.has(before))
			break;
		seen.add(before);
		behind.push(before);
	}
	return behind;
}

// Collects parks; of them those at most so many are kept that were ended first, in order of time: {list, n}.
/** @param {number} most */
function parksFirst(most) {
	let list = [], n = 0;
	const inTime = () => list.sort((a, b) => parkWake(a) - parkWake(b)).slice(0, most);

	return {
		/** @param {number} i */
		add(i) {
			n++;
			list.push(i + 1);
			if (list.length >= 4 * most)
				list = inTime();
		},
		/** @returns {Waits} */
		first: () => ({list: inTime(), n}),
	};
}

// Those that an unlock ended, which may be far from it in the table: the engine's own search takes a few ms for millions, where a function asked of each takes tens.
/** @param {number} id @param {number} most */
export function parksOfUnlock(id, most) {
	const {unlock} = trace.park, found = parksFirst(most);

	for (let i = unlock.indexOf(id); i >= 0; i = unlock.indexOf(id, i + 1))
		found.add(i);
	return found.first();
}

// Those that thread index t ended between two times.
/** @param {number} t @param {number} until @param {number} most */
export function parksWokenBy(t, from, until, most) {
	const {waker, n} = trace.park, found = parksFirst(most);

	for (let i = 0; i < n; i++) {
		const wake = waker[i] === t + 1 ? parkWake(i + 1) : -1;
		if (wake >= from && wake <= until)
			found.add(i);
	}
	return found.first();
}

// The first park that thread index t ended from then on; 0 = none.
/** @param {number} t */
export function parkWokenFirst(t, from) {
	let best = 0, least = Infinity;

	for (let i = 0; i < trace.park.n; i++) {
		const wake = trace.park.waker[i] === t + 1 ? parkWake(i + 1) : -1;
		if (wake >= from && wake < least) {
			best = i + 1;
			least = wake;
		}
	}
	return best;
}

// Rows are ranked in pieces, copied to arrays of one type: the engine's code for the loop below stays fast, whatever the columns are.
const rankKeys = new Uint32Array(1 << 12), rankLengths = new Float64Array(1 << 12);

function rankPiece(n, own, length, sum) {
	let same = 0, longer = 0;

	for (let j = 0; j < n; j++)
		if (rankKeys[j] === own) {
			same++;
			if (rankLengths[j] > length)
				longer++;
		}
	sum.n += same;
	sum.longer += longer;
}

// Of bytes and lengths as columns of waits have them, of which there are most: how many have each value, and whether all lengths are less
// than 2^31.  Neither changes, so they are told once; of waits by the decoder.
const rankTotals = new WeakMap();

function rankTotal(keys, lengths) {
	let total = rankTotals.get(keys);

	if (!total) {
		total = {n: valuesCount(keys, 256), isSmall: valuesLimit(lengths) <= 2147483648};
		rankTotals.set(keys, total);
	}
	return total;
}

// How many lengths of this key, all less than 2^31, are longer.  Without a branch, which would be guessed wrong each few rows: the sign is
// set where the key is the same, and where the length is less.
function rankBytes(keys, lengths, own, length) {
	let longer = 0;

	for (let j = 0; j < keys.length; j++)
		longer += ((keys[j] ^ own) - 1 & length - lengths[j]) >>> 31;
	return longer;
}

// How this row's length ranks among those of its kind: {n, longer}.
/** @param {number} i */
export function rank(rows, key, i) {
	const keys = rows[key], lengths = rows.length, sum = {n: 0, longer: 0};

	if (keys instanceof Uint8Array && lengths instanceof Uint32Array && rankTotal(keys, lengths).isSmall)
		return {n: rankTotal(keys, lengths).n[keys[i]], longer: rankBytes(keys, lengths, keys[i], lengths[i])};
	for (let j = 0; j < keys.length; j += rankKeys.length) {
		const until = Math.min(j + rankKeys.length, keys.length);
		rankKeys.set(keys.subarray(j, until));
		rankLengths.set(lengths.subarray(j, until));
		rankPiece(until - j, keys[i], lengths[i], sum);
	}
	return sum;
}

// The labels of a set, as rows of trace.label: [first, last).
/** @param {number} set @returns {[number, number]} */
export function setRange(set) {
	return set + 1 < trace.setFirst.length ? [trace.setFirst[set], trace.setFirst[set + 1]] : [0, 0];
}

export function labelText(l) {
	return `${text(trace.label.key[l])}=${text(trace.label.value[l])}`;
}

// "phase=parse, tenant=acme"
export function setText(set) {
	const [first, last] = setRange(set), parts = [];

	for (let l = first; l < last; l++)
		parts.push(labelText(l));
	return parts.join(", ");
}

// The row + 1 that lies in a lane of rows at a time; 0 = none.
/** @param {Lane} lane @param {number} time */
export function laneAt(lane, time) {
	if (!lane)
		return 0;
	const i = timeAbove(lane.s, lane.lo, lane.hi, time) - 1;
	return i >= lane.lo && time < laneEnd(lane, i) ? lane.order[i] + 1 : 0;
}

// Under which labels thread index t was at a time: a row of trace.under + 1; 0 = none.
/** @param {number} t @param {number} time */
export function underAt(t, time) {
	return t >= 0 ? laneAt(trace.threads[t].labels, time) : 0;
}

export function reasonName(number) {
	const reason = head.reasons[number];

	return reason ? reason[0] : "?";
}

// Whether a wait may have gone on after the trace's end, unseen: the process was killed.
/** @param {number} p */
export function lastedLonger(p) {
	return (trace.park.flags[p - 1] & 2) !== 0 && recovered();
}

export function recovered() {
	return head.info.some(([key, value]) => key === "snapshot" && value === "recovered");
}

// A park in a few words: its reason and length, or how much of it is meant.
/** @param {number} p */
export function parkLabel(p, ns = trace.park.length[p - 1]) {
	const more = lastedLonger(p) ? "> " : "";

	return `${waitName(p)} ${more}${duration(ns)}`;
}

// The thread whose end a wait is for, by its name; "" = it is no join, or that is not known.
/** @param {number} p */
export function joinedName(p) {
	const {reason, holder} = trace.park;

	return holder[p - 1] && reasonName(reason[p - 1]) === "join" ? trace.threads[holder[p - 1] - 1].label : "";
}

// What a wait is for in a few words: "mutex settings", "join worker 1".
/** @param {number} p */
export function waitName(p) {
	const joined = joinedName(p);

	return joined ? `join ${joined}` : reasonAndName(trace.park.reason[p - 1], trace.park.object[p - 1]);
}

// The children that a wait is for, by the object that docs/schema.md tells of; null = it is none of these.
/** @param {number} low @param {number} high */
function childWords(low, high) {
	const pid = low | 0;

	if (high === 1)
		return `of pidfd ${low}`;
	if (high === 0 && pid >= 0)
		return pid ? String(pid) : "of its own group";
	if (high === 0xffffffff && pid < 0)
		return pid === -1 ? "" : `of group ${-pid}`;
	return null;
}

const WAITS_FILES = 2; // the class of Reason: format/waits.h

// Whether the object of waits for this reason is a descriptor (format/waits.c).
/** @param {string} reason */
function isOfDescriptor(reason) {
	const known = head.reasons.find((each) => each && each[0] === reason);

	return ["epoll", "flock", "accept"].includes(reason) || (reason !== "aio" && known !== undefined && known[3] === WAITS_FILES);
}

// What a wait is for, in the report's words ("fd 5", "4711"), by the number of its object; null = that is an address, or not known.
/** @param {string} reason @param {number} number */
export function waitObject(reason, number) {
	const low = number ? column("object.low")[number - 1] : 0, high = number ? column("object.high")[number - 1] : 0;

	if (reason === "child")
		return childWords(low, high);
	return low && !high && low <= 0x7fffffff && isOfDescriptor(reason) ? `fd ${low}` : null;
}

// The same where it stands alone.
/** @param {string} words */
function childAlone(words) {
	if (/^\d/.test(words))
		return `child ${words}`;
	return words.replace(/^$/, "any child").replace(/^of pidfd/, "the child of pidfd").replace(/^of (its own )?group/, (_, own) =>
		`any child of ${own ? "its " : ""}process group`);
}

// What a wait for this reason is for, by the number of its object.
/** @param {string} reason @param {number} number */
export function objectOf(reason, number) {
	const words = waitObject(reason, number);

	return words === null ? objectName(number) : reason === "child" ? childAlone(words) : words;
}

// What a wait is for.
/** @param {number} p */
export function waitedFor(p) {
	const descriptor = trace.park.descriptor[p - 1];

	if (descriptor)
		return `${text(descriptor)} (fd ${column("object.low")[trace.park.object[p - 1] - 1]})`;
	return objectOf(reasonName(trace.park.reason[p - 1]), trace.park.object[p - 1]);
}

// The same for a table's row: by its variable, else by its address where that tells objects apart.
/** @param {number} p */
export function waitedForShort(p) {
	const {reason, object: objects, descriptor} = trace.park;

	return joinedName(p) || variableName(objects[p - 1]) || (descriptor[p - 1] || objectKinds[reasonName(reason[p - 1])] ? waitedFor(p) : "");
}

// The variable that a lock or the like is, as "settings+16"; "" = not known.
export function variableName(number) {
	const name = number ? column("object.name")[number - 1] : 0, offset = name ? column("object.offset")[number - 1] : 0;

	return name ? text(name) + (offset ? `+${offset}` : "") : "";
}

export function objectAddress(number) {
	return object(column("object.low")[number - 1], column("object.high")[number - 1]);
}

// With its address, by which those are told apart that have one name in several libraries.
export function objectName(number) {
	const name = variableName(number);
	const at = number ? objectAddress(number) : "";

	return name ? `${name} (${at})` : at;
}

// What a wait is for and how it is called, in a few words: "mutex settings".
export function reasonAndName(reason, number) {
	const name = variableName(number);

	return name ? `${reasonName(reason)} ${name}` : reasonName(reason);
}

/** @param {number} k */
export function taskId(k) {
	return (BigInt(trace.task.high[k - 1]) << 32n | BigInt(trace.task.low[k - 1])).toString();
}

// Where a frame is in its module.
/** @param {number} j @param {number} back so many bytes before */
function frameAddress(j, back = 0) {
	const {low, high, module} = trace.frame, address = (BigInt(high[j]) << 32n | BigInt(low[j])) - BigInt(back);

	return `${module[j] ? `${moduleName(text(module[j]))}+` : ""}0x${address.toString(16)}`;
}

// The function of a frame: its name, or where it begins, so that all its frames are of one function (analyzer/report/cpu.c).
/** @param {number} j */
export function frameFunction(j) {
	const {function: name, inside} = trace.frame;

	return name[j] ? text(name[j]) : frameAddress(j, inside[j] ? inside[j] - 1 : 0);
}

// A stack as a list of {function, place, module, inlined, skipped}, innermost first.
/** @param {number} stack */
export function stackFrames(stack) {
	const frames = [], f = trace.frame;

	if (!stack || stack >= trace.stack.n)
		return frames;
	const first = trace.stackFirst[stack];
	for (let i = first; i < trace.stackFirst[stack + 1]; i++) {
		const j = trace.stackFrames[i] - 1;
		if (j < 0 || j >= f.n)
			continue;
		const file = f.file[j] ? text(f.file[j]) : "";
		const module = f.module[j] ? text(f.module[j]) : "";
		frames.push({
			row: j,
			function: f.function[j] ? text(f.function[j]) : "",
			address: frameAddress(j),
			file, line: f.line[j],
			place: file ? baseName(file) + (f.line[j] ? ":" + f.line[j] : "") : "",
			module,
			inlined: f.inlined[j] !== 0,
			owner: f.owner[j],
			skipped: i - first < trace.stack.skip[stack],
		});
	}
	return frames;
}

// The frames of a stack that are the program's own; not what called its first.
/** @param {number} stack */
export function stackOwn(stack) {
	const frames = stackFrames(stack);
	const last = frames.findLastIndex((f) => f.owner === OWNER_PROGRAM && f.function !== "_start");
	const own = frames.slice(0, last + 1).filter((f) => !f.skipped);

	return own.length ? own : frames;
}

// Their functions, the innermost n: "inner < outer".
/** @param {number} stack */
export function stackPath(stack, n = 3) {
	return stackOwn(stack).slice(0, n).map((f) => f.function || f.address).join(" < ");
}

// The same with the line of the innermost, as the report has it: two places in one function are two rows.
/** @param {number} stack */
export function stackPlace(stack, n = 3) {
	return stackOwn(stack).slice(0, n).map((f, i) => !f.function ? f.address
		: !i && f.file && f.line ? `${f.function} ${baseName(f.file)}:${f.line}` : f.function).join(" < ");
}

// The same for stacks that the report tells in the same words (analyzer/words/names.c).
/** @param {number} stack */
export function stackAlike(stack) {
	const FRAMES_TOLD = 6;

	return stackOwn(stack).slice(0, FRAMES_TOLD).map((f) => f.function ? `${f.function} ${f.file}:${f.line}` : f.address).join("\n");
}

const stepsKnown = new Map();

// Where a thread was, in one function, two and three: ["take", "take < serve", "take < serve < run"]; lanes and tooltips
// have as many as they have room for.  Made once for each stack, as a lane is drawn many times.
/** @param {number} stack @returns {string[]} */
export function stackSteps(stack) {
	const FRAMES_MOST = 3;

	if (!stepsKnown.has(stack)) {
		const top = stackTop(stack), steps = [];
		for (let n = 1; n <= FRAMES_MOST; n++)
			steps.push(stackPath(stack, n));
		// Where no function is the program's own, the path begins with what a wait's own stack skips.
		stepsKnown.set(stack, steps[0] === top ? steps.filter((path, n) => path !== steps[n - 1]) : [top]);
	}
	return stepsKnown.get(stack);
}

// Their last.
/** @param {number} stack */
export function stackWords(stack) {
	return stackSteps(stack).at(-1);
}

// The program's own function at the top of a stack, in a few words.
/** @param {number} stack */
export function stackTop(stack) {
	const frames = stackFrames(stack);
	const frame = frames.find((f) => !f.skipped) || frames[0];

	return frame ? frame.function || frame.address : "";
}
