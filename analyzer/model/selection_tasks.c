/*
 * selection_tasks.c - the tasks of a selection, and when which thread worked for them
 * (selection:V7).
 *
 * A task that is asked for is the root of its children and their children: all of their time is
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

enum { ROOT_NONE = UINT32_MAX, ROOT_UNKNOWN = UINT32_MAX - 1 };

/* A thread ended a task. */
struct task_end {
	int64_t end_ns;
	uint32_t thread, row;
	uint32_t before; /* index + 1 of the end before it, of a task with another root; 0 = none */
};

struct task_time {
	struct trc_selection *s;
	const struct trc_model *m;
	const struct trc_task *task;
	size_t n_tasks;
	struct trc_index row; /* by the task's id: its first row */
	uint32_t *root;	      /* by row of task: the row of its root, or ROOT_* */
	struct trc_array ends;
};

/* ---- which tasks ---- */

static bool is_left(void *context, const struct trc_model *m, size_t row)
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
		.type = name, .slowest = others->slowest, .wanted = is_left, .context = &left};
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
		t->s->task_in[row[i].row] = 2;
		t->root[row[i].row] = (uint32_t)row[i].row;
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

/* ---- children ---- */

static uint32_t parent_row(const struct task_time *t, uint32_t row)
{
	return t->task[row].parent ? trc_index_get(&t->row, t->task[row].parent) : TRC_INDEX_NONE;
}

/* Up to one whose root is known, or that has no parent, and down again.  A task that is its own
 * parent's parent comes to itself: then it has none. */
static void find_root(struct task_time *t, uint32_t row)
{
	uint32_t at = row, root = ROOT_NONE, up;

	while (at != TRC_INDEX_NONE && t->root[at] == ROOT_UNKNOWN) {
		t->root[at] = ROOT_NONE;
		at = parent_row(t, at);
	}
	if (at != TRC_INDEX_NONE)
		root = t->root[at];
	if (root == ROOT_NONE)
		return;
	for (up = row; up != at && t->root[up] == ROOT_NONE; up = parent_row(t, up)) {
		t->root[up] = root;
		t->s->task_in[up] = t->s->task_in[up] ? t->s->task_in[up] : 1;
	}
}

static int find_roots(struct task_time *t)
{
	for (uint32_t i = 0; i < t->n_tasks; i++)
		if (trc_index_get(&t->row, t->task[i].task) == TRC_INDEX_NONE &&
		    trc_index_put(&t->row, t->task[i].task, i))
			return -ENOMEM;
	for (uint32_t i = 0; i < t->n_tasks; i++)
		find_root(t, i);
	return 0;
}

/* ---- who ended what ---- */

static int compare_ends(const void *a, const void *b)
{
	const struct task_end *x = a, *y = b;

	if (x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	if (x->end_ns != y->end_ns)
		return x->end_ns < y->end_ns ? -1 : 1;
	return (x->row > y->row) - (x->row < y->row);
}

static int find_ends(struct task_time *t)
{
	struct task_end *end;

	t->ends.row_bytes = sizeof(*end);
	for (uint32_t i = 0; i < t->n_tasks; i++) {
		if (!t->task[i].end_thread)
			continue;
		end = trc_array_add(&t->ends);
		if (!end)
			return -ENOMEM;
		*end = (struct task_end){t->task[i].end_ns, t->task[i].end_thread, i, 0};
	}
	end = t->ends.row;
	if (t->ends.n)
		qsort(end, t->ends.n, sizeof(*end), compare_ends);
	for (uint32_t i = 1; i < t->ends.n; i++) {
		uint32_t root = t->root[end[i].row];

		if (end[i - 1].thread != end[i].thread)
			continue;
		end[i].before = root == ROOT_NONE || t->root[end[i - 1].row] != root
					? i
					: end[i - 1].before;
	}
	return 0;
}

/* When the thread that ended this task had ended the one before. */
static int64_t ended_before_ns(const struct task_time *t, uint32_t row)
{
	const struct task_end key = {t->task[row].end_ns, t->task[row].end_thread, row, 0};
	const struct task_end *ends = t->ends.row, *end;

	end = bsearch(&key, ends, t->ends.n, sizeof(*ends), compare_ends);
	return end && end->before ? ends[end->before - 1].end_ns : INT64_MIN;
}

/* ---- spans ---- */

static int span_put(struct trc_array *spans, uint64_t track, int64_t from_ns, int64_t to_ns)
{
	struct trc_selected_span *span = trc_array_add(spans);

	if (!span)
		return -ENOMEM;
	*span = (struct trc_selected_span){track, from_ns, to_ns, 0};
	return 0;
}

static void clip(const struct trc_task *task, int64_t *from_ns, int64_t *to_ns)
{
	if (task->start_ns != TRC_NEVER && *from_ns < task->start_ns)
		*from_ns = task->start_ns;
	if (task->end_ns != TRC_NEVER && *to_ns > task->end_ns)
		*to_ns = task->end_ns;
}

/* As long as the task lasts, and its root. */
static int span_add(struct task_time *t, uint32_t row, uint64_t track, int64_t from_ns,
		    int64_t to_ns)
{
	clip(&t->task[row], &from_ns, &to_ns);
	clip(&t->task[t->root[row]], &from_ns, &to_ns);
	return from_ns < to_ns && track ? span_put(&t->s->spans, track, from_ns, to_ns) : 0;
}

static int add_task(struct task_time *t, uint32_t row)
{
	const struct trc_task *task = &t->task[row];
	int64_t from_ns = task->start_ns, to_ns = task->end_ns, before_ns;
	uint32_t fiber = 0, thread = task->end_thread ? task->end_thread : task->start_thread;

	if (from_ns == TRC_NEVER)
		from_ns = trc_model_start_ns(t->m);
	else
		fiber = trc_model_fiber_at(t->m, task->start_thread, from_ns, task->start_place);
	if (to_ns == TRC_NEVER)
		to_ns = INT64_MAX;
	if (fiber)
		return span_add(t, row, trc_fiber_track(fiber), from_ns, to_ns);
	if (task->start_thread != task->end_thread && task->end_thread) {
		before_ns = ended_before_ns(t, row);
		from_ns = from_ns > before_ns ? from_ns : before_ns;
	}
	return span_add(t, row, thread, from_ns, to_ns);
}

static int add_region(struct task_time *t, const struct trc_region *region)
{
	uint32_t row = region->task ? trc_index_get(&t->row, region->task) : TRC_INDEX_NONE;
	int64_t from_ns = region->start_ns;

	if (row == TRC_INDEX_NONE || t->root[row] == ROOT_NONE)
		return 0;
	if (from_ns == TRC_NEVER)
		from_ns = trc_model_start_ns(t->m);
	return span_add(t, row, region->fiber ? trc_fiber_track(region->fiber) : region->thread,
			from_ns, region->end_ns == TRC_NEVER ? INT64_MAX : region->end_ns);
}

static int compare_spans(const void *a, const void *b)
{
	const struct trc_selected_span *x = a, *y = b;

	if (x->track != y->track)
		return x->track < y->track ? -1 : 1;
	if (x->from_ns != y->from_ns)
		return x->from_ns < y->from_ns ? -1 : 1;
	return (x->to_ns > y->to_ns) - (x->to_ns < y->to_ns);
}

/* Makes them disjoint, and sums them up. */
static void spans_join(struct trc_array *spans)
{
	struct trc_selected_span *span = spans->row;
	size_t n = 0;

	if (!spans->n)
		return;
	qsort(span, spans->n, sizeof(*span), compare_spans);
	for (size_t i = 1; i < spans->n; i++) {
		if (span[i].track != span[n].track || span[i].from_ns > span[n].to_ns)
			span[++n] = span[i];
		else if (span[i].to_ns > span[n].to_ns)
			span[n].to_ns = span[i].to_ns;
	}
	spans->n = n + 1;
	span[0].before_ns = 0;
	for (size_t i = 1; i < spans->n; i++) {
		int64_t ns;

		if (span[i].track != span[i - 1].track) {
			span[i].before_ns = 0;
			continue;
		}
		if (__builtin_sub_overflow(span[i - 1].to_ns, span[i - 1].from_ns, &ns) ||
		    __builtin_add_overflow(span[i - 1].before_ns, ns, &span[i].before_ns))
			span[i].before_ns = INT64_MAX;
	}
}

/* Where threads ran fibers in their spans: those are the threads' time as well.  The spans are
 * joined. */
static int add_runs(struct task_time *t)
{
	size_t n;
	const struct trc_fiber_run *run = trc_model_fiber_runs(t->m, &n);
	struct trc_array of_threads = {.row_bytes = sizeof(struct trc_selected_span)};
	const struct trc_selection fibers = {
		.from_ns = INT64_MIN, .to_ns = INT64_MAX, .n_tasks = 1, .spans = t->s->spans};
	int err = 0;

	for (size_t i = 0; i < n && !err; i++) {
		int64_t at_ns = run[i].start_ns, from_ns, until_ns;
		int64_t end_ns = run[i].end_ns == TRC_NEVER ? INT64_MAX : run[i].end_ns;

		while (!err && trc_selection_track_next(&fibers, trc_fiber_track(run[i].fiber),
							&at_ns, end_ns, &from_ns, &until_ns))
			err = span_put(&of_threads, run[i].thread, from_ns, until_ns);
	}
	for (size_t i = 0; i < of_threads.n && !err; i++) {
		const struct trc_selected_span *span =
			(struct trc_selected_span *)of_threads.row + i;

		err = span_put(&t->s->spans, span->track, span->from_ns, span->to_ns);
	}
	if (of_threads.n && !err)
		spans_join(&t->s->spans);
	trc_array_free(&of_threads);
	return err;
}

static int add_spans(struct task_time *t)
{
	size_t n;
	const struct trc_region *region = trc_model_regions(t->m, &n);
	int err = 0;

	t->s->spans.row_bytes = sizeof(struct trc_selected_span);
	for (uint32_t i = 0; i < t->n_tasks && !err; i++)
		if (t->root[i] != ROOT_NONE)
			err = add_task(t, i);
	for (size_t i = 0; i < n && !err; i++)
		err = add_region(t, &region[i]);
	if (err)
		return err;
	spans_join(&t->s->spans);
	return add_runs(t);
}

int trc_selection_find_tasks(struct trc_selection *s, const struct trc_model *m,
			     struct trc_error *error)
{
	struct task_time t = {.s = s, .m = m};
	int err;

	t.task = trc_model_tasks(m, &t.n_tasks);
	if (t.n_tasks >= ROOT_UNKNOWN)
		return -ENOMEM;
	t.root = malloc((t.n_tasks + 1) * sizeof(*t.root));
	s->task_in = calloc(t.n_tasks + 1, sizeof(*s->task_in));
	err = t.root && s->task_in ? 0 : -ENOMEM;
	for (size_t i = 0; i < t.n_tasks && !err; i++)
		t.root[i] = ROOT_UNKNOWN;
	if (!err)
		err = pick_tasks(&t, error);
	if (!err)
		err = find_roots(&t);
	if (!err)
		err = find_ends(&t);
	if (!err)
		err = add_spans(&t);
	free(t.root);
	trc_index_free(&t.row);
	trc_array_free(&t.ends);
	return err;
}
