/*
 * private.h - declarations that the parts of a fold share.
 *
 * An event is taken apart when it comes: its stack and labels become the fold's own (intern.c), and
 * the rest of the event waits in the queue of its stream (queue.c) until the streams are merged by
 * time.  Then it goes to the threads and their waits (waits.c), fibers (fibers.c), samples,
 * allocations and threads created (samples.c); waits for locks and unlocks go on to a second queue,
 * which puts unlocks at the time of the release (locks.c).  The results are added to the views
 * (view.c), and copied from there (copy.c).
 */
#ifndef TRC_RECORDER_FOLD_PRIVATE_H
#define TRC_RECORDER_FOLD_PRIVATE_H

#include <stddef.h>
#include "fold.h"
#include "format/pages.h"
#include "format/waits/locks.h"
#include "format/waits/parks.h"

/* ---- table.c: entries by a 64-bit key, in memory that is there from the beginning ---- */

/* The first member of every entry. */
struct trc_fold_item {
	uint64_t key;	/* TRC_FOLD_FREE: none */
	uint32_t next;	/* of those with the same hash, or free; index + 1 */
	uint32_t extra; /* the owner's */
};
#define TRC_FOLD_FREE UINT64_MAX

struct trc_fold_table {
	unsigned char *item;
	uint32_t *bucket; /* [mask + 1]; index + 1 */
	uint32_t item_bytes, mask;
	uint32_t n, max;
	uint32_t used; /* entries [0, used) have been taken at some time */
	uint32_t free; /* index + 1 */
};

/* In n_bytes of the arena; 0 or -ENOMEM. */
int trc_fold_table_init(struct trc_fold_table *t, struct trc_arena *arena, size_t item_bytes,
			size_t n_bytes);
/* The bytes of a table of so many entries. */
size_t trc_fold_table_bytes(size_t item_bytes, uint32_t max);
/* The first entry of this key, then the others; NULL = none. */
void *trc_fold_table_find(const struct trc_fold_table *t, uint64_t key);
void *trc_fold_table_more(const struct trc_fold_table *t, const void *item);
/* A new entry, zeroed; NULL = full, or no key.  Does not check whether the key has an entry
 * already. */
void *trc_fold_table_add(struct trc_fold_table *t, uint64_t key);
void trc_fold_table_remove(struct trc_fold_table *t, void *item);
/* The entry of this index + 1; NULL = of 0, or a free one. */
void *trc_fold_table_at(const struct trc_fold_table *t, uint32_t id);
uint32_t trc_fold_table_id(const struct trc_fold_table *t, const void *item);
void trc_fold_table_clear(struct trc_fold_table *t);
/* `to` becomes a copy of `from`, in its own memory; both have the same shape. */
void trc_fold_table_copy(struct trc_fold_table *to, const struct trc_fold_table *from);

static inline uint64_t trc_fold_mix(uint64_t n)
{
	n ^= n >> 32;
	n *= UINT64_C(0xd6e8feb86659fd93);
	n ^= n >> 32;
	n *= UINT64_C(0xd6e8feb86659fd93);
	return n ^ n >> 32;
}

/* ---- intern.c: stacks and label sets by content ----------------------------------- */

struct trc_fold_content {
	struct trc_fold_item item; /* key: of the content; extra: how many words */
	uint32_t off; /* into word[], of a word with this entry's id; the content follows */
	uint32_t n_bytes;
	bool marked;
};

enum { TRC_FOLD_CACHED = 4096 };

struct trc_fold_intern {
	struct trc_fold_table table; /* struct trc_fold_content; an id is an index + 1 */
	uint64_t *word;
	uint32_t n_words, max_words;
	uint32_t collect_words, collect_n; /* with more than that, look for what is not needed */
	struct {
		uint64_t tables_id;
		uint32_t id;
	} cached[TRC_FOLD_CACHED];
};

int trc_fold_intern_init(struct trc_fold_intern *in, struct trc_arena *arena, size_t n_bytes);
/* Ids of a writer's tables as the fold's; 0 = none, or no room. */
uint32_t trc_fold_stack(struct trc_fold *fold, const struct trc_writer *tables, uint64_t id);
uint32_t trc_fold_labels(struct trc_fold *fold, const struct trc_writer *tables, uint64_t id);
void trc_fold_forget_ids(struct trc_fold_intern *in);
/* The content; NULL = of id 0. */
const uint64_t *trc_fold_content(const struct trc_fold_intern *in, uint32_t id, uint32_t *n_words,
				 uint32_t *n_bytes);
/* Between events: frees stacks and labels that nothing cites, if there is little room. */
void trc_fold_make_room(struct trc_fold *fold);
void trc_fold_intern_mark(struct trc_fold_intern *in, uint32_t id);

/* ---- queue.c: what has come and is not merged -------------------------------------- */

struct trc_fold_event {
	uint64_t time;
	uint32_t thread;
	uint32_t stack, labels;
	uint8_t kind, reason;
	uint16_t sampled; /* SAMPLE, SAMPLES_LOST */
	/* PARK: object, holder.  RESUME: object, result.  WAIT: object, result, since.  ACQUIRE:
	 * object.  UNLOCK: object, for how many ns, at.  SAMPLE: value, period.  SAMPLES_LOST: how
	 * many, cause.  GAP: how many.  ALLOC: address, bytes, period, sample.  FREE: address, and the same.  THREAD_START: creator.
	 * FIBER_SWITCH: fiber, left.  FIBER_END: fiber. */
	uint64_t a, b, c, d;
};

enum { TRC_FOLD_CHUNK_EVENTS = 73 };
struct trc_fold_chunk {
	uint32_t next; /* index + 1 */
	uint32_t n;
	struct trc_fold_event event[TRC_FOLD_CHUNK_EVENTS];
};

struct trc_fold_stream {
	uint32_t first, last; /* chunks; index + 1 */
	uint32_t at;	      /* in the first */
	uint64_t last_time;
};

struct trc_fold_queue {
	struct trc_fold_chunk *chunk;
	uint32_t n_used, max, free;
	struct trc_fold_stream *stream;
	uint32_t n_streams;
	uint32_t *heap; /* streams that have events, by the first one's time */
	uint32_t n_heap;
};

int trc_fold_queue_init(struct trc_fold_queue *q, struct trc_arena *arena, uint32_t n_procs,
			size_t n_bytes);
/* Where the next event of this stream goes, its time filled in; NULL = no room. */
struct trc_fold_event *trc_fold_queue_put(struct trc_fold_queue *q, uint32_t stream, uint64_t time);
/* The earliest event, if it is no later than `upto`; valid until the next call. */
const struct trc_fold_event *trc_fold_queue_take(struct trc_fold_queue *q, uint64_t upto);
void trc_fold_queue_mark(struct trc_fold *fold);

/* ---- waits.c ---------------------------------------------------------------------- */

/* A thread; key: its serial, extra: its labels. */
struct trc_fold_thread {
	struct trc_fold_item item;
	struct trc_parks parks;
	uint64_t seen; /* when it was known to be there */
};
enum { TRC_FOLD_OPEN_MAX = 64 }; /* parks of a thread: more of them nobody is in */

/* A wait in progress; key: a number. */
struct trc_fold_park {
	struct trc_fold_item item;
	struct trc_open_park open;
	/* If open.next told of a wait that the block profile has, or of any, when that began; else
	 * open.next. */
	uint64_t next_since, next_any;
	uint64_t seen; /* when it was seen to go on; 0 = it was not */
	uint32_t thread, labels;
	uint32_t nest;	    /* what waits within it lasted; id in nests, 0 = none */
	uint32_t lock_wait; /* id in lock_waits, 0 = none */
	bool told;	    /* not by an event: trc_fold_thread_wait() */
	bool blocked;	    /* profile:L1 */
	bool left_out;
};

/* Waits within a wait: for each view how long they lasted in its window, in ticks. */
struct trc_fold_nest {
	struct trc_fold_item item;
	uint64_t ticks[TRC_VIEWS_MAX];
};

/* The thread's entry, made if there is none; NULL = no room. */
struct trc_fold_thread *trc_fold_thread_get(struct trc_fold *fold, uint32_t thread, uint64_t now);
/* A park that no event told of. */
void trc_fold_park_told(struct trc_fold *fold, const struct trc_fold_event *e);
void trc_fold_thread_event(struct trc_fold *fold, const struct trc_fold_event *e);
/* Adds waits in progress at the end of `copy`'s window to `copy`. */
void trc_fold_waits_so_far(struct trc_fold *fold, struct trc_view *copy);
/* The labels that a thread has now. */
uint32_t trc_fold_labels_of(const struct trc_fold *fold, uint32_t thread);
void trc_fold_waits_mark(struct trc_fold *fold);
/* Counts a wait, of a thread or of a fiber, that is left out of all sums; `blocked` = the block
 * profile would have it. */
void trc_fold_leave_out_wait(struct trc_fold *fold, bool blocked, bool of_thread, uint64_t time);
/* True if a wait for this reason is in the block profile: profile:L1. */
bool trc_fold_is_blocked(unsigned int reason);
/* Count a wait that has ended; and, in a copy, a wait that goes on with no other wait inside of it.
 * A wait in doubt is left out and counted. */
void trc_fold_count_wait(struct trc_fold *fold, const struct trc_fold_park *park, uint64_t end);
void trc_fold_open_so_far(const struct trc_fold *fold, const struct trc_fold_park *park,
			  struct trc_view *copy);

/* ---- fibers.c --------------------------------------------------------------------- */

/* A fiber that waits for something that is in the block profile; key: its number. */
struct trc_fold_fiber {
	struct trc_fold_item item;
	uint32_t thread, stack, labels; /* that left it; where, and with which */
	uint64_t start;
};

void trc_fold_fiber_switch(struct trc_fold *fold, const struct trc_fold_event *e);
void trc_fold_fiber_end(struct trc_fold *fold, uint64_t fiber, uint64_t time);
/* trc_fold_waits_so_far() for the waits of fibers. */
void trc_fold_fibers_so_far(struct trc_fold *fold, struct trc_view *copy);
void trc_fold_fibers_mark(struct trc_fold *fold);

/* ---- locks.c ---------------------------------------------------------------------- */

/* One wait for a lock; key: a number. */
struct trc_fold_lock_wait {
	struct trc_fold_item item;
	struct trc_lock_waiter waiter;
	uint64_t key, object;
	int16_t result;
	bool begun, left_out;
};

struct trc_fold_unlock {
	struct trc_charge_unlock charge;
	uint32_t stack, labels;
};

/* A lock, or the waits to read a rwlock; key: trc_charge_key(). */
struct trc_fold_lock {
	struct trc_fold_item item;
	uint64_t object; /* its address */
	struct trc_waited_lock waited;
	struct trc_fold_unlock last;
	uint32_t gap; /* trc_fold.gaps when it was last looked at */
};

enum trc_fold_lock_step { TRC_FOLD_BEGIN, TRC_FOLD_UNLOCK, TRC_FOLD_END, TRC_FOLD_GAP };

/* An event of one lock, or of all locks (GAP).  At equal times waits begin, then the lock is
 * released, then waits end. */
struct trc_fold_lock_event {
	uint64_t time, order;		/* order: step, then as they came */
	uint64_t key, object;		/* of the lock; its address */
	uint32_t wait;			/* BEGIN, END */
	uint32_t thread, stack, labels; /* UNLOCK */
	uint64_t taken;			/* UNLOCK */
};

/* The id of the wait; 0 = no room, or it is in doubt. */
uint32_t trc_fold_lock_begin(struct trc_fold *fold, uint64_t start, uint64_t object,
			     unsigned int reason, uint32_t holder);
/* The wait's end: its result; -1 = the wait was abandoned. */
void trc_fold_lock_end(struct trc_fold *fold, uint32_t wait, uint64_t end, int result);
void trc_fold_lock_unlock(struct trc_fold *fold, const struct trc_fold_event *e);
void trc_fold_lock_gap(struct trc_fold *fold, uint64_t time);
void trc_fold_locks_pass(struct trc_fold *fold, uint64_t upto);
void trc_fold_locks_mark(struct trc_fold *fold);

/* ---- samples.c -------------------------------------------------------------------- */

/* A sampled object that is live; key: its address, extra: its stack. */
struct trc_fold_live {
	struct trc_fold_item item;
	uint64_t time, bytes, sample;
	uint32_t labels;
	float period;
};

void trc_fold_sample(struct trc_fold *fold, const struct trc_fold_event *e);
void trc_fold_samples_lost(struct trc_fold *fold, const struct trc_fold_event *e);
void trc_fold_alloc(struct trc_fold *fold, const struct trc_fold_event *e);
void trc_fold_free(struct trc_fold *fold, const struct trc_fold_event *e);
/* Adds the objects that are live now to the view, from before its window. */
void trc_fold_live_add(struct trc_fold *fold, struct trc_view *view);
void trc_fold_live_forget(struct trc_fold *fold);
void trc_fold_live_mark(struct trc_fold *fold);
/* 1 - exp(-x), of x >= 0. */
double trc_fold_chance(double x);

/* ---- view.c ----------------------------------------------------------------------- */

struct trc_fold_row {
	struct trc_fold_item item;     /* key: stack and labels */
	double value[TRC_VIEW_VALUES]; /* delays in ticks */
};

struct trc_view {
	struct trc_view_options options;
	uint32_t number;	    /* in trc_fold.view[] */
	uint64_t begin, end;	    /* the end only of a copy; else UINT64_MAX */
	double rate;		    /* BLOCK: in ticks */
	struct trc_fold_table rows; /* struct trc_fold_row */
	uint64_t lost_events, left_out, without_stack;
	uint64_t lost_by_cause[TRC_SAMPLE_LOSS_COUNT]; /* samples */
	uint64_t period;			       /* CPU: of the last sample; 0 = none yet */
	double lost_value, alone_value;		       /* as in struct trc_folded_head */
	size_t memory_bytes;
};

int trc_view_map(struct trc_view **out, const struct trc_view *model);
void trc_view_unmap(struct trc_view *view);
/* Adds to a row; a row without room is left out. */
void trc_view_sum(struct trc_view *view, uint32_t stack, uint32_t labels,
		  const double value[TRC_VIEW_VALUES]);
/* How much of [from, until) lies in the window. */
uint64_t trc_view_clip(const struct trc_view *view, uint64_t from, uint64_t until);
/* A wait of so many ticks; `which` tells it from others. */
void trc_view_add_wait(struct trc_view *view, uint32_t stack, uint32_t labels, uint64_t ticks,
		       uint64_t which);
/* What an unlock ended. */
void trc_view_add_unlock(struct trc_view *view, const struct trc_fold_unlock *unlock,
			 uint64_t object, uint64_t waits, uint64_t ticks);
/* A number in [0, 1) that depends only on the view's seed and on `what`. */
double trc_view_draw(const struct trc_view *view, uint64_t which);

/* ---- copy.c ----------------------------------------------------------------------- */

/* Makes the result of a copied view, which refers to neither fold nor view (F2).  0 or -ENOMEM. */
int trc_folded_make(const struct trc_fold *fold, const struct trc_view *copy,
		    struct trc_folded **out);

/* ---- fold.c ---------------------------------------------------------------------------- */

struct trc_fold {
	struct trc_fold_options options;
	size_t memory_bytes;
	double ns_per_tick;
	uint64_t lag_ticks;
	uint64_t gone_ticks;	/* a thread not seen for so long may have ended unseen */
	uint64_t between_ticks; /* how long after an unlock a wait may still be due to it */

	struct trc_fold_intern stacks, label_sets;
	struct trc_fold_queue queue;
	struct trc_fold_table threads, parks, nests, fibers, lock_waits, locks, live;
	struct trc_fold_lock_event *lock_event; /* a heap */
	uint32_t n_lock_events, max_lock_events;
	uint64_t locks_evicted, threads_evicted; /* ticks: when room was made last */
	uint64_t fibers_evicted;		 /* gap_time as of then */
	uint32_t n_gave_up;			 /* of lock_waits */
	uint64_t numbers; /* given so far: keys, and the order of lock events */

	uint64_t merged;   /* ticks: everything up to there */
	uint64_t gap_time; /* what began before it and has not ended is in doubt */
	/* Events of these times found no room in the queue; 0 = none did that are not merged. */
	uint64_t full_since, full_until;
	uint32_t gaps; /* so far, among what happened to locks */
	uint32_t n_heap_views, n_all_waits_views;
	struct trc_view *view[TRC_VIEWS_MAX]; /* NULL = free */
};

/* Each view: `for (uint32_t i = 0; i < TRC_VIEWS_MAX; i++) if (view = ...)`. */
static inline struct trc_view *trc_fold_view(const struct trc_fold *fold, uint32_t i,
					     enum trc_view_kind kind)
{
	struct trc_view *view = fold->view[i];

	return view && view->options.kind == kind ? view : NULL;
}

/* True if a lost event may have changed a wait of this time. */
static inline bool trc_fold_in_doubt(const struct trc_fold *fold, uint64_t start, uint64_t end)
{
	return start < fold->gap_time ||
	       (fold->full_until && start <= fold->full_until && end >= fold->full_since);
}

/* Counts an entry left out of the sums of this kind, in each view that had begun at that time. */
void trc_fold_leave_out(struct trc_fold *fold, enum trc_view_kind kind, uint64_t time);

#endif
