/*
 * labels.h - label sets in the recorded process: immutable, counted, sharing what they have in
 * common with the set that they were made of.
 *
 *   labels:J1  a set never changes but for its count of references and the id that it has in a
 *       session
 *   labels:J2  a set keeps a reference to its base: its own labels come before the base's of equal
 *       keys
 *   labels:J3  at most TRC_LABELS_DEPTH sets hang on each other: a deeper one has all labels itself
 *   labels:J4  the calling thread holds a reference to the set that is in force for it
 *   labels:J5  signal handlers look at trc_self.labels only, an id: nothing that could be freed
 *   labels:J6  of id, entry and session one thread at a time stores all three, and id is 0
 *       meanwhile: who finds the same id before and behind the entry has what belongs together
 *
 * What interposers need of this is in hot.h.
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
#define TRC_LABELS_KEEPING UINT32_C(0x80000000) /* no session's number has it */

/* Shared by the two objects of a recorded program: when it changes, so does TRC_RUNTIME_VERSION. */
struct trace_labels {
	_Atomic uint32_t references;
	uint32_t depth; /* of the sets below, this one included */
	const struct trace_labels *base;
	/* Its id in `session`, and where it lies in the table: both stored before that (J6). */
	_Atomic uint64_t id;
	struct trc_entry_head *_Atomic entry;
	_Atomic uint32_t session; /* 0 = none yet; with TRC_LABELS_KEEPING: they are being stored */
	uint32_t n_bytes;
	char bytes[]; /* its own labels: labels_bytes:B1 */
};

/* ---- labels.c.  Context: any thread, may block. ---- */

/* As trace_labels_create(); which of the labels is wrong is told in *bad, for a message. */
int trc_labels_with(const struct trace_labels **out, const struct trace_labels *base,
		    const struct trace_label *label, size_t n, size_t *bad);
/* All labels of a set.  How many bytes; UINT32_MAX: more than a set can have.  Signal handlers
 * too. */
uint32_t trc_labels_bytes(const struct trace_labels *labels, char bytes[TRC_LABELS_BYTES_MAX]);

/* ---- labels_set.c.  Context: traced thread, signal handlers that restore what they found. ---- */

/* As trace_labels_set(). */
const struct trace_labels *trc_labels_set(const struct trace_labels *labels);
/* The thread has just become known to the session: so do its labels. */
void trc_labels_attach(void);

#endif
