/*
 * rows_unlocks.c - critical sections that made other threads wait, as columns of a page.
 */
#include <stdlib.h>

#include "rows.h"

/* What the section that ends with this unlock caused, of that what lies in the page's part; false: nothing does. */
static bool unlock_caused(const struct trc_rows *r, const struct trc_unlock *u, size_t i,
			  struct trc_selected_row *caused)
{
	*caused = (struct trc_selected_row){i + 1, u[i].caused_ns, u[i].caused_waits};
	return trc_cut_row(r->cut, TRC_SELECTED_UNLOCKS, i, caused);
}

/* Chooses the unlocks that the page has. */
static void choose_unlocks(struct trc_rows *r)
{
	size_t n;
	const struct trc_unlock *u = trc_model_unlocks(r->m, &n);
	uint64_t by_length[65] = {0}, from, n_wanted = 0;
	struct trc_selected_row caused;
	uint32_t n_kept = 0;

	r->unlock_idx = calloc(n + 1, sizeof(*r->unlock_idx));
	if (!r->unlock_idx) {
		r->failed = true;
		return;
	}
	TRC_CUT_EACH (i, r->cut, TRC_SELECTED_UNLOCKS, n) {
		if (!unlock_caused(r, u, i, &caused))
			continue;
		by_length[trc_bits((uint64_t)caused.ns)]++;
		n_wanted++;
	}
	from = trc_rows_keep_from(by_length, r->limits.unlocks);
	TRC_CUT_EACH (i, r->cut, TRC_SELECTED_UNLOCKS, n)
		if (unlock_caused(r, u, i, &caused) && (uint64_t)caused.ns >= from)
			r->unlock_idx[i] = ++n_kept;
	r->without_unlocks = n_wanted - n_kept;
}

void trc_rows_unlocks(struct trc_rows *r)
{
	enum { ID, TIME, THREAD, REASON, OBJECT, STACK, WAITERS, CAUSED, CAUSED_NS, N };
	struct trc_column c[N] = {
		[ID] = trc_column_make("unlock.id", TRC_COLUMN_DELTA),
		[TIME] = trc_column_make("unlock.time", TRC_COLUMN_DELTA),
		[THREAD] = trc_column_make("unlock.thread", TRC_COLUMN_VARINT),
		[REASON] = trc_column_make("unlock.reason", TRC_COLUMN_BYTES),
		[OBJECT] = trc_column_make("unlock.object", TRC_COLUMN_VARINT),
		[STACK] = trc_column_make("unlock.stack", TRC_COLUMN_VARINT),
		[WAITERS] = trc_column_make("unlock.waiters", TRC_COLUMN_VARINT),
		[CAUSED] = trc_column_make("unlock.caused", TRC_COLUMN_VARINT),
		[CAUSED_NS] = trc_column_make("unlock.caused_ns", TRC_COLUMN_VARINT),
	};
	size_t n;
	const struct trc_unlock *all = trc_model_unlocks(r->m, &n);
	struct trc_selected_row caused;

	choose_unlocks(r);
	if (r->failed)
		n = 0;
	TRC_CUT_EACH (i, r->cut, TRC_SELECTED_UNLOCKS, n) {
		const struct trc_unlock *u = &all[i];

		if (!unlock_caused(r, all, i, &caused))
			continue;
		if (!r->unlock_idx[i]) {
			trc_rows_leave_out(r, TRC_ROWS_UNLOCKS, i, n);
			continue;
		}
		trc_column_add(&c[ID], i + 1);
		trc_column_add(&c[TIME], trc_rows_time(r, u->ts_ns));
		trc_column_add(&c[THREAD], trc_rows_thread(r, u->thread));
		trc_column_add(&c[REASON], u->reason);
		trc_column_add(&c[OBJECT], trc_rows_object(r, u->object, u->stack));
		trc_column_add(&c[STACK], u->stack);
		trc_column_add(&c[WAITERS], u->waiters);
		trc_column_add(&c[CAUSED], caused.n);
		trc_column_add(&c[CAUSED_NS], caused.ns > 0 ? (uint64_t)caused.ns : 0);
	}
	trc_rows_columns(r, c, N);
}
