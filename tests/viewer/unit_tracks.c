/*
 * unit_tracks.c - what a track shows, for waits and switch records given as rows.
 *
 * A track is written as "state length" pairs; parked states by their reason, with the
 * number of the park in the page: "active 10, mutex#1 20, woken#1 5".
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fake_model.h"
#include "page_read.h"
#include "tests/often.h"
#include "unit.h"
#include "viewer/tracks.h"

enum { PARKS_MAX = 8, SWITCHES_MAX = 8, END_NS = 1000 };

#define NEVER TRC_NEVER
#define MUTEX TRC_REASON_MUTEX
#define COND  TRC_REASON_COND

struct wait {
	int64_t start, end, wake;
	uint8_t reason;
};

/* clang-format off */
static const struct track_row {
	const char *what;
	int64_t start, end; /* of the thread */
	struct wait wait[PARKS_MAX];
	struct trc_on_cpu on_cpu[SWITCHES_MAX];
	uint64_t limit; /* of intervals; 0 = 100 */
	const char *track;
} rows[] = {
	{"nothing known: active all along", NEVER, NEVER, {{0}}, {{0}}, 0, "active 1000"},
	{"before its start and after its end it is absent", 100, 900, {{0}}, {{0}}, 0,
	 "absent 100, active 800, absent 100"},
	{"a wait", NEVER, NEVER, {{100, 300, NEVER, MUTEX}}, {{0}}, 0,
	 "active 100, mutex#1 200, active 700"},
	{"from the wake-up on it is woken", NEVER, NEVER, {{100, 300, 250, MUTEX}}, {{0}}, 0,
	 "active 100, mutex#1 150, woken#1 50, active 700"},
	{"a wake-up outside of the wait changes nothing", NEVER, NEVER,
	 {{100, 300, 400, MUTEX}, {500, 600, 400, COND}}, {{0}}, 0,
	 "active 100, mutex#1 200, active 200, woken#2 100, active 400"},
	{"a wait still in progress lasts until the end", NEVER, NEVER, {{600, NEVER, NEVER, COND}},
	 {{0}}, 0, "active 600, cond#1 400"},
	{"a wait of no length is not drawn", NEVER, NEVER, {{600, 600, NEVER, COND}}, {{0}}, 0,
	 "active 1000"},
	{"a wait within a wait covers it (a signal handler)", NEVER, NEVER,
	 {{100, 500, NEVER, COND}, {200, 300, NEVER, MUTEX}}, {{0}}, 0,
	 "active 100, cond#1 100, mutex#2 100, cond#1 200, active 500"},
	{"waits that overlap: the later one covers the earlier", NEVER, NEVER,
	 {{100, 300, NEVER, COND}, {200, 400, NEVER, MUTEX}}, {{0}}, 0,
	 "active 100, cond#1 100, mutex#2 200, active 600"},
	{"waits back to back", NEVER, NEVER, {{0, 500, NEVER, COND}, {500, 1000, NEVER, MUTEX}}, {{0}},
	 0, "cond#1 500, mutex#2 500"},
	{"a wait that outlives its thread is cut", NEVER, 400, {{100, 600, NEVER, COND}}, {{0}}, 0,
	 "active 100, cond#1 300, absent 600"},
	{"on a proc it runs; preempted it is runnable; else it is off", 0, NEVER, {{0}},
	 {{100, 200, 1, 3, true}, {300, 400, 1, 2, false}}, 0,
	 "runnable 100, running@3 100, runnable 100, running@2 100, off 600"},
	{"a thread from before the trace may have run before its first switch", NEVER, NEVER, {{0}},
	 {{100, 1000, 1, 0, false}}, 0, "active 100, running@0 900"},
	{"waits cover switches; what follows still runs", 0, NEVER, {{150, 350, NEVER, MUTEX}},
	 {{0, 200, 1, 0, false}, {340, NEVER, 1, 1, false}}, 0,
	 "running@0 150, mutex#1 200, running@1 650"},
	{"preempted in a call that sends it is runnable", 0, NEVER, {{150, 650, NEVER, TRC_REASON_SEND}},
	 {{0, 200, 1, 0, true}, {300, 400, 1, 1, false}, {500, NEVER, 1, 1, false}}, 0,
	 "running@0 150, send#1 50, runnable 100, send#1 350, running@1 350"},
	{"... also if it never runs again", 0, NEVER, {{150, 650, NEVER, TRC_REASON_SEND}},
	 {{0, 200, 1, 0, true}}, 0, "running@0 150, send#1 50, runnable 800"},
	{"... until it ends, whatever the wait says", 0, 400, {{150, 650, NEVER, TRC_REASON_SEND}},
	 {{0, 200, 1, 0, true}}, 0, "running@0 150, send#1 50, runnable 200, absent 600"},
	{"... but not where a wait is for a lock", 0, NEVER, {{150, 650, NEVER, MUTEX}},
	 {{0, 200, 1, 0, true}, {300, NEVER, 1, 1, false}}, 0,
	 "running@0 150, mutex#1 500, running@1 350"},
	{"moved to another proc without a pause", 0, NEVER, {{0}},
	 {{0, 400, 1, 0, true}, {400, 1000, 1, 1, true}}, 0, "running@0 400, running@1 600"},
	{"past the limit short ones are merged and counted, waits for locks apart", NEVER, NEVER,
	 {{500, 503, NEVER, MUTEX}, {505, 508, NEVER, MUTEX}, {509, 512, NEVER, COND}}, {{0}}, 5,
	 "active 500, active*3 6, mutex*2 6, active 488"},
	{"one short one alone stays what it is", NEVER, NEVER,
	 {{100, 103, NEVER, MUTEX}, {500, 503, NEVER, MUTEX}, {505, 508, NEVER, COND}}, {{0}}, 6,
	 "active 100, mutex#1 3, active 397, cond*2 5, mutex*1 3, active 492"},
};
/* clang-format on */

static uint64_t value_at(const struct trc_column *c, const uint8_t **at)
{
	uint64_t value = 0;
	unsigned int shift = 0;

	ck_assert(*at < c->bytes.data + c->bytes.n_bytes);
	for (;; shift += 7) {
		uint8_t byte = *(*at)++;

		value |= (uint64_t)(byte & 127) << shift;
		if (byte < 128)
			return value;
	}
}

/* The track as text. */
static void describe(const struct trc_tracks *t, char *out, size_t n_bytes)
{
	static const char *const name[] = {"absent", "running", "runnable",
					   "active", "off",	"woken"};
	const uint8_t *duration = t->duration.bytes.data, *park = t->park.bytes.data;
	const uint8_t *proc = t->proc.bytes.data, *merged = t->merged.bytes.data;
	uint64_t park_idx = 0;
	size_t n = 0;

	*out = 0;
	for (uint64_t i = 0; i < t->state.n; i++) {
		uint8_t state = t->state.bytes.data[i], base = state & 127;
		const char *what = base < TRC_STATE_PARKED
					   ? name[base]
					   : trc_reason_name(base - TRC_STATE_PARKED);

		n += (size_t)snprintf(out + n, n_bytes - n, "%s%s", i ? ", " : "", what);
		if (state & TRC_STATE_MERGED) {
			n += (size_t)snprintf(out + n, n_bytes - n, "*%d",
					      (int)value_at(&t->merged, &merged));
		} else if (base >= TRC_STATE_PARKED || base == TRC_STATE_WOKEN) {
			uint64_t delta = value_at(&t->park, &park);

			park_idx += delta >> 1 ^ (0 - (delta & 1));
			n += (size_t)snprintf(out + n, n_bytes - n, "#%d", (int)park_idx);
		} else if (base == TRC_STATE_RUNNING) {
			n += (size_t)snprintf(out + n, n_bytes - n, "@%d",
					      (int)value_at(&t->proc, &proc));
		}
		n += (size_t)snprintf(out + n, n_bytes - n, " %d",
				      (int)value_at(&t->duration, &duration));
	}
}

/* Builds the model of a row: one thread, serial 1. */
static void model_of(const struct track_row *row, struct trc_model *m, struct trc_thread *thread,
		     struct trc_park *park)
{
	*thread = (struct trc_thread){
		.serial = 1, .name = "", .start_ns = row->start, .end_ns = row->end};
	*m = (struct trc_model){.end_ns = END_NS, .threads = thread, .n_threads = 1, .parks = park};
	for (size_t i = 0; i < PARKS_MAX && row->wait[i].reason; i++)
		park[m->n_parks++] = (struct trc_park){.start_ns = row->wait[i].start,
						       .end_ns = row->wait[i].end,
						       .wake_ns = row->wait[i].wake,
						       .reason = row->wait[i].reason,
						       .thread = 1};
	m->on_cpu = row->on_cpu;
	while (m->n_on_cpu < SWITCHES_MAX && row->on_cpu[m->n_on_cpu].thread)
		m->n_on_cpu++;
}

static int tracks_of(struct trc_tracks *t, const struct trc_model *m, uint64_t intervals_max)
{
	struct trc_cut cut;

	ck_assert_int_eq(trc_cut_make(&cut, m), 0);
	return trc_tracks_make(t, &cut, intervals_max);
}

START_TEST(tracks_show_what_is_known)
{
	const struct track_row *row = &rows[_i];
	struct trc_thread thread;
	struct trc_park park[PARKS_MAX];
	struct trc_model m;
	struct trc_tracks t;
	char track[512];

	model_of(row, &m, &thread, park);
	ck_assert_int_eq(tracks_of(&t, &m, row->limit ? row->limit : 100), 0);
	describe(&t, track, sizeof(track));
	ck_assert_msg(!strcmp(track, row->track), "%s: %s", row->what, track);
	ck_assert_int_eq(t.merged_below_ns > 0, row->limit > 0);
	trc_tracks_free(&t);
}
END_TEST

/* tracks:T2 and tracks:T3 over many random threads. */
START_TEST(merging_keeps_the_limit_and_the_times)
{
	enum { THREADS = 20, EACH = 500 };
	static struct trc_thread thread[THREADS];
	static struct trc_park park[THREADS * EACH];
	struct trc_model m = {.threads = thread, .n_threads = THREADS, .parks = park};
	struct trc_tracks whole, merged;
	uint32_t random = 7;

	for (uint32_t i = 0; i < THREADS; i++) {
		int64_t at = 0;

		thread[i] = (struct trc_thread){
			.serial = i + 1, .name = "", .start_ns = TRC_NEVER, .end_ns = TRC_NEVER};
		for (uint32_t k = 0; k < EACH; k++) {
			random = random * 1664525 + 1013904223;
			park[m.n_parks] = (struct trc_park){.thread = i + 1, .start_ns = at + 5};
			park[m.n_parks].end_ns = at += 6 + (random >> 8) % (2U << (random >> 28));
			park[m.n_parks].wake_ns = TRC_NEVER;
			park[m.n_parks++].reason = (uint8_t)(1 + random % 5);
		}
		m.end_ns = at > m.end_ns ? at : m.end_ns;
	}
	ck_assert_int_eq(tracks_of(&whole, &m, 1 << 20), 0);
	ck_assert_int_eq(tracks_of(&merged, &m, 2000), 0);
	ck_assert_int_eq(whole.merged_below_ns, 0);
	ck_assert_int_gt(merged.merged_below_ns, 0);
	ck_assert_uint_eq(merged.n_before_merging, whole.n_intervals);
	ck_assert_uint_le(merged.n_intervals, 2 * 2000 + 2 * THREADS);
	ck_assert_uint_lt(merged.n_shown, whole.n_shown);
	ck_assert_uint_eq(merged.time_ns.bytes.n_bytes, whole.time_ns.bytes.n_bytes);
	ck_assert_mem_eq(merged.time_ns.bytes.data, whole.time_ns.bytes.data,
			 whole.time_ns.bytes.n_bytes);
	trc_tracks_free(&whole);
	trc_tracks_free(&merged);
}
END_TEST

/* Waits of 3 ns, 4 ns apart: for a lock in the first half of the time, then for a condition. */
START_TEST(merged_ones_end_after_a_step)
{
	enum { WAITS = 100000, NS = 7 * WAITS };
	static struct trc_park park[WAITS];
	struct trc_thread thread = {
		.serial = 1, .name = "", .start_ns = TRC_NEVER, .end_ns = TRC_NEVER};
	struct trc_model m = {
		.threads = &thread, .n_threads = 1, .parks = park, .n_parks = WAITS, .end_ns = NS};
	struct trc_tracks t;
	const uint8_t *duration, *state;
	uint64_t at = 0, locked[2] = {0};

	for (uint32_t i = 0; i < WAITS; i++)
		park[i] = (struct trc_park){.thread = 1,
					    .start_ns = 7 * i,
					    .end_ns = 7 * i + 3,
					    .wake_ns = TRC_NEVER,
					    .reason = i < WAITS / 2 ? MUTEX : COND};
	ck_assert_int_eq(tracks_of(&t, &m, 10000), 0);
	duration = t.duration.bytes.data;
	state = t.state.bytes.data;
	for (uint64_t i = 0; i < t.n_intervals; i++) {
		uint64_t length = value_at(&t.duration, &duration);

		expect(state[i] & TRC_STATE_MERGED);
		expect(length <= 2 * NS / 1024);
		if (trc_state_is_lock(state[i] & 0x7f))
			locked[at >= NS / 2] += length;
		at += length;
	}
	ck_assert_uint_eq(at, NS);
	ck_assert_uint_gt(t.n_intervals, 1000);
	ck_assert_uint_eq(locked[0] + locked[1], 3 * WAITS / 2);
	ck_assert_uint_le(locked[1], NS / 1024); /* of the step in the middle */
	trc_tracks_free(&t);
}
END_TEST

/* Two threads, 16 steps of 10 ns each: a thread that is absent is so in all of its steps. */
START_TEST(the_sketch_has_the_state_with_most_time)
{
	struct trc_first f;
	const struct trc_first_cell *cell;
	enum {
		IN_MUTEX = TRC_STATE_PARKED + TRC_REASON_MUTEX,
		IN_READ = TRC_STATE_PARKED + TRC_REASON_READ,
	};

	ck_assert_int_eq(trc_first_init(&f, 9000, 1000, 1160), 0);
	ck_assert_uint_eq(f.steps, 16);
	trc_first_add(&f, 0, 0, 1013, TRC_STATE_ACTIVE);
	trc_first_add(&f, 0, 1013, 1020, IN_READ);
	trc_first_add(&f, 0, 1020, 1026, IN_MUTEX);
	trc_first_add(&f, 0, 1026, 1030, TRC_STATE_ACTIVE);
	trc_first_add(&f, 0, 1030, 1160, IN_MUTEX);
	trc_first_add(&f, 2, 0, 1154, TRC_STATE_RUNNING);
	trc_first_add(&f, 2, 1154, 1160, TRC_STATE_MERGED | TRC_STATE_ACTIVE);
	trc_first_end(&f);
	cell = f.cell;
	ck_assert_uint_eq(cell[0].state, TRC_STATE_ACTIVE);
	ck_assert_uint_eq(cell[0].locked, 0);
	ck_assert_uint_eq(cell[1].state, IN_READ);
	ck_assert_uint_eq(cell[2].state, TRC_STATE_ACTIVE);
	ck_assert_uint_eq(cell[2].lock, IN_MUTEX);
	ck_assert_uint_eq(cell[2].locked, 255 * 6 / 10);
	ck_assert_uint_eq(cell[15].lock, IN_MUTEX);
	ck_assert_uint_eq(cell[15].locked, 255);
	ck_assert_uint_eq(cell[16].state, TRC_STATE_ABSENT);
	ck_assert_uint_eq(cell[31].locked, 0);
	ck_assert_uint_eq(cell[32].state, TRC_STATE_RUNNING);
	ck_assert_uint_eq(cell[47].state, TRC_STATE_ACTIVE);
	trc_first_free(&f);
}
END_TEST

TCase *unit_tracks(void)
{
	TCase *t = tcase_create("tracks");

	tcase_add_test(t, the_sketch_has_the_state_with_most_time);
	tcase_add_loop_test(t, tracks_show_what_is_known, 0, sizeof(rows) / sizeof(rows[0]));
	tcase_add_test(t, merging_keeps_the_limit_and_the_times);
	tcase_add_test(t, merged_ones_end_after_a_step);
	return t;
}
