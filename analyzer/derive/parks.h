/*
 * parks.h - rows of the parks of each thread, as format/waits/parks.h pairs them with their ends.
 *
 *   parks:K5  a resume without a park ends a wait that began before the window, if its thread was
 *       there then and has done nothing in the window before it
 *   parks:K6  if a park is from before the window, where streams are missing, a resume in the window
 *       says that the thread waited since the window began; a resume before the window may be of another
 *       wait
 */
#ifndef TRC_ANALYZER_DERIVE_PARKS_H
#define TRC_ANALYZER_DERIVE_PARKS_H

#include "analyzer/model/parts.h"
#include "format/waits/parks.h"

/* What is known of a thread while events go by. */
struct trc_park_thread {
	struct trc_parks parks;
	int64_t last_ns; /* its own event before; TRC_NEVER = none */
	uint64_t place;	 /* of the event that is looked at (merge.h) */
	/* The wait that ended last. */
	int64_t last_start_ns;
	uint64_t last_object;
	uint8_t last_reason;
	uint64_t abandoned_place; /* of the event that abandoned waits last */
};

/* The parks of all threads.  Memory of open parks is used again. */
struct trc_park_rows {
	struct trc_model *m;
	struct trc_pool open;
	struct trc_open_park *free;
};

/* One event of the thread, in its order.  0 or -ENOMEM. */
int trc_park_rows_event(struct trc_park_rows *rows, struct trc_park_thread *thread,
			const struct trc_span *span, uint32_t row);
/* The trace is over.  `status` is what the last status table says that the thread waits for, NULL
 * if for nothing; last_gap_ns is the time of the last gap, or TRC_NEVER.  0 or -ENOMEM. */
int trc_park_rows_finish(struct trc_park_rows *rows, struct trc_park_thread *thread,
			 const struct trc_status_entry *status, int64_t last_gap_ns);
void trc_park_rows_free(struct trc_park_rows *rows);

#endif
