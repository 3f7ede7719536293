/*
 * lock_events.h - when locks were wanted, taken and released, by time.  sections.c makes critical
 * sections of these events.
 */
#ifndef TRC_ANALYZER_WHATIF_LOCK_EVENTS_H
#define TRC_ANALYZER_WHATIF_LOCK_EVENTS_H

#include "sections.h"

enum trc_lock_event_kind {
	TRC_LOCK_WANTED,   /* a wait for it begins that ends with the lock */
	TRC_LOCK_GOT,	   /* this wait ends */
	TRC_LOCK_UNLOCKED, /* others waited */
	TRC_LOCK_ACQUIRED, /* with --locks=all, as the next */
	TRC_LOCK_RELEASED,
	TRC_LOCK_COND /* the thread begins to wait for a condition variable; lock: unused */
};

struct trc_lock_event {
	int64_t ts_ns;
	uint32_t thread; /* serial */
	uint32_t lock;	 /* row in locks */
	uint32_t row;	 /* id of the park or unlock; 0 = neither */
	uint32_t rank;	 /* among equal times the lower comes first */
	uint8_t kind;	 /* enum trc_lock_event_kind */
	bool reader;
	bool tried; /* ACQUIRED: it would not have waited */
};

/* struct trc_lock_event, by time; fills in s->locks and s->all.  0 or -errno with a line in error. */
int trc_lock_events_make(struct trc_array *events, struct trc_sections *s,
			 const struct trc_model *m, struct trc_error *error);

#endif
