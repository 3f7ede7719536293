/*
 * block_damaged.c - blocks of a file that have changed since they were written: see reader.h, D5.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "block_head.h"
#include "check.h"

static bool block_has_changed(const struct trc_block *b)
{
	struct trc_cursor c = {b->payload, b->payload + b->payload_bytes, false};
	const uint8_t *bytes;
	struct trc_block_head h;

	trc_block_take_head(&c, &h);
	bytes = b->payload + h.head_bytes;
	for (uint32_t i = 0; i < h.n_columns; i++) {
		struct trc_block_column column;

		trc_block_take_column(&c, &column);
		if ((uint32_t)trc_check64(bytes, column.stored_bytes, 0) != column.check)
			return true;
		bytes += column.stored_bytes;
	}
	return false;
}

/* From now on the block has one event. */
static void block_set_damaged(struct trc_reader *r, struct trc_block *b)
{
	uint32_t *count = r->kind_counts.at + (size_t)(b - r->blocks.at) * (TRC_KIND_MAX + 1);

	b->n_lost = b->info.n_events;
	r->info.n_events -= b->n_lost - 1;
	b->info.damaged = true;
	b->info.n_events = 1;
	memset(count, 0, (TRC_KIND_MAX + 1) * sizeof(*count));
	count[TRC_KIND_GAP] = 1;
}

void trc_reader_find_damage(struct trc_reader *r)
{
	const struct trc_block *first = NULL;
	uint64_t n = 0, n_lost = 0;

	for (size_t i = 0; i < r->blocks.n; i++) {
		struct trc_block *b = &r->blocks.at[i];

		if (!b->info.n_events || !block_has_changed(b))
			continue;
		block_set_damaged(r, b);
		first = first ? first : b;
		n_lost += b->n_lost;
		n++;
	}
	if (n == 1)
		trc_reader_warn(r,
				"block %zu: checksum mismatch: its %" PRIu32
				" events, from %.3f s to %.3f s, count as lost",
				(size_t)(first - r->blocks.at), first->n_lost,
				(double)first->info.first_ns / 1e9,
				(double)first->info.last_ns / 1e9);
	else if (n)
		trc_reader_warn(r,
				"block %zu and %" PRIu64 " more: checksum mismatch: their %" PRIu64
				" events count as lost",
				(size_t)(first - r->blocks.at), n - 1, n_lost);
}

/* The columns of one event, in one allocation. */
struct gap_columns {
	struct trc_columns columns;
	const uint64_t *arg[TRC_ARGS_MAX];
	uint64_t value[TRC_ARGS_MAX];
	int64_t time_ns;
	uint32_t thread, proc, rank;
	uint8_t kind;
};

int trc_block_load_damaged(const struct trc_block *b, struct trc_columns **out,
			   struct trc_error *error)
{
	struct gap_columns *gap = calloc(1, sizeof(*gap));

	if (!gap) {
		snprintf(error->text, sizeof(error->text), "out of memory");
		return -ENOMEM;
	}
	gap->kind = TRC_KIND_GAP;
	gap->time_ns = b->info.last_ns;
	gap->proc = b->info.proc == TRC_PROC_PER_EVENT ? 0 : b->info.proc;
	gap->value[TRC_ARG_INDEX(gap, lost_events)] = b->n_lost;
	gap->value[TRC_ARG_INDEX(gap, since)] = (uint64_t)b->info.first_ns;
	gap->value[TRC_ARG_INDEX(gap, cause)] = TRC_GAP_DAMAGED;
	for (unsigned int a = 0; a < TRC_ARGS_MAX; a++)
		gap->arg[a] = &gap->value[a];
	gap->columns = (struct trc_columns){.n_events = 1,
					    .kind = &gap->kind,
					    .time_ns = &gap->time_ns,
					    .thread = &gap->thread,
					    .proc = &gap->proc,
					    .rank = &gap->rank};
	gap->columns.arg[TRC_KIND_GAP] = gap->arg;
	*out = &gap->columns;
	return 0;
}
