/* test_perf_buffer.c - the kernel's switch records, where they may be had. */
#include <check.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include "recorder/perf_buffer_private.h"
#include "tests/stolen.h"

enum { TURNS = 200, FLOOD_TURNS = 60000 };

static struct {
	uint32_t main_tid, old_tid, new_tid;
	uint64_t on[3], off[3]; /* of those three */
	uint64_t lost, others, last_ns[64];
	bool ordered;
} seen;

static sem_t ping, pong;
static _Atomic int turns;
static _Atomic uint32_t partner_tid;

/* Wakes and is woken.  Both on one proc: then each turn is a switch of each of the two, however
 * busy the machine is. */
static void *partner(void *arg)
{
	atomic_store(&partner_tid, (uint32_t)gettid());
	while (sem_wait(&ping) == 0 && atomic_load(&turns) > 0)
		sem_post(&pong);
	return NULL;
}

static void play(int n)
{
	for (atomic_store(&turns, n); atomic_load(&turns) > 0; atomic_fetch_sub(&turns, 1)) {
		sem_post(&ping);
		sem_wait(&pong);
	}
}

static void stay_on(size_t proc)
{
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET(proc, &one);
	ck_assert_int_eq(sched_setaffinity(0, sizeof(one), &one), 0);
}

static cpu_set_t all_procs; /* empty: nobody plays yet */

static size_t first_proc(void)
{
	size_t proc = 0;

	while (proc < CPU_SETSIZE && !CPU_ISSET(proc, &all_procs))
		proc++;
	return proc;
}

/* What a proc had no room for is told with its next record that finds room: some for each proc. */
static void play_on_every_proc(void)
{
	for (size_t proc = 0; proc < CPU_SETSIZE; proc++) {
		if (!CPU_ISSET(proc, &all_procs))
			continue;
		stay_on(proc);
		play(TURNS);
	}
	stay_on(first_proc());
}

static pthread_t start(uint32_t *tid)
{
	pthread_t thread;

	if (!CPU_COUNT(&all_procs))
		ck_assert_int_eq(sched_getaffinity(0, sizeof(all_procs), &all_procs), 0);
	stay_on(first_proc()); /* the new thread too */
	atomic_store(&partner_tid, 0);
	ck_assert_int_eq(pthread_create(&thread, NULL, partner, NULL), 0);
	while (!(*tid = atomic_load(&partner_tid)))
		sched_yield();
	return thread;
}

static void stop(pthread_t thread)
{
	atomic_store(&turns, 0);
	sem_post(&ping);
	pthread_join(thread, NULL);
}

static void note(void *context, const struct trc_perf_record *r)
{
	int who = r->tid == seen.main_tid  ? 0
		  : r->tid == seen.old_tid ? 1
		  : r->tid == seen.new_tid ? 2
					   : -1;

	ck_assert_uint_lt(r->proc, 64);
	ck_assert_int_le(r->what, TRC_PERF_LOST);
	seen.ordered &= r->raw_ns >= seen.last_ns[r->proc];
	seen.last_ns[r->proc] = r->raw_ns;
	seen.lost += r->lost;
	if (r->lost)
		return;
	seen.others += r->pid != (uint32_t)getpid();
	if (who >= 0 && r->out)
		seen.off[who]++;
	else if (who >= 0)
		seen.on[who]++;
}

static struct trc_perf *open_or_skip(void)
{
	const struct trc_perf_options options = {.pid = getpid(), .switches = true};
	struct trc_perf *p;
	char why[128];

	if (!trc_perf_open(&p, &options, why, sizeof(why)))
		return p;
	printf("skipped: %s\n", why);
	exit(0);
}

START_TEST(threads_that_are_there_and_those_to_come_are_seen)
{
	struct trc_perf *p;
	pthread_t old, new;

	seen.ordered = true;
	seen.main_tid = (uint32_t)getpid();
	old = start(&seen.old_tid);
	p = open_or_skip();
	play(TURNS);
	stop(old);
	new = start(&seen.new_tid);
	play(TURNS);
	stop(new);
	trc_perf_pass(p, true, note, NULL);
	trc_perf_close(p);
	for (int i = 0; i < 3; i++) {
		ck_assert_uint_ge(seen.on[i], TURNS / 4);
		ck_assert_uint_ge(seen.off[i], TURNS / 4);
	}
	ck_assert(seen.ordered);
	ck_assert_uint_eq(seen.others, 0);
	ck_assert_uint_eq(seen.lost, 0);
}
END_TEST

START_TEST(the_latest_records_wait_for_their_thread_to_be_known)
{
	struct trc_perf *p = open_or_skip();
	pthread_t other = start(&seen.old_tid);
	struct timespec t = {0, 30000000};

	/* On a busy machine they may be old enough already when the pass comes. */
	for (int i = 0; i < 50; i++) {
		trc_perf_pass(p, true, note, NULL);
		play(20);
		if (!trc_perf_pass(p, false, note, NULL))
			break;
		ck_assert_int_lt(i, 49);
	}
	nanosleep(&t, NULL);
	ck_assert_uint_ge(trc_perf_pass(p, false, note, NULL), 20);
	stop(other);
	trc_perf_close(p);
}
END_TEST

START_TEST(what_the_kernel_had_no_room_for_is_counted)
{
	struct trc_perf *p = open_or_skip();
	pthread_t other = start(&seen.old_tid);
	uint64_t n;

	play(FLOOD_TURNS);
	n = trc_perf_pass(p, true, note, NULL);
	play_on_every_proc(); /* now there is room to tell */
	n += trc_perf_pass(p, true, note, NULL);
	stop(other);
	trc_perf_close(p);
	ck_assert_uint_gt(seen.lost, 0);
	/* Each turn of each thread is a switch out and one in, unless it did not have to wait. */
	ck_assert_uint_gt(n + seen.lost, FLOOD_TURNS);
}
END_TEST

static _Atomic int signals;
static void on_signal(int sig)
{
	atomic_fetch_add(&signals, 1);
}

START_TEST(half_a_buffer_is_told_by_a_signal_if_asked_for)
{
	struct trc_perf *p = open_or_skip();
	pthread_t other = start(&seen.old_tid);

	signal(SIGIO, on_signal);
	play(FLOOD_TURNS);
	ck_assert_int_eq(atomic_load(&signals), 0);
	trc_perf_pass(p, true, note, NULL);
	play_on_every_proc(); /* tells what was lost until now */
	trc_perf_pass(p, true, note, NULL);
	ck_assert_uint_gt(seen.lost, 0);
	seen.lost = 0;
	ck_assert(trc_perf_signal(p));
	for (int i = 0; i < FLOOD_TURNS / TURNS && !atomic_load(&signals); i++)
		play(TURNS);
	ck_assert_int_ge(atomic_load(&signals), 1);
	/* It came in time. */
	trc_perf_pass(p, true, note, NULL);
	play_on_every_proc();
	trc_perf_pass(p, true, note, NULL);
	ck_assert_uint_eq(seen.lost, 0);
	stop(other);
	trc_perf_close(p);
}
END_TEST

static struct trc_perf *open_flight_or_skip(void)
{
	const struct trc_perf_options options = {
		.pid = getpid(), .switches = true, .flight = true, .max_bytes = 1};
	struct trc_perf *p;
	char why[128];

	if (!trc_perf_open(&p, &options, why, sizeof(why)))
		return p;
	printf("skipped: %s\n", why);
	exit(0);
}

/* Any proc that had more than its 16 KiB, 512 records, hold. */
static uint64_t oldest_of_any(const struct trc_perf *p)
{
	uint64_t oldest_ns = 0;

	for (uint32_t proc = 0; proc < 64; proc++)
		if (trc_perf_oldest_ns(p, proc) > oldest_ns)
			oldest_ns = trc_perf_oldest_ns(p, proc);
	return oldest_ns;
}

START_TEST(in_flight_mode_a_copy_has_all_while_there_is_room)
{
	struct trc_perf *p = open_flight_or_skip();
	pthread_t other = start(&seen.old_tid);

	seen.ordered = true;
	seen.main_tid = (uint32_t)getpid();
	play(40);
	ck_assert_uint_eq(trc_perf_pass(p, true, note, NULL), 0);
	ck_assert_int_eq(trc_perf_copy(p), 0);
	ck_assert_uint_ge(trc_perf_pass(p, false, note, NULL), 40);
	ck_assert(seen.ordered);
	ck_assert_uint_ge(seen.off[0], 10);
	ck_assert_uint_eq(seen.lost, 0);
	ck_assert_uint_eq(oldest_of_any(p), 0);
	stop(other);
	trc_perf_close(p);
}
END_TEST

START_TEST(in_flight_mode_the_latest_are_held_and_it_is_said_since_when)
{
	struct trc_perf *p = open_flight_or_skip();
	pthread_t other = start(&seen.old_tid);
	uint64_t n, first_ns;

	play(4000);
	ck_assert_int_eq(trc_perf_copy(p), 0);
	n = trc_perf_pass(p, true, note, NULL);
	first_ns = oldest_of_any(p);
	ck_assert_uint_gt(first_ns, 0);
	ck_assert_uint_ge(n, 256);
	ck_assert_uint_le(n, (uint64_t)sysconf(_SC_NPROCESSORS_CONF) * 512);
	play(4000);
	ck_assert_int_eq(trc_perf_copy(p), 0);
	ck_assert_uint_gt(oldest_of_any(p), first_ns);
	/* The copy stays as it is, whatever happens. */
	memset(&seen, 0, sizeof(seen));
	seen.ordered = true;
	n = trc_perf_pass(p, true, note, NULL);
	play(100);
	memset(&seen, 0, sizeof(seen));
	seen.ordered = true;
	ck_assert_uint_eq(trc_perf_pass(p, true, note, NULL), n);
	ck_assert(seen.ordered);
	stop(other);
	trc_perf_close(p);
}
END_TEST

START_TEST(a_process_that_is_not_there_is_an_error_with_a_reason)
{
	const struct trc_perf_options options = {
		.pid = 0x3ffffff0, .at_exec = true, .switches = true};
	struct trc_perf *p = NULL;
	char why[128] = "";

	ck_assert_int_lt(trc_perf_open(&p, &options, why, sizeof(why)), 0);
	ck_assert_ptr_null(p);
	ck_assert_ptr_nonnull(strstr(why, "no: perf_event_open: "));
}
END_TEST

/* ---- samples --------------------------------------------------------------------------- */

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
	sem_init(&ping, 0, 0);
	sem_init(&pong, 0, 0);
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
	pthread_t other = start(&seen.old_tid);

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

/* ---- records made by hand -------------------------------------------------------------- */

enum { CLOCK_ID = 77, CYCLES_ID = 78 };

/* A reader of two events, with nothing opened. */
static struct trc_perf *by_hand(void)
{
	static _Alignas(struct trc_perf) char
		memory[sizeof(struct trc_perf) + sizeof(struct trc_perf_buffer)];
	static struct trc_perf_id_pair pair[4];
	struct trc_perf *p = (struct trc_perf *)memory;
	char error[128];

	memset(memory, 0, sizeof(memory));
	memset(pair, 0, sizeof(pair));
	ck_assert_int_eq(trc_cpu_events_parse("cpu-clock:100000,cycles", 0, TRC_SAMPLE_BY_KERNEL,
					      p->event, error, sizeof(error)),
			 2);
	p->n_procs = 1;
	p->n_events = 2;
	p->id_bytes = sizeof(struct trc_perf_id) + sizeof(uint64_t);
	p->ids.pair = pair;
	p->ids.mask = 3;
	for (uint64_t id = CLOCK_ID; id <= CYCLES_ID; id++) {
		uint32_t i = (uint32_t)(id * UINT64_C(0x9e3779b97f4a7c15) >> 32) & 3;

		while (pair[i].id)
			i = (i + 1) & 3;
		pair[i] = (struct trc_perf_id_pair){id, (uint32_t)(id - CLOCK_ID)};
	}
	return p;
}

static bool read_words(struct trc_perf *p, uint32_t type, const uint64_t *word, size_t n_words,
		       struct trc_perf_record *r)
{
	struct perf_event_header header = {.type = type, .size = (uint16_t)(8 + 8 * n_words)};
	uint64_t bytes[64];

	memcpy(bytes, &header, sizeof(header));
	memcpy(bytes + 1, word, n_words * sizeof(*word));
	return trc_perf_record_read(p, 0, (const char *)bytes, header.size, r);
}

static bool read_throttle(struct trc_perf *p, bool begins, uint64_t id, uint32_t tid,
			  uint64_t raw_ns, struct trc_perf_record *r)
{
	const uint64_t word[] = {raw_ns, id, id, (uint64_t)tid << 32 | 5, raw_ns, 0, id};

	return read_words(p, begins ? PERF_RECORD_THROTTLE : PERF_RECORD_UNTHROTTLE, word,
			  sizeof(word) / sizeof(*word), r);
}

START_TEST(a_stopped_counter_is_a_loss_when_it_goes_on)
{
	struct trc_perf *p = by_hand();
	struct trc_perf_record r;

	ck_assert(!read_throttle(p, true, CLOCK_ID, 100, 1000000000, &r));
	ck_assert(!read_throttle(p, true, CYCLES_ID, 100, 1000000000, &r));
	ck_assert(!read_throttle(p, false, CLOCK_ID, 101, 1000500000, &r)); /* another's */
	/* The same again: a record is read until it is old enough to be handed out. */
	for (int i = 0; i < 2; i++) {
		ck_assert(read_throttle(p, false, CLOCK_ID, 100, 1000500000, &r));
		ck_assert_int_eq(r.what, TRC_PERF_SAMPLES_LOST);
		ck_assert_uint_eq(r.event, 0);
		ck_assert_int_eq(r.cause, TRC_SAMPLE_LOSS_THROTTLED);
		ck_assert_uint_eq(r.lost, 5); /* half a millisecond, a tenth each */
		ck_assert_uint_eq(r.tid, 100);
	}
	ck_assert(read_throttle(p, false, CYCLES_ID, 100, 1000500000, &r));
	ck_assert_uint_eq(r.event, 1);
	ck_assert_uint_eq(r.lost, 1); /* how many cycles there were nobody knows */
	/* It was off the proc for most of the time: stopped for one tick. */
	ck_assert(!read_throttle(p, true, CLOCK_ID, 100, 2000000000, &r));
	ck_assert(read_throttle(p, false, CLOCK_ID, 100, 9000000000, &r));
	ck_assert_uint_le(r.lost, trc_cpu_tick_ns() / 100000);
	/* An id that is nobody's. */
	ck_assert(!read_throttle(p, true, 79, 100, 1000000000, &r));
}
END_TEST

START_TEST(a_sample_has_the_users_frames)
{
	const uint64_t word[] = {CYCLES_ID,
				 0xffffffff81000000,
				 UINT64_C(7) << 32 | 5,
				 123,
				 0,
				 5,
				 (uint64_t)PERF_CONTEXT_USER,
				 0x1000,
				 0x2000,
				 0x3000,
				 (uint64_t)PERF_CONTEXT_KERNEL};
	struct trc_perf *p = by_hand();
	struct trc_perf_record r;

	ck_assert(read_words(p, PERF_RECORD_SAMPLE, word, 11, &r));
	ck_assert_int_eq(r.what, TRC_PERF_SAMPLE);
	ck_assert_uint_eq(r.event, 1);
	ck_assert_uint_eq(r.tid, 7);
	ck_assert_uint_eq(r.pid, 5);
	ck_assert_uint_eq(r.raw_ns, 123);
	ck_assert_uint_eq(r.period, 3000000);
	ck_assert_uint_eq(r.value, 3000000);
	ck_assert_uint_eq(r.n_frames, 3);
	ck_assert_uint_eq(r.frame[0], 0x1001); /* exact, where others are return addresses */
	ck_assert_uint_eq(r.frame[2], 0x3000);
	/* Cut behind its first frame: it says so of five. */
	ck_assert(read_words(p, PERF_RECORD_SAMPLE, word, 8, &r));
	ck_assert_uint_eq(r.n_frames, 1);
	/* No frame at all: its address is kept. */
	ck_assert(read_words(p, PERF_RECORD_SAMPLE, word, 6, &r));
	ck_assert_uint_eq(r.n_frames, 1);
	ck_assert_uint_eq(r.frame[0], 0xffffffff81000001);
	/* Two thirds of the time another event had the counter. */
	p->share[1] = (struct trc_perf_share){900, 300, 900, 300};
	ck_assert(read_words(p, PERF_RECORD_SAMPLE, word, 11, &r));
	ck_assert_uint_eq(r.value, 9000000);
	ck_assert_uint_eq(r.period, 3000000);
	ck_assert_uint_eq(trc_perf_counted_percent(p, 1), 33);
	ck_assert_uint_eq(trc_perf_counted_percent(p, 0), 100);
	/* Too short, and of nobody. */
	ck_assert(!read_words(p, PERF_RECORD_SAMPLE, word, 5, &r));
	ck_assert(!read_words(p, PERF_RECORD_SAMPLE, word + 1, 7, &r));
}
END_TEST

START_TEST(what_a_counter_says_of_itself_is_no_frame)
{
	const uint64_t word[] = {CLOCK_ID,
				 0x1000,
				 UINT64_C(7) << 32 | 5,
				 123,
				 0,
				 /* its value, what it lost */ 70000000,
				 0,
				 2,
				 0x1000,
				 0x2000};
	struct trc_perf *p = by_hand();
	struct trc_perf_record r;

	p->count_bytes[0] = 16;
	ck_assert(read_words(p, PERF_RECORD_SAMPLE, word, 10, &r));
	ck_assert_uint_eq(r.period, 100000);
	ck_assert_uint_eq(r.value, 100000);
	ck_assert_uint_eq(r.n_frames, 2);
	ck_assert_uint_eq(r.frame[1], 0x2000);
	ck_assert(read_words(p, PERF_RECORD_SAMPLE, word, 9, &r)); /* cut */
	ck_assert_uint_eq(r.n_frames, 1);
	ck_assert(!read_words(p, PERF_RECORD_SAMPLE, word, 7, &r));
}
END_TEST

static const struct {
	const char *sentence;
	uint64_t period, enabled_ns, running_ns, value;
} scales[] = {
	{"all of the time", 1000, 500, 500, 1000},
	{"a hair less is the clocks' doing", 1000, 1005, 1000, 1000},
	{"half of the time", 1000, 2000, 1000, 2000},
	{"nothing is known", 1000, 0, 0, 1000},
	{"never, and yet there is a sample", 1000, 5000, 0, 1000},
	{"no more than a number holds", UINT64_C(1) << 62, UINT64_C(1) << 40, 1, INT64_MAX},
};

START_TEST(values_are_scaled_by_the_time_that_was_counted)
{
	ck_assert_msg(trc_cpu_event_scaled(scales[_i].period, scales[_i].enabled_ns,
				      scales[_i].running_ns) == scales[_i].value,
		      "%s", scales[_i].sentence);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("perf_buffer");
	TCase *t = tcase_create("perf_switch");
	SRunner *runner;
	int failed;

	tcase_set_timeout(t, 30);
	tcase_add_test(t, threads_that_are_there_and_those_to_come_are_seen);
	tcase_add_test(t, the_latest_records_wait_for_their_thread_to_be_known);
	tcase_add_test(t, what_the_kernel_had_no_room_for_is_counted);
	tcase_add_test(t, half_a_buffer_is_told_by_a_signal_if_asked_for);
	tcase_add_test(t, in_flight_mode_a_copy_has_all_while_there_is_room);
	tcase_add_test(t, in_flight_mode_the_latest_are_held_and_it_is_said_since_when);
	tcase_add_test(t, a_process_that_is_not_there_is_an_error_with_a_reason);
	tcase_add_test(t, samples_are_of_the_thread_that_used_the_time);
	tcase_add_test(t, a_thread_has_the_samples_of_its_own_time);
	tcase_add_test(t, samples_and_switches_share_a_buffer);
	tcase_add_test(t, several_events_are_told_apart);
	tcase_add_test(t, samples_without_room_are_counted_exactly);
	tcase_add_test(t, in_flight_mode_the_latest_samples_are_held);
	tcase_add_test(t, buffers_are_looked_at_before_they_fill_up);
	tcase_add_test(t, a_stopped_counter_is_a_loss_when_it_goes_on);
	tcase_add_test(t, a_sample_has_the_users_frames);
	tcase_add_test(t, what_a_counter_says_of_itself_is_no_frame);
	tcase_add_loop_test(t, values_are_scaled_by_the_time_that_was_counted, 0,
			    (int)(sizeof(scales) / sizeof(*scales)));
	suite_add_tcase(suite, t);
	sem_init(&ping, 0, 0);
	sem_init(&pong, 0, 0);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
