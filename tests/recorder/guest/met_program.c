/*
 * met_program.c - names and labels that come again and again, from buffers that are used again:
 * counters whose value says their name, and messages that say their category and labels.
 *
 *   met_program flight TRACE         three threads, while the rings are overwritten many times; the
 *                                    snapshot has none of the records by which it all began
 *   met_program again TRACE TRACE    two recordings one after the other, and a forked child between
 *   met_program run                  nothing is started: trace-record records it
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <trc/labels.h>
#include <trc/trace.h>

enum { THREADS = 3, NAMES = 60, STABLE = 8, REQUESTS = 100, PHASES = 3 };

static long n_rounds;
static char stable[STABLE][48];

static void name_fill(char *name, size_t n_bytes, int k)
{
	/* Of both classes of the table: short and long. */
	snprintf(name, n_bytes, k % 7 ? "counter %d" : "a counter with a name that is longer %d", k);
}

static void counters(unsigned int *seed)
{
	char name[64];
	int k = rand_r(seed) % NAMES;

	name_fill(name, sizeof(name), k);
	trace_counter_set(name, k);
	/* Names that are met at their own addresses alone. */
	k = rand_r(seed) % STABLE;
	trace_counter_set(stable[k], NAMES + k);
}

static void labels(unsigned int *seed)
{
	static const char *const phases[PHASES] = {"parse", "plan", "print"};
	int request = rand_r(seed) % (rand_r(seed) % 2 ? 8 : REQUESTS);
	char category[16], message[64], phase[16];

	TRACE_LABELS("request", request);
	strcpy(phase, phases[rand_r(seed) % PHASES]);
	TRACE_LABELS("phase", phase);
	snprintf(category, sizeof(category), "cat %d", request % 16);
	snprintf(message, sizeof(message), "cat %d: phase=%s request=%d", request % 16, phase,
		 request);
	trace_log(0, category, message);
}

/* A set that is kept all the time. */
static void kept(unsigned int *seed)
{
	int number = rand_r(seed) % 4;
	char message[32];

	TRACE_LABELS("kept", number);
	snprintf(message, sizeof(message), "cat kept: kept=%d", number);
	trace_log(0, "cat kept", message);
}

/* What never comes again, and needs the places of what has not been used for long. */
static void once(uintptr_t thread, long i)
{
	char name[64];

	snprintf(name, sizeof(name), "once %d %ld", (int)thread, i);
	trace_counter_set(name, -1);
	TRACE_LABELS("once", name);
}

static void *work(void *number)
{
	unsigned int seed = (unsigned int)(uintptr_t)number;

	for (long i = 0; i < n_rounds; i++) {
		counters(&seed);
		labels(&seed);
		kept(&seed);
		once((uintptr_t)number, i);
	}
	return number;
}

static void run(long rounds)
{
	pthread_t thread[THREADS];

	n_rounds = rounds;
	for (uintptr_t i = 0; i < THREADS; i++)
		if (pthread_create(&thread[i], NULL, work, (void *)(i + 1)))
			exit(1);
	for (int i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	work((void *)(uintptr_t)7);
}

static int failed(void)
{
	fprintf(stderr, "met_program: %s\n", trace_last_error());
	return 1;
}

static int flight(const char *path)
{
	struct trace_flight_options options = TRACE_FLIGHT_OPTIONS_INIT;
	struct trace_snapshot_options all = TRACE_SNAPSHOT_OPTIONS_INIT;

	options.max_bytes = 4 << 20;
	all.window_ns = TRACE_WINDOW_COMPLETE;
	if (trace_flight_start(&options))
		return failed();
	run(60000);
	return trace_flight_snapshot(path, &all) || trace_flight_stop() ? failed() : 0;
}

static int again(const char *first, const char *second)
{
	int status;
	pid_t child;

	if (trace_start(first, NULL))
		return failed();
	run(2000);
	if (trace_stop())
		return failed();
	run(100); /* with nothing recording */
	child = fork();
	if (!child) {
		run(100);
		_exit(0);
	}
	if (waitpid(child, &status, 0) != child || status || trace_start(second, NULL))
		return failed();
	run(2000);
	return trace_stop() ? failed() : 0;
}

int main(int argc, char **argv)
{
	for (int k = 0; k < STABLE; k++)
		name_fill(stable[k], sizeof(stable[k]), NAMES + k);
	if (argc == 3 && !strcmp(argv[1], "flight"))
		return flight(argv[2]);
	if (argc == 4 && !strcmp(argv[1], "again"))
		return again(argv[2], argv[3]);
	if (argc != 2 || strcmp(argv[1], "run") != 0)
		return 2;
	run(2000);
	return 0;
}
