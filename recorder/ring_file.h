/*
 * ring_file.h - the files that rings lie in: finding them, opening them, telling the living from
 * the dead.
 *
 * PID.IMAGE.ring in a session's directory (trc-XXXXXX) of trace-record, or trc-UID-PID.IMAGE.ring
 * beside it for a recording that the program started itself; in $TRC_RING_DIR, /dev/shm or /tmp.
 */
#ifndef TRC_RECORDER_RING_FILE_H
#define TRC_RECORDER_RING_FILE_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include "layout.h"

enum trc_ring_owner {
	TRC_OWNER_ALIVE,
	TRC_OWNER_DEAD,
	TRC_OWNER_UNKNOWN, /* of another pid namespace: it cannot be told from here */
};

/* A ring file, mapped read-only. */
struct trc_ring_file {
	char path[PATH_MAX];
	const struct trc_shared *shared;
	uint64_t mapped_bytes;
	struct trc_shared header; /* checked copy */
	enum trc_ring_owner owner;
	bool closed; /* TRC_SHARED_CLOSED: recording ended in good order */
};

/*
 * Opens and checks (mode, owner, size, header).  0, or a negative errno with a sentence in
 * error: -EPERM another user's, -EBADMSG not a ring, of another version, half-created or damaged.
 */
int trc_ring_file_open(struct trc_ring_file *f, const char *path, char *error, size_t n_bytes);
void trc_ring_file_close(struct trc_ring_file *f);

/* Calls fn with the path of every file that is named like a ring, until it returns non-zero;
 * returns that. */
int trc_ring_files_each(int (*fn)(void *context, const char *path), void *context);
/* Opens the ring of this pid, of its latest image.  As trc_ring_file_open(); -ESRCH: none. */
int trc_ring_file_find(struct trc_ring_file *f, uint32_t pid, char *error, size_t n_bytes);

/*
 * A ring as a whole trace, through `sink`: for trace-analyze, --recover and --snapshot.  `context`
 * goes to the sink.  0 or -errno with a sentence in error.
 */
struct trc_snapshot_options;
int trc_ring_file_to_trace(const struct trc_ring_file *f, const struct trc_snapshot_options *options,
			   trc_sink_fn *sink, void *context, char *error, size_t n_bytes);

#endif
