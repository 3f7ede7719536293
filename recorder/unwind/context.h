/*
 * context.h - the registers in a ucontext_t, by DWARF's numbers, and the place of the ucontext_t on
 * a signal's stack.
 */
#ifndef TRC_RECORDER_UNWIND_CONTEXT_H
#define TRC_RECORDER_UNWIND_CONTEXT_H

#include <stddef.h>
#include <ucontext.h>
#include "memory.h"
#include "rule.h"

#if defined(__x86_64__)
#define TRC_GREG_OFF(reg) (offsetof(ucontext_t, uc_mcontext.gregs) + 8u * (unsigned)(reg))
enum {
	TRC_CONTEXT_OFF = 0, /* from the stack pointer of the signal return trampoline */
	TRC_CONTEXT_FIRST_OFF = TRC_GREG_OFF(REG_R8),
	TRC_CONTEXT_FP_OFF = TRC_GREG_OFF(REG_RBP),
	TRC_CONTEXT_SP_OFF = TRC_GREG_OFF(REG_RSP),
	TRC_CONTEXT_PC_OFF = TRC_GREG_OFF(REG_RIP),
};

static inline uint32_t trc_context_register_off(uint32_t reg)
{
	static const uint8_t greg[TRC_REGS] = {
		REG_RAX, REG_RDX, REG_RCX, REG_RBX, REG_RSI, REG_RDI, REG_RBP, REG_RSP, REG_R8,
		REG_R9,	 REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15, REG_RIP,
	};

	return (uint32_t)TRC_GREG_OFF(greg[reg]);
}
#else
#define TRC_XREG_OFF(reg) (offsetof(ucontext_t, uc_mcontext.regs) + 8u * (unsigned)(reg))
enum {
	TRC_CONTEXT_OFF = 128, /* a siginfo_t lies first */
	TRC_CONTEXT_FIRST_OFF = TRC_XREG_OFF(0),
	TRC_CONTEXT_FP_OFF = TRC_XREG_OFF(TRC_REG_FP),
	TRC_CONTEXT_SP_OFF = offsetof(ucontext_t, uc_mcontext.sp),
	TRC_CONTEXT_PC_OFF = offsetof(ucontext_t, uc_mcontext.pc),
};

static inline uint32_t trc_context_register_off(uint32_t reg)
{
	if (reg == TRC_REG_PC)
		return TRC_CONTEXT_PC_OFF;
	return (uint32_t)(reg == TRC_REG_SP ? TRC_CONTEXT_SP_OFF : TRC_XREG_OFF(reg));
}
#endif

/* A register in a context that is known to be readable; reg < TRC_REGS or TRC_REG_PC. */
static inline TRC_NO_SANITIZE uintptr_t trc_context_register(uintptr_t context, uint32_t reg)
{
	return *(const volatile uintptr_t *)(context + trc_context_register_off(reg));
}

#endif
