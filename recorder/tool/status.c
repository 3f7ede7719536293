/* status.c - how a process ended that is not our child. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include "session.h"

/* linux/pidfd.h has these since Linux 6.15. */
struct pid_info {
	uint64_t mask, cgroup;
	uint32_t pid, tgid, ppid, id[8];
	int32_t exit_code;
};
#define PID_GET_INFO  _IOWR(0xff, 11, struct pid_info)
#define PID_INFO_EXIT UINT64_C(8)

/* Its parent has waited for it: what the kernel keeps with the descriptor. */
static bool status_kept(int pidfd, int *status)
{
	struct pid_info info = {.mask = PID_INFO_EXIT};

	if (pidfd < 0 || ioctl(pidfd, PID_GET_INFO, &info) || !(info.mask & PID_INFO_EXIT))
		return false;
	*status = info.exit_code;
	return true;
}

/* Its parent has not: the last field of /proc/PID/stat. */
static bool status_of_zombie(int pid, int *status)
{
	char path[32], text[1024];
	const char *state, *last;
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	n = read(fd, text, sizeof(text) - 1);
	close(fd);
	text[n > 0 ? n : 0] = '\0';
	state = strrchr(text, ')'); /* its name may hold anything */
	last = strrchr(text, ' ');
	if (!state || strncmp(state, ") Z ", 4) != 0 || !last)
		return false;
	*status = atoi(last);
	return true;
}

bool trc_process_status(const struct trc_process *p, int *status)
{
	/* It may be waited for between the first look and the second. */
	return status_kept(p->pidfd, status) || status_of_zombie(p->pid, status) ||
	       status_kept(p->pidfd, status);
}
