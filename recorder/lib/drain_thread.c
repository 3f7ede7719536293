/* drain_thread.c - see drain_thread.h */
#include <errno.h>
#include <inttypes.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include "recorder/shared/clock.h"
#include "recorder/sampling/cpu_profile.h"
#include "recorder/drain/drain.h"
#include "drain_thread.h"
#include "format/file_sink.h"
#include "recorder/fold/fold.h"
#include "format/raw.h"
#include "recorder/guest/own_thread.h"
#include "recorder/drain/perf_buffer.h"
#include "recorder/ring/rec.h"
#include "recorder/ring/share.h"
#include "recorder/drain/trace_info.h"

enum {
	SLEEP_NS = 5000000,
	LAST_PASSES_MAX = 50,
	SETTLING_PASSES_MAX = 20,
	SETTLING_NS = 500000,
};

enum state { IDLE, STARTING, RUNNING, STOPPING, ENDED };

/* What another thread wants of this one, which has the descriptors. */
enum request { NOTHING, SAMPLE, SAMPLE_STOP, FOLD, CALL, BEING_DONE };

/* What is drained goes there as well; NULL = nowhere.  Changed by the thread if there is one. */
static struct trc_fold *fold;
static uint64_t fold_until; /* ticks up to which it has everything, if nobody drains */
/* The drain that fed it last, finished; NULL = none, or another one has gone on after it. */
static struct trc_drain *left;

static struct drainer {
	_Atomic uint32_t state; /* a futex word */
	int err;
	char error[512];
	pthread_t thread;
	struct trc_shared *shared;
	enum trc_drainer_how how;
	bool has_file;
	bool goes_on; /* recording does, after this trace */
	struct trc_file_sink sink;
	struct trc_writer *writer;
	struct trc_drain *drain;
	struct trc_perf *perf; /* NULL = the trace says why not */
	char no_perf[200];
	struct trc_perf_table sampled;

	_Atomic uint32_t request; /* a futex word; NOTHING again when it is done */
	const struct trc_cpu_event *event;
	uint32_t n_events;
	struct trc_fold *new_fold;
	trc_service_fn *call;
	void *call_context;
	int answer;
	char answer_text[400];
} drainer;

static void drainer_set_state(struct drainer *d, enum state state)
{
	/* release: pairs with each acquire of the state: what was stored before is seen. */
	atomic_store_explicit(&d->state, state, memory_order_release);
	trc_raw3(SYS_futex, &d->state, FUTEX_WAKE | FUTEX_PRIVATE_FLAG, 1);
}

static void wait_while(struct drainer *d, enum state state)
{
	while (atomic_load_explicit(&d->state, memory_order_acquire) == state)
		trc_raw4(SYS_futex, &d->state, FUTEX_WAIT | FUTEX_PRIVATE_FLAG, state, 0);
}

static int drain_say(struct drainer *d, int err, const char *what)
{
	snprintf(d->error, sizeof(d->error), "%s: %s", what, strerror(-err));
	return err;
}

/* When threads run on procs: for the threads that there are, and those that they create. */
static int open_sched(struct drainer *d)
{
	const struct trc_perf_options options = {
		.pid = (int)d->shared->pid, .switches = true, .more_events = true};

	trc_perf_open(&d->perf, &options, d->no_perf, sizeof(d->no_perf));
	return trc_writer_info(d->writer, "sched", d->no_perf);
}

static void pass_kernel(void *context, const struct trc_perf_record *record)
{
	/* Forked children inherit the counters. */
	if (!record->pid || record->pid == drainer.shared->pid)
		trc_drain_kernel(context, record);
}

static uint64_t event_pass(struct drainer *d, bool all)
{
	uint64_t n_events = trc_drain_pass(d->drain);

	if (d->perf)
		trc_perf_pass(d->perf, all, pass_kernel, d->drain);
	if (fold)
		trc_fold_pass(fold, trc_drain_settled(d->drain));
	return n_events;
}

/* ---- the fold -------------------------------------------------------------------------- */

static void drainer_fold_event(void *context, const struct trc_writer *writer,
			       const struct trc_event *event)
{
	trc_fold_event(fold, writer, event);
}

static void drainer_fold_labels(void *context, const struct trc_writer *writer, uint32_t thread,
				uint32_t labels)
{
	trc_fold_thread_labels(fold, writer, thread, labels);
}

static void drainer_fold_wait(void *context, const struct trc_writer *writer,
			      const struct trc_status_entry *wait)
{
	trc_fold_thread_wait(fold, writer, wait);
}

static const struct trc_drain_observer fold_observer = {drainer_fold_event, drainer_fold_labels,
							NULL};
/* What threads have and do the fold knows already. */
static const struct trc_drain_observer fold_observer_goes_on = {drainer_fold_event, NULL, NULL};

/* The drain begins, or the fold does; between two drains nobody looked, and the second may find
 * what was recorded meanwhile, or not. */
static void fold_begin(struct drainer *d, bool goes_on)
{
	uint64_t now = trc_clock_ordered();

	if (!fold)
		return;
	trc_fold_new_tables(fold);
	if (goes_on) {
		trc_drain_observe(d->drain, &fold_observer_goes_on);
		return;
	}
	if (fold_until)
		trc_fold_lost(fold, fold_until, now, 0);
	trc_drain_observe(d->drain, &fold_observer);
	trc_drain_tell_waits(d->drain, drainer_fold_wait, NULL);
}

/* Nothing more comes of this drain.  If another one goes on after it that has the rest, and may
 * have what happened shortly before. */
static void fold_end(struct drainer *d)
{
	if (!fold)
		return;
	fold_until = trc_clock_ordered();
	if (!d->goes_on) {
		trc_fold_pass(fold, fold_until);
		return;
	}
	trc_fold_pass(fold, trc_drain_settled(d->drain));
	left = d->drain;
}

static void fold_leave(void)
{
	trc_drain_close(left);
	left = NULL;
}

static void fold_change(struct drainer *d)
{
	trc_drain_observe(d->drain, NULL);
	fold = d->new_fold;
	fold_until = 0;
	fold_begin(d, false);
}

/* After passes over everything that was recorded before now, but for what a thread is in the middle
 * of for longer than others take. */
static int request_call(struct drainer *d)
{
	uint64_t now = trc_clock_ordered();

	if (!fold)
		return -ECANCELED;
	for (int i = 0; i < SETTLING_PASSES_MAX; i++) {
		event_pass(d, true);
		if (trc_drain_settled(d->drain) >= now)
			break;
		trc_drain_sleep(d->drain, SETTLING_NS);
	}
	trc_fold_pass(fold, now);
	return d->call(d->call_context, fold, now);
}

/* ---- samples that the kernel takes ----------------------------------------------------- */

static void drainer_tell_sampled(struct drainer *d)
{
	trc_perf_table_fill(&d->sampled, d->perf);
	trc_drain_kernel_events(d->drain, d->sampled.entry, d->sampled.n);
}

static int event_sample(struct drainer *d)
{
	int err;

	if (!d->perf) {
		snprintf(d->answer_text, sizeof(d->answer_text),
			 "%s: the trace has none of the kernel's records (%s)", d->event->name,
			 d->no_perf);
		return -ENOTSUP;
	}
	err = trc_perf_add_events(d->perf, d->event, d->n_events, d->answer_text,
				  sizeof(d->answer_text));
	drainer_tell_sampled(d);
	return err;
}

static void drainer_request_answer(struct drainer *d)
{
	uint32_t request = atomic_load_explicit(&d->request, memory_order_relaxed);

	/* acquire: pairs with the release in drain_ask(). */
	if (request == NOTHING ||
	    !atomic_compare_exchange_strong_explicit(&d->request, &request, BEING_DONE,
						     memory_order_acquire, memory_order_relaxed))
		return;
	switch (request) {
	case SAMPLE:
		d->answer = event_sample(d);
		break;
	case SAMPLE_STOP:
		if (!d->perf)
			break;
		event_pass(d, true); /* counters know what found no room */
		trc_perf_stop_events(d->perf);
		break;
	case FOLD:
		fold_change(d);
		break;
	case CALL:
		d->answer = request_call(d);
		break;
	}
	/* release: pairs with the acquire in drain_ask(): the answer is there. */
	atomic_store_explicit(&d->request, NOTHING, memory_order_release);
	trc_raw3(SYS_futex, &d->request, FUTEX_WAKE | FUTEX_PRIVATE_FLAG, 1);
}

/* The request is taken back if the thread comes to its end before it sees it. */
static int drain_ask(struct drainer *d, enum request request)
{
	const struct timespec patience = {0, 10000000};
	uint32_t seen = request;

	/* release: pairs with the acquire in drainer_request_answer(): what is asked for is
	 * there. */
	atomic_store_explicit(&d->request, request, memory_order_release);
	trc_wake_drainer();
	while (seen != NOTHING) {
		trc_raw4(SYS_futex, &d->request, FUTEX_WAIT | FUTEX_PRIVATE_FLAG, seen, &patience);
		seen = request;
		/* acquire: pairs with the release in drainer_set_state(). */
		if (atomic_load_explicit(&d->state, memory_order_acquire) != RUNNING &&
		    atomic_compare_exchange_strong_explicit(&d->request, &seen, NOTHING,
							    memory_order_relaxed,
							    memory_order_relaxed))
			return -ECANCELED;
		/* acquire: pairs with the release in drainer_request_answer(). */
		seen = atomic_load_explicit(&d->request, memory_order_acquire);
	}
	return 0;
}

static int kernel_start(const struct trc_cpu_event *events, unsigned int n, char *error,
			size_t n_bytes)
{
	struct drainer *d = &drainer;
	int err;

	d->event = events;
	d->n_events = n;
	err = drain_ask(d, SAMPLE);
	if (err)
		snprintf(error, n_bytes, "the trace ends");
	else if (d->answer)
		snprintf(error, n_bytes, "%s", d->answer_text);
	return err ? err : d->answer;
}

static void kernel_stop(void)
{
	drain_ask(&drainer, SAMPLE_STOP);
}

static const struct trc_kernel_sampler kernel_sampler = {kernel_start, kernel_stop};

void trc_drainer_fold(struct trc_fold *new_fold)
{
	struct drainer *d = &drainer;

	d->new_fold = new_fold;
	/* acquire: pairs with the release in drainer_set_state(). */
	if (atomic_load_explicit(&d->state, memory_order_acquire) == RUNNING && !drain_ask(d, FOLD))
		return;
	fold_leave();
	fold = new_fold;
	fold_until = 0;
}

int trc_drainer_call(trc_service_fn *fn, void *context)
{
	struct drainer *d = &drainer;
	int err;

	/* acquire: pairs with the release in drainer_set_state(). */
	if (atomic_load_explicit(&d->state, memory_order_acquire) != RUNNING)
		return -ECANCELED;
	d->call = fn;
	d->call_context = context;
	err = drain_ask(d, CALL);
	return err ? err : d->answer;
}

/* ---- the thread ------------------------------------------------------------------------ */

static int drainer_open_writer(struct drainer *d)
{
	struct trc_writer_options options = {
		.clock = trc_clock_kind,
		.ticks_per_second = trc_clock_ticks_per_second(),
		.n_procs = d->shared->n_procs,
		.discard = !d->has_file,
		.memory_bytes = trc_share_of_trace(),
	};
	struct trc_drain_options drain = {.pid = d->shared->pid,
					  .join = d->how != TRC_DRAINER_ALONE,
					  .after = left,
					  .never_wait = d->how == TRC_DRAINER_JOINS_DROPPING};
	int err;

	memcpy(options.trace_uuid, d->shared->uuid, sizeof(options.trace_uuid));
	err = trc_writer_open(&d->writer, &options, trc_file_sink_write, &d->sink);
	if (!err && d->has_file)
		err = trc_trace_info(d->writer, d->shared);
	if (!err && d->has_file)
		err = open_sched(d);
	if (!err)
		err = trc_drain_open(&d->drain, d->shared, d->shared->total_bytes, d->writer,
				     &drain);
	if (err)
		return drain_say(d, err, d->has_file ? d->sink.target : "recorders");
	fold_leave();
	fold_begin(d, trc_drain_goes_on(d->drain));
	return 0;
}

static int drain_set_up(struct drainer *d)
{
	int err = trc_own_thread_begin("trc-drain");

	if (err)
		return drain_say(d, err, "a descriptor table of its own");
	if (d->has_file)
		err = trc_file_sink_open(&d->sink, d->error, sizeof(d->error));
	if (!err)
		err = drainer_open_writer(d);
	return err;
}

static bool has_blocks(const struct drainer *d)
{
	struct trc_writer_totals totals;

	trc_writer_totals(d->writer, &totals);
	return totals.blocks != 0;
}

static void drain_until_stopped(struct drainer *d)
{
	/* acquire: pairs with the release in drainer_set_state(): `goes_on` is known when the
	 * loop ends. */
	while (atomic_load_explicit(&d->state, memory_order_acquire) == RUNNING) {
		uint64_t n_events = event_pass(d, false);

		drainer_request_answer(d);
		/* The first events that reached the disk make it a trace worth having. */
		if (d->sink.file_bytes && !d->sink.error && !d->sink.committed && has_blocks(d))
			trc_file_sink_commit(&d->sink);
		if (!n_events)
			trc_drain_sleep(d->drain, SLEEP_NS);
	}
}

/* A thread may be in the middle of its last record: passes until nothing comes any more.  If
 * recording goes on something always does: what is there now is the rest. */
static void drain_the_rest(struct drainer *d)
{
	if (d->goes_on) {
		event_pass(d, true);
		return;
	}
	for (int i = 0; i < LAST_PASSES_MAX && (event_pass(d, true) || i < 2); i++)
		trc_drain_sleep(d->drain, 500000);
}

/* What went wrong with the file, and how much of what happened is not in it. */
static int say_file(struct drainer *d, int err)
{
	struct trc_writer_totals written;
	struct trc_drain_totals drained;
	uint64_t n;

	trc_writer_totals(d->writer, &written);
	trc_drain_totals(d->drain, &drained);
	n = written.lost_events + drained.lost_events;
	if (has_blocks(d) && (d->sink.committed || d->sink.in_place)) {
		snprintf(d->error, sizeof(d->error),
			 "%s: %s: the trace ends early, %" PRIu64 " event%s not in it",
			 d->sink.target, strerror(-err), n, n == 1 ? " is" : "s are");
		return err;
	}
	/* What could not be renamed is not there, however much of it was written. */
	n += written.events;
	snprintf(d->error, sizeof(d->error), "%s: %s: nothing was kept of %" PRIu64 " event%s",
		 d->sink.target, strerror(-err), n, n == 1 ? "" : "s");
	return err;
}

static void file_complete(struct drainer *d)
{
	int err = trc_drain_finish(d->drain, d->goes_on ? TRC_DRAIN_LEFT : TRC_DRAIN_STOPPED);

	fold_end(d);
	if (!d->has_file)
		return;
	if (!err)
		err = trc_writer_info(d->writer, "ended", "trace_stop()");
	if (!err)
		err = trc_writer_finish(d->writer);
	/* A trace cut short by a full disk is worth having, if there is anything in it. */
	if (!err || has_blocks(d)) {
		int renamed = trc_file_sink_commit(&d->sink);

		err = err ? err : renamed;
	}
	if (err)
		d->err = say_file(d, err);
}

static void drain_tear_down(struct drainer *d)
{
	trc_perf_close(d->perf);
	if (d->drain != left) /* or another drain goes on after it */
		trc_drain_close(d->drain);
	trc_writer_close(d->writer);
	trc_file_sink_close(&d->sink);
	d->perf = NULL;
	d->drain = NULL;
	d->writer = NULL;
}

static void *drain_run(void *arg)
{
	struct drainer *d = arg;

	d->err = drain_set_up(d);
	if (d->err) {
		drain_tear_down(d);
		trc_own_thread_end();
		drainer_set_state(d, ENDED);
		return NULL;
	}
	drainer_set_state(d, RUNNING);
	drain_until_stopped(d);
	drainer_request_answer(d);
	drain_the_rest(d);
	if (d->perf)
		drainer_tell_sampled(d);
	file_complete(d);
	drain_tear_down(d);
	trc_own_thread_end();
	return NULL;
}

int trc_drainer_start(struct trc_shared *shared, const char *path, enum trc_drainer_how how,
		      char *error, size_t n_bytes)
{
	struct drainer *d = &drainer;
	int err;

	memset(d, 0, sizeof(*d));
	d->shared = shared;
	d->how = how;
	d->has_file = path != NULL;
	d->sink.fd = -1;
	err = path ? trc_file_sink_plan(&d->sink, path, error, n_bytes) : 0;
	if (err)
		return err;
	atomic_store_explicit(&d->state, STARTING, memory_order_relaxed);
	err = trc_own_thread_create(&d->thread, drain_run, d);
	if (err) {
		snprintf(error, n_bytes, "a thread to write with: %s", strerror(-err));
		return err;
	}
	wait_while(d, STARTING);
	if (!d->err) {
		trc_cpu_profile_kernel(d->has_file ? &kernel_sampler : NULL);
		return 0;
	}
	pthread_join(d->thread, NULL);
	snprintf(error, n_bytes, "%s", d->error);
	return d->err;
}

int trc_drainer_stop(bool goes_on, char *error, size_t n_bytes)
{
	struct drainer *d = &drainer;

	if (atomic_load_explicit(&d->state, memory_order_relaxed) != RUNNING)
		return 0;
	trc_cpu_profile_kernel(NULL);
	d->goes_on = goes_on; /* published by the state */
	drainer_set_state(d, STOPPING);
	pthread_join(d->thread, NULL);
	atomic_store_explicit(&d->state, IDLE, memory_order_relaxed);
	snprintf(error, n_bytes, "%s", d->error);
	return d->err;
}

void trc_drainer_forget(void)
{
	memset(&drainer, 0, sizeof(drainer));
	fold = NULL; /* session:N3: what the thread was changing is left alone */
	left = NULL;
	trc_cpu_profile_kernel(NULL);
}
