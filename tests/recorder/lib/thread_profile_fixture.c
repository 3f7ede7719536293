/* thread_profile_fixture.c - see thread_profile_fixture.h. */
#include <linux/futex.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <trc/trace.h>
#include "format/raw.h"
#include "recorder/ring/rec.h"
#include "recorder/sampling/sample.h"
#include "thread_profile_fixture.h"

struct trc_thread_profile *profile;

/* ---- threads that do something --------------------------------------------------------- */

static void *run_worker(void *arg)
{
	struct worker *w = arg;

	w->tid = (uint32_t)gettid();
	w->work(w);
	return NULL;
}

void worker_start(struct worker *w, void (*work)(struct worker *))
{
	memset(w, 0, sizeof(*w));
	w->work = work;
	sem_init(&w->go_on, 0, 0);
	ck_assert_int_eq(pthread_create(&w->thread, NULL, run_worker, w), 0);
	while (!w->tid)
		usleep(1000);
}

void worker_end(struct worker *w)
{
	w->stop = true;
	sem_post(&w->go_on);
	worker_go_on_hidden(w);
	pthread_join(w->thread, NULL);
	sem_destroy(&w->go_on);
}

/* The state that /proc tells of a thread. */
char state_of(uint32_t tid)
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

void wait_until_it_sleeps(const struct worker *w)
{
	while (state_of(w->tid) != 'S')
		usleep(1000);
}

/* Also across handlers. */
__attribute__((noinline)) void wait_to_go_on(struct worker *w)
{
	while (sem_wait(&w->go_on))
		;
}

/* alloca() takes a frame pointer, by which the frame is found, and the call is made from here. */
__attribute__((noinline)) void wait_hidden(struct worker *w)
{
	volatile size_t n = 64;
	volatile char *room = __builtin_alloca(n);

	*room = 0;
	while (!w->go_on_hidden)
		trc_raw4(SYS_futex, &w->go_on_hidden, FUTEX_WAIT | FUTEX_PRIVATE_FLAG, 0, NULL);
	w->go_on_hidden = 0;
}

void worker_go_on_hidden(struct worker *w)
{
	w->go_on_hidden = 1;
	trc_raw3(SYS_futex, &w->go_on_hidden, FUTEX_WAKE | FUTEX_PRIVATE_FLAG, 1);
}

__attribute__((noinline)) void burn(struct worker *w)
{
	while (!w->stop)
		;
}

int lock_object;

/* As the interposer of a lock that `holder` has. */
__attribute__((noinline)) void park(struct worker *w)
{
	struct trc_wait wait;

	trc_park(&wait, TRC_REASON_MUTEX, &lock_object, (uint32_t)getpid());
	wait_to_go_on(w);
	trc_resume(&wait, 0);
}

/* As the interposer of a call that may take long, with its stack told only when it has. */
__attribute__((noinline)) void wait_unannounced(struct worker *w)
{
	struct trc_wait wait;

	trc_wait_begin(&wait, TRC_REASON_POLL, 77, NULL);
	wait_to_go_on(w);
	trc_wait_end(&wait, 0);
}

__attribute__((noinline)) void wait_unannounced_and_hidden(struct worker *w)
{
	struct trc_wait wait;

	trc_wait_begin(&wait, TRC_REASON_POLL, 77, NULL);
	wait_hidden(w);
	trc_wait_end(&wait, 0);
}

/* ---- the profile ----------------------------------------------------------------------- */

void thread_profile_set_up(void)
{
	ck_assert_msg(trace_flight_start(NULL) == 0, "%s", trace_last_error());
	/* Here that would be the whole program. */
	trc_own_text[0] = trc_own_text[1] = 0;
}

void thread_profile_tear_down(void)
{
	trc_thread_profile_free(profile);
	profile = NULL;
	trace_flight_stop();
}

void take(uint64_t deadline_ns)
{
	trc_thread_profile_free(profile);
	ck_assert_int_eq(trc_thread_profile_take(&profile, deadline_ns), 0);
}

const struct trc_thread_row *row_of(uint32_t tid)
{
	for (uint32_t i = 0; i < profile->n_rows; i++)
		if (profile->row[i].tid == tid)
			return &profile->row[i];
	return NULL;
}

const struct trc_thread_row *expect_row(uint32_t tid, enum trc_thread_is is)
{
	const struct trc_thread_row *row = row_of(tid);

	ck_assert_msg(row != NULL, "thread %u is not in the profile", tid);
	ck_assert_str_eq(trc_thread_is_name(row->is), trc_thread_is_name(is));
	return row;
}

/* That a stack has a return address into this function of ours, which is small. */
void expect_function(const struct trc_thread_row *row, void (*function)(struct worker *))
{
	enum { BYTES_MAX = 1024 };
	uint64_t start = (uintptr_t)function;

	for (uint32_t i = 0; i < row->n_frames; i++)
		if (row->frame[i] > start && row->frame[i] - start < BYTES_MAX)
			return;
	ck_abort_msg("the function is not among %u frames", row->n_frames);
}
