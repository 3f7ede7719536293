/*
 * raw.h - system calls made directly: libc's functions may be interposed, by us or by others.
 *
 * The result is as the kernel gives it: -errno on failure.  errno is never touched.
 */
#ifndef TRC_FORMAT_RAW_H
#define TRC_FORMAT_RAW_H

#include <stdint.h>
#include <sys/syscall.h>

#if defined(__x86_64__)
static inline long trc_raw6(long number, long a, long b, long c, long d, long e, long f)
{
	register long r10 __asm__("r10") = d;
	register long r8 __asm__("r8") = e;
	register long r9 __asm__("r9") = f;
	long result;

	__asm__ volatile("syscall"
			 : "=a"(result)
			 : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
			 : "rcx", "r11", "memory");
	return result;
}
#elif defined(__aarch64__)
static inline long trc_raw6(long number, long a, long b, long c, long d, long e, long f)
{
	register long x8 __asm__("x8") = number;
	register long x0 __asm__("x0") = a;
	register long x1 __asm__("x1") = b;
	register long x2 __asm__("x2") = c;
	register long x3 __asm__("x3") = d;
	register long x4 __asm__("x4") = e;
	register long x5 __asm__("x5") = f;

	__asm__ volatile("svc 0"
			 : "+r"(x0)
			 : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5)
			 : "memory");
	return x0;
}
#else
#error "no system calls for this processor"
#endif

#define TRC_RAW_WORD(x)	     ((long)(uintptr_t)(x))
#define trc_raw1(n, a)	     trc_raw6(n, TRC_RAW_WORD(a), 0, 0, 0, 0, 0)
#define trc_raw2(n, a, b)    trc_raw6(n, TRC_RAW_WORD(a), TRC_RAW_WORD(b), 0, 0, 0, 0)
#define trc_raw3(n, a, b, c) trc_raw6(n, TRC_RAW_WORD(a), TRC_RAW_WORD(b), TRC_RAW_WORD(c), 0, 0, 0)
#define trc_raw4(n, a, b, c, d)                                                                    \
	trc_raw6(n, TRC_RAW_WORD(a), TRC_RAW_WORD(b), TRC_RAW_WORD(c), TRC_RAW_WORD(d), 0, 0)
#define trc_raw5(n, a, b, c, d, e)                                                                 \
	trc_raw6(n, TRC_RAW_WORD(a), TRC_RAW_WORD(b), TRC_RAW_WORD(c), TRC_RAW_WORD(d),            \
		 TRC_RAW_WORD(e), 0)

#endif
