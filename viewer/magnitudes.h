/*
 * magnitudes.h - numbers as magnitudes and bits.  Magnitudes are bytes, of which some are more frequent than others.  The bits
 * below them are mostly noise.  Deflated, both are shorter than varints, whose bytes mix them.
 *
 *   magnitudes:M1  a number less than 8 is its byte.  If a number is 2^e or more, and less than 2^(e + 1), its byte is
 *       4 * (e - 1), plus the two bits that follow the highest bit
 *   magnitudes:M2  the bytes of all numbers stand first.  Behind them stand the remaining e - 2 bits of each number, one number
 *       behind the other, low bits first
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
