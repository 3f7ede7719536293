/* encode_modules.c - the modules that stacks refer to, for libtrc-profile.so (encode.h). */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "encode.h"
#include "rec.h"

struct growing {
	struct trc_module_list list;
	size_t max, path_bytes;
	int err;
};

static void add(void *context, const struct trc_module_entry *module)
{
	struct growing *g = context;

	if (g->list.n_modules == g->max) {
		size_t max = 2 * g->max + 32;
		struct trc_module_entry *grown = reallocarray(g->list.module, max, sizeof(*grown));

		if (!grown) {
			g->err = -ENOMEM;
			return;
		}
		g->list.module = grown;
		g->max = max;
	}
	g->list.module[g->list.n_modules++] = *module;
	g->path_bytes += strlen(module->path ? module->path : "") + 1;
}

/* The paths move behind the modules: one piece of memory. */
static int keep_paths(struct growing *g)
{
	size_t n_bytes = g->list.n_modules * sizeof(*g->list.module);
	struct trc_module_entry *kept = malloc(n_bytes + g->path_bytes + 1);
	char *path;

	if (!kept)
		return -ENOMEM;
	if (n_bytes)
		memcpy(kept, g->list.module, n_bytes);
	path = (char *)kept + n_bytes;
	for (size_t i = 0; i < g->list.n_modules; i++) {
		const char *from = kept[i].path ? kept[i].path : "";
		size_t path_bytes = strlen(from) + 1;

		memcpy(path, from, path_bytes);
		kept[i].path = path;
		path += path_bytes;
	}
	free(g->list.module);
	g->list.module = kept;
	return 0;
}

int trc_module_list(struct trc_module_list *list, bool recorded)
{
	struct growing g = {.max = 0};

	if (recorded)
		trc_modules_recorded(add, &g);
	else
		trc_modules_loaded(add, &g);
	if (!g.err)
		g.err = keep_paths(&g);
	if (g.err) {
		free(g.list.module);
		return g.err;
	}
	*list = g.list;
	return 0;
}
