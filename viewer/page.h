/*
 * page.h - columns of numbers and strings, on their way into an HTML page.
 *
 * A column is built in memory, then written deflated, as text, in script elements of
 * type text/plain, which the browser does not run; assets/data.js is the reader.
 * The directory of all columns goes into the page's JSON head, after them.
 *
 *   page:P1  a script element holds at most 512 KB of text.  The text has no character that
 *       could end the element or that HTML gives a meaning.  The element's data-column names the text's column, so
 *       that the text can be decoded before the directory is there
 *   page:P2  an allocation that fails makes the page fail when it is finished, not before:
 *       adding a value reports nothing
 *   page:P3  string 0 is the empty string; equal strings have one id
 *   page:P4  the text is base 123: 13 bytes are a number of 104 bits, the first byte the lowest, and make 15 digits, the
 *       highest first.  Fewer bytes at the end of a piece make as many digits as the largest such number needs.  The digits
 *       are the characters of ASCII in their order, without five: NUL and carriage return, which HTML changes; "<"; and 26
 *       and 27, which old systems take for a file's end and a terminal for a command.  A line's end may be changed on the
 *       way, as in files that are sent; HTML changes it back
 *   page:P5  if a column of varints is read by its name for its values, not its bytes, it becomes magnitudes and bits
 *       (magnitudes.h) where this text is shorter
 */
#ifndef TRC_VIEWER_PAGE_H
#define TRC_VIEWER_PAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include "format/row_index.h"

struct trc_bytes {
	uint8_t *data; /* owned */
	size_t n_bytes, capacity_bytes;
	bool failed; /* an allocation failed; what was put since is not there */
};

void trc_bytes_put(struct trc_bytes *b, const void *bytes, size_t n_bytes);
void trc_bytes_varint(struct trc_bytes *b, uint64_t value);
/* The next varint of bytes that are our own: each number is whole. */
uint64_t trc_bytes_varint_next(const uint8_t **at);
void trc_bytes_free(struct trc_bytes *b);

enum trc_column_type {
	TRC_COLUMN_BYTES,   /* raw bytes, one a value */
	TRC_COLUMN_VARINT,  /* low bits first, seven a byte */
	TRC_COLUMN_DELTA,   /* varint of the zigzag difference to the value before, from 0 */
	TRC_COLUMN_DERIVED, /* no bytes: the page computes the values from other columns */
	TRC_COLUMN_ZERO, /* what a column with a name becomes if all of its values are 0: no bytes */
	TRC_COLUMN_SPLIT,	/* what a column of varints may become (P5) */
	TRC_COLUMN_SPLIT_DELTA, /* the same of differences */
};

struct trc_column {
	const char *name; /* borrowed: a literal; "" = it is read by its number, when needed */
	enum trc_column_type type;
	bool as_bytes; /* the page reads its bytes, one number after the other: they stay (P5) */
	uint64_t n, max, last;
	struct trc_bytes bytes;
};

struct trc_column trc_column_make(const char *name, enum trc_column_type type);
void trc_column_add(struct trc_column *c, uint64_t value);

/* Strings by content. */
struct trc_texts {
	struct trc_column length, bytes;
	struct trc_row_index index; /* id + 1 */
	uint64_t *start;	    /* [start_room] by id: where its bytes begin; owned */
	uint32_t n, start_room;
	bool failed;
};

void trc_texts_init(struct trc_texts *t);
/* NULL is the empty string.  If a text is longer than `TRC_PAGE_TEXT_BYTES_MAX`, its first
 * bytes are kept, to the end of a character; the text's length is added behind them. */
uint32_t trc_texts_id(struct trc_texts *t, const char *text);
void trc_texts_free(struct trc_texts *t);

enum { TRC_PAGE_TEXT_BYTES_MAX = 4096 };

struct trc_page_entry {
	const char *name;
	enum trc_column_type type;
	uint64_t n, max, raw_bytes;
	uint32_t chunks;
};

enum { TRC_PAGE_COLUMNS_MAX = 1024 };

struct trc_page {
	FILE *out;     /* borrowed */
	bool is_quick; /* columns take more bytes, and less time */
	int error;     /* 0, or the first -errno */
	size_t n_entries;
	struct trc_page_entry entry[TRC_PAGE_COLUMNS_MAX];
};

/* Writes the column and frees it. */
void trc_page_column(struct trc_page *p, struct trc_column *c);
/* Writes the column whose text is shorter, and frees both columns.  Returns whether it was the second. */
bool trc_page_shorter(struct trc_page *p, struct trc_column *first, struct trc_column *second);
/* The directory of the columns written so far, as a JSON array. */
void trc_page_directory(struct trc_page *p);
void trc_page_base64(FILE *out, const void *bytes, size_t n_bytes);
/* Deflated first.  0 or -ENOMEM. */
int trc_page_deflated(FILE *out, const void *bytes, size_t n_bytes);
/* A JSON string, quoted, in ASCII, safe inside a script element; bytes that are not UTF-8 become
 * U+FFFD. */
void trc_page_json_string(FILE *out, const char *text);

#endif
