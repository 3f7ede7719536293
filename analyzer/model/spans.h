/*
 * spans.h - what each thread had when, of something that it has one of at a time: its labels, the
 * fiber that it runs.
 *
 * An event of the thread's says what it has from then on, and what it had until then.  The file's
 * table says what it had at the end: all there is of a thread that changed nothing meanwhile.
 *
 *   spans:B1  between two of its events a thread has what the first one gave it
 *   spans:B2  if the second one found something else, an event in between is missing.  As long as
 *       it may have been recorded, from where the first gap in between begins to where the last one
 *       ends, what the thread had is not known, and given as 0: none; then it is what the second
 *       one found
 *   spans:B3  before the window of a snapshot anything may be missing
 *   spans:B4  events of one time are told apart by their places (model:M5); what lasts
 *       from one of them to another has no length and is no span, but a moment
 */
#ifndef TRC_ANALYZER_MODEL_SPANS_H
#define TRC_ANALYZER_MODEL_SPANS_H

#include "parts.h"

struct trc_change {
	int64_t thread; /* what they are sorted by */
	int64_t ts_ns;	/* TRC_CHANGE_AT_END: from the file's table */
	uint64_t place; /* of the event (merge.h) */
	uint32_t value, before;
	uint32_t none; /* the second key: they keep their order */
	uint32_t note; /* what else the caller wants to know of it */
};
#define TRC_CHANGE_AT_END INT64_MAX

/* The changes of all threads while the events go by. */
struct trc_changes {
	struct trc_array changes; /* struct trc_change; in the order of their events */
	struct trc_array losses;
	int64_t window_ns;
};

void trc_changes_init(struct trc_changes *c, const struct trc_model *m);
/* 0 or -ENOMEM, these two. */
int trc_changes_add(struct trc_changes *c, const struct trc_change *change);
int trc_changes_gap(struct trc_changes *c, const struct trc_span *span, uint32_t row);
/* Once there are no more: sorts the changes, by thread and then as they were added, and makes the
 * spans.  0 or -ENOMEM. */
int trc_changes_make_spans(struct trc_changes *c, struct trc_thread_spans *spans);
/* After that: narrows *from_ns..*until_ns to the part in which an event may be missing; false if
 * there is none (B2). */
bool trc_changes_may_miss(const struct trc_changes *c, int64_t *from_ns, int64_t *until_ns);
void trc_changes_free(struct trc_changes *c);

/* What the thread had at this time and place (model:M5); 0 = nothing, or not known. */
uint32_t trc_thread_spans_at(const struct trc_thread_spans *spans, uint32_t thread, int64_t ts_ns,
			     uint64_t place);
void trc_thread_spans_init(struct trc_thread_spans *spans);
void trc_thread_spans_free(struct trc_thread_spans *spans);

#endif
