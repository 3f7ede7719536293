/* own_thread_create.c - see own_thread.h; a file of its own, as trace-record's own threads use it,
 * too. */
#include <errno.h>
#include <signal.h>
#include "format/raw.h"
#include "own_thread.h"
#include "recorder/shared/signals.h"

enum { STACK_BYTES = 256 << 10 };

/* But for libc's own two: setuid() and its like wait until every thread took SIGSETXID. */
#define ALL_SIGNALS (~(UINT64_C(3) << (32 - 1)))

int trc_own_thread_create(pthread_t *thread, void *(*run)(void *), void *arg)
{
	uint64_t all = ALL_SIGNALS, before;
	pthread_attr_t attr;
	int err;

	if (trc_sandbox_forbids_threads && trc_sandbox_forbids_threads())
		return -EPERM;
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK_BYTES);
	/* Directly: what the program blocks may be hidden from the kernel (interpose/signal_mask.c). */
	trc_raw4(SYS_rt_sigprocmask, SIG_SETMASK, &all, &before, sizeof(before));
	err = pthread_create(thread, &attr, run, arg);
	trc_raw4(SYS_rt_sigprocmask, SIG_SETMASK, &before, 0, sizeof(before));
	pthread_attr_destroy(&attr);
	return -err;
}
