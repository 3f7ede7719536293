/*
 * futex.c - syscall(SYS_futex), by which programs and language runtimes build their own locks.
 * Context: traced thread, signal handlers.
 */
#include <linux/futex.h>
#include "format/raw.h"
#include "recorder/unwind/memory.h"
#include "restart.h"
#include "syscall.h"
#include "recorder/unwind/poison.h"

enum { FUTEX_LOCK_PI2_ = 13 }; /* not in older headers */

/* What syscall() returns for what the kernel returned. */
long trc_syscall_error(long result)
{
	errno = (int)-result;
	return -1;
}

static long futex_call(const void *word, long operation, long value, long timeout, long word2,
		       long value3)
{
	long result = trc_raw6(SYS_futex, (long)word, operation, value, timeout, word2, value3);

	return result < 0 ? trc_syscall_error(result) : result;
}

static bool futex_waits(long operation)
{
	switch (operation & FUTEX_CMD_MASK) {
	case FUTEX_WAIT:
	case FUTEX_WAIT_BITSET:
	case FUTEX_WAIT_REQUEUE_PI:
	case FUTEX_LOCK_PI:
	case FUTEX_LOCK_PI2_:
		return true;
	default:
		return false;
	}
}

static bool futex_wakes(long operation)
{
	switch (operation & FUTEX_CMD_MASK) {
	case FUTEX_WAKE:
	case FUTEX_WAKE_BITSET:
	case FUTEX_WAKE_OP:
	case FUTEX_UNLOCK_PI:
		return true;
	default:
		return false;
	}
}

/*
 * Of a lock of the kernel's protocol with priority inheritance the word is its owner's thread id; of
 * other futexes it is the program's own business.  The address may be anything: the kernel would answer
 * EFAULT.
 */
static uint32_t futex_holder(const void *word, long operation)
{
	long command = operation & FUTEX_CMD_MASK;

	if ((command != FUTEX_LOCK_PI && command != FUTEX_LOCK_PI2_) || (uintptr_t)word % 4 ||
	    !trc_memory_readable((uintptr_t)word & ~(uintptr_t)7))
		return 0;
	return __atomic_load_n((const uint32_t *)word, __ATOMIC_RELAXED) & FUTEX_TID_MASK;
}

/* Only this one's time is relative. */
static bool futex_wait_again(struct trc_restart *r, long operation, long *timeout)
{
	const struct timespec *limit = (const struct timespec *)*timeout;
	bool again;

	if ((operation & FUTEX_CMD_MASK) != FUTEX_WAIT)
		return trc_restart(r, NULL);
	again = trc_restart_time(r, NULL, &limit);
	*timeout = (long)limit;
	return again;
}

/* syscall() is no cancellation point, so the park needs no guard but for longjmp(). */
static long futex_wait(const void *word, long operation, long value, long timeout, long word2,
		       long value3)
{
	struct trc_restart restart;
	long result;

	trc_restart_park(&restart, TRC_REASON_FUTEX, word, futex_holder(word, operation));
	do
		result = futex_call(word, operation, value, timeout, word2, value3);
	while (TRC_UNLIKELY(result == -1) && futex_wait_again(&restart, operation, &timeout));
	trc_restart_end(&restart, result == -1 ? errno : 0);
	return result;
}

static long futex_wake(const void *word, long operation, long value, long timeout, long word2,
		       long value3)
{
	uint32_t waiters = trc_waiters(word);
	uint64_t at = waiters ? trc_now() : 0;
	long result = futex_call(word, operation, value, timeout, word2, value3);
	long woken = result;

	/* Called where somebody waits, who has the lock then. */
	if ((operation & FUTEX_CMD_MASK) == FUTEX_UNLOCK_PI)
		woken = result == 0;
	/* The word may be gone. */
	if (waiters && woken > 0)
		trc_unparked(TRC_REASON_FUTEX, word, (uint64_t)woken, at);
	return result;
}

long trc_syscall_futex(const void *word, long operation, long value, long timeout, long word2,
		       long value3)
{
	if (!trc_recording())
		return futex_call(word, operation, value, timeout, word2, value3);
	if (futex_waits(operation))
		return futex_wait(word, operation, value, timeout, word2, value3);
	if (futex_wakes(operation))
		return futex_wake(word, operation, value, timeout, word2, value3);
	return futex_call(word, operation, value, timeout, word2, value3);
}
