/*
 * charges.h - which unlock a wait for a lock is charged to.
 *
 * Cut a waiter's time into the pieces between the unlocks of its lock that happened meanwhile: each
 * piece was caused by the section that the unlock at its end closes.
 *
 *   charges:C1  a wait in which the lock was unlocked was ended by the last unlock in the wait.
 *       The time from this unlock to the wait's end is the waiter's wake-up, and is charged to
 *       nobody
 *   charges:C2  the time of an unlock is taken just before the release.  A thread that parks
 *       between the two has no unlock in its wait.  The wait is charged to the unlock before, if
 *       this unlock is the holder's and came at most TRC_CHARGE_BETWEEN_NS earlier
 *   charges:C3  a wait that gave up has a rest: the time after the last unlock in it.  The rest is
 *       charged to the next unlock after the wait in two cases: the section that this unlock ends
 *       had begun before the wait ended; or there was no unlock in the wait, and the next unlock is
 *       by the holder and does not say when its section began.  If that section began after the
 *       wait, the rest is charged to nobody: the holder had released the lock meanwhile, while
 *       nobody waited, and had taken it again
 *   charges:C4  the rest of a wait whose end was not seen is charged to nobody
 *   charges:C5  an unlock is charged, for each waiter, with the time since the latest of: the
 *       unlock before, the begin of the section, the begin of the wait.  Before the section began
 *       nobody held the lock: the waiters had been woken and had not run yet.  An unlock says when
 *       its section began if others waited then.  If the unlock does not say so, the section began
 *       before all pieces.  A section cannot have begun before the last one ended
 *   charges:C6  a wait to read a rwlock is cut at the unlocks of writers only: readers that are let in together wait for
 *       the writer, and the first of them to leave did not hold up the others, who run later
 *
 * Times are of any unit and order; 0 = not known.
 */
#ifndef TRC_FORMAT_WAITS_CHARGES_H
#define TRC_FORMAT_WAITS_CHARGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "format/schema.h"

enum { TRC_CHARGE_BETWEEN_NS = 10000000 };

struct trc_charge_unlock {
	uint64_t at;
	uint64_t taken; /* when the section began; 0: before all that waited for its end */
	uint32_t thread;
};

struct trc_charge_wait {
	uint64_t start, end;
	uint32_t holder; /* of the lock, when the wait began; 0 = not known */
};

/* C6: a wait for the lock is cut at the unlocks of this key. */
static inline uint64_t trc_charge_key(uint64_t lock, unsigned int reason)
{
	return reason == TRC_REASON_RWLOCK_READ ? lock ^ (uint64_t)1 << 62 : lock;
}

/* The keys of an unlock, one or two: the key of all waiters, and the key of waiters that only a
 * writer's unlock lets in. */
static inline unsigned int trc_charge_keys(uint64_t lock, unsigned int reason, uint64_t key[2])
{
	key[0] = lock;
	key[1] = trc_charge_key(lock, TRC_REASON_RWLOCK_READ);
	return reason == TRC_REASON_RWLOCK_WRITE ? 2 : 1;
}

enum trc_charge {
	TRC_CHARGE_NOBODY,
	TRC_CHARGE_WOKEN, /* C1: by the last unlock */
	TRC_CHARGE_LAST,  /* C2: to the last unlock, from the start on; it woke the waiter, too */
	TRC_CHARGE_NEXT	  /* C3: perhaps to the next unlock, as trc_charge_to_next() says */
};

/* `last`: the last unlock of the lock before the wait's end, NULL = none.  result: 0, an errno, or
 * -1 = no end was seen.  between: TRC_CHARGE_BETWEEN_NS in the unit of the times. */
static inline enum trc_charge trc_charge_end(const struct trc_charge_wait *wait, int result,
					     const struct trc_charge_unlock *last, uint64_t between)
{
	if (result < 0)
		return TRC_CHARGE_NOBODY;
	if (result > 0)
		return TRC_CHARGE_NEXT;
	if (!last)
		return TRC_CHARGE_NOBODY;
	if (last->at >= wait->start)
		return TRC_CHARGE_WOKEN;
	if (wait->holder && last->thread == wait->holder && wait->start - last->at <= between)
		return TRC_CHARGE_LAST;
	return TRC_CHARGE_NOBODY;
}

/* C5.  The time from which the present waiters are charged to `unlock`; 0 = from the begin of each
 * wait.  `last`: the unlock before, NULL = none. */
static inline uint64_t trc_charge_since(const struct trc_charge_unlock *last,
					const struct trc_charge_unlock *unlock)
{
	uint64_t since = last ? last->at : 0;

	return unlock->taken <= unlock->at && unlock->taken > since ? unlock->taken : since;
}

/* C3.  `next`: the first unlock after `last`.  True if the wait is charged to `next`, from *since to
 * its end. */
static inline bool trc_charge_to_next(const struct trc_charge_wait *wait,
				      const struct trc_charge_unlock *last,
				      const struct trc_charge_unlock *next, uint64_t *since)
{
	bool unlocked = last && last->at >= wait->start;

	*since = unlocked ? last->at : wait->start;
	if (next->taken > wait->end)
		return false;
	if (next->taken && (!last || next->taken > last->at)) {
		*since = next->taken > *since ? next->taken : *since;
		return true;
	}
	return !unlocked && wait->holder && wait->holder == next->thread;
}

#endif
