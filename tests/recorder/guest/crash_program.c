/*
 * crash_program.c - ends by a signal, meets conditions for snapshots, forks, and so on: for crash.sh,
 * which records it and looks at what it left.
 */
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include "format/raw.h"
#include "trc/trace.h"

#define APART __attribute__((noinline))

/* ---- ends ------------------------------------------------------------------------------- */

static void (*volatile deed)(void);
static char *volatile nowhere = (char *)0x10;
static volatile int done;

static void write_nowhere(void)
{
	*nowhere = 1;
}

static void call_nothing(void)
{
	void (*volatile nothing)(void) = NULL;

	nothing();
	done++;
}

static void jump_nowhere(void)
{
	void (*volatile wild)(void) = (void (*)(void))(uintptr_t)0x5ead0000beef;

	wild();
	done++;
}

static void smash_stack(void)
{
	volatile uintptr_t *at = __builtin_frame_address(0);

	for (int i = 0; i < 8; i++)
		at[i] = 0x4141414141414141;
}

APART static int descend(volatile int *levels)
{
	volatile char room[200];

	room[0] = (char)*levels;
	++*levels;
	return *levels ? descend(levels) + room[0] : 0;
}

static void use_up_stack(void)
{
	volatile int levels = 1;

	descend(&levels);
}

static void on_usr1(int number)
{
	done++;
}

/* A signal for whose frame the stack has no room: the kernel makes a SIGSEGV of it. */
static void leave_no_room(void)
{
	volatile char *room, *low = __builtin_frame_address(0);
	pthread_attr_t attr;
	void *stack;
	size_t n_bytes;
	long pid = getpid(), tid = syscall(SYS_gettid);

	signal(SIGUSR1, on_usr1);
	pthread_getattr_np(pthread_self(), &attr);
	pthread_attr_getstack(&attr, &stack, &n_bytes);
	room = __builtin_alloca((size_t)(low - (char *)stack) - 512);
	room[0] = 1;
	syscall(SYS_tgkill, pid, tid, SIGUSR1);
}

static void abort_here(void)
{
	abort();
}

static void kill_self(void)
{
	kill(getpid(), SIGSEGV);
	pause();
}

APART static void outer(void)
{
	deed();
	done++;
}

static void *worker(void *unused)
{
	pthread_setname_np(pthread_self(), "worker");
	outer();
	return NULL;
}

static pthread_barrier_t both;

static void *two_at_once(void *unused)
{
	pthread_barrier_wait(&both);
	outer();
	return NULL;
}

static sigjmp_buf back;

static void jumps_back(int number, siginfo_t *info, void *context)
{
	siglongjmp(back, 1);
}

static int handled(void)
{
	struct sigaction action = {.sa_sigaction = jumps_back, .sa_flags = SA_SIGINFO};

	sigaction(SIGSEGV, &action, NULL);
	for (volatile int i = 0; i < 3; i++)
		if (!sigsetjmp(back, 1))
			write_nowhere();
	return 0;
}

static int end_by(const char *name)
{
	static const struct {
		const char *name;
		void (*deed)(void);
	} ends[] = {{"write", write_nowhere}, {"call", call_nothing},	{"jump", jump_nowhere},
		    {"smash", smash_stack},   {"stack", use_up_stack}, {"abort", abort_here},
		    {"kill", kill_self},      {"two", write_nowhere},	{"frame", leave_no_room}};
	pthread_t thread[2];

	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
		if (!strcmp(name, ends[i].name))
			deed = ends[i].deed;
	if (!strcmp(name, "main")) {
		deed = use_up_stack;
		outer();
	}
	pthread_barrier_init(&both, NULL, 2);
	for (int i = 0; i < 1 + !strcmp(name, "two"); i++)
		pthread_create(&thread[i], NULL, strcmp(name, "two") ? worker : two_at_once, NULL);
	return pthread_join(thread[0], NULL);
}

/* ---- handlers with SA_ONSTACK -------------------------------------------------------------- */

static char own_stack[65536];
static volatile uintptr_t ran_at;

static void has_a_large_frame(int number)
{
	volatile char frame[200000];

	for (size_t i = 0; i < sizeof(frame); i += 1000)
		frame[i] = 1;
	ran_at = (uintptr_t)frame;
}

static void looks_where_it_is(int number)
{
	volatile char here = 0;

	ran_at = (uintptr_t)&here;
}

static int runs_on_own_stack(int number)
{
	ran_at = 0;
	raise(number);
	return ran_at >= (uintptr_t)own_stack &&
	       ran_at < (uintptr_t)own_stack + sizeof(own_stack);
}

static int is_on_stack(int number)
{
	struct sigaction now;

	return !sigaction(number, NULL, &now) && now.sa_flags & SA_ONSTACK;
}

static void *raises(void *unused)
{
	raise(SIGUSR1);
	raise(SIGSEGV);
	return NULL;
}

/* On the thread's stack as long as there is no other; on the program's from then on. */
static int on_stack(void)
{
	struct sigaction action = {.sa_handler = has_a_large_frame, .sa_flags = SA_ONSTACK};
	stack_t stack = {.ss_sp = own_stack, .ss_size = sizeof(own_stack)};
	pthread_t thread;

	for (int i = 0; i < 2; i++) {
		sigaction(SIGUSR1, &action, NULL);
		sigaction(SIGSEGV, &action, NULL);
		signal(SIGUSR2, looks_where_it_is);
		if (!is_on_stack(SIGUSR1) || !is_on_stack(SIGSEGV) || is_on_stack(SIGUSR2))
			return 1;
		raises(NULL);
		pthread_create(&thread, NULL, raises, NULL);
		pthread_join(thread, NULL);
		action.sa_handler = looks_where_it_is;
		sigaction(SIGUSR1, &action, NULL);
		sigaction(SIGSEGV, &action, NULL);
		if (sigaltstack(&stack, NULL))
			return 2;
		if (!runs_on_own_stack(SIGUSR1) || !runs_on_own_stack(SIGSEGV) ||
		    runs_on_own_stack(SIGUSR2) || !is_on_stack(SIGUSR1) || !is_on_stack(SIGSEGV))
			return 3;
		signal(SIGUSR1, looks_where_it_is);
		if (runs_on_own_stack(SIGUSR1) || is_on_stack(SIGUSR1))
			return 4;
		/* Again, now with some alternate stacks: the main thread has none. */
		stack.ss_flags = SS_DISABLE;
		sigaltstack(&stack, NULL);
		stack.ss_flags = 0;
		action.sa_handler = has_a_large_frame;
	}
	return 0;
}

/* ---- signals at a high rate ---------------------------------------------------------------- */

enum { STORM = 5000, VICTIMS = 3 };
static _Atomic int arrived, over;

static void on_trap(int number)
{
	arrived++;
}

static void *busy(void *unused)
{
	while (!over) {
		trace_region_begin(0, "busy");
		usleep(1);
		trace_region_end();
		sched_yield();
	}
	return NULL;
}

/* Wherever a signal finds a thread, also in the middle of a record, it is recorded. */
static int storm(void)
{
	pthread_t victim[VICTIMS];

	signal(SIGTRAP, on_trap);
	for (int i = 0; i < VICTIMS; i++)
		pthread_create(&victim[i], NULL, busy, NULL);
	for (int sent = 0; sent < STORM; sent++) {
		while (arrived < sent)
			sched_yield();
		pthread_kill(victim[sent % VICTIMS], SIGTRAP);
	}
	while (arrived < STORM)
		sched_yield();
	over = 1;
	for (int i = 0; i < VICTIMS; i++)
		pthread_join(victim[i], NULL);
	printf("%d\n", (int)arrived);
	return 0;
}

/* ---- conditions ------------------------------------------------------------------------- */

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void *hold_a_while(void *unused)
{
	pthread_mutex_lock(&mutex);
	pthread_barrier_wait(&both);
	/* Who waits took the time before this says that it does. */
	while (__atomic_load_n(&mutex.__data.__lock, __ATOMIC_RELAXED) < 2)
		usleep(100);
	usleep(20000);
	pthread_mutex_unlock(&mutex);
	return NULL;
}

static int meet_conditions(void)
{
	trace_task job, other;
	pthread_t holder;
	sigset_t set;
	int number;

	pthread_setname_np(pthread_self(), "conditions");
	pthread_barrier_init(&both, NULL, 2);
	pthread_create(&holder, NULL, hold_a_while, NULL);
	pthread_barrier_wait(&both);
	pthread_mutex_lock(&mutex);
	pthread_mutex_unlock(&mutex);
	pthread_join(holder, NULL);

	/* Tasks of the type that is watched pass while the first of them is open. */
	job = trace_task_begin("job", 0);
	for (int i = 0; i < 4000; i++)
		trace_task_end(trace_task_begin("other", job));
	other = trace_task_begin("patient", 0);
	trace_region_begin(job, "slow");
	trace_region_begin(job, "inner");
	usleep(1000);
	trace_region_end();
	trace_region_end();
	trace_task_end(other);
	trace_task_end(job);

	kill(getpid(), SIGUSR2);
	signal(SIGUSR1, on_usr1);
	raise(SIGUSR1);
	sigemptyset(&set);
	sigaddset(&set, SIGALRM);
	sigprocmask(SIG_BLOCK, &set, NULL);
	raise(SIGALRM);
	sigwait(&set, &number);
	return done == 1 ? 0 : 1;
}

static int many_triggers(void)
{
	for (int i = 0; i < 100; i++)
		raise(SIGUSR2);
	return 0;
}

/* ---- threads that come and go ----------------------------------------------------------- */

static void *nothing_much(void *arg)
{
	pthread_mutex_lock(&mutex);
	pthread_mutex_unlock(&mutex);
	return arg;
}

static long resident_kb(void)
{
	char line[200];
	long kb = -1;
	FILE *status = fopen("/proc/self/status", "r");

	while (status && fgets(line, sizeof(line), status))
		if (!strncmp(line, "VmRSS:", 6))
			kb = strtol(line + 6, NULL, 10);
	if (status)
		fclose(status);
	return kb;
}

static long mappings(void)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	long n = 0;
	int c;

	while (maps && (c = getc(maps)) != EOF)
		n += c == '\n';
	if (maps)
		fclose(maps);
	return n;
}

static void come_and_go(int n)
{
	enum { AT_ONCE = 100 };
	pthread_t thread[AT_ONCE];

	for (int done_so_far = 0; done_so_far < n; done_so_far += AT_ONCE) {
		for (int i = 0; i < AT_ONCE; i++)
			pthread_create(&thread[i], NULL, nothing_much, NULL);
		for (int i = 0; i < AT_ONCE; i++)
			pthread_join(thread[i], NULL);
	}
}

static int churn(int n)
{
	long kb, maps;

	come_and_go(n / 5);
	kb = resident_kb();
	maps = mappings();
	come_and_go(n);
	printf("grown by %ld kB and %ld mappings\n", resident_kb() - kb, mappings() - maps);
	return 0;
}

static pthread_key_t key;

static void records(int number)
{
	char c;

	(void)!read(-1, &c, 1);
	done++;
}

/* The last time after all of the recorder's: its key is older. */
static void raises_and_comes_back(void *value)
{
	pthread_setspecific(key, value);
	raise(SIGUSR1);
}

static void *ends_with_signals(void *unused)
{
	pthread_setspecific(key, &key);
	return NULL;
}

/* Each thread is interrupted before its first instruction, and when its last destructor has run,
 * by a handler that makes calls which are recorded. */
static int interrupted(int n)
{
	pthread_attr_t attr;
	sigset_t none, usr1;
	pthread_t thread;
	long maps = 0;

	sigemptyset(&none);
	sigemptyset(&usr1);
	sigaddset(&usr1, SIGUSR1);
	pthread_attr_init(&attr);
	pthread_attr_setsigmask_np(&attr, &none);
	pthread_key_create(&key, raises_and_comes_back);
	signal(SIGUSR1, records);
	pthread_sigmask(SIG_BLOCK, &usr1, NULL);
	for (int i = 0; i < n; i++) {
		if (i == n / 5)
			maps = mappings();
		kill(getpid(), SIGUSR1);
		if (pthread_create(&thread, &attr, ends_with_signals, NULL))
			return 1;
		pthread_join(thread, NULL);
	}
	printf("%d signals, grown by %ld mappings\n", done, mappings() - maps);
	return 0;
}

/* ---- forks ------------------------------------------------------------------------------- */

/* By system calls without libc, which record nothing: what happens to this ring is not our doing. */
static uint64_t ring_sum(void)
{
	static uint64_t words[8192];
	static char path[300]; /* a vfork child has another pid */
	uint64_t sum = 0;
	long fd, n;

	if (!path[0])
		snprintf(path, sizeof(path), "%s/%d.0.ring", getenv("TRC_SESSION"), getpid());
	fd = trc_raw3(SYS_openat, AT_FDCWD, path, O_RDONLY);
	if (fd < 0)
		return 0;
	while ((n = trc_raw3(SYS_read, fd, words, sizeof(words))) > 0)
		for (long i = 0; i < n / 8; i++)
			sum = (sum ^ words[i]) * UINT64_C(0x9e3779b97f4a7c15);
	trc_raw1(SYS_close, fd);
	return sum;
}

static void be_busy(void)
{
	pthread_t thread;

	for (int i = 0; i < 50; i++) {
		pthread_create(&thread, NULL, nothing_much, NULL);
		pthread_join(thread, NULL);
		usleep(1);
		trace_region_begin(0, "child's");
		trace_region_end();
	}
	come_and_go(100);
}

static pid_t fork_daemon(void)
{
	pid_t child = fork();

	if (!child && fork())
		_exit(0);
	return child;
}

static pid_t fork_raw(void)
{
	return (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
}

/* The child waits until the parent has looked at its ring, and the parent until the child, and
 * what that may have left behind, has gone: until the pipe has no writer. */
static int forks_by(pid_t (*make)(void))
{
	int go[2], gone[2];
	uint64_t before;
	char c = 0;
	pid_t child;

	if (pipe(go) || pipe(gone))
		return 1;
	child = make();
	if (!child) {
		if (trc_raw3(SYS_read, go[0], &c, 1) != 1)
			_exit(1);
		be_busy();
		_exit(0);
	}
	before = ring_sum();
	trc_raw1(SYS_close, gone[1]);
	if (!before || trc_raw3(SYS_write, go[1], "x", 1) != 1 ||
	    trc_raw3(SYS_read, gone[0], &c, 1) != 0)
		return 1;
	if (ring_sum() != before)
		return 2;
	return waitpid(child, NULL, 0) == child ? 0 : 3;
}

static int vforks(void)
{
	uint64_t before = ring_sum();
	int status = 0;
	pid_t child = vfork();

	if (!child) {
		uint64_t now;

		for (int i = 0; i < 100; i++) {
			usleep(1);
			trace_region_begin(0, "child's");
			trace_region_end();
		}
		now = ring_sum();
		_exit(now == before ? 0 : 1);
	}
	waitpid(child, &status, 0);
	return status != 0;
}

/* Its own events do change it. */
static int ring_stays(void)
{
	uint64_t before = ring_sum();

	trace_region_begin(0, "parent's");
	trace_region_end();
	return ring_sum() == before;
}

static int forks(void)
{
	int failed = ring_stays() << 8;

	failed |= forks_by(fork);
	failed |= forks_by(fork_daemon) << 2;
	failed |= forks_by(fork_raw) << 4;
	failed |= vforks() << 6;
	if (failed)
		printf("forks: %x\n", (unsigned int)failed);
	return failed != 0;
}

/* ---- procs ------------------------------------------------------------------------------- */

static void *moves_itself(void *set)
{
	sched_setaffinity(0, sizeof(cpu_set_t), set);
	pthread_setaffinity_np(pthread_self(), sizeof(cpu_set_t), set);
	return NULL;
}

static int change_procs(void)
{
	cpu_set_t all, one;
	pthread_t thread;
	size_t cpu = (size_t)sched_getcpu();

	sched_getaffinity(0, sizeof(all), &all);
	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	pthread_create(&thread, NULL, moves_itself, &one);
	pthread_join(thread, NULL);
	sched_setaffinity(0, sizeof(one), &one);
	pthread_setaffinity_np(pthread_self(), sizeof(all), &all);
	printf("%d\n", CPU_COUNT(&all));
	return 0;
}

/* ---- trace_start ------------------------------------------------------------------------- */

/* What the kernel has, asked for directly: the program's own actions? */
static int kernel_has_nothing(void)
{
	struct {
		void *handler;
		unsigned long rest[3];
	} action;

	return !syscall(SYS_rt_sigaction, SIGSEGV, NULL, &action, 8) && !action.handler &&
	       !syscall(SYS_rt_sigaction, SIGBUS, NULL, &action, 8) &&
	       action.handler == (void *)(uintptr_t)on_usr1;
}

static int by_itself(void)
{
	signal(SIGBUS, on_usr1);
	for (int i = 0; i < 2; i++) {
		if (!kernel_has_nothing() || trace_start("by_itself.trc", NULL) ||
		    kernel_has_nothing() || trace_stop())
			return 1;
	}
	raise(SIGBUS);
	if (done != 1 || !kernel_has_nothing() || trace_start("by_itself.trc", NULL))
		return 2;
	raise(SIGBUS);
	done = 0;
	deed = write_nowhere;
	worker(NULL);
	return 3;
}

int main(int argc, char **argv)
{
	if (argc < 2)
		return 2;
	alarm(120);
	if (!strcmp(argv[1], "handled"))
		return handled();
	if (!strcmp(argv[1], "on_stack"))
		return on_stack();
	if (!strcmp(argv[1], "storm"))
		return storm();
	if (!strcmp(argv[1], "conditions"))
		return meet_conditions();
	if (!strcmp(argv[1], "triggers"))
		return many_triggers();
	if (!strcmp(argv[1], "churn"))
		return churn(argc > 2 ? atoi(argv[2]) : 1000);
	if (!strcmp(argv[1], "interrupted"))
		return interrupted(argc > 2 ? atoi(argv[2]) : 1000);
	if (!strcmp(argv[1], "forks"))
		return forks();
	if (!strcmp(argv[1], "api"))
		return by_itself();
	if (!strcmp(argv[1], "procs"))
		return change_procs();
	return end_by(argv[1]);
}
