/*
 * seccomp_filters.h - how many seccomp filters a process has.
 *
 * Filters beyond those of trace-record itself were set by the command, or by programs that it
 * executed.
 */
#ifndef TRC_RECORDER_SECCOMP_FILTERS_H
#define TRC_RECORDER_SECCOMP_FILTERS_H

/* The filters of the calling thread; -1 = the kernel does not say (before Linux 5.9).  Makes only
 * system calls that the loader has made already.  Context: any thread. */
int trc_seccomp_filters(void);

#endif
