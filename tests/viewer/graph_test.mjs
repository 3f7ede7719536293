// graph_test.mjs - run by modules.sh: the page's modules import each other in circles, so which begins first depends on which is asked
// for.  Whichever it is, none uses what has not begun.  A run with CI_SEED tries some of them, the next run others.

import assert from "node:assert/strict";
import {readFileSync, readdirSync} from "node:fs";
import {test} from "node:test";
import {Worker} from "node:worker_threads";

const folder = new URL("../../viewer/assets/", import.meta.url), stub = new URL("page_stub.mjs", import.meta.url);
const ENTRY = "main.js", WORKER = "sql_worker.js"; // these do more than to begin: one starts the page, one a worker
const TURNS = 5, isTurn = process.env.CI_SEED && process.env.CI_WHOLE !== "yes";
const modules = readdirSync(folder).filter((name) => name.endsWith(".js") && name !== ENTRY && name !== WORKER);

// Imports the modules in a thread of its own, one after the other; "" = all began, else what went wrong.
function begun(names) {
	const imports = [stub, ...names.map((name) => new URL(name, folder))].map((url) => `await import(${JSON.stringify(String(url))});`);
	const worker = new Worker(`(async () => { ${imports.join(" ")} })()`, {eval: true});

	return new Promise((resolve) => {
		worker.on("error", (error) => resolve(`${error}`));
		worker.on("exit", () => resolve(""));
	});
}

test("each module can be the first", async () => {
	assert.ok(modules.length > 60);
	for (const name of modules.filter((_, i) => !isTurn || (i + Number(process.env.CI_SEED)) % TURNS === 0))
		assert.equal(await begun([name]), "", name);
});

test("they begin in the order of main.js", async () => {
	const imported = Array.from(readFileSync(new URL(ENTRY, folder), "utf8").matchAll(/ from "\.\/(.*)";$/gm), ([, name]) => name);

	assert.ok(imported.length > 10);
	assert.equal(await begun(imported), "");
});
