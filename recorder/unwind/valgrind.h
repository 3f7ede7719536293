/*
 * valgrind.h - does valgrind run this program?
 *
 * A "client request" of valgrind's: instructions that do nothing on a processor, and that valgrind
 * knows.  The instructions are written out, so that the build needs no file of valgrind's.
 */
#ifndef TRC_RECORDER_UNWIND_VALGRIND_H
#define TRC_RECORDER_UNWIND_VALGRIND_H

#include <stdbool.h>
#include <stdint.h>

/* Context: any. */
static inline bool trc_on_valgrind(void)
{
	enum { RUNNING_ON_VALGRIND = 0x1001 };
	volatile uint64_t request[6] = {RUNNING_ON_VALGRIND};
#if defined(__x86_64__)
	uint64_t answer = 0;

	__asm__ volatile("rolq $3, %%rdi; rolq $13, %%rdi\n\t"
			 "rolq $61, %%rdi; rolq $51, %%rdi\n\t"
			 "xchgq %%rbx, %%rbx"
			 : "+d"(answer)
			 : "a"(&request[0])
			 : "cc", "memory");
	return answer != 0;
#elif defined(__aarch64__)
	register uint64_t answer __asm__("x3") = 0;
	register volatile uint64_t *at __asm__("x4") = request;

	__asm__ volatile("ror x12, x12, #3; ror x12, x12, #13\n\t"
			 "ror x12, x12, #51; ror x12, x12, #61\n\t"
			 "orr x10, x10, x10"
			 : "+r"(answer)
			 : "r"(at)
			 : "cc", "memory");
	return answer != 0;
#else
	(void)request;
	return false;
#endif
}

#endif
