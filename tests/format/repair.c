/* repair.c - see repair.h. */
#include "format/check.h"
#include "format/schema.h"
#include "format/varint.h"
#include "format/wire.h"
#include "repair.h"

/* The checksums of the columns in the directory of a block; malformed: as far as it goes. */
static void repair_columns(uint8_t *payload, size_t n_bytes, size_t head_bytes)
{
	struct trc_cursor c = {payload + 5, payload + head_bytes, false};
	size_t off = head_bytes;
	uint64_t n;

	for (int i = 0; i < 4; i++) /* proc, events, first time, span */
		trc_cursor_varint(&c);
	n = trc_cursor_varint_max(&c, TRC_KIND_MAX);
	for (uint64_t i = 0; i < n; i++) {
		trc_cursor_u8(&c);
		trc_cursor_varint(&c);
	}
	n = trc_cursor_varint_max(&c, TRC_BLOCK_COLUMNS_MAX);
	for (uint64_t i = 0; i < n && !c.bad; i++) {
		uint64_t stored_bytes;
		uint8_t coding;

		if (trc_cursor_u8(&c) >= TRC_COLUMN_ARG)
			trc_cursor_take(&c, 2);
		coding = trc_cursor_u8(&c);
		stored_bytes = trc_cursor_varint(&c);
		if (coding & TRC_CODING_LZ4)
			stored_bytes = trc_cursor_varint(&c);
		if (!trc_cursor_take(&c, 4) || stored_bytes > n_bytes - off)
			return;
		trc_put32(payload + (c.pos - payload) - 4,
			  (uint32_t)trc_check64(payload + off, (size_t)stored_bytes, 0));
		off += (size_t)stored_bytes;
	}
}

void trc_repair(uint8_t *bytes, size_t n_bytes)
{
	uint32_t header_bytes;

	if (n_bytes < TRC_HEADER_BYTES)
		return;
	header_bytes = trc_get32(bytes + 12);
	if (header_bytes < TRC_HEADER_BYTES || header_bytes > n_bytes)
		return;
	trc_put64(bytes + header_bytes - 8, trc_check64(bytes, header_bytes - 8, 0));
	for (size_t off = header_bytes; n_bytes - off >= TRC_SECTION_HEADER_BYTES;) {
		uint8_t *payload = bytes + off + TRC_SECTION_HEADER_BYTES;
		size_t payload_bytes = trc_get32(bytes + off + 4);
		size_t checked_bytes = payload_bytes;

		if (payload_bytes > n_bytes - off - TRC_SECTION_HEADER_BYTES)
			return;
		if (trc_get16(bytes + off) == TRC_SECTION_BLOCK && payload_bytes > 5 &&
		    !trc_get16(bytes + off + 2)) {
			uint32_t head_bytes = trc_get32(payload);

			if (head_bytes > 5 && head_bytes <= payload_bytes) {
				repair_columns(payload, payload_bytes, head_bytes);
				checked_bytes = head_bytes;
			}
		}
		trc_put64(bytes + off + 8,
			  trc_check64(payload, checked_bytes, trc_get64(bytes + off)));
		off += TRC_SECTION_HEADER_BYTES + ((payload_bytes + 7) & ~(size_t)7);
		if (off > n_bytes)
			return;
	}
}
