/*
 * same_process.c - children of every kind, threads that end in every way, locks in odd places:
 * plain and interposed alike.
 *
 * Run with the path of the plugin as its argument.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <poll.h>
#include <pty.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include "fake_core.h"
#include "same.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void tell_status(const char *what, pid_t child)
{
	int status = -1;

	TELL_ERRNO(what, waitpid(child, &status, 0) > 0 ? 0 : -1);
	printf("  exit status %d, signal %d\n", WIFEXITED(status) ? WEXITSTATUS(status) : -1,
	       WIFSIGNALED(status) ? WTERMSIG(status) : 0);
	fflush(stdout);
}

/* ---- fork ----------------------------------------------------------------------------- */

static volatile int stop;

static void *busy_locker(void *arg)
{
	while (!stop) {
		pthread_mutex_lock(arg);
		pthread_mutex_unlock(arg);
	}
	return NULL;
}

static void *add_one(void *arg)
{
	int i;

	for (i = 0; i < 1000; i++) {
		pthread_mutex_lock(&mutex);
		++*(int *)arg;
		pthread_mutex_unlock(&mutex);
	}
	return NULL;
}

/* Threads, locks and waits as before. */
static int work_on(void)
{
	pthread_t thread[4];
	int i, n = 0;

	for (i = 0; i < 4; i++)
		if (pthread_create(&thread[i], NULL, add_one, &n))
			return 1;
	for (i = 0; i < 4; i++)
		if (pthread_join(thread[i], NULL))
			return 2;
	usleep(1000);
	return n == 4000 ? 42 : 3;
}

static void fork_tests(void)
{
	pthread_mutex_t others = PTHREAD_MUTEX_INITIALIZER;
	pthread_t thread[2];
	pid_t child;
	int i;

	puts("--- fork of a busy program");
	fflush(stdout);
	for (i = 0; i < 2; i++)
		pthread_create(&thread[i], NULL, busy_locker, &others);
	for (i = 0; i < 20; i++) {
		child = i % 2 ? fork() : _Fork();
		if (!child)
			_exit(work_on());
		tell_status(i % 2 ? "fork" : "_Fork", child);
	}
	stop = 1;
	for (i = 0; i < 2; i++)
		pthread_join(thread[i], NULL);
}

static void fork_in_atfork(void)
{
	pthread_mutex_lock(&mutex);
}

static void fork_after(void)
{
	pthread_mutex_unlock(&mutex);
}

static void atfork_tests(void)
{
	pid_t child;

	puts("--- atfork handlers that lock");
	fflush(stdout);
	pthread_atfork(fork_in_atfork, fork_after, fork_after);
	child = fork();
	if (!child)
		_exit(work_on());
	tell_status("fork", child);
}

/* A daemon's first acts: close whatever is open, use the numbers again. */
static void close_all_tests(void)
{
	pid_t child;
	int fd;

	puts("--- close every descriptor");
	fflush(stdout);
	child = fork();
	if (!child) {
		for (fd = 0; fd < 1024; fd++)
			close(fd);
		fd = open("/dev/null", O_RDWR);
		if (fd != 0 || dup(fd) != 1 || dup(fd) != 2)
			_exit(1);
		_exit(work_on());
	}
	tell_status("closed all", child);
}

static void daemon_tests(void)
{
	int report[2];
	pid_t child;
	char answer = 0;

	puts("--- daemon, forkpty");
	fflush(stdout);
	if (pipe(report))
		return;
	child = fork();
	if (!child) {
		if (daemon(1, 1))
			_exit(1);
		answer = work_on() == 42 ? 'y' : 'n';
		_exit(write(report[1], &answer, 1) != 1);
	}
	close(report[1]);
	tell_status("the daemon's parent", child);
	TELL_ERRNO("the daemon's answer", read(report[0], &answer, 1));
	printf("  %c\n", answer);
	child = forkpty(&report[1], NULL, NULL, NULL);
	if (!child)
		_exit(work_on());
	tell_status("forkpty", child);
}

static void failing_fork_test(void)
{
	struct rlimit old, none;

	puts("--- no more processes");
	fflush(stdout);
	getrlimit(RLIMIT_NPROC, &old);
	none = old;
	none.rlim_cur = 0;
	if (geteuid() == 0)
		return; /* the limit does not hold for root */
	setrlimit(RLIMIT_NPROC, &none);
	TELL_ERRNO("fork", fork());
	TELL_ERRNO("vfork", vfork());
	setrlimit(RLIMIT_NPROC, &old);
}

/* ---- vfork, spawn --------------------------------------------------------------------- */

static int shared_counter;

static void vfork_tests(void)
{
	char *const true_args[] = {"true", NULL};
	char *const no_args[] = {"same_process_none", NULL};
	pid_t child;
	int i;

	puts("--- vfork");
	fflush(stdout);
	for (i = 0; i < 3; i++) {
		child = vfork();
		if (!child) {
			shared_counter++;
			_exit(7);
		}
		tell_status("exit", child);
	}
	printf("  the child ran in our memory: %d\n", shared_counter);
	child = vfork();
	if (!child) {
		int fd = open("/dev/null", O_RDWR);

		/* Interposed calls in the child. */
		dup2(fd, 1);
		if (write(1, "x", 1) != 1)
			_exit(1);
		poll(NULL, 0, 1);
		execv("/bin/true", true_args);
		_exit(9);
	}
	tell_status("exec", child);
	child = vfork();
	if (!child) {
		execv("/nonexistent/program", no_args);
		_exit(9);
	}
	tell_status("failing exec", child);
}

static void *vforker(void *unused)
{
	pid_t child;
	int i, status = 0;

	for (i = 0; i < 20; i++) {
		child = vfork();
		if (!child)
			_exit(7);
		waitpid(child, &status, 0);
	}
	return (void *)(intptr_t)WEXITSTATUS(status);
}

static void spawn_tests(void)
{
	char *const args[] = {"sh", "-c", "exit 5", NULL};
	posix_spawn_file_actions_t actions;
	extern char **environ;
	pid_t child = -1;

	puts("--- posix_spawn");
	fflush(stdout);
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
	tell("posix_spawn", posix_spawn(&child, "/bin/sh", &actions, NULL, args, environ));
	tell_status("spawned", child);
	tell("posix_spawnp", posix_spawnp(&child, "sh", NULL, NULL, args, environ));
	tell_status("spawned", child);
	tell("posix_spawn without a pid", posix_spawn(NULL, "/bin/sh", NULL, NULL, args, environ));
	tell_status("spawned", -1);
	child = -7;
	tell("posix_spawn of nothing",
	     posix_spawn(&child, "/nonexistent/program", NULL, NULL, args, environ));
	printf("  pid is left alone: %d\n", child == -7);
	printf("vfork in threads: %d\n", (int)(intptr_t)run_thread(vforker, NULL));
	printf("system: %d\n", WEXITSTATUS(system("exit 3")));
}

/* ---- pointers to what is not there: the kernel refuses them ----------------------------- */

static void wild_exec_tests(void *wild)
{
	char *const args[] = {(char *)"true", NULL}, *const envp[] = {wild, NULL};
	pid_t child;

	TELL_ERRNO("execve, path", execve(wild, args, environ));
	TELL_ERRNO("execve, environment", execve("/bin/true", args, wild));
	TELL_ERRNO("execve, a variable", execve("/bin/true", args, envp));
	TELL_ERRNO("execv", execv(wild, args));
	TELL_ERRNO("execveat", execveat(AT_FDCWD, wild, args, environ, 0));
	TELL_ERRNO("execveat in a directory", execveat(99, wild, args, environ, 0));
	tell("posix_spawn, path", posix_spawn(&child, wild, NULL, NULL, args, environ));
	tell("posix_spawn, environment", posix_spawn(&child, "/bin/true", NULL, NULL, args, wild));
	tell("posix_spawnp, a variable", posix_spawnp(&child, "true", NULL, NULL, args, envp));
	child = vfork();
	if (!child) {
		execve(wild, args, wild);
		_exit(errno);
	}
	tell_status("execve after vfork", child);
}

static void wild_pointer_tests(void)
{
	char *volatile map =
		mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char *volatile nowhere = (char *)8, *volatile gone = map + 4096;
	char *volatile no_end = map;
	char *const args[] = {(char *)"true", NULL};
	struct timespec now = {0, 0};

	puts("--- pointers to nowhere");
	memset(map, 'x', 4096);
	munmap(map + 4096, 4096);
	wild_exec_tests(nowhere);
	wild_exec_tests(gone);
	TELL_ERRNO("execve, a path without an end", execve(no_end, args, environ));
	TELL_ERRNO("sigaltstack", sigaltstack((stack_t *)(void *)gone, NULL));
	TELL_ERRNO("sigaltstack, old", sigaltstack(NULL, (stack_t *)(void *)gone));
	TELL_ERRNO("poll", poll((struct pollfd *)(void *)gone, 1, 0));
	TELL_ERRNO("nanosleep", nanosleep((struct timespec *)(void *)gone, NULL));
	TELL_ERRNO("prctl", prctl(PR_SET_NAME, gone));
	TELL_ERRNO("futex", syscall(SYS_futex, gone, FUTEX_WAIT, 0, &now, NULL, 0));
	TELL_ERRNO("syscall", syscall(SYS_execve, gone, args, gone));
	munmap(map, 4096);
}

/* ---- threads -------------------------------------------------------------------------- */

static pthread_key_t key;
static int destructor_rounds;

static void destructor(void *value)
{
	pthread_mutex_lock(&mutex);
	destructor_rounds++;
	pthread_mutex_unlock(&mutex);
	if (destructor_rounds < 3)
		pthread_setspecific(key, value);
}

static void *returning(void *arg)
{
	pthread_setspecific(key, &key);
	return arg;
}

static void *exiting(void *arg)
{
	pthread_setspecific(key, &key);
	pthread_exit(arg);
}

static void *cancelling(void *arg)
{
	pthread_setspecific(key, &key);
	pthread_cancel(pthread_self());
	pthread_testcancel();
	return arg;
}

static void thread_tests(void)
{
	void *(*const ends[])(void *) = {returning, exiting, cancelling};
	pthread_attr_t attr;
	pthread_t thread;
	cpu_set_t cpus;
	char name[16];
	void *value;
	size_t i;

	puts("--- threads");
	pthread_key_create(&key, destructor);
	for (i = 0; i < 3; i++) {
		destructor_rounds = 0;
		tell("create", pthread_create(&thread, NULL, ends[i], &mutex));
		tell("join", pthread_join(thread, &value));
		printf("  value %s, destructor ran %d times\n",
		       value == &mutex		   ? "passed on"
		       : value == PTHREAD_CANCELED ? "cancelled"
						   : "odd",
		       destructor_rounds);
	}
	CPU_ZERO(&cpus);
	CPU_SET(1000, &cpus);
	pthread_attr_init(&attr);
	pthread_attr_setaffinity_np(&attr, sizeof(cpus), &cpus);
	for (i = 0; i < 100; i++)
		if (pthread_create(&thread, &attr, returning, NULL) != EINVAL)
			puts("a thread on a cpu that is not there");
	tell("join of oneself", pthread_join(pthread_self(), NULL));
	tell("setname", pthread_setname_np(pthread_self(), "main's"));
	tell("setname too long", pthread_setname_np(pthread_self(), "longer than 16 bytes"));
	pthread_getname_np(pthread_self(), name, sizeof(name));
	puts(name);
}

static sem_t go_on;

static void *wait_for_go(void *arg)
{
	sem_wait(&go_on);
	return arg;
}

static void join_tests(void)
{
	struct timespec soon = in_ms(CLOCK_REALTIME, 5);
	pthread_t thread;
	void *value = NULL;

	puts("--- joins");
	sem_init(&go_on, 0, 0);
	pthread_create(&thread, NULL, wait_for_go, &value);
	tell("tryjoin", pthread_tryjoin_np(thread, &value));
	tell("timedjoin", pthread_timedjoin_np(thread, &value, &soon));
	soon = in_ms(CLOCK_MONOTONIC, 5);
	tell("clockjoin", pthread_clockjoin_np(thread, &value, CLOCK_MONOTONIC, &soon));
	tell("clockjoin, no clock", pthread_clockjoin_np(thread, &value, CLOCK_TAI, &soon));
	sem_post(&go_on);
	tell("join", pthread_join(thread, &value));
	printf("  value passed on: %d\n", value == &value);
	pthread_create(&thread, NULL, wait_for_go, NULL);
	pthread_detach(thread);
	tell("join of a detached thread", pthread_join(thread, NULL));
	sem_post(&go_on);
}

/* ---- plugins and lookups -------------------------------------------------------------- */

static void plugin_tests(const char *path)
{
	int (*work)(void);
	void *plugin;
	int i;

	puts("--- a plugin");
	for (i = 0; i < 3; i++) {
		plugin = dlopen(path, RTLD_NOW | RTLD_LOCAL);
		if (!plugin) {
			puts(dlerror());
			return;
		}
		work = (int (*)(void))dlsym(plugin, "plugin_work");
		printf("works: %d\n", work());
		tell("dlclose", dlclose(plugin));
	}
}

static void lookup_tests(void)
{
	static const char *const NAMES[] = {
		"pthread_mutex_lock", "pthread_cond_wait", "read", "vfork", "syscall",
		"sem_post",	      "mtx_lock"};
	size_t i;

	puts("--- dlsym");
	for (i = 0; i < sizeof(NAMES) / sizeof(NAMES[0]); i++)
		printf("%s: default %s, next %s\n", NAMES[i],
		       dlsym(RTLD_DEFAULT, NAMES[i]) ? "found" : "missing",
		       dlsym(RTLD_NEXT, NAMES[i]) ? "found" : "missing");
	printf("%d\n", dlsym(RTLD_DEFAULT, "pthread_mutex_lock") == (void *)pthread_mutex_lock);
	TELL_ERRNO("syscall with six arguments",
		   syscall(SYS_mmap, NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
	TELL_ERRNO("syscall that fails", syscall(SYS_close, -1));
	TELL_ERRNO("syscall that is not there", syscall(9999));
}

/* The last act: the main thread goes, the others go on. */
static void *last_thread(void *arg)
{
	usleep(3000);
	printf("main has left; %d\n", work_on());
	fflush(stdout);
	_exit(fake_core_unbalanced());
}

int main(int argc, char **argv)
{
	pthread_t thread;

	fork_tests();
	close_all_tests();
	daemon_tests();
	failing_fork_test();
	vfork_tests();
	spawn_tests();
	wild_pointer_tests();
	thread_tests();
	join_tests();
	plugin_tests(argc > 1 ? argv[1] : "");
	lookup_tests();
	atfork_tests();
	pthread_create(&thread, NULL, last_thread, NULL);
	pthread_exit(NULL);
}
