// findings.js - what the report leads with: how the process ended, deadlocks, and what is not in the
// trace.  It stands above the timeline, and, while nothing is selected, in the place of details.

function infoOf(key) {
	const found = head.info.find(([name]) => name === key);

	return found ? visible(found[1]) : "";
}

// Rows of trace.mark of signals that ended the process.
function fatalMarks() {
	return Array.from({length: trace.mark.n}, (_, i) => i).filter((i) => trace.mark.kind[i] === MARK_FATAL);
}

// "11 (SIGSEGV) code 1 at 0x0 in thread 4711": what the process left behind of a signal whose event is not
// in the trace.
function signalNote() {
	return fatalMarks().length ? "" : infoOf("signal");
}

// What ended the process, if that was not its own will.
function killedBy() {
	return infoOf("ended").startsWith("killed by") ? infoOf("ended") : "";
}

function endText() {
	if (head.complete)
		return "";
	return head.cut_off ? "The trace's end is missing: the file was cut off."
		: "What follows damage in the file is missing.";
}

function recoveredText() {
	const gone = Number(infoOf("recovered_ns") || 0) - (head.start_ns + head.span_ns);

	return recovered() ? `Recovered after the process had gone: it may have lived ${gone > 0
		? `up to ${duration(gone)} ` : ""}longer, and its last waits lasted longer.` : "";
}

// The circle of threads, each a link to its wait: a list of {parts, certain}.
function deadlocks() {
	const d = trace.dead, found = [];

	for (let i = 0; i < d.n;) {
		const number = d.number[i], circle = [];
		let behind = 0, certain = true;
		for (; i < d.n && d.number[i] === number; i++) {
			if (!d.cycle[i]) {
				behind++;
				continue;
			}
			certain = certain && d.certain[i] !== 0;
			const name = trace.threads[d.thread[i] - 1].name;
			circle.push(d.park[i] ? link(name, {kind: "park", id: d.park[i]}) : name, " → ");
		}
		const first = trace.threads[d.thread[d.number.indexOf(number)] - 1].name;
		found.push({certain, parts: [...circle, first, behind ? `; ${plural(behind, "thread")} behind it` : ""]});
	}
	return found;
}

// ---- above the timeline ----

function endBanners() {
	for (const i of fatalMarks()) {
		const thread = trace.threads[trace.mark.thread[i] - 1];
		bannerAdd("alarm", el("b", {}, "CRASH: "), link(text(trace.mark.text[i]), {kind: "mark", id: i + 1}),
			thread ? ` in ${thread.name}` : "");
	}
	if (!fatalMarks().length && (signalNote() || killedBy()))
		bannerAdd("alarm", el("b", {}, "ENDED: "), [killedBy(), signalNote()].filter((s) => s).join(", signal "));
	for (const {certain, parts} of deadlocks())
		bannerAdd("alarm", el("b", {}, `${certain ? "" : "Perhaps a "}DEADLOCK: `), ...parts);
	for (const string of [endText(), recoveredText()])
		if (string)
			bannerAdd("warn", string);
	if (head.table_full > 0)
		bannerAdd("warn", `${plural(head.table_full, "time")} there was no room for a stack, name, thread or module.`);
}

// ---- beside it ----

function crashViews() {
	return fatalMarks().flatMap((i) => [
		title(`Crashed: ${text(trace.mark.text[i])}`),
		actions({kind: "mark", id: i + 1}),
		facts([
			["Thread", threadLink(trace.mark.thread[i], trace.mark.time[i])],
			["Time", link(exactTime(trace.mark.time[i]), {kind: "mark", id: i + 1})],
			["Ended", killedBy()],
		]),
		stackView("The thread was at", trace.mark.stack[i], {whole: true}),
	]);
}

// By cause, as the gaps tell.
function lostView() {
	const sums = new Map(), g = trace.gap;

	for (let i = 0; i < g.n; i++)
		sums.set(g.cause[i], (sums.get(g.cause[i]) || 0) + g.lost[i]);
	return [...sums].filter(([, n]) => n > 0).map(([cause, n]) => el("p", {},
		`${plural(n, "event")} lost: ${head.causes[cause] || "cause not known"}. `,
		link("The first gap", {kind: "gap", id: g.cause.indexOf(cause) + 1})));
}

// In the report's order; nothing if all went well.
function findingsView() {
	const parts = crashViews();

	if (!parts.length && (killedBy() || signalNote()))
		parts.push(title(`Ended: ${killedBy() || "by a signal"}`), signalNote() ? el("p", {}, `Signal ${signalNote()}`) : null);
	for (const {certain, parts: circle} of deadlocks())
		parts.push(title(certain ? "Deadlock" : "Perhaps a deadlock"), el("p", {}, ...circle));
	const missing = [endText(), recoveredText(), head.warning ? visible(head.warning) : ""].filter((s) => s)
		.map((string) => el("p", {}, string)).concat(lostView());
	if (missing.length)
		parts.push(title("What is not in the trace"), ...missing);
	return parts;
}
