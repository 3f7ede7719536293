/*
 * truth_labels.c - sleeps under labels, and says how often under which.
 *
 * With an argument it records itself into that file; without, somebody else is expected to.
 * Each sleep is a wait that the trace has; a line "KEY VALUE COUNT" for each label, and one with
 * "none" for sleeps without any.  Then, for each tenant, "blamed", and for how many nanoseconds threads under this label
 * waited for a lock, at least and at most.
 */
#define _GNU_SOURCE 1 /* RUSAGE_THREAD */
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>
#include <trc/labels.h>
#include <trc/trace.h>
#include "tests/recorder/interpose/blocked.h"

enum { TENANTS = 3, PHASES = 2, ROUNDS = 4, NESTED = 5, JOBS = 6, EXITS = 3 };

/* How often the thread was off its processor. */
static long n_switches(void)
{
	struct rusage usage;

	getrusage(RUSAGE_THREAD, &usage);
	return usage.ru_nvcsw + usage.ru_nivcsw;
}

/* Where the machine takes the processor away just then, the time is over before the wait begins. */
static void rest(void)
{
	struct timespec ts = {0, 200000};
	long before = n_switches();

	do
		nanosleep(&ts, NULL);
	while (n_switches() == before);
}

static const struct trace_labels *labels_of(const struct trace_labels *base, const char *key,
					    const char *value)
{
	const struct trace_label label = {key, value, 0, NULL};
	const struct trace_labels *labels;

	if (trace_labels_create(&labels, base, &label, 1)) {
		fprintf(stderr, "%s\n", trace_last_error());
		exit(1);
	}
	return labels;
}

/* Inherits its tenant; takes its phases from sets made before. */
static void *tenant_main(void *arg)
{
	const struct trace_labels *const *phase = arg;

	rest();
	for (int round = 0; round < ROUNDS; round++) {
		for (int i = 0; i < PHASES; i++) {
			const struct trace_labels *before =
				trace_labels_set(trace_labels_copy(phase[i]));

			rest();
			trace_labels_destroy(trace_labels_set(before));
		}
	}
	rest();
	return NULL;
}

static void run_tenant(const char *name)
{
	const struct trace_labels *tenant = labels_of(NULL, "tenant", name), *phase[PHASES];
	pthread_t thread;

	phase[0] = labels_of(tenant, "phase", "parse");
	phase[1] = labels_of(tenant, "phase", "reply");
	tenant = trace_labels_set(tenant);
	pthread_create(&thread, NULL, tenant_main, phase);
	trace_labels_destroy(trace_labels_set(tenant));
	pthread_join(thread, NULL);
	for (int i = 0; i < PHASES; i++)
		trace_labels_destroy(phase[i]);
}

/* A label in a block within a block: the inner one hides the outer one of its key. */
static void nested(int depth)
{
	TRACE_LABELS("depth", depth);
	rest();
	if (depth + 1 < NESTED)
		nested(depth + 1);
	rest();
}

static void job(void *arg)
{
	(void)arg;
	rest();
}

static void job_that_exits(void *arg)
{
	rest();
	pthread_exit(arg);
}

/* Runs when the thread ends, behind what restores the labels. */
static void rest_at_exit(void *arg)
{
	(void)arg;
	rest();
}

static void *exit_main(void *arg)
{
	pthread_cleanup_push(rest_at_exit, NULL);
	trace_labels_do(arg, job_that_exits, NULL);
	pthread_cleanup_pop(0);
	return NULL;
}

static void run_jobs(void)
{
	const struct trace_label size = {"size", NULL, 512, "bytes"};
	const struct trace_labels *labels;
	pthread_t thread;

	if (trace_labels_create(&labels, NULL, &size, 1))
		exit(1);
	for (int i = 0; i < JOBS; i++)
		trace_labels_do(labels, job, NULL);
	for (int i = 0; i < EXITS; i++) {
		pthread_create(&thread, NULL, exit_main, (void *)(uintptr_t)labels);
		pthread_join(thread, NULL);
	}
	trace_labels_destroy(labels);
}

/* ---- waits for a lock that main holds, without labels ---- */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uint64_t asks_ns, has_ns;
static atomic_bool asks;

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

static void *wait_for_lock(void *arg)
{
	asks_ns = now_ns();
	asks = true;
	pthread_mutex_lock(&lock);
	has_ns = now_ns();
	pthread_mutex_unlock(&lock);
	return arg;
}

/* The least and the most that a thread under this label waits: a millisecond at least, from when the kernel has it blocked. */
static void make_wait(const char *name, uint64_t *least_ns, uint64_t *most_ns)
{
	const struct trace_labels *tenant = labels_of(NULL, "tenant", name);
	uint64_t blocked_ns, released_ns;
	pthread_t thread;

	asks = false;
	pthread_mutex_lock(&lock);
	tenant = trace_labels_set(tenant);
	pthread_create(&thread, NULL, wait_for_lock, NULL);
	trace_labels_destroy(trace_labels_set(tenant));
	while (!asks)
		sched_yield();
	await_others();
	blocked_ns = now_ns();
	while (now_ns() - blocked_ns < 1000000)
		sched_yield();
	released_ns = now_ns();
	pthread_mutex_unlock(&lock);
	pthread_join(thread, NULL);
	*least_ns += released_ns - blocked_ns;
	*most_ns += has_ns - asks_ns;
}

static int fail(const char *what)
{
	fprintf(stderr, "%s: %s\n", what, trace_last_error());
	return 1;
}

int main(int argc, char **argv)
{
	static const char *const tenant[TENANTS] = {"acme", "m\xc3\xbcller", "a,b=c"};

	uint64_t least_ns[TENANTS] = {0}, most_ns[TENANTS] = {0};

	if (argc > 1 && trace_start(argv[1], NULL))
		return fail("trace_start");
	rest();
	for (int i = 0; i < TENANTS; i++)
		run_tenant(tenant[i]);
	nested(0);
	run_jobs();
	for (int i = 0; i < TENANTS; i++)
		for (int n = 0; n <= i; n++)
			make_wait(tenant[i], &least_ns[i], &most_ns[i]);
	rest();
	if (argc > 1 && trace_stop())
		return fail("trace_stop");

	for (int i = 0; i < TENANTS; i++)
		printf("tenant\t%s\t%d\n", tenant[i], 2 + ROUNDS * PHASES);
	printf("phase\tparse\t%d\nphase\treply\t%d\n", TENANTS * ROUNDS, TENANTS * ROUNDS);
	for (int i = 0; i < NESTED; i++)
		printf("depth\t%d\t2\n", i);
	printf("size\t512bytes\t%d\n", JOBS + EXITS);
	printf("none\t\t%d\n", 2 + EXITS);
	for (int i = 0; i < TENANTS; i++)
		printf("blamed\t%s\t%ju\t%ju\n", tenant[i], (uintmax_t)least_ns[i],
		       (uintmax_t)most_ns[i]);
	return 0;
}
