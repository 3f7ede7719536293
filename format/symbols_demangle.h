/*
 * symbols_demangle.h - linker names of C++ and Rust made readable.
 *
 * trc is C and does not link a C++ runtime: the demangler of C++ names, and of Rust's older ones, is
 * borrowed from the libstdc++ or libc++abi of this machine if there is one.
 */
#ifndef TRC_FORMAT_SYMBOLS_DEMANGLE_H
#define TRC_FORMAT_SYMBOLS_DEMANGLE_H

struct trc_demangler;

struct trc_demangler *trc_demangler_open(void); /* NULL = none on this machine */
void trc_demangler_close(struct trc_demangler *demangler);
/* A readable name without parameters and return type; the caller must free() the name. NULL =
 * `linkage` is not mangled, or there is no demangler for it. */
char *trc_demangle(struct trc_demangler *demangler, const char *linkage);

#endif
