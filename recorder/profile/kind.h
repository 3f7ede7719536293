/*
 * kind.h - the parts of a recorder of <trc/recorder.h>.
 *
 *   kind:K1  a recorder's window begins and ends in the draining thread (service.h), for all
 *       members of a multi recorder at one time.  The counts are taken out there, and the caller's
 *       thread writes them
 *   kind:K2  `lock` guards everything in a recorder that is not constant; it is not held while a
 *       writer is called.  While `lock` is held, only the lock of the recorder's kind may be taken.
 *       While the kind's lock is held, only trc_recording_enter() may be called
 *   kind:K3  a recorder that was started in a process is not running in its forked child
 */
#ifndef TRC_RECORDER_PROFILE_KIND_H
#define TRC_RECORDER_PROFILE_KIND_H

#include <pthread.h>
#include <sys/types.h>
#include "recorder/shared/cpu_event.h"
#include "encode.h"
#include "format/sampled.h"
#include "recorder/fold/fold.h"
#include "trc/recorder.h"

enum {
	TRC_RECORDER_VIEWS_MAX = 4,
	TRC_RECORDER_MEMBERS_MAX = 16,
	TRC_RECORDER_WHY_BYTES = 400,
};

/* Samples of one recorder, for one window or instant. */
struct trc_taken {
	struct trc_folded *folded[TRC_RECORDER_VIEWS_MAX];
	unsigned int n_folded;
	void *rows;			/* of kinds without views; free()d */
	void *rows_before;		/* of some: what there was when the window began */
	struct trc_module_list modules; /* that the stacks refer to */
	int64_t begin_realtime_ns, duration_ns;
	/* Of what was recorded meanwhile so much was overwritten before it could be read; 0 =
	 * nothing. */
	unsigned int overwritten_percent;
	uint64_t missing_threads; /* CPU: that were not sampled, since recording began */
};

/* Puts one sample into a profile. */
typedef void trc_emit_fn(void *context, const struct trc_encode_sample *sample);

/* Context of all: the thread that calls the recorder's functions, recording nothing meanwhile.
 * Those that return an int: 0, or -errno with a sentence in why[TRC_RECORDER_WHY_BYTES]. */
struct trc_recorder_kind {
	const char *name; /* as on an index page */

	/* NULL = there are snapshots only.  Before the window begins, and after it has ended: what
	 * has to be recorded for it.  Within the recorder's lock. */
	int (*prepare)(struct trace_recorder *r, char why[static TRC_RECORDER_WHY_BYTES]);
	void (*done)(struct trace_recorder *r);

	/* Kinds with views (`views` is set).  For each that is missing yet: in the draining thread.
	 */
	int (*add_views)(struct trace_recorder *r, struct trc_fold *fold, uint64_t now);
	/* In the draining thread, too, of what was copied.  May be NULL. */
	void (*taken)(struct trace_recorder *r, struct trc_taken *taken);
	/* What lives now, of all time, in place of the window up to now; NULL = the latter. */
	int (*look)(struct trace_recorder *r, struct trc_fold *fold, uint64_t now,
		    struct trc_taken *taken);

	/* Kinds that collect by themselves: what is now; `window` = the change since prepare(),
	 * with which the window ends. */
	int (*take)(struct trace_recorder *r, struct trc_taken *taken, bool window,
		    char why[static TRC_RECORDER_WHY_BYTES]);

	/* Kinds whose snapshots are no samples: writes one. */
	int (*write)(struct trace_recorder *r, const struct trace_writer *writer,
		     char why[static TRC_RECORDER_WHY_BYTES]);

	/* How it was recorded, in words: a comment.  May be NULL. */
	void (*remark)(const struct trace_recorder *r, char text[static TRC_SAMPLED_TEXT_BYTES]);
	/* Types and style; the rest comes filled in.  NULL where there is `write`. */
	void (*describe)(const struct trace_recorder *r, struct trc_encode_info *info);
	/* Of kinds without views.  May be NULL. */
	void (*emit)(const struct trace_recorder *r, const struct trc_taken *taken,
		     trc_emit_fn *emit, void *context);
	/* What else it holds.  May be NULL. */
	void (*free)(struct trace_recorder *r);
	bool views;
	/* Of kinds without: between prepare() and done() it keeps the session, whose epochs its
	 * stacks are of; they may be of modules that are gone. */
	bool epochs;
};

/* Recorders with more members begin with this structure. */
struct trace_recorder {
	const struct trc_recorder_kind *kind;
	struct trace_recorder *next; /* of all (recorder.c) */
	bool text;
	const struct trc_encode_wanted *wanted; /* what it writes; NULL = to the end */
	bool is_member;				/* of a multi recorder: nobody else's any more */
	pthread_mutex_t lock;
	bool running;
	pid_t pid; /* that it was started in */
	struct trace_writer writer;
	int64_t begin_realtime_ns, begin_raw_ns;
	/* Changed in the draining thread only. */
	struct trc_view *view[TRC_RECORDER_VIEWS_MAX];
	unsigned int n_views;
};

/* A new recorder of this size, with only kind and format set; NULL = no memory, with
 * trace_last_error(). */
void *trc_recorder_new(size_t n_bytes, const struct trc_recorder_kind *kind,
		       enum trace_profile_format format);
/* As trc_recording_copy() for options that may be NULL; also checks the format.  `known` begins
 * with struct_bytes and format, and comes filled in with the defaults. */
int trc_recorder_options(void *known, size_t known_bytes, const void *from, const char *init);

/* Adds a view to the recorder, in the draining thread.  Each view has a seed of its own. */
int trc_recorder_add_view(struct trace_recorder *r, struct trc_fold *fold,
			  struct trc_view_options options, uint64_t now);

/* ---- recorder_window.c: n recorders at once, all of their own or none ------------------- */

int trc_recorders_begin(struct trace_recorder *const *r, size_t n,
			char why[static TRC_RECORDER_WHY_BYTES]);
/* Takes the counts so far; with `end` the window ends.  taken[n] is the caller's even after an
 * error: trc_taken_free() each.  With `window` false: instants (look(), take()). */
int trc_recorders_take(struct trace_recorder *const *r, size_t n, struct trc_taken *taken,
		       bool window, bool end, char why[static TRC_RECORDER_WHY_BYTES]);
/* The trc_view_count() of a recorder with views. */
uint64_t trc_recorder_count(struct trace_recorder *r);
/* Ends the window, and drops its counts. */
void trc_recorders_cancel(struct trace_recorder *const *r, size_t n);

/* ---- write.c ---- */

void trc_taken_free(struct trc_taken *taken);
/* One profile of n recorders, in the format of the first. */
int trc_recorders_write(struct trace_recorder *const *r, size_t n, const struct trc_taken *taken,
			const struct trace_writer *writer, char why[static TRC_RECORDER_WHY_BYTES]);
/* Turns n labels into the encoder's labels; their texts go to text[n_bytes].  Returns the number of
 * labels that found room. */
size_t trc_recorder_labels(const struct trc_label *from, uint32_t n, struct trc_pprof_label *to,
			   char *text, size_t n_bytes);
/* Finishes the writer, with err if err is not 0; returns the writer's result. */
int trc_writer_finished(const struct trace_writer *writer, int err);
/* True if the writer is one of trace_writer_to_path() that was finished. */
bool trc_writer_is_used_up(const struct trace_writer *writer);
/* In a forked child: the lock is nobody's. */
void trc_writers_forget(void);

/* ---- describe.c: for describe() ------------------------------------------------ */

void trc_describe_waits(struct trc_encode_info *info, bool mutex, int64_t period);
void trc_describe_offcpu(struct trc_encode_info *info);
void trc_describe_threadcreate(struct trc_encode_info *info);
void trc_describe_threads(struct trc_encode_info *info);
/* Names are borrowed; NULL = of time. */
void trc_describe_cpu(struct trc_encode_info *info, const struct trc_cpu_event *event);
void trc_remark_cpu(char text[static TRC_SAMPLED_TEXT_BYTES], const struct trc_cpu_event *event);
void trc_describe_heap(struct trc_encode_info *info, bool allocs, int64_t sample_bytes);

/* ---- in a forked child: locks that its parent's other threads held are not ---- */
void trc_recorders_forget(void);
void trc_recorder_cpu_forget(void);
void trc_recorder_custom_forget(void);

/* ---- recorder_views.c ---- */

/* A recorder of all waits of threads, for any reason; only for profiles that are served.  0 or
 * -ENOMEM. */
int trc_offcpu_recorder(struct trace_recorder **out, enum trace_profile_format format);

/* ---- recorder_multi.c ---- */

/* The members of a multi recorder; any other recorder is its own only member.  *each: one_each. */
struct trace_recorder *const *trc_recorder_members(struct trace_recorder *const *r, size_t *n,
						   bool *each);

#endif
