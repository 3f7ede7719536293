/*
 * slot_inline.h - a thread writes into its slot what it is doing.
 *
 * Only the slot's own thread changes a slot, so the sequence counter needs no atomic addition.  A
 * signal handler may interrupt its thread in the middle of a change.  Then the handler leaves the
 * slot alone; its events still say what happened.  Context: the thread itself, signal handlers.
 */
#ifndef TRC_RECORDER_RING_SLOT_INLINE_H
#define TRC_RECORDER_RING_SLOT_INLINE_H

#include "rec.h"

/* For threads that found no slot: readers know them only by their events. */
extern TRC_HIDDEN struct trc_slot trc_no_slot;

/* False: the slot must not be changed now. */
static inline bool trc_slot_begin(struct trc_slot *slot)
{
	uint32_t seq;

	if (slot == &trc_no_slot || trc_self.slot_busy)
		return false;
	trc_self.slot_busy = true;
	/* seq_cst: a signal handler that finds seq odd finds slot_busy set; trc_slot_end() has the
	 * opposite order. */
	atomic_signal_fence(memory_order_seq_cst);
	seq = atomic_load_explicit(&slot->seq, memory_order_relaxed);
	atomic_store_explicit(&slot->seq, seq | 1, memory_order_relaxed);
	/* release fence: readers that see a changed field see the odd counter. */
	atomic_thread_fence(memory_order_release);
	return true;
}

static inline void trc_slot_end(struct trc_slot *slot)
{
	uint32_t seq = atomic_load_explicit(&slot->seq, memory_order_relaxed);

	/* release: pairs with the reader's acquire of seq. */
	atomic_store_explicit(&slot->seq, seq + 1, memory_order_release);
	atomic_signal_fence(memory_order_seq_cst);
	trc_self.slot_busy = false;
}

static inline void trc_slot_wait(enum trc_reason reason, uint64_t object, uint64_t since,
				 uint64_t holder, uint64_t stack, const struct trc_registers *from)
{
	struct trc_slot *slot = trc_self.slot;

	if (!trc_slot_begin(slot))
		return;
	atomic_store_explicit(&slot->wait_reason, reason, memory_order_relaxed);
	atomic_store_explicit(&slot->wait_object, object, memory_order_relaxed);
	atomic_store_explicit(&slot->wait_since, since, memory_order_relaxed);
	atomic_store_explicit(&slot->wait_holder, holder, memory_order_relaxed);
	atomic_store_explicit(&slot->wait_stack, stack, memory_order_relaxed);
	atomic_store_explicit(&slot->wait_pc, from ? from->pc : 0, memory_order_relaxed);
	atomic_store_explicit(&slot->wait_sp, from ? from->sp : 0, memory_order_relaxed);
	atomic_store_explicit(&slot->wait_fp, from ? from->fp : 0, memory_order_relaxed);
	trc_slot_end(slot);
}

static inline void trc_slot_run(void)
{
	struct trc_slot *slot = trc_self.slot;

	if (!trc_slot_begin(slot))
		return;
	atomic_store_explicit(&slot->wait_reason, 0, memory_order_relaxed);
	trc_slot_end(slot);
}

/* The thread was at this stack just now. */
static inline void trc_slot_seen(uint64_t stack, uint64_t ticks, bool is_sample)
{
	struct trc_slot *slot = trc_self.slot;

	if (!stack || !trc_slot_begin(slot))
		return;
	atomic_store_explicit(&slot->last_stack, stack, memory_order_relaxed);
	atomic_store_explicit(&slot->last_ticks, ticks, memory_order_relaxed);
	atomic_store_explicit(&slot->last_is_sample, is_sample, memory_order_relaxed);
	trc_slot_end(slot);
}

#endif
