// browser_lib.mjs - a browser, a page from disk, and checks that are counted.

import {mkdtempSync, rmSync} from "node:fs";
import {tmpdir} from "node:os";
import path from "node:path";
import {chromium} from "playwright-core";

const FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
	"--disable-background-networking", "--disable-component-update", "--disable-sync"];

// How long a page may take for anything: a limit that ends what hangs, on any machine.
export const PATIENCE_MS = 300000;

export const results = {passed: 0, failed: 0};

// TRC_SEED repeats what a test drew at random, CI_SEED what all tests of a run did.
export const seed = Number(process.env.TRC_SEED || process.env.CI_SEED || Date.now() % 1000000007);
let random = seed;

// A whole number from 0 on, less than n.
export function draw(n) {
	random = (Math.imul(random, 1664525) + 1013904223) >>> 0;
	return Math.floor(random / 4294967296 * n);
}

// How much a test does of what it draws at random: in a run with a seed a part, another one each time (docs/hacking.md).
export function amount(whole, part) {
	return process.env.CI_SEED && process.env.CI_WHOLE !== "yes" ? part : whole;
}

// So many of a list, in its order; all of them where there is no CI_SEED.
export function someOf(list, part) {
	const left = [...list];

	for (let n = left.length - amount(left.length, part); n > 0; n--)
		left.splice(draw(left.length), 1);
	return left;
}

export function check(condition, what, seen) {
	if (condition) {
		results.passed++;
		return;
	}
	results.failed++;
	console.log(`FAILED: ${what}` + (seen === undefined ? "" : `: ${JSON.stringify(seen)}`));
}

export function same(seen, wanted, what) {
	check(JSON.stringify(seen) === JSON.stringify(wanted), `${what}: wanted ${JSON.stringify(wanted)}`, seen);
}

// Runs `use` with a fresh browser of its own profile.
export async function withBrowser(scheme, use) {
	const profile = mkdtempSync(path.join(tmpdir(), "trc-browser-"));
	const context = await chromium.launchPersistentContext(profile, {
		executablePath: process.env.TRC_BROWSER, headless: true, args: FLAGS,
		viewport: {width: 1400, height: 800}, colorScheme: scheme, deviceScaleFactor: 1,
	});
	context.setDefaultTimeout(PATIENCE_MS);
	try {
		await use(context);
	} finally {
		await context.close();
		rmSync(profile, {recursive: true, force: true});
	}
}

// Opens a page and waits until it is drawn; remembers everything it should not have done.
export async function openPage(context, file, fragment = "", size = null) {
	const page = await context.newPage();
	if (size)
		await page.setViewportSize(size);
	const url = `file://${file}`;

	page.troubles = [];
	page.on("console", (m) => ["error", "warning"].includes(m.type()) && page.troubles.push(m.text()));
	page.on("pageerror", (e) => page.troubles.push(e.stack));
	page.on("dialog", (d) => { page.troubles.push(`dialog ${d.message()}`); d.dismiss(); });
	page.on("request", (r) => r.url().split("#")[0] === url ||
		r.url().startsWith("blob:") || page.troubles.push(`request ${r.url()}`));
	const begun = performance.now();
	await page.goto(url + fragment);
	await page.waitForFunction(() => document.documentElement.dataset.trcReady ||
		document.documentElement.dataset.trcFailed);
	page.openMs = performance.now() - begun;
	await settle(page);
	return page;
}

// Two frames: whatever was asked for has been drawn.
export function settle(page) {
	return page.evaluate(() => new Promise((done) =>
		requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done, 20)))));
}

// Waits until something holds in a page; false if it does not in the time.
export function holds(page, condition, argument) {
	return page.waitForFunction(condition, argument).then(() => true, () => false);
}

// Where a thread (by index) is at a time, on the page: the middle of its lane of states, or of another one.
export function pointOf(page, thread, ns, kind = "state", depth = 0) {
	return page.evaluate(([t, at, k, d]) => window.trc.pointOf(t, at, k, d), [thread, ns, kind, depth]);
}

// How far from the middle of a lane its edges are: there is no text, and at the lower one there may be stripes.
export const upperEdge = ({h}) => 2 - h / 2;
export const lowerEdge = ({h}) => h / 2 - 1.5;

// The colour of the timeline at a point of the page, as "r,g,b"; dy moves it.
export function colourAt(page, point, dy = 0) {
	return page.evaluate(([x, y]) => {
		const canvas = document.getElementById("base");
		const box = canvas.getBoundingClientRect();
		const copy = document.createElement("canvas");
		copy.width = copy.height = 1;
		const ctx = copy.getContext("2d");
		ctx.drawImage(canvas, Math.round(x - box.left), Math.round(y - box.top), 1, 1, 0, 0, 1, 1);
		return [...ctx.getImageData(0, 0, 1, 1).data].slice(0, 3).join(",");
	}, [point.x, point.y + dy]);
}

// The colour that the legend gives a state, as "r,g,b".
export function stateColour(page, state) {
	return page.evaluate((name) => {
		const hex = window.trc.stateColour(name).slice(1);
		return [0, 2, 4].map((i) => parseInt(hex.slice(i, i + 2), 16)).join(",");
	}, state);
}

// What is written on canvases when all is drawn again: with the size of its font, and of the timeline's texts what lies at either end.
export function textsDrawn(page) {
	return page.evaluate(() => {
		const {prototype} = CanvasRenderingContext2D, {fillText} = prototype, drawn = [];
		prototype.fillText = function(text, x, y) {
			if (text)
				drawn.push({canvas: this.canvas.id, text, px: Number(/([\d.]+)px/.exec(this.font)[1]), x, y, width: this.measureText(text).width});
			fillText.call(this, text, x, y);
		};
		window.trc.redraw();
		prototype.fillText = fillText;
		const {left, top} = document.getElementById("canvases").getBoundingClientRect();
		const at = (x, y) => {
			const {kind, id} = window.trc.hover(left + x, top + y) || {};
			return kind && `${kind} ${id}`;
		};
		return drawn.map((text) => text.canvas === "base" ? {...text, ends: [at(text.x + 1, text.y), at(text.x + text.width - 1, text.y)]} : text);
	});
}

// Texts that elements show, with the size of their font: smaller ones than that.
export function smallTexts(page, least) {
	return page.evaluate((px) => {
		const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT), small = [];
		let n = 0;
		for (let node = walker.nextNode(); node; node = walker.nextNode()) {
			const element = node.parentElement;
			if (!node.data.trim() || element.closest("script, style") || !element.checkVisibility() || !element.getClientRects().length)
				continue;
			n++;
			const size = parseFloat(getComputedStyle(element).fontSize);
			if (size < px)
				small.push([size, node.data.trim().slice(0, 40), element.closest("[id]")?.id]);
		}
		for (const field of document.querySelectorAll("input, textarea, select"))
			if (field.checkVisibility() && parseFloat(getComputedStyle(field).fontSize) < px)
				small.push([getComputedStyle(field).fontSize, field.id]);
		return {n, small};
	}, least);
}

// What stands in empty fields, or on what is off, with less contrast than that (WCAG 2.1) to what is behind it, in either theme:
// {n: how many of both there are, faint: [contrast, theme, text]}.
export function faintTexts(page, ofFields, ofOff) {
	return page.evaluate(([fields, off]) => {
		const root = document.documentElement, {theme} = root.dataset, faint = [], n = {fields: 0, off: 0};
		const numbers = (css) => css.match(/[\d.]+/g).map(Number), light = (rgb) => rgb.slice(0, 3).map((v) => v / 255)
			.map((v) => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4).reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0.05);
		const behind = (element) => {
			const css = getComputedStyle(element).backgroundColor;
			return numbers(css)[3] === 0 ? behind(element.parentElement) : numbers(css);
		};
		const look = (wanted, style, element, opacity, text) => {
			const ground = behind(element), seen = numbers(style.color).slice(0, 3).map((v, i) => v * opacity + ground[i] * (1 - opacity));
			const ratio = light(seen) / light(ground), contrast = Math.max(ratio, 1 / ratio);
			if (contrast < wanted)
				faint.push([Math.round(contrast * 100) / 100, root.dataset.theme, text]);
		};
		for (root.dataset.theme of ["light", "dark"]) {
			for (const field of document.querySelectorAll("input[placeholder], textarea[placeholder]")) {
				n.fields++;
				look(fields, getComputedStyle(field, "::placeholder"), field, 1, field.placeholder);
			}
			for (const element of document.querySelectorAll(":is(button, select):disabled")) {
				const style = getComputedStyle(element);
				if (!element.checkVisibility({visibilityProperty: true}))
					continue;
				n.off++;
				look(off, style, element, Number(style.opacity), element.title || element.textContent);
			}
		}
		if (theme)
			root.dataset.theme = theme;
		else
			delete root.dataset.theme;
		return {n, faint};
	}, [ofFields, ofOff]);
}

// Texts of elements that are cut with a mark before their seventh character: [text, pixels that they have, pixels that they need].
export function shortCuts(page) {
	return page.evaluate(() => {
		const ctx = document.createElement("canvas").getContext("2d"), found = [];
		for (const element of document.querySelectorAll("body *")) {
			const style = getComputedStyle(element), string = element.textContent.trim();
			if (style.textOverflow !== "ellipsis" || element.scrollWidth <= element.clientWidth || string.length <= 6 || !element.checkVisibility() ||
					!element.getClientRects().length)
				continue;
			ctx.font = style.font;
			const needs = ctx.measureText(`${string.slice(0, 6)}…`).width;
			const has = element.clientWidth - parseFloat(style.paddingLeft) - parseFloat(style.paddingRight);
			if (has < needs)
				found.push([string.slice(0, 40), Math.round(has), Math.round(needs)]);
		}
		return found;
	});
}

export function viewOf(page) {
	return page.evaluate(() => window.trc.view);
}

export function detailsOf(page) {
	return page.evaluate(() => document.getElementById("details").innerText);
}

// What is selected has an address, which leads to it.
export async function addresses(page, selections) {
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
