/*
 * file_sink.h - a trace on its way to disk.
 *
 * Bytes go to a new file beside the target, which takes the target's place only when it holds a
 * trace that can be read: what was there before is kept until then.  A target that is no regular
 * file (a pipe, /dev/null) is written to directly.
 *
 *   S1  after a failed write the file ends with the last whole section, and nothing follows
 *   S2  no function but trc_file_sink_plan() calls anything of libc that is interposable:
 *       the sink may live in a thread of a recorded program
 */
#ifndef TRC_RECORDER_FILE_SINK_H
#define TRC_RECORDER_FILE_SINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { TRC_FILE_PATH_BYTES = 4096 };

struct trc_file_sink {
	int fd; /* -1 = not open */
	int error;
	uint64_t file_bytes; /* whole sections */
	bool in_place;       /* the target is written to directly */
	bool committed;
	char target[TRC_FILE_PATH_BYTES];
	char temporary[TRC_FILE_PATH_BYTES + 32];
};

/*
 * Settles where `path` leads (links are followed, relative paths made absolute), before
 * anything is opened.  0 or -errno with a sentence in error.  Context: any thread, may block.
 */
int trc_file_sink_plan(struct trc_file_sink *s, const char *path, char *error, size_t n_bytes);
/* Creates the file, mode 0600. 0 or -errno with a sentence in error. */
int trc_file_sink_open(struct trc_file_sink *s, char *error, size_t n_bytes);
/* A trc_sink_fn; `context` is the sink. */
int trc_file_sink_write(void *context, const void *bytes, size_t n_bytes);
/* The file takes the target's place: when it can be read.  More may be written. */
int trc_file_sink_commit(struct trc_file_sink *s);
/* Closes; a file that was not committed is removed. */
void trc_file_sink_close(struct trc_file_sink *s);

#endif
