/*
 * own_calls.c - a program that has functions of its own by names of the C library's, as shells,
 * runtimes and sandboxes do.  Prints how often anybody called them: it does not itself.
 */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/types.h>
#include <time.h>

static _Atomic int calls;

#define OWN(type, name, ...)                                                                       \
	__attribute__((visibility("default"))) type name(__VA_ARGS__);                             \
	type name(__VA_ARGS__)                                                                     \
	{                                                                                          \
		calls++;                                                                           \
		errno = ENOSYS;                                                                    \
		return (type)-1;                                                                   \
	}
OWN(long, syscall, long number, ...)
OWN(int, prctl, int what, ...)
OWN(int, open, const char *path, int flags, ...)
OWN(int, openat, int dir, const char *path, int flags, ...)
OWN(ssize_t, read, int fd, void *to, size_t n)
OWN(ssize_t, write, int fd, const void *from, size_t n)
OWN(int, close, int fd)
OWN(int, unlink, const char *path)
OWN(int, access, const char *path, int mode)
OWN(int, renameat2, int dir, const char *from, int to_dir, const char *to, unsigned int flags)
OWN(int, ftruncate, int fd, off_t n)

static void *sleeps(void *arg)
{
	const struct timespec moment = {0, 20000000};

	nanosleep(&moment, NULL);
	return arg;
}

int main(void)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, sleeps, NULL) || pthread_join(thread, NULL))
		return 1;
	printf("calls %d\n", calls);
	return 0;
}
