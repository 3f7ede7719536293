/* symbols_types.c - see symbols_types.h. */
#include "symbols_types.h"

#include <dwarf.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* M1 */
enum { STEPS_MAX = 64, ALIASES_MAX = 16, ARRAYS_MAX = 4, DIMENSIONS_MAX = 8 };

/* In place of a class may stand the signature of the unit that describes it. */
static bool die_type_whole(Dwarf_Die *die, Dwarf_Die *type)
{
	Dwarf_Attribute attribute;
	Dwarf_Die whole;

	if (!dwarf_formref_die(dwarf_attr_integrate(die, DW_AT_type, &attribute), type))
		return false;
	if (dwarf_formref_die(dwarf_attr(type, DW_AT_signature, &attribute), &whole))
		*type = whole;
	return true;
}

static bool die_number(Dwarf_Die *die, unsigned int name, uint64_t *number)
{
	Dwarf_Attribute attribute;

	return !dwarf_formudata(dwarf_attr_integrate(die, name, &attribute), number);
}

static bool is_alias(int tag)
{
	return tag == DW_TAG_typedef || tag == DW_TAG_const_type || tag == DW_TAG_volatile_type ||
	       tag == DW_TAG_restrict_type || tag == DW_TAG_atomic_type;
}

static bool type_is_class(int tag)
{
	return tag == DW_TAG_structure_type || tag == DW_TAG_class_type || tag == DW_TAG_union_type;
}

/* What a name stands for.  False: it goes on for too long. */
static bool peel(Dwarf_Die *type)
{
	for (int i = 0; i < ALIASES_MAX; i++)
		if (!is_alias(dwarf_tag(type)))
			return true;
		else if (!die_type_whole(type, type))
			return false;
	return false;
}

/* ---- arrays ---- */

struct dimensions {
	uint64_t count[DIMENSIONS_MAX]; /* outermost first; UINT64_MAX = not known */
	int n;
};

static uint64_t count_of(Dwarf_Die *subrange)
{
	uint64_t count, lower = 0;

	if (die_number(subrange, DW_AT_count, &count))
		return count;
	if (!die_number(subrange, DW_AT_upper_bound, &count))
		return UINT64_MAX;
	die_number(subrange, DW_AT_lower_bound, &lower);
	return count >= lower ? count - lower + 1 : UINT64_MAX;
}

static void dimensions_of(Dwarf_Die *array, struct dimensions *d)
{
	Dwarf_Die child;
	int more = dwarf_child(array, &child);

	d->n = 0;
	for (; !more && d->n < DIMENSIONS_MAX; more = dwarf_siblingof(&child, &child))
		if (dwarf_tag(&child) == DW_TAG_subrange_type)
			d->count[d->n++] = count_of(&child);
}

/* 0 = not known. */
static uint64_t type_size(Dwarf_Die type)
{
	struct dimensions d;
	uint64_t factor = 1, size;

	for (int i = 0; i < ARRAYS_MAX; i++) {
		if (!peel(&type))
			return 0;
		if (die_number(&type, DW_AT_byte_size, &size))
			return __builtin_mul_overflow(size, factor, &size) ? 0 : size;
		if (dwarf_tag(&type) != DW_TAG_array_type)
			return 0;
		dimensions_of(&type, &d);
		for (int k = 0; k < d.n; k++)
			if (d.count[k] == UINT64_MAX ||
			    __builtin_mul_overflow(factor, d.count[k], &factor))
				return 0;
		if (!die_type_whole(&type, &type))
			return 0;
	}
	return 0;
}

/* What does not fit is not begun. */
static bool member_put(struct trc_member *member, const char *before, const char *name,
		       const char *after)
{
	size_t room = sizeof(member->text) - member->n_bytes;
	int n = snprintf(member->text + member->n_bytes, room, "%s%s%s", before, name, after);

	if (n < 0 || (size_t)n >= room) {
		member->text[member->n_bytes] = '\0';
		return false;
	}
	member->n_bytes += (size_t)n;
	return true;
}

/* From an array to its element.  False: to none. */
static bool enter_array(Dwarf_Die *type, struct trc_member *member)
{
	struct dimensions d;
	uint64_t index, size, stride = 1;
	Dwarf_Die element;
	char text[24];

	dimensions_of(type, &d);
	if (!d.n || !die_type_whole(type, &element))
		return false;
	size = type_size(element);
	if (size <= 1) /* unknown, or bytes: nothing that one would count */
		return false;
	index = member->offset / size;
	for (int k = 1; k < d.n; k++)
		if (!d.count[k] || d.count[k] == UINT64_MAX ||
		    __builtin_mul_overflow(stride, d.count[k], &stride))
			return false;
	if (index / stride >= d.count[0])
		return false;
	for (int k = 0; k < d.n; k++) {
		snprintf(text, sizeof(text), "%" PRIu64, index / stride);
		if (!member_put(member, "[", text, "]"))
			return false;
		index %= stride;
		if (k + 1 < d.n)
			stride /= d.count[k + 1];
	}
	member->offset %= size;
	*type = element;
	return true;
}

/* ---- classes ---- */

static const char *die_name(Dwarf_Die *die)
{
	const char *name = dwarf_diename(die);

	return name && *name ? name : NULL;
}

/* What a program calls a lock, and has no part in the inside of. */
static bool is_opaque(Dwarf_Die *type)
{
	static const char *const NAMES[] = {
		"sem_t", "mtx_t",	"cnd_t",	   "once_flag",	  "condition_variable",
		"mutex", "timed_mutex", "recursive_mutex", "shared_mutex"};
	const char *name = die_name(type);

	if (!name)
		return false;
	for (size_t i = 0; i < sizeof(NAMES) / sizeof(*NAMES); i++)
		if (!strcmp(name, NAMES[i]))
			return true;
	return !strncmp(name, "pthread_", 8);
}

/* Of libstdc++ (_M_x) or libc++ (__x_). */
static bool is_of_library(const char *name)
{
	return !strncmp(name, "_M_", 3) ||
	       (!strncmp(name, "__", 2) && name[strlen(name) - 1] == '_');
}

/* Whether the object's part that this is lies at the offset, and where it begins.  Of a part whose
 * size is not known only the first byte is. */
static bool part_covers(Dwarf_Die *part, bool in_union, uint64_t offset, uint64_t *start)
{
	Dwarf_Attribute attribute;
	Dwarf_Die type;
	uint64_t size;

	if (dwarf_tag(part) != DW_TAG_member && dwarf_tag(part) != DW_TAG_inheritance)
		return false;
	*start = 0;
	if (!die_number(part, DW_AT_data_member_location, start) &&
	    (!in_union || dwarf_attr(part, DW_AT_data_bit_offset, &attribute)))
		return false;
	if (*start > offset || !die_type_whole(part, &type))
		return false;
	size = type_size(type);
	return offset - *start < (size ? size : 1);
}

/* An array without elements covers nothing. */
static bool part_is_empty(Dwarf_Die *part)
{
	struct dimensions d;
	Dwarf_Die type;

	if (!die_type_whole(part, &type) || !peel(&type) || dwarf_tag(&type) != DW_TAG_array_type)
		return false;
	dimensions_of(&type, &d);
	for (int k = 0; k < d.n; k++)
		if (!d.count[k] || d.count[k] == UINT64_MAX)
			return true;
	return !d.n;
}

/* From a class to the type of its member.  False: none is there. */
static bool enter_class(Dwarf_Die *type, struct trc_member *member)
{
	bool in_union = dwarf_tag(type) == DW_TAG_union_type;
	Dwarf_Die part;
	int more = dwarf_child(type, &part);
	uint64_t start;

	for (; !more && member->parts_left; more = dwarf_siblingof(&part, &part)) {
		const char *name;

		member->parts_left--;
		if (!part_covers(&part, in_union, member->offset, &start) || part_is_empty(&part))
			continue;
		name = dwarf_tag(&part) == DW_TAG_member ? die_name(&part) : NULL;
		if (name && !is_of_library(name) && !member_put(member, ".", name, ""))
			return false;
		member->offset -= start;
		return die_type_whole(&part, type);
	}
	return false;
}

void trc_types_member(Dwarf_Die *variable, struct trc_member *member)
{
	Dwarf_Die type;
	bool more = die_type_whole(variable, &type);

	for (int i = 0; more && i < STEPS_MAX; i++) {
		int tag = dwarf_tag(&type);

		if (!member->offset && is_opaque(&type))
			return;
		if (is_alias(tag))
			more = die_type_whole(&type, &type);
		else if (type_is_class(tag))
			more = enter_class(&type, member);
		else
			more = tag == DW_TAG_array_type && enter_array(&type, member);
	}
}
