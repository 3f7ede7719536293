/*
 * truth_blame.c - more threads than processors fight for one mutex, and keep account of who held
 * it while others waited.
 *
 * Each turn of a thread is written down: when it asked for the mutex, had it, and let go.  From
 * that the program finds at its end, for each function that holds the mutex, how much of the
 * others' waiting fell into its sections: the truth about blame, whatever the machine's load.
 *
 * Output as in truth.h: "caused", site, reason, releases, total_ns.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdlib.h>
#include "tests/integration/truth.h"

enum { THREADS = 8, TURNS_MAX = 20000, KINDS = 4, SECONDS = 2 };

struct turn {
	uint64_t asked_ns, had_ns, released_ns;
	int kind;
};

static struct turn turn[THREADS][TURNS_MAX];
static unsigned int n_turns[THREADS];
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static uint64_t until_ns;

static void work(uint64_t ns)
{
	uint64_t from = now_ns();

	while (now_ns() - from < ns)
		;
}

/* One function for each length of a section.  The mutex is released in it. */
#define HOLD(name, us)                                                                             \
	SITE void name(struct turn *t)                                                             \
	{                                                                                          \
		work((us)*1000u);                                                                  \
		t->released_ns = now_ns();                                                         \
		pthread_mutex_unlock(&mutex);                                                      \
		atomic_signal_fence(memory_order_seq_cst);                                         \
	}
HOLD(site_hold_briefly, 100)
HOLD(site_hold, 300)
HOLD(site_hold_long, 800)
HOLD(site_hold_seldom, 2000)

static void (*const hold[KINDS])(struct turn *) = {site_hold_briefly, site_hold, site_hold_long,
						   site_hold_seldom};
static const char *const hold_name[KINDS] = {"site_hold_briefly", "site_hold", "site_hold_long",
					     "site_hold_seldom"};

static int kind_of(unsigned int *seed)
{
	int n = rand_r(seed) % 100;

	return n < 50 ? 0 : n < 80 ? 1 : n < 95 ? 2 : 3;
}

static void *fighter(void *arg)
{
	unsigned int me = (unsigned int)(uintptr_t)arg, seed = me + 1, n = 0;

	while (n < TURNS_MAX && now_ns() < until_ns) {
		struct turn *t = &turn[me][n++];

		t->kind = kind_of(&seed);
		work((uint64_t)(rand_r(&seed) % 1000) * 1000);
		t->asked_ns = now_ns();
		pthread_mutex_lock(&mutex);
		t->had_ns = now_ns();
		hold[t->kind](t);
	}
	n_turns[me] = n;
	return NULL;
}

static int by_time(const void *a, const void *b)
{
	const struct turn *left = a, *right = b;

	return (left->had_ns > right->had_ns) - (left->had_ns < right->had_ns);
}

/* Sections do not overlap: those within a wait are the ones just before the section that follows
 * it. */
static void account(const struct turn *all, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++) {
		for (unsigned int j = i; j-- > 0 && all[j].released_ns > all[i].asked_ns;) {
			uint64_t from = all[j].had_ns > all[i].asked_ns ? all[j].had_ns
									: all[i].asked_ns;
			uint64_t until = all[j].released_ns;

			site_caused(hold_name[all[j].kind], "mutex", until - from, 1);
		}
	}
}

int main(void)
{
	static struct turn all[THREADS * TURNS_MAX];
	pthread_t thread[THREADS];
	unsigned int n = 0;

	truth_begin();
	until_ns = now_ns() + SECONDS * UINT64_C(1000000000);
	for (uintptr_t i = 0; i < THREADS; i++)
		if (pthread_create(&thread[i], NULL, fighter, (void *)i))
			return 1;
	for (int i = 0; i < THREADS; i++) {
		pthread_join(thread[i], NULL);
		for (unsigned int t = 0; t < n_turns[i]; t++)
			all[n++] = turn[i][t];
	}
	qsort(all, n, sizeof(all[0]), by_time);
	account(all, n);
	return truth_print(stdout);
}
