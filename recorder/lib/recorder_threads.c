/*
 * recorder_threads.c - recorders of what every thread is doing (<trc/recorder.h>).
 *
 * A window counts the change at each stack: the threads there at the window's end, less the threads
 * there at its beginning. The process is recorded meanwhile, so that both counts are taken in the
 * same way.
 */
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "recorder/profile/kind.h"
#include "recording.h"
#include "service.h"
#include "recorder/profile/thread_profile.h"
#include "recorder/profile/thread_samples.h"
#include "recorder/profile/thread_text.h"

struct threads {
	struct trace_recorder base;
	enum trace_thread_details details;
	bool no_trc_labels;
	uint64_t deadline_ns;
	struct trc_thread_profile *before; /* when the window began */
};

/* While the process is recorded: that gives each thread its slot, and us the signal. */
static int threads_take_profile(const struct threads *t, struct trc_thread_profile **out,
				char why[static TRC_RECORDER_WHY_BYTES])
{
	int err = trc_service_begin(why, TRC_RECORDER_WHY_BYTES);

	if (err)
		return err;
	err = trc_thread_profile_take(out, t->deadline_ns);
	trc_service_end();
	if (err)
		snprintf(why, TRC_RECORDER_WHY_BYTES, "the list of threads: %s", strerror(-err));
	return err;
}

/* The caller's; a child that is forked here has it at most once. */
static struct trc_thread_profile *threads_take_before(struct threads *t)
{
	struct trc_thread_profile *before = t->before;

	t->before = NULL;
	/* NULL is stored before the caller frees what it gets: a child may be forked in between. */
	atomic_signal_fence(memory_order_seq_cst);
	return before;
}

static int threads_take(struct trace_recorder *r, struct trc_taken *taken, bool window,
			char why[static TRC_RECORDER_WHY_BYTES])
{
	struct threads *t = (struct threads *)r;
	struct trc_thread_profile *profile;
	int err = threads_take_profile(t, &profile, why);

	if (err)
		return err;
	taken->rows = profile; /* one piece of memory */
	if (window)
		taken->rows_before = threads_take_before(t);
	return 0;
}

static int threads_prepare(struct trace_recorder *r, char why[static TRC_RECORDER_WHY_BYTES])
{
	struct threads *t = (struct threads *)r;
	struct trc_thread_profile *before;
	int err = trc_service_begin(why, TRC_RECORDER_WHY_BYTES);

	if (err)
		return err;
	trc_thread_profile_free(threads_take_before(t)); /* kind:K3 */
	err = threads_take_profile(t, &before, why);
	if (err)
		trc_service_end();
	else
		t->before = before;
	return err;
}

static void threads_done(struct trace_recorder *r)
{
	trc_thread_profile_free(threads_take_before((struct threads *)r));
	trc_service_end();
}

static void recorder_threads_free(struct trace_recorder *r)
{
	trc_thread_profile_free(((struct threads *)r)->before);
}

static void threads_emit(const struct trace_recorder *r, const struct trc_taken *taken,
			 trc_emit_fn *fn, void *context)
{
	const struct threads *t = (const struct threads *)r;
	bool own_labels = t->details == TRACE_THREAD_DETAILS_EACH && !t->no_trc_labels;

	if (taken->rows_before)
		trc_thread_samples(taken->rows_before, -1, own_labels, fn, context);
	trc_thread_samples(taken->rows, 1, own_labels, fn, context);
}

static void threads_describe(const struct trace_recorder *r, struct trc_encode_info *info)
{
	trc_describe_threads(info);
}

/* ---- a paragraph for each -------------------------------------------------------------- */

static int write_text(const struct trc_thread_profile *profile,
		      const struct trc_encode_wanted *wanted, const struct trace_writer *writer,
		      char why[static TRC_RECORDER_WHY_BYTES])
{
	struct trc_module_list modules;
	char *text = NULL;
	size_t n_bytes = 0;
	int err = trc_module_list(&modules, false);

	if (err)
		return err;
	err = trc_thread_text(profile, &modules, wanted, &text, &n_bytes, why,
			      TRC_RECORDER_WHY_BYTES);
	if (!err)
		err = writer->write(writer->context, text, n_bytes);
	free(text);
	free(modules.module);
	return err;
}

static int write_blocks(struct trace_recorder *r, const struct trace_writer *writer,
			char why[static TRC_RECORDER_WHY_BYTES])
{
	struct trc_thread_profile *profile;
	int err = threads_take_profile((struct threads *)r, &profile, why);

	if (err)
		return err;
	err = write_text(profile, r->wanted, writer, why);
	trc_thread_profile_free(profile);
	return err;
}

/* ---- making one ------------------------------------------------------------------------ */

static const struct trc_recorder_kind stacks_kind = {
	.name = "threads",
	.prepare = threads_prepare,
	.done = threads_done,
	.take = threads_take,
	.describe = threads_describe,
	.emit = threads_emit,
	.free = recorder_threads_free,
	.epochs = true,
};

/* What there is to know of a thread is another thing at each moment: no change of interest. */
static const struct trc_recorder_kind each_kind = {
	.name = "threads",
	.take = threads_take,
	.describe = threads_describe,
	.emit = threads_emit,
};

static const struct trc_recorder_kind blocks_kind = {
	.name = "threads",
	.write = write_blocks,
};

int trace_recorder_create_thread(struct trace_recorder **out,
				 const struct trace_thread_options *options)
{
	struct trace_thread_options known = TRACE_THREAD_OPTIONS_INIT;
	int err = trc_recorder_options(&known, sizeof(known), options, "TRACE_THREAD_OPTIONS_INIT");
	static const struct trc_recorder_kind *const kind[] = {
		[TRACE_THREAD_DETAILS_BY_STACK] = &stacks_kind,
		[TRACE_THREAD_DETAILS_PARAGRAPHS] = &blocks_kind,
		[TRACE_THREAD_DETAILS_EACH] = &each_kind,
	};
	struct threads *t;

	if (err)
		return err;
	if ((unsigned int)known.details > TRACE_THREAD_DETAILS_EACH)
		return trc_api_fail(-EINVAL, "options", "details that are not in their list");
	if (known.details == TRACE_THREAD_DETAILS_PARAGRAPHS &&
	    known.format != TRACE_PROFILE_FORMAT_TEXT)
		return trc_api_fail(
			-EINVAL, "options",
			"TRACE_THREAD_DETAILS_PARAGRAPHS is TRACE_PROFILE_FORMAT_TEXT only");
	t = trc_recorder_new(sizeof(*t), kind[known.details], known.format);
	if (!t)
		return -ENOMEM;
	t->details = known.details;
	t->no_trc_labels = known.no_trc_labels;
	t->deadline_ns = known.deadline_ns;
	*out = &t->base;
	return 0;
}
