/*
 * cpu_event.h - what CPU profiles are drawn from, as users write it: timers and counters.
 *
 *   EVENT[:PERIOD][:MODIFIERS], several of them separated by commas
 *
 *   auto                          cpu-clock where perf allows it, else timer
 *   timer                         a timer of each thread's CPU time; no faster than the kernel's HZ
 *   cpu-clock, task-clock         the same times, by perf: up to 100,000 samples a second
 *   page-faults, context-switches
 *   cycles, instructions, cache-references, cache-misses, branches, branch-misses
 *   rHEX                          what the processor's manual calls that: bits 0-7 the event,
 *                                 8-15 the unit mask, as with perf
 *
 * PERIOD is in nanoseconds for the first four, else a count; 0 or none = a preset, which gives
 * about a thousand samples for a second of a busy thread's time (timer: a hundred).
 * MODIFIERS as with perf: u, k, h = only what happens in user mode, kernel, hypervisor; p, pp, ppp =
 * how exactly the processor tells the place.  Without u, k or h: all that perf allows us.
 */
#ifndef TRC_RECORDER_SHARED_CPU_EVENT_H
#define TRC_RECORDER_SHARED_CPU_EVENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "format/schema.h"

struct perf_event_attr;

enum trc_sample_by { TRC_SAMPLE_BY_AUTO, TRC_SAMPLE_BY_SIGNAL, TRC_SAMPLE_BY_KERNEL };

enum {
	TRC_CPU_EVENTS_MAX = 16, /* in one session */
	TRC_CPU_EVENT_HZ_MAX = 100000,
};

struct trc_cpu_event {
	char name[48];	  /* "cycles:u": what tells it from others in the trace */
	char note[160];	  /* what is worth knowing; "" = nothing */
	const char *unit; /* "nanoseconds" of CPU time, or "count" */
	uint32_t type;	  /* of struct perf_event_attr; nothing for a timer */
	uint64_t config;
	bool is_auto; /* not decided yet; else is_timer tells */
	bool is_timer;
	bool is_clock; /* its unit is nanoseconds */
	bool is_hardware;
	bool said_modes; /* u, k or h stands there */
	bool exclude_user, exclude_kernel, exclude_hv;
	uint8_t precise;       /* 0 to 3 */
	uint64_t period;       /* never 0 */
	bool is_preset;	       /* neither a period nor a frequency was asked for */
	uint64_t frequency_hz; /* as asked for; 0 = period was, or nothing */
	enum trc_sample_by by;
	enum trc_sample_how how; /* 0 until trc_cpu_events_settle() */
};

/*
 * Understands a list; out[TRC_CPU_EVENTS_MAX] is filled in from the beginning.  frequency_hz 0 = not
 * given; else it is for those clocks in the list that have no period.  NULL or "" with a frequency
 * is "auto"; without, nothing.  Neither allocates nor looks at the locale, nor at the machine.
 * How many (0 and more), or -EINVAL with a sentence in error that says what is possible.
 */
int trc_cpu_events_parse(const char *list, uint64_t frequency_hz, enum trc_sample_by by,
			 struct trc_cpu_event *out, char *error, size_t n_bytes);
/* True if both count the same: the same event in the same modes.  A hypervisor tells none apart,
 * nor does how exactly a place is told; auto, as long as it is open, is what it may come to. */
bool trc_cpu_event_same(const struct trc_cpu_event *a, const struct trc_cpu_event *b);
/* "auto", "signal", "kernel"; false: none of these. */
bool trc_sample_by_parse(const char *text, enum trc_sample_by *by);

/*
 * Tries each event out for the calling thread, and decides what is open: `how`, auto, and where
 * perf allows nothing else: user mode only.  Notes say what was decided.  can_kernel: whether the
 * caller can take the kernel's samples.  The same events, settled again by a caller with the same
 * rights, come out the same.
 * 0, or -errno with a sentence in error: which event, why, and what would work.
 * Context: any thread; allocates nothing, leaves no descriptor.
 */
int trc_cpu_events_settle(struct trc_cpu_event *events, unsigned int n, bool can_kernel,
			  char *error, size_t n_bytes);

/*
 * A signal that finds a thread blocked makes it switch once more, when the call goes on.  Counters
 * of switches that overflow at each of them, by themselves or in turns, would count nothing but
 * what they do.  Such periods are refused: 0, or -EINVAL with a sentence in error.  Settling asks
 * this; so does who puts together what was settled apart.  Context: as above.
 */
int trc_cpu_events_check_signals(const struct trc_cpu_event *events, unsigned int n, char *error,
				 size_t n_bytes);

/* What perf_event_open() needs to know of it; disabled, and without sample_type.  Not for timers. */
void trc_cpu_event_attr(const struct trc_cpu_event *e, struct perf_event_attr *attr);
/* Why perf_event_open() refused it with err (negative), and what would work, as a sentence; some
 * 300 bytes. */
void trc_cpu_event_explain(const struct trc_cpu_event *e, int err, char *text, size_t n_bytes);
/* What a sample stands for if its counter had the hardware for running_ns of the enabled_ns since
 * the one before: others want it, too.  Context: any thread, signal handlers. */
uint64_t trc_cpu_event_scaled(uint64_t period, uint64_t enabled_ns, uint64_t running_ns);
/* perf_event_paranoid, or -100 where it cannot be read. */
int trc_perf_paranoid_level(void);
/* How many frames the kernel takes of a stack at most. */
uint32_t trc_perf_chain_max(void);
/* What timers of CPU time count in: 4000000 where the kernel's HZ is 250. */
uint64_t trc_cpu_tick_ns(void);

#endif
