/*
 * labels.h - label sets in the recorded process: immutable, reference-counted, sharing the labels
 * of the set that they were made from.
 *
 *   labels:J1  while more than one has a set, only its count of references and its id in a session
 *       change
 *   labels:J2  a set keeps a reference to its base.  Where both have a key, the set's own label
 *       counts, not the base's
 *   labels:J3  at most TRC_LABELS_DEPTH sets are chained: a set that would be deeper has all labels
 *       itself.  The same holds for a set whose own labels and its base's labels might be too many,
 *       counted as if no key came twice
 *   labels:J4  a thread holds a reference to the set that is in force for it
 *   labels:J5  signal handlers read only trc_self.labels, which is an id and cannot be freed
 *   labels:J6  one thread at a time stores id, entry and session, and id is 0 meanwhile.  So if a
 *       reader finds the same id before and after it reads the entry, id and entry belong together
 *   labels:J7  a scope of one label that ends leaves its set to its thread, which keeps a few of
 *       them.  A scope that begins takes over a kept set of the same base and the same label.  Of
 *       sets that are kept no longer, the last one is made over for a scope of another label
 *   labels:J8  of a set for which the table had no room, `entry` is the table's epoch then, as an odd
 *       number: only in another epoch there may be room
 *   labels:J9  `seen` is the sum of an id, and of the session and the table's epoch in which a thread
 *       has found that id's entry in use.  It says nothing of another id, session or epoch
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
	uint8_t depth;	    /* number of sets in the chain, this set included */
	uint8_t n_labels;   /* of all sets in the chain: at least as many as there are keys */
	uint16_t all_bytes; /* the bytes of these labels */
	const struct trace_labels *base;
	/* The set's id in `session`, and its entry in the table: both stored before session
	 * (J6). */
	_Atomic uint64_t id;
	struct trc_entry_head *_Atomic entry;
	_Atomic uint64_t seen;	  /* J9; 0 = by nobody yet */
	_Atomic uint32_t session; /* 0 = none yet; with TRC_LABELS_KEEPING: being stored */
	uint16_t n_bytes;
	uint16_t
		place; /* where a thread keeps it when its scope has ended (J7), + 1; 0 = nowhere */
	char bytes[];  /* the set's own labels: labels_bytes:B1 */
};

/* ---- labels.c.  Context: any thread, may block. ---- */

/* As trace_labels_create(); *bad gets the index of a wrong label, for a message. */
int trc_labels_with(const struct trace_labels **out, const struct trace_labels *base,
		    const struct trace_label *label, size_t n, size_t *bad);
/* The parts of trc_labels_with(), for a scope: *label refers to the bytes of *from. */
int trc_label_check(struct trc_label *label, const struct trace_label *from);
int trc_labels_with_one(const struct trace_labels **out, const struct trace_labels *base,
			const struct trc_label *label, uint16_t place);
/* Turns a set that trc_labels_with_one() made into the one that it would make now.  False, and
 * nothing is changed: somebody else has the set, or it has another base or too little memory. */
bool trc_labels_make_over(const struct trace_labels *labels, const struct trace_labels *base,
			  const struct trc_label *label, uint16_t place);
/* Writes all labels of a set.  Returns the number of bytes; UINT32_MAX: more than a set can have.
 * Signal handlers too. */
uint32_t trc_labels_bytes(const struct trace_labels *labels, char bytes[TRC_LABELS_BYTES_MAX]);

/* ---- labels_kept.c.  Context: any thread, may block. ---- */

/* As trc_labels_with(), for a scope of the calling thread (J7). */
int trc_labels_scope_begin(const struct trace_labels **out, const struct trace_labels *base,
			   const struct trace_label *label, size_t n, size_t *bad);
/* The same for one label, if the set is one that the thread keeps and finds at once; NULL: it is not, or
 * that is no label.  Leaves errno. */
const struct trace_labels *trc_labels_scope_met(const struct trace_labels *base,
						const struct trace_label *label);
/* Gives back the set that was in force in a scope. */
void trc_labels_scope_end(const struct trace_labels *labels);
/* The thread ends: gives back the sets that the thread keeps. */
void trc_labels_kept_drop(void);

/* ---- labels_set.c.  Context: traced thread, signal handlers that restore what they found. ---- */

/* What trc_labels_now() returns. */
extern TRC_HIDDEN __thread const struct trace_labels *trc_labels_in_force
	__attribute__((tls_model("initial-exec")));
/* As trace_labels_set(). */
const struct trace_labels *trc_labels_set(const struct trace_labels *labels);
/* The thread has just become known to the session: makes its labels known, too. */
void trc_labels_attach(void);

#endif
