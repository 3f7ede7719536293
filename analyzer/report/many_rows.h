/* many_rows.h - what is known of several traces, for those who print it. */
#ifndef TRC_ANALYZER_REPORT_MANY_ROWS_H
#define TRC_ANALYZER_REPORT_MANY_ROWS_H

#include "analyzer/findings/findings.h"
#include "many.h"
#include "parts.h"

/* What the time of a process's threads went to. */
enum trc_many_time {
	TRC_MANY_CPU,
	TRC_MANY_TO_RUN, /* a thread could run, and had no proc */
	TRC_MANY_LOCKS,	 /* waits, by class: without what of them had no proc */
	TRC_MANY_OTHERS,
	TRC_MANY_FILES,
	TRC_MANY_OUTSIDE,
	TRC_MANY_TIMES
};

struct trc_many_row {
	char *path, *pid, *ended; /* owned; pid, ended "" = not known */
	char *command,
		*called;     /* owned: the title, or the program with its arguments; or without */
	char *worst;	     /* of its findings; NULL = nothing cost much */
	int64_t worst_ns;    /* what that cost; INT64_MAX of an alarm */
	uint64_t n_findings; /* without notes */
	int64_t lasted_ns;
	int64_t time_ns[TRC_MANY_TIMES]; /* TRC_NEVER = not known */
	int64_t cost_ns; /* of CPU time, without a proc, for locks and for files: others may be idle */
	uint64_t n_threads, n_events, lost_events;
	char *incomplete; /* owned: what is missing or odd; NULL = nothing */
	bool is_cut;	  /* its end is missing */
	/* What is waited for most, but by idle threads. */
	struct {
		char *what, *place; /* owned; "mutex settings+16"; NULL = there is no wait */
		uint8_t reason;
		uint64_t waits;
		int64_t ns;
	} wait;
	/* The type of tasks that took most time. */
	struct {
		char *type; /* owned; NULL = no task has ended */
		uint64_t n;
		int64_t p99_ns;
	} tasks;
	struct trc_hints hints;
};

struct trc_many_found {
	struct trc_finding finding;
	size_t row; /* in which it is, as they were added */
};

struct trc_many {
	const struct trc_report_options *options;
	struct trc_array rows,
		found; /* struct trc_many_row; struct trc_many_found, most harmful first */
	uint64_t n_unread, n_incomplete, n_full, n_events, n_bytes, lost_events, n_threads;
};

/* What costs most first; the caller's to free.  NULL = no memory. */
const struct trc_many_row **trc_many_sorted(const struct trc_many *many);

#endif
