/* section.c - see section.h. */
#include <lz4.h>
#include "check.h"
#include "section.h"

enum { PACK_BYTES_MIN = 128 }; /* shorter payloads are left as they are */

int trc_section_put_bytes(struct trc_section_out *out, const void *bytes, size_t n_bytes)
{
	if (out->discard)
		return 0;
	if (!out->error) {
		out->error = out->sink(out->context, bytes, n_bytes);
		out->closed = out->error;
	}
	if (!out->error)
		out->file_bytes += n_bytes;
	return out->error;
}

size_t trc_section_seal(uint8_t *base, enum trc_section_type type, uint16_t flags,
			size_t payload_bytes, size_t checked_bytes)
{
	size_t padding = (0 - payload_bytes) & 7;
	uint8_t *payload = base + TRC_SECTION_HEADER_BYTES;

	trc_put16(base, (uint16_t)type);
	trc_put16(base + 2, flags);
	trc_put32(base + 4, (uint32_t)payload_bytes);
	trc_put64(base + 8, trc_check64(payload, checked_bytes, trc_get64(base)));
	memset(payload + payload_bytes, 0, padding);
	return TRC_SECTION_HEADER_BYTES + payload_bytes + padding;
}

int trc_section_write_plain(struct trc_section_out *out, struct trc_section *s,
			    enum trc_section_type type)
{
	size_t n_bytes = trc_section_seal(s->base, type, 0, s->used_bytes, s->used_bytes);

	s->used_bytes = 0;
	s->last_id = 0;
	return trc_section_put_bytes(out, s->base, n_bytes);
}

int trc_section_write(struct trc_section_out *out, struct trc_section *s,
		      enum trc_section_type type)
{
	uint8_t *packed = out->packed + TRC_SECTION_HEADER_BYTES;
	uint32_t raw_bytes = s->used_bytes;
	size_t n_bytes;
	int packed_bytes;

	if (!raw_bytes)
		return out->error;
	if (out->discard) {
		s->used_bytes = 0;
		s->last_id = 0;
		return 0;
	}
	if (raw_bytes < PACK_BYTES_MIN)
		return trc_section_write_plain(out, s, type);
	packed_bytes = LZ4_compress_fast_extState(
		out->lz4, (const char *)trc_section_payload(s), (char *)packed + 4, (int)raw_bytes,
		(int)(raw_bytes - raw_bytes / 16), out->acceleration);
	if (packed_bytes <= 0)
		return trc_section_write_plain(out, s, type);
	trc_put32(packed, raw_bytes);
	n_bytes = (size_t)packed_bytes + 4;
	n_bytes = trc_section_seal(out->packed, type, TRC_SECTION_LZ4, n_bytes, n_bytes);
	s->used_bytes = 0;
	s->last_id = 0;
	return trc_section_put_bytes(out, out->packed, n_bytes);
}
