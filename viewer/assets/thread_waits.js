// thread_waits.js - the table of threads: which waited most, and for what.  It is folded, and made when it is opened.
//
// Sums are of waits, as in the tables of waits beside it: a wait within a wait counts as one more, and idle waits are left out.

import {head} from "./data.js";
import {link} from "./details.js";
import {count, duration, el, plural} from "./format.js";
import {CLASS, CLASS_COUNT, stateClass} from "./palette.js";
import {PARK_IDLE, joinedName, reasonName, trace, waitName, waitedForShort} from "./rows.js";
import {select} from "./select.js";
import {PARKED} from "./states.js";
import {cellLine, objectKinds, topTable, waitInPage} from "./tops.js";

const THREAD_ROWS = 30;

/** A thread's waits by class, and what it waited for longest. @typedef {{thread: Thread, ns: Float64Array, all: number, n: number, most: {ns: number, n: number, park: number} | null}} ThreadWaits */

/** Which waits are of one row of `most`: of one object, or where it has none of one reason. @param {number} i */
function waitedOf(i) {
	const p = trace.park;

	return p.descriptor[i] ? `fd ${p.descriptor[i]}` : `${/** @type {Record<string, string>} */ (objectKinds)[reasonName(p.reason[i])] || p.reason[i]} ${p.object[i]} ${joinedName(i + 1)}`;
}

// What waits of a thread come to: `ns` by class, `most` of what it waited for longest; its longest wait for this stands for it.
/** @param {Thread} thread @returns {ThreadWaits} */
function waitsOfThread(thread) {
	const p = trace.park, ns = new Float64Array(CLASS_COUNT), by = new Map();
	let n = 0, all = 0;

	for (let i = trace.parkFirst[thread.idx]; i < trace.parkFirst[thread.idx + 1]; i++) {
		const cls = stateClass[PARKED + p.reason[i]], length = p.flags[i] & PARK_IDLE || cls === CLASS.IDLE ? 0 : waitInPage(i);
		if (!(length > 0))
			continue;
		const key = waitedOf(i), found = by.get(key);
		n++;
		all += length;
		ns[cls] += length;
		if (!found) {
			by.set(key, {ns: length, n: 1, park: i + 1, longest: length});
			continue;
		}
		found.ns += length;
		found.n++;
		if (length > found.longest)
			Object.assign(found, {park: i + 1, longest: length});
	}
	const most = [...by.values()].reduce((best, each) => !best || each.ns > best.ns ? each : best, null);
	return {thread, ns, all, n, most};
}

/** @returns {TableColumn[]} */
function threadColumns() {
	const ofClass = (/** @type {number} */ cls) => ({n: true, key: (/** @type {ThreadWaits} */ r) => r.ns[cls], cell: (/** @type {ThreadWaits} */ r) => r.ns[cls] ? duration(r.ns[cls]) : ""});

	return [
		{id: "thread", name: "thread, most for", wide: true, key: (r) => r.thread.label, cell: (r) => el("div", {},
			cellLine([el("button", {type: "button", class: "link", onclick: () => select({kind: "thread", id: r.thread.idx + 1})}, r.thread.label)],
				`${r.thread.label}, thread id ${r.thread.tid}: select it in the timeline`),
			r.most ? cellLine([el("span", {}, `${duration(r.most.ns)} `), link(`${waitedForShort(r.most.park) ? `${reasonName(trace.park.reason[r.most.park - 1])} ${
				waitedForShort(r.most.park)}` : waitName(r.most.park)}`, {kind: "park", id: r.most.park}), ` in ${plural(r.most.n, "wait")}`], undefined, "where most") : null)},
		{id: "locks", name: "locks", ...ofClass(CLASS.LOCK)},
		{id: "others", name: "threads", ...ofClass(CLASS.SYNC)},
		{id: "files", name: "files", ...ofClass(CLASS.IO)},
		{id: "ready", name: "no proc", n: true, key: (r) => r.thread.readyTime, cell: (r) => r.thread.readyTime ? duration(r.thread.readyTime) : ""},
	];
}

// Those of one thread have nothing to tell that the tables beside it do not.
export function topThreads() {
	const threads = trace.threads.filter((thread) => !thread.out);

	if (threads.length < 2)
		return null;
	const box = el("details", {}, el("summary", {}, "Threads: which waited most, and for what"));
	box.addEventListener("toggle", () => {
		const rows = threads.map(waitsOfThread).sort((a, b) => b.ns[CLASS.LOCK] - a.ns[CLASS.LOCK] || b.all - a.all || a.thread.serial - b.thread.serial);
		const table = topTable("threads", "", rows, threadColumns(), {most: THREAD_ROWS});

		box.append(table.lastChild, el("p", {class: "dim"}, `${rows.length > THREAD_ROWS ? `${count(THREAD_ROWS)} of ${plural(rows.length, "thread")}, as sorted: a click on a column's name sorts all. ` : ""}` +
			"Sums are of waits but idle ones, as in the tables of waits: also of the time in which a thread had been woken and did not run yet, " +
			`which its lane and the order of threads tell apart.${head.merged_below_ns ? " Shorter waits that the page has merged are in no sum here." : ""}`));
	}, {once: true});
	return box;
}
