/*
 * sections.h - when which thread held which lock: critical sections, from a wait's end or an acquisition to the
 * release.
 *
 * With --locks=all every acquisition and release is recorded, and all of this is known.  Otherwise
 *
 *   sections:V1  a section that begins with a wait begins when that wait ends
 *   sections:V2  a section at whose end another thread waits has an unlock, which also tells when the section
 *       began, if another thread waited then
 *   sections:V3  the wait for a condition variable ends the section: of the mutex that is given up with it
 *   sections:V4  a begin that is not recorded is before the first of those waits began that the
 *       section's end ended; a wait in which the thread was at that time lies within the section.  But readers
 *       may join others though a writer waits, unless the lock prefers writers (prefers.h)
 *   sections:V5  else a section lasts as long as those which are known, at the same place or of the
 *       same lock, of readers or of writers; a wait of the thread's lies wholly within it or wholly outside.  If none is
 *       known, waits in what the unlocking function called between the calls that lock and unlock lie within, and an end
 *       that is not recorded is as far from its begin as V4 has others
 *   sections:V6  sections that neither began nor ended while another thread waited are not in the trace
 */
#ifndef TRC_ANALYZER_WHATIF_SECTIONS_H
#define TRC_ANALYZER_WHATIF_SECTIONS_H

#include "prefers.h"
#include "waits.h"

struct trc_section {
	int64_t begin_ns, end_ns;
	uint32_t lock;	 /* row in locks */
	uint32_t thread; /* serial */
	uint32_t park;	 /* id of the wait that it begins with; 0 = none */
	bool reader;
	bool tried; /* the thread would not have waited */
};

struct trc_sections {
	struct trc_array sections; /* struct trc_section */
	struct trc_array locks;	   /* uint64_t: their addresses */
	struct trc_index lock_row; /* by address */
	uint8_t *prefers;	   /* by row of locks: enum trc_rwlock_prefers */
	bool all;		   /* the trace has all acquisitions and releases */
	uint64_t n_assumed;	   /* sections with a begin or end by V5 */
};

/*
 * assume: V5 is used; without it a section is as short as it can be.  0 or -errno with a line in error;
 * free it in both cases.
 */
int trc_sections_make(struct trc_sections *s, const struct trc_outer_waits *waits, bool assume,
		      struct trc_error *error);
void trc_sections_free(struct trc_sections *s);

#endif
