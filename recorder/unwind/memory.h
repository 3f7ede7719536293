/*
 * memory.h - which addresses of a stack may be read.
 *
 *   memory:M1  [lo, hi) of a range is mapped and stays so while the thread runs on that stack
 *   memory:M2  beyond the range nothing is loaded: the memory may be another thread's, and may be
 *       unmapped at any time.  The kernel copies such memory, or refuses
 */
#ifndef TRC_RECORDER_UNWIND_MEMORY_H
#define TRC_RECORDER_UNWIND_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Walking a stack reads memory that the compiler guards: other functions' frames. */
#define TRC_NO_SANITIZE __attribute__((no_sanitize("address", "undefined", "thread")))

/* The kernel's last copy, of [lo, hi); 0, 0 = nothing. */
struct trc_copied {
	uintptr_t lo;
	uintptr_t hi;
	uintptr_t *word;
	uint32_t max_bytes; /* at `word` */
	/* How often something was copied, and may be; 0 = any number of times.  After that nothing is read. */
	uint32_t n_copies, max_copies;
};

enum {
	TRC_COPIED_BYTES = 512, /* small: it lies on the stack of who walks, a coroutine's too */
	/* A system call each, of about half a microsecond: a walk that takes longer than a sample's period would leave
	 * the thread no time of its own. */
	TRC_COPIES_MAX = 512,
};
struct trc_copied_few {
	struct trc_copied copied;
	uintptr_t word[TRC_COPIED_BYTES / sizeof(uintptr_t)];
};

static inline struct trc_copied *trc_copied_begin(struct trc_copied_few *few)
{
	few->copied = (struct trc_copied){
		.word = few->word, .max_bytes = sizeof(few->word), .max_copies = TRC_COPIES_MAX};
	return &few->copied;
}

static inline bool trc_copied_gave_up(const struct trc_copied *copied)
{
	return copied->max_copies && copied->n_copies >= copied->max_copies;
}

struct trc_range {
	uintptr_t lo;
	uintptr_t hi; /* 0, 0 = nothing */
	bool whole;   /* up to the top of the stack: what lies beyond is no part of it */
	struct trc_copied *copied; /* where what lies beyond is copied to */
};

/*
 * Sets *range (but for `copied`) to what may be loaded from `sp` upwards.  `own_sp` is a stack
 * pointer of the caller itself: memory above it on the same stack is in use.  On an unknown stack
 * the range is the rest of the page that the caller runs in, if `sp` is in this page, else empty.
 * Context: traced thread, signal handlers.
 */
void trc_range_stack(struct trc_range *range, uintptr_t sp, uintptr_t own_sp);

/* Bytes from `sp`, a stack pointer of the caller itself, to the top of its stack; 0 = not known.
 * Context: as above. */
uintptr_t trc_range_above(uintptr_t sp);

/* True if [from, from + bytes) lies in the calling thread's own stack, in frames of its callers or
 * above: where its thread-local variables may lie, too.  Context: traced thread, signal handlers. */
bool trc_memory_is_own(uintptr_t from, uint32_t bytes);

/* True if the 8 bytes at `at` can be read now.  Context: traced thread, signal handlers. */
bool trc_memory_readable(uintptr_t at);

/*
 * Copies `bytes` from `from`, which may be anything, and be unmapped meanwhile.  Returns false if
 * they cannot be read, or a filter forbids it.  Context: traced thread, signal handlers.
 */
bool trc_memory_copy(void *to, uintptr_t from, uint32_t bytes);

/* Fetches the 8 bytes at `at` (a multiple of 8); first copies the memory around them if that has
 * not been done yet.  Otherwise as trc_memory_copy(). */
bool trc_copied_read(struct trc_copied *copied, uintptr_t at, uintptr_t *value);

static inline bool trc_range_has(const struct trc_range *range, uintptr_t at)
{
	/* unsigned: an address below lo wraps to beyond every range */
	return range->hi - range->lo >= 8 && at - range->lo <= range->hi - range->lo - 8;
}

/* Context: any thread, may block. */
void trc_range_setup(void);
/* As trc_unwind_thread(). */
void trc_range_thread(size_t stack_bytes);

/* The calling thread is about to run a coroutine on this stack, until the next call; NULL = the end
 * of the stack is not known.  Context: traced thread. */
void trc_range_coroutine(const struct trc_range *stack);

/* Fetches 8 bytes.  Returns false, and leaves *value alone, if the bytes cannot be read. */
static inline TRC_NO_SANITIZE bool trc_range_read(const struct trc_range *range, uintptr_t at,
						  uintptr_t *value)
{
	if (at & 7)
		return false;
	if (!trc_range_has(range, at))
		return !range->whole && trc_copied_read(range->copied, at, value);
	*value = *(const volatile uintptr_t *)at;
	return true;
}

#endif
