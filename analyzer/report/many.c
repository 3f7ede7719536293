/* many.c - see many.h: a row of each trace. */
#include "many.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "analyzer/findings/print.h"
#include "analyzer/model/process.h"
#include "analyzer/words/user_types.h"
#include "many_rows.h"

struct trc_many *trc_many_open(const struct trc_report_options *options)
{
	struct trc_many *many = calloc(1, sizeof(*many));

	if (!many)
		return NULL;
	many->options = options;
	many->rows.row_bytes = sizeof(struct trc_many_row);
	many->found.row_bytes = sizeof(struct trc_many_found);
	return many;
}

void trc_many_close(struct trc_many *many)
{
	struct trc_many_row *row = many ? many->rows.row : NULL;

	if (!many)
		return;
	for (size_t i = 0; i < many->rows.n; i++) {
		free(row[i].path);
		free(row[i].pid);
		free(row[i].ended);
		free(row[i].incomplete);
		free(row[i].command);
		free(row[i].called);
		free(row[i].worst);
		free(row[i].wait.what);
		free(row[i].wait.place);
		free(row[i].tasks.type);
	}
	trc_array_free(&many->rows);
	trc_array_free(&many->found);
	free(many);
}

void trc_many_add_unread(struct trc_many *many)
{
	many->n_unread++;
}

/* ---- a trace ---- */

static int64_t class_waited_ns(const struct trc_report *r, enum trc_wait_class class)
{
	int64_t sum_ns = 0;

	for (size_t i = 0; i < r->n_threads; i++)
		trc_report_add(&sum_ns, r->class_ns[i][class]);
	return sum_ns;
}

/* Known where CPU time is: from switch records. */
static int to_run_measure(struct trc_many_row *row, const struct trc_report *r)
{
	int64_t *sum_ns = &row->time_ns[TRC_MANY_TO_RUN], ns;
	const struct trc_latency *latency;
	struct trc_error error;
	size_t n;
	int err = trc_model_need(r->m, TRC_PART_LATENCIES, &error);

	if (err)
		return err;
	*sum_ns = trc_report_ran_ns(r) == TRC_NEVER ? TRC_NEVER : 0;
	latency = trc_model_latencies(r->m, &n);
	for (size_t i = 0; i < n && *sum_ns != TRC_NEVER; i++)
		if (trc_report_latency(r, &latency[i], &ns))
			trc_report_add(sum_ns, ns);
	return 0;
}

static int row_measure(struct trc_many_row *row, const struct trc_report *r)
{
	static const enum trc_many_time COSTS[] = {TRC_MANY_CPU, TRC_MANY_TO_RUN, TRC_MANY_LOCKS,
						   TRC_MANY_FILES};
	int64_t *time_ns = row->time_ns;
	int err = to_run_measure(row, r);

	row->lasted_ns = r->end_ns - r->start_ns;
	row->n_threads = trc_report_count_threads(r, TRC_THREAD_COUNTS);
	/* Under which labels threads ran is not known. */
	time_ns[TRC_MANY_CPU] = r->selection ? TRC_NEVER : trc_report_ran_ns(r);
	time_ns[TRC_MANY_LOCKS] = class_waited_ns(r, TRC_WAIT_LOCKS);
	time_ns[TRC_MANY_OTHERS] = class_waited_ns(r, TRC_WAIT_THREADS);
	time_ns[TRC_MANY_FILES] = class_waited_ns(r, TRC_WAIT_FILES);
	time_ns[TRC_MANY_OUTSIDE] = class_waited_ns(r, TRC_WAIT_OUTSIDE);
	for (size_t i = 0; i < sizeof(COSTS) / sizeof(*COSTS); i++)
		if (time_ns[COSTS[i]] != TRC_NEVER)
			trc_report_add(&row->cost_ns, time_ns[COSTS[i]]);
	return err;
}

/* Where the largest is; NULL = threads that do not idle wait for nothing.  What comes from outside counts where there
 * is nothing else. */
static const struct trc_group_details *largest_group(const struct trc_groups *g)
{
	static const enum trc_wait_class ORDER[] = {TRC_WAIT_LOCKS, TRC_WAIT_THREADS,
						    TRC_WAIT_FILES};
	const struct trc_group_details *largest = NULL;

	for (size_t i = 0; i < sizeof(ORDER) / sizeof(*ORDER); i++) {
		const struct trc_group_details *d =
			g->n_of[ORDER[i]] ? trc_groups_details(g, ORDER[i]) : NULL;

		if (d && (!largest || d->group->total_ns > largest->group->total_ns))
			largest = d;
	}
	if (!largest && g->n_of[TRC_WAIT_OUTSIDE])
		largest = trc_groups_details(g, TRC_WAIT_OUTSIDE);
	return largest;
}

static int row_largest_wait(struct trc_many_row *row, struct trc_report *r)
{
	const struct trc_group_details *d;
	struct trc_groups g;
	struct trc_line line;
	int err = trc_groups_of_objects(&g, r, 1);

	d = err ? NULL : largest_group(&g);
	if (d) {
		row->wait.reason = d->group->reason; /* one of several, of one kind */
		row->wait.waits = d->group->waits;
		row->wait.ns = d->group->total_ns - d->group->no_proc_ns; /* timeline:P1 */
		trc_line_begin(&line, TRC_WIDTH_MAX, false);
		trc_report_what(r, &line, d);
		row->wait.what = strdup(trc_line_text(&line));
		trc_line_begin(&line, TRC_WIDTH_MAX, false);
		trc_report_place(r, &line, d->n_places ? d->place->group->stack : d->group->stack);
		row->wait.place = strdup(trc_line_text(&line));
		err = row->wait.what && row->wait.place ? 0 : -ENOMEM;
	}
	trc_groups_free(&g);
	return err;
}

static int row_tasks(struct trc_many_row *row, const struct trc_report *r)
{
	struct trc_user_types types = {0};
	const struct trc_user_type *type;
	size_t n;
	int err;

	trc_model_tasks(r->m, &n);
	err = trc_user_types_of_spans(&types, r, trc_user_task_span, n);
	type = types.types.row;
	for (size_t i = 0; i < types.types.n && !err && !row->tasks.type; i++) {
		if (!type[i].n_ended)
			continue;
		row->tasks.type = strdup(type[i].name);
		row->tasks.n = type[i].n_ended;
		row->tasks.p99_ns = trc_user_percentile(&types, &type[i], 99);
		err = row->tasks.type ? 0 : -ENOMEM;
	}
	trc_user_types_free(&types);
	return err;
}

/* Alarms first, then what cost most; notes are of one trace only. */
static bool is_worse(const struct trc_finding *a, const struct trc_finding *b)
{
	if (a->severity != b->severity)
		return a->severity < b->severity;
	return a->cost_ns > b->cost_ns;
}

/* N1: what has no place among the first is dropped. */
static int keep_finding(struct trc_many *many, const struct trc_finding *finding)
{
	struct trc_many_found *found;
	size_t at = many->found.n;

	if (at < TRC_FINDINGS_MAX && !trc_array_add(&many->found))
		return -ENOMEM;
	found = many->found.row;
	while (at && is_worse(finding, &found[at - 1].finding)) {
		if (at < many->found.n)
			found[at] = found[at - 1];
		at--;
	}
	if (at < many->found.n)
		found[at] = (struct trc_many_found){*finding, many->rows.n};
	return 0;
}

static int keep_findings(struct trc_many *many, struct trc_report *r, struct trc_many_row *row)
{
	struct trc_array findings;
	int err = trc_report_findings(r, &findings);
	const struct trc_finding *f = findings.row;

	for (size_t i = 0; i < findings.n && !err; i++) {
		if (f[i].severity == TRC_SEVERITY_NOTE)
			continue;
		row->n_findings++;
		err = keep_finding(many, &f[i]);
		if (!err && !row->worst) {
			row->worst = strdup(f[i].sentence);
			row->worst_ns =
				f[i].severity == TRC_SEVERITY_ALARM ? INT64_MAX : f[i].cost_ns;
			err = row->worst ? 0 : -ENOMEM;
		}
	}
	trc_array_free(&findings);
	return err;
}

static void add_sums(struct trc_many *many, struct trc_many_row *row, const struct trc_report *r)
{
	const struct trc_file_info *file = trc_reader_info(r->reader);

	row->n_events = file->n_events;
	row->lost_events = trc_model_lost_events(r->m);
	many->n_events += row->n_events;
	many->n_bytes += file->file_bytes;
	many->lost_events += row->lost_events;
	row->is_cut = !file->complete;
	many->n_incomplete += row->is_cut;
	many->n_full += file->table_full != 0;
	many->n_threads += row->n_threads;
}

static int row_fill(struct trc_many *many, struct trc_many_row *row, struct trc_report *r)
{
	const char *pid = trc_report_info(r, "pid"), *ended = trc_report_info(r, "ended");
	char program[TRC_PROGRAM_NAME_BYTES];
	int err;

	row->path = strdup(r->path);
	row->pid = strdup(pid ? pid : "");
	row->ended = strdup(ended ? ended : "");
	row->command = trc_process_name(r->reader);
	row->called = strdup(trc_process_title(r->reader) ? trc_process_title(r->reader)
							  : trc_program_name(program, r->reader));
	if (!row->path || !row->pid || !row->ended || !row->command || !row->called)
		return -ENOMEM;
	err = row_measure(row, r);
	if (err)
		return err;
	trc_report_hints_of(r, &row->hints);
	add_sums(many, row, r);
	if (trc_reader_warning(r->reader)) {
		row->incomplete = strdup(trc_reader_warning(r->reader));
		if (!row->incomplete)
			return -ENOMEM;
	}
	err = row_largest_wait(row, r);
	if (!err)
		err = row_tasks(row, r);
	return err ? err : keep_findings(many, r, row);
}

int trc_many_add(struct trc_many *many, struct trc_model *m, const char *path,
		 struct trc_error *error)
{
	struct trc_report_options options = *many->options;
	struct trc_report r;
	struct trc_many_row row = {0}, *added;
	int err;

	options.path = path;
	err = trc_report_begin(&r, m, NULL, &options, error);
	if (!err) {
		err = row_fill(many, &row, &r);
		/* Even if it is not whole: it owns what it has. */
		added = trc_array_add(&many->rows);
		if (added)
			*added = row;
		err = err || added ? err : -ENOMEM;
		if (err)
			snprintf(error->text, sizeof(error->text), "report: %s", strerror(-err));
	}
	trc_report_end(&r);
	return err;
}

static int compare_many_rows(const void *a, const void *b)
{
	const struct trc_many_row *x = *(const struct trc_many_row *const *)a,
				  *y = *(const struct trc_many_row *const *)b;

	if (x->cost_ns != y->cost_ns)
		return x->cost_ns > y->cost_ns ? -1 : 1;
	if (x->lasted_ns != y->lasted_ns)
		return x->lasted_ns > y->lasted_ns ? -1 : 1;
	return x < y ? -1 : x > y;
}

const struct trc_many_row **trc_many_sorted(const struct trc_many *many)
{
	const struct trc_many_row **order = calloc(many->rows.n + 1, sizeof(*order));

	for (size_t i = 0; order && i < many->rows.n; i++)
		order[i] = (const struct trc_many_row *)many->rows.row + i;
	if (order && many->rows.n)
		qsort(order, many->rows.n, sizeof(*order), compare_many_rows);
	return order;
}
