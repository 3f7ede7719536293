/*
 * walk.h - from one frame to the next.
 *
 *   walk:W1  range.lo <= sp, or the range is empty: the registers that a frame saved lie at or
 *       above its sp
 *   walk:W2  pc is below TRC_CACHE_ADDRESS_MAX and not in the first pages
 *   walk:W3  a step that fails ends the walk
 */
#ifndef TRC_RECORDER_UNWIND_WALK_H
#define TRC_RECORDER_UNWIND_WALK_H

#include "cache.h"
#include "memory.h"

enum { TRC_PC_MIN = 65536 };
/* How far from the stack pointer a guessed frame may lie: a stale frame pointer often leads to
 * another stack. */
#define TRC_GUESS_BYTES_MAX ((uintptr_t)256 << 10)

struct trc_walk {
	uintptr_t pc;
	uintptr_t sp;
	uintptr_t fp;
	struct trc_range range;
	_Atomic uint64_t *cache;
	uintptr_t context; /* a ucontext_t with all registers of the last frame that was
			    * interrupted, of this very frame if `exact`; 0 = none */
	uintptr_t own_sp;  /* of who walks */
	uintptr_t followed_value;
	uint32_t followed; /* one more register that is known; TRC_REGS = none */
	uint32_t epoch;
	bool context_copied; /* `context` lies where nothing may be loaded (memory:M2) */
	bool exact;	     /* pc was interrupted: it is no return address */
	bool guess;	     /* cross code without rules, where that can be checked */
};

/* The key of a frame's rule in the cache.  For a return address the rule is that of the call, which
 * lies before the address: so all keys are one more than an address within the instruction. */
static inline uintptr_t trc_walk_key(const struct trc_walk *walk)
{
	return walk->pc + walk->exact;
}

static inline bool trc_pc_plausible(uintptr_t pc)
{
	return pc - TRC_PC_MIN < TRC_CACHE_ADDRESS_MAX - TRC_PC_MIN;
}

/* A return address without its signature (aarch64 pointer authentication). */
static inline uintptr_t trc_pc_plain(uintptr_t pc)
{
#if defined(__aarch64__)
	register uintptr_t x30 __asm__("x30") = pc;

	__asm__("hint #7" : "+r"(x30)); /* xpaclri; a no-op on older processors */
	return x30;
#else
	return pc;
#endif
}

/*
 * Any step; for the steps that trc_step_short() does not take.  Returns false if the walk is over.
 * Context: traced thread, signal handlers.
 */
bool trc_walk_step(struct trc_walk *walk);

/* True if the walk's frame says that it is the outermost frame.  Context: as above. */
bool trc_walk_is_outermost(const struct trc_walk *walk);

/* True if the walk's frame is in code without rules, which trc_walk_step() may cross by the frame
 * pointer.  Context: as above. */
bool trc_walk_is_crossing(const struct trc_walk *walk);

/* Goes from an address without code to the caller, by the return address that the call has just
 * pushed.  Returns false if there is none. */
bool trc_walk_lost(struct trc_walk *walk);

/* Where the caller's registers lie, by a short rule. */
struct trc_slots {
	uintptr_t cfa;
	uintptr_t ra;
	uintptr_t fp; /* one that may be read, also if `fp_saved` is false */
	bool fp_saved;
};

static inline __attribute__((always_inline)) struct trc_slots
trc_short_slots(uint32_t brief, uintptr_t sp, uintptr_t fp)
{
	uint32_t fp_words = brief & ((1u << TRC_SHORT_FP_BITS) - 1);
	uint32_t cfa_units = brief >> TRC_SHORT_FP_BITS &
			     ((1u << (TRC_SHORT_FIELD_BITS - TRC_SHORT_FP_BITS)) - 1);
	struct trc_slots at;

	/* One bit tells them apart. */
	_Static_assert((TRC_SHORT_SP & 2) == 0 && (TRC_SHORT_FP & 2) != 0, "kinds");
	at.cfa = (brief >> TRC_SHORT_FIELD_BITS & 2 ? fp : sp) +
		 (uintptr_t)cfa_units * TRC_SHORT_CFA_UNIT;
#if defined(__x86_64__)
	at.fp_saved = fp_words != 0;
	at.ra = at.cfa - 8;
	at.fp = at.fp_saved ? at.cfa - fp_words * 8ul : at.ra;
#else
	at.fp_saved = true;
	at.fp = at.cfa - fp_words * 8ul;
	at.ra = at.fp + 8;
#endif
	return at;
}

#endif
