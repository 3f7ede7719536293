/* recorder_test.c - <trc/recorder.h>: what its functions promise. */
#include <check.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "tests/forks.h"
#include "tests/stolen.h"
#include "trc/labels.h"
#include "trc/recorder.h"

static char dir[] = "/tmp/trc-recorder-XXXXXX";

static void setup(void)
{
	strcpy(dir, "/tmp/trc-recorder-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(dir));
}

static void teardown(void)
{
	char command[100];

	snprintf(command, sizeof(command), "rm -rf %s", dir);
	ck_assert_int_eq(system(command), 0);
}

static const char *in_dir(const char *name)
{
	static char path[100];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	return path;
}

#define ck_good(call)                                                                              \
	do {                                                                                       \
		int good_ = (call);                                                                \
		ck_assert_msg(!good_, "%s: %d: %s", #call, good_, trace_last_error());             \
	} while (0)
#define ck_fails(call, err, text)                                                                  \
	do {                                                                                       \
		int fails_ = (call);                                                               \
		ck_assert_msg(fails_ == (err), "%s: %d: %s", #call, fails_, trace_last_error());   \
		ck_assert_msg(strstr(trace_last_error(), (text)) != NULL, "%s: %s", #call,         \
			      trace_last_error());                                                 \
	} while (0)

/* ---- writers --------------------------------------------------------------------------- */

/* One that counts its calls, and may fail. */
struct counting {
	int n_writes, n_finishes, finish_err, fail_write, fail_finish;
	size_t n_bytes;
};

static int count_write(void *context, const void *bytes, size_t n_bytes)
{
	struct counting *c = context;

	c->n_writes++;
	c->n_bytes += n_bytes;
	return c->fail_write;
}

static int count_finish(void *context, int err)
{
	struct counting *c = context;

	c->n_finishes++;
	c->finish_err = err;
	return c->fail_finish;
}

static struct trace_writer counting_writer(struct counting *c)
{
	return (struct trace_writer){count_write, c, count_finish};
}

START_TEST(a_file_appears_when_it_is_complete)
{
	struct trace_writer w;
	struct stat st;

	ck_good(trace_writer_path(&w, in_dir("file")));
	ck_assert_int_eq(w.write(w.context, "abc", 3), 0);
	ck_assert_int_eq(stat(in_dir("file"), &st), -1);
	ck_assert_int_eq(w.finish(w.context, 0), 0);
	ck_assert_int_eq(stat(in_dir("file"), &st), 0);
	ck_assert_int_eq(st.st_size, 3);
	ck_assert_uint_eq(st.st_mode & 07777, 0600);
	/* What failed leaves the one before. */
	ck_good(trace_writer_path(&w, in_dir("file")));
	ck_assert_int_eq(w.write(w.context, "longer", 6), 0);
	ck_assert_int_eq(w.finish(w.context, -ENOSPC), -ENOSPC);
	ck_assert_int_eq(stat(in_dir("file"), &st), 0);
	ck_assert_int_eq(st.st_size, 3);
}
END_TEST

START_TEST(a_path_that_leads_nowhere_is_told_at_once)
{
	struct trace_writer w = {.context = &w};

	ck_fails(trace_writer_path(&w, "/nonexistent/x"), -ENOENT, "/nonexistent/x");
	ck_fails(trace_writer_path(&w, dir), -EISDIR, dir);
	ck_fails(trace_writer_path(&w, ""), -EINVAL, "path");
	ck_assert_ptr_eq(w.context, &w);
}
END_TEST

START_TEST(memory_grows)
{
	struct trace_memory memory = {.bytes = NULL};
	struct trace_writer w = trace_writer_memory(&memory);

	for (int i = 0; i < 1000; i++)
		ck_assert_int_eq(w.write(w.context, "0123456789", 10), 0);
	ck_assert_uint_eq(memory.n_bytes, 10000);
	ck_assert_mem_eq((char *)memory.bytes + 9990, "0123456789", 10);
	free(memory.bytes);
}
END_TEST

START_TEST(a_closed_pipe_is_an_error_and_no_signal)
{
	struct trace_writer w;
	int fd[2];

	ck_assert_int_eq(pipe(fd), 0);
	w = trace_writer_fd(fd[1]);
	ck_assert_int_eq(w.write(w.context, "abc", 3), 0);
	close(fd[0]);
	ck_assert_int_eq(w.write(w.context, "abc", 3), -EPIPE);
	close(fd[1]);
	ck_assert_int_eq(w.write(w.context, "abc", 3), -EBADF);
}
END_TEST

/* ---- what cannot be -------------------------------------------------------------------- */

START_TEST(configs_that_make_no_sense)
{
	struct trace_block_config block = TRACE_BLOCK_CONFIG_INIT;
	struct trace_cpu_config cpu = TRACE_CPU_CONFIG_INIT;
	trace_recorder *r = NULL;

	block.struct_bytes = 1;
	ck_fails(trace_block_recorder(&r, &block), -EINVAL, "TRACE_BLOCK_CONFIG_INIT");
	block.struct_bytes = sizeof(block);
	block.format = (enum trace_profile_format)7;
	ck_fails(trace_block_recorder(&r, &block), -EINVAL, "format");
	cpu.event = "no-such-event";
	ck_fails(trace_cpu_recorder(&r, &cpu), -EINVAL, "no-such-event");
	cpu.event = "timer";
	cpu.period = 1000000;
	cpu.frequency_hz = 100;
	ck_fails(trace_cpu_recorder(&r, &cpu), -EINVAL, "either");
	ck_fails(trace_profile_recorder(&r, NULL, NULL), -EINVAL, "profile");
	ck_fails(trace_multi_recorder(&r, &r, 0, NULL), -EINVAL, "1 to 16");
	ck_assert_ptr_null(r);
	trace_recorder_free(NULL);
}
END_TEST

/* A writer is finished once, whatever happens. */
START_TEST(methods_in_the_wrong_order)
{
	struct counting c = {.n_writes = 0};
	struct trace_writer w = counting_writer(&c), none = {.write = NULL};
	trace_recorder *r;

	ck_good(trace_block_recorder(&r, NULL));
	ck_fails(trace_recorder_stop(r), -EINVAL, "not started");
	ck_fails(trace_recorder_snapshot(r, &w), -EINVAL, "not started");
	ck_assert_int_eq(c.n_finishes, 1);
	ck_assert_int_eq(c.finish_err, -EINVAL);
	ck_fails(trace_recorder_start(r, NULL), -EINVAL, "writer");
	ck_fails(trace_recorder_start(r, &none), -EINVAL, "writer");
	ck_good(trace_recorder_start(r, &w));
	ck_assert_int_eq(c.n_finishes, 1);
	ck_fails(trace_recorder_start(r, &w), -EBUSY, "started already");
	ck_assert_int_eq(c.n_finishes, 2);
	ck_assert_int_eq(c.n_writes, 0);
	ck_good(trace_recorder_stop(r));
	ck_assert_int_eq(c.n_finishes, 3);
	ck_assert_int_eq(c.finish_err, 0);
	ck_assert_int_gt(c.n_writes, 0);
	ck_fails(trace_recorder_stop(r), -EINVAL, "not started");
	trace_recorder_free(r);
}
END_TEST

START_TEST(a_writer_that_fails_disturbs_nothing_else)
{
	struct counting failing = {.fail_write = -ENOSPC}, late = {.fail_finish = -EIO}, good = {0};
	struct trace_writer w[] = {counting_writer(&failing), counting_writer(&late),
				   counting_writer(&good)};
	trace_recorder *r[3];

	for (int i = 0; i < 3; i++) {
		ck_good(trace_mutex_recorder(&r[i], NULL));
		ck_good(trace_recorder_start(r[i], &w[i]));
	}
	ck_fails(trace_recorder_stop(r[0]), -ENOSPC, "mutex: ");
	ck_assert_int_eq(failing.finish_err, -ENOSPC);
	ck_assert_int_eq(failing.n_writes, 1);
	ck_fails(trace_recorder_stop(r[1]), -EIO, "mutex: ");
	ck_good(trace_recorder_stop(r[2]));
	ck_assert_int_eq(good.n_finishes, 1);
	/* And it can be started again. */
	failing = (struct counting){0};
	ck_good(trace_recorder_start(r[0], &w[0]));
	ck_good(trace_recorder_stop(r[0]));
	for (int i = 0; i < 3; i++)
		trace_recorder_free(r[i]);
	ck_assert(!trace_enabled());
}
END_TEST

START_TEST(one_that_is_freed_while_it_runs_writes_nothing)
{
	struct counting c = {0};
	struct trace_writer w = counting_writer(&c);
	trace_recorder *r;

	ck_good(trace_block_recorder(&r, NULL));
	ck_good(trace_recorder_start(r, &w));
	ck_assert(trace_enabled());
	trace_recorder_free(r);
	ck_assert_int_eq(c.n_writes, 0);
	ck_assert_int_eq(c.n_finishes, 1);
	ck_assert_int_eq(c.finish_err, -ECANCELED);
	ck_assert(!trace_enabled());
}
END_TEST

START_TEST(errno_stays)
{
	struct counting c = {0};
	struct trace_writer w = counting_writer(&c);
	trace_recorder *r;

	ck_good(trace_block_recorder(&r, NULL));
	errno = 77;
	ck_good(trace_recorder_start(r, &w));
	ck_assert_int_eq(errno, 77);
	ck_good(trace_recorder_snapshot(r, &w));
	ck_assert_int_eq(errno, 77);
	ck_good(trace_recorder_stop(r));
	ck_assert_int_eq(errno, 77);
	trace_recorder_free(r);
	ck_assert_int_eq(errno, 77);
}
END_TEST

/* ---- custom profiles ------------------------------------------------------------------- */

/* The text of a snapshot, or of a window with `stop`; free() it. */
static char *text_of(trace_recorder *r)
{
	struct trace_memory memory = {.bytes = NULL};
	struct trace_writer w = trace_writer_memory(&memory);

	ck_good(trace_recorder_snapshot(r, &w));
	ck_assert_int_eq(w.write(w.context, "", 1), 0);
	return memory.bytes;
}

__attribute__((noinline)) static void open_handle(trace_profile *p, const void *key,
						  unsigned int skip)
{
	ck_good(trace_profile_add(p, key, skip));
	__asm__ volatile("");
}
__attribute__((noinline)) static void open_by_another_way(trace_profile *p, const void *key,
							  unsigned int skip)
{
	open_handle(p, key, skip);
	__asm__ volatile("");
}

START_TEST(profiles_have_names)
{
	trace_profile *p, *q;
	char longest[64] = "";

	ck_good(trace_profile_new(&p, "handles"));
	ck_fails(trace_profile_new(&q, "handles"), -EEXIST, "handles");
	ck_fails(trace_profile_new(&q, "heap"), -EEXIST, "heap");
	ck_fails(trace_profile_new(&q, ""), -EINVAL, "name");
	ck_fails(trace_profile_new(&q, "a/b"), -EINVAL, "name");
	ck_fails(trace_profile_new(&q, "<script>"), -EINVAL, "name");
	ck_fails(trace_profile_new(&q, NULL), -EINVAL, "name");
	memset(longest, 'x', 63);
	ck_good(trace_profile_new(&q, longest));
	ck_assert_ptr_eq(trace_profile_find("handles"), p);
	ck_assert_ptr_null(trace_profile_find("handle"));
	ck_assert_str_eq(trace_profile_name(p), "handles");
}
END_TEST

static int collect(void *context, trace_profile *p)
{
	strcat(context, trace_profile_name(p));
	return !strcmp(trace_profile_name(p), "gamma");
}

START_TEST(profiles_are_listed_by_name)
{
	char names[100] = "";
	trace_profile *p;

	ck_good(trace_profile_new(&p, "gamma"));
	ck_good(trace_profile_new(&p, "alpha"));
	ck_good(trace_profile_new(&p, "zeta"));
	ck_good(trace_profile_new(&p, "beta"));
	ck_assert_int_eq(trace_profile_each(collect, names), 1);
	ck_assert_str_eq(names, "alphabetagamma");
}
END_TEST

START_TEST(a_profile_holds_keys_with_stacks)
{
	struct trace_profile_config config = TRACE_PROFILE_CONFIG_INIT;
	trace_recorder *r;
	trace_profile *p;
	char *text;
	char key[1000];

	config.format = TRACE_TEXT;
	ck_good(trace_profile_new(&p, "sockets"));
	ck_good(trace_profile_recorder(&r, p, &config));
	text = text_of(r);
	ck_assert_str_eq(text, "sockets profile: total 0\n");
	free(text);
	for (int i = 0; i < 1000; i++)
		open_handle(p, &key[i], 0);
	ck_assert_uint_eq(trace_profile_count(p), 1000);
	ck_fails(trace_profile_add(p, &key[5], 0), -EEXIST, "there already");
	for (int i = 0; i < 990; i++)
		trace_profile_remove(p, &key[i]);
	trace_profile_remove(p, &key[0]);
	trace_profile_remove(p, text_of);
	ck_assert_uint_eq(trace_profile_count(p), 10);
	open_by_another_way(p, &key[0], 1);
	text = text_of(r);
	ck_assert_msg(!strncmp(text, "sockets profile: total 11\n10 @ 0x", 33), "%.2000s", text);
	ck_assert_msg(strstr(text, "open_handle"), "%.2000s", text);
	ck_assert_msg(strstr(text, "open_by_another_way"), "%.2000s", text);
	/* skip 1 leaves open_handle out of the second stack. */
	ck_assert_msg(!strstr(strstr(text, "\n1 @"), "open_handle"), "%.2000s", text);
	free(text);
	trace_recorder_free(r);
}
END_TEST

START_TEST(a_window_of_a_profile_is_the_change)
{
	struct trace_profile_config config = TRACE_PROFILE_CONFIG_INIT;
	struct trace_memory memory = {.bytes = NULL};
	struct trace_writer w = trace_writer_memory(&memory);
	trace_recorder *r;
	trace_profile *p;
	char key[10];

	config.format = TRACE_TEXT;
	ck_good(trace_profile_new(&p, "changes"));
	ck_good(trace_profile_recorder(&r, p, &config));
	open_handle(p, &key[0], 0);
	open_handle(p, &key[1], 0);
	ck_good(trace_recorder_start(r, &w));
	trace_profile_remove(p, &key[0]);
	for (volatile int i = 2; i < 4; i++) /* one place of the code, not two */
		open_by_another_way(p, &key[i], 1);
	ck_good(trace_recorder_stop(r));
	ck_assert_int_eq(w.write(w.context, "", 1), 0);
	ck_assert_msg(!strncmp(memory.bytes, "changes profile: total 1\n2 @ 0x", 31), "%s",
		      (char *)memory.bytes);
	ck_assert_msg(strstr(memory.bytes, "\n-1 @ 0x"), "%s", (char *)memory.bytes);
	free(memory.bytes);
	trace_recorder_free(r);
	ck_assert(!trace_enabled());
}
END_TEST

/* ---- windows --------------------------------------------------------------------------- */

enum { HOLD_NS = 40000000 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

__attribute__((noinline)) static void wait_for_mutex(void)
{
	pthread_mutex_lock(&mutex);
	pthread_mutex_unlock(&mutex);
	__asm__ volatile("");
}
static _Atomic bool comes;
static void *waiter(void *unused)
{
	atomic_store(&comes, true);
	wait_for_mutex();
	return NULL;
}
__attribute__((noinline)) static void let_go_of_mutex(void)
{
	pthread_mutex_unlock(&mutex);
	__asm__ volatile("");
}

static void sleep_ns(long ns)
{
	const struct timespec t = {ns / 1000000000, ns % 1000000000};

	nanosleep(&t, NULL);
}

/* One thread waits for about HOLD_NS, or until it is let go of. */
static pthread_t begin_contention(void)
{
	pthread_t thread;

	pthread_mutex_lock(&mutex);
	atomic_store(&comes, false);
	ck_assert_int_eq(pthread_create(&thread, NULL, waiter, NULL), 0);
	while (!atomic_load(&comes)) /* a loaded machine starts it late */
		sleep_ns(1000000);
	sleep_ns(HOLD_NS);
	return thread;
}
static void contend(void)
{
	pthread_t thread = begin_contention();

	let_go_of_mutex();
	pthread_join(thread, NULL);
}

/* The first (0) or second number of the stacks that have this function in them, summed; -1 = there
 * is none.  What is told of a stack ends with an empty line. */
static long long value_at(const char *text, const char *function, int which)
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

struct waits_recorders {
	trace_recorder *block, *mutex;
	struct trace_memory of_block, of_mutex;
};

static void waits_begin(struct waits_recorders *w)
{
	struct trace_block_config block = TRACE_BLOCK_CONFIG_INIT;
	struct trace_mutex_config of_mutex = TRACE_MUTEX_CONFIG_INIT;
	struct trace_writer writer;

	memset(w, 0, sizeof(*w));
	block.format = of_mutex.format = TRACE_TEXT;
	ck_good(trace_block_recorder(&w->block, &block));
	ck_good(trace_mutex_recorder(&w->mutex, &of_mutex));
	writer = trace_writer_memory(&w->of_block);
	ck_good(trace_recorder_start(w->block, &writer));
	writer = trace_writer_memory(&w->of_mutex);
	ck_good(trace_recorder_start(w->mutex, &writer));
}

/* Zero-terminated. */
static char *memory_text(struct trace_memory *memory)
{
	struct trace_writer w = trace_writer_memory(memory);

	ck_assert_int_eq(w.write(w.context, "", 1), 0);
	return memory->bytes;
}

static void waits_end(struct waits_recorders *w, int n)
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
	trace_recorder_free(w->block);
	trace_recorder_free(w->mutex);
}

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
	struct trace_block_config config = TRACE_BLOCK_CONFIG_INIT;
	struct trace_memory memory = {0};
	struct trace_writer w = trace_writer_memory(&memory);
	trace_recorder *r;
	pthread_t thread;
	char *text;

	config.format = TRACE_TEXT;
	ck_good(trace_block_recorder(&r, &config));
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
	trace_recorder_free(r);
}
END_TEST

START_TEST(a_rate_of_zero_is_off)
{
	struct trace_block_config config = TRACE_BLOCK_CONFIG_INIT;
	struct trace_memory memory = {0};
	struct trace_writer w = trace_writer_memory(&memory);
	trace_recorder *r;

	config.format = TRACE_TEXT;
	config.rate_ns = 0;
	ck_good(trace_block_recorder(&r, &config));
	ck_good(trace_recorder_start(r, &w));
	contend();
	ck_good(trace_recorder_stop(r));
	ck_assert_str_eq(memory_text(&memory), "--- contention:\ncycles/second=1000000000\n");
	free(memory.bytes);
	trace_recorder_free(r);
}
END_TEST

START_TEST(labels_are_in_profiles)
{
	struct trace_block_config config = TRACE_BLOCK_CONFIG_INIT;
	struct trace_memory memory = {0};
	struct trace_writer w = trace_writer_memory(&memory);
	trace_recorder *r;
	char *text;

	config.format = TRACE_TEXT;
	ck_good(trace_block_recorder(&r, &config));
	ck_good(trace_recorder_start(r, &w));
	{
		TRACE_LABELS("tenant", "seven"); /* the waiter inherits it */
		contend();
	}
	ck_good(trace_recorder_stop(r));
	text = memory_text(&memory);
	ck_assert_msg(strstr(text, "# labels: {\"tenant\": \"seven\"}"), "%.2000s", text);
	free(text);
	trace_recorder_free(r);
}
END_TEST

START_TEST(created_threads)
{
	struct trace_threadcreate_config config = TRACE_THREADCREATE_CONFIG_INIT;
	struct trace_memory memory = {0};
	struct trace_writer w = trace_writer_memory(&memory);
	trace_recorder *r;
	char *text;

	config.format = TRACE_TEXT;
	ck_good(trace_threadcreate_recorder(&r, &config));
	ck_good(trace_recorder_start(r, &w));
	for (int i = 0; i < 3; i++)
		contend();
	ck_good(trace_recorder_stop(r));
	text = memory_text(&memory);
	ck_assert_msg(!strncmp(text, "threadcreate profile: total 3\n", 30), "%.2000s", text);
	ck_assert_msg(strstr(text, "begin_contention"), "%.2000s", text);
	free(text);
	trace_recorder_free(r);
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

static long long sum_of(const char *text, int which)
{
	long long sum = 0, value[2];

	for (const char *line = text; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (sscanf(line, "%lld %lld @", &value[0], &value[1]) == 2)
			sum += value[which];
	}
	return sum;
}

static trace_recorder *timer_recorder(uint64_t period)
{
	struct trace_cpu_config config = TRACE_CPU_CONFIG_INIT;
	trace_recorder *r;

	config.format = TRACE_TEXT;
	config.event = "timer";
	config.period = period;
	ck_good(trace_cpu_recorder(&r, &config));
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
static uint64_t at_two_rates(trace_recorder *const r[2], char *text[2])
{
	struct trace_memory memory[2] = {{0}, {0}};
	uint64_t began = own_cpu_ns(), used;

	for (int i = 0; i < 2; i++) {
		struct trace_writer w = trace_writer_memory(&memory[i]);

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
	trace_recorder *r[2] = {timer_recorder(20000000), timer_recorder(4000000)};
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
	trace_recorder_free(r[0]);
	trace_recorder_free(r[1]);
}
END_TEST

START_TEST(a_profile_of_the_program_is_not_recorders_business)
{
	struct counting c = {0};
	struct trace_writer w = counting_writer(&c);
	struct trace_cpu_config config = TRACE_CPU_CONFIG_INIT;
	struct trace_cpu_event event = TRACE_CPU_EVENT_INIT;
	trace_recorder *r;

	config.event = event.name = "timer";
	ck_good(trace_cpu_recorder(&r, &config));
	ck_good(trace_recorder_start(r, &w));
	ck_fails(trace_cpu_profile_start(&event, 1), -EINVAL, "trace");
	ck_good(trace_start(in_dir("a.trc"), NULL));
	ck_good(trace_cpu_profile_start(&event, 1));
	ck_fails(trace_cpu_profile_start(&event, 1), -EBUSY, "already");
	ck_good(trace_cpu_profile_stop());
	ck_fails(trace_cpu_profile_stop(), -EINVAL, "no CPU profile");
	ck_good(trace_cpu_profile_start(&event, 1));
	ck_good(trace_stop());
	ck_good(trace_recorder_stop(r));
	trace_recorder_free(r);
	ck_assert_int_eq(c.finish_err, 0);
	ck_assert(!trace_enabled());
}
END_TEST

/* Samples come under another number as soon as somebody else wants more of them. */
START_TEST(cpu_time_while_a_profile_comes_and_goes)
{
	struct trace_cpu_event event = TRACE_CPU_EVENT_INIT;
	trace_recorder *r = timer_recorder(20000000);
	struct runs runs = {0};

	event.name = "timer";
	event.period = 4000000;
	while (another_run(&runs)) {
		struct trace_memory memory = {0};
		struct trace_writer w = trace_writer_memory(&memory);
		char *text;

		ck_good(trace_recorder_start(r, &w));
		ck_good(trace_start(in_dir("a.trc"), NULL));
		burn(100000000);
		ck_good(trace_cpu_profile_start(&event, 1));
		burn(800000000);
		ck_good(trace_cpu_profile_stop());
		burn(100000000);
		ck_good(trace_stop());
		ck_good(trace_recorder_stop(r));
		text = memory_text(&memory);
		/* 50 samples of 20 ms, 40 of them chosen from 200: more than four standard
		 * deviations. */
		expect_within(&runs, (uint64_t)sum_of(text, 1), 500000000, 1600000000);
		free(text);
	}
	trace_recorder_free(r);
}
END_TEST

/* A session can tell of sixteen periods; recorders may ask for any number. */
START_TEST(cpu_time_at_many_rates_in_turn)
{
	trace_recorder *first = timer_recorder(5000000), *r;
	struct counting c = {0};
	struct trace_writer w = counting_writer(&c), into;
	struct runs runs = {0};

	ck_good(trace_recorder_start(first, &w));
	for (uint64_t i = 0; i < 40; i++) {
		r = timer_recorder(4900000 - 100000 * i);
		ck_good(trace_recorder_start(r, &w));
		ck_good(trace_recorder_stop(r));
		trace_recorder_free(r);
	}
	r = timer_recorder(4123457);
	while (another_run(&runs)) {
		struct trace_memory memory = {0};
		char *text;

		into = trace_writer_memory(&memory);
		ck_good(trace_recorder_start(r, &into));
		burn(400000000);
		ck_good(trace_recorder_stop(r));
		text = memory_text(&memory);
		expect_within(&runs, (uint64_t)sum_of(text, 1), 200000000, 600000000);
		free(text);
	}
	ck_good(trace_recorder_stop(first));
	trace_recorder_free(first);
	trace_recorder_free(r);
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

	pthread_mutex_lock(&mutex);
	ck_assert_int_eq(pthread_create(&thread, NULL, short_waiter, NULL), 0);
	for (int i = 0; i < SHORT_WAITS; i++) {
		sleep_ns(200000);
		let_go_of_mutex();
		sleep_ns(10000);
		pthread_mutex_lock(&mutex);
	}
	let_go_of_mutex();
	pthread_join(thread, NULL);
}

static double square_root(double x)
{
	double root = x > 1 ? x : 1;

	for (int i = 0; i < 100; i++)
		root = (root + x / root) / 2;
	return root;
}

/* Of one window: what was thinned, and (rate 1) what there was. */
struct pair {
	trace_recorder *multi;
	struct trace_memory memory[2];
	int64_t rate_ns;
};

static void pair_begin(struct pair *p, int64_t rate_ns)
{
	struct trace_block_config config = TRACE_BLOCK_CONFIG_INIT;
	struct trace_multi_config multi = TRACE_MULTI_CONFIG_INIT;
	struct trace_writer w[2] = {trace_writer_memory(&p->memory[0]),
				    trace_writer_memory(&p->memory[1])};
	trace_recorder *member[2];

	memset(p, 0, sizeof(*p));
	p->rate_ns = rate_ns;
	config.format = TRACE_TEXT;
	ck_good(trace_block_recorder(&member[1], &config));
	config.rate_ns = rate_ns;
	ck_good(trace_block_recorder(&member[0], &config));
	multi.one_each = true;
	ck_good(trace_multi_recorder(&p->multi, member, 2, &multi));
	ck_good(trace_recorder_start(p->multi, w));
}

/* A wait of d < rate is kept with probability d/rate: the variance of its delay is d * (rate - d).
 * Whether it came out within three standard errors. */
static bool pair_agrees(struct pair *p)
{
	double thinned, truth, error;
	char *text[2];

	ck_good(trace_recorder_stop(p->multi));
	trace_recorder_free(p->multi);
	for (int i = 0; i < 2; i++)
		text[i] = memory_text(&p->memory[i]);
	thinned = (double)sum_of(text[0], 0);
	truth = (double)sum_of(text[1], 0);
	ck_assert_msg(sum_of(text[1], 1) >= SHORT_WAITS / 4, "%.2000s", text[1]);
	error = 3 * square_root(truth * (double)p->rate_ns);
	for (int i = 0; i < 2; i++)
		free(text[i]);
	return thinned > truth - error && thinned < truth + error;
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

/* ---- memory ---------------------------------------------------------------------------- */

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

/* False where malloc does not come to libtrc: a sanitizer's stands before it. */
static bool start_heap(trace_recorder *r, struct trace_memory *memory)
{
	const char *sanitized = getenv("TRC_SANITIZE");
	struct trace_writer w = trace_writer_memory(memory);
	int err;

	if (sanitized && *sanitized && strcmp(sanitized, "no"))
		return false;
	err = trace_recorder_start(r, &w);
	if (err == -ENOTSUP)
		return false;
	ck_good(err);
	return true;
}

START_TEST(what_is_in_use_and_what_leaks)
{
	struct trace_heap_config config = TRACE_HEAP_CONFIG_INIT;
	struct trace_memory memory = {0};
	trace_recorder *r, *other;
	long long value[4];
	char *text;

	config.format = TRACE_TEXT;
	config.sample_bytes = 1;
	ck_good(trace_heap_recorder(&r, &config));
	ck_good(trace_heap_recorder(&other, &config));
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
	trace_recorder_free(r);
	trace_recorder_free(other);
	ck_assert(!trace_enabled());
}
END_TEST

static trace_recorder *alloc_recorder(int64_t sample_bytes)
{
	struct trace_alloc_config config = TRACE_ALLOC_CONFIG_INIT;
	trace_recorder *r;

	config.format = TRACE_TEXT;
	config.sample_bytes = sample_bytes;
	ck_good(trace_alloc_recorder(&r, &config));
	return r;
}

static bool stop_alloc(trace_recorder *r, struct trace_memory *memory, int64_t sample_bytes,
		       double truth_bytes)
{
	double error = 3 * square_root(truth_bytes * (double)sample_bytes);
	long long value[4] = {0};
	char *text;

	ck_good(trace_recorder_stop(r));
	trace_recorder_free(r);
	text = memory_text(memory);
	ck_assert_msg(heap_at(text, "allocate_blocks", value), "%.2000s", text);
	free(text);
	return (double)value[3] > truth_bytes - error && (double)value[3] < truth_bytes + error;
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
	trace_recorder *r = alloc_recorder(1);

	ck_good(trace_recorder_start(r, &w));
	ck_good(trace_recorder_stop(r));
	trace_recorder_free(r);
	ck_good(trace_writer_path(&file, "never-written"));
	file.finish(file.context, -ECANCELED);
}

/* Nor does the program leak what it gives back when it is called by trc. */
START_TEST(what_trc_keeps_is_not_the_programs)
{
	struct trace_heap_config config = TRACE_HEAP_CONFIG_INIT;
	struct trace_memory memory = {0};
	long long value[4];
	trace_recorder *r;
	char *text;

	config.format = TRACE_TEXT;
	config.sample_bytes = 1;
	ck_good(trace_heap_recorder(&r, &config));
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
	trace_recorder_free(r);
}
END_TEST

/* One sample in so many bytes: the number of samples is as good as Poisson's. */
START_TEST(allocations_at_two_rates)
{
	enum { N = 20000, BYTES = 1000, FINE = 8192, COARSE = 65536 };
	bool agrees = false;

	for (int i = 0; i < 2 && !agrees; i++) {
		struct trace_memory memory[2] = {{0}, {0}};
		trace_recorder *coarse = alloc_recorder(COARSE), *fine = alloc_recorder(FINE);

		if (!start_heap(coarse, &memory[0]) || !start_heap(fine, &memory[1])) {
			trace_recorder_free(coarse);
			trace_recorder_free(fine);
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

/* ---- beside other recordings ----------------------------------------------------------- */

START_TEST(beside_a_trace_that_comes_and_goes)
{
	struct waits_recorders w;
	struct stat st;

	waits_begin(&w);
	contend();
	ck_good(trace_start(in_dir("a.trc"), NULL));
	contend();
	ck_good(trace_stop());
	ck_assert_int_eq(stat(in_dir("a.trc"), &st), 0);
	ck_fails(trace_start("/nonexistent/a.trc", NULL), -ENOENT, "/nonexistent");
	contend();
	waits_end(&w, 3);
	ck_assert(!trace_enabled());
}
END_TEST

START_TEST(within_a_trace)
{
	struct waits_recorders w;

	ck_good(trace_start(in_dir("a.trc"), NULL));
	contend();
	waits_begin(&w);
	contend();
	waits_end(&w, 1);
	ck_assert(trace_enabled());
	waits_begin(&w);
	contend();
	ck_good(trace_stop());
	contend();
	waits_end(&w, 2);
	ck_assert(!trace_enabled());
}
END_TEST

START_TEST(beside_a_flight_recorder)
{
	struct trace_flight_options flight = TRACE_FLIGHT_OPTIONS_INIT;
	struct waits_recorders w;
	struct stat st;

	flight.max_bytes = 4 << 20;
	ck_good(trace_flight_start(&flight));
	contend();
	waits_begin(&w);
	contend();
	ck_good(trace_flight_snapshot(in_dir("a.trc")));
	ck_assert_int_eq(stat(in_dir("a.trc"), &st), 0);
	ck_good(trace_flight_stop());
	contend();
	waits_end(&w, 2);
	ck_assert(!trace_enabled());
	/* The other way round. */
	waits_begin(&w);
	flight.max_bytes = 1 << 30;
	ck_good(trace_flight_start(&flight));
	contend();
	ck_good(trace_flight_snapshot(in_dir("b.trc")));
	waits_end(&w, 1);
	ck_assert(trace_flight_enabled());
	ck_good(trace_flight_stop());
	ck_assert(!trace_enabled());
}
END_TEST

/* ---- several --------------------------------------------------------------------------- */

START_TEST(several_in_one_profile)
{
	struct trace_block_config config = TRACE_BLOCK_CONFIG_INIT;
	struct trace_memory memory = {0};
	struct trace_writer w = trace_writer_memory(&memory);
	trace_recorder *member[3], *r;
	char *text;

	config.format = TRACE_TEXT;
	ck_good(trace_block_recorder(&member[0], &config));
	ck_good(trace_mutex_recorder(&member[1], NULL));
	ck_good(trace_threadcreate_recorder(&member[2], NULL));
	ck_good(trace_multi_recorder(&r, member, 3, NULL));
	ck_fails(trace_recorder_start(member[0], &w), -EINVAL, "multi");
	ck_good(trace_recorder_start(r, &w));
	contend();
	ck_good(trace_recorder_stop(r));
	text = memory_text(&memory);
	ck_assert_msg(!strncmp(text,
			       "block: contentions/count delay/nanoseconds "
			       "mutex_contentions/count mutex_delay/nanoseconds "
			       "threadcreate/count\n",
			       110),
		      "%.2000s", text);
	ck_assert_msg(strstr(text, "\n1 "), "of the waiter: %.2000s", text);
	ck_assert_msg(strstr(text, "\n0 0 1 "), "of the unlocker: %.2000s", text);
	ck_assert_msg(strstr(text, "\n0 0 0 0 1 @"), "of the creator: %.2000s", text);
	free(text);
	trace_recorder_free(r);
}
END_TEST

START_TEST(several_in_a_profile_each)
{
	struct counting c[2] = {{0}, {0}};
	struct trace_writer w[2] = {counting_writer(&c[0]), counting_writer(&c[1])};
	struct trace_multi_config config = TRACE_MULTI_CONFIG_INIT;
	trace_recorder *member[2], *r;

	config.one_each = true;
	ck_good(trace_block_recorder(&member[0], NULL));
	ck_good(trace_mutex_recorder(&member[1], NULL));
	ck_good(trace_multi_recorder(&r, member, 2, &config));
	ck_good(trace_recorder_start(r, w));
	ck_good(trace_recorder_snapshot(r, w));
	ck_good(trace_recorder_stop(r));
	for (int i = 0; i < 2; i++) {
		ck_assert_int_eq(c[i].n_finishes, 2);
		ck_assert_int_eq(c[i].finish_err, 0);
		ck_assert_int_gt(c[i].n_writes, 0);
	}
	/* One that fails leaves the other. */
	c[0] = (struct counting){.fail_write = -EIO};
	ck_good(trace_recorder_start(r, w));
	ck_fails(trace_recorder_stop(r), -EIO, "multi");
	ck_assert_int_eq(c[1].finish_err, 0);
	trace_recorder_free(r);
	ck_assert(!trace_enabled());
}
END_TEST

/* ---- fork ------------------------------------------------------------------------------ */

/* In the child nothing runs, and what the parent started is its own there too. */
START_TEST(a_forked_child_begins_anew)
{
	struct counting c = {0};
	struct trace_writer w = counting_writer(&c);
	trace_recorder *r;
	int status;
	pid_t child;

	ck_good(trace_block_recorder(&r, NULL));
	ck_good(trace_recorder_start(r, &w));
	child = fork();
	if (!child) {
		alarm(60);
		if (trace_recorder_stop(r) != -EINVAL || trace_enabled())
			_exit(1);
		if (trace_recorder_start(r, &w) || !trace_enabled()) {
			fprintf(stderr, "in the child: %s\n", trace_last_error());
			_exit(2);
		}
		if (trace_recorder_stop(r) || c.n_finishes != 1 || c.finish_err)
			_exit(3);
		trace_recorder_free(r);
		_exit(trace_enabled() ? 4 : 0);
	}
	ck_assert_int_gt(child, 0);
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert_int_eq(status, 0);
	ck_good(trace_recorder_stop(r));
	ck_assert_int_eq(c.n_finishes, 1);
	trace_recorder_free(r);
}
END_TEST

/* What a thread does at the moment of a fork is left as it is, for ever, in the child. */
struct busy {
	_Atomic bool ends;
	trace_profile *profile;
	trace_recorder *r; /* runs */
};

static void *enters_and_removes(void *context)
{
	struct busy *b = context;

	for (uintptr_t n = 1; !atomic_load(&b->ends); n = n % 3000 + 1) {
		trace_profile_add(b->profile, (void *)n, 0);
		if (n % 3 && n > 1)
			trace_profile_remove(b->profile, (void *)(n - 1));
	}
	return NULL;
}

static void *starts(void *context)
{
	struct busy *b = context;
	struct counting c = {0};
	const struct trace_writer w = counting_writer(&c);

	while (!atomic_load(&b->ends))
		trace_recorder_start(b->r, &w);
	return NULL;
}

/* 0, or what is wrong. */
static int child_of_the_busy(struct busy *b)
{
	struct trace_memory memory = {0};
	struct trace_writer w = trace_writer_memory(&memory);
	size_t count = trace_profile_count(b->profile);
	unsigned long total;

	alarm(120);
	if (trace_recorder_stop(b->r) != -EINVAL)
		return 1;
	if (trace_profile_add(b->profile, b, 0) || trace_profile_count(b->profile) != count + 1)
		return 2;
	if (trace_recorder_snapshot(b->r, &w) || w.write(w.context, "", 1))
		return 3;
	if (sscanf(memory.bytes, "busy profile: total %lu", &total) != 1 || total != count + 1)
		return 4;
	trace_profile_remove(b->profile, b);
	free(memory.bytes);
	return trace_profile_count(b->profile) == count ? 0 : 5;
}

START_TEST(a_fork_at_any_moment)
{
	struct trace_profile_config config = TRACE_PROFILE_CONFIG_INIT;
	struct counting c = {0};
	struct trace_writer w = counting_writer(&c);
	struct busy b = {.ends = false};
	pthread_t thread[2];

	config.format = TRACE_TEXT;
	ck_good(trace_profile_new(&b.profile, "busy"));
	ck_good(trace_profile_recorder(&b.r, b.profile, &config));
	ck_good(trace_recorder_snapshot(b.r, &w)); /* loads what that takes */
	ck_good(trace_recorder_start(b.r, &w));
	ck_assert_int_eq(pthread_create(&thread[0], NULL, enters_and_removes, &b), 0);
	ck_assert_int_eq(pthread_create(&thread[1], NULL, starts, &b), 0);
	for (int i = 0; i < 60 && !ALLOCATOR_NOT_FOR_FORKS; i++) {
		int status;
		pid_t child = fork();

		if (!child)
			_exit(child_of_the_busy(&b));
		ck_assert_int_gt(child, 0);
		ck_assert_int_eq(waitpid(child, &status, 0), child);
		ck_assert_int_eq(status, 0);
	}
	atomic_store(&b.ends, true);
	pthread_join(thread[0], NULL);
	pthread_join(thread[1], NULL);
	ck_good(trace_recorder_stop(b.r));
	trace_recorder_free(b.r);
}
END_TEST

/* The ring's file goes with the process, whoever still records. */
START_TEST(exit_ends_recorders)
{
	struct counting c = {0};
	struct trace_writer w = counting_writer(&c);
	static trace_recorder *r; /* still in reach at exit: it is no leak */
	int status;
	pid_t child;

	ck_assert_int_eq(setenv("TRC_RING_DIR", dir, 1), 0);
	child = fork();
	if (!child) {
		alarm(60);
		if (trace_block_recorder(&r, NULL) || trace_recorder_start(r, &w))
			_exit(1);
		exit(0);
	}
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert_int_eq(status, 0);
	ck_assert_int_eq(rmdir(dir), 0);
	ck_assert_int_eq(mkdir(dir, 0700), 0);
	unsetenv("TRC_RING_DIR");
}
END_TEST

/* ---- parts of libtrc -------------------------------------------------------------------- */

/* As it is named where it was asked for by a relative name; "" = libtrc is in the program. */
static bool libtrc_dir(char *to, size_t n_bytes)
{
	Dl_info info;
	char *slash;

	if (!dladdr((void *)(uintptr_t)trace_recorder_start, &info) ||
	    snprintf(to, n_bytes, "%s", info.dli_fname) >= (int)n_bytes)
		return false;
	slash = strrchr(to, '/');
	if (!slash || !strstr(slash, "libtrc"))
		return false;
	*slash = '\0';
	return true;
}

/* The program again, with a libtrc that was found in "." and is not there any more: 0 = it finds its
 * parts all the same; 77 = it was found elsewhere. */
static int elsewhere(const char *place)
{
	struct counting c = {0};
	struct trace_writer w = counting_writer(&c);
	trace_profile *profile;
	trace_recorder *r;
	char path[4096];

	alarm(120);
	if (!libtrc_dir(path, sizeof(path)) || *path == '/')
		return 77;
	if (chdir(place) || trace_profile_new(&profile, "some") ||
	    trace_profile_recorder(&r, profile, NULL))
		return 1;
	if (trace_recorder_snapshot(r, &w)) {
		fprintf(stderr, "%s\n", trace_last_error());
		return 2;
	}
	trace_recorder_free(r);
	return 0;
}

START_TEST(parts_are_not_loaded_from_wherever_one_is)
{
	char path[4096];
	FILE *wrong = fopen(in_dir("libtrc-profile.so"), "w");
	int status;
	pid_t child;

	ck_assert_ptr_nonnull(wrong);
	ck_assert_int_eq(fclose(wrong), 0);
	if (!libtrc_dir(path, sizeof(path)))
		return; /* it is in the program */
	child = fork();
	if (!child) {
		if (chdir(path) || setenv("LD_LIBRARY_PATH", ".", 1))
			_exit(3);
		execl("/proc/self/exe", "recorder_test", "elsewhere", dir, (char *)NULL);
		_exit(4);
	}
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert_msg(WIFEXITED(status) &&
			      (WEXITSTATUS(status) == 0 || WEXITSTATUS(status) == 77),
		      "status %x", (unsigned int)status);
	if (WEXITSTATUS(status) == 77)
		printf("not tested: libtrc is not looked for in LD_LIBRARY_PATH\n");
}
END_TEST

int main(int argc, char **argv)
{
	Suite *suite;
	SRunner *runner;
	TCase *tc;
	int failed;

	if (argc == 3 && !strcmp(argv[1], "elsewhere"))
		return elsewhere(argv[2]);
	suite = suite_create("recorder");
	tc = tcase_create("recorder");
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_set_timeout(tc, 240);
	tcase_add_test(tc, a_file_appears_when_it_is_complete);
	tcase_add_test(tc, a_path_that_leads_nowhere_is_told_at_once);
	tcase_add_test(tc, memory_grows);
	tcase_add_test(tc, a_closed_pipe_is_an_error_and_no_signal);
	tcase_add_test(tc, configs_that_make_no_sense);
	tcase_add_test(tc, methods_in_the_wrong_order);
	tcase_add_test(tc, a_writer_that_fails_disturbs_nothing_else);
	tcase_add_test(tc, one_that_is_freed_while_it_runs_writes_nothing);
	tcase_add_test(tc, errno_stays);
	tcase_add_test(tc, profiles_have_names);
	tcase_add_test(tc, profiles_are_listed_by_name);
	tcase_add_test(tc, a_profile_holds_keys_with_stacks);
	tcase_add_test(tc, a_window_of_a_profile_is_the_change);
	tcase_add_test(tc, waits_in_a_window);
	tcase_add_test(tc, a_wait_in_progress_counts);
	tcase_add_test(tc, a_rate_of_zero_is_off);
	tcase_add_test(tc, labels_are_in_profiles);
	tcase_add_test(tc, created_threads);
	tcase_add_test(tc, cpu_time_at_two_rates);
	tcase_add_test(tc, cpu_time_while_a_profile_comes_and_goes);
	tcase_add_test(tc, cpu_time_at_many_rates_in_turn);
	tcase_add_test(tc, block_at_two_rates);
	tcase_add_test(tc, what_is_in_use_and_what_leaks);
	tcase_add_test(tc, what_trc_keeps_is_not_the_programs);
	tcase_add_test(tc, allocations_at_two_rates);
	tcase_add_test(tc, a_profile_of_the_program_is_not_recorders_business);
	tcase_add_test(tc, beside_a_trace_that_comes_and_goes);
	tcase_add_test(tc, within_a_trace);
	tcase_add_test(tc, beside_a_flight_recorder);
	tcase_add_test(tc, several_in_one_profile);
	tcase_add_test(tc, several_in_a_profile_each);
	tcase_add_test(tc, a_forked_child_begins_anew);
	tcase_add_test(tc, a_fork_at_any_moment);
	tcase_add_test(tc, exit_ends_recorders);
	tcase_add_test(tc, parts_are_not_loaded_from_wherever_one_is);
	suite_add_tcase(suite, tc);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed != 0;
}
