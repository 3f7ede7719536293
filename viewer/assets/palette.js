// palette.js - states: their numbers (tracks.h), names, classes and colours.

import {TYPE_COLOURS} from "./annotations.js";
import {head} from "./data.js";
import {MERGED, PARKED, RUNNING, WOKEN} from "./states.js";

export const ABSENT = 0, RUNNABLE = 2, ACTIVE = 3, OFF_PROC = 4; // the others: states.js

// Colours of different classes are told apart by those who see no red or no green, too: of classes that look alike
// without red and green one is darker (waits for locks, and for threads) than the other (running; files).  A test computes
// it (tests/viewer/palette_test.mjs).  Waits for locks are hatched besides.

// What a state is about, in the order of the overview's layers; LOCK is never hidden.
export const CLASS = {ABSENT: 0, RUN: 1, READY: 2, LOCK: 3, SYNC: 4, IO: 5, IDLE: 6, OFF: 7};
export const CLASS_COUNT = 8;

/** @type {Record<number, [string, string, number, string, string]>} */
const baseStates = {
	[RUNNING]: ["running", "on a proc, says the kernel", CLASS.RUN, "#199d61", "#4cd18f"],
	[RUNNABLE]: ["runnable", "could run, but was given no proc", CLASS.READY, "#efd62f", "#f1e344"],
	[ACTIVE]: ["active", "in no recorded wait; whether it was on a proc is not known", CLASS.RUN, "#84d2a5", "#338877"],
	[OFF_PROC]: ["off proc", "not on a proc, and in no wait that trc records", CLASS.OFF, "#aaa49d", "#4c4a43"],
	[WOKEN]: ["woken", "its wait was ended by another thread, but it does not run yet", CLASS.READY, "#f9ad26", "#ffc237"],
};

// reason name -> [class, light, dark]
/** @type {Record<string, [number, string, string]>} */
export const reasonColours = {
	mutex: [CLASS.LOCK, "#b7191c", "#e6443d"],
	rwlock_read: [CLASS.LOCK, "#b13c11", "#e05633"],
	rwlock_write: [CLASS.LOCK, "#9a0b2c", "#da404e"],
	spin: [CLASS.LOCK, "#75151e", "#d24c4c"],
	cond_mutex: [CLASS.LOCK, "#af2934", "#e54f39"],
	flock: [CLASS.LOCK, "#a21b48", "#dd4360"],
	once: [CLASS.LOCK, "#8c1330", "#d4404f"],
	futex_lock: [CLASS.LOCK, "#a52a17", "#e25038"],
	sem_lock: [CLASS.LOCK, "#8f2416", "#d94a41"],
	cond: [CLASS.SYNC, "#5c2eaf", "#6a3cc4"],
	sem: [CLASS.SYNC, "#733ab9", "#7f47c7"],
	barrier: [CLASS.SYNC, "#421c8d", "#5431a9"],
	join: [CLASS.SYNC, "#764aa2", "#7847a6"],
	futex: [CLASS.SYNC, "#5637bf", "#6044cd"],
	msg: [CLASS.SYNC, "#3d39a6", "#4643b9"],
	user: [CLASS.SYNC, "#76399c", "#8046ab"],
	read: [CLASS.IO, "#55a2e1", "#5eaceb"],
	write: [CLASS.IO, "#448dd4", "#549de5"],
	recv: [CLASS.IO, "#6ab8e4", "#71bfeb"],
	send: [CLASS.IO, "#3a9ac6", "#48a7d4"],
	connect: [CLASS.IO, "#379fc7", "#60bbde"],
	open: [CLASS.IO, "#6a96d8", "#76a3e6"],
	fsync: [CLASS.IO, "#4384d5", "#5294e6"],
	aio: [CLASS.IO, "#678ccf", "#7398dc"],
	accept: [CLASS.IDLE, "#c3d9ec", "#213241"],
	poll: [CLASS.IDLE, "#cbe0ef", "#1d2d39"],
	epoll: [CLASS.IDLE, "#cbdbed", "#222f3c"],
	sleep: [CLASS.IDLE, "#d1dae6", "#272e38"],
	child: [CLASS.IDLE, "#d4d4e6", "#2a2a37"],
	signal: [CLASS.IDLE, "#d1d7e9", "#282c39"],
};

export const stateName = new Array(256).fill("?");
export const stateDoc = new Array(256).fill("");
export const stateClass = new Uint8Array(256);
export const stateIsLock = new Uint8Array(256);
export const stateColours = {light: new Array(256), dark: new Array(256)};

/** @param {string} name */
function stateDefine(state, name, doc, cls, light, dark) {
	for (const s of [state, state | MERGED]) {
		stateName[s] = name;
		stateDoc[s] = doc;
		stateClass[s] = cls;
		stateIsLock[s] = Number(cls === CLASS.LOCK);
		stateColours.light[s] = light;
		stateColours.dark[s] = dark;
	}
}

export function statesInit() {
	stateDefine(ABSENT, "absent", "the thread was not there", CLASS.ABSENT, null, null);
	for (const [state, [name, doc, cls, light, dark]] of Object.entries(baseStates))
		stateDefine(Number(state), name, doc, cls, light, dark);
	stateDefine(PARKED, "not known", "a wait that began unseen", CLASS.SYNC, "#777777", "#888888");
	head.reasons.forEach((reason, i) => {
		if (!reason)
			return;
		const [cls, light, dark] = reasonColours[reason[0]] ||
			[CLASS.SYNC, "#777777", "#888888"];
		stateDefine(PARKED + i, reason[0], reason[1], cls, light, dark);
	});
}

// Regions, fibers, labels and functions, by type. Also without red or green two of them differ, types in a row most.
export const typeColours = {
	light: ["#cca858", "#e896a8", "#ccd384", "#eabfcd", "#cbfecc", "#90b1f6", "#f0e4fc", "#d4ba9a",
		"#efe98c", "#a0dafb", "#bfabcd", "#f4d5af"],
	dark: ["#385b6d", "#1e2c6c", "#4b2016", "#2a4948", "#835d11", "#334785", "#2a6e58", "#61430d",
		"#553668", "#6e5d91", "#824733", "#55133d"],
};

// Tasks, by how long they took (LATENCY_FACTORS): the slower, the farther from the background.
export const latencyColours = {
	light: ["#edebe4", "#efd693", "#e8b057", "#cf8028", "#9c5212", "#672e07"],
	dark: ["#302f2b", "#4f4022", "#79591f", "#ad7a29", "#dfa74d", "#ffdc9e"],
};

export const theme = {
	dark: false,
	style: /** @type {Record<string, string>} */ ({}), // colours of the style sheet, for the canvases
	state: new Uint32Array(256), // as pixels
	type: new Uint32Array(256),
	latency: new Uint32Array(256),
	latencyText: new Array(256),
	stripe: new Uint32Array(256), // of the hatch over waits for locks, as pixels
	stateText: new Array(256), // colour of text on a state
	background: 0,
};

export function rgb(hex) {
	const n = parseInt(hex.slice(1), 16);

	return [n >> 16, n >> 8 & 255, n & 255];
}

function pixel(hex) {
	const [r, g, b] = rgb(hex);

	return (255 << 24 | b << 16 | g << 8 | r) >>> 0; // little-endian RGBA
}

/** @param {string} colour */
function mixPixel(colour, background, share) {
	const c = rgb(colour), b = rgb(background);
	const m = c.map((v, i) => Math.round(v * share + b[i] * (1 - share)));

	return (255 << 24 | m[2] << 16 | m[1] << 8 | m[0]) >>> 0;
}

// Luminance as WCAG 2 defines it, 0 to 1.
function luminance(hex) {
	const [r, g, b] = rgb(hex).map((v) => v <= 10 ? v / 3294 : Math.pow((v / 255 + 0.055) / 1.055, 2.4));

	return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

// Black or white, by which has more contrast: at least 4.5 : 1.
export function textOn(hex) {
	return luminance(hex) > 0.179 ? "#000000" : "#ffffff";
}

// The hatch over a colour: away from that of its text.
const STRIPE_SHARE = 0.45;

export function stripePixel(hex) {
	return mixPixel(hex, textOn(hex) === "#000000" ? "#ffffff" : "#000000", STRIPE_SHARE);
}

// Fills in `theme`; states other than the highlighted one, if any, are faded.
export function themeApply(highlighted) {
	const style = getComputedStyle(document.documentElement);
	const name = theme.dark ? "dark" : "light";

	for (const key of ["bg", "panel", "line", "text", "dim", "accent", "lane", "gap"])
		theme.style[key] = style.getPropertyValue("--" + key).trim();
	theme.background = pixel(theme.style.bg);
	for (let s = 0; s < 256; s++) {
		const colour = stateColours[name][s];
		const faded = highlighted !== null && (s & 127) !== highlighted;
		theme.state[s] = !colour ? pixel(theme.style.lane)
			: faded ? mixPixel(colour, theme.style.bg, 0.18) : pixel(colour);
		theme.stripe[s] = stateIsLock[s] && !faded ? stripePixel(colour) : theme.state[s];
		theme.stateText[s] = !colour ? theme.style.dim
			: faded ? theme.style.dim : textOn(colour);
		const latency = latencyColours[name][(s + latencyColours[name].length - 1) % latencyColours[name].length];
		theme.latency[s] = s ? pixel(latency) : theme.background;
		theme.latencyText[s] = textOn(latency);
		theme.type[s] = s ? pixel(typeColours[name][(s - 1) % TYPE_COLOURS]) : theme.background;
	}
}

export function stateCss(state) {
	return stateColours[theme.dark ? "dark" : "light"][state] || theme.style.lane;
}
