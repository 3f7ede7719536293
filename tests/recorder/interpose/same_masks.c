/*
 * same_masks.c - programs that block everything, and the signals that find it blocked: what they
 * see of their masks, what their children get, and what comes when.  Plain and recorded alike.
 */
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <spawn.h>
#include "same.h"

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

extern char **environ;
static sigset_t all, none;

static void say_mask(const char *what)
{
	sigset_t now;

	sigemptyset(&now);
	pthread_sigmask(SIG_SETMASK, NULL, &now);
	printf("%-34s", what);
	for (int i = 1; i <= SIGRTMAX; i++)
		putchar(sigismember(&now, i) == 1 ? '1' : '0');
	putchar('\n');
	fflush(stdout);
}

static sigset_t set_of(int one, int other)
{
	sigset_t set;

	sigemptyset(&set);
	if (one)
		sigaddset(&set, one);
	if (other)
		sigaddset(&set, other);
	return set;
}

static void work(void)
{
	volatile unsigned int n = 0;
	struct timespec t;

	do {
		for (int i = 0; i < 100000; i++)
			n++;
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	} while (t.tv_sec == 0 && t.tv_nsec < 20000000);
}

/* ---- masks ------------------------------------------------------------------------------ */

static void *say_in_thread(void *what)
{
	work();
	say_mask(what);
	return NULL;
}

static void masks_test(void)
{
	sigset_t old, usr = set_of(SIGUSR1, SIGPROF);
	pthread_attr_t attr;
	pthread_t thread;
	sigjmp_buf out;

	puts("--- masks");
	say_mask("at first");
	tell("block all", sigprocmask(SIG_BLOCK, &all, &old));
	printf("old %d %d\n", sigismember(&old, SIGPROF), sigismember(&old, SIGVTALRM));
	say_mask("all blocked");
	if (!sigsetjmp(out, 1)) {
		pthread_sigmask(SIG_SETMASK, &none, &old);
		printf("old %d %d\n", sigismember(&old, SIGPROF), sigismember(&old, SIGVTALRM));
		say_mask("none blocked");
		siglongjmp(out, 1);
	}
	say_mask("after the jump");
	run_thread(say_in_thread, "in a thread");
	pthread_sigmask(SIG_SETMASK, &none, NULL);
	pthread_attr_init(&attr);
	pthread_attr_setsigmask_np(&attr, &all);
	pthread_create(&thread, &attr, say_in_thread, "in a thread that is given one");
	pthread_join(thread, NULL);
	pthread_attr_destroy(&attr);
	tell("not understood", pthread_sigmask(77, &usr, &old));
	TELL_ERRNO("not understood", sigprocmask(77, &all, &old));
	say_mask("at last");
}

/* ---- children --------------------------------------------------------------------------- */

static char *const GREP[] = {"grep", "SigBlk", "/proc/self/status", NULL};

static void wait_for(const char *what, pid_t child)
{
	int status = 0;

	waitpid(child, &status, 0);
	printf("%s: %x\n", what, (unsigned int)status);
	fflush(stdout);
}

static void children_test(void)
{
	posix_spawnattr_t attr;
	pid_t child;

	unsetenv("LD_PRELOAD"); /* they are looked at as they begin */
	puts("--- children, with all blocked");
	fflush(stdout);
	sigprocmask(SIG_BLOCK, &all, NULL);
	child = fork();
	if (!child) {
		say_mask("in a child");
		execvp(GREP[0], GREP);
		_exit(1);
	}
	wait_for("fork and exec", child);
	child = vfork();
	if (!child) {
		execvp(GREP[0], GREP);
		_exit(1);
	}
	wait_for("vfork and exec", child);
	tell("exec of nothing", execl("/nonexistent", "nothing", NULL) ? errno : 0);
	say_mask("after an exec that failed");
	if (!posix_spawnp(&child, GREP[0], NULL, NULL, GREP, environ))
		wait_for("posix_spawnp", child);
	posix_spawnattr_init(&attr);
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGMASK);
	posix_spawnattr_setsigmask(&attr, &none);
	if (!posix_spawnp(&child, GREP[0], NULL, &attr, GREP, environ))
		wait_for("posix_spawnp, with a mask", child);
	posix_spawnattr_setsigmask(&attr, &all);
	if (!posix_spawnp(&child, GREP[0], NULL, &attr, GREP, environ))
		wait_for("posix_spawnp, with all", child);
	posix_spawnattr_destroy(&attr);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

/* ---- the program's own SIGPROF, each in a process of its own ----------------------------- */

static volatile sig_atomic_t handled;

static void on_prof(int number)
{
	handled++;
}

static bool is_pending(void)
{
	sigset_t pending;

	sigpending(&pending);
	return sigismember(&pending, SIGPROF);
}

static void say_pending(const char *what)
{
	printf("%s: pending %d, handled %d\n", what, is_pending(), (int)handled);
	fflush(stdout);
}

/* Deadly, if it came. */
static void blocked_run(void)
{
	sigset_t prof = set_of(SIGPROF, 0);
	int number = 0;

	sigprocmask(SIG_BLOCK, &all, NULL);
	work();
	kill(getpid(), SIGPROF);
	work();
	say_pending("killed");
	say_mask("then");
	tell("sigwait", sigwait(&prof, &number));
	printf("%d\n", number);
	kill(getpid(), SIGPROF);
	work();
	say_pending("killed again");
	signal(SIGPROF, on_prof);
	sigprocmask(SIG_UNBLOCK, &prof, NULL);
	say_pending("let in");
	say_mask("at last");
}

static void handled_run(void)
{
	signal(SIGPROF, on_prof);
	sigprocmask(SIG_BLOCK, &all, NULL);
	sigqueue(getpid(), SIGPROF, (union sigval){.sival_int = 7});
	work();
	say_pending("queued");
	sigprocmask(SIG_SETMASK, &none, NULL);
	say_pending("let in");
	sigprocmask(SIG_BLOCK, &all, NULL);
	say_mask("all again");
	kill(getpid(), SIGPROF);
	say_pending("again");
	sigsuspend(&none);
	say_pending("after sigsuspend");
}

static void *wait_for_all(void *value)
{
	siginfo_t info;

	*(int *)value = sigwaitinfo(&all, &info);
	return NULL;
}

static void *only_work(void *unused)
{
	work();
	return NULL;
}

/* The usual server: a thread takes all signals. */
static void taker_run(void)
{
	pthread_t taker, worker[2];
	int value = 0;

	sigprocmask(SIG_BLOCK, &all, NULL);
	for (int i = 0; i < 2; i++)
		pthread_create(&worker[i], NULL, only_work, NULL);
	pthread_create(&taker, NULL, wait_for_all, &value);
	work();
	kill(getpid(), SIGPROF);
	pthread_join(taker, NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(worker[i], NULL);
	printf("taken: %d\n", value);
}

static void descriptor_run(void)
{
	struct signalfd_siginfo info = {0};
	struct pollfd ready;
	int fd;

	sigprocmask(SIG_BLOCK, &all, NULL);
	fd = signalfd(-1, &all, SFD_NONBLOCK | SFD_CLOEXEC);
	ready = (struct pollfd){fd, POLLIN, 0};
	for (int i = 0; i < 5; i++) {
		work();
		TELL_ERRNO("read", read(fd, &info, sizeof(info)));
	}
	kill(getpid(), SIGPROF);
	work();
	printf("poll %d, ", poll(&ready, 1, 3000));
	printf("read %d, signal %u\n", (int)read(fd, &info, sizeof(info)), info.ssi_signo);
}

static void *block_one(void *unused)
{
	sigset_t one = set_of(SIGVTALRM, 0);

	say_mask("a thread from before");
	pthread_sigmask(SIG_BLOCK, &one, NULL);
	say_mask("and one more");
	return NULL;
}

/* Who speaks of one alone. */
static void alone_run(void)
{
	sigset_t prof = set_of(SIGPROF, 0), vtalrm = set_of(SIGVTALRM, 0);

	sigprocmask(SIG_BLOCK, &all, NULL);
	work();
	sigprocmask(SIG_UNBLOCK, &prof, NULL);
	say_mask("all but SIGPROF");
	sigprocmask(SIG_SETMASK, &vtalrm, NULL);
	say_mask("SIGVTALRM");
	run_thread(say_in_thread, "in a thread");
	run_thread(block_one, NULL);
	sigprocmask(SIG_SETMASK, &prof, NULL);
	say_mask("SIGPROF");
	sighold(SIGVTALRM);
	say_mask("both");
	sigrelse(SIGPROF);
	say_mask("SIGVTALRM");
	sigset(SIGVTALRM, SIG_DFL);
	say_mask("none");
}

static const struct {
	const char *name;
	void (*run)(void);
} RUNS[] = {
	{"masks", masks_test},	 {"children", children_test},	  {"blocked", blocked_run},
	{"handled", handled_run}, {"taker", taker_run}, {"descriptor", descriptor_run},
	{"alone", alone_run},
};

/* With the name of a run, that; else the names. */
int main(int argc, char **argv)
{
	sigfillset(&all);
	sigemptyset(&none);
	for (size_t i = 0; i < sizeof(RUNS) / sizeof(RUNS[0]); i++) {
		if (argc < 2)
			puts(RUNS[i].name);
		else if (!strcmp(argv[1], RUNS[i].name))
			RUNS[i].run();
	}
	return 0;
}
