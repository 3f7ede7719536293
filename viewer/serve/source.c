/* source.c - see source.h. */
#include "source.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analyzer/model/selection.h"
#include "analyzer/open/memory.h"
#include "analyzer/open/trace.h"
#include "cache.h"
#include "format/symbols.h"
#include "format/symbols_jit.h"
#include "snapshots.h"
#include "viewer/html.h"
#include "viewer/prepared.h"
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
	struct opened trace; /* of a file */
	bool is_large;	     /* it is shown as a whole, and in parts */
	struct trc_cache_key
		key;	 /* of a large one, as it was when it was opened; empty = nothing is kept */
	bool has_looked; /* whether something was kept */
	bool is_prepared, is_kept; /* what all pages need is there; it is in a file */
	struct trc_served_page whole,
		last; /* of a file: of all, and of a part; fd -1 = not made yet */
	struct trc_window of_last;
	bool last_without_sql;
	struct trc_snapshots snapshots; /* of a process */
	struct trc_model *asked; /* of the snapshot that was asked SQL last; NULL = none was */
	uint64_t asked_snapshot;
};

static void opened_close(struct opened *o)
{
	trc_model_close(o->model);
	trc_ring_trace_free(&o->ring);
	*o = (struct opened){0};
}

static void close_asked(struct trc_view_source *s)
{
	trc_model_close(s->asked);
	s->asked = NULL;
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

static bool is_large(const struct trc_view_source *s)
{
	struct trc_overview o;

	trc_view_source_overview(s, &o);
	return o.first.to_ns > 0;
}

static void key_add_place(void *key, const char *path)
{
	trc_cache_key_add(key, path, path);
}

/* Of code that the program made itself: a running program adds to this file. */
static void key_add_jit(struct trc_cache_key *key, const struct trc_reader *reader)
{
	const char *pid = trc_reader_info_get(reader, "pid");
	char path[64];

	snprintf(path, sizeof(path), TRC_JIT_MAP, pid ? strtoull(pid, NULL, 10) : 0);
	trc_cache_key_add(key, path, path);
}

/* Of the file, and of what names of functions are read from: when that comes, or is another one, pages have other names. */
static void key_make(const struct trc_view_source *s, const struct trc_model *m,
		     struct trc_cache_key *key)
{
	enum { MODULES_MAX = 1024 };
	const struct trc_symbols_visit visit = {key_add_place, key};
	const struct trc_reader *reader = trc_model_reader(m);
	const char *servers = getenv("DEBUGINFOD_URLS"), *dirs = getenv("TRC_DEBUG_PATH");

	trc_cache_key_make(key, s->options->target);
	trc_cache_key_add(key, servers ? servers : "", NULL);
	trc_cache_key_add(key, dirs ? dirs : "", NULL);
	key_add_jit(key, reader);
	for (uint32_t i = 1; i < trc_reader_modules(reader) && i < MODULES_MAX; i++) {
		const struct trc_module_entry *module = trc_reader_module(reader, i);

		if (module)
			trc_symbols_places(module, &visit);
	}
}

static int look_at(struct trc_view_source *s, struct trc_error *error)
{
	const char *path = s->options->target, *slash = strrchr(path, '/');
	struct trc_cache_key before;
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
	trc_cache_key_make(&before, path);
	err = trc_open_model(&s->trace.model, &s->trace.ring, path, error);
	if (!err) {
		trc_model_keep(s->trace.model); /* parts are asked for one after another */
		s->is_large = is_large(s);
	}
	if (!err && s->is_large && !s->trace.ring.bytes && !s->options->without_cache &&
	    !s->options->source)
		key_make(s, s->trace.model, &s->key);
	if (!trc_cache_key_has(&s->key, &before)) /* it is another file than was opened */
		s->key = (struct trc_cache_key){0};
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
	s->whole.fd = s->last.fd = -1;
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
	if (s->whole.fd >= 0)
		close(s->whole.fd);
	if (s->last.fd >= 0)
		close(s->last.fd);
	trc_model_close(s->asked);
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

bool trc_view_source_has_sql(const struct trc_view_source *s)
{
	return !s->options->without_sql;
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

static int open_snapshot(struct trc_model **m, const struct trc_view_snapshot *snapshot,
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

/* "memcached-1234-153012.trc" */
static void name_trace(const struct trc_view_source *s, const struct trc_view_snapshot *snapshot,
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

/* The name is that under which the trace is saved. */
static int page_of_snapshot(const struct trc_view_source *s,
			    const struct trc_view_snapshot *snapshot, bool without_sql,
			    struct trc_served_page *page, struct trc_error *error)
{
	char name[TRC_SERVED_NAME_BYTES];
	struct trc_model *m = NULL;
	int err;

	name_trace(s, snapshot, name);
	err = open_snapshot(&m, snapshot, error);
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
	int err = take(s, 0, &snapshot, error);

	if (err)
		return err;
	err = page_of_snapshot(s, &snapshot, false, page, error);
	close(snapshot.fd);
	return err;
}

/* serve:V8: a trace that has changed meanwhile is another one. */
static bool is_unchanged(const struct trc_view_source *s, const struct trc_model *m)
{
	struct trc_cache_key now;

	key_make(s, m, &now);
	return trc_cache_key_is_same(&s->key, &now);
}

static void keep_page(const struct trc_view_source *s, const struct trc_served_page *page)
{
	if (is_unchanged(s, s->trace.model))
		trc_cache_keep(&s->key, page->fd, page->n_bytes);
}

/* The trace is opened once more, with what the file has.  What was derived of the one before is given back: what is mapped is the
 * kernel's, which can take it for something else.  Whether that could be. */
static bool use_kept(struct trc_view_source *s, int fd, const struct trc_image_pause *pause)
{
	struct opened next = {0};
	struct trc_error error;
	int err = trc_open_model(&next.model, &next.ring, s->options->target, &error);

	if (!err) {
		trc_model_keep(next.model);
		err = is_unchanged(s, next.model)
			      ? trc_prepared_map(next.model, fd, s->key.text, pause)
			      : -ENOENT;
	}
	if (err) {
		opened_close(&next);
		return false;
	}
	opened_close(&s->trace);
	s->trace = next;
	return true;
}

/* A line on stderr: nobody sees otherwise why a page of a part takes as long as the trace is large. */
static void say_derived_anew(const struct trc_view_source *s, int fd)
{
	char kept[TRC_IMAGE_KEY_BYTES];
	const char *why;

	trc_image_key(fd, kept);
	why = *kept ? trc_cache_key_differs(&s->key, kept) : NULL;
	trc_view_say("%s: what was derived of it before is not used: %s; it is derived once more",
		     s->options->target, why ? why : "the file is damaged, or cannot be mapped");
}

static void say_not_kept(const struct trc_view_source *s, const char *why)
{
	trc_view_say("%s: what was derived is not kept, and each trace-view derives it again: %s",
		     s->options->target, why);
}

/* Before anything is derived of the trace: whoever asks for a part or for SQL first has no reason to wait for that. */
static void take_kept(struct trc_view_source *s)
{
	const struct trc_image_pause none = {0};
	struct trc_cache_state state;
	bool is_checked;
	int fd;

	if (s->has_looked || !s->trace.model)
		return;
	s->has_looked = true;
	fd = trc_cache_find_model(&s->key, &state, &is_checked);
	if (fd < 0)
		return;
	s->is_kept = use_kept(s, fd, is_checked ? NULL : &none);
	if (s->is_kept)
		trc_cache_keep_checked(&s->key, &state);
	else
		say_derived_anew(s, fd);
	close(fd);
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

/* A window that is selected, as the analyzer is asked for it: the selection borrows the text. */
struct window_asked {
	struct trc_selection selection;
	char text[64];
};

/* end_selection() in any case. */
static int begin_selection(struct trc_model *m, struct window_asked *asked,
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

static void end_selection(struct trc_model *m, struct window_asked *asked)
{
	trc_model_select(m, NULL);
	trc_selection_free(&asked->selection);
}

static int page_of_window(struct trc_view_source *s, const struct trc_window *window,
			  bool without_sql, struct trc_served_page *page, struct trc_error *error)
{
	struct window_asked asked;
	struct trc_model *m;
	int err;

	if (!window->to_ns)
		return page_of_whole(s, page, error);
	take_kept(s);
	m = s->trace.model;
	err = begin_selection(m, &asked, window, error);
	if (!err)
		err = make_page(s, m, s->name, without_sql, NULL, page, error);
	end_selection(m, &asked);
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

/* The page of the whole is made once. */
static int page_of_trace(struct trc_view_source *s, const struct trc_window *window,
			 bool without_sql, struct trc_served_page *page, struct trc_error *error)
{
	struct trc_served_page *made = window->to_ns ? &s->last : &s->whole;
	struct trc_served_page next;
	int err;

	if (made->fd < 0 || (window->to_ns && (!is_same(window, &s->of_last) ||
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
	return serve_file(page, made->fd, made->n_bytes, error);
}

int trc_view_source_page(struct trc_view_source *s, const struct trc_window *window,
			 bool without_sql, struct trc_served_page *page, struct trc_error *error)
{
	int err = s->options->pid ? page_of_now(s, page, error)
				  : page_of_trace(s, window, without_sql, page, error);

	if (err)
		add_hint(error, err);
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

bool trc_view_source_is_kept(struct trc_view_source *s)
{
	s->whole.fd = trc_cache_find(&s->key, &s->whole.n_bytes);
	return s->whole.fd >= 0;
}

void trc_view_source_prepare(struct trc_view_source *s)
{
	struct trc_error error;

	if (!s->trace.model)
		return;
	take_kept(s);
	s->is_prepared = s->is_kept || !trc_html_prepare(s->trace.model, &error);
}

/* With its checksum, so that a later start need not. */
static void use_written(struct trc_view_source *s, int fd, const struct trc_image_pause *pause)
{
	struct trc_cache_state state;

	trc_cache_state_make(&state, fd);
	if (use_kept(s, fd, pause))
		trc_cache_keep_checked(&s->key, &state);
}

void trc_view_source_keep_prepared(struct trc_view_source *s, int (*pause)(void *context),
				   void *context)
{
	struct trc_image_writing writing = {.key = s->key.text, .pause = {pause, context}};
	struct trc_cache_making making;
	int fd, err;

	if (s->is_kept || !s->is_prepared || !*s->key.text)
		return;
	if (!trc_cache_begin_model(&making, &s->key)) {
		say_not_kept(s, making.why);
		return;
	}
	writing.most_bytes = making.most_bytes;
	fd = fcntl(making.fd, F_DUPFD_CLOEXEC, 0);
	err = trc_prepared_write(s->trace.model, making.fd, &writing);
	if (err == -EFBIG)
		say_not_kept(s, "it would take more than 16 GB, or more than a quarter of what is "
				"free on the disk");
	else if (err && err != -ECANCELED)
		say_not_kept(s, strerror(-err));
	s->is_kept = trc_cache_end_model(&making, &s->key, !err && is_unchanged(s, s->trace.model));
	if (s->is_kept && fd >= 0)
		use_written(s, fd, &writing.pause);
	if (fd >= 0)
		close(fd);
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
	/* Perhaps it was one of those that went. */
	if (!trc_snapshots_find(&s->snapshots, s->asked_snapshot))
		close_asked(s);
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

int trc_view_source_snapshot_trace(struct trc_view_source *s, uint64_t id,
				   struct trc_served_page *page, struct trc_error *error)
{
	const struct trc_view_snapshot *snapshot;
	int err = find_snapshot(s, id, &snapshot, error);

	if (!err)
		err = serve_file(page, snapshot->fd, snapshot->n_bytes, error);
	if (!err)
		name_trace(s, snapshot, page->name);
	page->is_trace = !err;
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

/* ---- queries ----------------------------------------------------------------------------- */

/* The one that was asked last is kept: a query seldom comes alone. */
static int model_asked(struct trc_view_source *s, uint64_t id, struct trc_model **m,
		       struct trc_error *error)
{
	const struct trc_view_snapshot *snapshot;
	int err;

	if (!id && !s->options->pid) {
		take_kept(s);
		*m = s->trace.model;
		return 0;
	}
	if (!s->asked || s->asked_snapshot != id) {
		err = find_snapshot(s, id, &snapshot, error);
		if (err)
			return err;
		close_asked(s);
		err = open_snapshot(&s->asked, snapshot, error);
		if (err)
			return err;
		trc_model_keep(s->asked);
		s->asked_snapshot = id;
	}
	*m = s->asked;
	return 0;
}

static int ask_model(struct trc_model *m, const struct trc_query *query,
		     struct trc_served_page *answer, struct trc_error *error)
{
	struct stat st = {0};
	FILE *out;
	int err;

	*answer = (struct trc_served_page){.fd = open_nameless(), .is_answer = true};
	out = answer->fd < 0 ? NULL : open_stream(answer->fd);
	err = out ? trc_query_answer(m, query, out, error) : -errno;
	if (out && (fclose(out) || fstat(answer->fd, &st)))
		err = err ? err : -errno;
	if (err && !error->text[0])
		snprintf(error->text, sizeof(error->text), "a file for the answer: %s",
			 strerror(-err));
	if (err && answer->fd >= 0)
		close(answer->fd);
	answer->n_bytes = (uint64_t)st.st_size;
	return err;
}

int trc_view_source_query(struct trc_view_source *s, uint64_t id, const struct trc_window *window,
			  const struct trc_query *query, struct trc_served_page *answer,
			  struct trc_error *error)
{
	struct window_asked asked;
	struct trc_model *m;
	int err;

	if (s->options->without_sql) {
		snprintf(error->text, sizeof(error->text), "trace-view was started --without-sql");
		return -ENOTSUP;
	}
	err = model_asked(s, id, &m, error);
	if (err || !window->to_ns)
		return err ? err : ask_model(m, query, answer, error);
	err = begin_selection(m, &asked, window, error);
	if (!err)
		err = ask_model(m, query, answer, error);
	end_selection(m, &asked);
	return err;
}
