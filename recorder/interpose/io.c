/*
 * io.c - the families of read and write, and calls that move bytes between descriptors. Context:
 * traced thread, signal handlers.
 */
#include "restart.h"
#include "recorder/unwind/poison.h"

/* A descriptor may be a socket's, with a time limit: those calls the kernel never restarts. */
#define TAKES(name, may_wait, moved, parameters, arguments)                                        \
	TRC_IO_CALL_AGAIN(ssize_t, name, READ, fd, may_wait,                                       \
			  trc_restart_socket(&restart, fd, SO_RCVTIMEO, EAGAIN), true, moved,      \
			  parameters, arguments)
#define READS(name, may_wait, parameters, arguments)                                               \
	TAKES(name, may_wait, true, parameters, arguments)
#define WRITES(name, may_wait, parameters, arguments)                                              \
	TRC_IO_CALL_AGAIN(ssize_t, name, WRITE, fd, may_wait,                                      \
			  trc_restart_socket(&restart, fd, SO_SNDTIMEO, EAGAIN), true, true,       \
			  parameters, arguments)

READS(read, true, (int fd, void *buf, size_t n), (fd, buf, n))
TRC_ALIAS(__read, read);
READS(__read_chk, true, (int fd, void *buf, size_t n, size_t buf_bytes), (fd, buf, n, buf_bytes))
READS(pread, true, (int fd, void *buf, size_t n, off_t off), (fd, buf, n, off))
READS(__pread_chk, true, (int fd, void *buf, size_t n, off_t off, size_t buf_bytes),
      (fd, buf, n, off, buf_bytes))
READS(pread64, true, (int fd, void *buf, size_t n, off64_t off), (fd, buf, n, off))
TRC_ALIAS(__pread64, pread64);
READS(__pread64_chk, true, (int fd, void *buf, size_t n, off64_t off, size_t buf_bytes),
      (fd, buf, n, off, buf_bytes))
READS(readv, true, (int fd, const struct iovec *v, int n), (fd, v, n))
READS(preadv, true, (int fd, const struct iovec *v, int n, off_t off), (fd, v, n, off))
READS(preadv64, true, (int fd, const struct iovec *v, int n, off64_t off), (fd, v, n, off))
READS(preadv2, !(flags & RWF_NOWAIT), (int fd, const struct iovec *v, int n, off_t off, int flags),
      (fd, v, n, off, flags))
READS(preadv64v2, !(flags & RWF_NOWAIT),
      (int fd, const struct iovec *v, int n, off64_t off, int flags), (fd, v, n, off, flags))
TRC_IO_CALL(int, eventfd_read, READ, fd, true, !result, (int fd, eventfd_t *value), (fd, value))

WRITES(write, true, (int fd, const void *buf, size_t n), (fd, buf, n))
TRC_ALIAS(__write, write);
WRITES(pwrite, true, (int fd, const void *buf, size_t n, off_t off), (fd, buf, n, off))
WRITES(pwrite64, true, (int fd, const void *buf, size_t n, off64_t off), (fd, buf, n, off))
TRC_ALIAS(__pwrite64, pwrite64);
WRITES(writev, true, (int fd, const struct iovec *v, int n), (fd, v, n))
WRITES(pwritev, true, (int fd, const struct iovec *v, int n, off_t off), (fd, v, n, off))
WRITES(pwritev64, true, (int fd, const struct iovec *v, int n, off64_t off), (fd, v, n, off))
WRITES(pwritev2, !(flags & RWF_NOWAIT),
       (int fd, const struct iovec *v, int n, off_t off, int flags), (fd, v, n, off, flags))
WRITES(pwritev64v2, !(flags & RWF_NOWAIT),
       (int fd, const struct iovec *v, int n, off64_t off, int flags), (fd, v, n, off, flags))
TRC_IO_CALL(int, eventfd_write, WRITE, fd, true, !result, (int fd, eventfd_t value), (fd, value))

/* Between a pipe and something else: counted as a read of where the bytes come from. */
READS(splice, !(flags & SPLICE_F_NONBLOCK),
      (int fd, off64_t *off, int to, off64_t *to_off, size_t n, unsigned int flags),
      (fd, off, to, to_off, n, flags))
/* What it reads stays there. */
TAKES(tee, !(flags & SPLICE_F_NONBLOCK), false, (int fd, int to, size_t n, unsigned int flags),
      (fd, to, n, flags))
WRITES(vmsplice, !(flags & SPLICE_F_NONBLOCK),
       (int fd, const struct iovec *v, size_t n, unsigned int flags), (fd, v, n, flags))
