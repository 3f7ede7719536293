/* source.c - see source.h. */
#include "source.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analyzer/open/memory.h"
#include "source_private.h"
#include "format/path.h"

static void close_asked(struct trc_view_source *s)
{
	trc_model_close(s->asked);
	s->asked = NULL;
}

void trc_view_error_add(struct trc_error *error, const char *text)
{
	size_t n = strlen(error->text);

	snprintf(error->text + n, sizeof(error->text) - n, "%s", text);
}

void trc_view_error_hint(struct trc_error *error, int err)
{
	char hint[160] = "";

	if (err == -ENOMEM)
		trc_memory_hint(hint, sizeof(hint));
	trc_view_error_add(error, hint);
}

/* As /proc tells it; "" if the process is gone. */
static void read_name(char *name, uint32_t pid)
{
	char path[64];
	FILE *in;

	snprintf(path, sizeof(path), "/proc/%u/comm", pid);
	in = fopen(path, "re");
	if (!in || !fgets(name, TRC_VIEW_NAME_BYTES, in))
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

static int source_look_at(struct trc_view_source *s, struct trc_error *error)
{
	const char *path = s->options->target;
	struct trc_cache_key before;
	int err;

	if (s->options->pid) {
		read_name(s->name, s->options->pid);
		err = trc_ring_look_pid(s->options->pid, error);
		if (err == -ESRCH && *s->name) /* it runs */
			trc_view_error_add(
				error, "; to be followed it is started by: trace-record --flight "
				       "-- COMMAND");
		return err;
	}
	snprintf(s->name, sizeof(s->name), "%s", trc_path_name(path));
	trc_cache_key_make(&before, path);
	err = trc_open_model(&s->trace.model, &s->trace.ring, path, error);
	if (!err) {
		trc_model_keep(s->trace.model); /* parts are asked for one after another */
		s->is_large = is_large(s);
	}
	if (!err && s->is_large && !s->trace.ring.bytes && !s->options->without_cache &&
	    !s->options->source)
		trc_view_source_key(s, s->trace.model, &s->key);
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
	err = source_look_at(s, error);
	if (err) {
		trc_view_error_hint(error, err);
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
	trc_view_opened_close(&s->trace);
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

/* ---- snapshots --------------------------------------------------------------------------- */

static int source_find_snapshot(const struct trc_view_source *s, uint64_t id,
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
	err = trc_view_snapshot_take(s, asked->last_ns ? asked->last_ns : UINT64_MAX, &snapshot,
				     error);
	if (err) {
		trc_view_error_hint(error, err);
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
	int err = source_find_snapshot(s, id, &snapshot, error);

	if (!err)
		err = trc_view_snapshot_page(s, snapshot, without_sql, page, error);
	if (err)
		trc_view_error_hint(error, err);
	return err;
}

int trc_view_source_snapshot_trace(struct trc_view_source *s, uint64_t id,
				   struct trc_served_page *page, struct trc_error *error)
{
	const struct trc_view_snapshot *snapshot;
	int err = source_find_snapshot(s, id, &snapshot, error);

	if (!err)
		err = trc_view_file_serve(page, snapshot->fd, snapshot->n_bytes, error);
	if (!err)
		trc_view_snapshot_name(s, snapshot, page->name);
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
		trc_view_source_take_kept(s);
		*m = s->trace.model;
		return 0;
	}
	if (!s->asked || s->asked_snapshot != id) {
		err = source_find_snapshot(s, id, &snapshot, error);
		if (err)
			return err;
		close_asked(s);
		err = trc_view_snapshot_open(&s->asked, snapshot, error);
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

	*answer = (struct trc_served_page){.fd = trc_view_file_open(), .is_answer = true};
	out = answer->fd < 0 ? NULL : trc_view_file_stream(answer->fd);
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
	struct trc_view_window_asked asked;
	struct trc_model *m;
	int err;

	if (s->options->without_sql) {
		snprintf(error->text, sizeof(error->text), "trace-view was started --without-sql");
		return -ENOTSUP;
	}
	err = model_asked(s, id, &m, error);
	if (err || !window->to_ns)
		return err ? err : ask_model(m, query, answer, error);
	err = trc_view_window_select(m, &asked, window, error);
	if (!err)
		err = ask_model(m, query, answer, error);
	trc_view_window_unselect(m, &asked);
	return err;
}
