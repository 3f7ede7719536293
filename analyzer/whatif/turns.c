/* turns.c - see turns.h. */
#include "turns.h"

#include <errno.h>
#include <stdlib.h>
#include "analyzer/model/array.h"
#include "analyzer/model/order.h"
#include "program.h"

enum { NOBODY = UINT32_MAX };

#define TURNS_MAX INT64_C(4000000) /* beyond them turns are longer */

struct trc_turn_taker {
	int64_t need_ns;
	int64_t had_ns;	 /* T2; while it waits: how much less than the average, at most a turn */
	int64_t from_ns; /* on its proc since */
	int64_t turn_end_ns;
};

int trc_turns_make(struct trc_turns *t, uint32_t n_threads, uint32_t procs, int64_t turn_ns,
		   int64_t active_ns)
{
	*t = (struct trc_turns){.procs = procs,
				.turn_ns = turn_ns > active_ns / TURNS_MAX ? turn_ns
									   : active_ns / TURNS_MAX,
				.taker = calloc((size_t)n_threads + 1, sizeof(*t->taker)),
				.last = NOBODY};
	if (!t->taker || trc_heap_make(&t->running, n_threads) ||
	    trc_heap_make(&t->ready, n_threads))
		return -ENOMEM;
	return 0;
}

void trc_turns_free(struct trc_turns *t)
{
	free(t->taker);
	trc_heap_free(&t->running);
	trc_heap_free(&t->ready);
}

static int64_t average_ns(const struct trc_turns *t)
{
	return t->n_active ? (int64_t)(t->had_ns / t->n_active) : 0;
}

static void run_on(struct trc_turns *t, int64_t now_ns, uint32_t thread)
{
	struct trc_turn_taker *taker = &t->taker[thread];
	int64_t until_ns = trc_time_after(now_ns, taker->need_ns);

	taker->from_ns = now_ns;
	trc_heap_push(&t->running, until_ns < taker->turn_end_ns ? until_ns : taker->turn_end_ns,
		      thread);
}

static void begin_turn(struct trc_turns *t, int64_t now_ns, uint32_t thread)
{
	t->taker[thread].turn_end_ns = trc_time_after(now_ns, t->turn_ns);
	run_on(t, now_ns, thread);
}

void trc_turns_need(struct trc_turns *t, int64_t now_ns, uint32_t thread, int64_t need_ns)
{
	struct trc_turn_taker *taker = &t->taker[thread];

	taker->need_ns = need_ns;
	if (t->last == thread) {
		t->last = NOBODY;
		run_on(t, now_ns, thread);
		return;
	}
	taker->had_ns = average_ns(t) - taker->had_ns;
	t->n_active++;
	t->had_ns += taker->had_ns;
	if (t->running.n + (t->last != NOBODY) < t->procs)
		begin_turn(t, now_ns, thread);
	else
		trc_heap_push(&t->ready, taker->had_ns, thread);
}

int64_t trc_turns_next_ns(const struct trc_turns *t)
{
	return t->running.n ? t->running.entry[0].key : INT64_MAX;
}

bool trc_turns_next(struct trc_turns *t, uint32_t *thread)
{
	int64_t now_ns = t->running.entry[0].key, ran_ns;
	uint32_t stops = trc_heap_pop(&t->running), next = stops;
	struct trc_turn_taker *taker = &t->taker[stops];

	ran_ns = trc_time_between(taker->from_ns, now_ns);
	taker->had_ns = trc_time_after(taker->had_ns, ran_ns);
	t->had_ns += ran_ns;
	taker->need_ns -= ran_ns;
	if (taker->need_ns <= 0 || now_ns == INT64_MAX) { /* the end of time: nobody gets more */
		*thread = t->last = stops;
		return true;
	}
	if (t->ready.n && t->ready.entry[0].key <= taker->had_ns) {
		next = trc_heap_pop(&t->ready);
		trc_heap_push(&t->ready, taker->had_ns, stops);
	}
	begin_turn(t, now_ns, next);
	return false;
}

void trc_turns_leave(struct trc_turns *t, int64_t now_ns)
{
	struct trc_turn_taker *taker;
	int64_t less_ns;

	if (t->last == NOBODY)
		return;
	taker = &t->taker[t->last];
	t->last = NOBODY;
	less_ns = trc_time_between(taker->had_ns, average_ns(t));
	t->n_active--;
	t->had_ns -= taker->had_ns;
	taker->had_ns = less_ns < t->turn_ns ? less_ns : t->turn_ns;
	if (t->ready.n)
		begin_turn(t, now_ns, trc_heap_pop(&t->ready));
}

/* ---- how long turns are ---- */

/* Stretches on a proc, and where on it the last one was. */
struct turns_found {
	struct trc_array ns; /* int64_t */
	__int128 sum_ns;
};

static int note_turn(struct turns_found *found, const struct trc_on_cpu *on,
		     const struct trc_on_cpu *next)
{
	enum { AT_ONCE_NS = 50000 };
	int64_t *ns;

	if (!on->preempted || on->thread == next->thread || on->start_ns == TRC_NEVER ||
	    on->end_ns == TRC_NEVER || trc_time_between(on->end_ns, next->start_ns) > AT_ONCE_NS)
		return 0;
	ns = trc_array_add(&found->ns);
	if (!ns)
		return -ENOMEM;
	*ns = trc_time_between(on->start_ns, on->end_ns);
	found->sum_ns += *ns;
	return 0;
}

/* Half of the time is in longer ones. */
static int64_t middle_ns(struct turns_found *found)
{
	int64_t *ns = found->ns.row;
	__int128 sum_ns = 0;
	size_t i = 0;

	qsort(ns, found->ns.n, sizeof(*ns), trc_compare_ns);
	while (i + 1 < found->ns.n && 2 * (sum_ns + ns[i]) < found->sum_ns)
		sum_ns += ns[i++];
	return ns[i];
}

int trc_turn_measure(int64_t *turn_ns, const struct trc_model *m)
{
	enum { TURNS_LEAST = 16, TICK_NS = 4000000, SHORTEST_NS = 100000 };
	struct turns_found found = {.ns.row_bytes = sizeof(int64_t)};
	struct trc_array last = {.row_bytes = sizeof(uint32_t)}; /* + 1; 0 = none */
	struct trc_index procs = {0};
	size_t n;
	const struct trc_on_cpu *on = trc_model_on_cpu(m, &n);
	int err = 0;

	*turn_ns = TICK_NS;
	for (size_t i = 0; i < n && !err; i++) {
		uint32_t number = trc_index_number(&procs, on[i].proc), *at;

		if (!number || (number > last.n && !trc_array_add(&last))) {
			err = -ENOMEM;
			break;
		}
		at = &((uint32_t *)last.row)[number - 1];
		if (*at)
			err = note_turn(&found, &on[*at - 1], &on[i]);
		*at = (uint32_t)i + 1;
	}
	if (!err && found.ns.n >= TURNS_LEAST) {
		*turn_ns = middle_ns(&found);
		if (*turn_ns < SHORTEST_NS)
			*turn_ns = SHORTEST_NS;
	}
	trc_array_free(&found.ns);
	trc_array_free(&last);
	trc_index_free(&procs);
	return err;
}
