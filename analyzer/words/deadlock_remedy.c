/* deadlock_remedy.c - what helps against a deadlock, in words. */
#include "words.h"

/* Of a larger cycle not all is looked at. */
enum { CYCLE_MAX = 32 };

/* Threads that wait for each other, each for the next. */
struct cycle {
	const struct trc_deadlock *row;
	size_t n;
};

/* Of a row and the one before it: a thread that waits for a lock, and holds the other. */
struct order {
	uint64_t count[CYCLE_MAX]; /* how often threads took the locks so; all 0 in larger cycles */
	uint64_t all;
};

static const struct trc_deadlock *before(const struct cycle *c, size_t i)
{
	return &c->row[i ? i - 1 : c->n - 1];
}

/* The thread holds what the row before it waits for: not so where several hold that. */
static bool follows(const struct cycle *c, size_t i)
{
	return before(c, i)->holder == c->row[i].thread;
}

static bool takes_another(const struct cycle *c, size_t i)
{
	return follows(c, i) && before(c, i)->object != c->row[i].object;
}

/* With --locks=all: in one pass, for there may be many edges. */
static void count_orders(const struct trc_report *r, const struct cycle *c, struct order *order)
{
	size_t n;
	const struct trc_lock_edge *edge = trc_model_lock_edges(r->m, &n);

	for (size_t k = 0; k < n && c->n <= CYCLE_MAX; k++)
		for (size_t i = 0; i < c->n; i++) {
			if (edge[k].taken != c->row[i].object ||
			    edge[k].held != before(c, i)->object || !takes_another(c, i))
				continue;
			order->count[i] += edge[k].count;
			order->all += edge[k].count;
		}
}

/* Whose order to change: the one that was seen least, or else that of the last to wait, which closed the cycle.
 * c->n = nobody's. */
static size_t find_odd(const struct cycle *c, const struct order *order)
{
	size_t odd = c->n;

	for (size_t i = 0; i < c->n; i++) {
		uint64_t n = i < CYCLE_MAX ? order->count[i] : 0, least;

		if (!takes_another(c, i))
			continue;
		least = odd < CYCLE_MAX ? order->count[odd] : 0;
		if (odd == c->n || n < least ||
		    (n == least && c->row[i].since_ns > c->row[odd].since_ns))
			odd = i;
	}
	return odd;
}

static void remedy_add_lock(struct trc_report *r, struct trc_line *line,
			    const struct trc_deadlock *row)
{
	trc_line_add(line, "%s", trc_reason_name(row->reason));
	trc_report_object(r, line, row->reason, row->object, 0);
}

/* "worker 1 (12), the last to wait, would take mutex a before mutex b" */
static void add_order(struct trc_report *r, struct trc_line *line, const struct cycle *c)
{
	struct order order = {0};
	char number[TRC_NUMBER_BYTES];
	uint64_t n, n_others;
	size_t odd;

	count_orders(r, c, &order);
	odd = find_odd(c, &order);
	if (odd == c->n)
		return;
	n = odd < CYCLE_MAX ? order.count[odd] : 0;
	n_others = order.all - n;
	trc_report_thread(r, line, c->row[odd].thread, 30);
	trc_line_add(line, "%s would take ", n_others ? "" : ", the last to wait,");
	remedy_add_lock(r, line, &c->row[odd]);
	trc_line_add(line, " before ");
	remedy_add_lock(r, line, before(c, odd));
	if (n_others && c->n == 2) {
		trc_line_add(line, ", as threads did %s time%s", trc_text_count(number, n_others),
			     n_others == 1 ? "" : "s");
		trc_line_add(line, "; the other way %s", trc_text_count(number, n));
	}
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
static bool one_upgrades(const struct trc_report *r, const struct cycle *c)
{
	for (size_t i = 0; i < c->n && i < CYCLE_MAX; i++) {
		const struct trc_deadlock *row = &c->row[i];
		bool own = row->holder == row->thread ||
			   (follows(c, i) && before(c, i)->object == row->object);

		if (own && row->reason == TRC_REASON_RWLOCK_WRITE && holds_to_read(r, row))
			return true;
	}
	return false;
}

const char *trc_report_deadlock_remedy(struct trc_report *r, struct trc_line *order,
				       const struct trc_deadlock *row, size_t n_cycle)
{
	const struct cycle c = {row, n_cycle};
	size_t joins = 0;

	trc_line_begin(order, TRC_WIDTH_MAX, false);
	for (size_t i = 0; i < n_cycle; i++)
		joins += row[i].reason == TRC_REASON_JOIN;
	if (joins && joins == n_cycle)
		return joins == 1 ? "let another thread wait for the end of this one"
				  : "let one of these threads end without waiting for the end of "
				    "another";
	if (joins)
		return "wait for the end of a thread without a lock that it takes";
	if (one_upgrades(r, &c))
		return "release the read lock before asking for the write lock, or take the write "
		       "lock at once";
	if (n_cycle > 1) {
		add_order(r, order, &c);
		return "take locks in the same order everywhere";
	}
	if (row->reason == TRC_REASON_MUTEX || row->reason == TRC_REASON_COND_MUTEX)
		return "release the lock before the thread takes it again, or make it recursive";
	return "release the lock before the thread takes it again";
}
