/* source_kept.c - what was derived of a large trace is kept, and used by later starts (cache.h). */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "format/symbols.h"
#include "format/symbols_jit.h"
#include "source_private.h"
#include "viewer/html.h"
#include "viewer/prepared.h"

void trc_view_opened_close(struct trc_view_opened *o)
{
	trc_model_close(o->model);
	trc_ring_trace_free(&o->ring);
	*o = (struct trc_view_opened){0};
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

void trc_view_source_key(const struct trc_view_source *s, const struct trc_model *m,
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

bool trc_view_source_is_unchanged(const struct trc_view_source *s, const struct trc_model *m)
{
	struct trc_cache_key now;

	trc_view_source_key(s, m, &now);
	return trc_cache_key_is_same(&s->key, &now);
}

/* The trace is opened once more, with what the file has.  What was derived of the one before is given back: what is mapped is the
 * kernel's, which can take it for something else.  Whether that could be. */
static bool use_kept(struct trc_view_source *s, int fd, const struct trc_image_pause *pause)
{
	struct trc_view_opened next = {0};
	struct trc_error error;
	int err = trc_open_model(&next.model, &next.ring, s->options->target, &error);

	if (!err) {
		trc_model_keep(next.model);
		err = trc_view_source_is_unchanged(s, next.model)
			      ? trc_prepared_map(next.model, fd, s->key.text, pause)
			      : -ENOENT;
	}
	if (err) {
		trc_view_opened_close(&next);
		return false;
	}
	trc_view_opened_close(&s->trace);
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

void trc_view_source_take_kept(struct trc_view_source *s)
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
	trc_view_source_take_kept(s);
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
	s->is_kept = trc_cache_end_model(&making, &s->key,
					 !err && trc_view_source_is_unchanged(s, s->trace.model));
	if (s->is_kept && fd >= 0)
		use_written(s, fd, &writing.pause);
	if (fd >= 0)
		close(fd);
}
