/*
 * wakers.h - which thread ends a wait for a descriptor: the thread that writes to the descriptor's
 * other end.
 *
 *     thread that reads                       thread that writes
 *     ----------------                        ------------------
 *     trc_io_begin(): what is this
 *     descriptor?  enters itself
 *     under that object
 *     real call ...                           trc_io_begin(): does somebody wait for what
 *                                             this descriptor feeds?  Then: asks the kernel
 *                                             whether it still is what it is taken for
 *                                             real call: bytes were written
 *     ... returns: leaves                     trc_io_end(): UNPARK with the reason and the
 *     trc_span_end(): WAIT, if it was one     object (the descriptor) of the one who waited
 *
 * and the other way round: a thread that reads makes room for a thread that waits to write.
 *
 * How two descriptors are known to be ends of the same thing:
 *   - a pipe or FIFO: both have its inode
 *   - connected sockets of this machine: both have the same two addresses
 *   - socketpair(): each end is kept with the inode of the other when they are made
 *   - an eventfd and its like, which have no inode of their own: by a number, which a descriptor gets
 *     when it is first seen
 * The other end of any other descriptor is outside this process or not known: no waker is named.
 *
 *   wakers:V1  a waiter enters the table before its call, and is out of the table after the call,
 *       however the call ends
 *   wakers:V2  the table of descriptors may be wrong: a descriptor may be closed unseen, or by
 *       another thread while this thread learns what the descriptor is.  So nobody is named before
 *       the kernel has confirmed both descriptors, the writer's and the waiter's: the kernel's
 *       answer has to fit the entry's seal.  An entry that does not fit is forgotten
 *   wakers:V3  a descriptor is forgotten before and after its close: what another thread learns
 *       about it meanwhile is lost, never wrong
 *   wakers:V4  a waiter that entered the table after the writer's look at the table is not named:
 *       the next write ends its wait, or it did not wait at all
 *   wakers:V5  a forked child has no waiters: the table lies on pages that read as zero there.  A
 *       wait that began before a handler forked takes nothing away from the child's table
 *   wakers:V6  a thread that waits for several writes or datagrams is not in the table: the writer
 *       that finds it is not the writer that ends its wait
 *   wakers:V7  a thread that waits for an epoll descriptor is found through the descriptors that
 *       the epoll descriptor watches.  Only descriptors count whose every write ends the wait: a
 *       write to one with EPOLLONESHOT or EPOLLEXCLUSIVE may not end it
 */
#ifndef TRC_RECORDER_INTERPOSE_WAKERS_H
#define TRC_RECORDER_INTERPOSE_WAKERS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/epoll.h>
#include "format/schema.h"
#include "recorder/shared/layout.h"

/* Objects, as 64-bit keys: two for each descriptor. */
enum {
	TRC_IO_UNKNOWN = 0,
	TRC_IO_ROOM = 1,      /* added to a key: room to write is waited for, not bytes to read */
	TRC_IO_NOTHING = 2,   /* no key: it has no other end here */
	TRC_IO_BY_NUMBER = 4, /* in a key: its inode is not its own; and nobody waits for room */
	TRC_IO_KEY_STEP = 8,
	TRC_IO_FDS = 16384, /* nobody is named by higher ones */
};

/* Stored by any thread, `in` last. */
struct trc_io_fd {
	_Atomic uint64_t in;   /* whose bytes are read from it */
	_Atomic uint64_t out;  /* whose bytes are written to it */
	_Atomic uint64_t seal; /* of both and the inode */
};
extern TRC_HIDDEN struct trc_io_fd trc_io_fds[TRC_IO_FDS];

/* One call on a descriptor. */
struct trc_io {
	uint64_t key;	 /* under which it stands in the table; 0 = it does not */
	uint32_t place;	 /* there */
	uint32_t wakes;	 /* enum trc_reason of who waited; 0 = nobody */
	uint64_t object; /* of who waited */
	uint64_t at;
};

/* The rest of trc_io_begin(), after the first look.  Context: traced thread, signal handlers. */
void trc_io_enter(struct trc_io *io, enum trc_reason reason, int fd, uint64_t since, bool waits);
void trc_io_wake(const struct trc_io *io);
void trc_io_leave(struct trc_io *io);

/* True if the descriptor may have another end. */
static inline bool trc_io_is_end(int fd)
{
	/* relaxed: wakers:V2. */
	return (unsigned int)fd < TRC_IO_FDS &&
	       atomic_load_explicit(&trc_io_fds[fd].in, memory_order_relaxed) != TRC_IO_NOTHING;
}

/* After trc_span_begin(), which was at `since` (0 = the span records nothing).  `one`: the first
 * write will end the wait (wakers:V6). */
static inline void trc_io_begin(struct trc_io *io, enum trc_reason reason, int fd, uint64_t since,
				bool one)
{
	io->key = 0;
	io->wakes = 0;
	if (reason != TRC_REASON_ACCEPT && since && trc_io_is_end(fd))
		trc_io_enter(io, reason, fd, since, one);
}

/* trc_io_begin() for a call that does not wait, while something records. */
static inline void trc_io_look(struct trc_io *io, enum trc_reason reason, int fd)
{
	io->key = 0;
	io->wakes = 0;
	if (trc_io_is_end(fd))
		trc_io_enter(io, reason, fd, 0, false);
}

/* After the real call; then trc_io_end(). */
static inline void trc_io_returned(struct trc_io *io)
{
	if (io->key)
		trc_io_leave(io);
}

/* After the caller's own wait is recorded.  `moved`: the call has read or written something. */
static inline void trc_io_end(const struct trc_io *io, bool moved)
{
	if (__builtin_expect(io->wakes != 0, 0) && moved)
		trc_io_wake(io);
}

/* The descriptor is about to become another, or was closed: wakers:V3.  Context: as above. */
void trc_io_forget(int fd);
void trc_io_forget_from(unsigned int first, unsigned int last);

/* After trc_span_begin(), in a call that waits for an epoll descriptor (wakers:V7). */
void trc_io_epoll(struct trc_io *io, int epoll, uint64_t since);
/* Around epoll_ctl(): before the call with NULL, so that `fd` is no longer watched; and after the
 * call has succeeded. */
void trc_io_watch(int epoll, int fd, const struct epoll_event *event);

/* The two ends of socketpair(). */
void trc_io_pair(const int fd[2]);

/* The program forbids the calls that ask about sockets: unknown sockets are left alone. */
TRC_HIDDEN void trc_io_ask_no_sockets(void);

#endif
