/*
 * sandbox.c - programs that forbid themselves calls that the recorder needs: prctl(), seccomp().
 *
 *   sandbox:V1  with a filter, or with the dispatch of system calls, the recorder's system calls,
 *       or reading the processor's counter, may end the process or raise a signal.  Recording ends
 *       before the call that sets a filter or dispatch, and a log event says why.  If the call then
 *       fails, recording does not begin again
 *   sandbox:V2  from then on only the program's own system calls are made
 *   sandbox:V3  a filter is tried out on the recorder's calls, with arguments of 0.  A filter that
 *       refuses a call with an error does no harm
 *   sandbox:V4  a filter stays in forked children and in executed programs.  If the filter forbids
 *       a call that a recording begins with, no recording begins there
 *   sandbox:V5  once a filter that was tried out forbids to create threads, none is created: whoever
 *       needs one is refused
 *
 * Two things are not seen: filters that are set by a system call made directly, and decisions of
 * filters by arguments.  Context: traced thread, signal handlers.
 */
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/prctl.h>
#include "format/raw.h"
#include "recorder/guest/descriptor.h"
#include "recorder/guest/exec_target.h"
#include "recorder/guest/fork.h"
#include "signal.h"
#include "signal_own.h"
#include "span.h"
#include "recorder/shared/signals.h"
#include "recorder/unwind/poison.h"

#ifdef __x86_64__
#define ARCHITECTURE AUDIT_ARCH_X86_64
#else
#define ARCHITECTURE AUDIT_ARCH_AARCH64
#endif

/* What the recorder may call in the program's threads (docs/recorder.md has the list). */
/* clang-format off */
static const int CALLS[] = {
	SYS_clock_getres,   SYS_clock_gettime,	SYS_close,	     SYS_fallocate,
	SYS_fcntl,	    SYS_futex,		SYS_getdents64,	     SYS_getpid,
	SYS_gettid,	    SYS_ioctl,		SYS_madvise,	     SYS_mmap,
	SYS_mprotect,	    SYS_munmap,		SYS_nanosleep,	     SYS_openat,
	SYS_prctl,	    SYS_process_vm_readv, SYS_read,	     SYS_readlinkat,
	SYS_rt_sigaction,   SYS_rt_sigprocmask, SYS_rt_sigqueueinfo, SYS_rt_sigtimedwait,
	SYS_rt_tgsigqueueinfo, SYS_sched_getaffinity, SYS_sigaltstack, SYS_tgkill,
	SYS_fstat,	    SYS_faccessat,	SYS_rt_sigreturn,    SYS_getcwd,
	SYS_mremap,	    SYS_get_robust_list, SYS_pread64,
#ifdef SYS_readlink
	SYS_readlink,
#endif
};
/* clang-format on */
/* And while samples are taken by signals. */
static const int SAMPLING_CALLS[] = {
	SYS_perf_event_open, SYS_timer_create, SYS_timer_delete, SYS_timer_settime, SYS_getrusage,
};
/* And while a recording begins: in a forked child, or in a program that is executed. */
static const int START_CALLS[] = {
	SYS_ftruncate,	  SYS_getrandom,    SYS_getuid,	       SYS_newfstatat, SYS_prlimit64,
	SYS_pwrite64,	  SYS_renameat2,    SYS_unlinkat,      SYS_write,      SYS_perf_event_open,
	SYS_timer_create, SYS_timer_delete, SYS_timer_settime, SYS_getrusage,
};
/* And to know who waits for a socket: done without, if need be. */
static const int SOCKET_CALLS[] = {SYS_getpeername, SYS_getsockname, SYS_getsockopt};
/* And to know what a descriptor is: the same. */
static const int DESCRIPTOR_CALLS[] = {SYS_statx};
/* And to create threads of its own: to write, and to look at very many threads. */
static const int THREAD_CALLS[] = {SYS_clone, SYS_clone3, SYS_set_robust_list, SYS_rseq};

static bool ended, filtered, forbids_threads;
void (*trc_filter_hook)(void);

bool trc_sandbox_entered(void)
{
	return ended;
}

bool trc_sandbox_is_restricted(void)
{
	return ended || filtered;
}

bool trc_sandbox_forbids_threads(void)
{
	return forbids_threads;
}

static void end_recording(const char *why)
{
	int saved = errno;

	if (!trc_signal_recorded() || trc_self.quiet)
		return;
	trc_give_up(why);
	trc_signals_stop();
	trc_mask_forked();
	ended = true;
	errno = saved;
}

/* ---- what a filter says ----------------------------------------------------------------- */

enum { MEMORY_WORDS = BPF_MEMWORDS, STEPS_MAX = BPF_MAXINSNS };

struct machine {
	uint32_t a, x, memory[MEMORY_WORDS];
	struct seccomp_data data;
};

static uint32_t operand(const struct machine *m, const struct sock_filter *i)
{
	return BPF_SRC(i->code) == BPF_X ? m->x : i->k;
}

static uint32_t calculate(const struct machine *m, const struct sock_filter *i)
{
	uint32_t b = operand(m, i);

	switch (BPF_OP(i->code)) {
	case BPF_ADD:
		return m->a + b;
	case BPF_SUB:
		return m->a - b;
	case BPF_MUL:
		return m->a * b;
	case BPF_DIV:
		return b ? m->a / b : 0;
	case BPF_AND:
		return m->a & b;
	case BPF_OR:
		return m->a | b;
	case BPF_XOR:
		return m->a ^ b;
	case BPF_LSH:
		return b < 32 ? m->a << b : 0;
	case BPF_RSH:
		return b < 32 ? m->a >> b : 0;
	default: /* BPF_NEG */
		return 0 - m->a;
	}
}

static uint32_t filter_load(const struct machine *m, const struct sock_filter *i)
{
	uint32_t value = i->k;

	switch (BPF_MODE(i->code)) {
	case BPF_ABS:
		if (i->k <= sizeof(m->data) - sizeof(value))
			memcpy(&value, (const char *)&m->data + i->k, sizeof(value));
		return value;
	case BPF_MEM:
		return i->k < MEMORY_WORDS ? m->memory[i->k] : 0;
	case BPF_LEN:
		return sizeof(m->data);
	default: /* BPF_IMM */
		return value;
	}
}

/* How many instructions to pass over. */
static uint32_t jump(const struct machine *m, const struct sock_filter *i)
{
	uint32_t b = operand(m, i);
	bool is;

	switch (BPF_OP(i->code)) {
	case BPF_JA:
		return i->k;
	case BPF_JEQ:
		is = m->a == b;
		break;
	case BPF_JGT:
		is = m->a > b;
		break;
	case BPF_JGE:
		is = m->a >= b;
		break;
	default: /* BPF_JSET */
		is = m->a & b;
	}
	return is ? i->jt : i->jf;
}

static void filter_step(struct machine *m, const struct sock_filter *i)
{
	switch (BPF_CLASS(i->code)) {
	case BPF_LD:
		m->a = filter_load(m, i);
		break;
	case BPF_LDX:
		m->x = filter_load(m, i);
		break;
	case BPF_ST:
	case BPF_STX:
		if (i->k < MEMORY_WORDS)
			m->memory[i->k] = BPF_CLASS(i->code) == BPF_ST ? m->a : m->x;
		break;
	case BPF_ALU:
		m->a = calculate(m, i);
		break;
	default: /* BPF_MISC */
		if (BPF_MISCOP(i->code) == BPF_TAX)
			m->x = m->a;
		else
			m->a = m->x;
	}
}

/* Jumps go forward alone; a program that leaves its end is none that the kernel takes. */
static uint32_t verdict(const struct sock_fprog *program, int call)
{
	struct machine m = {.data = {.nr = call, .arch = ARCHITECTURE}};

	for (uint32_t at = 0; at < program->len; at++) {
		const struct sock_filter *i = &program->filter[at];

		if (BPF_CLASS(i->code) == BPF_RET)
			return BPF_RVAL(i->code) == BPF_A ? m.a : i->k;
		if (BPF_CLASS(i->code) == BPF_JMP) {
			uint32_t over = jump(&m, i);

			if (over >= program->len - at)
				break;
			at += over;
		} else {
			filter_step(&m, i);
		}
	}
	return SECCOMP_RET_ALLOW;
}

static bool harms(const struct sock_fprog *program, const int *call, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		uint32_t action = verdict(program, call[i]) & SECCOMP_RET_ACTION_FULL;

		if (action != SECCOMP_RET_ALLOW && action != SECCOMP_RET_ERRNO &&
		    action != SECCOMP_RET_LOG && action != SECCOMP_RET_TRACE &&
		    action != SECCOMP_RET_USER_NOTIF)
			return true;
	}
	return false;
}

static bool page_is_readable(const void *at, size_t n_bytes)
{
	struct {
		const void *base;
		size_t n_bytes;
	} here = {&(char[64]){0}, 1}, there = {at, 1};

	if (!at || !n_bytes)
		return false;
	if (trc_raw6(SYS_process_vm_readv, trc_raw1(SYS_getpid, 0), (long)&here, 1, (long)&there, 1,
		     0) != 1)
		return false;
	there.base = (const char *)at + n_bytes - 1;
	return trc_raw6(SYS_process_vm_readv, trc_raw1(SYS_getpid, 0), (long)&here, 1, (long)&there,
			1, 0) == 1;
}

#define N(calls) (sizeof(calls) / sizeof((calls)[0]))

/* sandbox:V4.  In a child that runs in our memory, or was made by a system call, nothing is recorded, but
 * something may be in what it executes. */
static void look_at_starts(const struct sock_fprog *program)
{
	bool begins =
		!harms(program, CALLS, N(CALLS)) && !harms(program, START_CALLS, N(START_CALLS));
	/* A forked child knows what it must not ask; a program that is executed does not. */
	bool asks = !harms(program, SOCKET_CALLS, N(SOCKET_CALLS)) &&
		    !harms(program, DESCRIPTOR_CALLS, N(DESCRIPTOR_CALLS));

	if (!begins && !trc_self.quiet)
		trc_start_is_forbidden = true;
	if (!(begins && asks) && trc_filter_hook)
		trc_filter_hook();
}

static void look_at_filter(const struct sock_fprog *program)
{
	filtered = true;
	if (!page_is_readable(program, sizeof(*program)) || program->len > STEPS_MAX ||
	    !page_is_readable(program->filter, program->len * sizeof(*program->filter)))
		return;
	look_at_starts(program);
	if (harms(program, THREAD_CALLS, N(THREAD_CALLS)))
		forbids_threads = true;
	if (!trc_recording())
		return;
	if (harms(program, CALLS, N(CALLS)) ||
	    (trc_signal_own_number() && harms(program, SAMPLING_CALLS, N(SAMPLING_CALLS))))
		end_recording("recording ends here: the program sets a seccomp filter that forbids "
			      "what it needs");
	if (harms(program, SOCKET_CALLS, N(SOCKET_CALLS))) {
		trc_io_ask_no_sockets();
		trc_descriptors_ask_no_sockets();
	}
	if (harms(program, DESCRIPTOR_CALLS, N(DESCRIPTOR_CALLS)))
		trc_descriptors_ask_nothing();
}

/* ---- the functions --------------------------------------------------------------------- */

/* Somebody asks for filters, or has to do nothing behind them. */
static bool sandbox_is_watched(void)
{
	return trc_filter_hook || trc_exec_hook;
}

static void look_at_prctl(long option, unsigned long value, unsigned long more)
{
	if (option == PR_SET_TSC && value == PR_TSC_SIGSEGV)
		end_recording("recording ends here: the program forbids reading the processor's "
			      "counter");
	else if (option == PR_SET_SECCOMP && value == SECCOMP_MODE_STRICT)
		end_recording("recording ends here: the program enters strict seccomp");
	else if (option == PR_SET_SECCOMP && value == SECCOMP_MODE_FILTER)
		look_at_filter((const struct sock_fprog *)more);
	else if (option == PR_SET_SYSCALL_USER_DISPATCH && value != PR_SYS_DISPATCH_OFF)
		end_recording("recording ends here: the program has system calls dispatched to a "
			      "handler of its own");
}

TRC_EXPORT int prctl(int option, ...)
{
	unsigned long arg[4];
	va_list args;

	va_start(args, option);
	for (int i = 0; i < 4; i++)
		arg[i] = va_arg(args, unsigned long);
	va_end(args);
	if (TRC_UNLIKELY(trc_recording() || sandbox_is_watched()))
		look_at_prctl(option, arg[0], arg[1]);
	return REAL(prctl)(option, arg[0], arg[1], arg[2], arg[3]);
}

void trc_sandbox_look(long number, long a, long b, long c)
{
	if (!trc_recording() && !sandbox_is_watched())
		return;
	if (number == SYS_prctl)
		look_at_prctl((int)a, (unsigned long)b, (unsigned long)c);
	else if (a == SECCOMP_SET_MODE_STRICT)
		look_at_prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT, 0);
	else if (a == SECCOMP_SET_MODE_FILTER)
		look_at_filter((const struct sock_fprog *)c);
}
