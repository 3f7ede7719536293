// tip.js - a few words at the pointer on what lies under it.

import {LATENCY_FACTORS} from "./annotations.js";
import {counterTip, isCounterKind} from "./counters.js";
import {text} from "./data.js";
import {taskName} from "./details.js";
import {fiberTip} from "./fibers_details.js";
import {byId, count, duration, el, plural} from "./format.js";
import {stateName} from "./palette.js";
import {cpuText} from "./procs.js";
import {parkAround, parkEnd, parkLabel, parkWake, reasonName, setText, stackWords,
	trace} from "./rows.js";
import {sampleText, sampleTop} from "./samples.js";
import {MERGED, RUNNING, WOKEN, refOf} from "./states.js";
import {timeOf} from "./times.js";

// How a task's time compares with that of half of its type; i: its row.
/** @param {number} i */
function medianText(i) {
	const {median} = trace.taskTypes.find((track) => track.type === trace.task.type[i]), times = trace.task.length[i] / median;

	return times > LATENCY_FACTORS[0] ? `${times < 10 ? times.toFixed(1) : count(times)} times the median of its type` : "";
}

const TIP_TASKS = 10; // so many are named

/** @param {Hit} hit */
export function tipText(hit) {
	const i = hit.id - 1;
	const more = hit.among > 1 ? ` (one of ${count(hit.among)} here)` : "";

	if (hit.kind === "park") {
		const p = trace.park;
		const woken = hit.item && trace.states.v[hit.index] === WOKEN;
		return [`${parkLabel(hit.id)}${more}`,
			woken ? `woken, ran ${duration(parkEnd(hit.id) - parkWake(hit.id))} later` : "",
			stackWords(p.stack[i]), p.waker[i] ? `${reasonName(p.reason[i]) === "spin" ? "released" : "woken"} by ${trace.threads[p.waker[i] - 1].label}` : ""];
	}
	if (hit.kind === "iv") {
		const value = trace.states.v[i], length = timeOf(trace.states.s, i + 1) - timeOf(trace.states.s, i);
		if (value & MERGED)
			return [`${count(refOf(trace.states, i))} short intervals, mostly ${stateName[value]}`];
		return [`${stateName[value]} ${duration(length)}${more}`,
			value === RUNNING ? `on proc ${refOf(trace.states, i)}` : parkAround(i) ? `in ${parkLabel(parkAround(i))}` : ""];
	}
	if (hit.kind === "region")
		return [`${text(trace.region.type[i])} ${duration(trace.region.length[i])}${more}`, "region"];
	if (hit.tasks)
		return [`${plural(hit.tasks.length, "task")} of type ${hit.track.name}`, "for which there is no lane; a click selects one after the other",
			...hit.tasks.slice(0, TIP_TASKS).map((k) => `${taskName(k + 1)} ${duration(trace.task.length[k])}`),
			hit.tasks.length > TIP_TASKS ? `and ${count(hit.tasks.length - TIP_TASKS)} more` : ""];
	if (hit.kind === "task")
		return [`${taskName(hit.id)} ${duration(trace.task.length[i])}${more}`, "task", medianText(i)];
	if (hit.kind === "fiberrun")
		return fiberTip(i, more);
	if (isCounterKind(hit.kind))
		return counterTip(hit);
	if (hit.kind === "cpu")
		return [`${cpuText(i)} ${duration(trace.cpu.length[i])}${more}`, `on proc ${trace.cpu.proc[i]}`];
	if (hit.kind === "labels")
		return [`${setText(trace.under.set[i])}${more}`,
			`for ${duration(trace.under.length[i])}`, "labels"];
	if (hit.kind === "sample")
		return [sampleTop(trace.sample.stack[i]), sampleText(i)];
	if (hit.kind === "mark")
		return [text(trace.mark.text[i]), stackWords(trace.mark.stack[i])];
	return [text(trace.log.message[i]), `log ${text(trace.log.category[i])}`];
}

/** @param {Hit | null} hit @param {number} [clientX] @param {number} [clientY] */
export function tipDraw(hit, clientX, clientY) {
	const tip = byId("tip");

	tip.hidden = !hit;
	if (!hit)
		return;
	const [first, ...rest] = tipText(hit).filter((line) => line);
	tip.replaceChildren(el("b", {}, first), ...rest.map((line) => el("div", {}, line)));
	tipPlace(clientX, clientY);
}

export function tipHide() {
	byId("tip").hidden = true;
}

// A tooltip goes with what it is of, whichever way the pointer leaves, and when another window has the keys.
export function tipLeaves() {
	document.addEventListener("pointerover", (event) => {
		if (!(/** @type {Element} */ (event.target).closest("canvas, #canvases")))
			tipHide();
	});
	document.documentElement.addEventListener("pointerleave", tipHide);
	window.addEventListener("blur", tipHide);
}

// Beside the pointer, on the side where there is room.
/** @param {number} clientX @param {number} clientY */
export function tipPlace(clientX, clientY) {
	const tip = byId("tip");
	const box = tip.getBoundingClientRect();
	const right = clientX + 14 + box.width <= window.innerWidth;
	const below = clientY + 18 + box.height <= window.innerHeight;
	const x = Math.max(0, Math.round(right ? clientX + 14 : clientX - box.width - 10));
	const y = Math.max(0, Math.round(below ? clientY + 18 : clientY - box.height - 10));
	tip.style.transform = `translate(${x}px, ${y}px)`;
}
