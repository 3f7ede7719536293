/*
 * elf_loader.h - the loader of a program: whether it preloads libraries, and whose loader it is.
 *
 * Neither the dynamic loader nor a statically linked program names an interpreter, but the loader is
 * a shared object, with a name.  Started as a program (ld.so PROGRAM) the loader runs another
 * program, and preloads libraries.
 *
 * Context: any thread, signal handlers.
 */
#ifndef TRC_RECORDER_SHARED_ELF_LOADER_H
#define TRC_RECORDER_SHARED_ELF_LOADER_H

#include <elf.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
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

/* Is the program's loader glibc's, by its name?  Others end a program into which they cannot load
 * the recorder (musl).  `interp` is the file's PT_INTERP. */
static inline bool trc_elf_loader_is_ours(int fd, const Elf64_Phdr *interp)
{
	static const char names[][9] = {"ld-linux", "ld-lsb", "ld-2.", "ld.so"};
	char path[256] = "";
	uint64_t wanted = interp->p_filesz < sizeof(path) ? interp->p_filesz : sizeof(path) - 1;
	/* Of a long path the end, which has the name. */
	uint64_t off = interp->p_offset + (interp->p_filesz - wanted);
	const char *name;

	if (trc_raw4(SYS_pread64, fd, path, wanted, off) != (long)wanted)
		return true; /* exec will say */
	name = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (!strncmp(name, names[i], strlen(names[i])))
			return true;
	return false;
}

/* Of the machine that the recorder is built for. */
static inline bool trc_elf_machine_is_ours(unsigned int machine)
{
#if defined(__x86_64__)
	return machine == EM_X86_64;
#else
	return machine == EM_AARCH64;
#endif
}

#endif
