/* tracks_walk.c - what one thread did at each time, from its waits and switch records. */
#include "analyzer/model/timeline.h"
#include "tracks_private.h"

enum { NEST_MAX = 64 };

/* What the thread did while off its proc, before its switch record `cpu_next`. */
static uint8_t state_off_proc(const struct trc_track_walk *w)
{
	uint32_t last =
		w->cpu_next > w->cpu_first ? w->on_cpus.row[w->cpu_next - 1] + 1 : w->cpu_before;

	if (last)
		return w->on_cpu[last - 1].preempted ? TRC_STATE_RUNNABLE : TRC_STATE_OFF_PROC;
	/* A thread that was there before the trace may have run unseen. */
	return w->thread->start_ns != TRC_NEVER ? TRC_STATE_RUNNABLE : TRC_STATE_ACTIVE;
}

/* The thread is in no recorded wait: the switch records, if any, say more; the same as for causes (step_active() of
 * analyzer/causes/steps.c). */
static void walk_unparked(struct trc_track_walk *w, int64_t from, int64_t until)
{
	int64_t unknown = !w->has_cpu || until < w->switches_ns ? until : w->switches_ns;

	if (from < unknown) {
		trc_track_interval(w, from, unknown, TRC_STATE_ACTIVE, 0, 0);
		from = unknown;
	}
	while (from < until) {
		const struct trc_on_cpu *next =
			w->cpu_next < w->cpu_limit ? &w->on_cpu[w->on_cpus.row[w->cpu_next]] : NULL;
		int64_t start = next && next->start_ns < until ? next->start_ns : until;
		int64_t end = next && next->end_ns != TRC_NEVER ? next->end_ns : w->end_ns;

		if (!next && w->is_cut &&
		    !w->has_cpu_behind) { /* when it ran again is not in the trace */
			trc_track_interval(w, from, until, TRC_STATE_ACTIVE, 0, 0);
			return;
		}
		if (next && end <= from) {
			w->cpu_next++;
			continue;
		}
		if (start > from) {
			trc_track_interval(w, from, start, state_off_proc(w), 0, 0);
			from = start;
			continue;
		}
		end = end < until ? end : until;
		trc_track_interval(w, from, end, TRC_STATE_RUNNING, 0, next->proc);
		from = end;
	}
}

static int64_t walk_park_end(const struct trc_track_walk *w, uint32_t row)
{
	int64_t end = w->park[row].end_ns;

	return end == TRC_NEVER || end > w->end_ns ? w->end_ns : end;
}

/* timeline:P1.  Whether its thread had no proc at this time, by force; *until_ns is then when it ran again, or else when it next has
 * none, if that is earlier. */
static bool is_preempted(struct trc_track_walk *w, int64_t from, int64_t *until_ns)
{
	const struct trc_on_cpu *off, *on;
	int64_t end_ns;
	uint32_t last;

	for (; w->cpu_next < w->cpu_limit; w->cpu_next++) {
		on = &w->on_cpu[w->on_cpus.row[w->cpu_next]];
		if (on->end_ns == TRC_NEVER || on->end_ns > from)
			break;
	}
	if (from < w->switches_ns) {
		*until_ns = w->switches_ns < *until_ns ? w->switches_ns : *until_ns;
		return false;
	}
	last = w->cpu_next > w->cpu_first ? w->on_cpus.row[w->cpu_next - 1] + 1 : w->cpu_before;
	off = last ? &w->on_cpu[last - 1] : NULL;
	if (w->cpu_next == w->cpu_limit) { /* it ran again behind the page, or no more */
		end_ns =
			w->has_cpu_behind ? *until_ns : trc_off_until_ns(w->model, w->thread, NULL);
		if (from >= end_ns)
			return false;
		*until_ns = end_ns < *until_ns ? end_ns : *until_ns;
		return off && off->preempted;
	}
	on = &w->on_cpu[w->on_cpus.row[w->cpu_next]];
	end_ns = on->end_ns == TRC_NEVER ? INT64_MAX : on->end_ns;
	if (on->start_ns > from) {
		*until_ns = on->start_ns < *until_ns ? on->start_ns : *until_ns;
		return off && off->preempted;
	}
	*until_ns = end_ns < *until_ns ? end_ns : *until_ns;
	return false;
}

/* Of a wait, as long as nobody ended it. */
static void walk_waiting(struct trc_track_walk *w, uint32_t row, int64_t from, int64_t until,
			 uint8_t state)
{
	bool may_be = w->has_cpu && trc_wait_may_be_preempted(&w->park[row]), preempted;

	for (int64_t next = until; from < until; from = next, next = until) {
		preempted = may_be && is_preempted(w, from, &next);
		trc_track_interval(w, from, next, preempted ? TRC_STATE_RUNNABLE : state,
				   preempted ? 0 : row, 0);
	}
}

/* A stretch of one wait: parked until it is woken, then woken. */
static void walk_parked(struct trc_track_walk *w, uint32_t row, int64_t from, int64_t until)
{
	const struct trc_park *p = &w->park[row];
	uint8_t state = (uint8_t)(TRC_STATE_PARKED + (p->reason & 63));
	int64_t wake = p->wake_ns == TRC_NEVER ? until : p->wake_ns;

	wake = wake < from ? from : wake > until ? until : wake;
	walk_waiting(w, row, from, wake, state);
	trc_track_interval(w, wake, until, TRC_STATE_WOKEN, row, 0);
}

/* Shows waits up to `until`: the innermost one that is open, or none.  Returns the depth left. */
static size_t walk_until(struct trc_track_walk *w, const uint32_t *open, size_t depth, int64_t *at,
			 int64_t until)
{
	while (depth) {
		uint32_t row = open[depth - 1];
		int64_t end = walk_park_end(w, row);

		if (*at < end && *at < until) {
			walk_parked(w, row, *at, end < until ? end : until);
			*at = end < until ? end : until;
		}
		if (end > until)
			return depth;
		depth--;
	}
	if (*at < until)
		walk_unparked(w, *at, until);
	*at = *at > until ? *at : until;
	return 0;
}

void trc_track_walk_thread(struct trc_track_walk *w, size_t idx)
{
	const struct trc_thread *t = w->thread;
	int64_t birth = t->start_ns == TRC_NEVER ? w->start_ns : t->start_ns;
	int64_t death = t->end_ns == TRC_NEVER ? w->end_ns : t->end_ns;
	int64_t at;
	uint32_t open[NEST_MAX];
	size_t depth = 0;

	birth = birth < w->start_ns ? w->start_ns : birth > w->end_ns ? w->end_ns : birth;
	death = death < birth ? birth : death > w->end_ns ? w->end_ns : death;
	at = birth;
	w->cpu_first = w->cpu_next = w->on_cpus.first[idx];
	w->cpu_limit = w->on_cpus.first[idx + 1];
	w->cpu_before = w->on_cpus.before[idx];
	w->has_cpu = w->on_cpus.any[idx];
	w->has_cpu_behind = w->on_cpus.any[idx] & TRC_TRACK_BEHIND;
	trc_track_interval(w, w->start_ns, birth, TRC_STATE_ABSENT, 0, 0);
	for (uint32_t i = w->parks.first[idx]; i < w->parks.first[idx + 1]; i++) {
		uint32_t row = w->parks.row[i];
		int64_t start = w->park[row].start_ns;

		start = start < at ? at : start > death ? death : start;
		depth = walk_until(w, open, depth, &at, start);
		if (depth < NEST_MAX)
			open[depth++] = row;
	}
	walk_until(w, open, depth, &at, death);
	trc_track_interval(w, at > death ? at : death, w->end_ns, TRC_STATE_ABSENT, 0, 0);
}
