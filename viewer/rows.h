/*
 * rows.h - the model's tables as columns of a page.
 *
 * In a page a thread, task, stack or frame is its row + 1, and 0 is none.  A time is
 * nanoseconds since the start of the trace, also in a page of a part of it (cut.h).  A time that can be unknown is
 * + 1, and 0 is unknown.
 *
 *   rows:V1  a wait's start, length, reason and waking follow from its intervals (struct
 *       trc_shown_park), which the page has anyway.  If they do not follow for a wait, other.* has them
 *   rows:V2  ids of waits stand in the order of the waits' starts in the page (waits that start at the same time in the
 *       page's order).  This is mostly the order of ids: differences of 1
 *   rows:V3  the place of a wait says most of what the wait was for.  So columns of waits stand in streams (intervals.h):
 *       stacks by reason; objects, holders, wakers, their stacks, results and descriptors by stack, and, if there are
 *       fewer than 16,384 stacks, by stack and reason
 *   rows:V4  a thread that mostly equals the thread of another column is 0 where it does, else its number + 1 (columns
 *       *_beside).  For a region or a log the other thread is the one that began its task (0 without a task); for the end of
 *       a task it is the thread that began the task
 *   rows:V5  many tasks begin with a region or a log, and end with their region.  If the text is shorter then, region.start
 *       and log.time become *_in_task: the difference to the task's begin.  region.length then becomes the difference between
 *       the region's end and its task's end, in zigzag code.  Without a task the differences are to the row before, and to
 *       the region's begin
 */
#ifndef TRC_VIEWER_ROWS_H
#define TRC_VIEWER_ROWS_H

#include "analyzer/model/array.h"
#include "analyzer/model/model.h"
#include "cut.h"
#include "format/wire.h"
#include "html.h"
#include "page.h"
#include "source.h"
#include "tracks.h"

/* The name of the variable at an address, and of its member.  After an exec another variable may lie
 * there: then there is no name. */
struct trc_object_name {
	uint64_t object;
	uint32_t epoch; /* of the modules, when it was looked up; + 1 */
	uint32_t text;
	uint64_t offset; /* into that */
	bool several;
};

/* Tables of which a page may leave rows out. */
enum trc_rows_table {
	TRC_ROWS_PARKS,
	TRC_ROWS_UNLOCKS,
	TRC_ROWS_TASKS,
	TRC_ROWS_REGIONS,
	TRC_ROWS_LOGS,
	TRC_ROWS_COUNTERS,
	TRC_ROWS_SAMPLES,
	TRC_ROWS_FIBERS,
	TRC_ROWS_FIBER_RUNS,
	TRC_ROWS_FIBER_WAITS,
	TRC_ROWS_ALLOCS,
	TRC_ROWS_TABLES,
};

/* A task that is in the page: the thread that began it, and when it was. */
struct trc_shown_task {
	uint64_t start, end;
	uint32_t thread;
};

struct trc_rows {
	struct trc_model *m;
	const struct trc_cut *cut; /* borrowed */
	struct trc_page *page;
	struct trc_html_limits limits;
	struct trc_texts texts;
	struct trc_index objects;	     /* addresses and descriptors that threads waited for */
	struct trc_object_name *object_name; /* by number - 1; owned */
	uint32_t object_names_capacity;
	struct trc_index tasks;		   /* the user's ids; number = row + 1 of its first task */
	uint32_t *unlock_idx;		   /* by row: index in the page + 1, 0 = left out; owned */
	uint32_t *task_idx;		   /* the same for tasks */
	struct trc_shown_task *task_shown; /* by number of a task in the page - 1; owned */
	uint32_t *park_idx;		   /* the same for parks */
	uint8_t *idle_park;		   /* by row: 1 = the report calls it idle; owned */
	uint32_t *fiber_idx;		   /* the same for fibers; NULL if there are none */
	uint32_t *fiber_wait_idx;	   /* the same for their waits */
	size_t n_fibers;
	/* html:H3: how many the page leaves out. */
	uint64_t without_regions, without_tasks, without_unlocks, without_logs, without_counters;
	uint64_t without_label_spans, without_fibers, without_fiber_runs, without_fiber_waits;
	uint64_t sample_step, alloc_step; /* one of so many is in the page */
	uint64_t blame_from_ns;		/* of shorter waits the page does not say who caused them */
	bool blame_summed;		/* how much each cause of a wait did, not when */
	bool without_blame;		/* of no wait who caused it: it would be too much */
	uint64_t lost_events;		/* in the gaps of the page */
	bool with_on_cpu;		/* the page has the rows of on_cpu */
	struct trc_html_source *source; /* NULL: the page has no source code; borrowed */
	const char *trace;		/* name of its file; NULL = not known; borrowed */
	uint32_t *caused; /* ids of waits whose causes are in the page, sorted; owned */
	size_t n_caused;
	uint32_t *
		pathed; /* tasks whose critical paths are in the page, by their rows, sorted; owned */
	size_t n_pathed;
	bool failed; /* out of memory */
	uint8_t *
		left_out[TRC_ROWS_TABLES]; /* a bit for each row of the model; NULL = none; owned */
	uint64_t n_left_out[TRC_ROWS_TABLES];
	char *sql_head; /* what the SQL box needs, as JSON; NULL = nothing; owned */
};

/* Writes everything but the head and what the SQL box needs.  tracks->shown says which parks.
 * 0 or -ENOMEM. */
int trc_rows_write(struct trc_rows *r, struct trc_tracks *tracks);
/* Whether the page has row i of the model's array, apart from the rows that the page's cut leaves out. */
bool trc_rows_has(const struct trc_rows *r, enum trc_rows_table table, size_t i);
void trc_rows_free(struct trc_rows *r);

/* The next six are for rows.c and its neighbours. */
/* The page's number of what was waited for at this stack; 0 = nothing. */
uint32_t trc_rows_object(struct trc_rows *r, uint64_t object, uint32_t stack);
struct trc_cause;
/* For how long a thread of the program ran instead of one that could run, + 1; 0 = not known, or another kind of cause. */
uint64_t trc_rows_instead(const struct trc_cause *cause);

/* What a wait for this reason was for, as the report calls it, by trc_park.descriptor; 0 = not known, or no more than
 * the reason says. */
uint32_t trc_rows_descriptor(struct trc_rows *r, uint32_t descriptor, unsigned int reason);
uint32_t trc_rows_thread(const struct trc_rows *r, uint32_t serial);
uint64_t trc_rows_time(const struct trc_rows *r, int64_t ns);
/* The same + 1, 0 for TRC_NEVER. */
uint64_t trc_rows_time_or_never(const struct trc_rows *r, int64_t ns);
void trc_rows_columns(struct trc_rows *r, struct trc_column *column, size_t n);
/* Notes that the page does not have row i of the n in the model's array. */
void trc_rows_leave_out(struct trc_rows *r, enum trc_rows_table table, size_t i, size_t n);

/* rows_unlocks.c: contended unlocks, and what they caused.  Before the waits. */
void trc_rows_unlocks(struct trc_rows *r);

/* rows_user.c: tasks, regions, logs, counters. */
void trc_rows_user(struct trc_rows *r);
/* Where a row is drawn from.  If its begin was not seen, this is the time from which nothing is missing any more. */
uint64_t trc_rows_start(const struct trc_rows *r, int64_t start_ns, int64_t end_ns);
uint64_t trc_rows_length(const struct trc_rows *r, int64_t start_ns, int64_t end_ns);
/* The shortest length of which at most n_max rows of a table are (a power of two; 0 = all
 * fit).  Lengths lie in by_length by trc_bits(). */
uint64_t trc_rows_keep_from(const uint64_t by_length[65], uint64_t n_max);
/* A sum that comes of lost events may be below nothing. */
static inline uint64_t trc_rows_positive(int64_t ns)
{
	return ns > 0 ? (uint64_t)ns : 0;
}

/* rows_labels.c: label sets, and when each thread had which. */
void trc_rows_labels(struct trc_rows *r);
void trc_rows_selected(struct trc_rows *r);

/* rows_fibers.c: fibers, their runs and their waits.  Before trc_rows_user(). */
void trc_rows_fibers(struct trc_rows *r);
/* The page's number of a row of the model's fibers; 0 = none (a root fiber), or left out. */
uint32_t trc_rows_fiber(const struct trc_rows *r, uint32_t row);

/* rows_now.c: threads and the locks that they hold at the trace's end.  After the waits. */
void trc_rows_now(struct trc_rows *r);

/* rows_sched.c: who was on which proc, and who could run but had none. */
void trc_rows_sched(struct trc_rows *r);

/* rows_report.c: what the report tells of scheduling latencies and labels. */
void trc_rows_report(struct trc_rows *r);

/* rows_samples.c: samples, and what was sampled. */
void trc_rows_samples(struct trc_rows *r);

/* rows_heap.c: sampled allocations. */
void trc_rows_heap(struct trc_rows *r);

/* rows_blame.c: what in the end caused waits for locks and threads.  After the waits. */
void trc_rows_blame(struct trc_rows *r);

/* rows_paths.c: critical paths of the slowest tasks of each type.  After the tasks. */
void trc_rows_paths(struct trc_rows *r);

/* rows_causes.c: why the longest waits of each place lasted.  After the waits and unlocks. */
void trc_rows_causes(struct trc_rows *r);

/* rows_end.c: signals, conditions that were met, the window, deadlocks. */
void trc_rows_end(struct trc_rows *r);

/* rows_parks.c: the waits that `tracks` shows; sets r->park_idx. */
void trc_rows_parks(struct trc_rows *r, const struct trc_tracks *tracks);

/* rows_locks.c: each lock's waits, holds and convoys. */
void trc_rows_locks(struct trc_rows *r);

/* rows_top.c: which waits and which critical sections cost most, by reason and stack. */
void trc_rows_top(struct trc_rows *r);

#endif
