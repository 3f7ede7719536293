/*
 * sqlbox.h - the tables of SQL in a page, for its SQL box (assets/sql.js).
 *
 * The values are those of queries of the analyzer's own tables.  Columns of numbers that the
 * timeline needs anyway are not written again: the page is told how to make the values from them.
 * All other columns are written behind the page's own columns, and are read when the box is opened.
 *
 *   sqlbox:B1  every value of a table in the page is the value that the analyzer answers.  If the
 *       timeline's column would give another value, the right one is written as an exception.  If the timeline does not
 *       draw a row (a wait of no length), all values of the row are exceptions, provided there are not many such rows
 *   sqlbox:B2  a table has all of its rows, or the list of what is missing says how many it lacks
 *   sqlbox:B3  a trace may name more kinds of events than a page has room for columns: then the last of these tables
 *       are missing
 *
 * In the page's JSON head "sql" is an object:
 *   tables   [name, rows, [[column, type, key, how, source...], ...], exceptions or null, rows that the
 *            timeline has not or null] of each
 *   missing  [table, rows that it lacks, why] of each
 *   place, chain   what these functions say of stack 1, 2, ...
 *   texts    the numbers of the columns with the lengths and bytes of texts
 */
#ifndef TRC_VIEWER_SQLBOX_H
#define TRC_VIEWER_SQLBOX_H

#include <sqlite3.h>
#include "analyzer/sql/table.h"
#include "rows.h"

enum {
	/* Rows of a table of which the timeline has nothing, and of one for a kind of event. */
	TRC_SQLBOX_ROWS_MAX = 500000,
	TRC_SQLBOX_EVENTS_MAX = 5000,
	/* Rows that the timeline does not draw. */
	TRC_SQLBOX_EXTRA_MAX = 1000,
	/* Columns of the page that one column of a table may become, and those of the rest of the box. */
	TRC_SQLBOX_PARTS_MAX = 4,
	TRC_SQLBOX_REST_COLUMNS = 64,
};

/* For trc_html_options.  Writes the tables to r->page and r->sql_head.  0 or -errno. */
int trc_sqlbox_write(struct trc_rows *r);

/* --- sqlbox_missing.c: the list of what is missing --- */

struct trc_sqlbox_missing {
	struct trc_sqlbox_lack *lack; /* owned */
	size_t n;
};

/* rows: -1 = not counted.  `why` lives as long as the list.  0 or -ENOMEM. */
int trc_sqlbox_lacks(struct trc_sqlbox_missing *missing, const char *table, int64_t rows,
		     const char *why);
void trc_sqlbox_missing_write(const struct trc_sqlbox_missing *missing, FILE *head);
void trc_sqlbox_missing_free(struct trc_sqlbox_missing *missing);

/* --- sqlbox_some.c: tables of which the page has some rows --- */

struct trc_sqlbox_some {
	char *from; /* of a query: the rows, of a table called t; NULL = all.  sqlite3_free() it */
	bool is_counted; /* the next two are known */
	uint64_t n_rows, n_whole;
};

/* 0, or -errno and nothing to free. */
int trc_sqlbox_some(struct trc_sqlbox_some *some, sqlite3 *db, const struct trc_rows *r,
		    const char *table);
/* The causes that the page has. */
int trc_sqlbox_some_causes(struct trc_sqlbox_some *some, sqlite3 *db, const struct trc_rows *r);
int trc_sqlbox_some_paths(struct trc_sqlbox_some *some, sqlite3 *db, const struct trc_rows *r);

/* --- sqlbox_values.c: the values of a column, of any type --- */

struct trc_sqlbox_values {
	uint64_t n_kind[SQLITE_NULL + 1];
	struct trc_column kind;		/* SQLite's type of each value */
	struct trc_column plain, delta; /* those that are integers, twice; the shorter is kept */
	struct trc_column real, text;	/* those that are reals, 8 bytes each; ids of texts */
	bool wide;			/* some integer does not fit into a double */
};

void trc_sqlbox_values_init(struct trc_sqlbox_values *v);
void trc_sqlbox_values_free(struct trc_sqlbox_values *v);
/* Adds the value of a column of the statement's row, of SQLite's `type`. */
void trc_sqlbox_values_add(struct trc_sqlbox_values *v, struct trc_texts *texts, sqlite3_stmt *stmt,
			   int column, int type);
void trc_sqlbox_values_integer(struct trc_sqlbox_values *v, int64_t integer);
/* Writes and frees them; to the head [kind or 0, kinds, integers, wide, reals, texts], of columns their numbers. */
void trc_sqlbox_values_write(struct trc_sqlbox_values *v, struct trc_page *page, FILE *head);

/* --- sqlbox_map.c: which values of tables the columns of the timeline have --- */

enum trc_sqlbox_how {
	TRC_SQLBOX_OWN,	    /* it has not: they are written */
	TRC_SQLBOX_VALUE,   /* the number */
	TRC_SQLBOX_ID,	    /* the number; 0 = NULL */
	TRC_SQLBOX_NEXT,    /* the number - 1; 0 = NULL */
	TRC_SQLBOX_SIGNED,  /* zigzag */
	TRC_SQLBOX_WIDE,    /* two columns of 32 bits each */
	TRC_SQLBOX_THREAD,  /* row + 1 of a thread */
	TRC_SQLBOX_FIBER,   /* row + 1 of a fiber */
	TRC_SQLBOX_UNLOCK,  /* row + 1 of an unlock */
	TRC_SQLBOX_SAMPLED, /* row + 1 of a sampled event */
	TRC_SQLBOX_OBJECT,  /* row + 1 of an object; 0 = 0 */
	TRC_SQLBOX_REASON,
	TRC_SQLBOX_TEXT,   /* of the page's texts; 0 = NULL */
	TRC_SQLBOX_STRING, /* the same; 0 = "" */
	TRC_SQLBOX_TIME,   /* since the trace's start */
	TRC_SQLBOX_MAYBE,  /* the same + 1; 0 = NULL */
	TRC_SQLBOX_END,	   /* the sum of a start and a length */
	TRC_SQLBOX_WAKE,   /* a start and zigzag + 1; 0 = NULL */
	TRC_SQLBOX_STACK,  /* of a frame of all stacks one after the other */
	TRC_SQLBOX_DEPTH,
	TRC_SQLBOX_FORMULA, /* of columns of the same row, as SQL */
};

struct trc_sqlbox_mapping {
	const char *column;
	enum trc_sqlbox_how how;
	const char *source, *second; /* columns of the page; of a formula the SQL */
};

struct trc_sqlbox_map {
	const char *table;
	enum trc_rows_table rows; /* which of these the page has; TRC_ROWS_TABLES = all */
	bool with_fibers;	  /* it is in the page only if there are fibers */
	const struct trc_sqlbox_mapping *mapping;
	size_t n;
};

/* NULL = the timeline has nothing of this table. */
const struct trc_sqlbox_map *trc_sqlbox_map(const char *table);
/* NULL = of this column. */
const struct trc_sqlbox_mapping *
trc_sqlbox_mapping(const struct trc_rows *r, const struct trc_sqlbox_map *map, const char *column);
const char *trc_sqlbox_how_name(enum trc_sqlbox_how how);

/* The time of a row from which the row's other times are measured. */
struct trc_sqlbox_start {
	bool known;
	int64_t ns;
};

/* B1: whether the page gets this value, of SQLite's `type`, from its own column.  A text may be cut. */
bool trc_sqlbox_is_told(const struct trc_rows *r, const struct trc_sqlbox_mapping *mapping,
			sqlite3_stmt *stmt, int column, int type, struct trc_sqlbox_start *start);
/* The same for any value that the column may have: then no value need be looked at. */
bool trc_sqlbox_is_sure(const struct trc_sqlbox_mapping *mapping,
			const struct trc_sql_column *column);

#endif
