/*
 * model.h - a trace and everything derived from it, as plain arrays.
 *
 * Opening is cheap.  Each table is computed once, on its first trc_model_need(); after that the
 * table is read-only.  SQL tables, the report, profiles and the viewer all read these arrays and
 * derive nothing themselves.
 *
 *   model:M1  a row's id is its index + 1; 0 means "none" in every column that refers to a row
 *   model:M2  times are nanoseconds of trace time (0 = the first sync point);
 *       TRC_NEVER = not known, still in progress: NULL in SQL
 *   model:M3  rows are sorted by start (or ts), then by thread, unless said otherwise
 *   model:M4  a thread is named by its serial; trc_model_thread() finds its row
 *   model:M5  a thread's labels and fiber at an event follow from the order of its events, since
 *       clocks may give several events one time.  A row whose labels or fiber may be asked for has
 *       its place in this order (merge.h).  A row with TRC_PLACE_LAST has only a time, and counts as
 *       after all events of that time
 */
#ifndef TRC_ANALYZER_MODEL_MODEL_H
#define TRC_ANALYZER_MODEL_MODEL_H

#include "format/reader.h"
#include "rows.h"

struct trc_model;
struct trc_symbols;
struct trc_selection;
struct trc_preempted;

/* What a model can derive; bits of trc_model_need(). */
enum trc_part {
	TRC_PART_WAITS = 1 << 0,       /* threads, parks, unlocks, wakeups, procs, gaps */
	TRC_PART_USER = 1 << 1,	       /* tasks, regions, logs, counters */
	TRC_PART_SCHED = 1 << 2,       /* on_cpu */
	TRC_PART_SYMBOLS = 1 << 3,     /* frames and stack_frames */
	TRC_PART_NOW = 1 << 4,	       /* threads_now, open_regions, deadlocks, locks_held, signals,
				      triggers */
	TRC_PART_LABELS = 1 << 5,      /* label_spans, labels */
	TRC_PART_SAMPLES = 1 << 6,     /* samples, sample_events, samples_lost */
	TRC_PART_HEAP = 1 << 7,	       /* allocs, frees, heap */
	TRC_PART_FIBERS = 1 << 8,      /* fibers, fiber_runs, fiber_waits */
	TRC_PART_LOCK_ORDER = 1 << 11, /* lock_edges */
	TRC_PART_HOLDS = 1 << 12,      /* holds */
	/* all that report and page need */
	TRC_PART_ALL = 511 | TRC_PART_LOCK_ORDER | TRC_PART_HOLDS,
	TRC_PART_OBJECTS = 1 << 9,    /* objects */
	TRC_PART_PREEMPTED = 1 << 13, /* preempted times, and those of critical sections */
	TRC_PART_LATENCIES = 1 << 14, /* latencies */
};

/* Optional; called now and then during a long step.  fraction 0..1. */
typedef void trc_progress_fn(void *context, const char *what, double fraction);

/* On success *out is the caller's: trc_model_close() it.  error->text names no file. */
int trc_model_open(struct trc_model **out, const char *path, struct trc_error *error);
/* The same with an open reader, which is the model's from here on, also on failure. */
int trc_model_open_reader(struct trc_model **out, struct trc_reader *reader,
			  struct trc_error *error);
void trc_model_close(struct trc_model *m); /* accepts NULL */
void trc_model_progress(struct trc_model *m, trc_progress_fn *fn, void *context);

/* Derives these parts if need be.  Not thread safe.  0 or -errno with a line in error. */
int trc_model_need(struct trc_model *m, unsigned int parts, struct trc_error *error);

/*
 * A model that answers many questions keeps what is expensive to make, and the same for all of them.  The kept rows take
 * memory up to the model's end, so a model for one question does not keep them.
 */
enum trc_kept_kind {
	TRC_KEPT_STEPS, /* how threads wait for each other: analyzer/causes/steps.c */
	TRC_KEPT_LOCKS, /* which unlock and wait is of which lock: analyzer/derive/lock_list.c */
	TRC_KEPT_TASK_SPANS, /* when which thread worked for which task, how, and for which region: analyzer/causes/task_times.c */
	TRC_KEPT_TASK_TIMES,
	TRC_KEPT_REGION_TIMES,
	TRC_KEPT_DESCRIPTORS, /* analyzer/model/descriptors.c */
	TRC_KEPT_KINDS,
};
struct trc_kept {
	void *thing; /* NULL = not made yet */
	void (*free)(void *thing);
};
void trc_model_keep(struct trc_model *m);
/* Where it is; NULL: this model keeps nothing. */
struct trc_kept *trc_model_kept(const struct trc_model *m, enum trc_kept_kind kind);

/* The selected part of the trace (selection.h): borrowed until the model is closed.  NULL: all of it. */
void trc_model_select(struct trc_model *m, const struct trc_selection *selection);
const struct trc_selection *trc_model_selection(const struct trc_model *m);

const struct trc_reader *trc_model_reader(const struct trc_model *m);
/* When the trace begins and ends, by all events and by the recording itself. */
int64_t trc_model_start_ns(const struct trc_model *m);
int64_t trc_model_end_ns(const struct trc_model *m);

/* Each returns the rows and their number; empty before its part was needed. */
const struct trc_thread *trc_model_threads(const struct trc_model *m, size_t *n); /* by serial */
const struct trc_thread *trc_model_thread(const struct trc_model *m, uint32_t serial); /* or NULL */
const struct trc_park *trc_model_parks(const struct trc_model *m, size_t *n);
const struct trc_unlock *trc_model_unlocks(const struct trc_model *m, size_t *n);
const struct trc_task *trc_model_tasks(const struct trc_model *m, size_t *n);
const struct trc_region *trc_model_regions(const struct trc_model *m, size_t *n);
const struct trc_log *trc_model_logs(const struct trc_model *m, size_t *n);
const struct trc_counter *trc_model_counters(const struct trc_model *m, size_t *n);
const struct trc_set_label *trc_model_labels(const struct trc_model *m, size_t *n);
const struct trc_thread_span *trc_model_label_spans(const struct trc_model *m, size_t *n);
/* The label spans of one thread; none if the thread never had labels. */
const struct trc_thread_span *trc_model_label_spans_of(const struct trc_model *m, uint32_t thread,
						       size_t *n);
const struct trc_fiber *trc_model_fibers(const struct trc_model *m, size_t *n); /* by number */
const struct trc_fiber_run *trc_model_fiber_runs(const struct trc_model *m, size_t *n);
const struct trc_fiber_wait *trc_model_fiber_waits(const struct trc_model *m, size_t *n);
const struct trc_on_cpu *trc_model_on_cpu(const struct trc_model *m, size_t *n);
const struct trc_sample *trc_model_samples(const struct trc_model *m, size_t *n);
const struct trc_sample_event *trc_model_sample_events(const struct trc_model *m, size_t *n);
const struct trc_samples_lost *trc_model_samples_lost(const struct trc_model *m, size_t *n);
/* Only such samples say how long a thread ran: one of another event is not to be added to them. */
bool trc_model_is_clock_sample(const struct trc_model *m, const struct trc_sample *sample);
/* trc_sample_event_is_counted() of the event with this id in sample_events. */
bool trc_model_is_counted(const struct trc_model *m, uint32_t id);
const struct trc_alloc *trc_model_allocs(const struct trc_model *m, size_t *n);
const struct trc_free *trc_model_frees(const struct trc_model *m, size_t *n);
const struct trc_heap_object *trc_model_heap(const struct trc_model *m, size_t *n);
const struct trc_gap *trc_model_gaps(const struct trc_model *m, size_t *n);
const struct trc_proc *trc_model_procs(const struct trc_model *m, size_t *n);
const struct trc_signal *trc_model_signals(const struct trc_model *m, size_t *n);
const struct trc_trigger *trc_model_triggers(const struct trc_model *m, size_t *n);
const struct trc_thread_now *trc_model_threads_now(const struct trc_model *m, size_t *n);
const struct trc_open_region *trc_model_open_regions(const struct trc_model *m, size_t *n);
const struct trc_deadlock *trc_model_deadlocks(const struct trc_model *m, size_t *n);
const struct trc_lock_held *trc_model_locks_held(const struct trc_model *m, size_t *n);
const struct trc_lock_edge *trc_model_lock_edges(const struct trc_model *m, size_t *n);
const struct trc_hold *trc_model_holds(const struct trc_model *m, size_t *n);
const struct trc_latency *trc_model_latencies(const struct trc_model *m, size_t *n);
/* By row of unlocks; none without switch records. */
const struct trc_preempted_section *trc_model_preempted_sections(const struct trc_model *m,
								 size_t *n);
/* preempted.h; NULL before TRC_PART_PREEMPTED was needed. */
const struct trc_preempted *trc_model_preempted(const struct trc_model *m);
const struct trc_object *trc_model_objects(const struct trc_model *m, size_t *n); /* by address */
/* The first of these that waits for this reason are for; NULL = none, or not derived. */
const struct trc_object *trc_model_object(const struct trc_model *m, unsigned int reason,
					  uint64_t address);
/* These rows are there before any part was needed. */
const struct trc_coverage *trc_model_coverage(const struct trc_model *m, size_t *n);
/* The beginning of the window: since then nothing is missing in any stream, except what gaps count.
 * TRC_NEVER for a recording, which has everything. */
int64_t trc_model_window_ns(const struct trc_model *m);
const struct trc_stacks *trc_model_stacks(const struct trc_model *m);
/* Models of several processes of one program read its files once.  The model opens *symbols if it is NULL, and leaves the closing,
 * after that of all these models, to the caller.  Before TRC_PART_SYMBOLS is needed. */
void trc_model_share_symbols(struct trc_model *m, struct trc_symbols **symbols);
/* The symbols of the frames; NULL before TRC_PART_SYMBOLS was needed. */
struct trc_symbols *trc_model_symbols(const struct trc_model *m);
/* The variable at an address, and the offset into the variable; NULL = not known.  Modules come and
 * go, so `stack` says when the address was used; 0 = at the trace's end.  Needs
 * TRC_PART_SYMBOLS. */
const char *trc_model_variable(const struct trc_model *m, uint64_t address, uint32_t stack,
			       uint64_t *offset);
/* Of what has no variable with a name: "mysqld .bss+0x1234", the module, the section of its file, and the offset in the section,
 * for as long as the program is not built anew.  False: it lies in no module's data. */
enum { TRC_DATA_NAME_BYTES = 160 };
bool trc_model_data_name(char out[TRC_DATA_NAME_BYTES], const struct trc_model *m, uint64_t address,
			 uint32_t stack);
/* Which member of that variable it is: ".gil.cond", or "" if that is not known; the offset into the
 * member. */
const char *trc_model_member(const struct trc_model *m, uint64_t address, uint32_t stack,
			     uint64_t *offset);
/* The labels of a set: its rows in the table of labels; no rows for 0 and for an unknown set. */
const struct trc_set_label *trc_model_label_set(const struct trc_model *m, uint32_t labels,
						size_t *n);
/* The label set of a thread at a time and place (M5); 0 = none, or not known. */
uint32_t trc_model_labels_at(const struct trc_model *m, uint32_t thread, int64_t ts_ns,
			     uint64_t place);
/* The set of these labels and of the OpenTelemetry context that the thread had then; `labels` itself
 * if it had none, or none is known.  For waits and samples only: contexts are known at these. */
uint32_t trc_model_labels_in_context(const struct trc_model *m, uint32_t labels, uint32_t thread,
				     int64_t ts_ns, uint64_t place);
/* Whether any thread published a context. */
bool trc_model_has_contexts(const struct trc_model *m);
/* There are more contexts than fit (contexts:V1): some waits and samples have no labels of their context. */
bool trc_model_contexts_are_cut(const struct trc_model *m);
/* The fiber of a thread at a time and place: row id in fibers; 0 = its root fiber, or not known. */
uint32_t trc_model_fiber_at(const struct trc_model *m, uint32_t thread, int64_t ts_ns,
			    uint64_t place);
/* Lost events, summed over all gaps. */
uint64_t trc_model_lost_events(const struct trc_model *m);
/* The highest serial of threads of the process's earlier programs, before its last exec; 0 = there was none. */
uint32_t trc_model_former_serial(const struct trc_model *m);
enum trc_thread_counts {
	TRC_THREAD_COUNTS, /* as one of the program that the process is in the end */
	TRC_THREAD_GOES_ON, /* as none: the process's first thread, which has another row in a later program */
	TRC_THREAD_FORMER, /* as one of the programs before: it ended when another program was executed */
};
/* For whoever says how many threads there are. */
enum trc_thread_counts trc_model_thread_counts(const struct trc_model *m, size_t row);
/* How often the process forked, as far as recorded. */
uint64_t trc_model_forks(const struct trc_model *m);

#endif
