/*
 * file.c - file locks, data on its way to the disk, open and close.
 * Context: traced thread, signal handlers.
 */
#include <stdarg.h>
#include "restart.h"
#include "recorder/unwind/poison.h"

/* ---- locks ---------------------------------------------------------------------------- */

TRC_CALL(int, flock, FLOCK, fd, !(operation & (LOCK_NB | LOCK_UN)), (int fd, int operation),
	 (fd, operation))
TRC_CALL(int, lockf, FLOCK, fd, command == F_LOCK, (int fd, int command, off_t n), (fd, command, n))
TRC_CALL(int, lockf64, FLOCK, fd, command == F_LOCK, (int fd, int command, off64_t n),
	 (fd, command, n))

/* The third argument of fcntl() is a word or nothing; passing on one that is not there is what
 * libc does as well. */
#define FCNTL(name)                                                                                \
	TRC_EXPORT int name(int fd, int command, ...)                                              \
	{                                                                                          \
		struct trc_span span;                                                              \
		va_list args;                                                                      \
		void *arg;                                                                         \
		int result;                                                                        \
                                                                                                   \
		va_start(args, command);                                                           \
		arg = va_arg(args, void *);                                                        \
		va_end(args);                                                                      \
		if (!trc_recording() || (command != F_SETLKW && command != F_OFD_SETLKW))          \
			return REAL(name)(fd, command, arg);                                       \
		trc_span_begin(&span, TRC_REASON_FLOCK, (uint64_t)fd);                             \
		result = REAL(name)(fd, command, arg);                                             \
		trc_span_end(&span, result == -1 ? errno : 0);                                     \
		return result;                                                                     \
	}
FCNTL(fcntl)
FCNTL(fcntl64)
TRC_ALIAS(__fcntl, fcntl);

/* ---- the disk ------------------------------------------------------------------------- */

TRC_CALL(int, fsync, FSYNC, fd, true, (int fd), (fd))
TRC_CALL(int, fdatasync, FSYNC, fd, true, (int fd), (fd))
TRC_CALL(int, syncfs, FSYNC, fd, true, (int fd), (fd))
TRC_CALL(int, msync, FSYNC, (uintptr_t)start, flags &MS_SYNC, (void *start, size_t n, int flags),
	 (start, n, flags))

TRC_EXPORT void sync(void)
{
	struct trc_span span;

	if (!trc_recording()) {
		REAL(sync)();
		return;
	}
	trc_span_begin(&span, TRC_REASON_FSYNC, 0);
	REAL(sync)();
	trc_span_end(&span, 0);
}

TRC_CALL(int, sync_file_range, FSYNC, fd, true,
	 (int fd, off64_t start, off64_t n, unsigned int flags), (fd, start, n, flags))
TRC_CALL(int, tcdrain, WRITE, fd, true, (int fd), (fd))
TRC_CALL(ssize_t, copy_file_range, READ, fd, true,
	 (int fd, off64_t *off, int to, off64_t *to_off, size_t n, unsigned int flags),
	 (fd, off, to, to_off, n, flags))

/* ---- asynchronous I/O: the object is the list -------------------------------------------- */

#define SUSPENDS(name, block)                                                                      \
	TRC_CALL_AGAIN(int, name, AIO, (uintptr_t)list, true,                                      \
		       trc_restart_time(&restart, NULL, &timeout),                                 \
		       (const struct block *const list[], int n, const struct timespec *timeout),  \
		       (list, n, timeout))
SUSPENDS(aio_suspend, aiocb)
SUSPENDS(aio_suspend64, aiocb64)
/* Never ends with EINTR. */
TRC_CALL(int, lio_listio, AIO, (uintptr_t)list, mode == LIO_WAIT,
	 (int mode, struct aiocb *const list[], int n, struct sigevent *event),
	 (mode, list, n, event))
TRC_CALL(int, lio_listio64, AIO, (uintptr_t)list, mode == LIO_WAIT,
	 (int mode, struct aiocb64 *const list[], int n, struct sigevent *event),
	 (mode, list, n, event))

/* ---- open ----------------------------------------------------------------------------- */

/* No object: the descriptor is only there when the wait is over. */
#define OPENS(name, parameters, arguments)                                                         \
	TRC_CALL(int, name, OPEN, 0, !(flags & O_NONBLOCK), parameters, arguments)

/* The mode is an argument only if the flags say so. */
#define OPEN(name, dir_parameter, dir_argument)                                                    \
	TRC_EXPORT int name(dir_parameter const char *path, int flags, ...)                        \
	{                                                                                          \
		struct trc_span span;                                                              \
		mode_t mode = 0;                                                                   \
		va_list args;                                                                      \
		int result;                                                                        \
                                                                                                   \
		if (__OPEN_NEEDS_MODE(flags)) {                                                    \
			va_start(args, flags);                                                     \
			mode = va_arg(args, mode_t);                                               \
			va_end(args);                                                              \
		}                                                                                  \
		if (!trc_recording() || (flags & O_NONBLOCK))                                      \
			return REAL(name)(dir_argument path, flags, mode);                         \
		trc_span_begin(&span, TRC_REASON_OPEN, 0);                                         \
		result = REAL(name)(dir_argument path, flags, mode);                               \
		trc_span_end(&span, result == -1 ? errno : 0);                                     \
		return result;                                                                     \
	}
#define NOTHING
#define DIR_PARAMETER int dir,
#define DIR_ARGUMENT  dir,
OPEN(open, NOTHING, NOTHING)
TRC_ALIAS(__open, open);
OPEN(open64, NOTHING, NOTHING)
TRC_ALIAS(__open64, open64);
OPEN(openat, DIR_PARAMETER, DIR_ARGUMENT)
OPEN(openat64, DIR_PARAMETER, DIR_ARGUMENT)
OPENS(__open_2, (const char *path, int flags), (path, flags))
OPENS(__open64_2, (const char *path, int flags), (path, flags))
OPENS(__openat_2, (int dir, const char *path, int flags), (dir, path, flags))
OPENS(__openat64_2, (int dir, const char *path, int flags), (dir, path, flags))
TRC_CALL(int, creat, OPEN, 0, true, (const char *path, mode_t mode), (path, mode))
TRC_CALL(int, creat64, OPEN, 0, true, (const char *path, mode_t mode), (path, mode))

/* ---- close ---------------------------------------------------------------------------- */

/* Those of samplers may have been among them. */
TRC_EXPORT int close(int fd)
{
	int result;

	trc_io_forget(fd);
	result = REAL(close)(fd);
	trc_io_forget(fd);
	if (!result && trc_recording())
		trc_sample_descriptor_closed(fd);
	return result;
}

TRC_EXPORT void closefrom(int first)
{
	trc_io_forget_from((unsigned int)first, UINT32_MAX);
	REAL(closefrom)(first);
	trc_io_forget_from((unsigned int)first, UINT32_MAX);
	if (trc_recording())
		trc_sample_descriptors_closed(-1, false);
}

TRC_EXPORT int close_range(unsigned int first, unsigned int last, int flags)
{
	int result;

	trc_io_forget_from(first, last);
	result = REAL(close_range)(first, last, flags);
	trc_io_forget_from(first, last);
	if (!result && trc_recording())
		trc_sample_descriptors_closed(-1, (flags & (int)CLOSE_RANGE_UNSHARE) != 0);
	return result;
}

/* ---- copies: they close what was there --------------------------------------------------- */

#define COPIES(name, parameters, arguments)                                                        \
	TRC_EXPORT int name parameters                                                             \
	{                                                                                          \
		int result;                                                                        \
                                                                                                   \
		if (fd == to)                                                                      \
			return REAL(name) arguments;                                               \
		trc_io_forget(to);                                                                 \
		result = REAL(name) arguments;                                                     \
		trc_io_forget(to);                                                                 \
		return result;                                                                     \
	}
COPIES(dup2, (int fd, int to), (fd, to))
TRC_ALIAS(__dup2, dup2);
COPIES(dup3, (int fd, int to, int flags), (fd, to, flags))
