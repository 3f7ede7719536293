/*
 * poll.c - waits for descriptors.  Context: traced thread, signal handlers.
 *
 * The object is the set that is waited for: the address of an array, or the epoll descriptor.
 * A timeout behind a pointer is read only after the kernel has read it.  After EINTR select()
 * leaves what is left in its timeout, and the sets are as they were.
 */
#include "recorder/interpose/restart.h"

#define AGAIN_MS(mask)	 trc_restart_ms(&restart, mask, &timeout_ms)
#define AGAIN_TIME(mask) trc_restart_time(&restart, mask, &timeout)

TRC_CALL_AGAIN(int, poll, POLL, (uintptr_t)fds, timeout_ms != 0, AGAIN_MS(NULL),
	       (struct pollfd * fds, nfds_t n_fds, int timeout_ms), (fds, n_fds, timeout_ms))
TRC_ALIAS(__poll, poll);
TRC_CALL_AGAIN(int, __poll_chk, POLL, (uintptr_t)fds, timeout_ms != 0, AGAIN_MS(NULL),
	       (struct pollfd * fds, nfds_t n_fds, int timeout_ms, size_t fds_bytes),
	       (fds, n_fds, timeout_ms, fds_bytes))
TRC_CALL_AGAIN(int, ppoll, POLL, (uintptr_t)fds, true, AGAIN_TIME(mask),
	       (struct pollfd * fds, nfds_t n_fds, const struct timespec *timeout,
		const sigset_t *mask),
	       (fds, n_fds, timeout, mask))
TRC_CALL_AGAIN(int, __ppoll_chk, POLL, (uintptr_t)fds, true, AGAIN_TIME(mask),
	       (struct pollfd * fds, nfds_t n_fds, const struct timespec *timeout,
		const sigset_t *mask, size_t fds_bytes),
	       (fds, n_fds, timeout, mask, fds_bytes))
TRC_CALL_AGAIN(int, select, POLL, (uintptr_t)reads, true, trc_restart(&restart, NULL),
	       (int n_fds, fd_set *reads, fd_set *writes, fd_set *excepts, struct timeval *timeout),
	       (n_fds, reads, writes, excepts, timeout))
TRC_ALIAS(__select, select);
TRC_CALL_AGAIN(int, pselect, POLL, (uintptr_t)reads, true, AGAIN_TIME(mask),
	       (int n_fds, fd_set *reads, fd_set *writes, fd_set *excepts,
		const struct timespec *timeout, const sigset_t *mask),
	       (n_fds, reads, writes, excepts, timeout, mask))
TRC_CALL_AGAIN(int, epoll_wait, EPOLL, epoll, timeout_ms != 0, AGAIN_MS(NULL),
	       (int epoll, struct epoll_event *events, int n_events, int timeout_ms),
	       (epoll, events, n_events, timeout_ms))
TRC_CALL_AGAIN(int, epoll_pwait, EPOLL, epoll, timeout_ms != 0, AGAIN_MS(mask),
	       (int epoll, struct epoll_event *events, int n_events, int timeout_ms,
		const sigset_t *mask),
	       (epoll, events, n_events, timeout_ms, mask))
TRC_CALL_AGAIN(int, epoll_pwait2, EPOLL, epoll, true, AGAIN_TIME(mask),
	       (int epoll, struct epoll_event *events, int n_events, const struct timespec *timeout,
		const sigset_t *mask),
	       (epoll, events, n_events, timeout, mask))
