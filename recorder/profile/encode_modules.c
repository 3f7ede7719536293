/* encode_modules.c - the modules that stacks refer to, for libtrc-profile.so (encode.h). */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "encode.h"
#include "recorder/ring/rec.h"

/* Modules, and behind them their paths, in one piece of memory; what there was no room for is
 * counted only.  The linker's lock is held while modules are told: nothing is allocated then, for
 * an allocator may have its own lock and want that one. */
struct filling {
	struct trc_module_entry *module; /* NULL = nothing but counted */
	char *path;
	size_t max, path_bytes_max; /* room */
	size_t n, path_bytes;
};

static void modules_add(void *context, const struct trc_module_entry *module)
{
	struct filling *f = context;
	const char *path = module->path ? module->path : "";
	size_t path_bytes = strlen(path) + 1;

	if (f->n < f->max && path_bytes <= f->path_bytes_max &&
	    f->path_bytes <= f->path_bytes_max - path_bytes) {
		f->module[f->n] = *module;
		f->module[f->n].path = memcpy(f->path + f->path_bytes, path, path_bytes);
	}
	f->n++;
	f->path_bytes += path_bytes;
}

static void modules_visit(struct filling *f, bool recorded)
{
	f->n = f->path_bytes = 0;
	if (recorded)
		trc_modules_recorded(modules_add, f);
	else
		trc_modules_loaded(modules_add, f);
}

static bool modules_fit(const struct filling *f)
{
	return f->n <= f->max && f->path_bytes <= f->path_bytes_max;
}

int trc_module_list(struct trc_module_list *list, bool recorded)
{
	struct filling f = {.module = NULL};

	modules_visit(&f, recorded);
	do { /* more may be loaded meanwhile */
		f.max = f.n + 8;
		f.path_bytes_max = f.path_bytes + 1024;
		free(f.module);
		f.module = malloc(f.max * sizeof(*f.module) + f.path_bytes_max);
		if (!f.module)
			return -ENOMEM;
		f.path = (char *)(f.module + f.max);
		modules_visit(&f, recorded);
	} while (!modules_fit(&f));
	*list = (struct trc_module_list){f.module, f.n};
	return 0;
}
