/*
 * offproc.c - was the calling thread taken off its proc?  See offproc.h.
 */
#include <sys/syscall.h>
#include <time.h>
#include "format/raw.h"
#include "offproc.h"
#include "recorder/unwind/poison.h"

bool trc_mark_tells;

RSEQ_MARK_DEFINE;

/* A signal, or being preempted just before the sleep, can feign one answer, but not all. */
enum { SLEEPS = 4, TRIES_MAX = 20 };

/* Sleeps on one proc until enough sleeps have removed the mark, or one has left it. */
static bool sleep_removes_mark(void)
{
	const struct timespec shortest = {0, 1};

	for (int i = 0, removed = 0; i < TRIES_MAX; i++) {
		int proc = rseq_current_proc();

		rseq_mark();
		trc_raw2(SYS_nanosleep, &shortest, NULL);
		if (rseq_mark_stayed())
			return false;
		/* Every kernel removes it when the thread comes back on another proc. */
		if (rseq_current_proc() == proc && ++removed == SLEEPS)
			return true;
	}
	return false;
}

void trc_mark_setup(void)
{
	static enum { UNKNOWN, TELLS, TELLS_NOT } kernel;

	if (trc_rseq_usable && kernel == UNKNOWN)
		kernel = sleep_removes_mark() ? TELLS : TELLS_NOT;
	trc_mark_tells = trc_rseq_usable && kernel == TELLS;
}
