/* thread_times.c - see thread_times.h. */
#include "thread_times.h"
#include "analyzer/model/order.h"

#include <errno.h>
#include <stdlib.h>

/* So many stretches at least lie between two places at which sums are kept. */
enum { MARK_EVERY = 64 };
/* Pieces of a thread's time until a wait is looked at that is fetched now. */
enum { FETCH_AHEAD = 24 };

/* When a thread was in a state; up to where the next one begins (Y1). */
struct stretch {
	int64_t from_ns;
	uint32_t state; /* its number in the line's states */
};

struct trc_thread_line {
	bool made;
	struct trc_array
		stretches; /* struct stretch; behind the last one that the trace's end begins */
	size_t at;	   /* where the last span began: the next one is near */
	uint16_t *cell;	   /* by number of the state; owned */
	size_t n_states;
	/* Before each `every`-th stretch the sums of each state up to there; owned. */
	int64_t *mark_ns;
	size_t every;
};

/* A damaged clock makes times that are farther apart than can be told. */
static void thread_sum_add(int64_t *sum_ns, int64_t from_ns, int64_t to_ns)
{
	int64_t ns;

	if (__builtin_sub_overflow(to_ns, from_ns, &ns) ||
	    __builtin_add_overflow(*sum_ns, ns, sum_ns))
		*sum_ns = INT64_MAX;
}

/* ---- sums ---- */

void trc_state_sums_add(struct trc_state_sums *sums, unsigned int cell, int64_t from_ns,
			int64_t to_ns)
{
	if (from_ns >= to_ns)
		return;
	if (!sums->ns[cell])
		sums->cell[sums->n++] = (uint16_t)cell;
	thread_sum_add(&sums->ns[cell], from_ns, to_ns);
}

void trc_state_sums_sort(struct trc_state_sums *sums)
{
	for (size_t i = 1; i < sums->n; i++) {
		uint16_t cell = sums->cell[i];
		size_t to = i;

		for (; to && sums->cell[to - 1] > cell; to--)
			sums->cell[to] = sums->cell[to - 1];
		sums->cell[to] = cell;
	}
}

void trc_state_sums_clear(struct trc_state_sums *sums)
{
	for (size_t i = 0; i < sums->n; i++)
		sums->ns[sums->cell[i]] = 0;
	sums->n = 0;
}

/* ---- what a thread did ---- */

/* A line that is being made. */
struct maker {
	struct trc_thread_line *line;
	uint16_t number
		[TRC_STATE_CELLS]; /* of a cell, the state's number + 1; 0 = it was in none yet */
	uint16_t cell[TRC_STATE_CELLS];
};

static int state_put(struct maker *k, unsigned int state, unsigned int reason, int64_t from_ns,
		     int64_t to_ns)
{
	unsigned int cell = state * TRC_REASON_COUNT + reason;
	struct trc_array *stretches = &k->line->stretches;
	struct stretch *added;

	if (from_ns >= to_ns)
		return 0;
	if (!k->number[cell]) {
		k->cell[k->line->n_states++] = (uint16_t)cell;
		k->number[cell] = (uint16_t)k->line->n_states;
	}
	added = trc_array_add(stretches);
	if (!added)
		return -ENOMEM;
	*added = (struct stretch){from_ns, k->number[cell] - 1U};
	return 0;
}

static int state_put_wait(struct maker *k, const struct trc_park *park, int64_t from_ns,
			  int64_t to_ns)
{
	int64_t wake_ns = park->wake_ns == TRC_NEVER ? to_ns : park->wake_ns;
	unsigned int reason = park->reason < TRC_REASON_COUNT ? park->reason : 0;
	int err;

	wake_ns = trc_earlier_ns(trc_later_ns(wake_ns, from_ns), to_ns);
	err = state_put(k, TRC_TASK_WAITING, reason, from_ns, wake_ns);
	return err ? err : state_put(k, TRC_TASK_WOKEN, reason, wake_ns, to_ns);
}

static unsigned int state_of(const struct trc_step *step)
{
	switch (step->kind) {
	case TRC_CAUSE_RUNNING:
		return TRC_TASK_RUNNING;
	case TRC_CAUSE_PREEMPTED:
		return TRC_TASK_RUNNABLE;
	case TRC_CAUSE_OFF:
		return TRC_TASK_OFF;
	case TRC_CAUSE_STARTING:
		return step->born ? TRC_TASK_RUNNABLE : TRC_TASK_ABSENT;
	case TRC_CAUSE_GONE:
		return TRC_TASK_ABSENT;
	default:
		return TRC_TASK_ACTIVE;
	}
}

/* A thread's waits lie far apart in the table: one that comes some pieces later is fetched early.  NULL: none is near. */
static const struct trc_park *park_ahead(const struct trc_steps *steps,
					 const struct trc_step_cursor *cursor)
{
	const struct trc_wait_piece *piece = cursor->pieces->row;
	uint32_t park = 0;

	if (cursor->pieces->n - cursor->piece > FETCH_AHEAD)
		park = piece[cursor->piece + FETCH_AHEAD].park;
	return park ? &steps->park[park - 1] : NULL;
}

static int put_steps(struct maker *k, struct trc_steps *steps, size_t thread)
{
	int64_t at_ns = trc_model_start_ns(steps->m), end_ns = trc_model_end_ns(steps->m);
	struct trc_step_cursor cursor;
	struct trc_step step;
	struct stretch *end;
	int err = trc_step_seek(steps, &cursor, thread, at_ns);

	for (; !err && at_ns < end_ns; at_ns = step.until_ns) {
		trc_step_of_thread(steps, &cursor, at_ns, &step);
		__builtin_prefetch(park_ahead(steps, &cursor));
		step.until_ns = trc_earlier_ns(step.until_ns, end_ns);
		if (step.kind == TRC_CAUSE_WAITING)
			err = state_put_wait(k, &steps->park[step.park - 1], at_ns, step.until_ns);
		else
			err = state_put(k, state_of(&step), 0, at_ns, step.until_ns);
	}
	if (err)
		return err;
	end = trc_array_add(&k->line->stretches);
	if (!end)
		return -ENOMEM;
	*end = (struct stretch){.from_ns = end_ns};
	trc_array_trim(&k->line->stretches);
	k->line->stretches.n--;
	return 0;
}

static int keep_cells(struct maker *k)
{
	struct trc_thread_line *line = k->line;

	line->cell = malloc((line->n_states + 1) * sizeof(*line->cell));
	if (!line->cell)
		return -ENOMEM;
	for (size_t i = 0; i < line->n_states; i++)
		line->cell[i] = k->cell[i];
	return 0;
}

static int make_marks(struct trc_thread_line *line)
{
	const struct stretch *s = line->stretches.row;
	size_t n_states = line->n_states, n_marks;
	int64_t *ns;

	line->every = n_states > MARK_EVERY ? n_states : MARK_EVERY;
	n_marks = line->stretches.n / line->every + 1;
	line->mark_ns = malloc((n_marks * n_states + 1) * sizeof(*ns));
	ns = calloc(n_states + 1, sizeof(*ns));
	for (size_t i = 0; ns && line->mark_ns && i < line->stretches.n; i++) {
		for (size_t k = 0; i % line->every == 0 && k < n_states; k++)
			line->mark_ns[i / line->every * n_states + k] = ns[k];
		thread_sum_add(&ns[s[i].state], s[i].from_ns, s[i + 1].from_ns);
	}
	free(ns);
	return ns && line->mark_ns ? 0 : -ENOMEM;
}

static int make_line(struct trc_thread_times *t, size_t thread)
{
	struct maker *k = calloc(1, sizeof(*k));
	int err = -ENOMEM;

	if (!k)
		return err;
	k->line = &t->line[thread];
	k->line->stretches.row_bytes = sizeof(struct stretch);
	err = put_steps(k, &t->steps, thread);
	if (!err)
		err = keep_cells(k);
	if (!err)
		err = make_marks(k->line);
	k->line->made = !err;
	free(k);
	return err;
}

/* ---- a span ---- */

/* The stretch that has this time, or the last one before it; `at` is near. */
static size_t line_find(const struct trc_thread_line *line, size_t at, int64_t ts_ns)
{
	const struct stretch *s = line->stretches.row;
	size_t low = at, high = at + 1, by = 1;

	for (; low && s[low].from_ns > ts_ns; by *= 2) {
		high = low;
		low -= by < low ? by : low;
	}
	for (; high < line->stretches.n && s[high].from_ns <= ts_ns; by *= 2) {
		low = high;
		high += by < line->stretches.n - high ? by : line->stretches.n - high;
	}
	while (high - low > 1) {
		size_t middle = low + (high - low) / 2;

		if (s[middle].from_ns <= ts_ns)
			low = middle;
		else
			high = middle;
	}
	return low;
}

/* Of the stretches first..end, without `end`, what lies in the span. */
static void line_walk(const struct trc_thread_line *line, size_t first, size_t end, int64_t from_ns,
		      int64_t to_ns, struct trc_state_sums *sums)
{
	const struct stretch *s = line->stretches.row;

	for (size_t i = first; i < end; i++)
		trc_state_sums_add(sums, line->cell[s[i].state],
				   trc_later_ns(s[i].from_ns, from_ns),
				   trc_earlier_ns(s[i + 1].from_ns, to_ns));
}

/* Between two marks. */
static void add_marks(const struct trc_thread_line *line, size_t first, size_t last,
		      struct trc_state_sums *sums)
{
	const int64_t *from_ns = &line->mark_ns[first * line->n_states];
	const int64_t *to_ns = &line->mark_ns[last * line->n_states];

	for (size_t k = 0; k < line->n_states; k++)
		trc_state_sums_add(sums, line->cell[k], from_ns[k], to_ns[k]);
}

int trc_thread_times_add(struct trc_thread_times *t, size_t thread, int64_t from_ns, int64_t to_ns,
			 struct trc_state_sums *sums)
{
	struct trc_thread_line *line = &t->line[thread];
	int err = line->made ? 0 : make_line(t, thread);
	size_t first, last;

	if (err || from_ns >= to_ns || !line->stretches.n)
		return err;
	first = line->at = line_find(line, line->at, from_ns);
	last = line_find(line, first, to_ns - 1);
	if (last - first <= 2 * line->every) {
		line_walk(line, first, last + 1, from_ns, to_ns, sums);
		return 0;
	}
	line_walk(line, first, (first / line->every + 1) * line->every, from_ns, to_ns, sums);
	add_marks(line, first / line->every + 1, last / line->every, sums);
	line_walk(line, last / line->every * line->every, last + 1, from_ns, to_ns, sums);
	return 0;
}

/* ---- of all threads ---- */

int trc_thread_times_open(struct trc_thread_times *t, struct trc_model *m)
{
	int err = trc_steps_open(&t->steps, m);

	t->line = err ? NULL : calloc(t->steps.n_threads + 1, sizeof(*t->line));
	return err || t->line ? err : -ENOMEM;
}

void trc_thread_times_close(struct trc_thread_times *t)
{
	for (size_t i = 0; t->line && i < t->steps.n_threads; i++) {
		trc_array_free(&t->line[i].stretches);
		free(t->line[i].cell);
		free(t->line[i].mark_ns);
	}
	free(t->line);
	trc_steps_close(&t->steps);
}
