/*
 * truth_locks.c - a program that keeps account of its own locks and of how long it takes to be run.
 *
 *   truth_locks holds      threads take a mutex and a rwlock: how long each was held
 *   truth_locks convoy     threads queue up for a mutex, which then goes from one to the next
 *   truth_locks preempted  a thread loses its processor to others while it holds a mutex
 *   truth_locks wakes      a thread is woken again and again, by one of three: from before the post to after the wait
 *   truth_locks again      a lock that was waited for is given back and taken again, and only then wanted
 *   truth_locks starts     threads are created, one after the other: from before that to their first step
 *
 * Output, separated by tabs: what, name, count, total_ns, p50_ns, p99_ns, max_ns.  Of a convoy the count is
 * of hand-overs, total_ns how long it lasted.  Each wake and each start is a line of its own: "wake", latency_ns, and of
 * a wake the thread that posted and the processor on which the other one ran then, or -1.  So is each
 * lock that is taken again: "again", how it was given back, the least and the most that it was held before the
 * release that somebody waited for, in ns.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "truth.h"
#include "tests/recorder/interpose/blocked.h"

enum { THREADS = 4, TURNS = 400, QUEUE = 6, ROUNDS = 5, SECTIONS = 4, WAKES = 300, STARTS = 50 };

struct held {
	uint64_t ns[THREADS * TURNS];
	atomic_uint n;
};

pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
struct {
	int other;
	pthread_rwlock_t lock;
} table = {0, PTHREAD_RWLOCK_INITIALIZER};
static struct held of_mutex, of_readers, of_writers;

static void work(uint64_t ns)
{
	uint64_t from = now_ns();

	while (now_ns() - from < ns)
		;
}

static int by_value(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static void print(const char *what, const char *name, uint64_t *ns, unsigned int n)
{
	uint64_t total = 0;

	qsort(ns, n, sizeof(*ns), by_value);
	for (unsigned int i = 0; i < n; i++)
		total += ns[i];
	printf("%s\t%s\t%u\t%ju\t%ju\t%ju\t%ju\n", what, name, n, (uintmax_t)total,
	       (uintmax_t)ns[(n * 50 + 99) / 100 - 1], (uintmax_t)ns[(n * 99 + 99) / 100 - 1],
	       (uintmax_t)ns[n - 1]);
}

static void start(pthread_t *thread, void *(*run)(void *), uintptr_t arg)
{
	if (pthread_create(thread, NULL, run, (void *)arg))
		exit(2);
}

/* ---- holds ---- */

static void held_for(struct held *held, uint64_t from_ns)
{
	held->ns[held->n++] = now_ns() - from_ns;
}

static void *holder(void *arg)
{
	unsigned int seed = (unsigned int)(uintptr_t)arg + 1;
	uint64_t from;

	for (int i = 0; i < TURNS; i++) {
		uint64_t ns = 20000 + (uint64_t)(rand_r(&seed) % 60) * 1000;
		bool writes = rand_r(&seed) % 4 == 0;

		pthread_mutex_lock(&mutex);
		from = now_ns();
		work(ns);
		held_for(&of_mutex, from);
		pthread_mutex_unlock(&mutex);
		if (writes)
			pthread_rwlock_wrlock(&table.lock);
		else
			pthread_rwlock_rdlock(&table.lock);
		from = now_ns();
		work(ns / 2);
		held_for(writes ? &of_writers : &of_readers, from);
		pthread_rwlock_unlock(&table.lock);
		work((uint64_t)(rand_r(&seed) % 100) * 1000);
	}
	return NULL;
}

static void holds(void)
{
	pthread_t thread[THREADS];

	for (uintptr_t i = 0; i < THREADS; i++)
		start(&thread[i], holder, i);
	for (int i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	print("hold", "mutex", of_mutex.ns, of_mutex.n);
	print("hold", "readers", of_readers.ns, of_readers.n);
	print("hold", "writers", of_writers.ns, of_writers.n);
}

/* ---- convoy ---- */

static atomic_uint n_asking;
static atomic_uint_fast64_t last_taken_ns;

static void *queues_up(void *arg)
{
	(void)arg;
	n_asking++;
	pthread_mutex_lock(&mutex);
	last_taken_ns = now_ns();
	work(2000000);
	pthread_mutex_unlock(&mutex);
	return NULL;
}

static uint64_t one_convoy(void)
{
	pthread_t thread[QUEUE];
	uint64_t released;

	n_asking = 0;
	pthread_mutex_lock(&mutex);
	for (uintptr_t i = 0; i < QUEUE; i++)
		start(&thread[i], queues_up, i);
	while (n_asking < QUEUE)
		usleep(1000);
	await_others(); /* all of them wait */
	released = now_ns();
	pthread_mutex_unlock(&mutex);
	for (int i = 0; i < QUEUE; i++)
		pthread_join(thread[i], NULL);
	return last_taken_ns - released;
}

static void convoy(void)
{
	for (int i = 0; i < ROUNDS; i++)
		printf("convoy\tmutex\t%d\t%ju\t0\t0\t0\n", QUEUE, (uintmax_t)one_convoy());
}

/* ---- preempted ---- */

static atomic_bool over;
static atomic_uint n_waiters;

static void pin_to_first(void)
{
	cpu_set_t may, first;

	sched_getaffinity(0, sizeof(may), &may);
	CPU_ZERO(&first);
	for (size_t cpu = 0; cpu < CPU_SETSIZE; cpu++)
		if (CPU_ISSET(cpu, &may)) {
			CPU_SET(cpu, &first);
			break;
		}
	sched_setaffinity(0, sizeof(first), &first);
}

static void *busy(void *arg)
{
	(void)arg;
	pin_to_first();
	while (!over)
		;
	return NULL;
}

static void *waiter(void *arg)
{
	(void)arg;
	n_waiters++;
	pthread_mutex_lock(&mutex);
	pthread_mutex_unlock(&mutex);
	return NULL;
}

/* How long the kernel had this thread wait for a processor. */
static uint64_t run_delay_ns(void)
{
	char path[64];
	unsigned long long ran = 0, waited = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/self/task/%ld/schedstat", (long)syscall(SYS_gettid));
	file = fopen(path, "r");
	if (!file || fscanf(file, "%llu %llu", &ran, &waited) != 2)
		exit(77);
	fclose(file);
	return waited;
}

static uint64_t own_cpu_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

static void *loses_its_processor(void *arg)
{
	static uint64_t delay[SECTIONS];
	pthread_t busy_thread[2], waiting;
	uint64_t from;

	(void)arg;
	pin_to_first();
	for (uintptr_t i = 0; i < 2; i++)
		start(&busy_thread[i], busy, i);
	for (unsigned int i = 0; i < SECTIONS; i++) {
		pthread_mutex_lock(&mutex);
		start(&waiting, waiter, 0);
		while (n_waiters <= i)
			usleep(1000);
		/* Who waits took the time before this says that it does. */
		while (__atomic_load_n(&mutex.__data.__lock, __ATOMIC_RELAXED) < 2)
			usleep(1000);
		delay[i] = run_delay_ns();
		from = own_cpu_ns();
		while (own_cpu_ns() - from < 50000000)
			;
		delay[i] = run_delay_ns() - delay[i];
		pthread_mutex_unlock(&mutex);
		pthread_join(waiting, NULL);
	}
	over = true;
	for (int i = 0; i < 2; i++)
		pthread_join(busy_thread[i], NULL);
	print("preempted", "mutex", delay, SECTIONS);
	return NULL;
}

static void preempted(void)
{
	pthread_t thread;

	start(&thread, loses_its_processor, 0);
	pthread_join(thread, NULL);
}

/* ---- wakes ---- */

static sem_t asked;
static atomic_uint_fast64_t posted_ns;
static uint64_t woken_after_ns[WAKES];
static int woken_on[WAKES]; /* the processor; -1: it moved meanwhile */
static atomic_uint n_woken;
static const char *const poster_name[] = {"poster-0", "poster-1", "poster-2"};
enum { POSTERS = 3 };

static void *is_woken(void *arg)
{
	(void)arg;
	pthread_setname_np(pthread_self(), "woken");
	for (unsigned int i = 0; i < WAKES; i++) {
		while (sem_wait(&asked))
			;
		woken_on[i] = sched_getcpu();
		woken_after_ns[i] = now_ns() - posted_ns;
		if (sched_getcpu() != woken_on[i])
			woken_on[i] = -1;
		n_woken = i + 1;
	}
	return NULL;
}

/* One of them more often: of six wakes four. */
static unsigned int poster_of(unsigned int wake)
{
	return wake % 6 < 4 ? 0 : wake % 6 - 3;
}

static void *posts(void *arg)
{
	unsigned int me = (unsigned int)(uintptr_t)arg;

	pthread_setname_np(pthread_self(), poster_name[me]);
	for (unsigned int i = 0; i < WAKES; i++) {
		if (poster_of(i) != me)
			continue;
		while (n_woken < i)
			usleep(500);
		usleep(3000);
		posted_ns = now_ns();
		sem_post(&asked);
	}
	return NULL;
}

static void wakes(void)
{
	pthread_t thread, poster[POSTERS];

	sem_init(&asked, 0, 0);
	start(&thread, is_woken, 0);
	for (uintptr_t i = 0; i < POSTERS; i++)
		start(&poster[i], posts, i);
	for (unsigned int i = 0; i < POSTERS; i++)
		pthread_join(poster[i], NULL);
	pthread_join(thread, NULL);
	for (unsigned int i = 0; i < WAKES; i++)
		printf("wake\t%ju\t%s\t%d\n", (uintmax_t)woken_after_ns[i],
		       poster_name[poster_of(i)], woken_on[i]);
}

/* ---- starts ---- */

static void *starts_now(void *arg)
{
	*(uint64_t *)arg = now_ns() - *(uint64_t *)arg;
	return NULL;
}

static void starts(void)
{
	pthread_t thread;

	for (unsigned int i = 0; i < STARTS; i++) {
		uint64_t ns = now_ns();

		start(&thread, starts_now, (uintptr_t)&ns);
		pthread_join(thread, NULL);
		printf("start\t%ju\n", (uintmax_t)ns);
	}
}

/* ---- again ---- */

enum { APART_US = 200000 };

static pthread_mutex_t recursive = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static pthread_cond_t never = PTHREAD_COND_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_spinlock_t spin;

static void lock_mutex(void)
{
	pthread_mutex_lock(&mutex);
}
static void unlock_mutex(void)
{
	pthread_mutex_unlock(&mutex);
}
static void lock_recursive(void)
{
	pthread_mutex_lock(&recursive);
}
static void unlock_recursive(void)
{
	pthread_mutex_unlock(&recursive);
}
static void lock_rwlock(void)
{
	pthread_rwlock_wrlock(&rwlock);
}
static void unlock_rwlock(void)
{
	pthread_rwlock_unlock(&rwlock);
}
static void lock_spin(void)
{
	pthread_spin_lock(&spin);
}
static void unlock_spin(void)
{
	pthread_spin_unlock(&spin);
}

static void give_and_take_mutex(void)
{
	unlock_mutex();
	usleep(APART_US);
	lock_mutex();
}

static void give_and_take_rwlock(void)
{
	unlock_rwlock();
	usleep(APART_US);
	lock_rwlock();
}

static void give_and_take_spin(void)
{
	unlock_spin();
	usleep(APART_US);
	lock_spin();
}

/* By libc's own function, which nobody sees. */
static void give_unseen_and_take(void)
{
	void *libc = dlopen("libc.so.6", RTLD_NOW | RTLD_NOLOAD);
	int (*unlock)(pthread_mutex_t *) =
		libc ? (int (*)(pthread_mutex_t *))dlsym(libc, "pthread_mutex_unlock") : NULL;

	if (!unlock)
		exit(2);
	unlock(&mutex);
	usleep(APART_US);
	lock_mutex();
}

/* A wait for a condition gives the mutex back as well. */
static void wait_for_never(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_REALTIME, &ts);
	ts.tv_nsec += APART_US * 1000;
	ts.tv_sec += ts.tv_nsec / 1000000000;
	ts.tv_nsec %= 1000000000;
	if (pthread_cond_timedwait(&never, &mutex, &ts) != ETIMEDOUT)
		exit(2);
}

/* It stays held. */
static void take_and_give_nested(void)
{
	usleep(APART_US);
	lock_recursive();
	unlock_recursive();
}

static const struct way {
	const char *name;
	void (*lock)(void), (*unlock)(void), (*again)(void);
	bool is_spin, stays_held;
} ways[] = {
	{"unlock", lock_mutex, unlock_mutex, give_and_take_mutex, false, false},
	{"unseen", lock_mutex, unlock_mutex, give_unseen_and_take, false, false},
	{"cond", lock_mutex, unlock_mutex, wait_for_never, false, false},
	{"nested", lock_recursive, unlock_recursive, take_and_give_nested, false, true},
	{"rwlock", lock_rwlock, unlock_rwlock, give_and_take_rwlock, false, false},
	{"spin", lock_spin, unlock_spin, give_and_take_spin, true, false},
};

static atomic_int who_waits; /* its tid, just before it asks for the lock; 0 = nobody */

/* Of a thread's processor time, by the number of its clock. */
static uint64_t cpu_ns_of(int tid)
{
	struct timespec ts = {0, 0};

	clock_gettime((clockid_t)(~(unsigned int)tid << 3 | 6), &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

static bool sleeps(int tid)
{
	char path[64], line[256] = "";
	const char *state;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/self/task/%d/stat", tid);
	file = fopen(path, "r");
	if (!file)
		exit(2);
	state = fgets(line, sizeof(line), file) ? strrchr(line, ')') : NULL;
	fclose(file);
	return state && state[2] == 'S';
}

/* Until it sleeps in its wait, or has spun for long. */
static void until_it_waits(const struct way *way)
{
	uint64_t cpu_ns;

	while (!who_waits)
		usleep(1000);
	cpu_ns = cpu_ns_of(who_waits);
	while (way->is_spin ? cpu_ns_of(who_waits) - cpu_ns < 5000000 : !sleeps(who_waits))
		usleep(1000);
	who_waits = 0;
}

static void *wants_it_too(void *arg)
{
	const struct way *way = arg;

	who_waits = gettid();
	way->lock();
	way->unlock();
	return NULL;
}

static void *takes_it_again(void *arg)
{
	const struct way *way = arg;
	uint64_t before, after, least, most;
	pthread_t other;

	pthread_setname_np(pthread_self(), way->name);
	who_waits = gettid();
	before = now_ns();
	way->lock();
	after = now_ns();
	if (!way->stays_held)
		before = now_ns();
	way->again();
	if (!way->stays_held) {
		before += APART_US * 1000;
		after = now_ns();
	}
	start(&other, wants_it_too, (uintptr_t)way);
	until_it_waits(way);
	least = now_ns() - after;
	way->unlock();
	most = now_ns() - before;
	pthread_join(other, NULL);
	printf("again\t%s\t%ju\t%ju\n", way->name, (uintmax_t)least, (uintmax_t)most);
	return NULL;
}

static void again(void)
{
	pthread_t thread;

	pthread_spin_init(&spin, PTHREAD_PROCESS_PRIVATE);
	for (size_t i = 0; i < sizeof(ways) / sizeof(*ways); i++) {
		ways[i].lock();
		start(&thread, takes_it_again, (uintptr_t)&ways[i]);
		until_it_waits(&ways[i]);
		ways[i].unlock();
		pthread_join(thread, NULL);
	}
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(void);
	} MODES[] = {{"holds", holds}, {"convoy", convoy}, {"preempted", preempted},
		     {"wakes", wakes}, {"starts", starts}, {"again", again}};

	truth_begin();
	for (size_t i = 0; argc > 1 && i < sizeof(MODES) / sizeof(*MODES); i++)
		if (!strcmp(argv[1], MODES[i].name)) {
			MODES[i].run();
			return truth_print(stdout);
		}
	return 2;
}
