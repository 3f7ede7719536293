/*
 * syscall.c - waits in calls that the program makes by syscall().
 * Context: traced thread, signal handlers.
 *
 * For the numbers in trc_syscall_waits the assembly thunk of syscall() comes here, with unchanged
 * arguments.  The thunk makes all other calls itself.
 */
#include "format/raw.h"
#include "restart.h"
#include "signal.h"
#include "syscall.h"
#include "recorder/unwind/poison.h"

enum {
	NUMBERS = 512,
	/* Not in older headers. */
	FUTEX_WAITV = 449,
	FUTEX_WAIT_ = 455,
	EPOLL_PWAIT2 = 441,
	OPENAT2 = 437,
	IO_URING_ENTER = 426,
	LOOKED_AT = 255, /* no wait: the program may forbid itself something (sandbox.c) */
	EXECUTES = 254,	 /* no wait: the next program has no handlers (exec.c) */
	IO_PGETEVENTS =
#ifdef __x86_64__
		333,
#else
		292,
#endif
};

/* By number, the enum trc_reason; 0 = none of ours; or LOOKED_AT, EXECUTES. */
extern const uint8_t trc_syscall_waits[NUMBERS] __attribute__((visibility("hidden")));
const uint8_t trc_syscall_waits[NUMBERS] = {
	[SYS_prctl] = LOOKED_AT,
	[SYS_seccomp] = LOOKED_AT,
	[SYS_execve] = EXECUTES,
	[SYS_execveat] = EXECUTES,
	[SYS_futex] = TRC_REASON_FUTEX,
	[FUTEX_WAITV] = TRC_REASON_FUTEX,
	[FUTEX_WAIT_] = TRC_REASON_FUTEX,
	[SYS_nanosleep] = TRC_REASON_SLEEP,
	[SYS_clock_nanosleep] = TRC_REASON_SLEEP,
	[SYS_read] = TRC_REASON_READ,
	[SYS_readv] = TRC_REASON_READ,
	[SYS_pread64] = TRC_REASON_READ,
	[SYS_preadv] = TRC_REASON_READ,
	[SYS_preadv2] = TRC_REASON_READ,
	[SYS_splice] = TRC_REASON_READ,
	[SYS_tee] = TRC_REASON_READ,
	[SYS_copy_file_range] = TRC_REASON_READ,
	[SYS_write] = TRC_REASON_WRITE,
	[SYS_writev] = TRC_REASON_WRITE,
	[SYS_pwrite64] = TRC_REASON_WRITE,
	[SYS_pwritev] = TRC_REASON_WRITE,
	[SYS_pwritev2] = TRC_REASON_WRITE,
	[SYS_vmsplice] = TRC_REASON_WRITE,
	[SYS_recvfrom] = TRC_REASON_RECV,
	[SYS_recvmsg] = TRC_REASON_RECV,
	[SYS_recvmmsg] = TRC_REASON_RECV,
	[SYS_sendto] = TRC_REASON_SEND,
	[SYS_sendmsg] = TRC_REASON_SEND,
	[SYS_sendmmsg] = TRC_REASON_SEND,
	[SYS_sendfile] = TRC_REASON_SEND,
	[SYS_accept] = TRC_REASON_ACCEPT,
	[SYS_accept4] = TRC_REASON_ACCEPT,
	[SYS_wait4] = TRC_REASON_CHILD,
	[SYS_waitid] = TRC_REASON_CHILD,
	[SYS_openat] = TRC_REASON_OPEN,
	[OPENAT2] = TRC_REASON_OPEN,
	[SYS_flock] = TRC_REASON_FLOCK,
	[SYS_fcntl] = TRC_REASON_FLOCK,
	[SYS_fsync] = TRC_REASON_FSYNC,
	[SYS_fdatasync] = TRC_REASON_FSYNC,
	[SYS_sync] = TRC_REASON_FSYNC,
	[SYS_syncfs] = TRC_REASON_FSYNC,
	[SYS_sync_file_range] = TRC_REASON_FSYNC,
	[SYS_msync] = TRC_REASON_FSYNC,
	[SYS_ppoll] = TRC_REASON_POLL,
	[SYS_pselect6] = TRC_REASON_POLL,
	[SYS_epoll_pwait] = TRC_REASON_EPOLL,
	[EPOLL_PWAIT2] = TRC_REASON_EPOLL,
	[SYS_mq_timedsend] = TRC_REASON_MSG,
	[SYS_mq_timedreceive] = TRC_REASON_MSG,
	[SYS_io_getevents] = TRC_REASON_AIO,
	[IO_PGETEVENTS] = TRC_REASON_AIO,
	[IO_URING_ENTER] = TRC_REASON_AIO,
#ifdef SYS_open
	[SYS_open] = TRC_REASON_OPEN,
	[SYS_creat] = TRC_REASON_OPEN,
	[SYS_poll] = TRC_REASON_POLL,
	[SYS_select] = TRC_REASON_POLL,
	[SYS_epoll_wait] = TRC_REASON_EPOLL,
#endif
};

struct arguments {
	long value[6];
};

static long call(long number, const struct arguments *a)
{
	long result = trc_raw6(number, a->value[0], a->value[1], a->value[2], a->value[3],
			       a->value[4], a->value[5]);

	return result < 0 ? trc_syscall_error(result) : result;
}

/* What is waited for, as the function of this name tells it. */
static uint64_t call_object(long number, const struct arguments *a)
{
	switch (number) {
	case SYS_nanosleep:
	case SYS_clock_nanosleep:
	case SYS_sync:
	case SYS_openat:
	case OPENAT2:
#ifdef SYS_open
	case SYS_open:
	case SYS_creat:
#endif
		return 0;
	case SYS_waitid:
		return a->value[0] == P_PID ? (uint64_t)a->value[1] : ~UINT64_C(0);
	case SYS_pselect6:
#ifdef SYS_select
	case SYS_select:
#endif
		return (uint64_t)a->value[1];
	default:
		return (uint64_t)a->value[0];
	}
}

/* By a limit of time that the kernel does not count down. */
static bool made_again(struct trc_restart *r, long *argument)
{
	const struct timespec *limit = (const struct timespec *)*argument;
	bool again = trc_restart_time(r, NULL, &limit);

	*argument = (long)limit;
	return again;
}

static bool made_again_ms(struct trc_restart *r, long *argument)
{
	int left_ms = (int)*argument;
	bool again = trc_restart_ms(r, NULL, &left_ms);

	*argument = left_ms;
	return again;
}

/*
 * Of calls that Linux never restarts.  A mask of signals that the call lets through or holds back is
 * looked at where there is one: then, and for what may have been done in part, EINTR is the program's.
 */
static bool call_wait_again(struct trc_restart *r, long number, struct arguments *a)
{
	switch (number) {
	case SYS_nanosleep:
		return made_again(r, &a->value[0]);
	case SYS_clock_nanosleep:
		return a->value[1] & TIMER_ABSTIME ? trc_restart(r, NULL)
						   : made_again(r, &a->value[2]);
#ifdef SYS_poll
	case SYS_poll:
		return made_again_ms(r, &a->value[2]);
	case SYS_epoll_wait:
		return made_again_ms(r, &a->value[3]);
	case SYS_select: /* the kernel counts down itself, as for the next two */
		return trc_restart(r, NULL);
#endif
	case SYS_ppoll:
		return !a->value[3] && trc_restart(r, NULL);
	case SYS_pselect6:
		return !a->value[5] && trc_restart(r, NULL);
	case SYS_epoll_pwait:
		return !a->value[4] && made_again_ms(r, &a->value[3]);
	case EPOLL_PWAIT2:
		return !a->value[4] && made_again(r, &a->value[3]);
	case SYS_accept:
	case SYS_accept4:
		return trc_restart_socket(r, (int)a->value[0], SO_RCVTIMEO, EAGAIN);
	case FUTEX_WAITV:
	case FUTEX_WAIT_: /* these have a point in time */
		return trc_restart(r, NULL);
	default:
		return false;
	}
}

/* fcntl() for another purpose. */
static bool call_waits(long number, const struct arguments *a)
{
	return number != SYS_fcntl || a->value[1] == F_SETLKW || a->value[1] == F_OFD_SETLKW;
}

/* What returns 0 if it timed out. */
static bool polls(long number)
{
	return trc_syscall_waits[number] == TRC_REASON_POLL ||
	       trc_syscall_waits[number] == TRC_REASON_EPOLL;
}

long trc_syscall_wait(long number, long a, long b, long c, long d, long e, long f)
{
	struct arguments arguments = {{a, b, c, d, e, f}};
	struct trc_restart restart;
	long result;

	if (number == SYS_futex)
		return trc_syscall_futex((const void *)a, b, c, d, e, f);
	if (trc_syscall_waits[number] == LOOKED_AT) {
		trc_sandbox_look(number, a, b, c);
		return call(number, &arguments);
	}
	if (trc_syscall_waits[number] == EXECUTES)
		return trc_syscall_exec(number, a, b, c, d, e);
	if (!trc_recording() || !call_waits(number, &arguments))
		return call(number, &arguments);
	trc_restart_begin(&restart, trc_syscall_waits[number], call_object(number, &arguments),
			  true);
	do
		result = call(number, &arguments);
	while (TRC_UNLIKELY(result == -1) && call_wait_again(&restart, number, &arguments));
	trc_restart_end(&restart, result == -1 ? errno : !result && polls(number) ? ETIMEDOUT : 0);
	return result;
}
