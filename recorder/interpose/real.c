/*
 * real.c - fills the table of real libc functions (real.h).
 */
#include <stdatomic.h>
#include "mutex_inline.h"
#include "operators.h"
#include "real.h"
#include "thread.h"
#define TRC_DEFINES_HEAP
#include "recorder/unwind/poison.h"

union trc_real_page trc_real_page __attribute__((aligned(TRC_REAL_PAGE_BYTES)));

/* Characters, not pointers: usable before this object is relocated (F2). */
static const struct {
	char name[36];
	char version[12]; /* "" = the default one */
} wanted[TRC_REAL_COUNT] = {
#define TRC_N(name)		    {#name, ""},
#define TRC_V(field, name, version) {#name, version},
#define TRC_T(name)
	TRC_NAMES(TRC_N, TRC_V, TRC_T)
#undef TRC_N
#undef TRC_V
#undef TRC_T
};

/* Stand for what this libc does not have. */
static int missing_call(void)
{
	errno = ENOSYS;
	return -1;
}
static int missing_pthread_call(void)
{
	return ENOSYS;
}

static void *missing_allocation(void)
{
	errno = ENOMEM;
	return NULL;
}

#define HEAP_NAMES (TRC_REAL__ZdaPvmSt11align_val_t + 1) /* they come first */
/* What was found for them; the table is not ours to write when it may have become read-only. */
static _Atomic(trc_function *) early_heap[HEAP_NAMES];

static trc_function *real_missing(enum trc_real_idx idx)
{
	const char *name = wanted[idx].name;

	if (idx < TRC_REAL_posix_memalign)
		return (trc_function *)missing_allocation;
	if (idx > TRC_REAL_posix_memalign && (int)idx < HEAP_NAMES)
		return trc_operator_plain(idx);
	if (name[0] == 'p' && (name[1] == 't' || name[1] == 'o'))
		return (trc_function *)missing_pthread_call;
	return (trc_function *)missing_call;
}

trc_function *trc_real_early(enum trc_real_idx idx)
{
	const char *version = wanted[idx].version;
	trc_function *found = NULL;

	/* relaxed: whoever finds it finds the same. */
	if ((int)idx < HEAP_NAMES)
		found = atomic_load_explicit(&early_heap[idx], memory_order_relaxed);
	if (found)
		return found;
	found = trc_early_lookup(wanted[idx].name, *version ? version : NULL);
	if (!found)
		return real_missing(idx);
	/* Later, operators may be those of an object that goes again: operators.c. */
	if ((int)idx < HEAP_NAMES && !trc_real.malloc)
		atomic_store_explicit(&early_heap[idx], found, memory_order_relaxed);
	return found;
}

static trc_function *next_symbol(enum trc_real_idx idx)
{
	void *found = wanted[idx].version[0]
			      ? dlvsym(RTLD_NEXT, wanted[idx].name, wanted[idx].version)
			      : dlsym(RTLD_NEXT, wanted[idx].name);

	return (trc_function *)(uintptr_t)found;
}

void trc_real_resolve(void)
{
	static bool done; /* guarded by the loader: constructors run one at a time */
	trc_function **slot = (trc_function **)&trc_real;
	unsigned int i;

	_Static_assert(sizeof(struct trc_real_table) == TRC_REAL_COUNT * sizeof(trc_function *),
		       "the table and the list of names agree");
	_Static_assert(sizeof(union trc_real_page) == TRC_REAL_PAGE_BYTES,
		       "the table has its pages for itself");
	if (done)
		return;
	done = true;
	for (i = 0; i < TRC_REAL_COUNT; i++)
		slot[i] = next_symbol(i);
	/* Failure leaves the table writable, no more. */
	mprotect(&trc_real_page, sizeof(trc_real_page), PROT_READ);
	trc_thread_prepare();
	trc_mutex_inline_check();
}

/* Before every other constructor of this object. */
__attribute__((constructor(101))) static void resolve_first(void)
{
	trc_real_resolve();
}
