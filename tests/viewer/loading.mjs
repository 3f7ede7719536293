// loading.mjs - how a page loads: with a sketch of many threads, with one that is damaged, in a browser that gives it no worker,
// while the theme changes, and with the modules of viewer/assets in the place of the one script that is made of them.
//
//   node loading.mjs DIRECTORY ASSETS

import {readFileSync, rmSync, writeFileSync} from "node:fs";
import path from "node:path";
import {deflateSync, inflateSync} from "node:zlib";
import {check, openPage, results, same, seed, settle, someOf, withBrowser} from "./browser_lib.mjs";

const [pages, assets] = process.argv.slice(2).map((name) => path.resolve(name));
const sketched = path.join(pages, "threads.html"), small = path.join(pages, "known.html");

// What is in the strip with the whole trace.
function overview(page) {
	return page.evaluate(() => document.getElementById("map").toDataURL());
}

async function isWhole(page, what) {
	same(await page.evaluate(() => [document.documentElement.dataset.trcReady, document.documentElement.dataset.trcFailed ?? null,
		document.getElementById("loading") === null, document.getElementById("app").hidden]), ["1", null, true, false], `${what}: the page loads`);
	same(page.troubles, [], `${what}: no trouble`);
}

// Cells of a sketch are wide here; the overview becomes that of the page.
async function sketchOfThreads(context) {
	const page = await openPage(context, sketched, "", {width: 2600, height: 800}), before = await overview(page);
	const timing = await page.evaluate(() => window.trc.timing);

	await isWhole(page, "a sketch of 3,000 threads");
	check(timing.sketched > 0 && timing.sketched < timing.loaded, "a sketch was drawn", timing);
	for (let i = 0; i < 2; i++) {
		await page.locator("#theme").click();
		await settle(page);
	}
	check(await overview(page) === before, "the overview is that of the page, as it is when drawn again");
	await page.close();
}

// Whether the first sketch was drawn, and the page loads nevertheless.
async function damagedSketches(context) {
	const whole = readFileSync(sketched, "latin1"), element = /(<script type="application\/json" id="first">)([^<]*)(<\/script>)/;
	const first = JSON.parse(element.exec(whole)[2]), file = path.join(pages, "damaged.html");
	const cells = inflateSync(Buffer.from(first.cells, "base64")), deflated = (bytes) => deflateSync(bytes).toString("base64");

	for (const [what, json] of someOf([["no JSON", "{"], ["no threads", "{}"], ["cells that are no base64", JSON.stringify({...first, cells: "?"})],
		["cells that are cut off", JSON.stringify({...first, cells: first.cells.slice(0, 40)})], ["steps that are none", JSON.stringify({...first, steps: -1})],
		["too few cells", JSON.stringify({...first, cells: deflated(cells.subarray(0, 40))})],
		["states that are none", JSON.stringify({...first, cells: deflated(Buffer.alloc(cells.length, 255))})]], 2)) {
		writeFileSync(file, whole.replace(element, (_, a, b, c) => a + json + c), "latin1");
		const page = await openPage(context, file);
		await isWhole(page, `a sketch with ${what}`);
		await page.close();
	}
	rmSync(file);
}

// Before the columns are there the system's theme changes.
async function themeWhileLoading(context) {
	for (const file of [sketched, small]) {
		const page = await context.newPage(), errors = [];
		page.on("pageerror", (error) => errors.push(error.message));
		await page.addInitScript(() => document.addEventListener("DOMContentLoaded", () => document.getElementById("theme").click(), true));
		await page.goto(`file://${file}`);
		await page.waitForFunction(() => document.documentElement.dataset.trcReady).catch(() =>
			check(false, "a theme that changes while the page loads does not stop it"));
		same(errors, [], "a theme that changes while the page loads: no error");
		await page.close();
	}
}

// Browsers that give the page no worker: at once, some time later, or since the page's policy forbids it.
async function workerRefused(context) {
	const refusing = {
		"that throws": () => { window.Worker = class { constructor() { throw new Error("refused"); } }; },
		"that fails": () => {
			window.Worker = class {
				constructor() { Promise.resolve().then(() => this.onerror(new Event("error"))); }
				postMessage() { throw new Error("it has not said hello"); }
			};
		},
		"that fails late": () => {
			window.Worker = class {
				constructor() { setTimeout(() => this.onerror(new Event("error")), 300); }
				postMessage() { throw new Error("it has not said hello"); }
			};
		},
		"that is forbidden": null,
	};
	const whole = readFileSync(small, "latin1"), forbidden = path.join(pages, "forbidden.html");
	const open = async (file, script) => {
		const page = await context.newPage();
		page.troubles = [];
		page.on("pageerror", (error) => page.troubles.push(error.stack));
		if (script)
			await page.addInitScript(script);
		await page.goto(`file://${file}`);
		await page.waitForFunction(() => document.documentElement.dataset.trcReady || document.documentElement.dataset.trcFailed)
			.catch(() => {});
		return page;
	};
	const counts = (page) => page.evaluate(() => window.trc && window.trc.counts), page = await open(small, null), wanted = await counts(page);

	await page.close();
	check(whole.includes("worker-src blob:"), "the page's policy allows workers");
	writeFileSync(forbidden, whole.replace("worker-src blob:", "worker-src 'none'"), "latin1");
	for (const [what, script] of Object.entries(refusing)) {
		const refused = await open(script ? small : forbidden, script);
		await isWhole(refused, `a worker ${what}`);
		same(await counts(refused), wanted, `a worker ${what}: all rows are there`);
		await refused.close();
	}
	rmSync(forbidden);
}

// The browser itself joins the modules.  No server is there: what it asks for is answered by Playwright.
async function asModules(context) {
	const ORIGIN = "http://127.0.0.1:9";

	for (const file of [small, sketched]) {
		const joined = await openPage(context, file), told = (page) => page.evaluate(() => [window.trc.counts, window.trc.threads(), window.trc.span]);
		const wanted = await told(joined), pixels = await overview(joined), asked = new Set();
		const one = /(id="decoder">[^<]*(?:<(?!\/script)[^<]*)*<\/script>\n)<script>[^]*?<\/script>/, policy = /<meta http-equiv="Content-Security-Policy"[^>]*>/;
		const whole = readFileSync(file, "latin1");
		check(one.test(whole) && policy.test(whole), "the page has one script and a policy");
		const body = Buffer.from(whole.replace(policy, "").replace(one, (_, before) => `${before}<script type="module" src="main.js"></script>`), "latin1");
		await joined.close();

		const page = await context.newPage();
		page.troubles = [];
		page.on("pageerror", (error) => page.troubles.push(error.stack));
		await page.route(`${ORIGIN}/**`, (route) => {
			const name = path.basename(new URL(route.request().url()).pathname);
			asked.add(name);
			return name === "page.html" ? route.fulfill({contentType: "text/html", body})
				: /^\w+\.js$/.test(name) ? route.fulfill({contentType: "text/javascript", path: path.join(assets, name)}) : route.fulfill({status: 404});
		});
		await page.goto(`${ORIGIN}/page.html`);
		await page.waitForFunction(() => document.documentElement.dataset.trcReady || document.documentElement.dataset.trcFailed).catch(() => {});
		await isWhole(page, `modules, ${path.basename(file)}`);
		await settle(page);
		check(asked.has("main.js") && asked.size > 60, "the browser fetches modules", asked.size);
		same(await told(page), wanted, "modules show what the script shows");
		check(await overview(page) === pixels, "modules draw what the script draws");
		await page.close();
	}
}

await withBrowser("light", async (context) => {
	await sketchOfThreads(context);
	await damagedSketches(context);
	await themeWhileLoading(context);
	await workerRefused(context);
	await asModules(context);
});
console.log(`${results.passed} passed, ${results.failed} failed; TRC_SEED=${seed}`);
process.exit(results.failed ? 1 : 0);
