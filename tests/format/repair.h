/*
 * repair.h - makes the checksums of a damaged trace right again.
 *
 * Checksums keep tests and fuzzers from what lies behind them: a byte is changed, the file
 * repaired, and the reader has to find out by itself.
 */
#ifndef TRC_TESTS_REPAIR_H
#define TRC_TESTS_REPAIR_H

#include <stddef.h>
#include <stdint.h>

/* Every checksum, from the front, as long as sections follow each other. */
void trc_repair(uint8_t *bytes, size_t n_bytes);

#endif
