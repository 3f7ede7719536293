// export.mjs - whether the files that a page gives are what the analyzer says of the trace.
//
//   node export.mjs TRACE-ANALYZE DIRECTORY
//
// DIRECTORY has demo.trc, of trc-demo with samples, and its page.

import {execFileSync, spawnSync} from "node:child_process";
import {copyFileSync, readFileSync, writeFileSync} from "node:fs";
import path from "node:path";
import {gunzipSync, gzipSync} from "node:zlib";
import {check, openPage, results, same, withBrowser} from "./browser_lib.mjs";
import {readPprof} from "./pprof.mjs";

const [analyze, directory] = process.argv.slice(2);
const pages = path.resolve(directory), trace = path.join(pages, "demo.trc");
const FROM = 400e6, TO = 900e6;

function sql(query, options = []) {
	return JSON.parse(execFileSync(analyze, [...options, "--output", "json", "--sql", query, trace], {maxBuffer: 1 << 30, encoding: "utf8"}));
}

// Clicks, and returns the file that comes of it.
async function downloaded(page, button, name) {
	const [file] = await Promise.all([page.waitForEvent("download"), button.click()]);
	const copy = path.join(pages, name);

	copyFileSync(await file.path(), copy);
	return copy;
}

// Fields with quotes are names of functions: the columns that are compared are numbers and words.
function csvRows(file, names) {
	const [head, ...lines] = readFileSync(file, "utf8").trim().split("\n"), columns = head.split(",");

	return lines.map((line) => {
		const cells = line.match(/("([^"]|"")*"|[^,]*)(,|$)/g).map((cell) => cell.replace(/,$/, ""));
		return names.map((name) => cells[columns.indexOf(name)] || null);
	});
}

// `least`: there have to be so many.
function sameRows(seen, rows, names, what, least = 6) {
	const wanted = rows.map((row) => names.map((name) => row[name] === null ? null : String(row[name])).join()).sort();

	check(wanted.length >= least, `${what}: there are some`, wanted.length);
	same(seen.map((row) => row.join()).sort(), wanted, what);
}

// table: [columns that are compared, its rows of the range, how many there are at least]
const csvTables = {
	waits: [["id", "thread", "reason", "start_ns", "end_ns", "waited_ns", "stack"], "parks WHERE waited_ns > 0", 6],
	samples: [["ts_ns", "thread", "stack"], "samples", 6],
	regions: [["id", "thread", "task", "type", "depth", "start_ns", "end_ns", "duration_ns", "fiber"], "regions", 6],
	tasks: [["id", "parent", "type", "start_ns", "end_ns", "duration_ns", "start_thread", "end_thread"], "tasks", 6],
	logs: [["ts_ns", "thread", "task", "category"], "logs", 2],
	counters: [["ts_ns", "thread", "name", "value"], "counters", 6],
};

async function rangeAsCsv(page) {
	const window = ["--window", `${FROM}ns..${TO}ns`], buttons = page.locator("#details button");

	await page.evaluate(([t0, t1]) => window.trc.setRange({t0, t1}), [FROM, TO]);
	for (const [name, [columns, from, least]] of Object.entries(csvTables)) {
		const words = `${name[0].toUpperCase()}${name.slice(1)} as CSV`;
		const wanted = sql(`SELECT ${columns.join(", ")} FROM ${from}`, window);
		if (!await buttons.filter({hasText: words}).count()) {
			check(false, `${words}: there is a button`);
			continue;
		}
		sameRows(csvRows(await downloaded(page, buttons.filter({hasText: words}), `${name}.csv`), columns), wanted, columns, `${name} of a range`, least);
	}
	await page.fill("#filter", "reloader");
	const [logs] = csvTables.logs, seen = csvRows(await downloaded(page, buttons.filter({hasText: "Logs as CSV"}), "logs.csv"), logs);
	sameRows(seen, sql(`SELECT ${logs.join(", ")} FROM logs`, [...window, "--thread", "reloader"]), logs, "of the threads that the filter leaves", 2);
	await page.fill("#filter", "");
}

// Of a selected thread only its rows, in a range and of the whole trace; the file's name says so.
async function threadAsCsv(page) {
	const [columns, from] = csvTables.waits, buttons = page.locator("#details button", {hasText: "Waits as CSV"});
	const [{id, tid, name}] = sql("SELECT id, tid, name FROM threads WHERE name LIKE 'worker%' ORDER BY parks DESC LIMIT 1");
	const idx = await page.evaluate((serial) => window.trc.threads().findIndex((thread) => thread.serial === serial), id);
	const file = async (what) => {
		const [file] = await Promise.all([page.waitForEvent("download"), buttons.click()]), copy = path.join(pages, `${what}.csv`);
		copyFileSync(await file.path(), copy);
		return [file.suggestedFilename(), csvRows(copy, columns)];
	};
	const wanted = (options) => sql(`SELECT ${columns.join(", ")} FROM ${from}`, options), window = ["--window", `${FROM}ns..${TO}ns`];

	await page.evaluate((thread) => window.trc.select("thread", thread + 1), idx);
	const [whole, rows] = await file("thread");
	same(whole, `waits, ${name} (${tid}).csv`, "of a thread: the file's name");
	sameRows(rows, wanted(["--thread", String(tid)]), columns, "of a thread its waits");
	await page.evaluate(([t0, t1]) => window.trc.setRange({t0, t1}), [FROM, TO]);
	const [inRange, some] = await file("threadrange");
	same(inRange, `waits, ${name} (${tid}), 400ms..900ms.csv`, "of a thread in a range: the file's name");
	sameRows(some, wanted([...window, "--thread", String(tid)]), columns, "of a selected thread in a range its waits");
	await page.locator("#details .choice input").focus();
	await page.keyboard.press("Space");
	check(await page.evaluate(() => document.activeElement.matches("#details .choice input:not(:checked)")), "Space asks for all, and the focus stays");
	const [all, every] = await file("allrange");
	same(all, "waits, 400ms..900ms.csv", "of all: the file's name");
	sameRows(every, wanted(window), columns, "and those of all threads, when asked for");
	await page.evaluate(() => window.trc.setRange(null));
	await page.evaluate(() => window.trc.select(null));
}

// The list of a tab, of what is chosen there: all of it, and of one bucket.
async function listsAsCsv(page) {
	const csv = page.locator(".tab:not([hidden]) button", {hasText: /^CSV$/}), buckets = page.locator(".tab:not([hidden]) .bucket");
	const listed = async (table, rows, key, what) => {
		if (!await csv.count()) {
			check(false, `${what}: there is a button`);
			return;
		}
		const [columns] = csvTables[table], file = async (name) => csvRows(await downloaded(page, csv, name), columns);
		sameRows(await file("list.csv"), rows, columns, what);
		const sizes = await buckets.evaluateAll((all) => all.map((one) => Number(/: ([\d,]+) of/.exec(one.title)[1].replace(/,/g, ""))));
		const most = sizes.indexOf(Math.max(...sizes));
		await buckets.nth(most).click();
		const {from, until} = await page.evaluate(([tab, k]) => window.trc[tab].buckets()[k], [table === "waits" ? "locks" : "tasks", most]);
		sameRows(await file("bucket.csv"), rows.filter((row) => row[key] >= from && row[key] < until), columns, `${what}, of a bucket`, 2);
	};

	await page.evaluate(() => window.trc.setRange(null));
	await page.locator("#canvases").focus();
	await page.keyboard.press("l");
	const [{object}] = sql("SELECT object FROM locks LIMIT 1");
	await listed("waits", sql(`SELECT * FROM parks WHERE object = ${object} AND reason IN ('mutex', 'cond_mutex')`), "waited_ns", "waits of a lock");
	await page.keyboard.press("t");
	const requests = page.locator("#panel-spans .plain button", {hasText: /^request$/});
	await requests.click();
	await listed("tasks", sql("SELECT * FROM tasks WHERE type = 'request' AND duration_ns IS NOT NULL"), "duration_ns", "tasks of a type");
	const region = page.locator('#panel-spans .plain:has([data-table="regions"]) tbody button').first(), type = await region.textContent();
	await region.click();
	await listed("regions", sql(`SELECT * FROM regions WHERE type = '${type}' AND duration_ns IS NOT NULL`), "duration_ns", "regions of a type");
}

// What is copied makes the page.
async function commandWorks(context, page) {
	await page.locator("#details button", {hasText: "Copy command"}).click();
	await page.waitForFunction(() => [...document.querySelectorAll("#details button")].some((b) => b.textContent === "Copied"));
	const words = (await page.evaluate(() => navigator.clipboard.readText())).split(" ");
	same([words[0], words.at(-1)], ["trace-analyze", "demo.trc"], "a command, with the trace's name");
	same(await page.locator("#details a").count(), 0, "a page from disk has nobody to ask for another");
	const part = path.join(pages, "part.html");
	execFileSync(analyze, words.slice(1).map((word) => word === "part.html" ? part : word === "demo.trc" ? trace : word));
	const smaller = await openPage(context, part);
	same(await smaller.evaluate(() => [window.trc.begin, window.trc.span]), [FROM, TO], "it makes the page of the range");
	await smaller.close();
}

async function stackIsCopied(page) {
	const [{id, stack}] = sql("SELECT id, stack FROM parks WHERE stack IS NOT NULL AND reason = 'mutex' ORDER BY waited_ns DESC LIMIT 1");
	const frames = sql(`SELECT function FROM stack_frames JOIN frames ON frames.id = frame WHERE stack = ${stack} ORDER BY depth`);

	await page.evaluate(() => window.trc.setRange(null));
	await page.evaluate((text) => { location.hash = text; }, `#sel=park:${id}`);
	await page.waitForFunction((wanted) => (window.trc.told().facts.SQL || "").endsWith(`=${wanted}`), id);
	await page.locator("#details button", {hasText: "Copy stack"}).first().click();
	await page.waitForFunction(() => [...document.querySelectorAll("#details button")].some((b) => b.textContent === "Copied"));
	const lines = (await page.evaluate(() => navigator.clipboard.readText())).trim().split("\n");
	same(lines.map((line) => line.split(" ")[0]), frames.map((f) => f.function.split(" ")[0]), "the stack's functions");
	check(/trc-demo\.c:\d+$/.test(lines.find((line) => line.includes("trc-demo.c"))), "with file and line", lines);
	await page.evaluate(async () => {
		const button = [...document.querySelectorAll("#details button")].find((b) => /^Cop(ied|y stack)/.test(b.textContent));
		button.click();
		while (button.textContent !== "Copied")
			await new Promise((done) => { setTimeout(done, 20); });
		button.click();
	});
	await page.waitForFunction(() => ![...document.querySelectorAll("#details button")].some((b) => b.textContent === "Copied"))
		.catch(() => check(false, "a button that was clicked twice has its words again"));
}

// What a button with this title copies.
async function copied(page, title) {
	await page.evaluate(() => navigator.clipboard.writeText(""));
	await page.locator(`button[title^="${title}"]`).first().click();
	await page.waitForFunction(async () => await navigator.clipboard.readText() !== "");
	return page.evaluate(() => navigator.clipboard.readText());
}

// A query, a lock's address, a finding, and a link to the view, which another page follows.
async function partsAreCopied(context, page, file) {
	const [{id, object}] = sql("SELECT id, object FROM parks WHERE reason = 'mutex' ORDER BY waited_ns DESC LIMIT 1");
	const [{sentence, why}] = sql("SELECT sentence, why FROM findings WHERE id = 1");

	await page.evaluate(() => window.trc.select(null));
	same((await copied(page, "Copy the finding")).split("\n").slice(0, why ? 2 : 1), why ? [sentence, why] : [sentence], "a finding is copied");
	await page.evaluate((text) => { location.hash = text; }, `#t=${FROM},${TO - FROM}&range=${FROM},1000&sel=park:${id}&sort=lock`);
	await page.waitForFunction(() => window.trc.range);
	await page.evaluate(() => window.trc.setRange(null));
	await page.waitForFunction((wanted) => (window.trc.told().facts.SQL || "").endsWith(`=${wanted}`), id);
	same(await copied(page, "Copy the query"), `SELECT * FROM parks WHERE id=${id}`, "the query of a row is copied");
	same(await copied(page, "Copy the lock's address"), `0x${object.toString(16)}`, "so is a lock's address");
	const link = await copied(page, "Copy a link"), state = (of) => of.evaluate(() => [window.trc.view.t0, window.trc.view.t1,
		window.trc.selection, document.getElementById("sort").value]);
	check(link.startsWith(`file://${file}#`), "a link has the page's address", link);
	const other = await openPage(context, file, link.slice(link.indexOf("#")));
	same(await state(other), await state(page), "and leads to the view");
	await other.close();
}

// The sums of the flame graph are those of the profile, which pprof reads.
async function profilesAre(page) {
	await page.keyboard.press("g");
	for (const kind of ["cpu", "lock", "wait"]) {
		const wanted = await page.evaluate(async (of) => {
			await window.trc.flame.set(`of=${of}`);
			return window.trc.flame.result;
		}, kind);
		const file = await downloaded(page, page.locator("#panel button", {hasText: /^pprof$/}), `${kind}.pb.gz`);
		const profile = readPprof(readFileSync(file), 0);
		same(profile.sum, Math.round(wanted.sum), `${kind}: the sum`);
		for (const fn of wanted.functions.filter((f) => !f.lead))
			same(profile.functions.get(`${fn.name}\n${fn.file}`)?.total, Math.round(fn.total), `${kind}: ${fn.name}`);
		const told = spawnSync("go", ["tool", "pprof", "-top", "-unit=ns", file], {encoding: "utf8"});
		if (told.error)
			continue; // there is no go here
		same(told.status, 0, `${kind}: go tool pprof reads it: ${told.stderr}`);
		check(told.stdout.includes(`${profile.sum}ns total`), `${kind}: and sums the same`, told.stdout.split("\n").slice(0, 6));
	}
}

// A file as A of a comparison: {sums, functions} of what is shown then.
async function comparedWith(page, file) {
	await page.locator("#panel input[type=file]").setInputFiles(file);
	await page.waitForFunction((name) => document.querySelector(".flame-summary").textContent.includes(name), path.basename(file));
	return page.evaluate(async () => {
		await window.trc.flame.idle();
		return {...window.trc.flame.result, boxes: window.trc.flame.boxes, text: document.querySelector(".flame-summary").textContent};
	});
}

function flameOf(page, state) {
	return page.evaluate((text) => window.trc.flame.set(text), state);
}

// Of a profile that says how many samples it is of, small changes may be chance; of the same one that does not say so, nobody knows.
async function uncountedIs(page, counted, seen) {
	check(/; grey: what chance alone may make of [\d,]+ and [\d,]+ samples?$/.test(seen.text), "a profile with a count: what is grey", seen.text);
	await page.locator("#panel button", {hasText: "End comparison"}).click();
	const file = path.join(pages, "uncounted.pb.gz"), bytes = gunzipSync(readFileSync(counted)), at = bytes.indexOf("samples");
	bytes.write("somples", at);
	writeFileSync(file, gzipSync(bytes));
	const uncounted = await comparedWith(page, file);
	same([uncounted.sums, uncounted.functions], [seen.sums, seen.functions], "without the count all else is the same");
	same(uncounted.boxes.filter((box) => box.isChance), [], "and nothing is grey");
	check(/; what chance alone may make is not told: uncounted\.pb\.gz does not say of how many samples it is$/.test(uncounted.text), "which is said", uncounted.text);
}

// What the page gave away comes back as the same; a profile of the analyzer's has the functions' amounts; what is none is refused.
async function comparesWithFiles(page) {
	for (const kind of ["cpu", "lock", "wait"]) {
		await flameOf(page, `of=${kind}`);
		const seen = await comparedWith(page, path.join(pages, `${kind}.pb.gz`));
		same(Math.round(seen.sums[1]), Math.round(seen.sums[0]), `${kind}: with its own profile the sums are the same`);
		for (const fn of seen.functions.filter((f) => !f.lead))
			check(Math.abs(fn.total - fn.before) <= seen.functions.length, `${kind}: nothing changed in ${fn.name}`, fn);
		check(seen.boxes.every((box) => box.change === null || Math.abs(box.change) < 1e-6), `${kind}: no box has another colour`);
		await page.locator("#panel button", {hasText: "End comparison"}).click();
	}
	const whole = path.join(pages, "whole.pb.gz");
	execFileSync(analyze, ["--pprof", "cpu", "-o", whole, trace]);
	await flameOf(page, "of=cpu");
	const alike = await comparedWith(page, whole);
	same(alike.sums[1], alike.sums[0], "with the analyzer's profile of the trace: the sums are the same");
	for (const fn of alike.functions)
		same([fn.name, fn.before], [fn.name, fn.total], "and each function, what trc itself did and what was not sampled included");
	await page.locator("#panel button", {hasText: "End comparison"}).click();
	const before = path.join(pages, "before.pb.gz"), window = ["--window", `${FROM}ns..${TO}ns`];
	execFileSync(analyze, [...window, "--pprof", "cpu", "-o", before, trace]);
	const wanted = readPprof(readFileSync(before), 1);
	await flameOf(page, "of=cpu");
	const seen = await comparedWith(page, before);
	same(seen.sums[0], wanted.sum, "A is the analyzer's profile of a part of the trace");
	for (const fn of seen.functions.filter((f) => /trc-demo\.c$/.test(f.file)))
		same(fn.before, wanted.functions.get(`${fn.name}\n${fn.file}`)?.total || 0, `A: ${fn.name}`);
	await uncountedIs(page, before, seen);
	await flameOf(page, "of=cpu&view=sandwich");
	const heads = await page.locator(".flame-table th").allInnerTexts();
	same(heads.slice(0, 4), ["self in B", "total in B", "total in A", "change ▾"], "functions as a table: by change");
	await page.locator("#panel button", {hasText: "End comparison"}).click();
	const none = path.join(pages, "out"), refused = await comparedWith(page, none);
	check(/out cannot be compared with: /.test(refused.text), "what is no profile is refused", refused.text);
	same(refused.sums.length, 1, "and nothing is compared");
}

await withBrowser("light", async (context) => {
	await context.grantPermissions(["clipboard-read", "clipboard-write"]);
	const page = await openPage(context, path.join(pages, "demo.html"));
	await threadAsCsv(page);
	await rangeAsCsv(page);
	await commandWorks(context, page);
	await stackIsCopied(page);
	await partsAreCopied(context, page, path.join(pages, "demo.html"));
	await profilesAre(page);
	await comparesWithFiles(page);
	await listsAsCsv(page);
	same(page.troubles, [], "no error, no warning, no request");
});
console.log(`${results.passed} checks passed, ${results.failed} failed`);
process.exit(results.failed ? 1 : 0);
