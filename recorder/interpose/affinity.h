/* affinity.h - which thread is the process's first, after a fork. */
#ifndef TRC_RECORDER_INTERPOSE_AFFINITY_H
#define TRC_RECORDER_INTERPOSE_AFFINITY_H

/* Context: the child's only thread. */
void trc_affinity_forked(void);

#endif
