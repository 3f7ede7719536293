/* labels_set.c - which labels are in force.  Context: traced thread, signal handlers. */
#include <errno.h>
#include "labels.h"
#include "recorder/ring/rec.h"
#include "recorder/ring/ring_inline.h"
#include "recorder/ring/slot_inline.h"
#include "recorder/unwind/poison.h"

__thread const struct trace_labels *trc_labels_in_force __attribute__((tls_model("initial-exec")));
/* The thread will give its reference back when it ends, as far as that can be had. */
static __thread bool armed __attribute__((tls_model("initial-exec")));

/* The set's bytes, made for its id, or for a record that has to carry them. */
struct labels_bytes {
	uint32_t n_bytes; /* 0 = not made */
	char bytes[TRC_LABELS_BYTES_MAX];
};

/* labels:J9, without the id: the calling thread's session, and the table's epoch now. */
static inline uint64_t stamp_now(void)
{
	/* relaxed: a thread that reads an epoch that is just over cites what may still be cited. */
	return ((uint64_t)trc_self.session << 32) +
	       atomic_load_explicit(&trc_rec.shared->table_epoch, memory_order_relaxed);
}

static void seen_store(const struct trace_labels *labels, uint64_t id, uint64_t stamp)
{
	struct trace_labels *set = (struct trace_labels *)(uintptr_t)labels; /* labels:J1 */

	/* release: pairs with the acquire in id_known(): the entry was complete before. */
	atomic_store_explicit(&set->seen, id + stamp, memory_order_release);
}

/* True if the calling thread may store the set's id. */
static bool id_begin(struct trace_labels *set, uint32_t session)
{
	uint32_t was = atomic_load_explicit(&set->session, memory_order_relaxed);

	/* No other thread has a new set that has one reference.  A handler that interrupts this
	 * finds no session in it, and stores the id of the same content. */
	if (!was && atomic_load_explicit(&set->references, memory_order_relaxed) == 1)
		return true;
	/* acquire: those who do this for one session follow each other. */
	return was != (session | TRC_LABELS_KEEPING) &&
	       atomic_compare_exchange_strong_explicit(&set->session, &was,
						       session | TRC_LABELS_KEEPING,
						       memory_order_acquire, memory_order_relaxed);
}

/* labels:J6.  Of threads that have looked it up at the same time one does this; each has an id. */
static void id_keep(struct trace_labels *set, uint64_t id, uint32_t session)
{
	if (!id_begin(set, session))
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

/* labels:J8: in place of an entry, of a set that has no id. */
static struct trc_entry_head *no_room_now(void)
{
	/* relaxed: a table that is looked at once more, or once less, than need be. */
	return (struct trc_entry_head *)(uintptr_t)(2 * atomic_load_explicit(
								&trc_rec.shared->table_epoch,
								memory_order_relaxed) +
						    1);
}

static void no_room_keep(struct trace_labels *set, uint32_t session)
{
	if (!id_begin(set, session))
		return;
	/* relaxed, both: without an id there is nothing that an entry belongs to.  The release fence between
	 * them: who sees this entry sees no id (labels:J6). */
	atomic_store_explicit(&set->id, 0, memory_order_relaxed);
	atomic_thread_fence(memory_order_release);
	atomic_store_explicit(&set->entry, no_room_now(), memory_order_relaxed);
	/* release: as in id_keep(). */
	atomic_store_explicit(&set->session, session, memory_order_release);
}

static bool had_no_room(const struct trace_labels *set, uint32_t session)
{
	/* acquire: pairs with the release in no_room_keep(). */
	return atomic_load_explicit(&set->session, memory_order_acquire) == session &&
	       atomic_load_explicit(&set->entry, memory_order_relaxed) == no_room_now();
}

static __attribute__((noinline)) uint64_t id_look_up(const struct trace_labels *labels,
						     struct labels_bytes *b)
{
	struct trace_labels *set = (struct trace_labels *)(uintptr_t)labels; /* labels:J1 */
	uint32_t session = trc_self.session;
	uint64_t stamp = stamp_now(), id;

	b->n_bytes = trc_labels_bytes(labels, b->bytes);
	if (had_no_room(labels, session))
		return 0;
	id = trc_labels_intern(b->bytes, b->n_bytes);
	if (!id) {
		no_room_keep(set, session);
		return 0;
	}
	id_keep(set, id, session);
	seen_store(set, id, stamp);
	return id;
}

/* 0 if it is not known, or another set has its place now. */
static uint64_t id_known(const struct trace_labels *labels)
{
	uint64_t stamp = stamp_now(), id;
	struct trc_entry_head *entry;

	/* acquire, three times: see id_keep(). */
	if (atomic_load_explicit(&labels->session, memory_order_acquire) != trc_self.session)
		return 0;
	id = atomic_load_explicit(&labels->id, memory_order_acquire);
	entry = atomic_load_explicit(&labels->entry, memory_order_relaxed);
	atomic_thread_fence(memory_order_acquire);
	if (!id || atomic_load_explicit(&labels->id, memory_order_relaxed) != id)
		return 0; /* another thread has just looked it up */
	if (!trc_entry_touch(entry, id))
		return 0;
	seen_store(labels, id, stamp);
	return id;
}

/* The set's id if a thread has found its entry in use in this epoch: until two epochs later its
 * place stays its own (layout:T3).  Else 0. */
static inline uint64_t id_seen(const struct trace_labels *labels, uint64_t stamp)
{
	/* acquire: pairs with seen_store().  relaxed: `seen` says whether it is of this id. */
	uint64_t seen = atomic_load_explicit(&labels->seen, memory_order_acquire);
	uint64_t id = atomic_load_explicit(&labels->id, memory_order_relaxed);

	return seen == id + stamp ? id : 0;
}

static void slot_tell_labels(uint64_t id)
{
	trc_self.labels = id;
	if (trc_self.slot != &trc_no_slot)
		atomic_store_explicit(&trc_self.slot->labels, id, memory_order_relaxed);
}

/* Its id; 0 = none, or the table has no room and its bytes are in *b. */
static uint64_t labels_id(const struct trace_labels *labels, struct labels_bytes *b)
{
	uint64_t id = labels ? id_known(labels) : 0;

	b->n_bytes = 0;
	return id || !labels ? id : id_look_up(labels, b);
}

/* What follows a record's arguments of a set that has no id: length and bytes. */
struct inline_set {
	uint64_t n_bytes, last;
};

static unsigned int put_inline(struct trc_seg seg[3], struct inline_set *tail,
			       const struct labels_bytes *b)
{
	uint32_t words = b->n_bytes / 8, rest = b->n_bytes % 8;

	*tail = (struct inline_set){b->n_bytes, 0};
	memcpy(&tail->last, b->bytes + words * 8, rest);
	seg[0] = (struct trc_seg){&tail->n_bytes, 1};
	seg[1] = (struct trc_seg){b->bytes, words};
	seg[2] = (struct trc_seg){&tail->last, rest != 0};
	return 1 + words + (rest != 0);
}

/* Sets for which the table has no room: the record carries them itself. */
static void change_inline(uint64_t id, uint64_t was, const struct labels_bytes b[2])
{
	struct trc_args_labels args = {.labels = id, .before = was};
	static const unsigned int flag[2] = {TRC_REC_INLINE_LABELS, TRC_REC_INLINE_BEFORE};
	struct trc_seg seg[7];
	struct inline_set tail[2];
	unsigned int n_segs = 1, more = 0, flags = 0;

	seg[0] = (struct trc_seg){&args, TRC_ARGS_WORDS(args)};
	for (unsigned int i = 0; i < 2; i++) {
		if ((i ? was : id) || !b[i].n_bytes)
			continue;
		more += put_inline(seg + n_segs, &tail[i], &b[i]);
		n_segs += 3;
		flags |= flag[i];
	}
	trc_record(TRC_ARGS_WORD1(args, flags, more), seg, n_segs);
}

static void change_ids(uint64_t id, uint64_t was)
{
	struct trc_args_labels args = {.labels = id, .before = was};

	TRC_RECORD_TWO(args);
}

static void labels_change(const struct trace_labels *labels, const struct trace_labels *before)
{
	struct labels_bytes b[2];
	uint64_t was = labels_id(before, &b[1]), id = labels_id(labels, &b[0]);

	/* layout:L4: the entry is there before the record.  A sample in between has the old
	 * labels. */
	if ((labels && !id) || (before && !was))
		change_inline(id, was, b);
	else
		change_ids(id, was);
	slot_tell_labels(id);
}

const struct trace_labels *trc_labels_now(void)
{
	return trc_labels_in_force;
}

/* These return what their caller returns, who then has nothing to keep across the call. */
static __attribute__((noinline)) const struct trace_labels *
labels_arm(const struct trace_labels *before)
{
	armed = true;
	if (trc_thread_end_hook)
		trc_thread_end_hook();
	return before;
}

static __attribute__((noinline)) const struct trace_labels *
change_slow(const struct trace_labels *labels, const struct trace_labels *before)
{
	labels_change(labels, before);
	return before;
}

static __attribute__((noinline)) const struct trace_labels *
change_ids_slow(uint64_t id, uint64_t was, const struct trace_labels *before)
{
	change_ids(id, was);
	slot_tell_labels(id);
	return before;
}

static inline const struct trace_labels *labels_swap(const struct trace_labels *labels)
{
	const struct trace_labels *before = trc_labels_in_force;

	trc_labels_in_force = labels;
	return __builtin_expect(!armed, 0) && labels ? labels_arm(before) : before;
}

/* The thread is not known to the session yet, or not armed. */
static __attribute__((noinline)) const struct trace_labels *
set_slow(const struct trace_labels *labels)
{
	bool ready = trc_self_ready(); /* with the labels from before */
	const struct trace_labels *before = labels_swap(labels);

	if (ready && labels != before)
		labels_change(labels, before);
	return before;
}

/* Both ids are needed for as long as the record: looking at them says that they are in use. */
static inline const struct trace_labels *set_recording(const struct trace_labels *labels)
{
	const struct trace_labels *before = trc_labels_in_force;
	uint64_t stamp = stamp_now(), was, id;
	struct trc_args_labels args;

	trc_labels_in_force = labels;
	if (labels == before)
		return before;
	was = before ? id_seen(before, stamp) : 0;
	id = labels ? id_seen(labels, stamp) : 0;
	if ((labels && !id) || (before && !was))
		return change_slow(labels, before);
	args = (struct trc_args_labels){.labels = id, .before = was};
	if (rseq_put_two(TRC_ARGS_WORD1(args, 0, 0), id, was) != RSEQ_DONE)
		return change_ids_slow(id, was, before);
	slot_tell_labels(id);
	return before;
}

const struct trace_labels *trc_labels_set(const struct trace_labels *labels)
{
	/* relaxed: see trc_recording(). */
	uint32_t session = atomic_load_explicit(&trc_switch.on, memory_order_relaxed);

	if (!session)
		return labels_swap(labels);
	if (__builtin_expect(trc_self.session_if_loud != session || !armed, 0))
		return set_slow(labels);
	return set_recording(labels);
}

void trc_labels_attach(void)
{
	trc_self.labels = 0;
	if (trc_labels_in_force)
		labels_change(trc_labels_in_force, NULL);
}

void trc_labels_inherit(const struct trace_labels *labels)
{
	trc_labels_in_force = labels;
	armed = true; /* by whoever creates threads */
}
