// flame_fold.js - from items to a tree of functions.
//
// A chain is a combo's functions from the outermost to the innermost, then its lead.  Functions are those of one
// name, file and module, or, without a name, those that begin at one place; a chain names them by number, and leads by the numbers behind.
// A tree has arrays by node, node 0 is the root: fn, parent, first and next (its children, those with most first), depth, and of
// each side (A, B of a comparison, else one) its value.

import {text} from "./data.js";
import {FRAMES_ALL, FRAMES_OWN, combos} from "./flame_items.js";
import {OWNER_PROGRAM, OWNER_TRC, frameFunction, trace} from "./rows.js";
import {TRC_ITSELF} from "./samples.js";

export const functions = {of: null, list: [], byKey: new Map(), chains: []};

export function functionNumber(key, make) {
	let number = functions.byKey.get(key);

	if (number === undefined) {
		number = functions.list.push(make()) - 1;
		functions.byKey.set(key, number);
	}
	return number;
}

function functionOfFrame(j) {
	const f = trace.frame, module = f.module[j] ? text(f.module[j]) : "";

	if (f.owner[j] === OWNER_TRC)
		return functionNumber(TRC_ITSELF, () => ({name: TRC_ITSELF, file: "", module: "", owner: OWNER_TRC, lead: null}));
	const shown = frameFunction(j);
	return functionNumber(`${shown}\n${f.file[j]}\n${f.module[j]}`, () => ({name: shown, file: f.file[j] ? text(f.file[j]) : "",
		module, owner: f.owner[j], lead: null}));
}

function leadFunction(number) {
	const lead = combos.leads[number - 1];

	return functionNumber(`lead ${number}`, () => ({name: lead.name, file: "", module: "", owner: OWNER_PROGRAM, lead}));
}

export function functionsLoad() {
	functions.of = new Uint32Array(trace.frame.n + 1);
	for (let j = 0; j < trace.frame.n; j++)
		functions.of[j + 1] = functionOfFrame(j);
}

// Frames [first, last) of a stack, innermost first, that count.
/** @param {number} stack */
function stackSpan(stack, frames) {
	let first = trace.stackFirst[stack];
	const last = trace.stackFirst[stack + 1], owner = (i) => trace.frame.owner[trace.stackFrames[i] - 1];

	if (frames === FRAMES_ALL)
		return [first, last];
	let i = first, own = first;
	for (let only = true; i < last && owner(i) !== OWNER_PROGRAM; i++) {
		only = only && owner(i) === OWNER_TRC;
		if (only)
			own = i + 1;
	}
	first = i < last ? i : own < last ? own : first;
	return [first, last];
}

// Trc's own frames are one where they are innermost; elsewhere they only call the program, or for it.
/** @param {number} combo */
function chainMake(combo) {
	const stack = combos.stack[combo], lead = combos.lead[combo], fns = [], frames = [];
	const known = stack && stack < trace.stack.n && trace.stackFirst[stack] < trace.stackFirst[stack + 1];

	if (known) {
		const [first, last] = stackSpan(stack, combos.frames[combo]);
		let i = first;
		for (; i < last && trace.frame.owner[trace.stackFrames[i] - 1] === OWNER_TRC; i++)
			;
		if (i > first) {
			fns.push(functions.of[trace.stackFrames[first]]);
			frames.push(trace.stackFrames[first]);
		}
		for (; i < last; i++)
			if (trace.frame.owner[trace.stackFrames[i] - 1] !== OWNER_TRC) {
				fns.push(functions.of[trace.stackFrames[i]]);
				frames.push(trace.stackFrames[i]);
			}
	} else if (!lead || combos.frames[combo] === FRAMES_OWN) {
		fns.push(functionNumber("(no stack)", () => ({name: "(no stack)", file: "", module: "", owner: OWNER_PROGRAM,
			lead: {name: "", state: 0}})));
		frames.push(0);
	}
	fns.reverse();
	frames.reverse();
	const own = fns.length;
	if (lead) {
		fns.push(leadFunction(lead));
		frames.push(0);
	}
	return {fns, frames, own};
}

// The chain of a combo: {fns, frames: rows + 1, own: how many of them are functions}; made once.
/** @param {number} combo */
export function chainOf(combo) {
	if (!functions.of)
		functionsLoad();
	functions.chains[combo] = functions.chains[combo] || chainMake(combo);
	return functions.chains[combo];
}

// What a kind's items add to.  `visit` instead sees each item.
export function foldMake(selection, {idle = false, visit = null} = {}) {
	const fold = {...selection, idle, unseen: 0, samples: {value: 0, squares: 0, n: 0}, values: new Float64Array(1024), add: null};

	fold.add = visit || ((combo, value) => {
		if (combo >= fold.values.length) {
			const larger = new Float64Array(Math.max(combo + 1, fold.values.length * 2));
			larger.set(fold.values);
			fold.values = larger;
		}
		fold.values[combo] += value;
	});
	return fold;
}

// By function: [self, total], of values by combo.  One that calls itself counts once; what a lead says is the
// function's own.
export function functionTotals(values) {
	const self = new Float64Array(functions.list.length), total = new Float64Array(functions.list.length);
	const counted = new Int32Array(functions.list.length).fill(-1);

	for (let combo = 0; combo < values.length; combo++) {
		if (!(values[combo] > 0))
			continue;
		const {fns, own} = chainOf(combo);
		for (const fn of fns)
			if (counted[fn] !== combo) {
				counted[fn] = combo;
				total[fn] += values[combo];
			}
		self[fns[own ? own - 1 : 0]] += values[combo];
	}
	return {self, total};
}

export function treeMake(sides) {
	return {n: 1, fn: [-1], parent: [-1], first: [-1], next: [-1], depth: [0], frame: [0], most: [0], low: [0], high: [0],
		value: Array.from({length: sides}, () => [0]), index: new Map(), height: 0};
}

/** @param {FlameTree} tree @param {number} node */
function treeChild(tree, node, fn) {
	const key = node * 4194304 + fn;
	let child = tree.index.get(key);

	if (child === undefined) {
		child = tree.n++;
		tree.index.set(key, child);
		tree.fn.push(fn);
		tree.parent.push(node);
		tree.first.push(-1);
		tree.next.push(tree.first[node]);
		tree.first[node] = child;
		tree.depth.push(tree.depth[node] + 1);
		for (const list of [tree.frame, tree.most, tree.low, tree.high, ...tree.value])
			list.push(0);
		tree.height = Math.max(tree.height, tree.depth[child]);
	}
	return child;
}

// Which line of a function: of the frames in a node, and the one with most.
/** @param {FlameTree} tree @param {number} node */
function treeFrame(tree, node, frame, value) {
	const line = frame ? trace.frame.line[frame - 1] : 0;

	if (value > tree.most[node]) {
		tree.most[node] = value;
		tree.frame[node] = frame;
	}
	if (line) {
		tree.low[node] = tree.low[node] ? Math.min(tree.low[node], line) : line;
		tree.high[node] = Math.max(tree.high[node], line);
	}
}

// Adds a path, in the order of the tree: [fn, frame] of each.
/** @param {FlameTree} tree @param {number} step */
function treeAdd(tree, fns, frames, from, step, end, amounts) {
	let node = 0, most = 0;

	for (const [side, amount] of amounts.entries()) {
		tree.value[side][0] += amount;
		most = Math.max(most, amount);
	}
	for (let i = from; i !== end; i += step) {
		node = treeChild(tree, node, fns[i]);
		for (const [side, amount] of amounts.entries())
			tree.value[side][node] += amount;
		treeFrame(tree, node, frames[i], most);
	}
	return node;
}

/** @param {FlameTree} tree @param {number} node */
export function treeWeight(tree, node) {
	let sum = 0;

	for (const [side, value] of tree.value.entries())
		sum += value[node] / (tree.value[side][0] || 1);
	return sum;
}

// Children by what they have, most first.
/** @param {FlameTree} tree */
function treeSort(tree) {
	for (let node = 0; node < tree.n; node++) {
		const children = [];
		for (let c = tree.first[node]; c >= 0; c = tree.next[c])
			children.push(c);
		if (children.length < 2)
			continue;
		children.sort((a, b) => treeWeight(tree, b) - treeWeight(tree, a) || a - b);
		tree.first[node] = children[0];
		children.forEach((c, i) => {
			tree.next[c] = i + 1 < children.length ? children[i + 1] : -1;
		});
	}
	return tree;
}

// The part of a chain that a tree has: [from, step, end] of its indices, or null if it has none.
//   down: from the outermost;  up: from the innermost;  callees and callers: from the function `fn`, where it is outermost
/** @param {{fns: number[]}} chain @param {string} order @param {number} fn @returns {[number, number, number] | null} */
function chainPart({fns}, order, fn) {
	const at = order === "callees" || order === "callers" ? fns.indexOf(fn) : 0;

	if (at < 0)
		return null;
	return /** @type {Record<string, [number, number, number]>} */ ({down: [0, 1, fns.length], up: [fns.length - 1, -1, -1], callees: [at, 1, fns.length], callers: [at, -1, -1]})[order];
}

// A generator that returns the tree of values by combo, an array for each side.
export function* treeOf(sides, order, fn) {
	const tree = treeMake(sides.length), n = Math.max(...sides.map((values) => values.length));

	for (let combo = 0; combo < n; combo++) {
		const amounts = sides.map((values) => Math.max(0, values[combo] || 0));
		if (combo % 512 === 0)
			yield;
		if (!amounts.some((amount) => amount > 0))
			continue;
		const chain = chainOf(combo), part = chainPart(chain, order, fn);
		if (part)
			treeAdd(tree, chain.fns, chain.frames, ...part, amounts);
	}
	return treeSort(tree);
}

// The functions from the root to a node.
/** @param {FlameTree} tree @param {number} node */
export function treePath(tree, node) {
	const path = [];

	for (; node > 0; node = tree.parent[node])
		path.unshift(tree.fn[node]);
	return path;
}

// The node at the end of a path, or the last of it that is there.
/** @param {FlameTree} tree */
export function treeFind(tree, path) {
	let node = 0;

	for (const fn of path) {
		const child = tree.index.get(node * 4194304 + fn);
		if (child === undefined)
			break;
		node = child;
	}
	return node;
}

// By combo: whether its path goes through there.
export function combosThrough(path, order, fn) {
	const found = new Uint8Array(combos.stack.length);

	for (let combo = 0; combo < found.length; combo++) {
		if (!functions.chains[combo])
			continue;
		const {fns} = functions.chains[combo], part = chainPart(functions.chains[combo], order, fn);
		if (!part)
			continue;
		const [from, step, end] = part;
		let k = 0;
		for (let i = from; i !== end && k < path.length && fns[i] === path[k]; i += step)
			k++;
		if (k === path.length)
			found[combo] = 1;
	}
	return found;
}
