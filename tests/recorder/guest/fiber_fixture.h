/* fiber_fixture.h - what the tests of fibers share: a session of this process, and its events. */
#ifndef TRC_TESTS_FIBER_FIXTURE_H
#define TRC_TESTS_FIBER_FIXTURE_H

#include <check.h>
#include <stddef.h>
#include <stdint.h>
#include "format/schema.h"
#include "recorder/guest/labels.h"
#include "tests/recorder/ring/ring_reader.h"

#define YIELD TRACE_FIBER_YIELD
#define WAIT  TRACE_FIBER_WAIT

extern struct ring_reader reader;

void open_session_of(size_t capacity);
void open_session(void);
void close_session(void);
/* All that has been recorded, in order: into reader.seen. */
void take(void);
/* The n-th event of this kind, from 0; NULL = there are not so many.  Good until the next is asked
 * for. */
const struct seen *event(enum trc_kind kind, unsigned int n);
size_t count(enum trc_kind kind);
const char *string(uint64_t id);
const struct trace_labels *with(const char *key, const char *value);
void put_in_force(const struct trace_labels *labels);
uint32_t references(const struct trace_labels *labels);

/* The part of the suite in fiber_regions.c. */
void fiber_regions(TCase *c);

#endif
