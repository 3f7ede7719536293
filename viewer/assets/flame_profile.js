// flame_profile.js - a profile from a file as the A of a comparison: of another recording, made by "pprof" on its page or by
// trace-analyze --pprof.
//
// Functions are found again by name and by their file's name, so the profile may be of another build.  Its stacks become combos
// whose chains are made here; a combo's chain is otherwise that of a stack of this trace (flame_fold.js).

import {visible} from "./data.js";
import {varintNext} from "./decode.js";
import {flame} from "./flame.js";
import {functionNumber, functions, functionsLoad} from "./flame_fold.js";
import {FRAMES_ALL, combos} from "./flame_items.js";
import {flameInfo, flameSet} from "./flame_ui.js";
import {baseName, errorText} from "./format.js";
import {OWNER_PROGRAM} from "./rows.js";
import {TRC_ITSELF} from "./samples.js";

// A message of protocol buffers: take(field, number or bytes) for each field.  Numbers are exact up to 2^53.
/** @param {Uint8Array} bytes @param {(field: number, value: any) => void} take */
function protoRead(bytes, take) {
	const from = {bytes, at: 0};

	while (from.at < bytes.length) {
		const tag = varintNext(from), wire = tag % 8, field = Math.floor(tag / 8);
		if (wire === 0) {
			take(field, varintNext(from));
		} else if (wire === 2) {
			const length = varintNext(from);
			if (!(from.at + length <= bytes.length))
				throw new Error("it is cut off");
			take(field, bytes.subarray(from.at, from.at + length));
			from.at += length;
		} else if (wire === 1 || wire === 5) {
			from.at += wire === 1 ? 8 : 4;
		} else {
			throw new Error("it is no profile");
		}
	}
}

// Adds the numbers of a repeated field, packed or not.
/** @param {number[]} list @param {number | Uint8Array} value */
function numbersAdd(list, value) {
	if (typeof value === "number") {
		list.push(value);
		return;
	}
	for (const from = {bytes: value, at: 0}; from.at < value.length;)
		list.push(varintNext(from));
}

// A number of 64 bits that has a sign.
/** @param {number} value */
function signed(value) {
	return value >= 2 ** 63 ? value - 2 ** 64 : value;
}

// The fields of a message that are numbers, by their numbers; of a repeated one the last.
/** @param {Uint8Array} bytes @returns {Record<number, number>} */
function protoNumbers(bytes) {
	const fields = /** @type {Record<number, number>} */ ({});

	protoRead(bytes, (field, value) => {
		if (typeof value === "number")
			fields[field] = value;
	});
	return fields;
}

// profile.proto: sample types (1), samples (2), mappings (3), locations (4), functions (5), strings (6).
/** @param {Uint8Array} bytes @returns {Profile} */
function profileRead(bytes) {
	const strings = [], types = [], samples = [], mappings = new Map(), locations = new Map(), fns = new Map(), decoder = new TextDecoder();

	const location = (message) => {
		const place = {id: 0, mapping: 0, address: 0, lines: []};
		protoRead(message, (field, value) => {
			if (field === 1)
				place.id = value;
			else if (field === 2)
				place.mapping = value;
			else if (field === 3)
				place.address = value;
			else if (field === 4)
				place.lines.push(protoNumbers(value)[1] || 0);
		});
		locations.set(place.id, place);
	};
	const sample = (message) => {
		const one = {locations: [], values: []};
		protoRead(message, (field, value) => {
			if (field === 1)
				numbersAdd(one.locations, value);
			else if (field === 2)
				numbersAdd(one.values, value);
		});
		one.values = one.values.map(signed);
		samples.push(one);
	};
	protoRead(bytes, (field, value) => {
		if (field === 6)
			strings.push(decoder.decode(value));
		else if (field === 1)
			types.push(protoNumbers(value));
		else if (field === 2)
			sample(value);
		else if (field === 4)
			location(value);
		else if (field === 3 || field === 5)
			(field === 3 ? mappings : fns).set(protoNumbers(value)[1], protoNumbers(value));
	});
	if (!types.length)
		throw new Error("it is no profile");
	const string = (number) => visible(strings[number] || "");
	return {types: types.map((type) => [string(type[1]), string(type[2])]), samples,
		framesOf: (id) => {
			const {mapping = 0, address = 0, lines = []} = locations.get(id) || {}, of = mappings.get(mapping) || {}, module = string(of[5]);
			const at = Math.max(0, address - (of[2] || 0) + (of[4] || 0)); // in the file
			if (!lines.length)
				return [{name: `${module ? `${baseName(module)}+` : ""}0x${at.toString(16)}`, file: "", module}];
			return lines.map((fn) => ({name: string(fns.get(fn)?.[2]), file: string(fns.get(fn)?.[4]), module}));
		}};
}

// Which of a sample's values is of the same kind as what is shown; -1 = none.
/** @param {Profile} profile @param {FlameKind} kind */
export function profileValue(profile, kind) {
	const alike = profile.types.map(([type, unit], i) => ({type, unit, i})).filter(({unit}) => unit === (kind.unit || "count"));
	const best = alike.find(({type}) => type.startsWith(kind.id)) || alike[alike.length - 1];

	return best ? best.i : -1;
}

// How many samples it is of, 0 if it does not say.
/** @param {Profile} profile */
export function profileCount(profile) {
	const at = profile.types.findIndex(([type, unit]) => type === "samples" && unit === "count");

	return at < 0 ? 0 : profile.samples.reduce((sum, {values}) => sum + (values[at] || 0), 0);
}

// From functions as a profile names them to their numbers here; new ones are added.
function profileFunctions() {
	const known = new Map(), keyOf = ({name, file}) => `${name}\n${baseName(file)}`;

	if (!functions.of)
		functionsLoad();
	functions.list.forEach((fn, number) => {
		if (!known.has(keyOf(fn)))
			known.set(keyOf(fn), number);
	});
	return (frame) => {
		const key = keyOf(frame);
		if (!known.has(key))
			known.set(key, functionNumber(`profile ${key}`, () => ({...frame, owner: OWNER_PROGRAM, lead: null})));
		return known.get(key);
	};
}

// A sample's functions from the outermost on.  Trc's own are one where they are innermost, else none, as in chains of this trace.
/** @param {Profile} profile @param {number[]} places @param {(frame: {name: string, file: string, module: string}) => number} numberOf */
function profileChain(profile, places, numberOf) {
	const isTrc = ({module}) => /^libtrc[-.]/.test(baseName(module)), frames = places.flatMap(profile.framesOf);
	const own = frames.filter((frame) => !isTrc(frame)), fns = own.map(numberOf);

	if (frames.length && isTrc(frames[0]))
		fns.unshift(numberOf({name: TRC_ITSELF, file: "", module: ""}));
	return fns.reverse();
}

// The profile's values by combo: after those of this trace are known, so that leads have their functions.
/** @param {Profile} profile @param {FlameKind} kind @returns {Generator<void, Float64Array, void>} */
export function* profileSum(profile, kind) {
	const at = profileValue(profile, kind), numberOf = profileFunctions(), sums = new Map();

	for (const [i, {locations, values}] of profile.samples.entries()) {
		const fns = profileChain(profile, locations, numberOf), key = `profile ${fns.join(" ")}`;
		let combo = combos.byKey.get(key);
		if (combo === undefined) {
			combo = combos.stack.push(0) - 1;
			combos.lead.push(0);
			combos.frames.push(FRAMES_ALL);
			combos.byKey.set(key, combo);
			const ownLast = fns.length > 0 && !functions.list[fns[fns.length - 1]].lead;
			functions.chains[combo] = {fns, frames: fns.map(() => 0), own: ownLast ? fns.length : fns.length - 1};
		}
		if (fns.length)
			sums.set(combo, (sums.get(combo) || 0) + (at < 0 ? 0 : values[at] || 0));
		if (i % 512 === 0)
			yield;
	}
	const found = new Float64Array(combos.stack.length);
	for (const [combo, value] of sums)
		found[combo] = value;
	return found;
}

let profilesOpened = 0;

// Compares with the profile in a file, from now on.
/** @param {File | undefined} file */
export async function profileOpen(file) {
	if (!file)
		return;
	try {
		const packed = new Uint8Array(await file.arrayBuffer()), zipped = packed[0] === 0x1f && packed[1] === 0x8b;
		const bytes = zipped ? new Uint8Array(await new Response(new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip")))
			.arrayBuffer()) : packed;
		const profile = profileRead(bytes);
		if (profileValue(profile, flame.kind) < 0)
			throw new Error(`its values are ${profile.types.map((type) => type.join("/")).join(", ")}, not ${flame.kind.unit || "count"}`);
		flame.trouble = "";
		flameSet({before: null, file: {name: visible(file.name), profile, number: ++profilesOpened}});
	} catch (error) {
		flame.trouble = `${visible(file.name)} cannot be compared with: ${errorText(error)}. `;
		flameInfo();
	}
}
