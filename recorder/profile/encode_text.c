/*
 * encode_text.c - profiles for people: lines of values and addresses, each followed by the
 * functions at the addresses.
 *
 * The styles are those that Go's tools made known, and that pprof reads.  Numbers of the heap are
 * estimates of the real totals, as in the other format.  The first line says a rate of 1, so that
 * nobody scales the numbers again.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "encode_private.h"
#include "field.h"

struct row {
	size_t key_off, key_bytes; /* in `keys`: the frames, then the labels as text */
	uint32_t n_frames, epoch;
	uint32_t since;	   /* part of the key: trc_names_since() */
	const char *words; /* of one without frames; NULL = none.  Part of the key */
	size_t value_off;  /* in `values` */
};

struct trc_encode_text {
	const struct trc_encode_info *info;
	struct row *row;
	size_t n_rows, max_rows;
	char *keys;
	size_t keys_bytes, max_keys;
	int64_t *values;
	size_t n_values, max_values;
	int error;
};

/* ---- collecting ------------------------------------------------------------------------ */

/* Room for `more` items of this size behind the n that there are. */
static bool text_array_grow(struct trc_encode_text *e, void *array, size_t n, size_t *max,
			    size_t more, size_t item_bytes)
{
	void *old, *grown;

	if (e->error || n + more <= *max)
		return !e->error;
	memcpy(&old, array, sizeof(old));
	grown = reallocarray(old, 2 * *max + more + 16, item_bytes);
	if (!grown) {
		e->error = -ENOMEM;
		return false;
	}
	memcpy(array, &grown, sizeof(grown));
	*max = 2 * *max + more + 16;
	return true;
}

static void sample_put_labels(FILE *f, const struct trc_encode_sample *sample)
{
	for (size_t i = 0; i < sample->n_labels; i++) {
		const struct trc_pprof_label *l = &sample->label[i];

		fputs(i ? ", " : "", f);
		trc_field_quote(f, l->key, (uint32_t)strlen(l->key));
		fputs(": ", f);
		if (l->text)
			trc_field_quote(f, l->text, (uint32_t)strlen(l->text));
		else
			fprintf(f, "%" PRId64 "%s%s", l->number, l->unit && *l->unit ? " " : "",
				l->unit ? l->unit : "");
	}
}

static char *labels_text(struct trc_encode_text *e, const struct trc_encode_sample *sample)
{
	char *text = NULL;
	size_t n_bytes;
	FILE *f = open_memstream(&text, &n_bytes);

	if (f) {
		sample_put_labels(f, sample);
		if (!fclose(f))
			return text;
	}
	free(text);
	e->error = -ENOMEM;
	return NULL;
}

static void text_add_row(struct trc_encode_text *e, const struct trc_encode_sample *sample,
			 uint32_t skip, const char *labels)
{
	size_t frame_bytes = (sample->n_frames - skip) * sizeof(*sample->frame);
	size_t n_bytes = frame_bytes + strlen(labels) + 1;
	struct row *row;

	if (!text_array_grow(e, &e->row, e->n_rows, &e->max_rows, 1, sizeof(*e->row)) ||
	    !text_array_grow(e, &e->keys, e->keys_bytes, &e->max_keys, n_bytes, 1) ||
	    !text_array_grow(e, &e->values, e->n_values, &e->max_values, e->info->n_types,
			     sizeof(*e->values)))
		return;
	row = &e->row[e->n_rows++];
	*row = (struct row){.key_off = e->keys_bytes,
			    .key_bytes = n_bytes,
			    .n_frames = sample->n_frames - skip,
			    .epoch = sample->epoch,
			    .since = trc_names_since(e->info->names, sample, skip),
			    .words = sample->words,
			    .value_off = e->n_values};
	if (frame_bytes)
		memcpy(e->keys + row->key_off, sample->frame + skip, frame_bytes);
	memcpy(e->keys + row->key_off + frame_bytes, labels, n_bytes - frame_bytes);
	memcpy(e->values + row->value_off, sample->value, e->info->n_types * sizeof(*e->values));
	e->keys_bytes += n_bytes;
	e->n_values += e->info->n_types;
}

void trc_encode_text_sample(struct trc_encode_text *e, const struct trc_encode_sample *sample)
{
	uint32_t skip = trc_encode_skip(e->info, sample);
	char *labels = labels_text(e, sample);

	if (labels)
		text_add_row(e, sample, skip, labels);
	free(labels);
}

/* ---- in order -------------------------------------------------------------------------- */

static int text_by_key(const void *a, const void *b, void *context)
{
	const struct trc_encode_text *e = context;
	const struct row *r = a, *s = b;
	size_t n_bytes = r->key_bytes < s->key_bytes ? r->key_bytes : s->key_bytes;
	int order = memcmp(e->keys + r->key_off, e->keys + s->key_off, n_bytes);

	if (!order)
		order = (r->key_bytes > s->key_bytes) - (r->key_bytes < s->key_bytes);
	if (!order)
		order = (r->since > s->since) - (r->since < s->since);
	return order ? order : (r->words != NULL) - (s->words != NULL);
}

/* The value that a style is sorted by: the one to look at first. */
static uint32_t main_value(const struct trc_encode_info *info)
{
	for (uint32_t i = 0; info->default_type && i < info->n_types; i++)
		if (!strcmp(info->type[i].type, info->default_type))
			return i;
	return info->n_types - 1;
}

/* Largest first. */
static int by_value(const void *a, const void *b, void *context)
{
	const struct trc_encode_text *e = context;
	uint32_t i = main_value(e->info);
	int64_t v = e->values[((const struct row *)a)->value_off + i];
	int64_t w = e->values[((const struct row *)b)->value_off + i];

	return v != w ? (v < w) - (v > w) : text_by_key(a, b, context);
}

static void merge_rows(struct trc_encode_text *e)
{
	size_t n = 0;

	if (!e->n_rows)
		return;
	qsort_r(e->row, e->n_rows, sizeof(*e->row), text_by_key, e);
	for (size_t i = 1; i < e->n_rows; i++) {
		if (text_by_key(&e->row[n], &e->row[i], e)) {
			e->row[++n] = e->row[i];
			continue;
		}
		for (uint32_t v = 0; v < e->info->n_types; v++)
			e->values[e->row[n].value_off + v] += e->values[e->row[i].value_off + v];
	}
	e->n_rows = n + 1;
	qsort_r(e->row, e->n_rows, sizeof(*e->row), by_value, e);
}

/* ---- writing --------------------------------------------------------------------------- */

static int64_t rows_total(const struct trc_encode_text *e, uint32_t value)
{
	int64_t sum = 0;

	for (size_t i = 0; i < e->n_rows; i++)
		sum += e->values[e->row[i].value_off + value];
	return sum;
}

/* Values of the heap: objects and bytes allocated, objects and bytes in use. */
static void put_heap(FILE *f, const int64_t v[4])
{
	fprintf(f, "%" PRId64 ": %" PRId64 " [%" PRId64 ": %" PRId64 "] @", v[2], v[3], v[0], v[1]);
}

static void text_put_head(const struct trc_encode_text *e, FILE *f)
{
	const struct trc_encode_info *info = e->info;
	int64_t sum[4] = {0};

	for (uint32_t i = 0; i < info->n_types && i < 4; i++)
		sum[i] = rows_total(e, i);
	switch (info->style) {
	case TRC_STYLE_COUNTS:
		fprintf(f, "%s profile: total %" PRId64 "\n", info->name, sum[0]);
		break;
	case TRC_STYLE_CONTENTION:
		fputs("--- contention:\ncycles/second=1000000000\n", f);
		break;
	case TRC_STYLE_MUTEX:
		fprintf(f, "--- mutex:\ncycles/second=1000000000\nsampling period=%" PRId64 "\n",
			info->period);
		break;
	case TRC_STYLE_HEAP:
		fputs("heap profile: ", f);
		put_heap(f, sum);
		fputs(" heap/2\n", f);
		break;
	case TRC_STYLE_VALUES:
		fprintf(f, "%s:", info->name);
		for (uint32_t i = 0; i < info->n_types; i++)
			fprintf(f, " %s/%s", info->type[i].type, info->type[i].unit);
		putc('\n', f);
		break;
	}
}

static void put_values(const struct trc_encode_text *e, const int64_t *value, FILE *f)
{
	switch (e->info->style) {
	case TRC_STYLE_CONTENTION:
	case TRC_STYLE_MUTEX:
		fprintf(f, "%" PRId64 " %" PRId64 " @", value[1], value[0]);
		break;
	case TRC_STYLE_HEAP:
		put_heap(f, value);
		break;
	case TRC_STYLE_COUNTS:
	case TRC_STYLE_VALUES:
		for (uint32_t i = 0; i < e->info->n_types; i++)
			fprintf(f, "%" PRId64 " ", value[i]);
		putc('@', f);
		break;
	}
}

static void text_put_frame(const struct trc_encode_text *e, uint32_t epoch, uint64_t frame, FILE *f)
{
	struct trc_symbol symbol[TRC_SYMBOL_INLINE_MAX];
	size_t n = trc_names_find(e->info->names, epoch, frame, symbol, NULL);
	int64_t offset = trc_names_offset(e->info->names, epoch, frame);

	if (!n)
		fprintf(f, "#\t0x%" PRIx64 "\n", frame);
	for (size_t i = 0; i < n; i++) {
		fprintf(f, "#\t0x%" PRIx64 "\t", frame);
		trc_field_put(f, symbol[i].function ? symbol[i].function : "?");
		if (offset >= 0)
			fprintf(f, "+0x%" PRIx64, (uint64_t)offset);
		if (symbol[i].file) {
			fputs("\t", f);
			trc_field_put(f, symbol[i].file);
			fprintf(f, ":%u", symbol[i].line);
		}
		putc('\n', f);
	}
}

/* What came and went is no change. */
static bool values_are_zero(const struct trc_encode_text *e, const struct row *row)
{
	for (uint32_t i = 0; i < e->info->n_types; i++)
		if (e->values[row->value_off + i])
			return false;
	return true;
}

static void text_put_row(const struct trc_encode_text *e, const struct row *row, FILE *f)
{
	const char *labels = e->keys + row->key_off + row->n_frames * sizeof(uint64_t);
	uint64_t frame;

	put_values(e, e->values + row->value_off, f);
	for (uint32_t i = 0; i < row->n_frames; i++) {
		memcpy(&frame, e->keys + row->key_off + i * sizeof(frame), sizeof(frame));
		fprintf(f, " 0x%" PRIx64, frame);
	}
	putc('\n', f);
	if (*labels)
		fprintf(f, "# labels: {%s}\n", labels);
	if (row->words)
		fprintf(f, "#\t%s\n", row->words);
	for (uint32_t i = 0; i < row->n_frames; i++) {
		memcpy(&frame, e->keys + row->key_off + i * sizeof(frame), sizeof(frame));
		text_put_frame(e, row->epoch, frame, f);
	}
	putc('\n', f);
}

int trc_encode_text_write(struct trc_encode_text *e,
			  int (*sink)(void *context, const void *bytes, size_t n_bytes),
			  void *context)
{
	char *text = NULL;
	size_t n_bytes;
	FILE *f = e->error ? NULL : open_memstream(&text, &n_bytes);
	int err;

	if (!f)
		return -ENOMEM;
	merge_rows(e);
	text_put_head(e, f);
	for (size_t i = 0; i < e->n_rows; i++)
		if (!values_are_zero(e, &e->row[i]))
			text_put_row(e, &e->row[i], f);
	for (size_t i = 0; i < e->info->n_comments; i++)
		fprintf(f, "# %s\n", e->info->comment[i]);
	err = fclose(f) ? -ENOMEM : trc_names_error(e->info->names);
	if (!err)
		err = sink(context, text, n_bytes);
	free(text);
	return err;
}

int trc_encode_text_open(struct trc_encode_text **out, const struct trc_encode_info *info)
{
	struct trc_encode_text *e = calloc(1, sizeof(*e));

	if (!e)
		return -ENOMEM;
	e->info = info;
	*out = e;
	return 0;
}

void trc_encode_text_close(struct trc_encode_text *e)
{
	if (!e)
		return;
	free(e->row);
	free(e->keys);
	free(e->values);
	free(e);
}
