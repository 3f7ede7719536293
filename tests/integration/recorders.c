/*
 * recorders.c - two recorders of each kind at different rates, over windows that overlap, in a
 * program that measures itself what they have to find; then the finer one of each kind alone; then
 * those that are exact beside traces that begin and end all the time.
 *
 *	phase     0        1        2      3, 4     5, 6  ...
 *	coarse    |-----------------|
 *	fine               |-----------------|
 *	alone                               |------| |------|
 *
 * Output, one line for each figure, separated by tabs: its name, what the recorder says, the least
 * and the most that it may be by the program's clocks, and the standard error of an estimate; 0 =
 * there is no chance in it.  What was lost in a window is told in a line of its own.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <trc/recorder.h>

enum { OVERLAPPING_PHASES = 3, ALONE_PHASES = 2, PHASES_MAX = 16, PATIENCE_S = 60 };

#define must(call)                                                                                 \
	do {                                                                                       \
		if (call) {                                                                        \
			fprintf(stderr, "%s: %s\n", #call, trace_last_error());                    \
			exit(1);                                                                   \
		}                                                                                  \
	} while (0)
#define SITE	 __attribute__((noinline)) static
#define NOT_LAST __asm__ volatile("") /* behind a call: it does not become a jump */

static double now_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void sleep_ns(long ns)
{
	const struct timespec t = {0, ns};

	nanosleep(&t, NULL);
}

/* ---- waits: each is one, whoever is late ------------------------------------------------------
 */

enum { WAITS = 100 };

/* By the clock of the thread that waits, and from when it was seen to wait until it is let go. */
struct wait {
	double most_ns, least_ns;
};
static struct wait waits[PHASES_MAX][WAITS];
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static sem_t goes, has_waited;
static double waited_ns;

SITE void wait_here(void)
{
	double from = now_ns(CLOCK_MONOTONIC_RAW);

	pthread_mutex_lock(&mutex);
	waited_ns = now_ns(CLOCK_MONOTONIC_RAW) - from;
}

SITE void let_go_here(void)
{
	pthread_mutex_unlock(&mutex);
	NOT_LAST;
}

static void *waiter(void *unused)
{
	for (;;) {
		sem_wait(&goes);
		wait_here();
		pthread_mutex_unlock(&mutex);
		sem_post(&has_waited);
	}
	return unused;
}

/* glibc says so in the lock word before the thread sleeps, and trc has recorded it by then. */
static void until_somebody_waits(void)
{
	double until = now_ns(CLOCK_MONOTONIC_RAW) + PATIENCE_S * 1e9;

	while (__atomic_load_n(&mutex.__data.__lock, __ATOMIC_RELAXED) < 2) {
		if (now_ns(CLOCK_MONOTONIC_RAW) > until) {
			fprintf(stderr, "nobody waits\n");
			exit(1);
		}
		sleep_ns(20000);
	}
}

static void contend(int phase)
{
	static const long hold_ns[] = {20000, 200000, 600000, 3000000};

	for (int i = 0; i < WAITS; i++) {
		double seen;

		pthread_mutex_lock(&mutex);
		sem_post(&goes);
		until_somebody_waits();
		seen = now_ns(CLOCK_MONOTONIC_RAW);
		sleep_ns(hold_ns[i % 4]);
		waits[phase][i].least_ns = now_ns(CLOCK_MONOTONIC_RAW) - seen;
		let_go_here();
		sem_wait(&has_waited);
		waits[phase][i].most_ns = waited_ns;
	}
}

/* ---- memory -----------------------------------------------------------------------------------
 */

enum { OBJECTS = 1000, SIZES = 3 };

static void *object[PHASES_MAX][SIZES][OBJECTS];

#define ALLOCATE(name, bytes)                                                                      \
	SITE void name(int phase, int size, int i)                                                 \
	{                                                                                          \
		object[phase][size][i] = malloc(bytes);                                            \
		NOT_LAST;                                                                          \
	}
ALLOCATE(allocate_small, 200)
ALLOCATE(allocate_medium, 700)
ALLOCATE(allocate_large, 6000)

static const struct {
	void (*allocate)(int phase, int size, int i);
	const char *site;
	double bytes;
} sizes[SIZES] = {
	{allocate_small, "allocate_small", 200},
	{allocate_medium, "allocate_medium", 700},
	{allocate_large, "allocate_large", 6000},
};

/* Half of what it allocates goes at once, a half of the rest in the next phase. */
static void allocate(int phase)
{
	for (int i = 0; i < OBJECTS; i++) {
		for (int size = 0; size < SIZES; size++) {
			sizes[size].allocate(phase, size, i);
			if (i % 2)
				free(object[phase][size][i]);
			else if (phase > 0 && i % 4 == 0)
				free(object[phase - 1][size][i]);
		}
		if (i % 50 == 0)
			sleep_ns(1000000); /* nobody waits for room in a ring */
	}
}

/* ---- CPU time ---------------------------------------------------------------------------------
 */

enum { BURN_NS = 300000000 };

static double burnt_ns[PHASES_MAX];

SITE void burn_here(int phase)
{
	double from = now_ns(CLOCK_THREAD_CPUTIME_ID), now;
	volatile unsigned int n = 0;

	do {
		for (int i = 0; i < 20000; i++)
			n = n + 1;
		now = now_ns(CLOCK_THREAD_CPUTIME_ID);
	} while (now - from < BURN_NS);
	burnt_ns[phase] = now - from;
}

/* ---- what a profile says ----------------------------------------------------------------------
 */

/* Its values at the stacks with this function, in the order in which they are printed. */
static void values_at(const char *text, const char *function, double value[4])
{
	char name[64];
	bool counted = true;
	double row[4] = {0};

	snprintf(name, sizeof(name), "\t%s+", function);
	memset(value, 0, 4 * sizeof(*value));
	for (const char *line = text; line; line = strchr(line, '\n')) {
		const char *end, *found;

		line += *line == '\n';
		end = strchrnul(line, '\n');
		found = strstr(line, name);
		if (sscanf(line, "%lf: %lf [%lf: %lf] @ 0x", &row[0], &row[1], &row[2], &row[3]) ==
			    4 ||
		    sscanf(line, "%lf %lf @ 0x", &row[0], &row[1]) == 2)
			counted = false;
		for (int i = 0; i < 4 && found && found < end && !counted; i++)
			value[i] += row[i];
		counted |= found && found < end;
	}
}

static double square_root(double x)
{
	double root = x > 1 ? x : 1;

	for (int i = 0; i < 100; i++)
		root = (root + x / root) / 2;
	return x > 0 ? root : 0;
}

struct window {
	const char *name;
	int from, to; /* phases, both in it */
	double rate;
};

static void tell(const struct window *w, const char *what, double got, double least, double most,
		 double variance)
{
	printf("%s: %s\t%.0f\t%.0f\t%.0f\t%.0f\n", w->name, what, got, least, most,
	       square_root(variance));
}

/* A wait of d < rate is kept with probability d/rate, and counts rate/d times. */
static void tell_block(const struct window *w, const char *text)
{
	double value[4], n = 0, least = 0, most = 0, of_n = 0, of_ns = 0;

	values_at(text, "wait_here", value);
	for (int phase = w->from; phase <= w->to; phase++)
		for (int i = 0; i < WAITS; i++) {
			const struct wait *wait = &waits[phase][i];

			n++;
			least += wait->least_ns;
			most += wait->most_ns;
			if (wait->least_ns >= w->rate)
				continue;
			of_n += w->rate > 1 ? w->rate / wait->least_ns - 1 : 0;
			of_ns += w->rate > 1 ? wait->most_ns * (w->rate - wait->least_ns) : 0;
		}
	tell(w, "waits", value[1], n, n, of_n);
	tell(w, "ns", value[0], least * 0.999, most * 1.001, of_ns);
}

/* One of `rate` unlocks counts that many times. */
static void tell_mutex(const struct window *w, const char *text)
{
	double value[4], n = 0, least = 0, most = 0, of_ns = 0;

	values_at(text, "let_go_here", value);
	for (int phase = w->from; phase <= w->to; phase++)
		for (int i = 0; i < WAITS; i++) {
			const struct wait *wait = &waits[phase][i];

			n++;
			least += wait->least_ns;
			most += wait->most_ns;
			of_ns += wait->most_ns * wait->most_ns * (w->rate - 1);
		}
	tell(w, "waits", value[1], n, n, n * (w->rate - 1));
	tell(w, "ns", value[0], least * 0.999, most * 1.001, of_ns);
}

/* As if each sample were drawn by itself; timers do better. */
static void tell_cpu(const struct window *w, const char *text)
{
	double value[4], truth = 0;

	values_at(text, "burn_here", value);
	for (int phase = w->from; phase <= w->to; phase++)
		truth += burnt_ns[phase];
	tell(w, "ns", value[1], truth, truth, truth * w->rate);
}

/* e to the power -x. */
static double exp_minus(double x)
{
	double sum = 1, term = 1;

	for (int i = 1; i < 200; i++)
		sum += term *= x / i;
	return 1 / sum;
}

/* An object of s bytes is kept with probability 1 - exp(-s/rate), the same for its end. */
static void tell_objects(const struct window *w, const char *text)
{
	const double allocated = OBJECTS * (w->to - w->from + 1);
	/* A half is left of the last phase, a quarter of those before. */
	const double left = OBJECTS / 2 + OBJECTS / 4 * (w->to - w->from);

	for (int size = 0; size < SIZES; size++) {
		double s = sizes[size].bytes, value[4], kept, of_one;
		char what[80];

		values_at(text, sizes[size].site, value);
		kept = w->rate > 1 ? 1 - exp_minus(s / w->rate) : 1;
		of_one = (1 - kept) / kept;
		snprintf(what, sizeof(what), "%.0f bytes, left", s);
		tell(w, what, value[0], left, left, left * of_one);
		snprintf(what, sizeof(what), "%.0f bytes, bytes left", s);
		tell(w, what, value[1], left * s, left * s, left * of_one * s * s);
		snprintf(what, sizeof(what), "%.0f bytes, allocated", s);
		tell(w, what, value[2], allocated, allocated, allocated * of_one);
	}
}

/* ---- kinds ------------------------------------------------------------------------------------
 */

static void make_block(struct trace_recorder **out, int64_t rate)
{
	struct trace_block_options options = TRACE_BLOCK_OPTIONS_INIT;

	options.format = TRACE_PROFILE_FORMAT_TEXT;
	options.rate_ns = rate;
	must(trace_recorder_create_block(out, &options));
}

static void make_mutex(struct trace_recorder **out, int64_t rate)
{
	struct trace_mutex_options options = TRACE_MUTEX_OPTIONS_INIT;

	options.format = TRACE_PROFILE_FORMAT_TEXT;
	options.fraction = rate;
	must(trace_recorder_create_mutex(out, &options));
}

static void make_cpu(struct trace_recorder **out, int64_t rate)
{
	struct trace_cpu_options options = TRACE_CPU_OPTIONS_INIT;

	options.format = TRACE_PROFILE_FORMAT_TEXT;
	options.event = "timer";
	options.period = (uint64_t)rate;
	must(trace_recorder_create_cpu(out, &options));
}

static void make_alloc(struct trace_recorder **out, int64_t rate)
{
	struct trace_alloc_options options = TRACE_ALLOC_OPTIONS_INIT;

	options.format = TRACE_PROFILE_FORMAT_TEXT;
	options.sample_bytes = rate;
	must(trace_recorder_create_alloc(out, &options));
}

static void make_heap(struct trace_recorder **out, int64_t rate)
{
	struct trace_heap_options options = TRACE_HEAP_OPTIONS_INIT;

	options.format = TRACE_PROFILE_FORMAT_TEXT;
	options.sample_bytes = rate;
	must(trace_recorder_create_heap(out, &options));
}

static const struct kind {
	const char *name;
	void (*make)(struct trace_recorder **out, int64_t rate);
	void (*work)(int phase);
	void (*tell)(const struct window *w, const char *text);
	int64_t coarse, fine;
} kinds[] = {
	{"block", make_block, contend, tell_block, 2000000, 1},
	{"mutex", make_mutex, contend, tell_mutex, 3, 1},
	{"cpu", make_cpu, burn_here, tell_cpu, 20000000, 5000000},
	{"allocs", make_alloc, allocate, tell_objects, 4096, 1},
	{"heap", make_heap, allocate, tell_objects, 8192, 2048},
};
enum { KINDS = sizeof(kinds) / sizeof(*kinds) };

struct running {
	struct trace_recorder *recorder;
	struct trace_writer_memory memory;
};

static void start(struct running *r, const struct kind *kind, int64_t rate)
{
	struct trace_writer writer = trace_writer_to_memory(&r->memory);

	kind->make(&r->recorder, rate);
	must(trace_recorder_start(r->recorder, &writer));
}

/* What the profile says of it at its end. */
static void tell_lost(const char *name, const char *text)
{
	for (const char *line = strstr(text, "\n# "); line; line = strstr(line + 1, "\n# "))
		if (strncmp(line, "\n# labels", 9) != 0)
			printf("%s: %.*s\n", name, (int)(strchrnul(line + 1, '\n') - line - 3),
			       line + 3);
}

static void stop(struct running *r, const struct kind *kind, const char *which, int64_t rate,
		 int from, int to)
{
	struct trace_writer writer = trace_writer_to_memory(&r->memory);
	struct window w = {.from = from, .to = to, .rate = (double)rate};
	char name[64];

	must(trace_recorder_stop(r->recorder));
	must(writer.write(writer.context, "", 1));
	snprintf(name, sizeof(name), "%s, %s", kind->name, which);
	w.name = name;
	kind->tell(&w, r->memory.bytes);
	tell_lost(name, r->memory.bytes);
	trace_recorder_destroy(r->recorder);
	free(r->memory.bytes);
}

/* ---- phases -----------------------------------------------------------------------------------
 */

static void work(int phase)
{
	contend(phase);
	allocate(phase);
	burn_here(phase);
}

static void overlapping(void)
{
	struct running coarse[KINDS] = {{.recorder = NULL}}, fine[KINDS] = {{.recorder = NULL}};

	for (int i = 0; i < KINDS; i++)
		start(&coarse[i], &kinds[i], kinds[i].coarse);
	work(0);
	for (int i = 0; i < KINDS; i++)
		start(&fine[i], &kinds[i], kinds[i].fine);
	work(1);
	for (int i = 0; i < KINDS; i++)
		stop(&coarse[i], &kinds[i], "coarse", kinds[i].coarse, 0, 1);
	work(2);
	for (int i = 0; i < KINDS; i++)
		stop(&fine[i], &kinds[i], "fine", kinds[i].fine, 1, 2);
}

static void alone(const struct kind *kind, int phase)
{
	struct running only = {.recorder = NULL};

	start(&only, kind, kind->fine);
	for (int i = 0; i < ALONE_PHASES; i++)
		kind->work(phase + i);
	stop(&only, kind, "alone", kind->fine, phase, phase + ALONE_PHASES - 1);
}

/* ---- handed over ------------------------------------------------------------------------ */

static atomic_bool stopping;
static double traces;

/* Each trace takes over what recorders need, and gives it back. */
static void *tracer(void *unused)
{
	for (; !atomic_load(&stopping); traces++) {
		must(trace_start("handed-over.trc", NULL));
		sleep_ns(2000000);
		must(trace_stop());
		sleep_ns(1000000);
	}
	return unused;
}

static void handed_over(int phase)
{
	struct running all[KINDS] = {{.recorder = NULL}};
	const struct window w = {.name = "traces"};
	pthread_t thread;

	for (int i = 0; i < KINDS; i++)
		if (kinds[i].fine == 1)
			start(&all[i], &kinds[i], 1);
	pthread_create(&thread, NULL, tracer, NULL);
	contend(phase);
	allocate(phase);
	atomic_store(&stopping, true);
	pthread_join(thread, NULL);
	for (int i = 0; i < KINDS; i++)
		if (kinds[i].fine == 1)
			stop(&all[i], &kinds[i], "handed over", 1, phase, phase);
	tell(&w, "handed over", traces, 2, 1e6, 0);
}

int main(void)
{
	pthread_t thread;

	sem_init(&goes, 0, 0);
	sem_init(&has_waited, 0, 0);
	pthread_create(&thread, NULL, waiter, NULL);
	overlapping();
	for (int i = 0; i < KINDS; i++)
		alone(&kinds[i], OVERLAPPING_PHASES + ALONE_PHASES * i);
	handed_over(OVERLAPPING_PHASES + ALONE_PHASES * KINDS);
	return fflush(stdout) ? 1 : 0;
}
