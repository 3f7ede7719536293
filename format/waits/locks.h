/*
 * locks.h - a lock while threads wait for it: what each unlock is charged with.
 *
 * The rules are those of charges.h.  The owner has the memory, and hands over the events of one
 * lock in the order of time: at equal times waits begin, then the lock is released, then waits end.
 * Waits and unlocks that come late count as if they had happened after the last unlock.
 *
 * An unlock looks only at the waiters that began to wait since the unlock before: for all other
 * waiters the charged time is the same.
 */
#ifndef TRC_FORMAT_WAITS_LOCKS_H
#define TRC_FORMAT_WAITS_LOCKS_H

#include "charges.h"

/* A wait for a lock, in memory of the owner's. */
struct trc_lock_waiter {
	struct trc_lock_waiter *newer, *older; /* gave up: older is the next */
	struct trc_charge_wait wait;	       /* start, holder; end: when it ends */
};

/* All zero: nothing has happened to the lock yet. */
struct trc_waited_lock {
	struct trc_lock_waiter *newest;	 /* of those that wait, by their start */
	struct trc_lock_waiter *gave_up; /* until the next unlock */
	uint64_t n_waiting;
	struct trc_charge_unlock last; /* unlock */
	bool unlocked;		       /* there was one */
};

void trc_lock_wait_begins(struct trc_waited_lock *lock, struct trc_lock_waiter *waiter);
/* The waiter is the owner's again, except after TRC_CHARGE_NEXT: then the lock keeps the waiter
 * until the next unlock. result and between: as in trc_charge_end(). */
enum trc_charge trc_lock_wait_ends(struct trc_waited_lock *lock, struct trc_lock_waiter *waiter,
				   int result, uint64_t between);

/*
 * An unlock, in three steps.  First: returns the number of waiters; *sum is their waiting time in
 * all since `from` that no unlock was charged with (charges:C5).
 */
uint64_t trc_lock_waited(const struct trc_waited_lock *lock, const struct trc_charge_unlock *unlock,
			 uint64_t from, unsigned __int128 *sum);
/* Second, called until NULL: a waiter that gave up since the unlock before; the waiter is the
 * owner's again.  *charged: this unlock is charged with the wait, from *since to the wait's end. */
struct trc_lock_waiter *trc_lock_take_gave_up(struct trc_waited_lock *lock,
					      const struct trc_charge_unlock *unlock, bool *charged,
					      uint64_t *since);
/* Third: this unlock becomes the lock's last unlock. */
void trc_lock_unlocks(struct trc_waited_lock *lock, const struct trc_charge_unlock *unlock);

#endif
