/*
 * libc.h - the declarations of everything in names.h, and of libc entry points that no public
 * header declares.
 *
 * Files that define these names are compiled without _FORTIFY_SOURCE and _FILE_OFFSET_BITS
 * (local.mk): both would turn these names into other names.
 */
#ifndef TRC_RECORDER_INTERPOSE_LIBC_H
#define TRC_RECORDER_INTERPOSE_LIBC_H

/* Deprecated names are interposed like all others. */
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

/*
 * Before all other headers: nothing is defined in line, and scanf is the function of this name, none
 * of those for later standards.
 */
#include <features.h>
#undef __USE_EXTERN_INLINES
#undef __GLIBC_USE_DEPRECATED_SCANF
#define __GLIBC_USE_DEPRECATED_SCANF 1
#undef __GLIBC_USE_C2X_STRTOL
#define __GLIBC_USE_C2X_STRTOL 0
#undef __GLIBC_USE_C23_STRTOL
#define __GLIBC_USE_C23_STRTOL 0

#include <aio.h>
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
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/prctl.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <termios.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>
#include <wchar.h>

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

/* The checked functions of streams. */
char *__fgets_chk(char *s, size_t s_bytes, int n, FILE *stream);
char *__fgets_unlocked_chk(char *s, size_t s_bytes, int n, FILE *stream);
wchar_t *__fgetws_chk(wchar_t *s, size_t s_chars, int n, FILE *stream);
wchar_t *__fgetws_unlocked_chk(wchar_t *s, size_t s_chars, int n, FILE *stream);
size_t __fread_chk(void *bytes, size_t max_bytes, size_t size, size_t n, FILE *stream);
size_t __fread_unlocked_chk(void *bytes, size_t max_bytes, size_t size, size_t n, FILE *stream);
int __printf_chk(int flag, const char *format, ...);
int __fprintf_chk(FILE *stream, int flag, const char *format, ...);
int __vprintf_chk(int flag, const char *format, va_list args);
int __vfprintf_chk(FILE *stream, int flag, const char *format, va_list args);
int __dprintf_chk(int fd, int flag, const char *format, ...);
int __vdprintf_chk(int fd, int flag, const char *format, va_list args);
int __wprintf_chk(int flag, const wchar_t *format, ...);
int __fwprintf_chk(FILE *stream, int flag, const wchar_t *format, ...);
int __vwprintf_chk(int flag, const wchar_t *format, va_list args);
int __vfwprintf_chk(FILE *stream, int flag, const wchar_t *format, va_list args);

/* Names into which headers, present and old, turn names of stdio.h. */
int _IO_getc(FILE *stream);
int _IO_putc(int c, FILE *stream);
wint_t __wuflow(FILE *stream);
wint_t __woverflow(FILE *stream, wint_t c);
#define TRC_SCANF_NAMES(version)                                                                   \
	int __isoc##version##_scanf(const char *format, ...);                                      \
	int __isoc##version##_fscanf(FILE *stream, const char *format, ...);                       \
	int __isoc##version##_vscanf(const char *format, va_list args);                            \
	int __isoc##version##_vfscanf(FILE *stream, const char *format, va_list args);             \
	int __isoc##version##_wscanf(const wchar_t *format, ...);                                  \
	int __isoc##version##_fwscanf(FILE *stream, const wchar_t *format, ...);                   \
	int __isoc##version##_vwscanf(const wchar_t *format, va_list args);                        \
	int __isoc##version##_vfwscanf(FILE *stream, const wchar_t *format, va_list args)
TRC_SCANF_NAMES(99);
TRC_SCANF_NAMES(23);

/* C++'s new (n) and delete (d) of an object (w, l) and of an array (a), also aligned, and those
 * that do not throw. */
void *_Znwm(size_t n);
void *_Znam(size_t n);
void *_ZnwmRKSt9nothrow_t(size_t n, const void *tag);
void *_ZnamRKSt9nothrow_t(size_t n, const void *tag);
void *_ZnwmSt11align_val_t(size_t n, size_t alignment);
void *_ZnamSt11align_val_t(size_t n, size_t alignment);
void *_ZnwmSt11align_val_tRKSt9nothrow_t(size_t n, size_t alignment, const void *tag);
void *_ZnamSt11align_val_tRKSt9nothrow_t(size_t n, size_t alignment, const void *tag);
void _ZdlPv(void *object);
void _ZdaPv(void *object);
void _ZdlPvRKSt9nothrow_t(void *object, const void *tag);
void _ZdaPvRKSt9nothrow_t(void *object, const void *tag);
void _ZdlPvm(void *object, size_t n);
void _ZdaPvm(void *object, size_t n);
void _ZdlPvSt11align_val_t(void *object, size_t alignment);
void _ZdaPvSt11align_val_t(void *object, size_t alignment);
void _ZdlPvSt11align_val_tRKSt9nothrow_t(void *object, size_t alignment, const void *tag);
void _ZdaPvSt11align_val_tRKSt9nothrow_t(void *object, size_t alignment, const void *tag);
void _ZdlPvmSt11align_val_t(void *object, size_t n, size_t alignment);
void _ZdaPvmSt11align_val_t(void *object, size_t n, size_t alignment);

/* Cleanup handlers without landing pads; see span.h. */
void _pthread_cleanup_push(struct _pthread_cleanup_buffer *buffer, void (*routine)(void *),
			   void *arg);
void _pthread_cleanup_pop(struct _pthread_cleanup_buffer *buffer, int execute);

#endif
