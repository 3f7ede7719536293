// screenshot.mjs PAGE PNG - a picture of the timeline of docs/examples/trc-demo.c for the README.
import {openPage, settle, withBrowser} from "./browser_lib.mjs";

const [file, png] = process.argv.slice(2);

await withBrowser("light", async (context) => {
	const page = await openPage(context, file);
	await page.setViewportSize({width: 1280, height: 640});
	// What the first finding leads to: the longest wait, and what is around it.
	await page.locator("#details button").first().click();
	await settle(page);
	await page.mouse.move(2, 2);
	await settle(page);
	await page.screenshot({path: png});
});
