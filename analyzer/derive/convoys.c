/*
 * convoys.c - stretches in which a lock went from waiter to waiter; see convoys.h.
 *
 * The analyzer knows of each wait which unlock ended it, and of each unlock when its section began.  A section
 * that began within a wait of its thread was entered by this wait.
 */
#include "convoys.h"

#include <errno.h>
#include <stdlib.h>

enum { READERS_LOOKED_AT = 64 }; /* that an unlock lets in together, and that leave one by one */

static int list_next(struct trc_convoys *c, const uint32_t *lock, size_t n_locks)
{
	uint32_t *latest = malloc((n_locks + 1) * sizeof(*latest)); /* by lock: its latest unlock */

	if (!latest)
		return -ENOMEM;
	for (size_t i = 0; i < n_locks; i++)
		latest[i] = TRC_INDEX_NONE;
	for (size_t i = 0; i < c->n; i++) {
		if (latest[lock[i]] != TRC_INDEX_NONE)
			c->link[latest[lock[i]]].next = (uint32_t)i;
		latest[lock[i]] = (uint32_t)i;
	}
	free(latest);
	return 0;
}

/* The unlock of the section that this wait led into; TRC_INDEX_NONE = nobody waited for its end. */
static uint32_t led_into(const struct trc_convoys *c, const struct trc_unlock *unlock,
			 const struct trc_park *park)
{
	bool rwlock =
		park->reason == TRC_REASON_RWLOCK_READ || park->reason == TRC_REASON_RWLOCK_WRITE;
	uint32_t by = park->unlock - 1, at = c->link[by].next;

	for (int i = 0; i < (rwlock ? READERS_LOOKED_AT : 1) && at != TRC_INDEX_NONE; i++) {
		if (unlock[at].thread == park->thread && unlock[at].taken_ns >= park->start_ns &&
		    unlock[at].taken_ns >= unlock[by].ts_ns && unlock[at].taken_ns <= park->end_ns)
			return at;
		at = c->link[at].next;
	}
	return TRC_INDEX_NONE;
}

static void link_wait(struct trc_convoys *c, const struct trc_unlock *unlock,
		      const struct trc_park *park)
{
	struct trc_convoy_link *by;
	uint32_t into;

	if (!park->unlock || park->flags & TRC_PARK_NO_END || park->result)
		return;
	by = &c->link[park->unlock - 1];
	if (park->end_ns > by->handed_ns)
		by->handed_ns = park->end_ns;
	into = led_into(c, unlock, park);
	if (into != TRC_INDEX_NONE)
		c->link[into].entered_by = park->unlock;
}

int trc_convoys_open(struct trc_convoys *c, const struct trc_model *m, const uint32_t *lock,
		     size_t n_locks)
{
	size_t n_parks;
	const struct trc_park *park = trc_model_parks(m, &n_parks);
	const struct trc_unlock *unlock = trc_model_unlocks(m, &c->n);
	int err;

	c->link = malloc((c->n + 1) * sizeof(*c->link));
	if (!c->link)
		return -ENOMEM;
	for (size_t i = 0; i < c->n; i++)
		c->link[i] = (struct trc_convoy_link){TRC_NEVER, TRC_INDEX_NONE, 0};
	err = list_next(c, lock, n_locks);
	for (size_t i = 0; i < n_parks && !err; i++)
		link_wait(c, unlock, &park[i]);
	return err;
}

void trc_convoys_close(struct trc_convoys *c)
{
	free(c->link);
}

bool trc_convoy_unlock(const struct trc_convoys *c, struct trc_convoy *convoy, size_t row,
		       int64_t ts_ns, struct trc_convoy *ended)
{
	const struct trc_convoy_link *link = &c->link[row];
	bool goes_on = convoy->handovers && link->entered_by > convoy->first;

	*ended = *convoy;
	if (!goes_on)
		*convoy = (struct trc_convoy){.first = (uint32_t)row, .start_ns = ts_ns};
	if (link->handed_ns != TRC_NEVER) {
		convoy->handovers++;
		if (convoy->handovers == 1 || link->handed_ns > convoy->end_ns)
			convoy->end_ns = link->handed_ns;
	}
	return !goes_on && trc_convoy_is_one(ended);
}
