/* Sampled allocations as rows: what lives, what was freed by whom (analyzer/derive/heap.c). */
#include <check.h>
#include <math.h>
#include <string.h>
#include "model_fixture.h"
#include "tests/suite.h"

#define HEAD                                                                                       \
	"stack s1 0x1010 0x3010\n"                                                                 \
	"labels acme tenant=\"acme\"\n"                                                            \
	"labels zeta tenant=\"zeta\"\n"                                                            \
	"thread 1 tid=11\n"                                                                        \
	"thread 2 tid=12\n"
#define ALLOC(ts, thread, sample, address)                                                         \
	"@" #ts " thread=" #thread " alloc sample=" #sample " address=" #address                   \
	" bytes=64 period=1000 stack=s1\n"
#define FREE(ts, thread, sample, address)                                                          \
	"@" #ts " thread=" #thread " free sample=" #sample " address=" #address                    \
	" bytes=64 period=1000\n"

START_TEST(rows)
{
	struct trc_model *m = model_of(
		HEAD "@100 thread=2 proc=3 alloc sample=77 address=0x5000 bytes=4096 period=8192"
		     " stack=s1 labels=zeta\n"
		     "@400 thread=1 proc=1 free sample=77 address=0x5000 bytes=4096 period=8192\n",
		TRC_PART_HEAP);
	size_t n;
	const struct trc_alloc *alloc = trc_model_allocs(m, &n);
	const struct trc_free *end;

	ck_assert_uint_eq(n, 1);
	ck_assert_int_eq(alloc->ts_ns, 100);
	ck_assert_int_eq(alloc->freed_ns, 400);
	ck_assert_uint_eq(alloc->sample, 77);
	ck_assert_uint_eq(alloc->address, 0x5000);
	ck_assert_uint_eq(alloc->bytes, 4096);
	ck_assert_uint_eq(alloc->period, 8192);
	ck_assert_double_eq_tol(alloc->objects, 1 / (1 - exp(-0.5)), 1e-12);
	ck_assert_uint_eq(alloc->thread, 2);
	ck_assert_uint_eq(alloc->proc, 3);
	ck_assert_uint_eq(alloc->stack, 1);
	ck_assert_uint_eq(alloc->labels, 2);
	ck_assert_uint_eq(alloc->free, 1);
	ck_assert(!alloc->lives);
	end = trc_model_frees(m, &n);
	ck_assert_uint_eq(n, 1);
	ck_assert_int_eq(end->ts_ns, 400);
	ck_assert_uint_eq(end->sample, 77);
	ck_assert_uint_eq(end->thread, 1);
	ck_assert_uint_eq(end->proc, 1);
	ck_assert_uint_eq(end->alloc, 1);
	ck_assert_double_eq(end->objects, alloc->objects);
	trc_model_heap(m, &n);
	ck_assert_uint_eq(n, 0);
	model_close(m);
}
END_TEST

/* What becomes of each allocation, by row: L = it lives, F = freed, X = gone with its program,
 * ? = its free is missing. */
static const struct {
	const char *what, *text, *becomes;
} FATES[] = {
	{"one lives, one is freed", HEAD ALLOC(1, 1, 1, 16) ALLOC(2, 1, 2, 32) FREE(3, 1, 2, 32),
	 "LF"},
	{"another thread frees, whose events come in another stream",
	 HEAD ALLOC(1, 1, 1, 16) "@2 proc=1 thread=2 free sample=1 address=16 bytes=64 period=1000\n",
	 "F"},
	{"an address is used again", HEAD ALLOC(1, 1, 1, 16) FREE(2, 1, 1, 16) ALLOC(3, 1, 2, 16),
	 "FL"},
	{"... and that it was given back is missing", HEAD ALLOC(1, 1, 1, 16) ALLOC(3, 1, 2, 16),
	 "?L"},
	{"... or recorded late: the free itself says when",
	 HEAD ALLOC(1, 1, 1, 16) ALLOC(3, 2, 2, 16) FREE(4, 1, 1, 16), "FL"},
	{"a free of what was there before is nobody's", HEAD FREE(1, 1, 7, 16) ALLOC(2, 1, 8, 16),
	 "L"},
	{"the same address is not the same object", HEAD ALLOC(1, 1, 8, 16) FREE(2, 1, 7, 16), "L"},
	{"another program is executed: what it allocates is not what was there",
	 HEAD ALLOC(1, 1, 1, 16) ALLOC(2, 1, 2, 32) ALLOC(3, 1, 3, 48)
		 FREE(4, 1, 2, 32) "@5 thread=0 process what=2 value=1\n" ALLOC(5, 2, 4, 64),
	 "XFXL"},
	{"a fork ends nothing",
	 HEAD ALLOC(1, 1, 1, 16) "@5 thread=1 process what=1 value=77\n", "L"},
	{"two of one number: the first is freed", HEAD ALLOC(1, 1, 1, 16) ALLOC(2, 1, 1, 32)
		 FREE(3, 1, 1, 16), "FL"},
};

START_TEST(fates)
{
	struct trc_model *m = model_of(FATES[_i].text, TRC_PART_HEAP);
	size_t n, n_live, n_lives = 0;
	const struct trc_alloc *alloc = trc_model_allocs(m, &n);
	const struct trc_heap_object *live = trc_model_heap(m, &n_live);

	ck_assert_msg(n == strlen(FATES[_i].becomes), "%s: %zu", FATES[_i].what, n);
	for (size_t i = 0; i < n; i++) {
		char is = alloc[i].lives		       ? 'L'
			  : alloc[i].free		       ? 'F'
			  : alloc[i].freed_ns != TRC_NEVER ? 'X'
							       : '?';

		ck_assert_msg(is == FATES[_i].becomes[i], "%s: %zu is %c", FATES[_i].what, i, is);
		ck_assert_int_eq(alloc[i].freed_ns == TRC_NEVER, is == 'L' || is == '?');
		if (is == 'X')
			ck_assert_int_eq(alloc[i].freed_ns, 5);
		if (is != 'L')
			continue;
		ck_assert_uint_lt(n_lives, n_live);
		ck_assert_uint_eq(live[n_lives].id, i + 1);
		ck_assert_mem_eq(&live[n_lives++].alloc, &alloc[i], sizeof(*alloc));
	}
	ck_assert_uint_eq(n_lives, n_live);
	model_close(m);
}
END_TEST

START_TEST(labels_are_the_threads_if_it_carries_none)
{
	struct trc_model *m = model_of(HEAD "@10 thread=1 labels labels=acme\n" ALLOC(20, 1, 1, 16)
					       ALLOC(30, 2, 2, 32),
				       TRC_PART_HEAP);
	size_t n;
	const struct trc_alloc *alloc = trc_model_allocs(m, &n);

	ck_assert_uint_eq(n, 2);
	ck_assert_uint_eq(alloc[0].labels, 1);
	ck_assert_uint_eq(alloc[1].labels, 0);
	model_close(m);
}
END_TEST

START_TEST(nothing_before_it_is_needed)
{
	struct trc_model *m = model_of(HEAD ALLOC(1, 1, 1, 16), TRC_PART_WAITS);
	size_t n;

	ck_assert_ptr_null(trc_model_allocs(m, &n));
	ck_assert_uint_eq(n, 0);
	model_close(m);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("heap");
	TCase *tests = tcase_create("heap");

	tcase_add_test(tests, rows);
	tcase_add_loop_test(tests, fates, 0, sizeof(FATES) / sizeof(*FATES));
	tcase_add_test(tests, labels_are_the_threads_if_it_carries_none);
	tcase_add_test(tests, nothing_before_it_is_needed);
	suite_add_tcase(suite, tests);
	return suite_run(suite);
}
