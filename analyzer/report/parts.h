/*
 * parts.h - what the files that make the report share; nobody else includes it.
 */
#ifndef TRC_ANALYZER_REPORT_PARTS_H
#define TRC_ANALYZER_REPORT_PARTS_H

#include "analyzer/words/words.h"
#include "report.h"

/* ---- labels.c ---- */
/* How long it is within the trace and its thread's life. */
int64_t trc_report_label_span_ns(const struct trc_report *r, const struct trc_thread_span *span);

/* ---- shares.c ---- */
/* A line with the threads that have most of `all`; by row of thread, as the margins of their shares.
 * 0 or -ENOMEM. */
int trc_report_thread_shares(struct trc_report *r, const int64_t *by_thread, const double *margin,
			     int64_t all);
/* By row of a label: the first row of a label with the same key.  The caller's to free; NULL: no memory. */
uint32_t *trc_report_key_rows(const struct trc_report *r);
/* By label_first; the margins of their shares, and of what has no label of their key. */
struct trc_report_label_sums {
	const int64_t *value;
	const double *margin, *none;
	int64_t total; /* for which labels are known, including rows without labels */
	int64_t all;   /* of which shares are parts */
};
/* A line for each key, in the order in which labels first had any.  0 or -ENOMEM. */
int trc_report_label_shares(struct trc_report *r, const struct trc_report_label_sums *of);

/* ---- margins.c ---- */
/* How far shares of one event's samples may be off (analyzer/model/margin.h), in its unit. */
struct trc_report_margins {
	double *self, *total;	      /* by row of function */
	double *by_thread, *by_label; /* by row; by row of the label's first */
	double *without_key;	      /* by row of a label: what has no label of its key */
	double all;		      /* of all samples, in the event's unit */
};
/* of_frame: the function of each frame; 0: of samples without a stack.  0 or -ENOMEM; in any case
 * *out is to be freed. */
int trc_report_margins_make(struct trc_report_margins *out, const struct trc_report *r,
			    uint32_t event, const uint32_t *of_frame, size_t n_functions);
void trc_report_margins_free(struct trc_report_margins *margins);

/* ---- cpu.c ---- */
/* True if the sample is in what was asked for. */
bool trc_report_wants_sample(const struct trc_report *r, const struct trc_sample *sample);

/* ---- threads.c ---- */
/* How long threads ran, together, as far as the kernel told; TRC_NEVER = it told nothing. */
int64_t trc_report_ran_ns(const struct trc_report *r);

/* ---- latencies.c, latencies_by.c ---- */
struct trc_report_quantiles {
	uint64_t n; /* how many latencies */
	int64_t p50_ns, p99_ns, max_ns;
};
/* Sets them from the values (struct trc_key, whose row is a group); n of each group is known.  Groups
 * begin with a struct trc_report_quantiles: the first is at `first`, the next row_bytes behind it.
 * 0 or -ENOMEM. */
int trc_report_quantiles(struct trc_array *values, void *first, size_t row_bytes, size_t n_groups);
/* Whether the latency is selected, and how much of it. */
bool trc_report_latency(const struct trc_report *r, const struct trc_latency *latency, int64_t *ns);
/* Lines by who made threads ready, and by proc.  0 or -ENOMEM. */
int trc_report_latencies_by(struct trc_report *r, const struct trc_latency *latency, size_t n);
/* Adds struct trc_latency_group (report.h).  0 or -errno. */
int trc_report_latency_groups(struct trc_report *r, struct trc_array *rows);
/* labels.c: adds struct trc_label_time.  0 or -ENOMEM. */
int trc_report_label_times(struct trc_report *r, struct trc_array *rows);

/* ---- hints.c ---- */
/* A line if the trace shows that another way to record would tell more. */
void trc_report_hints(struct trc_report *r);
/* What a trace lacks, and which options would have recorded it. */
struct trc_hints {
	int64_t ran_ns; /* for which there are no samples; 0 = not much */
	int64_t lasted_ns;
	bool ran_is_known; /* or else no wait explains this time */
	bool ring_was_full;
	struct trc_ring_hint ring;
	uint64_t n_forks; /* processes that are not in the trace */
};
void trc_report_hints_of(const struct trc_report *r, struct trc_hints *hints);
/* "threads ran for 950 ms, 95.0% of one proc's time" */
void trc_report_hint_samples(struct trc_line *line, const struct trc_hints *hints);

/* ---- locks.c ---- */
struct trc_lock_sums;
/* Lines below the line of an object's waits; none if the object is no lock. */
void trc_report_lock_lines(struct trc_report *r, const struct trc_lock_sums *locks,
			   const struct trc_group_details *d);

/* ---- unseen.c ---- */
/* A line for each event of which a tenth or more was not sampled. */
void trc_report_unseen_lines(struct trc_report *r);

/* ---- longest.c ---- */
enum { TRC_LONGEST_MAX = 32 };
struct trc_longest_row {
	uint32_t row; /* the caller's: index in its array of waits */
	bool goes_on; /* how long it lasted is not known: such come first */
	int64_t ns;
};
/* The longest of the waits that were added, longest first. */
struct trc_longest {
	struct trc_longest_row row[TRC_LONGEST_MAX];
	size_t n, most;
};
void trc_longest_begin(struct trc_longest *longest, const struct trc_report *r);
void trc_longest_add(struct trc_longest *longest, struct trc_longest_row row);
/* The line above the list; `who` is what waits. */
void trc_longest_columns(struct trc_report *r, const char *who);
struct trc_longest_times {
	int64_t start_ns, end_ns;
	bool before; /* it began before start_ns */
	bool longer; /* it lasted for longer than that */
};
/* The first two columns: how long it lasted and when it began. */
void trc_longest_times(const struct trc_report *r, struct trc_line *line,
		       const struct trc_longest_times *times);

/* ---- slowest.c ---- */
/* Lines of what the slowest tasks of this type took their time for.  0 or -ENOMEM. */
int trc_report_slowest(struct trc_report *r, const char *type);

/* ---- sections ---- */
int trc_report_deadlocks(struct trc_report *r);
/* The same as one line; none without a deadlock. */
void trc_report_deadlock_line(struct trc_report *r);
int trc_report_ended(struct trc_report *r);
int trc_report_snapshot(struct trc_report *r);
int trc_report_now(struct trc_report *r);
int trc_report_cpu(struct trc_report *r);
int trc_report_heap(struct trc_report *r);
/* CPU time was sampled. */
bool trc_report_has_cpu(const struct trc_report *r);
int trc_report_waits(struct trc_report *r);
int trc_report_holders(struct trc_report *r);
int trc_report_held_up(struct trc_report *r);
int trc_report_longest(struct trc_report *r);
int trc_report_threads(struct trc_report *r);
int trc_report_latencies(struct trc_report *r);
int trc_report_fibers(struct trc_report *r);
int trc_report_by_label(struct trc_report *r);
int trc_report_user(struct trc_report *r);
/* "caused by ...", "woken by ...", "89% timed out"; false if nothing is known. */
bool trc_report_blame(struct trc_report *r, struct trc_line *line,
		      const struct trc_group_details *details);

#endif
