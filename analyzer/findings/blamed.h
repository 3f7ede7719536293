/* blamed.h - for which threads other threads waited, in the end. */
#ifndef TRC_ANALYZER_FINDINGS_BLAMED_H
#define TRC_ANALYZER_FINDINGS_BLAMED_H

#include "analyzer/causes/causes.h"
#include "analyzer/words/words.h"

/*
 * While one thread waited, the other ran, or could have run: the leaves of the causes of the first thread's waits.
 * Waits that count are waits for other threads, except waits for a thread's end and waits at barriers.
 */
struct trc_blamed_pair {
	uint32_t waiter, by; /* rows of threads */
	int64_t ns;
	uint64_t n;		 /* waits */
	int64_t without_proc_ns; /* of ns: it could have run */
};

struct trc_blamed {
	struct trc_array pairs; /* struct trc_blamed_pair */
};

/* Free with trc_blamed_free(), also after a failure.  0 or -ENOMEM. */
int trc_blamed_of(struct trc_blamed *blamed, struct trc_report *r);
void trc_blamed_free(struct trc_blamed *blamed);
/* Whether a wait counts (struct trc_blamed_pair). */
bool trc_blamed_counts(const struct trc_park *park);

/* Each calls `add` with the causes of waits that are wanted; NULL = of all waits of trc_blamed_counts().  If these are
 * very many, or have very many rows, only some waits are followed: *times is how many times as much all waits are.  0 or
 * -errno, also an error of `add`. */
typedef bool trc_blamed_wanted_fn(const struct trc_report *r, const struct trc_park *park);
typedef int trc_blamed_add_fn(void *context, uint32_t waiter, const struct trc_cause *row,
			      size_t n);
int trc_blamed_follow(struct trc_report *r, trc_blamed_wanted_fn *wanted, trc_blamed_add_fn *add,
		      void *context, double *times);

#endif
