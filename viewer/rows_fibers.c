/*
 * rows_fibers.c - fibers, when they ran where, and what they waited for, as columns of a page.
 *
 * A trace without fibers has none of these columns.
 */
#include <stdlib.h>

#include "rows.h"

/* All of its time that is accounted for. */
static uint64_t fiber_length(const struct trc_fiber *f)
{
	return trc_rows_positive(f->run_ns) + trc_rows_positive(f->runnable_ns) +
	       trc_rows_positive(f->waited_ns);
}

uint32_t trc_rows_fiber(const struct trc_rows *r, uint32_t row)
{
	return row && row <= r->n_fibers ? r->fiber_idx[row - 1] : 0;
}

/* Numbers the fibers that the page has. */
static void choose_fibers(struct trc_rows *r, const struct trc_fiber *f)
{
	uint64_t by_length[65] = {0}, from;
	uint32_t n_kept = 0;

	r->fiber_idx = calloc(r->n_fibers, sizeof(*r->fiber_idx));
	if (!r->fiber_idx) {
		r->failed = true;
		return;
	}
	for (size_t i = 0; i < r->n_fibers; i++)
		by_length[trc_bits(fiber_length(&f[i]))]++;
	from = trc_rows_keep_from(by_length, r->limits.fibers);
	for (size_t i = 0; i < r->n_fibers; i++)
		if (fiber_length(&f[i]) >= from)
			r->fiber_idx[i] = ++n_kept;
	r->without_fibers = r->n_fibers - n_kept;
}

static void write_fibers(struct trc_rows *r, const struct trc_fiber *f)
{
	enum {
		LOW,
		HIGH,
		NAME,
		THREAD,
		CREATOR,
		STACK,
		CREATED,
		ENDED,
		RUN,
		RUNNABLE,
		WAITED,
		RUNS,
		WAITS,
		STATE,
		N
	};
	struct trc_column c[N] = {
		[LOW] = trc_column_make("fiber.low", TRC_COLUMN_DELTA),
		[HIGH] = trc_column_make("fiber.high", TRC_COLUMN_VARINT),
		[NAME] = trc_column_make("fiber.name", TRC_COLUMN_VARINT),
		[THREAD] = trc_column_make("fiber.thread", TRC_COLUMN_VARINT),
		[CREATOR] = trc_column_make("fiber.creator", TRC_COLUMN_VARINT),
		[STACK] = trc_column_make("fiber.stack", TRC_COLUMN_VARINT),
		[CREATED] = trc_column_make("fiber.created", TRC_COLUMN_VARINT),
		[ENDED] = trc_column_make("fiber.ended", TRC_COLUMN_VARINT),
		[RUN] = trc_column_make("fiber.run", TRC_COLUMN_VARINT),
		[RUNNABLE] = trc_column_make("fiber.runnable", TRC_COLUMN_VARINT),
		[WAITED] = trc_column_make("fiber.waited", TRC_COLUMN_VARINT),
		[RUNS] = trc_column_make("fiber.runs", TRC_COLUMN_VARINT),
		[WAITS] = trc_column_make("fiber.waits", TRC_COLUMN_VARINT),
		[STATE] = trc_column_make("fiber.state", TRC_COLUMN_BYTES),
	};

	for (size_t i = 0; i < r->n_fibers; i++, f++) {
		if (!r->fiber_idx[i]) {
			trc_rows_leave_out(r, TRC_ROWS_FIBERS, i, r->n_fibers);
			continue;
		}
		trc_column_add(&c[LOW], (uint32_t)f->fiber);
		trc_column_add(&c[HIGH], f->fiber >> 32);
		trc_column_add(&c[NAME], trc_texts_id(&r->texts, f->name));
		trc_column_add(&c[THREAD], trc_rows_thread(r, f->creator_thread));
		trc_column_add(&c[CREATOR], trc_rows_fiber(r, f->creator));
		trc_column_add(&c[STACK], f->create_stack);
		trc_column_add(&c[CREATED], trc_rows_time_or_never(r, f->created_ns));
		trc_column_add(&c[ENDED], trc_rows_time_or_never(r, f->ended_ns));
		trc_column_add(&c[RUN], trc_rows_positive(f->run_ns));
		trc_column_add(&c[RUNNABLE], trc_rows_positive(f->runnable_ns));
		trc_column_add(&c[WAITED], trc_rows_positive(f->waited_ns));
		trc_column_add(&c[RUNS], f->n_runs);
		trc_column_add(&c[WAITS], f->n_waits);
		trc_column_add(&c[STATE], f->state);
	}
	trc_rows_columns(r, c, N);
}

static bool has_run(const struct trc_rows *r, const struct trc_fiber_run *run)
{
	return trc_cut_overlaps(r->cut, run->thread, run->start_ns, run->end_ns);
}

static void write_runs(struct trc_rows *r)
{
	enum { ID, THREAD, START, LENGTH, FIBER, REASON, FLAGS, N };
	struct trc_column c[N] = {
		[ID] = trc_column_make("frun.id", TRC_COLUMN_DELTA),
		[THREAD] = trc_column_make("frun.thread", TRC_COLUMN_VARINT),
		[START] = trc_column_make("frun.start", TRC_COLUMN_DELTA),
		[LENGTH] = trc_column_make("frun.length", TRC_COLUMN_VARINT),
		[FIBER] = trc_column_make("frun.fiber", TRC_COLUMN_VARINT),
		[REASON] = trc_column_make("frun.reason", TRC_COLUMN_BYTES),
		[FLAGS] = trc_column_make("frun.flags", TRC_COLUMN_BYTES),
	};
	uint64_t by_length[65] = {0}, from;
	size_t n;
	const struct trc_fiber_run *t = trc_model_fiber_runs(r->m, &n);

	for (size_t i = 0; i < n; i++)
		if (trc_rows_fiber(r, t[i].fiber) && has_run(r, &t[i]))
			by_length[trc_bits(trc_rows_length(r, t[i].start_ns, t[i].end_ns))]++;
	from = trc_rows_keep_from(by_length, r->limits.fiber_runs);
	for (size_t i = 0; i < n; i++, t++) {
		uint64_t length = trc_rows_length(r, t->start_ns, t->end_ns);

		if (length < from || !trc_rows_fiber(r, t->fiber) || !has_run(r, t)) {
			trc_rows_leave_out(r, TRC_ROWS_FIBER_RUNS, i, n);
			r->without_fiber_runs += has_run(r, t);
			continue;
		}
		trc_column_add(&c[ID], i + 1);
		trc_column_add(&c[THREAD], trc_rows_thread(r, t->thread));
		trc_column_add(&c[START], trc_rows_start(r, t->start_ns, t->end_ns));
		trc_column_add(&c[LENGTH], length);
		trc_column_add(&c[FIBER], trc_rows_fiber(r, t->fiber));
		trc_column_add(&c[REASON], t->reason);
		trc_column_add(&c[FLAGS], t->flags);
	}
	trc_rows_columns(r, c, N);
}

enum wait_column {
	ID,
	START,
	LENGTH,
	READY,
	FIBER,
	REASON,
	FLAGS,
	OBJECT,
	THREAD,
	END_THREAD,
	STACK,
	SET,
	WAKER,
	WAKER_FIBER,
	WAKER_STACK,
	N_WAIT_COLUMNS
};

static void fiber_wait_row_add(struct trc_rows *r, struct trc_column c[N_WAIT_COLUMNS],
			       const struct trc_fiber_wait *w)
{
	uint64_t start = trc_rows_start(r, w->start_ns, w->end_ns);

	trc_column_add(&c[START], start);
	trc_column_add(&c[LENGTH], trc_rows_length(r, w->start_ns, w->end_ns));
	trc_column_add(&c[READY], trc_rows_time_or_never(r, w->ready_ns));
	trc_column_add(&c[FIBER], trc_rows_fiber(r, w->fiber));
	trc_column_add(&c[REASON], w->reason);
	trc_column_add(&c[FLAGS], w->flags);
	trc_column_add(&c[OBJECT], w->object ? trc_rows_object(r, w->object, w->stack) : 0);
	trc_column_add(&c[THREAD], trc_rows_thread(r, w->thread));
	trc_column_add(&c[END_THREAD], trc_rows_thread(r, w->end_thread));
	trc_column_add(&c[STACK], w->stack);
	trc_column_add(&c[SET], w->labels);
	trc_column_add(&c[WAKER], trc_rows_thread(r, w->waker_thread));
	trc_column_add(&c[WAKER_FIBER], trc_rows_fiber(r, w->waker_fiber));
	trc_column_add(&c[WAKER_STACK], w->waker_stack);
}

static void write_waits(struct trc_rows *r)
{
	struct trc_column c[N_WAIT_COLUMNS] = {
		[ID] = trc_column_make("fwait.id", TRC_COLUMN_DELTA),
		[START] = trc_column_make("fwait.start", TRC_COLUMN_DELTA),
		[LENGTH] = trc_column_make("fwait.length", TRC_COLUMN_VARINT),
		[READY] = trc_column_make("fwait.ready", TRC_COLUMN_DELTA),
		[FIBER] = trc_column_make("fwait.fiber", TRC_COLUMN_VARINT),
		[REASON] = trc_column_make("fwait.reason", TRC_COLUMN_BYTES),
		[FLAGS] = trc_column_make("fwait.flags", TRC_COLUMN_BYTES),
		[OBJECT] = trc_column_make("fwait.object", TRC_COLUMN_VARINT),
		[THREAD] = trc_column_make("fwait.thread", TRC_COLUMN_VARINT),
		[END_THREAD] = trc_column_make("fwait.end_thread", TRC_COLUMN_VARINT),
		[STACK] = trc_column_make("fwait.stack", TRC_COLUMN_VARINT),
		[SET] = trc_column_make("fwait.set", TRC_COLUMN_VARINT),
		[WAKER] = trc_column_make("fwait.waker", TRC_COLUMN_VARINT),
		[WAKER_FIBER] = trc_column_make("fwait.waker_fiber", TRC_COLUMN_VARINT),
		[WAKER_STACK] = trc_column_make("fwait.waker_stack", TRC_COLUMN_VARINT),
	};
	uint64_t by_length[65] = {0}, from;
	size_t n;
	const struct trc_fiber_wait *all = trc_model_fiber_waits(r->m, &n);

	TRC_CUT_EACH (i, r->cut, TRC_SELECTED_FIBER_WAITS, n)
		if (trc_rows_fiber(r, all[i].fiber))
			by_length[trc_bits(trc_rows_length(r, all[i].start_ns, all[i].end_ns))]++;
	from = trc_rows_keep_from(by_length, r->limits.fiber_waits);
	TRC_CUT_EACH (i, r->cut, TRC_SELECTED_FIBER_WAITS, n) {
		const struct trc_fiber_wait *w = &all[i];

		if (!trc_rows_fiber(r, w->fiber) ||
		    trc_rows_length(r, w->start_ns, w->end_ns) < from) {
			trc_rows_leave_out(r, TRC_ROWS_FIBER_WAITS, i, n);
			r->without_fiber_waits++;
			continue;
		}
		trc_column_add(&c[ID], i + 1);
		r->fiber_wait_idx[i] = (uint32_t)c[ID].n;
		fiber_wait_row_add(r, c, w);
	}
	trc_rows_columns(r, c, N_WAIT_COLUMNS);
}

void trc_rows_fibers(struct trc_rows *r)
{
	const struct trc_fiber *f = trc_model_fibers(r->m, &r->n_fibers);
	size_t n_waits;

	if (!r->n_fibers)
		return;
	trc_model_fiber_waits(r->m, &n_waits);
	r->fiber_wait_idx = calloc(n_waits + 1, sizeof(*r->fiber_wait_idx));
	r->failed |= !r->fiber_wait_idx;
	choose_fibers(r, f);
	if (r->failed)
		return;
	write_fibers(r, f);
	write_runs(r);
	write_waits(r);
}
