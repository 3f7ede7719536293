// search.js - finds threads, fibers, functions, files, locks and other objects, regions, tasks, logs,
// labels and signals by a part of their name; a label is `key=value`, a fiber also its number or
// `fiber:12`.

const RESULT_ROWS = 60;

// at: which match is selected, in order of time; -1 = none.
const search = {query: "", groups: [], matches: matchesMake(), at: -1, timer: 0, active: -1};

// Matches: what they are (a number in `kinds`), their row + 1, the group they are in (its index), and
// when they are.  `order` has them by time, from when they are first walked through.
function matchesMake() {
	return {n: 0, kinds: [], kind: new Uint8Array(256), id: new Uint32Array(256), group: new Uint32Array(256),
		time: new Float64Array(256), order: null};
}

function matchesGrow(m) {
	for (const name of ["kind", "id", "group", "time"]) {
		const larger = new m[name].constructor(m.n * 2);
		larger.set(m[name]);
		m[name] = larger;
	}
}

function matchesAdd(m, kind, id, group, time) {
	if (m.n === m.id.length)
		matchesGrow(m);
	m.kind[m.n] = kind;
	m.id[m.n] = id;
	m.group[m.n] = group;
	m.time[m.n++] = time;
}

// The indices of n times, by time; those at the same time stay in their order.  Buckets first, of which each is then put
// in order by itself: most have a few, which are nearly in order.
function orderOf(time, n) {
	const buckets = Math.min(2 ** Math.ceil(Math.log2(n + 2)), 1 << 20), next = new Uint32Array(buckets + 1);
	const bucket = new Uint32Array(n), order = new Uint32Array(n);
	let least = Infinity, most = -Infinity;

	for (let i = 0; i < n; i++) {
		least = time[i] < least ? time[i] : least;
		most = time[i] > most ? time[i] : most;
	}
	const scale = (buckets - 1) / Math.max(most - least, 1);
	for (let i = 0; i < n; i++) {
		bucket[i] = (time[i] - least) * scale;
		next[bucket[i] + 1]++;
	}
	for (let k = 0; k < buckets; k++)
		next[k + 1] += next[k];
	for (let i = 0; i < n; i++)
		order[next[bucket[i]]++] = i;
	for (let k = 0; k < buckets; k++) // next[k] is the end of bucket k now
		bucketSort(order, time, k ? next[k - 1] : 0, next[k]);
	return order;
}

function bucketSort(order, time, from, until) {
	if (until - from > 64) {
		order.subarray(from, until).sort((a, b) => time[a] - time[b] || a - b);
		return;
	}
	for (let i = from + 1; i < until; i++) {
		const moved = order[i], at = time[moved];
		let k = i;
		for (; k > from && time[order[k - 1]] > at; k--)
			order[k] = order[k - 1];
		order[k] = moved;
	}
}

function matchesOrder(m) {
	m.order = m.order || orderOf(m.time, m.n);
	return m.order;
}

// Match i as a selection.
function matchSelection(m, i) {
	return {kind: m.kinds[m.kind[i]], id: m.id[i]};
}

// The ids of all strings that contain the query.
function textsContaining(query) {
	const found = new Uint8Array(textCount());

	for (let id = 1; id < found.length; id++)
		if (text(id).toLowerCase().includes(query))
			found[id] = 1;
	return found;
}

// Stacks with a frame whose function, file or "file:line" matches; by name of the frame.
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
function labelsMatching(query) {
	const found = new Uint8Array(trace.label.n);
	let any = false;

	for (let l = 0; l < found.length; l++)
		if (labelText(l).toLowerCase().includes(query)) {
			found[l] = 1;
			any = true;
		}
	return any ? found : null;
}

// Matches of one kind and name are a group.  of(kind, nameOf) makes a function from a number, such as
// that of a stack, to the index of its group; nameOf() is called once for each number.
function groupsMake() {
	const groups = [], byName = new Map();

	function named(kind, name) {
		const key = `${kind}\n${name}`;
		if (!byName.has(key)) {
			byName.set(key, groups.length);
			groups.push({kind, name, count: 0, longest: 0, length: -1}); // longest: the index of a match
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

// All groups of matches, and the matches.
function searchRun(query) {
	const {groups, of} = groupsMake(), matches = matchesMake(), texts = textsContaining(query);
	const {stacks, stackName} = stacksMatching(query, texts);
	const reasons = head.reasons.map((r) => Boolean(r) && r[0].includes(query));
	const objects = new Uint8Array(column("object.low").length + 1);
	// For rows that are selected as `kind`: (group, row + 1, time, length).
	const adder = (kind) => {
		const number = matches.kinds.push(kind) - 1;
		return (index, id, time, length = 0) => {
			const group = groups[index];
			group.count++;
			if (length > group.length) {
				group.length = length;
				group.longest = matches.n;
			}
			matchesAdd(matches, number, id, index, time);
		};
	};
	const textGroup = (kind) => of(kind, text), stackGroup = (kind) => of(kind, (s) => stackName.get(s));

	const address = /^(0x)?[0-9a-f]+$/.test(query) && query.length > 3;
	for (let o = 1; o < objects.length; o++)
		objects[o] = texts[column("object.name")[o - 1]] || (address && objectName(o).includes(query));
	const addThread = adder("thread"), threadGroup = of("thread", (t) => trace.threads[t].name);
	for (const t of trace.threads)
		if (t.name.toLowerCase().includes(query) || String(t.tid) === query)
			addThread(threadGroup(t.idx), t.idx + 1, t.firstSeen);
	const number = /^(?:fiber:)?(\d+)$/.exec(query), addFiber = adder("fiber"), fiberGroup = of("fiber", fiberLabel);
	for (let f = 1; f <= trace.fiber.n; f++)
		if (texts[trace.fiber.name[f - 1]] || (number && fiberNumber(f) === number[1])) {
			const span = fiberSpan(f) || {from: 0, until: 0};
			addFiber(fiberGroup(f), f, span.from, span.until - span.from);
		}
	const k = trace.task, addTask = adder("task"), taskGroup = textGroup("task");
	for (let i = 0; i < k.n; i++)
		if (texts[k.type[i]] || k.low[i] + k.high[i] * 4294967296 === Number(query))
			addTask(taskGroup(k.type[i]), i + 1, k.start[i], k.length[i]);
	const g = trace.region, addRegion = adder("region"), regionGroup = textGroup("region");
	for (let i = 0; i < g.n; i++)
		if (texts[g.type[i]])
			addRegion(regionGroup(g.type[i]), i + 1, g.start[i], g.length[i]);
	const l = trace.log, addLog = adder("log"), logGroup = textGroup("log");
	for (let i = 0; i < l.n; i++)
		if (texts[l.message[i]] || texts[l.category[i]])
			addLog(logGroup(l.message[i]), i + 1, l.time[i]);
	const named = labelsMatching(query), addLabels = adder("labels"), labelGroup = of("label", labelText);
	for (let i = 0; named && i < trace.under.n; i++)
		for (let [j, last] = setRange(trace.under.set[i]); j < last; j++)
			if (named[j])
				addLabels(labelGroup(j), i + 1, trace.under.start[i], trace.under.length[i]);
	const m = trace.mark, addMark = adder("mark"), signals = textGroup("signal"), conditions = textGroup("condition");
	for (let i = 0; i < m.n; i++)
		if (texts[m.text[i]] || stacks[m.stack[i]])
			addMark((m.kind[i] === MARK_TRIGGER ? conditions : signals)(m.text[i]), i + 1, m.time[i]);
	searchWaits({texts, objects, stacks, reasons}, {adder, of, stackGroup});
	const s = trace.sample, addSample = adder("sample"), sampleGroup = stackGroup("sample in");
	for (let i = 0; i < s.n; i++)
		if (stacks[s.stack[i]])
			addSample(sampleGroup(s.stack[i]), i + 1, s.time[i]);
	return {groups, matches};
}

// Waits, those of fibers, and unlocks: by their objects and descriptors, their stacks, the reasons of waits.
function searchWaits({texts, objects, stacks, reasons}, {adder, of, stackGroup}) {
	const p = trace.park, addPark = adder("park"), parkIn = stackGroup("wait in");
	const parkFor = of("wait for", reasonName), parkFrom = of("wait for", text);
	const parkOf = of("wait for", objectName), childOf = of("wait for", (o) => objectOf("child", o));
	const child = head.reasons.findIndex((r) => r && r[0] === "child");
	const f = trace.fwait, addFiberWait = adder("fiberwait"), fiberIn = stackGroup("fiber in");
	const u = trace.unlock, addUnlock = adder("unlock"), unlockIn = stackGroup("unlock in");
	const unlockOf = of("unlock of", objectName);

	for (let i = 0; i < p.n; i++)
		if (texts[p.descriptor[i]])
			addPark(parkFrom(p.descriptor[i]), i + 1, p.start[i], p.length[i]);
		else if (objects[p.object[i]])
			addPark((p.reason[i] === child ? childOf : parkOf)(p.object[i]), i + 1, p.start[i], p.length[i]);
		else if (stacks[p.stack[i]])
			addPark(parkIn(p.stack[i]), i + 1, p.start[i], p.length[i]);
		else if (reasons[p.reason[i]])
			addPark(parkFor(p.reason[i]), i + 1, p.start[i], p.length[i]);
	for (let i = 0; i < f.n; i++)
		if (stacks[f.stack[i]])
			addFiberWait(fiberIn(f.stack[i]), i + 1, f.start[i], f.length[i]);
	for (let i = 0; i < u.n; i++)
		if (objects[u.object[i]])
			addUnlock(unlockOf(u.object[i]), i + 1, u.time[i], u.caused_ns[i]);
		else if (stacks[u.stack[i]])
			addUnlock(unlockIn(u.stack[i]), i + 1, u.time[i], u.caused_ns[i]);
}

// Where the overview has a tick for matches: one a pixel at most.
function ticksMake(matches) {
	const pixels = new Uint8Array(2001), thread = matches.kinds.indexOf("thread");

	for (let i = 0; i < matches.n; i++)
		if (matches.kind[i] !== thread)
			pixels[Math.round(Math.min(Math.max(mapX(matches.time[i], 2000), 0), 2000))] = 1;
	map.ticks = matches.n ? [...pixels.keys()].filter((x) => pixels[x]).map((x) => x / 2000) : null;
}

function searchSet(string) {
	search.query = string.trim().toLowerCase();
	const {groups, matches} = search.query ? searchRun(search.query) : {groups: [], matches: matchesMake()};
	Object.assign(search, {groups, matches, at: -1, active: -1});
	flame.lit = null;
	ticksMake(matches);
	searchDraw();
	drawSoon();
}

// Matches that somebody else found: of one group, to be walked through like those of a query.
function searchShow(matches, name) {
	const group = {kind: "flame graph", name, count: matches.n, longest: 0, length: 0};

	Object.assign(search, {query: name, groups: matches.n ? [group] : [], matches, at: -1, active: -1});
	byId("search").value = "";
	ticksMake(matches);
	searchDraw();
	byId("results").hidden = true;
	drawSoon();
}

function searchDraw() {
	const status = byId("search-count");
	const {n} = search.matches;

	status.textContent = !search.query ? "" : search.at >= 0 ? `${count(search.at + 1)} of ${count(n)}`
		: n ? plural(n, "match", "matches") : "nothing found";
	const box = byId("results");
	const rows = search.groups.slice(0, RESULT_ROWS).map((group, i) => el("button", {
		type: "button", role: "option", class: i === search.active ? "active" : "",
		"aria-selected": String(i === search.active), onclick: () => groupGo(group),
	}, el("span", {class: "kind"}, group.kind), el("span", {class: "what"}, group.name),
	el("span", {class: "dim"}, `×${count(group.count)}`)));
	if (search.groups.length > RESULT_ROWS)
		rows.push(el("p", {class: "dim"},
			`and ${plural(search.groups.length - RESULT_ROWS, "more name")}`));
	box.replaceChildren(...rows);
	box.hidden = !rows.length || document.activeElement !== byId("search");
}

// Selects the match that is the at-th in time.
function matchGo(at) {
	const sel = matchSelection(search.matches, matchesOrder(search.matches)[at]);

	search.at = at;
	select(sel);
	if (sel.kind === "thread") {
		const track = tracks.byThread[sel.id - 1];
		if (track)
			scrollToTrack(track);
	}
	searchDraw();
}

// A result: its longest match, or the only one.
function groupGo(group) {
	matchGo(matchesOrder(search.matches).indexOf(group.longest));
	byId("results").hidden = true;
}

// How many of these, in order of time, are before t.
function firstFrom(order, time, t) {
	let lo = 0, hi = order.length;

	while (lo < hi) {
		const mid = (lo + hi) >>> 1;
		if (time[order[mid]] < t)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

// The next (1) or previous (-1) match in time; the first one is that at or after the view.
function searchStep(step) {
	const {n, time} = search.matches;

	if (!n)
		return;
	if (search.at < 0) {
		const i = firstFrom(matchesOrder(search.matches), time, view.t0);
		search.at = step > 0 ? i % n - 1 : i;
	}
	matchGo((search.at + step + n) % n);
}

function searchKey(event) {
	if (event.key === "Enter") {
		clearTimeout(search.timer);
		if (byId("search").value.trim().toLowerCase() !== search.query)
			searchSet(byId("search").value);
		if (search.active >= 0)
			groupGo(search.groups[search.active]);
		else
			searchStep(event.shiftKey ? -1 : 1);
		byId("results").hidden = true;
	} else if (event.key === "ArrowDown" || event.key === "ArrowUp") {
		const n = Math.min(search.groups.length, RESULT_ROWS);
		search.active = n ? (search.active + (event.key === "ArrowDown" ? 1 : n) + (search.active < 0 &&
			event.key === "ArrowUp" ? 1 : 0)) % n : -1;
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

function searchInit() {
	const input = byId("search");

	input.addEventListener("input", () => {
		clearTimeout(search.timer);
		search.timer = setTimeout(() => searchSet(input.value),
			input.value.trim().length < 2 ? 600 : 150);
	});
	input.addEventListener("keydown", searchKey);
	input.addEventListener("focus", searchDraw);
	document.addEventListener("pointerdown", (event) => {
		if (!byId("searchbox").contains(event.target))
			byId("results").hidden = true;
	});
	byId("search-next").addEventListener("click", () => searchStep(1));
	byId("search-prev").addEventListener("click", () => searchStep(-1));
}
