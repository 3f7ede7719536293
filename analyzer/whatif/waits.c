/* waits.c - see waits.h. */
#include "waits.h"

#include <errno.h>
#include <stdlib.h>

int trc_outer_waits_open(struct trc_outer_waits *w, const struct trc_model *m)
{
	*w = (struct trc_outer_waits){.m = m};
	w->thread = trc_model_threads(m, &w->n_threads);
	w->park = trc_model_parks(m, &w->n_parks);
	w->outer = trc_waits_nesting(m);
	if (!w->outer)
		return -ENOMEM;
	return trc_by_thread_make(&w->by, m, w->park, w->n_parks, sizeof(*w->park),
				  trc_thread_of_park);
}

void trc_outer_waits_close(struct trc_outer_waits *w)
{
	free(w->outer);
	trc_by_thread_free(&w->by);
}

size_t trc_outer_waits_row(const struct trc_outer_waits *w, uint32_t serial)
{
	const struct trc_thread *t = trc_model_thread(w->m, serial);

	return t ? (size_t)(t - w->thread) : SIZE_MAX;
}

/* The thread's last wait that begins by then, or the wait that this one lies in; 0 = none. */
static uint32_t begun_by(const struct trc_outer_waits *w, uint32_t serial, int64_t ts_ns)
{
	size_t row = trc_outer_waits_row(w, serial);
	uint32_t first, low, high, park;

	if (row == SIZE_MAX)
		return 0;
	first = low = w->by.first[row];
	high = w->by.first[row + 1];
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (w->park[w->by.row[middle]].start_ns <= ts_ns)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == first)
		return 0;
	park = w->by.row[low - 1] + 1;
	while (w->outer[park - 1])
		park = w->outer[park - 1];
	return park;
}

uint32_t trc_outer_wait_at(const struct trc_outer_waits *w, uint32_t serial, int64_t ts_ns)
{
	uint32_t park = begun_by(w, serial, ts_ns);

	return park && trc_park_end_ns(w->m, &w->park[park - 1]) > ts_ns ? park : 0;
}

uint32_t trc_outer_wait_before(const struct trc_outer_waits *w, uint32_t serial, int64_t ts_ns)
{
	uint32_t park = begun_by(w, serial, ts_ns);

	if (park && trc_park_end_ns(w->m, &w->park[park - 1]) > ts_ns &&
	    w->park[park - 1].start_ns > INT64_MIN)
		park = begun_by(w, serial, w->park[park - 1].start_ns - 1);
	return park && trc_park_end_ns(w->m, &w->park[park - 1]) <= ts_ns ? park : 0;
}
