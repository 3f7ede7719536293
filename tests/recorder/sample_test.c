/*
 * sample_test.c - CPU profiles as a program starts and stops them: what is in the trace, what is
 * refused, and that nothing of ours is left in the process.
 */
#include <check.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <trc/trace.h>
#include "format/reader.h"
#include "tests/forks.h"
#include "tests/stolen.h"

static char dir[64], path[128];

static void set_up(void)
{
	strcpy(dir, "/tmp/trc-sample-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/t.trc", dir);
}

static void tear_down(void)
{
	unlink(path);
	ck_assert_msg(rmdir(dir) == 0, "something was left in %s", dir);
}

static void start_trace(void)
{
	ck_assert_msg(trace_start(path, NULL) == 0, "%s", trace_last_error());
}

static void stop_trace(void)
{
	ck_assert_msg(trace_stop() == 0, "%s", trace_last_error());
}

/* ---- CPU time -------------------------------------------------------------------------- */

static uint64_t cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void burn(unsigned int ms)
{
	uint64_t until = cpu_ns() + ms * UINT64_C(1000000);
	volatile unsigned int n = 0;

	while (cpu_ns() < until)
		for (unsigned int i = 0; i < 10000; i++)
			n = n + i;
}

static _Atomic uint64_t ended_ns; /* used by burners that have ended */

static void *burner(void *ms)
{
	burn((unsigned int)(uintptr_t)ms);
	ended_ns += cpu_ns();
	return NULL;
}

/* CPU time of this thread, and of burners that have ended. */
static uint64_t used_ns(void)
{
	return cpu_ns() + ended_ns;
}

/* That of a thread that has not been joined. */
static uint64_t used_so_far_ns(pthread_t thread)
{
	clockid_t clock;
	struct timespec t;

	if (pthread_getcpuclockid(thread, &clock) || clock_gettime(clock, &t))
		return 0;
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* Nanoseconds within percents of what the threads really got. */
#define expect_percent(runs, got, used_ns, least, most)                                            \
	expect_within(runs, got, (used_ns) / 100 * (least), (used_ns) / 100 * (most))

static void burn_in_threads(unsigned int n, unsigned int ms)
{
	pthread_t thread[100];

	for (unsigned int i = 0; i < n; i++)
		ck_assert_int_eq(pthread_create(&thread[i], NULL, burner, (void *)(uintptr_t)ms),
				 0);
	for (unsigned int i = 0; i < n; i++)
		pthread_join(thread[i], NULL);
}

/* ---- what there is of ours in the process ---------------------------------------------- */

static unsigned int timers(void)
{
	FILE *file = fopen("/proc/self/timers", "r");
	unsigned int n = 0;
	char line[128];

	ck_assert_ptr_nonnull(file);
	while (fgets(line, sizeof(line), file))
		n += !strncmp(line, "ID:", 3);
	fclose(file);
	return n;
}

/* How many descriptors are perf's, and the lowest of them. */
static unsigned int counters(int *lowest)
{
	char link[32], target[64];
	unsigned int n = 0;

	*lowest = INT32_MAX;
	for (int fd = 0; fd < 5000; fd++) {
		ssize_t bytes;

		snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
		bytes = readlink(link, target, sizeof(target) - 1);
		if (bytes < 0)
			continue;
		target[bytes] = '\0';
		if (!strstr(target, "perf_event"))
			continue;
		n++;
		*lowest = fd < *lowest ? fd : *lowest;
	}
	return n;
}

static void expect_nothing_left(void)
{
	int lowest;

	ck_assert_uint_eq(timers(), 0);
	ck_assert_uint_eq(counters(&lowest), 0);
}

/* ---- the trace ------------------------------------------------------------------------- */

struct sampled {
	uint64_t samples[20], value[20]; /* by event */
	uint64_t lost, logs;
	size_t n_events;
	struct trc_sample_event_entry event[4];
	char name[4][48];
};

static void add_block(struct sampled *s, const struct trc_columns *c)
{
	for (uint32_t i = 0; i < c->n_events; i++) {
		uint64_t event = c->arg[c->kind[i]][0] ? c->arg[c->kind[i]][0][c->rank[i]] : 0;

		s->logs += c->kind[i] == TRC_KIND_LOG;
		if (c->kind[i] == TRC_KIND_SAMPLE && event < 20) {
			s->samples[event]++;
			s->value[event] += c->arg[TRC_KIND_SAMPLE][1][c->rank[i]];
		} else if (c->kind[i] == TRC_KIND_SAMPLES_LOST) {
			s->lost += c->arg[TRC_KIND_SAMPLES_LOST][1][c->rank[i]];
		}
	}
}

static struct sampled look(void)
{
	const struct trc_sample_event_entry *entry;
	struct sampled s = {.n_events = 0};
	struct trc_reader *r;
	struct trc_error error;

	ck_assert_msg(trc_reader_open(&r, path, &error) == 0, "%s", error.text);
	ck_assert(trc_reader_info(r)->complete);
	for (size_t b = 0; b < trc_reader_blocks(r); b++) {
		struct trc_columns *c;

		ck_assert_int_eq(trc_reader_load(r, b, TRC_WANT_ALL, NULL, &c, &error), 0);
		add_block(&s, c);
		trc_columns_free(c);
	}
	s.n_events = trc_reader_sample_events(r, &entry);
	for (size_t i = 0; i < s.n_events && i < 4; i++) {
		s.event[i] = entry[i];
		snprintf(s.name[i], sizeof(s.name[i]), "%s", entry[i].name);
	}
	trc_reader_close(r);
	return s;
}

/* ---- tests ----------------------------------------------------------------------------- */

static const struct trace_cpu_event timer = {sizeof(timer), "timer", 5000000, 0,
					     TRACE_SAMPLE_BY_AUTO};

/* Burns in two profiles and around them. */
static struct sampled sample_twice(uint64_t *sampled_ns)
{
	uint64_t from_ns;

	start_trace();
	burn(100);
	ck_assert_msg(trace_cpu_profile_start(&timer, 1) == 0, "%s", trace_last_error());
	from_ns = used_ns();
	burn(200);
	*sampled_ns = used_ns() - from_ns;
	ck_assert_int_eq(trace_cpu_profile_stop(), 0);
	expect_nothing_left();
	burn(100);
	ck_assert_int_eq(trace_cpu_profile_start(&timer, 1), 0);
	from_ns = used_ns();
	burn(200);
	*sampled_ns += used_ns() - from_ns;
	stop_trace(); /* ends the profile as well */
	expect_nothing_left();
	return look();
}

START_TEST(samples_are_taken_between_start_and_stop)
{
	struct runs runs = {0};

	while (another_run(&runs)) {
		uint64_t sampled_ns;
		struct sampled s = sample_twice(&sampled_ns);

		ck_assert_uint_eq(s.n_events, 1);
		ck_assert_str_eq(s.name[0], "timer");
		ck_assert_uint_eq(s.event[0].how, TRC_SAMPLE_TIMER);
		ck_assert_uint_eq(s.event[0].period, 5000000);
		expect_percent(&runs, s.value[1], sampled_ns, 90, 110);
	}
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
		ck_assert_int_eq(trace_cpu_profile_start(&timer, 1), 0);
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
	struct trace_cpu_event event = TRACE_CPU_EVENT_INIT;
	int err;

	event.name = "cpu-clock";
	event.period = period;
	event.by = TRACE_SAMPLE_BY_SIGNAL;
	err = trace_cpu_profile_start(&event, 1);
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
		ck_assert_int_eq(trace_cpu_profile_stop(), 0);
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
	struct trace_cpu_event event[2] = {timer, TRACE_CPU_EVENT_INIT};
	char text[64] = "";
	int taken, channel[2];

	event[1].name = "page-faults";
	event[1].period = 1000000; /* none */
	ck_assert_int_eq(pipe(channel), 0);
	ck_assert_int_eq(write(channel[1], text, sizeof(text)), sizeof(text));
	start_trace();
	if (trace_cpu_profile_start(event, 2) == 0) {
		ck_assert_uint_eq(counters(&taken), 1);
		ck_assert_int_eq(dup2(channel[0], taken), taken);
		burn(50); /* the timer's signals may be the counter's as well */
		ck_assert_int_eq(trace_cpu_profile_stop(), 0);
		ck_assert_int_eq(read(taken, text, sizeof(text)), sizeof(text));
		stop_trace();
		ck_assert_uint_ge(look().lost, 1); /* or more: nobody knows */
	} else {
		stop_trace();
	}
}
END_TEST

/* A stack for handlers as small as the kernel allows is too small for a sample: it is lost, and
 * what lies below stays as it was. */
START_TEST(a_small_stack_for_handlers)
{
	enum { BELOW = 16384 };
	size_t n_bytes = (size_t)sysconf(_SC_MINSIGSTKSZ) + 1024;
	unsigned char *memory = malloc(BELOW + n_bytes);
	stack_t own = {.ss_sp = memory + BELOW, .ss_size = n_bytes}, before;
	struct runs runs = {0};
	struct sampled s;

	memset(memory, 0x5a, BELOW);
	while (another_run(&runs)) {
		start_trace();
		ck_assert_int_eq(trace_cpu_profile_start(&timer, 1), 0);
		ck_assert_int_eq(sigaltstack(&own, &before), 0);
		burn(100);
		ck_assert_int_eq(sigaltstack(&before, NULL), 0);
		burn(100);
		stop_trace();
		for (size_t i = 0; i < BELOW; i++)
			ck_assert_msg(memory[i] == 0x5a, "%zu bytes below the stack", BELOW - i);
		s = look();
		expect_at_least(&runs, s.lost, 10);
		expect_at_least(&runs, s.samples[1], 10);
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
	struct trace_cpu_event event = TRACE_CPU_EVENT_INIT;
	struct rlimit limit = {64, 64};
	struct sampled s;

	event.name = "page-faults";
	event.by = TRACE_SAMPLE_BY_SIGNAL;
	setrlimit(RLIMIT_NOFILE, &limit);
	start_trace();
	if (trace_cpu_profile_start(&event, 1)) {
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

static void *sleeper(void *ms)
{
	usleep((unsigned int)(uintptr_t)ms * 1000);
	return NULL;
}

/* Each takes one of the signals that the program could have pending. */
START_TEST(timers_leave_most_of_the_signals_to_the_program)
{
	struct rlimit limit;
	pthread_t thread[40];

	getrlimit(RLIMIT_SIGPENDING, &limit);
	limit.rlim_cur = 40;
	setrlimit(RLIMIT_SIGPENDING, &limit);
	start_trace();
	ck_assert_int_eq(trace_cpu_profile_start(&timer, 1), 0);
	for (int i = 0; i < 40; i++)
		pthread_create(&thread[i], NULL, sleeper, (void *)200);
	usleep(100000);
	ck_assert_uint_le(timers(), 10);
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
	ck_assert_int_eq(trace_cpu_profile_start(NULL, 0), 0);
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
	ck_assert_int_eq(trace_cpu_profile_start(NULL, 0), 0);
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
			ck_assert_int_eq(trace_cpu_profile_start(&timer, 1), 0);
		pthread_sigmask(SIG_BLOCK, &set, &before);
		burn(30);
		trace_cpu_profile_stop();
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
		trace_cpu_profile_stop();
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
	struct trace_cpu_event event[2] = {timer, timer};
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
	if (trace_cpu_profile_start(event, 2) == 0) {
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
		if (!trace_cpu_profile_start(&timer, 1))
			trace_cpu_profile_stop();
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
			_exit(trace_start(own, NULL) || trace_cpu_profile_start(&timer, 1) ||
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

/* ---- by the kernel --------------------------------------------------------------------- */

enum { KERNEL_EVENT = 17 /* the number of the first */ };

static const struct trace_cpu_event by_kernel = {sizeof(by_kernel), "cpu-clock", 1000000, 0,
						 TRACE_SAMPLE_BY_KERNEL};

/* Skips the rest where perf allows no counters, or no memory for what they write. */
static bool start_by_kernel(void)
{
	int err = trace_cpu_profile_start(&by_kernel, 1);

	ck_assert_msg(!err || strstr(trace_last_error(), "what works: ") ||
			      strstr(trace_last_error(), "none of the kernel's records"),
		      "%s", trace_last_error());
	return !err;
}

/* CPU time in profiles. */
struct used {
	uint64_t known_ns, unknown_ns; /* of threads that made themselves known, and of others */
};

static void *unknown(void *used_ns)
{
	burn(300);
	*(uint64_t *)used_ns = cpu_ns();
	return NULL;
}

/* One profile of a thread that is there and of two that come, and one of this thread.  False: the
 * kernel samples nothing here. */
static bool sample_by_kernel_twice(struct used *used)
{
	uint64_t known_ns, unknown_ns;
	pthread_t there;

	pthread_create(&there, NULL, unknown, &used->unknown_ns);
	start_trace();
	if (!start_by_kernel()) {
		pthread_join(there, NULL);
		stop_trace();
		return false;
	}
	known_ns = used_ns();
	unknown_ns = used_so_far_ns(there);
	ck_assert_int_eq(trace_cpu_profile_start(&by_kernel, 1), -EBUSY);
	burn_in_threads(2, 100);
	pthread_join(there, NULL);
	used->unknown_ns -= unknown_ns;
	used->known_ns = used_ns() - known_ns;
	ck_assert_int_eq(trace_cpu_profile_stop(), 0);
	ck_assert_int_eq(trace_cpu_profile_stop(), -EINVAL);
	burn(200); /* in between */
	ck_assert(start_by_kernel());
	known_ns = used_ns();
	burn(100);
	expect_nothing_left();
	used->known_ns += used_ns() - known_ns;
	stop_trace(); /* ends it as well */
	return true;
}

START_TEST(the_kernel_samples_threads_that_are_there_and_those_to_come)
{
	struct runs runs = {0};
	struct used used;

	while (another_run(&runs) && sample_by_kernel_twice(&used)) {
		uint64_t all_ns = used.known_ns + used.unknown_ns;
		struct sampled s = look();

		ck_assert_uint_eq(s.n_events, 1);
		ck_assert_str_eq(s.name[0], "cpu-clock");
		ck_assert_uint_eq(s.event[0].event, KERNEL_EVENT);
		ck_assert_uint_eq(s.event[0].how, TRC_SAMPLE_KERNEL);
		ck_assert_uint_eq(s.event[0].missing_threads, 0);
		expect_at_least(&runs, s.value[KERNEL_EVENT], used.known_ns / 100 * 95);
		/* Samples of a thread that never made itself known are lost, and said so. */
		expect_percent(&runs, s.value[KERNEL_EVENT] + s.lost * by_kernel.period, all_ns, 90,
			       107);
	}
	start_trace(); /* nothing goes on by itself */
	burn(50);
	stop_trace();
	ck_assert_uint_eq(look().n_events, 0);
}
END_TEST

START_TEST(the_kernel_leaves_forked_children_out)
{
	struct runs runs = {0};
	struct sampled s;
	pid_t pid;
	int status;

	while (another_run(&runs)) {
		start_trace();
		if (!start_by_kernel()) {
			stop_trace();
			return;
		}
		pid = fork();
		if (!pid) {
			burn(150);
			_exit(0);
		}
		ck_assert_int_eq(waitpid(pid, &status, 0), pid);
		ck_assert_int_eq(status, 0);
		stop_trace();
		s = look();
		expect_at_most(&runs, s.value[KERNEL_EVENT], 100000000);
		expect_at_most(&runs, s.lost, 50);
	}
}
END_TEST

START_TEST(the_kernel_and_signals_sample_together)
{
	const struct trace_cpu_event both[] = {timer, by_kernel};
	struct runs runs = {0};

	while (another_run(&runs)) {
		uint64_t sampled_ns;
		struct sampled s;

		start_trace();
		if (trace_cpu_profile_start(both, 2)) {
			ck_assert_int_eq(trace_cpu_profile_stop(), -EINVAL);
			stop_trace();
			return;
		}
		sampled_ns = used_ns();
		burn(200);
		sampled_ns = used_ns() - sampled_ns;
		ck_assert_int_eq(trace_cpu_profile_stop(), 0);
		expect_nothing_left();
		stop_trace();
		s = look();
		ck_assert_uint_eq(s.n_events, 2);
		expect_percent(&runs, s.value[1], sampled_ns, 60, 115);
		expect_percent(&runs, s.value[KERNEL_EVENT], sampled_ns, 60, 115);
	}
}
END_TEST

START_TEST(a_flight_recorder_has_nobody_who_takes_what_the_kernel_samples)
{
	ck_assert_int_eq(trace_flight_start(NULL), 0);
	ck_assert_int_lt(trace_cpu_profile_start(&by_kernel, 1), 0);
	ck_assert_msg(strstr(trace_last_error(), "what works: ") != NULL, "%s", trace_last_error());
	ck_assert_int_eq(trace_flight_stop(), 0);
}
END_TEST

/* ---- refusals -------------------------------------------------------------------------- */

static const struct refused {
	const char *what;
	struct trace_cpu_event event[2];
	size_t n;
	const char *why;
} refused[] = {
#define EVENT(name, period, hz, by)                                                                \
	{                                                                                          \
		sizeof(struct trace_cpu_event), name, period, hz, by                               \
	}
	{"a name that is none", {EVENT("cpu", 0, 0, 0)}, 1, "cpu: no such event; there are auto"},
	{"no name", {EVENT(NULL, 0, 0, 0)}, 1, "an event needs a name"},
	{"two names", {EVENT("timer,page-faults", 0, 0, 0)}, 1, "one only"},
	{"one twice",
	 {EVENT("timer", 0, 0, 0), EVENT("timer", 0, 0, 0)},
	 2,
	 "twice the same event"},
	{"auto and what it may be",
	 {EVENT("auto", 0, 0, 0), EVENT("timer", 0, 0, 0)},
	 2,
	 "auto is"},
	{"a malformed number", {EVENT("rxyz", 0, 0, 0)}, 1, "rxyz: not an event such as"},
	{"too many", {EVENT("timer", 0, 0, 0)}, 17, "at most 16"},
	{"period and frequency", {EVENT("timer", 5000000, 100, 0)}, 1, "either a period or"},
	{"two periods", {EVENT("timer:1000000", 5000000, 0, 0)}, 1, "two periods"},
	{"a frequency of no clock",
	 {EVENT("page-faults", 0, 100, 0)},
	 1,
	 "a frequency is for clocks"},
	{"too high a frequency", {EVENT("timer", 0, 100001, 0)}, 1, "at most 100000"},
	{"too short a period", {EVENT("timer", 1, 0, 0)}, 1, "too short"},
	{"a timer by the kernel",
	 {EVENT("timer", 0, 0, TRACE_SAMPLE_BY_KERNEL)},
	 1,
	 "not by the kernel"},
	{"another way", {EVENT("timer", 0, 0, (enum trace_sample_by)7)}, 1, "not in its list"},
	{"no structure", {{0, "timer", 0, 0, TRACE_SAMPLE_BY_AUTO}}, 1, "TRACE_CPU_EVENT_INIT"},
};

START_TEST(what_is_refused)
{
	const struct refused *r = &refused[_i];

	start_trace();
	ck_assert_msg(trace_cpu_profile_start(r->event, r->n) == -EINVAL, "%s", r->what);
	ck_assert_msg(strstr(trace_last_error(), r->why) != NULL, "%s: %s", r->what,
		      trace_last_error());
	expect_nothing_left();
	ck_assert_int_eq(trace_cpu_profile_stop(), -EINVAL);
	stop_trace();
}
END_TEST

START_TEST(one_profile_in_a_recording)
{
	ck_assert_int_eq(trace_cpu_profile_start(NULL, 0), -EINVAL);
	ck_assert_msg(strstr(trace_last_error(), "nothing records"), "%s", trace_last_error());
	ck_assert_int_eq(trace_cpu_profile_stop(), -EINVAL);
	start_trace();
	ck_assert_int_eq(trace_cpu_profile_start(&timer, 1), 0);
	ck_assert_int_eq(trace_cpu_profile_start(&timer, 1), -EBUSY);
	ck_assert_str_eq(trace_last_error(), "a CPU profile runs already");
	ck_assert_int_eq(trace_cpu_profile_stop(), 0);
	ck_assert_str_eq(trace_last_error(), "");
	ck_assert_int_eq(trace_cpu_profile_stop(), -EINVAL);
	stop_trace();
}
END_TEST

START_TEST(a_flight_recorder_has_profiles_too)
{
	struct runs runs = {0};
	struct sampled s;

	while (another_run(&runs)) {
		ck_assert_msg(trace_flight_start(NULL) == 0, "%s", trace_last_error());
		ck_assert_int_eq(trace_cpu_profile_start(&timer, 1), 0);
		burn(100);
		ck_assert_int_eq(trace_flight_snapshot(path), 0);
		s = look();
		ck_assert_uint_eq(s.n_events, 1);
		expect_at_least(&runs, s.value[1], 80000000);
		ck_assert_int_eq(trace_flight_stop(), 0);
		expect_nothing_left();
	}
}
END_TEST

START_TEST(the_environment_asks_for_samples)
{
	struct runs runs = {0};
	struct sampled s;

	setenv("TRC_CPU_EVENTS", "timer", 1);
	setenv("TRC_CPU_FREQUENCY", "50", 1);
	while (another_run(&runs)) {
		start_trace();
		ck_assert_int_eq(trace_cpu_profile_start(NULL, 0), -EBUSY);
		ck_assert_int_eq(trace_cpu_profile_stop(), -EINVAL);
		burn(100);
		stop_trace();
		s = look();
		ck_assert_uint_eq(s.event[0].period, 20000000);
		ck_assert_uint_eq(s.event[0].frequency_hz, 50);
		expect_at_least(&runs, s.value[1], 80000000);
	}
	setenv("TRC_CPU_EVENTS", "luck", 1);
	ck_assert_int_eq(trace_start(path, NULL), -EINVAL);
	ck_assert_msg(strstr(trace_last_error(), "luck: no such event"), "%s", trace_last_error());
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("sample");
	TCase *t = tcase_create("sample");
	SRunner *runner = srunner_create(suite);
	int failed;

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
	tcase_add_test(t, the_kernel_samples_threads_that_are_there_and_those_to_come);
	tcase_add_test(t, the_kernel_leaves_forked_children_out);
	tcase_add_test(t, the_kernel_and_signals_sample_together);
	tcase_add_test(t, a_flight_recorder_has_nobody_who_takes_what_the_kernel_samples);
	tcase_add_test(t, late_signals_of_lower_descriptors);
	tcase_add_test(t, nothing_is_pending_at_an_exec);
	tcase_add_test(t, forked_children_can_start_their_own);
	tcase_add_loop_test(t, what_is_refused, 0, sizeof(refused) / sizeof(*refused));
	tcase_add_test(t, one_profile_in_a_recording);
	tcase_add_test(t, a_flight_recorder_has_profiles_too);
	tcase_add_test(t, the_environment_asks_for_samples);
	suite_add_tcase(suite, t);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed != 0;
}
