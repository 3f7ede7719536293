/*
 * libc.h - the declarations of everything in names.h, and of libc entry points that no public
 * header declares.
 *
 * Files that define these names are compiled without _FORTIFY_SOURCE and _FILE_OFFSET_BITS
 * (local.mk): both would turn the names into other ones.
 */
#ifndef TRC_RECORDER_INTERPOSE_LIBC_H
#define TRC_RECORDER_INTERPOSE_LIBC_H

/* What is interposed is not ours to find old. */
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <mqueue.h>
#include <poll.h>
#include <pthread.h>
#include <pty.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

/* What the compiler calls instead of the plain names under _FORTIFY_SOURCE. */
int __poll_chk(struct pollfd *fds, nfds_t n_fds, int timeout_ms, size_t fds_bytes);
int __ppoll_chk(struct pollfd *fds, nfds_t n_fds, const struct timespec *timeout,
		const sigset_t *mask, size_t fds_bytes);
ssize_t __read_chk(int fd, void *buf, size_t n, size_t buf_bytes);
ssize_t __pread_chk(int fd, void *buf, size_t n, off_t off, size_t buf_bytes);
ssize_t __pread64_chk(int fd, void *buf, size_t n, off64_t off, size_t buf_bytes);
ssize_t __recv_chk(int fd, void *buf, size_t n, size_t buf_bytes, int flags);
ssize_t __recvfrom_chk(int fd, void *buf, size_t n, size_t buf_bytes, int flags,
		       __SOCKADDR_ARG from, socklen_t *from_bytes);
int __open_2(const char *path, int flags);
int __open64_2(const char *path, int flags);
int __openat_2(int dir, const char *path, int flags);
int __openat64_2(int dir, const char *path, int flags);

/* Cleanup handlers without landing pads; see span.h. */
void _pthread_cleanup_push(struct _pthread_cleanup_buffer *buffer, void (*routine)(void *),
			   void *arg);
void _pthread_cleanup_pop(struct _pthread_cleanup_buffer *buffer, int execute);

#endif
