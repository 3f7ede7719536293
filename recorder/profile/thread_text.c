/* thread_text.c - see thread_text.h */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "format/schema.h"
#include "format/waits.h"
#include "field.h"
#include "thread_text.h"

struct text {
	FILE *f;
	const struct trc_encode_module *module;
	struct trc_names *names;
};

const char *trc_thread_is_name(enum trc_thread_is is)
{
	switch (is) {
	case TRC_THREAD_IS_RUNNING:
		return "running";
	case TRC_THREAD_IS_WAITING:
		return "waiting";
	case TRC_THREAD_IS_SILENT:
		return "did not answer";
	}
	return "?";
}

const char *trc_thread_last_name(enum trc_thread_last last)
{
	switch (last) {
	case TRC_THREAD_LAST_NONE:
		return "";
	case TRC_THREAD_LAST_WAIT:
		return "of its last wait";
	case TRC_THREAD_LAST_SAMPLE:
		return "of its last sample";
	}
	return "?";
}

const char *trc_thread_state(const struct trc_thread_row *row)
{
	if (row->is == TRC_THREAD_IS_WAITING && row->reason)
		return trc_reason_name(row->reason);
	return trc_thread_is_name(row->is);
}

static void put_time(FILE *f, uint64_t ns)
{
	if (ns < 1000000)
		fprintf(f, ", %" PRIu64 " us", ns / 1000);
	else if (ns < UINT64_C(1000000000))
		fprintf(f, ", %" PRIu64 " ms", ns / 1000000);
	else if (ns < 60 * UINT64_C(1000000000))
		fprintf(f, ", %.1f s", (double)ns / 1e9);
	else
		fprintf(f, ", %" PRIu64 " minutes", ns / (60 * UINT64_C(1000000000)));
}

static void put_object(FILE *f, const struct trc_thread_row *row)
{
	char text[TRC_WAIT_OBJECT_BYTES];

	if (!row->object)
		return;
	if (trc_wait_object(text, row->reason, row->object))
		fputs(text, f);
	else
		fprintf(f, " 0x%" PRIx64, row->object);
}

static void thread_put_head(FILE *f, const struct trc_thread_row *row)
{
	fprintf(f, "thread %u ", row->tid);
	if (row->name[0]) {
		trc_field_quote(f, row->name, (uint32_t)strlen(row->name));
		putc(' ', f);
	}
	fprintf(f, "[%s", trc_thread_state(row));
	if (row->is == TRC_THREAD_IS_WAITING)
		put_object(f, row);
	if (row->has_wait_ns)
		put_time(f, row->wait_ns);
	if (row->holder_tid)
		fprintf(f, ", held by thread %u", row->holder_tid);
	if (row->last) {
		fprintf(f, ", stack %s", trc_thread_last_name(row->last));
		put_time(f, row->last_ns);
		fputs(" ago", f);
	} else if (row->not_asked)
		fputs(", not interrupted", f);
	fputs("]:\n", f);
}

static void thread_put_labels(FILE *f, const struct trc_thread_row *row)
{
	if (!row->n_labels)
		return;
	fputs("labels: {", f);
	for (uint32_t i = 0; i < row->n_labels; i++) {
		const struct trc_label *l = &row->label[i];

		fputs(i ? ", " : "", f);
		trc_field_quote(f, l->key, l->key_bytes);
		fputs(": ", f);
		if (!l->is_number)
			trc_field_quote(f, l->value, l->value_bytes);
		else
			fprintf(f, "%" PRId64 "%s%.*s", l->number, l->value_bytes ? " " : "",
				(int)l->value_bytes, l->value);
	}
	fputs("}\n", f);
}

/* Innermost first; those that are inlined have no code of their own. */
static void put_symbols(struct text *t, const struct trc_symbol *symbol, size_t n, uint64_t frame,
			const char *path)
{
	for (size_t i = 0; i < n; i++) {
		trc_field_put(t->f, symbol[i].function ? symbol[i].function : "?");
		fputs(symbol[i].inlined ? " (inlined)\n\t" : "\n\t", t->f);
		trc_field_put(t->f, symbol[i].file ? symbol[i].file : path);
		if (symbol[i].file)
			fprintf(t->f, ":%u", symbol[i].line);
		fprintf(t->f, " 0x%" PRIx64 "\n", frame);
	}
}

static void thread_put_frame(struct text *t, uint32_t epoch, uint64_t frame)
{
	struct trc_symbol symbol[TRC_SYMBOL_INLINE_MAX];
	const struct trc_module_entry *module = NULL;
	size_t n = t->module->names_find(t->names, epoch, frame, symbol, &module);
	const char *path = module && module->path ? module->path : "?";

	if (n) {
		put_symbols(t, symbol, n, frame, path);
		return;
	}
	fputs("?\n\t", t->f);
	trc_field_put(t->f, path);
	fprintf(t->f, " 0x%" PRIx64 "\n", frame);
}

static void thread_put_whole(struct text *t, const struct trc_thread_row *row)
{
	thread_put_head(t->f, row);
	thread_put_labels(t->f, row);
	for (uint32_t i = 0; i < row->n_frames; i++)
		thread_put_frame(t, row->epoch, row->frame[i]);
	if (row->creator_tid)
		fprintf(t->f, "created by thread %u\n", row->creator_tid);
	else if (row->n_creation_frames)
		fputs("created by a thread that has ended\n", t->f);
	for (uint32_t i = 0; i < row->n_creation_frames; i++)
		thread_put_frame(t, row->creation_epoch, row->creation_frame[i]);
	putc('\n', t->f);
}

static int threads_put_all(struct text *t, const struct trc_thread_profile *profile, char **text,
			   size_t *n_bytes)
{
	t->f = open_memstream(text, n_bytes);
	if (!t->f)
		return -ENOMEM;
	for (uint32_t i = 0; i < profile->n_rows; i++)
		thread_put_whole(t, &profile->row[i]);
	return fclose(t->f) ? -ENOMEM : 0;
}

int trc_thread_text(const struct trc_thread_profile *profile, const struct trc_module_list *modules,
		    const struct trc_encode_wanted *wanted, char **text, size_t *n_bytes, char *why,
		    size_t why_bytes)
{
	struct text t = {.module = trc_encode_load(why, why_bytes)};
	int err;

	if (!t.module)
		return -ENOENT;
	err = t.module->names_open(&t.names, modules->module, modules->n_modules);
	if (err)
		return err;
	t.module->names_while(t.names, wanted);
	err = threads_put_all(&t, profile, text, n_bytes);
	if (!err && wanted && !wanted->is(wanted->context))
		err = -ECANCELED;
	t.module->names_close(t.names);
	return err;
}
