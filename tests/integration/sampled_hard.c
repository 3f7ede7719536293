/*
 * sampled_hard.c - everything that a sample may land in, all at once, for a number of seconds.
 *
 *   sampled_hard SECONDS PLUGIN
 *
 * Threads that load and unload objects, allocate, fork, start and end threads, throw themselves at
 * the guard page of their stacks, run code made at run time and code without unwind tables, work
 * on alternate stacks and in handlers, call what a signal may and may not interrupt, and use
 * SIGPROF themselves.  Each checks its own results, errno and EINTR.  At the end a line for each, with
 * its rounds, and the CPU time of all in milliseconds; status 1 and what was wrong on stderr otherwise.
 */
#include <dlfcn.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "check_or_exit.h"

static const char *plugin;
static _Atomic bool done;
static _Atomic unsigned long rounds[16], profs;

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static uint64_t process_cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* Uses CPU time, which is what brings samples; errno must stay. */
static __attribute__((noinline)) uint64_t burn(unsigned int n)
{
	uint64_t x = n;

	errno = ERANGE;
	for (unsigned int i = 0; i < n; i++)
		x = x * UINT64_C(6364136223846793005) + 1442695040888963407;
	CHECK(errno == ERANGE);
	return x;
}

static volatile uint64_t sink;

/* ---- one round of each ------------------------------------------------------------------ */

static void load_round(void)
{
	void *object = dlopen(plugin, RTLD_NOW);
	int (*work)(void);

	CHECK(object);
	work = (int (*)(void))(uintptr_t)dlsym(object, "plugin_work");
	CHECK(work);
	sink += (uint64_t)work();
	CHECK(!dlclose(object));
}

static void malloc_round(void)
{
	char *kept[64];

	for (size_t i = 0; i < 64; i++) {
		kept[i] = malloc(i * i * 40 + 1);
		CHECK(kept[i]);
		memset(kept[i], (int)i, i * i * 40 + 1);
	}
	for (size_t i = 0; i < 64; i++) {
		CHECK(kept[i][i * i * 40] == (char)i);
		free(kept[i]);
	}
}

static void fork_round(void)
{
	int status = 0;
	pid_t child = fork();

	if (!child) {
		sink += burn(20000);
		_exit(7);
	}
	CHECK(child > 0);
	CHECK(waitpid(child, &status, 0) == child); /* is restarted */
	CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 7);
	child = vfork();
	if (!child)
		_exit(8);
	CHECK(waitpid(child, &status, 0) == child);
	CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 8);
}

static void *short_thread(void *arg)
{
	sink += burn(5000);
	return arg;
}

static void *cancelled_thread(void *unused)
{
	for (;;)
		poll(NULL, 0, -1);
	return NULL;
}

static void thread_round(void)
{
	pthread_t thread[4];
	void *value;

	for (uintptr_t i = 0; i < 3; i++)
		CHECK(!pthread_create(&thread[i], NULL, short_thread, (void *)i));
	CHECK(!pthread_create(&thread[3], NULL, cancelled_thread, NULL));
	for (uintptr_t i = 0; i < 3; i++)
		CHECK(!pthread_join(thread[i], &value) && value == (void *)i);
	CHECK(!pthread_cancel(thread[3]));
	CHECK(!pthread_join(thread[3], &value) && value == PTHREAD_CANCELED);
}

/* ---- stacks ----------------------------------------------------------------------------- */

static __thread sigjmp_buf overflowed;
static __thread bool overflows;

static void on_fault(int number, siginfo_t *info, void *context)
{
	if (!overflows) {
		signal(number, SIG_DFL); /* it comes again, and ends us where it is */
		return;
	}
	siglongjmp(overflowed, 1);
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Winfinite-recursion"
static __attribute__((noinline)) uint64_t sink_in(uint64_t depth)
{
	volatile char room[512];

	room[depth % sizeof(room)] = 1;
	return sink_in(depth + 1) + (uint64_t)room[0];
}
#pragma GCC diagnostic pop

static void overflow_round(void)
{
	if (!sigsetjmp(overflowed, 1)) {
		overflows = true;
		sink += sink_in(0);
	}
	overflows = false;
}

/* Code of no object, without unwind tables and without a frame: counts down from its argument. */
static void jit_round(void)
{
#ifdef __x86_64__
	static const uint8_t code[] = {0x48, 0x89, 0xf8,  /* mov %rdi, %rax */
				       0x48, 0xff, 0xc8,  /* dec %rax */
				       0x75, 0xfb, 0xc3}; /* jnz; ret */
	uint8_t *at = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint64_t (*run)(uint64_t);

	CHECK(at != MAP_FAILED);
	memcpy(at + 16, code, sizeof(code));
	CHECK(!mprotect(at, 4096, PROT_READ | PROT_EXEC));
	run = (uint64_t(*)(uint64_t))(uintptr_t)(at + 16);
	CHECK(run(200000) == 0);
	CHECK(!munmap(at, 4096));
#endif
}

/* ---- handlers --------------------------------------------------------------------------- */

static _Atomic int handled;

static void on_usr1(int number)
{
	int saved = errno;

	handled++;
	sink += burn(3000);
	errno = saved;
}

static void handler_round(void)
{
	for (int i = 0; i < 20; i++) {
		errno = ENOLCK;
		pthread_kill(pthread_self(), SIGUSR1);
		CHECK(errno == ENOLCK);
	}
}

static void on_prof(int number)
{
	profs++;
}

/* ---- calls ------------------------------------------------------------------------------ */

static void at_least(uint64_t since_ns, uint64_t ms)
{
	CHECK(now_ns() - since_ns >= ms * 1000000);
}

static int semaphores; /* System V's: one, which is 0 */

/* This thread gets no signal of the program's: nothing may be interrupted, nothing be too short. */
static void wait_round(void)
{
	static __thread int epoll = -1;
	struct timespec ms2 = {0, 2000000}, left = {0, 0};
	struct timeval tv = {0, 2000};
	struct epoll_event e;
	uint64_t t = now_ns();

	if (epoll < 0)
		epoll = epoll_create1(EPOLL_CLOEXEC);
	CHECK(poll(NULL, 0, 2) == 0);
	at_least(t, 2);
	t = now_ns();
	CHECK(ppoll(NULL, 0, &ms2, NULL) == 0);
	CHECK(select(0, NULL, NULL, NULL, &tv) == 0);
	CHECK(epoll_wait(epoll, &e, 1, 2) == 0);
	at_least(t, 6);
	t = now_ns();
	CHECK(nanosleep(&ms2, &left) == 0);
	CHECK(clock_nanosleep(CLOCK_MONOTONIC, 0, &ms2, &left) == 0);
	CHECK(usleep(2000) == 0);
	at_least(t, 6);
	CHECK(left.tv_nsec == 0);
	t = now_ns();
	CHECK(semtimedop(semaphores, &(struct sembuf){0, -1, 0}, 1, &ms2) == -1 && errno == EAGAIN);
	at_least(t, 2);
	sink += burn(20000);
}

static int socket_pair[2];

/* Until the other end is shut down. */
static void *echo(void *unused)
{
	ssize_t n;
	char c;

	while ((n = recv(socket_pair[1], &c, 1, 0)) != 0) {
		CHECK(n == 1);
		CHECK(send(socket_pair[1], &c, 1, 0) == 1);
		sink += burn(500);
	}
	return NULL;
}

/* Sockets with time limits are not restarted by the kernel. */
static void socket_round(void)
{
	char sent = 'x', got = 0;
	int pipe_fd[2];

	for (int i = 0; i < 50; i++) {
		CHECK(send(socket_pair[0], &sent, 1, 0) == 1);
		CHECK(recv(socket_pair[0], &got, 1, 0) == 1 && got == sent);
	}
	CHECK(!pipe(pipe_fd));
	CHECK(write(pipe_fd[1], &sent, 1) == 1 && read(pipe_fd[0], &got, 1) == 1);
	close(pipe_fd[0]);
	close(pipe_fd[1]);
}

/* ---- all at once ------------------------------------------------------------------------ */

struct part {
	const char *name;
	void (*round)(void);
	bool own_stack; /* a small one, and an alternate stack of its own */
};
static const struct part PARTS[] = {
	{"load", load_round, false},	    {"malloc", malloc_round, false},
	{"fork", fork_round, false},	    {"threads", thread_round, false},
	{"overflow", overflow_round, true}, {"jit", jit_round, false},
	{"handlers", handler_round, true},  {"waits", wait_round, false},
	{"sockets", socket_round, false},
};
enum { N_PARTS = sizeof(PARTS) / sizeof(PARTS[0]) };

static void *part_thread(void *arg)
{
	const struct part *part = arg;
	stack_t stack = {.ss_size = 64 << 10};

	if (part->own_stack) {
		stack.ss_sp = malloc(stack.ss_size);
		CHECK(stack.ss_sp && !sigaltstack(&stack, NULL));
	}
	while (!done) {
		part->round();
		sink += burn(10000);
		rounds[part - PARTS]++;
	}
	if (part->own_stack) {
		stack.ss_flags = SS_DISABLE;
		CHECK(!sigaltstack(&stack, NULL));
		free(stack.ss_sp);
	}
	return NULL;
}

/* For the main thread: in the others it would interrupt what they check. */
static void prof_timer_start(void)
{
	struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGPROF};
	struct itimerspec every = {{0, 20000000}, {0, 20000000}};
	timer_t timer;

	event._sigev_un._tid = gettid();
	CHECK(!timer_create(CLOCK_PROCESS_CPUTIME_ID, &event, &timer));
	CHECK(!timer_settime(timer, 0, &every, NULL));
}

static void set_up(void)
{
	struct sigaction fault = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_ONSTACK};
	struct sigaction usr1 = {.sa_handler = on_usr1, .sa_flags = SA_RESTART | SA_ONSTACK};
	struct sigaction prof = {.sa_handler = on_prof, .sa_flags = SA_RESTART};
	struct timeval limit = {.tv_sec = 60};

	sigaction(SIGSEGV, &fault, NULL);
	sigaction(SIGUSR1, &usr1, NULL);
	sigaction(SIGPROF, &prof, NULL);
	prof_timer_start();
	semaphores = semget(IPC_PRIVATE, 1, 0600);
	CHECK(semaphores >= 0);
	CHECK(!socketpair(AF_UNIX, SOCK_STREAM, 0, socket_pair));
	for (int i = 0; i < 2; i++)
		setsockopt(socket_pair[i], SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
}

int main(int argc, char **argv)
{
	pthread_t thread[N_PARTS], echoing;
	pthread_attr_t small;
	int seconds = argc == 3 ? atoi(argv[1]) : 0;

	if (seconds <= 0)
		return 99;
	plugin = argv[2];
	set_up();
	pthread_attr_init(&small);
	pthread_attr_setstacksize(&small, 128 << 10);
	CHECK(!pthread_create(&echoing, NULL, echo, NULL));
	for (int i = 0; i < N_PARTS; i++)
		CHECK(!pthread_create(&thread[i], PARTS[i].own_stack ? &small : NULL, part_thread,
				      (void *)&PARTS[i]));
	for (uint64_t end = now_ns() + (uint64_t)seconds * 1000000000; now_ns() < end;)
		sink += burn(100000);
	done = true;
	for (int i = 0; i < N_PARTS; i++)
		CHECK(!pthread_join(thread[i], NULL));
	semctl(semaphores, 0, IPC_RMID);
	shutdown(socket_pair[0], SHUT_RDWR);
	CHECK(!pthread_join(echoing, NULL));
	for (int i = 0; i < N_PARTS; i++)
		printf("%s %lu\n", PARTS[i].name, rounds[i]);
	printf("profs %lu\n", profs);
	printf("cpu_ms %ju\n", (uintmax_t)process_cpu_ns() / 1000000);
	return 0;
}
