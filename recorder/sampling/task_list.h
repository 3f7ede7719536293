/*
 * task_list.h - the threads of this process, as the kernel lists them.
 *
 * Allocates nothing.  Context of all: any thread, may block.
 */
#ifndef TRC_RECORDER_SAMPLING_TASK_LIST_H
#define TRC_RECORDER_SAMPLING_TASK_LIST_H

#include <stdint.h>

/* The directory of the threads, at a descriptor number that the program does not use.  The program
 * may close the descriptor all the same, and have another file there. */
struct trc_tasks {
	int dir;
	uint64_t device, inode;
};

/* 0 or -errno; trc_tasks_close() accepts a list that was not opened. */
int trc_tasks_open(struct trc_tasks *tasks);
void trc_tasks_close(const struct trc_tasks *tasks);
/* Calls fn for each thread. */
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
