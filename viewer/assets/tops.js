// tops.js - the tables beside the timeline: what cost most, the longest waits, the trace itself.

const TOP_ROWS = 15, LONGEST_ROWS = 30;

// columns: {name, cell(row), n: a number, wide: takes the room that is left}; a cell is an element or text.
function topTable(heading, rows, columns, {open = true} = {}) {
	if (!rows.length)
		return null;
	const kind = (c) => c.n ? "n" : c.wide ? "wide" : "";
	const headRow = el("tr", {}, ...columns.map((c) => el("th", {scope: "col", class: kind(c)}, c.name)));
	const body = el("tbody");
	for (const row of rows)
		body.append(el("tr", {}, ...columns.map((c) => el("td", {class: kind(c)}, c.cell(row)))));
	return el("details", {open}, el("summary", {}, heading),
		el("table", {}, el("thead", {}, headRow), body));
}

// One line of a wide cell, cut with a mark where it does not fit; the tooltip has all of it.
function cellLine(parts, title) {
	const line = el("div", {class: "line"}, ...parts);

	line.title = title === undefined ? line.textContent : title;
	return line;
}

function stateLabel(state) {
	return [swatch(state), el("span", {title: stateDoc[state]}, stateName[state])];
}

// What took most, by reason and stack: precomputed over all rows.
function topRows(prefix, key) {
	const c = table(prefix, "reason", "stack", "count", "total", "max", key, "object", "several");
	const rows = [];

	for (let i = 0; i < c.n; i++)
		if (c.total[i] > 0)
			rows.push({state: PARKED + c.reason[i], stack: c.stack[i], count: c.count[i],
				total: c.total[i], max: c.max[i], row: c[key][i], object: c.several[i] ? 0 : c.object[i],
				what: variableName(c.object[i]) && variableName(c.object[i]) + (c.several[i] ? " and others" : "")});
	return rows;
}

// What it is for, and below where in the program.
function waitCell(state, what, ...where) {
	return el("div", {}, cellLine([...stateLabel(state), what ? ` ${what}` : ""]), ...where);
}

// Of waits for objects in memory: which kind that is. A descriptor is another file's at another time.
const objectKinds = {mutex: "mutex", cond_mutex: "mutex", rwlock_read: "rwlock", rwlock_write: "rwlock", spin: "spin",
	cond: "cond", sem: "sem", barrier: "barrier", once: "once", futex: "futex"};

// As in the report, the waits for one object are one row, with the places, most costly first.
function byObject(rows) {
	const groups = new Map(), merged = [];

	for (const row of rows) {
		const kind = objectKinds[stateName[row.state]];
		const key = kind && row.object ? `${kind} ${row.object}` : null, group = key && groups.get(key);

		if (group) {
			group.places.push(row);
			group.count += row.count;
			group.total += row.total;
			group.max = Math.max(group.max, row.max);
		} else {
			merged.push({...row, places: [row]});
			if (key)
				groups.set(key, merged[merged.length - 1]);
		}
	}
	return merged.sort((a, b) => b.total - a.total);
}

const PLACES = 4;

// Where the object was waited for, each place with its share if there are several.
function placeCells(group) {
	const {places, total} = group;

	if (places.length === 1)
		return [whereCell(places[0], "park")];
	const shown = places.slice(0, PLACES), rest = places.slice(PLACES);
	const cells = shown.map((place) => whereCell(place, "park", `${percent(place.total, total)} `));

	if (rest.length)
		cells.push(cellLine([`${percent(rest.reduce((sum, r) => sum + r.total, 0), total)} at ` +
			plural(rest.length, "more place")]));
	return cells;
}

// class -> [heading, rows, open]: in the report's order; what is idle comes last, and is folded.
/** @type {[number, string, number, boolean][]} */
const waitClasses = [[CLASS.LOCK, "Waiting for locks", TOP_ROWS, true],
	[CLASS.SYNC, "Waiting for other threads", 8, true], [CLASS.IO, "Waiting for files and sockets", 8, true],
	[CLASS.IDLE, "Waiting for requests, timers and children", TOP_ROWS, false]];

function topWaits() {
	const rows = topRows("wait", "park");

	return waitClasses.map(([cls, heading, n, open]) => topTable(heading,
		byObject(rows.filter((r) => stateClass[r.state] === cls)).slice(0, n), [
			{name: "for, in", wide: true, cell: (r) => waitCell(r.state, r.what, ...placeCells(r))},
			{name: "waits", n: true, cell: (r) => count(r.count)},
			{name: "total", n: true, cell: (r) => duration(r.total)},
			{name: "max", n: true, cell: (r) => duration(r.max)},
		], {open}));
}

function topHolders() {
	return topTable("Who made others wait", topRows("hold", "unlock").slice(0, TOP_ROWS), [
		{name: "lock, released in", wide: true, cell: (r) => waitCell(r.state, r.what, whereCell(r, "unlock"))},
		{name: "sections", n: true, cell: (r) => count(r.count)},
		{name: "caused", n: true, cell: (r) => duration(r.total)},
		{name: "max", n: true, cell: (r) => duration(r.max)},
	]);
}

/** @param {string} kind */
function whereCell(row, kind, before = "") {
	const where = stackPath(row.stack) || "(no stack)", whole = stackPath(row.stack, Infinity) || where;

	if (!row.row)
		return cellLine([before, where], whole);
	const line = cellLine([before && el("span", {}, before),
		el("button", {type: "button", class: "link", onclick: () => select({kind, id: row.row})}, where)],
	`${whole}\nGo to the longest: ${duration(row.max)}`);

	line.classList.toggle("shared", !!before);
	return line;
}

// The longest waits of those from..until that count, at most so many.
/** @param {number} until @param {number} limit */
function longestParks(from, until, limit, counts) {
	const p = trace.park, best = [];
	let least = -1;

	for (let i = from; i < until; i++) {
		if (p.length[i] <= least || !counts(i))
			continue;
		best.push(i);
		if (best.length >= 4 * limit) {
			best.sort((a, b) => p.length[b] - p.length[a]);
			best.length = limit;
			least = p.length[best[limit - 1]];
		}
	}
	return best.sort((a, b) => p.length[b] - p.length[a]).slice(0, limit);
}

function longestWaits() {
	const p = trace.park;
	const isNotIdle = (i) => stateClass[PARKED + p.reason[i]] !== CLASS.IDLE;

	return topTable("Longest single waits (idle waits left out)", longestParks(0, p.n, LONGEST_ROWS, isNotIdle), [
		{name: "for, in", wide: true, cell: (i) => waitCell(PARKED + p.reason[i], variableName(p.object[i]),
			cellLine([link(stackPath(p.stack[i]) || "(no stack)", {kind: "park", id: i + 1})],
				stackPath(p.stack[i], Infinity)))},
		{name: "thread", cell: (i) => el("div", {class: "line thread"}, trace.threads[p.thread[i] - 1].name)},
		{name: "length", n: true, cell: (i) => duration(p.length[i])},
	]);
}

function aboutTrace() {
	const body = el("tbody");
	const rows = [
		["events", count(head.events || 0)],
		["intervals", count(head.intervals)],
		["length", exactTime(head.span_ns)],
		["begins", head.start_unix_ms > 0 ? new Date(head.start_unix_ms).toISOString() : ""],
		...head.info,
	];

	for (const [key, value] of rows)
		if (value !== "")
			body.append(el("tr", {}, el("th", {scope: "row"}, visible(key)), el("td", {}, visible(value))));
	return el("details", {}, el("summary", {}, "This trace"), el("table", {class: "about"}, body));
}

function topsDraw() {
	const parts = [...topFunctions(), topFibers(), topFiberWaits(), ...topWaits(), topHolders(),
		longestWaits(), aboutTrace()];

	byId("tops").replaceChildren(...parts.filter((t) => t));
}

// ---- above the timeline: what is missing from the picture ----

/** @param {string} kind */
function bannerAdd(kind, ...children) {
	byId("banners").append(el("p", {class: kind}, ...children));
}

// What a snapshot has, where that is not everything.
function windowBanner() {
	const c = trace.cover, late = [];

	if (!c.n)
		return;
	for (let i = 0; i < c.n; i++)
		if (c.since[i] > 1 && c.since[i] - 1 > trace.span / 100)
			late.push(`${c.source[i] === 1 ? "the overflow stream" : `proc ${c.proc[i] - 1}`}` +
				`${c.source[i] === 2 ? " (scheduling)" : ""} from ${duration(c.since[i] - 1)}`);
	const from = head.window_ns ? `from ${duration(head.window_ns)} on` : "from its beginning";
	bannerAdd("note", `A snapshot: whole ${from}. ` +
		(late.length ? `Later than the rest begin: ${late.join(", ")}.` : ""));
}

// What has no place in the timeline, though it is in the page.
function notDrawnBanners() {
	const types = trace.taskTypes.length - trace.taskTracks.length;
	let deep = 0;

	for (const depth of trace.region.depth)
		deep += Number(depth >= REGION_LANES_MAX);
	if (types)
		bannerAdd("note", `${plural(types, "type")} of tasks not drawn, those with least time: search finds them.`);
	if (trace.countersHidden)
		bannerAdd("note", `${plural(trace.countersHidden, "counter")} not drawn: there are more than ` +
			`${COUNTER_TRACKS_MAX}.`);
	if (deep)
		bannerAdd("note", `${plural(deep, "region")} not drawn: they lie in more than ${REGION_LANES_MAX - 1} ` +
			"others. Search finds them.");
}

function bannersDraw() {
	cutBanner();
	endBanners();
	windowBanner();
	if (head.lost_events > 0) {
		const first = trace.gap.n ? link("Show the first gap", {kind: "gap", id: 1}) : null;
		bannerAdd("warn", `${plural(head.lost_events, "event")} lost in ${plural(trace.gap.n, "gap")}. ` +
			"Hatched stretches are incomplete. ", first);
	}
	if (head.warning)
		bannerAdd("warn", visible(head.warning));
	if (head.merged_below_ns > 0)
		bannerAdd("note", `${count(head.intervals)} intervals are more than a page holds: runs of ` +
			`intervals shorter than ${duration(head.merged_below_ns)} are merged and counted. ` +
			"Tables are exact.");
	for (const [key, what] of [["regions", "shorter regions"], ["tasks", "shorter tasks"],
		["unlocks", "unlocks that caused less waiting"], ["logs", "later log messages"],
		["counters", "later counter values"], ["label_spans", "shorter times under labels"],
		["fibers", "fibers that ran and waited less"], ["fiber_runs", "shorter runs of fibers"],
		["fiber_waits", "shorter waits of fibers"]])
		if (head["without_" + key] > 0)
			bannerAdd("note", `${count(head["without_" + key])} ${what} are left out of this page.`);
	notDrawnBanners();
	sourceBanner();
	if (trace.regionsUncut)
		bannerAdd("note", `${plural(trace.regionsUncut, "region")} not drawn, or only in part: there are too ` +
			"many runs of fibers.");
	sampleBanners();
	if (!head.has_sched) {
		const info = head.info.find(([key]) => key.startsWith("sched"));
		bannerAdd("note", "Scheduling was not recorded: whether an active thread was on a proc is " +
			"not known, and there are no tracks of procs" + (info ? ` (${visible(info[1].replace(/^no: /, ""))}).` : "."));
	}
}

// ---- below it: the states that occur ----

function legendDraw() {
	const sums = new Float64Array(128);

	for (const thread of trace.threads)
		for (let s = 1; s < 128; s++)
			sums[s] += thread.time[s];
	const order = [...sums.keys()].filter((s) => sums[s] > 0)
		.sort((a, b) => stateClass[a] - stateClass[b] || sums[b] - sums[a]);
	byId("legend").replaceChildren(...order.map((s) => el("button", {
		type: "button", title: `${stateDoc[s]}: ${duration(sums[s])} in all threads. Click to highlight.`,
		"aria-pressed": String(view.highlighted === s),
		onclick: () => highlight(view.highlighted === s ? null : s),
	}, swatch(s), stateName[s])));
}

function highlight(state) {
	view.highlighted = state;
	themeApply(state);
	legendDraw();
	drawSoon();
}
