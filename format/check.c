/* check.c - see check.h.  xxHash comes as a header only: nothing to link, nothing exported. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#define XXH_INLINE_ALL
#include <xxhash.h>
#pragma GCC diagnostic pop
#include "check.h"

uint64_t trc_check64(const void *bytes, size_t n_bytes, uint64_t seed)
{
	return XXH3_64bits_withSeed(bytes, n_bytes, seed);
}
