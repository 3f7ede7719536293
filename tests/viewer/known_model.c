/*
 * known_model.c - a short trace that browser.mjs knows by heart; see known_model.h.
 */
#include "analyzer/findings/findings.h"
#include "known_model.h"

/* clang-format off */
#define MS * 1000000LL
#define US * 1000LL

static const struct trc_thread threads[] = {
	{.serial = 1, .tid = 100, .name = "main", .start_ns = TRC_NEVER, .end_ns = TRC_NEVER,
	 .n_events = 9, .n_parks = 1},
	{.serial = 2, .tid = 101, .creator = 1, .creator_stack = 3, .name = "worker-a",
	 .start_ns = 500 US, .end_ns = TRC_NEVER, .n_events = 9, .n_parks = 1},
	{.serial = 3, .tid = 102, .creator = 1, .creator_stack = 3, .name = "worker-b",
	 .start_ns = 500 US, .end_ns = 9500 US, .n_events = 9, .n_parks = 2},
	{.serial = 4, .tid = 103, .creator = 1, .name = KNOWN_HOSTILE, .start_ns = TRC_NEVER,
	 .end_ns = TRC_NEVER, .n_events = 2, .n_parks = 1},
};

/* worker-b waits for worker-a, which waits for main. */
static const struct trc_park parks[] = {
	{.start_ns = 1 MS, .end_ns = 6 MS, .object = 0x555500002000, .thread = 3, .stack = 4, .waker = 2,
	 .waker_stack = 2, .wake_ns = 5500 US, .proc = 1, .reason = TRC_REASON_COND},
	{.start_ns = 1 MS, .end_ns = 3 MS, .thread = 1, .stack = 3, .wake_ns = TRC_NEVER,
	 .proc = TRC_NO_PROC, .reason = TRC_REASON_SLEEP},
	{.start_ns = 2 MS, .end_ns = 4100 US, .object = 0x7ffd00001000, .thread = 2, .stack = 1,
	 .holder = 1, .waker = 1, .waker_stack = 2, .unlock = 1, .wake_ns = 4 MS, .proc = 1,
	 .reason = TRC_REASON_MUTEX},
	{.start_ns = 7 MS, .end_ns = TRC_NEVER, .object = 5, .thread = 4, .stack = 5,
	 .wake_ns = TRC_NEVER, .result = -1, .reason = TRC_REASON_READ, .flags = TRC_PARK_OPEN},
	/* Too short to be seen when the whole trace is. */
	{.start_ns = 8 MS, .end_ns = 8 MS + 200, .object = 0x7ffd00001000, .thread = 3, .stack = 1,
	 .wake_ns = TRC_NEVER, .reason = TRC_REASON_MUTEX},
};
static const struct trc_unlock unlocks[] = {
	{.ts_ns = 4 MS, .object = 0x7ffd00001000, .waiters = 1, .thread = 1, .stack = 2,
	 .reason = TRC_REASON_MUTEX, .caused_waits = 1, .caused_ns = 2 MS},
};
static const struct trc_task tasks[] = {
	{.task = 42, .type = "request", .start_ns = 600 US, .end_ns = 5 MS, .start_thread = 2,
	 .end_thread = 2},
	{.task = 43, .parent = 42, .type = KNOWN_HOSTILE, .start_ns = 700 US, .end_ns = TRC_NEVER,
	 .start_thread = 2},
};
static const struct trc_region regions[] = {
	{.task = 42, .type = "parse", .thread = 2, .start_ns = 600 US, .end_ns = 5 MS},
	{.task = 42, .type = KNOWN_HOSTILE, .thread = 2, .depth = 1, .start_ns = 1 MS,
	 .end_ns = 4500 US},
};
static const struct trc_log logs[] = {
	{.ts_ns = 3500 US, .task = 42, .thread = 2, .category = "http", .message = "404 not found"},
	{.ts_ns = 3600 US, .thread = 2, .category = KNOWN_HOSTILE, .message = KNOWN_HOSTILE},
	/* A filler, which is blank; a soft hyphen, a tag, and an emoji that is a picture. */
	{.ts_ns = 9900 US, .thread = 1, .category = "\u3164",
	 .message = "soft\u00adly \U000e0041tagged \u2764\ufe0f"},
};
static const struct trc_counter counters[] = {
	{.ts_ns = 1 MS, .value = -3, .name = "queue depth", .thread = 1},
	{.ts_ns = 2 MS, .value = 1500000, .name = "in flight [bytes]", .thread = 2},
	{.ts_ns = 5 MS, .value = 20, .name = "queue depth", .thread = 1},
	{.ts_ns = 6 MS, .value = 7, .name = "in flight [bytes]", .thread = 2},
	{.ts_ns = 6 MS + 10, .value = 9000, .name = "in flight [bytes]", .thread = 2},
};
static const struct trc_gap gaps[] = {
	{.since_ns = 9 MS, .ts_ns = 9200 US, .lost_events = 17, .proc = 2,
	 .cause = TRC_GAP_RING_FULL, .source = 0},
};
static const struct trc_on_cpu on_cpu[] = {
	{.start_ns = 0, .end_ns = 1 MS, .thread = 1, .proc = 0},
	{.start_ns = 3 MS, .end_ns = 6 MS, .thread = 1, .proc = 2, .preempted = true},
	{.start_ns = 7 MS, .end_ns = 10 MS, .thread = 1, .proc = 2},
};

static const struct trc_signal signals[] = {
	{.ts_ns = 2500 US, .thread = 4, .signal = 11, .code = 1, .address = 0x40, .stack = 4},
	{.ts_ns = 9800 US, .thread = 4, .signal = 6, .code = -6, .fatal = true},
};
static const struct trc_trigger triggers[] = {
	{.ts_ns = 4050 US, .thread = 2, .condition = "park>2ms: mutex, 2.05 ms"},
	{.ts_ns = 9900 US, .thread = 1, .condition = KNOWN_HOSTILE},
};
/* Proc 1 was overwritten until 200 us, and has no scheduling before 2 ms. */
static const struct trc_coverage coverage[] = {
	{.held_ns = TRC_NEVER, .from_ns = 200 US, .to_ns = 10 MS, .proc = 0},
	{.held_ns = 200 US, .from_ns = 200 US, .to_ns = 10 MS, .proc = 1},
	{.held_ns = 2 MS, .from_ns = 2 MS, .to_ns = 10 MS, .proc = 1, .source = TRC_SOURCE_KERNEL},
};
static const struct trc_thread_now threads_now[] = {
	{.thread = 4, .state = TRC_THREAD_WAITING, .park = 4, .region = ""},
};
static const struct trc_deadlock deadlocks[] = {
	{.deadlock = 1, .thread = 4, .holder = 4, .in_cycle = true, .certain = true},
	{.deadlock = 1, .thread = 1, .holder = 4},
};

static const struct trc_finding findings[] = {
	{.kind = TRC_FINDING_CRASH, .severity = TRC_SEVERITY_ALARM, .start_ns = 9800 US,
	 .end_ns = 9800 US, .thread = 4, .sentence = "CRASH: SIGABRT in " KNOWN_HOSTILE},
	{.kind = TRC_FINDING_LOST, .severity = TRC_SEVERITY_NOTE, .start_ns = 9 MS,
	 .end_ns = 9200 US, .sentence = "lost: 17 events"},
};

/* The hostile thread's labels are hostile, too. */
static const struct trc_set_label labels[] = {
	{.labels = 1, .key = "tenant", .value = "acme", .unit = ""},
	{.labels = 3, .key = "phase", .value = "fetch", .unit = ""},
	{.labels = 3, .key = "tenant", .value = "acme", .unit = ""},
	{.labels = 4, .key = KNOWN_HOSTILE, .value = KNOWN_HOSTILE, .unit = ""},
	{.labels = 4, .is_number = true, .key = "size", .value = "512bytes", .unit = "bytes",
	 .number = 512},
	{.labels = 6, .key = "tenant", .value = "other", .unit = ""},
};
static const struct trc_thread_span label_spans[] = {
	{TRC_NEVER, 1 MS, 2, 0, 0}, {1 MS, 2500 US, 2, 1, 0}, {2500 US, 5 MS, 2, 3, 0},
	{5 MS, TRC_NEVER, 2, 0, 0},
	{TRC_NEVER, TRC_NEVER, 3, 6, 0}, {TRC_NEVER, 2 MS, 4, 0, 0}, {2 MS, 9 MS, 4, 4, 0},
	{9 MS, TRC_NEVER, 4, 0, 0},
};

/* worker-a: in hash_find twice and once in cache_put, and a miss there; main: once. */
static const struct trc_sample_event sample_events[] = {
	{.event = 1, .how = TRC_SAMPLE_TIMER, .frequency_hz = 1000, .name = "cpu-clock",
	 .unit = "nanoseconds", .note = KNOWN_HOSTILE, .n_samples = 4, .lost_samples = 3,
	 .unseen = 3 MS},
	{.event = 7, .how = TRC_SAMPLE_KERNEL, .period = 5000, .missing_threads = 2,
	 .name = "cache-misses", .unit = "count", .note = "", .n_samples = 1},
};
static const struct trc_sample samples[] = {
	{.ts_ns = 1200 US, .value = 1 MS, .thread = 2, .stack = 4, .labels = 1, .event = 1},
	{.ts_ns = 1700 US, .value = 1 MS, .thread = 2, .stack = 4, .labels = 4, .event = 1},
	{.ts_ns = 3500 US, .value = 1 MS, .thread = 1, .stack = 3, .event = 1},
	{.ts_ns = 6 MS, .value = 2 MS, .thread = 2, .stack = 2, .event = 1},
	{.ts_ns = 6500 US, .value = 5000, .thread = 2, .stack = 2, .event = 7},
	{.ts_ns = 7500 US, .value = 500, .thread = 1, .stack = 6, .event = 7},
};

static const struct trc_frame frames[] = {
	{0x401000, "pthread_mutex_lock", NULL, 0, 1, false},
	{0x401100, "cache_get", "/src/demo/cache.c", 120, 0, false},
	{0x401200, "hash_find", "/src/demo/hash.c", 77, 0, true},
	{0x401300, "cache_put", "/src/demo/cache.c", 150, 0, false},
	{0x401400, "worker_main", "/src/demo/server.c", 412, 0, false},
	{0xffffffff81234567, NULL, NULL, 0, 1, false},
	{0x401500, KNOWN_HOSTILE, KNOWN_HOSTILE, 1, 0, false},
	{0x401600, "ring_emit", NULL, 0, 2, false},
	{0x401700, "ring_reserve", NULL, 0, 2, false},
};
/* 1: lock in cache_get; 2: cache_put; 3: worker_main; 4: hash_find; 5: no name, hostile name; 6: within trc,
 * which began the thread */
static const uint32_t stack_first[] = {0, 0, 3, 5, 6, 9, 12, 16};
static const uint32_t stack_frame[] = {1, 2, 5, 4, 5, 5, 1, 3, 5, 6, 7, 5, 9, 8, 5, 8};
static const char *const info[][2] = {
	{"command", "demo " KNOWN_HOSTILE},
	{"host", "example"},
	{KNOWN_HOSTILE, KNOWN_HOSTILE},
	/* A link leads from demo to the file, and the process renamed itself. */
	{"argv0", "/opt/bin/demo"},
	{"exe", "/usr/lib/libdemo.so.1"},
	{"title", "demo: idle " KNOWN_HOSTILE}};

#define ROWS(rows) .rows = rows, .n_##rows = sizeof(rows) / sizeof(rows[0])

const struct trc_model known_model = {
	.end_ns = 10 MS, .lost_events = 17, ROWS(threads), ROWS(parks), ROWS(unlocks), ROWS(tasks),
	ROWS(regions), ROWS(logs), ROWS(counters), ROWS(gaps), ROWS(on_cpu), ROWS(info),
	ROWS(labels), ROWS(label_spans), ROWS(samples),
	ROWS(sample_events), ROWS(signals), ROWS(triggers), ROWS(coverage), ROWS(threads_now), ROWS(deadlocks),
	.window_ns = 200 US, ROWS(findings),
	.stacks = {7, stack_first, stack_frame, 9, frames, NULL},
};
/* clang-format on */
