// browser_fibers.mjs - a page with fibers, for browser.mjs.

import path from "node:path";
import {addresses, check, colourAt, detailsOf, openPage, pointOf, same, settle} from "./browser_lib.mjs";

const pages = path.resolve(process.argv[2]);
const MS = 1e6;

// fibers.html comes from fibers.txt.  parser #2 (1 ms on sched-a, 1.5 ms on sched-b) waits from 4 ms on,
// is readied by parser #3 at 5 ms, and goes on at 5.5 ms.
async function showsFibers(page) {
	const [SCHED_A, SCHED_B] = [1, 2];
	const at = (thread, ms, kind = "fiberrun") => pointOf(page, thread, ms * MS, kind);
	const picked = (point) => page.evaluate(([x, y]) => window.trc.pick(x, y), [point.x, point.y]);
	const colours = [];

	for (const [thread, ms] of [[SCHED_A, 3.8], [SCHED_A, 7], [SCHED_B, 5], [SCHED_A, 2.8], [SCHED_A, 5]])
		colours.push(await colourAt(page, await at(thread, ms), 5)); // below the text
	check(colours[0] === colours[1] && colours[1] === colours[2], "fibers of one name have one colour", colours);
	check(colours[3] !== colours[0] && colours[4] !== colours[0] && colours[3] !== colours[4],
		"another name has another, and the root fiber none", colours);
	same([await picked(await at(SCHED_A, 3.5)), await picked(await at(SCHED_B, 6)), await picked(await at(SCHED_A, 5))],
		[{kind: "fiberrun", id: 3}, {kind: "fiberrun", id: 4}, null], "runs of fibers lie on the threads they ran on");
	same([await picked(await at(SCHED_A, 2.5, "region")), await picked(await at(SCHED_A, 6.5, "region")),
		await picked(await at(SCHED_A, 8.3, "region"))], [{kind: "region", id: 1}, null, {kind: "region", id: 1}],
	"a region is drawn when its fiber ran");
	same([await picked(await at(SCHED_A, 3.5, "region")), await picked(await at(SCHED_A, 5, "region")),
		await picked(await at(SCHED_B, 5.2, "region")), await picked(await at(SCHED_B, 6, "region"))],
	[{kind: "region", id: 2}, null, null, {kind: "region", id: 2}], "and where it ran");
	same(await Promise.all([9.1, 9.25, 9.35, 9.6].map(async (ms) => picked(await at(SCHED_A, ms, "region")))),
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

export async function fibersPage(context) {
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
