/*
 * query.h - the answer to a query, for the SQL box of a page that has no tables itself.
 *
 *   serve:V11  a query only reads (sql:S1), and ends: after TRC_QUERY_ROWS_MAX rows, TRC_QUERY_BYTES_MAX bytes or
 *       TRC_QUERY_SECONDS_MAX, or when nobody waits for it any more.  It writes no file but its answer, and SQLite takes
 *       TRC_QUERY_MEMORY_BYTES_MAX at most.  The time is checked between SQLite's steps: if a step derives a part of the trace,
 *       such as the rows of blame, it goes on to its end
 */
#ifndef TRC_VIEWER_SERVE_QUERY_H
#define TRC_VIEWER_SERVE_QUERY_H

#include <stdbool.h>
#include <stdio.h>
#include "format/reader.h"

struct trc_model;

enum {
	TRC_QUERY_ROWS_MAX = 200000,
	TRC_QUERY_BYTES_MAX = 64 << 20,
	TRC_QUERY_SECONDS_MAX = 30,
	TRC_QUERY_MEMORY_BYTES_MAX = 1 << 30,
	TRC_QUERY_VALUE_BYTES_MAX = 1 << 20
};

struct trc_query {
	const char *sql; /* one statement or several; the last that has columns is answered */
	bool (*is_left)(void *context); /* whether nobody waits; NULL = somebody does */
	void *context;
};

/*
 * Only one query runs at a time, and no other code uses SQLite meanwhile: the bound of memory holds for the whole process.
 * The answer goes to an empty file, as JSON:
 * {"columns":[name...],"rows":[[kinds, value...]...],"more":bool}.  In each row `kinds` has a digit for
 * each value: 1 an integer, 2 a real, 3 a text, 4 a blob as hexadecimal digits, 5 NULL, 6 an integer that is not exact as a double,
 * as text.  more: there are more rows.  If several statements have columns, "answers" says how many.
 * If the query fails, or is stopped: {"error":why}.  0, or -errno with a line in error: there is no answer.
 */
int trc_query_answer(struct trc_model *m, const struct trc_query *query, FILE *out,
		     struct trc_error *error);

#endif
