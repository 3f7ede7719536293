/*
 * syscall.h - the functions that syscall() calls (thunk_*.S).  Context: traced thread, signal
 * handlers.
 */
#ifndef TRC_RECORDER_INTERPOSE_SYSCALL_H
#define TRC_RECORDER_INTERPOSE_SYSCALL_H

/* syscall() for the numbers that trc_syscall_waits names (syscall.c). */
long trc_syscall_wait(long number, long a, long b, long c, long d, long e, long f);
/* trc_syscall_wait() for SYS_futex. */
long trc_syscall_futex(const void *word, long operation, long value, long timeout, long word2,
		       long value3);
/* trc_syscall_wait() for SYS_execve and SYS_execveat (exec.c). */
long trc_syscall_exec(long number, long a, long b, long c, long d, long e);
/* Turns the kernel's result into the result of syscall(). */
long trc_syscall_error(long result);

#endif
