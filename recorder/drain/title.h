/* title.h - what a process calls itself: its arguments as they are now (setproctitle()). */
#ifndef TRC_RECORDER_DRAIN_TITLE_H
#define TRC_RECORDER_DRAIN_TITLE_H

#include <stddef.h>

enum { TRC_TITLE_BYTES = 1024 };

/* Reads it of this process; what is there stays if nothing can be read, as of a process that has
 * ended.  Context: any thread, may block. */
void trc_title_read(char title[TRC_TITLE_BYTES], int pid);
/* `command`: the arguments that the process began with, separated by zeros.  The title, or NULL: it
 * is the same, or not known. */
const char *trc_title_if_changed(const char *title, const char *command, size_t command_bytes);

#endif
