// analyzer.mjs - trace-analyze, asked for much: it reads a trace once for many queries, or many profiles.

import {execFileSync, spawn, spawnSync} from "node:child_process";
import {closeSync, existsSync, mkdtempSync, openSync, readFileSync, readSync, rmSync, writeSync} from "node:fs";
import {tmpdir} from "node:os";
import path from "node:path";

const SHELLS_MAX = 8; // each holds a trace
const shells = new Map(); // the one that was asked last is the last
const room = Buffer.alloc(1 << 16);
let asked = 0;

// A FIFO's two ends; nobody else holds one, so that the end of either process is the end of the other's.
function ends(name) {
	const both = openSync(name, "r+"), pair = [openSync(name, "r"), openSync(name, "w")];

	closeSync(both);
	return pair;
}

function shellOf(analyze, trace, options) {
	const key = JSON.stringify([analyze, trace, options]), directory = mkdtempSync(path.join(tmpdir(), "trc-shell-"));
	let shell = shells.get(key);

	if (!shell) {
		const names = ["to", "from"].map((name) => path.join(directory, name));
		execFileSync("mkfifo", names);
		const [[stdin, to], [from, stdout]] = names.map(ends);
		spawn(analyze, [...options, "--shell", trace], {stdio: [stdin, stdout, "ignore"]}).unref();
		closeSync(stdin);
		closeSync(stdout);
		shell = {to, from};
	}
	rmSync(directory, {recursive: true});
	shells.delete(key);
	shells.set(key, shell);
	if (shells.size > SHELLS_MAX) {
		const [oldest] = shells.keys(), {to, from} = shells.get(oldest);
		closeSync(to);
		closeSync(from);
		shells.delete(oldest);
	}
	return shell;
}

// What --sql would print with these options; an error if it failed.
function answer(analyze, trace, query, options, format) {
	const {to, from} = shellOf(analyze, trace, options), end = `end\nof answer ${++asked}\n`, parts = [];

	writeSync(to, `.output ${format}\n${query}\n;\n.output csv\nSELECT 'of answer ${asked}' AS "end";\n`);
	for (let tail = ""; !tail.endsWith(end);) {
		const n = readSync(from, room);
		if (!n)
			throw new Error(`trace-analyze ended: ${trace}: ${query}`);
		parts.push(Buffer.from(room.subarray(0, n)));
		tail = (tail + room.latin1Slice(0, n)).slice(-end.length);
	}
	const text = Buffer.concat(parts).subarray(0, -end.length).toString("utf8");
	if (!text)
		throw new Error(`no answer: ${trace}: ${query}`);
	return text;
}

export function csvOf(analyze, trace, query, options = []) {
	return answer(analyze, trace, query, options, "csv");
}

export function rowsOf(analyze, trace, query, options = []) {
	return JSON.parse(answer(analyze, trace, query, options, "json"));
}

// The same of options with which nothing else is asked.
export function rowsOnce(analyze, trace, query, options) {
	return JSON.parse(execFileSync(analyze, [...options, "--output", "json", "--sql", query, trace],
		{maxBuffer: 1 << 30, encoding: "utf8", stdio: ["ignore", "pipe", "ignore"]}));
}

// What --sql says on stderr if it fails; "" = it does not.
export function errorOf(analyze, trace, query) {
	const {status, stderr} = spawnSync(analyze, ["--sql", query, trace], {encoding: "utf8"});

	return status ? stderr : "";
}

// By name: profiles as bytes, without those that there are none of.
export function profilesOf(analyze, trace, names, options) {
	const directory = mkdtempSync(path.join(tmpdir(), "trc-profiles-")), file = (name) => path.join(directory, name);

	spawnSync(analyze, [...options, ...names.flatMap((name) => ["--pprof", name, "-o", file(name)]), trace], {stdio: "ignore"});
	const profiles = new Map(names.filter((name) => existsSync(file(name))).map((name) => [name, readFileSync(file(name))]));
	rmSync(directory, {recursive: true});
	return profiles;
}
