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

static bool park_wanted(const struct trc_report *r, const struct trc_park *park)
{
	return !r->selection ||
	       (trc_selection_passes(r->selection, r->m, trc_park_labels(r->m, park)) &&
		trc_selection_touches(r->selection, park->thread, trc_park_start_ns(r->m, park),
				      trc_park_end_ns(r->m, park)));
}

/* The first row from `i` on that may have something of what is selected. */
static size_t next_row(const struct trc_report *r, enum trc_between_table table, size_t i)
{
	return trc_between_next(r->m, table, i, r->selection ? r->selection->from_ns : INT64_MIN,
				r->selection ? r->selection->to_ns : INT64_MAX);
}

static int add_piece(struct trc_array *parks, struct trc_array *ids, const struct trc_park *park,
		     uint32_t id)
{
	struct trc_park *piece = trc_array_add(parks);
	uint32_t *of = trc_array_add(ids);

	if (!piece || !of)
		return -ENOMEM;
	*piece = *park;
	*of = id;
	return 0;
}

/* The parts of a wait that are selected, each as a wait of its own. */
static int add_pieces(const struct trc_report *r, struct trc_array *parks, struct trc_array *ids,
		      uint32_t id)
{
	const struct trc_park *park = &r->park[id - 1];
	int64_t at_ns = park->start_ns, end_ns = trc_park_end_ns(r->m, park);
	struct trc_park piece = *park;
	int err = 0;

	if (at_ns >= end_ns)
		return add_piece(parks, ids, park, id);
	while (!err && trc_selection_next(r->selection, park->thread, &at_ns, end_ns,
					  &piece.start_ns, &piece.end_ns)) {
		if (piece.end_ns == end_ns)
			piece.end_ns = park->end_ns;
		if (piece.start_ns != park->start_ns)
			piece.start_place = TRC_PLACE_LAST;
		err = add_piece(parks, ids, &piece, id);
		piece.flags |= TRC_PARK_PIECE;
	}
	return err;
}

/* Leaves only what is wanted of waits. */
static int choose_parks(struct trc_report *r)
{
	struct trc_array parks = {.row_bytes = sizeof(*r->wanted_parks)};
	struct trc_array ids = {.row_bytes = sizeof(*r->wanted_ids)};
	int err = 0;

	if (!r->selection)
		return 0;
	for (size_t i = next_row(r, TRC_BETWEEN_PARKS, 0); i < r->n_parks && !err;
	     i = next_row(r, TRC_BETWEEN_PARKS, i + 1))
		if (park_wanted(r, &r->park[i]))
			err = add_pieces(r, &parks, &ids, (uint32_t)i + 1);
	if (!err && !parks.n) /* so that there are arrays, even of nothing */
		err = add_piece(&parks, &ids, &(struct trc_park){0}, 0);
	r->wanted_parks = parks.row;
	r->wanted_ids = ids.row;
	if (err)
		return err;
	r->park = r->wanted_parks;
	r->n_parks = ids.n && *r->wanted_ids ? parks.n : 0;
	return 0;
}

/* How much of each thread's life is selected, and what it was on a proc meanwhile. */
static int sum_selected(struct trc_report *r)
{
	size_t n;
	const struct trc_on_cpu *on_cpu = trc_model_on_cpu(r->m, &n);

	if (!r->selection)
		return 0;
	r->selected = calloc(r->n_threads + 1, sizeof(*r->selected));
	if (!r->selected)
		return -ENOMEM;
	for (size_t i = 0; i < r->n_threads; i++)
		r->selected[i].ns = trc_selection_thread_ns(r->selection, r->m, &r->thread[i]);
	for (size_t i = next_row(r, TRC_BETWEEN_ON_CPU, 0); i < n;
	     i = next_row(r, TRC_BETWEEN_ON_CPU, i + 1)) {
		const struct trc_thread *t = trc_model_thread(r->m, on_cpu[i].thread);
		int64_t start_ns = on_cpu[i].start_ns, end_ns = on_cpu[i].end_ns;

		if (!t)
			continue;
		start_ns = start_ns > r->start_ns ? start_ns : r->start_ns;
		end_ns = end_ns == TRC_NEVER ? r->end_ns : end_ns;
		trc_report_add(&r->selected[t - r->thread].on_cpu_ns,
			       trc_selection_ns(r->selection, t->serial, start_ns, end_ns));
	}
	return 0;
}

/* Each moment of a thread once: what lies within another wait is taken off that one. */
static int sum_classes(struct trc_report *r)
{
	uint32_t *outer = trc_waits_nesting(r->m);
	size_t n;
	const struct trc_park *all = trc_model_parks(r->m, &n);

	r->class_ns = calloc(r->n_threads + 1, sizeof(*r->class_ns));
	if (!outer || !r->class_ns) {
		free(outer);
		return -ENOMEM;
	}
	for (size_t i = next_row(r, TRC_BETWEEN_PARKS, 0); i < n;
	     i = next_row(r, TRC_BETWEEN_PARKS, i + 1)) {
		const struct trc_park *park = &all[i], *around;
		const struct trc_thread *thread = trc_model_thread(r->m, park->thread);
		int64_t start_ns = trc_park_start_ns(r->m, park);
		int64_t end_ns = trc_park_end_ns(r->m, park), around_end_ns;
		int64_t *sums;

		if (!thread)
			continue;
		sums = r->class_ns[thread - r->thread];
		if (park_wanted(r, park))
			sums[trc_wait_class(park->reason)] +=
				trc_selection_ns(r->selection, park->thread, start_ns, end_ns);
		if (!outer[i] || !park_wanted(r, &all[outer[i] - 1]))
			continue;
		around = &all[outer[i] - 1];
		around_end_ns = trc_park_end_ns(r->m, around);
		sums[trc_wait_class(around->reason)] -=
			trc_selection_ns(r->selection, park->thread, start_ns,
					 end_ns < around_end_ns ? end_ns : around_end_ns);
	}
	free(outer);
	return 0;
}

static bool has_allocs(const struct trc_model *m)
{
	size_t n;

	trc_model_allocs(m, &n);
	return n;
}

int trc_report_begin(struct trc_report *r, struct trc_model *m, FILE *out,
		     const struct trc_report_options *options, struct trc_error *error)
{
	int err = trc_model_need(m, TRC_PART_ALL, error);

	*r = (struct trc_report){
		.m = m,
		.out = out,
		.reader = trc_model_reader(m),
		.path = options->path ? options->path : "the trace",
		.width = options->width ? options->width : 100,
		.colour = options->colour,
		.full = options->full,
		.top = options->top ? options->top : 10,
		.selection = trc_model_selection(m),
	};
	if (!err && has_allocs(m)) /* for where objects were allocated */
		err = trc_model_need(m, TRC_PART_OBJECTS, error);
	if (err)
		return err;
	r->stacks = trc_model_stacks(m);
	r->park = trc_model_parks(m, &r->n_parks);
	r->unlock = trc_model_unlocks(m, &r->n_unlocks);
	r->thread = trc_model_threads(m, &r->n_threads);
	r->start_ns = trc_model_start_ns(m);
	r->end_ns = trc_model_end_ns(m);
	r->module_shown = calloc(trc_reader_modules(r->reader) + 1, sizeof(*r->module_shown));
	err = r->module_shown ? trc_report_canonical_init(r) : -ENOMEM;
	if (!err)
		err = trc_report_same_place_init(r);
	if (!err)
		err = trc_report_ends_init(r);
	if (!err)
		err = sum_selected(r);
	if (!err)
		err = sum_classes(r);
	if (!err)
		err = choose_parks(r);
	if (!err)
		err = trc_report_idle_init(r);
	if (!err)
		err = trc_report_labels_init(r);
	if (err)
		snprintf(error->text, sizeof(error->text), "report: out of memory");
	return err;
}

void trc_report_end(struct trc_report *r)
{
	free(r->canonical);
	free(r->same_place);
	free(r->ends);
	free(r->selected);
	free(r->class_ns);
	free(r->idle_at);
	free(r->idle_first);
	trc_array_free(&r->idle_sums);
	free(r->wanted_parks);
	free(r->wanted_ids);
	free(r->label_first);
	free(r->label_quoted);
	free(r->module_shown);
	trc_causes_close(r->causes);
}

int trc_report_causes(struct trc_report *r, struct trc_causes **causes)
{
	int err = r->causes ? 0 : trc_causes_open(&r->causes, r->m);

	*causes = r->causes;
	return err;
}

void trc_report_line(struct trc_report *r, struct trc_line *line)
{
	trc_line_print(line, r->out);
}

void trc_report_heading(struct trc_report *r, const char *heading, const char *right)
{
	struct trc_line line;

	putc('\n', r->out);
	trc_line_begin(&line, r->width, r->colour);
	trc_line_style(&line, TRC_STYLE_BOLD);
	trc_line_add(&line, "%s", heading);
	trc_line_style(&line, TRC_STYLE_PLAIN);
	if (right)
		trc_line_add(&line, "  %s", right);
	trc_report_line(r, &line);
	r->any_section = true;
}

/* ---- the head ---- */

const char *trc_report_info(const struct trc_report *r, const char *key)
{
	const char *value = trc_reader_info_get(r->reader, key);

	return value && *value ? value : NULL;
}

bool trc_report_recovered(const struct trc_report *r)
{
	const char *what = trc_report_info(r, "snapshot");

	return what && !strcmp(what, "recovered");
}

const char *trc_report_until_end(const struct trc_report *r, char out[TRC_LASTED_BYTES],
				 int64_t since_ns)
{
	char number[TRC_NUMBER_BYTES];

	snprintf(out, TRC_LASTED_BYTES, "%s%s", trc_report_recovered(r) ? "> " : "",
		 trc_text_duration(number, r->end_ns - since_ns));
	return out;
}

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

/* The first thread of each further program that the process executed is the one that it had. */
uint64_t trc_report_count_threads(const struct trc_report *r)
{
	const char *pid = trc_report_info(r, "pid");
	uint64_t n = r->n_threads, n_first = 0;

	for (size_t i = 0; i < r->n_threads && pid; i++)
		n_first += r->thread[i].tid == strtoul(pid, NULL, 10);
	return n_first > 1 ? n - (n_first - 1) : n;
}

static void print_size(struct trc_report *r)
{
	const struct trc_file_info *file = trc_reader_info(r->reader);
	char number[TRC_NUMBER_BYTES];
	struct trc_line line;
	size_t n_procs;

	trc_model_procs(r->m, &n_procs);
	trc_line_begin(&line, r->width, r->colour);
	add_plural(&line, trc_report_count_threads(r), "thread");
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
	const char *options = trc_report_info(r, "options");
	uint64_t n_forks = trc_model_forks(r->m);
	char number[TRC_NUMBER_BYTES];
	struct trc_line line;

	if (!n_forks || (options && strstr(options, "--follow")))
		return;
	trc_line_begin(&line, r->width, r->colour);
	trc_line_add(
		&line,
		"%s forked process%s not in this trace: trace-record --follow records descendants",
		trc_text_count(number, n_forks), n_forks == 1 ? " is" : "es are");
	trc_report_line(r, &line);
}

static bool has_lock_waits(const struct trc_report *r)
{
	for (size_t i = 0; i < r->n_parks; i++)
		if (trc_wait_class(r->park[i].reason) == TRC_WAIT_LOCKS)
			return true;
	return false;
}

static void print_next(struct trc_report *r)
{
	struct trc_line line;

	putc('\n', r->out);
	trc_report_hints(r);
	trc_line_begin(&line, r->width, r->colour);
	trc_line_style(&line, TRC_STYLE_DIM);
	trc_line_add(&line, "more: trace-analyze [%s--html FILE | --pprof %s -o FILE | --shell] ",
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
		trc_report_deadlocks, trc_report_ended,	   trc_report_findings_section,
		trc_report_snapshot,  trc_report_now,	   trc_report_cpu,
		trc_report_heap,      trc_report_waits,	   trc_report_holders,
		trc_report_longest,   trc_report_threads,  trc_report_latencies,
		trc_report_fibers,    trc_report_by_label, trc_report_user,
	};
	struct trc_report r;
	int err = trc_report_begin(&r, m, out, options, error);

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
		print_next(&r);
	}
	trc_report_end(&r);
	return err;
}
