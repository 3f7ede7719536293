// search.js - finds threads, fibers, functions, files, locks and other objects, regions, tasks, logs, counters,
// labels and signals by a part of their name; a label is `key=value`, a fiber also its number or
// `fiber:12`.  `@1.25s` is a time: what each thread did then.

import {hiddenText, selectionTrack} from "./arrange.js";
import {counterName} from "./counters.js";
import {column, head, text, textCount} from "./data.js";
import {drawMoved} from "./draw.js";
import {fiberLabel, fiberNumber, fiberSpan} from "./fibers.js";
import {flame} from "./flame.js";
import {baseName, byId, count, duration, el, plural} from "./format.js";
import {keysMake, matchBeside, matchParts, matchSelection, matchesBefore, placeOfRow, setMake,
	sourceMake, sourceOfList, timedRows} from "./matches.js";
import {map} from "./minimap.js";
import {listAdd} from "./now.js";
import {MARK_TRIGGER, labelText, objectName, objectOf, reasonName, setRange,
	trace} from "./rows.js";
import {scrollToTrack, select, selectionAt, selectionThread} from "./select.js";
import {waitStarts} from "./states.js";
import {chosenState} from "./steps.js";
import {tracks} from "./tracks.js";
import {view} from "./view.js";

const NAMES_SHOWN = 8; // of each kind at first

// What names are of, in the order of the list: kind of a group -> its heading.
export const searchHeadings = {
	thread: "Threads", then: "What threads did then", fiber: "Fibers", task: "Tasks", region: "Regions", "wait for": "Locks, files, reasons of waits",
	"unlock of": "Locks, files, reasons of waits", "wait in": "Functions", "fiber in": "Functions", "unlock in": "Functions", "sample in": "Functions",
	log: "Logs", counter: "Counters", label: "Labels", signal: "Signals and conditions", condition: "Signals and conditions", "flame graph": "Flame graph",
};

// at: which match is selected, in order of time, and its place; -1 = none.  only: what was chosen of the list: a heading, or a group's kind and
// name; null = all.  unfolded: headings of which all names are listed.
export const search = {query: "", groups: [], matches: setMake([]), at: -1, place: null, timer: 0, active: -1, only: null, unfolded: new Set(), typed: false}; // typed: what was typed since has not been searched for yet

// Whether a group is what was chosen of the list.
/** @param {SearchGroup} group @param {SearchOnly | null} only */
function isOfOnly(group, only) {
	return !only || (only.kind === undefined ? searchHeadings[group.kind] === only.name : group.kind === only.kind && group.name === only.name);
}

// A list of matches that is yet to be made: what they are (a number in `kinds`), their row + 1, and when they are.
export function matchesMake() {
	return {n: 0, kinds: [], kind: [], id: [], time: []};
}

/** @param {number} kind @param {number} id @param {number} group @param {number} time */
export function matchesAdd(m, kind, id, group, time) {
	m.kind.push(kind);
	m.id.push(id);
	m.time.push(time);
	m.n++;
}

function setOfList(m) {
	return setMake(m.kinds.map((kind, number) => {
		const ids = m.id.filter((_, i) => m.kind[i] === number), time = m.time.filter((_, i) => m.kind[i] === number);
		return sourceOfList(kind, ids, time);
	}));
}

// ---- the tables that are searched: when their rows are, and what they are called; made when they are first needed ----

const indexed = {};

/** @param {string} kind */
function indexOf(kind) {
	indexed[kind] ||= searchTables[kind]();
	return indexed[kind];
}

/** @param {{n: number}} rows @param {Numbers} time @param {Numbers[]} columns @param {Numbers} [length] */
function indexMake(rows, time, columns, length) {
	return {rows: timedRows(time, rows.n), keys: keysMake(rows.n, columns, length), length};
}

const searchTables = {
	task: () => indexMake(trace.task, trace.task.start, [trace.task.type], trace.task.length),
	region: () => indexMake(trace.region, trace.region.start, [trace.region.type], trace.region.length),
	log: () => indexMake(trace.log, trace.log.time, [trace.log.message, trace.log.category]),
	counter: () => indexMake(trace.counter, trace.counter.time, [trace.counter.name]),
	labels: () => indexMake(trace.under, trace.under.start, [trace.under.set], trace.under.length),
	mark: () => indexMake(trace.mark, trace.mark.time, [trace.mark.kind, trace.mark.text, trace.mark.stack]),
	park: () => {
		const p = trace.park;
		const rows = trace.parksInOrder ? {n: p.n, time: p.when, runs: [0, ...trace.parkFirst], order: null} : timedRows(waitStarts(p.when), p.n);
		return {rows, keys: keysMake(p.n, [p.descriptor, p.object, p.stack, p.reason], p.length), length: p.length};
	},
	fiberwait: () => indexMake(trace.fwait, trace.fwait.start, [trace.fwait.stack], trace.fwait.length),
	unlock: () => indexMake(trace.unlock, trace.unlock.time, [trace.unlock.object, trace.unlock.stack], trace.unlock.caused_ns),
	sample: () => indexMake(trace.sample, trace.sample.time, [trace.sample.stack]),
};

// The ids of all strings that contain the query.
/** @param {string} query */
function textsContaining(query) {
	const found = new Uint8Array(textCount());

	for (let id = 1; id < found.length; id++)
		if (text(id).toLowerCase().includes(query))
			found[id] = 1;
	return found;
}

// Stacks with a frame whose function, file or "file:line" matches; by name of the frame.
/** @param {string} query */
function stacksMatching(query, texts) {
	const frames = new Uint8Array(trace.frame.n + 1), stacks = new Uint8Array(trace.stack.n);
	const names = new Map(); // frame -> name

	for (let j = 0; j < trace.frame.n; j++) {
		const f = trace.frame;
		const name = f.function[j] ? text(f.function[j]) : "";
		const place = f.file[j] ? `${baseName(text(f.file[j]))}:${f.line[j]}` : "";
		if (texts[f.function[j]] || texts[f.file[j]] || place.toLowerCase().includes(query)) {
			frames[j + 1] = 1;
			names.set(j + 1, texts[f.function[j]] ? name : place || name);
		}
	}
	const stackName = new Map();
	if (names.size)
		for (let s = 0; s < trace.stack.n; s++)
			for (let i = trace.stackFirst[s]; i < trace.stackFirst[s + 1]; i++)
				if (frames[trace.stackFrames[i]]) {
					stacks[s] = 1;
					stackName.set(s, names.get(trace.stackFrames[i]));
					break;
				}
	return {stacks, stackName};
}

// By row of trace.label: whether it matches; null if none does.
/** @param {string} query */
export function labelsMatching(query) {
	const found = new Uint8Array(trace.label.n);
	let any = false;

	for (let l = 0; l < found.length; l++)
		if (labelText(l).toLowerCase().includes(query)) {
			found[l] = 1;
			any = true;
		}
	return any ? found : null;
}

// Matches of one kind and name are a group.  of(kind, nameOf) makes a function from a number, such as that of a stack, to the
// group; nameOf() is called once for each number.
function groupsMake() {
	const groups = [], byName = new Map();

	function named(kind, name) {
		const key = `${kind}\n${name}`;
		if (!byName.has(key)) {
			byName.set(key, {kind, name, count: 0, source: -1, row: -1, length: -1}); // row: of the longest
			groups.push(byName.get(key));
		}
		return byName.get(key);
	}
	const of = (kind, nameOf) => {
		const known = new Map();
		return (key) => {
			if (!known.has(key))
				known.set(key, named(kind, nameOf(key)));
			return known.get(key);
		};
	};
	return {groups, of};
}

function groupAdd(group, n, source, row, length) {
	group.count += n;
	if (length > group.length || (length === group.length && source === group.source && row < group.row))
		Object.assign(group, {source, row, length});
}

// Collects sources.  table(): rows of a table, all those of a key that has groups: groupsOf(row) of its first row.  list(): some
// rows by themselves.  Groups count all; of rows only those are in the sources that are of `only`.
/** @param {SearchOnly | null} only */
function matchSourcesMake(only) {
	const sources = [];

	function table(kind, groupsOf) {
		const {rows, keys, length} = indexOf(kind), wanted = new Uint8Array(keys.counts.length);
		for (let key = 0; key < wanted.length; key++) {
			const found = keys.counts[key] ? groupsOf(keys.first[key]) : null;
			for (const group of found || [])
				groupAdd(group, keys.counts[key], sources.length, keys.longest[key], length ? length[keys.longest[key]] : 0);
			wanted[key] = Number(Boolean(found && found.some((group) => isOfOnly(group, only))));
		}
		sources.push(sourceMake(kind, rows, {keys, wanted}));
	}
	// [row + 1, time, group, length]
	function list(kind, rows) {
		const own = rows.filter(([, , group]) => isOfOnly(group, only)), source = sourceOfList(kind, own.map(([id]) => id), own.map(([, time]) => time));
		const at = new Map(Array.from(source.ids, (id, i) => [id, i]));
		for (const [id, , group, length = 0] of rows)
			groupAdd(group, 1, sources.length, at.get(id) ?? -1, length);
		sources.push(source);
	}
	return {sources, table, list};
}

// The time that a query asks for; -1 = none.  A number without a unit is of seconds.
export function timeAsked(query) {
	const [, number, unit] = /^@\s*(\d+(?:\.\d+)?)\s*(s|ms|µs|us|ns)?$/.exec(query) || [];

	return number === undefined ? -1 : Math.round(Number(number) * {s: 1e9, ms: 1e6, "µs": 1e3, us: 1e3, ns: 1}[unit || "s"]);
}

// What each shown thread did at a time, that of the selected thread first.
/** @param {number} time @param {SearchOnly | null} [only] */
function searchTime(time, only = null) {
	const {groups, of} = groupsMake(), found = matchSourcesMake(only), byKind = new Map();
	const own = view.selection ? selectionThread(view.selection) : -1, group = of("then", (idx) => trace.threads[idx].label);
	const shown = tracks.all.filter((track) => track.kind === "thread").map((track) => track.thread.idx);

	for (const idx of time < trace.begin || time > trace.span ? [] : shown.sort((a, b) => Number(b === own) - Number(a === own))) {
		const {lane} = trace.threads[idx], sel = lane.hi > lane.lo ? selectionAt(idx, time) : null;
		if (sel && (sel.kind !== "iv" || trace.states.v[sel.id - 1] & 127))
			listAdd(byKind, sel.kind, [sel.id, time, Object.assign(group(idx), {did: chosenState(sel)})]);
	}
	for (const [kind, rows] of byKind)
		found.list(kind, rows);
	return {groups, matches: setMake(found.sources)};
}

// All groups of matches, and the matches.
/** @param {string} query @param {SearchOnly | null} [only] */
export function searchRun(query, only = null) {
	const {groups, of} = groupsMake(), found = matchSourcesMake(only), texts = textsContaining(query);
	const {stacks, stackName} = stacksMatching(query, texts);
	const reasons = head.reasons.map((r) => Boolean(r) && r[0].includes(query));
	const objects = new Uint8Array(column("object.low").length + 1);
	const textGroup = (kind) => of(kind, text), stackGroup = (kind) => of(kind, (s) => stackName.get(s));
	const address = /^(0x)?[0-9a-f]+$/.test(query) && query.length > 3;

	for (let o = 1; o < objects.length; o++)
		objects[o] = texts[column("object.name")[o - 1]] || Number(address && objectName(o).includes(query));
	const threadGroup = of("thread", (t) => trace.threads[t].label);
	found.list("thread", trace.threads.filter((t) => t.label.toLowerCase().includes(query) || String(t.tid) === query)
		.map((t) => [t.idx + 1, t.firstSeen, threadGroup(t.idx)]));
	searchFibers(query, texts, of("fiber", fiberLabel), found);
	searchTasks(query, texts, textGroup("task"), found);
	const g = trace.region, regionGroup = textGroup("region");
	found.table("region", (i) => texts[g.type[i]] && [regionGroup(g.type[i])]);
	const l = trace.log, logGroup = textGroup("log");
	found.table("log", (i) => (texts[l.message[i]] || texts[l.category[i]]) && [logGroup(l.message[i])]);
	const c = trace.counter, counterGroup = of("counter", (name) => counterName(text(name)).name);
	found.table("counter", (i) => texts[c.name[i]] && [counterGroup(c.name[i])]);
	const named = labelsMatching(query), labelGroup = of("label", labelText);
	const labelsOf = ([j, last]) => Array.from({length: last - j}, (_, k) => j + k).filter((k) => named[k]);
	if (named)
		found.table("labels", (i) => labelsOf(setRange(trace.under.set[i])).map(labelGroup));
	const m = trace.mark, signals = textGroup("signal"), conditions = textGroup("condition");
	found.table("mark", (i) => (texts[m.text[i]] || stacks[m.stack[i]]) &&
		[(m.kind[i] === MARK_TRIGGER ? conditions : signals)(m.text[i])]);
	searchWaits({texts, objects, stacks, reasons}, {found, of, stackGroup});
	const s = trace.sample, sampleGroup = stackGroup("sample in");
	found.table("sample", (i) => stacks[s.stack[i]] && [sampleGroup(s.stack[i])]);
	return {groups, matches: setMake(found.sources)};
}

/** @param {string} query */
function searchFibers(query, texts, group, found) {
	const number = /^(?:fiber:)?(\d+)$/.exec(query), rows = [];

	for (let f = 1; f <= trace.fiber.n; f++)
		if (texts[trace.fiber.name[f - 1]] || (number && fiberNumber(f) === number[1])) {
			const span = fiberSpan(f) || {from: 0, until: 0};
			rows.push([f, span.from, group(f), span.until - span.from]);
		}
	found.list("fiber", rows);
}

// By type; one also by its number.
/** @param {string} query */
function searchTasks(query, texts, group, found) {
	const k = trace.task, number = /^\d+$/.test(query) ? Number(query) : NaN, rows = [];

	found.table("task", (i) => texts[k.type[i]] && [group(k.type[i])]);
	for (let i = 0; i < k.n && number >= 0; i++)
		if (k.low[i] + k.high[i] * 4294967296 === number && !texts[k.type[i]])
			rows.push([i + 1, k.start[i], group(k.type[i]), k.length[i]]);
	found.list("task", rows);
}

// Waits, those of fibers, and unlocks: by their objects and descriptors, their stacks, the reasons of waits.
function searchWaits({texts, objects, stacks, reasons}, {found, of, stackGroup}) {
	const p = trace.park, parkIn = stackGroup("wait in");
	const parkFor = of("wait for", reasonName), parkFrom = of("wait for", text);
	const parkOf = of("wait for", objectName), childOf = of("wait for", (o) => objectOf("child", o));
	const child = head.reasons.findIndex((r) => r && r[0] === "child");
	const f = trace.fwait, fiberIn = stackGroup("fiber in");
	const u = trace.unlock, unlockIn = stackGroup("unlock in"), unlockOf = of("unlock of", objectName);

	found.table("park", (i) => {
		if (texts[p.descriptor[i]])
			return [parkFrom(p.descriptor[i])];
		if (objects[p.object[i]])
			return [(p.reason[i] === child ? childOf : parkOf)(p.object[i])];
		if (stacks[p.stack[i]])
			return [parkIn(p.stack[i])];
		return reasons[p.reason[i]] && [parkFor(p.reason[i])];
	});
	found.table("fiberwait", (i) => stacks[f.stack[i]] && [fiberIn(f.stack[i])]);
	found.table("unlock", (i) => objects[u.object[i]] ? [unlockOf(u.object[i])]
		: stacks[u.stack[i]] && [unlockIn(u.stack[i])]);
}

// Where the overview has a tick for matches: one a pixel at most.
function ticksMake(matches) {
	const parts = new Uint8Array(2000);

	for (const source of matches.sources)
		if (source.kind !== "thread")
			matchParts(source, trace.begin, trace.span, parts);
	map.ticks = matches.n ? [...parts.keys()].filter((x) => parts[x]).map((x) => x / parts.length) : null;
}

/** @param {string} string @param {SearchOnly | null} [only] */
export function searchSet(string, only = null) {
	const query = string.trim().toLowerCase(), time = timeAsked(query);
	const {groups, matches} = time >= 0 ? searchTime(time, only) : query ? searchRun(query, only) : {groups: [], matches: setMake([])};

	if (query !== search.query)
		search.unfolded.clear();
	search.typed = false;
	Object.assign(search, {query, only, groups, matches, at: -1, place: null, active: -1});
	flame.lit = null;
	ticksMake(matches);
	searchDraw();
	drawMoved();
}

// Matches that somebody else found: of one group, to be walked through like those of a query.
/** @param {string} name */
export function searchShow(list, name) {
	const matches = setOfList(list);
	const group = {kind: "flame graph", name, count: matches.n, source: 0, row: 0, length: 0};

	Object.assign(search, {query: name, only: null, groups: matches.n ? [group] : [], matches, at: -1, place: null, active: -1});
	clearTimeout(search.timer);
	search.typed = false;
	byId("search").value = "";
	ticksMake(matches);
	searchDraw();
	resultsShow(false);
	drawMoved();
}

// ---- the list: names by what they are of ----

// The list is shown or not; the field says which.
/** @param {boolean} isShown */
export function resultsShow(isShown) {
	byId("results").hidden = !isShown;
	byId("search").setAttribute("aria-expanded", String(isShown));
}

// What can be chosen, in the order of the list: {heading, groups, n: matches, more: names that are not listed} or {group}.
/** @returns {SearchOption[]} */
function searchOptions() {
	const byHeading = new Map([...new Set(Object.values(searchHeadings))].map((heading) => [heading, []]));
	const options = [];

	for (const group of search.groups)
		byHeading.get(searchHeadings[group.kind]).push(group);
	for (const [heading, groups] of byHeading) {
		const shown = search.unfolded.has(heading) ? groups.length : Math.min(groups.length, NAMES_SHOWN), more = groups.length - shown;
		if (!groups.length)
			continue;
		groups.sort((a, b) => b.count - a.count);
		options.push({heading, groups, n: groups.reduce((n, group) => n + group.count, 0)});
		options.push(...groups.slice(0, shown).map((group) => ({heading, group})));
		if (more)
			options.push({heading, more});
	}
	return options;
}

// Chooses what can be chosen.
/** @param {SearchOption} option */
function optionGo({heading, group, more}) {
	if (more) {
		search.unfolded.add(heading);
		searchDraw();
	} else {
		searchNarrow(group ? {kind: group.kind, name: group.name} : {name: heading});
	}
}

// Only what was chosen is walked through from now on.  Nothing is selected by that, unless there is one match only.  The list is of the query
// that was searched for: what was typed since waits for Enter.
/** @param {SearchOnly} only */
function searchNarrow(only) {
	clearTimeout(search.timer);
	if (search.groups.length && search.groups[0].kind !== "flame graph")
		searchSet(search.query, only);
	if (search.matches.n === 1)
		searchStep(1);
	resultsShow(false);
}

// The longest of a name, which was asked for.
/** @param {SearchGroup} group */
function longestGo({kind, name}) {
	searchNarrow({kind, name});
	const group = search.groups.find((each) => isOfOnly(each, {kind, name}));
	if (!group)
		return;
	const place = placeOfRow(search.matches, group.source, group.row);
	matchGo(place, matchesBefore(search.matches, place));
	resultsShow(false);
}

/** @param {SearchGroup} group */
function optionText(group) {
	if (group.did)
		return [el("span", {class: "kind"}, group.kind), el("span", {class: "what", title: `${group.name}: ${group.did}`}, `${group.name}: ${group.did}`)];
	return [el("span", {class: "kind"}, group.kind), el("span", {class: "what", title: group.name}, group.name), el("span", {class: "dim"}, `×${count(group.count)}`)];
}

/** @param {SearchOption} option @param {number} i */
function optionView(option, i) {
	const {heading, groups, n, group, more} = option;
	const words = groups ? [el("b", {class: "what"}, heading), el("span", {class: "dim"}, `${plural(groups.length, "name")} ×${count(n)}`)]
		: group ? optionText(group) : [el("span", {class: "dim"}, `and ${plural(more, "more name")}`)];
	const {kind, name} = search.only || {}, chosen = group ? kind === group.kind && name === group.name : groups && kind === undefined && name === heading;
	const go = el("button", {type: "button", tabindex: "-1", class: "go", onclick: () => optionGo(option),
		title: groups ? `Only these: ‹ and › step through the matches in ${heading}` : undefined}, ...words);
	const longest = group && group.count > 1 && group.length > 0 ? el("button", {type: "button", tabindex: "-1", class: "longest",
		title: `Show the longest: ${duration(group.length)} (Shift+Enter)`, onclick: () => longestGo(group)}, "longest") : null;

	return el("div", {id: `result-${i}`, role: "option", "aria-selected": String(i === search.active),
		class: [groups ? "heading" : "", i === search.active ? "active" : "", chosen ? "chosen" : ""].join(" ")}, go, longest);
}

function onlyText() {
	const {only} = search;

	return only ? `, only ${only.kind ? `${only.kind} ` : ""}${only.name}` : "";
}

function searchDraw() {
	const status = byId("search-count"), box = byId("results"), input = byId("search");
	const {n} = search.matches, options = searchOptions();

	status.textContent = !search.query ? "" : search.at >= 0
		? `${count(search.at + 1)} of ${count(n)}${onlyText()}${hiddenText(view.selection) && (selectionTrack(view.selection) ? ", in a hidden track" : ", of a hidden thread")}` : n ? (n < 10000 ? plural(n, "match", "matches") : count(n)) + onlyText() : "nothing found";
	status.title = status.textContent;
	/** @type {HTMLElement[]} */
	const rows = options.map(optionView);
	if (search.only)
		rows.unshift(el("p", {class: "only"}, `Only ${search.only.name} `, el("button", {type: "button", onclick: () => {
			searchSet(input.value);
			input.focus();
		}}, "All matches")));
	box.replaceChildren(...rows);
	box.dataset.query = search.query;
	resultsShow(rows.length > 0 && document.activeElement === input);
	if (search.active >= 0) {
		input.setAttribute("aria-activedescendant", `result-${search.active}`);
		byId(`result-${search.active}`).scrollIntoView({block: "nearest"});
	} else {
		input.removeAttribute("aria-activedescendant");
	}
}

// Selects the match at a place, the at-th in time.
function matchGo(place, at) {
	const sel = matchSelection(search.matches, place);

	Object.assign(search, {place, at});
	select(sel);
	if (sel.kind === "thread") {
		const track = tracks.byThread[sel.id - 1];
		if (track)
			scrollToTrack(track);
	}
	searchDraw();
}

// The next (1) or previous (-1) match in time; the first one is that at or after the view, or before it.
/** @param {number} step */
function searchStep(step) {
	const set = search.matches, around = {time: -step * Infinity, source: -1, k: -1};

	if (!set.n)
		return;
	const beside = matchBeside(set, search.place || {time: view.t0, source: -1, k: -1}, step);
	const place = beside || matchBeside(set, around, step);
	const at = beside ? (search.place ? search.at + step : matchesBefore(set, place)) : step > 0 ? 0 : set.n - 1;
	matchGo(place, at);
}

// The same by a button or a key: what was typed a moment ago is searched for first.
/** @param {number} step */
export function searchWalk(step) {
	if (search.typed) {
		clearTimeout(search.timer);
		searchSet(byId("search").value);
	}
	searchStep(step);
}

// Enter: what is chosen of the list; else the next match, with Shift the one before.
/** @param {boolean} shift */
function searchEnter(shift) {
	const option = searchOptions()[search.active];

	clearTimeout(search.timer);
	if (byId("search").value.trim().toLowerCase() !== search.query) {
		searchSet(byId("search").value);
		searchStep(shift ? -1 : 1);
	} else if (!option) {
		searchStep(shift ? -1 : 1);
	} else if (shift && option.group && option.group.length > 0) {
		longestGo(option.group);
	} else {
		optionGo(option);
		if (option.more)
			return; // the list stays
	}
	resultsShow(false);
}

function searchKey(event) {
	if (event.key === "Enter") {
		searchEnter(event.shiftKey);
	} else if (event.key === "ArrowDown" || event.key === "ArrowUp") {
		const n = searchOptions().length, down = event.key === "ArrowDown", at = search.active;
		search.active = !n ? -1 : at < 0 ? down ? 0 : n - 1 : (at + (down ? 1 : n - 1)) % n;
		searchDraw();
	} else if (event.key === "Escape") {
		byId("search").value = "";
		searchSet("");
		byId("canvases").focus();
	} else {
		return;
	}
	event.preventDefault();
}

export function searchInit() {
	const input = byId("search");

	input.addEventListener("input", () => {
		clearTimeout(search.timer);
		search.typed = true;
		search.timer = setTimeout(() => searchSet(input.value),
			input.value.trim().length < 2 ? 600 : 150);
	});
	input.addEventListener("keydown", searchKey);
	input.addEventListener("focus", searchDraw);
	input.addEventListener("click", searchDraw); // it may have been chosen of before
	byId("results").addEventListener("mousedown", (event) => event.preventDefault()); // the focus stays in the field, and so the list
	// Where the focus goes on, by Tab or otherwise, the list would stay over what is there.
	byId("searchbox").addEventListener("focusout", (event) => {
		const to = /** @type {Node | null} */ (event.relatedTarget);
		if (to !== input && !byId("results").contains(to))
			resultsShow(false);
	});
	document.addEventListener("pointerdown", (event) => {
		if (!byId("searchbox").contains(/** @type {Node} */ (event.target)))
			resultsShow(false);
	});
	byId("search-next").addEventListener("click", () => searchWalk(1));
	byId("search-prev").addEventListener("click", () => searchWalk(-1));
}
