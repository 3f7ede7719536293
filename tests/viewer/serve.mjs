// serve.mjs - trace-view's pages in a browser: of a trace and its parts, of a process, and what ends it.
//
//   node serve.mjs TRACE-VIEW TRACE PID
//
// The process has a flight recorder, and is this program's to end.

import {spawn} from "node:child_process";
import {check, holds, results, same, withBrowser} from "./browser_lib.mjs";

const [view, trace, pid] = process.argv.slice(2);

// trace-view, its address, and what it says when it has ended.
async function served(...words) {
	const tool = spawn(view, ["--no-browser", ...words], {stdio: ["ignore", "pipe", "pipe"]});
	const server = {tool, errors: "", ended: null};

	tool.stderr.on("data", (text) => { server.errors += text; });
	server.whenEnded = new Promise((done) => tool.on("exit", (status, signal) => {
		server.ended = {status, signal};
		done(server.ended);
	}));
	server.url = await new Promise((done, failed) => {
		let text = "";
		tool.stdout.on("data", (more) => { text += more; if (text.includes("\n")) done(text.trim()); });
		tool.on("exit", () => failed(new Error(`trace-view ended: ${server.errors}`)));
	});
	return server;
}

// Opens an address; remembers what the page should not have done.
async function opened(context, server, fragment = "") {
	const page = await context.newPage();
	const origin = new URL(server.url).origin;

	page.troubles = [];
	page.on("console", (m) => ["error", "warning"].includes(m.type()) && page.troubles.push(m.text()));
	page.on("pageerror", (e) => page.troubles.push(e.stack));
	page.on("request", (r) => r.url().startsWith(server.url) || r.url().startsWith(`blob:${origin}`) ||
		r.url().startsWith("data:") || page.troubles.push(`request ${r.url()}`));
	await page.goto(server.url + fragment);
	await drawn(page, 1);
	return page;
}

// Waits until so many pages have been loaded, well or not, and what is shown is drawn.
async function drawn(page, loads) {
	// Asked in the window: a page of a process may be replaced meanwhile.
	await page.waitForFunction((n) => {
		const {dataset} = document.querySelector("iframe:not(.waits)")?.contentDocument?.documentElement || {dataset: {}};
		return Number(document.body.dataset.loads) >= n && (dataset.trcReady || dataset.trcFailed);
	}, loads);
	return innerOf(page);
}

function innerOf(page) {
	return page.frames().find((frame) => frame !== page.mainFrame());
}

function said(page) {
	return page.evaluate(() => document.getElementById("said").textContent);
}

async function traceIsShown(context) {
	const server = await served(trace);
	const page = await opened(context, server);
	const inner = innerOf(page);

	check(await inner.evaluate(() => document.documentElement.dataset.trcReady), "the page draws");
	check(await inner.evaluate(() => window.trc.counts.threads > 0 || window.trc.threads().length > 0), "it has threads");
	same(await page.title(), `${trace.replace(/.*\//, "")} - trc`, "the window's title is the trace's name");
	same(await page.evaluate(() => document.getElementById("bar").hidden), true, "nothing stands above the page");

	// The keyboard is the page's, without a click; its address becomes the window's.
	const whole = await inner.evaluate(() => window.trc.view.t1 - window.trc.view.t0);
	await page.keyboard.press("w");
	await inner.waitForFunction((before) => window.trc.view.t1 - window.trc.view.t0 < before, whole);
	// Both are written a moment after the view has changed.
	const agree = page.waitForFunction((all) => /^#t=/.test(location.hash) && location.hash !== all &&
		location.hash === document.querySelector("iframe").contentWindow.location.hash, `#t=0,${Math.round(whole)}`);
	check(await agree.then(() => true, () => false), "the address is the page's");

	// An address that somebody else is told shows the same.
	const other = await opened(context, server, "#t=1000,5000");
	same(await innerOf(other).evaluate(() => [window.trc.view.t0, window.trc.view.t1]), [1000, 6000],
		"the window's address is the page's");
	// Where the machine is slow, it is time to look at the page's address before this one's change is told.
	await other.evaluate(() => new Promise((done) => {
		setTimeout(() => {
			for (const end = performance.now() + 1000; performance.now() < end;)
				;
		}, 0);
		setTimeout(() => done(location.hash = "#t=2000,7000"), 1);
	}));
	check(await holds(innerOf(other), () => window.trc.view.t0 === 2000), "the page follows the window's address");

	// SQL runs in the page, served or not.
	same((await inner.evaluate(() => window.trc.sql("SELECT 6 * count(*) AS n FROM threads WHERE id = 1"))).csv, "n\n6\n",
		"the SQL box answers");

	same(page.troubles, [], "the page asked for nothing else, and had no trouble");
	await page.reload();
	await drawn(page, 1);
	same(server.ended, null, "one that loads again is still there");
	await page.close();
	await new Promise((done) => setTimeout(done, 7000));
	same(server.ended, null, "one of two pages is closed: it goes on");
	same(other.troubles, [], "the other page had no trouble");
	await other.close();
	same(await server.whenEnded, {status: 0, signal: null}, "the last page is closed: it ends");
	same(server.errors, "", "it said nothing");
}

// What the page that is shown has: the window's edges and the whole, as the page itself tells.
function partOf(page) {
	return page.evaluate(() => {
		const [from, to] = ["from", "to"].map((name) => Number(new URLSearchParams(location.search).get(name)));
		return {from, to, span: JSON.parse(document.getElementById("about").textContent).overview.span};
	});
}

// The bounds that the page's own program has.
function viewOf(page) {
	return innerOf(page).evaluate(() => window.trc.view);
}

// A trace with more events than are wanted at once is shown in parts.
async function partsAreShown(context) {
	const server = await served("--events", "2000", trace);
	const page = await opened(context, server);
	const first = await viewOf(page);
	const {span} = await partOf(page);

	check(first.t0 === 0 && first.t1 < span / 2, "the first part is a part", [first, span]);
	check(/^This page shows 0 s to [\d.]+ s of [\d.]+ s, about [\d,]+ of [\d,]+ events\.$/.test(await said(page)),
		"it says that it is a part", await said(page));

	await page.click("#later");
	await drawn(page, 2);
	let part = await partOf(page);
	check(part.from === first.t1 && Math.abs(part.to - 2 * first.t1) <= 1, "the next begins where the first ends", part);
	let view = await viewOf(page);
	check(view.t0 === part.from && view.t1 === part.to, "and is what the page shows", view);

	// A drag over the middle of the overview.
	const box = await page.locator("#overview").boundingBox();
	await page.mouse.move(box.x + box.width * 0.5, box.y + 10);
	await page.mouse.down();
	await page.mouse.move(box.x + box.width * 0.6, box.y + 12);
	await page.mouse.move(box.x + box.width * 0.75, box.y + 12);
	await page.mouse.up();
	await drawn(page, 3);
	part = await partOf(page);
	check(Math.abs(part.from / span - 0.5) < 0.02 && Math.abs(part.to / span - 0.75) < 0.02, "a drag chooses a part", part);
	view = await viewOf(page);
	check(view.t0 === part.from && view.t1 === part.to, "which the page shows", view);
	check(await innerOf(page).evaluate(() => window.trc.threads().length > 0), "with threads");

	// A click chooses one as long as before; the browser's button leads back.
	await page.mouse.click(box.x + box.width * 0.2, box.y + 10);
	await drawn(page, 4);
	const clicked = await partOf(page);
	check(Math.abs((clicked.from + clicked.to) / 2 / span - 0.2) < 0.02, "a click chooses a part around it", clicked);
	check(Math.abs(clicked.to - clicked.from - (part.to - part.from)) <= 1, "as long as the one before", clicked);
	await page.goBack();
	await drawn(page, 5);
	same((await partOf(page)).from, part.from, "back is the part before");

	// The address of a part is enough for it.
	const other = await opened(context, server, `?from=${part.from}&to=${part.to}#t=${part.from + 1000},5000`);
	same(await viewOf(other).then((v) => [v.t0, v.t1]), [part.from + 1000, part.from + 6000], "an address has part and view");
	same(page.troubles.concat(other.troubles), [], "no trouble");
	await page.close();
	await other.close();
	same(await server.whenEnded, {status: 0, signal: null}, "it ends");
}

// What the page that is seen says; another one may be loading out of sight.
function inShown(page, ask, ...more) {
	return page.evaluate(([text, args]) => {
		const {trc, document} = window.document.querySelector("iframe:not(.waits)").contentWindow;
		return new Function("trc", "page", "args", `return (${text})(trc, page, ...args)`)(trc, document, args);
	}, [ask.toString(), more]);
}

function headOfShown(page) {
	return inShown(page, (trc, document) => JSON.parse(document.getElementById("head").textContent));
}

async function endOfShown(page) {
	const head = await headOfShown(page);

	return head.start_ns + head.span_ns;
}

function loadsOf(page) {
	return page.evaluate(() => Number(document.body.dataset.loads));
}

// So many more pages have taken over.
async function renewed(page, times) {
	const before = await loadsOf(page);

	await page.waitForFunction((n) => Number(document.body.dataset.loads) >= n, before + times, {timeout: 60000});
}

// What is selected, zoomed to and filtered in the first page is so in the pages that follow.
async function viewIsKept(page) {
	await page.selectOption("#last", "60"); // what is chosen here does not leave it meanwhile
	await renewed(page, 2);
	const chosen = await inShown(page, (trc, document) => {
		const filter = document.getElementById("filter");
		filter.value = "demo";
		filter.dispatchEvent(new Event("input"));
		trc.setView(trc.span - 3e8, trc.span);
		const parks = [...Array(trc.counts.parks).keys()].map((i) => i + 1);
		const inside = parks.reverse().find((id) => {
			trc.select("park", id);
			return /^\d/.test(trc.told().facts.Ended || "") || trc.carry.out().selected.until < trc.carry.out().span[1];
		});
		trc.setView(trc.span - 3e8, trc.span);
		const {selected} = trc.carry.out();
		return {inside, selected, filter: filter.value, length: trc.view.t1 - trc.view.t0};
	});
	check(chosen.inside && !chosen.selected.open, "a wait that has ended is selected", chosen);
	await renewed(page, 2);
	const now = await inShown(page, (trc, document) => ({...trc.carry.out(), filter: document.getElementById("filter").value,
		edge: trc.span - trc.view.t1, length: trc.view.t1 - trc.view.t0}));
	same([now.selected.kind, now.selected.owner], ["park", chosen.selected.owner], "the wait is still selected");
	check(Math.abs(now.selected.from - chosen.selected.from) < 100000 && Math.abs(now.selected.until - chosen.selected.until) < 100000,
		"and is the same wait", [now.selected, chosen.selected]);
	same(now.filter, "demo", "the filter is there");
	check(Math.abs(now.edge) < 1000 && Math.abs(now.length - chosen.length) < 1000, "the view is as long, and at the end", now);
	check(now.span[1] > chosen.selected.until, "of a later time");
	same(await page.evaluate(() => document.body.dataset.follows), "yes", "it still follows");
}

// What somebody looks at does not slide out of the window: following pauses, and everything is as it was.
async function leavingPauses(page) {
	await page.selectOption("#last", "1");
	await renewed(page, 2);
	const chosen = await inShown(page, (trc) => {
		trc.select(null);
		trc.setView(trc.span * 0.4, trc.span * 0.6);
		return trc.carry.out();
	});
	await page.waitForFunction(() => !document.body.dataset.follows && document.querySelectorAll("iframe").length === 1 &&
		!/without=sql/.test(document.querySelector("iframe").contentWindow.location.search), null, {timeout: 60000});
	same(await said(page), "Paused: what you look at would have left the last 1 s.", "it says why it paused");
	const now = await inShown(page, (trc) => trc.carry.out());
	check(Math.abs(now.span[0] - chosen.span[0]) < 1000 && Math.abs(now.span[1] - chosen.span[1]) < 1000, "what is seen stays", [now, chosen]);
	same((await inShown(page, (trc) => trc.sql("SELECT 6 AS n").then((answer) => answer.csv))), "n\n6\n", "a page that stays has SQL");
}

async function pauseStays(page) {
	const loads = await loadsOf(page), end = await endOfShown(page);

	await new Promise((done) => setTimeout(done, 3000));
	same([await loadsOf(page), await endOfShown(page)], [loads, end], "nothing is renewed while it is paused");
	await page.click("#again");
	await drawn(page, loads + 1);
	check(await endOfShown(page) > end, "a new snapshot is newer");
	same(await page.evaluate(() => document.querySelectorAll("iframe").length), 1, "and has the place of the one before");
}

// "Snapshot this" keeps what is shown, also when the page has gone on.
async function snapshotIsKept(context, server, page) {
	const end = await endOfShown(page);
	const trace = () => page.evaluate(async () => {
		const answer = await fetch(document.querySelector("#kept a[download]").href);
		return {status: answer.status, start: new TextDecoder().decode((await answer.arrayBuffer()).slice(0, 3)),
			saved: answer.headers.get("Content-Disposition")};
	});

	await page.click("#keep");
	await page.waitForSelector("#kept a");
	await page.click("#follow");
	await renewed(page, 4);
	const got = await trace();
	same([got.status, got.start], [200, "TRC"], "the trace can be downloaded later");
	check(/^attachment; filename="trc-demo-\d+-\d{6}\.trc"$/.test(got.saved), "by a name", got.saved);
	const [download] = await Promise.all([page.waitForEvent("download"), page.click("#kept a[download]")]);
	check(/^trc-demo-\d+-\d{6}\.trc$/.test(download.suggestedFilename()), "a click downloads it", download.suggestedFilename());
	const [other] = await Promise.all([context.waitForEvent("page"), page.click("#kept a")]);
	await drawn(other, 1);
	same(await endOfShown(other), end, "it opens as it was");
	check(/^A snapshot of trc-demo \(\d+\), which was kept\.$/.test(await said(other)), "and says what it is", await said(other));
	same(await other.evaluate(() => document.getElementById("live").hidden), true, "it follows nothing");
	await other.close();
}

async function processIsFollowed(context) {
	const server = await served(pid);
	const page = await opened(context, server);
	const first = await endOfShown(page);

	same(await said(page), `Following trc-demo (${pid}).`, "it says what it does");
	check(new RegExp(`^trc-demo \\(${pid}\\) at \\d\\d:\\d\\d:\\d\\d - trc$`).test(await page.title()), "the title says when",
		await page.title());
	await renewed(page, 2);
	const last = await endOfShown(page);
	check(last > first, "it is renewed by itself", [first, last]);
	await viewIsKept(page);
	await leavingPauses(page);
	await pauseStays(page);
	await snapshotIsKept(context, server, page);
	await page.click("#follow");
	await page.waitForFunction(() => !document.body.dataset.follows && document.querySelectorAll("iframe").length === 1 &&
		!/without=sql/.test(document.querySelector("iframe").contentWindow.location.search), null, {timeout: 60000});
	same(await said(page), `Paused: trc-demo (${pid}) runs on.`, "it says that it is paused");
	const paused = await endOfShown(page);
	await page.reload();
	await drawn(page, 1);
	check(await endOfShown(page) > paused, "a page that is loaded again is newer");
	await page.click("#follow");
	await page.waitForFunction(() => document.querySelectorAll("iframe").length === 1 &&
		!/without=sql/.test(document.querySelector("iframe").contentWindow.location.search), null, {timeout: 60000});
	const end = await endOfShown(page);
	same(page.troubles, [], "no trouble");

	// When the process is gone, and its ring with it, what was shown stays.
	process.kill(Number(pid), "SIGTERM");
	for (let tries = 0; tries < 3000; tries++) {
		try {
			process.kill(Number(pid), 0);
		} catch {
			break;
		}
		await new Promise((done) => setTimeout(done, 100));
	}
	const before = await loadsOf(page);
	await page.click("#again");
	await drawn(page, before + 1);
	return {server, page, end};
}

// trace-view is killed: the page says so, and stays.
async function endIsTold({server, page, end}) {
	const text = await said(page);

	if (!text.startsWith("What ")) // its ring was there for a moment more
		same(await endOfShown(page), end, "the snapshot before is still there");
	check(/^trc-demo \(\d+\) has ended\. This is the last snapshot of it\.$/.test(text) ||
		text.startsWith("What "), "it says that the process is gone", text);
	same(await page.evaluate(() => document.getElementById("live").hidden), true, "there is nothing to follow any more");
	server.tool.kill("SIGTERM");
	same(await server.whenEnded, {status: 0, signal: null}, "SIGTERM ends it");
	await page.waitForFunction(() => document.getElementById("said").textContent.startsWith("trace-view has ended."));
	check(await innerOf(page).evaluate(() => document.documentElement.dataset.trcReady), "the page is still there");
}

await withBrowser("light", async (context) => {
	await traceIsShown(context);
	await partsAreShown(context);
	await endIsTold(await processIsFollowed(context));
});
console.log(`serve.mjs: ${results.passed} passed, ${results.failed} failed`);
process.exit(results.failed ? 1 : 0);
