/* many_print.c - see many.h: the index and the findings as text. */
#include "many.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "analyzer/findings/print.h"
#include "many_rows.h"
#include "format/path.h"

enum {
	ROWS = 40, /* that are told one by one */
	SUMMARY_ROWS = 6,
	SUMMARY_FINDINGS = 3,
	WHO_BYTES = 96,
	TIMES_AT = 38, /* where the first of the columns of times begins */
	TIME_COLUMNS = 10,
	COMMAND_LEAST = 10,
};

/* "exit 3" */
static bool has_status(const char *ended)
{
	size_t n = strlen("exit ");

	return !strncmp(ended, "exit ", n) && ended[n] >= '0' && ended[n] <= '9';
}

static bool has_failed(const struct trc_many_row *row)
{
	return !strncmp(row->ended, "killed by", strlen("killed by")) ||
	       (has_status(row->ended) && strcmp(row->ended, "exit 0") != 0);
}

static bool must_be_told(const struct trc_many_row *row)
{
	return has_failed(row) || row->incomplete || row->lost_events;
}

/* How many are told one by one: not what is next to nothing, unless it failed or is not all there. */
static size_t n_told(const struct trc_many_row **row, size_t n, size_t max)
{
	size_t told = 0;

	for (size_t i = 0; i < n && i < max; i++)
		if (row[i]->cost_ns >= row[0]->cost_ns / 1000 || row[i]->worst_ns == INT64_MAX ||
		    must_be_told(row[i]))
			told = i + 1;
	return told;
}

static void print_many_head(const struct trc_many *many, struct trc_report *r)
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

/* ---- columns ---- */

static const char *const TIME_NAME[TRC_MANY_TIMES] = {
	[TRC_MANY_CPU] = "CPU time",	[TRC_MANY_TO_RUN] = "to run",
	[TRC_MANY_LOCKS] = "for locks", [TRC_MANY_OTHERS] = "others",
	[TRC_MANY_FILES] = "for files", [TRC_MANY_OUTSIDE] = "outside",
};

/* Which times have a column. */
struct columns {
	bool has[TRC_MANY_TIMES];
};

static void sum_times(int64_t sum_ns[TRC_MANY_TIMES], const struct trc_many_row *row)
{
	for (unsigned int i = 0; i < TRC_MANY_TIMES; i++)
		if (row->time_ns[i] != TRC_NEVER)
			trc_report_add(&sum_ns[i], row->time_ns[i]);
}

/* What is left out where there is no room: what may be idle, else the least.  Never CPU time. */
static unsigned int least_column(const struct columns *columns,
				 const int64_t sum_ns[TRC_MANY_TIMES])
{
	unsigned int least = TRC_MANY_TIMES;

	if (columns->has[TRC_MANY_OUTSIDE])
		return TRC_MANY_OUTSIDE;
	if (columns->has[TRC_MANY_OTHERS])
		return TRC_MANY_OTHERS;
	for (unsigned int i = TRC_MANY_CPU + 1; i < TRC_MANY_TIMES; i++)
		if (columns->has[i] && (least == TRC_MANY_TIMES || sum_ns[i] < sum_ns[least]))
			least = i;
	return least;
}

/* Those of which a trace has any, as many as leave the commands some room. */
static struct columns columns_of(const struct trc_many *many, int width)
{
	const struct trc_many_row *row = many->rows.row;
	int64_t sum_ns[TRC_MANY_TIMES] = {0};
	struct columns columns = {{false}};
	int n = 0;

	for (size_t i = 0; i < many->rows.n; i++)
		sum_times(sum_ns, &row[i]);
	for (unsigned int i = 0; i < TRC_MANY_TIMES; i++)
		n += columns.has[i] = sum_ns[i] > 0;
	for (; n > 1 && TIMES_AT + TIME_COLUMNS * n + COMMAND_LEAST > width; n--) {
		unsigned int least = least_column(&columns, sum_ns);

		if (least == TRC_MANY_TIMES)
			break;
		columns.has[least] = false;
	}
	return columns;
}

static void many_print_columns(struct trc_report *r, const struct columns *columns)
{
	struct trc_line line;

	trc_line_begin(&line, r->width, r->colour);
	trc_line_style(&line, TRC_STYLE_DIM);
	trc_line_right(&line, 9, "pid");
	trc_line_right(&line, 10, "ended");
	trc_line_right(&line, 10, "lasted");
	trc_line_right(&line, 9, "threads");
	for (unsigned int i = 0; i < TRC_MANY_TIMES; i++)
		if (columns->has[i])
			trc_line_right(&line, TIME_COLUMNS, TIME_NAME[i]);
	trc_line_add(&line, "  command");
	trc_line_style(&line, TRC_STYLE_PLAIN);
	trc_report_line(r, &line);
}

static void line_add_duration(struct trc_line *line, int64_t ns)
{
	char number[TRC_NUMBER_BYTES];

	trc_line_right(line, TIME_COLUMNS,
		       ns && ns != TRC_NEVER ? trc_text_duration(number, ns) : "");
}

static void many_add_times(struct trc_line *line, const struct columns *columns,
			   const int64_t time_ns[TRC_MANY_TIMES])
{
	for (unsigned int i = 0; i < TRC_MANY_TIMES; i++)
		if (columns->has[i])
			line_add_duration(line, time_ns[i]);
}

/* "SIGSEGV" of "killed by signal 11 (SIGSEGV)", "exit 3"; nothing if that is not known. */
static void add_ended(struct trc_line *line, const struct trc_many_row *row)
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

/* A file of another name than trace-record --follow gives it has to be told. */
static bool names_pid(const struct trc_many_row *row)
{
	return *row->pid && strstr(trc_path_name(row->path), row->pid);
}

/* A hundredth of the longest trace: what is less, in a process that lived briefly, is not told. */
static int64_t least_ns(const struct trc_many *many)
{
	const struct trc_many_row *row = many->rows.row;
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
static void print_details(struct trc_report *r, const struct trc_many_row *row, int64_t from_ns)
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
static bool worst_tells_wait(const struct trc_many_row *row, int64_t from_ns)
{
	return row->worst && row->worst_ns >= from_ns && row->wait.what &&
	       strstr(row->worst, row->wait.what) && strstr(row->worst, row->wait.place);
}

static void print_worst(struct trc_report *r, const struct trc_many_row *row)
{
	char number[TRC_NUMBER_BYTES], others[TRC_NUMBER_BYTES + 32] = "";
	struct trc_line line;

	if (row->n_findings > 1)
		snprintf(others, sizeof(others), "; %s other finding%s",
			 trc_text_count(number, row->n_findings - 1),
			 row->n_findings == 2 ? "" : "s");
	trc_line_begin(&line, r->width, r->colour);
	trc_line_to(&line, 12);
	trc_line_data(&line, row->worst, r->width - 12 - (int)strlen(others));
	trc_line_add(&line, "%s", others);
	trc_report_line(r, &line);
}

static void many_print_row(struct trc_report *r, const struct columns *columns,
			   const struct trc_many_row *row, int64_t worst_from_ns)
{
	char number[TRC_NUMBER_BYTES];
	struct trc_line line;

	trc_line_begin(&line, r->width, r->colour);
	trc_line_right(&line, 9, *row->pid ? row->pid : "?");
	add_ended(&line, row);
	line_add_duration(&line, row->lasted_ns);
	trc_line_right(&line, 9, trc_text_count(number, row->n_threads));
	many_add_times(&line, columns, row->time_ns);
	trc_line_add(&line, "  ");
	trc_line_data(&line, *row->command ? row->command : trc_path_name(row->path), r->width);
	if (*row->command && !names_pid(row)) {
		trc_line_add(&line, ", in ");
		trc_line_data(&line, trc_path_name(row->path), 30);
	}
	trc_report_line(r, &line);
	if (worst_from_ns != INT64_MAX)
		print_details(r, row,
			      worst_tells_wait(row, worst_from_ns) ? INT64_MAX : worst_from_ns);
	if (row->worst && row->worst_ns >= worst_from_ns)
		print_worst(r, row);
}

static void print_many_rest(struct trc_report *r, const struct columns *columns,
			    const struct trc_many_row **row, size_t n)
{
	int64_t sum_ns[TRC_MANY_TIMES] = {0};
	uint64_t n_threads = 0;
	char number[TRC_NUMBER_BYTES];
	struct trc_line line;
	size_t n_failed = 0;

	if (!n)
		return;
	for (size_t i = 0; i < n; i++) {
		n_failed += must_be_told(row[i]);
		n_threads += row[i]->n_threads;
		sum_times(sum_ns, row[i]);
	}
	trc_line_begin(&line, r->width, r->colour);
	trc_line_right(&line, TIMES_AT, trc_text_count(number, n_threads));
	many_add_times(&line, columns, sum_ns);
	trc_line_add(&line, "  in %zu more", n);
	if (n_failed) {
		trc_line_style(&line, TRC_STYLE_ALARM);
		trc_line_add(&line, ", of which %zu failed or lack something", n_failed);
		trc_line_style(&line, TRC_STYLE_PLAIN);
	}
	trc_report_line(r, &line);
}

/* "python3 (4711)" */
static void name_process(const struct trc_many_row *row, char *who, size_t n_bytes)
{
	if (*row->called && *row->pid)
		snprintf(who, n_bytes, "%.40s (%s)", row->called, row->pid);
	else
		snprintf(who, n_bytes, "%s", trc_path_name(row->path));
}

static int print_findings(const struct trc_many *many, struct trc_report *r, bool summary)
{
	const struct trc_many_found *found = many->found.row;
	int err = 0;

	for (size_t i = 0; i < many->found.n && (!summary || i < SUMMARY_FINDINGS); i++) {
		char who[WHO_BYTES];

		if (!i && !summary) {
			trc_report_heading(r, "Findings", NULL);
			err = trc_finding_print_narrowed(r);
		}
		name_process((const struct trc_many_row *)many->rows.row + found[i].row, who,
			     sizeof(who));
		if (summary)
			trc_finding_print_line(r, &found[i].finding, who);
		else
			trc_finding_print(r, &found[i].finding, who);
	}
	return err;
}

/* ---- what to record next time ---- */

static double share_ran(const struct trc_many_row *row)
{
	return row && row->hints.ran_ns ? (double)row->hints.ran_ns / (double)row->hints.lasted_ns
					: 0;
}

static void hint_begin(struct trc_line *line, const struct trc_report *r,
		       const struct trc_many_row *row)
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

static void line_add_others(struct trc_line *line, uint64_t n)
{
	char number[TRC_NUMBER_BYTES];

	if (n > 1)
		trc_line_add(line, ", and so %s more", trc_text_count(number, n - 1));
}

/* The one that ran for most of its time, and how many others. */
static void print_samples_hint(const struct trc_many *many, struct trc_report *r)
{
	const struct trc_many_row *row = many->rows.row, *most = NULL;
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
	line_add_others(&line, n);
	trc_line_add(&line, "; trace-record -F 1000 samples where");
	hint_end(&line, r);
}

/* Rings of the size that the worst of them needs. */
static void print_ring_hint(const struct trc_many *many, struct trc_report *r)
{
	const struct trc_many_row *row = many->rows.row, *most = NULL;
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
	line_add_others(&line, n);
	trc_line_add(&line, "; ");
	trc_report_ring_words(&line, &most->hints.ring);
	hint_end(&line, r);
}

static void print_forks_hint(const struct trc_many *many, struct trc_report *r)
{
	const struct trc_many_row *row = many->rows.row;
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

static void print_many_next(struct trc_report *r, const struct trc_many_row *row)
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

int trc_many_print(struct trc_many *many, FILE *out, bool summary)
{
	struct trc_report r = {.out = out,
			       .width = many->options->width ? many->options->width : 100,
			       .colour = many->options->colour,
			       .selection = many->options->selection};
	size_t n;
	const struct trc_many_row **order = trc_many_sorted(many);
	struct columns columns;
	int err;

	if (!order)
		return -ENOMEM;
	if (!many->rows.n) { /* each was said to be unreadable */
		free(order);
		return 0;
	}
	n = n_told(order, many->rows.n, summary ? SUMMARY_ROWS : ROWS);
	print_many_head(many, &r);
	columns = columns_of(many, r.width);
	many_print_columns(&r, &columns);
	for (size_t i = 0; i < n; i++)
		many_print_row(&r, &columns, order[i], summary ? INT64_MAX : least_ns(many));
	print_many_rest(&r, &columns, order + n, many->rows.n - n);
	err = print_findings(many, &r, summary);
	if (!summary)
		putc('\n', out);
	print_ring_hint(many, &r);
	if (!summary) {
		print_samples_hint(many, &r);
		print_forks_hint(many, &r);
	}
	print_many_next(&r, order[0]);
	free(order);
	return err;
}
