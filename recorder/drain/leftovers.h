/*
 * leftovers.h - finds and removes files that dead processes have left in the directories of rings.
 *
 *   leftovers:A1  files that may belong to a living process are left alone.  A ring is removed only
 *       if its header names its process and that process is gone.  A session's directory is removed
 *       only if its trace-record is gone; a directory of a server only if its name names its
 *       process and that process is gone
 *   leftovers:A2  files are reached through the descriptor of the directory that they were found
 *       in, however names change meanwhile
 *   leftovers:A3  rings that a user may want to recover, of flight recorders and traces, are
 *       removed only on request (trace-record --clean)
 */
#ifndef TRC_RECORDER_DRAIN_LEFTOVERS_H
#define TRC_RECORDER_DRAIN_LEFTOVERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "ring_file.h"

/* Returns as trc_ring_file_open() does. */
int trc_leftover_open(struct trc_ring_file *f, int dir_fd, const char *name, char *error,
		      size_t n_bytes);
/* Removes a ring that was found dead, with the uuid of its header.  0; -EBUSY: the name is now
 * another ring's; or another negative errno.  Context: any thread, may block. */
int trc_leftover_remove_ring(int dir_fd, const char *name, const uint8_t uuid[16]);

/* trc-UID-PID.http-NAMESPACE-XXXXXX: a directory with a trace that was asked for over HTTP, whose
 * server is gone.  The directory may belong to any user. */
bool trc_leftover_is_answer(const char *name);
/* Removes such a directory of our user, or if we are root, of any user.  0; -EPERM: another user's;
 * or another negative errno. */
int trc_leftover_remove_answer(int dir_fd, const char *name);

/* Removes from dir the rings of the same user's dead processes that recorded only for recorders
 * (<trc/recorder.h>) and servers of profiles: nobody recovers these.  Context: any thread, may
 * block; allocates. */
void trc_leftovers_sweep(const char *dir);

#endif
