/*
 * cpu_event.h - the events that CPU profiles are drawn from, as users write them: timers and
 * counters.
 *
 *   EVENT[:PERIOD][:MODIFIERS], several of them separated by commas
 *
 *   auto                          cpu-clock where perf allows it in all modes, else timer; a thread
 *                                 that has lived for a while has a timer then, where the kernel's
 *                                 HZ is at least a quarter of what was asked for
 *   timer                         a timer of each thread's CPU time; no faster than the kernel's HZ
 *   cpu-clock, task-clock         the same times, by perf: up to 100,000 samples a second
 *   page-faults, context-switches
 *   cycles, instructions, cache-references, cache-misses, branches, branch-misses
 *   rHEX                          an event by its code in the processor's manual: bits 0-7 the
 *                                 event, 8-15 the unit mask, as with perf
 *
 * PERIOD is in nanoseconds for the first four, else a count.  0 or no period means a preset, which
 * gives about a thousand samples for a second of a busy thread's time (timer: a hundred).
 * MODIFIERS are those of perf: u, k, h count only user mode, kernel, hypervisor; p, pp, ppp ask for
 * a more precise place.  Without u, k or h an event counts in all modes that perf allows us.
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
	/* What auto settled as a clock by timers: a thread has a counter for so many ticks of its CPU
	 * time before it has a timer (sample:S7).  The tick that a timer may miss at a thread's end is
	 * then no more than a hundredth of what the thread has used, on average half. */
	TRC_CPU_COUNTER_TICKS = 100,
	/* So many samples of a clock that the kernel samples each thread takes itself, by signals, at its
	 * beginning (sample:S9). */
	TRC_CPU_FIRST_SAMPLES = 4,
};

struct trc_cpu_event {
	char name[48];	  /* "cycles:u": unique in the trace */
	char note[160];	  /* what is worth knowing; "" = nothing */
	const char *unit; /* "nanoseconds" of CPU time, or "count" */
	uint32_t type;	  /* of struct perf_event_attr; nothing for a timer */
	uint64_t config;
	bool is_auto;  /* not decided yet; once decided, is_timer says which */
	bool is_timer; /* from the beginning of each thread */
	bool is_clock; /* its unit is nanoseconds */
	bool is_hardware;
	bool said_modes; /* u, k or h was given */
	bool exclude_user, exclude_kernel, exclude_hv;
	uint8_t precise;       /* 0 to 3 */
	uint64_t period;       /* never 0 */
	bool is_preset;	       /* neither a period nor a frequency was asked for */
	uint64_t frequency_hz; /* as asked for; 0 = a period, or nothing, was asked for */
	enum trc_sample_by by;
	enum trc_sample_how how; /* 0 until trc_cpu_events_settle() */
	bool first_by_signal;	 /* the kernel samples it, but for each thread's first samples */
};

/*
 * Parses a list into out[TRC_CPU_EVENTS_MAX], from its beginning.  frequency_hz is for clocks in
 * the list that have no period; 0 = not given.  A list of NULL or "" means "auto" with a frequency,
 * and no events without a frequency.  Does not allocate, and uses neither the locale nor the
 * machine. Returns the number of events, or -EINVAL with a sentence in error that says what is
 * possible.
 */
int trc_cpu_events_parse(const char *list, uint64_t frequency_hz, enum trc_sample_by by,
			 struct trc_cpu_event *out, char *error, size_t n_bytes);
/* True if both count the same event in the same modes.  The modifiers for the hypervisor and for
 * precision make no difference.  An undecided auto is the same as each event that it may become. */
bool trc_cpu_event_same(const struct trc_cpu_event *a, const struct trc_cpu_event *b);
/*
 * TRC_KERNEL_EVENTS: settled clocks that trace-record has the kernel sample, as it tells the
 * recorded process, which takes its threads' first samples of them (first_by_signal).  "user;"
 * before the list says that clocks are counted in user mode only, though their names do not say
 * so.  _add() appends one; _parse() is trc_cpu_events_parse() of such a list, by the kernel.
 */
void trc_kernel_events_add(char *list, size_t n_bytes, const struct trc_cpu_event *settled);
int trc_kernel_events_parse(const char *list, struct trc_cpu_event *out, bool *user_only,
			    char *error, size_t n_bytes);
/* True if the process, which has settled the event as its own rights are, counts what trace-record
 * counts. */
bool trc_kernel_event_is_same(const struct trc_cpu_event *settled, bool user_only);
/* "auto", "signal", "kernel"; false: none of these. */
bool trc_sample_by_parse(const char *text, enum trc_sample_by *by);

/*
 * Tries each event for the calling thread, and decides what is open: `how`, auto, and, where
 * perf allows nothing else, user mode only.  Notes say what was decided.  can_kernel: true if the
 * caller can take the kernel's samples.  The same events, settled again by a caller with the same
 * rights, give the same result.
 * 0, or -errno with a sentence in error: which event, why, and what would work.
 * Context: any thread; allocates nothing, leaves no descriptor.
 */
int trc_cpu_events_settle(struct trc_cpu_event *events, unsigned int n, bool can_kernel,
			  char *error, size_t n_bytes);

/*
 * A signal that finds a thread blocked makes the thread switch once more, when the call goes on.
 * Counters of switches that overflow at each switch, alone or in turns, would count only the
 * switches that they cause.  Such periods are refused: 0, or -EINVAL with a sentence in error.
 * Settling checks this; code that combines separately settled events checks again.  Context: as
 * above.
 */
int trc_cpu_events_check_signals(const struct trc_cpu_event *events, unsigned int n, char *error,
				 size_t n_bytes);

/* The attributes of an event for perf_event_open(); disabled, and without sample_type.  Not for
 * timers. */
void trc_cpu_event_attr(const struct trc_cpu_event *e, struct perf_event_attr *attr);
/* A sentence on why perf_event_open() refused the event with err (negative), and what would work;
 * some 300 bytes. */
void trc_cpu_event_explain(const struct trc_cpu_event *e, int err, char *text, size_t n_bytes);
/* The value of a sample whose counter had the hardware only for running_ns of the enabled_ns since
 * the sample before, because other counters need the hardware, too.  Context: any thread, signal
 * handlers. */
uint64_t trc_cpu_event_scaled(uint64_t period, uint64_t enabled_ns, uint64_t running_ns);
/* What made perf_event_open() answer EACCES, EPERM or ENOSYS, in a few words; "" of any other err (negative). */
const char *trc_perf_refused_by(int err, char *text, size_t n_bytes);
/* perf_event_paranoid, or -100 where it cannot be read. */
int trc_perf_paranoid_level(void);
/* The most frames that the kernel takes of a stack. */
uint32_t trc_perf_chain_max(void);
/* The tick of timers of CPU time: 4000000 where the kernel's HZ is 250. */
uint64_t trc_cpu_tick_ns(void);

#endif
