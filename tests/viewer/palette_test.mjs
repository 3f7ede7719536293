// palette_test.mjs - colours of states of different classes are told apart, also without red (protanopia) and without green
// (deuteranopia); text on them, and on the page, has a contrast of 4.5 : 1.
//
//   node palette_test.mjs ASSETS FORMAT
//
// What is seen without a kind of cone: Machado, Oliveira and Fernandes, "A Physiologically-based Model for Simulation of
// Color Vision Deficiency", 2009, severity 1.  Differences are Euclidean in Oklab (Ottosson, 2020), times 100.
// Contrast is that of WCAG 2.1.

import {readFileSync} from "node:fs";
import "./page_stub.mjs";
import {head} from "../../viewer/assets/data.js";
import {ABSENT, CLASS, latencyColours, reasonColours, stateClass, stateColours, stateIsLock, stateName, statesInit, stripePixel, textOn, typeColours} from "../../viewer/assets/palette.js";
import {MERGED} from "../../viewer/assets/states.js";

const [assets, format] = process.argv.slice(2);
const LEAST = 8, CONTRAST = 4.5, TYPES = 5;
const seen = {
	all: [[1, 0, 0], [0, 1, 0], [0, 0, 1]],
	protanopia: [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
	deuteranopia: [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
};

let passed = 0, failed = 0;

function check(condition, what) {
	condition ? passed++ : failed++;
	if (!condition)
		console.log(`FAILED: ${what}`);
}

// ---- colours ----

function linear(hex) {
	return [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16) / 255)
		.map((v) => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
}

function times(matrix, [a, b, c]) {
	return matrix.map(([x, y, z]) => x * a + y * b + z * c);
}

function oklab(rgb) {
	const lms = times([[0.4122214708, 0.5363325363, 0.0514459929], [0.2119034982, 0.6806995451, 0.1073969566],
		[0.0883024619, 0.2817188376, 0.6299787005]], rgb).map(Math.cbrt);

	return times([[0.2104542553, 0.7936177850, -0.0040720468], [1.9779984951, -2.4285922050, 0.4505937099],
		[0.0259040371, 0.7827717662, -0.8086757660]], lms);
}

function difference(a, b, matrix) {
	const [x, y] = [a, b].map((hex) => oklab(times(matrix, linear(hex)).map((v) => Math.min(1, Math.max(0, v)))));

	return 100 * Math.hypot(...x.map((v, i) => v - y[i]));
}

function luminance(hex) {
	const [r, g, b] = linear(hex);

	return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

function contrast(a, b) {
	const [low, high] = [luminance(a), luminance(b)].sort((x, y) => x - y);

	return (high + 0.05) / (low + 0.05);
}

// ---- the page's own ----

function palette() {
	head.reasons = [null, ...Object.keys(reasonColours).map((name) => [name, ""])];
	statesInit();
	return {CLASS, reasonColours, stateName, stateClass, stateIsLock, stateColours, typeColours, latencyColours, textOn, ABSENT, MERGED, stripes: stripePixel};
}

// Variables of the style sheet: {light, dark}.
function styles() {
	const css = readFileSync(`${assets}/app.css`, "utf8");
	const of = (selector) => Object.fromEntries([...css.slice(css.indexOf(`${selector} {`)).split("}")[0].matchAll(/--(\w+): (#\w{6})/g)]
		.map(([, name, value]) => [name, value]));

	return {light: of(":root"), dark: of(":root[data-theme=\"dark\"]")};
}

function hexOf(pixel) {
	return `#${[pixel & 255, pixel >> 8 & 255, pixel >> 16 & 255].map((v) => v.toString(16).padStart(2, "0")).join("")}`;
}

const p = palette(), style = styles();

// The known ones: red and green of one lightness are the same without red; black and white are not.
check(difference("#b55b00", "#6b7a00", seen.deuteranopia) < difference("#b55b00", "#6b7a00", seen.all) / 2, "the simulation loses red and green");
check(Math.abs(difference("#000000", "#ffffff", seen.protanopia) - 100) < 2, "and keeps black and white");
check(Math.abs(contrast("#000000", "#ffffff") - 21) < 0.01, "black on white is 21 : 1");

// Each reason has a colour of the class that the report counts it to (format/schema.h, format/waits.c).
const classes = {LOCKS: p.CLASS.LOCK, THREADS: p.CLASS.SYNC, FILES: p.CLASS.IO}, classOf = {};
for (const [, cases, name] of readFileSync(`${format}/waits.c`, "utf8").matchAll(/((?:\tcase TRC_REASON_\w+:.*\n)+)\t\treturn TRC_WAIT_(\w+);/g))
	for (const [, reason] of cases.matchAll(/TRC_REASON_(\w+)/g))
		classOf[reason] = classes[name];
const reasons = [...readFileSync(`${format}/schema.h`, "utf8").matchAll(/REASON\((\d+), (\w+), (\w+), "/g)];
check(reasons.length >= 30 && Object.keys(classOf).length >= 20, `${reasons.length} reasons, ${Object.keys(classOf).length} with a class`);
for (const [, , constant, name] of reasons)
	check(p.reasonColours[name]?.[0] === (classOf[constant] ?? p.CLASS.IDLE), `the class of ${name}: ${p.reasonColours[name]?.[0]}, in the report ${classOf[constant] ?? p.CLASS.IDLE}`);

for (const theme of ["light", "dark"]) {
	const states = [...p.stateName.keys()].filter((s) => s !== p.ABSENT && s < p.MERGED && p.stateColours[theme][s]);

	for (const [kind, matrix] of Object.entries(seen))
		for (const a of states)
			for (const b of states) {
				if (a >= b || p.stateClass[a] === p.stateClass[b])
					continue;
				const far = difference(p.stateColours[theme][a], p.stateColours[theme][b], matrix);
				check(far >= LEAST || p.stateName[a] === "not known" || p.stateName[b] === "not known",
					`${theme}, ${kind}: ${p.stateName[a]} and ${p.stateName[b]} differ by ${far.toFixed(1)}`);
			}
	for (const s of states) {
		const colour = p.stateColours[theme][s], ratio = contrast(colour, p.textOn(colour));
		check(ratio >= CONTRAST, `${theme}: text on ${p.stateName[s]}: ${ratio.toFixed(2)}`);
		const stripe = contrast(colour, hexOf(p.stripes(colour)));
		check(!p.stateIsLock[s] || stripe >= 1.5, `${theme}: stripes on ${p.stateName[s]}: ${stripe.toFixed(2)}`);
	}
	for (const colour of p.typeColours[theme])
		check(contrast(colour, style[theme].text) >= CONTRAST, `${theme}: text on a region's ${colour}: ${contrast(colour, style[theme].text).toFixed(2)}`);
	for (const [kind, matrix] of Object.entries(seen))
		p.typeColours[theme].forEach((a, i, all) => all.slice(0, i).forEach((b, j) => {
			const far = difference(a, b, matrix), least = i - j === 1 || i - j === all.length - 1 ? LEAST : TYPES;
			check(far >= least, `${theme}, ${kind}: types ${j} and ${i} differ by ${far.toFixed(1)}`);
		}));
	const away = p.latencyColours[theme].map((colour) => contrast(colour, style[theme].bg));
	check(away.every((ratio, i) => ratio > 1.15 * (i ? away[i - 1] : 1)), `${theme}: the slower a task, the farther from the background: ${away}`);
	for (const colour of p.latencyColours[theme])
		check(contrast(colour, p.textOn(colour)) >= CONTRAST, `${theme}: text on a task's ${colour}: ${contrast(colour, p.textOn(colour)).toFixed(2)}`);
	for (const [text, grounds] of Object.entries({text: ["bg", "panel", "lane", "warn", "note"], dim: ["bg", "panel", "lane", "note"],
		accent: ["bg", "panel", "note", "warn"], gap: ["bg", "panel"]}))
		for (const ground of grounds) {
			const ratio = contrast(style[theme][text], style[theme][ground]);
			check(ratio >= CONTRAST, `${theme}: ${text} on ${ground}: ${ratio.toFixed(2)}`);
		}
	for (const ground of ["bg", "panel", "note"]) // of what is off WCAG asks nothing
		check(contrast(style[theme].off ?? style[theme][ground], style[theme][ground]) >= 3, `${theme}: what is off, on ${ground}`);
	check(contrast("#b3261e", "#ffffff") >= CONTRAST, "text on an alarm");
}
console.log(`palette_test.mjs: ${passed} passed, ${failed} failed`);
process.exit(failed ? 1 : 0);
