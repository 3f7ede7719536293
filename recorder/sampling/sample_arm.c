/*
 * sample_arm.c - the timers and counters of one thread.
 *
 * System calls are made directly: interposed functions would take these timers and descriptors for
 * the program's own.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <time.h>
#include "recorder/ring/annotate.h"
#include "format/raw.h"
#include "recorder/ring/rec.h"
#include "recorder/ring/slot_inline.h"
#include "recorder/shared/text.h"
#include "sample_private.h"
#include "sample_table.h"
#include "recorder/unwind/poison.h"

#ifndef F_SETSIG
#define F_SETSIG 10
#endif
#ifndef F_SETOWN_EX
#define F_SETOWN_EX 15
#endif
enum { OWNER_TID = 0 }; /* F_OWNER_TID */
struct owner {
	int type, pid;
};

/* The kernel's struct sigevent. */
struct kernel_sigevent {
	uint64_t value;
	int32_t number, notify, tid;
	int32_t unused[11];
};
enum { NOTIFY_THREAD_ID = 4 };

/* In [1, n], evenly enough. */
static uint64_t random_up_to(uint64_t n, uint32_t salt)
{
	uint64_t x = trc_clock_now() * UINT64_C(0x9e3779b97f4a7c15) ^ salt;

	x ^= x >> 32;
	x *= UINT64_C(0xd6e8feb86659fd93);
	x ^= x >> 32;
	return x % n + 1;
}

static struct timespec time_of(uint64_t ns)
{
	return (struct timespec){(time_t)(ns / 1000000000), (long)(ns % 1000000000)};
}

/* ---- timers ---------------------------------------------------------------------------- */

/*
 * The kernel looks at a thread's timers only at a tick that finds the thread running, and a thread
 * that is shorter than a tick is found by at most one.  A first expiration anywhere in the period
 * would hardly ever be over by then.  It lies on a whole number of ticks instead: 0 with the
 * probability tick / period.  So each tick that finds a thread makes its sample with this
 * probability, however short the thread is, and the samples stand for what threads used.
 */
static uint64_t first_expiration(uint64_t first_period)
{
	uint64_t tick_ns = trc_sample.tick_ns, first_ns = first_period;

	if (tick_ns)
		first_ns = (first_period - 1) / tick_ns * tick_ns;
	return first_ns ? first_ns : 1; /* 0 would not start it */
}

uint64_t trc_source_first(const struct trc_source *source, uint64_t period, uint64_t expired)
{
	uint64_t tick_ns = trc_sample.tick_ns, used_ns = trc_cpu_time_of(0) - source->cpu_ns;
	uint64_t n = tick_ns / period;

	if (used_ns >= tick_ns)
		return expired;
	return n + (random_up_to(period, (uint32_t)(uintptr_t)source) <= tick_ns % period);
}

static int create_timer(struct trc_source *source, uint32_t tid, uint64_t period)
{
	struct kernel_sigevent event = {.value = (uintptr_t)source,
					.number = SIGPROF,
					.notify = NOTIFY_THREAD_ID,
					.tid = (int32_t)tid};
	struct itimerspec when = {time_of(period), time_of(source->first_period)};
	int id;
	int err = (int)trc_raw3(SYS_timer_create, trc_cpu_clock_of(tid), &event, &id);

	if (err)
		return err;
	source->handle = id;
	source->kind = TRC_SOURCE_TIMER;
	err = (int)trc_raw4(SYS_timer_settime, id, 0, &when, NULL);
	if (err) {
		trc_raw1(SYS_timer_delete, id);
		source->kind = TRC_SOURCE_NONE;
	}
	return err;
}

int trc_source_arm_timer(struct trc_source *source, uint32_t tid, uint64_t period)
{
	int err = -EAGAIN;

	/* relaxed: a count, no more. */
	if (atomic_fetch_add_explicit(&trc_sample.n_timers, 1, memory_order_relaxed) <
	    trc_sample.timers_max)
		err = create_timer(source, tid, period);
	if (err)
		atomic_fetch_sub_explicit(&trc_sample.n_timers, 1, memory_order_relaxed);
	return err;
}

void trc_source_disarm_timer(struct trc_source *source)
{
	trc_raw1(SYS_timer_delete, source->handle);
	atomic_fetch_sub_explicit(&trc_sample.n_timers, 1, memory_order_relaxed);
}

/* ---- counters -------------------------------------------------------------------------- */

bool trc_source_is_ours(const struct trc_source *source)
{
	uint64_t id = 0;

	return !trc_raw3(SYS_ioctl, source->handle, PERF_EVENT_IOC_ID, &id) &&
	       id == source->perf_id;
}

static int duplicate_far(int fd)
{
	/* acquire: pairs with the release in lower(). */
	return (int)trc_raw3(SYS_fcntl, fd, F_DUPFD_CLOEXEC,
			     atomic_load_explicit(&trc_sample.first_fd, memory_order_acquire));
}

/* Out of the way of the program's descriptors, whose numbers it may rely on. */
static int move_away(int fd)
{
	int far = duplicate_far(fd);

	/* A server sets its limit when it has read its configuration. */
	if (far == -EINVAL && trc_sample_budget_shrink())
		far = duplicate_far(fd);
	trc_raw1(SYS_close, fd);
	return far;
}

static int direct_to(int fd, uint32_t tid)
{
	struct owner owner = {OWNER_TID, (int)tid};
	int err = (int)trc_raw3(SYS_fcntl, fd, F_SETOWN_EX, &owner);

	if (!err)
		err = (int)trc_raw3(SYS_fcntl, fd, F_SETSIG, SIGPROF);
	if (!err)
		err = (int)trc_raw3(SYS_fcntl, fd, F_SETFL, O_RDONLY | O_NONBLOCK | O_ASYNC);
	return err;
}

static void close_counter(struct trc_source *source)
{
	source->kind = TRC_SOURCE_NONE;
	trc_raw1(SYS_close, source->handle);
	atomic_fetch_sub_explicit(&trc_sample.n_fds, 1, memory_order_relaxed);
}

static int open_far(struct trc_source *source, uint32_t tid, const struct trc_cpu_event *e)
{
	struct perf_event_attr attr;
	int fd;

	trc_cpu_event_attr(e, &attr);
	attr.sample_period = source->first_period;
	attr.wakeup_events = 1;
	attr.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
	fd = (int)trc_raw5(SYS_perf_event_open, &attr, tid, -1, -1, PERF_FLAG_FD_CLOEXEC);
	return fd < 0 ? fd : move_away(fd);
}

int trc_source_open_counter(struct trc_source *source, uint32_t tid, const struct trc_cpu_event *e)
{
	int fd = -EMFILE, err;

	source->first_period = random_up_to(e->period, tid);
	/* relaxed: a count, no more. */
	if (atomic_fetch_add_explicit(&trc_sample.n_fds, 1, memory_order_relaxed) <
	    trc_sample.fds_max)
		fd = open_far(source, tid, e);
	if (fd < 0) {
		atomic_fetch_sub_explicit(&trc_sample.n_fds, 1, memory_order_relaxed);
		return fd;
	}
	source->handle = fd;
	source->first = true;
	err = (int)trc_raw3(SYS_ioctl, fd, PERF_EVENT_IOC_ID, &source->perf_id);
	if (!err)
		err = direct_to(fd, tid);
	if (err)
		close_counter(source);
	return err;
}

int trc_source_start_counter(struct trc_source *source, uint32_t tid)
{
	int err;

	source->resumed_ns = trc_cpu_time_of(tid);
	/* seq_cst fence: for a signal handler: `kind` is stored before the first signal comes. */
	source->kind = TRC_SOURCE_COUNTER;
	atomic_signal_fence(memory_order_seq_cst);
	err = (int)trc_raw3(SYS_ioctl, source->handle, PERF_EVENT_IOC_REFRESH, 1);
	if (err)
		close_counter(source);
	return err;
}

static int arm_counter(struct trc_source *source, uint32_t tid, const struct trc_cpu_event *e)
{
	int err = trc_source_open_counter(source, tid, e);

	return err ? err : trc_source_start_counter(source, tid);
}

void trc_source_disarm_counter(struct trc_source *source)
{
	/* The program may have closed it, and have opened something else. */
	if (trc_source_is_ours(source)) {
		/* A child that was not forked by fork() may have it as well. */
		trc_raw3(SYS_ioctl, source->handle, PERF_EVENT_IOC_DISABLE, 0);
		trc_raw1(SYS_close, source->handle);
	}
	atomic_fetch_sub_explicit(&trc_sample.n_fds, 1, memory_order_relaxed);
}

bool trc_sampler_is_whole(const struct trc_sampler *s)
{
	for (unsigned int i = 0; i < trc_sample.n; i++)
		if (s->source[i].kind == TRC_SOURCE_COUNTER && !trc_source_is_ours(&s->source[i]))
			return false;
	/* acquire: pairs with the release in coming_open() (sample_turn.c). */
	return !atomic_load_explicit(&s->comes, memory_order_acquire) ||
	       trc_source_is_ours(&s->coming);
}

/* What read() says, by the read_format of open_counter(). */
struct reading {
	uint64_t value, enabled_ns, running_ns;
};

static bool read_counter(const struct trc_source *source, struct reading *is)
{
	return trc_raw3(SYS_read, source->handle, is, sizeof(*is)) == sizeof(*is);
}

bool trc_source_enabled_ns(const struct trc_source *source, uint64_t *ns)
{
	struct reading is;

	if (!read_counter(source, &is))
		return false;
	*ns = is.enabled_ns;
	return true;
}

bool trc_source_counts_all(const struct trc_cpu_event *e)
{
	return e->is_clock && !e->exclude_kernel && !e->exclude_user;
}

uint64_t trc_source_next(const struct trc_source *source, const struct trc_cpu_event *e)
{
	return source->first ? source->first_period : e->period;
}

/*
 * In whole periods, what a clock of all CPU time has not counted and no sample stands for yet.  The
 * thread used it in the call that it now returns from, or where it blocked the signal.  What it
 * counted while it was throttled is not in it (sample_account.c), nor what it made up by coming
 * sooner after it came late.
 */
static uint64_t periods_stood(struct trc_source *source, const struct trc_cpu_event *e,
			      uint64_t cpu_ns)
{
	uint64_t n = source->stood_ns / e->period, used_ns = cpu_ns - source->cpu_ns;
	uint64_t enabled_ns, most;

	if (!n || !trc_source_is_ours(source) || !trc_source_enabled_ns(source, &enabled_ns) ||
	    used_ns <= enabled_ns)
		return 0;
	most = (used_ns - enabled_ns) / e->period;
	most = most > source->made_up ? most - source->made_up : 0;
	source->stood_ns =
		n > most ? source->stood_ns % e->period : source->stood_ns - n * e->period;
	return n < most ? n : most;
}

/*
 * True if this sample's place is that of what the counter has not counted.  The kernel's work at a
 * switch is in it as well, some microseconds for each, and belongs to the call that the thread
 * waited in: a sample of any call may stand for it, but code that makes none would get too much.
 */
static bool is_place_of_stood(const struct trc_source *source, const struct trc_cpu_event *e,
			      uint64_t late_ns, bool in_call)
{
	enum { HELD_PERIODS = 4 }; /* what the thread's end finds is lost */

	return in_call || late_ns >= e->period || source->stood_ns >= HELD_PERIODS * e->period;
}

uint64_t trc_source_value(struct trc_source *source, const struct trc_cpu_event *e, uint64_t cpu_ns,
			  bool in_call)
{
	uint64_t value, n = 0, used_ns = cpu_ns - source->resumed_ns;
	struct reading is;

	/* Who takes it down before it goes on is not to see the same again. */
	source->resumed_ns = cpu_ns;
	if (trc_source_counts_all(e)) {
		uint64_t next = trc_source_next(source, e);

		trc_source_stood(source, used_ns, next);
		if (is_place_of_stood(source, e, used_ns > next ? used_ns - next : 0, in_call))
			n = periods_stood(source, e, cpu_ns);
		source->made_up += n;
		source->taken += n;
		return (1 + n) * e->period;
	}
	if (!read_counter(source, &is))
		return e->period;
	trc_source_stood(source, used_ns, is.enabled_ns - source->enabled_ns);
	value = trc_cpu_event_scaled(e->period, is.enabled_ns - source->enabled_ns,
				     is.running_ns - source->running_ns);
	source->enabled_ns = is.enabled_ns;
	source->running_ns = is.running_ns;
	return value;
}

bool trc_source_stands(const struct trc_source *source)
{
	uint64_t one, two;

	return trc_source_enabled_ns(source, &one) && trc_source_enabled_ns(source, &two) &&
	       one == two;
}

bool trc_source_resume(struct trc_source *source, uint64_t period)
{
	if (source->first && trc_raw3(SYS_ioctl, source->handle, PERF_EVENT_IOC_PERIOD, &period))
		return false;
	source->first = false;
	source->resumed_ns = trc_cpu_time_of(0);
	return !trc_raw3(SYS_ioctl, source->handle, PERF_EVENT_IOC_REFRESH, 1);
}

/* ---- a thread -------------------------------------------------------------------------- */

/* Of threads that live for no longer than a tick a timer makes few samples, of much weight; a counter
 * costs something each time that its thread is put on a processor. */
static bool needs_counter(const struct trc_source *source, const struct trc_cpu_event *e)
{
	return !e->is_timer &&
	       (e->how == TRC_SAMPLE_SIGNAL || source->cpu_ns < trc_sample.grown_ns);
}

static int arm_timer(struct trc_source *source, uint32_t tid, const struct trc_cpu_event *e)
{
	source->first_period = first_expiration(random_up_to(e->period, tid));
	source->first = true;
	return trc_source_arm_timer(source, tid, e->period);
}

/* The calling thread cannot take its first samples of event i: readers are not to wait for them. */
static void first_lack(unsigned int i)
{
	struct trc_slot *slot = trc_self.slot;
	uint32_t lacks;

	if (!trc_slot_begin(slot))
		return;
	/* relaxed: nobody else stores it; under the slot's counter for the drainer. */
	lacks = atomic_load_explicit(&slot->first_lacks, memory_order_relaxed);
	atomic_store_explicit(&slot->first_lacks, lacks | UINT32_C(1) << (trc_sample.number[i] - 1),
			      memory_order_relaxed);
	trc_slot_end(slot);
}

/* S9, of the calling thread.  Where there is no descriptor for a counter, ticks find the thread: a
 * timer counts all modes.  Without either the kernel alone samples it. */
static void arm_first(struct trc_source *source, uint32_t tid, unsigned int i)
{
	const struct trc_cpu_event *e = &trc_sample.event[i];

	/* relaxed: a thread at the edge is sampled by the kernel alone. */
	if (!atomic_load_explicit(&trc_sample.first_on, memory_order_relaxed) ||
	    !arm_counter(source, tid, e))
		return;
	if (!trc_source_counts_all(e) || arm_timer(source, tid, e))
		first_lack(i);
}

void trc_sampler_keep_counter(struct trc_sampler *s, uint32_t tid)
{
	for (unsigned int i = 0; i < trc_sample.n; i++)
		if (s->source[i].kind == TRC_SOURCE_COUNTER)
			return;
	for (unsigned int i = 0; i < trc_sample.n; i++) {
		struct trc_source *source = &s->source[i];

		if (source->kind != TRC_SOURCE_NONE || !trc_sample.event[i].first_by_signal)
			continue;
		source->taken = TRC_CPU_FIRST_SAMPLES;
		if (!trc_source_open_counter(source, tid, &trc_sample.event[i]))
			source->kind = TRC_SOURCE_COUNTER;
		return;
	}
}

static int arm_source(struct trc_source *source, uint32_t tid, unsigned int i, bool begins)
{
	const struct trc_cpu_event *e = &trc_sample.event[i];
	int err = -EMFILE;

	*source = (struct trc_source){.cpu_ns = trc_cpu_time_of(tid)};
	if (e->first_by_signal) {
		if (begins)
			arm_first(source, tid, i);
		return 0;
	}
	source->turn_ns = trc_source_turn_ns(source, source->cpu_ns);
	if (needs_counter(source, e))
		err = arm_counter(source, tid, e);
	if (err && e->is_clock) {
		source->stays = needs_counter(source, e);
		err = arm_timer(source, tid, e);
	}
	return err;
}

/* Counted, and named by a log of the calling thread. */
static void tell_missing(uint32_t tid, unsigned int i)
{
	char text[sizeof(trc_sample.event[i].name) + 80];
	struct trc_text at = TRC_TEXT_IN(text);
	uint32_t quiet = trc_self.quiet;

	trc_sample_count_missing(trc_rec.shared, trc_sample.number[i]);
	trc_text_put(&at, trc_sample.event[i].name);
	trc_text_put(&at, ": thread ");
	trc_text_put_number(&at, tid, 10);
	trc_text_put(&at, " is not sampled: no descriptors or memory left");
	trc_self.quiet = 0; /* whoever starts a profile records nothing but this */
	trc_annotate_log(NULL, 0, "trc", text, (size_t)(at.at - text));
	trc_self.quiet = quiet;
}

void trc_sampler_arm(struct trc_sampler *s, bool begins)
{
	uint32_t tid = atomic_load_explicit(&s->tid, memory_order_relaxed);

	for (unsigned int i = 0; i < trc_sample.n; i++)
		if (arm_source(&s->source[i], tid, i, begins))
			tell_missing(tid, i);
	/* relaxed: until then a sample that has come counts nothing.  Now, as opening a counter
	 * takes longer than some threads work. */
	atomic_store_explicit(&s->counted_ns, trc_cpu_time_of(tid), memory_order_relaxed);
	if (trc_sample.turns < trc_sample.n)
		trc_timer_found(s, trc_sample.turns, 0);
}

void trc_sampler_disarm(struct trc_sampler *s)
{
	/* relaxed: who looks after it finds that it cannot be held. */
	atomic_store_explicit(&s->found_ns, 0, memory_order_relaxed);
	for (unsigned int i = 0; i < trc_sample.n; i++) {
		struct trc_source *source = &s->source[i];

		if (source->kind == TRC_SOURCE_TIMER)
			trc_source_disarm_timer(source);
		trc_source_account(s, i, true);
		if (source->kind == TRC_SOURCE_COUNTER)
			trc_source_disarm_counter(source);
		source->kind = TRC_SOURCE_NONE;
	}
	if (s->coming.kind == TRC_SOURCE_COUNTER)
		trc_source_disarm_counter(&s->coming);
	s->coming.kind = TRC_SOURCE_NONE;
}

/* It still counts for the parent.  One that is found in two places is ours in the first. */
static void abandon_source(struct trc_source *source)
{
	if (source->kind == TRC_SOURCE_COUNTER && trc_source_is_ours(source))
		trc_raw1(SYS_close, source->handle);
	source->kind = TRC_SOURCE_NONE;
}

void trc_sampler_abandon(struct trc_sampler *s)
{
	for (unsigned int i = 0; i < trc_sample.n; i++)
		abandon_source(&s->source[i]);
	abandon_source(&s->leaving);
	abandon_source(&s->coming);
}
