/* profile_comments.c - what a profile says of itself: how it was sampled, and what is missing. */
#include <check.h>
#include <stdio.h>
#include <string.h>
#include "analyzer/profile/profile.h"
#include "profile_parts.h"
#include "tests/analyzer/model/model_fixture.h"

static void expect_comments(struct trc_model *m, const char *what, const char *const *wanted,
			    size_t n)
{
	struct trc_profile *p = NULL;
	struct trc_error error;

	ck_assert_int_eq(trc_profile_derive(&p, m, what, &error), 0);
	ck_assert_uint_eq(p->n_comments, n);
	for (size_t i = 0; i < n; i++)
		ck_assert_str_eq(p->comment[i], wanted[i]);
	trc_profile_free(p);
}

START_TEST(comments)
{
	static const char *const WANTED[] = {
		"timer was sampled 250 times per second, by timer: instead of cpu-clock",
		"2 threads were not sampled",
		"7 samples were lost: busy",
		"5 samples were lost: no_room",
		"100.0 % was not sampled: it is in (not sampled)",
	};
	struct trc_model *m = model_with(
		"sample_event 1 name=\"timer\" frequency=250 missing=2 note=\"instead of cpu-clock\"\n"
		"sample_event 2 name=\"cycles\" unit=\"count\" how=kernel period=1000\n"
		"@100 thread=1 samples_lost event=1 lost_samples=3 cause=busy\n"
		"@200 thread=1 samples_lost event=1 lost_samples=4 cause=busy\n"
		"@300 thread=1 samples_lost event=0 lost_samples=5 cause=no_room\n"
		"@400 thread=1 samples_lost event=2 lost_samples=9 cause=throttled\n",
		TRC_PART_WAITS);

	expect_comments(m, "cpu", WANTED, sizeof(WANTED) / sizeof(*WANTED));
	model_close(m);
}
END_TEST

/* Three clocks of one thread: a profile of time has the samples of the first. */
static const char THREE_CLOCKS[] =
	"sample_event 1 name=\"cpu-clock\" frequency=250 how=signal\n"
	"sample_event 2 name=\"task-clock\" frequency=100 how=signal\n"
	"sample_event 3 name=\"timer\" frequency=50\n"
	"@100 thread=1 sample stack=s1 event=1 value=10\n"
	"@100 thread=1 sample stack=s1 event=2 value=10\n"
	"@200 thread=1 sample stack=s1 event=1 value=10\n"
	"@200 thread=1 sample stack=s1 event=3 value=10\n"
	"@300 thread=1 samples_lost event=1 lost_samples=3 cause=busy\n"
	"@300 thread=1 samples_lost event=2 lost_samples=20 cause=busy\n"
	"@300 thread=1 samples_lost event=3 lost_samples=400 cause=busy\n";

#define FEW(twentieth)                                                                             \
	"values of samples are estimates: what is half of their sum is known to ±100.0 % of the "  \
	"sum, a twentieth to ±" twentieth " % (95 % intervals)"

START_TEST(comments_of_clocks_that_are_left_out)
{
	static const char *const WANTED[] = {
		"cpu-clock was sampled 250 times per second, by signal",
		"3 samples were lost: busy",
		"100.0 % was not sampled: it is in (not sampled)",
		FEW("100.0"),
	};
	static const char *const WANTED_OF_TWO[] = {
		"cpu-clock was sampled 250 times per second, by signal",
		"timer was sampled 50 times per second, by timer",
		"6003 samples were lost: busy",
		"100.0 % was not sampled: it is in (not sampled)",
		FEW("97.2"),
	};
	static const char *const WANTED_OF_ONE[] = {
		"timer was sampled 50 times per second, by timer",
		"6400 samples were lost: busy",
		"100.0 % was not sampled: it is in (not sampled)",
		FEW("100.0"),
	};
	char more[sizeof(THREE_CLOCKS) + 200];
	struct trc_model *m = model_with(THREE_CLOCKS, TRC_PART_WAITS);

	expect_comments(m, "cpu", WANTED, sizeof(WANTED) / sizeof(*WANTED));
	model_close(m);
	snprintf(more, sizeof(more), "%s%s", THREE_CLOCKS,
		 "@400 thread=2 sample stack=s2 event=3 value=10\n"
		 "@500 thread=2 samples_lost event=3 lost_samples=6000 cause=busy\n");
	m = model_with(more, TRC_PART_WAITS);
	expect_comments(m, "cpu", WANTED_OF_TWO, sizeof(WANTED_OF_TWO) / sizeof(*WANTED_OF_TWO));
	expect_comments(m, "timer", WANTED_OF_ONE, sizeof(WANTED_OF_ONE) / sizeof(*WANTED_OF_ONE));
	model_close(m);
}
END_TEST

/* Of 400 samples of one value: 1.96 * sqrt(400 / 399 * 400 * p * (1 - p) + 2) of them. */
START_TEST(comment_on_how_well_samples_tell)
{
	static const char *const WANTED[] = {
		"timer was sampled 100 times per second, by timer",
		("values of samples are estimates: what is half of their sum is known to ±5.0 % of the "
		 "sum, a twentieth to ±2.2 % (95 % intervals)"),
	};
	static char text[400 * 80];
	size_t n = (size_t)snprintf(text, sizeof(text), "sample_event 1 name=\"timer\" frequency=100\n");
	struct trc_model *m;

	for (int i = 1; i <= 400; i++)
		n += (size_t)snprintf(text + n, sizeof(text) - n,
				      "@%d thread=1 sample stack=s%d event=1 value=10\n", 1000 * i,
				      1 + i % 2);
	m = model_with(text, TRC_PART_WAITS);
	expect_comments(m, "cpu", WANTED, sizeof(WANTED) / sizeof(*WANTED));
	model_close(m);
}
END_TEST

/* With a sample for each occurrence sums are exact; with a lost one they are not. */
START_TEST(comment_on_what_is_counted)
{
	static const char *const WANTED[] = {
		"page-faults was sampled every 1, by signal",
	};
	static const char COUNTED[] =
		"sample_event 1 name=\"page-faults\" unit=\"count\" how=signal period=1\n"
		"@1000 thread=1 sample stack=s1 event=1 value=1 period=1\n"
		"@2000 thread=1 sample stack=s2 event=1 value=1 period=1\n";
	char text[sizeof(COUNTED) + 80];
	struct trc_model *m = model_with(COUNTED, TRC_PART_WAITS);
	struct trc_profile *p = NULL;
	struct trc_error error;

	expect_comments(m, "page-faults", WANTED, sizeof(WANTED) / sizeof(*WANTED));
	model_close(m);
	snprintf(text, sizeof(text), "%s@3000 thread=1 samples_lost event=1 lost_samples=1 cause=busy\n",
		 COUNTED);
	m = model_with(text, TRC_PART_WAITS);
	ck_assert(!trc_profile_derive(&p, m, "page-faults", &error));
	ck_assert_ptr_nonnull(strstr(p->comment[p->n_comments - 1], "are estimates"));
	trc_profile_free(p);
	model_close(m);
}
END_TEST

/* A wait of 8 us for a thread that a sample shows, and then one for a thread that none does. */
START_TEST(comment_on_blame_by_samples)
{
	static const char *const WANTED[] = {
		"time that threads waited for locks and for each other, by what in the end held them up",
		("80.0 % of it are divided among places by samples: estimates; the table blame has their "
		 "margin_ns"),
	};
	struct trc_model *m = model_with(
		"sample_event 1 name=\"timer\" frequency=100\n"
		"@1000 thread=2 park reason=mutex object=0x10 holder=1 stack=s2\n"
		"@5000 thread=1 sample stack=s1 event=1 value=10\n"
		"@9000 thread=1 unlock reason=mutex object=0x10 waiters=1 stack=s1\n"
		"@9000 thread=2 resume reason=mutex object=0x10\n"
		"@10000 thread=1 park reason=mutex object=0x20 holder=2 stack=s2\n"
		"@12000 thread=2 unlock reason=mutex object=0x20 waiters=1 stack=s1\n"
		"@12000 thread=1 resume reason=mutex object=0x20\n",
		TRC_PART_WAITS);

	expect_comments(m, "blame", WANTED, sizeof(WANTED) / sizeof(*WANTED));
	model_close(m);
}
END_TEST

START_TEST(comments_of_one)
{
	static const char *const WANTED[] = {
		"timer was sampled 1 time per second, by timer",
		"1 thread was not sampled",
		"1 sample was lost: busy",
		"100.0 % was not sampled: it is in (not sampled)",
	};
	struct trc_model *m =
		model_with("sample_event 1 name=\"timer\" frequency=1 missing=1\n"
			   "@100 thread=1 samples_lost event=1 lost_samples=1 cause=busy\n",
			   TRC_PART_WAITS);

	expect_comments(m, "cpu", WANTED, sizeof(WANTED) / sizeof(*WANTED));
	model_close(m);
}
END_TEST

/* Recovered after a kill: what was in progress may have gone on, unseen; what had ended has ended. */
START_TEST(comment_on_waits_that_a_kill_cut)
{
	static const char WAITS[] = "@100 thread=1 park reason=mutex object=0x10 stack=s1\n"
				    "@200 thread=1 resume reason=mutex object=0x10\n"
				    "@300 thread=1 park reason=mutex object=0x10 stack=s1\n"
				    "@400 thread=2 park reason=poll stack=s1\n"
				    "@500 thread=3 counter name=\"c\" value=1\n";
	static const char FIBERS[] = "@600 thread=3 fiber_switch left=5 reason=user stack=s1\n"
				     "@600 thread=2 fiber_switch left=6 reason=poll stack=s1\n";
	static const char *const WANTED[] = {"1 wait was", "2 waits were"};
	char killed[sizeof(WAITS) + sizeof(FIBERS) + 40], comment[100];

	for (size_t i = 0; i < 3; i++) {
		struct trc_model *m;
		struct trc_profile *p = NULL;
		struct trc_error error;

		snprintf(killed, sizeof(killed), "%s%s%s", i ? "info snapshot \"recovered\"\n" : "",
			 WAITS, i == 2 ? FIBERS : "");
		m = model_with(killed, TRC_PART_WAITS);
		ck_assert_int_eq(trc_profile_derive(&p, m, "block", &error), 0);
		ck_assert_uint_eq(p->n_comments, i > 0);
		if (i) {
			snprintf(comment, sizeof(comment),
				 "%s in progress when the process was "
				 "killed, and may have lasted longer",
				 WANTED[i - 1]);
			ck_assert_str_eq(p->comment[0], comment);
		}
		trc_profile_free(p);
		model_close(m);
	}
}
END_TEST

START_TEST(comments_of_the_heap)
{
	static const char *const WANTED[] = {
		"one byte in 1000 to 524288 was sampled: numbers are estimates",
		"2 sampled objects were freed that were allocated before, or whose allocation was lost",
		"1 sampled object was freed when is not known",
		"objects from before the snapshot's window are not in it",
		("in all 525296 bytes ±1779829 were allocated, and 524292 ±1779830 are in use (95 % "
		 "intervals)"),
	};
	struct trc_model *m = model_with(
		"coverage proc=0 held=50 from=100 to=900\n"
		"@100 thread=1 free sample=1 address=0x10 bytes=8 period=1000\n"
		"@110 thread=1 free sample=2 address=0x20 bytes=8 period=1000\n"
		"@200 thread=1 alloc sample=3 address=0x10 bytes=8 period=1000 stack=s1\n"
		"@300 thread=1 alloc sample=4 address=0x10 bytes=8 period=524288 stack=s1\n",
		TRC_PART_WAITS);

	expect_comments(m, "heap", WANTED, sizeof(WANTED) / sizeof(*WANTED));
	model_close(m);
}
END_TEST

void profile_comments(TCase *tests)
{
	tcase_add_test(tests, comments);
	tcase_add_test(tests, comments_of_clocks_that_are_left_out);
	tcase_add_test(tests, comments_of_one);
	tcase_add_test(tests, comment_on_how_well_samples_tell);
	tcase_add_test(tests, comment_on_what_is_counted);
	tcase_add_test(tests, comment_on_blame_by_samples);
	tcase_add_test(tests, comment_on_waits_that_a_kill_cut);
	tcase_add_test(tests, comments_of_the_heap);
}
