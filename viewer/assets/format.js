// format.js - numbers as people read them, and elements made of text only.

/** @type {[string, number][]} */
export const UNITS = [["s", 1e9], ["ms", 1e6], ["µs", 1e3], ["ns", 1]];

// A length of time with three significant digits: 1.23 ms.
/** @param {number} ns */
export function duration(ns) {
	for (const [unit, size] of UNITS) {
		const value = ns / size;
		if (value >= 0.9995 || size === 1) {
			const digits = value >= 99.95 || size === 1 ? 0 : value >= 9.995 ? 1 : 2;
			return `${value.toFixed(digits)} ${unit}`;
		}
	}
	return "";
}

// A point in time, with as many digits as a step of `step` nanoseconds needs.
/** @param {number} ns @param {number} step */
export function timePoint(ns, step) {
	const [unit, size] = UNITS.find(([, s]) => Math.abs(ns) >= s || s === 1);
	const digits = Math.max(0, Math.min(9, Math.ceil(Math.log10(size / step) - 1e-9)));

	return ns === 0 ? "0" : `${(ns / size).toFixed(digits)} ${unit}`;
}

// Exact, in seconds: 1.234 567 890 s.
/** @param {number} ns */
export function exactTime(ns) {
	const whole = Math.floor(ns / 1e9);
	const rest = String(Math.round(ns - whole * 1e9)).padStart(9, "0");

	return `${whole}.${rest.slice(0, 3)} ${rest.slice(3, 6)} ${rest.slice(6)} s`;
}

// A whole number, in groups of three digits: 1,234,567.  Not by toLocaleString(), of which the first call takes tens of milliseconds.
export function count(n) {
	const digits = String(Math.round(n));

	return digits.length > 3 ? digits.replace(/\B(?=(\d{3})+$)/g, ",") : digits;
}

/** @type {[string, number][]} */
const BYTE_UNITS = [["GB", 1e9], ["MB", 1e6], ["kB", 1e3]];

/** @param {number} n */
export function bytesText(n) {
	for (const [unit, size] of BYTE_UNITS)
		if (Math.abs(n) >= size)
			return `${(n / size).toFixed(Math.abs(n) < 10 * size ? 2 : 1)} ${unit}`;
	return plural(n, "byte");
}

/** @type {Map<string, number>} */
const TIME_UNITS = new Map([["ns", 1], ["nanoseconds", 1], ["us", 1e3], ["µs", 1e3], ["ms", 1e6], ["s", 1e9], ["seconds", 1e9]]);

// A quantity in a unit: times and bytes in the unit that fits.
/** @param {number} value @param {string} unit */
export function amount(value, unit) {
	const ns = TIME_UNITS.get(unit), whole = Number.isInteger(value) || Math.abs(value) >= 1000;

	if (ns)
		return (value < 0 ? "-" : "") + duration(Math.abs(value) * ns);
	if (unit === "bytes")
		return bytesText(value);
	return (whole ? count(value) : value.toPrecision(3)) + (unit && unit !== "count" ? ` ${unit}` : "");
}

export function plural(n, one, many) {
	return `${count(n)} ${n === 1 ? one : many || one + "s"}`;
}

export function percent(part, whole) {
	const value = whole > 0 ? 100 * part / whole : 0;

	return value > 0 && value < 0.1 ? "< 0.1 %" : `${value.toFixed(value < 10 ? 1 : 0)} %`;
}

// At most so many characters, cut with a mark.
/** @param {string} string @param {number} most */
export function cutText(string, most) {
	return string.length > most ? `${string.slice(0, most - 1)}…` : string;
}

// From two 32-bit halves.
function hex(low, high) {
	return "0x" + (BigInt(high) << 32n | BigInt(low)).toString(16);
}

// Small numbers are descriptors, large ones addresses.
export function object(low, high) {
	return !high && low < 65536 ? String(low) : hex(low, high);
}

// An element with attributes, handlers (on...) and children; strings become text nodes.
/** @template {keyof HTMLElementTagNameMap} K @param {K} tag @param {Record<string, any> | null} [attributes] @param {...any} children @returns {HTMLElementTagNameMap[K]} */
export function el(tag, attributes, ...children) {
	const element = document.createElement(tag);

	for (const [name, value] of Object.entries(attributes || {})) {
		if (value === undefined || value === false)
			continue;
		if (name.startsWith("on"))
			element.addEventListener(name.slice(2), value);
		else
			element.setAttribute(name, value === true ? "" : value);
	}
	for (const child of children.flat())
		if (child !== null && child !== undefined && child !== "")
			element.append(child);
	return element;
}

/** @template {string} K @param {K} id @returns {K extends keyof PageElements ? PageElements[K] : HTMLElement} */
export function byId(id) {
	return /** @type {any} */ (document.getElementById(id));
}

// The last component of a path.
export function baseName(path) {
	return path.slice(path.lastIndexOf("/") + 1);
}

// First index in [lo, hi) whose value is above `limit`; hi if there is none.
/** @param {number} limit */
export function upperBound(array, lo, hi, limit) {
	while (lo < hi) {
		const mid = (lo + hi) >>> 1;
		if (array[mid] > limit)
			hi = mid;
		else
			lo = mid + 1;
	}
	return lo;
}

// What an error says of itself.
/** @param {unknown} error */
export function errorText(error) {
	return error instanceof Error ? error.message : String(error);
}
