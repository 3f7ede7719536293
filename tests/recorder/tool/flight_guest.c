/*
 * flight_guest.c - does what it is told, line by line on standard input, and says on standard
 * output what really happened; for the tests of trace-record --flight.
 *
 *   (at the beginning)   "pid PID"
 *   events N             N counter events by this thread          -> "ok N so far"
 *   park MS              waits MS ms for a mutex                   -> "ok NANOSECONDS OBJECT"
 *   stuck                a thread waits for a mutex from now on    -> "ok TID OBJECT"
 *   free                 it has it                                 -> "ok"
 *   region NAME MS       a region that takes MS ms                 -> "ok NANOSECONDS"
 *   task NAME MS         a task likewise                           -> "ok NANOSECONDS"
 *   catch SIG            from now on it counts this signal         -> "ok"
 *   caught               how often                                 -> "ok N"
 *   use N                of the procs, the first N                 -> "ok"
 *   threads N            N threads begin and end, one by one       -> "ok"
 *   exit N, _exit N, raise SIG                                     (no answer)
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <trc/trace.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static _Atomic int held, waiter_tid;
static volatile sig_atomic_t caught;
static pthread_t waiter;
static long n_events;

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static void sleep_ms(long ms)
{
	struct timespec t = {ms / 1000, ms % 1000 * 1000000};

	while (nanosleep(&t, &t) && errno == EINTR)
		;
}

static void *hold(void *ms)
{
	pthread_mutex_lock(&mutex);
	atomic_store(&held, 1);
	sleep_ms(*(long *)ms);
	pthread_mutex_unlock(&mutex);
	return NULL;
}

static void park(long ms)
{
	pthread_t holder;
	uint64_t start_ns;

	atomic_store(&held, 0);
	pthread_create(&holder, NULL, hold, &ms);
	while (!atomic_load(&held))
		sched_yield();
	start_ns = now_ns();
	pthread_mutex_lock(&mutex);
	printf("ok %llu %p\n", (unsigned long long)(now_ns() - start_ns), (void *)&mutex);
	pthread_mutex_unlock(&mutex);
	pthread_join(holder, NULL);
}

static void *wait_for_it(void *arg)
{
	atomic_store(&waiter_tid, (int)gettid());
	pthread_mutex_lock(&mutex);
	pthread_mutex_unlock(&mutex);
	atomic_store(&waiter_tid, 0);
	return NULL;
}

static void stuck(void)
{
	pthread_mutex_lock(&mutex);
	atomic_store(&waiter_tid, 0);
	pthread_create(&waiter, NULL, wait_for_it, NULL);
	while (!atomic_load(&waiter_tid))
		sched_yield();
	printf("ok %d %p\n", atomic_load(&waiter_tid), (void *)&mutex);
}

static void region(const char *name, long ms)
{
	uint64_t start_ns = now_ns();

	trace_region_begin(0, name);
	sleep_ms(ms);
	trace_region_end();
	printf("ok %llu\n", (unsigned long long)(now_ns() - start_ns));
}

static void task(const char *name, long ms)
{
	uint64_t start_ns = now_ns();
	trace_task t = trace_task_begin(name, 0);

	sleep_ms(ms);
	trace_task_end(t);
	printf("ok %llu\n", (unsigned long long)(now_ns() - start_ns));
}

static void on_signal(int sig)
{
	caught++;
}

static void use(int n)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	for (int i = 0; i < n; i++)
		CPU_SET((size_t)i, &set);
	puts(sched_setaffinity(0, sizeof(set), &set) ? "failed" : "ok");
}

static void *nothing(void *arg)
{
	return NULL;
}

static void threads(long n)
{
	for (long i = 0; i < n; i++) {
		pthread_t t;

		pthread_create(&t, NULL, nothing, NULL);
		pthread_join(t, NULL);
	}
	puts("ok");
}

static void one(const char *verb, const char *name, long n)
{
	if (!strcmp(verb, "events")) {
		for (long i = 0; i < n; i++)
			trace_counter_set("guest", n_events++);
		printf("ok %ld so far\n", n_events);
	} else if (!strcmp(verb, "park")) {
		park(n);
	} else if (!strcmp(verb, "stuck")) {
		stuck();
	} else if (!strcmp(verb, "free")) {
		pthread_mutex_unlock(&mutex);
		while (atomic_load(&waiter_tid)) /* a join may take long, and would be a wait */
			sched_yield();
		pthread_detach(waiter);
		puts("ok");
	} else if (!strcmp(verb, "region")) {
		region(name, n);
	} else if (!strcmp(verb, "task")) {
		task(name, n);
	} else if (!strcmp(verb, "catch")) {
		signal((int)n, on_signal);
		puts("ok");
	} else if (!strcmp(verb, "caught")) {
		printf("ok %d\n", (int)caught);
	} else if (!strcmp(verb, "use")) {
		use((int)n);
	} else if (!strcmp(verb, "threads")) {
		threads(n);
	} else if (!strcmp(verb, "exit")) {
		exit((int)n);
	} else if (!strcmp(verb, "_exit")) {
		_exit((int)n);
	} else if (!strcmp(verb, "raise")) {
		raise((int)n);
	} else {
		puts("what?");
	}
}

int main(void)
{
	char line[256];

	printf("pid %d\n", (int)getpid());
	for (;;) {
		char verb[32] = "", name[64] = "";
		long n = 0;

		fflush(stdout);
		if (!fgets(line, sizeof(line), stdin))
			return ferror(stdin) ? 99 : 0;
		if (sscanf(line, "%31s %63s %ld", verb, name, &n) < 3)
			n = atol(name);
		one(verb, name, n);
	}
}
