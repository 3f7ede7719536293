/* copy.c - the sums of a view, copied into memory of their own: see fold.h. */
#include <errno.h>
#include <string.h>
#include "private.h"
#include "recorder/shared/labels_bytes.h"

struct folded_row {
	uint32_t stack_off, n_stack_words; /* in word[]: the epoch, then the frames */
	uint32_t labels_off, labels_bytes;
	int64_t value[TRC_VIEW_VALUES];
};

struct trc_folded {
	struct trc_folded_head head;
	struct folded_row *row;
	uint64_t *word;
	uint32_t n_rows, n_words;
	size_t memory_bytes;
};

static int64_t rounded(double value)
{
	if (value >= 0x1p63 || value <= -0x1p63)
		return value > 0 ? INT64_MAX : -INT64_MAX;
	return value < 0 ? -(int64_t)(0.5 - value) : (int64_t)(value + 0.5);
}

/* Values in their units; false: there is nothing. */
static bool finish_values(const struct trc_fold *f, const struct trc_view *view,
			  const struct trc_fold_row *row, int64_t value[TRC_VIEW_VALUES])
{
	bool of_waits =
		view->options.kind == TRC_VIEW_BLOCK || view->options.kind == TRC_VIEW_MUTEX;
	bool any = false;

	for (int i = 0; i < TRC_VIEW_VALUES; i++) {
		value[i] = rounded(of_waits && i == 1 ? row->value[i] * f->ns_per_tick
						      : row->value[i]);
		any |= value[i] != 0;
	}
	return any;
}

/* With `to` without memory only adds up what it takes. */
static void put_rows(const struct trc_fold *f, const struct trc_view *view, struct trc_folded *to)
{
	to->n_rows = to->n_words = 0;
	for (uint32_t id = 1; id <= view->rows.used; id++) {
		const struct trc_fold_row *from = trc_fold_table_at(&view->rows, id);
		struct folded_row row = {0};
		const uint64_t *stack, *labels;
		uint32_t n_label_words, stack_bytes;

		if (!from || !finish_values(f, view, from, row.value))
			continue;
		stack = trc_fold_content(&f->stacks, (uint32_t)(from->item.key >> 32),
					 &row.n_stack_words, &stack_bytes);
		labels = trc_fold_content(&f->label_sets, (uint32_t)from->item.key, &n_label_words,
					  &row.labels_bytes);
		row.stack_off = to->n_words;
		row.labels_off = row.stack_off + row.n_stack_words;
		if (to->row) {
			if (stack)
				memcpy(to->word + row.stack_off, stack, stack_bytes);
			if (labels)
				memcpy(to->word + row.labels_off, labels, row.labels_bytes);
			to->row[to->n_rows] = row;
		}
		to->n_words = row.labels_off + n_label_words;
		to->n_rows++;
	}
}

static uint64_t duration_ns(const struct trc_fold *f, const struct trc_view *copy)
{
	double ns = (double)(copy->end - copy->begin) * f->ns_per_tick;

	return ns < 0x1p63 ? (uint64_t)ns : INT64_MAX;
}

static uint64_t whole_or_max(double value)
{
	return value < 0x1p63 ? (uint64_t)value : INT64_MAX;
}

int trc_folded_make(const struct trc_fold *f, const struct trc_view *copy, struct trc_folded **out)
{
	struct trc_folded plan = {.head = {.options = copy->options,
					   .begin = copy->begin,
					   .end = copy->end,
					   .duration_ns = duration_ns(f, copy),
					   .lost_events = copy->lost_events,
					   .lost_value = whole_or_max(copy->lost_value),
					   .alone_value = whole_or_max(copy->alone_value),
					   .left_out = copy->left_out,
					   .without_stack = copy->without_stack}};
	struct trc_arena arena = {0};
	struct trc_folded *folded;

	for (int cause = 0; cause < TRC_SAMPLE_LOSS_COUNT; cause++) {
		plan.head.lost_by_cause[cause] = copy->lost_by_cause[cause];
		plan.head.lost_samples += copy->lost_by_cause[cause];
	}
	put_rows(f, copy, &plan);
	plan.memory_bytes = sizeof(plan) + plan.n_rows * sizeof(*plan.row) +
			    plan.n_words * sizeof(*plan.word) + 64;
	arena.size_bytes = plan.memory_bytes;
	arena.base = trc_pages_map(arena.size_bytes);
	if (!arena.base)
		return -ENOMEM;
	folded = trc_arena_take(&arena, sizeof(*folded));
	*folded = plan;
	folded->row = trc_arena_take(&arena, plan.n_rows * sizeof(*plan.row));
	folded->word = trc_arena_take(&arena, plan.n_words * sizeof(*plan.word));
	put_rows(f, copy, folded);
	*out = folded;
	return 0;
}

/* ---- for anybody ----------------------------------------------------------------------- */

void trc_folded_head(const struct trc_folded *folded, struct trc_folded_head *head)
{
	*head = folded->head;
}

uint32_t trc_folded_rows(const struct trc_folded *folded)
{
	return folded->n_rows;
}

static uint32_t split_labels(const struct trc_folded *folded, uint32_t i,
			     struct trc_label label[TRC_LABELS_MAX])
{
	const struct folded_row *row = &folded->row[i];

	return trc_labels_split((const char *)(folded->word + row->labels_off), row->labels_bytes,
				label);
}

void trc_folded_row(const struct trc_folded *folded, uint32_t i, struct trc_folded_row *row)
{
	const struct folded_row *from = &folded->row[i];
	const uint64_t *stack = folded->word + from->stack_off;
	struct trc_label label[TRC_LABELS_MAX];

	*row = (struct trc_folded_row){.labels_idx = i};
	if (from->n_stack_words) {
		row->epoch = (uint32_t)stack[0];
		row->frame = stack + 1;
		row->n_frames = from->n_stack_words - 1;
	}
	row->n_labels = split_labels(folded, i, label);
	memcpy(row->value, from->value, sizeof(row->value));
}

uint32_t trc_folded_labels(const struct trc_folded *folded, const struct trc_folded_row *row,
			   struct trc_label label[TRC_LABELS_MAX])
{
	return split_labels(folded, row->labels_idx, label);
}

void trc_folded_free(struct trc_folded *folded)
{
	if (folded)
		trc_pages_unmap(folded, folded->memory_bytes);
}
