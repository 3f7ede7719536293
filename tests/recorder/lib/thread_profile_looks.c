/*
 * thread_profile_looks.c - threads that wait are looked at, and neither asked nor woken.
 *
 * What is found has to be what they would answer.
 */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <setjmp.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include <trc/labels.h>
#include <trc/trace.h>
#include "recorder/unwind/unwind.h"
#include "thread_profile_fixture.h"

/* Who makes a system call is then found by a register of the thread's only, and is asked. */
#ifdef __SANITIZE_ADDRESS__
enum { HAS_FRAME_POINTERS = 1 };
#else
enum { HAS_FRAME_POINTERS = 0 };
#endif

static const struct trc_thread_row *expect_looked_at(const struct worker *w, uint32_t reason)
{
	const struct trc_thread_row *row = expect_row(w->tid, TRC_THREAD_IS_WAITING);

	ck_assert(!row->asked && !row->not_asked);
	ck_assert_uint_eq(row->reason, reason);
	return row;
}

START_TEST(a_thread_that_waits_is_looked_at)
{
	const struct trc_thread_row *row;
	struct worker w;

	worker_start(&w, wait_unannounced);
	wait_until_it_sleeps(&w);
	take(LONG_NS);
	row = expect_looked_at(&w, TRC_REASON_POLL);
	ck_assert_uint_eq(row->object, 77);
	ck_assert(row->has_wait_ns);
	ck_assert_uint_ne(row->serial, 0);
	expect_function(row, wait_unannounced);
	ck_assert_uint_eq(profile->n_asked, 0);
	worker_end(&w);
}
END_TEST

/* It is not of the session. */
START_TEST(a_thread_that_the_recorder_does_not_know_is_looked_at)
{
	const struct trc_thread_row *row;
	struct worker w;

	worker_start(&w, wait_to_go_on);
	wait_until_it_sleeps(&w);
	take(LONG_NS);
	row = expect_looked_at(&w, TRC_REASON_FUTEX);
	ck_assert(!row->has_wait_ns);
	ck_assert_uint_eq(row->serial, 0);
	ck_assert_str_ne(row->name, "");
	expect_function(row, wait_to_go_on);
	worker_end(&w);
}
END_TEST

/* A signal would make it fail: thread_profile:D3. */
static void sleep_by_syscall(struct worker *w)
{
	struct timespec time = {0, 300000000};

	w->result = syscall(SYS_nanosleep, &time, NULL) ? errno : 0;
	wait_to_go_on(w);
}

static void deaf(struct worker *w)
{
	sigset_t all;

	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, NULL);
	wait_to_go_on(w);
}

START_TEST(so_are_those_that_could_not_be_asked)
{
	const struct trc_thread_row *row;
	struct worker w[2];

	worker_start(&w[1], deaf);
	wait_until_it_sleeps(&w[1]);
	worker_start(&w[0], sleep_by_syscall);
	wait_until_it_sleeps(&w[0]);
	take(LONG_NS);
	row = row_of(w[0].tid);
	if (row->reason ==
	    TRC_REASON_SLEEP) /* on a machine that is slow it may have slept enough */
		expect_function(expect_looked_at(&w[0], TRC_REASON_SLEEP), sleep_by_syscall);
	expect_function(expect_looked_at(&w[1], TRC_REASON_FUTEX), deaf);
	ck_assert_uint_eq(profile->n_not_asked, 0);
	for (int i = 0; i < 2; i++)
		worker_end(&w[i]);
	ck_assert_int_eq(w[0].result, 0);
}
END_TEST

/* ---- labels ------------------------------------------------------------------------------ */

static _Atomic int64_t next_number;
static _Atomic int64_t number_of[1 << 22]; /* by tid */

static void labelled(struct worker *w)
{
	struct trace_label label = {"number", NULL, next_number++ % 100, NULL};
	const struct trace_labels *labels;

	number_of[w->tid] = label.number;
	ck_assert_int_eq(trace_labels_create(&labels, NULL, &label, 1), 0);
	trace_labels_set(labels);
	wait_to_go_on(w);
	trace_labels_destroy(trace_labels_set(NULL));
}

static void expect_number(const struct trc_thread_row *row)
{
	ck_assert_uint_eq(row->n_labels, 1);
	ck_assert(row->label->is_number);
	ck_assert_int_eq(row->label->number, number_of[row->tid]);
}

/* More threads than there are slots: those without one keep their labels to themselves. */
START_TEST(labels_are_found_with_and_without_a_slot)
{
	enum { N = 1100 };
	struct worker *w = calloc(N, sizeof(*w));

	for (int i = 0; i < N; i++)
		worker_start(&w[i], labelled);
	for (int i = 0; i < N; i++)
		wait_until_it_sleeps(&w[i]);
	take(LONG_NS);
	ck_assert_uint_eq(profile->n_asked, 0);
	for (int i = 0; i < N; i++) {
		const struct trc_thread_row *row = expect_looked_at(&w[i], TRC_REASON_FUTEX);

		expect_number(row);
		ck_assert_uint_ne(row->serial, 0);
	}
	for (int i = 0; i < N; i++)
		worker_end(&w[i]);
	free(w);
}
END_TEST

/* thread_profile:K3: what it has in force it alone can tell the session. */
START_TEST(labels_from_before_the_recording_are_asked_for)
{
	struct worker w;

	worker_start(&w, labelled);
	wait_until_it_sleeps(&w);
	thread_profile_set_up();
	for (int i = 0; i < 2; i++) {
		const struct trc_thread_row *row;

		wait_until_it_sleeps(&w); /* again: who was asked is awake for a moment */
		take(LONG_NS);
		row = expect_row(w.tid, TRC_THREAD_IS_WAITING);
		ck_assert_int_eq(row->asked, !i); /* then it is known */
		expect_number(row);
	}
	thread_profile_tear_down();
	worker_end(&w);
}
END_TEST

/* ---- as they would answer ---------------------------------------------------------------- */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;

static void wait_for_a_condition(struct worker *w)
{
	pthread_mutex_lock(&lock);
	while (!w->stop)
		pthread_cond_wait(&changed, &lock);
	pthread_mutex_unlock(&lock);
}

/* glibc's read() keeps no register that the caller's frame could be found by. */
static void read_from_a_pipe(struct worker *w)
{
	int fd[2];
	char byte;

	ck_assert_int_eq(pipe(fd), 0);
	w->result = fd[1];
	ck_assert_int_eq(read(fd[0], &byte, 1), 1);
	close(fd[0]);
	close(fd[1]);
}

/* On a stack that no thread has told of. */
static struct worker *interrupted;

static void wait_in_a_handler(int number)
{
	wait_to_go_on(interrupted);
}

static void be_interrupted(struct worker *w)
{
	const struct sigaction action = {.sa_handler = wait_in_a_handler, .sa_flags = SA_ONSTACK};
	static char room[65536];
	const stack_t stack = {.ss_sp = room, .ss_size = sizeof(room)},
		      none = {.ss_flags = SS_DISABLE};

	interrupted = w;
	sigaltstack(&stack, NULL);
	sigaction(SIGUSR1, &action, NULL);
	pthread_kill(pthread_self(), SIGUSR1);
	sigaltstack(&none, NULL);
}

static void deep(struct worker *w, int depth)
{
	if (depth)
		deep(w, depth - 1);
	else
		wait_to_go_on(w);
	__asm__ volatile("" ::: "memory"); /* no jump */
}

static void wait_deep_down(struct worker *w)
{
	deep(w, 300);
}

/* From now on nobody is told where another thread keeps what. */
static void forbid_to_look(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_get_robust_list, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog filter = {sizeof(code) / sizeof(code[0]), code};

	ck_assert_int_eq(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
	ck_assert_int_eq(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter), 0);
}

static void expect_same(const struct trc_thread_row *seen, const uint64_t *frame, uint32_t n_frames)
{
	ck_assert(seen->asked);
	ck_assert_uint_eq(seen->n_frames, n_frames);
	ck_assert_mem_eq(seen->frame, frame, n_frames * sizeof(*frame));
}

START_TEST(they_would_answer_the_same)
{
	static void (*const work[])(struct worker *) = {wait_to_go_on,	  wait_for_a_condition,
							wait_unannounced, read_from_a_pipe,
							be_interrupted,	  wait_deep_down};
	enum { N = sizeof(work) / sizeof(work[0]) };
	uint64_t frame[N][TRC_STACK_DEPTH_MAX];
	uint32_t n_frames[N];
	struct worker w[N];

	for (int i = 0; i < N; i++)
		worker_start(&w[i], work[i]);
	for (int i = 0; i < N; i++)
		wait_until_it_sleeps(&w[i]);
	take(LONG_NS);
	for (int i = 0; i < N; i++) {
		const struct trc_thread_row *row = row_of(w[i].tid);

		ck_assert_msg(!row->asked, "kind %d of thread was asked", i);
		n_frames[i] = row->n_frames;
		memcpy(frame[i], row->frame, n_frames[i] * sizeof(frame[0][0]));
	}
	forbid_to_look();
	take(LONG_NS);
	for (int i = 0; i < N; i++)
		expect_same(row_of(w[i].tid), frame[i], n_frames[i]);
	for (int i = 0; i < N; i++)
		w[i].stop = true;
	pthread_cond_broadcast(&changed);
	ck_assert_int_eq(write(w[3].result, "", 1), 1);
	for (int i = 0; i < N; i++)
		worker_end(&w[i]);
}
END_TEST

START_TEST(by_frame_pointers_all_are_asked)
{
	const struct trc_thread_row *row;
	const char *note;
	struct worker w, slow;

	ck_assert_int_eq(trc_unwind_setup(TRC_UNWIND_FP, &note), 0);
	worker_start(&w, wait_to_go_on);
	wait_until_it_sleeps(&w);
	worker_start(&slow, sleep_by_syscall);
	wait_until_it_sleeps(&slow);
	take(LONG_NS);
	ck_assert(expect_row(w.tid, TRC_THREAD_IS_WAITING)->asked);
	/* One that is not to be asked has the place of its call. */
	row = row_of(slow.tid);
	ck_assert(row->reason != TRC_REASON_SLEEP || (row->not_asked && row->n_frames));
	worker_end(&slow);
	worker_end(&w);
}
END_TEST

/* ---- a storm ----------------------------------------------------------------------------- */

/*
 * Threads that go down by one of 256 ways, wait for a moment, and come up again.  On each way the
 * upper half of the calls is the opposite of the lower half: a stack that is of two ways shows that.
 * Both functions have frames of one size, so that all that the kernel tells is the same on all ways.
 */
enum { WAY_BITS = 8, CALLS = 2 * WAY_BITS, IN_STORM = 6 };
static struct worker in_storm[IN_STORM];
static _Atomic bool has_begun, is_over;
static __thread jmp_buf top;

static void go_down(struct worker *w, uint32_t way, int calls);

enum { FUNCTION_BYTES = 256 };
#define DOWN(name)                                                                                 \
	__attribute__((noinline, aligned(FUNCTION_BYTES))) static void name(                       \
		struct worker *w, uint32_t way, int calls)                                         \
	{                                                                                          \
		go_down(w, way, calls);                                                            \
		__asm__ volatile("" ::: "memory");                                                 \
	}
DOWN(down_a)
DOWN(down_b)

static void wait_a_moment(struct worker *w)
{
	const struct timespec moment = {0, 1000};

	if (w->result % 16 == 0) {
		nanosleep(&moment, NULL);
	} else { /* two threads take turns */
		sem_post(&in_storm[(w - in_storm) ^ 1].go_on);
		wait_to_go_on(w);
	}
	if (w->result & 1)
		longjmp(top, 1);
}

__attribute__((noinline, aligned(FUNCTION_BYTES))) static void go_down(struct worker *w,
								       uint32_t way, int calls)
{
	if (calls == CALLS)
		wait_a_moment(w);
	else if ((way >> calls % WAY_BITS & 1) ^ (calls >= WAY_BITS))
		down_a(w, way, calls + 1);
	else
		down_b(w, way, calls + 1);
	__asm__ volatile("" ::: "memory");
}

/* Some come up by a jump. */
static void storm(struct worker *w)
{
	volatile uint32_t way = w->tid;

	while (!has_begun)
		usleep(1000);
	while (!is_over) {
		way = way * 1664525 + 1013904223;
		w->result = (int)(way >> 16);
		if (!setjmp(top))
			go_down(w, way >> 24, 0);
	}
}

static int which_of(uint64_t frame)
{
	if (frame - 1 - (uintptr_t)down_a < FUNCTION_BYTES)
		return 'a';
	return frame - 1 - (uintptr_t)down_b < FUNCTION_BYTES ? 'b' : 0;
}

/* Returns how many of the calls are there. */
static int expect_one_way(const struct trc_thread_row *row)
{
	int at[CALLS], n = 0;

	for (uint32_t i = 0; i < row->n_frames; i++) {
		int which = which_of(row->frame[i]);

		ck_assert(!which || n < CALLS);
		if (which)
			at[n++] = which;
	}
	for (int i = 0; n == CALLS && i < WAY_BITS; i++)
		ck_assert_msg(at[i] != at[i + WAY_BITS], "the stack of two ways");
	return n;
}

START_TEST(stacks_are_true_while_threads_go_on)
{
	enum { SECONDS = 3 };
	uint32_t n_looked = 0, n_asked = 0;
	time_t until = time(NULL) + SECONDS;
	struct worker *w = in_storm;

	for (int i = 0; i < IN_STORM; i++)
		worker_start(&w[i], storm);
	has_begun = true;
	while (time(NULL) < until) {
		take(LONG_NS);
		for (int i = 0; i < IN_STORM; i++) {
			const struct trc_thread_row *row = row_of(w[i].tid);

			ck_assert_ptr_nonnull(row);
			if (expect_one_way(row) < CALLS)
				continue;
			n_looked += !row->asked;
			n_asked += row->asked;
		}
	}
	is_over = true;
	for (int i = 0; i < IN_STORM; i++)
		worker_end(&w[i]);
	ck_assert_msg(n_looked > 20, "%u stacks by looks, %u by answers", n_looked, n_asked);
}
END_TEST

/* Stacks are unmapped while they are read. */
static void *short_lived(void *unused)
{
	const struct timespec moment = {0, 50000};

	nanosleep(&moment, NULL);
	return NULL;
}

static void *keep_creating(void *unused)
{
	pthread_attr_t attr;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 48 << 20); /* more than the C library keeps */
	while (!is_over) {
		pthread_t thread;

		if (!pthread_create(&thread, &attr, short_lived, NULL))
			pthread_join(thread, NULL);
	}
	return NULL;
}

START_TEST(threads_may_end_meanwhile)
{
	enum { N = 4, SECONDS = 2 };
	time_t until = time(NULL) + SECONDS;
	pthread_t creator[N];

	for (int i = 0; i < N; i++)
		ck_assert_int_eq(pthread_create(&creator[i], NULL, keep_creating, NULL), 0);
	while (time(NULL) < until) {
		take(LONG_NS);
		ck_assert_uint_eq(profile->n_silent, 0);
	}
	is_over = true;
	for (int i = 0; i < N; i++)
		pthread_join(creator[i], NULL);
}
END_TEST

void thread_profile_looks_before(TCase *t)
{
	tcase_add_test(t, labels_from_before_the_recording_are_asked_for);
}

void thread_profile_looks(TCase *t)
{
	tcase_add_test(t, a_thread_that_waits_is_looked_at);
	tcase_add_test(t, a_thread_that_the_recorder_does_not_know_is_looked_at);
	if (!HAS_FRAME_POINTERS) {
		tcase_add_test(t, so_are_those_that_could_not_be_asked);
		tcase_add_test(t, they_would_answer_the_same);
	}
	tcase_add_test(t, labels_are_found_with_and_without_a_slot);
	tcase_add_test(t, by_frame_pointers_all_are_asked);
	tcase_add_test(t, stacks_are_true_while_threads_go_on);
	tcase_add_test(t, threads_may_end_meanwhile);
}
