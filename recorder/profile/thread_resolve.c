/* thread_resolve.c - serials of threads become tids; see thread_profile.h */
#include <errno.h>
#include <stdlib.h>
#include "recorder/shared/layout.h"
#include "thread_profile.h"

/* Who has which serial. */
struct named {
	uint32_t serial, tid;
};

static int by_serial(const void *a, const void *b)
{
	const struct named *x = a, *y = b;

	return (x->serial > y->serial) - (x->serial < y->serial);
}

static uint32_t tid_of(const struct named *named, uint32_t n, uint32_t serial)
{
	const struct named key = {.serial = serial};
	const struct named *found = bsearch(&key, named, n, sizeof(key), by_serial);

	return serial && found ? found->tid : 0;
}

int trc_thread_profile_resolve(struct trc_thread_profile *p, const uint32_t *creator,
			       const uint64_t *holder)
{
	struct named *named = calloc(p->n_rows + 1, sizeof(*named));

	if (!named)
		return -ENOMEM;
	for (uint32_t i = 0; i < p->n_rows; i++)
		named[i] = (struct named){p->row[i].serial, p->row[i].tid};
	qsort(named, p->n_rows, sizeof(*named), by_serial);
	for (uint32_t i = 0; i < p->n_rows; i++) {
		p->row[i].creator_tid = tid_of(named, p->n_rows, creator[i]);
		p->row[i].holder_tid = holder[i] & TRC_THREAD_IS_TID
					       ? (uint32_t)holder[i]
					       : tid_of(named, p->n_rows, (uint32_t)holder[i]);
	}
	free(named);
	return 0;
}
