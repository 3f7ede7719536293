// palette.js - states: their numbers (tracks.h), names, classes and colours.

const ABSENT = 0, RUNNING = 1, RUNNABLE = 2, ACTIVE = 3, OFF_PROC = 4, WOKEN = 5;
const PARKED = 32, MERGED = 128;

// What a state is about, in the order of the overview's layers; LOCK is never hidden.
const CLASS = {ABSENT: 0, RUN: 1, READY: 2, LOCK: 3, SYNC: 4, IO: 5, IDLE: 6, OFF: 7};
const CLASS_COUNT = 8;

const baseStates = {
	[RUNNING]: ["running", "on a proc, says the kernel", CLASS.RUN, "#3f9b5f", "#4fae70"],
	[RUNNABLE]: ["runnable", "could run, but was given no proc", CLASS.READY, "#e3b52c", "#d9ae35"],
	[ACTIVE]: ["active", "in no recorded wait; whether it was on a proc is not known",
		CLASS.RUN, "#8cc39d", "#3f7d55"],
	[OFF_PROC]: ["off proc", "not on a proc, and in no wait that trc records", CLASS.OFF,
		"#cfc8b4", "#5c574a"],
	[WOKEN]: ["woken", "its wait was ended by another thread, but it does not run yet",
		CLASS.READY, "#ef9f3c", "#e09338"],
};

// reason name -> [class, light, dark]
const reasonColours = {
	mutex: [CLASS.LOCK, "#d6403a", "#e0554e"],
	rwlock_read: [CLASS.LOCK, "#e3735a", "#e07a62"],
	rwlock_write: [CLASS.LOCK, "#b92f45", "#c74459"],
	spin: [CLASS.LOCK, "#8f1f2c", "#a33241"],
	cond_mutex: [CLASS.LOCK, "#e88f86", "#c9756c"],
	flock: [CLASS.LOCK, "#c23b80", "#c94f8d"],
	cond: [CLASS.SYNC, "#8566c4", "#8a6fc9"],
	sem: [CLASS.SYNC, "#a284d6", "#9d82d0"],
	barrier: [CLASS.SYNC, "#6247a5", "#7459b8"],
	join: [CLASS.SYNC, "#bba7e0", "#6a5a94"],
	once: [CLASS.SYNC, "#9b4fb0", "#a862bb"],
	futex: [CLASS.SYNC, "#7a5fd0", "#8069d6"],
	msg: [CLASS.SYNC, "#5d6fc4", "#6c7ed0"],
	user: [CLASS.SYNC, "#a569b8", "#ac74be"],
	read: [CLASS.IO, "#3f86cf", "#4a8ed3"],
	write: [CLASS.IO, "#2f69ab", "#3f78b8"],
	recv: [CLASS.IO, "#58a5dc", "#4c98cf"],
	send: [CLASS.IO, "#2a7fa8", "#3789b0"],
	connect: [CLASS.IO, "#3fa3b3", "#3d98a7"],
	open: [CLASS.IO, "#4c6fb8", "#587ac0"],
	fsync: [CLASS.IO, "#1f4d8f", "#3561a5"],
	aio: [CLASS.IO, "#35589c", "#4468ad"],
	accept: [CLASS.IDLE, "#b7d2e8", "#33495c"],
	poll: [CLASS.IDLE, "#c7d7e4", "#33424f"],
	epoll: [CLASS.IDLE, "#c0d0e0", "#303f4c"],
	sleep: [CLASS.IDLE, "#c6cad1", "#3d4249"],
	child: [CLASS.IDLE, "#bfb7ab", "#4b463e"],
	signal: [CLASS.IDLE, "#cbbfae", "#504839"],
};

const stateName = new Array(256).fill("?");
const stateDoc = new Array(256).fill("");
const stateClass = new Uint8Array(256);
const stateIsLock = new Uint8Array(256);
const stateColours = {light: new Array(256), dark: new Array(256)};

function stateDefine(state, name, doc, cls, light, dark) {
	for (const s of [state, state | MERGED]) {
		stateName[s] = name;
		stateDoc[s] = doc;
		stateClass[s] = cls;
		stateIsLock[s] = cls === CLASS.LOCK;
		stateColours.light[s] = light;
		stateColours.dark[s] = dark;
	}
}

function statesInit() {
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

// Regions and tasks, by type.
const typeColours = {
	light: ["#9fc4e8", "#f3c592", "#a9d9a4", "#e6aeb8", "#c9b6e4", "#d8c69f", "#9fd6d2", "#e8b6dc",
		"#c3ced9", "#d9de93", "#b7b2ea", "#eab09a"],
	dark: ["#2f5379", "#7d5727", "#33663a", "#7a3a46", "#55437a", "#63552f", "#2a6460", "#6e3d63",
		"#46525e", "#5f6428", "#474089", "#7a4430"],
};
const TYPE_COLOURS = 12;

function typeColour(textId) {
	return (Math.imul(textId, 0x9e3779b1) >>> 16) % TYPE_COLOURS;
}

const theme = {
	dark: false,
	style: {}, // colours of the style sheet, for the canvases
	state: new Uint32Array(256), // as pixels
	type: new Uint32Array(256),
	stateText: new Array(256), // colour of text on a state
	background: 0,
};

function rgb(hex) {
	const n = parseInt(hex.slice(1), 16);

	return [n >> 16, n >> 8 & 255, n & 255];
}

function pixel(hex) {
	const [r, g, b] = rgb(hex);

	return (255 << 24 | b << 16 | g << 8 | r) >>> 0; // little-endian RGBA
}

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
function textOn(hex) {
	return luminance(hex) > 0.179 ? "#000000" : "#ffffff";
}

// Fills in `theme`; states other than the highlighted one, if any, are faded.
function themeApply(highlighted) {
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
		theme.stateText[s] = !colour ? theme.style.dim
			: faded ? theme.style.dim : textOn(colour);
		theme.type[s] = s ? pixel(typeColours[name][(s - 1) % TYPE_COLOURS]) : theme.background;
	}
}

function stateCss(state) {
	return stateColours[theme.dark ? "dark" : "light"][state] || theme.style.lane;
}
