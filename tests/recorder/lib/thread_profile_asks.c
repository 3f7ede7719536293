/* thread_profile_asks.c - how threads are asked what they do, and what becomes of questions. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "format/raw.h"
#include "recorder/ring/rec.h"
#include "recorder/sampling/thread_answer.h"
#include "recorder/lib/thread_tasks.h"
#include "tests/stolen.h"
#include "thread_profile_fixture.h"

/* A set of signals in the file of that thread. */
static bool prof_is_in(uint32_t tid, const char *begin)
{
	unsigned long set = 0;
	char path[64], line[256];
	FILE *file;

	snprintf(path, sizeof(path), "/proc/self/task/%u/status", tid);
	file = fopen(path, "r");
	ck_assert_ptr_nonnull(file);
	while (fgets(line, sizeof(line), file))
		if (!strncmp(line, begin, strlen(begin)))
			set = strtoul(line + strlen(begin), NULL, 16);
	fclose(file);
	return set >> (SIGPROF - 1) & 1;
}

static bool signal_is_pending_of(uint32_t tid)
{
	return prof_is_in(tid, "SigPnd:");
}

static bool signal_is_blocked_by(uint32_t tid)
{
	return prof_is_in(tid, "SigBlk:");
}

static void block_prof(int how)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGPROF);
	pthread_sigmask(how, &set, NULL);
}

static void deaf(struct worker *w)
{
	block_prof(SIG_BLOCK);
	wait_hidden(w);
	block_prof(SIG_UNBLOCK);
	wait_hidden(w);
}

/* As a thread whose child has not executed anything yet: it hears of no signal.  As wait_hidden(). */
static _Atomic pid_t *child_pid; /* in memory that both have */

static void deaf_for_a_child(struct worker *w)
{
	const struct timespec time = {600, 0};
	volatile size_t n = 64;
	volatile char *room = __builtin_alloca(n);
	pid_t child;

	*room = 0;
	child = (pid_t)trc_raw5(SYS_clone, CLONE_VFORK | SIGCHLD, NULL, NULL, NULL, NULL);
	if (!child) {
		syscall(SYS_prctl, PR_SET_PDEATHSIG, SIGKILL);
		*child_pid = (pid_t)syscall(SYS_getpid);
		syscall(SYS_nanosleep, &time, NULL);
		syscall(SYS_exit_group, 0);
	}
	w->result = waitpid(child, NULL, 0) == child;
}

/* By a call that nobody would make again.  As wait_hidden(). */
static void sleep_by_system_call(struct worker *w)
{
	struct timespec time = {0, 300000000};
	volatile size_t n = 64;
	volatile char *room = __builtin_alloca(n);

	*room = 0;
	w->result = (int)-trc_raw2(SYS_nanosleep, &time, NULL);
	wait_to_go_on(w);
}

/* The signal of a question that nobody waits for any more finds no cell (thread_answer:W1,
 * thread_answer:W3). */
START_TEST(a_thread_that_does_not_answer_is_listed)
{
	const struct trc_thread_row *row;
	struct worker w;

	child_pid = mmap(NULL, sizeof(*child_pid), PROT_READ | PROT_WRITE,
			 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ck_assert_ptr_ne((void *)child_pid, MAP_FAILED);
	worker_start(&w, deaf_for_a_child);
	while (!*child_pid || state_of(w.tid) != 'D')
		usleep(1000);
	for (int i = 0; i < 2; i++) {
		take(20000000);
		row = expect_row(w.tid, TRC_THREAD_IS_SILENT);
		ck_assert(row->asked);
		ck_assert_uint_eq(row->n_frames, 0);
		ck_assert_str_ne(row->name, "");
		ck_assert_uint_eq(profile->n_silent, 1);
	}
	kill(*child_pid, SIGKILL);
	worker_end(&w);
	ck_assert(w.result);
}
END_TEST

/* Stops us, for longer than the deadline. */
static void stand_still(pid_t parent)
{
	for (int i = 0; i < 4; i++) {
		usleep(100000);
		kill(parent, SIGSTOP);
		usleep(500000);
		kill(parent, SIGCONT);
	}
	_exit(0);
}

/* Who is not on a proc cannot answer, and neither can the others. */
START_TEST(nobody_is_silent_because_all_stood_still)
{
	enum { N = 8 };
	struct worker w[N];
	pid_t parent = getpid(), child;
	int status;

	for (int i = 0; i < N; i++)
		worker_start(&w[i], burn);
	child = fork();
	if (child == 0)
		stand_still(parent);
	while (!waitpid(child, &status, WNOHANG)) {
		uint64_t stolen = stolen_ticks();

		take(300000000);
		/* Some are stopped already when they are looked at. */
		ck_assert_uint_ge(profile->n_asked + profile->n_not_asked, N);
		if (!profile->n_silent)
			continue;
		/* One whose proc alone stands still, for as long, is: that proc's next tick tells. */
		usleep(50000);
		ck_assert_msg(stolen_ticks() > stolen, "%u are silent", profile->n_silent);
	}
	for (int i = 0; i < N; i++)
		worker_end(&w[i]);
}
END_TEST

/* Its signal would be pending until it is sent to the next program, or for ever. */
START_TEST(a_thread_that_blocks_the_signal_is_not_asked)
{
	const struct trc_thread_row *row;
	struct worker w;

	worker_start(&w, deaf);
	wait_until_it_sleeps(&w);
	take(LONG_NS);
	row = expect_row(w.tid, TRC_THREAD_IS_WAITING);
	ck_assert(row->not_asked && !row->asked);
	ck_assert_uint_eq(row->reason, TRC_REASON_FUTEX);
	ck_assert_uint_eq(row->n_frames, 1);
	expect_function(row, wait_hidden);
	ck_assert_str_ne(row->name, "");
	ck_assert_uint_eq(profile->n_silent, 0);
	ck_assert_uint_eq(profile->n_not_asked, 1);
	ck_assert(!signal_is_pending_of(w.tid));
	worker_go_on_hidden(&w);
	while (signal_is_blocked_by(w.tid))
		usleep(1000);
	take(LONG_NS);
	row = row_of(w.tid);
	ck_assert(row->asked);
	ck_assert_uint_gt(row->n_frames, 0);
	worker_end(&w);
}
END_TEST

/* Nobody knows what they are at. */
START_TEST(without_descriptors_nobody_is_asked)
{
	const struct trc_thread_row *row;
	struct rlimit limit, few;
	struct worker w;
	int fd;

	worker_start(&w, wait_to_go_on);
	wait_until_it_sleeps(&w);
	ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &limit), 0);
	/* All but one, which is the directory's. */
	fd = dup(0);
	close(fd);
	few = (struct rlimit){(rlim_t)fd + 1, limit.rlim_max};
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &few), 0);
	take(LONG_NS);
	setrlimit(RLIMIT_NOFILE, &limit);
	row = row_of(w.tid);
	ck_assert_ptr_nonnull(row);
	ck_assert(row->not_asked && !row->asked);
	ck_assert_uint_eq(profile->n_asked, 0);
	worker_end(&w);
}
END_TEST

START_TEST(a_call_that_would_fail_is_left_alone)
{
	const struct trc_thread_row *row;
	struct worker w;

	worker_start(&w, sleep_by_system_call);
	wait_until_it_sleeps(&w);
	take(LONG_NS);
	row = row_of(w.tid);
	ck_assert_ptr_nonnull(row);
	if (row->not_asked) { /* on a machine that is slow it may have slept enough */
		ck_assert(!row->asked);
		ck_assert_int_eq(row->is, TRC_THREAD_IS_WAITING);
		ck_assert_uint_eq(row->reason, TRC_REASON_SLEEP);
		ck_assert_uint_eq(row->n_frames, 1);
		ck_assert_uint_eq(profile->n_not_asked, 1);
	}
	worker_end(&w);
	ck_assert_int_eq(w.result, 0);
}
END_TEST

/* thread_answer:W4: the kernel sends the signal, but not what came with it. */
START_TEST(questions_arrive_without_room_for_pending_signals)
{
	struct rlimit limit, none;
	struct worker w;

	worker_start(&w, burn);
	ck_assert_int_eq(getrlimit(RLIMIT_SIGPENDING, &limit), 0);
	none = (struct rlimit){0, limit.rlim_max};
	ck_assert_int_eq(setrlimit(RLIMIT_SIGPENDING, &none), 0);
	take(LONG_NS);
	setrlimit(RLIMIT_SIGPENDING, &limit); /* the test's own timers need it */
	expect_function(expect_row(w.tid, TRC_THREAD_IS_RUNNING), burn);
	worker_end(&w);
}
END_TEST

START_TEST(many_threads_are_complete)
{
	enum { N = 200 };
	static struct worker w[N];
	uint32_t n_asked = 0;

	for (int i = 0; i < N; i++)
		worker_start(&w[i], i % 2 ? park : wait_hidden);
	for (int i = 0; i < N; i++)
		wait_until_it_sleeps(&w[i]);
	take(LONG_NS);
	ck_assert_uint_eq(profile->n_rows, N + 1);
	for (int i = 0; i < N; i++) {
		const struct trc_thread_row *row = expect_row(w[i].tid, TRC_THREAD_IS_WAITING);

		expect_function(row, w[i].work);
		n_asked += row->asked;
	}
	ck_assert_uint_eq(n_asked, N / 2);
	ck_assert_uint_eq(profile->n_asked, N / 2);
	for (int i = 0; i < N; i++)
		worker_end(&w[i]);
}
END_TEST

static bool prof_is_pending(void)
{
	sigset_t set;

	sigpending(&set);
	return sigismember(&set, SIGPROF);
}

static siginfo_t take_prof(void)
{
	const struct timespec at_once = {0, 0};
	siginfo_t info;
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGPROF);
	ck_assert_int_eq(sigtimedwait(&set, &info, &at_once), SIGPROF);
	return info;
}

static enum trc_answer_phase phase_of(uint32_t cell)
{
	return TRC_ANSWER_PHASE(trc_answer_cell(cell)->state);
}

/* thread_answer:W4: as above, of a question that nobody waits for any more. */
START_TEST(a_question_that_comes_late_is_not_the_programs)
{
	struct rlimit limit, none;
	siginfo_t info;

	ck_assert_int_eq(trc_answers_setup(), 0);
	ck_assert_int_eq(getrlimit(RLIMIT_SIGPENDING, &limit), 0);
	none = (struct rlimit){0, limit.rlim_max};
	block_prof(SIG_BLOCK);
	ck_assert_int_eq(setrlimit(RLIMIT_SIGPENDING, &none), 0);
	ck_assert_int_eq(trc_answer_ask(0, (uint32_t)gettid()), 0);
	ck_assert(trc_answer_drop(0));
	setrlimit(RLIMIT_SIGPENDING, &limit);
	ck_assert_int_eq(trc_answers_setup(), 0); /* the thread is there still */
	ck_assert_int_eq(phase_of(0), TRC_ANSWER_DROPPED);
	info = take_prof();
	ck_assert_int_eq(info.si_code, SI_USER);
	ck_assert(trc_answer_is_question(&info));
	trc_answer_signal(&info, NULL);
	ck_assert_int_eq(phase_of(0), TRC_ANSWER_FREE);
	/* Once. */
	ck_assert(!trc_answer_is_question(&info));
	block_prof(SIG_UNBLOCK);
}
END_TEST

/* The first signal was answered when the second was sent. */
START_TEST(a_question_that_was_sent_twice_may_come_twice)
{
	siginfo_t lost = {.si_signo = SIGPROF, .si_code = SI_USER};

	ck_assert_int_eq(trc_answers_setup(), 0);
	ck_assert_int_eq(trc_answer_ask(0, (uint32_t)gettid()), 0);
	ck_assert_int_eq(phase_of(0), TRC_ANSWER_ANSWERED);
	ck_assert_int_eq(trc_answer_ask_again(0), 0);
	ck_assert_int_eq(phase_of(0), TRC_ANSWER_ANSWERED);
	trc_answer_give(0);
	ck_assert(trc_answer_is_question(&lost));
	/* Asked anew, it is known by the new cell. */
	ck_assert_int_eq(trc_answer_ask(1, (uint32_t)gettid()), 0);
	ck_assert_int_eq(phase_of(0), TRC_ANSWER_FREE);
	ck_assert(trc_answer_is_question(&lost));
	trc_answer_give(1);
	ck_assert_int_eq(phase_of(1), TRC_ANSWER_FREE);
	ck_assert(!trc_answer_is_question(&lost));
}
END_TEST

static void *ask_oneself(void *arg)
{
	block_prof(SIG_BLOCK);
	ck_assert_int_eq(trc_answer_ask(0, (uint32_t)gettid()), 0);
	ck_assert(trc_answer_drop(0));
	return NULL;
}

START_TEST(cells_are_used_again)
{
	pthread_t thread;

	ck_assert_int_eq(trc_answers_setup(), 0);
	/* The thread ends with its question. */
	pthread_create(&thread, NULL, ask_oneself, NULL);
	pthread_join(thread, NULL);
	ck_assert_int_eq(phase_of(0), TRC_ANSWER_DROPPED);
	/* The kernel may take a moment to be rid of it. */
	for (int i = 0; i < 10000 && phase_of(0) != TRC_ANSWER_FREE; i++) {
		ck_assert_int_eq(trc_answers_setup(), 0);
		usleep(1000);
	}
	ck_assert_int_eq(phase_of(0), TRC_ANSWER_FREE);
	/* An answer that nobody has waited for. */
	ck_assert_int_eq(trc_answer_ask(0, (uint32_t)gettid()), 0);
	ck_assert_int_eq(phase_of(0), TRC_ANSWER_ANSWERED);
	ck_assert_int_eq(trc_answers_setup(), 0);
	ck_assert_int_eq(phase_of(0), TRC_ANSWER_FREE);
}
END_TEST

/* thread_answer:W5: the next program would be ended by it. */
START_TEST(a_question_does_not_outlive_an_exec)
{
	ck_assert_int_eq(trc_answers_setup(), 0);
	block_prof(SIG_BLOCK);
	ck_assert_int_eq(trc_answer_ask(0, (uint32_t)gettid()), 0);
	ck_assert(prof_is_pending());
	ck_assert(trc_sample_exec_begin());
	ck_assert(!prof_is_pending());
	ck_assert_int_eq(trc_answer_ask_again(0), -EAGAIN);
	ck_assert(!prof_is_pending());
	/* It has failed. */
	trc_sample_exec_failed(false);
	ck_assert_int_eq(trc_answer_ask_again(0), 0);
	ck_assert(prof_is_pending());
	block_prof(SIG_UNBLOCK);
	ck_assert_int_eq(phase_of(0), TRC_ANSWER_ANSWERED);
}
END_TEST

/* The program may rely on the numbers of its own, and may close all. */
START_TEST(the_directory_is_out_of_the_way_and_closed_if_it_is_ours)
{
	int next = dup(0), last;
	struct trc_tasks tasks;
	struct stat is;

	ck_assert_int_eq(trc_tasks_open(&tasks), 0);
	last = dup(0);
	ck_assert_int_eq(last, next + 1);
	ck_assert_int_gt(tasks.dir, last);
	trc_tasks_close(&tasks);
	ck_assert_int_ne(fstat(tasks.dir, &is), 0);
	ck_assert_int_eq(trc_tasks_open(&tasks), 0);
	ck_assert_int_eq(dup2(0, tasks.dir), tasks.dir);
	trc_tasks_close(&tasks);
	ck_assert_int_eq(fstat(tasks.dir, &is), 0);
	close(tasks.dir);
	close(last);
	close(next);
}
END_TEST

void thread_profile_asks(TCase *t)
{
	tcase_add_test(t, a_thread_that_does_not_answer_is_listed);
	tcase_add_test(t, nobody_is_silent_because_all_stood_still);
	tcase_add_test(t, a_thread_that_blocks_the_signal_is_not_asked);
	tcase_add_test(t, without_descriptors_nobody_is_asked);
	tcase_add_test(t, a_call_that_would_fail_is_left_alone);
	tcase_add_test(t, questions_arrive_without_room_for_pending_signals);
	tcase_add_test(t, many_threads_are_complete);
	tcase_add_test(t, a_question_that_comes_late_is_not_the_programs);
	tcase_add_test(t, a_question_that_was_sent_twice_may_come_twice);
	tcase_add_test(t, cells_are_used_again);
	tcase_add_test(t, a_question_does_not_outlive_an_exec);
	tcase_add_test(t, the_directory_is_out_of_the_way_and_closed_if_it_is_ours);
}
