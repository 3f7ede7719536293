// held_test.mjs - run by modules.sh: which of the locks that a thread holds the page tells.

import assert from "node:assert/strict";
import {test} from "node:test";
import "./page_stub.mjs";
import {now} from "../../viewer/assets/now.js";
import {nowHeld, nowMoreHeld} from "../../viewer/assets/now_told.js";

// `n` locks of thread 7; one thread waits for each of those in `awaited`.
function holds(n, awaited) {
	now.held = new Map([[7, [...Array(n).keys()]]]);
	now.locks = {waiters: [...Array(n).keys()].map((k) => awaited.includes(k) ? 1 : 0)};
}

test("a dozen at most, and how many there are besides", () => {
	for (const [n, told, more] of [[0, 0, []], [1, 1, []], [12, 12, []], [13, 12, ["and 1 lock more"]], [8000, 12, ["and 7,988 locks more"]]]) {
		holds(n, []);
		assert.equal(nowHeld(7).told.length, told, `of ${n}`);
		assert.deepEqual(nowMoreHeld(nowHeld(7).more), more, `of ${n}`);
	}
	assert.deepEqual(nowHeld(8), {told: [], more: 0});
});

test("those first that threads wait for", () => {
	holds(20, [3, 19]);
	assert.deepEqual(nowHeld(7), {told: [3, 19, 0, 1, 2, 4, 5, 6, 7, 8, 9, 10], more: 8});
	holds(20, [...Array(20).keys()].slice(5));
	assert.deepEqual(nowHeld(7), {told: [5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16], more: 8});
});
