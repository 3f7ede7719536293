/*
 * socket.c - waits for peers.  Context: traced thread, signal handlers.
 */
#include "recorder/interpose/restart.h"

/* Those with a time limit of the socket's are never restarted by the kernel. */
#define RECEIVE_AGAIN trc_restart_socket(&restart, fd, SO_RCVTIMEO, EAGAIN)
#define SEND_AGAIN    trc_restart_socket(&restart, fd, SO_SNDTIMEO, EAGAIN)
#define RECEIVES(type, name, parameters, arguments)                                                \
	TRC_IO_CALL_AGAIN(type, name, RECV, fd, !(flags & MSG_DONTWAIT), RECEIVE_AGAIN,            \
			  parameters, arguments)
#define SENDS(type, name, parameters, arguments)                                                   \
	TRC_IO_CALL_AGAIN(type, name, SEND, fd, !(flags & MSG_DONTWAIT), SEND_AGAIN, parameters,   \
			  arguments)

RECEIVES(ssize_t, recv, (int fd, void *buf, size_t n, int flags), (fd, buf, n, flags))
RECEIVES(ssize_t, __recv_chk, (int fd, void *buf, size_t n, size_t buf_bytes, int flags),
	 (fd, buf, n, buf_bytes, flags))
RECEIVES(ssize_t, recvfrom,
	 (int fd, void *buf, size_t n, int flags, __SOCKADDR_ARG from, socklen_t *from_bytes),
	 (fd, buf, n, flags, from, from_bytes))
RECEIVES(ssize_t, __recvfrom_chk,
	 (int fd, void *buf, size_t n, size_t buf_bytes, int flags, __SOCKADDR_ARG from,
	  socklen_t *from_bytes),
	 (fd, buf, n, buf_bytes, flags, from, from_bytes))
RECEIVES(ssize_t, recvmsg, (int fd, struct msghdr *message, int flags), (fd, message, flags))
RECEIVES(int, recvmmsg,
	 (int fd, struct mmsghdr *messages, unsigned int n, int flags, struct timespec *timeout),
	 (fd, messages, n, flags, timeout))

SENDS(ssize_t, send, (int fd, const void *buf, size_t n, int flags), (fd, buf, n, flags))
TRC_ALIAS(__send, send);
SENDS(ssize_t, sendto,
      (int fd, const void *buf, size_t n, int flags, __CONST_SOCKADDR_ARG to, socklen_t to_bytes),
      (fd, buf, n, flags, to, to_bytes))
SENDS(ssize_t, sendmsg, (int fd, const struct msghdr *message, int flags), (fd, message, flags))
SENDS(int, sendmmsg, (int fd, struct mmsghdr *messages, unsigned int n, int flags),
      (fd, messages, n, flags))
TRC_IO_CALL_AGAIN(ssize_t, sendfile, SEND, fd, true, SEND_AGAIN,
		  (int fd, int from, off_t *off, size_t n), (fd, from, off, n))
TRC_IO_CALL_AGAIN(ssize_t, sendfile64, SEND, fd, true, SEND_AGAIN,
		  (int fd, int from, off64_t *off, size_t n), (fd, from, off, n))

TRC_IO_CALL_AGAIN(int, accept, ACCEPT, fd, true, RECEIVE_AGAIN,
		  (int fd, __SOCKADDR_ARG peer, socklen_t *peer_bytes), (fd, peer, peer_bytes))
TRC_IO_CALL_AGAIN(int, accept4, ACCEPT, fd, true, RECEIVE_AGAIN,
		  (int fd, __SOCKADDR_ARG peer, socklen_t *peer_bytes, int flags),
		  (fd, peer, peer_bytes, flags))

/* The connection goes on meanwhile; asked again, the kernel waits for it.  Out of time, it says
 * EINPROGRESS the first time and EALREADY then. */
TRC_EXPORT int connect(int fd, __CONST_SOCKADDR_ARG peer, socklen_t peer_bytes)
{
	struct trc_restart restart;
	bool again = false;
	int result;

	trc_restart_begin(&restart, TRC_REASON_CONNECT, (uint64_t)fd, true);
	while ((result = REAL(connect)(fd, peer, peer_bytes)) == -1 &&
	       trc_restart_socket(&restart, fd, SO_SNDTIMEO, EINPROGRESS))
		again = true;
	if (result == -1 && again && errno == EALREADY)
		errno = EINPROGRESS;
	trc_restart_end(&restart, result == -1 ? errno : 0);
	return result;
}
TRC_ALIAS(__connect, connect);
