// imports.mjs - the import lines of the viewer's programs, and which of their names are exported: both follow from the names that each
// file uses, so that nobody has to keep them by hand.  check.mjs has them checked, or with --write renewed.
//
// The form, which viewer/embed.sh takes out again: after the first paragraph, which says what the file is for, a paragraph of imports, by
// file and name, in lines of at most 100 columns; and `export ` before a declaration at a line's begin of which another file or a unit
// test uses a name.  A name is never changed on its way, and never assigned by a file that imports it.

import {readFileSync, readdirSync, writeFileSync} from "node:fs";
import path from "node:path";
import {Linter} from "eslint";

const COLUMNS = 100, TAB = 8;
const width = (line) => line.length + (TAB - 1) * line.split("\t").length - (TAB - 1);

// A file without its imports and exports.
function plain(source) {
	const lines = source.split("\n"), kept = [];
	let isImport = false, wasImport = false;

	for (const line of lines) {
		isImport ||= line.startsWith("import ");
		if (!isImport && !(wasImport && line === ""))
			kept.push(line.replace(/^export (?=(async|class|const|function|let)[ *])/, ""));
		wasImport = isImport || wasImport && !kept.length;
		if (isImport && line.endsWith(";"))
			isImport = false;
	}
	return kept.join("\n");
}

// The names that a file declares at its top, each with the line of its statement, and the names that it uses but does not declare.
function namesOf(text, file) {
	const own = new Map(), uses = new Map(), linter = new Linter();
	const rule = {create: ({sourceCode}) => ({"Program:exit": () => {
		const [scope, module] = [sourceCode.scopeManager.globalScope, sourceCode.scopeManager.globalScope.childScopes[0]];
		for (const {name, defs: [def]} of module.variables)
			own.set(name, (def.parent || def.node).loc.start.line);
		for (const reference of scope.through)
			uses.set(reference.identifier.name, uses.get(reference.identifier.name) || reference.isWrite());
	}})};
	const [trouble] = linter.verify(text, [{plugins: {trc: {rules: {names: rule}}}, rules: {"trc/names": "error"},
		languageOptions: {ecmaVersion: "latest", sourceType: "module"}}], {filename: path.basename(file)});

	if (trouble)
		throw new Error(`${file}:${trouble.line}: ${trouble.message}`);
	return {own, uses};
}

function importLines(imports) {
	return [...imports].sort(([a], [b]) => a < b ? -1 : 1).flatMap(([file, names]) => {
		const lines = [], words = [...names].sort().map((name, i, all) => i + 1 < all.length ? `${name},` : `${name}} from "./${file}";`);
		let line = "import {";
		words.forEach((word, i) => {
			const longer = i ? `${line} ${word}` : line + word;
			if (i && width(longer) > COLUMNS) {
				lines.push(line);
				line = `\t${word}`;
			} else {
				line = longer;
			}
		});
		return [...lines, line];
	});
}

// A plain file with its imports and exports.
function written(text, imports, exported, own) {
	const lines = text.split("\n"), at = lines.indexOf("");

	for (const name of exported)
		lines[own.get(name) - 1] = lines[own.get(name) - 1].replace(/^(?!export )/, "export ");
	if (imports.size)
		lines.splice(at, 0, "", ...importLines(imports));
	return lines.join("\n");
}

// By file of the viewer the names that unit tests import.
function testedNames(top) {
	const names = new Map(), tests = path.join(top, "tests/viewer");

	for (const test of readdirSync(tests).filter((name) => name.endsWith(".mjs")))
		for (const [, list, file] of readFileSync(path.join(tests, test), "utf8").matchAll(/^import \{([^}]*)\} from "\.\.\/\.\.\/(viewer\/[^"]*)";$/gm))
			list.split(",").forEach((each) => names.set(`${file}:${each.trim().split(" ")[0]}`, test));
	return names;
}

// programs: each a list of files, all of which are in one scope at the end.  Returns lines of what is wrong; or, if `write`, mends it, and
// says what cannot be.
export function importTroubles(top, programs, write) {
	const read = new Map(), troubles = [];

	for (const file of new Set(programs.flat())) {
		const source = readFileSync(path.join(top, file), "utf8"), text = plain(source);
		const [other] = /^(import|export) .*/m.exec(text) || [];
		if (other)
			troubles.push(`${file}: imports and exports have one form, and this is another: ${other}`);
		read.set(file, {source, text, imports: new Map(), exported: new Set(), ...namesOf(text, file)});
	}
	for (const files of programs) {
		const owners = new Map();
		for (const file of files)
			for (const [name, line] of read.get(file).own) {
				if (owners.has(name))
					troubles.push(`${file}:${line}: ${name} is declared in ${owners.get(name)}, too`);
				owners.set(name, file);
			}
		for (const file of files)
			for (const [name, isAssigned] of read.get(file).uses) {
				const owner = owners.get(name), {imports} = read.get(file), base = path.basename(owner || "");
				if (!owner)
					continue;
				if (isAssigned)
					troubles.push(`${file}: assigns ${name}, which is of ${owner}`);
				imports.set(base, (imports.get(base) || new Set()).add(name));
				read.get(owner).exported.add(name);
			}
	}
	for (const [key, test] of testedNames(top)) {
		const [file, name] = key.split(":");
		if (read.get(file)?.own.has(name))
			read.get(file).exported.add(name);
		else
			troubles.push(`tests/viewer/${test}: imports ${name}, which ${file} does not have`);
	}
	for (const [file, {source, text, imports, exported, own}] of read) {
		const wanted = written(text, imports, exported, own), lines = wanted.split("\n");
		if (wanted !== source && write)
			writeFileSync(path.join(top, file), wanted);
		const at = source.split("\n").findIndex((line, i) => line !== lines[i]);
		if (wanted !== source && !write)
			troubles.push(`${file}:${at + 1}: imports and exports are not those of the names that files use; this line has to be: ${lines[at]}`);
	}
	return troubles;
}
