/*
 * group_objects.c - parks by the object that was waited for, and below it by place.
 *
 * A lock that is waited for at several places is one object.  A program may have a lock for each
 * of its thousand connections, though, of which no name tells one from another.  Objects are alike,
 * and make one group, if they were allocated at one place; or if they lie in one variable, or have
 * no name, and were waited for longest at one place.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "parts.h"
#include "format/check.h"

enum {
	PLACES_MAX = 4,	   /* that are told of one object */
	PLACE_PERCENT = 5, /* less of the object's time is not told, but at the largest */
};

struct object {
	uint64_t address;
	uint64_t key; /* of its group */
	int64_t longest_ns;
	uint32_t stack; /* of the longest wait: canonical */
	uint32_t used;	/* a stack that used it, which says when that was */
	uint32_t allocated_at;
	uint32_t group; /* its id, once it is known; 0 = not yet */
	uint8_t kind;
};

struct finder {
	struct trc_report *r;
	struct trc_index number; /* of objects: rows + 1 */
	struct trc_array objects;
	uint32_t *object_of_row; /* numbers, of parks; 0 = none, or IDLE; borrowed */
};
#define IDLE UINT32_MAX

/* Addresses of a process have fewer bits than 58; what a broken trace says may share a number. */
static uint64_t object_key(uint64_t address, uint8_t kind)
{
	return address << 6 ^ kind;
}

/* The object's number; 0 without memory. */
static uint32_t object_waited(struct finder *f, const struct trc_park *park)
{
	uint8_t kind = trc_wait_kind(park->reason);
	int64_t ns = trc_park_end_ns(f->r->m, park) - trc_park_start_ns(f->r->m, park);
	size_t n = f->objects.n;
	uint32_t number = trc_index_number(&f->number, object_key(park->object, kind));
	struct object *object = number > n ? trc_array_add(&f->objects)
					   : (struct object *)f->objects.row + number - 1;

	if (!number || !object)
		return 0;
	if (number > n)
		*object = (struct object){.address = park->object,
					  .kind = kind,
					  .used = park->stack,
					  .longest_ns = -1};
	if (ns > object->longest_ns) {
		object->longest_ns = ns;
		object->stack = trc_report_canonical(f->r, park->stack);
	}
	return number;
}

static bool is_for_object(const struct trc_park *park)
{
	return park->object && trc_wait_kind(park->reason);
}

static int objects_collect(struct finder *f)
{
	const struct trc_report *r = f->r;

	for (size_t i = 0; i < r->n_parks; i++) {
		if (trc_report_is_idle(r, &r->park[i])) {
			f->object_of_row[i] = IDLE;
		} else if (is_for_object(&r->park[i])) {
			f->object_of_row[i] = object_waited(f, &r->park[i]);
			if (!f->object_of_row[i])
				return -ENOMEM;
		}
	}
	return 0;
}

/* Objects with the same key are alike. */
static void objects_liken(struct finder *f)
{
	struct object *object = f->objects.row;
	struct trc_model *m = f->r->m;

	for (size_t i = 0; i < f->objects.n; i++) {
		uint64_t offset, key[3] = {object[i].kind};
		const struct trc_object *known;
		const char *variable =
			trc_model_variable(m, object[i].address, object[i].used, &offset);

		known = variable ? NULL : trc_model_object(m, object[i].kind, object[i].address);
		object[i].allocated_at = known ? known->allocated_at : 0;
		key[1] = variable ? (uintptr_t)variable : object[i].allocated_at;
		key[2] = key[1] && !variable ? UINT64_MAX : object[i].stack;
		object[i].key = trc_check64(key, sizeof(key), 0);
	}
}

/* The group of this wait, and of its object (NULL = for none); 0 without memory. */
static uint32_t find_group(struct trc_groups *g, const struct finder *f,
			   const struct trc_park *park, struct object *object)
{
	uint32_t stack = trc_report_canonical(f->r, park->stack);

	if (!object)
		return trc_groups_find(g, (uint64_t)park->reason << 32 | stack, park->reason,
				       stack);
	if (!object->group) {
		object->group = trc_groups_find(g, object->key, park->reason, stack);
		if (object->group)
			((struct trc_group *)g->groups.row)[object->group - 1].allocated_at =
				object->allocated_at;
	}
	return object->group;
}

/* object_of_row and g->of_row are one: a row's object is not asked for after its group is known. */
static int find_groups(struct trc_groups *g, const struct finder *f)
{
	const struct trc_report *r = f->r;
	struct object *object = f->objects.row;

	for (size_t i = 0; i < r->n_parks; i++) {
		uint32_t number = f->object_of_row[i], id;

		g->of_row[i] = 0;
		if (number == IDLE) {
			if (trc_report_idle_add(g, r, &r->park[i]))
				return -ENOMEM;
			continue;
		}
		id = find_group(g, f, &r->park[i], number ? &object[number - 1] : NULL);
		if (!id)
			return -ENOMEM;
		trc_groups_add_park(g, r, i, id);
	}
	return 0;
}

/* ---- places ---- */

static int find_places(struct trc_groups *places, const struct trc_groups *g,
		       const struct trc_report *r)
{
	const struct trc_group *group = g->groups.row;

	for (size_t i = 0; i < r->n_parks; i++) {
		const struct trc_group *parent = g->of_row[i] ? &group[g->of_row[i] - 1] : NULL;
		uint32_t stack = trc_report_canonical(r, r->park[i].stack), id;

		if (!parent || !parent->slot || !parent->several_places)
			continue;
		id = trc_groups_find(places,
				     (uint64_t)parent->slot << 40 |
					     (uint64_t)r->park[i].reason << 32 | stack,
				     r->park[i].reason, stack);
		if (!id)
			return -ENOMEM;
		((struct trc_group *)places->groups.row)[id - 1].parent = parent->slot;
		trc_groups_add_park(places, r, i, id);
	}
	return 0;
}

static bool is_told(const struct trc_group_details *parent, const struct trc_group *place)
{
	return !parent->n_places ||
	       (parent->n_places < PLACES_MAX &&
		place->total_ns >= parent->group->total_ns / 100 * PLACE_PERCENT);
}

/* Gives the largest places of each object their slots. */
static int choose_places(struct trc_groups *places, struct trc_groups *g)
{
	struct trc_group **order = trc_groups_sorted(places);

	places->details = calloc(g->n_details * PLACES_MAX + 1, sizeof(*places->details));
	if (!order || !places->details) {
		free(order);
		return -ENOMEM;
	}
	for (size_t i = 0; i < places->groups.n; i++) {
		struct trc_group_details *parent = &g->details[order[i]->parent - 1];
		struct trc_group *group = (struct trc_group *)g->groups.row +
					  (parent->group - (struct trc_group *)g->groups.row);

		group->n_places++;
		if (!is_told(parent, order[i]))
			continue;
		if (!parent->n_places++)
			parent->place = &places->details[places->n_details];
		places->n_of[trc_wait_class(order[i]->reason)]++;
		places->details[places->n_details++].group = order[i];
		order[i]->slot = (uint32_t)places->n_details;
	}
	free(order);
	return 0;
}

static int add_places(struct trc_groups *g, const struct trc_report *r)
{
	struct trc_groups *places = calloc(1, sizeof(*places));
	int err;

	g->places = places;
	if (!places)
		return -ENOMEM;
	places->of_row = calloc(r->n_parks + 1, sizeof(*places->of_row));
	err = places->of_row ? find_places(places, g, r) : -ENOMEM;
	if (!err)
		err = choose_places(places, g);
	return err ? err : trc_groups_tally_parks(places, r);
}

int trc_groups_of_objects(struct trc_groups *g, struct trc_report *r, size_t top)
{
	struct finder f = {.r = r, .objects = {.row_bytes = sizeof(struct object)}};
	int err;

	memset(g, 0, sizeof(*g));
	g->of_row = calloc(r->n_parks + 1, sizeof(*g->of_row));
	f.object_of_row = g->of_row;
	err = g->of_row ? objects_collect(&f) : -ENOMEM;
	if (!err) {
		objects_liken(&f);
		err = find_groups(g, &f);
	}
	trc_index_free(&f.number);
	trc_array_free(&f.objects);
	if (!err)
		err = trc_groups_finish_parks(g, r, top);
	return err ? err : add_places(g, r);
}
