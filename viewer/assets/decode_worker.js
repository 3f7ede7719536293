// decode_worker.js - decodes the page's columns as they arrive, beside the page: in a worker, or where there can be none, in the
// page itself.  The columns of the intervals stay here, and become the lanes of all threads; those of tasks, regions and logs until their
// lanes are made.

import {columnsMade, instantsBy, lanesPack, regionLanes, rowsBy, taskLanes} from "./annotations.js";
import {columnDecode, columnTake, deltaMarks, inflater, numberArray, pieceBytes, release,
	streamsJoin, streamsPlace, textCodes, valuesCount} from "./decode.js";
import {lanesMake} from "./levels.js";
import {parksByThread, statesMake} from "./states.js";

// The columns that the page decodes when they are needed: few need them.
const DECODED_LATER = new Set(["park.id_by_start"]);

// Columns of waits that stand in streams by stack, and these by reason (viewer/rows.h, V3).
const BY_STACK = ["park.object", "park.holder", "park.waker", "park.waker_stack", "park.result", "park.descriptor"];
const STREAM_REASONS = 256, STREAMS_MAX = 1 << 22;

// Columns that stay until the lanes of tasks and regions are made, and the rows of instants by thread.
const isAnnotation = (name) => /^(task|region|log)\.|^sample\.(thread|time)$/.test(name);

// Columns that others are made from, each of which is made from one (columnsMade()).
const isSource = (/** @type {string} */ name) => /_beside$|_in_task$/.test(name);
const sourceOf = (/** @type {string} */ name) => ({"task.end_thread": "task.end_beside", "region.length": "region.end_in_task"})[name] ||
	`${name}_${name.endsWith(".thread") ? "beside" : "in_task"}`;

// The memory of all arrays that a message has, at any depth, which moves with it.
function buffersIn(message) {
	return Object.values(message).flatMap((value) => ArrayBuffer.isView(value) ? [value.buffer] : value && typeof value === "object" ? buffersIn(value) : []);
}

// tell(message, arrays that move to the page).  Returns what takes the page's messages:
//   column  a piece of one: {number, name, type, n, max, raw, text: in parts, isLast}
//   end     all of them were sent: {columns, threads, isLock}
export function decoderMake(tell) {
	const inflating = new Map(), pending = [], kept = new Map();

	const stays = (name) => /^(iv|other)\.|^park\.(thread|woken_at_end|stack)$/.test(name) || BY_STACK.includes(name) || isAnnotation(name);
	async function finish({name, type, n, max}, inflated) {
		const column = {type, n, max, bytes: await inflated};
		const bytes = column.bytes.length; // it may be gone by then
		if (stays(name))
			kept.set(name, column);
		else if (DECODED_LATER.has(name))
			sendLater(name, {...column, marks: deltaMarks(column.bytes, n)});
		else
			sendColumn(name, columnTake(column));
		tell({kind: "progress", bytes}, []);
	}
	function sendColumn(name, values) {
		tell({kind: "column", name, values}, [values.buffer]);
	}
	function sendLater(name, later) {
		tell({kind: "column", name, later}, [later.bytes, later.marks.at, later.marks.before].map(({buffer}) => buffer));
	}
	function take(message) {
		const {number, raw, text: parts, isLast} = message, codes = textCodes(parts);
		if (!inflating.has(number))
			inflating.set(number, inflater(number, raw));
		inflating.get(number).put(pieceBytes(codes));
		release(codes);
		if (!isLast)
			return;
		const finished = finish(message, inflating.get(number).done());
		finished.catch(() => {}); // it may fail before anybody waits for it
		pending.push(finished);
		inflating.delete(number);
	}
	// Tasks, regions and logs, from columns that are kept.  Where there are fibers the page cuts regions to their runs.
	function annotationsSend(entries, threads) {
		const made = columnsMade(get, (name) => entries.get(name) || {n: 0, max: 0}), taken = new Map();
		const isMade = (name) => made.has(name) && (entries.get(name)?.type ?? "derived") === "derived";
		function get(name) {
			if (!taken.has(name))
				taken.set(name, kept.has(name) ? columnTake(kept.get(name)) : isMade(name) ? made.get(name)() : new Uint8Array(entries.get(name)?.n || 0));
			// What one column only is made from is not needed any more.
			const from = isMade(name) ? sourceOf(name) : "";
			if (taken.get(from)?.length) {
				release(taken.get(from));
				taken.set(from, new Uint8Array(0));
			}
			return taken.get(name);
		}
		const rowsOf = (name, ...columns) => Object.assign({n: entries.get(`${name}.${columns[0]}`)?.n || 0},
			Object.fromEntries(columns.map((column) => [column, get(`${name}.${column}`)])));
		const instants = ["log", "sample"].map((name) => [name, instantsBy(get(`${name}.thread`), get(`${name}.time`), threads)]);
		const members = {parts: rowsBy(get("task.parent"), get("task.type").length), regions: rowsBy(get("region.task"), get("task.type").length)};
		const {lanes, steps, types} = taskLanes(rowsOf("task", "row", "type", "start", "length", "open"));
		const regions = entries.get("fiber.low")?.n ? null : regionLanes(rowsOf("region", "row", "thread", "depth", "type", "start", "length"), threads);
		const message = {kind: "annotations", instants: Object.fromEntries(instants), members, tasks: {lanes: lanesPack(lanes), steps, types},
			regions: regions && {...regions, lanes: lanesPack(regions.lanes)}};
		// The page has no use for what others are made from.  All are made before the first is sent.
		const sent = [...new Set([...kept.keys(), ...made.keys()])].filter((name) => (kept.has(name) || isMade(name)) && !isSource(name));
		sent.map((name) => [name, get(name)]).forEach(([name, values]) => sendColumn(name, values));
		tell(message, buffersIn(message));
	}
	async function end({columns, threads, isLock}) {
		await Promise.all(pending);
		const entries = new Map(columns.map(([name, type, n, max]) => [name, {type, n, max, bytes: new Uint8Array(0)}]));
		const raw = (name) => kept.get(name) || entries.get(name) || {type: "bytes", n: 0, max: 0, bytes: new Uint8Array(0)};
		const values = (name) => columnDecode(raw(name));
		const numbers = (name) => ({bytes: raw(name).type === "zero" ? new Uint8Array(raw(name).n) : raw(name).bytes, at: 0});
		const park = /** @type {any} */ ({}), other = /** @type {any} */ ({}), of = values("park.thread");
		// The values of columns in the same streams.
		const streamsOf = (names, limit, streamOf) => {
			const place = streamsPlace(of.length, limit, streamOf);
			const joined = names.map((name) => raw(name).type === "zero" ? values(name) : streamsJoin(columnTake(raw(name)), place));
			release(place);
			return joined;
		};
		for (const name of ["length", "reason"])
			park[name] = numberArray(raw(`park.${name}`).n, raw(`park.${name}`).max);
		for (const name of ["park", "start", "length", "reason", "wake"])
			other[name] = values(`other.${name}`);
		const packed = {after: values("iv.after"), state: values("iv.state"), durationAfter: values("iv.duration_after"),
			duration: values("iv.duration"), bytes: values("iv.duration_byte"), low: {bytes: values("iv.duration_low"), at: 0, value: 0, n: 0}};
		const refer = {parks: numbers("iv.park"), procs: numbers("iv.proc"), merged: numbers("iv.merged")}, atEnd = values("park.woken_at_end");
		const isNone = (name) => raw(name).type === "zero" || raw(name).n === 0;
		const areCounted = isNone("iv.park") && isNone("iv.proc") && raw("iv.merged").n === 0;
		const states = statesMake(values("iv.count"), packed, refer, park, atEnd, other, areCounted), {waits} = states;
		release(packed.state, packed.duration, packed.bytes, packed.low.bytes, ...Object.values(refer).map(({bytes}) => bytes), ...Object.values(other));
		const {reason} = park, stacks = raw("park.stack").max + 1, isFew = stacks <= STREAMS_MAX / STREAM_REASONS;
		const stack = park.stack = streamsOf(["park.stack"], STREAM_REASONS, (i) => reason[i])[0];
		streamsOf(BY_STACK, isFew ? stacks * STREAM_REASONS : stacks, isFew ? (i) => stack[i] * STREAM_REASONS + reason[i] : (i) => stack[i])
			.forEach((column, k) => { park[BY_STACK[k].slice(5)] = column; });
		for (const name of [...kept.keys()].filter((column) => !isAnnotation(column)))
			kept.delete(name);
		tell({kind: "parks", near: waits.near, base: waits.base, atEnd, other: waits.other, reasons: valuesCount(reason, 256),
			areSmall: raw("park.length").max < 2147483648, ...parksByThread(of, waits, threads)},
		[waits.near, waits.base, atEnd, ...Object.values(waits.other)].map(({buffer}) => buffer));
		for (const [name, array] of Object.entries({...park, thread: of}))
			sendColumn(`park.${name}`, array);
		const {s, v, refs, bounds} = states, [lane] = lanesMake({s, e: null, v}, bounds, isLock), nodes = lane ? lane.nodes : {};
		const message = {kind: "states", s, v, refs, bounds, nodes};
		tell(message, buffersIn(message));
		annotationsSend(entries, threads);
	}
	return (message) => {
		const failed = (/** @type {unknown} */ error) => tell({kind: "failed", text: error instanceof Error ? error.message : String(error)}, []);
		try {
			if (message.kind === "column")
				take(message);
			else
				end(message).catch(failed);
		} catch (error) {
			failed(error);
		}
	};
}
