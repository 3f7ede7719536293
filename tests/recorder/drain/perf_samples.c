/* perf_samples.c - what the kernel samples, where it may be had. */
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>
#include "perf_fixture.h"
#include "tests/stolen.h"

static struct {
	uint32_t tid[2];
	uint64_t n[2], value[2]; /* of those, and of all others */
	uint64_t in_spin, switches, lost, lost_of_any;
	uint64_t faults;
} sampled;

/* Names of their own for where it begins and ends. */
#define SPIN_TEXT __attribute__((noinline, section("spin_text")))
extern const char __start_spin_text[], __stop_spin_text[];

SPIN_TEXT static void spin_ns(uint64_t ns)
{
	struct timespec t;
	uint64_t until_ns;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	until_ns = (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec + ns;
	do {
		for (volatile int i = 0; i < 1000000; i++)
			;
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	} while ((uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec < until_ns);
}

static void take(void *context, const struct trc_perf_record *r)
{
	uint64_t spin = (uintptr_t)__start_spin_text;
	uint64_t n_bytes = (uint64_t)(__stop_spin_text - __start_spin_text);

	sampled.switches += r->what == TRC_PERF_SWITCH;
	sampled.lost += r->what == TRC_PERF_SAMPLES_LOST ? r->lost : 0;
	sampled.lost_of_any += r->what == TRC_PERF_LOST ? r->lost : 0;
	if (r->what != TRC_PERF_SAMPLE)
		return;
	ck_assert_uint_eq(r->pid, (uint32_t)getpid());
	ck_assert_uint_ge(r->n_frames, 1);
	if (r->event == 1) {
		sampled.faults += r->value;
		return;
	}
	for (int i = 0; i < 2; i++) {
		if (r->tid != sampled.tid[i])
			continue;
		sampled.n[i]++;
		sampled.value[i] += r->value;
		sampled.in_spin += r->frame[0] - 1 - spin < n_bytes;
	}
}

static struct trc_perf *open_events_or_skip(const char *list, bool switches, bool flight)
{
	struct trc_cpu_event event[TRC_CPU_EVENTS_MAX];
	struct trc_perf_options options = {
		.pid = getpid(), .switches = switches, .event = event, .flight = flight};
	struct trc_perf *p;
	char why[512];
	int n = trc_cpu_events_parse(list, 0, TRC_SAMPLE_BY_KERNEL, event, why, sizeof(why));

	ck_assert_msg(n > 0, "%s", why);
	options.n_events = (uint32_t)n;
	if (!trc_cpu_events_settle(event, (unsigned int)n, true, why, sizeof(why)) &&
	    !trc_perf_open(&p, &options, why, sizeof(why)))
		return p;
	printf("skipped: %s\n", why);
	exit(0);
}

static _Atomic bool go;

static void *spinner(void *arg)
{
	atomic_store((_Atomic uint32_t *)arg, (uint32_t)gettid());
	while (!atomic_load(&go))
		sched_yield();
	spin_ns(100000000);
	return NULL;
}

/* Two threads that use 100 ms each: one is there already, one is to come. */
static void sample_two_threads(void)
{
	_Atomic uint32_t tid = 0;
	struct trc_perf *p;
	pthread_t thread;

	memset(&sampled, 0, sizeof(sampled));
	atomic_store(&go, false);
	ck_assert_int_eq(pthread_create(&thread, NULL, spinner, &tid), 0);
	while (!atomic_load(&tid))
		sched_yield();
	sampled.tid[0] = atomic_load(&tid);
	p = open_events_or_skip("cpu-clock:1000000", false, false);
	atomic_store(&go, true);
	pthread_join(thread, NULL);
	atomic_store(&tid, 0);
	ck_assert_int_eq(pthread_create(&thread, NULL, spinner, &tid), 0);
	pthread_join(thread, NULL);
	sampled.tid[1] = atomic_load(&tid);
	trc_perf_pass(p, true, take, NULL);
	ck_assert_uint_eq(trc_perf_missing_threads(p), 0);
	trc_perf_close(p);
}

static void *waits_to_go(void *tid)
{
	atomic_store((_Atomic uint32_t *)tid, (uint32_t)gettid());
	while (!atomic_load(&go))
		usleep(1000);
	return NULL;
}

enum { MANY = 64 };

static _Atomic uint32_t many_tid[MANY];
static pthread_t many_thread[MANY];

/* As many threads as there may be descriptors; each takes one for each processor. */
static void many_begin(void)
{
	struct rlimit limit = {MANY, MANY};

	atomic_store(&go, false);
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
	for (int i = 0; i < MANY; i++)
		ck_assert_int_eq(
			pthread_create(&many_thread[i], NULL, waits_to_go, &many_tid[i]), 0);
	for (int i = 0; i < MANY; i++)
		while (!atomic_load(&many_tid[i]))
			sched_yield();
}

static void many_end(void)
{
	atomic_store(&go, true);
	for (int i = 0; i < MANY; i++)
		pthread_join(many_thread[i], NULL);
}

/* How many of them are not sampled; one of them at least is named. */
static uint64_t many_missing(const struct trc_perf *p)
{
	static struct trc_perf_table table;
	const char *named;
	bool found = false;

	trc_perf_table_fill(&table, p);
	named = strstr(table.entry[0].note, "not of threads ");
	ck_assert_msg(named != NULL, "note: %s", table.entry[0].note);
	for (int i = 0; i < MANY; i++)
		found |= many_tid[i] == strtoul(named + strlen("not of threads "), NULL, 10);
	ck_assert_msg(found, "note: %s", table.entry[0].note);
	return table.entry[0].missing_threads;
}

START_TEST(threads_without_a_descriptor_are_named)
{
	struct trc_perf *p;

	many_begin();
	p = open_events_or_skip("cpu-clock:1000000", false, false);
	ck_assert_uint_gt(many_missing(p), 0);
	many_end();
	trc_perf_close(p);
}
END_TEST

START_TEST(switches_leave_descriptors_for_samples_that_come_later)
{
	struct trc_perf_options options = {.pid = getpid(), .switches = true, .more_events = true};
	struct trc_cpu_event event;
	struct trc_perf *p;
	char why[512];

	many_begin();
	ck_assert_int_eq(trc_cpu_events_parse("cpu-clock:1000000", 0, TRC_SAMPLE_BY_KERNEL, &event,
					      why, sizeof(why)), 1);
	if (trc_cpu_events_settle(&event, 1, true, why, sizeof(why)) ||
	    trc_perf_open(&p, &options, why, sizeof(why))) {
		printf("skipped: %s\n", why);
		exit(0);
	}
	ck_assert_msg(!strncmp(why, "yes, but not of ", 16), "%s", why);
	ck_assert_msg(!trc_perf_add_events(p, &event, 1, why, sizeof(why)), "%s", why);
	ck_assert_uint_gt(many_missing(p), 0);
	ck_assert_uint_lt(many_missing(p), MANY);
	many_end();
	trc_perf_close(p);
}
END_TEST

START_TEST(samples_are_of_the_thread_that_used_the_time)
{
	uint64_t stolen = UINT64_MAX;

	for (int i = 0; i < 20 && stolen > 0; i++) {
		stolen = stolen_ticks();
		sample_two_threads();
		stolen = stolen_ticks() - stolen;
	}
	if (stolen) {
		printf("skipped: this machine's processors are elsewhere all the time\n");
		exit(0);
	}
	for (int i = 0; i < 2; i++) {
		ck_assert_uint_ge(sampled.n[i], 50);
		ck_assert_uint_le(sampled.n[i], 125);
		ck_assert_uint_eq(sampled.value[i], sampled.n[i] * 1000000);
	}
	ck_assert_uint_ge(sampled.in_spin, (sampled.n[0] + sampled.n[1]) * 8 / 10);
	ck_assert_uint_eq(sampled.switches, 0);
	ck_assert_uint_eq(sampled.lost, 0);
}
END_TEST

/* ---- one thread's turn, then the other's ---- */

enum { TURNS_OF_BOTH = 60, LONG_TURN_NS = 4000000, SHORT_TURN_NS = 1000000, PERIOD_NS = 5000000 };

static uint64_t cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static void turn(uint64_t ns)
{
	uint64_t until_ns = cpu_ns() + ns;

	while (cpu_ns() < until_ns) /* mostly outside the kernel */
		for (volatile int i = 0; i < 10000; i++)
			;
}

static uint64_t short_turns_ns;

static void *short_turns(void *arg)
{
	atomic_store((_Atomic uint32_t *)arg, (uint32_t)gettid());
	for (int i = 0; i < TURNS_OF_BOTH; i++) {
		sem_wait(&ping);
		turn(SHORT_TURN_NS);
		sem_post(&pong);
	}
	short_turns_ns = cpu_ns();
	return NULL;
}

/* On one proc, and, if that is allowed, from one directly to the other, whatever else there is. */
static void stay_among_ourselves(void)
{
	struct sched_param first = {.sched_priority = 1};
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET((size_t)sched_getcpu(), &one);
	ck_assert_int_eq(sched_setaffinity(0, sizeof(one), &one), 0);
	sched_setscheduler(0, SCHED_FIFO, &first);
}

/* Each of the threads' turns is shorter than the period, both together are as long: a counter that
 * they hand to each other gives all samples to one of them. */
static void *both_turns(void *arg)
{
	_Atomic uint32_t tid = 0;
	pthread_t thread;

	sampled.tid[0] = (uint32_t)gettid();
	ck_assert_int_eq(pthread_create(&thread, NULL, short_turns, &tid), 0);
	for (int i = 0; i < TURNS_OF_BOTH; i++) {
		turn(LONG_TURN_NS);
		sem_post(&ping);
		sem_wait(&pong);
	}
	pthread_join(thread, NULL);
	sampled.tid[1] = atomic_load(&tid);
	*(uint64_t *)arg = cpu_ns();
	return NULL;
}

/* False: a virtual machine's processor was elsewhere for a while, and that counts as theirs. */
static bool turns_took_what_they_should(uint64_t long_turns_ns)
{
	return long_turns_ns < UINT64_C(12) * TURNS_OF_BOTH * LONG_TURN_NS / 10 &&
	       short_turns_ns < UINT64_C(12) * TURNS_OF_BOTH * SHORT_TURN_NS / 10;
}

/* How many samples more than its time has periods the thread with the long turns has, and the other
 * one.  False: nothing takes its time here. */
static bool play_turns(struct trc_perf *p, int64_t more[2])
{
	uint64_t long_turns_ns = UINT64_MAX, stolen = 1;
	pthread_t thread;

	for (int i = 0; i < 10 && (stolen || !turns_took_what_they_should(long_turns_ns)); i++) {
		stolen = stolen_ticks();
		ck_assert_int_eq(pthread_create(&thread, NULL, both_turns, &long_turns_ns), 0);
		pthread_join(thread, NULL);
		stolen = stolen_ticks() - stolen;
		memset(sampled.n, 0, sizeof(sampled.n));
		trc_perf_pass(p, true, take, NULL);
	}
	more[0] = (int64_t)sampled.n[0] - (int64_t)(long_turns_ns / PERIOD_NS);
	more[1] = (int64_t)sampled.n[1] - (int64_t)(short_turns_ns / PERIOD_NS);
	return !stolen && turns_took_what_they_should(long_turns_ns);
}

static int compare_numbers(const void *a, const void *b)
{
	const int64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* Five times, of which the one in the middle counts: others may be on the processor as well. */
START_TEST(a_thread_has_the_samples_of_its_own_time)
{
	struct trc_perf *p = open_events_or_skip("cpu-clock:5000000", false, false);
	int64_t more_long[5], more_short[5];

	if (!p->count_bytes[0]) {
		printf("skipped: the kernel is older than 6.13\n");
		exit(0);
	}
	stay_among_ourselves();
	players_init();
	for (int i = 0; i < 5; i++) {
		int64_t more[2];

		if (!play_turns(p, more)) {
			printf("skipped: nothing takes its time here\n");
			exit(0);
		}
		more_long[i] = more[0];
		more_short[i] = more[1];
	}
	trc_perf_close(p);
	qsort(more_long, 5, sizeof(*more_long), compare_numbers);
	qsort(more_short, 5, sizeof(*more_short), compare_numbers);
	ck_assert_int_ge(more_long[2], -5);
	ck_assert_int_le(more_long[2], 5);
	ck_assert_int_ge(more_short[2], -5);
	ck_assert_int_le(more_short[2], 5);
}
END_TEST

START_TEST(samples_and_switches_share_a_buffer)
{
	struct trc_perf *p = open_events_or_skip("cpu-clock:1000000", true, false);
	uint32_t tid;
	pthread_t other = start(&tid);

	sampled.tid[0] = (uint32_t)getpid();
	play(TURNS);
	spin_ns(30000000);
	stop(other);
	trc_perf_pass(p, true, take, NULL);
	trc_perf_close(p);
	ck_assert_uint_ge(sampled.n[0], 10);
	ck_assert_uint_ge(sampled.switches, TURNS / 2);
}
END_TEST

/* Touches pages that nobody has touched before. */
static void fault(size_t n_pages)
{
	size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE);
	char *at = mmap(NULL, n_pages * page_bytes, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	ck_assert_ptr_ne(at, MAP_FAILED);
	madvise(at, n_pages * page_bytes, MADV_NOHUGEPAGE);
	for (size_t i = 0; i < n_pages; i++)
		at[i * page_bytes] = 1;
	munmap(at, n_pages * page_bytes);
}

START_TEST(several_events_are_told_apart)
{
	struct trc_perf *p = open_events_or_skip("cpu-clock:1000000,page-faults:1", false, false);

	sampled.tid[0] = (uint32_t)getpid();
	spin_ns(20000000);
	fault(500);
	trc_perf_pass(p, true, take, NULL);
	trc_perf_close(p);
	ck_assert_uint_ge(sampled.n[0], 5);
	ck_assert_uint_le(sampled.n[0], 200);
	ck_assert_uint_ge(sampled.faults, 500);
	ck_assert_uint_le(sampled.faults, 700);
}
END_TEST

static uint64_t faults_so_far(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return (uint64_t)usage.ru_minflt;
}

START_TEST(samples_without_room_are_counted_exactly)
{
	enum { FAULTS = 40000 };
	uint64_t faults;
	struct trc_perf *p =
		open_events_or_skip("task-clock:1000000000,page-faults:1", false, false);

	if (!p->tells_lost) {
		printf("skipped: a kernel that counts no losses\n");
		exit(0);
	}
	faults = faults_so_far();
	fault(FAULTS); /* of which each takes 64 bytes at least, in 512 KiB */
	trc_perf_pass(p, true, take, NULL);
	trc_perf_close(p);
	ck_assert_uint_gt(sampled.lost, 0);
	ck_assert_uint_ge(sampled.faults + sampled.lost, FAULTS);
	/* A sanitizer's shadow has faults, too. */
	ck_assert_uint_le(sampled.faults + sampled.lost, faults_so_far() - faults + 300);
	ck_assert_uint_eq(sampled.lost_of_any, 0);
}
END_TEST

START_TEST(in_flight_mode_the_latest_samples_are_held)
{
	struct trc_perf *p =
		open_events_or_skip("task-clock:1000000000,page-faults:1", false, true);

	fault(20000);
	ck_assert_int_eq(trc_perf_copy(p), 0);
	trc_perf_pass(p, true, take, NULL);
	ck_assert_uint_gt(oldest_of_any(p), 0);
	/* 16 KiB on each proc, 64 bytes and more each. */
	ck_assert_uint_ge(sampled.faults, 20);
	ck_assert_uint_le(sampled.faults, 256 * (uint64_t)sysconf(_SC_NPROCESSORS_CONF));
	ck_assert_uint_eq(trc_perf_patience_ns(p), UINT64_MAX);
	trc_perf_close(p);
}
END_TEST

START_TEST(buffers_are_looked_at_before_they_fill_up)
{
	struct trc_perf *slow = open_events_or_skip("cpu-clock:10000000", false, false);
	struct trc_perf *fast = open_events_or_skip("cpu-clock:10000", false, false);

	ck_assert_uint_ge(trc_perf_patience_ns(slow), 100000000);
	ck_assert_uint_le(trc_perf_patience_ns(fast), 5000000);
	trc_perf_close(slow);
	trc_perf_close(fast);
}
END_TEST

void perf_samples(TCase *t)
{
	tcase_add_test(t, threads_without_a_descriptor_are_named);
	tcase_add_test(t, switches_leave_descriptors_for_samples_that_come_later);
	tcase_add_test(t, samples_are_of_the_thread_that_used_the_time);
	tcase_add_test(t, a_thread_has_the_samples_of_its_own_time);
	tcase_add_test(t, samples_and_switches_share_a_buffer);
	tcase_add_test(t, several_events_are_told_apart);
	tcase_add_test(t, samples_without_room_are_counted_exactly);
	tcase_add_test(t, in_flight_mode_the_latest_samples_are_held);
	tcase_add_test(t, buffers_are_looked_at_before_they_fill_up);
}
