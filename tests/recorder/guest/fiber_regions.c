/* fiber_regions.c - regions of fibers, fibers in signal handlers, and fibers that go from thread to thread. */
#include <check.h>
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "recorder/guest/runtime.h"
#include "recorder/guest/fiber.h"
#include "recorder/guest/labels.h"
#include "recorder/ring/rec.h"
#include "recorder/guest/session.h"
#include "recorder/ring/slot_inline.h"
#include "recorder/shared/trigger.h"
#include "fiber_fixture.h"

/* ---- regions --------------------------------------------------------------------------- */

static void expect_regions(uint32_t n, const char *innermost)
{
	struct trc_slot *slot = trc_self.slot;

	ck_assert_uint_eq(atomic_load(&slot->n_regions), n);
	if (n)
		ck_assert_str_eq(string(atomic_load(&slot->region[n - 1].type)), innermost);
}

static void begin(const char *type)
{
	trc_own_runtime.region_begin(NULL, 0, type);
}

static void *end_on_another(void *fiber)
{
	ck_assert(trc_self_ready());
	begin("of the other thread");
	trc_fiber_switch(fiber, YIELD, NULL);
	expect_regions(2, "inner");
	trc_own_runtime.region_end();
	expect_regions(1, "outer");
	trc_fiber_switch(NULL, YIELD, NULL);
	expect_regions(1, "of the other thread");
	trc_thread_ended();
	return NULL;
}

START_TEST(open_regions_go_with_their_fiber)
{
	struct trace_fiber *fiber;
	pthread_t thread;

	open_session();
	fiber = trc_fiber_create("f");
	begin("root");
	trc_fiber_switch(fiber, YIELD, NULL);
	expect_regions(0, NULL);
	begin("outer");
	begin("inner");
	trc_fiber_switch(NULL, YIELD, NULL);
	expect_regions(1, "root");
	pthread_create(&thread, NULL, end_on_another, fiber);
	pthread_join(thread, NULL);
	trc_fiber_switch(fiber, YIELD, NULL);
	expect_regions(1, "outer");
	for (int i = 0; i < 2 * TRC_OPEN_REGIONS; i++)
		begin("deep");
	trc_fiber_switch(NULL, YIELD, NULL);
	expect_regions(1, "root");
	trc_fiber_switch(fiber, YIELD, NULL);
	ck_assert_uint_eq(atomic_load(&trc_self.slot->n_regions), 1 + 2 * TRC_OPEN_REGIONS);
	trc_fiber_switch(NULL, YIELD, NULL);
	close_session();
	open_session(); /* none of this is known here */
	trc_fiber_switch(fiber, YIELD, NULL);
	expect_regions(0, NULL);
	trc_fiber_destroy(fiber);
	expect_regions(0, NULL);
	close_session();
}
END_TEST

static void *end_without_slot(void *fiber)
{
	ck_assert(trc_self_ready());
	trc_self.slot = &trc_no_slot; /* as if there were too many threads */
	trc_fiber_switch(fiber, YIELD, NULL);
	trc_own_runtime.region_end();
	trc_fiber_switch(NULL, YIELD, NULL);
	trc_thread_ended();
	return NULL;
}

START_TEST(what_a_thread_without_a_slot_ends_is_not_told_as_open)
{
	struct trace_fiber *fiber;
	pthread_t thread;

	open_session();
	fiber = trc_fiber_create("f");
	trc_fiber_switch(fiber, YIELD, NULL);
	begin("ended elsewhere");
	trc_fiber_switch(NULL, YIELD, NULL);
	pthread_create(&thread, NULL, end_without_slot, fiber);
	pthread_join(thread, NULL);
	trc_fiber_switch(fiber, YIELD, NULL);
	expect_regions(0, NULL);
	trc_fiber_destroy(fiber);
	close_session();
}
END_TEST

static void trigger_on_region(struct trc_trigger_spec *spec, const char *text)
{
	char error[128];

	ck_assert_int_eq(trc_trigger_parse(spec, text, error, sizeof(error)), 0);
}

static void *end_triggered(void *fiber)
{
	trc_fiber_switch(fiber, YIELD, NULL);
	trc_own_runtime.region_end();
	trc_fiber_switch(NULL, YIELD, NULL);
	trc_thread_ended();
	return NULL;
}

START_TEST(a_region_is_as_long_as_it_was_open_whatever_thread_ends_it)
{
	struct trc_trigger_spec spec;
	struct trace_fiber *fiber;
	pthread_t thread;

	open_session();
	trigger_on_region(&spec, "region:long>50ms");
	trc_triggers_set(&spec, 1);
	fiber = trc_fiber_create("f");
	trc_fiber_switch(fiber, YIELD, NULL);
	begin("long");
	trc_fiber_switch(NULL, YIELD, NULL);
	begin("short");
	trc_own_runtime.region_end();
	ck_assert_uint_eq(atomic_load(&trc_session_shared()->n_triggers), 0);
	usleep(60000);
	ck_assert_uint_eq(atomic_load(&trc_session_shared()->n_triggers), 0);
	pthread_create(&thread, NULL, end_triggered, fiber);
	pthread_join(thread, NULL);
	ck_assert_uint_eq(atomic_load(&trc_session_shared()->n_triggers), 1);
	trc_fiber_destroy(fiber);
	close_session();
}
END_TEST

/* ---- signals, and many threads --------------------------------------------------------- */

static struct trace_fiber *told;
static volatile sig_atomic_t n_told;

static void tell_ready(int number)
{
	(void)number;
	trc_fiber_ready(told);
	n_told++;
}

struct storm {
	pthread_t of;
	_Atomic int stop;
};

static void *storm(void *arg)
{
	struct storm *s = arg;

	trc_self.quiet++;
	while (!atomic_load(&s->stop)) {
		pthread_kill(s->of, SIGUSR1);
		usleep(20);
	}
	return NULL;
}

static void no_wait(void)
{
	atomic_store(&trc_session_shared()->drain_state, TRC_DRAIN_FAILED); /* nobody waits */
}

/* Switching, while handlers tell that the same fiber is ready, in its first session and a second. */
START_TEST(ready_is_for_signal_handlers_too)
{
	enum { SWITCHES = 20000 };
	struct storm s = {pthread_self(), 0};
	struct sigaction act = {.sa_handler = tell_ready};
	pthread_t thread;

	sigaction(SIGUSR1, &act, NULL);
	told = trc_fiber_create("told");
	for (int session = 0; session < 2; session++) {
		size_t n;

		open_session_of(2000000);
		no_wait();
		n_told = 0;
		atomic_store(&s.stop, 0);
		pthread_create(&thread, NULL, storm, &s);
		for (int i = 0; i < SWITCHES || n_told < 10; i++) {
			trc_fiber_switch(i % 2 ? NULL : told, i % 64 ? YIELD : WAIT, NULL);
			if (i % 256 == 0)
				ring_reader_pass(&reader, trc_session_shared());
		}
		trc_fiber_switch(NULL, YIELD, NULL);
		atomic_store(&s.stop, 1);
		pthread_join(thread, NULL);
		ck_assert_uint_eq(count(TRC_KIND_FIBER_CREATE), 1);
		ring_reader_finish(&reader, trc_session_shared());
		n = count(TRC_KIND_FIBER_READY);
		ck_assert_uint_eq(reader.lost, 0);
		ck_assert_uint_eq(n, (size_t)n_told);
		for (size_t i = 0; i < reader.n_seen; i++)
			if (reader.seen[i].kind == TRC_KIND_FIBER_READY ||
			    reader.seen[i].kind == TRC_KIND_FIBER_CREATE)
				ck_assert_uint_eq(reader.seen[i].a,
						  event(TRC_KIND_FIBER_CREATE, 0)->a);
		close_session();
	}
	signal(SIGUSR1, SIG_DFL);
	trc_fiber_destroy(told);
}
END_TEST

enum { HANDOVERS = 50000 }; /* by each of two threads */
static struct trace_fiber *ball;
static const struct trace_labels *of_ball;
static _Atomic int turn;
static uint64_t handed[2];

static void *hand_over(void *arg)
{
	int me = arg != NULL;

	for (int i = 0; i < HANDOVERS; i++) {
		/* acquire, release: the program's own order of who runs the fiber. */
		while (atomic_load_explicit(&turn, memory_order_acquire) != me)
			sched_yield();
		trc_fiber_switch(ball, YIELD, NULL);
		handed[me] += trc_labels_now() == of_ball;
		trc_fiber_switch(NULL, YIELD, NULL);
		handed[me] -= trc_labels_now() != NULL;
		if (me)
			ring_reader_pass(&reader, trc_session_shared());
		atomic_store_explicit(&turn, !me, memory_order_release);
	}
	trc_thread_ended();
	trc_self.ended = true;
	trc_labels_leave();
	return NULL;
}

START_TEST(a_fiber_goes_back_and_forth_between_two_threads)
{
	pthread_t thread[2];

	of_ball = with("of", "ball");
	put_in_force(of_ball);
	ball = trc_fiber_create("ball");
	put_in_force(NULL);
	open_session_of(2000000);
	no_wait();
	atomic_store(&turn, 0);
	handed[0] = handed[1] = 0;
	pthread_create(&thread[0], NULL, hand_over, NULL);
	pthread_create(&thread[1], NULL, hand_over, &thread);
	pthread_join(thread[0], NULL);
	pthread_join(thread[1], NULL);
	ck_assert_uint_eq(handed[0] + handed[1], 2 * HANDOVERS);
	ck_assert_uint_eq(references(of_ball), 2);
	ring_reader_pass(&reader, trc_session_shared());
	ring_reader_finish(&reader, trc_session_shared());
	ck_assert_uint_eq(reader.lost, 0);
	ck_assert_uint_eq(count(TRC_KIND_FIBER_CREATE), 1);
	ck_assert_uint_eq(count(TRC_KIND_FIBER_SWITCH), 4 * HANDOVERS);
	ck_assert_uint_eq(count(TRC_KIND_LABELS), 4 * HANDOVERS);
	for (size_t i = 0; i < reader.n_seen; i++)
		if (reader.seen[i].kind == TRC_KIND_FIBER_SWITCH)
			ck_assert_uint_eq(reader.seen[i].a + reader.seen[i].b, 1);
	close_session();
	trc_fiber_destroy(ball);
	ck_assert_uint_eq(references(of_ball), 1);
	trc_labels_unref(of_ball);
}
END_TEST

enum { SEEN_AT_ONCE = 2000 };
static struct trace_fiber *fiber_of[SEEN_AT_ONCE];
static pthread_barrier_t barrier;

static void *tell_all_ready(void *unused)
{
	(void)unused;
	ck_assert(trc_self_ready());
	pthread_barrier_wait(&barrier);
	for (int i = 0; i < SEEN_AT_ONCE; i++)
		trc_fiber_ready(fiber_of[i]);
	trc_thread_ended();
	return NULL;
}

START_TEST(two_threads_that_see_a_fiber_first_give_it_one_number)
{
	uint64_t number[SEEN_AT_ONCE] = {0};
	uint32_t ready[2 * SEEN_AT_ONCE + 1] = {0};
	pthread_t thread;
	uint64_t a;

	for (int i = 0; i < SEEN_AT_ONCE; i++)
		fiber_of[i] = trc_fiber_create(i % 2 ? "odd" : NULL);
	open_session();
	no_wait();
	ck_assert(trc_self_ready());
	pthread_barrier_init(&barrier, NULL, 2);
	pthread_create(&thread, NULL, tell_all_ready, NULL);
	pthread_barrier_wait(&barrier);
	for (int i = 0; i < SEEN_AT_ONCE; i++)
		trc_fiber_switch(fiber_of[i], YIELD, NULL);
	trc_fiber_switch(NULL, YIELD, NULL);
	pthread_join(thread, NULL);
	pthread_barrier_destroy(&barrier);
	ck_assert_uint_eq(count(TRC_KIND_FIBER_CREATE), SEEN_AT_ONCE);
	for (size_t i = 0, n = 0; i < reader.n_seen; i++) {
		if (reader.seen[i].kind == TRC_KIND_FIBER_SWITCH && reader.seen[i].a)
			number[n++] = reader.seen[i].a;
		if (reader.seen[i].kind == TRC_KIND_FIBER_READY) {
			ck_assert_uint_le(reader.seen[i].a, 2 * SEEN_AT_ONCE);
			ready[reader.seen[i].a]++;
		}
	}
	for (int i = 0; i < SEEN_AT_ONCE; i++) {
		a = number[i];
		ck_assert(a && a <= 2 * SEEN_AT_ONCE);
		ck_assert_uint_eq(ready[a], 1);
	}
	for (int i = 0; i < SEEN_AT_ONCE; i++)
		trc_fiber_destroy(fiber_of[i]);
	ck_assert_uint_eq(count(TRC_KIND_FIBER_END), SEEN_AT_ONCE);
	close_session();
}
END_TEST

void fiber_regions(TCase *c)
{
	tcase_add_test(c, open_regions_go_with_their_fiber);
	tcase_add_test(c, what_a_thread_without_a_slot_ends_is_not_told_as_open);
	tcase_add_test(c, a_region_is_as_long_as_it_was_open_whatever_thread_ends_it);
	tcase_add_test(c, ready_is_for_signal_handlers_too);
	tcase_add_test(c, a_fiber_goes_back_and_forth_between_two_threads);
	tcase_add_test(c, two_threads_that_see_a_fiber_first_give_it_one_number);
}
