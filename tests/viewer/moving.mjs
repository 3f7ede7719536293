// moving.mjs PAGES - run by moving.sh: frames while the view moves.  The page's clock goes on by 5 ms each time that it is asked, so that a frame of
// any machine ends after two steps; what such frames show in the end is compared with what is drawn at once.

import path from "node:path";
import {amount, check, draw, openPage, results, same, seed, someOf, withBrowser} from "./browser_lib.mjs";

const pages = path.resolve(process.argv[2]);
const STEPS = 2; // of a frame by this clock: drawing begins at 0 ms, its budget ends between 5 and 10

async function slowClock(page) {
	await page.evaluate(() => {
		const {prototype} = CanvasRenderingContext2D, {putImageData} = prototype;
		let now = performance.now();

		window.clockStep = 5;
		performance.now = () => now += window.clockStep;
		window.drawn = []; // of each strip its first row
		prototype.putImageData = function(...args) {
			if (this.canvas.id === "base")
				window.drawn.push(args[4]);
			putImageData.apply(this, args);
		};
		window.nextFrame = () => new Promise((done) => requestAnimationFrame(done));
		window.pixelsOf = (id) => {
			const canvas = document.getElementById(id), copy = document.createElement("canvas");
			copy.width = canvas.width;
			copy.height = canvas.height;
			const ctx = copy.getContext("2d", {willReadFrequently: true});
			ctx.drawImage(canvas, 0, 0);
			return new Uint32Array(ctx.getImageData(0, 0, copy.width, copy.height).data.buffer);
		};
		window.whenExact = async () => {
			for (let frames = 0; frames < 3000; frames++) {
				if (window.trc.exact)
					return frames;
				await window.nextFrame();
			}
			return -1;
		};
	});
}

// Views, and heights to which it is scrolled, drawn at random: a few frames of a move each, at one scale or not.
function movesRandom(n) {
	return Array.from({length: n}, () => {
		const length = Math.pow(0.5, draw(14)) * 0.9, from = draw(1000) / 1000 * (1 - length), zoom = draw(2) ? 1 : 0.93 + draw(14) / 100;
		return Array.from({length: 5}, (_, k) => ({from: from + k * length * draw(9) / 100, length: length * Math.pow(zoom, k), scroll: draw(3) ? null : draw(700)}));
	});
}

// What frames with little time come to is what is drawn at once, in each pixel.
async function restsExactly(page, what, moves) {
	const seen = await page.evaluate(async (list) => {
		const {begin, span} = window.trc, seen = {moving: 0, frames: [], most: 0, different: []};
		await window.whenExact();
		for (const [i, move] of list.entries()) {
			for (const {from, length, scroll} of move) {
				window.trc.setView(begin + from * (span - begin), begin + (from + length) * (span - begin));
				if (scroll !== null)
					document.getElementById("scroll").scrollTop = scroll;
				window.drawn = [];
				await window.nextFrame();
				await 0; // the page's own frame may come after this
				seen.moving += Number(!window.trc.exact);
				seen.most = Math.max(seen.most, window.drawn.length);
			}
			await window.nextFrame();
			seen.frames.push(await window.whenExact());
			const {hidden} = document.getElementById("moved"), stepwise = window.pixelsOf("base"), before = window.drawn.length;
			window.trc.redraw();
			const {length} = new Set(window.drawn.slice(before)), whole = window.pixelsOf("base");
			const at = whole.findIndex((pixel, k) => pixel !== stepwise[k]);
			if (at >= 0 || !hidden || length === 0)
				seen.different.push([i, at % document.getElementById("base").width, Math.floor(at / document.getElementById("base").width), hidden]);
		}
		return seen;
	}, moves);

	check(seen.moving > moves.length, `${what}: frames of a moving view are not all exact`, seen.moving);
	check(seen.most <= 2 * STEPS, `${what}: a frame draws no more than its budget allows`, seen.most); // two frames at most have been
	check(seen.frames.every((n) => n >= 0), `${what}: all is exact some frames after the view rests`, seen.frames);
	same(seen.different, [], `${what}: at rest each pixel is as if it was drawn at once`);
}

// While the view moves in each frame, all strips are drawn again and again.
async function drawsAll(page, what) {
	const {times, strips} = await page.evaluate(async () => {
		const {span} = window.trc, times = new Map();
		window.drawn = [];
		window.trc.redraw();
		const strips = new Set(window.drawn).size;
		window.drawn = [];
		for (let i = 0; i < 400; i++) {
			window.trc.setView(span * (0.2 + 0.001 * i), span * (0.4 + 0.001 * i));
			await window.nextFrame();
		}
		for (const top of window.drawn)
			times.set(top, (times.get(top) || 0) + 1);
		return {times: [...times.values()], strips};
	});

	check(strips > 3, `${what}: there are several strips`, strips);
	check(times.length === strips && Math.min(...times) >= 2, `${what}: in 400 frames of a moving view each of ${strips} strips is drawn twice at least`, times);
}

// What has not been drawn again is shown where it is now, and what is told of it is of now.
async function standsIn(page, what) {
	const by = 64, seen = await page.evaluate(async (shift) => {
		const base = document.getElementById("base"), {left, top} = base.getBoundingClientRect(), w = base.width, {span} = window.trc;
		window.trc.setView(span * 0.25, span * 0.5);
		await window.nextFrame();
		await window.whenExact();
		const before = window.pixelsOf("base"), {t0, t1} = window.trc.view, step = shift * (t1 - t0) / w;
		window.trc.setView(t0 + step, t1 + step);
		await window.nextFrame();
		await window.nextFrame();
		const isExact = window.trc.exact, moved = window.pixelsOf("moved");
		const points = Array.from({length: 400}, (_, i) => [left + 7 + (i * 37) % (w - 20), top + 5 + (i * 13) % (base.height - 10)]);
		const picked = points.map(([x, y]) => JSON.stringify(window.trc.hover(x, y)));
		let rows = 0, wrong = 0;
		for (let y = 0; y < base.height; y++) {
			if (!(moved[y * w] >>> 24))
				continue;
			rows++;
			for (let x = 0; x < w - shift; x++)
				wrong += Number(moved[y * w + x] !== before[y * w + x + shift]);
		}
		window.trc.redraw();
		const then = points.map(([x, y]) => JSON.stringify(window.trc.hover(x, y)));
		return {isExact, rows, share: wrong / rows / (w - shift), hits: picked.filter((hit) => hit !== "null").length, other: picked.filter((hit, i) => hit !== then[i]).length};
	}, by);

	check(!seen.isExact && seen.rows > 50, `${what}: after a step most rows are the last picture's`, seen);
	same(seen.share, 0, `${what}: which is moved by as much as the view`);
	check(seen.hits > 50 && seen.other === 0, `${what}: what is at a point is told of the range of now`, seen);
}

// A move that ends with a frame in which there was time for all: nothing stands in for strips any more, and nothing is kept for that.
async function restsWithout(page, what) {
	const seen = await page.evaluate(async () => {
		const canvas = document.getElementById("moved"), {span} = window.trc;
		window.trc.setView(span * 0.3, span * 0.6);
		await window.nextFrame();
		await window.nextFrame();
		const shown = !canvas.hidden && !window.trc.exact, own = canvas.width;
		window.clockStep = 0;
		window.trc.setView(span * 0.31, span * 0.61);
		for (let i = 0; i < 4; i++)
			await window.nextFrame();
		window.clockStep = 5;
		return {shown, own, base: document.getElementById("base").width, exact: window.trc.exact, hidden: canvas.hidden, width: canvas.width};
	});

	check(seen.shown && seen.own === seen.base, `${what}: something stands in for strips while the view moves`, seen);
	check(seen.exact && seen.hidden && seen.width === 1, `${what}: when the view rests nothing does, nor has pixels`, seen);
}

// A page without gaps: tracks that were scrolled are not drawn again where they are, but where they were cut off.
async function scrolls(page, what) {
	const seen = await page.evaluate(async () => {
		const box = document.getElementById("scroll"), seen = {most: box.scrollHeight - box.clientHeight, strips: 0, drawn: 0, different: 0};
		box.scrollTop = 0;
		await window.nextFrame();
		window.trc.redraw();
		for (const top of [9, 40, 11, 60, 0]) {
			window.drawn = [];
			box.scrollTop = top;
			await window.nextFrame();
			await window.nextFrame();
			await window.whenExact();
			seen.drawn += window.drawn.length;
			const before = window.pixelsOf("base");
			window.drawn = [];
			window.trc.redraw();
			seen.strips += window.drawn.length;
			seen.different += Number(window.pixelsOf("base").some((pixel, i) => pixel !== before[i]));
		}
		return seen;
	});

	check(seen.most >= 60, `${what}: there is something to scroll`, seen);
	check(seen.drawn > 0 && seen.drawn < seen.strips, `${what}: some tracks move along, others are drawn`, seen);
	same(seen.different, 0, `${what}: after scrolling each pixel is as if it was drawn at once`);
}

async function movesPage(context, name, fragment, {scale = 1, moves = false, size = null} = {}) {
	const page = await openPage(context, path.join(pages, name), fragment, size), what = `${name}${fragment}, ${scale} pixels to a pixel`;

	if (scale !== 1) {
		const cdp = await context.newCDPSession(page);
		await cdp.send("Emulation.setDeviceMetricsOverride", {width: 1303, height: 707, deviceScaleFactor: scale, mobile: false});
		await page.waitForFunction((ratio) => devicePixelRatio === ratio && document.getElementById("base").width > 1303 - 500, scale);
		await page.evaluate(() => new Promise((done) => setTimeout(done, 100)));
	}
	await slowClock(page);
	await restsExactly(page, what, movesRandom(amount(12, 6)));
	if (size)
		await scrolls(page, what);
	if (moves) {
		await drawsAll(page, what);
		await standsIn(page, what);
		await restsWithout(page, what);
	}
	same(page.troubles, [], `${what}: no trouble`);
	await page.close();
}

for (const scheme of someOf(["light", "dark"], 1))
	await withBrowser(scheme, async (context) => {
		await movesPage(context, "threads.html", "#sort=start", {moves: true});
		await movesPage(context, "threads.html", "");
		await movesPage(context, "threads.html", "#sort=start", {scale: 1.5});
		await movesPage(context, "known.html", "#sort=start");
		await movesPage(context, "fibers.html", "#sort=start", {size: {width: 900, height: 260}});
	});
console.log(`${results.passed} passed, ${results.failed} failed; TRC_SEED=${seed}`);
process.exit(results.failed ? 1 : 0);
