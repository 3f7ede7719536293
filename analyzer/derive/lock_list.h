/* lock_list.h - what listing locks and summing what is selected of each share. */
#ifndef TRC_ANALYZER_DERIVE_LOCK_LIST_H
#define TRC_ANALYZER_DERIVE_LOCK_LIST_H

#include "analyzer/model/lock_sums.h"
#include "analyzer/model/selection.h"
#include "convoys.h"

/* A convoy, and the row of its lock. */
struct trc_lock_convoy {
	struct trc_convoy convoy;
	uint32_t row;
};

/* Of an unlock, whatever is selected. */
struct trc_lock_section {
	uint32_t row;	 /* of the lock */
	uint32_t convoy; /* in which it hands the lock over: index + 1; 0 = none */
	bool contended;	 /* lock_sums:K3: what it ends counts as a hold */
};

/* What is the same whatever is selected: locks, with nothing summed yet, and what belongs to each. */
struct trc_lock_list {
	struct trc_array rows;		  /* struct trc_lock_sum */
	struct trc_array convoys;	  /* struct trc_lock_convoy: those of a lock by time */
	struct trc_lock_section *section; /* by row of unlocks */
	bool is_mapped;			  /* rows that are no trc_array's are an image's */
};

struct trc_lock_summing {
	struct trc_lock_sums *sums;
	const struct trc_model *m;
	const struct trc_selection *selection;
	const struct trc_preempted *preempted;
	struct trc_selected_cause *caused; /* by row of unlocks; NULL = all is selected */
	struct trc_selected_range
		caused_in;	       /* the rows of unlocks that may have caused something */
	struct trc_array waited, held; /* struct trc_key: durations, and the lock's row */
	struct trc_index pair_of;      /* of lock and thread that waited for it */
	struct trc_lock_list own;      /* if the model keeps nothing */
	const struct trc_lock_list *listed;
	bool count_threads;
	uint64_t last_object;
	uint32_t last_row; /* of the lock asked for last; TRC_INDEX_NONE */
	uint8_t last_kind;
	bool all_holds;
};

/* The row, or TRC_INDEX_NONE and in *key where to enter one. */
uint32_t trc_lock_list_find(const struct trc_lock_sums *sums, uint64_t object, uint8_t kind,
			    uint64_t *key);
/* The row of the lock, a new one if need be; TRC_INDEX_NONE without memory. */
uint32_t trc_lock_list_row(struct trc_lock_summing *s, unsigned int reason, uint64_t object);
/* Makes s->listed and the rows of s->sums, or takes those that the model keeps.  0 or -ENOMEM. */
int trc_lock_list_need(struct trc_lock_summing *s);
void trc_lock_list_free(struct trc_lock_list *l);

#endif
