/* nonblock.c - see nonblock.h */
#include <stdarg.h>
#include <sys/ioctl.h>
#include "recorder/interpose/nonblock.h"
#include "recorder/interpose/span.h"

_Atomic unsigned char trc_nonblock_fds[TRC_NONBLOCK_MAX];

/* One more than the highest that was ever known. */
static _Atomic unsigned int n_known;

/* D4.  Nothing is known before this object is relocated, and has thread-locals. */
static bool may_change(void)
{
	return trc_real.close && !trc_self.quiet;
}

static unsigned char state_of(int fd)
{
	return (unsigned int)fd < TRC_NONBLOCK_MAX
		       ? atomic_load_explicit(&trc_nonblock_fds[fd], memory_order_relaxed)
		       : 0;
}

static void know(int fd, unsigned char state)
{
	unsigned int n = atomic_load_explicit(&n_known, memory_order_relaxed);

	if ((unsigned int)fd >= TRC_NONBLOCK_MAX || !may_change())
		return;
	/* relaxed: see trc_is_nonblocking(); who forgets all does so for what it knows of. */
	while (n <= (unsigned int)fd &&
	       !atomic_compare_exchange_weak_explicit(&n_known, &n, (unsigned int)fd + 1,
						      memory_order_relaxed, memory_order_relaxed))
		;
	atomic_store_explicit(&trc_nonblock_fds[fd], state, memory_order_relaxed);
}

int trc_nonblock_made(int fd, int flags)
{
	if (fd >= 0)
		know(fd, TRC_NONBLOCK_SOCKET | (flags & SOCK_NONBLOCK ? TRC_NONBLOCK_SET : 0));
	return fd;
}

void trc_nonblock_set(int fd)
{
	if (state_of(fd) == TRC_NONBLOCK_SOCKET)
		know(fd, TRC_NONBLOCK_SOCKET | TRC_NONBLOCK_SET);
}

void trc_nonblock_forget(int fd)
{
	if (state_of(fd) && may_change())
		atomic_store_explicit(&trc_nonblock_fds[fd], 0, memory_order_relaxed);
}

void trc_nonblock_forget_from(unsigned int first, unsigned int last)
{
	unsigned int n = atomic_load_explicit(&n_known, memory_order_relaxed);

	for (unsigned int fd = first; fd < n && fd <= last; fd++)
		trc_nonblock_forget((int)fd);
}

/* They stay sockets. */
void trc_nonblock_forget_all(void)
{
	unsigned int n = atomic_load_explicit(&n_known, memory_order_relaxed);

	for (unsigned int fd = 0; fd < n; fd++)
		if (state_of((int)fd) & TRC_NONBLOCK_SET && may_change())
			atomic_store_explicit(&trc_nonblock_fds[fd], TRC_NONBLOCK_SOCKET,
					      memory_order_relaxed);
}

/* ---- calls that are interposed for this only ------------------------------------------------ */

TRC_EXPORT int socket(int domain, int type, int protocol)
{
	return trc_nonblock_made(REAL(socket)(domain, type, protocol), type);
}

TRC_EXPORT int socketpair(int domain, int type, int protocol, int pair[2])
{
	int result = REAL(socketpair)(domain, type, protocol, pair);

	for (int i = 0; !result && i < 2; i++)
		trc_nonblock_made(pair[i], type);
	return result;
}

TRC_EXPORT int ioctl(int fd, unsigned long request, ...)
{
	va_list args;
	void *arg;
	bool on;
	int result;

	va_start(args, request);
	arg = va_arg(args, void *);
	va_end(args);
	if (TRC_LIKELY(request != FIONBIO || !arg))
		return REAL(ioctl)(fd, request, arg);
	on = *(const int *)arg != 0;
	if (!on)
		trc_nonblock_forget_all();
	result = REAL(ioctl)(fd, request, arg);
	if (on && !result)
		trc_nonblock_set(fd);
	return result;
}

TRC_EXPORT int dup2(int from, int fd)
{
	if (from != fd)
		trc_nonblock_forget(fd);
	return REAL(dup2)(from, fd);
}

TRC_EXPORT int dup3(int from, int fd, int flags)
{
	trc_nonblock_forget(fd);
	return REAL(dup3)(from, fd, flags);
}

/* Closes its descriptor inside libc. */
TRC_EXPORT int fclose(FILE *file)
{
	int saved_errno = errno;

	trc_nonblock_forget(fileno_unlocked(file)); /* a stream of memory has none, and says so */
	errno = saved_errno;
	return REAL(fclose)(file);
}
