// source.mjs - whether a page made with --source has the lines of the files, and the time that was sampled at each.
//
//   node source.mjs TRACE-ANALYZE DIRECTORY
//
// DIRECTORY has demo.trc, of source_program.c with samples.

import {execFileSync, spawnSync} from "node:child_process";
import {mkdirSync, readFileSync, writeFileSync} from "node:fs";
import path from "node:path";
import {check, openPage, results, same, smallTexts, withBrowser} from "./browser_lib.mjs";

const [analyze, directory] = process.argv.slice(2);
const pages = path.resolve(directory), trace = path.join(pages, "demo.trc");
const FILE = "source_program.c";

function sql(query) {
	return JSON.parse(execFileSync(analyze, ["--output", "json", "--sql", query, trace], {maxBuffer: 1 << 30, encoding: "utf8"}));
}

// Bounded: a FIFO that is opened would wait for ever.
function makePage(name, options) {
	const file = path.join(pages, `${name}.html`);
	const {status, stderr} = spawnSync(analyze, [...options, "--html", file, trace], {encoding: "utf8", timeout: 120000});

	same(status, 0, `${name}: the page is made`);
	return {file, told: stderr.trim().split("\n").filter((line) => line)};
}

function untabbed(line) {
	let out = "";

	for (const character of line)
		out += character === "\t" ? " ".repeat(8 - out.length % 8) : character;
	return out.trimEnd();
}

// Opens the code of a frame of the program from the details of a wait; its file and line as the page names them.
async function clickFrame(page) {
	const [{id}] = sql("SELECT p.id FROM parks AS p JOIN stack_frames AS s ON s.stack = p.stack JOIN frames AS f ON f.id = s.frame " +
		`WHERE f.file LIKE '%${FILE}' ORDER BY p.waited_ns DESC LIMIT 1`);

	await page.evaluate((text) => { location.hash = text; }, `#sel=park:${id}`);
	await page.waitForFunction((wanted) => (window.trc.told().facts.SQL || "").endsWith(`=${wanted}`), id);
	await page.locator("#details button.place", {hasText: FILE}).first().click();
	const [, file, line] = /^(.*):(\d+)$/.exec(await page.locator("#source h2").innerText());
	return {file, line: Number(line)};
}

async function linesAre(page, lines) {
	const frames = sql(`SELECT DISTINCT line FROM frames WHERE file LIKE '%${FILE}' AND line IS NOT NULL`).map((row) => row.line);
	const told = await page.evaluate(([file, wanted]) => wanted.map((line) => window.trc.source(file, line)), [FILE, frames]);

	check(frames.length > 4, "the program has frames", frames.length);
	frames.forEach((line, i) => same(told[i]?.text, untabbed(lines[line - 1]), `line ${line}`));
	const around = await page.evaluate(([file, line]) => [-9, -8, 8, 9].map((by) => window.trc.source(file, line + by) !== null),
		[FILE, Math.max(...frames)]);
	same(around[2], Math.max(...frames) + 8 <= lines.length, "8 lines below the last one");
	same(around[3], false, "but no more");
	same(around[1], true, "8 lines above it");
}

async function sumsAre(page) {
	const rows = sql("SELECT f.line AS line, sum(x.scaled_value) AS ns FROM samples AS x JOIN sample_events AS e ON e.id = x.event " +
		"JOIN stack_frames AS s ON s.stack = x.stack AND s.depth = 0 JOIN frames AS f ON f.id = s.frame " +
		`WHERE e.unit = 'nanoseconds' AND f.file LIKE '%${FILE}' GROUP BY f.line`);
	const told = await page.evaluate(([file, wanted]) => wanted.map((line) => window.trc.source(file, line)?.self), [FILE, rows.map((r) => r.line)]);

	const most = rows.reduce((a, b) => a.ns > b.ns ? a : b), hot = await page.evaluate(([f, l]) => window.trc.source(f, l).text, [FILE, most.line]);
	check(/sum \+= |i < 100000/.test(hot), "the line with most time is the one that has it", hot);
	rows.forEach(({line, ns}, i) => same(told[i], ns, `self time of line ${line}`));
}

async function opensFromFlame(page) {
	await page.keyboard.press("g");
	await page.evaluate(() => window.trc.flame.set("of=lock"));
	const box = await page.evaluate(() => window.trc.flame.boxes.find((b) => /^round_of$/.test(b.name)));
	await page.mouse.click(box.x, box.y);
	await page.locator("#panel button", {hasText: "Source"}).click();
	check((await page.locator("#source h2").innerText()).includes(FILE), "a function of the flame graph leads to its lines");
	await page.keyboard.press("Escape");
}

async function wholePage(context) {
	const {file, told} = makePage("source", ["--source"]), page = await openPage(context, file);
	const {file: source, line} = await clickFrame(page), lines = readFileSync(source, "utf8").split("\n");

	check(told.filter((text) => text.includes("source files are not here")).length <= 1, "what is missing is said once", told);
	check(/holds source code of \d+ file/.test(await page.locator("#banners").innerText()), "the page says that it has source code");
	same(await page.locator("#source .marked td.code").innerText(), untabbed(lines[line - 1]), "the frame's line is marked");
	same((await smallTexts(page, 11)).small, [], "no text is smaller than 11 px");
	await page.keyboard.press("Escape");
	same(await page.locator("#source").isVisible(), false, "Escape closes it");
	await linesAre(page, lines);
	await sumsAre(page);
	await opensFromFlame(page);
	same(page.troubles, [], "no error, no warning, no request");
	await page.close();
	return {source, lines};
}

// Elsewhere; what the files say is data.
async function hostileFile(context, {source, lines}) {
	const moved = path.join(pages, "moved");
	mkdirSync(moved, {recursive: true});
	const evil = "</script><img src=x onerror=alert(1)>\u202e\x01 &lt;b&gt; \xff";
	writeFileSync(path.join(moved, FILE), lines.map((_, i) => `${i + 1} ${evil}`).join("\r\n"), "latin1");
	const {file} = makePage("moved", ["--source-map", `${path.dirname(source)}=${moved}`]), page = await openPage(context, file);
	const at = await clickFrame(page), seen = await page.locator("#source .marked td.code").innerText();

	same(at.file, path.join(moved, FILE), "files are found where the map says");
	check(seen.startsWith(`${at.line} </script><img src=x onerror=alert(1)>`) && seen.includes("&lt;b&gt;"), "a line is text", seen);
	check(!/[\u202e\x01]/.test(seen), "without what is not seen", seen);
	same(await page.locator("#source img").count(), 0, "no element comes of it");
	check((await page.locator("#source .warn").count()) === 1, "a file that is newer than the trace is told");
	same(page.troubles, [], "no error, no request");
	await page.close();
}

// What is no regular file of text is never read.
function refusals({source}) {
	for (const [name, make, word] of [
		["fifo", (file) => execFileSync("mkfifo", [file]), "no text files"],
		["large", (file) => writeFileSync(file, "x\n".repeat(3 << 20)), "no text files"],
		["binary", (file) => writeFileSync(file, "a\0b\n".repeat(500)), "no text files"],
		["folder", (file) => mkdirSync(file), "no text files"],
		["nothing", () => {}, "are not here"]]) {
		const at = path.join(pages, `refused-${name}`);
		mkdirSync(at, {recursive: true});
		make(path.join(at, FILE));
		const {file, told} = makePage(`refused-${name}`, ["--without-sql", "--source-map", `${path.dirname(source)}=${at}`]);
		same(told.filter((line) => line.includes(word)).length, 1, `${name}: it is said once`);
		check(!readFileSync(file, "utf8").includes("a\0b"), `${name}: it is not in the page`);
	}
	const {status} = spawnSync(analyze, ["--source-map", "nowhere", "--html", path.join(pages, "none.html"), trace]);
	same(status, 2, "a map without = is refused");
}

async function without(context) {
	const {file} = makePage("without", []), page = await openPage(context, file);

	same(await page.evaluate((name) => window.trc.source(name, 200), FILE), null, "without the option there is no source code");
	await page.close();
}

await withBrowser("light", async (context) => {
	const known = await wholePage(context);
	await hostileFile(context, known);
	refusals(known);
	await without(context);
});
console.log(`${results.passed} checks passed, ${results.failed} failed`);
process.exit(results.failed ? 1 : 0);
