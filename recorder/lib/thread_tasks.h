/*
 * thread_tasks.h - the threads of this process as the kernel shows them.
 *
 * Allocates nothing.  Context of all: any thread, may block.
 */
#ifndef TRC_RECORDER_LIB_THREAD_TASKS_H
#define TRC_RECORDER_LIB_THREAD_TASKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "recorder/sampling/task_list.h"

enum trc_task_is {
	TRC_TASK_UNKNOWN, /* the kernel does not say, or there was no descriptor to ask by */
	TRC_TASK_GONE,
	TRC_TASK_RUNNING,
	TRC_TASK_BLOCKED,
};

/* What a thread is doing. */
struct trc_task_look {
	enum trc_task_is is;
	uint32_t reason; /* BLOCKED: the enum trc_reason that such a call has; 0 = none */
	uint64_t pc, sp; /* BLOCKED: where in the program; 0 = not known */
	/* BLOCKED: a signal would make the call fail with EINTR, and nobody is known to make it
	 * again: it was not made by a function that is interposed, or its socket has a limit of
	 * time, and it began before anything was recorded.  Or the call would return with a part
	 * done: of bytes or messages that it writes, or wants all of. */
	bool fragile;
};
/* `recorded`: the enum trc_reason of the wait in the thread's slot; 0 = no wait. */
void trc_task_look(int dir, uint32_t tid, uint32_t recorded, struct trc_task_look *look);

/* Whether a thread has run between two looks. */
struct trc_task_still {
	long fd;
	char ran[64]; /* how often it has run, as the kernel words it */
};
/* False: the kernel does not count, or the thread is gone.  After true trc_task_still_end() has to
 * follow. */
bool trc_task_still_begin(int dir, uint32_t tid, struct trc_task_still *still);
/* True: the thread has not run since trc_task_still_begin(). */
bool trc_task_still_end(const struct trc_task_still *still);

/* True if the thread blocks this signal, or if the kernel does not say. */
bool trc_task_blocks(int dir, uint32_t tid, int signal_number);
/* The thread's name, zero-terminated; "" = not known. */
void trc_task_name(int dir, uint32_t tid, char *name, size_t n_bytes);

/* Where libc's code lies: from [0] up to [1]; zeros if that is not known. */
void trc_tasks_libc_text(uint64_t text[2]);

#endif
