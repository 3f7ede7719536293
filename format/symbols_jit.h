/*
 * symbols_jit.h - names of code that the recorded program made itself, from /tmp/perf-PID.map.  JIT
 * compilers write this file for perf: a line "START SIZE NAME" for each function, START and SIZE in
 * hexadecimal (tools/perf/Documentation/jit-interface.txt of Linux).
 *
 *   symbols_jit:J1  the file is a regular one of this user's or root's, and not older than the
 *       recording; and the trace is of this machine, as its host's name says
 *   symbols_jit:J2  if an address has several names, the last in the file counts: code moves
 */
#ifndef TRC_FORMAT_SYMBOLS_JIT_H
#define TRC_FORMAT_SYMBOLS_JIT_H

#include "reader.h"

#define TRC_JIT_MAP "/tmp/perf-%llu.map" /* of the process's id */

struct trc_jit;

/* Reads the file of the traced process; NULL = there is none to be believed, or no memory. */
struct trc_jit *trc_jit_open(const struct trc_reader *r);
void trc_jit_close(struct trc_jit *jit); /* accepts NULL */
/* NULL = not known.  Valid until trc_jit_close(). */
const char *trc_jit_find(const struct trc_jit *jit, uint64_t address); /* jit may be NULL */

#endif
