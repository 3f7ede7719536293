/* Samples as rows: whose they are, with which labels, and what is missing (analyzer/derive_samples.c). */
#include <check.h>
#include <stdio.h>
#include <string.h>
#include "tests/analyzer/model_fixture.h"

static const char TRACE[] =
	"stack s1 0x1010 0x3010\n"
	"stack s2 0x1020 0x3010\n"
	"labels acme tenant=\"acme\"\n"
	"labels zeta tenant=\"zeta\"\n"
	"thread 1 tid=11\n"
	"thread 2 tid=12\n"
	"sample_event 2 name=\"cycles:u\" how=kernel unit=\"count\" frequency=1000 missing=3\n"
	"sample_event 1 name=\"cpu-clock\" how=signal period=1000000 note=\"instead of timer\"\n"
	"@100 thread=1 labels labels=acme\n"
	"@200 thread=1 sample event=1 value=1000000 period=1000000 stack=s1 labels=acme\n"
	"@250 thread=2 proc=1 sample event=1 value=3000000 period=1000000 stack=s2\n"
	"@300 thread=1 source=kernel sample event=2 value=5000 period=5100 stack=s1\n"
	"@400 thread=1 labels labels=zeta before=acme\n"
	"@450 thread=1 source=kernel sample event=2 value=6000 period=5100 stack=s2\n"
	"@500 thread=2 proc=1 source=kernel sample event=9 value=7 period=7 stack=s2\n"
	"@600 thread=1 samples_lost event=1 lost_samples=4 cause=busy\n"
	"@700 thread=0 source=kernel samples_lost event=0 lost_samples=5 cause=no_room\n"
	"@800 thread=1 samples_lost event=1 lost_samples=2 cause=77\n";

START_TEST(rows)
{
	static const struct trc_sample WANTED[] = {
		{200, 1000000, 1000000, 1, 0, 1, 1, 1, 0, 0},
		{250, 3000000, 1000000, 2, 1, 2, 0, 1, 0, 0},
		{300, 5000, 5100, 1, 0, 1, 1, 2, 2, 0},
		{450, 6000, 5100, 1, 0, 2, 2, 2, 2, 0},
		{500, 7, 7, 2, 1, 2, 0, 9, 2, 0},
	};
	struct trc_model *m = model_of(TRACE, TRC_PART_SAMPLES);
	size_t n;
	const struct trc_sample *s = trc_model_samples(m, &n);

	ck_assert_uint_eq(n, sizeof(WANTED) / sizeof(*WANTED));
	for (size_t i = 0; i < n; i++) {
		const struct trc_sample *w = &WANTED[i];

		ck_assert_int_eq(s[i].ts_ns, w->ts_ns);
		ck_assert_uint_eq(s[i].value, w->value);
		ck_assert_uint_eq(s[i].period, w->period);
		ck_assert_uint_eq(s[i].thread, w->thread);
		ck_assert_uint_eq(s[i].proc, w->proc);
		ck_assert_uint_eq(s[i].stack, w->stack);
		ck_assert_msg(s[i].labels == w->labels, "at %d: labels %u", (int)w->ts_ns, s[i].labels);
		ck_assert_uint_eq(s[i].event, w->event);
		ck_assert_uint_eq(s[i].source, w->source);
	}
	model_close(m);
}
END_TEST

/* Its set found no room in the ring's table when the sample was taken. */
START_TEST(a_sample_without_labels_has_those_of_its_thread)
{
	struct trc_model *m = model_of("labels acme tenant=\"acme\"\n"
				       "thread 1 tid=11\n"
				       "@100 thread=1 sample event=1 value=1 period=1\n"
				       "@200 thread=1 labels labels=acme\n"
				       "@300 thread=1 sample event=1 value=1 period=1\n",
				       TRC_PART_SAMPLES);
	size_t n;
	const struct trc_sample *s = trc_model_samples(m, &n);

	ck_assert_uint_eq(n, 2);
	ck_assert_uint_eq(s[0].labels, 0);
	ck_assert_uint_eq(s[1].labels, 1);
	model_close(m);
}
END_TEST

/* An event without an entry in the table is there, too: what was sampled is not known. */
START_TEST(events)
{
	struct trc_model *m = model_of(TRACE, TRC_PART_SAMPLES);
	size_t n;
	const struct trc_sample_event *e = trc_model_sample_events(m, &n);

	ck_assert_uint_eq(n, 3);
	ck_assert_uint_eq(e[0].event, 1);
	ck_assert_str_eq(e[0].name, "cpu-clock");
	ck_assert_str_eq(e[0].unit, "nanoseconds");
	ck_assert_str_eq(e[0].note, "instead of timer");
	ck_assert_uint_eq(e[0].how, TRC_SAMPLE_SIGNAL);
	ck_assert_uint_eq(e[0].period, 1000000);
	ck_assert_uint_eq(e[0].n_samples, 2);
	ck_assert_uint_eq(e[0].value, 4000000);
	ck_assert_uint_eq(e[0].lost_samples, 6);
	ck_assert_uint_eq(e[1].event, 2);
	ck_assert_str_eq(e[1].name, "cycles:u");
	ck_assert_uint_eq(e[1].frequency_hz, 1000);
	ck_assert_uint_eq(e[1].missing_threads, 3);
	ck_assert_uint_eq(e[1].value, 11000);
	ck_assert_uint_eq(e[2].event, 9);
	ck_assert_str_eq(e[2].name, "");
	ck_assert_uint_eq(e[2].how, 0);
	ck_assert_uint_eq(e[2].n_samples, 1);
	model_close(m);
}
END_TEST

/* The kernel says nothing of callers that it could not find. */
static const struct {
	const char *sentence, *how, *note, *wanted;
} notes[] = {
	{"half of it has few frames", "kernel", "",
	 "50.0 % in stacks of at most 3 frames: the kernel needs frame pointers, without them callers "
	 "are missing; signals find them: --sample-by signal"},
	{"after what the recorder said", "kernel", "instead of cycles",
	 "instead of cycles; 50.0 % in stacks of at most 3 frames: the kernel needs frame pointers, "
	 "without them callers are missing; signals find them: --sample-by signal"},
	{"signals need no frame pointers", "signal", "instead of cycles", "instead of cycles"},
};

START_TEST(few_frames_are_noted)
{
	char text[1000];
	struct trc_model *m;
	size_t n;

	snprintf(text, sizeof(text),
		 "stack few 0x1010 0x3010\nstack more 0x1 0x2 0x3 0x4\nthread 1 tid=11\n"
		 "sample_event 1 name=\"cpu-clock\" how=%s period=1000000 note=\"%s\"\n"
		 "@100 thread=1 sample event=1 value=5 period=1 stack=more\n"
		 "@200 thread=1 sample event=1 value=5 period=1 stack=few\n"
		 "@300 thread=1 sample event=1 value=500 period=1\n",
		 notes[_i].how, notes[_i].note);
	m = model_of(text, TRC_PART_SAMPLES);
	ck_assert_str_eq(trc_model_sample_events(m, &n)->note, notes[_i].wanted);
	ck_assert_str_eq(trc_model_sample_events(m, &n)->recorder_note, notes[_i].note);
	model_close(m);
}
END_TEST

START_TEST(losses)
{
	struct trc_model *m = model_of(TRACE, TRC_PART_SAMPLES);
	size_t n;
	const struct trc_samples_lost *lost = trc_model_samples_lost(m, &n);

	ck_assert_uint_eq(n, 3);
	ck_assert_int_eq(lost[0].ts_ns, 600);
	ck_assert_uint_eq(lost[0].event, 1);
	ck_assert_uint_eq(lost[0].thread, 1);
	ck_assert_uint_eq(lost[0].lost_samples, 4);
	ck_assert_uint_eq(lost[0].cause, TRC_SAMPLE_LOSS_BUSY);
	ck_assert_uint_eq(lost[1].event, 0);
	ck_assert_uint_eq(lost[1].lost_samples, 5);
	ck_assert_uint_eq(lost[1].cause, TRC_SAMPLE_LOSS_NO_ROOM);
	ck_assert_uint_eq(lost[2].cause, 77);
	model_close(m);
}
END_TEST

/* A thread is sampled while it spins, is about to sleep, or has just woken up: it waits all the same. */
START_TEST(a_sample_ends_no_wait)
{
	struct trc_model *m = model_of("stack s1 0x1010 0x3010\n"
				       "@100 thread=1 park reason=mutex object=0x10 stack=s1\n"
				       "@150 thread=1 sample event=1 value=1 stack=s1\n"
				       "@160 thread=1 samples_lost event=1 lost_samples=1 cause=busy\n"
				       "@170 thread=1 source=kernel sample event=1 value=1 stack=s1\n"
				       "@900 thread=2 counter name=\"c\" value=1\n",
				       TRC_PART_WAITS | TRC_PART_SAMPLES);
	const struct trc_park *park = park_of(m, 1, 100);

	ck_assert_int_eq(park->end_ns, TRC_NEVER);
	ck_assert_uint_eq(park->flags, TRC_PARK_OPEN);
	model_close(m);
}
END_TEST

/* Of a thread that runs it is the newest that is known. */
START_TEST(a_sample_tells_where_a_thread_is)
{
	struct trc_model *m = model_of("stack s1 0x1010 0x3010\n"
				       "stack s2 0x1020 0x3010\n"
				       "@100 thread=1 unlock reason=mutex object=0x10 stack=s1\n"
				       "@150 thread=1 sample event=1 value=1 stack=s2\n"
				       "status thread=1\n",
				       TRC_PART_NOW);
	size_t n;
	const struct trc_thread_now *now = trc_model_threads_now(m, &n);

	ck_assert_uint_eq(n, 1);
	ck_assert_uint_eq(now->state, TRC_THREAD_NOT_WAITING);
	ck_assert_uint_eq(now->stack, 2);
	ck_assert_int_eq(now->stack_ns, 150);
	model_close(m);
}
END_TEST

START_TEST(none)
{
	struct trc_model *m = model_of("@1 thread=1 counter name=\"c\" value=1\n", TRC_PART_ALL);
	size_t n_samples, n_events, n_losses;

	ck_assert_ptr_null(trc_model_samples(m, &n_samples));
	ck_assert_ptr_null(trc_model_sample_events(m, &n_events));
	ck_assert_ptr_null(trc_model_samples_lost(m, &n_losses));
	ck_assert_uint_eq(n_samples + n_events + n_losses, 0);
	model_close(m);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("samples");
	TCase *tests = tcase_create("samples");
	SRunner *runner;
	int failed;

	tcase_add_test(tests, rows);
	tcase_add_test(tests, a_sample_without_labels_has_those_of_its_thread);
	tcase_add_test(tests, events);
	tcase_add_loop_test(tests, few_frames_are_noted, 0, sizeof(notes) / sizeof(*notes));
	tcase_add_test(tests, losses);
	tcase_add_test(tests, a_sample_ends_no_wait);
	tcase_add_test(tests, a_sample_tells_where_a_thread_is);
	tcase_add_test(tests, none);
	suite_add_tcase(suite, tests);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed != 0;
}
