/*
 * rows_top.c - which waits cost most, and which critical sections made others wait most.
 *
 * Summed here over all rows, so that the tables are exact even where the page leaves
 * rows out.  What is left out of the tables, beyond TOP_MAX places, is in the sums by reason.
 */
#include <stdlib.h>

#include "analyzer/model/preempted.h"
#include "analyzer/model/timeline.h"
#include "rows.h"

enum { TOP_MAX = 200 };

/* Added to the reason of waits that the report calls idle. */
enum { IDLE = 128 };

struct sum {
	uint64_t key; /* stack << 8 | reason */
	uint64_t count, total_ns, max_ns;
	uint32_t max_idx; /* in the page, + 1; 0 = left out */
	uint64_t object;  /* the first of them; of joins the thread whose end it waited for, */
	bool is_joined;	  /* ... if that is known */
	bool several;	  /* others as well */
	uint32_t
		descriptor; /* of waits for one file: trc_rows_descriptor(); 0 = none, or several */
	uint64_t no_proc_ns; /* of waits: what of them their threads could have run (timeline:P1) */
};

struct reason_sum {
	uint64_t count, total_ns, max_ns;
};

struct sums {
	struct trc_index map;
	struct reason_sum of[256]; /* by the low byte of the key */
	struct sum *sum;	   /* by number - 1; owned */
	size_t capacity;
	bool failed;
};

static struct sum *sums_at(struct sums *s, uint8_t reason, uint32_t stack, uint64_t object)
{
	uint64_t key = (uint64_t)stack << 8 | reason;
	size_t known = s->map.n;
	uint32_t number = trc_index_number(&s->map, key);

	if (!number)
		goto failed;
	if (number > s->capacity) {
		size_t capacity = s->capacity ? s->capacity * 2 : 256;
		struct sum *sum = realloc(s->sum, capacity * sizeof(*sum));

		if (!sum)
			goto failed;
		s->sum = sum;
		s->capacity = capacity;
	}
	if (number > known)
		s->sum[number - 1] = (struct sum){.key = key, .object = object};
	return &s->sum[number - 1];
failed:
	s->failed = true;
	return NULL;
}

static struct sum *top_sums_add(struct sums *s, uint8_t reason, uint32_t stack, uint64_t object,
				int64_t ns, uint32_t idx)
{
	struct sum *sum = s->failed ? NULL : sums_at(s, reason, stack, object);
	uint64_t length = ns > 0 ? (uint64_t)ns : 0;

	if (!sum)
		return NULL;
	sum->several |= sum->object != object;
	sum->count++;
	sum->total_ns += length;
	s->of[reason].count++;
	s->of[reason].total_ns += length;
	if (length > s->of[reason].max_ns)
		s->of[reason].max_ns = length;
	if (length >= sum->max_ns) {
		sum->max_ns = length;
		sum->max_idx = idx;
	}
	return sum;
}

/* The most costly first; the key decides between equals. */
static int sum_compare(const void *a, const void *b)
{
	const struct sum *x = a, *y = b;

	if (x->total_ns != y->total_ns)
		return x->total_ns < y->total_ns ? 1 : -1;
	return x->key < y->key ? -1 : x->key > y->key;
}

enum {
	REASON,
	STACK,
	COUNT,
	TOTAL,
	MAX,
	ROW,
	OBJECT,
	SEVERAL,
	NO_PROC,
	JOINED,
	DESCRIPTOR,
	N_COLUMNS
};

/* All of each reason, also what is in no row. */
static void sums_write_all(struct trc_rows *r, const struct sums *s, const char *const names[4])
{
	struct trc_column c[4];

	for (size_t i = 0; i < 4; i++)
		c[i] = trc_column_make(names[i], TRC_COLUMN_VARINT);
	for (uint64_t reason = 0; !s->failed && reason < 256; reason++) {
		const struct reason_sum *of = &s->of[reason];

		if (!of->count)
			continue;
		trc_column_add(&c[0], reason);
		trc_column_add(&c[1], of->count);
		trc_column_add(&c[2], of->total_ns);
		trc_column_add(&c[3], of->max_ns);
	}
	for (size_t i = 0; i < 4; i++)
		trc_page_column(r->page, &c[i]);
}

static void sums_write(struct trc_rows *r, struct sums *s, const char *const names[N_COLUMNS])
{
	struct trc_column c[N_COLUMNS];

	if (s->failed)
		r->failed = true;
	for (size_t i = 0; i < N_COLUMNS; i++)
		c[i] = trc_column_make(names[i], TRC_COLUMN_VARINT);
	if (s->map.n && !s->failed)
		qsort(s->sum, s->map.n, sizeof(*s->sum), sum_compare);
	for (size_t i = 0; !s->failed && i < s->map.n && i < TOP_MAX; i++) {
		trc_column_add(&c[REASON], s->sum[i].key & 255);
		trc_column_add(&c[STACK], s->sum[i].key >> 8);
		trc_column_add(&c[COUNT], s->sum[i].count);
		trc_column_add(&c[TOTAL], s->sum[i].total_ns);
		trc_column_add(&c[MAX], s->sum[i].max_ns);
		trc_column_add(&c[ROW], s->sum[i].max_idx);
		trc_column_add(&c[OBJECT],
			       s->sum[i].is_joined
				       ? 0
				       : trc_rows_object(r, s->sum[i].object,
							 (uint32_t)(s->sum[i].key >> 8)));
		trc_column_add(&c[JOINED], s->sum[i].is_joined
						   ? trc_rows_thread(r, (uint32_t)s->sum[i].object)
						   : 0);
		trc_column_add(&c[SEVERAL], s->sum[i].several);
		trc_column_add(&c[NO_PROC], s->sum[i].no_proc_ns);
		trc_column_add(&c[DESCRIPTOR],
			       trc_rows_descriptor(r, s->sum[i].descriptor,
						   (unsigned int)(s->sum[i].key & 127)));
	}
	for (size_t i = 0; i < N_COLUMNS; i++)
		trc_page_column(r->page, &c[i]);
	trc_index_free(&s->map);
	free(s->sum);
}

/* What fibers waited for; nothing in a trace without fibers. */
static void fiber_waits_top(struct trc_rows *r)
{
	static const char *const names[N_COLUMNS] = {
		"fiberwait.reason",  "fiberwait.stack",	 "fiberwait.count",	"fiberwait.total",
		"fiberwait.max",     "fiberwait.wait",	 "fiberwait.object",	"fiberwait.several",
		"fiberwait.no_proc", "fiberwait.joined", "fiberwait.descriptor"};
	struct sums waits = {0};
	size_t n;
	const struct trc_fiber_wait *w = trc_model_fiber_waits(r->m, &n);

	if (!r->n_fibers)
		return;
	TRC_CUT_EACH (i, r->cut, TRC_SELECTED_FIBER_WAITS, n) {
		struct trc_selected_row inside = {
			.ns = (int64_t)trc_rows_length(r, w[i].start_ns, w[i].end_ns)};

		if (trc_cut_row(r->cut, TRC_SELECTED_FIBER_WAITS, i, &inside))
			top_sums_add(&waits, w[i].reason, w[i].stack, w[i].object, inside.ns,
				     r->fiber_wait_idx[i]);
	}
	sums_write(r, &waits, names);
}

/* NULL: not known. */
static const struct trc_preempted *preempted_of(struct trc_rows *r)
{
	struct trc_error error;

	if (trc_model_need(r->m, TRC_PART_PREEMPTED, &error)) {
		r->failed = true;
		return NULL;
	}
	return trc_model_preempted(r->m);
}

/* What of the wait lies in the page. */
static uint64_t no_proc_ns(const struct trc_rows *r, const struct trc_preempted *preempted,
			   const struct trc_park *p, int64_t end_ns)
{
	int64_t from_ns = p->start_ns > r->cut->from_ns ? p->start_ns : r->cut->from_ns, ns;

	if (!trc_preempted_known(preempted) || !trc_wait_may_be_preempted(p))
		return 0;
	ns = trc_preempted_ns(preempted, p->thread, from_ns,
			      end_ns < r->cut->to_ns ? end_ns : r->cut->to_ns);
	return ns > 0 ? (uint64_t)ns : 0;
}

void trc_rows_top(struct trc_rows *r)
{
	static const char *const wait_names[N_COLUMNS] = {
		"wait.reason",	"wait.stack",  "wait.count",	 "wait.total",
		"wait.max",	"wait.park",   "wait.object",	 "wait.several",
		"wait.no_proc", "wait.joined", "wait.descriptor"};
	static const char *const hold_names[N_COLUMNS] = {
		"hold.reason",	"hold.stack",  "hold.count",	 "hold.total",
		"hold.max",	"hold.unlock", "hold.object",	 "hold.several",
		"hold.no_proc", "hold.joined", "hold.descriptor"};
	struct sums waits = {0}, holds = {0};
	size_t n_parks, n_unlocks;
	const struct trc_park *p = trc_model_parks(r->m, &n_parks);
	const struct trc_unlock *u = trc_model_unlocks(r->m, &n_unlocks);
	int64_t end_ns = trc_model_end_ns(r->m);
	const struct trc_preempted *preempted = preempted_of(r);

	TRC_CUT_EACH (i, r->cut, TRC_SELECTED_PARKS, n_parks) {
		int64_t end = p[i].end_ns == TRC_NEVER ? end_ns : p[i].end_ns;
		struct trc_selected_row inside = {.ns = end - p[i].start_ns};
		bool is_joined = p[i].reason == TRC_REASON_JOIN && p[i].holder;
		struct sum *sum = NULL;

		/* The address of a thread that has ended becomes that of another one. */
		if (trc_cut_row(r->cut, TRC_SELECTED_PARKS, i, &inside))
			sum = top_sums_add(&waits,
					   r->idle_park[i] ? p[i].reason | IDLE : p[i].reason,
					   p[i].stack, is_joined ? p[i].holder : p[i].object,
					   inside.ns, r->park_idx[i]);
		if (sum && sum->count == 1) {
			sum->is_joined = is_joined;
			sum->descriptor = p[i].descriptor;
		}
		if (sum && sum->descriptor != p[i].descriptor)
			sum->descriptor = 0;
		if (sum)
			sum->no_proc_ns += no_proc_ns(r, preempted, &p[i], end);
	}
	/* Sections, not waits: of one wait several sections may have a part. */
	TRC_CUT_EACH (i, r->cut, TRC_SELECTED_UNLOCKS, n_unlocks) {
		struct trc_selected_row caused = {i + 1, u[i].caused_ns, u[i].caused_waits};

		if (trc_cut_row(r->cut, TRC_SELECTED_UNLOCKS, i, &caused) && caused.n)
			top_sums_add(&holds, u[i].reason, u[i].stack, u[i].object, caused.ns,
				     r->unlock_idx[i]);
	}
	sums_write_all(
		r, &waits,
		(const char *const[]){"waits.reason", "waits.count", "waits.total", "waits.max"});
	sums_write_all(
		r, &holds,
		(const char *const[]){"holds.reason", "holds.count", "holds.total", "holds.max"});
	sums_write(r, &waits, wait_names);
	sums_write(r, &holds, hold_names);
	fiber_waits_top(r);
}
