/* private.h - declarations that the parts of the drain share. */
#ifndef TRC_RECORDER_DRAIN_PRIVATE_H
#define TRC_RECORDER_DRAIN_PRIVATE_H

#include <stdbool.h>
#include "recorder/shared/cpu_event.h"
#include "drain.h"
#include "otel_service.h"

/* How arguments of a kind are translated: bit i is argument i. */
struct trc_drain_plan {
	uint8_t n_args;
	bool known, plain; /* plain: the words go into the file as they are */
	bool light;	   /* not plain, and nothing else is to be done but to translate ids */
	bool has_text;
	uint8_t threads, tasks, strings, stacks, labels;
	uint8_t samples; /* numbers of sampled allocations */
	uint8_t fibers;	 /* numbers of fibers */
};

/* A map from ids of the ring to ids of the file.  Ring ids are never reused (layout:L3), so an
 * entry stays right.  The map is emptied when it is three quarters full. */
struct trc_id_map {
	struct trc_id_pair {
		uint64_t ring_id; /* 0 = free */
		uint32_t file_id;
	} * pair;
	uint32_t mask, used;
};

/* Which thread has a tid, and which thread had the tid before.  When `entry` is full, it becomes
 * `before`: events that are drained later in the same pass may still name a thread whose slot
 * another thread has taken.  If `entry` becomes full twice in a pass, both grow. */
struct trc_tid_map {
	struct trc_tid_entry {
		uint32_t tid; /* 0 = free */
		uint32_t serial, before_serial;
		uint32_t first_lacks; /* of `serial`, as its slot told */
		uint64_t start, before_end;
		uint64_t ended, before_ended; /* as their slots told; 0 = not told */
		uint64_t counts;	      /* of `serial`: first_samples.c */
	} * entry, *before;
	uint32_t mask, used;
	uint64_t since; /* `looked` of the pass in which they became full last */
	void *pages;	/* memory of both, if it is no longer the drain's own memory */
	size_t pages_bytes;
};

/* One ordered stream of events on its way into the file. */
struct trc_drain_stream {
	uint64_t last_time;
	uint64_t lost_seen; /* of the stream's lost_total */
	uint64_t
		lost_before; /* window: after the last event before it; on which side is not known */
	uint64_t held;	     /* kernel records from before these ticks were overwritten */
	uint32_t proc;
	uint32_t last_serial; /* of the last event's thread */
	bool seen;	      /* kernel records came, wanted or not */
	bool lost_known;      /* lost_seen is right: not so before the first gap record of a copy */
	uint8_t source;	      /* enum trc_stream_source */
};

struct trc_drain_ring {
	struct trc_drain_stream stream;
	uint64_t pos;	  /* words before it were drained */
	uint64_t skip_to; /* > pos: the words up to there are not records */
	uint64_t head;	  /* as of the beginning of the pass */
	uint64_t lost;	  /* likewise: its lost_total */
	bool broken;	  /* its counters make no sense: the ring is left alone */
};

struct trc_drain_cells {
	struct trc_drain_stream stream;
	uint64_t pos;
	uint64_t stuck_since_ns; /* since when an uncommitted cell stands at pos; 0 = none */
	uint64_t stuck_head;
	bool lost_begin; /* the first cells may belong to a record that began before them */
};

struct trc_drain_slot {
	uint32_t serial, seq; /* as of the last look; serial 0 = not looked at */
	uint32_t ended;	      /* the serial of a thread whose end has been told */
	uint64_t name[TRC_THREAD_NAME_BYTES / 8];
};

/* A consistent copy of a thread's slot. */
struct trc_slot_copy {
	uint32_t serial, tid, creator, reason;
	uint32_t slot, seq, last_is_sample, first_lacks;
	uint64_t last_stack, last_ticks;
	struct trc_registers from;
	uint64_t start, end, object, since, stack, holder, labels, creation;
	uint64_t fiber, fiber_name;
	uint32_t name_bytes;
	uint64_t name[TRC_THREAD_NAME_BYTES / 8];
};

/* A thread with a slot, in a window: its last park and the last end of a wait. */
struct trc_drain_watch {
	uint32_t serial; /* 0 = free */
	uint32_t reason, holder, stack;
	uint64_t park_time, wait_end_time; /* ticks; 0 = none in the window */
	uint64_t object;
	uint64_t labels_time; /* of its last change of labels in the window; 0 = none */
	uint32_t labels;      /* from then on; the file's id */
	uint32_t fiber_name;  /* likewise */
	uint64_t fiber_time;  /* of its last switch of fibers in the window; 0 = none */
	uint64_t fiber;	      /* from then on; the file's number */
};

/* A thread that is written to the file only if an event in the window names it. */
struct trc_drain_past {
	struct trc_slot_copy thread; /* serial 0 = free; serials are the file's */
	bool told;
};

enum {
	TRC_DRAIN_KERNEL_MODULES = 256,
	TRC_DRAIN_STACKS_LOOKED_AT = 4096,
	/* The number of the first event that the kernel samples: the process's own are below. */
	TRC_DRAIN_KERNEL_EVENT = TRC_SAMPLE_EVENTS_MAX + 1,
};

/* Threads by serial.  Grows: there may be as many as THREAD_START events in the rings. */
struct trc_past_map {
	struct trc_drain_past *entry; /* NULL = empty */
	uint32_t mask, used;
};

struct trc_drain {
	struct trc_shared *shared;
	struct trc_shared h; /* the checked copy: sizes and offsets are read here only */
	struct trc_writer *w;
	struct trc_drain_options options;
	struct trc_drain_plan plan[TRC_KIND_MAX + 1];

	struct trc_drain_ring *ring;	 /* [n_procs] */
	struct trc_drain_stream *kernel; /* [n_procs]; times in nanoseconds */
	struct trc_drain_cells cells;
	struct trc_drain_slot *slot;	 /* [n_threads] */
	uint32_t *module_id;		 /* [n_modules]; 0 = not written yet */
	bool *module_ended;		 /* [n_modules] */
	uint32_t *module_open;		 /* [n_modules]; last epoch in which a look found it open */
	uint32_t *module_state;		 /* [n_modules]; as of the last look (layout:X1) */
	uint32_t modules_full;		 /* likewise; told */
	struct trc_status_entry *status; /* [n_threads] */
	uint32_t n_status;
	struct trc_thread_labels_entry *thread_labels; /* [n_threads] */
	uint32_t n_thread_labels;
	struct trc_thread_fiber_entry *thread_fibers; /* [n_threads] */
	uint32_t n_thread_fibers;
	struct trc_id_map stacks, strings, label_sets;
	struct trc_tid_map tids;
	bool had_room;	 /* in the writer's tables: nothing was added to them since the last look */
	uint64_t *words; /* [page_words]: what is being looked at */

	uint64_t cells_head; /* of the overflow stream, as of the beginning of the pass */
	uint64_t cells_lost; /* its lost_total, from before cells_head */
	uint64_t now;	     /* ticks, later than any record of this pass */
	uint64_t looked;   /* ticks: the records of this pass, and before it, are all up to there */
	uint64_t earliest; /* ticks, before any record */
	uint64_t joined;   /* ticks when this trace began on a ring in use; 0 = it is all of it */
	uint64_t opened;   /* ticks of trc_drain_open(): no kernel record can be missing since */
	uint32_t max_serial;	    /* of the mapping, as of this pass */
	uint64_t max_sample;	    /* of the allocations that have come */
	uint32_t fullest;	    /* as of the beginning of the pass */
	bool final;		    /* nothing more will be committed */
	bool goes_on;		    /* after another drain, with nothing missing in between */
	struct trc_sync_point left; /* what was left to be drained came after that */
	uint32_t slots_full, slots_full_before; /* of the mapping, as of this pass and the last */

	/* A window: events of [from, from + span] are wanted.  Without: all of them. */
	bool windowed;
	uint64_t from, span, to;
	const uint64_t *regions_fiber; /* struct trc_drain_window */
	struct trc_drain_watch *watch; /* [watch_mask + 1]; by serial */
	uint32_t watch_mask;
	struct trc_past_map past;

	struct {
		uint64_t missing_threads, lost[TRC_SAMPLE_LOSS_COUNT];
		bool told;
	} sampled[TRC_SAMPLE_EVENTS_MAX]; /* as of the last look */
	bool own_sigprof_told;
	uint64_t used_ns; /* CPU time that the process has used, which has ended; 0 = not known */

	uint32_t epoch;					   /* of modules, as of the last look */
	const struct trc_sample_event_entry *kernel_event; /* [n_kernel_events] */
	uint32_t n_kernel_events;
	bool kernel_events_told;
	int64_t first_ns[TRC_CPU_EVENTS_MAX]; /* trc_drain_first_ns() */
	/* Modules that no recorded stack of the process has led to, some of the latest.  Each is
	 * valid for the epochs from the first to the last in which it was met. */
	struct trc_drain_kernel_module {
		uint64_t start, limit, mapped_ns;
		uint32_t id, first_epoch, epoch;
		bool ended; /* for the file */
	} * kernel_module;  /* [TRC_DRAIN_KERNEL_MODULES] */
	uint32_t n_kernel_modules;
	uint32_t *stack_looked_at; /* [TRC_DRAIN_STACKS_LOOKED_AT]: some of them */

	const struct trc_drain_observer *observer; /* NULL = none */
	uint64_t row[TRC_ARGS_MAX]; /* arguments that the writer does not take, for the observer */

	struct trc_otel_asking service; /* the name of the process's service */

	uint64_t flushed_ns, unflushed; /* last flush; events since */
	struct trc_sync_point sync;
	struct trc_drain_totals totals;
	uint64_t memory_bytes; /* of this structure and all arrays */
};

/* ---- record.c ---- */

void trc_drain_plan_init(struct trc_drain *d);
/* Checks the record at word[0..n) and hands it to the writer.  Returns the record's number of
 * words; 0 if the record is damaged. */
uint32_t trc_drain_record(struct trc_drain *d, struct trc_drain_stream *s, const uint64_t *word,
			  uint32_t n);
/* Makes a gap event, if there are lost events. */
void trc_drain_gap(struct trc_drain *d, struct trc_drain_stream *s, uint64_t lost_events,
		   uint64_t since, enum trc_gap_cause cause);

/* Where the arguments of an event without a text go, the struct trc_args_... of its kind; NULL =
 * neither writer nor observer takes them.  When they are stored there, call
 * trc_drain_row_done(). */
static inline void *trc_drain_row(struct trc_drain *d, const struct trc_drain_stream *s,
				  uint8_t kind, uint32_t thread, uint64_t time)
{
	uint64_t *arg = trc_writer_row(d->w, s->source, s->proc, kind, thread, time);

	return arg || !d->observer ? arg : d->row;
}

void trc_drain_observe_row(struct trc_drain *d, const struct trc_drain_stream *s, uint8_t kind,
			   uint32_t thread, uint64_t time, const void *arg);
static inline void trc_drain_row_done(struct trc_drain *d, const struct trc_drain_stream *s,
				      uint8_t kind, uint32_t thread, uint64_t time, const void *arg)
{
	if (__builtin_expect(d->observer != NULL, 0))
		trc_drain_observe_row(d, s, kind, thread, time, arg);
}

/* The serial of a serial in the ring, or of a tid with TRC_THREAD_IS_TID; 0 = not known. */
uint32_t trc_drain_thread_of(struct trc_drain *d, uint64_t value, uint64_t time);
/* A THREAD argument of the ring: the serial in the file. */
uint32_t trc_drain_thread_argument(struct trc_drain *d, uint64_t value, uint64_t time);

/* ---- sample.c ---- */

/* Writes the name of the process's service as soon as the process publishes it.  `last`: the
 * process may soon be gone. */
void trc_drain_service(struct trc_drain *d, bool last);

/* ---- overflow.c ---- */
uint64_t trc_drain_overflow(struct trc_drain *d);

/* ---- window.c ---- */

/* The place of this serial in the table of watched threads: its own, or a free one. */
struct trc_drain_watch *trc_drain_watch_find(struct trc_drain *d, uint32_t serial);
/* A record outside the window: only what it says about threads and losses is used. */
void trc_drain_outside(struct trc_drain *d, struct trc_drain_stream *s, const struct trc_event *e);
/* The first event of a stream in the window comes: losses whose place was not known come before
 * it. */
void trc_drain_window_enter(struct trc_drain *d, struct trc_drain_stream *s);
/* An event in the window names this thread. */
void trc_drain_past_named(struct trc_drain *d, uint32_t serial);
/* An event in the window, by the thread e->thread. */
void trc_drain_watch_event(struct trc_drain *d, const struct trc_event *e);

/* Writes the open regions that began no later than d->to. */
void trc_drain_open_regions(struct trc_drain *d);

/* ---- tables.c ---- */

/* Between events: makes room in the writer's tables, so that the next event does not find them
 * full. Not for a window, which is bounded, and keeps ids from one event to another. */
void trc_drain_make_more_room(struct trc_drain *d);
static inline void trc_drain_make_room(struct trc_drain *d)
{
	if (__builtin_expect(!d->had_room, 0))
		trc_drain_make_more_room(d);
}
uint32_t trc_drain_stack(struct trc_drain *d, uint64_t ring_id);
uint32_t trc_drain_string(struct trc_drain *d, uint64_t ring_id);
uint32_t trc_drain_labels(struct trc_drain *d, uint64_t ring_id);
/* The id of a label set from its bytes as they lie in the ring; 0 = the bytes are no set. */
uint32_t trc_drain_labels_of(struct trc_drain *d, const char *bytes, uint32_t n_bytes);
/* Reads the module table. */
void trc_drain_modules(struct trc_drain *d);
/* The process executed another program: its modules are gone. */
void trc_drain_modules_end(struct trc_drain *d);

/* ---- threads.c ---- */

/* Reads the slots of threads, and frees those of threads that have ended. */
void trc_drain_slots(struct trc_drain *d);
/* What each thread is doing, at the end. */
void trc_drain_status(struct trc_drain *d);
/* Adds findings about a wait that is not announced: somebody may have looked at the thread
 * meanwhile. */
void trc_drain_status_found(struct trc_drain *d, struct trc_status_entry *e,
			    const struct trc_slot_copy *copy);
/*
 * Notes which labels each thread has, and which fiber it runs, before a last pass.  If these change
 * later, or changed earlier in the trace, the thread has an event that says so.
 */
void trc_drain_look_at_threads(struct trc_drain *d);
void trc_drain_thread_labels_add(struct trc_drain *d, uint32_t thread, uint32_t labels);
/* With the file's number of the fiber and id of its name; a root fiber is not added. */
void trc_drain_thread_fiber_add(struct trc_drain *d, uint32_t thread, uint64_t fiber,
				uint32_t name);
/* Writes what was noted. */
void trc_drain_threads_at_end(struct trc_drain *d);
/* For a mapping that does not change any more. */
void trc_drain_slot_copy(const struct trc_drain *d, uint32_t i, struct trc_slot_copy *copy);
void trc_drain_thread_write(struct trc_drain *d, const struct trc_slot_copy *copy, uint64_t end);
void trc_drain_tid_enter(struct trc_drain *d, uint32_t tid, uint32_t serial, uint64_t start,
			 uint64_t end);
/* Of which events this thread, which has its tid, takes no first samples. */
void trc_drain_tid_lacks(struct trc_drain *d, const struct trc_slot_copy *copy);
/* What was counted of the thread that has this tid now, to be counted on; NULL = the thread is not the
 * latest with this tid, began before `since`, or takes no first samples of the mapping's event
 * i. */
uint64_t *trc_drain_tid_counts(struct trc_drain *d, uint32_t tid, uint32_t serial, uint64_t since,
			       uint32_t i);
/* True if it is known by now which thread had the tid at that time.  If false, a thread that had
 * the tid then may still make itself known. */
bool trc_drain_tid_is_settled(const struct trc_drain *d, uint32_t tid, uint64_t ticks);
void trc_drain_tids_free(struct trc_tid_map *map);
/* The process executed another program: its threads are gone. */
void trc_drain_threads_end(struct trc_drain *d);
/* Makes a thread without a slot known. */
void trc_drain_thread_seen(struct trc_drain *d, uint32_t serial, uint32_t tid, uint32_t creator,
			   uint64_t start);

/* ---- sample.c ---- */

/* Writes what is sampled, if this has changed since the last time, and losses that no event
 * reported. */
void trc_drain_sample_events(struct trc_drain *d);
/* A trace that joins a ring in use does not count earlier losses.  `left` is the drain after which
 * the new drain goes on. */
void trc_drain_sample_begin(struct trc_drain *d, const struct trc_drain *left);

/* ---- first_samples.c ---- */

/* The value of a thread's nth sample by the kernel, from 1, as this thread took first samples. */
static inline uint64_t trc_drain_value_after_first(uint32_t nth, uint64_t value)
{
	return nth < TRC_CPU_FIRST_SAMPLES ? 0 : nth == TRC_CPU_FIRST_SAMPLES ? value / 2 : value;
}

/* True if entry i of the mapping's table is about threads' first samples of the kernel's event
 * *kernel. */
bool trc_drain_is_first_event(const struct trc_drain *d, uint32_t i, uint32_t *kernel);
/* A sample, or lost ones: first samples of an event that the kernel samples get this event's number. */
void trc_drain_first_sample(struct trc_drain *d, struct trc_event *event);
/* The value that a sample of the kernel's has in the trace; 0 = the thread's own stand for it. */
uint64_t trc_drain_kernel_value(struct trc_drain *d, const struct trc_perf_record *r,
				uint32_t thread);

/* ---- ids ---- */

static inline uint64_t trc_drain_hash(uint64_t n)
{
	n *= UINT64_C(0x9e3779b97f4a7c15);
	return n ^ n >> 32;
}

/* Reads the highest serial of a thread. */
static inline void trc_drain_see_serials(struct trc_drain *d)
{
	d->max_serial = atomic_load_explicit(&d->shared->next_serial, memory_order_relaxed);
	if (d->max_serial > INT32_MAX)
		d->max_serial = INT32_MAX;
}

static inline uint32_t trc_drain_serial(const struct trc_drain *d, uint64_t serial)
{
	return serial && serial <= d->max_serial ? (uint32_t)serial + d->options.serial_base : 0;
}

static inline uint64_t trc_drain_fiber(const struct trc_drain *d, uint64_t number)
{
	return number ? number + d->options.fiber_base : 0;
}

static inline struct trc_ring *trc_ring_of(const struct trc_drain *d, uint32_t proc)
{
	return (struct trc_ring *)trc_area(d->shared, d->h.procs_off) + proc;
}

static inline struct trc_slot *trc_slot_of(const struct trc_drain *d, uint32_t i)
{
	return (struct trc_slot *)trc_area(d->shared, d->h.threads_off) + i;
}

/* ---- kernel.c ---- */

/* Notes the current module epoch. */
void trc_drain_look_at_epoch(struct trc_drain *d);
/* Modules that were written for the kernel's samples are valid up to the last epoch in which a
 * sample met them. */
void trc_drain_kernel_modules_end(struct trc_drain *d);
/* The process's own table has this module as well, from the same epoch on: the module is still
 * loaded, and the process's table tells its end. */
void trc_drain_kernel_module_taken(struct trc_drain *d, uint32_t id);
/* The events that the kernel samples, as entries of the trace's table.  Returns the number of
 * entries. */
uint32_t trc_drain_kernel_entries(const struct trc_drain *d,
				  struct trc_sample_event_entry entry[TRC_CPU_EVENTS_MAX]);

/* ---- starts.c ---- */

/* Enters the ids of new threads without a slot, before the rings are drained. */
void trc_drain_starts(struct trc_drain *d);

/* ---- drain.c ---- */

/* Before anything else in a pass: notes the records committed so far.  False: there are none, or
 * none of use. */
bool trc_drain_ring_look(struct trc_drain *d, uint32_t proc);

/* Hands over the records in word[0..n), which end at the page's end or at head. */
void trc_drain_words(struct trc_drain *d, struct trc_drain_ring *r, const uint64_t *word,
		     uint64_t n, uint64_t page_end);
/* Gives up the rest of a page. */
void trc_drain_lose_page(struct trc_drain *d, struct trc_drain_ring *r, uint64_t page_end);

/* Wakes writers that wait for room, after tail was stored. */
void trc_drain_wake(_Atomic uint32_t *waiters, _Atomic uint32_t *space);
uint64_t trc_drain_raw_ns(void);

#endif
