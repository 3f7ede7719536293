/* recorder_threads.c - recorders of what every thread is doing (<trc/recorder.h>). */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "recorder_kind.h"
#include "recording.h"
#include "service.h"
#include "thread_profile.h"
#include "thread_text.h"

enum {
	OWN_LABELS = 5,
	TEXT_BYTES = 16384, /* of one thread's labels, terminated */
};

struct threads {
	struct trace_recorder base;
	enum trace_thread_details details;
	bool no_trc_labels;
	uint64_t deadline_ns;
};

/* While the process is recorded: that gives each thread its slot, and us the signal. */
static int take_profile(const struct threads *t, struct trc_thread_profile **out, char *why)
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

static int take(struct trace_recorder *r, struct trc_taken *taken, bool window, char *why)
{
	struct trc_thread_profile *profile;
	int err = take_profile((struct threads *)r, &profile, why);

	if (!err)
		taken->rows = profile; /* one piece of memory */
	return err;
}

/* ---- samples --------------------------------------------------------------------------- */

static struct trc_pprof_label text_label(const char *key, const char *text)
{
	return (struct trc_pprof_label){.key = key, .text = text};
}

static struct trc_pprof_label number_label(const char *key, uint64_t number, const char *unit)
{
	return (struct trc_pprof_label){.key = key, .number = (int64_t)number, .unit = unit};
}

/* What we know of a thread, by key. */
static size_t own_labels(const struct trc_thread_row *row, struct trc_pprof_label *label)
{
	size_t n = 0;

	if (row->creator_tid)
		label[n++] = number_label("trc::creator_id", row->creator_tid, NULL);
	label[n++] = text_label("trc::state", trc_thread_state(row));
	label[n++] = number_label("trc::thread_id", row->tid, NULL);
	if (row->name[0])
		label[n++] = text_label("trc::thread_name", row->name);
	if (row->has_wait_ns)
		label[n++] = number_label("trc::wait_ns", row->wait_ns, "nanoseconds");
	return n;
}

static int by_key(const void *a, const void *b)
{
	return strcmp(((const struct trc_pprof_label *)a)->key,
		      ((const struct trc_pprof_label *)b)->key);
}

/* The program's own, and ours if they are wanted; of those that did not answer always. */
static size_t labels_of(const struct threads *t, const struct trc_thread_row *row,
			struct trc_pprof_label *label, char *text)
{
	size_t n = trc_recorder_labels(row->label, row->n_labels, label, text, TEXT_BYTES);

	if (t->details == TRACE_THREADS_EACH && !t->no_trc_labels)
		n += own_labels(row, label + n);
	else if (row->is == TRC_THREAD_IS_SILENT)
		label[n++] = text_label("trc::state", trc_thread_state(row));
	qsort(label, n, sizeof(*label), by_key);
	return n;
}

static void emit(const struct trace_recorder *r, const struct trc_taken *taken, trc_emit_fn *fn,
		 void *context)
{
	const struct threads *t = (const struct threads *)r;
	const struct trc_thread_profile *p = taken->rows;
	const int64_t one = 1;

	for (uint32_t i = 0; i < p->n_rows; i++) {
		const struct trc_thread_row *row = &p->row[i];
		struct trc_pprof_label label[TRC_LABELS_MAX + OWN_LABELS];
		char text[TEXT_BYTES];
		const struct trc_encode_sample sample = {
			.frame = row->frame,
			.n_frames = row->n_frames,
			.value = &one,
			.label = label,
			.n_labels = labels_of(t, row, label, text),
		};

		fn(context, &sample);
	}
}

static void describe(const struct trace_recorder *r, struct trc_encode_info *info)
{
	info->style = TRC_STYLE_COUNTS;
	info->type[0] = (struct trc_encode_type){"threads", "count"};
	info->n_types = 1;
	info->period_type = info->type[0];
	info->period = 1;
}

/* ---- a paragraph for each -------------------------------------------------------------- */

static int write_text(const struct trc_thread_profile *profile, const struct trace_writer *writer,
		      char *why)
{
	struct trc_module_list modules;
	char *text = NULL;
	size_t n_bytes = 0;
	int err = trc_module_list(&modules, false);

	if (err)
		return err;
	err = trc_thread_text(profile, &modules, &text, &n_bytes, why, TRC_RECORDER_WHY_BYTES);
	if (!err)
		err = writer->write(writer->context, text, n_bytes);
	free(text);
	free(modules.module);
	return err;
}

static int write_blocks(struct trace_recorder *r, const struct trace_writer *writer, char *why)
{
	struct trc_thread_profile *profile;
	int err = take_profile((struct threads *)r, &profile, why);

	if (err)
		return err;
	err = write_text(profile, writer, why);
	trc_thread_profile_free(profile);
	return err;
}

/* ---- making one ------------------------------------------------------------------------ */

static const struct trc_recorder_kind samples_kind = {
	.name = "threads",
	.take = take,
	.describe = describe,
	.emit = emit,
};

static const struct trc_recorder_kind blocks_kind = {
	.name = "threads",
	.write = write_blocks,
};

int trace_thread_recorder(trace_recorder **out, const struct trace_thread_config *config)
{
	struct trace_thread_config known = TRACE_THREAD_CONFIG_INIT;
	int err = trc_recorder_config(&known, sizeof(known), config, "TRACE_THREAD_CONFIG_INIT");
	bool blocks = known.details == TRACE_THREADS_BLOCKS;
	struct threads *t;

	if (err)
		return err;
	if ((unsigned int)known.details > TRACE_THREADS_EACH)
		return trc_api_fail(-EINVAL, "config", "details that are not in their list");
	if (blocks && known.format != TRACE_TEXT)
		return trc_api_fail(-EINVAL, "config", "TRACE_THREADS_BLOCKS is TRACE_TEXT only");
	t = trc_recorder_new(sizeof(*t), blocks ? &blocks_kind : &samples_kind, known.format);
	if (!t)
		return -ENOMEM;
	t->details = known.details;
	t->no_trc_labels = known.no_trc_labels;
	t->deadline_ns = known.deadline_ns;
	*out = &t->base;
	return 0;
}
