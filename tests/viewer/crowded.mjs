// crowded.mjs - what pages say of tasks that are under way at once, and of threads, for which there is little room.
//
//   node crowded.mjs TRACE-ANALYZE DIRECTORY

import path from "node:path";
import * as analyzer from "./analyzer.mjs";
import {check, holds, openPage, results, same, settle, textsDrawn, withBrowser} from "./browser_lib.mjs";

const [analyze, directory] = process.argv.slice(2);
const pages = path.resolve(directory);
const MS = 1e6, LANES = 64; // of which the last is shared, if that many tasks are under way at once

// Tasks by SQL, with times from the trace's begin on.
function tasksOf(trace) {
	return analyzer.rowsOf(analyze, `${pages}/${trace}.trc`, "SELECT CAST(id AS TEXT) AS id, type, " +
		"start_ns - (SELECT value FROM trace_info WHERE key = 'trace_start_ns') AS start, duration_ns AS ns FROM tasks ORDER BY start_ns", [])
		.map((task) => ({...task, end: task.ns === null ? Infinity : task.start + task.ns}));
}

// The middle of the longest of the stretches in which most tasks of one type are under way, and its length; before more are than have lanes of their own.
function mostAtOnce(tasks) {
	const found = {type: "", n: 0, at: 0, length: 0};

	for (const type of new Set(tasks.map((task) => task.type))) {
		const own = tasks.filter((task) => task.type === type && task.end !== Infinity);
		const times = [...new Set(own.flatMap(({start, end}) => [start, end]))].sort((a, b) => a - b);
		for (let i = 0; i + 1 < times.length; i++) {
			const n = own.filter(({start, end}) => start <= times[i] && end > times[i]).length, length = times[i + 1] - times[i];
			if (n >= LANES)
				break;
			if (n > found.n || (n === found.n && length > found.length))
				Object.assign(found, {type, n, at: times[i] + length / 2, length});
		}
	}
	return found;
}

// Where the track of a type lies on the page, once it is in sight; x: of a time.
async function trackOf(page, type, time) {
	const label = page.locator(".label.annotation").filter({has: page.locator(".name", {hasText: new RegExp(`^${type}$`)})});
	const {y, height} = await label.boundingBox();

	return page.evaluate(([at, top, h]) => {
		const box = document.getElementById("canvases").getBoundingClientRect(), {t0, t1} = window.trc.view;
		return {x: box.left + (at - t0) / (t1 - t0) * box.width, top: Math.round(top), bottom: Math.round(top + h)};
	}, [time, y, height]);
}

// Names of the tasks that the pointer meets at x, from the track's top to its bottom.
function met(page, {x, top, bottom}) {
	return page.evaluate(([at, from, until]) => {
		const ids = new Set(), {t0, t1} = window.trc.view;
		for (let y = from; y < until; y++) {
			const hit = window.trc.pick(at, y);
			if (hit?.kind === "task")
				ids.add(hit.id);
		}
		const names = [...ids].map((id) => {
			window.trc.select("task", id);
			return /^task (.+?):/.exec(window.trc.told().title)[1];
		});
		window.trc.select(null);
		window.trc.setView(t0, t1);
		return names;
	}, [x, top, bottom]);
}

// On how many pixels over the track something is drawn: the frame of what is selected.
function overlaid(page, {top, bottom}) {
	return page.evaluate(([from, until]) => {
		window.trc.redraw();
		const canvas = document.getElementById("over"), copy = document.createElement("canvas");
		Object.assign(copy, {width: canvas.width, height: until - from});
		const ctx = copy.getContext("2d", {willReadFrequently: true});
		ctx.drawImage(canvas, 0, canvas.getBoundingClientRect().top - from);
		const {data} = ctx.getImageData(0, 0, copy.width, copy.height);
		return data.reduce((n, value, i) => n + Number(i % 4 === 3 && value > 0), 0);
	}, [top, bottom]);
}

async function tipAt(page, x, y) {
	await page.mouse.move(x, y);
	await settle(page);
	return page.locator("#tip").innerText();
}

const namesAt = (tasks, type, at) => tasks.filter((task) => task.type === type && task.start <= at && task.end > at).map((task) => `${type} ${task.id}`);
const inOrder = (names) => names.toSorted((a, b) => a.localeCompare(b, "en", {numeric: true}));
const bannersOf = (page) => page.locator("#banners").innerText();

// Where there are lanes for all tasks, the pointer meets all that SQL has for the time.
async function allAreMet(page, trace) {
	const tasks = tasksOf(trace), {type, n, at, length} = mostAtOnce(tasks);

	check(n > (trace === "20" ? 19 : 1), `${trace}: several tasks are under way at once`, [type, n]);
	await page.evaluate(([from, until]) => window.trc.setView(from, until), [at - 20 * length, at + 20 * length]);
	await settle(page);
	const track = await trackOf(page, type, at);
	same(inOrder(await met(page, track)), inOrder(namesAt(tasks, type, at)), `${trace}: the pointer meets all ${n} of ${type}`);
	if (trace === "demo") // on a busy machine it has any number of requests later
		return;
	check(!(await bannersOf(page)).includes("without a lane"), `${trace}: no banner speaks of tasks without a lane`, await bannersOf(page));
	check(!(await textsDrawn(page)).some(({text}) => / more$/.test(text)), `${trace}: nothing is left to count`);
}

// Of more tasks than lanes, the last lane counts those without one, tooltips name them, and clicks lead through them.
async function restIsCounted(page, trace) {
	const tasks = tasksOf(trace), at = 15 * MS, all = namesAt(tasks, "job", at), rest = all.length - (LANES - 1);

	await page.evaluate(([from, until]) => window.trc.setView(from, until), [at - MS, at + MS]);
	await settle(page);
	const track = await trackOf(page, "job", at), shared = {x: track.x, y: track.bottom - 10};
	const seen = await met(page, track), texts = (await textsDrawn(page)).map(({text}) => text);
	same(seen.length, LANES, `${trace}: the pointer meets ${LANES} tasks`);
	check(texts.includes(`${rest} more`), `${trace}: ${rest} more, says the last lane`, texts);
	const tip = await tipAt(page, shared.x, shared.y), lines = tip.split("\n"), others = all.slice(LANES - 1);
	same(lines[0], `${rest} tasks of type job`, `${trace}: so says the tooltip`);
	same(others.slice(0, 10).filter((name) => !lines.some((line) => line.startsWith(`${name} `))), [], `${trace}: and names them, up to ten`);
	same(lines.filter((line) => /^and \d+ more$/.test(line)), rest > 10 ? [`and ${rest - 10} more`] : [], `${trace}: and counts the rest`);
	check((await bannersOf(page)).includes(`${rest} tasks without a lane of their own: 64 or more of a type were under way at once. The last lane of the type counts them. ` +
		"Search finds them."), `${trace}: a banner says so`, await bannersOf(page));
	const led = [];
	for (let i = 0; i < rest; i++) {
		await page.mouse.click(shared.x, shared.y);
		await settle(page);
		led.push(/^task (.+?):/.exec((await page.evaluate(() => window.trc.told())).title)[1]);
	}
	same(inOrder(led), inOrder(others), `${trace}: each click selects another one`);
	await page.evaluate(([from, until]) => window.trc.setView(from, until), [0, 40 * MS]);
	const far = (await textsDrawn(page)).map(({text}) => text);
	check(far.includes(`up to ${rest} more`), `${trace}: seen from afar, too`, far);
}

// Each of the tasks can be selected by its address, by search, and in the table; then it is told, and there is a box where it lies.
async function eachIsShown(page, trace) {
	const tasks = tasksOf(trace), last = tasks.at(-1);
	await page.mouse.move(2, 2);
	const shown = async (what, id) => {
		check(await holds(page, (wanted) => window.trc.told().title?.startsWith(`task job ${wanted}:`), id), `${trace}: ${what} tells task ${id}`,
			await page.evaluate(() => window.trc.told().title));
		await settle(page);
		const {t0, t1} = await page.evaluate(() => window.trc.view), {start, end} = tasks.find((task) => task.id === id);
		check(t0 < end && start < t1, `${trace}: ${what} shows the time of task ${id}`, [t0, t1]);
		const track = await trackOf(page, "job", start), boxed = await overlaid(page, track);
		await page.evaluate(() => window.trc.select(null));
		check(boxed > await overlaid(page, track), `${trace}: ${what} marks task ${id}`, boxed);
	};

	for (const {id} of [tasks[0], ...tasks.slice(LANES - 2)]) {
		await page.evaluate((wanted) => {
			window.location.hash = "";
			window.location.hash = `#sel=task:${wanted}`;
		}, id);
		await shown("its address", id);
	}
	await page.locator("#search").fill("job");
	const found = new Set();
	for (let i = 0; i < tasks.length; i++) {
		await page.keyboard.press("Enter");
		await settle(page);
		const [, id] = /^task job (\d+):/.exec((await page.evaluate(() => window.trc.told())).title) || [];
		if (i >= tasks.length - 3 && id)
			await shown("search", id);
		found.add(id);
	}
	same([await page.evaluate(() => window.trc.matches), found.size], [tasks.length, tasks.length], `${trace}: search leads to each`);
	await page.evaluate(() => window.trc.tasks.open());
	await page.locator("#panel-spans .plain button", {hasText: "job"}).first().click();
	await page.locator("#panel-spans .spans li", {hasText: `job ${last.id} at`}).locator("button").first().click();
	await shown("the table", last.id);
}

// Of more threads than the overview counts its tooltip says how many it does.
async function overviewSays(page, trace) {
	const n = await page.evaluate(() => window.trc.threads().length), title = await page.locator("#map").getAttribute("title");

	same(title || "", n > 2000 ? "The overview counts 1,250 of 2,500 threads: one of 2" : "", `${trace}: which of ${n} threads the overview shows`);
}

async function opened(context, trace, ...uses) {
	const page = await openPage(context, `${pages}/${trace}.html`, "", {width: 1400, height: 1600});

	for (const use of uses)
		await use(page, trace);
	same(page.troubles, [], `${trace}: nothing went wrong`);
	await page.close();
}

await withBrowser("light", async (context) => {
	await opened(context, "20", allAreMet, overviewSays);
	await opened(context, "demo", allAreMet);
	await opened(context, "70", restIsCounted, eachIsShown);
	await opened(context, "90", restIsCounted);
	await opened(context, "threads", overviewSays);
});
console.log(`crowded.mjs: ${results.passed} passed, ${results.failed} failed`);
process.exit(results.failed ? 1 : 0);
