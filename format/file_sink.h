/*
 * file_sink.h - a result on its way to disk: a trace, profile, database or page.
 *
 * Bytes go to a new file beside the target.  The new file takes the target's place only when it can
 * be read; until then the old file is kept.  Some targets are written to directly, as a shell's >
 * does: targets that are no regular file (a pipe, /dev/null), names in /dev or /proc (/dev/stdout),
 * a link that leads to nothing yet, and a file in a directory where no file may be made.
 *
 *   file_sink:S1  after a failed write the file ends with the last whole section, and nothing
 *       follows
 *   file_sink:S2  no function but trc_file_sink_plan() calls anything of libc that is interposable:
 *       the sink may live in a thread of a recorded program
 *   file_sink:S3  only the kernel follows a link as the last part of the name, and may forbid it
 *       (fs.protected_symlinks); the kernel also decides whether an existing file may be written to
 *   file_sink:S4  a file that is made has mode 0600: a trace's content is for its user only
 */
#ifndef TRC_FORMAT_FILE_SINK_H
#define TRC_FORMAT_FILE_SINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { TRC_FILE_PATH_BYTES = 4096 };

struct trc_file_sink {
	int fd; /* -1 = not open */
	int error;
	uint64_t file_bytes; /* whole sections */
	bool in_place;	     /* the target is written to directly */
	bool exists;	     /* at the time of the plan */
	bool fifo;
	bool committed;
	char target[TRC_FILE_PATH_BYTES];
	char temporary[TRC_FILE_PATH_BYTES + 32];
};

/*
 * Settles where `path` leads (links are followed, relative paths made absolute), before
 * anything is opened.  0 or -errno with a sentence in error.  Context: any thread, may block.
 */
int trc_file_sink_plan(struct trc_file_sink *s, const char *path, char *error, size_t n_bytes);
/*
 * Opens the planned target.  0 or -errno with a sentence in error.  -ENXIO: the target is a FIFO
 * that nobody reads; the call does not wait for a reader.
 */
int trc_file_sink_open(struct trc_file_sink *s, char *error, size_t n_bytes);
/*
 * trc_file_sink_open(), but waits for a reader of a FIFO.  `give_up` is called every 20 ms, and
 * true ends the waiting with -EINTR; NULL = never give up.  Context: a tool's thread.
 */
int trc_file_sink_open_waiting(struct trc_file_sink *s, bool (*give_up)(void *context),
			       void *context, char *error, size_t n_bytes);
/* A trc_sink_fn; `context` is the sink. */
int trc_file_sink_write(void *context, const void *bytes, size_t n_bytes);
/* The file takes the target's place, once it can be read.  More may be written. */
int trc_file_sink_commit(struct trc_file_sink *s);
/* Closes; a file that was not committed is removed. */
void trc_file_sink_close(struct trc_file_sink *s);

#endif
