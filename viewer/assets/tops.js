// tops.js - the tables beside the timeline: what cost most, the longest waits, the trace itself.

import {REGION_LANES_MAX, TASK_LANES_MAX} from "./annotations.js";
import {cutBanner} from "./cut.js";
import {column, head, infoOf, text, visible} from "./data.js";
import {link, swatch} from "./details.js";
import {drawSoon} from "./draw.js";
import {topFiberWaits, topFibers} from "./fibers_details.js";
import {endBanners} from "./findings.js";
import {timeInPage} from "./flame_select.js";
import {byId, bytesText, count, duration, el, exactTime, percent, plural} from "./format.js";
import {heapMargin, heapMarginAdd, heapMarginValue, marginSpan} from "./margins.js";
import {CLASS, stateClass, stateDoc, stateName, themeApply} from "./palette.js";
import {COUNTER_TRACKS_MAX, PARK_IDLE, lastedLonger, objectAddress, parkEnd, parkStart, recovered,
	stackAlike, stackPath, stackPlace, table, trace, variableName, waitName,
	waitedForShort} from "./rows.js";
import {sampleBanners, topFunctions} from "./samples.js";
import {select} from "./select.js";
import {sortHead, sortedRows} from "./sorting.js";
import {sourceBanner} from "./source.js";
import {rowClick} from "./spread.js";
import {PARKED} from "./states.js";
import {topThreads} from "./thread_waits.js";
import {view} from "./view.js";

const TOP_IDLE = 128; // added to the reason of waits that the report calls idle (viewer/rows_top.c)
const OTHERS = " and others", SEVERAL = "(several)"; // where a row is of several objects
const TOP_ROWS = 15, LONGEST_ROWS = 20, LATENCY_ROWS = 8, HEAP_ROWS = 10;

// The first rows as they came, or as they are sorted (sorting.js); a cell is an element or text.
// Below them stands what all come to, also those that the table has no room for.
/** @param {string} id @param {string} heading @param {any[]} rows @param {TableColumn[]} columns
 * @param {{open?: boolean, most?: number, all?: Record<string, string> | null}} how `all`: of all rows, by column */
export function topTable(id, heading, rows, columns, {open = true, most = TOP_ROWS, all = null} = {}) {
	if (!rows.length)
		return null;
	const box = el("table"), kind = (c) => c.n ? "n" : c.wide ? "wide" : "";
	const foot = all ? [el("tfoot", {}, el("tr", {}, ...columns.map((c) => el("td", {class: kind(c)}, all[c.id] ?? ""))))] : [];
	const draw = () => {
		const shown = sortedRows(id, rows, columns).slice(0, most);
		box.replaceChildren(sortHead(id, columns, draw), el("tbody", {}, ...shown.map((row) =>
			el("tr", {onclick: rowClick}, ...columns.map((c) => el("td", {class: kind(c)}, c.cell(row)))))), ...foot);
		return box;
	};
	return el("details", {open}, el("summary", {}, heading), draw());
}

// What all waits or sections come to, of reasons for which `has` holds: as viewer/rows_top.c sums them up, whichever have a row.
/** @param {string} prefix @param {(state: number, isIdle: boolean) => boolean} has @param {any[]} rows @param {number} most */
function allOf(prefix, has, rows, most) {
	const c = table(prefix, "reason", "count", "total", "max");
	let n = 0, total = 0, max = 0;

	for (let i = 0; i < c.n; i++) {
		if (!has(PARKED + (c.reason[i] & ~TOP_IDLE), (c.reason[i] & TOP_IDLE) !== 0))
			continue;
		n += c.count[i];
		total += c.total[i];
		max = Math.max(max, c.max[i]);
	}
	const isWhole = rows.slice(0, most).reduce((sum, row) => sum + row.count, 0) === n;
	return {for: isWhole ? "all" : "all, also what has no row above", n: count(n), total: duration(total), max: duration(max)};
}

// One line of a wide cell, cut with a mark where it does not fit; the tooltip has all of it.
export function cellLine(parts, title, kind = "") {
	const line = el("div", {class: `line ${kind}`.trim()}, ...parts);

	line.title = title === undefined ? line.textContent : title;
	return line;
}

function stateLabel(state) {
	return [swatch(state), el("span", {title: stateDoc[state]}, stateName[state])];
}

// The same of a row with waits for several reasons, which are of one kind of lock.
function reasonsLabel({state, kind}) {
	return kind ? [swatch(state), el("span", {}, kind)] : stateLabel(state);
}

// Rows of one place: what the report tells in the same words is one row, though it is of two stacks (a loop that the compiler unrolled).
// Waits for one object stay together (byObject()).
/** @param {boolean} areWaits */
function byPlace(rows, areWaits) {
	const places = new Map();

	for (const row of rows) {
		const key = [row.state, row.isIdle, areWaits && !row.isFile ? row.what : "", areWaits && objectKinds[stateName[row.state]] ? row.object : 0, row.stack ? stackAlike(row.stack) : ""].join("\n"), place = places.get(key);
		if (!place) {
			places.set(key, row);
			continue;
		}
		if (row.max > place.max)
			Object.assign(place, {max: row.max, row: row.row, stack: row.stack});
		if (row.isFile && place.what !== row.what)
			place.what = "";
		if (place.object !== row.object)
			Object.assign(place, {object: 0, what: place.what && place.what !== SEVERAL && !place.what.endsWith(OTHERS) ? place.what + OTHERS : place.what});
		place.count += row.count;
		place.total += row.total;
		place.noProc += row.noProc;
	}
	return [...places.values()].sort((a, b) => b.total - a.total);
}

// What took most, by reason and place: precomputed over all rows.
export function topRows(prefix, key) {
	const c = table(prefix, "reason", "stack", "count", "total", "max", key, "object", "several", "no_proc", "joined", "descriptor");
	const rows = [], name = (i) => c.joined[i] ? trace.threads[c.joined[i] - 1].label : variableName(c.object[i]);
	const unnamed = (i) => c.descriptor[i] ? text(c.descriptor[i]) + (c.several[i] ? "" : ` (fd ${column("object.low")[c.object[i] - 1]})`)
		: !c.object[i] || !objectKinds[stateName[PARKED + (c.reason[i] & ~TOP_IDLE)]] ? "" : c.several[i] ? SEVERAL : objectAddress(c.object[i]);

	for (let i = 0; i < c.n; i++)
		if (c.total[i] > 0)
			rows.push({state: PARKED + (c.reason[i] & ~TOP_IDLE), isIdle: (c.reason[i] & TOP_IDLE) !== 0, stack: c.stack[i], count: c.count[i],
				total: c.total[i], max: c.max[i], noProc: c.no_proc[i], row: c[key][i], object: c.several[i] ? 0 : c.object[i],
				isFile: stateClass[PARKED + (c.reason[i] & ~TOP_IDLE)] === CLASS.IO, what: name(i) ? name(i) + (c.several[i] ? OTHERS : "") : unnamed(i)});
	return byPlace(rows, prefix !== "hold");
}

// What it is for, and below where in the program.
export function waitCell(state, what, ...where) {
	return el("div", {}, cellLine([...stateLabel(state), what ? ` ${what}` : ""]), ...where);
}

// Of waits for objects in memory: which kind that is. A descriptor is another file's at another time.
export const objectKinds = {mutex: "mutex", cond_mutex: "mutex", rwlock_read: "rwlock", rwlock_write: "rwlock", spin: "spin",
	cond: "cond", sem: "sem", barrier: "barrier", once: "once", futex: "futex", futex_lock: "futex_lock", sem_lock: "sem_lock"};

// As in the report, the waits for one object are one row, with the places, most costly first.
function byObject(rows) {
	const groups = new Map(), merged = [];

	for (const row of rows) {
		const kind = objectKinds[stateName[row.state]];
		const key = kind && row.object ? `${kind} ${row.object}` : null, group = key && groups.get(key);

		if (group) {
			group.places.push(row);
			if (group.state !== row.state)
				group.kind = kind;
			group.count += row.count;
			group.total += row.total;
			group.max = Math.max(group.max, row.max);
			group.noProc += row.noProc;
		} else {
			merged.push({...row, places: [row], kind: ""});
			if (key)
				groups.set(key, merged[merged.length - 1]);
		}
	}
	return merged.sort((a, b) => b.total - a.total);
}

// What a row is sorted by where its name is: the reason, the object, the place.
export function waitKey(r) {
	return `${r.kind || stateName[r.state]} ${r.what || ""} ${stackPath(r.stack)}`;
}

/** @param {string} counted @param {string} summed @returns {TableColumn[]} */
export function waitColumns(counted, summed) {
	return [
		{id: "n", name: counted, n: true, key: (r) => r.count, cell: (r) => count(r.count)},
		{id: "total", name: summed, n: true, key: (r) => r.total, cell: (r) => duration(r.total)},
		{id: "max", name: "max", n: true, key: (r) => r.max, cell: (r) => duration(r.max)},
	];
}

const PLACES = 4;

// As in the report: what is a fifth of the waits or more.
function noProcCells({noProc, total}) {
	return noProc > 0 && noProc >= total / 5 ? [cellLine([el("span", {class: "dim"}, `for ${duration(noProc)} of it without a proc`)])] : [];
}

// Where the object was waited for, each place with its share if there are several.
function placeCells(group) {
	const {places, total, kind} = group;

	if (places.length === 1)
		return [whereCell(places[0], "park")];
	const shown = places.slice(0, PLACES), rest = places.slice(PLACES);
	const cells = shown.map((place) => whereCell(place, "park", `${percent(place.total, total)} ${kind ? `${stateName[place.state]} at ` : ""}`));

	if (rest.length)
		cells.push(cellLine([`${percent(rest.reduce((sum, r) => sum + r.total, 0), total)} at ` +
			plural(rest.length, "more place")]));
	return cells;
}

// class -> [heading, rows, open]: in the report's order; what is idle comes last, and is folded.
/** @type {[number, string, number, boolean][]} */
const waitClasses = [[CLASS.LOCK, "Waiting for locks", TOP_ROWS, true],
	[CLASS.SYNC, "Waiting for other threads", 8, true], [CLASS.IO, "Waiting for files and sockets", 8, true],
	[CLASS.IDLE, "Waiting for requests, timers and children", TOP_ROWS, false]];

function topWaits() {
	const all = topRows("wait", "park");

	return waitClasses.map(([cls, heading, most, open]) => {
		const rows = byObject(all.filter((r) => stateClass[r.state] === cls && !r.isIdle));

		return topTable(`waits${cls}`, heading, rows, waitsColumns(), {open, most,
			all: allOf("waits", (state, isIdle) => stateClass[state] === cls && !isIdle, rows, most)});
	});
}

/** @returns {TableColumn[]} */
function waitsColumns() {
	return [{id: "for", name: "for, in", wide: true, key: waitKey, cell: (r) => el("div", {}, cellLine([...reasonsLabel(r), r.what ? ` ${r.what}` : ""]), ...placeCells(r), ...noProcCells(r))}, ...waitColumns("waits", "total")];
}

// Threads that do nearly nothing but wait for work: as in the report none of the waits above.
function topIdle() {
	const rows = byObject(topRows("wait", "park").filter((r) => r.isIdle));

	return topTable("idle", "Idle threads, waiting for work", rows, waitsColumns(), {open: false, all: allOf("waits", (_, isIdle) => isIdle, rows, TOP_ROWS)});
}

function topHolders() {
	const rows = topRows("hold", "unlock");

	return topTable("holders", "Who made others wait", rows, [
		{id: "for", name: "lock, released in", wide: true, key: waitKey, cell: (r) => waitCell(r.state, r.what, whereCell(r, "unlock"))},
		...waitColumns("sections", "caused"),
	], {all: allOf("holds", () => true, rows, TOP_ROWS)});
}

/** @param {string} kind */
export function whereCell(row, kind, before = "") {
	const where = stackPlace(row.stack) || "(no stack)", whole = stackPath(row.stack, Infinity) || where;

	if (!row.row)
		return cellLine([before, where], whole, "where");
	const line = cellLine([before && el("span", {}, before),
		el("button", {type: "button", class: "link", onclick: () => select({kind, id: row.row})}, where)],
	`${whole}\nGo to the longest: ${duration(row.max)}`, "where");

	line.classList.toggle("shared", !!before);
	return line;
}

// How long a wait was, as far as it lies in the part that the page shows.
/** @param {number} i */
export function waitInPage(i) {
	return head.cut ? timeInPage(trace.park.thread[i], parkStart(i + 1), parkEnd(i + 1)) : trace.park.length[i];
}

// Keeps the longest of the waits that are added, at most so many; one that is no longer than `bound` need not be.  As in the report, those
// come first of which nobody knows how long they were.
/** @param {number} limit */
function longestMake(limit) {
	const someWentOn = recovered(), order = (a, b) => b.longer - a.longer || b.ns - a.ns;
	let best = [], least = {i: -1, longer: 0, ns: -1};

	return {
		bound: -1,
		add(i, ns) {
			const longer = Number(someWentOn && lastedLonger(i + 1));
			if (longer < least.longer || (longer === least.longer && ns <= least.ns))
				return;
			best.push({i, longer, ns});
			if (best.length < 4 * limit)
				return;
			best = best.sort(order).slice(0, limit);
			least = best[limit - 1];
			this.bound = someWentOn ? -1 : least.ns;
		},
		list: () => best.sort(order).slice(0, limit).map(({i}) => i),
	};
}

// The longest waits of those from..until that count, at most so many.
/** @param {number} until @param {number} limit */
export function longestParks(from, until, limit, counts) {
	const longest = longestMake(limit), isCut = Boolean(head.cut), {length} = trace.park;

	for (let i = from; i < until; i++) {
		const ns = isCut ? waitInPage(i) : length[i];
		if (ns > longest.bound && counts(i)) // few are, of millions
			longest.add(i, ns);
	}
	return longest.list();
}

// A wait may have begun before a snapshot's first event (flag 4), or have gone on after the trace's end.
/** @param {number} i */
function isAtLeast(i) {
	return (trace.park.flags[i] & 4) !== 0 || lastedLonger(i + 1);
}

// The report's lists, and below them what these leave out.
/** @type {[string, string, (cls: number, idle: boolean) => boolean, boolean][]} */
const longestLists = [
	["longest", "Longest single waits, for locks and files", (cls) => cls === CLASS.LOCK || cls === CLASS.IO, true],
	["longest-threads", "Longest single waits, for other threads", (cls, idle) => cls === CLASS.SYNC && !idle, true],
	["longest-idle", "Longest idle waits", (cls, idle) => cls === CLASS.IDLE || (cls === CLASS.SYNC && idle), false]];

// Each wait is in one list at most: they are made in one pass.
function longestWaits() {
	const {n, length, reason, flags} = trace.park, isCut = Boolean(head.cut), lists = longestLists.map(() => longestMake(LONGEST_ROWS));
	const none = {bound: Infinity, add() {}}, ofReason = (idle) => Array.from({length: 256}, (_, r) =>
		lists[longestLists.findIndex(([, , has]) => has(stateClass[PARKED + r], idle))] || none);
	const busy = ofReason(false), idling = ofReason(true);

	for (let i = 0; i < n; i++) {
		const ns = isCut ? waitInPage(i) : length[i], longest = ((flags[i] & PARK_IDLE) === 0 ? busy : idling)[reason[i] & 255];
		if (ns > longest.bound)
			longest.add(i, ns);
	}
	return longestLists.map(([id, heading, , open], k) => longestTable(id, heading, open, lists[k].list()));
}

/** @param {string} id @param {string} heading @param {boolean} open @param {number[]} rows */
function longestTable(id, heading, open, rows) {
	const p = trace.park;

	return topTable(id, heading, rows, [
		{id: "for", name: "for, in", wide: true, key: (i) => `${waitName(i + 1)} ${stackPath(p.stack[i])}`, cell: (i) => waitCell(PARKED + p.reason[i], waitedForShort(i + 1),
			cellLine([link(stackPath(p.stack[i]) || "(no stack)", {kind: "park", id: i + 1})],
				stackPath(p.stack[i], Infinity), "where"))},
		{id: "thread", name: "thread", key: (i) => trace.threads[p.thread[i] - 1].label, cell: (i) => el("div", {class: "line thread"}, trace.threads[p.thread[i] - 1].label)},
		{id: "length", name: "length", n: true, key: waitInPage, cell: (i) => `${isAtLeast(i) ? "> " : ""}${duration(waitInPage(i))}`},
	], {open, most: LONGEST_ROWS});
}

// As the report tells of the table sched_latency: threads whose names differ in numbers only are one row (viewer/rows_report.c).
function topLatencies() {
	const l = table("late", "thread", "threads", "count", "alive", "total", "preempted", "own", "p50", "p99", "max"), matters = 0.01;
	const rows = Array.from({length: l.n}, (_, i) => i).filter((i) => l.total[i] > 0);
	const name = (i) => `${trace.threads[l.thread[i] - 1]?.[l.threads[i] > 1 ? "name" : "label"] ?? "?"}${l.threads[i] > 1 ? ` and ${plural(l.threads[i] - 1, "other")}` : ""}`;
	const about = (i) => `${name(i)}: ${percent(l.total[i], l.alive[i])} of their time; ${percent(l.preempted[i], l.total[i])} of it preempted; ` +
		`p50 ${duration(l.p50[i])}; for ${percent(l.own[i], l.total[i])} the program's threads ran instead`;

	return topTable("late", "Could run, had no proc", rows, [
		{id: "threads", name: "threads", wide: true, key: name, cell: (i) => cellLine([el("button", {type: "button", class: "link",
			onclick: () => select({kind: "thread", id: l.thread[i]})}, name(i))], about(i))},
		{id: "n", name: "times", n: true, key: (i) => l.count[i], cell: (i) => count(l.count[i])},
		{id: "total", name: "total", n: true, key: (i) => l.total[i], cell: (i) => duration(l.total[i])},
		{id: "p99", name: "p99", n: true, key: (i) => l.p99[i], cell: (i) => duration(l.p99[i])},
		{id: "max", name: "max", n: true, key: (i) => l.max[i], cell: (i) => duration(l.max[i])},
	], {most: LATENCY_ROWS, open: rows.some((i) => l.total[i] >= matters * l.alive[i])});
}

// Threads' time under each label, as the report has it: the keys with most time, of each the values with most.
function topLabels() {
	const l = table("bylabel", "key", "value", "values", "time", "locks", "threads", "files", "outside"), rows = Array.from({length: l.n}, (_, i) => i);
	const name = (i) => `${text(l.key[i])}=${text(l.value[i])}`, others = (i) => l.threads[i] + l.files[i] + l.outside[i];
	const unparked = (i) => Math.max(0, l.time[i] - l.locks[i] - others(i)), ofKey = new Map(), cell = (value) => value > 0 ? duration(value) : "";
	const found = topTable("labels", "By label", rows, [
		{id: "label", name: "label", wide: true, key: name, cell: (i) => cellLine([name(i)])},
		{id: "time", name: "time", n: true, key: (i) => l.time[i], cell: (i) => duration(l.time[i])},
		{id: "unparked", name: "not parked", n: true, key: unparked, cell: (i) => duration(unparked(i))},
		{id: "locks", name: "locks", n: true, key: (i) => l.locks[i], cell: (i) => cell(l.locks[i])},
		{id: "others", name: "other waits", n: true, key: others, cell: (i) => el("span", {title: `other threads ${duration(l.threads[i])}, files ` +
			`${duration(l.files[i])}, outside ${duration(l.outside[i])}`}, cell(others(i)))},
	], {most: Infinity});

	for (const i of rows)
		ofKey.set(l.key[i], {shown: (ofKey.get(l.key[i])?.shown || 0) + 1, values: l.values[i]});
	const more = [...ofKey].filter(([, {shown, values}]) => values > shown).map(([key, {shown, values}]) =>
		`${plural(values - shown, "more value")} of ${text(key)}`);
	if (more.length)
		found.append(el("p", {class: "dim"}, `And ${more.join(", ")}: the table label_spans of the SQL tab has them.`));
	return found;
}

// Sampled allocations by place, as the report has them: what lives at the end, how much more that is than in the middle, and all.
export function heapPlaces() {
	const a = trace.alloc, half = head.span_ns / 2, places = new Map(), ofStack = new Map();
	const placeOf = (stack) => {
		const where = stackPath(stack, Infinity);
		if (!places.has(where))
			places.set(where, {where, stack, inUse: 0, growth: 0, allocated: 0, inUseMargin: heapMargin(), growthMargin: heapMargin(),
				allocatedMargin: heapMargin()});
		ofStack.set(stack, places.get(where));
		return places.get(where);
	};

	for (let i = 0; i < a.n; i++) { // of which there may be a million, of few stacks
		const space = a.space[i] * (head.alloc_step || 1), objects = a.bytes[i] ? space / a.bytes[i] : 1, place = ofStack.get(a.stack[i]) || placeOf(a.stack[i]);
		const atHalf = a.time[i] <= half && (a.lives[i] || a.freed[i] - 1 > half);
		place.allocated += space;
		place.inUse += a.lives[i] ? space : 0;
		place.growth += (a.lives[i] ? space : 0) - (atHalf ? space : 0);
		heapMarginAdd(place.allocatedMargin, objects, a.bytes[i]);
		if (a.lives[i])
			heapMarginAdd(place.inUseMargin, objects, a.bytes[i]);
		if (Boolean(a.lives[i]) !== atHalf)
			heapMarginAdd(place.growthMargin, objects, a.bytes[i]);
	}
	return [...places.values()].sort((x, y) => y.inUse - x.inUse || y.allocated - x.allocated);
}

function topHeap() {
	const estimate = (amountText, sums) => {
		const margin = heapMarginValue(sums);
		return el("span", {}, amountText, marginSpan(margin >= 1 ? `±${bytesText(margin)}` : ""));
	};

	return topTable("heap", "Memory", heapPlaces(), [
		{id: "where", name: "where", wide: true, key: (r) => r.where, cell: (r) => cellLine([stackPath(r.stack) || "(no stack)"], r.where)},
		{id: "inuse", name: "in use", n: true, key: (r) => r.inUse, cell: (r) => r.inUse ? estimate(bytesText(r.inUse), r.inUseMargin) : ""},
		{id: "growth", name: "growth", n: true, key: (r) => r.growth, cell: (r) => r.growth ? estimate(`${r.growth > 0 ? "+" : "−"}${bytesText(Math.abs(r.growth))}`, r.growthMargin) : ""},
		{id: "allocated", name: "allocated", n: true, key: (r) => r.allocated, cell: (r) => estimate(bytesText(r.allocated), r.allocatedMargin)},
	], {most: HEAP_ROWS});
}

function aboutTrace() {
	const body = el("tbody");
	const rows = [
		["events", count(head.events || 0)],
		["intervals", count(head.intervals)],
		["length", exactTime(head.span_ns)],
		["begins", head.start_unix_ms > 0 ? new Date(head.start_unix_ms).toISOString() : ""],
		...head.info,
	];

	for (const [key, value] of rows)
		if (value !== "")
			body.append(el("tr", {}, el("th", {scope: "row"}, visible(key)), el("td", {}, visible(value))));
	return el("details", {}, el("summary", {}, "This trace"), el("table", {class: "about"}, body));
}

export function topsDraw() {
	const parts = [...topFunctions(), topHeap(), ...topWaits(), topIdle(), topThreads(), topHolders(), ...longestWaits(), topLatencies(), topFibers(), topFiberWaits(),
		topLabels(), aboutTrace()]; // in the report's order

	byId("tops").replaceChildren(...parts.filter((t) => t));
}

// ---- above the timeline: what is missing from the picture ----

/** @param {string} kind */
export function bannerAdd(kind, ...children) {
	byId("banners").append(el("p", {class: kind}, ...children));
}

// What kind of trace it is that has a window: the report's headings "Snapshot" and "Window" tell the same apart.
function windowedTrace() {
	const why = infoOf("snapshot"), trigger = infoOf("trigger");

	if (!why)
		return "Recorded beside a flight recorder";
	if (recovered())
		return "Recovered from what a process left";
	return `A snapshot${infoOf("ended") ? "" : " of a process that ran on"}, ${trigger ? `for ${trigger}` : why}`;
}

// Which time such a trace has in full.
function windowBanner() {
	const c = trace.cover, late = [];

	if (!c.n)
		return;
	for (let i = 0; i < c.n; i++)
		if (c.since[i] > 1 && c.since[i] - 1 > trace.span / 100)
			late.push(`${c.source[i] === 1 ? "the overflow stream" : `proc ${c.proc[i] - 1}`}` +
				`${c.source[i] === 2 ? " (scheduling)" : ""} from ${duration(c.since[i] - 1)}`);
	const from = head.window_ns ? `from ${duration(head.window_ns)} on` : "from its beginning";
	bannerAdd("note", `${windowedTrace()}: complete ${from}. ` +
		(late.length ? `Later than the rest begin: ${late.join(", ")}.` : ""));
}

// What has no place in the timeline, though it is in the page.
function notDrawnBanners() {
	const types = trace.taskTypes.length - trace.taskTracks.length;
	let deep = 0;

	for (const depth of trace.region.depth)
		deep += Number(depth >= REGION_LANES_MAX);
	if (types)
		bannerAdd("note", `${plural(types, "type")} of tasks not drawn, those with least time: search finds them.`);
	const crowded = trace.taskTracks.reduce((sum, {crowded: rows}) => sum + rows.length, 0);
	if (crowded)
		bannerAdd("note", `${plural(crowded, "task")} without a lane of ${crowded > 1 ? "their" : "its"} own: ${TASK_LANES_MAX} or more of a type were under way at once. ` +
			"The last lane of the type counts them. Search finds them.");
	const counters = trace.counters.length - trace.counterTracks.length;
	if (counters)
		bannerAdd("note", `${plural(counters, "counter")} not drawn: there are more than ${COUNTER_TRACKS_MAX}. Search finds them.`);
	if (deep)
		bannerAdd("note", `${plural(deep, "region")} not drawn: they lie in more than ${REGION_LANES_MAX - 1} ` +
			"others. Search finds them.");
}

export function bannersDraw() {
	cutBanner();
	endBanners();
	windowBanner();
	if (head.lost_events > 0) {
		const first = trace.gap.n ? link("Show the first gap", {kind: "gap", id: 1}) : null;
		bannerAdd("warn", `${plural(head.lost_events, "event")} lost in ${plural(trace.gap.n, "gap")}. ` +
			"Hatched stretches are incomplete. ", first);
	}
	if (head.warning)
		bannerAdd("warn", visible(head.warning));
	if (head.merged_below_ns > 0)
		bannerAdd("note", `${count(head.intervals)} intervals are more than a page holds: runs of ` +
			`intervals shorter than ${duration(head.merged_below_ns)} are merged and counted. ` +
			"Tables are exact.");
	const left = [["regions", "shorter regions"], ["tasks", "shorter tasks"], ["unlocks", "unlocks that caused less waiting"],
		["logs", "log messages"], ["counters", "counter values"], ["label_spans", "shorter times under labels"],
		["fibers", "fibers that ran and waited less"], ["fiber_runs", "shorter runs of fibers"],
		["fiber_waits", "shorter waits of fibers"]].filter(([key]) => head["without_" + key] > 0);
	if (left.length)
		bannerAdd("note", `Left out of this page: ${left.map(([key, what]) => `${count(head["without_" + key])} ${what}`).join(", ")}.`);
	notDrawnBanners();
	sourceBanner();
	if (trace.regionsUncut)
		bannerAdd("note", `${plural(trace.regionsUncut, "region")} not drawn, or only in part: there are too ` +
			"many runs of fibers.");
	sampleBanners();
	if (!head.has_sched) {
		const info = head.info.find(([key]) => key.startsWith("sched"));
		bannerAdd("note", "Scheduling was not recorded: whether an active thread was on a proc is " +
			"not known, and there are no tracks of procs" + (info ? ` (${visible(info[1].replace(/^no: /, ""))}).` : "."));
	}
}

// ---- below it: the states that occur ----

export function legendDraw() {
	const sums = new Float64Array(128);

	for (const thread of trace.threads)
		for (let s = 1; s < 128; s++)
			sums[s] += thread.time[s];
	const order = [...sums.keys()].filter((s) => sums[s] > 0)
		.sort((a, b) => stateClass[a] - stateClass[b] || sums[b] - sums[a]);
	byId("legend").replaceChildren(...order.map((s) => el("button", {
		type: "button", title: `${stateDoc[s]}: ${duration(sums[s])} in all threads. Click to highlight.`,
		"aria-pressed": String(view.highlighted === s),
		onclick: () => highlight(view.highlighted === s ? null : s),
	}, swatch(s), stateName[s])));
}

export function highlight(state) {
	view.highlighted = state;
	themeApply(state);
	legendDraw();
	drawSoon();
}
