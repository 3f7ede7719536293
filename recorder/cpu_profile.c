/* cpu_profile.c - see cpu_profile.h */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include "trc/trace.h"
#include "cpu_profile.h"
#include "rec.h"
#include "sample.h"

static _Atomic bool busy;	     /* somebody starts or stops */
static _Atomic uint32_t profile_run; /* the sampling that was started here; 0 = none */

/* NULL = nobody. */
static const struct trc_kernel_sampler *_Atomic kernel_sampler;
static _Atomic bool kernel_run; /* it samples something */

void trc_cpu_profile_kernel(const struct trc_kernel_sampler *sampler)
{
	atomic_store(&kernel_run, false);
	atomic_store(&kernel_sampler, sampler);
}

static int fail(int err, char *error, size_t n_bytes, const char *why)
{
	snprintf(error, n_bytes, "%s", why);
	return err;
}

/* ---- events as the program gives them -------------------------------------------------- */

/* The program's structures may be older or newer than this object. */
static int event_copy(struct trace_cpu_event *known, const struct trace_cpu_event *events, size_t i,
		      char *error, size_t n_bytes)
{
	size_t struct_bytes = events->struct_bytes;

	if (struct_bytes < sizeof(size_t) + sizeof(char *) || struct_bytes > 4096)
		return fail(-EINVAL, error, n_bytes,
			    "struct_bytes is wrong: use TRACE_CPU_EVENT_INIT");
	memset(known, 0, sizeof(*known));
	memcpy(known, (const char *)events + i * struct_bytes,
	       struct_bytes < sizeof(*known) ? struct_bytes : sizeof(*known));
	if (known->struct_bytes != struct_bytes)
		return fail(-EINVAL, error, n_bytes, "events of different sizes");
	if (!known->name || !*known->name || strchr(known->name, ','))
		return fail(-EINVAL, error, n_bytes, "an event needs a name, and one only");
	if ((unsigned int)known->by > TRACE_SAMPLE_BY_KERNEL)
		return fail(-EINVAL, error, n_bytes, "a value of by that is not in its list");
	if (known->period && known->frequency_hz)
		return fail(-EINVAL, error, n_bytes, "either a period or a frequency");
	return 0;
}

struct list {
	char text[TRC_CPU_EVENTS_MAX * 80];
	size_t n_bytes;
	struct trace_cpu_event event[TRC_CPU_EVENTS_MAX];
};

static int list_add(struct list *list, const struct trace_cpu_event *e, char *error, size_t n_bytes)
{
	size_t room = sizeof(list->text) - list->n_bytes;
	char period[24] = "";
	int n;

	if (e->period)
		snprintf(period, sizeof(period), ":%llu", (unsigned long long)e->period);
	n = snprintf(list->text + list->n_bytes, room, "%s%s%s", list->n_bytes ? "," : "", e->name,
		     period);
	if (n < 0 || (size_t)n >= room)
		return fail(-EINVAL, error, n_bytes, "names that are too long");
	list->n_bytes += (size_t)n;
	return 0;
}

static int set_rate(struct trc_cpu_event *e, const struct trace_cpu_event *from, char *error,
		    size_t n_bytes)
{
	e->by = (enum trc_sample_by)from->by;
	if (e->is_timer && e->by == TRC_SAMPLE_BY_KERNEL)
		return fail(-EINVAL, error, n_bytes,
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
static int understand(struct trc_cpu_event *out, const struct trace_cpu_event *events, size_t n,
		      char *error, size_t n_bytes)
{
	struct list list = {.n_bytes = 0};
	int err = 0, found;

	if (!n)
		return trc_cpu_events_parse("auto", 0, TRC_SAMPLE_BY_AUTO, out, error, n_bytes);
	if (!events || n > TRC_CPU_EVENTS_MAX)
		return fail(-EINVAL, error, n_bytes, "at most 16 events in a session");
	for (size_t i = 0; !err && i < n; i++) {
		err = event_copy(&list.event[i], events, i, error, n_bytes);
		if (!err)
			err = list_add(&list, &list.event[i], error, n_bytes);
	}
	if (err)
		return err;
	found = trc_cpu_events_parse(list.text, 0, TRC_SAMPLE_BY_AUTO, out, error, n_bytes);
	for (int i = 0; !err && i < found; i++)
		err = set_rate(&out[i], &list.event[i], error, n_bytes);
	return err ? err : found;
}

/* ---- start and stop -------------------------------------------------------------------- */

static bool enter(void)
{
	if (atomic_exchange_explicit(&busy, true, memory_order_acquire))
		return false;
	trc_self.quiet++;
	return true;
}

static void leave(void)
{
	trc_self.quiet--;
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
	atomic_store(&kernel_run, !err);
	return err;
}

static void stop_kernel(void)
{
	const struct trc_kernel_sampler *sampler = atomic_load(&kernel_sampler);

	if (atomic_exchange(&kernel_run, false) && sampler)
		sampler->stop();
}

static int start(const struct trace_cpu_event *events, size_t n, char *error, size_t n_bytes)
{
	const struct trc_kernel_sampler *sampler = atomic_load(&kernel_sampler);
	struct trc_cpu_event event[TRC_CPU_EVENTS_MAX];
	int found = understand(event, events, n, error, n_bytes), err;

	if (found < 0)
		return found;
	err = trc_cpu_events_settle(event, (unsigned int)found, sampler != NULL, error, n_bytes);
	if (!err)
		err = start_kernel(sampler, event, (unsigned int)found, error, n_bytes);
	if (err)
		return err;
	err = trc_sample_start(event, (unsigned int)found, error, n_bytes);
	if (err)
		stop_kernel();
	else
		atomic_store(&profile_run, atomic_load(&trc_sampling));
	return err;
}

int trc_cpu_profile_start(const struct trace_cpu_event *events, size_t n, char *error,
			  size_t n_bytes)
{
	int err;

	if (!trc_recording())
		return fail(-EINVAL, error, n_bytes,
			    "nothing records: trace_start() or trace_flight_start() comes first");
	if (!enter())
		return fail(-EBUSY, error, n_bytes, "another thread starts or stops a CPU profile");
	if (atomic_load(&trc_sampling) || atomic_load(&kernel_run))
		err = fail(-EBUSY, error, n_bytes, "a CPU profile runs already");
	else
		err = start(events, n, error, n_bytes);
	leave();
	return err;
}

int trc_cpu_profile_stop(char *error, size_t n_bytes)
{
	bool kernel;
	uint32_t run;
	int err = 0;

	if (!enter())
		return fail(-EBUSY, error, n_bytes, "another thread starts or stops a CPU profile");
	kernel = atomic_load(&kernel_run);
	stop_kernel();
	run = atomic_exchange(&profile_run, 0);
	if (run && run == atomic_load(&trc_sampling))
		trc_sample_stop();
	else if (!kernel)
		err = fail(-EINVAL, error, n_bytes, "the program has started no CPU profile");
	leave();
	return err;
}

void trc_cpu_profile_forget(void)
{
	atomic_store_explicit(&profile_run, 0, memory_order_relaxed);
	atomic_store_explicit(&busy, false, memory_order_relaxed);
}
