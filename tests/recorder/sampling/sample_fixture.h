/* sample_fixture.h - threads that use CPU time, and what is in a trace of their samples. */
#ifndef TRC_TESTS_RECORDER_SAMPLE_FIXTURE_H
#define TRC_TESTS_RECORDER_SAMPLE_FIXTURE_H

#include <check.h>
#include <pthread.h>
#include <stdint.h>
#include <trc/trace.h>
#include "counters.h"
#include "format/reader.h"
#include "tests/stolen.h"

/* Parts of the suite, in files of their own. */
void sample_by_kernel(TCase *t);
void sample_refusals(TCase *t);
void sample_turn(TCase *t);

extern char dir[64], path[128]; /* a directory of the test's, and a trace in it */
void set_up(void);
void tear_down(void); /* finds nothing else there */
void start_trace(void);
void stop_trace(void);

extern const struct trace_sampling_event timer; /* every 5 ms */

/* ---- CPU time -------------------------------------------------------------------------- */

uint64_t cpu_ns(void); /* of this thread */
void burn(unsigned int ms);
void *burner(void *ms); /* a thread's function */
/* CPU time of this thread, and of burners that have ended. */
uint64_t used_ns(void);
/* That of a thread that has not been joined. */
uint64_t used_so_far_ns(pthread_t thread);
void burn_in_threads(unsigned int n, unsigned int ms);

/* Nanoseconds within percents of what the threads really got. */
#define expect_percent(runs, got, used_ns, least, most)                                            \
	expect_within(runs, got, (used_ns) / 100 * (least), (used_ns) / 100 * (most))

/* ---- what there is of ours in the process ---------------------------------------------- */

unsigned int timers(void);
void expect_nothing_left(void);

/* ---- the trace ------------------------------------------------------------------------- */

struct sampled {
	uint64_t samples[20], value[20]; /* by event */
	uint64_t lost, logs;
	size_t n_events;
	struct trc_sample_event_entry event[4];
	char name[4][48];
};

struct sampled look(void);

#endif
