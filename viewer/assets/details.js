// details.js - the panel that says everything about the selection.  Text from the trace is
// only ever put in as text nodes (el()).

import {LATENCY_FACTORS} from "./annotations.js";
import {hiddenText, hiddenView} from "./arrange.js";
import {causesView} from "./causes.js";
import {counterDetails, counterStep, countersView, isCounterKind} from "./counters.js";
import {beyondEdge, beyondText} from "./cut.js";
import {head, moduleName, text} from "./data.js";
import {drawOverlaySoon} from "./draw.js";
import {copyButton, copyIcon, rangeExports, sqlText, stackText, threadExports} from "./export.js";
import {fiberRunOf, regionStretches, selectionFiber} from "./fibers.js";
import {fiberAt, fiberDetails, fiberLink, fiberRunDetails,
	fiberWaitDetails} from "./fibers_details.js";
import {findingNote, findingsView} from "./findings.js";
import {taskRegions} from "./flame_select.js";
import {byId, count, duration, el, exactTime, percent, plural} from "./format.js";
import {rangeSet, zoomToSelection} from "./input.js";
import {laneRange} from "./levels.js";
import {laneSums} from "./lod.js";
import {ABSENT, RUNNABLE, latencyColours, stateCss, stateDoc, stateIsLock, stateName,
	theme} from "./palette.js";
import {panelShow, panelTabs} from "./panel.js";
import {pathView} from "./paths.js";
import {cpuDetails, noProcText} from "./procs.js";
import {BEYOND_END, BEYOND_START, MARK_FATAL, MARK_TRIGGER, joinedName, labelText, lastedLonger,
	objectAddress, objectName, parkAround, parkEnd, parkId, parkLabel, parkStart, parkWake,
	rank, setRange, setText, stackFrames, stackTop, taskId, trace, underAt,
	waitedFor} from "./rows.js";
import {sampleDetails, samplesView} from "./samples.js";
import {select, selectAt, selectCause, selectEffect, selectionBehind, selectionWoke,
	threadOfInterval} from "./select.js";
import {NO_OWNER, isOfSemaphore, postedLast} from "./semaphores.js";
import {sourcePlace} from "./source.js";
import {MERGED, PARKED, RUNNING, refOf} from "./states.js";
import {spansShow, taskSplit} from "./tasks.js";
import {timeOf} from "./times.js";
import {longestParks, waitInPage} from "./tops.js";
import {lifeTime, tracks} from "./tracks.js";
import {view} from "./view.js";

// What is selected by a link in the details has been led to by the selection.
/** @param {MouseEvent} event */
function linkHow(event) {
	return /** @type {HTMLElement} */ (event.currentTarget).closest("#details") ? "led" : "new";
}

// A button in a text that selects something else.
/** @param {string} string @param {Chosen} sel */
export function link(string, sel, options) {
	return el("button", {type: "button", class: "link", onclick: (event) => select(sel, {how: linkHow(event), ...options})}, string);
}

/** @param {number} number @param {number} [time] */
export function threadLink(number, time) {
	if (!number)
		return null;
	const thread = trace.threads[number - 1];
	const jump = (event) => time === undefined ? select({kind: "thread", id: number}, {how: linkHow(event)})
		: selectAt(number - 1, time, linkHow(event));

	return el("button", {type: "button", class: "link", onclick: jump, title: time === undefined
		? "What is known of this thread" : "What this thread did then"}, thread.label);
}

// Rows of a name and a value; rows without a value are left out.
export function facts(rows) {
	const list = el("dl");

	for (const [name, ...value] of rows) {
		const parts = value.flat().filter((v) => v !== null && v !== undefined && v !== "");
		if (parts.length)
			list.append(el("dt", {}, name), el("dd", {}, ...parts));
	}
	return list;
}

// A label set's labels, each a link to the time under it: a row of trace.under + 1.
export function labelLinks(under) {
	const [first, last] = under ? setRange(trace.under.set[under - 1]) : [0, 0];
	const parts = [];

	for (let l = first; l < last; l++)
		parts.push(l > first ? ", " : "", link(labelText(l), {kind: "labels", id: under},
			{show: false}));
	return parts;
}

// The labels that thread number t had at a time.
/** @param {number} t @param {number} time */
export function labelsAt(t, time) {
	return labelLinks(underAt(t - 1, time));
}

// All that it had in a stretch of time, the first few of them.
/** @param {number} t @param {number} until */
export function labelsDuring(t, from, until) {
	const lane = trace.threads[t - 1].labels;
	const [first, last] = lane ? laneRange(lane, from, until) : [0, 0];
	const parts = [];

	for (let i = first; i < last && i < first + 4; i++)
		parts.push(i > first ? "; " : "", ...labelLinks(lane.order[i] + 1));
	if (last > first + 4)
		parts.push(`; and ${count(last - first - 4)} more`);
	return parts;
}

// {whole: true}: frames of the C library are not dimmed; the time of a sample was spent there.
export function stackView(title, stack, {whole = false} = {}) {
	const frames = stackFrames(stack);

	if (!frames.length)
		return stack ? el("p", {class: "dim"}, `${title}: not kept`) : null;
	const list = el("ol", {class: "stack"});
	for (const f of frames) {
		const name = el("span", {class: "fn"}, f.function || f.address);
		const place = f.place ? sourcePlace(f)
			: el("span", {class: "place", title: f.module}, f.function ? moduleName(f.module) : "");
		list.append(el("li", {class: f.skipped && !whole ? "skipped" : ""}, name,
			f.inlined ? el("span", {class: "dim"}, " inlined") : null, " ", place));
	}
	return el("div", {}, el("h3", {}, title), list, copyButton("Copy stack", "Copy the stack as text", () => stackText(stack)));
}

export function swatch(state) {
	const box = el("span", {class: stateIsLock[state] ? "swatch hatched" : "swatch", "aria-hidden": "true"});

	box.style.backgroundColor = stateCss(state);
	return box;
}

/** @param {string} string */
export function title(string, state) {
	return el("h2", {}, state === undefined ? null : swatch(state), string);
}

/** @param {Chosen} sel */
export function actions(sel) {
	const bar = el("p", {class: "actions"});
	const button = (label, key, action, enabled = true) => enabled && bar.append(
		el("button", {type: "button", onclick: action, title: `Key: ${key}`}, label));

	button("Zoom to it", "F", () => zoomToSelection());
	if (sel.kind === "park") {
		button("← What its waker waited for", "[", selectCause, trace.park.waker[sel.id - 1] > 0);
		button("What this thread woke next →", "]", selectEffect);
	} else if (selectionFiber(sel)) {
		const one = sel.kind === "fiber";
		button("← Its run before", "[", selectCause, !one && fiberRunOf(sel, -1) > 0);
		button(one ? "Its first run →" : "Its next run →", "]", selectEffect, fiberRunOf(sel, 1) > 0);
	} else if (isCounterKind(sel.kind)) {
		button("← Value before", ",", () => counterStep(sel, -1));
		button("Next value →", ".", () => counterStep(sel, 1));
	} else if (sel.kind === "iv") {
		button("What it woke next →", "]", selectEffect);
	}
	return bar;
}

/** @param {number} i */
export function rankText(rows, key, i, what) {
	const {n, longer} = rank(rows, key, i);

	if (n < 2)
		return null;
	return longer === 0 ? `the longest of ${count(n)} ${what}`
		: `${count(longer)} of ${count(n)} ${what} are longer`;
}

// What the end of a wait returned: errno names that waits give.
const errnoNames = {0: "success", 4: "EINTR", 11: "EAGAIN", 16: "EBUSY", 22: "EINVAL", 32: "EPIPE",
	35: "EDEADLK", 104: "ECONNRESET", 110: "ETIMEDOUT", 111: "ECONNREFUSED", 115: "EINPROGRESS",
	125: "ECANCELED", 130: "EOWNERDEAD", 131: "ENOTRECOVERABLE"};

function resultText(value) {
	if (!value)
		return null;
	return errnoNames[value - 1] || `error ${value - 1}`;
}

// When something ended that lasts; `longer`: perhaps after the trace.
export function notBeforeEnd(longer) {
	return `not before the end of the trace${longer ? ", which may be before the process ended" : ""}`;
}

function unlockText(u) {
	const unlock = trace.unlock, i = u - 1;

	return [link("a release of the lock", {kind: "unlock", id: u}, {show: false}),
		`; its critical section made ${plural(unlock.caused[i], "thread")} wait, ${duration(unlock.caused_ns[i])} in all`];
}

// A way to take a lock's address along, to a debugger say.
function lockAddressCopy(number, isLock) {
	return number && isLock ? copyIcon("Copy the lock's address", () => objectAddress(number)) : null;
}

// If this wait is in a deadlock, or behind one: which.
/** @param {number} park */
function deadText(park) {
	const d = trace.dead;

	for (let i = 0; i < d.n; i++)
		if (d.park[i] === park)
			return [d.cycle[i] ? "in the circle: waits for " : "blocked by it: waits for ",
				threadLink(d.holder[i])];
	return null;
}

// A wait tells its own labels, with those of its OpenTelemetry context; where the page has the time under them, they lead there.
/** @param {number} i */
function parkLabels(i) {
	const p = trace.park, under = underAt(p.thread[i] - 1, parkStart(i + 1));

	return under && trace.under.set[under - 1] === p.set[i] ? labelLinks(under) : setText(p.set[i]);
}

// Of a wait, how long its thread could go on, but had no proc, as far as the page shows it.
/** @param {number} park */
function noProcIn(park) {
	const {lane, idx} = trace.threads[trace.park.thread[park - 1] - 1], {s} = trace.states;
	const [first, last] = laneRange(lane, parkStart(park), parkEnd(park)), found = [];
	let ns = 0;

	for (let i = first; i < last; i++)
		if (parkAround(i) === park) {
			found.push(i);
			ns += timeOf(s, i + 1) - timeOf(s, i);
		}
	if (!found.length)
		return null;
	const longest = found.reduce((a, b) => timeOf(s, b + 1) - timeOf(s, b) > timeOf(s, a + 1) - timeOf(s, a) ? b : a);
	const instead = noProcText(idx, timeOf(s, longest), timeOf(s, longest + 1)), inside = waitInPage(park - 1);
	const ofWhat = inside < trace.park.length[park - 1] ? ` of ${duration(inside)} in this page` : "";
	const ran = found.length > 1 ? "; in the longest ran instead: " : "; instead ran: ";
	return [link(duration(ns), {kind: "iv", id: longest + 1}), `, ${percent(ns, inside)}${ofWhat}`,
		found.length > 1 ? `, in ${count(found.length)} pieces` : "", ...instead ? [ran, instead] : []];
}

/** @param {Chosen} sel */
function parkDetails(sel) {
	const p = trace.park, i = sel.id - 1, reason = head.reasons[p.reason[i]];
	const open = p.flags[i] & 2, abandoned = p.flags[i] & 1, cut = p.flags[i] & 4;
	const start = parkStart(sel.id), wake = parkWake(sel.id), end = parkEnd(sel.id), state = PARKED + p.reason[i];
	const known = reason || ["?", "a reason that this page does not know", false];
	const longer = lastedLonger(sel.id);

	return [
		title(`${known[0]}: waited ${cut || longer ? "more than " : ""}${duration(p.length[i])}` +
			(open && !longer ? " and still does" : ""), state),
		el("p", {class: "dim"}, known[1]),
		actions(sel),
		facts([
			["Thread", threadLink(p.thread[i])],
			["Fiber", fiberAt(p.thread[i], start)],
			["Labels", parkLabels(i)],
			["Duration", `${duration(p.length[i])} (${count(p.length[i])} ns)`],
			["Began", cut ? "before the trace" : exactTime(start) + beyondText(start)],
			["Ended", open ? notBeforeEnd(longer) : exactTime(end) + beyondText(end)],
			["Of it without a proc", noProcIn(sel.id)],
			["Deadlock", deadText(sel.id)],
			["Rank", rankText(p, "reason", i, `waits for ${known[0]}`)],
			["Object", reason && reason[0] === "sleep" ? null : [waitedFor(sel.id), lockAddressCopy(p.object[i], stateIsLock[state])]],
			[joinedName(sel.id) ? "Joins" : "Held by", threadLink(p.holder[i], start)],
			...isOfSemaphore(p.reason[i]) && !p.holder[i] ? [["Holder", `none: ${NO_OWNER}`], ["Posted last by", ...p.waker[i] ? [] : postedLast(p.object[i], parkEnd(sel.id))]] : [],
			["Woken by", threadLink(p.waker[i], wake), wake >= 0 ? ` at ${exactTime(wake)}` : null],
			["Woken → ran", wake >= 0 && !open ? duration(Math.max(0, end - wake)) : null],
			["Ended by", p.unlock[i] ? unlockText(p.unlock[i]) : null],
			["Result", open ? null : resultText(p.result[i])],
			["Began on proc", p.proc[i] ? String(p.proc[i] - 1) : null],
			["Note", abandoned ? "left without a recorded return (longjmp, cancellation, or a lost " +
				"event); its end is the thread's next event" : null],
			["SQL", sqlText(`SELECT * FROM parks WHERE id=${parkId(sel.id)}`)],
		]),
		...causesView(sel.id),
		behindView(),
		stackView("Waits at", p.stack[i]),
		stackView("Woken from", p.waker_stack[i]),
	];
}

// Waits as a list; a button leads on where there are more: most(of so many) are shown then.
/** @param {string} heading @param {Waits} waits @param {string} more @param {(most: number) => void} grow */
function waitsView(heading, {list, n}, more, grow) {
	const items = el("ol", {class: "chain"});

	for (const p of list)
		items.append(el("li", {}, threadLink(trace.park.thread[p - 1]), " ", link(parkLabel(p), {kind: "park", id: p}),
			el("span", {class: "dim"}, ` ${stackTop(trace.park.stack[p - 1])}`)));
	const button = n > list.length ? el("button", {type: "button", class: "more", onclick: () => {
		grow(list.length * 4);
		detailsDraw();
		drawOverlaySoon();
		/** @type {HTMLElement} */ (byId("details").querySelectorAll("ol.chain > li")[list.length].querySelector("button")).focus();
	}}, more) : null;
	return list.length ? el("div", {}, el("h3", {}, heading), items, button) : null;
}

// The waits behind this wait.
function behindView() {
	const sel = view.selection;

	return waitsView("Its waker had itself waited", sel.behind, "and more: what came before these", (most) => {
		sel.behind = selectionBehind(sel, most);
	});
}

function wokeView() {
	const sel = view.selection, {list, n} = sel.woke;

	return waitsView(`Ended the waits of${n > list.length ? ` (the first ${count(list.length)} of ${count(n)})` : ""}`, sel.woke,
		`and ${count(n - list.length)} more`, (most) => {
			sel.woke = selectionWoke(sel, most);
		});
}

/** @param {Chosen} sel */
function intervalDetails(sel) {
	const i = sel.id - 1, {s, v} = trace.states, value = v[i], start = timeOf(s, i), end = timeOf(s, i + 1);
	const length = end - start, idx = threadOfInterval(i), around = parkAround(i);
	const merged = value & MERGED;

	return [
		title(merged ? `${count(refOf(trace.states, i))} intervals, merged`
			: `${stateName[value]} for ${duration(length)}`, value),
		el("p", {class: "dim"}, merged
			? `each shorter than ${duration(head.merged_below_ns)}; most of the time ${stateName[value]}`
			: stateDoc[value]),
		merged ? null : actions(sel),
		facts([
			["Thread", threadLink(idx + 1)],
			["Labels", merged ? null : labelsDuring(idx + 1, start, end)],
			["Duration", `${duration(length)} (${count(length)} ns)`],
			["Began", beyondEdge(idx, start, BEYOND_START) || exactTime(start)],
			["Ended", beyondEdge(idx, end, BEYOND_END) || exactTime(end)],
			["On proc", value === RUNNING ? String(refOf(trace.states, i)) : null],
			["Ran instead", value === RUNNABLE ? noProcText(idx, start, end) : null],
			["In the call", around ? [link(parkLabel(around), {kind: "park", id: around}), ", which it did not wait for meanwhile"] : null],
		]),
		wokeView(),
		around ? stackView("In", trace.park.stack[around - 1]) : null,
	];
}

/** @param {Chosen} sel */
function regionDetails(sel) {
	const g = trace.region, i = sel.id - 1, end = g.start[i] + g.length[i], fiber = g.fiber[i];
	const stretches = trace.fiber.n && g.thread[i] ? regionStretches(i)
		: during([trace.threads[g.thread[i] - 1]], g.start[i], end);
	const ran = stretches.reduce((sum, s) => sum + s.until - s.from, 0);

	return [
		title(`region ${text(g.type[i]) || "(no type)"}: ${duration(g.length[i])}`),
		actions(sel),
		facts([
			["Thread", threadLink(g.thread[i])],
			["Fiber", fiber ? [fiberLink(fiber), `, which ran ${duration(ran)} of it`] : null],
			["Labels", labelsAt(g.thread[i], g.start[i])],
			["Task", g.task[i] ? link(taskName(g.task[i]), {kind: "task", id: g.task[i]}) : null],
			["Duration", `${duration(g.length[i])} (${count(g.length[i])} ns)`],
			["Rank", rankText(g, "type", i, "regions of this type")],
			["Began", exactTime(g.start[i])],
			["Ended", g.open[i] ? "not before the end of the trace" : exactTime(end)],
			["Depth", String(g.depth[i])],
			["SQL", sqlText(`SELECT * FROM regions WHERE id=${g.row[i]}`)],
		]),
		mixView(fiber ? "Its threads meanwhile" : "This thread meanwhile", stretches),
		samplesView("Sampled meanwhile", stretches),
	];
}

/** @param {Chosen} sel */
function labelsDetails(sel) {
	const u = trace.under, i = sel.id - 1, end = u.start[i] + u.length[i];
	const [first, last] = setRange(u.set[i]), body = el("tbody");
	let times = 0, whole = 0;

	for (let l = first; l < last; l++)
		body.append(el("tr", {}, el("th", {scope: "row"}, text(trace.label.key[l])),
			el("td", {}, text(trace.label.value[l]))));
	for (let j = 0; j < u.n; j++)
		if (u.set[j] === u.set[i]) {
			times++;
			whole += u.length[j];
		}
	return [
		title(`labels ${setText(u.set[i])}: ${duration(u.length[i])}`),
		actions(sel),
		el("table", {class: "about"}, body),
		facts([
			["Thread", threadLink(u.thread[i])],
			["Duration", `${duration(u.length[i])} (${count(u.length[i])} ns)`],
			["Began", exactTime(u.start[i])],
			["Ended", end >= head.span_ns ? "not before the end of the trace" : exactTime(end)],
			["All threads", times > 1 ? `${duration(whole)} under these labels, ${count(times)} times` : null],
			["SQL", sqlText(`SELECT * FROM label_spans WHERE labels=${u.set[i]}`)],
		]),
		mixView("This thread meanwhile", during([trace.threads[u.thread[i] - 1]], u.start[i], end)),
		samplesView("Sampled meanwhile", during([trace.threads[u.thread[i] - 1]], u.start[i], end)),
	];
}

/** @param {number} k */
export function taskName(k) {
	return `${text(trace.task.type[k - 1]) || "(no type)"} ${taskId(k)}`;
}

/** @param {Chosen} sel */
function taskDetails(sel) {
	const k = trace.task, i = sel.id - 1, g = trace.region;
	const list = el("ol", {class: "chain"}), regions = taskRegions(i), found = regions.length;
	const [worked, split] = taskSplit(i);

	for (const j of regions.subarray(0, 30))
		list.append(el("li", {}, link(text(g.type[j]) || "(no type)", {kind: "region", id: j + 1}),
			` ${duration(g.length[j])} `, threadLink(g.thread[j])));
	return [
		title(`task ${taskName(sel.id)}: ${duration(k.length[i])}`),
		actions(sel),
		facts([
			["Part of", k.parent[i] ? link(taskName(k.parent[i]), {kind: "task", id: k.parent[i]}) : null],
			["Duration", `${duration(k.length[i])} (${count(k.length[i])} ns)`],
			["Rank", rankText(k, "type", i, "tasks of this type")],
			["Fiber", fiberAt(k.thread[i], k.start[i])],
			["Labels", labelsAt(k.thread[i], k.start[i])],
			["Began", exactTime(k.start[i]), " on ", threadLink(k.thread[i])],
			["Ended", k.open[i] ? "not before the end of the trace"
				: [exactTime(k.start[i] + k.length[i]), " on ", threadLink(k.end_thread[i])]],
			...worked,
			["SQL", sqlText(`SELECT * FROM tasks WHERE id=${taskId(sel.id)}`)],
		]),
		split,
		...pathView(sel.id),
		found ? el("div", {}, el("h3", {},
			found > 30 ? `Its first 30 of ${count(found)} regions` : "Its regions"), list) : null,
	];
}

// What the colours of tasks mean, for a type with this median.
/** @param {number} median */
function latencyLegend(median) {
	const list = el("ul", {class: "latency"});

	latencyColours[theme.dark ? "dark" : "light"].forEach((colour, step) => {
		const box = el("span", {class: "swatch", "aria-hidden": "true"}), most = LATENCY_FACTORS[step];
		box.style.backgroundColor = colour;
		list.append(el("li", {}, box, most ? `up to ${duration(most * median)}` : "longer",
			most === 1 ? ", the median" : most ? `, ${most} times as long` : ""));
	});
	return el("div", {}, el("h3", {}, "Colours"), list);
}

/** @param {Chosen} sel */
function taskTypeDetails(sel) {
	const track = trace.taskTypes.find((t) => t.type === sel.id);
	if (!track)
		return [];
	const k = trace.task, order = [];
	for (let i = 0; i < k.n; i++)
		if (k.type[i] === track.type)
			order.push(i);
	order.sort((a, b) => k.length[b] - k.length[a]);
	const list = el("ol", {class: "chain"});
	for (const i of order.slice(0, 20))
		list.append(el("li", {}, link(taskName(i + 1), {kind: "task", id: i + 1}),
			` ${duration(k.length[i])}`));
	const at = (share) => duration(k.length[order[Math.floor((order.length - 1) * (1 - share))]]);
	return [
		title(`tasks of type ${track.name}`),
		facts([
			["Tasks", count(track.count)],
			["Total", duration(track.total)],
			["p50 / p95 / p99", `${at(0.5)} / ${at(0.95)} / ${at(0.99)}`],
			["Longest", duration(k.length[order[0]])],
		]),
		el("p", {class: "actions"}, el("button", {type: "button", title: "Key: T", onclick: () => spansShow("task", track.name)},
			"Histogram of their latencies")),
		el("h3", {}, "Longest"), list,
		track.median === undefined ? null : latencyLegend(track.median),
	];
}

/** @param {Chosen} sel */
function logDetails(sel) {
	const l = trace.log, i = sel.id - 1;

	return [
		title(`log${l.category[i] ? " " + text(l.category[i]) : ""}`),
		el("p", {class: "message"}, text(l.message[i])),
		facts([
			["Thread", threadLink(l.thread[i], l.time[i])],
			["Fiber", fiberAt(l.thread[i], l.time[i])],
			["Labels", labelsAt(l.thread[i], l.time[i])],
			["Task", l.task[i] ? link(taskName(l.task[i]), {kind: "task", id: l.task[i]}) : null],
			["Time", exactTime(l.time[i])],
		]),
	];
}

/** @param {Chosen} sel */
function unlockDetails(sel) {
	const u = trace.unlock, i = sel.id - 1, reason = head.reasons[u.reason[i]];
	const waiters = u.waiters[i];

	return [
		title(`contended unlock: made others wait ${duration(u.caused_ns[i])}`, PARKED + u.reason[i]),
		el("p", {class: "dim"}, reason ? reason[1] : ""),
		facts([
			["Thread", threadLink(u.thread[i], u.time[i])],
			["Fiber", fiberAt(u.thread[i], u.time[i])],
			["Labels", labelsAt(u.thread[i], u.time[i])],
			["Time", exactTime(u.time[i])],
			["Object", objectName(u.object[i]), lockAddressCopy(u.object[i], true)],
			["Waiters then", waiters > 0 && waiters < 1e9 ? count(waiters) : null],
			["Threads that waited", count(u.caused[i])],
			["Their waiting", duration(u.caused_ns[i])],
			["SQL", sqlText(`SELECT * FROM unlocks WHERE id=${u.id[i]}`)],
		]),
		wokeView(),
		stackView("Released at", u.stack[i]),
	];
}

// [from, until) of some threads, as stretches: {thread, from, until}.
/** @param {number} until */
export function during(threads, from, until) {
	return threads.map((thread) => ({thread, from, until}));
}

// Time by state in some stretches of threads, exact; a table.
/** @param {string} heading @param {Stretch[]} stretches */
export function mixView(heading, stretches) {
	const sums = new Float64Array(128);
	let whole = 0;

	for (const {thread, from, until} of stretches)
		if (thread)
			laneSums(thread.lane, from, until, sums);
	sums[ABSENT] = 0;
	for (const sum of sums)
		whole += sum;
	return sumsView(heading, sums, whole);
}

/** @param {string} heading */
function sumsView(heading, sums, whole) {
	const order = [...sums.keys()].filter((s) => sums[s] > 0).sort((a, b) => sums[b] - sums[a]);
	const body = el("tbody");

	if (!order.length)
		return null;
	for (const s of order)
		body.append(el("tr", {title: stateDoc[s]}, el("td", {}, swatch(s), stateName[s]),
			el("td", {class: "n"}, duration(sums[s])), el("td", {class: "n"}, percent(sums[s], whole))));
	return el("div", {}, el("h3", {}, heading), el("table", {class: "mix"}, body));
}

/** @param {Chosen} sel */
function threadDetails(sel) {
	const t = trace.threads[sel.id - 1];
	const p = trace.park;
	const longest = longestParks(trace.parkFirst[t.idx], trace.parkFirst[t.idx + 1], 12, () => true);
	const list = el("ol", {class: "chain"});
	for (const i of longest)
		list.append(el("li", {}, link(parkLabel(i + 1, waitInPage(i)), {kind: "park", id: i + 1}),
			el("span", {class: "dim"}, ` ${stackTop(p.stack[i])}`)));
	return [
		title(t.label),
		facts([
			["Thread id", t.tid ? String(t.tid) : null],
			["Serial", String(t.serial)],
			["Created by", threadLink(t.creator)],
			["Started", t.start >= 0 ? exactTime(t.start) : "before the trace"],
			["Ended", t.end >= 0 ? exactTime(t.end) : "not before the end of the trace"],
			["Events", count(t.events)],
			["Waits", count(t.parks)],
		]),
		sumsView(`Time by state, whole ${head.cut ? "page" : "trace"}`, t.time, lifeTime(t)),
		samplesView("Its samples", during([t], trace.begin, trace.span)),
		longest.length ? el("div", {}, el("h3", {}, "Longest waits"), list) : null,
		stackView("Created at", t.stack),
		el("h3", {}, `Its rows, of the whole ${head.cut ? "page" : "trace"}`), threadExports(t),
	];
}

/** @param {Chosen} sel */
function gapDetails(sel) {
	const g = trace.gap, i = sel.id - 1;

	return [
		title(`${plural(g.lost[i], "event")} lost`),
		facts([
			["From", exactTime(g.start[i])],
			["Until", exactTime(g.end[i])],
			["On proc", g.proc[i] ? String(g.proc[i] - 1) : "not known"],
			["Cause", head.causes[g.cause[i]] || "not known"],
		]),
		el("p", {class: "dim"}, "Waits and wake-ups in this time may be missing or wrongly ended."),
	];
}

// Time by state in the range, over the threads that the filter leaves.
function rangeDetails() {
	const {t0, t1} = view.range;
	const {threads} = tracks;

	return [
		title(`Selected range: ${duration(t1 - t0)}`),
		facts([["From", exactTime(t0)], ["Until", exactTime(t1)], ["Threads", count(threads.length)]]),
		el("p", {class: "actions"},
			el("button", {type: "button", title: "Key: F", onclick: () => zoomToSelection()}, "Zoom to it"),
			el("button", {type: "button", title: "Key: Escape", onclick: () => rangeSet(null)}, "Clear")),
		rangeExports(view.range),
		mixView("Time by state in this range, these threads", during(threads, t0, t1)),
		samplesView("Samples in this range, these threads", during(threads, t0, t1)),
		countersView(view.range),
	];
}

/** @param {Chosen} sel */
function markDetails(sel) {
	const m = trace.mark, i = sel.id - 1, trigger = m.kind[i] === MARK_TRIGGER;

	return [
		title(trigger ? "condition met" : m.kind[i] === MARK_FATAL ? "fatal signal" : "signal"),
		el("p", {class: "message"}, text(m.text[i])),
		el("p", {class: "dim"}, trigger ? "A snapshot had been asked for when this happens."
			: m.kind[i] === MARK_FATAL ? "It ended the process."
				: "A handler of the program's dealt with it."),
		facts([
			["Thread", threadLink(m.thread[i], m.time[i])],
			["Fiber", fiberAt(m.thread[i], m.time[i])],
			["Labels", labelsAt(m.thread[i], m.time[i])],
			["Time", exactTime(m.time[i])],
		]),
		stackView("The thread was at", m.stack[i], {whole: true}),
	];
}

const detailViews = {
	park: parkDetails, iv: intervalDetails, region: regionDetails, labels: labelsDetails,
	task: taskDetails,
	tasktype: taskTypeDetails, log: logDetails, unlock: unlockDetails, thread: threadDetails,
	fiber: fiberDetails, fiberrun: fiberRunDetails, fiberwait: fiberWaitDetails,
	counter: counterDetails, queue: counterDetails, busy: counterDetails,
	gap: gapDetails, cpu: cpuDetails, mark: markDetails, sample: sampleDetails,
};

function nothingDetails() {
	const findings = findingsView();

	return [
		...findings,
		findings.length ? null : el("h2", {}, "Nothing selected"),
		el("p", {class: "dim"}, "Click an interval for its stack, and who ended it. Shift+drag sums a ",
			"range. Ctrl+wheel zooms. Press ? for all keys."),
		el("p", {class: "dim tabs-named"}, "Below the timeline: ", ...panelTabs.filter((tab) => !tab.isThere || tab.isThere()).flatMap((tab, i) => [i ? " · " : "",
			el("button", {type: "button", class: "link", onclick: () => panelShow(tab, {focus: true})}, tab.label)])),
	];
}

// The way back to the findings, which details take the place of; and what the tables below are of: not of what is chosen.
function findingsBackDraw() {
	const back = byId("findings-back"), below = byId("tops-of");

	below.hidden = !view.range && !view.selection;
	below.textContent = head.cut ? "All of this page" : "The whole trace";
	back.hidden = !view.range && !view.selection;
	back.textContent = `‹ ${head.findings.length ? "Findings" : "Nothing selected"}`;
	back.onclick = () => {
		rangeSet(null);
		select(null);
		byId("details").focus({preventScroll: true});
	};
}

export function detailsDraw() {
	const parts = view.range ? rangeDetails()
		: view.selection ? detailViews[view.selection.kind](view.selection) : nothingDetails();

	parts.splice(1, 0, findingNote(), view.range ? null : hiddenView(view.selection));
	findingsBackDraw();
	const box = byId("details"), hadFocus = box.contains(document.activeElement);
	box.replaceChildren(...parts.filter((p) => p));
	if (hadFocus) // else the keyboard would begin at the top of the page again
		box.focus({preventScroll: true});
	const hidden = view.range ? "" : hiddenText(view.selection);
	byId("announce").textContent = view.selection || view.range ? `${parts[0].textContent}${hidden && `. ${hidden}`}` : "";
}
