/*
 * symbols_starts.h - where functions begin, by the index of a file's unwind tables: of code that
 * has lost its names, too.
 *
 * .eh_frame_hdr as in the Linux Standard Base, Core 5.0, 10.6.2: a table of pairs, sorted by
 * function, in the encodings that linkers write (others are passed over).
 */
#ifndef TRC_FORMAT_SYMBOLS_STARTS_H
#define TRC_FORMAT_SYMBOLS_STARTS_H

#include <libelf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Borrows from the file: valid as long as that is open. */
struct trc_starts {
	const uint8_t *pair; /* [n] of 8 bytes; NULL = none */
	size_t n;
	uint64_t base; /* ELF address that they are relative to */
};

/* What there is in this file; none is no error. */
void trc_starts_find_table(struct trc_starts *starts, Elf *elf);
/* The ELF address at which the function begins that has code at this one: the last one that does
 * not begin behind it.  False: there is none. */
bool trc_starts_find(const struct trc_starts *starts, uint64_t address, uint64_t *start);

#endif
