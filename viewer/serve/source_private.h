/* source_private.h - declarations that the parts of source.c share. */
#ifndef TRC_VIEWER_SERVE_SOURCE_PRIVATE_H
#define TRC_VIEWER_SERVE_SOURCE_PRIVATE_H

#include <stdio.h>

#include "analyzer/model/selection.h"
#include "analyzer/open/trace.h"
#include "cache.h"
#include "snapshots.h"
#include "source.h"

enum { TRC_VIEW_NAME_BYTES = 256 };

/* What is read from. */
struct trc_view_opened {
	struct trc_model *model;
	struct trc_ring_trace ring; /* what the model reads, if it was a ring */
};

struct trc_view_source {
	const struct trc_view_options *options;
	char name[TRC_VIEW_NAME_BYTES];
	struct trc_view_opened trace; /* of a file */
	bool is_large;		      /* it is shown as a whole, and in parts */
	struct trc_cache_key
		key;	 /* of a large one, as it was when it was opened; empty = nothing is kept */
	bool has_looked; /* whether something was kept */
	bool is_prepared, is_kept; /* what all pages need is there; it is in a file */
	struct trc_served_page whole,
		last; /* of a file: of all, and of a part; fd -1 = not made yet */
	struct trc_window of_last;
	bool last_without_sql;
	struct trc_snapshots snapshots; /* of a process */
	struct trc_model *asked; /* of the snapshot that was asked SQL last; NULL = none was */
	uint64_t asked_snapshot;
};

/* Adds a text to the line; where memory was wanting, which limit was met. */
void trc_view_error_add(struct trc_error *error, const char *text);
void trc_view_error_hint(struct trc_error *error, int err);

/* ---- source_kept.c ---- */

void trc_view_opened_close(struct trc_view_opened *o);
/* Of the file, and of what names of functions are read from: when that comes, or is another one, pages have other names. */
void trc_view_source_key(const struct trc_view_source *s, const struct trc_model *m,
			 struct trc_cache_key *key);
/* serve:V8: a trace that has changed meanwhile is another one. */
bool trc_view_source_is_unchanged(const struct trc_view_source *s, const struct trc_model *m);
/* Before anything is derived of the trace: whoever asks for a part or for SQL first has no reason to wait for that. */
void trc_view_source_take_kept(struct trc_view_source *s);

/* ---- source_pages.c ---- */

/* serve:V2: a file on disk, where that can be; else in memory. */
int trc_view_file_open(void);
/* A stream of its own on the file; NULL with errno. */
FILE *trc_view_file_stream(int file);
/* The file as what is served: the page has a descriptor of its own. */
int trc_view_file_serve(struct trc_served_page *page, int fd, uint64_t n_bytes,
			struct trc_error *error);

/* A snapshot of the process as a trace in a file; window_ns: trc_ring_write_pid(). */
int trc_view_snapshot_take(const struct trc_view_source *s, uint64_t window_ns,
			   struct trc_view_snapshot *snapshot, struct trc_error *error);
int trc_view_snapshot_open(struct trc_model **m, const struct trc_view_snapshot *snapshot,
			   struct trc_error *error);
/* "memcached-1234-153012.trc" */
void trc_view_snapshot_name(const struct trc_view_source *s,
			    const struct trc_view_snapshot *snapshot,
			    char name[TRC_SERVED_NAME_BYTES]);
/* The name is that under which the trace is saved. */
int trc_view_snapshot_page(const struct trc_view_source *s,
			   const struct trc_view_snapshot *snapshot, bool without_sql,
			   struct trc_served_page *page, struct trc_error *error);

/* A window that is selected, as the analyzer is asked for it: the selection borrows the text. */
struct trc_view_window_asked {
	struct trc_selection selection;
	char text[64];
};

/* Selects the window; trc_view_window_unselect() in any case. */
int trc_view_window_select(struct trc_model *m, struct trc_view_window_asked *asked,
			   const struct trc_window *window, struct trc_error *error);
void trc_view_window_unselect(struct trc_model *m, struct trc_view_window_asked *asked);

#endif
