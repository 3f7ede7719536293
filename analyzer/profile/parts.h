/* parts.h - what the files that make profiles share; nobody else includes it. */
#ifndef TRC_ANALYZER_PROFILE_PARTS_H
#define TRC_ANALYZER_PROFILE_PARTS_H

#include "analyzer/model/array.h"
#include "analyzer/model/selection.h"
#include "analyzer/model/timeline.h"
#include "profile.h"

/* A profile while it is being made. */
struct trc_profile_sums {
	const struct trc_model *m;
	const struct trc_selection *selection; /* the model's; NULL = all pass */
	struct trc_array rows;		       /* struct trc_profile_sample */
	struct trc_index row;		       /* by stack and tag */
	struct trc_index tag;  /* by labels, off, stack_kind and cause, then by that and size */
	struct trc_index size; /* by bytes, or who ran instead */
};

bool trc_profile_passes(const struct trc_profile_sums *sums, uint32_t labels);
/* The row of those that share stack, labels, `off`, `stack_kind` and `bytes`, added if need be;
 * valid until the next call.  NULL without memory. */
struct trc_profile_sample *trc_profile_row(struct trc_profile_sums *sums,
					   const struct trc_profile_sample *sample);
/* Adds to the values of that row; a sum that does not fit stays at the largest that does.  0 or -ENOMEM. */
int trc_profile_add(struct trc_profile_sums *sums, const struct trc_profile_sample *sample);
/* A line of what is worth knowing; too many are left out. */
void trc_profile_comment(struct trc_profile *p, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* ---- each sums up one kind, and says what its values are: 0 or -errno with a line in error ---- */
int trc_profile_block(struct trc_profile_sums *sums, struct trc_profile *p);
int trc_profile_mutex(struct trc_profile_sums *sums, struct trc_profile *p);
int trc_profile_blame(struct trc_profile_sums *sums, struct trc_profile *p);
/* `name` NULL: of clocks. */
int trc_profile_samples(struct trc_profile_sums *sums, struct trc_profile *p, const char *name,
			struct trc_error *error);
/* `error` of these two: -ENOENT if the trace does not have what they are made of. */
int trc_profile_hold(struct trc_profile_sums *sums, struct trc_profile *p, struct trc_error *error);
int trc_profile_latency(struct trc_profile_sums *sums, struct trc_profile *p,
			struct trc_error *error);
/* -ENOENT if there are no tasks. */
/* How much of a profile of causes samples divide among places.  Begins as zeroes. */
struct trc_profile_told {
	double all_ns, sampled_ns;
};
/* stack_of: enum trc_cause_stack. */
void trc_profile_count_sampled(struct trc_profile_told *told, int64_t ns, uint8_t stack_of);
/* Says so in a comment, if it is any; `table` of SQL has the margins. */
void trc_profile_comment_sampled(struct trc_profile *p, const struct trc_profile_told *told,
				 const char *table);
int trc_profile_path(struct trc_profile_sums *sums, struct trc_profile *p, struct trc_error *error);
int trc_profile_offcpu(struct trc_profile_sums *sums, struct trc_profile *p);
/* `allocs`: what was allocated is the main value, else what is in use. */
int trc_profile_heap(struct trc_profile_sums *sums, struct trc_profile *p, bool allocs,
		     struct trc_error *error);
/* There is something to make that of. */
bool trc_profile_has_heap(const struct trc_model *m);
/* profile:L8: the stack of the thread's (its row) last sample by this time.  by: of
 * trc_thread_of_sample(). */
void trc_profile_borrow_stack(const struct trc_sample *samples, const struct trc_by_thread *by,
			      size_t thread, int64_t ts_ns, struct trc_profile_sample *to);
int trc_profile_wall(struct trc_profile_sums *sums, struct trc_profile *p, struct trc_error *error);

#endif
