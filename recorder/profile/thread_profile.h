/*
 * thread_profile.h - what every thread of this process is doing now.
 *
 * No thread is stopped.  A thread in a recorded wait has its stack in its slot.  The stacks of
 * other waiting threads are read from outside, without disturbing the threads.  All other threads
 * are asked by a signal, a few at a time, and answer for themselves (thread_answer.h).
 *
 *   thread_profile:D1  each thread that was there when the profile began, and is there still, has
 *       one row; threads of trc's own have none
 *   thread_profile:D2  a row is one consistent look at the thread, at its own moment between begin
 *       and end; a stack that is not known is left out, never made up
 *   thread_profile:D3  a thread is not asked if its stack is known without asking.  Nor is it asked
 *       if a signal could make a call of the program's fail or do less, if the thread blocks the
 *       signal, or if the kernel does not say.  Then the row has what is seen of the thread from
 *       outside
 */
#ifndef TRC_RECORDER_PROFILE_THREAD_PROFILE_H
#define TRC_RECORDER_PROFILE_THREAD_PROFILE_H

#include <stdbool.h>
#include <stdint.h>
#include "format/writer.h"

enum trc_thread_is {
	TRC_THREAD_IS_RUNNING, /* on a proc, or ready to be */
	TRC_THREAD_IS_WAITING,
	TRC_THREAD_IS_SILENT, /* it did not answer in time: what else there is may be older */
};

/* The origin of a row's stack, if the stack is not the thread's present one. */
enum trc_thread_last {
	TRC_THREAD_LAST_NONE, /* it is there */
	TRC_THREAD_LAST_WAIT, /* there it waited last */
	TRC_THREAD_LAST_SAMPLE,
};

struct trc_thread_row {
	uint32_t tid;
	uint32_t serial;      /* 0 = the recorder does not know it */
	uint32_t creator_tid; /* 0 = not known, or gone */
	enum trc_thread_is is;
	uint32_t reason;     /* WAITING: enum trc_reason; 0 = a call of another kind */
	uint32_t holder_tid; /* 0 = none is known */
	uint64_t object;     /* 0 = none */
	bool has_wait_ns;    /* it is known since when */
	bool not_asked;	     /* D3 */
	bool asked;
	enum trc_thread_last last;
	uint64_t wait_ns;
	uint64_t last_ns;	 /* how long ago it was there still */
	uint64_t interrupted_ns; /* asked: for so long */
	uint32_t epoch;		 /* of modules, as the session counts them */
	uint32_t n_frames;	 /* 0 = its stack is not known */
	const uint64_t *frame;	 /* return addresses, innermost first */
	/* Where it was created, likewise. */
	uint32_t creation_epoch, n_creation_frames;
	const uint64_t *creation_frame;
	char name[64]; /* zero-terminated */
	uint32_t n_labels;
	const struct trc_label *label; /* sorted by key */
};

struct trc_thread_profile {
	struct trc_thread_row *row; /* by tid */
	uint32_t n_rows;
	uint32_t n_asked, n_silent, n_not_asked;
	uint32_t n_ended;	   /* threads that were there first, and then no more */
	uint64_t longest_ns;	   /* that a thread was interrupted for */
	int64_t begin_realtime_ns; /* since 1970 */
	uint64_t duration_ns;
};

/*
 * Takes a profile.  A thread that has not answered after deadline_ns (0 = 100 ms) is SILENT.  Of
 * the time that the calling thread is off its proc, only 5 ms count.  On success *out is the
 * caller's: trc_thread_profile_free() it. 0, -EBUSY: nothing records this process; -ENOMEM, or what
 * /proc failed with.  One profile at a time is taken, other callers wait.  Context: any thread that
 * records nothing meanwhile, may block; the session stays meanwhile.
 */
int trc_thread_profile_take(struct trc_thread_profile **out, uint64_t deadline_ns);
/* A profile is one piece of memory: free() does as well.  Accepts NULL. */
void trc_thread_profile_free(struct trc_thread_profile *profile);

/*
 * Stores the tids of each row's creator and holder, as far as both have a row themselves
 * (thread_resolve.c). creator[i] is the serial of row i's creator. holder[i] is the holder as in a
 * slot: a serial, or a tid with TRC_THREAD_IS_TID. 0 = not known.  0 or -ENOMEM.  Context: any
 * thread, may block.
 */
int trc_thread_profile_resolve(struct trc_thread_profile *profile, const uint32_t *creator,
			       const uint64_t *holder);

/* The number of the program's threads; 0 = the kernel does not say.  Context: any thread, may
 * block.
 */
uint32_t trc_thread_count(void);

/* "waiting", "running", "did not answer" (thread_text.c). */
const char *trc_thread_is_name(enum trc_thread_is is);
/* "of its last wait", "of its last sample"; "" = the stack is the present one. */
const char *trc_thread_last_name(enum trc_thread_last last);

/* In a forked child, where no profile is being taken. */
void trc_thread_profile_forget(void);

#endif
