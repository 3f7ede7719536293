/*
 * same_interrupted.c - signals of the program's while samples are taken: no EINTR is lost, none too
 * many is seen, and SIGPROF is the program's.  Plain and interposed alike.
 *
 * With the fake core a sample is made to come together with each of the program's signals.
 */
#include <aio.h>
#include <poll.h>
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <linux/futex.h>
#include "fake_core.h"
#include "same.h"

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

enum { ROUNDS = 40, PATIENCE_US = 3000000 };

static int main_tid;
static fake_core_sample_fn *sample; /* NULL without the fake core */
static volatile sig_atomic_t handled;
static _Atomic int begun, returned; /* rounds */
static int lost;

/* ---- calls that a handler interrupts ---------------------------------------------------- */

static const struct timespec LONG_TIME = {.tv_sec = 20};
static int silent_pipe[2], timed_socket[2], listener, epoll, futex_word;
static sem_t sem;
static sigset_t none;

static long do_poll(void)
{
	return poll(&(struct pollfd){silent_pipe[0], POLLIN, 0}, 1, 20000);
}
static long do_poll_for_ever(void)
{
	return poll(&(struct pollfd){silent_pipe[0], POLLIN, 0}, 1, -1);
}
static long do_ppoll(void)
{
	return ppoll(NULL, 0, &LONG_TIME, &none);
}
static long do_select(void)
{
	return select(0, NULL, NULL, NULL, &(struct timeval){.tv_sec = 20});
}
static long do_pselect(void)
{
	return pselect(0, NULL, NULL, NULL, &LONG_TIME, &none);
}
static long do_epoll_wait(void)
{
	struct epoll_event e;

	return epoll_wait(epoll, &e, 1, 20000);
}
static long do_epoll_pwait(void)
{
	struct epoll_event e;

	return epoll_pwait(epoll, &e, 1, -1, &none);
}
static long do_nanosleep(void)
{
	struct timespec left;

	return nanosleep(&LONG_TIME, &left);
}
static long do_clock_nanosleep(void)
{
	struct timespec until = in_ms(CLOCK_MONOTONIC, 20000);

	errno = clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
	return errno ? -1 : 0;
}
static long do_sem_timedwait(void)
{
	struct timespec until = in_ms(CLOCK_REALTIME, 20000);

	return sem_timedwait(&sem, &until);
}
static long do_futex(void)
{
	return syscall(SYS_futex, &futex_word, FUTEX_WAIT, 0, &LONG_TIME, NULL, 0);
}
static long do_direct_nanosleep(void)
{
	return syscall(SYS_nanosleep, &LONG_TIME, NULL);
}
static long do_direct_epoll_pwait(void)
{
	struct epoll_event e;

	return syscall(SYS_epoll_pwait, epoll, &e, 1, 20000, NULL, 8);
}
static long do_direct_ppoll(void)
{
	struct timespec limit = LONG_TIME;

	return syscall(SYS_ppoll, NULL, 0, &limit, NULL, 8);
}
static long do_aio_suspend(void)
{
	static char byte;
	static struct aiocb block = {.aio_buf = &byte, .aio_nbytes = 1};
	const struct aiocb *list[] = {&block};

	if (!block.aio_fildes) {
		block.aio_fildes = silent_pipe[0];
		if (aio_read(&block))
			abort();
	}
	return aio_suspend(list, 1, &LONG_TIME);
}
static long do_recv(void)
{
	char c;

	return recv(timed_socket[0], &c, 1, 0);
}
static long do_read_socket(void)
{
	char c;

	return read(timed_socket[0], &c, 1);
}
static long do_accept(void)
{
	return accept(listener, NULL, NULL);
}
static long do_sigtimedwait(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR2);
	return sigtimedwait(&set, NULL, &LONG_TIME);
}
static long do_sigsuspend(void)
{
	return sigsuspend(&none);
}
static long do_pause(void)
{
	return pause();
}
static long do_read(void)
{
	char c;

	return read(silent_pipe[0], &c, 1);
}
static long do_waitpid(void)
{
	static pid_t child;

	if (!child && !(child = fork())) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			pause();
	}
	return waitpid(child, NULL, 0);
}

/* With `held` the signal is blocked but in the call. */
static const struct call {
	const char *name;
	long (*call)(void);
	bool held;
} CALLS[] = {
	{"poll", do_poll, false},
	{"poll for ever", do_poll_for_ever, false},
	{"ppoll", do_ppoll, true},
	{"select", do_select, false},
	{"pselect", do_pselect, true},
	{"epoll_wait", do_epoll_wait, false},
	{"epoll_pwait", do_epoll_pwait, true},
	{"nanosleep", do_nanosleep, false},
	{"clock_nanosleep", do_clock_nanosleep, false},
	{"sem_timedwait", do_sem_timedwait, false},
	{"futex", do_futex, false},
	{"syscall, nanosleep", do_direct_nanosleep, false},
	{"syscall, epoll_pwait", do_direct_epoll_pwait, false},
	{"syscall, ppoll", do_direct_ppoll, false},
	{"aio_suspend", do_aio_suspend, false},
	{"recv with a limit", do_recv, false},
	{"read with a limit", do_read_socket, false},
	{"accept with a limit", do_accept, false},
	{"sigtimedwait", do_sigtimedwait, false},
	{"sigsuspend", do_sigsuspend, true},
	{"pause", do_pause, false},
	{"read", do_read, false},
	{"waitpid", do_waitpid, false},
};

static void set_up(void)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	struct timeval limit = {.tv_sec = 20};

	sigemptyset(&none);
	sem_init(&sem, 0, 0);
	listener = socket(AF_UNIX, SOCK_STREAM, 0);
	epoll = epoll_create1(0);
	if (pipe(silent_pipe) || socketpair(AF_UNIX, SOCK_STREAM, 0, timed_socket) ||
	    bind(listener, (struct sockaddr *)&address, sizeof(sa_family_t)) || listen(listener, 1))
		abort();
	setsockopt(timed_socket[0], SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
	setsockopt(listener, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
}

/* ---- one signal in each, and it is seen ------------------------------------------------- */

static void on_signal(int number)
{
	handled++;
}

/* Whether the main thread sleeps: there is nothing in a round where it would but the call. */
static bool is_asleep(void)
{
	char path[64], text[256];
	const char *name_end;
	FILE *stat;

	snprintf(path, sizeof(path), "/proc/self/task/%d/stat", main_tid);
	stat = fopen(path, "r");
	if (!stat || !fgets(text, sizeof(text), stat))
		abort();
	fclose(stat);
	name_end = strrchr(text, ')');
	return name_end && name_end[2] == 'S';
}

static void sampled(void)
{
	if (sample)
		sample(main_tid);
}

static void send_one(int round)
{
	if (round % 2)
		kill(getpid(), SIGUSR1);
	else
		tgkill(getpid(), main_tid, SIGUSR1);
}

static void send_with_samples(int round)
{
	int order = round / 2 % 5;

	if (order == 1 || order >= 3)
		sampled();
	if (order == 4)
		usleep(300);
	send_one(round);
	if (order == 2 || order == 3)
		sampled();
}

static void *sender(void *unused)
{
	for (int round = 0; round < ROUNDS; round++) {
		while (begun <= round || !is_asleep())
			usleep(20);
		send_with_samples(round);
		for (int us = 0; returned <= round; us += 50) {
			usleep(50);
			if (us == PATIENCE_US) {
				lost++;
				send_one(round);
				us = 0;
			}
		}
	}
	return NULL;
}

static void call_test(const struct call *c)
{
	sigset_t usr1, was;
	pthread_t thread;
	int eintr = 0;

	sigemptyset(&usr1);
	sigaddset(&usr1, SIGUSR1);
	begun = returned = handled = lost = 0;
	pthread_sigmask(SIG_BLOCK, &usr1, &was);
	pthread_create(&thread, NULL, sender, NULL);
	if (!c->held)
		pthread_sigmask(SIG_SETMASK, &was, NULL);
	for (int round = 0; round < ROUNDS; round++) {
		begun++;
		errno = 0;
		eintr += c->call() == -1 && errno == EINTR;
		returned++;
	}
	pthread_join(thread, NULL);
	pthread_sigmask(SIG_SETMASK, &was, NULL);
	printf("%-20s EINTR %d, handled %d, lost %d\n", c->name, eintr, handled, lost);
	fflush(stdout);
}

/* ---- SIGPROF is the program's ----------------------------------------------------------- */

/* Sent to the process: a thread has no room for a second one beside a sample's. */
static void send_prof(void)
{
	sampled();
	kill(getpid(), SIGPROF);
	sampled();
}

static volatile sig_atomic_t blocked_inside, value_inside;

static void on_prof(int number)
{
	sigset_t now;

	handled++;
	pthread_sigmask(SIG_BLOCK, NULL, &now);
	blocked_inside = sigismember(&now, SIGPROF) + 2 * sigismember(&now, SIGUSR2);
}

static void on_prof_info(int number, siginfo_t *info, void *context)
{
	on_prof(number);
	value_inside = info->si_value.sival_int;
}

static void say_prof(const char *what)
{
	struct sigaction now;

	sigaction(SIGPROF, NULL, &now);
	printf("%s: %s, flags %x, blocks USR2 %d, restorer %d; handled %d, blocked inside %d\n",
	       what,
	       now.sa_handler == SIG_DFL   ? "default"
	       : now.sa_handler == SIG_IGN ? "ignore"
	       : now.sa_handler == on_prof ? "plain"
					   : "info",
	       (unsigned int)now.sa_flags, sigismember(&now.sa_mask, SIGUSR2),
	       now.sa_restorer != NULL, handled, blocked_inside);
}

static void prof_actions_test(void)
{
	static const unsigned int flags[] = {0, SA_RESTART, SA_NODEFER, SA_ONSTACK, SA_RESETHAND};
	struct sigaction action = {.sa_handler = on_prof};

	puts("--- SIGPROF");
	say_prof("at first");
	for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++) {
		action.sa_flags = (int)flags[i];
		sigaddset(&action.sa_mask, SIGUSR2);
		handled = 0;
		sigaction(SIGPROF, &action, NULL);
		send_prof();
		say_prof("sigaction");
		sigemptyset(&action.sa_mask);
	}
	printf("%d\n", signal(SIGPROF, on_prof) == SIG_DFL);
	send_prof();
	say_prof("signal");
	tell("siginterrupt", siginterrupt(SIGPROF, 1));
	say_prof("interrupts");
	tell("siginterrupt", siginterrupt(SIGPROF, 0));
	printf("%d\n", sigset(SIGPROF, SIG_HOLD) == on_prof);
	printf("%d\n", sigset(SIGPROF, SIG_IGN) == SIG_HOLD);
	send_prof();
	say_prof("sigset");
}

/* ---- where its handler runs -------------------------------------------------------------- */

static char alternate[128 << 10];
static char *volatile of_main; /* an address on the main thread's own stack */
static const char *volatile ran;
static volatile int flags_inside;
static sigjmp_buf out;

static void on_prof_where(int number)
{
	char here;
	stack_t now;
	uintptr_t off = (uintptr_t)&here - (uintptr_t)alternate;
	uintptr_t below = (uintptr_t)of_main - (uintptr_t)&here;

	ran = off < sizeof(alternate) ? "alternate" : below < 64 << 10 ? "own" : "another";
	sigaltstack(NULL, &now);
	flags_inside = now.ss_flags;
	handled++;
}

static void on_prof_jump(int number)
{
	siglongjmp(out, 1);
}

static void say_where(const char *stack, int flags)
{
	struct sigaction action = {.sa_handler = on_prof_where, .sa_flags = flags};
	volatile double before = handled + 0.5, sum = before;
	stack_t now;
	char here;

	of_main = &here;
	sigaction(SIGPROF, &action, NULL);
	for (int i = 0; i < 20; i++) {
		send_prof();
		sum += before;
	}
	sigaltstack(NULL, &now);
	printf("%s, flags %x: on its %s stack, flags inside %x, then %x, %.1f\n", stack,
	       (unsigned int)flags, ran, (unsigned int)flags_inside, (unsigned int)now.ss_flags,
	       sum - before * 21);
	action.sa_handler = on_prof_jump;
	sigaction(SIGPROF, &action, NULL);
	if (!sigsetjmp(out, 1))
		send_prof();
	else
		puts("jumped out");
}

static void prof_stacks_test(void)
{
	enum { AUTODISARM = (int)(1U << 31) };
	stack_t stack = {.ss_sp = alternate, .ss_size = sizeof(alternate)};

	say_where("no stack", 0);
	say_where("no stack", SA_ONSTACK);
	sigaltstack(&stack, NULL);
	say_where("a stack", 0);
	say_where("a stack", SA_ONSTACK);
	stack.ss_flags = AUTODISARM;
	sigaltstack(&stack, NULL);
	say_where("disarmed", 0);
	sigaltstack(&stack, NULL); /* the way out has left it disarmed */
	say_where("disarmed", SA_ONSTACK);
	stack.ss_flags = SS_DISABLE;
	sigaltstack(&stack, NULL);
}

static void *prof_sender(void *unused)
{
	while (!is_asleep())
		usleep(20);
	send_prof();
	return NULL;
}

/* SIGPROF is for the main thread. */
static void prof_values_test(void)
{
	pthread_t thread;
	sigset_t prof;
	struct sigaction action = {.sa_sigaction = on_prof_info, .sa_flags = SA_SIGINFO};
	struct itimerval every = {{0, 4000}, {0, 4000}};
	volatile unsigned int work = 0;

	sigaction(SIGPROF, &action, NULL);
	sigqueue(getpid(), SIGPROF, (union sigval){.sival_int = 4711});
	say_prof("sigqueue");
	printf("%d\n", (int)value_inside);
	handled = 0;
	setitimer(ITIMER_PROF, &every, NULL);
	while (handled < 5)
		work++;
	every = (struct itimerval){0};
	setitimer(ITIMER_PROF, &every, NULL);
	printf("setitimer: %d\n", handled >= 5);
	sigemptyset(&prof);
	sigaddset(&prof, SIGPROF);
	pthread_sigmask(SIG_BLOCK, &prof, NULL);
	pthread_create(&thread, NULL, prof_sender, NULL);
	pthread_sigmask(SIG_UNBLOCK, &prof, NULL);
	TELL_ERRNO("read, and a handler without SA_RESTART", do_read());
	pthread_join(thread, NULL);
}

static void prof_waits_test(void)
{
	sigset_t prof;
	siginfo_t info;
	int number = 0;

	sigemptyset(&prof);
	sigaddset(&prof, SIGPROF);
	sigprocmask(SIG_BLOCK, &prof, NULL);
	sampled();
	TELL_ERRNO("nothing to wait for",
		   sigtimedwait(&prof, &info, &(struct timespec){0, 20000000}));
	send_prof();
	tell("sigwait", sigwait(&prof, &number));
	printf("%d\n", number);
	send_prof();
	number = sigwaitinfo(&prof, &info);
	printf("%d %d\n", number, info.si_code == SI_USER);
	sigprocmask(SIG_UNBLOCK, &prof, NULL);
}

static void prof_deadly_test(void)
{
	int status = 0;
	pid_t child;

	signal(SIGPROF, SIG_DFL);
	child = fork();
	if (!child) {
		kill(getpid(), SIGPROF);
		_exit(1);
	}
	waitpid(child, &status, 0);
	printf("ended by signal %d\n", WIFSIGNALED(status) ? WTERMSIG(status) : 0);
}

int main(void)
{
	struct sigaction action = {.sa_handler = on_signal};

	sample = (fake_core_sample_fn *)dlsym(RTLD_DEFAULT, "fake_core_sample");
	main_tid = gettid();
	set_up();
	sigaction(SIGUSR1, &action, NULL);
	for (size_t i = 0; i < sizeof(CALLS) / sizeof(CALLS[0]); i++)
		call_test(&CALLS[i]);
	prof_actions_test();
	prof_stacks_test();
	prof_values_test();
	prof_waits_test();
	prof_deadly_test();
	return fake_core_unbalanced();
}
