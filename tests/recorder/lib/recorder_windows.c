/* recorder_windows.c - recorders of waits and of CPU time: what a window of them holds. */
#include <signal.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include "recorder_fixture.h"
#include "tests/sanitized.h"
#include "tests/stolen.h"
#include "trc/labels.h"

/* ---- waits ----------------------------------------------------------------------------- */

START_TEST(waits_in_a_window)
{
	struct waits_recorders w;

	contend(); /* is before it */
	waits_begin(&w);
	contend();
	contend();
	waits_end(&w, 2);
	ck_assert(!trace_enabled());
	/* Another window of the same program has none of the first. */
	waits_begin(&w);
	contend();
	waits_end(&w, 1);
}
END_TEST

START_TEST(a_wait_in_progress_counts)
{
	struct trace_block_options options = TRACE_BLOCK_OPTIONS_INIT;
	struct trace_writer_memory memory = {0};
	struct trace_writer w = trace_writer_to_memory(&memory);
	struct trace_recorder *r;
	pthread_t thread;
	char *text;

	options.format = TRACE_PROFILE_FORMAT_TEXT;
	ck_good(trace_recorder_create_block(&r, &options));
	ck_good(trace_recorder_start(r, &w));
	thread = begin_contention();
	text = text_of(r);
	ck_assert_msg(value_at(text, "wait_for_mutex", 1) == 1, "%.2000s", text);
	ck_assert_msg(value_at(text, "wait_for_mutex", 0) >= HOLD_NS / 2, "%.2000s", text);
	free(text);
	ck_good(trace_recorder_stop(r));
	text = memory_text(&memory);
	ck_assert_msg(value_at(text, "wait_for_mutex", 1) == 1, "%.2000s", text);
	free(text);
	let_go_of_mutex();
	pthread_join(thread, NULL);
	trace_recorder_destroy(r);
}
END_TEST

/* The text of a window in which this is done; frees the recorder.  free() the text. */
static char *text_of_window(struct trace_recorder *r, void (*work)(void))
{
	struct trace_writer_memory memory = {0};
	struct trace_writer w = trace_writer_to_memory(&memory);

	ck_good(trace_recorder_start(r, &w));
	work();
	ck_good(trace_recorder_stop(r));
	trace_recorder_destroy(r);
	return memory_text(&memory);
}

START_TEST(a_rate_below_zero_is_off)
{
	struct trace_block_options options = TRACE_BLOCK_OPTIONS_INIT;
	struct trace_recorder *r;
	char *text;

	options.format = TRACE_PROFILE_FORMAT_TEXT;
	options.rate_ns = -1;
	ck_good(trace_recorder_create_block(&r, &options));
	text = text_of_window(r, contend);
	ck_assert_str_eq(text, "--- contention:\ncycles/second=1000000000\n");
	free(text);
}
END_TEST

static void contend_with_a_label(void)
{
	TRACE_LABELS("tenant", "seven"); /* the waiter inherits it */
	contend();
}

START_TEST(labels_are_in_profiles)
{
	struct trace_block_options options = TRACE_BLOCK_OPTIONS_INIT;
	struct trace_recorder *r;
	char *text;

	options.format = TRACE_PROFILE_FORMAT_TEXT;
	ck_good(trace_recorder_create_block(&r, &options));
	text = text_of_window(r, contend_with_a_label);
	ck_assert_msg(strstr(text, "# labels: {\"tenant\": \"seven\"}"), "%.2000s", text);
	free(text);
}
END_TEST

static void contend_thrice(void)
{
	for (int i = 0; i < 3; i++)
		contend();
}

/* What a thread allocates before it is known would make it one without a creator. */
START_TEST(created_threads)
{
	static const int sample_bytes[] = {0, 1, 10, 100}; /* beside it; 0 = no allocations */
	struct trace_threadcreate_options options = TRACE_THREADCREATE_OPTIONS_INIT;
	struct trace_alloc_options alloc_config = TRACE_ALLOC_OPTIONS_INIT;
	struct trace_recorder *r, *allocs = NULL;
	struct trace_writer_memory memory = {0};
	struct trace_writer w = trace_writer_to_memory(&memory);
	char *text;

	if (sample_bytes[_i] && is_sanitized())
		return;
	alloc_config.sample_bytes = sample_bytes[_i];
	if (sample_bytes[_i]) {
		ck_good(trace_recorder_create_alloc(&allocs, &alloc_config));
		ck_good(trace_recorder_start(allocs, &w));
	}
	options.format = TRACE_PROFILE_FORMAT_TEXT;
	ck_good(trace_recorder_create_threadcreate(&r, &options));
	text = text_of_window(r, contend_thrice);
	ck_assert_msg(!strncmp(text, "threadcreate profile: total 3\n", 30), "%.2000s", text);
	ck_assert_msg(strstr(text, "begin_contention"), "%.2000s", text);
	free(text);
	if (allocs)
		ck_good(trace_recorder_stop(allocs));
	trace_recorder_destroy(allocs);
	free(memory.bytes);
}
END_TEST

/* ---- CPU time -------------------------------------------------------------------------- */

__attribute__((noinline)) static void burn(long ns)
{
	struct timespec t, end;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &end);
	end.tv_nsec += ns;
	end.tv_sec += end.tv_nsec / 1000000000;
	end.tv_nsec %= 1000000000;
	do
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	while (t.tv_sec < end.tv_sec || (t.tv_sec == end.tv_sec && t.tv_nsec < end.tv_nsec));
	__asm__ volatile("");
}

/* ---- what is not set ------------------------------------------------------------------- */

/* How a program that fills in what it wants begins a options of any kind: a field of 0 is the
 * default, for nobody asks for a profile of nothing. */
struct unset {
	size_t struct_bytes;
	enum trace_profile_format format;
	uint64_t nothing[7];
};

static struct trace_recorder *unset_recorder(int kind)
{
	const struct unset unset = {.struct_bytes = sizeof(unset), .format = TRACE_PROFILE_FORMAT_TEXT};
	const void *options = &unset;
	struct trace_recorder *r;

	switch (kind) {
	case 0:
		ck_good(trace_recorder_create_block(&r, options));
		break;
	case 1:
		ck_good(trace_recorder_create_mutex(&r, options));
		break;
	case 2:
		ck_good(trace_recorder_create_cpu(&r, options));
		break;
	case 3:
		ck_good(trace_recorder_create_threadcreate(&r, options));
		break;
	case 4:
		ck_good(trace_recorder_create_alloc(&r, options));
		break;
	default:
		ck_good(trace_recorder_create_heap(&r, options));
		break;
	}
	return r;
}

static void contend_burn_allocate(void)
{
	char *volatile block = malloc(64 << 20); /* hardly ever missed */

	contend();
	burn(100000000);
	free(block);
}

START_TEST(what_is_not_set_is_the_default)
{
	/* Who waited, who let go of it, who computed, ...  contend() itself waits only if the
	 * thread that it joins has not ended yet. */
	static const char *const has[] = {"wait_for_mutex", "contend",
					  "burn",	    "contend",
					  "contend_burn_allocate", "contend_burn_allocate"};
	struct trace_recorder *r;
	char *text;

	if (_i >= 4 && is_sanitized())
		return;
	r = unset_recorder(_i);
	text = text_of_window(r, contend_burn_allocate);
	ck_assert_msg(strstr(text, has[_i]), "%.2000s", text);
	free(text);
}
END_TEST

static struct trace_recorder *timer_recorder(uint64_t period)
{
	struct trace_cpu_options options = TRACE_CPU_OPTIONS_INIT;
	struct trace_recorder *r;

	options.format = TRACE_PROFILE_FORMAT_TEXT;
	options.event = "timer";
	options.period = period;
	ck_good(trace_recorder_create_cpu(&r, &options));
	return r;
}

static uint64_t own_cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* Returns what this thread has used in the first one's window: writing the second one's profile
 * takes its time, too. */
static uint64_t at_two_rates(struct trace_recorder *const r[2], char *text[2])
{
	struct trace_writer_memory memory[2] = {{0}, {0}};
	uint64_t began = own_cpu_ns(), used;

	for (int i = 0; i < 2; i++) {
		struct trace_writer w = trace_writer_to_memory(&memory[i]);

		ck_good(trace_recorder_start(r[i], &w));
		burn(400000000);
	}
	ck_good(trace_recorder_stop(r[1]));
	burn(400000000);
	used = own_cpu_ns() - began;
	ck_good(trace_recorder_stop(r[0]));
	text[0] = memory_text(&memory[0]);
	text[1] = memory_text(&memory[1]);
	return used;
}

/* Two at different rates, one begun later: the same time of the same thread, each in its window. */
START_TEST(cpu_time_at_two_rates)
{
	struct trace_recorder *r[2] = {timer_recorder(20000000), timer_recorder(4000000)};
	struct runs runs = {0};

	while (another_run(&runs)) {
		char *text[2];
		uint64_t used = at_two_rates(r, text), off = 600000000 + used / 4;

		ck_assert_msg(!strncmp(text[0], "cpu: samples/count cpu/nanoseconds\n", 35),
			      "%.2000s", text[0]);
		ck_assert_msg(strstr(text[0], "burn"), "%.2000s", text[0]);
		/* 60 samples of 20 ms or more, 100 of 4 ms: five standard deviations. */
		expect_within(&runs, (uint64_t)sum_of(text[0], 1), used - off, used + off);
		expect_within(&runs, (uint64_t)sum_of(text[1], 1), 150000000, 650000000);
		free(text[0]);
		free(text[1]);
	}
	trace_recorder_destroy(r[0]);
	trace_recorder_destroy(r[1]);
}
END_TEST

/* The signals of its timer find it blocking them, until its end. */
static void *burn_blocking(void *unused)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGPROF);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	burn(20000000);
	return unused;
}

static void burn_in_blocking_threads(void)
{
	pthread_t thread;

	for (int i = 0; i < 10; i++) {
		ck_assert_int_eq(pthread_create(&thread, NULL, burn_blocking, NULL), 0);
		ck_assert_int_eq(pthread_join(thread, NULL), 0);
	}
}

/* Shares are of all, not of what was sampled. */
START_TEST(cpu_time_that_was_not_sampled)
{
	struct trace_recorder *r = timer_recorder(100000);
	char *text = text_of_window(r, burn_in_blocking_threads);
	const char *unseen = strstr(text, "@\n#\t(not sampled)\n");
	const char *said = strstr(text, " % was not sampled: it is in (not sampled)\n");
	double percent, share;
	long long value;

	ck_assert_msg(unseen && said, "%.4000s", text);
	while (unseen > text && unseen[-1] != '\n')
		unseen--;
	while (said[-1] != '\n')
		said--;
	ck_assert_int_eq(sscanf(unseen, "0 %lld @", &value), 1);
	ck_assert_int_eq(sscanf(said, "# cpu: %lf %%", &percent), 1);
	share = 100 * (double)value / (double)sum_of(text, 1);
	ck_assert_msg(share > 10 && percent - share < 0.1 && share - percent < 0.1,
		      "%f: %f: %s", percent, share, said);
	free(text);
	trace_recorder_destroy(r);
}
END_TEST

/* Samples come under another number as soon as somebody else wants more of them. */
START_TEST(cpu_time_while_a_profile_comes_and_goes)
{
	struct trace_sampling_event event = TRACE_SAMPLING_EVENT_INIT;
	struct trace_recorder *r = timer_recorder(20000000);
	struct runs runs = {0};

	event.name = "timer";
	event.period = 4000000;
	while (another_run(&runs)) {
		struct trace_writer_memory memory = {0};
		struct trace_writer w = trace_writer_to_memory(&memory);
		char *text;

		ck_good(trace_recorder_start(r, &w));
		ck_good(trace_start(in_dir("a.trc"), NULL));
		burn(100000000);
		ck_good(trace_sampling_start(&event, 1));
		burn(800000000);
		ck_good(trace_sampling_stop());
		burn(100000000);
		ck_good(trace_stop());
		ck_good(trace_recorder_stop(r));
		text = memory_text(&memory);
		/* 50 samples of 20 ms, 40 of them chosen from 200: more than four standard
		 * deviations. */
		expect_within(&runs, (uint64_t)sum_of(text, 1), 500000000, 1600000000);
		free(text);
	}
	trace_recorder_destroy(r);
}
END_TEST

/* A session can tell of sixteen periods; recorders may ask for any number. */
START_TEST(cpu_time_at_many_rates_in_turn)
{
	struct trace_recorder *first = timer_recorder(5000000), *r;
	struct counting c = {0};
	struct trace_writer w = counting_writer(&c), into;
	struct runs runs = {0};

	ck_good(trace_recorder_start(first, &w));
	for (uint64_t i = 0; i < 40; i++) {
		r = timer_recorder(4900000 - 100000 * i);
		ck_good(trace_recorder_start(r, &w));
		ck_good(trace_recorder_stop(r));
		trace_recorder_destroy(r);
	}
	r = timer_recorder(4123457);
	while (another_run(&runs)) {
		struct trace_writer_memory memory = {0};
		char *text;

		into = trace_writer_to_memory(&memory);
		ck_good(trace_recorder_start(r, &into));
		burn(400000000);
		ck_good(trace_recorder_stop(r));
		text = memory_text(&memory);
		expect_within(&runs, (uint64_t)sum_of(text, 1), 200000000, 600000000);
		free(text);
	}
	ck_good(trace_recorder_stop(first));
	trace_recorder_destroy(first);
	trace_recorder_destroy(r);
}
END_TEST

/* ---- at two rates, whoever else records -------------------------------------------------- */

enum { SHORT_WAITS = 400 };

/* Waits of some 200 us. */
static void *short_waiter(void *unused)
{
	for (int i = 0; i < SHORT_WAITS; i++) {
		wait_for_mutex();
		sleep_ns(20000);
	}
	return NULL;
}
static void short_contention(void)
{
	pthread_t thread;

	hold_mutex();
	ck_assert_int_eq(pthread_create(&thread, NULL, short_waiter, NULL), 0);
	for (int i = 0; i < SHORT_WAITS; i++) {
		sleep_ns(200000);
		let_go_of_mutex();
		sleep_ns(10000);
		hold_mutex();
	}
	let_go_of_mutex();
	pthread_join(thread, NULL);
}

/* Of one window: what was thinned, and (rate 1) what there was. */
struct pair {
	struct trace_recorder *multi;
	struct trace_writer_memory memory[2];
	int64_t rate_ns;
};

static void pair_begin(struct pair *p, int64_t rate_ns)
{
	struct trace_block_options options = TRACE_BLOCK_OPTIONS_INIT;
	struct trace_multi_options multi = TRACE_MULTI_OPTIONS_INIT;
	struct trace_writer w[2] = {trace_writer_to_memory(&p->memory[0]),
				    trace_writer_to_memory(&p->memory[1])};
	struct trace_recorder *member[2];

	memset(p, 0, sizeof(*p));
	p->rate_ns = rate_ns;
	options.format = TRACE_PROFILE_FORMAT_TEXT;
	ck_good(trace_recorder_create_block(&member[1], &options));
	options.rate_ns = rate_ns;
	ck_good(trace_recorder_create_block(&member[0], &options));
	multi.one_each = true;
	ck_good(trace_recorder_create_multi(&p->multi, member, 2, &multi));
	ck_good(trace_recorder_start(p->multi, w));
}

/* A wait of d < rate is kept with probability d/rate: the variance of its delay is d * (rate - d).
 * Whether it came out within three standard errors. */
static bool pair_agrees(struct pair *p)
{
	double thinned, truth;
	char *text[2];

	ck_good(trace_recorder_stop(p->multi));
	trace_recorder_destroy(p->multi);
	for (int i = 0; i < 2; i++)
		text[i] = memory_text(&p->memory[i]);
	thinned = (double)sum_of(text[0], 0);
	truth = (double)sum_of(text[1], 0);
	ck_assert_msg(sum_of(text[1], 1) >= SHORT_WAITS / 4, "%.2000s", text[1]);
	for (int i = 0; i < 2; i++)
		free(text[i]);
	return three_errors(thinned, truth, truth * (double)p->rate_ns);
}

/* Three standard errors are exceeded once in 370 times; twice, by something else. */
START_TEST(block_at_two_rates)
{
	bool agrees = false;

	for (int i = 0; i < 2 && !agrees; i++) {
		struct pair a, b;

		pair_begin(&a, 1000000);
		short_contention();
		pair_begin(&b, 300000);
		short_contention();
		agrees = pair_agrees(&a);
		short_contention();
		agrees &= pair_agrees(&b);
	}
	ck_assert(agrees);
}
END_TEST

TCase *recorder_windows(void)
{
	TCase *tc = recorder_case("windows");

	tcase_add_test(tc, waits_in_a_window);
	tcase_add_test(tc, a_wait_in_progress_counts);
	tcase_add_test(tc, a_rate_below_zero_is_off);
	tcase_add_loop_test(tc, what_is_not_set_is_the_default, 0, 6);
	tcase_add_test(tc, labels_are_in_profiles);
	tcase_add_loop_test(tc, created_threads, 0, 4);
	tcase_add_test(tc, cpu_time_at_two_rates);
	tcase_add_test(tc, cpu_time_that_was_not_sampled);
	tcase_add_test(tc, cpu_time_while_a_profile_comes_and_goes);
	tcase_add_test(tc, cpu_time_at_many_rates_in_turn);
	tcase_add_test(tc, block_at_two_rates);
	return tc;
}
