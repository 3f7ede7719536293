/*
 * waits.h - the waits of each thread, those within other waits left out.
 */
#ifndef TRC_ANALYZER_WHATIF_WAITS_H
#define TRC_ANALYZER_WHATIF_WAITS_H

#include "analyzer/model/timeline.h"
#include "analyzer/model/waits.h"

struct trc_outer_waits {
	const struct trc_model *m;
	const struct trc_thread *thread;
	const struct trc_park *park;
	size_t n_threads, n_parks;
	uint32_t *outer; /* of trc_waits_nesting() */
	struct trc_by_thread by;
};

/* 0 or -ENOMEM; free it in both cases. */
int trc_outer_waits_open(struct trc_outer_waits *w, const struct trc_model *m);
void trc_outer_waits_close(struct trc_outer_waits *w);

/* The row of a thread; SIZE_MAX = there is none. */
size_t trc_outer_waits_row(const struct trc_outer_waits *w, uint32_t serial);
/* The thread's wait that this time lies in, its begin included and its end not: its id; 0 = none. */
uint32_t trc_outer_wait_at(const struct trc_outer_waits *w, uint32_t serial, int64_t ts_ns);
/* The thread's last wait that has ended by then; 0 = none. */
uint32_t trc_outer_wait_before(const struct trc_outer_waits *w, uint32_t serial, int64_t ts_ns);

#endif
