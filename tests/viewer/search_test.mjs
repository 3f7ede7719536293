// search_test.mjs - run by modules.sh: what a search finds is what plain loops over all rows find.

import assert from "node:assert/strict";
import {test} from "node:test";
import "./page_stub.mjs";
import {hiddenText, threadKey} from "../../viewer/assets/arrange.js";
import {counterTimes} from "../../viewer/assets/counters.js";
import {column, columnsByName, head, text, texts} from "../../viewer/assets/data.js";
import {parkWake, parksOfUnlock, parksWokenBy, setsLoad, trace} from "../../viewer/assets/rows.js";
import {searchHeadings, searchRun, timeAsked} from "../../viewer/assets/search.js";
import {waitsMake, waitsOther} from "../../viewer/assets/states.js";
import {tracks} from "../../viewer/assets/tracks.js";

let state = 4711;

function random(below) {
	state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
	return Math.floor(state / 4294967296 * below);
}

const strings = ["", "settings_lock", "journal", "Worker", "idle", "GET /settings", "flush", "settings.c", "main.c", "reload", "acme", "tenant",
	"SIGUSR1", "slow", "parse", "reply", "fd of settings"];
const idOf = (string) => strings.indexOf(string);
const anyOf = (...strings) => idOf(strings[random(strings.length)]);
const list = (n, value) => Uint32Array.from({length: n}, (_, i) => value(i));
const rising = (n) => Float64Array.from({length: n}, () => random(1e6)).sort();

function waitsAt(starts) {
	const waits = waitsMake({s: null, v: [], refs: null}, new Uint32Array(starts.length), []);

	waitsOther(waits, new Map(Array.from(starts, (start, i) => [i, {start, wake: random(3) ? 1 + 2 * random(1000) : 0}])));
	return waits;
}

const N = 500, THREADS = 6, STACKS = 8, OBJECTS = 5, FIBERS = 7;

function rowsMake() {
	Object.assign(texts, {cache: strings, offset: {length: strings.length + 1}});
	head.reasons = [null, ["mutex"], ["cond"], ["child"], ["read"]];
	const names = ["main", "Worker 1", "worker 2", "settings", "idle", "other"];
	trace.threads = names.map((name, idx) => ({idx, tid: 1000 + idx, serial: idx + 1, firstSeen: 10 * idx, idle: false, name, label: name}));
	const columns = {"object.low": list(OBJECTS, (i) => 0xcafe0000 + 16 * i), "object.high": list(OBJECTS, () => 0x7f),
		"object.name": list(OBJECTS, (i) => i === 0 ? idOf("settings_lock") : i === 1 ? idOf("journal") : 0), "object.offset": list(OBJECTS, (i) => 8 * i)};
	for (const [name, values] of Object.entries(columns))
		columnsByName.set(name, values);
	trace.frame = {n: 4, function: list(4, (i) => idOf(["reload", "flush", "parse", "reply"][i])), file: list(4, (i) => idOf(i < 2 ? "settings.c" : "main.c")),
		line: list(4, (i) => 10 + i)};
	trace.stack = {n: STACKS, skip: list(STACKS, () => 0)};
	trace.stackFirst = list(STACKS + 1, (i) => i ? 2 * (i - 1) : 0);
	trace.stackFrames = list(2 * STACKS, () => 1 + random(4));
	trace.label = {n: 3, set: list(3, (i) => i + 1), key: list(3, () => idOf("tenant")), value: list(3, (i) => idOf(["acme", "slow", "idle"][i]))};
	setsLoad();
	trace.task = {n: N, type: list(N, () => anyOf("GET /settings", "flush")), low: list(N, (i) => 100 + i), high: list(N, () => 0), start: rising(N),
		length: list(N, () => random(1000))};
	trace.region = {n: N, type: list(N, () => anyOf("parse", "reply", "reload")), start: rising(N), length: list(N, () => random(1000)), thread: list(N, () => 1 + random(THREADS))};
	trace.log = {n: N, message: list(N, () => anyOf("reload", "slow")), category: list(N, () => anyOf("", "settings.c")), time: rising(N), thread: list(N, () => 1 + random(THREADS))};
	trace.counter = {n: N, name: list(N, () => anyOf("journal", "slow", "settings.c")), time: rising(N)};
	trace.under = {n: N, set: list(N, () => random(4)), start: rising(N), length: list(N, () => random(1000)), thread: list(N, () => 1 + random(THREADS))};
	trace.mark = {n: 20, kind: list(20, () => 1 + random(3)), text: list(20, () => anyOf("SIGUSR1", "slow")), stack: list(20, () => random(STACKS)), time: rising(20)};
	trace.park = {n: N, when: waitsAt(rising(N)), length: list(N, () => random(1000)), reason: list(N, () => 1 + random(4)), object: list(N, () => random(OBJECTS + 1)),
		descriptor: list(N, () => random(8) ? 0 : idOf("fd of settings")), stack: list(N, () => random(STACKS)), thread: list(N, () => 1 + random(THREADS)), unlock: list(N, () => random(40)), waker: list(N, () => random(THREADS + 1))};
	trace.parksInOrder = false;
	trace.fwait = {n: N, stack: list(N, () => random(STACKS)), start: rising(N), length: list(N, () => random(1000))};
	trace.unlock = {n: N, object: list(N, () => random(OBJECTS + 1)), stack: list(N, () => random(STACKS)), time: rising(N), caused_ns: list(N, () => random(1000))};
	trace.sample = {n: N, stack: list(N, () => random(STACKS)), time: rising(N)};
	trace.fiber = {n: FIBERS, low: list(FIBERS, (i) => 12 + i), high: list(FIBERS, () => 0), name: list(FIBERS, () => anyOf("", "parse", "slow")), alike: new Map()};
	trace.frun = {n: 0, first: new Uint32Array(FIBERS + 2), at: [], order: []};
}

rowsMake();

const has = (id, query) => id > 0 && text(id).toLowerCase().includes(query);
const isHex = (query) => /^(0x)?[0-9a-f]+$/.test(query) && query.length > 3;
const stackHas = (s, query) => Array.from(trace.stackFrames.slice(trace.stackFirst[s], trace.stackFirst[s + 1])).some((frame) => {
	const {function: f, file, line} = trace.frame, j = frame - 1;
	return has(f[j], query) || has(file[j], query) || `${text(file[j])}:${line[j]}`.toLowerCase().includes(query);
});
const addressOf = (o) => `0x${(BigInt(column("object.high")[o - 1]) << 32n | BigInt(column("object.low")[o - 1])).toString(16)}`;
const objectHas = (o, query) => o > 0 && (has(column("object.name")[o - 1], query) || isHex(query) && addressOf(o).includes(query));
const all = (n) => Array.from({length: n}, (_, i) => i);

// Rows + 1 by kind, by plain loops.
function plainly(query) {
	const {task, region, log, counter, under, mark, park, fwait, unlock, sample, fiber} = trace;
	const ids = {
		thread: all(THREADS).filter((t) => trace.threads[t].name.toLowerCase().includes(query) || String(1000 + t) === query),
		fiber: all(FIBERS).filter((f) => has(fiber.name[f], query) || query === String(12 + f) || query === `fiber:${12 + f}`),
		task: all(N).filter((i) => has(task.type[i], query) || query === String(100 + i)),
		region: all(N).filter((i) => has(region.type[i], query)),
		log: all(N).filter((i) => has(log.message[i], query) || has(log.category[i], query)),
		counter: all(N).filter((i) => has(counter.name[i], query)),
		labels: all(N).filter((i) => under.set[i] && `tenant=${["acme", "slow", "idle"][under.set[i] - 1]}`.includes(query)),
		mark: all(20).filter((i) => has(mark.text[i], query) || stackHas(mark.stack[i], query)),
		park: all(N).filter((i) => has(park.descriptor[i], query) || objectHas(park.object[i], query) || stackHas(park.stack[i], query) ||
			head.reasons[park.reason[i]][0].includes(query)),
		fiberwait: all(N).filter((i) => stackHas(fwait.stack[i], query)),
		unlock: all(N).filter((i) => objectHas(unlock.object[i], query) || stackHas(unlock.stack[i], query)),
		sample: all(N).filter((i) => stackHas(sample.stack[i], query)),
	};

	return Object.fromEntries(Object.entries(ids).map(([kind, rows]) => [kind, rows.map((i) => i + 1)]).filter(([, rows]) => rows.length));
}

// The same of a search; how many there are by kind, and those of sources that are lists.
function counted(found) {
	const n = {};

	for (const source of found.matches.sources)
		if (source.n)
			n[source.kind] = (n[source.kind] || 0) + source.n;
	return n;
}

const queries = ["settings", "worker", "reload", "parse", "slow", "main.c:12", "settings.c", "acme", "tenant=", "mutex", "child", "1003", "117", "fiber:14",
	"14", "sigusr1", "e", "0xcafe0010", "7fcafe0020", "cafe", "fd of", "nothing like this"];

test("a search finds what loops over all rows find, of each kind", () => {
	for (const query of queries) {
		const plain = plainly(query), found = searchRun(query);
		assert.deepEqual(counted(found), Object.fromEntries(Object.entries(plain).map(([kind, rows]) => [kind, rows.length])), query);
		assert.equal(found.matches.n, Object.values(plain).reduce((sum, rows) => sum + rows.length, 0), query);
	}
});

test("each match is in a group; a row under several labels in more than one", () => {
	for (const query of queries) {
		const found = searchRun(query);
		const sum = found.groups.reduce((n, {count}) => n + count, 0);
		assert.equal(sum, found.matches.n, query);
		assert.equal(new Set(found.groups.map(({kind, name}) => `${kind}\n${name}`)).size, found.groups.length, query);
	}
});

test("what is chosen of the list has its matches, and no others; the list stays", () => {
	const list = (groups) => groups.map(({kind, name, count}) => [kind, name, count]);

	for (const query of queries) {
		const {groups} = searchRun(query), headings = new Map();
		for (const {kind, name, count} of groups) {
			const found = searchRun(query, {kind, name}), group = found.groups.find((each) => each.kind === kind && each.name === name);
			assert.equal(found.matches.n, count, `${query}: ${kind} ${name}`);
			assert.deepEqual(list(found.groups), list(groups), `${query}: ${kind} ${name}`);
			assert.ok(group.row >= 0 && group.row < found.matches.sources[group.source].rows.n, `${query}: the longest ${kind} ${name}`);
			headings.set(searchHeadings[kind], (headings.get(searchHeadings[kind]) || 0) + count);
		}
		for (const [name, count] of headings)
			assert.equal(searchRun(query, {name}).matches.n, name === "Labels" ? searchRun(query).matches.sources.find(({kind}) => kind === "labels").n : count,
				`${query}: ${name}`);
	}
});

test("groups are named for what was found", () => {
	const named = (query) => new Set(searchRun(query).groups.map(({kind, name}) => `${kind}: ${name}`));

	assert.ok(named("0xcafe0010").size === 0, "an address is looked for by all of its digits");
	assert.ok(named("7fcafe0010").has("wait for: journal+8 (0x7fcafe0010)"));
	assert.ok(named("7fcafe0010").has("unlock of: journal+8 (0x7fcafe0010)"));
	assert.ok(named("worker").has("thread: Worker 1") && named("worker").has("thread: worker 2"));
	assert.ok(named("117").has("task: GET /settings") || named("117").has("task: flush"));
	assert.ok(named("tenant=acme").has("label: tenant=acme"));
});

test("hidden threads are searched, too, and told as hidden", () => {
	const before = counted(searchRun("worker"));

	tracks.hidden = new Set([threadKey(trace.threads[1])]);
	assert.deepEqual(counted(searchRun("worker")), before);
	assert.match(hiddenText({kind: "thread", id: 2}), /^Its thread is hidden/);
	assert.equal(hiddenText({kind: "thread", id: 3}), "");
	tracks.hidden = new Set();
});

test("what an unlock ended, and what a thread ended in a time, is what loops over all waits find: of many the first", () => {
	const {unlock, waker} = trace.park, byWake = (rows) => rows.map((i) => i + 1).toSorted((a, b) => parkWake(a) - parkWake(b));
	const wanted = (rows, most) => ({list: byWake(rows).slice(0, most), n: rows.length});

	for (const most of [3, 20]) {
		for (let id = 1; id <= 41; id++)
			assert.deepEqual(parksOfUnlock(id, most), wanted(all(N).filter((i) => unlock[i] === id), most), `unlock ${id}`);
		for (let t = 0; t < THREADS; t++) {
			const from = random(5e5), until = from + random(5e5);
			const rows = all(N).filter((i) => waker[i] === t + 1 && parkWake(i + 1) >= from && parkWake(i + 1) <= until);
			assert.deepEqual(parksWokenBy(t, from, until, most), wanted(rows, most), `thread ${t} from ${from} until ${until}`);
		}
	}
});

test("times that are asked for", () => {
	for (const [query, time] of [["@1.25s", 1.25e9], ["@ 3ms", 3e6], ["@7µs", 7000], ["@7us", 7000], ["@9ns", 9], ["@2", 2e9], ["@", -1], ["1s", -1], ["@1h", -1]])
		assert.equal(timeAsked(query), time, query);
});

test("how long a counter was each of its values is told of a few values only, and of many nothing is walked through", () => {
	let reads = 0;
	const counting = (values) => new Proxy(values, {get: (all, key) => {
		reads++;
		return all[key];
	}});
	trace.span = 100000;
	const at = list(100000, (i) => i), few = {at, value: at.map((i) => i % 5)}, many = {at, value: counting(at)};
	assert.deepEqual(counterTimes(few, 10, 60000, 48).map(([value, ns]) => [value, ns]), [4, 3, 2, 1, 0].map((value) => [value, 11998]));
	assert.deepEqual(counterTimes({at: [0, 5, 5, 7], value: [1, 9, 1, 3]}, 0, 100000, 3), [[3, 99993, 3], [1, 7, 0]]);
	assert.deepEqual(counterTimes(many, 0, 100000, 48), []);
	assert.ok(reads < 1000, `${reads} reads`);
});
