/*
 * idle.c - threads that are nearly always in one wait: pools without work, servers without
 * requests.
 *
 * Such waits last longest and cost nothing.  They are told in one line, after what cost something.
 * A thread is idle if it lived for half of the trace or more, and 95 % of its life or more was
 * waits of one reason at one place.  A wait for a lock, a file, a child, a thread's end or a
 * barrier is never idle: somebody makes the thread wait.  Nor is a thread idle that waits for its
 * own workers: if of the waits that did not time out half or more, by time, were ended by threads
 * that it had created, or that these had, and that did not wait for most of their lives themselves.
 */
#include <errno.h>
#include <stdlib.h>
#include "parts.h"

enum { IDLE_PERCENT = 95, PLACES_MAX = 3 };

static bool can_idle(unsigned int reason)
{
	switch (reason) {
	case TRC_REASON_COND:
	case TRC_REASON_SEM:
	case TRC_REASON_FUTEX:
	case TRC_REASON_MSG:
	case TRC_REASON_SLEEP:
	case TRC_REASON_POLL:
	case TRC_REASON_EPOLL:
	case TRC_REASON_SIGNAL:
	case TRC_REASON_ACCEPT:
		return true;
	default:
		return false;
	}
}

static bool is_most(int64_t part_ns, int64_t whole_ns)
{
	return whole_ns > 0 && part_ns > 0 &&
	       part_ns >= whole_ns - whole_ns / 100 * (100 - IDLE_PERCENT);
}

/* Whether the thread may be idle, by its sums. */
static bool is_candidate(const struct trc_report *r, size_t row)
{
	int64_t alive_ns = trc_report_lifetime_ns(r, &r->thread[row]);
	const int64_t *class_ns = r->class_ns[row];

	return alive_ns >= (r->end_ns - r->start_ns) / 2 &&
	       (is_most(class_ns[TRC_WAIT_THREADS], alive_ns) ||
		is_most(class_ns[TRC_WAIT_OUTSIDE], alive_ns));
}

static uint64_t place_of(const struct trc_report *r, const struct trc_park *park)
{
	return (uint64_t)park->reason << 32 | trc_report_canonical(r, park->stack);
}

struct sum {
	uint64_t place;
	int64_t ns;
	uint32_t row;  /* of thread */
	uint32_t next; /* another place of the thread, TRC_INDEX_NONE = none */
};

/* Adds a wait to the sums of its thread; the chain of a thread's places begins at first[row]. */
static int sum_add(struct trc_array *sums, uint32_t *first, uint32_t row, uint64_t place,
		   int64_t ns)
{
	enum { PLACES = 64 }; /* who waits at more of them is idle at none */
	struct sum *sum = sums->row;
	int n = 0;

	for (uint32_t i = first[row]; i != TRC_INDEX_NONE; i = sum[i].next, n++) {
		if (sum[i].place == place) {
			trc_report_add(&sum[i].ns, ns);
			return 0;
		}
	}
	if (n >= PLACES)
		return 0;
	sum = trc_array_add(sums);
	if (!sum)
		return -ENOMEM;
	*sum = (struct sum){place, ns, row, first[row]};
	first[row] = (uint32_t)(sums->n - 1);
	return 0;
}

static int sum_parks(const struct trc_report *r, struct trc_array *sums, uint32_t *first,
		     const bool *candidate)
{
	int err = 0;

	for (size_t i = 0; i < r->n_parks && !err; i++) {
		const struct trc_park *park = &r->park[i];
		const struct trc_thread *thread;

		if (!can_idle(park->reason))
			continue;
		thread = trc_model_thread(r->m, park->thread);
		if (thread && candidate[thread - r->thread])
			err = sum_add(sums, first, (uint32_t)(thread - r->thread),
				      place_of(r, park),
				      trc_park_end_ns(r->m, park) - trc_park_start_ns(r->m, park));
	}
	return err;
}

/* ---- workers ---- */

static bool is_descendant(const struct trc_report *r, const struct trc_thread *thread,
			  uint32_t ancestor)
{
	enum { GENERATIONS_MAX = 16 }; /* a broken trace may have circles */

	for (int i = 0; thread && i < GENERATIONS_MAX; i++) {
		if (thread->creator == ancestor)
			return true;
		thread = thread->creator ? trc_model_thread(r->m, thread->creator) : NULL;
	}
	return false;
}

static bool is_busy(const struct trc_report *r, const struct trc_thread *thread)
{
	int64_t waited_ns = 0;

	for (int class = 0; class < TRC_WAIT_CLASSES; class ++)
		trc_report_add(&waited_ns, r->class_ns[thread - r->thread][class]);
	return waited_ns < trc_report_lifetime_ns(r, thread) / 2;
}

static bool is_for_worker(const struct trc_report *r, const struct trc_park *park)
{
	const struct trc_thread *waker = park->waker ? trc_model_thread(r->m, park->waker) : NULL;

	return waker && waker->serial != park->thread && is_busy(r, waker) &&
	       is_descendant(r, waker, park->thread);
}

/* Takes those off who wait for their workers. */
static int leave_out_masters(struct trc_report *r)
{
	struct wait {
		int64_t all_ns, for_workers_ns;
	} *wait = calloc(r->n_threads + 1, sizeof(*wait));

	if (!wait)
		return -ENOMEM;
	for (size_t i = 0; i < r->n_parks; i++) {
		const struct trc_park *park = &r->park[i];
		int64_t ns = trc_park_end_ns(r->m, park) - trc_park_start_ns(r->m, park);
		const struct trc_thread *thread;

		if (park->result == ETIMEDOUT || !trc_report_is_idle(r, park))
			continue;
		thread = trc_model_thread(r->m, park->thread);
		trc_report_add(&wait[thread - r->thread].all_ns, ns);
		if (is_for_worker(r, park))
			trc_report_add(&wait[thread - r->thread].for_workers_ns, ns);
	}
	for (size_t i = 0; i < r->n_threads; i++)
		if (wait[i].for_workers_ns && wait[i].for_workers_ns >= wait[i].all_ns / 2)
			r->idle_at[i] = 0;
	free(wait);
	return 0;
}

static int find_idle(struct trc_report *r, bool *candidate, uint32_t *first)
{
	struct trc_array sums = {.row_bytes = sizeof(struct sum)};
	bool any = false;
	int err = 0;

	for (size_t i = 0; i < r->n_threads; i++) {
		first[i] = TRC_INDEX_NONE;
		candidate[i] = is_candidate(r, i);
		any |= candidate[i];
	}
	if (any)
		err = sum_parks(r, &sums, first, candidate);
	for (size_t i = 0; i < sums.n; i++) {
		const struct sum *sum = (const struct sum *)sums.row + i;

		if (is_most(sum->ns, trc_report_lifetime_ns(r, &r->thread[sum->row])))
			r->idle_at[sum->row] = sum->place;
	}
	trc_array_free(&sums);
	return err || !any ? err : leave_out_masters(r);
}

int trc_report_idle_init(struct trc_report *r)
{
	bool *candidate;
	uint32_t *first;
	int err = -ENOMEM;

	if (r->selection) /* of a thread's time only a part is wanted */
		return 0;
	r->idle_at = calloc(r->n_threads + 1, sizeof(*r->idle_at));
	candidate = calloc(r->n_threads + 1, sizeof(*candidate));
	first = calloc(r->n_threads + 1, sizeof(*first));
	if (r->idle_at && candidate && first)
		err = find_idle(r, candidate, first);
	free(candidate);
	free(first);
	return err;
}

bool trc_report_is_idle(const struct trc_report *r, const struct trc_park *park)
{
	const struct trc_thread *thread;

	if (!r->idle_at || !can_idle(park->reason))
		return false;
	thread = trc_model_thread(r->m, park->thread);
	return thread && r->idle_at[thread - r->thread] == place_of(r, park);
}

int trc_report_idle_threads(struct trc_model *m, uint8_t *idle, struct trc_error *error)
{
	const struct trc_report_options options = {0};
	struct trc_report r;
	int err = trc_report_begin(&r, m, NULL, &options, error);

	for (size_t i = 0; !err && i < r.n_threads; i++)
		idle[i] = r.idle_at && r.idle_at[i];
	trc_report_end(&r);
	return err;
}

int trc_report_idle_add(struct trc_groups *g, const struct trc_report *r,
			const struct trc_park *park)
{
	enum trc_wait_class class = trc_wait_class(park->reason);
	uint64_t place = place_of(r, park);
	uint32_t at = trc_index_get(&g->idle_index, place);
	struct trc_idle *idle;

	if (at == TRC_INDEX_NONE) {
		g->idle.row_bytes = sizeof(*idle);
		idle = trc_array_add(&g->idle);
		if (!idle || trc_index_put(&g->idle_index, place, (uint32_t)(g->idle.n - 1)))
			return -ENOMEM;
		idle->reason = park->reason;
		idle->stack = trc_report_canonical(r, park->stack);
	}
	trc_report_add(&g->idle_ns[class],
		       trc_park_end_ns(r->m, park) - trc_park_start_ns(r->m, park));
	g->waits[class]++;
	return 0;
}

void trc_report_idle_count(struct trc_groups *g, const struct trc_report *r)
{
	for (size_t i = 0; r->idle_at && i < r->n_threads; i++) {
		uint32_t at = trc_index_get(&g->idle_index, r->idle_at[i]);
		struct trc_idle *idle;

		if (!r->idle_at[i] || at == TRC_INDEX_NONE)
			continue;
		idle = (struct trc_idle *)g->idle.row + at;
		idle->n_threads++;
		g->n_idle[trc_wait_class(idle->reason)]++;
	}
}

/* The places with most threads first. */
static const struct trc_idle *next_place(const struct trc_groups *g, enum trc_wait_class class,
					 const struct trc_idle *before)
{
	const struct trc_idle *best = NULL, *row = g->idle.row;

	for (size_t i = 0; i < g->idle.n; i++) {
		if (trc_wait_class(row[i].reason) != class)
			continue;
		if (before && (row[i].n_threads > before->n_threads ||
			       (row[i].n_threads == before->n_threads && &row[i] <= before)))
			continue;
		if (!best || row[i].n_threads > best->n_threads)
			best = &row[i];
	}
	return best;
}

void trc_report_idle_line(struct trc_report *r, const struct trc_groups *g,
			  enum trc_wait_class class)
{
	char number[TRC_NUMBER_BYTES];
	const struct trc_idle *idle = NULL;
	uint32_t n = g->n_idle[class], told = 0;
	struct trc_line line;

	if (!n)
		return;
	trc_line_begin(&line, r->width, r->colour);
	trc_line_right(&line, 10, trc_text_duration(number, g->idle_ns[class]));
	trc_line_add(&line, "  idle: %u thread%s", n, n == 1 ? "" : "s");
	for (int i = 0; i < PLACES_MAX && told < n; i++) {
		idle = next_place(g, class, idle);
		if (idle->n_threads < n)
			trc_line_add(&line, ", %u", idle->n_threads);
		trc_line_add(&line, " in %s", trc_reason_name(idle->reason));
		if (idle->stack) {
			trc_line_add(&line, " at ");
			trc_report_place(r, &line, idle->stack);
		}
		told += idle->n_threads;
	}
	if (told < n)
		trc_line_add(&line, ", %u elsewhere", n - told);
	trc_report_line(r, &line);
}
