/*
 * slot_look.h - reads the slot of a thread that goes on changing it.
 *
 * Context: any thread, signal handlers; also of another process.
 */
#ifndef TRC_RECORDER_SHARED_SLOT_LOOK_H
#define TRC_RECORDER_SHARED_SLOT_LOOK_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include "layout.h"

/* How often a look is tried before it gives up, or takes the slot as it stands: the slot's thread
 * may have been stopped in the middle of a change. */
enum { TRC_SLOT_TRIES = 64 };

/* Begins a look at the slot.  Returns what trc_slot_same() asks for afterwards. */
static inline uint32_t trc_slot_look(const struct trc_slot *slot)
{
	/* acquire: pairs with the release in trc_slot_end(): the fields of that change are seen. */
	return atomic_load_explicit(&slot->seq, memory_order_acquire);
}

/* True if all that was loaded since trc_slot_look() is of one state of the slot. */
static inline bool trc_slot_same(const struct trc_slot *slot, uint32_t seq)
{
	/* acquire fence: those loads come before this second look at the counter; pairs with the release
	 * fence in trc_slot_begin(). */
	atomic_thread_fence(memory_order_acquire);
	return !(seq & 1) && seq == atomic_load_explicit(&slot->seq, memory_order_relaxed);
}

/* What a slot says of the wait that its thread is in. */
struct trc_slot_wait {
	uint32_t state, serial, tid, reason; /* reason 0 = it does not wait */
	uint64_t object, since, stack;
	struct trc_registers from; /* pc 0 = not known */
};

/* Between trc_slot_look() and trc_slot_same(), or of a copy. */
static inline void trc_slot_wait_load(const struct trc_slot *slot, struct trc_slot_wait *wait)
{
#define LOAD(field) atomic_load_explicit(&slot->field, memory_order_relaxed)
	*wait = (struct trc_slot_wait){
		.state = LOAD(state),
		.serial = LOAD(serial),
		.tid = LOAD(tid),
		.reason = LOAD(wait_reason),
		.object = LOAD(wait_object),
		.since = LOAD(wait_since),
		.stack = LOAD(wait_stack),
		.from = {LOAD(wait_pc), LOAD(wait_sp), LOAD(wait_fp)},
	};
#undef LOAD
}

/* True if the slot's thread lives, and waits for a reason that this version knows. */
static inline bool trc_slot_waits(const struct trc_slot_wait *wait)
{
	return wait->state == TRC_SLOT_LIVE && wait->reason && wait->reason < TRC_REASON_COUNT;
}

#endif
