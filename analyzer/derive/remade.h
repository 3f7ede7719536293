/*
 * remade.h - which lock lies at an address: memory that is given back is allocated again, and another lock
 * may lie where one was.
 *
 *   remade:J1  two locks at one address are told apart if the trace has an allocation or a free of memory there
 *       between them; without samples of allocations all that lie there are one, and so are they once looking
 *       has taken too long: memory as large as a hostile trace may have it lies over all locks
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
