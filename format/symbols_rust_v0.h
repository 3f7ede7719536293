/*
 * symbols_rust_v0.h - names of Rust's newer mangling, "_R...", as its RFC 2603 has them.
 *
 * Names are told as Rust writes them, without the crates' hashes and the types of constants; of a function of a type
 * the type stands without brackets, as in the older mangling: "m::Table<u32>::find".
 */
#ifndef TRC_FORMAT_SYMBOLS_RUST_V0_H
#define TRC_FORMAT_SYMBOLS_RUST_V0_H

/* A name that is longer than this stays as it is: a few bytes can stand for any length. */
enum { TRC_RUST_NAME_BYTES = 4096 };

/* The readable name, which the caller must free().  NULL = `linkage` is no such name, or there is no memory. */
char *trc_rust_v0_name(const char *linkage);

#endif
