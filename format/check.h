/*
 * check.h - the checksum of the format: XXH3, 64 bits (docs/format.md, "Checksums").
 */
#ifndef TRC_FORMAT_CHECK_H
#define TRC_FORMAT_CHECK_H

#include <stddef.h>
#include <stdint.h>

/* XXH3_64bits_withSeed(); a seed of 0 is plain XXH3_64bits(). */
uint64_t trc_check64(const void *bytes, size_t n_bytes, uint64_t seed);

#endif
