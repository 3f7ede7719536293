/*
 * rseq_area.c - writes of a recorded program to the fields of struct rseq that are the kernel's.
 *
 * Each thread has the processor watch its area, but for rseq_cs, for stores by the program, and then
 * does what the recorder takes part in.  Prints how many stores there were, and how many to a
 * variable that is watched in the same way and stored to.  Exit status 77: nothing can be watched.
 */
#include <errno.h>
#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/rseq.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { THREADS = 4, WATCHED = 3, ROUNDS = 40, CONTROL_STORES = 1000, LEAVE = 77 };

/* Eight bytes each: cpu_id_start and cpu_id; flags and node_id; mm_cid and what follows it.  Between
 * the first two lies rseq_cs. */
static const ptrdiff_t watched_off[WATCHED] = {0, 16, 24};
_Static_assert(offsetof(struct rseq, rseq_cs) == 8, "not watched");

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int turn;
static volatile uint64_t sink;
static volatile sig_atomic_t handled;

/* A counter of the calling thread's stores there, and of the children that it forks. */
static int watch(const volatile void *at)
{
	struct perf_event_attr attr = {.type = PERF_TYPE_BREAKPOINT,
				       .size = sizeof(attr),
				       .bp_type = HW_BREAKPOINT_W,
				       .bp_addr = (uintptr_t)at,
				       .bp_len = HW_BREAKPOINT_LEN_8,
				       .inherit = 1,
				       .exclude_kernel = 1,
				       .exclude_hv = 1};

	return (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

static uint64_t count_of(int fd)
{
	uint64_t n = 0;

	if (fd < 0 || read(fd, &n, sizeof(n)) != sizeof(n))
		exit(LEAVE);
	return n;
}

static void on_signal(int number)
{
	struct timespec moment = {0, 20000};

	nanosleep(&moment, NULL);
	handled = number;
}

/* Of a store that comes while its watching ends. */
static void on_trap(int number)
{
	(void)number;
}

static void burn(long ms)
{
	struct timespec t, until;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &until);
	until.tv_nsec += ms * 1000000;
	until.tv_sec += until.tv_nsec / 1000000000;
	until.tv_nsec %= 1000000000;
	do {
		for (int i = 0; i < 10000; i++)
			sink += (uint64_t)i;
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	} while (t.tv_sec < until.tv_sec ||
		 (t.tv_sec == until.tv_sec && t.tv_nsec < until.tv_nsec));
}

static void wait_for_turn(int number)
{
	pthread_mutex_lock(&lock);
	while (turn % THREADS != number)
		pthread_cond_wait(&changed, &lock);
	turn++;
	pthread_cond_broadcast(&changed);
	pthread_mutex_unlock(&lock);
}

/* A child that records (--follow), one that executes a program, and one that is spawned. */
static void have_children(void)
{
	pid_t pid = fork();

	if (!pid) { /* another thread may hold `lock` for ever here */
		pthread_mutex_t own = PTHREAD_MUTEX_INITIALIZER;

		burn(2);
		pthread_mutex_lock(&own);
		raise(SIGUSR1);
		pthread_mutex_unlock(&own);
		_exit(0);
	}
	waitpid(pid, NULL, 0);
	pid = vfork();
	if (!pid) {
		execl("/bin/true", "true", NULL);
		_exit(1);
	}
	waitpid(pid, NULL, 0);
	if (system("exit 0"))
		exit(1);
}

static void *ends_at_once(void *arg)
{
	return arg;
}

static int counter[THREADS][WATCHED];

static void *works(void *arg)
{
	int number = (int)(intptr_t)arg;
	const struct timespec moment = {0, 30000};
	pthread_t thread;

	for (int i = 0; i < WATCHED; i++)
		counter[number][i] =
			watch((char *)__builtin_thread_pointer() + __rseq_offset + watched_off[i]);
	for (int i = 0; i < ROUNDS; i++) {
		wait_for_turn(number);
		nanosleep(&moment, NULL);
		raise(SIGUSR1);
		if (i % 8 == 0)
			burn(3);
		if (!pthread_create(&thread, NULL, ends_at_once, NULL))
			pthread_join(thread, NULL);
	}
	if (number == 0)
		have_children();
	return NULL;
}

int main(void)
{
	static volatile uint64_t control __attribute__((aligned(8)));
	pthread_t thread[THREADS];
	int control_fd = watch(&control);
	uint64_t stores = 0;

	if (control_fd < 0 || !__rseq_size)
		return LEAVE;
	signal(SIGTRAP, on_trap);
	for (int i = 0; i < CONTROL_STORES; i++)
		control++;
	signal(SIGUSR1, on_signal);
	for (intptr_t i = 0; i < THREADS; i++)
		pthread_create(&thread[i], NULL, works, (void *)i);
	for (int i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	for (int i = 0; i < THREADS; i++)
		for (int k = 0; k < WATCHED; k++)
			stores += count_of(counter[i][k]);
	printf("stores %llu control %llu\n", (unsigned long long)stores,
	       (unsigned long long)count_of(control_fd));
	return 0;
}
