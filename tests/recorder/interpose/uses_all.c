/*
 * uses_all.c - refers to every interposed name, for bindings.sh to see what the loader binds it
 * to.  Prints the names that it refers to.
 */
#include "recorder/interpose/libc.h"
#include "recorder/interpose/names.h"

typedef void function(void);

#define N(name)			{#name, (function *)name},
#define V(field, name, version) {#name, (function *)name},
#define T(name)			{#name, (function *)name},
static const struct {
	const char *name;
	function *address;
} used[] = {TRC_NAMES(N, V, T)};

int main(void)
{
	int missing = 0;
	size_t i;

	for (i = 0; i < sizeof(used) / sizeof(used[0]); i++) {
		void *found = dlsym(RTLD_DEFAULT, used[i].name);

		puts(used[i].name);
		if (found != (void *)(uintptr_t)used[i].address) {
			fprintf(stderr, "dlsym finds another %s\n", used[i].name);
			missing = 1;
		}
	}
	return missing;
}
