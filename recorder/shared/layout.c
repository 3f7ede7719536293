/*
 * layout.c - the plan of the shared mapping, and looking things up in it.
 *
 * Used by the recorded process and by readers; everything here treats the mapping as if
 * somebody else could write to it.
 */
#include <errno.h>
#include <string.h>
#include "copy_racing.h"
#include "layout.h"
#include "power_of_two.h"

enum {
	SHIFT_MAX = 6,
	THREADS_MIN = 64,
	MODULES_MIN = 64,
	HEAP_BYTES_MIN = 16 << 10,
	RING_BYTES_DEFAULT = 4 << 20,
	RING_BYTES_MIN = TRC_PAGE_WORDS_MIN * 8,
	PAGE_BYTES_MAX = 64 << 10,
	OVERFLOW_BYTES_DEFAULT = 1 << 20,
	THREADS_DEFAULT = 1024,
	MODULES_DEFAULT = 512,
	EPOCHS_MIN = 64,
	EPOCHS_DEFAULT = 4096,
	HEAP_BYTES_DEFAULT = 128 << 10,
};
#define RING_BYTES_MAX (UINT64_C(1) << 34)

static const uint32_t stack_class_frames[TRC_STACK_CLASSES] = {16, 32, 64, 128};
static const uint32_t stack_class_sets[TRC_STACK_CLASSES] = {1024, 512, 128, 64};
static const uint32_t string_class_bytes[TRC_STRING_CLASSES] = {TRC_STRING_SHORT_BYTES,
								TRC_STRING_BYTES_MAX};
static const uint32_t string_class_sets[TRC_STRING_CLASSES] = {512, 64};
static const uint32_t labels_class_bytes[TRC_LABELS_CLASSES] = {120, TRC_LABELS_BYTES_MAX};
static const uint32_t labels_class_sets[TRC_LABELS_CLASSES] = {256, 32};

size_t trc_stack_entry_bytes(unsigned int class)
{
	return sizeof(struct trc_entry_head) + stack_class_frames[class] * 8;
}

size_t trc_string_entry_bytes(unsigned int class)
{
	return sizeof(struct trc_entry_head) + string_class_bytes[class];
}

size_t trc_labels_entry_bytes(unsigned int class)
{
	return sizeof(struct trc_entry_head) + labels_class_bytes[class];
}

static uint64_t round_up(uint64_t n, uint64_t to)
{
	return (n + to - 1) / to * to;
}

static uint32_t larger(uint32_t a, uint32_t b)
{
	return a > b ? a : b;
}

static uint32_t smaller(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

static uint64_t stacks_bytes(const struct trc_shared *h)
{
	uint64_t n_bytes = 0;

	for (unsigned int c = 0; c < TRC_STACK_CLASSES; c++)
		n_bytes += (uint64_t)h->stack_sets[c] * TRC_SET_WAYS * trc_stack_entry_bytes(c);
	return n_bytes;
}

static uint64_t strings_bytes(const struct trc_shared *h)
{
	uint64_t n_bytes = 0;

	for (unsigned int c = 0; c < TRC_STRING_CLASSES; c++)
		n_bytes += (uint64_t)h->string_sets[c] * TRC_SET_WAYS * trc_string_entry_bytes(c);
	return n_bytes;
}

static uint64_t labels_bytes(const struct trc_shared *h)
{
	uint64_t n_bytes = 0;

	for (unsigned int c = 0; c < TRC_LABELS_CLASSES; c++)
		n_bytes += (uint64_t)h->label_sets[c] * TRC_SET_WAYS * trc_labels_entry_bytes(c);
	return n_bytes;
}

/* Gives every area its place, one after the other (L1). */
static void place_areas(struct trc_shared *h)
{
	uint64_t off = round_up(sizeof(*h), TRC_AREA_BYTES);

	h->procs_off = off;
	off = round_up(off + (uint64_t)h->n_procs * sizeof(struct trc_ring), TRC_AREA_BYTES);
	h->overflow_off = off;
	off = round_up(off + sizeof(struct trc_overflow), TRC_AREA_BYTES);
	h->threads_off = off;
	off = round_up(off + (uint64_t)h->n_threads * sizeof(struct trc_slot), TRC_AREA_BYTES);
	h->stacks_off = off;
	off = round_up(off + stacks_bytes(h), TRC_AREA_BYTES);
	h->strings_off = off;
	off = round_up(off + strings_bytes(h), TRC_AREA_BYTES);
	h->labels_off = off;
	off = round_up(off + labels_bytes(h), TRC_AREA_BYTES);
	h->modules_off = off;
	off = round_up(off + (uint64_t)h->n_modules * sizeof(struct trc_module_slot),
		       TRC_AREA_BYTES);
	h->epochs_off = off;
	off = round_up(off + (uint64_t)h->n_epochs * sizeof(struct trc_epoch_slot), TRC_AREA_BYTES);
	h->heap_off = off;
	off = round_up(off + h->heap_bytes, TRC_AREA_BYTES);
	h->cells_off = off;
	off = round_up(off + (uint64_t)h->n_cells * sizeof(struct trc_cell), TRC_AREA_BYTES);
	h->data_off = off;
	h->total_bytes = off + (uint64_t)h->n_procs * h->ring_words * 8;
}

static void plan_rings(struct trc_shared *h, uint64_t ring_bytes)
{
	uint64_t page_bytes = ring_bytes / 16;

	if (page_bytes < RING_BYTES_MIN)
		page_bytes = RING_BYTES_MIN;
	if (page_bytes > PAGE_BYTES_MAX)
		page_bytes = PAGE_BYTES_MAX;
	h->page_words = (uint32_t)(page_bytes / 8);
	h->ring_words = ring_bytes / 8;
}

/* The tables, each `shift` times halved, as far as they remain of use. */
static void plan_tables(struct trc_shared *h, uint32_t n_threads, uint64_t overflow_bytes,
			unsigned int shift)
{
	/* The cells must hold the largest record. */
	if (overflow_bytes >> shift < 2 * TRC_REC_WORDS_MAX * 8)
		overflow_bytes = (uint64_t)(2 * TRC_REC_WORDS_MAX * 8) << shift;
	h->n_threads = larger(n_threads >> shift, smaller(n_threads, THREADS_MIN));
	h->n_modules = larger(MODULES_DEFAULT >> shift, MODULES_MIN);
	h->n_epochs = larger(EPOCHS_DEFAULT >> shift, EPOCHS_MIN);
	h->heap_bytes = larger(HEAP_BYTES_DEFAULT >> shift, HEAP_BYTES_MIN);
	h->n_cells =
		(uint32_t)trc_power_of_two((overflow_bytes >> shift) / sizeof(struct trc_cell));
	for (unsigned int c = 0; c < TRC_STACK_CLASSES; c++)
		h->stack_sets[c] = larger(stack_class_sets[c] >> shift, 4);
	for (unsigned int c = 0; c < TRC_STRING_CLASSES; c++)
		h->string_sets[c] = larger(string_class_sets[c] >> shift, 4);
	for (unsigned int c = 0; c < TRC_LABELS_CLASSES; c++)
		h->label_sets[c] = larger(labels_class_sets[c] >> shift, 4);
}

/* Tables in at most a quarter of max_bytes, if that can be; the rest is for the rings. */
static int plan_within(struct trc_shared *h, uint64_t max_bytes)
{
	uint64_t ring_bytes = RING_BYTES_MIN;

	plan_rings(h, ring_bytes);
	for (unsigned int shift = 0; shift <= SHIFT_MAX; shift++) {
		plan_tables(h, THREADS_DEFAULT, OVERFLOW_BYTES_DEFAULT, shift);
		place_areas(h);
		if (h->data_off <= max_bytes / 4)
			break;
	}
	if (h->total_bytes > max_bytes)
		return -EINVAL;
	while (ring_bytes < RING_BYTES_MAX &&
	       2 * ring_bytes <= (max_bytes - h->data_off) / h->n_procs)
		ring_bytes *= 2;
	plan_rings(h, ring_bytes);
	place_areas(h);
	return 0;
}

int trc_layout_plan(struct trc_shared *h, const struct trc_layout_options *options)
{
	uint64_t ring_bytes = options->ring_bytes ? options->ring_bytes : RING_BYTES_DEFAULT;
	uint64_t overflow_bytes =
		options->overflow_bytes ? options->overflow_bytes : OVERFLOW_BYTES_DEFAULT;

	if (!options->n_procs || options->n_procs > TRC_PROCS_MAX || ring_bytes > RING_BYTES_MAX ||
	    overflow_bytes > RING_BYTES_MAX / 4 || options->max_bytes >> 50)
		return -EINVAL;
	h->n_procs = options->n_procs;
	if (options->max_bytes)
		return plan_within(h, options->max_bytes);
	ring_bytes = trc_power_of_two(ring_bytes < RING_BYTES_MIN ? RING_BYTES_MIN : ring_bytes);
	plan_rings(h, ring_bytes);
	plan_tables(h, options->n_threads ? options->n_threads : THREADS_DEFAULT, overflow_bytes,
		    0);
	place_areas(h);
	return 0;
}

/* True if the counts are in range: place_areas() cannot overflow then. */
static int counts_are_sane(const struct trc_shared *h)
{
	uint32_t sets = 0;

	for (unsigned int c = 0; c < TRC_STACK_CLASSES; c++)
		sets |= h->stack_sets[c];
	for (unsigned int c = 0; c < TRC_STRING_CLASSES; c++)
		sets |= h->string_sets[c];
	for (unsigned int c = 0; c < TRC_LABELS_CLASSES; c++)
		sets |= h->label_sets[c];
	return h->n_procs >= 1 && h->n_procs <= TRC_PROCS_MAX && sets <= 1 << 18 &&
	       h->page_words >= TRC_PAGE_WORDS_MIN && h->page_words <= 1 << 20 &&
	       h->ring_words >= h->page_words && h->ring_words <= RING_BYTES_MAX / 8 &&
	       !(h->ring_words & (h->ring_words - 1)) && !(h->page_words & (h->page_words - 1)) &&
	       h->n_threads <= 1 << 20 && h->n_modules <= 1 << 16 && h->n_epochs >= 1 &&
	       h->n_epochs <= 1 << 16 && h->heap_bytes <= 1 << 28 && h->n_cells >= 2 &&
	       h->n_cells <= 1U << 28 && !(h->n_cells & (h->n_cells - 1));
}

int trc_layout_check(const struct trc_shared *header, uint64_t file_bytes, const char **why)
{
	struct trc_shared planned = *header;

	*why = NULL;
	if (memcmp(header->magic, TRC_LAYOUT_MAGIC, sizeof(header->magic)))
		*why = "not a trc ring";
	else if (header->layout_version != TRC_LAYOUT_VERSION)
		*why = "made by another version of trc";
	else if (header->schema_hash != trc_schema_hash())
		*why = "made by a version of trc with other events";
	else if (!counts_are_sane(header))
		*why = "its header is damaged";
	if (*why)
		return -EBADMSG;
	place_areas(&planned);
	if (memcmp(&planned, header, offsetof(struct trc_shared, next_serial)))
		*why = "its header is damaged";
	else if (header->total_bytes > file_bytes)
		*why = "it is cut short";
	return *why ? -EBADMSG : 0;
}

static struct trc_entry_head *area_entry_at(struct trc_shared *shared, uint64_t area_off,
					    const uint32_t *sets, unsigned int n_classes,
					    uint64_t id, size_t (*entry_bytes)(unsigned int))
{
	unsigned int class = TRC_ID_CLASS(id);
	uint32_t index = TRC_ID_INDEX(id);
	uint64_t off = area_off;

	if (!id || class >= n_classes || index >= sets[class] * TRC_SET_WAYS)
		return NULL;
	for (unsigned int c = 0; c < class; c++)
		off += (uint64_t)sets[c] * TRC_SET_WAYS * entry_bytes(c);
	return trc_area(shared, off + index * entry_bytes(class));
}

static struct trc_entry_head *stack_entry(const struct trc_shared *header,
					  struct trc_shared *shared, uint64_t id)
{
	return area_entry_at(shared, header->stacks_off, header->stack_sets, TRC_STACK_CLASSES, id,
			     trc_stack_entry_bytes);
}

static struct trc_entry_head *string_entry(const struct trc_shared *header,
					   struct trc_shared *shared, uint64_t id)
{
	return area_entry_at(shared, header->strings_off, header->string_sets, TRC_STRING_CLASSES,
			     id, trc_string_entry_bytes);
}

static struct trc_entry_head *labels_entry(const struct trc_shared *header,
					   struct trc_shared *shared, uint64_t id)
{
	return area_entry_at(shared, header->labels_off, header->label_sets, TRC_LABELS_CLASSES, id,
			     trc_labels_entry_bytes);
}

struct trc_entry_head *trc_stack_entry(struct trc_shared *shared, uint64_t id)
{
	return stack_entry(shared, shared, id);
}

struct trc_entry_head *trc_string_entry_long(struct trc_shared *shared, uint64_t id)
{
	return string_entry(shared, shared, id);
}

struct trc_entry_head *trc_labels_entry(struct trc_shared *shared, uint64_t id)
{
	return labels_entry(shared, shared, id);
}

/* Copies n words of an entry if it is still the one that `id` names (T2). */
static int copy_entry(struct trc_entry_head *e, uint64_t id, uint32_t *epoch, uint32_t *n,
		      uint32_t n_max, uint32_t unit_bytes, uint64_t *words)
{
	const _Atomic uint64_t *content = (const _Atomic uint64_t *)(e + 1);
	/* acquire: pairs with the release that published the key; content is complete. */
	uint64_t key = atomic_load_explicit(&e->key, memory_order_acquire);
	uint32_t n_words;

	if (!trc_key_is(key, id))
		return 0;
	*n = atomic_load_explicit(&e->n, memory_order_relaxed);
	*epoch = atomic_load_explicit(&e->epoch, memory_order_relaxed);
	if (*n > n_max)
		return 0;
	n_words = (*n * unit_bytes + 7) / 8;
	for (uint32_t i = 0; i < n_words; i++)
		words[i] = atomic_load_explicit(&content[i], memory_order_relaxed);
	/* acquire fence: the loads above come before the second look at key; pairs with the
	 * release fence between marking the entry busy and changing it. */
	atomic_thread_fence(memory_order_acquire);
	return trc_key_same(atomic_load_explicit(&e->key, memory_order_relaxed), key);
}

uint32_t trc_stack_copy_by(const struct trc_shared *header, struct trc_shared *shared, uint64_t id,
			   uint32_t *epoch, uint64_t frame[TRC_STACK_DEPTH_MAX])
{
	struct trc_entry_head *e = stack_entry(header, shared, id);
	uint32_t n;

	if (!e || !copy_entry(e, id, epoch, &n, stack_class_frames[TRC_ID_CLASS(id)], 8, frame))
		return 0;
	return n;
}

uint32_t trc_stack_copy(struct trc_shared *shared, uint64_t id, uint32_t *epoch,
			uint64_t frame[TRC_STACK_DEPTH_MAX])
{
	return trc_stack_copy_by(shared, shared, id, epoch, frame);
}

uint32_t trc_string_copy_by(const struct trc_shared *header, struct trc_shared *shared, uint64_t id,
			    char bytes[256])
{
	struct trc_entry_head *e = string_entry(header, shared, id);
	uint64_t words[256 / 8];
	uint32_t n, epoch;

	if (!e || !copy_entry(e, id, &epoch, &n, string_class_bytes[TRC_ID_CLASS(id)], 1, words))
		return 0;
	memcpy(bytes, words, n);
	return n;
}

uint32_t trc_string_copy(struct trc_shared *shared, uint64_t id, char bytes[256])
{
	return trc_string_copy_by(shared, shared, id, bytes);
}

uint32_t trc_labels_copy_by(const struct trc_shared *header, struct trc_shared *shared, uint64_t id,
			    char bytes[TRC_LABELS_BYTES_MAX])
{
	struct trc_entry_head *e = labels_entry(header, shared, id);
	uint64_t words[TRC_LABELS_BYTES_MAX / 8];
	uint32_t n, epoch;

	if (!e || !copy_entry(e, id, &epoch, &n, labels_class_bytes[TRC_ID_CLASS(id)], 1, words))
		return 0;
	memcpy(bytes, words, n);
	return n;
}

int trc_module_copy(const struct trc_module_slot *slot, struct trc_module_slot *copy)
{
	/* acquire: pairs with the release that published the entry. */
	uint32_t state = atomic_load_explicit(&slot->state, memory_order_acquire);

	if (TRC_MODULE_STATE(state) != TRC_MODULE_READY)
		return 0;
	trc_copy_racing(copy, slot, sizeof(*copy));
	/* acquire fence: the copy comes before the second look at state; pairs with the release
	 * fence between taking the entry and changing it. */
	atomic_thread_fence(memory_order_acquire);
	return atomic_load_explicit(&slot->state, memory_order_relaxed) == state;
}

uint64_t trc_cell_commit(uint64_t position, int first, const uint64_t word[7])
{
	uint64_t h = position * UINT64_C(0x9e3779b97f4a7c15) + (first ? 3 : 1);

	for (int i = 0; i < 7; i++)
		h = (h ^ word[i]) * UINT64_C(0xd6e8feb86659fd93) + (h >> 29);
	h ^= h >> 32;
	/* Bit 0: never zero, so that fresh memory is not committed.  Bit 1: a first cell. */
	return (h & ~UINT64_C(3)) | (first ? 3 : 1);
}
