/*
 * labels.c - whose work it was: the labels of single waits, and time by label.
 *
 * A label is named by its first row in the table of labels: all rows with the same key and value
 * have the same `label_first`.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "parts.h"
#include "analyzer/model/preempted.h"
#include "format/check.h"

enum { KEYS_MAX = 8, VALUES_MAX = 5, KEY_WIDTH = 24, LABEL_WIDTH = 32 };

/* ---- time by label ---- */

struct sum {
	const struct trc_set_label *label; /* once it is known to have any */
	int64_t time_ns, class_ns[TRC_WAIT_CLASSES];
};

struct key {
	const char *key;
	int64_t time_ns;
	size_t first, n; /* of its sums, largest first */
};

/* To all labels of a set that is wanted. */
static void sums_add(const struct trc_report *r, struct sum *sum, uint32_t labels, int class,
		     int64_t ns)
{
	size_t n;
	const struct trc_set_label *label = trc_model_label_set(r->m, labels, &n);

	if (!trc_selection_passes(r->selection, r->m, labels))
		return;
	for (size_t i = 0; i < n; i++) {
		struct sum *of = &sum[r->label_first[label + i - r->label]];

		if (class < 0)
			of->time_ns += ns;
		else
			of->class_ns[class] += ns;
	}
}

static void sum_spans(const struct trc_report *r, struct sum *sum)
{
	size_t n;
	const struct trc_thread_span *span = trc_model_label_spans(r->m, &n);

	for (size_t i = 0; i < n; i++)
		sums_add(r, sum, span[i].value, -1, trc_report_label_span_ns(r, &span[i]));
}

/* timeline:P1 */
static void label_sum_take_off_preempted(const struct trc_report *r, struct sum *sum)
{
	size_t n, n_parks;
	const struct trc_park *park = trc_model_parks(r->m, &n_parks);
	const struct trc_preempted_wait *wait = trc_preempted_waits(trc_model_preempted(r->m), &n);

	for (size_t i = 0; i < n; i++)
		sums_add(r, sum, trc_park_labels(r->m, &park[wait[i].park - 1]), TRC_WAIT_FILES,
			 -trc_selection_ns(r->selection, wait[i].thread, wait[i].from_ns,
					   wait[i].to_ns));
}

static int sum_waits(const struct trc_report *r, struct sum *sum)
{
	size_t n;
	const struct trc_park *park = trc_model_parks(r->m, &n);
	uint32_t *outer = trc_waits_nesting(r->m);

	if (!outer)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		int64_t start_ns = trc_park_start_ns(r->m, &park[i]);
		int64_t end_ns = trc_park_end_ns(r->m, &park[i]), around_end_ns;
		const struct trc_park *around = outer[i] ? &park[outer[i] - 1] : NULL;

		sums_add(r, sum, trc_park_labels(r->m, &park[i]),
			 (int)trc_wait_class(park[i].reason),
			 trc_selection_ns(r->selection, park[i].thread, start_ns, end_ns));
		if (!around)
			continue;
		around_end_ns = trc_park_end_ns(r->m, around);
		sums_add(r, sum, trc_park_labels(r->m, around), (int)trc_wait_class(around->reason),
			 -trc_selection_ns(r->selection, park[i].thread, start_ns,
					   end_ns < around_end_ns ? end_ns : around_end_ns));
	}
	free(outer);
	label_sum_take_off_preempted(r, sum);
	return 0;
}

int64_t trc_report_label_span_ns(const struct trc_report *r, const struct trc_thread_span *span)
{
	const struct trc_thread *t = trc_model_thread(r->m, span->thread);
	int64_t from_ns = r->start_ns, until_ns = r->end_ns;

	if (t && t->start_ns != TRC_NEVER && t->start_ns > from_ns)
		from_ns = t->start_ns;
	if (t && t->end_ns != TRC_NEVER && t->end_ns < until_ns)
		until_ns = t->end_ns;
	if (span->start_ns > from_ns) /* TRC_NEVER is not */
		from_ns = span->start_ns;
	if (span->end_ns != TRC_NEVER && span->end_ns < until_ns)
		until_ns = span->end_ns;
	return trc_selection_ns(r->selection, span->thread, from_ns, until_ns);
}

/* By key, then largest first. */
static int compare_label_sums(const void *a, const void *b)
{
	const struct sum *x = a, *y = b;
	int order = strcmp(x->label->key, y->label->key);

	if (order)
		return order;
	if (x->time_ns != y->time_ns)
		return x->time_ns > y->time_ns ? -1 : 1;
	return strcmp(x->label->value, y->label->value);
}

/* The most time first; of those that are always set together the one with fewer values. */
static int compare_label_keys(const void *a, const void *b)
{
	const struct key *x = a, *y = b;

	if (x->time_ns != y->time_ns)
		return x->time_ns > y->time_ns ? -1 : 1;
	if (x->n != y->n)
		return x->n < y->n ? -1 : 1;
	return strcmp(x->key, y->key);
}

/* Moves the labels that had time to the front, in order; returns how many. */
static size_t sums_order(const struct trc_report *r, struct sum *sum)
{
	size_t n = 0;

	for (size_t i = 0; i < r->n_labels; i++) {
		if (!sum[i].time_ns)
			continue;
		sum[n] = sum[i];
		sum[n++].label = &r->label[i];
	}
	if (n)
		qsort(sum, n, sizeof(*sum), compare_label_sums);
	return n;
}

static int keys_find(struct trc_array *keys, const struct sum *sum, size_t n)
{
	struct key *key = NULL;

	for (size_t i = 0; i < n; i++) {
		const char *name = sum[i].label->key;

		if (!key || strcmp(key->key, name) != 0) {
			key = trc_array_add(keys);
			if (!key)
				return -ENOMEM;
			*key = (struct key){.key = name, .first = i};
		}
		key->n++;
		key->time_ns += sum[i].time_ns;
	}
	if (keys->n)
		qsort(keys->row, keys->n, sizeof(*key), compare_label_keys);
	return 0;
}

static void labels_print_columns(struct trc_report *r)
{
	static const char *const NAME[TRC_WAIT_CLASSES] = {
		[TRC_WAIT_LOCKS] = "locks",
		[TRC_WAIT_THREADS] = "others",
		[TRC_WAIT_FILES] = "files",
		[TRC_WAIT_OUTSIDE] = "outside",
	};
	struct trc_line line;

	trc_line_begin(&line, r->width, r->colour);
	trc_line_style(&line, TRC_STYLE_DIM);
	trc_line_add(&line, "  label");
	trc_line_to(&line, LABEL_WIDTH);
	trc_line_right(&line, 12, "time");
	trc_line_right(&line, 12, "not parked");
	for (int class = 0; class < TRC_WAIT_CLASSES; class ++)
		trc_line_right(&line, 11, NAME[class]);
	trc_line_style(&line, TRC_STYLE_PLAIN);
	trc_report_line(r, &line);
}

static void print_sum(struct trc_report *r, const struct sum *sum)
{
	int64_t unparked_ns = sum->time_ns;
	char number[TRC_NUMBER_BYTES];
	struct trc_line line;

	for (int class = 0; class < TRC_WAIT_CLASSES; class ++)
		unparked_ns -= sum->class_ns[class];
	trc_line_begin(&line, r->width, r->colour);
	trc_line_add(&line, "  ");
	trc_line_data(&line, sum->label->key, LABEL_WIDTH / 2 - 2);
	trc_line_add(&line, "=");
	trc_report_label_value(r, &line, sum->label, LABEL_WIDTH - 1 - line.width);
	trc_line_to(&line, LABEL_WIDTH);
	trc_line_right(&line, 12, trc_text_duration(number, sum->time_ns));
	trc_line_right(&line, 12, trc_text_duration(number, unparked_ns > 0 ? unparked_ns : 0));
	for (int class = 0; class < TRC_WAIT_CLASSES; class ++)
		trc_line_right(&line, 11,
			       sum->class_ns[class] > 0
				       ? trc_text_duration(number, sum->class_ns[class])
				       : "");
	trc_report_line(r, &line);
}

static void print_label_key(struct trc_report *r, const struct key *key, const struct sum *sum)
{
	char number[TRC_NUMBER_BYTES];
	struct trc_line line;

	for (size_t i = 0; i < key->n && i < VALUES_MAX; i++)
		print_sum(r, &sum[key->first + i]);
	if (key->n <= VALUES_MAX)
		return;
	trc_line_begin(&line, r->width, r->colour);
	trc_line_add(&line, "    and %s more value%s of ",
		     trc_text_count(number, key->n - VALUES_MAX),
		     key->n - VALUES_MAX == 1 ? "" : "s");
	trc_line_data(&line, key->key, KEY_WIDTH);
	trc_report_line(r, &line);
}

static void print_keys(struct trc_report *r, const struct trc_array *keys, const struct sum *sum)
{
	const struct key *key = keys->row;
	struct trc_line line;

	trc_report_heading(r, "Labels", "threads' time under each, and how much of it they waited");
	labels_print_columns(r);
	for (size_t i = 0; i < keys->n && i < KEYS_MAX; i++)
		print_label_key(r, &key[i], sum);
	if (keys->n <= KEYS_MAX)
		return;
	trc_line_begin(&line, r->width, r->colour);
	trc_line_add(&line, "    and %zu more key%s", keys->n - KEYS_MAX,
		     keys->n - KEYS_MAX == 1 ? "" : "s");
	trc_report_line(r, &line);
}

/* *sum and keys are to be freed, also after an error. */
static int sum_by_label(const struct trc_report *r, struct sum **sum, struct trc_array *keys)
{
	int err = 0;

	*keys = (struct trc_array){.row_bytes = sizeof(struct key)};
	*sum = calloc(r->n_labels + 1, sizeof(**sum));
	if (!*sum)
		return -ENOMEM;
	if (r->n_labels) {
		sum_spans(r, *sum);
		err = sum_waits(r, *sum);
	}
	return err ? err : keys_find(keys, *sum, sums_order(r, *sum));
}

int trc_report_by_label(struct trc_report *r)
{
	struct sum *sum;
	struct trc_array keys;
	int err = sum_by_label(r, &sum, &keys);

	if (!err && keys.n)
		print_keys(r, &keys, sum);
	trc_array_free(&keys);
	free(sum);
	return err;
}

static int add_label_times(struct trc_array *rows, const struct key *key, const struct sum *sum)
{
	for (size_t i = 0; i < key->n && i < VALUES_MAX; i++) {
		const struct sum *of = &sum[key->first + i];
		struct trc_label_time *row = trc_array_add(rows);

		if (!row)
			return -ENOMEM;
		*row = (struct trc_label_time){
			.label = of->label, .n_values = key->n, .time_ns = of->time_ns};
		memcpy(row->class_ns, of->class_ns, sizeof(row->class_ns));
	}
	return 0;
}

int trc_report_label_times(struct trc_report *r, struct trc_array *rows)
{
	struct sum *sum;
	struct trc_array keys;
	int err = sum_by_label(r, &sum, &keys);
	const struct key *key = keys.row;

	for (size_t i = 0; i < keys.n && i < KEYS_MAX && !err; i++)
		err = add_label_times(rows, &key[i], sum);
	trc_array_free(&keys);
	free(sum);
	return err;
}
