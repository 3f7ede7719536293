/* recorder_memory.c - recorders of memory: what is in use, and what was allocated. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include "recorder_fixture.h"
#include "tests/sanitized.h"

static void *block[20000];

__attribute__((noinline)) static void allocate_blocks(int n, size_t n_bytes)
{
	for (volatile int i = 0; i < n; i++)
		block[i] = malloc(n_bytes);
}
__attribute__((noinline)) static void free_blocks(int from, int to)
{
	for (int i = from; i < to; i++)
		free(block[i]);
}

/* What is said of the stacks with this function: objects and bytes in use, and allocated. */
static bool heap_at(const char *text, const char *function, long long value[4])
{
	const char *found = strstr(text, function), *at = found;

	while (at && at > text && !(at[-1] == '\n' && *at >= '0' && *at <= '9'))
		at--;
	return at && sscanf(at, "%lld: %lld [%lld: %lld] @", &value[0], &value[1], &value[2],
			    &value[3]) == 4;
}

/* What all stacks with this function have in use. */
static long long objects_in_use(const char *text, const char *function)
{
	const char *row = strchr(text, '\n');
	long long n, sum = 0;

	for (; row; row = strstr(row + 1, "\n\n")) {
		const char *found = strstr(row, function), *end = strstr(row + 2, "\n\n");

		if (found && (!end || found < end) && sscanf(row, "%lld:", &n) == 1)
			sum += n;
	}
	return sum;
}

/* False where malloc does not come to libtrc. */
static bool start_heap(struct trace_recorder *r, struct trace_writer_memory *memory)
{
	struct trace_writer w = trace_writer_to_memory(memory);
	int err;

	if (is_sanitized())
		return false;
	err = trace_recorder_start(r, &w);
	if (err == -ENOTSUP)
		return false;
	ck_good(err);
	return true;
}

START_TEST(what_is_in_use_and_what_leaks)
{
	struct trace_heap_options options = TRACE_HEAP_OPTIONS_INIT;
	struct trace_writer_memory memory = {0};
	struct trace_writer late = {count_write, &(struct counting){0}, NULL};
	struct trace_recorder *r, *other;
	long long value[4];
	char *text;

	options.format = TRACE_PROFILE_FORMAT_TEXT;
	options.sample_bytes = 1;
	ck_good(trace_recorder_create_heap(&r, &options));
	ck_good(trace_recorder_create_heap(&other, &options));
	ck_fails(trace_recorder_snapshot(
			 other, &(struct trace_writer){count_write, &(struct counting){0}, NULL}),
		 -EINVAL, "started first");
	if (start_heap(r, &memory)) {
		allocate_blocks(100, 1000);
		free_blocks(0, 40);
		text = text_of(other); /* what lives, whoever follows it */
		ck_assert_msg(heap_at(text, "allocate_blocks", value), "%.2000s", text);
		ck_assert_int_eq(value[0], 60);
		ck_assert_int_eq(value[1], 60000);
		ck_assert_int_eq(value[2], 60); /* as much as anybody can know */
		ck_assert_int_eq(value[3], 60000);
		free(text);
		text = text_of(r); /* who was there when they were allocated knows more */
		ck_assert_msg(heap_at(text, "allocate_blocks", value), "%.2000s", text);
		ck_assert_int_eq(value[0], 60);
		ck_assert_int_eq(value[1], 60000);
		ck_assert_int_eq(value[2], 100);
		ck_assert_int_eq(value[3], 100000);
		free(text);
		ck_good(trace_recorder_start(other, &late));
		text = text_of(other); /* nor does it forget what was there before it began */
		ck_assert_msg(heap_at(text, "allocate_blocks", value), "%.2000s", text);
		ck_assert_int_eq(value[0], 60);
		ck_assert_int_eq(value[2], 60);
		free(text);
		ck_good(trace_recorder_stop(r));
		text = memory_text(&memory);
		ck_assert_msg(!strncmp(text, "heap profile: ", 14), "%.2000s", text);
		ck_assert_msg(heap_at(text, "allocate_blocks", value), "%.2000s", text);
		ck_assert_int_eq(value[0], 60);
		ck_assert_int_eq(value[1], 60000);
		ck_assert_int_eq(value[2], 100);
		ck_assert_int_eq(value[3], 100000);
		free(text);
		free_blocks(40, 100);
	}
	trace_recorder_destroy(r);
	trace_recorder_destroy(other);
	ck_assert(!trace_enabled());
}
END_TEST

static struct trace_recorder *alloc_recorder(int64_t sample_bytes)
{
	struct trace_alloc_options options = TRACE_ALLOC_OPTIONS_INIT;
	struct trace_recorder *r;

	options.format = TRACE_PROFILE_FORMAT_TEXT;
	options.sample_bytes = sample_bytes;
	ck_good(trace_recorder_create_alloc(&r, &options));
	return r;
}

static bool stop_alloc(struct trace_recorder *r, struct trace_writer_memory *memory, int64_t sample_bytes,
		       double truth_bytes)
{
	long long value[4] = {0};
	char *text;

	ck_good(trace_recorder_stop(r));
	trace_recorder_destroy(r);
	text = memory_text(memory);
	ck_assert_msg(heap_at(text, "allocate_blocks", value), "%.2000s", text);
	free(text);
	return three_errors((double)value[3], truth_bytes, truth_bytes * (double)sample_bytes);
}

static int finish_with_blocks(void *context, int err)
{
	(void)context;
	free_blocks(0, 10);
	return err == -ECANCELED ? 0 : err;
}

__attribute__((noinline)) static void make_and_drop(void)
{
	struct trace_writer w = {count_write, &(struct counting){0}, finish_with_blocks}, file;
	struct trace_recorder *r = alloc_recorder(1);

	ck_good(trace_recorder_start(r, &w));
	ck_good(trace_recorder_stop(r));
	trace_recorder_destroy(r);
	ck_good(trace_writer_to_path(&file, "never-written"));
	file.finish(file.context, -ECANCELED);
}

/* Nor does the program leak what it gives back when it is called by trc. */
START_TEST(what_trc_keeps_is_not_the_programs)
{
	struct trace_heap_options options = TRACE_HEAP_OPTIONS_INIT;
	struct trace_writer_memory memory = {0};
	long long value[4];
	struct trace_recorder *r;
	char *text;

	options.format = TRACE_PROFILE_FORMAT_TEXT;
	options.sample_bytes = 1;
	ck_good(trace_recorder_create_heap(&r, &options));
	if (start_heap(r, &memory)) {
		allocate_blocks(10, 777);
		make_and_drop();
		ck_good(trace_recorder_stop(r));
		text = memory_text(&memory);
		ck_assert_msg(heap_at(text, "allocate_blocks", value), "%.2000s", text);
		ck_assert_int_eq(value[0], 0);
		ck_assert_int_eq(value[2], 10);
		ck_assert_msg(!objects_in_use(text, "make_and_drop"), "%.2000s", text);
		free(text);
	}
	trace_recorder_destroy(r);
}
END_TEST

/* One sample in so many bytes: the number of samples is as good as Poisson's. */
START_TEST(allocations_at_two_rates)
{
	enum { N = 20000, BYTES = 1000, FINE = 8192, COARSE = 65536 };
	bool agrees = false;

	for (int i = 0; i < 2 && !agrees; i++) {
		struct trace_writer_memory memory[2] = {{0}, {0}};
		struct trace_recorder *coarse = alloc_recorder(COARSE), *fine = alloc_recorder(FINE);

		if (!start_heap(coarse, &memory[0]) || !start_heap(fine, &memory[1])) {
			trace_recorder_destroy(coarse);
			trace_recorder_destroy(fine);
			return;
		}
		allocate_blocks(N, BYTES);
		free_blocks(0, N);
		agrees = stop_alloc(fine, &memory[1], FINE, (double)N * BYTES);
		agrees &= stop_alloc(coarse, &memory[0], COARSE, (double)N * BYTES);
	}
	ck_assert(agrees);
}
END_TEST

TCase *recorder_memory(void)
{
	TCase *tc = recorder_case("memory");

	tcase_add_test(tc, what_is_in_use_and_what_leaks);
	tcase_add_test(tc, what_trc_keeps_is_not_the_programs);
	tcase_add_test(tc, allocations_at_two_rates);
	return tc;
}
