/*
 * rows_causes.c - the causes of waits for locks and threads as columns of a page (analyzer/causes/causes.h): of the longest waits of
 * each place, where they are not too many.
 *
 *   rows_causes:K1  the rows of a wait that is there are those of the table causes, all of them; waits come in the order of their ids
 *
 * The details of a wait draw them as a tree, and the SQL box has them as its table causes.
 */
#include <errno.h>
#include <stdlib.h>

#include "analyzer/causes/causes.h"
#include "format/waits.h"
#include "rows.h"

/* Rows of one wait, and of the page; a wait that has more has none, and counts as some of them (as in rows_paths.c). */
enum { ROWS_OF_WAIT = 1 << 12, ROWS_OF_PAGE = 1 << 17, ROWS_GIVEN_UP = ROWS_OF_WAIT / 16 };

struct chosen {
	uint32_t park; /* id */
	uint32_t rank; /* among those of its place, 0 = the longest */
	uint32_t stack;
	uint8_t reason;
	uint64_t length;
	size_t first, n; /* its rows */
};

struct causes {
	struct trc_rows *r;
	struct trc_array waits; /* struct chosen */
	struct trc_array rows;	/* struct trc_cause */
	size_t n_rows;
};

/* ---- which waits ---- */

static int by_place(const void *a, const void *b)
{
	const struct chosen *x = a, *y = b;

	if (x->stack != y->stack)
		return x->stack < y->stack ? -1 : 1;
	if (x->reason != y->reason)
		return x->reason < y->reason ? -1 : 1;
	if (x->length != y->length)
		return x->length > y->length ? -1 : 1;
	return (x->park > y->park) - (x->park < y->park);
}

/* The longest of all places first, then the second of all. */
static int waits_by_rank(const void *a, const void *b)
{
	const struct chosen *x = a, *y = b;

	if (x->rank != y->rank)
		return x->rank < y->rank ? -1 : 1;
	if (x->length != y->length)
		return x->length > y->length ? -1 : 1;
	return (x->park > y->park) - (x->park < y->park);
}

static int waits_by_id(const void *a, const void *b)
{
	const struct chosen *x = a, *y = b;

	return (x->park > y->park) - (x->park < y->park);
}

static void waits_sort(struct trc_array *waits, int (*compare)(const void *a, const void *b))
{
	if (waits->n)
		qsort(waits->row, waits->n, waits->row_bytes, compare);
}

/* All that the page has of these classes. */
static int list_waits(struct causes *c)
{
	const struct trc_rows *r = c->r;
	size_t n;
	const struct trc_park *park = trc_model_parks(r->m, &n);

	for (size_t i = trc_cut_next_overlapping(r->cut, 0, n); i < n;
	     i = trc_cut_next_overlapping(r->cut, i + 1, n)) {
		enum trc_wait_class class = trc_wait_class(park[i].reason);
		struct chosen *added;

		if (!r->park_idx[i] || (class != TRC_WAIT_LOCKS && class != TRC_WAIT_THREADS))
			continue;
		added = trc_array_add(&c->waits);
		if (!added)
			return -ENOMEM;
		*added = (struct chosen){.park = (uint32_t)i + 1,
					 .stack = park[i].stack,
					 .reason = park[i].reason,
					 .length = trc_rows_time(r, park[i].end_ns) -
						   trc_rows_time(r, park[i].start_ns)};
	}
	return 0;
}

static int causes_choose_waits(struct causes *c)
{
	struct chosen *row;
	size_t kept = 0;
	uint32_t rank = 0;
	int err = list_waits(c);

	if (err)
		return err;
	waits_sort(&c->waits, by_place);
	row = c->waits.row;
	for (size_t i = 0; i < c->waits.n; i++) {
		bool goes_on =
			i && row[i].stack == row[i - 1].stack && row[i].reason == row[i - 1].reason;

		rank = goes_on ? rank + 1 : 0;
		row[i].rank = rank;
	}
	for (size_t i = 0; i < c->waits.n; i++)
		if (row[i].rank < c->r->limits.causes)
			row[kept++] = row[i];
	c->waits.n = kept;
	waits_sort(&c->waits, waits_by_rank);
	return 0;
}

/* ---- their causes ---- */

static int find_causes(struct causes *c, struct trc_causes *causes, struct chosen *wait)
{
	const struct trc_cause *row;
	size_t n;
	int err;

	wait->first = c->rows.n;
	if (c->n_rows >= ROWS_OF_PAGE)
		return 0;
	err = trc_causes_of_wait(causes, wait->park, &row, &n);
	if (err == -E2BIG) {
		c->n_rows += ROWS_GIVEN_UP;
		return 0;
	}
	c->n_rows += n;
	for (size_t i = 0; i < n && !err; i++) {
		struct trc_cause *added = trc_array_add(&c->rows);

		if (!added)
			return -ENOMEM;
		*added = row[i];
	}
	wait->n = err ? 0 : n;
	return err;
}

static int causes_find_all(struct causes *c)
{
	struct chosen *wait = c->waits.row;
	struct trc_causes *causes;
	int err = c->waits.n ? trc_causes_open(&causes, c->r->m) : 0;

	if (err || !c->waits.n)
		return err;
	trc_causes_limit(causes, ROWS_OF_WAIT);
	for (size_t i = 0; i < c->waits.n && !err; i++)
		err = find_causes(c, causes, &wait[i]);
	trc_causes_close(causes);
	return err;
}

/* ---- the columns ---- */

enum {
	WAIT,
	ID,
	PARENT,
	DEPTH,
	KIND,
	THREAD,
	START,
	LENGTH,
	REASON,
	OBJECT,
	PARK,
	UNLOCK,
	STACK,
	STACK_OF,
	INSTEAD,
	INSTEAD_NS,
	N
};

uint64_t trc_rows_instead(const struct trc_cause *cause)
{
	return cause->kind == TRC_CAUSE_PREEMPTED && cause->instead_ns != TRC_NEVER
		       ? (uint64_t)cause->instead_ns + 1
		       : 0;
}

static void write_row(struct trc_rows *r, struct trc_column c[N], const struct trc_cause *row)
{
	const uint64_t start = trc_rows_time(r, row->from_ns);

	trc_column_add(&c[WAIT], row->wait);
	trc_column_add(&c[ID], row->id);
	trc_column_add(&c[PARENT], row->parent);
	trc_column_add(&c[DEPTH], row->depth);
	trc_column_add(&c[KIND], row->kind);
	trc_column_add(&c[THREAD], trc_rows_thread(r, row->thread));
	trc_column_add(&c[START], start);
	trc_column_add(&c[LENGTH], trc_rows_time(r, row->to_ns) - start);
	trc_column_add(&c[REASON], row->reason);
	trc_column_add(&c[OBJECT], row->object ? trc_rows_object(r, row->object, row->stack) : 0);
	trc_column_add(&c[PARK], row->park ? r->park_idx[row->park - 1] : 0);
	trc_column_add(&c[UNLOCK], row->unlock);
	trc_column_add(&c[STACK], row->stack);
	trc_column_add(&c[STACK_OF], row->stack_of);
	trc_column_add(&c[INSTEAD], row->instead ? trc_rows_thread(r, row->instead) : 0);
	trc_column_add(&c[INSTEAD_NS], trc_rows_instead(row));
}

static void rows_write_causes(struct causes *causes)
{
	struct trc_column c[N] = {
		[WAIT] = trc_column_make("cause.wait", TRC_COLUMN_DELTA),
		[ID] = trc_column_make("cause.id", TRC_COLUMN_DELTA),
		[PARENT] = trc_column_make("cause.parent", TRC_COLUMN_DELTA),
		[DEPTH] = trc_column_make("cause.depth", TRC_COLUMN_BYTES),
		[KIND] = trc_column_make("cause.kind", TRC_COLUMN_BYTES),
		[THREAD] = trc_column_make("cause.thread", TRC_COLUMN_VARINT),
		[START] = trc_column_make("cause.start", TRC_COLUMN_DELTA),
		[LENGTH] = trc_column_make("cause.length", TRC_COLUMN_VARINT),
		[REASON] = trc_column_make("cause.reason", TRC_COLUMN_BYTES),
		[OBJECT] = trc_column_make("cause.object", TRC_COLUMN_VARINT),
		[PARK] = trc_column_make("cause.park", TRC_COLUMN_VARINT),
		[UNLOCK] = trc_column_make("cause.unlock", TRC_COLUMN_DELTA),
		[STACK] = trc_column_make("cause.stack", TRC_COLUMN_VARINT),
		[STACK_OF] = trc_column_make("cause.stack_of", TRC_COLUMN_BYTES),
		[INSTEAD] = trc_column_make("cause.instead", TRC_COLUMN_VARINT),
		[INSTEAD_NS] = trc_column_make("cause.instead_ns", TRC_COLUMN_VARINT),
	};
	const struct chosen *wait = causes->waits.row;
	const struct trc_cause *row = causes->rows.row;

	for (size_t i = 0; i < causes->waits.n; i++)
		for (size_t k = 0; k < wait[i].n; k++)
			write_row(causes->r, c, &row[wait[i].first + k]);
	trc_rows_columns(causes->r, c, N);
}

/* For the SQL box: these ids, and no others. */
static int keep_ids(struct causes *c)
{
	const struct chosen *wait = c->waits.row;

	c->r->caused = calloc(c->waits.n + 1, sizeof(*c->r->caused));
	if (!c->r->caused)
		return -ENOMEM;
	for (size_t i = 0; i < c->waits.n; i++)
		if (wait[i].n)
			c->r->caused[c->r->n_caused++] = wait[i].park;
	return 0;
}

void trc_rows_causes(struct trc_rows *r)
{
	struct causes c = {.r = r,
			   .waits = {.row_bytes = sizeof(struct chosen)},
			   .rows = {.row_bytes = sizeof(struct trc_cause)}};
	int err = causes_choose_waits(&c);

	if (!err)
		err = causes_find_all(&c);
	waits_sort(&c.waits, waits_by_id); /* K1 */
	if (!err)
		err = keep_ids(&c);
	if (err)
		r->failed = true;
	else
		rows_write_causes(&c);
	trc_array_free(&c.waits);
	trc_array_free(&c.rows);
}
