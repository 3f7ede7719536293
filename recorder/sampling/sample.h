/*
 * sample.h - samples of this process's threads, by a signal to each sampled thread.
 *
 * Each thread has a timer of its CPU time, or a counter, for each event (cpu_event.h).  When it
 * expires or overflows the kernel sends that thread a SIGPROF, and the handler makes a SAMPLE
 * event with the stack that it interrupted and the thread's labels.
 *
 *   sample:S1  a thread has at most one sampler, the sampler entered under the thread's tid
 *   sample:S2  while sampling is on, each thread that begins to record arms itself.  The thread
 *       that turns sampling on arms the threads that exist then
 *   sample:S3  the thread that takes a sampler from ARMED to DISARMING takes down its timers and
 *       counters
 *   sample:S4  a timer's value is the time since its last sample, in whole periods: expirations
 *       that came while the signal was pending count as well
 *   sample:S5  a counter stands still from its overflow until the handler is done: the sample of a
 *       clock of all CPU time stands for what the thread used meanwhile, in whole periods; little
 *       of it at a time is kept for samples of system calls, where threads are switched; first
 *       periods are random, so that a thread that lives for half a period is sampled with
 *       probability one half
 *   sample:S6  a sample that was due but is not recorded is counted, in an event or in the mapping
 *   sample:S7  an event of timers that is not `timer` begins with a counter in each thread; when
 *       the thread has used 100 ticks of the kernel, a timer takes the counter's place, unless the
 *       thread makes many threads
 *   sample:S8  such a timer that is behind its thread by more than 8 ticks is not found by ticks.
 *       A thread that sees this opens a counter, which takes the timer's place at the counter's
 *       first overflow.  The sample then stands for all the time that the timer is behind
 *   sample:S9  of a clock that the kernel samples, new threads take the first TRC_CPU_FIRST_SAMPLES
 *       samples themselves, as in S5, once so many threads have ended that short ones matter.  So
 *       a thread that lives for less than so many periods has its share.  The kernel's own counters
 *       begin with a whole period, and the drain leaves out their samples of this time
 *       (recorder/drain/first_samples.c).  A thread that finds no descriptor has a timer for this,
 *       as in S4; of one that finds neither all samples are the kernel's, and its slot says so
 *   sample:S10  from then on a thread that creates threads has a counter of its own, which need not
 *       count: the kernel then hands no counter on between it and these threads, and what was left
 *       of its period does not end with one of them (perf_buffer:V6)
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
 * Starts to sample the settled events, of which only those by signals are taken.  This process is
 * being recorded, and nothing is sampled yet.  0, or -errno with a sentence in error.  Context: any
 * thread, may block; callers see to it that one starts or stops at a time.
 */
int trc_sample_start(const struct trc_cpu_event *events, unsigned int n, char *error,
		     size_t n_bytes);
/* No more samples, except by handlers that run just now.  Idempotent.  Context: as above. */
void trc_sample_stop(void);

/* The calling thread begins to record.  Context: the thread itself, with its signals blocked. */
void trc_sample_thread_begin(void);
/* The calling thread is about to create one.  Context: the thread itself. */
void trc_sample_thread_creates(void);
/* The calling thread ends.  Context: the thread itself. */
void trc_sample_thread_end(void);
/* The calling thread is one of trc's own, from here to its end: it is not sampled. */
void trc_sample_own_thread(bool begins);
/* True if a thread is one of trc's own.  Context: any thread. */
bool trc_sample_is_own_thread(uint32_t tid);
/* Moves the file to a number out of the way of the program's descriptors, as programs may rely on
 * low numbers, and closes `fd`.  Returns `fd` if no such number is left.  Context: any thread. */
int trc_sample_move_away(int fd);
/* In a forked child, which is not sampled.  Context: the child's only thread. */
void trc_sample_forget(void);

/*
 * A SIGPROF has come, or with `context` NULL: the thread has waited for one, which is a sample
 * lost. False: it is no timer's or counter's of ours. Context: signal handler of the interrupted
 * thread, all signals blocked.
 */
bool trc_sample_signal(const siginfo_t *info, const void *context);

/* A thread looks after timers (sample:S8) when so many ticks have passed since it last did. */
extern TRC_HIDDEN _Atomic uint64_t trc_sample_look_ticks;
/* Looks after the timers of the calling thread, and of one other thread.  Context: traced thread,
 * signal handlers. */
void trc_sample_look(uint64_t now);

static inline bool trc_sample_look_is_due(uint64_t now)
{
	/* relaxed: a look at the edge is made, or not. */
	return __builtin_expect(
		now - trc_self.sample_looked >=
			atomic_load_explicit(&trc_sample_look_ticks, memory_order_relaxed),
		0);
}

/* Before the calling thread waits: returns `now`, or the time after such a look.  Context: as
 * above. */
static inline uint64_t trc_sample_waits(uint64_t now)
{
	if (!trc_sample_look_is_due(now))
		return now;
	trc_self.wait_seen = true;
	trc_sample_look(now);
	return trc_clock_now();
}

#endif
