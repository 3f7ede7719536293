/*
 * drain_fixture.h - what the tests of the drain share: a mapping made by hand, drained into a file
 * that is read back.
 */
#ifndef TRC_TESTS_DRAIN_FIXTURE_H
#define TRC_TESTS_DRAIN_FIXTURE_H

#include <check.h>
#include <stddef.h>
#include "fake_ring.h"

/* The parts of the suite, in files of their own; each test has `f`, drained, and no `file` yet. */
void drain_ids(TCase *t);
void drain_modules(TCase *t);
void drain_cells(TCase *t);
void drain_first(TCase *t);
void drain_observers(TCase *t);
/* With a mapping of its own. */
TCase *drain_follow(void);

extern struct fake f;
extern struct fake_file file;
void drain_set_up(void);
void drain_tear_down(void);

/* A RELEASE with the words n and 3 * n. */
void put_counted(uint32_t proc, uint64_t n);
/* The i-th of its kind in `file`, which is there. */
const struct fake_row *row(unsigned int kind, size_t i);
void sleep_ms(long ms);

#endif
