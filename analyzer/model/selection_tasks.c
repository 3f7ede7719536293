/*
 * selection_tasks.c - the tasks of a selection, and when which thread worked for them
 * (selection:V7).
 *
 * A selected task is the root of its children and their children.  The time of all of them is
 * the root's, as far as the root lasts.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "analyzer/text/line.h"
#include "selection_parts.h"
#include "task_pick.h"
#include "task_spans.h"

struct task_time {
	struct trc_selection *s;
	const struct trc_model *m;
	size_t n_tasks;
};

/* ---- which tasks ---- */

static bool others_leave(void *context, const struct trc_model *m, size_t row)
{
	return trc_selection_has_task(context, m, row);
}

/* Those of one --task.  The other options have been found: the slowest are of those that these
 * leave. */
static int pick_named(struct task_time *t, const struct trc_selection *others, const char *name,
		      struct trc_error *error)
{
	struct trc_array picked = {0};
	struct trc_selection left = *others;
	struct trc_task_pick pick = {
		.type = name, .slowest = others->slowest, .wanted = others_leave, .context = &left};
	const struct trc_picked_task *row;
	struct trc_line line;
	uint64_t id;
	size_t n_of;
	char *end;
	int err;

	/* Other threads than those that begin and end a task may work for it. */
	if (!(others->slowest > 0))
		left.n_threads = 0;
	if (*name >= '0' && *name <= '9') {
		id = strtoull(name, &end, 10);
		pick.id = *end ? NULL : &id;
	}
	err = trc_tasks_pick(t->m, &pick, &picked, &n_of);
	row = picked.row;
	for (size_t i = 0; i < picked.n && !err; i++) {
		if (!t->s->task_in[row[i].row])
			t->s->n_picked++;
		t->s->task_in[row[i].row] = TRC_TASK_APART;
		if (t->s->least_ns < 0 || row[i].ns < t->s->least_ns)
			t->s->least_ns = row[i].ns;
	}
	t->s->n_of_type += n_of;
	if (!err && !n_of) {
		trc_line_begin(&line, 80, false);
		trc_line_data(&line, name, 80);
		snprintf(error->text, sizeof(error->text),
			 "--task %s: no %stask %s this id or type", trc_line_text(&line),
			 others->slowest > 0 ? "whole " : "",
			 others->window || others->n_threads || others->labels
				 ? "that the other options leave has"
				 : "has");
		err = -ENOENT;
	}
	trc_array_free(&picked);
	return err;
}

static int pick_tasks(struct task_time *t, struct trc_error *error)
{
	struct trc_selection others = *t->s;
	int err = 0;

	others.n_tasks = 0;
	t->s->least_ns = -1;
	for (size_t i = 0; i < t->s->n_tasks && !err; i++)
		err = pick_named(t, &others, t->s->task[i], error);
	return err;
}

/* ---- their time ---- */

static int add_family(struct task_time *t, struct trc_task_spans *spans, uint32_t row)
{
	int err = trc_task_spans_add(spans, row, t->s->task_in, &t->s->spans);
	const uint32_t *member = spans->family.row;

	for (size_t i = 1; i < spans->family.n && !err; i++)
		t->s->task_in[member[i]] = 1;
	return err;
}

static int add_families(struct task_time *t)
{
	struct trc_task_spans spans;
	int err = trc_task_spans_open(&spans, t->m);

	t->s->spans.row_bytes = sizeof(struct trc_selected_span);
	for (uint32_t i = 0; i < t->n_tasks && !err; i++)
		if (t->s->task_in[i] == TRC_TASK_APART)
			err = add_family(t, &spans, i);
	if (!err)
		err = trc_task_spans_join(&spans, &t->s->spans);
	trc_task_spans_close(&spans);
	return err;
}

int trc_selection_find_tasks(struct trc_selection *s, const struct trc_model *m,
			     struct trc_error *error)
{
	struct task_time t = {.s = s, .m = m};
	int err;

	trc_model_tasks(m, &t.n_tasks);
	s->task_in = calloc(t.n_tasks + 1, sizeof(*s->task_in));
	err = s->task_in ? pick_tasks(&t, error) : -ENOMEM;
	return err ? err : add_families(&t);
}
