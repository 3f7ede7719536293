/* Samples as rows: whose they are, with which labels, and what is missing (analyzer/derive/samples.c). */
#include <check.h>
#include <stdio.h>
#include <string.h>
#include "model_fixture.h"
#include "tests/suite.h"

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
		{200, 1000000, 1000000, 1, 0, 1, 1, 1, 0, 0, 1000000},
		{250, 3000000, 1000000, 2, 1, 2, 0, 1, 0, 0, 3000000},
		{300, 5000, 5100, 1, 0, 1, 1, 2, 2, 0, 5000},
		{450, 6000, 5100, 1, 0, 2, 2, 2, 2, 0, 6000},
		{500, 7, 7, 2, 1, 2, 0, 9, 2, 0, 7},
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
		ck_assert_uint_eq(s[i].scaled, w->scaled);
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

/* What samples stand for (analyzer/derive/scaled.c). */
enum { SCALED_MAX = 4 };

static const struct {
	const char *sentence, *events;
	uint64_t scaled[SCALED_MAX]; /* by time */
	uint64_t unseen;	     /* of the first event */
} SCALED[] = {
	{"a thread's samples stand for what it lost, each by its value",
	 "@10 thread=1 sample event=1 value=10000\n@20 thread=2 sample event=1 value=50000\n"
	 "@30 thread=1 sample event=1 value=30000\n"
	 "@40 thread=1 samples_lost event=1 lost_samples=2 cause=busy\n",
	 {10500, 50000, 31500},
	 0},
	{"... which is a sum without a rest",
	 "@10 thread=1 sample event=1 value=10001\n@20 thread=1 sample event=1 value=10001\n"
	 "@30 thread=1 sample event=1 value=10001\n"
	 "@40 thread=1 samples_lost event=1 lost_samples=2 cause=throttled\n",
	 {10667, 10668, 10668},
	 0},
	{"... but not if a tenth of the thread was lost",
	 "@10 thread=1 sample event=1 value=18000\n@20 thread=2 sample event=1 value=50000\n"
	 "@40 thread=1 samples_lost event=1 lost_samples=2 cause=busy\n",
	 {18000, 50000},
	 2000},
	{"... nor of the event",
	 "@10 thread=1 sample event=1 value=18000\n@20 thread=2 sample event=1 value=50000\n"
	 "@40 thread=1 samples_lost event=1 lost_samples=1 cause=busy\n"
	 "@50 thread=2 samples_lost event=1 lost_samples=100 cause=busy\n",
	 {18000, 50000},
	 101000},
	{"nobody stands for a thread without samples",
	 "@10 thread=1 sample event=1 value=50000\n"
	 "@40 thread=2 samples_lost event=1 lost_samples=2 cause=busy\n",
	 {50000},
	 2000},
	{"what may have met any thread is spread over all",
	 "@10 thread=1 sample event=1 value=10000\n@20 thread=2 sample event=1 value=30000\n"
	 "@40 thread=0 samples_lost event=1 lost_samples=4 cause=no_room\n",
	 {11000, 33000},
	 0},
	{"... beside what a thread lost itself",
	 "@10 thread=1 sample event=1 value=18000\n@20 thread=2 sample event=1 value=79000\n"
	 "@30 thread=1 samples_lost event=1 lost_samples=1 cause=busy\n"
	 "@40 thread=0 samples_lost event=1 lost_samples=2 cause=busy\n"
	 "@50 thread=2 samples_lost event=1 lost_samples=2 cause=busy\n",
	 {19380, 82620},
	 0},
	{"... if it is of this event, as there is no other",
	 "@10 thread=1 sample event=1 value=50000\n"
	 "@40 thread=0 samples_lost event=0 lost_samples=1 cause=no_room\n",
	 {51000},
	 0},
	{"... and may be of it if there are others",
	 "sample_event 2 name=\"cycles\" unit=\"count\" period=7\n"
	 "@10 thread=1 sample event=1 value=50000\n@20 thread=1 sample event=2 value=700\n"
	 "@40 thread=0 samples_lost event=0 lost_samples=1 cause=no_room\n",
	 {50000, 700},
	 1000},
	{"threads that ended before a sample came are none of those that have some",
	 "@10 thread=1 sample event=1 value=50000\n"
	 "@40 thread=0 samples_lost event=1 lost_samples=2 cause=short\n"
	 "@50 thread=0 samples_lost event=1 lost_samples=1 cause=no_thread\n",
	 {50000},
	 3000},
	{"sums that do not fit are left alone",
	 "@10 thread=1 sample event=1 value=~0\n@20 thread=1 sample event=1 value=50000\n"
	 "@40 thread=1 samples_lost event=1 lost_samples=~0 cause=busy\n",
	 {UINT64_MAX, 50000},
	 INT64_MAX},
};

START_TEST(samples_stand_for_those_that_were_lost)
{
	char text[1000];
	struct trc_model *m;
	const struct trc_sample *s;
	size_t n;

	snprintf(text, sizeof(text), "thread 1 tid=11\nthread 2 tid=12\n"
				     "sample_event 1 name=\"timer\" period=1000\n%s",
		 SCALED[_i].events);
	m = model_of(text, TRC_PART_SAMPLES);
	s = trc_model_samples(m, &n);
	for (size_t i = 0; i < n; i++)
		ck_assert_msg(s[i].scaled == SCALED[_i].scaled[i], "%s: sample %zu: %llu",
			      SCALED[_i].sentence, i, (unsigned long long)s[i].scaled);
	ck_assert_msg(trc_model_sample_events(m, &n)->unseen == SCALED[_i].unseen, "%s",
		      SCALED[_i].sentence);
	model_close(m);
}
END_TEST

/* Its period is what the kernel made of the frequency: the mean of the values tells. */
START_TEST(a_lost_sample_without_a_period_is_the_mean)
{
	struct trc_model *m = model_of(
		"thread 1 tid=11\nsample_event 1 name=\"cycles\" unit=\"count\" frequency=1000\n"
		"@10 thread=1 sample event=1 value=100\n@20 thread=1 sample event=1 value=300\n"
		"@30 thread=1 samples_lost event=1 lost_samples=2 cause=busy\n",
		TRC_PART_SAMPLES);
	size_t n;

	ck_assert_uint_eq(trc_model_sample_events(m, &n)->unseen, 400);
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

	tcase_add_test(tests, rows);
	tcase_add_test(tests, a_sample_without_labels_has_those_of_its_thread);
	tcase_add_test(tests, events);
	tcase_add_loop_test(tests, few_frames_are_noted, 0, sizeof(notes) / sizeof(*notes));
	tcase_add_test(tests, losses);
	tcase_add_loop_test(tests, samples_stand_for_those_that_were_lost, 0,
			    sizeof(SCALED) / sizeof(*SCALED));
	tcase_add_test(tests, a_lost_sample_without_a_period_is_the_mean);
	tcase_add_test(tests, a_sample_ends_no_wait);
	tcase_add_test(tests, a_sample_tells_where_a_thread_is);
	tcase_add_test(tests, none);
	suite_add_tcase(suite, tests);
	return suite_run(suite);
}
