/* labels_set.c - which labels are in force.  Context: traced thread, signal handlers. */
#include <errno.h>
#include "labels.h"
#include "rec.h"
#include "ring_inline.h"
#include "slot_inline.h"
#include "poison.h"

static __thread const struct trace_labels *in_force __attribute__((tls_model("initial-exec")));
/* The thread will give its reference back when it ends, as far as that can be had. */
static __thread bool armed __attribute__((tls_model("initial-exec")));

/* The set's bytes, made for its id, or for a record that has to carry them. */
struct labels_bytes {
	uint32_t n_bytes; /* 0 = not made */
	char bytes[TRC_LABELS_BYTES_MAX];
};

/* J6.  Of threads that have looked it up at the same time one does this; each has an id. */
static void id_keep(struct trace_labels *set, uint64_t id, uint32_t session)
{
	uint32_t was = atomic_load_explicit(&set->session, memory_order_relaxed);

	/* acquire: those who do this for one session follow each other. */
	if (was == (session | TRC_LABELS_KEEPING) ||
	    !atomic_compare_exchange_strong_explicit(&set->session, &was,
						     session | TRC_LABELS_KEEPING,
						     memory_order_acquire, memory_order_relaxed))
		return;
	atomic_store_explicit(&set->id, 0, memory_order_relaxed);
	/* release fence: who sees the new entry sees that the old id has gone. */
	atomic_thread_fence(memory_order_release);
	atomic_store_explicit(&set->entry, trc_labels_entry(trc_rec.shared, id),
			      memory_order_relaxed);
	/* release, both: pairs with the acquires in id_known(): the entry is that id's, and the id
	 * that session's. */
	atomic_store_explicit(&set->id, id, memory_order_release);
	atomic_store_explicit(&set->session, session, memory_order_release);
}

static __attribute__((noinline)) uint64_t id_look_up(const struct trace_labels *labels,
						     struct labels_bytes *b)
{
	uint32_t session = trc_self.session;
	uint64_t id;

	b->n_bytes = trc_labels_bytes(labels, b->bytes);
	id = trc_labels_intern(b->bytes, b->n_bytes);
	if (id)
		id_keep((struct trace_labels *)(uintptr_t)labels, id, session); /* J1 */
	return id;
}

/* 0 if it is not known, or another set has its place now. */
static inline uint64_t id_known(const struct trace_labels *labels)
{
	struct trc_entry_head *entry;
	uint64_t id;

	/* acquire, three times: see id_keep(). */
	if (atomic_load_explicit(&labels->session, memory_order_acquire) != trc_self.session)
		return 0;
	id = atomic_load_explicit(&labels->id, memory_order_acquire);
	entry = atomic_load_explicit(&labels->entry, memory_order_relaxed);
	atomic_thread_fence(memory_order_acquire);
	if (!id || atomic_load_explicit(&labels->id, memory_order_relaxed) != id)
		return 0; /* another thread has just looked it up */
	return trc_entry_touch(entry, id) ? id : 0;
}

/* The table has no room: the record carries the set itself. */
static __attribute__((noinline)) void record_inline(const struct labels_bytes *b, uint64_t before)
{
	uint64_t arg[3] = {0, before, b->n_bytes}, last = 0;
	uint32_t words = b->n_bytes / 8, rest = b->n_bytes % 8;
	struct trc_seg seg[3] = {{arg, 3}, {b->bytes, words}, {&last, rest != 0}};

	memcpy(&last, b->bytes + words * 8, rest);
	trc_record(TRC_REC_WORD1(TRC_KIND_LABELS, TRC_REC_INLINE_LABELS, 5 + words + (rest != 0),
				 trc_self.serial),
		   seg, 3);
}

static void tell_slot(uint64_t id)
{
	trc_self.labels = id;
	if (trc_self.slot != &trc_no_slot)
		atomic_store_explicit(&trc_self.slot->labels, id, memory_order_relaxed);
}

static __attribute__((noinline)) void change_slow(const struct trace_labels *labels,
						  uint64_t before)
{
	struct labels_bytes b;
	uint64_t id = id_look_up(labels, &b);

	if (id)
		trc_record_two(TRC_REC_WORD1(TRC_KIND_LABELS, 0, 4, trc_self.serial), id, before);
	else
		record_inline(&b, before);
	tell_slot(id);
}

static __attribute__((noinline)) uint64_t before_look_up(const struct trace_labels *before)
{
	struct labels_bytes b;

	return id_look_up(before, &b);
}

/* What the record says was in force until now: it is needed for as long as the record. */
static inline uint64_t id_before(const struct trace_labels *before)
{
	uint64_t id = before ? id_known(before) : 0;

	return id || !before ? id : before_look_up(before);
}

static inline void change(const struct trace_labels *labels, uint64_t before)
{
	uint64_t id = labels ? id_known(labels) : 0;

	if (labels && !id) {
		change_slow(labels, before);
		return;
	}
	/* L4: the entry is there before the record.  A sample in between has the old labels. */
	trc_record_two(TRC_REC_WORD1(TRC_KIND_LABELS, 0, 4, trc_self.serial), id, before);
	tell_slot(id);
}

const struct trace_labels *trc_labels_now(void)
{
	return in_force;
}

static __attribute__((noinline)) void arm(void)
{
	armed = true;
	if (trc_thread_end_hook)
		trc_thread_end_hook();
}

const struct trace_labels *trc_labels_set(const struct trace_labels *labels)
{
	bool ready = trc_recording() && trc_self_ready(); /* with the labels from before */
	const struct trace_labels *before = in_force;

	in_force = labels;
	if (__builtin_expect(!armed, 0) && labels)
		arm();
	if (ready && labels != before)
		change(labels, id_before(before));
	return before;
}

void trc_labels_attach(void)
{
	trc_self.labels = 0;
	if (in_force)
		change(in_force, 0);
}

void trc_labels_inherit(const struct trace_labels *labels)
{
	in_force = labels;
	armed = true; /* by whoever creates threads */
}
