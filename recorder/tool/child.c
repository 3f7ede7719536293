/* child.c - starts the command's process, passes signals to it, waits for it, and ends trace-record
 * as the command ended. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>
#include "recorder/shared/clock.h"
#include "recorder/drain/ring_owner.h"
#include "recorder/shared/seccomp_filters.h"
#include "tool.h"

_Atomic uint32_t trc_child_wake;
_Atomic bool trc_child_hurry;
_Atomic bool trc_child_ending;
_Atomic bool trc_child_keeps;
_Atomic uint64_t trc_child_asked;

/* For the handlers; 0 while there is no child. */
static _Atomic pid_t child_pid;
static uint64_t conditions; /* signals that ask for a snapshot, as in trc_child_asked */
/* To be passed on (trc_child_keeps); 0 = none.  kept_info is for handlers, and with all signals blocked. */
static _Atomic int kept_signal;
static siginfo_t kept_info;

static struct trc_sync_point begun; /* when trace-record did */

/* What we changed, so that the command finds it as it was. */
static struct sigaction before[NSIG];
static bool changed[NSIG];
/* What the program that executed us had set; exec keeps them, fork does not. */
enum { N_TIMERS = 3 }; /* ITIMER_REAL, ITIMER_VIRTUAL, ITIMER_PROF */
static struct itimerval timers[N_TIMERS];

/* ---- signals --------------------------------------------------------------------------- */

static void on_event(int sig)
{
	atomic_fetch_add_explicit(&trc_child_wake, 1, memory_order_relaxed);
}

static bool ends_us(int sig)
{
	return sig == SIGINT || sig == SIGTERM || sig == SIGHUP || sig == SIGQUIT;
}

/* With its value, if it has one. */
static void pass_on(pid_t pid, int sig, siginfo_t *info)
{
	if (info->si_code != SI_QUEUE || syscall(SYS_rt_sigqueueinfo, pid, sig, info))
		kill(pid, sig);
}

/* The terminal sends its signals to the whole foreground group: the command has them already.  It also has what it
 * sends to its own group.  What we raise is about us. */
static bool is_to_pass_on(pid_t pid, const siginfo_t *info)
{
	return pid > 0 && info->si_code <= 0 && info->si_pid != pid && info->si_pid != getpid();
}

/* Context: a handler, or all signals are blocked. */
static void kept_pass_on(pid_t pid)
{
	int sig = atomic_exchange_explicit(&kept_signal, 0, memory_order_relaxed);

	if (sig && pid > 0)
		pass_on(pid, sig, &kept_info);
}

/* Signals arrive in the order in which they came. */
static void keep_or_pass_on(pid_t pid, int sig, siginfo_t *info)
{
	kept_pass_on(pid);
	if (!atomic_load_explicit(&trc_child_keeps, memory_order_relaxed) ||
	    (!ends_us(sig) && sig != SIGABRT)) {
		pass_on(pid, sig, info);
		return;
	}
	kept_info = *info;
	atomic_store_explicit(&kept_signal, sig, memory_order_relaxed);
}

bool trc_child_has_kept(void)
{
	return atomic_load_explicit(&kept_signal, memory_order_relaxed) != 0;
}

void trc_child_pass_on(void)
{
	sigset_t all, mask;

	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &mask);
	kept_pass_on(atomic_load_explicit(&child_pid, memory_order_relaxed));
	sigprocmask(SIG_SETMASK, &mask, NULL);
}

static void on_forward(int sig, siginfo_t *info, void *context)
{
	pid_t pid = atomic_load_explicit(&child_pid, memory_order_relaxed);
	bool passes = is_to_pass_on(pid, info);
	int saved_errno = errno;

	if (ends_us(sig) && before[sig].sa_handler != SIG_IGN)
		atomic_store_explicit(&trc_child_ending, true, memory_order_relaxed);
	/* The command may ask for a snapshot of itself. */
	if (pid > 0 && info->si_code != SI_KERNEL && info->si_pid != getpid() &&
	    (conditions >> (sig - 1) & 1))
		atomic_fetch_or_explicit(&trc_child_asked, UINT64_C(1) << (sig - 1),
					 memory_order_relaxed);
	else if (passes)
		keep_or_pass_on(pid, sig, info);
	else if (pid <= 0 && ends_us(sig) && before[sig].sa_handler != SIG_IGN)
		atomic_store_explicit(&trc_child_hurry, true, memory_order_relaxed);
	atomic_fetch_add_explicit(&trc_child_wake, 1, memory_order_relaxed);
	errno = saved_errno;
}

/* The kernel tells us so of new files, and of children. */
static void on_told(int sig, siginfo_t *info, void *context)
{
	if (info->si_code > 0)
		on_event(sig);
	else
		on_forward(sig, info, context);
}

/* A fault of our own comes again, and does what it would have done had it not been caught. */
static void on_fault(int sig, siginfo_t *info, void *context)
{
	if (info->si_code > 0)
		sigaction(sig, &before[sig], NULL);
	else
		on_forward(sig, info, context);
}

/* Stops this process as the signal would have, had it not been caught. */
static void stop_here(int sig)
{
	struct sigaction ours, plain = {.sa_handler = SIG_DFL};
	sigset_t only, mask;

	sigemptyset(&only);
	sigaddset(&only, sig);
	sigaction(sig, &plain, &ours);
	raise(sig);
	sigprocmask(SIG_UNBLOCK, &only, &mask); /* here it stops */
	sigprocmask(SIG_SETMASK, &mask, NULL);
	sigaction(sig, &ours, NULL);
}

static void on_stop(int sig, siginfo_t *info, void *context)
{
	int saved_errno = errno;

	on_forward(sig, info, context);
	stop_here(sig);
	errno = saved_errno;
}

/* We were in the background, and used the terminal; or somebody tells the command something: servers take these
 * signals for more workers and for fewer. */
static void on_terminal(int sig, siginfo_t *info, void *context)
{
	int saved_errno = errno;

	if (info->si_code > 0)
		stop_here(sig);
	else
		on_forward(sig, info, context);
	errno = saved_errno;
}

/* A signal that was ignored when we were started, as with nohup(1) and by shells for what they
 * put in the background, stops neither us nor a command that leaves it at that; but the command
 * may well handle it, and so it is passed on all the same. */
static void signal_handle(int sig, void (*handler)(int, siginfo_t *, void *))
{
	struct sigaction action = {.sa_sigaction = handler, .sa_flags = SA_RESTART | SA_SIGINFO};

	sigaction(sig, NULL, &before[sig]);
	if ((handler == on_stop || handler == on_terminal) && before[sig].sa_handler == SIG_IGN)
		return;
	sigfillset(&action.sa_mask);
	sigaction(sig, &action, NULL);
	changed[sig] = true;
}

void trc_child_begin(void)
{
	trc_clock_counter_now(&begun);
}

void trc_child_signals(const struct trc_tool_options *o)
{
	/* SIGABRT as watchdogs send it; our own abort() ends us nevertheless.  SIGPIPE and SIGXFSZ of our own are not
	 * passed on, and end nothing: a failed write is an error of the trace's, not the end of the recording. */
	static const int forwarded[] = {SIGHUP,	   SIGINT,  SIGQUIT, SIGTERM,  SIGUSR1, SIGUSR2,
					SIGALRM,   SIGCONT, SIGABRT, SIGPWR,   SIGXCPU, SIGVTALRM,
					SIGSTKFLT, SIGPROF, SIGURG,  SIGWINCH, SIGPIPE, SIGXFSZ};
	static const int faults[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE};

	for (unsigned int i = 0; o->flight && i < o->n_specs; i++)
		if (o->spec[i].kind == TRC_TRIGGER_SIGNAL)
			conditions |= UINT64_C(1) << (o->spec[i].signal - 1);
	for (size_t i = 0; i < sizeof(forwarded) / sizeof(*forwarded); i++)
		signal_handle(forwarded[i], on_forward);
	for (size_t i = 0; i < sizeof(faults) / sizeof(*faults); i++)
		signal_handle(faults[i], on_fault);
	for (int sig = SIGRTMIN; sig <= SIGRTMAX && sig < NSIG; sig++)
		signal_handle(sig, on_forward);
	signal_handle(SIGTSTP, on_stop);
	signal_handle(SIGTTIN, on_terminal);
	signal_handle(SIGTTOU, on_terminal);
	signal_handle(SIGCHLD, on_told);
	signal_handle(SIGIO, on_told);
}

static void restore_signals(void)
{
	for (int sig = 1; sig < NSIG; sig++)
		if (changed[sig])
			sigaction(sig, &before[sig], NULL);
}

/* ---- starting -------------------------------------------------------------------------- */

static void variable_put(const char *name, const char *value)
{
	if (value)
		setenv(name, value, 1);
}

/* 0 = it is not known. */
static void variable_put_number(const char *name, uint64_t number)
{
	char text[24];

	unsetenv(name);
	snprintf(text, sizeof(text), "%llu", (unsigned long long)number);
	variable_put(name, number ? text : NULL);
}

static void variables_put_flight(const struct trc_tool_options *o)
{
	char conditions_text[TRC_TRIGGER_SPECS_MAX * sizeof(o->spec->text)] = "";
	char bytes[24];

	unsetenv("TRC_FLIGHT");
	if (!o->flight)
		return;
	for (unsigned int i = 0; i < o->n_specs; i++) {
		strcat(conditions_text, i ? ";" : "");
		strcat(conditions_text, o->spec[i].text);
	}
	snprintf(bytes, sizeof(bytes), "%llu", (unsigned long long)o->max_bytes);
	variable_put("TRC_FLIGHT", "1");
	variable_put("TRC_MAX_SIZE", bytes);
	variable_put("TRC_WINDOW", o->window ? o->window : "10s");
	variable_put("TRC_TRIGGERS", conditions_text);
}

/* Programs that the command runs may be linked with AddressSanitizer, too: it works behind the
 * recorder, but refuses to unless it is told so. */
static void put_sanitizer_options(void)
{
	const char *own = getenv("ASAN_OPTIONS");
	char text[4096];
	int n = snprintf(text, sizeof(text), "verify_asan_link_order=0%s%s", own && *own ? ":" : "",
			 own ? own : "");

	if (n < (int)sizeof(text))
		variable_put("ASAN_OPTIONS", text);
}

static void set_environment(const struct trc_tool_options *o, const char *dir, const char *preload)
{
	const char *others = getenv("LD_PRELOAD");
	size_t n = strlen(preload) + (others ? strlen(others) : 0) + 2;
	char *list = malloc(n);
	int n_filters = trc_seccomp_filters();
	char pid[16];

	if (!list)
		_exit(TRC_EXIT_TROUBLE);
	if (!others)
		others = "";
	if (trc_target_is_sanitizer(others)) /* it wants to be first */
		snprintf(list, n, "%s:%s", others, preload);
	else
		snprintf(list, n, "%s%s%s", preload, *others ? ":" : "", others);
	snprintf(pid, sizeof(pid), "%d", (int)getpid());
	variable_put("LD_PRELOAD", list);
	free(list);
	put_sanitizer_options();
	variable_put("TRC_SESSION", dir);
	variable_put("TRC_SESSION_PID", pid);
	variable_put_number("TRC_SESSION_NAMESPACE", trc_namespace_here());
	variable_put_number("TRC_SESSION_FILTERS", n_filters > 0 ? (uint64_t)n_filters : 0);
	variable_put_number("TRC_SESSION_HZ", trc_clock_counter_rate(&begun));
	variable_put("TRC_RING_SIZE", o->ring_size);
	variable_put("TRC_LOCKS", o->locks);
	variable_put("TRC_ON_FULL", o->on_full);
	variable_put("TRC_UNWIND", o->unwind);
	variable_put("TRC_HEAP", o->heap);
	unsetenv("TRC_FOLLOW");
	variable_put("TRC_FOLLOW", o->follow ? "1" : NULL);
	trc_sampling_environment(&o->sampling);
	variables_put_flight(o);
}

/* Context: the child.  Waits until it is told to go. */
_Noreturn static void child_main(const struct trc_tool_options *o, const char *dir,
				 const char *preload, int go_fd, int result_fd,
				 const sigset_t *mask)
{
	char go;
	int err;

	set_environment(o, dir, preload);
	if (read(go_fd, &go, 1) != 1)
		_exit(TRC_EXIT_TROUBLE);
	restore_signals();
	for (unsigned int i = 0; i < N_TIMERS; i++)
		setitimer(i, &timers[i], NULL);
	sigprocmask(SIG_SETMASK, mask, NULL);
	execvp(o->command[0], o->command);
	err = errno;
	if (write(result_fd, &err, sizeof(err)) != sizeof(err))
		_exit(TRC_EXIT_TROUBLE);
	_exit(err == ENOENT ? TRC_EXIT_NOT_FOUND : TRC_EXIT_REFUSED);
}

int trc_child_fork(struct trc_child *c, const struct trc_tool_options *options, const char *dir,
		   const char *preload)
{
	static const struct itimerval none;
	int go[2], result[2];
	sigset_t all, mask;

	if (pipe2(go, O_CLOEXEC))
		return -errno;
	if (pipe2(result, O_CLOEXEC))
		return -errno;
	for (unsigned int i = 0; i < N_TIMERS; i++)
		setitimer(i, &none, &timers[i]);
	/* No handler of ours runs in the child. */
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &mask);
	c->pid = fork();
	if (!c->pid) {
		close(go[1]);
		child_main(options, dir, preload, go[0], result[1], &mask);
	}
	if (c->pid > 0)
		atomic_store_explicit(&child_pid, c->pid, memory_order_relaxed);
	sigprocmask(SIG_SETMASK, &mask, NULL);
	close(go[0]);
	close(result[1]);
	c->go_fd = go[1];
	c->result_fd = result[0];
	return c->pid < 0 ? -errno : 0;
}

static void child_forget(struct trc_child *c, int status)
{
	atomic_store_explicit(&child_pid, 0, memory_order_relaxed);
	c->ended = true;
	c->status = status;
	c->pid = 0;
}

void trc_child_cancel(struct trc_child *c)
{
	int status = 0;

	close(c->go_fd);
	while (waitpid(c->pid, &status, 0) < 0 && errno == EINTR)
		;
	child_forget(c, status);
}

int trc_child_go(struct trc_child *c)
{
	ssize_t n = write(c->go_fd, "", 1); /* if the child has gone, the end of it tells */
	int err = 0;

	do
		n = read(c->result_fd, &err, sizeof(err)); /* ends when exec closes the pipe */
	while (n < 0 && errno == EINTR);
	close(c->result_fd);
	if (n == sizeof(err))
		trc_child_cancel(c);
	else
		close(c->go_fd);
	return n == sizeof(err) ? err : 0;
}

/* ---- waiting --------------------------------------------------------------------------- */

/* The command stopped itself, as a program on a terminal does when it is asked to: so do we, and
 * whoever wakes us wakes the command. */
static void stop_with(const struct trc_child *c, int sig)
{
	if (sig != SIGTSTP && sig != SIGTTIN && sig != SIGTTOU)
		return;
	stop_here(sig);
	kill(c->pid, SIGCONT);
}

/* The one that has something to tell; 0 = none, -1 = there are none.  It is still to be waited for. */
static pid_t next_child(void)
{
	siginfo_t info = {0};

	if (waitid(P_ALL, 0, &info, WEXITED | WSTOPPED | WNOHANG | WNOWAIT))
		return -1;
	return info.si_pid;
}

bool trc_child_reap(struct trc_child *c, void (*ends)(void *context, pid_t pid),
		    void (*fn)(void *context, pid_t pid, int status), void *context)
{
	sigset_t all, mask;
	bool more = true, some = false;

	while (more) {
		int status, stopped = 0;
		pid_t pid;

		/* No signal is passed on to a pid that was waited for. */
		sigfillset(&all);
		sigprocmask(SIG_SETMASK, &all, &mask);
		pid = next_child();
		more = pid > 0;
		some = !pid;
		if (more)
			ends(context, pid);
		if (more && waitpid(pid, &status, WNOHANG | WUNTRACED) <= 0)
			pid = 0; /* it goes on */
		if (pid > 0 && pid == c->pid && WIFSTOPPED(status))
			stopped = WSTOPSIG(status);
		else if (pid > 0 && pid == c->pid)
			child_forget(c, status);
		else if (pid > 0 && !WIFSTOPPED(status))
			fn(context, pid, status);
		sigprocmask(SIG_SETMASK, &mask, NULL);
		if (stopped)
			stop_with(c, stopped);
	}
	return some;
}

/* ---- the end --------------------------------------------------------------------------- */

void trc_child_status_text(int status, char *text, size_t n_bytes)
{
	if (WIFEXITED(status)) {
		snprintf(text, n_bytes, "exit %d", WEXITSTATUS(status));
	} else {
		const char *name = sigabbrev_np(WTERMSIG(status));

		snprintf(text, n_bytes, "killed by signal %d%s%s%s", WTERMSIG(status),
			 name ? " (SIG" : "", name ? name : "", name ? ")" : "");
	}
}

_Noreturn void trc_child_exit_like(const struct trc_child *c)
{
	const struct rlimit no_core = {0, 0};
	sigset_t only;
	int sig;

	if (!WIFSIGNALED(c->status))
		exit(WEXITSTATUS(c->status));
	sig = WTERMSIG(c->status);
	setrlimit(RLIMIT_CORE, &no_core); /* a core file of ours would replace the command's */
	prctl(PR_SET_DUMPABLE, 0);
	fflush(NULL);
	sigemptyset(&only);
	sigaddset(&only, sig);
	signal(sig, SIG_DFL);
	raise(sig);
	sigprocmask(SIG_UNBLOCK, &only, NULL);
	_exit(128 + sig);
}
