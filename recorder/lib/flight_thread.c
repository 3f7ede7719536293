/* flight_thread.c - see flight_thread.h */
#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include "recorder/shared/clock.h"
#include "flight_thread.h"
#include "flight_write.h"
#include "own_waits.h"
#include "recorder/guest/own_thread.h"
#include "format/now.h"
#include "format/raw.h"

enum state { IDLE, RUNNING, STOPPING, EXITING };

static struct flight_thread {
	_Atomic uint32_t state;
	pthread_t thread;
	struct trc_shared *shared;
	const struct trc_flight_triggers *triggers;
	struct trc_trigger_watch watch;
	uint64_t n_files;
	bool at_exit; /* of the thread's own: the last snapshots */
	int err;      /* the first; stored by the thread, read when it has ended */
	char error[200];
} flight_thread;

/* ---- a snapshot ------------------------------------------------------------------------ */

static int copy_and_write(struct flight_thread *t, struct trc_flight_job *job, char *why,
			  size_t n_bytes)
{
	const struct trc_snapshot_options options = {.window_ns = t->triggers->window_ns};
	const char *reason = NULL;
	struct trc_own_waits *waits = NULL;
	struct trc_snapshot *s;
	int err;

	trc_own_waits_look(&waits, t->shared, false);
	err = trc_snapshot_take(&s, t->shared, t->shared->total_bytes, &options, &reason);
	if (err) {
		snprintf(why, n_bytes, "%s", reason ? reason : strerror(-err));
	} else {
		trc_snapshot_wait_find(s, trc_own_waits_find, waits);
		err = trc_flight_job_write(job, s, why, n_bytes);
		trc_snapshot_free(s);
	}
	trc_own_waits_free(waits);
	return err;
}

static int triggered_snapshot(struct flight_thread *t, const char *what, const char *trigger,
			      char *why, size_t n_bytes)
{
	struct trc_flight_job *job = trc_flight_job_new(what, trigger);
	char path[TRC_FILE_PATH_BYTES], child[16];
	int err = -ENOMEM;

	snprintf(child, sizeof(child), "%u", (unsigned int)t->triggers->child_pid);
	snprintf(why, n_bytes, "no memory");
	if (job) {
		job->ended = t->at_exit ? "exit()" : NULL;
		job->passed_over = trc_trigger_watch_passed_over(&t->watch);
		err = trc_trigger_path(path, sizeof(path), t->triggers->path,
				       t->triggers->child_pid ? child : NULL, ++t->n_files);
		if (err)
			snprintf(why, n_bytes, "%s", strerror(-err));
		else
			err = trc_flight_job_open(job, path, why, n_bytes);
		if (!err)
			err = copy_and_write(t, job, why, n_bytes);
	}
	trc_flight_job_free(job);
	return err;
}

static void snapshot_and_note(struct flight_thread *t, const char *what, const char *trigger)
{
	char why[sizeof(t->error)];
	int err = triggered_snapshot(t, what, trigger, why, sizeof(why));

	if (!err || t->err)
		return;
	t->err = err;
	memcpy(t->error, why, sizeof(why));
}

/* ---- the thread ------------------------------------------------------------------------ */

static void sleep_until_asked(const struct flight_thread *t, uint32_t seen)
{
	uint64_t ns = trc_trigger_watch_sleep_ns(&t->watch, trc_now_ns(CLOCK_MONOTONIC_RAW));
	const struct timespec timeout = {(time_t)(ns / 1000000000), (long)(ns % 1000000000)};

	/* Not private: requests come by the same address from everywhere, but the word lies in a
	 * file. */
	trc_raw4(SYS_futex, &t->shared->trigger_wake, FUTEX_WAIT, seen,
		 ns == UINT64_MAX ? NULL : &timeout);
}

static void triggers_watch(struct flight_thread *t)
{
	for (;;) {
		/* acquire: pairs with the release of a request, and of the end. */
		uint32_t seen =
			atomic_load_explicit(&t->shared->trigger_wake, memory_order_acquire);
		struct trc_trigger_due due;

		/* acquire: pairs with the release in trc_flight_thread_stop(). */
		if (atomic_load_explicit(&t->state, memory_order_acquire) != RUNNING)
			return;
		if (trc_trigger_watch_look(&t->watch, trc_now_ns(CLOCK_MONOTONIC_RAW),
					   trc_clock_now(), &due))
			snapshot_and_note(t, "trigger", due.text);
		else
			sleep_until_asked(t, seen);
	}
}

static void triggers_serve(struct flight_thread *t)
{
	struct trc_trigger_due due;

	triggers_watch(t);
	/* acquire: pairs with the release in trc_flight_thread_stop(). */
	t->at_exit = atomic_load_explicit(&t->state, memory_order_acquire) == EXITING;
	if (trc_trigger_watch_last(&t->watch, trc_now_ns(CLOCK_MONOTONIC_RAW), trc_clock_now(),
				   &due))
		snapshot_and_note(t, "trigger", due.text);
	if (t->at_exit && trc_trigger_watch_end(&t->watch, TRC_TRIGGER_EXIT))
		snapshot_and_note(t, "exit", "exit");
}

static void *flight_thread_run(void *arg)
{
	struct flight_thread *t = arg;

	t->err = trc_own_thread_begin("trc-flight");
	if (t->err)
		snprintf(t->error, sizeof(t->error), "a descriptor table of its own: %s",
			 strerror(-t->err));
	else
		triggers_serve(t);
	trc_own_thread_end();
	return NULL;
}

int trc_flight_thread_start(const struct trc_flight_triggers *triggers, struct trc_shared *shared,
			    char *error, size_t n_bytes)
{
	struct flight_thread *t = &flight_thread;
	int err;

	memset(t, 0, sizeof(*t));
	t->shared = shared;
	t->triggers = triggers;
	trc_trigger_watch_init(&t->watch, triggers->spec, triggers->n_specs, &triggers->limits);
	/* relaxed: a request made just now is of before or after as it likes. */
	trc_trigger_watch_attach(&t->watch, shared, shared,
				 atomic_load_explicit(&shared->n_triggers, memory_order_relaxed));
	atomic_store_explicit(&t->state, RUNNING, memory_order_relaxed);
	err = trc_own_thread_create(&t->thread, flight_thread_run, t);
	if (!err)
		return 0;
	atomic_store_explicit(&t->state, IDLE, memory_order_relaxed);
	snprintf(error, n_bytes, "a thread to take snapshots with: %s", strerror(-err));
	return err;
}

int trc_flight_thread_stop(bool at_exit, char *error, size_t n_bytes)
{
	struct flight_thread *t = &flight_thread;

	if (atomic_load_explicit(&t->state, memory_order_relaxed) != RUNNING)
		return 0;
	/* release: pairs with the acquires in triggers_watch() and triggers_serve(). */
	atomic_store_explicit(&t->state, at_exit ? EXITING : STOPPING, memory_order_release);
	/* release: pairs with the acquire in triggers_watch(); who sees the new number sees the state. */
	atomic_fetch_add_explicit(&t->shared->trigger_wake, 1, memory_order_release);
	trc_raw3(SYS_futex, &t->shared->trigger_wake, FUTEX_WAKE, INT32_MAX);
	pthread_join(t->thread, NULL);
	atomic_store_explicit(&t->state, IDLE, memory_order_relaxed);
	if (t->err)
		snprintf(error, n_bytes, "%s", t->error);
	return t->err;
}

void trc_flight_thread_forget(void)
{
	memset(&flight_thread, 0, sizeof(flight_thread));
}
