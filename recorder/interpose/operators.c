/*
 * operators.c - C++'s new and delete.  Context: traced thread; as in malloc.c.
 *
 * The C++ library's operators call malloc() and free(), whose interposers count the allocation.  The
 * operators of an allocator (jemalloc, tcmalloc, mimalloc, preloaded or linked) do not: they are
 * counted here.
 *
 *   operators:N1  an allocation is counted once: if the real operator calls malloc(), there; else here
 *   operators:N2  an object is freed by the operators that allocated it.  A call goes to the operators
 *       that the program would have without this library.  If no operators come behind this library,
 *       a call goes to the operators that were found first, and stays with them: in a C program with
 *       plugins in C++, those of the plugin that was loaded first.  If there are none at all, new is
 *       malloc() and delete is free()
 */
#include <link.h>
#include "operators.h"
#include "span.h"
#define TRC_DEFINES_HEAP
#define TRC_MAY_ABORT
#include "format/path.h"
#include "recorder/unwind/poison.h"

enum { FIRST = TRC_REAL__Znwm, N_OPERATORS = TRC_REAL__ZdaPvmSt11align_val_t - FIRST + 1 };

/* Bits: the C++ library's, which come to malloc(); stored by the constructor. */
static uint32_t are_plain;

static bool operator_is_plain(enum trc_real_idx idx)
{
	return are_plain >> (idx - FIRST) & 1;
}

/* ---- operators that are not behind this object (N2) ----------------------------------------
 *
 * What was found once is called for ever.  It must not go with its object: before any object does,
 * all that there are are found, and what they are found in is kept.  Not in operator_find(): its
 * callers may hold locks that a plugin's constructor waits for, under the loader's lock.
 */

static _Atomic(trc_function *) late[N_OPERATORS];

struct search {
	enum trc_real_idx idx;
	trc_function *found;
};

/* The loader's list does not change while it calls this, once. */
static int object_look(struct dl_phdr_info *info, size_t n_bytes, void *context)
{
	struct search *search = context;

	search->found = trc_real_early(search->idx);
	return 1;
}

static trc_function *operator_find(enum trc_real_idx idx)
{
	_Atomic(trc_function *) *known = &late[idx - FIRST];
	/* relaxed: all that is behind it was there before the caller was loaded. */
	trc_function *found = atomic_load_explicit(known, memory_order_relaxed);
	struct search search = {idx, NULL};

	if (!trc_real.malloc) /* nor may the loader be called yet */
		return trc_real_early(idx);
	if (found)
		return found;
	dl_iterate_phdr(object_look, &search);
	/* An object may yet bring what nobody has. */
	if (search.found == trc_operator_plain(idx))
		return search.found;
	/* Who comes second takes what the first one found. */
	if (!atomic_compare_exchange_strong_explicit(known, &found, search.found,
						     memory_order_relaxed, memory_order_relaxed))
		return found;
	return search.found;
}

/* Keeps the object of this function for ever.  The program's own has no name, and never goes. */
static void keep(trc_function *function)
{
	struct link_map *map = NULL;
	Dl_info info;

	if (dladdr1((void *)(uintptr_t)function, &info, (void **)&map, RTLD_DL_LINKMAP) && map &&
	    map->l_name && *map->l_name)
		dlopen(map->l_name, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
}

void trc_operators_keep(void)
{
	static _Atomic bool is_kept[N_OPERATORS];
	trc_function *const *real = (trc_function *const *)&trc_real;
	trc_function *found;

	if (!trc_real.malloc)
		return;
	trc_self.quiet++; /* what the loader allocates is not the program's */
	for (unsigned int i = 0; i < N_OPERATORS; i++) {
		/* relaxed: set again, nothing is lost. */
		if (real[FIRST + i] || atomic_load_explicit(&is_kept[i], memory_order_relaxed))
			continue;
		found = operator_find(FIRST + i);
		if (found == trc_operator_plain(FIRST + i))
			continue;
		keep(found);
		atomic_store_explicit(&is_kept[i], true, memory_order_relaxed);
	}
	trc_self.quiet--;
}

#define OPERATOR(name)                                                                             \
	(TRC_LIKELY(trc_real.name != NULL)                                                         \
		 ? trc_real.name                                                                   \
		 : (__typeof__(trc_real.name))operator_find(TRC_REAL_##name))

/* ---- where there is no C++ library ---------------------------------------------------------- */

static void *plain_nothrow(size_t n)
{
	return REAL(malloc)(n + !n);
}

static void *plain_aligned_nothrow(size_t n, size_t alignment)
{
	void *object = NULL;
	int err = REAL(posix_memalign)(
		&object, alignment < sizeof(void *) ? sizeof(void *) : alignment, n + !n);

	return err ? NULL : object;
}

/* Without exceptions there is nothing else to do for these. */
static void *plain(size_t n)
{
	void *object = plain_nothrow(n);

	if (!object)
		abort();
	return object;
}

static void *plain_aligned(size_t n, size_t alignment)
{
	void *object = plain_aligned_nothrow(n, alignment);

	if (!object)
		abort();
	return object;
}

static void plain_delete(void *object)
{
	REAL(free)(object);
}

trc_function *trc_operator_plain(enum trc_real_idx idx)
{
	switch ((unsigned int)idx) {
	case TRC_REAL__Znwm:
	case TRC_REAL__Znam:
		return (trc_function *)plain;
	case TRC_REAL__ZnwmRKSt9nothrow_t:
	case TRC_REAL__ZnamRKSt9nothrow_t:
		return (trc_function *)plain_nothrow;
	case TRC_REAL__ZnwmSt11align_val_t:
	case TRC_REAL__ZnamSt11align_val_t:
		return (trc_function *)plain_aligned;
	case TRC_REAL__ZnwmSt11align_val_tRKSt9nothrow_t:
	case TRC_REAL__ZnamSt11align_val_tRKSt9nothrow_t:
		return (trc_function *)plain_aligned_nothrow;
	default:
		return (trc_function *)plain_delete;
	}
}

/* ---- new ------------------------------------------------------------------------------------ */

/* N1 */
static void allocation_tell(const void *object, size_t n, struct trc_heap_count before)
{
	if (!trc_heap_counted_since(before))
		trc_heap_allocated(object, n);
}

#define NEW(name, parameters, arguments)                                                           \
	static __attribute__((noinline)) void *name##_otherwise parameters                         \
	{                                                                                          \
		bool sampled = trc_heap_is_sampled() && !operator_is_plain(TRC_REAL_##name);       \
		struct trc_heap_count before;                                                      \
		void *object;                                                                      \
                                                                                                   \
		if (!sampled)                                                                      \
			return OPERATOR(name) arguments;                                           \
		before = trc_heap_counted();                                                       \
		object = OPERATOR(name) arguments; /* or it throws */                              \
		allocation_tell(object, n, before);                                                \
		return object;                                                                     \
	}                                                                                          \
	TRC_EXPORT void *name parameters                                                           \
	{                                                                                          \
		if (TRC_LIKELY(!trc_heap_is_sampled() && trc_real.name != NULL))                   \
			return trc_real.name arguments;                                            \
		return name##_otherwise arguments;                                                 \
	}
NEW(_Znwm, (size_t n), (n))
NEW(_Znam, (size_t n), (n))
NEW(_ZnwmRKSt9nothrow_t, (size_t n, const void *tag), (n, tag))
NEW(_ZnamRKSt9nothrow_t, (size_t n, const void *tag), (n, tag))
NEW(_ZnwmSt11align_val_t, (size_t n, size_t alignment), (n, alignment))
NEW(_ZnamSt11align_val_t, (size_t n, size_t alignment), (n, alignment))
NEW(_ZnwmSt11align_val_tRKSt9nothrow_t, (size_t n, size_t alignment, const void *tag),
    (n, alignment, tag))
NEW(_ZnamSt11align_val_tRKSt9nothrow_t, (size_t n, size_t alignment, const void *tag),
    (n, alignment, tag))

/* ---- delete --------------------------------------------------------------------------------- */

#define DELETE(name, parameters, arguments)                                                        \
	static __attribute__((noinline)) void name##_otherwise parameters                          \
	{                                                                                          \
		if (trc_heap_probably_knows(object))                                               \
			trc_heap_freed(object);                                                    \
		OPERATOR(name) arguments;                                                          \
	}                                                                                          \
	TRC_EXPORT void name parameters                                                            \
	{                                                                                          \
		if (TRC_LIKELY(!trc_heap_may_know(object) && trc_real.name != NULL))               \
			trc_real.name arguments;                                                   \
		else                                                                               \
			name##_otherwise arguments;                                                \
	}
DELETE(_ZdlPv, (void *object), (object))
DELETE(_ZdaPv, (void *object), (object))
DELETE(_ZdlPvRKSt9nothrow_t, (void *object, const void *tag), (object, tag))
DELETE(_ZdaPvRKSt9nothrow_t, (void *object, const void *tag), (object, tag))
DELETE(_ZdlPvm, (void *object, size_t n), (object, n))
DELETE(_ZdaPvm, (void *object, size_t n), (object, n))
DELETE(_ZdlPvSt11align_val_t, (void *object, size_t alignment), (object, alignment))
DELETE(_ZdaPvSt11align_val_t, (void *object, size_t alignment), (object, alignment))
DELETE(_ZdlPvSt11align_val_tRKSt9nothrow_t, (void *object, size_t alignment, const void *tag),
       (object, alignment, tag))
DELETE(_ZdaPvSt11align_val_tRKSt9nothrow_t, (void *object, size_t alignment, const void *tag),
       (object, alignment, tag))
DELETE(_ZdlPvmSt11align_val_t, (void *object, size_t n, size_t alignment), (object, n, alignment))
DELETE(_ZdaPvmSt11align_val_t, (void *object, size_t n, size_t alignment), (object, n, alignment))

/* ---- what is behind this object ---------------------------------------------------------------
 */

static bool is_cxx_library(const char *path)
{
	const char *name = trc_path_name(path);

	return !strncmp(name, "libstdc++.so", 12) || !strncmp(name, "libc++", 6);
}

/* After resolve_first() (real.c). */
__attribute__((constructor(102))) static void operators_start(void)
{
	trc_function *const *real = (trc_function *const *)&trc_real + FIRST;
	Dl_info info;

	for (unsigned int i = 0; i < N_OPERATORS; i++)
		if (real[i] && dladdr((void *)(uintptr_t)real[i], &info) && info.dli_fname &&
		    is_cxx_library(info.dli_fname))
			are_plain |= UINT32_C(1) << i;
}
