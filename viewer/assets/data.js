// data.js - from the page's script elements to typed arrays.
//
// A column is zlib-deflated, base64, cut into elements c<number>-<chunk>; the head's
// directory gives [name, type, values, largest value, bytes, chunks] for each.
// A column that is missing reads as an empty one.  One of type "derived" has no bytes: it follows from others.

const head = JSON.parse(document.getElementById("head").textContent);
const columnsByName = new Map(); // arrays, or functions that decode one

function column(name) {
	let values = columnsByName.get(name);

	if (typeof values === "function") {
		values = values();
		columnsByName.set(name, values);
	}
	return values || new Uint8Array(0);
}

// A property that is computed when it is first asked for.
function lazily(object, name, make) {
	Object.defineProperty(object, name, {configurable: true, enumerable: true, get: () => {
		const value = make();
		Object.defineProperty(object, name, {value, writable: true});
		return value;
	}});
}

function base64Bytes(text) {
	if (Uint8Array.fromBase64)
		return Uint8Array.fromBase64(text);
	const binary = atob(text);
	const bytes = new Uint8Array(binary.length);
	for (let i = 0; i < bytes.length; i++)
		bytes[i] = binary.charCodeAt(i);
	return bytes;
}

// The deflated chunks of column `number`; their elements are removed, to free the text, unless they are kept.
function* columnChunks(number, chunks, keep) {
	for (let k = 0; k < chunks; k++) {
		const element = document.getElementById(`c${number}-${k}`);
		if (!element)
			throw new Error(`the page is incomplete: part ${number}-${k} is missing`);
		yield base64Bytes(element.textContent);
		if (!keep)
			element.remove();
	}
}

async function inflate(number, chunks, bytes, {keep = false} = {}) {
	const out = new Uint8Array(bytes);
	const stream = new DecompressionStream("deflate");
	const writer = stream.writable.getWriter();
	const reader = stream.readable.getReader();
	let at = 0;

	const writing = (async () => {
		for (const chunk of columnChunks(number, chunks, keep))
			await writer.write(chunk);
		await writer.close();
	})();
	const reading = (async () => {
		for (;;) {
			const {value, done} = await reader.read();
			if (done)
				break;
			out.set(value, at);
			at += value.length;
		}
	})();
	await Promise.all([writing, reading]);
	if (at !== bytes)
		throw new Error(`the page is damaged: part ${number} has ${at} bytes, not ${bytes}`);
	return out;
}

// The narrowest array that holds values up to max.
function numberArray(n, max) {
	if (max < 256)
		return new Uint8Array(n);
	if (max < 65536)
		return new Uint16Array(n);
	return max < 4294967296 ? new Uint32Array(n) : new Float64Array(n);
}

function decodeVarints(bytes, out) {
	let at = 0;

	for (let i = 0; i < out.length; i++) {
		let byte = bytes[at++];
		let value = byte & 127;
		let scale = 128;
		while (byte > 127) {
			byte = bytes[at++];
			value += (byte & 127) * scale;
			scale *= 128;
		}
		out[i] = value;
	}
	return out;
}

function unzigzag(value) {
	return value % 2 ? -(value + 1) / 2 : value / 2;
}

function decodeDeltas(bytes, out) {
	let at = 0;
	let sum = 0;

	for (let i = 0; i < out.length; i++) {
		let byte = bytes[at++];
		let value = byte & 127;
		let scale = 128;
		while (byte > 127) {
			byte = bytes[at++];
			value += (byte & 127) * scale;
			scale *= 128;
		}
		sum += value % 2 ? -(value + 1) / 2 : value / 2;
		out[i] = sum;
	}
	return out;
}

const loading = {done: 0, total: 0};

function loadingShow(bytes) {
	loading.done += bytes;
	byId("loading").textContent = `Loading the timeline: ${Math.round(loading.done / 1e6)} of ` +
		`${Math.round(loading.total / 1e6)} MB`;
}

async function loadColumn(entry, number) {
	const [name, type, n, max, bytes, chunks] = entry;

	if (!name) // the SQL box reads it when it is opened
		return;
	const raw = bytes ? await inflate(number, chunks, bytes) : new Uint8Array(0);

	loadingShow(bytes);

	if (type === "bytes" || (type === "varint" && max < 128)) // one byte each
		columnsByName.set(name, raw);
	else if (type === "derived") // filled in by parksDerive()
		columnsByName.set(name, numberArray(n, max));
	else if (type === "varint")
		columnsByName.set(name, () => decodeVarints(raw, numberArray(n, max)));
	else
		columnsByName.set(name, () => decodeDeltas(raw, numberArray(n, max)));
}

// Strings are decoded when they are first asked for.
const texts = {offset: null, data: null, cache: [], decoder: new TextDecoder("utf-8")};

async function loadColumns() {
	for (const [name, , , , bytes] of head.columns)
		loading.total += name ? bytes : 0;
	await Promise.all(head.columns.map(loadColumn));
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
function visible(string) {
	return blank.test(string) ? Array.from(string, escaped).join("") : string.replace(invisible, escaped);
}

function text(id) {
	let string = texts.cache[id];

	if (string === undefined) {
		string = visible(texts.decoder.decode(
			texts.data.subarray(texts.offset[id], texts.offset[id + 1])));
		texts.cache[id] = string;
	}
	return string;
}

function textCount() {
	return texts.offset.length - 1;
}
