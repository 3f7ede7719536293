// browser_pages.mjs - pages with many threads, long names, or a million intervals, and broken ones; for browser.mjs.

import {readFileSync, rmSync, writeFileSync} from "node:fs";
import path from "node:path";
import {check, colourAt, detailsOf, faintTexts, holds, openPage, pointOf, same, settle, shortCuts, smallTexts, someOf, stateColour, textsDrawn, viewOf} from "./browser_lib.mjs";

const pages = path.resolve(process.argv[2]);
const A = 1; // worker-a of known.html
const MS = 1e6;

// A main thread and 199 workers, of which 30 are idle: a summary each, until one is opened.
export async function groupsOfThreads(context) {
	const page = await openPage(context, path.join(pages, "many.html"));
	const labels = () => page.locator(".label:not([hidden]):not(.annotation), .label.group:not([hidden])")
		.locator(".name").allTextContents();
	const shown = () => page.evaluate(() => window.trc.shownThreads());

	same((await labels()).toSorted(), ["main", "▸ 30 idle threads", "▸ worker-*"].toSorted(),
		"threads of one kind of name are one line, and so are idle ones");
	same((await labels()).at(-1), "▸ 30 idle threads", "idle threads come last");
	same(await shown(), [0], "groups are closed at first");
	const workers = page.locator(".label:not([hidden])", {hasText: "worker-*"});
	const box = await workers.boundingBox(), canvas = await page.locator("#canvases").boundingBox();
	const colours = new Set();
	for (let dy = 6; dy < 22; dy += 2)
		for (let dx = 50; dx < 500; dx += 30)
			colours.add(await colourAt(page, {x: canvas.x + dx, y: box.y + dy}));
	check(colours.has(await stateColour(page, "mutex")) && colours.size > 2, "a group's lane has what its threads do",
		[...colours]);

	await page.evaluate(() => window.trc.select("thread", 200));
	await settle(page);
	same((await shown()).toSorted((a, b) => a - b), [0, 199], "a selected thread of a closed group is shown");
	await page.evaluate(() => window.trc.select(null));
	await settle(page); // the lines below the thread's have moved up
	await workers.locator("button.open").click();
	await settle(page);
	same((await shown()).length, 170, "an opened group shows its threads");
	await page.keyboard.press("Enter");
	await settle(page);
	same(await shown(), [0], "and is closed again, by the keyboard too");
	await page.fill("#filter", "worker");
	await settle(page);
	same((await shown()).length, 199, "a filter shows single threads");
	same(page.troubles, [], "no trouble with groups");
}

export async function manyThreads(context) {
	const page = await openPage(context, path.join(pages, "many.html"), "#sort=start");
	const box = await page.locator("#canvases").boundingBox();

	check(await page.locator(".label:not([hidden])").count() < 60, "only visible threads have labels");
	await page.mouse.move(box.x + 300, box.y + 300);
	const before = await viewOf(page);
	await page.mouse.wheel(0, 600);
	await holds(page, () => window.trc.view.scroll > 0);
	await settle(page);
	let view = await viewOf(page);
	check(view.scroll > 0 && view.t1 === before.t1, "with many threads the wheel scrolls", view);
	await page.keyboard.down("Control");
	await page.mouse.wheel(0, -300);
	await page.keyboard.up("Control");
	await settle(page);
	view = await viewOf(page);
	check(view.t1 - view.t0 < before.t1 - before.t0, "and zooms with Ctrl", view);
	await page.evaluate(() => window.trc.select("thread", 200));
	await page.evaluate(() => window.trc.select("park", window.trc.counts.parks));
	await settle(page);
	const last = await pointOf(page, 199, 0);
	check(last.y > box.y && last.y < box.y + box.height, "selecting scrolls to the thread", last);
	same(page.troubles, [], "no trouble with 200 threads");
}

// Two fingers on the tracks: what time was under each stays under it.
export async function twoFingers(context) {
	const page = await openPage(context, path.join(pages, "many.html"), "#sort=start");
	const box = await page.locator("#canvases").boundingBox(), y = box.y + 100;
	const cdp = await context.newCDPSession(page);
	const touch = (type, ...xs) => cdp.send("Input.dispatchTouchEvent", {type, touchPoints: xs.map((x, id) => ({x: box.x + x, y, id}))});
	const before = await viewOf(page), per = (before.t1 - before.t0) / box.width;

	await touch("touchStart", 200);
	await touch("touchStart", 200, 400);
	for (let k = 1; k <= 10; k++)
		await touch("touchMove", 200 - 10 * k, 400 + 20 * k);
	await touch("touchEnd");
	await settle(page);
	const view = await viewOf(page), now = (view.t1 - view.t0) / box.width;
	check(Math.abs(now / per - 200 / 500) < 0.01, "two fingers that part zoom", [before, view]);
	check(Math.abs(view.t0 + 100 * now - (before.t0 + 200 * per)) < 2 * per && Math.abs(view.t0 + 600 * now - (before.t0 + 400 * per)) < 2 * per,
		"and keep the times under them", [before, view]);
	same(page.troubles, [], "no trouble with two fingers");
}

export async function mergedPage(context) {
	const page = await openPage(context, path.join(pages, "merged.html"));
	const banners = await page.locator("#banners").innerText();

	check(/runs of intervals shorter than .* are merged and counted/.test(banners), "merging is said", banners);
	check(await page.evaluate(() => window.trc.counts.intervals) <= 2 * 5000 + 2 * 8, "and keeps the limit (tracks:T2)");
	same(page.troubles, [], "no trouble with merged intervals");
}

// The details of one row of each kind, each tab, and the help.
async function elementsAreReadable(page, name) {
	const seen = [], look = async (what) => {
		await settle(page);
		const {n, small} = await smallTexts(page, 11);
		seen.push(n);
		same(small, [], `${name}: ${what}: no text is smaller than 11 px`);
		const {n: of, faint} = await faintTexts(page, 4.5, 3);
		same(faint, [], `${name}: ${what}: what stands in empty fields, and on what is off, can be read in both themes`);
		check(of.fields > 0 && of.off > 0, `${name}: ${what}: there are such fields, and such buttons`, of);
	};

	await look("the page");
	await page.evaluate(() => document.querySelectorAll("#tops details").forEach((details) => { details.open = true; }));
	for (const kind of ["park", "iv", "region", "labels", "task", "tasktype", "log", "unlock", "thread", "counter", "mark", "sample", "gap", "fiber",
		"fiberrun", "fiberwait"])
		if (await page.evaluate((k) => Array.from({length: 60}, (_, i) => i + 1).some((id) => {
			window.trc.select(k, id);
			return window.trc.selection?.kind === k;
		}), kind))
			await look(`details of a ${kind}`);
	await page.evaluate(() => window.trc.setRange({t0: window.trc.begin, t1: window.trc.span}));
	await look("details of a range");
	await page.evaluate(() => window.trc.setRange(null));
	for (const key of ["g", "t", "l", "h", "q"]) {
		await page.locator("#canvases").focus();
		await page.keyboard.press(key);
		await look(`the tab of ${key.toUpperCase()}`);
	}
	await page.locator("#canvases").focus();
	await page.keyboard.press("?");
	await look("the help");
	await page.keyboard.press("Escape");
	check(seen.length > 10 && Math.min(...seen) > 40, `${name}: there are texts`, seen);
	for (const [width, height] of [[1400, 800], [1000, 700], [700, 500], [360, 640]])
		for (const key of ["g", "t", "l", "h"]) {
			await page.setViewportSize({width, height});
			await page.locator("#canvases").focus();
			await page.keyboard.press(key);
			await settle(page);
			same(await shortCuts(page), [], `${name}: ${width}x${height}, ${key.toUpperCase()}: no text is cut before its seventh character`);
			same(await page.evaluate(() => [...document.querySelectorAll("input[placeholder]")].filter((input) => getComputedStyle(input).textOverflow !== "ellipsis")
				.map((input) => input.getAttribute("placeholder"))), [], `${name}: ${width}x${height}, ${key.toUpperCase()}: what stands in an empty field is cut with a mark`);
		}
}

// Text is large enough to be read, and in its own bar.
export async function textsAreReadable(context) {
	const elements = someOf(["known", "fibers", "traced"], 1); // of these pages also all that is not drawn

	for (const [name, fragment, least] of [["known", "", 15], ["fibers", "", 15], ["traced", "", 5], ["many", "#sort=start", 5]]) {
		const page = await openPage(context, path.join(pages, `${name}.html`), fragment);
		const span = await page.evaluate(() => window.trc.span), texts = [];

		for (const [from, until] of [[0, 1], [0.1, 0.6], [0.3, 0.45], [0.5, 0.502]]) {
			await page.evaluate(([t0, t1]) => window.trc.setView(t0, t1), [span * from, span * until]);
			texts.push(...await textsDrawn(page));
		}
		same(texts.filter(({px}) => px < 11), [], `${name}: no text is smaller than 11 px`);
		// A signal's name covers what it lies over.
		const inLanes = texts.filter(({text, ends}) => ends && ends[0] && !/^counter/.test(ends[0]) && !/^SIG/.test(text));
		same(texts.filter(({text}) => /\d\.…$/.test(text)), [], `${name}: no number is cut`);
		same(texts.filter(({text}) => /^.{0,5}…$/u.test(text)), [], `${name}: no text is cut before its seventh character`);
		check(inLanes.length >= least, `${name}: there are texts`, inLanes.length);
		// What counts tasks without a lane of their own is of a stretch of bars.
		const isOfStretch = ({text, ends}) => /^up to [\d,]+ more$/.test(text) && ends.every((end) => /^task/.test(end));
		same(inLanes.filter((drawn) => drawn.ends[0] !== drawn.ends[1] && !isOfStretch(drawn)), [], `${name}: no text runs over the next bar`);
		if (elements.includes(name))
			await elementsAreReadable(page, name);
		await page.close();
	}
}

// What the tracks do not need: the panel opens, or lanes grow.
export async function usesTheRoom(context) {
	const traced = path.join(pages, "traced.html"), height = (page, idx) => page.evaluate((i) => window.trc.pointOf(i, 0)?.h, idx);
	const isOpen = (page) => page.locator("#panel").isVisible();

	const page = await openPage(context, traced);
	check(await isOpen(page), "where tracks are few the panel opens by itself");
	same(await page.locator("#panel-tab-flame").getAttribute("aria-selected"), "true", "with the flame graph");
	check(await holds(page, () => /[#&]panel=flame/.test(location.hash)), "the address has it");
	await page.keyboard.press("b");
	await settle(page);
	check(!await isOpen(page) && await holds(page, () => /[#&]panel=0/.test(location.hash)), "and remembers that it was closed");
	check(await height(page, 1) >= 30, "then lanes are higher", await height(page, 1));
	await page.keyboard.press("g");
	await settle(page);
	check(await isOpen(page), "G opens it");
	await page.locator("#canvases").focus();
	await page.keyboard.press("g");
	check(await isOpen(page) && await page.evaluate(() => document.activeElement.id) === "panel-tab-flame", "from elsewhere G leads to it");
	await page.keyboard.press("g");
	check(!await isOpen(page), "and there closes it");
	await zoomsEverywhere(page);
	await fitsAtOnce(page);
	const closed = await openPage(context, traced, "#panel=0"), low = await openPage(context, traced, "", {width: 1400, height: 380});
	same([await isOpen(closed), await isOpen(low)], [false, false], "it stays closed where the address says so, and where there is no room");
	const many = await openPage(context, path.join(pages, "many.html"), "#sort=start");
	same([await isOpen(many), await height(many, 0)], [false, 18], "so it does with many threads, whose lanes are low");
	same([page, closed, low, many].flatMap((one) => one.troubles), [], "no trouble with panels");
	for (const one of [page, closed, low, many])
		await one.close();
}

// Tracks that go and come back between two frames leave lanes and panel as they were: nobody is told that their sizes changed.
async function fitsAtOnce(page) {
	const sizes = () => page.evaluate(() => ["canvases", "base", "panel"].map((id) => Math.floor(document.getElementById(id).getBoundingClientRect().height)));

	await page.keyboard.press("b");
	await settle(page);
	const before = await sizes();
	check(before[0] === before[1] && before[2] > 0, "the lanes are as high as what the panel leaves", before);
	await page.evaluate(() => {
		const filter = document.getElementById("filter");
		for (const value of ["no thread is called so", ""]) {
			filter.value = value;
			filter.dispatchEvent(new Event("input", {bubbles: true}));
		}
	});
	await settle(page);
	same(await sizes(), before, "and still are after a filter that came and went between two frames");
	await page.keyboard.press("b");
	await settle(page);
}

// Ctrl+wheel zooms the timeline wherever the pointer is, and nothing else.
async function zoomsEverywhere(page) {
	await page.keyboard.press("b");
	await page.evaluate(() => {
		window.prevented = [];
		window.addEventListener("wheel", (event) => window.prevented.push(event.defaultPrevented), {passive: true});
	});
	for (const id of ["panel-body", "side", "canvases"]) {
		const before = await viewOf(page), box = await page.locator(`#${id}`).boundingBox();
		await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
		await page.keyboard.down("Control");
		await page.mouse.wheel(0, -120);
		check(await holds(page, (was) => window.trc.view.t1 - window.trc.view.t0 < was, before.t1 - before.t0), `Ctrl+wheel over ${id} zooms the timeline`);
		await page.keyboard.up("Control");
		await page.keyboard.press("0");
		await settle(page);
	}
	same(await page.evaluate(() => window.prevented), [true, true, true], "and not the browser's page");
	await page.keyboard.press("b");
}

// Names of a megabyte each: cut, with their length.
export async function longNames(context) {
	const page = await openPage(context, path.join(pages, "long.html")), most = 5000;

	for (const [kind, id] of [["thread", 2], ["region", 1], ["task", 1], ["log", 1], ["labels", 1], ["park", 3], ["counter", 1], ["sample", 1]]) {
		const title = await page.evaluate(([k, i]) => {
			window.trc.select(k, i);
			return window.trc.told().title;
		}, [kind, id]);
		const told = await detailsOf(page);
		check(told.includes("nnnn") && told.length < 30 * most, `a ${kind} has the beginning of its name`, told.length);
		check(title.length < 3 * most, `the title of a ${kind}`, title.length);
	}
	check(/n… \(1048576 bytes in all\)/.test(await detailsOf(page)), "the length is told", (await detailsOf(page)).slice(4000, 4200));
	await page.evaluate(() => window.trc.select(null));
	await page.keyboard.press("0");
	await settle(page);
	const at = await pointOf(page, A, 3 * MS, "region");
	await page.mouse.move(at.x, at.y);
	await settle(page);
	const tip = await page.locator("#tip").boundingBox();
	check(tip.x >= 0 && tip.width < 500, "a tooltip is no wider for it", tip);
	same(await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth), 0, "nothing is wider than the window");
	same((await textsDrawn(page)).filter(({text}) => text.length > 400), [], "what is drawn is cut to its bar");
	same(page.troubles, [], "no trouble with names of a megabyte");
}

// What has no place in the timeline: it is counted above, and search leads to it.
export async function notDrawn(context) {
	const page = await openPage(context, path.join(pages, "too_many.html")), banners = await page.locator("#banners").innerText();
	const tracks = await page.locator(".label.annotation .name").allInnerTexts();

	for (const wanted of ["1 type of tasks not drawn, those with least time: search finds them.",
		"1 counter not drawn: there are more than 200. Search finds them.", "2 regions not drawn: they lie in more than 63 others. Search finds them."])
		check(banners.includes(wanted), `the banners say: ${wanted}`, banners);
	check(!tracks.includes("type-0.") && !tracks.includes("counter-0."), "they have no tracks", tracks.length);
	for (const [query, kind, title, from] of [["type-0.", "task", "task type-0. 201", 0.2], ["counter-0.", "counter", "counter-0.: 200", 2],
		["depth-65.", "region", "region depth-65.", 0.065], ["depth-63.", "region", "region depth-63.", 0.063]]) {
		await page.evaluate(() => window.trc.setView(9e6, 1e7));
		await page.locator("#search").fill(query);
		await page.keyboard.press("Enter");
		await settle(page);
		const seen = await page.evaluate(() => ({matches: window.trc.matches, kind: window.trc.selection?.kind, title: window.trc.told().title, view: window.trc.view}));
		same([seen.matches, seen.kind], [1, kind], `search finds ${query}`);
		check(seen.title.startsWith(title), `its details are told: ${title}`, seen.title);
		check(seen.view.t0 <= from * MS && from * MS <= seen.view.t1, `and its time is seen: ${from} ms`, seen.view);
	}
	same(page.troubles, [], "no trouble with what is not drawn");
	await page.close();
}

// How much of the lane of states of a thread is in the colours of these states, in parts of 1.
function coloured(page, thread, states) {
	return page.evaluate(([idx, names]) => {
		const colours = new Set(names.map((name) => parseInt(window.trc.stateColour(name).slice(1), 16)));
		const canvas = document.getElementById("base"), box = canvas.getBoundingClientRect();
		const {y, h} = window.trc.pointOf(idx, 0), top = Math.round(y - box.top - h / 2);
		const copy = document.createElement("canvas");
		copy.width = canvas.width;
		copy.height = h;
		const ctx = copy.getContext("2d", {willReadFrequently: true});
		ctx.drawImage(canvas, 0, -top);
		const {data} = ctx.getImageData(0, 0, copy.width, copy.height);
		let n = 0;
		for (let i = 0; i < data.length; i += 4)
			n += colours.has(data[i] << 16 | data[i + 1] << 8 | data[i + 2]);
		return n / (data.length / 4);
	}, [thread, states]);
}

// Thousands of waits for locks, each shorter than a pixel: their colours have their share of the time.
async function locksHaveTheirShare(page) {
	const locks = ["mutex", "rwlock_read"];

	for (const share of [1, 0.1, 0.01]) {
		const thread = 3, span = await page.evaluate(() => window.trc.span);
		await page.evaluate(([s, t]) => {
			window.trc.setView(s / 3, s / 3 + s * t);
			window.trc.redraw();
		}, [span, share]);
		const seen = await coloured(page, thread, locks);
		const exact = await page.evaluate((t) => window.trc.share(t, ["mutex", "rwlock_read"]), thread);
		check(Math.abs(seen - exact) < 0.02 + 0.2 * exact, `at 1/${1 / share} of the trace locks have ${exact} of ` +
			"the time, and of the lane", seen);
	}
}

// All threads are in the matches, in order of time.
async function stepsThroughAll(page) {
	const walked = await page.evaluate(() => {
		const box = document.getElementById("search"), found = [];
		window.trc.setView(0, window.trc.span);
		box.value = "mutex";
		box.dispatchEvent(new KeyboardEvent("keydown", {key: "Enter"}));
		for (let i = 0; i < 400; i++) {
			found.push({...window.trc.selection, ...window.trc.told().facts});
			document.getElementById("search-next").click();
		}
		return found;
	});
	const times = walked.map((m) => m.Began);

	check(new Set(walked.map((m) => m.Thread)).size > 50, "next match leads to threads of all 64",
		new Set(walked.map((m) => m.Thread)).size);
	same(new Set(walked.map((m) => m.id)).size, 400, "to another match each time");
	same(times, times.toSorted(), "in order of time");
	await page.evaluate(() => {
		document.getElementById("search").value = "no such thing";
		document.getElementById("search").dispatchEvent(new KeyboardEvent("keydown", {key: "Enter"}));
		window.trc.select(null);
	});
}

// Pages that lack something, or were changed on their way, say so; lines that end in another way are no harm.
export async function brokenPages(context, file) {
	const whole = readFileSync(file, "latin1"), piece = /<script type="text\/plain" data-column="iv\.duration [^>]*>([^<]*)<\/script>/;
	const cut = /incomplete: its end is missing/, [element, text] = piece.exec(whole);

	for (const [what, page, told] of [
		["half of a page", whole.slice(0, whole.indexOf(text) + 5), cut],
		["a page without its last bytes", whole.slice(0, whole.lastIndexOf('"columns":') + 40), cut],
		["a page without a piece", whole.replace(element, ""), /incomplete: a piece of part \d+ is missing/],
		["a page with a piece that is cut", whole.replace(text, text.slice(0, 8)), /damaged: part \d+ cannot be read/],
		["a page with other ends of lines", whole.replaceAll("\n", "\r\n"), null],
	]) {
		const broken = `${file}.broken.html`, tab = await context.newPage(), errors = [];
		writeFileSync(broken, page, "latin1");
		tab.on("pageerror", (error) => errors.push(error.message));
		await tab.goto(`file://${broken}`);
		await tab.waitForFunction(() => document.documentElement.dataset.trcReady || document.documentElement.dataset.trcFailed);
		await tab.waitForTimeout(100);
		const seen = await tab.evaluate(() => document.getElementById("loading")?.textContent);
		check(told ? told.test(seen) : seen === undefined, what, seen);
		same(errors, [], `${what}: no error that nobody awaits`);
		await tab.close();
		rmSync(broken);
	}
}

export async function largePage(context) {
	const page = await openPage(context, path.join(pages, "million.html"), "#sort=start");
	const {intervals, parks} = await page.evaluate(() => window.trc.counts);
	const frames = await page.evaluate(async () => {
		const times = [], mid = window.trc.span / 3;
		for (let i = 0; i < 120; i++) {
			const span = window.trc.span * Math.pow(0.93, i);
			const begun = performance.now();
			window.trc.setView(mid, mid + span);
			window.trc.redraw();
			times.push(performance.now() - begun);
		}
		return times.sort((a, b) => a - b);
	});

	console.log(`${intervals} intervals, ${parks} waits: open ${Math.round(page.openMs)} ms, frame p50 ` +
		`${frames[60].toFixed(1)} ms, p99 ${frames[118].toFixed(1)} ms`);
	check(intervals > 1e6, "a page of a million intervals opens", intervals);
	const {sketched, loaded} = await page.evaluate(() => window.trc.timing);
	check(sketched > 0 && sketched < loaded, "a sketch of its threads is drawn before all is there", [sketched, loaded]);
	await locksHaveTheirShare(page);
	await stepsThroughAll(page);
	same(page.troubles, [], "no trouble with a million intervals");
}
