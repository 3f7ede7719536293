/*
 * reader.h - opens a .trc file, and checks everything in it.
 *
 * The file is mapped.  Opening walks all sections, checks and merges the tables, and compares
 * checksums; a block is decoded when it is asked for, column by column.
 *
 *   reader:D1  no byte of the file is used as a length, count, offset or id before it has
 *       been checked against what is left, and against a limit
 *   reader:D2  a file cut short or damaged later on is readable up to the damage:
 *       trc_reader_open() succeeds and trc_reader_warning() says what is missing
 *   reader:D3  a reader is read-only after open: trc_reader_load() may be called by
 *       several threads at once
 *   reader:D4  ids that trc_reader_load() hands out are checked: an id without a table
 *       entry is given as 0 (and counted in `dangling_ids`)
 *   reader:D5  a block whose bytes have changed since they were written has one event instead of
 *       its own: a `gap` of cause `damaged`, at the block's end, with their number and time.
 *       trc_reader_warning() tells of the block
 */
#ifndef TRC_FORMAT_READER_H
#define TRC_FORMAT_READER_H

#include <stddef.h>
#include <stdint.h>
#include "schema.h"
#include "writer.h" /* the entries of tables, enum trc_stream_source */

struct trc_reader;

struct trc_error {
	char text[256]; /* "block 17: checksum mismatch": without the file's name */
};

/* On success *out is the caller's.  On failure -errno, *out untouched, error->text says why
 * in one line.  -EBADMSG: not a .trc file or damaged; -ENOTSUP: a newer major version. */
int trc_reader_open(struct trc_reader **out, const char *path, struct trc_error *error);
/* trc_reader_open() over bytes that stay the caller's until trc_reader_close(). */
int trc_reader_open_memory(struct trc_reader **out, const void *bytes, size_t n_bytes,
			   struct trc_error *error);
void trc_reader_close(struct trc_reader *r); /* accepts NULL */

/* NULL, or one line on what is damaged or missing. Borrowed until close. */
const char *trc_reader_warning(const struct trc_reader *r);

struct trc_file_info {
	uint16_t major, minor;
	uint8_t trace_uuid[16];
	enum trc_clock_kind clock;
	uint64_t ticks_per_second;
	uint32_t n_procs;
	uint64_t file_bytes;
	uint64_t n_events, n_blocks, n_generations;
	uint64_t creation_realtime_ns; /* 0 = not known */
	uint64_t schema_hash;
	/* What the END section says the writer lost: events, entries of full tables. */
	uint64_t lost_events, table_full;
	/* Trace time 0 is the first sync point. */
	uint64_t start_monotonic_ns, start_monotonic_raw_ns, start_realtime_ns;
	int64_t first_ns, last_ns; /* of all events; trace time */
	int64_t last_sync_ns;	   /* of the last sync point; 0 without any */
	/* Found when it was opened, and by the trc_reader_load() calls so far; each once. */
	uint64_t dangling_ids;
	bool complete; /* has its END section */
	bool has_end_totals;
	bool cut_off; /* it ends early, undamaged; if complete, only the index is missing */
	/* Of rings and the overflow stream, every event from before this is in the file;
	 * INT64_MAX if complete, INT64_MIN if nothing is known. */
	int64_t whole_until_ns;
};
const struct trc_file_info *trc_reader_info(const struct trc_reader *r);

/* The description of a kind: this library's or, of a kind that this library does not know, the
 * file's.  If neither knows the kind, the description has no name.  Borrowed until close.  An
 * argument of an unknown type is given as U64.  Arguments beyond TRC_ARGS_MAX are not shown. */
const struct trc_kind_info *trc_reader_kind(const struct trc_reader *r, unsigned int kind);
/* The name of a reason, by this library or by the file; "?" if neither knows the reason. */
const char *trc_reader_reason_name(const struct trc_reader *r, unsigned int reason);

size_t trc_reader_info_count(const struct trc_reader *r);
void trc_reader_info_at(const struct trc_reader *r, size_t i, const char **key, const char **value);
/* The value of a key, or NULL. */
const char *trc_reader_info_get(const struct trc_reader *r, const char *key);

/* Ticks of a trace to nanoseconds of trace time, through the sync points; never decreasing. */
int64_t trc_reader_ns(const struct trc_reader *r, uint64_t ticks);
/* The trace time at which CLOCK_REALTIME showed this value.  Counts from the last sync point at
 * which CLOCK_REALTIME showed this value or less: CLOCK_REALTIME may have been set, and runs at
 * another rate.  0 without any sync point. */
int64_t trc_reader_at_realtime(const struct trc_reader *r, uint64_t realtime_ns);
/* The sync points in their order: the trace time of each, and the CLOCK_REALTIME there. */
size_t trc_reader_syncs(const struct trc_reader *r);
int64_t trc_reader_sync_ns(const struct trc_reader *r, size_t i, uint64_t *realtime_ns);

/* Tables, merged over generations.  Strings are not terminated... */
size_t trc_reader_strings(const struct trc_reader *r); /* highest id + 1 */
/* ... NULL for an id without an entry. */
const char *trc_reader_string(const struct trc_reader *r, uint32_t id, uint32_t *n_bytes);

struct trc_stack_view {
	uint32_t epoch, n_frames;
	const uint64_t *frame; /* innermost first; return addresses as found */
};
size_t trc_reader_stacks(const struct trc_reader *r); /* highest id + 1 */
int trc_reader_stack(const struct trc_reader *r, uint32_t id, struct trc_stack_view *view);

/* By index 0..n-1, sorted by serial. */
size_t trc_reader_threads(const struct trc_reader *r);
const struct trc_thread_entry *trc_reader_thread(const struct trc_reader *r, size_t i);
/* By id 1..n; index 0 is unused. */
size_t trc_reader_modules(const struct trc_reader *r); /* highest id + 1 */
const struct trc_module_entry *trc_reader_module(const struct trc_reader *r, uint32_t id);
/* The last status table in the file. */
size_t trc_reader_status(const struct trc_reader *r, const struct trc_status_entry **entries);
/* The last tables of open regions and of coverage in the file.  In each coverage entry the proc is
 * below n_procs or is UINT32_MAX, the source is one of enum trc_stream_source, and from <= to. */
size_t trc_reader_open_regions(const struct trc_reader *r,
			       const struct trc_open_region_entry **entries);
size_t trc_reader_coverage(const struct trc_reader *r, const struct trc_coverage_entry **entries);

/* Label sets, merged over generations, by id 1..n. */
size_t trc_reader_label_sets(const struct trc_reader *r); /* highest id + 1 */
/* The labels of a set, sorted by key; no set is empty.  Labels and strings are borrowed until
 * close.  -ENOENT: no such set, *label untouched. */
int trc_reader_label_set(const struct trc_reader *r, uint32_t id, const struct trc_label **label,
			 uint32_t *n);
/* Whether two ids stand for the same labels: a set that left the writer's table and came back has
 * two ids.  0 is the set without labels.  An id without an entry equals only itself. */
bool trc_reader_same_labels(const struct trc_reader *r, uint64_t a, uint64_t b);
/* The last tables in the file; names, units and notes are terminated and stay until close.  An
 * event is never 0, but an event may have two entries.  Ids of label sets and of fibers' names are
 * 0 or have an entry. */
size_t trc_reader_sample_events(const struct trc_reader *r,
				const struct trc_sample_event_entry **entries);
size_t trc_reader_thread_labels(const struct trc_reader *r,
				const struct trc_thread_labels_entry **entries);
size_t trc_reader_thread_fibers(const struct trc_reader *r,
				const struct trc_thread_fiber_entry **entries);

struct trc_block_info {
	uint32_t proc; /* TRC_PROC_PER_EVENT: see trc_columns.proc */
	uint8_t source;
	uint32_t generation;
	uint32_t n_events;
	int64_t first_ns, last_ns;
	uint64_t file_off, file_bytes;
	bool damaged; /* D5 */
	/* Events by kind; known without decoding a column. */
	const uint32_t *kind_count; /* [TRC_KIND_MAX + 1] */
};
enum { TRC_PROC_PER_EVENT = UINT32_MAX };
size_t trc_reader_blocks(const struct trc_reader *r);
const struct trc_block_info *trc_reader_block(const struct trc_reader *r, size_t i);

/* A decoded block.  Row i is event i; the arguments of an event are found through its rank
 * among the events of its kind: arg[kind][a][rank]. */
struct trc_columns {
	uint32_t n_events;
	const uint8_t *kind;	/* [n_events] */
	const int64_t *time_ns; /* [n_events], trace time */
	const uint32_t *thread; /* [n_events] */
	const uint32_t *proc;	/* [n_events], always filled in */
	const uint32_t *rank;	/* [n_events]: position among the events of the same kind;
				    there if the kinds or arguments were asked for */
	/* [kind] -> [argument, up to TRC_ARGS_MAX] -> values; NULL where the block has none or
	 * none was asked for (also of a TEXT argument; and of one that is younger than the file).
	 * TICKS arguments have been turned into trace time (as int64_t bits). */
	const uint64_t *const *arg[TRC_KIND_MAX + 1];
	/* For the TEXT argument of a kind: bytes of event `rank` are
	 * text[kind] + text_off[kind][rank] up to text_off[kind][rank + 1]. */
	const char *text[TRC_KIND_MAX + 1];
	const uint32_t *text_off[TRC_KIND_MAX + 1];
};

enum trc_want {
	TRC_WANT_KIND = 1 << 0,
	TRC_WANT_TIME = 1 << 1,
	TRC_WANT_THREAD = 1 << 2,
	TRC_WANT_PROC = 1 << 3,
	TRC_WANT_ARGS = 1 << 4, /* of the kinds in the mask */
	TRC_WANT_ALL = 31,
};
struct trc_kind_mask {
	uint64_t bits[4];
};
/* Decodes block i.  *out is the caller's: trc_columns_free() it.  `kinds` NULL = all. */
int trc_reader_load(const struct trc_reader *r, size_t i, unsigned int want,
		    const struct trc_kind_mask *kinds, struct trc_columns **out,
		    struct trc_error *error);
void trc_columns_free(struct trc_columns *columns);

/* Sections of no known type, skipped (a newer minor version's). */
uint64_t trc_reader_unknown_sections(const struct trc_reader *r);

#endif
