/* shares.c - which threads, and which labels, something is of: a line each. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "parts.h"

enum { SHARES_MAX = 5, KEYS_MAX = 4, NAME_WIDTH = 28 };

struct share {
	int64_t value;
	size_t row;
};

/* By key; rows with the same one as they stand. */
static int compare_label_sums_by_key(const void *a, const void *b, void *report)
{
	const struct trc_report *r = report;
	const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	int by_key = strcmp(r->label[x].key, r->label[y].key);

	return by_key ? by_key : (x > y) - (x < y);
}

static int compare_shares(const void *a, const void *b)
{
	const struct share *x = a, *y = b;

	if (x->value != y->value)
		return x->value > y->value ? -1 : 1;
	return (x->row > y->row) - (x->row < y->row);
}

static void line_add_share(struct trc_line *line, int64_t value, double margin, int64_t all)
{
	char number[TRC_NUMBER_BYTES];

	trc_line_add(line, " %s", trc_text_share(number, value, all));
	trc_text_margin(number, margin, all);
	if (*number)
		trc_line_add(line, " %s", number);
}

static void shares_end(struct trc_report *r, struct trc_line *line, size_t n)
{
	if (n > SHARES_MAX)
		trc_line_add(line, ", and %zu more", n - SHARES_MAX);
	trc_report_line(r, line);
}

int trc_report_thread_shares(struct trc_report *r, const int64_t *by_thread, const double *margin,
			     int64_t all)
{
	struct share *share = calloc(r->n_threads + 1, sizeof(*share));
	struct trc_line line;
	size_t n = 0;

	if (!share)
		return -ENOMEM;
	for (size_t i = 0; i < r->n_threads; i++)
		if (by_thread[i])
			share[n++] = (struct share){by_thread[i], i};
	if (n)
		qsort(share, n, sizeof(*share), compare_shares);
	trc_line_begin(&line, r->width, r->colour);
	trc_line_add(&line, "  by thread:");
	for (size_t i = 0; i < n && i < SHARES_MAX; i++) {
		trc_line_add(&line, i ? ", " : " ");
		trc_report_thread(r, &line, r->thread[share[i].row].serial, NAME_WIDTH);
		line_add_share(&line, share[i].value, margin[share[i].row], all);
	}
	if (n)
		shares_end(r, &line, n);
	free(share);
	return 0;
}

uint32_t *trc_report_key_rows(const struct trc_report *r)
{
	uint32_t *row = calloc(2 * r->n_labels + 1, sizeof(*row)), *sorted = row + r->n_labels;

	if (!row)
		return NULL;
	for (size_t i = 0; i < r->n_labels; i++)
		sorted[i] = (uint32_t)i;
	qsort_r(sorted, r->n_labels, sizeof(*sorted), compare_label_sums_by_key, (void *)r);
	for (size_t i = 0; i < r->n_labels; i++)
		row[sorted[i]] = i && !strcmp(r->label[sorted[i]].key, r->label[sorted[i - 1]].key)
					 ? row[sorted[i - 1]]
					 : sorted[i];
	return row;
}

/* The values of one key, that of this row, and what had none of them. */
static void print_key_shares(struct trc_report *r, const struct trc_report_label_sums *of,
			     size_t row, struct share *share)
{
	const char *key = r->label[row].key;
	int64_t none = of->total;
	struct trc_line line;
	size_t n = 0;

	for (size_t i = 0; i < r->n_labels; i++) {
		if (!of->value[i] || strcmp(r->label[i].key, key) != 0)
			continue;
		share[n++] = (struct share){of->value[i], i};
		none -= of->value[i];
	}
	qsort(share, n, sizeof(*share), compare_shares);
	trc_line_begin(&line, r->width, r->colour);
	trc_line_add(&line, "  by ");
	trc_line_data(&line, key, NAME_WIDTH);
	trc_line_add(&line, ":");
	for (size_t i = 0; i < n && i < SHARES_MAX; i++) {
		trc_line_add(&line, i ? ", " : " ");
		trc_report_label_value(r, &line, &r->label[share[i].row], NAME_WIDTH);
		line_add_share(&line, share[i].value, of->margin[share[i].row], of->all);
	}
	if (none > 0 && n <= SHARES_MAX) {
		trc_line_add(&line, ", none");
		line_add_share(&line, none, of->none[row], of->all);
	}
	shares_end(r, &line, n);
}

int trc_report_label_shares(struct trc_report *r, const struct trc_report_label_sums *of)
{
	struct share *share = calloc(r->n_labels + 1, sizeof(*share));
	const char *key[KEYS_MAX];
	size_t n = 0;

	if (!share)
		return -ENOMEM;
	for (size_t i = 0; i < r->n_labels && n < KEYS_MAX; i++) {
		bool known = !of->value[i];

		for (size_t k = 0; k < n && !known; k++)
			known = !strcmp(key[k], r->label[i].key);
		if (known)
			continue;
		key[n++] = r->label[i].key;
		print_key_shares(r, of, i, share);
	}
	free(share);
	return 0;
}
