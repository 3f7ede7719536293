/* recorder_views.c - block, mutex and threadcreate recorders (<trc/recorder.h>). */
#include <errno.h>
#include <string.h>
#include "recorder/profile/kind.h"
#include "recording.h"

/* Of waits there is nothing to turn on: they are recorded as soon as anything is. */
struct waits {
	struct trace_recorder base;
	int64_t rate; /* never 0; less = off */
};

static int views_prepare(struct trace_recorder *r, char why[static TRC_RECORDER_WHY_BYTES])
{
	return 0;
}

static int views_add(struct trace_recorder *r, struct trc_fold *fold, enum trc_view_kind kind,
		     uint64_t now)
{
	const int64_t rate = ((struct waits *)r)->rate;
	const struct trc_view_options options = {.kind = kind, .rate = (uint64_t)rate};

	return rate > 0 ? trc_recorder_add_view(r, fold, options, now) : 0;
}

static int views_make(struct trace_recorder **out, const struct trc_recorder_kind *kind,
		      enum trace_profile_format format, int64_t rate)
{
	struct waits *w = trc_recorder_new(sizeof(*w), kind, format);

	if (!w)
		return -ENOMEM;
	w->rate = rate;
	*out = &w->base;
	return 0;
}

/* ---- block ----------------------------------------------------------------------------- */

static int views_add_block(struct trace_recorder *r, struct trc_fold *fold, uint64_t now)
{
	return views_add(r, fold, TRC_VIEW_BLOCK, now);
}

static void describe_block(const struct trace_recorder *r, struct trc_encode_info *info)
{
	trc_describe_waits(info, false, 1);
}

static const struct trc_recorder_kind block_kind = {
	.name = "block",
	.prepare = views_prepare,
	.add_views = views_add_block,
	.describe = describe_block,
	.views = true,
};

int trace_recorder_create_block(struct trace_recorder **out,
				const struct trace_block_options *options)
{
	struct trace_block_options known = TRACE_BLOCK_OPTIONS_INIT;
	int err = trc_recorder_options(&known, sizeof(known), options, "TRACE_BLOCK_OPTIONS_INIT");

	return err ? err
		   : views_make(out, &block_kind, known.format, known.rate_ns ? known.rate_ns : 1);
}

/* ---- off-CPU time ---------------------------------------------------------------------- */

static int add_offcpu(struct trace_recorder *r, struct trc_fold *fold, uint64_t now)
{
	const struct trc_view_options options = {
		.kind = TRC_VIEW_BLOCK, .rate = 1, .all_waits = true};

	return trc_recorder_add_view(r, fold, options, now);
}

static void describe_offcpu(const struct trace_recorder *r, struct trc_encode_info *info)
{
	trc_describe_offcpu(info);
}

static const struct trc_recorder_kind offcpu_kind = {
	.name = "offcpu",
	.prepare = views_prepare,
	.add_views = add_offcpu,
	.describe = describe_offcpu,
	.views = true,
};

int trc_offcpu_recorder(struct trace_recorder **out, enum trace_profile_format format)
{
	return views_make(out, &offcpu_kind, format, 1);
}

/* ---- mutex ----------------------------------------------------------------------------- */

static int add_mutex(struct trace_recorder *r, struct trc_fold *fold, uint64_t now)
{
	return views_add(r, fold, TRC_VIEW_MUTEX, now);
}

static void describe_mutex(const struct trace_recorder *r, struct trc_encode_info *info)
{
	const int64_t fraction = ((const struct waits *)r)->rate;

	/* The values are scaled already; pprof would do it again with a sampling period in text. */
	trc_describe_waits(info, true, r->text || fraction < 1 ? 1 : fraction);
}

static const struct trc_recorder_kind mutex_kind = {
	.name = "mutex",
	.prepare = views_prepare,
	.add_views = add_mutex,
	.describe = describe_mutex,
	.views = true,
};

int trace_recorder_create_mutex(struct trace_recorder **out,
				const struct trace_mutex_options *options)
{
	struct trace_mutex_options known = TRACE_MUTEX_OPTIONS_INIT;
	int err = trc_recorder_options(&known, sizeof(known), options, "TRACE_MUTEX_OPTIONS_INIT");

	return err ? err
		   : views_make(out, &mutex_kind, known.format,
				known.fraction ? known.fraction : 1);
}

/* ---- threadcreate ---------------------------------------------------------------------- */

static int add_threadcreate(struct trace_recorder *r, struct trc_fold *fold, uint64_t now)
{
	return views_add(r, fold, TRC_VIEW_THREADCREATE, now);
}

static void describe_threadcreate(const struct trace_recorder *r, struct trc_encode_info *info)
{
	trc_describe_threadcreate(info);
}

static const struct trc_recorder_kind threadcreate_kind = {
	.name = "threadcreate",
	.prepare = views_prepare,
	.add_views = add_threadcreate,
	.describe = describe_threadcreate,
	.views = true,
};

int trace_recorder_create_threadcreate(struct trace_recorder **out,
				       const struct trace_threadcreate_options *options)
{
	struct trace_threadcreate_options known = TRACE_THREADCREATE_OPTIONS_INIT;
	int err = trc_recorder_options(&known, sizeof(known), options,
				       "TRACE_THREADCREATE_OPTIONS_INIT");

	return err ? err : views_make(out, &threadcreate_kind, known.format, 1);
}
