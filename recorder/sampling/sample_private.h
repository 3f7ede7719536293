/* sample_private.h - declarations that the parts of sample.c share. */
#ifndef TRC_RECORDER_SAMPLING_SAMPLE_PRIVATE_H
#define TRC_RECORDER_SAMPLING_SAMPLE_PRIVATE_H

#include "sample.h"

enum trc_source_kind { TRC_SOURCE_NONE, TRC_SOURCE_TIMER, TRC_SOURCE_COUNTER };

/* The timer or counter that sends the signals of one event to one thread. */
struct trc_source {
	uint32_t kind;	  /* enum trc_source_kind */
	int32_t handle;	  /* a timer's id, or a descriptor */
	uint64_t perf_id; /* tells whether the descriptor is still ours */
	bool first;	  /* no sample yet: the first period is the random one */
	bool stays;	  /* what it is: the other was not to be had */
	uint32_t misses;  /* how often ticks did not find the thread, lately */
	uint64_t turn_ns; /* a counter of S7: what its thread has used when it turns */
	uint64_t waits;	  /* how often its thread had waited when that was decided */
	uint64_t first_period;
	uint64_t enabled_ns, running_ns; /* at the sample before, of a hardware counter */
	uint64_t cpu_ns;		 /* what the thread had used when this was armed */
	uint64_t resumed_ns;		 /* and when the counter was let go the last time */
	uint64_t stood_ns;		 /* for how long it has stood, but for what handlers took */
	uint64_t made_up;		 /* periods of that which samples stand for */
	uint64_t taken, told;		 /* periods that samples stand for, and lost ones told of */
};

enum trc_sampler_state {
	TRC_SAMPLER_ARMING, /* or held */
	TRC_SAMPLER_ARMED,
	TRC_SAMPLER_DISARMING,
	TRC_SAMPLER_LEFT, /* held, and its thread has ended: who holds it takes it down */
};

struct trc_sampler {
	_Atomic uint32_t tid;	/* 0 = free */
	_Atomic uint32_t state; /* enum trc_sampler_state */
	uint32_t run;		/* the trc_sampling that it belongs to */
	struct trc_source source[TRC_CPU_EVENTS_MAX];
	/* The counter whose place a timer takes just now; kind NONE = none.  A child that is forked
	 * meanwhile finds its descriptor here. */
	struct trc_source leaving;
	/* S8: the counter that is to take the timer's place.  Filled in by who holds the sampler; the
	 * thread's own when `comes` is true. */
	struct trc_source coming;
	_Atomic bool comes;
	/* The timer's samples stand for what the thread has used up to here; 0 = there is no timer, or
	 * nobody needs to look after it.  A hint: who holds the sampler looks what there is. */
	_Atomic uint64_t found_ns;
	/* What the thread had used when this was armed, or counted the last time as being sampled. */
	_Atomic uint64_t counted_ns;
};

/* Constant while sampling is on, except atomic members. */
struct trc_sample_state {
	struct trc_cpu_event event[TRC_CPU_EVENTS_MAX];
	uint32_t number[TRC_CPU_EVENTS_MAX]; /* in the mapping's table */
	unsigned int n;
	uint64_t tick_ns;	     /* the kernel looks at timers of CPU time so often */
	struct trc_sampler *sampler; /* [n_samplers] */
	uint32_t n_samplers;	     /* a power of two */
	_Atomic int first_fd;	     /* descriptors of ours are not below */
	_Atomic int lowest_fd; /* of all samplings: signals may come late; 0 = there was none */
	_Atomic uint32_t fds_max;
	_Atomic uint32_t n_fds;
	uint32_t timers_max;
	_Atomic uint32_t n_timers;
	uint64_t grown_ns;  /* what a thread has used that has lived long enough for a timer */
	unsigned int turns; /* which event begins with counters (S7); TRC_CPU_EVENTS_MAX = none */
	uint64_t behind_ns; /* a timer that is behind by more is not found by ticks (S8) */
	_Atomic uint32_t n_ended; /* threads, since sampling began */
	_Atomic bool first_on;	  /* S9: new threads take their first samples */
};
extern TRC_HIDDEN struct trc_sample_state trc_sample;

/* S9: there are no more first samples to come.  A counter that is still there stands. */
static inline bool trc_first_are_over(const struct trc_sampler *s, unsigned int i)
{
	return trc_sample.event[i].first_by_signal && s->source[i].taken >= TRC_CPU_FIRST_SAMPLES;
}

/* Takes the sampler of this thread down, and arms the thread anew.  Context: any thread, signal
 * handlers. */
void trc_sampler_renew(struct trc_sampler *s, uint32_t tid);

/* ---- samplers.c.  Context: any thread, signal handlers. ---- */

enum { TRC_SAMPLERS_MIN = 16 };

/* Room for as many threads as there is memory for, once.  0, or -ENOMEM: not even for TRC_SAMPLERS_MIN. */
int trc_samplers_make(void);
/* The thread's sampler; NULL = the thread has none. */
struct trc_sampler *trc_sampler_of(uint32_t tid);
/* A sampler for the thread in this run, held; NULL: the thread has one, or there is none to be had
 * (sample:S1). */
struct trc_sampler *trc_sampler_enter(uint32_t tid, uint32_t run);
/* Takes it down if it stands (sample:S3); false: it does not. */
bool trc_sampler_end(struct trc_sampler *s);
/* The same for a thread that ends: if somebody holds it just now, that one takes it down. */
void trc_sampler_leave(struct trc_sampler *s, uint32_t tid);
/* All samplers that are in use are among the first so many. */
uint32_t trc_samplers_used(void);
/* In a forked child, which has one thread: none is in use. */
void trc_samplers_forget(void);
/* Nobody takes the sampler down from here to the release; the release does so if this was wanted
 * meanwhile.  False: somebody takes the sampler down already. */
bool trc_sampler_hold(struct trc_sampler *s);
void trc_sampler_release(struct trc_sampler *s);
/* A sampler that is, or was lately, in use: each call returns another; NULL = there is none. */
struct trc_sampler *trc_sampler_next(void);

/* ---- sample.c ---- */

/* The program may have fewer descriptors than when sampling began: ours lie lower from now on. True
 * if that makes a difference.  Context: any thread, signal handlers. */
bool trc_sample_budget_shrink(void);

/* ---- sample_signal.c ---- */

/* Makes SIGPROF ours for ever, as signals on their way must not end the process. */
void trc_sample_own_signal(void);
/* In a thread that has no sampler any more: takes signals that its sampler has left pending, as the
 * thread may have blocked them.  Context: the thread itself. */
void trc_sample_take_pending(void);

/* ---- sample_account.c ---- */

/*
 * Tells of samples that were due and did not come, as far as they can be known: by an event of the
 * calling thread if the sampler is the thread's own, else in the mapping.  `ended`: this is the
 * last look; a timer's is after it was deleted, a counter's before it is closed.  Context: any
 * thread, signal handlers.
 */
void trc_source_account(struct trc_sampler *s, unsigned int i, bool ended);
/* Counts the CPU time that the sampler's thread has used up to here, by its clock, as sampled.  Context:
 * as above. */
void trc_sampler_count(struct trc_sampler *s, uint64_t cpu_ns);
/* Notes the CPU time of a thread since its counter was let go, and for how much of this time the
 * counter has counted. */
void trc_source_stood(struct trc_source *source, uint64_t used_ns, uint64_t counted_ns);
/* The clock of a thread's CPU time, and the clock's value; 0 = the thread is gone. tid 0 is the
 * calling thread. */
int trc_cpu_clock_of(uint32_t tid);
uint64_t trc_cpu_time_of(uint32_t tid);

/* ---- sample_arm.c.  Context: any thread, signal handlers; the sampler is the caller's. ---- */

/* `begins`: the thread begins just now (S9). */
void trc_sampler_arm(struct trc_sampler *s, bool begins);
/* S10: the sampler, which is held, has a counter from now on. */
void trc_sampler_keep_counter(struct trc_sampler *s, uint32_t tid);
void trc_sampler_disarm(struct trc_sampler *s);
/* True if a counter's descriptor is still ours: the program may have closed the descriptor. */
bool trc_source_is_ours(const struct trc_source *source);
/* True if the descriptors of all the sampler's counters are still ours. */
bool trc_sampler_is_whole(const struct trc_sampler *s);
/* The number of samples that a timer's first signal stands for, if the period is shorter than a
 * tick.  A thread that is found by its first tick stands for the whole tick, although it used only
 * a part.  `expired`: the expirations.  Context: the thread itself. */
uint64_t trc_source_first(const struct trc_source *source, uint64_t period, uint64_t expired);
/* True of a clock that counts all of its thread's CPU time: at a sample it has counted its period,
 * and need not be read. */
bool trc_source_counts_all(const struct trc_cpu_event *e);
/* The count until the source's next sample. */
uint64_t trc_source_next(const struct trc_source *source, const struct trc_cpu_event *e);
/* The value of a sample taken now: its period, or more if the counter had to share the hardware
 * since the sample before, or stood still until this signal (sample:S5).  cpu_ns: the thread's CPU
 * time when its handler began.  in_call: the signal found the thread on its way back from a system
 * call. */
uint64_t trc_source_value(struct trc_source *source, const struct trc_cpu_event *e, uint64_t cpu_ns,
			  bool in_call);
/* The time for which the source has been counting. */
bool trc_source_enabled_ns(const struct trc_source *source, uint64_t *ns);
/* In a forked child: closes the sampler's descriptors; its timers are not there. */
void trc_sampler_abandon(struct trc_sampler *s);
/* True if a counter of the calling thread's has overflowed, and was not told to go on; its
 * descriptor is ours.  The kernel
 * keeps one signal of a kind: that of a counter is lost if another's has not arrived yet. */
bool trc_source_stands(const struct trc_source *source);
/* Lets a counter go on after a sample; false: its descriptor is not ours any more. */
bool trc_source_resume(struct trc_source *source, uint64_t period);
/* 0, or -errno: there is none to be had. */
int trc_source_arm_timer(struct trc_source *source, uint32_t tid, uint64_t period);
void trc_source_disarm_timer(struct trc_source *source);
/* A counter with a random first period, which does not count yet.  As above. */
int trc_source_open_counter(struct trc_source *source, uint32_t tid, const struct trc_cpu_event *e);
/* Lets the counter count.  On failure the counter is closed. */
int trc_source_start_counter(struct trc_source *source, uint32_t tid);
void trc_source_disarm_counter(struct trc_source *source);

/* ---- sample_turn.c.  Context: the signal handler of the sampler's thread. ---- */

/* A counter of S7 may turn from then on. */
uint64_t trc_source_turn_ns(const struct trc_source *source, uint64_t cpu_ns);
/* Turns a counter into a timer, if its thread has lived for long enough.  False: the source stays a
 * counter, which is to be let go. */
bool trc_source_turn(struct trc_sampler *s, unsigned int i, uint64_t cpu_ns);
/* The timer has had a sample, which stands for value_ns. */
void trc_timer_found(struct trc_sampler *s, unsigned int i, uint64_t value_ns);
/* If the counter that is to take the timer's place has overflowed, it takes the place, and its
 * sample is to be taken.  False: its descriptor is not ours any more. */
bool trc_sampler_come(struct trc_sampler *s);

#endif
