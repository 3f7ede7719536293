/*
 * latencies.c - how long threads that could run had to wait for a proc: TRC_PART_LATENCIES.
 *
 * Between two stretches on a proc a thread either could not run, or could since some time: from when
 * it was preempted, or from when another thread ended the wait that it was in.
 *
 *   latencies:Z1  between two stretches there is one latency at most
 *   latencies:Z2  a thread that was woken before it had left its proc can run from when it left the proc.  The waker
 *       records the time just before it acts
 *   latencies:Z3  if the end of a wait has an unknown cause, such as data from outside or a time limit, there is no
 *       latency: the time from which the thread could run is not known, as data from outside or a time limit, is no
 *       latency: since when the thread could run is not known
 *   latencies:Z4  a new thread can run since its creator asked for it: this latency contains the time for making a
 *       thread, too
 *   latencies:Z5  a latency that is not over at the trace's end is left out
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include "analyzer/model/on_procs.h"
#include "analyzer/model/parts.h"
#include "analyzer/model/timeline.h"
#include "analyzer/model/waits.h"

struct latencies {
	struct trc_model *m;
	const struct trc_on_cpu *on_cpu;
	const struct trc_park *park;
	size_t n_on_cpu, n_parks;
	struct trc_by_thread stretches, parks;
	uint32_t *outer; /* by row of parks: of trc_waits_nesting() */
	struct trc_on_procs procs;
};

/* ---- who ran instead ---- */

static void find_instead(struct latencies *l, struct trc_latency *row)
{
	struct trc_instead instead;

	trc_on_procs_instead(&l->procs, row->instead_proc, row->woken_ns, row->running_ns,
			     &instead);
	row->own_ns = instead.all_ns;
	row->instead = instead.thread;
	row->instead_ns = instead.ns;
}

/* ---- latencies ---- */

static int latency_row_add(struct latencies *l, const struct trc_latency *row)
{
	struct trc_latency *added;
	int64_t ns;

	/* A damaged clock makes times that are farther apart than can be told. */
	if (row->woken_ns > row->running_ns ||
	    __builtin_sub_overflow(row->running_ns, row->woken_ns, &ns))
		return 0;
	added = trc_array_add(&l->m->latencies);
	if (!added)
		return -ENOMEM;
	*added = *row;
	find_instead(l, added);
	return 0;
}

/* A thread's waits, while its time goes on. */
struct wakes {
	uint32_t next, limit; /* in l->parks.row */
	uint32_t latest;      /* id of the wait that began last; 0 = none did */
};

/* Another thread ended this wait, and then the thread ran again at on_ns, off its proc since off_ns. */
static bool woke(const struct latencies *l, const struct trc_park *park, int64_t off_ns,
		 int64_t on_ns)
{
	if (!park->waker || park->wake_ns == TRC_NEVER || park->wake_ns > on_ns)
		return false;
	if (park->wake_ns >= off_ns)
		return true;
	/* Z2: the wait went on when it left its proc, and until it ran again. */
	return park->start_ns <= off_ns && trc_park_end_ns(l->m, park) >= on_ns;
}

/* That wait, the one that was ended last; NULL = none is known. */
static const struct trc_park *woken_from(const struct latencies *l, struct wakes *w, int64_t off_ns,
					 int64_t on_ns)
{
	enum { WITHIN_EACH_OTHER = 8 };
	const struct trc_park *woken = NULL;
	uint32_t id = w->latest;

	for (int i = 0; id && i < WITHIN_EACH_OTHER; i++, id = l->outer[id - 1])
		if (woke(l, &l->park[id - 1], off_ns, on_ns) &&
		    (!woken || l->park[id - 1].wake_ns > woken->wake_ns))
			woken = &l->park[id - 1];
	for (; w->next < w->limit; w->next++) {
		const struct trc_park *park = &l->park[l->parks.row[w->next]];

		if (park->start_ns > on_ns)
			break;
		if (woke(l, park, off_ns, on_ns) && (!woken || park->wake_ns >= woken->wake_ns))
			woken = park;
		w->latest = l->parks.row[w->next] + 1;
	}
	return woken;
}

static int latency_add_between(struct latencies *l, struct wakes *w,
			       const struct trc_on_cpu *before, const struct trc_on_cpu *after)
{
	struct trc_latency row = {.kind = TRC_LATENCY_PREEMPTED,
				  .woken_ns = before->end_ns,
				  .running_ns = after->start_ns,
				  .thread = after->thread,
				  .proc = after->proc,
				  .instead_proc = before->proc};
	const struct trc_park *park;

	if (before->end_ns == TRC_NEVER || after->start_ns == TRC_NEVER)
		return 0;
	park = woken_from(l, w, before->end_ns, after->start_ns);
	if (before->preempted)
		return latency_row_add(l, &row);
	if (!park)
		return 0; /* Z3 */
	row.kind = TRC_LATENCY_WOKEN;
	row.instead_proc = after->proc;
	row.woken_ns = park->wake_ns > before->end_ns ? park->wake_ns : before->end_ns;
	row.waker = park->waker;
	row.park = (uint32_t)(park - l->park) + 1;
	return latency_row_add(l, &row);
}

/* Z4 */
static int add_first(struct latencies *l, const struct trc_thread *t, const struct trc_on_cpu *on)
{
	struct trc_latency row = {.kind = TRC_LATENCY_NEW,
				  .woken_ns = t->created_ns,
				  .running_ns = on->start_ns,
				  .thread = t->serial,
				  .waker = t->creator,
				  .proc = on->proc,
				  .instead_proc = on->proc};

	if (t->created_ns == TRC_NEVER || on->start_ns == TRC_NEVER || on->start_ns > t->start_ns)
		return 0;
	return latency_row_add(l, &row);
}

static int latencies_add_thread(struct latencies *l, size_t thread)
{
	struct wakes w = {l->parks.first[thread], l->parks.first[thread + 1], 0};
	size_t n;
	const struct trc_thread *t = &trc_model_threads(l->m, &n)[thread];
	int err = 0;

	if (l->stretches.first[thread] < l->stretches.first[thread + 1])
		err = add_first(l, t, &l->on_cpu[l->stretches.row[l->stretches.first[thread]]]);
	for (uint32_t i = l->stretches.first[thread] + 1;
	     i < l->stretches.first[thread + 1] && !err; i++)
		err = latency_add_between(l, &w, &l->on_cpu[l->stretches.row[i - 1]],
					  &l->on_cpu[l->stretches.row[i]]);
	return err;
}

static int latencies_add_threads(struct latencies *l)
{
	size_t n;
	int err;

	trc_model_threads(l->m, &n);
	l->outer = trc_waits_nesting(l->m);
	err = l->outer ? trc_on_procs_make(&l->procs, l->m) : -ENOMEM;
	if (!err)
		err = trc_by_thread_make(&l->stretches, l->m, l->on_cpu, l->n_on_cpu,
					 sizeof(*l->on_cpu), trc_thread_of_on_cpu);
	if (!err)
		err = trc_by_thread_make(&l->parks, l->m, l->park, l->n_parks, sizeof(*l->park),
					 trc_thread_of_park);
	for (size_t i = 0; i < n && !err; i++)
		err = latencies_add_thread(l, i);
	return err;
}

int trc_derive_latencies(struct trc_model *m, struct trc_error *error)
{
	struct latencies l = {.m = m};
	int err = 0;

	l.on_cpu = trc_model_on_cpu(m, &l.n_on_cpu);
	l.park = trc_model_parks(m, &l.n_parks);
	if (l.n_on_cpu)
		err = latencies_add_threads(&l);
	if (!err)
		err = trc_array_sort(&m->latencies, offsetof(struct trc_latency, woken_ns),
				     offsetof(struct trc_latency, thread));
	trc_by_thread_free(&l.stretches);
	trc_by_thread_free(&l.parks);
	trc_on_procs_free(&l.procs);
	free(l.outer);
	if (err) {
		snprintf(error->text, sizeof(error->text), "scheduling latencies: out of memory");
		trc_array_free(&m->latencies);
	}
	return err;
}
