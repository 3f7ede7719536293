/* leftovers.c - see leftovers.h */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "leftovers.h"
#include "ring_owner.h"

/* ---- rings ----------------------------------------------------------------------------- */

int trc_leftover_open(struct trc_ring_file *f, int dir_fd, const char *name, char *error,
		      size_t n_bytes)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "/proc/self/fd/%d/%s", dir_fd, name);
	return trc_ring_file_open(f, path, error, n_bytes);
}

/* Takes the name away first, and then looks again: the file that was dead may have been removed by
 * somebody else meanwhile, and its name be that of a process just born. */
int trc_leftover_remove_ring(int dir_fd, const char *name, const uint8_t uuid[16])
{
	struct trc_ring_file f;
	char aside[64], error[256];
	bool same;
	int err;

	snprintf(aside, sizeof(aside), ".trc-%d.clean", (int)getpid());
	if (renameat(dir_fd, name, dir_fd, aside))
		return -errno;
	err = trc_leftover_open(&f, dir_fd, aside, error, sizeof(error));
	same = !err && f.owner == TRC_OWNER_DEAD &&
	       !memcmp(f.header.uuid, uuid, sizeof(f.header.uuid));
	if (!err)
		trc_ring_file_close(&f);
	if (same)
		return unlinkat(dir_fd, aside, 0) ? -errno : 0;
	if (renameat(dir_fd, aside, dir_fd, name))
		return -errno;
	return -EBUSY;
}

/* ---- traces that were asked for over HTTP ------------------------------------------------ */

bool trc_leftover_is_answer(const char *name)
{
	unsigned long long pid_namespace = 0;
	unsigned int uid, pid = 0;
	int end = 0;

	sscanf(name, "trc-%u-%u.http-%llu-%n", &uid, &pid, &pid_namespace, &end);
	return end && strlen(name + end) == strlen("XXXXXX") && pid_namespace &&
	       trc_pid_is_free(pid, pid_namespace);
}

/* Empties it; fd is closed. */
static void leftover_empty(int fd)
{
	DIR *entries = fdopendir(fd);
	const struct dirent *e;

	while (entries && (e = readdir(entries)))
		if (strncmp(e->d_name, "trace.trc", strlen("trace.trc")) == 0)
			unlinkat(fd, e->d_name, 0);
	if (entries)
		closedir(entries);
	else
		close(fd);
}

int trc_leftover_remove_answer(int dir_fd, const char *name)
{
	int fd = openat(dir_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct stat st;

	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) || (st.st_uid != geteuid() && geteuid())) {
		close(fd);
		return -EPERM;
	}
	leftover_empty(fd);
	return unlinkat(dir_fd, name, AT_REMOVEDIR) ? -errno : 0;
}

/* ---- at a start ------------------------------------------------------------------------ */

static void sweep_ring(int dir_fd, const char *name)
{
	struct trc_ring_file f;
	char error[256];
	uint32_t flags;

	if (trc_leftover_open(&f, dir_fd, name, error, sizeof(error)))
		return;
	/* relaxed: whoever stored it is gone, or the ring stays. */
	flags = atomic_load_explicit(&f.header.flags, memory_order_relaxed);
	if (f.owner == TRC_OWNER_DEAD && flags & TRC_SHARED_FOR_RECORDERS)
		trc_leftover_remove_ring(dir_fd, name, f.header.uuid);
	trc_ring_file_close(&f);
}

/* Root looks after its own as well, and after nobody else's. */
static bool leftover_is_ours(int dir_fd, const char *name)
{
	struct stat st;

	return !fstatat(dir_fd, name, &st, AT_SYMLINK_NOFOLLOW) && st.st_uid == geteuid();
}

void trc_leftovers_sweep(const char *dir)
{
	int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *entries = fd < 0 ? NULL : fdopendir(fd);
	struct trc_file_name of;
	const struct dirent *e;

	if (!entries) {
		if (fd >= 0)
			close(fd);
		return;
	}
	while ((e = readdir(entries))) {
		if (strncmp(e->d_name, "trc-", 4) || !leftover_is_ours(fd, e->d_name))
			continue;
		if (trc_ring_name_parse(e->d_name, true, &of))
			sweep_ring(fd, e->d_name);
		else if (trc_leftover_is_answer(e->d_name))
			trc_leftover_remove_answer(fd, e->d_name);
	}
	closedir(entries);
}
