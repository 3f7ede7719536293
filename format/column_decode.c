/* column_decode.c - see column.h.  Believes nothing: the bytes come from a file. */
#include <errno.h>
#include "column.h"
#include "varint.h"

/*
 * Reads a varint from a place with at least TRC_VARINT_BYTES_MAX bytes left; false if it
 * is malformed.  The loop of every column that is not packed.
 */
static inline bool varint_fast(const uint8_t **pos, uint64_t *value)
{
	const uint8_t *p = *pos;
	uint64_t result = p[0];

	if (result < 0x80) {
		*value = result;
		*pos = p + 1;
		return true;
	}
	result = (result & 0x7f) | (uint64_t)p[1] << 7;
	if (p[1] < 0x80) {
		*value = result;
		*pos = p + 2;
		return p[1] != 0;
	}
	return trc_varint_get(pos, p + TRC_VARINT_BYTES_MAX, value) == 0;
}

static inline bool varint_next(const uint8_t **pos, const uint8_t *end, uint64_t *value)
{
	if (end - *pos >= TRC_VARINT_BYTES_MAX)
		return varint_fast(pos, value);
	return trc_varint_get(pos, end, value) == 0;
}

/* The number of `bits` bits that begins at `bit`; bits <= TRC_PACKED_BITS_MAX, so that it
 * lies within eight bytes. */
static inline uint64_t bits_get(const uint8_t *bytes, size_t n_bytes, uint64_t bit, uint64_t mask)
{
	size_t at = (size_t)(bit >> 3);
	uint8_t tail[8] = {0};

	if (n_bytes - at >= 8)
		return trc_get64(bytes + at) >> (bit & 7) & mask;
	memcpy(tail, bytes + at, n_bytes - at);
	return trc_get64(tail) >> (bit & 7) & mask;
}

/* n numbers of `bits` bits must fill n_bytes to the last byte. */
static bool bits_fit(uint32_t n, unsigned int bits, size_t n_bytes)
{
	return ((uint64_t)n * bits + 7) / 8 == n_bytes;
}

static int get_constant(const uint8_t *pos, const uint8_t *end, uint64_t *value, uint32_t n)
{
	uint64_t constant;

	if (trc_varint_get(&pos, end, &constant) < 0 || pos != end)
		return -EBADMSG;
	for (uint32_t i = 0; i < n; i++)
		value[i] = constant;
	return 0;
}

static int get_packed(const uint8_t *pos, const uint8_t *end, uint64_t *value, uint32_t n)
{
	uint64_t base, mask, bit = 0;
	unsigned int bits;
	size_t n_bytes;

	if (trc_varint_get(&pos, end, &base) < 0 || pos == end)
		return -EBADMSG;
	bits = *pos++;
	n_bytes = (size_t)(end - pos);
	if (bits > TRC_PACKED_BITS_MAX || !bits_fit(n, bits, n_bytes))
		return -EBADMSG;
	mask = (UINT64_C(1) << bits) - 1;
	for (uint32_t i = 0; i < n; i++, bit += bits)
		value[i] = base + bits_get(pos, n_bytes, bit, mask);
	return 0;
}

static int get_dictionary(const uint8_t *pos, const uint8_t *end, uint64_t *value, uint32_t n)
{
	uint64_t entry[TRC_DICTIONARY_MAX];
	uint64_t base, n_entries, mask, bit = 0;
	unsigned int bits;
	size_t n_bytes;

	if (trc_varint_get(&pos, end, &base) < 0 || trc_varint_get(&pos, end, &n_entries) < 0 ||
	    !n_entries || n_entries > TRC_DICTIONARY_MAX)
		return -EBADMSG;
	for (uint64_t i = 0; i < n_entries; i++) {
		if (!varint_next(&pos, end, &entry[i]))
			return -EBADMSG;
		entry[i] += base;
	}
	bits = trc_bits(n_entries - 1);
	n_bytes = (size_t)(end - pos);
	if (!bits_fit(n, bits, n_bytes))
		return -EBADMSG;
	mask = (UINT64_C(1) << bits) - 1;
	for (uint32_t i = 0; i < n; i++, bit += bits) {
		uint64_t index = bits_get(pos, n_bytes, bit, mask);

		if (index >= n_entries)
			return -EBADMSG;
		value[i] = entry[index];
	}
	return 0;
}

static int get_varint(const uint8_t *pos, const uint8_t *end, uint64_t *value, uint32_t n)
{
	uint64_t base, v;

	if (trc_varint_get(&pos, end, &base) < 0)
		return -EBADMSG;
	for (uint32_t i = 0; i < n; i++) {
		if (!varint_next(&pos, end, &v))
			return -EBADMSG;
		value[i] = base + v;
	}
	return pos == end ? 0 : -EBADMSG;
}

static int get_rising(const uint8_t *pos, const uint8_t *end, uint64_t *value, uint32_t n)
{
	uint64_t last = 0, v;

	for (uint32_t i = 0; i < n; i++) {
		if (!varint_next(&pos, end, &v))
			return -EBADMSG;
		last += v;
		value[i] = last;
	}
	return pos == end ? 0 : -EBADMSG;
}

static int get_zigzag(const uint8_t *pos, const uint8_t *end, uint64_t *value, uint32_t n)
{
	uint64_t last = 0, v;

	for (uint32_t i = 0; i < n; i++) {
		if (!varint_next(&pos, end, &v))
			return -EBADMSG;
		last += trc_unzigzag(v);
		value[i] = last;
	}
	return pos == end ? 0 : -EBADMSG;
}

static int get_runs(const uint8_t *pos, const uint8_t *end, uint64_t *value, uint32_t n)
{
	uint64_t base, v, more;

	if (trc_varint_get(&pos, end, &base) < 0)
		return -EBADMSG;
	for (uint32_t i = 0; i < n;) {
		if (!varint_next(&pos, end, &v) || !varint_next(&pos, end, &more) || more >= n - i)
			return -EBADMSG;
		for (uint64_t k = 0; k <= more; k++)
			value[i++] = base + v;
	}
	return pos == end ? 0 : -EBADMSG;
}

/* A number in full, of up to 64 bits, at `bit`; 0 is no such number. */
static uint64_t rice_get_full(const uint8_t *bytes, size_t n_bytes, uint64_t *bit)
{
	unsigned int n_bits;
	uint64_t value;

	if (*bit + 6 > (uint64_t)n_bytes * 8)
		return 0;
	n_bits = 1 + (unsigned int)bits_get(bytes, n_bytes, *bit, 63);
	*bit += 6;
	if (*bit + n_bits > (uint64_t)n_bytes * 8)
		return 0;
	value = bits_get(bytes, n_bytes, *bit,
			 n_bits < 32 ? (UINT64_C(1) << n_bits) - 1 : UINT32_MAX);
	if (n_bits > 32)
		value |= bits_get(bytes, n_bytes, *bit + 32, (UINT64_C(1) << (n_bits - 32)) - 1)
			 << 32;
	*bit += n_bits;
	return trc_bits(value) == n_bits ? value : 0;
}

/* The next number of the stream; false if it is malformed or goes over the end. */
static inline bool rice_get(const uint8_t *bytes, size_t n_bytes, uint64_t *bit, unsigned int bits,
			    uint64_t *value)
{
	uint64_t word, ones;

	if (*bit >= (uint64_t)n_bytes * 8)
		return false;
	word = bits_get(bytes, n_bytes, *bit, UINT64_MAX);
	ones = (uint64_t)__builtin_ctzll(~word | UINT64_C(1) << TRC_RICE_ONES_MAX);
	if (ones < TRC_RICE_ONES_MAX) {
		*value = ones << bits | (word >> (ones + 1) & ((UINT64_C(1) << bits) - 1));
		*bit += ones + 1 + bits;
		return *bit <= (uint64_t)n_bytes * 8;
	}
	*bit += TRC_RICE_ONES_MAX;
	*value = rice_get_full(bytes, n_bytes, bit);
	return *value >> bits >= TRC_RICE_ONES_MAX;
}

static int get_rice(const uint8_t *pos, const uint8_t *end, uint64_t *value, uint32_t n)
{
	unsigned int order, bits;
	uint64_t base, x, bit = 0;
	size_t n_bytes;

	if (end - pos < 2)
		return -EBADMSG;
	order = *pos++;
	bits = *pos++;
	if (order > 1 || bits > TRC_RICE_BITS_MAX || trc_varint_get(&pos, end, &base) < 0)
		return -EBADMSG;
	n_bytes = (size_t)(end - pos);
	for (uint32_t i = 0; i < n; i++) {
		if (!rice_get(pos, n_bytes, &bit, bits, &x))
			return -EBADMSG;
		value[i] = base + x;
		if (order)
			base = value[i];
	}
	return (bit + 7) / 8 == n_bytes ? 0 : -EBADMSG;
}

int trc_column_decode(enum trc_coding coding, const uint8_t *bytes, size_t n_bytes, uint64_t *value,
		      uint32_t n)
{
	const uint8_t *end = bytes + n_bytes;

	switch (coding) {
	case TRC_CODING_CONSTANT:
		return get_constant(bytes, end, value, n);
	case TRC_CODING_PACKED:
		return get_packed(bytes, end, value, n);
	case TRC_CODING_DICTIONARY:
		return get_dictionary(bytes, end, value, n);
	case TRC_CODING_VARINT:
		return get_varint(bytes, end, value, n);
	case TRC_CODING_RISING:
		return get_rising(bytes, end, value, n);
	case TRC_CODING_ZIGZAG:
		return get_zigzag(bytes, end, value, n);
	case TRC_CODING_RUNS:
		return get_runs(bytes, end, value, n);
	case TRC_CODING_RICE:
		return get_rice(bytes, end, value, n);
	case TRC_CODING_BYTES:
	case TRC_CODING_COUNT:
	case TRC_CODING_LZ4:
		break;
	}
	return -EBADMSG;
}
