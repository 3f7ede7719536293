/*
 * common.h - what the tests of the format share: traces in memory, and traces as text.
 */
#ifndef TRC_TESTS_FORMAT_COMMON_H
#define TRC_TESTS_FORMAT_COMMON_H

#include <check.h>
#include <stddef.h>
#include <stdint.h>
#include "format/reader.h"
#include "format/writer.h"
#include "tests/often.h"

/* Bytes that grow; a sink's context. */
struct bytes {
	uint8_t *at;
	size_t n, room;
	size_t calls;
	size_t fail_from; /* the sink fails from this call on; 0 = never */
};
int bytes_sink(void *context, const void *bytes, size_t n_bytes);
void bytes_add(struct bytes *b, const void *bytes, size_t n_bytes);
void bytes_free(struct bytes *b);

/* The text, assembled; fails the test if it cannot be. The caller's: free(bytes.at). */
struct bytes assembled(const char *text);

/*
 * Everything that a reader tells, a line each: events with names and resolved strings and
 * stacks, block after block.  NULL and error->text if a block cannot be loaded.  The
 * caller's: free() it.
 */
char *dump_events(const struct trc_reader *r, struct trc_error *error);
/* Tables, information, status. */
char *dump_tables(const struct trc_reader *r);

uint64_t random_next(void);
/* Of any length in bits. */
uint64_t random_wide(void);

/* A section around a payload, as the writer would make it. */
void section_add(struct bytes *b, uint16_t type, uint16_t flags, const void *payload,
		 size_t n_bytes, size_t checked_bytes);
/* Where the first section of this type begins; fails the test if there is none. */
size_t section_find(const struct bytes *b, uint16_t type);
/* Length of the whole section at `off`. */
size_t section_bytes(const struct bytes *b, size_t off);

Suite *suite_schema(void);
Suite *suite_codings(void);
Suite *suite_clock(void);
Suite *suite_path(void);
Suite *suite_row_index(void);
Suite *suite_symbols_rust(void);
Suite *suite_charges(void);
Suite *suite_locks(void);
Suite *suite_parks(void);
Suite *suite_roundtrip(void);
Suite *suite_writer(void);
Suite *suite_damage(void);
Suite *suite_density(void);
Suite *suite_lies(void);
Suite *suite_versions(void);
Suite *suite_example(void);

/* A text with every kind of section and a bit of everything; about 3 kB as a file. */
extern const char sample_trace[];

#endif
