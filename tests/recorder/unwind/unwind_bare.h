/*
 * unwind_bare.h - functions compiled without unwind tables, which note where they return to.
 */
#ifndef TESTS_RECORDER_UNWIND_BARE_H
#define TESTS_RECORDER_UNWIND_BARE_H

#include <stdint.h>

/* The true stack: return addresses, outermost first. */
extern uint64_t truth[16];
extern uint32_t truths;

/* Three functions deep, then `call`; each notes its return address first.  With and without
 * frame pointers. */
void bare_with_fp(void (*call)(void));
void bare_without_fp(void (*call)(void));

#endif
