// locks.js - the tab with the locks: the rows of the SQL table `locks`, and of one lock the histogram of its waits, who
// held it, and its waits; in which order locks are taken: lock_order.js.

import {addressWrite} from "./address.js";
import {column, head, text} from "./data.js";
import {link, threadLink} from "./details.js";
import {copyIcon, csvOfList, waitCells} from "./export.js";
import {timeInPage} from "./flame_select.js";
import {count, duration, el, object, plural, timePoint} from "./format.js";
import {rangeSet, zoomToSelection} from "./input.js";
import {circleShown, lockOrder, lockOrderApi, lockOrderTell, orderList, orderOfLock,
	orderPicture} from "./lock_order.js";
import {panelShow} from "./panel.js";
import {PARK_IDLE, objectAddress, objectOf, parkEnd, parkStart, reasonName, stackPath, stackTop,
	table, trace} from "./rows.js";
import {select} from "./select.js";
import {NO_OWNER, postedLast} from "./semaphores.js";
import {bucketText, drawnAgain, histogramView, listRow, plainTable, rovingKeys, rowClick,
	sortedTable, spreadAt, spreadBuckets, spreadCount, spreadMake} from "./spread.js";
import {objectKinds, waitInPage} from "./tops.js";
import {view} from "./view.js";

const WAITS_LISTED = 200, LOCKS_LISTED = 300, HOLDERS_LISTED = 6;

export const locks = {box: null, parts: /** @type {Record<string, HTMLElement>} */ ({}), rows: null, waited: null, spread: null, chosen: -1, bucket: -1, wanted: "",
	about: null}; // waited: by row of waits, how much of it is in the page's part; about: of the chosen lock: {of, holders, sections}

// What holds are known of: trc_lock_sum.holds_from.
export const HOLDS_ALL = 1;

/** @param {number} i */
export function lockKind(i) {
	const reason = reasonName(locks.rows.kind[i]);

	return objectKinds[reason] || reason;
}

// Its name in the report and in SQL; an address where there is none.
/** @param {number} i */
export function lockName(i) {
	return locks.rows.name[i] ? text(locks.rows.name[i]) : objectOf("", locks.rows.object[i]);
}

// Figures that may be unknown are + 1.
function knownNs(value) {
	return value ? duration(value - 1) : "";
}

// By row of waits: the lock that it was for; -1 = none.
function lockOfWaits() {
	const p = trace.park, kinds = [...new Set(Array.from({length: locks.rows.n}, (_, i) => lockKind(i)))];
	const objects = column("object.low").length + 1, row = new Int32Array(kinds.length * objects).fill(-1), of = new Int32Array(p.n).fill(-1);
	// Of reasons that are of locks; -1 of others.
	const kindOf = head.reasons.map((reason) => reason && reason[3] === 0 ? kinds.indexOf(objectKinds[reason[0]] || reason[0]) : -1);

	for (let i = 0; i < locks.rows.n; i++)
		row[kinds.indexOf(lockKind(i)) * objects + locks.rows.object[i]] = i;
	for (let i = 0; i < p.n; i++)
		if (kindOf[p.reason[i]] >= 0)
			of[i] = row[kindOf[p.reason[i]] * objects + p.object[i]];
	return of;
}

// How long each wait was, as far as it lies in the part that the page shows: as SQL counts it.
function waitsInside() {
	const {n, length} = trace.park, inside = new Float64Array(n);

	if (!head.cut)
		return length;
	for (let i = 0; i < n; i++)
		inside[i] = timeInPage(trace.park.thread[i], parkStart(i + 1), parkEnd(i + 1));
	return inside;
}

function locksTell() {
	locks.rows = table("lock", "object", "kind", "name", "allocated", "waits", "threads", "waited", "wait_p50", "wait_p99", "wait_max",
		"timed_out", "write_waits", "write_waited", "holds_from", "holds", "held", "hold_p50", "hold_p99", "hold_max", "holds_preempted",
		"write_holds", "write_held", "sections", "caused_waits", "caused", "preempted_waits", "convoys", "convoy", "convoy_handovers",
		"convoy_start");
	lockOrderTell();
	const of = lockOfWaits();
	locks.waited = waitsInside();
	locks.spread = spreadMake(locks.waited, trace.park.n, locks.rows.n, (i) => of[i]);
}

// ---- who held a lock ----

// Groups of rows by a number, with count and time, those with most time first: [{key, n, ns, longest: a row}].
function sumsBy(rows, keyOf, nsOf) {
	const groups = new Map();

	for (const row of rows) {
		const key = keyOf(row), one = groups.get(key) || {key, n: 0, ns: 0, longest: row};
		one.n++;
		one.ns += nsOf(row);
		if (nsOf(row) > nsOf(one.longest))
			one.longest = row;
		groups.set(key, one);
	}
	return [...groups.values()].sort((a, b) => b.ns - a.ns);
}

// The threads that held it when waits for it began; key 0: not known.
/** @param {number} i */
function lockHolders(i) {
	const {spread} = locks;

	return sumsBy(spread.order.subarray(spread.first[i], spread.first[i + 1]), (row) => trace.park.holder[row], (row) => locks.waited[row]);
}

// Where it was given back by who had made others wait: by stack.
/** @param {number} i */
function lockSections(i) {
	const u = trace.unlock, rows = [];

	for (let k = 0; k < u.n; k++) {
		const reason = reasonName(u.reason[k]);
		if (u.object[k] === locks.rows.object[i] && u.caused[k] && (objectKinds[reason] || reason) === lockKind(i))
			rows.push(k);
	}
	return sumsBy(rows, (row) => u.stack[row], (row) => u.caused_ns[row]);
}

// Both of the chosen lock; made once.
function lockAbout() {
	const i = locks.chosen;

	if (!locks.about || locks.about.of !== i)
		locks.about = {of: i, holders: lockHolders(i), sections: lockSections(i)};
	return locks.about;
}

function sumsTable(names, sums, cell) {
	const shown = sums.slice(0, HOLDERS_LISTED), rest = sums.slice(HOLDERS_LISTED);
	const row = (what, n, ns) => el("tr", {}, el("td", {class: "wide"}, el("div", {class: "line"}, what)), el("td", {class: "n"}, count(n)),
		el("td", {class: "n"}, duration(ns)));

	return sums.length ? plainTable(names, [...shown.map((one) => row(cell(one), one.n, one.ns)), rest.length ? row(
		el("span", {class: "dim"}, `${count(rest.length)} more`), rest.reduce((n, one) => n + one.n, 0), rest.reduce((ns, one) => ns + one.ns, 0)) : null]
		.filter((one) => one)) : null;
}

// ---- the tab ----

// Of a lock all holds are known, and so how long they lasted in all.
/** @param {number} i */
function heldWhole(i) {
	return locks.rows.holds[i] > 0 && locks.rows.holds_from[i] === HOLDS_ALL;
}

function holdsKnown() {
	return locks.rows.holds_from.some((_, i) => heldWhole(i));
}

/** @param {number} i */
function lockRow(i) {
	const r = locks.rows, chosen = i === locks.chosen, name = `${lockKind(i)} ${lockName(i)}`;

	return el("tr", {class: chosen ? "chosen" : "", onclick: rowClick}, el("td", {class: "wide"}, el("button", {type: "button", class: "link line", title: name,
		"aria-pressed": String(chosen), onclick: () => locksChoose(i)}, name)),
	...[count(r.waits[i]), r.waits[i] ? duration(r.waited[i]) : "", knownNs(r.wait_p50[i]), knownNs(r.wait_p99[i]),
		...holdsKnown() ? [heldWhole(i) ? duration(r.held[i]) : ""] : []].map((cell) => el("td", {class: "n"}, cell)));
}

// Figures that may be unknown are + 1, as above.
/** @returns {TableColumn[]} */
function lockColumns() {
	const r = locks.rows, known = (value) => value ? value - 1 : null;

	return [{id: "lock", name: "lock", key: (i) => `${lockKind(i)} ${lockName(i)}`}, {id: "waits", name: "waits", n: true, key: (i) => r.waits[i]},
		{id: "waited", name: "waited", n: true, key: (i) => r.waited[i]}, {id: "p50", name: "p50", n: true, key: (i) => known(r.wait_p50[i])},
		{id: "p99", name: "p99", n: true, key: (i) => known(r.wait_p99[i])},
		...holdsKnown() ? [{id: "held", name: "held", n: true, key: (i) => heldWhole(i) ? r.held[i] : null}] : []];
}

function locksNote() {
	const [all] = column("locks.all"), parts = [];

	if (all > locks.rows.n)
		parts.push(`this page has ${count(locks.rows.n)} of ${count(all)} locks, those most waited for. `);
	if (all > LOCKS_LISTED)
		parts.push(`${count(LOCKS_LISTED)} are listed; the table locks of the SQL tab has the others. `);
	return parts.length ? el("p", {class: "incomplete"}, el("b", {}, "Incomplete: "), ...parts) : null;
}

// What is known of one lock in words: where it is, its waits, its holds, convoys.
/** @param {number} i */
function lockWords(i) {
	const r = locks.rows, words = [], reads = lockKind(i) === "rwlock";
	const say = (...parts) => words.push(el("p", {class: "dim"}, ...parts));

	const address = objectOf("", r.object[i]), at = address.includes(lockName(i)) ? address : `${lockName(i)}, at ${
		objectAddress(r.object[i])}`;
	say(at, copyIcon("Copy the lock's address", () => objectAddress(r.object[i])), r.allocated[i] ? `; its memory was allocated at ${stackPath(r.allocated[i])}` : "");
	if (r.waits[i])
		say(`${plural(r.waits[i], "wait")} of ${plural(r.threads[i], "thread")}, ${duration(r.waited[i])}` +
			(reads ? `, of that to write ${plural(r.write_waits[i], "wait")}, ${duration(r.write_waited[i])}` : "") +
			`; longest ${knownNs(r.wait_max[i])}` + (r.timed_out[i] ? `; ${count(r.timed_out[i])} gave up` : ""));
	const all = r.holds_from[i] === HOLDS_ALL, option = el("code", {class: "option"}, "--locks=all");
	if (r.holds[i])
		say(`${all ? "" : "known to be "}held ${plural(r.holds[i], "time")}, ${duration(r.held[i])}` +
			(reads ? `, of that to write ${plural(r.write_holds[i], "time")}, ${duration(r.write_held[i])}` : "") +
			`; p50 ${knownNs(r.hold_p50[i])}, p99 ${knownNs(r.hold_p99[i])}, longest ${knownNs(r.hold_max[i])}` +
			(r.holds_preempted[i] > 1 ? `; for ${knownNs(r.holds_preempted[i])} of that its holders had no processor` : "") +
			(all ? "" : ". How long it was held when nobody waited for it is not known: record with "), all ? "" : option);
	else
		say("how long it was held is not known: record with ", option);
	if (lockKind(i) === "sem_lock")
		say(`Who holds it is not recorded: ${NO_OWNER}. Posted last by: `, ...postedLast(r.object[i], trace.span));
	if (r.convoys[i])
		words.push(lockConvoys(i));
	return words;
}

// Its convoys; a button leads to what the page shows of the longest.
/** @param {number} i */
function lockConvoys(i) {
	const r = locks.rows, t0 = Math.max(r.convoy_start[i], trace.begin), t1 = Math.min(r.convoy_start[i] + r.convoy[i], trace.span);
	const handovers = `${count(r.convoy_handovers[i])} hand-overs`;

	return el("p", {class: "dim"}, `${plural(r.convoys[i], "convoy", "convoys")}; the longest ${duration(r.convoy[i])}, `,
		t0 < t1 ? el("button", {type: "button", class: "link", onclick: () => {
			rangeSet({t0, t1});
			zoomToSelection();
		}}, handovers) : handovers, " from waiter to waiter");
}

function lockPicture() {
	if (lockOrder.shown.length)
		return orderPicture();
	const i = locks.chosen, {spread} = locks, n = spreadCount(spread, i), r = locks.rows;

	return [el("h3", {}, `${lockKind(i)} ${lockName(i)}`),
		n < r.waits[i] ? el("p", {class: "incomplete"}, el("b", {}, "Incomplete: "), `the page has ${count(n)} of its ${plural(r.waits[i], "wait")}.`) : null,
		n ? histogramView(spread, i, spreadBuckets(spread, i), locks.bucket, (k) => locksChoose(i, k)) : null,
		...lockWords(i), // below the histogram, which a low panel would else hide
		sumsTable(["held, when they began, by", "waits", "waited"], lockAbout().holders, ({key, longest}) => key
			? threadLink(key, parkStart(longest + 1)) : el("span", {class: "dim"}, "not known")),
		sumsTable(["made others wait, given back in", "sections", "caused"], lockAbout().sections, ({key, longest}) =>
			link(stackPath(key) || "(no stack)", {kind: "unlock", id: longest + 1})), ...orderOfLock(i)];
}

function lockWaitRow(row) {
	const p = trace.park, chosen = view.selection && view.selection.kind === "park" && view.selection.id === row + 1;
	const thread = trace.threads[p.thread[row] - 1], inside = locks.waited[row], whole = inside < p.length[row] ? `of ${duration(p.length[row])}, ` : "";

	return listRow(chosen, duration(inside), `${whole}${thread ? thread.label : ""} at ${timePoint(parkStart(row + 1), 1e4)} ${stackTop(p.stack[row])}`,
		() => select({kind: "park", id: row + 1}));
}

// The waits of the bucket that is chosen, or of all, the longest first.
function lockList() {
	const {spread, chosen} = locks, bucket = spreadBuckets(spread, chosen)[locks.bucket], list = el("ol", {class: "spans"});
	const {lo, hi} = bucket || {lo: spread.first[chosen], hi: spread.first[chosen + 1]}, n = hi - lo, rows = spread.order.slice(lo, hi).reverse();

	for (const row of rows.subarray(0, WAITS_LISTED))
		list.append(lockWaitRow(row));
	return [rovingKeys(list, "ArrowUp", "ArrowDown"), el("p", {class: "dim above"}, `${bucket ? `${bucketText(bucket)}: ` : ""}${plural(n, "wait")}, ` +
		`${n > WAITS_LISTED ? `the longest ${count(WAITS_LISTED)}` : "longest first"} `,
	n ? csvOfList("waits", `Download all ${count(n)}, the longest first`, () => Array.from(rows, (row) => waitCells(row, locks.waited[row]))) : null)];
}

export function locksDraw() {
	const {types, picture, list} = locks.parts;

	locks.box.classList.toggle("ordering", lockOrder.shown.length > 0);
	const table_ = sortedTable("locks", Array.from({length: locks.rows.n}, (_, i) => i), lockColumns(), lockRow, () => {
		locksDraw();
		return types;
	}, LOCKS_LISTED), order = orderList();
	types.replaceChildren(...[locksNote(), ...lockOrder.rows.n ? [...order, table_] : [table_, ...order], locksSemaphores()].filter((part) => part));
	picture.replaceChildren(...lockPicture().filter((part) => part));
	list.replaceChildren(...lockList());
}

// After another row was selected.
function locksSelected() {
	if (locks.chosen >= 0)
		drawnAgain(locks.box, () => locks.parts.list.replaceChildren(...lockList()));
}

/** @param {number} i */
function locksChoose(i, bucket = -1) {
	if (i !== locks.chosen)
		locks.parts.picture.scrollTop = 0;
	Object.assign(locks, {chosen: i, bucket: bucket === locks.bucket && i === locks.chosen ? -1 : bucket});
	lockOrder.shown = [];
	drawnAgain(locks.box, locksDraw);
	addressWrite();
}

// What the address asks for: {lock: kind and address, from: of the bucket, circle: its number}.
/** @param {number} i */
function lockKey(i) {
	const number = locks.rows.object[i] - 1;

	return `${lockKind(i)} ${object(column("object.low")[number], column("object.high")[number])}`;
}

function locksWanted() {
	const asked = new URLSearchParams(locks.wanted);
	let i = 0;

	locks.wanted = "";
	lockOrder.shown = lockOrder.circles.get(Number(asked.get("circle"))) || [];
	while (i < locks.rows.n && lockKey(i) !== asked.get("lock"))
		i++;
	if (i === locks.rows.n)
		return;
	locks.chosen = i;
	locks.bucket = spreadBuckets(locks.spread, i).findIndex((b) => String(b.from) === asked.get("from"));
}

function locksState() {
	if (!locks.rows || locks.chosen < 0)
		return locks.wanted;
	const bucket = spreadBuckets(locks.spread, locks.chosen)[locks.bucket];

	return new URLSearchParams({lock: lockKey(locks.chosen), ...bucket && {from: bucket.from}, ...circleShown() && {circle: circleShown()}}).toString();
}

// What is in no row here, though it may be a lock to the program: waits for semaphores that nothing shows to be locks.
function locksSemaphores() {
	const {reason, flags, n} = trace.park, isMeant = head.reasons.map((each) => each && each[0] === "sem"), waits = {n: 0, ns: 0, longest: -1, most: 0};

	for (let i = 0; i < n; i++) {
		const ns = isMeant[reason[i]] && !(flags[i] & PARK_IDLE) ? waitInPage(i) : 0;
		waits.n += Number(ns > 0);
		waits.ns += ns;
		if (ns > waits.most)
			Object.assign(waits, {longest: i, most: ns});
	}
	return waits.n ? el("p", {class: "dim semaphores"}, `Not here: ${plural(waits.n, "wait")} for semaphores, ${duration(waits.ns)} in all, `,
		link("the longest", {kind: "park", id: waits.longest + 1}), " of them ", duration(waits.most), ". Python, postgres and others use semaphores as locks. " +
		"The table \"Waiting for other threads\" has them by place.") : null;
}

function locksOpen(box) {
	locks.box = box;
	locksTell();
	box.classList.add("columns-3", "locks");
	if (!locks.rows.n) {
		box.append(el("div", {class: "empty"}, el("p", {}, "No thread waited for a lock, and holds were not recorded (trace-record --locks=all)."), locksSemaphores()));
		return;
	}
	for (const name of ["types", "picture", "list"]) {
		locks.parts[name] = el("div", {class: `locks-${name}`});
		box.append(locks.parts[name]);
	}
	rovingKeys(locks.parts.types, "ArrowUp", "ArrowDown");
	locksWanted();
	locks.chosen = Math.max(locks.chosen, 0);
	locksDraw();
}

/** @type {PanelTab} */
export const locksTab = {
	id: "locks", label: "Locks", key: "l", about: "locks: who waited, who held",
	draw: locksOpen,
	changed: (what) => what === "selection" && locksSelected(),
	state: locksState,
	stateSet: (string) => {
		locks.wanted = string;
		if (!locks.rows || !string || locks.chosen < 0)
			return;
		locksWanted();
		drawnAgain(locks.box, locksDraw);
	},
};

// ---- for tests ----

export function locksApi() {
	const known = (value) => value ? value - 1 : null;

	return Object.freeze({
		open: () => panelShow(locksTab),
		order: lockOrderApi,
		rows: () => Array.from({length: locks.rows.n}, (_, i) => {
			const r = locks.rows;
			return {kind: lockKind(i), name: lockName(i), waits: r.waits[i], threads: r.threads[i], waited_ns: r.waited[i], wait_p50_ns: known(r.wait_p50[i]),
				wait_p99_ns: known(r.wait_p99[i]), wait_max_ns: known(r.wait_max[i]), timed_out: r.timed_out[i], holds: r.holds[i] || null,
				held_ns: r.holds[i] ? r.held[i] : null, hold_p50_ns: known(r.hold_p50[i]), hold_p99_ns: known(r.hold_p99[i]),
				hold_max_ns: known(r.hold_max[i]), holds_preempted_ns: known(r.holds_preempted[i]), sections: r.sections[i],
				caused_waits: r.caused_waits[i], caused_ns: r.caused[i], preempted_waits_ns: known(r.preempted_waits[i]), convoys: r.convoys[i]};
		}),
		percentiles: () => [50, 99, 100].map((part) => spreadAt(locks.spread, locks.chosen, part)),
		buckets: () => spreadBuckets(locks.spread, locks.chosen).map(({from, until, lo, hi}) => ({from, until, n: hi - lo})),
		holders: () => lockHolders(locks.chosen).map(({key, n, ns}) => [key ? trace.threads[key - 1].serial : null, n, ns]),
		sections: () => lockSections(locks.chosen).map(({key, n, ns}) => [key, n, ns]),
	});
}
