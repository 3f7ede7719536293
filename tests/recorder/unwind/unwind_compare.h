/*
 * unwind_compare.h - one stack by three unwinders: ours, libunwind's and the C library's.
 */
#ifndef TESTS_RECORDER_UNWIND_COMPARE_H
#define TESTS_RECORDER_UNWIND_COMPARE_H

#include <stdbool.h>
#include <stdint.h>

/* How many comparisons were made and how many found a difference (each told on stderr). */
extern uint32_t compare_made, compare_failed;

/*
 * Captures the caller's stack three ways; they must agree frame by frame from the caller's own
 * frame on.  `min_frames` is the least that must be found.  Returns the number of frames.
 */
uint32_t compare_here(const char *what, uint32_t min_frames);

/* From a signal handler: the interrupted stack against libunwind's unw_step(). */
bool compare_context(const char *what, void *ucontext);

#endif
