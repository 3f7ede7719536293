/*
 * trigger_watch.h - is a snapshot due?
 *
 * A snapshot is due if the mapping's list of triggers has a request, or if a thread waits too long
 * already.  Used by trace-record for the processes that it records, and by the thread of a flight
 * recorder in its own process.
 *
 *   trigger_watch:C1  the mapping is only read, and not trusted
 *   trigger_watch:C2  a wait sets off one snapshot: while the wait lasts, or else when it has ended
 *   trigger_watch:C3  a condition that is met between an odd moment and its snapshot (after_ns) is
 *       in that snapshot, and sets off no other.  A condition that is met less than every_ns after
 *       a snapshot is passed over
 *   trigger_watch:C4  no function here calls malloc, stdio or an interposed libc function
 */
#ifndef TRC_RECORDER_DRAIN_TRIGGER_WATCH_H
#define TRC_RECORDER_DRAIN_TRIGGER_WATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "recorder/shared/layout.h"
#include "recorder/shared/trigger.h"

enum {
	TRC_TRIGGER_MAX_DEFAULT = 10,
	TRC_TRIGGER_TEXT_BYTES = TRC_TRIGGER_WORDS * 8 + 1,
	TRC_TRIGGER_TOLD = 32,
};
#define TRC_TRIGGER_EVERY_NS_DEFAULT UINT64_C(10000000000)

/* How many snapshots, and when.  Zero means zero here; max UINT64_MAX = as many as come. */
struct trc_trigger_limits {
	uint64_t after_ns; /* from the odd moment to its snapshot */
	uint64_t every_ns; /* at least, from one snapshot to the next */
	uint64_t max;	   /* snapshots in all */
};

/* A snapshot to be taken. */
struct trc_trigger_due {
	uint64_t ticks;	 /* the odd moment */
	uint32_t serial; /* of the thread concerned; 0 = none */
	char text[TRC_TRIGGER_TEXT_BYTES];
};

/* Only trigger_watch.c looks into it. */
struct trc_trigger_watch {
	struct trc_trigger_spec spec[TRC_TRIGGER_SPECS_MAX];
	unsigned int n_specs;
	struct trc_trigger_limits limits;

	const struct trc_shared *shared;
	uint64_t slots_off, ticks_per_second;
	uint32_t n_slots;
	uint64_t n_seen; /* requests dealt with */
	/* For each condition: waits that began up to this time have been checked. */
	uint64_t scanned[TRC_TRIGGER_SPECS_MAX];
	struct {
		uint32_t serial, spec;
	} told[TRC_TRIGGER_TOLD]; /* waits reported while they lasted */
	unsigned int next_told;

	bool pending;
	struct trc_trigger_due due;
	uint64_t due_ns, last_ns, n_taken, n_passed_over;
};

void trc_trigger_watch_init(struct trc_trigger_watch *w, const struct trc_trigger_spec *specs,
			    unsigned int n_specs, const struct trc_trigger_limits *limits);

/*
 * Watches this mapping from now on.  `header` is a checked copy of its header, `n_seen` the number
 * of its old requests: 0 for a process that has just begun.  Counts of the limits go on.
 */
void trc_trigger_watch_attach(struct trc_trigger_watch *w, const struct trc_shared *shared,
			      const struct trc_shared *header, uint64_t n_seen);

/* A request that does not come by the mapping's list: the same limits hold. */
void trc_trigger_watch_ask(struct trc_trigger_watch *w, uint64_t now_ns,
			   const struct trc_trigger_due *due);

/*
 * True if a snapshot is due now: *due says why, and the caller takes the snapshot.  At most one per
 * call.
 * now_ns is CLOCK_MONOTONIC_RAW, now_ticks the mapping's clock.
 */
bool trc_trigger_watch_look(struct trc_trigger_watch *w, uint64_t now_ns, uint64_t now_ticks,
			    struct trc_trigger_due *due);

/* For the end of the process: true, with *due, if a snapshot is pending, however long its
 * after_ns. */
bool trc_trigger_watch_last(struct trc_trigger_watch *w, uint64_t now_ns, uint64_t now_ticks,
			    struct trc_trigger_due *due);

/* True if this condition (exit, crash), which the caller notices itself, is among the conditions
 * asked for: it is met once, and the limits do not count it. */
bool trc_trigger_watch_end(const struct trc_trigger_watch *w, enum trc_trigger_kind kind);

/* How many snapshots the limits prevented. */
uint64_t trc_trigger_watch_passed_over(const struct trc_trigger_watch *w);

/*
 * How long to sleep before the next trc_trigger_watch_look(), unless trigger_wake changes;
 * UINT64_MAX = until trigger_wake changes.  Load trigger_wake before the look: then a request that
 * is made meanwhile ends the sleep.
 */
uint64_t trc_trigger_watch_sleep_ns(const struct trc_trigger_watch *w, uint64_t now_ns);

/*
 * "dump.trc" as "dump.1.trc", for a child "dump.CHILD.1.trc" (child NULL = no child's): the number
 * goes before the suffix of the last component, or at its end.  0 or -ENAMETOOLONG.
 */
int trc_trigger_path(char *path, size_t n_bytes, const char *base, const char *child,
		     uint64_t number);

#endif
