/* source_pages.c - pages: of a process as it is now, of a snapshot, of a whole trace and of its parts. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "source_private.h"
#include "viewer/html.h"
#include "viewer/source.h"
#include "viewer/sqlbox.h"

int trc_view_file_open(void)
{
	const char *dir = getenv("TMPDIR");
	int fd = open(dir && *dir ? dir : "/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

	return fd >= 0 ? fd : memfd_create("trc-page", MFD_CLOEXEC);
}

FILE *trc_view_file_stream(int file)
{
	int fd = fcntl(file, F_DUPFD_CLOEXEC, 0);
	FILE *out = fd < 0 ? NULL : fdopen(fd, "w");

	if (!out && fd >= 0)
		close(fd);
	return out;
}

/* Of a large trace's page of the whole: it opens at once, and is to be zoomed into. */
static const struct trc_html_limits whole_limits = {
	.intervals = 200000,
	.regions = 20000,
	.tasks = 20000,
	.unlocks = 20000,
	.logs = 5000,
	.counters = 50000,
	.label_spans = 20000,
	.fibers = 5000,
	.fiber_runs = 50000,
	.fiber_waits = 20000,
	.samples = 50000,
	.allocs = 50000,
	.blamed_waits = 20000,
	.blame_pieces = 1 << 17,
};

/* name: of the trace.  limits: NULL = those of every page. */
static int make_page(const struct trc_view_source *s, struct trc_model *m, const char *name,
		     bool without_sql, const struct trc_html_limits *limits,
		     struct trc_served_page *page, struct trc_error *error)
{
	struct trc_html_source lines = {0};
	const struct trc_html_options html = {
		.sql = s->options->without_sql || without_sql ? NULL : trc_sqlbox_write,
		.source = s->options->source ? &lines : NULL,
		.limits = limits,
		.trace = name,
	};
	struct stat st = {0};
	FILE *out;
	int err;

	page->fd = trc_view_file_open();
	out = page->fd < 0 ? NULL : trc_view_file_stream(page->fd);
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

int trc_view_file_serve(struct trc_served_page *page, int fd, uint64_t n_bytes,
			struct trc_error *error)
{
	int err;

	*page = (struct trc_served_page){.fd = fcntl(fd, F_DUPFD_CLOEXEC, 0), .n_bytes = n_bytes};
	if (page->fd >= 0)
		return 0;
	err = -errno;
	snprintf(error->text, sizeof(error->text), "the file: %s", strerror(-err));
	return err;
}

/* ---- snapshots --------------------------------------------------------------------------- */

int trc_view_snapshot_take(const struct trc_view_source *s, uint64_t window_ns,
			   struct trc_view_snapshot *snapshot, struct trc_error *error)
{
	struct stat st;
	int err;

	*snapshot = (struct trc_view_snapshot){.fd = trc_view_file_open(), .taken = time(NULL)};
	if (snapshot->fd < 0) {
		err = -errno;
		snprintf(error->text, sizeof(error->text), "a file for the snapshot: %s",
			 strerror(-err));
		return err;
	}
	err = trc_ring_write_pid(snapshot->fd, s->options->pid, window_ns, error);
	if (!err && fstat(snapshot->fd, &st))
		err = -errno;
	if (err)
		close(snapshot->fd);
	else
		snapshot->n_bytes = (uint64_t)st.st_size;
	return err;
}

int trc_view_snapshot_open(struct trc_model **m, const struct trc_view_snapshot *snapshot,
			   struct trc_error *error)
{
	char path[32];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", snapshot->fd);
	return trc_model_open(m, path, error);
}

/* Nothing that a shell or a header would take for something else; `ending` stays. */
static void make_plain(char *name, const char *ending)
{
	static const char plain[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_";

	for (char *c = name; *c; c++)
		if (!strchr(plain, *c) && strcmp(c, ending) != 0)
			*c = '_';
}

void trc_view_snapshot_name(const struct trc_view_source *s,
			    const struct trc_view_snapshot *snapshot,
			    char name[TRC_SERVED_NAME_BYTES])
{
	struct tm tm = {0};
	char at[16] = "";

	localtime_r(&snapshot->taken, &tm);
	strftime(at, sizeof(at), "%H%M%S", &tm);
	snprintf(name, TRC_SERVED_NAME_BYTES, "%.32s-%u-%s.trc", *s->name ? s->name : "process",
		 s->options->pid, at);
	make_plain(name, ".trc");
}

int trc_view_snapshot_page(const struct trc_view_source *s,
			   const struct trc_view_snapshot *snapshot, bool without_sql,
			   struct trc_served_page *page, struct trc_error *error)
{
	char name[TRC_SERVED_NAME_BYTES];
	struct trc_model *m = NULL;
	int err;

	trc_view_snapshot_name(s, snapshot, name);
	err = trc_view_snapshot_open(&m, snapshot, error);
	if (!err)
		err = make_page(s, m, name, without_sql, NULL, page, error);
	trc_model_close(m);
	return err;
}

/* Of what the recorder was told to keep. */
static int page_of_now(const struct trc_view_source *s, struct trc_served_page *page,
		       struct trc_error *error)
{
	struct trc_view_snapshot snapshot;
	int err = trc_view_snapshot_take(s, 0, &snapshot, error);

	if (err)
		return err;
	err = trc_view_snapshot_page(s, &snapshot, false, page, error);
	close(snapshot.fd);
	return err;
}

/* ---- a trace ----------------------------------------------------------------------------- */

static void keep_page(const struct trc_view_source *s, const struct trc_served_page *page)
{
	if (trc_view_source_is_unchanged(s, s->trace.model))
		trc_cache_keep(&s->key, page->fd, page->n_bytes);
}

static int page_of_whole(struct trc_view_source *s, struct trc_served_page *page,
			 struct trc_error *error)
{
	int err = make_page(s, s->trace.model, s->name, s->is_large,
			    s->is_large ? &whole_limits : NULL, page, error);

	if (!err)
		keep_page(s, page);
	return err;
}

int trc_view_window_select(struct trc_model *m, struct trc_view_window_asked *asked,
			   const struct trc_window *window, struct trc_error *error)
{
	int err;

	asked->selection = (struct trc_selection){0};
	snprintf(asked->text, sizeof(asked->text), "%" PRId64 "ns..%" PRId64 "ns", window->from_ns,
		 window->to_ns);
	err = trc_selection_ask_window(&asked->selection, asked->text, error);
	if (err)
		return err;
	trc_model_select(m, &asked->selection);
	return trc_selection_find(&asked->selection, m, error);
}

void trc_view_window_unselect(struct trc_model *m, struct trc_view_window_asked *asked)
{
	trc_model_select(m, NULL);
	trc_selection_free(&asked->selection);
}

static int page_of_window(struct trc_view_source *s, const struct trc_window *window,
			  bool without_sql, struct trc_served_page *page, struct trc_error *error)
{
	struct trc_view_window_asked asked;
	struct trc_model *m;
	int err;

	if (!window->to_ns)
		return page_of_whole(s, page, error);
	trc_view_source_take_kept(s);
	m = s->trace.model;
	err = trc_view_window_select(m, &asked, window, error);
	if (!err)
		err = make_page(s, m, s->name, without_sql, NULL, page, error);
	trc_view_window_unselect(m, &asked);
	return err;
}

static bool window_is_same(const struct trc_window *a, const struct trc_window *b)
{
	return a->from_ns == b->from_ns && a->to_ns == b->to_ns;
}

/* The page of the whole is made once. */
static int page_of_trace(struct trc_view_source *s, const struct trc_window *window,
			 bool without_sql, struct trc_served_page *page, struct trc_error *error)
{
	struct trc_served_page *made = window->to_ns ? &s->last : &s->whole;
	struct trc_served_page next;
	int err;

	if (made->fd < 0 || (window->to_ns && (!window_is_same(window, &s->of_last) ||
					       without_sql != s->last_without_sql))) {
		err = page_of_window(s, window, without_sql, &next, error);
		if (err)
			return err;
		if (made->fd >= 0)
			close(made->fd);
		*made = next;
		if (window->to_ns) {
			s->of_last = *window;
			s->last_without_sql = without_sql;
		}
	}
	return trc_view_file_serve(page, made->fd, made->n_bytes, error);
}

int trc_view_source_page(struct trc_view_source *s, const struct trc_window *window,
			 bool without_sql, struct trc_served_page *page, struct trc_error *error)
{
	int err = s->options->pid ? page_of_now(s, page, error)
				  : page_of_trace(s, window, without_sql, page, error);

	if (err)
		trc_view_error_hint(error, err);
	return err;
}

/* "dump-1200000000-1500000000.html" */
void trc_view_source_name_page(const struct trc_view_source *s, const struct trc_window *window,
			       struct trc_served_page *page)
{
	size_t n = strlen(s->name), ending = strlen(".trc");

	if (n > ending && !strcmp(s->name + n - ending, ".trc"))
		n -= ending;
	snprintf(page->name, sizeof(page->name), "%.*s-%" PRId64 "-%" PRId64 ".html",
		 (int)(n < 32 ? n : 32), s->name, window->from_ns, window->to_ns);
	make_plain(page->name, ".html");
}
