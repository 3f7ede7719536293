// frame.js - around the page that trace-view serves: tells the server that somebody is there, loads pages, also of a process that
// is followed (follow.js), and shows in the address of the window what the page has in its own.
//
// A large trace is shown as a whole, or in parts: ?from=..&to=.., nanoseconds since its begin (zoom.js).  The bar then has an
// overview of the trace, by which parts are chosen, too.
//
// The page is in an iframe of the same origin.  A new one is loaded out of sight and takes the place of the one
// before when it is there, so that a snapshot that fails takes nothing away.

import {BUSY_MS, hashLasting, isRecovered, live, liveAddress, liveFocus, liveInit, liveNext,
	livePause, liveSentence, liveShow, liveTakeOver, liveWhole} from "./follow.js";
import {isLarge, wholeText, zoomFollow, zoomTo, zoomWatch} from "./zoom.js";

const ALIVE_MS = 10000, ADDRESS_MS = 300;

export const about = JSON.parse(document.getElementById("about").textContent);
const bar = document.getElementById("bar"), said = document.getElementById("said");
export const again = /** @type {HTMLButtonElement} */ (document.getElementById("again")), pages = document.getElementById("pages");
export const visitor = crypto.getRandomValues(new Uint32Array(1))[0];
export const what = about.pid ? `${about.name || "process"} (${about.pid})` : about.name;
export const overview = /** @type {HTMLCanvasElement} */ (document.getElementById("overview")), whole = about.overview;
const save = /** @type {HTMLAnchorElement} */ (document.getElementById("save"));
export let part = partAsked(); // what is shown of a trace: [from, to]; null = all
export let shown = null; // the iframe that is seen
export let waiting = null; // the one that is being loaded
let sentence = ""; // of the bar, but for trouble

export function say(text, bad = false) {
	said.textContent = text;
	bar.classList.toggle("bad", bad);
	bar.hidden = !text && !about.pid && !part && !isLarge();
}

// ---- parts of a trace ---------------------------------------------------------------------

// What the address asks for.
function partAsked() {
	const asked = new URLSearchParams(location.search);
	const [from, to] = [Number(asked.get("from")), Number(asked.get("to"))];

	if (about.pid)
		return null;
	if (Number.isInteger(from) && Number.isInteger(to) && from >= 0 && to > from)
		return [from, to];
	return null;
}

// The page of the part.  The tables of its SQL box take as long as all else in it, and most people ask nothing: trace-view answers
// who does (sqlAsk()).  A page that is saved has them.
/** @param {string} how */
function partAddress(how) {
	return `page?from=${part[0]}&to=${part[1]}${how}`;
}

export function timeText(ns) {
	return `${Number((ns / 1e9).toPrecision(6))} s`;
}

// About how many events lie between: parts of the overview are taken in proportion.
/** @param {number[]} part */
export function eventsIn([from, to]) {
	const width = whole.span / whole.counts.length;

	return Math.round(whole.counts.reduce((sum, n, i) =>
		sum + n * Math.max(0, Math.min(to, (i + 1) * width) - Math.max(from, i * width)) / width, 0));
}

function partText() {
	return `This page shows ${timeText(part[0])} to ${timeText(part[1])} of ${timeText(whole.span)}, ` +
		`about ${eventsIn(part).toLocaleString("en")} of ${whole.events.toLocaleString("en")} events.`;
}

// `chosen`: what is being chosen now.
function overviewDraw(chosen = part) {
	const ctx = overview.getContext("2d"), most = Math.max(...whole.counts);

	overview.width = overview.clientWidth;
	overview.height = overview.clientHeight;
	const {width, height} = overview, step = width / whole.counts.length;
	ctx.fillStyle = getComputedStyle(bar).color;
	whole.counts.forEach((n, i) => n && ctx.fillRect(i * step, height, step, -Math.max(1, n / most * height)));
	if (!chosen)
		return;
	ctx.fillStyle = "rgba(64, 128, 255, 0.45)";
	ctx.fillRect(chosen[0] / whole.span * width, 0, Math.max(2, (chosen[1] - chosen[0]) / whole.span * width), height);
}

function partShow(from, to) {
	const length = Math.max(1, Math.min(Math.round(to - from), whole.span));
	const begin = Math.max(0, Math.min(Math.round(from), whole.span - length));

	history.pushState(null, "", `?from=${begin}&to=${begin + length}`);
	partRead();
}

// The address asks for another part.
export function partAgain() {
	part = partAsked();
}

function partRead() {
	const before = String(part);

	partAgain();
	if (String(part) !== before)
		load(location.hash);
}

function timeAt(event) {
	const box = overview.getBoundingClientRect();

	return Math.max(0, Math.min(1, (event.clientX - box.left) / box.width)) * whole.span;
}

// Drags choose a part, a click one as long as before.
function partsInit() {
	let began = null;

	overview.addEventListener("pointerdown", (event) => {
		began = timeAt(event);
		overview.setPointerCapture(event.pointerId);
	});
	overview.addEventListener("pointermove", (event) => began !== null &&
		overviewDraw([Math.min(began, timeAt(event)), Math.max(began, timeAt(event))]));
	overview.addEventListener("pointercancel", () => { began = null; overviewDraw(); });
	overview.addEventListener("pointerup", (event) => {
		const [from, to] = [Math.min(began, timeAt(event)), Math.max(began, timeAt(event))];
		const half = (part ? part[1] - part[0] : whole.to) / 2, few = 4 / overview.clientWidth * whole.span;

		began = null;
		if (to - from > few)
			partShow(from, to);
		else
			partShow(from - half, from + half);
	});
	document.getElementById("earlier").addEventListener("click", () => partShow(2 * part[0] - part[1], part[0]));
	document.getElementById("later").addEventListener("click", () => partShow(part[1], 2 * part[1] - part[0]));
	document.getElementById("all").addEventListener("click", () => zoomTo(null, [0, whole.span]));
	window.addEventListener("popstate", partRead);
	window.addEventListener("resize", () => (part || isLarge()) && overviewDraw());
}

// ---- the server ---------------------------------------------------------------------------

async function alive() {
	let there = false;

	try {
		there = (await fetch(`alive?id=${visitor}`, {cache: "no-store"})).ok;
	} catch {
		// It has ended.
	}
	if (!there)
		say("trace-view has ended. What is shown stays, but cannot be loaded again.", true);
	else if (document.body.dataset.ended)
		say(sentence);
	document.body.dataset.ended = there ? "" : "yes";
}

// ---- pages --------------------------------------------------------------------------------

export function headOf(frame) {
	try {
		return JSON.parse(frame.contentDocument.getElementById("head").textContent);
	} catch {
		return null; // an error in place of a page
	}
}

// The moment at which the trace ends, by the clock on the wall.
export function momentOf(head) {
	return new Date(head.start_unix_ms + head.span_ns / 1e6).toLocaleTimeString([], {hour12: false});
}

export function frameSay() {
	const head = headOf(shown);

	document.title = about.pid ? `${what} at ${momentOf(head)} - trc` : `${what} - trc`;
	document.getElementById("moment").textContent = about.pid ? momentOf(head) : "";
	sentence = about.pid ? liveSentence(head) : part ? partText() : isLarge() ? wholeText() : "";
	say(sentence);
}

function show(frame, head) {
	const before = shown, hasFocus = !before || document.activeElement === before;

	waiting = null;
	shown = frame;
	shown.classList.remove("waits");
	if (before)
		before.remove();
	zoomWatch(shown);
	const isDead = live.isLive && isRecovered(head);
	live.isOver = isDead || live.isOver && live.isLive;
	if (isDead)
		livePause("");
	frameSay();
	if (hasFocus)
		liveFocus(shown);
}

function refuse(frame) {
	const document = frame.contentDocument;
	const text = document && document.body ? document.body.textContent.trim() : "";

	const isOver = live.isLive && shown && /: no such process/.test(text);
	const why = isOver ? `${what} has ended. This is the last snapshot of it.`
		: `There is no ${shown ? "new " : ""}page: ${text || "trace-view has ended"}`;

	waiting = null;
	frame.remove();
	live.isOver = Boolean(isOver);
	if (live.isLive)
		livePause(why);
	say(why, true);
}

// Waits until a page has drawn, or says that it cannot.
function drawn(frame) {
	const root = frame.contentDocument.documentElement, isDrawn = () => root.dataset.trcReady || root.dataset.trcFailed;

	return new Promise((resolve) => {
		const observer = new MutationObserver(() => isDrawn() && resolve());
		observer.observe(root, {attributes: true});
		if (isDrawn())
			resolve();
	});
}

function settled() {
	again.disabled = false;
	live.anew = false;
	liveShow();
	if (shown)
		drawn(shown).then(liveNext); // a slow browser is not given the next page before it has drawn this one
	document.body.dataset.loads = String(Number(document.body.dataset.loads || 0) + 1);
}

// The new page, which has drawn, in the place of the one before; not in the middle of what somebody does there.
function takeOver(frame, head) {
	if (frame !== waiting)
		return;
	const why = liveTakeOver(frame, head);
	if (why === "busy") {
		setTimeout(() => takeOver(frame, head), BUSY_MS);
		return;
	}
	if (why) {
		livePause(why);
		return;
	}
	show(frame, head);
	settled();
}

// A part, or the whole, when it has drawn what was seen before.
function zoomOver(frame, head, carried) {
	const {trc} = frame.contentWindow;

	if (frame !== waiting)
		return;
	if (trc)
		trc.carry.in(carried);
	show(frame, head);
	settled();
}

function loaded(frame, carried) {
	const head = headOf(frame);

	if (frame !== waiting)
		return;
	if (head && carried && shown) {
		drawn(frame).then(() => zoomOver(frame, head, carried));
		return;
	}
	if (head && about.pid && shown) {
		drawn(frame).then(() => takeOver(frame, head));
		return;
	}
	if (head)
		show(frame, head);
	else
		refuse(frame);
	settled();
	if (head && live.isLive)
		liveWhole(); // it was paused while the first page was on its way
}

export function waitingDrop() {
	waiting.remove();
	waiting = null;
	again.disabled = false;
}

// carried: what the page that is shown has said to be carried over; null = the address says all.
export function load(hash, carried = null) {
	const frame = document.createElement("iframe");

	if (waiting)
		waiting.remove();
	waiting = frame;
	again.disabled = true;
	if (!live.follows && !live.whole || !shown)
		say(live.isLive ? `Taking a snapshot of ${what} ...` : part && shown ? `${partText()} Loading ...` : `Reading ${what} ...`);
	frame.className = "waits";
	frame.title = "timeline";
	frame.addEventListener("load", () => loaded(frame, carried));
	frame.src = (about.pid ? liveAddress() : part ? partAddress("&without=sql") : "page") + hash;
	pages.append(frame);
	save.hidden = !part;
	save.href = part ? partAddress("&save=1") : "";
	document.getElementById("parts").hidden = !part && !isLarge();
	for (const id of ["earlier", "later", "all"])
		/** @type {HTMLButtonElement} */ (document.getElementById(id)).disabled = !part;
	if (part || isLarge())
		overviewDraw();
}

// ---- queries ------------------------------------------------------------------------------

// For the SQL box of a page that has no tables; `search` is of its address.
/** @param {string} query @param {AbortSignal} signal @param {string} search */
async function sqlAsk(query, signal, search) {
	const asked = new URLSearchParams({q: query}), page = new URLSearchParams(search);

	for (const name of ["snapshot", "from", "to"])
		if (page.has(name))
			asked.set(name, page.get(name));
	const answer = await fetch(`sql?${asked}`, {cache: "no-store", signal}), text = await answer.text();
	if (!answer.ok)
		throw new Error(text.trim());
	return text;
}

if (about.sql)
	Object.assign(window, {trcSql: sqlAsk});

// ---- the address ---------------------------------------------------------------------------

// The page replaces its own address, which is no event.
function addressFollow() {
	const own = shown && shown.contentWindow.location.hash, hash = live.isLive ? hashLasting(own || "") : own;

	if (shown && (hash || live.isLive) && hash !== location.hash)
		history.replaceState(null, "", hash || location.pathname + location.search);
}

// Of the event: the page's own address may have been followed since.
window.addEventListener("hashchange", (event) => {
	const {hash} = new URL(event.newURL);

	if (shown && shown.contentWindow.location.hash !== hash)
		shown.contentWindow.location.hash = hash;
});
window.addEventListener("pagehide", () => fetch(`gone?id=${visitor}`, {keepalive: true, cache: "no-store"}));
window.addEventListener("pageshow", (event) => event.persisted && alive());
liveInit();
partsInit();
setInterval(alive, ALIVE_MS);
setInterval(addressFollow, ADDRESS_MS);
setInterval(zoomFollow, ADDRESS_MS);
alive();
live.began = performance.now();
load(live.isLive ? hashLasting(location.hash) : location.hash);
