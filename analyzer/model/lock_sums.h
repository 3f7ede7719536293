/*
 * lock_sums.h - each lock's waits, holds and convoys, summed over the trace or its selected part.
 *
 * A lock is an address with a kind: both rwlock reasons are one rwlock, and the mutex of a condition wait is a
 * mutex; file locks go by descriptor.
 *
 *   lock_sums:K1  waits are narrowed as the report narrows them (selection:V1); the times that sections caused, by
 *       selection:V3.  A hold counts whole if its thread is inside at any time of the hold; a convoy counts whole if
 *       any of its hand-overs is inside
 *   lock_sums:K2  a percentile is the smallest value that so many percent do not exceed
 *   lock_sums:K3  with --locks=all holds are the recorded ones.  Without it, holds are contended sections of which two
 *       things are known: when they began, and that another thread waited at their begin.  If no thread waited then,
 *       the holder may have given the lock back since, unseen, and taken it again
 *   lock_sums:K4  a convoy: an unlock ends a wait, the unlock of the thread that came in by this wait ends
 *       another, and so on, two hand-overs or more
 */
#ifndef TRC_ANALYZER_MODEL_LOCK_SUMS_H
#define TRC_ANALYZER_MODEL_LOCK_SUMS_H

#include "array.h"
#include "model.h"

/* Sums and percentiles of durations. */
struct trc_spread {
	uint64_t n;
	int64_t total_ns, p50_ns, p99_ns,
		max_ns; /* all but total_ns: TRC_NEVER if there are none */
};

enum trc_holds_from { TRC_HOLDS_NONE, TRC_HOLDS_ALL, TRC_HOLDS_CONTENDED };

struct trc_lock_sum {
	uint64_t object;
	uint8_t kind;	    /* enum trc_reason: as of trc_wait_kind(), or of a wait in no memory */
	uint8_t holds_from; /* enum trc_holds_from */
	uint32_t threads;   /* that waited */
	struct trc_spread waits, holds;
	uint64_t timed_out;
	int64_t woken_ns; /* of waits: after the unlock that let the thread come in, until it ran */
	uint64_t write_waits, write_holds; /* of a rwlock: to write, or by who wrote */
	int64_t write_waited_ns, write_held_ns;
	uint64_t sections, caused_waits; /* unlocks for which others waited */
	int64_t caused_ns;
	/* Without switch records TRC_NEVER, all three: its holders had no proc; as far as holds tell;
	 * while others waited; and how long they waited meanwhile, summed. */
	int64_t holds_preempted_ns, preempted_ns, preempted_waits_ns;
	uint64_t convoys;
	/* The longest in time; 0 hand-overs = there is none. */
	int64_t convoy_start_ns, convoy_ns;
	uint64_t convoy_handovers;
	uint32_t stack;	     /* of its first wait, or hold: which modules were loaded */
	uint32_t descriptor; /* of a file lock: trc_model_descriptor(); 0 = not known */
};

struct trc_lock_sums {
	struct trc_array rows;	/* struct trc_lock_sum; most waited for first, then most held */
	struct trc_index index; /* by trc_lock_sum_find() */
};

/* Derives what it needs.  count_threads: else `threads` stays 0.  0 or -errno with a line in error; free
 * it in both cases. */
int trc_lock_sums_make(struct trc_lock_sums *sums, struct trc_model *m, bool count_threads,
		       struct trc_error *error);
void trc_lock_sums_free(struct trc_lock_sums *sums);
struct trc_image;
/* The sums that a model keeps (trc_model_keep()), in an image (image.h); after such sums were made once. */
int trc_lock_sums_walk(struct trc_image *image, struct trc_model *m);
/* The lock that waits for this reason are for; NULL = none. */
const struct trc_lock_sum *trc_lock_sum_find(const struct trc_lock_sums *sums, unsigned int reason,
					     uint64_t object);
const char *trc_lock_sum_kind(const struct trc_lock_sum *sum);

#endif
