/* pid_namespace.c - see pid_namespace.h.  Context of all: any thread, also of a forked child. */
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "format/raw.h"
#include "pid_namespace.h"

/* linux/pidfd.h has it since Linux 6.11. */
#define PID_GET_NAMESPACE _IO(0xff, 5)

/* Without a /proc of this namespace: the kernel itself tells. */
static uint64_t ask_kernel(void)
{
	int pidfd = (int)trc_raw2(SYS_pidfd_open, trc_raw1(SYS_getpid, 0), 0);
	int fd = pidfd < 0 ? -1 : (int)trc_raw3(SYS_ioctl, pidfd, PID_GET_NAMESPACE, 0);
	struct stat st;
	uint64_t inode = fd < 0 || fstat(fd, &st) ? 0 : st.st_ino;

	if (fd >= 0)
		trc_raw1(SYS_close, fd);
	if (pidfd >= 0)
		trc_raw1(SYS_close, pidfd);
	return inode;
}

uint64_t trc_pid_namespace(void)
{
	struct stat st;

	return stat("/proc/self/ns/pid", &st) ? ask_kernel() : st.st_ino;
}

void trc_pid_namespace_text(char text[TRC_PID_NAME_BYTES])
{
	uint64_t number = trc_pid_namespace();

	if (!number && trc_raw3(SYS_getrandom, &number, sizeof(number), 0) != sizeof(number))
		number = 0;
	snprintf(text, TRC_PID_NAME_BYTES, "-%llu", (unsigned long long)number);
}

void trc_pid_name(char text[TRC_PID_NAME_BYTES], uint64_t reader)
{
	char namespace[TRC_PID_NAME_BYTES] = "";

	if (reader && trc_pid_namespace() != reader)
		trc_pid_namespace_text(namespace);
	snprintf(text, TRC_PID_NAME_BYTES, "%u%.28s", (unsigned int)trc_raw1(SYS_getpid, 0),
		 namespace);
}
