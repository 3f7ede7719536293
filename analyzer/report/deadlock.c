/* deadlock.c - threads that wait for each other: said before everything else. */
#include <errno.h>
#include "parts.h"

/* As many threads of a cycle are told; a large one is not told in full. */
enum { CYCLE_MAX = 32 };

struct deadlock {
	const struct trc_deadlock *row; /* those in the cycle, then those behind it */
	size_t n, n_cycle;
	bool certain, may_end;
};

/* The rows of the deadlock that begins at `first`. */
static struct deadlock deadlock_at(const struct trc_deadlock *rows, size_t n, size_t first)
{
	struct deadlock d = {.row = rows + first, .certain = true};

	for (size_t i = first; i < n && rows[i].deadlock == rows[first].deadlock; i++) {
		d.n++;
		if (!rows[i].in_cycle)
			continue;
		d.n_cycle++;
		d.certain = d.certain && rows[i].certain;
		d.may_end = d.may_end || rows[i].may_end;
	}
	return d;
}

/* "mutex lock_a", "the end of worker 1 (4711)" */
static void add_wanted(struct trc_report *r, struct trc_line *line, const struct trc_deadlock *row)
{
	if (row->reason == TRC_REASON_JOIN) {
		trc_line_add(line, "the end of ");
		trc_report_thread(r, line, row->holder, 30);
		return;
	}
	trc_line_add(line, "%s", trc_reason_name(row->reason));
	trc_report_object(r, line, row->reason, row->object, 0);
	if (row->holder == row->thread) {
		trc_line_add(line, ", which it holds itself");
		return;
	}
	trc_line_add(line, ", held by ");
	trc_report_thread(r, line, row->holder, 30);
}

static void print_deadlock_wait(struct trc_report *r, const struct trc_deadlock *row)
{
	char lasted[TRC_LASTED_BYTES];
	struct trc_line line;

	trc_line_begin(&line, r->width, r->colour);
	trc_line_add(&line, "  ");
	trc_report_thread(r, &line, row->thread, 30);
	trc_line_add(&line, " has waited %s for ", trc_report_until_end(r, lasted, row->since_ns));
	add_wanted(r, &line, row);
	trc_report_line(r, &line);
	trc_line_begin(&line, r->width, r->colour);
	trc_line_to(&line, 12);
	trc_report_whole_stack(r, &line, row->stack);
	trc_report_labels_line(
		r, trc_model_labels_at(r->m, row->thread, row->since_ns, TRC_PLACE_LAST));
}

static void print_held(struct trc_report *r, const struct trc_lock_held *held)
{
	char number[TRC_NUMBER_BYTES], lasted[TRC_LASTED_BYTES];
	struct trc_line line;

	trc_line_begin(&line, r->width, r->colour);
	trc_line_add(&line, "      holds %s", trc_reason_name(held->reason));
	trc_report_object(r, &line, held->reason, held->object, 0);
	if (held->waiters)
		trc_line_add(&line, ", for which %s thread%s wait%s",
			     trc_text_count(number, held->waiters), held->waiters == 1 ? "" : "s",
			     held->waiters == 1 ? "s" : "");
	if (held->since_ns != TRC_NEVER)
		trc_line_add(&line, ", for %s now",
			     trc_report_until_end(r, lasted, held->since_ns));
	trc_report_line(r, &line);
	trc_line_begin(&line, r->width, r->colour);
	trc_line_to(&line, 12);
	if (!held->stack) {
		trc_line_add(&line, "where it was taken was not recorded");
		trc_report_line(r, &line);
		return;
	}
	trc_line_add(&line, "taken at ");
	trc_report_whole_stack(r, &line, held->stack);
}

/* Those that others wait for, before those that are only known to be held. */
static void print_locks(struct trc_report *r, uint32_t thread)
{
	size_t n;
	const struct trc_lock_held *held = trc_model_locks_held(r->m, &n);

	for (int wanted = 1; wanted >= 0; wanted--)
		for (size_t i = 0; i < n; i++)
			if (held[i].thread == thread && !held[i].waiters == !wanted)
				print_held(r, &held[i]);
}

static void print_blocked(struct trc_report *r, const struct deadlock *d)
{
	char lasted[TRC_LASTED_BYTES];
	struct trc_line line;

	for (size_t i = d->n_cycle; i < d->n && i - d->n_cycle < r->top; i++) {
		trc_line_begin(&line, r->width, r->colour);
		trc_line_add(&line, "  blocked by it: ");
		trc_report_thread(r, &line, d->row[i].thread, 30);
		trc_line_add(&line,
			     ", for %s: ", trc_report_until_end(r, lasted, d->row[i].since_ns));
		add_wanted(r, &line, &d->row[i]);
		trc_report_line(r, &line);
	}
	if (d->n - d->n_cycle > r->top) {
		trc_line_begin(&line, r->width, r->colour);
		trc_line_add(&line, "  and %zu more blocked by it", d->n - d->n_cycle - r->top);
		trc_report_line(r, &line);
	}
}

static void print_deadlock_doubt(struct trc_report *r)
{
	struct trc_line line;

	trc_line_begin(&line, r->width, r->colour);
	trc_line_add(&line, trc_reader_info(r->reader)->complete
				    ? "  not certain: who held a lock may have let go of it since, "
				      "which the trace does not cover"
				    : "  not certain: the trace is cut off");
	trc_report_line(r, &line);
}

/* ---- what one would do ---- */

static void print_deadlock_remedy(struct trc_report *r, const struct deadlock *d)
{
	struct trc_line line, order;
	const char *remedy = trc_report_deadlock_remedy(r, &order, d->row, d->n_cycle);

	trc_line_begin(&line, r->width, r->colour);
	trc_line_add(&line, "  helps: %s", remedy);
	trc_report_line(r, &line);
	if (!*trc_line_text(&order))
		return;
	trc_line_begin(&line, r->width, r->colour);
	trc_line_add(&line, "    %s", trc_line_text(&order));
	trc_report_line(r, &line);
}

static void print_deadlock(struct trc_report *r, const struct deadlock *d)
{
	struct trc_line line;

	putc('\n', r->out);
	trc_line_begin(&line, r->width, r->colour);
	trc_report_deadlock_headline(r, &line, d->row, d->n);
	trc_report_line(r, &line);
	for (size_t i = 0; i < d->n_cycle && i < CYCLE_MAX; i++) {
		print_deadlock_wait(r, &d->row[i]);
		print_locks(r, d->row[i].thread);
	}
	if (d->n_cycle > CYCLE_MAX) {
		trc_line_begin(&line, r->width, r->colour);
		trc_line_add(&line, "  and %zu more in the cycle", d->n_cycle - CYCLE_MAX);
		trc_report_line(r, &line);
	}
	print_blocked(r, d);
	print_deadlock_remedy(r, d);
	if (!d->certain)
		print_deadlock_doubt(r);
}

int trc_report_deadlocks(struct trc_report *r)
{
	size_t n, told = 0;
	const struct trc_deadlock *row = trc_model_deadlocks(r->m, &n);

	for (size_t i = 0; i < n;) {
		struct deadlock d = deadlock_at(row, n, i);

		if (told++ < r->top)
			print_deadlock(r, &d);
		i += d.n;
	}
	if (told > r->top) {
		struct trc_line line;

		trc_line_begin(&line, r->width, r->colour);
		trc_line_add(&line, "and %zu more deadlock%s", told - r->top,
			     told - r->top == 1 ? "" : "s");
		trc_report_line(r, &line);
	}
	return 0;
}

void trc_report_deadlock_line(struct trc_report *r)
{
	size_t n;
	const struct trc_deadlock *row = trc_model_deadlocks(r->m, &n);
	struct deadlock d;
	struct trc_line line;

	if (!n)
		return;
	d = deadlock_at(row, n, 0);
	trc_line_begin(&line, r->width, r->colour);
	trc_report_deadlock_headline(r, &line, d.row, d.n);
	if (row[n - 1].deadlock > 1)
		trc_line_add(&line, ", and %u more", row[n - 1].deadlock - 1);
	trc_report_line(r, &line);
}
