/* task_list.c - see task_list.h */
#include <fcntl.h>
#include <sys/stat.h>
#include "format/raw.h"
#include "sample.h"
#include "task_list.h"

int trc_tasks_open(struct trc_tasks *tasks)
{
	struct stat is;
	int err;

	tasks->dir = (int)trc_raw4(SYS_openat, AT_FDCWD, "/proc/self/task",
				   O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
	if (tasks->dir < 0)
		return tasks->dir;
	tasks->dir = trc_sample_move_away(tasks->dir);
	err = (int)trc_raw2(SYS_fstat, tasks->dir, &is);
	if (err) {
		trc_raw1(SYS_close, tasks->dir);
		tasks->dir = err;
		return err;
	}
	tasks->device = is.st_dev;
	tasks->inode = is.st_ino;
	return 0;
}

void trc_tasks_close(const struct trc_tasks *tasks)
{
	struct stat is;

	if (tasks->dir >= 0 && !trc_raw2(SYS_fstat, tasks->dir, &is) &&
	    is.st_dev == tasks->device && is.st_ino == tasks->inode)
		trc_raw1(SYS_close, tasks->dir);
}

struct kernel_dirent {
	uint64_t inode;
	int64_t off;
	uint16_t n_bytes;
	uint8_t type;
	char name[];
};

void trc_tasks_each(int dir, void (*fn)(void *context, uint32_t tid), void *context)
{
	_Alignas(8) char entries[8192];
	long n;

	while ((n = trc_raw3(SYS_getdents64, dir, entries, sizeof(entries))) > 0) {
		for (long at = 0; at < n;) {
			const struct kernel_dirent *entry = (const void *)(entries + at);
			uint32_t tid = trc_task_number(entry->name);

			if (tid)
				fn(context, tid);
			at += entry->n_bytes;
		}
	}
}
