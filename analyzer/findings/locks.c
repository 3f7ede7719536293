/*
 * locks.c - waits for locks: for one lock, or for locks that are alike, wherever they were waited for;
 * or for many locks of which none stands out.
 *
 * Locks that are alike, one for each row of a table, are one cost (group_objects.c).
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "parts.h"

enum {
	CULPRIT_PERCENT = 10, /* who caused less of a lock's time is not named */
	SPREAD_PERCENT = 10,  /* of the threads' time, waited for locks of which none stands out */
	NEARLY_ALL_PART = 50, /* who waited elsewhere for less than such a part is not told */
	GROUPS_MAX = TRC_FINDINGS_LOCKS + 2 /* an interpreter's lock may be among them */
};

struct finder {
	struct trc_report *r;
	struct trc_groups g;
	bool *told;		/* by group */
	struct trc_array waits; /* of a finding: rows of r->park, uint32_t */
	size_t n_told;
};

/* Such waits have their own finding. */
static bool is_deadlocked(const struct trc_report *r, const struct trc_park *park)
{
	size_t n;
	const struct trc_deadlock *row = trc_model_deadlocks(r->m, &n);

	if (park->end_ns != TRC_NEVER)
		return false;
	for (size_t i = 0; i < n; i++)
		if (row[i].thread == park->thread)
			return true;
	return false;
}

/* The whole wait counts, of which the row may be a selected part: an alarm is told whatever is selected. */
static bool is_told_as_alarm(const struct trc_report *r, size_t i)
{
	uint32_t id = trc_report_park_id(r, i);
	size_t n;
	const struct trc_park *park = trc_model_parks(r->m, &n);

	return id && (is_deadlocked(r, &park[id - 1]) || trc_report_is_abandoned(r, &park[id - 1]));
}

static int64_t waited_ns(const struct trc_report *r, size_t i)
{
	return trc_park_end_ns(r->m, &r->park[i]) - trc_park_start_ns(r->m, &r->park[i]);
}

/* Not those of threads that are idle, and so in no group. */
static bool is_lock_wait(const struct finder *f, size_t i)
{
	const struct trc_park *park = &f->r->park[i];

	return f->g.of_row[i] && trc_wait_class(park->reason) == TRC_WAIT_LOCKS &&
	       !is_told_as_alarm(f->r, i);
}

/* ---- the waits of a finding ---- */

/* Of one group, or all that are in no finding; with the longest, their threads and these threads' lifetimes. */
struct chosen {
	uint32_t group; /* 0 = all that are not told */
	uint64_t n_threads;
	int64_t threads_ns;
	uint64_t reasons; /* a bit for each */
};

static bool is_chosen(const struct finder *f, const struct chosen *c, size_t i)
{
	return c->group ? f->g.of_row[i] == c->group : !f->told[f->g.of_row[i]];
}

static void chosen_add_wait(const struct trc_report *r, struct chosen *c,
			    struct trc_finding *finding, size_t i)
{
	const struct trc_park *park = &r->park[i];

	c->reasons |= UINT64_C(1) << park->reason % 64;
	if (!finding->park || waited_ns(r, i) > finding->end_ns - finding->start_ns) {
		finding->thread = park->thread;
		finding->start_ns = trc_park_start_ns(r->m, park);
		finding->end_ns = trc_park_end_ns(r->m, park);
		finding->park = trc_report_park_id(r, i);
	}
	trc_report_add(&finding->cost_ns, waited_ns(r, i));
}

static int choose_waits(struct finder *f, struct chosen *c, struct trc_finding *finding)
{
	const struct trc_report *r = f->r;
	bool *seen = calloc(r->n_threads + 1, sizeof(*seen));
	int err = seen ? 0 : -ENOMEM;

	f->waits.n = 0;
	for (size_t i = 0; i < r->n_parks && !err; i++) {
		const struct trc_thread *thread;
		uint32_t *row;

		if (!is_lock_wait(f, i) || !is_chosen(f, c, i))
			continue;
		row = trc_array_add(&f->waits);
		if (!row) {
			err = -ENOMEM;
			break;
		}
		*row = (uint32_t)i;
		chosen_add_wait(r, c, finding, i);
		thread = trc_model_thread(r->m, r->park[i].thread);
		if (thread && !seen[thread - r->thread]) {
			seen[thread - r->thread] = true;
			c->n_threads++;
			trc_report_add(&c->threads_ns, trc_report_lifetime_ns(r, thread));
		}
	}
	free(seen);
	return err;
}

static bool is_of_interpreter(struct trc_report *r, const struct trc_finding *f)
{
	size_t n;
	const struct trc_park *park = trc_model_parks(r->m, &n);

	return f->park && trc_interpreter_of(r, &park[f->park - 1]);
}

/* G3; an interpreter's lock has its own finding. */
static bool is_worth(struct finder *f, const struct chosen *c, const struct trc_finding *finding)
{
	return finding->cost_ns > 0 && finding->cost_ns >= c->threads_ns / 100 &&
	       !is_of_interpreter(f->r, finding);
}

static void add_share(struct trc_line *line, const struct chosen *c, int64_t total_ns)
{
	char share[TRC_NUMBER_BYTES];

	trc_line_add(line, ", %s of %s time", trc_text_share(share, total_ns, c->threads_ns),
		     c->n_threads == 1 ? "its" : "their");
}

/* ---- queries ---- */

/* The waits' objects; false if they are more than there is room for. */
static bool add_objects(struct finder *f, struct trc_finding *finding)
{
	enum { REST_BYTES = 200 };
	const uint32_t *row = f->waits.row;
	struct trc_index seen = {0};
	bool fits = true;
	uint32_t n = 0;

	trc_finding_sql_add(finding, "SELECT * FROM parks WHERE object IN (");
	for (size_t i = 0; i < f->waits.n && fits; i++) {
		uint64_t object = f->r->park[row[i]].object;
		uint32_t number = trc_index_number(&seen, object);

		fits = number && *finding->sql &&
		       strlen(finding->sql) + REST_BYTES < sizeof(finding->sql);
		if (number == n + 1 && fits)
			trc_finding_sql_add(finding, "%s%" PRId64, n++ ? ", " : "",
					    (int64_t)object);
	}
	trc_index_free(&seen);
	trc_finding_sql_add(finding, ") AND ");
	return fits;
}

static void add_sums_by_object(struct trc_finding *finding, const struct chosen *c)
{
	trc_finding_sql_add(finding, "SELECT object, count(*) AS waits, sum(waited_ns) AS "
				     "waited_ns FROM parks WHERE ");
	trc_finding_sql_reasons(finding, c->reasons);
	trc_finding_sql_add(finding, " GROUP BY object ORDER BY 3 DESC");
}

static void chosen_set_sql(struct finder *f, struct trc_finding *finding, const struct chosen *c)
{
	if (add_objects(f, finding)) {
		trc_finding_sql_reasons(finding, c->reasons);
		trc_finding_sql_add(finding, " ORDER BY waited_ns DESC");
		return;
	}
	finding->sql[0] = '\0';
	add_sums_by_object(finding, c);
}

/* ---- one lock, or locks that are alike ---- */

/* Who caused much of it; false if nobody did. */
static bool say_culprit(struct trc_report *r, struct trc_line *line,
			const struct trc_group_details *d)
{
	int64_t caused_ns = d->by_stack ? d->by_stack_ns : d->by_thread_ns;
	char total[TRC_NUMBER_BYTES], caused[TRC_NUMBER_BYTES];

	if (!d->n_by_threads || caused_ns < d->group->total_ns / 100 * CULPRIT_PERCENT)
		return false;
	if (d->by_stack)
		trc_report_place(r, line, d->by_stack);
	else
		trc_report_thread(r, line, d->by_thread, 30);
	trc_line_add(line, " caused %s of the %s that ", trc_text_duration(caused, caused_ns),
		     trc_text_duration(total, d->group->total_ns));
	trc_finding_threads(line, d->n_threads);
	trc_line_add(line, " waited for ");
	trc_report_what(r, line, d);
	return true;
}

/* All of it at one place. */
static void say_place(struct trc_report *r, struct trc_line *line,
		      const struct trc_group_details *d, unsigned int kind)
{
	bool held = kind != TRC_FINDING_LOCK_CONVOY && kind != TRC_FINDING_LOCK_PROCS;
	int64_t total_ns = d->group->total_ns;
	char total[TRC_NUMBER_BYTES], share[TRC_NUMBER_BYTES];

	if (!held || !say_culprit(r, line, d)) {
		trc_finding_threads(line, d->n_threads);
		trc_line_add(line, " waited %s for ", trc_text_duration(total, total_ns));
		trc_report_what(r, line, d);
		if (d->group->stack) {
			trc_line_add(line, " at ");
			trc_report_place(r, line, d->group->stack);
		}
	}
	trc_line_add(line, ", %s of %s time", trc_text_share(share, total_ns, d->threads_ns),
		     d->n_threads == 1 ? "its" : "their");
}

static void say_places(struct trc_report *r, struct trc_line *line,
		       const struct trc_group_details *d, const struct chosen *c, int64_t total_ns)
{
	const struct trc_group *place = d->place->group;
	char total[TRC_NUMBER_BYTES], share[TRC_NUMBER_BYTES];

	trc_finding_threads(line, c->n_threads);
	trc_line_add(line, " waited %s for ", trc_text_duration(total, total_ns));
	trc_report_what(r, line, d);
	if (place->total_ns < d->group->total_ns - d->group->total_ns / NEARLY_ALL_PART)
		trc_line_add(line, " at %u places, %s of it", d->group->n_places,
			     trc_text_share(share, place->total_ns, d->group->total_ns));
	trc_line_add(line, " at ");
	trc_report_place(r, line, place->stack);
	add_share(line, c, total_ns);
}

static int tell_group(struct finder *f, const struct trc_group_details *d, struct trc_array *out)
{
	struct trc_finding finding = {.kind = TRC_FINDING_LOCK, .severity = TRC_SEVERITY_COST};
	struct chosen c = {
		.group = (uint32_t)(d->group - (const struct trc_group *)f->g.groups.row) + 1};
	struct trc_line line;
	int err = choose_waits(f, &c, &finding);

	if (err || !is_worth(f, &c, &finding))
		return err;
	f->told[c.group] = true;
	f->n_told++;
	err = trc_finding_explain(f->r, &finding, &f->waits);
	if (err)
		return err;
	chosen_set_sql(f, &finding, &c);
	trc_finding_line(&line);
	if (d->n_places && d->group->n_places > 1)
		say_places(f->r, &line, d, &c, finding.cost_ns);
	else
		say_place(f->r, &line, d, finding.kind);
	return trc_finding_add(out, &finding, &line);
}

/* ---- many locks ---- */

static int count_locks(const struct finder *f, uint64_t *n_locks, uint64_t *n_places)
{
	const uint32_t *row = f->waits.row;
	struct trc_index locks = {0}, places = {0};
	int err = 0;

	for (size_t i = 0; i < f->waits.n && !err; i++) {
		const struct trc_park *park = &f->r->park[row[i]];
		uint64_t place =
			(uint64_t)park->reason << 32 | trc_report_canonical(f->r, park->stack);

		if (!trc_index_number(&locks, park->object) || !trc_index_number(&places, place))
			err = -ENOMEM;
	}
	*n_locks = locks.n;
	*n_places = places.n;
	trc_index_free(&locks);
	trc_index_free(&places);
	return err;
}

/* Of these none is a finding. */
static int tell_spread(struct finder *f, struct trc_array *out)
{
	struct trc_finding finding = {.kind = TRC_FINDING_LOCK, .severity = TRC_SEVERITY_COST};
	struct chosen c = {0};
	uint64_t n_locks = 0, n_places = 0;
	char total[TRC_NUMBER_BYTES], locks[TRC_NUMBER_BYTES], places[TRC_NUMBER_BYTES];
	struct trc_line line;
	int err = choose_waits(f, &c, &finding);

	if (!err)
		err = count_locks(f, &n_locks, &n_places);
	if (err || n_locks < 2 || finding.cost_ns <= 0 ||
	    finding.cost_ns / SPREAD_PERCENT < c.threads_ns / 100 ||
	    is_of_interpreter(f->r, &finding))
		return err;
	err = trc_finding_explain(f->r, &finding, &f->waits);
	if (err)
		return err;
	add_sums_by_object(&finding, &c);
	trc_finding_line(&line);
	trc_finding_threads(&line, c.n_threads);
	trc_line_add(&line, " waited %s for %s%s locks at %s places",
		     trc_text_duration(total, finding.cost_ns), f->n_told ? "another " : "",
		     trc_text_count(locks, n_locks), trc_text_count(places, n_places));
	add_share(&line, &c, finding.cost_ns);
	trc_line_add(&line, "; none of them has much of it");
	return trc_finding_add(out, &finding, &line);
}

static int find_locks(struct finder *f, struct trc_array *out)
{
	const struct trc_group_details *d = trc_groups_details(&f->g, TRC_WAIT_LOCKS);
	int err = 0;

	for (size_t i = 0; !err && f->n_told < TRC_FINDINGS_LOCKS && i < f->g.n_of[TRC_WAIT_LOCKS];
	     i++)
		err = tell_group(f, &d[i], out);
	if (!err && f->n_told < TRC_FINDINGS_LOCKS)
		err = tell_spread(f, out);
	return err;
}

int trc_find_locks(struct trc_report *r, struct trc_array *out)
{
	struct finder f = {.r = r, .waits = {.row_bytes = sizeof(uint32_t)}};
	int err = trc_groups_of_objects(&f.g, r, GROUPS_MAX);

	f.told = calloc(f.g.groups.n + 1, sizeof(*f.told));
	if (!err)
		err = f.told ? find_locks(&f, out) : -ENOMEM;
	trc_groups_free(&f.g);
	trc_array_free(&f.waits);
	free(f.told);
	return err;
}
