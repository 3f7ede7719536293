// check.mjs TOP [--write] - the viewer's programs under TypeScript's checker and eslint: its types, and a few rules; and whether their
// modules import and export what they use (imports.mjs).  --write renews the import lines and `export` words first.

import {execFileSync} from "node:child_process";
import {mkdirSync, readFileSync, readdirSync, writeFileSync} from "node:fs";
import path from "node:path";
import {ESLint} from "eslint";
import {importTroubles} from "./imports.mjs";

const [top, option] = process.argv.slice(2);
const here = path.dirname(new URL(import.meta.url).pathname);
const modulesOf = (folder) => readdirSync(path.join(top, folder)).filter((name) => name.endsWith(".js")).sort().map((name) => `${folder}/${name}`);

const everywhere = ["clearTimeout", "console", "performance", "setInterval", "setTimeout", "Blob", "CompressionStream", "DecompressionStream", "AbortController",
	"MessageChannel", "Response", "TextDecoder", "TextEncoder", "URL", "URLSearchParams", "WebAssembly", "atob", "crypto", "fetch"];
const inWindows = [...everywhere, "document", "getComputedStyle", "history", "localStorage", "location", "matchMedia", "navigator",
	"queueMicrotask", "requestAnimationFrame", "sessionStorage", "window", "CustomEvent", "ImageData", "MutationObserver", "Path2D", "ResizeObserver", "Worker"];

const programs = {
	page: {files: modulesOf("viewer/assets").filter((file) => !file.endsWith("/sql_worker.js")), lib: "dom", types: ["viewer/assets/types.d.ts"], globals: inWindows},
	sql_worker: {files: ["viewer/assets/sql_values.js", "viewer/assets/sql_worker.js"], lib: "webworker", types: [], declared: "declare function initSqlJs(options: object): Promise<any>;",
		globals: [...everywhere, "self", "initSqlJs"]},
	frame: {files: modulesOf("viewer/serve"), lib: "dom", types: [], globals: inWindows},
};

// All flags of `strict` but strictNullChecks are on, with strictPropertyInitialization, which needs it.  Of noImplicitAny these files are not free
// yet (errors TS7...); one that has become so is to be taken out here, and a new one is never put in.
const loose = new Set([
	"address.js", "arrange.js", "carry.js", "counters.js", "data.js", "decode.js", "decode_worker.js", "details.js", "draw.js",
	"export.js", "fibers.js", "fibers_details.js", "findings.js", "first.js", "flame.js", "flame_draw.js", "flame_fold.js",
	"flame_items.js", "flame_marks.js", "flame_profile.js", "flame_select.js", "flame_ui.js", "follow.js", "format.js", "frame.js",
	"heat.js", "input.js", "levels.js", "lock_order.js", "locks.js", "lod.js", "main.js", "matches.js", "minimap.js", "now.js",
	"overlay.js", "palette.js", "panel.js", "paths.js", "procs.js", "rows.js", "samples.js", "search.js", "source.js", "spread.js",
	"sql.js", "sql_result.js", "sql_served.js", "sql_values.js", "sql_worker.js", "states.js", "tasks.js", "tops.js", "tracks.js",
	"zoom.js",
]);

// Whether a line of tsc is an error that is let be, and of which file; what is further in belongs to the line above.
function isLoose(line, found) {
	const [, name] = /^\S*?([\w.]+):\d+: error TS7\d{3}: /.exec(line) || [];

	if (loose.has(name))
		found.add(name);
	return loose.has(name);
}

function withoutLoose(lines, found) {
	let out = false;

	return lines.filter((line) => {
		out = /^\s/.test(line) ? out : isLoose(line, found);
		return !out;
	});
}

const rules = {
	"eqeqeq": "error", "no-undef": "error", "no-redeclare": "error", "no-var": "error", "prefer-const": ["error", {destructuring: "all"}],
	"no-unused-vars": ["error", {args: "after-used", caughtErrors: "all"}],
	"no-shadow": ["error", {hoist: "never"}], "no-fallthrough": "error", "no-self-compare": "error", "no-unreachable": "error",
	"no-unused-expressions": "off", "no-useless-return": "error", "no-dupe-keys": "error", "no-dupe-else-if": "error",
	"no-unsafe-finally": "error", "no-throw-literal": "error", "no-implied-eval": "error", "no-eval": "error", "use-isnan": "error",
};

function typeTroubles(name, {files, lib, types, declared = ""}, found) {
	const directory = `${here}/${name}`, options = {allowJs: true, checkJs: true, noEmit: true, target: "es2022", module: "es2022", moduleResolution: "bundler",
		moduleDetection: "force", lib: ["es2024", lib, ...lib === "dom" ? ["dom.iterable"] : []], types: [], strict: true, strictNullChecks: false,
		strictPropertyInitialization: false, noFallthroughCasesInSwitch: true, skipDefaultLibCheck: true};

	mkdirSync(directory, {recursive: true});
	writeFileSync(`${directory}/declared.d.ts`, declared);
	writeFileSync(`${directory}/tsconfig.json`, JSON.stringify({compilerOptions: options,
		files: ["declared.d.ts", ...[...types, ...files].map((file) => path.resolve(top, file))]}));
	try {
		execFileSync(process.execPath, [`${here}/node_modules/typescript/bin/tsc`, "--pretty", "false", "-p", directory], {encoding: "utf8", cwd: top});
		return [];
	} catch (error) {
		if (!error.stdout)
			throw error;
		return withoutLoose(error.stdout.trimEnd().split("\n").map((line) => line.replace(/^(\S+)\((\d+),\d+\)/, "$1:$2")), found);
	}
}

async function ruleTroubles(file, {globals}) {
	const eslint = new ESLint({cwd: here, overrideConfigFile: true, overrideConfig: [{files: ["**/*.js"], rules,
		linterOptions: {reportUnusedDisableDirectives: "error"},
		languageOptions: {ecmaVersion: "latest", sourceType: "module", globals: Object.fromEntries(globals.map((each) => [each, "readonly"]))}}]});
	const text = readFileSync(path.join(top, file), "utf8"), lines = text.split("\n");
	const [{messages}] = await eslint.lintText(text, {filePath: path.basename(file)});

	return messages.map(({line, message, ruleId}) => `${file}:${line}: ${message} (${ruleId || "syntax"})`);
}

let bad = 0;
const found = new Set();
const lists = Object.values(programs).map(({files}) => files), imports = importTroubles(top, lists, option === "--write");
imports.forEach((line) => console.log(line));
bad += imports.length;
console.log(`${imports.length ? "not ok" : "ok"} - imports and exports of ${new Set(lists.flat()).size} modules`);
for (const [name, program] of Object.entries(programs)) {
	const troubles = [...typeTroubles(name, program, found), ...(await Promise.all(program.files.map((file) => ruleTroubles(file, program)))).flat()];
	troubles.forEach((line) => console.log(line));
	bad += troubles.length;
	console.log(`${troubles.length ? "not ok" : "ok"} - ${name}: ${program.files.length} files, types and rules`);
}
for (const name of loose)
	if (!found.has(name)) {
		console.log(`${name} has no implicit any: take it out of the list in check.mjs`);
		bad++;
	}
process.exit(bad ? 1 : 0);
