/*
 * named_locks.h - futexes that are known to be locks by the functions that wait for them: those
 * of Rust's std.
 */
#ifndef TRC_ANALYZER_DERIVE_NAMED_LOCKS_H
#define TRC_ANALYZER_DERIVE_NAMED_LOCKS_H

#include <stdbool.h>
#include <stdint.h>
#include "analyzer/model/array.h"
#include "format/reader.h"

struct trc_symbols;

/* Begin with {.reader = ...}; the caller frees it. */
struct trc_named_locks {
	const struct trc_reader *reader;
	struct trc_symbols *symbols; /* NULL before the first is looked up */
	struct trc_index known;	     /* by return address and epoch: 1 = it waits for a lock */
};

/* Whether a wait with this stack is for a lock.  0 or -ENOMEM. */
int trc_named_locks_find(struct trc_named_locks *n, uint32_t stack, bool *is_lock);
void trc_named_locks_free(struct trc_named_locks *n);

#endif
