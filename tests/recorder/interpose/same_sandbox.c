/*
 * same_sandbox.c - programs that forbid themselves the counter, or system calls, after their start.
 * Plain and recorded alike: none is ended by what the recorder does.
 */
#include <link.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include "same.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void *lock_and_work(void *unused)
{
	volatile unsigned int n = 0;

	for (int i = 0; i < 200; i++) {
		pthread_mutex_lock(&mutex);
		for (int k = 0; k < 20000; k++)
			n++;
		pthread_mutex_unlock(&mutex);
		free(malloc(100000));
	}
	return NULL;
}

static void live(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, lock_and_work, NULL);
	lock_and_work(NULL);
	pthread_join(thread, NULL);
	usleep(1000);
	puts("lived");
	fflush(stdout);
}

static void counter_run(void)
{
	tell("PR_SET_TSC", prctl(PR_SET_TSC, PR_TSC_SIGSEGV));
	live();
}

/* No system call is left but to read, write and end. */
static void strict_run(void)
{
	puts("strict");
	fflush(stdout);
	prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT);
	lock_and_work(NULL);
	if (write(1, "lived\n", 6) == 6)
		syscall(SYS_exit, 0);
}

/* All of these end the process. */
static void filter_run(long (*set)(struct sock_fprog *), uint32_t action)
{
	static const int CALLS[] = {
		SYS_gettid,	     SYS_getpid,       SYS_sigaltstack,	      SYS_sched_getaffinity,
		SYS_perf_event_open, SYS_timer_create, SYS_rt_tgsigqueueinfo, SYS_process_vm_readv,
		SYS_timer_delete,    SYS_fallocate,    SYS_get_robust_list,   SYS_pread64};
	enum { N = sizeof(CALLS) / sizeof(CALLS[0]) };
	struct sock_filter code[N + 3];
	struct sock_fprog program = {.len = N + 3, .filter = code};

	code[0] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
					       offsetof(struct seccomp_data, nr));
	for (int i = 0; i < N; i++)
		code[1 + i] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K,
							   (uint32_t)CALLS[i], (uint8_t)(N - i), 0);
	code[N + 1] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	code[N + 2] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, action);
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	tell("filter", set(&program) ? errno : 0);
	live();
}

static long set_by_prctl(struct sock_fprog *program)
{
	return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, program);
}

static long set_by_syscall(struct sock_fprog *program)
{
	return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, program);
}

static long set_for_all(struct sock_fprog *program)
{
	return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, program);
}

/* Whether there is seccomp, as programs ask; filters that the kernel refuses.  Nothing changes. */
static void asked_run(void)
{
	struct sock_filter code[] = {BPF_STMT(BPF_JMP | BPF_JA, 0xffffffff),
				     BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS)};
	struct sock_fprog backwards = {.len = 2, .filter = code};

	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	TELL_ERRNO("jumps back", prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &backwards));
	TELL_ERRNO("jumps back", syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &backwards));
	TELL_ERRNO("no filter", prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, NULL));
	TELL_ERRNO("no filter", syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, NULL));
	TELL_ERRNO("none such", syscall(SYS_seccomp, 77, 0, NULL));
	TELL_ERRNO("name", prctl(PR_SET_NAME, "asked"));
	TELL_ERRNO("name", syscall(SYS_prctl, PR_SET_NAME, "asked", 0, 0, 0));
	live();
}

/* ---- system calls that a handler gets ---------------------------------------------------- */

struct range {
	uintptr_t begin, end;
};

static int find_libc(struct dl_phdr_info *info, size_t unused, void *found)
{
	struct range *code = found;

	(void)unused;
	for (int i = 0; strstr(info->dlpi_name, "/libc.so.") && i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_LOAD && info->dlpi_phdr[i].p_flags & PF_X) {
			code->begin = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
			code->end = code->begin + info->dlpi_phdr[i].p_memsz;
		}
	return 0;
}

static char dispatches;
static int n_dispatched;

static void dispatched(int signal, siginfo_t *info, void *context)
{
	(void)signal, (void)info, (void)context;
	dispatches = SYSCALL_DISPATCH_FILTER_ALLOW;
	n_dispatched++;
}

/* Those of libc alone go to the kernel, as of a library that a loader of foreign programs uses. */
static void dispatch_run(void)
{
	struct sigaction action = {.sa_sigaction = dispatched, .sa_flags = SA_SIGINFO};
	struct range code = {0, 0};

	dl_iterate_phdr(find_libc, &code);
	sigaction(SIGSYS, &action, NULL);
	if (prctl(PR_SET_SYSCALL_USER_DISPATCH, PR_SYS_DISPATCH_ON, code.begin,
		  code.end - code.begin, &dispatches)) {
		puts("no dispatch"); /* before Linux 5.11, and on aarch64 */
		return;
	}
	dispatches = SYSCALL_DISPATCH_FILTER_BLOCK;
	lock_and_work(NULL);
	usleep(1000);
	poll(NULL, 0, 1);
	dispatches = SYSCALL_DISPATCH_FILTER_ALLOW;
	tell("dispatched", n_dispatched);
	live();
}

static const char *const RUNS[] = {"asked", "counter", "strict", "prctl",   "syscall",
				   "all",   "trap",    "errno",	 "dispatch"};

/* With the name of a run, that; else the names. */
int main(int argc, char **argv)
{
	const char *run = argc > 1 ? argv[1] : "";

	if (!strcmp(run, "asked"))
		asked_run();
	else if (!strcmp(run, "counter"))
		counter_run();
	else if (!strcmp(run, "strict"))
		strict_run();
	else if (!strcmp(run, "prctl"))
		filter_run(set_by_prctl, SECCOMP_RET_KILL_PROCESS);
	else if (!strcmp(run, "syscall"))
		filter_run(set_by_syscall, SECCOMP_RET_KILL_PROCESS);
	else if (!strcmp(run, "all"))
		filter_run(set_for_all, SECCOMP_RET_KILL_PROCESS);
	else if (!strcmp(run, "trap"))
		filter_run(set_by_prctl, SECCOMP_RET_TRAP);
	else if (!strcmp(run, "errno"))
		filter_run(set_by_prctl, SECCOMP_RET_ERRNO | EPERM);
	else if (!strcmp(run, "dispatch"))
		dispatch_run();
	else
		for (size_t i = 0; i < sizeof(RUNS) / sizeof(RUNS[0]); i++)
			puts(RUNS[i]);
	return 0;
}
