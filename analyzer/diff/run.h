/* run.h - what the files that sum up one trace share; only files of this folder include it. */
#ifndef TRC_ANALYZER_DIFF_RUN_H
#define TRC_ANALYZER_DIFF_RUN_H

#include "parts.h"

struct trc_diff_summing {
	struct trc_diff_sums *sums;
	struct trc_diff_names names;
	struct trc_index seen; /* by hash of what an event is named by: its item + 1 */
	bool slices;	       /* the second pass */
	uint32_t event;	       /* whose samples count: its row */
};

/* What an event adds to its item. */
struct trc_diff_amount {
	int64_t start_ns, end_ns; /* it is spread over these */
	double value;
	int64_t span_ns; /* < 0 = not known */
	double events;	 /* how many it stands for; 0 = one */
};

/* The item of an event whose kind, reason, stack and object are these, as index + 1; 0 = it is new. */
uint32_t trc_diff_seen(struct trc_diff_summing *s, const uint64_t key[3], uint64_t *hash);
/* Notes the item of this name for that hash, added if need be.  Takes the name, which may be NULL.  0
 * without memory. */
uint32_t trc_diff_now_seen(struct trc_diff_summing *s, uint64_t hash, unsigned int kind,
			   char *name);
/* The item of the threads that are like this one; 0 without memory. */
uint32_t trc_diff_threads_item(struct trc_diff_summing *s, unsigned int kind, uint32_t thread);
void trc_diff_item_add(struct trc_diff_summing *s, uint32_t id, const struct trc_diff_amount *a);
size_t trc_diff_slice_at(const struct trc_diff_sums *sums, int64_t ts_ns);

/* Each adds all events of a kind; 0 or -ENOMEM. */
int trc_diff_add_threads(struct trc_diff_summing *s); /* threads.c */
int trc_diff_add_memory(struct trc_diff_summing *s);  /* memory.c */

#endif
