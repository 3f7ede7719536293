// screenshot.mjs PAGES DIRECTORY - the pictures of the README and of docs/viewer.md, of pages that screenshot.sh made.
import {openPage, settle, withBrowser} from "./browser_lib.mjs";

const [pages, directory] = process.argv.slice(2);
const SIZE = {width: 1280, height: 680};

async function press(page, ...keys) {
	for (const key of keys) {
		await page.keyboard.press(key);
		await settle(page);
	}
}

// What the first finding leads to: the longest wait, and what is around it.
async function firstFinding(page) {
	await page.locator("#details .said").first().click();
	await settle(page);
}

async function panelHigh(page, height) {
	const edge = await page.locator("#panel-edge").boundingBox(), bottom = await page.locator("#panel").boundingBox();

	await page.mouse.move(edge.x + 200, edge.y + 2);
	await page.mouse.down();
	await page.mouse.move(edge.x + 200, bottom.y + bottom.height - height, {steps: 4});
	await page.mouse.up();
	await settle(page);
}

const pictures = {
	timeline: ["demo", {width: 1280, height: 640}, firstFinding],
	"viewer-procs": ["memcached", SIZE, async (page) => {
		await press(page, "o");
		const {begin, span} = await page.evaluate(() => window.trc);
		await page.evaluate(([t0, t1]) => window.trc.setView(t0, t1), [begin + (span - begin) * 0.1, begin + (span - begin) * 0.25]);
		await press(page, "j", "i");
	}],
	"viewer-flame": ["redis", SIZE, async (page) => {
		await press(page, "g");
		await page.evaluate(() => window.trc.flame.idle());
		await panelHigh(page, 330);
		await press(page, "ArrowDown", "ArrowDown", "ArrowDown");
	}],
	"viewer-locks": ["demo", SIZE, async (page) => {
		await press(page, "l");
		await panelHigh(page, 330);
		await press(page, "ArrowDown", "Enter", "Tab");
	}],
	"viewer-tasks": ["demo", SIZE, async (page) => {
		await press(page, "t");
		await panelHigh(page, 330);
		await page.locator("#panel-spans button", {hasText: "over time"}).click();
		await settle(page);
	}],
	"viewer-sql": ["demo", SIZE, async (page) => {
		await press(page, "q", "ArrowDown");
		await panelHigh(page, 300);
		await page.locator(".sql textarea").fill("SELECT id, thread, reason, start_ns, waited_ns, chain(stack) AS place\n" +
			"FROM parks WHERE reason = 'mutex' ORDER BY waited_ns DESC LIMIT 100");
		await press(page, "Control+Enter");
		await page.waitForFunction(() => /rows in/.test(document.querySelector(".sql-state").textContent), null, {timeout: 60000});
		await press(page, "Escape", "ArrowDown", "Enter");
	}],
};

await withBrowser("light", async (context) => {
	for (const [name, [trace, size, use]] of Object.entries(pictures)) {
		const page = await openPage(context, `${pages}/${trace}.html`, "", size);
		await use(page);
		await page.mouse.move(2, 2);
		await settle(page);
		await page.screenshot({path: `${directory}/${name}.png`});
		await page.close();
	}
});
