/*
 * <trc/trace.h> - record this program: events, tasks, regions, messages and counters.
 *
 * Link with -ltrc (pkg-config: trc).  Waits for locks, condition variables, sockets and so on are
 * recorded without any call.  The functions here start a recording, and record what only the
 * program knows.  Under trace-record the program is recorded already: trace_start() then succeeds,
 * and what the program records goes into that trace.
 *
 * Names in all headers: a function that does something is object and verb, as trace_task_begin().
 * A function that only tells something is a noun or adjective, as trace_version().  What _create()
 * makes, _destroy() gives back.  Structures of options begin with struct_bytes, and are set up
 * with the macro ..._INIT.
 *
 * Functions that can fail return 0 or a negative errno; trace_last_error() then says why.  Unless
 * its comment says otherwise, a function is thread safe and signal safe, leaves errno alone, and
 * costs a load and a branch while nothing records.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TRC_TRACE_H
#define TRC_TRACE_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__clang__)
#define TRC_API __attribute__((visibility("default")))
#else /* noplt: while nothing records, a detour over the PLT would be most of a call */
#define TRC_API __attribute__((visibility("default"), noplt))
#endif

/* Which events of locks are recorded. */
enum trace_locks {
	TRACE_LOCKS_CONTENDED = 0, /* waits, and the unlocks that ended them */
	TRACE_LOCKS_ALL = 1,	   /* every lock and unlock as well */
	TRACE_LOCKS_NONE = 2,	   /* no events of locks */
};

/* What happens to an event while the memory for events is full. */
enum trace_on_full {
	TRACE_ON_FULL_WAIT = 0, /* its thread waits for room, at most 100 ms; then as DROP */
	TRACE_ON_FULL_DROP = 1, /* the event is dropped, and the trace counts it */
};

/* How stacks are taken. */
enum trace_unwind {
	TRACE_UNWIND_AUTO = 0,	    /* by unwind tables, cached: needs no frame pointers */
	TRACE_UNWIND_FP = 1,	    /* by frame pointers */
	TRACE_UNWIND_LIBUNWIND = 2, /* by libunwind */
	TRACE_UNWIND_NONE = 3,	    /* no stacks */
};

/* Set up with TRACE_OPTIONS_INIT: then programs keep working when fields are added. */
struct trace_options {
	size_t struct_bytes;
	uint64_t ring_bytes; /* memory for the events of each processor; 0 = 4 MiB */
	enum trace_locks locks;
	enum trace_on_full on_full;
	enum trace_unwind unwind;
	/* Shorter I/O, polls and sleeps are left out; 0 = 1000.  Waits for locks are always recorded */
	uint64_t min_wait_ns;
	/* The directory of the memory for events, a tmpfs; NULL = $TRC_RING_DIR, or /dev/shm */
	const char *ring_dir;
	/* Mean number of allocated bytes between two samples of the heap; 1 = every allocation; at
	 * most 1 TiB; 0 = $TRC_HEAP, or no samples */
	uint64_t heap_sample_bytes;
};
#define TRACE_OPTIONS_INIT                                                                         \
	{                                                                                          \
		sizeof(struct trace_options), 0, TRACE_LOCKS_CONTENDED, TRACE_ON_FULL_WAIT,        \
			TRACE_UNWIND_AUTO, 0, NULL, 0                                              \
	}

/**
 * Starts to record this process into the file `path`, created with mode 0600.  An older file of
 * that name is replaced as soon as the new file can be read.  `options` may be NULL for the
 * defaults; both are only read during the call.
 *
 * Beside a flight recorder, the trace uses that recorder's memory: ring_bytes and ring_dir have no
 * effect.  Under trace-record nothing is started: the call returns 0, and trace_last_error() says
 * whose trace records the program.
 *
 * Returns 0; -EBUSY: a trace runs already; -EINVAL: options out of range; or another negative
 * errno: the file or the memory could not be created.  trace_last_error() says why.
 * Thread safe, not signal safe.
 */
TRC_API int trace_start(const char *path, const struct trace_options *options);

/**
 * Ends the trace and completes its file.  exit() does this for a trace that still runs.
 * Returns 0; -EINVAL: no trace runs; or the negative errno of the first failure since the start (a
 * full disk, say): the file is then readable up to that point, and trace_last_error() says why.
 * Thread safe, not signal safe.
 */
TRC_API int trace_stop(void);

/** True while this process is recorded: by trace_start(), trace_flight_start() or trace-record. */
TRC_API bool trace_enabled(void);

/**
 * Returns a sentence about the calling thread's last call of a function that can return an error:
 * why it failed, or a warning after success; "" = nothing to say.  The text is the library's, and
 * valid until the thread's next such call.  Functions that are signal safe leave the sentence
 * alone.
 * Thread safe, not signal safe.
 */
TRC_API const char *trace_last_error(void);

/** Returns the version of the loaded library, "major.minor.patch". */
TRC_API const char *trace_version(void);

/* ---- the flight recorder: always on, the last seconds at hand ----------------------------- */

/*
 * Set up with TRACE_FLIGHT_OPTIONS_INIT: then programs keep working when fields are added.
 *
 * Each string in trigger_on is a condition; if it is met, the recorder takes a snapshot:
 *
 *	"park>100ms"		 a thread waits longer for a lock, condition variable, semaphore,
 *				 barrier, thread or once
 *	"park:mutex,cond>100ms"	 the same, only for these reasons, named as in traces
 *	"region:NAME>50ms"	 a region of type NAME took longer
 *	"task:NAME>200ms"	 a task of type NAME took longer
 *	"signal=USR2"		 the process received the signal
 *	"exit"			 the process ends by exit()
 *
 * Durations take the units ns, us, ms and s.
 */
struct trace_flight_options {
	size_t struct_bytes;
	/* How far back snapshots go; 0 = 10 s.  A snapshot is shorter if max_bytes holds less */
	uint64_t min_age_ns;
	/* Limit of all shared memory, tables included; never exceeded.  0 = 64 MiB; beside a trace
	 * that runs already, 0 = the memory of that trace */
	uint64_t max_bytes;
	enum trace_locks locks;
	enum trace_unwind unwind;
	uint64_t min_wait_ns; /* as in struct trace_options */
	const char *ring_dir; /* as in struct trace_options */

	const char *const *trigger_on; /* conditions, the last one NULL; NULL = none */
	/* Where snapshots of triggers go: "odd.trc" becomes odd.1.trc, odd.2.trc and so on.  NULL = no
	 * triggers; the recorder then has no thread of its own */
	const char *trigger_path;
	uint64_t trigger_after_ns; /* from a trigger to its snapshot, to record what follows */
	uint64_t trigger_every_ns; /* least time between two snapshots of triggers; 0 = 10 s */
	unsigned int trigger_max;  /* snapshots of triggers in all; 0 = 10, UINT_MAX = no limit */
	/* Forked children get a flight recorder of their own, of the same size.  The names of its
	 * triggered snapshots contain the child's pid */
	bool children;
};
#define TRACE_FLIGHT_OPTIONS_INIT                                                                  \
	{                                                                                          \
		sizeof(struct trace_flight_options), 0, 0, TRACE_LOCKS_CONTENDED,                  \
			TRACE_UNWIND_AUTO, 0, NULL, NULL, NULL, 0, 0, 0, false                     \
	}

/**
 * Starts the flight recorder: it keeps the last seconds of this process in shared memory of fixed
 * size.  New events overwrite the oldest; a snapshot writes them to a file.  `options` may be NULL
 * for the defaults; they are only read during the call.
 *
 * If ring_dir has no room for max_bytes, the recorder takes a half, a quarter and so on, down to a
 * useful minimum.  The call then returns 0, and trace_last_error() says how much memory there is.
 *
 * A trace of trace_start() may run at the same time, started before or after.  Both record the same
 * events into the same memory; locks, unwind, min_wait_ns and ring_dir are those of the first.
 * Under trace-record nothing is started and the call returns 0: trace-record serves snapshots and
 * triggers.
 *
 * Returns 0; -EBUSY: a flight recorder runs already; -EINVAL: options out of range, a condition
 * that is not understood, or a max_bytes too small for this number of processors; -EFBIG:
 * max_bytes is less than the memory of the trace that runs; or another negative errno.
 * trace_last_error() says why.
 * Thread safe, not signal safe.
 */
TRC_API int trace_flight_start(const struct trace_flight_options *options);

/**
 * Stops the flight recorder; the events it holds are gone.  A trace that runs goes on.  The call
 * waits for snapshots that are being copied, and takes a triggered snapshot that is still due.
 * exit() stops the recorder too, after the snapshot for "exit".
 * Returns 0; -EINVAL: no flight recorder runs; or the negative errno of the first triggered
 * snapshot that could not be written (the recorder is stopped all the same).
 * Thread safe, not signal safe.
 */
TRC_API int trace_flight_stop(void);

/** True while trace_flight_snapshot() can succeed: a flight recorder runs, or trace-record records
 * this process. */
TRC_API bool trace_flight_enabled(void);

/* For window_ns.  COMPLETE goes as far back as no event is missing.  ALL takes every event that is
 * held: the events of some processors then go further back than those of others. */
#define TRACE_WINDOW_COMPLETE UINT64_MAX
#define TRACE_WINDOW_ALL      (UINT64_MAX - 1)

/* Set up with TRACE_SNAPSHOT_OPTIONS_INIT: then programs keep working when fields are added. */
struct trace_snapshot_options {
	size_t struct_bytes;
	/* Where the snapshot goes if `path` is NULL: a file, pipe or socket, open for writing, which
	 * stays the caller's.  -1 = nowhere */
	int fd;
	uint64_t window_ns; /* how far back the snapshot goes; 0 = min_age_ns of the recorder */
};
#define TRACE_SNAPSHOT_OPTIONS_INIT                                                                \
	{                                                                                          \
		sizeof(struct trace_snapshot_options), -1, 0                                       \
	}

/**
 * Writes the last events of the flight recorder as a trace.  The recorder goes on, and the events
 * stay in it.  `options` may be NULL for the defaults; they are only read during the call.
 *
 * With a `path`, the trace goes into the file of that name, created with mode 0600.  The file
 * appears when it is complete; an older file of that name stays until then.  With a `path` of NULL,
 * the trace goes to options->fd, from the descriptor's current offset on.  The call waits for a
 * non-blocking descriptor, and the program sees no SIGPIPE.  If the call fails, a part of the trace
 * may have been written there.
 *
 * The calling thread copies, encodes and writes; no other thread waits.  The call needs 64 KiB of
 * stack, and as much memory as the recorder holds.  Any number of threads may take snapshots at the
 * same time.
 *
 * Returns 0; -EINVAL: no flight recorder runs, an empty path, or both a path and a descriptor;
 * -EBADF: `path` is NULL, and fd is not open for writing; -EPIPE: nobody reads fd; or another
 * negative errno.  trace_last_error() says why.
 * Thread safe, not signal safe: a signal handler calls trace_flight_trigger().
 */
TRC_API int trace_flight_snapshot(const char *path, const struct trace_snapshot_options *options);

/**
 * Asks for a snapshot and returns at once.  The recorder's own thread takes the snapshot after
 * trigger_after_ns, within the limits of trigger_every_ns and trigger_max.  `reason` is recorded
 * as an event of the calling thread, and stands in the table trace_info of the snapshot; bytes
 * beyond 95 are cut off.
 * Returns 0; -EINVAL: no flight recorder runs; or -ENOTSUP: the recorder has no trigger_path, and
 * only the event was recorded.
 * Under trace-record: 0; trace-record decides whether to take a snapshot.
 * Thread safe and signal safe; leaves trace_last_error() alone.
 */
TRC_API int trace_flight_trigger(const char *reason);

/* ---- sampling: where the CPU time goes ----------------------------------------------------- */

/* How samples are taken. */
enum trace_sampling_by {
	/* By the kernel or by a signal, whatever suits the event */
	TRACE_SAMPLING_BY_AUTO = 0,
	/* By a SIGPROF to the sampled thread: stacks need no frame pointers, and a sample has the
	 * labels of its moment */
	TRACE_SAMPLING_BY_SIGNAL = 1,
	/* By the kernel: no signal, but stacks need frame pointers.  Only into a trace of
	 * trace_start() */
	TRACE_SAMPLING_BY_KERNEL = 2,
};

/*
 * An event to sample.  Set up with TRACE_SAMPLING_EVENT_INIT: then programs keep working when
 * fields are added.
 *
 * Names of events:
 *
 *	"auto"			 cpu-clock if perf permits it, otherwise timer; at rates that timers can
 *				 keep, threads that have run for a while have timers
 *	"timer"			 POSIX timers of each thread's CPU time; at most one sample a kernel tick
 *	"cpu-clock", "task-clock" CPU time, by perf
 *	"page-faults", "context-switches"
 *	"cycles", "instructions", "cache-references", "cache-misses", "branches", "branch-misses"
 *	"rHEX"			 an event by its code in the processor's manual
 *
 * Modifiers follow a colon, as for perf: "cycles:u", "instructions:ppp".
 */
struct trace_sampling_event {
	size_t struct_bytes;
	const char *name;
	/* Give either a period or a frequency.  If both are 0, a preset is used: for clocks, about
	 * 1000 samples a second of CPU time */
	uint64_t period;       /* from one sample to the next: ns of CPU time, or a count */
	uint32_t frequency_hz; /* only for clocks: samples a second of CPU time */
	enum trace_sampling_by by;
};
#define TRACE_SAMPLING_EVENT_INIT                                                                  \
	{                                                                                          \
		sizeof(struct trace_sampling_event), NULL, 0, 0, TRACE_SAMPLING_BY_AUTO            \
	}

/**
 * Samples all threads of this process, present and future, into the trace or flight recorder that
 * runs.  `events` are `n` different events, at most 16; n 0 = "auto".  The array is only read
 * during the call.  The process receives SIGPROF; the program's own use of SIGPROF goes on.  For a
 * profile without a trace, see trace_recorder_create_cpu() in <trc/recorder.h>.
 *
 * Returns 0; -EINVAL: nothing records, or an event that is not understood; -EBUSY: sampling runs
 * already, perhaps by trace-record; -ENOSPC: the recording has had 16 events before (an event with
 * another period counts as another); or another negative errno: the event is not available here.
 * trace_last_error() says which event, why, and what would work.  Thread safe, not signal safe.
 */
TRC_API int trace_sampling_start(const struct trace_sampling_event *events, size_t n);

/**
 * Stops what trace_sampling_start() started.  The end of the recording stops it too.
 * Returns 0; -EINVAL: the program has not started sampling; or -EBUSY: another thread starts or
 * stops sampling at this moment.
 * Thread safe, not signal safe.
 */
TRC_API int trace_sampling_stop(void);

/* ---- tasks: operations, which may span threads -------------------------------------------- */

/** A task's id, unique in the trace; 0 = no task. */
typedef uint64_t trace_task;

/**
 * Begins a task: an operation such as one request.  `type` names the kind of operation; statistics
 * are by type, so use few different types.  `parent` is the task that this task is a part of; 0 =
 * none.
 * Returns the id of the task; or 0 while nothing records, which all functions here accept.
 */
TRC_API trace_task trace_task_begin(const char *type, trace_task parent);

/** Ends a task, on any thread. */
TRC_API void trace_task_end(trace_task task);

/* ---- regions: spans of one thread --------------------------------------------------------- */

/** Begins a region of the calling thread, which works for `task` (0 = none).  Regions nest. */
TRC_API void trace_region_begin(trace_task task, const char *type);

/** Ends the innermost open region of the calling thread. */
TRC_API void trace_region_end(void);

/* ---- messages and numbers ----------------------------------------------------------------- */

/** Records a message, and a category to filter by.  Bytes of `message` beyond 4096 are cut off. */
TRC_API void trace_log(trace_task task, const char *category, const char *message);

/** Records a message formatted as by printf(); bytes beyond 1023 are cut off.
 * Thread safe, not signal safe. */
TRC_API void trace_logf(trace_task task, const char *category, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/** As trace_logf(), with the arguments of vprintf(). */
TRC_API void trace_vlogf(trace_task task, const char *category, const char *format, va_list args)
	__attribute__((format(printf, 3, 0)));

/** Records the value that a quantity has from now on: a queue's length, "in flight [bytes]".  What stands in brackets at the end of
 * the name is the unit of its values, for the timeline. */
TRC_API void trace_counter_set(const char *name, int64_t value);

/** Names the calling thread in the trace; bytes beyond 63 are cut off.  The kernel's name of the
 * thread stays as it is. */
TRC_API void trace_thread_set_name(const char *name);

/* ---- the macros behind these names --------------------------------------------------------- */

/* A name that is a string literal is looked up once for each place in the source, and kept in a
 * trace_site.  The functions ..._at() are for these macros only. */
struct trace_site {
	uint64_t id, session;
};
TRC_API trace_task trace_task_begin_at(struct trace_site *site, const char *type,
				       trace_task parent);
TRC_API void trace_region_begin_at(struct trace_site *site, trace_task task, const char *type);
TRC_API void trace_log_at(struct trace_site *site, trace_task task, const char *category,
			  const char *message);
TRC_API void trace_counter_set_at(struct trace_site *site, const char *name, int64_t value);

/* Each argument is evaluated once.  (trace_counter_set)(name, value) calls the function without the
 * macro. */
#define trace_task_begin(type, parent)                                                             \
	__extension__({                                                                            \
		static struct trace_site trc_site_;                                                \
		__builtin_constant_p(type) ? trace_task_begin_at(&trc_site_, (type), (parent))     \
					   : (trace_task_begin)((type), (parent));                 \
	})
#define trace_region_begin(task, type)                                                             \
	__extension__({                                                                            \
		static struct trace_site trc_site_;                                                \
		__builtin_constant_p(type) ? trace_region_begin_at(&trc_site_, (task), (type))     \
					   : (trace_region_begin)((task), (type));                 \
	})
#define trace_log(task, category, message)                                                         \
	__extension__({                                                                            \
		static struct trace_site trc_site_;                                                \
		__builtin_constant_p(category)                                                     \
			? trace_log_at(&trc_site_, (task), (category), (message))                  \
			: (trace_log)((task), (category), (message));                              \
	})
#define trace_counter_set(name, value)                                                             \
	__extension__({                                                                            \
		static struct trace_site trc_site_;                                                \
		__builtin_constant_p(name) ? trace_counter_set_at(&trc_site_, (name), (value))     \
					   : (trace_counter_set)((name), (value));                 \
	})

static inline void trc_region_leave_(const char *unused)
{
	(void)unused;
	trace_region_end();
}
#define TRC_PASTE2_(a, b) a##b
#define TRC_PASTE_(a, b)  TRC_PASTE2_(a, b)
/** A region from here to the end of the block, however the block is left: TRACE_REGION("parse"); */
#define TRACE_REGION(type) TRACE_REGION_OF(0, type)
/** As TRACE_REGION(), for a region that works for `task`. */
#define TRACE_REGION_OF(task, type)                                                                \
	__attribute__((cleanup(trc_region_leave_), unused)) const char TRC_PASTE_(                 \
		trc_region_, __COUNTER__) = (trace_region_begin((task), (type)), (char)0)

#ifdef __cplusplus
}
#endif
#endif
