/*
 * guest.c - a program that knows what it does, for the tests of trace-record.
 *
 *   guest exit N              ends with N
 *   guest raise SIG N         makes N events, then dies of a signal
 *   guest events N            makes N events in each of two threads
 *   guest burst N             makes N events in its only thread, then lets the ring drain
 *   guest pace MS FILE        creates FILE.begun, makes events for MS milliseconds, then creates FILE
 *   guest await FILE          creates FILE, then waits for a signal, writes its code and value into FILE and ends with
 *                             64 + its number
 *   guest count SIG FILE      creates FILE.begun, counts this signal for 300 ms after the first, tells in FILE
 *   guest group SIG N FILE    sends this signal N times to its process group, counts as above
 *   guest timer WHICH COMMAND...  sets this timer of setitimer() to 5 ms, then runs COMMAND in its place
 *   guest files DIR           closes all descriptors, opens files in DIR, makes events
 *   guest daemon FILE         becomes a daemon, which makes 5 events and creates FILE
 *   guest spawn COMMAND...    runs COMMAND by posix_spawn() and waits for it
 *   guest works-without CALL       has itself killed for this call, uses a second of CPU time
 *   guest without CALL COMMAND...  has itself killed for this system call, forks once, then runs
 *                             COMMAND in its place
 *
 * An event is a counter named "guest".
 */
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <trc/trace.h>

extern char **environ;

static void sleep_ms(long ms)
{
	struct timespec t = {ms / 1000, ms % 1000 * 1000000};

	nanosleep(&t, NULL);
}

static void create(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	if (fd < 0 || write(fd, text, strlen(text)) < 0)
		exit(99);
	close(fd);
}

static void events(long n)
{
	for (long i = 0; i < n; i++)
		trace_counter_set("guest", i);
}

static void *events_thread(void *arg)
{
	events(*(long *)arg);
	return NULL;
}

static int in_two_threads(long n)
{
	pthread_t other;

	if (pthread_create(&other, NULL, events_thread, &n))
		return 99;
	events(n);
	pthread_join(other, NULL);
	return 0;
}

static volatile sig_atomic_t got, times;

static volatile sig_atomic_t code, value;

static void on_signal(int sig)
{
	got = sig;
	times++;
}

static void on_queued(int sig, siginfo_t *info, void *context)
{
	(void)context;
	code = info->si_code;
	value = info->si_code == SI_QUEUE ? info->si_value.sival_int : 0;
	on_signal(sig);
}

static void catch_all(void)
{
	struct sigaction action = {.sa_sigaction = on_queued, .sa_flags = SA_SIGINFO};

	for (int sig = 1; sig < SIGSYS; sig++)
		if (sig != SIGTSTP && sig != SIGCONT)
			sigaction(sig, &action, NULL);
}

/* In no wait: a wait would be an event, and might be lost. */
static void yield_ms(long ms)
{
	struct timespec from, now;

	clock_gettime(CLOCK_MONOTONIC, &from);
	do {
		sched_yield();
		clock_gettime(CLOCK_MONOTONIC, &now);
	} while ((now.tv_sec - from.tv_sec) * 1000 + (now.tv_nsec - from.tv_nsec) / 1000000 < ms);
}

static void create_begun(const char *path)
{
	char begun[4096];

	snprintf(begun, sizeof(begun), "%s.begun", path);
	create(begun, "");
}

static int await(const char *path)
{
	char text[40];

	catch_all();
	create(path, "");
	while (!got)
		sleep_ms(20);
	snprintf(text, sizeof(text), "%d %d\n", (int)code, (int)value);
	create(path, text);
	return 64 + got;
}

/* `sent`: by itself, to its process group. */
static int count(int sig, long sent, const char *path)
{
	struct sigaction action = {.sa_handler = on_signal};
	char text[16];

	sigaction(sig, &action, NULL);
	create_begun(path);
	while (sent-- > 0)
		kill(0, sig);
	while (!got)
		sleep_ms(10);
	for (int i = 0; i < 30; i++)
		sleep_ms(10);
	snprintf(text, sizeof(text), "%d\n", (int)times);
	create(path, text);
	return 0;
}

static int with_timer(unsigned int which, char **command)
{
	setitimer(which, &(struct itimerval){.it_value.tv_usec = 5000}, NULL);
	execvp(command[0], command);
	return 98;
}

static int pace(long ms, const char *path)
{
	create_begun(path);
	for (long i = 0; i < ms; i++) {
		events(1000);
		sleep_ms(1);
	}
	create(path, "");
	return 0;
}

/* What daemons do: every number that a descriptor can have is soon one of the program's. */
static int files(const char *dir)
{
	for (int fd = 3; fd < 256; fd++)
		close(fd);
	for (int i = 0; i < 30; i++) {
		char path[4096];

		snprintf(path, sizeof(path), "%s/%d", dir, i);
		if (open(path, O_RDWR | O_CREAT | O_TRUNC, 0600) < 0)
			return 99;
	}
	events(20000);
	sleep_ms(50);
	events(20000);
	return 0;
}

static int become_daemon(const char *path)
{
	if (fork())
		return 0;
	setsid();
	if (fork())
		_exit(0);
	sleep_ms(200);
	events(5);
	create(path, "");
	return 0;
}

static int spawn(char **command)
{
	pid_t pid;
	int status;

	if (posix_spawnp(&pid, command[0], NULL, NULL, command, environ))
		return 99;
	while (waitpid(pid, &status, 0) < 0)
		;
	return WEXITSTATUS(status);
}

static int number_of(const char *call)
{
	static const struct {
		const char *name;
		int number;
	} calls[] = {
		{"ftruncate", SYS_ftruncate},	{"madvise", SYS_madvise},
		{"renameat2", SYS_renameat2},	{"clock_getres", SYS_clock_getres},
		{"getdents64", SYS_getdents64}, {"timer_create", SYS_timer_create},
		{"getrusage", SYS_getrusage},	{"ptrace", SYS_ptrace},
	};

	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
		if (!strcmp(call, calls[i].name))
			return calls[i].number;
	exit(98);
}

static bool forbid(const char *call)
{
	struct sock_filter step[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned int)number_of(call), 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog filter = {sizeof(step) / sizeof(step[0]), step};

	return !prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) &&
	       !prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter);
}

static int works_without(const char *call)
{
	struct timespec used;

	if (!forbid(call))
		return 97;
	do
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
	while (!used.tv_sec);
	return 0;
}

static int without(const char *call, char **command)
{
	int status = 0;
	pid_t child;

	events(5);
	if (!forbid(call))
		return 97;
	child = fork();
	if (!child)
		_exit(0);
	if (waitpid(child, &status, 0) != child || status)
		return 96;
	execvp(*command, command);
	return 95;
}

int main(int argc, char **argv)
{
	const char *mode = argc > 2 ? argv[1] : "";

	if (!strcmp(mode, "exit"))
		return atoi(argv[2]);
	if (!strcmp(mode, "events"))
		return in_two_threads(atol(argv[2]));
	if (!strcmp(mode, "burst")) {
		events(atol(argv[2]));
		yield_ms(100);
		return 0;
	}
	if (!strcmp(mode, "await"))
		return await(argv[2]);
	if (!strcmp(mode, "files"))
		return files(argv[2]);
	if (!strcmp(mode, "daemon"))
		return become_daemon(argv[2]);
	if (!strcmp(mode, "spawn"))
		return spawn(argv + 2);
	if (!strcmp(mode, "works-without"))
		return works_without(argv[2]);
	if (argc < 4)
		return 99;
	if (!strcmp(mode, "without"))
		return without(argv[2], argv + 3);
	if (!strcmp(mode, "count"))
		return count(atoi(argv[2]), 0, argv[3]);
	if (!strcmp(mode, "timer"))
		return with_timer((unsigned int)atoi(argv[2]), argv + 3);
	if (!strcmp(mode, "group") && argc > 4)
		return count(atoi(argv[2]), atol(argv[3]), argv[4]);
	if (!strcmp(mode, "pace"))
		return pace(atol(argv[2]), argv[3]);
	if (!strcmp(mode, "raise")) {
		events(atol(argv[3]));
		raise(atoi(argv[2]));
	}
	return 99;
}
