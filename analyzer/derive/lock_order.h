/* lock_order.h - which edges of the order of locks could close a deadlock. */
#ifndef TRC_ANALYZER_DERIVE_LOCK_ORDER_H
#define TRC_ANALYZER_DERIVE_LOCK_ORDER_H

#include "analyzer/model/model.h"

/* The life of a thread that took locks; TRC_NEVER and 0 = not known. */
struct trc_lock_life {
	uint32_t thread, creator;
	int64_t start_ns, end_ns;
};

struct trc_lock_lives {
	const struct trc_lock_life *(*of)(const void *context, uint32_t thread); /* NULL = none */
	const void *context;
};

/* Numbers the cycles among edge[n] in their field `deadlock`, from 1 on.  0 or -ENOMEM. */
int trc_lock_order_cycles(struct trc_lock_edge *edge, size_t n, const struct trc_lock_lives *lives);

#endif
