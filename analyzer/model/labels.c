/*
 * labels.c - what label sets consist of, as rows with terminated texts.
 *
 * Many sets share their keys and values: each text is copied once.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "parts.h"

struct texts {
	struct trc_pool *pool;
	struct trc_index index; /* where the reader has it -> its row */
	struct trc_array rows;	/* struct text */
};

struct text {
	const char *text;
	uint32_t n_bytes;
};

static const char *text_of(struct texts *t, const char *bytes, uint32_t n_bytes)
{
	uint64_t key = (uint64_t)(uintptr_t)bytes;
	uint32_t at = n_bytes ? trc_index_get(&t->index, key) : TRC_INDEX_NONE;
	struct text *row = t->rows.row;

	if (!n_bytes)
		return "";
	if (at != TRC_INDEX_NONE && row[at].n_bytes == n_bytes)
		return row[at].text;
	row = trc_array_add(&t->rows);
	if (!row || trc_index_put(&t->index, key, (uint32_t)(t->rows.n - 1)))
		return NULL;
	*row = (struct text){trc_pool_text(t->pool, bytes, n_bytes), n_bytes};
	return row->text;
}

/* The number as people write it: "42", "7ms". */
static const char *number_text(struct trc_pool *pool, int64_t number, const char *unit)
{
	char digits[24];
	size_t n = (size_t)snprintf(digits, sizeof(digits), "%" PRId64, number);
	char *text = trc_pool_take(pool, n + strlen(unit) + 1);

	if (text) {
		memcpy(text, digits, n);
		strcpy(text + n, unit);
	}
	return text;
}

static int label_add(struct trc_model *m, struct texts *t, uint32_t set,
		     const struct trc_label *label)
{
	struct trc_set_label *row = trc_array_add(&m->labels);
	const char *value;

	if (!row)
		return -ENOMEM;
	value = text_of(t, label->value, label->value_bytes);
	*row = (struct trc_set_label){
		.labels = set,
		.key = text_of(t, label->key, label->key_bytes),
		.value = value,
		.unit = "",
	};
	if (!value)
		return -ENOMEM;
	if (label->is_number) {
		row->is_number = true;
		row->number = label->number;
		row->unit = value;
		row->value = number_text(t->pool, label->number, value);
	}
	return row->key && row->value ? 0 : -ENOMEM;
}

static int sets_read(struct trc_model *m, struct texts *t, size_t n_sets)
{
	int err = 0;

	for (uint32_t set = 0; set < n_sets && !err; set++) {
		const struct trc_label *label;
		uint32_t n = 0;

		m->label_first[set] = (uint32_t)m->labels.n;
		if (!set || trc_reader_label_set(m->reader, set, &label, &n))
			continue;
		for (uint32_t i = 0; i < n && !err; i++)
			err = label_add(m, t, set, &label[i]);
	}
	m->label_first[n_sets] = (uint32_t)m->labels.n;
	return err;
}

/* ---- sets of OpenTelemetry contexts ------------------------------------------------------ */

/* In the order of their keys.  How many there are: the service may not be known. */
static uint32_t context_labels(const struct trc_model *m, uint32_t context,
			       struct trc_set_label label[TRC_CONTEXT_LABELS])
{
	const struct trc_context *c = (const struct trc_context *)m->contexts.row + context - 1;
	const char *service = trc_reader_info_get(m->reader, "otel_service");
	uint32_t n = 0;

	if (service)
		label[n++] = (struct trc_set_label){.key = "service.name", .value = service};
	label[n++] = (struct trc_set_label){.key = "span_id", .value = c->span_text};
	label[n++] = (struct trc_set_label){.key = "trace_id", .value = c->trace_text};
	for (uint32_t i = 0; i < n; i++)
		label[i].unit = "";
	return n;
}

/* The labels of both, by key.  Where both have a key, the program's own label counts. */
static int context_set_add(struct trc_model *m, uint32_t set, const struct trc_context_set *of)
{
	struct trc_set_label label[TRC_CONTEXT_LABELS];
	uint32_t n = context_labels(m, of->context, label), i = 0;
	uint32_t at = of->labels < m->n_file_sets ? m->label_first[of->labels] : 0;
	uint32_t end = of->labels < m->n_file_sets ? m->label_first[of->labels + 1] : 0;

	while (at < end || i < n) {
		struct trc_set_label *row = trc_array_add(&m->labels);
		const struct trc_set_label *own = (struct trc_set_label *)m->labels.row + at;
		int order = at == end ? 1 : 0;

		if (!row)
			return -ENOMEM;
		if (!order)
			order = i == n ? -1 : strcmp(own->key, label[i].key);
		*row = order <= 0 ? *own : label[i];
		row->labels = set;
		at += order <= 0;
		i += order >= 0;
	}
	return 0;
}

static int context_sets_add(struct trc_model *m)
{
	const struct trc_context_set *of = m->context_sets.row;
	int err = 0;

	for (size_t i = 0; i < m->context_sets.n && !err; i++) {
		err = context_set_add(m, (uint32_t)(m->n_file_sets + i), &of[i]);
		m->label_first[m->n_file_sets + i + 1] = (uint32_t)m->labels.n;
	}
	return err;
}

int trc_model_read_labels(struct trc_model *m)
{
	struct texts t = {.pool = &m->text, .rows = {.row_bytes = sizeof(struct text)}};
	size_t n_sets = trc_reader_label_sets(m->reader);
	int err;

	/* Set 0 is in no file, nor has it labels. */
	n_sets += !n_sets;
	m->n_file_sets = n_sets;
	m->n_label_sets = n_sets + m->context_sets.n;
	m->label_first = calloc(m->n_label_sets + 1, sizeof(*m->label_first));
	err = m->label_first ? sets_read(m, &t, n_sets) : -ENOMEM;
	if (!err)
		err = context_sets_add(m);
	trc_index_free(&t.index);
	trc_array_free(&t.rows);
	return err;
}

const struct trc_set_label *trc_model_label_set(const struct trc_model *m, uint32_t labels,
						size_t *n)
{
	*n = 0;
	if (!m->label_first || labels >= m->n_label_sets)
		return NULL;
	*n = m->label_first[labels + 1] - m->label_first[labels];
	return (const struct trc_set_label *)m->labels.row + m->label_first[labels];
}
