/*
 * tids.h - threads of a process in another pid namespace: the kernel's records have the threads'
 * ids in our namespace, and the process's own events have the ids in its namespace.
 */
#ifndef TRC_RECORDER_TOOL_TIDS_H
#define TRC_RECORDER_TOOL_TIDS_H

#include <stdint.h>

struct trc_tids; /* owned; only the latest 1024 threads are remembered */

/* NULL: no memory. */
struct trc_tids *trc_tids_new(uint32_t outer_pid, uint32_t inner_pid);
void trc_tids_free(struct trc_tids *tids);
/* Learns the ids of the threads that there are now. */
void trc_tids_look(struct trc_tids *tids);
/* The thread's id in the process's namespace; 0 = the thread was gone before its id was learned.
 * tids NULL: both ids are the same. */
uint32_t trc_tids_inside(struct trc_tids *tids, uint32_t outer_tid);

#endif
