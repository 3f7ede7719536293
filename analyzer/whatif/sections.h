/*
 * sections.h - when which thread held which lock: critical sections, from a wait's end or an acquisition to the
 * release.
 *
 * With --locks=all every acquisition and release is recorded, and all of this is known.  Otherwise
 *
 *   sections:V1  a section that begins with a wait begins when that wait ends
 *   sections:V2  a section at whose end another thread waits has an unlock.  The unlock also tells when the section
 *       began, if another thread waited at that time
 *   sections:V3  a wait for a condition variable ends the section of the mutex that the thread gives up for the wait
 *   sections:V4  if a section's begin is not recorded, the section began before the first of the waits that its end
 *       ended.  If the thread was in a wait at that time, this wait lies within the section
 *   sections:V5  else a section lasts as long as the known sections at the same place or of the
 *       same lock.  A wait of the thread lies wholly within the section or wholly outside.  If no section is
 *       known, the waits in functions that the unlocking function called lie within, and an end that is not recorded is
 *       as far from its begin as in the sections of V4
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
