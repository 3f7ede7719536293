/* pages.c - see pages.h. */
#include <stdint.h>
#include <sys/mman.h>
#include "pages.h"
#include "raw.h"

#ifdef __SANITIZE_THREAD__ /* which has to see that memory of one thread's becomes another's */
static long map(size_t n_bytes)
{
	void *pages = mmap(NULL, n_bytes, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return pages == MAP_FAILED ? -1 : (long)pages;
}

static void unmap(void *pages, size_t n_bytes)
{
	munmap(pages, n_bytes);
}
#else
static long map(size_t n_bytes)
{
	return trc_raw6(SYS_mmap, 0, (long)n_bytes, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
}

static void unmap(void *pages, size_t n_bytes)
{
	trc_raw2(SYS_munmap, pages, n_bytes);
}
#endif

void *trc_pages_map(size_t n_bytes)
{
	long result = map(n_bytes);

	/* The kernel returns -errno in the top page of the address space. */
	if (result < 0 && result > -4096)
		return NULL;
	return (void *)(uintptr_t)result;
}

void trc_pages_unmap(void *pages, size_t n_bytes)
{
	if (pages)
		unmap(pages, n_bytes);
}

void *trc_arena_take(struct trc_arena *arena, size_t n_bytes)
{
	size_t used = arena->used_bytes;

	if (n_bytes > arena->size_bytes || used > arena->size_bytes - n_bytes)
		return NULL;
	arena->used_bytes = used + ((n_bytes + 7) & ~(size_t)7);
	return arena->base + used;
}
