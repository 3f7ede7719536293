/* thread_samples.c - see thread_samples.h */
#include <stdlib.h>
#include <string.h>
#include "thread_samples.h"
#include "thread_text.h"

enum {
	OWN_LABELS = 7,
	TEXT_BYTES = 16384, /* of one thread's labels, terminated */
};

static struct trc_pprof_label text_label(const char *key, const char *text)
{
	return (struct trc_pprof_label){.key = key, .text = text};
}

static struct trc_pprof_label number_label(const char *key, uint64_t number, const char *unit)
{
	return (struct trc_pprof_label){.key = key, .number = (int64_t)number, .unit = unit};
}

/* What we know of a thread, by key. */
static size_t labels_of_ours(const struct trc_thread_row *row, struct trc_pprof_label *label)
{
	size_t n = 0;

	if (row->creator_tid)
		label[n++] = number_label("trc::creator_id", row->creator_tid, NULL);
	if (row->last)
		label[n++] = number_label("trc::stack_age", row->last_ns, "nanoseconds");
	label[n++] = text_label("trc::state", trc_thread_state(row));
	label[n++] = number_label("trc::thread_id", row->tid, NULL);
	if (row->name[0])
		label[n++] = text_label("trc::thread_name", row->name);
	if (row->has_wait_ns)
		label[n++] = number_label("trc::wait_ns", row->wait_ns, "nanoseconds");
	return n;
}

static int samples_by_key(const void *a, const void *b)
{
	return strcmp(((const struct trc_pprof_label *)a)->key,
		      ((const struct trc_pprof_label *)b)->key);
}

/* The program's own, and ours if they are wanted.  What a stack may not tell is there in any case.
 */
static size_t thread_labels(const struct trc_thread_row *row, bool own,
			    struct trc_pprof_label *label, char *text)
{
	size_t n = trc_recorder_labels(row->label, row->n_labels, label, text, TEXT_BYTES);

	if (own)
		n += labels_of_ours(row, label + n);
	else if (row->is == TRC_THREAD_IS_SILENT)
		label[n++] = text_label("trc::state", trc_thread_state(row));
	if (row->last)
		label[n++] = text_label("trc::stack", trc_thread_last_name(row->last));
	qsort(label, n, sizeof(*label), samples_by_key);
	return n;
}

void trc_thread_samples(const struct trc_thread_profile *p, int64_t value, bool own_labels,
			trc_emit_fn *fn, void *context)
{
	for (uint32_t i = 0; i < p->n_rows; i++) {
		const struct trc_thread_row *row = &p->row[i];
		struct trc_pprof_label label[TRC_LABELS_MAX + OWN_LABELS];
		char text[TEXT_BYTES];
		const struct trc_encode_sample sample = {
			.frame = row->frame,
			.n_frames = row->n_frames,
			.epoch = row->epoch,
			.value = &value,
			.label = label,
			.n_labels = thread_labels(row, own_labels, label, text),
		};

		fn(context, &sample);
	}
}
