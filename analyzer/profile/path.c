/* path.c - the path profile: the critical paths of tasks, summed; see profile.h. */
#include <errno.h>
#include <stdio.h>
#include "analyzer/causes/causes.h"
#include "parts.h"

void trc_profile_count_sampled(struct trc_profile_told *told, int64_t ns, uint8_t stack_of)
{
	told->all_ns += (double)ns;
	told->sampled_ns += stack_of == TRC_CAUSE_STACK_SAMPLE ? (double)ns : 0;
}

void trc_profile_comment_sampled(struct trc_profile *p, const struct trc_profile_told *told,
				 const char *table)
{
	if (told->sampled_ns > 0)
		trc_profile_comment(
			p,
			"%.1f %% of it are divided among places by samples: estimates; the "
			"table %s has their margin_ns",
			100 * told->sampled_ns / told->all_ns, table);
}

/* profile:L12 */
static bool task_is_wanted(const struct trc_profile_sums *sums, const struct trc_task *task,
			   size_t row)
{
	const struct trc_selection *s = sums->selection;

	if (s && s->n_tasks && s->task_in && s->task_in[row] != TRC_TASK_APART)
		return false;
	if (!(s && s->n_tasks) && task->parent)
		return false;
	return trc_selection_has_task(s, sums->m, row);
}

static int profile_add_leaf(struct trc_profile_sums *sums, const struct trc_cause *leaf,
			    uint32_t labels, struct trc_profile_told *told)
{
	struct trc_profile_sample sample = {
		.stack = leaf->stack,
		.labels = labels,
		.off = leaf->reason,
		.cause = leaf->kind,
	};

	/* A damaged clock makes times that are farther apart than can be told. */
	if (__builtin_sub_overflow(leaf->to_ns, leaf->from_ns, &sample.value[0]))
		sample.value[0] = INT64_MAX;
	trc_profile_count_sampled(told, sample.value[0], leaf->stack_of);
	return trc_profile_add(sums, &sample);
}

static int path_add_task(struct trc_profile_sums *sums, struct trc_causes *causes,
			 const struct trc_task *task, struct trc_profile_told *told)
{
	uint32_t labels = 0;
	const struct trc_cause *row;
	size_t n;
	int err = trc_causes_of_task(causes, task, &row, &n);

	if (task->start_ns != TRC_NEVER)
		labels = trc_model_labels_at(sums->m, task->start_thread, task->start_ns,
					     task->start_place);
	for (size_t i = 0; i < n && !err; i++)
		if (row[i].leaf)
			err = profile_add_leaf(sums, &row[i], labels, told);
	return err;
}

int trc_profile_path(struct trc_profile_sums *sums, struct trc_profile *p, struct trc_error *error)
{
	struct trc_profile_told told = {0};
	struct trc_causes *causes;
	size_t n, n_told = 0;
	const struct trc_task *task = trc_model_tasks(sums->m, &n);
	int err;

	if (!n) {
		snprintf(error->text, sizeof(error->text),
			 "path: the trace has no tasks: the program marks them by "
			 "trace_task_begin()");
		return -ENOENT;
	}
	err = trc_causes_open(&causes, sums->m);
	if (err)
		return err;
	p->type[0] = (struct trc_profile_type){"path", "nanoseconds"};
	p->n_types = 1;
	p->period_type = p->type[0];
	p->period = 1;
	p->of_program = true;
	for (size_t i = 0; i < n && !err; i++) {
		if (!task_is_wanted(sums, &task[i], i))
			continue;
		n_told++;
		err = path_add_task(sums, causes, &task[i], &told);
	}
	trc_causes_close(causes);
	trc_profile_comment(p, "the critical paths of %zu task%s, summed", n_told,
			    n_told == 1 ? "" : "s");
	trc_profile_comment_sampled(p, &told, "task_path");
	return err;
}
