/*
 * barrier_once.c - pthread_barrier_wait, pthread_once, call_once.  Context: traced thread.
 */
#include "span.h"
#include "recorder/unwind/poison.h"

/*
 * Every thread parks, the last one too: only the barrier knows who that is, and tells by
 * PTHREAD_BARRIER_SERIAL_THREAD, which glibc gives to the thread that completed the round.
 */
TRC_EXPORT int pthread_barrier_wait(pthread_barrier_t *barrier)
{
	struct trc_span span;
	uint64_t at;
	int result;

	if (!trc_recording())
		return REAL(pthread_barrier_wait)(barrier);
	trc_span_park(&span, TRC_REASON_BARRIER, barrier);
	at = trc_now();
	result = REAL(pthread_barrier_wait)(barrier);
	trc_span_end(&span, 0);
	if (result == PTHREAD_BARRIER_SERIAL_THREAD)
		trc_unparked(TRC_REASON_BARRIER, barrier, ~UINT64_C(0), at);
	return result;
}

/* glibc's control word, in pthread_once_t and once_flag alike. */
enum { ONCE_IN_PROGRESS = 1, ONCE_DONE = 2 };

static int once_state(const int *control)
{
	/* acquire: as pthread_once() itself, for what the routine has initialised. */
	return __atomic_load_n(control, __ATOMIC_ACQUIRE) & (ONCE_IN_PROGRESS | ONCE_DONE);
}

/* An initialisation that this thread may be going to run; on its stack. */
struct once_call {
	void (*routine)(void);
	const void *control;
	uint64_t ended_at; /* 0 = another thread ran it, or nobody waited for its end */
	struct once_call *outer;
	struct trc_span *wait; /* for another thread, which was at it; NULL = none, or it is over */
};
static __thread struct once_call *once_call __attribute__((tls_model("initial-exec")));

/* In place of the user's routine: notes when it ended, if anybody waits for that.  It may leave by
 * an exception, or run other initialisations: so the list is put right before.  A thread that comes
 * here waits no longer: the one that was at it has failed. */
static void run_routine(void)
{
	struct once_call *call = once_call;
	struct trc_span *wait = call->wait;

	once_call = call->outer;
	call->wait = NULL;
	if (wait)
		trc_span_end_inside(wait, 0);
	call->routine();
	if (trc_waiters(call->control))
		call->ended_at = trc_now();
}

/*
 * Another thread is at it: a park, until it is done, or the routine runs here (and may leave by an
 * exception).  Nobody is: perhaps it runs here, and those that came meanwhile wait.
 */
#define ONCE_CALL(name, flag, control, init_routine)                                               \
	({                                                                                         \
		struct once_call call = {init_routine, control, 0, once_call, NULL};               \
		struct trc_span span;                                                              \
                                                                                                   \
		if (once_state(control) == ONCE_IN_PROGRESS) {                                     \
			trc_span_park(&span, TRC_REASON_ONCE, control);                            \
			call.wait = &span;                                                         \
		}                                                                                  \
		once_call = &call;                                                                 \
		REAL(name)(flag, run_routine);                                                     \
		once_call = call.outer;                                                            \
		if (call.wait)                                                                     \
			trc_span_end(&span, 0);                                                    \
		if (call.ended_at)                                                                 \
			trc_unparked(TRC_REASON_ONCE, control, ~UINT64_C(0), call.ended_at);       \
	})

TRC_EXPORT int pthread_once(pthread_once_t *control, void (*routine)(void))
{
	if (!trc_recording() || once_state(control) & ONCE_DONE)
		return REAL(pthread_once)(control, routine);
	ONCE_CALL(pthread_once, control, control, routine);
	return 0;
}

TRC_EXPORT void call_once(once_flag *flag, void (*routine)(void))
{
	if (!trc_recording() || once_state((int *)flag) & ONCE_DONE)
		REAL(call_once)(flag, routine);
	else
		ONCE_CALL(call_once, flag, (int *)flag, routine);
}
