// follow.js - a process that is watched: the page follows it, with a snapshot each second or so; it can be paused, and a snapshot
// can be kept.
//
// A new page is made out of sight.  When it has drawn, it takes over what is seen and chosen in the one before (carry.js), and its
// place.  If that cannot be, since the moment that somebody looks at has left the recorder's last seconds, following pauses.

import {about, again, frameSay, headOf, load, momentOf, say, shown, visitor, waiting, waitingDrop,
	what} from "./frame.js";

const PERIOD_MS = 1000; // between the begins of two snapshots, at least
const SHARE = 2; // and at least so many times what one takes: the rest of the machine is for others
export const BUSY_MS = 150; // somebody drags or types: then the next look
const LAST_S = [1, 2, 5, 10, 30, 60, 0], LAST_DEFAULT_S = 5; // 0 = all that the recorder has

export const live = {
	isLive: false, // the page can be another one in a second: it is of a process, and of no kept snapshot
	isOver: false, // the process has ended
	follows: false, // else it is paused
	anew: true, // the next page shows what is now, whatever was looked at before
	last: LAST_DEFAULT_S,
	wholeAsked: 0, // the snapshot whose page with SQL was asked for
	timer: 0, began: 0, // when the last page was asked for
	why: "", // it is paused, if nobody asked for that
	carried: null, // by the last page
	whole: 0, // the snapshot that is asked for again, with all that a page can have
};

function askedNumber(name) {
	const asked = new URLSearchParams(location.search).get(name);

	return asked !== null && /^\d{1,15}$/.test(asked) ? Number(asked) : null;
}

// Which snapshot a page is of; 0 = none.
function snapshotOf(frame) {
	try {
		return Number(new URLSearchParams(frame.contentWindow.location.search).get("snapshot") || 0);
	} catch {
		return 0; // it is no page of ours
	}
}

export function liveAddress() {
	const snapshot = live.whole || (live.isLive ? 0 : askedNumber("snapshot"));

	if (snapshot)
		return `page?snapshot=${snapshot}`;
	return `take?last=${live.last * 1e9}&id=${visitor}&shown=${shown ? snapshotOf(shown) : 0}` +
		(live.follows ? "&without=sql" : "");
}

function lastText() {
	return live.last ? `the last ${live.last} s` : "all that the recorder has";
}

export function isRecovered(head) {
	return head.info.some(([key, value]) => key === "snapshot" && value === "recovered");
}

// What the bar says; the moment stands beside it, since what changes each second is not to be read out.
export function liveSentence(head) {
	if (isRecovered(head))
		return `What ${what} left in its recorder when it ended.`;
	if (!live.isLive)
		return `A snapshot of ${what}, which was kept.`;
	return live.follows ? `Following ${what}.` : live.why || `Paused: ${what} runs on.`;
}

export function liveShow() {
	document.getElementById("follow").textContent = live.follows ? "Pause" : "Follow";
	again.hidden = live.follows;
	document.getElementById("live").hidden = !live.isLive || live.isOver;
	document.getElementById("keep").hidden = !live.isLive || !shown;
	document.getElementById("lacks").hidden = !about.pid || !shown;
	document.body.dataset.follows = live.follows ? "yes" : "";
}

export function livePause(why) {
	live.follows = false;
	live.why = why;
	clearTimeout(live.timer);
	if (waiting && shown)
		waitingDrop();
	liveShow();
	if (!shown)
		return;
	frameSay();
	liveWhole();
}

// Pages that are there for a second have no SQL box, which is half of the work.  The one that stays gets it.
export function liveWhole() {
	// One that is refused is not asked for again.
	if (live.follows || waiting || live.wholeAsked === snapshotOf(shown) || !/without=sql/.test(shown.contentWindow.location.search))
		return;
	live.whole = live.wholeAsked = snapshotOf(shown);
	live.anew = false;
	load("");
	live.whole = 0;
}

function liveFollow() {
	live.follows = true;
	live.wholeAsked = 0;
	live.anew = true;
	live.why = "";
	liveShow();
	liveLoad();
}

// A page that nobody sees is not renewed.
function liveLoad() {
	clearTimeout(live.timer);
	if (!document.hidden || !shown) {
		live.began = performance.now();
		load(hashLasting(location.hash));
	}
}

export function liveNext() {
	const took = performance.now() - live.began;

	clearTimeout(live.timer);
	if (live.follows)
		live.timer = setTimeout(liveLoad, Math.max(PERIOD_MS, SHARE * took) - took);
}

// Of an address what holds for other snapshots too: they have other times and other rows.
export function hashLasting(hash) {
	const parts = hash.slice(1).split("&").filter((part) => part && !/^(t|range|sel)=/.test(part));

	return parts.length ? `#${parts.join("&")}` : "";
}

// A new page has drawn: "" = it has taken over from the one that is shown; "busy"; else why it has not.
export function liveTakeOver(frame, head) {
	const before = shown && shown.contentWindow.trc, after = frame.contentWindow.trc;

	live.carried = null;
	if (!before || !after)
		return "";
	if (before.carry.isBusy())
		return "busy";
	const was = before.carry.out(), keeps = live.follows && !live.anew;
	if (keeps && was.needs < head.start_ns)
		return `Paused: what you look at would have left ${lastText()}.`;
	if (!after.carry.in(was, live.anew) && keeps)
		return "Paused: what is selected is not in the newer snapshot.";
	live.carried = was;
	return "";
}

// The keyboard is the new page's, if it was that of the one before.
export function liveFocus(frame) {
	frame.contentWindow.focus();
	if (live.carried)
		frame.contentWindow.trc.carry.focus(live.carried.focus);
}

// ---- what is kept ---------------------------------------------------------------------------

// The browser's tab remembers, the server has the traces.
const KEPT = `trc-kept ${location.pathname}`;

function keptRead() {
	try {
		return JSON.parse(sessionStorage.getItem(KEPT)) || [];
	} catch {
		return [];
	}
}

function keptShow() {
	document.getElementById("kept").replaceChildren(...keptRead().map(({snapshot, moment}) => {
		const item = document.createElement("span");
		const link = (text, address, more) => Object.assign(document.createElement("a"), {textContent: text, href: address, ...more});

		item.append(`Kept ${moment}:`, link("open", `?snapshot=${snapshot}`, {target: "_blank", rel: "noopener"}),
			link("download", `trace?snapshot=${snapshot}`, {download: ""}));
		return item;
	}));
}

async function keepShown() {
	const snapshot = snapshotOf(shown), moment = momentOf(headOf(shown));
	let text = "trace-view has ended";

	try {
		const answer = await fetch(`keep?snapshot=${snapshot}`, {cache: "no-store"});
		text = answer.ok ? "" : (await answer.text()).trim();
	} catch {
		// It has ended.
	}
	if (text) {
		say(`This snapshot is not kept: ${text}.`, true);
		return;
	}
	sessionStorage.setItem(KEPT, JSON.stringify([...keptRead().filter((one) => one.snapshot !== snapshot), {snapshot, moment}]));
	keptShow();
}

export function liveInit() {
	const last = /** @type {HTMLSelectElement} */ (document.getElementById("last"));

	live.isLive = Boolean(about.pid) && !askedNumber("snapshot");
	live.last = LAST_S.includes(askedNumber("last")) ? askedNumber("last") : LAST_DEFAULT_S;
	for (const s of LAST_S)
		last.append(Object.assign(document.createElement("option"), {value: s, textContent: s ? `${s} s` : "all it has"}));
	last.value = String(live.last);
	last.addEventListener("change", () => {
		live.last = Number(last.value);
		live.anew = true;
		history.replaceState(null, "", `?last=${live.last}${location.hash}`);
		liveLoad();
	});
	document.getElementById("follow").addEventListener("click", () => live.follows ? livePause("") : liveFollow());
	document.getElementById("keep").addEventListener("click", keepShown);
	again.addEventListener("click", () => {
		live.anew = true;
		liveLoad();
	});
	document.addEventListener("visibilitychange", () => !document.hidden && live.follows && !waiting && liveLoad());
	if (live.isLive)
		keptShow();
	live.follows = live.isLive;
	liveShow();
}
