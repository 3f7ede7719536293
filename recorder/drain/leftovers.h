/*
 * leftovers.h - what dead processes have left where rings lie, and how it is removed.
 *
 *   leftovers:A1  what may be a living process's is left alone: a ring goes only if its own header
 *       says whose it is and that process is gone; a session's directory, only if its trace-record
 *       is; a directory of a server's, only if its name says whose it is and that process is gone
 *   leftovers:A2  files are reached by the directory that they were found in, however names change
 *       meanwhile
 *   leftovers:A3  what somebody may want to recover, a flight recorder's ring or that of a trace,
 *       goes when it is asked for (trace-record --clean), and never by itself
 */
#ifndef TRC_RECORDER_DRAIN_LEFTOVERS_H
#define TRC_RECORDER_DRAIN_LEFTOVERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "ring_file.h"

/* As trc_ring_file_open(). */
int trc_leftover_open(struct trc_ring_file *f, int dir_fd, const char *name, char *error,
		      size_t n_bytes);
/* Removes a ring that was found dead, with the uuid of its header.  0; -EBUSY: it is another one by
 * now; or another negative errno.  Context: any thread, may block. */
int trc_leftover_remove_ring(int dir_fd, const char *name, const uint8_t uuid[16]);

/* trc-UID-PID.http-NAMESPACE-XXXXXX: a directory with a trace that was asked for over HTTP, whose
 * server is gone.  Whose directory it is, is another matter. */
bool trc_leftover_is_answer(const char *name);
/* Removes such a directory of ours, or if we are root, of anybody's.  0; -EPERM: another's; or
 * another negative errno. */
int trc_leftover_remove_answer(int dir_fd, const char *name);

/* Removes from dir what processes of the same user have left that recorded for recorders
 * (<trc/recorder.h>) and servers of profiles alone, which nobody recovers.  Context: any thread, may
 * block; allocates. */
void trc_leftovers_sweep(const char *dir);

#endif
