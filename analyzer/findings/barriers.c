/*
 * barriers.c - threads that wait for the last thread: at a barrier, again and again; or for the end of the last thread
 * of a pool, after all others have ended.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include "parts.h"
#include "format/check.h"
#include "analyzer/words/pools.h"

enum {
	ROUNDS_LEAST = 10,
	LATE_PERCENT = 50, /* of the waiting is for one thread, of three or more; */
	LATE_OF_TWO_PERCENT = 80,
	WAITED_PERCENT = 10, /* of the threads' time they wait at the barrier, if it is for one; */
	UNEVEN_PERCENT = 25, /* if it is for each other */
	TAIL_PERCENT = 25    /* of a pool's time only its last thread lives */
};

static int64_t wait_ns(const struct trc_report *r, const struct trc_park *park)
{
	return trc_park_end_ns(r->m, park) - trc_park_start_ns(r->m, park);
}

/* ---- barriers ---- */

/* Of a thread at a barrier. */
struct comer {
	uint32_t barrier, thread;     /* row of barriers; serial */
	uint64_t n_last;	      /* rounds in which it came last */
	int64_t waited_ns, others_ns; /* it waited; others waited for it */
};

struct barrier {
	uint64_t object;
	uint32_t stack; /* of the longest wait */
	uint64_t n_rounds;
	int64_t waited_ns, longest_ns;
	/* Once the comers are counted. */
	uint32_t n_threads, n_wanted; /* those that come; those of them whose time is wanted */
	uint32_t last;		      /* row of comers + 1, of who others waited for longest */
	int64_t alive_ns;
	struct trc_finding_at f;
};

struct finder {
	struct trc_report *r;
	struct trc_array barriers, comers;
	struct trc_index barrier_of, comer_of,
		rounds; /* rounds: by barrier and the time of the waking */
};

static struct comer *comer_of(struct finder *f, uint32_t barrier, uint32_t thread)
{
	uint32_t number = trc_index_number(&f->comer_of, (uint64_t)barrier << 32 | thread);
	struct comer *comer = number > f->comers.n ? trc_array_add(&f->comers)
						   : (struct comer *)f->comers.row + number - 1;

	if (!number || !comer)
		return NULL;
	comer->barrier = barrier;
	comer->thread = thread;
	return comer;
}

static void add_longest(struct barrier *barrier, const struct trc_report *r, size_t i)
{
	const struct trc_park *park = &r->park[i];

	if (barrier->f.park && wait_ns(r, park) <= barrier->longest_ns)
		return;
	barrier->longest_ns = wait_ns(r, park);
	barrier->stack = park->stack;
	barrier->f.park = trc_report_park_id(r, i);
	barrier->f.start_ns = trc_park_start_ns(r->m, park);
	barrier->f.end_ns = trc_park_end_ns(r->m, park);
}

/* Who came last, of this wait. */
static int add_last(struct finder *f, uint32_t row, const struct trc_park *park)
{
	struct barrier *barrier = (struct barrier *)f->barriers.row + row;
	const uint64_t round[] = {row, (uint64_t)park->wake_ns, park->waker};
	struct comer *last;
	size_t n = f->rounds.n;

	if (!park->waker)
		return 0;
	last = comer_of(f, row, park->waker);
	if (!last || !trc_index_number(&f->rounds, trc_check64(round, sizeof(round), 0)))
		return -ENOMEM;
	trc_report_add(&last->others_ns, wait_ns(f->r, park));
	if (f->rounds.n > n) {
		barrier->n_rounds++;
		last->n_last++;
	}
	return 0;
}

static int barrier_add_wait(struct finder *f, size_t i)
{
	const struct trc_park *park = &f->r->park[i];
	uint32_t number = trc_index_number(&f->barrier_of, park->object);
	struct barrier *barrier = number > f->barriers.n
					  ? trc_array_add(&f->barriers)
					  : (struct barrier *)f->barriers.row + number - 1;
	struct comer *comer;

	if (!number || !barrier)
		return -ENOMEM;
	barrier->object = park->object;
	if (park->waker == park->thread) /* the last to come, which waits for nobody */
		return comer_of(f, number - 1, park->thread) ? 0 : -ENOMEM;
	trc_report_add(&barrier->waited_ns, wait_ns(f->r, park));
	add_longest(barrier, f->r, i);
	comer = comer_of(f, number - 1, park->thread);
	if (!comer)
		return -ENOMEM;
	trc_report_add(&comer->waited_ns, wait_ns(f->r, park));
	return add_last(f, number - 1, park);
}

static void count_comers(struct finder *f)
{
	const struct comer *comer = f->comers.row;

	for (size_t i = 0; i < f->comers.n; i++) {
		struct barrier *barrier = (struct barrier *)f->barriers.row + comer[i].barrier;
		const struct trc_thread *thread = trc_model_thread(f->r->m, comer[i].thread);

		barrier->n_threads++;
		if (thread && trc_report_lifetime_ns(f->r, thread)) {
			barrier->n_wanted++;
			trc_report_add(&barrier->alive_ns, trc_report_lifetime_ns(f->r, thread));
		}
		if (!barrier->last || comer[i].others_ns > comer[barrier->last - 1].others_ns)
			barrier->last = (uint32_t)i + 1;
	}
}

/* What the thread that comes last did meanwhile. */
static int barrier_set_why(struct finder *f, struct trc_finding *finding,
			   const struct barrier *barrier, const struct comer *last)
{
	struct trc_array waits = {.row_bytes = sizeof(uint32_t)};
	int err = 0;

	for (size_t i = 0; i < f->r->n_parks && !err; i++) {
		const struct trc_park *park = &f->r->park[i];
		uint32_t *row;

		if (park->reason != TRC_REASON_BARRIER || park->object != barrier->object ||
		    park->waker != last->thread)
			continue;
		row = trc_array_add(&waits);
		if (row)
			*row = (uint32_t)i;
		else
			err = -ENOMEM;
	}
	if (!err)
		err = trc_finding_follow(f->r, finding, &waits);
	trc_array_free(&waits);
	return err;
}

static void add_barrier(struct finder *f, struct trc_line *line, const struct barrier *barrier)
{
	trc_line_add(line, "barrier");
	trc_report_object(f->r, line, TRC_REASON_BARRIER, barrier->object, barrier->stack);
	trc_line_add(line, " at ");
	trc_report_place(f->r, line, barrier->stack);
}

static void say_late(struct finder *f, struct trc_line *line, struct barrier *barrier,
		     const struct comer *last)
{
	const struct trc_thread *thread = trc_model_thread(f->r->m, last->thread);
	int64_t last_ns = thread ? trc_report_lifetime_ns(f->r, thread) : 0;
	int64_t others_ns = barrier->alive_ns - last_ns;
	char n[TRC_NUMBER_BYTES], all[TRC_NUMBER_BYTES], share[TRC_NUMBER_BYTES];

	barrier->f.cost_ns = last->others_ns;
	barrier->f.thread = last->thread;
	trc_report_thread(f->r, line, last->thread, 30);
	trc_line_add(line, " came last %s of %s times to ", trc_text_count(n, last->n_last),
		     trc_text_count(all, barrier->n_rounds));
	add_barrier(f, line, barrier);
	trc_line_add(line, ": ");
	trc_finding_threads(line, barrier->n_wanted - (last_ns > 0));
	trc_line_add(line, " waited %s for it, %s of their time",
		     trc_text_duration(n, last->others_ns),
		     trc_text_share(share, last->others_ns, others_ns));
}

static void say_uneven(struct finder *f, struct trc_line *line, struct barrier *barrier)
{
	char total[TRC_NUMBER_BYTES], share[TRC_NUMBER_BYTES], rounds[TRC_NUMBER_BYTES];

	barrier->f.cost_ns = barrier->waited_ns;
	trc_finding_threads(line, barrier->n_wanted);
	trc_line_add(line, " waited %s for each other in %s rounds of ",
		     trc_text_duration(total, barrier->waited_ns),
		     trc_text_count(rounds, barrier->n_rounds));
	add_barrier(f, line, barrier);
	trc_line_add(line, ", %s of their time; which of them comes last changes",
		     trc_text_share(share, barrier->waited_ns, barrier->alive_ns));
}

static int tell_barrier(struct finder *f, struct barrier *barrier, uint32_t n_procs,
			struct trc_array *out)
{
	const struct comer *last = (const struct comer *)f->comers.row + barrier->last - 1;
	int percent = barrier->n_threads > 2 ? LATE_PERCENT : LATE_OF_TWO_PERCENT;
	bool late = last->others_ns >= barrier->waited_ns / 100 * percent;
	struct trc_finding finding;
	struct trc_line line;
	int err = 0;

	if (barrier->n_rounds < ROUNDS_LEAST || barrier->n_threads < 2 ||
	    (!late && (barrier->n_threads > n_procs || barrier->n_wanted < 2)) ||
	    barrier->waited_ns < barrier->alive_ns / 100 * (late ? WAITED_PERCENT : UNEVEN_PERCENT))
		return 0;
	trc_finding_line(&line);
	if (late)
		say_late(f, &line, barrier, last);
	else
		say_uneven(f, &line, barrier);
	finding = trc_finding_of(TRC_FINDING_BARRIER_IMBALANCE, &barrier->f);
	trc_finding_sql_add(&finding,
			    "SELECT waker_thread AS last_to_come, count(*) AS waits, "
			    "sum(waited_ns) AS waited_ns FROM parks WHERE reason = 'barrier' AND "
			    "object = %" PRId64
			    " AND waker_thread IS NOT thread GROUP BY 1 ORDER BY 3 DESC",
			    (int64_t)barrier->object);
	if (late)
		err = barrier_set_why(f, &finding, barrier, last);
	return err ? err : trc_finding_add(out, &finding, &line);
}

int trc_find_barriers(struct trc_report *r, struct trc_array *out)
{
	struct finder f = {.r = r,
			   .barriers = {.row_bytes = sizeof(struct barrier)},
			   .comers = {.row_bytes = sizeof(struct comer)}};
	size_t n_procs;
	int err = 0;

	trc_model_procs(r->m, &n_procs);
	for (size_t i = 0; i < r->n_parks && !err; i++)
		if (r->park[i].reason == TRC_REASON_BARRIER)
			err = barrier_add_wait(&f, i);
	count_comers(&f);
	for (size_t i = 0; i < f.barriers.n && !err; i++)
		err = tell_barrier(&f, (struct barrier *)f.barriers.row + i, (uint32_t)n_procs,
				   out);
	trc_array_free(&f.barriers);
	trc_array_free(&f.comers);
	trc_index_free(&f.barrier_of);
	trc_index_free(&f.comer_of);
	trc_index_free(&f.rounds);
	return err;
}

/* ---- the last of a pool ---- */

struct pool {
	uint32_t n, last; /* row of the thread that ended last */
	int64_t start_ns, end_ns;
	int64_t others_end_ns; /* the last but one */
	bool open;	       /* a thread has not ended, or its begin is not known */
};

static void pool_add_thread(struct pool *pool, const struct trc_report *r, uint32_t row)
{
	const struct trc_thread *thread = &r->thread[row];
	int64_t start_ns = trc_report_later_ns(r, thread->start_ns);

	if (thread->end_ns == TRC_NEVER || thread->start_ns == TRC_NEVER ||
	    trc_report_earlier_ns(r, thread->end_ns) < thread->end_ns) {
		pool->open = true;
		return;
	}
	if (thread->end_ns < start_ns)
		return; /* before the window */
	if (!pool->n++ || start_ns < pool->start_ns)
		pool->start_ns = start_ns;
	if (pool->n == 1 || thread->end_ns > pool->end_ns) {
		pool->others_end_ns = pool->end_ns;
		pool->end_ns = thread->end_ns;
		pool->last = row;
	} else if (thread->end_ns > pool->others_end_ns) {
		pool->others_end_ns = thread->end_ns;
	}
}

/* Who waited for the thread's end meanwhile; NULL = nobody. */
static const struct trc_park *joiner_of(const struct trc_report *r, const struct pool *pool)
{
	for (size_t i = 0; i < r->n_parks; i++) {
		const struct trc_park *park = &r->park[i];

		if (park->reason == TRC_REASON_JOIN &&
		    park->holder == r->thread[pool->last].serial &&
		    trc_park_end_ns(r->m, park) >= pool->end_ns)
			return park;
	}
	return NULL;
}

static int tell_pool(struct trc_report *r, const struct pool *pool, struct trc_array *out)
{
	const struct trc_park *joiner = joiner_of(r, pool);
	int64_t tail_ns = pool->end_ns - pool->others_end_ns, from_ns;
	struct trc_finding f = {
		.kind = TRC_FINDING_LATE_THREAD,
		.severity = TRC_SEVERITY_COST,
		.end_ns = pool->end_ns,
		.thread = r->thread[pool->last].serial,
	};
	char tail[TRC_NUMBER_BYTES], share[TRC_NUMBER_BYTES];
	struct trc_line line;

	if (!joiner)
		return 0;
	from_ns = trc_park_start_ns(r->m, joiner);
	f.start_ns = from_ns > pool->others_end_ns ? from_ns : pool->others_end_ns;
	f.cost_ns = pool->end_ns - f.start_ns;
	f.park = trc_report_park_id(r, (size_t)(joiner - r->park));
	if (f.cost_ns < tail_ns / 2)
		return 0;
	trc_finding_sql_add(&f,
			    "SELECT id, name, start_ns, end_ns, on_cpu_ns FROM threads WHERE "
			    "creator IS (SELECT creator FROM threads WHERE id = %u) ORDER BY "
			    "end_ns DESC",
			    f.thread);
	trc_finding_line(&line);
	trc_report_thread(r, &line, f.thread, 30);
	trc_line_add(&line,
		     " went on for %s when the other %u of its pool had ended, %s of the "
		     "time from the first's begin, while ",
		     trc_text_duration(tail, tail_ns), pool->n - 1,
		     trc_text_share(share, tail_ns, pool->end_ns - pool->start_ns));
	trc_report_thread(r, &line, joiner->thread, 30);
	trc_line_add(&line, " waited for its end");
	return trc_finding_add(out, &f, &line);
}

int trc_find_last_of_pool(struct trc_report *r, struct trc_array *out)
{
	enum { POOL_LEAST = 3 };
	struct trc_pools pools = {0};
	struct pool *pool = NULL;
	int err = trc_pools_of(&pools, r);

	if (!err) {
		pool = calloc(pools.n + 1, sizeof(*pool));
		err = pool ? 0 : -ENOMEM;
	}
	for (uint32_t i = 0; pool && i < r->n_threads; i++)
		pool_add_thread(&pool[pools.of[i]], r, i);
	for (uint32_t i = 0; pool && i < pools.n && !err; i++) {
		int64_t tail_ns = pool[i].end_ns - pool[i].others_end_ns;

		if (pool[i].n >= POOL_LEAST && !pool[i].open && tail_ns > 0 &&
		    tail_ns >= (pool[i].end_ns - pool[i].start_ns) / 100 * TAIL_PERCENT &&
		    tail_ns >= r->length_ns / 100) /* G3 */
			err = tell_pool(r, &pool[i], out);
	}
	free(pool);
	trc_pools_free(&pools);
	return err;
}
