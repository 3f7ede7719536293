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

// Where a thread (by index) is at a time, on the page.
export function pointOf(page, thread, ns) {
	return page.evaluate(([t, at]) => window.trc.pointOf(t, at), [thread, ns]);
}

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

export function viewOf(page) {
	return page.evaluate(() => window.trc.view);
}

export function detailsOf(page) {
	return page.evaluate(() => document.getElementById("details").innerText);
}
