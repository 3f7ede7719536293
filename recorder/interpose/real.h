/*
 * real.h - the libc functions behind the interposed names.
 *
 *   real:F1  the table is filled once, by the first constructor of this object, and is read-only
 *       memory from then on
 *   real:F2  before the table is filled, and for functions that libc does not have, REAL() searches
 *       by itself: without dlsym, a lock, an allocation or a relocated word of this object
 *       (early.c).  So an interposer works in other objects' constructors, in IFUNC resolvers, and
 *       inside the dlsym() that fills the table
 *   real:F3  trc's own threads call REAL(name)() only
 */
#ifndef TRC_RECORDER_INTERPOSE_REAL_H
#define TRC_RECORDER_INTERPOSE_REAL_H

#include "libc.h"
#include "names.h"

struct trc_real_table {
#define TRC_N(name)		    __typeof__(name) *name;
#define TRC_V(field, name, version) __typeof__(name) *field;
#define TRC_T(name)
	TRC_NAMES(TRC_N, TRC_V, TRC_T)
#undef TRC_N
#undef TRC_V
};

enum trc_real_idx {
#define TRC_N(name)		    TRC_REAL_##name,
#define TRC_V(field, name, version) TRC_REAL_##field,
	TRC_NAMES(TRC_N, TRC_V, TRC_T)
#undef TRC_N
#undef TRC_V
#undef TRC_T
		TRC_REAL_COUNT
};

#ifdef __x86_64__
enum { TRC_REAL_PAGE_BYTES = 4096 };
#else
enum { TRC_REAL_PAGE_BYTES = 65536 };
#endif
union trc_real_page {
	struct trc_real_table real;
	char page[TRC_REAL_PAGE_BYTES]; /* a multiple of the page size: F1 */
};
extern union trc_real_page trc_real_page;
#define trc_real (trc_real_page.real)

typedef void trc_function(void);

/* Never NULL: a function that fails with ENOSYS where libc has none.  Signal handlers too. */
trc_function *trc_real_early(enum trc_real_idx idx);

/* Fills the table if it is not filled yet.  Context: any thread, may block. */
void trc_real_resolve(void);

#define REAL(name)                                                                                 \
	(__builtin_expect(trc_real.name != NULL, 1)                                                \
		 ? trc_real.name                                                                   \
		 : (__typeof__(trc_real.name))trc_real_early(TRC_REAL_##name))

/* Searches for a name without a slot in the list above: returns the symbol in the first object
 * after this one that has the symbol. */
trc_function *trc_early_lookup(const char *name, const char *version);

#endif
