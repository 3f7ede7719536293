/*
 * cpu_event_settle.c - which events this machine has, and which of them this process may use
 * (cpu_event.h).
 *
 * Context: any thread; system calls are made directly.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "cpu_event.h"
#include "format/raw.h"

enum {
	/* Above, a signal for each sample costs more than its better stacks are worth. */
	SIGNAL_HZ_MAX = 5000,
	/* Auto takes no timer where a sample would stand for more periods than this. */
	PERIODS_OF_TICK_MAX = 4,
	PERFMON = 38, /* CAP_PERFMON: headers older than Linux 5.8 lack it */
};

/* A number of the kernel's, or `unknown`. */
static int read_number(const char *path, int unknown)
{
	char text[16] = "";
	int fd = (int)trc_raw4(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0);
	long n = fd < 0 ? -1 : trc_raw3(SYS_read, fd, text, sizeof(text) - 1);

	if (fd >= 0)
		trc_raw1(SYS_close, fd);
	return n > 0 ? atoi(text) : unknown;
}

int trc_perf_paranoid_level(void)
{
	return read_number("/proc/sys/kernel/perf_event_paranoid", -100);
}

uint32_t trc_perf_chain_max(void)
{
	enum { DEFAULT = 127 };
	int n = read_number("/proc/sys/kernel/perf_event_max_stack", DEFAULT);

	return n > 0 ? (uint32_t)n : DEFAULT;
}

uint64_t trc_cpu_tick_ns(void)
{
	struct timespec t = {0, 0};

	trc_raw2(SYS_clock_getres, CLOCK_MONOTONIC_COARSE, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

void trc_cpu_event_attr(const struct trc_cpu_event *e, struct perf_event_attr *attr)
{
	*attr = (struct perf_event_attr){
		.type = e->type,
		.size = sizeof(*attr),
		.config = e->config,
		.sample_period = e->period,
		.disabled = 1,
		.exclude_user = e->exclude_user,
		.exclude_kernel = e->exclude_kernel,
		.exclude_hv = e->exclude_hv,
		.precise_ip = e->precise & 3u,
	};
}

/* 0, or -errno. */
static int try(const struct trc_cpu_event *e)
{
	struct perf_event_attr attr;
	int fd;

	trc_cpu_event_attr(e, &attr);
	fd = (int)trc_raw5(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	if (fd < 0)
		return fd;
	trc_raw1(SYS_close, fd);
	return 0;
}

static bool is_switches(const struct trc_cpu_event *e)
{
	return !e->is_timer && e->type == PERF_TYPE_SOFTWARE &&
	       e->config == PERF_COUNT_SW_CONTEXT_SWITCHES;
}

static struct trc_cpu_event user_only(const struct trc_cpu_event *e)
{
	struct trc_cpu_event user = *e;

	user.exclude_user = false;
	user.exclude_kernel = user.exclude_hv = true;
	return user;
}

/* ---- why not --------------------------------------------------------------------------- */

static bool is_forbidden(int err)
{
	return err == -EACCES || err == -EPERM;
}

/* Modes that are forbidden are no reason for an event that is not to be had in user mode either. */
static int decisive(const struct trc_cpu_event *e, int err)
{
	const struct trc_cpu_event user = user_only(e);
	int of_user = is_forbidden(err) ? try(&user) : 0;

	return of_user && !is_forbidden(of_user) ? of_user : err;
}

/* It binds nobody who has the right in the first user namespace, which has this number. */
static bool is_bound_by_paranoid(void)
{
	struct __user_cap_header_struct head = {_LINUX_CAPABILITY_VERSION_3, 0};
	struct __user_cap_data_struct cap[_LINUX_CAPABILITY_U32S_3] = {{0, 0, 0}};
	char users[32] = "";

	if (trc_raw2(SYS_capget, &head, cap) ||
	    (!(cap[0].effective >> CAP_SYS_ADMIN & 1) && !(cap[1].effective >> (PERFMON - 32) & 1)))
		return true;
	return trc_raw4(SYS_readlinkat, AT_FDCWD, "/proc/self/ns/user", users, sizeof(users) - 1) >
		       0 &&
	       strcmp(users, "user:[4026531837]") != 0;
}

static const char *why_forbidden(const struct trc_cpu_event *e, char *text, size_t n_bytes)
{
	const struct trc_cpu_event user = user_only(e);
	int level = trc_perf_paranoid_level();
	bool bound = level > 1 && is_bound_by_paranoid();

	if (bound && level > 2)
		snprintf(text, n_bytes, "perf_event_paranoid is %d", level);
	else if (bound && !e->exclude_kernel && !try(&user))
		snprintf(text, n_bytes,
			 "perf_event_paranoid is %d: only what happens in user mode may be sampled",
			 level);
	else
		snprintf(text, n_bytes,
			 "forbidden by a seccomp filter, as containers have, or another policy "
			 "(perf_event_paranoid is %d)",
			 level);
	return text;
}

/* Switch records need no more than a clock of user mode, which the level 2 leaves to everybody. */
const char *trc_perf_refused_by(int err, char *text, size_t n_bytes)
{
	int level = trc_perf_paranoid_level();

	*text = '\0';
	if (is_forbidden(err) && level > 2 && is_bound_by_paranoid())
		snprintf(text, n_bytes, "perf_event_paranoid is %d", level);
	else if (is_forbidden(err))
		snprintf(text, n_bytes, "a seccomp filter, as containers have, or another policy");
	else if (err == -ENOSYS)
		snprintf(text, n_bytes, "no perf in this kernel, or hidden by a seccomp filter");
	return text;
}

static const char *why_no_counter(const struct trc_cpu_event *e)
{
	struct trc_cpu_event plain = user_only(e);

	plain.precise = 0;
	return e->precise && !try(&plain)
		       ? "no counter of this machine tells the place that precisely"
		       : "no hardware counters (PMU) here, as in many virtual machines";
}

static const char *reason(const struct trc_cpu_event *e, int err, char *text, size_t n_bytes)
{
	err = decisive(e, err);
	switch (-err) {
	case EACCES:
	case EPERM:
		return why_forbidden(e, text, n_bytes);
	case ENOENT:
	case ENODEV:
	case ENXIO:
	case EOPNOTSUPP:
		if (!e->is_hardware)
			break;
		return why_no_counter(e);
	case EINVAL:
		if (e->is_hardware)
			return "the processor's counters know no such event";
		break;
	case ENOSYS:
		return "no perf in this kernel, or hidden by a seccomp filter";
	}
	return strerror(-err);
}

/* Those software events that this process may have, and the timer. */
static void append_what_works(char *text, size_t n_bytes)
{
	static const char *const names[] = {"cpu-clock", "task-clock", "page-faults",
					    "context-switches"};
	struct trc_cpu_event e[TRC_CPU_EVENTS_MAX];
	size_t n = strlen(text);
	char none[8];

	n += (size_t)snprintf(text + n, n_bytes - n, "; what works: timer");
	for (size_t i = 0; i < sizeof(names) / sizeof(*names) && n < n_bytes; i++) {
		if (trc_cpu_events_parse(names[i], 0, TRC_SAMPLE_BY_AUTO, e, none, sizeof(none)) !=
		    1)
			continue;
		/* What happens in the kernel only is not to be had in user mode. */
		e->exclude_kernel = strcmp(names[i], "context-switches") != 0;
		if (!try(e))
			n += (size_t)snprintf(text + n, n_bytes - n, ", %s", names[i]);
	}
}

void trc_cpu_event_explain(const struct trc_cpu_event *e, int err, char *text, size_t n_bytes)
{
	char why[160];

	snprintf(text, n_bytes, "%s: %s", e->is_auto ? "cpu-clock" : e->name,
		 reason(e, err, why, sizeof(why)));
	append_what_works(text, n_bytes);
}

/* ---- what it is to be ------------------------------------------------------------------ */

/* Appends a sentence to the note. */
static void settle_add_note(struct trc_cpu_event *e, const char *text)
{
	size_t n = strlen(e->note);

	snprintf(e->note + n, sizeof(e->note) - n, "%s%s", n ? "; " : "", text);
}

/* Auto, at a rate that timers can keep: they cost nothing where threads are switched. */
static bool is_for_timers(const struct trc_cpu_event *e)
{
	return e->is_auto && e->by != TRC_SAMPLE_BY_KERNEL &&
	       e->period >= trc_cpu_tick_ns() / PERIODS_OF_TICK_MAX;
}

/* With what there is: all modes, or user mode alone.  0 or -errno. */
static int settle_modes(struct trc_cpu_event *e)
{
	const struct trc_cpu_event user = user_only(e);
	char text[64];
	int err = try(e);

	if (!is_forbidden(err))
		return err;
	/* Timers are for all modes. */
	if (e->said_modes || is_switches(e) || is_for_timers(e) || try(&user))
		return decisive(e, err);
	*e = user;
	snprintf(text, sizeof(text), "user mode only: perf_event_paranoid is %d",
		 trc_perf_paranoid_level());
	settle_add_note(e, text);
	return 0;
}

/* What was auto has a counter in each thread first, which keeps the rate that was asked for. */
static void note_tick(struct trc_cpu_event *e)
{
	uint64_t tick_ns = trc_cpu_tick_ns();
	char text[144], at_first[96] = "";

	if (!tick_ns || e->period >= tick_ns)
		return;
	if (!e->is_timer)
		snprintf(at_first, sizeof(at_first),
			 "counters for each thread's first %llu ms, then timers: ",
			 (unsigned long long)(TRC_CPU_COUNTER_TICKS * tick_ns / 1000000));
	snprintf(text, sizeof(text), "%sat most %llu samples a second", at_first,
		 (unsigned long long)(1000000000 / tick_ns));
	settle_add_note(e, text);
}

static void become_timer(struct trc_cpu_event *e, int err)
{
	struct trc_cpu_event timer[TRC_CPU_EVENTS_MAX];
	char text[144], why[112];

	trc_cpu_events_parse("timer", 0, TRC_SAMPLE_BY_SIGNAL, timer, why, sizeof(why));
	if (e->is_preset)
		e->period = timer->period;
	e->is_timer = true;
	snprintf(e->name, sizeof(e->name), "%s", timer->name);
	snprintf(text, sizeof(text), "timer instead of cpu-clock: %s",
		 reason(e, err, why, sizeof(why)));
	settle_add_note(e, text);
}

static enum trc_sample_how how_choose(const struct trc_cpu_event *e, bool can_kernel)
{
	bool often = e->is_clock && e->period < 1000000000 / SIGNAL_HZ_MAX;
	bool for_kernel = often || e->precise || is_switches(e);

	if (e->is_timer || is_for_timers(e))
		return TRC_SAMPLE_TIMER;
	if (e->by == TRC_SAMPLE_BY_AUTO)
		return can_kernel && for_kernel ? TRC_SAMPLE_KERNEL : TRC_SAMPLE_SIGNAL;
	return e->by == TRC_SAMPLE_BY_KERNEL ? TRC_SAMPLE_KERNEL : TRC_SAMPLE_SIGNAL;
}

/* Whoever wants no signals at all says so. */
static bool may_begin_by_signal(void)
{
	const char *word = secure_getenv("TRC_FIRST_SAMPLES");

	return !word || strcmp(word, "kernel") != 0;
}

/* 0, or -errno with a sentence in error. */
static int event_settle(struct trc_cpu_event *e, bool can_kernel, char *error, size_t n_bytes)
{
	int err = e->is_timer ? 0 : settle_modes(e);

	if (e->by == TRC_SAMPLE_BY_KERNEL && !can_kernel) {
		snprintf(error, n_bytes,
			 "%s: nobody here can take what the kernel samples; what "
			 "works: signal",
			 e->name);
		return -ENOTSUP;
	}
	if (err && e->is_auto && e->by != TRC_SAMPLE_BY_KERNEL) {
		become_timer(e, err);
	} else if (err) {
		trc_cpu_event_explain(e, err, error, n_bytes);
		return err;
	} else if (e->is_auto) {
		snprintf(e->name, sizeof(e->name), "cpu-clock");
	}
	e->how = how_choose(e, can_kernel);
	e->first_by_signal = e->how == TRC_SAMPLE_KERNEL && e->is_clock && may_begin_by_signal();
	e->is_auto = false;
	if (e->how == TRC_SAMPLE_TIMER)
		note_tick(e);
	return 0;
}

/* What was settled last may have come to be what is there already. */
static int check_twice(const struct trc_cpu_event *events, unsigned int last, char *error,
		       size_t n_bytes)
{
	for (unsigned int i = 0; i < last; i++) {
		if (!trc_cpu_event_same(&events[i], &events[last]))
			continue;
		snprintf(error, n_bytes, "%s: twice the same event: here, %s is no other",
			 events[last].name, events[i].name);
		return -EINVAL;
	}
	return 0;
}

int trc_cpu_events_settle(struct trc_cpu_event *events, unsigned int n, bool can_kernel,
			  char *error, size_t n_bytes)
{
	int err = 0;

	for (unsigned int i = 0; i < n && !err; i++) {
		err = event_settle(&events[i], can_kernel, error, n_bytes);
		if (!err)
			err = check_twice(events, i, error, n_bytes);
	}
	return err ? err : trc_cpu_events_check_signals(events, n, error, n_bytes);
}

int trc_cpu_events_check_signals(const struct trc_cpu_event *events, unsigned int n, char *error,
				 size_t n_bytes)
{
	unsigned int n_switches = 0;

	for (unsigned int i = 0; i < n; i++)
		n_switches += events[i].how == TRC_SAMPLE_SIGNAL && is_switches(&events[i]);
	for (unsigned int i = 0; i < n; i++) {
		const struct trc_cpu_event *e = &events[i];

		if (e->how != TRC_SAMPLE_SIGNAL || !is_switches(e) || e->period >= 2 * n_switches)
			continue;
		snprintf(error, n_bytes,
			 "%s:%llu: a sample's signal makes one more switch: by signals %u at "
			 "least%s, by the kernel 1",
			 e->name, (unsigned long long)e->period, 2 * n_switches,
			 n_switches > 1 ? " with so many of them" : "");
		return -EINVAL;
	}
	return 0;
}
