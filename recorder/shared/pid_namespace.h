/*
 * pid_namespace.h - the pid namespace of this process, and file names that name their process to
 * readers in another pid namespace.
 */
#ifndef TRC_RECORDER_SHARED_PID_NAMESPACE_H
#define TRC_RECORDER_SHARED_PID_NAMESPACE_H

#include <stdint.h>

enum { TRC_PID_NAME_BYTES = 40 };

/* The inode of /proc/self/ns/pid; 0 = not known.  Async-signal-safe. */
uint64_t trc_pid_namespace(void);
/* "-NAMESPACE", which tells files of this process from files of the same pid in another namespace;
 * a random number where the namespace is not known.  Async-signal-safe but for its use of
 * snprintf(). */
void trc_pid_namespace_text(char text[TRC_PID_NAME_BYTES]);
/* "PID", or "PID-NAMESPACE" if this process is not in the namespace `reader`; reader 0 = it is. */
void trc_pid_name(char text[TRC_PID_NAME_BYTES], uint64_t reader);

#endif
