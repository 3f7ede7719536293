// search.js - finds threads, fibers, functions, files, locks and other objects, regions, tasks, logs,
// labels and signals by a part of their name; a label is `key=value`, a fiber also its number or
// `fiber:12`.

const RESULT_ROWS = 60;
const MATCHES_MAX = 100000; // that can be walked through; all are counted

const search = {query: "", groups: [], matches: [], at: -1, timer: 0, active: -1};

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

function groupOf(groups, kind, name) {
	const key = `${kind}\n${name}`;

	if (!groups.has(key))
		groups.set(key, {kind, name, count: 0, matches: []});
	return groups.get(key);
}

// All groups of matches: {kind, name, count, matches: [{sel, time}]}.
function searchRun(query) {
	const groups = new Map(), texts = textsContaining(query);
	const {stacks, stackName} = stacksMatching(query, texts);
	const reasons = head.reasons.map((r) => Boolean(r) && r[0].includes(query));
	const objects = new Uint8Array(column("object.low").length + 1);
	let kept = 0;
	const add = (kind, name, id, time, selKind = kind) => {
		const group = groupOf(groups, kind, name);
		group.count++;
		if (kept++ < MATCHES_MAX || !group.matches.length)
			group.matches.push({sel: {kind: selKind, id}, time});
	};

	const address = /^(0x)?[0-9a-f]+$/.test(query) && query.length > 3;
	for (let o = 1; o < objects.length; o++)
		objects[o] = texts[column("object.name")[o - 1]] || (address && objectName(o).includes(query));
	for (const t of trace.threads)
		if (t.name.toLowerCase().includes(query) || String(t.tid) === query)
			add("thread", t.name, t.idx + 1, t.firstSeen);
	const number = /^(?:fiber:)?(\d+)$/.exec(query);
	for (let f = 1; f <= trace.fiber.n; f++)
		if (texts[trace.fiber.name[f - 1]] || (number && fiberNumber(f) === number[1]))
			add("fiber", fiberLabel(f), f, (fiberSpan(f) || {from: 0}).from);
	const g = trace.region, k = trace.task, l = trace.log, p = trace.park, u = trace.unlock;
	for (let i = 0; i < k.n; i++)
		if (texts[k.type[i]] || k.low[i] + k.high[i] * 4294967296 === Number(query))
			add("task", text(k.type[i]), i + 1, k.start[i]);
	for (let i = 0; i < g.n; i++)
		if (texts[g.type[i]])
			add("region", text(g.type[i]), i + 1, g.start[i]);
	for (let i = 0; i < l.n; i++)
		if (texts[l.message[i]] || texts[l.category[i]])
			add("log", text(l.message[i]), i + 1, l.time[i]);
	const named = labelsMatching(query);
	for (let i = 0; named && i < trace.under.n; i++)
		for (let [j, last] = setRange(trace.under.set[i]); j < last; j++)
			if (named[j])
				add("label", labelText(j), i + 1, trace.under.start[i], "labels");
	const m = trace.mark;
	for (let i = 0; i < m.n; i++)
		if (texts[m.text[i]] || stacks[m.stack[i]])
			add(m.kind[i] === MARK_TRIGGER ? "condition" : "signal", text(m.text[i]), i + 1, m.time[i],
				"mark");
	for (let i = 0; i < p.n; i++) {
		if (objects[p.object[i]])
			add("wait for", waitedFor(i + 1), i + 1, p.start[i], "park");
		else if (stacks[p.stack[i]])
			add("wait in", stackName.get(p.stack[i]), i + 1, p.start[i], "park");
		else if (reasons[p.reason[i]])
			add("wait for", reasonName(p.reason[i]), i + 1, p.start[i], "park");
	}
	const waits = trace.fwait;
	for (let i = 0; i < waits.n; i++)
		if (stacks[waits.stack[i]])
			add("fiber in", stackName.get(waits.stack[i]), i + 1, waits.start[i], "fiberwait");
	for (let i = 0; i < trace.sample.n; i++)
		if (stacks[trace.sample.stack[i]])
			add("sample in", stackName.get(trace.sample.stack[i]), i + 1, trace.sample.time[i], "sample");
	for (let i = 0; i < u.n; i++)
		if (objects[u.object[i]])
			add("unlock of", objectName(u.object[i]), i + 1, u.time[i], "unlock");
		else if (stacks[u.stack[i]])
			add("unlock in", stackName.get(u.stack[i]), i + 1, u.time[i], "unlock");
	return [...groups.values()];
}

function searchSet(string) {
	search.query = string.trim().toLowerCase();
	search.groups = search.query ? searchRun(search.query) : [];
	search.matches = search.groups.flatMap((g) => g.matches).sort((a, b) => a.time - b.time);
	search.at = -1;
	search.active = -1;
	map.ticks = null;
	if (search.matches.length) {
		// One tick a pixel at most.
		const pixels = new Set();
		for (const m of search.matches)
			if (m.sel.kind !== "thread")
				pixels.add(Math.round(m.time / trace.span * 2000));
		map.ticks = [...pixels].map((x) => x / 2000);
	}
	searchDraw();
	drawSoon();
}

function searchDraw() {
	const status = byId("search-count");
	const n = search.groups.reduce((sum, group) => sum + group.count, 0);

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

function matchGo(match) {
	search.at = search.matches.indexOf(match);
	select(match.sel);
	if (match.sel.kind === "thread") {
		const track = tracks.byThread[match.sel.id - 1];
		if (track)
			scrollToTrack(track);
	}
	searchDraw();
}

// A result: its longest match, or the only one.
function groupGo(group) {
	let best = group.matches[0], most = -1;

	for (const match of group.matches) {
		const span = selectionSpan(match.sel);
		const length = span ? span.until - span.from : 0;
		if (length > most) {
			most = length;
			best = match;
		}
	}
	matchGo(best);
	byId("results").hidden = true;
}

// The next (1) or previous (-1) match in time; the first one is that at or after the view.
function searchStep(step) {
	const n = search.matches.length;

	if (!n)
		return;
	if (search.at < 0) {
		const i = search.matches.findIndex((m) => m.time >= view.t0);
		search.at = step > 0 ? (i < 0 ? 0 : i) - 1 : i < 0 ? n : i;
	}
	matchGo(search.matches[(search.at + step + n) % n]);
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
