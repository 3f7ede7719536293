// now_told.js - beside the picture of who waits for whom: the threads from the chosen one to the end of its chain, each with what it
// waits for, where, and where it took the locks that it holds; of a deadlock what the report says of it.

import {head} from "./data.js";
import {stackView} from "./details.js";
import {count, duration, el, plural} from "./format.js";
import {HOLDS_ALL} from "./locks.js";
import {NOW_WAITING, holderOf, now, nowEarlier, nowGo, nowName, nowSince} from "./now.js";
import {objectName, objectOf, reasonName, stackOwn, stackPlace, table, trace,
	variableName} from "./rows.js";
import {select} from "./select.js";
import {NO_OWNER, isOfSemaphore, postedLast} from "./semaphores.js";

const CHAIN_TOLD = 32, BLOCKED_TOLD = 10; // threads
const HELD_TOLD = 12; // locks of a thread

// A list of stacks' functions with their lines, one a line, for a title.
/** @param {number} stack */
function nowStackLines(stack) {
	return stackOwn(stack).map((f) => `    ${[f.function || f.address, f.place].filter((part) => part).join(" ")}`);
}

// The locks that a thread holds, those first that others wait for; and how many there are besides.
/** @param {number} number @returns {{told: number[], more: number}} */
export function nowHeld(number) {
	const held = /** @type {number[]} */ (now.held.get(number) || []), awaited = held.filter((k) => now.locks.waiters[k] > 0);
	const told = [...awaited, ...held.filter((k) => !(now.locks.waiters[k] > 0))].slice(0, HELD_TOLD);

	return {told, more: held.length - told.length};
}

// "and 7,988 locks more"
/** @param {number} more */
export function nowMoreHeld(more) {
	return more ? [`and ${plural(more, "lock")} more`] : [];
}

// A lock by its variable's name, or by its address; `whole`: by both.
/** @param {number} object @param {boolean} whole */
export function nowObject(object, whole) {
	return !whole && variableName(object) || objectName(object);
}

// "holds mutex a, for which 2 threads wait, for 1.2 s now"
/** @param {number} k */
function nowHolds(k, whole = false) {
	const {locks} = now, reason = reasonName(locks.reason[k]), waiters = locks.waiters[k];
	const since = locks.since[k] ? `, for ${duration(head.span_ns - (locks.since[k] - 1 - locks.earlier[k]))} now` : "";

	return `holds ${reason} ${nowObject(locks.object[k], whole)}${waiters ? `, for which ${plural(waiters, "thread")} ${waiters === 1 ? "waits" : "wait"}` : ""}${since}`;
}

// "mutex a, held by bob", "the end of alice"
/** @param {number} i */
function nowWanted(i, whole = false) {
	const {rows} = now, reason = reasonName(rows.reason[i]), holder = holderOf(rows.thread[i]);

	if (reason === "join" && holder)
		return `the end of ${nowName(holder)}`;
	return `${reason} ${!rows.object[i] ? "" : !whole && variableName(rows.object[i]) || objectOf(reason, rows.object[i])}${!holder ? "" : holder === rows.thread[i] ? ", which it holds itself"
		: `, held by ${nowName(holder)}`}`.trim();
}

// "has waited 1.2 s for mutex a, held by bob"
/** @param {number | undefined} i */
function nowSays(i, whole = false) {
	if (i === undefined)
		return "has ended";
	return now.rows.state[i] !== NOW_WAITING ? "is in no recorded wait" : `has waited ${nowSince(i)} for ${nowWanted(i, whole)}`.replace("  ", " ");
}

// Where a thread took a lock, in a line for its box.
/** @param {number} k */
export function nowTaken(k) {
	return now.locks.stack[k] ? `taken at ${stackPlace(now.locks.stack[k], 2)}` : "where it was taken: not recorded";
}

// All that is known of a thread, a line each.
/** @param {number} number */
export function nowLines(number) {
	const i = now.of.get(number), {told, more} = nowHeld(number);

	return [`${nowName(number)} ${nowSays(i, true)}`, ...i === undefined ? [] : nowStackLines(now.rows.stack[i]),
		...told.flatMap((k) => [nowHolds(k, true), ...now.locks.stack[k] ? ["taken at", ...nowStackLines(now.locks.stack[k])] : ["where it was taken was not recorded"]]),
		...nowMoreHeld(more)];
}

// ---- beside the picture ----

// From a thread to the one that it waits for, and on; in a ring once round.
/** @param {number} number */
function nowChain(number) {
	const chain = new Set();

	for (let at = number; at && !chain.has(at) && chain.size < CHAIN_TOLD; at = holderOf(at))
		chain.add(at);
	return [...chain];
}

/** @param {number} k @param {boolean} all whether all acquisitions were recorded */
function nowLockTold(k, all) {
	return [el("p", {}, nowHolds(k)), now.locks.stack[k] ? stackView("Taken at", now.locks.stack[k])
		: el("p", {class: "dim"}, "Where it was taken was not recorded", ...all ? ["."] : [": ", el("code", {class: "option"}, "--locks=all"), " records it."])];
}

/** @param {number} number */
function nowThreadTold(number) {
	const i = now.of.get(number), waits = i !== undefined && now.rows.state[i] === NOW_WAITING, {told, more} = nowHeld(number);
	const all = told.length > 0 && table("lock", "holds_from").holds_from.includes(HOLDS_ALL);
	const go = () => i === undefined ? select({kind: "thread", id: number}) : nowGo(i);

	return el("div", {class: "now-thread"}, el("p", {}, el("button", {type: "button", class: "link", onclick: go}, nowName(number)), ` ${nowSays(i)}`),
		waits && !holderOf(number) && isOfSemaphore(now.rows.reason[i]) ? el("p", {class: "dim"}, `Nobody holds it: ${NO_OWNER}. Posted last by: `,
			...postedLast(now.rows.object[i], trace.span)) : null,
		i === undefined ? null : stackView(waits ? "Waits at" : "Last seen at", now.rows.stack[i]), ...told.flatMap((k) => nowLockTold(k, all)),
		...nowMoreHeld(more).map((text) => el("p", {}, text)));
}

// Those that wait for a deadlock, and are in none themselves.
/** @param {number} number */
function nowBlocked(number) {
	const {rows} = now, behind = Array.from({length: rows.n}, (_, i) => i).filter((i) => rows.deadlock[i] === number && !now.kept.has(rows.thread[i]));
	const shown = behind.sort(nowEarlier).slice(0, BLOCKED_TOLD);

	return [...shown.map((i) => el("p", {}, "blocked by it: ", el("button", {type: "button", class: "link", onclick: () => nowGo(i)}, nowName(rows.thread[i])),
		`, for ${nowSince(i)}: ${nowWanted(i)}`)), behind.length > shown.length ? el("p", {}, `and ${count(behind.length - shown.length)} more blocked by it`) : null];
}

// What the report says of the deadlock that this thread is in: before its threads, and after them.
/** @param {number} thread @returns {[(HTMLElement | null)[], (HTMLElement | null)[]]} */
function nowDeadlockTold(thread) {
	const d = trace.dead, row = d.thread.findIndex((each, i) => each === thread && d.cycle[i] !== 0), number = row < 0 ? 0 : d.number[row];
	const rows = Array.from(d.thread, (_, i) => i).filter((i) => d.number[i] === number && d.cycle[i]), ring = rows.map((i) => d.thread[i]);
	const found = head.findings.find((f) => f.kind === "deadlock" && ring.includes(f.thread));
	const certain = rows.every((i) => d.certain[i]);

	if (!number)
		return [[], []];
	return [[el("h3", {class: "alarm"}, found ? found.text : "DEADLOCK")], [...nowBlocked(number),
		found && found.remedy ? el("p", {class: "dim"}, `helps: ${found.remedy}`) : null,
		certain ? null : el("p", {class: "incomplete"}, head.cut_off ? "not certain: the trace is cut off"
			: "not certain: who held a lock may have let go of it since, which the trace does not cover")]];
}

// Of this thread, and of those that it waits for.
/** @param {HTMLElement} box @param {number} number */
export function nowTellOf(box, number) {
	const [before, after] = nowDeadlockTold(number);

	box.replaceChildren(...[...before, ...nowChain(number).map(nowThreadTold), ...after].filter((part) => part !== null));
	box.scrollTop = 0;
}
