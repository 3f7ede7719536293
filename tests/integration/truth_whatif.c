/*
 * truth_whatif.c - programs that are recorded as they are, and really changed: what --what-if predicts is held
 * against what the change does.
 *
 *   truth_whatif CASE [changed]
 *   TRUTH_TIMES=7 truth_whatif ...   lock, two and rw: so many times as many turns
 *   TRUTH_FREE=1 truth_whatif lock   the lock is free a third of the time: else which thread gets it next decides how long the
 *                                    longest turns take
 *
 *   lock   threads share a lock; changed: its section takes half the time
 *   two    threads take two locks one after the other; changed: without the second
 *   queue  workers take requests from a queue; changed: their work takes half the time
 *   rw     readers and writers share a lock; changed: its sections take half the time
 *   rw_many  many readers and a writer; changed: without the lock
 *   rw_prefer  readers and more writers, which the lock prefers; changed: without the lock
 *   procs  threads share all processors; changed: one
 *   procs_more  threads share one processor; changed: two
 *   function  turns that work in two functions, one of which takes long now and then; changed: half of that
 *
 * What takes time sleeps, except in `procs`, so that a busy machine matters little.  How much it mattered is
 * measured: how much later than asked sleeps ended, how long threads could have run without a processor, and how much of one
 * processor there was.
 *
 * Output, a line each, separated by tabs: "length", ns; "task", type, number, mean, p50, p99 in ns; "late", parts
 * of a thousand of the slept time; "late_sleeps", parts of a thousand of the sleeps that ended late; "delayed", parts of a thousand of the threads'
 * time in which they could have run, but had no processor, 0 where the kernel does not tell; "cpu", ns; "function", ns in what the change halves.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define _GNU_SOURCE 1
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <trc/trace.h>

enum { TASKS_MAX = 4096, TYPES = 2, THREADS = 6, SLEEP_NOISE_NS = 150000 };

#define SITE __attribute__((noinline))

struct type {
	const char *name;
	atomic_uint n;
	uint64_t ns[TASKS_MAX];
};

static struct type type[TYPES];
static bool changed, is_free;
static int times = 1;
static atomic_ullong slept_ns, late_ns, sleeps, late_sleeps, delayed_ns, lived_ns;

static uint64_t clock_ns(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return (uint64_t)ts.tv_sec * UINT64_C(1000000000) + (uint64_t)ts.tv_nsec;
}

static uint64_t now_ns(void)
{
	return clock_ns(CLOCK_MONOTONIC);
}

static void sleep_us(unsigned int us)
{
	struct timespec ts = {.tv_nsec = (long)us * 1000};
	uint64_t from = now_ns(), took, late;

	nanosleep(&ts, NULL);
	took = now_ns() - from;
	late = took > us * UINT64_C(1000) + SLEEP_NOISE_NS ? took - us * UINT64_C(1000) : 0;
	atomic_fetch_add(&slept_ns, us * UINT64_C(1000));
	atomic_fetch_add(&late_ns, late);
	atomic_fetch_add(&sleeps, 1);
	atomic_fetch_add(&late_sleeps, late != 0);
}

/* In what the change halves. */
static void sleep_half_us(unsigned int us)
{
	sleep_us(changed ? us / 2 : us);
}

struct task {
	trace_task task;
	uint64_t from_ns;
	struct type *type;
};

static struct task task_begin(struct type *of)
{
	return (struct task){trace_task_begin(of->name, 0), now_ns(), of};
}

static void task_end(const struct task *t)
{
	unsigned int i = atomic_fetch_add(&t->type->n, 1);

	if (i < TASKS_MAX)
		t->type->ns[i] = now_ns() - t->from_ns;
	trace_task_end(t->task);
}

struct body {
	void *(*main)(void *);
	intptr_t number;
};

static void *run_body(void *arg)
{
	const struct body *body = arg;
	uint64_t from = now_ns();
	unsigned long long ns;
	FILE *stat;

	body->main((void *)body->number);
	atomic_fetch_add(&lived_ns, now_ns() - from);
	stat = fopen("/proc/thread-self/schedstat", "r");
	if (stat && fscanf(stat, "%*u %llu", &ns) == 1)
		atomic_fetch_add(&delayed_ns, ns);
	if (stat)
		fclose(stat);
	return NULL;
}

static void run_threads(void *(*const *main)(void *), int n)
{
	struct body body[16];
	pthread_t thread[16];

	while (n && !main[n - 1])
		n--;
	for (int i = 0; i < n; i++) {
		body[i] = (struct body){main[i], i};
		if (pthread_create(&thread[i], NULL, run_body, &body[i]))
			exit(1);
	}
	for (int i = 0; i < n; i++)
		pthread_join(thread[i], NULL);
}

/* ---- lock, two ---- */

static pthread_mutex_t first_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t second_lock = PTHREAD_MUTEX_INITIALIZER;

static unsigned int think_us(unsigned int *seed, unsigned int least, unsigned int more)
{
	return least + (unsigned int)rand_r(seed) % more;
}

static void *lock_main(void *arg)
{
	unsigned int seed = (unsigned int)(intptr_t)arg + 1;

	for (int i = 0; i < 60 * times; i++) {
		struct task t = task_begin(&type[0]);

		sleep_us(is_free ? think_us(&seed, 9000, 9000) : think_us(&seed, 3000, 3000));
		pthread_mutex_lock(&first_lock);
		sleep_half_us(3000);
		pthread_mutex_unlock(&first_lock);
		task_end(&t);
	}
	return NULL;
}

static void *two_main(void *arg)
{
	unsigned int seed = (unsigned int)(intptr_t)arg + 1;

	for (int i = 0; i < 60 * times; i++) {
		struct task t = task_begin(&type[0]);

		sleep_us(think_us(&seed, 2000, 2000));
		pthread_mutex_lock(&first_lock);
		sleep_us(1500);
		pthread_mutex_unlock(&first_lock);
		if (!changed)
			pthread_mutex_lock(&second_lock);
		sleep_us(3000);
		if (!changed)
			pthread_mutex_unlock(&second_lock);
		task_end(&t);
	}
	return NULL;
}

/* ---- queue ---- */

enum { REQUESTS = 240, WORKERS = 3 };

static struct {
	pthread_mutex_t lock;
	pthread_cond_t not_empty;
	struct task request[REQUESTS];
	unsigned int head, tail;
	bool closed;
} queue = {.lock = PTHREAD_MUTEX_INITIALIZER, .not_empty = PTHREAD_COND_INITIALIZER};

static void *queue_producer(void *arg)
{
	for (int i = 0; i < REQUESTS; i++) {
		struct task t;

		sleep_us(2000);
		t = task_begin(&type[0]);
		pthread_mutex_lock(&queue.lock);
		queue.request[queue.tail++] = t;
		pthread_cond_signal(&queue.not_empty);
		pthread_mutex_unlock(&queue.lock);
	}
	pthread_mutex_lock(&queue.lock);
	queue.closed = true;
	pthread_cond_broadcast(&queue.not_empty);
	pthread_mutex_unlock(&queue.lock);
	return arg;
}

static bool queue_pop(struct task *t)
{
	bool got;

	pthread_mutex_lock(&queue.lock);
	while (queue.head == queue.tail && !queue.closed)
		pthread_cond_wait(&queue.not_empty, &queue.lock);
	got = queue.head != queue.tail;
	if (got)
		*t = queue.request[queue.head++];
	pthread_mutex_unlock(&queue.lock);
	return got;
}

static SITE void queue_work(void)
{
	sleep_half_us(6600); /* of three workers, for requests every 2 ms: they fall behind */
	atomic_signal_fence(memory_order_seq_cst);
}

static void *queue_worker(void *arg)
{
	struct task t;

	while (queue_pop(&t)) {
		queue_work();
		sleep_us(400);
		task_end(&t);
	}
	return arg;
}

/* ---- rw ---- */

static pthread_rwlock_t table_lock = PTHREAD_RWLOCK_INITIALIZER;

static bool lock_is_left_out; /* the change is that, and not to the sections */

static void rw_lock(bool write)
{
	if (changed && lock_is_left_out)
		return;
	if (write)
		pthread_rwlock_wrlock(&table_lock);
	else
		pthread_rwlock_rdlock(&table_lock);
}

static void rw_unlock(void)
{
	if (!changed || !lock_is_left_out)
		pthread_rwlock_unlock(&table_lock);
}

static void rw_section_us(unsigned int us)
{
	if (lock_is_left_out)
		sleep_us(us);
	else
		sleep_half_us(us);
}

static void *rw_reader(void *arg)
{
	unsigned int seed = (unsigned int)(intptr_t)arg + 1;

	for (int i = 0; i < 100 * times; i++) {
		struct task t;

		sleep_us(think_us(&seed, 3000, 3000));
		t = task_begin(&type[0]);
		rw_lock(false);
		rw_section_us(2000);
		rw_unlock();
		sleep_us(1000);
		task_end(&t);
	}
	return NULL;
}

static void *rw_writer(void *arg)
{
	unsigned int seed = (unsigned int)(intptr_t)arg + 1;

	for (int i = 0; i < 60 * times; i++) {
		struct task t;

		sleep_us(think_us(&seed, 4000, 3000));
		t = task_begin(&type[1]);
		rw_lock(true);
		rw_section_us(4000);
		rw_unlock();
		sleep_us(1000);
		task_end(&t);
	}
	return NULL;
}

static void prefer_writers(void)
{
	pthread_rwlockattr_t attr;

	pthread_rwlockattr_init(&attr);
	pthread_rwlockattr_setkind_np(&attr, PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
	pthread_rwlock_init(&table_lock, &attr);
}

/* ---- procs ---- */

static void burn_us(unsigned int us)
{
	uint64_t from = clock_ns(CLOCK_THREAD_CPUTIME_ID);

	while (clock_ns(CLOCK_THREAD_CPUTIME_ID) - from < us * UINT64_C(1000))
		;
}

static void *procs_main(void *arg)
{
	for (int i = 0; i < 12; i++) {
		struct task t = task_begin(&type[0]);

		burn_us(20000);
		task_end(&t);
	}
	return arg;
}

static atomic_ullong function_ns;

static SITE void parse(unsigned int us)
{
	uint64_t from = now_ns();

	burn_us(changed ? us / 2 : us);
	atomic_fetch_add(&function_ns, now_ns() - from);
}

static SITE void render(unsigned int us)
{
	burn_us(us);
	atomic_fetch_add(&slept_ns, 0); /* so that the call is not the last thing that it does */
}

static void *function_main(void *arg)
{
	for (int i = 0; i < 80 && !arg; i++) {
		struct task t = task_begin(&type[0]);

		parse(i % 4 ? 1000 : 10000);
		render(3000);
		task_end(&t);
		sleep_us(1000);
	}
	return arg;
}

static void use_procs(int n)
{
	cpu_set_t set, some;

	CPU_ZERO(&some);
	if (sched_getaffinity(0, sizeof(set), &set))
		exit(1);
	for (size_t i = 0; i < CPU_SETSIZE && CPU_COUNT(&some) < n; i++)
		if (CPU_ISSET(i, &set))
			CPU_SET(i, &some);
	if (CPU_COUNT(&some) < n)
		exit(77);
	if (sched_setaffinity(0, sizeof(some), &some))
		exit(1);
}

/* ---- all of it ---- */

typedef void *main_fn(void *);

static const struct {
	const char *name, *type[TYPES];
	main_fn *main[THREADS];
} cases[] = {
	{"lock", {"turn"}, {lock_main, lock_main, lock_main, lock_main}},
	{"two", {"turn"}, {two_main, two_main, two_main, two_main}},
	{"queue", {"request"}, {queue_producer, queue_worker, queue_worker, queue_worker}},
	{"rw", {"read", "write"}, {rw_reader, rw_reader, rw_writer, rw_writer}},
	{"rw_many",
	 {"read", "write"},
	 {rw_reader, rw_reader, rw_reader, rw_reader, rw_reader, rw_writer}},
	{"rw_prefer", {"read", "write"}, {rw_reader, rw_reader, rw_reader, rw_writer, rw_writer}},
	{"function", {"turn"}, {function_main, function_main, function_main, function_main}},
	{"procs", {"turn"}, {procs_main, procs_main, procs_main, procs_main}},
	{"procs_more", {"turn"}, {procs_main, procs_main, procs_main, procs_main}},
};

static int by_ns(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static void print_type(struct type *t)
{
	unsigned int n = atomic_load(&t->n);
	uint64_t sum = 0;

	if (!n)
		return;
	for (unsigned int i = 0; i < n; i++)
		sum += t->ns[i];
	qsort(t->ns, n, sizeof(t->ns[0]), by_ns);
	printf("task\t%s\t%u\t%ju\t%ju\t%ju\n", t->name, n, (uintmax_t)(sum / n),
	       (uintmax_t)t->ns[(n * 50 + 99) / 100 - 1],
	       (uintmax_t)t->ns[(n * 99 + 99) / 100 - 1]);
}

int main(int argc, char **argv)
{
	uint64_t from = now_ns();
	size_t c = 0;

	changed = argc == 3 && !strcmp(argv[2], "changed");
	if (getenv("TRUTH_TIMES"))
		times = atoi(getenv("TRUTH_TIMES"));
	while (c < sizeof(cases) / sizeof(cases[0]) && (argc < 2 || strcmp(argv[1], cases[c].name)))
		c++;
	if (c == sizeof(cases) / sizeof(cases[0]))
		return 2;
	for (int i = 0; i < TYPES; i++)
		type[i].name = cases[c].type[i];
	is_free = getenv("TRUTH_FREE") != NULL;
	lock_is_left_out = !strncmp(argv[1], "rw_", 3);
	if (!strcmp(argv[1], "rw_prefer"))
		prefer_writers();
	if (changed && !strcmp(argv[1], "procs"))
		use_procs(1);
	if (!strcmp(argv[1], "procs_more"))
		use_procs(changed ? 2 : 1);
	run_threads(cases[c].main, THREADS);
	printf("length\t%ju\n", (uintmax_t)(now_ns() - from));
	for (int i = 0; i < TYPES; i++)
		print_type(&type[i]);
	printf("late\t%ju\n", (uintmax_t)(late_ns * 1000 / (slept_ns ? slept_ns : 1)));
	printf("late_sleeps\t%ju\n", (uintmax_t)(late_sleeps * 1000 / (sleeps ? sleeps : 1)));
	printf("delayed\t%ju\n", (uintmax_t)(delayed_ns * 1000 / (lived_ns ? lived_ns : 1)));
	printf("cpu\t%ju\n", (uintmax_t)clock_ns(CLOCK_PROCESS_CPUTIME_ID));
	printf("function\t%ju\n", (uintmax_t)function_ns);
	return 0;
}
