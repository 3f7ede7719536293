// told.mjs - what the page says of made-up traces, beside the report and SQL.
//
//   node told.mjs TRACE-ANALYZE DIRECTORY

import {execFileSync} from "node:child_process";
import {readFileSync} from "node:fs";
import path from "node:path";
import * as analyzer from "./analyzer.mjs";
import {check, colourAt, detailsOf, holds, openPage, pointOf, results, same, settle, stateColour, upperEdge, withBrowser} from "./browser_lib.mjs";

const [analyze, directory] = process.argv.slice(2);
const pages = path.resolve(directory);
const MS = 1e6;

function sql(trace, query) {
	return analyzer.rowsOf(analyze, `${pages}/${trace}.trc`, query, []);
}

function report(trace) {
	return readFileSync(`${pages}/${trace}.report`, "utf8");
}

async function opened(context, trace, use) {
	const page = await openPage(context, `${pages}/${trace}.html`);

	await use(page, trace);
	same(page.troubles, [], `${trace}: no errors, and no requests`);
	await page.close();
}

// What is told of what lies there.
async function toldAt(page, thread, ns) {
	const {x, y} = await pointOf(page, thread, ns);

	await page.mouse.click(x, y);
	await settle(page);
	return (await detailsOf(page)).replace(/\s+/g, " ");
}

// Taken off its proc in a call, a thread is runnable, in page, report and SQL.
async function preempted(page, trace) {
	for (const [ms, state] of [[1.5, "send"], [3, "runnable"], [5.5, "send"], [7, "send"]]) {
		const point = await pointOf(page, 0, ms * MS);
		same(await colourAt(page, point, upperEdge(point)), await stateColour(page, state), `at ${ms} ms it is ${state}`);
	}
	const runnable = await toldAt(page, 0, 3 * MS), wait = await toldAt(page, 0, 7 * MS);
	check(runnable.startsWith("runnable for 3.00 ms"), "it could run", runnable);
	check(/Ran instead worker 2 for 3.00 ms on proc 0 /.test(runnable), "who ran instead", runnable);
	check(/In the call send 7.50 ms, which it did not wait for meanwhile/.test(runnable), "in which call", runnable);
	check(/send: waited 7.50 ms .*Of it without a proc 3.00 ms, 40 %; instead ran: worker 2 for 3.00 ms/.test(wait), "the wait tells of it, too", wait);
	same(sql(trace, "SELECT cause, from_ns, to_ns, instead_thread FROM causes WHERE wait = 1 AND leaf ORDER BY 2").map(Object.values),
		[["io", 1000000, 2000000, null], ["preempted", 2000000, 5000000, 2], ["io", 5000000, 8500000, null]], "so says SQL");
	const tops = (await page.locator("#tops").innerText()).replace(/\s+/g, " ");
	check(/Waiting for files and sockets [^]*send [^]*for 3.00 ms of it without a proc/.test(tops), "the table of waits tells it, as the report does", tops);
	const why = execFileSync(analyze, ["--why", "wait:1", `${pages}/${trace}.trc`], {encoding: "utf8"});
	check(/could have run, but had no processor in send fd 5; worker 2 \(102\) ran instead/.test(why), "and --why", why);
	check(/for 3.00 ms of it it could have run, but had no proc/.test(report(trace)), "and the report", report(trace));
}

// A page of a part tells as much of a wait as lies in it; who ran instead it does not know, as that began before it.
async function preemptedPart(page) {
	const wait = await toldAt(page, 0, 7 * MS), tops = (await page.locator("#tops").innerText()).replace(/\s+/g, " ");

	check(/Of it without a proc 2.00 ms, 40 % of 5.00 ms in this page(?!;)/.test(wait), "without a proc, of what lies in the page", wait);
	check(/Longest single waits, for locks and files [^]*worker 1 5.00 ms/.test(tops), "the longest waits, as the report has them", tops);
	await page.evaluate(() => window.trc.select("thread", 1));
	await settle(page);
	const thread = (await detailsOf(page)).replace(/\s+/g, " ");
	check(/Longest waits send [^.]*5.00 ms/.test(thread), "and those of a thread", thread);
}

// Threads of one name have their ids beside it, wherever they are named; others have not.
async function alike(page) {
	const labels = await page.locator("#labels .label:visible").evaluateAll((rows) => rows.map((row) =>
		`${row.querySelector(".name").textContent}|${row.querySelector(".tid").textContent}`));
	same(labels.sort(), ["main|101", "mc-worker|102", "mc-worker|103"], "beside the lanes, where a long name does not hide them");
	const wait = await toldAt(page, 2, 3 * MS);
	check(/Thread mc-worker \(103\) .*Held by mc-worker \(102\) Woken by mc-worker \(102\) /.test(wait), "in the details", wait);
	check(/mc-worker \(102\) held the lock and/.test(wait), "in sentences", wait);
	const at = await pointOf(page, 2, 3 * MS);
	await page.mouse.move(at.x, at.y);
	await holds(page, () => !document.getElementById("tip").hidden);
	check(/woken by mc-worker \(102\)/.test(await page.locator("#tip").innerText()), "in the tooltip", await page.locator("#tip").innerText());
	await page.keyboard.press("Escape");
	const tops = (await page.locator("#tops").innerText()).replace(/\s+/g, " ");
	check(/mc-worker \(103\) 4.00 ms .*mc-worker \(102\) 2.00 ms/.test(tops), "in tables", tops);
	await page.keyboard.press("/");
	await page.keyboard.type("mc-w");
	const found = page.locator("#results");
	check(await holds(page, () => document.querySelectorAll("#results span.what").length === 2), "the search finds both");
	check(/mc-worker \(102\)[^]*mc-worker \(103\)/.test(await found.innerText()), "in the search", await found.innerText());
}

// A pool of which one thread works is not folded, nor in part.
async function pools(page) {
	same((await page.locator("#labels .label:visible .name").allInnerTexts()).sort(),
		["main", "worker 1", "worker 2", "worker 3", "worker 4", "▸ 2 idle threads"], "a pool is folded as one, or not at all");
}

// What costs is first, in each table as in the report; what is idle is folded, and last.
async function costlyFirst(page, trace) {
	const tables = await page.evaluate(() => [...document.querySelectorAll("#tops details")].map((d) => [d.querySelector("summary").textContent, d.open,
		[...d.querySelectorAll("tbody tr")].map((row) => row.textContent.replace(/\s+/g, " "))]));
	const of = (heading) => tables.find(([own]) => own === heading) || [heading, null, []];

	same(of("Longest single waits, for locks and files")[2].length, 1, "of locks there is one");
	check(/^mutex.*main5.00 ms$/.test(of("Longest single waits, for locks and files")[2][0]), "it is main's", of("Longest single waits, for locks and files"));
	same(of("Longest single waits, for other threads")[2].map((row) => /worker \d/.exec(row)[0]), ["worker 4"], "of those for threads that of who works");
	same(of("Longest idle waits").slice(1).map((of) => Array.isArray(of) ? of.length : of), [false, 5], "idle ones are folded");
	same(of("Waiting for other threads")[2].length, 1, "waits for other threads: one row");
	check(/399 ms/.test(of("Waiting for other threads")[2][0]), "that of who works", of("Waiting for other threads"));
	check(of("Idle threads, waiting for work")[1] === false && /2.99 s/.test(of("Idle threads, waiting for work")[2][0]), "idle threads apart, folded",
		of("Idle threads, waiting for work"));
	const order = ["Waiting for locks", "Waiting for other threads", "Longest single waits, for locks and files", "Longest single waits, for other threads"];
	same(order.map((heading) => report(trace).indexOf(`\n${heading}`)).every((at, i, all) => at > 0 && (!i || at > all[i - 1])), true, "the report has them so");
	same(tables.map(([heading]) => heading).filter((heading) => order.includes(heading)), order, "and the page");
}

// Where tracks of procs lie, on the page.
function procTrack(page, name) {
	return page.evaluate((wanted) => {
		const {left, top} = document.getElementById("canvases").getBoundingClientRect(), track = window.trc.procs.tracks().find((one) => one.name === wanted);
		return {x: left + 300, y: top + track.y, h: track.h};
	}, name);
}

// A proc's name has its share, and its bar as much of the height.
async function procShares(page) {
	await page.evaluate(() => window.trc.procs.toggle());
	await settle(page);
	const labels = await page.locator("#labels .label:visible").evaluateAll((all) => all.map((label) => [".name", ".tid"].map((part) => label.querySelector(part).textContent)));
	same(labels.filter(([name]) => /^proc \d/.test(name)), [["proc 0", "33 %"], ["proc 1", "100 %"], ["proc 2", "33 %"]], "the shares of procs");
	const background = await colourAt(page, await procTrack(page, "proc 0"), 0), heights = [];
	for (const name of ["proc 0", "proc 1"]) {
		const at = await procTrack(page, name);
		let used = 0;
		for (let dy = 1; dy < at.h - 1; dy++)
			used += Number(await colourAt(page, at, dy) !== background);
		heights.push(used);
	}
	check(heights[1] > 2 * heights[0] && heights[0] > 1, "a proc that is used for a third of the time has a third of the height", heights);
}

// On a page of tasks that of procs is the time for the tasks.
async function procsForTasks(page) {
	await page.evaluate(() => window.trc.procs.toggle());
	await settle(page);
	const labels = await page.locator("#labels .label:visible").evaluateAll((all) => all.map((label) => [".name", ".tid"].map((part) => label.querySelector(part)?.textContent)));
	same(labels.filter(([name]) => /proc/.test(name)).map(([, share]) => share), ["20 % in use for these tasks", "procs", "20 %"], "the share of a proc for tasks");
	const {y, height} = await page.locator("#labels .label:visible", {hasText: "proc 0"}).boundingBox(), drawn = [];
	for (const ms of [1, 3, 5]) {
		const {x} = await pointOf(page, 0, ms * MS);
		drawn.push(await page.evaluate(([atX, atY]) => window.trc.hover(atX, atY), [x, y + height / 2]));
	}
	same(drawn.map((hit) => hit && [hit.kind, hit.id]), [null, ["cpu", 1], null], "and only that is drawn of its stretch");
}

// The largest value is that which lasted, and it says how long.
async function queueLasts(page, trace) {
	await page.evaluate(() => window.trc.procs.toggle());
	await page.evaluate(() => window.trc.select("queue", 1));
	await settle(page);
	const told = (await detailsOf(page)).replace(/\s+/g, " ");
	check(/Largest 2 threads, for 4.00 ms at the longest/.test(told), "for how long it was the largest", told);
	check(/Its values value for of the time longest 2 threads 4.00 ms 13 % 4.00 ms 1 thread 3.00 ms /.test(told), "and each value", told);
	await page.locator("#details dd button", {hasText: "2 threads"}).click();
	await settle(page);
	check(/From 0.003 000 000 s Until 0.007 000 000 s/.test((await detailsOf(page)).replace(/\s+/g, " ")), "it leads to when it lasted", await detailsOf(page));
	same(sql(trace, "SELECT count(*) AS n FROM sched_latency WHERE kind = 'preempted'")[0].n, 3, "SQL has what the queue is made of");
}

// Where there are no samples it says so, and how often they were taken.
async function withoutSamples(page) {
	await page.evaluate(() => window.trc.flame.set({of: "cpu", task: "request", slowest: "10"}));
	await page.evaluate(() => window.trc.flame.idle());
	await settle(page);
	const empty = await page.locator("#panel .flame-empty:visible").innerText();
	same(empty, "No samples in the slowest 10 % of tasks request. One was taken each 10.0 ms of a thread's CPU time: what took less may have none.",
		"no samples");
}

// A page of tasks says once what time it is of, and offers a command that asks for the same tasks.
async function tasksPart(page, trace) {
	const banner = await page.locator("#banners p >> nth=0").innerText();

	check(/the slowest 50% of task request [^;]*; thread m\*n; 0\.002 000 000 s to 0\.008 000 000 s of /.test(banner), "the time is told once", banner);
	await page.evaluate(() => window.trc.setRange({t0: 3e6, t1: 7e6}));
	await settle(page);
	const [command] = (await page.locator("#details button", {hasText: "Copy command"}).getAttribute("title")).split("\n");
	same(command, "trace-analyze --window 3000000ns..7000000ns --thread 'm*n' --task request --slowest 50% --html part.html " +
		`${trace.replace("-part", "")}.trc`, "the command for a range of it");
}

// A tooltip goes when the pointer does, and when a key moves what it is of.
async function tipsGo(page) {
	const at = await pointOf(page, 0, 5 * MS), isHidden = () => page.locator("#tip").isHidden();
	const over = async () => {
		await page.mouse.move(at.x - 5, at.y);
		await page.mouse.move(at.x, at.y);
		await holds(page, () => !document.getElementById("tip").hidden);
	};

	await over();
	await page.keyboard.press("d");
	await settle(page);
	check(await isHidden(), "a tooltip goes when a key moves the timeline");
	await page.keyboard.press("0");
	await over();
	await page.evaluate(() => document.documentElement.dispatchEvent(new PointerEvent("pointerleave")));
	check(await isHidden(), "and when the pointer leaves the window");
}

// A time of the clock that is typed is that which --window takes it for.
async function clockTyped(page) {
	await page.locator("#canvases").focus();
	await page.keyboard.press("m");
	await page.keyboard.type("22:13:20.001..22:13:20.0015");
	await page.keyboard.press("Enter");
	await settle(page);
	same(await page.locator("#when-error").innerText(), "", "a time of the clock is taken");
	same(await page.locator("#when").inputValue(), "599.999µs..1.099999ms", "to the nanosecond");
}

async function clockPart(page) {
	same(await page.evaluate(() => [window.trc.begin, window.trc.span]), [599999, 1099999], "so takes it --window");
}

// So is a time after the clock was set.
async function adjustedTyped(page) {
	for (const [typed, range] of [["23:13:20.005..23:13:20.006", "5ms..6ms"], ["22:13:20.001..22:13:20.002", "1ms..2ms"]]) {
		await page.locator("#canvases").focus();
		await page.keyboard.press("m");
		await page.keyboard.type(typed);
		await page.keyboard.press("Enter");
		await settle(page);
		same([await page.locator("#when-error").innerText(), await page.locator("#when").inputValue()], ["", range], `${typed}, of a clock that was set`);
	}
}

async function adjustedPart(page) {
	same(await page.evaluate(() => [window.trc.begin, window.trc.span]), [5000000, 6000000], "so takes it --window");
}

// "Threads now" says when.
async function nowSays(page) {
	await page.keyboard.press("h");
	await settle(page);
	check(/^What each thread did at 0.010 000 000 s, when the trace ended\./.test(await page.locator("#panel .at").innerText()), "threads now: when");
}

// Tables of samples and the flame graph have a margin where SQL has one, and none of what has a sample for each occurrence.
async function counted(page, trace, window = []) {
	const margins = analyzer.rowsOf(analyze, `${pages}/counted.trc`, "SELECT event, name, samples_margin(event, thread, s.scaled_value) AS margin " +
		"FROM samples AS s JOIN sample_events AS e ON e.id = event GROUP BY event ORDER BY event", window);
	const tables = await page.locator("#tops details").allInnerTexts();

	await page.keyboard.press("g");
	same(margins.map(({margin}) => margin > 0), [false, true, true], `${trace}: of the event that is counted SQL has no margin`);
	for (const {event, name, margin} of margins) {
		const table = tables.find((text) => text.includes(`Where it ran (${name}: `));
		check(/0x200f/.test(table), `${trace}: ${name} has a table`, tables);
		same(/±/.test(table), margin > 0, `${trace}: the table of ${name} has a margin where SQL has one`);
		await page.evaluate((kind) => window.trc.flame.set(`of=${kind}`), `event-${event}`);
		await page.evaluate(() => window.trc.flame.idle());
		const summary = await page.locator(".flame-summary").innerText();
		check(summary.includes(` of ${name}, `), `${trace}: the flame graph is of ${name}`, summary);
		same(/an estimate: .*±/.test(summary), margin > 0, `${trace}: the flame graph of ${name} is an estimate where SQL has a margin`);
	}
}

await withBrowser("light", async (context) => {
	await opened(context, "preempted", preempted);
	await opened(context, "preempted-part", preemptedPart);
	await opened(context, "alike", alike);
	await opened(context, "pools", pools);
	await opened(context, "pools", costlyFirst);
	await opened(context, "procs", procShares);
	await opened(context, "procs", queueLasts);
	await opened(context, "worked-tasks", procsForTasks);
	await opened(context, "tasks", withoutSamples);
	await opened(context, "tasks-part", tasksPart);
	await opened(context, "preempted", tipsGo);
	await opened(context, "alike", nowSays);
	await opened(context, "clock", clockTyped);
	await opened(context, "clock-part", clockPart);
	await opened(context, "adjusted", adjustedTyped);
	await opened(context, "adjusted-part", adjustedPart);
	await opened(context, "counted", counted);
	await opened(context, "counted-part", (page, trace) => counted(page, trace, ["--window", "10us..50us"]));
});
console.log(`told.mjs: ${results.passed} passed, ${results.failed} failed`);
process.exit(results.failed ? 1 : 0);
