/*
 * late.c - one thread for which others wait again and again, behind a condition variable, a semaphore or
 * another object by which threads wake each other.  The finding says that the thread is late, and where.
 *
 * The waits of threads are followed to the ends of their causes (causes.h).  What a thread did there is its own
 * doing if it ran, wrote or read a file, or slept.  A thread is reported if several threads wait for its own doing in a
 * large share of their lives, and in most of their waits.
 *
 *   late:N1  a wait of an idle thread does not count.  A thread that waits for something from outside is never late: for
 *       a request, data of a peer, a time limit
 *   late:N2  a thread that sleeps, or of which nobody knows what it did, is late only if it gets its work from the
 *       others, so that it waits for them now and then.  A thread that sleeps and then hands out work leaves the
 *       others without work, and may still wait now and then for a lock of theirs that is made of a semaphore, such as
 *       Python's.  So sleeps count only if it waits for the others for one in ASKED_PART of its sleeps, or of
 *       their time, or if one in DONE_PART of its own doing is something else
 *   late:N3  a thread that waits for its waiters as well, half as long or longer, is not late: they take turns
 *   late:N4  threads that others wait for by another finding are not told again
 *   late:N5  with a selection there is no such finding: which threads are idle is not known then
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include "analyzer/model/descriptors.h"
#include "blamed.h"
#include "parts.h"
#include "format/check.h"
#include "analyzer/why/words.h"

enum {
	WAITERS_LEAST = 2,   /* that wait for it for ... */
	WAITER_PERCENT = 10, /* ... so much of their lives */
	LIVES_PERCENT = 20,  /* of the lives of those: all that they wait for it */
	WAITS_PERCENT = 50,  /* of all that they wait for other threads */
	PLACE_PERCENT = 25,  /* of what it is waited for: a place worth telling */
	HANDED_LEAST = 10,   /* waits */
	ASKED_LEAST = 3,     /* its own */
	ASKED_PART = 8,
	DONE_PART = 4
};

/* Who waits for whom, by rows of threads. */
struct pair {
	uint32_t waiter, by;
	int64_t ns, slept_ns; /* slept_ns: a part of it */
	uint64_t n;
};

/* What a thread did at a place while others waited for it. */
struct place {
	uint32_t by;
	int64_t ns;
	struct trc_cause cause; /* one of them */
};

struct late {
	int64_t ns; /* by those that wait for it long enough */
	int64_t waiters_alive_ns, waiters_waited_ns;
	uint32_t n_waiters;
	uint64_t n;
};

/* A thread's waits that another thread ended, and its sleeps; what others waited for its own doing, and for its sleeps. */
struct asked {
	uint64_t n, n_slept;
	int64_t ns, slept_ns;
	int64_t others_ns, others_slept_ns;
};

struct finder {
	struct trc_report *r;
	struct trc_index pair_of, place_of;
	struct trc_array pairs, places;
	struct asked *asked; /* by row of thread */
	int64_t *waited_ns;  /* by row of thread: in waits that count */
	struct late *late;   /* by row of thread */
};

/* ---- what is waited for ---- */

/* N1 */
static bool counts(const struct trc_report *r, const struct trc_park *park)
{
	return !trc_report_is_idle(r, park);
}

static bool is_file(const struct finder *f, const struct trc_cause *row)
{
	const struct trc_descriptor_name *name = trc_model_descriptor(f->r->m, row->descriptor);

	switch (row->reason) {
	case TRC_REASON_FSYNC:
	case TRC_REASON_WRITE:
	case TRC_REASON_OPEN:
	case TRC_REASON_AIO:
		return true;
	case TRC_REASON_READ:
		return name && !strcmp(name->kind, "file");
	default:
		return false;
	}
}

static bool sleeps_late(const struct finder *f, const struct trc_cause *row)
{
	size_t n;
	const struct trc_park *park = trc_model_parks(f->r->m, &n);

	return row->reason == TRC_REASON_SLEEP && row->park && row->park <= n &&
	       !trc_report_is_idle(f->r, &park[row->park - 1]);
}

/* What the thread in this row is at is its own doing. */
static bool is_own(const struct finder *f, uint32_t thread, const struct trc_cause *row)
{
	bool is_asked = f->asked[thread].n >= ASKED_LEAST; /* N2 */

	switch (row->kind) {
	case TRC_CAUSE_RUNNING:
		return true;
	case TRC_CAUSE_IO:
		return is_file(f, row);
	case TRC_CAUSE_ACTIVE:
	case TRC_CAUSE_OFF:
		return is_asked;
	case TRC_CAUSE_SLEEPING:
		return is_asked && sleeps_late(f, row);
	default:
		return false;
	}
}

/* ---- sums ---- */

static int add_pair(struct finder *f, uint32_t waiter, uint32_t by, int64_t ns, bool sleeps)
{
	uint32_t number = trc_index_number(&f->pair_of, (uint64_t)waiter << 32 | by);
	struct pair *pair = number > f->pairs.n ? trc_array_add(&f->pairs)
						: (struct pair *)f->pairs.row + number - 1;

	if (!number || !pair)
		return -ENOMEM;
	pair->waiter = waiter;
	pair->by = by;
	pair->n++;
	trc_report_add(&pair->ns, ns);
	if (sleeps)
		trc_report_add(&pair->slept_ns, ns);
	return 0;
}

static int add_place(struct finder *f, uint32_t by, const struct trc_cause *row, int64_t ns)
{
	const uint64_t alike[] = {by, (uint64_t)row->kind << 32 | row->reason,
				  trc_report_same_place(f->r, row->stack)};
	uint32_t number = trc_index_number(&f->place_of, trc_check64(alike, sizeof(alike), 0));
	struct place *place = number > f->places.n ? trc_array_add(&f->places)
						   : (struct place *)f->places.row + number - 1;

	if (!number || !place)
		return -ENOMEM;
	if (!place->ns)
		place->cause = *row;
	place->by = by;
	trc_report_add(&place->ns, ns);
	return 0;
}

static int add_rows(void *context, uint32_t waiter, const struct trc_cause *row, size_t n)
{
	struct finder *f = context;
	int err = 0;

	for (size_t i = 0; i < n && !err; i++) {
		const struct trc_thread *thread = trc_model_thread(f->r->m, row[i].thread);
		int64_t ns = row[i].to_ns - row[i].from_ns;
		uint32_t by = thread ? (uint32_t)(thread - f->r->thread) : waiter;

		if (!row[i].leaf || by == waiter || !is_own(f, by, &row[i]))
			continue;
		err = add_pair(f, waiter, by, ns, row[i].kind == TRC_CAUSE_SLEEPING);
		if (!err)
			err = add_place(f, by, &row[i], ns);
	}
	return err;
}

static void sum_threads(struct finder *f)
{
	for (size_t i = 0; i < f->r->n_parks; i++) {
		const struct trc_park *park = &f->r->park[i];
		const struct trc_thread *thread = trc_model_thread(f->r->m, park->thread);

		int64_t ns = trc_park_end_ns(f->r->m, park) - trc_park_start_ns(f->r->m, park);
		struct asked *asked = thread ? &f->asked[thread - f->r->thread] : NULL;

		if (thread && park->reason == TRC_REASON_SLEEP) {
			asked->n_slept++;
			trc_report_add(&asked->slept_ns, ns);
		}
		if (!thread || !trc_blamed_counts(park))
			continue;
		if (park->waker && park->waker != park->thread) {
			asked->n++;
			trc_report_add(&asked->ns, ns);
		}
		if (counts(f->r, park))
			trc_report_add(&f->waited_ns[thread - f->r->thread], ns);
	}
}

/* What was followed stands for all. */
static void scale(struct finder *f, double times)
{
	struct pair *pair = f->pairs.row;
	struct place *place = f->places.row;

	for (size_t i = 0; i < f->pairs.n && times > 1; i++) {
		pair[i].ns = trc_estimate_whole((double)pair[i].ns * times);
		pair[i].slept_ns = trc_estimate_whole((double)pair[i].slept_ns * times);
		pair[i].n = (uint64_t)trc_estimate_whole((double)pair[i].n * times);
	}
	for (size_t i = 0; i < f->places.n && times > 1; i++)
		place[i].ns = trc_estimate_whole((double)place[i].ns * times);
}

/* N2 */
static bool sleeps_count(const struct asked *asked)
{
	return asked->n >= asked->n_slept / ASKED_PART ||
	       asked->ns >= asked->slept_ns / ASKED_PART ||
	       asked->others_slept_ns <= asked->others_ns - asked->others_ns / DONE_PART;
}

/* Of who leaves the others without work. */
static void drop_sleeps(struct finder *f)
{
	struct pair *pair = f->pairs.row;
	struct place *place = f->places.row;

	for (size_t i = 0; i < f->pairs.n; i++) {
		trc_report_add(&f->asked[pair[i].by].others_ns, pair[i].ns);
		trc_report_add(&f->asked[pair[i].by].others_slept_ns, pair[i].slept_ns);
	}
	for (size_t i = 0; i < f->pairs.n; i++)
		if (!sleeps_count(&f->asked[pair[i].by]))
			pair[i].ns -= pair[i].slept_ns;
	for (size_t i = 0; i < f->places.n; i++)
		if (place[i].cause.kind == TRC_CAUSE_SLEEPING &&
		    !sleeps_count(&f->asked[place[i].by]))
			place[i].ns = 0;
}

/* N3 */
static bool takes_turns(const struct finder *f, const struct pair *pair)
{
	uint32_t number = trc_index_get(&f->pair_of, (uint64_t)pair->by << 32 | pair->waiter);

	return number != TRC_INDEX_NONE &&
	       ((const struct pair *)f->pairs.row)[number - 1].ns >= pair->ns / 2;
}

static void sum_late(struct finder *f)
{
	const struct pair *pair = f->pairs.row;

	for (size_t i = 0; i < f->pairs.n; i++) {
		struct late *late = &f->late[pair[i].by];
		int64_t alive_ns = trc_report_lifetime_ns(f->r, &f->r->thread[pair[i].waiter]);

		if (pair[i].ns < alive_ns / 100 * WAITER_PERCENT || takes_turns(f, &pair[i]))
			continue;
		late->n_waiters++;
		late->n += pair[i].n;
		trc_report_add(&late->ns, pair[i].ns);
		trc_report_add(&late->waiters_alive_ns, alive_ns);
		trc_report_add(&late->waiters_waited_ns, f->waited_ns[pair[i].waiter]);
	}
}

static bool is_late(const struct finder *f, const struct late *late)
{
	return late->n_waiters >= WAITERS_LEAST && late->n >= HANDED_LEAST &&
	       late->ns >= late->waiters_alive_ns / 100 * LIVES_PERCENT &&
	       late->ns >= late->waiters_waited_ns / 100 * WAITS_PERCENT &&
	       late->ns >= f->r->length_ns / 100; /* G3 */
}

/* ---- what it is told by ---- */

static const struct place *largest_place(const struct finder *f, uint32_t by)
{
	const struct place *place = f->places.row, *largest = NULL;

	for (size_t i = 0; i < f->places.n; i++)
		if (place[i].by == by && (!largest || place[i].ns > largest->ns))
			largest = &place[i];
	return largest;
}

static int64_t all_places_ns(const struct finder *f, uint32_t by)
{
	const struct place *place = f->places.row;
	int64_t ns = 0;

	for (size_t i = 0; i < f->places.n; i++)
		if (place[i].by == by)
			trc_report_add(&ns, place[i].ns);
	return ns;
}

/* "for 97.0%, flusher (4711) waited for fsync fd 3 at flush db.c:12" */
static void late_set_why(struct finder *f, struct trc_finding *finding, uint32_t by)
{
	const struct place *place = largest_place(f, by);
	int64_t all_ns = all_places_ns(f, by);
	struct trc_why_node node = {.n_threads = 1, .n = 1};
	char share[TRC_NUMBER_BYTES];
	struct trc_line line;

	if (!place || place->ns < all_ns / 100 * PLACE_PERCENT)
		return;
	node.key = place->cause;
	trc_finding_line(&line);
	trc_line_add(&line, "for %s, ", trc_text_share(share, place->ns, all_ns));
	trc_why_words(f->r, &line, &node);
	if (trc_why_has_place(&node)) {
		trc_line_add(&line, node.key.stack_of == TRC_CAUSE_STACK_END ? ", up to " : " at ");
		trc_report_place(f->r, &line, node.key.stack);
	}
	trc_finding_set_why(finding, &line);
}

/* What it did while others waited. */
static void late_set_sql(struct trc_finding *finding)
{
	trc_finding_sql_add(
		finding,
		"SELECT cause, reason, place(stack) AS place, count(*) AS pieces, sum(duration_ns) AS ns "
		"FROM causes WHERE leaf AND thread = %u AND wait IN (SELECT id FROM parks WHERE thread <> %u) "
		"GROUP BY 1, 2, 3 ORDER BY 5 DESC",
		finding->thread, finding->thread);
}

static int late_tell(struct finder *f, struct trc_array *out, uint32_t row)
{
	const struct late *late = &f->late[row];
	struct trc_finding finding = {
		.kind = TRC_FINDING_WAITED_FOR,
		.severity = TRC_SEVERITY_COST,
		.cost_ns = late->ns,
		.start_ns = f->r->start_ns,
		.end_ns = f->r->end_ns,
		.thread = f->r->thread[row].serial,
	};
	char waited[TRC_NUMBER_BYTES], share[TRC_NUMBER_BYTES];
	struct trc_line line;

	late_set_why(f, &finding, row);
	late_set_sql(&finding);
	trc_finding_line(&line);
	trc_report_thread(f->r, &line, finding.thread, 30);
	trc_line_add(&line, " keeps others waiting: ");
	trc_finding_threads(&line, late->n_waiters);
	trc_line_add(&line, " waited %s for it, %s of their time",
		     trc_text_duration(waited, late->ns),
		     trc_text_share(share, late->ns, late->waiters_alive_ns));
	return trc_finding_add(out, &finding, &line);
}

/* N4 */
static bool late_is_told(const struct trc_array *out, uint32_t thread)
{
	const struct trc_finding *finding = out->row;

	for (size_t i = 0; i < out->n; i++) {
		if (finding[i].thread != thread)
			continue;
		switch (finding[i].kind) {
		case TRC_FINDING_SLOW_STAGE:
		case TRC_FINDING_BARRIER_IMBALANCE:
		case TRC_FINDING_LATE_THREAD:
		case TRC_FINDING_ONE_WORKER:
			return true;
		default:
			break;
		}
	}
	return false;
}

static int tell_latest(struct finder *f, struct trc_array *out)
{
	uint32_t latest = UINT32_MAX;

	for (uint32_t i = 0; i < f->r->n_threads; i++)
		if (is_late(f, &f->late[i]) && !late_is_told(out, f->r->thread[i].serial) &&
		    (latest == UINT32_MAX || f->late[i].ns > f->late[latest].ns))
			latest = i;
	return latest == UINT32_MAX ? 0 : late_tell(f, out, latest);
}

static int late_find(struct finder *f, struct trc_array *out)
{
	double times = 1;
	int err;

	f->pairs.row_bytes = sizeof(struct pair);
	f->places.row_bytes = sizeof(struct place);
	f->asked = calloc(f->r->n_threads + 1, sizeof(*f->asked));
	f->waited_ns = calloc(f->r->n_threads + 1, sizeof(*f->waited_ns));
	f->late = calloc(f->r->n_threads + 1, sizeof(*f->late));
	if (!f->asked || !f->waited_ns || !f->late)
		return -ENOMEM;
	sum_threads(f);
	err = trc_blamed_follow(f->r, counts, add_rows, f, &times);
	if (err)
		return err;
	scale(f, times);
	drop_sleeps(f);
	sum_late(f);
	return tell_latest(f, out);
}

int trc_find_waited_for(struct trc_report *r, struct trc_array *out)
{
	struct finder f = {.r = r};
	int err = late_find(&f, out);

	trc_index_free(&f.pair_of);
	trc_index_free(&f.place_of);
	trc_array_free(&f.pairs);
	trc_array_free(&f.places);
	free(f.asked);
	free(f.waited_ns);
	free(f.late);
	return err;
}
