/* blocked.h - for tests that act when the other threads are blocked. */
#ifndef TRC_TESTS_INTERPOSE_BLOCKED_H
#define TRC_TESTS_INTERPOSE_BLOCKED_H

#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A thread that has told of its park is not in the lock yet.  'S' is the kernel's word for a thread
 * that waits; one that has ended meanwhile is not in anybody's way. */
static inline bool is_blocked(const char *tid)
{
	char stat_path[64], text[512];
	const char *name_end;
	ssize_t n;
	int fd;

	snprintf(stat_path, sizeof(stat_path), "/proc/self/task/%.16s/stat", tid);
	fd = open(stat_path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return true;
	n = read(fd, text, sizeof(text) - 1);
	close(fd);
	text[n > 0 ? n : 0] = 0;
	name_end = strrchr(text, ')');
	return !name_end || name_end[2] == 'S';
}

static inline bool others_are_blocked(void)
{
	DIR *tasks = opendir("/proc/self/task");
	bool blocked = tasks != NULL;
	const struct dirent *e;

	while (blocked && (e = readdir(tasks)))
		if (isdigit((unsigned char)*e->d_name) && atoi(e->d_name) != gettid())
			blocked = is_blocked(e->d_name);
	if (tasks)
		closedir(tasks);
	return blocked;
}

static inline void await_others(void)
{
	while (!others_are_blocked())
		sched_yield();
}

#endif
