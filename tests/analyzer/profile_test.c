/* Which waits are in which profile, and with how much (analyzer/profile.h). */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include "analyzer/profile.h"
#include "tests/analyzer/model_fixture.h"

enum { STACKS_MAX = 8 };

static const char PROLOGUE[] =
	"module trc path=\"/usr/lib/libtrc-preload.so.0\" start=0x1000 limit=0x2000 bias=0x1000\n"
	"module libc path=\"/lib/libc.so.6\" start=0x2000 limit=0x3000 bias=0x2000\n"
	"module program path=\"/none/program\" start=0x3000 limit=0x4000 bias=0x3000\n"
	"stack s1 0x1010 0x3010 0x3020\n"
	"stack s2 0x1010 0x3030 0x3020\n"
	"stack s3 0x1010 0x3040 0x3020\n"
	"thread 1 tid=1\n"
	"thread 2 tid=2\n";

static const struct {
	const char *what;
	enum trc_profile_kind kind;
	const char *events;
	size_t n;
	struct trc_profile_sample sample[STACKS_MAX]; /* stack ids in order of the text */
} ROWS[] = {
	{"waits of one stack are summed",
	 TRC_PROFILE_BLOCK,
	 "@100 thread=1 park reason=mutex object=0x10 stack=s1\n"
	 "@150 thread=1 resume reason=mutex object=0x10\n"
	 "@200 thread=1 park reason=mutex object=0x20 stack=s1\n"
	 "@230 thread=1 resume reason=mutex object=0x20\n",
	 1,
	 {{1, 2, 80}}},
	{"largest first",
	 TRC_PROFILE_BLOCK,
	 "@100 thread=1 park reason=mutex object=0x10 stack=s1\n"
	 "@150 thread=1 resume reason=mutex object=0x10\n"
	 "@200 thread=1 park reason=sem object=0x20 stack=s2\n"
	 "@300 thread=1 resume reason=sem object=0x20\n",
	 2,
	 {{2, 1, 100}, {1, 1, 50}}},
	{"a wait in progress counts up to the end of the trace",
	 TRC_PROFILE_BLOCK,
	 "@100 thread=1 park reason=mutex object=0x10 stack=s1\n"
	 "@1100 thread=2 counter name=\"c\" value=1\n",
	 1,
	 {{1, 1, 1000}}},
	{"sleep, polls and I/O are not in it",
	 TRC_PROFILE_BLOCK,
	 "@100 thread=1 park reason=sleep stack=s1\n"
	 "@150 thread=1 resume reason=sleep\n"
	 "@200 thread=1 park reason=epoll object=4 stack=s1\n"
	 "@250 thread=1 resume reason=epoll object=4\n"
	 "@300 thread=1 wait reason=read object=4 since=260 stack=s1\n"
	 "@400 thread=1 wait reason=fsync object=4 since=310 stack=s2\n"
	 "@500 thread=1 park reason=barrier object=0x40 stack=s3\n"
	 "@510 thread=1 resume reason=barrier object=0x40\n",
	 1,
	 {{3, 1, 10}}},
	{"time within an announced wait is counted once",
	 TRC_PROFILE_BLOCK,
	 "@100 thread=1 park reason=user object=0x1 stack=s1\n"
	 "@200 thread=1 park reason=cond object=0x10 stack=s2\n"
	 "@600 thread=1 resume reason=cond object=0x10\n"
	 "@1000 thread=1 resume reason=user object=0x1\n",
	 2,
	 {{1, 1, 500}, {2, 1, 400}}},
	{"mutex: the unlocker's stack, and what its section cost both waiters",
	 TRC_PROFILE_MUTEX,
	 "@100 thread=1 park reason=mutex object=0x10 holder=3 stack=s1\n"
	 "@200 thread=2 park reason=mutex object=0x10 holder=3 stack=s1\n"
	 "@300 thread=3 unlock reason=mutex object=0x10 waiters=2 stack=s2\n"
	 "@310 thread=1 resume reason=mutex object=0x10\n"
	 "@400 thread=1 unlock reason=mutex object=0x10 waiters=1 stack=s3\n"
	 "@410 thread=2 resume reason=mutex object=0x10\n",
	 2,
	 {{2, 2, 300}, {3, 1, 100}}},
	{"mutex: nothing without contention",
	 TRC_PROFILE_MUTEX,
	 "@100 thread=1 park reason=cond object=0x10 stack=s1\n"
	 "@200 thread=2 unpark reason=cond object=0x10 count=1 stack=s2\n"
	 "@210 thread=1 resume reason=cond object=0x10\n",
	 0,
	 {{0}}},
};

static struct trc_model *model_with(const char *events, unsigned int parts)
{
	char *text;
	struct trc_model *m;

	ck_assert_int_gt(asprintf(&text, "%s%s", PROLOGUE, events), 0);
	m = model_of(text, parts);
	free(text);
	return m;
}

START_TEST(samples)
{
	struct trc_model *m = model_with(ROWS[_i].events, TRC_PART_WAITS);
	struct trc_error error;
	struct trc_profile *p;

	ck_assert_int_eq(trc_profile_derive(&p, m, ROWS[_i].kind, &error), 0);
	ck_assert_msg(p->n_samples == ROWS[_i].n, "%s: %zu samples", ROWS[_i].what, p->n_samples);
	for (size_t i = 0; i < p->n_samples; i++) {
		const struct trc_profile_sample *is = &p->sample[i], *wanted = &ROWS[_i].sample[i];

		ck_assert_msg(is->stack == wanted->stack && is->count == wanted->count &&
				      is->delay_ns == wanted->delay_ns,
			      "%s: sample %zu is stack %u, count %llu, delay %lld", ROWS[_i].what,
			      i, is->stack, (unsigned long long)is->count, (long long)is->delay_ns);
	}
	trc_profile_free(p);
	model_close(m);
}
END_TEST

static const struct {
	const char *what, *frames;
	size_t skip;
} SKIPS[] = {
	{"trc's own frame", "0x1010 0x3010 0x3050", 1},
	{"trc's, then libc's", "0x1010 0x1020 0x2010 0x3020", 3},
	{"libc's alone", "0x2010 0x3020", 1},
	{"the program's come first", "0x3010 0x1010 0x2010", 0},
	{"libc all the way: kept", "0x2010 0x2020", 0},
	{"trc, then libc all the way: libc is kept", "0x1010 0x2010 0x2020", 1},
	{"trc all the way: kept", "0x1010 0x1020", 0},
	{"what lies in no module is the program's", "0x1010 0x9000 0x3010", 1},
	{"libraries of the program with such names", "0x1010 0x5010 0x3010", 1},
};

START_TEST(skips)
{
	char *text;
	struct trc_model *m;

	ck_assert_int_gt(
		asprintf(&text,
			 "module own path=\"/opt/libtracer.so\" start=0x5000 limit=0x6000\n"
			 "stack s4 %s\n"
			 "@1 thread=1 park reason=mutex object=1 stack=s4\n",
			 SKIPS[_i].frames),
		0);
	m = model_with(text, TRC_PART_WAITS | TRC_PART_SYMBOLS);
	ck_assert_msg(trc_profile_skip(trc_model_stacks(m), m, 4) == SKIPS[_i].skip, "%s: %zu",
		      SKIPS[_i].what, trc_profile_skip(trc_model_stacks(m), m, 4));
	ck_assert_uint_eq(trc_profile_skip(trc_model_stacks(m), m, 0), 0);
	ck_assert_uint_eq(trc_profile_skip(trc_model_stacks(m), m, 77), 0);
	model_close(m);
	free(text);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("profile");
	TCase *tests = tcase_create("profile");
	SRunner *runner;
	int failed;

	tcase_add_loop_test(tests, samples, 0, sizeof(ROWS) / sizeof(*ROWS));
	tcase_add_loop_test(tests, skips, 0, sizeof(SKIPS) / sizeof(*SKIPS));
	suite_add_tcase(suite, tests);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed != 0;
}
