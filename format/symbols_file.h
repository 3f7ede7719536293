/*
 * symbols_file.h - the ELF files that explain one module: itself, its debug file, dwz's.
 *
 *   symbols_file:F1  every file used has the module's build id; without build ids a debug file
 *       has the checksum that .gnu_debuglink asks for
 *   symbols_file:F2  only regular files are opened.  The network comes last, and only for callers
 *       that may fetch files (symbols_fetch.h)
 *   symbols_file:F3  the vDSO is no file: the vDSO of this process is read, if it is the same (F1)
 */
#ifndef TRC_FORMAT_SYMBOLS_FILE_H
#define TRC_FORMAT_SYMBOLS_FILE_H

#include <elfutils/libdw.h>
#include <gelf.h>
#include <stdbool.h>
#include "symbols_fetch.h"
#include "symbols_mini.h"
#include "writer.h" /* struct trc_module_entry */

struct trc_elf_file {
	int fd; /* -1 = not open */
	Elf *elf;
	bool mapped; /* to be, when it is opened */
};

struct trc_symbols_file {
	struct trc_elf_file main, debug, alt;
	struct trc_symbols_mini mini; /* of main, if it is stripped and there is no debug file */
	Dwarf *dwarf;		      /* of debug, or of main; NULL = none found */
	Dwarf *alt_dwarf;	      /* what dwarf refers to, if dwz moved parts of it */
	const char *trouble;	      /* NULL, or why there is nothing, or less; static text */
	void *vdso;		      /* a copy that main reads; NULL = main is a file */
};

/* Finds and opens the ELF files of this module; `mapped`, or else to be read (symbols.h).  Files
 * that are not on this machine are asked of `fetch`, unless `fetch` is NULL.  Always leaves *file
 * fit for trc_symbols_file_close(); files that were not found are NULL. */
void trc_symbols_file_open(struct trc_symbols_file *file, const struct trc_module_entry *module,
			   bool mapped, struct trc_symbols_fetch *fetch);
void trc_symbols_file_close(struct trc_symbols_file *file);
/* The section of data that an ELF address lies in, ".bss", and the offset in it; NULL = in none that is known. */
const char *trc_symbols_file_section(const struct trc_symbols_file *file, uint64_t address,
				     uint64_t *offset);
/* Whether a module of this name is code that the kernel gives each process. */
bool trc_symbols_is_vdso(const char *path);

#endif
