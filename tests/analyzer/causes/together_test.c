/*
 * together_test.c - the causes of many waits together are those of each wait, added up.
 *
 * Traces are made at random: threads wait for locks, for each other and for data, release locks that they may not have, and begin
 * late, so that chains come back to where they began.
 */
#include <check.h>
#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "analyzer/causes/together.h"
#include "analyzer/model/waits.h"
#include "tests/analyzer/model/model_fixture.h"
#include "tests/often.h"
#include "tests/suite.h"

enum { THREADS = 9, LOCKS = 3, EVENTS = 400, TRACES = 150, SUMS_MAX = 400000, DEPTHS = 8 };

/* ---- traces ---- */

struct written {
	char text[EVENTS * 100 + 4000];
	size_t n;
	uint32_t random;
	int64_t now;
	const char *waits_for[THREADS + 1]; /* what a resume says again */
	unsigned int object[THREADS + 1];
};

static uint32_t drawn(struct written *w, uint32_t below)
{
	w->random = w->random * 1664525 + 1013904223;
	return (w->random >> 8) % below;
}

__attribute__((format(printf, 2, 3))) static void say(struct written *w, const char *format, ...)
{
	va_list list;

	va_start(list, format);
	w->n += (size_t)vsnprintf(w->text + w->n, sizeof(w->text) - w->n, format, list);
	va_end(list);
	expect(w->n < sizeof(w->text));
}

static void park(struct written *w, unsigned int thread)
{
	static const char *const reason[] = {"mutex",	     "mutex", "mutex", "rwlock_read",
					     "rwlock_write", "cond",  "recv"};
	unsigned int i = drawn(w, 7);

	w->waits_for[thread] = reason[i];
	w->object[thread] = i < 3 ? 0x10 + 0x10 * drawn(w, LOCKS) : 0x100 * (i / 2);
	say(w, "@%d thread=%u park reason=%s object=%u", (int)w->now, thread, reason[i],
	    w->object[thread]);
	say(w, drawn(w, 2) ? " stack=a\n" : " stack=b\n");
}

static void release(struct written *w, unsigned int thread)
{
	unsigned int object = 0x10 + 0x10 * drawn(w, LOCKS);

	if (!drawn(w, 8))
		say(w, "@%d thread=%u unpark reason=cond object=%u count=1\n", (int)w->now, thread,
		    0x200);
	else if (!drawn(w, 5))
		say(w, "@%d thread=%u unlock reason=rwlock_write object=%u\n", (int)w->now, thread,
		    0x100 * (1 + drawn(w, 2)));
	else if (drawn(w, 2))
		say(w, "@%d thread=%u unlock reason=mutex object=%u\n", (int)w->now, thread,
		    object);
	else
		say(w, "@%d thread=%u unlock reason=mutex object=%u held=%u\n", (int)w->now, thread,
		    object, drawn(w, 60));
}

static void resume(struct written *w, unsigned int thread)
{
	say(w, "@%d thread=%u resume reason=%s object=%u\n", (int)w->now, thread,
	    w->waits_for[thread], w->object[thread]);
	w->waits_for[thread] = NULL;
}

static void write_trace(struct written *w, uint32_t seed)
{
	unsigned int born = 5;

	memset(w, 0, sizeof(*w));
	w->random = seed;
	for (unsigned int t = 1; t <= THREADS; t++)
		say(w, t <= born ? "thread %u tid=%u\n" : "thread %u tid=%u creator=%u start=%u\n",
		    t, 100 + t, t - 4, 1000 + 400 * t);
	say(w, "stack a 0x300 0x200 0x1f\nstack b 0x310 0x210 0x1f\n");
	w->now = 1000;
	for (int i = 0; i < EVENTS; i++) {
		unsigned int thread = 1 + drawn(w, THREADS);

		w->now += 1 + drawn(w, 20);
		/* Its section began before it did: until then its creator is waited for. */
		if (born < THREADS && w->now > 1000 + 400 * (int64_t)(born + 1))
			say(w, "@%d thread=%u unlock reason=mutex object=%u\n", (int)w->now++,
			    ++born, 0x10 + 0x10 * drawn(w, LOCKS));
		if (thread > born)
			thread -= 5;
		/* What was lost says nothing of who had a lock. */
		if (seed % 2 && !drawn(w, 12))
			say(w, "@%d proc=3 gap lost_events=3 since=%d cause=ring_full\n",
			    (int)w->now, (int)w->now - (int)drawn(w, 15));
		if (!w->waits_for[thread] && drawn(w, 2))
			park(w, thread);
		else if (!w->waits_for[thread] || drawn(w, 4) == 0)
			release(w, thread);
		else
			resume(w, thread);
	}
}

/* ---- sums ---- */

struct sum {
	uint64_t key;
	int64_t ns;
};

struct sums {
	struct sum row[SUMS_MAX];
	size_t n;
	size_t n_rows; /* that were handed over */
};

/* Who waits while nobody has the lock differs. */
static void sums_add(struct sums *s, const struct trc_cause *row, uint32_t times)
{
	bool nobody = row->depth == 1 && !row->unlock && row->kind == TRC_CAUSE_FREE;
	uint64_t key = row->kind;

	expect(s->n < SUMS_MAX);
	key = key * 64 + (row->depth < DEPTHS ? row->depth : DEPTHS);
	key = key * 512 + (nobody ? 0 : row->thread);
	key = key * 4 + (nobody ? 0 : row->stack);
	key = key * 64 + row->reason;
	key = key * 1024 + row->unlock;
	key = key * 4 + row->stack_of;
	key = key * 1024 + (row->object & 1023);
	s->row[s->n++] = (struct sum){key, (row->to_ns - row->from_ns) * times};
}

static int by_key(const void *a, const void *b)
{
	const struct sum *x = a, *y = b;

	return (x->key > y->key) - (x->key < y->key);
}

static void sums_close(struct sums *s)
{
	size_t n = 0;

	qsort(s->row, s->n, sizeof(*s->row), by_key);
	for (size_t i = 0; i < s->n; i++) {
		if (n && s->row[n - 1].key == s->row[i].key)
			s->row[n - 1].ns += s->row[i].ns;
		else
			s->row[n++] = s->row[i];
		if (!s->row[n - 1].ns)
			n--;
	}
	s->n = n;
}

static void same_sums(struct sums *a, struct sums *b, const char *what, int trace)
{
	sums_close(a);
	sums_close(b);
	ck_assert_msg(a->n == b->n, "trace %d, %s: %zu and %zu", trace, what, a->n, b->n);
	for (size_t i = 0; i < a->n; i++)
		expect_msg(a->row[i].key == b->row[i].key && a->row[i].ns == b->row[i].ns,
			   "trace %d, %s: depth %d, kind %d: %d and %d ns", trace, what,
			   (int)(a->row[i].key >> 39 & 63), (int)(a->row[i].key >> 45),
			   (int)a->row[i].ns, (int)b->row[i].ns);
}

static struct sums alone, alone_marked, together, together_marked;

static int add_rows(void *context, const struct trc_cause *row, const struct trc_cause_times *times,
		    size_t n)
{
	together.n_rows += n;
	expect(row[0].depth == 0);
	for (size_t i = 1; i < n; i++) {
		expect(row[i].depth >= 1);
		expect(times[i].n_marked <= times[i].n);
		if (times[i].n)
			sums_add(&together, &row[i], times[i].n);
		if (times[i].n_marked)
			sums_add(&together_marked, &row[i], times[i].n_marked);
		/* The head is that of a marked wait. */
		if (times[i].n_marked)
			expect(row[0].park % 3 == 0);
	}
	return 0;
}

static void add_alone(struct trc_causes *causes, uint32_t park, struct trc_cause *head)
{
	const struct trc_cause *row;
	size_t n;

	expect(trc_causes_of_wait(causes, park, &row, &n) == 0);
	*head = row[0];
	alone.n_rows += n;
	for (size_t i = 1; i < n; i++) {
		sums_add(&alone, &row[i], 1);
		if (park % 3 == 0)
			sums_add(&alone_marked, &row[i], 1);
	}
}

static void sum_both(struct trc_causes *causes, size_t n_parks, size_t rows_max, int err)
{
	uint32_t *park = calloc(n_parks + 1, sizeof(*park));
	struct trc_together *t;
	struct trc_cause head, own;

	alone.n = alone_marked.n = together.n = together_marked.n = 0;
	alone.n_rows = together.n_rows = 0;
	ck_assert_ptr_nonnull(park);
	for (size_t i = 0; i < n_parks; i++)
		park[i] = (uint32_t)i + 1;
	ck_assert_int_eq(trc_together_open(&t, causes, park, n_parks), 0);
	for (size_t i = 0; i < n_parks; i++) {
		add_alone(causes, park[i], &own);
		expect(trc_together_head(t, i, &head) == 0);
		expect(head.kind == own.kind && head.leaf == own.leaf &&
		       head.from_ns == own.from_ns && head.to_ns == own.to_ns &&
		       head.thread == own.thread && head.stack == own.stack);
		if (park[i] % 3 == 0)
			trc_together_mark(t, i);
	}
	ck_assert_int_eq(trc_together_rows(t, rows_max, add_rows, NULL), err);
	trc_together_close(t);
	free(park);
}

/* A part of a wait, and of some another that lies within the first. */
static size_t parts_of(const struct trc_model *m, const struct trc_park *park, uint32_t id,
		       struct trc_together_part part[2])
{
	const int64_t start_ns = trc_park_start_ns(m, park), end_ns = trc_park_end_ns(m, park),
		      ns = end_ns - start_ns, from_ns = start_ns + ns * (id % 4) / 8,
		      to_ns = end_ns - ns * (id % 5) / 10;
	size_t n = 0;

	if (from_ns < to_ns)
		part[n++] = (struct trc_together_part){id, from_ns, to_ns};
	if (id % 7 == 0 && to_ns - from_ns > 3)
		part[n++] = (struct trc_together_part){id, from_ns + 1, to_ns - 1};
	return n;
}

static int rows_alone(struct trc_causes *causes, const struct trc_model *m,
		      const struct trc_together_part *part, const struct trc_cause **row, size_t *n)
{
	size_t n_parks;
	const struct trc_park *park = trc_model_parks(m, &n_parks) + part->park - 1;

	if (part->from_ns == trc_park_start_ns(m, park) && part->to_ns == trc_park_end_ns(m, park))
		return trc_causes_of_wait(causes, part->park, row, n);
	return trc_causes_of_part(causes, part->park, part->from_ns, part->to_ns, false, row, n);
}

static void sum_parts(struct trc_causes *causes, const struct trc_model *m)
{
	struct trc_together *t;
	size_t n_parks, n = 0;
	const struct trc_park *park = trc_model_parks(m, &n_parks);
	struct trc_together_part *part = calloc(2 * n_parks + 2, sizeof(*part));

	alone.n = alone_marked.n = together.n = together_marked.n = 0;
	ck_assert_ptr_nonnull(part);
	for (size_t i = 0; i < n_parks; i++)
		n += parts_of(m, &park[i], (uint32_t)i + 1, part + n);
	ck_assert_int_eq(trc_together_open_parts(&t, causes, part, n), 0);
	for (size_t i = 0; i < n; i++) {
		const struct trc_cause *row;
		size_t n_rows;

		expect(!rows_alone(causes, m, &part[i], &row, &n_rows));
		for (size_t j = 1; j < n_rows; j++) {
			sums_add(&alone, &row[j], 1);
			if (part[i].park % 3 == 0)
				sums_add(&alone_marked, &row[j], 1);
		}
		if (part[i].park % 3 == 0)
			trc_together_mark(t, i);
	}
	ck_assert_int_eq(trc_together_rows(t, SIZE_MAX, add_rows, NULL), 0);
	trc_together_close(t);
	free(part);
}

START_TEST(test_random)
{
	static struct written w;
	struct trc_causes *causes;
	struct trc_model *m;
	size_t n_parks;

	write_trace(&w, (uint32_t)_i);
	m = model_of(w.text, TRC_CAUSES_PARTS);
	trc_model_parks(m, &n_parks);
	ck_assert_int_eq(trc_causes_open(&causes, m), 0);
	sum_both(causes, n_parks, SIZE_MAX, 0);
	same_sums(&alone, &together, "all", _i);
	same_sums(&alone_marked, &together_marked, "marked", _i);
	sum_both(causes, n_parks, 10, -E2BIG);
	sum_parts(causes, m);
	same_sums(&alone, &together, "parts", _i);
	same_sums(&alone_marked, &together_marked, "marked parts", _i);
	trc_causes_close(causes);
	model_close(m);
}
END_TEST

/* Each of n threads waits until all before it have had the lock: n * n / 2 pieces, of n sections. */
static size_t rows_of_queue(int n)
{
	static char text[400 * 200];
	struct trc_causes *causes;
	struct trc_model *m;
	size_t used = 0, rows, n_parks;

	for (int i = 1; i <= n; i++)
		used += (size_t)snprintf(text + used, sizeof(text) - used, "thread %d tid=%d\n", i,
					 100 + i);
	for (int i = 2; i <= n; i++)
		used += (size_t)snprintf(text + used, sizeof(text) - used,
					 "@%d thread=%d park reason=mutex object=0x10\n", 1000 + i,
					 i);
	for (int i = 1; i < n; i++)
		used += (size_t)snprintf(text + used, sizeof(text) - used,
					 "@%d thread=%d unlock reason=mutex object=0x10\n"
					 "@%d thread=%d resume reason=mutex object=0x10\n",
					 3000 + 10 * i, i, 3001 + 10 * i, i + 1);
	m = model_of(text, TRC_CAUSES_PARTS);
	trc_model_parks(m, &n_parks);
	ck_assert_int_eq(trc_causes_open(&causes, m), 0);
	sum_both(causes, n_parks, SIZE_MAX, 0);
	rows = together.n_rows;
	ck_assert_uint_gt(alone.n_rows, (size_t)(n * n) / 3);
	same_sums(&alone, &together, "a queue", n);
	trc_causes_close(causes);
	model_close(m);
	return rows;
}

START_TEST(test_linear)
{
	size_t few = rows_of_queue(80), many = rows_of_queue(320);

	ck_assert_uint_lt(few, 80 * 10);
	ck_assert_uint_lt(many, few * 5);
}
END_TEST

static int count_nothing(void *context, const struct trc_cause *row,
			 const struct trc_cause_times *times, size_t n)
{
	(void)context;
	(void)row;
	(void)times;
	(void)n;
	return 0;
}

/* So many waits one after the other.  Each has a piece in which nobody is known to have the lock: `gap` says that it is lost. */
static char *short_waits(int n, bool gap)
{
	const size_t size = (size_t)n * 400 + 200;
	char *text = malloc(size);
	size_t used;

	ck_assert_ptr_nonnull(text);
	used = (size_t)snprintf(text, size, "thread 1 tid=101\nthread 2 tid=102\n");
	for (int i = 0; i < n; i++) {
		int at = 1000 + 20 * i;

		used += (size_t)snprintf(text + used, size - used,
					 "@%d thread=2 park reason=mutex object=0x10\n"
					 "@%d thread=1 unlock reason=mutex object=0x10 held=2\n"
					 "@%d thread=1 unlock reason=mutex object=0x10 held=3\n",
					 at, at + 4, at + 12);
		if (gap)
			used += (size_t)snprintf(text + used, size - used,
						 "@%d proc=3 gap lost_events=3 since=%d "
						 "cause=ring_full\n",
						 at + 13, at);
		used += (size_t)snprintf(text + used, size - used,
					 "@%d thread=2 resume reason=mutex object=0x10\n", at + 14);
	}
	return text;
}

/* In ticks of CPU time. */
static clock_t time_of_waits(int n, bool gap)
{
	char *text = short_waits(n, gap);
	struct trc_causes *causes;
	struct trc_together *t;
	struct trc_model *m = model_of(text, TRC_CAUSES_PARTS);
	uint32_t *park = calloc((size_t)n, sizeof(*park));
	clock_t ticks;

	ck_assert_ptr_nonnull(park);
	for (int i = 0; i < n; i++)
		park[i] = (uint32_t)i + 1;
	ck_assert_int_eq(trc_causes_open(&causes, m), 0);
	ck_assert_int_eq(trc_together_open(&t, causes, park, (size_t)n), 0);
	ticks = clock();
	ck_assert_int_eq(trc_together_rows(t, SIZE_MAX, count_nothing, NULL), 0);
	ticks = clock() - ticks;
	trc_together_close(t);
	trc_causes_close(causes);
	model_close(m);
	free(park);
	free(text);
	return ticks;
}

/* Where events are lost, those that wait then are looked for, and no others: looking at all waits took 50 times as long. */
START_TEST(test_lost_linear)
{
	clock_t known = time_of_waits(20000, false), lost = time_of_waits(20000, true);

	ck_assert_int_lt(lost, 15 * known + CLOCKS_PER_SEC / 20);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("together");
	TCase *tcase = tcase_create("together");

	tcase_set_timeout(tcase, 60);
	tcase_add_loop_test(tcase, test_random, 0, TRACES);
	tcase_add_test(tcase, test_linear);
	tcase_add_test(tcase, test_lost_linear);
	suite_add_tcase(suite, tcase);
	return suite_run(suite);
}
