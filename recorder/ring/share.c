/* share.c - see share.h */
#include <stdatomic.h>
#include <sys/resource.h>
#include "share.h"

enum { RING_OF = 32, TABLES_OF = 16 };

static uint64_t limit_bytes; /* 0 = none */
static _Atomic uint64_t taken_bytes;

static uint64_t limit_of(__rlimit_resource_t resource)
{
	struct rlimit limit;

	return getrlimit(resource, &limit) || limit.rlim_cur == RLIM_INFINITY ? UINT64_MAX
									      : limit.rlim_cur;
}

void trc_share_setup(void)
{
	uint64_t space = limit_of(RLIMIT_AS), data = limit_of(RLIMIT_DATA);
	uint64_t smaller = space < data ? space : data;

	limit_bytes = smaller == UINT64_MAX ? 0 : smaller ? smaller : 1;
}

uint64_t trc_share_of_ring(void)
{
	return limit_bytes ? limit_bytes / RING_OF + 1 : 0;
}

uint64_t trc_share_of_trace(void)
{
	return limit_bytes ? limit_bytes / TABLES_OF + 1 : 0;
}

static uint64_t left_when(uint64_t taken)
{
	uint64_t share = limit_bytes / TABLES_OF;

	return !limit_bytes ? UINT64_MAX : taken < share ? (share - taken) / 2 : 0;
}

uint64_t trc_share_left(void)
{
	/* relaxed, here and below: only how much is counted. */
	return left_when(atomic_load_explicit(&taken_bytes, memory_order_relaxed));
}

bool trc_share_take(uint64_t n_bytes)
{
	uint64_t taken = atomic_load_explicit(&taken_bytes, memory_order_relaxed);

	do {
		if (n_bytes > left_when(taken))
			return false;
	} while (!atomic_compare_exchange_weak_explicit(
		&taken_bytes, &taken, taken + n_bytes, memory_order_relaxed, memory_order_relaxed));
	return true;
}

void trc_share_give(uint64_t n_bytes)
{
	atomic_fetch_sub_explicit(&taken_bytes, n_bytes, memory_order_relaxed);
}
