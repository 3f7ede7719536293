/*
 * fuzz_http.c - any request to the profiles over HTTP: a libFuzzer target.
 *
 * An input is a method, a space, an address, a newline, and the body: what libmicrohttpd hands to
 * recorder/http/route.c.  Behind it is a source with a profile of each kind, one of them with a name that
 * wants to get out of whatever it stands in, and with the names of this program.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "format/symbols.h"
#include "recorder/http/http.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n_bytes);

static const struct trc_http_entry entries[] = {
	{"\"><script>\r\nx: y\n", "<b>", TRC_HTTP_COUNTED | TRC_HTTP_CUMULATIVE, 3, NULL},
	{"block", "waits", TRC_HTTP_CUMULATIVE | TRC_HTTP_WINDOW, 0, "rate"},
	{"heap", "memory", TRC_HTTP_CUMULATIVE | TRC_HTTP_NEEDS_SECONDS, 0, "bytes"},
	{"profile", "CPU", 0, 0, NULL},
	{"threads", "threads", TRC_HTTP_COUNTED | TRC_HTTP_CUMULATIVE | TRC_HTTP_EACH, 7, NULL},
};
static struct trc_symbols *symbols; /* of this program: they are opened once */

static void promise(bool kept, const char *what)
{
	if (kept)
		return;
	fprintf(stderr, "broken: %s\n", what);
	abort();
}

/* ---- what there is to serve -------------------------------------------------------------- */

static bool wait_not(void *context, uint64_t ns)
{
	return true;
}

static void each(trc_http_each_fn *fn, void *context)
{
	for (size_t i = 0; i < sizeof(entries) / sizeof(entries[0]); i++)
		fn(context, &entries[i]);
}

static int take(const struct trc_http_take *take, const struct trace_writer *writer, char *why,
		size_t n_bytes)
{
	promise(take->debug <= 4 || strcmp(take->name, "threads"), "debug is in range");
	promise(take->window_ns <= UINT64_C(86400) * 1000000000, "a window of a day at most");
	if (take->period > 100) {
		snprintf(why, n_bytes, "no such period: %s", take->event ? take->event : "none");
		return -EINVAL;
	}
	return 0;
}

static int make_trace(const char *path, uint64_t duration_ns, const struct trc_http_wait *wait,
		      char *why, size_t n_bytes)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

	promise(fd >= 0, "a file that can be made");
	close(fd);
	return duration_ns % 3 ? 0 : -EBUSY;
}

static int make_flight(const char *path, uint64_t window_ns, char *why, size_t n_bytes)
{
	return make_trace(path, window_ns, NULL, why, n_bytes);
}

static const char *dir(void)
{
	const char *given = getenv("TRC_RING_DIR");

	return given ? given : "/tmp";
}

static long cmdline(char *out, size_t n_bytes)
{
	static const char text[] = "program\0<b>\0";

	memcpy(out, text, sizeof(text));
	return sizeof(text);
}

static struct trc_http_names *names_open(void)
{
	if (!symbols)
		promise(!trc_symbols_open(&symbols, TRC_SYMBOLS_READ), "memory");
	return (struct trc_http_names *)symbols;
}

static void names_close(struct trc_http_names *names)
{
}

static const char *name(struct trc_http_names *names, uint64_t address)
{
	static const struct trc_module_entry self = {
		.start = 0x1000, .limit = 1 << 24, .last_epoch = UINT32_MAX, .path = "/proc/self/exe"};
	struct trc_symbol found[TRC_SYMBOL_INLINE_MAX];
	size_t n = 0;

	if (address >= self.start && address < self.limit)
		n = trc_symbols_find((struct trc_symbols *)names, &self, address, found);
	return n ? found[n - 1].function : NULL;
}

static const struct trc_http_source source = {
	.each = each,
	.take = take,
	.trace = make_trace,
	.flight = make_flight,
	.dir = dir,
	.cmdline = cmdline,
	.names_open = names_open,
	.names_close = names_close,
	.name = name,
};

/* ---- what is answered -------------------------------------------------------------------- */

static void check_header(void *context, const char *header, const char *value)
{
	promise(!strpbrk(header, "\r\n: "), "the name of a header line");
	for (; *value; value++)
		promise((unsigned char)*value >= ' ' && (unsigned char)*value < 127,
			"a header line is one line of text");
}

static void check_reply(const struct trc_http_reply *r)
{
	promise(trc_http_status_text(r->status) && *trc_http_status_text(r->status), "a status");
	promise(r->is_error == (r->status >= 400), "errors, and only they, have such a status");
	promise(!r->is_error || r->body_bytes, "an error has a text");
	promise(!r->is_error || !strncmp(r->type, "text/plain", 10), "an error is no page");
	trc_http_headers(r, check_header, NULL);
	if (!strncmp(r->type, "text/html", 9))
		promise(!memmem(r->body, r->body_bytes, "<script>", 8), "text on a page is escaped");
}

/* Its own memory, so that what reads beyond its end is found. */
static char *text_of(const uint8_t *bytes, size_t n_bytes)
{
	char *text = malloc(n_bytes + 1);

	promise(text, "memory");
	memcpy(text, bytes, n_bytes);
	text[n_bytes] = '\0';
	return text;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n_bytes)
{
	const uint8_t *line = memchr(bytes, '\n', n_bytes);
	const uint8_t *space = line ? memchr(bytes, ' ', (size_t)(line - bytes)) : NULL;
	struct trc_http_request request = {.wait = {.wait = wait_not}};
	struct trc_http_reply reply = {0};
	char *method, *url;
	uint8_t *body;

	if (!space)
		return 0;
	method = text_of(bytes, (size_t)(space - bytes));
	url = text_of(space + 1, (size_t)(line - space - 1));
	request.body_bytes = n_bytes - (size_t)(line + 1 - bytes);
	body = malloc(request.body_bytes ? request.body_bytes : 1);
	promise(body, "memory");
	memcpy(body, line + 1, request.body_bytes);
	request.method = method;
	request.url = url;
	request.body = body;
	trc_http_answer(&source, &request, &reply);
	check_reply(&reply);
	trc_http_reply_free(&reply);
	free(method);
	free(url);
	free(body);
	return 0;
}
