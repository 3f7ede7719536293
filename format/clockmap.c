/* clockmap.c - see clockmap.h. */
#include <errno.h>
#include <stdlib.h>
#include "clockmap.h"
#include "wire.h"

enum { LINE_NS_MIN = 10000000 }; /* a shorter line is not continued beyond its ends */

int64_t trc_clock_clamp_ns(__int128 ns)
{
	if (ns > TRC_TIME_NS_MAX)
		return TRC_TIME_NS_MAX;
	return ns < -TRC_TIME_NS_MAX ? -TRC_TIME_NS_MAX : (int64_t)ns;
}

static int by_ticks(const void *left, const void *right)
{
	const struct trc_sync_point *l = left, *r = right;

	if (l->ticks != r->ticks)
		return l->ticks < r->ticks ? -1 : 1;
	return (l->monotonic_raw_ns > r->monotonic_raw_ns) -
	       (l->monotonic_raw_ns < r->monotonic_raw_ns);
}

/* Keeps the points at which both clocks went on (C1); returns how many. */
static size_t keep_rising(struct trc_sync_point *sync, size_t n)
{
	size_t kept = 1;

	for (size_t i = 1; i < n; i++)
		if (sync[i].ticks > sync[kept - 1].ticks &&
		    sync[i].monotonic_raw_ns > sync[kept - 1].monotonic_raw_ns)
			sync[kept++] = sync[i];
	return kept;
}

/* slope / 2^shift = ns / ticks, with as many bits as fit. */
static void line_slope(struct trc_clock_line *line, uint64_t ns, uint64_t ticks)
{
	unsigned int shift = 63;

	while (shift && ((unsigned __int128)ns << shift) / ticks > UINT64_MAX)
		shift--;
	line->slope = (uint64_t)(((unsigned __int128)ns << shift) / ticks);
	line->shift = shift;
}

static void line_nominal(struct trc_clock_line *line, uint64_t ticks_per_second)
{
	line_slope(line, 1000000000, ticks_per_second ? ticks_per_second : 1000000000);
}

static int64_t line_ns(const struct trc_clock_line *line, uint64_t ticks)
{
	bool after = ticks >= line->ticks;
	uint64_t distance = after ? ticks - line->ticks : line->ticks - ticks;
	unsigned __int128 ns = (unsigned __int128)distance * line->slope;

	if (!after) /* rounded down on this side, too */
		ns += ((unsigned __int128)1 << line->shift) - 1;
	ns >>= line->shift;
	if (ns > UINT64_MAX)
		ns = UINT64_MAX;
	return trc_clock_clamp_ns(line->ns + (after ? (__int128)ns : -(__int128)ns));
}

static int64_t line_ns_limited(const struct trc_clock_line *line, uint64_t ticks)
{
	int64_t ns = line_ns(line, ticks);

	return ns < line->limit_ns ? ns : line->limit_ns;
}

/* The lines that begin at each of the n points, line[1..n]. */
static void lines_fill(struct trc_clock_line *line, const struct trc_sync_point *sync, size_t n,
		       uint64_t ticks_per_second)
{
	for (size_t i = 0; i < n; i++) {
		struct trc_clock_line *l = &line[i + 1];

		l->ticks = sync[i].ticks;
		l->ns = trc_clock_clamp_ns((__int128)sync[i].monotonic_raw_ns -
					   sync[0].monotonic_raw_ns);
		l->limit_ns = INT64_MAX;
		line[i].limit_ns = l->ns;
		if (i + 1 < n)
			line_slope(l, sync[i + 1].monotonic_raw_ns - sync[i].monotonic_raw_ns,
				   sync[i + 1].ticks - sync[i].ticks);
		else if (n > 1 && l->ns - line[n - 1].ns >= LINE_NS_MIN)
			line_slope(l, sync[i].monotonic_raw_ns - sync[i - 1].monotonic_raw_ns,
				   sync[i].ticks - sync[i - 1].ticks);
		else
			line_nominal(l, ticks_per_second);
	}
	line[0] = line[1];
	line[0].limit_ns = line[1].ns;
	if (n > 1 && line[2].ns - line[1].ns < LINE_NS_MIN)
		line_nominal(&line[0], ticks_per_second);
}

int trc_clockmap_init(struct trc_clockmap *map, struct trc_sync_point *sync, size_t n,
		      uint64_t ticks_per_second, uint64_t origin_ticks)
{
	struct trc_sync_point origin = {.ticks = origin_ticks};

	if (!n) {
		sync = &origin;
		n = 1;
	}
	qsort(sync, n, sizeof(*sync), by_ticks);
	n = keep_rising(sync, n);
	map->line = calloc(n + 1, sizeof(*map->line));
	if (!map->line)
		return -ENOMEM;
	map->n_lines = n + 1;
	lines_fill(map->line, sync, n, ticks_per_second);
	return 0;
}

void trc_clockmap_free(struct trc_clockmap *map)
{
	free(map->line);
	map->line = NULL;
	map->n_lines = 0;
}

/* The last line that begins at or before `ticks`; line 0 if none does. */
static size_t find_line(const struct trc_clockmap *map, uint64_t ticks)
{
	size_t low = 0, high = map->n_lines - 1;

	while (low < high) {
		size_t middle = low + (high - low + 1) / 2;

		if (map->line[middle].ticks <= ticks)
			low = middle;
		else
			high = middle - 1;
	}
	return low;
}

int64_t trc_clockmap_ns(const struct trc_clockmap *map, uint64_t ticks)
{
	return line_ns_limited(&map->line[find_line(map, ticks)], ticks);
}

void trc_clockmap_convert(const struct trc_clockmap *map, uint64_t *ticks, size_t n)
{
	const struct trc_clock_line *line = NULL;
	uint64_t from = 0, before = 0; /* `line` is for ticks from..before - 1 */

	for (size_t i = 0; i < n; i++) {
		uint64_t t = ticks[i];

		if (t < from || t >= before || !line) {
			size_t at = find_line(map, t);

			line = &map->line[at];
			from = at ? line->ticks : 0;
			before = at + 1 < map->n_lines ? map->line[at + 1].ticks : UINT64_MAX;
		}
		ticks[i] = (uint64_t)line_ns_limited(line, t);
	}
}
