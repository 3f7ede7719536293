// semaphores.js - what is said of a semaphore, which has no owner: that nobody holds it, and who posted it last.

import {threadLink} from "./details.js";
import {exactTime} from "./format.js";
import {parkWake, reasonName, trace} from "./rows.js";

export const NO_OWNER = "a semaphore has no owner, any thread may post it";

// Whether waits for this reason, by its number, are for a semaphore.
/** @param {number} reason */
export function isOfSemaphore(reason) {
	return ["sem", "sem_lock"].includes(reasonName(reason));
}

// The last post of an object, up to a time, that ended a wait: that wait, or 0.  Posts that nobody waits for are not recorded.
/** @param {number} object @param {number} until */
function postBefore(object, until) {
	const p = trace.park;
	let last = 0, at = -1;

	for (let i = 0; i < p.n; i++) {
		if (p.object[i] !== object || !p.waker[i] || !isOfSemaphore(p.reason[i]))
			continue;
		const wake = parkWake(i + 1);
		if (wake > at && wake <= until) {
			last = i + 1;
			at = wake;
		}
	}
	return last;
}

// Who posted an object last, as parts of a line.
/** @param {number} object @param {number} until */
export function postedLast(object, until) {
	const park = postBefore(object, until);

	if (!park)
		return ["not recorded: only posts that end a wait are"];
	const wake = parkWake(park);
	return [threadLink(trace.park.waker[park - 1], wake), ` at ${exactTime(wake)}`];
}
