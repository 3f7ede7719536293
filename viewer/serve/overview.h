/* overview.h - how many events a trace has, and when: from the list of its blocks, without decoding them. */
#ifndef TRC_VIEWER_SERVE_OVERVIEW_H
#define TRC_VIEWER_SERVE_OVERVIEW_H

#include "format/reader.h"

enum {
	TRC_OVERVIEW_PARTS = 400,
	TRC_OVERVIEW_WHOLE_MAX = 4000000, /* events: a page of so many opens in some seconds */
	TRC_OVERVIEW_FIRST = 100000,	  /* and one of so many at once */
};

/* Times are from the begin of the trace. */
struct trc_window {
	int64_t from_ns, to_ns;
};

struct trc_overview {
	int64_t span_ns;   /* of the trace; 0 = there is no overview */
	uint64_t n_events; /* without those that only --locks=all records */
	/* How many of them are in each part; those of a block are spread over its time. */
	uint64_t count[TRC_OVERVIEW_PARTS];
	struct trc_window first; /* what is shown first; to_ns 0 = all */
};

/* If a trace has more than twice as many events as `n_wanted`, a part at its begin with about that
 * many events is shown first.  n_wanted 0: if it has more than TRC_OVERVIEW_WHOLE_MAX, about TRC_OVERVIEW_FIRST. */
void trc_overview_make(struct trc_overview *o, const struct trc_reader *reader, int64_t start_ns,
		       int64_t end_ns, uint64_t n_wanted);

#endif
