/* path.c - see path.h. */
#include "path.h"

size_t trc_path_bytes(const char *name, size_t n_bytes)
{
	static const char DELETED[] = " (deleted)";
	size_t mark_bytes = sizeof(DELETED) - 1;

	if (n_bytes > mark_bytes && !memcmp(name + n_bytes - mark_bytes, DELETED, mark_bytes))
		n_bytes -= mark_bytes;
	return n_bytes;
}
