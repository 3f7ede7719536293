/*
 * source.h - the source of pages: a trace, which is read once; or a process with a recorder, whose ring
 * is read for each snapshot.
 *
 *   serve:V1  a process is only read, as by `trace-record --snapshot`: nothing in it changes
 *   serve:V2  pages lie in files without a name: however trace-view ends, no file stays behind
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

/* Reads the trace; of a process, it only checks whether there is a ring to read.  `options` is
 * borrowed until trc_view_source_close().  0 or -errno with a line in error. */
int trc_view_source_open(struct trc_view_source **out, const struct trc_view_options *options,
			 struct trc_error *error);
void trc_view_source_close(struct trc_view_source *source); /* accepts NULL */
/* The warning of the trace's reader; NULL = there is none, or the source is a process. */
const char *trc_view_source_warning(const struct trc_view_source *source);
/* For the title: a file's name without its path, or a process's. */
const char *trc_view_source_name(const struct trc_view_source *source);
uint32_t trc_view_source_pid(const struct trc_view_source *source); /* 0 = it is a file */

bool trc_view_source_has_sql(
	const struct trc_view_source *source); /* whether queries are answered */

/* The overview of a trace; a process has none. */
void trc_view_source_overview(const struct trc_view_source *source, struct trc_overview *overview);

/* Whether a page of the whole trace was kept (cache.h), so that it need not be made.  Takes the page from the cache. */
bool trc_view_source_is_kept(struct trc_view_source *source);
/* Makes the rows that all pages of a trace need, or takes the kept rows; does nothing for a process.  An error here comes again
 * with the first page. */
void trc_view_source_prepare(struct trc_view_source *source);
/* Keeps these rows, if they are not kept yet.  pause: called now and then; pages may be made in it; if it returns not 0, the
 * work is given up. */
void trc_view_source_keep_prepared(struct trc_view_source *source, int (*pause)(void *context),
				   void *context);

/* The page: of a process, as it is now; of a trace, the page of the window.  If to_ns is 0 it is the page of the whole trace;
 * in a large trace short intervals are merged.  without_sql: the page of a window has no tables, which take as long as all the
 * rest of it.  0 or -errno with a line in error; -ENOENT: nothing lies in the window.  One thread at a time. */
int trc_view_source_page(struct trc_view_source *source, const struct trc_window *window,
			 bool without_sql, struct trc_served_page *page, struct trc_error *error);
/* Names the page of a window, so that it is saved. */
void trc_view_source_name_page(const struct trc_view_source *source,
			       const struct trc_window *window, struct trc_served_page *page);

/* ---- snapshots of a process (snapshots.h).  Each returns 0, or -errno with a line in error; -ENOTSUP: a trace is
 * shown.  One thread at a time ---- */
int trc_view_source_take(struct trc_view_source *source, const struct trc_view_take *take,
			 uint64_t *snapshot, struct trc_error *error);
/* -ENOENT: the snapshot was removed; the same for the next two functions. */
int trc_view_source_snapshot_page(struct trc_view_source *source, uint64_t snapshot,
				  bool without_sql, struct trc_served_page *page,
				  struct trc_error *error);
/* The snapshot as a trace. */
int trc_view_source_snapshot_trace(struct trc_view_source *source, uint64_t snapshot,
				   struct trc_served_page *page, struct trc_error *error);
/* The answer of the tables: of the snapshot, or of the trace if `snapshot` is 0.  window: what of the trace is selected, as for
 * trc_view_source_page(). */
int trc_view_source_query(struct trc_view_source *source, uint64_t snapshot,
			  const struct trc_window *window, const struct trc_query *query,
			  struct trc_served_page *answer, struct trc_error *error);
/* From now on the snapshot is not removed.  -ENOSPC: the most snapshots are kept already. */
int trc_view_source_keep(struct trc_view_source *source, uint64_t snapshot,
			 struct trc_error *error);

#endif
