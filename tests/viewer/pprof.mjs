// pprof.mjs - reads a profile of pprof's: self and total of each function.

import {gunzipSync} from "node:zlib";

// The fields of a protobuf message: [number, value], a value a number or bytes.
function* fields(bytes) {
	let at = 0;
	const varint = () => {
		let value = 0n, shift = 0n, byte;
		do {
			byte = bytes[at++];
			value |= BigInt(byte & 127) << shift;
			shift += 7n;
		} while (byte > 127);
		return Number(BigInt.asIntN(64, value));
	};

	while (at < bytes.length) {
		const tag = varint(), kind = tag & 7;
		if (kind === 2) {
			const length = varint();
			yield [tag >> 3, bytes.subarray(at, at + length)];
			at += length;
		} else if (kind === 0) {
			yield [tag >> 3, varint()];
		} else {
			throw new Error(`wire type ${kind}`);
		}
	}
}

function packed(bytes) {
	const values = [];
	let value = 0n, shift = 0n;

	if (typeof bytes === "number")
		return [bytes];
	for (const byte of bytes) {
		value |= BigInt(byte & 127) << shift;
		shift += 7n;
		if (byte < 128) {
			values.push(Number(BigInt.asIntN(64, value)));
			value = shift = 0n;
		}
	}
	return values;
}

// {sum, functions: Map of "name\nfile" to {self, total}}, of the value with this number.
export function readPprof(file, number) {
	const strings = [], functions = new Map(), locations = new Map(), samples = [], out = new Map();
	let sum = 0;

	for (const [field, value] of fields(gunzipSync(file)))
		if (field === 6)
			strings.push(new TextDecoder().decode(value));
		else if (field === 5)
			functions.set(Object.fromEntries(fields(value))[1], Object.fromEntries(fields(value)));
		else if (field === 4)
			locations.set(Object.fromEntries(fields(value))[1], [...fields(value)].filter(([f]) => f === 4)
				.map(([, line]) => Object.fromEntries(fields(line))[1]));
		else if (field === 2)
			samples.push([...fields(value)]);
	for (const parts of samples) {
		const of = (wanted) => parts.filter(([field]) => field === wanted).flatMap(([, value]) => packed(value));
		const value = of(2)[number], counted = new Set();
		const names = of(1).flatMap((id) => locations.get(id).length ? locations.get(id).map((fn) => {
			const f = functions.get(fn);
			return `${strings[f[2]]}\n${strings[f[4] || 0]}`;
		}) : [null]);
		sum += value;
		names.forEach((name, i) => {
			const row = out.get(name) || {self: 0, total: 0};
			out.set(name, row);
			if (!i)
				row.self += value;
			if (!counted.has(name))
				row.total += value;
			counted.add(name);
		});
	}
	out.delete(null);
	return {sum, functions: out};
}
