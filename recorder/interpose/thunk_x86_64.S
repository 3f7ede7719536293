/*
 * thunk_x86_64.S - vfork() and syscall(): they may return twice, so they may have no frame; and
 * the wrappers of signal handlers, which leave none.
 *
 * The first two make the system call themselves.
 */
#include <sys/syscall.h>
#ifdef __CET__
#include <cet.h>
#else
#define _CET_ENDBR
#endif

#define MAX_ERRNO 4095

	.text
	.hidden trc_vfork_begin
	.hidden trc_vfork_parent
	.hidden trc_syscall_wait
	.hidden trc_syscall_waits
	.hidden trc_syscall_error
	.hidden trc_signal_arrived
	.hidden trc_signal_wrappers

/*
 * pid_t vfork(void).  The child runs on our stack and will overwrite the return address: it is
 * kept in a register, which the kernel gives to both processes.
 */
	.globl vfork
	.type vfork, @function
	.p2align 4
vfork:
	.cfi_startproc
	_CET_ENDBR
	subq $8, %rsp
	.cfi_adjust_cfa_offset 8
	call trc_vfork_begin
	addq $8, %rsp
	.cfi_adjust_cfa_offset -8
	popq %rdi
	.cfi_adjust_cfa_offset -8
	.cfi_register %rip, %rdi
	movl $SYS_vfork, %eax
	syscall
	pushq %rdi
	.cfi_adjust_cfa_offset 8
	.cfi_offset %rip, -8
	testq %rax, %rax
	jnz 1f
	ret			/* in the child, and quiet */
1:	movq %rax, %rdi		/* in the parent, or it failed */
	jmp trc_vfork_parent
	.cfi_endproc
	.size vfork, . - vfork
	.globl __vfork
	.set __vfork, vfork

/* long syscall(long number, ...).  A call that may wait goes on in C, with the same arguments. */
#define NUMBERS 512
	.globl syscall
	.type syscall, @function
	.p2align 4
syscall:
	.cfi_startproc
	_CET_ENDBR
	cmpq $NUMBERS, %rdi
	jae 2f
	leaq trc_syscall_waits(%rip), %rax
	cmpb $0, (%rax,%rdi)
	jne trc_syscall_wait
2:	movq %rdi, %rax
	movq %rsi, %rdi
	movq %rdx, %rsi
	movq %rcx, %rdx
	movq %r8, %r10
	movq %r9, %r8
	movq 8(%rsp), %r9
	syscall
	cmpq $-MAX_ERRNO, %rax
	jae 1f
	ret
1:	movq %rax, %rdi
	jmp trc_syscall_error
	.cfi_endproc
	.size syscall, . - syscall

/*
 * Signal handlers, 64 of 16 bytes, each for one handler of the program's: void (int, siginfo_t *,
 * void *).  What they jump to finds arguments and stack as the kernel made them.
 */
	.globl trc_signal_wrappers
	.type trc_signal_wrappers, @function
	.p2align 4
trc_signal_wrappers:
	.cfi_startproc
	.set wrapper, 0
	.rept 64
	.p2align 4
	_CET_ENDBR
	movl $wrapper, %ecx
	jmp 1f
	.set wrapper, wrapper + 1
	.endr
	.p2align 4
1:	pushq %rdi
	.cfi_adjust_cfa_offset 8
	pushq %rsi
	.cfi_adjust_cfa_offset 8
	pushq %rdx
	.cfi_adjust_cfa_offset 8
	call trc_signal_arrived
	popq %rdx
	.cfi_adjust_cfa_offset -8
	popq %rsi
	.cfi_adjust_cfa_offset -8
	popq %rdi
	.cfi_adjust_cfa_offset -8
	jmp *%rax
	.cfi_endproc
	.size trc_signal_wrappers, . - trc_signal_wrappers

/*
 * The handler of a signal of ours: struct trc_signal_call (signal_own.h) is filled in, with the
 * address at which the return address lies; then the program's handler, if it is to run, finds the
 * stack that this struct says as if the kernel had made it there.  All signals are blocked until
 * trc_signal_own_enter().
 */
#define CALL_BYTES 56

	.hidden trc_signal_own_arrived
	.hidden trc_signal_own_enter
	.hidden trc_signal_own_entry
	.globl trc_signal_own_entry
	.type trc_signal_own_entry, @function
	.p2align 4
trc_signal_own_entry:
	.cfi_startproc
	_CET_ENDBR
	movq %rsp, %r8
	subq $CALL_BYTES, %rsp
	.cfi_adjust_cfa_offset CALL_BYTES
	movq %rsp, %rcx
	call trc_signal_own_arrived
	testb %al, %al
	jz 1f
	movq (%rsp), %rdi
	movq 8(%rsp), %rsi
	movq 16(%rsp), %rdx
	movq 32(%rsp), %rax
	movq 40(%rsp), %rcx
	.cfi_remember_state
	movq 24(%rsp), %rsp
	.cfi_adjust_cfa_offset -CALL_BYTES
	pushq %rdi
	.cfi_adjust_cfa_offset 8
	pushq %rsi
	.cfi_adjust_cfa_offset 8
	pushq %rdx
	.cfi_adjust_cfa_offset 8
	pushq %rax
	.cfi_adjust_cfa_offset 8
	pushq %rcx
	.cfi_adjust_cfa_offset 8
	movq %rsp, %rdi
	call trc_signal_own_enter
	popq %rcx
	.cfi_adjust_cfa_offset -8
	popq %rax
	.cfi_adjust_cfa_offset -8
	popq %rdx
	.cfi_adjust_cfa_offset -8
	popq %rsi
	.cfi_adjust_cfa_offset -8
	popq %rdi
	.cfi_adjust_cfa_offset -8
	jmp *%rax
1:	.cfi_restore_state
	addq $CALL_BYTES, %rsp
	.cfi_adjust_cfa_offset -CALL_BYTES
	ret
	.cfi_endproc
	.size trc_signal_own_entry, . - trc_signal_own_entry

	.section .note.GNU-stack, "", @progbits
