/*
 * finding_locks.c - waits for locks: at one place, for one lock at several places, or for many locks at
 * many places.
 *
 * Where most of a place's waits are for one lock, and others wait for it at other places, the lock is
 * told and not the place: all that it costs is one cost.  Where a place has many locks, one for each row of a
 * table, the place is told.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include "finding_parts.h"
#include "format/check.h"

enum {
	LOCK_NOT_PLACE_PERCENT = 125, /* of its largest place's time: then the lock is told */
	CULPRIT_PERCENT = 10,	      /* who caused less of a place's time is not named */
	SPREAD_PERCENT = 10 /* of the threads' time, waited for locks of which none stands out */
};

struct lock {
	uint64_t object, reasons; /* a bit for each reason of its waits */
	int64_t total_ns, told_ns, place_ns;
	uint32_t n_places, place; /* the one with most of its time: canonical */
	uint8_t reason;		  /* there */
	bool told;		  /* some of its waits, told_ns, are in a finding */
};

/* Waits for one lock, for one reason, at one place. */
struct place {
	int64_t ns;
};

struct finder {
	struct trc_report *r;
	struct trc_groups g;
	struct trc_array locks, places;	    /* struct lock, struct place */
	struct trc_index lock_of, place_of; /* numbers: rows + 1 */
	struct trc_array waits;		    /* of a finding: rows of r->park, uint32_t */
	size_t told;			    /* findings */
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

static int64_t waited_ns(const struct trc_report *r, size_t i)
{
	return trc_park_end_ns(r->m, &r->park[i]) - trc_park_start_ns(r->m, &r->park[i]);
}

/* Not those of threads that are idle, and so in no group. */
static bool is_lock_wait(const struct finder *f, size_t i)
{
	const struct trc_park *park = &f->r->park[i];

	return f->g.of_row[i] && trc_wait_class(park->reason) == TRC_WAIT_LOCKS &&
	       !is_deadlocked(f->r, park);
}

/* ---- locks and their places ---- */

static struct lock *lock_of(const struct finder *f, uint64_t object)
{
	uint32_t at = trc_index_get(&f->lock_of, object);

	return at == TRC_INDEX_NONE ? NULL : (struct lock *)f->locks.row + (at - 1);
}

/* The row of this number; a new one for the number that follows the last. */
static void *numbered(struct trc_array *rows, uint32_t number)
{
	if (number > rows->n)
		return trc_array_add(rows);
	return number ? (char *)rows->row + (number - 1) * rows->row_bytes : NULL;
}

static int add_lock_wait(struct finder *f, size_t i)
{
	const struct trc_park *park = &f->r->park[i];
	const uint64_t key[] = {park->object, park->reason,
				trc_report_canonical(f->r, park->stack)};
	struct lock *lock = numbered(&f->locks, trc_index_number(&f->lock_of, park->object));
	size_t n_places = f->places.n;
	struct place *place = numbered(
		&f->places, trc_index_number(&f->place_of, trc_check64(key, sizeof(key), 0)));

	if (!lock || !place)
		return -ENOMEM;
	lock->object = park->object;
	lock->reasons |= UINT64_C(1) << park->reason % 64;
	lock->n_places += f->places.n > n_places;
	trc_report_add(&lock->total_ns, waited_ns(f->r, i));
	trc_report_add(&place->ns, waited_ns(f->r, i));
	if (place->ns > lock->place_ns) {
		lock->place_ns = place->ns;
		lock->place = (uint32_t)key[2];
		lock->reason = park->reason;
	}
	return 0;
}

/* ---- the waits of a finding ---- */

/* Of one group, of one lock, or all that are in no finding; with the longest, their threads and these threads'
 * lifetimes. */
struct chosen {
	uint32_t group; /* 0 = any */
	const struct lock *lock;
	uint64_t n_threads;
	int64_t threads_ns;
};

static bool is_chosen(const struct finder *f, const struct chosen *c, size_t i)
{
	if (c->group)
		return f->g.of_row[i] == c->group;
	if (c->lock)
		return f->r->park[i].object == c->lock->object;
	return !lock_of(f, f->r->park[i].object)->told;
}

static int choose_waits(struct finder *f, struct chosen *c, struct trc_finding *finding)
{
	const struct trc_report *r = f->r;
	bool *seen = calloc(r->n_threads + 1, sizeof(*seen));
	int64_t longest_ns = -1;
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
		trc_report_add(&finding->cost_ns, waited_ns(r, i));
		if (waited_ns(r, i) > longest_ns) {
			longest_ns = waited_ns(r, i);
			finding->thread = r->park[i].thread;
			finding->start_ns = trc_park_start_ns(r->m, &r->park[i]);
			finding->end_ns = trc_park_end_ns(r->m, &r->park[i]);
			finding->park = trc_report_park_id(r, i);
		}
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

static void mark_told(struct finder *f)
{
	const uint32_t *row = f->waits.row;

	for (size_t i = 0; i < f->waits.n; i++) {
		struct lock *lock = lock_of(f, f->r->park[row[i]].object);

		lock->told = true;
		trc_report_add(&lock->told_ns, waited_ns(f->r, row[i]));
	}
	f->told++;
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

/* ---- one place ---- */

static void say_place(struct trc_report *r, struct trc_line *line,
		      const struct trc_group_details *d)
{
	int64_t total_ns = d->group->total_ns;
	int64_t caused_ns = d->by_stack ? d->by_stack_ns : d->by_thread_ns;
	char total[TRC_NUMBER_BYTES], caused[TRC_NUMBER_BYTES], share[TRC_NUMBER_BYTES];

	trc_text_duration(total, total_ns);
	if (d->n_by_threads && caused_ns >= total_ns / 100 * CULPRIT_PERCENT) {
		if (d->by_stack)
			trc_report_place(r, line, d->by_stack);
		else
			trc_report_thread(r, line, d->by_thread, 30);
		trc_line_add(line, " caused %s of the %s that ",
			     trc_text_duration(caused, caused_ns), total);
		trc_finding_threads(line, d->n_threads);
		trc_line_add(line, " waited for ");
		trc_report_what(r, line, d);
	} else {
		trc_finding_threads(line, d->n_threads);
		trc_line_add(line, " waited %s for ", total);
		trc_report_what(r, line, d);
		if (d->group->stack) {
			trc_line_add(line, " at ");
			trc_report_place(r, line, d->group->stack);
		}
	}
	trc_line_add(line, ", %s of %s time", trc_text_share(share, total_ns, d->threads_ns),
		     d->n_threads == 1 ? "its" : "their");
}

static int tell_place(struct finder *f, const struct trc_group_details *d, struct trc_array *out)
{
	struct trc_finding finding = {.kind = TRC_FINDING_LOCK, .severity = TRC_SEVERITY_COST};
	struct chosen c = {
		.group = (uint32_t)(d->group - (const struct trc_group *)f->g.groups.row) + 1};
	struct trc_line line;
	int err = choose_waits(f, &c, &finding);

	if (err || !is_worth(f, &c, &finding))
		return err;
	mark_told(f);
	err = trc_finding_explain(f->r, &finding, &f->waits);
	if (err)
		return err;
	trc_finding_sql_parks(f->r, &finding, d->group->reason, d->group->stack, d->object);
	trc_finding_line(&line);
	say_place(f->r, &line, d);
	return trc_finding_add(out, &finding, &line);
}

/* ---- one lock ---- */

static void add_reasons(struct trc_finding *finding, uint64_t reasons)
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

static int tell_lock(struct finder *f, struct lock *lock, struct trc_array *out)
{
	struct trc_finding finding = {.kind = TRC_FINDING_LOCK, .severity = TRC_SEVERITY_COST};
	struct chosen c = {.lock = lock};
	char total[TRC_NUMBER_BYTES], share[TRC_NUMBER_BYTES];
	struct trc_line line;
	int err = choose_waits(f, &c, &finding);

	if (err || !is_worth(f, &c, &finding))
		return err;
	mark_told(f);
	err = trc_finding_explain(f->r, &finding, &f->waits);
	if (err)
		return err;
	if (!f->r->selection) {
		trc_finding_sql_add(&finding, "SELECT * FROM parks WHERE object = %" PRId64 " AND ",
				    (int64_t)lock->object);
		add_reasons(&finding, lock->reasons);
		trc_finding_sql_add(&finding, " ORDER BY waited_ns DESC");
	}
	trc_finding_line(&line);
	trc_finding_threads(&line, c.n_threads);
	trc_line_add(&line, " waited %s for %s", trc_text_duration(total, finding.cost_ns),
		     trc_reason_name(lock->reason));
	trc_report_object(f->r, &line, lock->reason, lock->object, lock->place);
	trc_line_add(&line, " at ");
	if (lock->n_places > 1)
		trc_line_add(&line, "%u places, %s of it at ", lock->n_places,
			     trc_text_share(share, lock->place_ns, finding.cost_ns));
	trc_report_place(f->r, &line, lock->place);
	add_share(&line, &c, finding.cost_ns);
	return trc_finding_add(out, &finding, &line);
}

static bool is_lock_more(const struct trc_group_details *d, const struct lock *lock)
{
	return lock && lock->n_places > 1 && d->object_ns > d->group->total_ns / 2 &&
	       lock->total_ns / LOCK_NOT_PLACE_PERCENT > d->group->total_ns / 100;
}

/* What is left of it at other places would be a second finding of the same. */
static bool is_told(const struct lock *lock)
{
	return lock->total_ns / LOCK_NOT_PLACE_PERCENT <= lock->told_ns / 100;
}

/* The largest that no finding has; NULL if there is none. */
static struct lock *largest_untold(const struct finder *f)
{
	struct lock *lock = f->locks.row, *largest = NULL;

	for (size_t i = 0; i < f->locks.n; i++)
		if (!lock[i].told && (!largest || lock[i].total_ns > largest->total_ns))
			largest = &lock[i];
	return largest;
}

/* ---- many locks ---- */

/* Of these no lock and no place is a finding. */
static int tell_spread(struct finder *f, struct trc_array *out)
{
	struct trc_finding finding = {.kind = TRC_FINDING_LOCK, .severity = TRC_SEVERITY_COST};
	const struct lock *lock = f->locks.row;
	struct chosen c = {0};
	uint64_t reasons = 0, n_locks = 0, n_places = 0;
	char total[TRC_NUMBER_BYTES], locks[TRC_NUMBER_BYTES], places[TRC_NUMBER_BYTES];
	struct trc_line line;
	int err = choose_waits(f, &c, &finding);

	if (err || finding.cost_ns <= 0 || finding.cost_ns / SPREAD_PERCENT < c.threads_ns / 100 ||
	    is_of_interpreter(f->r, &finding))
		return err;
	for (size_t i = 0; i < f->locks.n; i++) {
		if (lock[i].told)
			continue;
		reasons |= lock[i].reasons;
		n_places += lock[i].n_places;
		n_locks++;
	}
	err = trc_finding_explain(f->r, &finding, &f->waits);
	if (err)
		return err;
	if (!f->r->selection) {
		trc_finding_sql_add(&finding, "SELECT object, count(*) AS waits, sum(waited_ns) AS "
					      "waited_ns FROM parks WHERE ");
		add_reasons(&finding, reasons);
		trc_finding_sql_add(&finding, " GROUP BY object ORDER BY 3 DESC");
	}
	trc_finding_line(&line);
	trc_finding_threads(&line, c.n_threads);
	trc_line_add(&line, " waited %s for %s%s locks at %s places",
		     trc_text_duration(total, finding.cost_ns), f->told ? "another " : "",
		     trc_text_count(locks, n_locks), trc_text_count(places, n_places));
	add_share(&line, &c, finding.cost_ns);
	trc_line_add(&line, "; none of them has much of it");
	return trc_finding_add(out, &finding, &line);
}

static int find_locks(struct finder *f, struct trc_array *out)
{
	const struct trc_group_details *d = trc_groups_details(&f->g, TRC_WAIT_LOCKS);
	size_t n_untold = 0;
	int err = 0;

	for (size_t i = 0; i < f->r->n_parks && !err; i++)
		if (is_lock_wait(f, i))
			err = add_lock_wait(f, i);
	for (size_t i = 0; !err && i < f->g.n_of[TRC_WAIT_LOCKS]; i++) {
		struct lock *lock = lock_of(f, d[i].object);

		if (!lock || (is_told(lock) && d[i].object_ns > d[i].group->total_ns / 2))
			continue;
		if (is_lock_more(&d[i], lock))
			err = tell_lock(f, lock, out);
		else
			err = tell_place(f, &d[i], out);
	}
	while (!err && f->told < TRC_FINDINGS_LOCKS) {
		size_t told = f->told;
		struct lock *lock = largest_untold(f);

		if (lock)
			err = tell_lock(f, lock, out);
		if (f->told == told)
			break;
	}
	for (size_t i = 0; i < f->locks.n; i++)
		n_untold += !((const struct lock *)f->locks.row)[i].told;
	if (!err && f->told < TRC_FINDINGS_LOCKS && n_untold > 1)
		err = tell_spread(f, out);
	return err;
}

int trc_find_locks(struct trc_report *r, struct trc_array *out)
{
	struct finder f = {
		.r = r,
		.locks = {.row_bytes = sizeof(struct lock)},
		.places = {.row_bytes = sizeof(struct place)},
		.waits = {.row_bytes = sizeof(uint32_t)},
	};
	int err = trc_groups_of_parks(&f.g, r, TRC_FINDINGS_LOCKS);

	if (!err)
		err = find_locks(&f, out);
	trc_groups_free(&f.g);
	trc_array_free(&f.locks);
	trc_array_free(&f.places);
	trc_array_free(&f.waits);
	trc_index_free(&f.lock_of);
	trc_index_free(&f.place_of);
	return err;
}
