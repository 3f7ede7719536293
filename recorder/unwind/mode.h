/*
 * mode.h - how stacks are captured now: the choice of setup.c, for unwind.c.
 */
#ifndef TRC_RECORDER_UNWIND_MODE_H
#define TRC_RECORDER_UNWIND_MODE_H

#include <stdatomic.h>
#include <stdint.h>

typedef int trc_backtrace_fn(void **frame, int max);

struct trc_unwind_how {
	_Atomic uint32_t mode; /* enum trc_unwind_mode; stored (release) last */
	/* libunwind's; not NULL once the mode is libunwind */
	trc_backtrace_fn *_Atomic backtrace;
};
extern struct trc_unwind_how trc_unwind_how;

#endif
