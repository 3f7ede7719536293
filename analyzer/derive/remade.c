/* remade.c - see remade.h. */
#include "remade.h"

#include <errno.h>

enum { PAGE_SHIFT = 12, STEPS_MAX = 1 << 28 };

struct lock {
	uint64_t object;
	uint32_t life;
	uint32_t next; /* on the same page, TRC_INDEX_NONE = none */
};

void trc_remade_begin(struct trc_remade *r)
{
	*r = (struct trc_remade){.locks = {.row_bytes = sizeof(struct lock)}};
}

void trc_remade_free(struct trc_remade *r)
{
	trc_index_free(&r->row);
	trc_index_free(&r->page);
	trc_array_free(&r->locks);
}

int trc_remade_life(struct trc_remade *r, uint64_t object, uint32_t *life)
{
	uint32_t row = trc_index_get(&r->row, object);
	struct lock *lock = (struct lock *)r->locks.row + row;

	if (row == TRC_INDEX_NONE) {
		row = (uint32_t)r->locks.n;
		lock = trc_array_add(&r->locks);
		if (!lock)
			return -ENOMEM;
		*lock = (struct lock){object, 0, trc_index_get(&r->page, object >> PAGE_SHIFT)};
		if (trc_index_put(&r->row, object, row) ||
		    trc_index_put(&r->page, object >> PAGE_SHIFT, row))
			return -ENOMEM;
	}
	*life = lock->life;
	return 0;
}

static void look_at(struct lock *lock, uint64_t address, uint64_t n_bytes)
{
	lock->life += lock->object - address < n_bytes;
}

void trc_remade_memory(struct trc_remade *r, uint64_t address, uint64_t n_bytes)
{
	struct lock *lock = r->locks.row;
	uint64_t first = address >> PAGE_SHIFT, last;

	if (!n_bytes || !r->locks.n)
		return;
	last = n_bytes - 1 > UINT64_MAX - address ? UINT64_MAX >> PAGE_SHIFT
						  : (address + n_bytes - 1) >> PAGE_SHIFT;
	if (r->steps > STEPS_MAX)
		return;
	r->steps += last - first < r->locks.n ? last - first + 1 : r->locks.n;
	if (last - first >= r->locks.n) {
		for (size_t i = 0; i < r->locks.n; i++)
			look_at(&lock[i], address, n_bytes);
		return;
	}
	for (uint64_t page = first; page <= last; page++)
		for (uint32_t i = trc_index_get(&r->page, page); i != TRC_INDEX_NONE;
		     i = lock[i].next)
			look_at(&lock[i], address, n_bytes);
}
