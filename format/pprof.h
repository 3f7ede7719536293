/*
 * pprof.h - builds a profile for pprof: gzip-compressed protobuf (format/profile.proto).
 *
 * Knows nothing of traces: the caller hands in samples, innermost frame first.
 *
 *   pprof:P1  strings, functions and locations are kept once; ids are from 1, 0 = none.
 *       Samples at the same locations with the same labels become one, their values summed
 *   pprof:P2  a mapping says that it has functions, files, lines or inlined frames only if
 *       that holds for every location in it, since pprof then asks no symbolizer
 *   pprof:P3  the first mapping is the program: add it first
 *   pprof:P4  an error is kept: later calls do nothing (and return 0), trc_pprof_write() returns it
 *   pprof:P5  every string is UTF-8: each byte that belongs to no character becomes \xNN
 *
 * Every pointer is only read during the call.  One thread at a time.
 */
#ifndef TRC_FORMAT_PPROF_H
#define TRC_FORMAT_PPROF_H

#include <stddef.h>
#include <stdint.h>

struct trc_pprof;

struct trc_pprof_mapping {
	uint64_t start, limit, file_offset; /* as in the process's map */
	const char *path;
	const uint8_t *build_id;
	size_t build_id_bytes; /* 0 = none */
};

struct trc_pprof_line {
	uint32_t function; /* an id; 0 = not known */
	uint32_t line;	   /* 0 = not known */
};

/* A string label, or with `text` NULL a number; unit NULL = none. */
struct trc_pprof_label {
	const char *key, *text;
	int64_t number;
	const char *unit;
};

/* On success *out is the caller's: trc_pprof_close() it. */
int trc_pprof_open(struct trc_pprof **out);
void trc_pprof_close(struct trc_pprof *p); /* accepts NULL */

/* Once for each value of a sample, in their order; before the first sample. */
void trc_pprof_sample_type(struct trc_pprof *p, const char *type, const char *unit);
/* The type to show first; it must be one of the sample types. */
void trc_pprof_default_type(struct trc_pprof *p, const char *type);
void trc_pprof_period(struct trc_pprof *p, const char *type, const char *unit, int64_t period);
/* When the profile began, since 1970, and how long it took; 0 = not known. */
void trc_pprof_time(struct trc_pprof *p, int64_t realtime_ns, int64_t duration_ns);
/* A line for the profile's header; one that begins with # is not shown. */
void trc_pprof_comment(struct trc_pprof *p, const char *text);

uint32_t trc_pprof_mapping(struct trc_pprof *p, const struct trc_pprof_mapping *mapping);
/* `linkage` NULL = as `name`; `file` NULL and start_line 0 = not known. */
uint32_t trc_pprof_function(struct trc_pprof *p, const char *name, const char *linkage,
			    const char *file, uint32_t start_line);
/* One place in the code: `address` lies in the mapping (callers: in the call, not after it),
 * line[0] is the innermost inlined call there.  The same place again returns the same id. */
uint32_t trc_pprof_location(struct trc_pprof *p, uint32_t mapping, uint64_t address,
			    const struct trc_pprof_line *line, size_t n_lines);
/* As many values as sample types.  Values of the same locations and labels are added up.  A sample
 * whose sums are all 0 in the end is left out. */
void trc_pprof_sample(struct trc_pprof *p, const uint32_t *location, size_t n_locations,
		      const int64_t *value, const struct trc_pprof_label *label, size_t n_labels);

/* Writes it all to an open file.  0, or the first error: of a call before, or of write(2). */
int trc_pprof_write(const struct trc_pprof *p, int fd);
/* trc_pprof_write() to a function that takes the bytes: sink() returns 0 or -errno.  After an error
 * sink() is not called again. */
int trc_pprof_write_to(const struct trc_pprof *p,
		       int (*sink)(void *context, const void *bytes, size_t n_bytes),
		       void *context);

#endif
