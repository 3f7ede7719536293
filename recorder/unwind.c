/*
 * unwind.c - see unwind.h: the captures.
 */
#include <stddef.h>
#include <string.h>
#include "unwind.h"
#include "unwind_context.h"
#include "unwind_mode.h"
#include "unwind_walk.h"
#pragma GCC poison malloc calloc realloc free printf fprintf snprintf pthread_mutex_lock

enum {
	LIBUNWIND_OWN = 3,  /* frames before frame[0]: capture_libunwind(), trc_unwind(), A */
	LIBUNWIND_SKIP = 16 /* the most that is left out */
};

static void walk_start(struct trc_walk *walk, uint32_t mode)
{
	/* acquire: pairs with the release in trc_cache_setup(): the table is mapped. */
	walk->cache = atomic_load_explicit(&trc_cache.word, memory_order_acquire);
	walk->epoch = trc_cache_epoch();
	walk->guess = mode != TRC_UNWIND_CFI;
	walk->over = false;
}

static uint32_t walk_rules(struct trc_walk *walk, uint64_t *frame, uint32_t max)
{
	struct trc_walk here = *walk; /* a copy whose address is taken nowhere: registers */
	uint32_t n = 0;

	while (n < max) {
		frame[n++] = here.pc;
		if (!trc_walk_step(&here))
			break;
	}
	return n;
}

static uint32_t walk_frame_pointers(struct trc_walk *walk, uint64_t *frame, uint32_t max)
{
	uintptr_t pc = walk->pc, sp = walk->sp, fp = walk->fp, next;
	struct trc_range range = walk->range;
	uint32_t n = 0;

	while (n < max) {
		frame[n++] = pc;
		if (fp < sp || !trc_range_read(&range, fp, &next) ||
		    !trc_range_read(&range, fp + 8, &pc))
			break;
		pc = trc_pc_plain(pc);
		if (!trc_pc_plausible(pc))
			break;
		sp = fp + 16;
		fp = next;
	}
	return n;
}

static __attribute__((noinline)) uint32_t capture_libunwind(uint64_t *frame, uint32_t max,
							     uint32_t skip)
{
	void *address[TRC_UNWIND_FRAMES_MAX + LIBUNWIND_OWN + LIBUNWIND_SKIP];
	trc_backtrace_fn *backtrace =
		atomic_load_explicit(&trc_unwind_how.backtrace, memory_order_relaxed);
	uint32_t own = LIBUNWIND_OWN + (skip < LIBUNWIND_SKIP ? skip : LIBUNWIND_SKIP), n = 0;
	int found = backtrace(address, (int)(max + own));

	for (int i = (int)own; i < found && n < max && address[i]; i++)
		frame[n++] = (uintptr_t)address[i];
	return n;
}

__attribute__((noinline)) TRC_NO_SANITIZE uint32_t trc_unwind(uint64_t *frame, uint32_t max,
							      uint32_t skip)
{
	/* acquire: pairs with the release in trc_unwind_setup(): all is set up for the mode. */
	uint32_t mode = atomic_load_explicit(&trc_unwind_how.mode, memory_order_acquire);
	struct trc_walk walk;

	if (max > TRC_UNWIND_FRAMES_MAX)
		max = TRC_UNWIND_FRAMES_MAX;
	if (mode == TRC_UNWIND_NONE || !max)
		return 0;
	if (mode == TRC_UNWIND_LIBUNWIND)
		return capture_libunwind(frame, max, skip);
	walk_start(&walk, mode);
	walk.pc = trc_pc_plain((uintptr_t)__builtin_return_address(0));
	walk.sp = (uintptr_t)__builtin_dwarf_cfa();
	walk.fp = *(const volatile uintptr_t *)__builtin_frame_address(0);
	walk.own_sp = walk.sp;
	walk.context = 0;
	walk.exact = false;
	walk.range = trc_range_stack(walk.sp, walk.sp);
	for (uint32_t own = 0; own <= skip; own++) {
		if (!trc_walk_step(&walk))
			return 0;
	}
	if (mode == TRC_UNWIND_FP)
		return walk_frame_pointers(&walk, frame, max);
	return walk_rules(&walk, frame, max);
}

uint32_t trc_unwind_context(const void *ucontext, uint64_t *frame, uint32_t max)
{
	/* acquire: pairs with the release in trc_unwind_setup(). */
	uint32_t mode = atomic_load_explicit(&trc_unwind_how.mode, memory_order_acquire);
	struct trc_walk walk;

	if (max > TRC_UNWIND_FRAMES_MAX)
		max = TRC_UNWIND_FRAMES_MAX;
	if (mode == TRC_UNWIND_NONE || !max)
		return 0;
	walk_start(&walk, mode);
	walk.context = (uintptr_t)ucontext;
	walk.pc = *(const uintptr_t *)(walk.context + TRC_CONTEXT_PC_OFF);
	walk.sp = *(const uintptr_t *)(walk.context + TRC_CONTEXT_SP_OFF);
	walk.fp = *(const uintptr_t *)(walk.context + TRC_CONTEXT_FP_OFF);
	walk.own_sp = (uintptr_t)__builtin_frame_address(0);
	walk.exact = true;
	walk.range = trc_range_stack(walk.sp, walk.own_sp);
	frame[0] = walk.pc;
	/* By rules to the first caller: what was interrupted may not have set up its frame. */
	if (!trc_pc_plausible(walk.pc) || max == 1 || !trc_walk_step(&walk))
		return 1;
	if (mode == TRC_UNWIND_FP)
		return 1 + walk_frame_pointers(&walk, frame + 1, max - 1);
	return 1 + walk_rules(&walk, frame + 1, max - 1);
}
