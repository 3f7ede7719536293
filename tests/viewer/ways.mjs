// ways.mjs PAGES - opens the pages that ways.sh made: a search, undo and redo, what led to a selection, lists that lead on; threads that are
// hidden and moved.

import path from "node:path";
import {check, detailsOf, holds, openPage, pointOf, results, same, settle, viewOf, withBrowser} from "./browser_lib.mjs";

const [pages] = process.argv.slice(2);
const [MAIN, A, B, HOSTILE] = [0, 1, 2, 3], MS = 1e6; // of known.html: main, worker-a, worker-b, and one with a hostile name

const selectionOf = (page) => page.evaluate(() => window.trc.selection);
const trailOf = (page) => page.evaluate(() => window.trc.trail);

async function press(page, ...keys) {
	for (const key of keys) {
		await page.keyboard.press(key);
		await settle(page);
	}
}

async function clickAt(page, thread, ms) {
	const {x, y} = await pointOf(page, thread, ms * MS);

	await page.mouse.click(x, y);
	await settle(page);
}

// Whatever a click or a key changes of what is selected and seen, undo takes back, and redo does again.
async function undoes(page) {
	await clickAt(page, B, 3);
	const first = await selectionOf(page);
	same(first.kind, "park", "a click selects worker-b's wait");
	await clickAt(page, A, 1.5);
	const second = await selectionOf(page);
	check(second.id !== first.id || second.kind !== first.kind, "another click something else", second);
	await press(page, "Control+z");
	same(await selectionOf(page), first, "undo takes back a wrong click");
	await press(page, "Control+z");
	same(await selectionOf(page), null, "and the click before");
	await press(page, "Control+y", "Control+y");
	same(await selectionOf(page), second, "redo does both again");
	await press(page, "Escape");
	same(await selectionOf(page), null, "Escape clears");
	await press(page, "Control+z");
	same(await selectionOf(page), second, "and undo brings it back");

	await press(page, "Control+z", "f");
	const zoomed = await viewOf(page);
	await press(page, "[");
	const cause = await selectionOf(page);
	check(cause.id !== first.id, "[ leads to the wait before", cause);
	await press(page, "Control+z");
	same([await selectionOf(page), await viewOf(page)], [first, zoomed], "undo takes back [, with the view that it moved");
	await press(page, "Control+z");
	same([await selectionOf(page), (await viewOf(page)).t1], [first, 10 * MS], "then the zoom alone");

	await press(page, "r");
	const range = await page.evaluate(() => window.trc.range);
	await press(page, "Escape", "Control+z");
	same(await page.evaluate(() => window.trc.range), range, "a range comes back, too");
	await press(page, "Control+z");
	same(await page.evaluate(() => window.trc.range), null, "and goes");
	await press(page, "Escape", "0");
}

// The same by buttons, which are off where there is nothing to go back to; also of order, filter, folding, tasks and counters.
async function undoesByButtons(context) {
	const page = await openPage(context, path.join(pages, "groups.html"), "", {width: 1400, height: 2000});
	const off = () => page.evaluate(() => ["undo", "redo"].map((id) => document.getElementById(id).disabled));
	const seen = async () => [await page.inputValue("#sort"), await page.inputValue("#filter"), await page.isChecked("#annotations"),
		(await shownOf(page)).length, (await page.evaluate(() => window.trc.range)) !== null, await selectionOf(page)];
	const steps = [() => label(page, "worker-*").locator(".open").click(), () => page.evaluate(() => window.trc.select("thread", 2)),
		() => page.evaluate(() => window.trc.setRange({t0: 1000, t1: 2000})), () => page.uncheck("#annotations"), () => page.selectOption("#sort", "name"),
		() => page.fill("#filter", "worker-3")];

	same([await off(), await page.getAttribute("#undo", "title")], [[true, true], "Back to what was seen and chosen before (Ctrl+Z)"], "at first there is nothing to undo");
	const states = [await seen()];
	for (const step of steps) {
		await step();
		await settle(page);
		states.push(await seen());
	}
	same(new Set(states.map((state) => JSON.stringify(state))).size, steps.length + 1, "each step changes something");
	same(await off(), [false, true], "then there is something to undo");
	for (let n = steps.length; n-- > 0;) {
		await page.click("#undo");
		await settle(page);
		same(await seen(), states[n], `the button takes back step ${n}`);
	}
	same(await off(), [true, false], "up to the first");
	for (let n = 1; n <= steps.length; n++) {
		await page.click("#redo");
		await settle(page);
		same(await seen(), states[n], `the other one does step ${n} again`);
	}
	same(await off(), [false, true], "up to the last");
	await page.fill("#filter", "");
	await page.locator("#filter").pressSequentially("idle", {delay: 600});
	await page.locator("#canvases").focus();
	await press(page, "Control+z");
	same(await page.inputValue("#filter"), "worker-3", "what is typed in one go is one step, however slowly");
	same(page.troubles, [], "no error, no warning, no request");
	await page.close();
}

// A range that is typed, in the forms of --window.
async function typesRanges(page) {
	const field = page.locator("#when"), wrong = page.locator("#when-error");
	const type = async (string) => {
		await page.locator("#canvases").focus();
		await press(page, "m");
		await page.keyboard.type(string);
		await press(page, "Enter");
		return page.evaluate(() => window.trc.range);
	};

	for (const [typed, t0, t1] of [["2ms..4.1ms", 2, 4.1], ["2ms..+500us", 2, 2.5], ["..1ms", 0, 1], ["task:42", 0.6, 5], ["22:13:20.003..+1ms", 3, 4]]) {
		same(await type(typed), {t0: t0 * MS, t1: Math.round(t1 * MS)}, `M, ${typed}, Enter: a range`);
		const {t0: from, t1: until} = await viewOf(page);
		check(from <= t0 * MS && until >= t1 * MS && until - from < 1.2 * (t1 - t0) * MS, `${typed}: which is shown`, [from, until]);
		same([await wrong.isVisible(), await page.evaluate(() => document.activeElement.id)], [false, "canvases"], "and the keyboard is the timeline's again");
	}
	await page.evaluate(() => window.trc.setRange({t0: 1e6, t1: 2500000}));
	same(await field.inputValue(), "1ms..2.5ms", "a range that is chosen otherwise can be read there");
	const before = await page.evaluate(() => window.trc.range);
	for (const [typed, told] of [["2..4", "“2..4” is no range of time: write 1.2s..1.35s, 1.2s..+80ms, 350ms.. or, of the clock in UTC, 11:47:52.2..+300ms"],
		["4ms..2ms", "“4ms..2ms” ends before it begins"], ["20ms..30ms", "“20ms..30ms”: the trace lasts 10.0 ms"], ["task:7", "the page has no task 7 that took time"]]) {
		same(await type(typed), before, `${typed} changes nothing`);
		same([await wrong.innerText(), await field.getAttribute("aria-invalid"), await field.inputValue()], [told, "true", typed], "one line says why, and what was typed stays");
		check((await wrong.boundingBox()).height < 50, "it is one line", await wrong.boundingBox());
	}
	await press(page, "Escape");
	same([await wrong.isVisible(), await field.inputValue()], [false, "1ms..2.5ms"], "Escape leaves it as it was");
	await field.fill("");
	await field.press("Enter");
	same(await page.evaluate(() => window.trc.range), null, "nothing typed clears the range");
	await press(page, "0");
}

// What `[` and links left behind stands above the details, and leads back.
async function leadsBack(page) {
	const crumbs = () => page.locator("#trail button").allInnerTexts();

	await clickAt(page, B, 3);
	const start = await selectionOf(page);
	same(await page.locator("#trail").isVisible(), false, "a click has nothing behind it");
	await press(page, "[");
	same(await trailOf(page), [start], "[ remembers where it began");
	check((await crumbs())[0].startsWith("worker-b: cond"), "and says so", await crumbs());
	await page.locator("#details").getByText("a release of the lock").click();
	await settle(page);
	same((await trailOf(page)).length, 2, "so does a link in the details");
	check(await holds(page, () => /trail=park:\d+;park:\d+/.test(location.hash)), "the address holds the way");
	const address = await page.evaluate(() => window.trc.address());
	await press(page, "Backspace", "Backspace");
	same([await selectionOf(page), await trailOf(page)], [start, []], "Backspace leads back, step by step");
	await page.evaluate(() => { location.hash = "#t=0,1"; });
	await settle(page);
	await page.evaluate((hash) => { location.hash = hash; }, address);
	await settle(page);
	same((await trailOf(page)).length, 2, "the address leads to the end of the way, with the way");
	await page.locator("#trail button").first().click();
	await settle(page);
	same([await selectionOf(page), await trailOf(page)], [start, []], "a click on its first step leads there at once");
	await press(page, "[");
	await clickAt(page, A, 1.5);
	same(await trailOf(page), [], "a click elsewhere begins anew");
	await press(page, "Escape", "0");
}

// A chain of 58 waits behind one, and a thread that ended the waits of 100.
async function leadsOn(page) {
	const behind = () => page.locator("#details ol.chain").first().locator("li").count();
	const arrows = () => page.evaluate(() => window.trc.arrows);

	await page.evaluate(() => window.trc.select("park", 1));
	await settle(page);
	same([await behind(), await arrows()], [12, 13], "a dozen waits behind a wait are told and drawn");
	const listed = [];
	for (let n = 0; n < 10 && await page.locator("#details .more").count(); n++) {
		await page.locator("#details .more").first().click();
		await settle(page);
		listed.push(await behind());
	}
	same([listed, await arrows()], [[48, 58], 59], "the rest on demand");
	check((await detailsOf(page)).includes("step 59"), "up to the first that waited");
	let at = await selectionOf(page), steps = 0;
	for (let last = null; last !== at.id && steps < 100; steps++) {
		last = at.id;
		await page.keyboard.press("[");
		at = await selectionOf(page);
	}
	await settle(page);
	same(at.kind, "iv", "[ leads on to where the chain begins");
	same((await trailOf(page)).length, 20, "of a long way the last steps are known");

	const last = await page.evaluate(() => window.trc.threads().findIndex((thread) => thread.name === "step 60"));
	await page.evaluate(() => window.trc.setView(0, window.trc.span));
	const {x, y} = await pointOf(page, last, 390000);
	await page.mouse.click(x, y);
	await settle(page);
	const woken = () => page.locator("#details ol.chain li").count();
	const told = [];
	for (const wanted of ["the first 20 of 101", "the first 80 of 101", "Ended the waits of\n"]) {
		told.push(await woken());
		check((await detailsOf(page)).includes(wanted), `what a thread ended: ${wanted}`, (await detailsOf(page)).slice(0, 400));
		if (told.length < 3)
			await page.locator("#details .more").click();
		await settle(page);
	}
	same([told, await page.locator("#details .more").count()], [[20, 80, 101], 0], "of waits that a thread ended the rest on demand");
}

// ---- hidden and moved ----

const shownOf = (page) => page.evaluate(() => window.trc.shownThreads());
const sorted = (list) => list.toSorted((a, b) => a - b);
const label = (page, text) => page.locator(".label:not([hidden]):not(.annotation), .label.group:not([hidden])", {hasText: text}).first();
const rowsOf = (page) => page.evaluate(() => [...document.querySelectorAll(".label:not([hidden])")].filter((row) => !row.classList.contains("annotation") ||
	row.querySelector("[aria-expanded]")).sort((a, b) => a.getBoundingClientRect().top - b.getBoundingClientRect().top)
	.map((row) => row.querySelector(".name").textContent).filter((name) => !/ procs$/.test(name)));

async function follow(page, address) {
	await page.evaluate(() => { location.hash = "#t=0,1"; });
	await settle(page);
	await page.evaluate((hash) => { location.hash = hash; }, address);
	await settle(page);
}

// A thread is hidden by the button beside its name, and by a key; what is hidden is a line at the end, which leads back.
async function hidesThreads(page) {
	await label(page, "worker-a").hover();
	await label(page, "worker-a").locator(".hide").click();
	await settle(page);
	same(sorted(await shownOf(page)), [MAIN, B, HOSTILE], "a click hides a thread");
	same((await rowsOf(page)).at(-1), "▸ 1 hidden thread", "a line says so");
	await page.evaluate(() => window.trc.select("thread", 1));
	await page.locator("#canvases").focus();
	await press(page, "Delete");
	same(sorted(await shownOf(page)), [B, HOSTILE], "Delete hides the selected thread");
	check((await detailsOf(page)).includes("Its thread is hidden."), "whose details say so", await detailsOf(page));
	const address = await page.evaluate(() => window.trc.address());
	check(/hide=\d+,\d+(&|$)/.test(address), "the address holds what is hidden", address);

	// What is selected of a hidden thread is shown meanwhile, and announced; so is what a search finds.
	await page.evaluate(() => window.trc.select("park", 2));
	await settle(page);
	same(sorted(await shownOf(page)), [A, B, HOSTILE], "what is selected of a hidden thread is shown");
	const said = "Its thread is hidden, and shown as long as this is selected.";
	check((await detailsOf(page)).includes(said) && (await page.locator("#announce").textContent()).includes(said), "the details say so, and announce it",
		[await detailsOf(page), await page.locator("#announce").textContent()]);
	check((await label(page, "worker-a").locator(".open").getAttribute("title")).includes("hidden: shown since it is selected"), "and its name does");
	await page.evaluate(() => window.trc.select(null));
	await settle(page);
	same(sorted(await shownOf(page)), [B, HOSTILE], "for as long as it is selected");
	await page.fill("#search", "worker-a");
	await press(page, "Enter");
	check((await page.locator("#search-count").textContent()).endsWith("of a hidden thread"), "a match in a hidden thread is told as one",
		await page.locator("#search-count").textContent());
	await page.fill("#search", "");
	await press(page, "Escape");
	await page.evaluate(() => window.trc.select(null));

	await press(page, "Control+z");
	await page.locator("#canvases").focus();
	for (let n = 0; n < 12 && (await shownOf(page)).length < 4; n++)
		await press(page, "Control+z");
	same((await shownOf(page)).length, 4, "undo shows all again");
	await follow(page, address);
	same(sorted(await shownOf(page)), [B, HOSTILE], "the address hides them again");
	await label(page, "2 hidden threads").locator(".open").click();
	await settle(page);
	same((await shownOf(page)).length, 4, "the line opens");
	await label(page, "worker-a").locator(".hide").focus();
	await press(page, "Enter");
	same((await rowsOf(page)).filter((row) => /hidden/.test(row)), ["▾ 1 hidden thread"], "from there one is shown again, by keys");
	await label(page, "1 hidden thread").locator(".hide").focus();
	await press(page, "Enter");
	same([(await shownOf(page)).length, (await rowsOf(page)).filter((row) => /hidden/.test(row))], [4, []], "and all are");
}

// Groups are hidden as a whole; of one some can be shown again.
async function hidesGroups(page) {
	const before = await rowsOf(page);

	await label(page, "worker-*").locator(".open").focus();
	await press(page, "Delete");
	same([(await rowsOf(page)).includes("▸ worker-*"), (await rowsOf(page)).at(-1)], [false, "▸ 33 hidden threads"], "Delete at its name hides a group");
	await label(page, "idle threads").hover();
	await label(page, "idle threads").locator(".hide").click();
	await settle(page);
	same((await rowsOf(page)).at(-1), "▸ 39 hidden threads", "idle threads, too");
	check(/hide=name%3Aworker-\*,idle(&|$)/.test(await page.evaluate(() => window.trc.address())), "the address holds the groups",
		await page.evaluate(() => window.trc.address()));
	await label(page, "39 hidden").locator(".open").click();
	await settle(page);
	await label(page, "worker-").locator(".hide").focus();
	await press(page, "Enter");
	same((await rowsOf(page)).filter((row) => /hidden/.test(row)), ["▾ 38 hidden threads"], "one of a group is shown again");
	await label(page, "38 hidden").locator(".hide").focus();
	await press(page, "Enter");
	same(await rowsOf(page), before, "then all are as before");
}

// Another page, opened by a link, has the same groups open, and the same track at the top, also in a window of another height.
async function linksHoldFolding(context, page) {
	const top = (of) => of.evaluate(() => {
		const edge = document.getElementById("labels").getBoundingClientRect().top;
		return [...document.querySelectorAll(".label:not([hidden])")].filter((row) => row.getBoundingClientRect().bottom > edge + 1)
			.sort((a, b) => a.getBoundingClientRect().top - b.getBoundingClientRect().top)[0].querySelector(".name").textContent;
	});

	await label(page, "worker-*").locator(".open").click();
	await settle(page);
	const opened = (await shownOf(page)).length;
	check(opened > 30, "the threads of a group are shown", opened);
	await page.setViewportSize({width: 1400, height: 500});
	await settle(page);
	same((await page.evaluate(() => window.trc.address())).includes("scroll="), false, "at the top there is nothing to say");
	await page.evaluate(() => { document.getElementById("scroll").scrollTop = 300; });
	await settle(page);
	const wanted = await top(page), address = await page.evaluate(() => window.trc.address());
	check(/open=name%3Aworker-\*(&|$)/.test(address.replace(/%2A/g, "*")) && /scroll=[^&]+,\d+(&|$)/.test(address), "the address holds what is open and where one is", address);
	check(await holds(page, () => /scroll=/.test(location.hash)), "and the window's address follows the wheel");
	for (const height of [500, 700]) {
		const other = await openPage(context, path.join(pages, "groups.html"), address, {width: 1400, height});
		same([(await shownOf(other)).length, await top(other)], [opened, wanted], `a link opens them, and leads there: ${height} pixels`);
		await other.close();
	}
	await page.evaluate(() => { document.getElementById("scroll").scrollTop = 0; });
	await page.setViewportSize({width: 1400, height: 2000});
	await settle(page);
	await label(page, "worker-*").locator(".open").click();
	await settle(page);
}

// Drags a name to before or after another one.
async function dragName(page, from, to, after) {
	const a = await from.locator(".name").boundingBox(), b = await to.boundingBox();

	await page.mouse.move(a.x + 20, a.y + 8);
	await page.mouse.down();
	await page.mouse.move(a.x + 20, a.y + 30, {steps: 2});
	await page.mouse.move(b.x + 30, after ? b.y + b.height - 2 : b.y + 2, {steps: 4});
	same(await page.locator("#drop").isVisible(), true, "a line shows where it would lie");
	await page.mouse.up();
	await settle(page);
}

// Tracks of tasks, counters and procs are hidden, moved and kept at the top as threads are.
async function arrangesTracks(page) {
	const rows = () => page.evaluate(() => [...document.querySelectorAll(".label:not([hidden])")].sort((a, b) => a.getBoundingClientRect().top - b.getBoundingClientRect().top)
		.map((row) => row.querySelector(".name").textContent)), address = () => page.evaluate(() => window.trc.address());
	const row = (name) => page.locator(".label:not([hidden])").filter({has: page.locator(`.name:text-is("${name}")`)});
	const at = async (name, ...keys) => {
		await row(name).locator(".open").focus();
		await press(page, ...keys);
	};

	await follow(page, "#sort=first");
	await page.evaluate(() => window.trc.select(null));
	const first = await rows(), without = (...names) => first.filter((name) => !names.includes(name));
	check(["request", "queue depth", "in flight", "▸ 2 procs"].every((name) => first.includes(name)), "there are tasks, counters and procs", first);

	await row("request").hover();
	await row("request").locator(".hide").click();
	await settle(page);
	same(await rows(), [...without("request"), "▸ 1 hidden track"], "a click hides the track of a type of tasks; a line says so");
	await at("queue depth", "Delete");
	await at("worker-a", "Delete");
	same(await rows(), [...without("request", "queue depth", "worker-a"), "▸ 1 hidden thread, 2 hidden tracks"], "a key hides a counter");
	check(/hide=tasks%3Arequest,counter%3Aqueue%20depth,\d+(&|$)/.test(await address()), "the address holds what is hidden", await address());
	const kept = await address(), hidden = await rows();
	await page.evaluate(() => {
		for (let id = 1; id < 50 && !/^task request /.test(window.trc.told()?.title || ""); id++)
			window.trc.select("task", id);
	});
	await settle(page);
	check((await rows()).includes("request") && (await detailsOf(page)).includes("Its track is hidden, and shown as long as this is selected."), "what is selected in it is shown",
		[await rows(), await detailsOf(page)]);
	await page.evaluate(() => window.trc.select(null));
	await settle(page);
	same(await rows(), hidden, "for as long");
	await follow(page, "#sort=first");
	same(await rows(), first, "a plain address shows all");
	await follow(page, kept);
	same(await rows(), hidden, "the address hides them again");
	await page.locator(".label:not([hidden])", {hasText: "2 hidden tracks"}).locator(".open").click();
	await settle(page);
	same((await rows()).slice(-3), ["worker-a", "request", "queue depth"], "the line opens");
	await row("request").locator(".hide").focus();
	await press(page, "Enter");
	same(await rows(), [...without("queue depth", "worker-a"), "▾ 1 hidden thread, 1 hidden track", "worker-a", "queue depth"], "from there one is shown again, by keys");
	await press(page, "Control+z", "Control+z");
	await page.locator(".label:not([hidden])", {hasText: "hidden track"}).locator(".hide").focus();
	await press(page, "Enter");
	same(await rows(), first, "and all are");

	await dragName(page, row("in flight"), row("worker-a"), true);
	const place = first.indexOf("worker-a"), dragged = without("in flight").toSpliced(place, 0, "in flight");
	same([await rows(), await page.evaluate(() => window.trc.selection)], [dragged, null], "a counter is dragged below a thread, which is no click");
	await at("in flight", "Control+ArrowUp");
	same(await rows(), without("in flight").toSpliced(place - 1, 0, "in flight"), "a key moves it");
	await at("▸ 2 procs", "Control+ArrowUp");
	await at("in flight", "p");
	const moved = await rows(), pinned = await address();
	same([moved[0], moved.indexOf("▸ 2 procs")], ["in flight", without("in flight").indexOf("▸ 2 procs")], "procs are moved; P keeps a counter at the top");
	check(/pin=counter%3Ain%20flight[^,&]*(&|$)/.test(pinned), "the address has it", pinned);
	await press(page, "p");
	check((await rows())[0] !== "in flight", "P again lets it go", await rows());
	await follow(page, pinned);
	same(await rows(), moved, "the address holds all of this");

	await follow(page, "#sort=first");
	await page.locator("#canvases").focus();
	await press(page, "o");
	const open = await rows(), proc = open.findLast((name) => /^proc \d+$/.test(name));
	await at(proc, "Control+ArrowUp", "Control+ArrowUp", "Control+ArrowUp", "Control+ArrowUp", "Control+ArrowUp");
	same(await rows(), open.filter((name) => name !== proc).toSpliced(open.indexOf("▾ 2 procs") + 1, 0, proc), "a proc is moved among procs, and not out of these");
	await at("run queue", "Delete");
	same((await rows()).filter((name) => /run queue|hidden/.test(name)), ["▸ 1 hidden track"], "one of them is hidden");
	await follow(page, "#sort=first");
}

// Rows are moved by dragging their names, and by keys.
async function moves(page) {
	const drag = (from, to, after) => dragName(page, label(page, from), label(page, to), after);
	await page.evaluate(() => window.trc.select(null));
	const first = await rowsOf(page);

	await drag(first[2], first[0], false);
	const dragged = [first[2], first[0], first[1], ...first.slice(3)];
	same(await rowsOf(page), dragged, `${first[2]} is dragged before ${first[0]}`);
	same(await page.evaluate(() => window.trc.selection), null, "which is no click on it");
	same(await page.locator("#drop").isVisible(), false, "the line goes");
	await label(page, first[0]).locator(".open").focus();
	await press(page, "Control+ArrowDown");
	const moved = [first[2], first[1], first[0], ...first.slice(3)];
	same(await rowsOf(page), moved, "a key moves the row whose name has the focus");
	same(await page.evaluate(() => document.activeElement.querySelector(".name")?.textContent), first[0], "the focus goes with it");
	await press(page, "Control+ArrowUp", "Control+ArrowUp");
	same(await rowsOf(page), [first[0], first[2], first[1], ...first.slice(3)], "and the other way");
	await press(page, "Control+z", "Control+z");
	same(await rowsOf(page), moved, "undo moves back");
	const address = await page.evaluate(() => window.trc.address());
	await follow(page, "#sort=first");
	same(await rowsOf(page), first, "a plain address has the plain order");
	await follow(page, address);
	same(await rowsOf(page), moved, "the address holds what was moved");
	await follow(page, "#sort=first");
}

// A group is moved as one; a thread of an open group within that.
async function movesGroups(page) {
	const first = await rowsOf(page), at = first.indexOf("▸ worker-*");

	await label(page, "worker-*").locator(".open").focus();
	for (let n = 0; n < at; n++)
		await press(page, "Control+ArrowUp");
	same((await rowsOf(page))[0], "▸ worker-*", "a group is moved to the top");
	await press(page, "Enter");
	const open = await rowsOf(page);
	await label(page, open[2]).locator(".open").focus();
	await press(page, "Control+ArrowUp");
	same((await rowsOf(page)).slice(0, 3), [open[0], open[2], open[1]], "a thread within its group");
	await press(page, "Control+ArrowUp");
	same((await rowsOf(page)).slice(0, 3), [open[0], open[2], open[1]], "and not out of it");
	await follow(page, "#sort=first");
	same((await rowsOf(page)).includes("▸ worker-*"), true, "a plain address folds it");
}

// -word leaves threads out; so does -"several words".
async function excludes(page, context) {
	const left = async (filter) => {
		await page.fill("#filter", filter);
		await settle(page);
		return sorted(await shownOf(page));
	};

	same(await left("-worker"), [MAIN, HOSTILE], "-worker leaves the workers out");
	check(await page.locator(".label.annotation:not([hidden])").count() > 1, "tasks and counters stay");
	same(await left("worker -b"), [A], "words before it are looked for");
	same(await left('-"worker-a" -main'), [B, HOSTILE], "two, one in quotes");
	same(await left("-tenant=acme"), [MAIN, B, HOSTILE], "by label");
	same(await left("-"), [MAIN, A, B, HOSTILE], "a dash alone is no word yet");
	same(await left("worker -worker"), [], "nothing may be left");
	check((await page.locator("#nothing").innerText()).startsWith("The filter “worker -worker” leaves no thread."), "which is told",
		await page.locator("#nothing").innerText());
	await page.click("#nothing-all");
	await left("-worker");
	await page.locator("#canvases").focus();
	const undone = [];
	for (let n = 0; n < 2; n++) {
		await press(page, "Control+z");
		undone.push(await page.inputValue("#filter"));
	}
	same(undone, ["", "worker -worker"], "“Show all” is undone by itself, and so is what was typed then");
	await left("-worker");
	const address = await page.evaluate(() => window.trc.address());
	const again = await openPage(context, path.join(pages, "known.html"), address);
	same(sorted(await shownOf(again)), [MAIN, HOSTILE], "the address holds it");
	await left("");
}

// A search lists names by what they are of.  What is chosen there is walked through; nothing is selected unasked.
async function searchesByKind(page) {
	const options = () => page.evaluate(() => [...document.querySelectorAll("#results [role=option]")].map((option) => option.innerText.split(/\s*\n\s*/).join(" ")));
	const told = () => page.locator("#search-count").textContent(), step = page.locator("#search-next");
	const type = async (query) => {
		await page.fill("#search", query);
		await page.waitForFunction((wanted) => document.querySelector("#results:not([hidden])")?.dataset.query === wanted, query);
	};
	const places = new Set(), placed = async () => {
		const {x, width} = await step.boundingBox();
		places.add(`${Math.round(x)} ${Math.round(width)}`);
	};

	await page.locator("#canvases").focus();
	await placed();
	await type("worker");
	await placed();
	const listed = await options(), before = await viewOf(page);
	same(listed.filter((option) => / names? ×/.test(option)), ["Threads 2 names ×2", "Functions 3 names ×12", "Signals and conditions 1 name ×1"], "names stand below headings, with counts");
	same(listed.slice(1, 3), ["thread worker-a ×1", "thread worker-b ×1"], "threads below theirs");
	await page.locator("#results .heading .go", {hasText: "Functions"}).click();
	await settle(page);
	same([await selectionOf(page), await viewOf(page), await told()], [null, before, "12 matches, only Functions"], "what is chosen is not jumped to");
	await placed();
	await page.locator("#search").click();
	await page.locator("#results .go", {hasText: /^thread/}).first().click();
	await settle(page);
	same(await selectionOf(page), {kind: "thread", id: A + 1}, "but for a single match");
	await placed();

	await type("worker");
	await page.locator("#canvases").focus();
	await page.locator("#search").focus();
	await press(page, "ArrowDown", "Enter");
	same(await told(), "2 matches, only Threads", "keys choose, too");
	const walked = [];
	for (let n = 0; n < 3; n++) {
		await press(page, "Enter");
		walked.push(await selectionOf(page));
		await placed();
	}
	same(walked.map(({kind}) => kind), ["thread", "thread", "thread"], "then only these are walked through");
	same(new Set(walked.map(({id}) => id)).size, 2, "both of them");
	await page.locator("#canvases").focus();
	await page.locator("#search").focus();
	await page.locator("#results .only button").click();
	same(await told(), "15 matches", "and all again");

	await type("worker_main");
	const many = (await options()).findIndex((option) => option.startsWith("wait in worker_main"));
	await page.locator("#results .longest").first().click();
	await settle(page);
	check(many > 0 && (await told()).endsWith(" of 5, only wait in worker_main"), "the longest is shown when asked for", [many, await told()]);
	same((await selectionOf(page)).kind, "park", "which is a wait");
	// The list is chosen of before what was typed on is searched for.
	await type("worker_main");
	await page.evaluate(() => {
		const field = document.getElementById("search");
		field.value = "worker_mainly";
		field.dispatchEvent(new Event("input"));
		document.querySelector("#results .longest").click();
	});
	await settle(page);
	check((await told()).endsWith(" of 5, only wait in worker_main"), "the longest is of the list, not of what is being typed", await told());
	await page.locator("#search").focus();
	await page.locator("#link-copy").click();
	await placed();

	const open = () => page.evaluate(() => [!document.getElementById("results").hidden, document.getElementById("search").getAttribute("aria-expanded")]);
	await type("worker");
	same(await open(), [true, "true"], "while the list is shown, the field says so");
	await press(page, "Tab");
	same(await open(), [false, "false"], "Tab closes it");
	await page.locator("#search").focus();
	same(await open(), [true, "true"], "and the focus opens it again");
	await press(page, "Enter");
	same(await open(), [false, "false"], "Enter closes it, too");
	await page.locator("#link-copy").click();
	same(places.size, 1, "the buttons beside the field stay where they are, whatever is said there");
	await press(page, "Escape");
	await page.fill("#search", "");
	await page.waitForFunction(() => window.trc.matches === 0);
	await page.locator("#canvases").focus();
	await page.evaluate(() => window.trc.select(null));
	await press(page, "0");
}

// What a newer page takes over of what is typed and chosen of a search.
async function carries(context) {
	const file = path.join(pages, "known.html"), page = await openPage(context, file);

	await page.fill("#search", "worker");
	await page.waitForFunction(() => document.querySelector("#results:not([hidden])")?.dataset.query === "worker");
	await page.locator("#results .heading .go", {hasText: "Functions"}).click();
	await page.locator("#when").focus();
	await page.keyboard.type("1ms..2");
	await page.keyboard.press("ArrowLeft");
	const newer = await openPage(context, file);
	await newer.evaluate((was) => {
		window.trc.carry.in(was);
		window.trc.carry.focus(was.focus);
	}, await page.evaluate(() => window.trc.carry.out()));
	await settle(newer);
	same(await newer.locator("#search-count").textContent(), "12 matches, only Functions", "a newer page has what was chosen of the search's list");
	same(await newer.evaluate(() => {
		const {id, value, selectionStart} = document.activeElement;
		return [id, value, selectionStart];
	}), ["when", "1ms..2", 5], "and what is typed as a range");
	same([...page.troubles, ...newer.troubles], [], "no error");
	await page.close();
	await newer.close();
}

// Steps of undo in a newer page: how threads were arranged goes with them.
async function carriesSteps(context) {
	const file = path.join(pages, "known.html"), page = await openPage(context, file);
	const arranged = (of) => of.evaluate(() => [document.getElementById("sort").value, document.getElementById("filter").value, window.trc.shownThreads().length]);

	await page.locator("#sort").selectOption("name");
	await page.fill("#filter", "worker");
	await press(page, "Enter");
	await label(page, "worker-a").hover();
	await label(page, "worker-a").locator(".hide").click();
	await settle(page);
	same(await arranged(page), ["name", "worker", 1], "sorted, filtered, one of two hidden");
	await page.locator("#canvases").focus();
	await press(page, "Control+z");
	same(await arranged(page), ["name", "worker", 2], "one step back");
	const newer = await openPage(context, file);
	await newer.evaluate((was) => window.trc.carry.in(was), await page.evaluate(() => window.trc.carry.out()));
	await newer.locator("#canvases").focus();
	same(await arranged(newer), ["name", "worker", 2], "a newer page has threads arranged as they were");
	await press(newer, "Control+z");
	same((await arranged(newer)).slice(0, 2), ["name", ""], "undo takes back the filter");
	await press(newer, "Control+z");
	same((await arranged(newer)).slice(0, 2), ["first", ""], "then the order");
	check(await newer.locator("#undo").isDisabled(), "that was all");
	await press(newer, "Control+y", "Control+y", "Control+y");
	same(await arranged(newer), ["name", "worker", 1], "redo does all again, and hides what had been hidden");
	same([...page.troubles, ...newer.troubles], [], "no error");
	await page.close();
	await newer.close();
}

await withBrowser("light", async (context) => {
	// First all of this page: what is typed and clicked in a page behind another one is answered half a second later.
	const page = await openPage(context, path.join(pages, "known.html"));
	await searchesByKind(page);
	await typesRanges(page);
	await undoes(page);
	await leadsBack(page);
	await hidesThreads(page);
	await moves(page);
	await arrangesTracks(page);
	await excludes(page, context);
	const chain = await openPage(context, path.join(pages, "chain.html"), "#sort=start");
	await leadsOn(chain);
	await undoesByButtons(context);
	await carries(context);
	await carriesSteps(context);
	const groups = await openPage(context, path.join(pages, "groups.html"), "", {width: 1400, height: 2000});
	await linksHoldFolding(context, groups);
	await hidesGroups(groups);
	await movesGroups(groups);
	same([...page.troubles, ...chain.troubles, ...groups.troubles], [], "no error, no warning, no request");
});
console.log(`${results.passed} passed, ${results.failed} failed`);
process.exit(results.failed ? 1 : 0);
