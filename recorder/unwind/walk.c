/*
 * walk.c - see walk.h: the steps other than those by short rules.
 */
#include <errno.h>
#include <ucontext.h>
#include "module.h"
#include "walk.h"
#include "context.h"
#include "poison.h"

enum { DEEP_FRAMES_MAX = 16 };

/* To the caller, whose registers these are (W2). */
static bool to_caller(struct trc_walk *walk, uintptr_t pc, uintptr_t sp, uintptr_t fp)
{
	pc = trc_pc_plain(pc);
	if (!trc_pc_plausible(pc))
		return false;
	walk->pc = pc;
	walk->sp = sp;
	walk->fp = fp;
	walk->exact = false;
	return true;
}

/*
 * Whether what the rule says was saved at `slot` has been popped again: epilogues tell of that
 * only at their end.  Then the register has its value back, and the slot is anybody's.
 */
static bool popped(const struct trc_walk *walk, uintptr_t slot)
{
	return walk->exact && slot < walk->sp;
}

/* By a short rule, with each read checked. */
static bool step_short(struct trc_walk *walk, uint32_t brief)
{
	struct trc_slots at = trc_short_slots(brief, walk->sp, walk->fp);
	uintptr_t fp = walk->fp, ra;

	if (at.cfa <= walk->sp || at.ra < walk->sp ||
	    (at.fp_saved && !popped(walk, at.fp) &&
	     (at.fp < walk->sp || !trc_range_read(&walk->range, at.fp, &fp))) ||
	    !trc_range_read(&walk->range, at.ra, &ra))
		return false;
	return to_caller(walk, ra, at.cfa, fp);
}

/* ---- wide rules ------------------------------------------------------------------------- */

static bool deep_register(const struct trc_walk *walk, uint32_t reg, uintptr_t *value);

/* Of the walk's context. */
static bool context_register(const struct trc_walk *walk, uint32_t reg, uintptr_t *value)
{
	if (walk->context_copied)
		return trc_copied_read(walk->range.copied,
				       walk->context + trc_context_register_off(reg), value);
	*value = trc_context_register(walk->context, reg);
	return true;
}

/* A register that a rule starts from.  All are known of a frame that was interrupted; those of
 * its callers are found by what each frame saved.  Where one that calls do not preserve is asked
 * for, somebody wrote assembly, and knows that this call does. */
static bool register_value(const struct trc_walk *walk, uint32_t reg, uintptr_t *value)
{
	if (reg == TRC_REG_SP)
		*value = walk->sp;
	else if (reg == TRC_REG_FP)
		*value = walk->fp;
	else if (reg == walk->followed)
		*value = walk->followed_value;
	else if (walk->context && walk->exact)
		return context_register(walk, reg, value);
	else
		return walk->followed == TRC_REGS && walk->context &&
		       deep_register(walk, reg, value);
	return true;
}

/* The value of a place; `same` is what it is where the caller's value is this frame's. */
static bool walk_place_value(struct trc_walk *walk, const struct trc_place *place, uintptr_t cfa,
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
	if (place->how == TRC_HOW_CFA_MEM && popped(walk, *value)) {
		*value = same;
		return true;
	}
	if (!trc_range_read(&walk->range, *value, value))
		return false;
	*value += (uintptr_t)(intptr_t)place->add;
	return true;
}

static bool cfa_value(struct trc_walk *walk, const struct trc_place *place, uintptr_t *cfa)
{
	/* In terms of registers only: there is no CFA yet. */
	return (place->how == TRC_HOW_REG || place->how == TRC_HOW_REG_MEM) &&
	       walk_place_value(walk, place, 0, 0, cfa);
}

/* The return address while it is still in its register. */
static uintptr_t link_register(const struct trc_walk *walk)
{
#if defined(__aarch64__)
	uintptr_t ra;

	if (walk->context && walk->exact && context_register(walk, TRC_REG_RA, &ra))
		return ra;
#else
	(void)walk;
#endif
	return 0;
}

static bool step_rule(struct trc_walk *walk, const struct trc_rule *rule)
{
	uintptr_t cfa, ra, fp, sp;

	if (!cfa_value(walk, &rule->cfa, &cfa) ||
	    !walk_place_value(walk, &rule->ra, cfa, link_register(walk), &ra) ||
	    !walk_place_value(walk, &rule->sp, cfa, cfa, &sp))
		return false;
	/* A frame pointer that cannot be known spoils only the frames that need it. */
	if (!walk_place_value(walk, &rule->fp, cfa, walk->fp, &fp))
		fp = 0;
	/* unwind:U3; a leaf that has pushed nothing (aarch64) has its caller's stack pointer. */
	if (!rule->exact && (sp < walk->sp || (sp == walk->sp && !walk->exact)))
		return false;
	if (!to_caller(walk, ra, sp, fp))
		return false;
	walk->exact = rule->exact;
	if (!rule->exact)
		return true;
	/* Interrupted, but not by a signal: nobody saved all its registers; any stack (W1). */
	walk->context = 0;
	if (sp < walk->range.lo || sp >= walk->range.hi)
		trc_range_stack(&walk->range, sp, walk->own_sp);
	return true;
}

/* A step that keeps the register followed. */
static bool step_following(struct trc_walk *walk)
{
	uintptr_t at = trc_walk_key(walk) - 1, cfa, value;
	struct trc_cfi_bytes bytes;
	struct trc_place place;
	struct trc_rule rule;

	if (trc_module_cfi(at, &bytes) ||
	    trc_cfi_register(&bytes, at, walk->followed, &rule, &place) ||
	    rule.kind != TRC_RULE_STEP || rule.exact || !cfa_value(walk, &rule.cfa, &cfa) ||
	    !walk_place_value(walk, &place, cfa, walk->followed_value, &value) ||
	    !step_rule(walk, &rule))
		return false;
	walk->followed_value = value;
	return true;
}

/*
 * Walks again from where all registers were known to where the walk is, following one of them.
 * For the few functions that keep their frame's address elsewhere than other code, such as the
 * dynamic linker's entry for lazy binding.
 */
static bool deep_register(const struct trc_walk *walk, uint32_t reg, uintptr_t *value)
{
	struct trc_walk again = *walk;

	if (!context_register(walk, TRC_REG_PC, &again.pc) ||
	    !context_register(walk, TRC_REG_SP, &again.sp) ||
	    !context_register(walk, TRC_REG_FP, &again.fp) ||
	    !context_register(walk, reg, &again.followed_value))
		return false;
	again.exact = true;
	again.followed = reg;
	for (uint32_t depth = 0; depth < DEEP_FRAMES_MAX; depth++) {
		if (!again.exact && again.sp == walk->sp) {
			*value = again.followed_value;
			return again.pc == walk->pc;
		}
		if (!step_following(&again))
			return false;
	}
	return false;
}

/* ---- signal frames ---------------------------------------------------------------------- */

/* To what the signal interrupted: perhaps on another stack. */
static bool step_sigreturn(struct trc_walk *walk)
{
	uintptr_t context = walk->sp + TRC_CONTEXT_OFF, pc, sp, fp, first;
	struct trc_range *range = &walk->range;

	if (!trc_range_read(range, context + TRC_CONTEXT_FIRST_OFF, &first) ||
	    !trc_range_read(range, context + TRC_CONTEXT_FP_OFF, &fp) ||
	    !trc_range_read(range, context + TRC_CONTEXT_SP_OFF, &sp) ||
	    !trc_range_read(range, context + TRC_CONTEXT_PC_OFF, &pc) ||
	    !to_caller(walk, pc, sp, fp))
		return false;
	walk->context_copied = !trc_range_has(range, context + TRC_CONTEXT_FIRST_OFF) ||
			       !trc_range_has(range, context + TRC_CONTEXT_PC_OFF);
	if (sp < range->lo || sp >= range->hi)
		trc_range_stack(range, sp, walk->own_sp);
	walk->exact = true;
	walk->context = context;
	return true;
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
	return to_caller(walk, ra, sp, walk->fp);
}

static bool guess_frame_pointer(struct trc_walk *walk)
{
	uintptr_t ra, fp;

	if (walk->fp - walk->sp > TRC_GUESS_BYTES_MAX ||
	    !trc_range_read(&walk->range, walk->fp, &fp) ||
	    !trc_range_read(&walk->range, walk->fp + 8, &ra))
		return false;
	ra = trc_pc_plain(ra);
	if (!trc_pc_plausible(ra) || !trc_module_is_return(ra))
		return false;
	return to_caller(walk, ra, walk->fp + 16, fp);
}

bool trc_walk_lost(struct trc_walk *walk)
{
	return guess_leaf(walk);
}

/* No code at all: a call through a bad pointer. */
static bool is_lost(const struct trc_walk *walk)
{
	return walk->exact && !trc_memory_readable(walk->pc);
}

/* Compilers at run time keep frame pointers; what lacks rules in a module is mostly stubs. */
static bool step_guess(struct trc_walk *walk, bool foreign)
{
	if (foreign && is_lost(walk))
		return trc_walk_lost(walk);
	if (!walk->guess)
		return false;
	return (foreign && guess_frame_pointer(walk)) || (walk->exact && guess_leaf(walk)) ||
	       (!foreign && guess_frame_pointer(walk));
}

/* ---- making rules ----------------------------------------------------------------------- */

/* The rule for where the walk is, kept for the next time. */
static void walk_rule_make(const struct trc_walk *walk, struct trc_rule *rule)
{
	uintptr_t key = trc_walk_key(walk), at = key - 1;
	bool has_rules;
	int err = trc_module_rule(at, rule, &has_rules);

	if (err)
		*rule = (struct trc_rule){.kind = has_rules ? TRC_RULE_NONE : TRC_RULE_FOREIGN};
	if ((err || rule->exact) && trc_module_is_sigreturn(walk->pc))
		*rule = (struct trc_rule){.kind = TRC_RULE_SIGRETURN};
	/* What is no module today may be one tomorrow, and nobody would tell us. */
	if (rule->kind != TRC_RULE_FOREIGN)
		trc_cache_put(key, walk->epoch, rule);
}

/* That of where the walk is; NULL: it is a short one, in *brief. */
static const struct trc_rule *rule_of(const struct trc_walk *walk, struct trc_rule *made,
				      uint32_t *brief)
{
	*brief = trc_cache_get(walk->cache, trc_walk_key(walk), walk->epoch);
	switch (trc_short_kind(*brief)) {
	case TRC_SHORT_SP:
	case TRC_SHORT_FP:
		return NULL;
	case TRC_SHORT_WIDE:
		return trc_cache_wide(*brief);
	default:
		walk_rule_make(walk, made);
		return made;
	}
}

bool trc_walk_is_outermost(const struct trc_walk *walk)
{
	struct trc_rule made;
	uint32_t brief;
	const struct trc_rule *rule = rule_of(walk, &made, &brief);

	return rule && rule->kind == TRC_RULE_END;
}

bool trc_walk_is_crossing(const struct trc_walk *walk)
{
	struct trc_rule made;
	uint32_t brief;
	const struct trc_rule *rule = rule_of(walk, &made, &brief);

	return rule && walk->guess && !walk->exact &&
	       (rule->kind == TRC_RULE_NONE || rule->kind == TRC_RULE_FOREIGN);
}

bool trc_walk_step(struct trc_walk *walk)
{
	struct trc_rule made;
	uint32_t brief;
	const struct trc_rule *rule = rule_of(walk, &made, &brief);

	if (!rule)
		return step_short(walk, brief);
	switch ((enum trc_rule_kind)rule->kind) {
	case TRC_RULE_STEP:
		return step_rule(walk, rule);
	case TRC_RULE_SIGRETURN:
		return step_sigreturn(walk);
	case TRC_RULE_NONE:
	case TRC_RULE_FOREIGN:
		return step_guess(walk, rule->kind == TRC_RULE_FOREIGN);
	case TRC_RULE_END:
		break;
	}
	return false;
}
