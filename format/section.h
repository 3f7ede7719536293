/*
 * section.h - writing sections to the sink (docs/format.md, "Sections").
 *
 *   section:N1  each section is one call of the sink
 *   section:N2  after the sink has failed, the sink is not called again (writer:W3); `error` keeps
 *       the sink's error
 *   section:N3  `closed` is 0 as long as anything may be written, then `error`, or -EBADF at the
 *       end
 */
#ifndef TRC_FORMAT_SECTION_H
#define TRC_FORMAT_SECTION_H

#include <stdbool.h>
#include <stdint.h>
#include "wire.h"
#include "writer.h"

/* A payload in the making, with room in front for the header of the section and behind
 * for padding. */
struct trc_section {
	uint8_t *base;
	uint32_t used_bytes, room_bytes; /* of the payload */
	uint64_t last_id;		 /* ids of an entry are told by distance */
};

enum {
	TRC_SECTION_ROOM_BYTES = 64 << 10,
	/* What an entry may take; longer things are cut. */
	TRC_SECTION_ENTRY_BYTES_MAX = 16 << 10,
	TRC_SECTION_BUFFER_BYTES = TRC_SECTION_HEADER_BYTES + TRC_SECTION_ROOM_BYTES + 8,
};

struct trc_section_out {
	trc_sink_fn *sink;
	void *context;
	int error, closed;
	int acceleration;
	bool discard; /* nothing is packed, the sink is not called */
	uint64_t file_bytes;
	void *lz4;	 /* an LZ4 compression state */
	uint8_t *packed; /* [TRC_SECTION_BUFFER_BYTES] */
};

static inline uint8_t *trc_section_payload(const struct trc_section *s)
{
	return s->base + TRC_SECTION_HEADER_BYTES;
}

/* Hands bytes to the sink unchanged; 0 or the error. */
int trc_section_put_bytes(struct trc_section_out *out, const void *bytes, size_t n_bytes);
/* Writes the header of a section with `payload_bytes` behind it, of which the checksum covers
 * `checked_bytes`; pads it.  Returns the bytes of the whole section. */
size_t trc_section_seal(uint8_t *base, enum trc_section_type type, uint16_t flags,
			size_t payload_bytes, size_t checked_bytes);
/* Writes the section unless the section is empty, packed if packing makes it shorter; then empties
 * it. */
int trc_section_write(struct trc_section_out *out, struct trc_section *s,
		      enum trc_section_type type);
/* trc_section_write(), never packed. */
int trc_section_write_plain(struct trc_section_out *out, struct trc_section *s,
			    enum trc_section_type type);

#endif
