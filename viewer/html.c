/*
 * html.c - see html.h: the file around the columns.
 */
#include "html.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analyzer/causes/blame.h"
#include "analyzer/causes/causes.h"
#include "analyzer/model/lock_sums.h"
#include "analyzer/findings/findings.h"
#include "analyzer/model/timeline.h"
#include "format/file_sink.h"
#include "format/waits.h"
#include "analyzer/text/line.h"
#include "assets.h"
#include "cut.h"
#include "page.h"
#include "rows.h"
#include "tracks.h"

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

static const struct trc_html_limits default_limits = {
	.intervals = 10000000,
	.regions = 2000000,
	.tasks = 1000000,
	.unlocks = 1000000,
	.logs = 500000,
	.counters = 1000000,
	.label_spans = 1000000,
	.fibers = 500000,
	.fiber_runs = 2000000,
	.fiber_waits = 1000000,
	.samples = 1000000,
	.allocs = 1000000,
	.blamed_waits = 250000,
	.blame_pieces = 1 << 20,
	.paths = 100,
	.causes = 100,
	.columns = TRC_PAGE_COLUMNS_MAX,
};

static int html_fail(struct trc_error *error, int rc, const char *what, const char *detail)
{
	if (error)
		snprintf(error->text, sizeof(error->text), "%s: %s", what, detail);
	return rc;
}

static void limits_choose(struct trc_html_limits *l, const struct trc_html_limits *wanted)
{
#define CHOOSE(field) l->field = wanted && wanted->field ? wanted->field : default_limits.field
	CHOOSE(intervals);
	CHOOSE(regions);
	CHOOSE(tasks);
	CHOOSE(unlocks);
	CHOOSE(logs);
	CHOOSE(counters);
	CHOOSE(label_spans);
	CHOOSE(fibers);
	CHOOSE(fiber_runs);
	CHOOSE(fiber_waits);
	CHOOSE(samples);
	CHOOSE(allocs);
	CHOOSE(blamed_waits);
	CHOOSE(blame_pieces);
	CHOOSE(paths);
	CHOOSE(causes);
	CHOOSE(columns);
#undef CHOOSE
}

static void html_json_number(FILE *out, const char *key, double value)
{
	fprintf(out, ",\n\"%s\":%.0f", key, value);
}

/* What every page says: the script needs it before there is a head. */
static void write_schema(FILE *out)
{
	fputs("<script type=\"application/json\" id=\"schema\">{\"reasons\":[null", out);
	for (unsigned int i = 1; i < TRC_REASON_COUNT; i++) {
		fputs(",\n[", out);
		trc_page_json_string(out, trc_reason_name(i));
		fputc(',', out);
		trc_page_json_string(out, trc_reason_doc(i));
		fprintf(out, ",%d,%d]", trc_reason_is_lock(i), trc_wait_class(i));
	}
	fputs("],\n\"causes\":[null", out);
	for (unsigned int i = 1; i < TRC_GAP_CAUSE_COUNT; i++) {
		fputc(',', out);
		trc_page_json_string(out, trc_gap_cause_name(i));
	}
	for (unsigned int i = 0; i < TRC_CAUSE_KINDS; i++) {
		fputs(i ? "," : "],\n\"cause_kinds\":[", out);
		trc_page_json_string(out, trc_cause_name(i));
	}
	for (unsigned int i = 0; i < TRC_CAUSE_KINDS; i++) {
		fputs(i ? "," : "],\n\"cause_words\":[", out);
		trc_page_json_string(out, trc_cause_words(i));
	}
	fputs("]}</script>\n", out);
}

static void head_info(FILE *out, const struct trc_reader *reader)
{
	size_t n = trc_reader_info_count(reader);
	const char *warning = trc_reader_warning(reader);

	fputs(",\n\"info\":[", out);
	for (size_t i = 0; i < n; i++) {
		const char *key = NULL, *value = NULL;

		trc_reader_info_at(reader, i, &key, &value);
		fputs(i ? ",\n[" : "[", out);
		trc_page_json_string(out, key);
		fputc(',', out);
		trc_page_json_string(out, value);
		fputc(']', out);
	}
	fputs("],\n\"warning\":", out);
	trc_page_json_string(out, warning);
}

/* What the report leads with, in its words. */
static void head_findings(FILE *out, const struct trc_rows *r, const struct trc_array *findings)
{
	const struct trc_finding *f = findings->row;

	fputs(",\n\"findings\":[", out);
	for (size_t i = 0; i < findings->n; i++, f++) {
		const char *remedy = trc_finding_remedy(f);

		fputs(i ? ",\n{\"kind\":" : "{\"kind\":", out);
		trc_page_json_string(out, trc_finding_kind_name(f->kind));
		fputs(",\"severity\":", out);
		trc_page_json_string(out, trc_severity_name(f->severity));
		fputs(",\"text\":", out);
		trc_page_json_string(out, f->sentence);
		fputs(",\"why\":", out);
		trc_page_json_string(out, f->why);
		fputs(",\"remedy\":", out);
		trc_page_json_string(out, remedy ? remedy : "");
		fputs(",\"sql\":", out);
		trc_page_json_string(out, f->sql);
		html_json_number(out, "thread", trc_rows_thread(r, f->thread));
		html_json_number(out, "park", f->park ? r->park_idx[f->park - 1] : 0);
		if (f->start_ns != TRC_NEVER) {
			html_json_number(out, "start", (double)trc_rows_time(r, f->start_ns));
			html_json_number(out, "end", (double)trc_rows_time(r, f->end_ns));
		}
		fputc('}', out);
	}
	fputs("]", out);
}

enum { CLOCK_OFF_NS = 100000, CLOCK_STEPS_MAX = 10000 };

/* Whether a double holds it. */
static bool is_exact(int64_t ns)
{
	return ns > -(INT64_C(1) << 53) && ns < INT64_C(1) << 53;
}

/* From when on the clock went otherwise than by what is known up to then, since it was set or
 * goes at another rate: since the trace's begin by the clock as it was then, and by the trace.
 * `began_ns`: of the clock. */
static void head_clock_steps(FILE *out, const struct trc_reader *reader, int64_t start_ns,
			     int64_t began_ns)
{
	int64_t ahead_ns = 0;
	size_t n = 0;

	fputs(",\n\"clock\":[", out);
	for (size_t i = 1; i < trc_reader_syncs(reader) && n < CLOCK_STEPS_MAX; i++) {
		uint64_t realtime_ns;
		int64_t at_ns = trc_reader_sync_ns(reader, i, &realtime_ns), by_clock_ns;

		if (__builtin_sub_overflow(at_ns, start_ns, &at_ns) ||
		    __builtin_sub_overflow(realtime_ns, began_ns, &by_clock_ns) ||
		    !is_exact(at_ns) || !is_exact(by_clock_ns) ||
		    llabs(by_clock_ns - at_ns - ahead_ns) < CLOCK_OFF_NS)
			continue;
		fprintf(out, "%s[%" PRId64 ",%" PRId64 "]", n++ ? "," : "", by_clock_ns, at_ns);
		ahead_ns = by_clock_ns - at_ns;
	}
	fputs("]", out);
}

/* When the trace began by the clock: a double has no room for nanoseconds since 1970. */
static void head_clock(FILE *out, const struct trc_reader *reader, int64_t start_ns)
{
	const struct trc_file_info *info = trc_reader_info(reader);
	int64_t began_ns, began_ms, rest_ns;

	if (__builtin_add_overflow(info->start_realtime_ns, start_ns, &began_ns) || began_ns < 0)
		began_ns = 0;
	began_ms = began_ns / 1000000;
	rest_ns = began_ns % 1000000;
	html_json_number(out, "start_unix_ms", (double)began_ms);
	html_json_number(out, "start_unix_rest_ns", (double)rest_ns);
	if (began_ns)
		head_clock_steps(out, reader, start_ns, began_ns);
}

/* Which part of the trace the page shows; nothing if it shows everything. */
static void head_cut(FILE *out, const struct trc_rows *r, const struct trc_tracks *t)
{
	struct trc_selection asked; /* the window apart, which the page has as numbers */
	struct trc_line line;

	html_json_number(out, "from_ns", (double)trc_rows_time(r, r->cut->from_ns));
	html_json_number(out, "to_ns", (double)trc_rows_time(r, r->cut->to_ns));
	if (!r->cut->selection)
		return;
	asked = *r->cut->selection;
	asked.window = NULL;
	trc_line_begin(&line, TRC_WIDTH_MAX, false);
	trc_selection_tell(&line, asked.n_tasks ? &asked : r->cut->selection);
	fputs(",\n\"cut\":{\"text\":", out);
	trc_page_json_string(out, trc_line_text(&line));
	trc_line_begin(&line, TRC_WIDTH_MAX, false);
	trc_selection_options(&line, &asked);
	fputs(",\n\"options\":", out);
	trc_page_json_string(out, trc_line_text(&line));
	html_json_number(out, "window", trc_cut_has_window(r->cut));
	html_json_number(out, "tasks", r->cut->selection->n_tasks > 0);
	html_json_number(out, "threads_out", (double)t->n_threads_out);
	fputs("}", out);
}

static void head_source(FILE *out, const struct trc_html_source *source)
{
	if (!source)
		return;
	fprintf(out, ",\n\"source\":{\"files\":%zu", source->n_files);
	html_json_number(out, "missing", (double)source->n_missing);
	html_json_number(out, "refused", (double)source->n_refused);
	html_json_number(out, "newer", (double)source->n_newer);
	html_json_number(out, "lines_out", (double)source->n_lines_out);
	fputs("}", out);
}

static void write_head(FILE *out, struct trc_rows *r, const struct trc_tracks *t,
		       const struct trc_array *findings)
{
	int64_t start = trc_model_start_ns(r->m), end = trc_model_end_ns(r->m);
	int64_t window = trc_model_window_ns(r->m);
	const struct trc_file_info *info = trc_reader_info(trc_model_reader(r->m));
	size_t n_on_cpu;

	trc_model_on_cpu(r->m, &n_on_cpu);
	fputs("<script type=\"application/json\" id=\"head\">{\"page\":1", out);
	html_json_number(out, "start_ns", (double)start);
	html_json_number(out, "span_ns", (double)(end - start));
	fputs(",\n\"trace\":", out);
	trc_page_json_string(out, r->trace ? r->trace : "");
	if (info) {
		head_clock(out, trc_model_reader(r->m), start);
		html_json_number(out, "events", (double)info->n_events);
		html_json_number(out, "complete", info->complete);
		html_json_number(out, "cut_off", info->cut_off);
		html_json_number(out, "table_full", (double)info->table_full);
	}
	html_json_number(
		out, "lost_events",
		(double)(r->cut->selection ? r->lost_events : trc_model_lost_events(r->m)));
	head_cut(out, r, t);
	head_source(out, r->source);
	html_json_number(out, "has_sched", n_on_cpu > 0);
	html_json_number(out, "switches_ns",
			 (double)trc_rows_time(r, trc_model_switches_from_ns(r->m)));
	/* Before it only some of the streams are there; 0 = all are from the beginning. */
	html_json_number(out, "window_ns", window == TRC_NEVER ? 0 : (double)(window - start));
	html_json_number(out, "intervals", (double)t->n_before_merging);
	html_json_number(out, "merged_below_ns", (double)t->merged_below_ns);
	html_json_number(out, "without_regions", (double)r->without_regions);
	html_json_number(out, "without_tasks", (double)r->without_tasks);
	html_json_number(out, "without_unlocks", (double)r->without_unlocks);
	html_json_number(out, "without_logs", (double)r->without_logs);
	html_json_number(out, "without_counters", (double)r->without_counters);
	html_json_number(out, "without_label_spans", (double)r->without_label_spans);
	html_json_number(out, "without_fibers", (double)r->without_fibers);
	html_json_number(out, "without_fiber_runs", (double)r->without_fiber_runs);
	html_json_number(out, "without_fiber_waits", (double)r->without_fiber_waits);
	html_json_number(out, "sample_step", (double)r->sample_step);
	html_json_number(out, "alloc_step", (double)r->alloc_step);
	html_json_number(out, "blame_from_ns", (double)r->blame_from_ns);
	html_json_number(out, "blame_summed", r->blame_summed);
	html_json_number(out, "without_blame", r->without_blame);
	html_json_number(out, "paths", (double)r->limits.paths);
	html_json_number(out, "caused", (double)r->limits.causes);
	head_info(out, trc_model_reader(r->m));
	head_findings(out, r, findings);
	fprintf(out, ",\n\"sql\":%s", r->sql_head ? r->sql_head : "null");
	fputs(",\n\"columns\":", out);
	trc_page_directory(r->page);
	fputs("}</script>\n", out);
}

static void write_script(FILE *out)
{
	fputs("<script type=\"text/plain\" id=\"decoder\">", out);
	fwrite(trc_asset_decoder, 1, trc_asset_decoder_bytes, out);
	fputs("</script>\n<script>", out);
	fwrite(trc_asset_js, 1, trc_asset_js_bytes, out);
	fputs("</script>\n", out);
}

/* The script stands first, so that it can decode what follows while the browser still reads.  Workers, and what is compiled from
 * WebAssembly, come from the page itself. */
static void write_top(FILE *out, bool with_sql)
{
	fprintf(out,
		"<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
		"<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
		"script-src '%s'%s; worker-src blob:; style-src '%s'; base-uri 'none'; form-action 'none'\">\n"
		"<meta name=\"viewport\" content=\"width=device-width\">\n"
		"<meta name=\"color-scheme\" content=\"light dark\">\n"
		"<meta name=\"generator\" content=\"trc " PACKAGE_VERSION "\">\n"
		"<title>trc timeline</title>\n<style>",
		trc_asset_js_hash, with_sql ? " 'wasm-unsafe-eval'" : "", trc_asset_css_hash);
	fwrite(trc_asset_css, 1, trc_asset_css_bytes, out);
	fputs("</style>\n</head>\n<body>\n", out);
	fwrite(trc_asset_body, 1, trc_asset_body_bytes, out);
	write_schema(out);
}

/* What the SQL box runs, as it lies in the program: compressed base64. */
static void write_sql_program(FILE *out)
{
	fputs("<script type=\"text/plain\" id=\"sql-wasm\">", out);
	fwrite(trc_asset_sql_wasm, 1, trc_asset_sql_wasm_bytes, out);
	fputs("</script>\n<script type=\"text/plain\" id=\"sql-worker\">", out);
	fwrite(trc_asset_sql_worker, 1, trc_asset_sql_worker_bytes, out);
	fputs("</script>\n", out);
}

/* All of the page, to an open file. */
static int write_page(FILE *out, struct trc_rows *r, struct trc_tracks *tracks,
		      int (*sql)(struct trc_rows *r))
{
	struct trc_error error;
	struct trc_array findings;
	int rc = trc_findings(r->m, &findings, &error);

	if (!rc) {
		write_top(out, sql);
		if (tracks->beyond.bytes.failed)
			rc = -ENOMEM;
		else if (tracks->n_intervals >= TRC_FIRST_INTERVALS_MIN)
			rc = trc_first_write(&tracks->first, r->m, tracks->beyond.bytes.data, out);
		write_script(out);
	}
	if (!rc)
		rc = trc_rows_write(r, tracks);
	if (!rc && sql)
		rc = sql(r);
	if (!rc && sql)
		write_sql_program(out);
	if (!rc)
		write_head(out, r, tracks, &findings);
	trc_array_free(&findings);
	if (rc)
		return rc;
	fputs("</body>\n</html>\n", out);
	errno = 0;
	if (fflush(out) || ferror(out))
		return errno ? -errno : -EIO;
	return r->page->error;
}

static int write_model(struct trc_model *m, FILE *out, const struct trc_html_options *options)
{
	struct trc_page *page = calloc(1, sizeof(*page));
	struct trc_tracks tracks;
	struct trc_cut cut = {0};
	struct trc_rows rows = {.m = m,
				.cut = &cut,
				.page = page,
				.source = options->source,
				.trace = options->trace};
	int rc;

	if (!page)
		return -ENOMEM;
	page->out = out;
	page->is_quick = trc_model_selection(m) != NULL; /* H5 */
	limits_choose(&rows.limits, options->limits);
	rc = trc_cut_make(&cut, m);
	if (!rc)
		rc = trc_tracks_make(&tracks, &cut, rows.limits.intervals);
	if (!rc) {
		rc = write_page(out, &rows, &tracks, options->sql);
		trc_rows_free(&rows);
		trc_tracks_free(&tracks);
	}
	trc_cut_free(&cut);
	free(page);
	return rc;
}

/* H2: the page grows beside its place. */
static int html_write_file(struct trc_model *m, struct trc_file_sink *sink,
			   const struct trc_html_options *options)
{
	int fd = fcntl(sink->fd, F_DUPFD_CLOEXEC, 0), rc;
	FILE *out = fd < 0 ? NULL : fdopen(fd, "w");

	rc = out ? write_model(m, out, options) : -errno;
	if (out ? fclose(out) : fd >= 0 && close(fd))
		rc = rc ? rc : -errno;
	return rc ? rc : trc_file_sink_commit(sink);
}

static bool no_wait(void *context, const struct trc_park *park, uint32_t *labels)
{
	(void)context;
	(void)park;
	*labels = 0;
	return false;
}

static int no_charge(void *context, const struct trc_blame *blame)
{
	(void)context;
	(void)blame;
	return 0;
}

/* Blame of no time, and the locks: how threads wait for each other, and which wait is for which lock, is then there. */
int trc_html_prepare(struct trc_model *m, struct trc_error *error)
{
	const struct trc_blame_target none = {.wanted = no_wait,
					      .charge = no_charge,
					      .from_ns = trc_model_start_ns(m),
					      .to_ns = trc_model_start_ns(m) + 1};
	struct trc_lock_sums locks;
	int rc = trc_model_need(
		m, TRC_PART_ALL | TRC_PART_OBJECTS | TRC_PART_PREEMPTED | TRC_PART_LATENCIES,
		error);

	if (rc)
		return rc;
	rc = trc_blame_sum(m, &none);
	if (rc)
		return html_fail(error, rc, "the page", strerror(-rc));
	rc = trc_lock_sums_make(&locks, m, false, error);
	trc_lock_sums_free(&locks);
	return rc;
}

int trc_html_print(struct trc_model *m, FILE *out, const struct trc_html_options *options,
		   struct trc_error *error)
{
	int rc = trc_model_need(m, TRC_PART_ALL, error);

	if (rc)
		return rc;
	rc = write_model(m, out, options);
	return rc ? html_fail(error, rc, "the page", strerror(-rc)) : 0;
}

int trc_html_write_as(struct trc_model *m, const char *path, const struct trc_html_options *options,
		      struct trc_error *error)
{
	int rc = trc_model_need(m, TRC_PART_ALL, error);
	char named[TRC_FILE_PATH_BYTES + 128];
	struct trc_file_sink sink;

	if (rc)
		return rc;
	rc = trc_file_sink_plan(&sink, path, named, sizeof(named));
	if (!rc)
		rc = trc_file_sink_open_waiting(&sink, NULL, NULL, named, sizeof(named));
	if (!rc) {
		rc = html_write_file(m, &sink, options);
		trc_file_sink_close(&sink);
	}
	return rc ? html_fail(error, rc, path, strerror(-rc)) : 0;
}

int trc_html_write_limited(struct trc_model *m, const char *path,
			   const struct trc_html_limits *limits, struct trc_error *error)
{
	return trc_html_write_as(m, path, &(struct trc_html_options){.limits = limits}, error);
}

int trc_html_write(struct trc_model *m, const char *path, struct trc_error *error)
{
	return trc_html_write_as(m, path, &(struct trc_html_options){0}, error);
}
