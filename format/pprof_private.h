/* pprof_private.h - what pprof.c collects and pprof_write.c writes. */
#ifndef TRC_FORMAT_PPROF_PRIVATE_H
#define TRC_FORMAT_PPROF_PRIVATE_H

#include <stdbool.h>
#include "pprof.h"
#include "row_index.h"

struct trc_pprof_array {
	void *item;
	size_t n, room;
};

/* Strings are indices into the string table here. */
struct trc_pprof_type {
	int64_t type, unit;
};
struct trc_pprof_map {
	uint64_t start, limit, file_offset;
	int64_t path, build_id;
	bool used, no_function, no_file, no_line; /* in some location of it */
};
struct trc_pprof_code { /* compared and hashed as bytes: it has no padding */
	uint32_t name, linkage, file, start_line;
};
struct trc_pprof_place {
	uint64_t address;
	size_t first_line;
	uint32_t mapping, n_lines;
};
struct trc_pprof_tag {
	int64_t key, text, number, unit;
};
struct trc_pprof_point {
	size_t first_location, n_locations;
	size_t first_value;
	size_t first_label, n_labels;
};

struct trc_pprof {
	int error;				/* pprof:P4 */
	struct trc_pprof_array sample_type;	/* struct trc_pprof_type */
	struct trc_pprof_array comment;		/* int64_t */
	struct trc_pprof_array string;		/* char *, owned */
	struct trc_pprof_array mapping;		/* struct trc_pprof_map */
	struct trc_pprof_array function;	/* struct trc_pprof_code */
	struct trc_pprof_array location;	/* struct trc_pprof_place */
	struct trc_pprof_array line;		/* struct trc_pprof_line */
	struct trc_pprof_array sample;		/* struct trc_pprof_point */
	struct trc_pprof_array sample_location; /* uint64_t */
	struct trc_pprof_array sample_value;	/* int64_t */
	struct trc_pprof_array label;		/* struct trc_pprof_tag */
	struct trc_row_index string_index, function_index, location_index, sample_index;
	struct trc_pprof_type period_type;
	int64_t period, default_type;
	int64_t realtime_ns, duration_ns;
};

/* Index of the string in the table, added if it is new; 0 after an error. */
uint32_t trc_pprof_string(struct trc_pprof *p, const char *text);

#endif
