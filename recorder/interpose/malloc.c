/*
 * malloc.c - malloc and its family.  Context: traced thread, signal handlers; before this object
 * is relocated too: until a session samples the heap nothing here touches a thread-local.
 *
 * The object is the real allocator's own, with nothing before or behind it.  So a function that is
 * not interposed may free an object of these functions, and the other way round.
 */
#include <elf.h>
#include <link.h>
#include "recorder/sampling/heap.h"
#include "span.h"
#define TRC_DEFINES_HEAP
#include "recorder/unwind/poison.h"

/*
 * ALLOCATION(name, n_bytes, (parameters), (arguments)): a test, with something sampled a count, and a
 * jump to the real one.  Only of what is due the result is looked at.
 */
#define ALLOCATION(name, n_bytes, parameters, arguments)                                           \
	static __attribute__((noinline)) void *name##_early parameters                             \
	{                                                                                          \
		return REAL(name) arguments;                                                       \
	}                                                                                          \
	static __attribute__((noinline)) void *name##_due parameters                               \
	{                                                                                          \
		void *object = REAL(name) arguments;                                               \
                                                                                                   \
		trc_heap_due(object, n_bytes);                                                     \
		return object;                                                                     \
	}                                                                                          \
	TRC_EXPORT void *name parameters                                                           \
	{                                                                                          \
		if (TRC_UNLIKELY(!trc_heap_passes(n_bytes)))                                       \
			return name##_due arguments;                                               \
		if (TRC_LIKELY(trc_real.name != NULL))                                             \
			return trc_real.name arguments;                                            \
		return name##_early arguments;                                                     \
	}
ALLOCATION(malloc, n, (size_t n), (n))
/* The product is right if the call succeeds. */
ALLOCATION(calloc, n *each, (size_t n, size_t each), (n, each))
ALLOCATION(aligned_alloc, n, (size_t alignment, size_t n), (alignment, n))
ALLOCATION(memalign, n, (size_t alignment, size_t n), (alignment, n))
ALLOCATION(valloc, n, (size_t n), (n))
ALLOCATION(pvalloc, n, (size_t n), (n))

TRC_EXPORT int posix_memalign(void **object, size_t alignment, size_t n)
{
	int result = REAL(posix_memalign)(object, alignment, n);

	if (!result && TRC_UNLIKELY(!trc_heap_passes(n)))
		trc_heap_due(*object, n);
	return result;
}

static __attribute__((noinline)) void free_otherwise(void *object)
{
	if (trc_heap_probably_knows(object))
		trc_heap_freed(object);
	REAL(free)(object);
}

TRC_EXPORT void free(void *object)
{
	if (TRC_LIKELY(!trc_heap_may_know(object) && trc_real.free != NULL))
		trc_real.free(object);
	else
		free_otherwise(object);
}

/*
 * An end and a new allocation of n bytes, wherever it lies: how likely an object was to be drawn
 * follows from its size, and from nothing that it was before.
 */
static __attribute__((noinline)) void *realloc_otherwise(void *object, size_t n, bool is_due)
{
	struct trc_heap_move move = {object, NULL};
	void *moved;

	if (trc_heap_probably_knows(object))
		trc_heap_moving(&move, object);
	moved = REAL(realloc)(object, n);
	/* With n = 0 NULL says that it was freed. */
	if (move.key)
		trc_heap_moved(&move, moved || !n);
	if (is_due)
		trc_heap_due(moved, n);
	return moved;
}

static inline void *resize(void *object, size_t n)
{
	bool is_due = !trc_heap_passes(n);

	if (TRC_LIKELY(!is_due && !trc_heap_may_know(object) && trc_real.realloc != NULL))
		return trc_real.realloc(object, n);
	return realloc_otherwise(object, n, is_due);
}

TRC_EXPORT void *realloc(void *object, size_t n)
{
	return resize(object, n);
}

/*
 * Some allocators have their own, others leave it to libc, whose comes to realloc(): so do all.
 * Not by its name, which cannot be called before this object is relocated.
 */
TRC_EXPORT void *reallocarray(void *object, size_t n, size_t each)
{
	size_t bytes;

	if (__builtin_mul_overflow(n, each, &bytes))
		return REAL(reallocarray)(object, n, each); /* which says that it is too much */
	return resize(object, bytes);
}

/* By pointers, so that no compiler leaves out the pair: as the program calls them. */
static bool comes_by(void)
{
	void *(*volatile program_malloc)(size_t) = malloc;
	void (*volatile program_free)(void *) = free;
	struct trc_heap_count before = trc_heap_counted();

	trc_self.quiet++; /* counted, but not drawn */
	program_free(program_malloc(1));
	trc_self.quiet--;
	return trc_heap_counted_since(before);
}

static void name_it(char *whose, size_t n_bytes)
{
	const char *name = "another object";
	const ElfW(Sym) *symbol = NULL;
	Dl_info info;

	/* A program at a fixed address that takes malloc's has one of its own for it. */
	if (dladdr1((void *)(uintptr_t)malloc, &info, (void **)&symbol, RTLD_DL_SYMENT) &&
	    !(symbol && symbol->st_shndx == SHN_UNDEF))
		name = info.dli_fname;
	for (size_t i = 0; i < n_bytes; i++) {
		whose[i] = i + 1 < n_bytes ? name[i] : '\0';
		if (!whose[i])
			break;
	}
}

bool trc_malloc_is_foreign(char *whose, size_t n_bytes)
{
	if (comes_by())
		return false;
	name_it(whose, n_bytes);
	return true;
}
