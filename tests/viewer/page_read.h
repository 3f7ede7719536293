/*
 * page_read.h - takes a page apart again: the C twin of assets/data.js.
 */
#ifndef TRC_TESTS_PAGE_READ_H
#define TRC_TESTS_PAGE_READ_H

#include <stddef.h>
#include <stdint.h>

/* A file as zero-terminated bytes that are the caller's; aborts the test if there is none. */
char *page_read_file(const char *path, size_t *n_bytes);

/* The values of a column, the caller's; NULL and *n 0 if the page has no such column.  Of a
 * column of bytes, one value a byte. */
uint64_t *page_read_column(const char *page, const char *name, size_t *n);

/* The text with this id, as bytes that are the caller's, zero-terminated. */
char *page_read_text(const char *page, uint64_t id);

/* The number behind "key": in the head; -1 if there is none. */
double page_read_head(const char *page, const char *key);

#endif
