/*
 * rows_blame.c - what in the end caused waits for locks and for other threads, as columns of a page: pieces
 * of waits, each with the stack that is to blame for it (analyzer/causes/blame.h).
 *
 * A piece begins where the one before it of the same wait ends, or at the wait's begin, unless `gap` says
 * otherwise; a length of 0 is up to the wait's end.  So most waits take a few bytes.
 *
 * Threads that take turns have thousands of pieces in each wait that is as long as the trace.  If
 * there are too many pieces, those of a wait with one cause are summed up to one (blame_summed), in
 * the order in which the causes began.  Sums of whole waits are as exact as before.
 */
#include <errno.h>
#include <stdlib.h>

#include "analyzer/causes/blame.h"
#include "format/row_index.h"
#include "format/waits.h"
#include "rows.h"

/* The page has no more pieces than limits.blame_pieces, and so many for each wait that has some. */
enum { PIECES_A_WAIT = 8 };

struct piece {
	uint64_t from, until; /* since the trace's start */
	uint32_t park;	      /* the page's number of the wait */
	uint32_t stack;
	uint8_t kind, reason;
};

/* What of a wait has one cause. */
struct sum {
	struct sum_key {
		uint32_t park, stack;
		uint32_t why; /* kind, and reason above it */
	} key;
	uint64_t from, ns; /* from when the first of it is */
};

struct pieces {
	struct trc_rows *r;
	const struct trc_park *park; /* the model's */
	struct trc_array rows;	     /* struct piece */
	uint32_t *latest; /* by the page's number of a wait: index + 1 of its last piece */
	struct trc_keyed_rows sums; /* struct sum, in place of pieces that are too many */
	size_t n_max;
};

static bool is_blamed(const struct trc_park *park)
{
	enum trc_wait_class class = trc_wait_class(park->reason);

	return class == TRC_WAIT_LOCKS || class == TRC_WAIT_THREADS;
}

/* In the page. */
static uint64_t blamed_length(const struct trc_rows *r, const struct trc_park *park)
{
	return trc_rows_time(r, park->end_ns) - trc_rows_time(r, park->start_ns);
}

/* The labels that a charge will have are the page's number of its wait: so it tells the wait. */
static bool blamed_wait_is_wanted(void *context, const struct trc_park *park, uint32_t *labels)
{
	const struct pieces *p = context;

	*labels = p->r->park_idx[park - p->park];
	return *labels && is_blamed(park) && blamed_length(p->r, park) >= p->r->blame_from_ns;
}

static bool piece_goes_on(const struct piece *piece, const struct trc_blame *blame, uint64_t from)
{
	return piece->until == from && piece->stack == blame->stack && piece->kind == blame->kind &&
	       piece->reason == blame->reason;
}

static int piece_add_blame(void *context, const struct trc_blame *blame)
{
	struct pieces *p = context;
	uint32_t *latest = &p->latest[blame->labels];
	uint64_t from = trc_rows_time(p->r, blame->from_ns),
		 until = trc_rows_time(p->r, blame->to_ns);
	struct piece *piece = p->rows.row;

	if (*latest && piece_goes_on(&piece[*latest - 1], blame, from)) {
		piece[*latest - 1].until = until;
		return 0;
	}
	if (p->rows.n >= p->n_max)
		return -E2BIG;
	piece = trc_array_add(&p->rows);
	if (!piece)
		return -ENOMEM;
	*piece = (struct piece){from,	      until,	   blame->labels,
				blame->stack, blame->kind, blame->reason};
	*latest = (uint32_t)p->rows.n;
	return 0;
}

static int add_to_sum(void *context, const struct trc_blame *blame)
{
	struct pieces *p = context;
	const struct sum_key key = {blame->labels, blame->stack,
				    (uint32_t)blame->reason << 8 | blame->kind};
	uint64_t from = trc_rows_time(p->r, blame->from_ns);
	bool added = false;
	struct sum *sum = trc_keyed_rows_find(&p->sums, &key, &added);

	if (!sum)
		return -ENOMEM;
	if (p->sums.n > p->n_max)
		return -E2BIG;
	sum->from = added || from < sum->from ? from : sum->from;
	sum->ns += trc_rows_time(p->r, blame->to_ns) - from;
	return 0;
}

static int compare_pieces(const void *a, const void *b)
{
	const struct piece *x = a, *y = b;

	if (x->park != y->park)
		return x->park < y->park ? -1 : 1;
	return (x->from > y->from) - (x->from < y->from);
}

/* Chooses the waits whose causes the page tells; how many pieces they may have. */
static size_t blame_choose_waits(struct trc_rows *r)
{
	size_t n, n_blamed = 0;
	const struct trc_park *park = trc_model_parks(r->m, &n);
	uint64_t by_length[65] = {0};

	for (size_t i = trc_cut_next_overlapping(r->cut, 0, n); i < n;
	     i = trc_cut_next_overlapping(r->cut, i + 1, n)) {
		if (!r->park_idx[i] || !is_blamed(&park[i]))
			continue;
		by_length[trc_bits(blamed_length(r, &park[i]))]++;
		n_blamed++;
	}
	r->blame_from_ns = trc_rows_keep_from(by_length, r->limits.blamed_waits);
	return (n_blamed < r->limits.blamed_waits ? n_blamed : r->limits.blamed_waits) *
		       PIECES_A_WAIT +
	       r->limits.blame_pieces;
}

static void write_pieces(struct trc_rows *r, const struct pieces *p, const uint32_t *row)
{
	enum { PARK, GAP, LENGTH, STACK, KIND, REASON, N };
	struct trc_column c[N] = {
		[PARK] = trc_column_make("blame.park", TRC_COLUMN_DELTA),
		[GAP] = trc_column_make("blame.gap", TRC_COLUMN_VARINT),
		[LENGTH] = trc_column_make("blame.length", TRC_COLUMN_VARINT),
		[STACK] = trc_column_make("blame.stack", TRC_COLUMN_VARINT),
		[KIND] = trc_column_make("blame.kind", TRC_COLUMN_BYTES),
		[REASON] = trc_column_make("blame.reason", TRC_COLUMN_BYTES),
	};
	const struct piece *piece = p->rows.row;
	uint64_t at = 0, end = 0;

	for (size_t i = 0; i < p->rows.n; i++, piece++) {
		if (!i || piece->park != piece[-1].park) {
			at = trc_rows_time(r, p->park[row[piece->park - 1]].start_ns);
			end = trc_rows_time(r, p->park[row[piece->park - 1]].end_ns);
		}
		trc_column_add(&c[PARK], piece->park);
		trc_column_add(&c[GAP], piece->from > at ? piece->from - at : 0);
		trc_column_add(&c[LENGTH], piece->until == end ? 0 : piece->until - piece->from);
		trc_column_add(&c[STACK], piece->stack);
		trc_column_add(&c[KIND], piece->kind);
		trc_column_add(&c[REASON], piece->reason);
		at = piece->until;
	}
	trc_rows_columns(r, c, N);
}

/* By the page's number - 1, the model's row; NULL without memory. */
static uint32_t *rows_of_parks(const struct trc_rows *r)
{
	size_t n;
	uint32_t *row;

	trc_model_parks(r->m, &n);
	row = calloc(n + 1, sizeof(*row));
	if (!row)
		return NULL;
	for (size_t i = trc_cut_next_overlapping(r->cut, 0, n); i < n;
	     i = trc_cut_next_overlapping(r->cut, i + 1, n))
		if (r->park_idx[i])
			row[r->park_idx[i] - 1] = (uint32_t)i;
	return row;
}

/* A piece for each sum, which begins with the first of it. */
static int pieces_of_sums(struct pieces *p)
{
	const struct sum *sum = p->sums.row;

	p->rows.n = 0;
	for (size_t i = 0; i < p->sums.n; i++, sum++) {
		struct piece *piece = trc_array_add(&p->rows);

		if (!piece)
			return -ENOMEM;
		*piece = (struct piece){
			sum->from,	sum->from + sum->ns,   sum->key.park,
			sum->key.stack, (uint8_t)sum->key.why, (uint8_t)(sum->key.why >> 8)};
	}
	return 0;
}

/* Pieces of sums follow each other from the begin of their wait on.  Together they are no longer
 * than the wait. */
static void lay_end_to_end(const struct pieces *p, const uint32_t *row)
{
	struct piece *piece = p->rows.row;
	uint64_t at = 0;

	for (size_t i = 0; i < p->rows.n; i++, piece++) {
		uint64_t ns = piece->until - piece->from;

		if (!i || piece->park != piece[-1].park)
			at = trc_rows_time(p->r, p->park[row[piece->park - 1]].start_ns);
		piece->from = at;
		at = piece->until = at + ns;
	}
}

static int find_sums(struct pieces *p, struct trc_blame_target target)
{
	int err;

	target.charge = add_to_sum;
	err = trc_blame_sum(p->r->m, &target);
	if (!err)
		err = pieces_of_sums(p);
	p->r->blame_summed = !err;
	return err;
}

static int find_pieces(struct pieces *p)
{
	const struct trc_blame_target target = {
		.wanted = blamed_wait_is_wanted,
		.charge = piece_add_blame,
		.context = p,
		.from_ns = p->r->cut->from_ns,
		.to_ns = p->r->cut->to_ns,
	};
	size_t n;
	int err;

	p->park = trc_model_parks(p->r->m, &n);
	p->n_max = blame_choose_waits(p->r);
	p->latest = calloc(n + 1, sizeof(*p->latest));
	err = p->latest ? trc_blame_sum(p->r->m, &target) : -ENOMEM;
	if (err == -E2BIG)
		err = find_sums(p, target);
	if (err == -E2BIG) {
		p->r->without_blame = true;
		p->rows.n = 0;
		return 0;
	}
	if (!err && p->rows.n)
		qsort(p->rows.row, p->rows.n, sizeof(struct piece), compare_pieces);
	return err;
}

void trc_rows_blame(struct trc_rows *r)
{
	struct pieces p = {
		.r = r,
		.rows = {.row_bytes = sizeof(struct piece)},
		.sums = {.row_bytes = sizeof(struct sum), .key_bytes = sizeof(struct sum_key)}};
	uint32_t *row = rows_of_parks(r);

	if (!row || find_pieces(&p)) {
		r->failed = true;
	} else {
		if (r->blame_summed)
			lay_end_to_end(&p, row);
		write_pieces(r, &p, row);
	}
	trc_keyed_rows_free(&p.sums);
	trc_array_free(&p.rows);
	free(p.latest);
	free(row);
}
