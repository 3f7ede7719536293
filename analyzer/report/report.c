/* report.c - the report's head and its order; see report.h. */
#include "report.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "analyzer/causes/causes.h"
#include "analyzer/model/between.h"
#include "analyzer/model/process.h"
#include "parts.h"
#include "analyzer/findings/print.h"

static void print_command(struct trc_report *r)
{
	struct trc_line line;

	trc_line_begin(&line, r->width, r->colour);
	trc_line_style(&line, TRC_STYLE_BOLD);
	if (trc_process_title(r->reader))
		trc_line_data(&line, trc_process_title(r->reader), r->width);
	else
		trc_line_data(&line,
			      trc_report_info(r, "command") ? trc_report_info(r, "command")
							    : r->path,
			      r->width);
	trc_line_style(&line, TRC_STYLE_PLAIN);
	if (trc_process_title(r->reader) && trc_report_info(r, "command")) {
		trc_line_add(&line, ", began as ");
		trc_line_data(&line, trc_report_info(r, "command"), r->width);
	}
	trc_report_line(r, &line);
}

static void print_when(struct trc_report *r)
{
	uint64_t realtime_ns = trc_reader_info(r->reader)->start_realtime_ns;
	time_t seconds = (time_t)((realtime_ns + (uint64_t)r->start_ns) / 1000000000);
	char text[64], number[TRC_NUMBER_BYTES];
	struct trc_line line;
	struct tm utc;

	trc_line_begin(&line, r->width, r->colour);
	trc_line_add(&line, "%s", trc_text_duration(number, r->end_ns - r->start_ns));
	if (realtime_ns && gmtime_r(&seconds, &utc) &&
	    strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S UTC", &utc))
		trc_line_add(&line, " from %s", text);
	if (trc_report_info(r, "hostname")) {
		trc_line_add(&line, " on ");
		trc_line_data(&line, trc_report_info(r, "hostname"), 30);
	}
	if (trc_report_info(r, "pid"))
		trc_line_add(&line, ", pid %s", trc_report_info(r, "pid"));
	if (trc_report_info(r, "ended"))
		trc_line_add(&line, ", ended: %s", trc_report_info(r, "ended"));
	trc_report_line(r, &line);
}

static void add_plural(struct trc_line *line, uint64_t n, const char *word)
{
	char number[TRC_NUMBER_BYTES];

	trc_line_add(line, "%s %s%s", trc_text_count(number, n), word, n == 1 ? "" : "s");
}

static void add_former(struct trc_report *r, struct trc_line *line)
{
	uint64_t n = trc_report_count_threads(r, TRC_THREAD_FORMER);
	char number[TRC_NUMBER_BYTES];

	if (n)
		trc_line_add(line, " (and %s of the programs before it)",
			     trc_text_count(number, n));
}

static void print_size(struct trc_report *r)
{
	const struct trc_file_info *file = trc_reader_info(r->reader);
	char number[TRC_NUMBER_BYTES];
	struct trc_line line;
	size_t n_procs;

	trc_model_procs(r->m, &n_procs);
	trc_line_begin(&line, r->width, r->colour);
	add_plural(&line, trc_report_count_threads(r, TRC_THREAD_COUNTS), "thread");
	add_former(r, &line);
	trc_line_add(&line, ", ");
	add_plural(&line, n_procs, "proc");
	trc_line_add(&line, ", ");
	add_plural(&line, file->n_events, "event");
	trc_line_add(&line, " in %s", trc_text_bytes(number, file->file_bytes));
	if (file->n_events)
		trc_line_add(&line, " (%.1f bytes each)",
			     (double)file->file_bytes / (double)file->n_events);
	trc_line_add(&line, ", ");
	trc_report_lost(r, &line);
	trc_report_line(r, &line);
}

static void print_remarks(struct trc_report *r)
{
	const char *warning = trc_reader_warning(r->reader), *sched = trc_report_info(r, "sched");
	struct trc_line line;

	if (warning) {
		trc_line_begin(&line, r->width, r->colour);
		trc_line_style(&line, TRC_STYLE_ALARM);
		trc_line_add(&line, "warning: %s", warning);
		trc_line_style(&line, TRC_STYLE_PLAIN);
		trc_report_line(r, &line);
	}
	if (sched && strcmp(sched, "yes") != 0) {
		if (!strncmp(sched, "no: ", 4))
			sched += 4;
		trc_line_begin(&line, r->width, r->colour);
		trc_line_add(&line, "no scheduling intervals: %s", sched);
		trc_report_line(r, &line);
	}
}

/* A server's work may all be done by its children. */
static void print_forks(struct trc_report *r)
{
	char number[TRC_NUMBER_BYTES];
	struct trc_hints hints;
	struct trc_line line;

	trc_report_hints_of(r, &hints);
	if (!hints.n_forks)
		return;
	trc_line_begin(&line, r->width, r->colour);
	trc_line_add(
		&line,
		"%s forked process%s not in this trace: trace-record --follow records descendants",
		trc_text_count(number, hints.n_forks), hints.n_forks == 1 ? " is" : "es are");
	trc_report_line(r, &line);
}

static bool has_lock_waits(const struct trc_report *r)
{
	for (size_t i = 0; i < r->n_parks; i++)
		if (trc_wait_class(r->park[i].reason) == TRC_WAIT_LOCKS)
			return true;
	return false;
}

static void print_next_steps(struct trc_report *r)
{
	struct trc_line line;

	putc('\n', r->out);
	trc_report_hints(r);
	trc_line_begin(&line, r->width, r->colour);
	trc_line_style(&line, TRC_STYLE_DIM);
	trc_line_add(&line, "more: trace-analyze");
	trc_selection_options(&line, r->selection);
	trc_line_add(&line, " [%s--html FILE | --pprof %s -o FILE | --shell] ",
		     has_lock_waits(r) ? "--why longest | " : "",
		     trc_report_has_cpu(r) ? "cpu" : "block");
	trc_line_data(&line, r->path, 40);
	trc_line_style(&line, TRC_STYLE_PLAIN);
	trc_report_line(r, &line);
}

int trc_report_print(struct trc_model *m, FILE *out, const struct trc_report_options *options,
		     struct trc_error *error)
{
	static int (*const SECTIONS[])(struct trc_report *) = {
		trc_report_deadlocks,  trc_report_ended,     trc_report_findings_section,
		trc_report_lock_order, trc_report_snapshot,  trc_report_now,
		trc_report_cpu,	       trc_report_heap,	     trc_report_waits,
		trc_report_holders,    trc_report_held_up,   trc_report_longest,
		trc_report_threads,    trc_report_latencies, trc_report_fibers,
		trc_report_by_label,   trc_report_user,
	};
	struct trc_report r;
	int err;

	trc_model_keep(m); /* several sections follow waits to their causes */
	err = trc_report_begin(&r, m, out, options, error);
	if (!err) {
		print_command(&r);
		print_when(&r);
		print_size(&r);
		trc_report_lost_lines(&r);
		trc_report_full_lines(&r);
		trc_report_unseen_lines(&r);
		print_remarks(&r);
		print_forks(&r);
		trc_report_selection_lines(&r);
	}
	for (size_t i = 0; i < sizeof(SECTIONS) / sizeof(*SECTIONS) && !err; i++) {
		err = SECTIONS[i](&r);
		if (err)
			snprintf(error->text, sizeof(error->text), "report: %s", strerror(-err));
	}
	if (!err) {
		trc_report_troubles(&r);
		print_next_steps(&r);
	}
	trc_report_end(&r);
	return err;
}

int trc_report_times(struct trc_model *m, struct trc_array *latencies, struct trc_array *labels,
		     struct trc_error *error)
{
	const struct trc_report_options options = {0};
	struct trc_report r;
	int err;

	*latencies = (struct trc_array){.row_bytes = sizeof(struct trc_latency_group)};
	*labels = (struct trc_array){.row_bytes = sizeof(struct trc_label_time)};
	err = trc_report_begin(&r, m, NULL, &options, error);
	if (!err)
		err = trc_report_latency_groups(&r, latencies);
	if (!err)
		err = trc_report_label_times(&r, labels);
	trc_report_end(&r);
	return err;
}
