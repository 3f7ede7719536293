/*
 * thread_recorder_test.c - profiles of threads as programs take them, with everything interposed:
 * what is written, and that threads notice nothing.
 */
#include <check.h>
#include <dlfcn.h>
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>
#include <trc/labels.h>
#include <trc/recorder.h>

#include "tests/suite.h"

#define LONG_NS UINT64_C(20000000000) /* more than any answer takes */

static struct trace_writer_memory memory;

/* ---- profiles -------------------------------------------------------------------------- */

/* Into memory, terminated. */
static const char *snapshot_of(const struct trace_thread_options *options)
{
	struct trace_writer writer = trace_writer_to_memory(&memory);
	struct trace_recorder *r;
	char *text;

	memory.n_bytes = 0;
	ck_assert_msg(trace_recorder_create_thread(&r, options) == 0, "%s", trace_last_error());
	ck_assert_msg(trace_recorder_snapshot(r, &writer) == 0, "%s", trace_last_error());
	trace_recorder_destroy(r);
	text = realloc(memory.bytes, memory.n_bytes + 1);
	ck_assert_ptr_nonnull(text);
	text[memory.n_bytes] = '\0';
	memory.bytes = text;
	memory.room_bytes = memory.n_bytes + 1;
	return text;
}

static const char *text_of(enum trace_thread_details details)
{
	struct trace_thread_options options = TRACE_THREAD_OPTIONS_INIT;

	options.format = TRACE_PROFILE_FORMAT_TEXT;
	options.details = details;
	options.deadline_ns = LONG_NS;
	return snapshot_of(&options);
}

static void tear_down(void)
{
	free(memory.bytes);
	memory = (struct trace_writer_memory){NULL, 0, 0};
}

static void expect_text(const char *text, const char *wanted)
{
	ck_assert_msg(strstr(text, wanted) != NULL, "\"%s\" is not in:\n%s", wanted, text);
}

/* The paragraph that begins with this; zero-terminated, until the next call. */
static const char *paragraph(const char *text, const char *begin)
{
	static char copy[16384];
	const char *from = strstr(text, begin), *end = from ? strstr(from, "\n\n") : NULL;
	size_t n = end ? (size_t)(end - from) : from ? strlen(from) : 0;

	ck_assert_msg(from != NULL, "\"%s\" is not in:\n%s", begin, text);
	ck_assert_uint_lt(n, sizeof(copy));
	memcpy(copy, from, n);
	copy[n] = '\0';
	return copy;
}

/* ---- threads --------------------------------------------------------------------------- */

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static _Atomic bool stopping;

static char state_of(pid_t tid)
{
	char path[64], text[256] = "", *at;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/self/task/%d/stat", (int)tid);
	file = fopen(path, "r");
	if (!file)
		return 'X';
	if (!fgets(text, sizeof(text), file))
		text[0] = '\0';
	fclose(file);
	at = strrchr(text, ')');
	return at ? at[2] : 'X';
}

struct worker {
	pthread_t thread;
	_Atomic pid_t tid;
	void (*work)(void);
};

static void *run_worker(void *arg)
{
	struct worker *w = arg;

	w->tid = gettid();
	w->work();
	return NULL;
}

/* Not inlined: its name is looked for where threads were created. */
static __attribute__((noinline)) void worker_start(struct worker *w, void (*work)(void))
{
	w->tid = 0;
	w->work = work;
	ck_assert_int_eq(pthread_create(&w->thread, NULL, run_worker, w), 0);
	while (!w->tid)
		usleep(1000);
}

static void worker_start_and_sleep(struct worker *w, void (*work)(void))
{
	worker_start(w, work);
	while (state_of(w->tid) != 'S')
		usleep(1000);
}

static __attribute__((noinline)) void lock_and_unlock(void)
{
	pthread_mutex_lock(&mutex);
	pthread_mutex_unlock(&mutex);
	__asm__ volatile(""); /* not a jump */
}

static __attribute__((noinline)) void burn_time(void)
{
	while (!stopping)
		;
}

/* ---- what is written ------------------------------------------------------------------- */

static struct worker waiting[3], burning;

static void start_workers(void)
{
	pthread_mutex_lock(&mutex);
	stopping = false;
	for (int i = 0; i < 3; i++)
		worker_start_and_sleep(&waiting[i], lock_and_unlock);
	worker_start(&burning, burn_time);
}

static void end_workers(void)
{
	stopping = true;
	pthread_mutex_unlock(&mutex);
	for (int i = 0; i < 3; i++)
		pthread_join(waiting[i].thread, NULL);
	pthread_join(burning.thread, NULL);
}

START_TEST(threads_at_one_stack_are_counted_together)
{
	const char *text;

	start_workers();
	text = text_of(TRACE_THREAD_DETAILS_BY_STACK);
	ck_assert_int_eq(strncmp(text, "threads profile: total 5\n", 25), 0);
	expect_text(paragraph(text, "\n3 @ 0x"), "lock_and_unlock");
	expect_text(text, "burn_time");
	end_workers();
}
END_TEST

static sem_t may_leave, may_stay;

static __attribute__((noinline)) void leave_soon(void)
{
	sem_wait(&may_leave);
	__asm__ volatile("");
}

static __attribute__((noinline)) void stay_there(void)
{
	sem_wait(&may_stay);
	__asm__ volatile("");
}

START_TEST(a_window_is_the_change)
{
	struct trace_thread_options options = TRACE_THREAD_OPTIONS_INIT;
	struct trace_writer writer = trace_writer_to_memory(&memory);
	struct worker leaving, staying;
	struct trace_recorder *r;

	options.format = TRACE_PROFILE_FORMAT_TEXT;
	options.deadline_ns = LONG_NS;
	sem_init(&may_leave, 0, 0);
	sem_init(&may_stay, 0, 0);
	ck_assert_msg(trace_flight_start(NULL) == 0, "%s", trace_last_error());
	worker_start_and_sleep(&leaving, leave_soon);
	worker_start_and_sleep(&staying, stay_there);
	ck_assert_msg(trace_recorder_create_thread(&r, &options) == 0, "%s", trace_last_error());
	ck_assert_msg(trace_recorder_start(r, &writer) == 0, "%s", trace_last_error());
	sem_post(&may_leave);
	pthread_join(leaving.thread, NULL);
	start_workers();
	ck_assert_msg(trace_recorder_stop(r) == 0, "%s", trace_last_error());
	ck_assert_int_eq(writer.write(writer.context, "", 1), 0);
	expect_text(memory.bytes, "threads profile: total 3\n");
	expect_text(paragraph(memory.bytes, "\n3 @ 0x"), "lock_and_unlock");
	expect_text(memory.bytes, "burn_time");
	expect_text(strstr(memory.bytes, "\n-1 @ 0x"), "leave_soon");
	ck_assert_msg(!strstr(memory.bytes, "stay_there"), "%s", (char *)memory.bytes);
	sem_post(&may_stay);
	pthread_join(staying.thread, NULL);
	end_workers();
	trace_recorder_destroy(r);
	ck_assert_int_eq(trace_flight_stop(), 0);
}
END_TEST

static sem_t may_leave_plugin;
static void (*plugin_wait)(sem_t *sem);

static void wait_in_plugin(void)
{
	plugin_wait(&may_leave_plugin);
}

static void *open_plugin(void)
{
	void *plugin = dlopen(THREAD_PLUGIN, RTLD_NOW | RTLD_LOCAL);

	ck_assert_msg(plugin != NULL, "%s", dlerror());
	plugin_wait = (void (*)(sem_t *))(uintptr_t)dlsym(plugin, "plugin_wait");
	ck_assert_ptr_nonnull(plugin_wait);
	return plugin;
}

/* What lies where is of the moment when a thread was there; who stays is no change all the same. */
START_TEST(an_object_may_be_closed_within_a_window)
{
	struct trace_thread_options options = TRACE_THREAD_OPTIONS_INIT;
	struct trace_writer writer = trace_writer_to_memory(&memory);
	void *plugin = open_plugin();
	struct worker leaving, staying;
	struct trace_recorder *r;

	options.format = TRACE_PROFILE_FORMAT_TEXT;
	options.deadline_ns = LONG_NS;
	sem_init(&may_leave_plugin, 0, 0);
	sem_init(&may_stay, 0, 0);
	worker_start_and_sleep(&leaving, wait_in_plugin);
	worker_start_and_sleep(&staying, stay_there);
	ck_assert_msg(trace_recorder_create_thread(&r, &options) == 0, "%s", trace_last_error());
	ck_assert_msg(trace_recorder_start(r, &writer) == 0, "%s", trace_last_error());
	sem_post(&may_leave_plugin);
	pthread_join(leaving.thread, NULL);
	ck_assert_int_eq(dlclose(plugin), 0);
	ck_assert_ptr_null(dlopen(THREAD_PLUGIN, RTLD_NOW | RTLD_NOLOAD));
	ck_assert_msg(trace_recorder_stop(r) == 0, "%s", trace_last_error());
	ck_assert_int_eq(writer.write(writer.context, "", 1), 0);
	expect_text(strstr(memory.bytes, "\n-1 @ 0x"), "plugin_wait");
	ck_assert_msg(!strstr(memory.bytes, "stay_there"), "%s", (char *)memory.bytes);
	sem_post(&may_stay);
	pthread_join(staying.thread, NULL);
	trace_recorder_destroy(r);
}
END_TEST

START_TEST(each_thread_says_who_and_how_it_is)
{
	char begin[64];
	const char *text;

	start_workers();
	text = text_of(TRACE_THREAD_DETAILS_EACH);
	snprintf(begin, sizeof(begin), "\"trc::thread_id\": %d,", waiting[0].tid);
	expect_text(text, begin);
	expect_text(text, "\"trc::state\": \"running\"");
	expect_text(text, "\"trc::thread_name\": ");
	end_workers();
}
END_TEST

/* Here threads begin to wait while they are recorded. */
static void expect_paragraphs(void)
{
	const char *text = text_of(TRACE_THREAD_DETAILS_PARAGRAPHS), *one;
	char wanted[128];

	snprintf(wanted, sizeof(wanted), "thread %d \"", waiting[1].tid);
	one = paragraph(text, wanted);
	snprintf(wanted, sizeof(wanted), "[mutex 0x%lx, ", (unsigned long)(uintptr_t)&mutex);
	expect_text(one, wanted);
	snprintf(wanted, sizeof(wanted), ", held by thread %d]:\n", (int)gettid());
	expect_text(one, wanted);
	expect_text(one, "\nlock_and_unlock\n\t");
	expect_text(one, "thread_recorder_test.c:");
	snprintf(wanted, sizeof(wanted), "\ncreated by thread %d\n", (int)gettid());
	expect_text(one, wanted);
	/* A sanitizer's pthread_create comes first. */
	expect_text(strstr(one, wanted), "\nworker_start\n");
	expect_text(strstr(one, wanted), "\nstart_workers\n");
	snprintf(wanted, sizeof(wanted), "thread %d \"", burning.tid);
	one = paragraph(text, wanted);
	expect_text(one, "[running]:\nburn_time\n");
}

START_TEST(a_paragraph_tells_what_is_waited_for_beside_a_flight_recorder)
{
	ck_assert_msg(trace_flight_start(NULL) == 0, "%s", trace_last_error());
	start_workers();
	expect_paragraphs();
	end_workers();
	ck_assert_int_eq(trace_flight_stop(), 0);
}
END_TEST

START_TEST(a_paragraph_tells_what_is_waited_for_beside_a_trace)
{
	char dir[] = "/tmp/trc-threads-XXXXXX", path[64];

	ck_assert_ptr_nonnull(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/t.trc", dir);
	ck_assert_msg(trace_start(path, NULL) == 0, "%s", trace_last_error());
	start_workers();
	expect_paragraphs();
	end_workers();
	ck_assert_msg(trace_stop() == 0, "%s", trace_last_error());
	ck_assert_int_eq(unlink(path), 0);
	ck_assert_int_eq(rmdir(dir), 0);
}
END_TEST

START_TEST(pprof_is_compressed)
{
	struct trace_thread_options options = TRACE_THREAD_OPTIONS_INIT;
	const unsigned char *bytes;

	options.details = TRACE_THREAD_DETAILS_EACH;
	bytes = (const unsigned char *)snapshot_of(&options);
	ck_assert_uint_gt(memory.n_bytes, 20);
	ck_assert_uint_eq(bytes[0], 0x1f);
	ck_assert_uint_eq(bytes[1], 0x8b);
}
END_TEST

START_TEST(wrong_configs_are_refused)
{
	struct trace_thread_options options = TRACE_THREAD_OPTIONS_INIT;
	struct trace_writer writer = trace_writer_to_memory(&memory);
	struct trace_recorder *r = NULL;

	options.details = TRACE_THREAD_DETAILS_PARAGRAPHS;
	ck_assert_int_eq(trace_recorder_create_thread(&r, &options), -EINVAL);
	ck_assert_str_ne(trace_last_error(), "");
	options.details = (enum trace_thread_details)3;
	ck_assert_int_eq(trace_recorder_create_thread(&r, &options), -EINVAL);
	ck_assert_ptr_null(r);
	options.details = TRACE_THREAD_DETAILS_EACH;
	ck_assert_int_eq(trace_recorder_create_thread(&r, &options), 0);
	ck_assert_int_eq(trace_recorder_start(r, &writer), -ENOTSUP);
	trace_recorder_destroy(r);
}
END_TEST

/* ---- threads notice nothing ------------------------------------------------------------ */

enum { WAIT_MS = 1500 };

static uint64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

static struct timespec realtime_in_ms(long ms)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	t.tv_nsec += ms % 1000 * 1000000;
	t.tv_sec += ms / 1000 + t.tv_nsec / 1000000000;
	t.tv_nsec %= 1000000000;
	return t;
}

static const struct timespec wait_time = {WAIT_MS / 1000, WAIT_MS % 1000 * 1000000};

/* Each returns the error that its call failed with, which is what it makes of its time limit. */
static int by_poll(void)
{
	return poll(NULL, 0, WAIT_MS) ? errno : 0;
}
static int by_ppoll(void)
{
	return ppoll(NULL, 0, &wait_time, NULL) ? errno : 0;
}
static int by_select(void)
{
	struct timeval time = {WAIT_MS / 1000, WAIT_MS % 1000 * 1000};

	return select(0, NULL, NULL, NULL, &time) ? errno : 0;
}
static int by_pselect(void)
{
	return pselect(0, NULL, NULL, NULL, &wait_time, NULL) ? errno : 0;
}
static int by_epoll(void)
{
	int epoll = epoll_create1(0), result;
	struct epoll_event event;

	result = epoll_wait(epoll, &event, 1, WAIT_MS) ? errno : 0;
	close(epoll);
	return result;
}
static int by_nanosleep(void)
{
	return nanosleep(&wait_time, NULL) ? errno : 0;
}
static int by_clock_nanosleep(void)
{
	return clock_nanosleep(CLOCK_MONOTONIC, 0, &wait_time, NULL);
}
static int by_semaphore(void)
{
	struct timespec until = realtime_in_ms(WAIT_MS);
	sem_t sem;

	sem_init(&sem, 0, 0);
	return sem_timedwait(&sem, &until) && errno == ETIMEDOUT ? 0 : errno;
}
static int by_condition(void)
{
	pthread_mutex_t own = PTHREAD_MUTEX_INITIALIZER;
	pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
	struct timespec until = realtime_in_ms(WAIT_MS);
	int result;

	pthread_mutex_lock(&own);
	result = pthread_cond_timedwait(&cond, &own, &until);
	pthread_mutex_unlock(&own);
	return result == ETIMEDOUT ? 0 : result;
}
static int by_signal(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR2);
	return sigtimedwait(&set, NULL, &wait_time) < 0 && errno == EAGAIN ? 0 : errno;
}
static int by_receiving(void)
{
	struct timeval limit = {WAIT_MS / 1000, WAIT_MS % 1000 * 1000};
	int pair[2], result;
	char byte;

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair))
		return errno;
	setsockopt(pair[0], SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
	result = recv(pair[0], &byte, 1, 0) < 0 && errno == EAGAIN ? 0 : errno;
	close(pair[0]);
	close(pair[1]);
	return result;
}
static int by_reading(void)
{
	int ends[2], result;
	char byte;

	if (pipe(ends))
		return errno;
	if (fork() == 0) { /* who writes later */
		usleep(WAIT_MS * 1000);
		_exit(write(ends[1], "x", 1) != 1);
	}
	result = read(ends[0], &byte, 1) == 1 ? 0 : errno;
	close(ends[0]);
	close(ends[1]);
	return result;
}

/* More than a pipe holds: a part has been written while it waits. */
static int by_writing(void)
{
	enum { N = 1 << 20 };
	static char bytes[N];
	int ends[2], result;

	if (pipe(ends))
		return errno;
	if (fork() == 0) { /* who reads later */
		close(ends[1]);
		usleep(WAIT_MS * 1000);
		while (read(ends[0], bytes, sizeof(bytes)) > 0)
			;
		_exit(0);
	}
	result = write(ends[1], bytes, N) == N ? 0 : EIO;
	close(ends[0]);
	close(ends[1]);
	return result;
}
/* A part is there already. */
static int by_receiving_all(void)
{
	int pair[2], result;
	char bytes[6];

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) || write(pair[1], "xxx", 3) != 3)
		return errno;
	if (fork() == 0) {
		usleep(WAIT_MS * 1000);
		_exit(write(pair[1], "xxx", 3) != 3);
	}
	result = recv(pair[0], bytes, sizeof(bytes), MSG_WAITALL) == sizeof(bytes) ? 0 : EIO;
	close(pair[0]);
	close(pair[1]);
	return result;
}

static const struct {
	const char *name;
	int (*wait)(void);
} waits[] = {
	{"poll", by_poll},
	{"ppoll", by_ppoll},
	{"select", by_select},
	{"pselect", by_pselect},
	{"epoll_wait", by_epoll},
	{"nanosleep", by_nanosleep},
	{"clock_nanosleep", by_clock_nanosleep},
	{"sem_timedwait", by_semaphore},
	{"pthread_cond_timedwait", by_condition},
	{"sigtimedwait", by_signal},
	{"recv", by_receiving},
	{"read", by_reading},
	{"write", by_writing},
	{"recv of all", by_receiving_all},
};
enum { N_WAITS = sizeof(waits) / sizeof(waits[0]) };

struct waiter {
	pthread_t thread;
	_Atomic pid_t tid;
	int i;
	int result;
	uint64_t lasted_ms;
};

static void *wait_in_thread(void *arg)
{
	struct waiter *w = arg;
	uint64_t since_ms = now_ms();

	w->tid = gettid();
	w->result = waits[w->i].wait();
	w->lasted_ms = now_ms() - since_ms;
	return NULL;
}

static volatile sig_atomic_t handled;

static void on_prof(int number)
{
	handled++;
}

/* All wait while profiles are taken, one after the other. */
static void wait_while_profiles_are_taken(void)
{
	const uint64_t since_ms = now_ms();
	struct waiter w[N_WAITS];
	bool in_time; /* or calls went on, and may end with a part done, while their threads were asked */

	for (int i = 0; i < N_WAITS; i++) {
		w[i].tid = 0;
		w[i].i = i;
		ck_assert_int_eq(pthread_create(&w[i].thread, NULL, wait_in_thread, &w[i]), 0);
	}
	for (int i = 0; i < N_WAITS; i++)
		while (!w[i].tid || (state_of(w[i].tid) != 'S' && state_of(w[i].tid) != 'X'))
			usleep(1000);
	for (int i = 0; i < 4; i++)
		expect_text(text_of(TRACE_THREAD_DETAILS_BY_STACK), "threads profile: total ");
	in_time = now_ms() - since_ms < WAIT_MS;
	for (int i = 0; i < N_WAITS; i++) {
		pthread_join(w[i].thread, NULL);
		if (in_time || (waits[i].wait != by_writing && waits[i].wait != by_receiving_all))
			ck_assert_msg(!w[i].result, "%s: %s", waits[i].name,
				      strerror(w[i].result));
		/* What is left of a time never gets less; usleep() of the child is not exact. */
		ck_assert_msg(w[i].lasted_ms >= WAIT_MS - 20, "%s: %d ms", waits[i].name,
			      (int)w[i].lasted_ms);
	}
}

START_TEST(calls_that_began_before_recording_do_not_fail)
{
	signal(SIGPROF, on_prof);
	wait_while_profiles_are_taken();
	ck_assert_int_eq(handled, 0);
	/* It is the program's still. */
	ck_assert_int_eq(raise(SIGPROF), 0);
	ck_assert_int_eq(handled, 1);
}
END_TEST

START_TEST(calls_that_are_recorded_do_not_fail)
{
	signal(SIGPROF, on_prof);
	ck_assert_msg(trace_flight_start(NULL) == 0, "%s", trace_last_error());
	wait_while_profiles_are_taken();
	ck_assert_int_eq(trace_flight_stop(), 0);
	ck_assert_int_eq(handled, 0);
}
END_TEST

/* ---- where a filter forbids threads ----------------------------------------------------- */

static void *wait_for_ever(void *unused)
{
	for (;;)
		pause();
	return unused;
}

/* So many that others would help to look at them. */
static void many_threads(void)
{
	enum { N = 1100, STACK_BYTES = 1 << 16 };
	pthread_attr_t attr;
	pthread_t thread;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK_BYTES);
	for (int i = 0; i < N; i++)
		ck_assert_int_eq(pthread_create(&thread, &attr, wait_for_ever, NULL), 0);
	pthread_attr_destroy(&attr);
}

/* Of a build with AddressSanitizer: looks for leaks, in a thread of its own, if it has not yet. */
extern void __lsan_do_leak_check(void) __attribute__((weak));

/*
 * From now on whoever creates a thread ends the process.  The end of the process would: leaks are
 * looked for once, so it happens here.
 */
static void forbid_threads(bool by_syscall)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone, 1, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone3, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog filter = {sizeof(code) / sizeof(code[0]), code};

	if (__lsan_do_leak_check)
		__lsan_do_leak_check();
	ck_assert_int_eq(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
	if (by_syscall)
		ck_assert_int_eq(syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &filter), 0);
	else
		ck_assert_int_eq(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter), 0);
}

/* A profile beside a trace needs no thread but to be taken sooner. */
START_TEST(no_thread_helps_behind_a_filter)
{
	many_threads();
	ck_assert_msg(trace_start("/dev/null", NULL) == 0, "%s", trace_last_error());
	forbid_threads(_i);
	expect_text(text_of(TRACE_THREAD_DETAILS_BY_STACK), "wait_for_ever");
}
END_TEST

/* Beside a flight recorder a profile, as a trace, needs one that drains. */
START_TEST(what_needs_a_thread_is_refused_behind_a_filter)
{
	struct trace_thread_options options = TRACE_THREAD_OPTIONS_INIT;
	struct trace_writer writer = trace_writer_to_memory(&memory);
	struct trace_recorder *r;

	ck_assert_msg(trace_flight_start(NULL) == 0, "%s", trace_last_error());
	forbid_threads(_i);
	ck_assert_int_eq(trace_recorder_create_thread(&r, &options), 0);
	ck_assert_int_eq(trace_recorder_snapshot(r, &writer), -EPERM);
	expect_text(trace_last_error(), "thread");
	trace_recorder_destroy(r);
	ck_assert_int_eq(trace_start("/dev/null", NULL), -EPERM);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("thread_recorder");
	TCase *tcase = tcase_create("threads");

	tcase_set_timeout(tcase, 120);
	tcase_add_checked_fixture(tcase, NULL, tear_down);
	tcase_add_test(tcase, threads_at_one_stack_are_counted_together);
	tcase_add_test(tcase, a_window_is_the_change);
	tcase_add_test(tcase, an_object_may_be_closed_within_a_window);
	tcase_add_test(tcase, each_thread_says_who_and_how_it_is);
	tcase_add_test(tcase, a_paragraph_tells_what_is_waited_for_beside_a_flight_recorder);
	tcase_add_test(tcase, a_paragraph_tells_what_is_waited_for_beside_a_trace);
	tcase_add_test(tcase, pprof_is_compressed);
	tcase_add_test(tcase, wrong_configs_are_refused);
	tcase_add_test(tcase, calls_that_began_before_recording_do_not_fail);
	tcase_add_test(tcase, calls_that_are_recorded_do_not_fail);
	tcase_add_loop_test(tcase, no_thread_helps_behind_a_filter, 0, 2);
	tcase_add_loop_test(tcase, what_needs_a_thread_is_refused_behind_a_filter, 0, 2);
	suite_add_tcase(suite, tcase);
	return suite_run(suite);
}
