/*
 * restart.c - see restart.h.  Context: traced thread, signal handlers.
 */
#include <sys/ucontext.h>
#include "format/raw.h"
#include "restart.h"
#include "signal_own.h"
#include "recorder/unwind/poison.h"

#define NS_PER_S  UINT64_C(1000000000)
#define NS_PER_MS UINT64_C(1000000)

/* ---- in handlers ----------------------------------------------------------------------- */

/* Where a signal of ours last found a call that the kernel is about to restart (E3). */
static __thread struct {
	uint64_t pc, sp;
} restarting __attribute__((tls_model("initial-exec")));

#if defined(__x86_64__)
enum { SYSCALL_BYTES = 2, PAGE = 4096 };

static uint64_t *reg(void *context, int number)
{
	return (uint64_t *)&((ucontext_t *)context)->uc_mcontext.gregs[number];
}

/* Only the page of `pc` is known to be there: what lies on another is taken to be one. */
static bool is_syscall(uint64_t at, uint64_t pc)
{
	const uint8_t *code = (const uint8_t *)(uintptr_t)at;

	return at / PAGE != pc / PAGE || (at + 1) / PAGE != pc / PAGE ||
	       (code[0] == 0x0f && code[1] == 0x05);
}

static bool restart_has_failed(void *context)
{
	uint64_t pc = *reg(context, REG_RIP);

	return *reg(context, REG_RAX) == (uint64_t)-EINTR && is_syscall(pc - SYSCALL_BYTES, pc);
}

/* The instruction leaves its own end in rcx. */
static bool is_restarting(void *context)
{
	uint64_t pc = *reg(context, REG_RIP);

	return *reg(context, REG_RCX) == pc + SYSCALL_BYTES && is_syscall(pc, pc);
}

/* Those that wait, and that fail with EINTR after a handler without SA_RESTART. */
static bool fails_with_eintr(uint64_t call, uint64_t second)
{
	switch (call) {
	case SYS_futex: {
		uint64_t operation = second & 0x7f;

		return operation == 0 || operation == 9; /* FUTEX_WAIT, FUTEX_WAIT_BITSET */
	}
	case SYS_read:
	case SYS_readv:
	case SYS_write:
	case SYS_writev:
	case SYS_recvfrom:
	case SYS_recvmsg:
	case SYS_recvmmsg:
	case SYS_sendto:
	case SYS_sendmsg:
	case SYS_sendmmsg:
	case SYS_sendfile:
	case SYS_accept:
	case SYS_accept4:
	case SYS_connect:
	case SYS_wait4:
	case SYS_waitid:
	case SYS_open:
	case SYS_openat:
	case SYS_flock:
	case SYS_fcntl:
	case SYS_ioctl:
	case SYS_mq_timedsend:
	case SYS_mq_timedreceive:
	case SYS_splice:
	case SYS_tee:
	case SYS_vmsplice:
		return true;
	default:
		return false;
	}
}

void trc_restart_undo(void *context)
{
	if (!is_restarting(context) ||
	    !fails_with_eintr(*reg(context, REG_RAX), *reg(context, REG_RSI)))
		return;
	*reg(context, REG_RIP) += SYSCALL_BYTES;
	*reg(context, REG_RAX) = (uint64_t)-EINTR;
}

static bool is_noted(void *context)
{
	return restarting.pc == *reg(context, REG_RIP) && restarting.sp == *reg(context, REG_RSP);
}

static void restart_note(void *context)
{
	restarting.pc = *reg(context, REG_RIP);
	restarting.sp = *reg(context, REG_RSP);
}
#else
enum { SYSCALL_BYTES = 4, PAGE = 4096 };

static bool restart_has_failed(void *context)
{
	const mcontext_t *m = &((ucontext_t *)context)->uc_mcontext;

	return m->regs[0] == (uint64_t)-EINTR &&
	       (m->pc % PAGE == 0 || /* the page before it may not be there */
		*(const uint32_t *)(uintptr_t)(m->pc - SYSCALL_BYTES) == 0xd4000001);
}

/* Nothing here tells a call that is done again from one that is yet to come. */
static bool is_restarting(void *context)
{
	return false;
}

void trc_restart_undo(void *context)
{
}

static bool is_noted(void *context)
{
	return false;
}

static void restart_note(void *context)
{
}
#endif

void trc_sample_interrupted(const void *context)
{
	void *registers = (void *)(uintptr_t)context;

	if (restart_has_failed(registers))
		trc_self.interrupted = true;
	else if (is_restarting(registers))
		restart_note(registers);
}

void trc_restart_handled(int number, void *context)
{
	struct sigaction action;

	trc_self.handled |= UINT64_C(1) << (number - 1);
	if (is_noted(context) && !REAL(sigaction)(number, NULL, &action) &&
	    !(action.sa_flags & SA_RESTART))
		trc_restart_undo(context);
	restarting.pc = 0;
}

enum { UNEXPLAINED_MAX = 16 };

/* ---- in interposers -------------------------------------------------------------------- */

static uint64_t ns_of(const struct timespec *time)
{
	if ((uint64_t)time->tv_sec >= UINT64_MAX / NS_PER_S)
		return UINT64_MAX;
	return (uint64_t)time->tv_sec * NS_PER_S + (uint64_t)time->tv_nsec;
}

static uint64_t coarse_ns(void)
{
	struct timespec now;

	return clock_gettime(CLOCK_MONOTONIC_COARSE, &now) ? 0 : ns_of(&now);
}

static void restart_enter(struct trc_restart *r, bool recorded, bool may_wait)
{
	r->recorded = recorded;
	r->since_ns = may_wait && !recorded ? coarse_ns() : 0;
	r->limit_ns = 0;
	r->unexplained = 0;
	r->saved_errno = errno;
	r->interrupted = trc_self.interrupted;
	r->handled = trc_self.handled;
	trc_self.interrupted = false;
	trc_self.handled = 0;
}

void trc_restart_begin(struct trc_restart *r, enum trc_reason reason, uint64_t object,
		       bool may_wait)
{
	restart_enter(r, may_wait && trc_recording(), may_wait);
	if (r->recorded)
		trc_span_begin(&r->span, reason, object);
}

void trc_restart_park(struct trc_restart *r, enum trc_reason reason, const void *object,
		      uint32_t holder_tid)
{
	restart_enter(r, true, true);
	trc_park(&r->span.wait, reason, object, holder_tid);
	trc_span_guard(&r->span, true);
}

void trc_restart_end(struct trc_restart *r, int result)
{
	if (r->recorded)
		trc_span_end(&r->span, result);
	trc_self.interrupted = r->interrupted;
	trc_self.handled |= r->handled;
}

/* Whether the call's EINTR is the program's not. */
static bool restart_is_ours(struct trc_restart *r, const sigset_t *mask)
{
	uint64_t blocked = 0;

	if (errno != EINTR)
		return false;
	if (!trc_self.interrupted && (!trc_signals_watched() || ++r->unexplained > UNEXPLAINED_MAX))
		return false;
	if (mask) /* the kernel has just read it */
		memcpy(&blocked, mask, sizeof(blocked));
	return !(trc_self.handled & ~blocked);
}

static bool again(struct trc_restart *r)
{
	trc_self.interrupted = false;
	trc_self.handled = 0;
	errno = r->saved_errno;
	return true;
}

bool trc_restart(struct trc_restart *r, const sigset_t *mask)
{
	return restart_is_ours(r, mask) && again(r);
}

/* By the coarse clock: it stands for a tick, so that less may have passed than it says (E6). */
static bool lasted_about_ns(const struct trc_restart *r, uint64_t *ns)
{
	struct timespec tick;
	uint64_t passed_ns = coarse_ns() - r->since_ns;

	if (!r->since_ns || clock_getres(CLOCK_MONOTONIC_COARSE, &tick))
		return false;
	*ns = passed_ns > ns_of(&tick) ? passed_ns - ns_of(&tick) : 0;
	return true;
}

/* Of r->limit_ns; false if it is not known. */
static bool left_ns(const struct trc_restart *r, uint64_t *ns)
{
	uint64_t lasted_ns = r->recorded ? trc_wait_lasted_ns(&r->span.wait) : 0;

	if (!lasted_ns && !lasted_about_ns(r, &lasted_ns))
		return false;
	*ns = lasted_ns < r->limit_ns ? r->limit_ns - lasted_ns : 0;
	return true;
}

bool trc_restart_ms(struct trc_restart *r, const sigset_t *mask, int *timeout_ms)
{
	uint64_t ns;

	if (!restart_is_ours(r, mask))
		return false;
	if (*timeout_ms > 0) {
		if (!r->limit_ns)
			r->limit_ns = (uint64_t)*timeout_ms * NS_PER_MS;
		if (!left_ns(r, &ns))
			return false;
		ns = (ns + NS_PER_MS - 1) / NS_PER_MS;
		*timeout_ms = ns < INT32_MAX ? (int)ns : INT32_MAX;
	}
	return again(r);
}

bool trc_restart_on(struct trc_restart *r, const struct timespec **timeout)
{
	uint64_t ns;

	if (!timeout || !*timeout)
		return again(r);
	if (!r->limit_ns)
		r->limit_ns = ns_of(*timeout);
	if (r->limit_ns) {
		if (!left_ns(r, &ns))
			return false;
		r->left = (struct timespec){(time_t)(ns / NS_PER_S), (long)(ns % NS_PER_S)};
		*timeout = &r->left;
	}
	return again(r);
}

bool trc_restart_time(struct trc_restart *r, const sigset_t *mask, const struct timespec **timeout)
{
	return restart_is_ours(r, mask) && trc_restart_on(r, timeout);
}

bool trc_restart_rest(struct trc_restart *r, const struct timespec **time,
		      const struct timespec *rest)
{
	if (!trc_restart(r, NULL))
		return false;
	r->left = *rest;
	*time = &r->left;
	return true;
}

bool trc_restart_slept(struct trc_restart *r, bool absolute, const struct timespec **time,
		       const struct timespec *rest)
{
	bool again;

	errno = EINTR;
	again = absolute ? trc_restart(r, NULL) : trc_restart_rest(r, time, rest);
	errno = r->saved_errno;
	return again;
}

/* 0 = none, or no socket. */
static uint64_t socket_limit_ns(int fd, int option)
{
	struct timeval limit;
	socklen_t n_bytes = sizeof(limit);

	if (trc_raw5(SYS_getsockopt, fd, SOL_SOCKET, option, &limit, &n_bytes))
		return 0;
	return (uint64_t)limit.tv_sec * NS_PER_S + (uint64_t)limit.tv_usec * 1000;
}

/*
 * The real call would begin to count anew, so what is left is waited for here.  If the socket
 * is ready and yet the call waits, because another thread came first, its time is longer.
 */
bool trc_restart_socket(struct trc_restart *r, int fd, int option, int expired)
{
	struct pollfd ready = {fd, option == SO_RCVTIMEO ? POLLIN : POLLOUT, 0};
	int left_ms = 1 /* any: the limit is known */, result;

	if (!restart_is_ours(r, NULL))
		return false;
	r->limit_ns = socket_limit_ns(fd, option);
	if (!r->limit_ns)
		return again(r);
	do {
		if (!trc_restart_ms(r, NULL, &left_ms))
			return false;
		result = REAL(poll)(&ready, 1, left_ms);
	} while (result < 0);
	if (!result)
		errno = expired;
	return result > 0;
}
