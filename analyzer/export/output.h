/*
 * output.h - the rows of a query, for people and for programs.
 *
 *   table  columns aligned by the first rows; control characters and broken UTF-8 escaped
 *   csv    RFC 4180 quoting, a line feed at the end of each record; NULL is an empty field,
 *          an empty text is ""
 *   tsv    \t \n \r \\ escaped; NULL is \N
 *   json   an array of objects; numbers as numbers, NULL as null, broken UTF-8 as U+FFFD,
 *          control characters escaped
 *
 * csv and tsv are data: other control characters, and broken UTF-8, are written unchanged.  Only on a
 * terminal are they shown as in a table.
 */
#ifndef TRC_ANALYZER_EXPORT_OUTPUT_H
#define TRC_ANALYZER_EXPORT_OUTPUT_H

#include <sqlite3.h>
#include <stdio.h>
#include "format/reader.h" /* struct trc_error */

enum trc_output { TRC_OUTPUT_TABLE, TRC_OUTPUT_CSV, TRC_OUTPUT_TSV, TRC_OUTPUT_JSON };

/* 0 and *output, or -EINVAL. */
int trc_output_parse(const char *name, enum trc_output *output);
const char *trc_output_name(enum trc_output output);

/* Runs every statement in `sql`, one after the other, and writes their rows.  0, or -errno with
 * a line in error.  That `out` could not be written is for the caller to see (ferror()). */
int trc_output_query(sqlite3 *db, const char *sql, enum trc_output output, FILE *out,
		     struct trc_error *error);

#endif
