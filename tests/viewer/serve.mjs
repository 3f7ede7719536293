// serve.mjs - trace-view's pages in a browser: of a trace and its parts, of a process, and what ends it.
//
//   node serve.mjs TRACE-VIEW TRACE PID
//
// The process has a flight recorder, and is this program's to end.

import {execFileSync, spawn} from "node:child_process";
import {copyFileSync} from "node:fs";
import path from "node:path";
import {check, holds, openPage, results, same, withBrowser} from "./browser_lib.mjs";

const [view, trace, pid] = process.argv.slice(2);
const analyze = path.join(path.dirname(view), "../analyzer/trace-analyze");

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

// A range in the page, as a page: what the link gives opens from disk, and is of this range.
async function partIsDownloaded(context, page, inner) {
	const {span} = await inner.evaluate(() => window.trc), [t0, t1] = [Math.round(span / 4), Math.round(span / 2)];

	await inner.evaluate((range) => window.trc.setRange(range), {t0, t1});
	const [file] = await Promise.all([page.waitForEvent("download"), inner.locator("#details a", {hasText: "Download a page of it"}).click()]);
	same(file.suggestedFilename(), `${path.basename(trace, ".trc")}-${t0}-${t1}.html`, "the range's page is to be saved, under a name");
	const copy = `${trace}.part.html`;
	copyFileSync(await file.path(), copy);
	const part = await openPage(context, copy);
	same(await part.evaluate(() => [window.trc.begin, window.trc.span]), [t0, t1], "it is of the range");
	same(await part.locator("#details a").count(), 0, "and, from disk, has nobody to ask for another");
	same(part.troubles, [], "it has no trouble");
	await part.close();
	await inner.evaluate(() => window.trc.setRange(null));
}

// A task that is none of the slowest has no critical path in the page; a link leads to a page that has it.
async function pathIsThere(context, inner) {
	const tasks = execFileSync(analyze, ["--output", "csv", "--sql", "SELECT id FROM tasks WHERE duration_ns > 0 ORDER BY duration_ns DESC", trace]).toString().trim().split("\n").slice(1);
	const id = tasks.at(-1), told = JSON.parse(execFileSync(analyze, ["--output", "json", "--sql", `SELECT count(*) AS n FROM task_path WHERE task = ${id}`, trace]).toString());

	check(tasks.length > 150 && told[0].n > 0, "many tasks, and SQL has the path of the fastest", [tasks.length, told]);
	await inner.evaluate((task) => { location.hash = `#sel=task:${task}`; }, id);
	await inner.waitForFunction((task) => document.querySelector("#details h2").textContent.includes(` ${task}:`), id);
	same(await inner.evaluate(() => window.trc.path().pieces), [], "the page of the whole has no path of it");
	const [other] = await Promise.all([context.waitForEvent("page"), inner.locator("#details a", {hasText: "Open a page that has it"}).click()]);
	await other.waitForFunction(() => document.documentElement.dataset.trcReady);
	await other.waitForFunction((task) => document.querySelector("#details h2").textContent.includes(` ${task}:`), id);
	check((await other.evaluate(() => window.trc.path().pieces)).length > 0, "the page of its time has it");
	same(await other.locator("#details a", {hasText: "Open a page"}).count(), 0, "and no link to another one");
	await other.close();
	await inner.evaluate(() => { location.hash = "#"; });
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

	await partIsDownloaded(context, page, inner);
	await pathIsThere(context, inner);

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

// The page of the whole has no tables: trace-view answers for it, as trace-analyze does.
async function wholeAnswers(page) {
	const ask = (query) => innerOf(page).evaluate((text) => window.trc.sql(text), query);

	same(await innerOf(page).evaluate(() => JSON.parse(document.getElementById("head").textContent).sql), null, "it has no tables");
	for (const query of ["SELECT * FROM parks ORDER BY waited_ns DESC LIMIT 200", "SELECT kind, count(*) AS n FROM events GROUP BY kind",
		"SELECT id, name, start_ns, on_cpu_ns FROM threads", "SELECT 1 AS one; SELECT 9223372036854775807 AS big, -0.5 AS half, 1e300 AS large, " +
		"NULL AS none, '' AS empty, x'00ff' AS blob, 'a,\"b\"' AS quoted, 9e999 AS endless; -- no more", "SELECT count(*) AS n FROM causes"])
		same((await ask(query)).csv, execFileSync(analyze, ["--output", "csv", "--sql", query.replace(/^SELECT 1 AS one; /, ""), trace],
			{encoding: "utf8", stdio: ["ignore", "pipe", "ignore"]}), `trace-view answers as trace-analyze: ${query}`);
	for (const query of ["DELETE FROM parks", "ATTACH 'x.db' AS x", "PRAGMA writable_schema = 1", "SELECT load_extension('x')"])
		check(/refused|not authorized|may not be modified/.test((await ask(query)).error || ""), `trace-view refuses: ${query}`, await ask(query));
	await ask("SELECT 1 AS one; SELECT 2 AS two");
	check(/: the last of 2 answers\./.test(await innerOf(page).locator(".sql-state").textContent()), "of two answers it says that it is the last");
	same(await ask("SELECT * FROM no_such"), {error: "no such table: no_such"}, "an error is told");
	await ask("SELECT id, waited_ns FROM parks LIMIT 500");
	await innerOf(page).evaluate(() => document.querySelectorAll(".sql-names button")[1].click());
	check(await holds(innerOf(page), () => document.querySelector('.sql-names [aria-sort="ascending"]') &&
		document.querySelectorAll(".sql-row").length >= 5), "the answer is sorted");
}

// The page of a part has no tables either: trace-view answers for what the part has.  The page that is saved has them.
async function partAnswers(context, page, {from, to}) {
	const window = ["--window", `${from}ns..${to}ns`];

	same(await innerOf(page).evaluate(() => JSON.parse(document.getElementById("head").textContent).sql), null, "a part has no tables");
	for (const query of ["SELECT * FROM parks ORDER BY waited_ns DESC LIMIT 200", "SELECT count(*) AS n, sum(caused_ns) AS ns FROM unlocks",
		"SELECT count(*) AS n FROM causes WHERE wait IN (SELECT id FROM parks)"])
		same((await innerOf(page).evaluate((text) => window.trc.sql(text), query)).csv, execFileSync(analyze,
			[...window, "--output", "csv", "--sql", query, trace], {encoding: "utf8", stdio: ["ignore", "pipe", "ignore"]}),
		`trace-view answers for a part as trace-analyze --window: ${query}`);
	check(/ of the part .* trace-view answers/.test(await innerOf(page).locator(".sql-scope").textContent()), "it says of what it answers");

	const [file] = await Promise.all([page.waitForEvent("download"), page.click("#save")]), copy = `${trace}.saved.html`;
	same(file.suggestedFilename(), `${path.basename(trace, ".trc")}-${from}-${to}.html`, "a part is saved under a name");
	copyFileSync(await file.path(), copy);
	const saved = await openPage(context, copy);
	same(await saved.evaluate(() => [window.trc.begin, window.trc.span]), [from, to], "what is saved is of the part");
	same((await saved.evaluate(() => window.trc.sql("SELECT count(*) AS n FROM parks"))).csv, execFileSync(analyze,
		[...window, "--output", "csv", "--sql", "SELECT count(*) AS n FROM parks", trace], {encoding: "utf8", stdio: ["ignore", "pipe", "ignore"]}),
	"and has its tables");
	same(saved.troubles, [], "it has no trouble");
	await saved.close();
}

// A trace with more events than are wanted at once is shown as a whole, and in parts.
async function partsAreShown(context) {
	const server = await served("--events", "2000", trace);
	const page = await opened(context, server);
	const {span} = await partOf(page);
	let box = await page.locator("#overview").boundingBox(), view = await viewOf(page);

	check(view.t0 === 0 && view.t1 === span, "the whole is shown first", [view, span]);
	check(/^The whole trace, [\d.]+ s, [\d,]+ events: short intervals are merged\. Zoom in/.test(await said(page)), "and it says so", await said(page));
	check(await page.evaluate(() => document.getElementById("later").disabled), "nothing is later");
	check(await page.locator("#save").isHidden(), "the whole is not saved");
	await wholeAnswers(page);

	await page.mouse.click(box.x + 1, box.y + 10);
	await drawn(page, 2);
	const first = await viewOf(page);
	check(first.t0 === 0 && first.t1 < span / 2, "a click shows a part", [first, span]);
	check(/^This page shows 0 s to [\d.]+ s of [\d.]+ s, about [\d,]+ of [\d,]+ events\.$/.test(await said(page)),
		"it says that it is a part", await said(page));

	await page.click("#later");
	await drawn(page, 3);
	let part = await partOf(page);
	check(part.from === first.t1 && Math.abs(part.to - 2 * first.t1) <= 1, "the next begins where the first ends", part);
	view = await viewOf(page);
	check(view.t0 === part.from && view.t1 === part.to, "and is what the page shows", view);
	await partAnswers(context, page, part);

	// A drag over the middle of the overview, which is as wide as the words before it leave it.
	box = await page.locator("#overview").boundingBox();
	await page.mouse.move(box.x + box.width * 0.5, box.y + 10);
	await page.mouse.down();
	await page.mouse.move(box.x + box.width * 0.6, box.y + 12);
	await page.mouse.move(box.x + box.width * 0.75, box.y + 12);
	await page.mouse.up();
	await drawn(page, 4);
	part = await partOf(page);
	check(Math.abs(part.from / span - 0.5) < 0.02 && Math.abs(part.to / span - 0.75) < 0.02, "a drag chooses a part", part);
	view = await viewOf(page);
	check(view.t0 === part.from && view.t1 === part.to, "which the page shows", view);
	check(await innerOf(page).evaluate(() => window.trc.threads().length > 0), "with threads");

	// A click chooses one as long as before; the browser's button leads back.  The words are others by now.
	box = await page.locator("#overview").boundingBox();
	await page.mouse.click(box.x + box.width * 0.2, box.y + 10);
	await drawn(page, 5);
	const clicked = await partOf(page);
	check(Math.abs((clicked.from + clicked.to) / 2 / span - 0.2) < 0.02, "a click chooses a part around it", clicked);
	check(Math.abs(clicked.to - clicked.from - (part.to - part.from)) <= 1, "as long as the one before", clicked);
	await page.goBack();
	await drawn(page, 6);
	same((await partOf(page)).from, part.from, "back is the part before");

	// The address of a part is enough for it.
	const other = await opened(context, server, `?from=${part.from}&to=${part.to}#t=${part.from + 1000},5000`);
	same(await viewOf(other).then((v) => [v.t0, v.t1]), [part.from + 1000, part.from + 6000], "an address has part and view");
	same(page.troubles.concat(other.troubles), [], "no trouble");
	await page.close();
	await other.close();
	same(await server.whenEnded, {status: 0, signal: null}, "it ends");
}

// Presses a key until another page is there; a slow browser is still drawing what the key did before.
async function pressed(page, key) {
	const loads = await loadsOf(page);

	for (let i = 0; i < 200 && await loadsOf(page) === loads; i++) {
		await page.keyboard.press(key);
		await page.evaluate(() => new Promise((done) => requestAnimationFrame(done)));
	}
	await drawn(page, loads + 1);
}

// Who zooms into the whole is led into a part, and out of it again, with what is seen and selected.
async function zoomLeadsToParts(context) {
	const server = await served("--events", "1000", trace);
	const page = await opened(context, server), {span} = await partOf(page);
	const isMerged = () => inShown(page, (trc, document) => JSON.parse(document.getElementById("head").textContent).merged_below_ns > 0);
	const shown = () => inShown(page, (trc) => ({...trc.view, selection: trc.selection}));

	await inShown(page, (trc, document, from, to) => {
		trc.select("thread", 2);
		trc.setView(from, to);
	}, Math.round(span * 0.4), Math.round(span * 0.401));
	await drawn(page, 2);
	let part = await partOf(page), view = await shown();
	check(part.from < view.t0 && part.to > view.t1 && part.to - part.from < span / 100, "a part around what was seen", [part, view]);
	check(Math.abs(view.t0 - span * 0.4) < 2 && Math.abs(view.t1 - span * 0.401) < 2, "shows what was seen", view);
	same(view.selection, {kind: "thread", id: 2}, "and what was selected");
	same(await isMerged(), false, "with every interval");

	const narrow = part;
	await pressed(page, "s");
	part = await partOf(page);
	view = await shown();
	check(part.to ? part.from <= narrow.from && part.to > narrow.to : true, "zooming out of it leads to a longer one", [narrow, part]);
	check(view.t0 <= narrow.from && view.t1 >= narrow.to && view.t1 - view.t0 < span, "which shows more", [narrow, view]);
	same(view.selection, {kind: "thread", id: 2}, "of the same");
	for (let i = 0; i < 20 && (await partOf(page)).to; i++)
		await pressed(page, "s");
	same((await partOf(page)).to, 0, "and in the end to the whole");
	check((await said(page)).startsWith("The whole trace, "), "which says so", await said(page));
	same(page.troubles, [], "no trouble");
	await page.close();
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

	await page.waitForFunction((n) => Number(document.body.dataset.loads) >= n, before + times);
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
	// By the window: a page that is replaced meanwhile takes its answer with it.
	check(await page.evaluate(async () => {
		const {location: {search}} = document.querySelector("iframe:not(.waits)").contentWindow;
		return /"rows":\[\n\["1",6\]\]/.test(await window.trcSql("SELECT 6 AS n", new AbortController().signal, search));
	}), "SQL is answered while it follows");
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
		!/without=sql/.test(document.querySelector("iframe").contentWindow.location.search));
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
		!/without=sql/.test(document.querySelector("iframe").contentWindow.location.search));
	same(await said(page), `Paused: trc-demo (${pid}) runs on.`, "it says that it is paused");
	const paused = await endOfShown(page);
	await page.reload();
	await drawn(page, 1);
	check(await endOfShown(page) > paused, "a page that is loaded again is newer");
	await page.click("#follow");
	await page.waitForFunction(() => document.querySelectorAll("iframe").length === 1 &&
		!/without=sql/.test(document.querySelector("iframe").contentWindow.location.search));
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
	await zoomLeadsToParts(context);
	await endIsTold(await processIsFollowed(context));
});
console.log(`serve.mjs: ${results.passed} passed, ${results.failed} failed`);
process.exit(results.failed ? 1 : 0);
