/*
 * hot.h - what interposers and the public API call to record: the hot side of libtrc.
 *
 * Every function here may be called by any traced thread, in signal handlers and while any lock is
 * held.  No function allocates, locks, prints or changes errno.  All functions do nothing while
 * nothing records.  Files whose functions record events include recorder/unwind/poison.h last: the
 * header makes compile errors of functions that may not be used there.
 */
#ifndef TRC_RECORDER_RING_HOT_H
#define TRC_RECORDER_RING_HOT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include "format/schema.h"
#include "recorder/shared/layout.h"

/*
 * Whether this process records.  Lies on a page of its own that reads as zero in a forked child
 * (MADV_WIPEONFORK): a child records nothing until it starts its own recording.
 */
struct trc_switch {
	_Atomic uint32_t on;  /* 0, or the number of the session while this process is recorded */
	uint32_t locks;	      /* enum trc_locks, copied from the options */
	_Atomic uint32_t api; /* as `on`; TRC_API_ELSEWHERE while another object records for
				  the public functions of this one */
	uint64_t wait_ticks;  /* waits shorter than this are not recorded (trc_wait_end()) */
	_Atomic uint64_t heap_period; /* bytes between two samples of allocations; 0 = none */
	_Atomic(const struct trc_heap_filter *) heap_filter; /* NULL = no object is known */
	_Atomic uint64_t otel;	      /* where threads publish their contexts (otel.h) */
	_Atomic uint64_t otel_search; /* ticks from which on that is looked for again */
};
union trc_switch_page {
	struct trc_switch sw;
	char page[65536]; /* the largest page size */
};
enum { TRC_API_ELSEWHERE = 0x7fffffff }; /* no session's number */
extern TRC_HIDDEN union trc_switch_page trc_switch_page;
#define trc_switch (trc_switch_page.sw)

/* The trace and span that a thread works for, by OpenTelemetry's numbers: all 0 = not known. */
struct trc_otel_context {
	uint64_t trace[2], span;
};

/* What the recorder keeps of the calling thread (initial-exec thread-local). */
struct trc_self {
	union {
		struct {
			uint32_t session; /* the session of serial and slot; 0 = none */
			uint32_t quiet;	  /* depth: records nothing: trc's own threads,
					     vfork children */
		};
		uint64_t session_if_loud; /* both at once, for one comparison */
	};
	uint32_t serial;
	uint32_t tid;
	uint64_t serial_word; /* serial << 32: word 1 of a record without its lower half */
	/* The ring used last: the right ring while the thread is on that ring's proc.
	 * counter_ring is the same ring if the clock is a counter, else a ring of no proc. */
	struct trc_ring *ring, *counter_ring;
	struct trc_slot *slot; /* never NULL in its session; a private one if none was free */
	uint32_t locks_held;   /* interposed locks: while > 0 recording never waits for room */
	bool has_wanted;       /* `wanted` has some, or wake_owed */
	bool slot_busy;	       /* in the middle of changing the slot */
	bool attaching;	       /* for a few instructions: attaching has begun and not ended */
	bool on_fiber;	       /* it runs a fiber that is not its root (fiber.h) */
	bool ended;	       /* its last destructor has run: it records nothing any more */
	bool wake_owed;	       /* it wakes the drainer when it holds no lock any more (room:W4) */
	uint32_t no_wait;      /* depth: inside malloc, fork, dl* interposers, trc's own work */
	uint64_t labels;       /* the label set's id in this session; 0 = none */
	/* The signal of a sample, and no signal that the program can see, has interrupted a system
	 * call of this thread: the program must not see EINTR (interpose/restart.h). */
	bool interrupted;
	uint64_t handled; /* signals that handlers of the program's ran for (interpose/restart.h) */
	void *sampler;	  /* what samples this thread (sample.c); NULL = nothing */
	uint64_t sample_looked; /* ticks of its last look after timers (sample.h) */
	bool wait_seen;		/* one of those was before a wait (sample_turn.c) */
	uint16_t threads_made;	/* by this thread, since that was looked at (sample_turn.c) */
	uint64_t heap_period;	/* the period that heap_left was drawn for */
	uint64_t heap_left; /* bytes to allocate up to the next sample, and with the one drawn */
	uint64_t heap_random;
	uint64_t heap_due; /* allocations that were due (heap.c) */
	bool heap_busy;	   /* allocations are now the recorder's, not the program's */
	/* Locks that this thread took while threads waited for them, and has not given back since:
	 * address and time.  Some of them; a lock of 0 = none. */
	struct {
		uint64_t lock, since;
	} wanted[4];
	struct trc_otel_context otel; /* as its last otel_context event of the session says */
	uint64_t otel_told;	      /* ticks of that event */
	/* By the place of a call that may wait: how many of the last ones there have waited, one after
	 * the other, up to 2 (emit.c). */
	uint8_t have_waited[16];
	uint32_t closes; /* calls of dlclose() that it is in (closing.c) */
	uint64_t
		otel_busy; /* ticks since when these are being changed, 0 = they are not (otel.c) */
};
extern TRC_HIDDEN __thread struct trc_self trc_self __attribute__((tls_model("initial-exec")));

/* The one test on every path: one relaxed load and a predicted branch. */
static inline bool trc_recording(void)
{
	/* relaxed: a thread attaches to a session with an acquire before it uses anything of the
	 * session (threads.c); a late or early event at the edge is harmless. */
	return __builtin_expect(atomic_load_explicit(&trc_switch.on, memory_order_relaxed) != 0, 0);
}

static inline void trc_lock_taken(void)
{
	trc_self.locks_held++;
}
static inline void trc_lock_given(void)
{
	if (trc_self.locks_held)
		trc_self.locks_held--;
}

/* This thread took the lock while other threads waited for it: its UNLOCK will say since when it was
 * held. */
void trc_lock_taken_from_others(const volatile void *lock);
/* Forgets when the lock was taken before. */
void trc_lock_forget_taken(const volatile void *lock);

/* ---- waits ---------------------------------------------------------------------------- */

/* Lives on the waiting thread's stack from begin to end. */
struct trc_wait {
	uint64_t since; /* ticks; 0 = nothing was begun (not recording) */
	uint64_t object;
	uint32_t session;
	uint32_t reason;     /* enum trc_reason */
	uint32_t counted;    /* in the table of waiters: of which process (waiters.c); 0 = not */
	uint32_t cond_place; /* in the table of waits for conditions (signalled.c); 0 = none */
	uint32_t place;	     /* of a call that may wait: in trc_self.have_waited */
	uint64_t stack;	     /* of such a call; 0 = it was not taken at its beginning */
	uint64_t
		cond_mutex; /* of a wait for a condition: what it gives up; 0 = it is no such wait */
};

/*
 * Announces a wait: makes the PARK event with a stack, writes into the thread's slot what the
 * thread waits for, and counts one more waiter of the object.  `holder_tid` is the kernel thread id
 * of the object's holder, 0 = not known.  The caller then calls trc_resume() in every case, also
 * when the wait is cancelled (pthread_cleanup_push).  `result` is 0 or a positive errno.
 */
void trc_park(struct trc_wait *wait, enum trc_reason reason, const void *object,
	      uint32_t holder_tid);
/* trc_park() with the holder's serial (the thread that is joined). */
void trc_park_on_thread(struct trc_wait *wait, enum trc_reason reason, const void *object,
			uint32_t holder_serial);
void trc_resume(struct trc_wait *wait, int result);

/*
 * Begins a call that may or may not wait: fills in the slot and reads the clock.  trc_wait_end()
 * makes one WAIT event, if the call took at least trc_switch.wait_ticks and the thread was taken
 * off its proc, as far as this is known (offproc.h).  `from` is a frame of the caller's that stays
 * until the call ends: readers find the thread's stack by it meanwhile; NULL = they do not.  The
 * slot also has the stack itself if the last two calls of the thread from that place have waited.
 */
struct trc_registers;
void trc_wait_begin(struct trc_wait *wait, enum trc_reason reason, uint64_t object,
		    const struct trc_registers *from);
void trc_wait_end(struct trc_wait *wait, int result);
/* trc_wait_end() for a call that does not return: the thread is cancelled, or jumps out of the
 * call.  The stack of the event is the stack of the frame `from`. */
void trc_wait_abandoned(struct trc_wait *wait, int result);
/* How long the wait has lasted up to now, at least 1 ns; 0 = no wait was begun. */
uint64_t trc_wait_lasted_ns(const struct trc_wait *wait);

/* How many threads are parked on this object, which is no lock.  Hashed: the count may include
 * waiters of another object, and is never too small.  The filter before trc_unparked(). */
uint32_t trc_waiters(const void *object);
/* trc_waiters() for a lock.  The filter before trc_unlocked(). */
uint32_t trc_lock_waiters(const void *lock);

/* The table of parked threads: at each place their number, and the sum of their objects' addresses
 * (waiters.c).  A forked child reads zero. */
enum { TRC_WAITER_PLACES = 4096 };
struct trc_waiting {
	_Atomic uint64_t lock[TRC_WAITER_PLACES], other[TRC_WAITER_PLACES];
	/* Which mutex was released last while a thread waited, and when, in ticks. */
	struct trc_released {
		_Atomic uint64_t lock, at;
	} released[TRC_WAITER_PLACES];
	_Atomic uint64_t gave_up[1024]; /* locks */
	_Atomic uint32_t first_session; /* of this process; 0 = none yet, nobody is counted */
};
union trc_waiting_pages {
	struct trc_waiting w;
	char pages[3 * 65536];
};
_Static_assert(sizeof(union trc_waiting_pages) == 3 * 65536, "whole pages of any size");
extern TRC_HIDDEN union trc_waiting_pages trc_waiting_pages;
#define trc_waiting (trc_waiting_pages.w)

static inline uint32_t trc_waiter_place(uint64_t object)
{
	return (uint32_t)((object >> 3) * UINT64_C(0x9e3779b97f4a7c15) >> 52);
}

/* False: nobody is parked on this lock.  Cheap enough for a lock that nobody wants. */
static inline bool trc_lock_is_wanted(const volatile void *lock)
{
	/* relaxed: a waiter that is only just arriving parks after this moment. */
	return __builtin_expect(
		atomic_load_explicit(&trc_waiting.lock[trc_waiter_place((uintptr_t)lock)],
				     memory_order_relaxed) != 0,
		0);
}

/* After taking a lock that one thread at a time can have. */
static inline void trc_lock_taken_alone(const volatile void *lock)
{
	trc_lock_taken();
	if (trc_lock_is_wanted(lock))
		trc_lock_taken_from_others(lock);
	else if (__builtin_expect(trc_self.has_wanted, 0))
		/* It may have been given back by a call that was not seen. */
		trc_lock_forget_taken(lock);
}

/* After giving back a lock for which nobody waits; the lock may be gone. */
static inline void trc_lock_given_unwanted(const volatile void *lock)
{
	trc_lock_given();
	if (__builtin_expect(trc_self.has_wanted, 0))
		trc_lock_forget_taken(lock);
}

/* Adds n waiters of a lock; n may be negative. */
void trc_lock_waiters_add(uint64_t lock, int n);

/* After trc_park() for a condition, just before the real call: `mutex` is what the call gives
 * up. */
void trc_cond_waits(struct trc_wait *wait, const void *mutex);
/* Before a signal to `count` waiters: so many threads wait for their mutex from now, `at`, on. */
void trc_cond_signalled(const void *cond, uint64_t count, uint64_t at);
/* After the real call: the thread waits no more.  Returns when it was signalled; 0 = not known. */
uint64_t trc_cond_returned(struct trc_wait *wait, bool woken);
/* Before releasing a mutex that other threads wait for: returns the time for `at`. */
uint64_t trc_lock_releasing(const void *lock);

/* The time for `at`: taken before a release. */
uint64_t trc_now(void);
/* After releasing a lock that other threads wait for: makes UNLOCK.  Called by the thread that took
 * the lock. */
void trc_unlocked(enum trc_reason reason, const void *object, uint32_t waiters, uint64_t at);
/* After waking waiters: makes UNPARK; count ~0 = all. */
void trc_unparked(enum trc_reason reason, const void *object, uint64_t count, uint64_t at);
/* Only with --locks=all.  `tried`: by a call that would not have waited. */
void trc_acquired(enum trc_reason reason, const void *object, bool tried);
void trc_released(enum trc_reason reason, const void *object);

/* ---- threads -------------------------------------------------------------------------- */

/* In the creator: returns the creator's serial (0 = not recording), the stack of the
 * creation, and the time. */
uint32_t trc_thread_creating(uint64_t *stack, uint64_t *at);
/* First call in a new thread: takes a slot and makes THREAD_START.  If a signal handler has done so
 * already, this call only stores the creator in the slot, and the stack of the creation is lost.
 * `created`: when trc_thread_creating() was called; 0 = not known.  `stack_bytes`: size of the thread's own stack, as its attributes say; 0 = not known. */
void trc_thread_started(uint32_t creator, uint64_t creation_stack, uint64_t created,
			size_t stack_bytes);
/* Last call in a thread: makes THREAD_EXIT and gives the slot back.  Further events of this thread
 * (later destructors, signal handlers) are not recorded if trc_self.ended is set; else they would
 * take a new serial. */
void trc_thread_ended(void);
/* Called by a thread that was not created while recording, at its first event. NULL = none. */
extern TRC_HIDDEN void (*trc_attach_hook)(void);
/* Called by a thread that has something to give back at its end.  False: the thread's end will not
 * be noticed.  NULL = no thread's end is noticed. */
extern TRC_HIDDEN bool (*trc_thread_end_hook)(void);
/* `thread` is a pthread_t, `tid` the kernel's id of the thread, 0 = not known: a thread that found
 * no slot is named by its tid. */
void trc_thread_named(uint64_t thread, uint32_t tid, const char *name);
/* The serial of a thread of this process by its pthread_t; 0 = not known. */
uint32_t trc_thread_serial(uint64_t thread);

/* ---- labels ----------------------------------------------------------------------------- */

struct trace_labels;
/* The label set in force for the calling thread, recording or not; NULL = none.  Borrowed. */
const struct trace_labels *trc_labels_now(void);
/* Takes another reference; gives a reference back, the last one not in signal handlers.  NULL is
 * allowed. */
const struct trace_labels *trc_labels_ref(const struct trace_labels *labels);
void trc_labels_unref(const struct trace_labels *labels);
/* In a new thread, before trc_thread_started(): takes over a reference of its creator's. */
void trc_labels_inherit(const struct trace_labels *labels);
/* After trc_thread_ended(): gives the thread's reference back. */
void trc_labels_leave(void);
/* The thread's thread-specific destructors run: the thread gives back the sets that it keeps, and
 * keeps no sets from now on (labels:J7). */
void trc_labels_kept_end(void);

/* ---- the heap (heap.c) ------------------------------------------------------------------ */

/* True while allocations are sampled. */
static inline bool trc_heap_is_sampled(void)
{
	/* relaxed: an allocation at the edge is drawn, or not. */
	return __builtin_expect(
		atomic_load_explicit(&trc_switch.heap_period, memory_order_relaxed) != 0, 0);
}

/*
 * Counts an allocation, before or after it is made.  False: a sample is due, and the caller calls
 * trc_heap_due() when the allocation has been made.  If the allocation fails, later samples stay
 * right: the rest of a distance has the distribution of the whole distance.
 */
static inline bool trc_heap_passes(size_t n_bytes)
{
	uint64_t period = atomic_load_explicit(&trc_switch.heap_period, memory_order_relaxed);
	uint64_t bytes, left;

	if (__builtin_expect(!period, 1))
		return true;
	/* Before this object is relocated its thread-locals cannot be read: the compiler must not
	 * move their reads before the test of the period. */
	__asm__ volatile("" ::: "memory");
	/* An allocation of 0 bytes counts as 1, so that it can be drawn, too. */
	bytes = n_bytes + !n_bytes;
	left = trc_self.heap_left;
	if (__builtin_expect(left <= bytes || trc_self.heap_period != period, 0))
		return false;
	trc_self.heap_left = left - bytes;
	return true;
}

/* After an allocation that is due: draws the next distance, and records this allocation if it is
 * drawn.  `object` is NULL if the allocation failed.  errno is left as it is. */
void trc_heap_due(const void *object, uint64_t n_bytes);

/* trc_heap_passes() and trc_heap_due(), after an allocation. */
static inline void trc_heap_allocated(const void *object, size_t n_bytes)
{
	if (object && !trc_heap_passes(n_bytes))
		trc_heap_due(object, n_bytes);
}

/* What this thread has counted up to now: changes with every allocation. */
struct trc_heap_count {
	uint64_t left, due;
};
static inline struct trc_heap_count trc_heap_counted(void)
{
	return (struct trc_heap_count){trc_self.heap_left, trc_self.heap_due};
}
static inline bool trc_heap_counted_since(struct trc_heap_count before)
{
	return trc_self.heap_left != before.left || trc_self.heap_due != before.due;
}

/*
 * The filter of sampled objects has two parts: a coarse part, which stays in the processor's
 * nearest caches, then a fine part, for many objects.  Neighbours in memory are neighbours in both
 * parts.  A cell of the coarse part that stands for one address also tells which address.
 * Otherwise each address that shares the cell would cost a look at the fine part, which is in no
 * cache.
 */
enum { TRC_HEAP_COARSE_CELLS = 1 << 12, TRC_HEAP_FILTER_BYTES = 1 << 20 };
/* A cell: the number of its objects, and all their marks, by exclusive or. */
enum { TRC_HEAP_CELL_ONE = 1 << 8, TRC_HEAP_CELL_MARKS = TRC_HEAP_CELL_ONE - 1 };

struct trc_heap_filter {
	_Atomic uint16_t coarse[TRC_HEAP_COARSE_CELLS];
	_Atomic uint8_t fine[TRC_HEAP_FILTER_BYTES];
};

static inline uint32_t trc_heap_coarse_index(uint64_t address)
{
	return (uint32_t)((address >> 4 ^ address >> 16) % TRC_HEAP_COARSE_CELLS);
}

static inline uint32_t trc_heap_fine_index(uint64_t address)
{
	return (uint32_t)((address >> 4 ^ address >> 24) % TRC_HEAP_FILTER_BYTES);
}

static inline uint16_t trc_heap_mark(uint64_t address)
{
	return (uint16_t)((address >> 4) * UINT64_C(0x9e3779b97f4a7c15) >> 56);
}

static inline const struct trc_heap_filter *trc_heap_filter(void)
{
	/* Its cells are found by its value: no order is needed between the two. */
	return atomic_load_explicit(&trc_switch.heap_filter, memory_order_relaxed);
}

/* False: the object was not sampled.  If true, trc_heap_probably_knows() tells more. */
static inline bool trc_heap_may_know(const void *object)
{
	const struct trc_heap_filter *filter = trc_heap_filter();
	uint32_t i = trc_heap_coarse_index((uintptr_t)object);

	return __builtin_expect(
		filter && atomic_load_explicit(&filter->coarse[i], memory_order_relaxed) != 0, 0);
}

/* As trc_heap_may_know(), and false for nearly all objects that were not sampled. */
static inline bool trc_heap_probably_knows(const void *object)
{
	const struct trc_heap_filter *filter = trc_heap_filter();
	uint64_t address = (uintptr_t)object;
	uint32_t cell;

	if (!filter)
		return false;
	cell = atomic_load_explicit(&filter->coarse[trc_heap_coarse_index(address)],
				    memory_order_relaxed);
	if (cell < 2 * TRC_HEAP_CELL_ONE && cell != (TRC_HEAP_CELL_ONE | trc_heap_mark(address)))
		return false;
	return atomic_load_explicit(&filter->fine[trc_heap_fine_index(address)],
				    memory_order_relaxed) != 0;
}

/* Before the release of an object that may be known. */
void trc_heap_freed(const void *object);

/* An object on its way through realloc(). */
struct trc_heap_move {
	const void *object;
	_Atomic uint64_t *key; /* NULL = it is not known */
};
/* Before the call, for an object that may be known; and after the call: the object has ended, or
 * is unchanged. */
void trc_heap_moving(struct trc_heap_move *move, const void *object);
void trc_heap_moved(const struct trc_heap_move *move, bool ended);

/* Ends the recording of this process for good, and says why by a log event.  Context: any
 * thread. */
void trc_give_up(const char *why);

/* ---- process -------------------------------------------------------------------------- */

/* Around fork(): in the parent before the call (no lock is held on return); in parent and child
 * after the call. */
void trc_fork_prepare(void);
void trc_fork_parent(int child_pid);
/* Gives up the parent's rings, which are not mapped in the child, then starts the child's own
 * recording if the session says so (--follow).  Context: the child's only thread. */
void trc_fork_child(void);
/* Before an exec: takes the pending signals of samplers and of questions (thread_answer.h), which
 * would end the next program.  False: there was nothing to do.
 * After a failed exec: the thread is sampled and asked again; with `signals_lost` all threads
 * are. */
bool trc_sample_exec_begin(void);
void trc_sample_exec_failed(bool signals_lost);
/* The program has closed this descriptor, or (-1) perhaps all.  Samplers whose descriptors were
 * closed get new ones.  With `own_only` the descriptors were closed for the calling thread
 * alone. */
void trc_sample_descriptors_closed(int fd, bool own_only);
/* trc_sample_descriptors_closed() for one descriptor; quick if the descriptor is no sampler's. */
void trc_sample_descriptor_closed(int fd);
/* Before dlclose(): stacks from now on belong to a new module epoch.  May block (closing.h). */
void trc_modules_changing(void);
/* After dlclose(): addresses may belong to other code now. */
void trc_modules_changed(void);
void trc_process_event(enum trc_process_what what, uint64_t value);
/* How many procs the process may use from now on. */
void trc_procs_changed(uint32_t n_procs);

#endif
