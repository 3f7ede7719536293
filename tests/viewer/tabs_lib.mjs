// tabs_lib.mjs - what the tests of the tabs share: the pages, SQL of their traces, numbers.

import path from "node:path";
import * as analyzer from "./analyzer.mjs";
import {openPage, same} from "./browser_lib.mjs";

const [program, directory] = process.argv.slice(2);

export const analyze = program;
export const pages = path.resolve(directory);

export function sql(trace, query, ...options) {
	return (options.length ? analyzer.rowsOnce : analyzer.rowsOf)(analyze, `${pages}/${trace}.trc`, query, options);
}

// The smallest of sorted values that so many percent do not exceed.
export function percentile(sorted, part) {
	return sorted.length ? sorted[Math.max(1, Math.ceil(sorted.length * part / 100)) - 1] : 0;
}

export function sorted(values) {
	return Float64Array.from(values).sort();
}

export function sum(values) {
	return values.reduce((a, b) => a + b, 0);
}

// A name as the page writes it.
export function shown(name) {
	return name ? name.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu,
		(c) => `\\u${c.codePointAt(0).toString(16).padStart(4, "0")}`) : "(no type)";
}

export async function opened(context, trace, use, fragment = "") {
	const page = await openPage(context, `${pages}/${trace}.html`, fragment);

	await use(page, trace);
	same(page.troubles, [], `${trace}: nothing went wrong`);
	await page.close();
}

export async function histogramIs(page, tab, durations, what) {
	const buckets = await page.evaluate((name) => window.trc[name].buckets(), tab);

	same(sum(buckets.map((b) => b.n)), durations.length, `${what}: all are in buckets`);
	for (const {from, until, n} of buckets)
		same(n, durations.filter((ns) => ns >= from && ns < until).length, `${what}: from ${from} to ${until} ns`);
	same(await page.locator(".tab:not([hidden]) .bucket").count(), buckets.length, `${what}: each has a button`);
}
