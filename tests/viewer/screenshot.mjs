// screenshot.mjs PAGES DIRECTORY [WORDS] - the pictures of the README and of docs/viewer.md, of pages that screenshot.sh made; whether they
// show what the document says.
//
// Beside the pictures it writes pictures.json: of each picture the words that the page itself shows in it.  With a third argument,
// the documentation's pictures.json, it says which of these pictures are old.
import {readFileSync, writeFileSync} from "node:fs";
import {check, openPage, results, same, settle, withBrowser} from "./browser_lib.mjs";

const [pages, directory, documented] = process.argv.slice(2);
const SIZE = {width: 1280, height: 680};

async function press(page, ...keys) {
	for (const key of keys) {
		await page.keyboard.press(key);
		await settle(page);
	}
}

// It opens by itself where the tracks leave room.
async function panelClosed(page) {
	if (await page.locator("#panel").isVisible())
		await press(page, "b");
}

// What the page says of its selection, and which it is.
function told(page) {
	return page.evaluate(() => ({...window.trc.told(), kind: window.trc.selection?.kind, arrows: window.trc.arrows}));
}

// The first match, or the first of this title.
async function search(page, words, title = null) {
	await press(page, "/");
	await page.keyboard.type(words);
	await press(page, "Enter");
	for (let n = 0; title && n < 500 && !title.test((await told(page)).title); n++)
		await press(page, "Enter");
	await press(page, "Escape");
	return told(page);
}

// What the finding of the lock leads to: the longest wait, and what is around it.  Where other programs have the procs, this comes first.
async function findingOfLock(page) {
	await page.locator("#details .said", {hasText: "settings"}).first().click();
	await settle(page);
	const {title, facts, kind, arrows} = await told(page);
	check(kind === "park" && /settings/.test(facts.Object), "the longest wait is for settings.lock", [kind, facts]);
	check(facts["Held by"] && facts["Woken by"] && arrows > 0, "lines lead to who held it and who gave it back", [title, facts, arrows]);
}

// The workers of memcached are among the first threads; what has waited all the time is one line.  Time without a processor counts for a
// thread's place: of a busy machine helpers that had none for longer than they ran may stand above.
async function workersFirst(page) {
	const [names, first] = await page.evaluate(() => {
		const {threads, shownThreads, share} = window.trc, all = threads();
		const starved = (idx) => all[idx].name !== "mc-worker" && share(idx, ["runnable"]) > share(idx, ["running"]);
		return [all.map(({name}) => name), shownThreads().filter((idx) => !starved(idx)).slice(0, 6).map((idx) => all[idx].name)];
	});

	check(names.filter((name) => name === "mc-worker").length === 4, "memcached has four workers", names);
	check(first.filter((name) => name === "mc-worker").length === 4, "they are on top", first); // main() and a busy helper may be among them
	check((await page.locator("body").textContent()).includes("idle threads"), "what is idle is one line");
}

async function panelHigh(page, height) {
	const edge = await page.locator("#panel-edge").boundingBox(), bottom = await page.locator("#panel").boundingBox();

	await page.mouse.move(edge.x + 200, edge.y + 2);
	await page.mouse.down();
	await page.mouse.move(edge.x + 200, bottom.y + bottom.height - height, {steps: 4});
	await page.mouse.up();
	await settle(page);
}

// What redis mostly does is to wait for requests: this stands below what it waited for otherwise, and is folded.
async function idleIsLast(page) {
	const tables = await page.evaluate(() => [...document.querySelectorAll("#tops details")].map((d) => ({heading: d.querySelector("summary").textContent,
		open: d.open, text: d.textContent})).filter(({heading}) => /wait/i.test(heading)));
	const at = (pattern) => tables.findIndex(({heading}) => pattern.test(heading)), idle = at(/requests, timers/), last = at(/^(Who made|Longest)/);

	check(idle > 0 && tables[idle].text.includes("epoll") && !tables[idle].open, "waits for requests are folded", tables.map(({heading}) => heading));
	for (const problem of [/locks$/, /other threads$/, /files and sockets$/])
		check(at(problem) < idle, `waits that ${problem} names stand above them`, tables.map(({heading}) => heading));
	check(tables.every(({heading, text}, i) => i === idle || /\bidle\b/i.test(heading) || !text.includes("epoll")), "and are in no other table", tables);
	check(last < 0 || last > idle, "which is the last of its kind", last);
}

const pictures = {
	timeline: ["demo", {width: 1280, height: 640}, findingOfLock],
	"viewer-procs": ["memcached", SIZE, async (page) => {
		await panelClosed(page);
		await workersFirst(page);
		const sent = await search(page, "send", /^send: waited /); // samples in the call are matches, too
		check(/^send: waited /.test(sent.title) && /^socket/.test(sent.facts.Object), "/send finds waits to send", sent);
		await press(page, "Escape", "o");
		const kinds = await page.evaluate(() => window.trc.procs.tracks().map(({kind, name}) => `${kind} ${name}`));
		check(kinds.some((kind) => /^proc /.test(kind)) && kinds.length >= 3, "O unfolds the procs", kinds);
		await press(page, "j", "i");
		const {begin, span} = await page.evaluate(() => window.trc);
		await page.evaluate(([t0, t1]) => window.trc.setView(t0, t1), [begin + (span - begin) * 0.1, begin + (span - begin) * 0.25]);
		const {title, kind} = await told(page);
		check(kind === "thread" && /mc-worker/.test(title), "J and I tell all about a worker", [kind, title]);
		const states = await page.locator("#details").textContent();
		check(["epoll", "send", "running"].every((state) => states.includes(state)), "its time by state", states.slice(0, 300));
	}],
	"viewer-flame": ["redis", SIZE, async (page) => {
		await press(page, "g");
		await page.evaluate(() => window.trc.flame.idle());
		await panelHigh(page, 330);
		const {kind, functions} = await page.evaluate(() => window.trc.flame.result);
		const named = ["main", "aeMain", "beforeSleep"].filter((name) => functions.some((fn) => fn.name === name));
		check(kind === "cpu" && named.length === 3, "G shows where the CPU time went", [kind, named]);
		await press(page, "ArrowDown", "ArrowDown", "ArrowDown");
		check(await page.evaluate(() => window.trc.flame.current), "arrows lead to a function");
		await idleIsLast(page);
	}],
	"viewer-file": ["redis", SIZE, async (page) => {
		await panelClosed(page);
		const {title, facts, stacks, kind} = await search(page, "appendonly.aof");
		check(kind === "park" && /^(fsync|write): waited /.test(title), "a file's name finds a wait", [kind, title]);
		check(/\.aof.* \(fd \d+\)/.test(facts.Object), "for this file", facts);
		check(Object.values(stacks)[0]?.length > 2, "with its stack", stacks);
	}],
	"viewer-locks": ["demo", SIZE, async (page) => {
		await press(page, "l");
		await panelHigh(page, 330);
		await press(page, "ArrowDown", "Enter", "Tab");
		const [first] = await page.evaluate(() => window.trc.locks.rows());
		check(/settings/.test(first.name) && first.waits > 1, "settings.lock is most waited for", first);
	}],
	"viewer-tasks": ["demo", SIZE, async (page) => {
		await press(page, "t");
		await panelHigh(page, 330);
		await page.locator("#panel-spans button", {hasText: "over time"}).click();
		await settle(page);
		check(await page.locator("#panel-spans canvas").count() > 0, "requests are drawn over time");
	}],
	"viewer-path": ["demo", SIZE, async (page) => {
		await press(page, "t");
		await page.locator("#panel-spans .spans button").first().click(); // the slowest
		await press(page, "b", "f");
		await page.locator("#details h3", {hasText: "Critical path"}).evaluate((heading) => heading.scrollIntoView());
	}],
	"viewer-sql": ["demo", SIZE, async (page) => {
		await press(page, "q", "ArrowDown");
		await panelHigh(page, 300);
		await page.locator(".sql textarea").fill("SELECT id, thread, reason, start_ns, waited_ns, chain(stack) AS place\n" +
			"FROM parks WHERE reason = 'mutex' ORDER BY waited_ns DESC LIMIT 100");
		await press(page, "Control+Enter");
		await page.waitForFunction(() => /rows in/.test(document.querySelector(".sql-state").textContent), null, {timeout: 60000});
		await press(page, "Escape", "ArrowDown", "Enter");
		const {kind, title} = await told(page);
		check(kind === "park" && /^mutex/.test(title), "Enter selects the wait", [kind, title]);
	}],
};

// ---- words ----

// What a picture shows of buttons, headings, names of facts and columns.  Steady: what stands in each page, whatever was recorded.
function wordsSeen(page) {
	return page.evaluate(() => {
		const inSight = (element) => {
			const {left, top, right, bottom} = element.getBoundingClientRect();
			return right > left && element.contains(document.elementFromPoint((left + right) / 2, (top + bottom) / 2));
		};
		const of = (selector) => [...new Set([...document.querySelectorAll(selector)].filter(inSight).map((element) => element.textContent.trim()))]
			.filter((each) => /\D/.test(each)).sort();
		return {steady: of("#bar button, #panel-tabs button, #findings-back"), others: of("button, h2, h3, dt, th, summary")};
	});
}

// Whether words are the program's, of a page's file: not a name of the trace's.
function ownOf(file) {
	const program = readFileSync(file, "utf8").replace(/<script[^>]* type=[^]*?<\/script>/g, "");

	return (words) => [`"${words}"`, `'${words}'`, `\`${words}\``, `>${words}<`].some((each) => program.includes(each));
}

// Pictures of the documentation that show words which the page no longer has, or lack those that each page has now.
function picturesAreNew(words) {
	const old = JSON.parse(readFileSync(documented, "utf8"));

	for (const [name, {steady, own, isOwn}] of words) {
		same(old[name]?.steady, steady, `${name}.png: buttons that each page has; make screenshot`);
		check(old[name]?.own.length > 0, `${name}.png: words of it are known`, own);
		same(old[name]?.own.filter((each) => !isOwn(each)), [], `${name}.png: words that the page no longer has; make screenshot`);
	}
}

const words = new Map();
await withBrowser("light", async (context) => {
	for (const [name, [trace, size, use]] of Object.entries(pictures)) {
		const page = await openPage(context, `${pages}/${trace}.html`, "", size);
		await use(page);
		await page.mouse.move(2, 2);
		await settle(page);
		await page.screenshot({path: `${directory}/${name}.png`});
		const {steady, others} = await wordsSeen(page), isOwn = ownOf(`${pages}/${trace}.html`);
		words.set(name, {steady, own: others.filter((each) => !steady.includes(each) && isOwn(each)), isOwn});
		check(page.troubles.length === 0, `${name}: no trouble`, page.troubles);
		await page.close();
	}
});
writeFileSync(`${directory}/pictures.json`, `${JSON.stringify(Object.fromEntries([...words].map(([name, {steady, own}]) => [name, {steady, own}])), null, "\t")}\n`);
if (documented)
	picturesAreNew(words);
console.log(`screenshot.mjs: ${results.passed} passed, ${results.failed} failed`);
process.exitCode = results.failed ? 1 : 0;
