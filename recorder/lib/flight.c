/*
 * flight.c - the flight recorder's public functions.
 *
 * A snapshot is copied while the gate is held open: the end of the recorder takes the ring away, so
 * it closes the gate and waits until all snapshots are done.  No other thread waits for another.
 */
#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <stdio.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>
#include "trc/trace.h"
#include "recorder/shared/clock.h"
#include "flight_thread.h"
#include "flight_write.h"
#include "recorder/guest/fork.h"
#include "format/raw.h"
#include "own_waits.h"
#include "recorder/ring/rec.h"
#include "recording.h"

enum { BYTES_MIN = 512 << 10 };
#define BYTES_DEFAULT	  (UINT64_C(64) << 20)
#define WINDOW_NS_DEFAULT UINT64_C(10000000000)

/* The gate: how many copy, and whether it is open. A futex word while it is being closed. */
#define GATE_OPEN (UINT32_C(1) << 31)

static struct flight {
	_Atomic uint32_t gate;
	_Atomic bool takes_triggers;
	bool children;
	struct trc_flight_triggers triggers; /* and the window */
	struct trc_session_options session;  /* as was asked for, for children */
	char dir[512];
} flight;

/* ---- the gate -------------------------------------------------------------------------- */

static bool gate_enter(void)
{
	uint32_t seen = atomic_load_explicit(&flight.gate, memory_order_relaxed);

	do {
		if (!(seen & GATE_OPEN))
			return false;
		/* acquire: pairs with the release that opened it: the session is complete. */
	} while (!atomic_compare_exchange_weak_explicit(
		&flight.gate, &seen, seen + 1, memory_order_acquire, memory_order_relaxed));
	return true;
}

static void gate_leave(void)
{
	/* release: pairs with the acquire in gate_close(): the copy is done. */
	if (atomic_fetch_sub_explicit(&flight.gate, 1, memory_order_release) == 1)
		trc_raw3(SYS_futex, &flight.gate, FUTEX_WAKE | FUTEX_PRIVATE_FLAG, INT_MAX);
}

static void gate_close(void)
{
	/* acquire, here and below: pairs with the release in gate_leave(): the copies are done. */
	uint32_t seen = atomic_fetch_and_explicit(&flight.gate, ~GATE_OPEN, memory_order_acquire) &
			~GATE_OPEN;

	while (seen) {
		trc_raw4(SYS_futex, &flight.gate, FUTEX_WAIT | FUTEX_PRIVATE_FLAG, seen, 0);
		seen = atomic_load_explicit(&flight.gate, memory_order_acquire);
	}
}

/* ---- options --------------------------------------------------------------------------- */

static int read_conditions(struct trc_session_options *o, const char *const *on)
{
	char why[200];

	for (; on && *on; on++) {
		if (o->n_triggers == TRC_TRIGGER_SPECS_MAX)
			return trc_api_fail(-EINVAL, "trigger_on", "more conditions than 16");
		if (trc_trigger_parse(&o->trigger[o->n_triggers], *on, why, sizeof(why)))
			return trc_api_fail(-EINVAL, "trigger_on", why);
		if (o->trigger[o->n_triggers].kind == TRC_TRIGGER_CRASH)
			return trc_api_fail(-EINVAL, "trigger_on",
					    "crash: a process that crashes leaves its ring for "
					    "trace-record --recover");
		o->n_triggers++;
	}
	return 0;
}

static int read_triggers(struct trc_flight_triggers *t, struct trc_session_options *o,
			 const struct trace_flight_options *from)
{
	struct trc_file_sink plan;
	char why[200];
	int err;

	o->n_triggers = 0;
	if (!from->trigger_path)
		return from->trigger_on && *from->trigger_on
			       ? trc_api_fail(-EINVAL, "trigger_on", "no trigger_path to write to")
			       : 0;
	err = read_conditions(o, from->trigger_on);
	if (err)
		return err;
	/* A relative path is one of now; and what cannot be written is told now. */
	err = trc_file_sink_plan(&plan, from->trigger_path, why, sizeof(why));
	if (err)
		return trc_api_fail(err, "", why);
	snprintf(t->path, sizeof(t->path), "%s", plan.target);
	memcpy(t->spec, o->trigger, sizeof(t->spec));
	t->n_specs = o->n_triggers;
	t->limits.after_ns = from->trigger_after_ns;
	t->limits.every_ns =
		from->trigger_every_ns ? from->trigger_every_ns : TRC_TRIGGER_EVERY_NS_DEFAULT;
	t->limits.max = !from->trigger_max		? TRC_TRIGGER_MAX_DEFAULT
			: from->trigger_max == UINT_MAX ? UINT64_MAX
							: from->trigger_max;
	return 0;
}

/* The environment first, then what the program says itself. */
static int flight_options_read(struct trc_session_options *o,
			       const struct trace_flight_options *from)
{
	struct trace_flight_options known = TRACE_FLIGHT_OPTIONS_INIT;
	char why[400];
	int err = trc_session_options_init(o, why, sizeof(why));

	if (err)
		return trc_api_fail(err, "", why);
	err = from ? trc_recording_copy(&known, sizeof(known), from, "TRACE_FLIGHT_OPTIONS_INIT")
		   : 0;
	if (!err)
		err = trc_recording_options(o, (uint32_t)known.locks, (uint32_t)known.unwind,
					    known.min_wait_ns, known.ring_dir);
	memset(&flight.triggers, 0, sizeof(flight.triggers));
	if (!err)
		err = read_triggers(&flight.triggers, o, &known);
	if (err)
		return err;
	o->flight = o->shared_dir = o->eager = true;
	o->ring_bytes = 0;
	if (known.max_bytes)
		o->max_bytes = known.max_bytes;
	if (known.min_age_ns)
		o->window_ns = known.min_age_ns;
	if (!o->window_ns)
		o->window_ns = WINDOW_NS_DEFAULT;
	flight.triggers.window_ns = o->window_ns;
	flight.children = known.children;
	snprintf(flight.dir, sizeof(flight.dir), "%s", o->dir);
	o->dir = flight.dir;
	return 0;
}

/* ---- the session ----------------------------------------------------------------------- */

/* True if the file system says that it has no room for what comes of max_bytes; that may be wrong
 * the next moment. */
static bool is_too_full(const char *dir, uint64_t max_bytes)
{
	long n_procs = sysconf(_SC_NPROCESSORS_CONF);
	struct trc_layout_options layout = {.n_procs = n_procs > 0 ? (uint32_t)n_procs : 1,
					    .max_bytes = max_bytes};
	struct trc_shared plan;
	struct statvfs st;

	memset(&plan, 0, sizeof(plan));
	return !trc_layout_plan(&plan, &layout) && !statvfs(dir, &st) && st.f_blocks &&
	       st.f_frsize && st.f_bavail < plan.total_bytes / st.f_frsize;
}

static bool is_for_want_of_room(int err)
{
	return err == -ENOSPC || err == -ENOMEM || err == -EFAULT || err == -EFBIG;
}

/* Half as much, and half of that, as long as there is no room for more. */
static int flight_open_session(struct trc_session_options *o)
{
	const uint64_t asked = o->max_bytes = o->max_bytes ? o->max_bytes : BYTES_DEFAULT;
	char why[200], note[sizeof(why) + 80];
	int err, first = 0;

	for (;; o->max_bytes /= 2) {
		if (o->max_bytes / 2 >= BYTES_MIN && is_too_full(o->dir, o->max_bytes)) {
			first = first ? first : -ENOSPC;
			snprintf(why, sizeof(why), "%s: %s", o->dir, strerror(ENOSPC));
			continue;
		}
		err = trc_recording_open(o, first ? note : why, sizeof(why));
		if (!is_for_want_of_room(err))
			break;
		if (first)
			snprintf(why, sizeof(why), "%s", note);
		first = first ? first : err;
		if (o->max_bytes / 2 < BYTES_MIN)
			return trc_api_fail(first, "", why);
	}
	if (err) /* at the first try: why it is; later: too small now for so many processors */
		return trc_api_fail(first ? first : err, "", why);
	if (first) {
		snprintf(note, sizeof(note), "%llu KiB of memory instead of %llu",
			 (unsigned long long)(o->max_bytes >> 10),
			 (unsigned long long)(asked >> 10));
		trc_api_fail(0, note, why);
	}
	return 0;
}

/* Beside a trace that runs, or recorders. */
static int join_session(const struct trc_session_options *o)
{
	uint64_t n_bytes = trc_session_shared()->total_bytes;
	char why[200];

	if (o->max_bytes && n_bytes > o->max_bytes) {
		snprintf(why, sizeof(why),
			 "%s that runs has %llu KiB of memory, max_bytes is %llu KiB",
			 trc_recordings.trace_path[0] ? "the trace" : "the recorder",
			 (unsigned long long)(n_bytes >> 10),
			 (unsigned long long)(o->max_bytes >> 10));
		return trc_api_fail(-EFBIG, "", why);
	}
	trc_recording_join(o);
	trc_session_overwrite(true, o->window_ns);
	trc_recording_conditions(o->trigger, o->n_triggers);
	return 0;
}

static void leave_session(void)
{
	trc_recording_heap(TRC_RECORDING_FLIGHT, 0);
	if (trc_recordings.trace_path[0] || trc_recordings.service) {
		trc_session_overwrite(false, 0);
		trc_recording_conditions(NULL, 0);
	} else {
		trc_recording_off();
	}
	trc_recordings.flight = false;
	trc_recording_close();
}

/* ---- start and stop -------------------------------------------------------------------- */

/* The session is there. */
static int flight_begin(void)
{
	char why[200];
	int err = 0;

	trc_recordings.flight = true;
	if (flight.triggers.path[0])
		err = trc_flight_thread_start(&flight.triggers, trc_session_shared(), why,
					      sizeof(why));
	if (err) {
		leave_session();
		return trc_api_fail(err, "", why);
	}
	trc_recording_on();
	trc_recording_heap(TRC_RECORDING_FLIGHT, flight.session.heap_bytes);
	atomic_store_explicit(&flight.takes_triggers, flight.triggers.path[0] != 0,
			      memory_order_relaxed);
	/* release: pairs with gate_enter(). */
	atomic_store_explicit(&flight.gate, GATE_OPEN, memory_order_release);
	return 0;
}

static int flight_start(const struct trace_flight_options *options)
{
	int err;

	if (trc_recordings.flight)
		return trc_api_fail(-EBUSY, "", "a flight recorder runs already");
	err = flight_options_read(&flight.session, options);
	if (err)
		return err;
	err = trc_recording_any() ? join_session(&flight.session)
				  : flight_open_session(&flight.session);
	return err ? err : flight_begin();
}

int trace_flight_start(const struct trace_flight_options *options)
{
	int err;

	trc_api_clear();
	if (trc_recorded_elsewhere())
		return trc_api_fail(0, "",
				    "not started: trace-record records this process, and its ring "
				    "serves snapshots and triggers");
	trc_recording_enter();
	err = flight_start(options);
	trc_recording_leave();
	return err;
}

static int flight_stop(bool at_exit)
{
	char why[200];
	int err;

	if (!trc_recordings.flight)
		return trc_api_fail(-EINVAL, "", "no flight recorder runs");
	err = trc_flight_thread_stop(at_exit, why, sizeof(why));
	gate_close();
	leave_session();
	return err ? trc_api_fail(err, "", why) : 0;
}

int trace_flight_stop(void)
{
	int err;

	trc_api_clear();
	if (trc_recorded_elsewhere())
		return trc_api_fail(0, "", "trace-record goes on recording this process");
	trc_recording_enter();
	err = flight_stop(false);
	trc_recording_leave();
	return err;
}

bool trace_flight_enabled(void)
{
	if (trc_recorded_elsewhere())
		return true;
	/* The switch too: it is off in a child that was forked behind our back. */
	return trc_recording() &&
	       (atomic_load_explicit(&flight.gate, memory_order_relaxed) & GATE_OPEN);
}

/* ---- fork and exit --------------------------------------------------------------------- */

static bool wanted_in_child;

void trc_flight_forget(void)
{
	wanted_in_child = flight.children &&
			  (atomic_load_explicit(&flight.gate, memory_order_relaxed) & GATE_OPEN);
	atomic_store_explicit(&flight.gate, 0, memory_order_relaxed);
	trc_flight_thread_forget();
}

void trc_flight_in_child(void)
{
	const struct trc_session_options *o = &flight.session;
	const char *why;

	if (!wanted_in_child || trc_start_is_forbidden || trc_session_open_in_child(o, &why))
		return;
	flight.triggers.child_pid = (uint32_t)trc_raw1(SYS_getpid, 0);
	if (trc_recording_adopt(o))
		return;
	trc_self.quiet++;
	flight_begin();
	trc_self.quiet--;
}

void trc_flight_exit(void)
{
	trc_recording_enter();
	if (trc_recordings.flight)
		flight_stop(true);
	trc_recording_leave();
}

/* ---- snapshots ------------------------------------------------------------------------- */

/* The ring to copy; flight_return() it. */
static int ring_borrow(const struct trc_shared **shared)
{
	if (trc_recorded_elsewhere()) {
		*shared = trc_elsewhere->ring();
		return *shared ? 0 : trc_api_fail(-EINVAL, "", "the recording has just ended");
	}
	if (!trc_recording() || !gate_enter())
		return trc_api_fail(-EINVAL, "", "no flight recorder runs");
	*shared = trc_session_shared();
	return 0;
}

static void ring_give_back(const struct trc_shared *shared)
{
	if (shared == trc_session_shared())
		gate_leave();
}

/* Under trace-record the unwinder of the object that records is not this one's. */
static int flight_ring_copy(struct trc_snapshot **s, struct trc_own_waits **waits,
			    uint64_t window_ns)
{
	struct trc_snapshot_options options = {.window_ns = window_ns};
	const struct trc_shared *shared;
	const char *why = NULL;
	int err = ring_borrow(&shared);

	if (err)
		return err;
	if (window_ns == TRACE_WINDOW_ALL) {
		options.window_ns = UINT64_MAX;
		options.all = true;
	}
	if (shared == trc_session_shared())
		trc_own_waits_look(waits, shared, true);
	err = trc_snapshot_take(s, shared, shared->total_bytes, &options, &why);
	ring_give_back(shared);
	if (!err)
		trc_snapshot_wait_find(*s, trc_own_waits_find, *waits);
	return err ? trc_api_fail(err, "the ring", why ? why : strerror(-err)) : 0;
}

/* What cannot be written is found out before anything is copied. */
static int ring_snapshot(struct trc_flight_job *job, const char *path, uint64_t window_ns)
{
	struct trc_own_waits *waits = NULL;
	struct trc_snapshot *s;
	char why[256];
	int err = trace_flight_enabled() ? 0 : trc_api_fail(-EINVAL, "", "no flight recorder runs");

	if (!err && path) {
		err = trc_flight_job_open(job, path, why, sizeof(why));
		if (err)
			trc_api_fail(err, "", why);
	}
	if (!err)
		err = flight_ring_copy(&s, &waits, window_ns);
	if (!err) {
		err = trc_flight_job_write(job, s, why, sizeof(why));
		trc_snapshot_free(s);
		if (err)
			trc_api_fail(err, "", why);
	}
	trc_own_waits_free(waits);
	return err;
}

static int snapshot_to(const char *path, int fd, uint64_t window_ns)
{
	struct trc_flight_job *job;
	int saved_errno = errno;
	int err;

	trc_api_clear();
	trc_self.quiet++;
	job = trc_flight_job_new("on request", NULL);
	if (job) {
		job->fd = fd;
		err = ring_snapshot(job, path, window_ns);
		trc_flight_job_free(job);
	} else {
		err = trc_api_fail(-ENOMEM, "", "no memory for a snapshot");
	}
	trc_self.quiet--;
	errno = saved_errno;
	return err;
}

int trace_flight_snapshot(const char *path, const struct trace_snapshot_options *options)
{
	struct trace_snapshot_options known = TRACE_SNAPSHOT_OPTIONS_INIT;
	int err = 0;

	trc_api_clear();
	if (options)
		err = trc_recording_copy(&known, sizeof(known), options,
					 "TRACE_SNAPSHOT_OPTIONS_INIT");
	if (err)
		return err;
	if (path ? !*path : !options)
		return trc_api_fail(-EINVAL, "", "no path to write to");
	if (path && known.fd >= 0)
		return trc_api_fail(-EINVAL, "options",
				    "a path and a descriptor: only one of them");
	if (!path && known.fd < 0)
		return trc_api_fail(-EBADF, "", "no descriptor to write to");
	return snapshot_to(path, known.fd, known.window_ns);
}

/* ---- triggers -------------------------------------------------------------------------- */

int trace_flight_trigger(const char *reason)
{
	size_t n_bytes;

	if (!reason)
		reason = "";
	n_bytes = strnlen(reason, TRC_TRIGGER_TEXT_BYTES - 2);
	if (trc_recorded_elsewhere()) {
		trc_elsewhere->trigger(reason, n_bytes);
		return 0;
	}
	if (!trace_flight_enabled())
		return -EINVAL;
	trc_trigger_fire(reason, n_bytes);
	return atomic_load_explicit(&flight.takes_triggers, memory_order_relaxed) ? 0 : -ENOTSUP;
}
