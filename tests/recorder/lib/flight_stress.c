/*
 * flight_stress.c - flight mode: the oldest is overwritten under the eyes of a reader that stops
 * nobody, and all the same what it takes is whole, in order, and has no holes.
 *
 * The reader here follows layout.h by itself; snapshot.c has tests of its own.
 */
#include <check.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "recorder/shared/clock.h"
#include "recorder/ring/rec.h"
#include "recorder/ring/ring_inline.h"
#include "recorder/guest/session.h"
#include "tests/recorder/ring/stress_workers.h"
#include "recorder/ring/slot_inline.h"
#include "tests/suite.h"

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
enum { FEWER = 10 }; /* each is that much slower */
#else
enum { FEWER = 1 };
#endif

struct row {
	const char *says;
	enum trc_clock_kind clock;
	uint64_t ring_bytes;
	int records; /* by each thread, signal handlers not counted */
	bool signals, migration;
};

static const struct row rows[] = {
	{"plain", 0, 64 << 10, 400000, false, false},
	{"with signals and migration", 0, 64 << 10, 150000, true, true},
	{"rings of one page", 0, 8192, 150000, true, true},
	{"rings of four pages", 0, 32 << 10, 150000, true, true},
	{"by a clock that is no counter", TRC_CLOCK_MONOTONIC_RAW, 64 << 10, 100000, true, true},
};

static struct {
	_Alignas(64) uint64_t emitted, failed;
} source[STRESS_SOURCES];

/* One in four cites a string of its own, by which a table that forgot too early is found out. */
static void record_numbered(int from)
{
	uint64_t n = source[from].emitted++;
	uint64_t word[40] = {(uint64_t)from, n, ~n, 0};
	uint32_t words = n % 2 ? 4 + (uint32_t)(n % 36) : 4;
	char name[32];

	if (!trc_self_ready())
		return;
	if (n % 4 == 0)
		word[3] = trc_string_intern(
			name, (uint32_t)snprintf(name, sizeof(name), "%d/%llu", from,
						 (unsigned long long)n));
	for (uint32_t i = 4; i < words; i++)
		word[i] = n + i;
	if (!trc_record_args(TRC_REC_WORD1(TRC_KIND_LOG, 0, 2 + words, trc_self.serial), word,
			     words))
		source[from].failed++;
}

/* ---- the reader -------------------------------------------------------------------------- */

struct taken {
	uint64_t time, from, n, string;
};
static struct taken *taken;
static size_t n_taken, capacity;

struct copy {
	uint64_t *word, from, to; /* of the ring's words; word[0] is that at `from` */
	bool wrapped;
	uint64_t oldest; /* time of the first record */
};

/* R5 */
static void copy_ring(struct trc_shared *shared, uint32_t proc, struct copy *c)
{
	struct trc_ring *ring = trc_ring_at(shared, proc);
	_Atomic uint64_t *data = trc_ring_data(shared, proc);
	uint64_t head, floor;

	*c = (struct copy){.word = c->word};
	if (atomic_load_explicit(&ring->state, memory_order_acquire) != TRC_RING_READY)
		return;
	head = atomic_load_explicit(&ring->head, memory_order_acquire);
	floor = atomic_load_explicit(&ring->floor, memory_order_acquire);
	ck_assert_uint_eq(floor % shared->page_words, 0);
	for (uint64_t at = floor; at < head; at++)
		c->word[at - floor] = atomic_load_explicit(
			&data[at & (shared->ring_words - 1)], memory_order_relaxed);
	atomic_thread_fence(memory_order_acquire);
	c->from = atomic_load_explicit(&ring->floor, memory_order_relaxed);
	c->to = head;
	c->wrapped = c->from > 0;
	if (c->from > head)
		c->from = head;
	memmove(c->word, c->word + (c->from - floor), (head - c->from) * 8);
}

static void keep(const uint64_t *word, uint64_t from, uint64_t cut)
{
	if (word[0] < from || word[0] > cut || TRC_REC_KIND(word[1]) != TRC_KIND_LOG)
		return;
	ck_assert_uint_lt(word[2], STRESS_SOURCES);
	ck_assert_msg(word[4] == ~word[3], "a torn record");
	for (uint32_t i = 4; i + 2 < TRC_REC_WORDS(word[1]); i++)
		ck_assert_msg(word[2 + i] == word[3] + i, "a torn record");
	ck_assert_uint_lt(n_taken, capacity);
	taken[n_taken++] = (struct taken){word[0], word[2], word[3], word[5]};
}

static bool read_cell(uint64_t position, bool first, uint64_t word[7])
{
	struct trc_cell *cell = &trc_rec.cells[position & (trc_rec.shared->n_cells - 1)];
	uint64_t commit = atomic_load_explicit(&cell->commit, memory_order_acquire);

	for (int i = 0; i < 7; i++)
		word[i] = atomic_load_explicit(&cell->word[i], memory_order_relaxed);
	return commit == trc_cell_commit(position, first, word);
}

/*
 * layout:O1, layout:O5: what is committed in the overflow stream, and whole.  There a thread that
 * is stopped in the middle of writing while all cells are turned over spoils what came after: such records are
 * missing, and nobody promises more; but none is ever wrong.  Returns the oldest time, if the
 * stream was overwritten.
 */
static uint64_t take_cells(struct trc_shared *shared, uint64_t from, uint64_t cut)
{
	struct trc_overflow *o = trc_rec.overflow;
	uint64_t head = atomic_load_explicit(&o->head, memory_order_acquire), n;
	uint64_t at = head > shared->n_cells ? head - shared->n_cells : 0, oldest = 0;
	bool wrapped = at > 0;
	uint64_t word[16][7];

	for (; at < head; at += n) {
		bool whole = read_cell(at, true, word[0]);

		n = whole ? TRC_CLAIM_CELLS(word[0][0]) : 1;
		ck_assert_uint_ge(n, 1);
		ck_assert_uint_le(n, 16);
		for (uint64_t i = 1; whole && i < n; i++)
			whole = read_cell(at + i, false, word[i]);
		if (!whole)
			continue;
		if (!oldest)
			oldest = word[0][1];
		keep(&word[0][1], from, cut);
	}
	return wrapped ? oldest : 0;
}

/* Calls keep() for the records of the window; with `look` only notes the oldest time. */
static void walk(struct trc_shared *shared, struct copy *c, uint64_t from, uint64_t cut, bool look)
{
	uint64_t at = c->from, last = 0, page = shared->page_words;

	while (at < c->to) {
		const uint64_t *word = c->word + (at - c->from);
		uint32_t n = TRC_REC_WORDS(word[1]);

		if (!word[0]) { /* R7 */
			at = (at / page + 1) * page;
			continue;
		}
		ck_assert_uint_ge(n, 2);
		ck_assert_uint_le(at % page + n, page);
		ck_assert_uint_le(at + n, c->to);
		ck_assert_uint_ge(word[0], last);
		last = word[0];
		if (!c->oldest)
			c->oldest = word[0];
		if (look)
			return;
		keep(word, from, cut);
		at += n;
	}
}

static int by_time(const void *a, const void *b)
{
	const struct taken *x = a, *y = b;

	return (x->time > y->time) - (x->time < y->time);
}

/* snapshot:H3: what lies between the latest start of a wrapped ring and the cut has no holes. */
static void take_and_check(struct trc_shared *shared, struct copy *copy)
{
	uint64_t cut = trc_clock_ordered(), from = 0, oldest;
	int64_t last[STRESS_SOURCES];
	size_t n_cells;

	n_taken = 0;
	for (uint32_t i = 0; i < shared->n_procs; i++)
		copy_ring(shared, i, &copy[i]);
	for (uint32_t i = 0; i < shared->n_procs; i++) {
		walk(shared, &copy[i], 0, 0, true);
		if (copy[i].wrapped && copy[i].from == copy[i].to)
			from = cut; /* a ring of one page that was just given up */
		if (copy[i].wrapped && copy[i].oldest > from)
			from = copy[i].oldest;
	}
	oldest = take_cells(shared, UINT64_MAX, 0); /* only to know */
	if (oldest > from)
		from = oldest;
	take_cells(shared, from, cut);
	n_cells = n_taken;
	for (uint32_t i = 0; i < shared->n_procs; i++)
		walk(shared, &copy[i], from, cut, false);
	qsort(taken, n_taken, sizeof(*taken), by_time);
	for (int i = 0; i < STRESS_SOURCES; i++)
		last[i] = -1;
	for (size_t i = 0; i < n_taken; i++) {
		const struct taken *t = &taken[i];

		ck_assert_int_gt((int64_t)t->n, last[t->from]);
		if (last[t->from] >= 0 && !n_cells)
			ck_assert_msg((int64_t)t->n == last[t->from] + 1,
				      "source %llu: %llu after %lld",
				      (unsigned long long)t->from, (unsigned long long)t->n,
				      (long long)last[t->from]);
		last[t->from] = (int64_t)t->n;
	}
}

/* layout:T3: nothing in the window cites a string that is gone, let alone another one. */
static uint64_t check_strings(struct trc_shared *shared)
{
	uint64_t cited = 0;

	for (size_t i = 0; i < n_taken; i++) {
		const struct taken *t = &taken[i];
		char bytes[256], expected[32];
		uint32_t n;

		if (!t->string)
			continue;
		n = trc_string_copy(shared, t->string, bytes);
		snprintf(expected, sizeof(expected), "%llu/%llu", (unsigned long long)t->from,
			 (unsigned long long)t->n);
		ck_assert_uint_eq(n, strlen(expected));
		ck_assert_mem_eq(bytes, expected, n);
		cited++;
	}
	return cited;
}

static struct trc_shared *open_flight(uint64_t ring_bytes, enum trc_clock_kind clock)
{
	struct trc_session_options o;
	char error[256] = "";

	ck_assert_int_eq(trc_session_options_init(&o, error, sizeof(error)), 0);
	o.ring_bytes = ring_bytes;
	o.clock = clock;
	trc_session_flight(&o);
	ck_assert_msg(trc_session_open(&o, error, sizeof(error)) == 0, "%s", error);
	return trc_session_shared();
}

START_TEST(what_is_left_is_whole_and_has_no_holes)
{
	const struct row *row = &rows[_i];
	const struct stress_plan plan = {record_numbered, row->records / FEWER, row->signals,
					 row->migration};
	struct trc_shared *shared = open_flight(row->ring_bytes, row->clock);
	struct copy *copy = calloc(shared->n_procs, sizeof(*copy));
	uint64_t cited;
	int looks = 0;

	capacity = shared->n_procs * shared->ring_words / 6 + shared->n_cells + 1;
	taken = calloc(capacity, sizeof(*taken));
	for (uint32_t i = 0; i < shared->n_procs; i++)
		copy[i].word = malloc((shared->ring_words + shared->page_words) * 8);
	trc_session_record(true);
	stress_start(&plan);
	for (; stress_running(); looks++)
		take_and_check(shared, copy);
	stress_join();
	trc_session_record(false);
	for (int i = 0; i < STRESS_SOURCES; i++)
		ck_assert_uint_eq(source[i].failed, 0);
	take_and_check(shared, copy);
	ck_assert_uint_gt(n_taken, 0);
	cited = check_strings(shared);
	ck_assert_uint_gt(shared->table_epoch, 2);
	printf("%-32s %d looks while it ran; %zu records in the last window, %llu strings\n",
	       row->says, looks, n_taken, (unsigned long long)cited);
	for (uint32_t i = 0; i < shared->n_procs; i++)
		free(copy[i].word);
	free(copy);
	free(taken);
	trc_session_close();
}
END_TEST

static void *short_life(void *arg)
{
	trc_thread_started(0, 0, 0, 0);
	trc_thread_ended();
	return NULL;
}

START_TEST(slots_of_ended_threads_are_taken_again_the_oldest_first)
{
	struct trc_shared *shared = open_flight(64 << 10, 0);
	uint32_t oldest = UINT32_MAX;

	trc_session_record(true);
	trc_self_attach();
	for (int i = 0; i < 3000; i++) {
		pthread_t thread;

		ck_assert_int_eq(pthread_create(&thread, NULL, short_life, NULL), 0);
		pthread_join(thread, NULL);
	}
	ck_assert_uint_eq(shared->slots_full, 0);
	for (uint32_t i = 0; i < shared->n_threads; i++)
		if (trc_rec.slots[i].state == TRC_SLOT_ENDED && trc_rec.slots[i].serial < oldest)
			oldest = trc_rec.slots[i].serial;
	ck_assert_uint_ge(oldest, 3001 - shared->n_threads);
	trc_session_close();
}
END_TEST

/* A thread waits for an hour, and meanwhile the tables are turned over many times. */
START_TEST(what_a_slot_cites_is_never_evicted)
{
	struct trc_shared *shared = open_flight(64 << 10, 0);
	uint64_t frame[4] = {1, 2, 3, 4}, got[TRC_STACK_DEPTH_MAX], id;
	uint32_t epoch;

	trc_session_record(true);
	trc_self_attach();
	id = trc_stack_intern(frame, 4, 0);
	trc_slot_wait(TRC_REASON_COND, 0x1000, 1, 0, id, NULL);
	for (uint64_t i = 0; i < 200000; i++) {
		uint64_t other[4] = {i, 7, 8, 9};

		trc_stack_intern(other, 4, 0);
		if (i % 1000 == 0)
			shared->table_epoch++;
	}
	ck_assert_uint_eq(trc_stack_copy(shared, id, &epoch, got), 4);
	ck_assert_mem_eq(got, frame, sizeof(frame));
	trc_session_close();
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("flight_stress");
	TCase *stress = tcase_create("stress");

	tcase_set_timeout(stress, 120);
	tcase_add_loop_test(stress, what_is_left_is_whole_and_has_no_holes, 0,
			    (int)(sizeof(rows) / sizeof(rows[0])));
	tcase_add_test(stress, slots_of_ended_threads_are_taken_again_the_oldest_first);
	tcase_add_test(stress, what_a_slot_cites_is_never_evicted);
	suite_add_tcase(suite, stress);
	return suite_run(suite);
}
