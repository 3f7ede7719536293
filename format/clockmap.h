/*
 * clockmap.h - ticks to trace time, through the sync points (docs/format.md, "Time").
 *
 * Trace time is nanoseconds of CLOCK_MONOTONIC_RAW since the first sync point. Between two sync
 * points trace time is a straight line over ticks. Before the first and after the last sync point
 * the nearest line goes on. Where the nearest line is too short to be trusted, the nominal rate
 * takes its place.
 *
 *   clockmap:C1  results never decrease: sync points that go back in either clock are left out
 *   clockmap:C2  every result is within TRC_TIME_NS_MAX of 0: differences of two results, and sums
 *       of two such differences, fit. A time in a damaged file that is farther away becomes the
 *       limit
 */
#ifndef TRC_FORMAT_CLOCKMAP_H
#define TRC_FORMAT_CLOCKMAP_H

#include <stddef.h>
#include <stdint.h>
#include "writer.h" /* struct trc_sync_point */

#define TRC_TIME_NS_MAX (INT64_MAX >> 2) /* 73 years */
int64_t trc_clock_clamp_ns(__int128 ns); /* C2 */

struct trc_clock_line {
	uint64_t ticks;	  /* where it begins */
	int64_t ns;	  /* trace time there */
	int64_t limit_ns; /* trace time where the next one begins */
	uint64_t slope;	  /* nanoseconds for a tick, as slope / 2^shift */
	unsigned int shift;
};

struct trc_clockmap {
	struct trc_clock_line *line; /* line[0] is for what comes before line[1] */
	size_t n_lines;
};

/* Sorts sync[0..n), which may be in any order, in place; n = 0 counts from `origin_ticks`.
 * On success trc_clockmap_free() it.  0 or -ENOMEM. */
int trc_clockmap_init(struct trc_clockmap *map, struct trc_sync_point *sync, size_t n,
		      uint64_t ticks_per_second, uint64_t origin_ticks);
void trc_clockmap_free(struct trc_clockmap *map);

int64_t trc_clockmap_ns(const struct trc_clockmap *map, uint64_t ticks);
/* trc_clockmap_ns() for n values at once, in place; ticks become int64_t bits. */
void trc_clockmap_convert(const struct trc_clockmap *map, uint64_t *ticks, size_t n);

#endif
