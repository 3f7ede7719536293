/*
 * spans.h - the value that each thread had at each time, for things of which a thread has one at
 * a time: its label set, or the fiber that it runs.
 *
 * An event of the thread says which value it has from then on, and which value it had until then.
 * The file's table says which value it had at the end.  For a thread without such events the table
 * is the only source.
 *
 *   spans:B1  between two of its events a thread has the value that the first event gave it
 *   spans:B2  if the second event says that the thread had another value before, an event in
 *       between is missing.  The missing event was lost between the begin of the first gap and the
 *       end of the last gap between the two events.  In this time the value is not known, and given
 *       as 0: none. From then on the value is what the second event says
 *   spans:B3  before the window of a snapshot any event may be missing
 *   spans:B4  events with the same time are told apart by their places (model:M5).  A value between two
 *       such events has no length: it is a moment, not a span
 */
#ifndef TRC_ANALYZER_MODEL_SPANS_H
#define TRC_ANALYZER_MODEL_SPANS_H

#include "parts.h"

struct trc_change {
	int64_t thread; /* changes are sorted by thread */
	int64_t ts_ns;	/* TRC_CHANGE_AT_END: from the file's table */
	uint64_t place; /* of the event (merge.h) */
	uint32_t value, before;
	uint32_t none; /* the second sort key, always the same: changes keep their order */
	uint32_t note; /* for the caller's own use */
};
#define TRC_CHANGE_AT_END INT64_MAX

/* The changes of all threads while the events go by. */
struct trc_changes {
	struct trc_array changes; /* struct trc_change; in the order of their events */
	struct trc_array losses;
	int64_t window_ns;
};

void trc_changes_init(struct trc_changes *c, const struct trc_model *m);
/* These two return 0 or -ENOMEM. */
int trc_changes_add(struct trc_changes *c, const struct trc_change *change);
int trc_changes_gap(struct trc_changes *c, const struct trc_span *span, uint32_t row);
/* After the last change: sorts the changes, by thread and then as they were added, and makes the
 * spans.  0 or -ENOMEM. */
int trc_changes_make_spans(struct trc_changes *c, struct trc_thread_spans *spans);
/* After trc_changes_make_spans(): narrows *from_ns..*until_ns to the part in which an event may be
 * missing; false if there is no such part (B2). */
bool trc_changes_may_miss(const struct trc_changes *c, int64_t *from_ns, int64_t *until_ns);
void trc_changes_free(struct trc_changes *c);

/* The value of the thread at this time and place (model:M5); 0 = none, or not known. */
uint32_t trc_thread_spans_at(const struct trc_thread_spans *spans, uint32_t thread, int64_t ts_ns,
			     uint64_t place);
void trc_thread_spans_init(struct trc_thread_spans *spans);
void trc_thread_spans_free(struct trc_thread_spans *spans);

#endif
