/* pages.c - see pages.h. */
#include <stdint.h>
#include <sys/mman.h>
#include "format/pages.h"
#include "format/raw.h"

void *trc_pages_map(size_t n_bytes)
{
	long result = trc_raw6(SYS_mmap, 0, (long)n_bytes, PROT_READ | PROT_WRITE,
			       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	/* The kernel returns -errno in the top page of the address space. */
	if (result < 0 && result > -4096)
		return NULL;
	return (void *)(uintptr_t)result;
}

void trc_pages_unmap(void *pages, size_t n_bytes)
{
	if (pages)
		trc_raw2(SYS_munmap, pages, n_bytes);
}

void *trc_arena_take(struct trc_arena *arena, size_t n_bytes)
{
	size_t used = arena->used_bytes;

	if (n_bytes > arena->size_bytes || used > arena->size_bytes - n_bytes)
		return NULL;
	arena->used_bytes = used + ((n_bytes + 7) & ~(size_t)7);
	return arena->base + used;
}
