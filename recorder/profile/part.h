/*
 * part.h - parts of trc that are opened when they are first needed: libtrc-NAME.so, beside libtrc
 * in a build tree, in pkglib when installed.  Parts bring libraries that the program should not see
 * (RTLD_LOCAL), and stay for good.
 */
#ifndef TRC_RECORDER_PROFILE_PART_H
#define TRC_RECORDER_PROFILE_PART_H

#include <stddef.h>

/* The address of `symbol` in the part; NULL with a sentence in why.  Context: any thread that
 * records nothing meanwhile, may block; not with a lock held that constructors could want. */
const void *trc_part_open(const char *file, const char *symbol, char *why, size_t n_bytes);

#endif
