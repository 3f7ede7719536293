/* session_private.h - a session's inside, shared by session.c and found.c. */
#ifndef TRC_RECORDER_TOOL_SESSION_PRIVATE_H
#define TRC_RECORDER_TOOL_SESSION_PRIVATE_H

#include "follow.h"
#include "http.h"

enum { WITHOUT_ROOM_KEPT = 64 };

struct trc_tool_session {
	const struct trc_tool_options *options;
	struct trc_tool_dir dir;
	int command_pid;
	bool orphans;		 /* with --follow: children that do not record, or not yet */
	unsigned int n_untraced; /* of other pid namespaces, that had ended before we saw them */
	const struct trc_process *untraced;
	unsigned int
		n_without_room; /* processes for whose ring there was none, as the latest here */
	struct trc_file_name without_room[WITHOUT_ROOM_KEPT];
	uint64_t looked_ns;	   /* the processes that were there then are known */
	uint64_t scanned_ns;	   /* the last look into the directory */
	uint64_t quiet_since_ns;   /* nothing is being recorded since; 0 = something is */
	struct trc_process *first; /* in order of appearance */
	struct trc_perf *kernel;
	struct trc_perf_table sampled;
	uint64_t patience_ns; /* how long the kernel's buffers last */
	uint64_t busy_ns;     /* from one pass to the next while there is something to drain */
	char sched[160];
	struct trc_flight_session flight; /* with --flight */
};

/* ---- found.c ---- */

/* NULL = no such process. */
struct trc_process *trc_found_process(const struct trc_tool_session *s, int pid);
/* Hands out the kernel's records, except the latest: processes and threads that are younger than
 * looked_ns may not be known yet. */
void trc_found_kernel_pass(struct trc_tool_session *s);
/* The process is gone. */
bool trc_found_has_ended(const struct trc_process *p);
/* The process's trace is complete. */
void trc_found_finish(struct trc_tool_session *s, struct trc_process *p);
/* Looks for new files in the session's directory. */
void trc_found_scan(struct trc_tool_session *s);

#endif
