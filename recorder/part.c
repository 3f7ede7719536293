/* part.c - see part.h */
#include <dlfcn.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "part.h"

/* The directory of the object that this code is in, with its slash; false if nobody knows. */
static bool own_dir(char dir[PATH_MAX])
{
	static const char here;
	const char *slash;
	Dl_info info;

	if (!dladdr(&here, &info) || !info.dli_fname)
		return false;
	slash = strrchr(info.dli_fname, '/');
	return slash && snprintf(dir, PATH_MAX, "%.*s", (int)(slash - info.dli_fname) + 1,
				 info.dli_fname) < PATH_MAX;
}

static bool is_at(char path[PATH_MAX], const char *dir, const char *beside, const char *file)
{
	return snprintf(path, PATH_MAX, "%s%s%s", dir, beside, file) < PATH_MAX &&
	       !access(path, R_OK);
}

/* In a build tree (libtrc's, a program's), in a tree that was moved, where it was installed. */
static bool find(char path[PATH_MAX], const char *file)
{
	char dir[PATH_MAX];

	return (own_dir(dir) &&
		(is_at(path, dir, "", file) || is_at(path, dir, "trc/", file) ||
		 is_at(path, dir, ".libs/", file) || is_at(path, dir, "../.libs/", file) ||
		 is_at(path, dir, "../lib/trc/", file))) ||
	       is_at(path, TRC_PKGLIBDIR, "/", file);
}

const void *trc_part_open(const char *file, const char *symbol, char *why, size_t n_bytes)
{
	char path[PATH_MAX];
	const void *found;
	void *part;

	if (!find(path, file)) {
		snprintf(why, n_bytes, "%s: not installed beside libtrc", file);
		return NULL;
	}
	part = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
	found = part ? dlsym(part, symbol) : NULL;
	if (!found)
		snprintf(why, n_bytes, "%s", dlerror());
	return found;
}
