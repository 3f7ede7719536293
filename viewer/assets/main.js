// main.js - puts it together, and offers window.trc to people and tests.

import {addressInit, addressText, addressWrite} from "./address.js";
import {carryIn, carryInit, carryIsBusy, carryOut, focusIn} from "./carry.js";
import {causesTold} from "./causes.js";
import {countersLoad} from "./counters.js";
import {infoOf, loadColumns} from "./data.js";
import {detailsDraw} from "./details.js";
import {drawAll, drawMoved, drawSoon, gapsLoad, hatchMake, screen, screenResize} from "./draw.js";
import {fibersLoad, regionPieces} from "./fibers.js";
import {firstDraw} from "./first.js";
import {flameApi, flameTab} from "./flame_ui.js";
import {byId, duration, el, plural} from "./format.js";
import {inputInit, rangeSet} from "./input.js";
import {locksApi, locksTab} from "./locks.js";
import {laneSums} from "./lod.js";
import {looksForget} from "./looks.js";
import {drawMap, mapStale} from "./minimap.js";
import {nowApi, nowTab} from "./now.js";
import {stateColours, stateCss, stateIsLock, stateName, statesInit, theme,
	themeApply} from "./palette.js";
import {panelChanged, panelFit, panelInit} from "./panel.js";
import {pathTold} from "./paths.js";
import {procsApi} from "./procs.js";
import {instantsLoad, labelsLoad, regionsLoad, statesLoad, tablesLoad, tasksLoad, threadsLoad,
	threadsTold, trace} from "./rows.js";
import {search, searchInit} from "./search.js";
import {pick, select} from "./select.js";
import {sourceTold} from "./source.js";
import {sqlAnswered, sqlTab} from "./sql.js";
import {MERGED} from "./states.js";
import {stepsDraw, trailDraw} from "./steps.js";
import {strips} from "./strips.js";
import {spansApi, tasksTab} from "./tasks.js";
import {tipText} from "./tip.js";
import {bannersDraw, legendDraw, topsDraw} from "./tops.js";
import {SAMPLE_HEIGHT, samplesY, threadKeys, threadOrders, trackLanes, tracks,
	tracksLayout} from "./tracks.js";
import {view, viewSet, xOf} from "./view.js";

const timing = {begun: performance.now(), sketched: 0, loaded: 0, drawn: 0};

function themeInit() {
	const system = matchMedia("(prefers-color-scheme: dark)");
	let stored = null;

	try {
		stored = localStorage.getItem("trc-theme");
	} catch {
		// Some browsers refuse storage to files; the system's choice then holds.
	}
	const set = (dark) => {
		theme.dark = dark;
		document.documentElement.dataset.theme = dark ? "dark" : "light";
		themeApply(view.highlighted);
	};
	set(stored ? stored === "dark" : system.matches);
	system.addEventListener("change", (event) => {
		if (!stored) {
			set(event.matches);
			themeChanged();
		}
	});
	byId("theme").addEventListener("click", () => {
		stored = theme.dark ? "light" : "dark";
		try {
			localStorage.setItem("trc-theme", stored);
		} catch {
			// As above: the choice lasts as long as the page.
		}
		set(!theme.dark);
		themeChanged();
	});
}

// While the page loads there is a sketch, if anything.
function themeChanged() {
	if (!timing.sketched && !timing.loaded)
		return;
	hatchMake(byId("base").getContext("2d"));
	legendDraw();
	drawMap();
	drawSoon();
	if (!timing.loaded)
		return;
	detailsDraw();
	topsDraw();
	panelChanged("theme");
}

function titleDraw() {
	const title = infoOf("title"), name = infoOf("command") || "trace";

	// The program without its directory is enough to know it by.
	const short = title || name.replace(/^\S*\/(?=[^\s/])/, "");

	document.title = `${short} - trc`;
	byId("title").textContent = short;
	byId("title").title = name;
	const fibers = trace.fiber.n
		? [plural(trace.fiber.n, "fiber"), plural(trace.fwait.n, "wait of fibers", "waits of fibers")] : [];
	byId("facts").textContent = [duration(trace.span - trace.begin), threadsTold(trace.threads.filter((t) => !t.out)),
		plural(trace.park.n, "wait"), ...fibers].join(" · ");
}

function onViewChange(what) {
	if (what === "guest") { // a selection follows, of which all else is told
		tracksChanged();
		return;
	}
	if (what === "selection" || what === "range-selection" || what === "tracks") {
		detailsDraw();
		trailDraw();
	}
	if (what === "selection" || what === "range-selection")
		byId("side").scrollTop = 0; // what was asked for from a table further down is told at the top
	if (what === "tracks")
		tracksChanged();
	stepsDraw();
	addressWrite();
	drawMoved();
}

// The panel first: who measures what it leaves before it fits is not told if that, until the next frame, comes to what it was.
function tracksChanged() {
	panelFit();
	resized();
}

function resized() {
	const {width, ratio} = screen;

	screenResize();
	if (screen.width !== width || screen.ratio !== ratio)
		drawMap();
	drawSoon();
}

function resizedWatch() {
	if (!screen.isWatched)
		new ResizeObserver(resized).observe(byId("canvases"));
	screen.isWatched = true;
}

// Where a lane of a thread and a time are on the page, for tests: CSS pixels, y in the lane's middle; h: its height.  Samples lie in
// no lane, but have a kind here.
/** @param {number} time */
function pointOf(threadIdx, time, kind = "state", depth = 0) {
	const box = byId("canvases").getBoundingClientRect(), track = tracks.byThread[threadIdx];

	if (!track)
		return null;
	const lane = kind === "sample" ? {y: samplesY(track), h: SAMPLE_HEIGHT - 1}
		: trackLanes(track).find((item) => item.kind === kind && item.depth === depth);
	return lane && {x: box.left + xOf(time), y: box.top + track.y - screen.scrollY + lane.y + lane.h / 2, h: lane.h};
}

/** @param {number} x @param {number} y */
function pickOnPage(x, y) {
	const box = byId("canvases").getBoundingClientRect();

	return pick(x - box.left, y - box.top);
}

// What the details say, in parts, for tests.
function detailsTold() {
	const box = byId("details"), told = {title: /** @type {string | undefined} */ (undefined), message: /** @type {string | undefined} */ (undefined),
		facts: /** @type {Record<string, string>} */ ({}), stacks: /** @type {Record<string, string[]>} */ ({})};
	const textOf = (selector) => box.querySelector(selector)?.textContent;

	told.title = textOf("h2");
	told.message = textOf(".message");
	for (const name of box.querySelectorAll("dl:first-of-type > dt"))
		told.facts[name.textContent] = name.nextSibling.textContent;
	for (const list of box.querySelectorAll("ol.stack"))
		told.stacks[list.previousSibling.textContent] =
			[...list.querySelectorAll(".fn")].map((f) => f.textContent);
	return told;
}

// Which part of the visible time thread index idx is in these states, for tests; exact.
/** @param {number} idx */
function shareOf(idx, names) {
	const sums = new Float64Array(128);

	laneSums(trace.threads[idx].lane, view.t0, view.t1, sums);
	return names.reduce((sum, name) => sum + sums[stateName.indexOf(name)], 0) / (view.t1 - view.t0);
}

function apiMake() {
	return Object.freeze({
		get view() { return {t0: view.t0, t1: view.t1, scroll: screen.scrollY}; },
		get selection() { return view.selection && {kind: view.selection.kind, id: view.selection.id}; },
		get trail() { return view.trail.map(({kind, id}) => ({kind, id})); },
		get range() { return view.range && {...view.range}; },
		get arrows() { return screen.arrows || 0; },
		get timing() { return {...timing, frames: screen.frameTimes.slice()}; },
		get matches() { return search.matches.n; },
		threads: () => trace.threads.map(
			(t) => ({idx: t.idx, serial: t.serial, tid: t.tid, name: t.name, idle: t.idle})),
		shownThreads: () => tracks.all.filter((t) => t.kind === "thread").map((t) => t.thread.idx),
		begin: trace.begin,
		span: trace.span,
		counterTracks: trace.counterTracks.length,
		counts: {parks: trace.park.n, regions: trace.region.n, tasks: trace.task.n, logs: trace.log.n,
			labels: trace.under.n, samples: trace.sample.n, fibers: trace.fiber.n,
			fiberRuns: trace.frun.n, fiberWaits: trace.fwait.n,
			intervals: trace.states.v.length - trace.threads.length},
		setView: (t0, t1) => viewSet(t0, t1),
		setRange: rangeSet,
		select: (kind, id) => select(kind ? {kind, id} : null),
		pick: (x, y) => {
			const hit = pickOnPage(x, y);
			return hit && {kind: hit.kind, id: hit.id};
		},
		hover: (x, y) => {
			const hit = pickOnPage(x, y);
			return hit && {kind: hit.kind, id: hit.id, thread: hit.track.thread ? hit.track.thread.idx : -1,
				tip: tipText(hit)[0]};
		},
		told: detailsTold,
		path: pathTold,
		why: causesTold,
		source: (file, line) => sourceTold(file, line),
		sql: sqlAnswered,
		address: addressText,
		carry: Object.freeze({out: carryOut, in: carryIn, focus: focusIn, isBusy: carryIsBusy}),
		flame: flameApi(),
		tasks: spansApi(),
		locks: locksApi(),
		procs: procsApi(),
		now: nowApi(),
		share: shareOf,
		pointOf,
		stateColour: (name) => stateCss(stateName.indexOf(name)),
		stateTexts: () => [...stateName.keys()].filter((s) => s < MERGED && stateColours.light[s])
			.map((s) => [stateName[s], stateCss(s), theme.stateText[s]]),
		get bases() { return screen.bases; },
		get exact() { return !screen.stale && strips.areExact; },
		redraw: drawAll,
	});
}

// Tables, lanes and tracks of the columns: runs of fibers before regions, which are cut to them.
function traceLoad() {
	tablesLoad();
	threadsLoad();
	statesLoad();
	fibersLoad();
	regionsLoad(regionPieces);
	labelsLoad();
	tasksLoad();
	countersLoad();
	instantsLoad();
}

function start() {
	traceLoad();
	timing.loaded = performance.now();
	byId("loading").remove();
	byId("app").hidden = byId("app").inert = false;
	looksForget();
	gapsLoad();
	threadKeys();
	for (const [id, [name]] of Object.entries(threadOrders))
		byId("sort").append(el("option", {value: id}, name));
	byId("annotations-label").hidden = !trace.taskTracks.length && !trace.counterTracks.length;
	bannersDraw();
	titleDraw();
	tracksLayout();
	legendDraw();
	screenResize();
	hatchMake(byId("base").getContext("2d"));
	view.t0 = trace.begin;
	view.t1 = trace.span;
	view.listeners.push(onViewChange);
	panelInit([flameTab, tasksTab, locksTab, nowTab, sqlTab]);
	addressInit();
	searchInit();
	inputInit();
	carryInit();
	resizedWatch();
	mapStale(); // it was that of the sketch
	drawAll();
	timing.drawn = performance.now();
	Object.assign(window, {trc: apiMake()});
	document.documentElement.dataset.trcReady = "1";
	setTimeout(topsDraw, 0);
}

function failed(error) {
	const box = byId("loading") || byId("banners");

	box.className = "failed";
	box.textContent = `This timeline cannot be shown: ${error.message}. ` +
		"It needs a browser from 2023 or later, and the whole file.";
	document.documentElement.dataset.trcFailed = "1";
}

function sketched() {
	resizedWatch();
	timing.sketched = performance.now();
}

statesInit();
themeInit();
Promise.all([firstDraw(sketched), loadColumns(stateIsLock)]).then(start).catch(failed);
