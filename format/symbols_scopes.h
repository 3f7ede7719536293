/*
 * symbols_scopes.h - names of C++ functions that have no linkage name: lambdas, members of local
 * classes, and inlined copies of both.
 */
#ifndef TRC_FORMAT_SYMBOLS_SCOPES_H
#define TRC_FORMAT_SYMBOLS_SCOPES_H

#include <elfutils/libdw.h>

struct trc_scopes;

/* Goes from an inlined or concrete instance of a function to the function's declaration. */
void trc_scopes_declaration(Dwarf_Die *die);

struct trc_scopes *trc_scopes_open(void);    /* NULL = no memory */
void trc_scopes_close(struct trc_scopes *s); /* accepts NULL */
/*
 * The name of this function with all its scopes, as a demangler would write it:
 * "main::{lambda(int)#2}::operator()".  NULL = the function is not C++ or has no scope, or there is
 * no memory.  Valid until trc_scopes_close().
 */
const char *trc_scopes_name(struct trc_scopes *s, Dwarf_Die *function);

#endif
