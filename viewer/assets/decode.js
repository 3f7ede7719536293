// decode.js - from a column's bytes to its values.  Runs in the worker that decodes the page (decode_worker.js), and, of what is
// decoded only when it is needed, in the page.

/** @param {string} text @returns {Uint8Array<ArrayBuffer>} */
function base64Bytes(text) {
	if (Uint8Array.fromBase64)
		return Uint8Array.fromBase64(text);
	const binary = atob(text);
	const bytes = new Uint8Array(binary.length);
	for (let i = 0; i < bytes.length; i++)
		bytes[i] = binary.charCodeAt(i);
	return bytes;
}

const DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789!#$%'()*+,-./:;=>?@[\\]^_`{|}~";
const digitOf = new Uint8Array(256);
for (let i = 0; i < DIGITS.length; i++)
	digitOf[DIGITS.charCodeAt(i)] = i;

// The bytes of a text in base 91 (viewer/page.h, P4), of which the characters' codes are given.
function pieceBytes(codes) {
	const pairs = codes.length >>> 1, last = codes.length % 2, out = new Uint8Array((13 * pairs + 6 * last) >>> 3);
	let bits = 0, n = 0, at = 0;

	for (let i = 0; i < 2 * pairs; i += 2) {
		bits |= (digitOf[codes[i]] * 91 + digitOf[codes[i + 1]]) << n;
		n += 13;
		for (; n >= 8; n -= 8, bits >>>= 8)
			out[at++] = bits;
	}
	if (last && n + 6 >= 8)
		out[at] = bits | digitOf[codes[2 * pairs]] << n;
	return out;
}

// Gives the memory of arrays back at once, where the browser can: these are large, and it cleans up when it likes.
function release(...arrays) {
	for (const {buffer} of arrays)
		if (buffer.byteLength)
			buffer.transfer?.(0);
}

// Inflates deflated pieces, as they come: {put(piece), done()}, which resolves to the bytes.
function inflater(number, bytes) {
	const out = new Uint8Array(bytes), stream = new DecompressionStream("deflate");
	const writer = stream.writable.getWriter(), reader = stream.readable.getReader();
	const work = [];
	let at = 0;

	// It may fail before anybody waits for it.
	const add = (promise) => {
		promise.catch(() => {});
		work.push(promise);
	};
	add((async () => {
		for (;;) {
			const {value, done} = await reader.read();
			if (done)
				break;
			if (at + value.length <= bytes)
				out.set(value, at);
			at += value.length;
		}
	})());
	return {
		put: (piece) => add(writer.write(piece)),
		done: async () => {
			add(writer.close());
			await Promise.all(work).catch(() => { at = -1; });
			if (at !== bytes)
				throw new Error(`the page is damaged: part ${number} cannot be read`);
			return out;
		},
	};
}

// The narrowest array that holds values up to max.
function numberArray(n, max) {
	if (max < 256)
		return new Uint8Array(n);
	if (max < 65536)
		return new Uint16Array(n);
	return max < 4294967296 ? new Uint32Array(n) : new Float64Array(n);
}

// The next number of {bytes, at}: seven bits a byte, low ones first.
function varintNext(from) {
	const {bytes} = from;
	let byte = bytes[from.at++], value = byte & 127, scale = 128;

	while (byte > 127) {
		byte = bytes[from.at++];
		value += (byte & 127) * scale;
		scale *= 128;
	}
	return value;
}

function decodeVarints(bytes, out) {
	const from = {bytes, at: 0};

	for (let i = 0; i < out.length; i++)
		out[i] = varintNext(from);
	return out;
}

function unzigzag(value) {
	return value % 2 ? -(value + 1) / 2 : value / 2;
}

function decodeDeltas(bytes, out) {
	const from = {bytes, at: 0};
	let sum = 0;

	for (let i = 0; i < out.length; i++) {
		sum += unzigzag(varintNext(from));
		out[i] = sum;
	}
	return out;
}

// Value i alone of a column of differences: most take one byte.
function deltaAt(bytes, i) {
	const from = {bytes, at: 0};
	let at = 0, sum = 0;

	for (let k = 0; k <= i; k++) {
		const byte = bytes[at++];
		if (byte < 128) {
			sum += byte >>> 1 ^ -(byte & 1);
			continue;
		}
		from.at = at - 1;
		sum += unzigzag(varintNext(from));
		({at} = from);
	}
	return sum;
}

// The values of a column {type, n, max, bytes}.
function columnDecode({type, n, max, bytes}) {
	if (type === "zero")
		return new Uint8Array(n);
	if (type === "bytes" || (type === "varint" && max < 128)) // one byte each
		return bytes;
	return (type === "varint" ? decodeVarints : decodeDeltas)(bytes, numberArray(n, max));
}

// The same of a column whose bytes are not needed any more.
function columnTake(column) {
	const values = columnDecode(column);

	if (values !== column.bytes)
		release(column.bytes);
	return values;
}

// ---- streams: values that stand together (viewer/intervals.h) ----

// Where each stream begins, by the lengths of all.
function streamsBegin(lengths) {
	const begin = new Uint32Array(lengths.length);
	let sum = 0;

	for (let k = 0; k < lengths.length; k++) {
		begin[k] = sum;
		sum += lengths[k];
	}
	return begin;
}

// How many have each value below `limit`.
function valuesCount(values, limit) {
	const n = new Uint32Array(limit);

	for (let i = 0; i < values.length; i++)
		n[values[i]]++;
	return n;
}

// Where the value of each of n rows stands: streamOf(i) < limit is the number of row i's stream.
function streamsPlace(n, limit, streamOf) {
	const next = new Uint32Array(limit), place = new Uint32Array(n);

	for (let i = 0; i < n; i++) {
		place[i] = streamOf(i);
		next[place[i]]++;
	}
	next.set(streamsBegin(next));
	for (let i = 0; i < n; i++)
		place[i] = next[place[i]]++;
	return place;
}

// Values in order, from streams, which are given back.
function streamsJoin(values, place) {
	const joined = new values.constructor(values.length);

	for (let i = 0; i < joined.length; i++)
		joined[i] = values[place[i]];
	release(values);
	return joined;
}

// The next n bits of {bytes, at, value, n: bits of value}, low ones first.
function bitsNext(from, n) {
	if (n > 24) {
		const low = bitsNext(from, 24);
		return low + bitsNext(from, n - 24) * 16777216;
	}
	let {value, n: have} = from;
	const {bytes} = from;
	let {at} = from;
	for (; have < n; have += 8)
		value |= bytes[at++] << have;
	from.at = at;
	from.value = value >>> n;
	from.n = have - n;
	return value & (1 << n) - 1;
}
