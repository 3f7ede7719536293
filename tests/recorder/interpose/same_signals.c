/*
 * same_signals.c - signal actions of every kind, and ends by a signal, as the process and its
 * parent see them: plain and interposed alike.
 */
#include <setjmp.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include "fake_core.h"
#include "same.h"

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP, SIGSYS};
enum { FAULTS = sizeof(faults) / sizeof(faults[0]) };

/* ---- actions, as the program sees them ------------------------------------------------- */

static volatile sig_atomic_t calls, last_signal, last_code;
static void *volatile last_address;

static void plain_handler(int number)
{
	calls++;
	last_signal = number;
}

static void info_handler(int number, siginfo_t *info, void *context)
{
	calls++;
	last_signal = number;
	last_code = info->si_code;
	last_address = info->si_addr;
}

static const char *name_of(const struct sigaction *action)
{
	if (action->sa_handler == SIG_DFL)
		return "default";
	if (action->sa_handler == SIG_IGN)
		return "ignore";
	if (action->sa_handler == plain_handler)
		return "plain";
	return action->sa_sigaction == info_handler ? "info" : "somebody";
}

static void say_action(const char *what, int number)
{
	struct sigaction now;
	int blocked = 0;

	memset(&now, 0x55, sizeof(now));
	if (sigaction(number, NULL, &now)) {
		printf("%s %d: errno %d\n", what, number, errno);
		return;
	}
	for (int i = 1; i < 65; i++)
		blocked += sigismember(&now.sa_mask, i);
	printf("%s %d: %s, flags %x, blocks %d, restorer %d\n", what, number, name_of(&now),
	       (unsigned int)now.sa_flags, blocked, now.sa_restorer != NULL);
}

static void set(int number, void (*handler)(int), unsigned int flags, int blocks)
{
	struct sigaction action = {.sa_handler = handler, .sa_flags = (int)flags}, old;

	if (blocks)
		sigfillset(&action.sa_mask);
	if (sigaction(number, &action, &old)) {
		printf("sigaction %d: errno %d\n", number, errno);
		return;
	}
	printf("%d was %s, flags %x\n", number, name_of(&old), (unsigned int)old.sa_flags);
}

static void action_tests(void)
{
	static const unsigned int flags[] = {0,		 SA_RESTART,   SA_NODEFER,
					     SA_ONSTACK, SA_RESETHAND, SA_NOCLDSTOP | SA_NOCLDWAIT};

	puts("--- sigaction");
	for (int i = 0; i < FAULTS; i++) {
		say_action("at first", faults[i]);
		for (size_t f = 0; f < sizeof(flags) / sizeof(flags[0]); f++) {
			set(faults[i], plain_handler, flags[f], 0);
			say_action("plain", faults[i]);
			set(faults[i], (void (*)(int))(uintptr_t)info_handler,
			    flags[f] | SA_SIGINFO, 1);
			say_action("info", faults[i]);
			set(faults[i], SIG_DFL, flags[f], 1);
			say_action("default", faults[i]);
			set(faults[i], SIG_IGN, flags[f], 0);
			say_action("ignore", faults[i]);
		}
		set(faults[i], SIG_DFL, 0, 0);
		say_action("last", faults[i]);
	}
	set(SIGUSR1, plain_handler, SA_RESTART, 0);
	say_action("another", SIGUSR1);
	set(SIGKILL, plain_handler, 0, 0);
	set(0, plain_handler, 0, 0);
	set(65, plain_handler, 0, 0);
	say_action("none", 0);
	say_action("none", 1000);
}

static const char *name_of_handler(sighandler_t handler)
{
	struct sigaction action = {.sa_handler = handler};

	if (handler == SIG_ERR)
		return "error";
	return handler == SIG_HOLD ? "hold" : name_of(&action);
}

static void signal_tests(void)
{
	puts("--- signal, sysv_signal, sigset, siginterrupt");
	for (int i = 0; i < 3; i++) {
		int number = i == 2 ? SIGUSR1 : faults[i];

		puts(name_of_handler(signal(number, plain_handler)));
		say_action("signal", number);
		tell("siginterrupt", siginterrupt(number, 1));
		say_action("  interrupts", number);
		puts(name_of_handler(signal(number, SIG_IGN)));
		puts(name_of_handler(signal(number, plain_handler)));
		say_action("signal", number);
		tell("siginterrupt", siginterrupt(number, 0));
		say_action("  restarts", number);
		puts(name_of_handler(sysv_signal(number, plain_handler)));
		say_action("sysv_signal", number);
		raise(number);
		say_action("  after the shot", number);
		puts(name_of_handler(ssignal(number, plain_handler)));
		puts(name_of_handler(sigset(number, SIG_HOLD)));
		say_action("held", number);
		puts(name_of_handler(sigset(number, plain_handler)));
		say_action("sigset", number);
		puts(name_of_handler(sigset(number, SIG_DFL)));
		say_action("sigset", number);
		sigignore(number);
		say_action("sigignore", number);
		puts(name_of_handler(signal(number, SIG_DFL)));
		puts(name_of_handler(signal(number, SIG_ERR)));
	}
	puts(name_of_handler(signal(SIGKILL, plain_handler)));
	puts(name_of_handler(signal(-1, plain_handler)));
}

/* More handlers than there are wrappers: made at run time, each a jump to plain_handler(). */
static void many_handlers_test(void)
{
#ifdef __x86_64__
	enum { MANY = 200, BYTES = 16 };
	uint8_t *code = mmap(NULL, MANY * BYTES, PROT_READ | PROT_WRITE | PROT_EXEC,
			     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	void (*handler)(int) = plain_handler;
	int right = 0;

	for (int i = 0; i < MANY; i++) {
		uint8_t *at = code + i * BYTES;
		struct sigaction old;

		memcpy(at, "\x48\xb8", 2); /* mov $handler, %rax; jmp *%rax */
		memcpy(at + 2, &handler, 8);
		memcpy(at + 10, "\xff\xe0", 2);
		signal(SIGSEGV, (void (*)(int))(uintptr_t)at);
		calls = 0;
		raise(SIGSEGV);
		sigaction(SIGSEGV, NULL, &old);
		right += calls == 1 && (uint8_t *)(uintptr_t)old.sa_handler == at;
	}
	printf("many handlers, all right: %d\n", right == MANY);
	signal(SIGSEGV, SIG_DFL);
#endif
}

/* ---- handlers at work ------------------------------------------------------------------- */

static sigjmp_buf back;
static char *page;

static void jumps_out(int number)
{
	calls++;
	siglongjmp(back, 1);
}

static void mends(int number, siginfo_t *info, void *context)
{
	calls++;
	if (info->si_addr == page)
		mprotect(page, 4096, PROT_READ | PROT_WRITE);
}

static void nested(int number)
{
	if (++calls < 3)
		raise(number);
}

static int blocked_now(void)
{
	sigset_t mask;
	int n = 0;

	sigprocmask(SIG_SETMASK, NULL, &mask);
	for (int i = 1; i < 65; i++)
		n += sigismember(&mask, i);
	return n;
}

static volatile int blocked_inside, errno_inside;

static void looks_around(int number)
{
	blocked_inside = blocked_now();
	errno_inside = errno;
	errno = 77;
}

static void handler_tests(void)
{
	struct sigaction action = {.sa_handler = jumps_out};
	sigset_t usr1;

	puts("--- handlers");
	page = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	sigaction(SIGSEGV, &action, NULL);
	calls = 0;
	for (int i = 0; i < 3; i++)
		if (!sigsetjmp(back, 1))
			*(volatile char *)page = 1;
	printf("jumped out %d times, %d blocked\n", (int)calls, blocked_now());
	calls = 0;
	action = (struct sigaction){.sa_sigaction = mends, .sa_flags = SA_SIGINFO};
	sigaction(SIGSEGV, &action, NULL);
	*(volatile char *)page = 42;
	printf("mended %d times: %d\n", (int)calls, page[0]);
	calls = 0;
	action = (struct sigaction){.sa_handler = nested, .sa_flags = SA_NODEFER};
	sigaction(SIGABRT, &action, NULL);
	raise(SIGABRT);
	printf("nested to %d\n", (int)calls);
	sigemptyset(&usr1);
	sigaddset(&usr1, SIGUSR1);
	action = (struct sigaction){.sa_handler = looks_around, .sa_mask = usr1};
	sigaction(SIGFPE, &action, NULL);
	errno = 99;
	raise(SIGFPE);
	printf("blocked inside %d, errno inside %d, after %d, blocked after %d\n", blocked_inside,
	       errno_inside, errno, blocked_now());
	action = (struct sigaction){.sa_sigaction = info_handler, .sa_flags = SA_SIGINFO};
	sigaction(SIGSYS, &action, NULL);
	raise(SIGSYS);
	printf("info of %d: code %d\n", (int)last_signal, (int)last_code);
	sigqueue(getpid(), SIGSYS, (union sigval){.sival_int = 5});
	printf("info of %d: code %d\n", (int)last_signal, (int)last_code);
	for (int i = 0; i < FAULTS; i++)
		signal(faults[i], SIG_DFL);
}

/* ---- alternate stacks ------------------------------------------------------------------- */

static void say_stack(const char *what)
{
	stack_t now;

	memset(&now, 0x55, sizeof(now));
	if (sigaltstack(NULL, &now))
		printf("%s: errno %d\n", what, errno);
	else
		printf("%s: flags %x, size %zu, at %s\n", what, (unsigned int)now.ss_flags,
		       now.ss_size, now.ss_sp ? "somewhere" : "NULL");
}

static char *own_stack;
static volatile int on_own_stack;

static void where(int number)
{
	char here;

	on_own_stack = &here >= own_stack && &here < own_stack + 65536;
	say_stack("  inside");
}

static void *stack_tests(void *unused)
{
	stack_t stack = {.ss_sp = malloc(65536), .ss_size = 65536}, old;
	stack_t *volatile same = &old;
	stack_t off = {.ss_flags = SS_DISABLE}, small = {.ss_sp = stack.ss_sp, .ss_size = 100};
	struct sigaction action = {.sa_handler = where, .sa_flags = SA_ONSTACK};

	say_stack("at first");
	TELL_ERRNO("too small", sigaltstack(&small, NULL));
	TELL_ERRNO("set", sigaltstack(&stack, &old));
	printf("  old flags %x, size %zu\n", (unsigned int)old.ss_flags, old.ss_size);
	say_stack("set");
	own_stack = stack.ss_sp;
	sigaction(SIGSEGV, &action, NULL);
	raise(SIGSEGV);
	printf("handler on it: %d\n", on_own_stack);
	say_stack("after");
	TELL_ERRNO("again", sigaltstack(&stack, &old));
	printf("  old flags %x, size %zu\n", (unsigned int)old.ss_flags, old.ss_size);
	TELL_ERRNO("off", sigaltstack(&off, &old));
	printf("  old flags %x, size %zu\n", (unsigned int)old.ss_flags, old.ss_size);
	say_stack("off");
	TELL_ERRNO("off", sigaltstack(&off, NULL));
	old = stack;
	TELL_ERRNO("set, and told at the same place", sigaltstack(&old, same));
	printf("  old flags %x, size %zu\n", (unsigned int)old.ss_flags, old.ss_size);
	say_stack("set");
	TELL_ERRNO("off", sigaltstack(&off, NULL));
	signal(SIGSEGV, SIG_DFL);
	free(stack.ss_sp);
	return NULL;
}

/* ---- ends ------------------------------------------------------------------------------- */

static void wild_call(void)
{
	void (*volatile nowhere)(void) = NULL;

	nowhere();
}

static char *volatile nothing = (char *)16;

static void bad_write(void)
{
	*(volatile char *)nothing = 1;
}

static void bad_jump(void)
{
	void (*volatile wild)(void) = (void (*)(void))(uintptr_t)0xdead0000beefUL;

	wild();
}

static void beyond_file(void)
{
	char path[] = "same_signals.XXXXXX";
	int fd = mkstemp(path);
	volatile char *map = mmap(NULL, 8192, PROT_READ, MAP_SHARED, fd, 0);

	unlink(path);
	(void)map[4096];
}

static void divides(void)
{
#ifdef __x86_64__
	volatile int zero = 0, one = 1;

	one = one / zero;
#else
	raise(SIGFPE); /* aarch64 divides by 0 */
#endif
}

static void illegal(void)
{
#ifdef __x86_64__
	__asm__ volatile("ud2");
#else
	__asm__ volatile("udf #0");
#endif
}

static void traps(void)
{
#ifdef __x86_64__
	__asm__ volatile("int3");
#else
	__asm__ volatile("brk #1");
#endif
}

static volatile int depth = 1 << 30;

__attribute__((noinline)) static int deeper(int n)
{
	volatile char room[256];

	room[0] = (char)n;
	return n < depth ? deeper(n + 1) + room[0] : 0;
}

static void overflows(void)
{
	deeper(0);
}

static void *thread_overflows(void *unused)
{
	deeper(0);
	return NULL;
}

static void overflows_in_thread(void)
{
	run_thread(thread_overflows, NULL);
}

static void *thread_faults(void *unused)
{
	bad_write();
	return NULL;
}

static void faults_in_thread(void)
{
	run_thread(thread_faults, NULL);
}

static void smashes(void)
{
	volatile uintptr_t *at = __builtin_frame_address(0);

	for (int i = 0; i < 8; i++)
		at[i] = 0x4141414141414141;
}

static void queues_fault(void)
{
	sigqueue(getpid(), SIGSEGV, (union sigval){.sival_int = 5});
	pause();
}

static void kills_itself(void)
{
	kill(getpid(), SIGBUS);
	pause();
}

static void raises_trap(void)
{
	raise(SIGTRAP);
}

static void raises_sys(void)
{
	raise(SIGSYS);
}

static void restores_and_raises(int number)
{
	signal(number, SIG_DFL);
	raise(number);
}

static void chained(void)
{
	signal(SIGSEGV, restores_and_raises);
	bad_write();
}

static void restores(int number)
{
	signal(number, SIG_DFL);
}

static void chained_by_return(void)
{
	signal(SIGSEGV, restores);
	bad_write();
}

static void one_shot(void)
{
	struct sigaction action = {.sa_handler = plain_handler, .sa_flags = (int)SA_RESETHAND};

	sigaction(SIGSEGV, &action, NULL);
	bad_write();
}

static void handler_exits(int number)
{
	_exit(33);
}

static void exits_in_handler(void)
{
	signal(SIGSEGV, handler_exits);
	bad_write();
}

static void abort_returns(void)
{
	signal(SIGABRT, plain_handler);
	abort();
}

static void abort_ignored(void)
{
	signal(SIGABRT, SIG_IGN);
	abort();
}

static void faults_while_blocked(void)
{
	sigset_t all;

	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, NULL);
	bad_write();
}

static void faults_while_ignored(void)
{
	signal(SIGSEGV, SIG_IGN);
	bad_write();
}

static void overflow_in_own_handler_stack(void)
{
	stack_t stack = {.ss_sp = malloc(65536), .ss_size = 65536};
	struct sigaction action = {.sa_handler = handler_exits, .sa_flags = SA_ONSTACK};

	sigaltstack(&stack, NULL);
	sigaction(SIGSEGV, &action, NULL);
	deeper(0);
}

static void overflow_with_handler_on_it(void)
{
	signal(SIGSEGV, handler_exits);
	deeper(0);
}

static void faults_in_vfork(void)
{
	int status = 0;
	pid_t child = vfork();

	if (!child)
		bad_write();
	waitpid(child, &status, 0);
	_exit(WIFSIGNALED(status) ? WTERMSIG(status) : 1);
}

/* By a system call of its own: no fork() of ours saw it. */
static void faults_in_raw_fork(void)
{
	int status = 0;
	pid_t child = (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);

	if (!child)
		bad_write();
	waitpid(child, &status, 0);
	_exit(WIFSIGNALED(status) ? WTERMSIG(status) : 1);
}

static void *sets_and_sets(void *unused)
{
	for (int i = 0; i < 20000; i++)
		signal(SIGSEGV, i % 3 ? plain_handler : SIG_DFL);
	return NULL;
}

/* Threads that change the action all the time leave one that a program could have set. */
static void changed_by_many(void)
{
	pthread_t thread[3];
	struct sigaction now;

	for (int i = 0; i < 3; i++)
		pthread_create(&thread[i], NULL, sets_and_sets, NULL);
	for (int i = 0; i < 3; i++)
		pthread_join(thread[i], NULL);
	sigaction(SIGSEGV, NULL, &now);
	if (now.sa_handler != plain_handler && now.sa_handler != SIG_DFL)
		_exit(1);
	signal(SIGSEGV, SIG_DFL);
	bad_write();
}

static const struct end {
	const char *name;
	void (*run)(void);
} ends[] = {
	{"a write to address 16", bad_write},
	{"a call of address 0", wild_call},
	{"a jump to nowhere", bad_jump},
	{"a read beyond the end of a file", beyond_file},
	{"a division by 0", divides},
	{"an illegal instruction", illegal},
	{"a trap", traps},
	{"a used up stack", overflows},
	{"a used up stack of a thread", overflows_in_thread},
	{"a write in a thread", faults_in_thread},
	{"a smashed stack", smashes},
	{"abort", abort},
	{"abort with a handler that returns", abort_returns},
	{"abort that is ignored", abort_ignored},
	{"sigqueue", queues_fault},
	{"kill", kills_itself},
	{"raise of a trap", raises_trap},
	{"raise of a system call's", raises_sys},
	{"a handler that restores and raises", chained},
	{"a handler that restores and returns", chained_by_return},
	{"a handler for one shot", one_shot},
	{"a handler that exits", exits_in_handler},
	{"a fault while it is blocked", faults_while_blocked},
	{"a fault while it is ignored", faults_while_ignored},
	{"a handler on a stack of its own", overflow_in_own_handler_stack},
	{"a handler on the used up stack", overflow_with_handler_on_it},
	{"a fault in a vfork child", faults_in_vfork},
	{"a fault in a child nobody knows of", faults_in_raw_fork},
	{"an action changed by many threads", changed_by_many},
};

static void run_end(const struct end *end)
{
	/* Cut off, a core counts as dumped and takes the disk no time. */
	struct rlimit cores = {1 << 16, 1 << 16}, small = {1 << 20, 1 << 20};
	siginfo_t info;
	pid_t child = fork();

	if (!child) {
		setrlimit(RLIMIT_CORE, &cores); /* if it may */
		setrlimit(RLIMIT_STACK, &small);
		end->run();
		_exit(99);
	}
	memset(&info, 0, sizeof(info));
	waitid(P_PID, (id_t)child, &info, WEXITED);
	printf("%-40s code %d, status %d\n", end->name, info.si_code, info.si_status);
	unlink("core");
	fflush(stdout);
}

int main(int argc, char **argv)
{
	if (argc > 1 && argv[1][0] >= '0' && argv[1][0] <= '9') {
		ends[atoi(argv[1]) % (int)(sizeof(ends) / sizeof(ends[0]))].run();
		return 99;
	}
	action_tests();
	signal_tests();
	many_handlers_test();
	handler_tests();
	puts("--- sigaltstack");
	stack_tests(NULL);
	puts("in a thread");
	run_thread(stack_tests, NULL);
	puts("--- ends");
	fflush(stdout);
	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
		run_end(&ends[i]);
	return fake_core_unbalanced();
}
