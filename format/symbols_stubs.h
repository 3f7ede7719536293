/*
 * symbols_stubs.h - what the stubs of a file's linkage tables (.plt, .plt.sec, .plt.got) jump to:
 * symbol tables have no names for them.
 *
 * A stub jumps through a slot that a dynamic relocation fills, and this one names a symbol.  Where
 * there are sections, code in others is not taken for a stub.
 *
 *   U1  nothing of the file is believed: what lies outside of it, or has another form than that
 *       of x86-64 and aarch64, leaves its stubs without names
 *   U2  relocations are listed when the first stub is asked for
 *   U3  an address costs the same however many were asked for: libelf keeps each piece of a file
 *       that it was asked for in a list, so that code and symbols are read without it
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

/* Borrows from the file: valid as long as that is open, until clear. */
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
/* The stub at this ELF address.  False: there is none, or nothing is known of it. */
bool trc_stubs_find(struct trc_stubs *stubs, uint64_t address, struct trc_stub_name *name);
void trc_stubs_clear(struct trc_stubs *stubs);

#endif
