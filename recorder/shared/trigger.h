/*
 * trigger.h - conditions that set off a snapshot, as users write them.
 *
 *   park>100ms              a wait for a lock, condition, semaphore, barrier, thread or once took
 *                           longer, or lasts longer already (the taker of snapshots looks at the
 *                           threads' slots)
 *   park:mutex,cond>100ms   the same, for these reasons only (names as in the schema; also those
 *                           of I/O waits)
 *   region:NAME>50ms        a region of this type took longer
 *   task:NAME>200ms         a task of this type took longer
 *   signal=USR2             the signal arrived
 *   exit, crash             the process ended in good order; otherwise
 *
 * Times take ns, us, ms, s; a number without a unit is an error.
 */
#ifndef TRC_RECORDER_SHARED_TRIGGER_H
#define TRC_RECORDER_SHARED_TRIGGER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "format/schema.h"

enum trc_trigger_kind {
	TRC_TRIGGER_PARK,
	TRC_TRIGGER_REGION,
	TRC_TRIGGER_TASK,
	TRC_TRIGGER_SIGNAL,
	TRC_TRIGGER_EXIT,
	TRC_TRIGGER_CRASH,
};

struct trc_trigger_spec {
	enum trc_trigger_kind kind;
	uint64_t min_ns;
	uint32_t reasons; /* TRC_TRIGGER_PARK: bit of each enum trc_reason */
	int signal;
	char name[64]; /* of the region's or task's type */
	char text[96]; /* as written */
};

/* 0, or -EINVAL with a sentence in error.  Does not allocate, and does not use the locale. */
int trc_trigger_parse(struct trc_trigger_spec *spec, const char *text, char *error, size_t n_bytes);
/* "10s", "500ms" as nanoseconds: 0 or -EINVAL. */
int trc_duration_parse(const char *text, uint64_t *ns);

/* ---- in the recorded process (trigger_guest.c) ---- */

enum { TRC_TRIGGER_SPECS_MAX = 16 };
/* Replaces the conditions that are looked for.  Context: any thread, in an open session; one thread
 * at a time. */
void trc_triggers_set(const struct trc_trigger_spec *specs, unsigned int n);
/* Asks for a snapshot: makes a TRIGGER event, fills in a place of the shared mapping's list, and
 * wakes the taker of snapshots by a futex.  Context: traced thread, signal handlers; never
 * waits. */
void trc_trigger_fire(const char *what, size_t n_bytes);

/*
 * Limits for the ends of waits, regions and tasks: the shortest time, in ticks, of all conditions
 * of each kind; UINT64_MAX = there is no condition.
 */
struct trc_trigger_least {
	_Atomic uint64_t park, region, task;
};
extern __attribute__((visibility("hidden"))) struct trc_trigger_least trc_trigger_least;

static inline uint64_t trc_trigger_shortest(const _Atomic uint64_t *least)
{
	/* relaxed: a new condition may take effect a little sooner or later. */
	return atomic_load_explicit(least, memory_order_relaxed);
}

/* A wait lasted long enough for a condition or more: finds out for which, and fires each condition
 * that is met.  Context: traced thread, signal handlers. */
void trc_trigger_waited(enum trc_reason reason, uint64_t object, uint64_t ticks);
/* Called before the thread's slot forgets its innermost region.  Regions that are too deep for the
 * slot (TRC_OPEN_REGIONS) are not compared. */
void trc_trigger_region_end(void);
/* `type` is a string id; a task with type 0 (longer than 248 bytes, or no room) is not compared. */
void trc_trigger_task_begin(uint64_t task, uint64_t type);
void trc_trigger_task_end(uint64_t task);
/* A signal arrived; from_pid 0 = not sent by a process. */
void trc_trigger_signal(int number, uint32_t from_pid);
/* Bit (number - 1) of each signal that is a condition. */
uint64_t trc_trigger_signals(void);

#endif
