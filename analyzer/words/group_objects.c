/*
 * group_objects.c - parks by the object of the wait, and below each object by place.
 *
 * A lock that is waited for at several places is one object.  A program may have a lock for each of its
 * thousand connections, though, or for each part of a table.  Objects that are alike make one group:
 *
 *   - the same member of the elements of one variable;
 *   - objects that were allocated at one place;
 *   - objects without a name, or of a variable whose members are not known, that were waited for in one
 *     function, called by one other, for a tenth of the time of each or more.  Two that are alike to a
 *     third are alike.
 *
 * A Java virtual machine has one object to wait for in each thread, at one address, whatever the thread waits for.  So a
 * thread that waits to enter a monitor, in Object.wait() or in Thread.sleep(), counts as waiting for another object in each
 * of these functions.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "analyzer/profile/profile.h"
#include "words.h"
#include "format/check.h"

enum {
	PLACES_MAX = 4,	   /* that are told of one object */
	PLACE_PERCENT = 5, /* less of the object's time is not told, but at the largest */
};

struct object {
	uint64_t address;
	uint32_t used; /* a stack that used it, which says when that was */
	uint32_t allocated_at;
	uint32_t like;	/* the number of another of its kind, or its own */
	uint32_t group; /* of the kind, at the last in the chain of `like`; 0 = not yet known */
	uint8_t kind;
	uint8_t by;    /* enum likeness */
	uint64_t name; /* hash of what is alike of its name */
	int64_t total_ns;
};

enum likeness { BY_NAME = 1, BY_FUNCTION };
enum { USE_PERCENT = 10 };

/* Waits for an object in one function. */
struct use {
	uint32_t object; /* its number */
	uint64_t functions;
	int64_t ns;
};

struct finder {
	struct trc_report *r;
	struct trc_index number; /* of objects: rows + 1 */
	struct trc_array objects;
	struct trc_index
		first; /* the number of the first object that has this in common with others */
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
	size_t n = f->objects.n;
	bool is_thread = trc_profile_is_hotspot_event(f->r->stacks, f->r->m, park->stack);
	uint32_t number = trc_index_number(
		&f->number, object_key(park->object, kind) ^
				    (is_thread ? trc_report_functions(f->r, park->stack) << 6 : 0));
	struct object *object = number > n ? trc_array_add(&f->objects) : NULL;

	if (!number || number <= n)
		return number;
	if (!object)
		return 0;
	*object = (struct object){
		.address = park->object, .kind = kind, .used = park->stack, .like = number};
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

/* ---- which objects are alike ---- */

static struct object *object_at(const struct finder *f, uint32_t number)
{
	return (struct object *)f->objects.row + number - 1;
}

/* The one that stands for all of its kind. */
static struct object *object_kind_of(const struct finder *f, struct object *object)
{
	while (object != object_at(f, object->like)) {
		object->like = object_at(f, object->like)->like;
		object = object_at(f, object->like);
	}
	return object;
}

/* Objects that share such a key are alike. */
static int liken(struct finder *f, struct object *object, uint64_t key)
{
	uint32_t first = trc_index_get(&f->first, key);

	if (first == TRC_INDEX_NONE)
		return trc_index_put(&f->first, key,
				     (uint32_t)(object - (struct object *)f->objects.row) + 1);
	object_kind_of(f, object)->like = object_kind_of(f, object_at(f, first))->like;
	return 0;
}

/* "[12].lock" and "[3].lock" are alike. */
static uint64_t hash_member(const char *member, uint64_t seed)
{
	char text[256];
	size_t n = 0;

	for (; *member && n < sizeof(text); member++) {
		text[n++] = *member;
		if (*member == '[')
			member += strcspn(member, "]") - 1;
	}
	return trc_check64(text, n, seed);
}

/* What is known of the object itself. */
static void object_name(const struct finder *f, struct object *object)
{
	struct trc_model *m = f->r->m;
	uint64_t offset = 0;
	const char *variable = trc_model_variable(m, object->address, object->used, &offset);
	const char *member;
	const struct trc_object *known;

	if (!variable) {
		known = trc_model_object(m, object->kind, object->address);
		object->allocated_at = known ? known->allocated_at : 0;
		object->by = object->allocated_at ? BY_NAME : BY_FUNCTION;
		object->name = object->allocated_at;
		return;
	}
	member = trc_model_member(m, object->address, object->used, &offset);
	object->name = trc_check64(variable, strlen(variable), 0);
	object->by = *member || !offset ? BY_NAME : BY_FUNCTION;
	if (object->by == BY_NAME)
		object->name = hash_member(member, object->name);
}

/* The places of objects that names do not tell apart. */
static int collect_uses(struct finder *f, struct trc_array *uses, struct trc_index *use_of)
{
	for (size_t i = 0; i < f->r->n_parks; i++) {
		const struct trc_park *park = &f->r->park[i];
		uint32_t number = f->object_of_row[i], use_number;
		int64_t ns = trc_park_end_ns(f->r->m, park) - trc_park_start_ns(f->r->m, park);
		uint64_t key[2] = {number};
		struct use *use;

		if (!number || number == IDLE || object_at(f, number)->by != BY_FUNCTION)
			continue;
		key[1] = trc_report_functions(f->r, park->stack);
		use_number = trc_index_number(use_of, trc_check64(key, sizeof(key), 0));
		use = use_number > uses->n ? trc_array_add(uses)
					   : (struct use *)uses->row + use_number - 1;
		if (!use_number || !use)
			return -ENOMEM;
		use->object = number;
		use->functions = key[1];
		trc_report_add(&use->ns, ns);
		trc_report_add(&object_at(f, number)->total_ns, ns);
	}
	return 0;
}

static int liken_uses(struct finder *f, const struct trc_array *uses)
{
	const struct use *use = uses->row;
	int err = 0;

	for (size_t i = 0; i < uses->n && !err; i++) {
		struct object *object = object_at(f, use[i].object);
		const uint64_t key[] = {object->kind, BY_FUNCTION, object->name, use[i].functions};

		if (use[i].functions && use[i].ns >= object->total_ns / 100 * USE_PERCENT)
			err = liken(f, object, trc_check64(key, sizeof(key), 0));
	}
	return err;
}

static int objects_liken(struct finder *f)
{
	struct trc_array uses = {.row_bytes = sizeof(struct use)};
	struct trc_index use_of = {0};
	struct object *object = f->objects.row;
	int err = 0;

	for (size_t i = 0; i < f->objects.n && !err; i++) {
		uint64_t key[3] = {object[i].kind, BY_NAME};

		object_name(f, &object[i]);
		key[2] = object[i].name;
		if (object[i].by == BY_NAME)
			err = liken(f, &object[i], trc_check64(key, sizeof(key), 0));
	}
	if (!err)
		err = collect_uses(f, &uses, &use_of);
	if (!err)
		err = liken_uses(f, &uses);
	trc_array_free(&uses);
	trc_index_free(&use_of);
	return err;
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
		object->group = trc_groups_new(g, park->reason, stack);
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

	for (size_t i = 0; i < r->n_parks; i++) {
		uint32_t number = f->object_of_row[i], id;

		g->of_row[i] = 0;
		if (number == IDLE) {
			if (trc_report_idle_add(g, r, &r->park[i]))
				return -ENOMEM;
			continue;
		}
		id = find_group(g, f, &r->park[i],
				number ? object_kind_of(f, object_at(f, number)) : NULL);
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

static bool place_is_told(const struct trc_group_details *parent, const struct trc_group *place)
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
		if (!place_is_told(parent, order[i]))
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

static int group_add_places(struct trc_groups *g, const struct trc_report *r)
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
	if (!err)
		err = objects_liken(&f);
	if (!err)
		err = find_groups(g, &f);
	trc_index_free(&f.number);
	trc_index_free(&f.first);
	trc_array_free(&f.objects);
	if (!err)
		err = trc_groups_finish_parks(g, r, top);
	return err ? err : group_add_places(g, r);
}
