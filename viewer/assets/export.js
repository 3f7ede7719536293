// export.js - what is selected, to go on with elsewhere: a stack as text, the waits and samples of a range as CSV, a flame
// graph as a profile for pprof, and the command that makes a page of a range.

// Copies, and says so in the place of a button's words for a while.
/** @param {string} string */
async function copyText(string, button) {
	const words = button.dataset.words ??= button.textContent;

	try {
		await navigator.clipboard.writeText(string);
		button.textContent = "Copied";
	} catch {
		button.textContent = "The browser does not let this page copy";
	}
	clearTimeout(Number(button.dataset.timer));
	button.dataset.timer = setTimeout(() => { button.textContent = words; }, 1500);
}

function copyButton(words, title, make) {
	const button = el("button", {type: "button", class: "copy", title, onclick: () => copyText(make(), button)}, words);

	return button;
}

// One frame a line, innermost first: "function file:line", or its module.
/** @param {number} stack */
function stackText(stack) {
	return stackFrames(stack).map((f) => [f.function || f.address, f.file ? f.file + (f.line ? `:${f.line}` : "") : f.module]
		.filter((part) => part).join(" ")).join("\n") + "\n";
}

// ---- a range as CSV ----

function csvCell(value) {
	const string = value === null || value === undefined ? "" : String(value);

	return /[",\r\n]/.test(string) ? `"${string.replaceAll('"', '""')}"` : string;
}

// In parts: one string may not hold all.
function csvBlob(names, rows) {
	const parts = [];
	let lines = [names.join(",")];

	for (const row of rows) {
		lines.push(row.map(csvCell).join(","));
		if (lines.length === 10000) {
			parts.push(lines.join("\n") + "\n");
			lines = [];
		}
	}
	parts.push(lines.length ? lines.join("\n") + "\n" : "");
	return new Blob(parts, {type: "text/csv"});
}

function isShownThread() {
	const shown = new Uint8Array(trace.threads.length + 1);

	for (const thread of tracks.threads)
		shown[thread.idx + 1] = 1;
	return shown;
}

// Times are SQL's; waited_ns is what lies in the range, by the rules of --window.
/** @param {number} t0 @param {number} t1 */
function* waitsIn(t0, t1) {
	const p = trace.park, {id} = p, shown = isShownThread(); // all ids at once: one alone is sought on every thread

	for (let i = 0; i < p.n; i++) {
		const start = p.start[i], end = start + p.length[i], open = (p.flags[i] & 2) !== 0;
		const touches = p.length[i] ? start < t1 && end > t0 : start >= t0 && start < t1;
		if (!shown[p.thread[i]] || !touches)
			continue;
		const thread = trace.threads[p.thread[i] - 1];
		yield [id[i], thread.serial, thread.tid, thread.name, reasonName(p.reason[i]), waitedFor(i + 1), head.start_ns + start,
			open ? null : head.start_ns + end, Math.min(end, t1) - Math.max(start, t0), p.stack[i] || null, stackPath(p.stack[i], Infinity)];
	}
}

const WAIT_COLUMNS = ["id", "thread", "tid", "thread_name", "reason", "object", "start_ns", "end_ns", "waited_ns", "stack", "place"];

/** @param {number} t0 @param {number} t1 */
function* samplesIn(t0, t1) {
	const s = trace.sample, shown = isShownThread();

	for (let i = 0; i < s.n; i++) {
		if (!shown[s.thread[i]] || s.time[i] < t0 || s.time[i] >= t1)
			continue;
		const thread = trace.threads[s.thread[i] - 1];
		yield [head.start_ns + s.time[i], thread.serial, thread.tid, thread.name, sampleEventName(s.event[i]), sampleWorth(i), s.stack[i] || null,
			stackPath(s.stack[i], Infinity)];
	}
}

const SAMPLE_COLUMNS = ["ts_ns", "thread", "tid", "thread_name", "event", "value", "stack", "place"];

// In a shell.
function quoted(word) {
	return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

/** @param {number} t0 @param {number} t1 */
function rangeCommand(t0, t1) {
	return `trace-analyze --window ${quoted(`${Math.floor(t0)}ns..${Math.ceil(t1)}ns`)} --html part.html dump.trc`;
}

// For the details of a range.
function rangeExports({t0, t1}) {
	const bar = el("p", {class: "actions"});
	const add = (words, title, action) => bar.append(el("button", {type: "button", title, onclick: action}, words));

	if (trace.park.n)
		add("Waits as CSV", "Download the waits of these threads that lie in the range", () =>
			download("waits.csv", csvBlob(WAIT_COLUMNS, waitsIn(t0, t1))));
	if (trace.sample.n)
		add("Samples as CSV", "Download the samples of these threads in the range", () =>
			download("samples.csv", csvBlob(SAMPLE_COLUMNS, samplesIn(t0, t1))));
	bar.append(copyButton("Copy command for a page of it", `${rangeCommand(t0, t1)}\nPut the trace's name in the place of dump.trc.`,
		() => rangeCommand(t0, t1)));
	return bar;
}

// ---- a flame graph as profile.proto ----

// Bytes of a protobuf message.
function protoMake() {
	const message = {bytes: new Uint8Array(1024), n: 0};
	const byte = (value) => {
		if (message.n === message.bytes.length) {
			const larger = new Uint8Array(message.n * 2);
			larger.set(message.bytes);
			message.bytes = larger;
		}
		message.bytes[message.n++] = value;
	};
	const varint = (value) => { // exact up to 2^53
		for (; value >= 128; value = Math.floor(value / 128))
			byte(value % 128 + 128);
		byte(value);
	};

	return {
		number: (field, value) => {
			if (value) {
				varint(field * 8);
				varint(value);
			}
		},
		bytes: (field, bytes) => {
			varint(field * 8 + 2);
			varint(bytes.length);
			for (const value of bytes)
				byte(value);
		},
		packed: (field, values) => {
			const inner = protoMake();
			for (const value of values)
				inner.varint(value);
			if (values.length) {
				varint(field * 8 + 2);
				varint(inner.done().length);
				for (const value of inner.done())
					byte(value);
			}
		},
		varint,
		done: () => message.bytes.subarray(0, message.n),
	};
}

// What the values of a kind of flame graph are: [name, unit].
/** @param {FlameKind} kind */
function profileType(kind) {
	if (kind.unit === "nanoseconds")
		return [kind.id === "cpu" ? "cpu" : "delay", "nanoseconds"];
	return kind.unit === "bytes" ? ["space", "bytes"] : [kind.of, kind.unit || "count"];
}

// A profile of values by combo, as it is shown: leads are functions, too.
/** @param {FlameKind} kind @param {Float64Array} values */
function profileMake(kind, values) {
	const profile = protoMake(), strings = new Map([["", 0]]), fns = new Map(), locations = new Map();
	const string = (value) => {
		if (!strings.has(value))
			strings.set(value, strings.size);
		return strings.get(value);
	};
	const message = (field, fill) => {
		const inner = protoMake();
		fill(inner);
		profile.bytes(field, inner.done());
	};
	const fnId = (number) => {
		if (!fns.has(number)) {
			const fn = functions.list[number], id = fns.size + 1;
			fns.set(number, id);
			message(5, (m) => {
				m.number(1, id);
				m.number(2, string(fn.name));
				m.number(3, string(fn.name));
				m.number(4, string(fn.file));
			});
		}
		return fns.get(number);
	};
	const locationId = (number, frame) => {
		const line = frame ? trace.frame.line[frame - 1] : 0, key = `${number} ${line}`, fn = fnId(number);
		if (!locations.has(key)) {
			const id = locations.size + 1, inner = protoMake();
			locations.set(key, id);
			inner.number(1, fn);
			inner.number(2, line);
			message(4, (m) => {
				m.number(1, id);
				m.bytes(4, inner.done());
			});
		}
		return locations.get(key);
	};
	const [type, unit] = profileType(kind).map(string);
	message(1, (m) => {
		m.number(1, type);
		m.number(2, unit);
	});
	for (let combo = 0; combo < values.length; combo++) {
		const value = Math.round(values[combo]);
		if (!(value > 0))
			continue;
		const {fns: chain, frames} = chainOf(combo), ids = chain.map((fn, i) => locationId(fn, frames[i])).reverse();
		message(2, (m) => {
			m.packed(1, ids);
			m.packed(2, [value]);
		});
	}
	for (const value of strings.keys())
		profile.bytes(6, new TextEncoder().encode(value));
	return profile.done();
}

// Of what is shown, of a comparison of B; compressed where the browser can.
async function profileDownload() {
	const {result} = flame, bytes = profileMake(result.kind, result.sides[result.sides.length - 1]);
	const blob = new Blob([bytes]);

	download(`${result.kind.id}.pb.gz`, await new Response(blob.stream().pipeThrough(new CompressionStream("gzip"))).blob());
}
