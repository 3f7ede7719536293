/* locks.c - see locks.h. */
#include "locks.h"

static const struct trc_charge_unlock *last_of(const struct trc_waited_lock *lock)
{
	return lock->unlocked ? &lock->last : NULL;
}

void trc_lock_wait_begins(struct trc_waited_lock *lock, struct trc_lock_waiter *waiter)
{
	struct trc_lock_waiter *newer = NULL, *older = lock->newest;

	/* It is told late: what was before has been charged. */
	if (lock->unlocked && waiter->wait.start < lock->last.at)
		waiter->wait.start = lock->last.at;
	for (; older && older->wait.start > waiter->wait.start; older = older->older)
		newer = older;
	waiter->newer = newer;
	waiter->older = older;
	if (older)
		older->newer = waiter;
	if (newer)
		newer->older = waiter;
	else
		lock->newest = waiter;
	lock->n_waiting++;
}

static void take_out(struct trc_waited_lock *lock, struct trc_lock_waiter *waiter)
{
	if (waiter->newer)
		waiter->newer->older = waiter->older;
	else
		lock->newest = waiter->older;
	if (waiter->older)
		waiter->older->newer = waiter->newer;
	lock->n_waiting--;
}

enum trc_charge trc_lock_wait_ends(struct trc_waited_lock *lock, struct trc_lock_waiter *waiter,
				   int result, uint64_t between)
{
	enum trc_charge charge = trc_charge_end(&waiter->wait, result, last_of(lock), between);

	take_out(lock, waiter);
	if (charge == TRC_CHARGE_NEXT) {
		waiter->older = lock->gave_up;
		lock->gave_up = waiter;
	}
	return charge;
}

uint64_t trc_lock_waited(const struct trc_waited_lock *lock, const struct trc_charge_unlock *unlock,
			 uint64_t from, unsigned __int128 *sum)
{
	uint64_t since = trc_charge_since(last_of(lock), unlock), n = lock->n_waiting, rest = n;

	since = from > since ? from : since;
	*sum = 0;
	for (const struct trc_lock_waiter *w = lock->newest; w && w->wait.start > since;
	     w = w->older) {
		rest--;
		if (w->wait.start > unlock->at)
			n--;
		else
			*sum += unlock->at - w->wait.start;
	}
	if (unlock->at > since)
		*sum += (unsigned __int128)rest * (unlock->at - since);
	return n;
}

struct trc_lock_waiter *trc_lock_take_gave_up(struct trc_waited_lock *lock,
					      const struct trc_charge_unlock *unlock, bool *charged,
					      uint64_t *since)
{
	struct trc_lock_waiter *waiter = lock->gave_up;

	if (!waiter)
		return NULL;
	lock->gave_up = waiter->older;
	*charged = trc_charge_to_next(&waiter->wait, last_of(lock), unlock, since);
	return waiter;
}

void trc_lock_unlocks(struct trc_waited_lock *lock, const struct trc_charge_unlock *unlock)
{
	lock->last = *unlock;
	lock->unlocked = true;
}
