/*
 * query.h - what a request's target says: a path, and values by name.
 *
 * Targets are strings of any bytes.  A value that is too long for its room, or that holds a \0,
 * counts as an invalid value, and is never cut short.
 */
#ifndef TRC_RECORDER_HTTP_QUERY_H
#define TRC_RECORDER_HTTP_QUERY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The path with its %XX decoded, without the "http://host" of "http://host/path". 0, or -EINVAL. */
int trc_http_path(const char *url, char *path, size_t n_bytes);
/* The text behind the first '?', not decoded; "" = none. */
const char *trc_http_query(const char *url);
/* The first value of that name; 0, -ENOENT: there is none, or -EINVAL. */
int trc_http_value(const char *url, const char *name, char *value, size_t n_bytes);

/* A whole number up to max; *number is unchanged if there is no value, or the value is "".  0 or
 * -EINVAL. */
int trc_http_number(const char *url, const char *name, uint64_t max, uint64_t *number);
/* Seconds, with a fraction, above 0 and at most max_s; in nanoseconds. 0 or -EINVAL. */
int trc_http_seconds(const char *url, uint64_t max_s, uint64_t *ns);

#endif
