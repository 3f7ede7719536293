/*
 * profile.h - a profile: values by stack and labels, from any derivation, on its way to pprof.
 *
 * block: the stack of the thread or fiber that waits, contentions/count and delay/nanoseconds.
 * mutex: the unlocker's stack, and the wait that its critical section caused to all
 * waiters; a contention is one waiter that waited during one section.
 * cpu: samples/count and cpu/nanoseconds, of whatever clock was sampled; any other event by its
 * name: samples/count, and its own name and unit.
 * offcpu: events/count and delay/nanoseconds: all time that threads did not run, by stack and reason;
 * always of threads, whether they run fibers or not.
 * wall: cpu and offcpu in one.
 * blame: delay/nanoseconds: the waits of the block profile, each moment of a thread once, by what in the end held
 * the thread up, through all waits between (analyzer/causes/blame.h).  The stack is that of a thread that ran, slept, or
 * waited for the outside; if this thread was not sampled, the stack of the unlock or signal that ended the waiting for it.
 * `cause` says which; labels are those of the waiting thread.
 * path: path/nanoseconds: the critical paths of tasks (analyzer/causes/causes.h), by the stack of what a task depended on, and by
 * `cause`; labels are those under which the task began.
 * hold: holds/count and held/nanoseconds: how long locks were held, at the stack that took them; with
 * --locks=all.
 * latency: latencies/count and delay/nanoseconds: from when threads could run until they ran, by switch records;
 * `off` says from what they came, `instead` who ran meanwhile.
 * heap, allocs: alloc_objects/count, alloc_space/bytes, inuse_objects/count and inuse_space/bytes, by
 * stack and size, as estimated from samples; what to look at first is what lives at the end, or what
 * was allocated.
 *
 *   profile:L1  the block profile has the waits that other threads of the program end: locks of
 *       every kind (file locks too), condition variables, semaphores, barriers, join, message
 *       queues, futexes, and waits that the program announced. Not in it, as in Go's: sleep, poll
 *       and epoll, child processes and signals, and reading, writing, receiving, sending,
 *       accepting, connecting, opening and fsync
 *   profile:L2  a wait in progress counts, up to the end of the trace: a deadlock shows
 *   profile:L3  time is counted once: a wait within a wait is taken off the outer one, if both
 *       are in the profile
 *   profile:L4  of waits, unlocks and allocations the innermost frames that are trc's or the C
 *       library's are left out (trc_profile_skip()); of samples of time nothing is: it was spent
 *       there
 *   profile:L5  offcpu: if the trace has switch records, a thread that the kernel took off its
 *       proc is off until it is put on a proc again.  Reason and stack are those of the wait that the thread
 *       is in, or none if it is in no known wait.  If the trace has no switch records, every wait counts, except
 *       waits for spin locks
 *   profile:L6  cpu: of two clocks that sampled a thread at the same time only the one with the
 *       lower number counts
 *   profile:L7  block: a fiber waits from the switch that leaves it to the one that runs it again,
 *       apart from the threads; so a thread with nothing to run waits at the same time
 *   profile:L8  offcpu: outside of recorded waits no stack was taken: the stack is that of the thread's
 *       last sample before.  `stack_kind` says so, and how long before.  No thread has a stack of
 *       another thread, nor of the program before an exec, whose threads are others
 *   profile:L9  cpu, wall, other events: the values of samples include lost samples
 *       (analyzer/derive/scaled.c); the numbers of samples do not.  The rest of the losses is a sample
 *       of its own, so that shares are of all.  With a selection this sample is left out: nobody knows to which
 *       thread and time it belongs
 *   profile:L10  with a selection (analyzer/model/selection.h) a wait has the part of its time that is inside, and
 *       mutex has the waiting that was caused to this part.  heap and allocs have the allocations inside; an
 *       allocation is in use if it lives at the trace's end
 *   profile:L12  path: has the tasks that are asked for; else all tasks without a parent, since a child's time is its
 *       parent's.  A task of which a part is selected counts whole
 *   profile:L11  a hold counts whole if its thread is inside at any time of it; a latency has what is inside
 */
#ifndef TRC_ANALYZER_PROFILE_PROFILE_H
#define TRC_ANALYZER_PROFILE_PROFILE_H

#include "analyzer/model/model.h"

enum {
	TRC_PROFILE_VALUES_MAX = 4,
	TRC_PROFILE_COMMENTS_MAX = 12,
	/* Why a thread is off its proc: an enum trc_reason, or one of these. */
	TRC_OFF_NOT = 0,	 /* it is not, or the profile does not tell */
	TRC_OFF_PREEMPTED = 254, /* it could have gone on */
	TRC_OFF_UNKNOWN = 255,	 /* in no wait that is recorded */
};

/* Whether the stack is of that moment (L8). */
enum trc_stack_kind {
	TRC_STACK_EXACT,
	TRC_STACK_BEFORE,      /* of a sample at most TRC_STACK_NEAR_NS before */
	TRC_STACK_LONG_BEFORE, /* of an older one */
	TRC_STACK_UNSEEN,      /* none: of what no sample was taken (L9) */
};

#define TRC_STACK_NEAR_NS INT64_C(100000000)

struct trc_profile_type {
	const char *type, *unit;
};

struct trc_profile_sample {
	uint32_t stack, labels;
	uint8_t off;	    /* TRC_OFF_* */
	uint8_t stack_kind; /* enum trc_stack_kind */
	uint8_t cause;	    /* blame: enum trc_cause_kind; else 0 */
	int64_t value[TRC_PROFILE_VALUES_MAX];
	uint64_t bytes;	  /* heap, allocs: of each object */
	uint32_t instead; /* latency: the thread that ran longest meanwhile; 0 = none */
};

struct trc_profile {
	struct trc_profile_type type[TRC_PROFILE_VALUES_MAX]; /* of value[] */
	size_t n_types;
	size_t main_type; /* the one to look at first */
	struct trc_profile_type period_type;
	int64_t period;
	bool of_program; /* L4: frames are left out of all samples; else of those with `off` */
	bool sized;	 /* `bytes` is told */
	const char *labels_of; /* what stands before the keys of labels; NULL = nothing */
	struct trc_profile_sample *sample; /* by the main value, largest first */
	size_t n_samples;
	char *comment[TRC_PROFILE_COMMENTS_MAX]; /* what is worth knowing, a line each */
	size_t n_comments;
};

/*
 * `name` is block, mutex, blame, path, hold, cpu, offcpu, latency, wall, heap, allocs, or the name of a sampled event, with its suffix or
 * without.  Only of what the model's selection has (analyzer/model/selection.h).  On success *out is the
 * caller's: trc_profile_free() it.  -ENOENT: the trace has nothing of that name.
 */
int trc_profile_derive(struct trc_profile **out, struct trc_model *m, const char *name,
		       struct trc_error *error);
void trc_profile_free(struct trc_profile *p); /* accepts NULL */
/* The gzip-compressed pprof protobuf, to an open file. 0 or -errno. */
int trc_profile_write_pprof(const struct trc_profile *p, struct trc_model *m, int fd,
			    struct trc_error *error);
/* "mutex", ...; "preempted", "unknown"; NULL for TRC_OFF_NOT. */
const char *trc_profile_off_name(const struct trc_model *m, uint8_t off);

/*
 * Index of the first frame of this stack that is the program's own, relative to the stack's
 * first in trc_stacks.stack_frame: frames in trc's objects, libc, the dynamic
 * linker and the C++ library are passed over.  Where there are no others, only
 * trc's are; where those are all there is, none.
 */
size_t trc_profile_skip(const struct trc_stacks *stacks, struct trc_model *m, uint32_t stack);
/* The same, where only trc's frames are passed over. */
size_t trc_profile_skip_trc(const struct trc_stacks *stacks, struct trc_model *m, uint32_t stack);
/* Index after the last frame that is the program's own, so that how its threads are started is
 * left out too; all frames where there is none. */
size_t trc_profile_limit(const struct trc_stacks *stacks, struct trc_model *m, uint32_t stack);
/*
 * The frames that a person looks for first: from trc_profile_skip() to trc_profile_limit(), and at both ends without
 * functions from headers of the system or the library of the program's language (a wait is where std::mutex::lock()
 * was called), and without the way in which a Java virtual machine waits.  If no other frames are left, all of the
 * program's own frames.  Returns the first index; *end is after the last.
 */
size_t trc_profile_own(const struct trc_stacks *stacks, struct trc_model *m, uint32_t stack,
		       size_t *end);
/* Whether HotSpot waits there for the one object that it has for each thread, whatever the thread waits for. */
bool trc_profile_is_hotspot_event(const struct trc_stacks *stacks, const struct trc_model *m,
				  uint32_t stack);
/* Whether stack_frame[at] is in one of trc's objects: pthread_once() calls the program's function through it. */
bool trc_profile_is_trc(const struct trc_stacks *stacks, const struct trc_model *m, uint32_t at);

#endif
