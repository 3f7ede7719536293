/*
 * verb_diff.c - trace-analyze --diff A.trc[,A2.trc,...] B.trc: what changed since A.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "cli.h"
#include "width.h"
#include "analyzer/diff/diff.h"

/* A trace before. */
struct before {
	char *path;
	struct trc_model *model;
	struct trc_ring_trace ring;
};

struct comparison {
	struct before before[TRC_DIFF_BASELINES_MAX];
	struct trc_diff_sums *sums[TRC_DIFF_BASELINES_MAX + 1]; /* the last is that of the trace */
	size_t n;
	bool same_build;
};

/* The next name of the list, in which a backslash makes a comma part of the name.  The caller's
 * to free. */
static char *next_path(const char **list)
{
	char *path = malloc(strlen(*list) + 1);
	size_t n = 0;

	for (; path && **list && **list != ','; (*list)++) {
		if (**list == '\\' && (*list)[1] == ',')
			(*list)++;
		path[n++] = **list;
	}
	*list += **list == ',';
	if (path)
		path[n] = '\0';
	return path;
}

static int check_diff(struct trc_cli *cli, const struct trc_request *request)
{
	const char *list = request->arg;
	size_t n = 1;

	for (const char *at = list; *at; at++)
		n += *at == ',' && (at == list || at[-1] != '\\');
	if (!*list || *list == ',' || strstr(list, ",,") || list[strlen(list) - 1] == ',') {
		trc_cli_error(cli, "--diff A.trc[,A2.trc,...] B.trc: the name of a trace is empty");
		return -EINVAL;
	}
	if (n > TRC_DIFF_BASELINES_MAX) {
		trc_cli_error(cli, "--diff takes at most %d traces, not %zu",
			      TRC_DIFF_BASELINES_MAX, n);
		return -EINVAL;
	}
	return 0;
}

/* Opening is cheap: all are, since names depend on whether all have the same build. */
static int open_before(struct trc_cli *cli, struct comparison *c, const char *list)
{
	c->same_build = true;
	while (*list) {
		struct before *before = &c->before[c->n++];
		struct trc_error error = {""};
		const char *trace = cli->path;
		int err;

		before->path = next_path(&list);
		err = before->path
			      ? trc_open_model(&before->model, &before->ring, before->path, &error)
			      : -ENOMEM;
		if (!err) {
			trc_model_share_symbols(before->model, &cli->symbols);
			c->same_build &= trc_diff_same_build(before->model, cli->model);
			continue;
		}
		cli->path = before->path;
		trc_cli_error(cli, "%s", before->path ? error.text : "out of memory");
		cli->path = trace;
		return err;
	}
	return 0;
}

static void close_before(struct before *before)
{
	trc_model_close(before->model);
	trc_ring_trace_free(&before->ring);
	before->model = NULL;
	before->ring = (struct trc_ring_trace){0};
}

static bool diff_is_again(const struct comparison *c, size_t i)
{
	static const uint8_t none[sizeof(((struct trc_file_info *)NULL)->trace_uuid)];
	const struct trc_file_info *info = trc_reader_info(trc_model_reader(c->before[i].model));

	for (size_t before = 0; before < i; before++)
		if (!memcmp(info->trace_uuid,
			    trc_reader_info(trc_model_reader(c->before[before].model))->trace_uuid,
			    sizeof(info->trace_uuid)) &&
		    memcmp(info->trace_uuid, none, sizeof(none)) != 0)
			return true;
	return false;
}

/* A trace that counts twice would make runs seem alike. */
static int check_each_once(struct trc_cli *cli, const struct comparison *c)
{
	for (size_t i = 0; i < c->n; i++) {
		if (!diff_is_again(c, i))
			continue;
		trc_cli_error(cli, "--diff names the same trace twice: %s", c->before[i].path);
		return -EINVAL;
	}
	return 0;
}

/* One after the other, so that only one of them is in memory besides the trace. */
static int diff_sum_all(struct trc_cli *cli, struct comparison *c)
{
	struct trc_error error = {""};
	const char *trace = cli->path;
	int err = 0;

	for (size_t i = 0; i < c->n && !err; i++) {
		trc_progress_watch(c->before[i].model);
		err = trc_diff_sum(&c->sums[i], c->before[i].model, c->before[i].path,
				   c->same_build, &error);
		trc_progress_clear();
		if (err)
			cli->path = c->before[i].path;
		else
			close_before(&c->before[i]);
	}
	if (!err)
		err = trc_diff_sum(&c->sums[c->n], cli->model, cli->path, c->same_build, &error);
	trc_progress_clear();
	if (err)
		trc_cli_error(cli, "%s", error.text);
	cli->path = trace;
	return err;
}

/* ---- rows for programs ---- */

static void bind_number(sqlite3_stmt *insert, int at, double value)
{
	if (isnan(value))
		sqlite3_bind_null(insert, at);
	else
		sqlite3_bind_double(insert, at, value);
}

/* Numbers with blanks between them; the caller's to free. */
static char *each_text(const struct trc_diff *diff, const struct trc_diff_row *row)
{
	enum { BYTES = 32 };
	size_t n = trc_diff_n_before(diff), used = 0;
	char *text = malloc(n * BYTES + 1);

	for (size_t i = 0; text && i < n; i++)
		used += (size_t)snprintf(text + used, BYTES, "%s%.9g", i ? " " : "", row->each[i]);
	return text;
}

static int insert_row(sqlite3_stmt *insert, const struct trc_diff *diff,
		      const struct trc_diff_row *row)
{
	int at = 1, err;
	char *each = each_text(diff, row);

	if (!each)
		return -ENOMEM;
	sqlite3_bind_int(insert, at++, row->changed);
	sqlite3_bind_text(insert, at++, trc_diff_row_kind(row), -1, SQLITE_STATIC);
	sqlite3_bind_text(insert, at++, row->name, -1, SQLITE_STATIC);
	sqlite3_bind_text(insert, at++, trc_diff_row_measure(row), -1, SQLITE_STATIC);
	sqlite3_bind_text(insert, at++, trc_diff_row_unit(diff, row), -1, SQLITE_STATIC);
	bind_number(insert, at++, row->before);
	bind_number(insert, at++, row->after);
	bind_number(insert, at++, row->change);
	bind_number(insert, at++, row->low);
	bind_number(insert, at++, row->high);
	bind_number(insert, at++, row->p);
	bind_number(insert, at++, row->sure_from);
	sqlite3_bind_text(insert, at++, each, -1, free);
	bind_number(insert, at++, row->between);
	err = sqlite3_step(insert) == SQLITE_DONE ? 0 : -EIO;
	sqlite3_reset(insert);
	return err;
}

static int insert_rows(sqlite3 *db, const struct trc_diff *diff)
{
	size_t n;
	const struct trc_diff_row *row = trc_diff_rows(diff, &n);
	sqlite3_stmt *insert = NULL;
	int err = 0;

	if (sqlite3_exec(
		    db,
		    "CREATE TABLE diff(changed INTEGER, kind TEXT, name TEXT, measure TEXT, unit TEXT, "
		    "before REAL, now REAL, change REAL, change_low REAL, change_high REAL, p REAL, "
		    "sure_from REAL, before_each TEXT, between_runs REAL)",
		    NULL, NULL, NULL) ||
	    sqlite3_prepare_v2(db, "INSERT INTO diff VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?)", -1,
			       &insert, NULL))
		err = -EIO;
	for (size_t i = 0; i < n && !err; i++)
		err = insert_row(insert, diff, &row[i]);
	sqlite3_finalize(insert);
	return err;
}

/* All rows, as a query of a table that only exists for that. */
static int diff_print_rows(struct trc_cli *cli, const struct trc_diff *diff)
{
	struct trc_error error = {"out of memory"};
	sqlite3 *db = NULL;
	int err = sqlite3_open(":memory:", &db) ? -ENOMEM : insert_rows(db, diff);

	if (*trc_diff_incomplete(diff))
		trc_cli_error(cli, "warning: incomplete: %s", trc_diff_incomplete(diff));
	if (*trc_diff_differences(diff))
		trc_cli_error(cli, "warning: recorded differently: %s", trc_diff_differences(diff));
	if (!err)
		err = trc_output_query(db, "SELECT * FROM diff", cli->output, stdout, &error);
	sqlite3_close(db);
	if (err)
		trc_cli_error(cli, "%s", error.text);
	return err;
}

static int diff_compare(struct trc_cli *cli, struct comparison *c)
{
	struct trc_diff *diff = NULL;
	int err = trc_diff_compare(&diff, c->sums, c->n, c->sums[c->n]);

	if (err)
		trc_cli_error(cli, "out of memory");
	else if (cli->output != TRC_OUTPUT_TABLE)
		err = diff_print_rows(cli, diff);
	else
		trc_diff_print(diff, stdout, trc_cli_width(), cli->color);
	trc_diff_free(diff);
	return err;
}

static int run_diff(struct trc_cli *cli, const struct trc_request *request)
{
	struct comparison c = {.n = 0};
	int err = open_before(cli, &c, request->arg);

	if (!err)
		err = check_each_once(cli, &c);
	if (!err)
		err = diff_sum_all(cli, &c);
	if (!err)
		err = diff_compare(cli, &c);
	for (size_t i = 0; i < c.n; i++) {
		close_before(&c.before[i]);
		free(c.before[i].path);
		trc_diff_sums_free(c.sums[i]);
	}
	trc_diff_sums_free(c.sums[c.n]);
	return err ? TRC_EXIT_FAILED : TRC_EXIT_OK;
}

const struct trc_verb trc_verb_diff = {
	.name = "diff",
	.arg_name = "A[,A2,...]",
	.doc = "what changed since the traces A: tasks, locks, CPU, threads, memory, waits",
	.run = run_diff,
	.check = check_diff,
};
