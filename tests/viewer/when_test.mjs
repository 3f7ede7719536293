// when_test.mjs - run by modules.sh: ranges of time that are typed, in the forms of --window.

import assert from "node:assert/strict";
import {test} from "node:test";
import "./page_stub.mjs";
import {whenRead, whenText} from "../../viewer/assets/when.js";

const BEGAN = Date.parse("2026-11-24T23:59:50.500Z"), LASTS = 20e9;
const about = {unixMs: BEGAN, unixRest: 0, lasts: LASTS};

test("ranges as --window takes them", () => {
	for (const [typed, t0, t1] of [["1.2s..1.35s", 1.2e9, 1.35e9], ["1.2s..+80ms", 1.2e9, 1.28e9], [" 350 ms .. ", 350e6, LASTS], ["..2s", 0, 2e9], ["..", 0, LASTS],
		["0..1us", 0, 1000], ["1s 5 ms..2 s", 1.005e9, 2e9], ["7µs..9us", 7000, 9000], [".5s..0.6s", 5e8, 6e8], ["0.1min..7s", 6e9, 7e9], ["19s..99s", 19e9, LASTS],
		["23:59:51..23:59:52.5", 0.5e9, 2e9], ["23:59:51,25..+300ms", 0.75e9, 1.05e9], ["00:00:01Z..00:00:02 UTC", 10.5e9, 11.5e9],
		["2026-11-24T23:59:51Z..2026-11-25 00:00:00", 0.5e9, 9.5e9], ["23:59:00..1s", 0, 1e9]])
		assert.deepEqual(whenRead(typed, about), {t0, t1}, typed);
});

test("a trace that began between two milliseconds", () => {
	const late = {...about, unixRest: 400001};

	for (const [typed, t0, t1] of [["23:59:51..23:59:52.5", 499599999, 1999599999], ["2026-11-24T23:59:50.500400002Z..+1us", 1, 1001], ["23:59:50.5004..", 0, LASTS]])
		assert.deepEqual(whenRead(typed, late), {t0, t1}, typed);
	assert.match(whenRead("15:00:00..15:00:01", {...late, unixRest: 999999, lasts: 1}).error, /is of 2026-11-24 23:59:50\.500 to 23:59:50\.501 UTC/);
});

test("a clock that was set while it went", () => {
	// After 4 s it was put back by 10 s, and after 8 s forward by 20 s: it read 23:59:54.5 twice, and never 00:00:00.
	const set = {...about, clock: [[-6e9, 4e9], [18e9, 8e9]]};

	for (const [typed, t0, t1] of [["23:59:50..+1s", 5.5e9 + 4e9, 6.5e9 + 4e9], ["23:59:44.5..+1s", 4e9, 5e9], ["00:00:09..+1s", 8.5e9, 9.5e9], ["1s..2s", 1e9, 2e9]])
		assert.deepEqual(whenRead(typed, set), {t0, t1}, typed);
});

test("what is none is told in one line", () => {
	for (const [typed, error] of [["1.2..1.35", /is no range of time: write 1\.2s\.\.1\.35s/], ["1.2s", /is no range/], ["", /is no range/], ["+1s..2s", /is no range/], ["a..b", /is no range/],
		["-1s..2s", /is no range/], ["0x1s..2s", /is no range/], ["1s..25:00:00", /is no range/], ["2026-02-31T00:00:00..", /is no range/], ["1s1s1s1s1s..", /is no range/],
		["2s..1s", /ends before it begins/], ["1s..1s", /is empty/], ["1s..+0", /is empty/], ["30s..40s", /the trace lasts 20\.0 s/],
		["15:00:00..15:00:01", /the trace is of 2026-11-24 23:59:50\.500 to 00:00:10\.500 UTC/]]) {
		const told = whenRead(typed, about);
		assert.deepEqual(Object.keys(told), ["error"], typed);
		assert.match(told.error, error, typed);
		assert.doesNotMatch(told.error, /\n/);
	}
	assert.match(whenRead("12:00:00..", {unixMs: 0, unixRest: 0, lasts: LASTS}).error, /does not say what time it was/);
	assert.ok(whenRead(`${"9".repeat(5000)}s..`, about).error.length < 300);
});

test("a range is written as it is typed", () => {
	for (const [t0, t1, text] of [[1.2e9, 1.35e9, "1.2s..1.35s"], [0, 80e6, "0ns..80ms"], [1234567891, 1234567892, "1.234567891s..1.234567892s"], [999, 1001, "999ns..1.001µs"]]) {
		assert.equal(whenText({t0, t1}), text);
		assert.deepEqual(whenRead(text, about), {t0, t1});
	}
});
