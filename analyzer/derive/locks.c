/* locks.c - see locks.h. */
#include <errno.h>
#include "locks.h"

void trc_lock_uses_init(struct trc_lock_uses *u)
{
	*u = (struct trc_lock_uses){.uses = {.row_bytes = sizeof(struct trc_lock_use)}};
}

void trc_lock_uses_free(struct trc_lock_uses *u)
{
	trc_array_free(&u->uses);
	trc_index_free(&u->row);
}

/* The row, or NULL and in *key where to enter one. */
static struct trc_lock_use *lock_use_find(const struct trc_lock_uses *u, uint64_t object,
					  uint32_t thread, uint64_t *key)
{
	uint32_t row;

	*key = trc_index_key(object, thread);
	while ((row = trc_index_get(&u->row, *key)) != TRC_INDEX_NONE) {
		struct trc_lock_use *use = (struct trc_lock_use *)u->uses.row + row;

		if (use->object == object && use->thread == thread)
			return use;
		++*key;
	}
	return NULL;
}

const struct trc_lock_use *trc_lock_uses_find(const struct trc_lock_uses *u, uint64_t object,
					      uint32_t thread)
{
	uint64_t key;

	return lock_use_find(u, object, thread, &key);
}

static struct trc_lock_use *find_or_add(struct trc_lock_uses *u, uint64_t object, uint32_t thread)
{
	uint64_t key;
	struct trc_lock_use *use = lock_use_find(u, object, thread, &key);

	if (use)
		return use;
	use = trc_array_add(&u->uses);
	if (!use || trc_index_put(&u->row, key, (uint32_t)(u->uses.n - 1)))
		return NULL;
	use->object = object;
	use->thread = thread;
	use->acquired_ns = use->released_ns = TRC_NEVER;
	return use;
}

static void lock_use_acquired(struct trc_lock_use *use, const struct trc_columns *c, uint32_t row)
{
	use->reason = (uint8_t)TRC_ROW_ARG(c, row, acquire, reason);
	if (use->n_held++)
		return;
	use->stack = (uint32_t)TRC_ROW_ARG(c, row, acquire, stack);
	use->acquired_ns = c->time_ns[row];
}

int trc_lock_uses_event(struct trc_lock_uses *u, const struct trc_columns *c, uint32_t row)
{
	/* The object is the second argument of an unlock, too. */
	struct trc_lock_use *use =
		find_or_add(u, TRC_ROW_ARG(c, row, acquire, object), c->thread[row]);

	if (!use)
		return -ENOMEM;
	switch (c->kind[row]) {
	case TRC_KIND_ACQUIRE:
		lock_use_acquired(use, c, row);
		break;
	case TRC_KIND_RELEASE:
		if (use->n_held)
			use->n_held--;
		if (!use->n_held)
			use->released_ns = c->time_ns[row];
		break;
	case TRC_KIND_UNLOCK:
		use->released_ns = c->time_ns[row];
		break;
	}
	return 0;
}
