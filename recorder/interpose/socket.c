/*
 * socket.c - waits for peers.  Context: traced thread, signal handlers.
 */
#include "recorder/interpose/span.h"

#define RECEIVES(type, name, parameters, arguments)                                                \
	TRC_CALL(type, name, RECV, fd, !(flags & MSG_DONTWAIT), parameters, arguments)
#define SENDS(type, name, parameters, arguments)                                                   \
	TRC_CALL(type, name, SEND, fd, !(flags & MSG_DONTWAIT), parameters, arguments)

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
TRC_CALL(ssize_t, sendfile, SEND, fd, true, (int fd, int from, off_t *off, size_t n),
	 (fd, from, off, n))
TRC_CALL(ssize_t, sendfile64, SEND, fd, true, (int fd, int from, off64_t *off, size_t n),
	 (fd, from, off, n))

TRC_CALL(int, accept, ACCEPT, fd, true, (int fd, __SOCKADDR_ARG peer, socklen_t *peer_bytes),
	 (fd, peer, peer_bytes))
TRC_CALL(int, accept4, ACCEPT, fd, true,
	 (int fd, __SOCKADDR_ARG peer, socklen_t *peer_bytes, int flags),
	 (fd, peer, peer_bytes, flags))
TRC_CALL(int, connect, CONNECT, fd, true, (int fd, __CONST_SOCKADDR_ARG peer, socklen_t peer_bytes),
	 (fd, peer, peer_bytes))
TRC_ALIAS(__connect, connect);
