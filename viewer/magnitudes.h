/*
 * magnitudes.h - numbers as magnitudes and bits: bytes, of which some are more frequent than others, and below them bits, of
 * which most are noise.  Deflated, they are shorter than varints, in whose bytes both are mixed.
 *
 *   magnitudes:M1  a number less than 8 is its byte.  Of a number of 2^e and more, less than 2^(e + 1), the byte is 4 * (e - 1), plus
 *       the two bits that follow the first
 *   magnitudes:M2  the bytes of all numbers stand first, then the e - 2 bits that are left of each, one number's behind the
 *       other's, low bits first
 */
#ifndef TRC_VIEWER_MAGNITUDES_H
#define TRC_VIEWER_MAGNITUDES_H

#include "page.h"

/* Bits on their way into bytes, low ones first. */
struct trc_bits {
	struct trc_bytes *out; /* borrowed */
	uint64_t value;
	unsigned int n;
};

void trc_bits_put(struct trc_bits *b, uint64_t value, unsigned int n);
/* Fills up the last byte. */
void trc_bits_end(struct trc_bits *b);

/* From n varints, which are whole, onto the end of *out. */
void trc_magnitudes(struct trc_bytes *out, const struct trc_bytes *varints, uint64_t n);

#endif
