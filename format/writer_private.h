/* writer_private.h - a writer's inside, shared by writer*.c. */
#ifndef TRC_FORMAT_WRITER_PRIVATE_H
#define TRC_FORMAT_WRITER_PRIVATE_H

#include <string.h>
#include "block.h"
#include "section.h"
#include "tables.h"
#include "varint.h"
#include "writer.h"

/* Events of one proc and source that are not in a block yet. */
struct stream {
	uint64_t *cur, *end; /* free words of the last chunk */
	uint64_t last_time;
	struct trc_rows rows; /* words[] of the last chunk, and n_events: by stream_settle() */
};

/* What the index says of a generation. */
struct index_entry {
	uint64_t file_off, first_ticks, last_ticks, n_events, n_blocks;
};

struct trc_writer {
	struct trc_section_out out;
	uint8_t row_words[TRC_KIND_MAX + 1]; /* without text; 0 = no such kind */
	bool has_text[TRC_KIND_MAX + 1];
	uint32_t n_procs;
	struct stream *stream; /* rings, kernel streams, then the overflow stream */
	uint32_t n_streams;
	uint64_t **free_chunk; /* a stack */
	uint32_t n_free, n_chunks, block_chunks;
	struct trc_tables tables;
	struct trc_block_encoder *encoder;
	struct trc_section section; /* for everything but tables and blocks */
	struct trc_sync_point last_sync;
	bool has_sync;
	uint64_t generation_ticks, generation_end;
	bool generation_has_time, generating;
	struct index_entry *index;
	uint32_t n_index, max_index; /* n_index > max_index: too many, no index */
	uint64_t written_events, blocks, lost_events, clamped_times;
	size_t memory_bytes, stream_bytes;
	uint64_t *discarded; /* [ROW_WORDS_MAX], of what nobody wants; NULL = it is wanted */
};

/* writer.c: GENERATION, SCHEMA, the last SYNC; the modules are pending after it. */
int trc_writer_generation_write(struct trc_writer *w, uint32_t generation);

/* Where the payload of the next section begins, in memory that all sections share. */
static inline uint8_t *trc_writer_payload(struct trc_writer *w)
{
	return trc_section_payload(&w->section);
}

/* Writes the section; `end` is the payload's end. 0 or -errno. */
static inline int trc_writer_payload_write(struct trc_writer *w, const uint8_t *end,
					   enum trc_section_type type)
{
	w->section.used_bytes = (uint32_t)(end - trc_writer_payload(w));
	return trc_section_write(&w->out, &w->section, type);
}

/* Puts the number of bytes, then the bytes. */
static inline uint8_t *trc_put_counted(uint8_t *p, const char *bytes, size_t n_bytes)
{
	p = trc_varint_put(p, n_bytes);
	memcpy(p, bytes, n_bytes);
	return p + n_bytes;
}

#endif
