/*
 * remade.h - which lock lies at an address.  Freed memory is allocated again, and then another lock may lie at the
 * same address.
 *
 *   remade:J1  two locks at one address are told apart if the trace has an allocation or a free of memory there
 *       between them.  Without samples of allocations all locks at an address are one.  So are they once the search
 *       has taken too long: in a hostile trace, one large block of memory may cover all locks
 */
#ifndef TRC_ANALYZER_DERIVE_REMADE_H
#define TRC_ANALYZER_DERIVE_REMADE_H

#include "analyzer/model/array.h"

struct trc_remade {
	struct trc_index row;  /* by address */
	struct trc_index page; /* by page: the last lock on it, which leads to others */
	struct trc_array locks;
	uint64_t steps; /* that looking took so far */
};

void trc_remade_begin(struct trc_remade *r);
void trc_remade_free(struct trc_remade *r);
/* The number of the lock that lies there now.  0 or -ENOMEM. */
int trc_remade_life(struct trc_remade *r, uint64_t object, uint32_t *life);
/* Memory was allocated or given back: what lies there from now on is another lock. */
void trc_remade_memory(struct trc_remade *r, uint64_t address, uint64_t n_bytes);

#endif
