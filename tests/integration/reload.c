/*
 * reload.c - loads two plugins in turn, each gone before the other comes, under labels that say
 * which one runs.
 *
 *   reload ROUNDS LOOPS PLUGIN_A PLUGIN_B
 *   reload ROUNDS LOOPS PLUGIN_A PLUGIN_A PLUGIN_A...
 *
 * LOOPS is how long each works.  Every third time it waits in between, so that the process has a
 * stack of its own there.  Says at how many addresses they lay; status 1 if they do not load.  Of three and more, copies
 * of the first one, each is loaded by a thread of its own, all at once.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <trc/labels.h>

typedef uint64_t run_fn(uint64_t n, void (*call)(void));

static _Atomic uintptr_t seen[2];
static volatile uint64_t sink;

static void rest(void)
{
	struct timespec t = {0, 20000};

	nanosleep(&t, NULL);
}

static int run(const char *path, const char *name, unsigned int which, uint64_t round,
	       uint64_t loops)
{
	void *plugin = dlopen(path, RTLD_NOW);
	run_fn *fn = plugin ? (run_fn *)(uintptr_t)dlsym(plugin, name) : NULL;

	if (!fn) {
		fprintf(stderr, "reload: %s\n", dlerror());
		return 1;
	}
	seen[which] = (uintptr_t)fn;
	if (which) {
		TRACE_LABELS("in", "other");
		sink = fn(loops, round % 3 ? NULL : rest);
	} else {
		TRACE_LABELS("in", "work");
		sink = fn(loops, round % 3 ? NULL : rest);
	}
	dlclose(plugin);
	return 0;
}

enum { THREADS_MAX = 16 };
static uint64_t n_rounds, n_loops;

static void *run_one(void *path)
{
	for (uint64_t i = 0; i < n_rounds; i++)
		if (run(path, "reload_work", 0, 0, n_loops))
			return path;
	return NULL;
}

static int all_at_once(char **path, int n)
{
	pthread_t thread[THREADS_MAX];
	void *failed = NULL;
	int status = 0;

	for (int i = 0; i < n; i++)
		if (pthread_create(&thread[i], NULL, run_one, path[i]))
			return 1;
	for (int i = 0; i < n; i++) {
		pthread_join(thread[i], &failed);
		status |= failed != NULL;
	}
	return status;
}

int main(int argc, char **argv)
{
	if (argc < 5 || argc - 3 > THREADS_MAX)
		return 2;
	n_rounds = strtoull(argv[1], NULL, 10);
	n_loops = strtoull(argv[2], NULL, 10);
	if (argc > 5)
		return all_at_once(argv + 3, argc - 3);
	/* They wait in turn: each in other rounds. */
	for (uint64_t i = 0; i < n_rounds; i++)
		if (run(argv[3], "reload_work", 0, i, n_loops) ||
		    run(argv[4], "reload_other", 1, i + 1, n_loops))
			return 1;
	printf("%d\n", seen[0] == seen[1] ? 1 : 2);
	return 0;
}
