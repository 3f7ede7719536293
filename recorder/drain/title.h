/* title.h - the title of a process: its present arguments, which setproctitle() changes. */
#ifndef TRC_RECORDER_DRAIN_TITLE_H
#define TRC_RECORDER_DRAIN_TITLE_H

#include <stddef.h>

enum { TRC_TITLE_BYTES = 1024 };

/* Reads the title of process `pid`.  `title` is unchanged if nothing can be read, for example after
 * the process has ended.  Context: any thread, may block. */
void trc_title_read(char title[TRC_TITLE_BYTES], int pid);
/* `command`: the arguments that the process began with, separated by zeros.  Returns the title, or
 * NULL if the title is the same as the command, or not known. */
const char *trc_title_if_changed(const char *title, const char *command, size_t command_bytes);

#endif
