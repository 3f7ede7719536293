/* recorder_window.c - windows of recorders, from begin to end, and the counts of windows. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "recorder/shared/clock.h"
#include "format/now.h"
#include "format/raw.h"
#include "recorder/profile/kind.h"
#include "service.h"

/* What the draining thread is asked to do with several recorders at one time. */
struct batch {
	struct trace_recorder *const *r;
	size_t n;
	struct trc_taken *taken;
	bool window, end;
};

static int64_t signed_now_ns(clockid_t clock)
{
	return (int64_t)trc_now_ns(clock);
}

/* ---- in the draining thread ------------------------------------------------------------ */

int trc_recorder_add_view(struct trace_recorder *r, struct trc_fold *fold,
			  struct trc_view_options options, uint64_t now)
{
	static uint64_t n_seeds;
	int err;

	if (r->n_views == TRC_RECORDER_VIEWS_MAX)
		return -ENOSPC;
	options.seed = (trc_clock_now() ^ ++n_seeds << 48) * UINT64_C(0x9e3779b97f4a7c15);
	err = trc_view_add(fold, &r->view[r->n_views], &options, now);
	if (!err)
		r->n_views++;
	return err;
}

static void remove_views(struct trace_recorder *r, struct trc_fold *fold)
{
	while (r->n_views)
		trc_view_remove(fold, r->view[--r->n_views]);
}

static int window_add_all(void *context, struct trc_fold *fold, uint64_t now)
{
	struct batch *b = context;
	int err = 0;

	for (size_t i = 0; i < b->n && !err; i++)
		if (b->r[i]->kind->views)
			err = b->r[i]->kind->add_views(b->r[i], fold, now);
	for (size_t i = 0; i < b->n && err; i++)
		remove_views(b->r[i], fold);
	return err;
}

static int copy_views(struct trace_recorder *r, struct trc_fold *fold, uint64_t now,
		      struct trc_taken *taken)
{
	for (unsigned int i = 0; i < r->n_views; i++) {
		int err = trc_view_copy(fold, r->view[i], now, &taken->folded[taken->n_folded]);

		if (err)
			return err;
		taken->n_folded++;
	}
	if (r->kind->taken)
		r->kind->taken(r, taken);
	return 0;
}

static int take_all(void *context, struct trc_fold *fold, uint64_t now)
{
	struct batch *b = context;
	int err = 0;

	for (size_t i = 0; i < b->n; i++) {
		struct trace_recorder *r = b->r[i];

		if (!r->kind->views)
			continue;
		if (!err && b->taken)
			err = r->kind->look && !b->end ? r->kind->look(r, fold, now, &b->taken[i])
						       : copy_views(r, fold, now, &b->taken[i]);
		if (b->end)
			remove_views(r, fold);
	}
	return err;
}

struct count {
	const struct trace_recorder *r;
	uint64_t n;
};

static int window_count(void *context, struct trc_fold *fold, uint64_t now)
{
	struct count *c = context;

	for (unsigned int i = 0; i < c->r->n_views; i++)
		c->n += trc_view_count(c->r->view[i]);
	return 0;
}

static bool have_views(const struct batch *b)
{
	for (size_t i = 0; i < b->n; i++)
		if (b->r[i]->kind->views)
			return true;
	return false;
}

/* ---- in the caller's ------------------------------------------------------------------- */

static void window_undo(struct trace_recorder *const *r, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (r[i]->kind->done)
			r[i]->kind->done(r[i]);
		if (r[i]->kind->views)
			trc_service_end();
	}
}

static int window_prepare(struct trace_recorder *r, char why[static TRC_RECORDER_WHY_BYTES])
{
	int err = r->kind->views ? trc_service_begin(why, TRC_RECORDER_WHY_BYTES) : 0;

	r->n_views = 0; /* kind:K3 */
	if (err)
		return err;
	err = r->kind->prepare(r, why);
	if (err && r->kind->views)
		trc_service_end();
	return err;
}

static int window_explain(int err, char why[static TRC_RECORDER_WHY_BYTES])
{
	if (*why || !err)
		return err;
	if (err == -ENOSPC)
		snprintf(why, TRC_RECORDER_WHY_BYTES,
			 "%d recorders and windows run already: there is room for no more",
			 TRC_VIEWS_MAX);
	else
		snprintf(why, TRC_RECORDER_WHY_BYTES, "%s",
			 err == -ECANCELED ? "nothing records this process any more"
					   : strerror(-err));
	return err;
}

int trc_recorders_begin(struct trace_recorder *const *r, size_t n,
			char why[static TRC_RECORDER_WHY_BYTES])
{
	struct batch batch = {.r = r, .n = n};
	size_t n_prepared = 0;
	int err = 0;

	for (; n_prepared < n && !err; n_prepared += !err)
		err = window_prepare(r[n_prepared], why);
	for (size_t i = 0; i < n; i++) {
		r[i]->begin_realtime_ns = signed_now_ns(CLOCK_REALTIME);
		r[i]->begin_raw_ns = signed_now_ns(CLOCK_MONOTONIC_RAW);
	}
	if (!err && have_views(&batch))
		err = trc_service_call(window_add_all, &batch);
	if (err)
		window_undo(r, n_prepared);
	return window_explain(err, why);
}

static int take_one(struct trace_recorder *r, struct trc_taken *taken, bool window, bool end,
		    char why[static TRC_RECORDER_WHY_BYTES])
{
	const struct trc_recorder_kind *kind = r->kind;
	struct trc_folded_head head;

	taken->begin_realtime_ns = window ? r->begin_realtime_ns : signed_now_ns(CLOCK_REALTIME);
	if (window)
		taken->duration_ns = signed_now_ns(CLOCK_MONOTONIC_RAW) - r->begin_raw_ns;
	if (kind->take) {
		int err = kind->take(r, taken, end, why);

		return err ? err : trc_module_list(&taken->modules, kind->epochs && end);
	}
	if (!taken->n_folded)
		return 0;
	trc_folded_head(taken->folded[0], &head);
	if (window)
		taken->duration_ns = (int64_t)head.duration_ns;
	return trc_module_list(&taken->modules, true);
}

/* Whether what is taken tells of the window up to now, not of this instant. */
static bool tells_of_window(const struct trc_recorder_kind *kind, bool window, bool end)
{
	return window && (end || (!kind->look && !kind->take));
}

int trc_recorders_take(struct trace_recorder *const *r, size_t n, struct trc_taken *taken,
		       bool window, bool end, char why[static TRC_RECORDER_WHY_BYTES])
{
	struct batch batch = {.r = r, .n = n, .taken = taken, .window = window, .end = end};
	int err = 0;

	for (size_t i = 0; i < n && !window; i++)
		if (r[i]->kind->views && !r[i]->kind->look) {
			snprintf(why, TRC_RECORDER_WHY_BYTES,
				 "this recorder was not started: it has nothing yet");
			return -EINVAL;
		}
	if (have_views(&batch))
		err = trc_service_call(take_all, &batch);
	for (size_t i = 0; i < n && !err; i++)
		err = take_one(r[i], &taken[i], tells_of_window(r[i]->kind, window, end), end, why);
	if (end)
		window_undo(r, n);
	if (err == -ECANCELED && !window) {
		snprintf(why, TRC_RECORDER_WHY_BYTES,
			 "nothing of this is sampled: a recorder has to be started first");
		err = -EINVAL;
	}
	return window_explain(err, why);
}

uint64_t trc_recorder_count(struct trace_recorder *r)
{
	struct count c = {.r = r};

	return trc_service_call(window_count, &c) ? 0 : c.n;
}

void trc_recorders_cancel(struct trace_recorder *const *r, size_t n)
{
	struct batch batch = {.r = r, .n = n, .window = true, .end = true};

	if (have_views(&batch))
		trc_service_call(take_all, &batch);
	window_undo(r, n);
}
