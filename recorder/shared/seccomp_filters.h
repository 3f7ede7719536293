/*
 * seccomp_filters.h - how many seccomp filters a process has: more than trace-record itself has
 * were set by the command, or by what it executed.
 */
#ifndef TRC_RECORDER_SECCOMP_FILTERS_H
#define TRC_RECORDER_SECCOMP_FILTERS_H

/* Of the calling thread; -1 = the kernel does not say (before Linux 5.9).  Makes no system call
 * that the loader has not made.  Context: any thread. */
int trc_seccomp_filters(void);

#endif
