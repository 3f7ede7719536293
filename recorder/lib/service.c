/* service.c - see service.h */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include "recorder/shared/clock.h"
#include "drain_thread.h"
#include "recorder/fold/fold.h"
#include "recorder/drain/leftovers.h"
#include "recorder/ring/rec.h"
#include "recording.h"
#include "recorder/sampling/sample_table.h"

/* Guarded by trc_recording_enter(). */
static unsigned int n_users;
static struct trc_fold *fold;

/* Of all periods at which it is sampled meanwhile. */
static uint32_t service_sample_event(uint32_t number)
{
	return trc_sample_event_first(trc_session_shared(), number);
}

static int service_open_fold(char *why, size_t n_bytes)
{
	const struct trc_fold_options options = {
		.ticks_per_second = trc_clock_ticks_per_second(),
		.n_procs = trc_session_shared()->n_procs,
		.sample_event = service_sample_event,
	};
	int err = trc_fold_open(&fold, &options);

	if (err)
		snprintf(why, n_bytes, "no memory for what recorders count");
	return err;
}

/* As for a trace, but that nobody is waited for, and the environment's wishes for traces and flight
 * recorders are not meant. */
static int service_open_session(char *why, size_t n_bytes)
{
	struct trc_session_options o;
	int err = trc_session_options_init(&o, why, n_bytes);

	if (err)
		return err;
	o.flight = false;
	o.shared_dir = true;
	o.max_bytes = o.window_ns = 0;
	o.n_triggers = o.n_cpu_events = 0;
	trc_leftovers_sweep(o.dir);
	return trc_recording_open(&o, why, n_bytes);
}

int trc_service_drain(char *why, size_t n_bytes)
{
	return trc_drainer_start(trc_session_shared(), NULL, TRC_DRAINER_JOINS_DROPPING, why,
				 n_bytes);
}

static int service_begin(char *why, size_t n_bytes)
{
	int err = trc_recording_any() ? 0 : service_open_session(why, n_bytes);

	if (!err)
		err = service_open_fold(why, n_bytes);
	if (err) {
		trc_recording_close();
		return err;
	}
	trc_drainer_fold(fold);
	if (!trc_recordings.trace_path[0])
		err = trc_service_drain(why, n_bytes);
	if (err) {
		trc_drainer_fold(NULL);
		trc_fold_close(fold);
		fold = NULL;
		trc_recording_close();
		return err;
	}
	/* What has been counted so far is named when it is asked for. */
	atomic_fetch_or_explicit(&trc_session_shared()->flags, TRC_SHARED_KEEP_MODULES,
				 memory_order_relaxed);
	trc_recordings.service = true;
	trc_recording_on();
	return 0;
}

/* The last user has gone. */
static void service_end(void)
{
	bool goes_on = trc_recordings.flight || trc_recordings.trace_path[0];
	char why[200];

	if (!goes_on)
		trc_recording_off();
	if (!trc_recordings.trace_path[0])
		trc_drainer_stop(goes_on, why, sizeof(why));
	trc_drainer_fold(NULL);
	trc_fold_close(fold);
	fold = NULL;
	trc_recordings.service = false;
	trc_recording_close();
}

int trc_service_begin(char *why, size_t n_bytes)
{
	int err = 0;

	if (trc_recorded_elsewhere()) {
		snprintf(
			why, n_bytes,
			"trace-record records this process: trace-record --http serves its profiles");
		return -EBUSY;
	}
	trc_recording_enter();
	if (!n_users)
		err = service_begin(why, n_bytes);
	if (!err)
		n_users++;
	trc_recording_leave();
	return err;
}

void trc_service_end(void)
{
	trc_recording_enter();
	/* 0: a forked child, whose parent had users. */
	if (n_users && !--n_users)
		service_end();
	trc_recording_leave();
}

int trc_service_call(trc_service_fn *fn, void *context)
{
	int err = -ECANCELED;

	trc_recording_enter();
	if (n_users)
		err = trc_drainer_call(fn, context);
	trc_recording_leave();
	return err;
}

void trc_service_exit(void)
{
	trc_recording_enter();
	if (n_users)
		service_end();
	n_users = 0;
	trc_recording_leave();
}

void trc_service_forget(void)
{
	n_users = 0;
	fold = NULL;
}
