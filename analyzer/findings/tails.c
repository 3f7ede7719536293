/* tails.c - types of tasks of which a few take far longer than the others. */
#include <string.h>
#include "parts.h"
#include "analyzer/words/user_types.h"
#include "analyzer/why/tasks.h"

enum { TASKS_LEAST = 100, TIMES_MEDIAN = 20 };

/* The time beyond the median, of those above the 99th percentile. */
static int64_t tail_ns(const struct trc_user_types *t, const struct trc_user_type *type)
{
	int64_t median_ns = trc_user_percentile(t, type, 50), sum_ns = 0;
	size_t n_slow = type->n_ended / 100;

	for (size_t i = type->n_ended - n_slow; i < type->n_ended; i++)
		trc_report_add(&sum_ns, t->duration_ns[type->first + i] - median_ns);
	return sum_ns;
}

static int tail_set_why(struct trc_report *r, struct trc_finding *f, const char *type)
{
	struct trc_why_tasks tasks = {.type = type, .slowest = 1, .most = TRC_SLOWEST_MAX};
	struct trc_causes *causes;
	struct trc_why_tree tree;
	struct trc_line line;
	int err = trc_report_causes(r, &causes);

	if (err)
		return err;
	err = trc_why_tree_begin(&tree, r);
	if (!err)
		err = trc_why_add_chain(&tree, causes, &tasks);
	if (!err)
		err = trc_why_tree_margins(&tree);
	trc_finding_line(&line);
	trc_line_add(&line, "the slowest 1%%: ");
	if (!err && trc_finding_chain(r, &line, &tree, 1))
		trc_finding_set_why(f, &line);
	trc_why_tree_free(&tree);
	return err;
}

/* The slowest one, where to look. */
static void find_slowest(const struct trc_report *r, struct trc_finding *f, const char *type)
{
	size_t n;
	const struct trc_task *task = trc_model_tasks(r->m, &n);
	int64_t longest_ns = -1;

	for (size_t i = 0; i < n; i++) {
		if (task[i].start_ns == TRC_NEVER || task[i].end_ns == TRC_NEVER ||
		    task[i].end_ns - task[i].start_ns <= longest_ns ||
		    strcmp(task[i].type, type) != 0)
			continue;
		if (!trc_selection_has_task(r->selection, r->m, i))
			continue;
		longest_ns = task[i].end_ns - task[i].start_ns;
		f->start_ns = task[i].start_ns;
		f->end_ns = task[i].end_ns;
		f->thread = task[i].end_thread;
	}
}

static void tail_set_sql(struct trc_finding *f, const char *type)
{
	trc_finding_sql_add(f, "SELECT * FROM tasks WHERE type = '");
	for (; *type && f->sql[0]; type++)
		trc_finding_sql_add(f, *type == '\'' ? "''" : "%c", *type);
	if (f->sql[0])
		trc_finding_sql_add(f, "' ORDER BY duration_ns DESC");
}

static int tail_tell(struct trc_report *r, struct trc_array *out, const struct trc_user_types *t,
		     const struct trc_user_type *type)
{
	int64_t median_ns = trc_user_percentile(t, type, 50),
		slow_ns = trc_user_percentile(t, type, 99);
	struct trc_finding f = {
		.kind = TRC_FINDING_TASK_TAIL,
		.severity = TRC_SEVERITY_COST,
		.cost_ns = tail_ns(t, type),
	};
	char slow[TRC_NUMBER_BYTES], median[TRC_NUMBER_BYTES], times[TRC_NUMBER_BYTES];
	struct trc_line line;
	int err;

	if (slow_ns / TIMES_MEDIAN < median_ns || f.cost_ns < r->length_ns / 100)
		return 0; /* G3 */
	err = tail_set_why(r, &f, type->name);
	if (err)
		return err;
	find_slowest(r, &f, type->name);
	tail_set_sql(&f, type->name);
	trc_finding_line(&line);
	trc_line_add(&line, "1%% of the tasks ");
	trc_line_data(&line, *type->name ? type->name : "(no type)", r->width / 2);
	trc_line_add(&line, " took %s or more", trc_text_duration(slow, slow_ns));
	if (median_ns > 0)
		trc_line_add(&line, ", %s times the median, %s",
			     trc_text_count(times, (uint64_t)(slow_ns / median_ns)),
			     trc_text_duration(median, median_ns));
	return trc_finding_add(out, &f, &line);
}

int trc_find_tails(struct trc_report *r, struct trc_array *out)
{
	struct trc_user_types t;
	const struct trc_user_type *type;
	size_t n;
	int err;

	trc_model_tasks(r->m, &n);
	err = trc_user_types_of_spans(&t, r, trc_user_task_span, n);
	type = t.types.row;
	for (size_t i = 0; i < t.types.n && !err; i++)
		if (type[i].n_ended >= TASKS_LEAST)
			err = tail_tell(r, out, &t, &type[i]);
	trc_user_types_free(&t);
	return err;
}
