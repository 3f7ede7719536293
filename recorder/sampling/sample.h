/*
 * sample.h - samples of this process's threads, by signals to the very threads.
 *
 * Each thread has a timer of its CPU time, or a counter, for each event (cpu_event.h).  When it
 * expires or overflows the kernel sends that thread a SIGPROF, and the handler makes a SAMPLE
 * event with the stack that it interrupted and the thread's labels.
 *
 *   sample:S1  a thread has at most one sampler: whoever enters it under the thread's tid
 *   sample:S2  while sampling is on each thread that begins to record arms itself; threads that are
 *       there when it is turned on are armed by the one who does
 *   sample:S3  timers and counters are taken down by whoever takes the sampler from ARMED to
 *       DISARMING
 *   sample:S4  a timer's value is what has passed since its last sample, in whole periods:
 *       expirations that came while the signal was pending count as well
 *   sample:S5  a counter stands still from its overflow until the handler is done: the sample of a
 *       clock of all CPU time stands for what the thread used meanwhile, in whole periods; first
 *       periods are random, so that a thread that lives for half a period is sampled with
 *       probability one half
 *   sample:S6  a sample that was due and is not recorded is counted, in an event or in the mapping
 *   sample:S7  an event of timers that is not `timer` begins with a counter in each thread; when
 *       the thread has used 100 ticks of the kernel, a timer takes the counter's place
 *   sample:S8  such a timer that is behind its thread by more than 8 ticks is not found by them:
 *       whoever sees this opens a counter, which takes the timer's place at its first overflow; that
 *       sample stands for all that the timer is behind
 */
#ifndef TRC_RECORDER_SAMPLING_SAMPLE_H
#define TRC_RECORDER_SAMPLING_SAMPLE_H

#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include "recorder/ring/hot.h"
#include "recorder/shared/clock.h"
#include "recorder/shared/cpu_event.h"
#include "recorder/shared/layout.h"

/* 0 = off, else the number of the sampling that is on. */
extern TRC_HIDDEN _Atomic uint32_t trc_sampling;

/*
 * Starts to sample those of the events that are taken by signals; they come settled.  This process
 * is being recorded, and nothing is sampled yet.  0, or -errno with a sentence in error.
 * Context: any thread, may block; callers see to it that one starts or stops at a time.
 */
int trc_sample_start(const struct trc_cpu_event *events, unsigned int n, char *error,
		     size_t n_bytes);
/* No more samples, but for handlers that run just now.  Idempotent.  Context: as above. */
void trc_sample_stop(void);

/* The calling thread begins to record.  Context: it, with its signals blocked. */
void trc_sample_thread_begin(void);
/* It ends.  Context: it. */
void trc_sample_thread_end(void);
/* It is a thread of trc's own, from here to its end: it is not sampled. */
void trc_sample_own_thread(bool begins);
/* Whether a thread is one of them.  Context: any thread. */
bool trc_sample_is_own_thread(uint32_t tid);
/* The same file at a number out of the way of the program's descriptors, which it may rely on, with
 * this one closed; or this one where there is none left.  Context: any thread. */
int trc_sample_move_away(int fd);
/* In a forked child: it is not sampled.  Context: its only thread. */
void trc_sample_forget(void);

/*
 * A SIGPROF has come, or with `context` NULL: the thread has waited for one, which is a sample
 * lost. False: it is no timer's or counter's of ours. Context: signal handler of the interrupted
 * thread, all signals blocked.
 */
bool trc_sample_signal(const siginfo_t *info, const void *context);

/* A thread looks after timers (sample:S8) when so many ticks have passed since it last did. */
extern TRC_HIDDEN _Atomic uint64_t trc_sample_look_ticks;
/* Looks after the calling thread's and one other's.  Context: traced thread, signal handlers. */
void trc_sample_look(uint64_t now);

static inline bool trc_sample_look_is_due(uint64_t now)
{
	/* relaxed: a look at the edge is made, or not. */
	return __builtin_expect(
		now - trc_self.sample_looked >=
			atomic_load_explicit(&trc_sample_look_ticks, memory_order_relaxed),
		0);
}

/* Before the calling thread waits: `now`, or what it is after such a look.  Context: as above. */
static inline uint64_t trc_sample_waits(uint64_t now)
{
	if (!trc_sample_look_is_due(now))
		return now;
	trc_self.wait_seen = true;
	trc_sample_look(now);
	return trc_clock_now();
}

#endif
