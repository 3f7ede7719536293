/* print.c - the comparison as text. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "measures.h"
#include "analyzer/text/line.h"

struct printing {
	const struct trc_diff *diff;
	FILE *out;
	int width;
	bool colour;
};

enum { COLUMN = 13, CHANGE_COLUMN = 19, WORDS_COLUMN = 13, ROWS_MAX = 40, PATH_WIDTH = 60 };

static void diff_line_begin(const struct printing *p, struct trc_line *line)
{
	trc_line_begin(line, p->width, p->colour);
}

static void add_seconds(struct trc_line *line, const struct trc_diff_sums *sums)
{
	char number[TRC_NUMBER_BYTES];

	trc_line_data(line, sums->path, PATH_WIDTH);
	trc_line_add(line, " (%s)", trc_text_duration(number, sums->end_ns - sums->start_ns));
}

static const char *builds(const struct trc_diff *diff)
{
	bool known = *diff->after->build, same = true;

	for (size_t i = 0; i < diff->n_before; i++) {
		known = known && *diff->before[i]->build;
		same = same && !strcmp(diff->before[i]->build, diff->after->build);
	}
	return !known ? "whether it is the same build is not known"
	       : same ? "the same build"
		      : "another build";
}

static void print_compared(const struct printing *p)
{
	const struct trc_diff *diff = p->diff;
	struct trc_line line;

	diff_line_begin(p, &line);
	trc_line_style(&line, TRC_STYLE_BOLD);
	add_seconds(&line, diff->after);
	trc_line_add(&line, " against ");
	if (diff->n_before > 3)
		trc_line_add(&line, "%zu traces", diff->n_before);
	for (size_t i = 0; i < diff->n_before && diff->n_before <= 3; i++) {
		trc_line_add(&line, i ? ", " : "");
		add_seconds(&line, diff->before[i]);
	}
	trc_line_style(&line, TRC_STYLE_PLAIN);
	trc_line_add(&line, ": %s", builds(diff));
	if (!diff->cpu_compared && !*diff->incomplete)
		trc_line_add(&line, ", no CPU samples");
	trc_line_print(&line, p->out);
}

static void print_commands(const struct printing *p)
{
	const struct trc_diff *diff = p->diff;
	struct trc_line line;

	for (size_t i = 0; i < diff->n_before; i++) {
		const char *before = diff->before[i]->command, *after = diff->after->command;

		if (!before || !after || !strcmp(before, after))
			continue;
		diff_line_begin(p, &line);
		trc_line_add(&line, "another command: ");
		trc_line_data(&line, after, PATH_WIDTH);
		trc_line_add(&line, ", before ");
		trc_line_data(&line, before, PATH_WIDTH);
		trc_line_print(&line, p->out);
		return;
	}
}

static uint64_t tasks_in(const struct trc_diff *diff, const struct trc_diff_sums *sums)
{
	const struct trc_diff_item *item = trc_diff_find(sums, TRC_DIFF_TASKS, diff->task);

	return item ? item->n : 0;
}

static void print_how(const struct printing *p)
{
	const struct trc_diff *diff = p->diff;
	char number[TRC_NUMBER_BYTES];
	struct trc_line line;
	uint64_t n = 0;

	diff_line_begin(p, &line);
	trc_line_add(&line, "amounts are per ");
	trc_line_data(&line, diff->task ? diff->task : "second", PATH_WIDTH);
	if (diff->task) {
		for (size_t i = 0; i < diff->n_before; i++)
			n += tasks_in(diff, diff->before[i]);
		trc_line_add(&line, " (before %s", trc_text_count(number, n));
		trc_line_add(&line, ", now %s)",
			     trc_text_count(number, tasks_in(diff, diff->after)));
	}
	trc_line_add(
		&line,
		diff->n_before == 1
			? "; noise by what varies within each trace: --diff A,A2,... also takes "
			  "how runs differ"
			: "; noise by what varies within each trace and between those before");
	trc_line_print(&line, p->out);
}

/* D7.  How long the runs before took on average, in seconds; 0 = their work may not have been the same. */
static double seconds_of_work(const struct trc_diff *diff)
{
	enum { EQUAL_WORK = 50, WAITS_LEAST = 100 }; /* one part in so many; and so many waits */
	const struct trc_diff_sums *after = diff->after;
	double seconds = 0;

	if (diff->task || !after->exited || after->n_waits < WAITS_LEAST)
		return 0;
	for (size_t i = 0; i < diff->n_before; i++) {
		const struct trc_diff_sums *sums = diff->before[i];
		uint64_t off = sums->n_waits > after->n_waits ? sums->n_waits - after->n_waits
							      : after->n_waits - sums->n_waits;

		if (!sums->exited || off > after->n_waits / EQUAL_WORK ||
		    (sums->command && after->command && strcmp(sums->command, after->command) != 0))
			return 0;
		seconds += trc_diff_seconds(sums) / (double)diff->n_before;
	}
	return seconds;
}

static void print_work(const struct printing *p)
{
	double before = seconds_of_work(p->diff), now = trc_diff_seconds(p->diff->after);
	char waits[TRC_NUMBER_BYTES];
	struct trc_line line;

	if (before <= 0)
		return;
	diff_line_begin(p, &line);
	trc_line_add(
		&line,
		"perhaps the same work, by the number of waits (%s): the run took %.2f times as "
		"long as before",
		trc_text_count(waits, p->diff->after->n_waits), now / before);
	trc_line_print(&line, p->out);
}

static void print_machine(const struct printing *p)
{
	const double least = 0.02;
	double more = trc_diff_without_proc(p->diff), now = p->diff->after->without_proc;
	struct trc_line line;

	if (fabs(more) < least)
		return;
	diff_line_begin(p, &line);
	trc_line_add(
		&line,
		"the machine was %s: threads that could run had no proc for %.1f%% of that time, before %.1f%%; "
		"times are as much less certain",
		more > 0 ? "busier" : "less busy", 100 * now, 100 * (now - more));
	trc_line_print(&line, p->out);
}

static void print_incomplete(const struct printing *p)
{
	struct trc_line line;

	if (!*p->diff->incomplete)
		return;
	diff_line_begin(p, &line);
	trc_line_style(&line, TRC_STYLE_ALARM);
	trc_line_add(&line, "incomplete: ");
	trc_line_data(&line, p->diff->incomplete, TRC_WIDTH_MAX);
	trc_line_style(&line, TRC_STYLE_PLAIN);
	trc_line_print(&line, p->out);
}

static void print_differences(const struct printing *p)
{
	struct trc_line line;

	if (!*trc_diff_differences(p->diff))
		return;
	diff_line_begin(p, &line);
	trc_line_style(&line, TRC_STYLE_ALARM);
	trc_line_add(&line, "recorded differently: ");
	trc_line_data(&line, trc_diff_differences(p->diff), TRC_WIDTH_MAX);
	trc_line_style(&line, TRC_STYLE_PLAIN);
	trc_line_print(&line, p->out);
}

/* ---- rows ---- */

static const char *diff_value_text(char out[TRC_NUMBER_BYTES], unsigned int measure, double value)
{
	if (measure == TRC_DIFF_CPU_SHARE)
		snprintf(out, TRC_NUMBER_BYTES, "%.1f%%", 100 * value);
	else if (measure == TRC_DIFF_HEAP_IN_USE || measure == TRC_DIFF_HEAP_ALLOCATED)
		trc_text_bytes(out, value < 9e18 ? (uint64_t)llround(value) : INT64_MAX);
	else if (measure == TRC_DIFF_LOCK_WAITS || measure == TRC_DIFF_HEAP_ALLOCATIONS)
		snprintf(out, TRC_NUMBER_BYTES, "%.3g", value);
	else
		trc_text_duration(out, value < 9e18 ? (int64_t)llround(value) : INT64_MAX);
	return out;
}

static const char *change_text(char out[TRC_NUMBER_BYTES], const struct trc_diff_row *row)
{
	const double many = 9;
	double off = (row->high - row->low) / 2;

	if (isnan(row->change))
		snprintf(out, TRC_NUMBER_BYTES, "%s", row->before > 0 ? "gone" : "new");
	else if (row->change > many)
		snprintf(out, TRC_NUMBER_BYTES, "%.3g times", fmin(row->change + 1, 1e12));
	else
		snprintf(out, TRC_NUMBER_BYTES, "%+.1f%% \u00b1%.1f%%", 100 * row->change,
			 100 * fmin(off, 99));
	return out;
}

static const char *certainty(double p)
{
	return p < 0.0001 ? "certain" : p < 0.01 ? "very likely" : "likely";
}

static void add_what(struct trc_line *line, const struct printing *p,
		     const struct trc_diff_row *row)
{
	static const char *const WHAT[] = {
		"task %s: mean",
		"task %s: p50",
		"task %s: p95",
		"task %s: p99",
		"waited for %s",
		"waits for %s",
		"others waited behind %s",
		"%s held by section",
		"CPU in %s",
		"CPU time of %s",
		"waited: %s",
		"threads %s ran",
		"threads %s were in no wait",
		"threads %s waited for locks",
		"memory in use of %s",
		"memory allocated at %s",
		"allocations at %s",
	};
	const char *format = WHAT[row->measure], *name = strchr(format, '%');
	int room = p->width - 2 - 2 * COLUMN - CHANGE_COLUMN - WORDS_COLUMN - (int)strlen(format);

	trc_line_add(line, "%.*s", (int)(name - format), format);
	trc_line_data(line, row->name, room > 20 ? room : 20);
	trc_line_add(line, "%s", name + 2);
}

/* What each of the traces before had, and how much they differ. */
static void print_each(const struct printing *p, const struct trc_diff_row *row)
{
	enum { TOLD = 6 };
	const size_t n = p->diff->n_before;
	double least = row->each[0], most = row->each[0];
	char number[TRC_NUMBER_BYTES];
	struct trc_line line;

	if (n < 2)
		return;
	diff_line_begin(p, &line);
	trc_line_style(&line, TRC_STYLE_DIM);
	trc_line_to(&line, COLUMN);
	trc_line_add(&line, "before ");
	for (size_t i = 0; i < n; i++) {
		least = fmin(least, row->each[i]);
		most = fmax(most, row->each[i]);
		if (n <= TOLD)
			trc_line_add(&line, "%s%s", i ? ", " : "",
				     diff_value_text(number, row->measure, row->each[i]));
	}
	if (n > TOLD) {
		trc_line_add(&line, "%s", diff_value_text(number, row->measure, least));
		trc_line_add(&line, " to %s", diff_value_text(number, row->measure, most));
	}
	if (!isnan(row->between))
		trc_line_add(&line, ": \u00b1%.1f%% between them", 100 * fmin(row->between, 99));
	trc_line_style(&line, TRC_STYLE_PLAIN);
	trc_line_print(&line, p->out);
}

static void diff_print_row(const struct printing *p, const struct trc_diff_row *row)
{
	char number[TRC_NUMBER_BYTES];
	struct trc_line line;

	diff_line_begin(p, &line);
	trc_line_right(&line, COLUMN, diff_value_text(number, row->measure, row->before));
	trc_line_right(&line, COLUMN, diff_value_text(number, row->measure, row->after));
	trc_line_right(&line, CHANGE_COLUMN, change_text(number, row));
	trc_line_add(&line, "  ");
	trc_line_add(&line, "%-*s", WORDS_COLUMN, certainty(row->p));
	add_what(&line, p, row);
	trc_line_print(&line, p->out);
	print_each(p, row);
}

static void print_cpu_note(const struct printing *p)
{
	size_t n;
	const struct trc_diff_row *row = trc_diff_rows(p->diff, &n);
	struct trc_line line;

	for (size_t i = 0; i < p->diff->n_changed && i < ROWS_MAX; i++) {
		if (row[i].measure != TRC_DIFF_CPU_SHARE)
			continue;
		diff_line_begin(p, &line);
		trc_line_add(&line,
			     "  CPU: shares of the samples of these threads; change against their "
			     "functions that did not change");
		trc_line_print(&line, p->out);
		return;
	}
}

static void print_changed(const struct printing *p)
{
	size_t n;
	const struct trc_diff_row *row = trc_diff_rows(p->diff, &n);
	struct trc_line line;

	putc('\n', p->out);
	diff_line_begin(p, &line);
	trc_line_style(&line, TRC_STYLE_BOLD);
	trc_line_add(&line, "Changed");
	trc_line_style(&line, TRC_STYLE_PLAIN);
	trc_line_print(&line, p->out);
	diff_line_begin(p, &line);
	trc_line_right(&line, COLUMN, "before");
	trc_line_right(&line, COLUMN, "now");
	trc_line_right(&line, CHANGE_COLUMN, "change");
	trc_line_print(&line, p->out);
	for (size_t i = 0; i < p->diff->n_changed && i < ROWS_MAX; i++)
		diff_print_row(p, &row[i]);
	print_cpu_note(p);
	if (p->diff->n_changed <= ROWS_MAX)
		return;
	diff_line_begin(p, &line);
	trc_line_add(&line, "  and %zu more: --output csv has all", p->diff->n_changed - ROWS_MAX);
	trc_line_print(&line, p->out);
}

static int compare_numbers(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

/* Of the rows that did not change: the change that half of them would have shown; NAN = there
 * are none. */
static double middle_sure(const struct trc_diff *diff)
{
	size_t n_rows, n = 0;
	const struct trc_diff_row *row = trc_diff_rows(diff, &n_rows);
	double *sure = calloc(n_rows + 1, sizeof(*sure)), middle = NAN;

	for (size_t i = 0; sure && i < n_rows; i++)
		if (!row[i].changed && !isnan(row[i].sure_from))
			sure[n++] = row[i].sure_from;
	if (n)
		qsort(sure, n, sizeof(*sure), compare_numbers);
	if (n)
		middle = sure[n / 2];
	free(sure);
	return middle;
}

static void diff_print_end(const struct printing *p)
{
	size_t n = p->diff->rows.n, same = n - p->diff->n_changed;
	double sure = middle_sure(p->diff);
	struct trc_line line;

	putc('\n', p->out);
	diff_line_begin(p, &line);
	if (!n)
		trc_line_add(&line, "nothing to compare: nothing happened %d times or more",
			     TRC_DIFF_EVENTS);
	else if (!p->diff->n_changed)
		trc_line_add(&line, "nothing changed beyond noise: %zu row%s compared", n,
			     n == 1 ? " was" : "s were");
	else if (!same)
		trc_line_add(&line, "%zu row%s compared", n, n == 1 ? " was" : "s were");
	else
		trc_line_add(&line,
			     "%zu rows were compared, the other %zu did not change beyond noise", n,
			     same);
	trc_line_print(&line, p->out);
	if (isnan(sure))
		return;
	diff_line_begin(p, &line);
	if (sure < 2)
		trc_line_add(&line,
			     "half of the rows that did not change would have been told from a "
			     "change of %.*f%% on",
			     sure < 0.1 ? 1 : 0, 100 * sure);
	else
		trc_line_add(&line,
			     "half of the rows that did not change would only have been told from "
			     "%.0f times as much on: record longer, or give more traces before",
			     1 + fmin(sure, 1e6));
	trc_line_print(&line, p->out);
}

void trc_diff_print(const struct trc_diff *diff, FILE *out, int width, bool colour)
{
	const struct printing p = {diff, out, width, colour};

	print_incomplete(&p);
	print_differences(&p);
	print_compared(&p);
	print_commands(&p);
	print_how(&p);
	print_work(&p);
	print_machine(&p);
	if (diff->n_changed)
		print_changed(&p);
	diff_print_end(&p);
}
