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
#include "snapshots.h"
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
	struct trc_snapshots snapshots; /* of a process */
};

static void opened_close(struct opened *o)
{
	trc_model_close(o->model);
	trc_ring_trace_free(&o->ring);
	*o = (struct opened){0};
}

static void add_text(struct trc_error *error, const char *text)
{
	size_t n = strlen(error->text);

	snprintf(error->text + n, sizeof(error->text) - n, "%s", text);
}

/* Where memory was wanting, which limit was met. */
static void add_hint(struct trc_error *error, int err)
{
	char hint[160] = "";

	if (err == -ENOMEM)
		trc_memory_hint(hint, sizeof(hint));
	add_text(error, hint);
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
	int err;

	if (s->options->pid) {
		read_name(s->name, s->options->pid);
		err = trc_ring_look_pid(s->options->pid, error);
		if (err == -ESRCH && *s->name) /* it runs */
			add_text(error, "; to be followed it is started by: trace-record --flight "
					"-- COMMAND");
		return err;
	}
	snprintf(s->name, sizeof(s->name), "%s", slash ? slash + 1 : path);
	err = trc_open_model(&s->trace.model, &s->trace.ring, path, error);
	if (!err)
		trc_model_keep(s->trace.model); /* parts are asked for one after another */
	return err;
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
	trc_snapshots_free(&s->snapshots);
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

static int make_page(const struct trc_view_source *s, struct trc_model *m, bool without_sql,
		     struct trc_served_page *page, struct trc_error *error)
{
	struct trc_html_source lines = {0};
	const struct trc_html_options html = {
		.sql = s->options->without_sql || without_sql ? NULL : trc_sqlbox_write,
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

/* A snapshot of the process as a trace in a file. */
static int take(const struct trc_view_source *s, uint64_t window_ns,
		struct trc_view_snapshot *snapshot, struct trc_error *error)
{
	struct stat st;
	int err;

	*snapshot = (struct trc_view_snapshot){.fd = open_nameless(), .taken = time(NULL)};
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

static int page_of_snapshot(const struct trc_view_source *s,
			    const struct trc_view_snapshot *snapshot, bool without_sql,
			    struct trc_served_page *page, struct trc_error *error)
{
	struct trc_model *m = NULL;
	char path[32];
	int err;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", snapshot->fd);
	err = trc_model_open(&m, path, error);
	if (!err)
		err = make_page(s, m, without_sql, page, error);
	trc_model_close(m);
	return err;
}

/* Of what the recorder was told to keep. */
static int page_of_now(const struct trc_view_source *s, struct trc_served_page *page,
		       struct trc_error *error)
{
	struct trc_view_snapshot snapshot;
	int err = take(s, 0, &snapshot, error);

	if (err)
		return err;
	err = page_of_snapshot(s, &snapshot, false, page, error);
	close(snapshot.fd);
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
		return make_page(s, m, false, page, error);
	snprintf(text, sizeof(text), "%" PRId64 "ns..%" PRId64 "ns", window->from_ns,
		 window->to_ns);
	err = trc_selection_ask_window(&selection, text, error);
	if (!err) {
		trc_model_select(m, &selection);
		err = trc_selection_find(&selection, m, error);
	}
	if (!err)
		err = make_page(s, m, false, page, error);
	trc_model_select(m, NULL);
	trc_selection_free(&selection);
	return err;
}

static int serve_file(struct trc_served_page *page, int fd, uint64_t n_bytes,
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
	return serve_file(page, s->last.fd, s->last.n_bytes, error);
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

void trc_view_source_prepare(struct trc_view_source *s)
{
	struct trc_error error;

	if (s->trace.model)
		trc_html_prepare(s->trace.model, &error);
}

/* ---- snapshots --------------------------------------------------------------------------- */

static int find_snapshot(const struct trc_view_source *s, uint64_t id,
			 const struct trc_view_snapshot **snapshot, struct trc_error *error)
{
	*snapshot = trc_snapshots_find(&s->snapshots, id);
	if (*snapshot)
		return 0;
	snprintf(error->text, sizeof(error->text),
		 "there is no such snapshot: it has gone, or never was");
	return -ENOENT;
}

int trc_view_source_take(struct trc_view_source *s, const struct trc_view_take *asked, uint64_t *id,
			 struct trc_error *error)
{
	struct trc_view_snapshot snapshot;
	int err;

	if (!s->options->pid) {
		snprintf(error->text, sizeof(error->text),
			 "a trace is shown: there is no process to take a snapshot of");
		return -ENOTSUP;
	}
	err = take(s, asked->last_ns ? asked->last_ns : UINT64_MAX, &snapshot, error);
	if (err) {
		add_hint(error, err);
		return err;
	}
	snapshot.visitor = asked->visitor;
	*id = trc_snapshots_add(&s->snapshots, &snapshot, asked->shown);
	return 0;
}

int trc_view_source_snapshot_page(struct trc_view_source *s, uint64_t id, bool without_sql,
				  struct trc_served_page *page, struct trc_error *error)
{
	const struct trc_view_snapshot *snapshot;
	int err = find_snapshot(s, id, &snapshot, error);

	if (!err)
		err = page_of_snapshot(s, snapshot, without_sql, page, error);
	if (err)
		add_hint(error, err);
	return err;
}

/* "memcached-1234-153012.trc": nothing that a shell or a header would take for something else. */
static void name_trace(const struct trc_view_source *s, const struct trc_view_snapshot *snapshot,
		       char name[TRC_SERVED_NAME_BYTES])
{
	static const char plain[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_";
	struct tm tm = {0};
	char at[16] = "";

	localtime_r(&snapshot->taken, &tm);
	strftime(at, sizeof(at), "%H%M%S", &tm);
	snprintf(name, TRC_SERVED_NAME_BYTES, "%.32s-%u-%s.trc", *s->name ? s->name : "process",
		 s->options->pid, at);
	for (char *c = name; *c; c++)
		if (!strchr(plain, *c) && (*c != '.' || strcmp(c, ".trc") != 0))
			*c = '_';
}

int trc_view_source_snapshot_trace(struct trc_view_source *s, uint64_t id,
				   struct trc_served_page *page, struct trc_error *error)
{
	const struct trc_view_snapshot *snapshot;
	int err = find_snapshot(s, id, &snapshot, error);

	if (!err)
		err = serve_file(page, snapshot->fd, snapshot->n_bytes, error);
	if (!err)
		name_trace(s, snapshot, page->name);
	return err;
}

int trc_view_source_keep(struct trc_view_source *s, uint64_t id, struct trc_error *error)
{
	int err = trc_snapshots_keep(&s->snapshots, id);

	if (err == -ENOENT)
		snprintf(error->text, sizeof(error->text),
			 "there is no such snapshot: it has gone, or never was");
	else if (err)
		snprintf(error->text, sizeof(error->text),
			 "%d snapshots are kept already, and no more can be: download this one",
			 TRC_SNAPSHOTS_KEPT_MAX);
	return err;
}
