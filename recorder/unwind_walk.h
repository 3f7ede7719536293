/*
 * unwind_walk.h - from one frame to the next.
 *
 *   W1  range.lo <= sp, or the range is empty: what a frame saved lies at or above its sp
 *   W2  pc is below TRC_CACHE_ADDRESS_MAX and not in the first pages
 *   W3  a step that fails leaves nothing to go on with: the walk is over
 */
#ifndef TRC_RECORDER_UNWIND_WALK_H
#define TRC_RECORDER_UNWIND_WALK_H

#include "unwind_cache.h"
#include "unwind_memory.h"

enum {
	TRC_PC_MIN = 65536
};

struct trc_walk {
	uintptr_t pc;
	uintptr_t sp;
	uintptr_t fp;
	struct trc_range range;
	_Atomic uint64_t *cache;
	uintptr_t context; /* a ucontext_t with the registers of this very frame; 0 = none */
	uintptr_t own_sp;  /* of who walks */
	uint32_t epoch;
	bool exact; /* pc was interrupted: it is no return address */
	bool guess; /* cross code without rules, where that can be checked */
	bool over;
};

/* The address of the instruction that this frame is at: for a return address, the call. */
static inline uintptr_t trc_walk_at(const struct trc_walk *walk)
{
	return walk->pc - !walk->exact;
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
 * A step that the cache could not tell in short.  By value, so that the caller's copy may live
 * in registers.  Context: traced thread, signal handlers.
 */
struct trc_walk trc_walk_slowly(struct trc_walk walk);

/* A step by a short rule, whose reads the range does not cover.  `slot` is where the frame
 * pointer was saved, 0 = nowhere.  Context: traced thread, signal handlers. */
struct trc_walk trc_walk_probing(struct trc_walk walk, uintptr_t cfa, uintptr_t slot,
				 uintptr_t ra_slot);

/* The step of every frame with an ordinary rule.  Returns false if the walk is over. */
static inline __attribute__((always_inline)) TRC_NO_SANITIZE bool
trc_walk_step(struct trc_walk *walk)
{
	uint32_t brief = trc_cache_get(walk->cache, trc_walk_at(walk), walk->epoch);
	uint32_t kind = trc_short_kind(brief), fp_words, cfa_units;
	uintptr_t cfa, slot, ra_slot, saved;

	if (kind != TRC_SHORT_SP && kind != TRC_SHORT_FP) {
		*walk = trc_walk_slowly(*walk);
		return !walk->over;
	}
	fp_words = brief & ((1u << TRC_SHORT_FP_BITS) - 1);
	cfa_units = (brief & ((1u << TRC_SHORT_FIELD_BITS) - 1)) >> TRC_SHORT_FP_BITS;
	cfa = (kind == TRC_SHORT_FP ? walk->fp : walk->sp) + cfa_units * TRC_SHORT_CFA_UNIT;
#if defined(__x86_64__)
	ra_slot = cfa - 8;
	slot = fp_words ? cfa - fp_words * 8ul : ra_slot; /* always one that may be read */
#else
	slot = cfa - fp_words * 8ul;
	ra_slot = slot + 8;
#endif
	if (__builtin_expect(slot < walk->sp || cfa <= walk->sp || cfa > walk->range.hi, 0)) {
		*walk = trc_walk_probing(*walk, cfa, fp_words ? slot : 0, ra_slot);
		return !walk->over;
	}
	saved = *(const volatile uintptr_t *)slot;
	walk->fp = fp_words ? saved : walk->fp;
	walk->pc = trc_pc_plain(*(const volatile uintptr_t *)ra_slot);
	walk->sp = cfa;
	walk->context = 0;
	walk->exact = false;
	return trc_pc_plausible(walk->pc);
}

#endif
