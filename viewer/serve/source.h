/*
 * source.h - what is shown: a trace, which is read once, or a process with a recorder, whose ring
 * is read for each snapshot.
 *
 *   serve:V1  a process is only read, as by `trace-record --snapshot`: nothing in it changes
 *   serve:V2  pages lie in files without a name: whatever ends trace-view leaves nothing
 */
#ifndef TRC_VIEWER_SERVE_SOURCE_H
#define TRC_VIEWER_SERVE_SOURCE_H

#include "format/reader.h"
#include "options.h"
#include "overview.h"
#include "query.h"

struct trc_view_source;

enum { TRC_SERVED_NAME_BYTES = 80 };

/* A whole page, or a trace to be downloaded; the file is the caller's to close. */
struct trc_served_page {
	int fd;
	uint64_t n_bytes;
	bool is_trace;
	char name
		[TRC_SERVED_NAME_BYTES]; /* to be saved under: letters, digits and "-_." alone; "" = it is a page to be shown */
	bool is_answer; /* it is the answer to a query: JSON */
};

/* Which snapshot is asked for. */
struct trc_view_take {
	uint64_t last_ns; /* 0 = all that the ring holds */
	uint64_t visitor; /* the page that will show it; 0 = not known */
	uint64_t shown;	  /* the snapshot that the page shows now; 0 = none */
};

/* Reads the trace; of a process it only looks whether there is something to read.  `options` is
 * borrowed until trc_view_source_close().  0 or -errno with a line in error. */
int trc_view_source_open(struct trc_view_source **out, const struct trc_view_options *options,
			 struct trc_error *error);
void trc_view_source_close(struct trc_view_source *source); /* accepts NULL */
/* What the trace's reader warns of; NULL = nothing, or it is a process. */
const char *trc_view_source_warning(const struct trc_view_source *source);
/* For the title: a file's name without its path, or a process's. */
const char *trc_view_source_name(const struct trc_view_source *source);
uint32_t trc_view_source_pid(const struct trc_view_source *source); /* 0 = it is a file */

bool trc_view_source_has_sql(
	const struct trc_view_source *source); /* whether queries are answered */

/* Of a trace; of a process there is none. */
void trc_view_source_overview(const struct trc_view_source *source, struct trc_overview *overview);

/* Whether the page of the whole trace need not be made: one was kept (cache.h).  Takes it. */
bool trc_view_source_is_kept(struct trc_view_source *source);
/* Makes of a trace what all of its pages need, or takes what was kept of it; of a process nothing.  What fails here fails again with
 * the first page. */
void trc_view_source_prepare(struct trc_view_source *source);
/* Keeps that, if it is not kept yet.  pause: called now and then; pages may be made in it; not 0: give it up. */
void trc_view_source_keep_prepared(struct trc_view_source *source, int (*pause)(void *context),
				   void *context);

/* The page: of a process that of now; of a trace that of the window, of all if to_ns is 0 (of a large one with what is short
 * merged).  0 or
 * -errno with a line in error; -ENOENT: nothing lies in the window.  One thread at a time. */
int trc_view_source_page(struct trc_view_source *source, const struct trc_window *window,
			 struct trc_served_page *page, struct trc_error *error);
/* Names the page of a window, so that it is saved. */
void trc_view_source_name_page(const struct trc_view_source *source,
			       const struct trc_window *window, struct trc_served_page *page);

/* ---- snapshots of a process (snapshots.h).  Each returns 0, or -errno with a line in error; -ENOTSUP: a trace is
 * shown.  One thread at a time ---- */
int trc_view_source_take(struct trc_view_source *source, const struct trc_view_take *take,
			 uint64_t *snapshot, struct trc_error *error);
/* -ENOENT: it has gone, also of the next two. */
int trc_view_source_snapshot_page(struct trc_view_source *source, uint64_t snapshot,
				  bool without_sql, struct trc_served_page *page,
				  struct trc_error *error);
/* The trace itself. */
int trc_view_source_snapshot_trace(struct trc_view_source *source, uint64_t snapshot,
				   struct trc_served_page *page, struct trc_error *error);
/* What the tables answer: of the snapshot, of the trace if that is 0. */
int trc_view_source_query(struct trc_view_source *source, uint64_t snapshot,
			  const struct trc_query *query, struct trc_served_page *answer,
			  struct trc_error *error);
/* From now on it does not go.  -ENOSPC: so many are kept already. */
int trc_view_source_keep(struct trc_view_source *source, uint64_t snapshot,
			 struct trc_error *error);

#endif
