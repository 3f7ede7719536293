// now.js - the tab with what each thread is doing when the trace ends: who waits for whom as a picture, then all
// threads, those that do the same in one row.
//
// A thread waits for at most one that is known to hold what it waits for.  So the picture is a forest, in which a thread
// stands left of those that wait for it; a deadlock is a ring of threads one below the other.

import {column, head, text} from "./data.js";
import {count, duration, el, exactTime, plural} from "./format.js";
import {nowHeld, nowLines, nowMoreHeld, nowObject, nowTaken, nowTellOf} from "./now_told.js";
import {panelShow} from "./panel.js";
import {objectOf, reasonName, recovered, stackPath, stackPlace, table, trace,
	variableName} from "./rows.js";
import {select, selectAt} from "./select.js";
import {NO_OWNER, isOfSemaphore} from "./semaphores.js";
import {rovingKeys} from "./spread.js";

export const NOW_WAITING = 2, NOW_STATES = ["unknown", "not waiting", "waiting"];
const BOX = {w: 270, h: 76, x: 340, y: 86, left: 56}; // CSS pixels: of a box, from one to the next, before the first
const CHILDREN_SHOWN = 12, BOXES_SHOWN = 120, SAME_LISTED = 300;

// of: thread's number -> row; held: thread's number -> rows of locks; kept: thread's number in a deadlock -> who keeps it there
export const now = {box: null, rows: null, locks: null, of: null, held: null, kept: null};

function nowTell() {
	now.rows = table("now", "thread", "state", "reason", "object", "since", "earlier", "holder", "stack", "park", "deadlock", "region");
	now.locks = table("held", "thread", "reason", "object", "since", "earlier", "stack", "waiters");
	now.of = new Map(Array.from({length: now.rows.n}, (_, i) => [now.rows.thread[i], i]));
	now.held = new Map();
	for (let k = 0; k < now.locks.n; k++)
		listAdd(now.held, now.locks.thread[k], k);
	now.kept = new Map(Array.from(trace.dead.thread).flatMap((thread, k) => trace.dead.cycle[k] ? [[thread, trace.dead.holder[k]]] : []));
}

// Adds to the list that a map has for a key.
export function listAdd(lists, key, value) {
	const list = lists.get(key);

	if (list)
		list.push(value);
	else
		lists.set(key, [value]);
}

export function nowName(number) {
	const thread = trace.threads[number - 1];

	return thread ? thread.label : "a thread that is not known";
}

// What a row waits for: "mutex settings.lock".
/** @param {number} i */
function nowFor(i) {
	const reason = reasonName(now.rows.reason[i]), of = now.rows.object[i] ? objectOf(reason, now.rows.object[i]) : "";

	if (reason === "join" && now.rows.holder[i])
		return `join ${nowName(now.rows.holder[i])}`; // whose end it waits for: in the report's words
	return of && reason !== "sleep" ? `${reason} ${variableName(now.rows.object[i]) || of}` : reason;
}

// When it began; below 0 = before the trace.
/** @param {number} i */
function nowBegin(i) {
	return now.rows.since[i] - 1 - now.rows.earlier[i];
}

/** @param {number} i */
export function nowSince(i) {
	return now.rows.since[i] ? `${recovered() ? "> " : ""}${duration(head.span_ns - nowBegin(i))}` : "";
}

// Compares rows: the longest first; since when is not known, last.
/** @param {number} i */
export function nowEarlier(i, j) {
	const [a, b] = [i, j].map((row) => now.rows.since[row] ? nowBegin(row) : Infinity);

	return a === b ? 0 : a - b;
}

// "waits 1.2 s for mutex a" and the like.
/** @param {number} i */
function nowState(i) {
	if (now.rows.state[i] !== NOW_WAITING)
		return NOW_STATES[now.rows.state[i]];
	return `waits ${nowSince(i) ? `${nowSince(i)} ` : ""}for ${nowFor(i)}`;
}

/** @param {number} i */
export function nowGo(i) {
	const number = now.rows.thread[i];

	if (now.rows.park[i])
		select({kind: "park", id: now.rows.park[i]});
	else if (number)
		selectAt(number - 1, trace.span - 1);
}

// ---- who waits for whom ----

// By thread's number: those who wait for it, longest first; and who waits for somebody.
function nowEdges() {
	const waiters = new Map(), {rows} = now;

	for (let i = 0; i < rows.n; i++)
		if (rows.holder[i])
			listAdd(waiters, holderOf(rows.thread[i]), rows.thread[i]);
	for (const list of waiters.values())
		list.sort((a, b) => nowEarlier(now.of.get(a), now.of.get(b)));
	return waiters;
}

// Of several that read what it wants to write: in a deadlock the one that is in it, too.
/** @param {number} number @returns {number} */
export function holderOf(number) {
	const i = now.of.get(number);

	return now.kept.get(number) || (i === undefined ? 0 : now.rows.holder[i]);
}

// The rings of threads of which each waits for the next.  Each thread is walked over once, however long the chains are.
function ringsOf(waiters) {
	const walked = new Map(), rings = []; // thread's number -> from which thread on it was walked over

	for (const start of waiters.keys()) {
		let at = start;
		for (; at && !walked.has(at); at = holderOf(at))
			walked.set(at, start);
		if (!at || walked.get(at) !== start)
			continue;
		const ring = [at];
		for (let next = holderOf(at); next !== at; next = holderOf(next))
			ring.push(next);
		rings.push(ring);
	}
	return rings;
}

// Where a forest's threads stand: [{number, x, y, ring}], and rows of more waiters than are drawn: {more, x, y}.  A ring stands
// together, so that it is seen whole; those that wait for it stand right of it, the first in the ring's first row.
function nowPlaces(waiters) {
	const places = [], seen = new Set(), rings = ringsOf(waiters), inRings = new Set(rings.flat());
	const roots = [...waiters.keys()].filter((number) => !holderOf(number));
	let y = 0;

	const stands = (number, x, row, ring) => {
		const isNew = !seen.has(number) && places.length < BOXES_SHOWN;
		if (isNew) {
			seen.add(number);
			places.push({number, x, y: row, ring});
		}
		return isNew;
	};
	const waitersStand = (number, x) => {
		const own = (waiters.get(number) || []).filter((each) => !inRings.has(each)), rest = own.length - CHILDREN_SHOWN;
		for (const each of own.slice(0, CHILDREN_SHOWN)) {
			const row = y;
			if (stands(each, x, row, null)) {
				waitersStand(each, x + 1);
				y = Math.max(y, row + 1);
			}
		}
		if (rest > 0)
			places.push({more: rest, to: number, x, y: y++});
	};
	for (const {left, ring} of [...rings.map((each) => ({left: each, ring: each})), ...roots.map((number) => ({left: [number], ring: null}))]) {
		const top = y, shown = left.filter((number, k) => stands(number, 0, top + k, ring));
		for (const number of shown)
			waitersStand(number, 1);
		y = Math.max(y, top + shown.length);
	}
	return places;
}

// ---- the picture ----

function svgElement(tag, attributes, ...children) {
	const element = document.createElementNS("http://www.w3.org/2000/svg", tag);

	for (const [name, value] of Object.entries(attributes))
		element.setAttribute(name, value);
	element.append(...children);
	return element;
}

// From the waiter's box to the holder's: along the left where one stands below the other.
function nowArrow(from, to, inRing) {
	const x0 = from.x * BOX.x + BOX.left, y0 = from.y * BOX.y + BOX.h / 2, x1 = to.x * BOX.x + BOX.left, y1 = to.y * BOX.y + BOX.h / 2;
	const kind = inRing ? "wait ring" : "wait", side = x0 > x1;
	const end = side ? x1 + BOX.w : x1, bend = side ? (x0 - end) / 2 : 18 + 10 * Math.min(3, Math.abs(from.y - to.y));
	const line = side ? `M${x0} ${y0}C${x0 - bend} ${y0} ${end + bend} ${y1} ${end + 8} ${y1}` : from === to
		? `M${x0} ${y0 - 8}C${x0 - 40} ${y0 - 16} ${x0 - 40} ${y0 + 16} ${x0 - 8} ${y0 + 8}`
		: `M${x0} ${y0 + 6}C${x0 - bend} ${y0 + 6} ${x1 - bend} ${y1 - 6} ${x1 - 8} ${y1 - 6}`;
	const [tipX, tipY] = side ? [end, y1] : from === to ? [x0, y0 + 8] : [x1, y1 - 6], back = side ? 9 : -9;

	return [svgElement("path", {class: kind, d: line}),
		svgElement("path", {class: `${kind} tip`, d: `M${tipX} ${tipY}l${back} -4.5v9z`})];
}

function nowBox(place) {
	const box = el("div", {class: "now-box"});

	box.style.left = `${place.x * BOX.x + BOX.left}px`;
	box.style.top = `${place.y * BOX.y}px`;
	if (place.more) {
		box.classList.add("more");
		box.append(`and ${plural(place.more, "thread")} more`);
		return box;
	}
	const i = now.of.get(place.number), {told, more} = nowHeld(place.number);
	const names = [...told.map((k) => nowObject(now.locks.object[k], false)), ...nowMoreHeld(more)].join(", ");
	const go = () => i === undefined ? select({kind: "thread", id: place.number}) : nowGo(i);
	const button = el("button", {type: "button", class: place.ring ? "ring" : "", title: [...nowLines(place.number), place.ring ? "in a deadlock" : ""]
		.filter((line) => line).join("\n"), onclick: go, onfocus: () => nowChoose(place.number)},
	el("b", {}, place.ring ? "⟳ " : "", nowName(place.number)), el("span", {}, i === undefined ? "it has ended" : nowState(i)),
	el("span", {class: "dim"}, i === undefined ? "" : stackPlace(now.rows.stack[i], 2)),
	names ? el("span", {}, `holds ${names}`) : null, names ? el("span", {class: "dim"}, nowTaken(told[0])) : null);
	button.dataset.thread = String(place.number);
	box.append(button);
	return box;
}

// Tells of a thread beside the picture, and marks its box.
/** @param {number} number */
function nowChoose(number) {
	const told = now.box.querySelector(".now-told");

	for (const button of now.box.querySelectorAll(".now-box button"))
		button.classList.toggle("chosen", button.dataset.thread === String(number));
	nowTellOf(told, number);
}

// That waits for semaphores have no arrow, and why.
function nowSemaphores() {
	const {rows} = now, n = Array.from(rows.thread).filter((number, i) => rows.state[i] === NOW_WAITING && isOfSemaphore(rows.reason[i]) && !holderOf(number)).length;

	return n ? ` ${plural(n, "thread")} ${n === 1 ? "waits" : "wait"} for a semaphore: ${NO_OWNER}. The details of a wait tell who posted it last.` : "";
}

function nowPicture() {
	const waiters = nowEdges(), places = nowPlaces(waiters), at = new Map(places.map((place) => [place.number, place]));

	if (!places.length)
		return [el("p", {class: "dim"}, `No thread waits for one that is known to hold what it waits for.${nowSemaphores()}`)];
	const width = (Math.max(...places.map((p) => p.x)) + 1) * BOX.x + BOX.left, height = (Math.max(...places.map((p) => p.y)) + 1) * BOX.y;
	const svg = svgElement("svg", {width, height, "aria-hidden": "true"}), box = el("div", {class: "now-graph", role: "group",
		"aria-label": "Who waits for whom: arrows lead from box to box"}, svg);
	const drawn = places.filter((place) => place.number).length, all = new Set([...waiters.keys(), ...[...waiters.values()].flat()]).size;

	for (const place of places) {
		const to = place.more ? at.get(place.to) : at.get(holderOf(place.number));
		if (to)
			svg.append(...nowArrow(place, to, Boolean(place.ring && to.ring)));
		box.append(nowBox(place));
	}
	box.style.width = `${width}px`;
	box.style.height = `${height}px`;
	rovingKeys(box, "ArrowUp", "ArrowDown");
	// The words below: a low panel has room for the picture of two, and no more.
	return [el("div", {class: "now-both"}, el("div", {class: "now-scroll"}, box),
		el("div", {class: "now-told", role: "region", "aria-label": "The chosen thread", tabindex: "0"})),
	el("p", {class: "dim"}, "An arrow leads from a thread to the one that holds what it waits for. ",
		places.some((place) => place.ring) ? el("b", {class: "alarm"}, "⟳ red, thick: a deadlock, each waits for the next. ") : "",
		drawn < all ? `${count(drawn)} of ${count(all)} threads are drawn.` : "", " Beside it: the chosen thread, and those that it waits for, with whole stacks.")];
}

// ---- the list ----

// Threads that do the same, at the same place: most first, and in each the longest first.
function nowGroups() {
	const {rows} = now, groups = new Map();

	for (let i = 0; i < rows.n; i++) {
		const key = `${rows.state[i]} ${rows.reason[i]} ${rows.object[i]} ${rows.stack[i]} ${rows.region[i]}`;
		if (!groups.has(key))
			groups.set(key, []);
		groups.get(key).push(i);
	}
	return [...groups.values()].map((group) => group.sort(nowEarlier)).sort((a, b) => b.length - a.length);
}

function nowRow(group) {
	const [i] = group, {rows} = now, links = [];
	const what = rows.state[i] === NOW_WAITING ? nowFor(i) : NOW_STATES[rows.state[i]];

	for (const each of group.slice(0, 4))
		links.push(links.length ? ", " : "", el("button", {type: "button", class: "link", title: nowState(each), onclick: () => nowGo(each)}, nowName(rows.thread[each])));
	if (group.length > 4)
		links.push(` and ${count(group.length - 4)} more`);
	return el("tr", {}, el("td", {class: "n"}, count(group.length)), el("td", {}, what), el("td", {class: "n"}, nowSince(i)),
		el("td", {class: "half"}, el("div", {class: "line", title: stackPath(rows.stack[i], Infinity)},
			rows.stack[i] && rows.state[i] !== NOW_WAITING ? el("span", {class: "dim"}, "last recorded at ") : null, stackPlace(rows.stack[i]))),
		el("td", {}, rows.region[i] ? text(rows.region[i]) : ""), el("td", {class: "half who"}, ...links));
}

function nowList() {
	const groups = nowGroups(), names = ["threads", "what", "since", "where", "region", "who"];

	return [el("table", {class: "plain now-list"}, el("thead", {}, el("tr", {}, ...names.map((name) => el("th", {scope: "col"}, name)))),
		el("tbody", {}, ...groups.slice(0, SAME_LISTED).map(nowRow))),
	groups.length > SAME_LISTED ? el("p", {class: "dim"}, `${count(groups.length - SAME_LISTED)} more rows: the table threads_now of the SQL tab has all.`) : null];
}

function nowDraw(box) {
	const [all] = column("now.all"), [held] = column("held.all");

	now.box = box;
	nowTell();
	box.classList.add("now");
	if (!now.rows.n) {
		box.append(el("p", {}, "All threads had ended when the trace did. A snapshot of a flight recorder (trace-record --flight), and the trace of a " +
			"program that hangs, show here what each thread waits for."));
		return;
	}
	box.append(...[head.cut && head.cut.window ? el("p", {class: "incomplete"}, "This is what was so when the trace ended, not where this page does.") : null,
		all > now.rows.n ? el("p", {class: "incomplete"}, el("b", {}, "Incomplete: "), `this page has ${count(now.rows.n)} of ${count(all)} threads.`) : null,
		held > now.locks.n ? el("p", {class: "incomplete"}, el("b", {}, "Incomplete: "), `this page has ${count(now.locks.n)} of ${count(held)} locks that are held, ` +
			"thread by thread: the table locks_held of the SQL tab has all.") : null,
		...nowPicture(), el("p", {class: "dim at"}, `What each thread did at ${exactTime(head.span_ns)}, when the trace ended.`), ...nowList()].filter((part) => part));
	const first = box.querySelector(".now-box button");
	if (first)
		nowChoose(Number(first.dataset.thread));
}

/** @type {PanelTab} */
export const nowTab = {
	id: "now", label: "Threads now", key: "h", about: "threads at the trace's end: who waits for whom",
	draw: nowDraw,
};

// ---- for tests ----

export function nowApi() {
	const serial = (number) => number ? trace.threads[number - 1].serial : null;

	return Object.freeze({
		open: () => panelShow(nowTab),
		rows: () => Array.from({length: now.rows.n}, (_, i) => [serial(now.rows.thread[i]), NOW_STATES[now.rows.state[i]], now.rows.reason[i]
			? reasonName(now.rows.reason[i]) : null, now.rows.since[i] ? now.rows.since[i] - 1 : null, serial(now.rows.holder[i]), now.rows.stack[i] || null,
		now.rows.deadlock[i] || null]),
		// Threads drawn, and of each whom its arrow leads to; those in a ring.
		drawn: () => nowPlaces(nowEdges()).filter((place) => place.number).map((place) => [serial(place.number), serial(holderOf(place.number)), Boolean(place.ring)]),
	});
}
