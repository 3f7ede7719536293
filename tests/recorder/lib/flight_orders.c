/*
 * flight_orders.c - a flight recorder and traces begin and end in every order while many threads
 * record and others take snapshots.  Every number that a thread counts between the start and the
 * stop of a trace is in that trace or counted as lost; of a snapshot no number in the middle is
 * missing without its saying so.
 *
 * Without interposers, so that it runs under the thread sanitizer too.
 */
#include <check.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <trc/trace.h>
#include "trace_look.h"
#include "tests/suite.h"

enum { WRITERS = 6, TAKERS = 2 };
#ifdef __SANITIZE_THREAD__
enum { ROUNDS = 4, PAUSE_US = 20000 };
#else
enum { ROUNDS = 8, PAUSE_US = 20000 };
#endif

static char dir[64], ring_dir[80], trace[128], odd[128];
static _Atomic bool stopping;
static _Atomic uint64_t counted[WRITERS]; /* stored after the event */
static _Atomic unsigned int n_taken, n_refused;

static const char *const names[WRITERS] = {"w0", "w1", "w2", "w3", "w4", "w5"};

static void *count_up(void *arg)
{
	unsigned int w = (unsigned int)(uintptr_t)arg;
	trace_thread_set_name(names[w]);
	for (uint64_t i = 1; !stopping; i++) {
		trace_region_begin(0, "step");
		trace_counter_set(names[w], (int64_t)i);
		trace_region_end();
		counted[w] = i;
		if (i % 16 == 0)
			usleep(100);
	}
	return NULL;
}

/*
 * No hole in what a thread counted but what gaps tell: values = last - first + 1.  How many a gap
 * stands for is exact in a trace; in a snapshot it is if the gap before it is still in the ring.
 */
static void expect_whole(const struct trc_reader *reader, const char *what, bool exact)
{
	struct look_counters found;
	uint64_t missing = 0;

	look_counters(reader, names, WRITERS, &found);
	for (unsigned int w = 0; w < WRITERS; w++) {
		const int64_t *value = found.value[w];
		size_t n = found.n[w];

		for (size_t i = 1; i < n; i++)
			ck_assert_msg(value[i] != value[i - 1], "%s: %s has %lld twice", what,
				      names[w], (long long)value[i]);
		missing += n ? (uint64_t)(value[n - 1] - value[0] + 1) - n : 0;
	}
	look_counters_free(&found);
	ck_assert_msg(exact ? missing <= look_lost(reader) : !missing || look_lost(reader),
		      "%s: %llu numbers are missing, %llu are told", what,
		      (unsigned long long)missing, (unsigned long long)look_lost(reader));
}

static void look_at(const char *path, const char *what, bool closely)
{
	struct trc_reader *reader = look_open(path);

	expect_whole(reader, what, false);
	trc_reader_close(reader);
	if (closely)
		look_check(path);
}

static void *take(void *arg)
{
	char path[160];

	snprintf(path, sizeof(path), "%s/s%u.trc", dir, (unsigned int)(uintptr_t)arg);
	while (!stopping) {
		int err = trace_flight_snapshot(path, NULL);

		if (err == -EINVAL) {
			ck_assert_str_eq(trace_last_error(), "no flight recorder runs");
			n_refused++;
			usleep(500);
			continue;
		}
		ck_assert_msg(err == 0, "%s", trace_last_error());
		look_at(path, "a snapshot", n_taken++ % 8 == 0);
	}
	unlink(path);
	return NULL;
}

/* ---- the orders -------------------------------------------------------------------------- */

static void flight_begins(void)
{
	struct trace_flight_options o = TRACE_FLIGHT_OPTIONS_INIT;

	o.ring_dir = ring_dir;
	o.trigger_path = odd;
	o.trigger_every_ns = 1;
	ck_assert_msg(trace_flight_start(&o) == 0, "%s", trace_last_error());
}

static void flight_ends(void)
{
	ck_assert_int_eq(trace_flight_trigger("the end"), 0);
	ck_assert_msg(trace_flight_stop() == 0, "%s", trace_last_error());
}

static uint64_t at_begin[WRITERS];

static void trace_begins(void)
{
	struct trace_options o = TRACE_OPTIONS_INIT;

	o.ring_dir = ring_dir;
	o.ring_bytes = 1 << 20;
	ck_assert_msg(trace_start(trace, &o) == 0, "%s", trace_last_error());
	for (unsigned int w = 0; w < WRITERS; w++)
		at_begin[w] = counted[w];
}

static void expect_between(const struct trc_reader *reader, const uint64_t *at_end)
{
	struct look_counters found;
	uint64_t missing = 0;

	look_counters(reader, names, WRITERS, &found);
	for (unsigned int w = 0; w < WRITERS; w++) {
		size_t in = 0;

		for (size_t i = 0; i < found.n[w]; i++)
			/* The event after the one that was counted last may be on either side. */
			in += (uint64_t)found.value[w][i] > at_begin[w] + 1 &&
			      (uint64_t)found.value[w][i] <= at_end[w];
		if (at_end[w] > at_begin[w] + 1)
			missing += at_end[w] - at_begin[w] - 1 - in;
	}
	look_counters_free(&found);
	ck_assert_msg(missing <= look_lost(reader),
		      "of what was counted meanwhile %llu are missing, %llu are told",
		      (unsigned long long)missing, (unsigned long long)look_lost(reader));
}

static void trace_ends(void)
{
	struct trc_reader *reader;
	uint64_t at_end[WRITERS];

	for (unsigned int w = 0; w < WRITERS; w++)
		at_end[w] = counted[w];
	ck_assert_msg(trace_stop() == 0, "%s", trace_last_error());
	reader = look_open(trace);
	expect_between(reader, at_end);
	expect_whole(reader, "a trace", true);
	trc_reader_close(reader);
	look_check(trace);
}

static void (*const orders[][4])(void) = {
	{flight_begins, trace_begins, trace_ends, flight_ends},
	{flight_begins, trace_begins, flight_ends, trace_ends},
	{trace_begins, flight_begins, trace_ends, flight_ends},
	{trace_begins, flight_begins, flight_ends, trace_ends},
};

/* Triggered snapshots are whole as well; their files go. */
static unsigned int look_at_triggered(void)
{
	unsigned int n = 0;
	char path[160];

	for (unsigned int i = 1; i <= 2; i++) {
		snprintf(path, sizeof(path), "%s/odd.%u.trc", dir, i);
		if (access(path, F_OK))
			continue;
		look_at(path, "a triggered snapshot", true);
		unlink(path);
		n++;
	}
	return n;
}

static void set_up(void)
{
	strcpy(dir, "/tmp/trc-stress-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(dir));
	strcpy(ring_dir, "/dev/shm/trc-test-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(ring_dir));
	snprintf(trace, sizeof(trace), "%s/t.trc", dir);
	snprintf(odd, sizeof(odd), "%s/odd.trc", dir);
}

static void tear_down(void)
{
	unlink(trace);
	ck_assert_msg(rmdir(dir) == 0, "something was left in %s", dir);
	ck_assert_msg(rmdir(ring_dir) == 0, "a ring was left in %s", ring_dir);
}

START_TEST(in_every_order_all_are_whole)
{
	pthread_t writer[WRITERS], taker[TAKERS];
	unsigned int n_triggered = 0;

	for (uintptr_t i = 0; i < WRITERS; i++)
		pthread_create(&writer[i], NULL, count_up, (void *)i);
	for (uintptr_t i = 0; i < TAKERS; i++)
		pthread_create(&taker[i], NULL, take, (void *)i);
	for (unsigned int round = 0; round < ROUNDS; round++) {
		for (unsigned int step = 0; step < 4; step++) {
			orders[round % 4][step]();
			usleep(PAUSE_US);
		}
		n_triggered += look_at_triggered();
	}
	stopping = true;
	for (int i = 0; i < WRITERS; i++)
		pthread_join(writer[i], NULL);
	for (int i = 0; i < TAKERS; i++)
		pthread_join(taker[i], NULL);
	ck_assert_uint_eq(n_triggered, ROUNDS);
	ck_assert_uint_gt(n_taken, 0);
	printf("%u snapshots taken, %u asked for while no recorder ran\n", n_taken, n_refused);
}
END_TEST

#ifdef __SANITIZE_THREAD__
/*
 * A session is replaced only while nothing records; a thread that began an event just before that
 * reads what is being replaced, and finds that its session is over (session:N2).
 */
__attribute__((visibility("default"))) const char *__tsan_default_suppressions(void);
const char *__tsan_default_suppressions(void)
{
	return "race:^adopt$\nrace:^allocate$\nrace:^open_mapping$\nrace:^trc_clock_setup$\n"
	       "race:^trc_rseq_setup$\n";
}
#endif

int main(void)
{
	Suite *suite = suite_create("flight_orders");
	TCase *c = tcase_create("flight_orders");

	tcase_add_checked_fixture(c, set_up, tear_down);
	tcase_set_timeout(c, 300);
	tcase_add_test(c, in_every_order_all_are_whole);
	suite_add_tcase(suite, c);
	return suite_run(suite);
}
