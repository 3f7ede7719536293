// heat.js - durations over time: a picture of which there were how many, when.  Its rows are the buckets of the histogram,
// its columns equal stretches of the page's time, in which the rows of the table began.

import {FONT, canvasSize} from "./draw.js";
import {byId, count, el, timePoint} from "./format.js";
import {theme} from "./palette.js";
import {trace} from "./rows.js";
import {bucketText, edgeText} from "./spread.js";
import {tipPlace} from "./tip.js";

const HEAT_CELL = 7, HEAT_LEFT = 58, HEAT_BELOW = 15, HEAT_LEAST = 3, HEAT_LABEL = 12; // CSS pixels: of a column, of the labels, of a row; from label to label

// {columns, counts: by bucket and column, most}.
/** @param {Spread} spread */
export function heatMake(rows, spread, buckets, columns) {
	const counts = new Uint32Array(buckets.length * columns);
	let most = 0;

	buckets.forEach(({lo, hi}, b) => {
		for (let k = lo; k < hi; k++) {
			const cell = b * columns + heatColumn(rows, spread.order[k], columns);
			most = Math.max(most, ++counts[cell]);
		}
	});
	return {columns, counts, most, buckets};
}

// In which column a row began; what began before the page is in the first.
export function heatColumn(rows, row, columns) {
	const at = Math.floor((rows.start[row] - trace.begin) / (trace.span - trace.begin) * columns);

	return Math.max(0, Math.min(columns - 1, at));
}

function heatTime(heat, column) {
	return trace.begin + (trace.span - trace.begin) * column / heat.columns;
}

function heatText(heat, {bucket, column}) {
	const step = (trace.span - trace.begin) / heat.columns;

	return `${count(heat.counts[bucket * heat.columns + column])} of ${bucketText(heat.buckets[bucket])}, begun from ` +
		`${timePoint(heatTime(heat, column), step / 10)} to ${timePoint(heatTime(heat, column + 1), step / 10)}`;
}

// Of a row of cells, from the top down: the longest are uppermost.
/** @param {number} height */
function heatRowTop(heat, bucket, height) {
	return height * (heat.buckets.length - 1 - bucket) / heat.buckets.length;
}

/** @param {HTMLCanvasElement} canvas @param {number} width @param {number} height */
function heatDraw(canvas, heat, cell, width, height) {
	canvasSize(canvas, width, height, window.devicePixelRatio || 1);
	const ctx = canvas.getContext("2d"), ratio = window.devicePixelRatio || 1, w = (width - HEAT_LEFT) / heat.columns;
	const whole = height - HEAT_BELOW, h = whole / heat.buckets.length;
	let free = Infinity; // no label above the last one reaches below this

	ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
	ctx.fillStyle = theme.style.lane;
	ctx.fillRect(HEAT_LEFT, 0, width - HEAT_LEFT, whole);
	ctx.font = FONT;
	ctx.textBaseline = "middle";
	heat.buckets.forEach((bucket, b) => {
		const y = heatRowTop(heat, b, whole), label = Math.max(6, Math.min(y + h - 6, whole - 6));
		ctx.fillStyle = theme.style.accent;
		for (let c = 0; c < heat.columns; c++) {
			const n = heat.counts[b * heat.columns + c];
			ctx.globalAlpha = n ? 0.2 + 0.8 * Math.log1p(n) / Math.log1p(heat.most) : 0;
			if (n)
				ctx.fillRect(HEAT_LEFT + c * w, y, Math.max(w - 0.5, 1), Math.max(h - 0.5, 1));
		}
		ctx.globalAlpha = 1;
		ctx.fillStyle = theme.style.dim;
		if (label > free)
			return;
		ctx.fillText(edgeText(bucket.from), 0, label);
		free = label - HEAT_LABEL;
	});
	for (const part of [0, 0.5]) {
		const time = trace.begin + (trace.span - trace.begin) * part;
		ctx.fillText(timePoint(time, (trace.span - trace.begin) / 100), HEAT_LEFT + (width - HEAT_LEFT) * part, height - 6);
	}
	if (cell) {
		ctx.strokeStyle = theme.style.text;
		ctx.lineWidth = 2;
		ctx.strokeRect(HEAT_LEFT + cell.column * w - 1, heatRowTop(heat, cell.bucket, whole) - 1, w + 2, h + 2);
	}
}

// Which cell an event of the pointer is on; null = none.
/** @param {HTMLCanvasElement} canvas */
function heatAt(canvas, heat, event) {
	const box = canvas.getBoundingClientRect(), x = event.clientX - box.left - HEAT_LEFT, y = event.clientY - box.top;
	const column = Math.floor(x / (box.width - HEAT_LEFT) * heat.columns);
	const bucket = heat.buckets.length - 1 - Math.floor(y / (box.height - HEAT_BELOW) * heat.buckets.length);

	return column >= 0 && column < heat.columns && bucket >= 0 && bucket < heat.buckets.length ? {bucket, column} : null;
}

// Arrows move the cell that is marked, Enter chooses it.
function heatKey(event, heat, cell) {
	const [by, up] = {ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1]}[event.key] || [];

	if (by === undefined || event.ctrlKey || event.altKey || event.metaKey)
		return null;
	return {column: Math.max(0, Math.min(heat.columns - 1, cell.column + by)),
		bucket: Math.max(0, Math.min(heat.buckets.length - 1, cell.bucket + up))};
}

// How many columns a picture has; with a chosen cell as many as when it was chosen, so that it stays the same stretch of time.
/** @param {number} width */
function heatColumns(chosen, width) {
	return chosen ? chosen.columns : Math.max(10, Math.floor((width - HEAT_LEFT) / HEAT_CELL));
}

// A canvas with the picture; choose({bucket, column, columns}).
/** @param {Spread} spread */
export function heatView(rows, spread, buckets, chosen, room, choose) {
	const columns = heatColumns(chosen, room.width), heat = heatMake(rows, spread, buckets, columns);
	const height = Math.max(room.height, buckets.length * HEAT_LEAST + HEAT_BELOW), canvas = el("canvas", {tabindex: 0, role: "application"});
	let cell = chosen && chosen.bucket < buckets.length ? chosen : null;
	const show = () => {
		heatDraw(canvas, heat, cell, room.width, height);
		canvas.setAttribute("aria-label", cell ? heatText(heat, cell) : "Durations over time: arrows move, Enter lists what is in a cell");
	};

	canvas.addEventListener("click", (event) => {
		const at = heatAt(canvas, heat, event);
		if (at)
			choose({...at, columns});
	});
	canvas.addEventListener("pointermove", (event) => {
		const at = heatAt(canvas, heat, event), tip = byId("tip");
		tip.hidden = !at;
		if (!at)
			return;
		tip.replaceChildren(heatText(heat, at));
		tipPlace(event.clientX, event.clientY);
	});
	canvas.addEventListener("pointerleave", () => { byId("tip").hidden = true; });
	canvas.addEventListener("keydown", (event) => {
		const to = heatKey(event, heat, cell || {column: 0, bucket: buckets.length - 1});
		if (event.key === "Enter" && cell)
			choose({...cell, columns});
		else if (!to)
			return;
		cell = to || cell;
		event.preventDefault();
		event.stopPropagation();
		if (to)
			show();
	});
	show();
	return canvas;
}
