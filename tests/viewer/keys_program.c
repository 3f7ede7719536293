/*
 * keys_program.c - a slow request, and a starved thread.  Recorded by keys.sh.
 *
 * Of a few requests one waits for a lock that "blocker" holds for half a second.  Then two threads compute on one processor: "victim"
 * has the lowest priority, and hardly ever runs.
 */
#define _GNU_SOURCE 1 /* CPU_SET(), gettid(), pthread_setname_np() */
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/resource.h>
#include <time.h>
#include <trc/trace.h>
#include <unistd.h>

enum { REQUESTS = 5, SLOW = 3, HOLD_MS = 500, CPU_MS = 300 };

static pthread_mutex_t prices = PTHREAD_MUTEX_INITIALIZER;
static sem_t wanted, held;
static atomic_bool done;

/* Runs in "blocker". */
static void *prices_block(void *unused)
{
	trace_thread_set_name("blocker");
	sem_wait(&wanted);
	pthread_mutex_lock(&prices);
	sem_post(&held);
	nanosleep(&(struct timespec){.tv_nsec = HOLD_MS * 1000000L}, NULL);
	pthread_mutex_unlock(&prices);
	return unused;
}

static void request_handle(int number)
{
	trace_task task = trace_task_begin("request", 0);

	if (number == SLOW) {
		sem_post(&wanted);
		sem_wait(&held);
	}
	pthread_mutex_lock(&prices);
	pthread_mutex_unlock(&prices);
	trace_task_end(task);
}

static void *serve(void *unused)
{
	trace_thread_set_name("server");
	for (int i = 0; i < REQUESTS; i++)
		request_handle(i);
	return unused;
}

static long cpu_ms(void)
{
	struct timespec used;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
	return used.tv_sec * 1000 + used.tv_nsec / 1000000;
}

static void *hog(void *unused)
{
	trace_thread_set_name("hog");
	while (cpu_ms() < CPU_MS)
		;
	atomic_store(&done, true);
	return unused;
}

static void *victim(void *unused)
{
	trace_thread_set_name("victim");
	setpriority(PRIO_PROCESS, (id_t)gettid(), 19);
	while (!atomic_load(&done))
		;
	return unused;
}

/* All threads that begin from now on share one processor. */
static void one_processor(void)
{
	cpu_set_t set;
	size_t cpu = 0;

	sched_getaffinity(0, sizeof(set), &set);
	while (!CPU_ISSET(cpu, &set))
		cpu++;
	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	sched_setaffinity(0, sizeof(set), &set);
}

static void both_run(void *(*one)(void *), void *(*other)(void *))
{
	pthread_t threads[2];

	pthread_create(&threads[0], NULL, one, NULL);
	pthread_create(&threads[1], NULL, other, NULL);
	pthread_join(threads[0], NULL);
	pthread_join(threads[1], NULL);
}

int main(void)
{
	sem_init(&wanted, 0, 0);
	sem_init(&held, 0, 0);
	both_run(prices_block, serve);
	one_processor();
	both_run(victim, hog);
	return 0;
}
