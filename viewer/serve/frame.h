/*
 * frame.h - the small page around the page.
 *
 * The page itself is byte for byte that of `trace-analyze --html`: its policy allows no request.  So
 * the frame tells the server that a page is open, takes snapshots, and shows the page's address
 * in the address of the window.
 */
#ifndef TRC_VIEWER_SERVE_FRAME_H
#define TRC_VIEWER_SERVE_FRAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "overview.h"

struct trc_frame {
	char *bytes;
	size_t n_bytes;
	char policy[512]; /* its content security policy */
};

/* Makes the frame of a file with this name, or of a process.  with_sql: the page may ask SQL.  0 or -errno;
 * trc_frame_free() it. */
int trc_frame_make(struct trc_frame *frame, const char *name, uint32_t pid, bool with_sql,
		   const struct trc_overview *overview);
void trc_frame_free(struct trc_frame *frame); /* accepts a zeroed one */

#endif
