/*
 * threads.c - pools of which one thread does the work, and threads that ask again and again.
 */
#include <errno.h>
#include <stdlib.h>
#include "parts.h"
#include "analyzer/words/pools.h"

/* ---- one worker ---- */

/* A wait for a file, a peer or time is a part of the work; a shorter sleep may be one of a thread that asks for work. */
enum { POOL_LEAST = 3, BUSIEST_PERCENT = 75, SHORT_NS = 2000000 };

/* Of a thread, in ns. */
struct worked {
	int64_t ran, blocked; /* blocked: its waits that are a part of the work */
	int64_t at_work;      /* it ran, could have run, or was blocked */
};

/* A thread's sleeps, in ns. */
struct slept {
	int64_t all, longer; /* longer: than SHORT_NS */
};

struct pool {
	uint32_t n, busiest; /* rows of threads */
	struct worked sum, most;
	int64_t busiest_alive_ns;
	uint32_t n_busy; /* threads that are at work for a tenth of their life or more */
};

static int64_t all_of(const struct worked *worked)
{
	int64_t ns = worked->ran;

	trc_report_add(&ns, worked->blocked);
	return ns;
}

/* With its short sleeps a thread is one of those that are not idle; they are nothing that says that it works. */
static void pool_add(struct pool *pool, const struct trc_report *r, uint32_t row,
		     const struct slept *slept)
{
	int64_t alive_ns = trc_report_lifetime_ns(r, &r->thread[row]);
	struct worked one = {trc_thread_busy_ns(r, row), r->class_ns[row][TRC_WAIT_FILES],
			     alive_ns};
	int64_t short_ns = slept->all - slept->longer;

	if (r->selection && !alive_ns)
		return;
	trc_report_add(&one.blocked, slept->longer);
	for (int class = 0; class < TRC_WAIT_CLASSES; class ++)
		one.at_work -= r->class_ns[row][class];
	one.at_work = one.at_work > 0 ? one.at_work : 0;
	trc_report_add(&one.at_work, one.blocked);
	trc_report_add(&pool->sum.ran, one.ran);
	trc_report_add(&pool->sum.blocked, one.blocked);
	trc_report_add(&pool->sum.at_work, one.at_work);
	trc_report_add(&pool->sum.at_work, short_ns);
	pool->n_busy += one.at_work > alive_ns / 10 || short_ns > alive_ns / 10 - one.at_work;
	if (!pool->n++ || one.at_work > pool->most.at_work) {
		pool->busiest = row;
		pool->most = one;
		pool->busiest_alive_ns = alive_ns;
	}
}

/* One is at work for half of its life, and has most of the work; no other has a tenth of its own life. */
static bool is_one_worker(const struct pool *pool)
{
	return pool->n >= POOL_LEAST && pool->n_busy == 1 &&
	       pool->most.at_work >= pool->busiest_alive_ns / 2 &&
	       pool->most.at_work >= pool->sum.at_work / 100 * BUSIEST_PERCENT;
}

/* By row of the thread; NULL without memory. */
static struct slept *slept_by_thread(const struct trc_report *r)
{
	struct slept *slept = calloc(r->n_threads + 1, sizeof(*slept));

	for (size_t i = 0; slept && i < r->n_parks; i++) {
		const struct trc_park *park = &r->park[i];
		const struct trc_thread *thread = trc_model_thread(r->m, park->thread);
		int64_t ns = trc_park_end_ns(r->m, park) - trc_park_start_ns(r->m, park);

		if (!thread || park->reason != TRC_REASON_SLEEP)
			continue;
		trc_report_add(&slept[thread - r->thread].all, ns);
		if (ns > SHORT_NS)
			trc_report_add(&slept[thread - r->thread].longer, ns);
	}
	return slept;
}

/*
 * Threads with different jobs are no pool, though one loop may have created them: the others must have waited
 * for the busiest, or for the same as it, or in the same function.
 */
static int shares_work(const struct trc_report *r, const struct trc_pools *pools, uint32_t busiest,
		       bool *shares)
{
	struct trc_index used = {0};
	int err = 0;

	*shares = false;
	for (size_t i = 0; i < r->n_parks && !err; i++) {
		const struct trc_park *park = &r->park[i];
		uint64_t functions = trc_report_functions(r, park->stack);

		if (park->thread != r->thread[busiest].serial || park->reason == TRC_REASON_SLEEP)
			continue;
		if ((functions && !trc_index_number(&used, functions)) ||
		    (park->object && !trc_index_number(&used, park->object)))
			err = -ENOMEM;
	}
	for (size_t i = 0; i < r->n_parks && !err && !*shares; i++) {
		const struct trc_park *park = &r->park[i];
		const struct trc_thread *thread = trc_model_thread(r->m, park->thread);

		if (!thread || thread - r->thread == busiest ||
		    pools->of[thread - r->thread] != pools->of[busiest])
			continue;
		*shares = park->waker == r->thread[busiest].serial ||
			  trc_index_get(&used, trc_report_functions(r, park->stack)) !=
				  TRC_INDEX_NONE ||
			  (park->object && trc_index_get(&used, park->object) != TRC_INDEX_NONE);
	}
	trc_index_free(&used);
	return err;
}

/* That the thread went on when the others of its pool had ended: they had ended since they had no work. */
static bool is_of_an_end(const struct trc_report *r, const struct trc_finding *f)
{
	size_t n;
	const struct trc_park *park = trc_model_parks(r->m, &n);

	return f->kind == TRC_FINDING_LATE_THREAD && f->park && f->park <= n &&
	       park[f->park - 1].reason == TRC_REASON_JOIN;
}

/* Another finding is about this thread: others wait for it. */
static bool thread_is_told(const struct trc_report *r, const struct trc_array *out, uint32_t row)
{
	const struct trc_finding *f = out->row;

	for (size_t i = 0; i < out->n; i++)
		if ((f[i].kind == TRC_FINDING_BARRIER_IMBALANCE ||
		     f[i].kind == TRC_FINDING_LATE_THREAD || f[i].kind == TRC_FINDING_SLOW_STAGE) &&
		    f[i].thread == r->thread[row].serial && !is_of_an_end(r, &f[i]))
			return true;
	return false;
}

/* What says less of the thread than that it did all the work. */
static void drop_its_end(const struct trc_report *r, struct trc_array *out, uint32_t thread)
{
	struct trc_finding *f = out->row;
	size_t kept = 0;

	for (size_t i = 0; i < out->n; i++) {
		if (f[i].thread == thread && is_of_an_end(r, &f[i]))
			continue;
		if (kept != i)
			f[kept] = f[i];
		kept++;
	}
	out->n = kept;
}

/* "ran for 2.00 s, the other 3 10.0 ms together" */
static void say_worked(const struct trc_report *r, struct trc_line *line, const struct pool *pool)
{
	int64_t most_ns = all_of(&pool->most);
	const char *verb = trc_report_on_cpu_ns(r, pool->busiest) != TRC_NEVER ? "ran for"
									       : "did not wait for";
	char its[TRC_NUMBER_BYTES], rest[TRC_NUMBER_BYTES], blocked[TRC_NUMBER_BYTES];

	if (pool->most.blocked >= most_ns / 10)
		verb = "worked for";
	trc_line_add(line, " %s %s", verb, trc_text_duration(its, most_ns));
	if (pool->most.blocked >= most_ns / 10)
		trc_line_add(line, " (%s of it in sleeps and waits for files)",
			     trc_text_duration(blocked, pool->most.blocked));
	trc_line_add(line, ", the other %u %s together", pool->n - 1,
		     trc_text_duration(rest, all_of(&pool->sum) - most_ns));
}

static int tell_pool(struct trc_report *r, struct trc_array *out, const struct pool *pool)
{
	const struct trc_thread *busiest = &r->thread[pool->busiest];
	struct trc_finding f = {
		.kind = TRC_FINDING_ONE_WORKER,
		.severity = TRC_SEVERITY_COST,
		.cost_ns = all_of(&pool->most) - all_of(&pool->sum) / pool->n,
		.start_ns = trc_report_later_ns(
			r, busiest->start_ns == TRC_NEVER ? r->start_ns : busiest->start_ns),
		.end_ns = trc_report_earlier_ns(r, busiest->end_ns == TRC_NEVER ? r->end_ns
										: busiest->end_ns),
		.thread = busiest->serial,
	};
	char share[TRC_NUMBER_BYTES];
	struct trc_line line;

	if (f.cost_ns < r->length_ns / 100)
		return 0; /* G3 */
	drop_its_end(r, out, busiest->serial);
	trc_finding_line(&line);
	trc_line_add(&line, "1 of %u threads does %s of their work: ", pool->n,
		     trc_text_share(share, all_of(&pool->most), all_of(&pool->sum)));
	trc_report_thread(r, &line, busiest->serial, 30);
	say_worked(r, &line, pool);
	/* The table of threads is of their whole lives. */
	if (r->selection)
		trc_finding_sql_add(
			&f,
			"SELECT threads.id, name, ns AS selected_ns, (SELECT sum(duration_ns) FROM "
			"on_cpu WHERE thread = threads.id) AS on_cpu_ns, (SELECT coalesce(sum(waited_ns), 0) "
			"FROM parks WHERE thread = threads.id) AS parked_ns FROM selected JOIN "
			"threads USING (id) WHERE kind = 'threads' AND");
	else
		trc_finding_sql_add(&f, "SELECT * FROM threads WHERE");
	trc_finding_sql_add(&f,
			    " creator IS (SELECT creator FROM threads WHERE id = %u) "
			    "ORDER BY on_cpu_ns DESC, parked_ns",
			    busiest->serial);
	return trc_finding_add(out, &f, &line);
}

int trc_find_one_worker(struct trc_report *r, struct trc_array *out)
{
	struct trc_pools pools = {0};
	struct pool *pool = NULL;
	struct slept *slept = slept_by_thread(r);
	int err = trc_pools_of(&pools, r);

	if (!err) {
		pool = calloc(pools.n + 1, sizeof(*pool));
		err = pool && slept ? 0 : -ENOMEM;
	}
	for (uint32_t i = 0; !err && i < r->n_threads; i++)
		pool_add(&pool[pools.of[i]], r, i, &slept[i]);
	for (uint32_t i = 0; pool && i < pools.n && !err; i++) {
		bool shares = is_one_worker(&pool[i]) && !thread_is_told(r, out, pool[i].busiest);

		if (shares)
			err = shares_work(r, &pools, pool[i].busiest, &shares);
		if (shares && !err)
			err = tell_pool(r, out, &pool[i]);
	}
	free(pool);
	free(slept);
	trc_pools_free(&pools);
	return err;
}

/* ---- poll loops ---- */

/* Short waits at one place that nothing but their time limit ended. */
struct poll_loop {
	uint32_t place, n_threads;
	uint8_t reason;
	uint64_t n, woke; /* how often its threads woke others */
	int64_t ns, longest_ns, alive_ns, busy_ns;
	struct trc_finding_at f;
};
enum { ASKED_LEAST = 100, WOKE_PERCENT = 10, WORK_PERCENT = 25 };

/* Of a part of a wait, whether the wait is one. */
static bool is_poll(const struct trc_report *r, size_t i)
{
	size_t n;
	const struct trc_park *park = &trc_model_parks(r->m, &n)[trc_report_park_id(r, i) - 1];

	return (park->reason == TRC_REASON_SLEEP || park->result == ETIMEDOUT) &&
	       park->end_ns != TRC_NEVER &&
	       park->end_ns - trc_park_start_ns(r->m, park) <= SHORT_NS;
}

/* How often each thread, by its row, ended a wait of another, of any that there is; NULL without memory. */
static uint64_t *count_wakes(const struct trc_report *r)
{
	uint64_t *woke = calloc(r->n_threads + 1, sizeof(*woke));
	size_t n;
	const struct trc_park *park = trc_model_parks(r->m, &n);

	for (size_t i = trc_report_next_row(r, TRC_BETWEEN_PARKS, 0); woke && i < n;
	     i = trc_report_next_row(r, TRC_BETWEEN_PARKS, i + 1)) {
		const struct trc_thread *waker = trc_model_thread(r->m, park[i].waker);

		if (waker && trc_selection_has_time(r->selection, waker->serial, park[i].wake_ns))
			woke[waker - r->thread]++;
	}
	return woke;
}

/* The thread's part in a loop is counted once. */
static int poll_add(struct poll_loop *loop, const struct trc_report *r, const uint64_t *woke,
		    struct trc_index *counted, uint32_t loop_row, size_t i)
{
	const struct trc_park *park = &r->park[i];
	const struct trc_thread *thread = trc_model_thread(r->m, park->thread);
	uint64_t key = (uint64_t)loop_row << 32 | park->thread;
	int64_t ns = trc_park_end_ns(r->m, park) - trc_park_start_ns(r->m, park);

	loop->n += !(park->flags & TRC_PARK_PIECE);
	trc_report_add(&loop->ns, ns);
	if (!loop->f.park || ns > loop->longest_ns) {
		loop->longest_ns = ns;
		loop->f.park = trc_report_park_id(r, i);
		loop->f.thread = park->thread;
		loop->f.start_ns = park->start_ns;
		loop->f.end_ns = park->end_ns;
	}
	if (!thread || trc_index_get(counted, key) != TRC_INDEX_NONE)
		return 0;
	loop->n_threads++;
	trc_report_add(&loop->alive_ns, trc_report_lifetime_ns(r, thread));
	trc_report_add(&loop->busy_ns, trc_thread_busy_ns(r, (size_t)(thread - r->thread)));
	loop->woke += woke[thread - r->thread];
	return trc_index_put(counted, key, 1);
}

static int find_loops(const struct trc_report *r, struct trc_array *loops)
{
	struct trc_index index = {0}, counted = {0};
	uint64_t *woke = NULL; /* counted once there is a loop */
	int err = 0;

	for (size_t i = 0; i < r->n_parks && !err; i++) {
		uint32_t place = trc_report_canonical(r, r->park[i].stack), at;
		uint64_t key = (uint64_t)r->park[i].reason << 32 | place;
		struct poll_loop *loop;

		if (!place || !is_poll(r, i))
			continue;
		at = trc_index_get(&index, key);
		if (at == TRC_INDEX_NONE) {
			at = (uint32_t)loops->n;
			loop = trc_array_add(loops);
			err = loop ? trc_index_put(&index, key, at) : -ENOMEM;
			if (err)
				break;
			loop->place = place;
			loop->reason = r->park[i].reason;
		}
		if (!woke)
			woke = count_wakes(r);
		if (!woke)
			err = -ENOMEM;
		else
			err = poll_add((struct poll_loop *)loops->row + at, r, woke, &counted, at,
				       i);
	}
	free(woke);
	trc_index_free(&index);
	trc_index_free(&counted);
	return err;
}

/* Its threads do nothing else for half of their lives: they seldom wake anybody, and work little. */
static bool is_loop(const struct trc_report *r, const struct poll_loop *loop)
{
	return loop->n >= (uint64_t)ASKED_LEAST * loop->n_threads &&
	       loop->ns >= loop->alive_ns / 2 && loop->woke <= loop->n / 100 * WOKE_PERCENT &&
	       loop->busy_ns <= loop->ns / 100 * WORK_PERCENT &&
	       loop->busy_ns >= r->length_ns / 100; /* G3 */
}

static int tell_loop(struct trc_report *r, struct trc_array *out, struct poll_loop *loop)
{
	char n[TRC_NUMBER_BYTES], mean[TRC_NUMBER_BYTES], busy[TRC_NUMBER_BYTES];
	struct trc_finding f = trc_finding_of(TRC_FINDING_POLL_LOOP, &loop->f);
	struct trc_line line;

	f.cost_ns = loop->busy_ns;
	trc_finding_sql_parks(r, &f, loop->reason, loop->place, 0);
	trc_finding_line(&line);
	trc_finding_threads(&line, loop->n_threads);
	trc_line_add(&line, " waited %s times for %s each, for nothing but time to pass, at ",
		     trc_text_count(n, loop->n),
		     trc_text_duration(mean, loop->ns / (int64_t)loop->n));
	trc_report_place(r, &line, loop->place);
	trc_line_add(&line, "; between the waits %s %s",
		     loop->n_threads == 1 ? "it ran" : "they ran",
		     trc_text_duration(busy, loop->busy_ns));
	return trc_finding_add(out, &f, &line);
}

int trc_find_pollers(struct trc_report *r, struct trc_array *out)
{
	struct trc_array loops = {.row_bytes = sizeof(struct poll_loop)};
	int err = find_loops(r, &loops);

	for (size_t i = 0; i < loops.n && !err; i++)
		if (is_loop(r, (struct poll_loop *)loops.row + i))
			err = tell_loop(r, out, (struct poll_loop *)loops.row + i);
	trc_array_free(&loops);
	return err;
}
