/*
 * shared_altstack.c - threads that all have one alternate stack, as those of varnishd.
 *
 *   shared_altstack SECONDS [large]    large: of more than the recorder's own
 *   shared_altstack race SECONDS
 *   shared_altstack ends
 *   shared_altstack forks SECONDS
 *   shared_altstack_before SECONDS EVENT TRACE   records itself, into TRACE, when the threads have
 *                                                the stack
 *   shared_altstack_before SECONDS EVENT TRACE handlers    when the threads are in handlers of theirs as well
 *
 * A sample may land in several of them at once.  Each thread computes the same twice and compares,
 * and looks whether sigaltstack() tells the stack that it asked for.
 *
 * race: threads ask for the stack at the same instant, again and again, and handle a signal each.
 * No two of the handlers run on it at a time.
 *
 * forks: threads ask for a large one again and again, and so does what a forked child runs before
 * fork() returns: none of the children hangs.
 *
 * ends: the main thread asks for it when the thread that has it runs its last destructor.  The
 * kernel has it for one of them at most.
 */
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "check_or_exit.h"
#ifdef RECORDS_ITSELF
#include <trc/trace.h>
#endif

enum { THREADS = 8, ROUNDS = 20000, RACERS = 3 };

static char common[2 << 20];
static size_t common_bytes = 64 << 10;
static atomic_bool done;
static atomic_uint n_set;

static uint64_t burn(uint64_t x)
{
	for (int i = 0; i < ROUNDS; i++)
		x = x * 6364136223846793005u + 1;
	return x;
}

static void stack_set(void)
{
	stack_t stack = {.ss_sp = common, .ss_size = common_bytes};

	CHECK(!sigaltstack(&stack, NULL));
}

static void *compute(void *arg)
{
	stack_t none = {.ss_flags = SS_DISABLE}, seen;

	stack_set();
	n_set++;
	for (uint64_t x = (uintptr_t)arg; !atomic_load(&done); x++) {
		CHECK(burn(x) == burn(x));
		CHECK(!sigaltstack(NULL, &seen));
		CHECK(seen.ss_sp == common && seen.ss_size == common_bytes && !seen.ss_flags);
	}
	CHECK(!sigaltstack(&none, &seen) && seen.ss_sp == common && !seen.ss_flags);
	CHECK(!sigaltstack(NULL, &seen) && seen.ss_flags == SS_DISABLE);
	return NULL;
}

/* ---- at the same instant ---------------------------------------------------------------- */

static atomic_uint arrived, on_it;
static atomic_ulong n_handled;

static void on_signal(int number)
{
	char here;
	bool is_on_it = (uintptr_t)&here - (uintptr_t)common < sizeof(common);

	CHECK(!is_on_it || atomic_fetch_add(&on_it, 1) == 0);
	for (int i = 0; i < 200; i++)
		__asm__ volatile("" ::: "memory");
	if (is_on_it)
		atomic_fetch_sub(&on_it, 1);
	n_handled++;
}

/* Without a system call, which would let one of them go first; on one processor, not for ever. */
static void meet(unsigned int round)
{
	atomic_fetch_add(&arrived, 1);
	for (unsigned int i = 0; atomic_load(&arrived) < round * RACERS; i++)
		if (i > 20000)
			sched_yield();
}

/* A thread that has not seen the end when another one has waits for nobody. */
static void *race(void *unused)
{
	stack_t none = {.ss_flags = SS_DISABLE};

	for (unsigned int round = 1; !atomic_load(&done) || round % 2 == 0; round++) {
		meet(round);
		if (round % 2) {
			stack_set();
			raise(SIGUSR1);
			continue;
		}
		CHECK(!sigaltstack(&none, NULL));
	}
	atomic_fetch_add(&arrived, UINT32_MAX / 8);
	return unused;
}

static void handle(void)
{
	struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_ONSTACK};

	CHECK(!sigaction(SIGUSR1, &action, NULL));
}

/* ---- at a thread's end ------------------------------------------------------------------ */

static pthread_key_t key;
static atomic_bool ends_now, asked, has_still;

static bool has_common(void)
{
	stack_t now;

	return !syscall(SYS_sigaltstack, NULL, &now) && now.ss_sp == common &&
	       !(now.ss_flags & SS_DISABLE);
}

/* In the last round behind the recorder's own destructor, whose key is older. */
static void on_end(void *round)
{
	if ((uintptr_t)round < 4) {
		CHECK(!pthread_setspecific(key, (void *)((uintptr_t)round + 1)));
		return;
	}
	ends_now = true;
	while (!asked)
		sched_yield();
	has_still = has_common();
}

static void *end_with_stack(void *unused)
{
	stack_set();
	CHECK(has_common() && !pthread_setspecific(key, (void *)1));
	return unused;
}

static int ends(void)
{
	pthread_t thread;
	bool has;

	CHECK(!pthread_key_create(&key, on_end));
	CHECK(!pthread_create(&thread, NULL, end_with_stack, NULL));
	while (!ends_now)
		sched_yield();
	stack_set();
	has = has_common();
	asked = true;
	CHECK(!pthread_join(thread, NULL) && !(has && has_still));
	return 0;
}

/* ---- in a forked child ------------------------------------------------------------------ */

static void *set_and_unset(void *unused)
{
	stack_t none = {.ss_flags = SS_DISABLE};

	while (!atomic_load(&done)) {
		stack_set();
		CHECK(!sigaltstack(&none, NULL));
	}
	return unused;
}

static int forks(unsigned int seconds)
{
	pthread_t thread[RACERS];
	time_t until = time(NULL) + seconds;
	int status;

	common_bytes = sizeof(common);
	CHECK(!pthread_atfork(NULL, NULL, stack_set));
	for (size_t i = 0; i < RACERS; i++)
		CHECK(!pthread_create(&thread[i], NULL, set_and_unset, NULL));
	while (time(NULL) < until) {
		pid_t child = fork();

		if (!child)
			_exit(0);
		CHECK(child > 0 && waitpid(child, &status, 0) == child && !status);
	}
	atomic_store(&done, true);
	for (size_t i = 0; i < RACERS; i++)
		CHECK(!pthread_join(thread[i], NULL));
	return 0;
}

/* ---- a program that records itself ------------------------------------------------------ */

#ifdef RECORDS_ITSELF
static void record_from_now(const char *event, const char *path)
{
	struct trace_sampling_event sampled = {sizeof(sampled), event, 0, 0,
					       TRACE_SAMPLING_BY_SIGNAL};

	sampled.frequency_hz = strcmp(event, "timer") ? 10000 : 1000;
	while (n_set < THREADS)
		usleep(1000);
	CHECK(!trace_start(path, NULL));
	CHECK(!trace_sampling_start(&sampled, 1));
}

static void record_end(void)
{
	CHECK(!trace_sampling_stop() && !trace_stop());
}
#else
static void record_from_now(const char *event, const char *path)
{
}

static void record_end(void)
{
}
#endif

/* ----------------------------------------------------------------------------------------- */

static void handler(int number)
{
	uint64_t x = (uint64_t)number;

	CHECK(burn(x) == burn(x));
}

/* Returning from a handler, the kernel gives a thread the stack back that it had before. */
static void handlers_run(const pthread_t *thread, unsigned int n, unsigned int seconds)
{
	for (unsigned int ms = 0; ms < 1000 * seconds; ms++) {
		for (unsigned int i = 0; i < n; i++)
			CHECK(!pthread_kill(thread[i], SIGUSR1));
		usleep(1000);
	}
}

static void run(unsigned int n, void *(*what)(void *), unsigned int seconds, char **argv)
{
	struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART};
	bool handles = argv[1] && argv[2] && argv[3] && argv[4];
	pthread_t thread[THREADS];

	CHECK(!handles || !sigaction(SIGUSR1, &action, NULL));
	for (size_t i = 0; i < n; i++)
		CHECK(!pthread_create(&thread[i], NULL, what, (void *)(i + 1)));
	if (handles)
		handlers_run(thread, n, 1);
	record_from_now(argv[2], argv[3]);
	if (handles)
		handlers_run(thread, n, seconds);
	else
		sleep(seconds);
	record_end();
	atomic_store(&done, true);
	for (size_t i = 0; i < n; i++)
		CHECK(!pthread_join(thread[i], NULL));
}

int main(int argc, char **argv)
{
	if (argc == 2 && !strcmp(argv[1], "ends"))
		return ends();
	if (argc == 3 && !strcmp(argv[1], "forks"))
		return forks((unsigned int)atoi(argv[2]));
	if (argc == 3 && !strcmp(argv[1], "race")) {
		handle();
		run(RACERS, race, (unsigned int)atoi(argv[2]), argv);
		printf("%lu signals handled\n", n_handled);
		return n_handled < 1000;
	}
	if (argc == 3 && !strcmp(argv[2], "large"))
		common_bytes = sizeof(common);
	run(THREADS, compute, argc > 1 ? (unsigned int)atoi(argv[1]) : 1, argv);
	return 0;
}
