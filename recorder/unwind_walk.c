/*
 * unwind_walk.c - see unwind_walk.h: the steps that are not ordinary.
 */
#include <errno.h>
#include <ucontext.h>
#include "unwind_module.h"
#include "unwind_walk.h"
#include "unwind_context.h"
#pragma GCC poison malloc calloc realloc free printf fprintf snprintf pthread_mutex_lock

/* How far from the stack pointer a guessed frame may lie: a stale frame pointer often leads to
 * another stack. */
#define GUESS_BYTES_MAX ((uintptr_t)256 << 10)

static struct trc_walk over(struct trc_walk walk)
{
	walk.over = true;
	return walk;
}

/* To the caller, whose registers these are; W2 and, but for signal frames, U3. */
static struct trc_walk caller(struct trc_walk walk, uintptr_t pc, uintptr_t sp, uintptr_t fp)
{
	pc = trc_pc_plain(pc);
	if (!trc_pc_plausible(pc))
		return over(walk);
	walk.pc = pc;
	walk.sp = sp;
	walk.fp = fp;
	walk.context = 0;
	walk.exact = false;
	return walk;
}

struct trc_walk trc_walk_probing(struct trc_walk walk, uintptr_t cfa, uintptr_t slot,
				 uintptr_t ra_slot)
{
	uintptr_t fp = walk.fp, ra;

	if (cfa <= walk.sp || ra_slot < walk.sp || (slot && slot < walk.sp) ||
	    (slot && !trc_range_read(&walk.range, slot, &fp)) ||
	    !trc_range_read(&walk.range, ra_slot, &ra))
		return over(walk);
	return caller(walk, ra, cfa, fp);
}

/* ---- wide rules ------------------------------------------------------------------------- */

static bool register_value(const struct trc_walk *walk, uint32_t reg, uintptr_t *value)
{
	if (reg == TRC_REG_SP)
		*value = walk->sp;
	else if (reg == TRC_REG_FP)
		*value = walk->fp;
	else if (walk->context)
		*value = trc_context_register(walk->context, reg);
	else
		return false;
	return true;
}

/* The value of a place; `same` is what it is where the caller's value is this frame's. */
static bool place_value(struct trc_walk *walk, const struct trc_place *place, uintptr_t cfa,
			uintptr_t same, uintptr_t *value)
{
	uintptr_t base = cfa;

	switch ((enum trc_how)place->how) {
	case TRC_HOW_SAME:
		*value = same;
		return true;
	case TRC_HOW_UNDEFINED:
		*value = 0;
		return true;
	case TRC_HOW_REG:
	case TRC_HOW_REG_MEM:
		if (!register_value(walk, place->reg, &base))
			return false;
		break;
	case TRC_HOW_CFA:
	case TRC_HOW_CFA_MEM:
		break;
	case TRC_HOW_CONST:
	case TRC_HOW_UNKNOWN:
		return false;
	}
	*value = base + (uintptr_t)(intptr_t)place->off;
	if (place->how == TRC_HOW_REG || place->how == TRC_HOW_CFA)
		return true;
	if (!trc_range_read(&walk->range, *value, value))
		return false;
	*value += (uintptr_t)(intptr_t)place->add;
	return true;
}

static bool cfa_value(struct trc_walk *walk, const struct trc_place *place, uintptr_t *cfa)
{
	/* In terms of registers only: there is no CFA yet. */
	return (place->how == TRC_HOW_REG || place->how == TRC_HOW_REG_MEM) &&
	       place_value(walk, place, 0, 0, cfa);
}

/* The return address while it is still in its register. */
static uintptr_t link_register(const struct trc_walk *walk)
{
#if defined(__aarch64__)
	if (walk->context)
		return trc_context_register(walk->context, TRC_REG_RA);
#else
	(void)walk;
#endif
	return 0;
}

static struct trc_walk step_rule(struct trc_walk walk, const struct trc_rule *rule)
{
	uintptr_t cfa, ra, fp, sp;
	struct trc_walk next;

	if (!cfa_value(&walk, &rule->cfa, &cfa) ||
	    !place_value(&walk, &rule->ra, cfa, link_register(&walk), &ra) ||
	    !place_value(&walk, &rule->sp, cfa, cfa, &sp))
		return over(walk);
	/* A frame pointer that cannot be known spoils only the frames that need it. */
	if (!place_value(&walk, &rule->fp, cfa, walk.fp, &fp))
		fp = 0;
	/* U3; a leaf that has pushed nothing (aarch64) has its caller's stack pointer. */
	if (!rule->exact && (sp < walk.sp || (sp == walk.sp && !walk.exact)))
		return over(walk);
	next = caller(walk, ra, sp, fp);
	next.exact = rule->exact;
	return next;
}

/* ---- signal frames ---------------------------------------------------------------------- */

/* To what the signal interrupted: perhaps on another stack. */
static struct trc_walk step_sigreturn(struct trc_walk walk)
{
	uintptr_t context = walk.sp + TRC_CONTEXT_OFF, pc, sp, fp, first;
	struct trc_range range = walk.range;
	struct trc_walk next;

	if (!trc_range_read(&range, context + TRC_CONTEXT_FIRST_OFF, &first) ||
	    !trc_range_read(&range, context + TRC_CONTEXT_FP_OFF, &fp) ||
	    !trc_range_read(&range, context + TRC_CONTEXT_SP_OFF, &sp) ||
	    !trc_range_read(&range, context + TRC_CONTEXT_PC_OFF, &pc))
		return over(walk);
	next = caller(walk, pc, sp, fp);
	if (sp < range.lo || sp >= range.hi)
		range = trc_range_stack(sp, walk.own_sp);
	next.range = range;
	next.exact = true;
	next.context = context;
	return next;
}

/* ---- code without rules ----------------------------------------------------------------- */

/* The return address just pushed, or still in its register: at the start of a function, or
 * in a stub that jumps on. */
static bool guess_leaf(struct trc_walk *walk)
{
#if defined(__x86_64__)
	uintptr_t ra, sp = walk->sp + 8;

	if (!trc_range_read(&walk->range, walk->sp, &ra))
		return false;
#else
	uintptr_t ra = trc_pc_plain(link_register(walk)), sp = walk->sp;
#endif
	if (!trc_pc_plausible(ra) || !trc_module_is_return(ra))
		return false;
	*walk = caller(*walk, ra, sp, walk->fp);
	return true;
}

static bool guess_frame_pointer(struct trc_walk *walk)
{
	uintptr_t ra, fp;

	if (walk->fp - walk->sp > GUESS_BYTES_MAX ||
	    !trc_range_read(&walk->range, walk->fp, &fp) ||
	    !trc_range_read(&walk->range, walk->fp + 8, &ra))
		return false;
	ra = trc_pc_plain(ra);
	if (!trc_pc_plausible(ra) || !trc_module_is_return(ra))
		return false;
	*walk = caller(*walk, ra, walk->fp + 16, fp);
	return true;
}

static struct trc_walk step_guess(struct trc_walk walk)
{
	if (walk.guess && ((walk.exact && guess_leaf(&walk)) || guess_frame_pointer(&walk)))
		return walk;
	return over(walk);
}

/* ---- making rules ----------------------------------------------------------------------- */

/* The rule for where the walk is, kept for the next time. */
static void rule_make(const struct trc_walk *walk, struct trc_rule *rule)
{
	uintptr_t at = trc_walk_at(walk);
	struct trc_cfi_bytes bytes;
	int err = trc_module_cfi(at, &bytes);
	bool loaded = !err;

	if (!err)
		err = trc_cfi_rule(&bytes, at, rule);
	if (err)
		*rule = (struct trc_rule){.kind = TRC_RULE_NONE};
	if ((err || rule->exact) && trc_module_is_sigreturn(walk->pc))
		*rule = (struct trc_rule){.kind = TRC_RULE_SIGRETURN};
	/* What is no module today may be one tomorrow, and nobody would tell us. */
	if (loaded || rule->kind == TRC_RULE_SIGRETURN)
		trc_cache_put(at, walk->epoch, rule);
}

struct trc_walk trc_walk_slowly(struct trc_walk walk)
{
	uint32_t brief = trc_cache_get(walk.cache, trc_walk_at(&walk), walk.epoch);
	struct trc_rule made;
	const struct trc_rule *rule = &made;

	if (trc_short_kind(brief) == TRC_SHORT_WIDE)
		rule = trc_cache_wide(brief);
	else
		rule_make(&walk, &made);
	switch ((enum trc_rule_kind)rule->kind) {
	case TRC_RULE_STEP:
		return step_rule(walk, rule);
	case TRC_RULE_SIGRETURN:
		return step_sigreturn(walk);
	case TRC_RULE_NONE:
		return step_guess(walk);
	case TRC_RULE_END:
		break;
	}
	return over(walk);
}
