/*
 * source.h - the source lines around the frames of a page, for a page that shows source code.
 *
 * The debug information of this machine's modules names the files; a trace itself names none.
 *
 *   source:S1  a page has source code only if trc_html_options.source asks for it
 *   source:S2  only regular files of text are opened, up to TRC_SOURCE_FILE_BYTES_MAX
 *   source:S3  each line is in the page once, and at most TRC_SOURCE_LINES_MAX lines are in it; missing lines are counted
 */
#ifndef TRC_VIEWER_SOURCE_H
#define TRC_VIEWER_SOURCE_H

#include <stddef.h>
#include <stdint.h>

enum {
	TRC_SOURCE_FILE_BYTES_MAX = 4 << 20,
	TRC_SOURCE_LINES_MAX = 200000,
	TRC_SOURCE_AROUND_LINES = 8, /* above and below the line of a frame */
	TRC_SOURCE_MAPS_MAX = 16,
};

/* A path that begins with `from` begins with `to` here.  Both are borrowed. */
struct trc_source_map {
	const char *from, *to;
	size_t from_bytes;
};

struct trc_html_source {
	struct trc_source_map map[TRC_SOURCE_MAPS_MAX]; /* the first that fits counts */
	size_t n_maps;
	/* What came of it. */
	size_t n_files, n_missing,
		n_refused;	       /* found; not there; no text, too large, no regular files */
	uint64_t n_lines, n_lines_out; /* in the page; left out */
	size_t n_newer;		       /* changed since the trace was recorded */
	char missing[256];	       /* one of those that are not there; "" = none */
};

struct trc_rows;

/* Writes the columns source.*, and which file each frame has.  Before the texts; without options->source nothing. */
void trc_rows_source(struct trc_rows *r);

#endif
