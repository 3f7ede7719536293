/* threads.c - how long threads of like names ran, were in no wait, and waited for locks (diff:D8). */
#include <errno.h>
#include <stdlib.h>
#include "run.h"
#include "analyzer/model/waits.h"

static int add_ran(struct trc_diff_summing *s)
{
	size_t n;
	const struct trc_on_cpu *row = trc_model_on_cpu(s->names.m, &n);

	for (size_t i = 0; i < n; i++) {
		struct trc_diff_amount a = {row[i].start_ns, row[i].end_ns, 0, -1, 0};
		uint32_t id = trc_diff_threads_item(s, TRC_DIFF_RAN, row[i].thread);

		if (!id)
			return -ENOMEM;
		if (a.start_ns == TRC_NEVER)
			a.start_ns = s->sums->start_ns;
		if (a.end_ns == TRC_NEVER)
			a.end_ns = s->sums->end_ns;
		if (a.end_ns <= a.start_ns)
			continue;
		a.value = (double)(a.end_ns - a.start_ns);
		trc_diff_item_add(s, id, &a);
	}
	return 0;
}

/* Of a thread that was there before the trace, or is when the trace ends, the part in between. */
static int64_t life(const struct trc_diff_sums *sums, const struct trc_thread *thread,
		    int64_t *start_ns)
{
	int64_t end_ns = thread->end_ns == TRC_NEVER ? sums->end_ns : thread->end_ns;

	*start_ns = thread->start_ns == TRC_NEVER ? sums->start_ns : thread->start_ns;
	return end_ns > *start_ns ? end_ns : *start_ns;
}

/* First all of their lives, from which waits are taken off. */
static int add_lives(struct trc_diff_summing *s)
{
	size_t n;
	const struct trc_thread *thread = trc_model_threads(s->names.m, &n);

	for (size_t i = 0; i < n; i++) {
		struct trc_diff_amount a = {.span_ns = -1};
		uint32_t id = trc_diff_threads_item(s, TRC_DIFF_ACTIVE, thread[i].serial);

		if (!id)
			return -ENOMEM;
		a.end_ns = life(s->sums, &thread[i], &a.start_ns);
		a.value = (double)(a.end_ns - a.start_ns);
		if (a.value > 0)
			trc_diff_item_add(s, id, &a);
	}
	return 0;
}

/* A wait within another one, as in a signal handler, is taken off once. */
static int take_off_waits(struct trc_diff_summing *s, int64_t *until_ns)
{
	size_t n, n_threads;
	const struct trc_park *park = trc_model_parks(s->names.m, &n);
	const struct trc_thread *first = trc_model_threads(s->names.m, &n_threads);

	for (size_t i = 0; i < n; i++) {
		const struct trc_thread *thread = trc_model_thread(s->names.m, park[i].thread);
		struct trc_diff_amount a = {.span_ns = -1};
		int64_t from_ns, to_ns, *until = thread ? &until_ns[thread - first] : NULL;
		uint32_t id;

		if (!thread)
			continue;
		to_ns = life(s->sums, thread, &from_ns);
		a.start_ns = trc_park_start_ns(s->names.m, &park[i]);
		a.end_ns = trc_park_end_ns(s->names.m, &park[i]);
		from_ns = from_ns > *until ? from_ns : *until;
		a.start_ns = a.start_ns > from_ns ? a.start_ns : from_ns;
		a.end_ns = a.end_ns < to_ns ? a.end_ns : to_ns;
		if (a.end_ns <= a.start_ns)
			continue;
		*until = a.end_ns;
		a.value = -(double)(a.end_ns - a.start_ns);
		id = trc_diff_threads_item(s, TRC_DIFF_ACTIVE, thread->serial);
		if (!id)
			return -ENOMEM;
		trc_diff_item_add(s, id, &a);
	}
	return 0;
}

static int summing_add_active(struct trc_diff_summing *s)
{
	size_t n;
	int64_t *until_ns;
	int err;

	trc_model_threads(s->names.m, &n);
	until_ns = malloc((n + 1) * sizeof(*until_ns));
	for (size_t i = 0; until_ns && i < n; i++)
		until_ns[i] = INT64_MIN;
	err = until_ns ? add_lives(s) : -ENOMEM;
	if (!err)
		err = take_off_waits(s, until_ns);
	free(until_ns);
	return err;
}

static int add_blocked(struct trc_diff_summing *s)
{
	size_t n;
	const struct trc_park *park = trc_model_parks(s->names.m, &n);

	for (size_t i = 0; i < n; i++) {
		struct trc_diff_amount a = {trc_park_start_ns(s->names.m, &park[i]),
					    trc_park_end_ns(s->names.m, &park[i]), 0, -1, 0};
		uint32_t id;

		if (trc_wait_class(park[i].reason) != TRC_WAIT_LOCKS)
			continue;
		id = trc_diff_threads_item(s, TRC_DIFF_BLOCKED, park[i].thread);
		if (!id)
			return -ENOMEM;
		a.end_ns = a.end_ns < a.start_ns ? a.start_ns : a.end_ns;
		a.value = (double)(a.end_ns - a.start_ns);
		trc_diff_item_add(s, id, &a);
	}
	return 0;
}

int trc_diff_add_threads(struct trc_diff_summing *s)
{
	int err = add_ran(s);

	if (!err)
		err = summing_add_active(s);
	return err ? err : add_blocked(s);
}
