/*
 * bench_snapshot.c - what a snapshot of 64 MB of rings takes, and what it does to who records.
 *
 *   bench_snapshot times FILE     how long a snapshot takes
 *   bench_snapshot others FILE    what it does to events meanwhile, against as long without any; ten times
 *
 * The rings are this process's own, filled by the real recorder with a made-up server's events:
 * waits for locks with stacks, regions, counters, messages.  Copying is timed from inside (the
 * mapping) and as from outside (the file); then from the first to the last byte of the trace.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>
#include "bench.h"
#include "recorder/shared/clock.h"
#include "recorder/ring/rec.h"
#include "recorder/ring/ring_inline.h"
#include "recorder/guest/session.h"
#include "recorder/drain/snapshot.h"

enum { RINGS_BYTES = 64 << 20, ROUNDS = 15, STACKS = 64, FRAMES = 16, SNAPSHOTS = 100, PAIRS = 10 };

static struct trc_shared *shared;
static uint64_t stack_id[STACKS], name_id[4];
static volatile atomic_bool stop;

static void fail(const char *what)
{
	fprintf(stderr, "bench_snapshot: %s\n", what);
	exit(1);
}

/* ---- events ---------------------------------------------------------------------------- */

static void record(unsigned int kind, const void *args, size_t n_bytes)
{
	uint32_t n = (uint32_t)(n_bytes / sizeof(uint64_t));

	trc_record_args(TRC_REC_WORD1(kind, 0, 2 + n, trc_self.serial), args, n);
}

/* One request: seven events.  Arguments by name: what a kind lacks, a reader takes for damage. */
static void request(uint64_t n)
{
	uint64_t lock = 0x7f0000001000 + n * 31 % 16 * 64, now = trc_clock_now();
	struct trc_args_wait wait = {.reason = TRC_REASON_EPOLL,
				     .object = 5 + n % 32,
				     .since = now - 2000 - n % 512,
				     .stack = stack_id[n % STACKS]};
	struct trc_args_region_begin begin = {.task = n, .type = name_id[n % 3]};
	struct trc_args_park park = {
		.reason = TRC_REASON_MUTEX, .object = lock, .stack = stack_id[n * 7 % STACKS]};
	struct trc_args_resume resume = {.reason = TRC_REASON_MUTEX, .object = lock};
	struct trc_args_unlock unlock = {.reason = TRC_REASON_MUTEX,
					 .object = lock,
					 .waiters = 1,
					 .stack = stack_id[n * 5 % STACKS],
					 .at = now};
	struct trc_args_counter counter = {.name = name_id[3], .value = n % 1000};

	record(TRC_KIND_WAIT, &wait, sizeof(wait));
	record(TRC_KIND_REGION_BEGIN, &begin, sizeof(begin));
	record(TRC_KIND_PARK, &park, sizeof(park));
	record(TRC_KIND_RESUME, &resume, sizeof(resume));
	record(TRC_KIND_UNLOCK, &unlock, sizeof(unlock));
	record(TRC_KIND_COUNTER, &counter, sizeof(counter));
	record(TRC_KIND_REGION_END, NULL, 0);
}

static void *fill(void *arg)
{
	uint32_t proc = (uint32_t)(uintptr_t)arg;
	struct trc_ring *ring = trc_ring_at(shared, proc);

	bench_pin((int)proc);
	trc_self_attach();
	for (uint64_t n = 0; atomic_load(&ring->head) < 2 * shared->ring_words; n++)
		request(n);
	trc_thread_ended();
	return NULL;
}

static void set_up(void)
{
	static const char *const names[] = {"get", "set", "delete", "queue length"};
	struct trc_session_options o;
	char error[256] = "";
	long n_procs = sysconf(_SC_NPROCESSORS_CONF);

	if (trc_session_options_init(&o, error, sizeof(error)))
		fail(error);
	o.ring_bytes = RINGS_BYTES / (uint64_t)n_procs; /* a power of two that is no smaller */
	o.flight = true;
	if (trc_session_open(&o, error, sizeof(error)))
		fail(error);
	shared = trc_session_shared();
	atomic_store(&shared->drain_state, TRC_DRAIN_NONE);
	if (trc_session_publish())
		fail("no name for the ring");
	trc_session_record(true);
	for (uint64_t i = 0; i < STACKS; i++) {
		uint64_t frame[FRAMES];

		for (uint64_t k = 0; k < FRAMES; k++)
			frame[k] = 0x555500001000 + (i * k % 40) * 0x130;
		stack_id[i] = trc_stack_intern(frame, FRAMES, 0);
	}
	for (int i = 0; i < 4; i++) {
		name_id[i] = trc_string_intern(names[i], (uint32_t)strlen(names[i]));
		trc_string_pin(name_id[i]);
	}
}

static void fill_all(void)
{
	pthread_t thread[TRC_PROCS_MAX];
	cpu_set_t may;

	sched_getaffinity(0, sizeof(may), &may);
	for (uint32_t i = 0; i < shared->n_procs; i++)
		if (CPU_ISSET(i, &may))
			pthread_create(&thread[i], NULL, fill, (void *)(uintptr_t)i);
	for (uint32_t i = 0; i < shared->n_procs; i++)
		if (CPU_ISSET(i, &may))
			pthread_join(thread[i], NULL);
}

/* ---- snapshots ------------------------------------------------------------------------- */

static struct trc_snapshot *take(int fd)
{
	const struct trc_snapshot_options options = {.window_ns = UINT64_MAX, .all = true};
	struct trc_snapshot *s;
	const char *why;

	if (fd < 0 ? trc_snapshot_take(&s, shared, shared->total_bytes, &options, &why)
		   : trc_snapshot_take_file(&s, fd, &options, &why))
		fail(why);
	return s;
}

static int write_all(void *context, const void *bytes, size_t n_bytes)
{
	return write(*(int *)context, bytes, n_bytes) == (ssize_t)n_bytes ? 0 : -1;
}

static void write_trace(struct trc_snapshot *s, const char *path, struct trc_writer_totals *totals)
{
	struct trc_writer_options options;
	struct trc_writer *w = NULL;
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	trc_snapshot_writer_options(s, &options);
	if (fd < 0 || trc_writer_open(&w, &options, write_all, &fd) || trc_snapshot_info(s, w) ||
	    trc_snapshot_write(s, w, NULL, NULL) || trc_writer_finish(w))
		fail("the trace cannot be written");
	trc_writer_totals(w, totals);
	trc_writer_close(w);
	close(fd);
}

static double ms_since(uint64_t from_ns)
{
	return (double)(bench_now_ns() - from_ns) / 1e6;
}

static void measure_times(const char *path)
{
	struct bench_series inside = {.n = 0}, outside = {.n = 0}, complete = {.n = 0};
	int fd = open(trc_session_path(), O_RDONLY);
	struct trc_writer_totals totals = {0};

	for (int i = 0; i < ROUNDS; i++) {
		uint64_t from_ns = bench_now_ns();
		struct trc_snapshot *s = take(-1);

		bench_add(&inside, ms_since(from_ns));
		write_trace(s, path, &totals);
		bench_add(&complete, ms_since(from_ns));
		trc_snapshot_free(s);
		from_ns = bench_now_ns();
		s = take(fd);
		bench_add(&outside, ms_since(from_ns));
		trc_snapshot_free(s);
	}
	close(fd);
	/* Full rings of records of at most 16 words. */
	if (totals.events < shared->ring_words / 16)
		fail("the reader took records for damaged");
	bench_print("rings_mb", (double)shared->n_procs * (double)shared->ring_words * 8 / 1e6);
	bench_print("capture_ms", bench_median(&inside));
	bench_print("capture_outside_ms", bench_median(&outside));
	bench_print("complete_ms", bench_median(&complete));
	bench_print("events", (double)totals.events);
	bench_print("bytes_per_event", (double)totals.file_bytes / (double)totals.events);
}

/* ---- who records meanwhile ------------------------------------------------------------- */

static double ticks_per_us;

/* How long events took: how many took 0, 1, 2 ... ticks, the last all that took longer. */
enum { COSTS = 1 << 18 };
static uint32_t cost[COSTS];
static uint64_t worst_ticks, events;

static long switches(void)
{
	struct rusage u;

	getrusage(RUSAGE_THREAD, &u);
	return u.ru_nivcsw;
}

static void cost_add(uint64_t ticks)
{
	cost[ticks < COSTS ? ticks : COSTS - 1]++;
	events++;
	if (ticks > worst_ticks)
		worst_ticks = ticks;
}

/* The cost of each event; of those in which the scheduler took the processor away, nothing can be
 * said. */
static void *record_on(void *arg)
{
	struct trc_args_counter value = {.name = name_id[3]};
	uint64_t notable = (uint64_t)(5 * ticks_per_us);
	long seen;

	bench_pin(1);
	trc_self_attach();
	seen = switches();
	while (!atomic_load_explicit(&stop, memory_order_relaxed)) {
		uint64_t before = bench_ticks(), ticks;
		long now;

		record(TRC_KIND_COUNTER, &value, sizeof(value));
		ticks = bench_ticks() - before;
		value.value++;
		now = ticks < notable ? seen : switches();
		if (now == seen)
			cost_add(ticks);
		seen = now;
	}
	trc_thread_ended();
	return arg;
}

/* Of 10,000 events one took longer. */
static double p9999_us(void)
{
	uint64_t above = 0;
	size_t i = COSTS;

	while (i && (above += cost[i - 1]) <= events / 10000)
		i--;
	return (double)(i ? i - 1 : 0) / ticks_per_us;
}

struct costs {
	double p9999_us, worst_us;
};

/* Of events while snapshots are taken, or with quiet_ms while nothing else is done. */
static struct costs costs_of(long quiet_ms, const char *path)
{
	bool snapshots = !quiet_ms;
	pthread_t thread;

	memset(cost, 0, sizeof(cost));
	worst_ticks = events = 0;
	stop = false;
	pthread_create(&thread, NULL, record_on, NULL);
	for (int i = 0; snapshots && i < SNAPSHOTS; i++)
		trc_snapshot_free(take(-1));
	if (snapshots) { /* one is written, too */
		struct trc_writer_totals totals;
		struct trc_snapshot *s = take(-1);

		write_trace(s, path, &totals);
		trc_snapshot_free(s);
	} else {
		bench_sleep_ms(quiet_ms);
	}
	stop = true;
	pthread_join(thread, NULL);
	return (struct costs){p9999_us(), (double)worst_ticks / ticks_per_us};
}

static void measure_others(const char *path)
{
	bench_pin(0);
	ticks_per_us = (double)trc_clock_ticks_per_second() / 1e6;
	for (int i = 0; i < PAIRS; i++) { /* for as long: the longer, the worse the worst */
		uint64_t from_ns = bench_now_ns();
		struct costs with = costs_of(0, path), without;

		without = costs_of((long)ms_since(from_ns) + 1, path);
		bench_print("p9999_us", with.p9999_us);
		bench_print("quiet_p9999_us", without.p9999_us);
		bench_print("more_p9999_us", with.p9999_us - without.p9999_us);
		bench_print("worst_us", with.worst_us);
		bench_print("quiet_worst_us", without.worst_us);
		bench_print("more_worst_us", with.worst_us - without.worst_us);
	}
}

int main(int argc, char **argv)
{
	bool others = argc == 3 && !strcmp(argv[1], "others");

	if (!others && (argc != 3 || strcmp(argv[1], "times") != 0))
		fail("usage: bench_snapshot times|others FILE");
	set_up();
	fill_all();
	if (!others)
		measure_times(argv[2]);
	else if (sysconf(_SC_NPROCESSORS_ONLN) > 1)
		measure_others(argv[2]);
	trc_session_close();
	unlink(argv[2]);
	return 0;
}
