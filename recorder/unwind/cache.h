/*
 * cache.h - rules by address, for the whole process.
 *
 * One table of 64-bit words, mapped once, never grown: 16 Ki sets of four.  A word holds the bits
 * of the address that the number of its set does not tell, the epoch of the module list, and the
 * rule in short:
 *
 *	63           30 29    24 23  22 21              0
 *	| address >> 14 | epoch | kind | cfa | fp, or wide |
 *
 *   cache:H1  a word is stored whole and is valid alone: no order between words matters
 *   cache:H2  set and word together tell the address (48 bits) exactly: a hit never belongs to
 *       another address
 *   cache:H3  a word of a past epoch is never hit, although its few bits of the epoch come round
 *       again.  Each change of epoch empties the table, and a thread that stores a word takes it
 *       back if the epoch has changed meanwhile
 *   cache:H4  a rule that does not fit lies in the table of wide rules; its word is stored
 *       (release) after it; wide rules are never changed
 */
#ifndef TRC_RECORDER_UNWIND_CACHE_H
#define TRC_RECORDER_UNWIND_CACHE_H

#include <stdatomic.h>
#include <stddef.h>
#include "rule.h"

enum {
	TRC_CACHE_SET_BITS = 14,
	TRC_CACHE_WAYS = 4,
	TRC_CACHE_WORDS = TRC_CACHE_WAYS << TRC_CACHE_SET_BITS,
	TRC_CACHE_EPOCH_BITS = 6,
	TRC_SHORT_FIELD_BITS = 22,
	TRC_SHORT_BITS = TRC_SHORT_FIELD_BITS + 2, /* with the kind */
};
#define TRC_CACHE_ADDRESS_MAX ((uintptr_t)1 << 48)

/* The kinds of short rules; 0 marks an empty word. */
enum trc_short {
	/* caller's sp = CFA = sp + cfa, return address and frame pointer in memory below it */
	TRC_SHORT_SP = 1,
	/* the same from the frame pointer */
	TRC_SHORT_FP = 2,
	TRC_SHORT_WIDE = 3, /* the number of a wide rule */
};

/*
 * The fields of SP and FP.  On x86-64 the return address lies just below the CFA, and the
 * frame pointer, if it was saved, in some word below that.  On aarch64 both lie side by side
 * in a frame record somewhere below the CFA.
 */
#if defined(__x86_64__)
enum {
	TRC_SHORT_FP_BITS = 8, /* in words of 8 bytes below the CFA; 0 = not saved */
	TRC_SHORT_CFA_UNIT = 8,
};
#else
enum {
	TRC_SHORT_FP_BITS = 11, /* in words of 8 bytes; always saved */
	TRC_SHORT_CFA_UNIT = 16,
};
#endif

struct trc_cache {
	/* Stored once, by trc_cache_setup(); NULL = no cache yet. */
	_Atomic uint64_t *_Atomic word;
	/* Counts changes of the module list; stored by trc_cache_forget(). */
	_Atomic uint32_t epoch;
};
extern struct trc_cache trc_cache;

static inline uint32_t trc_cache_epoch(void)
{
	/* acquire: pairs with trc_cache_forget(): rules are looked up after this, and stored
	 * under this epoch (H3). */
	return atomic_load_explicit(&trc_cache.epoch, memory_order_acquire);
}

/* The set of an address, by its low bits, which are spread well enough. */
static inline uint32_t trc_cache_set(uintptr_t address)
{
	return (uint32_t)(address & ((1u << TRC_CACHE_SET_BITS) - 1)) * TRC_CACHE_WAYS;
}

/* A word without its rule (H2). */
static inline uint64_t trc_cache_tag(uintptr_t address, uint32_t epoch)
{
	return (uint64_t)(address >> TRC_CACHE_SET_BITS) << TRC_CACHE_EPOCH_BITS |
	       (epoch & ((1u << TRC_CACHE_EPOCH_BITS) - 1));
}

/* The short rule for `address` < 2^48, with anything above its bits; 0 = none.  Context: traced
 * thread, signal handlers. */
static inline __attribute__((always_inline)) uint32_t
trc_cache_get(_Atomic uint64_t *words, uintptr_t address, uint32_t epoch)
{
	_Atomic uint64_t *set = words + trc_cache_set(address);
	uint64_t tag = trc_cache_tag(address, epoch), word;

#pragma GCC unroll 4
	for (uint32_t way = 0; way < TRC_CACHE_WAYS; way++) {
		/* relaxed: H1; for a wide rule see trc_cache_wide(). */
		word = atomic_load_explicit(&set[way], memory_order_relaxed);
		if (__builtin_expect(word >> TRC_SHORT_BITS == tag, 1))
			return (uint32_t)word;
	}
	return 0;
}

static inline uint32_t trc_short_kind(uint32_t rule)
{
	return rule >> TRC_SHORT_FIELD_BITS & 3;
}

/* The rule in short: SP or FP, or 0 if the rule does not fit.  Context: any. */
uint32_t trc_short_make(const struct trc_rule *rule);

/* Keeps a rule for `address`, found while `epoch` was the epoch.  Does nothing if there is no room
 * for a wide rule, or the epoch has passed.  Context: traced thread, signal handlers. */
void trc_cache_put(uintptr_t address, uint32_t epoch, const struct trc_rule *rule);

/* The rule that a short rule of kind WIDE refers to.  Context: traced thread, signal handlers. */
const struct trc_rule *trc_cache_wide(uint32_t rule);

/* Maps the table, once.  Returns 0 or -errno.  Context: any thread, may block. */
int trc_cache_setup(void);
/* Begins a new epoch.  Context: any thread, may block; one at a time. */
void trc_cache_forget(void);

#endif
