/* tids.c - see tids.h.  Context of all: the main thread. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include "recorder/drain/ring_owner.h"
#include "tids.h"

enum { PLACES = 1024 };

struct trc_tids {
	uint32_t pid;
	struct {
		uint32_t outer, inner;
	} of[PLACES];
};

struct trc_tids *trc_tids_new(uint32_t outer_pid, uint32_t inner_pid)
{
	struct trc_tids *t = calloc(1, sizeof(*t));

	if (!t)
		return NULL;
	t->pid = outer_pid;
	t->of[outer_pid % PLACES].outer = outer_pid;
	t->of[outer_pid % PLACES].inner = inner_pid;
	trc_tids_look(t);
	return t;
}

void trc_tids_free(struct trc_tids *t)
{
	free(t);
}

uint32_t trc_tids_inside(struct trc_tids *t, uint32_t tid)
{
	uint32_t inner;

	if (!t || !tid)
		return tid;
	if (t->of[tid % PLACES].outer == tid)
		return t->of[tid % PLACES].inner;
	inner = trc_tid_inside(t->pid, tid);
	if (inner) {
		t->of[tid % PLACES].outer = tid;
		t->of[tid % PLACES].inner = inner;
	}
	return inner;
}

void trc_tids_look(struct trc_tids *t)
{
	char path[32];
	const struct dirent *e;
	DIR *tasks;

	if (!t)
		return;
	snprintf(path, sizeof(path), "/proc/%u/task", t->pid);
	tasks = opendir(path);
	while (tasks && (e = readdir(tasks)))
		trc_tids_inside(t, (uint32_t)strtoul(e->d_name, NULL, 10));
	if (tasks)
		closedir(tasks);
}
