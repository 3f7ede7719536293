/* file_sink.c - see file_sink.h */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "file_sink.h"
#include "format/raw.h"

_Static_assert(TRC_FILE_PATH_BYTES >= PATH_MAX, "realpath() needs it");

static int fail(int err, const char *path, char *error, size_t n_bytes)
{
	snprintf(error, n_bytes, "%s: %s", path, strerror(-err));
	return err;
}

/* The target of a path that does not exist yet: its directory must. */
static int plan_new(struct trc_file_sink *s, const char *path)
{
	const char *slash = strrchr(path, '/');
	const char *name = slash ? slash + 1 : path;
	char dir[TRC_FILE_PATH_BYTES];
	size_t used;

	if (!*name)
		return -EISDIR;
	if (snprintf(dir, sizeof(dir), "%.*s", slash ? (int)(slash - path) + 1 : 1,
		     slash ? path : ".") >= (int)sizeof(dir))
		return -ENAMETOOLONG;
	if (!realpath(dir, s->target))
		return -errno;
	used = strlen(s->target);
	if (used + strlen(name) + 2 > sizeof(s->target))
		return -ENAMETOOLONG;
	if (used > 1)
		s->target[used++] = '/';
	strcpy(s->target + used, name);
	return 0;
}

/* A link that leads to nothing yet: where it leads.  False if `path` is no link. */
static bool follow_link(const char *path, char *to, size_t n_bytes)
{
	const char *slash = strrchr(path, '/');
	char text[TRC_FILE_PATH_BYTES];
	ssize_t n = readlink(path, text, sizeof(text) - 1);

	if (n <= 0)
		return false;
	text[n] = '\0';
	return snprintf(to, n_bytes, "%.*s%s",
			slash && *text != '/' ? (int)(slash - path) + 1 : 0, path,
			text) < (int)n_bytes;
}

int trc_file_sink_plan(struct trc_file_sink *s, const char *path, char *error, size_t n_bytes)
{
	char link[2][TRC_FILE_PATH_BYTES];
	struct stat st;
	int err = 0;

	memset(s, 0, sizeof(*s));
	s->fd = -1;
	/* Bounded: a loop of links ends in realpath()'s own error. */
	for (int i = 0; i < 8 && access(path, F_OK) && follow_link(path, link[i % 2], sizeof(link[0]));
	     i++)
		path = link[i % 2];
	if (realpath(path, s->target)) {
		if (stat(s->target, &st))
			err = -errno;
		else if (S_ISDIR(st.st_mode))
			err = -EISDIR;
		else
			s->in_place = !S_ISREG(st.st_mode);
	} else {
		err = errno == ENOENT ? plan_new(s, path) : -errno;
	}
	if (err)
		return fail(err, path, error, n_bytes);
	/* Of this thread: others may be writing to the same target. */
	snprintf(s->temporary, sizeof(s->temporary), "%s.%u.tmp", s->target,
		 (unsigned int)trc_raw1(SYS_gettid, 0));
	return 0;
}

static int open_at(const char *path, int flags)
{
	return (int)trc_raw4(SYS_openat, AT_FDCWD, path, flags | O_WRONLY | O_CLOEXEC, 0600);
}

int trc_file_sink_open(struct trc_file_sink *s, char *error, size_t n_bytes)
{
	if (s->in_place) {
		s->fd = open_at(s->target, 0);
	} else {
		/* A file that may not be written to is not replaced either. */
		int fd = open_at(s->target, 0);

		if (fd < 0 && fd != -ENOENT)
			return fail(fd, s->target, error, n_bytes);
		if (fd >= 0)
			trc_raw1(SYS_close, fd);
		trc_raw3(SYS_unlinkat, AT_FDCWD, s->temporary, 0);
		s->fd = open_at(s->temporary, O_CREAT | O_EXCL | O_NOFOLLOW);
	}
	return s->fd < 0 ? fail(s->fd, s->target, error, n_bytes) : 0;
}

int trc_file_sink_write(void *context, const void *bytes, size_t n_bytes)
{
	struct trc_file_sink *s = context;
	const char *from = bytes;
	size_t left = n_bytes;

	if (s->error)
		return s->error;
	while (left) {
		long n = trc_raw3(SYS_write, s->fd, from, left);

		if (n == -EINTR)
			continue;
		if (n <= 0) {
			s->error = n ? (int)n : -EIO;
			trc_raw2(SYS_ftruncate, s->fd, s->file_bytes); /* S1 */
			return s->error;
		}
		from += n;
		left -= (size_t)n;
	}
	s->file_bytes += n_bytes;
	return 0;
}

int trc_file_sink_commit(struct trc_file_sink *s)
{
	int err;

	if (s->committed || s->in_place)
		return 0;
	err = (int)trc_raw4(SYS_renameat, AT_FDCWD, s->temporary, AT_FDCWD, s->target);
	if (err && !s->error)
		s->error = err;
	s->committed = !err;
	return err;
}

void trc_file_sink_close(struct trc_file_sink *s)
{
	if (s->fd >= 0)
		trc_raw1(SYS_close, s->fd);
	if (s->fd >= 0 && !s->committed && !s->in_place)
		trc_raw3(SYS_unlinkat, AT_FDCWD, s->temporary, 0);
	s->fd = -1;
}
