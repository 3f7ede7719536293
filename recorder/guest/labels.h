/*
 * labels.h - label sets in the recorded process: immutable, reference-counted, sharing the labels
 * of the set that they were made from.
 *
 *   labels:J1  only a set's count of references and its id in a session ever change
 *   labels:J2  a set keeps a reference to its base.  Where both have a key, the set's own label
 *       counts, not the base's
 *   labels:J3  at most TRC_LABELS_DEPTH sets are chained: a set that would be deeper has all labels
 *       itself
 *   labels:J4  a thread holds a reference to the set that is in force for it
 *   labels:J5  signal handlers read only trc_self.labels, which is an id and cannot be freed
 *   labels:J6  one thread at a time stores id, entry and session, and id is 0 meanwhile.  So if a
 *       reader finds the same id before and after it reads the entry, id and entry belong together
 *
 * The functions for interposers are in hot.h.
 */
#ifndef TRC_RECORDER_GUEST_LABELS_H
#define TRC_RECORDER_GUEST_LABELS_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include "recorder/ring/hot.h"
#include "recorder/shared/labels_bytes.h"
#include "trc/labels.h"

enum { TRC_LABELS_DEPTH = 8 };
#define TRC_LABELS_KEEPING UINT32_C(0x80000000) /* no session's number has this bit */

/* Shared by the two objects of a recorded program: if this structure changes, so does
 * TRC_RUNTIME_VERSION. */
struct trace_labels {
	_Atomic uint32_t references;
	uint32_t depth; /* number of sets in the chain, this set included */
	const struct trace_labels *base;
	/* The set's id in `session`, and its entry in the table: both stored before session
	 * (J6). */
	_Atomic uint64_t id;
	struct trc_entry_head *_Atomic entry;
	_Atomic uint32_t session; /* 0 = none yet; with TRC_LABELS_KEEPING: being stored */
	uint32_t n_bytes;
	char bytes[]; /* the set's own labels: labels_bytes:B1 */
};

/* ---- labels.c.  Context: any thread, may block. ---- */

/* As trace_labels_create(); *bad gets the index of a wrong label, for a message. */
int trc_labels_with(const struct trace_labels **out, const struct trace_labels *base,
		    const struct trace_label *label, size_t n, size_t *bad);
/* Writes all labels of a set.  Returns the number of bytes; UINT32_MAX: more than a set can have.
 * Signal handlers too. */
uint32_t trc_labels_bytes(const struct trace_labels *labels, char bytes[TRC_LABELS_BYTES_MAX]);

/* ---- labels_set.c.  Context: traced thread, signal handlers that restore what they found. ---- */

/* As trace_labels_set(). */
const struct trace_labels *trc_labels_set(const struct trace_labels *labels);
/* The thread has just become known to the session: makes its labels known, too. */
void trc_labels_attach(void);

#endif
