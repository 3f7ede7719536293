/* intern.c - stacks and label sets by content: see private.h. */
#include <errno.h>
#include <string.h>
#include "private.h"
#include "format/check.h"
#include "recorder/shared/labels_bytes.h"

int trc_fold_intern_init(struct trc_fold_intern *in, struct trc_arena *arena, size_t n_bytes)
{
	size_t words_bytes = n_bytes / 4 * 3 & ~(size_t)7;

	in->word = trc_arena_take(arena, words_bytes);
	in->max_words = (uint32_t)(words_bytes / 8 < UINT32_MAX ? words_bytes / 8 : UINT32_MAX);
	if (!in->word || trc_fold_table_init(&in->table, arena, sizeof(struct trc_fold_content),
					     n_bytes - words_bytes))
		return -ENOMEM;
	in->collect_words = in->max_words / 8 * 7;
	in->collect_n = in->table.max / 8 * 7;
	return 0;
}

void trc_fold_forget_ids(struct trc_fold_intern *in)
{
	memset(in->cached, 0, sizeof(in->cached));
}

const uint64_t *trc_fold_content(const struct trc_fold_intern *in, uint32_t id, uint32_t *n_words,
				 uint32_t *n_bytes)
{
	const struct trc_fold_content *c = trc_fold_table_at(&in->table, id);

	*n_words = c ? c->item.extra : 0;
	*n_bytes = c ? c->n_bytes : 0;
	return c ? in->word + c->off + 1 : NULL;
}

static uint32_t fold_intern(struct trc_fold_intern *in, const uint64_t *word, uint32_t n_bytes)
{
	uint64_t hash = trc_check64(word, n_bytes, 0) & INT64_MAX;
	uint32_t n_words = (n_bytes + 7) / 8, id;
	struct trc_fold_content *c = trc_fold_table_find(&in->table, hash);

	while (c && (c->n_bytes != n_bytes || memcmp(in->word + c->off + 1, word, n_bytes)))
		c = trc_fold_table_more(&in->table, c);
	if (c)
		return trc_fold_table_id(&in->table, c);
	if (in->max_words - in->n_words < n_words + 1)
		return 0;
	c = trc_fold_table_add(&in->table, hash);
	if (!c)
		return 0;
	id = trc_fold_table_id(&in->table, c);
	c->item.extra = n_words;
	c->off = in->n_words;
	c->n_bytes = n_bytes;
	in->word[in->n_words] = id;
	memcpy(in->word + in->n_words + 1, word, n_words * sizeof(*word));
	in->n_words += n_words + 1;
	return id;
}

static uint32_t stack_make(struct trc_fold_intern *in, const struct trc_writer *tables,
			   uint64_t tables_id)
{
	uint64_t word[1 + TRC_STACK_DEPTH_MAX];
	const uint64_t *frame;
	uint32_t epoch, n = trc_writer_stack_of(tables, tables_id, &epoch, &frame);

	if (!n || n > TRC_STACK_DEPTH_MAX)
		return 0;
	word[0] = epoch;
	memcpy(word + 1, frame, n * sizeof(*frame));
	return fold_intern(in, word, (n + 1) * (uint32_t)sizeof(*word));
}

static uint32_t labels_make(struct trc_fold_intern *in, const struct trc_writer *tables,
			    uint64_t tables_id)
{
	struct trc_label label[TRC_LABELS_MAX];
	uint64_t word[TRC_LABELS_BYTES_MAX / 8 + 1] = {0};
	char *at = (char *)word, *end = at + TRC_LABELS_BYTES_MAX;
	uint32_t n = trc_writer_label_set_of(tables, tables_id, label);

	for (uint32_t i = 0; i < n; i++)
		if (label[i].key_bytes > TRC_LABEL_KEY_BYTES_MAX ||
		    label[i].value_bytes > UINT8_MAX || !trc_label_put(&at, end, &label[i]))
			return 0;
	return n ? fold_intern(in, word, (uint32_t)(at - (char *)word)) : 0;
}

static uint32_t fold_id(struct trc_fold_intern *in, const struct trc_writer *tables, uint64_t id,
			uint32_t (*make)(struct trc_fold_intern *, const struct trc_writer *,
					 uint64_t))
{
	uint32_t slot = (uint32_t)id % TRC_FOLD_CACHED, made;

	if (!id)
		return 0;
	if (in->cached[slot].tables_id == id)
		return in->cached[slot].id;
	made = make(in, tables, id);
	if (made) {
		in->cached[slot].tables_id = id;
		in->cached[slot].id = made;
	}
	return made;
}

uint32_t trc_fold_stack(struct trc_fold *fold, const struct trc_writer *tables, uint64_t id)
{
	return fold_id(&fold->stacks, tables, id, stack_make);
}

uint32_t trc_fold_labels(struct trc_fold *fold, const struct trc_writer *tables, uint64_t id)
{
	return fold_id(&fold->label_sets, tables, id, labels_make);
}

/* ---- what nothing cites any more ------------------------------------------------------- */

void trc_fold_intern_mark(struct trc_fold_intern *in, uint32_t id)
{
	struct trc_fold_content *c = trc_fold_table_at(&in->table, id);

	if (c)
		c->marked = true;
}

/* Ids stay what they are; contents move together. */
static void intern_sweep(struct trc_fold_intern *in)
{
	uint32_t to = 0;

	for (uint32_t from = 0, n; from < in->n_words; from += n) {
		struct trc_fold_content *c =
			trc_fold_table_at(&in->table, (uint32_t)in->word[from]);

		n = c->item.extra + 1;
		if (!c->marked) {
			trc_fold_table_remove(&in->table, c);
			continue;
		}
		c->marked = false;
		c->off = to;
		memmove(in->word + to, in->word + from, n * sizeof(*in->word));
		to += n;
	}
	in->n_words = to;
	trc_fold_forget_ids(in);
	/* Not again before half of what is free now is used. */
	in->collect_words = to + (in->max_words - to) / 2;
	in->collect_n = in->table.n + (in->table.max - in->table.n) / 2;
	if (in->collect_words < in->max_words / 8 * 7)
		in->collect_words = in->max_words / 8 * 7;
	if (in->collect_n < in->table.max / 8 * 7)
		in->collect_n = in->table.max / 8 * 7;
}

static bool fold_intern_is_crowded(const struct trc_fold_intern *in)
{
	return in->n_words > in->collect_words || in->table.n > in->collect_n;
}

static void views_mark(struct trc_fold *fold)
{
	for (uint32_t i = 0; i < TRC_VIEWS_MAX; i++) {
		const struct trc_fold_table *rows = fold->view[i] ? &fold->view[i]->rows : NULL;

		for (uint32_t id = 1; rows && id <= rows->used; id++) {
			const struct trc_fold_row *row = trc_fold_table_at(rows, id);

			if (!row)
				continue;
			trc_fold_intern_mark(&fold->stacks, (uint32_t)(row->item.key >> 32));
			trc_fold_intern_mark(&fold->label_sets, (uint32_t)row->item.key);
		}
	}
}

void trc_fold_make_room(struct trc_fold *fold)
{
	if (!fold_intern_is_crowded(&fold->stacks) && !fold_intern_is_crowded(&fold->label_sets))
		return;
	views_mark(fold);
	trc_fold_queue_mark(fold);
	trc_fold_waits_mark(fold);
	trc_fold_fibers_mark(fold);
	trc_fold_locks_mark(fold);
	trc_fold_live_mark(fold);
	intern_sweep(&fold->stacks);
	intern_sweep(&fold->label_sets);
}
