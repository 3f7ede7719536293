/*
 * diff.h - what changed between traces of a program, and what is only noise.
 *
 * A trace is summed up by trc_diff_sum(), which needs no other trace, so that traces can be
 * opened one after the other.  trc_diff_compare() compares the sums.
 *
 *   diff:D1  rows of different traces are the same by their names alone: function and file, the
 *       variable of a lock, the type of a task; never by an address or a line
 *   diff:D2  amounts are per task of the type that has most tasks, if all traces have that; else
 *       per second
 *   diff:D3  the noise of an amount is estimated from slices of the trace's time; neighbouring slices
 *       are not taken to be independent (statistics.h).  With several traces before, the differences among
 *       these traces are noise, too.  A difference in the time that runnable threads had no proc is noise as
 *       well, except for how long threads ran: as a factor, so that what is gone on a busier machine is gone
 *   diff:D4  a row changed if its change is beyond noise although so many rows were looked at:
 *       by Holm's method the probability that any row of equal runs is called changed is at most
 *       TRC_DIFF_ALARM
 *   diff:D5  a function's share of CPU samples is compared with the functions of the same
 *       threads that did not change, as a slower machine makes all functions slower.  CPU time as a whole is compared
 *       only with several traces before
 *   diff:D6  a row is not compared if on both sides it has fewer than TRC_DIFF_EVENTS events, or is less than a two
 *       hundredth of its kind
 *   diff:D7  the runs may all have done the same work if amounts are per second, all processes ended by
 *       themselves, and their numbers of waits differ by no more than 2 %: then the durations of the
 *       runs are compared, too
 *   diff:D8  threads whose names differ only in numbers are alike.  Their running time comes from the kernel's
 *       records, if all traces have them; else it is the time in no wait.  Running time is compared only with
 *       several traces before, as CPU time is (D5)
 *   diff:D9  the noise of memory in use at the end is the larger of two: how much the sum of the same
 *       number of objects varies when they are drawn at random, and how much the amount goes up and
 *       down in the last half of the trace
 *   diff:D10  what traces cannot say because they were recorded with other options is not compared
 */
#ifndef TRC_ANALYZER_DIFF_DIFF_H
#define TRC_ANALYZER_DIFF_DIFF_H

#include <stdbool.h>
#include <stdio.h>
#include "analyzer/model/model.h"

#define TRC_DIFF_ALARM 0.05
enum {
	TRC_DIFF_EVENTS = 20,
	TRC_DIFF_BASELINES_MAX = 64,
};

enum trc_diff_measure {
	TRC_DIFF_TASK_MEAN,
	TRC_DIFF_TASK_P50,
	TRC_DIFF_TASK_P95,
	TRC_DIFF_TASK_P99,
	TRC_DIFF_LOCK_WAITED,	   /* for a lock: time per task or second */
	TRC_DIFF_LOCK_WAITS,	   /* their number per task or second */
	TRC_DIFF_SECTION_CAUSED,   /* by a critical section: others' time per task or second */
	TRC_DIFF_SECTION_HELD,	   /* how long one typically held the lock */
	TRC_DIFF_CPU_SHARE,	   /* a function's share of the samples of its threads */
	TRC_DIFF_CPU_ALL,	   /* CPU time of all functions per task or second */
	TRC_DIFF_WAITED,	   /* for anything else: time per task or second */
	TRC_DIFF_THREADS_RAN,	   /* on a proc: time per task or second */
	TRC_DIFF_THREADS_ACTIVE,   /* in no wait: time per task or second */
	TRC_DIFF_THREADS_LOCKS,	   /* waited for locks: time per task or second */
	TRC_DIFF_HEAP_IN_USE,	   /* of what was allocated at a place: bytes at the end */
	TRC_DIFF_HEAP_ALLOCATED,   /* at a place: bytes per task or second */
	TRC_DIFF_HEAP_ALLOCATIONS, /* at a place: their number per task or second */
	TRC_DIFF_MEASURES
};

struct trc_diff_row {
	uint8_t measure; /* enum trc_diff_measure */
	const char *name;
	/* Nanoseconds, waits, bytes, allocations, or a share of 1; before: the mean of the traces
	 * before. */
	double before, after;
	double *each;	/* in each trace before; as many as there are of these */
	double between; /* the standard deviation of these, as a part of `before`; NAN: not known */
	/* after / before - 1, and the interval that it is in with a probability of 95 %; NAN:
	 * one of them is 0 */
	double change, low, high;
	double p;	   /* that noise alone would do this to any of the rows (D4) */
	double importance; /* nanoseconds per second of the threads' time that the change is, or bytes */
	double sure_from; /* the smallest change that would have been told; NAN = not known */
	bool changed;
};

struct trc_diff_sums;
struct trc_diff;

/* Whether both traces are of the same program file: both have its build id, and the ids are equal. */
bool trc_diff_same_build(const struct trc_model *a, const struct trc_model *b);

/* Derives what it needs.  `by_place`: functions without names have their place in a module for a
 * name, for traces of the same build.  On success *out is the caller's: trc_diff_sums_free() it;
 * the model may be closed before that.  0 or -errno with a line in error. */
int trc_diff_sum(struct trc_diff_sums **out, struct trc_model *m, const char *path, bool by_place,
		 struct trc_error *error);
void trc_diff_sums_free(struct trc_diff_sums *sums); /* accepts NULL */

/* 1 to TRC_DIFF_BASELINES_MAX traces before, all of which the caller keeps until
 * trc_diff_free().  0 or -ENOMEM. */
int trc_diff_compare(struct trc_diff **out, struct trc_diff_sums *const *before, size_t n_before,
		     const struct trc_diff_sums *after);
void trc_diff_free(struct trc_diff *diff); /* accepts NULL */

/* The rows: changed rows first, the most important one first. */
const struct trc_diff_row *trc_diff_rows(const struct trc_diff *diff, size_t *n);
/* "task", "lock", ...; "mean", "waited", ...; "ns", "ns per request", ... */
const char *trc_diff_row_kind(const struct trc_diff_row *row);
const char *trc_diff_row_measure(const struct trc_diff_row *row);
const char *trc_diff_row_unit(const struct trc_diff *diff, const struct trc_diff_row *row);
/* Why the comparison is incomplete, a line; "" = it is not. */
const char *trc_diff_incomplete(const struct trc_diff *diff);
/* Which recording options differed, and what is therefore not compared, a line; "" = nothing. */
const char *trc_diff_differences(const struct trc_diff *diff);
size_t trc_diff_n_before(const struct trc_diff *diff);

void trc_diff_print(const struct trc_diff *diff, FILE *out, int width, bool colour);

#endif
