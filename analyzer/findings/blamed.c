/* blamed.c - see blamed.h. */
#include "blamed.h"

#include <errno.h>

/* Of more waits, or rows of their causes, only some are followed; the others are taken to be like these. */
enum { WAITS_FOLLOWED = 10000, ROWS_FOLLOWED = 2000000 };

bool trc_blamed_counts(const struct trc_park *park)
{
	enum trc_wait_class class = trc_wait_class(park->reason);

	if (park->reason == TRC_REASON_JOIN || park->reason == TRC_REASON_BARRIER ||
	    class == TRC_WAIT_LOCKS)
		return false;
	return class == TRC_WAIT_THREADS || park->waker;
}

/* ---- which waits ---- */

struct follower {
	struct trc_report *r;
	trc_blamed_wanted_fn *wanted;
	int64_t waited_ns, followed_ns;
	size_t n_waits, n_rows;
};

static bool counts(const struct follower *f, const struct trc_park *park)
{
	return trc_blamed_counts(park) && (!f->wanted || f->wanted(f->r, park));
}

static int64_t length_of(const struct follower *f, const struct trc_park *park)
{
	return trc_park_end_ns(f->r->m, park) - trc_park_start_ns(f->r->m, park);
}

static void count_waits(struct follower *f)
{
	for (size_t i = 0; i < f->r->n_parks; i++) {
		if (!counts(f, &f->r->park[i]))
			continue;
		f->n_waits++;
		trc_report_add(&f->waited_ns, length_of(f, &f->r->park[i]));
	}
}

static double times_of(const struct follower *f)
{
	return f->followed_ns > 0 && f->waited_ns > f->followed_ns
		       ? (double)f->waited_ns / (double)f->followed_ns
		       : 1;
}

int trc_blamed_follow(struct trc_report *r, trc_blamed_wanted_fn *wanted, trc_blamed_add_fn *add,
		      void *context, double *times)
{
	struct follower f = {.r = r, .wanted = wanted};
	size_t step, n = 0;
	int err = 0;

	count_waits(&f);
	step = f.n_waits / WAITS_FOLLOWED + 1;
	for (size_t i = 0; i < r->n_parks && !err && f.n_rows < ROWS_FOLLOWED; i++) {
		const struct trc_park *park = &r->park[i];
		const struct trc_thread *thread = trc_model_thread(r->m, park->thread);
		const struct trc_cause *row;
		size_t n_rows;

		if (!thread || !counts(&f, park) || n++ % step)
			continue;
		err = trc_report_causes_of_park(r, i, &row, &n_rows);
		if (!err)
			err = add(context, (uint32_t)(thread - r->thread), row, n_rows);
		f.n_rows += err ? 0 : n_rows;
		trc_report_add(&f.followed_ns, length_of(&f, park));
	}
	*times = times_of(&f);
	return err;
}

/* ---- pairs ---- */

struct summer {
	struct trc_report *r;
	struct trc_array *pairs;
	struct trc_index index;
};

static struct trc_blamed_pair *pair_of(struct summer *f, uint32_t waiter, uint32_t by)
{
	uint32_t number = trc_index_number(&f->index, (uint64_t)waiter << 32 | by);
	struct trc_blamed_pair *pair =
		number > f->pairs->n ? trc_array_add(f->pairs)
				     : (struct trc_blamed_pair *)f->pairs->row + number - 1;

	if (!number || !pair)
		return NULL;
	pair->waiter = waiter;
	pair->by = by;
	return pair;
}

static bool is_on_its_way(const struct trc_cause *row)
{
	return row->leaf && row->depth &&
	       (row->kind == TRC_CAUSE_RUNNING || row->kind == TRC_CAUSE_ACTIVE ||
		row->kind == TRC_CAUSE_PREEMPTED || row->kind == TRC_CAUSE_OFF);
}

static int add_rows(void *context, uint32_t waiter, const struct trc_cause *row, size_t n)
{
	struct summer *f = context;
	uint32_t last = UINT32_MAX;

	for (size_t i = 0; i < n; i++) {
		const struct trc_thread *by = trc_model_thread(f->r->m, row[i].thread);
		struct trc_blamed_pair *pair;

		if (!by || !is_on_its_way(&row[i]) || (uint32_t)(by - f->r->thread) == waiter)
			continue;
		pair = pair_of(f, waiter, (uint32_t)(by - f->r->thread));
		if (!pair)
			return -ENOMEM;
		trc_report_add(&pair->ns, row[i].to_ns - row[i].from_ns);
		if (row[i].kind == TRC_CAUSE_PREEMPTED)
			trc_report_add(&pair->without_proc_ns, row[i].to_ns - row[i].from_ns);
		pair->n += pair->by != last;
		last = pair->by;
	}
	return 0;
}

/* What was followed stands for all. */
static void scale(struct summer *f, double times)
{
	struct trc_blamed_pair *pair = f->pairs->row;

	for (size_t i = 0; i < f->pairs->n && times > 1; i++) {
		pair[i].ns = trc_estimate_whole((double)pair[i].ns * times);
		pair[i].without_proc_ns =
			trc_estimate_whole((double)pair[i].without_proc_ns * times);
		pair[i].n = (uint64_t)trc_estimate_whole((double)pair[i].n * times);
	}
}

int trc_blamed_of(struct trc_blamed *blamed, struct trc_report *r)
{
	struct summer f = {.r = r, .pairs = &blamed->pairs};
	double times = 1;
	int err;

	blamed->pairs = (struct trc_array){.row_bytes = sizeof(struct trc_blamed_pair)};
	err = trc_blamed_follow(r, NULL, add_rows, &f, &times);
	scale(&f, times);
	trc_index_free(&f.index);
	return err;
}

void trc_blamed_free(struct trc_blamed *blamed)
{
	trc_array_free(&blamed->pairs);
}
