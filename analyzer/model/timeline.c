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

uint32_t trc_thread_of_sample(const void *row)
{
	const struct trc_sample *sample = row;

	return sample->stack ? sample->thread : 0;
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

/* A thread's waits lie far apart in the table: the one that comes so many later is fetched early. */
enum { FETCH_AHEAD = 16 };

/* Pieces follow each other: a wait within one that ended before it (clocks) has none left. */
static int timeline_piece_add(struct trc_array *pieces, int64_t start_ns, uint32_t park,
			      bool begins)
{
	struct trc_wait_piece *piece = trc_array_add(pieces);

	if (!piece)
		return -ENOMEM;
	if (pieces->n > 1 && piece[-1].start_ns > start_ns)
		start_ns = piece[-1].start_ns;
	*piece = (struct trc_wait_piece){.start_ns = start_ns, .park = park, .begins = begins};
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
		err = timeline_piece_add(pieces, end_ns, *park, false);
	}
	return err;
}

/* ---- P1 ---- */

struct cutter {
	const struct trc_model *m;
	const struct trc_thread *thread;
	const struct trc_park *park;
	const struct trc_on_cpu *on_cpu;
	const struct trc_by_thread *stretches;
	struct trc_array out;
	int64_t switches_ns;
	uint32_t next, limit; /* in stretches->row: the first that may be followed by a gap here */
};

/* When the thread was without a proc by force, after its stretch i; false = it was not, or nobody knows until when. */
static bool gap_after(const struct cutter *c, uint32_t i, int64_t *from_ns, int64_t *to_ns)
{
	const struct trc_on_cpu *off = &c->on_cpu[c->stretches->row[i]], *next = NULL;

	if (!off->preempted || off->end_ns == TRC_NEVER)
		return false;
	if (i + 1 < c->limit)
		next = &c->on_cpu[c->stretches->row[i + 1]];
	*from_ns = off->end_ns > c->switches_ns ? off->end_ns : c->switches_ns;
	*to_ns = trc_off_until_ns(c->m, c->thread, next);
	return *from_ns < *to_ns;
}

static int cut_add(struct cutter *c, struct trc_wait_piece *piece, int64_t to_ns, bool preempted)
{
	struct trc_wait_piece *added;

	if (piece->start_ns >= to_ns)
		return 0;
	added = trc_array_add(&c->out);
	if (!added)
		return -ENOMEM;
	*added = *piece;
	added->preempted = preempted;
	piece->start_ns = to_ns;
	piece->begins = false;
	return 0;
}

/* A piece of a wait, up to until_ns. */
static int cut_piece(struct cutter *c, struct trc_wait_piece piece, int64_t until_ns)
{
	int64_t from_ns, to_ns;
	int err = 0;

	for (; c->next < c->limit && !err; c->next++) {
		if (!gap_after(c, c->next, &from_ns, &to_ns) || to_ns <= piece.start_ns)
			continue;
		if (from_ns >= until_ns)
			break;
		err = cut_add(c, &piece, from_ns, false);
		if (!err)
			err = cut_add(c, &piece, to_ns < until_ns ? to_ns : until_ns, true);
		if (to_ns > until_ns)
			return err;
	}
	return err || piece.start_ns >= until_ns ? err : cut_add(c, &piece, until_ns, false);
}

static int cut_pieces(struct cutter *c, const struct trc_array *pieces)
{
	const struct trc_wait_piece *piece = pieces->row;
	int err = 0;

	for (size_t i = 0; i < pieces->n && !err; i++) {
		int64_t until_ns = i + 1 < pieces->n ? piece[i + 1].start_ns : INT64_MAX;
		struct trc_wait_piece *added;

		if (piece[i].park && trc_wait_may_be_preempted(&c->park[piece[i].park - 1]) &&
		    piece[i].start_ns < until_ns) {
			err = cut_piece(c, piece[i], until_ns);
			continue;
		}
		added = trc_array_add(&c->out);
		err = added ? 0 : -ENOMEM;
		if (added)
			*added = piece[i];
	}
	return err;
}

static int cut_preempted(struct trc_array *pieces, const struct trc_model *m,
			 const struct trc_by_thread *stretches, size_t thread)
{
	size_t n;
	struct cutter c = {.m = m,
			   .thread = trc_model_threads(m, &n) + thread,
			   .park = trc_model_parks(m, &n),
			   .on_cpu = trc_model_on_cpu(m, &n),
			   .stretches = stretches,
			   .out = {.row_bytes = sizeof(struct trc_wait_piece)},
			   .switches_ns = trc_model_switches_from_ns(m),
			   .next = stretches->first[thread],
			   .limit = stretches->first[thread + 1]};
	int err;

	if (c.next == c.limit)
		return 0;
	err = cut_pieces(&c, pieces);
	trc_array_free(err ? &c.out : pieces);
	if (!err)
		*pieces = c.out;
	return err;
}

int trc_wait_pieces_make(struct trc_array *pieces, const struct trc_model *m,
			 const struct trc_by_thread *parks, const struct trc_by_thread *stretches,
			 const uint32_t *outer, size_t thread)
{
	size_t n;
	const struct trc_park *park = trc_model_parks(m, &n);
	uint32_t inside = 0;
	int err;

	pieces->n = 0;
	err = timeline_piece_add(pieces, INT64_MIN, 0, false);
	for (uint32_t i = parks->first[thread]; i < parks->first[thread + 1] && !err; i++) {
		uint32_t row = parks->row[i];

		if (parks->first[thread + 1] - i > FETCH_AHEAD)
			__builtin_prefetch(&park[parks->row[i + FETCH_AHEAD]]);
		err = parks_leave(pieces, m, outer, &inside, park[row].start_ns);
		if (!err)
			err = timeline_piece_add(pieces, park[row].start_ns, row + 1, true);
		inside = row + 1;
	}
	if (!err)
		err = parks_leave(pieces, m, outer, &inside, INT64_MAX);
	return err ? err : cut_preempted(pieces, m, stretches, thread);
}

/* The last of low..high that has begun. */
static size_t piece_within(const struct trc_wait_piece *piece, size_t low, size_t high,
			   int64_t ts_ns)
{
	while (high - low > 1) {
		size_t middle = low + (high - low) / 2;

		if (piece[middle].start_ns <= ts_ns)
			low = middle;
		else
			high = middle;
	}
	return low;
}

size_t trc_wait_piece_at(const struct trc_array *pieces, int64_t ts_ns)
{
	return piece_within(pieces->row, 0, pieces->n, ts_ns);
}

size_t trc_wait_piece_near(const struct trc_array *pieces, int64_t ts_ns, size_t near)
{
	const struct trc_wait_piece *piece = pieces->row;
	size_t step = 1;

	if (near >= pieces->n || piece[near].start_ns > ts_ns)
		return trc_wait_piece_at(pieces, ts_ns);
	while (step < pieces->n - near && piece[near + step].start_ns <= ts_ns) {
		near += step;
		step *= 2;
	}
	return piece_within(piece, near, step < pieces->n - near ? near + step : pieces->n, ts_ns);
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
