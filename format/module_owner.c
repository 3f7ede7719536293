/* module_owner.c - see module_owner.h */
#include "module_owner.h"

#include <fnmatch.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include "path.h"

static const char *const TRC_OBJECTS[] = {"libtrc.so*", "libtrc-*.so*", "libtrc_*.so*"};
static const char *const LIBRARIES[] = {
	"libc.so*",	 "libc-*.so*", "libpthread.so*", "libpthread-*.so*", "librt.so*",
	"librt-*.so*",	 "ld-*.so*",   "ld.so*",	 "libc.musl-*",	     "ld-musl-*",
	"libstdc++.so*", "libc++.so*", "libc++abi.so*",
};

static bool name_in(const char *name, const char *const *pattern, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!fnmatch(pattern[i], name, 0))
			return true;
	return false;
}

enum trc_module_owner trc_module_owner(const char *path)
{
	const char *name = path ? trc_path_name(path) : NULL;

	if (!name || name[0] != 'l') /* all of them begin so */
		return TRC_OWNER_PROGRAM;
	if (name_in(name, TRC_OBJECTS, sizeof(TRC_OBJECTS) / sizeof(*TRC_OBJECTS)))
		return TRC_OWNER_TRC;
	if (name_in(name, LIBRARIES, sizeof(LIBRARIES) / sizeof(*LIBRARIES)))
		return TRC_OWNER_LIBRARY;
	return TRC_OWNER_PROGRAM;
}
