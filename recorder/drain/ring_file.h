/*
 * ring_file.h - the files of rings: finds ring files, opens them, and tells whether their processes
 * live.
 *
 * Not for recorded processes: finding and opening ring files allocates, and calls libc.
 *
 * The directory of rings is $TRC_RING_DIR if that is set, else /dev/shm or /tmp.  There are two
 * names:
 *
 *   trc-XXXXXX/PID.IMAGE.ring     in the directory of a session of trace-record
 *   trc-UID-PID.IMAGE.ring        for a recording that the program started itself
 *
 * In a session's directory a process of another pid namespace than trace-record's has PID-NAMESPACE
 * in place of PID: its pid in its namespace, and the inode of /proc/PID/ns/pid.
 */
#ifndef TRC_RECORDER_DRAIN_RING_FILE_H
#define TRC_RECORDER_DRAIN_RING_FILE_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "recorder/shared/layout.h"
#include "ring_owner.h"

/*
 * A ring file, open for reading.  The file is read, never mapped: its owner may cut it short at any
 * time.  `control` is a private copy of what lies before the stack table: the header, the counters
 * of each ring and of the overflow stream, and the slots of threads.
 */
struct trc_ring_file {
	char path[PATH_MAX];
	int fd; /* -1 = not open */
	struct trc_shared *control;
	uint64_t control_bytes;
	struct trc_shared header; /* checked: read sizes and offsets only here */
	enum trc_ring_owner owner;
	uint32_t pid; /* in our pid namespace, or if not known there, in the owner's */
	bool closed;  /* TRC_SHARED_CLOSED: recording ended in good order */
};

/*
 * Opens and checks (mode, owner, size, header).  0, or a negative errno with a sentence in
 * error: -EPERM another user's; -ENODATA left by a program that executed another; -EBADMSG not
 * a ring, of another version, half-created or damaged.
 */
int trc_ring_file_open(struct trc_ring_file *f, const char *path, char *error, size_t n_bytes);
void trc_ring_file_close(struct trc_ring_file *f); /* accepts a file that could not be opened */
/* Reads `control`, `owner` and `closed` again.  0, or -EBADMSG: the file has been cut short. */
int trc_ring_file_look(struct trc_ring_file *f);

struct trc_file_name {
	uint64_t pid, pid_namespace; /* namespace 0 = that of the process that made the directory */
	uint64_t image;
};
/* PID.IMAGE.ring, or with `prefixed` trc-UID-PID.IMAGE.ring. */
bool trc_ring_name_parse(const char *name, bool prefixed, struct trc_file_name *parsed);
/* PID.error: an error message of a process of the session. */
bool trc_error_name_parse(const char *name, struct trc_file_name *parsed);
/* .trc-UID-PID-NAMESPACE.tmp: a ring in the making. */
bool trc_temporary_name_parse(const char *name, struct trc_file_name *parsed);

/* Calls fn with the path of every file that is named like a ring, until it returns non-zero;
 * returns that. */
int trc_ring_files_each(int (*fn)(void *context, const char *path), void *context);
/* Opens the ring of this pid's latest image.  Returns as trc_ring_file_open() does; -ESRCH: there
 * is no ring. */
int trc_ring_file_find(struct trc_ring_file *f, uint32_t pid, char *error, size_t n_bytes);
/* Says why this pid has no ring, from what is known of the process. */
void trc_ring_missing(uint32_t pid, char *error, size_t n_bytes);

struct trc_snapshot;
struct trc_snapshot_options;
/* Takes a snapshot of the ring.  The owner counts as dead if it is known to be dead, or if the
 * options say `dead`.  options NULL = the defaults.  *out is the caller's.  0 or -errno with a
 * sentence in error. */
int trc_ring_file_snapshot(const struct trc_ring_file *f, struct trc_snapshot **out,
			   const struct trc_snapshot_options *options, char *error, size_t n_bytes);

/*
 * Writes a ring as a whole trace to `sink`: for trace-analyze, --recover and --snapshot.  `context`
 * goes to the sink.  0 or -errno with a sentence in error.
 */
int trc_ring_file_to_trace(const struct trc_ring_file *f,
			   const struct trc_snapshot_options *options, trc_sink_fn *sink,
			   void *context, char *error, size_t n_bytes);

#endif
