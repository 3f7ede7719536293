/*
 * parts.h - what the files that derive a model share; no other file includes it.
 *
 * One pass over the merged events (merge.h) feeds every derivation that is asked for.  Each
 * derivation is an object with a begin, a span and an end.  All derivations see the events in time
 * order: events of one thread in the order in which the thread made them, and events of one object
 * in the order in which they happened.
 */
#ifndef TRC_ANALYZER_MODEL_PARTS_H
#define TRC_ANALYZER_MODEL_PARTS_H

#include "merge.h"
#include "model.h"
#include "array.h"
#include "between.h"
#include "preempted.h"
#include "unlocks_of.h"
#include "format/waits.h"

struct trc_symbols;
struct trc_jit;
struct trc_image;

/* The parts that come from events. */
enum {
	TRC_PART_EVENTS = TRC_PART_WAITS | TRC_PART_USER | TRC_PART_SCHED | TRC_PART_NOW |
			  TRC_PART_LABELS | TRC_PART_SAMPLES | TRC_PART_HEAP | TRC_PART_FIBERS |
			  TRC_PART_LOCK_ORDER | TRC_PART_HOLDS
};

/* The value of a thread between two of its events with the same time. */
struct trc_thread_moment {
	int64_t ts_ns;
	uint64_t start_place, end_place;
	uint32_t thread;
	uint32_t value;
};

/* An OpenTelemetry context (analyzer/derive/contexts.h), and its ids as people write them. */
struct trc_context {
	uint64_t trace[2], span;
	const char *trace_text, *span_text;
};

enum { TRC_CONTEXT_LABELS = 3 }; /* at most, of a context by itself */

/* A label set that is in no file: that of a context, and the labels of a set of the file's. */
struct trc_context_set {
	uint32_t context, labels;
};

/* The spans of all threads, and the first span of each thread; spans.h. */
struct trc_thread_spans {
	struct trc_array span;	 /* struct trc_thread_span */
	struct trc_array moment; /* struct trc_thread_moment; by thread, time and place */
	struct trc_index first;
};

/* The most by which the kernel's clock, aligned through sync points, is off. */
enum { TRC_KERNEL_SKEW_NS = 100000 };

/* Indexes of the rows, made when they are first asked for, also by code that only reads the model. */
struct trc_model_indexes {
	struct trc_between between[TRC_BETWEEN_TABLES];
	struct trc_unlocks_of *unlocks_of;
	bool keeps;
	struct trc_kept kept[TRC_KEPT_KINDS];
};

struct trc_model {
	struct trc_reader *reader;
	struct trc_model_indexes *indexes;
	unsigned int have; /* enum trc_part */
	trc_progress_fn *progress;
	void *progress_context;
	int64_t start_ns, end_ns;
	const struct trc_selection *selection;

	struct trc_array threads; /* by serial once TRC_PART_WAITS is there */
	struct trc_index thread_row;
	struct trc_array parks, unlocks, gaps, procs;
	struct trc_array tasks, regions, logs, counters;
	struct trc_array on_cpu;
	struct trc_array execs; /* struct trc_exec, by time */
	struct trc_array labels;
	struct trc_thread_spans label_spans;
	uint32_t *label_first; /* a set's first row in labels; one more than there are sets */
	size_t n_label_sets;   /* highest id + 1 */
	size_t n_file_sets;    /* likewise, of the file's own: behind these come the context_sets */
	struct trc_array contexts, context_sets;
	size_t n_context_labels;	       /* of all context_sets */
	bool contexts_cut;		       /* contexts:V1 */
	struct trc_thread_spans context_spans; /* of numbers of contexts: row + 1 */
	struct trc_index context_set;	       /* rows of context_sets */
	struct trc_array fibers, fiber_runs, fiber_waits;
	struct trc_thread_spans fiber_spans; /* of row ids in fibers */
	struct trc_array samples, sample_events, samples_lost;
	struct trc_array sample_notes; /* char *: texts that are not in the file */
	struct trc_array allocs, frees, heap;
	struct trc_array signals, triggers, threads_now, open_regions, deadlocks, locks_held;
	struct trc_array lock_edges, holds;
	struct trc_array objects;
	struct trc_preempted preempted;
	struct trc_array preempted_sections, latencies;
	struct trc_array descriptors;	 /* struct trc_descriptor_name */
	struct trc_index descriptor_row; /* by string id */
	struct trc_array coverage;
	int64_t window_ns;
	uint64_t lost_events;
	uint64_t n_forks;

	const char **string; /* by string id; copied on first use */
	struct trc_pool text;

	struct trc_stacks stacks;
	uint32_t *stack_first;
	struct trc_array stack_frame, frame, frame_origin;
	struct trc_symbols *symbols;
	struct trc_symbols **shared_symbols; /* NULL = symbols are the model's own */
	struct trc_jit *jit;		     /* NULL = none */

	struct trc_image
		*image; /* what rows are mapped of, which are not the arrays' own; NULL = none */
};

/* The key of a set in context_set. */
uint64_t trc_context_set_key(const struct trc_context_set *set);

/* A derivation while the events go by.  All functions return 0 or -errno. */
struct trc_derive {
	unsigned int part;
	struct trc_kind_mask kinds; /* kinds of events whose arguments it needs */
	int (*span)(struct trc_derive *derive, const struct trc_span *span);
	int (*end)(struct trc_derive *derive);
	void (*free)(struct trc_derive *derive);
};

/* Each makes a derivation; the caller frees it with its free(). */
int trc_derive_labels(struct trc_derive **out, struct trc_model *m);
int trc_derive_waits(struct trc_derive **out, struct trc_model *m);
int trc_derive_user(struct trc_derive **out, struct trc_model *m);
int trc_derive_sched(struct trc_derive **out, struct trc_model *m);
/* The next three come after the labels. */
int trc_derive_fibers(struct trc_derive **out, struct trc_model *m);
/* True if the trace has events of these kinds; derives nothing. */
bool trc_model_has_kinds(const struct trc_model *m, const struct trc_kind_mask *kinds);
/* True if any thread of the trace is ever in a fiber; derives nothing. */
bool trc_model_has_fibers(const struct trc_model *m);
int trc_derive_samples(struct trc_derive **out, struct trc_model *m);
/* After samples, lost samples and their events are there, in order: fills in `scaled` and
 * `made_up`. */
int trc_derive_scaled(struct trc_model *m);
int trc_derive_heap(struct trc_derive **out, struct trc_model *m);
int trc_derive_lock_order(struct trc_derive **out, struct trc_model *m);
int trc_derive_holds(struct trc_derive **out, struct trc_model *m);
/* Comes last: waits and annotations must be derived, or be derived in the same pass. */
int trc_derive_now(struct trc_derive **out, struct trc_model *m);

/* analyzer/derive/exec.c: the process became another program. */
struct trc_exec {
	int64_t ts_ns;
	uint32_t before; /* the highest serial of the programs before */
};

int trc_exec_add(struct trc_model *m, int64_t ts_ns, uint32_t highest_serial);
/* After all threads, sorted, and parks are known: ends those that an exec ended. */
void trc_exec_lives(struct trc_model *m);
/* Gives times on a proc to the program that ran at that time.  0 or -ENOMEM. */
int trc_exec_share_on_cpu(struct trc_model *m);
/* When another program replaced the thread's program; TRC_NEVER = never. */
int64_t trc_exec_after_ns(const struct trc_model *m, uint32_t serial);

/* After all parks, unlocks and unparks are known: finds the waker of each wait, and the waiting
 * that each unlock's critical section caused. */
struct trc_unpark {
	int64_t ts_ns;
	int64_t taken_ns; /* of a lock's: derived_locks:V2; else TRC_NEVER */
	uint64_t object, count;
	uint32_t thread, stack, reason, proc;
	uint64_t place; /* model:M5 */
};
int trc_derive_wakers(struct trc_model *m, const struct trc_array *unparks);
/* Before that: waits for futexes and semaphores that are locks, and their wakings as unlocks
 * (derived_locks.c). */
int trc_derive_locks(struct trc_model *m, struct trc_array *unparks);
/* Between the two: unlocks by functions that end with a jump to the unlock (tail_unlocks.c).  0 or -ENOMEM. */
int trc_derive_tail_unlocks(struct trc_model *m);

/* frames and stack_frames. */
int trc_derive_symbols(struct trc_model *m, struct trc_error *error);
void trc_derive_symbols_free(struct trc_model *m);

/* The number of the descriptor's name that is this string; 0 = none.  0 or -ENOMEM. */
int trc_descriptor_number(struct trc_model *m, uint64_t string, uint32_t *number);

/* After waits, the state at the end, allocations and symbols are there: objects. */
int trc_derive_objects(struct trc_model *m, struct trc_error *error);

/* After waits and scheduling are there: preempted and sections. */
int trc_derive_sections(struct trc_model *m, struct trc_error *error);
/* After waits and scheduling are there: latencies. */
int trc_derive_latencies(struct trc_model *m, struct trc_error *error);

/* Fills in labels, from the file's label sets.  0 or -ENOMEM. */
int trc_model_read_labels(struct trc_model *m);
/* Fills in coverage and window_ns from the file.  0 or -ENOMEM. */
int trc_model_read_coverage(struct trc_model *m);
/* Converts the begin of something that has not ended, as a recorder stored it; not earlier than the
 * recording's begin. */
int64_t trc_model_since_ns(const struct trc_model *m, uint64_t ticks);
/* The time from which on the trace has the kernel's records of this proc. */
int64_t trc_model_kernel_from_ns(const struct trc_model *m, uint32_t proc);
/* The row of a thread, added if need be; NULL without memory. */
struct trc_thread *trc_model_thread_add(struct trc_model *m, uint32_t serial);
/* A string as text; "" for 0; NULL without memory. */
const char *trc_model_string(struct trc_model *m, uint64_t id);
void trc_model_report_progress(struct trc_model *m, const char *what, double fraction);

/* Argument `a` of event `row`, 0 if the block has none. */
static inline uint64_t trc_arg(const struct trc_columns *c, uint32_t row, unsigned int a)
{
	const uint64_t *const *arg = c->arg[c->kind[row]];

	return arg && arg[a] ? arg[a][c->rank[row]] : 0;
}

/* An argument by name: TRC_ROW_ARG(c, row, park, reason). */
#define TRC_ROW_ARG(c, row, kind_name, arg_name) trc_arg(c, row, TRC_ARG_INDEX(kind_name, arg_name))

/* The bytes of the TEXT argument of event `row`; they are not terminated. */
static inline const char *trc_arg_text(const struct trc_columns *c, uint32_t row, size_t *n_bytes)
{
	unsigned int kind = c->kind[row];
	const uint32_t *off = c->text_off[kind];

	if (!c->text[kind] || !off) {
		*n_bytes = 0;
		return "";
	}
	*n_bytes = off[c->rank[row] + 1] - off[c->rank[row]];
	return c->text[kind] + off[c->rank[row]];
}

/* Adds until - from to *sum if it is positive; *sum is at most INT64_MAX. */
static inline void trc_add_ns(int64_t *sum, int64_t from_ns, int64_t until_ns)
{
	int64_t ns;

	if (until_ns <= from_ns)
		return;
	if (__builtin_sub_overflow(until_ns, from_ns, &ns) || __builtin_add_overflow(*sum, ns, sum))
		*sum = INT64_MAX;
}

#endif
