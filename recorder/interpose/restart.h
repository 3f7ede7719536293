/*
 * restart.h - calls that a sample's signal has interrupted go on.
 *
 * The handler is installed with SA_RESTART, but some calls Linux never restarts (signal(7)): they
 * fail with EINTR after any handler.  Their interposers call again, with what is left of the time.
 *
 *   restart:E1  a call is made again if a signal of ours found it ended with EINTR, and no handler
 *       of the program's has run since it began. Handlers of signals that the call itself holds
 *       back (ppoll's mask) do not count: they would have run after it
 *   restart:E2  handlers of the program's are counted by their wrappers (signal.h); of one without
 *       a wrapper, that runs at the same time as ours, it looks as if it had run just before the
 *       call. What is pending when our handler ends is delivered before the call is made again, and
 *       a signal that only the call lets through stays pending and interrupts it
 *   restart:E3  the kernel may restart a call after our handler.  If a handler of the program's without
 *       SA_RESTART then runs, the call fails with EINTR, as after that handler alone (x86-64)
 *   restart:E4  errno is set back to its value before the first real call before each further one:
 *       in the end it is what the last real call left
 *   restart:E5  a signal that is ignored by default (SIGCHLD) stays pending while one of our
 *       handlers holds all signals back.  The kernel then interrupts some other thread, in which no
 *       handler runs.  So if all handlers have wrappers, a call that fails with EINTR without a
 *       handler is made again, a few times
 *   restart:E6  where a call begins while nothing is recorded, only the kernel's coarse clock is
 *       read: what is left of its time is then never less than it should be, and at most two ticks
 *       more
 */
#ifndef TRC_RECORDER_INTERPOSE_RESTART_H
#define TRC_RECORDER_INTERPOSE_RESTART_H

#include "span.h"

/*
 * In the handler of a signal of which the program knows nothing: takes note of what it has
 * interrupted.  Context: signal handler of the interrupted thread, all signals blocked.
 */
void trc_sample_interrupted(const void *context);
/* A handler of the program's is about to run.  Context: signal handlers. */
void trc_restart_handled(int number, void *context);
/* If the kernel is about to restart a call, it shall fail with EINTR instead. */
void trc_restart_undo(void *context);

/* One call that may be made again.  On the stack from begin to end. */
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
/* A wait that is announced; for a lock that this thread holds, 0 = not known. */
void trc_restart_park(struct trc_restart *r, enum trc_reason reason, const void *object,
		      uint32_t holder_tid);
void trc_restart_end(struct trc_restart *r, int result);

/*
 * After a real call that has failed: whether to make it again.  Then errno is what it was;
 * otherwise nothing has changed.  `mask` is what the call blocks meanwhile, or NULL.
 */
bool trc_restart(struct trc_restart *r, const sigset_t *mask);
/* The same for calls with a time limit, which is then what is left of it.  A limit of no time at
 * all, or of none (a negative one, NULL), stays. */
bool trc_restart_ms(struct trc_restart *r, const sigset_t *mask, int *timeout_ms);
bool trc_restart_time(struct trc_restart *r, const sigset_t *mask, const struct timespec **timeout);
/* The same after a call that has not failed.  False if it is not known what is left. */
bool trc_restart_on(struct trc_restart *r, const struct timespec **timeout);
/* Of these the kernel has told what is left. */
bool trc_restart_rest(struct trc_restart *r, const struct timespec **time,
		      const struct timespec *rest);
/* The same after a call that has been interrupted, and says so otherwise than by errno. */
bool trc_restart_slept(struct trc_restart *r, bool absolute, const struct timespec **time,
		       const struct timespec *rest);
/* For those with a limit of a socket's (SO_RCVTIMEO, SO_SNDTIMEO).  If that has passed: false, with
 * errno `expired`. */
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
 * The same of a call on a descriptor, which may end the wait of another (wakers.h); and for what is
 * called often: as it is while nothing records.  `one`: the first that is written ends its own
 * wait.  `moved`: it has read or written something.
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
