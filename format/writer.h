/*
 * writer.h - makes a .trc file, section by section, in one pass.
 *
 * The writer gives out the ids of the file.  Strings, stacks, label sets and modules are handed in
 * by content and get dense ids from 1, the same for the whole file.  The writer writes every table
 * entry before the first block of the generation that refers to the entry.  So a file that is cut
 * anywhere is readable up to the cut (format.md, "Generations").
 *
 *   writer:W1  no function here calls malloc, stdio, or any interposed libc function but
 *       the sink: it runs inside other people's processes.  Memory is mapped when
 *       the writer is created, by raw system calls, and is bounded by `memory_bytes`;
 *       pages that are never needed are never touched
 *   writer:W2  a block holds events of one stream, in the order in which they were added
 *   writer:W3  after the sink has failed once, the sink is not called again.  Every later call
 *       returns the sink's error, and events are counted in lost_events
 *   writer:W4  one thread at a time
 */
#ifndef TRC_FORMAT_WRITER_H
#define TRC_FORMAT_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include "schema.h"

struct trc_writer;

/* Takes the file's bytes.  Returns 0 or -errno; the sink itself handles short writes. */
typedef int trc_sink_fn(void *context, const void *bytes, size_t n_bytes);

enum trc_clock_kind {
	TRC_CLOCK_TSC = 1,	     /* x86 time stamp counter */
	TRC_CLOCK_CNTVCT = 2,	     /* aarch64 virtual counter */
	TRC_CLOCK_MONOTONIC_RAW = 3, /* nanoseconds */
};

struct trc_writer_options {
	uint8_t trace_uuid[16];
	enum trc_clock_kind clock;
	uint64_t ticks_per_second;     /* nominal; times are converted by sync points */
	uint32_t n_procs;	       /* highest proc number + 1 */
	uint64_t generation_ns;	       /* the longest generation; 0 = 5 s */
	uint64_t memory_bytes;	       /* 0 = 64 MiB; at least 8 MiB are taken */
	int compression;	       /* LZ4 acceleration; 0 = default */
	uint64_t creation_realtime_ns; /* for the header; 0 = not known */
	/* No trace is wanted: events are counted and forgotten, nothing is encoded, the sink is
	 * never called and may be NULL.  Tables are kept, so that ids can be looked up. */
	bool discard;
};

/* Where a block comes from; the events of each source and proc are ordered in time. */
enum trc_stream_source {
	TRC_SOURCE_RING = 0,	 /* a proc's ring */
	TRC_SOURCE_OVERFLOW = 1, /* the overflow stream: the proc is noted per event */
	TRC_SOURCE_KERNEL = 2,	 /* perf records; times are CLOCK_MONOTONIC_RAW nanoseconds */
};

/* A THREAD argument is a serial; with this bit it is a tid, whose thread the reader finds (format.md,
 * "THREADS"). */
#define TRC_THREAD_IS_TID (UINT64_C(1) << 63)

struct trc_event {
	uint64_t time; /* ticks; for TRC_SOURCE_KERNEL nanoseconds of CLOCK_MONOTONIC_RAW */
	uint32_t thread;
	uint32_t proc;
	uint8_t kind;
	uint8_t source; /* enum trc_stream_source */
	uint16_t text_bytes;
	union { /* ids are the file's; a TEXT argument has no word here */
		uint64_t arg[TRC_ARGS_MAX];
		union trc_args args; /* by name, of this kind */
	};
	const char *text; /* borrowed during the call; not terminated */
};

/* One reading of all clocks, as close together as possible. */
struct trc_sync_point {
	uint64_t ticks;
	uint64_t monotonic_raw_ns;
	uint64_t monotonic_ns;
	uint64_t realtime_ns;
	uint64_t uncertainty_ns; /* how long the reading took */
};

struct trc_thread_entry {
	uint32_t serial; /* never reused in a trace; 1.. */
	uint32_t tid;
	uint32_t creator; /* serial, 0 = not known */
	uint64_t start;	  /* ticks; 0 = before the trace */
	uint64_t end;	  /* ticks; 0 = still there */
	const char *name; /* borrowed during the call; not terminated */
	uint32_t name_bytes;
};

enum { TRC_BUILD_ID_BYTES_MAX = 32 };

struct trc_module_entry {
	uint64_t start, limit; /* addresses of the executable mapping */
	uint64_t file_offset;  /* of `start` in the file */
	uint64_t load_bias;    /* an address less load_bias is the address in the ELF file */
	uint32_t first_epoch;  /* the module counts for stacks of these epochs, both included */
	uint32_t last_epoch;   /* UINT32_MAX = still loaded */
	const char *path;      /* borrowed during the call; zero-terminated */
	uint8_t build_id[TRC_BUILD_ID_BYTES_MAX];
	uint8_t build_id_bytes;
};

/* What a thread was doing when the trace (or generation) ended. */
struct trc_status_entry {
	uint32_t thread;
	uint8_t reason; /* enum trc_reason; 0 = it ran */
	uint32_t holder;
	uint64_t object;
	uint64_t since; /* ticks */
	uint32_t stack;
	uint32_t descriptor; /* string: what the descriptor is, as in a wait event */
};

/* A region that a thread had open when the trace ended. */
struct trc_open_region_entry {
	uint32_t thread;
	uint32_t depth; /* 0 = outermost */
	uint64_t task;	/* 0 = none */
	uint32_t type;	/* string id; 0 = not known any more */
	uint64_t since; /* ticks */
};

/*
 * Which part of a stream the trace has.  A recording has everything, and no such entries; a
 * snapshot covers a window.  Between `from` and `to` nothing is missing, except what gaps count.
 * Events before `from` are in the trace only if the snapshot was to keep everything that the
 * recorder held.
 */
struct trc_coverage_entry {
	uint32_t proc;	   /* UINT32_MAX for the overflow stream */
	uint8_t source;	   /* enum trc_stream_source */
	uint64_t held;	   /* ticks: the oldest that the ring still held; 0 = from its birth */
	uint64_t from, to; /* ticks */
};

/* One label of a set: a string, or a number with a unit. */
struct trc_label {
	const char *key;   /* borrowed during the call; not terminated */
	const char *value; /* the string, or a number's unit ("" = none) */
	uint32_t key_bytes, value_bytes;
	int64_t number;
	bool is_number;
};
enum { TRC_LABELS_MAX = 64 }; /* in one set */

/* The order of two labels in a set, by their keys: < 0, 0, > 0.  Any thread, signal safe. */
static inline int trc_label_order(const struct trc_label *l, const struct trc_label *m)
{
	uint32_t n_bytes = l->key_bytes < m->key_bytes ? l->key_bytes : m->key_bytes;
	int order = memcmp(l->key, m->key, n_bytes);

	return order ? order : (l->key_bytes > m->key_bytes) - (l->key_bytes < m->key_bytes);
}

/* What is, or was, sampled. */
struct trc_sample_event_entry {
	uint32_t event;		  /* its number, from 1; never reused in a trace */
	uint8_t how;		  /* enum trc_sample_how */
	uint64_t period;	  /* 0 = the kernel adjusts it to the frequency */
	uint64_t frequency_hz;	  /* as asked for; 0 = a period was asked for */
	uint64_t missing_threads; /* threads not sampled: no descriptors or memory left */
	const char *name, *unit;  /* "cycles:u", "count"; borrowed during the call; terminated */
	const char
		*note; /* what is worth knowing: "timer instead of cpu-clock: ..."; "" = nothing */
};

/* The labels of a thread when the trace, or its window, ended. */
struct trc_thread_labels_entry {
	uint32_t thread;
	uint32_t labels; /* label set; 0 = none */
};

/* The fiber that a thread ran when the trace, or its window, ended. */
struct trc_thread_fiber_entry {
	uint32_t thread;
	uint64_t fiber; /* its number; 0 = the thread's root fiber */
	uint32_t name;	/* string id; 0 = none, or not known */
};

/* On success *out is the caller's: trc_writer_close() it. */
int trc_writer_open(struct trc_writer **out, const struct trc_writer_options *options,
		    trc_sink_fn *sink, void *context);

/* One line of trace_info.  A later value for a key replaces the earlier one. */
int trc_writer_info(struct trc_writer *w, const char *key, const char *value);
int trc_writer_sync(struct trc_writer *w, const struct trc_sync_point *sync);

/* Tables whose ids the writer makes by content. */
enum trc_writer_table {
	TRC_WRITER_STRINGS = 1,
	TRC_WRITER_STACKS = 2,
	TRC_WRITER_LABEL_SETS = 4,
};
/*
 * These tables have room for tens of thousands of entries.  This function empties tables that are
 * nearly full, between two generations, and returns them as bits: the caller must not use their ids
 * any more. Called between events, by callers that want more entries in one file.
 */
unsigned int trc_writer_make_room(struct trc_writer *w);

/* Ids by content; 0 when the writer is out of memory (counted). */
uint32_t trc_writer_string(struct trc_writer *w, const char *bytes, uint32_t n_bytes);
/* frame[0] is the innermost; return addresses as found on the stack, not adjusted. */
uint32_t trc_writer_stack(struct trc_writer *w, uint32_t epoch, const uint64_t *frame,
			  uint32_t n_frames);
/* The n labels, 1 to TRC_LABELS_MAX, are sorted by key (bytes, as memcmp() does), each key once and
 * no key empty.  0 if they are not, or if there is no room for the set or one of its strings. */
uint32_t trc_writer_label_set(struct trc_writer *w, const struct trc_label *label, uint32_t n);
uint32_t trc_writer_module(struct trc_writer *w, const struct trc_module_entry *module);
/* A module was unloaded: it does not count for stacks of later epochs. */
int trc_writer_module_end(struct trc_writer *w, uint32_t module_id, uint32_t last_epoch);
/* Calls fn for each module that has been added; entries are borrowed during the call. */
void trc_writer_each_module(const struct trc_writer *w,
			    void (*fn)(void *context, const struct trc_module_entry *module),
			    void *context);
/* Adds a thread, or replaces what is known of this serial. */
int trc_writer_thread(struct trc_writer *w, const struct trc_thread_entry *thread);

/*
 * The content of an id, until trc_writer_make_room() empties its table; pointers are borrowed until
 * then.  Returns the number of bytes, frames or labels; 0 = there is no such id, or not any more.
 * A label set's labels are in order.
 */
uint32_t trc_writer_string_of(const struct trc_writer *w, uint64_t id, const char **bytes);
uint32_t trc_writer_stack_of(const struct trc_writer *w, uint64_t id, uint32_t *epoch,
			     const uint64_t **frame);
uint32_t trc_writer_label_set_of(const struct trc_writer *w, uint64_t id,
				 struct trc_label label[TRC_LABELS_MAX]);

/* Adds one event to its stream's block.  Times of one stream never decrease: a time that is earlier
 * than the last becomes the last time, and is counted.  -EINVAL, and the event counts as lost: no
 * such kind, proc or source, or too much text. */
int trc_writer_event(struct trc_writer *w, const struct trc_event *event);
/* trc_writer_event() for an event without text, faster: the caller stores the arguments of the
 * event's kind in order into the returned words, before the next call.  NULL: an error as of
 * trc_writer_event(); the reason is in the totals. */
uint64_t *trc_writer_row(struct trc_writer *w, uint8_t source, uint32_t proc, uint8_t kind,
			 uint32_t thread, uint64_t time);

/* Writes out every block begun (so that a reader of the growing file sees them). */
int trc_writer_flush(struct trc_writer *w);
/* Begins a new generation after flushing, repeating the last sync point; the caller adds one.
 * The writer does so by itself after generation_ns. */
int trc_writer_generation(struct trc_writer *w);
/* Each writes a whole table; a later table replaces it. */
int trc_writer_status(struct trc_writer *w, const struct trc_status_entry *entries, size_t n);
int trc_writer_open_regions(struct trc_writer *w, const struct trc_open_region_entry *entries,
			    size_t n);
/* Names, units and notes longer than 255 bytes are cut.  -EINVAL, and nothing is written: an
 * entry whose event is 0. */
int trc_writer_sample_events(struct trc_writer *w, const struct trc_sample_event_entry *entries,
			     size_t n);
int trc_writer_thread_labels(struct trc_writer *w, const struct trc_thread_labels_entry *entries,
			     size_t n);
int trc_writer_thread_fibers(struct trc_writer *w, const struct trc_thread_fiber_entry *entries,
			     size_t n);
/* A `to` before `from` becomes `from`: nothing is covered.  -EINVAL, and nothing is written:
 * no such proc or source. */
int trc_writer_coverage(struct trc_writer *w, const struct trc_coverage_entry *entries, size_t n);

/* Counts strings, stacks, ... that found no room in the caller's own tables.  The trace's END
 * section counts them together with those that found no room in the writer's tables. */
void trc_writer_had_no_room(struct trc_writer *w, uint64_t n);

struct trc_writer_totals {
	/* events: accepted and not lost since; events + lost_events = events handed in. */
	uint64_t events, blocks, generations, file_bytes, lost_events;
	uint64_t clamped_times; /* events with an earlier time than the event before */
	/* Strings, stacks, label sets, modules, threads that found no room. */
	uint64_t table_full;
	int error; /* 0, or what the sink returned first */
};
void trc_writer_totals(const struct trc_writer *w, struct trc_writer_totals *totals);

/* Flushes, writes the END section and the index.  The writer stays until trc_writer_close(), but
 * takes nothing more (-EBADF). */
int trc_writer_finish(struct trc_writer *w);
/* Frees; writes nothing.  Accepts NULL. */
void trc_writer_close(struct trc_writer *w);

#endif
