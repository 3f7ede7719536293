/*
 * sample_test.c - CPU profiles as a program starts and stops them: what is in the trace, what is
 * refused, and that nothing of ours is left in the process.
 */
#include <errno.h>
#include <fcntl.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "sample_fixture.h"
#include "tests/forks.h"
#include "tests/recorder/interpose/blocked.h"
#include "tests/suite.h"

/* CPU time of this thread in profiles, in what begins and ends them, and what ticks came for. */
struct windows {
	uint64_t sampled_ns, around_ns, ticked_ns;
};

/* ---- a timer like the recorder's ------------------------------------------------------- */

static _Atomic uint64_t expired;

static void on_expiry(int number, siginfo_t *info, void *context)
{
	(void)number;
	(void)context;
	expired += 1 + (uint64_t)info->si_overrun;
}

static timer_t witness_start(void)
{
	struct sigaction action = {.sa_sigaction = on_expiry, .sa_flags = SA_SIGINFO | SA_RESTART};
	struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGRTMIN};
	struct timespec every = {.tv_nsec = (long)timer.period};
	struct itimerspec when = {every, every};
	timer_t witness;

	event._sigev_un._tid = (pid_t)syscall(SYS_gettid);
	ck_assert_int_eq(sigaction(SIGRTMIN, &action, NULL), 0);
	ck_assert_int_eq(timer_create(CLOCK_THREAD_CPUTIME_ID, &event, &witness), 0);
	ck_assert_int_eq(timer_settime(witness, 0, &when, NULL), 0);
	return witness;
}

/* Nanoseconds for which ticks came. */
static uint64_t witness_stop(timer_t witness)
{
	ck_assert_int_eq(timer_delete(witness), 0);
	return atomic_exchange(&expired, 0) * timer.period;
}

static uint64_t tick_ns(void)
{
	struct timespec t;

	ck_assert_int_eq(clock_getres(CLOCK_MONOTONIC_COARSE, &t), 0);
	return (uint64_t)t.tv_nsec;
}

/* ---- two profiles ---------------------------------------------------------------------- */

static void begin_window(struct windows *w)
{
	uint64_t from_ns = used_ns();

	ck_assert_msg(trace_sampling_start(&timer, 1) == 0, "%s", trace_last_error());
	w->around_ns += used_ns() - from_ns;
}

static void burn_in_window(struct windows *w)
{
	uint64_t from_ns = used_ns();
	timer_t witness = witness_start();

	burn(200);
	w->ticked_ns += witness_stop(witness);
	w->sampled_ns += used_ns() - from_ns;
}

/* Burns in two profiles and around them. */
static struct sampled sample_twice(struct windows *w)
{
	uint64_t from_ns;

	start_trace();
	burn(100);
	begin_window(w);
	burn_in_window(w);
	from_ns = used_ns();
	ck_assert_int_eq(trace_sampling_stop(), 0);
	w->around_ns += used_ns() - from_ns;
	expect_nothing_left();
	burn(100);
	begin_window(w);
	burn_in_window(w);
	from_ns = used_ns();
	stop_trace(); /* ends the profile as well */
	w->around_ns += used_ns() - from_ns;
	expect_nothing_left();
	return look();
}

/* What is due by the thread's own clock is there, or is told as lost where no tick came for it
 * before the end: but for a period and a tick of each profile, wherever the processor was meanwhile.
 * What ticks came for is in samples; how much that is another timer tells. */
START_TEST(samples_are_taken_between_start_and_stop)
{
	struct windows w = {.sampled_ns = 0};
	uint64_t due_ns;
	struct sampled s = sample_twice(&w);

	ck_assert_uint_eq(s.n_events, 1);
	ck_assert_str_eq(s.name[0], "timer");
	ck_assert_uint_eq(s.event[0].how, TRC_SAMPLE_TIMER);
	ck_assert_uint_eq(s.event[0].period, timer.period);
	due_ns = s.value[1] + s.lost * timer.period;
	ck_assert_uint_ge(due_ns, w.sampled_ns - 2 * (timer.period + tick_ns()));
	ck_assert_uint_le(due_ns, w.sampled_ns + w.around_ns + 2 * timer.period);
	ck_assert_uint_gt(w.ticked_ns, 0);
	ck_assert_uint_ge(s.value[1], w.ticked_ns - 2 * timer.period);
	ck_assert_uint_gt(s.samples[1], 0);
}
END_TEST

START_TEST(all_threads_are_sampled)
{
	struct runs runs = {0};

	while (another_run(&runs)) {
		uint64_t sampled_ns;
		struct sampled s;
		pthread_t there;

		pthread_create(&there, NULL, burner, (void *)300);
		start_trace();
		ck_assert_int_eq(trace_sampling_start(&timer, 1), 0);
		sampled_ns = used_ns() + used_so_far_ns(there);
		burn_in_threads(4, 100);
		pthread_join(there, NULL);
		sampled_ns = used_ns() - sampled_ns;
		/* Those of threads that have ended are gone. */
		ck_assert_uint_le(timers(), 1);
		stop_trace();
		s = look();
		expect_percent(&runs, s.value[1], sampled_ns, 72, 108);
		ck_assert_uint_eq(s.event[0].missing_threads, 0);
	}
}
END_TEST

/* Skips the rest where perf allows no counters. */
static bool start_counter(uint64_t period)
{
	struct trace_sampling_event event = TRACE_SAMPLING_EVENT_INIT;
	int err;

	event.name = "cpu-clock";
	event.period = period;
	event.by = TRACE_SAMPLING_BY_SIGNAL;
	err = trace_sampling_start(&event, 1);
	ck_assert_msg(!err || strstr(trace_last_error(), "what works: timer"), "%s",
		      trace_last_error());
	return !err;
}

static void expect_counters_out_of_the_way(void)
{
	int lowest, fd;

	ck_assert_uint_ge(counters(&lowest), 1);
	ck_assert_int_ge(lowest, 300);
	fd = open("/dev/null", O_RDONLY);
	ck_assert_int_lt(fd, 10);
	close(fd);
}

START_TEST(counters_keep_out_of_the_way)
{
	struct rlimit limit = {400, 400};
	struct runs runs = {0};

	setrlimit(RLIMIT_NOFILE, &limit);
	while (another_run(&runs)) {
		uint64_t sampled_ns;
		struct sampled s;

		start_trace();
		if (!start_counter(1000000)) {
			stop_trace();
			return;
		}
		sampled_ns = used_ns();
		expect_counters_out_of_the_way();
		burn(100);
		sampled_ns = used_ns() - sampled_ns;
		ck_assert_int_eq(trace_sampling_stop(), 0);
		expect_nothing_left();
		stop_trace();
		s = look();
		ck_assert_uint_eq(s.event[0].how, TRC_SAMPLE_SIGNAL);
		expect_percent(&runs, s.value[1], sampled_ns, 85, 108);
	}
}
END_TEST

/* What the program has where a counter was is its own: nothing reads it, nothing closes it. */
START_TEST(descriptors_that_the_program_took)
{
	struct trace_sampling_event event[2] = {timer, TRACE_SAMPLING_EVENT_INIT};
	char text[64] = "";
	int taken, channel[2];

	event[1].name = "page-faults";
	event[1].period = 1000000; /* none */
	ck_assert_int_eq(pipe(channel), 0);
	ck_assert_int_eq(write(channel[1], text, sizeof(text)), sizeof(text));
	start_trace();
	if (trace_sampling_start(event, 2) == 0) {
		ck_assert_uint_eq(counters(&taken), 1);
		ck_assert_int_eq(dup2(channel[0], taken), taken);
		burn(50); /* the timer's signals may be the counter's as well */
		ck_assert_int_eq(trace_sampling_stop(), 0);
		ck_assert_int_eq(read(taken, text, sizeof(text)), sizeof(text));
		stop_trace();
		ck_assert_uint_ge(look().lost, 1); /* or more: nobody knows */
	} else {
		stop_trace();
	}
}
END_TEST

static uintptr_t handler_frame;

static void note_frame(int number)
{
	(void)number;
	handler_frame = (uintptr_t)__builtin_frame_address(0);
}

/* What the kernel itself puts on a stack for handlers.  It may be far less than what it says: processors
 * with AMX keep 8 KiB more, of threads that use it. */
static size_t signal_bytes(void)
{
	enum { MUCH = 65536 };
	struct sigaction own = {.sa_handler = note_frame, .sa_flags = SA_ONSTACK}, before;
	stack_t large = {.ss_sp = malloc(MUCH), .ss_size = MUCH}, none;

	ck_assert_int_eq(sigaltstack(&large, &none), 0);
	ck_assert_int_eq(sigaction(SIGUSR1, &own, &before), 0);
	ck_assert_int_eq(raise(SIGUSR1), 0);
	ck_assert_int_eq(sigaction(SIGUSR1, &before, NULL), 0);
	ck_assert_int_eq(sigaltstack(&none, NULL), 0);
	handler_frame = (uintptr_t)large.ss_sp + MUCH - handler_frame;
	free(large.ss_sp);
	return handler_frame;
}

/* A stack for handlers with room for a small handler is too small for a sample: it is lost, and
 * what lies below stays as it was. */
START_TEST(a_small_stack_for_handlers)
{
	enum { BELOW = 16384 };
	size_t n_bytes = signal_bytes() + 1200;
	unsigned char *memory = malloc(BELOW + n_bytes);
	stack_t own = {.ss_sp = memory + BELOW, .ss_size = n_bytes}, before;
	struct runs runs = {0};
	struct sampled s;

	memset(memory, 0x5a, BELOW);
	while (another_run(&runs)) {
		start_trace();
		ck_assert_int_eq(trace_sampling_start(&timer, 1), 0);
		ck_assert_int_eq(sigaltstack(&own, &before), 0);
		burn(100);
		ck_assert_int_eq(sigaltstack(&before, NULL), 0);
		burn(100);
		stop_trace();
		for (size_t i = 0; i < BELOW; i++)
			ck_assert_msg(memory[i] == 0x5a, "%zu bytes below the stack", BELOW - i);
		s = look();
		expect_at_least(&runs, s.lost, 10);
		/* One stands for several where a busy machine's ticks come late. */
		expect_at_least(&runs, s.value[1] / timer.period, 10);
	}
	free(memory);
}
END_TEST

/* At most a quarter of the descriptors. */
START_TEST(threads_beyond_the_budget_get_timers)
{
	struct rlimit limit = {64, 64};
	struct runs runs = {0};
	int lowest;

	setrlimit(RLIMIT_NOFILE, &limit);
	while (another_run(&runs)) {
		uint64_t sampled_ns;
		struct sampled s;

		start_trace();
		if (!start_counter(1000000)) {
			stop_trace();
			return;
		}
		sampled_ns = used_ns();
		burn_in_threads(40, 20);
		sampled_ns = used_ns() - sampled_ns;
		ck_assert_uint_le(counters(&lowest), 16);
		stop_trace();
		s = look();
		/* No tick comes for what a thread does last: that is told as lost. */
		expect_percent(&runs, s.value[1] + s.lost * 1000000, sampled_ns, 90, 123);
		expect_percent(&runs, s.value[1], sampled_ns, 50, 123);
		ck_assert_uint_eq(s.event[0].missing_threads, 0);
	}
}
END_TEST

START_TEST(threads_that_cannot_be_sampled_are_named)
{
	struct trace_sampling_event event = TRACE_SAMPLING_EVENT_INIT;
	struct rlimit limit = {64, 64};
	struct sampled s;

	event.name = "page-faults";
	event.by = TRACE_SAMPLING_BY_SIGNAL;
	setrlimit(RLIMIT_NOFILE, &limit);
	start_trace();
	if (trace_sampling_start(&event, 1)) {
		stop_trace();
		return; /* perf allows none */
	}
	burn_in_threads(40, 20);
	stop_trace();
	s = look();
	ck_assert_uint_gt(s.event[0].missing_threads, 0);
	ck_assert_uint_eq(s.logs, s.event[0].missing_threads);
}
END_TEST

static void *sleeper(void *until)
{
	while (sem_wait(until))
		;
	return NULL;
}

/* Each takes one of the signals that the program could have pending. */
START_TEST(timers_leave_most_of_the_signals_to_the_program)
{
	struct rlimit limit;
	pthread_t thread[40];
	sem_t until;

	sem_init(&until, 0, 0);
	getrlimit(RLIMIT_SIGPENDING, &limit);
	limit.rlim_cur = 40;
	setrlimit(RLIMIT_SIGPENDING, &limit);
	start_trace();
	ck_assert_int_eq(trace_sampling_start(&timer, 1), 0);
	for (int i = 0; i < 40; i++)
		pthread_create(&thread[i], NULL, sleeper, &until);
	while (!others_are_blocked())
		usleep(1000);
	ck_assert_uint_le(timers(), 10);
	for (int i = 0; i < 40; i++)
		sem_post(&until);
	for (int i = 0; i < 40; i++)
		pthread_join(thread[i], NULL);
	stop_trace();
	expect_nothing_left();
	ck_assert_uint_ge(look().event[0].missing_threads, 30);
}
END_TEST

START_TEST(threads_that_come_and_go_leave_nothing)
{
	int lowest;

	start_trace();
	ck_assert_int_eq(trace_sampling_start(NULL, 0), 0);
	for (int i = 0; i < 20; i++)
		burn_in_threads(20, 1);
	/* This thread's is the only one. */
	ck_assert_uint_eq(timers() + counters(&lowest), 1);
	stop_trace();
	expect_nothing_left();
}
END_TEST

static pid_t fork_directly(void)
{
	return (pid_t)syscall(SYS_fork);
}

START_TEST(forked_children_are_not_sampled)
{
	pid_t (*const ways[])(void) = {fork, vfork, fork_directly};
	int status, lowest;

	start_trace();
	ck_assert_int_eq(trace_sampling_start(NULL, 0), 0);
	for (size_t i = 0; i < 3; i++) {
		pid_t child = ways[i]();

		if (child == 0) {
			if (i == 1)
				_exit(0);
			burn(50);
			/* Of a fork that nobody saw, descriptors stay until it executes something.
			 */
			_exit(timers() || (i == 0 && counters(&lowest)));
		}
		ck_assert_int_eq(waitpid(child, &status, 0), child);
		ck_assert_msg(status == 0, "way %zu: status %x", i, (unsigned int)status);
	}
	stop_trace();
	expect_nothing_left();
}
END_TEST

/* A signal that comes when its timer is gone must not end the process. */
START_TEST(late_signals_do_no_harm)
{
	sigset_t set, before;

	sigemptyset(&set);
	sigaddset(&set, SIGPROF);
	start_trace();
	for (int i = 0; i < 10; i++) {
		if (i % 2)
			start_counter(100000);
		else
			ck_assert_int_eq(trace_sampling_start(&timer, 1), 0);
		pthread_sigmask(SIG_BLOCK, &set, &before);
		burn(30);
		trace_sampling_stop();
		pthread_sigmask(SIG_SETMASK, &before, NULL);
	}
	stop_trace();
	burn(10);
}
END_TEST

/* Also where its descriptor would not be one of ours any more. */
START_TEST(late_signals_of_lower_descriptors)
{
	struct rlimit limit = {256, 4096};
	sigset_t set, before;

	sigemptyset(&set);
	sigaddset(&set, SIGPROF);
	setrlimit(RLIMIT_NOFILE, &limit);
	start_trace();
	pthread_sigmask(SIG_BLOCK, &set, &before);
	if (start_counter(100000)) {
		burn(10);
		trace_sampling_stop();
		limit.rlim_cur = limit.rlim_max;
		setrlimit(RLIMIT_NOFILE, &limit);
		ck_assert(start_counter(100000));
	}
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	burn(10);
	stop_trace();
}
END_TEST

/* Of several timers there may be more than one: each would end the next program. */
START_TEST(nothing_is_pending_at_an_exec)
{
	struct trace_sampling_event event[2] = {timer, timer};
	struct rlimit limit, none = {3, 3};
	char *const argv[] = {dir, NULL};
	sigset_t set, pending;
	bool clean = false;

	sigemptyset(&set);
	sigaddset(&set, SIGPROF);
	event[1].name = "cpu-clock"; /* without descriptors a timer as well */
	start_trace();
	getrlimit(RLIMIT_NOFILE, &limit);
	none.rlim_max = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &none);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	if (trace_sampling_start(event, 2) == 0) {
		/* One may come while we look. */
		for (int tries = 0; tries < 5 && !clean; tries++) {
			burn(40);
			sigpending(&pending);
			ck_assert(sigismember(&pending, SIGPROF));
			ck_assert_int_eq(execv(path, argv), -1);
			sigpending(&pending);
			clean = !sigismember(&pending, SIGPROF);
		}
		ck_assert_msg(clean, "a signal is pending");
		ck_assert_uint_eq(timers(), 2);
	}
	setrlimit(RLIMIT_NOFILE, &limit);
	stop_trace();
}
END_TEST

static _Atomic bool enough;

static void *start_and_stop(void *nothing)
{
	while (!enough)
		if (!trace_sampling_start(&timer, 1))
			trace_sampling_stop();
	return nothing;
}

/* Whatever another thread is about when the process forks. */
START_TEST(forked_children_can_start_their_own)
{
	char own[sizeof(path) + 8];
	pthread_t other;
	int status;

	snprintf(own, sizeof(own), "%s.child", path);
	start_trace();
	if (!ALLOCATOR_NOT_FOR_FORKS)
		ck_assert_int_eq(pthread_create(&other, NULL, start_and_stop, NULL), 0);
	for (int i = 0; i < 30; i++) {
		pid_t child = fork();

		if (child == 0)
			_exit(trace_start(own, NULL) || trace_sampling_start(&timer, 1) ||
			      trace_stop());
		ck_assert_int_eq(waitpid(child, &status, 0), child);
		ck_assert_int_eq(status, 0);
	}
	enough = true;
	if (!ALLOCATOR_NOT_FOR_FORKS)
		pthread_join(other, NULL);
	stop_trace();
	unlink(own);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("sample");
	TCase *t = tcase_create("sample");

	tcase_set_timeout(t, 60);
	tcase_add_checked_fixture(t, set_up, tear_down);
	tcase_add_test(t, samples_are_taken_between_start_and_stop);
	tcase_add_test(t, all_threads_are_sampled);
	tcase_add_test(t, counters_keep_out_of_the_way);
	tcase_add_test(t, descriptors_that_the_program_took);
	tcase_add_test(t, a_small_stack_for_handlers);
	tcase_add_test(t, threads_beyond_the_budget_get_timers);
	tcase_add_test(t, threads_that_cannot_be_sampled_are_named);
	tcase_add_test(t, timers_leave_most_of_the_signals_to_the_program);
	tcase_add_test(t, threads_that_come_and_go_leave_nothing);
	tcase_add_test(t, forked_children_are_not_sampled);
	tcase_add_test(t, late_signals_do_no_harm);
	tcase_add_test(t, late_signals_of_lower_descriptors);
	tcase_add_test(t, nothing_is_pending_at_an_exec);
	tcase_add_test(t, forked_children_can_start_their_own);
	sample_by_kernel(t);
	sample_refusals(t);
	sample_turn(t);
	suite_add_tcase(suite, t);
	return suite_run(suite);
}
