/*
 * ring_inline.h - the shortest way to commit a record, in its caller.
 */
#ifndef TRC_RECORDER_RING_RING_INLINE_H
#define TRC_RECORDER_RING_RING_INLINE_H

#include "rec.h"

#if defined(__x86_64__)
#include "rseq_x86_64.h"
#elif defined(__aarch64__)
#include "rseq_aarch64.h"
#else
#error "no restartable sequences for this processor"
#endif

/* A record with two arguments; false if it was lost. Context: traced thread, signal handlers. */
static inline bool trc_record_two(uint64_t word1, uint64_t a, uint64_t b)
{
	if (__builtin_expect(rseq_put_two(word1, a, b) == RSEQ_DONE, 1))
		return true;
	return trc_record_two_slow(word1, a, b);
}

/* TRC_RECORD() for a kind with two arguments. */
#define TRC_RECORD_TWO(args)                                                                       \
	({                                                                                         \
		_Static_assert(TRC_ARGS_WORDS(args) == 2, "two arguments");                        \
		trc_record_two(TRC_ARGS_WORD1(args, 0, 0), ((const uint64_t *)&(args))[0],         \
			       ((const uint64_t *)&(args))[1]);                                    \
	})

#endif
