/* dir.c - the directory of a session, where its processes make their rings. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>
#include "session.h"

static bool is_tmpfs(const char *dir)
{
	struct statfs fs;

	return !statfs(dir, &fs) && fs.f_type == TMPFS_MAGIC;
}

/* session:X1.  False if the directory was taken for a leftover before it was locked. */
static bool dir_lock(struct trc_tool_dir *d)
{
	d->fd = open(d->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	if (d->fd >= 0 && !flock(d->fd, LOCK_SH | LOCK_NB) && !access(d->path, F_OK))
		return true;
	if (d->fd >= 0)
		close(d->fd);
	d->fd = -1;
	return false;
}

static int dir_make(struct trc_tool_dir *d)
{
	const char *given = getenv("TRC_RING_DIR");
	const char *dir = given && *given ? given : "/dev/shm";
	char here[PATH_MAX] = "";
	int err = 0;

	if (!(given && *given) && access(dir, W_OK | X_OK))
		dir = "/tmp";
	/* The command may go elsewhere. */
	if (*dir != '/' && getcwd(here, sizeof(here) - 1))
		strcat(here, "/");
	if (!access(dir, F_OK) && !is_tmpfs(dir))
		trc_tool_say("warning: %s is not on tmpfs: recording will be slower", dir);
	for (int tries = 0; tries < 3 && d->fd < 0 && !err; tries++) {
		if (snprintf(d->path, sizeof(d->path), "%s%s/trc-XXXXXX", here, dir) >=
		    (int)sizeof(d->path))
			err = -ENAMETOOLONG;
		else if (!mkdtemp(d->path))
			err = -errno;
		else
			dir_lock(d);
	}
	if (!err && d->fd < 0)
		err = -EAGAIN;
	if (!err)
		return 0;
	trc_tool_say("%s%s: %s", given && *given ? "TRC_RING_DIR: " : "", dir, strerror(-err));
	d->path[0] = '\0';
	return err;
}

/* Whoever makes a file in the directory writes to a FIFO in it.  Not inotify: the kernel takes 10 to
 * 30 ms to close its descriptor, and the end of every command would wait for it. */
static void dir_watch(struct trc_tool_dir *d)
{
	char path[PATH_MAX];

	trc_tool_dir_file(d, TRC_WAKE_NAME, path);
	/* Not for writing: each read would make room, and send us a signal that says so. */
	d->watch_fd = mkfifo(path, 0600) ? -1 : open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (d->watch_fd >= 0 && !fcntl(d->watch_fd, F_SETOWN, getpid()) &&
	    !fcntl(d->watch_fd, F_SETFL, O_NONBLOCK | O_ASYNC))
		return;
	if (d->watch_fd >= 0)
		close(d->watch_fd);
	d->watch_fd = -1;
	unlink(path);
}

int trc_tool_dir_make(struct trc_tool_dir *d)
{
	int err;

	*d = (struct trc_tool_dir){.fd = -1, .watch_fd = -1};
	err = dir_make(d);
	if (!err)
		dir_watch(d);
	return err;
}

bool trc_tool_dir_changed(const struct trc_tool_dir *d)
{
	char words[4096];
	bool changed = d->watch_fd < 0;

	while (d->watch_fd >= 0 && read(d->watch_fd, words, sizeof(words)) > 0)
		changed = true;
	return changed;
}

void trc_tool_dir_file(const struct trc_tool_dir *d, const char *name, char path[PATH_MAX])
{
	snprintf(path, PATH_MAX, "%s/%s", d->path, name);
}

void trc_tool_dir_unlink(const struct trc_tool_dir *d, const char *name)
{
	char path[PATH_MAX];

	trc_tool_dir_file(d, name, path);
	unlink(path);
}

static bool is_ring(const char *name)
{
	size_t n = strlen(name);

	return n > 5 && !strcmp(name + n - 5, ".ring");
}

void trc_tool_dir_remove(struct trc_tool_dir *d)
{
	DIR *dir = d->path[0] ? opendir(d->path) : NULL;
	struct dirent *e;

	while (dir && (e = readdir(dir)))
		if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0 &&
		    !(d->keep_rings && is_ring(e->d_name)))
			trc_tool_dir_unlink(d, e->d_name);
	if (dir)
		closedir(dir);
	if (d->path[0])
		rmdir(d->path);
	if (d->watch_fd >= 0)
		close(d->watch_fd);
	if (d->fd >= 0)
		close(d->fd);
	*d = (struct trc_tool_dir){.fd = -1, .watch_fd = -1};
}

bool trc_tool_dir_lives(int dir_fd)
{
	return flock(dir_fd, LOCK_EX | LOCK_NB) != 0;
}
