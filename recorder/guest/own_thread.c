/* own_thread.c - see own_thread.h */
#include <errno.h>
#include <linux/close_range.h>
#include <sched.h>
#include <sys/prctl.h>
#include "recorder/ring/hot.h"
#include "own_thread.h"
#include "recorder/sampling/sample.h"
#include "format/raw.h"

enum { OLD_DESCRIPTORS_MAX = 65536 }; /* before Linux 5.9 */

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
