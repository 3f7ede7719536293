/*
 * tables.c - stacks, strings, label sets and modules of a mapping, and their ids in the file.
 */
#include <stddef.h>
#include <string.h>
#include "format/pages.h"
#include "private.h"
#include "recorder/shared/labels_bytes.h"

enum { PATH_BYTES_MAX = 1024 };

/* ---- ids ------------------------------------------------------------------------------- */

/* The pair of this id, or the free one where it belongs. */
static struct trc_id_pair *id_find(struct trc_id_map *map, uint64_t ring_id)
{
	uint32_t i = (uint32_t)trc_drain_hash(ring_id) & map->mask;

	while (map->pair[i].ring_id && map->pair[i].ring_id != ring_id)
		i = (i + 1) & map->mask;
	return &map->pair[i];
}

static void ids_forget(struct trc_id_map *map)
{
	memset(map->pair, 0, (map->mask + UINT64_C(1)) * sizeof(*map->pair));
	map->used = 0;
}

static void table_id_enter(struct trc_id_map *map, uint64_t ring_id, uint32_t file_id)
{
	struct trc_id_pair *pair;

	if (map->used > map->mask / 4 * 3)
		ids_forget(map);
	pair = id_find(map, ring_id);
	pair->ring_id = ring_id;
	pair->file_id = file_id;
	map->used++;
}

void trc_drain_make_more_room(struct trc_drain *d)
{
	unsigned int tables = trc_writer_make_room(d->w);

	d->had_room = true;
	if (tables & TRC_WRITER_STACKS)
		ids_forget(&d->stacks);
	if (tables & TRC_WRITER_STRINGS)
		ids_forget(&d->strings);
	if (tables & TRC_WRITER_LABEL_SETS)
		ids_forget(&d->label_sets);
}

uint32_t trc_drain_stack(struct trc_drain *d, uint64_t ring_id)
{
	struct trc_id_pair *pair;
	uint64_t frame[TRC_STACK_DEPTH_MAX];
	uint32_t epoch, n_frames, file_id;

	if (!ring_id)
		return 0;
	pair = id_find(&d->stacks, ring_id);
	if (pair->ring_id)
		return pair->file_id;
	n_frames = trc_stack_copy_by(&d->h, d->shared, ring_id, &epoch, frame);
	if (!n_frames) {
		d->totals.evicted++;
		return 0;
	}
	d->had_room = false;
	file_id = trc_writer_stack(d->w, epoch + d->options.epoch_base, frame, n_frames);
	if (file_id)
		table_id_enter(&d->stacks, ring_id, file_id);
	return file_id;
}

uint32_t trc_drain_string(struct trc_drain *d, uint64_t ring_id)
{
	struct trc_id_pair *pair;
	char bytes[256];
	uint32_t n_bytes, file_id;

	if (!ring_id)
		return 0;
	pair = id_find(&d->strings, ring_id);
	if (pair->ring_id)
		return pair->file_id;
	n_bytes = trc_string_copy_by(&d->h, d->shared, ring_id, bytes);
	if (!n_bytes) {
		d->totals.evicted++;
		return 0;
	}
	d->had_room = false;
	file_id = trc_writer_string(d->w, bytes, n_bytes);
	if (file_id)
		table_id_enter(&d->strings, ring_id, file_id);
	return file_id;
}

uint32_t trc_drain_labels_of(struct trc_drain *d, const char *bytes, uint32_t n_bytes)
{
	struct trc_label label[TRC_LABELS_MAX];
	uint32_t n = trc_labels_split(bytes, n_bytes, label);

	d->had_room = false;
	return n ? trc_writer_label_set(d->w, label, n) : 0;
}

uint32_t trc_drain_labels(struct trc_drain *d, uint64_t ring_id)
{
	struct trc_id_pair *pair;
	char bytes[TRC_LABELS_BYTES_MAX];
	uint32_t n_bytes, file_id;

	if (!ring_id)
		return 0;
	pair = id_find(&d->label_sets, ring_id);
	if (pair->ring_id)
		return pair->file_id;
	n_bytes = trc_labels_copy_by(&d->h, d->shared, ring_id, bytes);
	if (!n_bytes) {
		d->totals.evicted++;
		return 0;
	}
	file_id = trc_drain_labels_of(d, bytes, n_bytes);
	if (file_id)
		table_id_enter(&d->label_sets, ring_id, file_id);
	return file_id;
}

/* ---- modules --------------------------------------------------------------------------- */

/* The text at `off` of the heap, cut where the heap or the buffer ends. */
static void heap_copy(const struct trc_drain *d, uint64_t off, char path[PATH_BYTES_MAX])
{
	const char *heap = trc_area(d->shared, d->h.heap_off);
	size_t n = 0;

	while (off && off < d->h.heap_bytes && n < PATH_BYTES_MAX - 1 && heap[off])
		path[n++] = heap[off++];
	path[n] = '\0';
}

static void module_end(struct trc_drain *d, uint32_t i, uint32_t last)
{
	if (d->module_id[i] && !d->module_ended[i])
		trc_writer_module_end(d->w, d->module_id[i], last + d->options.epoch_base);
	d->module_ended[i] = true;
}

static void table_module_write(struct trc_drain *d, uint32_t i, const struct trc_module_slot *slot,
			       const char *path)
{
	struct trc_module_entry entry = {
		.start = slot->start,
		.limit = slot->limit,
		.file_offset = slot->file_offset,
		.load_bias = slot->load_bias,
		.first_epoch = slot->first_epoch + d->options.epoch_base,
		.last_epoch = UINT32_MAX,
		.path = path,
		.build_id_bytes = (uint8_t)(slot->build_id_bytes <= TRC_BUILD_ID_BYTES_MAX
						    ? slot->build_id_bytes
						    : 0),
	};

	memcpy(entry.build_id, slot->build_id, sizeof(entry.build_id));
	d->module_id[i] = trc_writer_module(d->w, &entry);
	trc_drain_kernel_module_taken(d, d->module_id[i]);
	d->unflushed++;
}

/* Another module has taken the entry.  If the old one was not seen to end it is told as far as it
 * was seen: others may have come to lie there since. */
static void module_begin(struct trc_drain *d, uint32_t i, const struct trc_module_slot *slot,
			 const char *path)
{
	uint32_t last = slot->first_epoch ? slot->first_epoch - 1 : 0;

	module_end(d, i, last < d->module_open[i] ? last : d->module_open[i]);
	d->module_ended[i] = false;
	table_module_write(d, i, slot, path);
	d->module_state[i] = slot->state;
}

static void module_visit(struct trc_drain *d, uint32_t i, const struct trc_module_slot *slot)
{
	/* Before the copy is made: if that finds it open, it was in this epoch. */
	uint32_t epoch = atomic_load_explicit(&d->shared->module_epoch, memory_order_relaxed);
	struct trc_module_slot copy;
	char path[PATH_BYTES_MAX];

	if (!trc_module_copy(slot, &copy))
		return;
	if (d->module_state[i] != copy.state) {
		heap_copy(d, copy.path_off, path);
		/* acquire fence: as in trc_module_copy(). */
		atomic_thread_fence(memory_order_acquire);
		if (atomic_load_explicit(&slot->state, memory_order_relaxed) != copy.state)
			return;
		module_begin(d, i, &copy, path);
	}
	d->module_open[i] = epoch > copy.first_epoch ? epoch : copy.first_epoch;
	if (copy.last_epoch != UINT32_MAX && d->module_id[i])
		module_end(d, i, copy.last_epoch);
}

void trc_drain_modules(struct trc_drain *d)
{
	struct trc_module_slot *slots = trc_area(d->shared, d->h.modules_off);
	uint32_t n = atomic_load_explicit(&d->shared->n_modules_used, memory_order_relaxed);
	uint32_t full = atomic_load_explicit(&d->shared->modules_full, memory_order_relaxed);

	for (uint32_t i = 0; i < n && i < d->h.n_modules; i++)
		module_visit(d, i, &slots[i]);
	trc_writer_had_no_room(d->w, full - d->modules_full);
	d->modules_full = full;
}

void trc_drain_modules_end(struct trc_drain *d)
{
	uint32_t last = atomic_load_explicit(&d->shared->module_epoch, memory_order_relaxed);

	trc_drain_kernel_modules_end(d);
	for (uint32_t i = 0; i < d->h.n_modules; i++)
		module_end(d, i, last);
}
