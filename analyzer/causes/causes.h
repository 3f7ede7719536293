/*
 * causes.h - why a wait lasted, through all threads that it depended on.
 *
 * A wait for a lock is cut at the unlocks that happened meanwhile, by the rules of
 * format/waits/charges.h: each piece is the time in which one thread held the
 * lock.  A wait that another thread ended is one piece, up to that thread's signal, post, write or
 * exit.  A piece is then cut by what its thread did in it.  If that thread waited itself, its wait
 * is cut in the same way, within the piece; and so on.  The leaves need no further cause: a thread
 * ran, was preempted, slept, or waited for data or for somebody outside.
 *
 *   causes:Q1  the leaves of a wait follow each other in time, without a hole, and add up to it
 *   causes:Q2  a row lies within the time of its parent: nothing from before the wait enters
 *   causes:Q3  the pieces of depth 1 that are charged to an unlock add up, over all waits, to the unlock's
 *       caused_ns.  This does not hold for waits that a snapshot's window cuts
 *   causes:Q4  a wait that comes a second time in a chain is not followed: a leaf says so
 *
 * Only one wait is derived at a time, in time and memory linear in the number of its rows.  Each row comes
 * from an event of some thread in the time of the wait.
 */
#ifndef TRC_ANALYZER_CAUSES_CAUSES_H
#define TRC_ANALYZER_CAUSES_CAUSES_H

#include "analyzer/model/array.h"
#include "analyzer/model/model.h"
#include "draws.h"

struct trc_causes;
struct trc_steps;

/* The state of a thread during a piece. */
enum trc_cause_kind {
	TRC_CAUSE_WAITING, /* in a wait; the rows below say for what.  All others are leaves */
	TRC_CAUSE_RUNNING, /* on a proc, as switch records say */
	TRC_CAUSE_ACTIVE,  /* in no recorded wait; without switch records nobody knows if it ran */
	TRC_CAUSE_PREEMPTED, /* it could have run: another thread had its proc */
	TRC_CAUSE_OFF,	     /* off its proc, in no recorded wait */
	TRC_CAUSE_FREE,	     /* nobody held the lock: who was woken for it had not taken it yet */
	TRC_CAUSE_WAKING,    /* woken, and it had not run yet */
	TRC_CAUSE_SLEEPING,  /* on purpose: a sleep, or a wait that its time limit ended */
	TRC_CAUSE_IO,	     /* for data of a file, a pipe or a peer, or for a file itself */
	TRC_CAUSE_OUTSIDE,   /* for a request, a signal, a child: for what comes from outside */
	TRC_CAUSE_UNWOKEN,   /* nobody had ended the wait when the trace ended */
	TRC_CAUSE_STARTING,  /* the thread had been created, and had not run yet */
	TRC_CAUSE_GONE,	     /* the thread had ended */
	TRC_CAUSE_DEADLOCK,  /* Q4: in a wait that is still in progress */
	TRC_CAUSE_CYCLE,     /* Q4: in any other */
	TRC_CAUSE_LOST,	     /* not known: events were lost then */
	TRC_CAUSE_UNKNOWN,   /* not known: who ended the wait was not traced */
	TRC_CAUSE_DEEP,	     /* the chain is too long (TRC_CAUSES_DEPTH_MAX) */
	TRC_CAUSE_KINDS
};

enum { TRC_CAUSES_DEPTH_MAX = 64 };

/* What the stack of a row shows. */
enum trc_cause_stack {
	TRC_CAUSE_STACK_NONE,
	TRC_CAUSE_STACK_WAIT,	/* where the thread waited */
	TRC_CAUSE_STACK_SAMPLE, /* where it ran: a sample in the piece */
	TRC_CAUSE_STACK_END,	/* what ended the piece: the unlock, the signal, ... */
};

/* Rows of a tree, each before those below it. */
struct trc_cause {
	int64_t from_ns, to_ns;
	uint64_t object; /* of the thread's wait; 0 = it is in none */
	uint32_t
		wait; /* id in parks: whose causes these are; 0 = of a stretch of a thread's time */
	uint32_t id;  /* 1, 2, ... within the wait */
	uint32_t parent; /* id of the row that this one explains a part of; 0 = none */
	uint32_t depth;	 /* 0 = the wait itself */
	uint32_t thread;
	uint32_t stack;
	uint32_t park;	     /* id in parks: the wait that the thread was in; 0 = in none */
	uint32_t unlock;     /* id in unlocks: the thread held the lock until then; 0 = none */
	uint32_t descriptor; /* of that wait: trc_model_descriptor(); 0 = not known */
	/* Of PREEMPTED: the program's thread that ran longest meanwhile on the proc that it was taken off;
	 * 0 = none.  And for how long; TRC_NEVER = not known. */
	uint32_t instead;
	int64_t instead_ns;
	int64_t margin_ns; /* of a row that was asked of trc_causes_margins(), and else 0 */
	uint8_t kind;	   /* enum trc_cause_kind */
	uint8_t stack_of;  /* enum trc_cause_stack */
	uint8_t reason;	   /* of the thread's wait; 0 = it is in none */
	bool leaf;
};

/* The parts that must have been derived. */
enum {
	TRC_CAUSES_PARTS =
		TRC_PART_WAITS | TRC_PART_SCHED | TRC_PART_SAMPLES | TRC_PART_NOW | TRC_PART_LABELS
};

/* 0 or -ENOMEM.  *out is the caller's; it must not outlive the model. */
int trc_causes_open(struct trc_causes **out, const struct trc_model *m);
void trc_causes_close(struct trc_causes *c); /* accepts NULL */
/* From now on an answer that would take more rows is -E2BIG; 0 = any number. */
void trc_causes_limit(struct trc_causes *c, size_t rows_max);

/*
 * Each returns 0, -ENOMEM or -E2BIG, and rows that are valid until the next call.
 * Of the wait with this id, 1 up to the number of parks.
 */
int trc_causes_of_wait(struct trc_causes *c, uint32_t park, const struct trc_cause **rows,
		       size_t *n);
/* Those of a part of the wait.  The wait's own row comes first, and is no leaf.  of_others: what all that wait for the lock then have
 * in common that are in none of the rows themselves. */
int trc_causes_of_part(struct trc_causes *c, uint32_t park, int64_t from_ns, int64_t to_ns,
		       bool of_others, const struct trc_cause **rows, size_t *n);
const struct trc_steps *trc_causes_steps(const struct trc_causes *c);
/* The causes of a stretch of a thread's time: the rows of depth 0 follow each other. */
int trc_causes_of_thread(struct trc_causes *c, uint32_t thread, int64_t from_ns, int64_t to_ns,
			 const struct trc_cause **rows, size_t *n);
/* Of a task, which is followed back from the thread that ended it.  The causes of that thread's waiting, before it had
 * the task, are what other threads did with the task until then. */
int trc_causes_of_task(struct trc_causes *c, const struct trc_task *task,
		       const struct trc_cause **rows, size_t *n);
/* The same without the rows below those waits of depth 0 whose causes trc_together_open_parts() derives with others': rows of such
 * parts of waits are WAITING, and none is below them. */
int trc_causes_heads_of_task(struct trc_causes *c, const struct trc_task *task,
			     const struct trc_cause **rows, size_t *n);
/* The causes of a region: what the thread did on which the region began. */
int trc_causes_of_region(struct trc_causes *c, const struct trc_region *region,
			 const struct trc_cause **rows, size_t *n);

/* The draws of a row that so many waits have, and whose stack is of a sample, for this group; of any other row none.  0 or
 * -ENOMEM. */
int trc_causes_draws(struct trc_causes *c, const struct trc_cause *row, uint32_t times,
		     uint32_t group, struct trc_draws *draws);

/* Sets how far the lengths of these rows may be off, of those whose stack is of a sample.  A row has row_bytes, and
 * begins with a struct trc_cause.  0 or -ENOMEM. */
int trc_causes_margins(struct trc_causes *c, void *rows, size_t n, size_t row_bytes);

/* Takes the rows of the last answer, and leaves the memory of these, which may be none, for the next. */
void trc_causes_swap(struct trc_causes *c, struct trc_array *rows);

/* Whether a thread ran, could run or could not, while it was in no wait.  If a thread was off its proc all the time, it
 * waited for something that the recorder does not see. */
struct trc_cause_work {
	int64_t ns;
	int64_t last_ns; /* until when; TRC_NEVER = it always waited, or was not there */
};
/* In this time.  0 or -ENOMEM. */
int trc_causes_work(struct trc_causes *c, uint32_t thread, int64_t from_ns, int64_t to_ns,
		    struct trc_cause_work *work);

/* "running", ...; for SQL, too. */
const char *trc_cause_name(enum trc_cause_kind kind);
/* What a thread of this kind did, to stand after the thread's name: "ran"; "" for FREE and WAKING. */
const char *trc_cause_words(enum trc_cause_kind kind);
const char *trc_cause_stack_name(enum trc_cause_stack stack_of); /* NULL for NONE */

#endif
