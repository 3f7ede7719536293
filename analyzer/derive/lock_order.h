/* lock_order.h - which edges of the order of locks could close a deadlock. */
#ifndef TRC_ANALYZER_DERIVE_LOCK_ORDER_H
#define TRC_ANALYZER_DERIVE_LOCK_ORDER_H

#include "analyzer/model/model.h"

/* Numbers the cycles among edge[n] in their field `deadlock`, from 1 on.  0 or -ENOMEM. */
int trc_lock_order_cycles(struct trc_lock_edge *edge, size_t n);

#endif
