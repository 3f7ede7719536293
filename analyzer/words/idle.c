/*
 * idle.c - threads that do nearly nothing but wait for work: pools without work, servers without requests.
 *
 * Such waits last longest and cost nothing.  They are one line, after the waits that cost something.
 *
 *   idle:Z1  a thread is idle if it lived for half of the trace or more, and 95 % of its life or more was
 *       idle waits.  These are the waits for one reason at its main place, where it waited longest; and, at other
 *       places, the waits of Z2 and Z3
 *   idle:Z2  also idle are waits for the condition variable, semaphore or futex that the thread waits for at its main
 *       place: a pool waits for its queue at one place with a time limit, and at another without.  So are waits for
 *       the same reason whose place is not known, such as some waits in progress at the end of the trace
 *   idle:Z3  waits at a place where 95 % of the time or more timed out are idle, such as a timer poll's: the thread looked
 *       whether there was anything to do, and there was nothing.  This does not hold for sleeps, nor beside a sleep as
 *       the main place: the sleep may be the work
 *   idle:Z4  a wait for a lock, a file, a child, a thread's end or a barrier is never idle: somebody makes
 *       the thread wait
 *   idle:Z5  a thread that waits for its own workers is not idle.  Its workers are the threads that it created,
 *       and those that these created, if they did not wait for most of their lives.  A thread waits for them
 *       if they ended half or more, by time, of its waits that did not time out
 *   idle:Z6  a wait in a region, or between begin and end of a task, is never idle: the thread has work at hand, and waits
 *       for what this work needs
 *   idle:Z7  a pool (pools.h) is folded as a whole: its threads are idle threads only if all of them are idle.  The waits of
 *       its idle threads are idle waits in any case
 *   idle:Z8  a wait at a place where threads wait for each other as for a lock (own_locks.h) is never idle
 *   idle:Z9  the time in which a thread takes the mutex of an idle wait for a condition variable again counts as idle in how
 *       much of its life the thread was idle, at most as much as the wait.  It is no idle wait: who contends for it is told with the locks
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "analyzer/model/order.h"
#include "at_work.h"
#include "own_locks.h"
#include "pools.h"
#include "words.h"

enum { IDLE_PERCENT = 95, PLACES_MAX = 3 };

/* Z4 */
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

static int64_t length_of(const struct trc_report *r, const struct trc_park *park)
{
	return trc_park_end_ns(r->m, park) - trc_park_start_ns(r->m, park);
}

/* Whether the thread may be idle, by its sums; retaken_ns: Z9. */
static bool is_candidate(const struct trc_report *r, size_t row, int64_t retaken_ns)
{
	int64_t alive_ns = trc_report_lifetime_ns(r, &r->thread[row]);
	int64_t waited_ns = r->class_ns[row][TRC_WAIT_THREADS];

	trc_report_add(&waited_ns, r->class_ns[row][TRC_WAIT_OUTSIDE]);
	trc_report_add(&waited_ns, retaken_ns);
	return alive_ns >= (r->end_ns - r->start_ns) / 2 && is_most(waited_ns, alive_ns);
}

static uint64_t idle_place(const struct trc_report *r, const struct trc_park *park)
{
	return (uint64_t)park->reason << 32 | trc_report_canonical(r, park->stack);
}

/* What it waits for, if threads that wait for that wait for the same: Z2. */
static uint64_t idle_object(const struct trc_park *park)
{
	switch (park->reason) {
	case TRC_REASON_COND:
	case TRC_REASON_SEM:
	case TRC_REASON_FUTEX:
		return park->object;
	default:
		return 0;
	}
}

/* Waits of a thread at one place, for one object. */
struct sum {
	uint64_t place, object;
	int64_t ns, timed_out_ns, retaken_ns; /* retaken_ns: Z9 */
	uint32_t row;			      /* of thread */
	uint32_t next;			      /* another sum of the thread, TRC_INDEX_NONE = none */
	bool idle;
};

static struct sum *sum_at(const struct trc_report *r, uint32_t i)
{
	return (struct sum *)r->idle_sums.row + i;
}

/* NULL = there is none. */
static struct sum *sum_find(const struct trc_report *r, size_t row, uint64_t place, uint64_t object)
{
	for (uint32_t i = r->idle_first[row]; i != TRC_INDEX_NONE; i = sum_at(r, i)->next)
		if (sum_at(r, i)->place == place && sum_at(r, i)->object == object)
			return sum_at(r, i);
	return NULL;
}

/* Adds a wait to the sums of its thread. */
static int sum_add(struct trc_report *r, uint32_t *n_sums, uint32_t row,
		   const struct trc_park *park)
{
	enum { SUMS = 64 }; /* who waits for more is idle nowhere */
	int64_t ns = length_of(r, park);
	uint64_t place = idle_place(r, park), object = idle_object(park);
	struct sum *sum = sum_find(r, row, place, object);

	/* Of many objects all that come late are one. */
	if (!sum && n_sums[row] >= SUMS / 2) {
		object = 0;
		sum = sum_find(r, row, place, object);
	}
	if (!sum && n_sums[row] >= SUMS)
		return 0;
	if (!sum) {
		sum = trc_array_add(&r->idle_sums);
		if (!sum)
			return -ENOMEM;
		*sum = (struct sum){
			.place = place, .object = object, .row = row, .next = r->idle_first[row]};
		r->idle_first[row] = (uint32_t)(r->idle_sums.n - 1);
		n_sums[row]++;
	}
	trc_report_add(&sum->ns, ns);
	if (park->result == ETIMEDOUT)
		trc_report_add(&sum->timed_out_ns, ns);
	return 0;
}

/* Z9: after the condition wait at the same place. */
static void sum_add_retaken(struct trc_report *r, size_t row, const struct trc_park *park)
{
	uint64_t place = (uint64_t)TRC_REASON_COND << 32 | trc_report_canonical(r, park->stack);

	for (uint32_t i = r->idle_first[row]; i != TRC_INDEX_NONE; i = sum_at(r, i)->next) {
		if (sum_at(r, i)->place != place)
			continue;
		trc_report_add(&sum_at(r, i)->retaken_ns, length_of(r, park));
		return;
	}
}

/* Z6 */
static bool is_at_work(const struct trc_report *r, const struct trc_park *park)
{
	return trc_report_is_at_work(r, park->thread, trc_park_start_ns(r->m, park));
}

/* Z7: of HotSpot, CPython, Ruby, PostgreSQL and MariaDB. */
static bool takes_lock(const struct trc_report *r, uint32_t stack)
{
	enum { FRAMES_MAX = 8 };
	static const char *const LOCKS[] = {
		"ObjectMonitor::EnterI",
		"ObjectMonitor::ReenterI",
		"ObjectMonitor::enter_internal",
		"ObjectMonitor::reenter_internal",
		"take_gil",
		"gvl_acquire",
		"gvl_acquire_common",
		"thread_sched_to_running",
		"ProcSleep", /* rows, tables */
		"LWLockAcquire",
		"LWLockAcquireOrWait",
		"LWLockWaitForVar",
		"MDL_wait::timed_wait",
	};
	uint32_t first, end;

	if (!stack || stack >= r->stacks->n_stacks)
		return false;
	first = r->stacks->stack_first[stack];
	end = r->stacks->stack_first[stack + 1];
	for (uint32_t i = first; i < end && i < first + FRAMES_MAX; i++) {
		uint32_t frame = r->stacks->stack_frame[i];
		const char *function = frame ? r->stacks->frame[frame - 1].function : NULL;

		for (size_t k = 0; function && k < sizeof(LOCKS) / sizeof(*LOCKS); k++) {
			size_t n = strlen(LOCKS[k]);

			if (!strncmp(function, LOCKS[k], n) && (!function[n] || function[n] == '('))
				return true;
		}
	}
	return false;
}

/* By canonical stack: what takes_lock() says; looked at once. */
enum { UNSEEN, NO_LOCK, LOCK };

static bool is_at_lock(const struct trc_report *r, uint8_t *seen, const struct trc_park *park)
{
	uint32_t place = trc_report_canonical(r, park->stack);

	if (!place || place >= r->n_canonical)
		return false;
	if (seen[place] == UNSEEN)
		seen[place] = takes_lock(r, park->stack) ? LOCK : NO_LOCK;
	return seen[place] == LOCK;
}

static int sum_parks(struct trc_report *r, uint32_t *n_sums, const bool *candidate, uint8_t *seen)
{
	const struct trc_own_locks *own;
	int err = trc_report_own_locks(r, &own);

	for (size_t i = 0; i < r->n_parks && !err; i++) {
		const struct trc_park *park = &r->park[i];
		const struct trc_thread *thread = trc_model_thread(r->m, park->thread);

		if (park->reason == TRC_REASON_COND_MUTEX && thread &&
		    candidate[thread - r->thread])
			sum_add_retaken(r, (size_t)(thread - r->thread), park);
		if (!can_idle(park->reason))
			continue;
		if (thread && candidate[thread - r->thread] && !is_at_work(r, park) &&
		    !is_at_lock(r, seen, park) && !trc_own_lock_of(own, r, park))
			err = sum_add(r, n_sums, (uint32_t)(thread - r->thread), park);
	}
	return err;
}

/* ---- which of them are idle ---- */

/* All of the thread's at one place; the time that timed out, if that is asked for. */
static int64_t time_at(const struct trc_report *r, size_t row, uint64_t place, bool timed_out)
{
	int64_t ns = 0;

	for (uint32_t i = r->idle_first[row]; i != TRC_INDEX_NONE; i = sum_at(r, i)->next)
		if (sum_at(r, i)->place == place)
			trc_report_add(&ns,
				       timed_out ? sum_at(r, i)->timed_out_ns : sum_at(r, i)->ns);
	return ns;
}

/* 0 = it waits nowhere. */
static uint64_t main_place(const struct trc_report *r, size_t row)
{
	uint64_t place = 0;
	int64_t most_ns = 0;

	for (uint32_t i = r->idle_first[row]; i != TRC_INDEX_NONE; i = sum_at(r, i)->next) {
		int64_t ns = time_at(r, row, sum_at(r, i)->place, false);

		if (ns > most_ns) {
			most_ns = ns;
			place = sum_at(r, i)->place;
		}
	}
	return place;
}

/* Z1 to Z3 */
static bool is_idle_sum(const struct trc_report *r, const struct sum *sum, uint64_t place)
{
	bool placed = (uint32_t)sum->place != 0, sleeps = place >> 32 == TRC_REASON_SLEEP;

	if (sum->place == place || (sum->object && sum_find(r, sum->row, place, sum->object)))
		return true;
	if (!placed && sum->place >> 32 == place >> 32)
		return true;
	return !sleeps && sum->place >> 32 != TRC_REASON_SLEEP &&
	       is_most(time_at(r, sum->row, sum->place, true),
		       time_at(r, sum->row, sum->place, false));
}

static void judge(struct trc_report *r, size_t row)
{
	uint64_t place = main_place(r, row);
	int64_t ns = 0;

	for (uint32_t i = r->idle_first[row]; i != TRC_INDEX_NONE; i = sum_at(r, i)->next) {
		sum_at(r, i)->idle = is_idle_sum(r, sum_at(r, i), place);
		if (!sum_at(r, i)->idle)
			continue;
		trc_report_add(&ns, sum_at(r, i)->ns);
		trc_report_add(&ns, trc_earlier_ns(sum_at(r, i)->retaken_ns, sum_at(r, i)->ns));
	}
	if (is_most(ns, trc_report_lifetime_ns(r, &r->thread[row])))
		r->idle_at[row] = place;
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

/* Takes those off who wait for their workers: Z5. */
static int leave_out_masters(struct trc_report *r)
{
	struct wait {
		int64_t all_ns, for_workers_ns;
	} *wait = calloc(r->n_threads + 1, sizeof(*wait));

	if (!wait)
		return -ENOMEM;
	for (size_t i = 0; i < r->n_parks; i++) {
		const struct trc_park *park = &r->park[i];
		int64_t ns = length_of(r, park);
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

/* Z9: how long threads took mutexes of condition waits again, by row; NULL without memory. */
static int64_t *retaken_by_thread(const struct trc_report *r)
{
	int64_t *ns = calloc(r->n_threads + 1, sizeof(*ns));

	for (size_t i = 0; ns && i < r->n_parks; i++) {
		const struct trc_park *park = &r->park[i];
		const struct trc_thread *thread = trc_model_thread(r->m, park->thread);

		if (thread && park->reason == TRC_REASON_COND_MUTEX)
			trc_report_add(&ns[thread - r->thread], length_of(r, park));
	}
	return ns;
}

static int find_idle(struct trc_report *r, bool *candidate, uint32_t *n_sums, uint8_t *seen)
{
	int64_t *retaken_ns = retaken_by_thread(r);
	bool any = false;
	int err = retaken_ns ? 0 : -ENOMEM;

	for (size_t i = 0; i < r->n_threads; i++) {
		r->idle_first[i] = TRC_INDEX_NONE;
		candidate[i] = !err && is_candidate(r, i, retaken_ns[i]);
		any |= candidate[i];
	}
	free(retaken_ns);
	if (any)
		err = trc_report_at_work_init(r);
	if (any && !err)
		err = sum_parks(r, n_sums, candidate, seen);
	for (size_t i = 0; i < r->n_threads && !err; i++)
		if (candidate[i])
			judge(r, i);
	return err || !any ? err : leave_out_masters(r);
}

int trc_report_idle_init(struct trc_report *r)
{
	bool *candidate;
	uint32_t *n_sums;
	uint8_t *seen;
	int err = -ENOMEM;

	if (r->selection) /* of a thread's time only a part is wanted */
		return 0;
	r->idle_sums.row_bytes = sizeof(struct sum);
	r->idle_at = calloc(r->n_threads + 1, sizeof(*r->idle_at));
	r->idle_first = calloc(r->n_threads + 1, sizeof(*r->idle_first));
	candidate = calloc(r->n_threads + 1, sizeof(*candidate));
	n_sums = calloc(r->n_threads + 1, sizeof(*n_sums));
	seen = calloc(r->n_canonical + 1, sizeof(*seen));
	if (r->idle_at && r->idle_first && candidate && n_sums && seen)
		err = find_idle(r, candidate, n_sums, seen);
	free(candidate);
	free(n_sums);
	free(seen);
	return err;
}

bool trc_report_is_idle(const struct trc_report *r, const struct trc_park *park)
{
	const struct trc_thread *thread;
	const struct sum *sum;

	if (!r->idle_at || !can_idle(park->reason))
		return false;
	thread = trc_model_thread(r->m, park->thread);
	if (!thread || !r->idle_at[thread - r->thread] || is_at_work(r, park))
		return false;
	sum = sum_find(r, (size_t)(thread - r->thread), idle_place(r, park), idle_object(park));
	if (!sum)
		sum = sum_find(r, (size_t)(thread - r->thread), idle_place(r, park), 0);
	return sum && sum->idle;
}

/* Z7 */
static int leave_out_pools(const struct trc_report *r, uint8_t *idle)
{
	struct trc_pools pools;
	int err = trc_pools_of(&pools, r);
	bool *works = err ? NULL : calloc(pools.n + 1, sizeof(*works));

	for (size_t i = 0; works && i < r->n_threads; i++)
		works[pools.of[i]] |= !idle[i];
	for (size_t i = 0; works && i < r->n_threads; i++)
		idle[i] = idle[i] && !works[pools.of[i]];
	err = works ? err : -ENOMEM;
	free(works);
	trc_pools_free(&pools);
	return err;
}

int trc_report_idle_threads(struct trc_model *m, uint8_t *idle, uint8_t *waits,
			    struct trc_error *error)
{
	const struct trc_report_options options = {0};
	struct trc_report r;
	int err;

	if (trc_model_selection(m)) /* as in trc_report_idle_init(): none is */
		return 0;
	err = trc_report_begin(&r, m, NULL, &options, error);
	for (size_t i = 0; !err && i < r.n_threads; i++)
		idle[i] = r.idle_at && r.idle_at[i];
	for (size_t i = 0; !err && waits && i < r.n_parks; i++)
		waits[i] = trc_report_is_idle(&r, &r.park[i]);
	if (!err && memchr(idle, true, r.n_threads) && leave_out_pools(&r, idle)) {
		snprintf(error->text, sizeof(error->text), "idle threads: out of memory");
		err = -ENOMEM;
	}
	trc_report_end(&r);
	return err;
}

int trc_report_idle_add(struct trc_groups *g, const struct trc_report *r,
			const struct trc_park *park)
{
	enum trc_wait_class class = trc_wait_class(park->reason);
	uint64_t place = idle_place(r, park);
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
	trc_report_add(&g->idle_ns[class], length_of(r, park));
	g->waits[class]++;
	return 0;
}

/* Where it waits longest of the idle waits of this class; 0 = nowhere. */
static uint64_t place_in_class(const struct trc_report *r, size_t row, enum trc_wait_class class)
{
	uint64_t place = 0;
	int64_t most_ns = 0;

	for (uint32_t i = r->idle_first[row]; i != TRC_INDEX_NONE; i = sum_at(r, i)->next) {
		const struct sum *sum = sum_at(r, i);

		if (!sum->idle || trc_wait_class((uint32_t)(sum->place >> 32)) != class ||
		    sum->ns <= most_ns)
			continue;
		most_ns = sum->ns;
		place = sum->place;
	}
	return place;
}

static void count_thread(struct trc_groups *g, const struct trc_report *r, size_t row,
			 enum trc_wait_class class)
{
	uint64_t place = place_in_class(r, row, class);
	uint32_t at = place ? trc_index_get(&g->idle_index, place) : TRC_INDEX_NONE;

	if (at == TRC_INDEX_NONE)
		return;
	((struct trc_idle *)g->idle.row + at)->n_threads++;
	g->n_idle[class]++;
}

/* Places that are told in the same words are one: a function of the program's own around pthread_cond_wait(). */
static void join_alike(struct trc_groups *g, const struct trc_report *r)
{
	struct trc_idle *row = g->idle.row;

	for (size_t i = 0; i < g->idle.n; i++)
		for (size_t j = i + 1; row[i].n_threads && j < g->idle.n; j++)
			if (row[j].n_threads && row[j].reason == row[i].reason &&
			    trc_report_reads_alike(r, row[i].stack, row[j].stack)) {
				row[i].n_threads += row[j].n_threads;
				row[j].n_threads = 0;
			}
}

void trc_report_idle_count(struct trc_groups *g, const struct trc_report *r)
{
	for (size_t i = 0; r->idle_at && i < r->n_threads; i++)
		for (int class = 0; r->idle_at[i] && class < TRC_WAIT_CLASSES; class ++)
			count_thread(g, r, i, (enum trc_wait_class) class);
	join_alike(g, r);
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
