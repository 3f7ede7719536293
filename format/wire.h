/*
 * wire.h - the numbers of the .trc format (docs/format.md), and how integers lie in it.
 *
 * Everything is little endian and put one integer at a time: no struct, bit-field
 * or `long` reaches the disk.
 */
#ifndef TRC_FORMAT_WIRE_H
#define TRC_FORMAT_WIRE_H

#include <endian.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include "schema.h"

/* format.md, "Header" */
enum {
	TRC_MAJOR = 1,
	TRC_SECTIONS_MINOR = 4, /* that the newest section came with */
	TRC_MINOR = (int)TRC_KINDS_MINOR > (int)TRC_SECTIONS_MINOR ? (int)TRC_KINDS_MINOR
								   : (int)TRC_SECTIONS_MINOR,
	TRC_HEADER_BYTES = 72,
	TRC_HEADER_BYTES_MAX = 4096,
	TRC_ENDIAN_MARK = 0x01020304,
};
#define TRC_MAGIC "TRC" /* with its zero: four bytes */

/* format.md, "Sections" */
enum trc_section_type {
	TRC_SECTION_GENERATION = 1,
	TRC_SECTION_INFO = 2,
	TRC_SECTION_SYNC = 3,
	TRC_SECTION_SCHEMA = 4,
	TRC_SECTION_STRINGS = 5,
	TRC_SECTION_STACKS = 6,
	TRC_SECTION_THREADS = 7,
	TRC_SECTION_MODULES = 8,
	TRC_SECTION_BLOCK = 9,
	TRC_SECTION_STATUS = 10,
	TRC_SECTION_END = 11,
	TRC_SECTION_INDEX = 12,
	TRC_SECTION_OPEN_REGIONS = 13,	/* from version 1.1 on */
	TRC_SECTION_COVERAGE = 14,	/* likewise */
	TRC_SECTION_LABEL_SETS = 15,	/* from version 1.2 on */
	TRC_SECTION_SAMPLE_EVENTS = 16, /* likewise */
	TRC_SECTION_THREAD_LABELS = 17, /* likewise */
	TRC_SECTION_THREAD_FIBERS = 18, /* from version 1.4 on */
	TRC_SECTION_TYPE_COUNT
};
enum {
	TRC_SECTION_HEADER_BYTES = 16,
	TRC_SECTION_LZ4 = 1,		  /* flag: u32 raw bytes, then an LZ4 block */
	TRC_SECTION_BYTES_MAX = 16 << 20, /* of a known type; unpacked too */
	TRC_TABLE_IDS_MAX = 1 << 24,
	TRC_LZ4_RATIO_MAX = 255, /* LZ4 cannot unpack to more than that */
	/* A byte of the file brings at most so many, beyond those that any file may have. */
	TRC_EVENTS_PER_BYTE = 16,
	TRC_ENTRIES_PER_BYTE = 1,
	TRC_PARTS_PER_BYTE = 32, /* frames of stacks, labels of label sets */
	TRC_DENSE_FREE = 65536,
	TRC_SYNC_SLACK_NS = 10000000, /* events from before that precede their SYNC in the file */
};

/* format.md, "LABEL_SETS": what the value of a label is. */
enum trc_label_kind {
	TRC_LABEL_STRING = 1,
	TRC_LABEL_NUMBER = 2,
};

/* format.md, "Blocks" */
enum {
	TRC_BLOCK_EVENTS_MAX = 65536,
	TRC_BLOCK_TEXT_BYTES_MAX = 8 << 20,
	TRC_BLOCK_HEAD_BYTES_MAX = 64 << 10,
	TRC_BLOCK_COLUMNS_MAX = 2048,
	TRC_PROCS_MAX = 16384,
};
enum trc_column_what {
	TRC_COLUMN_KIND = 1,
	TRC_COLUMN_TIME = 2,
	TRC_COLUMN_THREAD = 3,
	TRC_COLUMN_PROC = 4,
	TRC_COLUMN_ARG = 5,  /* of TEXT: the lengths */
	TRC_COLUMN_TEXT = 6, /* the bytes */
};
enum trc_coding {
	TRC_CODING_BYTES = 0,
	TRC_CODING_CONSTANT = 1,
	TRC_CODING_PACKED = 2,
	TRC_CODING_DICTIONARY = 3,
	TRC_CODING_VARINT = 4,
	TRC_CODING_RISING = 5,
	TRC_CODING_ZIGZAG = 6,
	TRC_CODING_RUNS = 7,
	TRC_CODING_RICE = 8,
	TRC_CODING_COUNT,
	TRC_CODING_LZ4 = 0x80, /* added to one of the above */
};
enum {
	TRC_PACKED_BITS_MAX = 56,
	TRC_DICTIONARY_MAX = 4096,
	TRC_RICE_BITS_MAX = 40,
	TRC_RICE_ONES_MAX = 12, /* as many announce a number in full */
};

static inline void trc_put16(uint8_t *p, uint16_t value)
{
	value = htole16(value);
	memcpy(p, &value, sizeof(value));
}

static inline void trc_put32(uint8_t *p, uint32_t value)
{
	value = htole32(value);
	memcpy(p, &value, sizeof(value));
}

static inline void trc_put64(uint8_t *p, uint64_t value)
{
	value = htole64(value);
	memcpy(p, &value, sizeof(value));
}

static inline uint16_t trc_get16(const uint8_t *p)
{
	uint16_t value;

	memcpy(&value, p, sizeof(value));
	return le16toh(value);
}

static inline uint32_t trc_get32(const uint8_t *p)
{
	uint32_t value;

	memcpy(&value, p, sizeof(value));
	return le32toh(value);
}

static inline uint64_t trc_get64(const uint8_t *p)
{
	uint64_t value;

	memcpy(&value, p, sizeof(value));
	return le64toh(value);
}

static inline uint64_t trc_zigzag(uint64_t difference)
{
	return (difference << 1) ^ (uint64_t)((int64_t)difference >> 63);
}

static inline uint64_t trc_unzigzag(uint64_t value)
{
	return (value >> 1) ^ (0 - (value & 1));
}

/* The number of bits that `value` takes; 0 for 0. */
static inline unsigned int trc_bits(uint64_t value)
{
	return value ? 64 - (unsigned int)__builtin_clzll(value) : 0;
}

#endif
