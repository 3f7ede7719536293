/*
 * fibers.c - when fibers ran, by the events of their threads: a fiber runs on one thread at a time, and not
 * after its end; no other event names it after its end either.
 *
 * The program's scheduler has a fiber left before another thread runs it.  But the two times come from two procs:
 * runs that overlap by no more than CLOCK_SKEW_NS may have been in order.
 * A run without its beginning in the trace comes from the file's table, which is filled thread after thread,
 * or was cut by a gap: such a run is never counted as a second one.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include "parts.h"

enum { CLOCK_SKEW_NS = 10000 };

static int64_t checked_run_end_ns(const struct trc_check *check, const struct trc_fiber_run *run)
{
	return run->end_ns == TRC_NEVER ? trc_model_end_ns(check->m) : run->end_ns;
}

static void check_end(struct trc_check *check, const struct trc_fiber *fiber,
		      const struct trc_fiber_run *run)
{
	if (fiber->ended_ns != TRC_NEVER && run->start_ns - CLOCK_SKEW_NS > fiber->ended_ns)
		trc_check_violation(check, fiber->ended_ns, run->start_ns,
				    "fiber %" PRIu64 ": thread %u runs it from %" PRId64
				    " ns on, after its end at %" PRId64 " ns",
				    fiber->fiber, run->thread, run->start_ns, fiber->ended_ns);
}

/* Of one that began before.  If it lasts, that the thread left it may be what is missing. */
static void check_beyond(struct trc_check *check, const struct trc_fiber *fiber,
			 const struct trc_fiber_run *run)
{
	static const char format[] = "fiber %" PRIu64 ": thread %u runs it until %" PRId64
				     " ns, after its end at %" PRId64 " ns";
	int64_t run_until_ns = checked_run_end_ns(check, run);

	if (fiber->ended_ns == TRC_NEVER || run->start_ns - CLOCK_SKEW_NS > fiber->ended_ns ||
	    run_until_ns - CLOCK_SKEW_NS <= fiber->ended_ns)
		return;
	if (run->flags & TRC_FIBER_RUN_OPEN)
		trc_check_missing(check, fiber->ended_ns, run_until_ns, format, fiber->fiber,
				  run->thread, run_until_ns, fiber->ended_ns);
	else
		trc_check_violation(check, fiber->ended_ns, run_until_ns, format, fiber->fiber,
				    run->thread, run_until_ns, fiber->ended_ns);
}

/* That the other thread left it may be what is missing. */
static void check_other(struct trc_check *check, const struct trc_fiber *fiber,
			const struct trc_fiber_run *other, const struct trc_fiber_run *run)
{
	int64_t other_until_ns = checked_run_end_ns(check, other);

	if (other->thread != run->thread && other_until_ns - CLOCK_SKEW_NS > run->start_ns)
		trc_check_missing(check, run->start_ns, other_until_ns,
				  "fiber %" PRIu64 ": thread %u runs it from %" PRId64
				  " ns on, but thread %u runs it until %" PRId64 " ns",
				  fiber->fiber, run->thread, run->start_ns, other->thread,
				  other_until_ns);
}

uint32_t trc_check_fiber_id(const struct trc_check *check, uint64_t number)
{
	size_t low = 0, n, high;
	const struct trc_fiber *fiber = trc_model_fibers(check->m, &n);

	for (high = n; low < high;) {
		size_t middle = low + (high - low) / 2;

		if ((int64_t)fiber[middle].fiber < (int64_t)number)
			low = middle + 1;
		else
			high = middle;
	}
	return low < n && fiber[low].fiber == number ? (uint32_t)low + 1 : 0;
}

void trc_check_fiber_named(struct trc_check *check, const char *kind, uint64_t number,
			   uint32_t thread, int64_t now_ns)
{
	uint32_t id = trc_check_fiber_id(check, number);
	size_t n;
	const struct trc_fiber *fiber = trc_model_fibers(check->m, &n) + (id ? id - 1 : 0);

	if (id && fiber->ended_ns != TRC_NEVER && now_ns - CLOCK_SKEW_NS > fiber->ended_ns)
		trc_check_violation(check, fiber->ended_ns, now_ns,
				    "fiber %" PRIu64 ": thread %u has a %s of it at %" PRId64
				    " ns, after its end at %" PRId64 " ns",
				    number, thread, kind, now_ns, fiber->ended_ns);
}

int trc_check_fibers(struct trc_check *check)
{
	const struct trc_fiber_run *run, **latest; /* by fiber: of those so far the last to end */
	const struct trc_fiber *fiber;
	struct trc_error error;
	size_t n, n_runs;
	int err;

	if (!trc_model_has_fibers(check->m))
		return 0;
	err = trc_model_need(check->m, TRC_PART_FIBERS, &error);
	if (err)
		return err == -ENOMEM ? err : 0; /* damaged blocks have been reported */
	fiber = trc_model_fibers(check->m, &n);
	run = trc_model_fiber_runs(check->m, &n_runs);
	latest = calloc(n + 1, sizeof(*latest));
	if (!latest)
		return -ENOMEM;
	for (size_t i = 0; i < n_runs; i++, run++) {
		const struct trc_fiber_run **other = &latest[run->fiber - 1];

		if (!(run->flags & TRC_FIBER_RUN_CUT)) {
			check_end(check, &fiber[run->fiber - 1], run);
			if (*other)
				check_other(check, &fiber[run->fiber - 1], *other, run);
		}
		if (!(run->flags & TRC_FIBER_RUN_CUT && run->flags & TRC_FIBER_RUN_OPEN))
			check_beyond(check, &fiber[run->fiber - 1], run);
		if (!*other || checked_run_end_ns(check, run) > checked_run_end_ns(check, *other))
			*other = run;
	}
	free(latest);
	return 0;
}
