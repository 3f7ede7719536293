/* pages.c - see pages.h. */
#include <stdint.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include "format/pages.h"

static long syscall6(long number, long a, long b, long c, long d, long e, long f)
{
#if defined(__x86_64__)
	register long r10 __asm__("r10") = d;
	register long r8 __asm__("r8") = e;
	register long r9 __asm__("r9") = f;
	long result;

	__asm__ volatile("syscall"
			 : "=a"(result)
			 : "0"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
			 : "rcx", "r11", "memory");
	return result;
#elif defined(__aarch64__)
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
#else
#error "neither x86-64 nor aarch64"
#endif
}

void *trc_pages_map(size_t n_bytes)
{
	long result = syscall6(SYS_mmap, 0, (long)n_bytes, PROT_READ | PROT_WRITE,
			       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	/* The kernel returns -errno in the top page of the address space. */
	if (result < 0 && result > -4096)
		return NULL;
	return (void *)(uintptr_t)result;
}

void trc_pages_unmap(void *pages, size_t n_bytes)
{
	if (pages)
		syscall6(SYS_munmap, (long)(uintptr_t)pages, (long)n_bytes, 0, 0, 0, 0);
}

void *trc_arena_take(struct trc_arena *arena, size_t n_bytes)
{
	size_t used = arena->used_bytes;

	if (n_bytes > arena->size_bytes || used > arena->size_bytes - n_bytes)
		return NULL;
	arena->used_bytes = used + ((n_bytes + 7) & ~(size_t)7);
	return arena->base + used;
}
