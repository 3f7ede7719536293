/*
 * reader_private.h - a reader's inside, shared by reader*.c, block_head.c and block_decode.c.
 *
 *   reader_private:I1  functions that parse return 0, -EBADMSG (damage: entries before the damage
 *       stay) or -ENOMEM, and leave no change of the reader half done
 *   reader_private:I2  memory that grows with the file grows by a bounded amount for each byte of
 *       the file
 */
#ifndef TRC_FORMAT_READER_PRIVATE_H
#define TRC_FORMAT_READER_PRIVATE_H

#include "clockmap.h"
#include "reader.h"
#include "varint.h"
#include "wire.h"

/* Memory that lives as long as the reader. */
struct trc_owned {
	struct trc_owned *next;
	uint8_t bytes[];
};

struct trc_info_entry {
	const char *key, *value;
};

struct trc_string_view {
	const uint8_t *bytes; /* NULL: no such entry */
	uint32_t n_bytes;
};

struct trc_stack_place {
	size_t frame_idx;
	uint32_t epoch;
	uint16_t n_frames;
	bool present;
};

struct trc_label_set_place {
	size_t label_idx;
	uint32_t n;	      /* of labels */
	const uint8_t *bytes; /* its entry behind the id; NULL: no such entry */
	uint32_t n_bytes;
};

/* A block as trc_reader_load() finds it. */
struct trc_block {
	struct trc_block_info info;
	const uint8_t *payload;
	size_t payload_bytes;
	uint64_t first, last;  /* as in the file: ticks or nanoseconds */
	uint64_t dangling_ids; /* the most that one load has found; atomic */
	uint32_t n_lost;       /* events that it had, if it is damaged */
};

/* An array that grows. */
#define TRC_VECTOR(type)                                                                           \
	struct {                                                                                   \
		type *at;                                                                          \
		size_t n, room;                                                                    \
	}

struct trc_reader {
	const uint8_t *bytes;
	size_t n_bytes;
	bool mapped;
	bool has_schema, has_end;
	struct trc_file_info info;
	char warning[256];
	uint64_t unknown_sections;
	size_t read_bytes;	     /* of the file: up to the end of the section that is parsed */
	uint64_t n_entries, n_parts; /* of all tables so far, those that came again too */
	struct trc_owned *owned;
	struct trc_kind_info kind[TRC_KIND_MAX + 1];
	const char *reason[256];
	uint64_t end_events, end_blocks;
	struct trc_clockmap clock;
	TRC_VECTOR(struct trc_info_entry) infos;
	TRC_VECTOR(struct trc_sync_point) syncs;
	TRC_VECTOR(struct trc_string_view) strings; /* by id; n is the highest + 1, or 0 */
	TRC_VECTOR(struct trc_stack_place) stacks;
	TRC_VECTOR(uint64_t) frames;
	TRC_VECTOR(struct trc_thread_entry) threads;
	uint32_t *by_tid; /* [threads.n], indices of threads, by tid, then by serial */
	TRC_VECTOR(struct trc_module_entry) modules;
	TRC_VECTOR(struct trc_status_entry) status;
	TRC_VECTOR(struct trc_open_region_entry) open_regions;
	TRC_VECTOR(struct trc_coverage_entry) coverage;
	TRC_VECTOR(struct trc_label_set_place) label_sets; /* by id, as strings */
	TRC_VECTOR(struct trc_label) labels;
	TRC_VECTOR(struct trc_sample_event_entry) sample_events;
	TRC_VECTOR(struct trc_thread_labels_entry) thread_labels;
	TRC_VECTOR(struct trc_thread_fiber_entry) thread_fibers;
	TRC_VECTOR(struct trc_block) blocks;
	TRC_VECTOR(uint32_t) kind_counts; /* [n_blocks][TRC_KIND_MAX + 1] */
	TRC_VECTOR(uint64_t) generation_offs;
	/* A bit for each serial with an entry, up to serial_bits; beyond that: search. */
	uint8_t *serial_present;
	uint32_t serial_bits;
};

/* The array `at`, moved if need be: `more` elements fit behind its n elements.  NULL if there is no
 * memory; `at` is then unchanged. */
void *trc_vector_room(void *at, size_t n, size_t *room, size_t element_bytes, size_t more);
/* The same for a TRC_VECTOR: 0 or -ENOMEM. */
#define TRC_RESERVE(vector, more)                                                                  \
	({                                                                                         \
		void *at_ = trc_vector_room((vector).at, (vector).n, &(vector).room,               \
					    sizeof(*(vector).at), (more));                         \
		if (at_)                                                                           \
			(vector).at = at_;                                                         \
		at_ ? 0 : -ENOMEM;                                                                 \
	})

/*
 * Parses a table of the state at the end of the trace into `vector`.  The table's first byte says
 * whether its entries replace the entries in `vector` or follow them.  `take` reads one entry from
 * a cursor over the entry's fields: 0 or -errno.  Returns 0, -EBADMSG or the error of `take`; after
 * an error the entries parsed so far stay.
 */
#define TRC_TAKE_TABLE(r, c, vector, take)                                                         \
	({                                                                                         \
		int err_ = 0;                                                                      \
		if (!trc_cursor_u8(c))                                                             \
			(vector).n = 0;                                                            \
		while (!err_ && !(c)->bad && trc_cursor_left(c)) {                                 \
			struct trc_cursor entry_ = trc_cursor_entry(c);                            \
			err_ = trc_reader_count_entry(r);                                          \
			if (!err_)                                                                 \
				err_ = TRC_RESERVE((vector), 1);                                   \
			if (!err_)                                                                 \
				err_ = (take)((r), &entry_, &(vector).at[(vector).n]);             \
			(vector).n += !err_;                                                       \
		}                                                                                  \
		!err_ && (c)->bad ? -EBADMSG : err_;                                               \
	})

/* I2: -EBADMSG if the bytes of the file so far cannot hold so many events. */
int trc_reader_check_events(struct trc_reader *r, uint64_t n_events);
/* I2: counts one more entry of a table, or n more frames or labels.  0, or -EBADMSG if the bytes of
 * the file so far cannot hold them. */
int trc_reader_count_entry(struct trc_reader *r);
int trc_reader_count_parts(struct trc_reader *r, uint64_t n);
/* Memory that is freed with the reader, or NULL. */
uint8_t *trc_reader_keep(struct trc_reader *r, size_t n_bytes);
/* Puts a line into *error; returns err. */
int trc_reader_fail(struct trc_error *error, int err, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* Sets the warning unless there is one. */
void trc_reader_warn(struct trc_reader *r, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* reader_sections.c: all sections, up to the first that is damaged.  0, or -errno with a line in
 * *error. */
int trc_reader_walk_sections(struct trc_reader *r, struct trc_error *error);

/* Each takes the (unpacked) payload of one section. */
int trc_reader_parse_info(struct trc_reader *r, struct trc_cursor *c);
int trc_reader_parse_sync(struct trc_reader *r, struct trc_cursor *c);
int trc_reader_parse_strings(struct trc_reader *r, struct trc_cursor *c);
int trc_reader_parse_stacks(struct trc_reader *r, struct trc_cursor *c);
int trc_reader_parse_threads(struct trc_reader *r, struct trc_cursor *c);
int trc_reader_parse_modules(struct trc_reader *r, struct trc_cursor *c);
int trc_reader_parse_status(struct trc_reader *r, struct trc_cursor *c);
int trc_reader_parse_open_regions(struct trc_reader *r, struct trc_cursor *c);
int trc_reader_parse_coverage(struct trc_reader *r, struct trc_cursor *c);
int trc_reader_parse_thread_fibers(struct trc_reader *r, struct trc_cursor *c);
/* reader_labels.c */
int trc_reader_parse_label_sets(struct trc_reader *r, struct trc_cursor *c);
int trc_reader_parse_sample_events(struct trc_reader *r, struct trc_cursor *c);
int trc_reader_parse_thread_labels(struct trc_reader *r, struct trc_cursor *c);
bool trc_reader_has_label_set(const struct trc_reader *r, uint64_t id);
/* `bytes` as a string that is freed with the reader; NULL and *err. */
const char *trc_reader_take_text(struct trc_reader *r, struct trc_cursor *c, int *err);
/* After the last section: one entry for each thread, sorted. */
int trc_reader_finish_threads(struct trc_reader *r);
bool trc_reader_has_serial(const struct trc_reader *r, uint64_t serial);
/* The thread that had the tid at that time (format.md, "THREADS"); 0 = the file has no such thread.
 * After trc_reader_finish_threads(). */
uint32_t trc_reader_serial_of(const struct trc_reader *r, uint32_t tid, uint64_t ticks);
bool trc_reader_has_stack(const struct trc_reader *r, uint64_t id);
bool trc_reader_has_string(const struct trc_reader *r, uint64_t id);

/* reader_schema.c: -ENOTSUP with a line in `error` if the file's kinds contradict ours. */
void trc_reader_init_schema(struct trc_reader *r);
int trc_reader_parse_schema(struct trc_reader *r, struct trc_cursor *c, struct trc_error *error);

/* block_head.c: the payload of a BLOCK section whose head has been checked. */
int trc_reader_parse_block(struct trc_reader *r, const uint8_t *payload, size_t n_bytes,
			   uint64_t file_off, uint64_t file_bytes);
/* block_decode.c: a block's times, as in the file, to trace time. */
int64_t trc_reader_time_ns(const struct trc_reader *r, uint8_t source, uint64_t time);
void trc_reader_times_ns(const struct trc_reader *r, uint8_t source, uint64_t *time, size_t n);

#endif
