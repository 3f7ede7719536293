/* shares.c - which threads, and which labels, something is of: a line each. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "parts.h"

enum { SHARES_MAX = 5, KEYS_MAX = 4, NAME_WIDTH = 28 };

void trc_report_add(int64_t *sum, int64_t value)
{
	if (__builtin_add_overflow(*sum, value, sum))
		*sum = INT64_MAX;
}

struct share {
	int64_t value;
	size_t row;
};

static int compare_shares(const void *a, const void *b)
{
	const struct share *x = a, *y = b;

	if (x->value != y->value)
		return x->value > y->value ? -1 : 1;
	return (x->row > y->row) - (x->row < y->row);
}

static void add_share(struct trc_line *line, int64_t value, int64_t total)
{
	char number[TRC_NUMBER_BYTES];

	trc_line_add(line, " %s", trc_text_share(number, value, total));
}

static void shares_end(struct trc_report *r, struct trc_line *line, size_t n)
{
	if (n > SHARES_MAX)
		trc_line_add(line, ", and %zu more", n - SHARES_MAX);
	trc_report_line(r, line);
}

int trc_report_thread_shares(struct trc_report *r, const int64_t *by_thread, int64_t all)
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
		add_share(&line, share[i].value, all);
	}
	if (n)
		shares_end(r, &line, n);
	free(share);
	return 0;
}

/* The values of one key, and what had none of them. */
static void print_key(struct trc_report *r, const int64_t *by_label, const int64_t sums[2],
		      const char *key, struct share *share)
{
	int64_t none = sums[0], all = sums[1];
	struct trc_line line;
	size_t n = 0;

	for (size_t i = 0; i < r->n_labels; i++) {
		if (!by_label[i] || strcmp(r->label[i].key, key) != 0)
			continue;
		share[n++] = (struct share){by_label[i], i};
		none -= by_label[i];
	}
	qsort(share, n, sizeof(*share), compare_shares);
	trc_line_begin(&line, r->width, r->colour);
	trc_line_add(&line, "  by ");
	trc_line_data(&line, key, NAME_WIDTH);
	trc_line_add(&line, ":");
	for (size_t i = 0; i < n && i < SHARES_MAX; i++) {
		trc_line_add(&line, i ? ", " : " ");
		trc_report_label_value(r, &line, &r->label[share[i].row], NAME_WIDTH);
		add_share(&line, share[i].value, all);
	}
	if (none > 0 && n <= SHARES_MAX) {
		trc_line_add(&line, ", none");
		add_share(&line, none, all);
	}
	shares_end(r, &line, n);
}

int trc_report_label_shares(struct trc_report *r, const int64_t *by_label, int64_t total,
			    int64_t all)
{
	const int64_t sums[2] = {total, all};
	struct share *share = calloc(r->n_labels + 1, sizeof(*share));
	const char *key[KEYS_MAX];
	size_t n = 0;

	if (!share)
		return -ENOMEM;
	for (size_t i = 0; i < r->n_labels && n < KEYS_MAX; i++) {
		bool known = !by_label[i];

		for (size_t k = 0; k < n && !known; k++)
			known = !strcmp(key[k], r->label[i].key);
		if (known)
			continue;
		key[n++] = r->label[i].key;
		print_key(r, by_label, sums, r->label[i].key, share);
	}
	free(share);
	return 0;
}
