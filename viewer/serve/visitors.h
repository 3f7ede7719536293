/*
 * visitors.h - the pages that are open: trace-view ends with the last page.
 *
 * A page reports every ten seconds that it is open, and reports when it is left.  The pages of a browser that was killed
 * report nothing any more; a browser may let a page in the background report only once a minute.
 * A page that is loaded again is gone for a moment.
 */
#ifndef TRC_VIEWER_SERVE_VISITORS_H
#define TRC_VIEWER_SERVE_VISITORS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	TRC_VISITORS_MAX = 256,		/* more are not told apart from the one heard of least */
	TRC_VISITOR_SILENT_MS = 150000, /* then it is gone */
	TRC_VISITORS_GRACE_MS = 5000,	/* after the last one: it may be just loading again */
};

struct trc_visitor {
	uint64_t id, heard_ms;
};

struct trc_visitors {
	struct trc_visitor visitor[TRC_VISITORS_MAX];
	size_t n;
	bool any_came;
	uint64_t last_ms; /* when somebody was heard last, also to say goodbye */
};

void trc_visitor_heard(struct trc_visitors *v, uint64_t id, uint64_t now_ms);
void trc_visitor_gone(struct trc_visitors *v, uint64_t id, uint64_t now_ms);
/* Whether all pages that were open are gone; forgets silent pages. */
bool trc_visitors_are_over(struct trc_visitors *v, uint64_t now_ms);

#endif
