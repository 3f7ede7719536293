/*
 * thread_profile_test.c - what every thread is doing, as threads tell it or their slots do.
 *
 * Without interposers: what they would record is recorded here, and threads wait by libc alone.
 */
#include <check.h>
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <sched.h>
#include <stdatomic.h>
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
#include <trc/labels.h>
#include <trc/trace.h>
#include "recorder/ring/hot.h"
#include "recorder/ring/rec.h"
#include "recorder/profile/kind.h"
#include "recorder/sampling/sample.h"
#include "recorder/sampling/thread_answer.h"
#include "recorder/profile/thread_profile.h"
#include "recorder/lib/thread_tasks.h"
#include "tests/stolen.h"

#define LONG_NS UINT64_C(20000000000) /* more than any answer takes */

static struct trc_thread_profile *profile;

/* ---- threads that do something --------------------------------------------------------- */

struct worker {
	pthread_t thread;
	_Atomic uint32_t tid; /* 0 = not there yet */
	sem_t go_on;
	void (*work)(struct worker *worker);
	_Atomic bool stop;
	int result;
};

static void *run_worker(void *arg)
{
	struct worker *w = arg;

	w->tid = (uint32_t)gettid();
	w->work(w);
	return NULL;
}

static void worker_start(struct worker *w, void (*work)(struct worker *))
{
	memset(w, 0, sizeof(*w));
	w->work = work;
	sem_init(&w->go_on, 0, 0);
	ck_assert_int_eq(pthread_create(&w->thread, NULL, run_worker, w), 0);
	while (!w->tid)
		usleep(1000);
}

static void worker_end(struct worker *w)
{
	w->stop = true;
	sem_post(&w->go_on);
	pthread_join(w->thread, NULL);
	sem_destroy(&w->go_on);
}

/* The state that /proc tells of a thread. */
static char state_of(uint32_t tid)
{
	char path[64], text[256] = "", *at;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/self/task/%u/stat", tid);
	file = fopen(path, "r");
	if (!file)
		return 'X';
	if (!fgets(text, sizeof(text), file))
		text[0] = '\0';
	fclose(file);
	at = strrchr(text, ')');
	return at ? at[2] : 'X';
}

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

static void wait_until_it_sleeps(const struct worker *w)
{
	while (state_of(w->tid) != 'S')
		usleep(1000);
}

/* Also across handlers. */
static __attribute__((noinline)) void wait_to_go_on(struct worker *w)
{
	while (sem_wait(&w->go_on))
		;
}

static __attribute__((noinline)) void burn(struct worker *w)
{
	while (!w->stop)
		;
}

static int lock_object;

/* As the interposer of a lock that `holder` has. */
static __attribute__((noinline)) void park(struct worker *w)
{
	struct trc_wait wait;

	trc_park(&wait, TRC_REASON_MUTEX, &lock_object, (uint32_t)getpid());
	wait_to_go_on(w);
	trc_resume(&wait, 0);
}

/* As the interposer of a call that may take long, with its stack told only when it has. */
static __attribute__((noinline)) void wait_unannounced(struct worker *w)
{
	struct trc_wait wait;

	trc_wait_begin(&wait, TRC_REASON_POLL, 77, NULL);
	wait_to_go_on(w);
	trc_wait_end(&wait, 0);
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
	wait_to_go_on(w);
	block_prof(SIG_UNBLOCK);
	wait_to_go_on(w);
}

/* As a thread whose child has not executed anything yet: it hears of no signal. */
static _Atomic pid_t *child_pid; /* in memory that both have */

static void deaf_for_a_child(struct worker *w)
{
	const struct timespec time = {600, 0};
	pid_t child;

	child = (pid_t)syscall(SYS_clone, CLONE_VFORK | SIGCHLD, NULL, NULL, NULL, NULL);
	if (!child) {
		syscall(SYS_prctl, PR_SET_PDEATHSIG, SIGKILL);
		*child_pid = (pid_t)syscall(SYS_getpid);
		syscall(SYS_nanosleep, &time, NULL);
		syscall(SYS_exit_group, 0);
	}
	w->result = waitpid(child, NULL, 0) == child;
}

/* By a call that nobody would make again. */
static void sleep_by_system_call(struct worker *w)
{
	struct timespec time = {0, 300000000};

	w->result = syscall(SYS_nanosleep, &time, NULL) ? errno : 0;
	wait_to_go_on(w);
}

/* ---- the profile ----------------------------------------------------------------------- */

static void set_up(void)
{
	ck_assert_msg(trace_flight_start(NULL) == 0, "%s", trace_last_error());
	/* Here that would be the whole program. */
	trc_own_text[0] = trc_own_text[1] = 0;
}

static void tear_down(void)
{
	trc_thread_profile_free(profile);
	profile = NULL;
	trace_flight_stop();
}

static void take(uint64_t deadline_ns)
{
	trc_thread_profile_free(profile);
	ck_assert_int_eq(trc_thread_profile_take(&profile, deadline_ns), 0);
}

static const struct trc_thread_row *row_of(uint32_t tid)
{
	for (uint32_t i = 0; i < profile->n_rows; i++)
		if (profile->row[i].tid == tid)
			return &profile->row[i];
	return NULL;
}

static const struct trc_thread_row *expect_row(uint32_t tid, enum trc_thread_is is)
{
	const struct trc_thread_row *row = row_of(tid);

	ck_assert_msg(row != NULL, "thread %u is not in the profile", tid);
	ck_assert_str_eq(trc_thread_is_name(row->is), trc_thread_is_name(is));
	return row;
}

/* That a stack has a return address into this function of ours, which is small. */
static void expect_function(const struct trc_thread_row *row, void (*function)(struct worker *))
{
	enum { BYTES_MAX = 1024 };
	uint64_t start = (uintptr_t)function;

	for (uint32_t i = 0; i < row->n_frames; i++)
		if (row->frame[i] > start && row->frame[i] - start < BYTES_MAX)
			return;
	ck_abort_msg("the function is not among %u frames", row->n_frames);
}

/* ---- tests ----------------------------------------------------------------------------- */

START_TEST(while_nothing_records_there_is_none)
{
	ck_assert_int_eq(trc_thread_profile_take(&profile, 0), -EBUSY);
	ck_assert_ptr_null(profile);
}
END_TEST

START_TEST(a_parked_thread_has_told_its_stack_already)
{
	const struct trc_thread_row *row;
	struct worker w;

	worker_start(&w, park);
	wait_until_it_sleeps(&w);
	take(LONG_NS);
	row = expect_row(w.tid, TRC_THREAD_IS_WAITING);
	ck_assert(!row->asked);
	ck_assert_uint_ne(row->serial, 0);
	ck_assert_uint_eq(row->reason, TRC_REASON_MUTEX);
	ck_assert_uint_eq(row->object, (uintptr_t)&lock_object);
	ck_assert_uint_eq(row->holder_tid, (uint32_t)getpid());
	ck_assert(row->has_wait_ns);
	ck_assert_uint_gt(row->wait_ns, 0);
	expect_function(row, park);
	worker_end(&w);
}
END_TEST

START_TEST(a_running_thread_answers_for_itself)
{
	const struct trc_thread_row *row;
	struct worker w;

	worker_start(&w, burn);
	take(LONG_NS);
	row = expect_row(w.tid, TRC_THREAD_IS_RUNNING);
	ck_assert(row->asked);
	ck_assert_uint_ne(row->serial, 0);
	ck_assert_uint_gt(row->interrupted_ns, 0);
	ck_assert_uint_le(row->interrupted_ns, profile->longest_ns);
	expect_function(row, burn);
	worker_end(&w);
}
END_TEST

START_TEST(a_wait_without_a_recorded_stack_is_asked_for_it)
{
	const struct trc_thread_row *row;
	struct worker w;

	worker_start(&w, wait_unannounced);
	wait_until_it_sleeps(&w);
	take(LONG_NS);
	row = expect_row(w.tid, TRC_THREAD_IS_WAITING);
	ck_assert(row->asked);
	ck_assert_uint_eq(row->reason, TRC_REASON_POLL);
	ck_assert_uint_eq(row->object, 77);
	ck_assert(row->has_wait_ns);
	expect_function(row, wait_unannounced);
	worker_end(&w);
}
END_TEST

/* Here recording begins after the thread does. */
START_TEST(a_thread_that_waits_since_before_recording_is_found)
{
	const struct trc_thread_row *row;
	struct worker w;

	worker_start(&w, wait_to_go_on);
	wait_until_it_sleeps(&w);
	set_up();
	take(LONG_NS);
	row = expect_row(w.tid, TRC_THREAD_IS_WAITING);
	ck_assert(row->asked);
	ck_assert(!row->has_wait_ns);
	ck_assert_uint_eq(row->reason, TRC_REASON_FUTEX);
	ck_assert_uint_ne(row->serial, 0);
	expect_function(row, wait_to_go_on);
	tear_down();
	worker_end(&w);
}
END_TEST

START_TEST(the_caller_has_a_row_and_own_threads_have_none)
{
	char dir[] = "/tmp/trc-threads-XXXXXX", path[64];
	const struct trc_thread_row *row;

	ck_assert_ptr_nonnull(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/t.trc", dir);
	ck_assert_msg(trace_start(path, NULL) == 0, "%s", trace_last_error());
	take(LONG_NS);
	ck_assert_uint_eq(profile->n_rows, 1);
	row = expect_row((uint32_t)gettid(), TRC_THREAD_IS_RUNNING);
	ck_assert(!row->asked);
	ck_assert_uint_gt(row->n_frames, 0);
	ck_assert_int_eq(trace_stop(), 0);
	unlink(path);
	rmdir(dir);
}
END_TEST

static void belong_to_trc(struct worker *w)
{
	trc_sample_own_thread(true);
	wait_to_go_on(w);
	trc_sample_own_thread(false);
	wait_to_go_on(w);
}

/* As when many are connected. */
START_TEST(there_may_be_many_own_threads)
{
	enum { N = 100 };
	static struct worker w[N];

	for (int i = 0; i < N; i++)
		worker_start(&w[i], belong_to_trc);
	for (int i = 0; i < N; i++)
		wait_until_it_sleeps(&w[i]);
	take(LONG_NS);
	ck_assert_uint_eq(profile->n_rows, 1);
	for (int i = 0; i < N; i++) {
		ck_assert(trc_sample_is_own_thread(w[i].tid));
		sem_post(&w[i].go_on);
		while (trc_sample_is_own_thread(w[i].tid))
			usleep(1000);
	}
	take(LONG_NS);
	ck_assert_uint_eq(profile->n_rows, N + 1);
	for (int i = 0; i < N; i++)
		worker_end(&w[i]);
}
END_TEST

static void named_and_labelled(struct worker *w)
{
	const struct trace_label label = {"route", "/search", 0, NULL};
	const struct trace_labels *labels;

	pthread_setname_np(pthread_self(), "indexer");
	ck_assert_int_eq(trace_labels_create(&labels, NULL, &label, 1), 0);
	trace_labels_set(labels);
	burn(w);
	trace_labels_set(NULL);
	trace_labels_destroy(labels);
}

START_TEST(names_and_labels_are_told)
{
	const struct trc_thread_row *row;
	struct worker w;

	worker_start(&w, named_and_labelled);
	usleep(20000); /* it is usually there; else the profile is older than the labels */
	for (;;) {
		take(LONG_NS);
		row = expect_row(w.tid, TRC_THREAD_IS_RUNNING);
		if (row->n_labels)
			break;
		usleep(1000);
	}
	ck_assert_str_eq(row->name, "indexer");
	ck_assert_uint_eq(row->n_labels, 1);
	ck_assert_mem_eq(row->label->key, "route", row->label->key_bytes);
	ck_assert_mem_eq(row->label->value, "/search", row->label->value_bytes);
	ck_assert_uint_eq(row->label->value_bytes, 7);
	worker_end(&w);
}
END_TEST

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
	ck_assert_uint_eq(row->n_frames, 0);
	ck_assert_str_ne(row->name, "");
	ck_assert_uint_eq(profile->n_silent, 0);
	ck_assert_uint_eq(profile->n_not_asked, 1);
	ck_assert(!signal_is_pending_of(w.tid));
	sem_post(&w.go_on);
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
		worker_start(&w[i], i % 2 ? park : wait_to_go_on);
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

static void short_lived(struct worker *w)
{
}

static void *keep_taking(void *arg)
{
	for (int i = 0; i < 30; i++) {
		struct trc_thread_profile *p;

		ck_assert_int_eq(trc_thread_profile_take(&p, LONG_NS), 0);
		ck_assert_uint_ge(p->n_rows, 1);
		ck_assert_uint_eq(p->n_silent, 0);
		trc_thread_profile_free(p);
	}
	return NULL;
}

START_TEST(threads_come_and_go_meanwhile)
{
	pthread_t taker[2];

	for (int i = 0; i < 2; i++)
		pthread_create(&taker[i], NULL, keep_taking, NULL);
	for (int i = 0; i < 300; i++) {
		struct worker w;

		worker_start(&w, short_lived);
		worker_end(&w);
	}
	for (int i = 0; i < 2; i++)
		pthread_join(taker[i], NULL);
}
END_TEST

START_TEST(a_forked_child_has_none)
{
	struct worker w;
	pid_t child;
	int status;

	worker_start(&w, burn);
	take(LONG_NS);
	child = fork();
	if (!child) {
		struct trc_thread_profile *p = NULL;

		_exit(trc_thread_profile_take(&p, 0) == -EBUSY && !p ? 0 : 1);
	}
	waitpid(child, &status, 0);
	ck_assert_int_eq(status, 0);
	worker_end(&w);
}
END_TEST

START_TEST(a_snapshot_during_a_window_is_of_an_instant)
{
	struct trace_thread_options options = TRACE_THREAD_OPTIONS_INIT;
	struct trc_taken now = {.n_folded = 0}, change = {.n_folded = 0};
	char why[TRC_RECORDER_WHY_BYTES] = "";
	struct trace_recorder *r;

	options.deadline_ns = LONG_NS;
	ck_assert_msg(trace_recorder_create_thread(&r, &options) == 0, "%s", trace_last_error());
	trc_self.quiet++;
	ck_assert_msg(trc_recorders_begin(&r, 1, why) == 0, "%s", why);
	usleep(1000);
	ck_assert_msg(trc_recorders_take(&r, 1, &now, true, false, why) == 0, "%s", why);
	ck_assert_int_eq(now.duration_ns, 0);
	ck_assert_int_ne(now.begin_realtime_ns, r->begin_realtime_ns);
	ck_assert_msg(trc_recorders_take(&r, 1, &change, true, true, why) == 0, "%s", why);
	ck_assert_int_ge(change.duration_ns, 1000000);
	ck_assert_int_eq(change.begin_realtime_ns, r->begin_realtime_ns);
	trc_self.quiet--;
	trc_taken_free(&now);
	trc_taken_free(&change);
	trace_recorder_destroy(r);
}
END_TEST

/* ---- without threads -------------------------------------------------------------------- */

START_TEST(creators_and_holders_are_named_by_their_tids)
{
	struct trc_thread_row row[] = {
		{.tid = 100, .serial = 3}, {.tid = 200, .serial = 1}, {.tid = 300}};
	struct trc_thread_profile p = {.row = row, .n_rows = 3};
	const uint32_t creator[] = {1, 0, 7};
	const uint64_t holder[] = {TRC_THREAD_IS_TID | 4711, 3, 0};

	ck_assert_int_eq(trc_thread_profile_resolve(&p, creator, holder), 0);
	ck_assert_uint_eq(row[0].creator_tid, 200);
	ck_assert_uint_eq(row[0].holder_tid, 4711);
	ck_assert_uint_eq(row[1].creator_tid, 0);
	ck_assert_uint_eq(row[1].holder_tid, 100);
	/* 7 has no row, and 0 is nobody, although that is the serial of 300. */
	ck_assert_uint_eq(row[2].creator_tid, 0);
	ck_assert_uint_eq(row[2].holder_tid, 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("thread_profile");
	TCase *alone = tcase_create("before recording"), *rest = tcase_create("recording");
	SRunner *runner = srunner_create(suite);
	int failed;

	tcase_set_timeout(alone, 120);
	tcase_add_test(alone, while_nothing_records_there_is_none);
	tcase_add_test(alone, a_thread_that_waits_since_before_recording_is_found);
	tcase_add_test(alone, a_snapshot_during_a_window_is_of_an_instant);
	tcase_add_test(alone, creators_and_holders_are_named_by_their_tids);
	suite_add_tcase(suite, alone);
	tcase_set_timeout(rest, 120);
	tcase_add_checked_fixture(rest, set_up, tear_down);
	tcase_add_test(rest, a_parked_thread_has_told_its_stack_already);
	tcase_add_test(rest, a_running_thread_answers_for_itself);
	tcase_add_test(rest, a_wait_without_a_recorded_stack_is_asked_for_it);
	tcase_add_test(rest, the_caller_has_a_row_and_own_threads_have_none);
	tcase_add_test(rest, there_may_be_many_own_threads);
	tcase_add_test(rest, names_and_labels_are_told);
	tcase_add_test(rest, a_thread_that_does_not_answer_is_listed);
	tcase_add_test(rest, nobody_is_silent_because_all_stood_still);
	tcase_add_test(rest, a_thread_that_blocks_the_signal_is_not_asked);
	tcase_add_test(rest, without_descriptors_nobody_is_asked);
	tcase_add_test(rest, a_call_that_would_fail_is_left_alone);
	tcase_add_test(rest, questions_arrive_without_room_for_pending_signals);
	tcase_add_test(rest, a_question_does_not_outlive_an_exec);
	tcase_add_test(rest, a_question_that_comes_late_is_not_the_programs);
	tcase_add_test(rest, a_question_that_was_sent_twice_may_come_twice);
	tcase_add_test(rest, cells_are_used_again);
	tcase_add_test(rest, many_threads_are_complete);
	tcase_add_test(rest, the_directory_is_out_of_the_way_and_closed_if_it_is_ours);
	tcase_add_test(rest, threads_come_and_go_meanwhile);
	tcase_add_test(rest, a_forked_child_has_none);
	suite_add_tcase(suite, rest);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
