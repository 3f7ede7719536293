/*
 * own_locks.h - places where threads wait for each other as for a lock, though no lock of a library is there: rows of a
 * table, slots, connections.
 *
 * What is known of such a lock is where threads wait for it and who wakes them.
 *
 *   own_locks:M1  a place is a function in which threads wait for a condition variable, a semaphore or a futex, with the
 *       function that called it
 *   own_locks:M2  those who wait there are woken there by each other: by PEERS_PERCENT of the time, the thread that ended
 *       the wait waits there itself, PEER_PART as long as the others do in the mean.  Consumers are woken by producers
 *   own_locks:M3  they have work at hand while they wait.  Threads of a pool whose tasks make new tasks wake each other as well,
 *       and have nothing to do until then.  One of three things tells: the waits are in tasks or regions; a function of the
 *       place is called for a lock; or the thread also waits further out, where it gets its work from
 *   own_locks:M4  further out: the calls that led to the wait and to the waking are one and the same for longer than those that led to
 *       the wait and to another wait of the thread.  So the operation that waits here is the one that wakes others
 *   own_locks:M5  the lock of an interpreter is none, nor are waits for a thread's end, at a barrier, for a known lock
 *   own_locks:M6  a waking lets one thread go on: at a barrier the last to come wakes all others.  So WAKINGS_PERCENT of the
 *       waits that let a thread go on have a waking of their own.  A thread that waits there again at once, after less than
 *       AGAIN_NS, did not go on: it was woken in vain, as others were before it
 *   own_locks:M7  who wakes them lets something go, in another function.  Who wakes others in the function in which it may wait itself,
 *       called from the same function, meets them: neighbours exchange what they have computed, two wait for each other
 *   own_locks:M8  where threads wait for less than a LIVES_PART of their lives nothing is looked for: a thread has few places, then,
 *       and each of its waits is compared with few others
 */
#ifndef TRC_ANALYZER_WORDS_OWN_LOCKS_H
#define TRC_ANALYZER_WORDS_OWN_LOCKS_H

#include "words.h"

struct trc_own_lock {
	uint8_t reason;
	uint32_t longest; /* row of r->park */
	uint32_t n_threads;
	uint64_t n;
	uint64_t n_wakings, n_again; /* M6 */
	int64_t ns, threads_ns;	     /* of its waits; of its threads' lives */
	int64_t peers_ns;	     /* of ns: other threads of it ended the wait */
	int64_t at_work_ns;
	int64_t commits_ns; /* a transaction's end woke the thread */
	uint64_t n_outer;   /* waits after which the thread waited further out */
	bool is_candidate;  /* by all but M3 */
	bool named, tells;  /* M3; all of it */
};

/* The place of the waits at a stack for one reason; reason 0 = not known yet. */
struct trc_own_place {
	uint8_t reason;
	uint32_t number;
};

struct trc_own_locks {
	struct trc_array locks;		/* struct trc_own_lock, all places */
	struct trc_index lock_of;	/* by reason and functions: number */
	struct trc_own_place *of_stack; /* by stack */
	size_t n_stacks;
	bool any_tells;
};

/* Of all waits that are selected: found when they are first asked for, valid until trc_report_end().  0 or -ENOMEM. */
int trc_report_own_locks(struct trc_report *r, const struct trc_own_locks **own);
void trc_own_locks_free(struct trc_own_locks *own); /* accepts NULL */
/* The lock that a wait is for; NULL = it is for none. */
const struct trc_own_lock *trc_own_lock_of(const struct trc_own_locks *own,
					   const struct trc_report *r, const struct trc_park *park);
/* "InnoDB's row locks"; NULL = it has no name. */
const char *trc_own_lock_name(const struct trc_own_lock *lock, const struct trc_report *r);

#endif
