/*
 * thunk_aarch64.S - vfork() and syscall(): they may return twice, so they may have no frame.
 *
 * Both make the system call themselves.
 */
#include <sys/syscall.h>

#define MAX_ERRNO   4095
#define VFORK_FLAGS 0x4111 /* CLONE_VFORK | CLONE_VM | SIGCHLD */

	.text
	.hidden trc_vfork_begin
	.hidden trc_vfork_parent
	.hidden trc_syscall_futex
	.hidden trc_syscall_error

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

/* long syscall(long number, ...).  A futex call goes on in C, with the same arguments. */
	.globl syscall
	.type syscall, %function
	.p2align 4
syscall:
	.cfi_startproc
	hint 34			/* bti c */
	cmp x0, SYS_futex
	b.eq trc_syscall_futex
	mov x8, x0
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

	.section .note.GNU-stack, "", %progbits
