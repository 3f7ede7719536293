/* findings.c - the list of findings; see findings.h. */
#include "findings.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "finding_parts.h"
#include "why_words.h"

/* ---- what all that find share ---- */

int trc_finding_add(struct trc_array *out, const struct trc_finding *finding,
		    struct trc_line *sentence)
{
	struct trc_finding *added = trc_array_add(out);

	if (!added)
		return -ENOMEM;
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

	id = trc_why_tree_most_of(tree, id);
	if (!id)
		return false;
	for (int i = 0; id && i < LINKS; i++, id = trc_why_tree_most_of(tree, id)) {
		trc_line_add(line, i ? "; of which for " : "for ");
		trc_why_share(r, line, tree, id);
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

	if (r->selection)
		return; /* which SQL does not obey */
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

int trc_report_findings(struct trc_report *r, struct trc_array *out)
{
	static trc_find_fn *const FIND[] = {
		trc_find_crashes,     trc_find_deadlocks, trc_find_locks,  trc_find_interpreters,
		trc_find_short_procs, trc_find_barriers,  trc_find_stages, trc_find_last_of_pool,
		trc_find_one_worker,  trc_find_pollers,	  trc_find_herds,  trc_find_tails,
		trc_find_lock_order,  trc_find_nothing,	  trc_find_lost,
	};
	struct trc_array found = {.row_bytes = sizeof(struct trc_finding)};
	int err = 0;

	*out = (struct trc_array){.row_bytes = sizeof(struct trc_finding)};
	for (size_t i = 0; i < sizeof(FIND) / sizeof(*FIND) && !err; i++)
		err = FIND[i](r, &found);
	if (!err)
		err = choose(&found, out);
	say_lost(r, out);
	trc_array_free(&found);
	return err;
}

int trc_findings(struct trc_model *m, struct trc_array *out, struct trc_error *error)
{
	const struct trc_report_options options = {0};
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
