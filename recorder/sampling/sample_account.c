/*
 * sample_account.c - samples that were due, and did not come (sample:S6).
 *
 * The CPU time of a thread says how many samples of a clock there should have been.  For a counter
 * the time for which it has counted is known, too.  Missing are:
 *
 *   timers     expirations whose signal found the program blocking it until the end.  One that no
 *              tick came for is not missing: the first expirations of other threads make up for it
 *              (sample_arm.c)
 *   counters   while SIGPROF was blocked, or a system call went on, they stood still: of a clock
 *              of all CPU time the next sample stands for this too, but for what comes after the
 *              last one; while the kernel throttled them they counted, but took no samples
 */
#include <time.h>
#include "format/raw.h"
#include "recorder/ring/rec.h"
#include "sample_private.h"
#include "sample_table.h"
#include "recorder/unwind/poison.h"

enum {
	/* A counter stands for less than this until its signal's handler begins, if nothing is in
	 * the way. */
	DELIVERY_NS = 20000,
	/* What starting and stopping may get wrong. */
	SLACK_SAMPLES = 2,
	/* Below this share of what was due no throttling is seen in what is missing. */
	SHARE_MIN = 50,
};

int trc_cpu_clock_of(uint32_t tid)
{
	return (int)(~tid << 3 | 6);
}

uint64_t trc_cpu_time_of(uint32_t tid)
{
	struct timespec t;

	if (trc_raw2(SYS_clock_gettime, trc_cpu_clock_of(tid), &t))
		return 0;
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

void trc_sampler_count(struct trc_sampler *s, uint64_t cpu_ns)
{
	/* relaxed: each nanosecond is counted by who moves the mark past it. */
	uint64_t from = atomic_load_explicit(&s->counted_ns, memory_order_relaxed);

	while (cpu_ns > from &&
	       !atomic_compare_exchange_weak_explicit(&s->counted_ns, &from, cpu_ns,
						      memory_order_relaxed, memory_order_relaxed))
		;
	for (unsigned int i = 0; cpu_ns > from && trc_recording() && i < trc_sample.n; i++)
		if (s->source[i].kind != TRC_SOURCE_NONE)
			trc_sample_count_armed(trc_rec.shared, trc_sample.number[i], cpu_ns - from);
}

static bool sampler_is_own(const struct trc_sampler *s)
{
	return atomic_load_explicit(&s->tid, memory_order_relaxed) ==
	       (uint32_t)trc_raw1(SYS_gettid, 0);
}

/* The calling thread. */
static bool blocks_signal(void)
{
	uint64_t mask = 0;

	trc_raw4(SYS_rt_sigprocmask, SIG_BLOCK, 0, &mask, sizeof(mask));
	return mask >> (SIGPROF - 1) & 1;
}

static void sampler_tell_lost(const struct trc_sampler *s, unsigned int i,
			      enum trc_sample_loss cause, uint64_t n)
{
	struct trc_args_samples_lost args = {
		.event = trc_sample.number[i], .lost_samples = n, .cause = cause};
	bool own = sampler_is_own(s);

	if (!n || !trc_recording())
		return;
	if (own && trc_self_is_of_session() && !trc_self.quiet)
		TRC_RECORD(args);
	else
		trc_sample_count_loss(trc_rec.shared, trc_sample.number[i], cause, n);
}

static uint64_t above(uint64_t n, uint64_t limit)
{
	return n > limit ? n - limit : 0;
}

/* Of first samples (S9) no more than these: the kernel's stand for the rest. */
static uint64_t due(const struct trc_source *source, uint64_t used_ns,
		    const struct trc_cpu_event *e)
{
	uint64_t n = used_ns < source->first_period
			     ? 0
			     : 1 + (used_ns - source->first_period) / e->period;

	return e->first_by_signal && n > TRC_CPU_FIRST_SAMPLES ? TRC_CPU_FIRST_SAMPLES : n;
}

/* Called at the end only: before it, what has not come yet may come.  A tick has come for what
 * expired a tick ago. */
static void account_timer(struct trc_sampler *s, unsigned int i, uint64_t used_ns)
{
	struct trc_source *source = &s->source[i];

	used_ns = above(used_ns, trc_sample.tick_ns);
	sampler_tell_lost(s, i,
			  sampler_is_own(s) && blocks_signal() ? TRC_SAMPLE_LOSS_BUSY
							       : TRC_SAMPLE_LOSS_NO_THREAD,
			  above(due(source, used_ns, &trc_sample.event[i]), source->taken));
}

void trc_source_stood(struct trc_source *source, uint64_t used_ns, uint64_t counted_ns)
{
	uint64_t ns = above(used_ns, counted_ns);

	if (ns > DELIVERY_NS && used_ns <= INT64_MAX)
		source->stood_ns += ns;
}

/* The last look: the counter may stand, for a signal that will not come any more. */
static void stands(struct trc_source *source, const struct trc_cpu_event *e, uint64_t used_ns,
		   uint64_t enabled_ns)
{
	uint64_t next = trc_source_next(source, e);

	if (!trc_source_counts_all(e)) {
		trc_source_stood(source, used_ns, above(enabled_ns, source->enabled_ns));
	} else if (used_ns > next + DELIVERY_NS) {
		trc_source_stood(source, used_ns, next);
		source->stood_ns += e->period; /* the sample that it stands for */
	}
}

/* Of a clock without exceptions.  It is reckoned from CPU time alone, and has in it what it missed as
 * it was throttled; and where an expiration came late, which makes the next one come sooner: no
 * more are lost than did not come. */
static uint64_t stood_at_most(const struct trc_source *source, const struct trc_cpu_event *e,
			      uint64_t used_ns)
{
	uint64_t n = source->stood_ns / e->period;
	uint64_t missing = above(due(source, used_ns, e), source->taken);

	return n < missing ? n : missing;
}

/* What a counter missed while it stood still. */
static uint64_t stood(const struct trc_source *source, const struct trc_cpu_event *e,
		      uint64_t used_ns, uint64_t enabled_ns, uint64_t throttled)
{
	if (trc_source_counts_all(e))
		return above(stood_at_most(source, e, used_ns), throttled);
	if (e->is_clock)
		return source->stood_ns / e->period;
	if (!enabled_ns)
		return 0;
	return (uint64_t)((unsigned __int128)source->stood_ns * source->taken / enabled_ns);
}

/* What it missed while it counted; known of clocks that count all CPU time.  A counter counts what a
 * hypervisor takes away as well: that is nobody's CPU time, and no more is missing than was due. */
static uint64_t throttled(const struct trc_source *source, const struct trc_cpu_event *e,
			  uint64_t used_ns, uint64_t enabled_ns)
{
	uint64_t all = due(source, enabled_ns, e);
	uint64_t missing = above(all, source->taken - source->made_up + SLACK_SAMPLES);
	uint64_t at_most = above(due(source, used_ns, e), source->taken);

	if (!trc_source_counts_all(e) || missing < all / SHARE_MIN)
		return 0;
	return missing < at_most ? missing : at_most;
}

static void account_counter(struct trc_sampler *s, unsigned int i, uint64_t now_ns, bool ended)
{
	const struct trc_cpu_event *e = &trc_sample.event[i];
	struct trc_source *source = &s->source[i];
	uint64_t used_ns = now_ns - source->cpu_ns, enabled_ns, blocked, n;

	if (!trc_source_is_ours(source) || !trc_source_enabled_ns(source, &enabled_ns)) {
		n = e->is_clock ? above(due(source, used_ns, e), source->taken) : 1;
		n = above(n, source->told);
		source->told += n;
		sampler_tell_lost(s, i, TRC_SAMPLE_LOSS_NOT_OURS, n);
		return;
	}
	if (ended)
		stands(source, e, above(now_ns, source->resumed_ns), enabled_ns);
	n = throttled(source, e, used_ns, enabled_ns);
	blocked = stood(source, e, used_ns, enabled_ns, n);
	n += blocked;
	if (n <= source->told)
		return;
	n -= source->told;
	source->told += n;
	if (blocked > n)
		blocked = n;
	sampler_tell_lost(s, i, TRC_SAMPLE_LOSS_BUSY, blocked);
	sampler_tell_lost(s, i, TRC_SAMPLE_LOSS_THROTTLED, n - blocked);
}

void trc_source_account(struct trc_sampler *s, unsigned int i, bool ended)
{
	struct trc_source *source = &s->source[i];
	uint64_t now_ns;

	if (source->kind == TRC_SOURCE_NONE)
		return;
	now_ns = trc_cpu_time_of(atomic_load_explicit(&s->tid, memory_order_relaxed));
	if (ended)
		trc_sampler_count(s, now_ns);
	if (now_ns <= source->cpu_ns)
		return;
	if (source->kind == TRC_SOURCE_COUNTER)
		account_counter(s, i, now_ns, ended);
	else if (ended)
		account_timer(s, i, now_ns - source->cpu_ns);
}
