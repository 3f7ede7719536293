/*
 * maker.h - the thread that takes snapshots and makes pages, one after the other, while others are sent.
 *
 * No other thread uses the source (source.h): two threads may not use a model.
 */
#ifndef TRC_VIEWER_SERVE_MAKER_H
#define TRC_VIEWER_SERVE_MAKER_H

#include "route.h"
#include "source.h"

struct trc_maker;

/* A page, or another answer of the source, for which a client waits; the caller's until it is put, and again in `done`. */
struct trc_job {
	struct trc_job *next;
	struct trc_route route; /* what is wanted */
	int socket;		/* of whoever waits; nothing is made for one who has gone */
	int err;		/* -ECANCELED: it was not made */
	struct trc_error error;
	struct trc_served_page page; /* a page, or a trace; fd -1 = there is none */
	uint64_t snapshot;	     /* that was taken */
};

/* `done` is called in the maker's thread.  0 or -errno. */
int trc_maker_start(struct trc_maker **out, struct trc_view_source *source,
		    void (*done)(struct trc_job *job));
/* False: it stops, and the job stays the caller's. */
bool trc_maker_put(struct trc_maker *m, struct trc_job *job);
/* Jobs that have not begun are done without a page.  Afterwards trc_maker_put() may still be called, until
 * trc_maker_free(). */
void trc_maker_stop(struct trc_maker *m);
void trc_maker_free(struct trc_maker *m);

#endif
