/*
 * html.h - a trace as one HTML file that opens from disk, without a network.
 *
 * The page holds the analyzer's rows as columns (page.h), a state interval list
 * per thread (tracks.h), and the program that draws them (assets/).
 *
 *   html:H1  text from the trace is only ever data: it lies in compressed columns, is put
 *       on the page as text nodes, and the page's policy runs no script but ours
 *   html:H2  the file appears under its name only when it is complete
 *   html:H4  a page shows the model's selection (trc_model_select()), or the whole trace.  Pages of one model
 *       may be written one after another, with other selections
 *   html:H5  somebody waits for the page of a part.  So this page is made in less time, and has a few percent more bytes
 *       (page.h)
 *   html:H3  a page counts and says what it leaves out or merges (trc_html_limits)
 */
#ifndef TRC_VIEWER_HTML_H
#define TRC_VIEWER_HTML_H

#include <stdio.h>
#include "analyzer/model/model.h"
#include "source.h"

/* How many rows of each kind a page may hold; 0 = the default. */
struct trc_html_limits {
	uint64_t intervals;    /* shorter ones that follow each other are merged and counted */
	uint64_t regions;      /* the longest are kept */
	uint64_t tasks;	       /* the longest are kept */
	uint64_t unlocks;      /* those that caused the longest waits are kept */
	uint64_t logs;	       /* one of so many is kept */
	uint64_t counters;     /* one of so many is kept */
	uint64_t label_spans;  /* times under one label set; the longest are kept */
	uint64_t fibers;       /* those that ran and waited longest are kept */
	uint64_t fiber_runs;   /* the longest are kept */
	uint64_t fiber_waits;  /* the longest are kept */
	uint64_t samples;      /* one of so many is kept */
	uint64_t allocs;       /* one of so many is kept */
	uint64_t blamed_waits; /* what caused the longest of them is kept */
	uint64_t blame_pieces; /* and 8 a wait: beyond, each cause of a wait is one piece */
	uint64_t paths;	       /* critical paths of each type of tasks, the slowest */
	uint64_t causes;       /* waits of each place whose causes are told, the longest */
	uint64_t columns; /* of the page: tables of the SQL box beyond are left out (sqlbox:B3) */
};

struct trc_rows;

struct trc_html_options {
	const struct trc_html_limits *limits; /* NULL = the defaults */
	/* trc_sqlbox_write() (sqlbox.h), or NULL: a page without an SQL box.  By pointer, so that programs
	 * that make such pages need no SQLite. */
	int (*sql)(struct trc_rows *r);
	/* Lines of source files are in the page, too (source.h); says what came of it.  NULL: none are. */
	struct trc_html_source *source;
	/* How the trace's file is called, without its directories: for commands that the page offers.  NULL: not known. */
	const char *trace;
};

/* Makes the rows that pages of all parts of `m` need, so that the first page takes no longer than the next; for a model that
 * keeps such rows (trc_model_keep()).  0 or -errno with a line in error. */
int trc_html_prepare(struct trc_model *m, struct trc_error *error);

/*
 * Writes the timeline of `m` to `path`, replacing what is there; derives the parts of
 * the model that it needs.  0 or -errno with a line in error; then `path` is as before.
 */
int trc_html_write(struct trc_model *m, const char *path, struct trc_error *error);
/* The same as `options` say. */
int trc_html_write_as(struct trc_model *m, const char *path, const struct trc_html_options *options,
		      struct trc_error *error);
/* The same to an open file; after an error what was written is not whole. */
int trc_html_print(struct trc_model *m, FILE *out, const struct trc_html_options *options,
		   struct trc_error *error);
/* The same within `limits`. */
int trc_html_write_limited(struct trc_model *m, const char *path,
			   const struct trc_html_limits *limits, struct trc_error *error);

#endif
