/*
 * truth_profile.c - works and sleeps for two tenants, and says how long for which.
 *
 * Output: "cpu" or "sleep", tenant, function, nanoseconds, separated by tabs.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>
#include <trc/labels.h>

static uint64_t now_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

__attribute__((noinline)) static void burn(const char *tenant, unsigned int ms)
{
	uint64_t from = now_ns(CLOCK_THREAD_CPUTIME_ID), now = from;
	volatile unsigned int n = 0;

	while (now - from < ms * UINT64_C(1000000)) {
		for (unsigned int i = 0; i < 50000; i++)
			n = n + i;
		now = now_ns(CLOCK_THREAD_CPUTIME_ID);
	}
	printf("cpu\t%s\tburn\t%llu\n", tenant, (unsigned long long)(now - from));
}

__attribute__((noinline)) static void rest(const char *tenant, unsigned int ms)
{
	struct timespec ts = {0, ms * 1000000};
	uint64_t from = now_ns(CLOCK_MONOTONIC);

	nanosleep(&ts, NULL);
	printf("sleep\t%s\trest\t%llu\n", tenant,
	       (unsigned long long)(now_ns(CLOCK_MONOTONIC) - from));
}

/* Inherits the labels of who created it. */
static void *acme(void *unused)
{
	burn("acme", 400);
	rest("acme", 150);
	return unused;
}

int main(void)
{
	pthread_t thread;

	{
		TRACE_LABELS("tenant", "acme");
		pthread_create(&thread, NULL, acme, NULL);
	}
	{
		TRACE_LABELS("tenant", "zeta");
		burn("zeta", 200);
		rest("zeta", 300);
	}
	pthread_join(thread, NULL);
	return 0;
}
