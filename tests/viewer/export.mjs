// export.mjs - whether the files that a page gives are what the analyzer says of the trace.
//
//   node export.mjs TRACE-ANALYZE DIRECTORY
//
// DIRECTORY has demo.trc, of trc-demo with samples, and its page.

import {execFileSync, spawnSync} from "node:child_process";
import {copyFileSync, readFileSync} from "node:fs";
import path from "node:path";
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

function sameRows(seen, rows, names, what) {
	const wanted = rows.map((row) => names.map((name) => row[name] === null ? null : String(row[name])).join()).sort();

	check(wanted.length > 5, `${what}: there are some`, wanted.length);
	same(seen.map((row) => row.join()).sort(), wanted, what);
}

async function rangeAsCsv(page) {
	const window = ["--window", `${FROM}ns..${TO}ns`], buttons = page.locator("#details button");
	const waits = ["id", "thread", "reason", "start_ns", "end_ns", "waited_ns", "stack"], samples = ["ts_ns", "thread", "stack"];

	await page.evaluate(([t0, t1]) => window.trc.setRange({t0, t1}), [FROM, TO]);
	sameRows(csvRows(await downloaded(page, buttons.filter({hasText: "Waits as CSV"}), "waits.csv"), waits),
		sql(`SELECT ${waits.join(", ")} FROM parks WHERE waited_ns > 0`, window), waits, "waits of a range");
	sameRows(csvRows(await downloaded(page, buttons.filter({hasText: "Samples as CSV"}), "samples.csv"), samples),
		sql(`SELECT ${samples.join(", ")} FROM samples`, window), samples, "samples of a range");
}

// What is copied makes the page.
async function commandWorks(context, page) {
	await page.locator("#details button", {hasText: "Copy command"}).click();
	await page.waitForFunction(() => [...document.querySelectorAll("#details button")].some((b) => b.textContent === "Copied"));
	const words = (await page.evaluate(() => navigator.clipboard.readText())).split(" ");
	same(words[0], "trace-analyze", "a command");
	const part = path.join(pages, "part.html");
	execFileSync(analyze, words.slice(1).map((word) => word === "part.html" ? part : word === "dump.trc" ? trace : word));
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
	await rangeAsCsv(page);
	await commandWorks(context, page);
	await stackIsCopied(page);
	await profilesAre(page);
	await comparesWithFiles(page);
	same(page.troubles, [], "no error, no warning, no request");
});
console.log(`${results.passed} checks passed, ${results.failed} failed`);
process.exit(results.failed ? 1 : 0);
