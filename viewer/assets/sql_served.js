// sql_served.js - the SQL box of a page that has no tables, but is shown by trace-view: trace-view answers.
//
// The page makes no request: it asks the frame around it (serve/frame.js).

import {errorText} from "./format.js";
import {SQL_NULL, answerAbout, answerCsv, answerOrder} from "./sql_values.js";

// Who asks trace-view; null: nobody does.
export function servedAsk() {
	try {
		return window.parent !== window && /** @type {any} */ (window.parent).trcSql || null;
	} catch {
		return null; // it is a frame of somebody else's
	}
}

// Rows, as trace-view sends them (serve/query.h), as columns.
function servedColumns({columns, rows}) {
	return columns.map((name, c) => {
		const kind = new Uint8Array(rows.length), number = new Float64Array(rows.length), words = [], known = new Map();

		for (const [i, row] of rows.entries()) {
			const value = row[c + 1];
			kind[i] = Number(row[0][c]);
			if (kind[i] !== SQL_NULL && typeof value === "string" && !known.has(value))
				known.set(value, words.push(value) - 1);
			if (kind[i] !== SQL_NULL)
				number[i] = typeof value === "string" ? known.get(value) : value;
		}
		return {name, kind, number, words};
	});
}

// What a worker with tables is to the SQL box (sql_worker.js).
export function servedWorker(ask, tell) {
	const stop = new AbortController();
	let answer = {id: 0, n: 0, more: false, answers: 0, columns: []};

	const answers = {
		ask: async ({id, sql: query}) => {
			const begun = performance.now(), told = JSON.parse(await ask(query, stop.signal, location.search));
			if (told.error)
				throw new Error(told.error);
			answer = {id, n: told.rows.length, more: told.more, answers: told.answers || 1, columns: servedColumns(told)};
			return {kind: "result", ms: performance.now() - begun, ...answer};
		},
		sort: ({of, column, descending}) => {
			answerAbout(answer, of);
			return {kind: "order", order: answerOrder(answer, column, descending)};
		},
		csv: ({of, order}) => {
			answerAbout(answer, of);
			return {kind: "csv", blob: answerCsv(answer, order)};
		},
	};
	const answered = async (data) => {
		try {
			tell({id: data.id, ...await answers[data.kind](data)});
		} catch (error) {
			tell({kind: "error", id: data.id, text: errorText(error)});
		}
	};
	return {postMessage: answered, terminate: () => stop.abort()};
}
