/*
 * path.h - the parts of a file's path.
 */
#ifndef TRC_FORMAT_PATH_H
#define TRC_FORMAT_PATH_H

#include <stddef.h>
#include <string.h>

/* What is behind the last slash: the file's own name. */
static inline const char *trc_path_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* How many of the `n_bytes` bytes of a name from /proc/PID/maps are the file's path.  The kernel
 * writes " (deleted)" behind the path of a file that is gone; a name of this mark alone is a path. */
size_t trc_path_bytes(const char *name, size_t n_bytes);

#endif
