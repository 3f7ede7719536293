/* self_test_program.c - the program that --self-test records; see self_test.h. */
#include <execinfo.h>
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>
#include "format/now.h"
#include "self_test.h"

enum { ROUNDS = 20, HOLD_NS = 2000000, CPU_NS = 200000000, LOOKS_MAX = 5000 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static sem_t is_locked, is_done;
static _Atomic int waiting_round;
static char waiter_stat[64]; /* the path in /proc that says whether the waiter sleeps */
static struct trc_self_test_account account;

/* How often the kernel has taken the thread off because it waited; false: it does not say. */
static bool waits_of_thread(long *waits)
{
	struct rusage usage;

	*waits = 0;
	if (getrusage(RUSAGE_THREAD, &usage))
		return false;
	*waits = usage.ru_nvcsw;
	return true;
}

/* Inlined, so that only the innermost frame differs from those of the wait. */
static inline __attribute__((always_inline)) void frames_take(void)
{
	void *frame[TRC_SELF_TEST_FRAMES];
	int n = backtrace(frame, TRC_SELF_TEST_FRAMES);

	account.n_frames = n < 0 ? 0 : (uint32_t)n;
	for (uint32_t i = 0; i < account.n_frames; i++)
		account.frame[i] = (uint64_t)(uintptr_t)frame[i];
}

/* Not inlined, and not left by a jump: so that the stack of the wait has it. */
static __attribute__((noinline)) long wait_for_lock(int round)
{
	uint64_t before_ns;
	long before, waits;
	bool waited;

	frames_take();
	waits_of_thread(&before);
	/* release: pairs with the acquire in hold_lock(), which then reads the path. */
	atomic_store_explicit(&waiting_round, round, memory_order_release);
	before_ns = trc_now_ns(CLOCK_MONOTONIC);
	pthread_mutex_lock(&lock);
	before_ns = trc_now_ns(CLOCK_MONOTONIC) - before_ns;
	pthread_mutex_unlock(&lock);
	/* A thread that waits does so for as long as the lock is held. */
	waited = waits_of_thread(&waits) ? waits > before : before_ns > HOLD_NS / 2;
	account.waits += waited;
	account.waited_ns += waited ? before_ns : 0;
	return waits;
}

static void use_cpu_time(void)
{
	uint64_t until_ns = trc_now_ns(CLOCK_THREAD_CPUTIME_ID) + CPU_NS;
	volatile unsigned int n = 0;

	while (trc_now_ns(CLOCK_THREAD_CPUTIME_ID) < until_ns)
		for (unsigned int i = 0; i < 1000; i++)
			n = n + i;
}

static void *waiter_main(void *none)
{
	long sum = 0;

	snprintf(waiter_stat, sizeof(waiter_stat), "/proc/self/task/%d/stat", gettid());
	for (int round = 1; round <= ROUNDS; round++) {
		sem_wait(&is_locked);
		sum += wait_for_lock(round);
		sem_post(&is_done);
	}
	use_cpu_time();
	return sum ? none : NULL;
}

/* True where /proc does not say. */
static bool waiter_sleeps(void)
{
	char text[256];
	int fd = open(waiter_stat, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	const char *state;

	if (fd >= 0)
		close(fd);
	text[n < 0 ? 0 : n] = '\0';
	state = strrchr(text, ')'); /* behind the name, which may contain anything */
	return !state || state[1] != ' ' || state[2] == 'S';
}

/* The lock is held until the waiter sleeps.  One that had no processor before would find the lock free: whether
 * that is a wait the trace and the kernel would tell differently. */
static void hold_lock(int round)
{
	struct timespec hold = {.tv_nsec = HOLD_NS}, look = {.tv_nsec = HOLD_NS / 10};

	pthread_mutex_lock(&lock);
	sem_post(&is_locked);
	/* acquire: pairs with the release in wait_for_lock(). */
	while (atomic_load_explicit(&waiting_round, memory_order_acquire) != round)
		nanosleep(&look, NULL);
	for (int looks = 0; looks < LOOKS_MAX && !waiter_sleeps(); looks++)
		nanosleep(&look, NULL);
	nanosleep(&hold, NULL);
	pthread_mutex_unlock(&lock);
	sem_wait(&is_done);
}

int trc_self_test_program(const char *account_path)
{
	pthread_t waiter;
	int fd;
	bool written;

	sem_init(&is_locked, 0, 0);
	sem_init(&is_done, 0, 0);
	if (pthread_create(&waiter, NULL, waiter_main, NULL))
		return 2;
	for (int round = 1; round <= ROUNDS; round++)
		hold_lock(round);
	pthread_join(waiter, NULL);
	account.lock = (uint64_t)(uintptr_t)&lock;
	account.cpu_ns = trc_now_ns(CLOCK_PROCESS_CPUTIME_ID);
	fd = open(account_path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	written = fd >= 0 && write(fd, &account, sizeof(account)) == (ssize_t)sizeof(account);
	if (fd >= 0)
		close(fd);
	return written ? 0 : 1;
}
