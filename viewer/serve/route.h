/*
 * route.h - what a request asks for, and whether the client may ask for it.
 *
 *	/KEY			once: leads to the next; this is what a browser is started with, whose
 *				command line other users can see
 *	/TOKEN/			the frame around the page (frame.h)
 *	/TOKEN/page		the page; with ?from=NS&to=NS that of a window, with &save=1 behind them as a file to be saved; with
 *				?snapshot=N that of a snapshot; with &without=sql behind one of these its SQL box has no tables
 *	/TOKEN/take?last=NS&id=N&shown=N	takes a snapshot of the last NS, 0 = of all, and leads to its page
 *	/TOKEN/keep?snapshot=N	the snapshot stays
 *	/TOKEN/trace?snapshot=N	the snapshot as a trace
 *	/TOKEN/sql?q=QUERY	what the tables of the trace answer; with snapshot=N those of the snapshot, with from=NS&to=NS those of
 *				the window (query.h)
 *	/TOKEN/alive?id=N	a frame is there (visitors.h)
 *	/TOKEN/gone?id=N	it is left
 *
 *   serve:V3  without the token the reply only says that the token is missing, and the comparison takes as
 *       long for every wrong token
 *   serve:V4  a request whose Host names neither this machine's address nor localhost is refused: a
 *       foreign site may let its name lead here (DNS rebinding)
 */
#ifndef TRC_VIEWER_SERVE_ROUTE_H
#define TRC_VIEWER_SERVE_ROUTE_H

#include <stdbool.h>
#include <stdint.h>
#include "overview.h"

enum { TRC_TOKEN_BYTES = 33 }; /* 128 bits in hexadecimal, and a zero */

struct trc_access {
	char token[TRC_TOKEN_BYTES], key[TRC_TOKEN_BYTES];
	bool key_is_used;
};

struct trc_asking {
	const char *method, *path;
	const char *host, *id, *from, *to, *last, *shown, *snapshot, *without, *save,
		*query; /* NULL = not given */
};

enum trc_wanted {
	TRC_WANTED_NOTHING, /* `status` and `why` say what is wrong */
	TRC_WANTED_START,
	TRC_WANTED_FRAME,
	TRC_WANTED_PAGE,
	TRC_WANTED_SNAPSHOT_PAGE,
	TRC_WANTED_TAKE,
	TRC_WANTED_KEEP,
	TRC_WANTED_TRACE,
	TRC_WANTED_SQL,
	TRC_WANTED_ALIVE,
	TRC_WANTED_GONE,
};

struct trc_route {
	enum trc_wanted wanted;
	unsigned int status;
	const char *why;   /* a literal */
	uint64_t id;	   /* of the frame; 0 = a taker did not say */
	uint64_t last_ns;  /* to be taken; 0 = all */
	uint64_t snapshot; /* of a taker the one that it shows; 0 = none, or of a query the trace */
	const char *query; /* borrowed of who asks */
	bool without_sql; /* the page of a window or of a snapshot, also of one that is yet to be taken */
	struct trc_window window; /* of the page, or of the query; to_ns 0 = all */
	bool saves;		  /* the page of a window is to be saved, not shown */
};

/* Makes up the key and the token.  0 or -errno. */
int trc_access_init(struct trc_access *access);
/* One thread at a time: the key opens once. */
struct trc_route trc_route_find(struct trc_access *access, const struct trc_asking *asking);

#endif
