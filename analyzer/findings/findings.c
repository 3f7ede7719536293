/* findings.c - the list of findings; see findings.h. */
#include "findings.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "parts.h"
#include "print.h"
#include "analyzer/why/words.h"

/* ---- what all that find share ---- */

/* Of ever so many findings as many stay as could be told, and each is large. */
enum { FOUND_MAX = 64 };

/* The one with the smallest cost, if the new one costs more; NULL: the new one is dropped. */
static struct trc_finding *least(const struct trc_array *found, const struct trc_finding *finding)
{
	struct trc_finding *f = found->row, *least = NULL;

	for (size_t i = 0; i < found->n; i++)
		if (f[i].severity == TRC_SEVERITY_COST && (!least || f[i].cost_ns < least->cost_ns))
			least = &f[i];
	return least && (finding->severity != TRC_SEVERITY_COST ||
			 finding->cost_ns > least->cost_ns)
		       ? least
		       : NULL;
}

int trc_finding_add(struct trc_array *out, const struct trc_finding *finding,
		    struct trc_line *sentence)
{
	bool full = out->n >= FOUND_MAX;
	struct trc_finding *added = full ? least(out, finding) : trc_array_add(out);

	if (!added)
		return full ? 0 : -ENOMEM;
	*added = *finding;
	snprintf(added->sentence, sizeof(added->sentence), "%s", trc_line_text(sentence));
	return 0;
}

void trc_finding_line(struct trc_line *line)
{
	trc_line_begin(line, TRC_FINDING_WIDTH, false);
}

void trc_finding_set_why(struct trc_finding *f, struct trc_line *line)
{
	snprintf(f->why, sizeof(f->why), "%s", trc_line_text(line));
}

void trc_finding_threads(struct trc_line *line, uint64_t n)
{
	char number[TRC_NUMBER_BYTES];

	trc_line_add(line, "%s thread%s", trc_text_count(number, n), n == 1 ? "" : "s");
}

bool trc_finding_chain(struct trc_report *r, struct trc_line *line, const struct trc_why_tree *tree,
		       uint32_t id)
{
	enum { LINKS = 3 };
	int64_t whole_ns = tree->total_ns;

	id = trc_why_tree_most_of(tree, id);
	if (!id)
		return false;
	for (int i = 0; id && i < LINKS; i++, id = trc_why_tree_most_of(tree, id)) {
		trc_line_add(line, i ? "; of which for " : "for ");
		trc_why_share(r, line, tree, id, whole_ns);
		whole_ns = trc_why_tree_node(tree, id)->total_ns;
	}
	return true;
}

void trc_finding_sql_add(struct trc_finding *f, const char *format, ...)
{
	size_t n = strlen(f->sql);
	va_list args;
	int added;

	va_start(args, format);
	added = vsnprintf(f->sql + n, sizeof(f->sql) - n, format, args);
	va_end(args);
	if (added < 0 || (size_t)added >= sizeof(f->sql) - n)
		f->sql[0] = '\0';
}

/* False if they are more than there is room for. */
static bool add_stacks(const struct trc_report *r, struct trc_finding *f, uint32_t place)
{
	bool any = false;

	for (uint32_t i = 1; i < r->n_canonical; i++) {
		if (r->canonical[i] != place)
			continue;
		if (any && !f->sql[0])
			return false;
		trc_finding_sql_add(f, "%s%u", any ? ", " : " AND stack IN (", i);
		any = true;
	}
	if (any && f->sql[0])
		trc_finding_sql_add(f, ")");
	return any && f->sql[0];
}

void trc_finding_sql_parks(const struct trc_report *r, struct trc_finding *f, unsigned int reason,
			   uint32_t place, uint64_t object)
{
	enum { ORDER_BYTES = 40 };

	trc_finding_sql_add(f, "SELECT * FROM parks WHERE reason = '%s'", trc_reason_name(reason));
	if (!place || !add_stacks(r, f, place) || strlen(f->sql) + ORDER_BYTES > sizeof(f->sql)) {
		f->sql[0] = '\0';
		trc_finding_sql_add(f,
				    "SELECT * FROM parks WHERE reason = '%s' AND object = %" PRId64,
				    trc_reason_name(reason), (int64_t)object);
	}
	trc_finding_sql_add(f, " ORDER BY waited_ns DESC");
}

void trc_finding_sql_reasons(struct trc_finding *finding, uint64_t reasons)
{
	const char *separator = "";

	trc_finding_sql_add(finding, "reason IN (");
	for (unsigned int reason = 0; reason < TRC_REASON_COUNT; reason++) {
		if (!(reasons >> reason & 1))
			continue;
		trc_finding_sql_add(finding, "%s'%s'", separator, trc_reason_name(reason));
		separator = ", ";
	}
	trc_finding_sql_add(finding, ")");
}

/* ---- the list ---- */

struct place {
	uint8_t severity;
	int64_t cost_ns;
	size_t found; /* its place among those found */
};

static bool is_of_procs(unsigned int kind)
{
	return kind == TRC_FINDING_LOCK_PREEMPTED || kind == TRC_FINDING_LOCK_PROCS;
}

/* G1: what a want of procs costs is, for its place, at least what the locks cost that suffer by it. */
static int64_t placed_cost_ns(const struct trc_array *found, const struct trc_finding *f)
{
	const struct trc_finding *other = found->row;
	int64_t cost_ns = f->cost_ns;

	if (f->kind != TRC_FINDING_PROCS && f->kind != TRC_FINDING_PROCS_TAKEN)
		return cost_ns;
	for (size_t i = 0; i < found->n; i++)
		if (is_of_procs(other[i].kind) && other[i].cost_ns >= cost_ns)
			cost_ns = other[i].cost_ns < INT64_MAX ? other[i].cost_ns + 1 : INT64_MAX;
	return cost_ns;
}

/* G1 */
static int compare_places(const void *a, const void *b)
{
	const struct place *x = a, *y = b;

	if (x->severity != y->severity)
		return x->severity < y->severity ? -1 : 1;
	if (x->severity == TRC_SEVERITY_COST && x->cost_ns != y->cost_ns)
		return x->cost_ns > y->cost_ns ? -1 : 1;
	return (x->found > y->found) - (x->found < y->found);
}

/* Sorts them, and leaves the first (G2). */
static int choose(const struct trc_array *found, struct trc_array *out)
{
	struct place *place = calloc(found->n + 1, sizeof(*place));
	const struct trc_finding *f = found->row;
	size_t n_notes = 0, n_rest = 0;
	int err = place ? 0 : -ENOMEM;

	for (size_t i = 0; i < found->n && !err; i++) {
		place[i] = (struct place){f[i].severity, placed_cost_ns(found, &f[i]), i};
		n_notes += f[i].severity == TRC_SEVERITY_NOTE;
	}
	if (!err && found->n)
		qsort(place, found->n, sizeof(*place), compare_places);
	n_notes = n_notes < TRC_FINDINGS_NOTES ? n_notes : TRC_FINDINGS_NOTES;
	for (size_t i = 0; i < found->n && !err && out->n < TRC_FINDINGS_MAX; i++) {
		struct trc_finding *added;

		if (place[i].severity != TRC_SEVERITY_NOTE &&
		    n_rest++ >= TRC_FINDINGS_MAX - n_notes)
			continue;
		added = trc_array_add(out);
		if (added)
			*added = f[place[i].found];
		else
			err = -ENOMEM;
	}
	free(place);
	return err;
}

/* G7 */
static void say_lost(const struct trc_report *r, struct trc_array *findings)
{
	uint64_t lost_events = trc_model_lost_events(r->m);
	char number[TRC_NUMBER_BYTES];

	for (size_t i = 0; i < findings->n && lost_events; i++) {
		struct trc_finding *f = (struct trc_finding *)findings->row + i;
		size_t n = strlen(f->sentence);

		if (f->severity == TRC_SEVERITY_COST)
			snprintf(f->sentence + n, sizeof(f->sentence) - n,
				 " (of what was recorded: %s event%s lost)",
				 trc_text_count(number, lost_events),
				 lost_events == 1 ? " is" : "s are");
	}
}

/* What it needs of a selection (G8), and the kinds that only it finds then. */
static const struct search {
	trc_find_fn *find;
	enum { ANY, ALL_THREADS, WHOLE_TRACE } needs;
	uint8_t kind[2];
} SEARCHES[] = {
	{.find = trc_find_crashes},
	{.find = trc_find_deadlocks},
	{.find = trc_find_abandoned},
	{.find = trc_find_locks},
	{.find = trc_find_interpreters},
	{trc_find_own_locks, WHOLE_TRACE, {TRC_FINDING_OWN_LOCK}},
	{.find = trc_find_short_procs},
	{.find = trc_find_barriers},
	{trc_find_stages, ALL_THREADS, {TRC_FINDING_SLOW_STAGE, TRC_FINDING_LATE_THREAD}},
	{.find = trc_find_last_of_pool, .needs = ALL_THREADS},
	{trc_find_one_worker, ALL_THREADS, {TRC_FINDING_ONE_WORKER}},
	{.find = trc_find_pollers},
	{.find = trc_find_spinners},
	{trc_find_herds, ALL_THREADS, {TRC_FINDING_HERD}},
	{trc_find_waited_for, WHOLE_TRACE, {TRC_FINDING_WAITED_FOR}},
	{.find = trc_find_tails},
	{trc_find_lock_order, WHOLE_TRACE, {TRC_FINDING_LOCK_ORDER}},
	{.find = trc_find_nothing},
	{.find = trc_find_narrowed},
	{.find = trc_find_lost},
	{.find = trc_find_request},
	{.find = trc_find_unnamed},
};
enum { N_SEARCHES = sizeof(SEARCHES) / sizeof(*SEARCHES) };

static bool is_sought(const struct trc_report *r, const struct search *search)
{
	return !r->selection || search->needs == ANY ||
	       (search->needs == ALL_THREADS && trc_report_has_all_threads(r));
}

int trc_finding_seek(struct trc_report *r, trc_find_fn *find, struct trc_array *out)
{
	for (size_t i = 0; i < N_SEARCHES; i++)
		if (SEARCHES[i].find == find && !is_sought(r, &SEARCHES[i]))
			return 0;
	return find(r, out);
}

int trc_find_narrowed(struct trc_report *r, struct trc_array *out)
{
	const struct trc_finding f = {
		.kind = TRC_FINDING_NARROWED,
		.severity = TRC_SEVERITY_NOTE,
		.start_ns = TRC_NEVER,
		.end_ns = TRC_NEVER,
	};
	const char *separator = "not looked for in what is selected: ";
	struct trc_line line;

	if (!r->selection)
		return 0;
	trc_finding_line(&line);
	for (size_t i = 0; i < N_SEARCHES; i++)
		for (int k = 0; k < 2 && SEARCHES[i].kind[k]; k++) {
			if (is_sought(r, &SEARCHES[i]))
				continue;
			trc_line_add(&line, "%s%s", separator,
				     trc_finding_kind_name(SEARCHES[i].kind[k]));
			separator = ", ";
		}
	return trc_finding_add(out, &f, &line);
}

int trc_report_findings(struct trc_report *r, struct trc_array *out)
{
	struct trc_array found = {.row_bytes = sizeof(struct trc_finding)};
	int err = 0;

	*out = (struct trc_array){.row_bytes = sizeof(struct trc_finding)};
	for (size_t i = 0; i < N_SEARCHES && !err; i++)
		err = trc_finding_seek(r, SEARCHES[i].find, &found);
	if (!err)
		err = choose(&found, out);
	say_lost(r, out);
	trc_array_free(&found);
	return err;
}

int trc_findings(struct trc_model *m, struct trc_array *out, struct trc_error *error)
{
	const struct trc_report_options options = {.width = TRC_WIDTH_MAX};
	struct trc_report r;
	int err = trc_report_begin(&r, m, NULL, &options, error);

	*out = (struct trc_array){.row_bytes = sizeof(struct trc_finding)};
	if (!err) {
		err = trc_report_findings(&r, out);
		if (err)
			snprintf(error->text, sizeof(error->text), "findings: %s", strerror(-err));
	}
	trc_report_end(&r);
	return err;
}
