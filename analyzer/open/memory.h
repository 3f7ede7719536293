/*
 * memory.h - how much memory an answer may take.
 *
 * A trace from somewhere else may ask for more memory than there is.  The kernel is asked to refuse
 * memory beyond a bound (RLIMIT_DATA: what the process may write).  Then each allocation beyond it, also in
 * libraries, fails as on a machine without memory: an error is printed and the program ends.  Mapped
 * files do not count.
 */
#ifndef TRC_ANALYZER_OPEN_MEMORY_H
#define TRC_ANALYZER_OPEN_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* "512M", "2G", "65536": K, M and G are powers of 1024.  0: it is no such size. */
uint64_t trc_memory_parse(const char *text);
/* Sets the bound; 0 = three quarters of what the machine has free and the control groups allow.
 * A lower limit that the process has already stays. */
void trc_memory_bound(uint64_t bytes);
/* For a program that is started meanwhile, and is not to inherit the bound: true lifts it, false sets it again. */
void trc_memory_lift(bool lifted);
/* For the end of a line that says "out of memory": which limit was met; "" = none is known. */
void trc_memory_hint(char *text, size_t text_bytes);

#endif
