/*
 * <trc/recorder.h> - profiles of this program, taken by itself: CPU, waits, locks, memory, threads.
 *
 * A recorder is made for one kind of profile, with options of its own, and has two uses.  Over a
 * window: start, stop, and what happened in between is written.  And as a snapshot: what is, or was
 * up to now.  Any number of any kind may run at once, at different rates, beside a trace and a
 * flight recorder: the program is recorded once, at the finest rate that anybody asked for, and
 * each recorder thins its share at random, with the right weights.
 *
 *	struct trace_block_config config = TRACE_BLOCK_CONFIG_INIT;
 *	struct trace_writer file;
 *	trace_recorder *r;
 *
 *	if (!trace_writer_path(&file, "block.pb.gz") && !trace_block_recorder(&r, &config)) {
 *		trace_recorder_start(r, &file);
 *		...
 *		trace_recorder_stop(r);
 *		trace_recorder_free(r);
 *	}
 *
 * Functions return 0 or a negative errno; trace_last_error() then says what and why in a sentence.
 * Unless it is said otherwise they may be called by any thread, not in signal handlers.
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

/** Takes the next bytes of a profile.  0, or a negative errno: then no more come. */
typedef int trace_writer_fn(void *context, const void *bytes, size_t n_bytes);

/*
 * Whoever is given one calls write() as often as it takes and then finish() once, also if nothing
 * was or could be written: whatever the function that was given it returned.  Both are called by
 * the thread that calls trace_recorder_stop(), _snapshot() or _free(), with no lock held.
 */
struct trace_writer {
	trace_writer_fn *write;
	void *context;
	/* May be NULL.  err 0: the profile is complete, and what this returns counts as the
	 * writer's last error; else it is not.  Frees the context, if that is to be freed. */
	int (*finish)(void *context, int err);
};

/**
 * Writes into the file `path`, created with mode 0600, which appears under that name when the
 * profile is complete; what was there before stays until then.  0 or a negative errno, and *out is
 * untouched.  It is for one profile: whoever is given it a second time fails with -EINVAL, and
 * writes nothing.
 */
TRC_API int trace_writer_path(struct trace_writer *out, const char *path);

/** Writes to a descriptor that is open for writing, and stays the caller's.  One that does not
 * block is waited for.  A closed pipe is -EPIPE, and no SIGPIPE is seen. */
TRC_API struct trace_writer trace_writer_fd(int fd);

/** What a writer to memory holds.  Begin with zeroes; free(bytes) when it has been used. */
struct trace_memory {
	void *bytes;
	size_t n_bytes;
	size_t room_bytes; /* of bytes, not all used */
};
/** Appends to *memory, which has to stay until the writer is finished. */
TRC_API struct trace_writer trace_writer_memory(struct trace_memory *memory);

/* ---- recorders ----------------------------------------------------------------------------- */

/** One profile: its kind, its options, and whether it runs. */
typedef struct trace_recorder trace_recorder;

/** How a profile is written. */
enum trace_profile_format {
	TRACE_PPROF = 0, /* for pprof and its like: compressed, with names of functions and lines */
	TRACE_TEXT = 1,	 /* for people; stacks have names of functions and lines too */
};

/**
 * Begins a window.  If nothing records the program yet that begins as well, and ends with the last
 * recorder.  *writer is copied; it is finished by trace_recorder_stop() or _free(), or at once if
 * this fails, unless the recorder runs and has this very writer already.  For a
 * trace_multi_recorder() of config.one_each it is an array, of one for each.
 * Returns 0; -EBUSY: it was started already, or trace-record records this process; -ENOSPC: 64 run
 * already, members of a trace_multi_recorder() counted one by one; -ENOTSUP: of this kind there are
 * snapshots only (other details than TRACE_THREADS_BY_STACK), or malloc is not interposed here; or
 * another negative errno.
 */
TRC_API int trace_recorder_start(trace_recorder *recorder, const struct trace_writer *writer);

/**
 * Ends the window and writes its profile; it may be started again.
 * Returns 0, -EINVAL: it was not started; or the negative errno of what could not be written,
 * which disturbs nothing else: the recorder is stopped all the same.
 */
TRC_API int trace_recorder_stop(trace_recorder *recorder);

/**
 * Writes a profile without ending anything: of threads and of custom profiles what is now; of the
 * heap what is in use now; of all other kinds the window up to now.  *writer is finished before
 * this returns.
 * Returns 0; -EINVAL: of this kind there is something from trace_recorder_start() on only, and it
 * was not started; or the negative errno of what could not be written.
 */
TRC_API int trace_recorder_snapshot(trace_recorder *recorder, const struct trace_writer *writer);

/** Frees it.  One that runs is stopped, and writes nothing: its writer is finished with
 * -ECANCELED.  NULL is fine. */
TRC_API void trace_recorder_free(trace_recorder *recorder);

/*
 * Of each kind: on success *out is the caller's.  `config` may be NULL for what its INIT says; set
 * up with that, programs keep working when fields are added.  A field of 0 is the default too.
 * It is only read during the call.
 * Each returns 0, -EINVAL: a value that makes no sense, or -ENOMEM.
 */

/* ---- CPU time, or another event (see struct trace_cpu_event) -------------------------------- */

struct trace_cpu_config {
	size_t struct_bytes;
	enum trace_profile_format format;
	const char *event;     /* one name, as in struct trace_cpu_event; NULL = "auto" */
	uint64_t period;       /* as there; two recorders of one event may have different ones */
	uint32_t frequency_hz; /* as there */
};
#define TRACE_CPU_CONFIG_INIT                                                                      \
	{                                                                                          \
		sizeof(struct trace_cpu_config), TRACE_PPROF, NULL, 0, 0                           \
	}
/** Also -ENOTSUP: the event is not to be had here; trace_last_error() says why, and what would
 * work. */
TRC_API int trace_cpu_recorder(trace_recorder **out, const struct trace_cpu_config *config);

/* ---- waits, at the stack of who waits ------------------------------------------------------- */

struct trace_block_config {
	size_t struct_bytes;
	enum trace_profile_format format;
	/* A wait at least this long is always kept, a shorter one with probability wait/rate, and
	 * weighted so that totals are true.  1 = all; 0 = 1; less = none */
	int64_t rate_ns;
};
#define TRACE_BLOCK_CONFIG_INIT                                                                    \
	{                                                                                          \
		sizeof(struct trace_block_config), TRACE_PPROF, 1                                  \
	}
/** Waiting for locks, condition variables, semaphores, barriers and threads, in the window; what
 * still goes on counts up to its end, and what went on before counts from its beginning. */
TRC_API int trace_block_recorder(trace_recorder **out, const struct trace_block_config *config);

/* ---- waits, at the stack of who unlocked ---------------------------------------------------- */

struct trace_mutex_config {
	size_t struct_bytes;
	enum trace_profile_format format;
	int64_t fraction; /* one of this many contended unlocks counts, for that many; 1 = all;
			     0 = 1; less = none */
};
#define TRACE_MUTEX_CONFIG_INIT                                                                    \
	{                                                                                          \
		sizeof(struct trace_mutex_config), TRACE_PPROF, 1                                  \
	}
/** For each unlock the waiting that it ended, summed over all that waited for it. */
TRC_API int trace_mutex_recorder(trace_recorder **out, const struct trace_mutex_config *config);

/* ---- memory --------------------------------------------------------------------------------- */

struct trace_alloc_config {
	size_t struct_bytes;
	enum trace_profile_format format;
	/* Mean number of bytes between two samples; 1 = every allocation; 0 = 512 KiB; less =
	 * none */
	int64_t sample_bytes;
};
#define TRACE_ALLOC_CONFIG_INIT                                                                    \
	{                                                                                          \
		sizeof(struct trace_alloc_config), TRACE_PPROF, 512 << 10                          \
	}
/**
 * What the window allocated, and what of that is still in use at its end.  Starting it fails with
 * -ENOTSUP if the program's malloc() is not the one that is interposed, and does not pass on to it
 * (a static allocator, or one of its own); so does a heap recorder.
 */
TRC_API int trace_alloc_recorder(trace_recorder **out, const struct trace_alloc_config *config);

struct trace_heap_config {
	size_t struct_bytes;
	enum trace_profile_format format;
	int64_t sample_bytes; /* as in struct trace_alloc_config */
};
#define TRACE_HEAP_CONFIG_INIT                                                                     \
	{                                                                                          \
		sizeof(struct trace_heap_config), TRACE_PPROF, 512 << 10                           \
	}
/**
 * Window: what it allocated, and what of that is still in use at its end: what leaks is left.
 * Snapshot: what is in use now, of all that was allocated since the first trace_heap_recorder() or
 * trace_alloc_recorder() of those that run was started; it need not be this one.  As allocated
 * counts what is in use and, from its start on if this one runs, what was freed since.
 */
TRC_API int trace_heap_recorder(trace_recorder **out, const struct trace_heap_config *config);

/* ---- threads -------------------------------------------------------------------------------- */

enum trace_thread_details {
	TRACE_THREADS_BY_STACK = 0, /* how many are at each stack */
	TRACE_THREADS_BLOCKS = 1,   /* a paragraph for each; TRACE_TEXT only */
	TRACE_THREADS_EACH = 2,	    /* a sample for each, with labels trc::thread_id and
				       trc::creator_id (kernel thread ids), trc::thread_name,
				       trc::state ("running", "mutex" and so on for what it
				       waits for, "waiting", "did not answer") and trc::wait_ns;
				       those that are not known are not there */
};
struct trace_thread_config {
	size_t struct_bytes;
	enum trace_profile_format format;
	enum trace_thread_details details;
	bool no_trc_labels; /* with TRACE_THREADS_EACH: only the program's own */
	/* A thread that has not answered so long after it was asked is listed as such, with
	 * trc::state in any case; 0 = 100 ms.  Time in which the process stood still does not
	 * count. */
	uint64_t deadline_ns;
};
#define TRACE_THREAD_CONFIG_INIT                                                                   \
	{                                                                                          \
		sizeof(struct trace_thread_config), TRACE_PPROF, TRACE_THREADS_BY_STACK, false, 0  \
	}
/** Every thread's stack, and what it does.  Window, of TRACE_THREADS_BY_STACK only: the change, of
 * those at a stack at its end less those at its beginning.  No thread is stopped: those whose wait
 * was recorded have told their stack, others are sent a SIGPROF and answer for themselves.  One
 * that blocks SIGPROF is not asked. */
TRC_API int trace_thread_recorder(trace_recorder **out, const struct trace_thread_config *config);

struct trace_threadcreate_config {
	size_t struct_bytes;
	enum trace_profile_format format;
};
#define TRACE_THREADCREATE_CONFIG_INIT                                                             \
	{                                                                                          \
		sizeof(struct trace_threadcreate_config), TRACE_PPROF                              \
	}
/** The stacks that created threads in the window. */
TRC_API int trace_threadcreate_recorder(trace_recorder **out,
					const struct trace_threadcreate_config *config);

/* ---- profiles of the program's own ---------------------------------------------------------- */

/** What the program holds: connections, handles; each with the stack that entered it. */
typedef struct trace_profile trace_profile;

/**
 * Makes an empty one, which stays until the program ends.  `name`, 1 to 63 bytes, is what it
 * counts, and its type in pprof.  Returns 0; -EINVAL: no such name is possible; -EEXIST: it is
 * there already (or the name is that of a kind of recorder); -ENOMEM.
 */
TRC_API int trace_profile_new(trace_profile **out, const char *name);

/** The one of that name; NULL = none. */
TRC_API trace_profile *trace_profile_find(const char *name);
TRC_API const char *trace_profile_name(const trace_profile *profile);
/** Calls fn for each that there is, in the order of their names, until it returns something else
 * than 0; returns that, or 0. */
TRC_API int trace_profile_each(int (*fn)(void *context, trace_profile *profile), void *context);

/**
 * Enters `key`, which may be any pointer, with the caller's stack; `skip` 1 leaves out the caller,
 * 2 its caller too.  Returns 0; -EEXIST: it is there already, with the stack that it has; -ENOMEM.
 */
TRC_API int trace_profile_add(trace_profile *profile, const void *key, unsigned int skip);
/** Takes it out.  What is not there is fine. */
TRC_API void trace_profile_remove(trace_profile *profile, const void *key);
/** How many there are. */
TRC_API size_t trace_profile_count(const trace_profile *profile);

struct trace_profile_config {
	size_t struct_bytes;
	enum trace_profile_format format;
};
#define TRACE_PROFILE_CONFIG_INIT                                                                  \
	{                                                                                          \
		sizeof(struct trace_profile_config), TRACE_PPROF                                   \
	}
/** Snapshot: what is entered now.  Window: the change. */
TRC_API int trace_profile_recorder(trace_recorder **out, trace_profile *profile,
				   const struct trace_profile_config *config);

/* ---- several at once ------------------------------------------------------------------------ */

struct trace_multi_config {
	size_t struct_bytes;
	/* false: one profile with the sample types of all, named as in "block_delay" where two
	 * would be called the same, in the format of the first.  true: one for each, to as many
	 * writers */
	bool one_each;
};
#define TRACE_MULTI_CONFIG_INIT                                                                    \
	{                                                                                          \
		sizeof(struct trace_multi_config), false                                           \
	}
/**
 * Starts, stops and takes snapshots of n (1 to 16) recorders at once, over the same window.  On
 * success they are its own, and freed with it.  Returns 0; -EINVAL: none, too many, one that runs,
 * or a trace_multi_recorder(); -ENOMEM.
 */
TRC_API int trace_multi_recorder(trace_recorder **out, trace_recorder *const *recorder, size_t n,
				 const struct trace_multi_config *config);

#ifdef __cplusplus
}
#endif

#endif
