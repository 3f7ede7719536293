/*
 * magnitudes.c - see magnitudes.h.
 */
#include "magnitudes.h"

void trc_bits_put(struct trc_bits *b, uint64_t value, unsigned int n)
{
	for (; n; n -= n < 32 ? n : 32, value >>= 32) {
		unsigned int now = n < 32 ? n : 32;

		b->value |= (value & (((uint64_t)1 << now) - 1)) << b->n;
		for (b->n += now; b->n >= 8; b->n -= 8, b->value >>= 8) {
			uint8_t byte = (uint8_t)b->value;

			trc_bytes_put(b->out, &byte, 1);
		}
	}
}

void trc_bits_end(struct trc_bits *b)
{
	if (b->n)
		trc_bits_put(b, 0, 8 - b->n);
}

/* How many bits are below a number's byte (M1). */
static unsigned int bits_below(uint64_t value)
{
	return value < 8 ? 0 : 61 - (unsigned int)__builtin_clzll(value);
}

void trc_magnitudes(struct trc_bytes *out, const struct trc_bytes *varints, uint64_t n)
{
	struct trc_bits bits = {.out = out};
	const uint8_t *at = varints->data;

	for (uint64_t i = 0; i < n; i++) {
		uint64_t value = trc_bytes_varint_next(&at);
		unsigned int below = bits_below(value);
		uint8_t byte = (uint8_t)(4 * below + (value >> below));

		trc_bytes_put(out, &byte, 1);
	}
	at = varints->data;
	for (uint64_t i = 0; i < n; i++) {
		uint64_t value = trc_bytes_varint_next(&at);

		trc_bits_put(&bits, value, bits_below(value));
	}
	trc_bits_end(&bits);
}
