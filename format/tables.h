/*
 * tables.h - the writer's tables: ids by content, and which entries are in the file.
 *
 *   tables:B1  an entry is written (into a section before the block) in each generation that
 *       cites it; a new id is written only after all lower ids of its table
 *   tables:B2  memory is bounded: a full table gives id 0, and counts each such refusal
 *   tables:B3  before it is full, a table of strings, stacks or label sets is emptied, between two
 *       generations.  Ids go on counting, so that no id means two things in one file.  Strings of
 *       label sets are forgotten only together with the label sets
 */
#ifndef TRC_FORMAT_TABLES_H
#define TRC_FORMAT_TABLES_H

#include <stdbool.h>
#include <stdint.h>
#include "pages.h"
#include "section.h"
#include "writer.h"

enum {
	TRC_WRITER_STRING_BYTES_MAX = 8192, /* longer strings are cut */
	TRC_WRITER_PATH_BYTES_MAX = 4095,
	TRC_WRITER_NAME_BYTES_MAX = 127,
};

/* Interned bytes: strings, stacks and label sets. */
struct trc_intern_entry {
	uint64_t hash;
	const uint8_t *bytes;
	uint32_t n_bytes;
	uint32_t generation; /* in which the entry was written last; 0 = never */
};
struct trc_intern {
	uint32_t base;			/* ids up to `base` were forgotten (B3) */
	struct trc_intern_entry *entry; /* [max + 1]; by id - base */
	uint32_t n, max;
	uint32_t *slot; /* [slot_mask + 1] of entry[] */
	uint32_t slot_mask;
	uint32_t written; /* entries 1..written are in the file (B1) */
	struct trc_arena arena;
	struct trc_section section;
};

struct trc_thread_slot {
	struct trc_thread_entry entry; /* name points to name[] */
	uint32_t generation;
	char name[TRC_WRITER_NAME_BYTES_MAX + 1];
};

struct trc_tables {
	struct trc_section_out *out;
	uint32_t generation;
	uint64_t full; /* entries that found no room */
	struct trc_intern strings, stacks, label_sets;
	struct {
		struct trc_thread_slot *entry; /* [max] */
		uint32_t n, max;
		uint32_t *slot; /* [slot_mask + 1] index + 1 */
		uint32_t slot_mask;
		uint64_t cited[1024]; /* generation << 32 | serial: known to be written */
		struct trc_section section;
	} threads;
	struct {
		struct trc_module_entry *entry; /* [max + 1]; by id */
		uint32_t n, max;
		struct trc_arena arena;
		struct trc_section section;
	} modules;
};

/* Carves the tables from `memory`; 0 or -ENOMEM. */
int trc_tables_init(struct trc_tables *t, struct trc_section_out *out, struct trc_arena *memory);

uint32_t trc_tables_string(struct trc_tables *t, const char *bytes, uint32_t n_bytes);
uint32_t trc_tables_stack(struct trc_tables *t, uint32_t epoch, const uint64_t *frame,
			  uint32_t n_frames);
uint32_t trc_tables_label_set(struct trc_tables *t, const struct trc_label *label, uint32_t n);
uint32_t trc_tables_module(struct trc_tables *t, const struct trc_module_entry *module);
int trc_tables_module_end(struct trc_tables *t, uint32_t module_id, uint32_t last_epoch);
int trc_tables_thread(struct trc_tables *t, const struct trc_thread_entry *thread);

/* As in writer.h. */
uint32_t trc_tables_string_of(const struct trc_tables *t, uint64_t id, const char **bytes);
uint32_t trc_tables_stack_of(const struct trc_tables *t, uint64_t id, uint32_t *epoch,
			     const uint64_t **frame);
uint32_t trc_tables_label_set_of(const struct trc_tables *t, uint64_t id,
				 struct trc_label label[TRC_LABELS_MAX]);

/* True if values of this type are ids of entries in a table. */
bool trc_tables_has(enum trc_arg_type type);
/* Makes sure that the entries of ids of this type are in this generation, or in a section
 * that trc_tables_flush() writes.  Ignores types that have no table. */
void trc_tables_cite(struct trc_tables *t, enum trc_arg_type type, const uint64_t *id, uint32_t n);
int trc_tables_flush(struct trc_tables *t);
/* The tables that may be full at the next event, as bits of enum trc_writer_table. */
unsigned int trc_tables_crowded(const struct trc_tables *t);
/* Writes all entries of these tables into the file, so that all lower ids are written before later
 * ids (B1). */
void trc_tables_complete(struct trc_tables *t, unsigned int tables);
/* After a flush: empties these tables (B3). */
void trc_tables_forget(struct trc_tables *t, unsigned int tables);
/* After the flush: of all entries only the modules are written yet in this generation. */
void trc_tables_generation(struct trc_tables *t, uint32_t generation);

#endif
