/*
 * socket.c - waits for peers.  Context: traced thread, signal handlers.
 */
#include "restart.h"
#include "recorder/unwind/poison.h"

/* Those with a time limit of the socket's are never restarted by the kernel. */
#define RECEIVE_AGAIN trc_restart_socket(&restart, fd, SO_RCVTIMEO, EAGAIN)
#define SEND_AGAIN    trc_restart_socket(&restart, fd, SO_SNDTIMEO, EAGAIN)
/* `one` as for TRC_IO_CALL_AGAIN.  What is only looked at makes no room. */
#define RECEIVES(type, name, one, parameters, arguments)                                           \
	TRC_IO_CALL_AGAIN(type, name, RECV, fd, !(flags & MSG_DONTWAIT), RECEIVE_AGAIN, one,       \
			  !(flags & MSG_PEEK), parameters, arguments)
/* What has an address of its own goes elsewhere. */
#define SENDS(type, name, elsewhere, parameters, arguments)                                        \
	TRC_IO_CALL_AGAIN(type, name, SEND, fd, !(flags & MSG_DONTWAIT), SEND_AGAIN, true,         \
			  !(elsewhere), parameters, arguments)
#define ALL_AT_ONCE (!(flags & MSG_WAITALL))

/* After it was sent: the kernel has read it. */
static bool is_addressed(const struct msghdr *message)
{
	return message->msg_name && message->msg_namelen;
}

static bool is_any_addressed(const struct mmsghdr *messages, int n)
{
	for (int i = 0; i < n; i++)
		if (is_addressed(&messages[i].msg_hdr))
			return true;
	return false;
}

RECEIVES(ssize_t, recv, ALL_AT_ONCE, (int fd, void *buf, size_t n, int flags), (fd, buf, n, flags))
RECEIVES(ssize_t, __recv_chk, ALL_AT_ONCE,
	 (int fd, void *buf, size_t n, size_t buf_bytes, int flags), (fd, buf, n, buf_bytes, flags))
RECEIVES(ssize_t, recvfrom, ALL_AT_ONCE,
	 (int fd, void *buf, size_t n, int flags, __SOCKADDR_ARG from, socklen_t *from_bytes),
	 (fd, buf, n, flags, from, from_bytes))
RECEIVES(ssize_t, __recvfrom_chk, ALL_AT_ONCE,
	 (int fd, void *buf, size_t n, size_t buf_bytes, int flags, __SOCKADDR_ARG from,
	  socklen_t *from_bytes),
	 (fd, buf, n, buf_bytes, flags, from, from_bytes))
RECEIVES(ssize_t, recvmsg, ALL_AT_ONCE, (int fd, struct msghdr *message, int flags),
	 (fd, message, flags))
RECEIVES(int, recvmmsg, n == 1 || (flags & MSG_WAITFORONE),
	 (int fd, struct mmsghdr *messages, unsigned int n, int flags, struct timespec *timeout),
	 (fd, messages, n, flags, timeout))

SENDS(ssize_t, send, false, (int fd, const void *buf, size_t n, int flags), (fd, buf, n, flags))
TRC_ALIAS(__send, send);
SENDS(ssize_t, sendto, to_bytes,
      (int fd, const void *buf, size_t n, int flags, __CONST_SOCKADDR_ARG to, socklen_t to_bytes),
      (fd, buf, n, flags, to, to_bytes))
SENDS(ssize_t, sendmsg, is_addressed(message), (int fd, const struct msghdr *message, int flags),
      (fd, message, flags))
SENDS(int, sendmmsg, is_any_addressed(messages, result),
      (int fd, struct mmsghdr *messages, unsigned int n, int flags), (fd, messages, n, flags))
TRC_IO_CALL_AGAIN(ssize_t, sendfile, SEND, fd, true, SEND_AGAIN, true, true,
		  (int fd, int from, off_t *off, size_t n), (fd, from, off, n))
TRC_IO_CALL_AGAIN(ssize_t, sendfile64, SEND, fd, true, SEND_AGAIN, true, true,
		  (int fd, int from, off64_t *off, size_t n), (fd, from, off, n))

TRC_IO_CALL_AGAIN(int, accept, ACCEPT, fd, true, RECEIVE_AGAIN, true, false,
		  (int fd, __SOCKADDR_ARG peer, socklen_t *peer_bytes), (fd, peer, peer_bytes))
TRC_IO_CALL_AGAIN(int, accept4, ACCEPT, fd, true, RECEIVE_AGAIN, true, false,
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
	trc_io_forget(fd); /* it may have another end from now on */
	return result;
}
TRC_ALIAS(__connect, connect);

TRC_EXPORT int socketpair(int domain, int type, int protocol, int fd[2])
{
	int result = REAL(socketpair)(domain, type, protocol, fd);

	if (!result && trc_recording())
		trc_io_pair(fd);
	return result;
}
