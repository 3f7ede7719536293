/*
 * sampled_guest.c - programs that close what samples are made with, or use SIGPROF in earnest.
 *
 *   sampled_guest closefrom|close_range|close
 *                                 a second's work in two threads, most of it after all
 *                                 descriptors were closed: which one comes next
 *   sampled_guest setrlimit       half a second's work in a thread that begins when there may be
 *                                 far fewer descriptors than before
 *   sampled_guest preempts        three user threads of one thread, which SIGPROF's handler takes
 *                                 turns with; the handler has none of its flags
 *   sampled_guest preempts-alternate
 *                                 the same in a program that has an alternate stack
 *   sampled_guest ignores         SIGPROF is ignored, also by whatever is executed; execs that fail
 *                                 change nothing
 *   sampled_guest vfork-exits     a vfork child that calls exit(); then half a second's work
 *   sampled_guest overflows       SIGPROF comes where there is hardly any stack left
 *
 * What it prints is the same however it is run, with BRIEF in the environment after a tenth of the
 * work, where nothing depends on how much it is.  Status 1 and what was wrong on stderr otherwise.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>
#include "check_or_exit.h"

static uint64_t step(uint64_t x)
{
	return x * UINT64_C(6364136223846793005) + 1442695040888963407;
}

/* ---- descriptors ------------------------------------------------------------------------ */

static volatile uint64_t sink;

static void burn(unsigned int ms)
{
	struct timespec t;
	uint64_t until_ms = 0, now_ms;

	do {
		for (int i = 0; i < 10000; i++)
			sink = step(sink);
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
		now_ms = (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
		until_ms = until_ms ? until_ms : now_ms + ms;
	} while (now_ms < until_ms);
}

/* What is there for samples alone. */
static void burn_for_samples(unsigned int ms)
{
	burn(getenv("BRIEF") ? ms / 10 : ms);
}

static void *half_a_second(void *unused)
{
	burn_for_samples(500);
	return unused;
}

/* The low ones are the tests' own: standard input and output. */
static void close_all(const char *how)
{
	if (!strcmp(how, "closefrom"))
		closefrom(3);
	else if (!strcmp(how, "close_range"))
		CHECK(!close_range(3, ~0U, 0));
	else
		for (int fd = 3; fd < sysconf(_SC_OPEN_MAX) && fd < 10000; fd++)
			close(fd);
}

static int closes(const char *how)
{
	pthread_t other;
	int fd;

	CHECK(!pthread_create(&other, NULL, half_a_second, NULL));
	burn(20);
	close_all(how);
	fd = dup(0);
	printf("the next one is %d\n", fd);
	burn_for_samples(480);
	CHECK(!pthread_join(other, NULL));
	return 0;
}

static int sets_limit(void)
{
	struct rlimit limit = {256, 256};
	pthread_t other;

	CHECK(!setrlimit(RLIMIT_NOFILE, &limit));
	CHECK(!pthread_create(&other, NULL, half_a_second, NULL));
	CHECK(!pthread_join(other, NULL));
	printf("the next one is %d\n", dup(0));
	return 0;
}

/* ---- user threads that SIGPROF preempts -------------------------------------------------- */

enum { N_THREADS = 3, STEPS = 60000000, STACK_BYTES = 64 << 10 };

static ucontext_t user[N_THREADS];
static char user_stack[N_THREADS][STACK_BYTES] __attribute__((aligned(16)));
static volatile unsigned int current, n_done, n_turns;
static uint64_t result[N_THREADS];
static double result_double[N_THREADS];

/* What registers of both kinds hold from one step to the next. */
static __attribute__((noinline)) uint64_t compute(uint64_t x, double *sum)
{
	double d = 0;

	for (unsigned int i = 0; i < STEPS; i++) {
		x = step(x);
		d += (double)(x & 0xff) * 0.5;
	}
	*sum = d;
	return x;
}

/* Goes on in the next one; comes back when it is this one's turn. */
static void on_turn(int number)
{
	unsigned int from = current;
	int saved = errno;

	n_turns++;
	current = (from + 1) % N_THREADS;
	swapcontext(&user[from], &user[current]);
	errno = saved;
}

/* Only the first one ends. */
static void user_thread(unsigned int i)
{
	result[i] = compute(i, &result_double[i]);
	n_done++;
	for (errno = EDOM; i || n_done < N_THREADS;)
		CHECK(errno == EDOM);
}

static void every_ms(suseconds_t ms)
{
	struct itimerval timer = {{0, ms * 1000}, {0, ms * 1000}};

	CHECK(!setitimer(ITIMER_PROF, &timer, NULL));
}

static void alternate_stack_set(void)
{
	stack_t stack = {.ss_size = STACK_BYTES, .ss_sp = malloc(STACK_BYTES)};

	CHECK(stack.ss_sp && !sigaltstack(&stack, NULL));
}

static int preempts(void)
{
	struct sigaction turn = {.sa_handler = on_turn};

	CHECK(!sigaction(SIGPROF, &turn, NULL));
	for (unsigned int i = 1; i < N_THREADS; i++) {
		CHECK(!getcontext(&user[i]));
		user[i].uc_stack = (stack_t){.ss_sp = user_stack[i], .ss_size = STACK_BYTES};
		makecontext(&user[i], (void (*)(void))(uintptr_t)user_thread, 1, i);
	}
	every_ms(4);
	user_thread(0);
	every_ms(0);
	for (unsigned int i = 0; i < N_THREADS; i++)
		printf("%u: %llx %.1f\n", i, (unsigned long long)result[i], result_double[i]);
	printf("turns: %s\n", n_turns >= 20 ? "many" : "few");
	return 0;
}

/* ---- next to no stack -------------------------------------------------------------------- */

static char *lowest; /* of a thread's stack */
static volatile unsigned int n_handled, n_found;

static void on_prof(int number)
{
	n_handled++;
}

static void on_segv(int number)
{
	n_found++; /* no room for SIGPROF's frame: its handler does not run */
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Winfinite-recursion"
static __attribute__((noinline)) void deep(void)
{
	volatile char room[256];

	room[0] = 1;
	if ((char *)(uintptr_t)room - lowest < 1200)
		burn(300);
	else
		deep();
	room[1] = 1;
}
#pragma GCC diagnostic pop

static void *deep_thread(void *prof)
{
	pthread_attr_t attr;
	size_t n_bytes;
	void *low;

	burn(1); /* what it calls is bound */
	alternate_stack_set();
	CHECK(!pthread_sigmask(SIG_UNBLOCK, prof, NULL));
	CHECK(!pthread_getattr_np(pthread_self(), &attr));
	CHECK(!pthread_attr_getstack(&attr, &low, &n_bytes));
	lowest = low;
	deep();
	return NULL;
}

/* Only the thread that has no room uses time. */
static int overflows(void)
{
	struct sigaction prof = {.sa_handler = on_prof};
	struct sigaction fault = {.sa_handler = on_segv, .sa_flags = SA_ONSTACK};
	pthread_t thread;
	sigset_t set;

	CHECK(!sigaction(SIGPROF, &prof, NULL) && !sigaction(SIGSEGV, &fault, NULL));
	sigemptyset(&set);
	sigaddset(&set, SIGPROF);
	CHECK(!pthread_sigmask(SIG_BLOCK, &set, NULL));
	every_ms(10);
	CHECK(!pthread_create(&thread, NULL, deep_thread, &set));
	CHECK(!pthread_join(thread, NULL));
	every_ms(0);
	printf("told %s\n", n_handled + n_found >= 5 ? "often" : "seldom");
	return 0;
}

/* ---- exec and exit ---------------------------------------------------------------------- */

static int says_whether(const char *who)
{
	struct sigaction now;

	CHECK(!sigaction(SIGPROF, NULL, &now));
	printf("%s: SIGPROF %s\n", who, now.sa_handler == SIG_IGN ? "ignored" : "not ignored");
	fflush(stdout);
	return 0;
}

static void ended_well(pid_t child)
{
	int status = 0;

	CHECK(child > 0 && waitpid(child, &status, 0) == child && !status);
}

static int ignores(const char *self)
{
	pthread_t other;
	pid_t child;

	CHECK(signal(SIGPROF, SIG_IGN) == SIG_DFL);
	CHECK(!pthread_create(&other, NULL, half_a_second, NULL));
	for (int i = 0; i < 200; i++) {
		CHECK(execl("/nonexistent", "none", NULL) == -1 && errno == ENOENT);
		burn_for_samples(1);
	}
	CHECK(!pthread_join(other, NULL));
	says_whether("here");
	child = fork();
	if (!child)
		execl(self, self, "says", "forked", NULL);
	ended_well(child);
	child = vfork();
	if (!child)
		execl(self, self, "says", "vforked", NULL);
	ended_well(child);
	execl(self, self, "says", "executed", NULL);
	return 1;
}

static int vfork_exits(void)
{
	pthread_t other;
	pid_t child;

	CHECK(!pthread_create(&other, NULL, half_a_second, NULL));
	burn(20);
	child = vfork();
	if (!child)
		exit(0);
	ended_well(child);
	CHECK(!pthread_join(other, NULL));
	CHECK(write(1, "on we go\n", 9) == 9);
	_exit(0);
}

/* ----------------------------------------------------------------------------------------- */

int main(int argc, char **argv)
{
	const char *what = argc >= 2 ? argv[1] : "";

	if (!strncmp(what, "close", 5))
		return closes(what);
	if (!strcmp(what, "setrlimit"))
		return sets_limit();
	if (!strcmp(what, "preempts-alternate"))
		alternate_stack_set();
	if (!strncmp(what, "preempts", 8))
		return preempts();
	if (!strcmp(what, "ignores"))
		return ignores(argv[0]);
	if (argc == 3 && !strcmp(what, "says"))
		return says_whether(argv[2]);
	if (!strcmp(what, "vfork-exits"))
		return vfork_exits();
	if (!strcmp(what, "overflows"))
		return overflows();
	return 99;
}
