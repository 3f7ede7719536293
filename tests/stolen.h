/*
 * stolen.h - runs that compare samples with time, where a hypervisor may take the processors away.
 *
 * Such time counts as the thread's, or passes for the kernel's timers only: what is sampled
 * meanwhile says nothing.  A run whose figures disagree fails at once if nothing was stolen, and is
 * made again if something was:
 *
 *	struct runs runs = {0};
 *
 *	while (another_run(&runs)) {
 *		...
 *		expect_within(&runs, value_ns, 90000000, 110000000);
 *	}
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TESTS_STOLEN_H
#define TESTS_STOLEN_H

#include <check.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

/* Of the whole machine, in clock ticks; 0 where nobody knows. */
static inline uint64_t stolen_ticks(void)
{
	uint64_t stolen = 0;
	FILE *stat = fopen("/proc/stat", "r");

	if (!stat)
		return 0;
	if (fscanf(stat, "cpu %*u %*u %*u %*u %*u %*u %*u %" SCNu64, &stolen) != 1)
		stolen = 0;
	fclose(stat);
	return stolen;
}

enum { RUNS_MAX = 5 };

struct runs {
	uint64_t stolen_before; /* when this run began */
	int n;
	bool disagrees; /* figures of this run, while time was stolen */
};

/* The first one, and the next if the last one's figures disagree. */
static inline bool another_run(struct runs *r)
{
	if (r->n++ && !r->disagrees)
		return false;
	r->disagrees = false;
	r->stolen_before = stolen_ticks();
	return true;
}

static inline void expect_figure(struct runs *r, const char *what, uint64_t got, uint64_t least,
				 uint64_t most)
{
	uint64_t stolen;

	if (got >= least && got <= most)
		return;
	usleep(50000); /* what was stolen is told at a processor's next tick */
	stolen = stolen_ticks() - r->stolen_before;
	ck_assert_msg(stolen > 0 && r->n < RUNS_MAX,
		      "%s is %" PRIu64 ", not %" PRIu64 " to %" PRIu64 "; %" PRIu64
		      " ticks were stolen in the last of %d runs",
		      what, got, least, most, stolen, r->n);
	printf("again, for %" PRIu64 " ticks were stolen: %s is %" PRIu64 "\n", stolen, what, got);
	r->disagrees = true;
}

/* In a run. */
#define expect_within(runs, got, least, most) expect_figure(runs, #got, got, least, most)
#define expect_at_least(runs, got, least)     expect_figure(runs, #got, got, least, UINT64_MAX)
#define expect_at_most(runs, got, most)	      expect_figure(runs, #got, got, 0, most)

#endif
