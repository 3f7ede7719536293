/*
 * tables.c - stacks, strings and label sets by content: lock-free, in shared memory, bounded.
 *
 * An entry is found or made in the set that its hash selects.  If a set has no entry that may be
 * evicted, the id is 0 and the record carries the content itself: a full table costs room, but
 * loses nothing.  Threads that make the same entry at the same time may make one entry each.
 */
#include <string.h>
#include "content_hash.h"
#include "rec.h"
#include "recorder/unwind/poison.h"

static const uint32_t stack_frames[TRC_STACK_CLASSES] = {16, 32, 64, 128};
static const uint32_t string_bytes[TRC_STRING_CLASSES] = {TRC_STRING_SHORT_BYTES,
							  TRC_STRING_BYTES_MAX};
static const uint32_t labels_bytes[TRC_LABELS_CLASSES] = {120, TRC_LABELS_BYTES_MAX};

struct content {
	const uint64_t *word;
	uint32_t n_words;
	uint32_t n; /* frames or bytes */
	uint32_t epoch;
	uint64_t hash;
	int spare_ways; /* layout:T4: a place is taken only where so many stay without a live entry */
};

static bool content_equals(struct trc_entry_head *e, const struct content *c)
{
	const _Atomic uint64_t *word = (const _Atomic uint64_t *)(e + 1);

	if (atomic_load_explicit(&e->n, memory_order_relaxed) != c->n ||
	    atomic_load_explicit(&e->epoch, memory_order_relaxed) != c->epoch)
		return false;
	for (uint32_t i = 0; i < c->n_words; i++)
		if (atomic_load_explicit(&word[i], memory_order_relaxed) != c->word[i])
			return false;
	return true;
}

/* layout:T3: an entry of this epoch or the one before may be cited still. */
static inline bool is_live(uint64_t key, uint64_t used, uint64_t now)
{
	return key & TRC_KEY_BUSY || (key && (used >= now || now - used < 2));
}

/* Takes the entry out of use, unless somebody has just used it (layout:T5). */
static bool entry_take(struct trc_entry_head *e, uint64_t seen_key, uint64_t now)
{
	uint64_t key = seen_key;

	/* seq_cst, both: pairs with trc_entry_touch().  acquire: nothing below moves above taking
	 * the entry. */
	if (!atomic_compare_exchange_strong_explicit(&e->key, &key, seen_key | TRC_KEY_BUSY,
						     memory_order_seq_cst, memory_order_relaxed))
		return false;
	if (is_live(seen_key, atomic_load_explicit(&e->last_use, memory_order_seq_cst), now)) {
		/* release: who finds the key again finds its content by that (layout:L4). */
		atomic_store_explicit(&e->key, seen_key, memory_order_release);
		return false;
	}
	/* relaxed: the fence below. */
	atomic_store_explicit(&e->key, TRC_KEY_BUSY, memory_order_relaxed);
	return true;
}

/* layout:T2, layout:T3: takes the entry out of use, fills it in, publishes it (layout:L4). */
static bool entry_fill(struct trc_entry_head *e, uint64_t seen_key, const struct content *c,
		       uint64_t key, uint64_t now)
{
	_Atomic uint64_t *word = (_Atomic uint64_t *)(e + 1);

	if (!entry_take(e, seen_key, now))
		return false;
	/* release fence: a reader that sees new content sees that the key was not its own. */
	atomic_thread_fence(memory_order_release);
	atomic_store_explicit(&e->epoch, c->epoch, memory_order_relaxed);
	atomic_store_explicit(&e->n, c->n, memory_order_relaxed);
	atomic_store_explicit(&e->last_use, now, memory_order_relaxed);
	for (uint32_t i = 0; i < c->n_words; i++)
		atomic_store_explicit(&word[i], c->word[i], memory_order_relaxed);
	/* release: pairs with the acquire of key in lookups and readers. */
	atomic_store_explicit(&e->key, key, memory_order_release);
	return true;
}

/* True if a thread's slot cites this id: what it waits at, where it was before, where it was
 * created, its labels, its fiber's name, or a region that it has open, may be older than all
 * windows. */
static bool slot_cites(struct trc_slot *slot, uint64_t id)
{
	uint32_t n = atomic_load_explicit(&slot->n_regions, memory_order_relaxed);

	if (atomic_load_explicit(&slot->wait_stack, memory_order_relaxed) == id ||
	    atomic_load_explicit(&slot->last_stack, memory_order_relaxed) == id ||
	    atomic_load_explicit(&slot->creation_stack, memory_order_relaxed) == id ||
	    atomic_load_explicit(&slot->labels, memory_order_relaxed) == id ||
	    atomic_load_explicit(&slot->fiber_name, memory_order_relaxed) == id)
		return true;
	for (uint32_t i = 0; i < n && i < TRC_OPEN_REGIONS; i++)
		if (atomic_load_explicit(&slot->region[i].type, memory_order_relaxed) == id)
			return true;
	return false;
}

static bool any_slot_cites(uint64_t id)
{
	struct trc_shared *shared = trc_rec.shared;

	for (uint32_t i = 0; i < trc_slots_used(shared, shared->n_threads); i++) {
		struct trc_slot *slot = trc_slot_at(shared, i);

		/* acquire: pairs with the release in slot_fill(): the slot is filled in. */
		if (atomic_load_explicit(&slot->state, memory_order_acquire) == TRC_SLOT_LIVE &&
		    slot_cites(slot, id))
			return true;
	}
	return false;
}

/* One set of one class. */
struct set {
	char *entries; /* TRC_SET_WAYS of them */
	size_t entry_bytes;
	unsigned int class;
	uint32_t first; /* the index of its first entry */
};

static struct trc_entry_head *set_entry(const struct set *set, int way)
{
	return (struct trc_entry_head *)(set->entries + (size_t)way * set->entry_bytes);
}

/* True if the entry may go.  If a thread's slot cites it, it counts as used now. */
static bool may_evict(const struct set *set, int way, uint64_t key)
{
	uint64_t id = TRC_ID(set->class, set->first + (uint32_t)way, key >> 2);

	if (!key || !any_slot_cites(id))
		return true;
	trc_entry_touch(set_entry(set, way), id);
	return false;
}

/* layout:T4.  Of threads that look at the same time each may take a place. */
static bool may_take(const struct set *set, int spare_ways, uint64_t now)
{
	int n_room = 0;

	if (!spare_ways)
		return true;
	for (int way = 0; way < TRC_SET_WAYS; way++) {
		struct trc_entry_head *e = set_entry(set, way);

		/* relaxed: nothing of the entry's content is looked at. */
		n_room += !is_live(atomic_load_explicit(&e->key, memory_order_relaxed),
				   atomic_load_explicit(&e->last_use, memory_order_relaxed), now);
	}
	return n_room > spare_ways;
}

/* The way that has this content, which counts as used now; -1 if none has. */
static int set_find(const struct set *set, const struct content *c, uint64_t key)
{
	for (int way = 0; way < TRC_SET_WAYS; way++) {
		struct trc_entry_head *e = set_entry(set, way);

		/* acquire: pairs with the publication in entry_fill(). */
		if (atomic_load_explicit(&e->key, memory_order_acquire) == key &&
		    content_equals(e, c) && trc_entry_touch(e, c->hash))
			return way; /* else it is being evicted */
	}
	return -1;
}

/* The entry that may go first, of those that may go at all. */
struct victim {
	int way; /* -1 = none */
	uint64_t key, last_use;
};

static struct victim set_victim(const struct set *set, uint64_t now)
{
	struct victim victim = {-1, 0, UINT64_MAX};

	for (int way = 0; way < TRC_SET_WAYS; way++) {
		struct trc_entry_head *e = set_entry(set, way);
		/* relaxed, both: entry_take() looks again. */
		uint64_t seen = atomic_load_explicit(&e->key, memory_order_relaxed);
		uint64_t used = seen ? atomic_load_explicit(&e->last_use, memory_order_relaxed) : 0;

		if (is_live(seen, used, now))
			continue;
		if (!seen || used < victim.last_use)
			victim = (struct victim){way, seen, used};
	}
	return victim;
}

/* The entry of this content in a set; -1 if there is none and no room. */
static int set_find_or_fill(const struct set *set, const struct content *c, bool *made)
{
	uint64_t now = atomic_load_explicit(&trc_rec.shared->table_epoch, memory_order_relaxed);
	uint64_t key = c->hash << 2 | TRC_KEY_VALID;

	/* Whoever is too late for a place looks for another: each time one more is taken, or used
	 * again. */
	for (int attempt = 0; attempt < TRC_SET_WAYS; attempt++) {
		int way = set_find(set, c, key);
		struct victim victim;

		if (way >= 0)
			return way;
		victim = set_victim(set, now);
		if (victim.way < 0 || !may_take(set, c->spare_ways, now) ||
		    !may_evict(set, victim.way, victim.key))
			return -1;
		*made = true;
		if (entry_fill(set_entry(set, victim.way), victim.key, c, key, now))
			return victim.way;
	}
	return -1;
}

/* `area` is where the entries of this class begin. */
static uint64_t area_intern(char *area, unsigned int class, uint32_t sets, size_t entry_bytes,
			    const struct content *c, bool *made)
{
	uint32_t first = (uint32_t)(c->hash >> 40) % sets * TRC_SET_WAYS;
	const struct set set = {area + (size_t)first * entry_bytes, entry_bytes, class, first};
	int way = -1;

	if (trc_is_grown(trc_rec.shared, set.entries, TRC_SET_WAYS * entry_bytes))
		way = set_find_or_fill(&set, c, made);
	return way < 0 ? 0 : TRC_ID(class, first + (uint32_t)way, c->hash);
}

static unsigned int class_for(const uint32_t *limit, unsigned int n_classes, uint32_t n)
{
	unsigned int class = 0;

	while (class < n_classes && n > limit[class])
		class ++;
	return class;
}

uint64_t trc_stack_intern(const uint64_t *frame, uint32_t n, uint32_t epoch)
{
	struct trc_shared *shared = trc_rec.shared;
	unsigned int class = class_for(stack_frames, TRC_STACK_CLASSES, n);
	struct content c = {frame, n, n, epoch, trc_hash((const char *)frame, n * 8, epoch), 0};
	char *area = trc_area(shared, shared->stacks_off);
	bool made = false;
	uint64_t id;

	if (!n || class == TRC_STACK_CLASSES)
		return 0;
	for (unsigned int k = 0; k < class; k++)
		area += (size_t)shared->stack_sets[k] * TRC_SET_WAYS * trc_stack_entry_bytes(k);
	id = area_intern(area, class, shared->stack_sets[class], trc_stack_entry_bytes(class), &c,
			 &made);
	if (!id)
		atomic_fetch_add_explicit(&shared->stacks_full, 1, memory_order_relaxed);
	if (made || !id)
		trc_modules_note(frame, n, epoch);
	return id;
}

bool trc_stack_touch(uint64_t id)
{
	struct trc_entry_head *e = trc_stack_entry(trc_rec.shared, id);

	return e && trc_entry_touch(e, id);
}

void trc_string_pin(uint64_t id)
{
	struct trc_entry_head *e = trc_string_entry(trc_rec.shared, id);

	if (e)
		atomic_store_explicit(&e->last_use, UINT64_MAX, memory_order_relaxed);
}

/* Of bytes, in a table of two classes that begins at `area`. */
static uint64_t intern_bytes(char *area, const uint32_t *class_bytes, const uint32_t *sets,
			     const char *bytes, uint32_t n_bytes, int spare_ways)
{
	unsigned int class = class_for(class_bytes, 2, n_bytes);
	uint64_t word[TRC_LABELS_BYTES_MAX / 8];
	uint32_t n_words = (n_bytes + 7) / 8;
	struct content c = {word, n_words, n_bytes, 0, 0, spare_ways};
	size_t head_bytes = sizeof(struct trc_entry_head);
	bool made = false;

	if (class == 2)
		return 0;
	c.hash = trc_hash(bytes, n_bytes, n_bytes);
	if (n_words)
		word[n_words - 1] = 0;
	memcpy(word, bytes, n_bytes);
	if (class)
		area += (size_t)sets[0] * TRC_SET_WAYS * (head_bytes + class_bytes[0]);
	return area_intern(area, class, sets[class], head_bytes + class_bytes[class], &c, &made);
}

static uint64_t string_intern(const char *bytes, uint32_t n_bytes, int spare_ways)
{
	struct trc_shared *shared = trc_rec.shared;

	return intern_bytes(trc_area(shared, shared->strings_off), string_bytes,
			    shared->string_sets, bytes, n_bytes, spare_ways);
}

uint64_t trc_string_intern(const char *bytes, uint32_t n_bytes)
{
	return string_intern(bytes, n_bytes, 0);
}

uint64_t trc_string_intern_if_spare(const char *bytes, uint32_t n_bytes)
{
	return string_intern(bytes, n_bytes, TRC_SET_WAYS / 2);
}

uint64_t trc_labels_intern(const char *bytes, uint32_t n_bytes)
{
	struct trc_shared *shared = trc_rec.shared;

	return intern_bytes(trc_area(shared, shared->labels_off), labels_bytes, shared->label_sets,
			    bytes, n_bytes, 0);
}

bool trc_labels_touch(uint64_t id)
{
	struct trc_entry_head *e = trc_labels_entry(trc_rec.shared, id);

	return e && trc_entry_touch(e, id);
}
