// decode.js - from a column's bytes to its values.  Runs in the worker that decodes the page (decode_worker.js), and, of what is
// decoded only when it is needed, in the page.

/** @param {string} text @returns {Uint8Array<ArrayBuffer>} */
export function base64Bytes(text) {
	if (Uint8Array.fromBase64)
		return Uint8Array.fromBase64(text);
	const binary = atob(text);
	const bytes = new Uint8Array(binary.length);
	for (let i = 0; i < bytes.length; i++)
		bytes[i] = binary.charCodeAt(i);
	return bytes;
}

// A text in base 123 (viewer/page.h, P4): which digit each character is; what is none is 0.
const DIGITS = 123, GROUP_BYTES = 13, GROUP_DIGITS = 15, TRIPLE = DIGITS ** 3, BITS26 = 2 ** 26;
const digitOf = new Uint8Array(256);
for (let code = 1, digit = 0; digit < DIGITS; code++)
	if (code !== 13 && code !== 26 && code !== 27 && code !== 60)
		digitOf[code] = digit++;

// The characters' codes of a text in parts.
/** @param {string[]} parts */
export function textCodes(parts) {
	const codes = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0)), encoder = new TextEncoder();
	let at = 0;

	for (const part of parts)
		at += encoder.encodeInto(part, codes.subarray(at)).written;
	return codes;
}

// The number of three digits from `at` on.
function tripleAt(codes, at) {
	return (digitOf[codes[at]] * DIGITS + digitOf[codes[at + 1]]) * DIGITS + digitOf[codes[at + 2]];
}

// The bytes of 15 digits: the number is made in four parts of 26 bits, and grows by three digits at a time, in numbers less than 2^53.
function groupBytes(codes, from, out, to) {
	let a = tripleAt(codes, from), b = 0, c = 0, d = 0; // the lowest first

	for (let at = from + 3; at < from + GROUP_DIGITS; at += 3) {
		const a1 = a * TRIPLE + tripleAt(codes, at), toB = Math.floor(a1 / BITS26);
		const b1 = b * TRIPLE + toB, toC = Math.floor(b1 / BITS26);
		const c1 = c * TRIPLE + toC, toD = Math.floor(c1 / BITS26);
		a = a1 - toB * BITS26;
		b = b1 - toC * BITS26;
		c = c1 - toD * BITS26;
		d = d * TRIPLE + toD;
	}
	out[to] = a;
	out[to + 1] = a >> 8;
	out[to + 2] = a >> 16;
	out[to + 3] = a >> 24 | b << 2;
	out[to + 4] = b >> 6;
	out[to + 5] = b >> 14;
	out[to + 6] = b >> 22 | c << 4;
	out[to + 7] = c >> 4;
	out[to + 8] = c >> 12;
	out[to + 9] = c >> 20 | d << 6;
	out[to + 10] = d >> 2;
	out[to + 11] = d >> 10;
	out[to + 12] = d >> 18;
}

// The bytes of a text in base 123, of which the characters' codes are given.
export function pieceBytes(codes) {
	const groups = Math.floor(codes.length / GROUP_DIGITS), left = codes.length - groups * GROUP_DIGITS;
	const bytes = Math.floor(left * Math.log2(DIGITS) / 8), out = new Uint8Array(groups * GROUP_BYTES + bytes);

	for (let k = 0; k < groups; k++)
		groupBytes(codes, k * GROUP_DIGITS, out, k * GROUP_BYTES);
	if (bytes) { // the digits above them are 0, which is the first character
		const last = new Uint8Array(GROUP_DIGITS).fill(1), group = new Uint8Array(GROUP_BYTES);
		last.set(codes.subarray(groups * GROUP_DIGITS), GROUP_DIGITS - left);
		groupBytes(last, 0, group, 0);
		out.set(group.subarray(0, bytes), groups * GROUP_BYTES);
	}
	return out;
}

export const POWERS = Float64Array.from({length: 64}, (_, e) => 2 ** e);

// Gives the memory of arrays back at once, where the browser can: these are large, and it cleans up when it likes.
export function release(...arrays) {
	for (const {buffer} of arrays)
		if (buffer.byteLength)
			buffer.transfer?.(0);
}

// Inflates deflated pieces, as they come: {put(piece), done()}, which resolves to the bytes.
export function inflater(number, bytes) {
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
export function numberArray(n, max) {
	if (max < 256)
		return new Uint8Array(n);
	if (max < 65536)
		return new Uint16Array(n);
	return max < 4294967296 ? new Uint32Array(n) : new Float64Array(n);
}

// The next number of {bytes, at}: seven bits a byte, low ones first.
export function varintNext(from) {
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

export function unzigzag(value) {
	return value % 2 ? -(value + 1) / 2 : value / 2;
}

export function decodeDeltas(bytes, out) {
	const from = {bytes, at: 0};
	let sum = 0;

	for (let i = 0; i < out.length; i++) {
		sum += unzigzag(varintNext(from));
		out[i] = sum;
	}
	return out;
}

const DELTA_MARK_SHIFT = 10; // of so many values, a power of two, one is marked

// Of a column of n differences marks, from which one value can be told without all that are before it: where the value is in the
// bytes, and the sum before it.
export function deltaMarks(bytes, n) {
	const from = {bytes, at: 0}, marks = (n >> DELTA_MARK_SHIFT) + 1, at = new Uint32Array(marks), before = new Float64Array(marks);
	let sum = 0;

	for (let i = 0; i < n; i++) {
		if ((i & (1 << DELTA_MARK_SHIFT) - 1) === 0) {
			at[i >> DELTA_MARK_SHIFT] = from.at;
			before[i >> DELTA_MARK_SHIFT] = sum;
		}
		sum += unzigzag(varintNext(from));
	}
	return {at, before};
}

// Value i alone of a column of differences: most take one byte.
export function deltaAt(bytes, marks, i) {
	const from = {bytes, at: 0}, mark = i >> DELTA_MARK_SHIFT;
	let at = marks.at[mark], sum = marks.before[mark];

	for (let k = mark << DELTA_MARK_SHIFT; k <= i; k++) {
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

// The numbers of a column of magnitudes and bits (viewer/magnitudes.h); of differences, if `isDelta`.
function decodeSplit(bytes, out, isDelta) {
	const low = {bytes, at: out.length, value: 0, n: 0};
	let sum = 0;

	for (let i = 0; i < out.length; i++) {
		const byte = bytes[i], below = (byte >> 2) - 1;
		const value = below > 0 ? (4 + (byte & 3)) * POWERS[below] + bitsNext(low, below) : byte;
		if (isDelta)
			sum += unzigzag(value);
		out[i] = isDelta ? sum : value;
	}
	return out;
}

// The values of a column {type, n, max, bytes}.
export function columnDecode({type, n, max, bytes}) {
	if (type === "zero")
		return new Uint8Array(n);
	if (type === "bytes" || (type === "varint" && max < 128)) // one byte each
		return bytes;
	if (type === "split" || type === "splitdelta")
		return decodeSplit(bytes, numberArray(n, max), type === "splitdelta");
	return (type === "varint" ? decodeVarints : decodeDeltas)(bytes, numberArray(n, max));
}

// The same of a column whose bytes are not needed any more.
export function columnTake(column) {
	const values = columnDecode(column);

	if (values !== column.bytes)
		release(column.bytes);
	return values;
}

// ---- streams: values that stand together (viewer/intervals.h) ----

// Where each stream begins, by the lengths of all.
export function streamsBegin(lengths) {
	const begin = new Uint32Array(lengths.length);
	let sum = 0;

	for (let k = 0; k < lengths.length; k++) {
		begin[k] = sum;
		sum += lengths[k];
	}
	return begin;
}

// How many have each value below `limit`.
export function valuesCount(values, limit) {
	const n = new Uint32Array(limit);

	for (let i = 0; i < values.length; i++)
		n[values[i]]++;
	return n;
}

// Where the value of each of n rows stands: streamOf(i) < limit is the number of row i's stream.
export function streamsPlace(n, limit, streamOf) {
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
export function streamsJoin(values, place) {
	const joined = new values.constructor(values.length);

	for (let i = 0; i < joined.length; i++)
		joined[i] = values[place[i]];
	release(values);
	return joined;
}

// The next n bits of {bytes, at, value, n: bits of value}, low ones first.
export function bitsNext(from, n) {
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
