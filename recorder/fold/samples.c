/*
 * samples.c - samples of counters and of allocations: see private.h.
 *
 * An allocation of s bytes that was sampled at a mean distance of p bytes was chosen with the
 * chance 1 - exp(-s/p), and stands for 1 / (1 - exp(-s/p)) such allocations.
 */
#include "format/sampled.h"
#include "private.h"

/* ---- counters -------------------------------------------------------------------------- */

static bool event_is_of_view(const struct trc_view *view, const struct trc_fold_event *e)
{
	return e->time >= view->begin &&
	       (!view->options.sample_event || view->options.sample_event == e->sampled);
}

static void view_add_sample(struct trc_view *view, const struct trc_fold_event *e, uint32_t labels)
{
	double value[TRC_VIEW_VALUES] = {1, (double)e->a}, period = (double)e->b;

	view->period = e->b ? e->b : view->period;
	if (e->b && view->options.rate > e->b) {
		uint64_t which = trc_fold_mix(e->time) ^ (uint64_t)e->thread << 16 ^ e->sampled;

		if (trc_view_draw(view, which) * view->rate >= period)
			return;
		value[1] *= view->rate / period;
	}
	trc_view_sum(view, e->stack, labels, value);
}

void trc_fold_sample(struct trc_fold *f, const struct trc_fold_event *e)
{
	/* The kernel's samples have none of their own. */
	uint32_t labels = e->labels ? e->labels : trc_fold_labels_of(f, e->thread);

	for (uint32_t i = 0; i < TRC_VIEWS_MAX; i++) {
		struct trc_view *view = trc_fold_view(f, i, TRC_VIEW_CPU);

		if (view && event_is_of_view(view, e))
			view_add_sample(view, e, labels);
	}
}

/* One that is lost is of the period of those that are taken, not of those that the view keeps. */
static void add_lost(struct trc_view *view, uint64_t n, uint64_t cause)
{
	double value = (double)n * (double)(view->period ? view->period : view->options.rate);

	view->lost_by_cause[cause] += n;
	view->lost_value += value;
	view->alone_value += trc_sample_loss_may_meet_any(cause) ? 0 : value;
}

void trc_fold_samples_lost(struct trc_fold *f, const struct trc_fold_event *e)
{
	uint64_t cause = e->b < TRC_SAMPLE_LOSS_COUNT ? e->b : TRC_SAMPLE_LOSS_NONE;

	for (uint32_t i = 0; i < TRC_VIEWS_MAX; i++) {
		struct trc_view *view = trc_fold_view(f, i, TRC_VIEW_CPU);

		if (view && e->time >= view->begin && (event_is_of_view(view, e) || !e->sampled))
			add_lost(view, e->a, cause);
	}
}

/* ---- allocations ----------------------------------------------------------------------- */

double trc_fold_chance(double x)
{
	unsigned int halved = 0;
	double chance = 1;

	if (x > 45) /* what is missing is less than a double can tell from 1 */
		return 1;
	for (; x > 0.25; x /= 2)
		halved++;
	/* x - x^2/2! + x^3/3! - ..., from the far end */
	for (int n = 14; n > 1; n--)
		chance = 1 - x / n * chance;
	chance *= x;
	for (; halved; halved--)
		chance *= 2 - chance;
	return chance;
}

/* How likely an object of this size is a sample. */
static double chance_of(uint64_t bytes, double period)
{
	return period > 1 ? trc_fold_chance((double)(bytes ? bytes : 1) / period) : 1;
}

/* How many objects the sample stands for in this view; 0 = it is not chosen. */
static double weight_of(const struct trc_view *view, const struct trc_fold_live *live)
{
	double chance = chance_of(live->bytes, (double)live->period);

	if (view->rate > (double)live->period && view->rate > 1) {
		double thinned = chance_of(live->bytes, view->rate);

		if (trc_view_draw(view, live->sample) * chance >= thinned)
			return 0;
		chance = thinned;
	}
	return 1 / chance;
}

/* in_use: 1, an object more that is live; -1, one less. */
static void view_add_object(struct trc_view *view, const struct trc_fold_live *live, bool allocated,
			    double in_use)
{
	double weight = weight_of(view, live), bytes = (double)live->bytes;
	const double value[TRC_VIEW_VALUES] = {allocated ? weight : 0,
					       allocated ? weight * bytes : 0, in_use * weight,
					       in_use * weight * bytes};

	if (weight > 0)
		trc_view_sum(view, live->item.extra, live->labels, value);
}

static bool is_of_before(const struct trc_view *view, const struct trc_fold_live *live)
{
	return view->options.live &&
	       (!view->options.live_before || live->time < view->options.live_before);
}

static bool is_counted(const struct trc_view *view, const struct trc_fold_live *live)
{
	return live->time >= view->begin || is_of_before(view, live);
}

static void live_end(struct trc_fold *f, struct trc_fold_live *live)
{
	for (uint32_t i = 0; i < TRC_VIEWS_MAX; i++) {
		struct trc_view *view = trc_fold_view(f, i, TRC_VIEW_HEAP);

		if (view && is_counted(view, live))
			view_add_object(view, live, false, -1);
	}
	trc_fold_table_remove(&f->live, live);
}

/* What was at this address is no more, even if nobody told: its end was lost. */
static struct trc_fold_live *live_begin(struct trc_fold *f, const struct trc_fold_live *object)
{
	struct trc_fold_live *live = trc_fold_table_find(&f->live, object->item.key);
	uint32_t next;

	if (live)
		live_end(f, live);
	live = trc_fold_table_add(&f->live, object->item.key);
	if (!live)
		return NULL;
	next = live->item.next;
	*live = *object;
	live->item.next = next;
	return live;
}

void trc_fold_alloc(struct trc_fold *f, const struct trc_fold_event *e)
{
	/* As of a sample: where the ring's table had no room the record does not carry the set. */
	uint32_t labels = e->labels ? e->labels : trc_fold_labels_of(f, e->thread);
	const struct trc_fold_live object = {.item = {.key = e->a, .extra = e->stack},
					     .time = e->time,
					     .bytes = e->b,
					     .sample = e->d,
					     .labels = labels,
					     .period = (float)e->c};
	const struct trc_fold_live *live = f->n_heap_views ? live_begin(f, &object) : NULL;

	for (uint32_t i = 0; i < TRC_VIEWS_MAX; i++) {
		struct trc_view *view = f->view[i];

		if (view && view->options.kind == TRC_VIEW_ALLOC && e->time >= view->begin)
			view_add_object(view, &object, true, 0);
		if (!view || view->options.kind != TRC_VIEW_HEAP || !is_counted(view, &object))
			continue;
		view_add_object(view, &object, true, live ? 1 : 0);
		view->left_out += !live;
	}
}

void trc_fold_free(struct trc_fold *f, const struct trc_fold_event *e)
{
	struct trc_fold_live *live = trc_fold_table_find(&f->live, e->a);

	/* Allocated before anybody looked, or ended by what was allocated there since. */
	if (live && live->sample == e->d)
		live_end(f, live);
}

void trc_fold_live_add(struct trc_fold *f, struct trc_view *view)
{
	for (uint32_t id = 1; id <= f->live.used; id++) {
		const struct trc_fold_live *live = trc_fold_table_at(&f->live, id);

		if (live && is_of_before(view, live))
			view_add_object(view, live, true, 1);
	}
}

void trc_fold_live_forget(struct trc_fold *f)
{
	trc_fold_table_clear(&f->live);
}

void trc_fold_live_mark(struct trc_fold *f)
{
	for (uint32_t id = 1; id <= f->live.used; id++) {
		const struct trc_fold_live *live = trc_fold_table_at(&f->live, id);

		if (!live)
			continue;
		trc_fold_intern_mark(&f->stacks, live->item.extra);
		trc_fold_intern_mark(&f->label_sets, live->labels);
	}
}
