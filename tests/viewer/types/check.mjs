// check.mjs TOP MODULE... - the viewer's programs under TypeScript's checker and eslint: its types, and a few rules.
//
// The modules of the page have one scope (viewer/embed.sh).  So they are joined here as they are there; what the checkers say of a
// line of the whole is told of the module's line.

import {execFileSync} from "node:child_process";
import {mkdirSync, readFileSync, writeFileSync} from "node:fs";
import path from "node:path";
import {ESLint} from "eslint";

const [top, ...modules] = process.argv.slice(2);
const here = path.dirname(new URL(import.meta.url).pathname);

const everywhere = ["clearTimeout", "console", "performance", "setInterval", "setTimeout", "Blob", "CompressionStream", "DecompressionStream", "AbortController",
	"MessageChannel", "Response", "TextDecoder", "TextEncoder", "URL", "URLSearchParams", "WebAssembly", "atob", "crypto", "fetch"];
const inWindows = [...everywhere, "document", "getComputedStyle", "history", "localStorage", "location", "matchMedia", "navigator",
	"queueMicrotask", "requestAnimationFrame", "sessionStorage", "window", "CustomEvent", "ImageData", "MutationObserver", "Path2D", "ResizeObserver", "Worker"];

const programs = {
	page: {files: modules, lib: "dom", types: ["viewer/assets/types.d.ts"], globals: inWindows},
	sql_worker: {files: ["viewer/assets/sql_values.js", "viewer/assets/sql_worker.js"], lib: "webworker", types: [], declared: "declare function initSqlJs(options: object): Promise<any>;",
		globals: [...everywhere, "self", "initSqlJs"]},
	frame: {files: ["viewer/serve/follow.js", "viewer/serve/zoom.js", "viewer/serve/frame.js"], lib: "dom", types: [], globals: inWindows},
};

const rules = {
	"eqeqeq": "error", "no-undef": "error", "no-redeclare": "error", "no-var": "error", "prefer-const": ["error", {destructuring: "all"}],
	"no-unused-vars": ["error", {args: "after-used", caughtErrors: "all"}],
	"no-shadow": ["error", {hoist: "never"}], "no-fallthrough": "error", "no-self-compare": "error", "no-unreachable": "error",
	"no-unused-expressions": "off", "no-useless-return": "error", "no-dupe-keys": "error", "no-dupe-else-if": "error",
	"no-unsafe-finally": "error", "no-throw-literal": "error", "no-implied-eval": "error", "no-eval": "error", "use-isnan": "error",
};

// The files as one function, and by line of the whole [file, line].
function joined(files) {
	const lines = ["(() => {", '"use strict";'], origin = [null, null];

	for (const file of files)
		readFileSync(path.join(top, file), "utf8").replace(/\n$/, "").split("\n").forEach((line, i) => {
			lines.push(line);
			origin.push(`${file}:${i + 1}`);
		});
	return {text: [...lines, "})();", ""].join("\n"), origin};
}

function typeTroubles(directory, name, {lib, types, declared = ""}, origin) {
	const options = {allowJs: true, checkJs: true, noEmit: true, target: "es2022", module: "none", moduleDetection: "legacy",
		lib: ["es2024", lib, ...lib === "dom" ? ["dom.iterable"] : []], types: [], strict: false, noImplicitThis: true, noFallthroughCasesInSwitch: true,
		strictBindCallApply: true, useUnknownInCatchVariables: false, skipDefaultLibCheck: true};

	writeFileSync(`${directory}/declared.d.ts`, declared);
	writeFileSync(`${directory}/tsconfig.json`, JSON.stringify({compilerOptions: options,
		files: [`${name}.js`, "declared.d.ts", ...types.map((file) => path.relative(directory, path.resolve(top, file)))]}));
	try {
		execFileSync(process.execPath, [`${here}/node_modules/typescript/bin/tsc`, "--pretty", "false", "-p", directory], {encoding: "utf8", cwd: directory});
		return [];
	} catch (error) {
		if (!error.stdout)
			throw error;
		return error.stdout.trimEnd().split("\n").map((line) => line.replace(/^(\S+\.js)\((\d+),\d+\)/, (whole, file, at) =>
			file.endsWith(`${name}.js`) ? origin[at - 1] || whole : whole));
	}
}

async function ruleTroubles(name, {globals}, text, origin) {
	const eslint = new ESLint({cwd: here, overrideConfigFile: true, overrideConfig: [{files: ["**/*.js"], rules,
		linterOptions: {reportUnusedDisableDirectives: "error"},
		languageOptions: {ecmaVersion: "latest", sourceType: "script", globals: Object.fromEntries(globals.map((each) => [each, "readonly"]))}}]});
	const [{messages}] = await eslint.lintText(text, {filePath: `${name}.js`});

	// A variable may have the name of something in another module: nobody who reads this one takes it for that.
	const isElsewhere = ({line, message}) => {
		const [, above] = /declared in the upper scope on line (\d+)/.exec(message) || [];
		return above && origin[above - 1]?.split(":")[0] !== origin[line - 1]?.split(":")[0];
	};

	return messages.filter((each) => !isElsewhere(each)).map(({line, message, ruleId}) => `${origin[line - 1] || `line ${line} of ${name}`}: ${message} (${ruleId || "syntax"})`);
}

let bad = 0;
for (const [name, program] of Object.entries(programs)) {
	const directory = `${here}/${name}`, {text, origin} = joined(program.files);

	mkdirSync(directory, {recursive: true});
	writeFileSync(`${directory}/${name}.js`, text);
	const troubles = [...typeTroubles(directory, name, program, origin), ...await ruleTroubles(name, program, text, origin)];
	troubles.forEach((line) => console.log(line));
	bad += troubles.length;
	console.log(`${troubles.length ? "not ok" : "ok"} - ${name}: ${program.files.length} files, types and rules`);
}
process.exit(bad ? 1 : 0);
