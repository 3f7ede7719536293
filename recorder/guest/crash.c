/*
 * crash.c - signals that report a fault or end the process, as the thread that got them saw them.
 *
 *   crash:D1  the crash block is the first fatal signal's.  The stack is filled in last: if reading
 *       a broken stack ends the process, the rest of the block is there already
 *   crash:D2  a thread that gets a later fatal signal waits until the first is recorded, a second
 *       at the most: the later signal would end the process.  The wait may be so long because on a
 *       busy or virtual machine the first thread may not run while the second runs
 */
#include <errno.h>
#include <time.h>
#include "format/raw.h"
#include "recorder/ring/rec.h"
#include "recorder/shared/signals.h"
#include "recorder/unwind/poison.h"

enum { PATIENCE_MS = 1000 };

void *trc_signal_default;

static _Atomic uint32_t told; /* the session whose crash block has its stack */

bool trc_signal_recorded(void)
{
	/* The switch first: in a forked child nothing is mapped where it leads to. */
	return trc_recording() && trc_rec.shared->pid == (uint32_t)trc_raw1(SYS_getpid, 0);
}

static uint64_t fault_address(const siginfo_t *info)
{
	switch (info->si_signo) {
	case SIGSEGV:
	case SIGBUS:
	case SIGFPE:
	case SIGILL:
	case SIGTRAP:
		return info->si_code > 0 ? (uintptr_t)info->si_addr : 0;
	case SIGSYS:
		return info->si_code > 0 ? (uintptr_t)info->si_call_addr : 0;
	default:
		return 0;
	}
}

/* Returns the stack's id. */
static uint64_t crash_record(const siginfo_t *info, const void *context, bool fatal)
{
	struct trc_args_signal args = {.signal = (uint64_t)info->si_signo,
				       .code = (uint64_t)(int64_t)info->si_code,
				       .address = fault_address(info),
				       .fatal = fatal};

	return trc_self_ready() ? TRC_RECORD_STACK_OF(args, context) : 0;
}

void trc_signal_handled(int number, const siginfo_t *info, const void *context)
{
	trc_self.no_wait++;
	crash_record(info, context, false);
	trc_self.no_wait--;
}

static void crash_fill(struct trc_crash *crash, const siginfo_t *info)
{
	atomic_store_explicit(&crash->signal, info->si_signo, memory_order_relaxed);
	atomic_store_explicit(&crash->code, info->si_code, memory_order_relaxed);
	atomic_store_explicit(&crash->tid, (uint32_t)trc_raw1(SYS_gettid, 0), memory_order_relaxed);
	atomic_store_explicit(&crash->serial, trc_self_ready() ? trc_self.serial : 0,
			      memory_order_relaxed);
	atomic_store_explicit(&crash->address, fault_address(info), memory_order_relaxed);
	atomic_store_explicit(&crash->ticks, trc_clock_now(), memory_order_relaxed);
	/* release: pairs with the acquire of a reader: the rest is there. */
	atomic_store_explicit(&crash->state, TRC_CRASH_COMPLETE, memory_order_release);
}

static void wait_for_first(uint32_t session)
{
	const struct timespec ms = {0, 1000000};

	for (int i = 0; i < PATIENCE_MS; i++) {
		if (atomic_load_explicit(&told, memory_order_relaxed) == session)
			return;
		trc_raw2(SYS_nanosleep, &ms, NULL);
	}
}

void trc_signal_fatal(int number, const siginfo_t *info, const void *context)
{
	struct trc_crash *crash = &trc_rec.shared->crash;
	uint32_t session = atomic_load_explicit(&trc_switch.on, memory_order_relaxed);
	uint32_t none = TRC_CRASH_NONE;
	uint64_t stack;

	trc_self.no_wait++;
	if (atomic_compare_exchange_strong_explicit(&crash->state, &none, TRC_CRASH_FILLING,
						    memory_order_relaxed, memory_order_relaxed)) {
		crash_fill(crash, info);
		stack = crash_record(info, context, true);
		atomic_store_explicit(&crash->stack, stack, memory_order_relaxed);
		atomic_store_explicit(&told, session, memory_order_relaxed);
	} else {
		crash_record(info, context, true);
		wait_for_first(session);
	}
	trc_self.no_wait--;
}
