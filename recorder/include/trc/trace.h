/*
 * <trc/trace.h> - record this program: events, tasks, regions, logs and counters.
 *
 * Link with -ltrc (pkg-config: trc).  Waiting for locks, condition variables, sockets and so on
 * is recorded without any call of yours; what follows starts a recording, and adds what only the
 * program knows.  Under trace-record the program is being recorded already: then trace_start()
 * succeeds, and annotations go into that trace.
 *
 * Unless a function says otherwise it may be called by any thread at any time, in signal
 * handlers too, leaves errno alone, and is a no-op while nothing records: a load and a branch.
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
#else /* without the detour over the PLT, as a call while nothing records is little else */
#define TRC_API __attribute__((visibility("default"), noplt))
#endif

/* Which locks are recorded. */
enum trace_locks {
	TRACE_LOCKS_CONTENDED = 0, /* waits only, and the releases that ended them */
	TRACE_LOCKS_ALL = 1,	   /* every acquire and release as well */
	TRACE_LOCKS_NONE = 2,	   /* nothing about locks */
};

/* What becomes of an event while the memory for events is full. */
enum trace_on_full {
	TRACE_ON_FULL_WAIT = 0, /* its thread waits for room, at most 100 ms; then as DROP */
	TRACE_ON_FULL_DROP = 1, /* it is dropped, and counted exactly */
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
	uint64_t min_wait_ns; /* I/O, polls and sleeps shorter than this are left out; 0 = 1000.
				 Waits for locks are always recorded */
	const char *ring_dir; /* where that memory lies (a tmpfs); NULL = $TRC_RING_DIR, /dev/shm */
	uint64_t heap_bytes;  /* sample the heap: one allocation in so many bytes, on average; 1 =
				 all, up to 1 TiB; 0 = $TRC_HEAP, or none */
};
#define TRACE_OPTIONS_INIT                                                                         \
	{                                                                                          \
		sizeof(struct trace_options), 0, TRACE_LOCKS_CONTENDED, TRACE_ON_FULL_WAIT,        \
			TRACE_UNWIND_AUTO, 0, NULL, 0                                              \
	}

/**
 * Records this process into the file `path`, created with mode 0600.  A file that is there
 * already is replaced only when the new one can be read.  `options` may be NULL for the
 * defaults; it is only read during the call.
 * Returns 0, -EBUSY while a trace runs, or another negative errno; trace_last_error() then says
 * what and why.  Under trace-record: 0, and trace_last_error() says whose trace it is.  Beside a
 * flight recorder (below) its memory is used, whatever ring_bytes and ring_dir say.
 * Thread safe, not signal safe.
 */
TRC_API int trace_start(const char *path, const struct trace_options *options);

/**
 * Ends the recording and completes the file.  Returns 0, -EINVAL if none runs, or the negative
 * errno of what went wrong meanwhile (disk full, say: the file is then readable up to there).
 * exit() does this for a recording that still runs.  Thread safe, not signal safe.
 */
TRC_API int trace_stop(void);

/** True while this process is being recorded, by trace_start(), trace_flight_start() or by
 * trace-record. */
TRC_API bool trace_enabled(void);

/**
 * One sentence on the calling thread's last call that starts, stops, takes a snapshot or makes a
 * label set: why it failed, or what is worth knowing although it succeeded; "" if nothing.  Valid
 * until its next.
 */
TRC_API const char *trace_last_error(void);

/** The version of the library that runs, "major.minor.patch". */
TRC_API const char *trace_version(void);

/* ---- the flight recorder: always on, the last seconds at hand ----------------------------- */

/*
 * Set up with TRACE_FLIGHT_OPTIONS_INIT: then programs keep working when fields are added.
 *
 * Conditions for trigger_on, each a string: "park>100ms" a thread waits longer than that for a
 * lock, condition variable, semaphore, barrier, thread or once (or "park:mutex,cond>100ms", with
 * reasons as the trace names them); "region:NAME>50ms" and "task:NAME>200ms" one of that type
 * took longer; "signal=USR2" that signal arrived; "exit" the process ends in good order.  Times
 * take ns, us, ms or s.
 */
struct trace_flight_options {
	size_t struct_bytes;
	uint64_t min_age_ns; /* what a snapshot is trimmed to; 0 = 10 s.  Less if max_bytes holds
				less: the memory decides */
	uint64_t max_bytes;  /* all shared memory, tables included: never exceeded; 0 = 64 MiB, or
				beside a trace that runs already the memory of that trace */
	enum trace_locks locks;
	enum trace_unwind unwind;
	uint64_t min_wait_ns; /* as in struct trace_options */
	const char *ring_dir; /* as in struct trace_options */

	const char *const *trigger_on; /* conditions, the last one NULL; NULL = none */
	/* Where triggered snapshots go: "odd.trc" becomes odd.1.trc, odd.2.trc and so on; NULL = no
	 * triggers, and no thread of the recorder's own */
	const char *trigger_path;
	uint64_t trigger_after_ns; /* from the odd moment to its snapshot, to keep what follows */
	uint64_t trigger_every_ns; /* at least, from one to the next; 0 = 10 s */
	unsigned int trigger_max;  /* so many in all; 0 = 10, UINT_MAX = as many as come */
	bool children; /* forked children get a flight recorder of their own, as large; its
			  triggered snapshots have the child's pid in their names */
};
#define TRACE_FLIGHT_OPTIONS_INIT                                                                  \
	{                                                                                          \
		sizeof(struct trace_flight_options), 0, 0, TRACE_LOCKS_CONTENDED,                  \
			TRACE_UNWIND_AUTO, 0, NULL, NULL, NULL, 0, 0, 0, false                     \
	}

/**
 * Starts the flight recorder: it keeps the last seconds of this process in shared memory of fixed
 * size, overwriting the oldest, until a snapshot is asked for.  `options` may be NULL for the
 * defaults; it is only read during the call.
 * If there is no room for max_bytes in ring_dir it takes half as much, and half of that, down to
 * what is of use: then 0, and trace_last_error() says how much it got.  A trace_start() trace may
 * run at the same time, started and stopped before or after: both record the same events, and which
 * they are (locks, unwind, min_wait_ns) and where the memory lies is as the first of the two asked.
 * Returns 0; -EBUSY: a flight recorder runs already; -EINVAL: options that are wrong or a max_bytes
 * too small for this many processors; -EFBIG: max_bytes is less than the memory of the trace that
 * runs; or another negative errno.  trace_last_error() then says what and why.  Under trace-record:
 * 0 and nothing is started, as that process's ring serves snapshots and triggers.
 * Thread safe, not signal safe.
 */
TRC_API int trace_flight_start(const struct trace_flight_options *options);

/**
 * Ends the flight recorder, and what it held is gone; a trace that runs goes on.  Waits for
 * snapshots that are being copied, and takes a triggered one that is due still.
 * Returns 0; -EINVAL: none runs; or the negative errno of the first triggered snapshot that could
 * not be written (the recorder is stopped all the same).  exit() does this too, after the snapshot
 * for "exit".  Thread safe, not signal safe.
 */
TRC_API int trace_flight_stop(void);

/** True while trace_flight_snapshot() has something to take: a flight recorder runs, or
 * trace-record records this process. */
TRC_API bool trace_flight_enabled(void);

/**
 * Writes what the flight recorder holds, the last min_age_ns of it, as a trace into the file
 * `path`, created with mode 0600.  It appears under that name when it is complete; what was there
 * before stays until then.  The calling thread copies, encodes and writes, and needs 64 KiB of
 * stack and as much memory as the recorder holds; no other thread waits.  Any number may be taken
 * at the same time.
 * Returns 0; -EINVAL: no flight recorder runs; or the negative errno of what could not be written,
 * with trace_last_error(): what is recorded is not touched by that.  Thread safe, not signal safe:
 * a signal handler calls trace_flight_trigger().
 */
TRC_API int trace_flight_snapshot(const char *path);

/**
 * The same to a descriptor that is open for writing, a pipe or socket too; the trace begins where
 * the descriptor stands, and a part of it has been written if this fails.  A closed pipe is -EPIPE,
 * and no SIGPIPE is seen.  A descriptor that does not block is waited for.
 */
TRC_API int trace_flight_snapshot_fd(int fd);

/* For window_ns: as far back as nothing is missing; or all that is held, also from times of
 * which one processor's events are still there, and another's are not. */
#define TRACE_WINDOW_WHOLE UINT64_MAX
#define TRACE_WINDOW_ALL   (UINT64_MAX - 1)

/**
 * The same two, with a window of their own in nanoseconds instead of min_age_ns (0): several views
 * of one recorder.
 */
TRC_API int trace_flight_snapshot_window(const char *path, uint64_t window_ns);
TRC_API int trace_flight_snapshot_fd_window(int fd, uint64_t window_ns);

/**
 * Asks for a snapshot, and goes on at once: the recorder's own thread takes it, trigger_after_ns
 * from now and within the limits that trace_flight_start() was given.  `reason` says why, in the
 * trace and in its trace_info; bytes beyond 95 are cut off.  It is also an event of the calling
 * thread.
 * Returns 0; -EINVAL: no flight recorder runs; -ENOTSUP: it has no trigger_path, and nothing but
 * the event is recorded.  Under trace-record: 0; whether a snapshot follows is trace-record's.
 * Thread safe and signal safe; trace_last_error() is left as it is.
 */
TRC_API int trace_flight_trigger(const char *reason);

/* ---- CPU profiles: where the time goes ---------------------------------------------------- */

/* How samples are taken. */
enum trace_sample_by {
	TRACE_SAMPLE_BY_AUTO = 0,
	TRACE_SAMPLE_BY_SIGNAL = 1, /* a SIGPROF to the very thread: stacks without frame pointers,
				       labels of that moment */
	TRACE_SAMPLE_BY_KERNEL = 2, /* the kernel writes down stacks by frame pointers: no signal;
				       into a trace that trace_start() has begun, only */
};

/*
 * What samples are drawn from.  Set up with TRACE_CPU_EVENT_INIT: then programs keep working when
 * fields are added.
 *
 * Names: "auto" cpu-clock where perf allows it, else timer; "timer" timers of each thread's CPU
 * time, which tick no faster than the kernel; "cpu-clock", "task-clock" the same times by perf;
 * "page-faults", "context-switches"; "cycles", "instructions", "cache-references",
 * "cache-misses", "branches", "branch-misses"; "rHEX" what the processor's manual calls that.
 * Behind a colon modifiers as with perf: "cycles:u", "instructions:ppp".
 */
struct trace_cpu_event {
	size_t struct_bytes;
	const char *name;
	uint64_t period; /* of the event between two samples, in ns of CPU time or a count; 0 = not
			    given */
	uint32_t
		frequency_hz; /* for clocks: samples in a second of CPU time; 0 = not given.  Neither:
				  a preset, about a thousand for a second of a busy thread */
	enum trace_sample_by by;
};
#define TRACE_CPU_EVENT_INIT                                                                       \
	{                                                                                          \
		sizeof(struct trace_cpu_event), NULL, 0, 0, TRACE_SAMPLE_BY_AUTO                   \
	}

/**
 * Samples all threads of this process, present and future, from each of these n events (at most
 * 16, each once), into the trace or flight recorder that runs.  n 0: "auto".  The array is only
 * read during the call.  The process is sent SIGPROF; what the program itself does with that signal
 * goes on.
 * Returns 0; -EINVAL: nothing records, or an event is not understood; -EBUSY: a profile runs already,
 * trace-record's perhaps; -ENOSPC: a 17th event, or period of one, since recording began; or another negative errno: the event is not to be had here.
 * trace_last_error() then says which, why, and what would work.  Thread safe, not signal safe.
 */
TRC_API int trace_cpu_profile_start(const struct trace_cpu_event *events, size_t n);

/**
 * Ends the profile that the program started; the end of the recording does so too.
 * Returns 0, -EINVAL: none runs, or -EBUSY: another thread is starting or stopping one.
 * Thread safe, not signal safe.
 */
TRC_API int trace_cpu_profile_stop(void);

/* ---- tasks: operations, which may span threads -------------------------------------------- */

/** A task's id, unique in the trace; 0 = no task. */
typedef uint64_t trace_task;

/**
 * Begins a task: one request, say.  `type` names the kind of operation, for statistics: few
 * different ones.  `parent` is the task that it is a part of, or 0.  It may end on any thread.
 * Returns its id, or 0 while nothing records; the functions below take 0 as well.
 */
TRC_API trace_task trace_task_begin(const char *type, trace_task parent);
TRC_API void trace_task_end(trace_task task);

/* ---- regions: spans of one thread --------------------------------------------------------- */

/** Begins a region of the calling thread, working for `task` (0 = none).  Regions nest. */
TRC_API void trace_region_begin(trace_task task, const char *type);
/** Ends the innermost open region of the calling thread. */
TRC_API void trace_region_end(void);

/* ---- messages and numbers ----------------------------------------------------------------- */

/** A message, with a category to filter by.  Bytes of `message` beyond 4096 are cut off. */
TRC_API void trace_log(trace_task task, const char *category, const char *message);
/** The same, formatted as by printf; bytes beyond 1023 are cut off.  Not signal safe. */
TRC_API void trace_logf(trace_task task, const char *category, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
TRC_API void trace_vlogf(trace_task task, const char *category, const char *format, va_list args)
	__attribute__((format(printf, 3, 0)));

/** The value, from now on, of something that changes: a queue's length, bytes in flight. */
TRC_API void trace_counter(const char *name, int64_t value);

/** Names the calling thread in the trace (at most 63 bytes); the kernel's name stays. */
TRC_API void trace_thread_name(const char *name);

/* ---- names that are literals are looked up once per place in the source ------------------- */

struct trace_site {
	uint64_t id, session;
};
TRC_API trace_task trace_task_begin_at(struct trace_site *site, const char *type,
				       trace_task parent);
TRC_API void trace_region_begin_at(struct trace_site *site, trace_task task, const char *type);
TRC_API void trace_log_at(struct trace_site *site, trace_task task, const char *category,
			  const char *message);
TRC_API void trace_counter_at(struct trace_site *site, const char *name, int64_t value);

/* Each argument is evaluated once.  (trace_counter)(name, value) calls the function itself. */
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
#define trace_counter(name, value)                                                                 \
	__extension__({                                                                            \
		static struct trace_site trc_site_;                                                \
		__builtin_constant_p(name) ? trace_counter_at(&trc_site_, (name), (value))         \
					   : (trace_counter)((name), (value));                     \
	})

static inline void trc_region_leave_(const char *unused)
{
	(void)unused;
	trace_region_end();
}
#define TRC_PASTE2_(a, b) a##b
#define TRC_PASTE_(a, b)  TRC_PASTE2_(a, b)
/** A region from here to the end of the block, however that is left: TRACE_REGION("parse"); */
#define TRACE_REGION(type) TRACE_REGION_OF(0, type)
/** The same, working for a task. */
#define TRACE_REGION_OF(task, type)                                                                \
	__attribute__((cleanup(trc_region_leave_), unused)) const char TRC_PASTE_(                 \
		trc_region_, __COUNTER__) = (trace_region_begin((task), (type)), (char)0)

#ifdef __cplusplus
}
#endif
#endif
