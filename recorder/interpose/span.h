/*
 * span.h - a wait inside one libc call that may be cancelled, and helpers that all interposers
 * use.
 *
 * A wait that has begun must end also if the thread is cancelled in it, calls pthread_exit() from a
 * signal handler, or jumps out of it: else the thread's slot would say forever that the thread
 * waits, and the object would keep a waiter too many.  The handlers are registered with
 * _pthread_cleanup_push(): two words to store, run by cancellation, pthread_exit() and longjmp()
 * alike; landing pads (pthread_cleanup_push under -fexceptions) would need libgcc_s at load time,
 * and longjmp() would not run them.
 *
 *   span:I1  an interposer changes no result, no errno and no EINTR behaviour of the real call
 *   span:I2  a lock that may still be held when an event is recorded counts in trc_self.locks_held
 */
#ifndef TRC_RECORDER_INTERPOSE_SPAN_H
#define TRC_RECORDER_INTERPOSE_SPAN_H

#include "real.h"
#include "wakers.h"
#include "recorder/ring/hot.h"

#define TRC_EXPORT	__attribute__((visibility("default")))
#define TRC_LIKELY(x)	__builtin_expect(!!(x), 1)
#define TRC_UNLIKELY(x) __builtin_expect(!!(x), 0)

struct trc_span {
	struct trc_wait wait;
	struct trc_io io; /* of a call on a descriptor (wakers.h) */
	struct _pthread_cleanup_buffer cleanup;
	bool announced;	     /* a park, not a wait */
	bool retakes_a_lock; /* the real call comes back with a mutex that it gave up */
};

/* Begins a wait that is recorded if it lasts long enough. */
void trc_span_begin(struct trc_span *span, enum trc_reason reason, uint64_t object);
/* Begins a wait that is announced. */
void trc_span_park(struct trc_span *span, enum trc_reason reason, const void *object);
/* Notes what the cleanup of the real call that begins now must undo.  The two functions above do
 * this. */
void trc_span_guard(struct trc_span *span, bool announced);
/* After the real call: `result` is 0 or a positive errno. */
void trc_span_end(struct trc_span *span, int result);
/* trc_span_end() inside the real call, which does something else now and may have registered a
 * handler of its own. */
void trc_span_end_inside(struct trc_span *span, int result);

static inline bool trc_locks_all(void)
{
	return TRC_UNLIKELY(trc_switch.locks == TRC_LOCKS_ALL);
}

static inline uint32_t trc_own_tid(void)
{
	return trc_self.tid ? trc_self.tid : (uint32_t)gettid();
}

/* Clocks and times that glibc refuses before it even looks at the lock. */
static inline bool trc_clock_known(clockid_t clock)
{
	return clock == CLOCK_REALTIME || clock == CLOCK_MONOTONIC;
}
static inline bool trc_time_valid(const struct timespec *time)
{
	return time && time->tv_nsec >= 0 && time->tv_nsec < 1000000000;
}

/*
 * TRC_CALL(type, name, REASON, object, may_wait, (parameters), (arguments)) interposes a call
 * that returns -1 and sets errno when it fails, and is recorded if it takes long.
 */
#define TRC_CALL(type, name, REASON, object, may_wait, parameters, arguments)                      \
	TRC_EXPORT type name parameters                                                            \
	{                                                                                          \
		struct trc_span span;                                                              \
		type result;                                                                       \
                                                                                                   \
		if (!trc_recording() || !(may_wait))                                               \
			return REAL(name) arguments;                                               \
		trc_span_begin(&span, TRC_REASON_##REASON, (uint64_t)(object));                    \
		result = REAL(name) arguments;                                                     \
		trc_span_end(&span, result == (type)-1 ? errno : 0);                               \
		return result;                                                                     \
	}

/*
 * TRC_CALL for a call on a descriptor, which may end another thread's wait for a descriptor.
 * `moved`: the call has read or written something.
 */
#define TRC_IO_CALL(type, name, REASON, fd, may_wait, moved, parameters, arguments)                \
	TRC_EXPORT type name parameters                                                            \
	{                                                                                          \
		struct trc_span span;                                                              \
		type result;                                                                       \
                                                                                                   \
		if (!trc_recording() || !(may_wait))                                               \
			return REAL(name) arguments;                                               \
		trc_span_begin(&span, TRC_REASON_##REASON, (uint64_t)(fd));                        \
		trc_io_begin(&span.io, TRC_REASON_##REASON, (fd), span.wait.since, true);          \
		result = REAL(name) arguments;                                                     \
		trc_io_returned(&span.io);                                                         \
		trc_span_end(&span, result == (type)-1 ? errno : 0);                               \
		trc_io_end(&span.io, moved);                                                       \
		return result;                                                                     \
	}

/* A second exported name of a function in the same file. */
#if __has_attribute(copy)
#define TRC_COPY_ATTRIBUTES(name) , copy(name)
#else
#define TRC_COPY_ATTRIBUTES(name)
#endif
#define TRC_ALIAS(alias_name, name)                                                                \
	TRC_EXPORT extern __typeof__(name) alias_name                                              \
		__attribute__((alias(#name) TRC_COPY_ATTRIBUTES(name)))

#endif
