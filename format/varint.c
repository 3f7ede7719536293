/* varint.c - see varint.h. */
#include <errno.h>
#include "varint.h"

int trc_varint_get(const uint8_t **pos, const uint8_t *end, uint64_t *value)
{
	const uint8_t *p = *pos;
	uint64_t result = 0;

	for (unsigned int shift = 0;; shift += 7) {
		uint8_t byte;

		if (p == end)
			return -ENODATA;
		byte = *p++;
		if (shift == 63 && byte > 1)
			return -EOVERFLOW;
		result |= (uint64_t)(byte & 0x7f) << shift;
		if (byte & 0x80)
			continue;
		if (!byte && shift)
			return -EBADMSG;
		*pos = p;
		*value = result;
		return 0;
	}
}

const uint8_t *trc_cursor_take(struct trc_cursor *c, uint64_t n_bytes)
{
	const uint8_t *p = c->pos;

	if (c->bad || n_bytes > trc_cursor_left(c)) {
		c->bad = true;
		return NULL;
	}
	c->pos += n_bytes;
	return p;
}

uint8_t trc_cursor_u8(struct trc_cursor *c)
{
	const uint8_t *p = trc_cursor_take(c, 1);

	return p ? *p : 0;
}

uint32_t trc_cursor_u32(struct trc_cursor *c)
{
	const uint8_t *p = trc_cursor_take(c, 4);

	return p ? trc_get32(p) : 0;
}

uint64_t trc_cursor_u64(struct trc_cursor *c)
{
	const uint8_t *p = trc_cursor_take(c, 8);

	return p ? trc_get64(p) : 0;
}

uint64_t trc_cursor_varint(struct trc_cursor *c)
{
	uint64_t value = 0;

	if (!c->bad && trc_varint_get(&c->pos, c->end, &value) < 0)
		c->bad = true;
	return value;
}

uint64_t trc_cursor_varint_max(struct trc_cursor *c, uint64_t max)
{
	uint64_t value = trc_cursor_varint(c);

	if (value <= max)
		return value;
	c->bad = true;
	return 0;
}

struct trc_cursor trc_cursor_entry(struct trc_cursor *c)
{
	uint64_t n_bytes = trc_cursor_varint(c);
	const uint8_t *p = trc_cursor_take(c, n_bytes);
	struct trc_cursor entry = {p, p ? p + n_bytes : NULL, !p};

	return entry;
}
