/*
 * blame.h - the causes of all waits at once, summed: what in the end held the program's threads up.
 *
 * At each time a waiting thread depends on one other thread or lock.  The other thread may wait as well, and so
 * on: a chain.  At the end of the chain is a thread that does not wait for another (it runs, sleeps, reads a
 * file).  The end of the chain is charged with the time of all threads that depend on it.  Chains change only
 * at events.  So one pass over the events, which counts the waiters of each thread and lock, gives
 * the same sums as following each wait by itself.  The pass takes time linear in the number of events times
 * the length of chains.
 *
 *   blame:U1  a thread's time counts once, for the innermost wait that the thread is in: the charges add up to the
 *       time that threads were in the waits that are asked for
 *   blame:U2  the charges are the leaves of causes.h, summed, except in a cycle of threads that wait for each other:
 *       there only one thread is charged.  If a thread of the cycle has not begun, this thread is charged, as
 *       "starting".  Such a cycle is there only if its creator creates it in a wait that the program announced, or gives
 *       its own wait up.  If the cycle closes among others while they wait for this thread, one of the two ways may say
 *       "starting" and the other a cycle or a deadlock
 */
#ifndef TRC_ANALYZER_CAUSES_BLAME_H
#define TRC_ANALYZER_CAUSES_BLAME_H

#include "causes.h"

/* A charge for n waits that have the same labels: n times the time from from_ns to to_ns. */
struct trc_blame {
	int64_t ns;
	int64_t from_ns, to_ns;
	uint32_t stack;	 /* 0 = not known */
	uint32_t labels; /* of those that waited, as `wanted` gave them: it may give each its own */
	uint32_t
		sample; /* of STACK_SAMPLE: row + 1 in samples, it tells the stack; 0 = none does */
	uint32_t thread;  /* who is charged; 0 = a lock that nobody held, or not known */
	uint8_t kind;	  /* enum trc_cause_kind */
	uint8_t reason;	  /* of the wait of who is charged; 0 = it was in none */
	uint8_t stack_of; /* enum trc_cause_stack */
};

struct trc_blame_target {
	/* Whether the wait counts, and under which labels. */
	bool (*wanted)(void *context, const struct trc_park *park, uint32_t *labels);
	/* Whether a thread's waiting counts at this time, and until when that stays so.  NULL: always. */
	bool (*inside)(void *context, uint32_t thread, int64_t now_ns, int64_t *until_ns);
	/* Only waiting in from_ns..to_ns is charged, whatever `inside` says; both 0: all. */
	int64_t from_ns, to_ns;
	/* 0 or -errno, which ends it. */
	int (*charge)(void *context, const struct trc_blame *blame);
	void *context;
};

/* TRC_CAUSES_PARTS must have been derived.  0 or -errno. */
int trc_blame_sum(const struct trc_model *m, const struct trc_blame_target *target);

#endif
