/* recorder_fixture.c - what the tests of <trc/recorder.h> share. */
#include "recorder_fixture.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

char test_dir[] = "/tmp/trc-recorder-XXXXXX";

static void setup(void)
{
	strcpy(test_dir, "/tmp/trc-recorder-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(test_dir));
}

static void teardown(void)
{
	char command[100];

	snprintf(command, sizeof(command), "rm -rf %s", test_dir);
	ck_assert_int_eq(system(command), 0);
}

TCase *recorder_case(const char *name)
{
	TCase *tc = tcase_create(name);

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_set_timeout(tc, 240);
	return tc;
}

const char *in_dir(const char *name)
{
	static char path[100];

	snprintf(path, sizeof(path), "%s/%s", test_dir, name);
	return path;
}

int count_write(void *context, const void *bytes, size_t n_bytes)
{
	struct counting *c = context;

	c->n_writes++;
	c->n_bytes += n_bytes;
	return c->fail_write;
}

int count_finish(void *context, int err)
{
	struct counting *c = context;

	c->n_finishes++;
	c->finish_err = err;
	return c->fail_finish;
}

struct trace_writer counting_writer(struct counting *c)
{
	return (struct trace_writer){count_write, c, count_finish};
}

/* ---- texts of profiles ----------------------------------------------------------------- */

char *memory_text(struct trace_writer_memory *memory)
{
	struct trace_writer w = trace_writer_to_memory(memory);

	ck_assert_int_eq(w.write(w.context, "", 1), 0);
	return memory->bytes;
}

char *text_of(struct trace_recorder *r)
{
	struct trace_writer_memory memory = {.bytes = NULL};
	struct trace_writer w = trace_writer_to_memory(&memory);

	ck_good(trace_recorder_snapshot(r, &w));
	return memory_text(&memory);
}

/* What is told of a stack ends with an empty line. */
long long value_at(const char *text, const char *function, int which)
{
	long long sum = -1, value[2];

	for (const char *end; (end = strstr(text, "\n\n")); text = end + 2) {
		const char *found = strstr(text, function), *at = found;

		if (!found || found > end)
			continue;
		while (at > text && !(at[-1] == '\n' && *at >= '0' && *at <= '9'))
			at--;
		ck_assert_int_eq(sscanf(at, "%lld %lld", &value[0], &value[1]), 2);
		sum = (sum < 0 ? 0 : sum) + value[which];
	}
	return sum;
}

long long sum_of(const char *text, int which)
{
	long long sum = 0, value[2];

	for (const char *line = text; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		/* sscanf() would pass over the end of an empty line, and so count the next one twice. */
		if (*line != '\n' && sscanf(line, "%lld %lld @", &value[0], &value[1]) == 2)
			sum += value[which];
	}
	return sum;
}

bool three_errors(double value, double truth, double variance)
{
	return fabs(value - truth) < 3 * sqrt(variance);
}

/* ---- a mutex --------------------------------------------------------------------------- */

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

__attribute__((noinline)) void wait_for_mutex(void)
{
	pthread_mutex_lock(&mutex);
	pthread_mutex_unlock(&mutex);
	__asm__ volatile("");
}
static void *waiter(void *unused)
{
	wait_for_mutex();
	return NULL;
}
void hold_mutex(void)
{
	pthread_mutex_lock(&mutex);
}
__attribute__((noinline)) void let_go_of_mutex(void)
{
	pthread_mutex_unlock(&mutex);
	__asm__ volatile("");
}

void sleep_ns(long ns)
{
	const struct timespec t = {ns / 1000000000, ns % 1000000000};

	nanosleep(&t, NULL);
}

/* glibc says so in the lock word before the thread sleeps.  A loaded machine starts a thread late,
 * and may keep it from the lock when it has begun. */
void until_mutex_is_waited_for(void)
{
	while (__atomic_load_n(&mutex.__data.__lock, __ATOMIC_RELAXED) < 2)
		sleep_ns(1000000);
}

pthread_t begin_contention(void)
{
	pthread_t thread;

	hold_mutex();
	ck_assert_int_eq(pthread_create(&thread, NULL, waiter, NULL), 0);
	until_mutex_is_waited_for();
	sleep_ns(HOLD_NS);
	return thread;
}
void contend(void)
{
	pthread_t thread = begin_contention();

	let_go_of_mutex();
	pthread_join(thread, NULL);
}

void waits_begin(struct waits_recorders *w)
{
	struct trace_block_options block = TRACE_BLOCK_OPTIONS_INIT;
	struct trace_mutex_options of_mutex = TRACE_MUTEX_OPTIONS_INIT;
	struct trace_writer writer;

	memset(w, 0, sizeof(*w));
	block.format = of_mutex.format = TRACE_PROFILE_FORMAT_TEXT;
	ck_good(trace_recorder_create_block(&w->block, &block));
	ck_good(trace_recorder_create_mutex(&w->mutex, &of_mutex));
	writer = trace_writer_to_memory(&w->of_block);
	ck_good(trace_recorder_start(w->block, &writer));
	writer = trace_writer_to_memory(&w->of_mutex);
	ck_good(trace_recorder_start(w->mutex, &writer));
}

void waits_end(struct waits_recorders *w, int n)
{
	char *of_block, *of_mutex;

	ck_good(trace_recorder_stop(w->block));
	ck_good(trace_recorder_stop(w->mutex));
	of_block = memory_text(&w->of_block);
	of_mutex = memory_text(&w->of_mutex);
	ck_assert_msg(!strncmp(of_block, "--- contention:\n", 16), "%.2000s", of_block);
	ck_assert_msg(!strncmp(of_mutex, "--- mutex:\n", 11), "%.2000s", of_mutex);
	ck_assert_msg(value_at(of_block, "wait_for_mutex", 1) == n, "%.2000s", of_block);
	ck_assert_msg(value_at(of_block, "wait_for_mutex", 0) >= n * (HOLD_NS / 2), "%.2000s",
		      of_block);
	ck_assert_msg(value_at(of_mutex, "let_go_of_mutex", 1) == n, "%.2000s", of_mutex);
	ck_assert_msg(value_at(of_mutex, "let_go_of_mutex", 0) >= n * (HOLD_NS / 2), "%s",
		      of_mutex);
	free(of_block);
	free(of_mutex);
	trace_recorder_destroy(w->block);
	trace_recorder_destroy(w->mutex);
}
