/*
 * content_hash.h - the hash by which the tables know stacks, strings and label sets.
 *
 * Content is whole words, the last one filled up with zeros.  Here it is read where it lies: nothing
 * beyond its bytes is read, and no length is left to memcpy().
 */
#ifndef TRC_RECORDER_RING_CONTENT_HASH_H
#define TRC_RECORDER_RING_CONTENT_HASH_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "the first byte of a word is the lowest");

static inline uint64_t trc_content_word(const char *bytes)
{
	uint64_t word;

	memcpy(&word, bytes, sizeof(word));
	return word;
}

/* 1 to 7 bytes as a word. */
static inline uint64_t trc_content_short(const char *bytes, uint32_t n_bytes)
{
	uint32_t low, high;
	uint16_t pair;

	if (n_bytes >= 4) {
		/* Where the two overlap they are equal. */
		memcpy(&low, bytes, 4);
		memcpy(&high, bytes + n_bytes - 4, 4);
		return low | (uint64_t)high << (n_bytes - 4) * 8;
	}
	if (n_bytes == 1)
		return (uint8_t)*bytes;
	memcpy(&pair, bytes, 2);
	return pair | (uint64_t)(uint8_t)bytes[n_bytes - 1] << (n_bytes - 1) * 8;
}

/* The bytes after the whole words of n_bytes, as a word; n_bytes is no multiple of 8. */
static inline uint64_t trc_content_rest(const char *bytes, uint32_t n_bytes)
{
	return n_bytes < 8 ? trc_content_short(bytes, n_bytes)
			   : trc_content_word(bytes + n_bytes - 8) >> (8 - n_bytes % 8) * 8;
}

/* The last 8 bytes, or all. */
static inline uint64_t trc_content_tail(const char *bytes, uint32_t n_bytes)
{
	return n_bytes >= 8 ? trc_content_word(bytes + n_bytes - 8)
	       : n_bytes    ? trc_content_short(bytes, n_bytes)
			    : 0;
}

static inline bool trc_content_equals(const char *a, const char *b, uint32_t n_bytes)
{
	for (uint32_t at = 0; at + 8 <= n_bytes; at += 8)
		if (trc_content_word(a + at) != trc_content_word(b + at))
			return false;
	return n_bytes % 8 == 0 || trc_content_rest(a, n_bytes) == trc_content_rest(b, n_bytes);
}

static inline uint64_t trc_hash_mix(uint64_t a, uint64_t b)
{
	unsigned __int128 product = (unsigned __int128)a * b;

	return (uint64_t)product ^ (uint64_t)(product >> 64);
}

/* The hash `h` of numbers, and one more. */
static inline uint64_t trc_hash_add(uint64_t h, uint64_t number)
{
	h = (h ^ number) * UINT64_C(0x9e3779b97f4a7c15);
	return h ^ h >> 29;
}

/* Two lanes, so that the multiplications overlap (the folded product is wyhash's idea). */
static inline uint64_t trc_hash_lane_a(uint64_t a, uint64_t word)
{
	return trc_hash_mix(a ^ word, UINT64_C(0x8ebc6af09c88c6e3));
}

static inline uint64_t trc_hash_lane_b(uint64_t b, uint64_t word)
{
	return trc_hash_mix(b ^ word, UINT64_C(0x589965cc75374cc3));
}

static inline uint64_t trc_hash(const char *bytes, uint32_t n_bytes, uint64_t seed)
{
	uint64_t a = seed ^ UINT64_C(0xa0761d6478bd642f);
	uint64_t b = (n_bytes + 7) / 8 ^ UINT64_C(0xe7037ed1a0b428db);
	uint32_t at = 0;

	for (; n_bytes - at >= 16; at += 16) {
		a = trc_hash_lane_a(a, trc_content_word(bytes + at));
		b = trc_hash_lane_b(b, trc_content_word(bytes + at + 8));
	}
	if (n_bytes - at >= 8) {
		a = trc_hash_lane_a(a, trc_content_word(bytes + at));
		if (n_bytes % 8)
			b = trc_hash_lane_b(b, trc_content_rest(bytes, n_bytes));
	} else if (n_bytes % 8) {
		a = trc_hash_lane_a(a, trc_content_rest(bytes, n_bytes));
	}
	return trc_hash_mix(a ^ UINT64_C(0x1d8e4e27c47d124f), b ^ UINT64_C(0xeb44accab455d165));
}

#endif
