// flame_draw.js - the picture of a flame graph: boxes in rows, the root on top.
//
// A picture has rows of boxes {tree, node, x0, x1}, x from 0 to 1.  Of callers and callees the function's row
// has its callers above and its callees below.  Boxes too narrow to be seen are one that only counts them.

import {typeColour} from "./annotations.js";
import {FONT, canvasSize, fitText} from "./draw.js";
import {flame} from "./flame.js";
import {functions, treeFind, treeWeight} from "./flame_fold.js";
import {count} from "./format.js";
import {isWithinChance} from "./margins.js";
import {rgb, stateColours, textOn, theme, typeColours} from "./palette.js";
import {OWNER_PROGRAM, OWNER_TRC} from "./rows.js";

export const FLAME_ROW = 18, FLAME_NARROW = 0.6; // CSS pixels
const flameColours = {
	light: {other: "#d9dde4", trc: "#c3c9d2", words: "#e8eaee", root: "#eceef1", more: "#d6403a", less: "#2f76c4"},
	dark: {other: "#3b424d", trc: "#4c5461", words: "#2c3139", root: "#23272e", more: "#e0554e", less: "#4a8ed3"},
};

export const picture = {rows: [], width: 0, canvas: null, scroll: null, spacer: null, hover: null, current: null, scheduled: false, middle: 0}; // middle: the row of the function between its callers and its callees

/** @param {string} colour */
function colourMix(colour, background, share) {
	const c = rgb(colour), b = rgb(background);

	return "#" + c.map((v, i) => Math.round(v * share + b[i] * (1 - share)).toString(16).padStart(2, "0")).join("");
}

function functionHue(fn) {
	let hash = 0;

	for (let i = 0; i < fn.name.length; i++)
		hash = Math.imul(hash, 31) + fn.name.charCodeAt(i) | 0;
	return typeColour(hash >>> 0);
}

function functionColour(fn) {
	const name = theme.dark ? "dark" : "light", own = flameColours[name];

	if (fn.lead)
		return fn.lead.state ? stateColours[name][fn.lead.state] || own.words : own.words;
	if (fn.owner === OWNER_TRC)
		return own.trc;
	return fn.owner === OWNER_PROGRAM ? typeColours[name][functionHue(fn)] : own.other;
}

// The part of all that a node has, of a side.
/** @param {FlameTree} tree @param {number} node @param {number} [side] */
function nodeShare(tree, node, side = 0) {
	return tree.value[side][node] / (flame.result.sums[side] || 1);
}

// Of a comparison: how much more of all it is in B.
/** @param {FlameTree} tree @param {number} node */
export function nodeChange(tree, node) {
	return nodeShare(tree, node, 1) - nodeShare(tree, node, 0);
}

// Of a comparison of samples: chance alone may make such a change.
/** @param {FlameTree} tree @param {number} node */
export function nodeIsChance(tree, node) {
	const {counts} = flame.result;

	return Boolean(counts) && isWithinChance(nodeShare(tree, node, 0), nodeShare(tree, node, 1), counts[0], counts[1]);
}

// Points of a hundred: "+14 %" would be more by a seventh.
export function changeText(change) {
	const value = Math.abs(change * 100);

	return value < 0.05 ? "±0" : `${change > 0 ? "+" : "−"}${value.toFixed(value < 10 ? 1 : 0)} points`;
}

// ---- where boxes lie ----

function rowOf(row) {
	while (picture.rows.length <= row)
		picture.rows.push([]);
	return picture.rows[row];
}

// A node and all below it, in rows from `row` on, in steps of `step`.
/** @param {FlameTree} tree @param {number} step */
function layNode(tree, root, x0, x1, row, step) {
	const stack = [[root, x0, x1, row]], least = FLAME_NARROW / Math.max(picture.width, 1);

	while (stack.length) {
		const [node, from, until, r] = stack.pop(), weight = treeWeight(tree, node);
		let x = from, narrow = 0, part = 0; // of those that are too narrow
		rowOf(r).push({tree, node, x0: from, x1: until});
		for (let c = tree.first[node]; c >= 0; c = tree.next[c]) {
			const wide = (until - from) * treeWeight(tree, c) / (weight || 1);
			if (wide < least) {
				narrow++;
				part += wide;
				continue;
			}
			stack.push([c, x, x + wide, r + step]);
			x += wide;
		}
		if (part >= least)
			rowOf(r + step).push({tree, node: -1, x0: x, x1: x + part, narrow});
	}
}

// From the root to what is in focus the whole width each, then what is below it.
/** @param {FlameTree} tree */
function layFlame(tree, focus) {
	const path = [];

	for (let node = focus; node > 0; node = tree.parent[node])
		path.unshift(tree.parent[node]);
	path.forEach((node, row) => rowOf(row).push({tree, node, x0: 0, x1: 1, above: true}));
	layNode(tree, focus, 0, 1, path.length, 1);
}

// Callers lie above their callees: the rows are counted from the function's.
function laySandwich({callers, callees}) {
	picture.rows = [];
	layNode(callers, callers.first[0] < 0 ? 0 : callers.first[0], 0, 1, 0, 1);
	const above = picture.rows.slice(1).reverse();
	picture.rows = [];
	layNode(callees, callees.first[0] < 0 ? 0 : callees.first[0], 0, 1, 0, 1);
	picture.middle = above.length;
	picture.rows = above.concat(picture.rows);
}

export function pictureLay() {
	const {result} = flame;

	picture.rows = [];
	picture.hover = null;
	picture.middle = 0;
	picture.width = picture.scroll ? picture.scroll.clientWidth : 0;
	if (!result || !result.sums.some((sum) => sum > 0) || !result.tree && !result.callers)
		return;
	if (result.tree)
		layFlame(result.tree, treeFind(result.tree, flame.focus));
	else
		laySandwich(result);
	for (const row of picture.rows)
		row.sort((a, b) => a.x0 - b.x0);
	picture.spacer.style.height = `${picture.rows.length * FLAME_ROW + 2}px`;
}

/** @param {number} x @param {number} y */
export function boxAt(x, y) {
	const row = picture.rows[Math.floor((y + picture.scroll.scrollTop) / FLAME_ROW)], at = x / picture.width;

	return row && row.find((box) => box.x0 <= at && at < box.x1) || null;
}

// The row of a box.
/** @param {FlameBox} box */
export function rowOfBox(box) {
	return picture.rows.findIndex((row) => row.includes(box));
}

// The box of a node, if it is seen.
/** @param {FlameTree} tree @param {number} node */
export function boxOfNode(tree, node) {
	for (const row of picture.rows)
		for (const box of row)
			if (box.tree === tree && box.node === node)
				return box;
	return null;
}

// ---- drawing ----

/** @param {FlameBox} box */
export function boxName(box) {
	if (box.node < 0)
		return box.narrow > 1 ? `${count(box.narrow)} more` : "1 more";
	return box.node ? functions.list[box.tree.fn[box.node]].name : "all";
}

/** @param {FlameBox} box */
export function boxColour(box) {
	const own = flameColours[theme.dark ? "dark" : "light"];

	if (box.node <= 0)
		return own.root;
	if (box.tree.value.length < 2)
		return functionColour(functions.list[box.tree.fn[box.node]]);
	const change = nodeChange(box.tree, box.node), most = flame.result.mostChange || 1;
	if (Math.abs(change) < 0.0005 || nodeIsChance(box.tree, box.node))
		return own.other;
	return colourMix(change > 0 ? own.more : own.less, own.root, 0.2 + 0.8 * Math.sqrt(Math.min(1, Math.abs(change) / most)));
}

// Of a comparison the sign stands first: colours alone do not tell everybody.
/** @param {FlameBox} box */
function boxText(box) {
	const name = boxName(box);

	return box.node > 0 && box.tree.value.length > 1 && !nodeIsChance(box.tree, box.node) ? `${changeText(nodeChange(box.tree, box.node))} ${name}` : name;
}

// Diagonal lines on what grew, for those who see no difference of hue.
/** @param {CanvasRenderingContext2D} ctx @param {number} x @param {number} y @param {number} w @param {number} h */
function drawGrown(ctx, x, y, w, h) {
	ctx.save();
	ctx.beginPath();
	ctx.rect(x, y, w, h);
	ctx.clip();
	ctx.globalAlpha = 0.35;
	ctx.lineWidth = 1;
	ctx.beginPath();
	for (let at = x - h; at < x + w; at += 7) {
		ctx.moveTo(at, y + h);
		ctx.lineTo(at + h, y);
	}
	ctx.stroke();
	ctx.restore();
}

/** @param {CanvasRenderingContext2D} ctx @param {FlameBox} box @param {number} y */
function drawFlameBox(ctx, box, y) {
	const x = box.x0 * picture.width, w = Math.max(box.x1 * picture.width - x, 0.5), h = FLAME_ROW - 1;
	const found = box.node > 0 && flame.found && flame.found[box.tree.fn[box.node]];
	let colour = found ? theme.style.accent : boxColour(box);

	if (flame.found && !found || box.above)
		colour = colourMix(colour, theme.style.bg, box.above ? 0.55 : 0.4);
	ctx.fillStyle = colour;
	ctx.fillRect(x, y, Math.max(w - (w > 3 ? 1 : 0), 0.5), h);
	if (box.node > 0 && box.tree.value.length > 1 && !found && nodeChange(box.tree, box.node) >= 0.0005 &&
		!nodeIsChance(box.tree, box.node) && w > 4) {
		ctx.strokeStyle = textOn(colour);
		if (w < 60)
			drawGrown(ctx, x, y, w - 1, h);
	}
	if (w < 22)
		return;
	const string = fitText(ctx, boxText(box), w - 7);
	if (!string)
		return;
	ctx.fillStyle = textOn(colour);
	ctx.fillText(string, x + 3, y + h / 2 + 0.5);
}

/** @param {CanvasRenderingContext2D} ctx @param {FlameBox} box @param {string} colour @param {number} width */
function drawFlameEdge(ctx, box, colour, width) {
	const row = box ? rowOfBox(box) : -1;

	if (row < 0)
		return;
	ctx.strokeStyle = colour;
	ctx.lineWidth = width;
	ctx.strokeRect(box.x0 * picture.width + width / 2, row * FLAME_ROW - picture.scroll.scrollTop + width / 2,
		Math.max((box.x1 - box.x0) * picture.width - width, 1), FLAME_ROW - 1 - width);
}

function pictureDraw() {
	const {canvas, scroll} = picture, height = scroll.clientHeight, ctx = canvas.getContext("2d");
	const first = Math.max(0, Math.floor(scroll.scrollTop / FLAME_ROW));

	picture.scheduled = false;
	canvasSize(canvas, picture.width, height, window.devicePixelRatio || 1);
	ctx.setTransform(canvas.width / Math.max(picture.width, 1), 0, 0, canvas.width / Math.max(picture.width, 1), 0, 0);
	ctx.clearRect(0, 0, picture.width, height);
	ctx.font = FONT;
	ctx.textBaseline = "middle";
	for (let row = first; row < picture.rows.length && row * FLAME_ROW - scroll.scrollTop < height; row++)
		for (const box of picture.rows[row])
			drawFlameBox(ctx, box, row * FLAME_ROW - scroll.scrollTop);
	if (picture.hover)
		drawFlameEdge(ctx, picture.hover, theme.style.text, 1);
	drawFlameEdge(ctx, picture.current, theme.style.accent, 2.5);
}

export function pictureSoon() {
	if (!picture.scheduled && picture.scroll) {
		picture.scheduled = true;
		requestAnimationFrame(pictureDraw);
	}
}

// Makes room for the row of a box.
/** @param {FlameBox} box */
export function pictureShow(box) {
	const top = rowOfBox(box) * FLAME_ROW, {scroll} = picture;

	if (top < scroll.scrollTop)
		scroll.scrollTop = top;
	else if (top + FLAME_ROW > scroll.scrollTop + scroll.clientHeight)
		scroll.scrollTop = top + FLAME_ROW - scroll.clientHeight;
}
