/*
 * fold_fixture.h - a fold and events made by hand.
 *
 * A tick is a nanosecond.  Stack n is one frame of address n; 0 = none.
 */
#ifndef TRC_TESTS_FOLD_FIXTURE_H
#define TRC_TESTS_FOLD_FIXTURE_H

#include <check.h>
#include "recorder/fold/fold.h"

enum { FOLD_PROCS = 3 };

/* What rows count. */
enum { COUNT = 0, DELAY = 1, OBJECTS = 0, BYTES = 1, LIVE_OBJECTS = 2, LIVE_BYTES = 3 };

/* Parts of the suite, in files of their own. */
TCase *fold_fibers_case(void);
TCase *fold_losses_case(void);
TCase *fold_rates_case(void);

extern struct trc_fold *fold;
extern struct trc_writer *tables;

void fold_set_up(void);
void fold_tear_down(void);
/* The same with so much memory. */
void fold_set_up_small(uint64_t memory_bytes);

struct trc_view *view_of(enum trc_view_kind kind, uint64_t rate, uint64_t begin);
struct trc_view *view_with(const struct trc_view_options *options, uint64_t begin);

/* One event of proc 0's ring, or of that one's. */
void put_at(uint32_t proc, uint64_t time, uint32_t thread, unsigned int kind, const uint64_t *arg);
uint64_t stack_id(uint64_t n);
uint64_t labels_id(const char *key, const char *value); /* NULL = none */
void park(uint64_t time, uint32_t thread, unsigned int reason, uint64_t object, uint32_t holder,
	  uint64_t stack);
void resume(uint64_t time, uint32_t thread, unsigned int reason, uint64_t object, int result);
/* Recorded at `time`, done at `at`. */
void unlock(uint64_t time, uint32_t thread, uint64_t object, uint64_t stack, uint64_t at);
/* The same of a lock that was taken while others waited: so long before. */
void unlock_held(uint64_t time, uint32_t thread, uint64_t object, uint64_t stack, uint64_t held);
void gap(uint64_t time, uint64_t lost_events);
void sample(uint64_t time, uint32_t thread, uint32_t event, uint64_t value, uint64_t period,
	    uint64_t stack);
void allocated(uint64_t time, uint64_t number, uint64_t bytes, uint64_t period, uint64_t stack);
void freed(uint64_t time, uint64_t number);

/* What the view has counted until then; freed with the fixture, or by the next call. */
const struct trc_folded_head *copied(struct trc_view *view, uint64_t until);
/* Of the last copy: value i of the stack, summed over labels; -1 = no such row. */
int64_t value_of(uint64_t stack, int i);
/* The same for these labels only: "key=value,..." */
int64_t labelled_value(uint64_t stack, const char *labels, int i);
uint32_t rows_copied(void);

#endif
