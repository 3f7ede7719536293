/*
 * held_test.c - a thread's sampler while another thread holds it, a counter that is to take a
 * timer's place, and what a counter missed (sample:S3, sample:S5, sample:S8).
 */
#include <check.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "counters.h"
#include "recorder/guest/session.h"
#include "recorder/ring/rec.h"
#include "recorder/sampling/sample_private.h"
#include "recorder/sampling/thread_answer.h"
#include "tests/suite.h"

/* Samples by `auto`, 1,000 a second.  1: this is not by counters and timers here. */
static int start(void)
{
	struct trc_cpu_event event[TRC_CPU_EVENTS_MAX];
	char error[400];
	int n = trc_cpu_events_parse("auto", 1000, TRC_SAMPLE_BY_AUTO, event, error, sizeof(error));

	ck_assert_int_eq(n, 1);
	if (trc_cpu_events_settle(event, 1, false, error, sizeof(error)) ||
	    event[0].how != TRC_SAMPLE_TIMER || event[0].is_timer)
		return 1;
	ck_assert_msg(!trc_sample_start(event, 1, error, sizeof(error)), "%s", error);
	return 0;
}

/* False: not by counters and timers. */
static bool begin(void)
{
	struct trc_session_options o;
	char error[400];

	ck_assert_int_eq(trc_session_options_init(&o, error, sizeof(error)), 0);
	o.ring_bytes = 1 << 20;
	ck_assert_msg(!trc_session_open(&o, error, sizeof(error)), "%s", error);
	trc_session_record(true);
	trc_answers_forget(); /* this test may run in a forked child */
	if (start()) {
		printf("held_test: not tried\n");
		return false;
	}
	return true;
}

static void end(void)
{
	trc_sample_stop();
	ck_assert_uint_eq(counters(NULL), 0);
	ck_assert_uint_eq(trc_sample.n_fds, 0);
	ck_assert_uint_eq(trc_sample.n_timers, 0);
	trc_session_record(false);
	trc_session_close();
}

static uint32_t own_tid(void)
{
	return (uint32_t)syscall(SYS_gettid);
}

static void burn(unsigned int ms)
{
	uint64_t until = trc_cpu_time_of(0) + ms * UINT64_C(1000000);

	while (trc_cpu_time_of(0) < until)
		;
}

static void block_signal(int how)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGPROF);
	pthread_sigmask(how, &set, NULL);
}

/* ---- a counter that comes ---------------------------------------------------------------- */

static const volatile uint32_t *kind_of(struct trc_sampler *s)
{
	return &s->source[trc_sample.turns].kind;
}

/* The calling thread's sampler, which has a timer, and a counter that is to take its place. */
static struct trc_sampler *with_a_counter_to_come(void)
{
	struct trc_sampler *s = trc_sampler_of(own_tid());

	ck_assert_ptr_nonnull(s);
	while (*kind_of(s) != TRC_SOURCE_TIMER) {
		block_signal(SIG_BLOCK);
		s->source[trc_sample.turns].turn_ns = 0; /* it has lived for long enough */
		block_signal(SIG_UNBLOCK);
		burn(5);
	}
	block_signal(SIG_BLOCK);
	if (!s->comes)
		trc_timer_found(s, trc_sample.turns, trc_sample.behind_ns + 1);
	ck_assert(s->comes);
	return s;
}

/* The timer may have a sample while the counter is being opened: nobody opens another one for that. */
START_TEST(one_counter_comes)
{
	struct trc_sampler *s;

	if (!begin())
		return;
	s = with_a_counter_to_come();
	s->found_ns = 1;
	block_signal(SIG_UNBLOCK);
	while (*kind_of(s) != TRC_SOURCE_COUNTER)
		burn(1);
	for (int i = 0; i < 4; i++) {
		burn((unsigned int)(trc_sample.behind_ns / 1000000 + 1));
		trc_sample_look(trc_clock_now());
		ck_assert_uint_eq(*kind_of(s), TRC_SOURCE_COUNTER);
		ck_assert(!s->comes);
		ck_assert_uint_eq(counters(NULL), 1);
	}
	end();
}
END_TEST

START_TEST(one_that_the_program_closes_does_not_come)
{
	struct trc_sampler *s;
	int fd;

	if (!begin())
		return;
	s = with_a_counter_to_come();
	fd = s->coming.handle;
	ck_assert_int_eq(close(fd), 0);
	trc_sample_descriptors_closed(fd, false);
	s = trc_sampler_of(own_tid());
	ck_assert_ptr_nonnull(s);
	ck_assert(!s->comes);
	block_signal(SIG_UNBLOCK);
	end();
}
END_TEST

/* ---- held by another thread -------------------------------------------------------------- */

static _Atomic uint32_t executing;

static void *executes(void *unused)
{
	trc_sample_thread_begin();
	ck_assert_ptr_nonnull(trc_sampler_of(own_tid()));
	executing = own_tid();
	while (executing)
		sched_yield();
	ck_assert(trc_sample_exec_begin());
	ck_assert_ptr_null(trc_sampler_of(own_tid()));
	return unused;
}

/* A signal that comes later ends the program that is executed. */
START_TEST(an_exec_waits_for_who_holds_it)
{
	pthread_t thread;
	struct trc_sampler *s;

	if (!begin())
		return;
	ck_assert_int_eq(pthread_create(&thread, NULL, executes, NULL), 0);
	while (!executing)
		sched_yield();
	s = trc_sampler_of(executing);
	while (!trc_sampler_hold(s))
		sched_yield();
	executing = 0;
	while (s->state != TRC_SAMPLER_LEFT)
		sched_yield();
	usleep(1000);
	trc_sampler_release(s);
	ck_assert_int_eq(pthread_join(thread, NULL), 0);
	end();
}
END_TEST

enum { PLACES = 3, HOLDERS = 3, TIMES = 3000 };
static _Atomic bool enough;

static void *holds_all(void *unused)
{
	while (!enough)
		for (uint32_t i = 0; i < PLACES; i++) {
			if (!trc_sampler_hold(&trc_sample.sampler[i]))
				continue;
			sched_yield();
			trc_sampler_release(&trc_sample.sampler[i]);
		}
	return unused;
}

static void *comes_and_goes(void *unused)
{
	for (int i = 0; i < TIMES; i++) {
		trc_sample_thread_begin();
		trc_sample_thread_end();
		while (trc_sampler_of(own_tid())) /* for ever, if nobody takes it down */
			sched_yield();
	}
	return unused;
}

static unsigned int samplers(void)
{
	unsigned int n = 0;

	for (uint32_t i = 0; i < trc_sample.n_samplers; i++)
		n += trc_sample.sampler[i].tid != 0;
	return n;
}

/* Where it is held when its thread leaves it, who holds it takes it down. */
START_TEST(no_sampler_outlives_its_thread)
{
	pthread_t holder[HOLDERS], thread;

	if (!begin())
		return;
	for (int i = 0; i < HOLDERS; i++)
		ck_assert_int_eq(pthread_create(&holder[i], NULL, holds_all, NULL), 0);
	ck_assert_int_eq(pthread_create(&thread, NULL, comes_and_goes, NULL), 0);
	ck_assert_int_eq(pthread_join(thread, NULL), 0);
	enough = true;
	for (int i = 0; i < HOLDERS; i++)
		ck_assert_int_eq(pthread_join(holder[i], NULL), 0);
	ck_assert_uint_eq(samplers(), 1); /* the calling thread's */
	ck_assert_uint_le(counters(NULL), 1);
	end();
}
END_TEST

static _Atomic uint32_t idling;

static void *idles(void *unused)
{
	trc_sample_thread_begin();
	idling = own_tid();
	while (!enough)
		usleep(1000);
	return unused;
}

static void *releases(void *sampler)
{
	usleep(20000);
	trc_sampler_release(sampler);
	return NULL;
}

/* A thread whose sampler is held when sampling stops has one when it begins again at once. */
START_TEST(what_is_held_at_the_end_is_there_in_the_next_sampling)
{
	pthread_t thread, holder;
	struct trc_sampler *s;
	uint32_t run;

	if (!begin())
		return;
	ck_assert_int_eq(pthread_create(&thread, NULL, idles, NULL), 0);
	while (!idling)
		sched_yield();
	s = trc_sampler_of(idling);
	ck_assert_ptr_nonnull(s);
	while (!trc_sampler_hold(s))
		sched_yield();
	run = s->run;
	ck_assert_int_eq(pthread_create(&holder, NULL, releases, s), 0);
	trc_sample_stop();
	ck_assert_int_eq(start(), 0);
	ck_assert_int_eq(pthread_join(holder, NULL), 0);
	s = trc_sampler_of(idling);
	ck_assert_ptr_nonnull(s);
	ck_assert_uint_ne(s->run, run);
	enough = true;
	ck_assert_int_eq(pthread_join(thread, NULL), 0);
	end();
}
END_TEST

/* ---- what a counter has not counted ------------------------------------------------------ */

/* The value, in periods, of a sample of the counter now, `late` periods after its overflow, where it
 * has stood for so many periods before. */
static double value_of(const struct trc_source *counter, double stood, double late, bool in_call)
{
	const struct trc_cpu_event *e = &trc_sample.event[trc_sample.turns];
	double period = (double)e->period;
	struct trc_source source = *counter;
	uint64_t now_ns = trc_cpu_time_of(0);

	source.first = false;
	source.made_up = 0;
	source.stood_ns = (uint64_t)(stood * period);
	source.resumed_ns = now_ns - (uint64_t)((1 + late) * period);
	return (double)trc_source_value(&source, e, now_ns, in_call) / period;
}

/* Switches cost a thread time that its counter does not count: a sample of a call stands for it, until it is much. */
START_TEST(what_a_counter_missed_has_its_place)
{
	struct trc_source *counter;

	if (!begin())
		return;
	block_signal(SIG_BLOCK);
	counter = &trc_sampler_of(own_tid())->source[trc_sample.turns];
	ck_assert_uint_eq(counter->kind, TRC_SOURCE_COUNTER);
	burn(20); /* it has stood for most of this */
	ck_assert_double_eq(value_of(counter, 0.5, 0, true), 1);
	ck_assert_double_eq(value_of(counter, 2.5, 0, true), 3);
	ck_assert_double_eq(value_of(counter, 0.5, 0.7, true), 2);
	ck_assert_double_eq(value_of(counter, 2.5, 0, false), 1);
	ck_assert_double_eq(value_of(counter, 0.5, 0.7, false), 1);
	ck_assert_double_eq(value_of(counter, 4.5, 0, false), 5);
	ck_assert_double_eq(value_of(counter, 0, 1, false), 2);
	block_signal(SIG_UNBLOCK);
	end();
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("held");
	TCase *t = tcase_create("held");

	tcase_set_timeout(t, 60);
	tcase_add_test(t, what_a_counter_missed_has_its_place);
	tcase_add_test(t, one_counter_comes);
	tcase_add_test(t, one_that_the_program_closes_does_not_come);
	tcase_add_test(t, an_exec_waits_for_who_holds_it);
	tcase_add_test(t, no_sampler_outlives_its_thread);
	tcase_add_test(t, what_is_held_at_the_end_is_there_in_the_next_sampling);
	suite_add_tcase(suite, t);
	return suite_run(suite);
}
