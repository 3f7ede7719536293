/* reply.c - see reply.h */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "reply.h"

#define BODY_BYTES_MAX ((size_t)64 << 20)

void trc_http_drop_body(struct trc_http_reply *r)
{
	free(r->body);
	r->body = NULL;
	r->body_bytes = r->room_bytes = 0;
	if (r->path[0]) {
		unlink(r->path);
		*strrchr(r->path, '/') = '\0';
		rmdir(r->path);
	}
	r->path[0] = '\0';
}

void trc_http_reply_free(struct trc_http_reply *r)
{
	trc_http_drop_body(r);
}

static int reply_make_room(struct trc_http_reply *r, size_t n_bytes)
{
	size_t room = r->room_bytes ? r->room_bytes : 4096;
	void *body;

	if (n_bytes > BODY_BYTES_MAX - r->body_bytes)
		return -EFBIG;
	while (room - r->body_bytes < n_bytes)
		room *= 2;
	if (room == r->room_bytes)
		return 0;
	body = realloc(r->body, room);
	if (!body)
		return -ENOMEM;
	r->body = body;
	r->room_bytes = room;
	return 0;
}

int trc_http_add(struct trc_http_reply *r, const void *bytes, size_t n_bytes)
{
	int err = reply_make_room(r, n_bytes);

	if (err || !n_bytes)
		return err;
	memcpy((char *)r->body + r->body_bytes, bytes, n_bytes);
	r->body_bytes += n_bytes;
	return 0;
}

static int add_formatted(struct trc_http_reply *r, const char *format, va_list args)
{
	char text[1024];
	int n = vsnprintf(text, sizeof(text), format, args);

	if (n < 0)
		return -EINVAL;
	return trc_http_add(r, text, (size_t)n < sizeof(text) ? (size_t)n : sizeof(text) - 1);
}

int trc_http_addf(struct trc_http_reply *r, const char *format, ...)
{
	va_list args;
	int err;

	va_start(args, format);
	err = add_formatted(r, format, args);
	va_end(args);
	return err;
}

int trc_http_add_escaped(struct trc_http_reply *r, const char *text)
{
	int err = 0;

	for (; *text && !err; text++) {
		switch (*text) {
		case '<':
			err = trc_http_addf(r, "&lt;");
			break;
		case '>':
			err = trc_http_addf(r, "&gt;");
			break;
		case '&':
			err = trc_http_addf(r, "&amp;");
			break;
		case '"':
			err = trc_http_addf(r, "&#34;");
			break;
		case '\'':
			err = trc_http_addf(r, "&#39;");
			break;
		default:
			err = trc_http_add(r, text, 1);
		}
	}
	return err;
}

void trc_http_fail(struct trc_http_reply *r, unsigned int status, const char *format, ...)
{
	va_list args;

	trc_http_drop_body(r);
	r->status = status;
	r->type = TRC_HTTP_TEXT;
	r->file_name[0] = '\0';
	r->is_error = true;
	va_start(args, format);
	if (!add_formatted(r, format, args))
		trc_http_addf(r, "\n");
	va_end(args);
}

static int reply_write_body(void *context, const void *bytes, size_t n_bytes)
{
	return trc_http_add(context, bytes, n_bytes);
}

struct trace_writer trc_http_writer(struct trc_http_reply *r)
{
	return (struct trace_writer){.write = reply_write_body, .context = r};
}

/* ---- the header ------------------------------------------------------------------------- */

const char *trc_http_status_text(unsigned int status)
{
	static const struct {
		unsigned int status;
		const char *text;
	} known[] = {
		{200, "OK"},
		{301, "Moved Permanently"},
		{400, "Bad Request"},
		{401, "Unauthorized"},
		{403, "Forbidden"},
		{404, "Not Found"},
		{405, "Method Not Allowed"},
		{409, "Conflict"},
		{413, "Content Too Large"},
		{501, "Not Implemented"},
		{503, "Service Unavailable"},
	};

	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
		if (known[i].status == status)
			return known[i].text;
	return "Internal Server Error";
}

void trc_http_headers(const struct trc_http_reply *r,
		      void (*fn)(void *context, const char *name, const char *value), void *context)
{
	char disposition[128];

	fn(context, "Content-Type", r->type);
	fn(context, "X-Content-Type-Options", "nosniff");
	fn(context, "Cache-Control", "no-store");
	if (r->is_error)
		fn(context, "X-Go-Pprof", "1");
	if (r->file_name[0]) {
		snprintf(disposition, sizeof(disposition), "attachment; filename=\"%s\"",
			 r->file_name);
		fn(context, "Content-Disposition", disposition);
	}
	if (r->allow)
		fn(context, "Allow", r->allow);
	if (r->location)
		fn(context, "Location", r->location);
	if (r->authenticate)
		fn(context, "WWW-Authenticate", r->authenticate);
	fn(context, "Connection", "close");
}
