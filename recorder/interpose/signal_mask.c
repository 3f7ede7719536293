/*
 * signal_mask.c - programs that block the signal of ours (signal:H6) together with all other
 * signals.
 *
 * A thread that blocks SIGPROF is not sampled.  Nearly all such threads block every signal, and so
 * SIGVTALRM as well: SIGVTALRM is the twin of SIGPROF.
 *
 *   signal_mask:M1  while masks are hidden, a thread whose mask has both signals blocks only the
 *       twin in the kernel: our signal reaches the thread.  So the kernel's mask alone tells what
 *       the program's is, wherever libc keeps it or puts it back (siglongjmp(), swapcontext(), a
 *       handler's return)
 *   signal_mask:M2  a mask that the program asks for has both signals again; children and the next
 *       program get both signals
 *   signal_mask:M3  a program that names one of the two signals alone, or whose own SIGPROF finds
 *       it blocked, is left alone from then on.  Each thread's mask in the kernel becomes the mask
 *       that the program was told, before the thread's next change of its mask, its next new thread
 *       or child, or when such a signal comes
 *   signal_mask:M4  masks that hold for one call, and those of handlers, are the kernel's as the
 *       program gave them: a thread that waits needs no samples
 *
 * A change of a mask by a system call made directly is not seen.  Context: traced thread, signal
 * handlers.
 */
#include <string.h>
#include "format/raw.h"
#include "signal.h"
#include "signal_own.h"
#include "span.h"
#include "recorder/unwind/poison.h"

#define BIT(number) (UINT64_C(1) << ((number)-1))
#define OWN	    BIT(SIGPROF)
#define TWIN	    BIT(SIGVTALRM)

static _Atomic bool hiding; /* M1 */
static _Atomic bool spoken; /* M3 */
/* Of a thread, after M3: its mask is what it is said to be. */
static __thread bool settled __attribute__((tls_model("initial-exec")));

static bool mask_is(const _Atomic bool *flag)
{
	/* relaxed: each is about itself; a thread that sees one late is as one that came sooner. */
	return atomic_load_explicit(flag, memory_order_relaxed);
}

static uint64_t bits_of(const sigset_t *set)
{
	uint64_t bits;

	memcpy(&bits, set, sizeof(bits));
	return bits;
}

static uint64_t now(void)
{
	uint64_t mask = 0;

	trc_raw4(SYS_rt_sigprocmask, SIG_BLOCK, NULL, &mask, sizeof(mask));
	return mask;
}

static void change_own(int how)
{
	const uint64_t own = OWN;

	trc_raw4(SYS_rt_sigprocmask, how, &own, NULL, sizeof(own));
}

static bool has_twin_alone(uint64_t mask)
{
	return (mask & (OWN | TWIN)) == TWIN;
}

/* ---- what the program does not see ----------------------------------------------------- */

/* The calling thread's, if it has both. */
static void hide_here(void)
{
	if ((now() & (OWN | TWIN)) == (OWN | TWIN))
		change_own(SIG_UNBLOCK);
}

void trc_mask_start(void)
{
	if (mask_is(&spoken))
		return;
	atomic_store_explicit(&hiding, true, memory_order_relaxed);
	hide_here();
}

void trc_mask_forked(void)
{
	trc_mask_show();
	atomic_store_explicit(&hiding, false, memory_order_relaxed);
}

/* M3: the calling thread's mask. */
static void mask_settle(void)
{
	if (settled || trc_self.quiet)
		return;
	if (has_twin_alone(now()))
		change_own(SIG_BLOCK);
	settled = true;
}

static bool settle_if_spoken(void)
{
	if (!mask_is(&spoken))
		return false;
	mask_settle();
	return true;
}

void trc_mask_speak(void)
{
	if (!mask_is(&hiding))
		return;
	atomic_store_explicit(&spoken, true, memory_order_relaxed);
	mask_settle();
}

bool trc_mask_thread_making(void)
{
	return mask_is(&hiding) && settle_if_spoken();
}

void trc_mask_thread_begin(bool creator_settled)
{
	settled = creator_settled;
	if (mask_is(&hiding) && !settled)
		hide_here();
}

bool trc_mask_show(void)
{
	if (!mask_is(&hiding) || settled || !has_twin_alone(now()))
		return false;
	change_own(SIG_BLOCK);
	return true;
}

void trc_mask_hide(void)
{
	int saved = errno;

	change_own(SIG_UNBLOCK);
	errno = saved;
}

/* It stays pending, or goes to another thread, as it would have.  Only the first thread may send to
 * the process in another's name: of the others' the sender is this process. */
static void send_again(const siginfo_t *info)
{
	long pid = trc_raw1(SYS_getpid, 0);

	if (info->si_code == SI_TKILL)
		trc_raw4(SYS_rt_tgsigqueueinfo, pid, trc_raw1(SYS_gettid, 0), SIGPROF, info);
	else if (trc_raw3(SYS_rt_sigqueueinfo, pid, SIGPROF, info))
		trc_raw2(SYS_kill, pid, SIGPROF);
}

bool trc_mask_holds_back(const siginfo_t *info, void *context)
{
	ucontext_t *interrupted = context;
	uint64_t mask = bits_of(&interrupted->uc_sigmask);

	if (!mask_is(&hiding) || settled || !has_twin_alone(mask))
		return false;
	atomic_store_explicit(&spoken, true, memory_order_relaxed);
	settled = true;
	mask |= OWN;
	memcpy(&interrupted->uc_sigmask, &mask, sizeof(mask));
	send_again(info);
	return true;
}

/* ---- the functions --------------------------------------------------------------------- */

typedef int change_fn(int how, const sigset_t *set, sigset_t *old);

static int mask_change(change_fn *real, int how, const sigset_t *set, sigset_t *old)
{
	uint64_t bits = set ? bits_of(set) : 0;
	bool both = (bits & (OWN | TWIN)) == (OWN | TWIN);
	sigset_t less;
	int result;

	if (bits & (OWN | TWIN) && !both)
		trc_mask_speak();
	if (settle_if_spoken())
		return real(how, set, old);
	if (both && how != SIG_UNBLOCK) {
		less = *set;
		sigdelset(&less, SIGPROF);
		set = &less;
	}
	result = real(how, set, old);
	if (!result && old && bits_of(old) & TWIN)
		sigaddset(old, SIGPROF);
	return result;
}

static bool is_hidden(void)
{
	return TRC_UNLIKELY(mask_is(&hiding)) && !trc_self.quiet;
}

TRC_EXPORT int sigprocmask(int how, const sigset_t *set, sigset_t *old)
{
	return is_hidden() ? mask_change(REAL(sigprocmask), how, set, old)
			   : REAL(sigprocmask)(how, set, old);
}

TRC_EXPORT int pthread_sigmask(int how, const sigset_t *set, sigset_t *old)
{
	return is_hidden() ? mask_change(REAL(pthread_sigmask), how, set, old)
			   : REAL(pthread_sigmask)(how, set, old);
}

static void one_signal(int number)
{
	if ((number == SIGPROF || number == SIGVTALRM) && is_hidden())
		trc_mask_speak();
}

TRC_EXPORT int sighold(int number)
{
	one_signal(number);
	return REAL(sighold)(number);
}

TRC_EXPORT int sigrelse(int number)
{
	one_signal(number);
	return REAL(sigrelse)(number);
}

/* Takes what is pending of our signal; true if one of those was the program's, which is put back. */
static bool pending_of_program(void)
{
	const struct timespec at_once = {0, 0};
	const uint64_t own = OWN;
	siginfo_t info;

	while (trc_raw4(SYS_rt_sigtimedwait, &own, &info, &at_once, sizeof(own)) == SIGPROF) {
		if (trc_signal_own_taken(SIGPROF, &info))
			continue;
		send_again(&info);
		return true;
	}
	return false;
}

TRC_EXPORT int sigpending(sigset_t *set)
{
	int result = REAL(sigpending)(set), saved = errno;

	if (!result && is_hidden() && sigismember(set, SIGPROF) == 1 && !pending_of_program())
		sigdelset(set, SIGPROF);
	errno = saved;
	return result;
}
