/* own_thread.c - see own_thread.h */
#include <errno.h>
#include <linux/close_range.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include "hot.h"
#include "own_thread.h"
#include "sample.h"
#include "format/raw.h"

enum {
	STACK_BYTES = 256 << 10,
	OLD_DESCRIPTORS_MAX = 65536, /* before Linux 5.9 */
};

/* From here on this thread's descriptors are its own, and none is open. */
static int leave_descriptors(void)
{
	long err = trc_raw3(SYS_close_range, 0, ~0U, CLOSE_RANGE_UNSHARE);

	if (err != -ENOSYS && err != -EINVAL)
		return (int)err;
	err = trc_raw1(SYS_unshare, CLONE_FILES);
	for (int fd = 0; !err && fd < OLD_DESCRIPTORS_MAX; fd++)
		trc_raw1(SYS_close, fd);
	return (int)err;
}

void trc_own_thread_begin_here(const char *name)
{
	trc_self.quiet++;
	prctl(PR_SET_NAME, name);
	trc_sample_own_thread(true);
}

int trc_own_thread_begin(const char *name)
{
	trc_own_thread_begin_here(name);
	return leave_descriptors();
}

void trc_own_thread_end(void)
{
	trc_sample_own_thread(false);
}

int trc_own_thread_create(pthread_t *thread, void *(*run)(void *), void *arg)
{
	sigset_t all, before;
	pthread_attr_t attr;
	int err;

	sigfillset(&all);
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK_BYTES);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	err = pthread_create(thread, &attr, run, arg);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attr);
	return -err;
}
