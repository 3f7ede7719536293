/*
 * rows_now.c - what each thread is doing when the trace ends, and which locks it holds, as columns of a page.
 */
#include "rows.h"

/* More threads than anybody could look at. */
enum { NOW_ROWS_MAX = 20000 };

/* By how much it began before the trace, whose times begin there: a snapshot of the last seconds knows of longer waits. */
static uint64_t before_trace(const struct trc_rows *r, int64_t since_ns)
{
	int64_t start_ns = trc_model_start_ns(r->m);

	return since_ns != TRC_NEVER && since_ns < start_ns
		       ? (uint64_t)start_ns - (uint64_t)since_ns
		       : 0;
}

static void write_threads_now(struct trc_rows *r)
{
	enum {
		THREAD,
		STATE,
		REASON,
		OBJECT,
		SINCE,
		EARLIER,
		HOLDER,
		STACK,
		PARK,
		DEADLOCK,
		REGION,
		N
	};
	struct trc_column c[N] = {
		[THREAD] = trc_column_make("now.thread", TRC_COLUMN_VARINT),
		[STATE] = trc_column_make("now.state", TRC_COLUMN_BYTES),
		[REASON] = trc_column_make("now.reason", TRC_COLUMN_BYTES),
		[OBJECT] = trc_column_make("now.object", TRC_COLUMN_VARINT),
		[SINCE] = trc_column_make("now.since", TRC_COLUMN_VARINT),
		[EARLIER] = trc_column_make("now.earlier", TRC_COLUMN_VARINT),
		[HOLDER] = trc_column_make("now.holder", TRC_COLUMN_VARINT),
		[STACK] = trc_column_make("now.stack", TRC_COLUMN_VARINT),
		[PARK] = trc_column_make("now.park", TRC_COLUMN_VARINT),
		[DEADLOCK] = trc_column_make("now.deadlock", TRC_COLUMN_VARINT),
		[REGION] = trc_column_make("now.region", TRC_COLUMN_VARINT),
	};
	size_t n;
	const struct trc_thread_now *now = trc_model_threads_now(r->m, &n);

	for (size_t i = 0; i < n && i < NOW_ROWS_MAX; i++, now++) {
		trc_column_add(&c[THREAD], trc_rows_thread(r, now->thread));
		trc_column_add(&c[STATE], now->state);
		trc_column_add(&c[REASON], now->reason);
		trc_column_add(&c[OBJECT], now->state == TRC_THREAD_WAITING
						   ? trc_rows_object(r, now->object, now->stack)
						   : 0);
		trc_column_add(&c[SINCE], trc_rows_time_or_never(r, now->since_ns));
		trc_column_add(&c[EARLIER], before_trace(r, now->since_ns));
		trc_column_add(&c[HOLDER], trc_rows_thread(r, now->holder));
		trc_column_add(&c[STACK], now->stack);
		trc_column_add(&c[PARK], now->park ? r->park_idx[now->park - 1] : 0);
		trc_column_add(&c[DEADLOCK], now->deadlock);
		trc_column_add(&c[REGION], trc_texts_id(&r->texts, now->region));
	}
	trc_rows_columns(r, c, N);
}

static void write_locks_held(struct trc_rows *r)
{
	enum { THREAD, REASON, OBJECT, SINCE, EARLIER, STACK, WAITERS, N };
	struct trc_column c[N] = {
		[THREAD] = trc_column_make("held.thread", TRC_COLUMN_VARINT),
		[REASON] = trc_column_make("held.reason", TRC_COLUMN_BYTES),
		[OBJECT] = trc_column_make("held.object", TRC_COLUMN_VARINT),
		[SINCE] = trc_column_make("held.since", TRC_COLUMN_VARINT),
		[EARLIER] = trc_column_make("held.earlier", TRC_COLUMN_VARINT),
		[STACK] = trc_column_make("held.stack", TRC_COLUMN_VARINT),
		[WAITERS] = trc_column_make("held.waiters", TRC_COLUMN_VARINT),
	};
	size_t n;
	const struct trc_lock_held *held = trc_model_locks_held(r->m, &n);

	for (size_t i = 0; i < n && i < NOW_ROWS_MAX; i++, held++) {
		trc_column_add(&c[THREAD], trc_rows_thread(r, held->thread));
		trc_column_add(&c[REASON], held->reason);
		trc_column_add(&c[OBJECT], trc_rows_object(r, held->object, held->stack));
		trc_column_add(&c[SINCE], trc_rows_time_or_never(r, held->since_ns));
		trc_column_add(&c[EARLIER], before_trace(r, held->since_ns));
		trc_column_add(&c[STACK], held->stack);
		trc_column_add(&c[WAITERS], held->waiters);
	}
	trc_rows_columns(r, c, N);
}

/* How many rows there are of each table, also if the page has not all of them. */
static void write_counts(struct trc_rows *r)
{
	struct trc_column all[2] = {trc_column_make("now.all", TRC_COLUMN_VARINT),
				    trc_column_make("held.all", TRC_COLUMN_VARINT)};
	size_t n;

	trc_model_threads_now(r->m, &n);
	trc_column_add(&all[0], n);
	trc_model_locks_held(r->m, &n);
	trc_column_add(&all[1], n);
	trc_rows_columns(r, all, 2);
}

void trc_rows_now(struct trc_rows *r)
{
	write_counts(r);
	write_threads_now(r);
	write_locks_held(r);
}
