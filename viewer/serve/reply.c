/* reply.c - see reply.h. */
#include "reply.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

bool trc_reply_header(struct MHD_Response *reply, const char *name, const char *value)
{
	return MHD_add_response_header(reply, name, value) == MHD_YES;
}

/* Nothing of this is kept, guessed at, or told to another site. */
static struct MHD_Response *add_common(struct MHD_Response *r, const char *type)
{
	if (!r)
		return NULL;
	if (trc_reply_header(r, "Content-Type", type) &&
	    trc_reply_header(r, "X-Content-Type-Options", "nosniff") &&
	    trc_reply_header(r, "Cache-Control", "no-store") &&
	    trc_reply_header(r, "Referrer-Policy", "no-referrer") &&
	    trc_reply_header(r, "Cross-Origin-Resource-Policy", "same-origin") &&
	    trc_reply_header(r, "Connection", "close"))
		return r;
	MHD_destroy_response(r);
	return NULL;
}

struct MHD_Response *trc_reply_bytes(const char *type, const char *bytes, size_t n_bytes)
{
	/* Not written to: it is copied. */
	return add_common(MHD_create_response_from_buffer(n_bytes, (void *)(uintptr_t)bytes,
							  MHD_RESPMEM_MUST_COPY),
			  type);
}

struct MHD_Response *trc_reply_line(const char *text)
{
	char line[1024];
	int n = snprintf(line, sizeof(line), "%s\n", text);

	return trc_reply_bytes(TRC_REPLY_TEXT, line,
			       (size_t)n < sizeof(line) ? (size_t)n : sizeof(line) - 1);
}

/* What is to be saved is not shown; a page that is has a policy of its own, and only the frame around it may show it. */
static bool page_add_headers(struct MHD_Response *r, const struct trc_served_page *page)
{
	char saved[TRC_SERVED_NAME_BYTES + 32];

	if (!*page->name)
		return trc_reply_header(r, "Content-Security-Policy", "frame-ancestors 'self'");
	snprintf(saved, sizeof(saved), "attachment; filename=\"%s\"", page->name);
	return trc_reply_header(r, "Content-Disposition", saved);
}

struct MHD_Response *trc_reply_page(const struct trc_served_page *page)
{
	struct MHD_Response *r = MHD_create_response_from_fd64(page->n_bytes, page->fd);

	if (!r)
		close(page->fd);
	r = add_common(r, page->is_answer  ? TRC_REPLY_JSON
			  : page->is_trace ? TRC_REPLY_TRACE
					   : TRC_REPLY_HTML);
	if (r && !page_add_headers(r, page)) {
		MHD_destroy_response(r);
		return NULL;
	}
	return r;
}
