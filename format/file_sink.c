/* file_sink.c - see file_sink.h */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include "file_sink.h"
#include "path.h"
#include "raw.h"

_Static_assert(TRC_FILE_PATH_BYTES >= PATH_MAX, "realpath() needs it");

static int sink_fail(int err, const char *path, char *error, size_t n_bytes)
{
	snprintf(error, n_bytes, "%s: %s", path, strerror(-err));
	return err;
}

/* The target of a path that does not exist yet: its directory must. */
static int plan_new(struct trc_file_sink *s, const char *path)
{
	const char *name = trc_path_name(path);
	char dir[TRC_FILE_PATH_BYTES];
	size_t used;

	if (!*name)
		return -EISDIR;
	if (snprintf(dir, sizeof(dir), "%.*s", name > path ? (int)(name - path) : 1,
		     name > path ? path : ".") >= (int)sizeof(dir))
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

static int open_at(const char *path, int flags)
{
	return (int)trc_raw4(SYS_openat, AT_FDCWD, path, flags | O_CLOEXEC | O_NOCTTY, 0600);
}

/* The path as it is, from the root on. */
static int plan_absolute(struct trc_file_sink *s, const char *path)
{
	size_t used = 0;

	if (*path != '/') {
		if (!getcwd(s->target, sizeof(s->target)))
			return -errno;
		used = strlen(s->target);
	}
	return snprintf(s->target + used, sizeof(s->target) - used, "%s%s", used ? "/" : "", path) <
			       (int)(sizeof(s->target) - used)
		       ? 0
		       : -ENAMETOOLONG;
}

/* Names there stand for what a process has open: a file of that name cannot be replaced. */
static bool is_of_a_process(const char *path)
{
	char *slash, dir[TRC_FILE_PATH_BYTES], real[TRC_FILE_PATH_BYTES];

	if (snprintf(dir, sizeof(dir), "%s", path) >= (int)sizeof(dir))
		return false;
	slash = strrchr(dir, '/');
	if (!slash)
		return false;
	slash[slash == dir] = '\0';
	return realpath(dir, real) && (!strcmp(real, "/dev") || !strncmp(real, "/proc/", 6));
}

/* The name of the regular file behind fd, wherever links led; false if it cannot be told. */
static bool file_name_find(int fd, const struct stat *st, char name[TRC_FILE_PATH_BYTES])
{
	char entry[32];
	struct stat now;
	ssize_t n;

	snprintf(entry, sizeof(entry), "/proc/self/fd/%d", fd);
	n = readlink(entry, name, TRC_FILE_PATH_BYTES - 1);
	if (n <= 0)
		return false;
	name[n] = '\0';
	return !lstat(name, &now) && now.st_dev == st->st_dev && now.st_ino == st->st_ino;
}

/* S3: the kernel followed whatever links there are. */
static int plan_existing(struct trc_file_sink *s, const char *path, int fd)
{
	struct stat st;

	s->exists = true;
	if (fstat(fd, &st))
		return -errno;
	if (S_ISDIR(st.st_mode))
		return -EISDIR;
	s->fifo = S_ISFIFO(st.st_mode);
	s->in_place = !S_ISREG(st.st_mode) || is_of_a_process(path) ||
		      !file_name_find(fd, &st, s->target);
	return s->in_place ? plan_absolute(s, path) : 0;
}

static int plan_missing(struct trc_file_sink *s, const char *path)
{
	struct stat st;

	if (lstat(path, &st))
		return plan_new(s, path);
	s->in_place = true; /* a link that leads to nothing: the kernel makes what it names */
	return plan_absolute(s, path);
}

int trc_file_sink_plan(struct trc_file_sink *s, const char *path, char *error, size_t n_bytes)
{
	int fd = open_at(path, O_PATH), err;

	memset(s, 0, sizeof(*s));
	s->fd = -1;
	err = fd >= 0 ? plan_existing(s, path, fd) : fd == -ENOENT ? plan_missing(s, path) : fd;
	if (fd >= 0)
		trc_raw1(SYS_close, fd);
	return err ? sink_fail(err, path, error, n_bytes) : 0;
}

/* As a shell's >, but for not waiting until somebody reads a FIFO. */
static int open_in_place(struct trc_file_sink *s)
{
	int fd = open_at(s->target, O_WRONLY | O_CREAT | O_TRUNC | O_NONBLOCK);

	if (fd >= 0)
		trc_raw3(SYS_fcntl, fd, F_SETFL, 0);
	s->in_place = true;
	return fd;
}

/* Of this thread: others may be writing to the same target. */
static int open_beside(struct trc_file_sink *s)
{
	int fd = -EEXIST;

	/* One that is there already is left over from a thread of this number, or somebody's
	 * who wants to be in the way. */
	for (unsigned int i = 0; i < 100 && fd == -EEXIST; i++) {
		snprintf(s->temporary, sizeof(s->temporary), i ? "%s.%u.%u.tmp" : "%s.%u.tmp",
			 s->target, (unsigned int)trc_raw1(SYS_gettid, 0), i);
		trc_raw3(SYS_unlinkat, AT_FDCWD, s->temporary, 0);
		fd = open_at(s->temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW);
	}
	return fd;
}

/* A file that may not be written to is not replaced either. */
static int check_existing(const struct trc_file_sink *s)
{
	int fd = open_at(s->target, O_WRONLY | O_CREAT | O_NOFOLLOW | O_NONBLOCK);

	if (fd >= 0)
		trc_raw1(SYS_close, fd);
	return fd < 0 ? fd : 0;
}

int trc_file_sink_open(struct trc_file_sink *s, char *error, size_t n_bytes)
{
	int err = !s->in_place && s->exists ? check_existing(s) : 0;

	if (err)
		return sink_fail(err, s->target, error, n_bytes);
	s->fd = s->in_place ? open_in_place(s) : open_beside(s);
	if (!s->in_place && s->exists && (s->fd == -EACCES || s->fd == -EPERM || s->fd == -EROFS))
		s->fd = open_in_place(s);
	return s->fd < 0 ? sink_fail(s->fd, s->target, error, n_bytes) : 0;
}

int trc_file_sink_open_waiting(struct trc_file_sink *s, bool (*give_up)(void *context),
			       void *context, char *error, size_t n_bytes)
{
	const struct timespec pause = {0, 20 * 1000 * 1000};
	int err = trc_file_sink_open(s, error, n_bytes);

	while (err == -ENXIO && s->fifo) {
		if (give_up && give_up(context))
			return sink_fail(-EINTR, s->target, error, n_bytes);
		nanosleep(&pause, NULL);
		err = trc_file_sink_open(s, error, n_bytes);
	}
	return err;
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
