/* thread_profile_private.h - a profile of all threads while it is being taken: thread_profile.c, thread_ask.c. */
#ifndef TRC_RECORDER_LIB_THREAD_PROFILE_PRIVATE_H
#define TRC_RECORDER_LIB_THREAD_PROFILE_PRIVATE_H

#include "recorder/profile/thread_profile.h"
#include "recorder/sampling/thread_answer.h"
#include "thread_tasks.h"

/* Asked at once: each is a thread that the program's own wait behind on some proc. */
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
	uint64_t *stack_id;  /* [max_rows] of what is recorded; 0 = none */
	uint64_t *labels_id; /* [max_rows] */
	uint64_t *creation;  /* [max_rows] stacks; 0 = none */
	uint32_t *creator;   /* [max_rows] serials */
	uint64_t *holder;    /* [max_rows] as in a slot */
	bool *gone;	     /* [max_rows] */
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
	int err;

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
/* A stack that was recorded when its thread began to wait: nobody need be asked. */
bool trc_taking_put_recorded(struct taking *t, uint32_t i);

/* thread_ask.c: asks those of which too little is known.  t->err tells of failures. */
void trc_taking_ask_all(struct taking *t);

#endif
