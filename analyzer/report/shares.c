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

/* What each has of all, and how far that may be off. */
struct shared {
	const int64_t *value;
	const double *margin;
	int64_t total, all;
};

static int compare_shares(const void *a, const void *b)
{
	const struct share *x = a, *y = b;

	if (x->value != y->value)
		return x->value > y->value ? -1 : 1;
	return (x->row > y->row) - (x->row < y->row);
}

static void add_share(struct trc_line *line, const struct share *share, const struct shared *of)
{
	char number[TRC_NUMBER_BYTES];

	trc_line_add(line, " %s", trc_text_share(number, share->value, of->all));
	trc_text_margin(number, of->margin[share->row], of->all);
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
	const struct shared of = {by_thread, margin, all, all};
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
		add_share(&line, &share[i], &of);
	}
	if (n)
		shares_end(r, &line, n);
	free(share);
	return 0;
}

/* The values of one key, and what had none of them. */
static void print_key(struct trc_report *r, const struct shared *of, const char *key,
		      struct share *share)
{
	int64_t none = of->total;
	char number[TRC_NUMBER_BYTES];
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
		add_share(&line, &share[i], of);
	}
	if (none > 0 && n <= SHARES_MAX)
		trc_line_add(&line, ", none %s", trc_text_share(number, none, of->all));
	shares_end(r, &line, n);
}

int trc_report_label_shares(struct trc_report *r, const int64_t *by_label, const double *margin,
			    const int64_t total_and_all[2])
{
	const struct shared of = {by_label, margin, total_and_all[0], total_and_all[1]};
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
		print_key(r, &of, r->label[i].key, share);
	}
	free(share);
	return 0;
}
