/*
 * otel.h - the OpenTelemetry context that the program publishes for each of its threads.
 *
 * The program, or a library in it, exports a thread-local variable `otel_thread_ctx_v1`: a pointer
 * to a record with the ids of the trace and of the span that the thread works for (OpenTelemetry's
 * OTEP 4947).  The thread itself reads it when a wait or a sample of it is recorded.
 *
 *   otel:C1  nothing is read at an address that comes from the program before the kernel has said
 *       that it can be read, unless the thread's own stack or thread-local variables lie there
 *   otel:C2  a record counts if its `valid` is 1 and its trace and span are not 0.  Only the
 *       thread itself changes its record: a thread that reads its own record sees it whole, and a
 *       signal handler that interrupts a change finds no valid record
 *   otel:C3  the thread makes an `otel_context` event before the event of its wait or sample, if
 *       the context differs from what its last `otel_context` event said, or if that event is
 *       older than TRC_OTEL_AGAIN_NS
 *   otel:C4  a search for the variable takes no lock: it reads the loader's list of objects by
 *       copies that the kernel makes, since another thread may be changing the list.  No thread
 *       searches while it holds an interposed lock
 *   otel:C5  the result of a search counts if trc_otel_forget() was not called since the search
 *       began: else the object may have been unloaded meanwhile.  If something could not be read,
 *       the search has no result, and the result before stays
 */
#ifndef TRC_RECORDER_RING_OTEL_H
#define TRC_RECORDER_RING_OTEL_H

#include "rec.h"

/* The context is told again after this time, so that a trace whose earlier events are gone knows
 * the context soon. */
#define TRC_OTEL_AGAIN_NS UINT64_C(100000000)
/* The time between two searches, while no known object has the variable. */
#define TRC_OTEL_SEARCH_NS UINT64_C(1000000000)

/*
 * Where the variable is, as one word (trc_switch.otel): 0 = nowhere.  The lowest two bits are its
 * kind.  TRC_OTEL_STATIC: the rest is the distance from the thread pointer, the same in all
 * threads.  TRC_OTEL_DYNAMIC: bits 34 and up are the loader's number of the object, those below are
 * the distance from the beginning of the object's block, of which each thread has its own.
 */
enum {
	TRC_OTEL_STATIC = 1,
	TRC_OTEL_DYNAMIC = 2,
	/* There was one, or may be one: threads have none now.  Bits 2 and up tell one that was to be
	 * forgotten from the next. */
	TRC_OTEL_GONE = 3,
	TRC_OTEL_KIND_BITS = 2,
	TRC_OTEL_MODULE_SHIFT = 34,
};
#define TRC_OTEL_KIND(where) ((where) & ((1U << TRC_OTEL_KIND_BITS) - 1))

/* ---- otel.c ---- */

/* Context: traced thread, signal handlers. */
void trc_otel_look(uint64_t where, uint64_t now);

/* Before the event of a wait or a sample.  `now` in ticks; it need not be exact. */
static inline void trc_otel_note(uint64_t now)
{
	/* relaxed: the word says everything, and what it leads to is checked (C1, C2). */
	uint64_t where = atomic_load_explicit(&trc_switch.otel, memory_order_relaxed);
	uint64_t search = atomic_load_explicit(&trc_switch.otel_search, memory_order_relaxed);

	if (__builtin_expect(where || now >= search, 0))
		trc_otel_look(where, now);
}

/* ---- otel_find.c ---- */

/* Before the first session: learns how the loader keeps its list.  Context: any thread, may
 * block. */
void trc_otel_setup(void);
/* A session begins; off: nothing is ever looked for in it. */
void trc_otel_begin(bool on);
/* Looks for the variable, unless another thread does so.  Context: traced thread, signal
 * handlers. */
void trc_otel_search(uint64_t now);
/* Before an object may be unloaded, and after that: the variable has to be found again. */
void trc_otel_forget(void);

#endif
