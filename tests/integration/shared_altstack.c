/*
 * shared_altstack.c - threads that all have one alternate stack, as those of varnishd.
 *
 *   shared_altstack SECONDS
 *
 * A sample may land in several of them at once.  Each thread computes the same twice and compares,
 * and looks whether sigaltstack() tells the stack that it asked for.
 */
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "check_or_exit.h"

enum { THREADS = 8, ROUNDS = 20000 };

static char common[64 << 10];
static atomic_bool done;

static uint64_t burn(uint64_t x)
{
	for (int i = 0; i < ROUNDS; i++)
		x = x * 6364136223846793005u + 1;
	return x;
}

static void *compute(void *arg)
{
	stack_t stack = {.ss_sp = common, .ss_size = sizeof(common)}, seen;

	CHECK(!sigaltstack(&stack, NULL));
	for (uint64_t x = (uintptr_t)arg; !atomic_load(&done); x++) {
		CHECK(burn(x) == burn(x));
		CHECK(!sigaltstack(NULL, &seen));
		CHECK(seen.ss_sp == common && seen.ss_size == sizeof(common) && !seen.ss_flags);
	}
	stack.ss_flags = SS_DISABLE;
	CHECK(!sigaltstack(&stack, &seen) && seen.ss_sp == common && !seen.ss_flags);
	CHECK(!sigaltstack(NULL, &seen) && seen.ss_flags == SS_DISABLE);
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t thread[THREADS];

	for (size_t i = 0; i < THREADS; i++)
		CHECK(!pthread_create(&thread[i], NULL, compute, (void *)(i + 1)));
	sleep(argc > 1 ? (unsigned int)atoi(argv[1]) : 1);
	atomic_store(&done, true);
	for (size_t i = 0; i < THREADS; i++)
		CHECK(!pthread_join(thread[i], NULL));
	return 0;
}
