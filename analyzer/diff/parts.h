/* parts.h - what the files that compare traces share; no other file includes it. */
#ifndef TRC_ANALYZER_DIFF_PARTS_H
#define TRC_ANALYZER_DIFF_PARTS_H

#include "analyzer/model/array.h"
#include "diff.h"
#include "statistics.h"

enum trc_diff_kind {
	TRC_DIFF_TASKS,
	TRC_DIFF_LOCKS,
	TRC_DIFF_SECTIONS,
	TRC_DIFF_CPU,
	TRC_DIFF_WAITS,
	TRC_DIFF_SAMPLED, /* threads of like names, with their samples: no rows */
	TRC_DIFF_RAN,	  /* threads of like names: on procs */
	TRC_DIFF_ACTIVE,  /* in no wait */
	TRC_DIFF_BLOCKED, /* waiting for locks */
	TRC_DIFF_ALLOCATED,
	TRC_DIFF_IN_USE,
	TRC_DIFF_KINDS
};

/* At most so many items of a kind are compared, those with the largest sums. */
enum { TRC_DIFF_ITEMS_MAX = 500 };

/* A type of task, a lock, a critical section, a function, another place to wait, threads of like
 * names, or a place that allocates. */
struct trc_diff_item {
	char *name;
	uint8_t kind;
	uint64_t n;   /* tasks, waits, sections, samples, stretches */
	double total; /* ns, bytes, or the samples' unit */
	/* By slice, NULL if it is not among the largest: what total and n are of; of memory in use how
	 * much of it there is when the slice ends, and the events of sampled allocations are the
	 * allocations that they stand for. */
	double *amount, *events;
	double squares; /* of memory in use: bytes that each sample stands for, squared and summed */
	/* Of tasks how long they took, of critical sections how long they held the lock, as far
	 * as is known: sorted, with the slice in which they ended. */
	struct trc_diff_span {
		int64_t ns;
		uint32_t slice;
	} * span;
	size_t n_spans;
	uint32_t threads; /* of CPU: the index of the item of those that ran it */
};

/* A trace, summed up. */
struct trc_diff_sums {
	char *path;
	char build[80]; /* "" = not known */
	char *command;	/* NULL = not known */
	char *sampled;	/* the event whose samples count; NULL = there are none */
	bool sampled_clock;
	int64_t start_ns, end_ns;
	uint64_t lost_events, table_full, lost_samples;
	bool ends;		/* the file has its end */
	char *nameless;		/* why no function of the program has a name; NULL = some have */
	struct trc_array items; /* struct trc_diff_item */
	struct trc_index by_name;
	double total[TRC_DIFF_KINDS];
	/* Of the time in which threads could run, the part in which they had no proc; 0 if it is
	 * not known. */
	double without_proc;
	bool switches;	       /* the kernel's switch records are there */
	bool heap;	       /* allocations were sampled */
	bool window;	       /* only what a snapshot's window held */
	uint64_t period;       /* of samples; 0 = not known, or by frequency */
	uint64_t frequency_hz; /* of samples; 0 = by period */
	char *locks, *procs, *machine,
		*processor; /* how and where it was recorded; NULL = not known */
	uint64_t n_samples;
	uint64_t n_waits;
	bool exited; /* the process ended by itself, and was recorded to its end */
};

static inline struct trc_diff_item *trc_diff_item(const struct trc_diff_sums *sums, size_t i)
{
	return (struct trc_diff_item *)sums->items.row + i;
}
/* NULL = the trace has none. */
const struct trc_diff_item *trc_diff_find(const struct trc_diff_sums *sums, unsigned int kind,
					  const char *name);
static inline double trc_diff_seconds(const struct trc_diff_sums *sums)
{
	return (double)(sums->end_ns - sums->start_ns) / 1e9;
}

/* A value in one trace, and the variance that its noise has. */
struct trc_diff_estimate {
	double value;
	double variance;
	double per; /* what it is a ratio to, summed: tasks, seconds, ... */
};

/* ---- names.c: the caller's to free, NULL without memory ---- */
struct trc_diff_names {
	struct trc_model *m;
	const struct trc_stacks *stacks;
	bool by_place;
};
char *trc_diff_function_name(const struct trc_diff_names *names, uint32_t stack);
/* With the threads that ran it: "price demo.c (worker *)" */
char *trc_diff_cpu_name(const struct trc_diff_names *names, uint32_t stack, const char *threads);
/* Numbers in a thread's name do not tell it from its like: "worker *". */
char *trc_diff_threads_name(const struct trc_diff_names *names, uint32_t thread);
/* "mutex settings"; without a variable "mutex at FUNCTION" */
char *trc_diff_wait_name(const struct trc_diff_names *names, const struct trc_park *park);
/* "FUNCTION releases mutex settings" */
char *trc_diff_section_name(const struct trc_diff_names *names, const struct trc_unlock *unlock);

/* ---- memory.c ---- */
/* Bytes at the end of the trace (diff:D9); NULL: nothing is. */
struct trc_diff_estimate trc_diff_in_use(const struct trc_diff_item *item);

/* ---- quantiles.c ---- */
/* The duration that so many percent of the tasks do not exceed, as a logarithm. */
struct trc_diff_estimate trc_diff_quantile(const struct trc_diff_item *item, unsigned int percent);
/* The mean without the tenth that is longest, and the one that is shortest. */
struct trc_diff_estimate trc_diff_typical(const struct trc_diff_item *item);
/* The share of the tasks that take longer than that. */
struct trc_diff_estimate trc_diff_beyond(const struct trc_diff_item *item, double ns);

struct trc_diff {
	struct trc_diff_sums *const *before;
	size_t n_before;
	const struct trc_diff_sums *after;
	const char *task; /* the type that amounts are for; NULL = they are per second */
	char *unit;	  /* "ns per request", or of a second */
	char *unit_waits, *unit_bytes, *unit_allocations;
	struct trc_array rows; /* struct trc_diff_row */
	size_t n_changed;
	char incomplete[2048], differences[2048];
	unsigned int n_complaints;
	bool cpu_compared, only_tasks;
	/* What all traces can tell (D10). */
	bool locks_compared, held_compared, heap_compared, in_use_compared, switches_compared;
};

/* ---- about.c ---- */
void trc_diff_find_incomplete(struct trc_diff *diff);

/* ---- options.c ---- */
/* diff:D10. */
void trc_diff_find_differences(struct trc_diff *diff);
/* diff:D2.  0 or -ENOMEM. */
int trc_diff_choose_unit(struct trc_diff *diff);

#endif
