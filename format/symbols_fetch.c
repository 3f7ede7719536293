/* symbols_fetch.c - asks libdebuginfod (symbols_fetch.h). */
#include "symbols_fetch.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

/* As elfutils/debuginfod.h declares them: an interface that is stable since 0.178. */
typedef void *begin_fn(void);
typedef void end_fn(void *client);
typedef int find_fn(void *client, const unsigned char *build_id, int build_id_bytes, char **path);

struct trc_symbols_fetch {
	bool loaded;
	const char *dead; /* T1: why nothing more is asked */
	void *client;
	end_fn *end;
	find_fn *find[2]; /* by enum trc_fetched */
};

struct trc_symbols_fetch *trc_symbols_fetch_open(void)
{
	const char *urls = getenv("DEBUGINFOD_URLS");

	return urls && *urls ? calloc(1, sizeof(struct trc_symbols_fetch)) : NULL;
}

/* The library stays: closing it while its own libraries have state is not safe. */
static void fetch_load(struct trc_symbols_fetch *f)
{
	void *library = dlopen("libdebuginfod.so.1", RTLD_NOW | RTLD_LOCAL);
	begin_fn *begin = library ? (begin_fn *)dlsym(library, "debuginfod_begin") : NULL;

	f->loaded = true;
	f->dead =
		"no debug information found here, and libdebuginfod, which DEBUGINFOD_URLS needs, is not "
		"installed";
	if (!begin)
		return;
	f->end = (end_fn *)dlsym(library, "debuginfod_end");
	f->find[TRC_FETCHED_DEBUG_FILE] = (find_fn *)dlsym(library, "debuginfod_find_debuginfo");
	f->find[TRC_FETCHED_PROGRAM] = (find_fn *)dlsym(library, "debuginfod_find_executable");
	if (!f->end || !f->find[TRC_FETCHED_DEBUG_FILE] || !f->find[TRC_FETCHED_PROGRAM])
		return;
	f->client = begin();
	if (f->client)
		f->dead = NULL;
}

void trc_symbols_fetch_close(struct trc_symbols_fetch *f)
{
	if (f && f->client)
		f->end(f->client);
	free(f);
}

char *trc_symbols_fetch(struct trc_symbols_fetch *f, enum trc_fetched what, const uint8_t *build_id,
			size_t build_id_bytes, const char **why)
{
	char *path = NULL;
	int fd;

	if (!f->loaded)
		fetch_load(f);
	*why = f->dead;
	if (f->dead || !build_id_bytes)
		return NULL;
	fd = f->find[what](f->client, build_id, (int)build_id_bytes, &path);
	if (fd >= 0) {
		close(fd); /* who opens it again looks at what it is */
		return path;
	}
	free(path);
	/* Of this file alone: not there, larger than DEBUGINFOD_MAXSIZE, too slow for DEBUGINFOD_MAXTIME. */
	if (fd == -ENOENT || fd == -EFBIG || fd == -ETIME || fd == -EINVAL) {
		*why = "no debug information found, here or at DEBUGINFOD_URLS";
		return NULL;
	}
	f->dead = "no debug information found here, and DEBUGINFOD_URLS do not answer";
	*why = f->dead;
	return NULL;
}
