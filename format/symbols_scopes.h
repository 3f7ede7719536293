/*
 * symbols_scopes.h - names of C++ functions that have no linker's name: lambdas, members of local
 * classes, and what is inlined of them.
 */
#ifndef TRC_FORMAT_SYMBOLS_SCOPES_H
#define TRC_FORMAT_SYMBOLS_SCOPES_H

#include <elfutils/libdw.h>

struct trc_scopes;

/* From an inlined or a concrete instance to where the function was declared. */
void trc_scopes_declaration(Dwarf_Die *die);

struct trc_scopes *trc_scopes_open(void);    /* NULL = no memory */
void trc_scopes_close(struct trc_scopes *s); /* accepts NULL */
/*
 * The name of this function with all that it lies in, as a demangler would have it:
 * "main::{lambda(int)#2}::operator()".  NULL = it is not C++, lies in nothing, or there is no memory.
 * Valid until trc_scopes_close().
 */
const char *trc_scopes_name(struct trc_scopes *s, Dwarf_Die *function);

#endif
