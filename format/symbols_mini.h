/*
 * symbols_mini.h - .gnu_debugdata of a stripped file: the symbol table of its functions, compressed by xz.
 * Fedora, RHEL and others leave it in each program ("MiniDebugInfo" in gdb's manual).
 */
#ifndef TRC_FORMAT_SYMBOLS_MINI_H
#define TRC_FORMAT_SYMBOLS_MINI_H

#include <gelf.h>

struct trc_symbols_mini {
	Elf *elf; /* NULL = the file has none that can be read */
	void *bytes;
};

void trc_symbols_mini_open(struct trc_symbols_mini *mini, Elf *elf);
void trc_symbols_mini_close(struct trc_symbols_mini *mini);

#endif
