/*
 * thunk_aarch64.S - vfork() and syscall(): they may return twice, so they may have no frame; and
 * the wrappers of signal handlers, which leave none.
 *
 * The first two make the system call themselves.
 */
#include <sys/syscall.h>

#define MAX_ERRNO   4095
#define VFORK_FLAGS 0x4111 /* CLONE_VFORK | CLONE_VM | SIGCHLD */

	.text
	.hidden trc_vfork_begin
	.hidden trc_vfork_parent
	.hidden trc_syscall_wait
	.hidden trc_syscall_waits
	.hidden trc_syscall_error
	.hidden trc_signal_arrived
	.hidden trc_signal_wrappers

/* pid_t vfork(void).  The return address stays in x30, which the kernel gives to both. */
	.globl vfork
	.type vfork, %function
	.p2align 4
vfork:
	.cfi_startproc
	hint 34			/* bti c */
	stp x29, x30, [sp, -16]!
	.cfi_adjust_cfa_offset 16
	.cfi_rel_offset x29, 0
	.cfi_rel_offset x30, 8
	bl trc_vfork_begin
	ldp x29, x30, [sp], 16
	.cfi_adjust_cfa_offset -16
	.cfi_restore x29
	.cfi_restore x30
	mov x0, VFORK_FLAGS
	mov x1, sp
	mov x2, xzr
	mov x3, xzr
	mov x4, xzr
	mov x8, SYS_clone
	svc 0
	cbnz x0, trc_vfork_parent /* in the parent, or it failed */
	ret			  /* in the child, and quiet */
	.cfi_endproc
	.size vfork, . - vfork
	.globl __vfork
	.set __vfork, vfork

/* long syscall(long number, ...).  A call that may wait goes on in C, with the same arguments. */
#define NUMBERS 512
	.globl syscall
	.type syscall, %function
	.p2align 4
syscall:
	.cfi_startproc
	hint 34			/* bti c */
	cmp x0, NUMBERS
	b.hs 2f
	adrp x9, trc_syscall_waits
	add x9, x9, :lo12:trc_syscall_waits
	ldrb w9, [x9, x0]
	cbz w9, 2f
	b trc_syscall_wait
2:	mov x8, x0
	mov x0, x1
	mov x1, x2
	mov x2, x3
	mov x3, x4
	mov x4, x5
	mov x5, x6
	svc 0
	cmn x0, MAX_ERRNO
	b.cs trc_syscall_error
	ret
	.cfi_endproc
	.size syscall, . - syscall

/*
 * Signal handlers, 64 of 16 bytes, each for one handler of the program's: void (int, siginfo_t *,
 * void *).  What they jump to finds arguments and stack as the kernel made them.
 */
	.globl trc_signal_wrappers
	.type trc_signal_wrappers, %function
	.p2align 4
trc_signal_wrappers:
	.cfi_startproc
	.set wrapper, 0
	.rept 64
	.p2align 4
	hint 34			/* bti c */
	mov w3, wrapper
	b 1f
	.set wrapper, wrapper + 1
	.endr
	.p2align 4
1:	stp x29, x30, [sp, -48]!
	.cfi_adjust_cfa_offset 48
	.cfi_rel_offset x29, 0
	.cfi_rel_offset x30, 8
	stp x0, x1, [sp, 16]
	str x2, [sp, 32]
	bl trc_signal_arrived
	mov x16, x0
	ldp x0, x1, [sp, 16]
	ldr x2, [sp, 32]
	ldp x29, x30, [sp], 48
	.cfi_adjust_cfa_offset -48
	.cfi_restore x29
	.cfi_restore x30
	br x16
	.cfi_endproc
	.size trc_signal_wrappers, . - trc_signal_wrappers

	.section .note.GNU-stack, "", %progbits
