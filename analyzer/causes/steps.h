/*
 * steps.h - what a thread, a lock or a wait is in at some time, and until when: the steps of which
 * explanations of waits are made.
 *
 * A step either names what is waited for, or needs no further cause.  Everything else here is for
 * finding steps quickly.
 *
 *   steps:R1  a wait for a condition variable up to a time limit depends on the thread that ends the last of the waits which it goes on
 *       in: the thread waits again for the same, at the same place, after no wait but for locks, and after no longer than it had
 *       waited.  This holds for condition variables that some threads signal and wait for, as for a lock: so do Python's threads
 *       for its global lock, 5 ms at a time.  Nobody who signals a timer's thread waits as it does
 *   steps:R2  such a wait does not go on if its thread has woken others in between, but for locks: who takes from a queue and puts into it
 *       wakes those that wake it.  Each would seem to wait for the other, in a circle that never was
 */
#ifndef TRC_ANALYZER_CAUSES_STEPS_H
#define TRC_ANALYZER_CAUSES_STEPS_H

#include "causes.h"
#include "analyzer/model/timeline.h"

/* The unlocks of a lock; or, for waits to read it, the unlocks at which these waits are cut (charges:C6).
 * unlock_row[first] up to unlock_row[first + n], by time. */
struct trc_steps_lock {
	uint32_t first, n;
};

struct trc_steps {
	const struct trc_model *m;
	const struct trc_thread *thread;
	const struct trc_park *park;
	const struct trc_unlock *unlock;
	const struct trc_on_cpu *on_cpu;
	const struct trc_sample *sample;
	size_t n_threads, n_parks, n_unlocks, n_on_cpu, n_samples;
	uint32_t *outer;
	struct trc_by_thread parks, stretches, samples; /* samples: of clocks, with a stack */
	struct trc_array *pieces;  /* by row of the thread; made when first asked for */
	struct trc_index lock_row; /* by trc_charge_key() */
	struct trc_array locks;	   /* struct trc_steps_lock */
	uint32_t *unlock_row, n_unlock_rows;
	uint32_t *
		unlock_place; /* by row of unlocks: its index within its lock, not within the readers' */
	int64_t switches_ns;
	bool cut;		/* the trace: at its end events of some procs may be missing, */
	int64_t whole_until_ns; /* from then on */
	int64_t *lost_since_ns; /* of gaps[i] and all after it, the earliest */
	struct trc_index holder_now; /* by park id: the thread that holds the lock at the end */
	/* By id of a condition wait: the id of the unlock by which its thread gave the mutex back in it,
	 * where others waited for the mutex. */
	struct trc_index release;
	/* By id of a condition wait that its time limit ended: the id of the wait, of the same thread for the same, that
	 * it went on in until another thread ended it (steps:R1). */
	struct trc_index goes_on;
	bool is_kept;	/* all of this is the model's (trc_model_keep()) */
	bool is_mapped; /* rows that are no trc_array's are an image's */
};

struct trc_image;
/* The walk of the steps that a model keeps (trc_model_keep()), in an image (analyzer/model/image.h). */
int trc_steps_walk(struct trc_image *image, struct trc_model *m);

/* At a time and until until_ns. */
struct trc_step {
	int64_t until_ns;
	uint32_t on;	  /* the thread that it depends on; 0 = none that is known */
	uint32_t park;	  /* of a thread: id of the wait that it is in, also PREEMPTED; 0 = none */
	uint32_t stack;	  /* of the event that will end it, or of a sample; 0 = none */
	uint32_t unlock;  /* id of the unlock that ends the section of `on`; 0 = none */
	uint32_t sample;  /* of STACK_SAMPLE: row + 1 in samples; 0 = none */
	uint8_t kind;	  /* enum trc_cause_kind; WAITING: for `on`, or in `park` */
	uint8_t stack_of; /* enum trc_cause_stack */
	bool born;	  /* of STARTING: it has begun, and had no proc yet */
	bool created;	  /* of STARTING: it has not begun, and its creator has done its part */
};

/* 0 or -ENOMEM; free it in both cases. */
int trc_steps_open(struct trc_steps *s, const struct trc_model *m);
void trc_steps_close(struct trc_steps *s);

/* ---- a thread ---- */

/* The pieces of a thread, by row, made when first asked for; NULL without memory. */
const struct trc_array *trc_steps_pieces_of(struct trc_steps *s, size_t thread);

/* Where in a thread's pieces the last step was: time only goes on. */
struct trc_step_cursor {
	const struct trc_array *pieces;
	size_t thread, piece;
};
/* 0 or -ENOMEM. */
int trc_step_seek(struct trc_steps *s, struct trc_step_cursor *cursor, size_t thread,
		  int64_t ts_ns);
/* The same, sooner if it is not far after the piece `near`, where the thread was before. */
int trc_step_seek_near(struct trc_steps *s, struct trc_step_cursor *cursor, size_t thread,
		       int64_t ts_ns, size_t near);
/*
 * What the thread is in at that time: WAITING in `park`; STARTING, if it has not begun, and
 * `on` creates it, or has created it, or it is being born; GONE; or what it does.
 */
void trc_step_of_thread(const struct trc_steps *s, struct trc_step_cursor *cursor, int64_t ts_ns,
			struct trc_step *step);

/* The proc from which a thread, by row, was taken off that was PREEMPTED then. */
uint32_t trc_step_proc_of(const struct trc_steps *s, size_t thread, int64_t ts_ns);

/* ---- a lock ---- */

/* key: trc_charge_key(). */
const struct trc_steps_lock *trc_step_lock_of(const struct trc_steps *s, uint64_t key);
/* The lock's first unlock after this time; its index. */
uint32_t trc_step_lock_seek(const struct trc_steps *s, const struct trc_steps_lock *lock,
			    int64_t ts_ns);
/* *next comes from trc_step_lock_seek(), and moves on with time.  The step is WAITING for the thread that has the lock,
 * or FREE; after the last unlock UNKNOWN, without an end. */
void trc_step_of_lock(const struct trc_steps *s, const struct trc_steps_lock *lock, uint32_t *next,
		      int64_t ts_ns, struct trc_step *step);

/* ---- a wait ---- */

struct trc_step_wait {
	uint32_t park;			   /* id */
	const struct trc_steps_lock *lock; /* NULL = it is for no lock */
	uint32_t next;			   /* of trc_step_of_lock() */
	int64_t lock_until_ns;		   /* up to then the lock tells what is waited for */
};
void trc_step_wait_begin(const struct trc_steps *s, struct trc_step_wait *wait, uint32_t park,
			 int64_t from_ns);
/* The lock that this part of a wait is for, if sections of the lock end in it: *until_ns is when the last of them did.  NULL = none, and
 * nothing is set. */
const struct trc_steps_lock *trc_step_lock_of_part(const struct trc_steps *s, uint32_t park,
						   int64_t from_ns, int64_t to_ns,
						   int64_t *until_ns);
/* WAITING for `on`, or a kind that needs no further cause. */
void trc_step_of_wait(const struct trc_steps *s, struct trc_step_wait *wait, int64_t ts_ns,
		      struct trc_step *step);
/* The kind of a wait of no length. */
uint8_t trc_step_kind_alone(const struct trc_park *park);

/* ---- lost events: lost.c ---- */

/* Events that threads record were lost in this time. */
bool trc_steps_lost(const struct trc_steps *s, int64_t from_ns, int64_t to_ns);
/* Events of this time may be lost, or behind the place where the file was cut. */
bool trc_steps_missing(const struct trc_steps *s, int64_t from_ns, int64_t to_ns);
/* Who ended the wait is not known: UNKNOWN, not traced; or LOST, if an event that tells of it may be missing.  A thread records that
 * it ended a wait when it runs on: after the wait, if the thread that was woken took its processor. */
uint8_t trc_step_kind_unknown(const struct trc_steps *s, const struct trc_park *park);
/* The wait comes a second time in a chain: DEADLOCK, if it is still in progress; CYCLE; or LOST, if its end may be missing, so that its
 * thread did not wait any more. */
uint8_t trc_step_kind_of_cycle(const struct trc_steps *s, const struct trc_park *park);

#endif
