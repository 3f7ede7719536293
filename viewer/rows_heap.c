/*
 * rows_heap.c - sampled allocations as columns of a page: where they were made, for how much memory each
 * stands, and when that was freed.
 */
#include "rows.h"

/* Bytes that the sample stands for. */
static uint64_t space_of(const struct trc_alloc *alloc)
{
	double bytes = alloc->objects * (double)alloc->bytes + 0.5;

	return bytes > 0 ? (uint64_t)trc_estimate_whole(bytes) : 0;
}

void trc_rows_heap(struct trc_rows *r)
{
	enum { TIME, THREAD, FREED, LIVES, BYTES, SPACE, STACK, SET, N };
	struct trc_column c[N] = {
		[TIME] = trc_column_make("alloc.time", TRC_COLUMN_DELTA),
		[THREAD] = trc_column_make("alloc.thread", TRC_COLUMN_VARINT),
		[FREED] = trc_column_make("alloc.freed", TRC_COLUMN_VARINT),
		[LIVES] = trc_column_make("alloc.lives", TRC_COLUMN_BYTES),
		[BYTES] = trc_column_make("alloc.bytes", TRC_COLUMN_VARINT),
		[SPACE] = trc_column_make("alloc.space", TRC_COLUMN_VARINT),
		[STACK] = trc_column_make("alloc.stack", TRC_COLUMN_VARINT),
		[SET] = trc_column_make("alloc.set", TRC_COLUMN_VARINT),
	};
	size_t n, n_in, seen = 0;
	const struct trc_alloc *a = trc_model_allocs(r->m, &n);

	n_in = trc_cut_count(r->cut, TRC_SELECTED_ALLOCS, n);
	r->alloc_step = n_in ? (n_in - 1) / r->limits.allocs + 1 : 1;
	TRC_CUT_EACH (i, r->cut, TRC_SELECTED_ALLOCS, n) {
		if (seen++ % r->alloc_step) {
			trc_rows_leave_out(r, TRC_ROWS_ALLOCS, i, n);
			continue;
		}
		trc_column_add(&c[TIME], trc_rows_time(r, a[i].ts_ns));
		trc_column_add(&c[THREAD], trc_rows_thread(r, a[i].thread));
		trc_column_add(&c[FREED], trc_rows_time_or_never(r, a[i].freed_ns));
		trc_column_add(&c[LIVES], a[i].lives);
		trc_column_add(&c[BYTES], a[i].bytes);
		trc_column_add(&c[SPACE], space_of(&a[i]));
		trc_column_add(&c[STACK], a[i].stack);
		trc_column_add(&c[SET], a[i].labels);
	}
	trc_rows_columns(r, c, N);
}
