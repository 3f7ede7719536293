/* cpu_profile.c - see cpu_profile.h */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include "trc/trace.h"
#include "cpu_profile.h"
#include "recorder/ring/rec.h"
#include "sample.h"

static _Atomic bool busy; /* somebody starts or stops: guards what follows */

/* What is sampled by signals, and for whom.  Of an event that several want the shortest period is
 * in force: who asked for a longer one thins what comes. */
struct set {
	struct trc_cpu_event event[TRC_CPU_EVENTS_MAX];
	unsigned int n;
};
static struct set base;	      /* for the trace or flight recorder */
static bool base_is_programs; /* trc_cpu_profile_start() asked for it */
static struct set wanted;     /* by recorders */
static struct set in_force;

/* NULL = nobody. */
static const struct trc_kernel_sampler *_Atomic kernel_sampler;
/* It samples something.  All accesses are relaxed: `busy` orders those that start and stop, and
 * whoever changes kernel_sampler does so while nothing is started. */
static _Atomic bool kernel_run;

void trc_cpu_profile_kernel(const struct trc_kernel_sampler *sampler)
{
	/* relaxed: see kernel_run. */
	atomic_store_explicit(&kernel_run, false, memory_order_relaxed);
	/* release: pairs with the acquire in start() and stop_kernel(): what `sampler` points to, and
	 * that nothing runs, is seen by whoever sees it. */
	atomic_store_explicit(&kernel_sampler, sampler, memory_order_release);
}

static int set_fail(int err, char *error, size_t n_bytes, const char *why)
{
	snprintf(error, n_bytes, "%s", why);
	return err;
}

/* ---- events as the program gives them -------------------------------------------------- */

/* The program's structures may be older or newer than this object. */
static int event_copy(struct trace_sampling_event *known, const struct trace_sampling_event *events,
		      size_t i, char *error, size_t n_bytes)
{
	size_t struct_bytes = events->struct_bytes;

	if (struct_bytes < sizeof(size_t) + sizeof(char *) || struct_bytes > 4096)
		return set_fail(-EINVAL, error, n_bytes,
				"struct_bytes is wrong: use TRACE_SAMPLING_EVENT_INIT");
	memset(known, 0, sizeof(*known));
	memcpy(known, (const char *)events + i * struct_bytes,
	       struct_bytes < sizeof(*known) ? struct_bytes : sizeof(*known));
	if (known->struct_bytes != struct_bytes)
		return set_fail(-EINVAL, error, n_bytes, "events of different sizes");
	if (!known->name || !*known->name || strchr(known->name, ','))
		return set_fail(-EINVAL, error, n_bytes, "an event needs a name, and one only");
	if ((unsigned int)known->by > TRACE_SAMPLING_BY_KERNEL)
		return set_fail(-EINVAL, error, n_bytes, "a value of by that is not in its list");
	if (known->period && known->frequency_hz)
		return set_fail(-EINVAL, error, n_bytes, "either a period or a frequency");
	return 0;
}

struct list {
	char text[TRC_CPU_EVENTS_MAX * 80];
	size_t n_bytes;
	struct trace_sampling_event event[TRC_CPU_EVENTS_MAX];
};

static int set_list_add(struct list *list, const struct trace_sampling_event *e, char *error,
			size_t n_bytes)
{
	size_t room = sizeof(list->text) - list->n_bytes;
	char period[24] = "";
	int n;

	if (e->period)
		snprintf(period, sizeof(period), ":%llu", (unsigned long long)e->period);
	n = snprintf(list->text + list->n_bytes, room, "%s%s%s", list->n_bytes ? "," : "", e->name,
		     period);
	if (n < 0 || (size_t)n >= room) {
		snprintf(error, n_bytes, "%.64s...: no event has so long a name", e->name);
		return -EINVAL;
	}
	list->n_bytes += (size_t)n;
	return 0;
}

static int set_rate(struct trc_cpu_event *e, const struct trace_sampling_event *from, char *error,
		    size_t n_bytes)
{
	e->by = (enum trc_sample_by)from->by;
	if (e->is_timer && e->by == TRC_SAMPLE_BY_KERNEL)
		return set_fail(-EINVAL, error, n_bytes,
				"timer: a timer sends a signal: not by the kernel");
	if (!from->frequency_hz)
		return 0;
	if (!e->is_clock || !e->is_preset) {
		snprintf(error, n_bytes, "%s: a frequency is for clocks without a period", e->name);
		return -EINVAL;
	}
	if (from->frequency_hz > TRC_CPU_EVENT_HZ_MAX) {
		snprintf(error, n_bytes, "%s: at most %d samples a second", e->name,
			 TRC_CPU_EVENT_HZ_MAX);
		return -EINVAL;
	}
	e->frequency_hz = from->frequency_hz;
	e->period = 1000000000 / from->frequency_hz;
	e->is_preset = false;
	return 0;
}

/* How many, or -errno. */
static int understand(struct trc_cpu_event *out, const struct trace_sampling_event *events,
		      size_t n, char *error, size_t n_bytes)
{
	struct list list = {.n_bytes = 0};
	char why[80];
	int err = 0, found;

	if (!n)
		return trc_cpu_events_parse("auto", 0, TRC_SAMPLE_BY_AUTO, out, error, n_bytes);
	if (!events)
		return set_fail(-EINVAL, error, n_bytes, "events is NULL, and n is not 0");
	if (n > TRC_CPU_EVENTS_MAX)
		return set_fail(-EINVAL, error, n_bytes, "at most 16 events in a session");
	for (size_t i = 0; !err && i < n; i++) {
		err = event_copy(&list.event[i], events, i, why, sizeof(why));
		if (err)
			snprintf(error, n_bytes, "event %zu: %s", i + 1, why);
		else
			err = set_list_add(&list, &list.event[i], error, n_bytes);
	}
	if (err)
		return err;
	found = trc_cpu_events_parse(list.text, 0, TRC_SAMPLE_BY_AUTO, out, error, n_bytes);
	for (int i = 0; !err && i < found; i++)
		err = set_rate(&out[i], &list.event[i], error, n_bytes);
	return err ? err : found;
}

/* ---- start and stop -------------------------------------------------------------------- */

static bool cpu_profile_enter(void)
{
	/* acquire: pairs with the release in cpu_profile_leave(): what the last caller changed
	 * is seen. */
	if (atomic_exchange_explicit(&busy, true, memory_order_acquire))
		return false;
	trc_self.quiet++;
	return true;
}

static void cpu_profile_leave(void)
{
	trc_self.quiet--;
	/* release: pairs with the acquire in cpu_profile_enter(). */
	atomic_store_explicit(&busy, false, memory_order_release);
}

/* Those that are left to the kernel. */
static int start_kernel(const struct trc_kernel_sampler *sampler, const struct trc_cpu_event *event,
			unsigned int n, char *error, size_t n_bytes)
{
	struct trc_cpu_event by_kernel[TRC_CPU_EVENTS_MAX];
	unsigned int n_by_kernel = 0;
	int err;

	for (unsigned int i = 0; i < n; i++)
		if (event[i].how == TRC_SAMPLE_KERNEL)
			by_kernel[n_by_kernel++] = event[i];
	if (!n_by_kernel)
		return 0;
	err = sampler->start(by_kernel, n_by_kernel, error, n_bytes);
	atomic_store_explicit(&kernel_run, !err, memory_order_relaxed);
	return err;
}

static void stop_kernel(void)
{
	/* acquire: pairs with the release in trc_cpu_profile_kernel(). */
	const struct trc_kernel_sampler *sampler =
		atomic_load_explicit(&kernel_sampler, memory_order_acquire);

	if (atomic_exchange_explicit(&kernel_run, false, memory_order_relaxed) && sampler)
		sampler->stop();
}

/* True if it fits. */
static bool set_add(struct set *set, const struct trc_cpu_event *e)
{
	for (unsigned int i = 0; i < set->n; i++) {
		struct trc_cpu_event *there = &set->event[i];

		if (there->how != e->how || strcmp(there->name, e->name) != 0)
			continue;
		if (e->period < there->period)
			*there = *e;
		return true;
	}
	if (set->n == TRC_CPU_EVENTS_MAX)
		return false;
	set->event[set->n++] = *e;
	return true;
}

static bool set_is_same(const struct set *a, const struct set *b)
{
	if (a->n != b->n)
		return false;
	for (unsigned int i = 0; i < a->n; i++)
		if (a->event[i].how != b->event[i].how ||
		    a->event[i].period != b->event[i].period ||
		    strcmp(a->event[i].name, b->event[i].name) != 0)
			return false;
	return true;
}

/* At most 1-2-5 to each power of ten, for the session's table has few places (sample_table.h).  A
 * timer is not sent below the kernel's tick for that: it expires no sooner. */
static struct trc_cpu_event on_grid(const struct trc_cpu_event *e)
{
	uint64_t tick_ns = e->how == TRC_SAMPLE_TIMER ? trc_cpu_tick_ns() : 0, step = 1;
	struct trc_cpu_event at = *e;

	while (step <= e->period / 10)
		step *= 10;
	at.period = e->period / step >= 5 ? 5 * step : e->period / step >= 2 ? 2 * step : step;
	if (at.period < tick_ns && e->period >= tick_ns)
		at.period = tick_ns;
	at.frequency_hz = 0;
	return at;
}

/* Samples what base and wanted ask for now.  If that fails it goes on as before, as far as it
 * can. */
static int set_apply(char *error, size_t n_bytes)
{
	struct set all = base;
	char why[8];
	int err;

	for (unsigned int i = 0; i < wanted.n; i++)
		if (!set_add(&all, &wanted.event[i]))
			return set_fail(-ENOSPC, error, n_bytes, "at most 16 events in a session");
	err = trc_cpu_events_check_signals(all.event, all.n, error, n_bytes);
	if (err)
		return err;
	/* relaxed: starts are under `busy`; who stops it elsewhere just now ends the session. */
	if (set_is_same(&all, &in_force) &&
	    (!all.n || atomic_load_explicit(&trc_sampling, memory_order_relaxed)))
		return 0;
	trc_sample_stop();
	err = all.n ? trc_sample_start(all.event, all.n, error, n_bytes) : 0;
	if (!err)
		in_force = all;
	else if (in_force.n && trc_sample_start(in_force.event, in_force.n, why, sizeof(why)))
		in_force.n = 0;
	return err;
}

static int base_begin(const struct trc_cpu_event *event, unsigned int n, char *error,
		      size_t n_bytes)
{
	int err;

	base.n = 0;
	for (unsigned int i = 0; i < n; i++)
		if (event[i].how != TRC_SAMPLE_KERNEL || event[i].first_by_signal)
			set_add(&base, &event[i]);
	err = set_apply(error, n_bytes);
	if (err)
		base.n = 0;
	return err;
}

static int start(const struct trace_sampling_event *events, size_t n, char *error, size_t n_bytes)
{
	/* acquire: pairs with the release in trc_cpu_profile_kernel(). */
	const struct trc_kernel_sampler *sampler =
		atomic_load_explicit(&kernel_sampler, memory_order_acquire);
	struct trc_cpu_event event[TRC_CPU_EVENTS_MAX];
	int found = understand(event, events, n, error, n_bytes), err;

	if (found < 0)
		return found;
	err = trc_cpu_events_settle(event, (unsigned int)found, sampler != NULL, error, n_bytes);
	if (!err)
		err = start_kernel(sampler, event, (unsigned int)found, error, n_bytes);
	if (err)
		return err;
	err = base_begin(event, (unsigned int)found, error, n_bytes);
	if (err)
		stop_kernel();
	base_is_programs = base.n != 0;
	return err;
}

int trc_cpu_profile_start(const struct trace_sampling_event *events, size_t n, char *error,
			  size_t n_bytes)
{
	int err;

	if (!trc_recording())
		return set_fail(
			-EINVAL, error, n_bytes,
			"nothing records: trace_start() or trace_flight_start() comes first");
	if (!cpu_profile_enter())
		return set_fail(-EBUSY, error, n_bytes,
				"another thread starts or stops a CPU profile");
	if (base.n || atomic_load_explicit(&kernel_run, memory_order_relaxed))
		err = set_fail(-EBUSY, error, n_bytes, "a CPU profile runs already");
	else
		err = start(events, n, error, n_bytes);
	cpu_profile_leave();
	return err;
}

int trc_cpu_profile_stop(char *error, size_t n_bytes)
{
	bool kernel;
	int err = 0;

	if (!cpu_profile_enter())
		return set_fail(-EBUSY, error, n_bytes,
				"another thread starts or stops a CPU profile");
	kernel = atomic_load_explicit(&kernel_run, memory_order_relaxed);
	stop_kernel();
	if (base_is_programs) {
		base.n = 0;
		base_is_programs = false;
		set_apply(error, n_bytes);
	} else if (!kernel) {
		err = set_fail(-EINVAL, error, n_bytes, "the program has started no CPU profile");
	}
	cpu_profile_leave();
	return err;
}

/* ---- for others ------------------------------------------------------------------------ */

int trc_cpu_profile_session(const struct trc_cpu_event *events, unsigned int n, char *error,
			    size_t n_bytes)
{
	int err = 0;

	if (!cpu_profile_enter())
		return set_fail(-EBUSY, error, n_bytes,
				"another thread starts or stops a CPU profile");
	if (!base.n)
		err = base_begin(events, n, error, n_bytes);
	cpu_profile_leave();
	return err;
}

void trc_cpu_profile_session_end(bool all)
{
	char why[400];

	base.n = 0;
	base_is_programs = false;
	if (!all) {
		set_apply(why, sizeof(why));
		return;
	}
	wanted.n = in_force.n = 0;
	trc_sample_stop();
}

int trc_cpu_profile_want(const struct trc_cpu_event *events, unsigned int n, char *error,
			 size_t n_bytes)
{
	const struct set before = wanted;
	int err = 0;

	if (!cpu_profile_enter())
		return set_fail(-EBUSY, error, n_bytes,
				"another thread starts or stops a CPU profile");
	wanted.n = 0;
	for (unsigned int i = 0; i < n && !err; i++) {
		const struct trc_cpu_event e = on_grid(&events[i]);

		if (!set_add(&wanted, &e))
			err = set_fail(-ENOSPC, error, n_bytes, "at most 16 events in a session");
	}
	if (!err)
		err = set_apply(error, n_bytes);
	if (err)
		wanted = before;
	cpu_profile_leave();
	return err;
}

/* What the kernel says of events that this machine does not have, or not for us. */
static bool is_not_here(int err)
{
	switch (-err) {
	case EACCES:
	case EPERM:
	case ENOENT:
	case ENODEV:
	case ENXIO:
	case ENOSYS:
		return true;
	}
	return false;
}

int trc_cpu_profile_event(struct trc_cpu_event *out, const struct trace_sampling_event *event,
			  char *error, size_t n_bytes)
{
	struct trc_cpu_event found[TRC_CPU_EVENTS_MAX];
	int n = understand(found, event, event ? 1 : 0, error, n_bytes);
	int err = n < 0 ? n : trc_cpu_events_settle(found, 1, false, error, n_bytes);

	if (!err)
		*out = found[0];
	return is_not_here(err) ? -ENOTSUP : err;
}

void trc_cpu_profile_forget(void)
{
	base.n = wanted.n = in_force.n = 0;
	base_is_programs = false;
	atomic_store_explicit(&busy, false, memory_order_relaxed);
}
