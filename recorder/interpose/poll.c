/*
 * poll.c - waits for descriptors.  Context: traced thread, signal handlers.
 *
 * The object is the set that is waited for: the address of an array, or the epoll descriptor.  A
 * timeout behind a pointer is read only after the kernel has read the timeout.  After EINTR
 * select() leaves the remaining time in its timeout, and the sets are unchanged.  A call that found
 * nothing timed out: the event has ETIMEDOUT, the call itself returns no error.
 */
#include "restart.h"
#include "recorder/unwind/poison.h"

#define AGAIN_MS(mask)	 trc_restart_ms(&restart, mask, &timeout_ms)
#define AGAIN_TIME(mask) trc_restart_time(&restart, mask, &timeout)

/* For the event: what the call returned, as an errno. */
static int ended_by(int result)
{
	return result > 0 ? 0 : result ? errno : ETIMEDOUT;
}

#define POLL_AGAIN(name, object, may_wait, again, parameters, arguments)                           \
	TRC_EXPORT int name parameters                                                             \
	{                                                                                          \
		struct trc_restart restart;                                                        \
		int result;                                                                        \
                                                                                                   \
		trc_restart_begin(&restart, TRC_REASON_POLL, (uint64_t)(object), may_wait);        \
		do                                                                                 \
			result = REAL(name) arguments;                                             \
		while (TRC_UNLIKELY(result == -1) && (again));                                     \
		trc_restart_end(&restart, ended_by(result));                                       \
		return result;                                                                     \
	}

POLL_AGAIN(poll, (uintptr_t)fds, timeout_ms != 0, AGAIN_MS(NULL),
	   (struct pollfd * fds, nfds_t n_fds, int timeout_ms), (fds, n_fds, timeout_ms))
TRC_ALIAS(__poll, poll);
POLL_AGAIN(__poll_chk, (uintptr_t)fds, timeout_ms != 0, AGAIN_MS(NULL),
	   (struct pollfd * fds, nfds_t n_fds, int timeout_ms, size_t fds_bytes),
	   (fds, n_fds, timeout_ms, fds_bytes))
POLL_AGAIN(ppoll, (uintptr_t)fds, true, AGAIN_TIME(mask),
	   (struct pollfd * fds, nfds_t n_fds, const struct timespec *timeout,
	    const sigset_t *mask),
	   (fds, n_fds, timeout, mask))
POLL_AGAIN(__ppoll_chk, (uintptr_t)fds, true, AGAIN_TIME(mask),
	   (struct pollfd * fds, nfds_t n_fds, const struct timespec *timeout, const sigset_t *mask,
	    size_t fds_bytes),
	   (fds, n_fds, timeout, mask, fds_bytes))
POLL_AGAIN(select, (uintptr_t)reads, true, trc_restart(&restart, NULL),
	   (int n_fds, fd_set *reads, fd_set *writes, fd_set *excepts, struct timeval *timeout),
	   (n_fds, reads, writes, excepts, timeout))
TRC_ALIAS(__select, select);
POLL_AGAIN(pselect, (uintptr_t)reads, true, AGAIN_TIME(mask),
	   (int n_fds, fd_set *reads, fd_set *writes, fd_set *excepts,
	    const struct timespec *timeout, const sigset_t *mask),
	   (n_fds, reads, writes, excepts, timeout, mask))

/* ---- epoll: writers find who waits by what it watches (wakers.h, wakers:V7) -------------------- */

#define WAITS(name, may_wait, again, parameters, arguments)                                        \
	TRC_EXPORT int name parameters                                                             \
	{                                                                                          \
		struct trc_restart restart;                                                        \
		int result;                                                                        \
                                                                                                   \
		trc_restart_begin(&restart, TRC_REASON_EPOLL, (uint64_t)epoll, may_wait);          \
		if (restart.recorded)                                                              \
			trc_io_epoll(&restart.span.io, epoll, restart.span.wait.since);            \
		do                                                                                 \
			result = REAL(name) arguments;                                             \
		while (TRC_UNLIKELY(result == -1) && (again));                                     \
		if (restart.recorded)                                                              \
			trc_io_returned(&restart.span.io);                                         \
		trc_restart_end(&restart, ended_by(result));                                       \
		return result;                                                                     \
	}
WAITS(epoll_wait, timeout_ms != 0, AGAIN_MS(NULL),
      (int epoll, struct epoll_event *events, int n_events, int timeout_ms),
      (epoll, events, n_events, timeout_ms))
WAITS(epoll_pwait, timeout_ms != 0, AGAIN_MS(mask),
      (int epoll, struct epoll_event *events, int n_events, int timeout_ms, const sigset_t *mask),
      (epoll, events, n_events, timeout_ms, mask))
WAITS(epoll_pwait2, true, AGAIN_TIME(mask),
      (int epoll, struct epoll_event *events, int n_events, const struct timespec *timeout,
       const sigset_t *mask),
      (epoll, events, n_events, timeout, mask))

/* The event is read only after the kernel has read it. */
TRC_EXPORT int epoll_ctl(int epoll, int operation, int fd, struct epoll_event *event)
{
	int result;

	trc_io_watch(epoll, fd, NULL);
	result = REAL(epoll_ctl)(epoll, operation, fd, event);
	if (!result && operation != EPOLL_CTL_DEL && trc_recording())
		trc_io_watch(epoll, fd, event);
	return result;
}
