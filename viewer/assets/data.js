// data.js - from the page's script elements to typed arrays.
//
// A column is zlib-deflated, as text in base 123, cut into elements c<number>-<chunk>.  They are sent to the decoder (decode_worker.js) while
// the rest of the page is still being read.  The head, at the page's end, has a directory: it gives [name, type, values, largest
// value, bytes, chunks] for each.  A column that is missing reads as an empty one.  One of type "zero" has no bytes, since all of
// its values are 0; one of type "derived" has none, since it follows from others.  Types "split" and "splitdelta" are viewer/magnitudes.h.

import {columnTake, deltaAt, inflater, pieceBytes, textCodes} from "./decode.js";
import {decoderMake} from "./decode_worker.js";
import {baseName, byId} from "./format.js";

/** @type {Head} */
export const head = {...JSON.parse(document.getElementById("schema").textContent), columns: []}; // the rest when it is there
/** @type {Map<string, any>} */
export const columnsByName = new Map(); // arrays, or {later: a column that is yet to be decoded}
export const arrived = {states: null, parks: null, annotations: null}; // what the decoder made of intervals, and of tasks, regions and logs

/** @param {string} name @returns {Numbers} */
export function column(name) {
	let values = columnsByName.get(name);

	if (values?.later)
		values = columnTake(values.later);
	if (values)
		columnsByName.set(name, values);
	return values || new Uint8Array(0);
}

// Less than this are the values of a column, as the head tells; 0 = these are none of one.
/** @param {Numbers} values */
export function columnLimit(values) {
	for (const [name, own] of columnsByName)
		if (own === values)
			return (head.columns.find(([of]) => of === name)?.[3] ?? -1) + 1;
	return 0;
}

// One value of a column of differences, which stays as it is.
/** @param {string} name @param {number} i */
export function columnAt(name, i) {
	const later = columnsByName.get(name)?.later;

	return later ? deltaAt(later.bytes, later.marks, i) : column(name)[i];
}

// waiting: what is for a worker of which it is not yet known whether it starts.
const loading = {bytes: 0, toldAt: 0, sent: new Map(), decoder: null, waiting: [], worker: null, done: null, finish: null, fail: null};

const LOADING_TOLD_MS = 250; // from one figure to the next

function loadingShow(bytes) {
	const now = performance.now();

	// Each time that it is another text the browser makes a frame, for which the page waits.
	loading.bytes += bytes;
	if (now - loading.toldAt < LOADING_TOLD_MS)
		return;
	loading.toldAt = now;
	if (!document.documentElement.dataset.trcFailed)
		byId("loading").textContent = `Loading the timeline: ${Math.round(loading.bytes / 1e6)} MB`;
}

// What the decoder says.
const decoderTold = {
	hello: () => decoderUse((message, moved) => loading.worker.postMessage(message, moved)),
	column: ({name, values, later}) => columnsByName.set(name, values || {later}),
	progress: ({bytes}) => loadingShow(bytes),
	parks: (parks) => { arrived.parks = parks; },
	states: (states) => { arrived.states = states; },
	annotations: (annotations) => {
		arrived.annotations = annotations;
		loading.finish();
	},
	failed: ({text}) => loading.fail(new Error(text)),
};

// From now on this one decodes, what has waited first.
function decoderUse(decoder) {
	const {waiting} = loading;

	loading.waiting = null;
	loading.decoder = decoder;
	for (const [message, moved] of waiting)
		decoder(message, moved);
}

// A browser may refuse a worker at once, or with an event later, but before it has said hello.
function workerStart(told, refused) {
	const url = URL.createObjectURL(new Blob([byId("decoder").textContent], {type: "text/javascript"}));

	loading.worker = new Worker(url);
	URL.revokeObjectURL(url);
	loading.worker.onmessage = ({data}) => told(data);
	loading.worker.onerror = (event) => {
		if (loading.waiting)
			refused();
		else
			loading.fail(new Error(event.message || "the decoder stopped"));
	};
}

// A worker; or, if the browser gives none, the same functions here.
function decoderStart() {
	const told = (message) => decoderTold[message.kind](message);
	const refused = () => {
		loading.worker = null;
		decoderUse(decoderMake(told));
	};

	loading.done = new Promise((resolve, reject) => Object.assign(loading, {finish: resolve, fail: reject}));
	loading.done.catch(() => {}); // it may fail before anybody waits for it
	loading.decoder = (message, moved) => loading.waiting.push([message, moved]);
	try {
		workerStart(told, refused);
	} catch {
		refused();
	}
}

// An element's text, in parts as the browser has them.
function textParts(element) {
	return Array.from(element.childNodes, (part) => part.data);
}

// A piece of a column; its element is removed.
function pieceSend(element) {
	const number = Number(/^c(\d+)-/.exec(element.id)[1]);
	const [name, type, n, max, raw, isLast] = element.dataset.column.split(" ");
	const text = textParts(element);

	// An element that is removed keeps its text until the browser cleans up, which may be when all of the page has been read.
	for (const part of element.childNodes)
		part.data = "";
	element.remove();
	loading.sent.set(number, (loading.sent.get(number) || 0) + 1);
	loading.decoder({kind: "column", number, name, type, n: Number(n), max: Number(max), raw: Number(raw), text,
		isLast: isLast === "1"}, []);
}

// All pieces that are whole: something follows them, or else the page has been read.
function piecesSend(isRead) {
	for (const element of document.querySelectorAll("script[data-column]")) {
		if (!element.nextSibling && !isRead)
			break;
		pieceSend(element);
	}
}

function pageIsRead() {
	return new Promise((resolve) => {
		const observer = new MutationObserver(() => piecesSend(false));
		observer.observe(document.body, {childList: true});
		document.addEventListener("DOMContentLoaded", () => {
			observer.disconnect();
			resolve();
		});
	});
}

// The rest of the head.
function headRead() {
	try {
		Object.assign(head, JSON.parse(byId("head").textContent));
	} catch {
		throw new Error("the page is incomplete: its end is missing");
	}
}

// Whether all pieces that the head tells of were there.
function piecesCheck() {
	head.columns.forEach(([name, type, n, , , chunks], number) => {
		if (name && (loading.sent.get(number) || 0) !== chunks)
			throw new Error(`the page is incomplete: a piece of part ${number} is missing`);
		if (type === "zero")
			columnsByName.set(name, new Uint8Array(n));
	});
}

// The bytes of a column that is not sent to the decoder; its elements stay.
export async function inflate(number, chunks, bytes) {
	const inflating = inflater(number, bytes);

	for (let k = 0; k < chunks; k++) {
		const element = document.getElementById(`c${number}-${k}`);
		if (!element)
			throw new Error(`the page is incomplete: part ${number}-${k} is missing`);
		inflating.put(pieceBytes(textCodes(textParts(element))));
	}
	return inflating.done();
}

// Strings are decoded when they are first asked for.
export const texts = {offset: null, data: null, cache: [], decoder: new TextDecoder("utf-8")};

// isLock: by state, whether it is a wait for a lock.
/** @param {Uint8Array} isLock */
export async function loadColumns(isLock) {
	decoderStart();
	await pageIsRead();
	headRead();
	piecesSend(true);
	piecesCheck();
	const threads = head.columns.find(([name]) => name === "thread.serial")[2];
	loading.decoder({kind: "end", columns: head.columns, threads, isLock}, []);
	await loading.done;
	loading.worker?.terminate();
	const lengths = column("text.bytes");
	texts.data = column("text.data");
	texts.offset = new Float64Array(lengths.length + 1);
	for (let i = 0; i < lengths.length; i++)
		texts.offset[i + 1] = texts.offset[i] + lengths[i];
}

// Characters that would not show, or that would reorder their neighbours; but for those that choose how an
// emoji looks.
const invisible = /(?![\ufe0e\ufe0f])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]/gu;
const blank = /^[\s\ufe0e\ufe0f]+$/u;

function escaped(character) {
	const hex = character.codePointAt(0).toString(16);

	return hex.length > 4 ? `\\u{${hex}}` : `\\u${hex.padStart(4, "0")}`;
}

// A text with escapes for what would not be seen of it, all of it if that is all there is.
/** @param {string} string */
export function visible(string) {
	return blank.test(string) ? Array.from(string, escaped).join("") : string.replace(invisible, escaped);
}

export function text(id) {
	let string = texts.cache[id];

	if (string === undefined) {
		string = visible(texts.decoder.decode(
			texts.data.subarray(texts.offset[id], texts.offset[id + 1])));
		texts.cache[id] = string;
	}
	return string;
}

export function textCount() {
	return texts.offset.length - 1;
}

// What the head says of the trace by this key.
export function infoOf(key) {
	const found = head.info.find(([name]) => name === key);

	return found ? visible(found[1]) : "";
}

// What the program is called: by its first argument, since a link may lead to a file of another name; "" if that is a title, and
// no file's name.
function programName() {
	const argv0 = infoOf("argv0"), name = /^[/.]/.test(argv0) ? baseName(argv0) : argv0.replace(/^-/, "");

	return /[ :]/.test(name) ? "" : baseName(name);
}

let programIs = null; // {path, name}

// A module's name: the program's is what the program is called, others have that of their file.
export function moduleName(path) {
	if (!programIs && head.info)
		programIs = {path: infoOf("exe"), name: programName()};
	return programIs && programIs.name && path === programIs.path ? programIs.name : baseName(path);
}
