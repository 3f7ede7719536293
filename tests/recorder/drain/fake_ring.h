/*
 * fake_ring.h - a shared mapping made by hand: what a recorded process would have written.
 *
 * Times are given as small numbers: ticks after the recording began.
 */
#ifndef TRC_TESTS_FAKE_RING_H
#define TRC_TESTS_FAKE_RING_H

#include <stdbool.h>
#include "format/reader.h"
#include "recorder/drain/drain.h"
#include "recorder/drain/snapshot.h"

enum { FAKE_PROCS = 2, FAKE_ROWS_MAX = 400000 };

struct fake {
	struct trc_shared *shared;
	uint64_t mapped_bytes;
	int fd; /* of the file that is mapped */
	struct trc_writer *w;
	struct trc_drain *drain;
	/* What the writer has written. */
	unsigned char *file;
	size_t file_bytes, room_bytes;
	int sink_error; /* returned by the sink if not 0 */
	bool from_file; /* snapshots are taken through the descriptor */
	struct trc_sync_point went_on; /* when nobody drained, between two that go on */
	bool overwrite; /* a full ring loses its oldest page, as in flight mode */
};

/* One event as it is found in the file. */
struct fake_row {
	unsigned int kind, source;
	uint32_t proc, thread;
	int64_t ns;
	uint64_t arg[TRC_ARGS_MAX];
	char text[64];
};

struct fake_file {
	struct trc_reader *r;
	struct fake_row *row; /* by block, in order */
	size_t n_rows;
	uint64_t from, cut; /* of a snapshot, ticks */
	struct trc_drain_totals totals;
};

/* Two procs with rings of ring_bytes, drained with pid, serial_base, ... as in options. */
void fake_init(struct fake *f, uint64_t ring_bytes, const struct trc_drain_options *options);
/* The same without a drain and a writer: for snapshots. */
void fake_init_alone(struct fake *f, uint64_t ring_bytes);
/* The same in an empty file, which is the fake's from here on, and with another layout of FAKE_PROCS. */
void fake_init_in(struct fake *f, int fd, const struct trc_layout_options *layout);
/* Of a mapping that is there: a writer and a drain, with no file yet. */
void fake_begin(struct fake *f, const struct trc_drain_options *options);
/* The drain leaves, and another one goes on after it into a file of its own. */
void fake_go_on(struct fake *f);
void fake_free(struct fake *f);
uint64_t fake_time(const struct fake *f, uint64_t after);

/* Commits a record; closes the page first if it does not fit.  False: no room, nothing done. */
bool fake_put(struct fake *f, uint32_t proc, uint64_t after, unsigned int kind, unsigned int flags,
	      uint32_t serial, const uint64_t *words, uint32_t n_words);
/* Commits words as they are. */
void fake_put_raw(struct fake *f, uint32_t proc, const uint64_t *words, uint32_t n_words);

/* The overflow stream: reserves cells, stores the claim, fills in and commits. */
uint64_t fake_reserve(struct fake *f, uint32_t n_cells);
void fake_claim(struct fake *f, uint64_t position, uint32_t n_cells, uint32_t proc, uint32_t tid);
void fake_commit(struct fake *f, uint64_t position, uint32_t n_cells, uint32_t proc, uint32_t tid,
		 const uint64_t *words, uint32_t n_words);
/* All of that: a COUNTER with these two words. */
void fake_cell_put(struct fake *f, uint64_t after, uint32_t tid, uint64_t a, uint64_t b);
struct trc_overflow *fake_overflow(struct fake *f);

uint64_t fake_stack(struct fake *f, uint32_t index, uint32_t epoch, const uint64_t *frame,
		    uint32_t n);
uint64_t fake_string(struct fake *f, uint32_t index, const char *text);
/* A set of one label. */
uint64_t fake_labels(struct fake *f, uint32_t index, const char *key, const char *value);
/* The same as it lies in a record; how many bytes. */
uint32_t fake_labels_bytes(char bytes[64], const char *key, const char *value);
struct trc_slot *fake_slot(struct fake *f, uint32_t i, uint32_t serial, uint32_t tid,
			   const char *name);
void fake_module(struct fake *f, uint32_t i, uint64_t start, uint64_t limit, const char *path);

/* Ends the drain and the file, and reads all of it back. */
void fake_finish(struct fake *f, enum trc_drain_end how, struct fake_file *file);
/* Takes a snapshot, writes it, and reads it back. */
void fake_snapshot(struct fake *f, const struct trc_snapshot_options *options,
		   struct fake_file *file);
/* A trc_sink_fn into memory; `context` is the fake. */
int fake_sink(void *context, const void *bytes, size_t n_bytes);
void fake_read_back(struct fake *f, struct fake_file *file);
void fake_file_free(struct fake_file *file);
/* The i-th row of this kind, or NULL. */
const struct fake_row *fake_row(const struct fake_file *file, unsigned int kind, size_t i);
size_t fake_count(const struct fake_file *file, unsigned int kind);
/* "key=value" of a set of one label with this id in the file; "" for 0. */
const char *fake_labels_text(const struct fake_file *file, uint64_t id);
/* The same of what the thread had when the trace ended. */
const char *fake_thread_labels(const struct fake_file *file, uint32_t thread);
/* "number name" of the fiber that the thread ran when the trace ended; "" for its root fiber. */
const char *fake_thread_fiber(const struct fake_file *file, uint32_t thread);
/* Events lost, over gaps of this cause; 0 = of any. */
uint64_t fake_lost(const struct fake_file *file, unsigned int cause);

#endif
