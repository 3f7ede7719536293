/*
 * task_list.h - which threads this process has, as the kernel tells.
 *
 * Allocates nothing.  Context of all: any thread, may block.
 */
#ifndef TRC_RECORDER_SAMPLING_TASK_LIST_H
#define TRC_RECORDER_SAMPLING_TASK_LIST_H

#include <stdint.h>

/* The directory of the threads, at a descriptor where the program has none.  The program may close
 * it all the same, and have something else there. */
struct trc_tasks {
	int dir;
	uint64_t device, inode;
};

/* 0 or -errno; closing accepts what was not opened. */
int trc_tasks_open(struct trc_tasks *tasks);
void trc_tasks_close(const struct trc_tasks *tasks);
/* Calls fn for each. */
void trc_tasks_each(int dir, void (*fn)(void *context, uint32_t tid), void *context);

/* The number that a name or a line begins with; 0 = with none. */
static inline uint32_t trc_task_number(const char *digits)
{
	uint32_t n = 0;

	while (*digits >= '0' && *digits <= '9')
		n = n * 10 + (uint32_t)(*digits++ - '0');
	return n;
}

#endif
