/* preempted.c - see preempted.h. */
#include "order.h"
#include "preempted.h"

#include <errno.h>
#include <stdlib.h>
#include "image.h"
#include "parts.h"
#include "timeline.h"
#include "waits.h"

struct maker {
	struct trc_preempted *p;
	const struct trc_model *m;
	const struct trc_on_cpu *on_cpu;
	struct trc_by_thread stretches, parks;
	uint32_t *outer;
	struct trc_array pieces; /* of one thread: struct trc_wait_piece */
	int64_t switches_ns;
};

static int time_add(struct maker *k, size_t thread, int64_t from_ns, int64_t to_ns)
{
	struct trc_array *times = &k->p->time;
	struct trc_preempted_time *time;
	int64_t before_ns = 0;

	if (from_ns >= to_ns)
		return 0;
	if (times->n > k->p->first[thread]) {
		time = (struct trc_preempted_time *)times->row + times->n - 1;
		before_ns = time->before_ns;
		trc_add_ns(&before_ns, time->from_ns, time->to_ns);
	}
	time = trc_array_add(times);
	if (time)
		*time = (struct trc_preempted_time){from_ns, to_ns, before_ns};
	return time ? 0 : -ENOMEM;
}

static int preempted_wait_add(struct maker *k, uint32_t park, uint32_t thread, int64_t from_ns,
			      int64_t to_ns)
{
	struct trc_preempted_wait *wait;

	if (from_ns >= to_ns)
		return 0;
	wait = trc_array_add(&k->p->wait);
	if (!wait)
		return -ENOMEM;
	*wait = (struct trc_preempted_wait){from_ns, to_ns, park, thread};
	return 0;
}

/* What of from..to the thread was in no wait, or in one that does not count (timeline:P1). */
static int add_gap(struct maker *k, const struct trc_thread *t, size_t thread, int64_t from_ns,
		   int64_t to_ns)
{
	const struct trc_wait_piece *piece = k->pieces.row;
	int err = 0;

	if (from_ns >= to_ns)
		return 0;
	for (size_t i = trc_wait_piece_at(&k->pieces, from_ns); i < k->pieces.n && !err; i++) {
		int64_t until_ns = i + 1 < k->pieces.n ? piece[i + 1].start_ns : INT64_MAX;
		int64_t start_ns = trc_later_ns(piece[i].start_ns, from_ns);

		if (piece[i].start_ns >= to_ns)
			break;
		until_ns = trc_earlier_ns(until_ns, to_ns);
		if (!piece[i].park || piece[i].preempted)
			err = time_add(k, thread, start_ns, until_ns);
		if (piece[i].park && piece[i].preempted && !err)
			err = preempted_wait_add(k, piece[i].park, t->serial, start_ns, until_ns);
	}
	return err;
}

static int preempted_add_thread(struct maker *k, const struct trc_thread *t, size_t thread)
{
	int64_t start_ns = trc_later_ns(t->start_ns, k->switches_ns);
	uint32_t limit = k->stretches.first[thread + 1];
	bool has_pieces = false;
	int err = 0;

	for (uint32_t i = k->stretches.first[thread]; i < limit && !err; i++) {
		const struct trc_on_cpu *on = &k->on_cpu[k->stretches.row[i]], *next = NULL;

		if (!on->preempted || on->end_ns == TRC_NEVER)
			continue;
		if (!has_pieces)
			err = trc_wait_pieces_make(&k->pieces, k->m, &k->parks, &k->stretches,
						   k->outer, thread);
		has_pieces = true;
		if (i + 1 < limit)
			next = &k->on_cpu[k->stretches.row[i + 1]];
		if (!err)
			err = add_gap(k, t, thread, trc_later_ns(on->end_ns, start_ns),
				      trc_off_until_ns(k->m, t, next));
	}
	return err;
}

static int preempted_add_threads(struct maker *k)
{
	size_t n;
	const struct trc_thread *thread = trc_model_threads(k->m, &n);
	int err = 0;

	k->p->first = calloc(n + 1, sizeof(*k->p->first));
	if (!k->p->first)
		return -ENOMEM;
	for (size_t i = 0; i < n && !err; i++) {
		k->p->first[i] = (uint32_t)k->p->time.n;
		err = preempted_add_thread(k, &thread[i], i);
	}
	k->p->first[n] = (uint32_t)k->p->time.n;
	return err;
}

static int compare_waits(const void *a, const void *b)
{
	const struct trc_preempted_wait *x = a, *y = b;

	if (x->park != y->park)
		return x->park < y->park ? -1 : 1;
	return (x->from_ns > y->from_ns) - (x->from_ns < y->from_ns);
}

int trc_preempted_make(struct trc_preempted *p, const struct trc_model *m)
{
	struct maker k = {.p = p,
			  .m = m,
			  .pieces = {.row_bytes = sizeof(struct trc_wait_piece)},
			  .switches_ns = trc_model_switches_from_ns(m)};
	size_t n_on_cpu, n_parks;
	const struct trc_park *park = trc_model_parks(m, &n_parks);
	int err;

	*p = (struct trc_preempted){.m = m,
				    .time = {.row_bytes = sizeof(struct trc_preempted_time)},
				    .wait = {.row_bytes = sizeof(struct trc_preempted_wait)}};
	k.on_cpu = trc_model_on_cpu(m, &n_on_cpu);
	if (!n_on_cpu)
		return 0;
	k.outer = trc_waits_nesting(m);
	err = k.outer ? trc_by_thread_make(&k.stretches, m, k.on_cpu, n_on_cpu, sizeof(*k.on_cpu),
					   trc_thread_of_on_cpu)
		      : -ENOMEM;
	if (!err)
		err = trc_by_thread_make(&k.parks, m, park, n_parks, sizeof(*park),
					 trc_thread_of_park);
	if (!err)
		err = preempted_add_threads(&k);
	if (p->wait.n)
		qsort(p->wait.row, p->wait.n, p->wait.row_bytes, compare_waits);
	free(k.outer);
	trc_by_thread_free(&k.stretches);
	trc_by_thread_free(&k.parks);
	trc_array_free(&k.pieces);
	return err;
}

void trc_preempted_free(struct trc_preempted *p)
{
	trc_array_free(&p->time);
	trc_array_free(&p->wait);
	if (!p->m || !trc_image_has(p->m, p->first))
		free(p->first);
	p->first = NULL;
}

/* The thread's preempted time before ts_ns. */
static int64_t preempted_before(const struct trc_preempted *p, uint32_t first, uint32_t limit,
				int64_t ts_ns)
{
	const struct trc_preempted_time *time = p->time.row;
	uint32_t low = first, high = limit;
	int64_t ns;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (time[middle].from_ns < ts_ns)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == first)
		return 0;
	ns = time[low - 1].before_ns;
	trc_add_ns(&ns, time[low - 1].from_ns, trc_earlier_ns(ts_ns, time[low - 1].to_ns));
	return ns;
}

int64_t trc_preempted_ns(const struct trc_preempted *p, uint32_t thread, int64_t from_ns,
			 int64_t to_ns)
{
	const struct trc_thread *t;
	size_t n, row;

	if (!trc_preempted_known(p) || from_ns >= to_ns)
		return 0;
	t = trc_model_thread(p->m, thread);
	if (!t)
		return 0;
	row = (size_t)(t - trc_model_threads(p->m, &n));
	return preempted_before(p, p->first[row], p->first[row + 1], to_ns) -
	       preempted_before(p, p->first[row], p->first[row + 1], from_ns);
}

const struct trc_preempted_wait *trc_preempted_waits(const struct trc_preempted *p, size_t *n)
{
	*n = p ? p->wait.n : 0;
	return p ? p->wait.row : NULL;
}

int64_t trc_preempted_wait_ns(const struct trc_preempted *p, uint32_t park, int64_t from_ns,
			      int64_t to_ns)
{
	size_t n, low = 0, high;
	const struct trc_preempted_wait *wait = trc_preempted_waits(p, &n);
	int64_t ns = 0;

	for (high = n; low < high;) {
		size_t middle = low + (high - low) / 2;

		if (wait[middle].park < park)
			low = middle + 1;
		else
			high = middle;
	}
	for (; low < n && wait[low].park == park; low++)
		if (wait[low].from_ns < to_ns && wait[low].to_ns > from_ns)
			trc_add_ns(&ns, trc_later_ns(wait[low].from_ns, from_ns),
				   trc_earlier_ns(wait[low].to_ns, to_ns));
	return ns;
}
