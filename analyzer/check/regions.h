/*
 * regions.h - what --check says of regions: a region that ends has begun, and no region is open when its fiber or
 * thread ends (check:V3, check:V4).  Events come in the order of the merge.
 */
#ifndef TRC_ANALYZER_CHECK_REGIONS_H
#define TRC_ANALYZER_CHECK_REGIONS_H

#include "parts.h"

struct trc_check_regions {
	struct trc_check *check;
	struct trc_index row;	 /* in fibers, by fiber or thread */
	struct trc_array fibers; /* struct fiber_regions */
	bool fibers_known;	 /* which fiber each thread is in can be told */
};

void trc_check_regions_begin(struct trc_check_regions *r, struct trc_check *check,
			     bool fibers_known);
void trc_check_regions_end(struct trc_check_regions *r);

/* The thread begins or ends a region; `place` is the event's (merge.h).  0 or -ENOMEM. */
int trc_check_region_begin(struct trc_check_regions *r, uint32_t thread, uint64_t place,
			   int64_t now_ns, uint64_t type);
/* check:V3: the region that ends may be older than the trace, if its fiber is, or (by thread_start_ns) its thread. */
int trc_check_region_end(struct trc_check_regions *r, uint32_t thread, int64_t thread_start_ns,
			 uint64_t place, int64_t now_ns);
void trc_check_regions_fiber_end(struct trc_check_regions *r, uint64_t number, int64_t now_ns);
/* The thread exits: its root fiber has no open region.  0 or -ENOMEM. */
int trc_check_regions_exit(struct trc_check_regions *r, uint32_t thread, int64_t now_ns);
/* Reports open regions of fibers that have ended; called when there are no more events. */
void trc_check_regions_left(const struct trc_check_regions *r);

#endif
