/*
 * label_names.c - labels in words.
 *
 * A label is named by its first row in the table of labels: all rows with the same key and value
 * have the same `label_first`.
 */
#include "words.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "format/check.h"

enum { KEY_WIDTH = 24, VALUE_WIDTH = 40 };

static bool label_is_same(const struct trc_set_label *a, const struct trc_set_label *b)
{
	return !strcmp(a->key, b->key) && !strcmp(a->value, b->value) &&
	       a->is_number == b->is_number;
}

static uint64_t label_hash(const struct trc_set_label *label, bool is_number)
{
	uint64_t seed = trc_check64(label->key, strlen(label->key), is_number);

	return trc_check64(label->value, strlen(label->value), seed);
}

/* Texts that are empty, or look like a number that the key has as well. */
static void find_quoted(struct trc_report *r, const struct trc_index *first)
{
	for (uint32_t i = 0; i < r->n_labels; i++) {
		const struct trc_set_label *label = &r->label[i], *number;
		uint32_t found = label->is_number ? TRC_INDEX_NONE
						  : trc_index_get(first, label_hash(label, true));

		number = found == TRC_INDEX_NONE ? NULL : &r->label[found];
		r->label_quoted[i] = !*label->value || (number && number->is_number &&
							!strcmp(number->key, label->key) &&
							!strcmp(number->value, label->value));
	}
}

int trc_report_labels_init(struct trc_report *r)
{
	struct trc_index first = {0};
	int err = 0;

	r->label = trc_model_labels(r->m, &r->n_labels);
	r->label_first = calloc(r->n_labels + 1, sizeof(*r->label_first));
	r->label_quoted = calloc(r->n_labels + 1, sizeof(*r->label_quoted));
	if (!r->label_first || !r->label_quoted)
		return -ENOMEM;
	for (uint32_t i = 0; i < r->n_labels && !err; i++) {
		uint64_t hash = label_hash(&r->label[i], r->label[i].is_number);
		uint32_t found = trc_index_get(&first, hash);

		r->label_first[i] = i;
		if (found == TRC_INDEX_NONE)
			err = trc_index_put(&first, hash, i);
		else if (label_is_same(&r->label[found], &r->label[i]))
			r->label_first[i] = found;
	}
	if (!err)
		find_quoted(r, &first);
	trc_index_free(&first);
	return err;
}

bool trc_report_wanted(const struct trc_report *r, uint32_t thread, int64_t ts_ns, uint64_t place)
{
	return trc_selection_has(r->selection, r->m, thread, ts_ns, place);
}

void trc_report_label_value(const struct trc_report *r, struct trc_line *line,
			    const struct trc_set_label *label, int max_width)
{
	bool quoted = r->label_quoted[label - r->label];

	trc_line_add(line, quoted ? "\"" : "");
	trc_line_data(line, label->value, quoted ? max_width - 2 : max_width);
	trc_line_add(line, quoted ? "\"" : "");
}

void trc_report_label(const struct trc_report *r, struct trc_line *line,
		      const struct trc_set_label *label)
{
	trc_line_data(line, label->key, KEY_WIDTH);
	trc_line_add(line, "=");
	trc_report_label_value(r, line, label, VALUE_WIDTH);
}

void trc_report_labels_line(struct trc_report *r, uint32_t labels)
{
	size_t n;
	const struct trc_set_label *label = trc_model_label_set(r->m, labels, &n);
	struct trc_line line;

	if (!n)
		return;
	trc_line_begin(&line, r->width, r->colour);
	trc_line_to(&line, 12);
	trc_line_add(&line, "under ");
	for (size_t i = 0; i < n; i++) {
		trc_line_add(&line, i ? ", " : "");
		trc_report_label(r, &line, &label[i]);
	}
	trc_report_line(r, &line);
}
