/* deadlock.c - threads that wait for each other: said before everything else. */
#include <errno.h>
#include "parts.h"

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

static void print_wait(struct trc_report *r, const struct trc_deadlock *row)
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
	if (!held->stack)
		return;
	trc_line_begin(&line, r->width, r->colour);
	trc_line_to(&line, 12);
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

static void print_doubt(struct trc_report *r)
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

/* As many threads of a cycle are told; a large one is not told in full. */
enum { CYCLE_MAX = 32 };

/* Of a row and the one before it: a thread that waits for a lock, and holds the other. */
struct order {
	uint64_t count[CYCLE_MAX]; /* how often threads took the locks so; all 0 in larger cycles */
	uint64_t all;
};

static const struct trc_deadlock *before(const struct deadlock *d, size_t i)
{
	return &d->row[i ? i - 1 : d->n_cycle - 1];
}

/* The thread holds what the row before it waits for: not so where several hold that. */
static bool follows(const struct deadlock *d, size_t i)
{
	return before(d, i)->holder == d->row[i].thread;
}

static bool takes_another(const struct deadlock *d, size_t i)
{
	return follows(d, i) && before(d, i)->object != d->row[i].object;
}

/* With --locks=all: in one pass, for there may be many edges. */
static void count_orders(const struct trc_report *r, const struct deadlock *d, struct order *order)
{
	size_t n;
	const struct trc_lock_edge *edge = trc_model_lock_edges(r->m, &n);

	for (size_t k = 0; k < n && d->n_cycle <= CYCLE_MAX; k++)
		for (size_t i = 0; i < d->n_cycle; i++) {
			if (edge[k].taken != d->row[i].object ||
			    edge[k].held != before(d, i)->object || !takes_another(d, i))
				continue;
			order->count[i] += edge[k].count;
			order->all += edge[k].count;
		}
}

/* Whose order to change: the one that was seen least, or else that of the last to wait, which closed the cycle.
 * n_cycle = nobody's. */
static size_t find_odd(const struct deadlock *d, const struct order *order)
{
	size_t odd = d->n_cycle;

	for (size_t i = 0; i < d->n_cycle; i++) {
		uint64_t n = i < CYCLE_MAX ? order->count[i] : 0, least;

		if (!takes_another(d, i))
			continue;
		least = odd < CYCLE_MAX ? order->count[odd] : 0;
		if (odd == d->n_cycle || n < least ||
		    (n == least && d->row[i].since_ns > d->row[odd].since_ns))
			odd = i;
	}
	return odd;
}

static void add_lock(struct trc_report *r, struct trc_line *line, const struct trc_deadlock *row)
{
	trc_line_add(line, "%s", trc_reason_name(row->reason));
	trc_report_object(r, line, row->reason, row->object, 0);
}

static void print_helps(struct trc_report *r, const char *what)
{
	struct trc_line line;

	trc_line_begin(&line, r->width, r->colour);
	trc_line_add(&line, "  helps: %s", what);
	trc_report_line(r, &line);
}

static void print_order(struct trc_report *r, const struct deadlock *d)
{
	struct order order = {0};
	char number[TRC_NUMBER_BYTES];
	struct trc_line line;
	uint64_t n, n_others;
	size_t odd;

	count_orders(r, d, &order);
	odd = find_odd(d, &order);
	print_helps(r, "take locks in the same order everywhere");
	if (odd == d->n_cycle)
		return;
	n = odd < CYCLE_MAX ? order.count[odd] : 0;
	n_others = order.all - n;
	trc_line_begin(&line, r->width, r->colour);
	trc_line_add(&line, "    ");
	trc_report_thread(r, &line, d->row[odd].thread, 30);
	trc_line_add(&line, "%s would take ", n_others ? "" : ", the last to wait,");
	add_lock(r, &line, &d->row[odd]);
	trc_line_add(&line, " before ");
	add_lock(r, &line, before(d, odd));
	if (n_others && d->n_cycle == 2) {
		trc_line_add(&line, ", as threads did %s time%s", trc_text_count(number, n_others),
			     n_others == 1 ? "" : "s");
		trc_line_add(&line, "; the other way %s", trc_text_count(number, n));
	}
	trc_report_line(r, &line);
}

static bool holds_to_read(const struct trc_report *r, const struct trc_deadlock *row)
{
	size_t n;
	const struct trc_lock_held *held = trc_model_locks_held(r->m, &n);

	for (size_t i = 0; i < n; i++)
		if (held[i].thread == row->thread && held[i].object == row->object)
			return held[i].reason == TRC_REASON_RWLOCK_READ;
	return false;
}

/* A thread of the cycle may read, and wants to write: no order of locks helps. */
static bool one_upgrades(const struct trc_report *r, const struct deadlock *d)
{
	for (size_t i = 0; i < d->n_cycle && i < CYCLE_MAX; i++) {
		const struct trc_deadlock *row = &d->row[i];
		bool own = row->holder == row->thread ||
			   (follows(d, i) && before(d, i)->object == row->object);

		if (own && row->reason == TRC_REASON_RWLOCK_WRITE && holds_to_read(r, row))
			return true;
	}
	return false;
}

static void print_remedy(struct trc_report *r, const struct deadlock *d)
{
	size_t joins = 0;
	uint8_t reason = d->row->reason;

	for (size_t i = 0; i < d->n_cycle; i++)
		joins += d->row[i].reason == TRC_REASON_JOIN;
	if (joins && joins == d->n_cycle)
		print_helps(r, joins == 1 ? "let another thread wait for the end of this one"
					  : "let one of these threads end without waiting for "
					    "the end of another");
	else if (joins)
		print_helps(r, "wait for the end of a thread without a lock that it takes");
	else if (one_upgrades(r, d))
		print_helps(r, "release the read lock before asking for the write lock, or take "
			       "the write lock at once");
	else if (d->n_cycle > 1)
		print_order(r, d);
	else if (reason == TRC_REASON_MUTEX || reason == TRC_REASON_COND_MUTEX)
		print_helps(r, "release the lock before the thread takes it again, or make it "
			       "recursive");
	else
		print_helps(r, "release the lock before the thread takes it again");
}

static void print_deadlock(struct trc_report *r, const struct deadlock *d)
{
	struct trc_line line;

	putc('\n', r->out);
	trc_line_begin(&line, r->width, r->colour);
	trc_report_deadlock_headline(r, &line, d->row, d->n);
	trc_report_line(r, &line);
	for (size_t i = 0; i < d->n_cycle && i < CYCLE_MAX; i++) {
		print_wait(r, &d->row[i]);
		print_locks(r, d->row[i].thread);
	}
	if (d->n_cycle > CYCLE_MAX) {
		trc_line_begin(&line, r->width, r->colour);
		trc_line_add(&line, "  and %zu more in the cycle", d->n_cycle - CYCLE_MAX);
		trc_report_line(r, &line);
	}
	print_blocked(r, d);
	print_remedy(r, d);
	if (!d->certain)
		print_doubt(r);
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
