/* blame_sums.c - see blame_sums.h. */
#include "blame_sums.h"

#include <errno.h>
#include <stdlib.h>
#include "analyzer/model/selection.h"
#include "analyzer/model/waits.h"
#include "blame.h"
#include "format/check.h"

struct summer {
	const struct trc_model *m;
	const struct trc_selection *selection;
	trc_blame_mark_fn *mark;
	void *context;
	struct trc_array *rows; /* struct trc_blame_row */
	struct trc_index row;	/* by trc_check64() of what is alike */
	struct trc_draws *draws;
};

bool trc_blame_counts(const struct trc_park *park)
{
	enum trc_wait_class class = trc_wait_class(park->reason);

	return class == TRC_WAIT_LOCKS || class == TRC_WAIT_THREADS;
}

static bool wait_is_wanted(void *context, const struct trc_park *park, uint32_t *labels)
{
	const struct summer *s = context;

	if (!trc_blame_counts(park))
		return false;
	*labels = trc_park_labels(s->m, park);
	if (!trc_selection_passes(s->selection, s->m, *labels))
		return false;
	if (s->mark)
		*labels = s->mark(s->context, park);
	return true;
}

static bool inside(void *context, uint32_t thread, int64_t now_ns, int64_t *until_ns)
{
	const struct summer *s = context;

	return trc_selection_at(s->selection, thread, now_ns, until_ns);
}

static int blame_sum_add(void *context, const struct trc_blame *blame)
{
	struct summer *s = context;
	const uint64_t alike[] = {
		(uint64_t)blame->thread << 32 | blame->stack,
		(uint64_t)blame->labels << 32 | (uint64_t)blame->kind << 16 |
			(uint64_t)blame->reason << 8 | blame->stack_of,
	};
	uint32_t number = trc_index_number(&s->row, trc_check64(alike, sizeof(alike), 0));
	struct trc_blame_row *row = number > s->rows->n
					    ? trc_array_add(s->rows)
					    : (struct trc_blame_row *)s->rows->row + number - 1;

	if (!number || !row)
		return -ENOMEM;
	if (!row->ns)
		*row = (struct trc_blame_row){.number = number,
					      .thread = blame->thread,
					      .stack = blame->stack,
					      .labels = blame->labels,
					      .kind = blame->kind,
					      .reason = blame->reason,
					      .stack_of = blame->stack_of};
	if (__builtin_add_overflow(row->ns, blame->ns, &row->ns))
		row->ns = INT64_MAX;
	return blame->sample ? trc_draws_add(s->draws, number, blame->sample, blame->ns) : 0;
}

static int sums_add_margins(const struct summer *s)
{
	struct trc_blame_row *row = s->rows->row;
	double *margin = calloc(s->rows->n + 1, sizeof(*margin));
	int err =
		margin ? trc_draws_margins(s->draws, s->m, NULL, s->rows->n + 1, margin) : -ENOMEM;

	for (size_t i = 0; i < s->rows->n && !err; i++)
		row[i].margin_ns = trc_estimate_whole(margin[row[i].number]);
	free(margin);
	return err;
}

static int sums_largest_first(const void *a, const void *b)
{
	const struct trc_blame_row *x = a, *y = b;

	if (x->ns != y->ns)
		return x->ns > y->ns ? -1 : 1;
	if (x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	if (x->stack != y->stack)
		return x->stack < y->stack ? -1 : 1;
	if (x->labels != y->labels)
		return x->labels < y->labels ? -1 : 1;
	if (x->kind != y->kind)
		return x->kind < y->kind ? -1 : 1;
	if (x->reason != y->reason)
		return x->reason < y->reason ? -1 : 1;
	return (x->stack_of > y->stack_of) - (x->stack_of < y->stack_of);
}

/* What is selected is asked of `inside`; what lies before or behind the window need not be passed through for that. */
static void target_set_window(struct trc_blame_target *target, const struct trc_model *m,
			      const struct trc_selection *s)
{
	if (!s || (s->from_ns == INT64_MIN && s->to_ns == INT64_MAX))
		return;
	target->from_ns = trc_model_start_ns(m);
	target->to_ns = trc_model_end_ns(m);
	if (s->from_ns > target->from_ns)
		target->from_ns = s->from_ns;
	if (s->to_ns < target->to_ns)
		target->to_ns = s->to_ns;
}

int trc_blame_rows(const struct trc_model *m, trc_blame_mark_fn *mark, void *context,
		   struct trc_array *rows, struct trc_draws *draws)
{
	struct trc_draws own = {0};
	struct summer s = {.m = m,
			   .selection = trc_model_selection(m),
			   .mark = mark,
			   .context = context,
			   .rows = rows,
			   .draws = draws ? draws : &own};
	struct trc_blame_target target = {
		.wanted = wait_is_wanted,
		.inside = trc_selection_has_all_time(s.selection) ? NULL : inside,
		.charge = blame_sum_add,
		.context = &s,
	};
	int err;

	target_set_window(&target, m, s.selection);
	rows->row_bytes = sizeof(struct trc_blame_row);
	err = trc_blame_sum(m, &target);
	trc_index_free(&s.row);
	if (!err)
		err = sums_add_margins(&s);
	trc_draws_free(&own);
	if (!err && rows->n)
		qsort(rows->row, rows->n, rows->row_bytes, sums_largest_first);
	return err;
}
