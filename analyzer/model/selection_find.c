/* selection_find.c - a selection as it is asked for, and what of it there is in a trace. */
#include <errno.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "analyzer/text/line.h"
#include "selection_parts.h"

#define SAY(error, ...) snprintf((error)->text, sizeof((error)->text), __VA_ARGS__)

enum { NAME_SHOWN = 80 };

bool trc_selection_number(const char *text, uint64_t *number)
{
	char *end;

	if (*text < '0' || *text > '9')
		return false;
	errno = 0;
	*number = strtoull(text, &end, 10);
	return !*end && !errno;
}

/* ---- what is asked for ---- */

int trc_selection_ask_window(struct trc_selection *s, const char *text, struct trc_error *error)
{
	struct trc_window window;
	int err;

	if (s->window) {
		SAY(error, "there is one window at a time");
		return -EINVAL;
	}
	err = trc_window_parse(&window, text, error);
	if (!err)
		s->window = text;
	return err;
}

static int asked_add_name(const char *names[TRC_SELECTION_ASKED_MAX], size_t *n, const char *text,
			  struct trc_error *error)
{
	if (!*text || *n == TRC_SELECTION_ASKED_MAX) {
		SAY(error, !*text ? "a name is missing" : "no more than %d can be named",
		    TRC_SELECTION_ASKED_MAX);
		return -EINVAL;
	}
	names[(*n)++] = text;
	return 0;
}

int trc_selection_ask_thread(struct trc_selection *s, const char *text, struct trc_error *error)
{
	return asked_add_name(s->thread, &s->n_threads, text, error);
}

/* With "task:" before it as well, as for --why. */
int trc_selection_ask_task(struct trc_selection *s, const char *text, struct trc_error *error)
{
	if (!strncmp(text, "task:", 5))
		text += 5;
	return asked_add_name(s->task, &s->n_tasks, text, error);
}

int trc_selection_ask_slowest(struct trc_selection *s, const char *text, struct trc_error *error)
{
	char *end;
	double percent = strtod(text, &end);

	if (end == text || *text < '0' || *text > '9' || strcmp(end, *end ? "%" : "") != 0 ||
	    !(percent > 0) || percent > 100) {
		SAY(error, "it is a share of the tasks such as 1%%, not %.60s", text);
		return -EINVAL;
	}
	s->slowest = percent;
	return 0;
}

int trc_selection_check(const struct trc_selection *s, struct trc_error *error)
{
	uint64_t id;

	if (!(s->slowest > 0))
		return 0;
	if (!s->n_tasks) {
		SAY(error, "--slowest needs the type of the tasks: --task TYPE");
		return -EINVAL;
	}
	for (size_t i = 0; i < s->n_tasks; i++) {
		if (!trc_selection_number(s->task[i], &id))
			continue;
		SAY(error, "--slowest is of all tasks of a type, and --task %.40s is one task",
		    s->task[i]);
		return -EINVAL;
	}
	return 0;
}

/* ---- what there is ---- */

static const char *shown(struct trc_line *line, const char *name)
{
	trc_line_begin(line, NAME_SHOWN, false);
	trc_line_data(line, name, NAME_SHOWN);
	return trc_line_text(line);
}

/* What follows the name is a number, perhaps behind one sign: "worker 1", "worker-1", "worker1". */
static bool is_numbered(const char *thread, const char *name)
{
	size_t n = strlen(name), digits;

	if (!n || strncmp(thread, name, n) != 0)
		return false;
	thread += n;
	if (*thread && strchr(" -_.:/#", *thread))
		thread++;
	digits = strspn(thread, "0123456789");
	return digits && !thread[digits];
}

static bool is_like(const char *thread, const char *name)
{
	return is_numbered(thread, name) || (strpbrk(name, "*?[") && !fnmatch(name, thread, 0));
}

/* Threads with the name; if there are none, those whose names are like it. */
static int find_thread(struct trc_selection *s, const struct trc_model *m, const char *name,
		       struct trc_error *error)
{
	size_t n;
	const struct trc_thread *thread = trc_model_threads(m, &n);
	struct trc_line line;
	uint64_t tid;
	bool by_tid = trc_selection_number(name, &tid), found = false, like;

	for (size_t i = 0; i < n && !found; i++)
		found = by_tid ? thread[i].tid == tid : !strcmp(thread[i].name, name);
	like = !found && !by_tid;
	for (size_t i = 0; i < n; i++) {
		if (by_tid ? thread[i].tid != tid
		    : like ? !is_like(thread[i].name, name)
			   : strcmp(thread[i].name, name) != 0)
			continue;
		found = true;
		if (trc_index_put(&s->in, thread[i].serial, 1))
			return -ENOMEM;
	}
	if (found)
		return 0;
	SAY(error, "--thread %s: no thread has this tid or name", shown(&line, name));
	return -ENOENT;
}

static int find_window_of_task(struct trc_selection *s, const struct trc_model *m, uint64_t id,
			       struct trc_error *error)
{
	size_t n;
	const struct trc_task *task = trc_model_tasks(m, &n);

	for (size_t i = 0; i < n; i++) {
		if (task[i].task != id)
			continue;
		if (task[i].start_ns != TRC_NEVER)
			s->from_ns = task[i].start_ns;
		if (task[i].end_ns != TRC_NEVER)
			s->to_ns = task[i].end_ns;
		return 0;
	}
	SAY(error, "--window %.60s: no task has this id", s->window);
	return -ENOENT;
}

static int selection_find_window(struct trc_selection *s, const struct trc_model *m,
				 struct trc_error *error)
{
	struct trc_window_trace trace = {
		.reader = trc_model_reader(m),
		.start_ns = trc_model_start_ns(m),
	};
	struct trc_window window;
	int64_t from_ns, to_ns;
	int err;

	if (!s->window)
		return 0;
	err = trc_window_parse(&window, s->window, error);
	if (err || window.task)
		return err ? err : find_window_of_task(s, m, window.task, error);
	if (__builtin_sub_overflow(trc_model_end_ns(m), trace.start_ns, &trace.lasts_ns))
		trace.lasts_ns = INT64_MAX;
	err = trc_window_place(&window, &trace, &from_ns, &to_ns, error);
	if (err)
		return err;
	/* V6 */
	if (from_ns > 0)
		s->from_ns = trace.start_ns + from_ns;
	if (to_ns < trace.lasts_ns)
		s->to_ns = trace.start_ns + to_ns;
	return 0;
}

/* Some thread's time is left, or a moment of it. */
static bool is_empty(const struct trc_selection *s, const struct trc_model *m)
{
	size_t n;
	const struct trc_thread *thread = trc_model_threads(m, &n);
	int64_t at_ns;

	for (size_t i = 0; i < n; i++) {
		at_ns = thread[i].first_ns;
		if (trc_selection_ns(s, thread[i].serial, INT64_MIN, INT64_MAX) > 0 ||
		    (at_ns != TRC_NEVER && trc_selection_has_time(s, thread[i].serial, at_ns)))
			return false;
	}
	return true;
}

int trc_selection_find(struct trc_selection *s, struct trc_model *m, struct trc_error *error)
{
	unsigned int parts = TRC_PART_WAITS | TRC_PART_LABELS;
	int err;

	s->from_ns = INT64_MIN;
	s->to_ns = INT64_MAX;
	if (trc_selection_has_all_time(s))
		return trc_model_need(m, parts, error);
	if (s->n_tasks || !strncmp(s->window ? s->window : "", "task:", 5))
		parts |= TRC_PART_USER | TRC_PART_FIBERS;
	err = trc_model_need(m, parts, error);
	if (err)
		return err;
	err = selection_find_window(s, m, error);
	for (size_t i = 0; i < s->n_threads && !err; i++)
		err = find_thread(s, m, s->thread[i], error);
	if (!err && s->n_tasks)
		err = trc_selection_find_tasks(s, m, error);
	if (!err && is_empty(s, m)) {
		SAY(error, "nothing is selected: no thread has time that all options leave");
		err = -ENOENT;
	}
	if (err == -ENOMEM)
		SAY(error, "out of memory");
	return err;
}
