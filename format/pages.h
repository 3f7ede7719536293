/*
 * pages.h - memory straight from the kernel, for code that must not call malloc.
 *
 * The system calls are made directly: not even libc's mmap() is called, since
 * someone may have interposed it.
 */
#ifndef TRC_FORMAT_PAGES_H
#define TRC_FORMAT_PAGES_H

#include <stddef.h>

/* Private zeroed pages, NULL if there are none to be had.  Pages that are never touched
 * take up no memory.  The caller's: trc_pages_unmap() them. */
void *trc_pages_map(size_t n_bytes);
/* Accepts NULL. */
void trc_pages_unmap(void *pages, size_t n_bytes);

/* A stretch of mapped memory that is handed out from the front and never taken back. */
struct trc_arena {
	unsigned char *base;
	size_t size_bytes, used_bytes;
};

/* n_bytes aligned to 8, or NULL when the arena is full. */
void *trc_arena_take(struct trc_arena *arena, size_t n_bytes);

#endif
