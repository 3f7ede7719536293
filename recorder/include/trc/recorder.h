/*
 * <trc/recorder.h> - profiles that this program takes of itself: CPU time, waits, locks, memory,
 * threads.
 *
 * A recorder takes profiles of one kind, with options of its own, in two ways.  A window is the
 * time from trace_recorder_start() to trace_recorder_stop(), which writes what happened in it.  A
 * snapshot is written by trace_recorder_snapshot(), and says what is now, or the window up to now.
 *
 * Any number of recorders of any kind may run at the same time, at different rates, beside a trace
 * and a flight recorder.  The program is recorded once, at the finest rate asked for.  Each
 * recorder keeps a random share of the events and weights them, so that its totals are right.
 *
 *	struct trace_block_options options = TRACE_BLOCK_OPTIONS_INIT;
 *	struct trace_writer file;
 *	struct trace_recorder *r;
 *
 *	if (!trace_writer_to_path(&file, "block.pb.gz") &&
 *	    !trace_recorder_create_block(&r, &options)) {
 *		trace_recorder_start(r, &file);
 *		...
 *		trace_recorder_stop(r);
 *		trace_recorder_destroy(r);
 *	}
 *
 * Functions return 0 or a negative errno; trace_last_error() then says why.  Unless its comment
 * says otherwise, a function is thread safe and not signal safe.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TRC_RECORDER_H
#define TRC_RECORDER_H

#include <trc/trace.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- where a profile is written ------------------------------------------------------------ */

/** Takes the next `n_bytes` bytes of a profile.  Returns 0, or a negative errno to get no more. */
typedef int trace_writer_fn(void *context, const void *bytes, size_t n_bytes);

/*
 * Where a profile goes.  A function that is given a writer calls write() any number of times, and
 * then finish() once: also if the function fails, and if nothing was written.  write() and
 * finish() are called by the thread that calls the function, with no lock held.
 */
struct trace_writer {
	trace_writer_fn *write;
	void *context;
	/* Frees the context, if need be; NULL = nothing to do.  err is 0 if the profile is complete;
	 * a negative errno that finish() then returns counts as a failure to write.  Otherwise err says
	 * why the profile is not complete */
	int (*finish)(void *context, int err);
};

/**
 * Makes a writer to the file `path`, created with mode 0600.  The file appears when the profile is
 * complete; an older file of that name stays until then.  The writer is for one profile: a second
 * use fails with -EINVAL and writes nothing.
 * Returns 0, or a negative errno, and *out is untouched.
 */
TRC_API int trace_writer_to_path(struct trace_writer *out, const char *path);

/**
 * Returns a writer to a descriptor, which is open for writing and stays the caller's.  The writer
 * waits for a non-blocking descriptor.  A closed pipe is -EPIPE; the program sees no SIGPIPE.
 */
TRC_API struct trace_writer trace_writer_to_fd(int fd);

/** The bytes that a writer to memory has written.  Set to zeroes before use; free(bytes) after. */
struct trace_writer_memory {
	void *bytes;
	size_t n_bytes;
	size_t room_bytes; /* allocated; at least n_bytes */
};

/** Returns a writer that appends to *memory, which has to stay until the writer is finished. */
TRC_API struct trace_writer trace_writer_to_memory(struct trace_writer_memory *memory);

/* ---- recorders ----------------------------------------------------------------------------- */

/** A recorder: its kind, its options, and whether it runs. */
struct trace_recorder;

/** How a profile is written. */
enum trace_profile_format {
	TRACE_PROFILE_FORMAT_PPROF = 0, /* for pprof, compressed; with names of functions */
	TRACE_PROFILE_FORMAT_TEXT = 1,	/* for people; with names of functions */
};

/**
 * Begins a window.  If nothing records the program yet, recording begins too; it ends with the last
 * recorder.
 *
 * *writer is copied.  It is finished by trace_recorder_stop() or trace_recorder_destroy(), or at
 * once if this call fails; but if the recorder already runs with this very writer, the writer is
 * left to the recorder.  For a recorder of trace_recorder_create_multi() with one_each, `writer`
 * is an array with a writer for each member.
 *
 * Returns 0; -EBUSY: the recorder runs already, or trace-record records this process; -ENOSPC: 64
 * recorders run already (members of a multi recorder count one by one); -ENOTSUP: this kind has
 * snapshots only (thread details other than BY_STACK), or libtrc does not see this program's
 * malloc(); or another negative errno.
 */
TRC_API int trace_recorder_start(struct trace_recorder *recorder,
				 const struct trace_writer *writer);

/**
 * Ends the window and writes its profile.  The recorder may be started again.
 * Returns 0; -EINVAL: the recorder does not run; or the negative errno of the writer: the recorder
 * is stopped all the same.
 */
TRC_API int trace_recorder_stop(struct trace_recorder *recorder);

/**
 * Writes a profile and ends nothing.  For threads and custom profiles it says what is now; for the
 * heap, what is in use now; for all other kinds, the window up to now.  *writer is finished before
 * the call returns.
 * Returns 0; -EINVAL: this kind has profiles of a window only, and the recorder does not run; or
 * the negative errno of the writer.
 */
TRC_API int trace_recorder_snapshot(struct trace_recorder *recorder,
				    const struct trace_writer *writer);

/**
 * Gives a recorder back.  A recorder that runs is stopped and writes no profile: its writer is
 * finished with -ECANCELED.  No other thread may use the recorder any more.  NULL does nothing.
 */
TRC_API void trace_recorder_destroy(struct trace_recorder *recorder);

/*
 * The functions trace_recorder_create_KIND() make a recorder that does not run yet.  On success
 * *out is the caller's, to be given back by trace_recorder_destroy(); on failure *out is
 * untouched.
 * `options` may be NULL for the defaults; they are only read during the call.  Set options up with
 * the macro ..._INIT: then programs keep working when fields are added.  A field of 0 is the
 * default too.
 * Each function returns 0; -EINVAL: options out of range; or -ENOMEM.
 */

/* ---- CPU time, or another event (see struct trace_sampling_event) --------------------------- */

struct trace_cpu_options {
	size_t struct_bytes;
	enum trace_profile_format format;
	const char *event; /* a name as in struct trace_sampling_event; NULL = "auto" */
	/* As in struct trace_sampling_event.  Two recorders of an event may have different periods */
	uint64_t period;
	uint32_t frequency_hz;
};
#define TRACE_CPU_OPTIONS_INIT                                                                     \
	{                                                                                          \
		sizeof(struct trace_cpu_options), TRACE_PROFILE_FORMAT_PPROF, NULL, 0, 0           \
	}
/**
 * Makes a recorder of CPU time, or of another event, by stack.
 * Also returns -ENOTSUP: the event is not available here; trace_last_error() says why, and what
 * would work.
 */
TRC_API int trace_recorder_create_cpu(struct trace_recorder **out,
				      const struct trace_cpu_options *options);

/* ---- waits, at the stack of the waiter ------------------------------------------------------ */

struct trace_block_options {
	size_t struct_bytes;
	enum trace_profile_format format;
	/* Waits of this length or longer are kept; a shorter wait is kept with the probability
	 * wait/rate_ns, and weighted.  0 and 1 = every wait; negative = none */
	int64_t rate_ns;
};
#define TRACE_BLOCK_OPTIONS_INIT                                                                   \
	{                                                                                          \
		sizeof(struct trace_block_options), TRACE_PROFILE_FORMAT_PPROF, 1                  \
	}
/**
 * Makes a recorder of waits for locks, condition variables, semaphores, barriers and threads.  A
 * wait counts for its part inside the window, whether it began before or goes on after.
 */
TRC_API int trace_recorder_create_block(struct trace_recorder **out,
					const struct trace_block_options *options);

/* ---- waits, at the stack of the unlock ------------------------------------------------------ */

struct trace_mutex_options {
	size_t struct_bytes;
	enum trace_profile_format format;
	/* One of this many contended unlocks is kept, and weighted by this number.  0 and 1 = every
	 * unlock; negative = none */
	int64_t fraction;
};
#define TRACE_MUTEX_OPTIONS_INIT                                                                   \
	{                                                                                          \
		sizeof(struct trace_mutex_options), TRACE_PROFILE_FORMAT_PPROF, 1                  \
	}
/** Makes a recorder of unlocks, each with the waiting time that it ended, of all its waiters. */
TRC_API int trace_recorder_create_mutex(struct trace_recorder **out,
					const struct trace_mutex_options *options);

/* ---- memory --------------------------------------------------------------------------------- */

struct trace_alloc_options {
	size_t struct_bytes;
	enum trace_profile_format format;
	/* Mean number of bytes between two samples; 1 = every allocation; 0 = 512 KiB; negative =
	 * none */
	int64_t sample_bytes;
};
#define TRACE_ALLOC_OPTIONS_INIT                                                                   \
	{                                                                                          \
		sizeof(struct trace_alloc_options), TRACE_PROFILE_FORMAT_PPROF, 512 << 10          \
	}
/**
 * Makes a recorder of what the window allocates, and of how much of it is in use at the end.
 * trace_recorder_start() fails with -ENOTSUP if the calls of the program's malloc() do not reach
 * libtrc, as with a statically linked allocator.
 */
TRC_API int trace_recorder_create_alloc(struct trace_recorder **out,
					const struct trace_alloc_options *options);

struct trace_heap_options {
	size_t struct_bytes;
	enum trace_profile_format format;
	int64_t sample_bytes; /* as in struct trace_alloc_options */
};
#define TRACE_HEAP_OPTIONS_INIT                                                                    \
	{                                                                                          \
		sizeof(struct trace_heap_options), TRACE_PROFILE_FORMAT_PPROF, 512 << 10           \
	}
/**
 * Makes a recorder of the memory in use.
 * Window: what the window allocates, and how much of it is in use at the end; a leak stays in use.
 * Snapshot: what is in use now, of all memory that was allocated since the first of the heap and
 * alloc recorders that now run was started.  The column of allocated memory also has what was
 * freed since this recorder was started.
 * trace_recorder_start() fails with -ENOTSUP as for alloc recorders.
 */
TRC_API int trace_recorder_create_heap(struct trace_recorder **out,
				       const struct trace_heap_options *options);

/* ---- threads -------------------------------------------------------------------------------- */

/** What a profile of threads lists. */
enum trace_thread_details {
	TRACE_THREAD_DETAILS_BY_STACK = 0,   /* the number of threads at each stack */
	TRACE_THREAD_DETAILS_PARAGRAPHS = 1, /* a paragraph for each thread; only as text */
	/* A sample for each thread, with the labels trc::thread_id and trc::creator_id (thread ids of
	 * the kernel), trc::thread_name, trc::wait_ns, and trc::state: "running", "waiting", "did not
	 * answer", or what the thread waits for, as "mutex".  Labels of unknown values are absent */
	TRACE_THREAD_DETAILS_EACH = 2,
};
struct trace_thread_options {
	size_t struct_bytes;
	enum trace_profile_format format;
	enum trace_thread_details details;
	bool no_trc_labels; /* with EACH: only the program's labels, and none of trc::... */
	/* How long a thread has to answer; 0 = 100 ms.  A thread that has not answered by then is
	 * listed with trc::state "did not answer", whatever no_trc_labels says.  Time in which the
	 * process is stopped does not count */
	uint64_t deadline_ns;
};
#define TRACE_THREAD_OPTIONS_INIT                                                                  \
	{                                                                                          \
		sizeof(struct trace_thread_options), TRACE_PROFILE_FORMAT_PPROF,                   \
			TRACE_THREAD_DETAILS_BY_STACK, false, 0                                    \
	}
/**
 * Makes a recorder of every thread's stack and state.
 * Snapshot: the threads now.
 * Window, only with BY_STACK: the threads at each stack at its end, less those at its beginning.
 * No thread is stopped.  The stack of a recorded wait is known, and other threads that wait are looked
 * at where they are.  The rest receive a SIGPROF and answer by themselves: threads that run, and those whose
 * stack cannot be followed from outside.  A thread that blocks SIGPROF is not asked.
 */
TRC_API int trace_recorder_create_thread(struct trace_recorder **out,
					 const struct trace_thread_options *options);

struct trace_threadcreate_options {
	size_t struct_bytes;
	enum trace_profile_format format;
};
#define TRACE_THREADCREATE_OPTIONS_INIT                                                            \
	{                                                                                          \
		sizeof(struct trace_threadcreate_options), TRACE_PROFILE_FORMAT_PPROF              \
	}
/** Makes a recorder of the stacks that create threads. */
TRC_API int trace_recorder_create_threadcreate(struct trace_recorder **out,
					       const struct trace_threadcreate_options *options);

/* ---- custom profiles: what the program itself counts ---------------------------------------- */

/** Objects that the program holds (connections, handles), each with the stack that added it. */
struct trace_custom_profile;

/**
 * Registers an empty profile under `name`.  The name has 1 to 63 bytes, says what the profile
 * counts, and is its type in pprof.  The profile is the library's, and stays until the process
 * ends.  On failure *out is untouched.
 * Returns 0; -EINVAL: a name with a space, a quote, or a character that URLs reserve; -EEXIST: the
 * name is taken, by a custom profile or a kind of recorder; or -ENOMEM.
 */
TRC_API int trace_custom_profile_register(struct trace_custom_profile **out, const char *name);

/** Returns the custom profile of that name; NULL = none. */
TRC_API struct trace_custom_profile *trace_custom_profile_find(const char *name);

/** Returns the profile's name, which is valid until the process ends. */
TRC_API const char *trace_custom_profile_name(const struct trace_custom_profile *profile);

/**
 * Calls fn(context, profile) for each custom profile, in the order of names, until fn returns
 * another value than 0.  Returns the last value of fn; 0 if there is no profile.
 */
TRC_API int trace_custom_profile_each(int (*fn)(void *context,
						struct trace_custom_profile *profile),
				      void *context);

/**
 * Adds `key`, any pointer that identifies the object, with the caller's stack.  `skip` leaves out
 * frames: 0 = none, 1 = the caller, 2 = also the caller's caller, and so on.
 * Returns 0; -EEXIST: the profile has this key already, and keeps its stack; or -ENOMEM.
 */
TRC_API int trace_custom_profile_add(struct trace_custom_profile *profile, const void *key,
				     unsigned int skip);

/** Removes `key`.  If the profile does not have this key, nothing happens. */
TRC_API void trace_custom_profile_remove(struct trace_custom_profile *profile, const void *key);

/** Returns the number of keys in the profile. */
TRC_API size_t trace_custom_profile_count(const struct trace_custom_profile *profile);

struct trace_custom_options {
	size_t struct_bytes;
	enum trace_profile_format format;
};
#define TRACE_CUSTOM_OPTIONS_INIT                                                                  \
	{                                                                                          \
		sizeof(struct trace_custom_options), TRACE_PROFILE_FORMAT_PPROF                    \
	}
/**
 * Makes a recorder of a custom profile.
 * Snapshot: the keys now.  Window: the keys at its end, less the keys at its beginning.
 */
TRC_API int trace_recorder_create_custom(struct trace_recorder **out,
					 struct trace_custom_profile *profile,
					 const struct trace_custom_options *options);

/* ---- several recorders as one --------------------------------------------------------------- */

struct trace_multi_options {
	size_t struct_bytes;
	/* false: one profile with the sample types of all members, in the format of the first.  Types
	 * of equal names get the kind as a prefix, as in "block_delay".
	 * true: a profile for each member, each to a writer of its own */
	bool one_each;
};
#define TRACE_MULTI_OPTIONS_INIT                                                                   \
	{                                                                                          \
		sizeof(struct trace_multi_options), false                                          \
	}
/**
 * Makes a recorder that starts and stops `n` (1 to 16) recorders at the same time, over one
 * window.  On success the `n` members belong to the new recorder, and are given back with it.
 * Also returns -EINVAL: no or too many members, a member that runs, or a multi recorder as a
 * member.
 */
TRC_API int trace_recorder_create_multi(struct trace_recorder **out,
					struct trace_recorder *const *recorder, size_t n,
					const struct trace_multi_options *options);

#ifdef __cplusplus
}
#endif

#endif
