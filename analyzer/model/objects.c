/*
 * objects.c - locks, condition variables and their like, by address: TRC_PART_OBJECTS.
 *
 * Everything comes from rows of other parts: what threads waited for, what they released for
 * others, and what they hold at the end.  An address has a row for each kind of object and each
 * variable that lay there: modules come and go.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "parts.h"
#include "waits.h"
#include "format/check.h"

/* An object as it was used while the same modules were loaded. */
struct use {
	uint64_t address;
	uint32_t kind;
	uint32_t epoch; /* UINT32_MAX = at the trace's end */
};

struct use_row {
	struct use use;
	uint32_t object; /* row in m->objects */
	uint32_t next;	 /* another use with the same hash, TRC_INDEX_NONE = none */
};

struct objects {
	struct trc_model *m;
	struct trc_index use_of; /* by hash */
	struct trc_array uses;
	struct trc_index
		first_at; /* an address's last row in m->objects; the row chains to others */
};

static const char *object_readable_name(struct trc_model *m, const struct trc_object *object,
					uint32_t stack)
{
	uint64_t offset;
	const char *member = trc_model_member(m, object->address, stack, &offset), *name;
	char *text, data[TRC_DATA_NAME_BYTES];
	int n;

	if (!object->symbol && trc_model_data_name(data, m, object->address, stack))
		n = asprintf(&text, "%s", data);
	else if (!object->symbol)
		n = asprintf(&text, "0x%" PRIx64, object->address);
	else if (offset)
		n = asprintf(&text, "%s%s+%" PRIu64, object->symbol, member, offset);
	else
		n = asprintf(&text, "%s%s", object->symbol, member);
	if (n < 0)
		return NULL;
	name = trc_pool_text(&m->text, text, (size_t)n);
	free(text);
	return name;
}

static bool same_variable(const struct trc_object *a, const struct trc_object *b)
{
	return a->kind == b->kind && a->offset_bytes == b->offset_bytes &&
	       !a->symbol == !b->symbol && (!a->symbol || !strcmp(a->symbol, b->symbol));
}

/* The row of an object, added if it is new; TRC_INDEX_NONE without memory. */
static uint32_t object_row(struct objects *o, const struct use *use, uint32_t stack)
{
	struct trc_model *m = o->m;
	struct trc_object object = {.address = use->address,
				    .kind = (uint8_t)use->kind,
				    .last_ns = TRC_NEVER,
				    .next = trc_index_get(&o->first_at, use->address)};
	struct trc_object *row = m->objects.row;

	object.symbol = trc_model_variable(m, use->address, stack, &object.offset_bytes);
	for (uint32_t i = object.next; i != TRC_INDEX_NONE; i = row[i].next)
		if (same_variable(&row[i], &object))
			return i;
	object.name = object_readable_name(m, &object, stack);
	row = object.name ? trc_array_add(&m->objects) : NULL;
	if (!row || trc_index_put(&o->first_at, use->address, (uint32_t)(m->objects.n - 1)))
		return TRC_INDEX_NONE;
	*row = object;
	return (uint32_t)(m->objects.n - 1);
}

static const struct use_row *use_row(struct objects *o, const struct use *use, uint32_t stack)
{
	uint64_t hash = trc_check64(use, sizeof(*use), 0);
	uint32_t first = trc_index_get(&o->use_of, hash), object;
	struct use_row *row = o->uses.row;

	for (uint32_t i = first; i != TRC_INDEX_NONE; i = row[i].next)
		if (!memcmp(&row[i].use, use, sizeof(*use)))
			return &row[i];
	object = object_row(o, use, stack);
	row = object == TRC_INDEX_NONE ? NULL : trc_array_add(&o->uses);
	if (!row || trc_index_put(&o->use_of, hash, (uint32_t)(o->uses.n - 1)))
		return NULL;
	*row = (struct use_row){.use = *use, .object = object, .next = first};
	return row;
}

/* `stack` says which modules were loaded, as in trc_model_variable().  0 or -ENOMEM. */
static int object_used(struct objects *o, unsigned int reason, uint64_t address, uint32_t stack,
		       int64_t ts_ns)
{
	struct use use = {.address = address, .kind = trc_wait_kind(reason), .epoch = UINT32_MAX};
	struct trc_stack_view view;
	const struct use_row *row;
	struct trc_object *object;

	if (!address || !use.kind)
		return 0;
	if (stack && !trc_reader_stack(o->m->reader, stack, &view))
		use.epoch = view.epoch;
	row = use_row(o, &use, stack);
	if (!row)
		return -ENOMEM;
	object = (struct trc_object *)o->m->objects.row + row->object;
	if (ts_ns > object->last_ns)
		object->last_ns = ts_ns;
	return 0;
}

static int model_objects_collect(struct objects *o)
{
	const struct trc_model *m = o->m;
	size_t n_parks, n_unlocks, n_held, n_edges, n_holds;
	const struct trc_park *park = trc_model_parks(m, &n_parks);
	const struct trc_unlock *unlock = trc_model_unlocks(m, &n_unlocks);
	const struct trc_lock_held *held = trc_model_locks_held(m, &n_held);
	const struct trc_lock_edge *edge = trc_model_lock_edges(m, &n_edges);
	const struct trc_hold *hold = trc_model_holds(m, &n_holds);
	int err = 0;

	for (size_t i = 0; i < n_parks && !err; i++)
		err = object_used(o, park[i].reason, park[i].object, park[i].stack,
				  park[i].start_ns);
	for (size_t i = 0; i < n_unlocks && !err; i++)
		err = object_used(o, unlock[i].reason, unlock[i].object, unlock[i].stack,
				  unlock[i].ts_ns);
	for (size_t i = 0; i < n_held && !err; i++)
		err = object_used(o, held[i].reason, held[i].object, 0, m->end_ns);
	for (size_t i = 0; i < n_holds && !err; i++)
		err = object_used(o, hold[i].reason, hold[i].object, hold[i].stack,
				  hold[i].start_ns);
	for (size_t i = 0; i < n_edges && !err; i++) {
		err = object_used(o, edge[i].held_reason, edge[i].held, edge[i].held_stack,
				  edge[i].last_ns);
		if (!err)
			err = object_used(o, edge[i].taken_reason, edge[i].taken,
					  edge[i].taken_stack, edge[i].last_ns);
	}
	return err;
}

/* n keys, sorted, and as much room again; NULL without memory. */
static struct trc_key *keys_by_address(const struct trc_array *rows, size_t address_off)
{
	struct trc_key *key = calloc(rows->n + 1, 2 * sizeof(*key));

	for (size_t i = 0; key && i < rows->n; i++) {
		memcpy(&key[i].key, (const char *)rows->row + i * rows->row_bytes + address_off,
		       sizeof(key[i].key));
		key[i].row = (uint32_t)i;
	}
	if (key)
		trc_keys_sort(key, key + rows->n, rows->n);
	return key;
}

static int objects_sort(struct trc_model *m)
{
	struct trc_key *key = keys_by_address(&m->objects, offsetof(struct trc_object, address));
	struct trc_object *sorted = calloc(m->objects.n + 1, sizeof(*sorted));

	for (size_t i = 0; key && sorted && i < m->objects.n; i++)
		sorted[i] = ((struct trc_object *)m->objects.row)[key[i].row];
	if (key && sorted)
		memcpy(m->objects.row, sorted, m->objects.n * sizeof(*sorted));
	free(sorted);
	free(key);
	return key && sorted ? 0 : -ENOMEM;
}

/* The stack that allocated the memory that the object lay in when it was last used; 0 = not known.
 * key: the allocations by address, at one address by time. */
static uint32_t allocated_at(const struct trc_model *m, const struct trc_key *key, size_t n,
			     const struct trc_object *object)
{
	enum { TRIES = 64 }; /* memory is used again and again; a file may say anything */
	const struct trc_alloc *alloc = m->allocs.row;
	size_t low = 0, high = n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (key[middle].key <= (int64_t)object->address)
			low = middle + 1;
		else
			high = middle;
	}
	for (size_t i = low; i && low - i < TRIES; i--) {
		const struct trc_alloc *a = &alloc[key[i - 1].row];

		if (object->address - a->address < a->bytes && a->ts_ns <= object->last_ns &&
		    (a->freed_ns == TRC_NEVER || a->freed_ns >= object->last_ns))
			return a->stack;
	}
	return 0;
}

static int objects_allocated(struct trc_model *m)
{
	struct trc_key *key = keys_by_address(&m->allocs, offsetof(struct trc_alloc, address));
	struct trc_object *object = m->objects.row;

	if (!key)
		return -ENOMEM;
	for (size_t i = 0; i < m->objects.n; i++)
		object[i].allocated_at = allocated_at(m, key, m->allocs.n, &object[i]);
	free(key);
	return 0;
}

int trc_derive_objects(struct trc_model *m, struct trc_error *error)
{
	struct objects o = {.m = m, .uses = {.row_bytes = sizeof(struct use_row)}};
	int err = model_objects_collect(&o);

	trc_index_free(&o.use_of);
	trc_array_free(&o.uses);
	trc_index_free(&o.first_at);
	if (!err && m->objects.n)
		err = objects_sort(m);
	if (!err && m->objects.n)
		err = objects_allocated(m);
	if (err) {
		snprintf(error->text, sizeof(error->text), "objects: out of memory");
		trc_array_free(&m->objects);
	}
	return err;
}

const char *trc_object_kind(const struct trc_object *object)
{
	return trc_wait_kind_name(object->kind);
}

/* The first row at or after the address. */
static size_t objects_from(const struct trc_object *row, size_t n, uint64_t address)
{
	size_t low = 0, high = n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if ((int64_t)row[middle].address < (int64_t)address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

const struct trc_object *trc_model_object(const struct trc_model *m, unsigned int reason,
					  uint64_t address)
{
	const struct trc_object *row = m->objects.row;

	for (size_t i = objects_from(row, m->objects.n, address);
	     i < m->objects.n && row[i].address == address; i++)
		if (row[i].kind == trc_wait_kind(reason))
			return &row[i];
	return NULL;
}
