// frame.js - around the page that trace-view serves: tells the server that somebody is there, takes
// snapshots of a process, and shows in the address of the window what the page has in its own.
//
// The page is in an iframe of the same origin.  A new one is loaded out of sight and takes the place of the one
// before when it is there, so that a snapshot that fails takes nothing away.

const ALIVE_MS = 10000, ADDRESS_MS = 300;

const about = JSON.parse(document.getElementById("about").textContent);
const bar = document.getElementById("bar"), said = document.getElementById("said");
const again = document.getElementById("again"), pages = document.getElementById("pages");
const visitor = crypto.getRandomValues(new Uint32Array(1))[0];
const what = about.pid ? `${about.name || "process"} (${about.pid})` : about.name;
let shown = null; // the iframe that is seen
let waiting = null; // the one that is being loaded
let sentence = ""; // of the bar, but for trouble

function say(text, bad = false) {
	said.textContent = text;
	bar.classList.toggle("bad", bad);
	bar.hidden = !text && !about.pid;
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

function headOf(frame) {
	try {
		return JSON.parse(frame.contentDocument.getElementById("head").textContent);
	} catch {
		return null; // an error in place of a page
	}
}

// The moment at which the trace ends, by the clock on the wall.
function momentOf(head) {
	return new Date(head.start_unix_ms + head.span_ns / 1e6).toLocaleTimeString([], {hour12: false});
}

function show(frame, head) {
	if (shown)
		shown.remove();
	shown = frame;
	shown.classList.remove("waits");
	document.title = about.pid ? `${what} at ${momentOf(head)} - trc` : `${what} - trc`;
	sentence = about.pid ? `Snapshot of ${what} at ${momentOf(head)}, while it runs on.` : "";
	if (about.pid && head.info.some(([key, value]) => key === "snapshot" && value === "recovered"))
		sentence = `What ${what} left in its recorder when it ended.`;
	say(sentence);
	shown.contentWindow.focus();
}

function refuse(frame) {
	const document = frame.contentDocument;
	const text = document && document.body ? document.body.textContent.trim() : "";

	frame.remove();
	say(`There is no ${shown ? "new " : ""}page: ${text || "trace-view has ended"}`, true);
}

function loaded(frame) {
	const head = headOf(frame);

	if (frame !== waiting)
		return;
	waiting = null;
	again.disabled = false;
	if (head)
		show(frame, head);
	else
		refuse(frame);
	document.body.dataset.loads = Number(document.body.dataset.loads || 0) + 1;
}

function load(hash) {
	const frame = document.createElement("iframe");

	if (waiting)
		waiting.remove();
	waiting = frame;
	again.disabled = true;
	say(about.pid ? `Taking a snapshot of ${what} ...` : `Reading ${what} ...`);
	frame.className = "waits";
	frame.title = "timeline";
	frame.addEventListener("load", () => loaded(frame));
	frame.src = `page${hash}`;
	pages.append(frame);
}

// ---- the address ---------------------------------------------------------------------------

// The page replaces its own address, which is no event.
function addressFollow() {
	const hash = shown && shown.contentWindow.location.hash;

	if (hash && hash !== location.hash)
		history.replaceState(null, "", hash);
}

window.addEventListener("hashchange", () => {
	if (shown)
		shown.contentWindow.location.hash = location.hash;
});
window.addEventListener("pagehide", () => fetch(`gone?id=${visitor}`, {keepalive: true, cache: "no-store"}));
window.addEventListener("pageshow", (event) => event.persisted && alive());
again.addEventListener("click", () => load(""));
again.hidden = !about.pid;
setInterval(alive, ALIVE_MS);
setInterval(addressFollow, ADDRESS_MS);
alive();
load(location.hash);
