/*
 * ring_file.h - the files that rings lie in: finding them, opening them, telling the living from
 * the dead.
 *
 * Not for recorded processes: opening and finding them allocates, and calls libc.
 *
 * PID.IMAGE.ring in a session's directory (trc-XXXXXX) of trace-record, or trc-UID-PID.IMAGE.ring
 * beside it for a recording that the program started itself; in $TRC_RING_DIR if that is set, else in
 * /dev/shm or /tmp.  In a session's directory a process of another pid namespace than trace-record's is
 * PID-NAMESPACE: its pid there, and the inode of /proc/PID/ns/pid.
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
 * A ring file, open for reading.  It is read, never mapped: whose it is may cut it short at any
 * time.  `control` is a private copy of what lies before the stack table: the header, each
 * ring's counters, the overflow stream's, and the slots of threads.
 */
struct trc_ring_file {
	char path[PATH_MAX];
	int fd; /* -1 = not open */
	struct trc_shared *control;
	uint64_t control_bytes;
	struct trc_shared header; /* checked: sizes and offsets are to be read here only */
	enum trc_ring_owner owner;
	uint32_t pid; /* as it is, or was, known here; where that cannot be told, as there */
	bool closed;  /* TRC_SHARED_CLOSED: recording ended in good order */
};

/*
 * Opens and checks (mode, owner, size, header).  0, or a negative errno with a sentence in
 * error: -EPERM another user's; -ENODATA left by a program that executed another; -EBADMSG not
 * a ring, of another version, half-created or damaged.
 */
int trc_ring_file_open(struct trc_ring_file *f, const char *path, char *error, size_t n_bytes);
void trc_ring_file_close(struct trc_ring_file *f); /* accepts one that could not be opened */
/* Reads `control`, `owner` and `closed` again.  0, or -EBADMSG: it has been cut short. */
int trc_ring_file_look(struct trc_ring_file *f);

struct trc_file_name {
	uint64_t pid, pid_namespace; /* 0 = that of whom the directory is made for */
	uint64_t image;
};
/* PID.IMAGE.ring, or with `prefixed` trc-UID-PID.IMAGE.ring. */
bool trc_ring_name_parse(const char *name, bool prefixed, struct trc_file_name *parsed);
/* PID.error: what a process of the session has to say. */
bool trc_error_name_parse(const char *name, struct trc_file_name *parsed);
/* .trc-UID-PID-NAMESPACE.tmp: a ring in the making. */
bool trc_temporary_name_parse(const char *name, struct trc_file_name *parsed);

/* Calls fn with the path of every file that is named like a ring, until it returns non-zero;
 * returns that. */
int trc_ring_files_each(int (*fn)(void *context, const char *path), void *context);
/* Opens the ring of this pid, of its latest image.  As trc_ring_file_open(); -ESRCH: none. */
int trc_ring_file_find(struct trc_ring_file *f, uint32_t pid, char *error, size_t n_bytes);

struct trc_snapshot;
struct trc_snapshot_options;
/* A snapshot of it; `dead` of the options is added to what is known of the owner.  NULL =
 * the defaults.  *out is the caller's.  0 or -errno with a sentence in error. */
int trc_ring_file_snapshot(const struct trc_ring_file *f, struct trc_snapshot **out,
			   const struct trc_snapshot_options *options, char *error, size_t n_bytes);

/*
 * A ring as a whole trace, through `sink`: for trace-analyze, --recover and --snapshot.  `context`
 * goes to the sink.  0 or -errno with a sentence in error.
 */
int trc_ring_file_to_trace(const struct trc_ring_file *f,
			   const struct trc_snapshot_options *options, trc_sink_fn *sink,
			   void *context, char *error, size_t n_bytes);

#endif
