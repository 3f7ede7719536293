// viewer.mjs - opens a page in Chromium and uses it, again and again; prints what that takes.
//
//   TRC_BROWSER=chromium node viewer.mjs PAGE ROUNDS [NAME]
//
// With a NAME, which stands before each figure, the page is opened, and its SQL box, and nothing else.
//
// Prints lines of a figure's name, a tab, and its median over the rounds; each round has a browser of its own.

import {readFileSync, readdirSync} from "node:fs";
import {withBrowser} from "./browser_lib.mjs";

const [page, rounds, named] = [process.argv[2], Number(process.argv[3]), process.argv[4]];

function median(values) {
	const sorted = values.toSorted((a, b) => a - b), n = sorted.length;

	return n % 2 ? sorted[(n - 1) / 2] : (sorted[n / 2 - 1] + sorted[n / 2]) / 2;
}

// The largest memory that a process of the page ever had, in bytes: of the renderers below this process, the largest.
function rendererPeak() {
	const parents = new Map(), peaks = new Map();

	for (const pid of readdirSync("/proc").filter((name) => /^\d+$/.test(name)))
		try {
			const status = readFileSync(`/proc/${pid}/status`, "utf8");
			parents.set(Number(pid), Number(/^PPid:\s*(\d+)/m.exec(status)[1]));
			if (readFileSync(`/proc/${pid}/cmdline`, "utf8").includes("--type=renderer"))
				peaks.set(Number(pid), 1024 * Number(/^VmHWM:\s*(\d+)/m.exec(status)[1]));
		} catch {
			// It has ended meanwhile.
		}
	const isOurs = (pid) => pid === process.pid || (parents.has(pid) && isOurs(parents.get(pid)));

	return Math.max(0, ...[...peaks].filter(([pid]) => isOurs(pid)).map(([, bytes]) => bytes));
}

// Frames of zooming in by 7 % each, and of panning by 3 % at three scales, each drawn whole.  `script`: how long the page's program takes to draw each;
// `shown`: how long it is from one of the browser's frames to the next meanwhile, with all that the browser does to show it.
async function frames() {
	const views = [], {span} = window.trc, nextFrame = () => new Promise((done) => requestAnimationFrame(done));

	for (let i = 0; i < 120; i++)
		views.push([span / 3, span / 3 + span * Math.pow(0.93, i)]);
	for (const part of [0.5, 0.05, 0.001])
		for (let i = 0; i < 40; i++)
			views.push([span * (0.2 + part * 0.03 * i), span * (0.2 + part * (0.03 * i + 1))]);
	const script = views.map(([t0, t1]) => {
		const begun = performance.now();
		window.trc.setView(t0, t1);
		window.trc.redraw();
		return performance.now() - begun;
	});
	const shown = [];
	let last = await nextFrame();
	for (const [t0, t1] of views) {
		window.trc.setView(t0, t1);
		window.trc.redraw();
		const now = await nextFrame();
		shown.push(now - last);
		last = now;
	}
	return [script, shown].map((times) => times.sort((a, b) => a - b));
}

// The same views as who zooms and pans sees them: one in each of the browser's frames, of which the page draws as much as it has time for.  `script`: how
// long the page's program takes for each, with what a new range means for the rest of the page; `shown`: as above; `rest`: after every fifth view, how long it is
// from then until all of the picture is of that view, if no other follows.
async function moves() {
	const views = [], {span} = window.trc, nextFrame = () => new Promise((done) => requestAnimationFrame(done));

	for (let i = 0; i < 120; i++)
		views.push([span / 3, span / 3 + span * Math.pow(0.93, i)]);
	for (const part of [0.5, 0.05, 0.001])
		for (let i = 0; i < 40; i++)
			views.push([span * (0.2 + part * 0.03 * i), span * (0.2 + part * (0.03 * i + 1))]);
	const script = [], shown = [], rest = [];
	let last = await nextFrame();
	for (const [t0, t1] of views) {
		const begun = performance.now();
		window.trc.setView(t0, t1);
		const set = performance.now() - begun, now = await nextFrame();
		script.push(set + window.trc.timing.frames.at(-1)); // the page's own frame was asked for before
		shown.push(now - last);
		last = now;
	}
	for (const [i, [t0, t1]] of views.entries()) {
		const begun = performance.now();
		window.trc.setView(t0, t1);
		await nextFrame();
		if (i % 5 !== 4)
			continue;
		while (!window.trc.exact)
			await nextFrame();
		rest.push(performance.now() - begun);
	}
	return [script, shown, rest].map((times) => times.sort((a, b) => a - b));
}

// Milliseconds until what is typed has been looked for, then of steps to the next match, and of steps back: over these, and as far beyond.
function search(query) {
	const input = document.getElementById("search");
	const enter = (shiftKey) => {
		const begun = performance.now();
		input.dispatchEvent(new KeyboardEvent("keydown", {key: "Enter", shiftKey}));
		return performance.now() - begun;
	};
	const longest = (n, shiftKey) => Math.max(...Array.from({length: n}, () => enter(shiftKey)));

	input.value = query;
	const first = enter(false), next = longest(20, false), previous = longest(40, true);
	return {first, next, previous, matches: window.trc.matches};
}

async function round() {
	const figures = {};

	await withBrowser("light", async (context) => {
		const tab = await context.newPage();
		await tab.setViewportSize({width: 1600, height: 900});
		const cdp = await context.newCDPSession(tab);
		await cdp.send("Performance.enable");
		await tab.goto(`file://${page}`);
		// Asked ten times a second: at each of the browser's frames, as by default, it would have the page's main thread make frames for that alone.
		await tab.waitForFunction(() => document.documentElement.dataset.trcReady ||
			document.documentElement.dataset.trcFailed, null, {timeout: 120000, polling: 100});
		const {metrics} = await cdp.send("Performance.getMetrics");
		const metric = (name) => metrics.find((m) => m.name === name).value;
		figures["opens: CPU time of the main thread, s"] = metric("ThreadTime");
		// Also when the thread has no processor, as the worker's work takes both.
		figures["opens: tasks of the main thread, by the clock, s"] = metric("TaskDuration");
		figures["first picture, a sketch, s"] = await tab.evaluate(() => window.trc.timing.sketched / 1000);
		figures["everything is drawn, and answers, s"] = await tab.evaluate(() => window.trc.timing.drawn / 1000);
		if (named) {
			const {openMs, error} = await tab.evaluate(() => window.trc.sql("SELECT count(*) FROM parks"));
			if (error)
				throw new Error(error);
			figures["memory of the page, peak, MB"] = rendererPeak() / 1e6;
			figures["the SQL box makes its tables, s"] = openMs / 1000;
			return;
		}
		const [script, shown] = await tab.evaluate(frames);
		const of = (times, part) => times[Math.floor(times.length * part)];
		figures["drawing a frame while zooming and panning, script, median, ms"] = of(script, 0.5);
		figures["drawing a frame while zooming and panning, script, p99, ms"] = of(script, 0.99);
		figures["from frame to frame meanwhile, as shown, median, ms"] = of(shown, 0.5);
		figures["from frame to frame meanwhile, as shown, p99, ms"] = of(shown, 0.99);
		const [own, seen, rest] = await tab.evaluate(moves);
		figures["a moving view, a frame of the page, script, median, ms"] = of(own, 0.5);
		figures["a moving view, a frame of the page, script, p99, ms"] = of(own, 0.99);
		figures["a moving view, from frame to frame, as shown, p99, ms"] = of(seen, 0.99);
		figures["the view rests, until the picture is exact, median, ms"] = of(rest, 0.5);
		figures["the view rests, until the picture is exact, p99, ms"] = of(rest, 0.99);
		for (const [name, query] of [["search of all names", "e"], ["search of a lock", "mutex"]]) {
			const {first, next, previous, matches} = await tab.evaluate(search, query);
			if (!matches)
				throw new Error(`nothing found: ${query}`);
			figures[`${name}, ms`] = first;
			figures[`next match of ${name}, longest of 20, ms`] = next;
			figures[`previous match of ${name}, longest of 40, ms`] = previous;
		}
		figures["memory of the page, peak, MB"] = rendererPeak() / 1e6;
	});
	return figures;
}

const all = [];
for (let i = 0; i < rounds; i++)
	all.push(await round());
for (const name of Object.keys(all[0]))
	console.log(`${named ? `${named}, ` : ""}${name}\t${median(all.map((figures) => figures[name])).toFixed(3)}`);
