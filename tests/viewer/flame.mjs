// flame.mjs - the panel and the flame graph: compared with profiles and SQL of the same traces, then used.
//
//   node flame.mjs TRACE-ANALYZE DIRECTORY
//
// TRC_SEED repeats a run.

import {readFileSync} from "node:fs";
import path from "node:path";
import * as analyzer from "./analyzer.mjs";
import {amount, check, draw, holds, openPage, results, same, seed, settle, someOf, withBrowser} from "./browser_lib.mjs";
import {readPprof} from "./pprof.mjs";

const [analyze, directory] = process.argv.slice(2);
const pages = path.resolve(directory);
const MS = 1e6;

function sql(trace, query) {
	return analyzer.rowsOf(analyze, trace, query);
}

function flameSet(page, state) {
	return page.evaluate(async (text) => {
		await window.trc.flame.set(text);
		return window.trc.flame.result;
	}, new URLSearchParams(state).toString());
}

// ---- against profiles ----

// kind -> [profile, which of its values, as the flame graph is asked for it, by how much it may differ].  Bytes are rounded.
const profiles = {cpu: ["cpu", 1, {}, 0], off: ["offcpu", 1, {idle: 1}, 0], blame: ["blame", 0, {}, 0],
	inuse: ["heap", 3, {}, 200], alloc: ["allocs", 1, {}, 200]};

// What trc itself does is one function in the flame graph, and what is no function is in brackets.
function comparable(name) {
	return !/^\(|^trc, |\n\S*recorder\/|^\n|^0x|\+0x/.test(name);
}

function sameTotals(result, wanted, most, what) {
	const seen = new Map(result.functions.filter((fn) => !fn.lead).map((fn) => [`${fn.name}\n${fn.file}`, fn]));
	const near = (a, b) => Math.abs(a - b) <= most;
	let compared = 0;

	check(near(result.sum, wanted.sum), `${what}: the sum is ${wanted.sum}`, result.sum);
	for (const [name, row] of wanted.functions) {
		const fn = seen.get(name) || {self: 0, total: 0};
		if (!comparable(name))
			continue;
		compared++;
		// The profile of off-CPU time has words below the functions where a thread was preempted.
		check(near(fn.total, row.total) && (result.kind === "off" || near(fn.self, row.self)),
			`${what}: ${name.replace("\n", " of ")}: self ${row.self}, total ${row.total}`, [fn.self, fn.total]);
	}
	for (const [name, fn] of seen)
		if (comparable(name) && fn.total > most)
			check(wanted.functions.has(name), `${what}: ${name} is in the profile`, fn);
	return compared;
}

// A part of the trace, as the page and the analyzer are asked for it.
function drawPart(t) {
	const part = {state: {}, options: [], range: null, thread: null}, what = draw(6);

	if (what !== 0 && what !== 3) {
		const a = draw(t.span), b = a + 1 + draw(t.span - a - 1);
		part.range = [a, b];
		part.options.push("--window", `${a + t.start}ns..${b + t.start}ns`);
	}
	if (what === 2 || what === 5) {
		part.thread = t.threads[draw(t.threads.length)];
		part.options.push("--thread", String(part.thread.tid));
		part.state.threads = "selected";
	}
	if (what >= 3 && t.tasks.length) {
		part.state.task = t.tasks[draw(t.tasks.length)];
		part.options.push("--task", part.state.task);
		if (draw(2) && !part.range && !part.thread) {
			part.state.slowest = String([1, 10, 50][draw(3)]);
			part.options.push("--slowest", `${part.state.slowest}%`);
		}
	} else if (t.labels.length && draw(2)) {
		part.state.label = t.labels[draw(t.labels.length)];
		part.options.push("--label-filter", part.state.label);
	}
	return part;
}

async function selectPart(page, part) {
	await page.evaluate(([range, serial]) => {
		const thread = window.trc.threads().find((t) => t.serial === serial);
		window.trc.select(thread ? "thread" : null, thread ? thread.idx + 1 : 0);
		window.trc.setRange(range && {t0: range[0], t1: range[1]});
	}, [part.range, part.thread && part.thread.id]);
}

async function comparePart(page, trace, part) {
	await selectPart(page, part);
	const told = analyzer.profilesOf(analyze, trace, Object.values(profiles).map(([name]) => name), part.options);
	for (const [kind, [name, value, asked, slack]] of Object.entries(profiles)) {
		const wanted = told.has(name) && readPprof(told.get(name), value), what = `${path.basename(trace)}: ${kind} ${part.options.join(" ")}`;
		const result = await flameSet(page, {of: kind, ...part.state, ...asked});
		if (wanted)
			sameTotals(result, wanted, slack, what);
		else
			check(result.sum === 0, `${what}: nothing is left`, result.sum);
	}
}

// ---- against SQL ----

// Waits of some reasons by their own functions: total by function, each nanosecond of a thread once.
function waitsBySql(t, wanted, [from, until], thread) {
	const total = new Map(), open = new Map();
	let sum = 0;
	const add = (park, ns) => {
		sum += ns;
		for (const name of new Set(t.own(park.stack)))
			total.set(name, (total.get(name) || 0) + ns);
	};
	const inside = (a, b) => Math.max(0, Math.min(b, until) - Math.max(a, from));

	for (const park of t.parks) {
		const stack = (open.get(park.thread) || []).filter((outer) => outer.end > park.start);
		const outer = stack.findLast((p) => wanted(p.reason));
		open.set(park.thread, [...stack, park]);
		if (!wanted(park.reason) || (thread && park.thread !== thread.id))
			continue;
		add(park, inside(park.start, park.end));
		if (outer)
			add(outer, -inside(park.start, Math.min(park.end, outer.end)));
	}
	return {sum, total};
}

async function compareWaits(page, trace, t, part) {
	const locks = /^(mutex|cond_mutex|rwlock_read|rwlock_write|spin|once|flock)$/;
	const outside = /^(sleep|poll|epoll|child|signal|accept)$/;

	await selectPart(page, part);
	for (const [kind, wanted, asked] of [["lock", (reason) => locks.test(reason), {}], ["wait", () => true, {idle: 1}],
		["wait", (reason) => !outside.test(reason), {}]]) {
		const result = await flameSet(page, {of: kind, ...asked, threads: part.thread ? "selected" : "all"});
		const {sum, total} = waitsBySql(t, wanted, part.range || [0, t.span], part.thread);
		const what = `${path.basename(trace)}: ${kind} ${JSON.stringify(asked)} ${part.options.join(" ")}`;
		same(result.sum, sum, `${what}: the sum as SQL has it`);
		for (const fn of result.functions)
			if (!fn.lead && fn.file)
				same(fn.total, total.get(`${fn.name}\n${fn.file}`) || 0, `${what}: ${fn.name} as SQL has it`);
	}
}

function tellBySql(trace, start, span) {
	const t = {start, span};
	const frames = new Map();

	t.threads = sql(trace, "SELECT * FROM threads");
	t.tasks = sql(trace, "SELECT DISTINCT type FROM tasks WHERE type <> ''").map((row) => row.type);
	t.labels = sql(trace, "SELECT DISTINCT key, value FROM labels").map((row) => `${row.key}=${row.value}`);
	t.parks = sql(trace, "SELECT * FROM parks ORDER BY start_ns, id").map((row) => ({...row, start: row.start_ns - start,
		end: (row.end_ns === null ? span + start : row.end_ns) - start}));
	for (const f of sql(trace, "SELECT stack, function, file, module FROM stack_frames LEFT JOIN frames ON " +
		"frames.id = frame ORDER BY stack, depth"))
		frames.set(f.stack, [...(frames.get(f.stack) || []), f]);
	t.own = (stack) => (frames.get(stack) || []).filter((f) => f.function).map((f) => `${f.function}\n${f.file || ""}`);
	return t;
}

async function comparePage(context, name, parts) {
	const trace = `${pages}/${name}.trc`, page = await openPage(context, `${pages}/${name}.html`, "#panel=flame");
	await page.evaluate(() => window.trc.flame.idle());
	const [start, span] = await page.evaluate(() => {
		const head = JSON.parse(document.getElementById("head").textContent);
		return [head.start_ns, head.span_ns];
	});
	const t = tellBySql(trace, start, span);

	await comparePart(page, trace, {state: {}, options: [], range: null, thread: null});
	await compareWaits(page, trace, t, {options: [], range: null, thread: null});
	for (let i = 0; i < parts; i++) {
		const part = drawPart(t);
		await comparePart(page, trace, part);
		if (!part.state.task && !part.state.label)
			await compareWaits(page, trace, t, part);
	}
	same(page.troubles, [], `${name}: no errors`);
	await page.close();
}

// ---- as a person uses it ----

function boxes(page) {
	return page.evaluate(() => window.trc.flame.boxes);
}

async function boxNamed(page, name) {
	return (await boxes(page)).filter((box) => box.name === name).sort((a, b) => b.width - a.width)[0];
}

function flameIdle(page) {
	return page.evaluate(() => window.trc.flame.idle()).then(() => settle(page));
}

async function panelOpens(page) {
	same(await page.locator("#panel").isVisible(), false, "the panel is closed where the address says so");
	same(await page.evaluate(() => document.querySelectorAll("#panel-body .tab").length), 0, "and nothing is built for it");
	await page.keyboard.press("b");
	await flameIdle(page);
	same(await page.locator("#panel").isVisible(), true, "B opens it");
	check(await holds(page, () => /[#&]panel=flame/.test(location.hash)), "the address says so");
	const before = (await page.locator("#panel").boundingBox()).height, edge = await page.locator("#panel-edge").boundingBox();
	await page.mouse.move(edge.x + 200, edge.y + 3);
	await page.mouse.down();
	await page.mouse.move(edge.x + 200, edge.y - 77, {steps: 4});
	await page.mouse.up();
	await settle(page);
	const dragged = (await page.locator("#panel").boundingBox()).height;
	check(Math.abs(dragged - before - 80) <= 3, "its edge can be dragged", [before, dragged]);
	await page.locator("#panel-edge").focus();
	await page.keyboard.press("ArrowDown");
	check((await page.locator("#panel").boundingBox()).height < dragged, "and moved by a key");
	await page.locator("#panel-edge").dblclick();
	check(Math.abs((await page.locator("#panel").boundingBox()).height - before) <= 2, "a double click: as it was");
	await page.locator("#panel-close").click();
	same(await page.locator("#panel").isVisible(), false, "the cross closes it");
	check(await holds(page, () => /panel=0/.test(location.hash)), "the address says that, too");
	await page.keyboard.press("g");
	await flameIdle(page);
	same(await page.locator("#panel").isVisible(), true, "G opens the flame graph");
}

// What lies below a function is never wider than the function; beside it is its own part.
function nested(all) {
	for (const box of all.filter((b) => b.node !== 0)) {
		const above = all.find((b) => b.row === box.row - 1 && Math.abs(b.x - box.x) <= b.width / 2 + 0.01);
		check(above && box.width <= above.width + 0.01, `${box.name} lies within what is above it`, [box, above]);
	}
	const total = all.filter((b) => b.row === 1).reduce((sum, b) => sum + b.width, 0);
	check(Math.abs(total - all[0].width) < 2, "all that was summed is seen", [total, all[0].width]);
}

async function focuses(page) {
	await flameSet(page, {of: "cpu"});
	nested(await boxes(page));
	const all = await boxNamed(page, "all"), box = await boxNamed(page, "descend");
	check(box && box.width < all.width * 0.99, "descend is a part of all", box);
	await page.mouse.move(box.x, box.y);
	await settle(page);
	const tip = await page.locator("#tip").innerText();
	check(/^descend\nflame_program\.c:\d+/.test(tip) && /here: self .* total .* % of CPU time\) ±[\d.]+\n/.test(tip) && /whole function: self .* % ±[\d.]+\)/.test(tip),
		"hover tells function, place, self and total, and how far these may be off", tip);
	await page.mouse.click(box.x, box.y);
	await settle(page);
	const wide = (await boxes(page)).filter((b) => b.name === "descend");
	check(wide.some((b) => Math.abs(b.width - all.width) < 1), "a click shows it in full width", wide);
	const crumbs = await page.locator(".flame-crumbs").innerText();
	check(/^all ›.*descend$/.test(crumbs.replace(/\s+/g, " ")), "a breadcrumb leads back", crumbs);
	const focus = await page.evaluate(() => window.trc.flame.focus);
	same(focus.at(-1), "descend", "what was clicked is in focus");
	await page.keyboard.press("Backspace");
	await settle(page);
	same(await page.evaluate(() => window.trc.flame.focus), focus.slice(0, -1), "Backspace leads a step back");
	await page.locator(".flame-crumbs button").first().click();
	await settle(page);
	same(await page.evaluate(() => window.trc.flame.focus), [], "the first crumb shows all");
}

async function searches(page) {
	const result = await flameSet(page, {of: "cpu"}), burn = result.functions.find((fn) => fn.name === "burn");
	await page.locator(".flame-tools input[type=search]").fill("burn");
	await flameIdle(page);
	const share = (await page.evaluate(() => window.trc.flame.result)).found;
	check(Math.abs(share - burn.total / result.sum) < 1e-9, "search tells the share of what is found", [share, burn, result.sum]);
	const summary = await page.locator(".flame-summary").innerText();
	check(summary.startsWith(`${(share * 100).toFixed(share < 0.1 ? 1 : 0)} % of CPU time is in what was found`), "in words", summary);
	await page.locator(".flame-tools input[type=search]").press("Escape");
	await flameIdle(page);
	same((await page.evaluate(() => window.trc.flame.result)).found, 0, "Escape ends the search");
}

// What scrolls below a pointer that rests takes its tooltip along.
async function tipFollows(page) {
	const size = page.viewportSize(), under = async (x, y) => (await boxes(page)).find((box) => Math.abs(box.y - y) < 8 && Math.abs(box.x - x) < box.width / 2)?.name ?? null;

	await page.setViewportSize({width: size.width, height: 480});
	await flameSet(page, {of: "cpu"});
	await settle(page);
	const first = (await boxes(page)).filter((box) => box.width > 300).sort((a, b) => a.y - b.y)[2], tip = page.locator("#tip");
	await page.mouse.move(first.x, first.y);
	await tip.waitFor();
	const before = await under(first.x, first.y);
	same((await tip.innerText()).split("\n")[0], before, "the tooltip is of what is under the pointer");
	await page.mouse.wheel(0, 60);
	await holds(page, () => document.querySelector(".flame-scroll").scrollTop > 30);
	await settle(page);
	const after = await under(first.x, first.y);
	check(after !== before, "the wheel scrolls the graph", [before, after]);
	same(await tip.isVisible() ? (await tip.innerText()).split("\n")[0] : null, after, "and then it is of what is there now");
	await page.mouse.move(5, 5);
	await page.setViewportSize(size);
}

async function leadsToTimeline(page, t) {
	await flameSet(page, {of: "lock"});
	const box = await boxNamed(page, "hold_and_compute");
	await page.mouse.click(box.x, box.y);
	await settle(page);
	await page.locator(".flame-about button", {hasText: "Show in timeline"}).click();
	await flameIdle(page);
	const n = t.parks.filter((p) => p.reason === "mutex" && p.end > p.start && t.own(p.stack).some((name) => name.startsWith("hold_and_compute\n"))).length;
	same(await page.evaluate(() => window.trc.matches), n, "all its waits are matches");
	check((await page.evaluate(() => window.trc.flame.marked)) >= n, "and are marked in the timeline");
	await page.locator("#search-next").click();
	await settle(page);
	const told = await page.evaluate(() => window.trc.told());
	check(told.title.startsWith("mutex: waited") && told.stacks["Waits at"].includes("hold_and_compute"), "the next match is one of them", told);
	await page.locator(".flame-about button", {hasText: "Unmark"}).click();
	same(await page.evaluate(() => window.trc.flame.marked), 0, "they can be unmarked");
	await page.keyboard.press("Escape");
}

async function sandwiches(page) {
	const result = await flameSet(page, {of: "cpu", view: "sandwich"});
	await page.locator(".flame-table button", {hasText: /^burn$/}).click();
	await flameIdle(page);
	const all = await boxes(page), middle = all.find((box) => box.name === "burn");
	check(all.some((box) => box.name === "descend" && box.row < middle.row), "its callers lie above", all);
	check(all.filter((box) => box.row > middle.row).every((box) => box.name !== "round_of"), "its callees below");
	check(all.some((box) => box.name === "round_of" && box.row < middle.row), "callers of callers, too");
	same(result.functions.length > 5, true, "there are functions");
	await page.locator(".flame-crumbs button", {hasText: "all functions"}).click();
	await flameIdle(page);
	check(await page.locator(".flame-table").isVisible(), "and back to all functions");
}

async function inverts(page) {
	await flameSet(page, {of: "cpu", view: "up"});
	const rows = (await boxes(page)).filter((box) => box.row === 1 && box.node > 0), widest = rows.sort((a, b) => b.width - a.width)[0];
	const result = await page.evaluate(() => window.trc.flame.result);
	const most = result.functions.filter((fn) => !fn.lead || fn.name === "(not sampled)").sort((a, b) => b.self - a.self)[0];
	same(widest.name, most.name, "inverted, the function with most of its own is widest");
	same(rows.sort((a, b) => a.x - b.x)[0].name, most.name, "and leftmost");
}

async function keysAlone(page) {
	await flameSet(page, {of: "lock"});
	await page.locator(".flame canvas").focus();
	const at = () => page.evaluate(() => window.trc.flame.current), walked = [];
	for (let i = 0; i < 12; i++) {
		await page.keyboard.press(i ? "ArrowDown" : "Home");
		walked.push(await at());
	}
	check(walked.includes("work") && walked.some((name) => /^mutex flame_lock$/.test(name)), "down leads to the lock", walked);
	await page.keyboard.press("ArrowUp");
	check(/hold_and/.test(await at()), "up leads to who waits", await at());
	const first = await at();
	await page.keyboard.press("ArrowRight");
	check((await at()) !== first, "right leads to its neighbour", [first, await at()]);
	await page.keyboard.press("Enter");
	check((await page.evaluate(() => window.trc.flame.focus)).length > 1, "Enter shows it in full width");
	await page.keyboard.press("c");
	await flameIdle(page);
	check(/view=sandwich/.test(await page.evaluate(() => window.trc.flame.state())), "C shows callers and callees");
	await page.keyboard.press("i");
	await flameIdle(page);
	check(/view=up/.test(await page.evaluate(() => window.trc.flame.state())), "I inverts");
	await page.keyboard.press("i");
	await page.keyboard.press("e");
	await flameIdle(page);
	same((await page.evaluate(() => window.trc.flame.result)).kind, "wait", "E sums the next kind");
	await page.keyboard.press("Home");
	await page.keyboard.press("ArrowDown");
	await page.keyboard.press("v");
	await flameIdle(page);
	check((await page.evaluate(() => window.trc.matches)) > 0, "V shows it in the timeline");
	await page.evaluate(async () => { // while another one is made
		window.trc.flame.set("of=lock");
		await new Promise((done) => { setTimeout(done, 0); });
		document.activeElement.dispatchEvent(new KeyboardEvent("keydown", {key: "v", bubbles: true}));
	});
	await flameIdle(page);
	same((await page.evaluate(() => window.trc.flame.result)).kind, "lock", "V while another graph is made: then that is shown");
}

// Two halves of the trace; what only the second has is red, and says +.
async function compares(page, span) {
	await selectPart(page, {range: [0, Math.round(span / 2)], thread: null});
	const a = await flameSet(page, {of: "cpu"});
	await page.locator(".flame-tools button", {hasText: "Compare: keep as A"}).click();
	await selectPart(page, {range: [Math.round(span / 2), span], thread: null});
	await flameIdle(page);
	const b = await page.evaluate(() => window.trc.flame.result);
	same(b.sums[0], a.sum, "A is what it was");
	const share = (result, name, sum) => (result.functions.find((fn) => fn.name === name)?.total || 0) / sum;
	const box = (await boxes(page)).find((each) => each.name === "work"), wanted = share(b, "work", b.sum) - share(a, "work", a.sum);
	check(Math.abs(box.change - wanted) < 1e-9, "a function's change is that of its share", [box.change, wanted]);
	for (const each of (await boxes(page)).filter((one) => one.change !== null && Math.abs(one.change) > 0.002)) {
		const [r, , blue] = [1, 3, 5].map((i) => parseInt(each.colour.slice(i, i + 2), 16)), isGrey = blue >= r && blue - r < 20;
		check(each.isChance ? isGrey : !isGrey && (each.change > 0 ? r > blue : blue > r), `${each.name}: red is more, blue less, grey chance`, each);
	}
	same(await page.evaluate(() => window.trc.flame.counts.map((n) => n > 0)), [true, true], "both sides are of samples");
	check(/; grey: what chance alone may make of [\d,]+ and [\d,]+ samples?$/.test(await page.locator(".flame-summary").textContent()), "the legend says what is grey");
	const state = await page.evaluate(() => window.trc.flame.state());
	check((await page.evaluate(() => document.querySelector(".flame-summary").textContent)).startsWith("A: "), "it says what is compared");
	await page.locator(".flame-tools button", {hasText: "End comparison"}).click();
	await flameIdle(page);
	same((await page.evaluate(() => window.trc.flame.result)).sums.length, 1, "the comparison ends");
	await flameSet(page, Object.fromEntries(new URLSearchParams(state)));
	same((await page.evaluate(() => window.trc.flame.result)).sums.length, 2, "the address holds it");
	await selectPart(page, {range: null, thread: null});
	await flameSet(page, {});
}

async function readable(page, scheme) {
	const light = (hex) => [1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16) / 255)
		.map((v) => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
		.reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);

	for (const kind of ["cpu", "off", "wait", "blame"]) {
		await flameSet(page, {of: kind, idle: 1});
		for (const [colour, text] of await page.evaluate(() => window.trc.flame.boxes.map((box) => [box.colour, window.trc.flame.textOn(box.colour)]))) {
			const [low, high] = [light(colour), light(text)].sort((a, b) => a - b);
			check((high + 0.05) / (low + 0.05) >= 4.5, `${scheme}: text on ${colour} can be read`, (high + 0.05) / (low + 0.05));
		}
	}
}

const schemes = someOf(["light", "dark"], 1); // in which the panel is used: in the other one its texts are looked at

// Any part of the tasks of a type can be asked for: what is typed is summed, and is in the address; what is no part is not.
async function slowestAreAsked(page) {
	const field = page.locator(".flame-tools input[type=number]"), type = page.locator(".flame-tools select[aria-label=Tasks]");
	const sum = async () => {
		await page.evaluate(() => window.trc.flame.idle());
		return (await page.evaluate(() => window.trc.flame.result)).sum;
	};

	await flameSet(page, {of: "cpu"});
	same(await field.isVisible(), false, "without a type of tasks nobody asks for the slowest");
	await type.selectOption({label: "handed"});
	same([await field.isVisible(), await field.inputValue()], [true, ""], "with one, all are summed");
	const whole = await sum(), offered = await page.locator("#slowest-percents option").evaluateAll((all) => all.map((one) => one.value));
	same(offered, ["0.1", "1", "5", "10", "25", "50"], "some parts are offered");
	for (const percent of ["33", "2.5", "0.01", "100"]) {
		await field.fill(percent);
		const seen = await sum();
		check(await page.evaluate((wanted) => new URLSearchParams(window.trc.flame.state()).get("slowest") === wanted, percent), `${percent} % are in the address`);
		same(seen, (await flameSet(page, {of: "cpu", task: "handed", slowest: percent})).sum, `${percent} %: as the address has it`);
		check(seen <= whole && (percent !== "100" || seen === whole), `${percent} %: a part`, [seen, whole]);
	}
	for (const wrong of ["0.001", "101", "-1"]) {
		await field.fill(wrong);
		check(await page.evaluate(() => new URLSearchParams(window.trc.flame.state()).get("slowest") === "100"), `${wrong} % are not asked for`);
		same(await field.evaluate((input) => input.validity.valid), false, `${wrong} % are marked as wrong`);
	}
	await field.fill("");
	same(await sum(), whole, "an empty field: all of them");
	await type.selectOption("0");
}

async function used(context, scheme) {
	if (!schemes.includes(scheme))
		return;
	const page = await openPage(context, `${pages}/flame.html`, "#panel=0");
	const span = await page.evaluate(() => window.trc.span);
	const start = await page.evaluate(() => JSON.parse(document.getElementById("head").textContent).start_ns);

	await panelOpens(page);
	await focuses(page);
	await searches(page);
	await tipFollows(page);
	await leadsToTimeline(page, tellBySql(`${pages}/flame.trc`, start, span));
	await sandwiches(page);
	await inverts(page);
	await keysAlone(page);
	await compares(page, span);
	await slowestAreAsked(page);
	same(page.troubles, [], `${scheme}: no errors`);
	await page.close();
}

async function seen(context, scheme) {
	const page = await openPage(context, `${pages}/flame.html`, "#panel=flame");

	await flameIdle(page);
	await readable(page, scheme);
	same(page.troubles, [], `${scheme}: no errors in what is seen`);
	await page.close();
}

// Functions without names are those of the report, which tells where they begin: not a function for each place in them.
async function nameless(context) {
	const page = await openPage(context, `${pages}/stripped.html`, "#panel=flame"), report = readFileSync(`${pages}/stripped.report`, "utf8");
	const told = report.slice(report.indexOf("\nCPU time ")).split("\n\n")[0];
	const rows = [...told.matchAll(/^ +([\d.]+ \S+) +[\d.]+% .*?([\d.]+ \S+) +[\d.]+% .* (stripped\+0x[0-9a-f]+)$/gm)].map(([, self, total, name]) => ({self, total, name}));

	await flameIdle(page);
	const functions = await page.evaluate(() => window.trc.flame.result.functions);
	const beside = (await page.locator("#tops").innerText()).replace(/\s+/g, " ");
	check(rows.length > 0, "the report has functions without names", told);
	for (const {self, total, name} of rows) {
		const [fn] = functions.filter((one) => one.name === name);
		const isNear = (ns, text) => Math.abs(ns - Number(text.split(" ")[0]) * {s: 1e9, ms: 1e6}[text.split(" ")[1]]) <= Math.max(ns / 100, MS / 100);
		check(fn && isNear(fn.total, total) && isNear(fn.self, self), `${name} in the flame graph: self ${self}, total ${total}`, fn);
		check(beside.includes(`${name} `), `${name} is in the table beside the timeline`, beside.slice(0, 600));
	}
	same(page.troubles, [], "no errors without names");
	await page.close();
}

// A page without samples says why, and what to do; hostile names stay text; a cut trace has what is left.
async function others(context) {
	const bare = await openPage(context, `${pages}/bare.html`, "#panel=flame&flame=of%3Dcpu");
	await flameIdle(bare);
	check(/No CPU time was sampled.*trace-record -F 100/.test(await bare.locator(".flame-empty").innerText()), "without samples it says how to get some");
	await flameSet(bare, {of: "inuse"});
	check(/trace-record --heap/.test(await bare.locator(".flame-empty").innerText()), "without allocations, too");
	same(bare.troubles, [], "no errors without samples");
	await bare.close();

	const known = await openPage(context, `${pages}/known.html`, "#panel=flame&flame=of%3Dwait%26idle%3D1");
	await flameIdle(known);
	const names = (await boxes(known)).map((box) => box.name);
	check(names.some((name) => name.startsWith("</script>")), "hostile names are names", names);
	check(names.every((name) => !/[\u2028\u202e]/.test(name)), "and their invisible characters are seen");
	await flameSet(known, {of: "cpu", view: "sandwich"});
	await flameSet(known, {of: "nothing", view: "<b>", label: "</script>=1", a: "9,9\n4,x", slowest: "-1", fn: "\u202e"});
	same(await known.evaluate(() => window.owned), undefined, "nothing of them runs");
	same(known.troubles, [], "no errors with hostile names");
	await known.close();

	const cut = await openPage(context, `${pages}/cut.html`, "#panel=flame");
	await flameIdle(cut);
	same(cut.troubles, [], "no errors in a trace that is cut off");
	await cut.close();
}

// A million samples are summed up between frames; a closed panel costs nothing.
async function large(context) {
	const page = await openPage(context, `${pages}/million.html`, "#panel=0");

	const timed = await page.evaluate(async () => {
		const gaps = [], begun = performance.now();
		let last = begun, going = true;
		const frame = (now) => {
			gaps.push(now - last);
			last = now;
			if (going)
				requestAnimationFrame(frame);
		};
		requestAnimationFrame(frame);
		document.getElementById("panel-open").click();
		await window.trc.flame.idle();
		const ms = performance.now() - begun;
		going = false;
		gaps.sort((a, b) => a - b);
		return {ms, longest: gaps.at(-1), frames: gaps.length, sum: window.trc.flame.result.sum};
	});
	same(timed.sum, 1e6 * MS, "all samples are summed");
	console.log(`a million samples: ${timed.ms.toFixed(0)} ms, ${timed.frames} frames meanwhile, the longest ${timed.longest.toFixed(0)} ms`);
	same(page.troubles, [], "no errors with a million samples");
	await page.close();
}

console.log(`seed ${seed}`);
await withBrowser("light", async (context) => {
	await comparePage(context, "flame", amount(20, 7));
	await comparePage(context, "fibers", amount(5, 2));
	await comparePage(context, "cut", amount(3, 1));
	await seen(context, "light");
	await used(context, "light");
	await others(context);
	await nameless(context);
	await large(context);
});
await withBrowser("dark", async (context) => {
	await seen(context, "dark");
	await used(context, "dark");
});
console.log(`${results.passed} passed, ${results.failed} failed; TRC_SEED=${seed} repeats it`);
process.exit(results.failed ? 1 : 0);
