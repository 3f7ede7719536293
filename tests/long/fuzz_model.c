/*
 * fuzz_model.c - any bytes as a trace, all the way: model, checks, report, profiles, SQL.  A
 * libFuzzer target.
 *
 * Checksums are repaired first (tests/format/repair.h), so that what is damaged is looked at.  A
 * trace may be refused with a sentence; what is not refused has every part derived, is checked,
 * reported, and read through every table.
 */
#include <errno.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "analyzer/check/check.h"
#include "analyzer/profile/profile.h"
#include "analyzer/diff/diff.h"
#include "analyzer/model/selection.h"
#include "analyzer/report/report.h"
#include "analyzer/why/whatif.h"
#include "analyzer/why/why.h"
#include "analyzer/sql/sql.h"
#include "format/reader.h"
#include "format/symbols.h"
#include "tests/format/repair.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n_bytes);

enum {
	ROWS_MAX = 200,
	TABLES_EVERY =
		4, /* making the tables takes longer than all else: of one input in so many */
};

static void promise(bool kept, const char *what)
{
	if (kept)
		return;
	fprintf(stderr, "broken: %s\n", what);
	abort();
}

static void note(void *context, const char *text)
{
	promise(!strchr(text, '\n'), "a violation is one line");
	promise(!strstr(text, "causes"), "the causes of waits agree, whatever events say");
	++*(uint64_t *)context;
}

static void check(struct trc_model *m)
{
	struct trc_check_totals totals = {0};
	struct trc_error error = {""};
	uint64_t lines = 0;

	if (trc_check(m, true, note, &lines, &totals, &error))
		promise(*error.text, "an error has a text");
	else
		promise(lines >= totals.violations, "each violation is told");
}

static void what_if(struct trc_model *m, FILE *out, const struct trc_report_options *options)
{
	static const char *const change[] = {"lock name * 0.5", "no lock name+8; procs 1",
					     "lock 0x10 * 100; function name * 0", "procs 3"};
	struct trc_error error = {""};

	for (size_t i = 0; i < sizeof(change) / sizeof(change[0]); i++) {
		if (trc_report_what_if(m, out, options, change[i], &error))
			promise(*error.text, "an error has a text");
		if (trc_report_what_if_json(m, out, change[i], &error))
			promise(*error.text, "an error has a text");
	}
}

static void why(struct trc_model *m, FILE *out, const struct trc_report_options *options)
{
	static const char *const what[] = {
		"longest", "wait:1", "task:1", "task:", "thread:1", "0ms..1ms", "..", "program"};
	struct trc_error error = {""};

	for (size_t i = 0; i < sizeof(what) / sizeof(what[0]); i++)
		if (trc_report_why(m, out, options, what[i], &error) ||
		    trc_report_critical_path(m, out, options, what[i], &error))
			promise(*error.text, "an error has a text");
}

/* Of a window, and of all threads that have a name. */
static void narrowed(struct trc_model *m, FILE *out, const struct trc_report_options *options)
{
	struct trc_selection selection[2] = {{0}};
	struct trc_error error = {""};

	promise(!trc_selection_ask_window(&selection[0], "1us..10ms", &error), "a window");
	promise(!trc_selection_ask_thread(&selection[1], "*", &error), "a pattern");
	for (size_t i = 0; i < 2; i++) {
		trc_model_select(m, &selection[i]);
		if (trc_selection_find(&selection[i], m, &error) ||
		    trc_report_print(m, out, options, &error))
			promise(*error.text, "an error has a text");
		trc_model_select(m, NULL);
		trc_selection_free(&selection[i]);
	}
}

/* report:P3: control characters of the trace never reach the terminal. */
static void report(struct trc_model *m, FILE *out)
{
	const struct trc_report_options options = {.path = "fuzz.trc", .width = 100};
	const struct trc_report_options whole = {
		.path = "fuzz.trc", .width = 100, .full = true, .print_cause = trc_sql_print_cause};
	struct trc_error error = {""};

	if (trc_report_print(m, out, &options, &error) || trc_report_print(m, out, &whole, &error))
		promise(*error.text, "an error has a text");
	if (trc_report_summary(m, out, &options, &error))
		promise(*error.text, "an error has a text");
	why(m, out, &options);
	why(m, out, &whole);
	narrowed(m, out, &options);
	what_if(m, out, &options);
}

/* The blame profile; its samples are of some time. */
static void blame(struct trc_model *m)
{
	struct trc_error error = {""};
	struct trc_profile *profile = NULL;

	if (trc_profile_derive(&profile, m, "blame", &error))
		promise(*error.text, "an error has a text");
	else
		for (size_t i = 0; i < profile->n_samples; i++)
			promise(profile->sample[i].value[0] > 0, "time is blamed on each");
	trc_profile_free(profile);
}

/* A trace and itself: nothing changed. */
static void comparison(struct trc_model *m, FILE *out)
{
	struct trc_diff_sums *sums = NULL;
	struct trc_diff *diff = NULL;
	struct trc_error error = {""};
	const struct trc_diff_row *row;
	size_t n;

	if (trc_diff_sum(&sums, m, "fuzz.trc", true, &error)) {
		promise(*error.text, "a failure has a text");
		return;
	}
	if (!trc_diff_compare(&diff, &sums, 1, sums)) {
		row = trc_diff_rows(diff, &n);
		promise(!n || !row[0].changed, "a trace is as itself");
		trc_diff_print(diff, out, 100, false);
	}
	trc_diff_free(diff);
	trc_diff_sums_free(sums);
}

static void look_for_controls(const char *text, size_t n_bytes)
{
	for (size_t i = 0; i < n_bytes; i++)
		promise((uint8_t)text[i] >= ' ' || text[i] == '\n', "no control character");
}

static void reports(struct trc_model *m)
{
	char *text = NULL;
	size_t n_bytes = 0;
	FILE *out = open_memstream(&text, &n_bytes);

	promise(out, "memory");
	report(m, out);
	comparison(m, out);
	fclose(out);
	look_for_controls(text, n_bytes);
	free(text);
}

/* ---- instead of format/symbols.c ----
 *
 * Looking into real files takes most of a run's time, and is fuzz_symbols.c's: here names are made
 * up, so that some addresses have one, some several, and some none. */

static const char made_up[] = "name";

int trc_symbols_open(struct trc_symbols **out, enum trc_symbols_how how)
{
	*out = (struct trc_symbols *)(uintptr_t)made_up;
	return 0;
}

void trc_symbols_close(struct trc_symbols *s)
{
}

size_t trc_symbols_find(struct trc_symbols *s, const struct trc_module_entry *module,
			uint64_t address, struct trc_symbol out[TRC_SYMBOL_INLINE_MAX])
{
	size_t n = address / 7 % 4;

	promise(strlen(module->path) > 0 || !*module->path, "a path");
	for (size_t i = 0; i < n; i++)
		out[i] = (struct trc_symbol){.function = made_up + address % 3,
					     .file = address & 1 ? made_up : NULL,
					     .line = (uint32_t)address,
					     .inlined = i + 1 < n};
	return n;
}

size_t trc_symbols_tail_calls(struct trc_symbols *s, const struct trc_module_entry *module,
			      uint64_t return_address, uint64_t out[TRC_SYMBOL_TAIL_MAX])
{
	size_t n = return_address / 5 % (TRC_SYMBOL_TAIL_MAX + 1);

	for (size_t i = 0; i < n; i++)
		out[i] = return_address + i;
	return n;
}

uint64_t trc_symbols_start(struct trc_symbols *s, const struct trc_module_entry *module,
			   uint64_t address)
{
	return address & 2 ? address & ~UINT64_C(15) : 0;
}

const char *trc_symbols_variable(struct trc_symbols *s, const struct trc_module_entry *module,
				 uint64_t address, uint64_t *offset)
{
	*offset = address & 15;
	return address & 16 ? made_up : NULL;
}

const char *trc_symbols_member(struct trc_symbols *s, const struct trc_module_entry *module,
			       uint64_t address, uint64_t *offset)
{
	*offset = address & 7;
	return address & 16 && address & 8 ? ".made[1].up" : "";
}

const char *trc_symbols_trouble(struct trc_symbols *s, const struct trc_module_entry *module)
{
	return module->start & 0x1000 ? "not found" : NULL;
}

/* ---- a trace ---- */

/* Some rows of each table; a damaged block may well end them. */
static void read_table(sqlite3 *db, const char *name)
{
	char *sql = sqlite3_mprintf("SELECT * FROM \"%w\"", name);
	sqlite3_stmt *s = NULL;

	promise(sqlite3_prepare_v2(db, sql, -1, &s, NULL) == SQLITE_OK, "a table can be read");
	for (int i = 0; i < ROWS_MAX && sqlite3_step(s) == SQLITE_ROW; i++)
		for (int c = 0; c < sqlite3_column_count(s); c++)
			sqlite3_column_bytes(s, c);
	sqlite3_finalize(s);
	sqlite3_free(sql);
}

static void tables(struct trc_model *m)
{
	struct trc_error error = {""};
	char *names = NULL, *name, *rest = NULL;
	size_t n_bytes = 0;
	FILE *out = open_memstream(&names, &n_bytes);
	sqlite3 *db;

	promise(out, "memory");
	trc_sql_print_names(out, m);
	fclose(out);
	if (trc_sql_open(&db, m, &error)) {
		promise(*error.text, "an error has a text");
	} else {
		for (name = strtok_r(names, "\n", &rest); name; name = strtok_r(NULL, "\n", &rest))
			read_table(db, name);
		sqlite3_close(db);
	}
	free(names);
}

static uint32_t sum_of(const uint8_t *bytes, size_t n_bytes)
{
	uint32_t sum = 0;

	for (size_t i = 0; i < n_bytes; i++)
		sum = sum * 31 + bytes[i];
	return sum;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n_bytes)
{
	struct trc_error error = {""};
	struct trc_model *m = NULL;
	struct trc_reader *r;
	uint8_t *copy = malloc(n_bytes ? n_bytes : 1);

	promise(copy, "memory");
	memcpy(copy, bytes, n_bytes);
	trc_repair(copy, n_bytes);
	if (trc_reader_open_memory(&r, copy, n_bytes, &error) < 0 ||
	    trc_model_open_reader(&m, r, &error) < 0) {
		promise(*error.text, "an error has a text");
		m = NULL;
	}
	if (m && trc_model_need(m, TRC_PART_ALL | TRC_PART_OBJECTS, &error) < 0) {
		promise(*error.text, "an error has a text");
	} else if (m) {
		check(m);
		reports(m);
		blame(m);
		if (sum_of(bytes, n_bytes) % TABLES_EVERY == 0)
			tables(m);
	}
	trc_model_close(m);
	free(copy);
	return 0;
}
