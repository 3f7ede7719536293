/* timeline.c - see timeline.h. */
#include "timeline.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "waits.h"

/* ---- rows by thread ---- */

uint32_t trc_thread_of_park(const void *park)
{
	return ((const struct trc_park *)park)->thread;
}

uint32_t trc_thread_of_on_cpu(const void *on_cpu)
{
	return ((const struct trc_on_cpu *)on_cpu)->thread;
}

int trc_by_thread_make(struct trc_by_thread *by, const struct trc_model *m, const void *rows,
		       size_t n, size_t row_bytes, trc_thread_of_fn *thread_of)
{
	size_t n_threads;
	const struct trc_thread *threads = trc_model_threads(m, &n_threads);

	by->first = calloc(n_threads + 2, sizeof(*by->first));
	by->row = calloc(n + 1, sizeof(*by->row));
	if (!by->first || !by->row)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		const struct trc_thread *t =
			trc_model_thread(m, thread_of((const char *)rows + i * row_bytes));

		if (t)
			by->first[t - threads + 1]++;
	}
	for (size_t i = 0; i < n_threads; i++)
		by->first[i + 1] += by->first[i];
	/* first[i] moves up to where the next begins, ... */
	for (size_t i = 0; i < n; i++) {
		const struct trc_thread *t =
			trc_model_thread(m, thread_of((const char *)rows + i * row_bytes));

		if (t)
			by->row[by->first[t - threads]++] = (uint32_t)i;
	}
	/* ... and so back by one place. */
	memmove(by->first + 1, by->first, n_threads * sizeof(*by->first));
	by->first[0] = 0;
	return 0;
}

void trc_by_thread_free(struct trc_by_thread *by)
{
	free(by->first);
	free(by->row);
}

/* ---- pieces ---- */

/* Pieces follow each other: a wait within one that ended before it (clocks) has none left. */
static int piece_add(struct trc_array *pieces, int64_t start_ns, uint32_t park, bool begins)
{
	struct trc_wait_piece *piece = trc_array_add(pieces);

	if (!piece)
		return -ENOMEM;
	if (pieces->n > 1 && piece[-1].start_ns > start_ns)
		start_ns = piece[-1].start_ns;
	*piece = (struct trc_wait_piece){start_ns, park, begins};
	return 0;
}

/* Leaves the waits from `park` outwards that end by then; *park is the one that goes on. */
static int parks_leave(struct trc_array *pieces, const struct trc_model *m, const uint32_t *outer,
		       uint32_t *park, int64_t until_ns)
{
	size_t n;
	const struct trc_park *parks = trc_model_parks(m, &n);
	int err = 0;

	while (*park && !err) {
		int64_t end_ns = trc_park_end_ns(m, &parks[*park - 1]);

		if (end_ns > until_ns)
			break;
		*park = outer[*park - 1];
		err = piece_add(pieces, end_ns, *park, false);
	}
	return err;
}

int trc_wait_pieces_make(struct trc_array *pieces, const struct trc_model *m,
			 const struct trc_by_thread *parks, const uint32_t *outer, size_t thread)
{
	size_t n;
	const struct trc_park *park = trc_model_parks(m, &n);
	uint32_t inside = 0;
	int err;

	pieces->n = 0;
	err = piece_add(pieces, INT64_MIN, 0, false);
	for (uint32_t i = parks->first[thread]; i < parks->first[thread + 1] && !err; i++) {
		uint32_t row = parks->row[i];

		err = parks_leave(pieces, m, outer, &inside, park[row].start_ns);
		if (!err)
			err = piece_add(pieces, park[row].start_ns, row + 1, true);
		inside = row + 1;
	}
	return err ? err : parks_leave(pieces, m, outer, &inside, INT64_MAX);
}

size_t trc_wait_piece_at(const struct trc_array *pieces, int64_t ts_ns)
{
	const struct trc_wait_piece *piece = pieces->row;
	size_t low = 0, high = pieces->n;

	while (high - low > 1) {
		size_t middle = low + (high - low) / 2;

		if (piece[middle].start_ns <= ts_ns)
			low = middle;
		else
			high = middle;
	}
	return low;
}

int64_t trc_model_switches_from_ns(const struct trc_model *m)
{
	size_t n;
	const struct trc_coverage *c = trc_model_coverage(m, &n);
	int64_t from_ns = trc_model_start_ns(m);

	for (size_t i = 0; i < n; i++)
		if (c[i].source == TRC_SOURCE_KERNEL && c[i].from_ns > from_ns)
			from_ns = c[i].from_ns;
	return from_ns;
}
