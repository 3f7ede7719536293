/*
 * unwind_memory.h - which addresses of a stack may be read.
 *
 *   M1  [lo, hi) of a range is mapped and stays so while the thread runs on that stack
 *   M2  beyond the range nothing is read before the kernel has been asked whether it can be
 */
#ifndef TRC_RECORDER_UNWIND_MEMORY_H
#define TRC_RECORDER_UNWIND_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

/* Walking a stack reads what the compiler guards: other functions' frames. */
#define TRC_NO_SANITIZE __attribute__((no_sanitize("address", "undefined", "thread")))

struct trc_range {
	uintptr_t lo;
	uintptr_t hi; /* 0, 0 = nothing yet */
	bool whole;   /* up to the top of the stack: what lies beyond is no part of it */
};

/*
 * Sets *range to what may be read from `sp` upwards.  `own_sp` is a stack pointer of the caller
 * itself: what lies above it on the same stack is in use.  Empty where the stack is none that we
 * know. Context: traced thread, signal handlers.
 */
void trc_range_stack(struct trc_range *range, uintptr_t sp, uintptr_t own_sp);

/*
 * Grows or moves the range so that the 8 bytes at `at` lie inside.  Returns false, with the
 * range as it was, if they cannot be read.  Context: traced thread, signal handlers.
 */
bool trc_range_reach(struct trc_range *range, uintptr_t at);

static inline bool trc_range_has(const struct trc_range *range, uintptr_t at)
{
	/* unsigned: an address below lo wraps to beyond every range */
	return range->hi - range->lo >= 8 && at - range->lo <= range->hi - range->lo - 8;
}

/* Context: any thread, may block. */
void trc_range_setup(void);
void trc_range_thread(void);

/* Fetches 8 bytes.  Returns false, and leaves *value, where there is nothing to read. */
static inline TRC_NO_SANITIZE bool trc_range_read(struct trc_range *range, uintptr_t at,
						  uintptr_t *value)
{
	if (at & 7 || (!trc_range_has(range, at) && !trc_range_reach(range, at)))
		return false;
	*value = *(const volatile uintptr_t *)at;
	return true;
}

#endif
