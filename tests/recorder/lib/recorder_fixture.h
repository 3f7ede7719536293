/*
 * recorder_fixture.h - what the tests of <trc/recorder.h> share: a directory, a writer that counts,
 * a mutex that is contended, and the texts of profiles.
 */
#ifndef TRC_TESTS_RECORDER_FIXTURE_H
#define TRC_TESTS_RECORDER_FIXTURE_H

#include <check.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include "trc/recorder.h"

#define ck_good(call)                                                                              \
	do {                                                                                       \
		int good_ = (call);                                                                \
		ck_assert_msg(!good_, "%s: %d: %s", #call, good_, trace_last_error());             \
	} while (0)
#define ck_fails(call, err, text)                                                                  \
	do {                                                                                       \
		int fails_ = (call);                                                               \
		ck_assert_msg(fails_ == (err), "%s: %d: %s", #call, fails_, trace_last_error());   \
		ck_assert_msg(strstr(trace_last_error(), (text)) != NULL, "%s: %s", #call,         \
			      trace_last_error());                                                 \
	} while (0)

/* The parts of the suite, in files of their own. */
TCase *recorder_windows(void);
TCase *recorder_memory(void);
TCase *recorder_beside(void);
TCase *recorder_fibers(void);
/* With a directory for each test, and the time that one may take. */
TCase *recorder_case(const char *name);

extern char test_dir[];
const char *in_dir(const char *name); /* a path in it; valid until the next call */

/* A writer that counts its calls, and may fail. */
struct counting {
	int n_writes, n_finishes, finish_err, fail_write, fail_finish;
	size_t n_bytes;
};
int count_write(void *context, const void *bytes, size_t n_bytes);
int count_finish(void *context, int err);
struct trace_writer counting_writer(struct counting *c);

/* ---- texts of profiles ----------------------------------------------------------------- */

/* What a writer of memory has got, zero-terminated; free() it. */
char *memory_text(struct trace_writer_memory *memory);
/* The text of a snapshot; free() it. */
char *text_of(struct trace_recorder *r);
/* The first (0) or second number of the stacks that have this function in them, summed; -1 = there
 * is none. */
long long value_at(const char *text, const char *function, int which);
/* Of all stacks. */
long long sum_of(const char *text, int which);
/* Whether what was thinned came out within three standard errors. */
bool three_errors(double value, double truth, double variance);

/* ---- a mutex --------------------------------------------------------------------------- */

enum { HOLD_NS = 40000000 };

void sleep_ns(long ns);
void wait_for_mutex(void); /* locks and unlocks it */
void hold_mutex(void);
void let_go_of_mutex(void);
void until_mutex_is_waited_for(void); /* by another thread, while it is held */
/* One thread waits for about HOLD_NS, or until it is let go of. */
pthread_t begin_contention(void);
void contend(void);

struct waits_recorders {
	struct trace_recorder *block, *mutex;
	struct trace_writer_memory of_block, of_mutex;
};

/* Begins to record with one of each, and ends where contend() was called `n` times. */
void waits_begin(struct waits_recorders *w);
void waits_end(struct waits_recorders *w, int n);

#endif
