/*
 * elf_loader.h - tells the dynamic loader from statically linked programs.
 *
 * Neither names an interpreter, but the loader is a shared object, with a name.  Started as a
 * program (ld.so PROGRAM) the loader runs another program, and preloads libraries.
 *
 * Context: any thread, signal handlers.
 */
#ifndef TRC_RECORDER_SHARED_ELF_LOADER_H
#define TRC_RECORDER_SHARED_ELF_LOADER_H

#include <elf.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/syscall.h>
#include "format/raw.h"

/* `dynamic` is the file's PT_DYNAMIC. */
static inline bool trc_elf_is_loader(int fd, const Elf64_Phdr *dynamic)
{
	Elf64_Dyn entry[32]; /* the name is one of the first */
	uint64_t wanted = dynamic->p_filesz < sizeof(entry) ? dynamic->p_filesz : sizeof(entry);
	long n = trc_raw4(SYS_pread64, fd, entry, wanted, dynamic->p_offset);

	for (long i = 0; n > 0 && i < n / (long)sizeof(*entry) && entry[i].d_tag != DT_NULL; i++)
		if (entry[i].d_tag == DT_SONAME)
			return true;
	return false;
}

#endif
