/*
 * unwind.c - see unwind.h: the captures.
 */
#include <stddef.h>
#include <string.h>
#include "format/schema.h"
#include "unwind.h"
#include "context.h"
#include "mode.h"
#include "walk.h"
#include "poison.h"

enum {
	LIBUNWIND_OWN = 3,  /* frames before frame[0]: capture_libunwind(), trc_unwind(), A */
	LIBUNWIND_SKIP = 16 /* the most that is left out */
};

static inline void walk_start(struct trc_walk *walk, uint32_t mode, struct trc_copied *copied)
{
	walk->range.copied = copied;
	walk->context_copied = false;
	/* acquire: pairs with the release in trc_cache_setup(): the table is mapped. */
	walk->cache = atomic_load_explicit(&trc_cache.word, memory_order_acquire);
	walk->epoch = trc_cache_epoch();
	walk->guess = mode != TRC_UNWIND_CFI;
	walk->followed = TRC_REGS;
}

enum { ALL = -1, RING = TRC_STACK_OUTERMOST - 1 };

/*
 * Writes frame[n..max) from the walk's frame on; with a negative n as many frames are left out
 * first.  Returns how many frame[] holds.  The walk ends at the last of them.  With `until_fp`
 * it ends early, at a function whose frame pointer is set up.  Frame n is written to
 * frame[n & mask].
 */
static inline __attribute__((always_inline)) TRC_NO_SANITIZE int32_t walk_frames(
	struct trc_walk *walk, uint64_t *frame, int32_t n, int32_t max, bool until_fp, int32_t mask)
{
	/* Copies, for registers: the common step touches no memory but the cache and the stack. */
	uintptr_t pc = walk->pc, sp = walk->sp, fp = walk->fp, key = trc_walk_key(walk);
	uintptr_t hi = walk->range.hi, saved;
	uint32_t epoch = walk->epoch, brief;
	_Atomic uint64_t *cache = walk->cache;
	struct trc_slots at;

	for (;;) {
		/* Or else gcc keeps pc and sp as a pair in a vector, and every step waits for it.
		 */
		__asm__("" : "+r"(pc), "+r"(sp));
		if (n >= 0)
			frame[n & mask] = pc;
		if (++n >= max)
			break;
		brief = trc_cache_get(cache, key, epoch);
		at = trc_short_slots(brief, sp, fp);
		if (until_fp && brief && n > 0 && at.fp_saved && at.fp == fp)
			break;
		if (__builtin_expect(trc_short_kind(brief) - TRC_SHORT_SP > 1 || at.cfa <= sp ||
					     at.fp < sp || at.cfa > hi,
				     0)) {
			walk->pc = pc;
			walk->sp = sp;
			walk->fp = fp;
			walk->exact = key != pc;
			if (!trc_walk_step(walk))
				break;
			pc = walk->pc;
			sp = walk->sp;
			fp = walk->fp;
			hi = walk->range.hi;
			key = trc_walk_key(walk);
			continue;
		}
		saved = *(const volatile uintptr_t *)at.fp;
		pc = trc_pc_plain(*(const volatile uintptr_t *)at.ra);
		fp = at.fp_saved ? saved : fp;
		sp = at.cfa;
		key = pc; /* a return address */
		if (__builtin_expect(!trc_pc_plausible(pc), 0))
			break;
	}
	walk->pc = pc;
	walk->sp = sp;
	walk->fp = fp;
	walk->exact = key != pc;
	return n > 0 ? n : 0;
}

static TRC_NO_SANITIZE uint32_t walk_rules(struct trc_walk *walk, uint64_t *frame, int32_t n,
					   int32_t max)
{
	return (uint32_t)walk_frames(walk, frame, n, max, false, ALL);
}

/*
 * True where a chain of frame pointers is over: on a stack that is no thread's, whose bounds nobody
 * knows, a coroutine's, the outermost function has the frame pointer of whoever made it, which leads
 * to another stack.
 */
static bool chain_is_over(struct trc_walk *walk, const struct trc_range *range, uintptr_t pc,
			  uintptr_t sp, uintptr_t fp)
{
	if (range->whole)
		return false;
	walk->pc = pc;
	return fp - sp > TRC_GUESS_BYTES_MAX || trc_walk_is_outermost(walk);
}

/* By frame pointers alone, from the walk's frame on; writes as walk_frames() does. */
static inline __attribute__((always_inline)) uint32_t
walk_chain(struct trc_walk *walk, uint64_t *frame, uint32_t n, uint32_t max, int32_t mask)
{
	uintptr_t pc = walk->pc, sp = walk->sp, fp = walk->fp, next;
	struct trc_range range = walk->range;

	while (n < max) {
		frame[n++ & (uint32_t)mask] = pc;
		if (fp < sp || chain_is_over(walk, &range, pc, sp, fp) ||
		    !trc_range_read(&range, fp, &next) || !trc_range_read(&range, fp + 8, &pc))
			break;
		pc = trc_pc_plain(pc);
		walk->exact = false;
		if (!trc_pc_plausible(pc))
			break;
		sp = fp + 16;
		fp = next;
	}
	return n;
}

/*
 * By rules up to the first function that keeps a frame pointer (trc's own may keep none, and a
 * function that was interrupted may not have set it up), or has no rules; from there by
 * frame pointers.
 */
static inline __attribute__((always_inline)) TRC_NO_SANITIZE uint32_t
walk_frame_pointers(struct trc_walk *walk, uint64_t *frame, int32_t n, int32_t max, int32_t mask)
{
	int32_t last;

	walk->guess = false; /* needs no proof here */
	last = walk_frames(walk, frame, n, max, true, mask) - 1;
	return last < 0 ? 0 : walk_chain(walk, frame, (uint32_t)last, (uint32_t)max, mask);
}

/* Where a stack begins that is to begin with `pc`. */
static uint32_t index_of(uintptr_t pc, void *const *address, int n)
{
	for (int i = 0; i < n && i < LIBUNWIND_OWN + LIBUNWIND_SKIP; i++)
		if ((uintptr_t)address[i] == pc)
			return (uint32_t)i;
	return LIBUNWIND_OWN;
}

bool trc_unwind_takes_locks(void)
{
	return atomic_load_explicit(&trc_unwind_how.mode, memory_order_relaxed) ==
	       TRC_UNWIND_LIBUNWIND;
}

/* Leaves out `skip` frames, or with `from` all before this one. */
static __attribute__((noinline)) uint32_t capture_libunwind(uint64_t *frame, uint32_t max,
							    uint32_t skip, uintptr_t from)
{
	void *address[TRC_UNWIND_FRAMES_MAX + LIBUNWIND_OWN + LIBUNWIND_SKIP];
	trc_backtrace_fn *backtrace =
		atomic_load_explicit(&trc_unwind_how.backtrace, memory_order_relaxed);
	uint32_t own = LIBUNWIND_OWN + (skip < LIBUNWIND_SKIP ? skip : LIBUNWIND_SKIP), n = 0;
	int found = backtrace(address, (int)(max + own));

	if (from)
		own = index_of(from, address, found);
	for (int i = (int)own; i < found && n < max && address[i]; i++)
		frame[n++] = (uintptr_t)address[i];
	return n;
}

/* `own_sp` is a stack pointer of the calling thread's. */
static inline __attribute__((always_inline)) void
start_at(struct trc_walk *walk, const struct trc_unwind_start *start, uintptr_t own_sp)
{
	walk->pc = trc_pc_plain(start->pc);
	walk->sp = start->sp;
	walk->fp = start->fp;
	walk->own_sp = own_sp;
	walk->context = 0;
	walk->exact = false;
	trc_range_stack(&walk->range, walk->sp, own_sp);
}

static inline __attribute__((always_inline)) TRC_NO_SANITIZE void
start_at_context(struct trc_walk *walk, const void *ucontext, uintptr_t own_sp)
{
	walk->context = (uintptr_t)ucontext;
	walk->pc = *(const uintptr_t *)(walk->context + TRC_CONTEXT_PC_OFF);
	walk->sp = *(const uintptr_t *)(walk->context + TRC_CONTEXT_SP_OFF);
	walk->fp = *(const uintptr_t *)(walk->context + TRC_CONTEXT_FP_OFF);
	walk->own_sp = own_sp;
	walk->exact = true;
	trc_range_stack(&walk->range, walk->sp, walk->own_sp);
}

/* Keeps a call from becoming a jump: the frame is counted on. */
static inline uint32_t not_a_tail(uint32_t n)
{
	__asm__ volatile("" : "+r"(n));
	return n;
}

/* With a negative n so many frames are left out first. */
static inline __attribute__((always_inline)) TRC_NO_SANITIZE uint32_t
capture(const struct trc_unwind_start *start, uint64_t *frame, int32_t n, uint32_t max,
	bool is_from)
{
	/* acquire: pairs with the release in trc_unwind_setup(): all is set up for the mode. */
	uint32_t mode = atomic_load_explicit(&trc_unwind_how.mode, memory_order_acquire);
	struct trc_copied_few few;
	struct trc_walk walk;

	if (max > TRC_UNWIND_FRAMES_MAX)
		max = TRC_UNWIND_FRAMES_MAX;
	if (mode == TRC_UNWIND_NONE || !max)
		return 0;
	walk_start(&walk, mode, trc_copied_begin(&few));
	start_at(&walk, start, start->sp);
	/* Of other stacks it would load what lies beyond their end (memory:M2). */
	if (mode == TRC_UNWIND_LIBUNWIND && walk.range.whole)
		return not_a_tail(capture_libunwind(frame, max,
						    is_from ? LIBUNWIND_SKIP : (uint32_t)(-n - 1),
						    is_from ? walk.pc : 0));
	if (mode == TRC_UNWIND_FP)
		return walk_frame_pointers(&walk, frame, n, (int32_t)max, ALL);
	return walk_rules(&walk, frame, n, (int32_t)max);
}

__attribute__((noinline)) TRC_NO_SANITIZE uint32_t trc_unwind(uint64_t *frame, uint32_t max,
							      uint32_t skip)
{
	struct trc_unwind_start start = TRC_UNWIND_CALLER();

	if (skip > TRC_UNWIND_FRAMES_MAX)
		skip = TRC_UNWIND_FRAMES_MAX;
	return capture(&start, frame, -(int32_t)skip - 1, max, false);
}

__attribute__((noinline)) TRC_NO_SANITIZE uint32_t
trc_unwind_from(const struct trc_unwind_start *start, uint64_t *frame, uint32_t max)
{
	return capture(start, frame, 0, max, true);
}

TRC_NO_SANITIZE uint32_t trc_unwind_context(const void *ucontext, uint64_t *frame, uint32_t max)
{
	/* acquire: pairs with the release in trc_unwind_setup(). */
	uint32_t mode = atomic_load_explicit(&trc_unwind_how.mode, memory_order_acquire);
	struct trc_copied_few few;
	struct trc_walk walk;
	int32_t n = 0;

	if (max > TRC_UNWIND_FRAMES_MAX)
		max = TRC_UNWIND_FRAMES_MAX;
	if (mode == TRC_UNWIND_NONE || !max)
		return 0;
	walk_start(&walk, mode, trc_copied_begin(&few));
	start_at_context(&walk, ucontext, (uintptr_t)__builtin_frame_address(0));
	if (!trc_pc_plausible(walk.pc)) {
		frame[n++] = walk.pc;
		if (n == (int32_t)max || !trc_walk_lost(&walk))
			return (uint32_t)n;
	}
	if (mode == TRC_UNWIND_FP)
		return walk_frame_pointers(&walk, frame, n, (int32_t)max, ALL);
	return walk_rules(&walk, frame, n, (int32_t)max);
}

/* The outermost frames, the last at ring[depth - 1 & RING].  Returns the depth, at most
 * TRC_UNWIND_WALK_MAX. */
static TRC_NO_SANITIZE uint32_t walk_outermost(struct trc_walk *walk, uint32_t mode,
					       uint64_t ring[TRC_STACK_OUTERMOST], int32_t n)
{
	if (mode == TRC_UNWIND_FP)
		return walk_frame_pointers(walk, ring, n, TRC_UNWIND_WALK_MAX, RING);
	return (uint32_t)walk_frames(walk, ring, n, TRC_UNWIND_WALK_MAX, false, RING);
}

/* The walk is at its start, and would write its next frame to frame[n]. */
static TRC_NO_SANITIZE void walk_elide(struct trc_walk *walk, uint32_t mode, uint64_t *frame,
				       uint32_t before, int32_t n)
{
	enum { INNERMOST = TRC_STACK_DEPTH_MAX - TRC_STACK_OUTERMOST - 1 };
	uint64_t ring[TRC_STACK_OUTERMOST];
	uint32_t depth = walk_outermost(walk, mode, ring, n);

	if (depth == TRC_UNWIND_WALK_MAX || trc_copied_gave_up(walk->range.copied)) {
		frame[TRC_STACK_DEPTH_MAX - 1] = TRC_FRAMES_ELIDED;
		return;
	}
	if (depth <= before + TRC_STACK_DEPTH_MAX)
		return;
	frame[INNERMOST] = TRC_FRAMES_ELIDED;
	for (uint32_t i = 0; i < TRC_STACK_OUTERMOST; i++)
		frame[INNERMOST + 1 + i] = ring[(depth + i) & RING];
}

TRC_NO_SANITIZE void trc_unwind_elide_from(const struct trc_unwind_start *start, uint64_t *frame,
					   uint32_t before)
{
	/* acquire: pairs with the release in trc_unwind_setup(). */
	uint32_t mode = atomic_load_explicit(&trc_unwind_how.mode, memory_order_acquire);
	struct trc_copied_few few;
	struct trc_walk walk;

	walk_start(&walk, mode, trc_copied_begin(&few));
	start_at(&walk, start, start->sp);
	walk_elide(&walk, mode, frame, before, 0);
}

TRC_NO_SANITIZE uint32_t trc_unwind_other(const struct trc_unwind_start *start, uint64_t *frame,
					  uint32_t max)
{
	/* acquire: pairs with the release in trc_unwind_setup(). */
	uint32_t mode = atomic_load_explicit(&trc_unwind_how.mode, memory_order_acquire);
	struct trc_copied_few few;
	struct trc_walk walk;

	if (max > TRC_UNWIND_FRAMES_MAX)
		max = TRC_UNWIND_FRAMES_MAX;
	if (mode == TRC_UNWIND_NONE || !max || !trc_pc_plausible(trc_pc_plain(start->pc)))
		return 0;
	walk_start(&walk, mode, trc_copied_begin(&few));
	start_at(&walk, start, (uintptr_t)__builtin_frame_address(0));
	if (mode == TRC_UNWIND_FP)
		return walk_frame_pointers(&walk, frame, 0, (int32_t)max, ALL);
	return walk_rules(&walk, frame, 0, (int32_t)max);
}

TRC_NO_SANITIZE void trc_unwind_elide_other(const struct trc_unwind_start *start, uint64_t *frame,
					    uint32_t before)
{
	/* acquire: pairs with the release in trc_unwind_setup(). */
	uint32_t mode = atomic_load_explicit(&trc_unwind_how.mode, memory_order_acquire);
	struct trc_copied_few few;
	struct trc_walk walk;

	walk_start(&walk, mode, trc_copied_begin(&few));
	start_at(&walk, start, (uintptr_t)__builtin_frame_address(0));
	walk_elide(&walk, mode, frame, before, 0);
}

TRC_NO_SANITIZE uint32_t trc_unwind_whole(const struct trc_unwind_start *start,
					  struct trc_copied *copied, uint64_t *frame, uint32_t max,
					  bool *is_whole)
{
	/* acquire: pairs with the release in trc_unwind_setup(). */
	uint32_t mode = atomic_load_explicit(&trc_unwind_how.mode, memory_order_acquire), n;
	struct trc_walk walk = {.pc = trc_pc_plain(start->pc), .sp = start->sp, .fp = start->fp};

	*is_whole = false;
	if (mode == TRC_UNWIND_NONE || mode == TRC_UNWIND_FP || !max || !trc_pc_plausible(walk.pc))
		return 0;
	walk_start(&walk, TRC_UNWIND_CFI, copied);
	n = walk_rules(&walk, frame, 0, (int32_t)max);
	*is_whole = n < max && trc_walk_is_outermost(&walk);
	return n;
}

__attribute__((noinline)) TRC_NO_SANITIZE void trc_unwind_elide(const void *ucontext,
								uint64_t *frame, uint32_t before)
{
	struct trc_unwind_start start = TRC_UNWIND_CALLER();
	/* acquire: pairs with the release in trc_unwind_setup(). */
	uint32_t mode = atomic_load_explicit(&trc_unwind_how.mode, memory_order_acquire);
	struct trc_copied_few few;
	struct trc_walk walk;
	int32_t n = 0;

	walk_start(&walk, mode, trc_copied_begin(&few));
	if (ucontext) {
		start_at_context(&walk, ucontext, (uintptr_t)__builtin_frame_address(0));
		if (!trc_pc_plausible(walk.pc) && (n++, !trc_walk_lost(&walk)))
			return;
	} else {
		start_at(&walk, &start, start.sp);
		n = -1;
	}
	walk_elide(&walk, mode, frame, before, n);
}
