/* many.c - see many.h. */
#include "many.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "analyzer/findings/findings.h"
#include "analyzer/model/process.h"
#include "analyzer/text/json.h"
#include "analyzer/words/user_types.h"
#include "parts.h"
#include "analyzer/findings/print.h"

enum {
	ROWS = 40, /* that are told one by one */
	SUMMARY_ROWS = 6,
	SUMMARY_FINDINGS = 3,
	WHO_BYTES = 96,
};

struct row {
	char *path, *pid, *ended; /* owned; pid, ended "" = not known */
	char *command,
		*called;  /* owned: the title, or the program with its arguments; or without */
	char *worst;	  /* of its findings; NULL = nothing cost much */
	int64_t worst_ns; /* what that cost; INT64_MAX of an alarm */
	int64_t lasted_ns, cpu_ns; /* cpu_ns TRC_NEVER = not known */
	int64_t locks_ns, files_ns;
	int64_t cost_ns; /* all of these */
	uint64_t n_threads, n_events, lost_events;
	char *incomplete; /* owned: what is missing or odd; NULL = nothing */
	bool is_cut;	  /* its end is missing */
	/* What is waited for most, but by idle threads. */
	struct {
		char *what, *place; /* owned; "mutex settings+16"; NULL = there is no wait */
		uint8_t reason;
		uint64_t waits;
		int64_t ns;
	} wait;
	/* The type of tasks that took most time. */
	struct {
		char *type; /* owned; NULL = no task has ended */
		uint64_t n;
		int64_t p99_ns;
	} tasks;
	struct trc_hints hints;
};

struct found {
	struct trc_finding finding;
	size_t row; /* in which it is, as they were added */
};

struct trc_many {
	const struct trc_report_options *options;
	struct trc_array rows, found; /* struct row; struct found, most harmful first */
	uint64_t n_unread, n_incomplete, n_full, n_events, n_bytes, lost_events, n_threads;
};

struct trc_many *trc_many_open(const struct trc_report_options *options)
{
	struct trc_many *many = calloc(1, sizeof(*many));

	if (!many)
		return NULL;
	many->options = options;
	many->rows.row_bytes = sizeof(struct row);
	many->found.row_bytes = sizeof(struct found);
	return many;
}

void trc_many_close(struct trc_many *many)
{
	struct row *row = many ? many->rows.row : NULL;

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

static void row_measure(struct row *row, const struct trc_report *r)
{
	row->lasted_ns = r->end_ns - r->start_ns;
	row->cpu_ns = r->selection ? TRC_NEVER
				   : trc_report_ran_ns(r); /* under which labels is not known */
	row->n_threads = trc_report_count_threads(r);
	for (size_t i = 0; i < r->n_threads; i++) {
		trc_report_add(&row->locks_ns, r->class_ns[i][TRC_WAIT_LOCKS]);
		trc_report_add(&row->files_ns, r->class_ns[i][TRC_WAIT_FILES]);
	}
	row->cost_ns = row->locks_ns;
	trc_report_add(&row->cost_ns, row->files_ns);
	trc_report_add(&row->cost_ns, row->cpu_ns == TRC_NEVER ? 0 : row->cpu_ns);
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

static int row_largest_wait(struct row *row, struct trc_report *r)
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

static int row_tasks(struct row *row, const struct trc_report *r)
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
	struct found *found;
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
		found[at] = (struct found){*finding, many->rows.n};
	return 0;
}

static int keep_findings(struct trc_many *many, struct trc_report *r, struct row *row)
{
	struct trc_array findings;
	int err = trc_report_findings(r, &findings);
	const struct trc_finding *f = findings.row;

	for (size_t i = 0; i < findings.n && !err; i++) {
		if (f[i].severity == TRC_SEVERITY_NOTE)
			continue;
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

static void add_sums(struct trc_many *many, struct row *row, const struct trc_report *r)
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

static int row_fill(struct trc_many *many, struct row *row, struct trc_report *r)
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
	row_measure(row, r);
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
	struct row row = {0}, *added;
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

/* ---- the report ---- */

static int compare_rows(const void *a, const void *b)
{
	const struct row *x = *(const struct row *const *)a, *y = *(const struct row *const *)b;

	if (x->cost_ns != y->cost_ns)
		return x->cost_ns > y->cost_ns ? -1 : 1;
	if (x->lasted_ns != y->lasted_ns)
		return x->lasted_ns > y->lasted_ns ? -1 : 1;
	return x < y ? -1 : x > y;
}

/* What costs most first; the caller's to free. */
static const struct row **sorted(const struct trc_many *many)
{
	const struct row **order = calloc(many->rows.n + 1, sizeof(*order));

	for (size_t i = 0; order && i < many->rows.n; i++)
		order[i] = (const struct row *)many->rows.row + i;
	if (order && many->rows.n)
		qsort(order, many->rows.n, sizeof(*order), compare_rows);
	return order;
}

/* "exit 3" */
static bool has_status(const char *ended)
{
	size_t n = strlen("exit ");

	return !strncmp(ended, "exit ", n) && ended[n] >= '0' && ended[n] <= '9';
}

static bool has_failed(const struct row *row)
{
	return !strncmp(row->ended, "killed by", strlen("killed by")) ||
	       (has_status(row->ended) && strcmp(row->ended, "exit 0") != 0);
}

static bool must_be_told(const struct row *row)
{
	return has_failed(row) || row->incomplete || row->lost_events;
}

/* How many are told one by one: not what is next to nothing, unless it failed or is not all there. */
static size_t n_told(const struct row **row, size_t n, size_t max)
{
	size_t told = 0;

	for (size_t i = 0; i < n && i < max; i++)
		if (row[i]->cost_ns >= row[0]->cost_ns / 1000 || row[i]->worst_ns == INT64_MAX ||
		    must_be_told(row[i]))
			told = i + 1;
	return told;
}

static void print_head(const struct trc_many *many, struct trc_report *r)
{
	char number[TRC_NUMBER_BYTES];
	struct trc_line line;

	trc_line_begin(&line, r->width, r->colour);
	trc_line_style(&line, TRC_STYLE_BOLD);
	trc_line_add(&line, "%zu trace%s", many->rows.n, many->rows.n == 1 ? "" : "s");
	trc_line_style(&line, many->n_unread ? TRC_STYLE_ALARM : TRC_STYLE_PLAIN);
	if (many->n_unread)
		trc_line_add(&line, " of %" PRIu64 ", %" PRIu64 " cannot be read",
			     many->rows.n + many->n_unread, many->n_unread);
	trc_line_style(&line, TRC_STYLE_PLAIN);
	trc_line_add(&line, ": %s thread", trc_text_count(number, many->n_threads));
	trc_line_add(&line, "%s, %s event", many->n_threads == 1 ? "" : "s",
		     trc_text_count(number, many->n_events));
	trc_line_add(&line, "%s in %s, ", many->n_events == 1 ? "" : "s",
		     trc_text_bytes(number, many->n_bytes));
	if (!many->lost_events && !many->n_incomplete && !many->n_full)
		trc_line_add(&line, "none lost");
	trc_line_style(&line, TRC_STYLE_ALARM);
	if (many->lost_events)
		trc_line_add(&line, "%s lost%s", trc_text_count(number, many->lost_events),
			     many->n_incomplete || many->n_full ? ", " : "");
	if (many->n_incomplete)
		trc_line_add(&line, "of %" PRIu64 " the end is missing%s", many->n_incomplete,
			     many->n_full ? ", " : "");
	if (many->n_full)
		trc_line_add(&line, "in %" PRIu64 " the tables were full", many->n_full);
	trc_line_style(&line, TRC_STYLE_PLAIN);
	trc_report_line(r, &line);
	trc_report_selection_lines(r);
}

static void print_columns(struct trc_report *r)
{
	struct trc_line line;

	trc_line_begin(&line, r->width, r->colour);
	trc_line_style(&line, TRC_STYLE_DIM);
	trc_line_right(&line, 9, "pid");
	trc_line_right(&line, 10, "ended");
	trc_line_right(&line, 10, "lasted");
	trc_line_right(&line, 9, "threads");
	trc_line_right(&line, 10, "CPU time");
	trc_line_right(&line, 10, "for locks");
	trc_line_right(&line, 10, "for files");
	trc_line_add(&line, "  command");
	trc_line_style(&line, TRC_STYLE_PLAIN);
	trc_report_line(r, &line);
}

static void add_duration(struct trc_line *line, int64_t ns)
{
	char number[TRC_NUMBER_BYTES];

	trc_line_right(line, 10, ns && ns != TRC_NEVER ? trc_text_duration(number, ns) : "");
}

/* "SIGSEGV" of "killed by signal 11 (SIGSEGV)", "exit 3"; nothing if that is not known. */
static void add_ended(struct trc_line *line, const struct row *row)
{
	const char *name = strstr(row->ended, "(SIG");
	char text[11];

	if (name)
		snprintf(text, sizeof(text), "%.*s", (int)strcspn(name + 1, ")"), name + 1);
	else if (!strcmp(row->ended, "still running"))
		snprintf(text, sizeof(text), "running");
	else if (!strncmp(row->ended, "killed by signal", strlen("killed by signal")))
		snprintf(text, sizeof(text), "%s", row->ended + strlen("killed by "));
	else
		snprintf(text, sizeof(text), "%s", has_status(row->ended) ? row->ended : "");
	trc_line_style(line, has_failed(row) ? TRC_STYLE_ALARM : TRC_STYLE_PLAIN);
	trc_line_right(line, 10, text);
	trc_line_style(line, TRC_STYLE_PLAIN);
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* A file of another name than trace-record --follow gives it has to be told. */
static bool names_pid(const struct row *row)
{
	return *row->pid && strstr(base_name(row->path), row->pid);
}

/* A hundredth of the longest trace: what is less, in a process that lived briefly, is not told. */
static int64_t least_ns(const struct trc_many *many)
{
	const struct row *row = many->rows.row;
	int64_t longest_ns = 0;

	for (size_t i = 0; i < many->rows.n; i++)
		if (row[i].lasted_ns > longest_ns)
			longest_ns = row[i].lasted_ns;
	return longest_ns / 100;
}

static void next_detail(struct trc_line *line, bool *any)
{
	if (*any)
		trc_line_add(line, "; ");
	*any = true;
}

/* What the columns do not say.  Nothing, if there is nothing. */
static void print_details(struct trc_report *r, const struct row *row, int64_t from_ns)
{
	char number[TRC_NUMBER_BYTES];
	struct trc_line line;
	bool any = false;

	trc_line_begin(&line, r->width, r->colour);
	trc_line_to(&line, 12);
	if (row->lost_events) {
		next_detail(&line, &any);
		trc_line_style(&line, TRC_STYLE_ALARM);
		trc_line_add(&line, "%s event%s lost", trc_text_count(number, row->lost_events),
			     row->lost_events == 1 ? "" : "s");
		trc_line_style(&line, TRC_STYLE_PLAIN);
	}
	if (row->incomplete) {
		next_detail(&line, &any);
		trc_line_style(&line, TRC_STYLE_ALARM);
		if (row->is_cut)
			trc_line_add(&line, "the end is missing");
		else
			trc_line_data(&line, row->incomplete, r->width);
		trc_line_style(&line, TRC_STYLE_PLAIN);
	}
	if (row->tasks.type) {
		next_detail(&line, &any);
		trc_line_add(&line, "%s task%s ", trc_text_count(number, row->tasks.n),
			     row->tasks.n == 1 ? "" : "s");
		trc_line_data(&line, row->tasks.type, 24);
		trc_line_add(&line, ", p99 %s", trc_text_duration(number, row->tasks.p99_ns));
	}
	if (row->wait.what && row->wait.ns && row->wait.ns >= from_ns) {
		next_detail(&line, &any);
		trc_line_add(&line, "most waiting %s for ",
			     trc_text_duration(number, row->wait.ns));
		trc_line_data(&line, row->wait.what, r->width);
		trc_line_add(&line, " at ");
		trc_line_data(&line, row->wait.place, r->width);
	}
	if (any)
		trc_report_line(r, &line);
}

/* What it says of itself alone is worth its line: the same wait is not told twice. */
static bool worst_tells_wait(const struct row *row, int64_t from_ns)
{
	return row->worst && row->worst_ns >= from_ns && row->wait.what &&
	       strstr(row->worst, row->wait.what) && strstr(row->worst, row->wait.place);
}

static void print_row(struct trc_report *r, const struct row *row, int64_t worst_from_ns)
{
	char number[TRC_NUMBER_BYTES];
	struct trc_line line;

	trc_line_begin(&line, r->width, r->colour);
	trc_line_right(&line, 9, *row->pid ? row->pid : "?");
	add_ended(&line, row);
	add_duration(&line, row->lasted_ns);
	trc_line_right(&line, 9, trc_text_count(number, row->n_threads));
	add_duration(&line, row->cpu_ns);
	add_duration(&line, row->locks_ns);
	add_duration(&line, row->files_ns);
	trc_line_add(&line, "  ");
	trc_line_data(&line, *row->command ? row->command : base_name(row->path), r->width);
	if (*row->command && !names_pid(row)) {
		trc_line_add(&line, ", in ");
		trc_line_data(&line, base_name(row->path), 30);
	}
	trc_report_line(r, &line);
	if (worst_from_ns != INT64_MAX)
		print_details(r, row,
			      worst_tells_wait(row, worst_from_ns) ? INT64_MAX : worst_from_ns);
	if (!row->worst || row->worst_ns < worst_from_ns)
		return;
	trc_line_begin(&line, r->width, r->colour);
	trc_line_to(&line, 12);
	trc_line_data(&line, row->worst, r->width - 12);
	trc_report_line(r, &line);
}

static void print_rest(struct trc_report *r, const struct row **row, size_t n)
{
	struct row sums = {.cpu_ns = TRC_NEVER};
	char number[TRC_NUMBER_BYTES];
	struct trc_line line;
	size_t n_failed = 0;

	if (!n)
		return;
	for (size_t i = 0; i < n; i++) {
		n_failed += must_be_told(row[i]);
		sums.n_threads += row[i]->n_threads;
		trc_report_add(&sums.locks_ns, row[i]->locks_ns);
		trc_report_add(&sums.files_ns, row[i]->files_ns);
		if (row[i]->cpu_ns == TRC_NEVER)
			continue;
		sums.cpu_ns = sums.cpu_ns == TRC_NEVER ? 0 : sums.cpu_ns;
		trc_report_add(&sums.cpu_ns, row[i]->cpu_ns);
	}
	trc_line_begin(&line, r->width, r->colour);
	trc_line_right(&line, 38, trc_text_count(number, sums.n_threads));
	add_duration(&line, sums.cpu_ns);
	add_duration(&line, sums.locks_ns);
	add_duration(&line, sums.files_ns);
	trc_line_add(&line, "  in %zu more", n);
	if (n_failed) {
		trc_line_style(&line, TRC_STYLE_ALARM);
		trc_line_add(&line, ", of which %zu failed or lack something", n_failed);
		trc_line_style(&line, TRC_STYLE_PLAIN);
	}
	trc_report_line(r, &line);
}

/* "python3 (4711)" */
static void name_process(const struct row *row, char *who, size_t n_bytes)
{
	if (*row->called && *row->pid)
		snprintf(who, n_bytes, "%.40s (%s)", row->called, row->pid);
	else
		snprintf(who, n_bytes, "%s", base_name(row->path));
}

static int print_findings(const struct trc_many *many, struct trc_report *r, bool summary)
{
	const struct found *found = many->found.row;
	int err = 0;

	for (size_t i = 0; i < many->found.n && (!summary || i < SUMMARY_FINDINGS); i++) {
		char who[WHO_BYTES];

		if (!i && !summary) {
			trc_report_heading(r, "Findings", NULL);
			err = trc_finding_print_narrowed(r);
		}
		name_process((const struct row *)many->rows.row + found[i].row, who, sizeof(who));
		if (summary)
			trc_finding_print_line(r, &found[i].finding, who);
		else
			trc_finding_print(r, &found[i].finding, who);
	}
	return err;
}

/* ---- what to record next time ---- */

static double share_ran(const struct row *row)
{
	return row && row->hints.ran_ns ? (double)row->hints.ran_ns / (double)row->hints.lasted_ns
					: 0;
}

static void hint_begin(struct trc_line *line, const struct trc_report *r, const struct row *row)
{
	char who[WHO_BYTES];

	trc_line_begin(line, r->width, r->colour);
	trc_line_style(line, TRC_STYLE_DIM);
	trc_line_add(line, "next: ");
	if (!row)
		return;
	name_process(row, who, sizeof(who));
	trc_line_data(line, who, WHO_BYTES);
	trc_line_add(line, ": ");
}

static void hint_end(struct trc_line *line, struct trc_report *r)
{
	trc_line_style(line, TRC_STYLE_PLAIN);
	trc_report_line(r, line);
}

static void add_others(struct trc_line *line, uint64_t n)
{
	char number[TRC_NUMBER_BYTES];

	if (n > 1)
		trc_line_add(line, ", and so %s more", trc_text_count(number, n - 1));
}

/* The one that ran for most of its time, and how many others. */
static void print_samples_hint(const struct trc_many *many, struct trc_report *r)
{
	const struct row *row = many->rows.row, *most = NULL;
	struct trc_line line;
	uint64_t n = 0;

	for (size_t i = 0; i < many->rows.n; i++) {
		n += row[i].hints.ran_ns > 0;
		if (share_ran(&row[i]) > share_ran(most))
			most = &row[i];
	}
	if (!most)
		return;
	hint_begin(&line, r, most);
	trc_report_hint_samples(&line, &most->hints);
	add_others(&line, n);
	trc_line_add(&line, "; trace-record -F 1000 samples where");
	hint_end(&line, r);
}

/* Rings of the size that the worst of them needs. */
static void print_ring_hint(const struct trc_many *many, struct trc_report *r)
{
	const struct row *row = many->rows.row, *most = NULL;
	struct trc_line line;
	uint64_t n = 0;

	for (size_t i = 0; i < many->rows.n; i++) {
		if (!row[i].hints.ring_was_full)
			continue;
		n++;
		if (!most || row[i].hints.ring.enough_bytes > most->hints.ring.enough_bytes)
			most = &row[i];
	}
	if (!most)
		return;
	hint_begin(&line, r, most);
	trc_line_add(&line, "events were lost");
	add_others(&line, n);
	trc_line_add(&line, "; ");
	trc_report_ring_words(&line, &most->hints.ring);
	hint_end(&line, r);
}

static void print_forks_hint(const struct trc_many *many, struct trc_report *r)
{
	const struct row *row = many->rows.row;
	char number[TRC_NUMBER_BYTES];
	struct trc_line line;
	uint64_t n = 0;

	for (size_t i = 0; i < many->rows.n; i++)
		if (__builtin_add_overflow(n, row[i].hints.n_forks, &n))
			n = UINT64_MAX;
	if (!n)
		return;
	hint_begin(&line, r, NULL);
	trc_line_add(&line,
		     "%s process%s forked by programs that were recorded one by one; "
		     "trace-record --follow records descendants",
		     trc_text_count(number, n), n == 1 ? " was" : "es were");
	hint_end(&line, r);
}

static void print_next(struct trc_report *r, const struct row *row)
{
	struct trc_line line;

	trc_line_begin(&line, r->width, r->colour);
	trc_line_style(&line, TRC_STYLE_DIM);
	trc_line_add(&line, "one of them: trace-analyze");
	trc_selection_options(&line, r->selection);
	trc_line_add(&line, " ");
	trc_line_data(&line, row->path, 70);
	trc_line_style(&line, TRC_STYLE_PLAIN);
	trc_report_line(r, &line);
}

/* ---- as JSON ---- */

static void json_text(FILE *out, const char *name, const char *text)
{
	fprintf(out, ",\"%s\":", name);
	if (text && *text)
		trc_json_text(out, text);
	else
		fputs("null", out);
}

static void json_number(FILE *out, const char *name, int64_t number)
{
	if (number == TRC_NEVER)
		fprintf(out, ",\"%s\":null", name);
	else
		fprintf(out, ",\"%s\":%" PRId64, name, number);
}

/* A lock's waits may have several reasons, which are of one kind. */
static const char *wait_kind(unsigned int reason)
{
	uint8_t kind = trc_wait_kind(reason);

	return kind ? trc_wait_kind_name(kind) : trc_reason_name(reason);
}

static void json_row(FILE *out, const struct row *row)
{
	fputs("{\"path\":", out);
	trc_json_text(out, row->path);
	json_text(out, "pid", row->pid);
	json_text(out, "command", row->command);
	json_text(out, "ended", row->ended);
	json_number(out, "lasted_ns", row->lasted_ns);
	json_number(out, "threads", (int64_t)row->n_threads);
	json_number(out, "cpu_ns", row->cpu_ns);
	json_number(out, "locks_ns", row->locks_ns);
	json_number(out, "files_ns", row->files_ns);
	json_number(out, "events", (int64_t)row->n_events);
	json_number(out, "lost_events", (int64_t)row->lost_events);
	json_text(out, "incomplete", row->incomplete);
	json_text(out, "wait_kind", row->wait.what ? wait_kind(row->wait.reason) : NULL);
	json_text(out, "wait_for", row->wait.what);
	json_text(out, "wait_place", row->wait.place);
	json_number(out, "waits", row->wait.what ? (int64_t)row->wait.waits : TRC_NEVER);
	json_number(out, "waited_ns", row->wait.what ? row->wait.ns : TRC_NEVER);
	json_text(out, "task_type", row->tasks.type);
	json_number(out, "tasks", row->tasks.type ? (int64_t)row->tasks.n : TRC_NEVER);
	json_number(out, "task_p99_ns", row->tasks.type ? row->tasks.p99_ns : TRC_NEVER);
	json_text(out, "worst", row->worst);
	putc('}', out);
}

static void json_finding(FILE *out, const struct row *row, const struct trc_finding *finding)
{
	fputs("{\"path\":", out);
	trc_json_text(out, row->path);
	json_text(out, "kind", trc_finding_kind_name(finding->kind));
	json_text(out, "severity", trc_severity_name(finding->severity));
	json_number(out, "cost_ns", finding->cost_ns);
	json_text(out, "sentence", finding->sentence);
	json_text(out, "why", finding->why);
	json_text(out, "remedy", trc_finding_remedy(finding));
	putc('}', out);
}

int trc_many_print_json(struct trc_many *many, FILE *out)
{
	const struct row **order = sorted(many);
	const struct found *found = many->found.row;

	if (!order)
		return -ENOMEM;
	fprintf(out, "{\"unread\":%" PRIu64 ",\n\"traces\":\n[", many->n_unread);
	for (size_t i = 0; i < many->rows.n; i++) {
		fputs(i ? ",\n" : "", out);
		json_row(out, order[i]);
	}
	fputs("]\n,\"findings\":\n[", out);
	for (size_t i = 0; i < many->found.n; i++) {
		fputs(i ? ",\n" : "", out);
		json_finding(out, (const struct row *)many->rows.row + found[i].row,
			     &found[i].finding);
	}
	fputs("]\n}\n", out);
	free(order);
	return 0;
}

int trc_many_print(struct trc_many *many, FILE *out, bool summary)
{
	struct trc_report r = {.out = out,
			       .width = many->options->width ? many->options->width : 100,
			       .colour = many->options->colour,
			       .selection = many->options->selection};
	size_t n;
	const struct row **order = sorted(many);
	int err;

	if (!order)
		return -ENOMEM;
	if (!many->rows.n) { /* each was said to be unreadable */
		free(order);
		return 0;
	}
	n = n_told(order, many->rows.n, summary ? SUMMARY_ROWS : ROWS);
	print_head(many, &r);
	print_columns(&r);
	for (size_t i = 0; i < n; i++)
		print_row(&r, order[i], summary ? INT64_MAX : least_ns(many));
	print_rest(&r, order + n, many->rows.n - n);
	err = print_findings(many, &r, summary);
	if (!summary)
		putc('\n', out);
	print_ring_hint(many, &r);
	if (!summary) {
		print_samples_hint(many, &r);
		print_forks_hint(many, &r);
	}
	print_next(&r, order[0]);
	free(order);
	return err;
}
