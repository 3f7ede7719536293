/* clean.c - --clean: removes the files that dead processes have left behind (leftovers.h). */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include "recorder/drain/leftovers.h"
#include "recorder/drain/ring_file.h"
#include "session.h"

enum { TEMPORARY_SECONDS = 60 }; /* nobody takes that long to make a ring */

/* Where something was found. */
struct place {
	int fd;
	const char *path;
	bool session;
};

struct clean {
	unsigned int n_removed;
	bool failed;
};

static void clean_removed(struct clean *c, const struct place *place, const char *name,
			  const char *what)
{
	printf("removed %s/%s%s\n", place->path, name, what);
	c->n_removed++;
}

static void clean_failed(struct clean *c, const struct place *place, const char *name,
			 const char *why)
{
	trc_tool_say("%s/%s: %s", place->path, name, why);
	c->failed = true;
}

/* ---- rings ----------------------------------------------------------------------------- */

static void clean_ring(struct clean *c, const struct place *place, const char *name)
{
	struct trc_ring_file f;
	char error[256], what[64];
	int err = trc_leftover_open(&f, place->fd, name, error, sizeof(error));

	if (err == -EPERM || err == -EACCES || err == -ENOENT)
		return;				 /* another user's, or gone by now */
	if (err == -ENODATA && place->session) { /* nobody lives in the session (session:X1) */
		unlinkat(place->fd, name, 0);
		return;
	}
	if (err) {
		snprintf(error + strlen(error), sizeof(error) - strlen(error),
			 ": left alone; if its process is gone, rm does it");
		clean_failed(c, place, name, error);
		return;
	}
	if (f.owner == TRC_OWNER_UNKNOWN)
		printf("left %s/%s: it is of another pid namespace\n", place->path, name);
	if (f.owner == TRC_OWNER_DEAD) {
		snprintf(what, sizeof(what), ", of process %" PRIu32, f.header.pid);
		err = trc_leftover_remove_ring(place->fd, name, f.header.uuid);
		if (!err)
			clean_removed(c, place, name, what);
		else if (err != -ENOENT && err != -EBUSY)
			clean_failed(c, place, name, strerror(-err));
	}
	trc_ring_file_close(&f);
}

/* ---- half-made rings ------------------------------------------------------------------- */

/* A ring in the making has no owner's name in it yet: only its age tells.  In a moment it would
 * have been finished, or its process was killed. */
static void clean_temporary(struct clean *c, const struct place *place, const char *name,
			    const struct trc_file_name *of)
{
	struct stat st;

	if (fstatat(place->fd, name, &st, AT_SYMLINK_NOFOLLOW) || !S_ISREG(st.st_mode) ||
	    (geteuid() && st.st_uid != geteuid()))
		return;
	if (time(NULL) - st.st_mtime < TEMPORARY_SECONDS ||
	    !trc_pid_is_free((uint32_t)of->pid, of->pid_namespace))
		return;
	if (!unlinkat(place->fd, name, 0))
		clean_removed(c, place, name, ", half made");
	else if (errno != ENOENT)
		clean_failed(c, place, name, strerror(errno));
}

/* ---- directories ----------------------------------------------------------------------- */

static void clean_file(struct clean *c, const struct place *place, const char *name)
{
	struct trc_file_name of;

	if (trc_ring_name_parse(name, !place->session, &of))
		clean_ring(c, place, name);
	else if (trc_temporary_name_parse(name, &of))
		clean_temporary(c, place, name, &of);
	else if (place->session && (trc_error_name_parse(name, &of) || trc_unrecorded_is(name) ||
				    !strcmp(name, TRC_WAKE_NAME)))
		unlinkat(place->fd, name, 0); /* nobody reads it now */
}

static bool is_session(const char *name)
{
	return !strncmp(name, "trc-", 4) && strlen(name) == strlen("trc-XXXXXX") &&
	       !strchr(name + 4, '-') && !strchr(name, '.');
}

static void clean_dir(struct clean *c, const struct place *place);

static void clean_session(struct clean *c, const struct place *root, const char *name)
{
	char path[PATH_MAX];
	struct place place = {.path = path, .session = true};
	struct stat st;

	snprintf(path, sizeof(path), "%s/%s", root->path, name);
	place.fd = openat(root->fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (place.fd < 0)
		return;
	if (!fstat(place.fd, &st) && (st.st_uid == geteuid() || !geteuid()) &&
	    !trc_tool_dir_lives(place.fd)) {
		clean_dir(c, &place);
		if (!unlinkat(root->fd, name, AT_REMOVEDIR))
			clean_removed(c, root, name, "");
		else if (errno != ENOTEMPTY && errno != ENOENT)
			clean_failed(c, root, name, strerror(errno));
	}
	close(place.fd);
}

/* ---- traces that were asked for over HTTP ------------------------------------------------ */

static void clean_answer(struct clean *c, const struct place *root, const char *name)
{
	int err = trc_leftover_remove_answer(root->fd, name);

	if (!err)
		clean_removed(c, root, name, "");
	else if (err != -ENOENT && err != -EPERM && err != -EACCES)
		clean_failed(c, root, name, strerror(-err));
}

/* ---- all of it --------------------------------------------------------------------------- */

/* Everything in it that has a name of ours. */
static void clean_dir(struct clean *c, const struct place *place)
{
	int fd = openat(place->fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *entries = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *e;

	if (!entries) {
		if (fd >= 0)
			close(fd);
		return;
	}
	while ((e = readdir(entries))) {
		if (!place->session && is_session(e->d_name))
			clean_session(c, place, e->d_name);
		else if (!place->session && trc_leftover_is_answer(e->d_name))
			clean_answer(c, place, e->d_name);
		else
			clean_file(c, place, e->d_name);
	}
	closedir(entries);
}

static void clean_root(struct clean *c, const char *path)
{
	struct place place = {.path = path};

	place.fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (place.fd < 0)
		return;
	clean_dir(c, &place);
	close(place.fd);
}

/* Where rings are made: where it was said, or in one of two places. */
static void clean_roots(struct clean *c)
{
	const char *given = getenv("TRC_RING_DIR");

	if (given && *given) {
		clean_root(c, given);
		return;
	}
	clean_root(c, "/dev/shm");
	clean_root(c, "/tmp");
}

int trc_tool_clean(void)
{
	struct clean c = {0};

	clean_roots(&c);
	if (!c.n_removed)
		puts("nothing to remove");
	if (fflush(stdout)) {
		trc_tool_say("standard output: %s", strerror(errno));
		c.failed = true;
	}
	return c.failed ? 1 : 0;
}
