/*
 * snapshot_fixture.h - what the tests of snapshots share: a mapping made by hand, of which a snapshot is
 * taken into a file that is read back.
 */
#ifndef TRC_TESTS_SNAPSHOT_FIXTURE_H
#define TRC_TESTS_SNAPSHOT_FIXTURE_H

#include <check.h>
#include <stddef.h>
#include "fake_ring.h"

enum { RING_BYTES = 32768, RECORD_WORDS = 4, RECORDS_A_PAGE = 1024 / RECORD_WORDS };

/* A part of the suite, in a file of its own; each test has `f`, and no `file` yet. */
void snapshot_threads(TCase *t);

extern struct fake f;
extern struct fake_file file;
extern const struct trc_snapshot_options dead;
void snapshot_set_up(void);
void snapshot_tear_down(void);

/* A RELEASE with the words n and 3 * n, at a time after the recording's begin. */
void put_counted_at(uint32_t proc, uint64_t after, uint64_t n);
/* Of n = first, first + 1, ... at the times 100 + n. */
void put_many(uint32_t proc, uint64_t first, uint64_t n_records);

/* The i-th of its kind in `file`, which is there. */
const struct fake_row *row(unsigned int kind, size_t i);
/* The RELEASE events of a proc are first, first + 1, ... n_records of them. */
void expect_run(uint32_t proc, uint64_t first, uint64_t n_records);
/* NULL = `file` has none. */
const struct trc_coverage_entry *coverage(uint8_t source, uint32_t proc);
void expect_coverage(uint32_t proc, uint64_t held, uint64_t from, uint64_t to);
const struct trc_thread_entry *thread(uint32_t serial);

/* A drain over a copy, with a window of one's own choice. */
void drain_open(const struct trc_drain_options *options);
void drain_finish(void);
void drain_window(uint64_t from, uint64_t to);

#endif
