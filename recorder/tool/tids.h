/*
 * tids.h - threads of a process in another pid namespace: the kernel's records have the
 * ids that its threads have here, the process's own events those that they have there.
 */
#ifndef TRC_RECORDER_TOOL_TIDS_H
#define TRC_RECORDER_TOOL_TIDS_H

#include <stdint.h>

struct trc_tids; /* owned; only the latest 1024 threads are remembered */

/* NULL: no memory. */
struct trc_tids *trc_tids_new(uint32_t outer_pid, uint32_t inner_pid);
void trc_tids_free(struct trc_tids *tids);
/* Learns of those that there are now. */
void trc_tids_look(struct trc_tids *tids);
/* What a thread is called there; 0 = it was gone before it was looked at.  tids NULL: nothing is
 * different there. */
uint32_t trc_tids_inside(struct trc_tids *tids, uint32_t outer_tid);

#endif
