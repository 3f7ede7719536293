/* source.c - see source.h. */
#include "source.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analyzer/model/selection.h"
#include "analyzer/open/memory.h"
#include "analyzer/open/trace.h"
#include "viewer/html.h"
#include "viewer/source.h"
#include "viewer/sqlbox.h"

enum { NAME_BYTES = 256 };

/* What is read from. */
struct opened {
	struct trc_model *model;
	struct trc_ring_trace ring; /* what the model reads, if it was a ring */
};

struct trc_view_source {
	const struct trc_view_options *options;
	char name[NAME_BYTES];
	struct opened trace;	     /* of a file */
	struct trc_served_page last; /* of a file; fd -1 = not made yet */
	struct trc_window of_last;
};

static void opened_close(struct opened *o)
{
	trc_model_close(o->model);
	trc_ring_trace_free(&o->ring);
	*o = (struct opened){0};
}

static int open_pid(struct opened *o, uint32_t pid, struct trc_error *error)
{
	struct trc_reader *reader;
	int err = trc_ring_open_pid(&reader, &o->ring, pid, error);

	return err ? err : trc_model_open_reader(&o->model, reader, error);
}

/* Where memory was wanting, which limit was met. */
static void add_hint(struct trc_error *error, int err)
{
	size_t n = strlen(error->text);

	if (err == -ENOMEM)
		trc_memory_hint(error->text + n, sizeof(error->text) - n);
}

/* As /proc tells it; "" if the process is gone. */
static void read_name(char *name, uint32_t pid)
{
	char path[64];
	FILE *in;

	snprintf(path, sizeof(path), "/proc/%u/comm", pid);
	in = fopen(path, "re");
	if (!in || !fgets(name, NAME_BYTES, in))
		*name = '\0';
	name[strcspn(name, "\n")] = '\0';
	if (in)
		fclose(in);
}

static int look_at(struct trc_view_source *s, struct trc_error *error)
{
	const char *path = s->options->target, *slash = strrchr(path, '/');

	if (s->options->pid) {
		read_name(s->name, s->options->pid);
		return trc_ring_look_pid(s->options->pid, error);
	}
	snprintf(s->name, sizeof(s->name), "%s", slash ? slash + 1 : path);
	return trc_open_model(&s->trace.model, &s->trace.ring, path, error);
}

int trc_view_source_open(struct trc_view_source **out, const struct trc_view_options *options,
			 struct trc_error *error)
{
	struct trc_view_source *s = calloc(1, sizeof(*s));
	int err;

	if (!s) {
		snprintf(error->text, sizeof(error->text), "%s", strerror(ENOMEM));
		return -ENOMEM;
	}
	s->options = options;
	s->last.fd = -1;
	err = look_at(s, error);
	if (err) {
		add_hint(error, err);
		trc_view_source_close(s);
		return err;
	}
	*out = s;
	return 0;
}

void trc_view_source_close(struct trc_view_source *s)
{
	if (!s)
		return;
	opened_close(&s->trace);
	if (s->last.fd >= 0)
		close(s->last.fd);
	free(s);
}

const char *trc_view_source_warning(const struct trc_view_source *s)
{
	return s->trace.model ? trc_reader_warning(trc_model_reader(s->trace.model)) : NULL;
}

const char *trc_view_source_name(const struct trc_view_source *s)
{
	return s->name;
}

void trc_view_source_overview(const struct trc_view_source *s, struct trc_overview *o)
{
	const struct trc_model *m = s->trace.model;

	if (m)
		trc_overview_make(o, trc_model_reader(m), trc_model_start_ns(m),
				  trc_model_end_ns(m), s->options->n_events);
	else
		*o = (struct trc_overview){0};
}

uint32_t trc_view_source_pid(const struct trc_view_source *s)
{
	return s->options->pid;
}

/* ---- pages ------------------------------------------------------------------------------- */

/* V2: on disk, where that can be; else in memory. */
static int open_nameless(void)
{
	const char *dir = getenv("TMPDIR");
	int fd = open(dir && *dir ? dir : "/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

	return fd >= 0 ? fd : memfd_create("trc-page", MFD_CLOEXEC);
}

/* A stream of its own on the file; NULL with errno. */
static FILE *open_stream(int file)
{
	int fd = fcntl(file, F_DUPFD_CLOEXEC, 0);
	FILE *out = fd < 0 ? NULL : fdopen(fd, "w");

	if (!out && fd >= 0)
		close(fd);
	return out;
}

static int make_page(const struct trc_view_source *s, struct trc_model *m,
		     struct trc_served_page *page, struct trc_error *error)
{
	struct trc_html_source lines = {0};
	const struct trc_html_options html = {
		.sql = s->options->without_sql ? NULL : trc_sqlbox_write,
		.source = s->options->source ? &lines : NULL,
	};
	struct stat st = {0};
	FILE *out;
	int err;

	page->fd = open_nameless();
	out = page->fd < 0 ? NULL : open_stream(page->fd);
	err = out ? trc_html_print(m, out, &html, error) : -errno;
	if (out && (fclose(out) || fstat(page->fd, &st)))
		err = err ? err : -errno;
	if (err && !error->text[0])
		snprintf(error->text, sizeof(error->text), "a file for the page: %s",
			 strerror(-err));
	if (err && page->fd >= 0)
		close(page->fd);
	page->n_bytes = (uint64_t)st.st_size;
	return err;
}

static int page_of_now(const struct trc_view_source *s, struct trc_served_page *page,
		       struct trc_error *error)
{
	struct opened o = {0};
	int err = open_pid(&o, s->options->pid, error);

	if (!err)
		err = make_page(s, o.model, page, error);
	opened_close(&o);
	return err;
}

static int page_of_window(struct trc_view_source *s, const struct trc_window *window,
			  struct trc_served_page *page, struct trc_error *error)
{
	struct trc_model *m = s->trace.model;
	struct trc_selection selection = {0};
	char text[64];
	int err;

	if (!window->to_ns)
		return make_page(s, m, page, error);
	snprintf(text, sizeof(text), "%" PRId64 "ns..%" PRId64 "ns", window->from_ns,
		 window->to_ns);
	err = trc_selection_ask_window(&selection, text, error);
	if (!err) {
		trc_model_select(m, &selection);
		err = trc_selection_find(&selection, m, error);
	}
	if (!err)
		err = make_page(s, m, page, error);
	trc_model_select(m, NULL);
	trc_selection_free(&selection);
	return err;
}

static bool is_same(const struct trc_window *a, const struct trc_window *b)
{
	return a->from_ns == b->from_ns && a->to_ns == b->to_ns;
}

static int page_of_trace(struct trc_view_source *s, const struct trc_window *window,
			 struct trc_served_page *page, struct trc_error *error)
{
	struct trc_served_page made;
	int err;

	if (s->last.fd < 0 || !is_same(window, &s->of_last)) {
		err = page_of_window(s, window, &made, error);
		if (err)
			return err;
		if (s->last.fd >= 0)
			close(s->last.fd);
		s->last = made;
		s->of_last = *window;
	}
	*page = (struct trc_served_page){fcntl(s->last.fd, F_DUPFD_CLOEXEC, 0), s->last.n_bytes};
	if (page->fd >= 0)
		return 0;
	err = -errno;
	snprintf(error->text, sizeof(error->text), "the page: %s", strerror(-err));
	return err;
}

int trc_view_source_page(struct trc_view_source *s, const struct trc_window *window,
			 struct trc_served_page *page, struct trc_error *error)
{
	int err = s->options->pid ? page_of_now(s, page, error)
				  : page_of_trace(s, window, page, error);

	if (err)
		add_hint(error, err);
	return err;
}
