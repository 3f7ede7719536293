// address.js - what is to be seen, as the fragment of the page's address:
//
//   #t=<start>,<length>&range=<start>,<length>&sel=<kind>:<name>&sort=lock&filter=worker&pin=3,5&tasks=0&panel=<tab>
//
// Rows have the names that SQL has for them, so that an address holds when the page is made anew: an
// id, or else <thread's id>@<time>, of several at a time with +1, +2, ... behind it.  Times are nanoseconds
// since the start of the trace.

// kind -> the column with the id that SQL knows; of 64 bits where there is a column for either half.
const namedById = {
	park: () => trace.park.id, unlock: () => trace.unlock.id, region: () => trace.region.row,
	fiberrun: () => trace.frun.id, fiberwait: () => trace.fwait.id,
	task: () => trace.task, fiber: () => trace.fiber,
};

// kind -> [its times, the number of the thread (of a gap, of the proc) of each].
const namedByTime = {
	log: () => [trace.log.time, trace.log.thread], mark: () => [trace.mark.time, trace.mark.thread],
	sample: () => [trace.sample.time, trace.sample.thread], labels: () => [trace.under.start, trace.under.thread],
	gap: () => [trace.gap.start, trace.gap.proc],
	cpu: () => {
		schedTell();
		return [trace.cpu.start || [], trace.cpu.thread || []];
	},
};

function serialOf(number) {
	return number ? trace.threads[number - 1].serial : 0;
}

// How SQL names what a gap, or what lies on a thread, belongs to.
/** @param {string} kind */
function ownerName(kind, number) {
	return kind === "gap" ? number - 1 : serialOf(number);
}

/** @param {Chosen} sel */
function selectionName(sel) {
	const i = sel.id - 1;

	if (sel.kind === "park")
		return String(parkId(sel.id));
	if (namedById[sel.kind]) {
		const ids = namedById[sel.kind]();
		return ids.low ? (BigInt(ids.high[i]) << 32n | BigInt(ids.low[i])).toString() : String(ids[i]);
	}
	if (namedByTime[sel.kind]) {
		const [time, owner] = namedByTime[sel.kind]();
		let before = 0;
		for (let k = 0; k < i; k++)
			before += Number(time[k] === time[i] && owner[k] === owner[i]);
		return `${ownerName(sel.kind, owner[i])}@${time[i]}` + (before ? `+${before}` : "");
	}
	if (sel.kind === "iv")
		return `${trace.threads[threadOfInterval(i)].serial}@${trace.states.s[i]}`;
	return sel.kind === "thread" ? String(serialOf(sel.id)) : encodeURIComponent(text(sel.id));
}

/** @param {string} name */
function rowWithId(ids, name) {
	if (!/^\d+$/.test(name))
		return 0;
	if (!ids.low)
		return ids.indexOf(Number(name)) + 1;
	const low = Number(BigInt(name) & 0xffffffffn), high = Number(BigInt(name) >> 32n);
	for (let i = 0; i < ids.n; i++)
		if (ids.low[i] === low && ids.high[i] === high)
			return i + 1;
	return 0;
}

/** @param {string} kind @param {string} name */
function rowAtTime(kind, name) {
	const [time, owner] = namedByTime[kind](), parts = /^(-?\d+)@(\d+)(?:\+(\d+))?$/.exec(name);
	let left = parts ? Number(parts[3] || 0) : 0;

	for (let i = time.indexOf(Number(parts && parts[2])); parts && i >= 0 && i < time.length; i++)
		if (time[i] === Number(parts[2]) && ownerName(kind, owner[i]) === Number(parts[1]) && !left--)
			return i + 1;
	return 0;
}

// The selection of a kind that has a name; null if there is none.
/** @param {string} kind @param {string} name */
function selectionNamed(kind, name) {
	let id = 0;

	if (Object.hasOwn(namedById, kind)) {
		id = rowWithId(namedById[kind](), name);
	} else if (Object.hasOwn(namedByTime, kind)) {
		id = rowAtTime(kind, name);
	} else if (kind === "thread") {
		id = trace.threads.findIndex((t) => String(t.serial) === name) + 1;
	} else if (kind === "iv") {
		const parts = /^(\d+)@(\d+)$/.exec(name);
		const thread = parts && trace.threads.find((t) => String(t.serial) === parts[1]);
		return thread && thread.lane.hi > thread.lane.lo ? selectionAt(thread.idx, Number(parts[2])) : null;
	} else if (kind === "tasktype") {
		const type = trace.taskTypes.find((t) => encodeURIComponent(text(t.type)) === name);
		id = type ? type.type : 0;
	}
	return id ? {kind, id} : null;
}

let addressTimer = 0;

/** @param {number} until */
function spanText(from, until) {
	return `${Math.round(from)},${Math.round(until - from)}`;
}

function addressText() {
	const parts = [`t=${spanText(view.t0, view.t1)}`], pinned = [...tracks.pinned].map((t) => trace.threads[t].serial);

	if (view.range)
		parts.push(`range=${spanText(view.range.t0, view.range.t1)}`);
	if (view.selection)
		parts.push(`sel=${view.selection.kind}:${selectionName(view.selection)}`);
	if (tracks.sort !== "first")
		parts.push(`sort=${tracks.sort}`);
	if (tracks.filter)
		parts.push(`filter=${encodeURIComponent(tracks.filter)}`);
	if (pinned.length)
		parts.push(`pin=${pinned.join(",")}`);
	if (!tracks.annotations)
		parts.push("tasks=0");
	parts.push(...panelAddress());
	return "#" + parts.join("&");
}

function addressWrite() {
	clearTimeout(addressTimer);
	addressTimer = setTimeout(() => history.replaceState(null, "", addressText()), 200);
}

/** @param {string} string */
function decoded(string) {
	try {
		return decodeURIComponent(string);
	} catch {
		return "";
	}
}

// What an address asks for; anything that is not well formed is ignored.
/** @param {string} hash @returns {AddressAsked} */
function addressRead(hash) {
	/** @type {AddressAsked} */
	const asked = {span: null, range: null, selection: null, sort: "first", filter: "", pinned: [], annotations: true,
		more: new Map()};

	for (const part of hash.slice(1).split("&")) {
		const [, key, value] = /^(\w+)=(.*)$/.exec(part) || [];
		const span = /^(\d+),(\d+)$/.exec(value);
		const selection = /^([a-z]+):(.+)$/.exec(value);
		if (key === "t" && span)
			asked.span = [Number(span[1]), Number(span[1]) + Number(span[2])];
		if (key === "range" && span && Number(span[1]) < trace.span)
			asked.range = {t0: Math.max(Number(span[1]), trace.begin), t1: Math.min(Number(span[1]) + Number(span[2]), trace.span)};
		if (key === "sel" && selection)
			asked.selection = selectionNamed(selection[1], selection[2]);
		if (key === "sort" && Object.hasOwn(threadOrders, value))
			asked.sort = value;
		if (key === "filter")
			asked.filter = decoded(value);
		if (key === "pin")
			asked.pinned = value.split(",").map((serial) => trace.threads.findIndex((t) => String(t.serial) === serial))
				.filter((t) => t >= 0);
		if (key === "tasks")
			asked.annotations = value !== "0";
		asked.more.set(key, value);
	}
	return asked;
}

// Shows what an address asks for.
function addressApply(hash) {
	const asked = addressRead(hash);

	Object.assign(tracks, {sort: asked.sort, filter: asked.filter, pinned: new Set(asked.pinned),
		annotations: asked.annotations});
	byId("sort").value = asked.sort;
	byId("filter").value = asked.filter;
	byId("annotations").checked = asked.annotations;
	tracksLayout();
	viewChanged("tracks");
	if (asked.span)
		viewSet(...asked.span, false);
	view.range = asked.range;
	select(asked.selection, {show: !asked.span});
	if (asked.selection)
		scrollToSelection();
	panelApply(asked.more);
}

function addressInit() {
	addressApply(location.hash);
	// Of the event: what is waiting to be written may have been written since.
	window.addEventListener("hashchange", (event) => {
		clearTimeout(addressTimer);
		historyAdd(true);
		addressApply(new URL(event.newURL).hash);
	});
}
