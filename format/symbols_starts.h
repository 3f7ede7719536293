/*
 * symbols_starts.h - where functions begin, by the index of a file's unwind tables: works for
 * stripped code, too.
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

/* Borrows from the file: valid as long as the file is open. */
struct trc_starts {
	const uint8_t *pair; /* [n] of 8 bytes; NULL = none */
	size_t n;
	uint64_t base; /* ELF address that they are relative to */
};

/* Finds the table of this file; a file without a table is no error. */
void trc_starts_find_table(struct trc_starts *starts, Elf *elf);
/* Where the function around this ELF address begins: the last beginning of a function at or before
 * the address.  False: there is none. */
bool trc_starts_find(const struct trc_starts *starts, uint64_t address, uint64_t *start);

#endif
