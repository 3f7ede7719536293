/*
 * reload.c - loads two plugins in turn, each gone before the other comes, under labels that say
 * which one runs.
 *
 *   reload ROUNDS LOOPS PLUGIN_A PLUGIN_B
 *
 * LOOPS is how long each works.  Every third time it waits in between, so that the process has a
 * stack of its own there.  Says at how many addresses they lay; status 1 if they do not load.
 */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <trc/labels.h>

typedef uint64_t run_fn(uint64_t n, void (*call)(void));

static uintptr_t seen[2];
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

int main(int argc, char **argv)
{
	uint64_t n = argc == 5 ? strtoull(argv[1], NULL, 10) : 0;
	uint64_t loops = n ? strtoull(argv[2], NULL, 10) : 0;

	if (!n)
		return 2;
	/* They wait in turn: each in other rounds. */
	for (uint64_t i = 0; i < n; i++)
		if (run(argv[3], "reload_work", 0, i, loops) ||
		    run(argv[4], "reload_other", 1, i + 1, loops))
			return 1;
	printf("%d\n", seen[0] == seen[1] ? 1 : 2);
	return 0;
}
