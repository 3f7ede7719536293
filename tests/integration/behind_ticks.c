/*
 * behind_ticks.c - threads that the kernel's tick never finds at work.
 *
 * A call whose time limit is kept in ticks, as recv() of a socket with SO_RCVTIMEO, returns just
 * behind a tick.  What a thread then does is over before the next one.  So it is with servers whose peers
 * answer late: TCP sends what it has held back, and wakes them, at a tick.
 *
 *   behind_ticks MILLISECONDS WORK...
 *
 * Each WORK is a thread that uses so much CPU time:
 *   libc     waits in recv() before each millisecond of its work
 *   direct   the same by a system call of its own, which nothing interposes
 *   gone     as libc, in threads that end after a fourth of the time, one after the other
 *   busy     never waits
 * Prints "WORK NANOSECONDS" for each, by its own clock.  All of a thread's time is in a function of its
 * name, but for what its beginning and end take.
 */
#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

enum { WORKS_MAX = 16, PARTS = 4 };

struct work {
	const char *name;
	void (*wait)(int fd);
	void (*function)(struct work *work);
	uint64_t until_ns, used_ns;
	pthread_t thread;
};

static uint64_t whole_ns;
static volatile uint64_t sink;

static uint64_t cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static void burn(uint64_t ns)
{
	uint64_t until_ns = cpu_ns() + ns;

	while (cpu_ns() < until_ns)
		for (int i = 0; i < 300; i++)
			sink += (uint64_t)i * 3;
}

static void wait_by_libc(int fd)
{
	char byte;

	if (recv(fd, &byte, 1, 0) >= 0 || errno != EAGAIN)
		exit(3);
}

/* errno is as it is: who samples must not be seen in it either. */
static void wait_directly(int fd)
{
	char byte;
	long result;
#if defined(__x86_64__)
	register long flags __asm__("r10") = 0, address __asm__("r8") = 0, n __asm__("r9") = 0;

	__asm__ volatile("syscall"
			 : "=a"(result)
			 : "a"(SYS_recvfrom), "D"((long)fd), "S"(&byte), "d"(1L), "r"(flags),
			   "r"(address), "r"(n)
			 : "rcx", "r11", "memory");
#else
	register long number __asm__("x8") = SYS_recvfrom, a0 __asm__("x0") = fd,
			     a1 __asm__("x1") = (long)&byte, a2 __asm__("x2") = 1,
			     a3 __asm__("x3") = 0, a4 __asm__("x4") = 0, a5 __asm__("x5") = 0;

	__asm__ volatile("svc 0"
			 : "+r"(a0)
			 : "r"(number), "r"(a1), "r"(a2), "r"(a3), "r"(a4), "r"(a5)
			 : "memory");
	result = a0;
#endif
	if (result != -EAGAIN && result != -EINTR)
		exit(3);
}

static void turns(const struct work *work)
{
	struct timeval least = {.tv_usec = 1000};
	int pair[2];

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) ||
	    setsockopt(pair[0], SOL_SOCKET, SO_RCVTIMEO, &least, sizeof(least)))
		exit(3);
	while (cpu_ns() < work->until_ns) {
		work->wait(pair[0]);
		burn(1000000);
	}
	close(pair[0]);
	close(pair[1]);
}

__attribute__((noinline)) void work_libc(struct work *work);
__attribute__((noinline)) void work_direct(struct work *work);
__attribute__((noinline)) void work_gone(struct work *work);
__attribute__((noinline)) void work_busy(struct work *work);

void work_libc(struct work *work)
{
	turns(work);
	__asm__ volatile("");
}

void work_direct(struct work *work)
{
	turns(work);
	__asm__ volatile("");
}

void work_gone(struct work *work)
{
	turns(work);
	__asm__ volatile("");
}

void work_busy(struct work *work)
{
	while (cpu_ns() < work->until_ns)
		burn(1000000);
	__asm__ volatile("");
}

static void *run(void *arg)
{
	struct work *work = arg;
	uint64_t begin_ns = cpu_ns();

	work->until_ns = begin_ns + whole_ns;
	work->function(work);
	work->used_ns = cpu_ns() - begin_ns;
	return NULL;
}

static void *part(void *arg)
{
	struct work *work = arg;
	uint64_t begin_ns = cpu_ns();

	work->until_ns = begin_ns + whole_ns / PARTS;
	work->function(work);
	work->used_ns += cpu_ns() - begin_ns;
	return NULL;
}

static void *run_in_parts(void *arg)
{
	pthread_t thread;

	for (int i = 0; i < PARTS; i++)
		if (pthread_create(&thread, NULL, part, arg) || pthread_join(thread, NULL))
			exit(3);
	return NULL;
}

int main(int argc, char **argv)
{
	static const struct work known[] = {
		{"libc", wait_by_libc, work_libc, 0, 0, 0},
		{"direct", wait_directly, work_direct, 0, 0, 0},
		{"gone", wait_by_libc, work_gone, 0, 0, 0},
		{"busy", NULL, work_busy, 0, 0, 0},
	};
	static struct work work[WORKS_MAX];
	int n = argc - 2;

	if (n < 1 || n > WORKS_MAX)
		return 2;
	whole_ns = strtoull(argv[1], NULL, 10) * 1000000;
	for (int i = 0; i < n; i++) {
		for (size_t k = 0; k < sizeof(known) / sizeof(known[0]); k++)
			if (!strcmp(known[k].name, argv[i + 2]))
				work[i] = known[k];
		if (!work[i].name)
			return 2;
		if (pthread_create(&work[i].thread, NULL,
				   work[i].function == work_gone ? run_in_parts : run, &work[i]))
			return 3;
	}
	for (int i = 0; i < n; i++) {
		pthread_join(work[i].thread, NULL);
		printf("%s %llu\n", work[i].name, (unsigned long long)work[i].used_ns);
	}
	return 0;
}
