/*
 * sample_turn.c - from a counter to a timer (sample:S7), and back where ticks do not find the thread
 * (sample:S8).
 *
 * The kernel looks at a timer of CPU time at ticks that find the timer's thread running.  If ticks
 * find the thread by chance, every tick's worth of CPU time is found once, on average.  Some
 * threads run just behind a tick, and wait again before the next tick: threads that are woken by
 * work done at a tick, such as the timers of TCP, or that get their processor at a tick.  Ticks do
 * not find such threads.
 */
#include <sys/resource.h>
#include "format/raw.h"
#include "recorder/ring/rec.h"
#include "sample_private.h"
#include "recorder/unwind/poison.h"

enum {
	MISSES_MAX = 6,	  /* each doubles the time that a thread has a counter */
	FORGIVEN_AT = 16, /* times that: a timer that lasted for so long was missed by chance */
};

static uint64_t own_tid(void)
{
	return (uint64_t)trc_raw1(SYS_gettid, 0);
}

uint64_t trc_source_turn_ns(const struct trc_source *source, uint64_t cpu_ns)
{
	return cpu_ns + (trc_sample.grown_ns << source->misses);
}

/* ---- to a timer ------------------------------------------------------------------------ */

/*
 * Who waits by system calls of its own does not look after its timer; if all of a program's threads do
 * so, nobody does.  Such a thread keeps its counter.
 */
static bool waits_unseen(struct trc_source *source)
{
	enum { OFTEN = 16 };
	uint64_t before = source->waits;
	bool seen = trc_self.wait_seen;
	struct rusage usage;

	if (trc_raw2(SYS_getrusage, RUSAGE_THREAD, &usage))
		return false;
	trc_self.wait_seen = false;
	source->waits = (uint64_t)usage.ru_nvcsw;
	return !seen && source->waits - before > OFTEN;
}

/*
 * Who makes many threads, and waits for them, works for less than a tick at a time, perhaps always
 * in the same part of it: ticks would find its work by luck.  To make a thread costs far more than
 * a counter at its switches.
 */
static bool makes_threads(void)
{
	enum { MANY = 16 };
	bool many = trc_self.threads_made > MANY;

	trc_self.threads_made = 0;
	return many;
}

/* The sampler is held. */
static bool turn(struct trc_sampler *s, unsigned int i)
{
	struct trc_source *source = &s->source[i];
	uint64_t period = trc_sample.event[i].period;
	uint32_t tid = atomic_load_explicit(&s->tid, memory_order_relaxed);

	trc_source_account(s, i, false);
	s->leaving = *source;
	/* release fence: a child that does not find the counter in its old place finds it here. */
	atomic_thread_fence(memory_order_release);
	*source = (struct trc_source){.first_period = period,
				      .cpu_ns = trc_cpu_time_of(0),
				      .misses = s->leaving.misses,
				      .waits = s->leaving.waits};
	if (trc_source_arm_timer(source, tid, period)) {
		*source = s->leaving;
		source->stays = true;
		atomic_thread_fence(memory_order_release); /* as above, the other way */
		s->leaving.kind = TRC_SOURCE_NONE;
		return false;
	}
	trc_source_disarm_counter(&s->leaving);
	s->leaving.kind = TRC_SOURCE_NONE;
	trc_timer_found(s, i, 0);
	return true;
}

bool trc_source_turn(struct trc_sampler *s, unsigned int i, uint64_t cpu_ns)
{
	struct trc_source *source = &s->source[i];
	bool turned;

	if (i != trc_sample.turns || source->kind != TRC_SOURCE_COUNTER || source->stays ||
	    cpu_ns < source->turn_ns)
		return false;
	source->turn_ns = trc_source_turn_ns(source, cpu_ns); /* if it does not now */
	if (makes_threads() || waits_unseen(source) || !trc_sampler_hold(s))
		return false;
	turned = turn(s, i);
	trc_sampler_release(s);
	return turned;
}

/* ---- and back -------------------------------------------------------------------------- */

/* The sampler is held, and its timer has not been told to give way yet. */
static void coming_open(struct trc_sampler *s, unsigned int i, uint32_t tid)
{
	const struct trc_cpu_event *e = &trc_sample.event[i];

	/* relaxed: whoever reads an old value finds that the counter comes. */
	atomic_store_explicit(&s->found_ns, 0, memory_order_relaxed);
	s->coming = (struct trc_source){.kind = TRC_SOURCE_NONE};
	if (!trc_source_open_counter(&s->coming, tid, e)) {
		/* release: pairs with the acquire in trc_sampler_come(): the thread sees all of the
		 * counter.  Before the counter sends its signal. */
		atomic_store_explicit(&s->comes, true, memory_order_release);
		if (!trc_source_start_counter(&s->coming, tid))
			return;
		atomic_store_explicit(&s->comes, false, memory_order_relaxed);
	}
	s->source[i].stays = true; /* there is none to be had */
}

/* It is behind: a counter is to take its place. */
static void relieve(struct trc_sampler *s, uint32_t tid)
{
	unsigned int i = trc_sample.turns;

	if (!trc_sampler_hold(s))
		return;
	/* relaxed: who holds it alone makes these true or false. */
	if (i < trc_sample.n && atomic_load_explicit(&s->tid, memory_order_relaxed) == tid &&
	    s->source[i].kind == TRC_SOURCE_TIMER && !s->source[i].stays &&
	    !atomic_load_explicit(&s->comes, memory_order_relaxed))
		coming_open(s, i, tid);
	trc_sampler_release(s);
}

void trc_timer_found(struct trc_sampler *s, unsigned int i, uint64_t value_ns)
{
	const struct trc_source *source = &s->source[i];

	if (i != trc_sample.turns || source->kind != TRC_SOURCE_TIMER || source->stays ||
	    atomic_load_explicit(&s->comes, memory_order_relaxed))
		return;
	/* relaxed: a number of its own. */
	atomic_store_explicit(&s->found_ns,
			      source->cpu_ns + source->taken * trc_sample.event[i].period,
			      memory_order_relaxed);
	if (value_ns > trc_sample.behind_ns)
		relieve(s, (uint32_t)own_tid());
}

static void look_after(struct trc_sampler *s)
{
	/* relaxed: the holder looks again. */
	uint64_t found_ns = atomic_load_explicit(&s->found_ns, memory_order_relaxed);
	uint32_t tid = atomic_load_explicit(&s->tid, memory_order_relaxed);

	if (found_ns && tid && trc_cpu_time_of(tid) > found_ns + trc_sample.behind_ns)
		relieve(s, tid);
}

void trc_sample_look(uint64_t now)
{
	struct trc_sampler *own = trc_self.sampler, *other;

	trc_self.sample_looked = now;
	if (!atomic_load_explicit(&trc_sampling, memory_order_relaxed))
		return;
	if (own)
		look_after(own);
	other = trc_sampler_next();
	if (other && other != own)
		look_after(other);
}

static uint32_t misses_now(const struct trc_source *timer, uint64_t lasted_ns)
{
	if (lasted_ns > (FORGIVEN_AT * trc_sample.grown_ns) << timer->misses)
		return 0;
	return timer->misses < MISSES_MAX ? timer->misses + 1 : MISSES_MAX;
}

/*
 * The counter becomes one that was armed where the timer's samples end, and has stood since.  So its
 * sample stands for all of this.  Is it less than a period, the counter goes on as if it had had a
 * sample.
 */
static void come(struct trc_sampler *s, unsigned int i)
{
	const struct trc_source timer = s->source[i];
	struct trc_source *source = &s->source[i], *coming = &s->coming;
	uint64_t period = trc_sample.event[i].period, used_ns, now_ns, behind_ns;

	trc_source_disarm_timer(source);
	now_ns = trc_cpu_time_of(0);
	used_ns = now_ns - timer.cpu_ns;
	behind_ns = used_ns > timer.taken * period ? used_ns - timer.taken * period : 0;
	coming->cpu_ns = now_ns - behind_ns;
	coming->resumed_ns = now_ns;
	coming->stood_ns = behind_ns < period ? behind_ns : behind_ns - period;
	coming->waits = timer.waits;
	coming->misses = misses_now(&timer, used_ns);
	coming->turn_ns = trc_source_turn_ns(coming, now_ns);
	*source = *coming;
	/* release fence: a child that is forked meanwhile finds it in one of its places. */
	atomic_thread_fence(memory_order_release);
	coming->kind = TRC_SOURCE_NONE;
	/* relaxed, both: there is no timer to look after, though it may have had a sample while the
	 * counter was being opened. */
	atomic_store_explicit(&s->found_ns, 0, memory_order_relaxed);
	atomic_store_explicit(&s->comes, false, memory_order_relaxed);
	if (behind_ns < period)
		trc_source_resume(source, period);
}

bool trc_sampler_come(struct trc_sampler *s)
{
	unsigned int i = trc_sample.turns;

	/* acquire: pairs with the release in coming_open(). */
	if (!atomic_load_explicit(&s->comes, memory_order_acquire))
		return true;
	if (!trc_source_is_ours(&s->coming))
		return false;
	if (!trc_source_stands(&s->coming))
		return true;
	/* Who has opened it may not have let go of the sampler yet: then it overflows once more. */
	if (!trc_sampler_hold(s))
		return trc_source_resume(&s->coming, trc_sample.event[i].period);
	come(s, i);
	trc_sampler_release(s);
	return true;
}
