/*
 * stages.c - threads for which others wait again and again: a slow stage of a pipeline, or one thread of a
 * pool for which the rest of the pool waits.
 *
 * A stage is a pool that is nearly always at work while threads of other pools, which work as well, wait for it:
 * threads after the stage wait for its output, threads before the stage for room.  There is no finding in three cases, in
 * which a faster stage would not make the program faster: the program has no procs to spare; the stage has as many
 * threads as there are procs; or a thread that does not wait for the stage has half as much to do.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include "blamed.h"
#include "format/check.h"
#include "analyzer/model/margin.h"
#include "parts.h"
#include "analyzer/words/pools.h"
#include "procs_left.h"

enum {
	WAITERS_MAX = 3,	 /* that are told, and looked for */
	WAITER_PERCENT = 30,	 /* of its life it waits for the stage */
	OCCUPIED_PERCENT = 80,	 /* of the stage's life it waits for nothing and nobody */
	WORK_PERCENT = 5,	 /* of the stage's work its waiters do, or they are no stages */
	EQUAL_PERCENT = 50,	 /* of the work of one of its threads */
	HANDED_LEAST = 20,	 /* waits */
	POOL_WAITED_PERCENT = 20 /* of their lives threads wait for one of their pool */
};

struct stage {
	uint32_t n;
	int64_t alive_ns, occupied_ns, busy_ns;
	uint32_t n_waiters;
	uint32_t waiter[WAITERS_MAX]; /* rows of threads */
	int64_t waiter_ns[WAITERS_MAX];
	int64_t waited_ns, waiters_alive_ns, waiters_busy_ns;
};

struct finder {
	struct trc_report *r;
	struct trc_pools pools;
	struct trc_blamed blamed;
	struct stage *stage;   /* by pool */
	int64_t *away_ns;      /* by row of thread: it waited for others, or for what comes next */
	struct trc_array sums; /* struct trc_blamed_pair; `by` is a pool */
	uint32_t n_procs;
};

static int64_t wait_ns(const struct trc_report *r, const struct trc_park *park)
{
	return trc_park_end_ns(r->m, park) - trc_park_start_ns(r->m, park);
}

static void sum_threads(struct finder *f)
{
	struct trc_report *r = f->r;

	for (size_t i = 0; i < r->n_parks; i++) {
		const struct trc_park *park = &r->park[i];
		const struct trc_thread *thread = trc_model_thread(r->m, park->thread);

		if (thread &&
		    (trc_blamed_counts(park) || trc_wait_class(park->reason) == TRC_WAIT_THREADS ||
		     trc_wait_class(park->reason) == TRC_WAIT_OUTSIDE))
			trc_report_add(&f->away_ns[thread - r->thread], wait_ns(r, park));
	}
	for (size_t i = 0; i < r->n_threads; i++) {
		struct stage *stage = &f->stage[f->pools.of[i]];
		int64_t alive_ns = trc_report_lifetime_ns(r, &r->thread[i]);

		if (r->selection && !alive_ns)
			continue;
		stage->n++;
		trc_report_add(&stage->alive_ns, alive_ns);
		trc_report_add(&stage->busy_ns, trc_thread_busy_ns(r, i));
		if (alive_ns > f->away_ns[i])
			trc_report_add(&stage->occupied_ns, alive_ns - f->away_ns[i]);
	}
}

/* For how long each thread waited for each other pool. */
static int sum_pairs(struct finder *f)
{
	const struct trc_blamed_pair *pair = f->blamed.pairs.row;
	struct trc_index index = {0};
	int err = 0;

	for (size_t i = 0; i < f->blamed.pairs.n && !err; i++) {
		uint32_t pool = f->pools.of[pair[i].by], number;
		struct trc_blamed_pair *sum;

		if (pool == f->pools.of[pair[i].waiter])
			continue;
		number = trc_index_number(&index, (uint64_t)pair[i].waiter << 32 | pool);
		sum = number > f->sums.n ? trc_array_add(&f->sums)
					 : (struct trc_blamed_pair *)f->sums.row + number - 1;
		if (!number || !sum) {
			err = -ENOMEM;
			break;
		}
		sum->waiter = pair[i].waiter;
		sum->by = pool;
		sum->n += pair[i].n;
		trc_report_add(&sum->ns, pair[i].ns);
	}
	trc_index_free(&index);
	return err;
}

static bool is_waiter(const struct finder *f, const struct trc_blamed_pair *sum)
{
	int64_t alive_ns = trc_report_lifetime_ns(f->r, &f->r->thread[sum->waiter]);

	return sum->n >= HANDED_LEAST && sum->ns >= alive_ns / 100 * WAITER_PERCENT;
}

static void add_waiter(struct finder *f, const struct trc_blamed_pair *sum)
{
	struct stage *stage = &f->stage[sum->by];
	int64_t alive_ns = trc_report_lifetime_ns(f->r, &f->r->thread[sum->waiter]);
	int at = WAITERS_MAX;

	if (!is_waiter(f, sum))
		return;
	stage->n_waiters++;
	trc_report_add(&stage->waited_ns, sum->ns);
	trc_report_add(&stage->waiters_alive_ns, alive_ns);
	trc_report_add(&stage->waiters_busy_ns, trc_thread_busy_ns(f->r, sum->waiter));
	while (at > 0 && stage->waiter_ns[at - 1] < sum->ns)
		at--;
	if (at == WAITERS_MAX)
		return;
	for (int i = WAITERS_MAX - 1; i > at; i--) {
		stage->waiter[i] = stage->waiter[i - 1];
		stage->waiter_ns[i] = stage->waiter_ns[i - 1];
	}
	stage->waiter[at] = sum->waiter;
	stage->waiter_ns[at] = sum->ns;
}

static bool is_slow(const struct finder *f, const struct stage *stage)
{
	return stage->n_waiters && stage->n < f->n_procs &&
	       stage->occupied_ns >= stage->alive_ns / 100 * OCCUPIED_PERCENT &&
	       stage->waiters_busy_ns >= stage->busy_ns / 100 * WORK_PERCENT &&
	       stage->waited_ns >= f->r->length_ns / 100; /* G3 */
}

/* Sets *equal if a thread beside it has much to do, and does not wait for it.  0 or -ENOMEM. */
static int find_equal(const struct finder *f, uint32_t pool, bool *equal)
{
	const struct stage *stage = &f->stage[pool];
	const struct trc_blamed_pair *sum = f->sums.row;
	bool *waits = calloc(f->r->n_threads + 1, sizeof(*waits));

	*equal = false;
	if (!waits)
		return -ENOMEM;
	for (size_t i = 0; i < f->sums.n; i++)
		if (sum[i].by == pool && is_waiter(f, &sum[i]))
			waits[sum[i].waiter] = true;
	for (uint32_t i = 0; i < f->r->n_threads; i++)
		if (f->pools.of[i] != pool && !waits[i] &&
		    trc_thread_busy_ns(f->r, i) >= stage->busy_ns / stage->n / 100 * EQUAL_PERCENT)
			*equal = true;
	free(waits);
	return 0;
}

/* ---- what it is told by ---- */

/* The samples of the stage's CPU time. */
struct place {
	uint32_t stack; /* where most of them were; 0 = there are none */
	int64_t ns, all_ns;
	double margin_ns; /* half of the interval of 95 % of ns */
};

static bool is_of_pool(const struct finder *f, uint32_t pool, const struct trc_sample *sample)
{
	const struct trc_thread *thread = trc_model_thread(f->r->m, sample->thread);

	return thread && f->pools.of[thread - f->r->thread] == pool &&
	       trc_selection_has_time(f->r->selection, sample->thread, sample->ts_ns) &&
	       trc_model_is_clock_sample(f->r->m, sample);
}

static int find_busiest(const struct finder *f, uint32_t pool, struct place *place)
{
	size_t n;
	const struct trc_sample *sample = trc_model_samples(f->r->m, &n);
	int64_t *ns = calloc(f->r->n_canonical + 1, sizeof(*ns));

	*place = (struct place){.stack = 0};
	if (!ns)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		uint32_t at = trc_report_same_place(f->r, sample[i].stack);
		int64_t value = trc_report_int64(sample[i].scaled);

		if (!at || !is_of_pool(f, pool, &sample[i]))
			continue;
		trc_report_add(&place->all_ns, value);
		trc_report_add(&ns[at], value);
		if (ns[at] > place->ns) {
			place->ns = ns[at];
			place->stack = at;
		}
	}
	free(ns);
	return 0;
}

/* How far place->ns may be off as a share of place->all_ns. */
static int find_margin(const struct finder *f, uint32_t pool, struct place *place)
{
	size_t n, n_threads = f->r->n_threads;
	const struct trc_sample *sample = trc_model_samples(f->r->m, &n);
	struct trc_margin_part *whole = calloc(2 * n_threads + 1, sizeof(*whole)), *part;
	struct trc_margin sum = {.value = 0}, all = {.value = 0};

	if (!whole)
		return -ENOMEM;
	part = whole + n_threads;
	for (size_t i = 0; i < n; i++) {
		uint32_t at = trc_report_same_place(f->r, sample[i].stack);
		size_t row;

		if (!at || !is_of_pool(f, pool, &sample[i]))
			continue;
		row = (size_t)(trc_model_thread(f->r->m, sample[i].thread) - f->r->thread);
		trc_margin_part_add(&whole[row], sample[i].scaled);
		if (at == place->stack)
			trc_margin_part_add(&part[row], sample[i].scaled);
	}
	for (size_t row = 0; row < n_threads; row++) {
		if (!whole[row].n)
			continue;
		trc_margin_add(&all, &whole[row], &whole[row]);
		trc_margin_add(&sum, &part[row], &whole[row]);
	}
	place->margin_ns = trc_margin_share(&sum, &all);
	free(whole);
	return 0;
}

static void add_waiters(struct finder *f, struct trc_line *line, const struct stage *stage)
{
	char share[TRC_NUMBER_BYTES];

	trc_line_add(line, "waited for it:");
	for (uint32_t i = 0; i < stage->n_waiters && i < WAITERS_MAX; i++) {
		const struct trc_thread *thread = &f->r->thread[stage->waiter[i]];

		trc_line_add(line, i ? ", " : " ");
		trc_report_thread(f->r, line, thread->serial, 30);
		trc_line_add(line, " %s of its time",
			     trc_text_share(share, stage->waiter_ns[i],
					    trc_report_lifetime_ns(f->r, thread)));
	}
	if (stage->n_waiters > WAITERS_MAX)
		trc_line_add(line, " and %u more", stage->n_waiters - WAITERS_MAX);
}

static int stage_set_why(struct finder *f, struct trc_finding *finding, uint32_t pool,
			 const struct stage *stage)
{
	char share[TRC_NUMBER_BYTES], margin[TRC_NUMBER_BYTES];
	struct place place;
	struct trc_line line;
	int err = find_busiest(f, pool, &place);

	if (!err)
		err = find_margin(f, pool, &place);
	trc_finding_line(&line);
	add_waiters(f, &line, stage);
	if (place.stack) {
		trc_line_add(&line, "; it was at ");
		trc_report_place(f->r, &line, place.stack);
		trc_text_margin(margin, place.margin_ns, place.all_ns);
		trc_line_add(&line, " in %s%s%s of its samples",
			     trc_text_share(share, place.ns, place.all_ns), *margin ? " " : "",
			     margin);
	}
	trc_finding_set_why(finding, &line);
	return err;
}

/* The waits of those who wait for it, by object. */
static void stage_set_sql(struct finder *f, struct trc_finding *finding, const struct stage *stage)
{
	trc_finding_sql_add(finding, "SELECT thread, reason, object, count(*) AS waits, "
				     "sum(waited_ns) AS waited_ns FROM parks WHERE thread IN (");
	for (uint32_t i = 0; i < stage->n_waiters && i < WAITERS_MAX; i++)
		trc_finding_sql_add(finding, "%s%u", i ? ", " : "",
				    f->r->thread[stage->waiter[i]].serial);
	trc_finding_sql_add(finding, ") GROUP BY thread, reason, object ORDER BY 5 DESC");
}

static uint32_t first_of(const struct finder *f, uint32_t pool)
{
	for (size_t i = 0; i < f->r->n_threads; i++)
		if (f->pools.of[i] == pool)
			return f->r->thread[i].serial;
	return 0;
}

static int tell_stage(struct finder *f, struct trc_array *out, uint32_t pool)
{
	const struct stage *stage = &f->stage[pool];
	struct trc_finding finding = {
		.kind = TRC_FINDING_SLOW_STAGE,
		.severity = TRC_SEVERITY_COST,
		.cost_ns = stage->waited_ns,
		.start_ns = trc_report_later_ns(f->r, f->r->start_ns),
		.end_ns = trc_report_earlier_ns(f->r, f->r->end_ns),
		.thread = first_of(f, pool),
	};
	char busy[TRC_NUMBER_BYTES], waited[TRC_NUMBER_BYTES], share[TRC_NUMBER_BYTES];
	struct trc_line line;
	int err = stage_set_why(f, &finding, pool, stage);

	stage_set_sql(f, &finding, stage);
	trc_finding_line(&line);
	trc_pools_add(f->r, &line, &f->pools, pool);
	trc_line_add(&line, " %s the slow stage: at work for %s of the time, while ",
		     stage->n == 1 ? "is" : "are",
		     trc_text_share(busy, stage->occupied_ns, stage->alive_ns));
	trc_finding_threads(&line, stage->n_waiters);
	trc_line_add(&line, " waited %s for %s, %s of their time",
		     trc_text_duration(waited, stage->waited_ns), stage->n == 1 ? "it" : "them",
		     trc_text_share(share, stage->waited_ns, stage->waiters_alive_ns));
	return err ? err : trc_finding_add(out, &finding, &line);
}

static int find_stage(struct finder *f, struct trc_array *out)
{
	const struct trc_blamed_pair *sum;
	uint32_t slowest = UINT32_MAX;
	bool equal = false;
	int err = sum_pairs(f);

	sum = f->sums.row;
	for (size_t i = 0; i < f->sums.n && !err; i++)
		add_waiter(f, &sum[i]);
	for (uint32_t i = 0; i < f->pools.n && !err; i++)
		if (is_slow(f, &f->stage[i]) &&
		    (slowest == UINT32_MAX || f->stage[i].waited_ns > f->stage[slowest].waited_ns))
			slowest = i;
	if (!err && slowest != UINT32_MAX)
		err = find_equal(f, slowest, &equal);
	return err || slowest == UINT32_MAX || equal ? err : tell_stage(f, out, slowest);
}

/* ---- one of a pool ---- */

/*
 * A program's function that makes pools makes all of them at one place, and their threads begin in one function, as
 * zstd's do: those that compress, and the one that reads.  So threads of a pool are a team if they wait for one condition
 * variable, semaphore or what else several of the pool wait for, each for one that the next one waits for, too.  If no
 * two of a pool wait for the same, the pool is the team.
 */
struct team {
	uint32_t n;
	int64_t alive_ns;
	int64_t waited_ns; /* its threads for each other */
};

/* Of the thread that others of its team wait for. */
struct late {
	int64_t ns, without_proc_ns;
	uint64_t n;
};

struct teams {
	uint32_t *
		of; /* by row of thread: a row of the same team, at the last in the chain its own */
	bool *shares;	   /* by pool: two threads of it wait for the same */
	struct team *team; /* by row of the thread that stands for the team */
};

static uint32_t team_of(const struct teams *teams, uint32_t row)
{
	while (teams->of[row] != row) {
		teams->of[row] = teams->of[teams->of[row]];
		row = teams->of[row];
	}
	return row;
}

static bool can_be_shared(const struct trc_park *park)
{
	return park->object && trc_wait_class(park->reason) == TRC_WAIT_THREADS &&
	       park->reason != TRC_REASON_JOIN;
}

static int join_by_objects(struct finder *f, struct teams *teams)
{
	struct trc_index first = {
		0}; /* of a pool, by object: row + 1 of the thread that waited first */
	int err = 0;

	for (size_t i = 0; i < f->r->n_parks && !err; i++) {
		const struct trc_park *park = &f->r->park[i];
		const struct trc_thread *thread = trc_model_thread(f->r->m, park->thread);
		uint32_t row, other;
		uint64_t key[2];

		if (!thread || !can_be_shared(park))
			continue;
		row = (uint32_t)(thread - f->r->thread);
		key[0] = f->pools.of[row];
		key[1] = park->object;
		other = trc_index_get(&first, trc_check64(key, sizeof(key), 0));
		if (other == TRC_INDEX_NONE) {
			err = trc_index_put(&first, trc_check64(key, sizeof(key), 0), row + 1);
		} else if (other - 1 != row) {
			teams->shares[key[0]] = true;
			teams->of[team_of(teams, row)] = team_of(teams, other - 1);
		}
	}
	trc_index_free(&first);
	return err;
}

/* Pools of which no two threads wait for the same. */
static int join_pools(struct finder *f, struct teams *teams)
{
	uint32_t *first = calloc(f->pools.n + 1, sizeof(*first));

	if (!first)
		return -ENOMEM;
	for (uint32_t i = 0; i < f->r->n_threads; i++) {
		uint32_t pool = f->pools.of[i];

		if (teams->shares[pool])
			continue;
		if (first[pool])
			teams->of[i] = first[pool] - 1;
		else
			first[pool] = i + 1;
	}
	free(first);
	return 0;
}

static int make_teams(struct finder *f, struct teams *teams)
{
	int err;

	teams->of = calloc(f->r->n_threads + 1, sizeof(*teams->of));
	teams->shares = calloc(f->pools.n + 1, sizeof(*teams->shares));
	teams->team = calloc(f->r->n_threads + 1, sizeof(*teams->team));
	if (!teams->of || !teams->shares || !teams->team)
		return -ENOMEM;
	for (uint32_t i = 0; i < f->r->n_threads; i++)
		teams->of[i] = i;
	err = join_by_objects(f, teams);
	if (!err)
		err = join_pools(f, teams);
	for (uint32_t i = 0; i < f->r->n_threads && !err; i++) {
		struct team *team = &teams->team[team_of(teams, i)];
		int64_t alive_ns = trc_report_lifetime_ns(f->r, &f->r->thread[i]);

		if (f->r->selection && !alive_ns)
			continue;
		team->n++;
		trc_report_add(&team->alive_ns, alive_ns);
	}
	return err;
}

static void free_teams(struct teams *teams)
{
	free(teams->of);
	free(teams->shares);
	free(teams->team);
}

static int tell_late(struct finder *f, struct trc_array *out, uint32_t row, const struct team *team,
		     const struct late *late)
{
	struct trc_report *r = f->r;
	int64_t others_ns = team->alive_ns - trc_report_lifetime_ns(r, &r->thread[row]);
	struct trc_finding finding = {
		.kind = TRC_FINDING_LATE_THREAD,
		.severity = TRC_SEVERITY_COST,
		.cost_ns = late->ns,
		.start_ns = trc_report_later_ns(r, r->start_ns),
		.end_ns = trc_report_earlier_ns(r, r->end_ns),
		.thread = r->thread[row].serial,
	};
	char waited[TRC_NUMBER_BYTES], share[TRC_NUMBER_BYTES];
	struct trc_line line;

	trc_finding_sql_add(&finding,
			    "SELECT thread, reason, object, count(*) AS waits, sum(waited_ns) AS "
			    "waited_ns FROM parks WHERE waker_thread = %u GROUP BY thread, reason, "
			    "object ORDER BY 5 DESC",
			    finding.thread);
	trc_finding_line(&line);
	trc_report_thread(r, &line, finding.thread, 30);
	trc_line_add(&line, " keeps the others of its pool waiting: ");
	trc_finding_threads(&line, team->n - 1);
	trc_line_add(&line, " waited %s for it, %s of their time",
		     trc_text_duration(waited, late->ns),
		     trc_text_share(share, late->ns, others_ns));
	return trc_finding_add(out, &finding, &line);
}

/* It has most of what its team waits for itself. */
static bool is_late(const struct finder *f, uint32_t row, const struct team *team,
		    const struct late *late)
{
	int64_t others_ns = team->alive_ns - trc_report_lifetime_ns(f->r, &f->r->thread[row]);
	int percent = team->n > 2 ? 60 : 85;

	return late->n >= HANDED_LEAST && late->without_proc_ns < late->ns / 2 &&
	       late->ns >= others_ns / 100 * POOL_WAITED_PERCENT &&
	       late->ns >= team->waited_ns / 100 * percent &&
	       late->ns >= f->r->length_ns / 100; /* G3 */
}

static void add_pairs(struct finder *f, const struct teams *teams, struct late *late)
{
	const struct trc_blamed_pair *pair = f->blamed.pairs.row;

	for (size_t i = 0; i < f->blamed.pairs.n; i++) {
		uint32_t team = team_of(teams, pair[i].by);

		if (team != team_of(teams, pair[i].waiter))
			continue;
		trc_report_add(&teams->team[team].waited_ns, pair[i].ns);
		trc_report_add(&late[pair[i].by].ns, pair[i].ns);
		trc_report_add(&late[pair[i].by].without_proc_ns, pair[i].without_proc_ns);
		late[pair[i].by].n += pair[i].n;
	}
}

static int find_late(struct finder *f, struct trc_array *out)
{
	struct late *late = calloc(f->r->n_threads + 1, sizeof(*late));
	struct teams teams = {0};
	int err = late ? make_teams(f, &teams) : -ENOMEM;

	if (!err)
		add_pairs(f, &teams, late);
	for (uint32_t i = 0; i < f->r->n_threads && !err; i++) {
		const struct team *team = &teams.team[team_of(&teams, i)];

		if (late[i].ns > 0 && is_late(f, i, team, &late[i]))
			err = tell_late(f, out, i, team, &late[i]);
	}
	free(late);
	free_teams(&teams);
	return err;
}

/* ---- both ---- */

static int open_finder(struct finder *f, struct trc_report *r)
{
	int err = trc_pools_of(&f->pools, r);

	f->r = r;
	f->sums.row_bytes = sizeof(struct trc_blamed_pair);
	f->away_ns = calloc(r->n_threads + 1, sizeof(*f->away_ns));
	f->stage = calloc(f->pools.n + 1, sizeof(*f->stage));
	if (!err && (!f->away_ns || !f->stage))
		err = -ENOMEM;
	return err ? err : trc_blamed_of(&f->blamed, r);
}

static void close_finder(struct finder *f)
{
	trc_pools_free(&f->pools);
	trc_blamed_free(&f->blamed);
	trc_array_free(&f->sums);
	free(f->away_ns);
	free(f->stage);
}

/* Sets *no_procs if other threads, or faster ones, would find no procs.  0 or -ENOMEM. */
static int look_at_procs(struct finder *f, bool *no_procs)
{
	struct trc_procs procs;
	size_t n_procs;
	int err = trc_procs_of(&procs, f->r);

	trc_model_procs(f->r->m, &n_procs);
	f->n_procs = procs.n_procs > n_procs ? procs.n_procs : (uint32_t)n_procs;
	*no_procs =
		trc_procs_short_ns(&procs, trc_report_later_ns(f->r, f->r->start_ns),
				   trc_report_earlier_ns(f->r, f->r->end_ns)) > f->r->length_ns / 2;
	trc_procs_free(&procs);
	return err;
}

int trc_find_stages(struct trc_report *r, struct trc_array *out)
{
	struct finder f = {0};
	bool no_procs = false;
	int err = open_finder(&f, r);

	if (!err)
		err = look_at_procs(&f, &no_procs);
	if (!err && !no_procs) {
		sum_threads(&f);
		err = find_stage(&f, out);
		if (!err)
			err = find_late(&f, out);
	}
	close_finder(&f);
	return err;
}
