/* view.c - the sums of a view, and its random choice: see private.h. */
#include <errno.h>
#include "private.h"

enum { ROWS_MAX_DEFAULT = 65536, ROWS_MAX = 1 << 24 };

int trc_view_map(struct trc_view **out, const struct trc_view *model)
{
	uint32_t max = model->options.rows_max ? model->options.rows_max : ROWS_MAX_DEFAULT;
	struct trc_arena arena = {0};
	struct trc_view *view;
	size_t rows_bytes;

	max = max < ROWS_MAX ? max : ROWS_MAX;
	rows_bytes = trc_fold_table_bytes(sizeof(struct trc_fold_row), max);
	arena.size_bytes = sizeof(*view) + rows_bytes + 64;
	arena.base = trc_pages_map(arena.size_bytes);
	if (!arena.base)
		return -ENOMEM;
	view = trc_arena_take(&arena, sizeof(*view));
	*view = *model;
	view->memory_bytes = arena.size_bytes;
	view->rows = (struct trc_fold_table){0};
	if (trc_fold_table_init(&view->rows, &arena, sizeof(struct trc_fold_row), rows_bytes)) {
		trc_pages_unmap(view, view->memory_bytes);
		return -ENOMEM;
	}
	*out = view;
	return 0;
}

void trc_view_unmap(struct trc_view *view)
{
	if (view)
		trc_pages_unmap(view, view->memory_bytes);
}

void trc_view_sum(struct trc_view *view, uint32_t stack, uint32_t labels,
		  const double value[TRC_VIEW_VALUES])
{
	uint64_t key = (uint64_t)stack << 32 | labels;
	struct trc_fold_row *row = trc_fold_table_find(&view->rows, key);

	if (!row)
		row = trc_fold_table_add(&view->rows, key);
	if (!row) {
		view->left_out++;
		return;
	}
	view->without_stack += !stack;
	for (int i = 0; i < TRC_VIEW_VALUES; i++)
		row->value[i] += value[i];
}

uint64_t trc_view_count(const struct trc_view *view)
{
	double threads = 0;

	if (view->options.kind != TRC_VIEW_THREADCREATE)
		return view->rows.n;
	for (uint32_t id = 1; id <= view->rows.used; id++) {
		const struct trc_fold_row *row = trc_fold_table_at(&view->rows, id);

		threads += row ? row->value[0] : 0;
	}
	return (uint64_t)threads;
}

uint64_t trc_view_clip(const struct trc_view *view, uint64_t from, uint64_t until)
{
	from = from > view->begin ? from : view->begin;
	until = until < view->end ? until : view->end;
	return until > from ? until - from : 0;
}

double trc_view_draw(const struct trc_view *view, uint64_t which)
{
	uint64_t n = trc_fold_mix(trc_fold_mix(view->options.seed + UINT64_C(0x9e3779b97f4a7c15)) ^
				  which);

	return (double)(trc_fold_mix(n + view->options.seed) >> 11) * 0x1p-53;
}

void trc_view_add_wait(struct trc_view *view, uint32_t stack, uint32_t labels, uint64_t ticks,
		       uint64_t which)
{
	double value[TRC_VIEW_VALUES] = {1, (double)ticks};
	double lasted = ticks ? (double)ticks : 1; /* less than a tick */

	if (view->options.rate > 1 && lasted < view->rate) {
		if (trc_view_draw(view, which) * view->rate >= lasted)
			return;
		value[0] = view->rate / lasted;
		value[1] = view->rate;
	}
	trc_view_sum(view, stack, labels, value);
}

void trc_view_add_unlock(struct trc_view *view, const struct trc_fold_unlock *unlock,
			 uint64_t object, uint64_t waits, uint64_t ticks)
{
	double times = view->options.rate > 1 ? view->rate : 1;
	const double value[TRC_VIEW_VALUES] = {(double)waits * times, (double)ticks * times};
	/* All that one unlock ended goes one way. */
	uint64_t which =
		trc_fold_mix(unlock->charge.at ^ (uint64_t)unlock->charge.thread << 40) ^ object;

	if (times > 1 && trc_view_draw(view, which) * times >= 1)
		return;
	trc_view_sum(view, unlock->stack, unlock->labels, value);
}
