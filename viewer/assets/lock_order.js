// lock_order.js - in which order threads take locks, in the tab "Locks": circles that could be a deadlock, with both stacks of each edge; and of
// a lock what was held while it was taken, and what was taken while it was held.  The rows are those of the SQL table lock_order.
//
// An edge: a thread took one lock while it held another.  Edges of one number are a circle, each takes what the next one holds.

import {addressWrite} from "./address.js";
import {column, head} from "./data.js";
import {stackView} from "./details.js";
import {sqlText} from "./export.js";
import {count, el, plural} from "./format.js";
import {HOLDS_ALL, lockKind, lockName, locks, locksDraw} from "./locks.js";
import {listAdd} from "./now.js";
import {objectAddress, objectName, reasonName, table, trace, variableName} from "./rows.js";
import {drawnAgain, plainTable, rovingKeys} from "./spread.js";
import {sqlIsThere, sqlOpen} from "./sql.js";
import {objectKinds} from "./tops.js";

const EDGES_LISTED = 12, CIRCLES_LISTED = 50;

export const lockOrder = {rows: null, circles: null, shown: []}; // circles: by number, its edges; shown: edges in place of the chosen lock

export function lockOrderTell() {
	lockOrder.rows = table("order", "held", "held_reason", "held_thread", "held_stack", "taken", "taken_reason", "taken_thread", "taken_stack", "thread",
		"several", "times", "deadlock");
	lockOrder.circles = new Map();
	for (let i = 0; i < lockOrder.rows.n; i++)
		if (lockOrder.rows.deadlock[i])
			listAdd(lockOrder.circles, lockOrder.rows.deadlock[i], i);
	for (const edges of lockOrder.circles.values())
		circleSort(edges);
}

// Each edge takes the lock that the next one holds.
/** @param {number[]} edges */
function circleSort(edges) {
	const {held, taken} = lockOrder.rows;

	for (let i = 0; i + 1 < edges.length; i++) {
		const next = edges.findIndex((edge, j) => j > i && held[edge] === taken[edges[i]]);
		if (next > 0)
			[edges[i + 1], edges[next]] = [edges[next], edges[i + 1]];
	}
}

// What is held, or taken: "mutex settings.lock", "the end of worker 1".
/** @param {number} object_ @param {number} thread */
function orderName(reason, object_, thread) {
	const name = reasonName(reason);

	if (name === "join")
		return `the end of ${thread ? trace.threads[thread - 1].label : "a thread"}`;
	return `${objectKinds[name] || name} ${variableName(object_) || objectName(object_)}`;
}

/** @param {number} edge */
function heldName(edge) {
	const {held, held_reason: reason, held_thread: thread} = lockOrder.rows;

	return orderName(reason[edge], held[edge], thread[edge]);
}

/** @param {number} edge */
function takenName(edge) {
	const {taken, taken_reason: reason, taken_thread: thread} = lockOrder.rows;

	return orderName(reason[edge], taken[edge], thread[edge]);
}

// "worker 1 and others take mutex b while they hold mutex a, 12 times", as the report says it.
/** @param {number} edge */
function edgeWords(edge) {
	const r = lockOrder.rows, several = r.several[edge] > 0, waits = ["join", "barrier"].includes(reasonName(r.taken_reason[edge]));
	const who = r.thread[edge] ? trace.threads[r.thread[edge] - 1].label : "a thread", held = reasonName(r.held_reason[edge]);
	const does = waits ? several ? " and others wait for " : " waits for " : several ? " and others take " : " takes ";
	const meanwhile = held === "join" ? ", and ends then" : `${held === "barrier" ? several ? " before they come to " : " before it comes to "
		: several ? " while they hold " : " while it holds "}${heldName(edge)}`;

	return `${who}${does}${takenName(edge)}${meanwhile}, ${plural(r.times[edge], "time")}`;
}

// "mutex a → mutex b → mutex a"
/** @param {number[]} edges */
function circleWords(edges) {
	return [...edges.map(heldName), heldName(edges[0])].join(" → ");
}

/** @param {number[]} edges */
function orderShow(edges) {
	lockOrder.shown = edges;
	drawnAgain(locks.box, locksDraw);
	addressWrite();
}

// The number of the circle that is shown; 0 = none.
export function circleShown() {
	const [edge] = lockOrder.shown;

	return edge === undefined || lockOrder.shown.length < 2 ? 0 : lockOrder.rows.deadlock[edge];
}

/** @param {number} number */
function circleButton(number, edges) {
	const chosen = circleShown() === number, words = circleWords(edges);

	return el("li", {class: chosen ? "chosen" : ""}, el("button", {type: "button", class: "link line", title: words, "aria-pressed": String(chosen),
		onclick: () => orderShow(chosen ? [] : edges)}, words));
}

// Above the table of locks; below it if nothing is known.
export function orderList() {
	const {rows, circles} = lockOrder, [all = 0] = column("orders.all"), shown = [...circles].slice(0, CIRCLES_LISTED);
	const parts = [el("h3", {}, circles.size ? `Order: ${plural(circles.size, "circle")}, no deadlock happened, but one could` : "Order")];

	if (!rows.n)
		return [...parts, el("p", {class: "dim"}, ...[...locks.rows.holds_from].includes(HOLDS_ALL) ? ["No thread took a lock while it held another one."]
			: ["In which order threads take locks is not known: record with ", el("code", {class: "option"}, "--locks=all"), "."])];
	if (circles.size)
		parts.push(rovingKeys(el("ol", {class: "spans circles"}, ...shown.map(([number, edges]) => circleButton(number, edges))), "ArrowUp", "ArrowDown"));
	parts.push(el("p", {class: "dim"}, circles.size ? "" : "No locks are taken in a circle. ",
		`${plural(all, "pair")} of locks: one was taken while the other was held${head.cut ? ", in the whole trace" : ""}.`,
		all > rows.n ? ` The page has ${count(rows.n)} of them.` : "", circles.size > shown.length ? ` ${count(shown.length)} circles are listed.` : ""));
	return parts;
}

/** @param {number} edge */
function edgeView(edge) {
	const r = lockOrder.rows, box = el("div", {class: "edge"}), stacks = el("div", {class: "both"});

	for (const [name, stack] of [[`held: ${heldName(edge)}`, r.held_stack[edge]], [`taken meanwhile: ${takenName(edge)}`, r.taken_stack[edge]]])
		stacks.append(stackView(name, stack) || el("div", {}, el("h3", {}, name), el("p", {class: "dim"}, "its stack is not known")));
	box.append(el("p", {}, edgeWords(edge)), stacks);
	return box;
}

// In the place of the chosen lock: a circle, or one pair.
export function orderPicture() {
	const edges = lockOrder.shown, number = circleShown();
	const query = number ? `SELECT * FROM lock_order WHERE deadlock = ${number}` : "";

	return [el("h3", {}, number ? circleWords(edges) : `${heldName(edges[0])}, then ${takenName(edges[0])}`),
		el("p", {class: "dim"}, number ? "No deadlock happened, but one could: threads take these locks in a circle. It helps to take them in one order everywhere. "
			: "", "The stacks are those of the first time."),
		...edges.map(edgeView), number ? el("p", {}, ...sqlText(query), sqlIsThere()
			? el("button", {type: "button", class: "copy", onclick: () => sqlOpen(query)}, "Ask SQL") : null) : null,
		el("p", {class: "actions"}, el("button", {type: "button", onclick: () => orderShow([])}, `Back to ${lockKind(locks.chosen)} ${lockName(locks.chosen)}`))];
}

// Of a lock: what is held while it is taken, and what is taken while it is held.
/** @param {number} i */
export function orderOfLock(i) {
	const r = lockOrder.rows, number = locks.rows.object[i], kind = lockKind(i), lists = [];
	const isOf = (reason, object_) => object_ === number && (objectKinds[reasonName(reason)] || reasonName(reason)) === kind;

	for (const [title_, own, name] of /** @type {const} */ ([["held while it was taken", "taken", heldName], ["taken while it was held", "held", takenName]])) {
		const edges = Array.from({length: r.n}, (_, k) => k).filter((k) => isOf(r[`${own}_reason`][k], r[own][k])).sort((a, b) => r.times[b] - r.times[a]);
		const rows = edges.slice(0, EDGES_LISTED).map((edge) => el("tr", {}, el("td", {class: "wide"}, el("button", {type: "button", class: "link line",
			title: edgeWords(edge), onclick: () => orderShow([edge])}, name(edge))), el("td", {class: "n"}, count(r.times[edge])),
		el("td", {class: "n"}, r.deadlock[edge] ? "in a circle" : "")));
		if (edges.length)
			lists.push(plainTable([title_, "times", ""], rows), edges.length > EDGES_LISTED
				? el("p", {class: "dim"}, `and ${count(edges.length - EDGES_LISTED)} more`) : null);
	}
	return lists;
}

// For tests.
export function lockOrderApi() {
	const r = lockOrder.rows, serial = (number) => number ? trace.threads[number - 1].serial : null;

	return {shown: lockOrder.shown.length, edges: Array.from({length: r.n}, (_, i) => [objectAddress(r.held[i]), reasonName(r.held_reason[i]), r.held_stack[i] || null,
		objectAddress(r.taken[i]), reasonName(r.taken_reason[i]), r.taken_stack[i] || null, serial(r.thread[i]), r.several[i] ? "several" : "one", r.times[i],
		r.deadlock[i] || null])};
}
