/*
 * wakers.c - whether waits for mutexes have wakers where every acquire was recorded.
 *
 * The holder of a mutex gives it back before a waiter gets it, and trc records this unlock, since somebody waits.  So if a
 * thread of the trace held the mutex when the wait began, the unlock is in the trace, or was lost.  Single unlocks may be
 * missing: code that is not interposed may give a mutex back.  If most are missing, no chain of causes leads anywhere.
 */
#include <errno.h>
#include <inttypes.h>
#include "parts.h"

enum { WAITS_LEAST = 10 };

static bool has_acquires(const struct trc_reader *r)
{
	for (size_t i = 0; i < trc_reader_blocks(r); i++)
		if (trc_reader_block(r, i)->kind_count[TRC_KIND_ACQUIRE])
			return true;
	return false;
}

/* It ended, whoever held the mutex could have ended it, and began where nothing is missing. */
static bool is_judged(const struct trc_model *m, const struct trc_park *park)
{
	return (park->reason == TRC_REASON_MUTEX || park->reason == TRC_REASON_COND_MUTEX) &&
	       park->end_ns != TRC_NEVER && park->holder && park->holder != park->thread &&
	       !(park->flags & (TRC_PARK_ABANDONED | TRC_PARK_CUT)) && park->result <= 0 &&
	       (trc_model_window_ns(m) == TRC_NEVER || park->start_ns >= trc_model_window_ns(m));
}

int trc_check_wakers(struct trc_check *check)
{
	const struct trc_park *first = NULL, *park;
	uint64_t n = 0, n_without = 0;
	struct trc_error error;
	size_t n_parks;
	int err;

	if (!has_acquires(trc_model_reader(check->m)))
		return 0;
	err = trc_model_need(check->m, TRC_PART_WAITS, &error);
	if (err)
		return err == -ENOMEM ? err : 0; /* damaged blocks have been reported */
	park = trc_model_parks(check->m, &n_parks);
	for (size_t i = 0; i < n_parks; i++, park++) {
		if (!is_judged(check->m, park))
			continue;
		n++;
		if (park->waker)
			continue;
		n_without++;
		first = first ? first : park;
	}
	if (n >= WAITS_LEAST && n_without > n / 2)
		trc_check_violation(
			check, first->start_ns, trc_model_end_ns(check->m),
			"%" PRIu64 " of %" PRIu64
			" waits for mutexes that threads of the trace held have no waker, though every "
			"acquire was recorded: the first at %" PRId64 " ns, of thread %u",
			n_without, n, first->start_ns, first->thread);
	return 0;
}
