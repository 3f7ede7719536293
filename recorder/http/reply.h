/* reply.h - the parts that replies are made of. */
#ifndef TRC_RECORDER_HTTP_REPLY_H
#define TRC_RECORDER_HTTP_REPLY_H

#include "http.h"

#define TRC_HTTP_TEXT	"text/plain; charset=utf-8"
#define TRC_HTTP_HTML	"text/html; charset=utf-8"
#define TRC_HTTP_BINARY "application/octet-stream"

/* Makes the reply an error with a sentence; the body so far is dropped. */
void trc_http_fail(struct trc_http_reply *r, unsigned int status, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* Appends to the body. 0, -ENOMEM, or -EFBIG: the body would be larger than any reply may be. */
int trc_http_add(struct trc_http_reply *r, const void *bytes, size_t n_bytes);
int trc_http_addf(struct trc_http_reply *r, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* trc_http_add() for HTML: appends any text, escaped. */
int trc_http_add_escaped(struct trc_http_reply *r, const char *text);
/* A writer that appends to the body. */
struct trace_writer trc_http_writer(struct trc_http_reply *r);
void trc_http_drop_body(struct trc_http_reply *r);

/* ---- pages ---- */

void trc_http_index(const struct trc_http_source *source, struct trc_http_reply *r);
/* pcs: the raw query, or the body of a POST; not \0-terminated. */
void trc_http_symbols(const struct trc_http_source *source, const char *pcs, size_t n_bytes,
		      const struct trc_http_wait *wait, struct trc_http_reply *r);

#endif
