// browser.mjs - uses the timeline as a person would, on pages whose rows are known.
//
//   node browser.mjs DIRECTORY
//
// known.html is made of known_model.c: 10 ms, threads main, worker-a, worker-b and one with a
// hostile name.  worker-b (cond, 1..6 ms) waits for worker-a (mutex, 2..4.1 ms), which waits
// for main, which releases the lock at 4 ms.

import path from "node:path";
import {fibersPage} from "./browser_fibers.mjs";
import {addresses, check, colourAt, detailsOf, holds, lowerEdge, openPage, pointOf, results, same, seed, settle, stateColour, upperEdge, viewOf,
	withBrowser} from "./browser_lib.mjs";
import {groupsOfThreads, manyThreads, twoFingers, mergedPage, textsAreReadable, usesTheRoom,
	longNames, brokenPages, largePage, notDrawn} from "./browser_pages.mjs";

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
		same(await colourAt(page, point, upperEdge(point)), await stateColour(page, state),
			`${scheme}: thread ${thread} at ${ms} ms is ${state}: it ${why}`);
		const below = new Set();
		for (let dx = 0; dx < 6; dx++)
			below.add(await colourAt(page, {x: point.x + dx, y: point.y}, lowerEdge(point) - 1));
		same(below.size, state === "mutex" ? 2 : 1, `${scheme}: only waits for locks have stripes, not ${state}`);
	}
	const tiny = await pointOf(page, B, 8 * MS + 100);
	tiny.x = Math.floor(tiny.x); // it lies in this column, and in no other
	const above = await colourAt(page, tiny, -4), below = await colourAt(page, tiny, lowerEdge(tiny));
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
	await doubleClickZooms(page);
	await rulerZooms(page);
}

// View and range, in nanoseconds.
function seenOf(page) {
	return page.evaluate(() => ({view: [window.trc.view.t0, window.trc.view.t1].map(Math.round), range: window.trc.range, selection: window.trc.selection}));
}

// A double click on a wait shows what F shows of it, a second one goes on to its edges; undo leads back.
async function doubleClickZooms(page) {
	const before = await seenOf(page), at = await pointOf(page, A, 3 * MS);

	await page.mouse.dblclick(at.x, at.y);
	await settle(page);
	const zoomed = await seenOf(page);
	same(zoomed.selection, {kind: "park", id: 2}, "a double click selects the wait");
	check(zoomed.view[0] > 0 && zoomed.view[0] < 2 * MS && zoomed.view[1] > 4.1 * MS && zoomed.view[1] < 6 * MS, "and zooms to it", zoomed);
	await page.keyboard.press("0");
	await settle(page);
	await page.keyboard.press("f");
	await settle(page);
	same((await seenOf(page)).view, zoomed.view, "as F does");
	// Moves that follow each other fast are one step.
	for (let n = 0; n < 10 && JSON.stringify(await seenOf(page)) !== JSON.stringify(before); n++)
		await page.keyboard.press("Control+z");
	same(await seenOf(page), before, "undo takes all of it back");
}

// A drag on the ruler zooms to what was dragged over; with Shift it selects that range.
async function rulerZooms(page) {
	const ruler = await page.locator("#ruler").boundingBox(), before = await seenOf(page), y = ruler.y + ruler.height / 2;
	const drag = async (from, to) => {
		await page.mouse.move(ruler.x + from * ruler.width, y);
		await page.mouse.down();
		await page.mouse.move(ruler.x + to * ruler.width, y, {steps: 4});
		await page.mouse.up();
		await settle(page);
		return seenOf(page);
	};
	const near = (span, wanted) => span.every((t, i) => Math.abs(t - wanted[i] * MS) < 0.05 * MS);

	const zoomed = await drag(0.33, 0.57);
	check(near(zoomed.view, [3.3, 5.7]) && !zoomed.range, "a drag on the ruler zooms to what was dragged over", zoomed);
	await page.keyboard.press("Control+z");
	await settle(page);
	same(await seenOf(page), before, "undo takes that back");
	await page.keyboard.down("Shift");
	const ranged = await drag(0.57, 0.33);
	await page.keyboard.up("Shift");
	same(ranged.view, before.view, "with Shift the view stays");
	check(ranged.range && near([ranged.range.t0, ranged.range.t1], [3.3, 5.7]), "and a range is selected", ranged);
	await page.keyboard.press("Control+z");
	await settle(page);
	same(await seenOf(page), before, "undo takes that back, too");
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
	check(banners.includes("Recorded beside a flight recorder: complete from 200 µs on. Later than the rest begin: proc 1 from 200 µs, " +
		"proc 1 (scheduling) from 2.00 ms."), "which time is covered", banners);
	check(await colourAt(page, before, lowerEdge(before)) !== await colourAt(page, plain, lowerEdge(plain)),
		"what lies before the window is shaded");
	same(await page.evaluate(([x, y]) => window.trc.pick(x, y), [signal.x + 3, signal.y - signal.h / 2]),
		{kind: "mark", id: 1}, "a signal is a flag on its thread's lane");
	await page.mouse.click(signal.x + 3, signal.y - signal.h / 2);
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
	const below = await pointOf(page, A, 3 * MS, "labels");

	same(await page.evaluate(([x, y]) => window.trc.pick(x, y), [below.x, below.y]), {kind: "labels", id: 2},
		"below the states lie the labels");
	const colours = [];
	for (const [thread, ms] of [[A, 1.5], [A, 4.8], [B, 3]])
		colours.push(await colourAt(page, await pointOf(page, thread, ms * MS, "labels"), lowerEdge(below)));
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
	const row = (ms) => pointOf(page, A, ms * MS, "sample");
	const banners = await page.locator("#banners").innerText();
	const at = await row(1.2);

	check(banners.includes("3 samples of cpu-clock lost, beside 4 taken."), "lost samples are told", banners);
	check((await page.locator("#banners .warn").allInnerTexts()).join().includes("3 samples of cpu-clock lost"), "as a warning, if they are many");
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
	check(/cpu-clock: 4\.00 ms/.test(details) && /pthread_mutex_lock\s+2\.00 ms\s+50 %\s+±100\s+50 %\s+±100/.test(details) &&
		/cache_put\s+2\.00 ms\s+50 %\s+±100\s+50 %\s+±100/.test(details) && /worker_main\s+100 %\s+±\d+/.test(details),
		"a thread's samples by function, self and total, and how far these few may be off", details);
	check(/cache-misses: 5,000/.test(details), "each event by itself", details);
	const tops = await page.locator("#tops").innerText();
	check(/Where it ran \(cpu-clock: 5\.00 ms\)/.test(tops) && /worker_main\s+1\.00 ms\s+13 %\s+±[\d.]+\s+63 %\s+±[\d.]+/.test(tops),
		"and those of all threads", tops);
	check(/trc, recording\s+500\s+9\.1 %\s+±[\d.]+\s+9\.1 %\s+±[\d.]+/.test(tops) && !/ring_emit|ring_reserve/.test(tops),
		"what trc cost is not among the program's functions", tops);
	await page.keyboard.press("Escape");
	await page.keyboard.press("0");
	await settle(page);
}

// Where a track that is no thread's is at a time: its label's middle.
async function pointOfTrack(page, name, ms) {
	const label = page.locator(".label.annotation:not([hidden])").filter({has: page.locator(`.name:text-is("${name}")`)});
	const at = await pointOf(page, MAIN, ms * MS), box = await label.boundingBox();

	return {x: Math.floor(at.x), y: box.y + box.height / 2, label};
}

// What a counter is at a time: at the pointer, by a click, by keys, and over a range; in its unit.
async function showsCounters(page) {
	const bytes = await pointOfTrack(page, "in flight", 4), tip = async ({x, y}) => {
		await page.mouse.move(x, y);
		await settle(page);
		return page.locator("#tip").innerText();
	};

	same((await bytes.label.innerText()).split(/\s*\n\s*/).slice(0, 2), ["in flight", "bytes"], "a counter's unit is beside its name");
	same(await tip(bytes), "in flight 1.50 MB\nfor 4.00 ms", "the pointer tells the value in its unit");
	same(await tip(await pointOfTrack(page, "in flight", 6)), "in flight 9.00 kB\nthe last of 2 values here, 7 bytes to 9.00 kB",
		"and if there are several, all that they are");
	const before = await pointOfTrack(page, "queue depth", 0.5);
	await page.mouse.move(before.x, before.y);
	await settle(page);
	check(!await page.locator("#tip").isVisible(), "before the first value there is none");
	same(await tip(await pointOfTrack(page, "queue depth", 3)), "queue depth -3\nfor 4.00 ms", "one without a unit is a number");
	await page.mouse.click(bytes.x, bytes.y);
	await settle(page);
	const details = await detailsOf(page);
	for (const wanted of ["in flight: 1.50 MB", "Value\n1.50 MB (1,500,000 bytes)", "Before\nnot known", "From\n0.002 000 000 s",
		"Until\n0.006 000 000 s, then 7 bytes", "Lasted\n4.00 ms", "Set by\nworker-a", "Labels\ntenant=acme", "Least\n7 bytes",
		"Mean over time\n754.5 kB", "Largest\n1.50 MB", "SELECT * FROM counters WHERE thread=2 AND ts_ns=2000000"])
		check(details.includes(wanted), `details of a counter show ${wanted}`, details);
	await page.keyboard.press(".");
	await settle(page);
	check((await detailsOf(page)).includes("7 bytes\nBefore\n1.50 MB, -1.50 MB"), ". leads to the next value", await detailsOf(page));
	await page.keyboard.press(".");
	await page.keyboard.press(".");
	await settle(page);
	same(await page.evaluate(() => [window.trc.selection.kind, window.trc.told().title]), ["counter", "in flight: 9.00 kB"], "up to the last");
	await page.keyboard.press("Escape");
	await page.keyboard.press("0");
	await page.evaluate((ms) => window.trc.setRange({t0: 4 * ms, t1: 6 * ms}), MS);
	await settle(page);
	check(/queue depth\s+-3\s+8\.50\s+20/.test(await detailsOf(page)), "a range has least, mean and largest", await detailsOf(page));
	await page.keyboard.press("Escape");
	await settle(page);
}

async function findsThings(page) {
	for (const [query, n, kind, startsWith] of [
		["cache_get", 2, "park", "mutex: waited"],
		["cache.c:150", 3, "unlock", "contended unlock"], // and two samples
		["worker-b", 1, "thread", "worker-b"],
		["parse", 1, "region", "region parse"],
		["404", 1, "log", "log http"],
		["in flight", 3, "counter", "in flight: "],
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

// Behind the last match comes the first, and before the first the last; each is told by its number.
async function searchGoesRound(page) {
	const told = async () => (await page.locator("#search-count").textContent()).split(" of ")[0];
	const seen = [];

	await page.evaluate(() => window.trc.setView(0, window.trc.span));
	await page.keyboard.press("/");
	await page.keyboard.type("in flight");
	for (const key of ["Enter", "Shift+Enter", "Shift+Enter", "Enter", "Enter"]) {
		await page.keyboard.press(key);
		await settle(page);
		seen.push(await told());
	}
	same(seen, ["1", "3", "2", "3", "1"], "matches are walked through in a circle, each with its number");
	await page.keyboard.press("Escape");
	await page.keyboard.press("Escape");
	await page.keyboard.press("0");
}

// Drags from 3 pixels beside a moment to 3 pixels beside another one, with these keys held; the range.
async function rangeDragged(page, from, to, ...keys) {
	for (const key of ["Shift", ...keys])
		await page.keyboard.down(key);
	await page.mouse.move(from.x - 3, from.y);
	await page.mouse.down();
	await page.mouse.move(to.x + 3, to.y, {steps: 3});
	await page.mouse.up();
	for (const key of ["Shift", ...keys])
		await page.keyboard.up(key);
	await settle(page);
	return page.evaluate(() => window.trc.range);
}

async function ranges(page) {
	const from = await pointOf(page, A, 2 * MS), to = await pointOf(page, A, 4 * MS);

	const free = await rangeDragged(page, from, to, "Alt");
	check(free.t0 < 2 * MS && free.t1 > 4 * MS && free.t1 - free.t0 < 2.2 * MS, "with Alt a range is what the pointer says", free);
	same(await rangeDragged(page, from, to), {t0: 2 * MS, t1: 4 * MS}, "Shift+drag selects a range, whose ends snap to edges of what is there");
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
	await page.setViewportSize({width: 1000, height: 480});
	await page.evaluate(() => document.getElementById("filter").blur());
	await page.keyboard.press("l");
	await settle(page);
	check(await page.evaluate(() => {
		const room = document.getElementById("canvases").getBoundingClientRect(), button = document.getElementById("nothing-all").getBoundingClientRect();
		return button.top >= room.top && button.bottom <= Math.min(room.bottom, innerHeight) && document.elementFromPoint((button.left + button.right) / 2, (button.top + button.bottom) / 2)?.id === "nothing-all";
	}), "and what leads back is whole beside a panel");
	await page.keyboard.press("l");
	await page.setViewportSize({width: 1400, height: 800});
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

	for (const [width, height] of [[360, 640], [700, 500], [701, 500], [800, 600], [841, 600], [1000, 700], [1920, 1000]]) {
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
		await showsCounters(page);
		await findsThings(page);
		await searchGoesRound(page);
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
		const endless = await openPage(context, path.join(pages, "known.html"), `#t=${"9".repeat(400)},1&range=5,0&sel=park:${"9".repeat(400)}`);
		check(await viewOf(endless).then((v) => v.t0 < v.t1), "so is one with numbers that are none");
		same(await endless.evaluate(() => [window.trc.view.range, window.trc.selection]), [null, null], "and with a range that is none");
		same([...again.troubles, ...bad.troubles, ...endless.troubles], [], "without trouble");
		await addresses(again, [["park", 3], ["unlock", 1], ["region", 2], ["task", 2], ["log", 2], ["mark", 2],
			["sample", 3], ["labels", 2], ["gap", 1], ["thread", 3], ["iv", 1], ["counter", 4]]);
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
	same(await colourAt(page, at, upperEdge(at)), await stateColour(page, "mutex"), "the teller waits for the lock");
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

await knownPage();
await withBrowser("light", async (context) => {
	await tracedPage(context);
	await fibersPage(context);
	await manyThreads(context);
	await twoFingers(context);
	await groupsOfThreads(context);
	await mergedPage(context);
	await textsAreReadable(context);
	await usesTheRoom(context);
	await longNames(context);
	await notDrawn(context);
	await largePage(context);
	await brokenPages(context, path.join(pages, "known.html"));
});
console.log(`${results.passed} passed, ${results.failed} failed; TRC_SEED=${seed}`);
process.exit(results.failed ? 1 : 0);
