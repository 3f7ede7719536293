/* prefers.c - see prefers.h. */
#include "prefers.h"

#include <errno.h>
#include <stdlib.h>
#include "lock_events.h"

/* Events of one moment can be in another order than they happened: so many of a hundred waits say nothing.  And that no
 * reader waited behind others says nothing if hardly any could. */
enum { PERCENT_BY_CHANCE = 1, WAITS_LEAST = 20 };

/* A lock while its events pass, and what they have told. */
struct lock {
	uint32_t n_writers_wait;
	uint32_t n_writers_left; /* while others waited */
	uint32_t n_left_to_both; /* of these: while writers waited */
	uint32_t n_readers_left;
	uint32_t n_readers_left_before;		      /* when the last writer left */
	uint32_t n_waited_for_one, n_waited_for_more; /* F1: readers */
	uint32_t n_waits, n_behind_readers;	      /* F2 */
};

/* A reader that waits: what the lock had seen when the wait began. */
struct reader {
	uint32_t n_writers_left, n_left_to_both, n_readers_left;
};

static void left(struct lock *lock, bool reader)
{
	if (reader) {
		lock->n_readers_left++;
		return;
	}
	lock->n_writers_left++;
	lock->n_left_to_both += lock->n_writers_wait > 0;
	lock->n_readers_left_before = lock->n_readers_left;
}

static void reader_got(struct lock *lock, const struct reader *reader)
{
	uint32_t n_writers = lock->n_writers_left - reader->n_writers_left;

	lock->n_waited_for_more += n_writers > 1;
	lock->n_waited_for_one += n_writers == 1 && lock->n_left_to_both != reader->n_left_to_both;
	if (n_writers > 1)
		return;
	lock->n_waits++;
	lock->n_behind_readers += (n_writers ? lock->n_readers_left_before
					     : lock->n_readers_left) != reader->n_readers_left;
}

static void reader_step(struct lock *lock, struct reader *reader,
			const struct trc_lock_event *event)
{
	switch ((enum trc_lock_event_kind)event->kind) {
	case TRC_LOCK_WANTED:
		lock->n_writers_wait += !event->reader;
		*reader = (struct reader){lock->n_writers_left, lock->n_left_to_both,
					  lock->n_readers_left};
		break;
	case TRC_LOCK_GOT:
		if (event->reader)
			reader_got(lock, reader);
		else
			lock->n_writers_wait--;
		break;
	case TRC_LOCK_UNLOCKED:
		left(lock, event->reader);
		break;
	case TRC_LOCK_ACQUIRED:
	case TRC_LOCK_RELEASED:
	case TRC_LOCK_COND:
		break;
	}
}

static enum trc_rwlock_prefers lock_prefers(const struct lock *lock)
{
	bool by_chance = (uint64_t)lock->n_behind_readers * 100 <=
			 (uint64_t)lock->n_waits * PERCENT_BY_CHANCE;

	if (lock->n_waited_for_one > lock->n_waited_for_more)
		return TRC_RWLOCK_READERS;
	if (!by_chance)
		return TRC_RWLOCK_WRITERS;
	if (!lock->n_waited_for_more)
		return TRC_RWLOCK_READERS;
	return lock->n_waits < WAITS_LEAST ? TRC_RWLOCK_WRITERS : TRC_RWLOCK_WAITING_WRITERS;
}

int trc_prefers_make(uint8_t **out, const struct trc_array *events, size_t n_locks,
		     const struct trc_outer_waits *waits)
{
	const struct trc_lock_event *event = events->row;
	struct lock *lock = calloc(n_locks + 1, sizeof(*lock));
	struct reader *reader = calloc(waits->n_threads + 1, sizeof(*reader));
	uint8_t *rows = calloc(n_locks + 1, sizeof(*rows));
	int err = lock && reader && rows ? 0 : -ENOMEM;

	for (size_t i = 0; !err && i < events->n; i++) {
		size_t thread = trc_outer_waits_row(waits, event[i].thread);

		if (thread != SIZE_MAX)
			reader_step(&lock[event[i].lock], &reader[thread], &event[i]);
	}
	for (size_t i = 0; !err && i < n_locks; i++)
		rows[i] = (uint8_t)lock_prefers(&lock[i]);
	*out = rows;
	free(lock);
	free(reader);
	return err;
}
