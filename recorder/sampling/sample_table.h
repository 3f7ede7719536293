/*
 * sample_table.h - the mapping's table of events that are, or were, sampled (layout.h).
 *
 * The recorded process enters events that it samples by signals. trace-record enters events that it
 * samples by the kernel's buffers.  Each may do so at any time.
 */
#ifndef TRC_RECORDER_SAMPLING_SAMPLE_TABLE_H
#define TRC_RECORDER_SAMPLING_SAMPLE_TABLE_H

#include "recorder/shared/cpu_event.h"
#include "recorder/shared/layout.h"

/*
 * Enters an event that trc_cpu_events_settle() has decided on; an event that is there already keeps
 * its number.  Returns the event's number, from 1; 0 = there is no room.  Context: any thread.
 */
uint32_t trc_sample_event_add(struct trc_shared *shared, const struct trc_cpu_event *e);

/*
 * An event has a number for each period at which it is sampled.  The first function returns the
 * event's first number, which stays as long as the table; 0 = the event has none.  The second
 * returns the first number of the event that has this number; an unknown number is returned
 * unchanged.  Context: any thread; allocates nothing.
 */
uint32_t trc_sample_event_find(const struct trc_shared *shared, enum trc_sample_how how,
			       const char *name);
uint32_t trc_sample_event_first(const struct trc_shared *shared, uint32_t number);

/* The number of threads that are not sampled for want of descriptors or memory, at any period.
 * Context: as above. */
uint64_t trc_sample_event_missing(const struct trc_shared *shared, enum trc_sample_how how,
				  const char *name);

/* Counts lost samples that no event can tell of.  Context: any thread, signal handlers. */
static inline void trc_sample_count_loss(struct trc_shared *shared, uint32_t event,
					 enum trc_sample_loss cause, uint64_t n)
{
	/* relaxed: a count of its own. */
	atomic_fetch_add_explicit(&shared->sample_event[event - 1].lost[cause], n,
				  memory_order_relaxed);
}

/* Counts the CPU time that a thread has used while the event was armed for it (layout.h).  Context: as
 * above. */
static inline void trc_sample_count_armed(struct trc_shared *shared, uint32_t event, uint64_t ns)
{
	/* relaxed: a count of its own. */
	atomic_fetch_add_explicit(&shared->sample_event[event - 1].armed_ns, ns,
				  memory_order_relaxed);
}

/* The event is sampled from now on, or not any more.  now_ns: the CPU time that the process has used.
 * Context: one thread at a time. */
void trc_sample_event_on(struct trc_shared *shared, uint32_t event, uint64_t now_ns);
void trc_sample_event_off(struct trc_shared *shared, uint32_t event, uint64_t now_ns);
/* The process is about to execute another program, whose CPU time is not this one's; or that failed.
 * Context: any thread, signal handlers. */
void trc_sample_events_leave(struct trc_shared *shared, uint64_t now_ns);
void trc_sample_events_stay(struct trc_shared *shared);

/* Counts a thread that is not sampled for want of descriptors or memory. */
static inline void trc_sample_count_missing(struct trc_shared *shared, uint32_t event)
{
	atomic_fetch_add_explicit(&shared->sample_event[event - 1].missing_threads, 1,
				  memory_order_relaxed);
}

#endif
