/* part.c - see part.h */
#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "part.h"

/* The directory of the object that this code is in, with its slash; "" = nobody knows.  Constant
 * after own_dir_find(). */
static char own_dir[PATH_MAX];

static void part_find_program(void)
{
	ssize_t n = readlink("/proc/self/exe", own_dir, sizeof(own_dir) - 1);

	own_dir[n > 0 ? n : 0] = '\0';
	own_dir[n > 0 ? strrchr(own_dir, '/') - own_dir + 1 : 0] = '\0';
}

/*
 * The linker knows a library by the name that it was asked for, which may begin at the directory
 * that was the current one then (LD_PRELOAD=./libtrc.so); later that could be anybody's.  Before
 * constructors that open parts.
 */
__attribute__((constructor(101))) static void own_dir_find(void)
{
	static const char here;
	size_t n = 0;
	Dl_info info;
	void *map;
	char *slash;

	if (!dladdr1(&here, &info, &map, RTLD_DL_LINKMAP) || !info.dli_fname)
		return;
	if (!*((const struct link_map *)map)->l_name) { /* the program: dli_fname is argv[0] */
		part_find_program();
		return;
	}
	if (*info.dli_fname != '/') {
		if (!getcwd(own_dir, sizeof(own_dir) - 1) || *own_dir != '/') {
			own_dir[0] = '\0';
			return;
		}
		n = strlen(own_dir);
		own_dir[n++] = '/';
	}
	if (strlen(info.dli_fname) >= sizeof(own_dir) - n) {
		own_dir[0] = '\0';
		return;
	}
	strcpy(own_dir + n, info.dli_fname);
	slash = strrchr(own_dir, '/');
	slash[1] = '\0';
}

static bool part_is_at(char path[PATH_MAX], const char *dir, const char *beside, const char *file)
{
	return snprintf(path, PATH_MAX, "%s%s%s", dir, beside, file) < PATH_MAX &&
	       !access(path, R_OK);
}

/* In a build tree (libtrc's, a program's), in a tree that was moved, where it was installed. */
static bool part_find(char path[PATH_MAX], const char *file)
{
	const char *dir = own_dir;

	return (*dir && (part_is_at(path, dir, "", file) || part_is_at(path, dir, "trc/", file) ||
			 part_is_at(path, dir, ".libs/", file) ||
			 part_is_at(path, dir, "../.libs/", file) ||
			 part_is_at(path, dir, "../lib/trc/", file))) ||
	       part_is_at(path, TRC_PKGLIBDIR, "/", file);
}

const void *trc_part_open(const char *file, const char *symbol, char *why, size_t n_bytes)
{
	char path[PATH_MAX];
	const void *found;
	void *part;

	if (!part_find(path, file)) {
		snprintf(why, n_bytes, "%s: not installed beside libtrc", file);
		return NULL;
	}
	part = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
	found = part ? dlsym(part, symbol) : NULL;
	if (!found)
		snprintf(why, n_bytes, "%s", dlerror());
	return found;
}
