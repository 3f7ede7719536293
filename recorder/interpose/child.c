/*
 * child.c - waits for child processes.  The object is the pid waited for, as the caller gave it.
 * Context: traced thread, signal handlers.
 */
#include <sys/resource.h>
#include "span.h"
#include "recorder/unwind/poison.h"

TRC_CALL(pid_t, wait, CHILD, -1, true, (int *status), (status))
TRC_ALIAS(__wait, wait);
TRC_CALL(pid_t, waitpid, CHILD, pid, !(options & WNOHANG), (pid_t pid, int *status, int options),
	 (pid, status, options))
TRC_ALIAS(__waitpid, waitpid);
TRC_CALL(pid_t, wait3, CHILD, -1, !(options & WNOHANG),
	 (int *status, int options, struct rusage *usage), (status, options, usage))
TRC_CALL(pid_t, wait4, CHILD, pid, !(options & WNOHANG),
	 (pid_t pid, int *status, int options, struct rusage *usage), (pid, status, options, usage))

/* Only libc knows which child. */
TRC_CALL(int, system, CHILD, -1, true, (const char *command), (command))

/* The same for waitid(); a pidfd, whose pid only the kernel knows, is told apart by bit 32. */
static int64_t waitid_object(idtype_t type, id_t id)
{
	enum { PIDFD = 3 }; /* P_PIDFD, which glibc 2.35 does not name */

	if (type == P_ALL)
		return -1;
	if (type == P_PGID)
		return -(int64_t)id;
	return (int)type == PIDFD ? INT64_C(1) << 32 | id : id;
}

TRC_CALL(int, waitid, CHILD, waitid_object(type, id), !(options & WNOHANG),
	 (idtype_t type, id_t id, siginfo_t *info, int options), (type, id, info, options))
