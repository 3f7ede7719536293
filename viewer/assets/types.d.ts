// types.d.ts - the structures that the modules of the page share, for the type check (tests/viewer/types.sh).  No part of the page.
//
// A number that refers to a row, a thread or a text is its index + 1, 0 = none; an "idx" is an index.  Times are nanoseconds since
// the start of the trace, durations are nanoseconds, lengths on the screen are CSS pixels.

// ---- the decoded page (viewer/rows.h) ----

/** The values of a column, in the narrowest array that holds them. */
type Numbers = Uint8Array | Uint16Array | Uint32Array | Float64Array;
/** A table of the page: columns of n values. */
type Table<Column extends string> = {n: number} & Record<Column, Numbers>;
/** Rows of a table by thread, in order of time: those of number t are order[first[t]..first[t + 1]), at[k] is the time of order[k]. */
type ByThread = {first: Uint32Array, order: Uint32Array, at: Float64Array};
/** The same by fiber. */
type ByFiber = ByThread;

/** A reason of waits: name, what it means, whether its object lies in memory, what ends it (waitClass()). */
type Reason = [string, string, boolean, number];
/** One of the columns that the page has: name, type, values, largest value, bytes, chunks. */
type ColumnEntry = [string, string, number, number, number, number];

interface Finding {
	kind: string;
	text: string;
	severity: string;
	why?: string;
	remedy?: string;
	sql?: string;
	start?: number;
	end?: number;
	thread?: number;
	park?: number;
}

/** What a page says of itself: the JSON of viewer/html.c. */
interface Head {
	columns: ColumnEntry[];
	info: [string, string][];
	findings: Finding[];
	reasons: Reason[];
	causes: string[];
	cause_kinds: string[];
	cause_words: string[];
	/** So many critical paths of each type of tasks. */
	paths: number;
	/** Of so many of the longest waits of each place the causes. */
	caused: number;
	sql: SqlHead | null;
	/** What the page is of, where it shows a part of the trace; options: those that ask for it, but for the window. */
	cut?: {text: string, options: string, window?: boolean, tasks?: boolean, threads_out?: number};
	source?: {files: number, missing: number, refused: number, newer: number, lines_out: number};
	/** How the trace's file is called; "" = not known. */
	trace: string;
	/** The trace's clock at its start. */
	start_ns: number;
	span_ns: number;
	from_ns?: number;
	to_ns?: number;
	/** When that was by the clock: whole milliseconds, and nanoseconds after them; 0 = not known. */
	start_unix_ms?: number;
	start_unix_rest_ns?: number;
	/** From when on it went otherwise, since the begin by that clock and by the trace. */
	clock?: [number, number][];
	/** Before it only some of the streams are there. */
	window_ns: number;
	merged_below_ns: number;
	blame_from_ns: number;
	blame_summed: number;
	without_blame: number;
	has_sched: number;
	/** Since when there are switch records of every proc. */
	switches_ns: number;
	events?: number;
	intervals: number;
	lost_events: number;
	table_full: number;
	complete: number;
	cut_off: number;
	sample_step: number;
	alloc_step: number;
	warning?: string;
}

/** The tables of the SQL box (viewer/sqlbox.h): name, rows, columns, exceptions, rows that the timeline lacks. */
interface SqlHead {
	tables: [string, number, any[][], any, any][];
	missing: [string, number, string][];
	texts: [number, number];
	stacks: number;
}

/** Many times (times.js); not an array, which the checker is to say of s[i]. */
interface Times {
	[index: number]: "timeOf()";
	near: Int32Array;
	base: Float64Array;
	farAt: ArrayLike<number> & any;
	far: ArrayLike<number> & any;
}

/** What each interval refers to (states.js). */
interface Refs {
	near: Uint8Array | null;
	base: Uint32Array;
	farAt: number[];
	far: number[];
}

/** When waits were, and when their wakers acted (states.js). */
interface WaitTimes {
	n: number;
	near: Uint8Array;
	base: Uint32Array;
	states: {s: Times, v: Numbers, refs: Refs};
	length: Numbers;
	atEnd: Numbers;
	other: {wait: Uint32Array, start: Float64Array, wake: Float64Array};
}

/** What is in the page, by table.  Columns are decoded when they are first read. */
interface Trace {
	/** When the part that the page shows begins, and when it ends. */
	begin: number;
	span: number;
	threads: Thread[];
	/** The lanes' shared arrays; null in a sketch. */
	states: {s: Times, v: Uint8Array, refs: Refs} | null;
	park: Table<"thread" | "length" | "reason" | "flags" | "object" | "stack" | "holder" | "waker" | "waker_stack" |
		"unlock" | "proc" | "result" | "descriptor" | "set"> & {id?: Numbers, when?: WaitTimes};
	parksInOrder: boolean;
	/** By thread index: where its waits begin. */
	parkFirst: Uint32Array | null;
	unlock: Table<"id" | "time" | "thread" | "reason" | "object" | "stack" | "waiters" | "caused" | "caused_ns"> & Partial<ByThread>;
	region: Table<"row" | "thread" | "depth" | "type" | "task" | "start" | "length" | "open" | "fiber">;
	task: Table<"row" | "low" | "high" | "parent" | "type" | "start" | "length" | "open" | "thread" | "end_thread"> & {colour?: Uint8Array};
	log: Table<"time" | "thread" | "task" | "category" | "message"> & Partial<ByThread>;
	gap: Table<"start" | "end" | "lost" | "proc" | "cause">;
	counter: Table<"time" | "thread" | "name" | "value">;
	mark: Table<"time" | "thread" | "kind" | "text" | "stack"> & Partial<ByThread>;
	cover: Table<"proc" | "source" | "since">;
	dead: Table<"number" | "thread" | "holder" | "cycle" | "certain" | "park">;
	label: Table<"set" | "key" | "value">;
	under: Table<"thread" | "start" | "length" | "set"> & {type?: Uint32Array};
	selected: Table<"fiber" | "track" | "start" | "length">;
	/** By number of a label set: where its labels begin. */
	setFirst: Uint32Array | null;
	/** `kind` and the following are made by fibersLoad(). */
	fiber: Table<"low" | "high" | "name" | "thread" | "creator" | "stack" | "created" | "ended" | "run" | "runnable" | "waited" | "runs" |
		"waits" | "state"> & {kind?: Uint32Array, colour?: Uint8Array, alike?: Map<number, number>, onProc?: Float64Array};
	frun: Table<"id" | "thread" | "start" | "length" | "fiber" | "reason" | "flags"> & Partial<ByFiber> & {colour?: Uint8Array};
	fwait: Table<"id" | "start" | "length" | "ready" | "fiber" | "reason" | "flags" | "object" | "thread" | "end_thread" | "stack" |
		"set" | "waker" | "waker_fiber" | "waker_stack"> & Partial<ByFiber>;
	/** Stretches of threads on procs: see procs.js. */
	cpu: {n: number} & Partial<Record<"thread" | "proc" | "start" | "length" | "preempted" | "open", Numbers>>;
	sample: Table<"time" | "thread" | "event" | "value" | "made_up" | "stack" | "set"> & Partial<ByThread>;
	sampled: Table<"event" | "name" | "unit" | "how" | "note" | "period" | "rate" | "count" | "lost" | "missing" | "unseen" | "counted">;
	alloc: Table<"time" | "thread" | "freed" | "lives" | "bytes" | "space" | "stack" | "set">;
	frame: Table<"low" | "high" | "inside" | "function" | "file" | "line" | "module" | "inlined" | "owner">;
	stack: Table<"count" | "skip">;
	/** The frames of all stacks; those of stack s are stackFrames[stackFirst[s]..stackFirst[s + 1]), innermost first. */
	stackFrames: Numbers | null;
	stackFirst: Uint32Array | null;
	/** All types of tasks, those with most time first; those that have tracks. */
	/** Tasks by parent, regions by task: flame_select.js. */
	members: Record<"parts" | "regions", {first: Uint32Array, order: Uint32Array}> | null;
	taskTypes: Track[];
	taskTracks: Track[];
	/** All counters; those that have tracks: of too many some have none. */
	counters: Track[];
	counterTracks: Track[];
	/** Regions that are not drawn, or in part: they are in too many pieces. */
	regionsUncut: number;
}

interface Thread {
	idx: number;
	/** SQL's id. */
	serial: number;
	tid: number;
	name: string;
	/** The name, with what tells it apart from others of this name. */
	label: string;
	named: boolean;
	creator?: number;
	stack?: number;
	/** -1: not known. */
	start?: number;
	end?: number;
	events?: number;
	parks: number;
	idle: boolean;
	/** How many it is: rows.js, COUNTS_. */
	counts: number;
	/** Bits: its first state goes on before the page, its last one behind it. */
	beyond: number;
	/** Left out of the page. */
	out: boolean;
	/** By state, over all that the page shows. */
	time: Float64Array;
	lane: Lane | null;
	fibers: Lane | null;
	labels: Lane | null;
	/** By depth. */
	regions: Lane[];
	firstSeen: number;
	/** Keys of orders: threadKeys(). */
	lockTime?: number;
	runTime?: number;
	waitTime?: number;
	readyTime?: number;
	interest?: number;
}

/** A frame of a stack, as stackFrames() tells it. */
interface Frame {
	row: number;
	function: string;
	address: string;
	file: string;
	line: number;
	/** "file.c:12". */
	place: string;
	module: string;
	inlined: boolean;
	owner: number;
	skipped: boolean;
}

// ---- lanes and tracks ----

/** Levels above the intervals of lanes: levels.js. */
interface Nodes {
	end: Times;
	value: Uint8Array;
	lock: Uint8Array;
	locked: Uint16Array;
	busy: Float64Array;
}

/** A run of intervals in shared arrays: levels.js. */
interface Lane {
	s: Times;
	e: Float64Array | null;
	v: Uint8Array;
	lo: number;
	hi: number;
	locks: Uint8Array | null;
	levels: number[];
	nodes: Nodes;
	/** Of rows of a table: which row each interval is. */
	order?: Uint32Array;
	/** Of the lane that tasks share: how many lie in each interval. */
	more?: Uint32Array;
	/** Of fibers: fibersBusy(). */
	busy?: {s: number[], e: number[]};
}

/** Lanes that share arrays, as they come from the worker: annotations.js. */
type LanesPacked = Pick<Lane, "s" | "e" | "v" | "nodes" | "order"> & {bounds: number[][]};

/** What a picture of a lane looks at (looks.js): n parts of at most `width` nanoseconds, all that touch [from, until). */
interface Looks {
	lane: Lane | null;
	width: number;
	from: number;
	until: number;
	n: number;
	start: Float64Array;
	end: Float64Array;
	value: Uint8Array;
	/** The lock that most of its waits for locks are for, and which part of its time these have. */
	lock: Uint8Array;
	locked: Float32Array;
	/** Which part of its time has intervals. */
	busy: Float32Array;
}

/** One of the lines of the timeline.  Which of the other members it has depends on its kind. */
interface Track {
	kind: "thread" | "tasks" | "counter" | "group" | "procs" | "proc";
	/** From the top of all tracks; its height. */
	y?: number;
	h?: number;
	name?: string;
	title?: string;
	inGroup?: boolean;
	thread?: Thread;
	hasLogs?: boolean;
	hasMarks?: boolean;
	hasSamples?: boolean;
	/** Of a line that others are folded into. */
	key?: string;
	isOpen?: boolean;
	threads?: Thread[];
	share?: string;
	/** As many of the threads were there at once (threadsAtOnce()). */
	most?: number;
	/** By class and column; of which range, and of how many of the threads (groupCounts()). */
	counts?: Float32Array;
	countsOf?: string;
	counted?: number;
	/** Of tasks: a text's id, and lanes. */
	type?: number;
	total?: number;
	count?: number;
	/** Rows without a lane of their own, in order of their begins. */
	crowded?: Uint32Array;
	/** Of their durations; undefined: none ended. */
	median?: number;
	ends?: number[];
	base?: number;
	lanes?: Lane[];
	lane?: Lane;
	/** Of a counter: the unit of its values, also of one; its rows; the kind of a selection (counters.js). */
	unit?: string;
	unitOne?: string;
	rows?: Uint32Array;
	hitKind?: string;
	at?: Float64Array;
	value?: Float64Array | Int32Array;
	min?: number;
	max?: number;
}

/** A track's rows of pixels (strips.js); of no track what lies below the last. */
interface Strip {
	track: Track | null;
	top: number;
	bottom: number;
	/** The picture: of which range, in which rows, in which frame it was drawn last; whether it is as it would be drawn there. */
	t0: number;
	t1: number;
	at: number;
	until: number;
	drawn: number;
	isPlaced: boolean;
}

/** Regions, or the pieces of them where fibers ran; `region` is then the index of each piece's. */
type RegionRows = Table<"thread" | "depth" | "type" | "start" | "length"> & {region?: Uint32Array};
/** A thread, or a group, as a row of the timeline. */
type TrackRow = {thread?: Thread, group?: Track, track?: Track, inside?: Track[]};

/** A lane as it is drawn: y from the track's top. */
interface LaneItem {
	lane: Lane;
	y: number;
	h: number;
	kind: string;
	depth: number;
}

/** What lies under a point of the timeline. */
interface Hit extends Chosen {
	/** How many were to choose from. */
	among: number;
	track: Track;
	item?: LaneItem;
	index?: number;
	/** Rows of all tasks that lie there, where that is more than one. */
	tasks?: number[];
}

// ---- what is seen and chosen ----

/** A stretch of time. */
type TimeRange = {t0: number, t1: number};
type Span = {from: number, until: number};
/** A stretch of a thread's. */
type Stretch = Span & {thread: Thread | undefined};

/** Sums over samples, for their margins (margins.js). */
interface MarginPart {value: number, squares: number, n: number}
interface Margin {value: number, squares: number, variance: number, ends: number}
interface HeapMargin {variance: number, fourths: number}

/** A selection: select.js has the kinds. */
interface Chosen {
	kind: string;
	id: number;
	/** Of a wait: those that led to it, the nearest first; of other things: the waits that they ended.  Both as far as they are shown. */
	behind?: Waits;
	woke?: Waits;
	/** Of fibers: those that it readied. */
	readied?: number[];
}

/** The first of n waits, by row + 1; n may be more than is known: then there are more. */
type Waits = {list: number[], n: number};

/** What rows of causes have in common with those of paths: paths.js. */
type CauseRows = Table<"kind" | "thread" | "unlock" | "reason" | "object" | "park" | "stack" | "stack_of" | "instead" | "instead_ns">;
/** Who had the procs of threads that could run: of how many rows, how long these are, of how many it is known, and by number of a thread how long
 * that one had them. */
type Instead = {rows: number, whole: number, known: number, ns: Map<number, number>};
/** Pieces of a path in the same words. */
type PathSum = {words: string, ns: number, times: number, longest: PathPiece, instead: Instead};
/** Causes that are alike, below one line: causes.js. */
type CauseNode = {row: number, longest: number, ns: number, times: number, threads: Set<number>, instead: Instead, below: Map<string, CauseNode>};
type CauseLine = {node: CauseNode | null, depth: number, words: string, place: string, ns: number};
/** A piece of a critical path: paths.js. */
type PathPiece = Span & {row: number, idx: number};

/** One end of a range that is typed: when.js. */
type WhenEnd = {open?: boolean, since?: number, after?: number, clock?: {ns: number, day: number | null}};
/** The clock at a trace's begin, 0 = not known, and how long the trace lasts. */
type WhenTrace = {unixMs: number, unixRest: number, lasts: number, clock?: [number, number][]};

interface View extends TimeRange {
	width: number;
	selection: Chosen | null;
	range: TimeRange | null;
	/** A state, from the legend. */
	highlighted: number | null;
	/** "guest": of the tracks the one that is shown for a selection, which follows. */
	listeners: ((what: "range" | "selection" | "range-selection" | "tracks" | "guest") => void)[];
	/** The selections that led to the present one: steps.js. */
	trail: Chosen[];
	/** What can be undone, and done again; the last comes first. */
	before: Step[];
	after: Step[];
}

/** What there was before a change.  selection undefined: it is not known, and stays as it is. */
interface Step extends TimeRange {
	range: TimeRange | null;
	selection?: Chosen | null;
	trail?: Chosen[];
	arranged?: Arranged;
}

/** Which rows of the timeline are hidden, where others were moved, which are kept at the top (arrange.js) or unfolded; their order, and what is
 * left out.  Sets are replaced, never changed. */
interface Arranged {
	hidden: Set<string>;
	moved: [string, string][];
	pinned: Set<number | string>;
	opened: Set<string>;
	sort: string;
	filter: string;
	annotations: boolean;
}

/** The same without ids of one page's: threads by their serials. */
interface ArrangedOut {
	hidden: string[];
	moved: [string, string][];
	pinned: (number | string)[];
	opened: string[];
	sort: string;
	filter: string;
	annotations: boolean;
}

interface Tracks {
	/** In order, filtered. */
	all: Track[];
	/** By thread index; undefined while it is filtered out. */
	byThread: (Track | undefined)[];
	foldedInto: (Track | undefined)[];
	height: number;
	/** Of lanes of states. */
	stateHeight: number;
	threads: Thread[];
	sort: string;
	opened: Set<string>;
	filter: string;
	annotations: boolean;
	pinned: Set<number | string>;
	hidden: Set<string>;
	moved: [string, string][];
	idleFolds: boolean;
	/** A thread's index, or a track of tasks, that is shown only since it is selected. */
	/** How often they were laid out. */
	layouts: number;
	guest: number | Track | null;
}

/** What an address asks for: address.js. */
interface AddressAsked {
	span: [number, number] | null;
	range: TimeRange | null;
	selection: Chosen | null;
	trail: Chosen[];
	sort: string;
	filter: string;
	pinned: (number | string)[];
	annotations: boolean;
	more: Map<string, string>;
}

/** A tab of the panel: panel.js. */
interface PanelTab {
	id: string;
	label: string;
	key: string | null;
	about?: string;
	isThere?(): boolean;
	draw(box: HTMLElement): void;
	first?(): HTMLElement | null;
	shown?(): void;
	hidden?(): void;
	changed?(what: string): void;
	state?(): string;
	stateSet?(text: string): void;
}

/** A column of a table that can be sorted: sorting.js. */
interface TableColumn {
	id?: string;
	name: string;
	/** A number: it stands at the right, and the largest comes first. */
	n?: boolean;
	/** It takes the room that is left. */
	wide?: boolean;
	key?(row: any): number | string | null;
	cell?(row: any): any;
}

/** Keys, what they do for the help, and the action. */
type Command = [string, string | null, (() => void) | null];

// ---- flame graphs ----

/** Which part of the trace a flame graph is of: flame_select.js. */
interface Asked extends TimeRange {
	threads: number[] | null;
	label: number;
	task: number;
	slowest: number;
}

/** What a kind's items add to: foldMake(). */
interface Fold extends TimeRange {
	hasThread(thread: number): boolean;
	isChosen(thread: number): boolean;
	whole: boolean;
	hasLabels(set: number): boolean;
	labelsAt(thread: number, time: number): number;
	hasTime(thread: number, time: number): boolean;
	timeIn(thread: number, from: number, until: number): number;
	fiberTimeIn(fiber: number, from: number, until: number): number;
	idle: boolean;
	unseen: number;
	/** Of the samples that were added, by whichever thread. */
	samples: MarginPart;
	values: Float64Array;
	/** From `kind` on: what the item is in the timeline. */
	add(combo: number, value: number, kind?: string, id?: number, thread?: number, start?: number, length?: number): void;
}

interface FlameKind {
	id: string;
	name: string;
	/** "nanoseconds", "bytes", "count", or another. */
	unit: string;
	/** What is summed, in words. */
	of: string;
	n: number;
	idle?: boolean;
	sum(fold: Fold): Generator<void, void, void>;
	empty: string;
}

/** Frame of words below the innermost function: flame_items.js. */
interface Lead {
	name: string;
	state: number;
}

interface FlameFunction {
	name: string;
	file: string;
	module: string;
	owner: number;
	lead: Lead | null;
}

/** Functions by node: flame_fold.js.  value: by side, then by node. */
interface FlameTree {
	n: number;
	fn: number[];
	parent: number[];
	first: number[];
	next: number[];
	depth: number[];
	frame: number[];
	most: number[];
	low: number[];
	high: number[];
	value: number[][];
	index: Map<number, number>;
	height: number;
}

/** A box of the picture: x from 0 to 1.  node -1: several that are too narrow. */
interface FlameBox {
	tree: FlameTree;
	node: number;
	x0: number;
	x1: number;
	above?: boolean;
	narrow?: number;
}

/** A profile from a file: flame_profile.js. */
interface Profile {
	/** What the values of samples are: type and unit. */
	types: [string, string][];
	/** Places from the innermost on. */
	samples: {locations: number[], values: number[]}[];
	/** The functions at a place, from the innermost on. */
	framesOf(place: number): {name: string, file: string, module: string}[];
}

interface FlameResult {
	kind: FlameKind;
	asked: Asked;
	/** What it was compared with, when the work began. */
	before: Asked | null;
	file: {name: string, profile: Profile, number: number} | null;
	/** Values by combo, of each side. */
	sides: Float64Array[];
	sums: number[];
	totals?: {self: Float64Array, total: Float64Array}[];
	unseen: number;
	samples: MarginPart;
	whole: boolean;
	tree: FlameTree | null;
	callers: FlameTree | null;
	callees: FlameTree | null;
	fn?: number;
	mostChange?: number;
	/** Of a comparison of samples: how many there are on each side. */
	counts?: number[] | null;
	key?: string;
}

interface Flame {
	kinds: FlameKind[];
	kind: FlameKind | null;
	time: "range" | "view";
	threads: "all" | "filter" | "pinned" | "selected";
	label: number;
	task: number;
	slowest: number;
	view: "down" | "up" | "sandwich";
	/** Of callers and callees: functionId(). */
	fn: string;
	idle: boolean;
	search: string;
	/** Functions from the root to what has the full width. */
	focus: number[];
	before: Asked | null;
	/** A is the profile in a file; each that is opened has another number. */
	file: {name: string, profile: Profile, number: number} | null;
	trouble: string;
	result: FlameResult | null;
	asked: string;
	/** By function: whether it matches the search; their part of all. */
	found: Uint8Array | null;
	foundShare: number;
	token: number;
	timer: number;
	working: boolean;
	seen: boolean;
	waiting: ((value?: any) => void)[];
	/** By thread index: what is marked in the timeline. */
	lit: Map<number, Float64Array> | null;
	box: HTMLElement | null;
	parts: any;
	/** The address's, before the tab was drawn. */
	stateText: string;
}

// ---- lists and histograms ----

/** Durations of rows by group: spread.js. */
interface Spread {
	first: Uint32Array;
	order: Uint32Array;
	length: Numbers;
}

/** Rows from..until nanoseconds long. */
interface Bucket extends Span {
	lo: number;
	hi: number;
}

/** Rows with times, and those of them that are in a set: matches.js. */
interface TimedRows {
	n: number;
	time: Numbers | WaitTimes;
	runs: number[];
	order: Uint32Array | null;
}
interface Keys {
	key: Numbers;
	counts: Uint32Array;
	first: Uint32Array;
	longest: Uint32Array;
}
interface MatchSource {
	kind: string;
	rows: TimedRows;
	key: Numbers | null;
	wanted: Uint8Array | null;
	ids: Uint32Array | null;
	n: number;
}
interface MatchSet {
	sources: MatchSource[];
	n: number;
}
/** Matches of one kind and name: search.js.  `row` of `source` is the longest one. */
interface SearchGroup {
	did?: string; // of a thread at a time: its state, and how long
	kind: string;
	name: string;
	count: number;
	source: number;
	row: number;
	length: number;
}
/** A heading of the search's list, or without it the name of a group of this kind. */
type SearchOnly = {kind?: string, name: string};
/** What can be chosen in the search's list. */
type SearchOption = {heading: string, groups?: SearchGroup[], n?: number, group?: SearchGroup, more?: number};
/** A match, by its position in a source's order. */
interface Place {
	time: number;
	source: number;
	k: number;
}

// ---- elements of the page (body.html) ----

/** Those that are more than an HTMLElement. */
interface PageElements {
	annotations: HTMLInputElement;
	base: HTMLCanvasElement;
	filter: HTMLInputElement;
	help: HTMLDialogElement;
	map: HTMLCanvasElement;
	moved: HTMLCanvasElement;
	over: HTMLCanvasElement;
	ruler: HTMLCanvasElement;
	search: HTMLInputElement;
	sort: HTMLSelectElement;
	when: HTMLInputElement;
	source: HTMLDialogElement;
}

// ---- what lib.dom.d.ts lacks ----

interface Uint8ArrayConstructor {
	fromBase64?(text: string): Uint8Array<ArrayBuffer>;
}
