// address.js - what is to be seen, as the fragment of the page's address:
//
//   #t=<start>,<length>&range=<start>,<length>&sel=<kind>:<name>&trail=<kind>:<name>;...&sort=lock&filter=worker&pin=3,5&hide=7&move=4:2
//     &open=idle,procs&scroll=12,40&tasks=0&tables=locks.-p99&panel=<tab>
//
// Rows have the names that SQL has for them, so that an address holds when the page is made anew: an
// id, or else <thread's id>@<time>, of several at a time with +1, +2, ... behind it.  Times are nanoseconds
// since the start of the trace.  scroll: which track is at the top, and how many pixels of it are out of sight: the same track in a
// window of another height.

import {arrangedAddress, arrangedRead, arrangedShow, trackKey} from "./arrange.js";
import {text} from "./data.js";
import {screenResize} from "./draw.js";
import {byId} from "./format.js";
import {panelAddress, panelApply} from "./panel.js";
import {procTracks, schedKnown, schedTell} from "./procs.js";
import {parkId, trace} from "./rows.js";
import {scrollToSelection, select, selectionAt, selectionValid,
	threadOfInterval} from "./select.js";
import {sortedAddress, sortedApply} from "./sorting.js";
import {TRAIL_MAX, stepAdd, trailDraw} from "./steps.js";
import {timeOf} from "./times.js";
import {threadOrders, trackIndexAt, tracks} from "./tracks.js";
import {view, viewSet} from "./view.js";

// kind -> the column with the id that SQL knows; of 64 bits where there is a column for either half.
const namedById = {
	park: () => trace.park.id, unlock: () => trace.unlock.id, region: () => trace.region.row,
	fiberrun: () => trace.frun.id, fiberwait: () => trace.fwait.id,
	task: () => trace.task, fiber: () => trace.fiber,
};

// kind -> [its times, the number of the thread (of a gap, of the proc) of each].
const namedByTime = {
	log: () => [trace.log.time, trace.log.thread], mark: () => [trace.mark.time, trace.mark.thread],
	sample: () => [trace.sample.time, trace.sample.thread], labels: () => [trace.under.start, trace.under.thread],
	gap: () => [trace.gap.start, trace.gap.proc], counter: () => [trace.counter.time, trace.counter.thread],
	queue: () => stepTimes("queue"), busy: () => stepTimes("busy"),
	cpu: () => {
		schedTell();
		return [trace.cpu.start || [], trace.cpu.thread || []];
	},
};

// The steps of a track of procs belong to nobody.
/** @param {string} kind */
function stepTimes(kind) {
	const at = schedKnown() ? procTracks().find((track) => track.hitKind === kind).at : [];

	return [at, new Uint8Array(at.length)];
}

function serialOf(number) {
	return number ? trace.threads[number - 1].serial : 0;
}

// How SQL names what a gap, or what lies on a thread, belongs to.
/** @param {string} kind */
function ownerName(kind, number) {
	return kind === "gap" ? number - 1 : serialOf(number);
}

/** @param {Chosen} sel */
export function selectionName(sel) {
	const i = sel.id - 1;

	if (sel.kind === "park")
		return String(parkId(sel.id));
	if (namedById[sel.kind]) {
		const ids = namedById[sel.kind]();
		return ids.low ? (BigInt(ids.high[i]) << 32n | BigInt(ids.low[i])).toString() : String(ids[i]);
	}
	if (namedByTime[sel.kind]) {
		const [time, owner] = namedByTime[sel.kind]();
		let before = 0;
		for (let k = 0; k < i; k++)
			before += Number(time[k] === time[i] && owner[k] === owner[i]);
		return `${ownerName(sel.kind, owner[i])}@${time[i]}` + (before ? `+${before}` : "");
	}
	if (sel.kind === "iv")
		return `${trace.threads[threadOfInterval(i)].serial}@${timeOf(trace.states.s, i)}`;
	return sel.kind === "thread" ? String(serialOf(sel.id)) : encodeURIComponent(text(sel.id));
}

/** @param {string} name */
function rowWithId(ids, name) {
	if (!/^\d{1,20}$/.test(name))
		return 0;
	if (!ids.low)
		return ids.indexOf(Number(name)) + 1;
	const low = Number(BigInt(name) & 0xffffffffn), high = Number(BigInt(name) >> 32n);
	for (let i = 0; i < ids.n; i++)
		if (ids.low[i] === low && ids.high[i] === high)
			return i + 1;
	return 0;
}

/** @param {string} kind @param {string} name */
function rowAtTime(kind, name) {
	const [time, owner] = namedByTime[kind](), parts = /^(-?\d+)@(\d+)(?:\+(\d+))?$/.exec(name);
	let left = parts ? Number(parts[3] || 0) : 0;

	for (let i = time.indexOf(Number(parts && parts[2])); parts && i >= 0 && i < time.length; i++)
		if (time[i] === Number(parts[2]) && ownerName(kind, owner[i]) === Number(parts[1]) && !left--)
			return i + 1;
	return 0;
}

// The selection of a kind that has a name; null if there is none.
/** @param {string} kind @param {string} name */
export function selectionNamed(kind, name) {
	let id = 0;

	if (Object.hasOwn(namedById, kind)) {
		id = rowWithId(namedById[kind](), name);
	} else if (Object.hasOwn(namedByTime, kind)) {
		id = rowAtTime(kind, name);
	} else if (kind === "thread") {
		id = trace.threads.findIndex((t) => String(t.serial) === name) + 1;
	} else if (kind === "iv") {
		const parts = /^(\d+)@(\d+)$/.exec(name);
		const thread = parts && trace.threads.find((t) => String(t.serial) === parts[1]);
		return thread && thread.lane.hi > thread.lane.lo ? selectionAt(thread.idx, Number(parts[2])) : null;
	} else if (kind === "tasktype") {
		const type = trace.taskTypes.find((t) => encodeURIComponent(text(t.type)) === name);
		id = type ? type.type : 0;
	}
	return id ? {kind, id} : null;
}

let addressTimer = 0;

/** @param {number} until */
function spanText(from, until) {
	return `${Math.round(from)},${Math.round(until - from)}`;
}

/** @param {Chosen} sel */
function chosenText(sel) {
	return `${sel.kind}:${selectionName(sel)}`;
}

/** @param {string} string @returns {Chosen | null} */
function chosenRead(string) {
	const parts = /^([a-z]+):(.+)$/.exec(string);

	return parts && selectionNamed(parts[1], parts[2]);
}

export function addressText() {
	const parts = [`t=${spanText(view.t0, view.t1)}`], pinned = [...tracks.pinned].map((by) => typeof by === "number" ? trace.threads[by].serial : encodeURIComponent(by));

	if (view.range)
		parts.push(`range=${spanText(view.range.t0, view.range.t1)}`);
	if (view.selection)
		parts.push(`sel=${chosenText(view.selection)}`);
	if (view.selection && view.trail.length)
		parts.push(`trail=${view.trail.map(chosenText).join(";")}`);
	if (tracks.sort !== "first")
		parts.push(`sort=${tracks.sort}`);
	if (tracks.filter)
		parts.push(`filter=${encodeURIComponent(tracks.filter)}`);
	if (pinned.length)
		parts.push(`pin=${pinned.join(",")}`);
	parts.push(...arrangedAddress(), ...scrollAddress());
	if (!tracks.annotations)
		parts.push("tasks=0");
	parts.push(...sortedAddress(), ...panelAddress());
	return "#" + parts.join("&");
}

// A track's name for the address.
/** @param {Track} track */
function trackName(track) {
	return trackKey(track) || `${track.kind}:${track.key || track.name}`;
}

function scrollAddress() {
	const y = byId("scroll").scrollTop, track = y > 0 ? tracks.all[trackIndexAt(y)] : null;

	return track ? [`scroll=${encodeURIComponent(trackName(track))},${Math.round(y - track.y)}`] : [];
}

// Whether the address says where.
/** @param {string} string */
function scrollApply(string) {
	const [, name, pixels] = /^([^,]*),(\d{1,6})$/.exec(string) || [], track = name && tracks.all.find((each) => trackName(each) === decoded(name));

	if (track)
		byId("scroll").scrollTop = track.y + Number(pixels);
	return Boolean(track);
}

export function addressWrite() {
	clearTimeout(addressTimer);
	addressTimer = setTimeout(() => history.replaceState(null, "", addressText()), 200);
}

/** @param {string} string */
export function decoded(string) {
	try {
		return decodeURIComponent(string);
	} catch {
		return "";
	}
}

// Times have no more digits than numbers can tell: with hundreds of them they would be infinite.
/** @param {string} string @returns {[number, number] | null} */
function spanRead(string) {
	const span = /^(\d{1,17}),(\d{1,17})$/.exec(string);

	return span && [Number(span[1]), Number(span[1]) + Number(span[2])];
}

// What an address asks for; anything that is not well formed is ignored.  It may be a stranger's, and as long as addresses can be: of
// several values the last one counts, and only that one is looked for.
/** @param {string} hash @returns {AddressAsked} */
function addressRead(hash) {
	/** @type {AddressAsked} */
	const asked = {span: null, range: null, selection: null, trail: [], sort: "first", filter: "", pinned: [], annotations: true,
		more: new Map()};

	for (const part of hash.slice(1).split("&")) {
		const [, key, value] = /^(\w+)=(.*)$/.exec(part) || [];
		asked.more.set(key, value);
	}
	const of = (key) => asked.more.get(key) || "", [span, range] = ["t", "range"].map((key) => spanRead(of(key)));
	asked.span = span;
	if (range && range[0] < trace.span && range[1] > Math.max(range[0], trace.begin))
		asked.range = {t0: Math.max(range[0], trace.begin), t1: Math.min(range[1], trace.span)};
	asked.selection = chosenRead(of("sel"));
	asked.trail = of("trail").split(";").slice(-TRAIL_MAX).map(chosenRead).filter((sel) => sel && selectionValid(sel));
	if (Object.hasOwn(threadOrders, of("sort")))
		asked.sort = of("sort");
	asked.filter = decoded(of("filter"));
	const byName = new Map(trace.threads.map((t, i) => [String(t.serial), i]));
	asked.pinned = of("pin").split(",").map(decoded).map((key) => /^procs$|^[a-z]+:/.test(key) ? key : byName.get(key)).filter((by) => by !== undefined);
	asked.annotations = of("tasks") !== "0";
	return asked;
}

// Shows what an address asks for.
export function addressApply(hash) {
	const asked = addressRead(hash);

	Object.assign(tracks, {sort: asked.sort, filter: asked.filter, pinned: new Set(asked.pinned), ...arrangedRead(asked.more),
		annotations: asked.annotations});
	arrangedShow();
	if (asked.span)
		viewSet(...asked.span, false);
	view.range = asked.range;
	select(asked.selection, {show: !asked.span, remember: false});
	view.trail = view.selection ? asked.trail : [];
	trailDraw();
	sortedApply(asked.more.get("tables") || "");
	panelApply(asked.more);
	screenResize(); // the panel has taken its room: where tracks lie is known
	if (asked.more.has("scroll"))
		scrollApply(asked.more.get("scroll"));
	else if (asked.selection)
		scrollToSelection();
}

export function addressInit() {
	addressApply(location.hash);
	// Of the event: what is waiting to be written may have been written since.
	window.addEventListener("hashchange", (event) => {
		clearTimeout(addressTimer);
		stepAdd("choice");
		addressApply(new URL(event.newURL).hash);
	});
}
