/*
 * locks.c - what is told of a lock below the line of its waits: percentiles, how long it was held, and
 * convoys.
 *
 *   report_locks:L1  percentiles of less than FEW values say nothing
 */
#include "parts.h"
#include "analyzer/model/lock_sums.h"

enum { FEW = 10 };

static void lock_line_begin(struct trc_report *r, struct trc_line *line)
{
	trc_line_begin(line, r->width, r->colour);
	trc_line_to(line, 12);
}

/* "p50 12 µs, p99 1.2 ms" */
static void add_percentiles(struct trc_line *line, const struct trc_spread *spread)
{
	char p50[TRC_NUMBER_BYTES], p99[TRC_NUMBER_BYTES];

	trc_line_add(line, "p50 %s, p99 %s", trc_text_duration(p50, spread->p50_ns),
		     trc_text_duration(p99, spread->p99_ns));
}

static void add_holds(struct trc_line *line, const struct trc_lock_sum *sum)
{
	char times[TRC_NUMBER_BYTES], total[TRC_NUMBER_BYTES], longest[TRC_NUMBER_BYTES];

	trc_line_add(line, "%s %s time%s for %s",
		     sum->holds_from == TRC_HOLDS_CONTENDED ? "known to be held" : "held",
		     trc_text_count(times, sum->holds.n), sum->holds.n == 1 ? "" : "s",
		     trc_text_duration(total, sum->holds.total_ns));
	if (sum->holds.n < FEW) /* L1 */
		return;
	trc_line_add(line, ", ");
	add_percentiles(line, &sum->holds);
	trc_line_add(line, ", longest %s", trc_text_duration(longest, sum->holds.max_ns));
}

static void print_spreads(struct trc_report *r, const struct trc_lock_sum *sum)
{
	bool percentiles = sum->waits.n >= FEW;
	struct trc_line line;

	if (!percentiles && !sum->holds.n)
		return;
	lock_line_begin(r, &line);
	if (percentiles) {
		trc_line_add(&line, "waits ");
		add_percentiles(&line, &sum->waits);
	}
	if (sum->holds.n) {
		trc_line_add(&line, percentiles ? "; " : "");
		add_holds(&line, sum);
	}
	trc_report_line(r, &line);
}

static void print_convoys(struct trc_report *r, const struct trc_lock_sum *sum)
{
	char convoys[TRC_NUMBER_BYTES], longest[TRC_NUMBER_BYTES], handovers[TRC_NUMBER_BYTES];
	struct trc_line line;

	if (!sum->convoys)
		return;
	lock_line_begin(r, &line);
	trc_line_add(&line,
		     "handed from waiter to waiter %s time%s, the longest %s with %s hand-overs",
		     trc_text_count(convoys, sum->convoys), sum->convoys == 1 ? "" : "s",
		     trc_text_duration(longest, sum->convoy_ns),
		     trc_text_count(handovers, sum->convoy_handovers));
	trc_report_line(r, &line);
}

/* The lock was not held then: what is waited for is a proc, or the kernel's waking. */
static void print_woken(struct trc_report *r, const struct trc_lock_sum *sum)
{
	enum { TOLD_PART = 5 };
	char woken[TRC_NUMBER_BYTES], share[TRC_NUMBER_BYTES];
	struct trc_line line;

	if (sum->woken_ns <= 0 || sum->woken_ns < sum->waits.total_ns / TOLD_PART)
		return;
	lock_line_begin(r, &line);
	trc_line_add(&line,
		     "%s of it, %s, nobody held it: who had been woken for it did not run yet",
		     trc_text_duration(woken, sum->woken_ns),
		     trc_text_share(share, sum->woken_ns, sum->waits.total_ns));
	trc_report_line(r, &line);
}

/* Of less than a hundredth of the waiting nobody needs to know. */
static void print_preempted(struct trc_report *r, const struct trc_lock_sum *sum)
{
	char of[TRC_NUMBER_BYTES], holders[TRC_NUMBER_BYTES];
	struct trc_line line;

	if (sum->preempted_waits_ns <= 0 || sum->preempted_waits_ns < sum->waits.total_ns / 100)
		return;
	lock_line_begin(r, &line);
	trc_line_add(&line, "%s of it while its holders had no proc, %s in all",
		     trc_text_duration(of, sum->preempted_waits_ns),
		     trc_text_duration(holders, sum->preempted_ns));
	trc_report_line(r, &line);
}

void trc_report_lock_lines(struct trc_report *r, const struct trc_lock_sums *locks,
			   const struct trc_group_details *d)
{
	const struct trc_lock_sum *sum;

	if (d->n_objects > 1)
		return;
	sum = trc_lock_sum_find(locks, d->group->reason, d->object);
	if (!sum)
		return;
	print_spreads(r, sum);
	print_woken(r, sum);
	print_preempted(r, sum);
	print_convoys(r, sum);
}
