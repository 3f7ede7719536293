// minimap.js - the whole trace in one strip: how many threads do what, and what is visible.

import {head} from "./data.js";
import {canvasSize, markColour, screen} from "./draw.js";
import {byId, count} from "./format.js";
import {laneCounts} from "./lod.js";
import {looksFill, looksMake} from "./looks.js";
import {CLASS, CLASS_COUNT, RUNNABLE, stateClass, stateCss, theme} from "./palette.js";
import {trace} from "./rows.js";
import {PARKED, RUNNING} from "./states.js";
import {view} from "./view.js";

const MAP_HEIGHT = 64;
// Layers from the bottom up; what is idle or absent stays empty.
export const MAP_CLASSES = [CLASS.RUN, CLASS.READY, CLASS.LOCK, CLASS.IO, CLASS.SYNC];
const MAP_THREADS_MAX = 2000; // more are sampled

// Where a time is in the strip, w wide.
/** @param {number} time @param {number} w */
function mapX(time, w) {
	return (time - trace.begin) / (trace.span - trace.begin) * w;
}

export const map = {image: document.createElement("canvas"), width: 0, ticks: null}; // width: of the screen, when it was drawn

// The state whose colour stands for a class.
export function classState(cls) {
	const state = {[CLASS.RUN]: RUNNING, [CLASS.READY]: RUNNABLE}[cls];
	const reason = {[CLASS.LOCK]: "mutex", [CLASS.IO]: "read", [CLASS.SYNC]: "cond"}[cls];

	return state || PARKED + head.reasons.findIndex((r) => r && r[0] === reason);
}

// One of so many threads is counted.
function mapStride() {
	return Math.max(1, Math.ceil(trace.threads.length / MAP_THREADS_MAX));
}

// Threads per class and column, on average over the column's time.
/** @param {number} w */
function mapCounts(w) {
	const counts = new Float32Array(CLASS_COUNT * w), stride = mapStride();

	for (let t = 0, looks = looksMake(); t < trace.threads.length; t += stride) {
		const {lane} = trace.threads[t];
		looksFill(looks, lane, trace.begin, trace.span, (trace.span - trace.begin) / w);
		laneCounts(lane, trace.begin, trace.span, w, stateClass, counts, 1, looks);
	}
	return Array.from({length: CLASS_COUNT}, (_, c) => counts.subarray(c * w, (c + 1) * w));
}

// What the tooltip says: that the strip shows a part of the threads.
function mapTitle() {
	const stride = mapStride();

	byId("map").title = stride > 1 ? `The overview counts ${count(Math.ceil(trace.threads.length / stride))} of ${count(trace.threads.length)} threads: one of ${stride}` : "";
}

// Redraws the strip; needed when the width or the theme changes.
export function drawMap() {
	const canvas = map.image;
	map.width = screen.width;
	mapTitle();
	canvasSize(byId("map"), screen.width, MAP_HEIGHT, screen.ratio);
	const w = canvas.width = byId("map").width, h = canvas.height = byId("map").height;
	const ctx = canvas.getContext("2d");
	const counts = mapCounts(w);
	let most = 1;

	for (let x = 0; x < w; x++) {
		let sum = 0;
		for (let c = 1; c < CLASS_COUNT; c++)
			sum += counts[c][x];
		most = Math.max(most, sum);
	}
	ctx.fillStyle = theme.style.panel;
	ctx.fillRect(0, 0, w, h);
	const base = new Float64Array(w).fill(h);
	for (const cls of MAP_CLASSES) {
		ctx.fillStyle = stateCss(classState(cls));
		for (let x = 0; x < w; x++) {
			const size = counts[cls][x] / most * (h - 2);
			if (size > 0)
				ctx.fillRect(x, base[x] - size, 1, size);
			base[x] -= size;
		}
	}
	if (head.window_ns > trace.begin) {
		ctx.fillStyle = theme.style.dim;
		ctx.globalAlpha = 0.22;
		ctx.fillRect(0, 0, mapX(head.window_ns, w), h);
		ctx.globalAlpha = 1;
	}
	for (let i = 0; i < trace.mark.n; i++) {
		ctx.fillStyle = markColour(trace.mark.kind[i]);
		ctx.fillRect(mapX(trace.mark.time[i], w) - 1, 0, 2, h);
	}
	ctx.fillStyle = theme.style.gap;
	for (const [from, until] of screen.gaps)
		ctx.fillRect(mapX(from, w), 0, Math.max(2, mapX(until, w) - mapX(from, w)), 4);
}

// It is redrawn with the next frame.
export function mapStale() {
	map.width = 0;
}

// The visible part, and the matches of a search, over the strip.
export function drawMapWindow() {
	const canvas = byId("map");
	const ctx = canvas.getContext("2d");

	if (map.width !== screen.width)
		drawMap();
	ctx.setTransform(1, 0, 0, 1, 0, 0);
	ctx.drawImage(map.image, 0, 0);
	ctx.setTransform(screen.ratio, 0, 0, screen.ratio, 0, 0);
	const x0 = mapX(view.t0, screen.width), x1 = mapX(view.t1, screen.width);
	if (map.ticks) {
		ctx.fillStyle = theme.style.accent;
		for (const x of map.ticks)
			ctx.fillRect(x * screen.width, MAP_HEIGHT - 6, 1.5, 6);
	}
	ctx.fillStyle = theme.style.bg;
	ctx.globalAlpha = 0.62;
	ctx.fillRect(0, 0, x0, MAP_HEIGHT);
	ctx.fillRect(x1, 0, screen.width - x1, MAP_HEIGHT);
	ctx.globalAlpha = 1;
	ctx.strokeStyle = theme.style.text;
	ctx.lineWidth = 1;
	ctx.strokeRect(Math.round(x0) + 0.5, 0.5, Math.max(2, Math.round(x1 - x0) - 1), MAP_HEIGHT - 1);
}
