/*
 * same_forked.c - forked children that set their handlers after the fork: each of their waits is
 * interrupted by one signal.  Plain and recorded alike.
 */
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include "same.h"

enum { STEP_US = 200, PATIENCE_US = 3000000 };

static sigset_t none;
static volatile sig_atomic_t handled;
static int to_child[2], from_child[2];

static long do_sigsuspend(void)
{
	return sigsuspend(&none);
}
static long do_pause(void)
{
	return pause();
}
static long do_nanosleep(void)
{
	return nanosleep(&(struct timespec){.tv_sec = 20}, NULL);
}
static long do_poll(void)
{
	return poll(NULL, 0, 20000);
}
static long do_select(void)
{
	return select(0, NULL, NULL, NULL, &(struct timeval){.tv_sec = 20});
}
static long do_epoll_wait(void)
{
	struct epoll_event e;

	return epoll_wait(epoll_create1(EPOLL_CLOEXEC), &e, 1, 20000);
}
static long do_ppoll(void)
{
	return ppoll(NULL, 0, &(struct timespec){.tv_sec = 20}, &none);
}
static long do_read(void)
{
	char c;

	return read(to_child[0], &c, 1);
}

static const struct {
	const char *name;
	long (*call)(void);
	bool held; /* the signal is blocked but in the call */
} CALLS[] = {
	{"sigsuspend", do_sigsuspend, true}, {"pause", do_pause, false},
	{"nanosleep", do_nanosleep, false},  {"poll", do_poll, false},
	{"ppoll", do_ppoll, true},	     {"select", do_select, false},
	{"epoll_wait", do_epoll_wait, false}, {"read", do_read, false},
};
enum { N_CALLS = sizeof(CALLS) / sizeof(CALLS[0]) };

static void on_signal(int number)
{
	handled++;
}

static void block(bool held)
{
	sigset_t usr1;

	sigemptyset(&usr1);
	sigaddset(&usr1, SIGUSR1);
	sigprocmask(held ? SIG_BLOCK : SIG_UNBLOCK, &usr1, NULL);
}

/* Says a byte before and after each call; the parent reads them. */
static void child_run(void)
{
	struct sigaction action = {.sa_handler = on_signal}, now;

	sigaction(SIGPROF, NULL, &now);
	printf("SIGPROF: default %d, flags %x; ", now.sa_handler == SIG_DFL,
	       (unsigned int)now.sa_flags);
	sigaction(SIGUSR1, &action, NULL);
	sigaction(SIGUSR1, NULL, &now);
	printf("handler %d, flags %x\n", now.sa_handler == on_signal, (unsigned int)now.sa_flags);
	for (int i = 0; i < N_CALLS; i++) {
		long result;

		block(CALLS[i].held);
		handled = 0;
		if (write(from_child[1], "b", 1) != 1)
			_exit(1);
		errno = 0;
		result = CALLS[i].call();
		printf("%-12s %ld %s, handled %d; ", CALLS[i].name, result,
		       errno ? strerrorname_np(errno) : "0", handled);
		fflush(stdout);
		if (write(from_child[1], "e", 1) != 1)
			_exit(1);
	}
	_exit(0);
}

static bool is_asleep(pid_t child)
{
	char path[64], text[256];
	const char *name_end;
	FILE *stat;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)child);
	stat = fopen(path, "r");
	if (!stat || !fgets(text, sizeof(text), stat))
		abort();
	fclose(stat);
	name_end = strrchr(text, ')');
	return name_end && name_end[2] == 'S';
}

static bool said(char what, int patience_us)
{
	struct pollfd ready = {from_child[0], POLLIN, 0};
	char c = 0;

	return poll(&ready, 1, patience_us / 1000) == 1 && read(from_child[0], &c, 1) == 1 &&
	       c == what;
}

/* How many signals it took until the call came back. */
static int signals_needed(pid_t child)
{
	int n = 0;

	if (!said('b', PATIENCE_US))
		return -1;
	while (!is_asleep(child))
		usleep(STEP_US);
	do {
		kill(child, SIGUSR1);
		n++;
	} while (!said('e', n == 1 ? PATIENCE_US : 10000) && n < 100);
	return n;
}

static void children_test(const char *what, pid_t (*make)(void))
{
	int status = 0;
	pid_t child;

	puts(what);
	child = make();
	if (!child)
		child_run();
	for (int i = 0; i < N_CALLS; i++) {
		printf("signals %d\n", signals_needed(child));
		fflush(stdout);
	}
	waitpid(child, &status, 0);
	printf("ended %x\n", (unsigned int)status);
	fflush(stdout);
}

static void on_before(int number)
{
}

/* Behind the back of whoever interposes. */
static pid_t clone_directly(void)
{
	return (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
}

int main(void)
{
	struct sigaction before = {.sa_handler = on_before};

	sigemptyset(&none);
	if (pipe(to_child) || pipe(from_child))
		abort();
	setvbuf(stdout, NULL, _IOLBF, 0);
	children_test("--- fork", fork);
	sigaction(SIGUSR1, &before, NULL);
	children_test("--- fork, with a handler from before", fork);
	children_test("--- _Fork", _Fork);
	children_test("--- the system call", clone_directly);
	return 0;
}
