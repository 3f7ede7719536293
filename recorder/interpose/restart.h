/*
 * restart.h - makes calls go on that a sample's signal has interrupted.
 *
 * The handler is installed with SA_RESTART, but Linux never restarts some calls (signal(7)): such
 * calls fail with EINTR after any handler.  Their interposers make the call again, with the time
 * that is left.
 *
 *   restart:E1  a call is made again if a signal of ours found the call ended with EINTR, and no
 *       handler of the program's has run since the call began.  Handlers of signals that the call
 *       itself holds back (ppoll's mask) do not count: they would have run after the call
 *   restart:E2  handlers of the program's are counted by their wrappers (signal.h).  A handler
 *       without a wrapper that runs at the same time as ours counts as if it had run just before
 *       the call.  Signals pending at our handler's end are delivered before the call is made
 *       again.  A signal that only the call lets through stays pending, and interrupts the new call
 *   restart:E3  the kernel may restart a call after our handler.  If a handler of the program's without
 *       SA_RESTART then runs, the call fails with EINTR, as after that handler alone (x86-64)
 *   restart:E4  errno is set back to its value before the first real call before each further one:
 *       in the end it is what the last real call left
 *   restart:E5  a signal that is ignored by default (SIGCHLD) stays pending while one of our
 *       handlers holds all signals back.  The kernel then interrupts some other thread, in which no
 *       handler runs.  So if all handlers have wrappers, a call that fails with EINTR without a
 *       handler is made again, a few times
 *   restart:E6  for a call that begins while nothing is recorded, only the kernel's coarse clock is
 *       read.  The time left is then never less than it should be, and at most two ticks more
 */
#ifndef TRC_RECORDER_INTERPOSE_RESTART_H
#define TRC_RECORDER_INTERPOSE_RESTART_H

#include "span.h"

/*
 * In the handler of a signal of which the program knows nothing: takes note of the interrupted
 * call.  Context: signal handler of the interrupted thread, all signals blocked.
 */
void trc_sample_interrupted(const void *context);
/* A handler of the program's is about to run.  Context: signal handlers. */
void trc_restart_handled(int number, void *context);
/* If the kernel is about to restart a call, makes the call fail with EINTR instead. */
void trc_restart_undo(void *context);

/* One call that may be made again.  Lives on the stack from begin to end. */
struct trc_restart {
	struct trc_span span;
	bool recorded;
	bool interrupted; /* of a call that this one came in the middle of: in a handler */
	uint64_t handled;
	int saved_errno;
	unsigned int unexplained; /* E5: so many times */
	uint64_t since_ns; /* not recorded, but may wait: by the coarse clock (E6); 0 = not known */
	uint64_t limit_ns; /* how long it may take; 0 = not looked at yet */
	struct timespec left;
};

/* Around the real calls; with `may_wait` the time is recorded as a wait, where anything is. */
void trc_restart_begin(struct trc_restart *r, enum trc_reason reason, uint64_t object,
		       bool may_wait);
/* Begins a wait that is announced; for a lock that `holder_tid` holds, 0 = not known. */
void trc_restart_park(struct trc_restart *r, enum trc_reason reason, const void *object,
		      uint32_t holder_tid);
void trc_restart_end(struct trc_restart *r, int result);

/*
 * After a real call that has failed: true if the call is to be made again; errno is then set back.
 * If false, nothing has changed.  `mask` has the signals that the call blocks, or is NULL.
 */
bool trc_restart(struct trc_restart *r, const sigset_t *mask);
/* trc_restart() for calls with a time limit: the limit becomes the time left.  A limit of zero, or
 * no limit (negative, NULL), stays. */
bool trc_restart_ms(struct trc_restart *r, const sigset_t *mask, int *timeout_ms);
bool trc_restart_time(struct trc_restart *r, const sigset_t *mask, const struct timespec **timeout);
/* trc_restart_time() after a call that has not failed.  False if the time left is not known. */
bool trc_restart_on(struct trc_restart *r, const struct timespec **timeout);
/* For calls whose time left the kernel has told. */
bool trc_restart_rest(struct trc_restart *r, const struct timespec **time,
		      const struct timespec *rest);
/* trc_restart_rest() after a call that reports its interruption otherwise than by errno. */
bool trc_restart_slept(struct trc_restart *r, bool absolute, const struct timespec **time,
		       const struct timespec *rest);
/* For calls with a time limit of a socket's (SO_RCVTIMEO, SO_SNDTIMEO).  If the limit has passed:
 * false, with errno `expired`. */
bool trc_restart_socket(struct trc_restart *r, int fd, int option, int expired);

/* After trc_restart_begin(), of a call on a descriptor. */
static inline void trc_restart_io(struct trc_restart *r, enum trc_reason reason, int fd, bool one)
{
	trc_io_begin(&r->span.io, reason, fd, r->recorded ? r->span.wait.since : 0, one);
}

/* As TRC_CALL, for a call that is made again while `again` says so. */
#define TRC_CALL_AGAIN(type, name, REASON, object, may_wait, again, parameters, arguments)         \
	TRC_EXPORT type name parameters                                                            \
	{                                                                                          \
		struct trc_restart restart;                                                        \
		type result;                                                                       \
                                                                                                   \
		trc_restart_begin(&restart, TRC_REASON_##REASON, (uint64_t)(object), may_wait);    \
		do                                                                                 \
			result = REAL(name) arguments;                                             \
		while (TRC_UNLIKELY(result == (type)-1) && (again));                               \
		trc_restart_end(&restart, result == (type)-1 ? errno : 0);                         \
		return result;                                                                     \
	}

/*
 * TRC_CALL_AGAIN for a call on a descriptor, which may end another thread's wait (wakers.h).  While
 * nothing records, only the real call is made, as such calls are frequent.  `one`: the first write
 * ends the wait of this call.  `moved`: the call has read or written something.
 */
#define TRC_IO_CALL_AGAIN(type, name, REASON, fd, may_wait, again, one, moved, parameters,         \
			  arguments)                                                               \
	TRC_EXPORT type name parameters                                                            \
	{                                                                                          \
		struct trc_restart restart;                                                        \
		type result;                                                                       \
                                                                                                   \
		if (!trc_recording())                                                              \
			return REAL(name) arguments;                                               \
		if (!(may_wait)) {                                                                 \
			trc_io_look(&restart.span.io, TRC_REASON_##REASON, (fd));                  \
			result = REAL(name) arguments;                                             \
			trc_io_end(&restart.span.io, result > 0 && (moved));                       \
			return result;                                                             \
		}                                                                                  \
		trc_restart_begin(&restart, TRC_REASON_##REASON, (uint64_t)(fd), true);            \
		trc_restart_io(&restart, TRC_REASON_##REASON, (fd), (one));                        \
		do                                                                                 \
			result = REAL(name) arguments;                                             \
		while (TRC_UNLIKELY(result == (type)-1) && (again));                               \
		trc_io_returned(&restart.span.io);                                                 \
		trc_restart_end(&restart, result == (type)-1 ? errno : 0);                         \
		trc_io_end(&restart.span.io, result > 0 && (moved));                               \
		return result;                                                                     \
	}

#endif
