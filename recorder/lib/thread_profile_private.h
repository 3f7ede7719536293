/* thread_profile_private.h - a profile of all threads while it is being taken: thread_profile.c, thread_look.c,
 * thread_ask.c. */
#ifndef TRC_RECORDER_LIB_THREAD_PROFILE_PRIVATE_H
#define TRC_RECORDER_LIB_THREAD_PROFILE_PRIVATE_H

#include <pthread.h>
#include "recorder/profile/thread_profile.h"
#include "recorder/sampling/thread_answer.h"
#include "recorder/unwind/unwind.h"
#include "thread_tasks.h"

/* The number of questions at once: each answering thread makes threads of the program wait on some
 * proc. */
enum { AT_ONCE = 4 };

/* A question on its way. */
struct question {
	uint32_t row;
	int32_t cell;
	uint64_t since_ns, sent_ns;
};

/* A profile as it is being taken. */
struct taking {
	struct trc_thread_profile *p;
	uint32_t max_rows;
	uint64_t *stack_id;	      /* [max_rows] of what is recorded; 0 = none */
	uint64_t *labels_id;	      /* [max_rows] */
	uint64_t *creation;	      /* [max_rows] stacks; 0 = none */
	uint32_t *creator;	      /* [max_rows] serials */
	uint64_t *holder;	      /* [max_rows] as in a slot */
	bool *gone;		      /* [max_rows] */
	bool *known;		      /* [max_rows] complete: nobody need be asked */
	const struct trc_slot **slot; /* [max_rows] NULL = it has none */
	struct question *slow;
	uint32_t n_slow;
	struct question fresh[AT_ONCE];
	uint32_t n_fresh;
	uint32_t next_row, next_cell;
	uint64_t deadline_ns, begin_ns, slow_seen_ns;
	uint64_t patience_ns, looked_ns; /* answers_patience() */
	uint32_t own_tid;
	struct trc_tasks tasks;
	uint64_t libc[2];
	uint64_t *frame; /* [TRC_UNWIND_WALK_MAX] of the thread that is looked at */
	_Atomic uint32_t next_look;
	/* From a thread's pthread_self() to its robust list, trc_self and label set; list 0 = not known. */
	intptr_t list_off, self_off, labels_off;
	int err;

	/* Guards err and what follows while several threads look; nothing is locked inside. */
	pthread_mutex_t words_lock;
	/* What rows point to; as offsets until it is complete, since it moves as it grows. */
	uint64_t *words;
	size_t n_words, max_words;
	size_t *frames_at, *creation_at, *labels_at; /* [max_rows] */
};

/* What is known of row i. */
void trc_taking_put_frames(struct taking *t, uint32_t i, const uint64_t *frame, uint32_t n,
			   uint32_t epoch);
void trc_taking_set_wait(struct taking *t, uint32_t i, uint32_t reason, uint64_t object,
			 uint64_t since, uint64_t holder);
void trc_taking_set_running(struct taking *t, uint32_t i);
/* A stack that was recorded when its thread began to wait. */
bool trc_taking_put_recorded(struct taking *t, uint32_t i);

/* The number of innermost frames of a waiting thread that belong to the wait itself: frames of
 * libc, then of an interposer of ours.  The other frames are the stack that a record of the wait
 * would have. */
uint32_t trc_taking_frames_of_waiting(const struct taking *t, const uint64_t *frame, uint32_t n);

/*
 * thread_look.c: where a waiting thread is, while the thread goes on waiting.
 *
 *   thread_profile:K1  a finding counts only if the thread did not run during the look.  The proof
 *       is the thread's slot, unchanged since it said that the thread waits, or the kernel's count
 *   thread_profile:K2  memory of a thread is never loaded directly: the kernel copies the memory,
 *       since the thread may end
 *   thread_profile:K3  the place of the call is known, but not all registers are.  A row is
 *       complete only if its stack was followed to the outermost frame, and its labels are known
 */
void trc_taking_look_setup(struct taking *t);
/* Looks at all threads, by several threads at once if there are many: t->known tells whose rows are
 * complete. */
void trc_taking_look_at_all(struct taking *t);
/* Looks at one thread.  False: the thread's row is unchanged.  With `partly` the row may have the
 * innermost frames alone.  `frame` is memory for this look. */
bool trc_taking_look(struct taking *t, uint32_t i, uint64_t frame[TRC_UNWIND_WALK_MAX],
		     bool partly);

/* thread_ask.c: asks the threads of which too little is known. t->err tells of failures. */
void trc_taking_ask_all(struct taking *t);

#endif
