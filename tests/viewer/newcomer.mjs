// newcomer.mjs - what somebody who sees a page for the first time reads and does: by mouse, keys and what is written there.
//
//   node newcomer.mjs TRACE-ANALYZE DIRECTORY

import path from "node:path";
import * as analyzer from "./analyzer.mjs";
import {check, detailsOf, holds, openPage, pointOf, results, same, settle, textsDrawn, withBrowser} from "./browser_lib.mjs";

const [analyze, directory] = process.argv.slice(2);
const pages = path.resolve(directory);
const MS = 1e6;

async function opened(context, trace, use, size = null) {
	const page = await openPage(context, `${pages}/${trace}.html`, "", size);

	await use(page, `${pages}/${trace}.trc`);
	same(page.troubles, [], `${trace}: no errors, and no requests`);
	await page.close();
}

function words(text) {
	return text.replace(/\s+/g, " ").trim();
}

// The rows of a table beside the timeline, each as its cells' texts.
function rowsOf(page, heading) {
	return page.evaluate((name) => {
		const table = [...document.querySelectorAll("#tops details")].find((d) => d.querySelector("summary").textContent === name);
		return [...table.querySelectorAll("tbody tr")].map((row) => [...row.cells].map((cell) => cell.innerText.replace(/\s+/g, " ").trim()));
	}, heading);
}

// What the report tells in the same words is one row; two lines of a function are two places.
async function placesOnce(page, trace) {
	const [sum] = analyzer.rowsOf(analyze, trace, "SELECT count(*) AS n, sum(caused_ns) AS ns, count(DISTINCT stack) AS stacks FROM unlocks WHERE thread = 2", []);

	same([sum.n, sum.ns, sum.stacks], [5, 6450000, 2], "five sections of two stacks made wait, says SQL");
	same((await rowsOf(page, "Who made others wait"))[0], ["mutex (several) save bank.c:2 < main", "5", "6.45 ms", "4.00 ms"], "they are one row: calls of one line");
	const [first, second] = await rowsOf(page, "Waiting for locks");
	same(first, ["mutex 0x7f0000001000 look_up_an_account_by_its_number bank.c:3 < pay < main", "2", "6.50 ms", "4.50 ms"], "so are the waits for it");
	check(/^mutex 0x7f0000002000 67 % pay bank\.c:7 < main 33 % pay bank\.c:6 < main$/.test(second[0]), "two places in one function have their lines", second);
	await page.locator("#tops button", {hasText: "save bank.c:2"}).first().click();
	await settle(page);
	check(/made others wait 4.00 ms/.test(await detailsOf(page)), "the row leads to the longest of all of them", await detailsOf(page));
}

// A place is not cut as long as its row has room; the figures stand above it.
async function placesWhole(page) {
	const rows = await page.evaluate(() => [...document.querySelectorAll("#tops details[open] .where")].map((line) => {
		const row = line.closest("tr").getBoundingClientRect(), {left, right, width} = line.getBoundingClientRect();
		const text = line.querySelector(".link") || line;
		return {text: line.textContent, whole: text.scrollWidth <= text.clientWidth, off: [left - row.left, right - row.right].map(Math.round), width};
	}));

	check(rows.length >= 6, "there are places", rows.length);
	same(rows.filter(({off}) => off.some((by) => Math.abs(by) > 1)), [], "each has the whole width of its row");
	same(rows.filter(({whole, width}) => !whole && width > 400), [], "and none is cut there");
}

// The details take the findings' place: what leads back is in sight.
async function wayBack(page) {
	const back = page.locator("#findings-back"), first = await page.evaluate(() => document.querySelector("#details h2").textContent);

	same(await back.isVisible(), false, "nothing is selected: nothing to go back from");
	const {x, y} = await pointOf(page, 0, 3 * MS);
	await page.mouse.click(x, y);
	await settle(page);
	same(words(await back.innerText()), "‹ Findings", "what was there before is named");
	await back.click();
	await settle(page);
	same([await page.evaluate(() => [document.querySelector("#details h2").textContent, window.trc.selection]), await back.isVisible()],
		[[first, null], false], "one click, and they are there again");
	await page.keyboard.press("Control+z");
	await settle(page);
	check(/^mutex: waited/.test(await detailsOf(page)), "undo takes it back");
	await page.evaluate(() => window.trc.setRange({t0: 1e6, t1: 3e6}));
	await settle(page);
	await back.click();
	await settle(page);
	same(await page.evaluate(() => [window.trc.range, window.trc.selection]), [null, null], "from a range, too");
}

// One wait has one length, wherever it is told; what ended it is not called its cause.
async function waitTold(page) {
	const labels = (await textsDrawn(page)).map(({text}) => text), {x, y} = await pointOf(page, 0, 3 * MS);

	check(labels.some((text) => /^mutex 4\.00 ms of 4\.50 ms/.test(text)), "a wait whose thread was woken, but did not run yet, has both lengths", labels);
	check(labels.some((text) => /^mutex 2\.00 ms in/.test(text) || text === "mutex 2.00 ms"), "one that was not has one", labels);
	await page.mouse.click(x, y);
	await settle(page);
	const told = words(await detailsOf(page));
	check(/Duration 4\.50 ms /.test(told), "the details say the same", told);
	check(/Ended by a release of the lock; its critical section made 1 thread wait, 4\.00 ms in all/.test(told), "what ended it", told);
	check(!/Caused by/.test(told), "and not what caused it", told);
}

// Where a thread waits is told with its callers, as in the report, as far as a lane has room for whole names.
async function callersTold(page, trace) {
	const [{chain}] = analyzer.rowsOf(analyze, trace, "SELECT chain(stack) AS chain FROM parks WHERE id = 2", []);
	const names = chain.replace(/ [\w.]*:\d+/g, "").split(" < "), steps = names.map((_, n) => `in ${names.slice(0, n + 1).join(" < ")}`);
	const seen = new Set();

	same(steps.at(-1), "in look_up_an_account_by_its_number < pay < main", "what the report says");
	for (let length = 2.4; length <= 10; length += 0.4) {
		await page.evaluate(([t0, t1]) => window.trc.setView(t0, t1), [Math.min(5.9, 10 - length) * MS, (Math.min(5.9, 10 - length) + length) * MS]);
		await settle(page);
		for (const {text} of (await textsDrawn(page)).filter((drawn) => /^in look/.test(drawn.text)))
			seen.add(text);
	}
	same(steps.filter((step) => !seen.has(step)), [], "with more room more of them are told");
	same([...seen].filter((text) => !steps.includes(text) && !(text.endsWith("…") && steps[0].startsWith(text.slice(0, -1)))), [],
		"and no caller is cut");
	const {x, y} = await pointOf(page, 0, 7 * MS);
	await page.mouse.move(x, y);
	await holds(page, () => !document.getElementById("tip").hidden);
	check((await page.locator("#tip").innerText()).includes(names.join(" < ")), "the tooltip has all", await page.locator("#tip").innerText());
}

// Nobody reads that a lock was held for as long as those held it of whom that is known.
async function heldBy(page) {
	await page.keyboard.press("l");
	await page.locator("#panel-locks button", {hasText: "mutex 0x7f0000003000"}).click();
	await settle(page);
	const tab = words(await page.locator("#panel-locks").innerText());
	check(/known to be held 1 time, 100 µs; p50 100 µs, p99 100 µs, longest 100 µs\. How long it was held when nobody waited for it is not known: record with --locks=all/.test(tab), "whose holds are known", tab);
	same(await page.locator("#panel-locks [data-table=locks] th").allInnerTexts(), ["lock", "waits", "waited", "p50", "p99"], "and no column without a figure");
	const cut = await page.evaluate(() => [...document.querySelectorAll(".locks-list li .dim")].map((words) => {
		const [node] = words.childNodes, range = new Range();
		range.setStart(node, 0);
		range.setEnd(node, node.textContent.indexOf(" main"));
		return words.closest("li").getBoundingClientRect().right - range.getBoundingClientRect().right;
	}));
	check(cut.length === 2 && cut.every((room) => room > 0), "of each wait the list says who and when", cut);
}

// "@" and a time: what each thread did, and not only that there was one.
async function doneThen(page) {
	await page.keyboard.press("/");
	await page.keyboard.type("@3ms");
	await holds(page, () => document.querySelectorAll("#results .what").length >= 4);
	same(await page.locator("#results .what").allInnerTexts(), ["What threads did then", "client: mutex 4.50 ms", "saver: active 10.0 ms", "clerk: active 8.65 ms"], "what they did");
	await page.keyboard.press("Escape");
}

// › goes on with what is typed, also in the moment before it is searched for.
async function typedGoes(page) {
	const status = () => page.evaluate(() => [window.trc.selection && window.trc.selection.kind, document.getElementById("search-count").textContent]);

	await page.keyboard.press("/");
	await page.keyboard.type("payment");
	await page.keyboard.press("Enter");
	await settle(page);
	same(await status(), ["task", "1 of 1"], "a search");
	await page.evaluate(() => { // at once: no timer runs between them
		const field = document.getElementById("search");
		field.value = "look_up";
		field.dispatchEvent(new Event("input", {bubbles: true}));
		document.getElementById("search-next").click();
	});
	const [kind, count] = await status();
	same([kind, count], ["park", "1 of 2"], `› leads to a match of what is typed (${count})`);
	await page.waitForTimeout(300);
	same((await status())[1], count, "which then is not searched for again");
}

// Of a task that began before the trace no type is known: none can be chosen, and none is told.
async function noType(page) {
	await page.keyboard.press("g");
	await holds(page, () => /of off-CPU time/.test(document.querySelector(".flame-summary").textContent));
	const choices = await page.locator("select[aria-label=Tasks] option").allInnerTexts(), summary = await page.locator(".flame-summary").innerText();
	same(choices, ["Any tasks", "payment"], "tasks to choose from");
	check(!/no type|tasks/.test(summary), "any tasks are no tasks of a type", summary);
}

// After the first of two parts the page says what is to be done.
async function compared(page) {
	await page.keyboard.press("g");
	await holds(page, () => /of off-CPU time/.test(document.querySelector(".flame-summary").textContent));
	await page.locator(".flame-tools button", {hasText: "Compare: keep as A"}).click();
	await holds(page, () => /^A: /.test(document.querySelector(".flame-summary").textContent));
	check(/Now choose B: another range, other threads, labels or tasks$/.test(await page.locator(".flame-summary").innerText()), "what comes next");
	await page.evaluate(() => window.trc.setRange({t0: 6e6, t1: 8e6}));
	await holds(page, () => /B: .* 6\.00 ms to 8\.00 ms/.test(document.querySelector(".flame-summary").textContent));
	check(/red: a greater part of B/.test(await page.locator(".flame-summary").innerText()), "then what is seen");
}

// A deadlock's sentence ends where it ends; who waits for a thread's end says for whose.
async function deadlock(page) {
	const [said, rows] = await page.evaluate(() => [".said", ".rows"].map((kind) => {
		const element = document.querySelector(`.findings .alarm ${kind}`), style = getComputedStyle(element);
		return {weight: style.fontWeight, colour: style.color, top: element.getBoundingClientRect().top};
	}));

	check(rows.weight === "400" && said.weight === "600" && rows.colour !== said.colour && rows.top > said.top, "its rows are no part of the sentence", [said, rows]);
	await page.keyboard.press("h");
	await settle(page);
	const now = words(await page.locator("#panel-now").innerText());
	check(/starter waits 9?[\d.]+ .s for join payer/.test(now) && !/join 0x/.test(now), "whose end it waits for", now);
}

// A lock of the program's own making is a lock, as in the report; what is waited for has a name, a file's or an address.
async function locksNamed(page) {
	const locks = (await rowsOf(page, "Waiting for locks")).map(([cell]) => cell), files = (await rowsOf(page, "Waiting for files and sockets")).map(([cell]) => cell);

	check(locks[0].startsWith("futex_lock 0x7f0000005000 "), "the lock of the program's own making leads", locks);
	check(locks[1]?.startsWith("mutex 0x7f0000006000 "), "then the mutex", locks);
	same(files.map((cell) => cell.replace(/ \S*bank\.c:\d+.*/, "")), ["fsync /var/log/first (fd 7) pay", "fsync save"], "a file is named where all waits are for it");
	const legend = await page.locator("#legend button").allInnerTexts();
	check(Math.abs(legend.indexOf("futex_lock") - legend.indexOf("mutex")) === 1, "it stands with the locks", legend);
}

// Where a finding leads is told; a tab of the panel is in sight before there is a panel; where all tables are.
async function wordsLead(page) {
	const finding = page.locator(".findings .said").first(), sentence = words(await finding.innerText()), note = page.locator("#details .of-finding");

	await finding.click();
	await settle(page);
	check(words(await note.innerText()).endsWith(sentence), "the details say of which finding they are", await note.allInnerTexts());
	await page.keyboard.press("Escape");
	await settle(page);
	same(await note.count(), 0, "and no longer when nothing is selected");
	same(await page.locator("#details .tabs-named button").allInnerTexts(), await page.locator("#panel-tabs [role=tab]").allInnerTexts(), "the tabs are named");
	await page.locator("#details .tabs-named button", {hasText: "Locks"}).click();
	same(await page.locator("#panel-tabs [aria-selected=true]").innerText(), "Locks", "and open");
	await page.keyboard.press("q");
	await page.locator(".sql-scope button", {hasText: / tables$/}).click();
	await holds(page, () => /^\d+ rows in/.test(document.querySelector(".sql-state").textContent));
	check(/CREATE (VIRTUAL )?TABLE/.test(await page.locator(".sql-result").innerText()), "all tables, and their columns");
}

// A range has whole nanoseconds wherever it was dragged, and so has all that is summed in it.
async function wholeNanoseconds(page) {
	const {x, y} = await pointOf(page, 0, 3 * MS);

	await page.keyboard.down("Shift");
	await page.keyboard.down("Alt");
	await page.mouse.move(x, y);
	await page.mouse.down();
	await page.mouse.move(x + 101, y);
	await page.mouse.up();
	await page.keyboard.up("Alt");
	await page.keyboard.up("Shift");
	await settle(page);
	const range = await page.evaluate(() => window.trc.range);
	check(range && Number.isInteger(range.t0) && Number.isInteger(range.t1) && range.t1 > range.t0, "no fractions", range);
}

// The range and the order that are chosen are read whole.
async function fieldsWhole(page) {
	await page.evaluate(() => window.trc.setRange({t0: 1000001, t1: 9876543}));
	await settle(page);
	same(await page.evaluate(() => ["when", "sort"].map((id) => document.getElementById(id)).filter((field) => field.scrollWidth > field.clientWidth + 1)
		.map((field) => field.id)), [], "no field cuts what it says");
	const ctx = await page.evaluate(() => {
		const sort = /** @type {HTMLSelectElement} */ (document.getElementById("sort")), pen = document.createElement("canvas").getContext("2d");
		pen.font = getComputedStyle(sort).font;
		return [...sort.options].filter((option) => pen.measureText(option.text).width > sort.clientWidth - 28).map((option) => option.text);
	});
	same(ctx, [], "and no order has a name that is too long");
}

// A row leads where the link in it does, also where it is clicked beside the link.
async function rowsLead(page) {
	const selection = () => page.evaluate(() => window.trc.selection?.kind);
	const chosen = () => page.locator("[data-table=locks] + tbody tr").evaluateAll((rows) => rows.map((row) => row.className));

	await page.evaluate(() => window.trc.locks.open());
	same(await chosen(), ["chosen", "", ""], "the first lock is chosen");
	await page.locator("[data-table=locks] + tbody tr").nth(1).locator("td").last().click();
	same(await chosen(), ["", "chosen", ""], "a click on a figure chooses its lock");
	await page.locator("#panel-locks .spans li .dim").first().click();
	same(await selection(), "park", "one on what is said of a wait selects the wait");
	await page.evaluate(() => window.trc.tasks.open());
	await page.locator("[data-table=tasks] + tbody td.n").first().click();
	await page.locator("#panel-spans .spans li .dim").first().click();
	same(await selection(), "task", "and of a task the task");
}

// The tables below the details are not of what is chosen there, and say so.
async function tablesOfAll(page, trace) {
	const heading = page.locator("#tops-of"), {x, y} = await pointOf(page, 0, 2 * MS);

	same(await heading.isVisible(), false, "below the findings the tables need no heading");
	await page.mouse.click(x, y);
	await settle(page);
	const isPart = trace.endsWith("-part.trc"), wanted = isPart ? "All of this page" : "The whole trace";
	same(await heading.isVisible() && await heading.innerText(), wanted, "below a wait the tables say what they are of");
	same(await page.evaluate(() => document.getElementById("tops-of").getBoundingClientRect().bottom <= document.querySelector("#tops details").getBoundingClientRect().top), true,
		"above the first of them");
	await page.keyboard.press("Escape");
	await page.evaluate(() => window.trc.setRange({t0: 2e6, t1: 3e6}));
	await settle(page);
	same(await heading.isVisible() && await heading.innerText(), wanted, "below a range, too");
}

// The longest wait of its place is not told to be none of the longest; who does not wait is not told to be where it waited.
async function manyCauses(page, trace) {
	const [{n}] = analyzer.rowsOf(analyze, trace, "SELECT count(*) AS n FROM causes WHERE wait = 1", []), {x, y} = await pointOf(page, 0, 2 * MS);

	check(n > 4096, "the wait has more causes than a page takes", n);
	await page.mouse.click(x, y);
	await settle(page);
	const told = words(await detailsOf(page));
	check(/Why The causes of this wait have too many rows for a page\. To see them: trace-analyze --why wait:1 often\.trc/.test(told), "why it has none here", told);
	await page.keyboard.press("h");
	await settle(page);
	const now = await page.locator(".now-list tbody tr").allInnerTexts();
	same(now.map(words).sort(), ["1 unknown last recorded at pay bank.c:6 < main client", "1 unknown last recorded at save bank.c:2 < main saver"],
		"where who does not wait was seen last");
}

// A row says of no wait that it was for another reason; what tells nothing is left out.
async function reasonsTold(page, trace) {
	const waits = analyzer.rowsOf(analyze, trace, "SELECT reason, count(*) AS n FROM parks GROUP BY 1 ORDER BY 1", []);

	same(waits.map(({reason, n}) => [reason, n]), [["cond_mutex", 1], ["epoll", 1], ["mutex", 1], ["rwlock_read", 1], ["rwlock_write", 1]], "waits, says SQL");
	same(await rowsOf(page, "Waiting for locks"), [
		["mutex 0x7f0000006000 75 % cond_mutex at pay bank.c:6 < main 25 % mutex at pay bank.c:6 < main", "2", "4.00 ms", "3.00 ms"],
		["rwlock 0x7f0000007000 75 % rwlock_read at pay bank.c:6 < main 25 % rwlock_write at save bank.c:2 < main", "2", "400 µs", "300 µs"]], "each reason is told of its own waits");
	await page.evaluate(() => document.querySelectorAll("#tops details").forEach((details) => { details.open = true; }));
	same((await rowsOf(page, "Waiting for requests, timers and children"))[0], ["epoll pay bank.c:6 < main", "1", "1.00 ms", "1.00 ms"], "nor what the reason says already");
	const {x, y} = await pointOf(page, 0, 7.5 * MS);
	await page.mouse.click(x, y);
	await settle(page);
	check(/ Object fd 5 /.test(words(await detailsOf(page))), "so is the wait itself", words(await detailsOf(page)));
}

await withBrowser("light", async (context) => {
	await opened(context, "bank", placesOnce);
	for (const [width, height] of [[1280, 720], [1600, 900], [2560, 1440]])
		await opened(context, "bank", placesWhole, {width, height});
	await opened(context, "bank", wayBack);
	await opened(context, "bank", waitTold);
	await opened(context, "bank", callersTold, {width: 1600, height: 900});
	await opened(context, "bank", heldBy, {width: 1600, height: 900});
	await opened(context, "bank", rowsLead);
	await opened(context, "bank", doneThen);
	await opened(context, "bank", typedGoes);
	await opened(context, "bank", noType);
	await opened(context, "bank", compared);
	await opened(context, "dead", deadlock);
	await opened(context, "own", locksNamed);
	await opened(context, "ways", reasonsTold);
	await opened(context, "bank", wordsLead);
	await opened(context, "bank", wholeNanoseconds);
	await opened(context, "bank", fieldsWhole, {width: 1600, height: 900});
	await opened(context, "often", tablesOfAll);
	await opened(context, "often-part", tablesOfAll);
	await opened(context, "often", manyCauses);
});
console.log(`newcomer.mjs: ${results.passed} passed, ${results.failed} failed`);
process.exit(results.failed ? 1 : 0);
