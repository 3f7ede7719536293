/* api.c - the public functions of <trc/trace.h> but those of the flight recorder (flight.c). */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "config.h"
#include "recorder/ring/annotate_inline.h"
#include "recorder/sampling/cpu_profile.h"
#include "drain_thread.h"
#include "recorder/sampling/heap.h"
#include "recorder/ring/rec.h"
#include "recording.h"
#include "service.h"
#include "recorder/shared/signals.h"

#undef trace_task_begin
#undef trace_region_begin
#undef trace_log
#undef trace_counter_set

const char *trace_version(void)
{
	return PACKAGE_VERSION;
}

bool trace_enabled(void)
{
	return trc_recording() || trc_recorded_elsewhere();
}

/* ---- start and stop ---------------------------------------------------------------------- */

/* The environment first, then what the program says itself. */
static int options_read(struct trc_session_options *o, const struct trace_options *from)
{
	struct trace_options known = TRACE_OPTIONS_INIT;
	char why[400];
	int err = trc_session_options_init(o, why, sizeof(why));

	if (err)
		return trc_api_fail(err, "", why);
	/* What the environment says of flight recorders is not meant for this. */
	o->flight = false;
	o->max_bytes = o->window_ns = 0;
	o->n_triggers = 0;
	o->shared_dir = true;
	if (!from)
		return 0;
	err = trc_recording_copy(&known, sizeof(known), from, "TRACE_OPTIONS_INIT");
	if (!err)
		err = trc_recording_options(o, (uint32_t)known.locks, (uint32_t)known.unwind,
					    known.min_wait_ns, known.ring_dir);
	if (err)
		return err;
	if ((unsigned int)known.on_full > TRACE_ON_FULL_DROP)
		return trc_api_fail(-EINVAL, "options", "a value that is not in its list");
	if (known.heap_sample_bytes > TRC_HEAP_PERIOD_MAX)
		return trc_api_fail(-EINVAL, "options", "heap_sample_bytes is more than 1 TiB");
	if (known.heap_sample_bytes)
		o->heap_bytes = known.heap_sample_bytes;
	if (known.ring_bytes)
		o->ring_bytes = known.ring_bytes;
	if (known.on_full)
		o->on_full = (enum trc_on_full)known.on_full;
	return 0;
}

/* What is worth knowing beside a flight recorder, or recorders. */
static void compare_options(const struct trc_session_options *o)
{
	char why[120];
	const struct trc_session_options *runs = &trc_recordings.options;

	if (o->locks != runs->locks || o->unwind != runs->unwind ||
	    o->min_wait_ns != runs->min_wait_ns) {
		snprintf(why, sizeof(why), "locks, unwind and min_wait_ns are as the %s",
			 trc_recordings.flight ? "flight recorder was told"
					       : "recorders that run have them");
		trc_api_fail(0, "", why);
	}
}

enum { WHY_BYTES = 512 }; /* as much as a drainer says, a path among it */

static int start_alone(const char *path, const struct trc_session_options *o)
{
	char why[WHY_BYTES];
	int err = trc_recording_open(o, why, sizeof(why));

	if (err)
		return trc_api_fail(err, "", why);
	err = trc_drainer_start(trc_session_shared(), path, TRC_DRAINER_ALONE, why, sizeof(why));
	if (!err)
		return 0;
	trc_session_close();
	return trc_api_fail(err, "", why);
}

static int start_beside(const char *path, const struct trc_session_options *o)
{
	enum trc_drainer_how how =
		o->on_full == TRC_ON_FULL_DROP ? TRC_DRAINER_JOINS_DROPPING : TRC_DRAINER_JOINS;
	char why[WHY_BYTES], not_drained[200];
	int err;

	if (trc_recordings.service)
		trc_drainer_stop(true, why, sizeof(why));
	err = trc_drainer_start(trc_session_shared(), path, how, why, sizeof(why));
	if (!err) {
		trc_recording_join(o);
		compare_options(o);
		return 0;
	}
	if (trc_recordings.service)
		trc_service_drain(not_drained, sizeof(not_drained));
	return trc_api_fail(err, "", why);
}

static int recording_begin(const char *path, const struct trace_options *options)
{
	struct trc_session_options o;
	char why[300];
	int err;

	if (trc_recordings.trace_path[0]) {
		snprintf(why, sizeof(why), "a trace into %s runs", trc_recordings.trace_path);
		return trc_api_fail(-EBUSY, path, why);
	}
	err = options_read(&o, options);
	if (!err)
		err = trc_recording_any() ? start_beside(path, &o) : start_alone(path, &o);
	if (err)
		return err;
	snprintf(trc_recordings.trace_path, sizeof(trc_recordings.trace_path), "%s", path);
	trc_recording_on();
	trc_recording_heap(TRC_RECORDING_TRACE, o.heap_bytes);
	return 0;
}

int trace_start(const char *path, const struct trace_options *options)
{
	int err;

	trc_api_clear();
	if (!path || !*path)
		return trc_api_fail(-EINVAL, "", "no path to record into");
	if (trc_recorded_elsewhere())
		return trc_api_fail(0, path,
				    "not written: trace-record records this process, and what it "
				    "would hold goes into that trace");
	trc_recording_enter();
	err = recording_begin(path, options);
	trc_recording_leave();
	return err;
}

/* path NULL: whichever. */
static int recording_end(const char *path)
{
	bool goes_on = trc_recordings.flight || trc_recordings.service;
	char why[WHY_BYTES] = "", not_drained[200];
	int err;

	if (!trc_recordings.trace_path[0])
		return trc_api_fail(-EINVAL, "", "no trace runs");
	if (path && strcmp(path, trc_recordings.trace_path))
		return trc_api_fail(-EINVAL, path, "this trace was ended, and another one runs");
	trc_recording_heap(TRC_RECORDING_TRACE, 0);
	if (!goes_on)
		trc_recording_off();
	err = trc_drainer_stop(goes_on, why, sizeof(why));
	trc_recordings.trace_path[0] = '\0';
	if (trc_recordings.service)
		trc_service_drain(not_drained, sizeof(not_drained));
	trc_recording_close();
	return err ? trc_api_fail(err, "", why) : 0;
}

int trc_trace_stop(const char *path)
{
	int err;

	trc_recording_enter();
	err = recording_end(path);
	trc_recording_leave();
	return err;
}

int trace_stop(void)
{
	trc_api_clear();
	if (trc_recorded_elsewhere())
		return trc_api_fail(0, "", "trace-record goes on recording this process");
	return trc_trace_stop(NULL);
}

/* ---- CPU profiles ------------------------------------------------------------------------- */

/* Who records; NULL, with trace_last_error(): nobody, or an older trace-record. */
static const struct trc_runtime *profiled(void)
{
	if (!trc_recorded_elsewhere())
		return &trc_own_runtime;
	if (trc_elsewhere->struct_bytes >= sizeof(*trc_elsewhere))
		return trc_elsewhere;
	trc_api_fail(0, "", "the trace-record that records this process is older than libtrc");
	return NULL;
}

/* Recorders have samples of their own (recorder_cpu.c). */
static bool is_for_recorders_only(void)
{
	return trc_recordings.service && !trc_recordings.flight && !trc_recordings.trace_path[0];
}

static int no_trace(char *why, size_t n_bytes)
{
	snprintf(why, n_bytes, "no trace and no flight recorder runs, which this would go into");
	return -EINVAL;
}

int trace_sampling_start(const struct trace_sampling_event *events, size_t n)
{
	const struct trc_runtime *r;
	char why[400];
	int err;

	trc_api_clear();
	r = profiled();
	if (!r)
		return -ENOTSUP;
	trc_recording_enter();
	if (r == &trc_own_runtime && is_for_recorders_only())
		err = no_trace(why, sizeof(why));
	else
		err = r->cpu_profile_start(events, n, why, sizeof(why));
	trc_recording_leave();
	return err ? trc_api_fail(err, "", why) : 0;
}

int trace_sampling_stop(void)
{
	const struct trc_runtime *r;
	char why[400];
	int err;

	trc_api_clear();
	r = profiled();
	if (!r)
		return -ENOTSUP;
	trc_recording_enter();
	err = r->cpu_profile_stop(why, sizeof(why));
	trc_recording_leave();
	return err ? trc_api_fail(err, "", why) : 0;
}

/* Neither in children that were forked behind our back nor in those that run in our memory. */
__attribute__((destructor)) static void trace_stop_at_exit(void)
{
	if (!trc_signal_recorded())
		return;
	trc_flight_exit();
	if (trc_recordings.trace_path[0])
		trace_stop();
	trc_service_exit();
}

/* ---- annotations: here, elsewhere, or nowhere --------------------------------------------- */

static inline const struct trc_runtime *runtime(void)
{
	/* relaxed: see trc_recording(). */
	uint32_t api = atomic_load_explicit(&trc_switch.api, memory_order_relaxed);

	if (__builtin_expect(!api, 1))
		return NULL;
	return api == TRC_API_ELSEWHERE ? trc_elsewhere : &trc_own_runtime;
}

trace_task trace_task_begin_at(struct trace_site *site, const char *type, trace_task parent)
{
	const struct trc_runtime *r = runtime();

	return r ? r->task_begin(site, type, parent) : 0;
}

trace_task trace_task_begin(const char *type, trace_task parent)
{
	return trace_task_begin_at(NULL, type, parent);
}

void trace_task_end(trace_task task)
{
	const struct trc_runtime *r = runtime();

	if (r)
		r->task_end(task);
}

void trace_region_begin_at(struct trace_site *site, trace_task task, const char *type)
{
	const struct trc_runtime *r = runtime();

	if (r)
		r->region_begin(site, task, type);
}

void trace_region_begin(trace_task task, const char *type)
{
	trace_region_begin_at(NULL, task, type);
}

void trace_region_end(void)
{
	const struct trc_runtime *r = runtime();

	if (r)
		r->region_end();
}

void trace_log_at(struct trace_site *site, trace_task task, const char *category,
		  const char *message)
{
	const struct trc_runtime *r = runtime();

	if (r)
		r->log(site, task, category, message ? message : "", message ? strlen(message) : 0);
}

void trace_log(trace_task task, const char *category, const char *message)
{
	trace_log_at(NULL, task, category, message);
}

void trace_vlogf(trace_task task, const char *category, const char *format, va_list args)
{
	const struct trc_runtime *r = runtime();
	int saved_errno = errno;
	char text[1024];
	int n;

	if (!r || !r->enabled())
		return;
	n = vsnprintf(text, sizeof(text), format, args);
	if (n >= 0)
		r->log(NULL, task, category, text,
		       (size_t)n < sizeof(text) ? (size_t)n : sizeof(text) - 1);
	errno = saved_errno;
}

void trace_logf(trace_task task, const char *category, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	trace_vlogf(task, category, format, args);
	va_end(args);
}

static __attribute__((noinline)) void counter_slow(struct trace_site *site, const char *name,
						   int64_t value)
{
	const struct trc_runtime *r = runtime();

	if (r)
		r->counter(site, name, value);
}

void trace_counter_set_at(struct trace_site *site, const char *name, int64_t value)
{
	/* relaxed: see trc_recording(). */
	uint32_t session = atomic_load_explicit(&trc_switch.api, memory_order_relaxed);

	if (__builtin_expect(session != 0, 0) && !trc_counter_fast(site, session, value))
		counter_slow(site, name, value);
}

void trace_counter_set(const char *name, int64_t value)
{
	/* relaxed: see trc_recording(). */
	uint32_t session = atomic_load_explicit(&trc_switch.api, memory_order_relaxed);

	if (__builtin_expect(session != 0, 0) && (!name || !trc_counter_met(name, session, value)))
		counter_slow(NULL, name, value);
}

void trace_thread_set_name(const char *name)
{
	const struct trc_runtime *r = runtime();

	if (r)
		r->thread_name(name);
}
