// browser.mjs - uses the timeline as a person would, on pages whose rows are known.
//
//   node browser.mjs DIRECTORY
//
// known.html is made of known_model.c: 10 ms, threads main, worker-a, worker-b and one with a
// hostile name.  worker-b (cond, 1..6 ms) waits for worker-a (mutex, 2..4.1 ms), which waits
// for main, which releases the lock at 4 ms.

import {readFileSync, rmSync, writeFileSync} from "node:fs";
import path from "node:path";
import {check, colourAt, detailsOf, holds, openPage, pointOf, results, same, settle, stateColour, viewOf,
	withBrowser} from "./browser_lib.mjs";

const pages = path.resolve(process.argv[2]);
const MAIN = 0, A = 1, B = 2, HOSTILE = 3;
const MS = 1e6;
const hostileText = "</script><img src=x onerror=\"window.owned=1\">'\"&lt;\ufffd\ufffd\\u2028\\u202e";

async function drawsStates(page, scheme) {
	for (const [thread, ms, state, why] of [
		[MAIN, 0.3, "running", "on a proc from 0 to 1 ms"],
		[MAIN, 2, "sleep", "sleeps from 1 to 3 ms"],
		[MAIN, 6.5, "runnable", "was preempted at 6 ms"],
		[A, 3, "mutex", "waits for the lock"],
		[A, 1.5, "active", "has no switch records"],
		[B, 3, "cond", "waits for the condition"],
		[B, 5.8, "woken", "was woken at 5.5 ms"],
		[HOSTILE, 8, "read", "is still waiting"],
	]) {
		const point = await pointOf(page, thread, ms * MS);
		// Above the text; stripes are below it.
		same(await colourAt(page, point, -7), await stateColour(page, state),
			`${scheme}: thread ${thread} at ${ms} ms is ${state}: it ${why}`);
		const below = new Set();
		for (let dx = 0; dx < 6; dx++)
			below.add(await colourAt(page, {x: point.x + dx, y: point.y}, 7));
		same(below.size, state === "mutex" ? 2 : 1, `${scheme}: only waits for locks have stripes, not ${state}`);
	}
	const tiny = await pointOf(page, B, 8 * MS + 100);
	tiny.x = Math.floor(tiny.x); // it lies in this column, and in no other
	const above = await colourAt(page, tiny, -4), below = await colourAt(page, tiny, 8);
	same(below, await stateColour(page, "mutex"), `${scheme}: a wait of 200 ns for a lock leaves a mark`);
	same(above, await stateColour(page, "active"), `${scheme}: above the mark the state with most time`);
}

// Text on a state: at least 4.5 : 1.
async function contrasts(page) {
	const pairs = await page.evaluate(() => window.trc.stateTexts());
	const light = (hex) => [1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16) / 255)
		.map((v) => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
		.reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);

	check(pairs.length > 30, "there are many states", pairs.length);
	for (const [name, colour, text] of pairs) {
		const [low, high] = [light(colour), light(text)].sort((a, b) => a - b);
		check((high + 0.05) / (low + 0.05) >= 4.5, `text on ${name} can be read`, (high + 0.05) / (low + 0.05));
	}
}

async function zoomsAndPans(page) {
	const whole = await viewOf(page);
	const at = await pointOf(page, A, 3 * MS);

	await page.mouse.move(at.x, at.y);
	await page.mouse.wheel(0, -300);
	await settle(page);
	let view = await viewOf(page);
	check(view.t1 - view.t0 < (whole.t1 - whole.t0) * 0.6, "the wheel zooms in", view);
	const after = await pointOf(page, A, 3 * MS);
	check(Math.abs(after.x - at.x) < 1.5, "what is under the pointer stays there", [at.x, after.x]);

	for (const [key, what, holds] of [
		["w", "W zooms in", (b, a) => a.t1 - a.t0 < b.t1 - b.t0],
		["s", "S zooms out", (b, a) => a.t1 - a.t0 > b.t1 - b.t0],
		["d", "D moves right", (b, a) => a.t0 > b.t0 && a.t1 > b.t1],
		["a", "A moves left", (b, a) => a.t0 < b.t0 && a.t1 < b.t1],
		["ArrowRight", "the arrow moves right", (b, a) => a.t0 > b.t0],
		["ArrowLeft", "the arrow moves left", (b, a) => a.t0 < b.t0],
	]) {
		const before = await viewOf(page);
		await page.keyboard.press(key);
		await settle(page);
		const now = await viewOf(page);
		check(holds(before, now), what, [before, now]);
	}

	view = await viewOf(page);
	const from = await pointOf(page, A, (view.t0 + view.t1) / 2);
	await page.mouse.move(from.x, from.y);
	await page.mouse.down();
	await page.mouse.move(from.x + 80, from.y, {steps: 4});
	await page.mouse.up();
	await settle(page);
	const dragged = await viewOf(page);
	check(dragged.t0 < view.t0, "dragging to the right moves to earlier times", [view, dragged]);
	check(Math.abs((dragged.t1 - dragged.t0) / (view.t1 - view.t0) - 1) < 1e-6, "and does not zoom");
	same(await page.evaluate(() => window.trc.selection), null, "and selects nothing");

	await page.keyboard.press("Control+z");
	await settle(page);
	check(Math.abs((await viewOf(page)).t0 - view.t0) < 2, "Ctrl+Z takes it back");
	await page.keyboard.press("0");
	await settle(page);
	same((await viewOf(page)).t1, 10 * MS, "0 shows the whole trace");
}

async function showsDetails(page) {
	const at = await pointOf(page, A, 3 * MS);

	await page.mouse.move(at.x, at.y);
	await settle(page);
	const tip = await page.locator("#tip").innerText();
	check(/mutex 2\.10 ms/.test(tip) && tip.includes("cache_get"), "hover names wait and function", tip);
	await page.mouse.click(at.x, at.y);
	await settle(page);
	const details = await detailsOf(page);
	for (const [what, wanted] of [
		["reason and length", "mutex: waited 2.10 ms"],
		["its length to the nanosecond", "2,100,000 ns"],
		["its beginning", "0.002 000 000 s"],
		["the lock", "0x7ffd00001000"],
		["who held it", "Held by\nmain"],
		["who woke it, and when", "Woken by\nmain at 0.004 000 000 s"],
		["how long it took to run", "100 µs"],
		["the critical section that caused it", "made 1 thread wait, 2.00 ms in all"],
		["its stack", "cache_get cache.c:120"],
		["the waiting function, from a file without lines, by what the program is called", "pthread_mutex_lock demo"],
		["the waker's stack", "cache_put cache.c:150"],
		["the way to it in SQL", "SELECT * FROM parks WHERE id=3"],
	])
		check(details.includes(wanted), `details show ${what}: ${wanted}`, details);
	check(await page.evaluate(() => window.trc.arrows) >= 1, "an arrow leads from main to worker-a");
	check(await holds(page, () => /sel=park:\d+/.test(location.hash)), "the address holds the selection");

	// The chain: worker-b <- worker-a <- main.
	const b = await pointOf(page, B, 3 * MS);
	await page.mouse.click(b.x, b.y);
	await settle(page);
	same(await page.evaluate(() => window.trc.arrows), 2, "worker-b's wait has worker-a's behind it");
	check((await detailsOf(page)).includes("hash_find inlined"), "inlined frames are marked");
	await page.keyboard.press("[");
	await settle(page);
	check((await detailsOf(page)).startsWith("mutex: waited"), "[ leads to what the waker waited for");
	await page.keyboard.press("]");
	await settle(page);
	check((await detailsOf(page)).startsWith("cond: waited"), "] leads back to whom it woke");
	await page.keyboard.press("f");
	await settle(page);
	const view = await viewOf(page);
	check(view.t0 < 1 * MS && view.t0 > -1 && view.t1 > 6 * MS && view.t1 < 9.9 * MS, "F zooms to it", view);
	await page.keyboard.press("Escape");
	await page.keyboard.press("0");
	await settle(page);
	same(await page.evaluate(() => [window.trc.selection, window.trc.arrows]), [null, 0], "Escape clears it");
}

// Signals and conditions that were met; the window; a deadlock.
async function showsTheEnd(page) {
	const banners = await page.locator("#banners").innerText();
	const signal = await pointOf(page, HOSTILE, 2.5 * MS), before = await pointOf(page, MAIN, 0.1 * MS);
	const plain = await pointOf(page, MAIN, 0.3 * MS);

	const first = await detailsOf(page);
	check(/^Findings\s+CRASH: SIG/.test(first), "while nothing is selected, a crash is told first", first);
	check(/\nCrashed: SIG/.test(first), "then with its stack", first);
	check(/Deadlock\n/.test(first), "and a deadlock", first);
	const sentences = await page.locator("#details .findings li").allTextContents();
	check(/^lost: 17 events/.test(sentences.at(-1)), "and last what was lost", sentences);
	check(banners.includes("DEADLOCK: "), "a deadlock is announced", banners);
	check(/; 1 thread behind it/.test(banners), "and who is behind it", banners);
	check(banners.includes("A snapshot: whole from 200 µs on. Later than the rest begin: proc 1 from 200 µs, " +
		"proc 1 (scheduling) from 2.00 ms."), "which time is covered", banners);
	check(await colourAt(page, before, 7) !== await colourAt(page, plain, 7),
		"what lies before the window is shaded");
	same(await page.evaluate(([x, y]) => window.trc.pick(x, y), [signal.x + 3, signal.y - 9]),
		{kind: "mark", id: 1}, "a signal is a flag on its thread's lane");
	await page.mouse.click(signal.x + 3, signal.y - 9);
	await settle(page);
	const details = await detailsOf(page);
	for (const wanted of ["SIGSEGV, SEGV_MAPERR: address not mapped (0x40)", "A handler of the program's",
		"0.002 500 000 s", "hash_find"])
		check(details.includes(wanted), `details of a signal show ${wanted}`, details);
	await page.evaluate(() => window.trc.select("mark", 3));
	check((await detailsOf(page)).startsWith("fatal signal"), "what ended the process says so");
	await page.evaluate(() => window.trc.select("mark", 2));
	check((await detailsOf(page)).includes("park>2ms: mutex, 2.05 ms"), "a condition that was met is told");
	await page.locator("#banners .alarm", {hasText: "DEADLOCK"}).locator("button").first().click();
	await settle(page);
	check((await detailsOf(page)).includes("in the circle: waits for"), "the deadlock leads to the wait",
		await detailsOf(page));
	await page.keyboard.press("Escape");
	await page.keyboard.press("0");
	await settle(page);
}

// The overview's window has edges; two fingers zoom; a drag selects no text; the pointer draws no lane anew.
async function drags(context, page) {
	const map = await page.locator("#map").boundingBox();
	const dragMap = async (from, to) => {
		await page.mouse.move(map.x + from * map.width, map.y + 20);
		await page.mouse.down();
		await page.mouse.move(map.x + to * map.width, map.y + 20, {steps: 3});
		await page.mouse.up();
		await settle(page);
		const {t0, t1} = await viewOf(page);
		return [t0, t1].map((t) => Math.round(t / MS * 5) / 5);
	};

	same(await dragMap(0.2, 0.6), [2, 6], "a drag on the overview chooses");
	same(await dragMap(0.2, 0.3), [3, 6], "one of its left edge moves that");
	same(await dragMap(0.6, 0.8), [3, 8], "and one of its right edge");
	same(await dragMap(0.5, 0.6), [4, 9], "in the middle it moves the window");
	same(await dragMap(0.4, 0.95), [9, 9], "an edge stops at the other one");
	same(await dragMap(0.9, 0.5), [5, 5], "however narrow, the window can be moved");
	await page.mouse.click(map.x + 0.5 * map.width, map.y + 20);
	await page.keyboard.press("Control+z");
	await settle(page);
	same(Math.round((await viewOf(page)).t0 / MS), 9, "a click that moves nothing is no step to undo");
	await page.keyboard.press("0");

	const a = await pointOf(page, A, 2 * MS), b = await pointOf(page, A, 4 * MS), by = 100;
	const cdp = await context.newCDPSession(page);
	const touch = (type, ...xs) => cdp.send("Input.dispatchTouchEvent",
		{type, touchPoints: xs.map((x, id) => ({x, y: a.y, id}))});
	await touch("touchStart", a.x);
	await touch("touchStart", a.x, b.x);
	await touch("touchMove", a.x - by / 2, b.x + by / 2);
	await touch("touchMove", a.x - by, b.x + by);
	await touch("touchEnd");
	await settle(page);
	const wide = await pointOf(page, A, 4 * MS), left = await pointOf(page, A, 2 * MS);
	check(Math.abs(wide.x - b.x - by) < 3 && Math.abs(left.x - a.x + by) < 3, "two fingers zoom, and keep what is under them",
		[a, b, left, wide]);
	same(await page.evaluate(() => window.trc.selection), null, "and select nothing");
	await page.keyboard.press("0");
	await settle(page);

	await page.evaluate(() => window.trc.select("park", 2));
	await page.locator("#details dd").first().click();
	await page.keyboard.down("Shift");
	await page.mouse.move(a.x, a.y);
	await page.mouse.down();
	await page.mouse.move(b.x, b.y + 40, {steps: 3});
	await page.mouse.up();
	await page.keyboard.up("Shift");
	await settle(page);
	same(await page.evaluate(() => [String(getSelection()), Boolean(window.trc.range)]), ["", true],
		"Shift+drag selects a range and no text");
	await page.keyboard.press("Escape");
	await page.keyboard.press("Escape");
	await settle(page);

	const bases = await page.evaluate(() => window.trc.bases);
	await page.mouse.move(a.x, a.y);
	await page.mouse.move(b.x, b.y, {steps: 8});
	await settle(page);
	same(await page.evaluate(() => window.trc.bases), bases, "the pointer draws no lane anew");
	check(await page.locator("#tip").isVisible(), "but tells what it is on");
}

// Which labels a thread had, in a lane below its states and in the details of what it did then.
async function showsLabels(page) {
	const at = await pointOf(page, A, 3 * MS), below = {x: at.x, y: at.y + 15};

	same(await page.evaluate(([x, y]) => window.trc.pick(x, y), [below.x, below.y]), {kind: "labels", id: 2},
		"below the states lie the labels");
	const colours = [];
	for (const [thread, ms] of [[A, 1.5], [A, 4.8], [B, 3]]) // below the text
		colours.push(await colourAt(page, await pointOf(page, thread, ms * MS), 20));
	check(colours[0] === colours[1] && colours[0] !== colours[2], "those of one tenant have one colour", colours);
	await page.mouse.move(below.x, below.y);
	await settle(page);
	check((await page.locator("#tip").innerText()).includes("phase=fetch, tenant=acme"), "hover names them");
	await page.mouse.click(below.x, below.y);
	await settle(page);
	let details = await detailsOf(page);
	for (const wanted of ["labels phase=fetch, tenant=acme: 2.50 ms", "worker-a", "0.002 500 000 s",
		"SELECT * FROM label_spans WHERE labels=3", "This thread meanwhile"])
		check(details.includes(wanted), `details of labels show ${wanted}`, details);
	for (const [kind, id, wanted] of [
		["park", 3, "Labels\ntenant=other\n"],
		["region", 2, "Labels\ntenant=acme\n"],
		["log", 1, "Labels\nphase=fetch, tenant=acme\n"],
		["mark", 2, "Labels\nphase=fetch, tenant=acme\n"],
	]) {
		await page.evaluate(([k, i]) => window.trc.select(k, i), [kind, id]);
		details = await detailsOf(page);
		check(details.includes(wanted), `details of ${kind} ${id} show its labels`, details);
	}
	await page.evaluate(() => window.trc.select("unlock", 1));
	check(!(await detailsOf(page)).includes("Labels"), "main has none, and none are shown");
	await page.keyboard.press("0");
	await settle(page);
	const early = await pointOf(page, A, 1.5 * MS);
	await page.mouse.click(early.x, early.y);
	await settle(page);
	check((await detailsOf(page)).includes("Labels\ntenant=acme"), "a stretch shows what it had in it",
		await detailsOf(page));
	await page.locator("#details").getByText("tenant=acme").click();
	await settle(page);
	same(await page.evaluate(() => window.trc.selection), {kind: "labels", id: 1}, "a label leads to its time");
	await page.keyboard.press("Escape");
	await page.keyboard.press("0");
	await settle(page);
}

// Ticks below everything else of a thread, and which functions they are in.
async function showsSamples(page) {
	const row = async (ms) => {
		const at = await pointOf(page, A, ms * MS);
		return {x: at.x, y: at.y + 56}; // below states, labels, two regions, logs
	};
	const banners = await page.locator("#banners").innerText();
	const at = await row(1.2);

	check(banners.includes("3 samples of cpu-clock lost, beside 4 taken."), "lost samples are told", banners);
	check(banners.includes("2 threads not sampled by cache-misses."), "and threads that are not sampled", banners);
	same(await page.evaluate(([x, y]) => window.trc.pick(x, y), [at.x, at.y]), {kind: "sample", id: 1},
		"a sample is a tick on its thread's track");
	check(await colourAt(page, at) !== await colourAt(page, await row(1.4)), "and drawn as one");
	await page.mouse.move(at.x, at.y);
	await settle(page);
	check((await page.locator("#tip").innerText()).includes("sample of cpu-clock: 1.00 ms"), "hover names it");
	await page.mouse.click(at.x, at.y);
	await settle(page);
	let details = await detailsOf(page);
	for (const wanted of ["sample of cpu-clock: 1.00 ms", "In\npthread_mutex_lock", "Labels\ntenant=acme",
		"0.001 200 000 s", "Taken by\ntimer", "1,000 Hz", "hash_find inlined", "worker_main server.c:412"])
		check(details.includes(wanted), `details of a sample show ${wanted}`, details);
	same(await page.locator("#details .stack .skipped").count(), 0, "no frame of a sample is dimmed");
	await page.evaluate(() => window.trc.select("sample", 2));
	check((await detailsOf(page)).includes("size=512bytes"), "its own labels go before its thread's");
	await page.evaluate(() => window.trc.select("thread", 2));
	details = await detailsOf(page);
	check(/cpu-clock: 4\.00 ms/.test(details) && /pthread_mutex_lock\s+2\.00 ms\s+50 %\s+50 %/.test(details) &&
		/cache_put\s+2\.00 ms\s+50 %\s+50 %/.test(details) && /worker_main\s+100 %/.test(details),
		"a thread's samples by function, self and total", details);
	check(/cache-misses: 5,000/.test(details), "each event by itself", details);
	const tops = await page.locator("#tops").innerText();
	check(/Where it ran \(cpu-clock: 5\.00 ms\)/.test(tops) && /worker_main\s+1\.00 ms\s+13 %\s+63 %/.test(tops),
		"and those of all threads", tops);
	check(/trc, recording\s+500\s+9\.1 %\s+9\.1 %/.test(tops) && !/ring_emit|ring_reserve/.test(tops),
		"what trc cost is not among the program's functions", tops);
	await page.keyboard.press("Escape");
	await page.keyboard.press("0");
	await settle(page);
}

async function findsThings(page) {
	for (const [query, n, kind, startsWith] of [
		["cache_get", 2, "park", "mutex: waited"],
		["cache.c:150", 3, "unlock", "contended unlock"], // and two samples
		["worker-b", 1, "thread", "worker-b"],
		["parse", 1, "region", "region parse"],
		["404", 1, "log", "log http"],
		["request", 1, "task", "task request 42"],
		["0x555500002000", 1, "park", "cond: waited"],
		["onerror", 7, null, ""],
		["tenant=acme", 2, "labels", "labels tenant=acme: "],
		["phase=", 1, "labels", "labels phase=fetch, tenant=acme: 2.50 ms"],
		["address not mapped", 1, "mark", "signal"],
		["no such thing", 0, null, ""],
	]) {
		await page.keyboard.press("/");
		await page.keyboard.type(query);
		if (n) {
			check(await holds(page, (wanted) => window.trc.matches === wanted, n), `search for ${query} finds ${n} while it is typed`);
			check(await page.locator("#results button").count() > 0, `results for ${query} are listed`);
		}
		await page.keyboard.press("Enter");
		await settle(page);
		same(await page.evaluate(() => window.trc.matches), n, `search for ${query} finds ${n}`);
		const selection = await page.evaluate(() => window.trc.selection);
		if (kind) {
			same(selection && selection.kind, kind, `Enter selects what ${query} found`);
			check((await detailsOf(page)).startsWith(startsWith), `details of ${query}: ${startsWith}`,
				await detailsOf(page));
		}
		await page.keyboard.press("Escape");
		await page.keyboard.press("Escape");
	}
	await page.keyboard.press("0");
}

async function ranges(page) {
	const from = await pointOf(page, A, 2 * MS), to = await pointOf(page, A, 4 * MS);

	await page.keyboard.down("Shift");
	await page.mouse.move(from.x, from.y);
	await page.mouse.down();
	await page.mouse.move(to.x, to.y, {steps: 3});
	await page.mouse.up();
	await page.keyboard.up("Shift");
	await settle(page);
	const range = await page.evaluate(() => window.trc.range);
	check(range && Math.abs(range.t0 - 2 * MS) < 0.03 * MS && Math.abs(range.t1 - 4 * MS) < 0.03 * MS,
		"Shift+drag selects a range", range);
	const details = await detailsOf(page);
	check(/Time by state in this range/.test(details) && /mutex\s+(2\.0|1\.9)\d ms/.test(details),
		"and sums its states exactly", details);
	await page.keyboard.press("Escape");
}

// What is selected is shown, filter or not; a filter that leaves nothing says so.
async function hidesAndShows(page) {
	const shown = () => page.evaluate(() => window.trc.shownThreads());

	await page.fill("#filter", "worker-a");
	await page.evaluate(() => window.trc.select("mark", 1));
	await settle(page);
	same(await shown(), [A, HOSTILE], "what is selected on a hidden thread is shown");
	check(await page.locator(".label.guest").count() === 1, "as one that the filter would hide");
	await page.evaluate(() => window.trc.select("park", 2));
	await settle(page);
	same(await shown(), [A], "for as long as it is selected");
	await page.uncheck("#annotations");
	const without = await page.locator(".label.annotation:not([hidden])").count();
	await page.evaluate(() => window.trc.select("task", 1));
	await settle(page);
	same([without, await page.locator(".label.annotation:not([hidden])").count()], [0, 1], "so is a hidden task");
	await page.check("#annotations");
	await page.evaluate(() => window.trc.select(null));
	await page.fill("#filter", "<b>none");
	await settle(page);
	check((await page.locator("#nothing").innerText()).startsWith("No thread has “<b>none” in its name"),
		"a filter that leaves nothing says so");
	await page.click("#nothing-all");
	await settle(page);
	same((await shown()).length, 4, "and how to see all again");
	await page.keyboard.press("0");
}

async function filtersAndSorts(page) {
	await page.fill("#filter", "worker");
	await settle(page);
	same(await page.evaluate(() => window.trc.shownThreads()), [A, B], "the filter leaves the workers");
	await page.fill("#filter", "phase=fetch");
	await settle(page);
	same(await page.evaluate(() => window.trc.shownThreads()), [A], "and by labels who ever had them");
	await page.fill("#filter", "");
	await hidesAndShows(page);
	await page.selectOption("#sort", "lock");
	await settle(page);
	same(await page.evaluate(() => window.trc.shownThreads()[0]), A, "worker-a waited longest for locks");
	await page.selectOption("#sort", "start");
	await settle(page);
	await page.evaluate(() => window.trc.select("thread", 3));
	await page.locator("#canvases").focus();
	await page.keyboard.press("p");
	await settle(page);
	same(await page.evaluate(() => window.trc.shownThreads()[0]), B, "P keeps a thread at the top");
	await page.keyboard.press("p");
	await page.keyboard.press("?");
	check(await page.locator("#help").isVisible(), "? shows the keys");
	check((await page.locator("#help").innerText()).includes("zoom in at the pointer"), "and what they do");
	await page.keyboard.press("Escape");
	await settle(page);
}

async function hostileTextIsText(page) {
	await page.evaluate(() => window.trc.select("thread", 4));
	check((await detailsOf(page)).startsWith(hostileText), "a thread's hostile name is shown as text",
		(await detailsOf(page)).slice(0, 100));
	for (const [kind, id] of [["region", 2], ["task", 2], ["log", 2], ["labels", 4]]) {
		await page.evaluate(([k, i]) => window.trc.select(k, i), [kind, id]);
		const details = await detailsOf(page);
		check(details.includes("<img src=x onerror="), `a hostile ${kind} is shown as text`, details);
	}
	await page.evaluate(() => window.trc.select("log", 3));
	same(await page.evaluate(() => [window.trc.told().title, window.trc.told().message]),
		["log \\u3164", "soft\\u00adly \\u{e0041}tagged \u2764\ufe0f"], "what would not be seen is escaped");
	await page.keyboard.press("0");
	await settle(page);
	const read = await pointOf(page, HOSTILE, 8 * MS);
	await page.mouse.click(read.x, read.y);
	await settle(page);
	check((await detailsOf(page)).includes("and still does"), "an open wait says so");
	check((await detailsOf(page)).includes("demo+0x234567") && !(await detailsOf(page)).includes("libdemo.so.1+"),
		"a frame without a name shows its module, by what the program is called, and where in that it is");
	same(await page.locator("#app img").count(), 0, "no element was made of it");
	same(await page.evaluate(() => window.owned), undefined, "and nothing ran");
	check((await page.title()).includes("</script>"), "the title is text, too");
	check((await page.title()).startsWith("demo: idle "), "a process is called by the title that it gave itself", await page.title());
}

// What is selected has an address, which leads to it.
async function addresses(page, selections) {
	for (const [kind, id] of selections) {
		const address = await page.evaluate(([k, i]) => {
			window.trc.select(k, i);
			const hash = window.trc.address();
			window.trc.select(null);
			return hash;
		}, [kind, id]);
		// Another one before: an address that is there already brings nothing.
		await page.evaluate(() => { location.hash = "#t=0,1"; });
		await settle(page);
		// What was done before it is written to the address in the meantime.
		await page.evaluate((hash) => {
			location.hash = hash;
			for (const end = performance.now() + 250; performance.now() < end;)
				;
		}, address);
		await settle(page);
		same(await page.evaluate(() => window.trc.selection), {kind, id}, `${address} leads to ${kind} ${id}`);
	}
}

// What is above and beside the selection: range, order, filter, pins.
async function wholeAddress(page) {
	const state = () => page.evaluate(() => ({shown: window.trc.shownThreads(), range: window.trc.range,
		view: window.trc.view, sort: document.getElementById("sort").value,
		filter: document.getElementById("filter").value}));

	await page.evaluate(() => { location.hash = "#t=1000000,4000000"; });
	await settle(page);
	await page.selectOption("#sort", "lock");
	await page.fill("#filter", "er-");
	await page.evaluate(() => window.trc.select("thread", 3));
	await page.locator("#canvases").focus();
	await page.keyboard.press("p");
	await page.evaluate(() => window.trc.select("park", 2));
	await page.keyboard.press("r");
	await settle(page);
	const before = await state(), address = await page.evaluate(() => window.trc.address());
	same(before.shown, [B, A], "worker-b is kept above worker-a, who waited longer for locks");
	await page.evaluate(() => { location.hash = "#t=0,10000000"; });
	await settle(page);
	const cleared = await state();
	same([cleared.shown.length, cleared.range, cleared.filter, cleared.sort], [4, null, "", "first"],
		"a plain address is followed at once, and shows all");
	await page.evaluate((hash) => { location.hash = hash; }, address);
	await settle(page);
	same(await state(), before, "the address holds view, range, order, filter, and what is kept at the top");
	await page.keyboard.press("Control+z");
	await settle(page);
	same((await viewOf(page)).t1, 10 * MS, "undo takes back following an address");
}

// Nothing lies over something else, or outside of the window; the details can be made wider.
async function laysOut(page) {
	const boxes = () => page.evaluate(() => Object.fromEntries(["bar", "corner", "map", "canvases", "legend", "side"].map(
		(id) => [id, document.getElementById(id).getBoundingClientRect().toJSON()])));
	const apart = (a, b) => a.right <= b.left + 1 || b.right <= a.left + 1 || a.bottom <= b.top + 1 || b.bottom <= a.top + 1;

	for (const [width, height] of [[360, 640], [700, 500], [1000, 700], [1920, 1000]]) {
		await page.setViewportSize({width, height});
		await settle(page);
		const all = await boxes(), names = Object.keys(all);
		for (const [i, name] of names.entries()) {
			const b = all[name];
			check(b.left >= 0 && b.right <= width + 1 && b.bottom <= height + 1 && b.width > 60 && b.height > 15,
				`${width}x${height}: ${name} is in the window`, b);
			for (const other of names.slice(i + 1))
				check(apart(b, all[other]), `${width}x${height}: ${name} and ${other} are apart`, [b, all[other]]);
		}
		const side = await page.evaluate(() => {
			const box = document.getElementById("side");
			return [box.scrollWidth - box.clientWidth, document.documentElement.scrollWidth - window.innerWidth];
		});
		same(side, [0, 0], `${width}x${height}: nothing is cut at the side`);
	}
	await page.setViewportSize({width: 360, height: 560});
	await settle(page);
	for (const idx of [HOSTILE, B, MAIN, A]) {
		await page.evaluate((t) => window.trc.select("park", [2, 2, 3, 5][t] - 1), idx);
		await settle(page);
		const at = await page.evaluate(() => {
			const box = document.getElementById("canvases").getBoundingClientRect();
			const name = window.trc.told().facts.Thread;
			const thread = window.trc.threads().find((t) => t.name === name);
			return [window.trc.pointOf(thread.idx, 0).y - box.top, box.height];
		});
		check(at[0] > 5 && at[0] < at[1], "what is selected is in sight in a low window, too", at);
	}
	await page.evaluate(() => window.trc.select(null));
	await page.setViewportSize({width: 1400, height: 800});
	await settle(page);
	const before = await boxes(), y = before.side.top + 200;
	await page.mouse.move(before.side.left - 1, y);
	await page.mouse.down();
	await page.mouse.move(before.side.left - 151, y, {steps: 3});
	await page.mouse.up();
	await settle(page);
	const after = await boxes();
	check(Math.abs(after.side.width - before.side.width - 150) < 5 &&
		Math.abs(after.canvases.width - before.canvases.width + 150) < 5, "the details can be made wider", after);
	await page.locator("#divider").dblclick();
	await settle(page);
	same((await boxes()).side, before.side, "and as they were");
}

async function knownPage() {
	await withBrowser("light", async (context) => {
		const page = await openPage(context, path.join(pages, "known.html"));
		same(await page.evaluate(() => window.trc.threads().map((t) => t.tid)), [100, 101, 102, 103], "threads");
		check((await page.locator("#banners").innerText()).includes("17 events lost in 1 gap"), "gaps are announced");
		await drawsStates(page, "light");
		await contrasts(page);
		await zoomsAndPans(page);
		await drags(context, page);
		await showsDetails(page);
		await showsTheEnd(page);
		await showsLabels(page);
		await showsSamples(page);
		await findsThings(page);
		await ranges(page);
		await filtersAndSorts(page);
		await hostileTextIsText(page);
		await laysOut(page);
		same(page.troubles, [], "no error, no warning, no request");

		// A shared address shows the same.
		const again = await openPage(context, path.join(pages, "known.html"), "#t=2000000,1000000&sel=park:3");
		same(await viewOf(again).then((v) => [v.t0, v.t1]), [2e6, 3e6], "the address sets the range");
		check((await detailsOf(again)).includes("SELECT * FROM parks WHERE id=3"), "and selects by SQL's id");
		const bad = await openPage(context, path.join(pages, "known.html"), "#t=9,x&sel=park:999&sel=__proto__:1&t=1,&sort=toString&filter=%&pin=x");
		same(await bad.evaluate(() => window.trc.selection), null, "a broken address is ignored");
		same([...again.troubles, ...bad.troubles], [], "without trouble");
		await addresses(again, [["park", 3], ["unlock", 1], ["region", 2], ["task", 2], ["log", 2], ["mark", 2],
			["sample", 3], ["labels", 2], ["gap", 1], ["thread", 3], ["iv", 1]]);
		await wholeAddress(again);
	});
	await withBrowser("dark", async (context) => {
		const page = await openPage(context, path.join(pages, "known.html"));
		same(await page.evaluate(() => getComputedStyle(document.body).backgroundColor), "rgb(21, 23, 27)",
			"dark where the system is");
		await drawsStates(page, "dark");
		await contrasts(page);
		same(page.troubles, [], "no trouble in the dark");
	});
}

// fibers.html comes from fibers.txt.  parser #2 (1 ms on sched-a, 1.5 ms on sched-b) waits from 4 ms on,
// is readied by parser #3 at 5 ms, and goes on at 5.5 ms.
async function showsFibers(page) {
	const [SCHED_A, SCHED_B] = [1, 2], LANE = 15, REGIONS = 39;
	const at = async (thread, ms, dy = LANE) => {
		const point = await pointOf(page, thread, ms * MS);
		return {x: point.x, y: point.y + dy};
	};
	const picked = (point) => page.evaluate(([x, y]) => window.trc.pick(x, y), [point.x, point.y]);
	const colours = [];

	for (const [thread, ms] of [[SCHED_A, 3.8], [SCHED_A, 7], [SCHED_B, 5], [SCHED_A, 2.8], [SCHED_A, 5]])
		colours.push(await colourAt(page, await at(thread, ms), 4)); // below the text
	check(colours[0] === colours[1] && colours[1] === colours[2], "fibers of one name have one colour", colours);
	check(colours[3] !== colours[0] && colours[4] !== colours[0] && colours[3] !== colours[4],
		"another name has another, and the root fiber none", colours);
	same([await picked(await at(SCHED_A, 3.5)), await picked(await at(SCHED_B, 6)), await picked(await at(SCHED_A, 5))],
		[{kind: "fiberrun", id: 3}, {kind: "fiberrun", id: 4}, null], "runs of fibers lie on the threads they ran on");
	same([await picked(await at(SCHED_A, 2.5, REGIONS)), await picked(await at(SCHED_A, 6.5, REGIONS)),
		await picked(await at(SCHED_A, 8.3, REGIONS))], [{kind: "region", id: 1}, null, {kind: "region", id: 1}],
	"a region is drawn when its fiber ran");
	same([await picked(await at(SCHED_A, 3.5, REGIONS)), await picked(await at(SCHED_A, 5, REGIONS)),
		await picked(await at(SCHED_B, 5.2, LANE + 12)), await picked(await at(SCHED_B, 6, LANE + 12))],
	[{kind: "region", id: 2}, null, null, {kind: "region", id: 2}], "and where it ran");
	same(await Promise.all([9.1, 9.25, 9.35, 9.6].map(async (ms) => picked(await at(SCHED_A, ms, REGIONS)))),
		[{kind: "region", id: 3}, null, null, {kind: "region", id: 3}],
		"one of no fiber is drawn before and after runs that touch");

	const run = await at(SCHED_B, 6);
	await page.mouse.move(run.x, run.y);
	await settle(page);
	const tip = await page.locator("#tip").innerText();
	check(tip.includes("fiber parser #2 ran 1.50 ms") && tip.includes("after user 1.50 ms"), "hover names it", tip);
	await page.mouse.click(run.x, run.y);
	await settle(page);
	let details = await detailsOf(page);
	for (const wanted of ["fiber parser #2: ran 1.50 ms", "Thread\nsched-b", "1,500,000 ns", "0.005 500 000 s",
		"After\nwaiting: user 1.50 ms", "Readied by\nparser #3 on sched-b at 0.005 000 000 s", "Left\nit ended",
		"Run before\n1.00 ms, 1.50 ms apart, on sched-a", "Number\n2\n", "Runs\n2\n", "Running\n2.50 ms (63 %)",
		"Runnable\n500 µs (13 %)", "Waiting\n1.00 ms (25 %), in 1 wait", "Created\n0.000 600 000 s",
		"Created by\nmain", "SELECT * FROM fibers WHERE id=2"])
		check(details.includes(wanted), `details of a run show ${wanted}`, details);
	same(await page.evaluate(() => window.trc.arrows), 1, "an arrow leads to it from who readied it");
	await page.keyboard.press("[");
	await settle(page);
	same(await page.evaluate(() => window.trc.selection), {kind: "fiberrun", id: 3}, "[ leads to its previous run");
	details = await detailsOf(page);
	for (const wanted of ["Left\nto wait: user 1.50 ms", "Object\n0x7f0000001000", "Left at", "0x402fff"])
		check(details.includes(wanted), `details of a run that ends with a wait show ${wanted}`, details);
	await page.keyboard.press("]");
	await settle(page);
	same(await page.evaluate(() => window.trc.selection), {kind: "fiberrun", id: 4}, "] leads to its next run");
	await page.keyboard.press(",");
	await settle(page);
	same(await page.evaluate(() => window.trc.selection), {kind: "fiberrun", id: 2}, ", leads to the thread's run before");
	check((await detailsOf(page)).includes("Readied\nparser #2 user 1.50 ms"), "which tells whom it readied");
	await page.locator("#details").getByText("user 1.50 ms").click();
	await settle(page);
	details = await detailsOf(page);
	for (const wanted of ["user: fiber parser #2 waited 1.50 ms", "Left\n0.004 000 000 s on sched-a",
		"Readied → ran\n500 µs", "Ran again\n0.005 500 000 s on sched-b", "Object\n0x7f0000001000",
		"SELECT * FROM fiber_waits WHERE id=2", "Waits at", "Readied from"])
		check(details.includes(wanted), `details of a wait show ${wanted}`, details);
	await page.evaluate(() => window.trc.select("fiberrun", 7));
	check((await detailsOf(page)).includes("Left\nto wait: poll 1.00 ms"), "what it waits for in the end is told");
	await page.evaluate(() => window.trc.select("fiberrun", 5));
	check((await detailsOf(page)).includes("Left\nto wait: sleep 1.50 ms; it ended without running again"),
		"and that it ended meanwhile", await detailsOf(page));
	await page.locator("#details").getByText("sleep 1.50 ms").first().click();
	await settle(page);
	check((await detailsOf(page)).includes("Ran again\nnever: it ended at 0.009 500 000 s"), "which the wait tells, too",
		await detailsOf(page));
	await page.evaluate(() => window.trc.select("fiberrun", 8));
	check((await detailsOf(page)).includes("Left\nit could go on; it did not run again, and ended 600 µs later"),
		"a fiber that is ended long after it ran did not end by itself", await detailsOf(page));
	await page.evaluate(() => window.trc.select("fiberrun", 9));
	check((await detailsOf(page)).includes("Left\nit ended"), "as one does that is ended where it was left",
		await detailsOf(page));
	await page.evaluate(() => window.trc.select("fiber", 5));
	check((await detailsOf(page)).includes("At the end\ndid not run yet"), "a fiber that never ran says so");
	await page.evaluate(() => window.trc.select("region", 1));
	check((await detailsOf(page)).includes("Fiber\nreader 7, which ran 2.00 ms of it"), "a region tells its fiber");
	await page.evaluate(() => window.trc.select("region", 2));
	details = await detailsOf(page);
	check(details.includes("Fiber\nparser #2, which ran 1.80 ms of it") && /active\s+1\.80 ms/.test(details),
		"and what its fiber's threads did in it", details);
	await page.keyboard.press("Escape");
	await page.keyboard.press("0");
	await settle(page);
}

async function findsFibers(page) {
	for (const [query, n, startsWith] of [["parser", 2, "fiber parser #3"], ["fiber:3", 1, "fiber parser #3"],
		["3", 1, "fiber parser #3"], ["onerror", 1, "fiber </script><img src=x onerror="]]) {
		await page.keyboard.press("/");
		await page.keyboard.type(query);
		await page.keyboard.press("Enter");
		await settle(page);
		same(await page.evaluate(() => window.trc.matches), n, `search for ${query}`);
		check((await detailsOf(page)).startsWith(startsWith), `${query} leads to ${startsWith}`, await detailsOf(page));
		await page.keyboard.press("Escape");
		await page.keyboard.press("Escape");
		await page.keyboard.press("0");
	}
}

async function fibersPage(context) {
	const page = await openPage(context, path.join(pages, "fibers.html"));

	same(await page.evaluate(() => ["fibers", "fiberRuns", "fiberWaits"].map((k) => window.trc.counts[k])), [7, 9, 4],
		"fibers of the trace, their runs and waits");
	await page.waitForSelector("#tops table");
	const tops = await page.locator("#tops").innerText();
	check(/parser\s+2\s+4\s+8\.00 ms\s+1\.00 ms\s+2\.50 ms/.test(tops), "fibers are summed by name", tops);
	check(/reader #\s+2\s+2\s+3\.00 ms/.test(tops), "names that differ in numbers are one kind", tops);
	check(/Top waits of fibers/.test(tops) && /user\s+0x402fff < 0x403fff\s+1\s+1\.50 ms/.test(tops), "and waits by place", tops);
	await showsFibers(page);
	await findsFibers(page);
	await addresses(page, [["fiber", 3], ["fiberrun", 5], ["fiberwait", 2]]);
	same(await page.locator("#app img").count(), 0, "a fiber's name is text");
	same(page.troubles, [], "no trouble with fibers");
}

// The shell of traced.txt waits 0.1 ms at a time: for whom is said in words.
async function childrenWaitedFor(page) {
	const shell = 2, wanted = ["any child", "child 4711", "any child of its process group",
		"any child of process group 42", "the child of pidfd 7"];

	for (const [i, name] of wanted.entries()) {
		await page.evaluate(([t, at]) => window.trc.setView(t, at), [0, MS]);
		await settle(page);
		const at = await pointOf(page, shell, (i * 0.2 + 0.05) * MS);
		await page.mouse.click(at.x, at.y);
		await settle(page);
		const details = await detailsOf(page);
		check(details.includes(`Object\n${name}\n`), `a wait for ${name} says so`, details);
	}
	await page.evaluate((p) => window.trc.select("park", p), wanted.length + 2);
	await settle(page);
	const details = await detailsOf(page);
	check(details.startsWith("sem: waited more than 400 µs\n"), "a wait that was cut by a kill says so", details);
	check(details.includes("may be before the process ended"), "and why", details);
}

// traced.html comes from a .trc file (traced.txt), through reader, model and symbols.
async function tracedPage(context) {
	const page = await openPage(context, path.join(pages, "traced.html"));
	const teller = 1, at = await pointOf(page, teller, 5 * MS);

	same(await page.evaluate(() => window.trc.threads().map((t) => t.tid)), [501, 502, 503], "threads of the trace");
	same(await colourAt(page, at, -7), await stateColour(page, "mutex"), "the teller waits for the lock");
	await page.mouse.click(at.x, at.y);
	await settle(page);
	const details = await detailsOf(page);
	for (const wanted of ["mutex: waited 4.75 ms", "0x7f0000001000", "Held by\ncashier", "Woken by\ncashier at",
		"250 µs", "account_lock traced_program.c:", "transfer traced_program.c:",
		"account_unlock traced_program.c:", "teller </script><b>\ufffd"])
		check(details.includes(wanted), `details of a traced wait show ${wanted}`, details);
	same(await page.evaluate(() => window.trc.arrows), 1, "an arrow leads from the cashier to the teller");
	check((await page.locator("#banners").innerText()).includes("5 events lost"), "the gap is announced");
	same(await page.evaluate(() => window.trc.counts),
		{parks: 7, regions: 1, tasks: 1, logs: 1, labels: 0, samples: 0, fibers: 0, fiberRuns: 0, fiberWaits: 0,
			intervals: 17}, "what the trace holds");
	check(!/[Ff]ibers/.test(await page.locator("#app").innerText()), "and nothing of fibers is shown");
	await childrenWaitedFor(page);
	same(page.troubles, [], "no trouble with a page from a trace");
}

// A main thread and 199 workers, of which 30 are idle: a summary each, until one is opened.
async function groupsOfThreads(context) {
	const page = await openPage(context, path.join(pages, "many.html"));
	const labels = () => page.locator(".label:not([hidden]):not(.annotation), .label.group:not([hidden])")
		.locator(".name").allTextContents();
	const shown = () => page.evaluate(() => window.trc.shownThreads());

	same((await labels()).toSorted(), ["main", "▸ 30 idle threads", "▸ worker-*"].toSorted(),
		"threads of one kind of name are one line, and so are idle ones");
	same((await labels()).at(-1), "▸ 30 idle threads", "idle threads come last");
	same(await shown(), [0], "groups are closed at first");
	const workers = page.locator(".label:not([hidden])", {hasText: "worker-*"});
	const box = await workers.boundingBox(), canvas = await page.locator("#canvases").boundingBox();
	const colours = new Set();
	for (let dy = 6; dy < 22; dy += 2)
		for (let dx = 50; dx < 500; dx += 30)
			colours.add(await colourAt(page, {x: canvas.x + dx, y: box.y + dy}));
	check(colours.has(await stateColour(page, "mutex")) && colours.size > 2, "a group's lane has what its threads do",
		[...colours]);

	await page.evaluate(() => window.trc.select("thread", 200));
	await settle(page);
	same((await shown()).toSorted((a, b) => a - b), [0, 199], "a selected thread of a closed group is shown");
	await page.evaluate(() => window.trc.select(null));
	await settle(page); // the lines below the thread's have moved up
	await workers.locator("button.open").click();
	await settle(page);
	same((await shown()).length, 170, "an opened group shows its threads");
	await page.keyboard.press("Enter");
	await settle(page);
	same(await shown(), [0], "and is closed again, by the keyboard too");
	await page.fill("#filter", "worker");
	await settle(page);
	same((await shown()).length, 199, "a filter shows single threads");
	same(page.troubles, [], "no trouble with groups");
}

async function manyThreads(context) {
	const page = await openPage(context, path.join(pages, "many.html"), "#sort=start");
	const box = await page.locator("#canvases").boundingBox();

	check(await page.locator(".label:not([hidden])").count() < 60, "only visible threads have labels");
	await page.mouse.move(box.x + 300, box.y + 300);
	const before = await viewOf(page);
	await page.mouse.wheel(0, 600);
	await holds(page, () => window.trc.view.scroll > 0);
	await settle(page);
	let view = await viewOf(page);
	check(view.scroll > 0 && view.t1 === before.t1, "with many threads the wheel scrolls", view);
	await page.keyboard.down("Control");
	await page.mouse.wheel(0, -300);
	await page.keyboard.up("Control");
	await settle(page);
	view = await viewOf(page);
	check(view.t1 - view.t0 < before.t1 - before.t0, "and zooms with Ctrl", view);
	await page.evaluate(() => window.trc.select("thread", 200));
	await page.evaluate(() => window.trc.select("park", window.trc.counts.parks));
	await settle(page);
	const last = await pointOf(page, 199, 0);
	check(last.y > box.y && last.y < box.y + box.height, "selecting scrolls to the thread", last);
	same(page.troubles, [], "no trouble with 200 threads");
}

async function mergedPage(context) {
	const page = await openPage(context, path.join(pages, "merged.html"));
	const banners = await page.locator("#banners").innerText();

	check(/runs of intervals shorter than .* are merged and counted/.test(banners), "merging is said", banners);
	check(await page.evaluate(() => window.trc.counts.intervals) <= 5016, "and keeps the limit");
	same(page.troubles, [], "no trouble with merged intervals");
}

// How much of the lane of states of a thread is in the colours of these states, in parts of 1.
function coloured(page, thread, states) {
	return page.evaluate(([idx, names]) => {
		const colours = new Set(names.map((name) => parseInt(window.trc.stateColour(name).slice(1), 16)));
		const canvas = document.getElementById("base"), box = canvas.getBoundingClientRect();
		const top = Math.round(window.trc.pointOf(idx, 0).y - box.top - 9);
		const copy = document.createElement("canvas");
		copy.width = canvas.width;
		copy.height = 18;
		const ctx = copy.getContext("2d", {willReadFrequently: true});
		ctx.drawImage(canvas, 0, -top);
		const {data} = ctx.getImageData(0, 0, copy.width, copy.height);
		let n = 0;
		for (let i = 0; i < data.length; i += 4)
			n += colours.has(data[i] << 16 | data[i + 1] << 8 | data[i + 2]);
		return n / (data.length / 4);
	}, [thread, states]);
}

// Thousands of waits for locks, each shorter than a pixel: their colours have their share of the time.
async function locksHaveTheirShare(page) {
	const locks = ["mutex", "rwlock_read"];

	for (const share of [1, 0.1, 0.01]) {
		const thread = 3, span = await page.evaluate(() => window.trc.span);
		await page.evaluate(([s, t]) => {
			window.trc.setView(s / 3, s / 3 + s * t);
			window.trc.redraw();
		}, [span, share]);
		const seen = await coloured(page, thread, locks);
		const exact = await page.evaluate((t) => window.trc.share(t, ["mutex", "rwlock_read"]), thread);
		check(Math.abs(seen - exact) < 0.02 + 0.2 * exact, `at 1/${1 / share} of the trace locks have ${exact} of ` +
			"the time, and of the lane", seen);
	}
}

// All threads are in the matches, in order of time.
async function stepsThroughAll(page) {
	const walked = await page.evaluate(() => {
		const box = document.getElementById("search"), found = [];
		window.trc.setView(0, window.trc.span);
		box.value = "mutex";
		box.dispatchEvent(new KeyboardEvent("keydown", {key: "Enter"}));
		for (let i = 0; i < 400; i++) {
			found.push({...window.trc.selection, ...window.trc.told().facts});
			document.getElementById("search-next").click();
		}
		return found;
	});
	const times = walked.map((m) => m.Began);

	check(new Set(walked.map((m) => m.Thread)).size > 50, "next match leads to threads of all 64",
		new Set(walked.map((m) => m.Thread)).size);
	same(new Set(walked.map((m) => m.id)).size, 400, "to another match each time");
	same(times, times.toSorted(), "in order of time");
	await page.evaluate(() => {
		document.getElementById("search").value = "no such thing";
		document.getElementById("search").dispatchEvent(new KeyboardEvent("keydown", {key: "Enter"}));
		window.trc.select(null);
	});
}

// Pages that lack something, or were changed on their way, say so; lines that end in another way are no harm.
async function brokenPages(context, file) {
	const whole = readFileSync(file, "latin1"), piece = /<script type="text\/plain" data-column="iv\.duration [^>]*>([^<]*)<\/script>/;
	const cut = /incomplete: its end is missing/, [element, text] = piece.exec(whole);

	for (const [what, page, told] of [
		["half of a page", whole.slice(0, whole.indexOf(text) + 5), cut],
		["a page without its last bytes", whole.slice(0, whole.lastIndexOf('"columns":') + 40), cut],
		["a page without a piece", whole.replace(element, ""), /incomplete: a piece of part \d+ is missing/],
		["a page with a piece that is cut", whole.replace(text, text.slice(0, 8)), /damaged: part \d+ cannot be read/],
		["a page with other ends of lines", whole.replaceAll("\n", "\r\n"), null],
	]) {
		const broken = `${file}.broken.html`, tab = await context.newPage(), errors = [];
		writeFileSync(broken, page, "latin1");
		tab.on("pageerror", (error) => errors.push(error.message));
		await tab.goto(`file://${broken}`);
		await tab.waitForFunction(() => document.documentElement.dataset.trcReady || document.documentElement.dataset.trcFailed);
		await tab.waitForTimeout(100);
		const seen = await tab.evaluate(() => document.getElementById("loading")?.textContent);
		check(told ? told.test(seen) : seen === undefined, what, seen);
		same(errors, [], `${what}: no error that nobody awaits`);
		await tab.close();
		rmSync(broken);
	}
}

async function largePage(context) {
	const page = await openPage(context, path.join(pages, "million.html"), "#sort=start");
	const {intervals, parks} = await page.evaluate(() => window.trc.counts);
	const frames = await page.evaluate(async () => {
		const times = [], mid = window.trc.span / 3;
		for (let i = 0; i < 120; i++) {
			const span = window.trc.span * Math.pow(0.93, i);
			const begun = performance.now();
			window.trc.setView(mid, mid + span);
			window.trc.redraw();
			times.push(performance.now() - begun);
		}
		return times.sort((a, b) => a - b);
	});

	console.log(`${intervals} intervals, ${parks} waits: open ${Math.round(page.openMs)} ms, frame p50 ` +
		`${frames[60].toFixed(1)} ms, p99 ${frames[118].toFixed(1)} ms`);
	check(intervals > 1e6, "a page of a million intervals opens", intervals);
	const {sketched, loaded} = await page.evaluate(() => window.trc.timing);
	check(sketched > 0 && sketched < loaded, "a sketch of its threads is drawn before all is there", [sketched, loaded]);
	await locksHaveTheirShare(page);
	await stepsThroughAll(page);
	same(page.troubles, [], "no trouble with a million intervals");
}

await knownPage();
await withBrowser("light", async (context) => {
	await tracedPage(context);
	await fibersPage(context);
	await manyThreads(context);
	await groupsOfThreads(context);
	await mergedPage(context);
	await largePage(context);
	await brokenPages(context, path.join(pages, "known.html"));
});
console.log(`${results.passed} passed, ${results.failed} failed`);
process.exit(results.failed ? 1 : 0);
