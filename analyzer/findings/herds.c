/*
 * herds.c - condition variables that wake many threads for the work of one.
 *
 * A waking may have been for nothing if the thread ran for less than IN_VAIN_NS before it waited again for
 * the same object, at the same place; waiting for a lock in between does not count as running.  A thread that waited for
 * anything else did something.  If all threads that are woken wait again at once, there is no finding:
 * each of them may have had something to see.
 */
#include <errno.h>
#include <stdlib.h>
#include "parts.h"
#include "format/check.h"

enum { IN_VAIN_NS = 20000, IN_VAIN_LEAST = 100, AT_A_TIME = 3 };

struct herd {
	uint64_t object;
	uint32_t place;
	uint64_t woken, in_vain, waves;
	struct trc_finding_at f; /* the longest waking for nothing */
	uint32_t by_stack;	 /* who woke the thread then */
};

/* Of a thread: the wait that a waking ended, and what the thread waited since. */
struct before {
	size_t park; /* index + 1; 0 = none */
	int64_t waited_ns;
};

struct herds {
	struct trc_report *r;
	struct trc_array herds; /* struct herd */
	struct trc_index index;
	struct before *before; /* by row of the thread */
};

static uint64_t herd_key(const struct trc_report *r, const struct trc_park *park)
{
	const uint64_t key[] = {park->object, trc_report_canonical(r, park->stack)};

	return trc_check64(key, sizeof(key), 0);
}

static struct herd *herd_of(struct herds *h, const struct trc_park *park)
{
	uint64_t key = herd_key(h->r, park);
	uint32_t at = trc_index_get(&h->index, key);
	struct herd *herd;

	if (at != TRC_INDEX_NONE)
		return (struct herd *)h->herds.row + at;
	herd = trc_array_add(&h->herds);
	if (!herd || trc_index_put(&h->index, key, (uint32_t)h->herds.n - 1))
		return NULL;
	herd->object = park->object;
	herd->place = trc_report_canonical(h->r, park->stack);
	return herd;
}

/* The waking that ended `woken` was for nothing; the thread waits again from again_ns on. */
static void add_in_vain(struct herd *herd, const struct trc_report *r, size_t woken,
			int64_t again_ns)
{
	const struct trc_park *park = &r->park[woken];
	int64_t ns = again_ns - park->end_ns;

	herd->in_vain++;
	trc_report_add(&herd->f.cost_ns, ns);
	if (herd->f.park && ns <= herd->f.end_ns - herd->f.start_ns)
		return;
	herd->f.start_ns = park->end_ns;
	herd->f.end_ns = again_ns;
	herd->f.thread = park->thread;
	herd->f.park = trc_report_park_id(r, woken);
	herd->by_stack = park->waker_stack;
}

/* Parks come by start. */
static int add_park(struct herds *h, size_t i)
{
	const struct trc_park *park = &h->r->park[i];
	const struct trc_thread *thread = trc_model_thread(h->r->m, park->thread);
	struct before *before;
	struct herd *herd;

	if (!thread)
		return 0;
	before = &h->before[thread - h->r->thread];
	if (park->reason != TRC_REASON_COND) {
		if (trc_wait_class(park->reason) != TRC_WAIT_LOCKS)
			before->park = 0;
		trc_report_add(&before->waited_ns,
			       trc_park_end_ns(h->r->m, park) - trc_park_start_ns(h->r->m, park));
		return 0;
	}
	herd = herd_of(h, park);
	if (!herd)
		return -ENOMEM;
	if (before->park) {
		const struct trc_park *woken = &h->r->park[before->park - 1];

		if (woken->object == park->object &&
		    trc_report_canonical(h->r, woken->stack) == herd->place &&
		    park->start_ns - woken->end_ns - before->waited_ns < IN_VAIN_NS)
			add_in_vain(herd, h->r, before->park - 1, park->start_ns);
	}
	*before = (struct before){0};
	if (park->waker && park->end_ns != TRC_NEVER &&
	    trc_selection_has_time(h->r->selection, park->thread, park->wake_ns)) {
		before->park = i + 1;
		herd->woken++;
	}
	return 0;
}

/* How many wakings woke the threads of this herd. */
static int count_waves(struct herds *h, struct herd *herd)
{
	struct trc_index waves = {0};
	int err = 0;

	for (size_t i = 0; i < h->r->n_parks && !err; i++) {
		const struct trc_park *park = &h->r->park[i];
		const uint64_t key[] = {(uint64_t)park->wake_ns, park->waker};
		uint64_t hash;

		if (park->reason != TRC_REASON_COND || park->object != herd->object ||
		    !park->waker || trc_report_canonical(h->r, park->stack) != herd->place)
			continue;
		hash = trc_check64(key, sizeof(key), 0);
		if (trc_index_get(&waves, hash) == TRC_INDEX_NONE) {
			herd->waves++;
			err = trc_index_put(&waves, hash, 1);
		}
	}
	trc_index_free(&waves);
	return err;
}

static int herd_tell(struct herds *h, struct herd *herd, struct trc_array *out)
{
	char in_vain[TRC_NUMBER_BYTES], woken[TRC_NUMBER_BYTES], cost[TRC_NUMBER_BYTES];
	struct trc_finding f = trc_finding_of(TRC_FINDING_HERD, &herd->f);
	struct trc_line line;

	if (herd->by_stack) {
		trc_finding_line(&line);
		trc_line_add(&line, "threads were woken at ");
		trc_report_place(h->r, &line, herd->by_stack);
		trc_finding_set_why(&f, &line);
	}
	trc_finding_sql_add(
		&f,
		"SELECT wake_ns, waker_thread, count(*) AS woken FROM parks WHERE reason "
		"= 'cond' AND object = %lld AND waker_thread IS NOT NULL GROUP BY wake_ns, "
		"waker_thread ORDER BY woken DESC",
		(long long)herd->object);
	trc_finding_line(&line);
	trc_line_add(&line, "%s of %s wakings for ", trc_text_count(in_vain, herd->in_vain),
		     trc_text_count(woken, herd->woken));
	trc_line_add(&line, "%s", trc_reason_name(TRC_REASON_COND));
	trc_report_object(h->r, &line, TRC_REASON_COND, herd->object, herd->place);
	trc_line_add(&line, " led to nothing but the next wait, at ");
	trc_report_place(h->r, &line, herd->place);
	trc_line_add(&line, ", after %s in all", trc_text_duration(cost, herd->f.cost_ns));
	trc_line_add(&line, "; %.1f threads are woken at a time",
		     (double)herd->woken / (double)herd->waves);
	return trc_finding_add(out, &f, &line);
}

static int tell_if_many(struct herds *h, struct herd *herd, struct trc_array *out)
{
	int err;

	if (herd->in_vain < IN_VAIN_LEAST || herd->in_vain < herd->woken / 2 ||
	    herd->f.cost_ns < h->r->length_ns / 100) /* G3 */
		return 0;
	err = count_waves(h, herd);
	if (err || herd->woken < AT_A_TIME * herd->waves ||
	    herd->woken - herd->in_vain < herd->waves / 2)
		return err;
	return herd_tell(h, herd, out);
}

int trc_find_herds(struct trc_report *r, struct trc_array *out)
{
	struct herds h = {
		.r = r,
		.herds = {.row_bytes = sizeof(struct herd)},
		.before = calloc(r->n_threads + 1, sizeof(*h.before)),
	};
	int err = h.before ? 0 : -ENOMEM;

	for (size_t i = 0; i < r->n_parks && !err; i++)
		err = add_park(&h, i);
	for (size_t i = 0; i < h.herds.n && !err; i++)
		err = tell_if_many(&h, (struct herd *)h.herds.row + i, out);
	trc_array_free(&h.herds);
	trc_index_free(&h.index);
	free(h.before);
	return err;
}
