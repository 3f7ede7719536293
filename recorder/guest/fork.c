/*
 * fork.c - a forked child, which has no part in its parent's recording.
 */
#include <stddef.h>
#include "recorder/ring/rec.h"
#include "recorder/sampling/cpu_profile.h"
#include "closing.h"
#include "fork.h"
#include "recorder/sampling/heap.h"
#include "recorder/sampling/sample.h"
#include "session.h"
#include "recorder/sampling/thread_answer.h"

void (*trc_child_hook)(void);
bool trc_start_is_forbidden;

void trc_fork_prepare(void)
{
	trc_self.no_wait++;
}

void trc_fork_parent(int child_pid)
{
	trc_self.no_wait--;
	if (child_pid > 0)
		trc_process_event(TRC_PROCESS_FORK, (uint64_t)child_pid);
}

void trc_fork_child(void)
{
	trc_self.no_wait = 0;
	trc_session_forget();
	trc_sample_forget();
	trc_answers_forget();
	trc_cpu_profile_forget();
	trc_heap_forget();
	trc_closing_forget();
	if (trc_child_hook)
		trc_child_hook();
}
