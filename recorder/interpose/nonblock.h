/*
 * nonblock.h - sockets that the program has made non-blocking: what is asked of them does not wait,
 * and need not be timed.
 *
 * All is known from the program's own calls: a guest asks the kernel nothing on their account.
 *
 *   D1  a descriptor is known from the call that made the socket, with SOCK_NONBLOCK, or if that call
 *       was seen and fcntl() or ioctl() made it non-blocking later.  Of what is no socket O_NONBLOCK may say
 *       nothing: a file's read waits for the disk all the same
 *   D2  what makes any descriptor blocking makes all be forgotten: another may be of the same
 *       socket.  What closes one, or puts something in its place, makes that one be forgotten.  Before the
 *       real call: what another thread makes of the number afterwards counts
 *   D3  not seen are system calls that do not go through libc's functions, and another process that makes a
 *       socket blocking that it shares: waits for that socket are missed then, until its number is
 *       given to another one
 *   D4  a child by vfork(), and trc's own threads, have descriptors of their own: they change nothing
 *
 * Context: traced thread, signal handlers.
 */
#ifndef TRC_RECORDER_INTERPOSE_NONBLOCK_H
#define TRC_RECORDER_INTERPOSE_NONBLOCK_H

#include <stdatomic.h>
#include <stdbool.h>

/* Descriptors beyond are not known; the memory is touched as they are used. */
enum { TRC_NONBLOCK_MAX = 1 << 16 };
enum { TRC_NONBLOCK_SOCKET = 1, TRC_NONBLOCK_SET = 2 };

extern __attribute__((visibility("hidden"))) _Atomic unsigned char
	trc_nonblock_fds[TRC_NONBLOCK_MAX];

/* True: a call on it does not wait. */
static inline bool trc_is_nonblocking(int fd)
{
	/* relaxed: who uses a descriptor knows of it by the program's own order. */
	return (unsigned int)fd < TRC_NONBLOCK_MAX &&
	       atomic_load_explicit(&trc_nonblock_fds[fd], memory_order_relaxed) &
		       TRC_NONBLOCK_SET;
}

/* A call has returned this descriptor of a new socket, or -1; with SOCK_NONBLOCK in `flags`, or not.
 * Returns fd.  errno is left as it is, here and below. */
int trc_nonblock_made(int fd, int flags);
/* An open descriptor is non-blocking now.  After the call that did it. */
void trc_nonblock_set(int fd);
/* Before calls that undo that (D2). */
void trc_nonblock_forget(int fd);
void trc_nonblock_forget_from(unsigned int first, unsigned int last);
void trc_nonblock_forget_all(void);

#endif
