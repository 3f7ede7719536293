/*
 * rule.h - one row of .eh_frame or .sframe, in the terms that the unwinder needs.
 *
 * A rule tells how to get from one frame to its caller: the canonical frame address (CFA) first,
 * then the return address, the frame pointer and the stack pointer of the caller.  A rule holds no
 * address of any module, only offsets: so it stays true when modules come and go.
 */
#ifndef TRC_RECORDER_UNWIND_RULE_H
#define TRC_RECORDER_UNWIND_RULE_H

#include <stdbool.h>
#include <stdint.h>

/* DWARF's register numbers. */
#if defined(__x86_64__)
enum {
	TRC_REG_FP = 6,	 /* rbp */
	TRC_REG_SP = 7,	 /* rsp */
	TRC_REG_RA = 16, /* the return address' column: rip */
	TRC_REG_PC = 16,
	TRC_REGS = 17,
};
#elif defined(__aarch64__)
enum {
	TRC_REG_FP = 29,
	TRC_REG_RA = 30,
	TRC_REG_SP = 31,
	TRC_REGS = 32,
	TRC_REG_PC = 32, /* in DWARF without a number that counts here */
};
#else
#error "no unwinder for this processor"
#endif

enum trc_how {
	TRC_HOW_SAME,	   /* what it is in this frame; for the stack pointer: the CFA */
	TRC_HOW_UNDEFINED, /* lost; an undefined return address ends the stack */
	TRC_HOW_CFA,	   /* cfa + off */
	TRC_HOW_CFA_MEM,   /* *(cfa + off) + add */
	TRC_HOW_REG,	   /* reg + off */
	TRC_HOW_REG_MEM,   /* *(reg + off) + add */
	TRC_HOW_CONST,	   /* only while an expression is evaluated */
	TRC_HOW_UNKNOWN,   /* an expression beyond us */
};

/* A value of the caller in terms of the frame's registers. */
struct trc_place {
	uint8_t how; /* enum trc_how */
	uint8_t reg; /* < TRC_REGS, or 0 where `how` names no register */
	uint16_t zero;
	int32_t off;
	int32_t add;
};

enum trc_rule_kind {
	TRC_RULE_STEP,	    /* the places tell */
	TRC_RULE_END,	    /* the outermost frame */
	TRC_RULE_NONE,	    /* code without rules, in a module */
	TRC_RULE_FOREIGN,   /* code of no module: made at run time, perhaps */
	TRC_RULE_SIGRETURN, /* the kernel's signal frame: its registers lie above the stack pointer
			     */
};

struct trc_rule {
	uint8_t kind;  /* enum trc_rule_kind */
	uint8_t exact; /* the caller was interrupted: its address is no return address */
	uint16_t zero;
	struct trc_place cfa; /* REG or REG_MEM, or UNKNOWN */
	struct trc_place ra;
	struct trc_place fp;
	struct trc_place sp;
};

#endif
