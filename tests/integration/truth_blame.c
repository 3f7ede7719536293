/*
 * truth_blame.c - more threads than processors fight for one mutex, and keep account of who held
 * it while others waited.
 *
 *   truth_blame [plain|pi|timed]
 *
 * Each turn of a thread is written down: when it asked for the mutex, had it or gave up, and let
 * go.  From that the program finds at its end, for each function that holds the mutex, how much of
 * the others' waiting fell into its sections: the truth about blame, whatever the machine's load.
 *
 * Output as in truth.h: "caused", site, reason, releases, total_ns; and "unlocking", what of the others' waiting fell
 * into the calls that let go: when in such a call the mutex is free the program cannot know.  And "gave_up", "mutex", how many calls did.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "truth.h"

enum { THREADS = 8, TURNS_MAX = 20000, KINDS = 4, SECONDS = 2 };

struct turn {
	uint64_t asked_ns, had_ns;
	/* Before the call that lets go, and when it had done so, at the latest; 0 = it gave up at had_ns. */
	uint64_t released_ns, let_go_ns;
	int kind;
};

static struct turn turn[THREADS][TURNS_MAX];
static unsigned int n_turns[THREADS];
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static uint64_t until_ns;
static atomic_uint gave_up;
static const char *how = "plain";

static void work(uint64_t ns)
{
	uint64_t from = now_ns();

	while (now_ns() - from < ns)
		;
}

static uint64_t cpu_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

/* A mutex that inherits priorities is given to a thread that waits, which may have no processor for long: the call
 * gave it away in the CPU time that it took.  Another mutex is free until somebody takes it. */
static uint64_t latest_of(uint64_t released_ns, uint64_t took_cpu_ns)
{
	uint64_t ns = now_ns();

	return strcmp(how, "pi") || released_ns + took_cpu_ns > ns ? ns : released_ns + took_cpu_ns;
}

/* One function for each length of a section.  The mutex is released in it. */
#define HOLD(name, us)                                                                             \
	SITE void name(struct turn *t)                                                             \
	{                                                                                          \
		uint64_t before_ns;                                                                \
                                                                                                   \
		work((us)*1000u);                                                                  \
		before_ns = cpu_ns();                                                              \
		t->released_ns = now_ns();                                                         \
		pthread_mutex_unlock(&mutex);                                                      \
		t->let_go_ns = latest_of(t->released_ns, cpu_ns() - before_ns);                    \
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

/* 0, or ETIMEDOUT after 1 ms. */
static int ask(void)
{
	struct timespec until;

	if (strcmp(how, "timed"))
		return pthread_mutex_lock(&mutex);
	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_nsec += 1000000;
	until.tv_sec += until.tv_nsec / 1000000000;
	until.tv_nsec %= 1000000000;
	return pthread_mutex_timedlock(&mutex, &until);
}

static void *fighter(void *arg)
{
	unsigned int me = (unsigned int)(uintptr_t)arg, seed = me + 1, n = 0;
	int err;

	while (n < TURNS_MAX && now_ns() < until_ns) {
		struct turn *t = &turn[me][n++];

		t->kind = kind_of(&seed);
		work((uint64_t)(rand_r(&seed) % 1000) * 1000);
		t->asked_ns = now_ns();
		err = ask();
		t->had_ns = now_ns();
		if (err)
			gave_up++;
		else
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

/* Sections do not overlap: those within a wait are the last ones that began before its end. */
static void account(const struct turn *wait, const struct turn *section, unsigned int n)
{
	unsigned int first = 0, last = n;

	while (first < last) {
		unsigned int middle = first + (last - first) / 2;

		if (section[middle].had_ns < wait->had_ns)
			first = middle + 1;
		else
			last = middle;
	}
	while (first-- > 0 && section[first].let_go_ns > wait->asked_ns) {
		const char *name = hold_name[section[first].kind];
		uint64_t from = section[first].had_ns, until = section[first].released_ns,
			 latest = section[first].let_go_ns;

		from = from > wait->asked_ns ? from : wait->asked_ns;
		until = until < wait->had_ns ? until : wait->had_ns;
		latest = latest < wait->had_ns ? latest : wait->had_ns;
		if (until > from)
			site_caused(name, "mutex", until - from, 1);
		site_add(site_row("unlocking", name, "mutex"),
			 latest - (until > from ? until : from), 1);
	}
}

static void make_mutex(void)
{
	pthread_mutexattr_t attr;

	if (strcmp(how, "pi"))
		return;
	pthread_mutexattr_init(&attr);
	pthread_mutexattr_setprotocol(&attr, PTHREAD_PRIO_INHERIT);
	pthread_mutex_init(&mutex, &attr);
	pthread_mutexattr_destroy(&attr);
}

int main(int argc, char **argv)
{
	static struct turn all[THREADS * TURNS_MAX];
	pthread_t thread[THREADS];
	unsigned int n = 0;

	if (argc > 1)
		how = argv[1];
	make_mutex();
	truth_begin();
	until_ns = now_ns() + SECONDS * UINT64_C(1000000000);
	for (uintptr_t i = 0; i < THREADS; i++)
		if (pthread_create(&thread[i], NULL, fighter, (void *)i))
			return 1;
	for (int i = 0; i < THREADS; i++) {
		pthread_join(thread[i], NULL);
		for (unsigned int t = 0; t < n_turns[i]; t++)
			if (turn[i][t].released_ns)
				all[n++] = turn[i][t];
	}
	qsort(all, n, sizeof(all[0]), by_time);
	for (unsigned int t = 1; t < n; t++) /* who has had the mutex since then has let go */
		if (all[t - 1].let_go_ns > all[t].had_ns)
			all[t - 1].let_go_ns = all[t].had_ns;
	for (int i = 0; i < THREADS; i++)
		for (unsigned int t = 0; t < n_turns[i]; t++)
			account(&turn[i][t], all, n);
	printf("gave_up\tmutex\t%u\n", gave_up);
	return truth_print(stdout);
}
