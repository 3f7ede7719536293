/*
 * sqlbox_some.c - tables of which the SQL box has some rows: causes of the waits that rows_causes.c chose, and paths of the tasks that
 * rows_paths.c chose; in a page of a part, the times of the part's tasks and regions.
 *
 * A model that keeps the lists of these times knows where the rows of each task begin (trc_task_rows_first()), so that the part's
 * rows are found without a look at the others.
 */
#include <errno.h>
#include <string.h>

#include "analyzer/causes/task_times.h"
#include "sqlbox.h"

static const struct of_tasks {
	const char *table, *column, *owners;
	enum trc_kept_kind kind;
	enum trc_selected_table selected;
} tables[] = {
	{"task_spans", "task", "tasks", TRC_KEPT_TASK_SPANS, TRC_SELECTED_TASKS},
	{"task_times", "task", "tasks", TRC_KEPT_TASK_TIMES, TRC_SELECTED_TASKS},
	{"region_times", "region", "regions", TRC_KEPT_REGION_TIMES, TRC_SELECTED_REGIONS},
};

static const struct of_tasks *of_tasks_find(const char *table)
{
	for (size_t i = 0; i < sizeof(tables) / sizeof(*tables); i++)
		if (!strcmp(tables[i].table, table))
			return &tables[i];
	return NULL;
}

static size_t n_owners(const struct trc_model *m, const struct of_tasks *t)
{
	size_t n;

	if (t->selected == TRC_SELECTED_TASKS)
		trc_model_tasks(m, &n);
	else
		trc_model_regions(m, &n);
	return n;
}

/* The rowids of the part's rows, as JSON: a pair for each run of them. */
static void some_add_runs(sqlite3_str *sql, const struct trc_rows *r, const struct of_tasks *t,
			  const uint32_t *first, struct trc_sqlbox_some *some)
{
	size_t n = n_owners(r->m, t), from = 0, to = 0; /* of the run */

	some->n_whole = first[n];
	TRC_CUT_EACH (i, r->cut, t->selected, n) {
		if (first[i] == first[i + 1])
			continue;
		some->n_rows += first[i + 1] - first[i];
		if (first[i] > to || !to) {
			if (to)
				sqlite3_str_appendf(sql, "[%llu,%llu],",
						    (unsigned long long)from + 1,
						    (unsigned long long)to);
			from = first[i];
		}
		to = first[i + 1];
	}
	if (to)
		sqlite3_str_appendf(sql, "[%llu,%llu]", (unsigned long long)from + 1,
				    (unsigned long long)to);
}

/* A model that keeps no lists is asked once. */
static char *from_owners(sqlite3 *db, const struct of_tasks *t)
{
	return sqlite3_mprintf("main.\"%w\" AS t WHERE \"%w\" IN (SELECT id FROM \"%w\") "
			       "ORDER BY t.rowid",
			       t->table, t->column, t->owners);
}

static char *from_runs(sqlite3 *db, const struct trc_rows *r, const struct of_tasks *t,
		       const uint32_t *first, struct trc_sqlbox_some *some)
{
	sqlite3_str *sql = sqlite3_str_new(db);

	sqlite3_str_appendall(sql, "json_each('[");
	some_add_runs(sql, r, t, first, some);
	sqlite3_str_appendf(sql,
			    "]') AS w CROSS JOIN main.\"%w\" AS t ON t.rowid BETWEEN "
			    "json_extract(w.value, '$[0]') AND json_extract(w.value, '$[1]')",
			    t->table);
	return sqlite3_str_finish(sql);
}

/* Takes the text of `sql`. */
static int some_from(struct trc_sqlbox_some *some, sqlite3_str *sql)
{
	*some = (struct trc_sqlbox_some){.from = sqlite3_str_finish(sql)};
	return some->from ? 0 : -ENOMEM;
}

int trc_sqlbox_some_causes(struct trc_sqlbox_some *some, sqlite3 *db, const struct trc_rows *r)
{
	sqlite3_str *sql = sqlite3_str_new(db);

	sqlite3_str_appendall(sql, "json_each('[");
	for (size_t i = 0; i < r->n_caused; i++)
		sqlite3_str_appendf(sql, i ? ",%u" : "%u", r->caused[i]);
	sqlite3_str_appendall(sql, "]') AS w CROSS JOIN causes AS t ON t.wait = w.value");
	return some_from(some, sql);
}

/* The user's ids, of which a broken trace may have some twice: each is asked for once. */
int trc_sqlbox_some_paths(struct trc_sqlbox_some *some, sqlite3 *db, const struct trc_rows *r)
{
	sqlite3_str *sql = sqlite3_str_new(db);
	size_t n;
	const struct trc_task *task = trc_model_tasks(r->m, &n);

	sqlite3_str_appendall(sql, "(SELECT value FROM json_each('[");
	for (size_t i = 0; i < r->n_pathed; i++)
		sqlite3_str_appendf(sql, i ? ",%lld" : "%lld", (long long)task[r->pathed[i]].task);
	sqlite3_str_appendall(sql, "]') GROUP BY value ORDER BY min(key)) AS w "
				   "CROSS JOIN task_path AS t ON t.task = w.value");
	return some_from(some, sql);
}

int trc_sqlbox_some(struct trc_sqlbox_some *some, sqlite3 *db, const struct trc_rows *r,
		    const char *table)
{
	const struct of_tasks *t = r->cut->selection ? of_tasks_find(table) : NULL;
	const uint32_t *first = NULL;
	struct trc_error error;
	int err;

	*some = (struct trc_sqlbox_some){0};
	if (!t)
		return 0;
	err = trc_task_rows_first(r->m, t->kind, &first, &error);
	if (err)
		return err;
	some->is_counted = first;
	some->from = first ? from_runs(db, r, t, first, some) : from_owners(db, t);
	return some->from ? 0 : -ENOMEM;
}
