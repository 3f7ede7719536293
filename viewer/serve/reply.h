/* reply.h - replies, with the headers that all of them have. */
#ifndef TRC_VIEWER_SERVE_REPLY_H
#define TRC_VIEWER_SERVE_REPLY_H

#include <microhttpd.h>
#include <stddef.h>
#include "source.h"

#define TRC_REPLY_TEXT	"text/plain; charset=utf-8"
#define TRC_REPLY_HTML	"text/html; charset=utf-8"
#define TRC_REPLY_TRACE "application/octet-stream"
#define TRC_REPLY_JSON	"application/json"

/* Each is the caller's to destroy; NULL = no memory. */

/* `bytes` are copied. */
struct MHD_Response *trc_reply_bytes(const char *type, const char *bytes, size_t n_bytes);
/* A line of text. */
struct MHD_Response *trc_reply_line(const char *text);
/* Takes the file, also if it fails. */
struct MHD_Response *trc_reply_page(const struct trc_served_page *page);
/* Adds a header.  False = no memory. */
bool trc_reply_header(struct MHD_Response *reply, const char *name, const char *value);

#endif
