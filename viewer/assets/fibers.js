// fibers.js - fibers: when each ran where, what it waited for, and who readied it.
//
// `f` is a fiber's number in the page, `r` a run's, `w` a wait's: its index + 1, 0 = none.

// Flags of a run and of a wait: its fiber ended then; it lasts; it began, or ended, unseen.
const RUN_ENDED = 1, RUN_OPEN = 2, RUN_CUT = 4, RUN_LOST = 8;
const fiberStates = ["not known", "did not run yet", "running", "runnable", "waiting", "ended"];
const ALL_OF_IT = 0.99;
const FIBER_ROWS = 12, FIBER_NAMES = 15;
const PIECES_MAX = 2000000; // of regions that lie in several runs
const STEPS_MAX = 20000000; // through runs, to find them
const FIBER_END_NS = 100000; // a scheduler tells of a fiber's end soon after it left it for good
const OUTLINES_MAX = 400; // runs of the selected fiber that are outlined at a time

// By fiber its kind: the first of those whose names differ only in their numbers, as "conn 1" and "conn 2".
function fiberKinds() {
	const byName = new Map(), first = new Map();

	return Uint32Array.from(trace.fiber.name, (name, i) => {
		if (!byName.has(name)) {
			const kind = text(name).replace(/\d+/g, "#");
			if (!first.has(kind))
				first.set(kind, i);
			byName.set(name, first.get(kind));
		}
		return byName.get(name);
	});
}

// Fibers take turns at the colours: by kind where there are several, else one by one.
function fiberColours() {
	const b = trace.fiber, numbers = new Map(), several = new Set(b.kind).size > 1;
	const colours = new Uint8Array(b.n);

	for (let i = 0; i < b.n; i++) {
		const key = several ? b.kind[i] : i;
		if (!numbers.has(key))
			numbers.set(key, numbers.size);
		colours[i] = numbers.get(key) % TYPE_COLOURS;
	}
	return colours;
}

// A lane per thread that ran fibers; nothing without any.
function fibersLoad() {
	const b = trace.fiber, runs = trace.frun, waits = trace.fwait;

	if (!b.n)
		return;
	b.kind = fiberKinds();
	b.colour = fiberColours();
	b.alike = new Map(); // name -> how many have it
	for (const name of b.name)
		b.alike.set(name, (b.alike.get(name) || 0) + 1);
	runs.colour = Uint8Array.from(runs.fiber, (f) => b.colour[f - 1]);
	const lanes = lanesOf(runs, trace.threads.length, (i) => runs.thread[i] - 1);
	for (const thread of trace.threads)
		if (lanes[thread.idx].hi > lanes[thread.idx].lo)
			thread.fibers = lanes[thread.idx];
	for (const rows of [runs, waits]) {
		Object.assign(rows, rowsBy(rows.fiber, b.n));
		rows.at = Float64Array.from(rows.order, (i) => rows.start[i]);
	}
}

// The stretches of a thread in which it ran fibers without a break, as starts and ends.
/** @param {Lane} lane */
function fibersBusy(lane) {
	if (lane.busy)
		return lane.busy;
	const busy = lane.busy = {s: [], e: []};
	for (let k = lane.lo; k < lane.hi; k++) {
		const last = busy.e.length - 1;
		if (last >= 0 && lane.s[k] <= busy.e[last]) {
			busy.e[last] = Math.max(busy.e[last], laneEnd(lane, k));
		} else {
			busy.s.push(lane.s[k]);
			busy.e.push(laneEnd(lane, k));
		}
	}
	return busy;
}

// A region belongs to its fiber, and is drawn where that ran: one of a root fiber where its thread ran
// no other.  Calls put(start, end) for each piece.
/** @param {number} i */
function regionCut(i, put) {
	const g = trace.region, f = g.fiber[i], start = g.start[i], end = start + g.length[i];
	const runs = trace.frun, lane = trace.threads[g.thread[i] - 1].fibers;
	let at = start;

	if (f) {
		const lo = runs.first[f], hi = runs.first[f + 1];
		for (let k = Math.max(lo, upperBound(runs.at, lo, hi, start) - 1); k < hi && runs.at[k] <= end; k++)
			put(Math.max(start, runs.at[k]), Math.min(end, rowEnd(runs, runs.order[k] + 1)),
				runs.thread[runs.order[k]]);
		return;
	}
	const busy = lane ? fibersBusy(lane) : {s: [], e: []}, n = busy.s.length;
	for (let k = Math.max(0, upperBound(busy.s, 0, n, start) - 1); k < n && busy.s[k] < end; k++) {
		put(at, busy.s[k], g.thread[i]);
		at = Math.max(at, busy.e[k]);
	}
	put(at, end, g.thread[i]);
}

// When and where a region was in force: [{thread, from, until}].
/** @param {number} i */
function regionStretches(i) {
	const found = [];

	regionCut(i, (from, until, thread) => until > from &&
		found.push({thread: trace.threads[thread - 1], from, until}));
	return found;
}

// The pieces of all regions as rows for lanesOf(), by time; `region` is the index of each piece's.
/** @returns {RegionRows} */
function regionPieces() {
	const g = trace.region, cut = {region: [], start: [], length: [], thread: []};
	let steps = 0, full = false;

	for (let i = 0; i < g.n && !trace.regionsUncut; i++) {
		if (!g.thread[i] || g.depth[i] >= REGION_LANES_MAX)
			continue;
		regionCut(i, (from, until, thread) => {
			steps++;
			if (until < from || (until === from && g.length[i]) || !thread)
				return;
			full = cut.region.length >= PIECES_MAX;
			if (full)
				return;
			cut.region.push(i);
			cut.start.push(from);
			cut.length.push(until - from);
			cut.thread.push(thread);
		});
		if (full || steps >= STEPS_MAX)
			trace.regionsUncut = g.n - i - (full ? 0 : 1);
	}
	const order = Uint32Array.from(cut.region.keys()).sort((a, b) => cut.start[a] - cut.start[b]);
	const pieces = /** @type {RegionRows} */ ({n: order.length, region: Uint32Array.from(order, (k) => cut.region[k])});
	for (const key of ["start", "length", "thread"])
		pieces[key] = Float64Array.from(order, (k) => cut[key][k]);
	for (const key of ["depth", "type"])
		pieces[key] = Uint32Array.from(pieces.region, (i) => g[key][i]);
	return pieces;
}

// ---- answers about single rows ----

/** @param {number} f */
function fiberNumber(f) {
	return (BigInt(trace.fiber.high[f - 1]) << 32n | BigInt(trace.fiber.low[f - 1])).toString();
}

// Its name, with its number if others have the same.
/** @param {number} f */
function fiberLabel(f) {
	const name = trace.fiber.name[f - 1];

	if (!name)
		return `fiber ${fiberNumber(f)}`;
	return trace.fiber.alike.get(name) > 1 ? `${text(name)} #${fiberNumber(f)}` : text(name);
}

/** @param {number} f */
function fiberTitle(f) {
	return trace.fiber.name[f - 1] ? `fiber ${fiberLabel(f)}` : fiberLabel(f);
}

/** @param {number} f */
function fiberCss(f) {
	return typeColours[theme.dark ? "dark" : "light"][trace.fiber.colour[f - 1]];
}

function rowEnd(rows, number) {
	return rows.start[number - 1] + rows.length[number - 1];
}

// In which run thread index t was at a time; 0 = in its root fiber.
/** @param {number} t @param {number} time */
function fiberRunAt(t, time) {
	return t >= 0 ? laneAt(trace.threads[t].fibers, time) : 0;
}

// The row of a fiber's that begins at or after a time; 0 = none.
/** @param {number} f @param {number} time */
function fiberRowFrom(rows, f, time) {
	const hi = rows.first[f + 1];
	const i = upperBound(rows.at, rows.first[f], hi, time - 0.5);

	return i < hi ? rows.order[i] + 1 : 0;
}

// Its next (1) or previous (-1) run, seen from one of its runs.
/** @param {number} r @param {number} step */
function fiberRunBeside(r, step) {
	const runs = trace.frun, f = runs.fiber[r - 1];
	let i = upperBound(runs.at, runs.first[f], runs.first[f + 1], runs.start[r - 1]) - 1;

	while (i > runs.first[f] && runs.order[i] !== r - 1 && runs.at[i - 1] === runs.start[r - 1])
		i--;
	i += step;
	return i >= runs.first[f] && i < runs.first[f + 1] ? runs.order[i] + 1 : 0;
}

// The wait that begins where a run ends; 0 = none, or left out.
/** @param {number} r */
function fiberWaitAfter(r) {
	const end = rowEnd(trace.frun, r), w = fiberRowFrom(trace.fwait, trace.frun.fiber[r - 1], end);

	return w && trace.fwait.start[w - 1] === end && trace.frun.reason[r - 1] ? w : 0;
}

// The run that ends a wait; 0 = none, or left out.
/** @param {number} w */
function fiberRunAfter(w) {
	const end = rowEnd(trace.fwait, w), r = fiberRowFrom(trace.frun, trace.fwait.fiber[w - 1], end);

	return r && trace.frun.start[r - 1] === end && trace.fwait.end_thread[w - 1] ? r : 0;
}

// The run that a wait follows; 0 = none, or left out.
/** @param {number} w */
function fiberRunBefore(w) {
	const runs = trace.frun, f = trace.fwait.fiber[w - 1], start = trace.fwait.start[w - 1];
	const i = upperBound(runs.at, runs.first[f], runs.first[f + 1], start - 0.5) - 1;

	if (i < runs.first[f])
		return 0;
	return rowEnd(runs, runs.order[i] + 1) === start ? runs.order[i] + 1 : 0;
}

// The wait that a run ended; 0 = none, or left out.
/** @param {number} r */
function fiberWaitBefore(r) {
	const before = fiberRunBeside(r, -1);

	const w = before ? fiberWaitAfter(before)
		: fiberRowFrom(trace.fwait, trace.frun.fiber[r - 1], 0);
	return w && fiberRunAfter(w) === r ? w : 0;
}

// When it was readied; -1 = not known.
/** @param {number} w */
function fiberReady(w) {
	return trace.fwait.ready[w - 1] - 1;
}

// Waits that a run ended by readying who waited.
/** @param {number} r */
function fiberReadied(r) {
	const waits = trace.fwait, runs = trace.frun, i = r - 1, found = [];

	for (let w = 1; w <= waits.n && found.length < MAX_ARROWS; w++)
		if (waits.waker_fiber[w - 1] === runs.fiber[i] && waits.waker[w - 1] === runs.thread[i] &&
			fiberReady(w) >= runs.start[i] && fiberReady(w) <= rowEnd(runs, r))
			found.push(w);
	return found.sort((a, b) => fiberReady(a) - fiberReady(b));
}

// From the first of its runs to the end of the last, or null.
/** @param {number} f */
function fiberSpan(f) {
	const runs = trace.frun, lo = runs.first[f], hi = runs.first[f + 1];

	return lo < hi ? {from: runs.at[lo], until: rowEnd(runs, runs.order[hi - 1] + 1)} : null;
}

// The fiber that a selection is about; 0 = none.
/** @param {Chosen} sel */
function selectionFiber(sel) {
	switch (sel.kind) {
	case "fiber": return sel.id;
	case "fiberrun": return trace.frun.fiber[sel.id - 1];
	case "fiberwait": return trace.fwait.fiber[sel.id - 1];
	default: return 0;
	}
}

// The thread number where a fiber first ran; 0 = none.
/** @param {number} f */
function fiberThread(f) {
	const runs = trace.frun, lo = runs.first[f];

	return lo < runs.first[f + 1] ? runs.thread[runs.order[lo]] : 0;
}

// The next (1) or previous (-1) run, seen from a run or a wait; of a fiber the first or the last; 0 = none.
/** @param {Chosen} sel @param {number} step */
function fiberRunOf(sel, step) {
	const {first, order} = trace.frun, lo = first[sel.id], hi = first[sel.id + 1];

	if (sel.kind === "fiberrun")
		return fiberRunBeside(sel.id, step);
	if (sel.kind === "fiberwait")
		return step > 0 ? fiberRunAfter(sel.id) : fiberRunBefore(sel.id);
	return lo < hi ? order[step > 0 ? lo : hi - 1] + 1 : 0;
}

/** @param {number} step */
function selectFiberRun(step) {
	const r = fiberRunOf(view.selection, step);

	if (r)
		select({kind: "fiberrun", id: r});
}

// How long it was on a proc in its runs, by fiber; -1 = not known.  Its thread may be taken off its proc in
// the middle of a run, and is, if there are more threads than procs.
function fibersOnProc() {
	const b = trace.fiber, runs = trace.frun;

	if (b.onProc)
		return b.onProc;
	b.onProc = new Float64Array(b.n).fill(head.has_sched ? 0 : -1);
	for (let i = 0; head.has_sched && i < runs.n; i++) {
		const f = runs.fiber[i] - 1, ns = runOnProc(i + 1);
		b.onProc[f] = ns < 0 || b.onProc[f] < 0 ? -1 : b.onProc[f] + ns;
	}
	return b.onProc;
}

// The same of one run.
/** @param {number} r */
function runOnProc(r) {
	const runs = trace.frun, i = r - 1, sums = new Float64Array(128);

	if (!head.has_sched || !runs.thread[i])
		return -1;
	laneSums(trace.threads[runs.thread[i] - 1].lane, runs.start[i], rowEnd(runs, r), sums);
	return sums[ACTIVE] > 0 ? -1 : sums[RUNNING];
}

// In words, unless it was on a proc all the time.
/** @param {number} ns */
function onProcText(ns, length) {
	return ns < 0 || ns > length * ALL_OF_IT ? "" : `, ${duration(ns)} of it on a proc`;
}

// ---- details ----

/** @param {number} f */
function fiberLink(f) {
	return f ? link(fiberLabel(f), {kind: "fiber", id: f}, {show: false}) : null;
}

// The fiber that thread number t was in, as a link to its run.
/** @param {number} t @param {number} time */
function fiberAt(t, time) {
	const r = fiberRunAt(t - 1, time);

	return r ? link(fiberLabel(trace.frun.fiber[r - 1]), {kind: "fiberrun", id: r}, {show: false}) : null;
}

// Why it waited; not known if it did since before the window.
/** @param {number} w */
function fiberReason(w) {
	return stateName[PARKED + trace.fwait.reason[w - 1]];
}

// Whether a wait may have lasted longer than is known.
/** @param {number} w */
function fiberWaitLonger(w) {
	const flags = trace.fwait.flags[w - 1];

	return Boolean(flags & (RUN_CUT | RUN_LOST)) || (Boolean(flags & RUN_OPEN) && recovered());
}

/** @param {number} w */
function fiberWaitLabel(w) {
	const i = w - 1, more = fiberWaitLonger(w) ? "> " : "";

	return `${fiberReason(w)} ${more}${duration(trace.fwait.length[i])}`;
}

// Who readied it: thread, and the fiber that this was in.
/** @param {number} w */
function fiberWaker(w) {
	const waits = trace.fwait, i = w - 1, ready = fiberReady(w);

	if (!waits.waker[i] && !waits.waker_fiber[i])
		return [];
	const f = waits.waker_fiber[i], r = f && waits.waker[i] ? fiberRunAt(waits.waker[i] - 1, ready) : 0;
	const fiber = r && trace.frun.fiber[r - 1] === f
		? link(fiberLabel(f), {kind: "fiberrun", id: r}) : fiberLink(f);
	return [fiber, fiber ? " on " : "", threadLink(waits.waker[i], ready >= 0 ? ready : undefined),
		ready >= 0 ? ` at ${exactTime(ready)}` : null];
}

// How long after a run its fiber ended without running again, 0 if in it; -1 = it did not.
/** @param {number} r */
function fiberEndAfter(r) {
	const runs = trace.frun, ended = trace.fiber.ended[runs.fiber[r - 1] - 1] - 1;

	return runs.flags[r - 1] & RUN_ENDED && ended >= 0 ? Math.max(0, ended - rowEnd(runs, r)) : -1;
}

// Why a run ended.
/** @param {number} r */
function fiberLeft(r) {
	const runs = trace.frun, i = r - 1, w = fiberWaitAfter(r);

	if (runs.flags[i] & RUN_OPEN)
		return "it still ran at the end of the trace";
	if (runs.flags[i] & RUN_LOST)
		return "not known: events were lost then";
	const ended = fiberEndAfter(r);
	if (runs.reason[i])
		return ["to wait: ", w ? link(fiberWaitLabel(w), {kind: "fiberwait", id: w}, {show: false})
			: reasonName(runs.reason[i]), ended >= 0 ? "; it ended without running again" : ""];
	if (ended < 0)
		return "another took its turn; it could have gone on";
	return ended <= FIBER_END_NS ? "it ended"
		: `it could go on; it did not run again, and ended ${duration(ended)} later`;
}

// A neighbouring run: how far away, and where.
/** @param {number} r */
function fiberBeside(r, gap, thread) {
	if (!r)
		return null;
	const where = trace.frun.thread[r - 1];

	return [link(duration(trace.frun.length[r - 1]), {kind: "fiberrun", id: r}),
		gap > 0 ? `, ${duration(gap)} apart` : "", where && where !== thread ? ", on " : "",
		where !== thread ? threadLink(where, trace.frun.start[r - 1]) : null];
}

// What is known of a fiber as a whole.
/** @param {number} f */
function fiberTotals(f) {
	const b = trace.fiber, i = f - 1, whole = b.run[i] + b.runnable[i] + b.waited[i];
	const share = (ns) => ns ? `${duration(ns)} (${percent(ns, whole)})` : null;

	return facts([
		["Number", fiberNumber(f)],
		["Runs", count(b.runs[i])],
		["Running", share(b.run[i]), b.run[i] ? onProcText(fibersOnProc()[i], b.run[i]) : null],
		["Ran on", fiberThreads(f)],
		["Runnable", share(b.runnable[i])],
		["Waiting", share(b.waited[i]), b.waits[i] ? `, in ${plural(b.waits[i], "wait")}` : null],
		["Created", b.created[i] ? exactTime(b.created[i] - 1) : "before the trace"],
		["Created by", b.creator[i] ? [fiberLink(b.creator[i]), b.thread[i] ? " on " : ""] : null,
			threadLink(b.thread[i])],
		["Ended", b.ended[i] ? exactTime(b.ended[i] - 1) : null],
		["At the end", b.ended[i] ? null : fiberStates[b.state[i]]],
		["SQL", el("code", {}, `SELECT * FROM fibers WHERE id=${fiberNumber(f)}`)],
	]);
}

// On which threads it ran for how long.
/** @param {number} f */
function fiberThreads(f) {
	const runs = trace.frun, sums = new Map();

	for (let k = runs.first[f]; k < runs.first[f + 1]; k++) {
		const i = runs.order[k];
		sums.set(runs.thread[i], (sums.get(runs.thread[i]) || 0) + runs.length[i]);
	}
	const parts = [...sums].sort((a, b) => b[1] - a[1]).slice(0, 4).flatMap(([t, ns], k) =>
		[k ? ", " : "", threadLink(t), ` ${duration(ns)}`]);
	return sums.size > 4 ? [...parts, `, and ${count(sums.size - 4)} more`] : parts;
}

/** @param {number} f */
function fiberWaitsView(f) {
	const waits = trace.fwait, lo = waits.first[f], hi = waits.first[f + 1];
	const longest = Array.from(waits.order.subarray(lo, hi)).sort((a, b) => waits.length[b] - waits.length[a]);
	const list = el("ol", {class: "chain"});

	if (lo === hi)
		return null;
	for (const i of longest.slice(0, FIBER_ROWS))
		list.append(el("li", {}, link(fiberWaitLabel(i + 1), {kind: "fiberwait", id: i + 1}),
			el("span", {class: "dim"}, ` ${stackTop(waits.stack[i])}`)));
	return el("div", {}, el("h3", {}, hi - lo > FIBER_ROWS
		? `Its longest ${FIBER_ROWS} of ${count(hi - lo)} waits` : "Its waits, the longest first"), list);
}

/** @param {string} string @param {number} f */
function fiberHeading(string, f) {
	const box = el("span", {class: "swatch", "aria-hidden": "true"});

	box.style.background = fiberCss(f);
	return el("h2", {}, box, string);
}

/** @param {Chosen} sel */
function fiberDetails(sel) {
	const f = sel.id;

	return [
		fiberHeading(fiberTitle(f), f),
		actions(sel),
		fiberTotals(f),
		fiberWaitsView(f),
		stackView("Created at", trace.fiber.stack[f - 1]),
	];
}

/** @param {Chosen} sel */
function fiberRunDetails(sel) {
	const runs = trace.frun, r = sel.id, i = r - 1, f = runs.fiber[i], t = runs.thread[i];
	const before = fiberRunBeside(r, -1), next = fiberRunBeside(r, 1);
	const after = fiberWaitAfter(r), ended = fiberWaitBefore(r);
	const onProc = runOnProc(r);
	const cut = runs.flags[i] & RUN_CUT, end = rowEnd(runs, r), part = cut || runs.flags[i] & RUN_LOST;

	return [
		fiberHeading(`${fiberTitle(f)}: ran ${part ? "more than " : ""}${duration(runs.length[i])}` +
			onProcText(onProc, runs.length[i]), f),
		actions(sel),
		facts([
			["Fiber", fiberLink(f)],
			["Thread", threadLink(t, runs.start[i])],
			["Labels", t ? labelsDuring(t, runs.start[i], end) : null],
			["Duration", `${duration(runs.length[i])} (${count(runs.length[i])} ns)`],
			["On a proc", onProc < 0 ? null : `${duration(onProc)} (${count(onProc)} ns)`],
			["Began", cut ? `before ${exactTime(runs.start[i])}, unseen` : exactTime(runs.start[i])],
			["After", ended ? ["waiting: ", link(fiberWaitLabel(ended), {kind: "fiberwait", id: ended},
				{show: false})] : null],
			["Readied by", ended ? fiberWaker(ended) : null],
			["Ended", runs.flags[i] & RUN_OPEN ? "not before the end of the trace"
				: runs.flags[i] & RUN_LOST ? `after ${exactTime(end)}, unseen` : exactTime(end)],
			["Left", fiberLeft(r)],
			["Object", after ? objectName(trace.fwait.object[after - 1]) : null],
			["Run before", before ? fiberBeside(before, runs.start[i] - rowEnd(runs, before), t) : null],
			["Next run", next ? fiberBeside(next, runs.start[next - 1] - end, t) : null],
		]),
		after ? stackView("Left at", trace.fwait.stack[after - 1]) : null,
		ended ? stackView("Readied from", trace.fwait.waker_stack[ended - 1]) : null,
		readiedView(),
		mixView("This thread meanwhile", during([trace.threads[t - 1]], runs.start[i], end)),
		samplesView("Sampled meanwhile", during([trace.threads[t - 1]], runs.start[i], end)),
		el("h3", {}, "The fiber, whole trace"),
		fiberTotals(f),
		fiberWaitsView(f),
	];
}

// Whom the fiber readied in its selected run.
function readiedView() {
	const found = view.selection.readied || [], list = el("ol", {class: "chain"});

	if (!found.length)
		return null;
	for (const w of found.slice(0, 20))
		list.append(el("li", {}, fiberLink(trace.fwait.fiber[w - 1]), " ",
			link(fiberWaitLabel(w), {kind: "fiberwait", id: w})));
	return el("div", {}, el("h3", {}, "Readied"), list);
}

/** @param {Chosen} sel */
function fiberWaitDetails(sel) {
	const waits = trace.fwait, w = sel.id, i = w - 1, f = waits.fiber[i], ready = fiberReady(w);
	const cut = waits.flags[i] & RUN_CUT, lost = waits.flags[i] & RUN_LOST, end = rowEnd(waits, w);
	const open = waits.flags[i] & RUN_OPEN, gone = waits.flags[i] & RUN_ENDED;
	const reason = head.reasons[waits.reason[i]], ran = !open && !gone && !lost;

	return [
		title(`${fiberReason(w)}: ${fiberTitle(f)} waited ` +
			`${fiberWaitLonger(w) ? "more than " : ""}${duration(waits.length[i])}` +
			(open && !recovered() ? " and still does" : ""), PARKED + waits.reason[i]),
		el("p", {class: "dim"}, reason ? reason[1] : ""),
		actions(sel),
		facts([
			["Fiber", fiberLink(f)],
			["Labels", setText(waits.set[i])],
			["Duration", `${duration(waits.length[i])} (${count(waits.length[i])} ns)`],
			["Left", cut ? "before the window, unseen" : exactTime(waits.start[i]), waits.thread[i] ? " on " : "",
				threadLink(waits.thread[i], waits.start[i])],
			["Readied by", fiberWaker(w)],
			["Readied → ran", ready >= 0 && ran ? duration(Math.max(0, end - ready)) : null],
			["Ran again", open ? notBeforeEnd(recovered()) : gone ? `never: it ended at ${exactTime(end)}`
				: lost ? `after ${exactTime(end)}, unseen` : exactTime(end),
			waits.end_thread[i] ? " on " : "", threadLink(waits.end_thread[i], end)],
			["Object", objectName(waits.object[i])],
			["Rank", rankText(waits, "reason", i, `waits of fibers for ${fiberReason(w)}`)],
			["SQL", el("code", {}, `SELECT * FROM fiber_waits WHERE id=${waits.id[i]}`)],
		]),
		stackView("Waits at", waits.stack[i]),
		stackView("Readied from", waits.waker_stack[i]),
	];
}

/** @param {number} i */
function fiberTip(i, more) {
	const runs = trace.frun, ended = fiberWaitBefore(i + 1), after = fiberWaitAfter(i + 1);
	const endAfter = fiberEndAfter(i + 1);

	return [`${fiberTitle(runs.fiber[i])} ran ${duration(runs.length[i])}${onProcText(runOnProc(i + 1), runs.length[i])}${more}`,
		ended ? `after ${fiberWaitLabel(ended)}` : "",
		runs.reason[i] ? `left: ${reasonName(runs.reason[i])}`
			: endAfter >= 0 && endAfter <= FIBER_END_NS ? "ended" : "",
		after ? stackTop(trace.fwait.stack[after - 1]) : ""];
}

// ---- the tables beside the timeline ----

// Fibers by kind, those that ran longest first; null without any.
function topFibers() {
	const b = trace.fiber, byKind = new Map();

	for (let i = 0; i < b.n; i++) {
		let row = byKind.get(b.kind[i]);
		if (!row) {
			row = {name: text(b.name[i]), fibers: 0, runs: 0, run: 0, runnable: 0, waited: 0, most: i};
			byKind.set(b.kind[i], row);
		}
		if (b.name[i] !== b.name[b.kind[i]])
			row.name = text(b.name[i]).replace(/\d+/g, "#");
		row.fibers++;
		row.runs += b.runs[i];
		row.run += b.run[i];
		row.runnable += b.runnable[i];
		row.waited += b.waited[i];
		if (b.run[i] > b.run[row.most])
			row.most = i;
	}
	const rows = [...byKind.values()].sort((x, y) => y.run - x.run || y.waited - x.waited);
	return topTable(rows.length > FIBER_NAMES
		? `Fibers (the first ${FIBER_NAMES} of ${count(rows.length)} names)` : "Fibers", rows.slice(0, FIBER_NAMES), [
		{name: "name", wide: true, cell: (r) => cellLine([el("button", {type: "button", class: "link",
			onclick: () => select({kind: "fiber", id: r.most + 1})}, r.name || "(no name)")],
		`${r.name}\nGo to the one that ran longest`)},
		{name: "fibers", n: true, cell: (r) => count(r.fibers)},
		{name: "runs", n: true, cell: (r) => count(r.runs)},
		{name: "running", n: true, cell: (r) => duration(r.run)},
		{name: "runnable", n: true, cell: (r) => duration(r.runnable)},
		{name: "waiting", n: true, cell: (r) => duration(r.waited)},
	]);
}

function topFiberWaits() {
	return topTable("Top waits of fibers", topRows("fiberwait", "wait").slice(0, TOP_ROWS), [
		{name: "for, in", wide: true, cell: (r) => waitCell(r.state, "", whereCell(r, "fiberwait"))},
		{name: "waits", n: true, cell: (r) => count(r.count)},
		{name: "total", n: true, cell: (r) => duration(r.total)},
		{name: "max", n: true, cell: (r) => duration(r.max)},
	]);
}

// ---- over the timeline ----

// Where the fibers of a thread lie on the screen, or null if it is filtered out.
function fiberLane(thread) {
	const track = thread ? tracks.byThread[thread - 1] : undefined;

	if (!track)
		return null;
	const top = track.y - screen.scrollY;
	return track.thread.fibers ? {y: top + fibersY(), h: REGION_HEIGHT - 1}
		: {y: top + TRACK_PAD, h: STATE_HEIGHT};
}

// From who readied a fiber, when it did so, to where the fiber ran again.
/** @param {CanvasRenderingContext2D} ctx @param {number} w @param {string} colour @param {number} width */
function drawReadied(ctx, w, colour, width) {
	const waits = trace.fwait, ready = fiberReady(w), i = w - 1;

	if (ready < 0 || !waits.end_thread[i])
		return false;
	return arrowBetween(ctx, fiberLane(waits.waker[i]), fiberLane(waits.end_thread[i]), ready, rowEnd(waits, w),
		colour, width);
}

// A dashed line from where a fiber was left to where it ran next.
/** @param {CanvasRenderingContext2D} ctx */
function drawAbsence(ctx, from, to) {
	const runs = trace.frun, a = fiberLane(runs.thread[from - 1]), b = fiberLane(runs.thread[to - 1]);

	if (!a || !b)
		return;
	ctx.save();
	ctx.setLineDash([4, 3]);
	ctx.strokeStyle = theme.style.text;
	ctx.lineWidth = 1.2;
	ctx.beginPath();
	const below = a.y === b.y ? a.h : a.h / 2; // what lies between is to be read
	ctx.moveTo(xOf(rowEnd(runs, from)), a.y + below);
	ctx.lineTo(xOf(runs.start[to - 1]), b.y + below);
	ctx.stroke();
	ctx.restore();
}

// The boxes on the screen, h high and y below the tracks' tops by `yOf`, of what lies in the runs of a fiber
// within a stretch of time.
/** @param {number} f */
function fiberBoxes(f, span, yOf) {
	const runs = trace.frun, hi = runs.first[f + 1], boxes = [];
	const from = Math.max(span.from, view.t0), until = Math.min(span.until, view.t1);
	let lastX = -Infinity;

	for (let i = Math.max(runs.first[f], upperBound(runs.at, runs.first[f], hi, from) - 1);
		i < hi && runs.at[i] <= until && boxes.length < OUTLINES_MAX; i++) {
		const r = runs.order[i] + 1, track = tracks.byThread[runs.thread[r - 1] - 1];
		const x0 = xOf(Math.max(runs.at[i], span.from)), x1 = xOf(Math.min(rowEnd(runs, r), span.until));
		if (!track || x1 < x0 || x1 < lastX + 2)
			continue;
		lastX = x1;
		boxes.push({x: x0, y: track.y - screen.scrollY + yOf(track), w: Math.max(x1 - x0, 1),
			h: REGION_HEIGHT - 1});
	}
	return boxes;
}

// A region lies where its fiber ran; null if it is in none.
/** @param {Chosen} sel */
function regionBoxes(sel) {
	const g = trace.region, i = sel.id - 1;

	if (sel.kind !== "region" || !g.fiber[i])
		return null;
	return g.depth[i] >= REGION_LANES_MAX ? [] : fiberBoxes(g.fiber[i], selectionSpan(sel),
		(track) => regionsY(track) + g.depth[i] * REGION_HEIGHT);
}

// What leads to and from the selected fiber; returns how many arrows it drew.
/** @param {CanvasRenderingContext2D} ctx @param {Chosen} sel */
function drawFiber(ctx, sel) {
	const f = selectionFiber(sel);
	let before = 0, next = 0, drawn = 0;

	for (const box of fiberBoxes(f, {from: trace.begin, until: trace.span}, fibersY))
		drawBox(ctx, box, theme.style.accent, 1);
	if (sel.kind === "fiberrun") {
		const ended = fiberWaitBefore(sel.id);
		before = fiberRunBeside(sel.id, -1);
		next = fiberRunBeside(sel.id, 1);
		for (const w of view.selection.readied || [])
			drawn += Number(drawReadied(ctx, w, theme.style.dim, 1.2));
		drawn += ended ? Number(drawReadied(ctx, ended, theme.style.accent, 2)) : 0;
		if (before)
			drawAbsence(ctx, before, sel.id);
		if (next)
			drawAbsence(ctx, sel.id, next);
	} else if (sel.kind === "fiberwait") {
		before = fiberRunBefore(sel.id);
		next = fiberRunAfter(sel.id);
		if (before && next)
			drawAbsence(ctx, before, next);
		drawn += Number(drawReadied(ctx, sel.id, theme.style.accent, 2));
	}
	return drawn;
}
