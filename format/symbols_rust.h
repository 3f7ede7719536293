/*
 * symbols_rust.h - names of Rust's older mangling, which is C++'s with escapes and a hash.
 */
#ifndef TRC_FORMAT_SYMBOLS_RUST_H
#define TRC_FORMAT_SYMBOLS_RUST_H

#include <stdbool.h>

/* "m::main::_$u7b$$u7b$closure$u7d$$u7d$::h0123456789abcdef", as a C++ demangler leaves it, becomes
 * "m::main::{{closure}}".  If the name does not end in such a hash, returns false and changes
 * nothing. */
bool trc_rust_name(char *name);

#endif
