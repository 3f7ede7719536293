// viewer.mjs - opens a page in Chromium and uses it, again and again; prints what that takes.
//
//   TRC_BROWSER=chromium node viewer.mjs PAGE ROUNDS
//
// Prints lines of a figure's name, a tab, and its median over the rounds; each round has a browser of its own.

import {readFileSync, readdirSync} from "node:fs";
import {withBrowser} from "./browser_lib.mjs";

const [page, rounds] = [process.argv[2], Number(process.argv[3])];

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

// Frames of zooming in by 7 % each, of panning by 3 % at three scales, and back out: each drawn at once.
function frames() {
	const times = [], {span} = window.trc;
	const show = (t0, t1) => {
		const begun = performance.now();
		window.trc.setView(t0, t1);
		window.trc.redraw();
		times.push(performance.now() - begun);
	};

	for (let i = 0; i < 120; i++)
		show(span / 3, span / 3 + span * Math.pow(0.93, i));
	for (const part of [0.5, 0.05, 0.001])
		for (let i = 0; i < 40; i++)
			show(span * (0.2 + part * 0.03 * i), span * (0.2 + part * (0.03 * i + 1)));
	return times.sort((a, b) => a - b);
}

// Milliseconds until what is typed has been looked for, and then of each step to the next match.
function search(query) {
	const input = document.getElementById("search");
	const enter = () => {
		const begun = performance.now();
		input.dispatchEvent(new KeyboardEvent("keydown", {key: "Enter"}));
		return performance.now() - begun;
	};

	input.value = query;
	const first = enter(), steps = [];
	for (let i = 0; i < 20; i++)
		steps.push(enter());
	return {first, step: Math.max(...steps), matches: window.trc.matches};
}

async function round() {
	const figures = {};

	await withBrowser("light", async (context) => {
		const tab = await context.newPage();
		await tab.setViewportSize({width: 1600, height: 900});
		const cdp = await context.newCDPSession(tab);
		await cdp.send("Performance.enable");
		await tab.goto(`file://${page}`);
		await tab.waitForFunction(() => document.documentElement.dataset.trcReady ||
			document.documentElement.dataset.trcFailed, null, {timeout: 120000});
		const {metrics} = await cdp.send("Performance.getMetrics");
		const metric = (name) => metrics.find((m) => m.name === name).value;
		figures["opens: CPU time of the main thread, s"] = metric("TaskDuration");
		figures["first picture, a sketch, s"] = await tab.evaluate(() => window.trc.timing.sketched / 1000);
		figures["everything is drawn, and answers, s"] = await tab.evaluate(() => window.trc.timing.drawn / 1000);
		const times = await tab.evaluate(frames);
		figures["a frame while zooming and panning, median, ms"] = times[Math.floor(times.length / 2)];
		figures["a frame while zooming and panning, p99, ms"] = times[Math.floor(times.length * 0.99)];
		for (const [name, query] of [["search of all names", "e"], ["search of a lock", "mutex"]]) {
			const {first, step, matches} = await tab.evaluate(search, query);
			if (!matches)
				throw new Error(`nothing found: ${query}`);
			figures[`${name}, ms`] = first;
			figures[`next match of ${name}, longest of 20, ms`] = step;
		}
		figures["memory of the page, peak, MB"] = rendererPeak() / 1e6;
	});
	return figures;
}

const all = [];
for (let i = 0; i < rounds; i++)
	all.push(await round());
for (const name of Object.keys(all[0]))
	console.log(`${name}\t${median(all.map((figures) => figures[name])).toFixed(3)}`);
