// sql_values.js - the values of an answer to a query, their order, and the answer as CSV; in the worker (sql_worker.js), and in a page whose
// queries trace-view answers (sql_served.js).
//
// An answer has of each column {name, kind, number, words}: `kind` says of each value what it is, `number` holds numbers, or else
// the index of its text in `words`.  Integers that are not exact as doubles are texts, too.

export const SQL_INTEGER = 1, SQL_REAL = 2, SQL_TEXT = 3, SQL_BLOB = 4, SQL_NULL = 5, SQL_BIG = 6;

// Keys that compare as SQLite's values: NULL, numbers, texts, blobs.
function orderKeys({kind, number, words}) {
	const byText = words.map((_, i) => i).sort((a, b) => words[a] < words[b] ? -1 : words[a] > words[b] ? 1 : 0);
	const ranks = new Float64Array(words.length);
	const group = {[SQL_NULL]: 0, [SQL_INTEGER]: 1, [SQL_REAL]: 1, [SQL_BIG]: 1, [SQL_TEXT]: 2, [SQL_BLOB]: 3};
	const key = new Float64Array(kind.length), groups = new Uint8Array(kind.length);

	byText.forEach((word, rank) => { ranks[word] = rank; });
	for (let i = 0; i < kind.length; i++) {
		groups[i] = group[kind[i]];
		key[i] = kind[i] === SQL_BIG ? Number(words[number[i]]) : groups[i] > 1 ? ranks[number[i]] : number[i];
	}
	return {key, groups};
}

// A question about an answer comes too late if another query has been answered since.
export function answerAbout(answer, of) {
	if (answer.id !== of)
		throw new Error("another query has been answered since");
}

// Its rows in the order of a column; as they came if that is -1.
/** @param {number} column @param {boolean} descending */
export function answerOrder(answer, column, descending) {
	const order = new Uint32Array(answer.n).map((_, i) => i);

	if (column >= 0) {
		const {key, groups} = orderKeys(answer.columns[column]), sign = descending ? -1 : 1;
		order.sort((a, b) => sign * (groups[a] - groups[b] || key[a] - key[b]) || a - b);
	}
	return order;
}

// As SQLite writes it: 15 digits, and never without a point.
function realText(value) {
	if (!Number.isFinite(value))
		return value > 0 ? "Inf" : "-Inf";
	const [digits, exponent] = value.toExponential(14).split("e"), power = Number(exponent);
	const trimmed = (text) => text.replace(/0+$/, "").replace(/\.$/, ".0");

	if (power < -4 || power >= 15)
		return `${trimmed(digits)}e${power < 0 ? "-" : "+"}${String(Math.abs(power)).padStart(2, "0")}`;
	return trimmed(value.toFixed(Math.max(1, 14 - power)));
}

function valueString({kind, number, words}, i) {
	switch (kind[i]) {
	case SQL_INTEGER: return String(number[i]);
	case SQL_REAL: return realText(number[i]);
	case SQL_NULL: return "";
	default: return words[number[i]];
	}
}

function csvField(string) {
	return string === "" || /[,"\r\n]/.test(string) ? `"${string.replaceAll('"', '""')}"` : string;
}

function csvNull(column, i) {
	return column.kind[i] === SQL_NULL ? "" : csvField(valueString(column, i));
}

// The CSV.  In parts: one string may not hold all.
export function answerCsv(answer, order) {
	const parts = [];
	let lines = [answer.columns.map(({name}) => csvField(name)).join(",")];

	for (const i of order) {
		lines.push(answer.columns.map((column) => csvNull(column, i)).join(","));
		if (lines.length === 10000) {
			parts.push(lines.join("\n") + "\n");
			lines = [];
		}
	}
	parts.push(lines.length ? lines.join("\n") + "\n" : "");
	return new Blob(parts, {type: "text/csv"});
}
