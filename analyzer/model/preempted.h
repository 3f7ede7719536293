/*
 * preempted.h - when threads could have run, and had no proc.
 *
 * A thread is preempted from when it is taken off its proc, though it could go on, until it is put
 * on one again.  A thread in a recorded wait is not preempted, since the wait explains
 * the time; but a thread in a wait for a file may be (timeline:P1).  These are the times that causes call preempted
 * (analyzer/causes/steps.c).
 */
#ifndef TRC_ANALYZER_MODEL_PREEMPTED_H
#define TRC_ANALYZER_MODEL_PREEMPTED_H

#include "array.h"
#include "model.h"

struct trc_preempted_time {
	int64_t from_ns, to_ns;
	int64_t before_ns; /* of the thread's times before this one, summed */
};

/* A preempted time of a wait (timeline:P1), without times in waits that lie within the wait. */
struct trc_preempted_wait {
	int64_t from_ns, to_ns;
	uint32_t park, thread; /* id in parks */
};

/* Zeroed memory may be freed. */
struct trc_preempted {
	const struct trc_model *m;
	struct trc_array time; /* struct trc_preempted_time, by thread, then by time */
	struct trc_array wait; /* struct trc_preempted_wait, by park, then by time */
	uint32_t *first;       /* by row of threads: where its times begin; NULL = none are known */
};

/* Needs TRC_PART_SCHED.  Without switch records nothing is known.  0 or -ENOMEM; free it in both
 * cases. */
int trc_preempted_make(struct trc_preempted *p, const struct trc_model *m);
void trc_preempted_free(struct trc_preempted *p);
static inline bool trc_preempted_known(const struct trc_preempted *p)
{
	return p && p->first;
}
/* How much of from..to the thread with this serial was preempted; 0 if that is not known. */
int64_t trc_preempted_ns(const struct trc_preempted *p, uint32_t thread, int64_t from_ns,
			 int64_t to_ns);

/* The preempted times of waits; none if p is NULL. */
const struct trc_preempted_wait *trc_preempted_waits(const struct trc_preempted *p, size_t *n);
/* How much of from..to the wait was preempted itself. */
int64_t trc_preempted_wait_ns(const struct trc_preempted *p, uint32_t park, int64_t from_ns,
			      int64_t to_ns);

#endif
