/*
 * symbols_stubs.h - the functions that stubs of a file's linkage tables (.plt, .plt.sec, .plt.got)
 * jump to: symbol tables have no names for stubs.
 *
 * A stub jumps through a slot.  A dynamic relocation fills the slot and names a symbol.  If the
 * file has sections, only code in sections of linkage tables is taken for a stub.
 *
 *   U1  nothing in the file is believed: stubs that refer to places outside of the file, or that
 *       are not in a form of x86-64 or aarch64, have no names
 *   U2  relocations are listed when the first stub is asked for
 *   U3  the cost of an address does not grow with the number of addresses asked for. libelf would
 *       keep each piece of a file that it reads in a list, so code and symbols are read without
 *       libelf
 */
#ifndef TRC_FORMAT_SYMBOLS_STUBS_H
#define TRC_FORMAT_SYMBOLS_STUBS_H

#include <gelf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { TRC_STUB_SEGMENTS_MAX = 64, TRC_STUB_SECTIONS_MAX = 8 };

/* Where a relocation stores the address of a function. */
struct trc_stub_slot {
	uint64_t address;
	uint64_t resolver; /* of an indirect function; 0 = it has a symbol */
	uint32_t symbol;   /* index in the dynamic symbol table */
};

/* Borrows from the file: valid as long as the file is open, until clear. */
struct trc_stubs {
	Elf *elf; /* NULL = none that is known */
	int fd;	  /* its file */
	uint16_t machine;
	bool has_sections;
	GElf_Phdr segment[TRC_STUB_SEGMENTS_MAX]; /* [n_segments] that are loaded */
	size_t n_segments;
	struct trc_stub_section {
		uint64_t start, limit;
	} section[TRC_STUB_SECTIONS_MAX]; /* of stubs */
	size_t n_sections;
	bool listed;		    /* the slots are (U2) */
	struct trc_stub_slot *slot; /* [n_slots] by address; owned */
	size_t n_slots;
	Elf_Data *lazy;	   /* relocations that stubs refer to by number, or NULL */
	Elf_Data *strings; /* of dynamic symbols, or NULL */
	uint64_t symbols;  /* ELF address of their table */
};

struct trc_stub_name {
	uint64_t start;
	const char *symbol; /* what it jumps to; NULL = `resolver` says */
	uint64_t resolver;
	bool header; /* what stubs jump to when their function is not known yet */
};

/* Finds where this file, which is open as `fd` too, has stubs; none is no error. */
void trc_stubs_open(struct trc_stubs *stubs, Elf *elf, int fd);
/* The stub at this ELF address.  False: there is no stub, or its symbol is not known. */
bool trc_stubs_find(struct trc_stubs *stubs, uint64_t address, struct trc_stub_name *name);
void trc_stubs_clear(struct trc_stubs *stubs);

#endif
