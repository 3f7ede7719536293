/* closing.c - see closing.h. */
#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <stdatomic.h>
#include <stdint.h>
#include <time.h>
#include "closing.h"
#include "format/raw.h"
#include "recorder/ring/hot.h"
#include "recorder/unwind/poison.h"

/* A look takes microseconds: who has not ended it after so many waits has left it by siglongjmp() (Q2). */
enum { WAITS_MAX = 300 };

static _Atomic uint32_t looking; /* the thread id of who looks; 0 = nobody */
static _Atomic uint32_t closing; /* calls of dlclose() that are under way */

/* Waits for a while for the thread that looks (Q2). */
static void closing_wait_for(uint32_t tid)
{
	const struct timespec patience = {0, 10000000};

	trc_raw4(SYS_futex, &looking, FUTEX_WAIT | FUTEX_PRIVATE_FLAG, tid, &patience);
	/* relaxed, both: a thread that is gone has told nothing. */
	if (atomic_load_explicit(&looking, memory_order_relaxed) == tid &&
	    trc_raw3(SYS_tgkill, trc_raw1(SYS_getpid, 0), tid, 0) == -ESRCH)
		atomic_compare_exchange_strong_explicit(&looking, &tid, 0, memory_order_relaxed,
							memory_order_relaxed);
}

bool trc_look_begin(void)
{
	uint32_t own = (uint32_t)trc_raw1(SYS_gettid, 0), tid = 0, waits = 0;

	/* seq_cst, here and in trc_closing_begin(): of a look and a dlclose() that begin at the same time one
	 * at least sees the other (Q1). */
	while (!atomic_compare_exchange_strong_explicit(&looking, &tid, own, memory_order_seq_cst,
							memory_order_seq_cst)) {
		/* own: in a handler of a signal that came in the middle of it. */
		if (tid == own || waits++ == WAITS_MAX)
			return false;
		closing_wait_for(tid);
		tid = 0;
	}
	if (!atomic_load_explicit(&closing, memory_order_seq_cst))
		return true;
	trc_look_end();
	return false;
}

void trc_look_end(void)
{
	/* release: pairs with the load in trc_closing_begin(): all has been read. */
	atomic_store_explicit(&looking, 0, memory_order_release);
	trc_raw3(SYS_futex, &looking, FUTEX_WAKE | FUTEX_PRIVATE_FLAG, INT_MAX);
}

void trc_closing_begin(void)
{
	uint32_t tid, waits = 0;

	trc_self.closes++;
	/* seq_cst: see trc_look_begin(). */
	atomic_fetch_add_explicit(&closing, 1, memory_order_seq_cst);
	while ((tid = atomic_load_explicit(&looking, memory_order_seq_cst)) &&
	       tid != (uint32_t)trc_raw1(SYS_gettid, 0) && waits++ < WAITS_MAX)
		closing_wait_for(tid);
}

void trc_closing_end(void)
{
	trc_self.closes--;
	/* release: pairs with the load in trc_look_begin(): what was closed is found by nobody. */
	atomic_fetch_sub_explicit(&closing, 1, memory_order_release);
}

void trc_closing_forget(void)
{
	/* relaxed, both: a forked child has one thread. */
	atomic_store_explicit(&looking, 0, memory_order_relaxed);
	atomic_store_explicit(&closing, trc_self.closes, memory_order_relaxed);
}
