/*
 * truth.h - a program that measures its own waits, so that a trace of it can be judged.
 *
 * Each place that waits is a function of its own, named site_..., that reads the clock before
 * and after; the same function is then looked for in the stacks of the trace.  A wait below
 * TRUTH_MIN_NS is counted by neither side: whether a call that found its lock just released
 * waited is for nobody to say.
 *
 * Output, one line a site, separated by tabs: "wait", site, reason, count, total_ns, longest_ns;
 * or "caused", site, reason, releases, total_ns for the wait that others had because of a site.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TRC_TESTS_TRUTH_H
#define TRC_TESTS_TRUTH_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>

#define TRUTH_MIN_NS 500000u
/* A function that waits: never inlined, and its call is never the last thing that it does. */
#define SITE __attribute__((noinline)) static

struct site {
	const char *what, *name, *reason;
	atomic_uint_fast64_t count, total_ns, longest_ns;
};

enum { SITES_MAX = 64 };
static struct site site_table[SITES_MAX];
static atomic_uint site_count;
static pthread_spinlock_t site_lock; /* guards the making of rows; held for nanoseconds */

static inline uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

/* The row of this place; made on its first use.  Strings are literals. */
static inline struct site *site_row(const char *what, const char *name, const char *reason)
{
	struct site *row = NULL;

	pthread_spin_lock(&site_lock);
	for (unsigned int i = 0; i < site_count && !row; i++) {
		if (site_table[i].what == what && site_table[i].name == name &&
		    site_table[i].reason == reason)
			row = &site_table[i];
	}
	if (!row && site_count < SITES_MAX) {
		row = &site_table[site_count];
		row->what = what;
		row->name = name;
		row->reason = reason;
		site_count++;
	}
	pthread_spin_unlock(&site_lock);
	return row;
}

static inline void site_add(struct site *row, uint64_t total_ns, uint64_t count)
{
	uint64_t longest = row->longest_ns;

	row->count += count;
	row->total_ns += total_ns;
	while (total_ns > longest &&
	       !atomic_compare_exchange_weak(&row->longest_ns, &longest, total_ns))
		;
}

/* One wait at this place, from `from_ns` until now. */
static inline void site_waited(const char *name, const char *reason, uint64_t from_ns)
{
	uint64_t ns = now_ns() - from_ns;

	if (ns >= TRUTH_MIN_NS)
		site_add(site_row("wait", name, reason), ns, 1);
}

static inline void site_caused(const char *name, const char *reason, uint64_t ns, uint64_t releases)
{
	site_add(site_row("caused", name, reason), ns, releases);
}

static inline void truth_begin(void)
{
	pthread_spin_init(&site_lock, PTHREAD_PROCESS_PRIVATE);
}

static inline int truth_print(FILE *out)
{
	for (unsigned int i = 0; i < site_count; i++)
		fprintf(out, "%s\t%s\t%s\t%ju\t%ju\t%ju\n", site_table[i].what, site_table[i].name,
			site_table[i].reason, (uintmax_t)site_table[i].count,
			(uintmax_t)site_table[i].total_ns, (uintmax_t)site_table[i].longest_ns);
	return fflush(out) ? 1 : 0;
}

#endif
