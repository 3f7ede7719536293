/*
 * deep.c - stacks deeper than they are kept: waits, computes and allocates at the end of a recursion.
 *
 *   deep DEPTH [MORE...]   at each depth in turn, in a thread and in main
 *   deep http DEPTH        stays there until its input ends
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "check_or_exit.h"

static int until_eof;
static volatile size_t kept;

__attribute__((noinline)) static void site_waits(void)
{
	const struct timespec t = {0, 2000000};
	char c;

	if (until_eof)
		while (read(0, &c, 1) > 0)
			;
	nanosleep(&t, NULL);
	kept++;
}

__attribute__((noinline)) static void site_allocates(void)
{
	void *p = malloc(100000);

	memset(p, 1, 100000);
	kept += (size_t)p; /* lives on */
}

__attribute__((noinline)) static void site_computes(void)
{
	struct timespec t;
	double until;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	until = (double)t.tv_sec + (double)t.tv_nsec / 1e9 + (until_eof ? 0 : 0.03);
	do {
		for (int i = 0; i < 10000; i++)
			kept++;
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	} while ((double)t.tv_sec + (double)t.tv_nsec / 1e9 < until);
}

__attribute__((noinline)) static void recurse(int depth)
{
	if (depth > 0) {
		recurse(depth - 1);
	} else {
		site_computes();
		site_allocates();
		site_waits();
	}
	kept++; /* no tail call */
}

static void *thread_root(void *depth)
{
	recurse(*(int *)depth);
	kept++;
	return NULL;
}

int main(int argc, char **argv)
{
	int i = 1;

	if (argc > 2 && !strcmp(argv[1], "http"))
		until_eof = i++;
	for (; i < argc; i++) {
		int depth = atoi(argv[i]);
		pthread_t thread;

		if (!until_eof) {
			CHECK(!pthread_create(&thread, NULL, thread_root, &depth));
			CHECK(!pthread_join(thread, NULL));
		}
		recurse(depth);
	}
	return 0;
}
