/* recorder_heap.c - recorders of allocations (<trc/recorder.h>). */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include "recorder/sampling/heap.h"
#include "recorder/profile/kind.h"
#include "recording.h"

enum { DEFAULT_BYTES = 512 << 10 }; /* as TRACE_HEAP_OPTIONS_INIT has it */

struct heap {
	struct trace_recorder base;
	int64_t sample_bytes; /* never 0; less = off */
	unsigned int user;
	bool is_user;
};

static int heap_prepare(struct trace_recorder *r, char why[static TRC_RECORDER_WHY_BYTES])
{
	struct heap *h = (struct heap *)r;
	int err;

	h->is_user = false;
	if (h->sample_bytes <= 0)
		return 0;
	err = trc_heap_begin((uint64_t)h->sample_bytes, &h->user);
	h->is_user = !err;
	if (err)
		trc_heap_why(err, why, TRC_RECORDER_WHY_BYTES);
	return err;
}

static void heap_done(struct trace_recorder *r)
{
	struct heap *h = (struct heap *)r;

	if (h->is_user)
		trc_heap_end(h->user);
	h->is_user = false;
}

static int heap_add_views(struct trace_recorder *r, struct trc_fold *fold, uint64_t now)
{
	const int64_t rate = ((struct heap *)r)->sample_bytes;
	const struct trc_view_options options = {.kind = TRC_VIEW_HEAP, .rate = (uint64_t)rate};

	return rate > 0 ? trc_recorder_add_view(r, fold, options, now) : 0;
}

/* All that the fold knows to be live, as of this instant, and what was allocated meanwhile. */
static int recorder_heap_look(struct trace_recorder *r, struct trc_fold *fold, uint64_t now,
			      struct trc_taken *taken)
{
	const int64_t rate = ((struct heap *)r)->sample_bytes;

	return rate > 0 ? trc_heap_copy(fold, r->n_views ? r->view[0] : NULL, (uint64_t)rate, now,
					taken->folded, &taken->n_folded)
			: 0;
}

static void heap_describe(const struct trace_recorder *r, struct trc_encode_info *info)
{
	trc_describe_heap(info, false, ((const struct heap *)r)->sample_bytes);
}

static void allocs_describe(const struct trace_recorder *r, struct trc_encode_info *info)
{
	trc_describe_heap(info, true, ((const struct heap *)r)->sample_bytes);
}

static const struct trc_recorder_kind heap_kind = {
	.name = "heap",
	.prepare = heap_prepare,
	.done = heap_done,
	.add_views = heap_add_views,
	.look = recorder_heap_look,
	.describe = heap_describe,
	.views = true,
};

static const struct trc_recorder_kind allocs_kind = {
	.name = "allocs",
	.prepare = heap_prepare,
	.done = heap_done,
	.add_views = heap_add_views,
	.describe = allocs_describe,
	.views = true,
};

static int heap_make(struct trace_recorder **out, const struct trc_recorder_kind *kind,
		     enum trace_profile_format format, int64_t sample_bytes)
{
	struct heap *h;

	if (sample_bytes > (int64_t)TRC_HEAP_PERIOD_MAX)
		return trc_api_fail(-EINVAL, "sample_bytes", "at most 1 TiB");
	h = trc_recorder_new(sizeof(*h), kind, format);
	if (!h)
		return -ENOMEM;
	h->sample_bytes = sample_bytes ? sample_bytes : DEFAULT_BYTES;
	*out = &h->base;
	return 0;
}

int trace_recorder_create_heap(struct trace_recorder **out,
			       const struct trace_heap_options *options)
{
	struct trace_heap_options known = TRACE_HEAP_OPTIONS_INIT;
	int err = trc_recorder_options(&known, sizeof(known), options, "TRACE_HEAP_OPTIONS_INIT");

	return err ? err : heap_make(out, &heap_kind, known.format, known.sample_bytes);
}

int trace_recorder_create_alloc(struct trace_recorder **out,
				const struct trace_alloc_options *options)
{
	struct trace_alloc_options known = TRACE_ALLOC_OPTIONS_INIT;
	int err = trc_recorder_options(&known, sizeof(known), options, "TRACE_ALLOC_OPTIONS_INIT");

	return err ? err : heap_make(out, &allocs_kind, known.format, known.sample_bytes);
}
